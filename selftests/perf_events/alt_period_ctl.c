// SPDX-License-Identifier: GPL-2.0
/*
 * Alternating sample periods of events that are controlled while they count: ioctls that
 * change the period, set a limit, disable and enable.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */

#include "alt_period_fixtures.h"

/* Changes the period after at least @nr samples. Returns how many there were. */
static size_t sample_and_change(struct __test_metadata *_metadata, struct event *event,
				size_t nr, __u64 period, __u64 *count)
{
	__u64 counts[2];
	size_t half;

	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(work_until(event, nr));
	collect(event);
	half = event->nr_samples;
	ASSERT_EQ(sizeof(counts), read(event->fd, counts, sizeof(counts)));
	*count = counts[1];
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
	collect(event);
	ASSERT_TRUE(work_until(event, half + 2 * 10));

	check_sequence(_metadata, event, 0, half, 0, 0);
	event->attr.sample_period = period;
	check_sequence(_metadata, event, half + 1, half + 20, 1, event->samples[half].count[0]);
	return half;
}

/* In the middle of an interval, long or a window: that does not end, and a long one begins. */
static void test_ioc_period(struct __test_metadata *_metadata, struct event *event)
{
	const __u64 period = event->attr.sample_period;

	/* The window must not be over before the ioctl. */
	event->attr.alt_sample_period = period;
	for (int window = 0; window < 2; window++) {
		const struct sample *s;
		__u64 before;
		size_t half;

		event->attr.sample_period = period;
		half = sample_and_change(_metadata, event, 2 * 10 + window, period * 2, &before);
		s = &event->samples[half];
		/* The counter runs between the last sample and the ioctl. */
		check_sequence(_metadata, event, half, half + 1, 0, s->count[0] - s->period);
		ASSERT_LE(before + s->period, s->count[0]);
		event_close(event);
	}
}

TEST_WINDOWS(hw, ioc_period, 60)

static void test_ioc_period_while_disabled(struct __test_metadata *_metadata,
					   struct event *event)
{
	__u64 period = event->attr.sample_period * 2;

	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
	event->attr.sample_period = period;
	ASSERT_TRUE(sample_for(event, 20));
	check_sequence(_metadata, event, 0, 20, 0, 0);
}

TEST_WINDOWS(hw, ioc_period_while_disabled, 30)

/* The limits of the period depend on the jitter. */
static void check_limits(struct __test_metadata *_metadata, struct event *event, __u32 jitter)
{
	__u64 period;

	event->attr.sample_jitter = jitter;
	ASSERT_EQ(0, event_open(event, NULL));
	period = 0;
	EXPECT_EQ(-1, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
	EXPECT_EQ(EINVAL, errno);
	period = 1ULL << 63;
	EXPECT_EQ(-1, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
	EXPECT_EQ(EINVAL, errno);
	/* The shortest interval would be 0. */
	period = jitter / 2;
	EXPECT_EQ(-1, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
	EXPECT_EQ(EINVAL, errno);
	/* The longest would be 2^63. */
	period = INT64_MAX - (__u64)jitter + 1;
	EXPECT_EQ(-1, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
	EXPECT_EQ(EINVAL, errno);
	period = INT64_MAX - (__u64)jitter;
	EXPECT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
}

static void test_ioc_period_is_validated(struct __test_metadata *_metadata, struct event *event)
{
	check_limits(_metadata, event, event->attr.sample_period);
}

TEST_WINDOWS(hw, ioc_period_is_validated, 30)

/* The limit counts every sample, and the sequence goes on after it. */
static void test_ioc_refresh(struct __test_metadata *_metadata, struct event *event)
{
	ASSERT_EQ(0, event_open(event, NULL));

	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_REFRESH, 3));
	ASSERT_TRUE(work_until(event, 3));
	for (int i = 0; i < 1000; i++)
		spin_a_while();
	collect(event);
	ASSERT_EQ(3, event->nr_samples);

	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_REFRESH, 2));
	ASSERT_TRUE(work_until(event, 5));
	for (int i = 0; i < 1000; i++)
		spin_a_while();
	collect(event);
	ASSERT_EQ(5, event->nr_samples);

	check_sequence(_metadata, event, 0, 5, 0, 0);
}

