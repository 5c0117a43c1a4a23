// SPDX-License-Identifier: GPL-2.0
/*
 * The sample periods of ordinary events, without windows: each interval is as long as it
 * should be, and so are the labels of the samples.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */

#include "alt_period_probes.h"

#define TEST_ORDINARY(fixture, name)					\
	TEST_F(fixture, name)						\
	{								\
		test_##name(_metadata, &self->event);			\
	}

#define TEST_ORDINARY_COUNTED(name)					\
	TEST_ORDINARY(sw, name)						\
	TEST_ORDINARY(switches, name)					\
	TEST_ORDINARY(probe, name)					\
	TEST_ORDINARY(breakpoint, name)

static void test_period(struct __test_metadata *_metadata, struct event *event)
{
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, ROUNDS));
	check_sequence(_metadata, event, 0, ROUNDS, 0, 0);
}

TEST_ORDINARY(hw, period)
TEST_ORDINARY(clock, period)

/* All intervals of a clock but the first take at least 10 us, as labelled. */
TEST_F(clock, shortest_period)
{
	struct event *event = &self->event;

	event->attr.sample_period = 5000;
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, ROUNDS));
	EXPECT_EQ(5000, event->samples[0].period);
	for (size_t i = 1; i < ROUNDS; i++) {
		ASSERT_EQ(10000, event->samples[i].period) TH_LOG("sample %zu", i);
	}
}

/*
 * With PERF_SAMPLE_PERIOD and a period, an ordinary software event has a sample of each
 * event. The label is what it counted.
 */
static void test_labels_of_each_event(struct __test_metadata *_metadata, struct event *event)
{
	__u64 before = 0;

	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, ROUNDS));
	for (size_t i = 0; i < ROUNDS; i++) {
		const struct sample *s = &event->samples[i];

		ASSERT_FALSE(s->window) TH_LOG("sample %zu", i);
		ASSERT_EQ(s->count[0] - before, s->period) TH_LOG("sample %zu", i);
		if (event->exact) {
			ASSERT_EQ(1, s->period) TH_LOG("sample %zu", i);
		}
		before = s->count[0];
	}
}

TEST_ORDINARY(weighted, labels_of_each_event)
TEST_ORDINARY_COUNTED(labels_of_each_event)

/* Checks samples without labels, from the count @before on. */
static void check_counts(struct __test_metadata *_metadata, struct event *event,
			 size_t from, size_t to, __u64 before)
{
	for (size_t i = from; i < to; i++) {
		const struct sample *s = &event->samples[i];

		ASSERT_FALSE(s->window) TH_LOG("sample %zu", i);
		ASSERT_EQ(event->attr.sample_period, s->count[0] - before) TH_LOG("sample %zu", i);
		before = s->count[0];
	}
}

/*
 * The same for events that count many at once: as many samples as periods that ended. What
 * is left over counts for the next one.
 */
static void check_many_counts(struct __test_metadata *_metadata, struct event *event,
			      size_t from, size_t to, __u64 before)
{
	for (size_t i = from; i < to; i++) {
		const struct sample *s = &event->samples[i];
		__u64 ended = (s->count[0] - before) / event->attr.sample_period;

		ASSERT_FALSE(s->window) TH_LOG("sample %zu", i);
		ASSERT_LE(i - from + 1, ended) TH_LOG("sample %zu", i);
		/* Compare at the last sample of each count. */
		if (i + 1 < to && s[1].count[0] != s->count[0]) {
			ASSERT_EQ(i - from + 1, ended) TH_LOG("sample %zu", i);
		}
	}
}

/* Without PERF_SAMPLE_PERIOD, software events have the period that was asked for. */
static void use_counts(struct event *event)
{
	event->attr.sample_type &= ~PERF_SAMPLE_PERIOD;
}

static void test_unlabelled(struct __test_metadata *_metadata, struct event *event)
{
	use_counts(event);
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, ROUNDS));
	check_counts(_metadata, event, 0, ROUNDS, 0);
}

TEST_ORDINARY_COUNTED(unlabelled)

TEST_F(weighted, unlabelled)
{
	struct event *event = &self->event;

	use_counts(event);
	/* Not so many at once that the event is throttled. */
	event->attr.sample_period = 1000000;
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, ROUNDS));
	check_many_counts(_metadata, event, 0, ROUNDS, 0);
}

struct change {
	size_t samples;		/* before the change */
	__u64 count;		/* then */
};

/* Doubles the period in the middle of an interval, while the event is disabled. */
static struct change change_period(struct __test_metadata *_metadata, struct event *event)
{
	__u64 period = event->attr.sample_period * 2, counts[2];
	struct change change;

	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(work_until(event, 10));
	event->work();
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0));
	collect(event);
	change.samples = event->nr_samples;
	ASSERT_EQ(sizeof(counts), read(event->fd, counts, sizeof(counts)));
	change.count = counts[1];
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	return change;
}

/* A new period is in force at once, and so is its label. */
static void test_ioc_period(struct __test_metadata *_metadata, struct event *event)
{
	struct change change = change_period(_metadata, event);
	const struct sample *s = &event->samples[change.samples];

	ASSERT_TRUE(work_until(event, change.samples + 10));
	check_sequence(_metadata, event, 0, change.samples, 0, 0);
	event->attr.sample_period *= 2;
	/* A counter that runs on to the ioctl is known to the event only. */
	check_sequence(_metadata, event, change.samples, change.samples + 10, 0,
		       s->count[0] - s->period);
}

TEST_ORDINARY(hw, ioc_period)
TEST_ORDINARY(clock, ioc_period)

static void test_ioc_period_of_counts(struct __test_metadata *_metadata, struct event *event)
{
	struct change change;

	use_counts(event);
	change = change_period(_metadata, event);
	ASSERT_TRUE(work_until(event, change.samples + 10));
	check_counts(_metadata, event, 0, change.samples, 0);
	event->attr.sample_period *= 2;
	check_counts(_metadata, event, change.samples, change.samples + 10, change.count);
}

TEST_ORDINARY_COUNTED(ioc_period_of_counts)

/* Changes the period once more while the event is active: nothing was counted since. */
static void test_ioc_period_twice(struct __test_metadata *_metadata, struct event *event)
{
	struct change change;
	__u64 period;

	use_counts(event);
	change = change_period(_metadata, event);
	period = event->attr.sample_period * 2;
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
	ASSERT_TRUE(work_until(event, change.samples + 10));
	check_counts(_metadata, event, 0, change.samples, 0);
	event->attr.sample_period = period;
	check_counts(_metadata, event, change.samples, change.samples + 10, change.count);
}

TEST_ORDINARY(sw, ioc_period_twice)
TEST_ORDINARY(probe, ioc_period_twice)
TEST_ORDINARY(breakpoint, ioc_period_twice)

TEST_F(weighted, ioc_period_of_counts)
{
	struct event *event = &self->event;
	struct change change;

	use_counts(event);
	event->attr.sample_period = 1000000;
	change = change_period(_metadata, event);
	ASSERT_TRUE(work_until(event, change.samples + 10));
	check_many_counts(_metadata, event, 0, change.samples, 0);
	event->attr.sample_period *= 2;
	check_many_counts(_metadata, event, change.samples, change.samples + 10, change.count);
}

TEST_HARNESS_MAIN
