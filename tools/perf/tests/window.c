// SPDX-License-Identifier: GPL-2.0
/* Test the tracker of windows and their estimates with samples that are made by hand. */
#include <dwarf-regs.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>
#include <internal/evsel.h>

#include "branch.h"
#include "debug.h"
#include "env.h"
#include "evlist.h"
#include "evsel.h"
#include "machine.h"
#include "parse-events.h"
#include "sample.h"
#include "tests.h"
#include "thread.h"
#include "window.h"
#include "window-branches.h"
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
	u64		late;
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
	struct evsel *evsel;
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
	evlist__for_each_entry(f->evlist, evsel)
		evsel->core.attr.exclude_kernel = 1;

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
			TEST_ASSERT_VAL("late", window.late == s->late);
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
		  .ends = true, .index = 0, .late = 3, .deltas = { 12, 6 } },
		{ .window = true, .period = 10, .cycles = 1025, .instructions = 507,
		  .ends = true, .index = 1, .late = 2, .deltas = { 10, 1 } },
		/* It is shorter by the five cycles that the last round was too long. */
		{ .period = 1000, .cycles = 2025, .instructions = 1000,
		  .begins = true, .weight = 1020, .deltas = { 1000, 493 } },
		/* The first window of this round is missing. */
		{ .window = true, .period = 10, .cycles = 3600, .instructions = 1900,
		  .ends = true, .problems = WINDOW_LENGTH, .late = 5, .deltas = { 1575, 900 } },
		/* The next begins with a window: its long sample is missing. */
		{ .window = true, .period = 10, .cycles = 3610, .instructions = 1905,
		  .ends = true, .index = 1, .deltas = { 10, 5 } },
		{ .window = true, .period = 10, .cycles = 4620, .instructions = 2905,
		  .deltas = { 1010, 1000 } },
		/* Too short. */
		{ .period = 1000, .cycles = 5620, .instructions = 3000,
		  .begins = true, .weight = 1020, .deltas = { 1000, 95 } },
		{ .window = true, .period = 10, .cycles = 5629, .instructions = 3001,
		  .ends = true, .problems = WINDOW_LENGTH, .late = 5, .deltas = { 9, 1 } },
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
		/* The kernel marks the windows that were split, so this one was not. */
		{ .period = 1000, .cycles = 6050, .instructions = 3000, .lost = 1,
		  .not_running = 7, .begins = true, .weight = 1010, .deltas = { 1000, 495 } },
		{ .window = true, .period = 10, .cycles = 6060, .instructions = 3005, .lost = 1,
		  .not_running = 7, .unthrottle = true, .ends = true, .deltas = { 10, 5 } },
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
		  .begins = true, .weight = 1000, .ends = true, .late = 300,
		  .deltas = { 700, 200 } },
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
		  .ends = true, .late = 1, .deltas = { 10, 2 } },
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

/*
 * Not the leader samples, but the second event. The order of the values changes once. At last,
 * another thread has the same TID.
 */
static int check_member(struct fixture *f)
{
	u64 values[][2][3] = {
		{ { 5000, CYCLES_ID }, { 1000, INSTRUCTIONS_ID } },
		{ { 10000, CYCLES_ID }, { 2000, INSTRUCTIONS_ID } },
		{ { 3000, INSTRUCTIONS_ID }, { 15000, CYCLES_ID } },
		{ { 5000, CYCLES_ID }, { 1000, INSTRUCTIONS_ID } },
	};
	struct window window;

	f->cycles->core.attr.inherit = 1;
	f->cycles->core.attr.sample_type |= PERF_SAMPLE_TID;
	f->instructions->core.attr = f->cycles->core.attr;
	f->cycles->core.attr.sample_period = 0;
	for (int i = 0; i < 4; i++) {
		struct perf_sample sample = {
			.evsel = f->instructions,
			.tid = 10,
			.period = 1000,
			.read.group = { .nr = 2, .values = (void *)values[i] },
		};

		TEST_ASSERT_EQUAL("window_tracker__add() failed",
				  window_tracker__add(f->tracker, &sample, f->threads[i / 3],
						      &window), 0);
		TEST_ASSERT_VAL("window", window.begins && window.ends == (i % 3 > 0));
		TEST_ASSERT_VAL("problems", !window.ends || !window.problems);
		TEST_ASSERT_VAL("counts", window.counts[0] == 5000 && window.counts[1] == 1000);
	}
	return TEST_OK;
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
	if (ret)
		return ret;
	if (fixture__init(&f))
		return TEST_FAIL;
	ret = check_member(&f);
	fixture__exit(&f);
	return ret;
}

