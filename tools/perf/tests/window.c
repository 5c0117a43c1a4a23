// SPDX-License-Identifier: GPL-2.0
/* Test the tracker of windows and their estimates with samples that are made by hand. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>
#include <internal/evsel.h>

#include "debug.h"
#include "evlist.h"
#include "evsel.h"
#include "expr.h"
#include "parse-events.h"
#include "sample.h"
#include "tests.h"
#include "thread.h"
#include "window.h"
#include "window-stats.h"

#define CYCLES_ID	100
#define INSTRUCTIONS_ID	101
#define BRANCHES_ID	102

struct fixture {
	struct evlist		*evlist;
	struct evsel		*cycles;
	struct evsel		*instructions;
	struct window_tracker	*tracker;
	struct thread		*threads[2];
};

/* What a sample says, and what the tracker is to say of it. */
struct step {
	bool		window;
	bool		split;
	int		thread;
	u64		period;
	u64		cycles;
	u64		instructions;
	u64		lost;
	u64		not_running;
	/* Before the sample. */
	bool		unthrottle;
	bool		lost_records;
	bool		exit;
	/* Expected. */
	bool		begins;
	bool		ends;
	unsigned int	problems;
	unsigned int	index;
	u64		weight;
	u64		deltas[2];
};

static void fixture__exit(struct fixture *f)
{
	window_tracker__delete(f->tracker);
	for (size_t i = 0; i < ARRAY_SIZE(f->threads); i++)
		thread__put(f->threads[i]);
	evlist__put(f->evlist);
}

static int fixture__init_events(struct fixture *f, const char *events)
{
	struct parse_events_error err;
	int ret;

	memset(f, 0, sizeof(*f));
	f->evlist = evlist__new();
	TEST_ASSERT_VAL("no memory", f->evlist);
	parse_events_error__init(&err);
	ret = parse_events(f->evlist, events, &err);
	parse_events_error__exit(&err);
	TEST_ASSERT_EQUAL("parse_events() failed", ret, 0);
	f->cycles = evlist__first(f->evlist);
	f->instructions = evsel__next(f->cycles);
	TEST_ASSERT_VAL("not a group", f->cycles->core.nr_members > 1);

	f->cycles->core.attr.sample_period = 1000;
	f->cycles->core.attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_PERIOD;
	f->cycles->core.attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
					   PERF_FORMAT_LOST;
	TEST_ASSERT_EQUAL("no memory", perf_evsel__alloc_id(&f->cycles->core, 1, 1), 0);
	TEST_ASSERT_EQUAL("no memory", perf_evsel__alloc_id(&f->instructions->core, 1, 1), 0);
	perf_evlist__id_add(evlist__core(f->evlist), &f->cycles->core, 0, 0, CYCLES_ID);
	perf_evlist__id_add(evlist__core(f->evlist), &f->instructions->core, 0, 0, INSTRUCTIONS_ID);

	for (size_t i = 0; i < ARRAY_SIZE(f->threads); i++) {
		f->threads[i] = thread__new(10, 10 + i);
		TEST_ASSERT_VAL("no memory", f->threads[i]);
	}
	f->tracker = window_tracker__new();
	TEST_ASSERT_VAL("no memory", f->tracker);
	return TEST_OK;
}

static int fixture__init(struct fixture *f)
{
	return fixture__init_events(f, "{cycles,instructions}");
}

static int run_steps(struct fixture *f, const struct step *steps, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct step *s = &steps[i];
		bool lost = f->cycles->core.attr.read_format & PERF_FORMAT_LOST;
		u64 values[2][3] = { { s->cycles, CYCLES_ID, s->lost } };
		u64 *second = lost ? values[1] : &values[0][2];
		struct perf_sample sample = {
			.evsel = f->cycles,
			.tid = 10 + s->thread,
			.period = s->period,
			.misc = (s->window ? PERF_RECORD_MISC_ALT_WINDOW : 0) |
				(s->split ? PERF_RECORD_MISC_ALT_SPLIT : 0),
			.read = {
				.time_enabled = 1000 + s->not_running,
				.time_running = 1000,
				.group = { .nr = 2, .values = (void *)values },
			},
		};
		struct window window;

		second[0] = s->instructions;
		second[1] = INSTRUCTIONS_ID;
		if (s->unthrottle)
			window_tracker__unthrottle(f->tracker, CYCLES_ID);
		if (s->lost_records)
			window_tracker__lost(f->tracker);
		if (s->exit)
			window_tracker__exit_thread(f->tracker, 10 + s->thread);
		TEST_ASSERT_EQUAL("window_tracker__add() failed",
				  window_tracker__add(f->tracker, &sample,
						      f->threads[s->thread], &window), 0);
		pr_debug("step %zu: begins %d ends %d problems %#x index %u weight %llu counts %llu %llu\n",
			 i, window.begins, window.ends, window.problems, window.index,
			 (unsigned long long)window.weight,
			 (unsigned long long)window.counts[0],
			 (unsigned long long)window.counts[1]);
		TEST_ASSERT_EQUAL("begins", window.begins, s->begins);
		TEST_ASSERT_EQUAL("ends", window.ends, s->ends);
		if (s->ends) {
			TEST_ASSERT_EQUAL("problems", window.problems, s->problems);
			TEST_ASSERT_EQUAL("index", window.index, s->index);
			TEST_ASSERT_VAL("armed", window.armed == s->period);
		}
		if (s->begins)
			TEST_ASSERT_VAL("weight", window.weight == s->weight);
		if (!(s->problems & WINDOW_BACKWARDS)) {
			TEST_ASSERT_VAL("cycles", window.counts[0] == s->deltas[0]);
			TEST_ASSERT_VAL("instructions", window.counts[1] == s->deltas[1]);
		}
		TEST_ASSERT_EQUAL("whole", window.whole, !(s->problems & WINDOW_BACKWARDS));
	}
	return TEST_OK;
}

