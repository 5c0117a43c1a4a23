// SPDX-License-Identifier: GPL-2.0
/*
 * The sequence of alternating and jittered sample periods: each interval is as long as
 * it should be, and the sample at its end is labelled with that length.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */

#include "alt_period_fixtures.h"

static void test_alternates(struct __test_metadata *_metadata, struct event *event)
{
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, 2 * ROUNDS));
	check_sequence(_metadata, event, 0, 2 * ROUNDS, 0, 0);
	EXPECT_EQ(0, event->ring.nr_lost);
	event->nr_samples = 2 * ROUNDS;
	print_summary(event);
}

TEST_WINDOWS(hw, alternates, 60)

/* A window that does not end within anyone's lifetime ends all samples. */
static void test_endless_window(struct __test_metadata *_metadata, struct event *event)
{
	event->attr.alt_sample_period = UINT32_MAX;
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(work_until(event, 1));
	for (__u64 i = 0; i < 4 * event->attr.sample_period && i < 4000; i++)
		spin_a_while();
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0));
	collect(event);
	ASSERT_EQ(1, event->nr_samples);
	check_sequence(_metadata, event, 0, 1, 0, 0);
}

TEST_WINDOWS(hw, endless_window, 30)

static void test_bursts(struct __test_metadata *_metadata, struct event *event)
{
	event->attr.alt_sample_count = 4;
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, 5 * ROUNDS));
	check_sequence(_metadata, event, 0, 5 * ROUNDS, 0, 0);
	event->nr_samples = 5 * ROUNDS;
	print_summary(event);
}

TEST_WINDOWS(hw, bursts, 60)

/* An event that counts and does not sample. */
static struct perf_event_attr counting(const struct perf_event_attr *attr)
{
	struct perf_event_attr ret = *attr;

	ret.sample_period = 0;
	ret.alt_sample_period = 0;
	ret.sample_type = 0;
	ret.read_format = 0;
	ret.precise_ip = 0;
	ret.disabled = 0;
	return ret;
}

/* The group's counts are those of the window, and no event is lost between windows. */
static void check_group(struct __test_metadata *_metadata, struct event *event,
			struct perf_event_attr sibling)
{
	ASSERT_EQ(0, event_open(event, &sibling));
	ASSERT_TRUE(sample_for(event, 2 * ROUNDS));
	check_sequence(_metadata, event, 0, 2 * ROUNDS, 0, 0);
	for (size_t i = 1; event->exact && i < 2 * ROUNDS; i++) {
		const struct sample *s = &event->samples[i];

		ASSERT_EQ(s->period, s->count[1] - s[-1].count[1])
			TH_LOG("sample %zu: sibling", i);
	}
}

static void test_group_deltas(struct __test_metadata *_metadata, struct event *event)
{
	check_group(_metadata, event, counting(&event->attr));
}

