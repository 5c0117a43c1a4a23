/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_WINDOW_H
#define __PERF_WINDOW_H

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
 * struct window - The windows that a sample begins or ends.
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
 * @weight: Length of the round that begins, in units of the sampling event.
 * @ending: The round of the window that ends, for window_round__data().
 * @beginning: The round that begins, for window_round__set_data().
 */
struct window {
	bool			begins;
	bool			ends;
	bool			whole;
	unsigned int		problems;
	unsigned int		index;
	unsigned int		nr_counts;
	const u64		*counts;
	u64			armed;
	u64			time;
	u64			weight;
	struct window_round	*ending;
	struct window_round	*beginning;
};

struct window_tracker;

struct window_tracker *window_tracker__new(void);
void window_tracker__delete(struct window_tracker *tracker);
int window_tracker__add(struct window_tracker *tracker, struct perf_sample *sample,
			struct thread *thread, struct window *window);
u64 window_tracker__throttle(struct window_tracker *tracker,
			     const struct perf_record_throttle *event);
void window_tracker__lost(struct window_tracker *tracker);
void window_tracker__exit_thread(struct window_tracker *tracker, u32 tid);
void window_tracker__nr_threads(const struct window_tracker *tracker, unsigned int *ended,
				unsigned int *without_sample);
size_t window_tracker__nr_streams(const struct window_tracker *tracker);

void *window_round__data(const struct window_round *round);
int window_round__set_data(struct window_round *round, const void *data, size_t size);
size_t window_round__data_size(const struct window_round *round);

struct evsel *evsel__window_sampler(struct evsel *leader);
bool evsel__has_windows(struct evsel *evsel);

#endif /* __PERF_WINDOW_H */