static int check_nr_streams(struct fixture *f, int nr)
{
	TEST_ASSERT_EQUAL("streams", (int)window_tracker__nr_streams(f->tracker), nr);
	return TEST_OK;
}

static int test__window_rounds(struct test_suite *test __maybe_unused,
			       int subtest __maybe_unused)
{
	static const struct step steps[] = {
		/* Each round is a long interval and two windows. */
		{ .period = 1000, .cycles = 1003, .instructions = 500,
		  .begins = true, .weight = 1020, .deltas = { 1003, 500 } },
		{ .window = true, .period = 10, .cycles = 1015, .instructions = 506,
		  .ends = true, .index = 0, .deltas = { 12, 6 } },
		{ .window = true, .period = 10, .cycles = 1025, .instructions = 507,
		  .ends = true, .index = 1, .deltas = { 10, 1 } },
		{ .period = 1000, .cycles = 2025, .instructions = 1000,
		  .begins = true, .weight = 1020, .deltas = { 1000, 493 } },
		/* The first window of this round is missing. */
		{ .window = true, .period = 10, .cycles = 3600, .instructions = 1900,
		  .ends = true, .problems = WINDOW_LENGTH, .deltas = { 1575, 900 } },
		/* The next begins with a window: its long sample is missing. */
		{ .window = true, .period = 10, .cycles = 3610, .instructions = 1905,
		  .ends = true, .index = 1, .deltas = { 10, 5 } },
		{ .window = true, .period = 10, .cycles = 4620, .instructions = 2905,
		  .deltas = { 1010, 1000 } },
		/* Too short. */
		{ .period = 1000, .cycles = 5620, .instructions = 3000,
		  .begins = true, .weight = 1020, .deltas = { 1000, 95 } },
		{ .window = true, .period = 10, .cycles = 5629, .instructions = 3001,
		  .ends = true, .problems = WINDOW_LENGTH, .deltas = { 9, 1 } },
	};
	struct fixture f;
	int ret;

	if (fixture__init(&f))
		return TEST_FAIL;
	f.cycles->core.attr.alt_sample_period = 10;
	f.cycles->core.attr.alt_sample_count = 2;
	ret = run_steps(&f, steps, ARRAY_SIZE(steps));
	fixture__exit(&f);
	return ret;
}

static int test__window_problems(struct test_suite *test __maybe_unused,
				 int subtest __maybe_unused)
{
	static const struct step steps[] = {
		{ .period = 1000, .cycles = 1000, .instructions = 500,
		  .begins = true, .weight = 1010, .deltas = { 1000, 500 } },
		{ .window = true, .period = 10, .cycles = 1010, .instructions = 505, .lost = 1,
		  .ends = true, .problems = WINDOW_LOST, .deltas = { 10, 5 } },
		{ .period = 1000, .cycles = 2010, .instructions = 1000, .lost = 1,
		  .begins = true, .weight = 1010, .deltas = { 1000, 495 } },
		/* Other events lost records, this one says that it did not. */
		{ .window = true, .period = 10, .cycles = 2020, .instructions = 1005, .lost = 1,
		  .lost_records = true, .ends = true, .deltas = { 10, 5 } },
		{ .period = 1000, .cycles = 3020, .instructions = 1500, .lost = 1,
		  .begins = true, .weight = 1010, .deltas = { 1000, 495 } },
		{ .window = true, .split = true, .period = 10, .cycles = 3030,
		  .instructions = 1505, .lost = 1, .ends = true, .problems = WINDOW_SPLIT,
		  .deltas = { 10, 5 } },
		{ .period = 1000, .cycles = 4030, .instructions = 2000, .lost = 1,
		  .begins = true, .weight = 1010, .deltas = { 1000, 495 } },
		{ .window = true, .period = 10, .cycles = 4040, .instructions = 1999, .lost = 1,
		  .ends = true, .problems = WINDOW_BACKWARDS },
		{ .period = 1000, .cycles = 5040, .instructions = 2500, .lost = 1,
		  .begins = true, .weight = 1010, .deltas = { 1000, 501 } },
		{ .window = true, .period = 10, .cycles = 5050, .instructions = 2505, .lost = 1,
		  .not_running = 7, .ends = true, .problems = WINDOW_MULTIPLEXED,
		  .deltas = { 10, 5 } },
	};
	struct fixture f;
	int ret;

	if (fixture__init(&f))
		return TEST_FAIL;
	f.cycles->core.attr.alt_sample_period = 10;
	ret = run_steps(&f, steps, ARRAY_SIZE(steps));
	fixture__exit(&f);
	return ret;
}

static int test__window_plain(struct test_suite *test __maybe_unused,
			      int subtest __maybe_unused)
{
	static const struct step steps[] = {
		/* Each sample ends a window and begins the next. */
		{ .period = 1000, .cycles = 1000, .instructions = 500,
		  .begins = true, .weight = 1000, .deltas = { 1000, 500 } },
		{ .period = 1000, .cycles = 2000, .instructions = 1500,
		  .begins = true, .weight = 1000, .ends = true, .deltas = { 1000, 1000 } },
		{ .period = 1000, .cycles = 4000, .instructions = 2500,
		  .begins = true, .weight = 1000, .ends = true, .problems = WINDOW_LENGTH,
		  .deltas = { 2000, 1000 } },
		/* The interrupt is late, so the next interval is shorter. */
		{ .period = 1000, .cycles = 5300, .instructions = 2700,
		  .begins = true, .weight = 1000, .ends = true, .deltas = { 1300, 200 } },
		{ .period = 1000, .cycles = 6000, .instructions = 2900,
		  .begins = true, .weight = 1000, .ends = true, .deltas = { 700, 200 } },
		{ .period = 1000, .cycles = 6400, .instructions = 2950,
		  .begins = true, .weight = 1000, .ends = true, .problems = WINDOW_LENGTH,
		  .deltas = { 400, 50 } },
		{ .period = 1000, .cycles = 7400, .instructions = 3000, .unthrottle = true,
		  .begins = true, .weight = 1000, .ends = true, .problems = WINDOW_SPLIT,
		  .deltas = { 1000, 50 } },
		{ .period = 1000, .cycles = 8400, .instructions = 3500, .lost_records = true,
		  .begins = true, .weight = 1000, .ends = true, .problems = WINDOW_LOST,
		  .deltas = { 1000, 500 } },
		/* The counts are those of a CPU: another thread goes on with them. */
		{ .period = 1000, .cycles = 9400, .instructions = 4000, .thread = 1,
		  .begins = true, .weight = 1000, .ends = true, .problems = WINDOW_SPLIT,
		  .deltas = { 1000, 500 } },
	};
	struct fixture f;
	int ret;

	if (fixture__init(&f))
		return TEST_FAIL;
	f.cycles->core.attr.read_format &= ~PERF_FORMAT_LOST;
	ret = run_steps(&f, steps, ARRAY_SIZE(steps));
	if (!ret)
		ret = check_nr_streams(&f, 1);
	fixture__exit(&f);
	return ret;
}

