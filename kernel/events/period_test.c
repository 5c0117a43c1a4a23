// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of sampling events whose intervals differ in length
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "period.h"

#define DRAWS		1024

static u64 min_period;

static int check_period(struct perf_event *event, u64 value)
{
	return value < min_period ? -EINVAL : 0;
}

static struct pmu pmu = {
	.capabilities	= PERF_PMU_CAP_ALT_PERIOD,
	.check_period	= check_period,
};

static struct pmu pmu_without_cap = {
	.check_period	= check_period,
};

static void free_period(void *event)
{
	kfree(((struct perf_event *)event)->hw.alt);
}

/* Make an event as perf_event_alloc() passes it to perf_event_init_period(). */
static struct perf_event *make_event(struct kunit *test, const struct perf_event_attr *attr)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->pmu = &pmu;
	event->attr = *attr;
	event->attr.exclude_kernel = 1;
	event->hw.sample_period = attr->freq ? 1 : attr->sample_period;
	event->hw.last_period = event->hw.sample_period;
	local64_set(&event->hw.period_left, event->hw.sample_period);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, free_period, event), 0);

	return event;
}

static struct perf_event *make_alternating(struct kunit *test, const struct perf_event_attr *attr)
{
	struct perf_event *event = make_event(test, attr);

	KUNIT_ASSERT_EQ(test, perf_event_init_period(event), 0);
	KUNIT_ASSERT_NOT_NULL(test, event->hw.alt);
	/* An interval begins when the event starts: the first one has jitter, too. */
	KUNIT_EXPECT_EQ(test, local64_read(&event->hw.period_left), 0);
	/* Draw the same numbers in each run. */
	prandom_seed_state(&event->hw.alt->rnd, 1);

	return event;
}

/* End the interval by @overrun events more, and return what the counter gets. */
static s64 next(struct kunit *test, struct perf_event *event, s64 overrun)
{
	s64 left = -overrun;

	KUNIT_ASSERT_TRUE(test, perf_event_next_interval(event, &left));
	KUNIT_EXPECT_EQ(test, local64_read(&event->hw.period_left), left);

	return left;
}

/* The same when the event starts: there is no sample. */
static s64 restart(struct kunit *test, struct perf_event *event, s64 overrun)
{
	s64 length;

	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	length = next(test, event, overrun);
	event->hw.state = 0;

	return length;
}

static u64 label(struct perf_event *event)
{
	return event->hw.last_period;
}

static bool window(struct perf_event *event)
{
	return perf_event_in_window(event);
}

static void test_ordinary(struct kunit *test)
{
	struct perf_event *event;
	s64 left = 1;

	event = make_event(test, &(struct perf_event_attr){ .sample_period = 1000 });
	KUNIT_EXPECT_EQ(test, perf_event_init_period(event), 0);
	KUNIT_EXPECT_NULL(test, event->hw.alt);
	KUNIT_EXPECT_FALSE(test, perf_event_next_interval(event, &left));
	KUNIT_EXPECT_EQ(test, left, 1);
	KUNIT_EXPECT_EQ(test, next(test, event, 0), 1000);
	KUNIT_EXPECT_EQ(test, next(test, event, 999), 1);
	/* Way outside: a whole period from now. */
	KUNIT_EXPECT_EQ(test, next(test, event, 1000), 1000);
	KUNIT_EXPECT_EQ(test, next(test, event, S64_MAX), 1000);
	KUNIT_EXPECT_EQ(test, label(event), 1000);
	/* The label is the period that the interval began with. */
	event->hw.sample_period = 2000;
	KUNIT_EXPECT_EQ(test, label(event), 1000);
	KUNIT_EXPECT_EQ(test, next(test, event, 0), 2000);
	KUNIT_EXPECT_EQ(test, label(event), 2000);
}