/* Two PMUs have a group each, with periods of their own. Their samples come in turn. */
static int check_groups(struct fixture *f)
{
	struct evsel *leaders[2] = { f->cycles, evsel__next(f->instructions) };
	u64 periods[2] = { 1000, 300 }, counts[2] = { 0, 0 };
	u64 values[3] = { 0, CYCLES_ID };
	struct perf_sample sample = {
		.tid = 10,
		.period = 1000,
		.read.group = { .nr = 1, .values = (void *)values },
	};
	struct window window;

	TEST_ASSERT_VAL("no second group", leaders[1] && evsel__is_group_leader(leaders[1]));
	leaders[1]->core.attr = leaders[0]->core.attr;
	leaders[1]->core.attr.sample_period = periods[1];
	TEST_ASSERT_EQUAL("no memory", perf_evsel__alloc_id(&leaders[1]->core, 1, 1), 0);
	perf_evlist__id_add(evlist__core(f->evlist), &leaders[1]->core, 0, 0, BRANCHES_ID);

	for (int i = 0; i < 6; i++) {
		int group = i % 2;

		values[0] = counts[group] += periods[group];
		values[1] = group ? BRANCHES_ID : CYCLES_ID;
		sample.evsel = leaders[group];
		sample.period = periods[group];
		TEST_ASSERT_EQUAL("window_tracker__add() failed",
				  window_tracker__add(f->tracker, &sample, f->threads[0],
						      &window), 0);
		TEST_ASSERT_VAL("window", window.begins && window.ends == (i > 1));
		TEST_ASSERT_VAL("problems", !window.ends || !window.problems);
		TEST_ASSERT_VAL("counts", window.counts[0] == periods[group]);
		TEST_ASSERT_VAL("weight", window.weight == periods[group]);
		TEST_ASSERT_VAL("old data", !window_round__data_size(window.beginning));
		TEST_ASSERT_VAL("data", !window.ends ||
				*(int *)window_round__data(window.ending) == i - 2);
		TEST_ASSERT_EQUAL("data", window_round__set_data(window.beginning, &i, sizeof(i)),
				  0);
	}
	/* The ID of the other leader is no sample of this one. */
	values[0] = counts[0] + periods[0];
	values[1] = CYCLES_ID;
	sample.evsel = leaders[1];
	TEST_ASSERT_EQUAL("another's", window_tracker__add(f->tracker, &sample, f->threads[0],
							   &window), 0);
	TEST_ASSERT_VAL("another's", !window.begins && !window.ends);
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

static bool is_close(double a, double b, double relative)
{
	pr_debug("%g, expected %g\n", a, b);
	return fabs(a - b) <= relative * fabs(b);
}

/* Adds @nr rounds, each with a window that counts this, and ends in another entry. */
static int add_windows(struct window_stats *stats, struct window_group *group, unsigned int nr,
		       u64 cycles, u64 instructions, bool used)
{
	u64 counts[] = { cycles, instructions };
	struct window window = {
		.ends = true, .whole = true, .nr_counts = 2, .counts = counts, .armed = cycles,
	};
	unsigned int problems = WINDOW_LEFT | (used ? 0 : WINDOW_LOST);

	for (unsigned int i = 0; i < nr; i++) {
		window_stats__add_round(stats, 1000);
		window_stats__add_round(&group->all, 1000);
		TEST_ASSERT_EQUAL("no memory",
				  window_stats__add_window(stats, group, &window, problems, used,
							   1), 0);
		TEST_ASSERT_EQUAL("no memory",
				  window_stats__add_window(&group->all, group, &window, problems,
							   used, 1), 0);
	}
	return TEST_OK;
}

/* An event that samples too: which one is only asked by others. */
static struct window_group *new_group(struct fixture *f, bool sampled)
{
	struct window_group *group;

	f->cycles->core.attr.alt_sample_period = 100;
	group = window_group__new(f->cycles);
	if (group && sampled)
		group->samplers[1] = f->instructions;
	return group;
}

/* Two entries, of CPI 2 and 4, each with half of the time. */
static int check_estimates(struct fixture *f)
{
	struct window_samples samples[2][2] = {};
	struct window_stats stats[2] = {}, sum = {}, none = {};
	struct window_entry entries[2];
	struct window_estimate estimate;
	struct window_group *group = new_group(f, /*sampled=*/false);
	/* Of Student's distribution with 10 degrees of freedom. */
	const double t = 2.228;
	double bias;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("cpi", window_group__add_metric(group, "cpi"), 0);
	TEST_ASSERT_EQUAL("share", window_group__add_metric(group, "instructions-share"), 0);
	TEST_ASSERT_EQUAL("missing event", window_group__add_metric(group, "branch-mpki"), 0);
	TEST_ASSERT_EQUAL("no metric", window_group__add_metric(group, "no-such-metric"), -ENOENT);
	TEST_ASSERT_VAL("available", group->metrics[0].available);
	TEST_ASSERT_VAL("not available", !group->metrics[2].available);

	TEST_ASSERT_EQUAL("windows", add_windows(&stats[0], group, 400, 100, 50, true), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats[1], group, 400, 200, 50, true), 0);
	TEST_ASSERT_EQUAL("lost", add_windows(&none, group, 1, 200, 500, false), 0);
	TEST_ASSERT_VAL("lost", none.nr_windows == 1 && !none.nr_used && !none.sums);
	window_stats__exit(&group->all);
	memset(&group->all, 0, sizeof(group->all));
	for (int i = 0; i < 800; i++)
		window_stats__add_round(&group->all, 1000);
	group->totals[0] = 800000;
	group->totals[1] = 300000;
	for (int i = 0; i < 2; i++) {
		entries[i].stats = &stats[i];
		entries[i].samples = samples[i];
	}
	TEST_ASSERT_EQUAL("calibrate", window_group__calibrate(group, entries, 2), 0);
	TEST_ASSERT_VAL("unknown bias", is_close(group->bias[1], 0.0625, 0.000001));
	bias = 0.0625 * (401 / 402. * 401 / 402 + 0.0004);
	for (int i = 0; i < 2; i++) {
		double cpi = i ? 4 : 2;

		/* All windows are equal: what is left is the bias. */
		TEST_ASSERT_EQUAL("CPI", window_stats__estimate(&entries[i], group, 0, &estimate),
				  WINDOW_ESTIMATE_POOR);
		TEST_ASSERT_VAL("CPI", is_close(estimate.value, cpi, 0.000001));
		TEST_ASSERT_VAL("low", is_close(estimate.low, cpi * exp(-t * sqrt(bias)), 0.001));
		TEST_ASSERT_VAL("high", is_close(estimate.high, cpi * exp(t * sqrt(bias)), 0.001));
		/* Half of the time, 200000 and 100000 instructions. */
		window_stats__estimate(&entries[i], group, 1, &estimate);
		TEST_ASSERT_VAL("share", is_close(estimate.value, 200 / cpi * 2 / 3, 0.000001));
	}
	TEST_ASSERT_VAL("time", window_stats__time(&stats[0], group, &estimate) &&
			estimate.value == 50);
	/* Wilson's interval for 400 of 800. */
	TEST_ASSERT_VAL("low", is_close(estimate.low, 46.5437, 0.0001));
	TEST_ASSERT_VAL("high", is_close(estimate.high, 53.4563, 0.0001));

	/* Together they have the mean of the rates, though one has longer windows. */
	TEST_ASSERT_EQUAL("merge", window_stats__merge(&sum, &stats[0], group), 0);
	TEST_ASSERT_EQUAL("merge", window_stats__merge(&sum, &stats[1], group), 0);
	entries[0].stats = &sum;
	window_stats__estimate(&entries[0], group, 0, &estimate);
	TEST_ASSERT_VAL("merged", is_close(estimate.value, 2 / 0.75, 0.000001));
	TEST_ASSERT_VAL("merged", sum.nr_used == 800 && sum.nr_rounds == 800);
	/* Squares of the numbers: windows weigh 10, and those of twice the length 5. */
	TEST_ASSERT_EQUAL("merge", window_stats__merge(&stats[0], &stats[1], group), 0);
	TEST_ASSERT_VAL("squares", is_close(stats[0].sums[4], 400 * 100 + 400 * 25, 0.000001));

	for (int i = 0; i < 2; i++)
		window_stats__exit(&stats[i]);
	window_stats__exit(&sum);
	window_group__delete(group);
	return TEST_OK;
}

/* How biased the windows of instructions may be besides, if samples of them differ so much. */
static double outlier_bias(double difference, double variance)
{
	double odds = 0.002 / sqrt(1 + 0.25 / variance) *
		      exp(difference * difference / 2 * (1 / variance - 1 / (variance + 0.25)));

	return 0.25 * odds / (1 + odds);
}