static int test__window_threads(struct test_suite *test __maybe_unused,
				int subtest __maybe_unused)
{
	static const struct step steps[] = {
		/* Each thread has counts of its own. */
		{ .period = 1000, .cycles = 1000, .instructions = 500,
		  .begins = true, .weight = 1010, .deltas = { 1000, 500 } },
		{ .period = 1000, .cycles = 1001, .instructions = 50, .thread = 1,
		  .begins = true, .weight = 1010, .deltas = { 1001, 50 } },
		{ .window = true, .period = 10, .cycles = 1010, .instructions = 510,
		  .ends = true, .deltas = { 10, 10 } },
		{ .window = true, .period = 10, .cycles = 1011, .instructions = 52, .thread = 1,
		  .ends = true, .deltas = { 10, 2 } },
		/* A new thread has the TID of one that is gone. */
		{ .period = 1000, .cycles = 1000, .instructions = 10, .thread = 1, .exit = true,
		  .begins = true, .weight = 1010, .deltas = { 1000, 10 } },
	};
	struct fixture f;
	int ret;

	if (fixture__init(&f))
		return TEST_FAIL;
	f.cycles->core.attr.alt_sample_period = 10;
	f.cycles->core.attr.inherit = 1;
	f.cycles->core.attr.sample_type |= PERF_SAMPLE_TID;
	ret = run_steps(&f, steps, ARRAY_SIZE(steps));
	if (!ret)
		ret = check_nr_streams(&f, 2);
	window_tracker__exit_thread(f.tracker, 10);
	window_tracker__exit_thread(f.tracker, 11);
	if (!ret)
		ret = check_nr_streams(&f, 0);
	fixture__exit(&f);
	return ret;
}

/* Samples as only files have them that are damaged, or made by hand. */
static int check_files(struct fixture *f)
{
	struct evsel *branches = evsel__next(f->instructions);
	u64 values[3][3] = { { 1000, CYCLES_ID }, { 500, INSTRUCTIONS_ID }, { 50, BRANCHES_ID } };
	struct perf_sample sample = { .evsel = f->cycles, .tid = 10, .period = 1000, };
	struct window window;

	TEST_ASSERT_VAL("no branches", branches);
	TEST_ASSERT_EQUAL("no memory", perf_evsel__alloc_id(&branches->core, 1, 1), 0);
	perf_evlist__id_add(evlist__core(f->evlist), &branches->core, 0, 0, BRANCHES_ID);

	TEST_ASSERT_EQUAL("no counts", window_tracker__add(f->tracker, &sample, f->threads[0],
							   &window), 0);
	TEST_ASSERT_VAL("no counts", !window.begins && !window.counts);

	/* The group has more members than its leader said at first. */
	sample.read.group.values = (void *)values;
	f->cycles->core.nr_members = 2;
	for (int nr = 2; nr <= 3; nr++) {
		sample.read.group.nr = nr;
		TEST_ASSERT_EQUAL("grown", window_tracker__add(f->tracker, &sample, f->threads[0],
							       &window), 0);
		TEST_ASSERT_EQUAL("grown", window.nr_counts, 2);
		f->cycles->core.nr_members = 3;
		values[0][0] += 1000;
		values[1][0] += 500;
	}
	TEST_ASSERT_VAL("grown", window.ends && !window.problems && window.counts[1] == 500);

	/* A count of an unknown event, and one that is missing. */
	values[1][1] = BRANCHES_ID + 1;
	TEST_ASSERT_EQUAL("unknown", window_tracker__add(f->tracker, &sample, f->threads[0],
							 &window), 0);
	TEST_ASSERT_VAL("unknown", window.ends && (window.problems & WINDOW_BACKWARDS));

	/* The counts of one event are not those of a group, which is a pointer. */
	f->cycles->core.attr.read_format &= ~PERF_FORMAT_GROUP;
	sample.read.group.values = (void *)1;
	TEST_ASSERT_EQUAL("one count", window_tracker__add(f->tracker, &sample, f->threads[0],
							   &window), 0);
	TEST_ASSERT_VAL("one count", !window.begins && !window.ends && !window.counts);

	/* The event that samples is none of the members. */
	f->cycles->core.attr.sample_period = 0;
	branches->core.attr.sample_period = 1000;
	f->cycles->core.nr_members = 2;
	TEST_ASSERT_VAL("not a member", !evsel__has_windows(branches));
	return TEST_OK;
}

static int test__window_files(struct test_suite *test __maybe_unused,
			      int subtest __maybe_unused)
{
	struct fixture f;
	int ret;

	if (fixture__init_events(&f, "{cycles,instructions,branches}"))
		return TEST_FAIL;
	ret = check_files(&f);
	fixture__exit(&f);
	return ret;
}

