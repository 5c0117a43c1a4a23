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

static void fixture__exit(struct fixture *f)
{
	group_tracker__delete(f->tracker);
	for (size_t i = 0; i < ARRAY_SIZE(f->threads); i++)
		thread__put(f->threads[i]);
	evlist__put(f->evlist);
}

static int fixture__set_id(struct fixture *f, struct evsel *evsel, u64 id)
{
	TEST_ASSERT_EQUAL("no memory", perf_evsel__alloc_id(&evsel->core, 1, 1), 0);
	perf_evlist__id_add(evlist__core(f->evlist), &evsel->core, 0, 0, id);
	return TEST_OK;
}

static int fixture__init(struct fixture *f, const char *events)
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
	for (size_t i = 0; i < ARRAY_SIZE(f->threads); i++) {
		f->threads[i] = thread__new(10, 10 + i);
		TEST_ASSERT_VAL("no memory", f->threads[i]);
	}
	f->tracker = group_tracker__new();
	TEST_ASSERT_VAL("no memory", f->tracker);
	return fixture__set_id(f, f->cycles, CYCLES_ID) ?:
	       fixture__set_id(f, f->instructions, INSTRUCTIONS_ID);
}

/* Let each thread have counts of its own. */
static void fixture__count_threads(struct fixture *f)
{
	f->cycles->core.attr.inherit = 1;
	f->cycles->core.attr.sample_type |= PERF_SAMPLE_TID;
}

static int run_check(int (*check)(struct fixture *f), const char *events)
{
	struct fixture f;
	int ret;

	if (fixture__init(&f, events))
		return TEST_FAIL;
	ret = check(&f);
	fixture__exit(&f);
	return ret;
}

/* Define a subtest that is a check with these events. */
#define FNSTAT_TEST(name, check, events)					\
static int test__##name(struct test_suite *test __maybe_unused,			\
			int subtest __maybe_unused)				\
{										\
	return run_check(check, events);					\
}

/* Add a sample with the counts of a group. */
static int add_sample(struct fixture *f, struct evsel *evsel, int thread, unsigned int nr,
		      u64 (*values)[3], struct group_sample *gs)
{
	struct perf_sample sample = {
		.evsel = evsel,
		.tid = 10,
		.period = evsel->core.attr.sample_period,
		.read.group = { .nr = nr, .values = (void *)values },
	};

	return group_tracker__add(f->tracker, &sample, f->threads[thread], gs);
}

/* A sample, and the expected result of the tracker. */
struct step {
	/* Cycles and instructions since the sample before. */
	s64		add[2];
	/* How long the events have not counted until now. */
	u64		not_running;
	int		thread;
	/* The thread ended before the sample, which is of another one with its TID. */
	bool		exit;
	/* Expected: a count went backwards, or the counts include those of earlier files. */
	bool		not_whole;

	/* With windows: the sample ends one, and the kernel marks it as split. */
	bool		window;
	bool		split;
	/* Number of samples that the event has lost until now. */
	u64		lost;
	/* Before the sample. */
	bool		unthrottle;
	bool		lost_records;
	/* Expected. */
	bool		begins;
	bool		ends;
	unsigned int	problems;
	unsigned int	index;
};

static int check_window(const struct step *s, const struct group_sample *gs, u64 period,
			u64 weight)
{
	TEST_ASSERT_EQUAL("begins", gs->begins, s->begins);
	TEST_ASSERT_EQUAL("ends", gs->ends, s->ends);
	TEST_ASSERT_VAL("weight", !s->begins || gs->weight == weight);
	if (s->ends) {
		TEST_ASSERT_EQUAL("problems", gs->problems, s->problems);
		TEST_ASSERT_EQUAL("index", gs->index, s->index);
		TEST_ASSERT_VAL("armed", gs->armed == period);
	}
	return TEST_OK;
}

/* Track samples. @weight: Expected for each round with windows. 0: do not check windows. */
static int run_steps(struct fixture *f, const struct step *steps, size_t nr, u64 weight)
{
	const struct perf_record_throttle unthrottle = {
		.header.type = PERF_RECORD_UNTHROTTLE,
		.id = CYCLES_ID,
	};
	const struct perf_event_attr *attr = &f->cycles->core.attr;
	/* What each thread, or the CPU, has counted until now. */
	u64 all[2][2] = {}, not_running[2] = {};

	for (const struct step *s = steps; s < steps + nr; s++) {
		int of = attr->inherit ? s->thread : 0;
		u64 values[6] = { 0, CYCLES_ID, s->lost };
		u64 *second = values + (attr->read_format & PERF_FORMAT_LOST ? 3 : 2);
		struct perf_sample sample = {
			.evsel = f->cycles,
			.tid = 10 + s->thread,
			.period = s->window ? 10 : 1000,
			.misc = (s->window ? PERF_RECORD_MISC_ALT_WINDOW : 0) |
				(s->split ? PERF_RECORD_MISC_ALT_SPLIT : 0),
			.read.group = { .nr = 2, .values = (void *)values },
		};
		struct group_sample gs;

		if (s->unthrottle)
			group_tracker__throttle(f->tracker, &unthrottle);
		if (s->lost_records)
			group_tracker__lost(f->tracker);
		if (s->exit) {
			group_tracker__exit_thread(f->tracker, 10 + s->thread);
			memset(all[of], 0, sizeof(all[of]));
			not_running[of] = 0;
		}
		values[0] = all[of][0] += s->add[0];
		second[0] = all[of][1] += s->add[1];
		second[1] = INSTRUCTIONS_ID;
		sample.read.time_running = values[0];
		sample.read.time_enabled = values[0] + s->not_running;
		TEST_ASSERT_EQUAL("group_tracker__add() failed",
				  group_tracker__add(f->tracker, &sample,
						     f->threads[s->thread], &gs), 0);
		pr_debug("step %zu: begins %d ends %d problems %#x index %u weight %llu whole %d counts %lld %lld time %llu\n",
			 s - steps, gs.begins, gs.ends, gs.problems, gs.index,
			 (unsigned long long)gs.weight, gs.whole, (long long)gs.counts[0],
			 (long long)gs.counts[1], (unsigned long long)gs.time);
		TEST_ASSERT_EQUAL("whole", gs.whole, !s->not_whole);
		TEST_ASSERT_VAL("counts", gs.counts[0] == (u64)s->add[0] &&
				gs.counts[1] == (u64)s->add[1]);
		/* The counts of a CPU have no first time. */
		if (attr->inherit && !s->not_whole) {
			TEST_ASSERT_VAL("time", gs.time == gs.counts[0]);
			TEST_ASSERT_VAL("enabled", gs.enabled == gs.time + s->not_running -
					not_running[of]);
		}
		if (weight && check_window(s, &gs, sample.period, weight))
			return TEST_FAIL;
		not_running[of] = s->not_running;
	}
	return TEST_OK;
}

static int check_counts(struct fixture *f)
{
	static const struct step steps[] = {
		{ .add = { 1000, 500 } },
		/* The second thread began in an earlier file. */
		{ .add = { 2001, 550 }, .thread = 1, .not_whole = true },
		{ .add = { 1010, 10 } },
		{ .add = { 1000, 10 }, .thread = 1 },
		/* A new thread has the TID of one that is gone. */
		{ .add = { 1001, 7 }, .thread = 1, .exit = true },
		/* A count that goes backwards. */
		{ .add = { 1000, -10 }, .not_whole = true },
		/* The events count for half of the time, and then for all of it. */
		{ .add = { 1000, 500 }, .exit = true, .not_running = 1000 },
		{ .add = { 1000, 0 }, .not_running = 1000 },
	};
	unsigned int ended, without_sample;

	fixture__count_threads(f);
	if (run_steps(f, steps, ARRAY_SIZE(steps), 0))
		return TEST_FAIL;
	/* The last one has no sample. */
	for (int tid = 10; tid <= 12; tid++)
		group_tracker__exit_thread(f->tracker, tid);
	group_tracker__nr_threads(f->tracker, &ended, &without_sample);
	TEST_ASSERT_VAL("threads", ended == 5 && without_sample == 1);
	return TEST_OK;
}

FNSTAT_TEST(fnstat_counts, check_counts, "{cycles,instructions}")