/* What samples say is pooled with windows, and alone without them. */
static int check_samples(struct fixture *f)
{
	struct window_samples samples[2] = {};
	struct window_stats stats = {}, none = {};
	struct window_entry entry = { .stats = &stats, .samples = samples };
	struct window_entry no_windows = { .stats = &none, .samples = samples };
	struct window_group *group = new_group(f, /*sampled=*/true);
	struct window_estimate estimate;
	double windows, sampled, count;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("cpi", window_group__add_metric(group, "cpi"), 0);
	TEST_ASSERT_EQUAL("ipc", window_group__add_metric(group, "ipc"), 0);
	TEST_ASSERT_EQUAL("share", window_group__add_metric(group, "instructions-share"), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats, group, 400, 100, 50, true), 0);
	for (int i = 0; i < 400; i++) {
		window_stats__add_round(&none, 1000);
		window_stats__add_round(&group->all, 1000);
	}
	group->totals[0] = 800000;
	group->totals[1] = 400000;
	TEST_ASSERT_EQUAL("calibrate", window_group__calibrate(group, &entry, 1), 0);

	/* Windows say 0.5 for a cycle, samples that 320 of 800 are here, so 0.4. */
	samples[1].share = 0.4;
	samples[1].all = 800;
	sampled = 0.6 / 320 + 0.5 / 400;
	/* That of other programs. */
	TEST_ASSERT_VAL("likely bias", is_close(sqrt(group->bias[1]), 0.1027, 0.01));
	windows = group->bias[1] * (401 / 402. * 401 / 402 + 0.0004);
	windows += outlier_bias(log(0.5 / 0.4), windows + sampled);
	window_stats__estimate(&entry, group, 1, &estimate);
	TEST_ASSERT_VAL("pooled", is_close(log(estimate.value),
					   (log(0.5) / windows + log(0.4) / sampled) /
					   (1 / windows + 1 / sampled), 0.001));
	TEST_ASSERT_VAL("error", is_close(log(estimate.high / estimate.value),
					  1.96 / sqrt(1 / windows + 1 / sampled), 0.02));
	/* Far apart: the windows may be of another entry, and the interval has this. */
	samples[1].share = 0.2;
	samples[1].all = 100;
	sampled = 0.8 / 20 + 0.5 / 400;
	windows = group->bias[1] * (401 / 402. * 401 / 402 + 0.0004);
	windows += outlier_bias(log(0.5 / 0.2), windows + sampled);
	window_stats__estimate(&entry, group, 1, &estimate);
	TEST_ASSERT_VAL("far", is_close(log(estimate.value),
					(log(0.5) / windows + log(0.2) / sampled) /
					(1 / windows + 1 / sampled), 0.001));
	TEST_ASSERT_VAL("error", is_close(log(estimate.high / estimate.value),
					  2.05 / sqrt(1 / windows + 1 / sampled), 0.02));
	samples[1].share = 0.4;
	samples[1].all = 800;
	sampled = 0.6 / 320 + 0.5 / 400;
	/* Without samples, one in ten million cycles is a rate, what rounding leaves is none. */
	count = stats.sums[3];
	samples[1].share = 0;
	stats.sums[3] = 0.000001;
	window_stats__estimate(&entry, group, 1, &estimate);
	TEST_ASSERT_VAL("rounding", !estimate.value);
	stats.sums[3] = 0.004;
	window_stats__estimate(&entry, group, 1, &estimate);
	TEST_ASSERT_VAL("rate", is_close(estimate.value, 0.0000001, 0.000000001));
	samples[1].share = 0.4;
	stats.sums[3] = count;
	/* Without windows. */
	window_stats__estimate(&no_windows, group, 1, &estimate);
	TEST_ASSERT_VAL("sampled", is_close(estimate.value, 0.4, 0.000001));
	TEST_ASSERT_VAL("error", is_close(log(estimate.high / estimate.value),
					  1.96 * sqrt(sampled), 0.02));
	TEST_ASSERT_VAL("share", window_stats__estimate(&no_windows, group, 2, &estimate) &&
			is_close(estimate.value, 40, 0.000001));
	/* Few samples are an estimate with a mark. */
	samples[1].share = 0.01;
	TEST_ASSERT_EQUAL("few", window_stats__estimate(&no_windows, group, 1, &estimate),
			  WINDOW_ESTIMATE_POOR);
	/* None is an upper end. */
	samples[1].share = 0;
	TEST_ASSERT_EQUAL("none", window_stats__estimate(&no_windows, group, 1, &estimate),
			  WINDOW_ESTIMATE_POOR);
	TEST_ASSERT_VAL("none", !estimate.value && !estimate.low &&
			is_close(estimate.high, 3.689 * 500 / 400000, 0.000001));
	TEST_ASSERT_EQUAL("no CPI", window_stats__estimate(&no_windows, group, 0, &estimate),
			  WINDOW_ESTIMATE_NONE);
	/* What never happened is not unknown. */
	samples[1].all = 0;
	group->totals[1] = 0;
	TEST_ASSERT_EQUAL("never", window_stats__estimate(&no_windows, group, 1, &estimate),
			  WINDOW_ESTIMATE_POOR);
	TEST_ASSERT_VAL("never", !estimate.value && !estimate.low && !estimate.high);

	window_stats__exit(&stats);
	window_group__delete(group);
	return TEST_OK;
}

/* The interrupt adds 60 cycles without an instruction to each window. */
static int check_costs(struct fixture *f)
{
	struct window_stats stats[2] = {};
	/* Half of 1000 samples of instructions each. */
	struct window_samples samples[2][2] = { { {}, { 0.5, 1000 } }, { {}, { 0.5, 1000 } } };
	struct window_entry entries[2] = { { &stats[0], samples[0] }, { &stats[1], samples[1] } };
	struct window_group *group = new_group(f, /*sampled=*/true);
	struct window_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	for (u64 length = 10; length < 30; length++) {
		for (int i = 0; i < 2; i++) {
			TEST_ASSERT_EQUAL("windows", add_windows(&stats[i], group, 20, 60 + length,
								 length, true), 0);
		}
	}
	group->totals[0] = 1000000 + 60 * 1600;
	group->totals[1] = 1000000;
	window_group__find_costs(group, entries, 2, 1600);
	TEST_ASSERT_VAL("cost", is_close(group->costs[0], 60, 0.001) && !group->costs[1]);
	group->totals[0] = 1000000;
	TEST_ASSERT_EQUAL("cpi", window_group__add_metric(group, "cpi"), 0);
	for (int i = 0; i < 2; i++)
		window_stats__clear(&stats[i], group);
	for (u64 length = 10; length < 30; length++) {
		struct kept_window kept = { .scale = 20, .armed = 60 + length };
		u64 counts[] = { 60 + length, length };

		for (int i = 0; i < 2; i++) {
			TEST_ASSERT_EQUAL("begin", window_stats__begin_kept(&stats[i], group,
									    &kept, counts), 0);
			window_stats__add_kept(&stats[i], NULL, group, &kept, counts);
		}
	}
	TEST_ASSERT_VAL("armed", is_close(stats[0].sums[1], 400 * 79.5, 0.000001));
	TEST_ASSERT_VAL("length", is_close(stats[0].sums[2], 400 * 19.5, 0.01));
	TEST_ASSERT_EQUAL("calibrate", window_group__calibrate(group, entries, 2), 0);
	/* The rate is the same in all windows. */
	TEST_ASSERT_VAL("noise", group->noise[1] < 0.01);
	window_stats__estimate(&entries[0], group, 0, &estimate);
	TEST_ASSERT_VAL("cpi", is_close(estimate.value, 1, 0.001));
	for (int i = 0; i < 2; i++)
		window_stats__exit(&stats[i]);
	window_stats__exit(&group->all);
	window_group__delete(group);
	return TEST_OK;
}