/* A second event of the group samples too. Its samples have the same counts. */
static int check_samplers(struct fixture *f)
{
	u64 values[2][3] = { { 1000, CYCLES_ID }, { 500, INSTRUCTIONS_ID } };
	struct perf_sample sample = {
		.tid = 10,
		.period = 1000,
		.read.group = { .nr = 2, .values = (void *)values },
	};
	struct window window;

	f->instructions->core.attr = f->cycles->core.attr;
	for (int i = 0; i < 4; i++) {
		sample.evsel = i % 2 ? f->instructions : f->cycles;
		TEST_ASSERT_EQUAL("window_tracker__add() failed",
				  window_tracker__add(f->tracker, &sample, f->threads[0],
						      &window), 0);
		TEST_ASSERT_EQUAL("begins", window.begins, !(i % 2));
		TEST_ASSERT_EQUAL("ends", window.ends, (i == 2));
		values[0][0] += 500;
		values[1][0] += 250;
	}
	return check_nr_streams(f, 1);
}

static int test__window_samplers(struct test_suite *test __maybe_unused,
				 int subtest __maybe_unused)
{
	struct fixture f;
	int ret;

	if (fixture__init(&f))
		return TEST_FAIL;
	ret = check_samplers(&f);
	fixture__exit(&f);
	return ret;
}

/* Two PMUs have a group each, with periods of their own. Their samples come in turn. */
static int check_groups(struct fixture *f)
{
	struct evsel *leaders[2] = { f->cycles, evsel__next(f->instructions) };
	u64 periods[2] = { 1000, 300 }, counts[2] = { 0, 0 };
	struct window window;

	TEST_ASSERT_VAL("no second group", leaders[1] && evsel__is_group_leader(leaders[1]));
	leaders[1]->core.attr = leaders[0]->core.attr;
	leaders[1]->core.attr.sample_period = periods[1];
	TEST_ASSERT_EQUAL("no memory", perf_evsel__alloc_id(&leaders[1]->core, 1, 1), 0);
	perf_evlist__id_add(evlist__core(f->evlist), &leaders[1]->core, 0, 0, BRANCHES_ID);

	for (int i = 0; i < 6; i++) {
		int group = i % 2;
		u64 values[1][3] = { { counts[group] += periods[group],
				       group ? BRANCHES_ID : CYCLES_ID } };
		struct perf_sample sample = {
			.evsel = leaders[group],
			.tid = 10,
			.period = periods[group],
			.read.group = { .nr = 1, .values = (void *)values },
		};

		TEST_ASSERT_EQUAL("window_tracker__add() failed",
				  window_tracker__add(f->tracker, &sample, f->threads[0],
						      &window), 0);
		TEST_ASSERT_VAL("window", window.begins && window.ends == (i > 1));
		TEST_ASSERT_VAL("problems", !window.ends || !window.problems);
		TEST_ASSERT_VAL("counts", window.counts[0] == periods[group]);
		TEST_ASSERT_VAL("weight", window.weight == periods[group]);
	}
	return check_nr_streams(f, 2);
}

static int test__window_groups(struct test_suite *test __maybe_unused,
			       int subtest __maybe_unused)
{
	struct fixture f;
	int ret;

	if (fixture__init_events(&f, "{cycles,instructions},{cycles,instructions}"))
		return TEST_FAIL;
	ret = check_groups(&f);
	fixture__exit(&f);
	return ret;
}

/* Adds @nr windows of @length with these instructions, dealt to all groups. */
static int add_problems(struct window_stats *stats, struct window_group *group, unsigned int nr,
			u64 length, u64 cycles, u64 instructions, unsigned int problems)
{
	u64 counts[] = { cycles, instructions };
	struct window window = {
		.ends = true, .whole = true, .nr_counts = 2, .counts = counts, .armed = length,
	};

	for (unsigned int i = 0; i < nr; i++) {
		window_stats__add_round(stats, 1000);
		window_stats__add_round(&group->all, 1000);
		TEST_ASSERT_EQUAL("no memory",
				  window_stats__add_window(stats, group, &window, problems,
							   i % WINDOW_GROUPS, 1), 0);
	}
	return TEST_OK;
}

static int add_windows(struct window_stats *stats, struct window_group *group, unsigned int nr,
		       u64 length, u64 cycles, u64 instructions)
{
	return add_problems(stats, group, nr, length, cycles, instructions, 0);
}

static int add_left(struct window_stats *stats, struct window_group *group, unsigned int nr,
		    u64 length, u64 cycles, u64 instructions)
{
	return add_problems(stats, group, nr, length, cycles, instructions, WINDOW_LEFT);
}

static bool is_close(double a, double b, double relative)
{
	pr_debug("%g, expected %g\n", a, b);
	return fabs(a - b) <= relative * fabs(b);
}