/* Check samples of files that are damaged, or made by hand. */
static int check_files(struct fixture *f)
{
	struct evsel *branches = evsel__next(f->instructions);
	u64 values[3][3] = { { 1000, CYCLES_ID }, { 500, INSTRUCTIONS_ID }, { 50, BRANCHES_ID } };
	struct group_sample gs;

	TEST_ASSERT_VAL("no branches", branches);
	TEST_ASSERT_EQUAL("ID", fixture__set_id(f, branches, BRANCHES_ID), 0);
	TEST_ASSERT_VAL("no counts", !add_sample(f, f->cycles, 0, 0, NULL, &gs) && !gs.counts);

	/* The group has more members than its leader said at first. */
	f->cycles->core.nr_members = 2;
	for (int nr = 2; nr <= 3; nr++) {
		TEST_ASSERT_VAL("grown", !add_sample(f, f->cycles, 0, nr, values, &gs) &&
				gs.nr_counts == 2);
		f->cycles->core.nr_members = 3;
		values[0][0] += 1000;
		values[1][0] += 500;
	}
	TEST_ASSERT_VAL("grown", gs.whole && gs.counts[1] == 500);

	/* A count of an unknown event, and one that is missing. */
	values[1][1] = BRANCHES_ID + 1;
	TEST_ASSERT_VAL("unknown", !add_sample(f, f->cycles, 0, 3, values, &gs) && gs.counts &&
			!gs.whole);

	/* A count of one event is no pointer to those of a group. */
	f->cycles->core.attr.read_format &= ~PERF_FORMAT_GROUP;
	TEST_ASSERT_VAL("one count", !add_sample(f, f->cycles, 0, 3, (void *)1, &gs) && !gs.counts);

	/* The event that samples is none of the members. */
	f->cycles->core.attr.sample_period = 0;
	branches->core.attr.sample_period = 1000;
	f->cycles->core.nr_members = 2;
	TEST_ASSERT_VAL("not a member", !evsel__reads_group(branches));
	return TEST_OK;
}

FNSTAT_TEST(fnstat_files, check_files, "{cycles,instructions,branches}")

static bool is_close(double a, double b, double relative)
{
	pr_debug("%g, expected %g\n", a, b);
	return fabs(a - b) <= relative * fabs(b);
}

#define MAX_ENTRIES	20

/*
 * A recording to be checked: entries, with samples that are those of each of them. Which one of
 * several checks is @variant. The last estimate is kept.
 */
struct recording {
	struct fnstat_group	*group;
	struct fnstat_stats	stats[MAX_ENTRIES];
	struct fnstat_samples	samples[4];
	bool			sampled;
	int			variant;
	bool			no_memory;
	struct fnstat_estimate	estimate;
};

/* A check of a recording. */
struct recording_check {
	int		(*check)(struct recording *r);
	/* Separated by commas. */
	const char	*metrics;
	/* All events have samples. */
	bool		sampled;
	int		variant;
};

static int recording__init(struct recording *r, struct fixture *f, const struct recording_check *c)
{
	char *names = strdup(c->metrics), *name, *tmp;
	int ret = 0;

	memset(r, 0, sizeof(*r));
	r->sampled = c->sampled;
	r->variant = c->variant;
	r->group = fnstat_group__new(f->cycles);
	TEST_ASSERT_VAL("no memory", names && r->group);
	for (name = strtok_r(names, ",", &tmp); name && !ret; name = strtok_r(NULL, ",", &tmp))
		ret = fnstat_group__add_metric(r->group, name);
	free(names);
	TEST_ASSERT_EQUAL("metrics", ret, 0);
	for (unsigned int i = 1; r->sampled && i < r->group->nr_counts; i++)
		r->group->samplers[i] = f->instructions;
	return TEST_OK;
}

static void recording__exit(struct recording *r)
{
	for (int i = 0; i < MAX_ENTRIES; i++)
		fnstat_stats__exit(&r->stats[i]);
	fnstat_group__delete(r->group);
}

static int run_checks(struct fixture *f, const struct recording_check *checks, size_t nr)
{
	int ret = TEST_OK;

	for (size_t i = 0; i < nr && ret == TEST_OK; i++) {
		struct recording r;

		ret = recording__init(&r, f, &checks[i]) ?: checks[i].check(&r);
		recording__exit(&r);
	}
	return ret;
}

static void set_totals(struct recording *r, double cycles, double insns, double misses)
{
	r->group->totals[0] = cycles;
	r->group->totals[1] = insns;
	r->group->totals[3] = misses;
}

/* Add @nr samples of an entry. */
static void add_samples(struct recording *r, int entry, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		fnstat_stats__add_sample(&r->stats[entry], 1000, /*earlier=*/0);
		fnstat_stats__add_sample(&r->group->all, 1000, /*earlier=*/0);
	}
}

/* Add @nr samples of an entry, each with a branch stack. */
static void add_stacks(struct recording *r, int entry, unsigned int nr, double cycles,
		       double insns)
{
	struct fnstat_stats *all[] = { &r->stats[entry], &r->group->all };

	r->group->branches = true;
	add_samples(r, entry, nr);
	for (unsigned int i = 0; i < 2 * nr; i++)
		r->no_memory |= fnstat_stats__add_branches(all[i % 2], r->group, cycles, insns);
}

/* Make the counts those of the first @nr entries, as is done before they are collapsed. */
static int correct(struct recording *r, unsigned int nr)
{
	struct fnstat_stats *entries[MAX_ENTRIES];

	TEST_ASSERT_VAL("no memory", !r->no_memory);
	for (unsigned int i = 0; i < nr; i++) {
		entries[i] = &r->stats[i];
		fnstat_stats__correct(entries[i], r->group);
	}
	fnstat_stats__correct(&r->group->all, r->group);
	fnstat_group__calibrate(r->group, entries, nr);
	return TEST_OK;
}

static enum fnstat_quality estimate(struct recording *r, int entry, unsigned int metric)
{
	const struct fnstat_entry e = { &r->stats[entry], r->sampled ? r->samples : NULL };

	return fnstat_stats__estimate(&e, r->group, metric, &r->estimate);
}

static bool has_value(struct recording *r, int entry, unsigned int metric, double value)
{
	estimate(r, entry, metric);
	return is_close(r->estimate.value, value, 0.000001);
}

/* Check for an upper end that is that of a logarithm with this variance. */
static bool has_variance(const struct recording *r, double variance)
{
	return is_close(log(r->estimate.high / r->estimate.value), 1.96 * sqrt(variance), 0.001);
}

static bool is_estimate(struct recording *r, int entry, unsigned int metric, double value,
			double variance)
{
	return has_value(r, entry, metric, value) && has_variance(r, variance);
}

/* The metrics of the recordings of check_samples() and check_pooled(). */
#define POOLED_METRICS	"cpi,ipc,instructions-share,branch-mpki"
enum { CPI, IPC, SHARE, MPKI };

/* Variance of the logarithm of the time of an entry with half of 800 samples. */
#define HALF_TIME	(1 / 400. - 1 / 800.)
/* That of 0.4 of 800 samples of instructions. */
#define FEWER_INSNS	(0.6 / 320)

/*
 * Check how samples are pooled with branch stacks or the like, whose rate has a logarithm with the
 * variance @others: it is 0.5 in the first entry, that of samples 0.4.
 */
static int check_pool(struct recording *r, double others)
{
	double part = (FEWER_INSNS + HALF_TIME) / (FEWER_INSNS + HALF_TIME + others);
	double rate = exp(part * log(0.5) + (1 - part) * log(0.4));

	r->samples[1] = (struct fnstat_samples){ .share = 0.4, .all = 800 };
	TEST_ASSERT_VAL("pooled", is_estimate(r, 0, IPC, rate, part * others));
	/* Compared with a sampled event, the others have the error of the time. */
	r->samples[3] = (struct fnstat_samples){ .share = 0.6, .all = 500 };
	part = FEWER_INSNS / (FEWER_INSNS + others + HALF_TIME);
	rate = exp(part * log(0.5) + (1 - part) * log(0.4));
	TEST_ASSERT_VAL("misses", is_estimate(r, 0, MPKI, 1000 * 0.6 * 8000 / 400000 / rate,
					      0.4 / 300 + part * part * (others + HALF_TIME) +
					      pow(1 - part, 2) * FEWER_INSNS));
	/* Less than three samples have no logarithm. */
	r->samples[1].share = 2.9 / 800;
	TEST_ASSERT_VAL("few samples", has_value(r, 0, IPC, 0.5));
	return TEST_OK;
}

/* Check samples alone, in the second of two entries, and with branch stacks, in the first one. */
static int check_samples(struct recording *r)
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
	const struct fnstat_estimate *e = &r->estimate;

	add_stacks(r, 0, 400, 100, 50);
	add_samples(r, 1, 400);
	set_totals(r, 800000, 400000, 8000);
	TEST_ASSERT_EQUAL("correct", correct(r, 1), 0);
	TEST_ASSERT_VAL("scaled", is_close(r->stats[0].sums[1], 400000, 0.000001) &&
			is_close(r->stats[0].sums[2], 200000, 0.000001) &&
			r->stats[0].nr_used == 400);
	TEST_ASSERT_EQUAL("pool", check_pool(r, 0.015 * 0.015), 0);

	r->samples[1].share = 0.4;
	TEST_ASSERT_VAL("sampled", is_estimate(r, 1, IPC, 0.4, FEWER_INSNS + HALF_TIME));
	TEST_ASSERT_VAL("share", has_value(r, 1, SHARE, 40));
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		r->samples[1].share = marks[i].nr / 800;
		TEST_ASSERT_EQUAL("mark", estimate(r, 1, SHARE), marks[i].quality);
	}
	/* Three samples have the upper end of the logarithm, and no lower one. */
	r->samples[1].share = 3 / 800.;
	estimate(r, 1, IPC);
	TEST_ASSERT_VAL("few", !e->low && has_variance(r, 1 / 3. - 1 / 800. + HALF_TIME));
	/* Four of four samples do not tell that all are in the entry. */
	r->samples[1] = (struct fnstat_samples){ .share = 1, .all = 4 };
	estimate(r, 1, IPC);
	TEST_ASSERT_VAL("all", has_variance(r, 1 / 20. + HALF_TIME));
	/* An event without samples has an upper end. */
	r->samples[1] = (struct fnstat_samples){ .share = 0, .all = 800 };
	TEST_ASSERT_EQUAL("none", estimate(r, 1, IPC), FNSTAT_ESTIMATE_BOUND);
	TEST_ASSERT_VAL("none", !e->value && !e->low &&
			is_close(e->high, 3.689 * 500 / 400000, 0.000001));
	/* An end above the value of all entries is no bound. */
	r->group->metrics[IPC].total = e->high / 2;
	TEST_ASSERT_EQUAL("no bound", estimate(r, 1, IPC), FNSTAT_ESTIMATE_USELESS);
	TEST_ASSERT_EQUAL("no CPI", estimate(r, 1, CPI), FNSTAT_ESTIMATE_NONE);
	/* An event that never happened is known to be 0. */
	r->samples[1].all = 0;
	r->group->totals[1] = 0;
	r->group->metrics[IPC].total = 0;
	TEST_ASSERT_EQUAL("never", estimate(r, 1, IPC), FNSTAT_ESTIMATE_GOOD);
	TEST_ASSERT_VAL("never", !e->value && !e->low && !e->high);
	return TEST_OK;
}

