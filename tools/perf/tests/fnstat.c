// SPDX-License-Identifier: GPL-2.0
/* Test the counts of groups, windows, and estimates of metrics, with samples made by hand. */
#include <dwarf-regs.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>
#include <internal/evsel.h>

#include "branch.h"
#include "debug.h"
#include "env.h"
#include "evlist.h"
#include "evsel.h"
#include "hist.h"
#include "machine.h"
#include "parse-events.h"
#include "sample.h"
#include "tests.h"
#include "thread.h"
#include "group-tracker.h"
#include "branch-blocks.h"
#include "fnstat.h"

#define CYCLES_ID	100
#define INSTRUCTIONS_ID	101
#define BRANCHES_ID	102

struct fixture {
	struct evlist		*evlist;
	struct evsel		*cycles;
	struct evsel		*instructions;
	struct group_tracker	*tracker;
	struct thread		*threads[2];
};

/* A sample, and the expected result of the tracker. */
struct step {
	int		thread;
	u64		cycles;
	u64		instructions;
	/* The thread ended before the sample, which is of another one with its TID. */
	bool		exit;
	/* Expected: a count went backwards, or the counts include those of earlier files. */
	bool		not_whole;
	u64		deltas[2];
};

static void fixture__exit(struct fixture *f)
{
	group_tracker__delete(f->tracker);
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
	f->tracker = group_tracker__new();
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
		u64 values[2][3] = {
			{ s->cycles, CYCLES_ID },
			{ s->instructions, INSTRUCTIONS_ID },
		};
		struct perf_sample sample = {
			.evsel = f->cycles,
			.tid = 10 + s->thread,
			.period = 1000,
			.read = {
				.time_running = s->cycles,
				.group = { .nr = 2, .values = (void *)values },
			},
		};
		struct group_sample gs;

		if (s->exit)
			group_tracker__exit_thread(f->tracker, 10 + s->thread);
		TEST_ASSERT_EQUAL("group_tracker__add() failed",
				  group_tracker__add(f->tracker, &sample,
						     f->threads[s->thread], &gs), 0);
		pr_debug("step %zu: whole %d counts %llu %llu time %llu\n", i, gs.whole,
			 (unsigned long long)gs.counts[0], (unsigned long long)gs.counts[1],
			 (unsigned long long)gs.time);
		TEST_ASSERT_EQUAL("whole", gs.whole, !s->not_whole);
		TEST_ASSERT_VAL("cycles", gs.counts[0] == s->deltas[0]);
		TEST_ASSERT_VAL("instructions", gs.counts[1] == s->deltas[1]);
		TEST_ASSERT_VAL("time", s->not_whole || gs.time == s->deltas[0]);
	}
	return TEST_OK;
}

static int check_nr_threads(struct fixture *f)
{
	unsigned int ended, without_sample;

	group_tracker__nr_threads(f->tracker, &ended, &without_sample);
	TEST_ASSERT_VAL("threads", ended == 4 && without_sample == 1);
	return TEST_OK;
}

/* A thread's events counted for half of its time, and then for all of it. */
static int check_running_time(struct fixture *f)
{
	u64 values[] = { 1000, CYCLES_ID, 0, 500, INSTRUCTIONS_ID, 0 };
	struct perf_sample sample = {
		.evsel = f->cycles, .tid = 10, .period = 1000,
		.read = { .group = { .nr = 2, .values = (void *)values } },
	};

	for (int i = 1; i <= 2; i++) {
		struct group_sample gs;

		sample.read.time_enabled = 1000 * i;
		sample.read.time_running = 1000 * i - 500;
		values[0] = 1000 * i;
		TEST_ASSERT_EQUAL("group_tracker__add() failed",
				  group_tracker__add(f->tracker, &sample, f->threads[0], &gs), 0);
		TEST_ASSERT_VAL("time", gs.time == (i == 1 ? 500 : 1000));
		TEST_ASSERT_VAL("enabled", gs.enabled == 1000);
	}
	return TEST_OK;
}

static int test__fnstat_counts(struct test_suite *test __maybe_unused,
			       int subtest __maybe_unused)
{
	static const struct step steps[] = {
		{ .cycles = 1000, .instructions = 500, .deltas = { 1000, 500 } },
		{ .cycles = 2001, .instructions = 550, .thread = 1, .not_whole = true,
		  .deltas = { 2001, 550 } },
		{ .cycles = 2010, .instructions = 510, .deltas = { 1010, 10 } },
		{ .cycles = 3001, .instructions = 560, .thread = 1, .deltas = { 1000, 10 } },
		/* A new thread has the TID of one that is gone. */
		{ .cycles = 1001, .instructions = 7, .thread = 1, .exit = true,
		  .deltas = { 1001, 7 } },
		/* A count that goes backwards. */
		{ .cycles = 3010, .instructions = 500, .not_whole = true,
		  .deltas = { 1000, -10ULL } },
	};
	struct fixture f;
	int ret;

	if (fixture__init(&f))
		return TEST_FAIL;
	/* Each thread has counts of its own. The second one began in an earlier file. */
	f.cycles->core.attr.inherit = 1;
	f.cycles->core.attr.sample_type |= PERF_SAMPLE_TID;
	ret = run_steps(&f, steps, ARRAY_SIZE(steps));
	group_tracker__exit_thread(f.tracker, 10);
	group_tracker__exit_thread(f.tracker, 11);
	/* A thread without a sample. */
	group_tracker__exit_thread(f.tracker, 12);
	ret = ret ?: check_nr_threads(&f) ?: check_running_time(&f);
	fixture__exit(&f);
	return ret;
}

/* Check samples of files that are damaged, or made by hand. */
static int check_files(struct fixture *f)
{
	struct evsel *branches = evsel__next(f->instructions);
	u64 values[3][3] = { { 1000, CYCLES_ID }, { 500, INSTRUCTIONS_ID }, { 50, BRANCHES_ID } };
	struct perf_sample sample = { .evsel = f->cycles, .tid = 10, .period = 1000, };
	struct group_sample gs;

	TEST_ASSERT_VAL("no branches", branches);
	TEST_ASSERT_EQUAL("no memory", perf_evsel__alloc_id(&branches->core, 1, 1), 0);
	perf_evlist__id_add(evlist__core(f->evlist), &branches->core, 0, 0, BRANCHES_ID);

	TEST_ASSERT_EQUAL("no counts", group_tracker__add(f->tracker, &sample, f->threads[0],
							  &gs), 0);
	TEST_ASSERT_VAL("no counts", !gs.counts);

	/* The group has more members than its leader said at first. */
	sample.read.group.values = (void *)values;
	f->cycles->core.nr_members = 2;
	for (int nr = 2; nr <= 3; nr++) {
		sample.read.group.nr = nr;
		TEST_ASSERT_EQUAL("grown", group_tracker__add(f->tracker, &sample, f->threads[0],
							      &gs), 0);
		TEST_ASSERT_EQUAL("grown", gs.nr_counts, 2);
		f->cycles->core.nr_members = 3;
		values[0][0] += 1000;
		values[1][0] += 500;
	}
	TEST_ASSERT_VAL("grown", gs.whole && gs.counts[1] == 500);

	/* A count of an unknown event, and one that is missing. */
	values[1][1] = BRANCHES_ID + 1;
	TEST_ASSERT_EQUAL("unknown", group_tracker__add(f->tracker, &sample, f->threads[0],
							&gs), 0);
	TEST_ASSERT_VAL("unknown", gs.counts && !gs.whole);

	/* A count of one event is no pointer to those of a group. */
	f->cycles->core.attr.read_format &= ~PERF_FORMAT_GROUP;
	sample.read.group.values = (void *)1;
	TEST_ASSERT_EQUAL("one count", group_tracker__add(f->tracker, &sample, f->threads[0],
							  &gs), 0);
	TEST_ASSERT_VAL("one count", !gs.counts);

	/* The event that samples is none of the members. */
	f->cycles->core.attr.sample_period = 0;
	branches->core.attr.sample_period = 1000;
	f->cycles->core.nr_members = 2;
	TEST_ASSERT_VAL("not a member", !evsel__reads_group(branches));
	return TEST_OK;
}

static int test__fnstat_files(struct test_suite *test __maybe_unused,
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

static bool is_close(double a, double b, double relative)
{
	pr_debug("%g, expected %g\n", a, b);
	return fabs(a - b) <= relative * fabs(b);
}

/* Make a group of events. @sampled: All of them have samples. */
static struct fnstat_group *new_group(struct fixture *f, bool sampled, const char *metrics)
{
	struct fnstat_group *group;
	char *names = strdup(metrics), *name, *tmp;

	group = names ? fnstat_group__new(f->cycles) : NULL;
	for (name = names ? strtok_r(names, ",", &tmp) : NULL; name && group;
	     name = strtok_r(NULL, ",", &tmp)) {
		if (fnstat_group__add_metric(group, name)) {
			fnstat_group__delete(group);
			group = NULL;
		}
	}
	free(names);
	for (unsigned int i = 1; group && sampled && i < group->nr_counts; i++)
		group->samplers[i] = f->instructions;
	return group;
}

/* Add @nr samples of an entry. */
static void add_samples(struct fnstat_stats *stats, struct fnstat_group *group, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		fnstat_stats__add_sample(stats, 1000, /*earlier=*/0);
		fnstat_stats__add_sample(&group->all, 1000, /*earlier=*/0);
	}
}