/* CPI of an entry that has half of the samples of cycles. */
static int check_samples(struct fixture *f)
{
	struct window_samples samples[2] = { { .share = 0.9, .nr = 1000 }, };
	struct window_stats a = {}, few = {}, none = {};
	struct window_estimate estimate;
	struct window_group *group;

	f->cycles->core.attr.alt_sample_period = 100;
	group = window_group__new(f->cycles);
	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_VAL("no samples of instructions", !window_group__samples(group));
	TEST_ASSERT_EQUAL("cpi", window_group__add_metric(group, "cpi"), 0);
	TEST_ASSERT_EQUAL("share", window_group__add_metric(group, "instructions-share"), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&a, group, 64, 100, 100, 50), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&few, group, 9, 100, 100, 50), 0);
	while (group->all.nr_rounds < 128)
		window_stats__add_round(&group->all, 1000);
	group->totals[0] = 128000;
	group->totals[1] = 48000;

	/* Both say 2. */
	samples[1].share = 2 / 3.;
	samples[1].nr = 1000;
	TEST_ASSERT_EQUAL("agreed", window_stats__best_estimate(&a, group, 0, samples, &estimate),
			  WINDOW_ESTIMATE_GOOD);
	TEST_ASSERT_VAL("from windows", is_close(estimate.value, 2, 0));
	TEST_ASSERT_VAL("error of windows", is_close(estimate.low, 2 * exp(-0.005), 0.0001));

	/* Windows say 2, samples 64000 cycles for 19200 instructions. */
	samples[1].share = 0.4;
	TEST_ASSERT_EQUAL("contradicted",
			  window_stats__best_estimate(&a, group, 0, samples, &estimate),
			  WINDOW_ESTIMATE_CONTRADICTED);
	TEST_ASSERT_VAL("from samples", is_close(estimate.value, 64 / 19.2, 0.0001));
	TEST_ASSERT_EQUAL("share",
			  window_stats__best_estimate(&a, group, 1, samples, &estimate),
			  WINDOW_ESTIMATE_CONTRADICTED);
	TEST_ASSERT_VAL("from samples", is_close(estimate.value, 40, 0.0001));
	TEST_ASSERT_VAL("low", is_close(estimate.low,
					40 * exp(-1.959964 * sqrt(0.6 / 1000)), 0.0001));

	/* 64 windows of 100 cycles without an instruction, and samples of 0.0003 a cycle. */
	TEST_ASSERT_EQUAL("ipc", window_group__add_metric(group, "ipc"), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&none, group, 64, 100, 100, 0), 0);
	samples[1].share = 0.0004;
	TEST_ASSERT_EQUAL("no event by chance",
			  window_stats__best_estimate(&none, group, 2, samples, &estimate),
			  WINDOW_ESTIMATE_GOOD);
	TEST_ASSERT_VAL("upper end", is_close(estimate.high, 3.689 / 6400, 0.0001));
	samples[1].share = 0.001;
	TEST_ASSERT_EQUAL("no event, contradicted",
			  window_stats__best_estimate(&none, group, 2, samples, &estimate),
			  WINDOW_ESTIMATE_CONTRADICTED);
	samples[1].share = 0.4;

	/* The same with few samples is chance, or no estimate. */
	samples[1].nr = 10;
	TEST_ASSERT_EQUAL("chance", window_stats__best_estimate(&a, group, 0, samples, &estimate),
			  WINDOW_ESTIMATE_GOOD);
	TEST_ASSERT_EQUAL("few windows",
			  window_stats__best_estimate(&few, group, 1, samples, &estimate),
			  WINDOW_ESTIMATE_SAMPLED);
	samples[1].nr = 9;
	TEST_ASSERT_EQUAL("few of both",
			  window_stats__best_estimate(&few, group, 1, samples, &estimate),
			  WINDOW_ESTIMATE_POOR);
	TEST_ASSERT_EQUAL("no samples",
			  window_stats__best_estimate(&few, group, 0, NULL, &estimate),
			  WINDOW_ESTIMATE_POOR);
	window_stats__exit(&a);
	window_stats__exit(&few);
	window_stats__exit(&none);
	window_group__delete(group);

	/* Shorter windows have more instructions than longer ones: the slope is negative. */
	f->cycles->core.attr.alt_sample_period = 1000;
	f->cycles->core.attr.alt_sample_jitter = 1000;
	group = window_group__new(f->cycles);
	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("ipc", window_group__add_metric(group, "ipc"), 0);
	memset(&a, 0, sizeof(a));
	for (u64 length = 600; length <= 1400; length += 200) {
		TEST_ASSERT_EQUAL("windows",
				  add_windows(&a, group, 40, length, length, 2000 - length), 0);
	}
	TEST_ASSERT_EQUAL("negative",
			  window_stats__best_estimate(&a, group, 0, NULL, &estimate),
			  WINDOW_ESTIMATE_POOR);
	TEST_ASSERT_VAL("ipc", is_close(estimate.value, -1, 0.0001));
	samples[1].nr = 10;
	group->totals[0] = 200000;
	group->totals[1] = 200000;
	TEST_ASSERT_EQUAL("or from samples",
			  window_stats__best_estimate(&a, group, 0, samples, &estimate),
			  WINDOW_ESTIMATE_SAMPLED);
	window_stats__exit(&a);
	window_group__delete(group);
	f->cycles->core.attr.alt_sample_period = 100;
	f->cycles->core.attr.alt_sample_jitter = 0;

	/* A member that samples is used, unless it counts something else. */
	f->instructions->core.attr.sample_period = 1000;
	group = window_group__new(f->cycles);
	TEST_ASSERT_VAL("samples of instructions", group && window_group__samples(group));
	TEST_ASSERT_VAL("they are used", evsel__samples_for_windows(f->instructions));
	TEST_ASSERT_VAL("not those of windows", !evsel__samples_for_windows(f->cycles));
	window_group__delete(group);
	f->instructions->core.attr.sample_period = 0;
	return TEST_OK;
}