/* All windows of the first entry end in the second one. */
static int check_split(struct fixture *f)
{
	struct kept_window kept = { .scale = 1, .armed = 100 };
	struct window_stats stats[2] = {};
	struct window_group *group = new_group(f, /*sampled=*/false);

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats[0], group, 10, 100, 10, true), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats[1], group, 10, 100, 15, true), 0);
	for (int i = 0; i < 2; i++)
		window_stats__clear(&stats[i], group);
	TEST_ASSERT_VAL("clear", !stats[0].sums[0] && !stats[0].sums[4]);
	for (int i = 0; i < 10; i++) {
		TEST_ASSERT_EQUAL("begin", window_stats__begin_kept(&stats[0], group, &kept,
								    (u64[]){ 100, 10 }), 0);
		TEST_ASSERT_EQUAL("begin", window_stats__begin_kept(&stats[1], group, &kept,
								    (u64[]){ 100, 15 }), 0);
	}
	for (int i = 0; i < 10; i++) {
		window_stats__add_kept(&stats[0], &stats[1], group, &kept, (u64[]){ 100, 10 });
		window_stats__add_kept(&stats[1], NULL, group, &kept, (u64[]){ 100, 15 });
	}
	/* A quarter of each is taken to be in the second, which has 3.75 there. */
	TEST_ASSERT_VAL("first", is_close(stats[0].sums[0], 5, 0.000001) &&
			is_close(stats[0].sums[2], 10 * 75 / 2., 0.000001) &&
			is_close(stats[0].sums[3], 10 * 6.25 / 2, 0.000001));
	/* The first has 2.5 in a quarter, so the other 7.5 are of the second. */
	TEST_ASSERT_VAL("second", is_close(stats[1].sums[0], 15, 0.000001) &&
			is_close(stats[1].sums[2], 10 * (100 + 75 / 2.), 0.000001) &&
			is_close(stats[1].sums[3], 10 * (15 + 7.5 / 2), 0.000001));
	TEST_ASSERT_VAL("square", is_close(stats[0].sums[4 + 9], 10 * 3.125 * 3.125, 0.000001));
	/* At least a fourth of the 0.1 with which windows begin there is of the first. */
	window_stats__limit(&stats[0], group);
	TEST_ASSERT_VAL("no limit", is_close(stats[0].sums[3], 10 * 6.25 / 2, 0.000001));
	stats[0].sums[3] = -1;
	window_stats__limit(&stats[0], group);
	TEST_ASSERT_VAL("limit", is_close(stats[0].sums[3], 375 * 0.1 / 4, 0.000001));
	for (int i = 0; i < 2; i++)
		window_stats__exit(&stats[i]);
	window_stats__exit(&group->all);
	window_group__delete(group);
	return TEST_OK;
}

/* Half of the windows begin 60 cycles late, each ends 10 cycles late. */
static int check_late(struct fixture *f)
{
	struct window_stats stats = {};
	struct window_group *group = new_group(f, /*sampled=*/false);

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats, group, 1, 100, 10, true), 0);
	group->kept = calloc(100, sizeof(*group->kept));
	group->kept_counts = calloc(100 * 2, sizeof(*group->kept_counts));
	TEST_ASSERT_VAL("no memory", group->kept && group->kept_counts);
	group->nr_kept = 100;
	for (int i = 0; i < 100; i++) {
		group->kept[i].scale = 1;
		group->kept[i].armed = 90;
		group->kept[i].overlong = 10;
		group->kept[i].late = i % 2 ? 60 : 10;
		group->kept_counts[2 * i] = 100;
		group->kept_counts[2 * i + 1] = 10;
	}
	/*
	 * Ten of 100 cycles, or less: half of the windows wait for 50, where one instruction
	 * ends, and five are in the other 50.
	 */
	group->totals[0] = 100000;
	for (int total = 10000; total >= 6250; total -= 1250) {
		double stalls = min((10000 - total) / 2000., 1.);

		group->totals[1] = total;
		TEST_ASSERT_EQUAL("no memory", window_group__find_latency(group), 0);
		TEST_ASSERT_VAL("latency", group->latency == 10);
		memset(&group->added, 0, sizeof(group->added));
		window_group__find_stalls(group, 0);
		TEST_ASSERT_VAL("stalls", is_close(group->stalls, stalls, 0.000001));
		window_stats__clear(&stats, group);
		window_stats__add_kept(&stats, NULL, group, &group->kept[1],
				       &group->kept_counts[2]);
		TEST_ASSERT_VAL("length", is_close(stats.sums[2], 100, 0.000001));
		TEST_ASSERT_VAL("count", is_close(stats.sums[3], 10 - 4 * stalls, 0.000001));
	}
	/* An interrupt adds 10 cycles, not 12: the windows are 90 cycles long. */
	group->costs[0] = 12;
	group->totals[1] = 100000 / 90. * (10 + 1 + 10 * 40 / 90.) / 2;
	memset(&group->added, 0, sizeof(group->added));
	window_group__find_stalls(group, 0);
	TEST_ASSERT_VAL("cost", is_close(group->costs[0], 10, 0.01) && group->stalls == 1);
	group->costs[0] = 0;
	/* One that stalls in the last 30 of 100 cycles: nine instructions in the 70 before. */
	group->kept[1].overlong = 40;
	window_stats__clear(&stats, group);
	window_stats__add_kept(&stats, NULL, group, &group->kept[1], &group->kept_counts[2]);
	TEST_ASSERT_VAL("stall", is_close(stats.sums[3], 9 * 50 / 70. + 1, 0.000001));
	/* Nothing is known of what is executed behind the interrupt if it waits for longer. */
	group->kept[1].late = 1000;
	window_stats__clear(&stats, group);
	window_stats__add_kept(&stats, &stats, group, &group->kept[1], &group->kept_counts[2]);
	TEST_ASSERT_VAL("only stalls", stats.sums[0] == 1 && !stats.sums[3]);
	window_stats__exit(&stats);
	window_stats__exit(&group->all);
	window_group__delete(group);
	return TEST_OK;
}