/* Add a branch stack to each of @nr samples of an entry. */
static int add_stacks(struct fnstat_stats *stats, struct fnstat_group *group, unsigned int nr,
		      double cycles, double insns)
{
	group->branches = true;
	add_samples(stats, group, nr);
	for (unsigned int i = 0; i < nr; i++) {
		TEST_ASSERT_EQUAL("no memory",
				  fnstat_stats__add_branches(stats, group, cycles, insns), 0);
		TEST_ASSERT_EQUAL("no memory",
				  fnstat_stats__add_branches(&group->all, group, cycles, insns), 0);
	}
	return TEST_OK;
}

/* Make the counts those of the entries, as is done before they are collapsed. */
static void correct(struct fnstat_group *group, struct fnstat_stats *stats, unsigned int nr)
{
	struct fnstat_stats *entries[nr];

	for (unsigned int i = 0; i < nr; i++) {
		entries[i] = &stats[i];
		fnstat_stats__correct(&stats[i], group);
	}
	fnstat_stats__correct(&group->all, group);
	fnstat_group__calibrate(group, entries, nr);
}

static void delete_group(struct fnstat_group *group, struct fnstat_stats *stats, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		fnstat_stats__exit(&stats[i]);
	fnstat_group__delete(group);
}

/* Samples alone, and pooled with branch stacks. */
static int check_samples(struct fixture *f)
{
	/*
	 * An interval up to 28 % above is the widest without a mark: that of 58.4 samples. If
	 * it contains half of the value, its upper end is all that it tells.
	 */
	static const struct {
		double			nr;
		enum fnstat_quality	quality;
	} marks[] = {
		{ 59, FNSTAT_ESTIMATE_GOOD },
		{ 57, FNSTAT_ESTIMATE_POOR },
		{ 14, FNSTAT_ESTIMATE_POOR },
		{ 4, FNSTAT_ESTIMATE_BOUND },
	};
	struct fnstat_samples samples[4] = {};
	struct fnstat_stats stats = {}, none = {};
	struct fnstat_entry entry = { .stats = &stats, .samples = samples };
	struct fnstat_entry no_stacks = { .stats = &none, .samples = samples };
	struct fnstat_group *group = new_group(f, /*sampled=*/true,
					       "cpi,ipc,instructions-share,branch-mpki");
	struct fnstat_estimate estimate;
	const double time = 1 / 400. - 1 / 800.;
	double stacks, sampled, part, rate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("stacks", add_stacks(&stats, group, 400, 100, 50), 0);
	add_samples(&none, group, 400);
	group->totals[0] = 800000;
	group->totals[1] = 400000;
	group->totals[3] = 8000;
	correct(group, &stats, 1);
	TEST_ASSERT_VAL("scaled", is_close(stats.sums[1], 400000, 0.000001) &&
			is_close(stats.sums[2], 200000, 0.000001) && stats.nr_used == 400);

	/* The rate of stacks is 0.5, that of samples 0.4, as 320 of 800 are here. */
	samples[1].share = 0.4;
	samples[1].all = 800;
	sampled = 0.6 / 320 + time;
	stacks = 0.015 * 0.015;
	part = sampled / (sampled + stacks);
	fnstat_stats__estimate(&entry, group, 1, &estimate);
	TEST_ASSERT_VAL("pooled", is_close(log(estimate.value),
					   part * log(0.5) + (1 - part) * log(0.4), 0.000001));
	TEST_ASSERT_VAL("error", is_close(log(estimate.high / estimate.value),
					  1.96 * sqrt(part * stacks), 0.001));
	/* Compared with a sampled event, stacks have the error of the time. */
	samples[3].share = 0.6;
	samples[3].all = 500;
	part = 0.6 / 320 / (0.6 / 320 + stacks + time);
	rate = 400000 * exp(part * log(0.5) + (1 - part) * log(0.4));
	fnstat_stats__estimate(&entry, group, 3, &estimate);
	TEST_ASSERT_VAL("misses", is_close(estimate.value, 1000 * 0.6 * 8000 / rate, 0.000001));
	sampled = 0.4 / 300 + part * part * (stacks + time) + pow(1 - part, 2) * 0.6 / 320;
	TEST_ASSERT_VAL("misses", is_close(log(estimate.high / estimate.value),
					   1.96 * sqrt(sampled), 0.001));
	/* Less than three samples have no logarithm. */
	samples[1].share = 2.9 / 800;
	fnstat_stats__estimate(&entry, group, 1, &estimate);
	TEST_ASSERT_VAL("stacks", is_close(estimate.value, 0.5, 0.000001));
	/* Without stacks. */
	samples[1].share = 0.4;
	sampled = 0.6 / 320 + time;
	fnstat_stats__estimate(&no_stacks, group, 1, &estimate);
	TEST_ASSERT_VAL("sampled", is_close(estimate.value, 0.4, 0.000001));
	TEST_ASSERT_VAL("error", is_close(log(estimate.high / estimate.value),
					  1.96 * sqrt(sampled), 0.001));
	TEST_ASSERT_EQUAL("good", fnstat_stats__estimate(&no_stacks, group, 2, &estimate),
			  FNSTAT_ESTIMATE_GOOD);
	TEST_ASSERT_VAL("share", is_close(estimate.value, 40, 0.000001));
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		samples[1].share = marks[i].nr / 800;
		TEST_ASSERT_EQUAL("mark", fnstat_stats__estimate(&no_stacks, group, 2, &estimate),
				  marks[i].quality);
	}
	/* Three samples have the upper end of the logarithm, and no lower one. */
	samples[1].share = 3 / 800.;
	fnstat_stats__estimate(&no_stacks, group, 1, &estimate);
	TEST_ASSERT_VAL("few", !estimate.low &&
			is_close(log(estimate.high / estimate.value),
				 1.96 * sqrt(1 / 3. - 1 / 800. + time), 0.001));
	/* Four of four samples do not tell that all are in the entry. */
	samples[1].share = 1;
	samples[1].all = 4;
	fnstat_stats__estimate(&no_stacks, group, 1, &estimate);
	TEST_ASSERT_VAL("all", is_close(log(estimate.high / estimate.value),
					1.96 * sqrt(1 / 20. + time), 0.001));
	samples[1].all = 800;
	/* An event without samples has an upper end. */
	samples[1].share = 0;
	TEST_ASSERT_EQUAL("none", fnstat_stats__estimate(&no_stacks, group, 1, &estimate),
			  FNSTAT_ESTIMATE_BOUND);
	TEST_ASSERT_VAL("none", !estimate.value && !estimate.low &&
			is_close(estimate.high, 3.689 * 500 / 400000, 0.000001));
	/* An end above the value of all entries is no bound. */
	group->metrics[1].total = estimate.high / 2;
	TEST_ASSERT_EQUAL("no bound", fnstat_stats__estimate(&no_stacks, group, 1, &estimate),
			  FNSTAT_ESTIMATE_USELESS);
	TEST_ASSERT_EQUAL("no CPI", fnstat_stats__estimate(&no_stacks, group, 0, &estimate),
			  FNSTAT_ESTIMATE_NONE);
	/* An event that never happened is known to be 0. */
	samples[1].all = 0;
	group->totals[1] = 0;
	group->metrics[1].total = 0;
	TEST_ASSERT_EQUAL("never", fnstat_stats__estimate(&no_stacks, group, 1, &estimate),
			  FNSTAT_ESTIMATE_GOOD);
	TEST_ASSERT_VAL("never", !estimate.value && !estimate.low && !estimate.high);
	delete_group(group, &stats, 1);
	return TEST_OK;
}

/* Check recordings that lack half of the samples of cycles, or of instructions. */
static int check_contradiction(struct fixture *f)
{
	struct fnstat_samples samples[] = { {}, { 0.4, 800 }, {}, {} };
	struct fnstat_stats stats = {};
	struct fnstat_entry entry = { .stats = &stats, .samples = samples };
	struct fnstat_group *group = new_group(f, /*sampled=*/true, "ipc,instructions-share");
	struct fnstat_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("stacks", add_stacks(&stats, group, 400, 100, 50), 0);
	group->totals[0] = 400000;
	group->totals[1] = 200000;
	fnstat_group__check_samples(group, 0, 330000, 400);
	fnstat_group__check_samples(group, 0, 470000, 400);
	/* The difference of few samples can be chance. */
	fnstat_group__check_samples(group, 1, 110000, 10);
	TEST_ASSERT_VAL("right", !group->contradicted);
	fnstat_group__check_samples(group, 1, 100000, 400);
	TEST_ASSERT_VAL("wrong", group->contradicted && group->contradiction == 50);
	group->contradicted = false;
	fnstat_group__check_samples(group, 0, 530000, 400);
	TEST_ASSERT_VAL("too much", group->contradicted);
	correct(group, &stats, 1);
	TEST_ASSERT_EQUAL("mark", fnstat_stats__estimate(&entry, group, 0, &estimate),
			  FNSTAT_ESTIMATE_POOR);
	TEST_ASSERT_VAL("stacks", is_close(estimate.value, 0.5, 0.000001));
	delete_group(group, &stats, 1);
	return TEST_OK;
}