static int check_estimates(struct fixture *f)
{
	struct window_stats a = {}, b = {}, sum = {};
	struct window_estimate estimate;
	struct window_group *group;
	double value;

	f->cycles->core.attr.alt_sample_period = 100;
	group = window_group__new(f->cycles);
	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("cpi", window_group__add_metric(group, "cpi"), 0);
	TEST_ASSERT_EQUAL("share", window_group__add_metric(group, "instructions-share"), 0);
	TEST_ASSERT_EQUAL("missing event", window_group__add_metric(group, "branch-mpki"), 0);
	TEST_ASSERT_EQUAL("no metric", window_group__add_metric(group, "no-such-metric"), -ENOENT);
	TEST_ASSERT_VAL("available", group->metrics[0].available);
	TEST_ASSERT_VAL("not available", !group->metrics[2].available);
	TEST_ASSERT_VAL("no windows", !window_stats__value(&a, group, 0, &value));

	/* 64 rounds of CPI 2, 64 of CPI 4: three fourths of the time are 3000 instructions. */
	TEST_ASSERT_EQUAL("windows", add_windows(&a, group, 64, 100, 100, 50), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&b, group, 64, 100, 100, 25), 0);
	group->totals[0] = 128000;
	group->totals[1] = 64 * 500 + 64 * 250;
	TEST_ASSERT_VAL("value", window_stats__value(&a, group, 0, &value) && value == 2);
	TEST_ASSERT_VAL("estimate", window_stats__estimate(&b, group, 0, &estimate));
	TEST_ASSERT_VAL("CPI", is_close(estimate.value, 4, 0));
	/* All windows are equal: the floor is left. */
	TEST_ASSERT_VAL("low", is_close(estimate.low, 4 * exp(-0.005), 0.0001));
	TEST_ASSERT_VAL("high", is_close(estimate.high, 4 * exp(0.005), 0.0001));
	TEST_ASSERT_VAL("share", window_stats__value(&a, group, 1, &value) &&
			is_close(value, 200 / 3., 0.0001));
	TEST_ASSERT_VAL("time", window_stats__time(&a, group, &estimate) && estimate.value == 50);
	/* Wilson's interval for 64 of 128. */
	TEST_ASSERT_VAL("low", is_close(estimate.low, 41.4652, 0.0001));
	TEST_ASSERT_VAL("high", is_close(estimate.high, 58.5348, 0.0001));

	TEST_ASSERT_EQUAL("merge", window_stats__merge(&sum, &a, group), 0);
	TEST_ASSERT_EQUAL("merge", window_stats__merge(&sum, &b, group), 0);
	TEST_ASSERT_VAL("kept", sum.nr_kept == 128 && sum.nr_rounds == 128);
	TEST_ASSERT_VAL("value", window_stats__value(&sum, group, 0, &value) &&
			is_close(value, 12800 / 4800., 0.0001));
	TEST_ASSERT_VAL("good", window_stats__is_good(&sum, group));
	window_stats__exit(&a);
	window_stats__exit(&b);
	window_stats__exit(&sum);

	/* Windows that left have no part in the value. */
	memset(&a, 0, sizeof(a));
	TEST_ASSERT_EQUAL("windows", add_windows(&a, group, 128, 100, 100, 50), 0);
	TEST_ASSERT_EQUAL("left", add_left(&a, group, 16, 100, 100, 75), 0);
	TEST_ASSERT_VAL("estimate", window_stats__estimate(&a, group, 0, &estimate) &&
			estimate.value == 2);
	/* 16 of 144 are not covered. */
	TEST_ASSERT_VAL("low", is_close(estimate.low, 2 * exp(-0.1 / 9), 0.0001));
	TEST_ASSERT_VAL("good", window_stats__is_good(&a, group));
	/* But they are not of the same code if they change the ratio from 2 to 14800 / 8800. */
	TEST_ASSERT_EQUAL("left", add_left(&a, group, 4, 100, 100, 300), 0);
	TEST_ASSERT_VAL("others", !window_stats__is_good(&a, group));
	window_stats__exit(&a);

	/* They change it by log(1.0889) = 0.085, but 16 can be 16 + 1.645 * 4 by chance. */
	memset(&a, 0, sizeof(a));
	TEST_ASSERT_EQUAL("windows", add_windows(&a, group, 128, 100, 100, 50), 0);
	TEST_ASSERT_EQUAL("left", add_left(&a, group, 16, 100, 100, 90), 0);
	TEST_ASSERT_VAL("may be others", !window_stats__is_good(&a, group));
	TEST_ASSERT_EQUAL("windows", add_windows(&a, group, 1152, 100, 100, 50), 0);
	TEST_ASSERT_EQUAL("left", add_left(&a, group, 144, 100, 100, 90), 0);
	TEST_ASSERT_VAL("good", window_stats__is_good(&a, group));
	window_stats__exit(&a);

	/* Few can be of anything. */
	memset(&a, 0, sizeof(a));
	TEST_ASSERT_EQUAL("windows", add_windows(&a, group, 128, 100, 100, 50), 0);
	TEST_ASSERT_EQUAL("left", add_left(&a, group, 4, 100, 100, 300), 0);
	TEST_ASSERT_VAL("good", window_stats__is_good(&a, group));
	window_stats__exit(&a);

	/* The coverage is 0.85, but with so few windows it may be 0.8. */
	memset(&a, 0, sizeof(a));
	TEST_ASSERT_EQUAL("windows", add_windows(&a, group, 85, 100, 100, 50), 0);
	TEST_ASSERT_EQUAL("left", add_left(&a, group, 15, 100, 100, 50), 0);
	TEST_ASSERT_VAL("coverage", is_close(window_stats__coverage(&a), 0.85, 0.0001));
	TEST_ASSERT_VAL("few", !window_stats__is_good(&a, group));
	TEST_ASSERT_EQUAL("windows", add_windows(&a, group, 850, 100, 100, 50), 0);
	TEST_ASSERT_EQUAL("left", add_left(&a, group, 150, 100, 100, 50), 0);
	TEST_ASSERT_VAL("many", window_stats__is_good(&a, group));
	window_stats__exit(&a);

	/* No instruction at all: what is known is an upper end. */
	memset(&a, 0, sizeof(a));
	TEST_ASSERT_EQUAL("ipc", window_group__add_metric(group, "ipc"), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&a, group, 2, 100, 100, 0), 0);
	TEST_ASSERT_VAL("zero", window_stats__estimate(&a, group, 4, &estimate));
	TEST_ASSERT_VAL("low", estimate.value == 0 && estimate.low == 0);
	TEST_ASSERT_VAL("high", is_close(estimate.high, 3.689 / 200, 0.0001));
	TEST_ASSERT_VAL("too few", !window_stats__is_good(&a, group));
	window_stats__exit(&a);
	window_group__delete(group);

	/*
	 * The interrupt adds 60 cycles without an instruction to each window. The slope
	 * over their lengths does not have them.
	 */
	for (unsigned int jitter = 800; jitter <= 1000; jitter += 200) {
		double ratio = 1000 / ((1000 - 60) / 2.);

		memset(&a, 0, sizeof(a));
		f->cycles->core.attr.alt_sample_period = 1000;
		f->cycles->core.attr.alt_sample_jitter = jitter;
		group = window_group__new(f->cycles);
		TEST_ASSERT_VAL("no memory", group);
		TEST_ASSERT_EQUAL("cpi", window_group__add_metric(group, "cpi"), 0);
		for (u64 length = 600; length <= 1400; length += 200) {
			TEST_ASSERT_EQUAL("windows", add_windows(&a, group, 40, length, length,
								 (length - 60) / 2), 0);
		}
		/* It is used if the lengths differ as much as a window is long. */
		TEST_ASSERT_VAL("slope", window_stats__value(&a, group, 0, &value) &&
				is_close(value, jitter < 1000 ? ratio : 2, 0.0001));
		window_stats__exit(&a);
		window_group__delete(group);
	}
	return TEST_OK;
}