/* Check recordings that lack half of the samples of cycles, or of instructions. */
static int check_contradiction(struct recording *r)
{
	static const struct {
		unsigned int	event;
		double		weight;
		double		nr;
		/* Of the count in percent, or 0 if it is as expected. */
		double		contradiction;
	} samples[] = {
		{ 0, 330000, 400, 0 },
		{ 0, 470000, 400, 0 },
		/* The difference of few samples can be chance. */
		{ 1, 110000, 10, 0 },
		{ 1, 100000, 400, 50 },
		{ 0, 530000, 400, 132.5 },
	};

	add_stacks(r, 0, 400, 100, 50);
	set_totals(r, 400000, 200000, 0);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		r->group->contradicted = false;
		fnstat_group__check_samples(r->group, samples[i].event, samples[i].weight,
					    samples[i].nr);
		TEST_ASSERT_VAL("contradicted", r->group->contradicted ?
				r->group->contradiction == samples[i].contradiction :
				!samples[i].contradiction);
	}
	r->samples[1] = (struct fnstat_samples){ .share = 0.4, .all = 800 };
	TEST_ASSERT_EQUAL("correct", correct(r, 1), 0);
	TEST_ASSERT_EQUAL("mark", estimate(r, 0, 0), FNSTAT_ESTIMATE_POOR);
	TEST_ASSERT_VAL("stacks", has_value(r, 0, 0, 0.5));
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
			.stream_id = steps[i].stream_id,
		};
		u64 stopped = group_tracker__throttle(f->tracker, &event);

		TEST_ASSERT_VAL("stopped", stopped == steps[i].stopped);
	}
	return TEST_OK;
}

/* Check that all values have a mark if more than a tenth of the time has no samples. */
static int check_missing(struct recording *r)
{
	static const struct {
		struct fnstat_missing	missing;
		double			part;
	} cases[] = {
		{ { .time = 1000, .throttled = 90 }, 0.09 },
		{ { .time = 1000, .throttled = 110 }, 0.11 },
		{ { .lost = 0.11 }, 0.11 },
		/* Threads that each ran for at most 1000 cycles, and for 500 on average. */
		{ { .nr_without_sample = 200 }, 1 / 9. },
	};

	add_stacks(r, 0, 800, 100, 50);
	set_totals(r, 800000, 400000, 0);
	TEST_ASSERT_EQUAL("correct", correct(r, 1), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		r->group->missing = cases[i].missing;
		TEST_ASSERT_VAL("part", is_close(fnstat_group__missing(r->group), cases[i].part,
						 0.000001));
		TEST_ASSERT_VAL("mark", (estimate(r, 0, 0) == FNSTAT_ESTIMATE_GOOD) ==
				(cases[i].part <= 0.1));
	}
	TEST_ASSERT_VAL("threads", is_close(fnstat_group__short_threads(r->group), 0.2, 0.000001));
	return TEST_OK;
}

/* Check a clock of user space: it has no samples in the kernel, but counts it. */
static int check_clock(struct recording *r)
{
	struct perf_event_attr *attr = &r->group->sampler->core.attr, old = *attr;

	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_CPU_CLOCK;
	r->group->totals[0] = 800000;
	fnstat_group__check_samples(r->group, 0, 200000, 400);
	*attr = old;
	TEST_ASSERT_VAL("kernel", !r->group->contradicted && r->group->missing.kernel == 0.75);
	return TEST_OK;
}

/* Check the time of the first entry: the interval of 50 of 200 samples is Wilson's. */
static int check_quarter(struct recording *r)
{
	struct fnstat_estimate *e = &r->estimate;

	TEST_ASSERT_VAL("time", fnstat_stats__time(&r->stats[0], r->group, e));
	TEST_ASSERT_VAL("time", is_close(e->value, 25, 0.000001) &&
			is_close(e->low, 19.5083, 0.0001) && is_close(e->high, 31.4341, 0.0001));
	return TEST_OK;
}

static int check_time(struct recording *r)
{
	TEST_ASSERT_VAL("no samples", !fnstat_stats__time(&r->stats[0], r->group, &r->estimate));
	add_samples(r, 0, 50);
	add_samples(r, 1, 150);
	return check_quarter(r);
}

/* Check shares, and a metric that is bad below 1. */
static int check_values(struct recording *r)
{
	static const struct {
		double				insns;
		double				share;
		double				ipc;
		enum metric_threshold_classify	threshold;
	} entries[] = {
		{ 50, 20, 0.5, METRIC_THRESHOLD_BAD },
		{ 200, 80, 2, METRIC_THRESHOLD_GOOD },
	};
	const struct fnstat_estimate *e = &r->estimate;

	TEST_ASSERT_EQUAL("unknown", fnstat_group__add_metric(r->group, "no-such-metric"), -ENOENT);
	set_totals(r, 800000, 1000000, 0);
	for (int i = 0; i < 2; i++)
		add_stacks(r, i, 400, 100, entries[i].insns);
	TEST_ASSERT_EQUAL("correct", correct(r, 2), 0);
	r->group->noise[1] = 0;
	for (int i = 0; i < 2; i++) {
		/* One error is that of the share of time, half of 800 samples. */
		TEST_ASSERT_VAL("share", is_estimate(r, i, 0, entries[i].share,
						     1 / 800. + 0.015 * 0.015));
		TEST_ASSERT_VAL("value", has_value(r, i, 2, entries[i].ipc));
		TEST_ASSERT_VAL("threshold", e->threshold == entries[i].threshold);
		TEST_ASSERT_EQUAL("CPI", estimate(r, i, 1), FNSTAT_ESTIMATE_GOOD);
		TEST_ASSERT_VAL("no threshold", e->threshold == METRIC_THRESHOLD_UNKNOWN);
	}
	/* A share is at most 100 %. */
	r->group->totals[1] = 500000;
	r->stats[1].sums[2] *= 2;
	estimate(r, 1, 0);
	TEST_ASSERT_VAL("not above all", e->low <= 100 && e->value == 100 && e->high == 100);
	return TEST_OK;
}

/* Check that one stack alone can have any count. */
static int check_one_stack(struct recording *r)
{
	add_stacks(r, 0, 1, 1000, 500);
	set_totals(r, 1000, 500, 0);
	TEST_ASSERT_EQUAL("correct", correct(r, 1), 0);
	TEST_ASSERT_VAL("alone", is_close(r->group->noise[1], 500 * 500, 0.000001));
	return TEST_OK;
}

/* Check two stacks that are equal by chance: the noise comes from the stacks of others. */
static int check_noise(struct recording *r)
{
	add_stacks(r, 0, 2, 1000, 500);
	add_stacks(r, 1, 102, 1000, 400);
	add_stacks(r, 1, 102, 1000, 600);
	set_totals(r, 206000, 103000, 0);
	TEST_ASSERT_EQUAL("correct", correct(r, 2), 0);
	TEST_ASSERT_VAL("others", is_close(r->group->noise[1], 10000, 0.001));
	/* The noise of two stacks, and as much as of one more. */
	TEST_ASSERT_VAL("noise", is_estimate(r, 0, 0, 0.5, 0.01 + 0.015 * 0.015));
	return TEST_OK;
}

/* Check that late samples are not used where stacks have the event, and else are uncertain. */
static int check_late(struct recording *r)
{
	r->samples[1] = (struct fnstat_samples){ .share = 0.4, .all = 800 };
	add_samples(r, 0, 400);
	add_samples(r, 1, 400);
	set_totals(r, 800000, 400000, 0);
	fnstat_group__check_exact(r->group, 1, 0.9);
	TEST_ASSERT_VAL("exact", r->group->samplers[1] && !r->group->late[1]);
	/* Some are not enough. */
	fnstat_group__check_exact(r->group, 1, 0.5);
	TEST_ASSERT_VAL("late", r->group->samplers[1] && r->group->late[1]);
	TEST_ASSERT_EQUAL("correct", correct(r, 1), 0);
	TEST_ASSERT_EQUAL("mark", estimate(r, 0, 0), FNSTAT_ESTIMATE_POOR);
	TEST_ASSERT_VAL("late", has_variance(r, HALF_TIME + FEWER_INSNS + 0.04));
	r->group->branches = true;
	fnstat_group__check_exact(r->group, 1, 0.5);
	TEST_ASSERT_VAL("stacks", !r->group->samplers[1]);
	return TEST_OK;
}

