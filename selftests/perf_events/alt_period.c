// SPDX-License-Identifier: GPL-2.0
/*
 * The sequence of alternating and jittered sample periods: each interval is as long as
 * it should be, and the sample at its end is labelled with that length.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */

#include "alt_period_event.h"

TEST_F_TIMEOUT(hw, alternates, 60)
{
	struct event *event = &self->event;

	if (!use_windows(_metadata, event))
		return;
	ASSERT_EQ(0, event_open(event));
	ASSERT_TRUE(sample_for(event, 2 * ROUNDS));
	check_sequence(_metadata, event, 0, 2 * ROUNDS, 0, 0);
	EXPECT_EQ(0, event->ring.nr_lost);
}

/*
 * The counts of a group are those of the interval, and no event is lost between two of
 * them: its other member counts the same.
 */
static void check_group(struct __test_metadata *_metadata, struct event *event)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->attr.type,
		.config = event->attr.config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int sibling;

	ASSERT_EQ(0, event_open(event));
	sibling = perf_event_open(&attr, 0, -1, event->fd);
	if (sibling < 0 && errno == EINVAL)
		SKIP(return, "one counter for this event");
	ASSERT_LE(0, sibling);
	ASSERT_TRUE(sample_for(event, 2 * ROUNDS));
	check_sequence(_metadata, event, 0, 2 * ROUNDS, 0, 0);
	for (size_t i = 1; event->exact && i < 2 * ROUNDS; i++) {
		const struct sample *s = &event->samples[i];

		ASSERT_EQ(s->period, s->count[1] - s[-1].count[1])
			TH_LOG("sample %zu: sibling", i);
	}
	close(sibling);
}

/* With several windows in a round. */
TEST_F_TIMEOUT(hw, group_deltas, 60)
{
	if (!use_windows(_metadata, &self->event))
		return;
	self->event.attr.alt_sample_count = 4;
	check_group(_metadata, &self->event);
}

/* Runs @test with windows and each precision that this machine has. */
static void test_precise(struct __test_metadata *_metadata, struct event *event,
			 void (*test)(struct __test_metadata *_metadata, struct event *event))
{
	int precise;

	for (precise = 1; precise <= 3; precise++) {
		event->attr.alt_sample_period = 0;
		event->attr.precise_ip = precise;
		if (why_missing(try_attr(&event->attr)))
			break;
		if (!use_windows(_metadata, event))
			return;
		test(_metadata, event);
		event_close(event);
	}
	if (precise == 1)
		SKIP(return, "no precise events");
}

/*
 * The counts in the sample of a precise event are those of its own interval. The sibling
 * counts the same event without its samples.
 */
TEST_F(hw, precise_group_deltas)
{
	test_precise(_metadata, &self->event, check_group);
}

/*
 * A record can wait in the buffer while its interval is given up, most of all where interrupts
 * come late: it is not the sample of the interval that runs then.
 */
static void test_given_up(struct __test_metadata *_metadata, struct event *event)
{
	__u64 period = event->attr.sample_period;

	ASSERT_EQ(0, event_open(event));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int i = 0; i < 2000; i++) {
		spin(100 + i % 400);
		ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
		collect(event);
	}
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0));
	collect(event);
	ASSERT_LE(100, event->nr_samples);
	for (size_t i = 1; i < event->nr_samples; i++) {
		const struct sample *s = &event->samples[i];

		ASSERT_EQ(s->window ? WINDOW : period, s->period) TH_LOG("sample %zu: label", i);
		if (s->window)
			ASSERT_LE(s->period, s->count[0] - s[-1].count[0])
				TH_LOG("sample %zu: counts", i);
	}
}

TEST_F(hw, precise_given_up)
{
	self->event.attr.sample_period = 2003;
	test_precise(_metadata, &self->event, test_given_up);
}

/*
 * A window is never shortened, however late the sample before it was. What that takes is
 * paid by the long intervals, so that the mean is right, unless an interrupt or another
 * task takes more than half of one.
 */
TEST_F_TIMEOUT(hw, whole_windows, 60)
{
	struct event *event = &self->event;
	const struct sample *s = event->samples;
	__u64 half, rounds;
	bool payable = true;

	if (!use_windows(_metadata, event))
		return;
	/* So long that it can pay for the interrupts. */
	half = 50000 * machine_slowness();
	event->attr.sample_period = 2 * half;
	ASSERT_EQ(0, event_open(event));
	ASSERT_TRUE(sample_for(event, 2 * ROUNDS + 1));
	for (size_t i = 1; i <= 2 * ROUNDS; i++) {
		if (s[i].window)
			ASSERT_LE(WINDOW, s[i].count[0] - s[i - 1].count[0])
				TH_LOG("sample %zu", i);
		payable = payable && s[i].count[0] - s[i - 1].count[0] < s[i].period + half;
	}
	if (!payable)
		return;
	rounds = ROUNDS * (event->attr.sample_period + WINDOW);
	/* What is counted past the end of the last interval is not paid yet. */
	EXPECT_GT(rounds + half, s[2 * ROUNDS].count[0] - s[0].count[0]);
	EXPECT_LT(rounds - half, s[2 * ROUNDS].count[0] - s[0].count[0]);
}

/* Each length is as its label, see check_sequence(), and labels are from all of the range. */
static void check_jitter(struct __test_metadata *_metadata, struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	bool seen[2][4] = {};

	ASSERT_EQ(0, event_open(event));
	ASSERT_TRUE(sample_for(event, 2 * ROUNDS));
	check_sequence(_metadata, event, 0, 2 * ROUNDS, 0, 0);
	for (size_t i = 0; i < 2 * ROUNDS; i++) {
		const struct sample *s = &event->samples[i];
		__u64 range = 1 + (s->window ? attr->alt_sample_jitter : attr->sample_jitter);

		seen[s->window][4 * (s->period - interval_min(attr, s->window)) / range] = true;
	}
	for (int quarter = 0; quarter < 4; quarter++) {
		EXPECT_TRUE(seen[false][quarter]);
		EXPECT_EQ(!!attr->alt_sample_period, seen[true][quarter]);
	}
}

TEST_F_TIMEOUT(hw, jitter, 60)
{
	if (!use_windows(_metadata, &self->event))
		return;
	self->event.attr.sample_jitter = self->event.attr.sample_period / 2;
	self->event.attr.alt_sample_jitter = WINDOW / 3 * 2;
	check_jitter(_metadata, &self->event);
}

TEST_F_TIMEOUT(hw, jitter_without_windows, 60)
{
	if (!use_windows(_metadata, &self->event))
		return;
	self->event.attr.alt_sample_period = 0;
	self->event.attr.sample_jitter = self->event.attr.sample_period / 2;
	check_jitter(_metadata, &self->event);
}

TEST_HARNESS_MAIN