/* Report for how long two instances of an event are stopped. */
static int check_throttled(struct fixture *f)
{
	static const struct {
		u32	type;
		u64	stream_id;
		u64	time;
		u64	stopped;
	} steps[] = {
		{ PERF_RECORD_THROTTLE, 1, 100, 0 },
		{ PERF_RECORD_THROTTLE, 2, 150, 0 },
		{ PERF_RECORD_UNTHROTTLE, 1, 400, 300 },
		{ PERF_RECORD_UNTHROTTLE, 2, 350, 200 },
		/* It began before the recording. */
		{ PERF_RECORD_UNTHROTTLE, 2, 500, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		const struct perf_record_throttle event = {
			.header.type = steps[i].type,
			.time = steps[i].time,
			.id = CYCLES_ID,
			.stream_id = steps[i].stream_id,
		};

		TEST_ASSERT_VAL("stopped",
				group_tracker__throttle(f->tracker, &event) == steps[i].stopped);
	}
	return TEST_OK;
}

/* All values have a mark if more than a tenth of the time has no samples. */
static int check_missing(struct fixture *f)
{
	struct fnstat_stats stats = {};
	struct fnstat_entry entry = { .stats = &stats };
	struct fnstat_group *group = new_group(f, /*sampled=*/false, "ipc");
	struct fnstat_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("stacks", add_stacks(&stats, group, 800, 100, 50), 0);
	group->totals[0] = 800000;
	group->totals[1] = 400000;
	correct(group, &stats, 1);
	group->missing.time = 1000;
	group->missing.throttled = 90;
	TEST_ASSERT_EQUAL("little", fnstat_stats__estimate(&entry, group, 0, &estimate),
			  FNSTAT_ESTIMATE_GOOD);
	group->missing.throttled = 110;
	TEST_ASSERT_VAL("throttled", is_close(fnstat_group__missing(group), 0.11, 0.000001));
	TEST_ASSERT_EQUAL("throttled", fnstat_stats__estimate(&entry, group, 0, &estimate),
			  FNSTAT_ESTIMATE_POOR);
	group->missing.throttled = 0;
	group->missing.lost = 0.11;
	TEST_ASSERT_EQUAL("lost", fnstat_stats__estimate(&entry, group, 0, &estimate),
			  FNSTAT_ESTIMATE_POOR);
	group->missing.lost = 0;
	/* Threads that each ran for at most 1000 cycles, and for 500 on average. */
	group->missing.nr_without_sample = 200;
	TEST_ASSERT_VAL("threads", is_close(fnstat_group__short_threads(group), 0.2, 0.000001));
	TEST_ASSERT_VAL("threads", is_close(fnstat_group__missing(group), 1 / 9., 0.000001));
	TEST_ASSERT_EQUAL("threads", fnstat_stats__estimate(&entry, group, 0, &estimate),
			  FNSTAT_ESTIMATE_POOR);
	delete_group(group, &stats, 1);
	return TEST_OK;
}

/* A clock of user space has no samples in the kernel, but counts it. */
static int check_clock(struct fixture *f)
{
	struct fnstat_stats stats = {};
	struct fnstat_group *group = new_group(f, /*sampled=*/false, "ipc");
	struct perf_event_attr attr = f->cycles->core.attr;

	TEST_ASSERT_VAL("no memory", group);
	add_samples(&stats, group, 400);
	f->cycles->core.attr.type = PERF_TYPE_SOFTWARE;
	f->cycles->core.attr.config = PERF_COUNT_SW_CPU_CLOCK;
	group->totals[0] = 800000;
	fnstat_group__check_samples(group, 0, 200000, 400);
	TEST_ASSERT_VAL("kernel", !group->contradicted && group->missing.kernel == 0.75);
	f->cycles->core.attr = attr;
	delete_group(group, &stats, 1);
	return TEST_OK;
}

static int check_time(struct fixture *f)
{
	struct fnstat_stats stats = {}, others = {};
	struct fnstat_estimate estimate;
	struct fnstat_group *group = new_group(f, /*sampled=*/false, "ipc");

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_VAL("no samples", !fnstat_stats__time(&stats, group, &estimate));
	add_samples(&stats, group, 50);
	add_samples(&others, group, 150);
	TEST_ASSERT_VAL("time", fnstat_stats__time(&stats, group, &estimate) &&
			is_close(estimate.value, 25, 0.000001));
	/* The interval of 50 of 200 is Wilson's. */
	TEST_ASSERT_VAL("low", is_close(estimate.low, 19.5083, 0.0001));
	TEST_ASSERT_VAL("high", is_close(estimate.high, 31.4341, 0.0001));
	fnstat_group__delete(group);
	return TEST_OK;
}

/* Check shares, and a metric that is bad below 1. */
static int check_values(struct fixture *f)
{
	struct fnstat_group *group = new_group(f, /*sampled=*/false,
					       "instructions-share,cpi,insn_per_cycle");
	struct fnstat_stats stats[2] = {};
	struct fnstat_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("no metric", fnstat_group__add_metric(group, "no-such-metric"), -ENOENT);
	group->totals[0] = 800000;
	group->totals[1] = 1000000;
	for (int i = 0; i < 2; i++)
		TEST_ASSERT_EQUAL("no memory", add_stacks(&stats[i], group, 400, 100,
							  i ? 200 : 50), 0);
	correct(group, stats, 2);
	for (int i = 0; i < 2; i++) {
		struct fnstat_entry entry = { .stats = &stats[i] };

		group->noise[1] = 0;
		fnstat_stats__estimate(&entry, group, 0, &estimate);
		TEST_ASSERT_VAL("share", is_close(estimate.value, i ? 80 : 20, 0.000001));
		/* One error is that of the share of time, half of 800 samples. */
		TEST_ASSERT_VAL("share", is_close(log(estimate.high / estimate.value),
						  1.96 * sqrt(1 / 800. + 0.015 * 0.015), 0.001));
		fnstat_stats__estimate(&entry, group, 2, &estimate);
		TEST_ASSERT_VAL("value", is_close(estimate.value, i ? 2 : 0.5, 0.000001));
		TEST_ASSERT_VAL("threshold", estimate.threshold ==
				(i ? METRIC_THRESHOLD_GOOD : METRIC_THRESHOLD_BAD));
		TEST_ASSERT_EQUAL("CPI", fnstat_stats__estimate(&entry, group, 1, &estimate),
				  FNSTAT_ESTIMATE_GOOD);
		TEST_ASSERT_VAL("no threshold", estimate.threshold == METRIC_THRESHOLD_UNKNOWN);
	}
	/* A share is at most 100 %. */
	group->totals[1] = 500000;
	stats[1].sums[2] *= 2;
	fnstat_stats__estimate(&(struct fnstat_entry){ .stats = &stats[1] }, group, 0, &estimate);
	TEST_ASSERT_VAL("not above all", estimate.low <= 100 && estimate.value == 100 &&
			estimate.high == 100);
	delete_group(group, stats, 2);
	return TEST_OK;
}

/* Two stacks are equal by chance: the noise comes from the stacks of others. */
static int check_noise(struct fixture *f)
{
	struct fnstat_group *group = new_group(f, /*sampled=*/false, "ipc");
	struct fnstat_stats stats[2] = {};
	struct fnstat_entry entry = { .stats = &stats[0] };
	struct fnstat_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("stacks", add_stacks(&stats[0], group, 1, 1000, 500), 0);
	group->totals[0] = 1000;
	group->totals[1] = 500;
	correct(group, stats, 1);
	/* One stack alone can have any count. */
	TEST_ASSERT_VAL("alone", is_close(group->noise[1], 500 * 500, 0.000001));
	delete_group(group, stats, 1);

	memset(stats, 0, sizeof(stats));
	group = new_group(f, /*sampled=*/false, "ipc");
	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("stacks", add_stacks(&stats[0], group, 2, 1000, 500), 0);
	TEST_ASSERT_EQUAL("stacks", add_stacks(&stats[1], group, 102, 1000, 400), 0);
	TEST_ASSERT_EQUAL("stacks", add_stacks(&stats[1], group, 102, 1000, 600), 0);
	group->totals[0] = 206000;
	group->totals[1] = 103000;
	correct(group, stats, 2);
	TEST_ASSERT_VAL("others", is_close(group->noise[1], 10000 * 204 / 204., 0.001));
	fnstat_stats__estimate(&entry, group, 0, &estimate);
	/* The noise of two stacks, and as much as of one more. */
	TEST_ASSERT_VAL("noise", is_close(log(estimate.high / estimate.value),
					  1.96 * sqrt(0.01 + 0.015 * 0.015), 0.001));
	delete_group(group, stats, 2);
	return TEST_OK;
}

/* Late samples are not used where stacks have the event, and uncertain where they do not. */
static int check_late(struct fixture *f)
{
	struct fnstat_samples samples[] = { {}, { 0.4, 800 }, {}, {} };
	struct fnstat_stats stats = {}, others = {};
	struct fnstat_entry entry = { .stats = &stats, .samples = samples };
	struct fnstat_group *group = new_group(f, /*sampled=*/true, "ipc");
	struct fnstat_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	add_samples(&stats, group, 400);
	add_samples(&others, group, 400);
	group->totals[0] = 800000;
	group->totals[1] = 400000;
	fnstat_group__check_exact(group, 1, 0.9);
	TEST_ASSERT_VAL("exact", group->samplers[1] && !group->late[1]);
	/* Some are not enough. */
	fnstat_group__check_exact(group, 1, 0.5);
	TEST_ASSERT_VAL("late", group->samplers[1] && group->late[1]);
	correct(group, &stats, 1);
	TEST_ASSERT_EQUAL("mark", fnstat_stats__estimate(&entry, group, 0, &estimate),
			  FNSTAT_ESTIMATE_POOR);
	TEST_ASSERT_VAL("late", is_close(log(estimate.high / estimate.value),
					 1.96 * sqrt(1 / 400. - 1 / 800. + 0.6 / 320 + 0.04),
					 0.001));
	group->branches = true;
	fnstat_group__check_exact(group, 1, 0.5);
	TEST_ASSERT_VAL("stacks", !group->samplers[1]);
	delete_group(group, &stats, 1);
	return TEST_OK;
}

static int check_z(void)
{
	const struct fnstat_estimate a = { .value = 2, .low = 1.8, .high = 2.2 };
	const struct fnstat_estimate b = { .value = 4, .low = 3.6, .high = 4.4 };
	const struct fnstat_estimate c = { .value = -1, .low = -3, .high = 1 };
	struct fnstat_estimate biased[] = { a, b };
	double error = log(2.2 / 1.8) / 2 / 1.959964;

	TEST_ASSERT_VAL("z", is_close(fnstat_estimate__z(&a, &b, true), log(2) / sqrt(2) / error,
				      0.000001));
	TEST_ASSERT_VAL("z", is_close(fnstat_estimate__z(&b, &a, true), -log(2) / sqrt(2) / error,
				      0.000001));
	TEST_ASSERT_VAL("negative", is_close(fnstat_estimate__z(&a, &c, true),
					     -3 / sqrt(2 * 2 + 0.2 * 0.2) * 1.959964, 0.000001));
	/* A bias is in both, or in one. */
	biased[0].bias = 0.03 * biased[0].value;
	biased[1].bias = 0.03 * biased[1].value;
	TEST_ASSERT_VAL("bias", is_close(fnstat_estimate__z(&biased[0], &biased[1], true),
					 log(2) / sqrt(2 * (error * error - 0.03 * 0.03)),
					 0.000001));
	TEST_ASSERT_VAL("other bias", is_close(fnstat_estimate__z(&biased[0], &biased[1], false),
					       log(2) / sqrt(2) / error, 0.000001));
	biased[1].bias = 0;
	TEST_ASSERT_VAL("bias", is_close(fnstat_estimate__z(&biased[0], &biased[1], true),
					 log(2) / sqrt(2) / error, 0.000001));
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
		{ "instructions-share", 25 }, { "branch-miss-share", 0.5 },
		/* This one is in percent, as in perf stat. */
		{ "branch_miss_rate", 5 },
	};
	struct fnstat_group *group = fnstat_group__new(f->cycles);
	char *names;

	TEST_ASSERT_VAL("no memory", group);
	group->totals[1] = 2000;
	group->totals[3] = 1000;
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		TEST_ASSERT_EQUAL(metrics[i].name,
				  fnstat_group__add_metric(group, metrics[i].name), 0);
		TEST_ASSERT_VAL(metrics[i].name, group->metrics[i].available);
		TEST_ASSERT_VAL(metrics[i].name,
				is_close(fnstat_metric__compute(&group->metrics[i], group, counts),
					 metrics[i].value, 0.000001));
	}
	TEST_ASSERT_EQUAL("missing", fnstat_group__add_metric(group, "cache-miss-share"), 0);
	TEST_ASSERT_VAL("missing", !group->metrics[ARRAY_SIZE(metrics)].available);
	fnstat_group__delete(group);

	/* An event that counts elsewhere has no ratio to the one that samples. */
	for (int i = 0; i < 2; i++) {
		f->instructions->core.attr.exclude_kernel = i;
		f->instructions->core.attr.exclude_user = i;
		group = fnstat_group__new(f->cycles);
		TEST_ASSERT_VAL("no memory", group);
		TEST_ASSERT_EQUAL("ipc", fnstat_group__add_metric(group, "ipc"), 0);
		TEST_ASSERT_VAL("elsewhere", !group->metrics[0].available);
		fnstat_group__delete(group);
	}
	f->instructions->core.attr.exclude_user = 0;

	TEST_ASSERT_VAL("name", fnstat_event__has_name("cycles:u", "cycles", false) &&
			fnstat_event__has_name("cpu/cycles/", "cycles", false) &&
			!fnstat_event__has_name("cycles-x", "cycles", true));
	TEST_ASSERT_VAL("terms", fnstat_event__has_name("cpu/cycles,period=5/", "cycles", true) &&
			!fnstat_event__has_name("cpu/cycles,period=5/", "cycles", false));
	names = fnstat_metric__expand_groups("cpi-x,cpi,ipc,cpi", /*env=*/NULL);
	TEST_ASSERT_VAL("each once", names && !strcmp(names, "cpi-x,cpi,ipc"));
	free(names);
	return TEST_OK;
}

