/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __LIBPERF_TOPDOWN_H
#define __LIBPERF_TOPDOWN_H

#include <linux/types.h>
#include <perf/core.h>

/* What a pipeline slot was used for. Those of level 2 are a part of one of level 1. */
enum perf_topdown_part {
	/* Level 1: each slot is one of these. */
	PERF_TOPDOWN_RETIRING,
	PERF_TOPDOWN_BAD_SPEC,
	PERF_TOPDOWN_FE_BOUND,
	PERF_TOPDOWN_BE_BOUND,
	/* Level 2 */
	PERF_TOPDOWN_HEAVY_OPS,		/* of retiring */
	PERF_TOPDOWN_BR_MISPREDICT,	/* of bad speculation */
	PERF_TOPDOWN_FETCH_LAT,		/* of frontend bound */
	PERF_TOPDOWN_MEM_BOUND,		/* of backend bound */
	PERF_TOPDOWN_PARTS,
};

/**
 * struct perf_topdown_value - what a thread used its slots for until now
 * @slots: slots in user mode since perf_topdown__new(), as far as they were counted
 * @part: those of each part; 0 for parts of level 2 that were not asked for
 * @error: what each part may be wrong by, in slots, since perf_topdown__new()
 * @step: and how much of @error is gone when the counters count on, in slots
 *
 * Intel's metrics are fractions with 8 bits, of all slots since the kernel has reset
 * them, as it does at each context switch. So a part is known to one step of each of its
 * time slices. Where each part has a counter, @error and @step are 0.
 */
struct perf_topdown_value {
	__u64 slots;
	__u64 part[PERF_TOPDOWN_PARTS];
	__u64 error;
	__u64 step;
};

struct perf_topdown;

/**
 * perf_topdown__new - begin to count what the calling thread uses its slots for
 * @topdown: gets the object
 * @level: 1, or 2 for the parts of level 2 as well
 *
 * Counts in user mode, on all PMUs of the system that can do it: Intel's with TopDown
 * metrics (P-cores since Ice Lake, level 2 since Sapphire Rapids) or TopDown events
 * (E-cores since Tremont), AMD's since Zen 4, and Arm's that tell their slots. Call
 * libperf_init() before.
 *
 * Return: 0, or a negative error: -EINVAL for another level, -ENOENT if no PMU can do it,
 * -EOPNOTSUPP if none has this level, and those of perf_event_open(2), like -EACCES.
 */
LIBPERF_API int perf_topdown__new(struct perf_topdown **topdown, unsigned int level);

/**
 * perf_topdown__read - read what the thread used its slots for until now
 * @topdown: the object, of this thread
 * @value: gets it
 *
 * Needs no system call where user space can read the counters, unless Intel's metrics
 * have got coarse, or the thread was switched. Then read(2) resets them. So the end of
 * a region of millions of slots costs a system call, and a short one begins with a small
 * error.
 *
 * Return: 0, or a negative error: -EAGAIN if the thread is not counted now, as others
 * have the counters, or as it is on a CPU of another kind (where user space cannot read
 * the counters: if it was not counted since the last time); -ESRCH if the object is of
 * another thread, or was inherited by fork(2).
 */
LIBPERF_API int perf_topdown__read(struct perf_topdown *topdown,
				   struct perf_topdown_value *value);

/**
 * perf_topdown__ratios - what the slots between two values were used for
 * @a: the value at the beginning
 * @b: the value at the end
 * @ratio: gets the fraction of each part, from 0 to 1
 * @error: gets what each fraction may be wrong by, at most, from 0 to 0.1
 *
 * What the reading itself executes, some hundred instructions, is in it as well.
 *
 * Return: 0, or a negative error: -EINVAL if @b is before @a, -ERANGE if there are no
 * slots between them, or so few, for the steps of the counters, that the error is more
 * than 0.1.
 */
LIBPERF_API int perf_topdown__ratios(const struct perf_topdown_value *a,
				     const struct perf_topdown_value *b,
				     double ratio[PERF_TOPDOWN_PARTS], double *error);

/**
 * perf_topdown__delete - end counting
 * @topdown: the object, or NULL
 *
 * By any thread, when perf_topdown__read() is not running; and by a process that has
 * inherited it.
 */
LIBPERF_API void perf_topdown__delete(struct perf_topdown *topdown);

#endif /* __LIBPERF_TOPDOWN_H */