/* Returns true if the event and @sibling count in one group: there are counters for both. */
static bool fits_in_group(struct event *event, struct perf_event_attr *sibling)
{
	__u64 values[3] = {};

	if (event_open(event, sibling))
		return false;
	ioctl(event->fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	spin_a_while();
	if (read(event->fd, values, sizeof(values)) != sizeof(values))
		values[2] = 0;
	event_close(event);
	return values[2];
}

TEST_F_TIMEOUT(hw, group_deltas, 30)
{
	struct perf_event_attr sibling = counting(&self->event.attr);

	if (!fits_in_group(&self->event, &sibling))
		SKIP(return, "one counter for this event");
	if (use_windows(_metadata, &self->event))
		test_group_deltas(_metadata, &self->event);
}

/* Several events with windows of different lengths do not disturb each other. */
TEST_F_TIMEOUT(hw, several_events, 60)
{
	enum { EVENTS = 4 };
	struct event events[EVENTS];
	time_t end = time(NULL) + SECONDS;
	bool done;

	if (!use_windows(_metadata, &self->event))
		return;
	for (int i = 0; i < EVENTS; i++) {
		struct event *event = &events[i];

		*event = self->event;
		event->attr.config &= ~(__u64)PERF_HW_EVENT_MASK;
		event->attr.config |= PERF_COUNT_HW_INSTRUCTIONS;
		event->attr.sample_period = 20011 + 7001 * i;
		event->attr.alt_sample_period = 307 + 211 * i;
		event->exact = event->exact && machine_exactness() == EXACT_YES;
		event->samples = calloc(MAX_SAMPLES, sizeof(*event->samples));
		ASSERT_NE(NULL, event->samples);
		if (!i && !require_event(_metadata, event))
			return;
		ASSERT_EQ(0, event_open(event, NULL));
		ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	}
	do {
		done = true;
		spin_a_while();
		for (int i = 0; i < EVENTS; i++) {
			collect(&events[i]);
			done = done && events[i].nr_samples >= 2 * ROUNDS;
		}
	} while (!done && time(NULL) <= end);
	for (int i = 0; i < EVENTS; i++) {
		ASSERT_EQ(0, ioctl(events[i].fd, PERF_EVENT_IOC_DISABLE, 0));
		ASSERT_LE(2 * ROUNDS, events[i].nr_samples) TH_LOG("event %d", i);
		check_sequence(_metadata, &events[i], 0, 2 * ROUNDS, 0, 0);
		event_destroy(&events[i]);
	}
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

/* The counts in the sample of a precise event are those of its own interval. */
TEST_F(hw, precise_group_deltas)
{
	struct perf_event_attr sibling = counting(&self->event.attr);

	if (!fits_in_group(&self->event, &sibling))
		SKIP(return, "one counter for this event");
	/* The sibling counts the same event without its samples. */
	test_precise(_metadata, &self->event, test_group_deltas);
}

/*
 * A record can wait in the buffer while its interval is given up, most of all where interrupts
 * come late: it is not the sample of the interval that runs then.
 */
static void test_given_up(struct __test_metadata *_metadata, struct event *event)
{
	__u64 period = event->attr.sample_period;

	ASSERT_EQ(0, event_open(event, NULL));
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

		ASSERT_EQ(s->window ? event->alt_period : period, s->period)
			TH_LOG("sample %zu: label", i);
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

struct lengths {
	__u64 window[ROUNDS], interval[ROUNDS];
	size_t nr_windows, nr_intervals;
};

static int compare_u64(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void print_lengths(const char *what, __u64 nominal, __u64 *lengths, size_t nr)
{
	qsort(lengths, nr, sizeof(*lengths), compare_u64);
	ksft_print_msg("  %s of %llu: %zu, min %llu, median %llu, 90%% %llu, max %llu\n",
		       what, nominal, nr, lengths[0], lengths[nr / 2], lengths[nr * 9 / 10],
		       lengths[nr - 1]);
}

/* Checks that no window is short, and prints the lengths. */
static void check_lengths(struct __test_metadata *_metadata, struct event *event)
{
	struct lengths l = {};

	ASSERT_TRUE(sample_for(event, 2 * ROUNDS + 1));
	for (size_t i = 1; i <= 2 * ROUNDS; i++) {
		const struct sample *s = &event->samples[i];
		__u64 length = s->count[0] - s[-1].count[0];

		if (s->window) {
			ASSERT_GT(ROUNDS, l.nr_windows);
			l.window[l.nr_windows++] = length;
			ASSERT_LE(s->period, length) TH_LOG("sample %zu", i);
		} else {
			ASSERT_GT(ROUNDS, l.nr_intervals);
			l.interval[l.nr_intervals++] = length;
		}
	}
	print_lengths("windows", event->attr.alt_sample_period, l.window, l.nr_windows);
	print_lengths("long intervals", event->attr.sample_period, l.interval, l.nr_intervals);
}

/*
 * Returns true if long intervals can pay for all that windows and interrupts took. What
 * is more than a long interval, and of a round, is let go.
 */
static bool is_payable(const struct event *event)
{
	__u64 period = event->attr.sample_period;

	for (size_t i = 1; i <= 2 * ROUNDS; i++) {
		const struct sample *s = &event->samples[i];

		if (s->count[0] - s[-1].count[0] >= s->period + period / 2)
			return false;
		if (s->window && i > 1 && s->count[0] - s[-2].count[0] >= period * 3 / 2)
			return false;
	}
	return true;
}

/*
 * A window is never shortened, however late the sample before it was. What that takes is
 * paid by the long intervals, so that the mean is right.
 */
TEST_F_TIMEOUT(hw, whole_windows, 60)
{
	const struct sched_param priority = { .sched_priority = 1 };
	struct event *event = &self->event;
	bool payable;
	__s64 total;

	if (!use_windows(_metadata, event))
		return;
	/* An interval that ends while its task is switched out has no sample. */
	if (machine_exactness() == EXACT_YES) {
		ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &priority));
	}
	/* So long that it can pay for the interrupts. */
	event->attr.sample_period = 99700 * machine_slowness();
	ASSERT_EQ(0, event_open(event, NULL));
	check_lengths(_metadata, event);
	payable = is_payable(event);
	if (machine_exactness() == EXACT_YES) {
		EXPECT_TRUE(payable);
	}
	if (payable) {
		/* What is counted past the end of the last interval is not paid yet. */
		total = event->samples[2 * ROUNDS].count[0] - event->samples[0].count[0] -
			ROUNDS * (event->attr.sample_period + event->attr.alt_sample_period);
		EXPECT_GT((__s64)event->attr.sample_period, total);
		EXPECT_LT(-(__s64)event->attr.sample_period, total);
	}
}

struct spread {
	__u64 min, max, sum;
	size_t nr;
};

static void spread_add(struct spread *spread, __u64 value)
{
	if (!spread->nr || value < spread->min)
		spread->min = value;
	if (!spread->nr || value > spread->max)
		spread->max = value;
	spread->sum += value;
	spread->nr++;
}

static void check_spread(struct __test_metadata *_metadata, const struct spread *s,
			 const struct perf_event_attr *attr, bool window)
{
	__u64 nominal = window ? attr->alt_sample_period : attr->sample_period;
	__u32 jitter = window ? attr->alt_sample_jitter : attr->sample_jitter;
	double mean = (double)s->sum / s->nr;
	double off = __builtin_fabs(mean - nominal);
	/* Five standard deviations of such a mean, squared. */
	double limit = 25.0 * (jitter + 1) * (jitter + 1) / 12 / s->nr;

	ksft_print_msg("%s %llu jitter %u: %zu from %llu to %llu, mean %.2f\n",
		       window ? "window" : "long interval", nominal, jitter, s->nr, s->min,
		       s->max, mean);
	/* The middle of the range is half an event off if jitter is odd. */
	if (jitter % 2)
		off -= 0.5;
	EXPECT_GE(limit, off * off);
	if (!jitter) {
		EXPECT_EQ(nominal, s->min);
		EXPECT_EQ(nominal, s->max);
	} else if (jitter < 300) {
		/* The odds that a value never comes are below 1 in 1000. */
		EXPECT_EQ(interval_min(attr, window), s->min);
		EXPECT_EQ(interval_max(attr, window), s->max);
	} else {
		EXPECT_GT(nominal - jitter / 2 + jitter / 20, s->min);
		EXPECT_LT(nominal + jitter / 2 - jitter / 20, s->max);
	}
}

static void check_jitter(struct __test_metadata *_metadata, struct event *event, __u32 jitter,
			 size_t nr)
{
	__u64 window = event->attr.alt_sample_period;
	struct spread spread[2] = {};

	event->attr.sample_jitter = jitter;
	/* The range of a window must stay above zero. */
	event->attr.alt_sample_jitter = window > 1 ? window / 3 * 2 : 0;

	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, nr));
	check_sequence(_metadata, event, 0, nr, 0, 0);

	for (size_t i = 0; i < nr; i++)
		spread_add(&spread[event->samples[i].window], event->samples[i].period);
	check_spread(_metadata, &spread[false], &event->attr, false);
	check_spread(_metadata, &spread[true], &event->attr, true);
}