static int test__fnstat_metrics(struct test_suite *test __maybe_unused,
				int subtest __maybe_unused)
{
	struct fixture f;
	int ret;

	if (fixture__init_events(&f, "{cycles,instructions,branches,branch-misses}"))
		return TEST_FAIL;
	ret = check_names(&f);
	fixture__exit(&f);
	return ret;
}

static int test__fnstat_estimates(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	struct fixture f;
	int ret;

	if (fixture__init_events(&f, "{cycles,instructions,branches,branch-misses}"))
		return TEST_FAIL;
	ret = check_samples(&f) ?: check_contradiction(&f) ?: check_throttled(&f) ?:
	      check_missing(&f) ?: check_clock(&f) ?: check_time(&f) ?: check_values(&f) ?:
	      check_noise(&f) ?: check_late(&f) ?: check_z();
	fixture__exit(&f);
	return ret;
}

#define MAX_BRANCHES	32
#define BLOCK_INSNS	4

/* List the blocks of a stack, each of BLOCK_INSNS instructions of Arm, the last one first. */
static unsigned int read_stack(struct thread *thread, const unsigned int *cycles,
			       unsigned int nr_blocks, struct branch_block **blocks)
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

/* Check a stack whose blocks take @cycles, but block @at takes @other. */
static int check_stack(struct thread *thread, unsigned int nr_blocks, unsigned int cycles,
		       unsigned int at, unsigned int other, unsigned int nr_expected,
		       double scale, double other_scale)
{
	unsigned int all[MAX_BRANCHES], nr;
	struct branch_block *blocks;
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

/* A sample at the target of a mispredicted branch moves to the branch. */
static int check_moved(bool mispredicted, u64 ip, u64 expected)
{
	u64 data[2 + sizeof(struct branch_entry) / sizeof(u64)] = {};
	struct branch_stack *stack = (struct branch_stack *)data;
	struct perf_sample sample = { .branch_stack = stack, .ip = ip };

	stack->nr = 1;
	stack->entries[0].from = 0x100;
	stack->entries[0].to = 0x200;
	stack->entries[0].flags.mispred = mispredicted;
	perf_sample__move_to_branch(&sample);
	TEST_ASSERT_VAL("moved", sample.ip == expected);
	return TEST_OK;
}

static int test__fnstat_branches(struct test_suite *test __maybe_unused,
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
	/* Blocks count that ended in the last 400 cycles. */
	ret = check_stack(thread, 31, 20, 0, 20, 21, 1, 1) ?:
	      /* A stack that is shorter counts for more. */
	      check_stack(thread, 31, 5, 0, 5, 31, 400 / 150.0, 400 / 150.0) ?:
	      /* A slow block does not make itself count for less. */
	      check_stack(thread, 31, 5, 3, 300, 22, 1, 400 / 150.0) ?:
	      /* The counter can saturate: blocks before that are too old. */
	      check_stack(thread, 31, 5, 3, 0xffff, 3, 1, 0) ?:
	      /* A branch takes a cycle, though two can be in the same one. */
	      check_stack(thread, 15, 0, 0, 10, 15, 400 / 16.0, 400 / 16.0) ?:
	      /* Stacks with few branches, or without cycles, have no blocks. */
	      check_stack(thread, 6, 20, 0, 20, 0, 0, 0) ?:
	      check_stack(thread, 31, 0, 0, 0, 0, 0, 0);
	ret = ret ?: check_moved(true, 0x200, 0x100) ?: check_moved(false, 0x200, 0x200) ?:
		     check_moved(true, 0x204, 0x204);
	/* Instructions of variable length need the code. */
	thread__set_e_machine(thread, EM_X86_64);
	ret = ret ?: check_stack(thread, 31, 20, 0, 20, 0, 0, 0);
	thread__put(thread);
out:
	machine__delete(machine);
	perf_env__exit(&env);
	return ret;
}

/* A sample, and the window that it begins or ends. */
struct window_step {
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
	/* The counts include those of earlier files. */
	bool		earlier;
	unsigned int	problems;
	unsigned int	index;
	u64		weight;
	u64		deltas[2];
};

static int run_window_steps(struct fixture *f, const struct window_step *steps, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct window_step *s = &steps[i];
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
		const struct perf_record_throttle unthrottle = {
			.header.type = PERF_RECORD_UNTHROTTLE,
			.id = CYCLES_ID,
		};
		struct group_sample window;

		second[0] = s->instructions;
		second[1] = INSTRUCTIONS_ID;
		if (s->unthrottle)
			group_tracker__throttle(f->tracker, &unthrottle);
		if (s->lost_records)
			group_tracker__lost(f->tracker);
		if (s->exit)
			group_tracker__exit_thread(f->tracker, 10 + s->thread);
		TEST_ASSERT_EQUAL("group_tracker__add() failed",
				  group_tracker__add(f->tracker, &sample,
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
		TEST_ASSERT_EQUAL("whole", window.whole,
				  !(s->problems & WINDOW_BACKWARDS) && !s->earlier);
	}
	return TEST_OK;
}

static int test__window_rounds(struct test_suite *test __maybe_unused,
			       int subtest __maybe_unused)
{
	static const struct window_step steps[] = {
		/* Each round is a long interval and two windows. */
		{ .period = 1000, .cycles = 1003, .instructions = 500,
		  .begins = true, .weight = 1020, .deltas = { 1003, 500 } },
		{ .window = true, .period = 10, .cycles = 1015, .instructions = 506,
		  .ends = true, .index = 0, .deltas = { 12, 6 } },
		{ .window = true, .period = 10, .cycles = 1025, .instructions = 507,
		  .ends = true, .index = 1, .deltas = { 10, 1 } },
		/* This interval is shorter by the five cycles of the last overrun. */
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
		/* This window is too short. */
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
	ret = run_window_steps(&f, steps, ARRAY_SIZE(steps));
	fixture__exit(&f);
	return ret;
}

static int test__window_problems(struct test_suite *test __maybe_unused,
				 int subtest __maybe_unused)
{
	static const struct window_step steps[] = {
		{ .period = 1000, .cycles = 1000, .instructions = 500,
		  .begins = true, .weight = 1010, .deltas = { 1000, 500 } },
		{ .window = true, .period = 10, .cycles = 1010, .instructions = 505, .lost = 1,
		  .ends = true, .problems = WINDOW_LOST, .deltas = { 10, 5 } },
		{ .period = 1000, .cycles = 2010, .instructions = 1000, .lost = 1,
		  .begins = true, .weight = 1010, .deltas = { 1000, 495 } },
		/* Records of other events were lost, but none of this one. */
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
	ret = run_window_steps(&f, steps, ARRAY_SIZE(steps));
	fixture__exit(&f);
	return ret;
}

static int test__window_plain(struct test_suite *test __maybe_unused,
			      int subtest __maybe_unused)
{
	static const struct window_step steps[] = {
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
		  .begins = true, .weight = 1000, .ends = true,
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
		/* The counts are those of a CPU: another thread continues them. */
		{ .period = 1000, .cycles = 9400, .instructions = 4000, .thread = 1,
		  .begins = true, .weight = 1000, .ends = true, .problems = WINDOW_SPLIT,
		  .deltas = { 1000, 500 } },
	};
	struct fixture f;
	int ret;

	if (fixture__init(&f))
		return TEST_FAIL;
	f.cycles->core.attr.read_format &= ~PERF_FORMAT_LOST;
	ret = run_window_steps(&f, steps, ARRAY_SIZE(steps));
	fixture__exit(&f);
	return ret;
}

/* Let each thread have counts, rounds and windows of its own. */
static int fixture__init_threads(struct fixture *f)
{
	if (fixture__init(f))
		return -ENOMEM;
	f->cycles->core.attr.alt_sample_period = 10;
	f->cycles->core.attr.inherit = 1;
	f->cycles->core.attr.sample_type |= PERF_SAMPLE_TID;
	return 0;
}

static int test__window_threads(struct test_suite *test __maybe_unused,
				int subtest __maybe_unused)
{
	static const struct window_step steps[] = {
		/* Each thread has separate counts. */
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

	if (fixture__init_threads(&f))
		return TEST_FAIL;
	ret = run_window_steps(&f, steps, ARRAY_SIZE(steps));
	fixture__exit(&f);
	return ret;
}

static int test__window_parts(struct test_suite *test __maybe_unused,
			      int subtest __maybe_unused)
{
	static const struct window_step steps[] = {
		/* The threads began in an earlier file. */
		{ .period = 1000, .cycles = 50500, .instructions = 9000, .earlier = true,
		  .begins = true, .weight = 1010, .deltas = { 50500, 9000 } },
		{ .window = true, .period = 10, .cycles = 1010, .instructions = 501, .thread = 1,
		  .earlier = true, .deltas = { 1010, 501 } },
		{ .window = true, .period = 10, .cycles = 50510, .instructions = 9006,
		  .ends = true, .deltas = { 10, 6 } },
		{ .period = 1000, .cycles = 2012, .instructions = 1000, .thread = 1,
		  .begins = true, .weight = 1010, .deltas = { 1002, 499 } },
		/* This one begins in the file. */
		{ .period = 1000, .cycles = 1020, .instructions = 600, .thread = 1, .exit = true,
		  .begins = true, .weight = 1010, .deltas = { 1020, 600 } },
	};
	struct fixture f;
	int ret;

	if (fixture__init_threads(&f))
		return TEST_FAIL;
	ret = run_window_steps(&f, steps, ARRAY_SIZE(steps));
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
	struct group_sample window;

	f->instructions->core.attr = f->cycles->core.attr;
	for (int i = 0; i < 4; i++) {
		sample.evsel = i % 2 ? f->instructions : f->cycles;
		TEST_ASSERT_EQUAL("group_tracker__add() failed",
				  group_tracker__add(f->tracker, &sample, f->threads[0],
						     &window), 0);
		TEST_ASSERT_EQUAL("begins", window.begins, !(i % 2));
		TEST_ASSERT_EQUAL("ends", window.ends, (i == 2));
		values[0][0] += 500;
		values[1][0] += 250;
	}
	return TEST_OK;
}

/*
 * The second event samples, not the leader. The order of the values changes once. Finally,
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
	struct group_sample window;

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

		TEST_ASSERT_EQUAL("group_tracker__add() failed",
				  group_tracker__add(f->tracker, &sample, f->threads[i / 3],
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

/* Two PMUs have a group each, with different periods. Their samples come in turn. */
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
	struct group_sample window;

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
		TEST_ASSERT_EQUAL("group_tracker__add() failed",
				  group_tracker__add(f->tracker, &sample, f->threads[0],
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
	/* A sample with the ID of the other leader is no sample of this one. */
	values[0] = counts[0] + periods[0];
	values[1] = CYCLES_ID;
	sample.evsel = leaders[1];
	TEST_ASSERT_EQUAL("another's", group_tracker__add(f->tracker, &sample, f->threads[0],
							  &window), 0);
	TEST_ASSERT_VAL("another's", !window.begins && !window.ends);
	return TEST_OK;
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

/* Variance of the logarithm of a rate from windows, of which this part left their entry. */
static double bias(double left)
{
	return 0.2 * 0.2 * left * left;
}

/*
 * Add @nr rounds of two samples in an entry, and windows with these counts. @left: Each second
 * one begins elsewhere, and the others end there.
 */
static int add_windows(struct fnstat_stats *stats, struct fnstat_group *group, unsigned int nr,
		       const u64 *counts, bool left)
{
	struct fnstat_stats *all[] = { stats, &group->all };
	bool begins;

	for (unsigned int i = 0; i < nr; i++) {
		for (int j = 0; j < 2; j++) {
			fnstat_stats__add_sample(all[j], 500, /*earlier=*/0);
			fnstat_stats__add_sample(all[j], 500, /*earlier=*/1);
			begins = !left || all[j]->nr_windows % 2;
			fnstat_stats__count_window(all[j], left ? WINDOW_LEFT : 0, /*used=*/true);
			TEST_ASSERT_EQUAL("no memory",
					  fnstat_stats__add_counts(all[j], group, counts, 1,
								   begins, !left || !begins),
					  0);
		}
	}
	return TEST_OK;
}

/* Find and subtract what is not of the entries, as is done before they are collapsed. */
static int correct_windows(struct fnstat_group *group, struct fnstat_stats *stats,
			   unsigned int nr, double nr_interrupts)
{
	struct fnstat_stats *entries[nr];

	for (unsigned int i = 0; i < nr; i++)
		entries[i] = &stats[i];
	fnstat_group__find_costs(group, entries, nr, nr_interrupts);
	for (unsigned int i = 0; i < nr; i++)
		fnstat_stats__correct(&stats[i], group);
	fnstat_stats__correct(&group->all, group);
	fnstat_group__calibrate(group, entries, nr);
	return fnstat_group__subtract_others(group, entries, nr, /*nr_children=*/0);
}

/*
 * Find costs in two entries with half of the time each, CPI 1 and 2, and a branch for two
 * instructions. Windows of the second one, which stalls, are longer. Interrupts add 60 cycles,
 * and 3 branches.
 */
static int check_costs(struct fixture *f)
{
	const u64 counts[][4] = { { 160, 100, 53, 0 }, { 260, 100, 53, 0 }, { 140, 100, 53, 0 } };
	struct fnstat_group *group = new_group(f, /*sampled=*/false, "cpi,branch-miss-rate");
	struct fnstat_stats stats[2] = {}, few[20] = {}, sum = {};
	struct fnstat_entry entry = { .stats = &sum };
	struct fnstat_estimate estimate;
	double variance;

	TEST_ASSERT_VAL("no memory", group);
	for (int i = 0; i < 2; i++)
		TEST_ASSERT_EQUAL("no memory", add_windows(&stats[i], group, 10, counts[i],
							   /*left=*/false), 0);
	group->totals[0] = 20000 + 60 * 40;
	group->totals[1] = 15000;
	group->totals[2] = 7500 + 3 * 40;
	TEST_ASSERT_EQUAL("no memory", correct_windows(group, stats, 2, /*nr_interrupts=*/40), 0);
	TEST_ASSERT_VAL("cost", is_close(group->costs[0], 60, 0.000001) && !group->costs[1] &&
			is_close(group->costs[2], 3, 0.000001));
	TEST_ASSERT_VAL("totals", is_close(group->totals[0], 20000, 0.000001) &&
			group->totals[1] == 15000 && is_close(group->totals[2], 7500, 0.000001));
	/* Ten windows have 1000 or 2000 cycles, the entry 10000. */
	for (int i = 0; i < 2; i++) {
		double length = i ? 200 : 100, nr = 10000 / length, squares = nr * nr / 10;

		TEST_ASSERT_VAL("sums", is_close(stats[i].sums[0], nr, 0.000001) &&
				is_close(stats[i].sums[1], 10000, 0.000001) &&
				is_close(stats[i].sums[2], 100 * nr, 0.000001) &&
				is_close(stats[i].sums[3], 50 * nr, 0.000001));
		/* Windows and cycles, cycles and cycles, instructions, branches with both. */
		TEST_ASSERT_VAL("products", is_close(stats[i].sums[5], squares, 0.000001) &&
				is_close(stats[i].sums[6], length * squares, 0.000001) &&
				is_close(stats[i].sums[7], 10000000, 0.000001) &&
				is_close(stats[i].sums[9], length * 100 * squares, 0.000001) &&
				is_close(stats[i].sums[12], length * 50 * squares, 0.000001) &&
				is_close(stats[i].sums[13], 5000 * squares, 0.000001));
	}
	/* Together they have the mean of the rates. */
	for (int i = 0; i < 2; i++) {
		stats[i].left = i + 1;
		TEST_ASSERT_EQUAL("merge", fnstat_stats__merge(&sum, &stats[i], group), 0);
	}
	TEST_ASSERT_VAL("merged", sum.nr_used == 20 && sum.nr_windows == 20 && sum.left == 3 &&
			sum.weight == 20000 && sum.weight2 == 20 * 1000 * 1000);
	fnstat_stats__estimate(&entry, group, 0, &estimate);
	TEST_ASSERT_VAL("CPI", is_close(estimate.value, 2 / 1.5, 0.000001));
	TEST_ASSERT_VAL("its counts", is_close(estimate.dividend, 20000, 0.000001) &&
			is_close(estimate.divisor, 15000, 0.000001));
	/* Twenty windows differ from two instructions in three cycles by a third. */
	variance = 20 * pow(100 / 3., 2) / 2000 / 2000 / 0.95;
	TEST_ASSERT_VAL("common", is_close(group->common, variance, 0.000001));
	/* A window of 100 cycles is known within a sixth, or not at all. */
	TEST_ASSERT_VAL("known cost", fnstat_group__knows_cost(group));
	group->common += 1;
	TEST_ASSERT_VAL("unknown cost", !fnstat_group__knows_cost(group));
	group->length = 50;
	TEST_ASSERT_VAL("more than a window", !fnstat_group__knows_cost(group));
	group->length = 100;
	group->common -= 1;
	variance = pow(log(estimate.high / estimate.value) / 1.96, 2);
	group->common += 0.04;
	fnstat_stats__estimate(&entry, group, 0, &estimate);
	TEST_ASSERT_VAL("interval", is_close(pow(log(estimate.high / estimate.value) / 1.96, 2),
					     variance + 0.04, 0.01));
	fnstat_stats__exit(&sum);
	delete_group(group, stats, 2);

	/* Entries of one window each have the same cost as all of these in one entry. */
	group = new_group(f, /*sampled=*/false, "cpi");
	TEST_ASSERT_VAL("no memory", group);
	for (int i = 0; i < 20; i++)
		TEST_ASSERT_EQUAL("no memory", add_windows(&few[i], group, 1, counts[i & 1],
							   /*left=*/false), 0);
	group->totals[0] = 20000 + 60 * 40;
	group->totals[1] = 20000 / 1.5;
	TEST_ASSERT_EQUAL("no memory", correct_windows(group, few, 20, /*nr_interrupts=*/40), 0);
	TEST_ASSERT_VAL("cost of few", is_close(group->costs[0], 60, 0.000001));
	delete_group(group, few, 20);

	/* The kernel's part of the interrupt is not known, and no interrupt takes negative time. */
	for (int i = 0; i < 3; i++) {
		memset(stats, 0, sizeof(stats));
		f->cycles->core.attr.exclude_kernel = i != 0;
		f->instructions->core.attr.exclude_kernel = i != 0;
		group = new_group(f, /*sampled=*/false, "cpi");
		f->cycles->core.attr.exclude_kernel = 1;
		f->instructions->core.attr.exclude_kernel = 1;
		TEST_ASSERT_VAL("no memory", group);
		TEST_ASSERT_EQUAL("no memory", add_windows(stats, group, 10, counts[i ? 2 : 0],
							   /*left=*/false), 0);
		f->cycles->core.attr.exclude_kernel = i != 0;
		TEST_ASSERT_VAL("windows", fnstat_group__has_windows(group) == (i != 0));
		group->contradicted = i == 2;
		group->totals[0] = i == 1 ? 20000 : 10000;
		group->totals[1] = 10000;
		TEST_ASSERT_EQUAL("no memory", correct_windows(group, stats, 1,
							       /*nr_interrupts=*/20), 0);
		f->cycles->core.attr.exclude_kernel = 1;
		TEST_ASSERT_VAL("no cost", !group->costs[0] && !group->common &&
				!fnstat_group__knows_cost(group));
		delete_group(group, stats, 1);
	}
	return TEST_OK;
}

/* A window that ends elsewhere counts half in each entry, like the last of these two entries. */
static int check_left(struct fixture *f)
{
	const u64 counts[] = { 100, 50, 0, 0 };
	struct fnstat_group *group = new_group(f, /*sampled=*/false, "ipc");
	struct fnstat_stats stats[2] = {};
	struct fnstat_entry entry = { .stats = &stats[1] };
	struct fnstat_estimate estimate;
	double noise;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats[0], group, 10, counts, false), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats[1], group, 3, counts, false), 0);
	for (int i = 0; i < 2; i++) {
		TEST_ASSERT_EQUAL("no memory", fnstat_stats__add_counts(&stats[i], group, counts,
									0.5, /*begins=*/true,
									/*ends=*/false), 0);
		fnstat_stats__count_window(&stats[i], WINDOW_LEFT, i);
	}
	TEST_ASSERT_VAL("left", is_close(fnstat_stats__left(&stats[1]), 25, 0.000001) &&
			stats[0].nr_used == 10 && stats[1].nr_used == 4);
	TEST_ASSERT_VAL("sums", stats[1].left == 0.5 && stats[1].sums[0] == 3.5 &&
			stats[1].sums[2] == 175 && stats[1].sums[5] == 3.25 &&
			stats[1].sums[10] == 50 * 50 * 3.25);
	group->totals[0] = 13000;
	group->totals[1] = 6500;
	TEST_ASSERT_EQUAL("no memory", correct_windows(group, stats, 2, 0), 0);
	TEST_ASSERT_VAL("scaled", is_close(stats[1].left / stats[1].sums[0], 0.5 / 3.5, 0.000001));
	/* All windows are equal: only the bias of 3.77 windows remains. */
	fnstat_stats__estimate(&entry, group, 0, &estimate);
	noise = 3.5 * 3.5 / 3.25;
	noise = (0.5 / 3.5 * noise + 1) / (noise + 2);
	TEST_ASSERT_VAL("bias", is_close(log(estimate.high / estimate.value),
					 1.96 * sqrt(bias(noise)), 0.001));
	/* A window that is shorter than the cost is not used. */
	group->costs[0] = 100;
	fnstat_stats__correct(&stats[1], group);
	TEST_ASSERT_VAL("no time", !stats[1].sums);
	delete_group(group, stats, 2);
	return TEST_OK;
}

/* Samples are pooled with windows, but alone for rare events. */
static int check_pooled(struct fixture *f)
{
	const u64 counts[] = { 100, 50, 20, 30 };
	struct fnstat_samples samples[4] = {};
	struct fnstat_stats stats = {};
	struct fnstat_entry entry = { .stats = &stats, .samples = samples };
	struct fnstat_group *group = new_group(f, /*sampled=*/true,
					       "cpi,ipc,instructions-share,branch-mpki");
	struct fnstat_estimate estimate;
	const double time = 1 / 400. - 1 / 800.;
	double windows, sampled, part, rate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats, group, 400, counts, true), 0);
	for (int i = 0; i < 400; i++) {
		for (int j = 0; j < 2; j++)
			fnstat_stats__add_sample(&group->all, 500, j);
	}
	group->totals[0] = 800000;
	group->totals[1] = 400000;
	group->totals[3] = 8000;
	TEST_ASSERT_EQUAL("no memory", correct_windows(group, &stats, 1, 0), 0);

	/* The rate of windows is 0.5, that of samples 0.4, as 320 of 800 are here. */
	samples[1].share = 0.4;
	samples[1].all = 800;
	sampled = 0.6 / 320 + time;
	windows = bias(401 / 402.);
	part = sampled / (sampled + windows);
	fnstat_stats__estimate(&entry, group, 1, &estimate);
	TEST_ASSERT_VAL("pooled", is_close(log(estimate.value),
					   part * log(0.5) + (1 - part) * log(0.4), 0.000001));
	TEST_ASSERT_VAL("error", is_close(log(estimate.high / estimate.value),
					  1.96 * sqrt(part * windows), 0.001));
	/* Compared with a sampled event, windows have the error of the time. */
	samples[3].share = 0.6;
	samples[3].all = 500;
	part = 0.6 / 320 / (0.6 / 320 + windows + time);
	rate = 400000 * exp(part * log(0.5) + (1 - part) * log(0.4));
	fnstat_stats__estimate(&entry, group, 3, &estimate);
	TEST_ASSERT_VAL("misses", is_close(estimate.value, 1000 * 0.6 * 8000 / rate, 0.000001));
	sampled = 0.4 / 300 + part * part * (windows + time) + pow(1 - part, 2) * 0.6 / 320;
	TEST_ASSERT_VAL("misses", is_close(log(estimate.high / estimate.value),
					   1.96 * sqrt(sampled), 0.001));
	/* Less than three samples have no logarithm. */
	samples[1].share = 2.9 / 800;
	fnstat_stats__estimate(&entry, group, 1, &estimate);
	TEST_ASSERT_VAL("windows", is_close(estimate.value, 0.5, 0.000001));
	/* An interrupt adds four times what remains of a window, with an error of a twentieth. */
	group->costs[0] = 400;
	windows += pow(0.05 * 4, 2);
	fnstat_stats__estimate(&entry, group, 1, &estimate);
	TEST_ASSERT_VAL("cost", is_close(log(estimate.high / estimate.value),
					 1.96 * sqrt(windows), 0.001));
	delete_group(group, &stats, 1);
	return TEST_OK;
}

/* Windows of a group without instructions have half of the branches of the interrupts in them. */
static int check_differs(struct fixture *f)
{
	const u64 counts[] = { 100, 0, 40, 10 };
	struct fnstat_stats stats = {};
	struct fnstat_entry entry = { .stats = &stats };
	struct fnstat_estimate estimate;

	for (int i = 0; i < 2; i++) {
		struct fnstat_group *group = new_group(f, /*sampled=*/false, "branch_miss_rate");

		memset(&stats, 0, sizeof(stats));
		TEST_ASSERT_VAL("no memory", group);
		group->insns = -ENOENT;
		TEST_ASSERT_EQUAL("windows", add_windows(&stats, group, 400, counts, false), 0);
		group->totals[0] = 800000;
		group->totals[2] = 320000;
		group->totals[3] = i ? 40000 : 72000;
		TEST_ASSERT_EQUAL("no memory", correct_windows(group, &stats, 1, 800), 0);
		TEST_ASSERT_VAL("differs", group->differs == (i ? &group->metrics[0] : NULL));
		TEST_ASSERT_VAL("mean", !i || is_close(group->mean, 25, 0.000001));
		TEST_ASSERT_VAL("mark", (fnstat_stats__estimate(&entry, group, 0, &estimate) ==
					 FNSTAT_ESTIMATE_GOOD) == !i);
		delete_group(group, &stats, 1);
	}
	return TEST_OK;
}

/* All samples of a round in an entry count as one. */
static int check_rounds(struct fixture *f)
{
	struct fnstat_stats stats = {};
	struct fnstat_estimate estimate;
	struct fnstat_group *group = new_group(f, /*sampled=*/false, "ipc");

	TEST_ASSERT_VAL("no memory", group);
	for (int i = 0; i < 200; i++) {
		for (int j = 0; j < 4; j++) {
			fnstat_stats__add_sample(&group->all, 250, j);
			if (i % 4 == 0)
				fnstat_stats__add_sample(&stats, 250, j);
		}
	}
	TEST_ASSERT_VAL("time", fnstat_stats__time(&stats, group, &estimate) &&
			is_close(estimate.value, 25, 0.000001));
	/* The interval of 50 of 200 is Wilson's. */
	TEST_ASSERT_VAL("low", is_close(estimate.low, 19.5083, 0.0001));
	TEST_ASSERT_VAL("high", is_close(estimate.high, 31.4341, 0.0001));
	/* If each of 100 rounds has one sample there, the interval is narrower. */
	memset(&stats, 0, sizeof(stats));
	for (int i = 0; i < 100; i++)
		fnstat_stats__add_sample(&stats, 500, /*earlier=*/0);
	fnstat_stats__time(&stats, group, &estimate);
	TEST_ASSERT_VAL("high", is_close(estimate.value, 25, 0.000001) && estimate.high < 30);
	fnstat_group__delete(group);
	return TEST_OK;
}

/* A fraction has 255 steps: the instructions as one of cycles. */
static int check_fraction(struct fixture *f)
{
	const u64 counts[] = { 100, 50, 0, 0 };
	struct fnstat_group *group = new_group(f, /*sampled=*/false, "cpi");
	struct fnstat_stats stats = {};
	struct fnstat_entry entry = { .stats = &stats };
	struct fnstat_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	group->totals[0] = 400000;
	group->totals[1] = 200000;
	TEST_ASSERT_EQUAL("windows", add_windows(&stats, group, 400, counts, false), 0);
	TEST_ASSERT_EQUAL("no memory", correct_windows(group, &stats, 1, 0), 0);
	for (int i = 0; i < 2; i++) {
		double steps = i ? pow(2. / 255, 2) / 3 : 0;

		group->slots = 0;
		group->fractions[1] = i;
		group->noise[1] = 0;
		fnstat_stats__estimate(&entry, group, 0, &estimate);
		TEST_ASSERT_VAL("fraction", is_close(log(estimate.high / estimate.value),
						     1.96 * sqrt(steps + bias(1 / 402.)), 0.01));
	}
	delete_group(group, &stats, 1);
	return TEST_OK;
}

/*
 * All windows of the first entry, whose CPI is 5, leave it for the second one, whose CPI is 1: they
 * have 0.6 of their time in the entry that they are counted for.
 */
static int check_others(struct fixture *f)
{
	const u64 own[] = { 1000, 1000, 0, 1 }, slow[] = { 1000, 520, 0, 0 },
		  fast[] = { 1000, 680, 0, 1 };
	struct fnstat_group *group = new_group(f, /*sampled=*/false, "cpi");
	struct fnstat_stats stats[2] = {};
	struct fnstat_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats[0], group, 1000, slow, /*left=*/true), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats[1], group, 1000, fast, /*left=*/true), 0);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats[1], group, 4000, own, /*left=*/false), 0);
	for (int i = 0; i < 2; i++)
		TEST_ASSERT_EQUAL("no memory", fnstat_group__add_pair(group, &stats[i], &stats[!i],
								      2000), 0);
	group->totals[0] = 6000000;
	group->totals[1] = 5200000;
	group->totals[3] = 5000;
	TEST_ASSERT_EQUAL("no memory", correct_windows(group, stats, 2, 0), 0);
	/* The first one has no misses that could be of the second one. */
	TEST_ASSERT_VAL("sum", is_close(stats[0].sums[2] + stats[1].sums[2], 5200000, 0.000001) &&
			is_close(stats[0].sums[4] + stats[1].sums[4], 5000, 0.000001));
	for (int i = 0; i < 2; i++) {
		struct fnstat_entry entry = { .stats = &stats[i] };
		double change;

		fnstat_stats__estimate(&entry, group, 0, &estimate);
		TEST_ASSERT_VAL("CPI", is_close(estimate.value, i ? 1 : 5, 0.03));
		/* The change is part of the bias. */
		change = log(estimate.value * (i ? (4000 + 680) / 5000. : 0.52));
		TEST_ASSERT_VAL("bias", is_close(pow(estimate.bias / estimate.value, 2),
						 bias(i ? 0.2 : 1) + change * change, 0.01));
	}
	TEST_ASSERT_VAL("freed", !group->pairs && !group->nr_pairs);
	delete_group(group, stats, 2);
	return TEST_OK;
}