/* Half of the rounds stand for three times as much as the others: 160 equal ones tell as much. */
static int check_time(struct fixture *f)
{
	struct window_stats stats = {};
	struct window_estimate estimate;
	struct window_group *group = new_group(f, /*sampled=*/false);

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_VAL("no rounds", !window_stats__time(&stats, group, &estimate));
	for (int i = 0; i < 200; i++) {
		window_stats__add_round(&group->all, i % 2 ? 1000 : 3000);
		if (i % 2)
			window_stats__add_round(&stats, 1000);
	}
	TEST_ASSERT_VAL("time", window_stats__time(&stats, group, &estimate) &&
			is_close(estimate.value, 25, 0.000001));
	TEST_ASSERT_VAL("low", is_close(estimate.low, 18.9299, 0.00001));
	TEST_ASSERT_VAL("high", is_close(estimate.high, 32.2424, 0.00001));
	window_group__delete(group);
	return TEST_OK;
}

/* All that is counted is in one entry, or the counter says that half of it is missing. */
static int check_shares(struct fixture *f)
{
	u64 counts[] = { 100, 50 };
	struct window window = {
		.ends = true, .whole = true, .nr_counts = 2, .counts = counts, .armed = 100,
	};
	struct window_stats stats = {};
	struct window_entry entry = { .stats = &stats };
	struct window_group *group = new_group(f, /*sampled=*/false);
	struct window_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("share", window_group__add_metric(group, "instructions-share"), 0);
	TEST_ASSERT_EQUAL("cpi", window_group__add_metric(group, "cpi"), 0);
	for (int i = 0; i < 1000; i++) {
		window_stats__add_round(&stats, 1000);
		window_stats__add_round(&group->all, 1000);
		TEST_ASSERT_EQUAL("window", window_stats__add_window(&stats, group, &window, 0,
								     true, 1), 0);
	}
	group->totals[0] = 1000000;
	group->totals[1] = 500000;
	window_group__calibrate(group, &entry, 1);
	TEST_ASSERT_EQUAL("share", window_stats__estimate(&entry, group, 0, &estimate),
			  WINDOW_ESTIMATE_GOOD);
	TEST_ASSERT_VAL("share", is_close(estimate.value, 100, 0.000001));
	for (group->totals[1] = 250000; group->totals[1] <= 1000000; group->totals[1] *= 4) {
		window_group__calibrate(group, &entry, 1);
		TEST_ASSERT_EQUAL("contradicted",
				  window_stats__estimate(&entry, group, 0, &estimate),
				  WINDOW_ESTIMATE_POOR);
		TEST_ASSERT_VAL("not above all", estimate.low <= estimate.value &&
				estimate.value <= estimate.high && estimate.high <= 100);
	}
	/* The CPI is that of the windows whatever is missing. */
	TEST_ASSERT_EQUAL("cpi", window_stats__estimate(&entry, group, 1, &estimate),
			  WINDOW_ESTIMATE_GOOD);
	/* A fraction has 255 steps: the instructions as one of cycles. */
	group->slots = 0;
	group->fractions[1] = true;
	group->bias[1] = 0;
	window_stats__estimate(&entry, group, 1, &estimate);
	TEST_ASSERT_VAL("fraction", is_close(log(estimate.high / estimate.value),
					     1.96 * 2 / 255 / sqrt(3), 0.01));
	window_stats__exit(&stats);
	window_group__delete(group);
	return TEST_OK;
}

/* Windows that hardly ever see an event do not tell of it, if it samples. */
static int check_rare(struct fixture *f)
{
	struct window_samples samples[2] = { {}, { 0.4, 800 } };
	struct window_stats stats = {};
	struct window_entry entry = { .stats = &stats, .samples = samples };
	struct window_group *group = new_group(f, /*sampled=*/true);
	struct window_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("ipc", window_group__add_metric(group, "ipc"), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats, group, 400, 100, 2, true), 0);
	group->totals[0] = 400000;
	group->totals[1] = 10000;
	window_group__calibrate(group, &entry, 1);
	window_stats__estimate(&entry, group, 0, &estimate);
	TEST_ASSERT_VAL("rare", is_close(estimate.value, 0.4 * 10000 / 400000, 0.000001));
	window_stats__exit(&stats);
	window_stats__exit(&group->all);
	window_group__delete(group);
	return TEST_OK;
}

/* A metric that is bad if it is below 1, of an entry with half an instruction per cycle, and 2. */
static int check_threshold(struct fixture *f)
{
	struct window_stats stats[2] = {};
	struct window_entry entries[2] = { { .stats = &stats[0] }, { .stats = &stats[1] } };
	struct window_group *group = new_group(f, /*sampled=*/false);
	struct window_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("threshold", window_group__add_metric(group, "insn_per_cycle"), 0);
	TEST_ASSERT_EQUAL("ipc", window_group__add_metric(group, "ipc"), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats[0], group, 400, 100, 50, true), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats[1], group, 400, 100, 200, true), 0);
	group->totals[0] = 800000;
	group->totals[1] = 1000000;
	window_group__calibrate(group, entries, 2);
	for (int i = 0; i < 2; i++) {
		window_stats__estimate(&entries[i], group, 0, &estimate);
		TEST_ASSERT_VAL("value", is_close(estimate.value, i ? 2 : 0.5, 0.000001));
		TEST_ASSERT_VAL("threshold", estimate.threshold ==
				(i ? METRIC_THRESHOLD_GOOD : METRIC_THRESHOLD_BAD));
		window_stats__estimate(&entries[i], group, 1, &estimate);
		TEST_ASSERT_VAL("no threshold", estimate.threshold == METRIC_THRESHOLD_UNKNOWN);
		window_stats__exit(&stats[i]);
	}
	window_stats__exit(&group->all);
	window_group__delete(group);
	return TEST_OK;
}

/* Of two windows that are equal by chance, others tell how much windows differ. */
static int check_noise(struct fixture *f)
{
	struct window_stats stats = {};
	struct window_entry entry = { .stats = &stats };
	struct window_group *group = new_group(f, /*sampled=*/false);
	struct window_estimate estimate;
	/* A variance of 100 counts as three windows of 50. Student's, with 4 degrees of freedom. */
	const double half = 2.776 * sqrt(3 * 100 * 2 / 4.) / 100;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("ipc", window_group__add_metric(group, "ipc"), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats, group, 2, 100, 50, true), 0);
	group->totals[0] = 2000;
	group->totals[1] = 1000;
	window_group__calibrate(group, &entry, 1);
	/* Alone they tell little: as a tenth of a window that has any count. */
	TEST_ASSERT_VAL("prior", is_close(group->noise[1], 0.1 * (50 * 50 + 50) / 1.1, 0.001));
	group->bias[1] = 0;
	TEST_ASSERT_EQUAL("few", window_stats__estimate(&entry, group, 0, &estimate),
			  WINDOW_ESTIMATE_POOR);
	group->noise[1] = 100;
	window_stats__estimate(&entry, group, 0, &estimate);
	TEST_ASSERT_VAL("noise", is_close(log(estimate.high / estimate.value), half, 0.01));
	window_stats__exit(&stats);
	window_stats__exit(&group->all);
	window_group__delete(group);
	return TEST_OK;
}

