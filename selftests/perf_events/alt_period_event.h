/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An event under test, and checks of its samples.
 *
 * Intervals that are counted exactly are compared exactly, see machine_exactness().
 */
#ifndef ALT_PERIOD_EVENT_H
#define ALT_PERIOD_EVENT_H

#include <sys/resource.h>
#include <sys/wait.h>

#include "alt_period.h"
#include "kselftest_harness.h"

#define ROUNDS		200	/* that most tests look at */
#define MAX_SAMPLES	4096
#define SECONDS		(25 * machine_slowness())	/* at most, for a measurement */

struct event {
	struct perf_event_attr attr;	/* of an ordinary event until use_windows() */
	__u64 alt_period;
	bool exact;			/* each interval is as long as its label */
	bool optional;			/* the PMU may have no windows */
	bool member;			/* the leader's buffer tells of throttling */
	bool stops;			/* and an interval may end meanwhile */
	long switches;			/* of this task, when it was opened */

	struct ring ring;
	struct sample *samples;
	size_t nr_samples;
	int fd;
	int sibling;
};

static inline long task_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Prepares @event for an ordinary event. The type and config are still to be set. */
static inline void event_init(struct __test_metadata *_metadata, struct event *event,
			      __u64 period, __u64 alt_period)
{
	memset(event, 0, sizeof(*event));
	event->fd = -1;
	event->sibling = -1;
	event->samples = calloc(MAX_SAMPLES, sizeof(*event->samples));
	ASSERT_NE(NULL, event->samples);

	event->attr.size = sizeof(event->attr);
	event->attr.sample_period = period;
	event->attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
	event->attr.read_format = PERF_FORMAT_GROUP;
	event->attr.disabled = 1;
	event->attr.exclude_kernel = 1;
	event->attr.exclude_hv = 1;
	event->alt_period = alt_period;
	event->exact = true;
	event->optional = true;
	event->switches = task_switches();
}

/* Returns false, and skips the test, if this machine has no such event. */
static inline bool require_event(struct __test_metadata *_metadata, struct event *event)
{
	int err = try_attr(&event->attr);

	if (why_missing(err))
		SKIP(return false, "%s", why_missing(err));
	ASSERT_EQ(0, err) TH_LOG("open: %s", strerror(err));
	return true;
}

/* Opens the event, with @sibling as member of its group unless that is NULL. */
static inline int event_open(struct event *event, struct perf_event_attr *sibling)
{
	event->switches = task_switches();
	event->fd = perf_event_open(&event->attr, 0, -1, -1);
	if (event->fd < 0)
		return -errno;
	if (sibling) {
		event->sibling = perf_event_open(sibling, 0, -1, event->fd);
		if (event->sibling < 0)
			return -errno;
	}
	return ring_map(&event->ring, event->fd) ? -errno : 0;
}

static inline void event_close(struct event *event)
{
	ring_unmap(&event->ring);
	if (event->fd >= 0)
		close(event->fd);
	if (event->sibling >= 0)
		close(event->sibling);
	event->fd = -1;
	event->sibling = -1;
	event->nr_samples = 0;
}

static inline void event_destroy(struct event *event)
{
	event_close(event);
	free(event->samples);
}

static inline void collect(struct event *event)
{
	event->nr_samples += ring_read(&event->ring, event->samples + event->nr_samples,
				       MAX_SAMPLES - event->nr_samples,
				       event->attr.sample_type);
}

/* Works until there are @nr samples in all. Returns false if that takes too long. */
static inline bool work_until(struct event *event, size_t nr)
{
	time_t end = time(NULL) + SECONDS;

	while (event->nr_samples < nr) {
		for (int i = 0; i < 10; i++)
			spin_a_while();
		if (ring_used(&event->ring))
			collect(event);
		if (time(NULL) > end)
			return false;
	}
	return true;
}

static inline bool sample_for(struct event *event, size_t nr)
{
	bool ret;

	ioctl(event->fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	ret = work_until(event, nr);
	ioctl(event->fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	collect(event);
	return ret;
}

/*
 * Gives the event its windows. Returns false, and skips the test, if this kernel or
 * this PMU has none.
 */
static inline bool use_windows(struct __test_metadata *_metadata, struct event *event)
{
	int err;

	if (!have_alt_period())
		SKIP(return false, "the kernel has no alternating sample periods");
	event->attr.alt_sample_period = event->alt_period;
	err = try_attr(&event->attr);
	if (err == EOPNOTSUPP && event->optional)
		SKIP(return false, "the PMU does not support alternating sample periods");
	EXPECT_EQ(0, err) TH_LOG("open with alt_sample_period: %s", strerror(err));
	return !err;
}

/*
 * Checks samples @from to @to - 1, the first of which ends a long interval (@phase 0)
 * or a window (1 to the number of windows): the flag is set for windows only, the
 * label is within the limits, and, if counts are known, so are the counts. @before is
 * the count where the first interval began.
 */
static inline void check_sequence(struct __test_metadata *_metadata, struct event *event,
				  size_t from, size_t to, unsigned int phase, __u64 before)
{
	const struct perf_event_attr *attr = &event->attr;
	unsigned int windows = attr->alt_sample_period ? attr->alt_sample_count ?: 1 : 0;
	/* Any task of the kernel can have this CPU for a moment. */
	bool stops = event->stops || task_switches() != event->switches;

	for (size_t i = from; i < to; i++) {
		const struct sample *s = &event->samples[i];
		__u64 counted = s->count[0] - before;
		bool window;

		/* What ended while the event was stopped has no sample: a round begins. */
		if (stops && !s->window)
			phase = 0;
		window = phase != 0;
		ASSERT_EQ(window, s->window)
			TH_LOG("sample %zu: flag, period %llu", i, s->period);
		ASSERT_LE(interval_min(attr, window), s->period) TH_LOG("sample %zu: label", i);
		ASSERT_GE(interval_max(attr, window), s->period) TH_LOG("sample %zu: label", i);
		if (event->exact && (attr->sample_type & PERF_SAMPLE_READ)) {
			/*
			 * x86 arms two events at least, also if one is left of an interval
			 * that was stopped, and the next long one pays.
			 */
			__u64 more = stops, less = window ? 0 : more * (1 + windows);

			ASSERT_LE(s->period, counted + less)
				TH_LOG("sample %zu: %s is shorter than its label", i,
				       window ? "window" : "long interval");
			if (!stops || window)
				ASSERT_GE(s->period + more, counted)
					TH_LOG("sample %zu: %s is longer than its label", i,
					       window ? "window" : "long interval");
		}
		/*
		 * Only a window is split, and only if something came between. An NMI may
		 * throttle the event while the sample that begins the window is being
		 * written; the record of that precedes the sample.
		 */
		if (s->split) {
			ASSERT_TRUE(s->window) TH_LOG("sample %zu: split", i);
			ASSERT_TRUE(event->member || counted > s->period ||
				    s->gaps != (i > 1 ? s[-2].gaps : 0))
				TH_LOG("sample %zu: split", i);
		}
		before = s->count[0];
		phase = phase < windows ? phase + 1 : 0;
	}
}

static inline void print_summary(struct event *event)
{
	size_t windows = 0;

	for (size_t i = 0; i < event->nr_samples; i++)
		windows += event->samples[i].window;
	ksft_print_msg("%zu long and %zu window samples, %s\n", event->nr_samples - windows,
		       windows, event->exact ? "every interval exactly its length" :
					       "labels and flags only");
}

/* Stays on this CPU. */
static inline bool pin_to_cpu(void)
{
	return pin_to(sched_getcpu());
}

#endif /* ALT_PERIOD_EVENT_H */