static int check_z(void)
{
	const double error = log(2.2 / 1.8) / 2 / 1.959964, bias = 0.03;
	const double z = log(2) / sqrt(2) / error;
	const double unbiased = log(2) / sqrt(2 * (error * error - bias * bias));
	const struct fnstat_estimate a = { .value = 2, .low = 1.8, .high = 2.2 };
	const struct fnstat_estimate b = { .value = 4, .low = 3.6, .high = 4.4 };
	const struct fnstat_estimate negative = { .value = -1, .low = -3, .high = 1 };
	const struct fnstat_estimate biased_a = { 2, 1.8, 2.2, .bias = 2 * bias };
	const struct fnstat_estimate biased_b = { 4, 3.6, 4.4, .bias = 4 * bias };
	const struct {
		const struct fnstat_estimate	*a;
		const struct fnstat_estimate	*b;
		bool				same_bias;
		double				z;
	} cases[] = {
		{ &a, &b, true, z },
		{ &b, &a, true, -z },
		{ &a, &negative, true, -3 / sqrt(2 * 2 + 0.2 * 0.2) * 1.959964 },
		/* A bias is in both, or in one. */
		{ &biased_a, &biased_b, true, unbiased },
		{ &biased_a, &biased_b, false, z },
		{ &biased_a, &b, true, z },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		TEST_ASSERT_VAL("z", is_close(fnstat_estimate__z(cases[i].a, cases[i].b,
								 cases[i].same_bias),
					      cases[i].z, 0.000001));
	}
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
	static const struct {
		const char	*name;
		bool		with_terms;
		bool		expected;
	} events[] = {
		{ "cycles:u", false, true },
		{ "cpu/cycles/", false, true },
		{ "cycles-x", true, false },
		{ "cpu/cycles,period=5/", true, true },
		{ "cpu/cycles,period=5/", false, false },
	};
	struct fnstat_group *group = fnstat_group__new(f->cycles);
	char *names;

	TEST_ASSERT_VAL("no memory", group);
	group->totals[1] = 2000;
	group->totals[3] = 1000;
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		const char *name = metrics[i].name;

		TEST_ASSERT_EQUAL(name, fnstat_group__add_metric(group, name), 0);
		TEST_ASSERT_VAL(name, group->metrics[i].available &&
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
		TEST_ASSERT_VAL("no memory", group && !fnstat_group__add_metric(group, "ipc"));
		TEST_ASSERT_VAL("elsewhere", !group->metrics[0].available);
		fnstat_group__delete(group);
	}

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		TEST_ASSERT_EQUAL(events[i].name,
				  fnstat_event__has_name(events[i].name, "cycles",
							 events[i].with_terms),
				  events[i].expected);
	}
	names = fnstat_metric__expand_groups("cpi-x,cpi,ipc,cpi", /*env=*/NULL);
	TEST_ASSERT_VAL("each once", names && !strcmp(names, "cpi-x,cpi,ipc"));
	free(names);
	return TEST_OK;
}

#define ALL_EVENTS	"{cycles,instructions,branches,branch-misses}"

FNSTAT_TEST(fnstat_metrics, check_names, ALL_EVENTS)

static int check_estimates(struct fixture *f)
{
	static const struct recording_check checks[] = {
		{ check_samples, POOLED_METRICS, .sampled = true },
		{ check_contradiction, "ipc", .sampled = true },
		{ check_missing, "ipc", .sampled = false },
		{ check_clock, "ipc", .sampled = false },
		{ check_time, "ipc", .sampled = false },
		{ check_values, "instructions-share,cpi,insn_per_cycle", .sampled = false },
		{ check_one_stack, "ipc", .sampled = false },
		{ check_noise, "ipc", .sampled = false },
		{ check_late, "ipc", .sampled = true },
	};

	return check_throttled(f) ?: check_z() ?: run_checks(f, checks, ARRAY_SIZE(checks));
}

FNSTAT_TEST(fnstat_estimates, check_estimates, ALL_EVENTS)

#define MAX_BRANCHES	32
#define BLOCK_INSNS	4

/* A stack of blocks that take so many cycles each, but the one at a place takes others. */
struct stack_case {
	unsigned int	nr_blocks;
	unsigned int	cycles;
	unsigned int	at;
	unsigned int	other;
	/* Expected: the number of blocks that count, and the weight of each. */
	unsigned int	nr;
	double		scale;
	double		other_scale;
};

/* Check the blocks of a stack, each of BLOCK_INSNS instructions of Arm, the last one first. */
static int check_stack(struct thread *thread, const struct stack_case *c)
{
	u64 data[2 + MAX_BRANCHES * sizeof(struct branch_entry) / sizeof(u64)] = {};
	struct branch_stack *stack = (struct branch_stack *)data;
	struct perf_sample sample = { .branch_stack = stack };
	struct branch_block *blocks;
	unsigned int nr;

	stack->nr = c->nr_blocks + 1;
	for (unsigned int i = 0; i <= c->nr_blocks; i++) {
		u64 block = 0x10000 - 0x100 * i;

		stack->entries[i].from = block + 4 * (BLOCK_INSNS - 1);
		stack->entries[i].to = block + 0x100;
		stack->entries[i].flags.cycles = i == c->at ? c->other : c->cycles;
	}
	nr = perf_sample__read_blocks(&sample, thread, &blocks);
	TEST_ASSERT_EQUAL("blocks", nr, c->nr);
	for (unsigned int i = 0; i < nr; i++) {
		double scale = i == c->at ? c->other_scale : c->scale;

		TEST_ASSERT_VAL("place", blocks[i].start == 0x10000 - 0x100 * i &&
				blocks[i].end == blocks[i].start + 4 * (BLOCK_INSNS - 1));
		TEST_ASSERT_VAL("cycles", fabs(blocks[i].cycles -
					       scale * stack->entries[i].flags.cycles) < 0.000001);
		TEST_ASSERT_VAL("insns", fabs(blocks[i].insns - scale * BLOCK_INSNS) < 0.000001);
	}
	free(blocks);
	return TEST_OK;
}

/* Check that a sample at the target of a mispredicted branch moves to the branch. */
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
	static const struct stack_case cases[] = {
		/* Blocks count that ended in the last 400 cycles. */
		{ 31, 20, 0, 20, 21, 1, 1 },
		/* A stack that is shorter counts for more. */
		{ 31, 5, 0, 5, 31, 400 / 150.0, 400 / 150.0 },
		/* A slow block does not make itself count for less. */
		{ 31, 5, 3, 300, 22, 1, 400 / 150.0 },
		/* The counter can saturate: blocks before that are too old. */
		{ 31, 5, 3, 0xffff, 3, 1, 0 },
		/* A branch takes a cycle, though two can be in the same one. */
		{ 15, 0, 0, 10, 15, 400 / 16.0, 400 / 16.0 },
		/* Stacks with few branches, or without cycles, have no blocks. */
		{ 6, 20, 0, 20, 0, 0, 0 },
		{ 31, 0, 0, 0, 0, 0, 0 },
	};
	const struct stack_case unknown = { 31, 20, 0, 20, 0, 0, 0 };
	struct perf_env env;
	struct machine *machine;
	struct thread *thread;
	int ret = TEST_FAIL;

	perf_env__init(&env);
	machine = machine__new_host(&env);
	thread = machine ? machine__findnew_thread(machine, 1, 1) : NULL;
	if (!thread)
		goto out;
	thread__set_e_machine(thread, EM_AARCH64);
	ret = check_moved(true, 0x200, 0x100) ?: check_moved(false, 0x200, 0x200) ?:
	      check_moved(true, 0x204, 0x204);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ret = ret ?: check_stack(thread, &cases[i]);
	/* Instructions of variable length need the code. */
	thread__set_e_machine(thread, EM_X86_64);
	ret = ret ?: check_stack(thread, &unknown);
	thread__put(thread);
out:
	machine__delete(machine);
	perf_env__exit(&env);
	return ret;
}

static int check_rounds(struct fixture *f)
{
	static const struct step steps[] = {
		/* Each round is a long interval and two windows. */
		{ .add = { 1003, 500 }, .begins = true },
		{ .add = { 12, 6 }, .window = true, .ends = true },
		{ .add = { 10, 1 }, .window = true, .ends = true, .index = 1 },
		/* This interval is shorter by the five cycles of the last overrun. */
		{ .add = { 1000, 493 }, .begins = true },
		/* The first window of this round is missing. */
		{ .add = { 1575, 900 }, .window = true, .ends = true, .problems = WINDOW_LENGTH },
		/* The next begins with a window: its long sample is missing. */
		{ .add = { 10, 5 }, .window = true, .ends = true, .index = 1 },
		{ .add = { 1010, 1000 }, .window = true },
		/* This window is too short. */
		{ .add = { 1000, 95 }, .begins = true },
		{ .add = { 9, 1 }, .window = true, .ends = true, .problems = WINDOW_LENGTH },
	};

	f->cycles->core.attr.alt_sample_period = 10;
	f->cycles->core.attr.alt_sample_count = 2;
	return run_steps(f, steps, ARRAY_SIZE(steps), 1020);
}