static void test_sequence(struct kunit *test)
{
	struct perf_event_attr attr = { .sample_period = 1000, .alt_sample_period = 10 };

	for (u32 count = 0; count <= 5; count++) {
		struct perf_event *event;

		attr.alt_sample_count = count;
		event = make_alternating(test, &attr);
		for (int round = 0; round < 3; round++) {
			KUNIT_EXPECT_EQ(test, next(test, event, 0), 1000);
			KUNIT_EXPECT_EQ(test, event->hw.last_period, 1000);
			for (u32 i = 0; i < (count ?: 1); i++) {
				KUNIT_EXPECT_EQ(test, next(test, event, 0), 10);
				KUNIT_EXPECT_EQ(test, label(event), 10);
				KUNIT_EXPECT_TRUE(test, window(event));
			}
		}
	}
}

static void test_window_longer_than_period(struct kunit *test)
{
	struct perf_event *event;

	event = make_alternating(test, &(struct perf_event_attr){
		.sample_period = 1, .alt_sample_period = U32_MAX,
		.alt_sample_count = U16_MAX });
	KUNIT_EXPECT_EQ(test, next(test, event, 0), 1);
	for (int i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, next(test, event, 0), U32_MAX);
		KUNIT_EXPECT_TRUE(test, window(event));
	}
	/* The last window of a round. */
	event->hw.alt->next = U16_MAX;
	KUNIT_EXPECT_EQ(test, next(test, event, 0), U32_MAX);
	KUNIT_EXPECT_TRUE(test, window(event));
	KUNIT_EXPECT_EQ(test, next(test, event, 0), 1);
	KUNIT_EXPECT_FALSE(test, window(event));
}

static void test_unfinished_interval_goes_on(struct kunit *test)
{
	struct perf_event *event;
	s64 left = 3;

	event = make_alternating(test, &(struct perf_event_attr){
		.sample_period = 1000, .alt_sample_period = 10 });
	next(test, event, 0);
	next(test, event, 0);
	KUNIT_EXPECT_FALSE(test, perf_event_next_interval(event, &left));
	KUNIT_EXPECT_EQ(test, left, 3);
	KUNIT_EXPECT_TRUE(test, window(event));
}

static void test_long_interval_pays_overrun(struct kunit *test)
{
	struct perf_event *event;

	event = make_alternating(test, &(struct perf_event_attr){
		.sample_period = 1000, .alt_sample_period = 10, .alt_sample_count = 2 });
	KUNIT_EXPECT_EQ(test, next(test, event, 0), 1000);
	KUNIT_EXPECT_EQ(test, next(test, event, 100), 10);
	KUNIT_EXPECT_EQ(test, next(test, event, 20), 10);
	KUNIT_EXPECT_EQ(test, next(test, event, 3), 1000 - 123);
	/* The label remains the period. */
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 1000);
	/* It pays once. */
	next(test, event, 0);
	next(test, event, 0);
	KUNIT_EXPECT_EQ(test, next(test, event, 0), 1000);
	/* At least one event is left of it ... */
	next(test, event, 900);
	next(test, event, 90);
	KUNIT_EXPECT_EQ(test, next(test, event, 9), 1);
	/* ... and overrun that exceeds it is forgotten. */
	next(test, event, 900);
	next(test, event, 90);
	KUNIT_EXPECT_EQ(test, next(test, event, 10), 1000);
	next(test, event, S64_MAX);
	next(test, event, S64_MAX);
	KUNIT_EXPECT_EQ(test, next(test, event, 0), 1000);
	next(test, event, 0);
	next(test, event, 0);
	KUNIT_EXPECT_EQ(test, next(test, event, 0), 1000);
}