/* @nr rounds of @weight, each with a window that counts this. */
static int add_rounds(struct window_stats *stats, struct window_group *group, unsigned int nr,
		      double weight, unsigned int problems, u64 cycles, u64 instructions)
{
	u64 counts[] = { cycles, instructions };
	struct window window = {
		.ends = true, .whole = true, .nr_counts = 2, .counts = counts, .armed = 100,
	};

	for (unsigned int i = 0; i < nr; i++) {
		window_stats__add_round(stats, weight);
		window_stats__add_round(&group->all, weight);
		TEST_ASSERT_EQUAL("no memory",
				  window_stats__add_window(stats, group, &window, problems,
							   i % WINDOW_GROUPS, 1), 0);
	}
	return TEST_OK;
}

/* Add a metric as the JSON files of pmu-events have them, of the second event. */
static int add_expression(struct window_group *group, const char *expr)
{
	struct window_metric *metric;

	TEST_ASSERT_EQUAL("cpi", window_group__add_metric(group, "cpi"), 0);
	metric = &group->metrics[group->nr_metrics - 1];
	metric->kind = WINDOW_METRIC_EXPR;
	metric->expr = strdup(expr);
	metric->ctx = expr__ctx_new();
	metric->ids = calloc(1, sizeof(*metric->ids));
	metric->id_events = calloc(1, sizeof(*metric->id_events));
	TEST_ASSERT_VAL("no memory", metric->expr && metric->ctx && metric->ids &&
			metric->id_events);
	metric->ids[0] = strdup("instructions");
	TEST_ASSERT_VAL("no memory", metric->ids[0]);
	metric->nr_ids = 1;
	metric->id_events[0] = 1;
	return TEST_OK;
}

static int check_shares(struct fixture *f)
{
	struct window_stats a = {}, b = {}, c = {}, d = {};
	struct window_estimate time;
	struct window_group *group;
	double value, rest[2];

	f->cycles->core.attr.alt_sample_period = 100;
	group = window_group__new(f->cycles);
	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("cpi", window_group__add_metric(group, "cpi"), 0);
	TEST_ASSERT_EQUAL("share", window_group__add_metric(group, "instructions-share"), 0);

	/*
	 * A fourth of the time each, with windows of one length and of twice that, because
	 * of a stall at their ends: CPI 2 and 4. All windows of the other half, with CPI 1,
	 * end elsewhere.
	 */
	TEST_ASSERT_EQUAL("a", add_rounds(&a, group, 64, 1000, 0, 100, 50), 0);
	TEST_ASSERT_EQUAL("b", add_rounds(&b, group, 64, 1000, 0, 200, 50), 0);
	TEST_ASSERT_EQUAL("c", add_rounds(&c, group, 128, 1000, WINDOW_LEFT, 100, 70), 0);
	group->totals[0] = 256000;
	group->totals[1] = 32000 + 16000 + 128000;
	TEST_ASSERT_VAL("time of a", window_stats__time(&a, group, &time) && time.value == 25);
	TEST_ASSERT_VAL("time of b", window_stats__time(&b, group, &time) && time.value == 25);
	TEST_ASSERT_VAL("time of c", window_stats__time(&c, group, &time) && time.value == 50);
	TEST_ASSERT_VAL("share of a", window_stats__value(&a, group, 1, &value) &&
			is_close(value, 3200 / 176., 0.0001));
	TEST_ASSERT_VAL("share of b", window_stats__value(&b, group, 1, &value) &&
			is_close(value, 1600 / 176., 0.0001));
	TEST_ASSERT_VAL("share of c", !window_stats__value(&c, group, 1, &value));
	TEST_ASSERT_VAL("coverage", window_stats__coverage(&c) == 0);
	TEST_ASSERT_VAL("good", !window_stats__is_good(&c, group));

	/* What the counters say and the windows do not is that of c. */
	rest[0] = group->totals[0];
	rest[1] = group->totals[1];
	window_stats__subtract(&a, group, rest);
	window_stats__subtract(&b, group, rest);
	TEST_ASSERT_EQUAL("no memory", window_stats__set_counts(&c, group, rest), 0);
	TEST_ASSERT_VAL("CPI of c", window_stats__value(&c, group, 0, &value) &&
			is_close(value, 1, 0.0001));
	TEST_ASSERT_VAL("share of c", window_stats__value(&c, group, 1, &value) &&
			is_close(value, 12800 / 176., 0.0001));

	/* A metric that is no ratio is one of all counts, not of those of the windows. */
	if (add_expression(group, "instructions / 10"))
		return TEST_FAIL;
	TEST_ASSERT_VAL("instructions of a", window_stats__estimate(&a, group, 2, &time) &&
			is_close(time.value, 3200, 0.0001));
	/* Its error is that of the time. */
	TEST_ASSERT_VAL("error", is_close(time.low, 3200 *
					  exp(-2.0395 * sqrt(0.75 / (0.25 * 256))), 0.001));
	TEST_ASSERT_VAL("instructions of b", window_stats__value(&b, group, 2, &value) &&
			is_close(value, 1600, 0.0001));

	/* Together they have twice the instructions for the first half of the cycles. */
	TEST_ASSERT_EQUAL("merge", window_stats__merge(&a, &b, group), 0);
	TEST_ASSERT_VAL("CPI of both", window_stats__value(&a, group, 0, &value) &&
			is_close(value, 128 / 48., 0.0001));

	/* With a frequency, a sample stands for its period: 500 of 1000, 100 of a million. */
	memset(&group->all, 0, sizeof(group->all));
	TEST_ASSERT_EQUAL("d", add_rounds(&d, group, 500, 1000, WINDOW_LEFT, 100, 50), 0);
	for (int i = 0; i < 100; i++)
		window_stats__add_round(&group->all, 1000000);
	TEST_ASSERT_VAL("time of d", window_stats__time(&d, group, &time) &&
			is_close(time.value, 100 * 0.5 / 100.5, 0.0001));

	window_stats__exit(&a);
	window_stats__exit(&b);
	window_stats__exit(&c);
	window_stats__exit(&d);
	window_group__delete(group);
	return TEST_OK;
}

