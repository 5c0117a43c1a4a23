// SPDX-License-Identifier: GPL-2.0
/*
 * Measure the cycles that interrupts add to a window.
 *
 * Interrupts empty the pipeline, so a window has fewer instructions than as many cycles
 * elsewhere. Run code with a constant number of cycles per instruction, and compare windows
 * with long intervals, which have as many interrupts.
 */
#include "fnstat-measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/stringify.h>
#include <internal/xyarray.h>
#include <perf/mmap.h>

#include "branch.h"
#include "debug.h"
#include "evlist.h"
#include "evsel.h"
#include "mmap.h"
#include "sample.h"
#include "thread.h"
#include "util.h"
#include "group-tracker.h"
#include "fnstat-events.h"
#include "fnstat.h"

#define PERIOD		20000
#define WINDOW		1000
/* At least half of the windows in spin() if an instruction takes a cycle. */
#define MIN_WINDOWS	60
#define ITERATIONS	600000
/* Room for all samples of spin(), with branch stacks. */
#define MMAP_PAGES	64

struct sums {
	double		nr;
	double		cycles;
	double		insns;
};

struct costs {
	struct sums	longs;
	struct sums	windows;
	/* Overruns of windows, by which interrupts are late: sums of cycles and their squares. */
	double		overrun;
	double		overrun2;
	unsigned int	nr_samples;
	/* Those with the place of the event. */
	unsigned int	nr_exact;
	/* The branch stacks have cycles. */
	bool		branches;
};

static void sums__add(struct sums *sums, const u64 *counts)
{
	sums->nr++;
	sums->cycles += counts[0];
	sums->insns += counts[1];
}

/* Each iteration waits for the one before. */
static void spin(void)
{
	u64 x = ITERATIONS;

	for (unsigned int i = 0; i < ITERATIONS; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		asm volatile("" : "+r" (x));
	}
}

static int add_sample(struct costs *costs, struct group_tracker *tracker,
		      struct perf_sample *sample, struct thread *thread)
{
	struct costs *cost = &costs[sample->evsel->core.idx];
	struct branch_entry *branches = perf_sample__branch_entries(sample);
	struct group_sample window;
	int ret;

	cost->nr_samples++;
	cost->nr_exact += !!(sample->misc & PERF_RECORD_MISC_EXACT_IP);
	for (u64 i = 0; branches && i < sample->branch_stack->nr; i++)
		cost->branches |= branches[i].flags.cycles != 0;
	ret = group_tracker__add(tracker, sample, thread, &window);
	if (ret || !window.counts)
		return ret;
	if (window.ends && !window.problems) {
		double overrun = window.counts[0] - window.armed;

		sums__add(&cost->windows, window.counts);
		cost->overrun += overrun;
		cost->overrun2 += overrun * overrun;
	}
	/* The first interval includes the code that enabled the events. */
	if (window.begins && window.whole && cost->nr_samples > 1)
		sums__add(&cost->longs, window.counts);
	return 0;
}

/* Read the samples into @costs, of each event. */
static int read_samples(struct evlist *evlist, struct costs *costs)
{
	struct group_tracker *tracker = group_tracker__new();
	struct thread *thread = thread__new(getpid(), getpid());
	int ret = tracker && thread ? 0 : -ENOMEM;

	for (int i = 0; i < evlist__core(evlist)->nr_mmaps && !ret; i++) {
		struct perf_mmap *map = &evlist__mmap(evlist)[i].core;
		union perf_event *event;

		if (perf_mmap__read_init(map) < 0)
			continue;
		while (!ret && (event = perf_mmap__read_event(map))) {
			struct perf_sample sample;

			if (event->header.type == PERF_RECORD_SAMPLE) {
				perf_sample__init(&sample, /*all=*/false);
				ret = evlist__parse_sample(evlist, event, &sample) ?:
				      add_sample(costs, tracker, &sample, thread);
				perf_sample__exit(&sample);
			}
			perf_mmap__consume(map);
		}
		perf_mmap__read_done(map);
	}
	thread__put(thread);
	group_tracker__delete(tracker);
	return ret;
}

/* Interrupts add the same to long intervals and windows, so not to their difference. */
static bool costs__get(const struct costs *costs, double *cost)
{
	const struct sums *l = &costs->longs, *w = &costs->windows;
	double cycles, insns;

	if (l->nr < MIN_WINDOWS || w->nr < MIN_WINDOWS)
		return false;
	cycles = l->cycles / l->nr - w->cycles / w->nr;
	insns = l->insns / l->nr - w->insns / w->nr;
	if (cycles <= 0 || insns <= 0)
		return false;
	*cost = (w->cycles - w->insns * cycles / insns) / w->nr;
	return true;
}

