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

/* Make an event with windows of 10 events, and a period of 1000. */
static struct perf_event *make_windows(struct kunit *test, u16 count)
{
	return make_alternating(test, &(struct perf_event_attr){
		.sample_period = 1000, .alt_sample_period = 10, .alt_sample_count = count });
}

/*
 * Check that the interval does not end before it is over, end it by @overrun events more, and
 * return what the counter gets.
 */
static s64 next(struct kunit *test, struct perf_event *event, s64 overrun)
{
	s64 left = 1;

	KUNIT_EXPECT_FALSE(test, perf_event_next_interval(event, &left));
	KUNIT_EXPECT_EQ(test, left, 1);
	left = -overrun;
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

/* End the interval: a window begins, or a long interval that has paid for @overruns. */
static void expect_window(struct kunit *test, struct perf_event *event, s64 overrun)
{
	KUNIT_EXPECT_EQ(test, next(test, event, overrun), event->attr.alt_sample_period);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, event->attr.alt_sample_period);
	KUNIT_EXPECT_TRUE(test, perf_event_in_window(event));
}

static void expect_long(struct kunit *test, struct perf_event *event, s64 overrun, s64 overruns)
{
	KUNIT_EXPECT_EQ(test, next(test, event, overrun), event->attr.sample_period - overruns);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, event->attr.sample_period);
	KUNIT_EXPECT_FALSE(test, perf_event_in_window(event));
}

static void test_ordinary(struct kunit *test)
{
	struct perf_event *event = make_event(test, &(struct perf_event_attr){
		.sample_period = 1000 });

	KUNIT_EXPECT_EQ(test, perf_event_init_period(event), 0);
	KUNIT_EXPECT_NULL(test, event->hw.alt);
	perf_event_split_interval(event);
	expect_long(test, event, 0, 0);
	expect_long(test, event, 999, 999);
	/* Way outside: a whole period from now. */
	expect_long(test, event, 1000, 0);
	expect_long(test, event, S64_MAX, 0);
	/* The label is the period that the interval began with. */
	event->hw.sample_period = 2000;
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 1000);
	KUNIT_EXPECT_EQ(test, next(test, event, 0), 2000);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 2000);
}

static void test_sequence(struct kunit *test)
{
	for (u32 count = 0; count <= 5; count++) {
		struct perf_event *event = make_windows(test, count);

		for (int round = 0; round < 3; round++) {
			expect_long(test, event, 0, 0);
			for (u32 i = 0; i < (count ?: 1); i++)
				expect_window(test, event, 0);
		}
	}
}

static void test_largest_windows(struct kunit *test)
{
	struct perf_event *event = make_alternating(test, &(struct perf_event_attr){
		.sample_period = 1, .alt_sample_period = U32_MAX, .alt_sample_count = U16_MAX });

	expect_long(test, event, 0, 0);
	for (int i = 0; i < U16_MAX; i++)
		expect_window(test, event, 0);
	expect_long(test, event, 0, 0);
}

static void test_long_interval_pays_overrun(struct kunit *test)
{
	static const struct {
		s64 overruns[3];	/* of a long interval and two windows */
		s64 paid;
	} rounds[] = {
		{ { 100, 20, 3 }, 123 },
		/* It pays once. */
		{ { 0, 0, 0 }, 0 },
		/* At least one event is left of it, and overrun that exceeds it is forgotten. */
		{ { 900, 90, 9 }, 999 },
		{ { 900, 90, 10 }, 0 },
		{ { S64_MAX, S64_MAX, 0 }, 0 },
		{ { 0, 0, 0 }, 0 },
	};
	struct perf_event *event = make_windows(test, 2);

	expect_long(test, event, 0, 0);
	for (int i = 0; i < ARRAY_SIZE(rounds); i++) {
		expect_window(test, event, rounds[i].overruns[0]);
		expect_window(test, event, rounds[i].overruns[1]);
		expect_long(test, event, rounds[i].overruns[2], rounds[i].paid);
	}
}

/* What starts again begins with a long interval, of today's period. */
static void test_restart(struct kunit *test)
{
	struct perf_event *event = make_windows(test, 2);

	for (int windows = 0; windows <= 2; windows++) {
		expect_long(test, event, 0, 0);
		for (int i = 0; i < windows; i++)
			expect_window(test, event, 0);
		/* The counter was stopped five events past its end. */
		KUNIT_EXPECT_EQ(test, restart(test, event, 5), 1000 - 5);
		KUNIT_EXPECT_FALSE(test, perf_event_in_window(event));
		expect_window(test, event, 0);
		expect_window(test, event, 0);
	}
	expect_long(test, event, 0, 0);
	expect_window(test, event, 100);
	event->hw.sample_period = 500;
	KUNIT_EXPECT_EQ(test, restart(test, event, 0), 500 - 100);
	KUNIT_EXPECT_EQ(test, event->hw.last_period, 500);
}

/* End an interval, and expect its label. */
static void expect_misc(struct kunit *test, struct perf_event *event, u16 misc)
{
	next(test, event, 0);
	KUNIT_EXPECT_EQ(test, event->hw.alt->last_misc, misc);
}