FNSTAT_TEST(window_rounds, check_rounds, "{cycles,instructions}")

static int check_problems(struct fixture *f)
{
	static const struct step steps[] = {
		{ .add = { 1000, 500 }, .begins = true },
		{ .add = { 10, 5 }, .window = true, .lost = 1, .ends = true,
		  .problems = WINDOW_LOST },
		{ .add = { 1000, 495 }, .lost = 1, .begins = true },
		/* Records of other events were lost, but none of this one. */
		{ .add = { 10, 5 }, .window = true, .lost = 1, .lost_records = true, .ends = true },
		{ .add = { 1000, 495 }, .lost = 1, .begins = true },
		{ .add = { 10, 5 }, .window = true, .split = true, .lost = 1, .ends = true,
		  .problems = WINDOW_SPLIT },
		{ .add = { 1000, 495 }, .lost = 1, .begins = true },
		{ .add = { 10, -1 }, .window = true, .lost = 1, .not_whole = true, .ends = true,
		  .problems = WINDOW_BACKWARDS },
		{ .add = { 1000, 501 }, .lost = 1, .begins = true },
		{ .add = { 10, 5 }, .window = true, .lost = 1, .not_running = 7, .ends = true,
		  .problems = WINDOW_MULTIPLEXED },
		/* The kernel marks the windows that were split, so this one was not. */
		{ .add = { 1000, 495 }, .lost = 1, .not_running = 7, .begins = true },
		{ .add = { 10, 5 }, .window = true, .lost = 1, .not_running = 7, .unthrottle = true,
		  .ends = true },
	};

	f->cycles->core.attr.alt_sample_period = 10;
	return run_steps(f, steps, ARRAY_SIZE(steps), 1010);
}

FNSTAT_TEST(window_problems, check_problems, "{cycles,instructions}")

static int check_plain(struct fixture *f)
{
	static const struct step steps[] = {
		/* Each sample ends a window and begins the next. */
		{ .add = { 1000, 500 }, .begins = true },
		{ .add = { 1000, 1000 }, .begins = true, .ends = true },
		{ .add = { 2000, 1000 }, .begins = true, .ends = true, .problems = WINDOW_LENGTH },
		/* The interrupt is late, so the next interval is shorter. */
		{ .add = { 1300, 200 }, .begins = true, .ends = true },
		{ .add = { 700, 200 }, .begins = true, .ends = true },
		{ .add = { 400, 50 }, .begins = true, .ends = true, .problems = WINDOW_LENGTH },
		{ .add = { 1000, 50 }, .unthrottle = true, .begins = true, .ends = true,
		  .problems = WINDOW_SPLIT },
		{ .add = { 1000, 500 }, .lost_records = true, .begins = true, .ends = true,
		  .problems = WINDOW_LOST },
		/* The counts are those of a CPU: another thread continues them. */
		{ .add = { 1000, 500 }, .thread = 1, .begins = true, .ends = true,
		  .problems = WINDOW_SPLIT },
	};

	f->cycles->core.attr.read_format &= ~PERF_FORMAT_LOST;
	return run_steps(f, steps, ARRAY_SIZE(steps), 1000);
}

FNSTAT_TEST(window_plain, check_plain, "{cycles,instructions}")

static int check_threads(struct fixture *f)
{
	static const struct step steps[] = {
		/* Each thread has counts, rounds and windows of its own. */
		{ .add = { 1000, 500 }, .begins = true },
		{ .add = { 1001, 50 }, .thread = 1, .begins = true },
		{ .add = { 10, 10 }, .window = true, .ends = true },
		{ .add = { 10, 2 }, .thread = 1, .window = true, .ends = true },
		/* New threads have their TIDs, and began in an earlier file. */
		{ .add = { 50500, 9000 }, .exit = true, .not_whole = true, .begins = true },
		{ .add = { 1010, 501 }, .thread = 1, .exit = true, .not_whole = true,
		  .window = true },
		{ .add = { 10, 6 }, .window = true, .ends = true },
		{ .add = { 1002, 499 }, .thread = 1, .begins = true },
		/* This one begins in the file. */
		{ .add = { 1020, 600 }, .thread = 1, .exit = true, .begins = true },
	};

	fixture__count_threads(f);
	f->cycles->core.attr.alt_sample_period = 10;
	return run_steps(f, steps, ARRAY_SIZE(steps), 1010);
}

FNSTAT_TEST(window_threads, check_threads, "{cycles,instructions}")

/* Check a group of which a second event samples too: its samples have the same counts. */
static int check_samplers(struct fixture *f)
{
	u64 values[2][3] = { { 1000, CYCLES_ID }, { 500, INSTRUCTIONS_ID } };
	struct group_sample gs;

	f->instructions->core.attr = f->cycles->core.attr;
	for (int i = 0; i < 4; i++) {
		TEST_ASSERT_EQUAL("group_tracker__add() failed",
				  add_sample(f, i % 2 ? f->instructions : f->cycles, 0, 2, values,
					     &gs), 0);
		TEST_ASSERT_VAL("window", gs.begins == !(i % 2) && gs.ends == (i == 2));
		values[0][0] += 500;
		values[1][0] += 250;
	}
	return TEST_OK;
}

FNSTAT_TEST(window_samplers, check_samplers, "{cycles,instructions}")

/*
 * Check a group of which the second event samples, not the leader. The order of the values changes
 * once. Finally, another thread has the same TID.
 */
static int check_member(struct fixture *f)
{
	u64 values[][2][3] = {
		{ { 5000, CYCLES_ID }, { 1000, INSTRUCTIONS_ID } },
		{ { 10000, CYCLES_ID }, { 2000, INSTRUCTIONS_ID } },
		{ { 3000, INSTRUCTIONS_ID }, { 15000, CYCLES_ID } },
		{ { 5000, CYCLES_ID }, { 1000, INSTRUCTIONS_ID } },
	};
	struct group_sample gs;

	fixture__count_threads(f);
	f->instructions->core.attr = f->cycles->core.attr;
	f->cycles->core.attr.sample_period = 0;
	for (int i = 0; i < 4; i++) {
		TEST_ASSERT_EQUAL("group_tracker__add() failed",
				  add_sample(f, f->instructions, i / 3, 2, values[i], &gs), 0);
		TEST_ASSERT_VAL("window", gs.begins && gs.ends == (i % 3 > 0) &&
				(!gs.ends || !gs.problems));
		TEST_ASSERT_VAL("counts", gs.counts[0] == 5000 && gs.counts[1] == 1000);
	}
	return TEST_OK;
}

FNSTAT_TEST(window_member, check_member, "{cycles,instructions}")

/* Check the groups of two PMUs, with different periods, whose samples come in turn. */
static int check_groups(struct fixture *f)
{
	static const u64 periods[2] = { 1000, 300 }, ids[2] = { CYCLES_ID, BRANCHES_ID };
	struct evsel *leaders[2] = { f->cycles, evsel__next(f->instructions) };
	u64 values[1][3];
	struct group_sample gs;

	TEST_ASSERT_VAL("no second group", leaders[1] && evsel__is_group_leader(leaders[1]));
	leaders[1]->core.attr = leaders[0]->core.attr;
	leaders[1]->core.attr.sample_period = periods[1];
	TEST_ASSERT_EQUAL("ID", fixture__set_id(f, leaders[1], BRANCHES_ID), 0);

	for (int i = 0; i < 6; i++) {
		u64 period = periods[i % 2];

		values[0][0] = (i / 2 + 1) * period;
		values[0][1] = ids[i % 2];
		TEST_ASSERT_EQUAL("group_tracker__add() failed",
				  add_sample(f, leaders[i % 2], 0, 1, values, &gs), 0);
		TEST_ASSERT_VAL("window", gs.begins && gs.ends == (i > 1) &&
				(!gs.ends || !gs.problems));
		TEST_ASSERT_VAL("counts", gs.counts[0] == period && gs.weight == period);
		TEST_ASSERT_VAL("old data", !window_round__data_size(gs.beginning));
		TEST_ASSERT_VAL("data", !gs.ends || *(int *)window_round__data(gs.ending) == i - 2);
		TEST_ASSERT_EQUAL("data", window_round__set_data(gs.beginning, &i, sizeof(i)), 0);
	}
	/* A sample with the ID of the other leader is no sample of this one. */
	values[0][0] = 4 * periods[0];
	values[0][1] = CYCLES_ID;
	TEST_ASSERT_EQUAL("another's", add_sample(f, leaders[1], 0, 1, values, &gs), 0);
	TEST_ASSERT_VAL("another's", !gs.begins && !gs.ends);
	return TEST_OK;
}

FNSTAT_TEST(window_groups, check_groups, "{cycles,instructions},{cycles,instructions}")

