// SPDX-License-Identifier: GPL-2.0
/*
 * The sample periods of ordinary events, without windows: each interval is as long as it
 * should be, and so are the labels of the samples. And intervals and windows of a few events.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */
#include <signal.h>

#include "alt_period_event.h"

TEST_F(hw, period)
{
	struct event *event = &self->event;

	ASSERT_EQ(0, event_open(event));
	ASSERT_TRUE(sample_for(event, ROUNDS));
	check_sequence(_metadata, event, 0, ROUNDS, 0, 0);
}

/* A new period, set in the middle of an interval, is in force at once, and so is its label. */
TEST_F(hw, ioc_period)
{
	struct event *event = &self->event;
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
	__u64 ids[2];
	char *fresh_page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

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

/*
 * Intervals of a few events: an event whose interval is over before the handler of its
 * sample is, or of which a switch leaves less than the PMU can arm. It has to go on, or
 * to be refused, and no window may be longer than its label without a mark.
 */
FIXTURE(short_period)
{
	struct sample_limits limits;
	struct event event;
	pid_t child;
};

FIXTURE_VARIANT(short_period)
{
	bool window;		/* that is short, not the period */
	int precise;
};

FIXTURE_VARIANT_ADD(short_period, user) { };
FIXTURE_VARIANT_ADD(short_period, window_user) { .window = true };
FIXTURE_VARIANT_ADD(short_period, window_precise) { .window = true, .precise = 2 };

FIXTURE_SETUP(short_period)
{
	struct event *event = &self->event;
	int err;

	save_sample_limits(&self->limits);
	event_init(event, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 100000);
	event->attr.sample_type = PERF_SAMPLE_TID;
	event->attr.precise_ip = variant->precise;
	event->attr.wakeup_events = 1;	/* take PEBS records one at a time */
	stay_on_core_pmu(&event->attr);
	ASSERT_TRUE(pin_to(sched_getcpu()));
	err = event_open_on(event, -1, sched_getcpu(), -1);
	if (err) {
		ASSERT_NE(NULL, why_missing(err)) TH_LOG("%s", strerror(err));
		SKIP(return, "%s", why_missing(err));
	}
	event_close(event);
}

FIXTURE_TEARDOWN(short_period)
{
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
	restore_sample_limits(&self->limits);
}

/* Returns the number of new samples, those of windows if these are short. */
static unsigned int take_samples(struct event *event, bool window)
{
	unsigned int nr = 0;

	event->nr_samples = 0;
	collect(event);
	for (size_t i = 0; i < event->nr_samples; i++)
		nr += !window || event->samples[i].window;
	return nr;
}

/* Each length has samples, and has more of them later: after several ticks of any kernel. */
TEST_F_TIMEOUT(short_period, goes_on, 300)
{
	enum { LONGEST = 100, ROUND_NS = 40000000 };
	struct event *event = &self->event;
	unsigned int refused = 0;

	for (unsigned int length = 1; length <= LONGEST; length++) {
		int err;

		if (variant->window)
			event->attr.alt_sample_period = length;
		else
			event->attr.sample_period = length;
		/* A kernel without windows changes it. */
		event->attr.size = sizeof(event->attr);
		err = event_open_on(event, -1, sched_getcpu(), -1);
		if (err) {
			ASSERT_TRUE(err == EINVAL || err == EOPNOTSUPP || err == E2BIG)
				TH_LOG("length %u: %s", length, strerror(err));
			refused++;
			continue;
		}
		ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
		for (int round = 0; round < 3; round++) {
			__u64 end = now_ns() + ROUND_NS;
			unsigned int nr = 0;

			while (nr < 3 && now_ns() < end) {
				spin(1000);
				getppid();
				nr += take_samples(event, variant->window);
			}
			EXPECT_LE(3, nr) TH_LOG("length %u is silent in round %d", length, round);
			if (nr < 3)
				break;
		}
		event_close(event);
	}
	ksft_print_msg("%u lengths up to %u are refused\n", refused, LONGEST);
	if (refused == LONGEST)
		SKIP(return, "this PMU refuses them");
}

/*
 * A task that is switched all the time: what its windows count is what they are long, or they
 * are marked. With the highest precision some CPUs have a high limit.
 */
TEST_F(short_period, remainder)
{
	struct event *event = &self->event;
	unsigned int windows = 0, split = 0;
	__u64 last = 0;
	int err;

	if (!variant->window)
		SKIP(return, "this is about windows");
	if (!machine_is_exact())
		SKIP(return, "the counters are not known to be exact");
	event_init(event, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 3000);
	event->attr.alt_sample_period = 200;
	event->attr.precise_ip = variant->precise ? 3 : 0;
	stay_on_core_pmu(&event->attr);
	self->child = fork();
	ASSERT_LE(0, self->child);
	if (!self->child) {
		for (;;)
			sched_yield();
	}
	err = event_open(event);
	if (err) {
		/* A kernel without windows, or an event that cannot be that precise. */
		ASSERT_TRUE(err == E2BIG || err == EOPNOTSUPP) TH_LOG("%s", strerror(err));
		SKIP(return, "no such event: %s", strerror(err));
	}
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	for (unsigned int i = 0; i < 3000; i++) {
		spin(i % 37);
		sched_yield();
		windows += take_samples(event, true);
		for (size_t n = 0; n < event->nr_samples; n++) {
			const struct sample *s = &event->samples[n];

			split += s->split;
			if (s->window && !s->split)
				ASSERT_EQ(s->period, s->count[0] - last) TH_LOG("sample %u", i);
			last = s->count[0];
		}
	}
	ksft_print_msg("%u windows, %u of them are marked\n", windows, split);
	EXPECT_LT(split, windows);
}

TEST_HARNESS_MAIN
