// SPDX-License-Identifier: GPL-2.0
/*
 * The sample periods of ordinary events, without windows: each interval is as long as it
 * should be, and so are the labels of the samples.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */

#include "alt_period_event.h"

/* Clocks, which are timers */
FIXTURE(clock)
{
	struct event event;
};

FIXTURE_VARIANT(clock)
{
	__u64 config;
	__u64 period;
};

FIXTURE_VARIANT_ADD(clock, task_clock)
{
	.config = PERF_COUNT_SW_TASK_CLOCK,
	.period = 1000000,
};

FIXTURE_VARIANT_ADD(clock, cpu_clock)
{
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.period = 1000000,
};

FIXTURE_SETUP(clock)
{
	struct event *event = &self->event;
	struct timespec resolution;

	event_init(event, PERF_TYPE_SOFTWARE, variant->config, variant->period);
	/*
	 * The timer fires in the kernel as well: an interval that ends in an excluded
	 * mode ends without a sample.
	 */
	event->attr.exclude_kernel = 0;

	clock_getres(CLOCK_MONOTONIC, &resolution);
	if (resolution.tv_sec || resolution.tv_nsec > 1000)
		SKIP(return, "no timers of high resolution");
	require_event(_metadata, event);
}

FIXTURE_TEARDOWN(clock)
{
}

#define TEST_ORDINARY(fixture, name)					\
	TEST_F(fixture, name)						\
	{								\
		test_##name(_metadata, &self->event);			\
	}

static void test_period(struct __test_metadata *_metadata, struct event *event)
{
	ASSERT_EQ(0, event_open(event));
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
	ASSERT_EQ(0, event_open(event));
	ASSERT_TRUE(sample_for(event, ROUNDS));
	EXPECT_EQ(5000, event->samples[0].period);
	for (size_t i = 1; i < ROUNDS; i++) {
		ASSERT_EQ(10000, event->samples[i].period) TH_LOG("sample %zu", i);
	}
}

/* A new period, set in the middle of an interval, is in force at once, and so is its label. */
static void test_ioc_period(struct __test_metadata *_metadata, struct event *event)
{
	__u64 period = event->attr.sample_period * 2;
	const struct sample *s;
	size_t before;

	ASSERT_EQ(0, event_open(event));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(work_until(event, 10));
	spin_a_while();
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0));
	collect(event);
	before = event->nr_samples;
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(work_until(event, before + 10));
	check_sequence(_metadata, event, 0, before, 0, 0);
	event->attr.sample_period = period;
	/* A counter that runs on to the ioctl is known to the event only. */
	s = &event->samples[before];
	check_sequence(_metadata, event, before, before + 10, 0, s->count[0] - s->period);
}

TEST_ORDINARY(hw, ioc_period)
TEST_ORDINARY(clock, ioc_period)

/* Of two events that count the same page fault, each has its own sample. */
TEST(two_page_faults)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_ID,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct ring rings[2];
	char *fresh_page;
	__u64 ids[2];

	fresh_page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	ASSERT_NE(MAP_FAILED, fresh_page);
	for (int i = 0; i < 2; i++) {
		int fd = perf_event_open(&attr, 0, -1, -1);

		if (fd < 0 && why_missing(errno))
			SKIP(return, "%s", why_missing(errno));
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, ring_map(&rings[i], fd));
		ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ID, &ids[i]));
	}
	*(volatile char *)fresh_page = 1;
	for (int i = 0; i < 2; i++) {
		struct perf_event_header header;
		__u64 at;

		/* Others may come before it. */
		do {
			ASSERT_TRUE(ring_next(&rings[i], &header, &at)) TH_LOG("event %d", i);
			EXPECT_EQ(PERF_RECORD_SAMPLE, header.type);
			EXPECT_EQ(sizeof(header) + 16, header.size);
			EXPECT_EQ(ids[i], ring_u64(&rings[i], at + 8));
		} while (ring_u64(&rings[i], at) != (uintptr_t)fresh_page);
	}
}

TEST_HARNESS_MAIN