/* Half of the time of windows is the stall in which they end. */
static int check_overlong(struct fixture *f)
{
	struct kept_window kept = { .scale = 1, .armed = 50 };
	struct window_group *group = new_group(f, /*sampled=*/false);
	struct window_samples samples[2] = {};
	struct window_stats stats = {};
	struct window_entry entry = { .stats = &stats, .samples = samples };
	/* Of Student's distribution with 10 degrees of freedom. Too long counts twice. */
	const double t = 2.228, bias = 0.0625 * (1 / 402. / 402 + 1 + 0.0004);
	u64 counts[] = { 100, 25 };
	struct window_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("ipc", window_group__add_metric(group, "ipc"), 0);
	for (int i = 0; i < 400; i++) {
		window_stats__add_round(&stats, 1000);
		window_stats__add_round(&group->all, 1000);
		TEST_ASSERT_EQUAL("begin", window_stats__begin_kept(&stats, group, &kept, counts),
				  0);
	}
	for (int i = 0; i < 400; i++)
		window_stats__add_kept(&stats, NULL, group, &kept, counts);
	stats.nr_windows = 400;
	group->totals[0] = 400000;
	group->totals[1] = 200000;
	TEST_ASSERT_EQUAL("calibrate", window_group__calibrate(group, &entry, 1), 0);
	window_stats__estimate(&entry, group, 0, &estimate);
	TEST_ASSERT_VAL("value", is_close(estimate.value, 0.5, 0.000001));
	TEST_ASSERT_VAL("high", is_close(estimate.high, 0.5 * exp(t * sqrt(bias)), 0.001));

	window_stats__exit(&stats);
	window_stats__exit(&group->all);
	window_group__delete(group);
	return TEST_OK;
}

/* What windows and samples differ by is no more than samples do by chance. */
static int check_bias(struct fixture *f)
{
	struct window_stats stats[20] = {};
	struct window_samples samples[20][2] = {};
	struct window_entry entries[20];
	struct window_group *group = new_group(f, /*sampled=*/true);
	/* Of the samples of both events, 40 of 800 each. */
	double error = sqrt(2 * 0.95 / 40);

	TEST_ASSERT_VAL("no memory", group);
	for (int i = 0; i < 20; i++) {
		entries[i].stats = &stats[i];
		entries[i].samples = samples[i];
		samples[i][1].share = exp(i % 2 ? error : -error) / 20;
		samples[i][1].all = 800;
		TEST_ASSERT_EQUAL("windows", add_windows(&stats[i], group, 40, 100, 50, true), 0);
	}
	group->totals[0] = 800000;
	group->totals[1] = 400000;
	window_group__calibrate(group, entries, 20);
	/* That of other programs is 0.08. */
	TEST_ASSERT_VAL("bias", group->bias[1] < 0.02);
	for (int i = 0; i < 20; i++)
		window_stats__exit(&stats[i]);
	window_stats__exit(&group->all);
	window_group__delete(group);
	return TEST_OK;
}

/*
 * The windows of one entry are of its caller, half of the time, and end where they began: it is
 * found, however many windows there are.
 */
static int check_outlier(struct fixture *f, unsigned int nr)
{
	struct window_stats stats[20] = {};
	struct window_samples samples[20][2] = {};
	struct window_entry entries[20];
	struct window_group *group = new_group(f, /*sampled=*/true);
	struct window_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("ipc", window_group__add_metric(group, "ipc"), 0);
	for (int i = 0; i < 20; i++) {
		entries[i].stats = &stats[i];
		entries[i].samples = samples[i];
		samples[i][1].share = 1 / 20.;
		samples[i][1].all = 20 * nr;
		TEST_ASSERT_EQUAL("windows", add_windows(&stats[i], group, nr, 100,
							 i ? 50 : 25, true), 0);
	}
	stats[0].problems[ilog2(WINDOW_LEFT)] = 0;
	group->totals[0] = 20000. * nr;
	group->totals[1] = 10000. * nr;
	window_group__calibrate(group, entries, 20);
	window_stats__estimate(&entries[0], group, 0, &estimate);
	TEST_ASSERT_VAL("outlier", estimate.value > 0.48 && estimate.high > 0.5);
	/* The others are not taken for more biased than in other programs because of it. */
	TEST_ASSERT_VAL("others", group->bias[1] < 0.08 * 0.08);
	for (int i = 0; i < 20; i++)
		window_stats__exit(&stats[i]);
	window_stats__exit(&group->all);
	window_group__delete(group);
	return TEST_OK;
}

/* Twice as much, each with a tenth up and down. */
static int check_z(void)
{
	const struct window_estimate a = { .value = 2, .low = 1.8, .high = 2.2 };
	const struct window_estimate b = { .value = 4, .low = 3.6, .high = 4.4 };
	const struct window_estimate c = { .value = -1, .low = -3, .high = 1 };
	double error = log(2.2 / 1.8) / 2 / 1.959964;

	TEST_ASSERT_VAL("z", is_close(window_estimate__z(&a, &b), log(2) / sqrt(2) / error,
				      0.000001));
	TEST_ASSERT_VAL("z", is_close(window_estimate__z(&b, &a), -log(2) / sqrt(2) / error,
				      0.000001));
	TEST_ASSERT_VAL("negative", is_close(window_estimate__z(&a, &c),
					     -3 / sqrt(2 * 2 + 0.2 * 0.2) * 1.959964, 0.000001));
	return TEST_OK;
}

static int check_names(struct fixture *f)
{
	const double counts[] = { 1000, 500, 100, 5 };
	static const struct {
		const char	*name;
		double		value;
	} metrics[] = {
		{ "cpi", 2 }, { "ipc", 0.5 }, { "branch-mpki", 10 }, { "branch-miss-rate", 5 },
	};
	struct window_group *group = window_group__new(f->cycles);

	TEST_ASSERT_VAL("no memory", group);
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		TEST_ASSERT_EQUAL(metrics[i].name,
				  window_group__add_metric(group, metrics[i].name), 0);
		TEST_ASSERT_VAL(metrics[i].name,
				is_close(window_metric__compute(&group->metrics[i], group, counts),
					 metrics[i].value, 0.000001));
	}
	window_group__delete(group);

	/* An event that counts elsewhere has no ratio to the one that samples. */
	f->instructions->core.attr.exclude_kernel = 0;
	group = window_group__new(f->cycles);
	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("ipc", window_group__add_metric(group, "ipc"), 0);
	TEST_ASSERT_VAL("elsewhere", !group->metrics[0].available);
	window_group__delete(group);
	f->instructions->core.attr.exclude_kernel = 1;

	TEST_ASSERT_VAL("name", window_event__has_name("cycles:u", "cycles", false) &&
			window_event__has_name("cpu/cycles/", "cycles", false) &&
			!window_event__has_name("cycles-x", "cycles", true));
	TEST_ASSERT_VAL("terms", window_event__has_name("cpu/cycles,period=5/", "cycles", true) &&
			!window_event__has_name("cpu/cycles,period=5/", "cycles", false));
	return TEST_OK;
}