/*
 * Windows that end in an entry are longer than those that begin there, and have another rate. This
 * is more of the bias unless there are samples, which would show it.
 */
static int check_ends(struct fixture *f)
{
	const u64 counts[][4] = { { 110, 50, 0, 0 }, { 100, 55, 0, 0 } };
	const double ends = pow((0.55 - 50 / 110.) / 0.5 + 10 / 105., 2);
	struct fnstat_samples samples[] = { {}, { 0.5, 6 }, {}, {} };

	for (int sampled = 0; sampled < 2; sampled++) {
		struct fnstat_group *group = new_group(f, sampled, "cpi");
		double expected = sampled ? ends : bias(1) + ends, part = 1;
		struct fnstat_stats stats = {};
		struct fnstat_entry entry = { &stats, sampled ? samples : NULL };
		struct fnstat_estimate estimate;

		TEST_ASSERT_VAL("no memory", group);
		/* The first one of two ends there. */
		for (int i = 0; i < 10000; i++) {
			TEST_ASSERT_EQUAL("windows", add_windows(&stats, group, 1, counts[i % 2],
								 /*left=*/true), 0);
		}
		group->totals[0] = 10000000;
		group->totals[1] = 5000000;
		TEST_ASSERT_EQUAL("no memory", correct_windows(group, &stats, 1, 0), 0);
		fnstat_stats__estimate(&entry, group, 0, &estimate);
		/* Half of the samples are three. */
		if (sampled)
			part = (1 / 3. - 1 / 6.) / (1 / 3. - 1 / 6. + expected);
		TEST_ASSERT_VAL("ends", is_close(pow(estimate.bias / estimate.value, 2),
						 part * part * expected, 0.01));
		delete_group(group, &stats, 1);
	}
	return TEST_OK;
}