/* Compute the variance of the logarithm of a rate from windows, @left of which left. */
static double bias(double left)
{
	return 0.2 * 0.2 * left * left;
}

/*
 * Add @nr rounds of two samples in an entry, and windows with these counts. @left: Each second
 * one begins elsewhere, and the others end there.
 */
static void add_windows(struct recording *r, int entry, unsigned int nr, const u64 *counts,
			bool left)
{
	struct fnstat_stats *all[] = { &r->stats[entry], &r->group->all };

	for (unsigned int i = 0; i < 2 * nr; i++) {
		struct fnstat_stats *stats = all[i % 2];
		bool begins = !left || stats->nr_windows % 2;

		fnstat_stats__add_sample(stats, 500, /*earlier=*/0);
		fnstat_stats__add_sample(stats, 500, /*earlier=*/1);
		fnstat_stats__count_window(stats, left ? WINDOW_LEFT : 0, /*used=*/true);
		r->no_memory |= fnstat_stats__add_counts(stats, r->group, counts, 1, begins,
							 !left || !begins);
	}
}

/* Find and subtract what is not of the entries, as is done before they are collapsed. */
static int correct_windows(struct recording *r, unsigned int nr, double nr_interrupts)
{
	struct fnstat_stats *entries[MAX_ENTRIES];

	for (unsigned int i = 0; i < nr; i++)
		entries[i] = &r->stats[i];
	fnstat_group__find_costs(r->group, entries, nr, nr_interrupts);
	return correct(r, nr) ?:
	       fnstat_group__subtract_others(r->group, entries, nr, /*nr_children=*/0);
}

/* Two entries have CPI 1 and 2, and a branch for two instructions; interrupts add 60 and 3. */
static const u64 cost_counts[][4] = { { 160, 100, 53 }, { 260, 100, 53 }, { 140, 100, 53 } };

/*
 * Find costs in two entries with half of the time each. Windows of the second one, which stalls,
 * are longer.
 */
static int check_costs(struct recording *r)
{
	struct fnstat_stats *sum = &r->stats[2];
	double variance;

	for (int i = 0; i < 2; i++)
		add_windows(r, i, 10, cost_counts[i], /*left=*/false);
	set_totals(r, 20000 + 60 * 40, 15000, 0);
	r->group->totals[2] = 7500 + 3 * 40;
	TEST_ASSERT_EQUAL("correct", correct_windows(r, 2, /*nr_interrupts=*/40), 0);
	TEST_ASSERT_VAL("cost", is_close(r->group->costs[0], 60, 0.000001) && !r->group->costs[1] &&
			is_close(r->group->costs[2], 3, 0.000001));
	TEST_ASSERT_VAL("totals", is_close(r->group->totals[0], 20000, 0.000001) &&
			r->group->totals[1] == 15000 &&
			is_close(r->group->totals[2], 7500, 0.000001));
	/* Ten windows have 1000 or 2000 cycles, the entry 10000. */
	for (int i = 0; i < 2; i++) {
		const double *sums = r->stats[i].sums;
		double length = i ? 200 : 100, nr = 10000 / length;

		TEST_ASSERT_VAL("sums", is_close(sums[0], nr, 0.000001) &&
				is_close(sums[1], 10000, 0.000001) &&
				is_close(sums[2], 100 * nr, 0.000001) &&
				is_close(sums[3], 50 * nr, 0.000001));
		/* Of windows and cycles, and of branches and instructions. */
		TEST_ASSERT_VAL("products", is_close(sums[6], 1000 * nr, 0.000001) &&
				is_close(sums[13], 500 * nr * nr, 0.000001));
	}
	/* Together they have the mean of the rates. */
	for (int i = 0; i < 2; i++) {
		r->stats[i].left = i + 1;
		TEST_ASSERT_EQUAL("merge", fnstat_stats__merge(sum, &r->stats[i], r->group), 0);
	}
	TEST_ASSERT_VAL("merged", sum->nr_used == 20 && sum->nr_windows == 20 && sum->left == 3 &&
			sum->weight == 20000 && sum->weight2 == 20 * 1000 * 1000);
	TEST_ASSERT_VAL("CPI", has_value(r, 2, 0, 2 / 1.5));
	TEST_ASSERT_VAL("its counts", is_close(r->estimate.dividend, 20000, 0.000001) &&
			is_close(r->estimate.divisor, 15000, 0.000001));
	/* Twenty windows differ from two instructions in three cycles by a third. */
	variance = 20 * pow(100 / 3., 2) / 2000 / 2000 / 0.95;
	TEST_ASSERT_VAL("common", is_close(r->group->common, variance, 0.000001));
	/* A window of 100 cycles is known within a sixth, or not at all. */
	TEST_ASSERT_VAL("known cost", fnstat_group__knows_cost(r->group));
	r->group->common += 1;
	TEST_ASSERT_VAL("unknown cost", !fnstat_group__knows_cost(r->group));
	r->group->common -= 1;
	variance = pow(log(r->estimate.high / r->estimate.value) / 1.96, 2);
	r->group->common += 0.04;
	TEST_ASSERT_VAL("interval", is_estimate(r, 2, 0, 2 / 1.5, variance + 0.04));
	return TEST_OK;
}

/* Check that entries of one window each have the same cost as all of these in one entry. */
static int check_costs_of_few(struct recording *r)
{
	for (int i = 0; i < 20; i++)
		add_windows(r, i, 1, cost_counts[i & 1], /*left=*/false);
	set_totals(r, 20000 + 60 * 40, 20000 / 1.5, 0);
	TEST_ASSERT_EQUAL("correct", correct_windows(r, 20, /*nr_interrupts=*/40), 0);
	TEST_ASSERT_VAL("cost of few", is_close(r->group->costs[0], 60, 0.000001));
	return TEST_OK;
}

/*
 * Check variants without a known cost: the kernel is counted, an interrupt would take negative
 * time, and samples are missing.
 */
static int check_no_costs(struct recording *r)
{
	struct perf_event_attr *attr = &r->group->sampler->core.attr;

	add_windows(r, 0, 10, cost_counts[r->variant ? 2 : 0], /*left=*/false);
	set_totals(r, r->variant == 1 ? 20000 : 10000, 10000, 0);
	attr->exclude_kernel = r->variant != 0;
	r->group->contradicted = r->variant == 2;
	TEST_ASSERT_VAL("windows", fnstat_group__has_windows(r->group) == (r->variant != 0));
	TEST_ASSERT_EQUAL("correct", correct_windows(r, 1, /*nr_interrupts=*/20), 0);
	attr->exclude_kernel = 1;
	TEST_ASSERT_VAL("no cost", !r->group->costs[0] && !r->group->common &&
			!fnstat_group__knows_cost(r->group));
	return TEST_OK;
}

/* Check that a window that ends elsewhere counts a quarter, as the last one of each entry here. */
static int check_left(struct recording *r)
{
	const u64 counts[] = { 100, 50, 0, 0 };
	/* Their number, as if all weighed the same. */
	double nr = 3.25 * 3.25 / 3.0625;
	struct fnstat_stats *last = &r->stats[1];

	add_windows(r, 0, 10, counts, false);
	add_windows(r, 1, 3, counts, false);
	for (int i = 0; i < 2; i++) {
		TEST_ASSERT_EQUAL("no memory",
				  fnstat_stats__add_counts(&r->stats[i], r->group, counts, 1,
							   /*begins=*/true, /*ends=*/false), 0);
		fnstat_stats__count_window(&r->stats[i], WINDOW_LEFT, i);
	}
	TEST_ASSERT_VAL("left", is_close(fnstat_stats__left(last), 25, 0.000001) &&
			r->stats[0].nr_used == 10 && last->nr_used == 4);
	TEST_ASSERT_VAL("sums", last->left == 0.25 && last->sums[0] == 3.25 &&
			last->sums[2] == 162.5 && last->sums[5] == 3.0625 &&
			last->sums[10] == 50 * 50 * 3.0625);
	set_totals(r, 13000, 6500, 0);
	TEST_ASSERT_EQUAL("correct", correct_windows(r, 2, 0), 0);
	TEST_ASSERT_VAL("scaled", is_close(last->left / last->sums[0], 0.25 / 3.25, 0.000001));
	/* All windows are equal: only the bias of 3.45 windows remains. */
	TEST_ASSERT_VAL("bias", is_estimate(r, 1, 0, 0.5,
					    bias((0.25 / 3.25 * nr + 1) / (nr + 2))));
	/* The other entry has most of the time: windows can have left it and come back. */
	nr = 10.25 * 10.25 / 10.0625;
	TEST_ASSERT_VAL("come back", is_estimate(r, 0, 0, 0.5,
						 bias(4.5 * (0.25 / 10.25 * nr + 1) / (nr + 2))));
	/* A window that is shorter than the cost is not used. */
	r->group->costs[0] = 100;
	fnstat_stats__correct(last, r->group);
	TEST_ASSERT_VAL("no time", !last->sums && !last->left);
	return TEST_OK;
}

