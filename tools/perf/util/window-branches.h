/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_WINDOW_BRANCHES_H
#define __PERF_WINDOW_BRANCHES_H

#include <linux/types.h>

struct perf_sample;
struct thread;

/**
 * struct window_block - Instructions from the target of a branch to the next branch.
 * @start: Address of the first instruction.
 * @cycles: Cycles that these took.
 * @insns: Number of the instructions.
 * @scale: What to multiply both with, so that equal times before samples count equally, or
 *	0 for the block in which the sample is: only its start is known.
 */
struct window_block {
	u64	start;
	double	cycles;
	double	insns;
	double	scale;
};

unsigned int perf_sample__read_blocks(struct perf_sample *sample, struct thread *thread,
				      struct window_block **blocks);

#endif /* __PERF_WINDOW_BRANCHES_H */