/* Late samples are not used where windows have the event. */
static int check_late_windows(struct fixture *f)
{
	const u64 counts[] = { 100, 50, 0, 0 };
	struct fnstat_samples samples[] = { {}, { 0.4, 800 }, {}, {} };
	struct fnstat_stats stats = {};
	struct fnstat_entry entry = { .stats = &stats, .samples = samples };
	struct fnstat_group *group = new_group(f, /*sampled=*/true, "ipc");
	struct fnstat_estimate estimate;

	TEST_ASSERT_VAL("no memory", group);
	TEST_ASSERT_EQUAL("windows", add_windows(&stats, group, 400, counts, false), 0);
	group->totals[0] = 800000;
	group->totals[1] = 400000;
	fnstat_group__check_exact(group, 1, 0.9);
	TEST_ASSERT_VAL("exact", group->samplers[1] && !group->late[1]);
	/* Some are not enough. */
	fnstat_group__check_exact(group, 1, 0.5);
	TEST_ASSERT_VAL("late", !group->samplers[1] && !group->late[1]);
	TEST_ASSERT_EQUAL("no memory", correct_windows(group, &stats, 1, 800), 0);
	fnstat_stats__estimate(&entry, group, 0, &estimate);
	TEST_ASSERT_VAL("windows", is_close(estimate.value, 0.5, 0.000001));
	delete_group(group, &stats, 1);
	return TEST_OK;
}