TEST_WINDOWS(hw, ioc_refresh, 30)

/* Disabled in the middle of an interval, the event resumes there. */
static void test_disable_and_enable(struct __test_metadata *_metadata, struct event *event)
{
	ASSERT_EQ(0, event_open(event, NULL));
	for (size_t i = 1; i <= 2 * 20; i++) {
		ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
		ASSERT_TRUE(work_until(event, i));
		spin_a_while();
		ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0));
		for (int j = 0; j < 100; j++)
			spin_a_while();
		collect(event);
	}
	check_sequence(_metadata, event, 0, event->nr_samples, 0, 0);
}

TEST_WINDOWS(hw, disable_and_enable, 30)

/* Returns true if the event was disabled in an interval, or, with @edge, at its ends. */
static bool disabled_in(const __u64 *counts, size_t nr, __u64 begin, __u64 end, bool edge)
{
	for (size_t i = 0; i < nr; i++) {
		if (counts[i] > begin && counts[i] < end)
			return true;
		if (edge && (counts[i] == begin || counts[i] == end))
			return true;
	}
	return false;
}

/*
 * An event of a CPU that is disabled in a window does not see what runs until it is
 * enabled: the window is marked. That of a task is not, for the task knows what it did.
 * The rest of the window is counted in either case.
 */
static void check_split_by_disable(struct __test_metadata *_metadata, struct event *event,
				   size_t steps, bool cpu)
{
	enum { TIMES = 2000 };
	size_t windows = 0, split = 0, nr = 0;
	__u64 *disabled, counts[2];

	disabled = calloc(TIMES, sizeof(*disabled));
	ASSERT_NE(NULL, disabled);
	event->attr.context_switch = cpu;
	ASSERT_TRUE(pin_to_cpu());
	event->fd = perf_event_open(&event->attr, cpu ? -1 : 0, cpu ? sched_getcpu() : -1, -1);
	if (event->fd < 0 && cpu)
		SKIP(return, "no events of a CPU: %s", strerror(errno));
	ASSERT_LE(0, event->fd);
	ASSERT_EQ(0, ring_map(&event->ring, event->fd));
	while (nr < TIMES && event->nr_samples < 2 * ROUNDS) {
		ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
		/* Not in step with the windows. */
		for (size_t i = 0; i < steps * (1 + nr % 7); i++)
			spin_a_while();
		ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0));
		ASSERT_EQ(sizeof(counts), read(event->fd, counts, sizeof(counts)));
		disabled[nr++] = counts[1];
		spin_a_while();
		collect(event);
	}
	for (size_t i = 1; i < event->nr_samples; i++) {
		struct sample *s = &event->samples[i];
		__u64 begin = s[-1].count[0], end = s->count[0];

		if (!s->window)
			continue;
		windows++;
		split += s->split;
		if (cpu && disabled_in(disabled, nr, begin, end, false)) {
			ASSERT_TRUE(s->split)
				TH_LOG("sample %zu: disabled, not split", i);
		}
		if (s->split) {
			ASSERT_TRUE(s->gaps != s[-1].gaps || end - begin > s->period ||
				    (cpu && disabled_in(disabled, nr, begin, end, true)))
				TH_LOG("sample %zu: split, not disabled", i);
		}
		s->split = false;
	}
	check_sequence(_metadata, event, 0, event->nr_samples, 0, 0);
	ksft_print_msg("%s: disabled %zu times, %zu windows, %zu split\n",
		       cpu ? "of a CPU" : "of a task", nr, windows, split);
	ASSERT_LT(20, windows);
	if (cpu) {
		ASSERT_LT(0, split);
		ASSERT_GT(windows, split);
	}
	free(disabled);
	event_close(event);
}

static void test_split_by_disable(struct __test_metadata *_metadata, struct event *event,
				  size_t steps)
{
	check_split_by_disable(_metadata, event, steps, false);
	check_split_by_disable(_metadata, event, steps, true);
}

TEST_F(hw, split_by_disable)
{
	if (!use_windows(_metadata, &self->event))
		return;
	self->event.stops = true;
	self->event.attr.sample_period = 7000;
	self->event.attr.alt_sample_period = 1500;
	test_split_by_disable(_metadata, &self->event, 1);
}

TEST_HARNESS_MAIN