/* Check that samples are pooled with windows, but alone for rare events. */
static int check_pooled(struct recording *r)
{
	const u64 counts[] = { 100, 50, 20, 30 };
	/* All left. */
	const double windows = bias(1);

	add_windows(r, 0, 400, counts, true);
	for (int i = 0; i < 800; i++)
		fnstat_stats__add_sample(&r->group->all, 500, i % 2);
	set_totals(r, 800000, 400000, 8000);
	TEST_ASSERT_EQUAL("correct", correct_windows(r, 1, 0), 0);
	TEST_ASSERT_EQUAL("pool", check_pool(r, windows), 0);
	/* An interrupt adds four times what remains of a window, with an error of a twentieth. */
	r->group->costs[0] = 400;
	TEST_ASSERT_VAL("cost", is_estimate(r, 0, IPC, 0.5, windows + pow(0.05 * 4, 2)));
	return TEST_OK;
}

/*
 * Check windows of a group without instructions: with the branches of the interrupts in them, they
 * can differ from the program.
 */
static int check_differs(struct recording *r)
{
	const u64 counts[] = { 100, 0, 40, 10 };
	bool differs = r->variant;

	r->group->insns = -ENOENT;
	add_windows(r, 0, 400, counts, false);
	set_totals(r, 800000, 0, differs ? 40000 : 72000);
	r->group->totals[2] = 320000;
	TEST_ASSERT_EQUAL("correct", correct_windows(r, 1, 800), 0);
	TEST_ASSERT_VAL("differs", r->group->differs == (differs ? &r->group->metrics[0] : NULL));
	TEST_ASSERT_VAL("mean", !differs || is_close(r->group->mean, 25, 0.000001));
	TEST_ASSERT_VAL("mark", (estimate(r, 0, 0) == FNSTAT_ESTIMATE_GOOD) == !differs);
	return TEST_OK;
}

/* Check that all samples of a round in an entry count as one. */
static int check_samples_of_rounds(struct recording *r)
{
	for (int i = 0; i < 200 * 4; i++) {
		fnstat_stats__add_sample(&r->group->all, 250, i % 4);
		if (i % 16 < 4)
			fnstat_stats__add_sample(&r->stats[0], 250, i % 4);
	}
	TEST_ASSERT_EQUAL("quarter", check_quarter(r), 0);
	/* If each of 100 rounds has one sample there, the interval is narrower. */
	for (int i = 0; i < 100; i++)
		fnstat_stats__add_sample(&r->stats[1], 500, /*earlier=*/0);
	fnstat_stats__time(&r->stats[1], r->group, &r->estimate);
	TEST_ASSERT_VAL("high", is_close(r->estimate.value, 25, 0.000001) && r->estimate.high < 30);
	return TEST_OK;
}

/* Check that a fraction has 255 steps: the instructions as one of cycles. */
static int check_fraction(struct recording *r)
{
	const u64 counts[] = { 100, 50, 0, 0 };

	set_totals(r, 400000, 200000, 0);
	add_windows(r, 0, 400, counts, false);
	TEST_ASSERT_EQUAL("correct", correct_windows(r, 1, 0), 0);
	r->group->slots = 0;
	r->group->noise[1] = 0;
	for (int i = 0; i < 2; i++) {
		double steps = i ? pow(2. / 255, 2) / 3 : 0;

		r->group->fractions[1] = i;
		estimate(r, 0, 0);
		TEST_ASSERT_VAL("fraction", is_close(log(r->estimate.high / r->estimate.value),
						     1.96 * sqrt(steps + bias(4.5 / 402)), 0.01));
	}
	return TEST_OK;
}

/* Add windows of two entries, of which half leave for the other one. */
static void add_exchanged(struct recording *r, const u64 (*own)[4], const u64 (*left)[4])
{
	struct fnstat_stats *stats = r->stats;

	for (int i = 0; i < 2; i++) {
		add_windows(r, i, 1000, own[i], /*left=*/false);
		add_windows(r, i, 2000, left[i], /*left=*/true);
		r->no_memory |= fnstat_group__add_pair(r->group, &stats[i], &stats[!i], 1000);
	}
}

/*
 * Check two entries whose windows have 0.55 and 0.85 instructions per cycle, and half of them leave
 * for the other one, so that a quarter is of that. It is 0.4 and 1 then, if this is certain. The
 * windows that stay have this rate, or that of all.
 */
static int check_others(struct recording *r)
{
	const u64 own[][4] = { { 1000, 400, 0, 0 }, { 1000, 1000, 0, 1 } };
	const u64 left[][4] = { { 1000, 700, 0, 0 }, { 1000, 700, 0, 1 } };
	const u64 same[][4] = { { 1000, 550, 0, 0 }, { 1000, 850, 0, 1 } };
	double doubt = pow(0.6 * 0.5, 2), part = 1 - 0.5 * 0.5;
	struct fnstat_stats *stats = r->stats;
	bool alike = r->variant;

	add_exchanged(r, alike ? same : own, alike ? same : left);
	set_totals(r, 6000000, 4200000, 3000);
	TEST_ASSERT_EQUAL("correct", correct_windows(r, 2, 0), 0);
	/* The first one has no misses that could be of the second one. */
	TEST_ASSERT_VAL("sum", is_close(stats[0].sums[2] + stats[1].sums[2], 4200000, 0.000001) &&
			is_close(stats[0].sums[4] + stats[1].sums[4], 3000, 0.000001));
	for (int i = 0; i < 2; i++) {
		/* The sum of both stays, and their difference grows. */
		double difference = (0.85 - 0.55) * (doubt + part) /
				    (doubt + part * part - part * (1 - part));
		double rate = (1.4 + (i ? difference : -difference)) / 2, value, change, ends;

		estimate(r, i, 0);
		value = r->estimate.value;
		TEST_ASSERT_VAL("CPI", is_close(value, 1 / rate, 0.000001));
		/*
		 * The change is part of the bias, or what the ends differ by: a third of those that
		 * begin left, and 0.6 of those that end. Half of the time can come back.
		 */
		change = log(value * (i ? 0.85 : 0.55));
		ends = alike ? 0 : (0.6 - 1 / 3.) * (0.3 / rate) * (doubt + part) /
				   (doubt + part * part);
		ends = max(ends, min(1.5 * ends, 0.2));
		TEST_ASSERT_VAL("bias", is_close(pow(r->estimate.bias / value, 2),
						 bias(1.5 * 0.5) + pow(max(fabs(change), ends), 2),
						 0.01));
	}
	TEST_ASSERT_VAL("freed", !r->group->pairs && !r->group->nr_pairs);
	return TEST_OK;
}

/*
 * Check windows that end in an entry and are longer than those that begin there, with another rate.
 * What is more than chance is more of the bias, unless there are samples, which would show it.
 */
static int check_ends(struct recording *r)
{
	const u64 counts[][4] = { { 110, 50, 0, 0 }, { 100, 55, 0, 0 } };
	/* Those that end count three quarters. */
	const double length = 0.75 * 110 + 0.25 * 100, rate = (0.75 * 50 + 0.25 * 55) / length;
	const double both = 0.75 * 110 * 0.25 * 100 / length / length;
	/* The variance of each difference is a part of its square. */
	double nr = r->variant;
	double rates = (0.55 - 50 / 110.) / rate * sqrt(1 - 4 * both / (nr - 1.25));
	double lengths = 10 / length * sqrt(1 - 0.75 / nr);
	double differ = rates + lengths, part = 1;
	/* All of the time is here: much can have come back, but the bias of that is limited. */
	double expected = pow(max(differ, min(4.5 * differ, 0.2)), 2);

	/* Half of the samples are three. */
	r->samples[1] = (struct fnstat_samples){ .share = 0.5, .all = 6 };
	if (r->sampled)
		part = (1 / 3. - 1 / 6.) / (1 / 3. - 1 / 6. + expected);
	else
		expected += bias(1);
	/* The first one of two ends there. */
	for (int i = 0; i < r->variant; i++)
		add_windows(r, 0, 1, counts[i % 2], /*left=*/true);
	set_totals(r, 1000 * nr, 1000 * nr * rate, 0);
	TEST_ASSERT_EQUAL("correct", correct_windows(r, 1, 0), 0);
	estimate(r, 0, 0);
	TEST_ASSERT_VAL("ends", is_close(pow(r->estimate.bias / r->estimate.value, 2),
					 part * part * expected, 0.01));
	return TEST_OK;
}

/* Check that 0.3 of what windows count is of their entry, where all of it would be of others. */
static int check_least_own(struct recording *r)
{
	const u64 own[][4] = { { 1000, 0, 0, 0 }, { 1000, 1000, 0, 0 } };
	const u64 left[][4] = { { 1000, 200, 0, 0 }, { 1000, 640, 0, 0 } };
	double doubt = pow(0.6 * 0.5, 2), part = 1 - 0.5 * 0.5, first = 0.1 * 0.3;
	/* What is not known of an entry is faster than its windows. */
	double second = ((doubt * (1 + 0.15 * 0.25) + part) * 0.82 - part * (1 - part) * first) /
			(doubt + part * part);

	add_exchanged(r, own, left);
	set_totals(r, 6000000, 2760000, 0);
	TEST_ASSERT_EQUAL("correct", correct_windows(r, 2, 0), 0);
	estimate(r, 0, 0);
	TEST_ASSERT_VAL("CPI",
			is_close(r->estimate.value, (first + second) / 0.92 / first, 0.000001));
	return TEST_OK;
}