static void test_split(struct kunit *test)
{
	const u16 whole = PERF_RECORD_MISC_ALT_WINDOW;
	const u16 split = whole | PERF_RECORD_MISC_ALT_SPLIT;
	struct perf_event *event = make_windows(test, 8);
	struct perf_alt_period *alt = event->hw.alt;

	event->attach_state = PERF_ATTACH_TASK;
	next(test, event, 0);
	/* Only a window can be split. */
	perf_event_split_interval(event);
	expect_misc(test, event, 0);
	perf_event_split_interval(event);
	expect_misc(test, event, split);
	expect_misc(test, event, whole);
	/* Switches of tasks split the windows of a CPU, not those of a task. */
	alt->switches--;
	alt->task = NULL;
	expect_misc(test, event, whole);
	event->attach_state = 0;
	preempt_disable();
	next(test, event, 0);
	expect_misc(test, event, whole);
	alt->switches--;
	expect_misc(test, event, split);
	alt->task = NULL;
	expect_misc(test, event, split);
	preempt_enable();
}

/* Check the limits and the mean of the lengths that jitter makes of windows or a period. */
static void check_jitter(struct kunit *test, u64 period, u64 jitter, bool windows)
{
	struct perf_event *event = make_alternating(test, &(struct perf_event_attr){
		.sample_period		= windows ? 1000 : period,
		.sample_jitter		= windows ? 0 : jitter,
		/* Without windows and jitter, nothing would vary. */
		.alt_sample_period	= windows ? period : 10,
		.alt_sample_jitter	= windows ? jitter : 0 });
	u64 low = period - jitter / 2, high = low + jitter, min = U64_MAX, max = 0;
	s64 off = 0;

	for (int i = 0; i < 2 * DRAWS; i++) {
		u64 length = next(test, event, 0);

		KUNIT_ASSERT_EQ(test, length, event->hw.last_period);
		if (perf_event_in_window(event) != windows)
			continue;
		min = min(min, length);
		max = max(max, length);
		off += length - period;
	}

	/* Both ends are reached, or nearly so. */
	KUNIT_EXPECT_LE_MSG(test, low, min, "jitter %llu", jitter);
	KUNIT_EXPECT_LE_MSG(test, min, low + div_u64(jitter, 100), "jitter %llu", jitter);
	KUNIT_EXPECT_LE_MSG(test, max, high, "jitter %llu", jitter);
	KUNIT_EXPECT_LE_MSG(test, high - div_u64(jitter, 100), max, "jitter %llu", jitter);
	/*
	 * If jitter is odd, the mean is half an event above the period. Allow four standard
	 * deviations of such a sum: 4 * (jitter + 1) / sqrt(12) * sqrt(1024), rounded up.
	 */
	off -= jitter % 2 * DRAWS / 2;
	KUNIT_EXPECT_LE_MSG(test, abs(off), jitter ? (jitter + 1) * 37 : 0, "jitter %llu", jitter);
}