static void test_resumed_interval(struct kunit *test)
{
	struct perf_event *event;

	event = make_alternating(test, &(struct perf_event_attr){
		.sample_period = 1000, .alt_sample_period = 10, .alt_sample_count = 2 });
	for (int windows = 0; windows <= 2; windows++) {
		KUNIT_EXPECT_EQ(test, next(test, event, 0), 1000);
		for (int i = 0; i < windows; i++)
			KUNIT_EXPECT_EQ(test, next(test, event, 0), 10);
		/* The counter was stopped five events past its end. */
		KUNIT_EXPECT_EQ(test, restart(test, event, 5), 1000 - 5);
		KUNIT_EXPECT_FALSE(test, window(event));
		KUNIT_EXPECT_EQ(test, next(test, event, 0), 10);
		KUNIT_EXPECT_TRUE(test, window(event));
		KUNIT_EXPECT_EQ(test, next(test, event, 0), 10);
	}
}

static void test_split(struct kunit *test)
{
	struct perf_alt_period *alt;
	struct perf_event *event;
	const u16 whole = PERF_RECORD_MISC_ALT_WINDOW;
	const u16 split = whole | PERF_RECORD_MISC_ALT_SPLIT;

	event = make_alternating(test, &(struct perf_event_attr){
		.sample_period = 1000, .alt_sample_period = 10, .alt_sample_count = 8 });
	alt = event->hw.alt;
	event->attach_state = PERF_ATTACH_TASK;
	next(test, event, 0);
	/* Only a window can be split. */
	perf_event_split_interval(event);
	next(test, event, 0);
	KUNIT_EXPECT_EQ(test, alt->last_misc, 0);
	perf_event_split_interval(event);
	next(test, event, 0);
	KUNIT_EXPECT_EQ(test, alt->last_misc, split);
	next(test, event, 0);
	KUNIT_EXPECT_EQ(test, alt->last_misc, whole);
	/* Switches of tasks split the windows of a CPU, not those of a task. */
	alt->switches--;
	alt->task = NULL;
	next(test, event, 0);
	KUNIT_EXPECT_EQ(test, alt->last_misc, whole);
	event->attach_state = 0;
	preempt_disable();
	next(test, event, 0);
	next(test, event, 0);
	KUNIT_EXPECT_EQ(test, alt->last_misc, whole);
	alt->switches--;
	next(test, event, 0);
	KUNIT_EXPECT_EQ(test, alt->last_misc, split);
	alt->task = NULL;
	next(test, event, 0);
	KUNIT_EXPECT_EQ(test, alt->last_misc, split);
	preempt_enable();
}

static void test_restart(struct kunit *test)
{
	struct perf_event *event;

	event = make_alternating(test, &(struct perf_event_attr){
		.sample_period = 1000, .alt_sample_period = 10, .alt_sample_count = 2 });
	next(test, event, 0);
	next(test, event, 100);
	event->hw.sample_period = 500;
	KUNIT_EXPECT_EQ(test, restart(test, event, 0), 500 - 100);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 500);
	KUNIT_EXPECT_EQ(test, next(test, event, 0), 10);
}

static const u32 jitters[] = {
	0, 1, 2, 3, 4, 5, 9, 10, 255, 256, 999, 65535, 65536, 1000001, 1U << 30,
	(1U << 31) - 1, 1U << 31, (1U << 31) + 1, U32_MAX - 1, U32_MAX,
};

