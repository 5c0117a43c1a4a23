/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_BRANCH_BLOCKS_H
#define __PERF_BRANCH_BLOCKS_H

#include <linux/types.h>

struct perf_sample;
struct thread;

/**
 * struct branch_block - Instructions from the target of a branch to the next branch.
 * @start: Address of the first instruction.
 * @end: Address of the branch.
 * @cycles: Cycles of these instructions.
 * @insns: Number of the instructions. Both are scaled so that equal times before samples
 *	count equally.
 */
struct branch_block {
	u64	start;
	u64	end;
	double	cycles;
	double	insns;
};

void perf_sample__move_to_branch(struct perf_sample *sample);
unsigned int perf_sample__read_blocks(struct perf_sample *sample, struct thread *thread,
				      struct branch_block **blocks);

#endif /* __PERF_BRANCH_BLOCKS_H */