/* Check that windows keep their rate if they leave for an entry whose own are too short. */
static int check_unknown_other(struct recording *r)
{
	const u64 counts[][4] = { { 1100, 500, 0, 0 }, { 100, 20, 0, 0 }, { 1100, 900, 0, 0 } };
	struct fnstat_stats *stats = r->stats;
	struct fnstat_stats *entries[] = { &stats[0], &stats[1], &stats[2] };

	for (int i = 0; i < 6; i++)
		add_windows(r, i / 2, 1000, counts[i / 2], /*left=*/i % 2);
	/* The last one leaves for the first one. */
	r->no_memory |= fnstat_group__add_pair(r->group, &stats[0], &stats[1], 1000) ||
			fnstat_group__add_pair(r->group, &stats[2], &stats[0], 1000);
	r->group->costs[0] = 100;
	TEST_ASSERT_EQUAL("correct", correct(r, 3), 0);
	TEST_ASSERT_EQUAL("subtract", fnstat_group__subtract_others(r->group, entries, 3, 0), 0);
	TEST_ASSERT_VAL("unknown", !stats[1].sums);
	TEST_ASSERT_VAL("rate", is_close(stats[0].sums[2], 0.5 * stats[0].sums[1], 0.000001));
	return TEST_OK;
}

/* Check that late samples are not used where windows have the event. */
static int check_late_windows(struct recording *r)
{
	const u64 counts[] = { 100, 50, 0, 0 };

	r->samples[1] = (struct fnstat_samples){ .share = 0.4, .all = 800 };
	add_windows(r, 0, 400, counts, false);
	set_totals(r, 800000, 400000, 0);
	fnstat_group__check_exact(r->group, 1, 0.5);
	TEST_ASSERT_VAL("late", !r->group->samplers[1] && !r->group->late[1]);
	TEST_ASSERT_EQUAL("correct", correct_windows(r, 1, 800), 0);
	TEST_ASSERT_VAL("windows", has_value(r, 0, 0, 0.5));
	return TEST_OK;
}

/* Check that windows hardly tell what they see one of, and say how often they have several. */
static int check_rare(struct recording *r)
{
	const u64 counts[] = { 100, 50, 0, r->variant };
	int nr = r->variant;
	double variance = 2 * bias(4.5 / 402) + pow((0.3 + 2 / 402.) / (1 + nr), 2);

	add_windows(r, 0, 400, counts, false);
	set_totals(r, 800000, 400000, 8000 * nr);
	TEST_ASSERT_EQUAL("correct", correct_windows(r, 1, 800), 0);
	TEST_ASSERT_VAL("rare", is_estimate(r, 0, 0, 20 * nr, variance));
	TEST_ASSERT_VAL("mark", estimate(r, 0, 0) ==
			(nr == 1 ? FNSTAT_ESTIMATE_POOR : FNSTAT_ESTIMATE_GOOD));
	/* If interrupts add as much to the event as to the cycles, these parts are wrong alike. */
	r->group->costs[0] = 400;
	r->group->costs[3] = 4 * nr;
	TEST_ASSERT_VAL("cost", is_estimate(r, 0, 0, 20 * nr, variance + pow(0.05 * 4, 2)));
	/* If all of it is what they add, they can have added less. */
	r->stats[0].sums[4] = 0;
	estimate(r, 0, 0);
	TEST_ASSERT_VAL("no rest", !r->estimate.value &&
			is_close(r->estimate.high, 1000 * (3.689 + 1.96 * 0.05 * 400 * 4 * nr) /
				 (400 * 50), 0.001));
	return TEST_OK;
}

static int check_window_estimates(struct fixture *f)
{
	static const struct recording_check checks[] = {
		{ check_costs, "cpi", .sampled = false },
		{ check_costs_of_few, "cpi", .sampled = false },
		{ check_no_costs, "cpi", .variant = 0 },
		{ check_no_costs, "cpi", .variant = 1 },
		{ check_no_costs, "cpi", .variant = 2 },
		{ check_left, "ipc", .sampled = false },
		{ check_pooled, POOLED_METRICS, .sampled = true },
		{ check_differs, "branch_miss_rate", .variant = 0 },
		{ check_differs, "branch_miss_rate", .variant = 1 },
		{ check_samples_of_rounds, "ipc", .sampled = false },
		{ check_fraction, "cpi", .sampled = false },
		{ check_others, "cpi", .variant = 0 },
		{ check_others, "cpi", .variant = 1 },
		{ check_least_own, "cpi", .sampled = false },
		{ check_unknown_other, "cpi", .sampled = false },
		{ check_ends, "cpi", .variant = 10000 },
		{ check_ends, "cpi", .variant = 4 },
		{ check_ends, "cpi", .sampled = true, .variant = 10000 },
		{ check_late_windows, "ipc", .sampled = true },
		{ check_rare, "branch-mpki", .variant = 1 },
		{ check_rare, "branch-mpki", .variant = 4 },
	};

	f->cycles->core.attr.alt_sample_period = 100;
	return run_checks(f, checks, ARRAY_SIZE(checks));
}

FNSTAT_TEST(window_estimates, check_window_estimates, ALL_EVENTS)

#define NR_FUNCTIONS	MAX_ENTRIES

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

/* Choose one of the functions: @part is how much of @weights is before its own. */
static int choose(const double *weights, double part)
{
	int i = 0;

	while (i < NR_FUNCTIONS - 1 && part >= weights[i])
		part -= weights[i++];
	return i;
}

/*
 * Make a recording of functions with a known rate of instructions, and of biased windows that
 * include costs.
 */
static int check_recording(struct fixture *f, int nr_rounds, double bias, unsigned int *nr,
			   unsigned int *nr_held)
{
	double rate[NR_FUNCTIONS], seen[NR_FUNCTIONS], time[NR_FUNCTIONS], insns[NR_FUNCTIONS];
	double all_time = 0, all_insns = 0, share[NR_FUNCTIONS] = {};
	const struct recording_check ipc = { .metrics = "ipc", .sampled = true };
	struct recording r;

	TEST_ASSERT_EQUAL("group", recording__init(&r, f, &ipc), 0);
	for (int i = 0; i < NR_FUNCTIONS; i++) {
		rate[i] = exp(0.4 * random_normal());
		seen[i] = rate[i] * exp(bias * random_normal());
		time[i] = exp(random_normal());
		insns[i] = time[i] * rate[i];
		all_time += time[i];
		all_insns += insns[i];
	}
	r.group->totals[0] = (100000. + 40 * 3) * nr_rounds;
	r.group->totals[1] = 100000. * nr_rounds * all_insns / all_time;
	for (int i = 0; i < nr_rounds; i++) {
		int func = choose(time, random_unit() * all_time);
		int sampled = choose(insns, random_unit() * all_insns);
		u64 length = 200 + (int)(200 * random_unit());
		const u64 counts[] = {
			length + 40, max(seen[func] * length + 30 * random_normal(), 0.) + 0.5,
		};

		add_windows(&r, func, 1, counts, true);
		share[sampled] += 1. / nr_rounds;
	}
	TEST_ASSERT_EQUAL("correct", correct_windows(&r, NR_FUNCTIONS, 3. * nr_rounds), 0);
	for (int i = 0; i < NR_FUNCTIONS; i++) {
		r.samples[1] = (struct fnstat_samples){ .share = share[i], .all = nr_rounds };
		if (estimate(&r, i, 0) != FNSTAT_ESTIMATE_NONE) {
			++*nr;
			*nr_held += r.estimate.low <= rate[i] && rate[i] <= r.estimate.high;
		}
	}
	recording__exit(&r);
	return TEST_OK;
}

/* Check that an interval has the true rate in 19 of 20 cases, or nearly so. */
static int check_intervals(struct fixture *f)
{
	static const int nr_rounds[] = { 500, 1000, 3000 };

	f->cycles->core.attr.alt_sample_period = 100;
	random_state = 1;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(nr_rounds); i++) {
		double bias = i % 2 ? 0.2 : 0.1;
		unsigned int nr = 0, held = 0;

		for (int j = 0; j < 60; j++) {
			if (check_recording(f, nr_rounds[i / 2], bias, &nr, &held))
				return TEST_FAIL;
		}
		pr_debug("%d rounds, bias %.2f: %u of %u intervals hold (%.3f)\n",
			 nr_rounds[i / 2], bias, held, nr, (double)held / nr);
		TEST_ASSERT_VAL("hold", nr && held >= 0.91 * nr && held <= 0.995 * nr);
	}
	return TEST_OK;
}

FNSTAT_TEST(window_intervals, check_intervals, "{cycles,instructions}")

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
	TEST_CASE("Two events that sample", window_samplers),
	TEST_CASE("A member that samples", window_member),
	TEST_CASE("Two groups", window_groups),
	TEST_CASE("Estimates of windows", window_estimates),
	TEST_CASE("Intervals", window_intervals),
	{ .name = NULL, }
};

struct test_suite suite__fnstat = {
	.desc = "Metrics of functions",
	.test_cases = tests__fnstat,
};