/* Check the limits and the mean of the lengths that @jitter makes of @period. */
static void check_jitter(struct kunit *test, u64 period, u64 jitter, bool windows)
{
	struct perf_event_attr attr = { .sample_period = 1000 };
	u64 low = period - jitter / 2, high = low + jitter;
	u64 min = U64_MAX, max = 0;
	struct perf_event *event;
	s64 off = 0, limit;

	if (windows) {
		attr.alt_sample_period = period;
		attr.alt_sample_jitter = jitter;
	} else {
		attr.sample_period = period;
		attr.sample_jitter = jitter;
		/* Without windows and jitter, nothing would vary. */
		attr.alt_sample_period = 10;
	}
	KUNIT_ASSERT_TRUE(test, perf_attr_period_valid(&attr, attr.sample_period));
	event = make_alternating(test, &attr);

	for (int i = 0; i < 2 * DRAWS; i++) {
		u64 length = next(test, event, 0);

		KUNIT_ASSERT_EQ(test, length, label(event));
		if (window(event) != windows)
			continue;
		KUNIT_ASSERT_GE_MSG(test, length, low, "jitter %llu", jitter);
		KUNIT_ASSERT_LE_MSG(test, length, high, "jitter %llu", jitter);
		min = min(min, length);
		max = max(max, length);
		off += length - period;
	}

	/* If jitter is odd, the mean is half an event above the period. */
	off -= jitter % 2 * DRAWS / 2;
	/*
	 * Four standard deviations of such a sum: 4 * (jitter + 1) / sqrt(12) *
	 * sqrt(1024), rounded up.
	 */
	limit = (jitter + 1) * 37;
	if (!jitter)
		limit = 0;
	KUNIT_EXPECT_LE_MSG(test, abs(off), limit, "jitter %llu", jitter);
	/* Both ends are reached, or nearly so. */
	KUNIT_EXPECT_LE_MSG(test, min - low, div_u64(jitter, 100), "jitter %llu", jitter);
	KUNIT_EXPECT_LE_MSG(test, high - max, div_u64(jitter, 100), "jitter %llu", jitter);
}

static void test_jitter(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(jitters); i++) {
		u64 jitter = jitters[i];

		/* The shortest and the longest period that allow it. */
		check_jitter(test, jitter / 2 + 1, jitter, false);
		check_jitter(test, S64_MAX - jitter, jitter, false);
		check_jitter(test, jitter + 1000, jitter, false);
		check_jitter(test, jitter / 2 + 1, jitter, true);
		check_jitter(test, U32_MAX, jitter, true);
	}
}

static void test_events_draw_their_own_numbers(struct kunit *test)
{
	struct perf_event_attr attr = {
		.sample_period = 1ULL << 40, .sample_jitter = U32_MAX };
	struct perf_event *a = make_event(test, &attr), *b = make_event(test, &attr);
	int same = 0;

	KUNIT_ASSERT_EQ(test, perf_event_init_period(a), 0);
	KUNIT_ASSERT_EQ(test, perf_event_init_period(b), 0);
	for (int i = 0; i < 100; i++)
		same += next(test, a, 0) == next(test, b, 0);
	KUNIT_EXPECT_LT(test, same, 2);
}

static void test_valid(struct kunit *test)
{
	static const struct {
		u64 period;
		u32 alt_period, jitter, alt_jitter;
		u16 alt_count;
		bool freq, valid;
	} cases[] = {
		{ .valid = true },
		{ .period = 1, .valid = true },
		/* Nothing varies: the period is checked elsewhere. */
		{ .period = U64_MAX, .valid = true },
		{ .period = 1, .alt_period = 1, .valid = true },
		{ .period = 1, .jitter = 1, .valid = true },
		{ .period = 1, .alt_period = 1, .jitter = 1, .alt_jitter = 1,
		  .alt_count = U16_MAX, .valid = true },
		{ .period = 1, .alt_jitter = 1 },
		{ .period = 1, .alt_count = 1 },
		{ .period = 0, .alt_period = 1 },
		{ .period = 0, .jitter = 1 },
		{ .period = 1, .jitter = 2 },
		{ .period = 2, .jitter = 2, .valid = true },
		{ .period = 2, .jitter = 3, .valid = true },
		{ .period = 2, .jitter = 4 },
		{ .period = 9, .alt_period = 1, .alt_jitter = 2 },
		{ .period = S64_MAX, .alt_period = 1, .valid = true },
		{ .period = S64_MAX, .alt_period = 1, .jitter = 1 },
		{ .period = S64_MAX - 1, .alt_period = 1, .jitter = 1,
		  .valid = true },
		{ .period = 1ULL << 63, .alt_period = 1 },
		{ .period = 1, .alt_period = U32_MAX, .alt_jitter = U32_MAX, .valid = true },
		{ .period = 1, .alt_period = S32_MAX, .alt_jitter = U32_MAX },
		{ .period = 1ULL << 31, .alt_period = 1U << 31,
		  .jitter = U32_MAX, .alt_jitter = U32_MAX, .valid = true },
		{ .period = (1ULL << 31) - 1, .jitter = U32_MAX },
		{ .period = S64_MAX - U32_MAX, .jitter = U32_MAX,
		  .valid = true },
		{ .period = S64_MAX - U32_MAX + 1, .jitter = U32_MAX },
		{ .period = 1, .alt_period = 1, .jitter = U32_MAX,
		  .alt_jitter = 1, .alt_count = 4, .freq = true,
		  .valid = true },
		{ .period = 1, .alt_period = 1, .alt_jitter = 2, .freq = true },
		{ .period = 0, .alt_period = 1, .freq = true },
		{ .period = 0, .jitter = 1, .freq = true },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct perf_event_attr attr = {
			.sample_period = cases[i].period,
			.alt_sample_period = cases[i].alt_period,
			.sample_jitter = cases[i].jitter,
			.alt_sample_jitter = cases[i].alt_jitter,
			.alt_sample_count = cases[i].alt_count,
			.freq = cases[i].freq,
		};

		KUNIT_EXPECT_EQ_MSG(test, perf_attr_period_valid(&attr, cases[i].period),
				    cases[i].valid, "case %d", i);
	}
}