/* Windows alone hardly tell what they see one of, and say how often they have several. */
static int check_rare(struct fixture *f)
{
	for (int nr = 1; nr <= 4; nr += 3) {
		const u64 counts[] = { 100, 50, 0, nr };
		struct fnstat_stats stats = {};
		struct fnstat_entry entry = { .stats = &stats };
		struct fnstat_group *group = new_group(f, /*sampled=*/false, "branch-mpki");
		enum fnstat_quality expected = nr == 1 ? FNSTAT_ESTIMATE_POOR :
							 FNSTAT_ESTIMATE_GOOD;
		struct fnstat_estimate estimate;
		enum fnstat_quality quality;

		TEST_ASSERT_VAL("no memory", group);
		TEST_ASSERT_EQUAL("windows", add_windows(&stats, group, 400, counts, false), 0);
		group->totals[0] = 800000;
		group->totals[1] = 400000;
		group->totals[3] = 8000 * nr;
		TEST_ASSERT_EQUAL("no memory", correct_windows(group, &stats, 1, 800), 0);
		quality = fnstat_stats__estimate(&entry, group, 0, &estimate);
		TEST_ASSERT_EQUAL("mark", quality, expected);
		TEST_ASSERT_VAL("value", is_close(estimate.value, 20 * nr, 0.000001));
		TEST_ASSERT_VAL("rare", is_close(log(estimate.high / estimate.value),
						 1.96 * sqrt(2 * bias(1 / 402.) +
							     pow((0.3 + 2 / 402.) / (1 + nr), 2)),
						 0.001));
		delete_group(group, &stats, 1);
	}
	return TEST_OK;
}

