// SPDX-License-Identifier: GPL-2.0
/*
 * Alternating sample periods in frequency mode: it is the rounds, of a long interval and
 * its windows, that have the frequency, and the windows stay as they are.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */

#include "alt_period_event.h"

/* Returns how long this task has been running, and its events with it. */
static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Counts the rounds of a second. Returns the length of long intervals. */
static __u64 check_frequency(struct __test_metadata *_metadata, struct event *event,
			     unsigned int frequency, unsigned int windows)
{
	size_t settling = 0, rounds = 0;
	double begin, now;
	unsigned int phase = 0;
	__u64 period = 0;

	event->attr.freq = 1;
	event->attr.sample_freq = frequency;
	event->attr.alt_sample_count = windows;
	ASSERT_EQ(0, event_open(event));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	begin = seconds() + 0.5;
	do {
		for (int i = 0; i < 10; i++)
			spin_a_while();
		now = seconds();
		event->nr_samples = 0;
		collect(event);
		for (size_t i = 0; i < event->nr_samples; i++) {
			const struct sample *s = &event->samples[i];

			ASSERT_EQ(phase != 0, s->window) TH_LOG("period %llu", s->period);
			if (s->window) {
				ASSERT_EQ(event->attr.alt_sample_period, s->period);
			} else {
				period = s->period;
			}
			settling += now < begin;
			rounds += now >= begin && !s->window;
			phase = phase < windows ? phase + 1 : 0;
		}
	} while (now < begin + 1);
	EXPECT_LE(0.95 * frequency, rounds);
	EXPECT_GE(1.05 * frequency, rounds);
	/* No storm: it began with a period of 1. */
	EXPECT_GE(frequency * (windows + 1) + 1000, settling);
	EXPECT_EQ(0, event->ring.nr_lost);
	event_close(event);
	return period;
}

TEST_F_TIMEOUT(hw, frequency, 60)
{
	struct event *event = &self->event;
	__u64 period;

	if (!use_windows(_metadata, event))
		return;
	check_frequency(_metadata, event, 100, 4);
	period = check_frequency(_metadata, event, 1000, 1);
	check_frequency(_metadata, event, 4000, 4);
	/* Windows that fill half of a round. */
	event->attr.alt_sample_period = period / 4;
	check_frequency(_metadata, event, 1000, 2);
	/* These are longer than eight long intervals, and are not given up all the same. */
	if (machine_is_exact()) {
		event->attr.alt_sample_period = period / 20 * 19;
		check_frequency(_metadata, event, 1000, 1);
	}
}

TEST_HARNESS_MAIN
