// SPDX-License-Identifier: GPL-2.0
/*
 * Alternating sample periods in frequency mode: it is the rounds, of a long interval and
 * its windows, that have the frequency, and the windows stay as they are.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */

#include "alt_period_fixtures.h"

/* Returns how long this task has been running, and its events with it. */
static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

struct counted {
	size_t rounds, samples;
	__u64 period;		/* of the last long interval */
};

/*
 * Samples for @time seconds. @phase is that of the next sample, as in check_sequence(),
 * and 0 before the first.
 */
static struct counted count_rounds(struct __test_metadata *_metadata, struct event *event,
				   double time, unsigned int *phase)
{
	double end = seconds() + time;
	struct counted counted = {};

	while (seconds() < end) {
		for (int i = 0; i < 10; i++)
			spin_a_while();
		event->nr_samples = 0;
		collect(event);
		for (size_t i = 0; i < event->nr_samples; i++) {
			const struct sample *s = &event->samples[i];

			ASSERT_EQ(*phase != 0, s->window) {
				TH_LOG("sample out of sequence, period %llu", s->period);
			}
			if (s->window) {
				ASSERT_EQ(event->attr.alt_sample_period, s->period);
			} else {
				counted.rounds++;
				counted.period = s->period;
			}
			*phase = *phase < event->attr.alt_sample_count ? *phase + 1 : 0;
		}
		counted.samples += event->nr_samples;
	}
	return counted;
}

/* Returns the length of long intervals. */
static __u64 check_frequency(struct __test_metadata *_metadata, struct event *event,
			     unsigned int frequency, unsigned int windows)
{
	const double settle = 0.5, time = 0.5;
	struct counted counted = {};
	unsigned int phase = 0;
	double seen[2];
	size_t first;

	event->attr.freq = 1;
	event->attr.sample_freq = frequency;
	event->attr.alt_sample_count = windows;
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	first = count_rounds(_metadata, event, settle, &phase).samples;
	for (int i = 0; i < 2; i++) {
		counted = count_rounds(_metadata, event, time, &phase);
		seen[i] = counted.rounds / time;
	}
	ksft_print_msg("%5u Hz, %u windows: %zu samples to settle, then %.1f and %.1f Hz\n",
		       frequency, windows, first, seen[0], seen[1]);
	for (int i = 0; i < 2; i++) {
		EXPECT_GE(0.05 * frequency, __builtin_fabs(seen[i] - frequency));
	}
	/* No storm: it began with a period of 1. */
	EXPECT_GE(2 * settle * frequency * (windows + 1) + 1000, first);
	EXPECT_EQ(0, event->ring.nr_lost);
	event_close(event);
	return counted.period;
}

static void test_frequency(struct __test_metadata *_metadata, struct event *event)
{
	__u64 period;

	check_frequency(_metadata, event, 100, 4);
	period = check_frequency(_metadata, event, 1000, 1);
	check_frequency(_metadata, event, 4000, 4);
	/* Windows that fill half of a round. */
	event->attr.alt_sample_period = period / 4;
	check_frequency(_metadata, event, 1000, 2);
}

TEST_WINDOWS(hw, frequency, 60)

TEST_HARNESS_MAIN