static void test_refused(struct kunit *test)
{
	struct perf_event_attr attr = { .sample_period = 1000, .alt_sample_period = 10 };
	struct perf_event *event;

	event = make_event(test, &attr);
	event->pmu = &pmu_without_cap;
	KUNIT_EXPECT_EQ(test, perf_event_init_period(event), -EOPNOTSUPP);

	attr.aux_output = 1;
	event = make_event(test, &attr);
	KUNIT_EXPECT_EQ(test, perf_event_init_period(event), -EOPNOTSUPP);
	attr.aux_output = 0;

	/* Windows exclude the kernel, other intervals need not. */
	event = make_event(test, &attr);
	event->attr.exclude_kernel = 0;
	KUNIT_EXPECT_EQ(test, perf_event_init_period(event), -EOPNOTSUPP);
	event->attr.alt_sample_period = 0;
	event->attr.sample_jitter = 10;
	KUNIT_EXPECT_EQ(test, perf_event_init_period(event), 0);

	/* The limit of the PMU holds for the shortest interval of all. */
	min_period = 8;
	attr.alt_sample_jitter = 4;
	event = make_event(test, &attr);
	KUNIT_EXPECT_EQ(test, perf_event_init_period(event), 0);
	attr.alt_sample_jitter = 6;
	event = make_event(test, &attr);
	KUNIT_EXPECT_EQ(test, perf_event_init_period(event), -EINVAL);
	attr.alt_sample_jitter = 0;
	attr.sample_jitter = 1986;
	event = make_event(test, &attr);
	KUNIT_EXPECT_EQ(test, perf_event_init_period(event), -EINVAL);
	/* In frequency mode long intervals are not known in advance. */
	attr.freq = 1;
	event = make_event(test, &attr);
	KUNIT_EXPECT_EQ(test, perf_event_init_period(event), 0);
	attr.alt_sample_period = 7;
	event = make_event(test, &attr);
	KUNIT_EXPECT_EQ(test, perf_event_init_period(event), -EINVAL);
	min_period = 0;
}

