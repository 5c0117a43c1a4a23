/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __LIBPERF_TOPDOWN_H
#define __LIBPERF_TOPDOWN_H

#include <linux/types.h>
#include <perf/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct perf_topdown_raw - use of pipeline slots, in slots
 * @slots: all slots
 * @missed: time in which the thread ran and was not counted, in ns
 * @retiring: slots of operations that retire
 * @bad_spec: slots of other operations, or to recover from them
 * @fe_bound: empty slots because the frontend had no operations
 * @be_bound: empty slots because the backend had no room
 * @heavy_ops: part of @retiring: instructions with many operations
 * @br_mispredict: part of @bad_spec: after mispredicted branches
 * @fetch_lat: part of @fe_bound: fetching had a latency
 * @mem_bound: part of @be_bound: operations waited for memory
 *
 * The last four are level 2, and 0 on CPUs that have level 1 only.
 *
 * The values are those of the CPU's events of these names, topdown-retiring and so on.
 * On some CPUs, TopdownL1 of perf stat corrects them with other events, which need
 * general counters.
 */
struct perf_topdown_raw {
	__s64 slots;
	__s64 missed;
	__s64 retiring;
	__s64 bad_spec;
	__s64 fe_bound;
	__s64 be_bound;
	__s64 heavy_ops;
	__s64 br_mispredict;
	__s64 fetch_lat;
	__s64 mem_bound;
};

struct perf_topdown;

/**
 * perf_topdown__new - begin to count the use of slots by the calling thread
 * @topdown: where to store the object
 *
 * Counts user mode, on CPUs with TopDown metrics: Intel's P-cores since Ice Lake.
 *
 * Return: 0, or a negative error: -ENOENT if there are none, or one of
 * perf_event_open(2), mmap(2) and madvise(2), like -EACCES or, if too many pages are locked,
 * -EPERM.
 */
LIBPERF_API int perf_topdown__new(struct perf_topdown **topdown);

/**
 * perf_topdown__read - read the use of slots by the thread until now
 * @topdown: the object, of this thread
 * @raw: where to store the counts
 * @max_slots: use read(2) if the fractions cover more slots than this, so that those of
 *	       the next reading begin with zero
 *
 * Otherwise needs no system call, unless the thread was switched since the last one, or
 * user space cannot read the counters: now, or on this kernel. The metrics are fractions
 * of 8 bits: a part can be wrong by 1/255 of the slots that they cover, in each reading.
 *
 * May be called by a signal handler, even by one that interrupts it.
 *
 * Return: 0, or a negative error: -ESRCH if the object is of another thread or was
 * inherited by fork(2), or one of read(2).
 */
LIBPERF_API int perf_topdown__read(struct perf_topdown *topdown,
				   struct perf_topdown_raw *raw, __u32 max_slots);

/**
 * perf_topdown__add - add a region of code to a sum of regions
 * @sum: the sum, at first 0
 * @begin: the reading where the region begins
 * @end: the reading where it ends
 */
LIBPERF_API void perf_topdown__add(struct perf_topdown_raw *sum,
				   const struct perf_topdown_raw *begin,
				   const struct perf_topdown_raw *end);

/**
 * perf_topdown__fraction - compute the fraction of all slots of a part
 * @sum: a sum of regions
 * @part: one of its parts, like sum->retiring
 *
 * Return: the fraction, from 0 to 1 even if the steps of the metrics make a part less than
 * 0 or more than all. 0 if there are no slots.
 */
LIBPERF_API double perf_topdown__fraction(const struct perf_topdown_raw *sum, __s64 part);

/**
 * perf_topdown__delete - end counting
 * @topdown: the object, or NULL
 *
 * May be called by any thread while perf_topdown__read() is not running, and by a process
 * that has inherited the object.
 */
LIBPERF_API void perf_topdown__delete(struct perf_topdown *topdown);

#ifdef __cplusplus
}
#endif

#endif /* __LIBPERF_TOPDOWN_H */