static void test_jitter(struct kunit *test)
{
	static const u32 jitters[] = {
		0, 1, 2, 3, 10, 255, 256, 65535, 65536, 1000001,
		(1U << 31) - 1, 1U << 31, (1U << 31) + 1, U32_MAX - 1, U32_MAX,
	};

	for (int i = 0; i < ARRAY_SIZE(jitters); i++) {
		u64 jitter = jitters[i];

		/* The shortest and the longest period that allow it, and another one. */
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

static void test_refused(struct kunit *test)
{
	static const struct {
		int expected;
		u64 period;
		u32 alt_period, jitter, alt_jitter;
		u16 alt_count;
		u64 min_period;		/* of the PMU */
		bool freq, aux_output, kernel, no_cap;
	} cases[] = {
		/* Nothing varies: the period is checked elsewhere. */
		{ 0, U64_MAX },
		{ 0, 1, 1, 1, 1, U16_MAX },
		/* Only windows have these. */
		{ -EINVAL, 1, 0, 0, 1 },
		{ -EINVAL, 1, 0, 0, 0, 1 },
		/* A long interval is of 1 to S64_MAX events. */
		{ -EINVAL, 0, 1 },
		{ -EINVAL, 1, 0, 2 },
		{ 0, 1ULL << 31, 0, U32_MAX },
		{ -EINVAL, (1ULL << 31) - 1, 0, U32_MAX },
		{ 0, S64_MAX, 1 },
		{ -EINVAL, S64_MAX, 1, 1 },
		{ -EINVAL, 1ULL << 63, 1 },
		/* A window is of one event at least. */
		{ -EINVAL, 9, 1, 0, 2 },
		{ 0, 1, 1U << 31, 0, U32_MAX },
		{ -EINVAL, 1, S32_MAX, 0, U32_MAX },
		/* In frequency mode long intervals are not known in advance. */
		{ 0, 1, 1, U32_MAX, 1, 4, .freq = true },
		{ -EINVAL, 0, 1, .freq = true },
		/* The limit of the PMU holds for the shortest interval of all. */
		{ 0, 1000, 10, 0, 4, .min_period = 8 },
		{ -EINVAL, 1000, 10, 0, 6, .min_period = 8 },
		{ -EINVAL, 1000, 10, 1986, .min_period = 8 },
		{ 0, 1000, 10, 1986, .min_period = 8, .freq = true },
		{ -EINVAL, 1000, 7, 1986, .min_period = 8, .freq = true },
		/* Windows exclude the kernel, other intervals need not. */
		{ -EOPNOTSUPP, 1000, 10, .kernel = true },
		{ 0, 1000, 0, 10, .kernel = true },
		{ -EOPNOTSUPP, 1000, 10, .no_cap = true },
		{ -EOPNOTSUPP, 1000, 10, .aux_output = true },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct perf_event *event = make_event(test, &(struct perf_event_attr){
			.sample_period = cases[i].period,
			.alt_sample_period = cases[i].alt_period,
			.sample_jitter = cases[i].jitter,
			.alt_sample_jitter = cases[i].alt_jitter,
			.alt_sample_count = cases[i].alt_count,
			.freq = cases[i].freq,
			.aux_output = cases[i].aux_output });
		int err = -EINVAL;

		event->attr.exclude_kernel = !cases[i].kernel;
		if (cases[i].no_cap)
			event->pmu = &pmu_without_cap;
		min_period = cases[i].min_period;
		if (perf_attr_period_valid(&event->attr, cases[i].period))
			err = perf_event_init_period(event);
		KUNIT_EXPECT_EQ_MSG(test, err, cases[i].expected, "case %d", i);
	}
	min_period = 0;
}

static void test_frequency(struct kunit *test)
{
	static const struct {
		u32 alt_period;
		u16 alt_count;
		u64 round, long_period;
	} cases[] = {
		{ 300, 0, 1000000, 1000000 - 300 },
		{ 300, 4, 1000000, 1000000 - 1200 },
		/* Windows are not cut. */
		{ 300, 4, 1200, 1 },
		{ 300, 4, 0, 1 },
		{ U32_MAX, U16_MAX, (u64)U16_MAX * U32_MAX + 99, 99 },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct perf_event_attr attr = {
			.alt_sample_period = cases[i].alt_period,
			.alt_sample_count = cases[i].alt_count,
		};
		/* The limit is one of samples. */
		u64 limit = sysctl_perf_event_sample_rate / ((cases[i].alt_count ?: 1) + 1);

		KUNIT_EXPECT_EQ_MSG(test, perf_attr_long_period(&attr, cases[i].round),
				    cases[i].long_period, "case %d", i);
		KUNIT_EXPECT_TRUE(test, perf_attr_freq_valid(&attr, limit));
		KUNIT_EXPECT_FALSE(test, perf_attr_freq_valid(&attr, limit + 1));
	}
}

/* The count of a round is that since the last one. */
static void test_round_count(struct kunit *test)
{
	static const u64 counts[][2] = { { 1000, 1000 }, { 1300, 300 }, { 7, 0 }, { 17, 10 } };
	struct perf_event *event = make_windows(test, 1);

	for (int i = 0; i < ARRAY_SIZE(counts); i++) {
		local64_set(&event->count, counts[i][0]);
		KUNIT_EXPECT_EQ(test, perf_event_round_count(event), counts[i][1]);
	}
}

/* Jitter is cut to the period that the frequency needs, and to no less. */
static void test_jitter_of_frequency(struct kunit *test)
{
	struct perf_event *event = make_alternating(test, &(struct perf_event_attr){
		.sample_freq = 1000, .freq = 1, .alt_sample_period = 300,
		.sample_jitter = 1000 });
	s64 above = 0;

	for (s64 period = 1; period < 3000; period++) {
		int jitter = min(period, 1000);
		s64 length;

		event->hw.sample_period = period;
		length = next(test, event, 0);
		KUNIT_ASSERT_GE(test, length, period - jitter / 2);
		KUNIT_ASSERT_LE(test, length, period - jitter / 2 + jitter);
		if (period < 1000)
			above = max(above, div_s64((length - period) * 100, jitter));
		expect_window(test, event, 0);
	}
	KUNIT_EXPECT_GE(test, above, 45);
}

static struct kunit_case period_test_cases[] = {
	KUNIT_CASE(test_ordinary),
	KUNIT_CASE(test_sequence),
	KUNIT_CASE(test_largest_windows),
	KUNIT_CASE(test_long_interval_pays_overrun),
	KUNIT_CASE(test_restart),
	KUNIT_CASE(test_split),
	KUNIT_CASE(test_jitter),
	KUNIT_CASE(test_events_draw_their_own_numbers),
	KUNIT_CASE(test_refused),
	KUNIT_CASE(test_frequency),
	KUNIT_CASE(test_round_count),
	KUNIT_CASE(test_jitter_of_frequency),
	{},
};

static struct kunit_suite period_test_suite = {
	.name = "perf_period",
	.test_cases = period_test_cases,
};

kunit_test_suites(&period_test_suite);