/* Open cycles with windows and branch stacks, as far as the kernel and the CPU have them. */
static int open_events(struct evlist **evlist)
{
	static const char * const terms[] = {
		(",alt-period=" __stringify(WINDOW) ",branch_type=any"),
		(",alt-period=" __stringify(WINDOW)),
		",branch_type=any",
		"",
	};
	char events[128];
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(terms); i++) {
		if (i)
			evlist__put(*evlist);
		scnprintf(events, sizeof(events), "{cycles/period=%d%s/,instructions}:uS", PERIOD,
			  terms[i]);
		ret = fnstat_events__open(events, evlist);
		if (!ret)
			break;
	}
	return ret;
}

/* Run spin() with events that are open, and read their samples. */
static int sample_spin(struct evlist *evlist, struct costs *costs, double *seconds)
{
	struct timespec begin, end;
	int ret = evlist__do_mmap(evlist, MMAP_PAGES);

	if (ret)
		return ret;
	/* A frequency counts while the task runs. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	evlist__enable(evlist);
	spin();
	evlist__disable(evlist);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	*seconds = end.tv_sec - begin.tv_sec + (end.tv_nsec - begin.tv_nsec) / 1e9;
	return read_samples(evlist, costs);
}

/**
 * fnstat_measure_exact - Check if samples of instructions have the place of the event.
 *
 * Some drivers accept precise_ip and ignore it: only samples tell.
 *
 * Return: False if they are late, or if it cannot be measured.
 */
bool fnstat_measure_exact(void)
{
	double seconds, nr = 0, exact = 0;
	struct costs *costs = NULL;
	struct evlist *evlist;

	if (!fnstat_events__open("instructions/period=" __stringify(PERIOD) "/uP", &evlist))
		costs = calloc(evlist__nr_entries(evlist), sizeof(*costs));
	if (costs && !sample_spin(evlist, costs, &seconds)) {
		for (int i = 0; i < evlist__nr_entries(evlist); i++) {
			nr += costs[i].nr_samples;
			exact += costs[i].nr_exact;
		}
	}
	free(costs);
	evlist__put(evlist);
	return nr && samples__are_exact(exact / nr);
}

/**
 * fnstat_measure - Measure what the interrupts add to a window.
 * @cost: In cycles, the largest of the core PMUs that this ran on. It can be slightly
 *	negative.
 * @hz: Set to the number of cycles in a second of this thread, if that is known.
 * @branches: Set if branch stacks of cycles have cycles.
 *
 * Return: 0, -ENODATA if it cannot be measured, or an error of perf_event_open(2) or of
 * another call.
 */
int fnstat_measure(double *cost, double *hz, bool *branches)
{
	struct costs *costs = NULL;
	struct evlist *evlist;
	double cycles = 0, seconds;
	bool found = false, sampled = false;
	int ret;

	*branches = false;
	ret = open_events(&evlist);
	if (ret)
		goto out;
	costs = calloc(evlist__nr_entries(evlist), sizeof(*costs));
	ret = costs ? sample_spin(evlist, costs, &seconds) : -ENOMEM;
	if (ret)
		goto out;

	for (int i = 0; !ret && i < evlist__nr_entries(evlist); i++) {
		double value;

		cycles += costs[i].longs.cycles + costs[i].windows.cycles;
		if (costs[i].nr_samples) {
			*branches = costs[i].branches && (*branches || !sampled);
			sampled = true;
		}
		if (costs__get(&costs[i], &value)) {
			double nr = costs[i].windows.nr, mean = costs[i].overrun / nr;

			pr_debug("interrupts come %.1f cycles late (+-%.1f) and add %.1f to a window\n",
				 mean, sqrt(max(costs[i].overrun2 / nr - mean * mean, 0.0)), value);
			*cost = found ? max(*cost, value) : value;
			found = true;
		}
	}
	if (!ret && !found)
		ret = -ENODATA;
	if (cycles)
		*hz = cycles / seconds;
	pr_debug("there are %.0f cycles in a second, branch stacks have %s\n", *hz,
		 *branches ? "cycles" : "none");
out:
	free(costs);
	evlist__put(evlist);
	return ret;
}
