/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An event under test, its fixture with a variant for each hardware event, and checks of
 * its samples.
 */
#ifndef ALT_PERIOD_EVENT_H
#define ALT_PERIOD_EVENT_H

#include <sys/resource.h>
#include <sys/wait.h>

#include "alt_period.h"
#include "kselftest_harness.h"

#define WINDOW		300
#define ROUNDS		200	/* that most tests look at */
#define MAX_SAMPLES	4096
#define SECONDS		(25 * machine_slowness())	/* at most, for a measurement */

struct event {
	struct perf_event_attr attr;	/* of an ordinary event until use_windows() */
	bool exact;			/* each interval is as long as its label */
	bool stops;			/* an interval may end while it is stopped */
	bool gaps_unknown;		/* its buffer does not tell what splits windows */
	long switches;			/* of this task, when it was opened */

	struct ring ring;
	struct sample samples[MAX_SAMPLES];
	size_t nr_samples;
	int fd;
};

static inline long task_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* Prepares @event for an ordinary event. */
static inline void event_init(struct event *event, __u32 type, __u64 config, __u64 period)
{
	memset(event, 0, sizeof(*event));
	event->attr.size = sizeof(event->attr);
	event->attr.type = type;
	event->attr.config = config;
	event->attr.sample_period = period;
	event->attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
	event->attr.read_format = PERF_FORMAT_GROUP;
	event->attr.disabled = 1;
	event->attr.exclude_kernel = 1;
	event->attr.exclude_hv = 1;
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

/*
 * Gives the event its windows. Returns false, and skips the test, if this kernel or
 * this PMU has none.
 */
static inline bool use_windows(struct __test_metadata *_metadata, struct event *event)
{
	int err;

	if (!have_alt_period())
		SKIP(return false, "the kernel has no alternating sample periods");
	event->attr.alt_sample_period = WINDOW;
	err = try_attr(&event->attr);
	if (err == EOPNOTSUPP && !machine_is_exact())
		SKIP(return false, "the PMU does not support alternating sample periods");
	EXPECT_EQ(0, err) TH_LOG("open with alt_sample_period: %s", strerror(err));
	return !err;
}

/* Opens the event with its buffer. Returns 0 or an error. */
static inline int event_open_on(struct event *event, pid_t pid, int cpu, int group)
{
	event->switches = task_switches();
	event->nr_samples = 0;
	event->fd = perf_event_open(&event->attr, pid, cpu, group);
	return event->fd < 0 || ring_map(&event->ring, event->fd) ? errno : 0;
}

static inline int event_open(struct event *event)
{
	return event_open_on(event, 0, -1, -1);
}

static inline void event_close(struct event *event)
{
	ring_unmap(&event->ring);
	close(event->fd);
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

	ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
	ret = work_until(event, nr);
	ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
	collect(event);
	return ret;
}

/*
 * Checks samples @from to @to - 1, the first of which ends a long interval (@phase 0)
 * or a window (1 and more), and begins at the count @before: the flag is set for windows
 * only, the label is within the limits, and the counts are what the label says.
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
			 * that was stopped, marks a window, and the next long one pays.
			 */
			__u64 more = window ? s->split : stops;
			__u64 less = window ? 0 : more * (1 + windows);

			ASSERT_LE(s->period, counted + less) TH_LOG("sample %zu: too short", i);
			if (!stops || window)
				ASSERT_GE(s->period + more, counted)
					TH_LOG("sample %zu: too long", i);
		}
		/*
		 * A window is split if something came between, and only then. An NMI may
		 * throttle the event while the sample that begins the window is being
		 * written; the record of that precedes the sample.
		 */
		ASSERT_GE(window, s->split) TH_LOG("sample %zu: split", i);
		if (window && !event->gaps_unknown) {
			ASSERT_TRUE(s->split || s->gaps == s[-1].gaps)
				TH_LOG("sample %zu: not split", i);
			ASSERT_TRUE(!s->split || counted > s->period ||
				    s->gaps != (i > 1 ? s[-2].gaps : 0))
				TH_LOG("sample %zu: split", i);
		}
		before = s->count[0];
		phase = phase < windows ? phase + 1 : 0;
	}
}

/* Hardware events */
FIXTURE(hw)
{
	struct event event;
};

FIXTURE_VARIANT(hw)
{
	__u64 config;
};

FIXTURE_VARIANT_ADD(hw, cycles)
{
	.config = PERF_COUNT_HW_CPU_CYCLES,
};

FIXTURE_VARIANT_ADD(hw, instructions)
{
	.config = PERF_COUNT_HW_INSTRUCTIONS,
};

FIXTURE_SETUP(hw)
{
	struct event *event = &self->event;

	event_init(event, PERF_TYPE_HARDWARE, variant->config, 999700);
	stay_on_core_pmu(&event->attr);
	event->exact = machine_is_exact();
	require_event(_metadata, event);
}

FIXTURE_TEARDOWN(hw)
{
}

#endif /* ALT_PERIOD_EVENT_H */