static int test__window_estimates(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	struct fixture f;
	int ret;

	if (fixture__init_events(&f, "{cycles,instructions,branches,branch-misses}"))
		return TEST_FAIL;
	f.cycles->core.attr.alt_sample_period = 100;
	ret = check_costs(&f) ?: check_left(&f) ?: check_pooled(&f) ?: check_differs(&f) ?:
	      check_rounds(&f) ?: check_fraction(&f) ?: check_others(&f) ?:
	      check_ends(&f) ?: check_late_windows(&f) ?: check_rare(&f);
	fixture__exit(&f);
	return ret;
}

#define NR_FUNCTIONS	20

/* State of a random number generator with the same numbers in each run. */
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

/*
 * Make a recording of functions with a known rate of instructions, and of biased windows that
 * include costs.
 */
static int check_recording(struct fixture *f, int nr_rounds, double bias, unsigned int *nr,
			   unsigned int *nr_held)
{
	struct fnstat_samples samples[NR_FUNCTIONS][2] = {};
	struct fnstat_stats stats[NR_FUNCTIONS] = {};
	struct fnstat_entry entries[NR_FUNCTIONS];
	double rate[NR_FUNCTIONS], seen[NR_FUNCTIONS], time[NR_FUNCTIONS], sum = 0, insns = 0;
	struct fnstat_group *group = new_group(f, /*sampled=*/true, "ipc");

	TEST_ASSERT_VAL("no memory", group);
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
	group->totals[0] = (100000. + 40 * 3) * nr_rounds;
	group->totals[1] = 100000. * nr_rounds * insns / sum;
	for (int i = 0; i < nr_rounds; i++) {
		double t = random_unit() * sum, in = random_unit() * insns;
		u64 length = 200 + (int)(200 * random_unit()), counts[2];
		int func = 0, sampled = 0;

		while (func < NR_FUNCTIONS - 1 && t >= time[func])
			t -= time[func++];
		while (sampled < NR_FUNCTIONS - 1 && in >= time[sampled] * rate[sampled]) {
			in -= time[sampled] * rate[sampled];
			sampled++;
		}
		counts[0] = length + 40;
		counts[1] = max(seen[func] * length + 30 * random_normal(), 0.) + 0.5;
		TEST_ASSERT_EQUAL("window", add_windows(&stats[func], group, 1, counts, true), 0);
		samples[sampled][1].share += 1. / nr_rounds;
	}
	TEST_ASSERT_EQUAL("no memory", correct_windows(group, stats, NR_FUNCTIONS,
						       3. * nr_rounds), 0);
	for (int i = 0; i < NR_FUNCTIONS; i++)
		samples[i][1].all = nr_rounds;
	for (int i = 0; i < NR_FUNCTIONS; i++) {
		struct fnstat_estimate estimate;

		if (fnstat_stats__estimate(&entries[i], group, 0, &estimate) !=
		    FNSTAT_ESTIMATE_NONE) {
			++*nr;
			*nr_held += estimate.low <= rate[i] && rate[i] <= estimate.high;
		}
	}
	delete_group(group, stats, NR_FUNCTIONS);
	return TEST_OK;
}

static int test__window_intervals(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	static const int nr_rounds[] = { 500, 1000, 3000 };
	static const double bias[] = { 0.1, 0.2 };

	random_state = 1;
	for (size_t i = 0; i < ARRAY_SIZE(nr_rounds); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(bias); j++) {
			unsigned int nr = 0, held = 0;

			for (int k = 0; k < 60; k++) {
				struct fixture f;
				int ret;

				if (fixture__init(&f))
					return TEST_FAIL;
				f.cycles->core.attr.alt_sample_period = 100;
				ret = check_recording(&f, nr_rounds[i], bias[j], &nr, &held);
				fixture__exit(&f);
				if (ret)
					return ret;
			}
			pr_debug("%d rounds, bias %.2f: %u of %u intervals hold (%.3f)\n",
				 nr_rounds[i], bias[j], held, nr, (double)held / nr);
			TEST_ASSERT_VAL("hold", held >= 0.91 * nr);
		}
	}
	return TEST_OK;
}

static struct test_case tests__fnstat[] = {
	TEST_CASE("Counts of a group", fnstat_counts),
	TEST_CASE("Damaged files", fnstat_files),
	TEST_CASE("Names of events and metrics", fnstat_metrics),
	TEST_CASE("Estimates", fnstat_estimates),
	TEST_CASE("Branch stacks", fnstat_branches),
	TEST_CASE("Rounds of a long interval and windows", window_rounds),
	TEST_CASE("Windows with problems", window_problems),
	TEST_CASE("Plain periods as windows", window_plain),
	TEST_CASE("Windows of threads", window_threads),
	TEST_CASE("Windows of a part of a recording", window_parts),
	TEST_CASE("Two events that sample", window_samplers),
	TEST_CASE("Two groups", window_groups),
	TEST_CASE("Estimates of windows", window_estimates),
	TEST_CASE("Intervals", window_intervals),
	{ .name = NULL, }
};

struct test_suite suite__fnstat = {
	.desc = "Metrics of functions",
	.test_cases = tests__fnstat,
};