static void test_jitter(struct __test_metadata *_metadata, struct event *event)
{
	check_jitter(_metadata, event, event->attr.sample_period / 5, MAX_SAMPLES);
}

TEST_F_TIMEOUT(hw, jitter, 120)
{
	if (!use_windows(_metadata, &self->event))
		return;
	self->event.attr.sample_period = 9700;
	test_jitter(_metadata, &self->event);
}

static void test_jitter_without_windows(struct __test_metadata *_metadata, struct event *event)
{
	struct spread spread = {};

	event->attr.alt_sample_period = 0;
	event->attr.sample_jitter = event->attr.sample_period / 2;
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, ROUNDS));
	check_sequence(_metadata, event, 0, ROUNDS, 0, 0);
	for (size_t i = 0; i < ROUNDS; i++)
		spread_add(&spread, event->samples[i].period);
	EXPECT_NE(spread.min, spread.max);
}

TEST_WINDOWS(hw, jitter_without_windows, 30)

/* Two events with the same attr do not share their random numbers. */
static void test_jitter_of_two_events_differs(struct __test_metadata *_metadata,
					      struct event *event)
{
	__u64 first[20];
	bool differs = false;

	event->attr.sample_jitter = event->attr.sample_period / 2;
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, 20));
	for (int i = 0; i < 20; i++)
		first[i] = event->samples[i].period;
	event_close(event);

	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, 20));
	for (int i = 0; i < 20; i++)
		differs |= event->samples[i].period != first[i];
	EXPECT_TRUE(differs);
}