/*
 * Branch misses for each of @per: windows and samples tell of both. In windows of @misses they
 * are frequent, so what windows tell of both has the same error of time, that does not matter.
 * Rare ones have samples alone.
 */
static int check_compared(struct fixture *f, u64 misses, unsigned int per, const char *metric)
{
	u64 counts[] = { 100, 50, 40, misses };
	struct window window = {
		.ends = true, .whole = true, .nr_counts = 4, .counts = counts, .armed = 100,
	};
	struct window_samples samples[] = { {}, { 0.4, 800 }, { 0.6, 800 }, { 0.55, 800 } };
	const double totals[] = { 800000, 400000, 320000, misses ? 160000 : 8000 };
	double rates[4], time = 0.5 / 400, bias = 0.01 * (1 / 402. / 402 + 0.0004);
	struct window_stats stats = {};
	struct window_entry entry = { .stats = &stats, .samples = samples };
	struct window_estimate estimate;
	struct window_group *group;

	f->cycles->core.attr.alt_sample_period = 100;
	group = window_group__new(f->cycles);
	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("metric", window_group__add_metric(group, metric), 0);
	for (int i = 0; i < 4; i++) {
		group->samplers[i] = f->cycles;
		group->totals[i] = totals[i];
	}
	for (int i = 0; i < 800; i++)
		window_stats__add_round(&group->all, 1000);
	for (int i = 0; i < 400; i++) {
		window_stats__add_round(&stats, 1000);
		TEST_ASSERT_EQUAL("window", window_stats__add_window(&stats, group, &window, 0,
								     true, 1), 0);
		TEST_ASSERT_EQUAL("window", window_stats__add_window(&group->all, group, &window,
								     0, true, 1), 0);
	}
	TEST_ASSERT_EQUAL("calibrate", window_group__calibrate(group, &entry, 1), 0);
	for (int i = 1; i < 4; i++) {
		double sampled = (1 - samples[i].share) / (samples[i].share * 800);
		double windows = bias + (misses ? 0 : time), part;

		if (i == 1)
			windows += outlier_bias(log(0.4 / 0.5), bias + sampled + time);
		group->bias[i] = 0.01;
		group->noise[i] = 0;
		sampled += misses ? time : 0;
		part = counts[i] ? sampled / (sampled + windows) : 0;
		rates[i] = exp((counts[i] ? part * log(counts[i] / 100.) : 0) +
			       (1 - part) * log(samples[i].share * totals[i] / 400000));
	}
	window_stats__estimate(&entry, group, 0, &estimate);
	TEST_ASSERT_VAL("compared",
			is_close(estimate.value, per == 1 ? 1000 * rates[3] / rates[per] :
				 min(100 * rates[3] / rates[per], 100.), 0.000001));
	TEST_ASSERT_VAL("not above all", per == 1 || estimate.high <= 100);
	window_stats__exit(&stats);
	window_stats__exit(&group->all);
	window_group__delete(group);
	return TEST_OK;
}

static int test__window_metrics(struct test_suite *test __maybe_unused,
				int subtest __maybe_unused)
{
	struct fixture f;
	int ret;

	if (fixture__init_events(&f, "{cycles,instructions,branches,branch-misses}"))
		return TEST_FAIL;
	ret = check_names(&f) ?: check_compared(&f, 20, 2, "branch-miss-rate") ?:
	      check_compared(&f, 60, 2, "branch-miss-rate") ?:
	      check_compared(&f, 20, 1, "branch-mpki") ?: check_compared(&f, 0, 1, "branch-mpki");
	fixture__exit(&f);
	return ret;
}

/* A generator for tests: each run has the same numbers. */
static u64 random_state;

static double random_unit(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((random_state >> 11) + 0.5) / (1ULL << 53);
}

static double random_normal(void)
{
	return sqrt(-2 * log(random_unit())) * cos(2 * M_PI * random_unit());
}

#define NR_FUNCTIONS	20

/* A recording of functions with a known rate of instructions, of which windows tell another. */
static int check_recording(struct fixture *f, int nr_rounds, double bias, unsigned int *nr,
			   unsigned int *nr_held, double *error)
{
	struct window_stats stats[NR_FUNCTIONS] = {};
	struct window_samples samples[NR_FUNCTIONS][2] = {};
	struct window_entry entries[NR_FUNCTIONS];
	double rate[NR_FUNCTIONS], seen[NR_FUNCTIONS], time[NR_FUNCTIONS], sum = 0, insns = 0;
	struct window_group *group = new_group(f, /*sampled=*/true);

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("ipc", window_group__add_metric(group, "ipc"), 0);
	for (int i = 0; i < NR_FUNCTIONS; i++) {
		rate[i] = exp(0.4 * random_normal());
		seen[i] = rate[i] * exp(bias * random_normal());
		time[i] = exp(random_normal());
		sum += time[i];
		entries[i].stats = &stats[i];
		entries[i].samples = samples[i];
	}
	for (int i = 0; i < NR_FUNCTIONS; i++)
		insns += time[i] * rate[i];
	group->totals[0] = 1000. * nr_rounds;
	group->totals[1] = 1000. * nr_rounds * insns / sum;
	for (int i = 0; i < nr_rounds; i++) {
		double t = random_unit() * sum, in = random_unit() * insns, length;
		int func = 0, sampled = 0;

		while (func < NR_FUNCTIONS - 1 && t >= time[func])
			t -= time[func++];
		while (sampled < NR_FUNCTIONS - 1 && in >= time[sampled] * rate[sampled]) {
			in -= time[sampled] * rate[sampled];
			sampled++;
		}
		length = 10 + (int)(20 * random_unit());
		in = max(seen[func] * length + 3 * random_normal(), 0.);
		TEST_ASSERT_EQUAL("window", add_windows(&stats[func], group, 1, length, in + 0.5,
							true), 0);
		samples[sampled][1].share += 1. / nr_rounds;
	}
	for (int i = 0; i < NR_FUNCTIONS; i++)
		samples[i][1].all = nr_rounds;
	TEST_ASSERT_EQUAL("calibrate", window_group__calibrate(group, entries, NR_FUNCTIONS), 0);
	for (int i = 0; i < NR_FUNCTIONS; i++) {
		struct window_estimate estimate;

		if (window_stats__estimate(&entries[i], group, 0, &estimate) !=
		    WINDOW_ESTIMATE_NONE) {
			++*nr;
			*nr_held += estimate.low <= rate[i] && rate[i] <= estimate.high;
			*error += fabs(log(estimate.value / rate[i]));
		}
		window_stats__exit(&stats[i]);
	}
	window_stats__exit(&group->all);
	window_group__delete(group);
	return TEST_OK;
}