static void test_frequency(struct kunit *test)
{
	struct perf_event_attr attr = {
		.sample_freq = 1000, .freq = 1, .alt_sample_period = 300,
		.sample_jitter = 1000 };
	struct perf_event *event;
	u64 limit, longest = 0;

	KUNIT_EXPECT_EQ(test, perf_attr_long_period(&attr, 1000000), 1000000 - 300);
	attr.alt_sample_count = 4;
	KUNIT_EXPECT_EQ(test, perf_attr_long_period(&attr, 1000000), 1000000 - 1200);
	KUNIT_EXPECT_EQ(test, perf_attr_long_period(&attr, 1201), 1);
	KUNIT_EXPECT_EQ(test, perf_attr_long_period(&attr, 1200), 1);
	KUNIT_EXPECT_EQ(test, perf_attr_long_period(&attr, 0), 1);
	attr.alt_sample_count = U16_MAX;
	attr.alt_sample_period = U32_MAX;
	KUNIT_EXPECT_EQ(test, perf_attr_long_period(&attr, 1ULL << 48),
			(1ULL << 48) - (u64)U16_MAX * U32_MAX);
	KUNIT_EXPECT_EQ(test, perf_attr_long_period(&attr, (u64)U16_MAX * U32_MAX), 1);

	/* The limit is one of samples. */
	limit = sysctl_perf_event_sample_rate / (U16_MAX + 1);
	KUNIT_EXPECT_TRUE(test, perf_attr_freq_valid(&attr, limit));
	KUNIT_EXPECT_FALSE(test, perf_attr_freq_valid(&attr, limit + 1));
	KUNIT_EXPECT_FALSE(test, perf_attr_freq_valid(&attr, U64_MAX));
	attr.alt_sample_count = 4;
	limit = sysctl_perf_event_sample_rate / 5;
	KUNIT_EXPECT_TRUE(test, perf_attr_freq_valid(&attr, limit));
	KUNIT_EXPECT_FALSE(test, perf_attr_freq_valid(&attr, limit + 1));

	attr.alt_sample_count = 0;
	attr.alt_sample_period = 300;
	event = make_alternating(test, &attr);
	/* The count of a round is that since the last one. */
	local64_set(&event->count, 1000);
	KUNIT_EXPECT_EQ(test, perf_event_round_count(event), 1000);
	local64_set(&event->count, 1300);
	KUNIT_EXPECT_EQ(test, perf_event_round_count(event), 300);
	local64_set(&event->count, 7);
	KUNIT_EXPECT_EQ(test, perf_event_round_count(event), 0);
	local64_set(&event->count, 17);
	KUNIT_EXPECT_EQ(test, perf_event_round_count(event), 10);

	/* Jitter is cut to the period that the frequency needs. */
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 1);
	for (u64 period = 1; period < 3000; period++) {
		u64 jitter = min(period, 1000);
		s64 length;

		event->hw.sample_period = period;
		length = next(test, event, 0);
		KUNIT_ASSERT_GE(test, length, period - jitter / 2);
		KUNIT_ASSERT_LE(test, length, period - jitter / 2 + jitter);
		if (period < 1000 && length > period)
			longest = max(longest, div64_u64((length - period) * 100, jitter));
		KUNIT_ASSERT_EQ(test, next(test, event, 0), 300);
	}
	/* To no less. */
	KUNIT_EXPECT_GE(test, longest, 45);
}

static struct kunit_case period_test_cases[] = {
	KUNIT_CASE(test_ordinary),
	KUNIT_CASE(test_sequence),
	KUNIT_CASE(test_window_longer_than_period),
	KUNIT_CASE(test_unfinished_interval_goes_on),
	KUNIT_CASE(test_long_interval_pays_overrun),
	KUNIT_CASE(test_resumed_interval),
	KUNIT_CASE(test_split),
	KUNIT_CASE(test_restart),
	KUNIT_CASE(test_jitter),
	KUNIT_CASE(test_events_draw_their_own_numbers),
	KUNIT_CASE(test_valid),
	KUNIT_CASE(test_refused),
	KUNIT_CASE(test_frequency),
	{},
};

static struct kunit_suite period_test_suite = {
	.name = "perf_period",
	.test_cases = period_test_cases,
};

kunit_test_suites(&period_test_suite);
