/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_GROUP_TRACKER_H
#define __PERF_GROUP_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct evlist;
struct evsel;
struct perf_record_throttle;
struct perf_sample;
struct thread;
struct window_round;

/**
 * enum window_problem - Why the counts of a window are not used, or can be of several places.
 *
 * @WINDOW_LEFT: It ended in another place than it began. Set by the user of the tracker,
 *	who defines what a place is.
 * @WINDOW_LOST: The kernel dropped samples of the event in the meantime.
 * @WINDOW_LENGTH: Its length is not what the kernel armed, so a sample is missing.
 * @WINDOW_BACKWARDS: A count is smaller than at the start of the window.
 * @WINDOW_SPLIT: The event was stopped in the window: it was throttled, or another task
 *	ran on the CPU.
 * @WINDOW_MULTIPLEXED: The group was not counting all the time.
 */
enum window_problem {
	WINDOW_LEFT		= 1 << 0,
	WINDOW_LOST		= 1 << 1,
	WINDOW_LENGTH		= 1 << 2,
	WINDOW_BACKWARDS	= 1 << 3,
	WINDOW_SPLIT		= 1 << 4,
	WINDOW_MULTIPLEXED	= 1 << 5,
};

#define WINDOW_PROBLEMS	6

/**
 * struct group_sample - What a sample says of its group, and the windows that it begins or ends.
 * @begins: It begins a round: it ends a long interval, or there is no alternate period and
 *	each sample ends one window and begins the next.
 * @ends: It ends a window. Both can be set.
 * @problems: Mask of enum window_problem, of the window that ends.
 * @index: Number of the window that ends in its round, from 0.
 * @nr_counts: Number of events in the group.
 * @counts: Counts of the events of the group since the sample before, in the order of the
 *	group. Events that were not read have 0. Valid until the next sample.
 * @whole: @counts are those since the sample before: none went backwards, and those of the
 *	first sample began with its interval, not in an earlier file.
 * @armed: Length of the window as the kernel armed it, in units of the sampling event.
 * @time: In which the events counted since the sample before, in ns. 0 if it was not recorded.
 * @enabled: The same, with the time in which others had the counters.
 * @weight: Length of the round that begins, in units of the sampling event.
 * @ending: The round of the window that ends, for window_round__data().
 * @beginning: The round that begins, for window_round__set_data().
 */
struct group_sample {
	bool			begins;
	bool			ends;
	bool			whole;
	unsigned int		problems;
	unsigned int		index;
	unsigned int		nr_counts;
	const u64		*counts;
	u64			armed;
	u64			time;
	u64			enabled;
	u64			weight;
	struct window_round	*ending;
	struct window_round	*beginning;
};

struct group_tracker;

struct group_tracker *group_tracker__new(void);
void group_tracker__delete(struct group_tracker *tracker);
int group_tracker__add(struct group_tracker *tracker, struct perf_sample *sample,
		       struct thread *thread, struct group_sample *gs);
u64 group_tracker__throttle(struct group_tracker *tracker,
			    const struct perf_record_throttle *event);
void group_tracker__lost(struct group_tracker *tracker);
void group_tracker__exit_thread(struct group_tracker *tracker, u32 tid);
void group_tracker__nr_threads(const struct group_tracker *tracker, unsigned int *ended,
			       unsigned int *without_sample);

void *window_round__data(const struct window_round *round);
int window_round__set_data(struct window_round *round, const void *data, size_t size);
size_t window_round__data_size(const struct window_round *round);

struct evsel *evsel__group_sampler(struct evsel *leader);
bool evsel__reads_group(struct evsel *evsel);

#endif /* __PERF_GROUP_TRACKER_H */