static int test__window_intervals(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	static const int nr_rounds[] = { 500, 1000, 3000 };
	static const double bias[] = { 0, 0.04, 0.08, 0.14, 0.2 };

	random_state = 1;
	for (size_t i = 0; i < ARRAY_SIZE(nr_rounds); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(bias); j++) {
			unsigned int nr = 0, held = 0;
			double error = 0;

			for (int k = 0; k < 60; k++) {
				struct fixture f;
				int ret;

				if (fixture__init(&f))
					return TEST_FAIL;
				ret = check_recording(&f, nr_rounds[i], bias[j], &nr, &held,
						      &error);
				fixture__exit(&f);
				if (ret)
					return ret;
			}
			pr_debug("%d rounds, bias %.2f: %u of %u intervals hold (%.3f), error %.3f\n",
				 nr_rounds[i], bias[j], held, nr, (double)held / nr, error / nr);
			/* Real programs have 0.04 to 0.14, half of them less than 0.08. */
			TEST_ASSERT_VAL("hold", held >= (bias[j] > 0.1 ? 0.82 : 0.94) * nr);
		}
	}
	return TEST_OK;
}

static int test__window_estimates(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	struct fixture f;
	int ret;

	if (fixture__init(&f))
		return TEST_FAIL;
	ret = check_estimates(&f) ?: check_samples(&f) ?: check_costs(&f) ?:
	      check_split(&f) ?: check_late(&f) ?: check_time(&f) ?:
	      check_shares(&f) ?: check_rare(&f) ?: check_threshold(&f) ?: check_noise(&f) ?:
	      check_overlong(&f) ?: check_bias(&f) ?:
	      check_outlier(&f, 400) ?: check_outlier(&f, 10000) ?: check_z();
	fixture__exit(&f);
	return ret;
}

#define MAX_BRANCHES	32
#define BLOCK_INSNS	4

/* List the blocks of a stack, each of so many instructions of Arm, the last one first. */
static unsigned int read_stack(struct thread *thread, const unsigned int *cycles,
			       unsigned int nr_blocks, struct window_block **blocks)
{
	u64 data[2 + MAX_BRANCHES * sizeof(struct branch_entry) / sizeof(u64)] = {};
	struct branch_stack *stack = (struct branch_stack *)data;
	struct perf_sample sample = { .branch_stack = stack };

	stack->nr = nr_blocks + 1;
	for (unsigned int i = 0; i <= nr_blocks; i++) {
		u64 block = 0x10000 - 0x100 * i;

		stack->entries[i].from = block + 4 * (BLOCK_INSNS - 1);
		stack->entries[i].to = block + 0x100;
		stack->entries[i].flags.cycles = cycles[i];
	}
	return perf_sample__read_blocks(&sample, thread, blocks);
}

/* Each block takes @cycles, but block @at takes @other. */
static int check_stack(struct thread *thread, unsigned int nr_blocks, unsigned int cycles,
		       unsigned int at, unsigned int other, unsigned int nr_expected,
		       double scale, double other_scale)
{
	unsigned int all[MAX_BRANCHES], nr;
	struct window_block *blocks;
	int ret = TEST_OK;

	for (unsigned int i = 0; i < MAX_BRANCHES; i++)
		all[i] = i == at ? other : cycles;
	nr = read_stack(thread, all, nr_blocks, &blocks);
	if (nr != nr_expected) {
		pr_debug("%u blocks of %u cycles: %u, not %u\n", nr_blocks, cycles, nr,
			 nr_expected);
		ret = TEST_FAIL;
	}
	for (unsigned int i = 0; i < nr && ret == TEST_OK; i++) {
		double s = i == at ? other_scale : scale;

		if (blocks[i].start != 0x10000 - 0x100 * i ||
		    blocks[i].end != blocks[i].start + 4 * (BLOCK_INSNS - 1) ||
		    fabs(blocks[i].cycles - s * all[i]) > 0.000001 ||
		    fabs(blocks[i].insns - s * BLOCK_INSNS) > 0.000001) {
			pr_debug("%u blocks of %u cycles: block %u has %f cycles, %f instructions\n",
				 nr_blocks, cycles, i, blocks[i].cycles, blocks[i].insns);
			ret = TEST_FAIL;
		}
	}
	free(blocks);
	return ret;
}

static int test__window_branches(struct test_suite *test __maybe_unused,
				 int subtest __maybe_unused)
{
	struct perf_env env;
	struct machine *machine;
	struct thread *thread;
	int ret;

	perf_env__init(&env);
	machine = machine__new_host(&env);
	thread = machine ? machine__findnew_thread(machine, 1, 1) : NULL;
	if (!thread) {
		ret = TEST_FAIL;
		goto out;
	}
	thread__set_e_machine(thread, EM_AARCH64);
	/* What ended in the last 400 cycles. */
	ret = check_stack(thread, 31, 20, 0, 20, 21, 1, 1) ?:
	      /* If that is all of the stack, it counts for more. */
	      check_stack(thread, 31, 5, 0, 5, 31, 400 / 150.0, 400 / 150.0) ?:
	      /* A slow block does not make itself count for less. */
	      check_stack(thread, 31, 5, 3, 300, 22, 1, 400 / 150.0) ?:
	      /* The counter can stop, and then what is older is too old. */
	      check_stack(thread, 31, 5, 3, 0xffff, 3, 1, 0) ?:
	      /* A branch takes a cycle, though two can be in the same one. */
	      check_stack(thread, 15, 0, 0, 10, 15, 400 / 16.0, 400 / 16.0) ?:
	      /* Too few, and without cycles. */
	      check_stack(thread, 6, 20, 0, 20, 0, 0, 0) ?:
	      check_stack(thread, 31, 0, 0, 0, 0, 0, 0);
	/* Instructions of other lengths need the code. */
	thread__set_e_machine(thread, EM_X86_64);
	ret = ret ?: check_stack(thread, 31, 20, 0, 20, 0, 0, 0);
	thread__put(thread);
out:
	machine__delete(machine);
	perf_env__exit(&env);
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
	TEST_CASE("Names of events and metrics", window_metrics),
	TEST_CASE("Estimates", window_estimates),
	TEST_CASE("Intervals", window_intervals),
	TEST_CASE("Branch stacks", window_branches),
	{ .name = NULL, }
};

struct test_suite suite__window = {
	.desc = "Windows of events",
	.test_cases = tests__window,
};