TEST_WINDOWS(hw, jitter_of_two_events_differs, 30)

/*
 * Ordinary events of @attr on the same counter are not affected, opened before and after
 * the event with windows.
 */
static void check_neighbours(struct __test_metadata *_metadata, struct event *event,
			     struct perf_event_attr attr)
{
	struct sample *samples = calloc(MAX_SAMPLES, sizeof(*samples));
	struct ring rings[2];
	int fds[2];
	size_t nr;

	ASSERT_NE(NULL, samples);
	attr.read_format = 0;
	attr.sample_type &= ~PERF_SAMPLE_READ;
	attr.disabled = 0;

	for (int i = 0; i < 2; i++) {
		if (i) {
			ASSERT_EQ(0, event_open(event, NULL));
		}
		fds[i] = perf_event_open(&attr, 0, -1, -1);
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(0, ring_map(&rings[i], fds[i]));
	}
	ASSERT_TRUE(sample_for(event, 20));
	check_sequence(_metadata, event, 0, 20, 0, 0);
	for (int i = 0; i < 2; i++) {
		nr = ring_read(&rings[i], samples, MAX_SAMPLES, attr.sample_type);
		EXPECT_LT(0, nr);
		while (nr--) {
			ASSERT_FALSE(samples[nr].window) TH_LOG("event %d, sample %zu", i, nr);
		}
		ring_unmap(&rings[i]);
		close(fds[i]);
	}
	free(samples);
}

TEST_F(hw, ordinary_neighbours)
{
	struct perf_event_attr attr = self->event.attr;

	if (!use_windows(_metadata, &self->event))
		return;
	/* Not every counter of a PMU need be exact if one is. */
	self->event.exact = machine_exactness() == EXACT_YES;
	check_neighbours(_metadata, &self->event, attr);
}

TEST_HARNESS_MAIN