static void rename_event(struct evsel *evsel, const char *name)
{
	zfree(&evsel->name);
	evsel->name = strdup(name);
}

/* Half of the slots, or none, are retiring, in all windows the same: 8 bits may tell less. */
static int check_fractions(struct fixture *f)
{
	static const struct {
		const char *leader;
		const char *member;
		bool rounded;
	} cases[] = {
		{ "slots:u", "topdown-retiring:u", true },
		{ "cpu_core/slots/u", "cpu_core/topdown-retiring/u", true },
		{ "slots", "instructions", false },
		/* A counter, as on E-cores. */
		{ "cycles", "topdown-retiring", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double rounding = cases[i].rounded * 1.959964 / sqrt(3) * 640 / 255;
		struct window_stats half = {}, none = {};
		struct window_estimate estimate;
		struct window_group *group;

		rename_event(f->cycles, cases[i].leader);
		rename_event(f->instructions, cases[i].member);
		for (unsigned int jitter = 0; jitter <= 1000; jitter += 1000) {
			/* With so much jitter it is the slope over the length. */
			f->cycles->core.attr.alt_sample_period = jitter ?: 100;
			f->cycles->core.attr.alt_sample_jitter = jitter;
			group = window_group__new(f->cycles);
			TEST_ASSERT_VAL("no memory", group);
			if (add_expression(group, "instructions / 10"))
				return TEST_FAIL;
			/* All time is of this entry: it has no error. */
			group->totals[0] = 6400;
			for (u64 length = 800; length <= 1200; length += 400) {
				TEST_ASSERT_EQUAL("windows", add_windows(&half, group, 64, length,
									 length, length / 2), 0);
			}
			TEST_ASSERT_VAL("half", window_stats__estimate(&half, group, 0,
								       &estimate) &&
					is_close(estimate.value, 320, 0.0001));
			TEST_ASSERT_VAL("low", is_close(320 - estimate.low,
							hypot(320 - 320 * exp(-0.005), rounding),
							0.0001));
			TEST_ASSERT_VAL("high", is_close(estimate.high - 320,
							 hypot(320 * exp(0.005) - 320, rounding),
							 0.0001));
			memset(&group->all, 0, sizeof(group->all));
			TEST_ASSERT_EQUAL("windows", add_windows(&none, group, 64, 800, 800, 0), 0);
			TEST_ASSERT_EQUAL("windows", add_windows(&none, group, 64, 1200, 1200, 0),
					  0);
			TEST_ASSERT_VAL("none", window_stats__estimate(&none, group, 0,
								       &estimate) &&
					estimate.value == 0 && estimate.low == 0);
			TEST_ASSERT_VAL("high", is_close(estimate.high, rounding, 0.0001));
			window_stats__exit(&half);
			window_stats__exit(&none);
			memset(&half, 0, sizeof(half));
			memset(&none, 0, sizeof(none));
			window_group__delete(group);
		}
	}
	return TEST_OK;
}

static int test__window_fractions(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	struct fixture f;
	int ret;

	if (fixture__init(&f))
		return TEST_FAIL;
	ret = check_fractions(&f);
	fixture__exit(&f);
	return ret;
}

static int test__window_shares(struct test_suite *test __maybe_unused,
			       int subtest __maybe_unused)
{
	struct fixture f;
	int ret;

	if (fixture__init(&f))
		return TEST_FAIL;
	ret = check_shares(&f);
	fixture__exit(&f);
	return ret;
}

static int test__window_estimates(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	struct fixture f;
	int ret;

	if (fixture__init(&f))
		return TEST_FAIL;
	ret = check_estimates(&f) ?: check_samples(&f);
	fixture__exit(&f);
	return ret;
}

static struct test_case tests__window[] = {
	TEST_CASE("Rounds of a long interval and windows", window_rounds),
	TEST_CASE("Windows with problems", window_problems),
	TEST_CASE("Plain periods as windows", window_plain),
	TEST_CASE("Threads", window_threads),
	TEST_CASE("Damaged files", window_files),
	TEST_CASE("Two events that sample", window_samplers),
	TEST_CASE("Two groups", window_groups),
	TEST_CASE("Shares of time and events", window_shares),
	TEST_CASE("Estimates", window_estimates),
	TEST_CASE("Fractions of 8 bits", window_fractions),
	{ .name = NULL, }
};

struct test_suite suite__window = {
	.desc = "Windows of events",
	.test_cases = tests__window,
};
