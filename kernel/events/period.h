/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_EVENTS_PERIOD_H
#define _KERNEL_EVENTS_PERIOD_H

#include <linux/perf_event.h>
#include <linux/prandom.h>

/* The state of an alternating event, written in period.c only. */
struct perf_alt_period {
	/* The next interval of the round: 0 is the long one, then come windows. */
	u32	next;
	/* PERF_RECORD_MISC_ALT_* of the interval that runs, and of the last one. */
	u16	misc;
	u16	last_misc;
	/* The interval that runs was interrupted. */
	bool	split;
	/* The task, and the task switches of the CPU, when that interval began. */
	const struct task_struct *task;
	u64	switches;
	/* Events past the end of intervals that no long one has paid for yet. */
	u64	overrun;
	/* The generator of the jitter: PERF_SAMPLE_PERIOD shows it, so no two events share one. */
	struct rnd_state rnd;
	/* The count at freq_time_stamp in frequency mode. */
	u64	freq_count;
};

bool perf_attr_period_valid(const struct perf_event_attr *attr, u64 period);
int perf_event_check_period(struct perf_event *event, u64 period);
int perf_event_init_period(struct perf_event *event);
u64 perf_attr_long_period(const struct perf_event_attr *attr, u64 round);
bool perf_attr_freq_valid(const struct perf_event_attr *attr, u64 freq);
u64 perf_event_round_count(struct perf_event *event);

static inline bool perf_event_in_window(struct perf_event *event)
{
	return event->hw.alt && event->hw.alt->misc;
}

#endif /* _KERNEL_EVENTS_PERIOD_H */
