// SPDX-License-Identifier: GPL-2.0
/*
 * Estimates from windows and samples.
 *
 * What an entry counted of an event is told by
 *
 * - the samples of the event, if it samples: the share of the entry in them, times the
 *   total of the counter. Right for any entry, with the error of the number of samples.
 * - the windows that begin in the entry, wherever they end: the share of time, which the
 *   samples that end long intervals tell, times the total of cycles, times the counts of the
 *   windows for each of their cycles. A short window has a small error, but also counts
 *   what is executed behind the entry. How much this changes is estimated from what windows
 *   and samples of all entries differ by, and from what is known of other programs.
 *
 * For events of which a window has three or more both are pooled, weighted with their errors,
 * an empirical Bayes estimate: B. Efron, C. Morris, "Data Analysis Using Stein's Estimator and
 * its Generalizations" (1975). The windows are too short to tell much of rare events, so
 * these are told by their samples alone, and windows are used if an event does not sample.
 *
 * A window begins with an interrupt, which waits for the end of an instruction, most often of
 * one that stalls, and ends in the same way. How late both were is known from the counts. So
 * what an entry did from the end of the interval on is known: to wait, and the begin of the
 * window, without what was late at its end.
 *
 * A window that ends in another entry counts for each of both as half a window, if instructions
 * are counted, without what the other one has in a quarter of the time in which it executes. It
 * is in each for half of that on average, but what is subtracted has an error, too. What is left
 * of the bias is taken to grow with the part of the windows that end elsewhere.
 *
 * The interrupt that ends a long interval adds cycles to the window behind it: how many is
 * where windows and samples of instructions agree best, then corrected by the totals.
 */
#include "window-stats.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>

#include "evlist.h"
#include "evsel.h"
#include "json-output.h"

/* Of the normal distribution, for an interval of 95 %. */
#define NORMAL_975		1.959964
/* The upper end for a Poisson process without an event. */
#define POISSON_UPPER		3.689
/* To find out what interrupts add, and how many standard errors that has to be. */
#define COST_STEPS		20
#define MAX_COST_STEP		50.0
#define COST_ERRORS		3
/* No interval is narrower: the counts of windows are whole instructions. */
#define RELATIVE_FLOOR		0.005
/* A wider interval has a mark. */
#define MAX_ERROR		0.2
/* Less are late by chance. */
#define LATENCY_QUANTILE	0.05
/* What is subtracted of the other entry from a window in two of them. */
#define OTHER_PART		0.25
/* At least so much of what windows count where they begin is of there. */
#define MIN_OWN			0.25
/* With so many of an event in a window, windows tell more than the same number of samples. */
#define MIN_COUNT		3
/* With less of an event there is no logarithm of an estimate, nor with a lower rate. */
#define MIN_SAMPLES		3
#define MIN_RATE		0.000000001
/* Of entries with less, windows and samples cannot be compared. */
#define MIN_COMPARED		20
/*
 * What windows that all leave the entry tell is wrong by a factor: the standard deviation of
 * its logarithm if nothing is known, as other programs have it, how much it differs between
 * programs, also by logarithms, and what is tried.
 */
#define UNKNOWN_BIAS		0.25
#define LIKELY_BIAS		0.08
#define BIAS_SPREAD		0.5
#define MIN_BIAS		0.01
#define MAX_BIAS		1.0
#define BIAS_STEPS		60
/* The degrees of freedom that the estimate of it has. */
#define BIAS_DF			10
/* That of windows which do not leave the entry, and are not too long, is so much of it. */
#define UNLEFT_BIAS		0.02
/* By how much more they are biased that are too long. */
#define OVERLONG_BIAS		2
/*
 * Windows that pass through another entry and end where they began are not seen to leave it:
 * how many entries have such windows, for one that has not, and how biased these are.
 */
#define OUTLIERS		0.002
#define OUTLIER_BIAS		0.5
/* And that of branch stacks: where code is slow is only judged by what is near. */
#define BRANCHES_BIAS		0.1
/* What is known of the noise of windows counts as much as so many windows of the entry. */
#define PRIOR_WINDOWS		3
/* And the noise of a recording as much as so much of a window, which has any count. */
#define PRIOR_NOISE		0.1
/* TopDown metrics of Intel's CPUs are fractions of slots in 8 bits, each of so many steps. */
#define FRACTION_STEPS		255

/* Compute the interval of a proportion of @n. */
static void wilson_interval(double p, double n, double *low, double *high)
{
	double z2 = NORMAL_975 * NORMAL_975;
	double center = (p + z2 / (2 * n)) / (1 + z2 / n);
	double half = NORMAL_975 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);

	*low = max(center - half, 0.0);
	*high = min(center + half, 1.0);
}

/**
 * window_group__count - Add what a sample counted to the totals.
 * @group: The group.
 * @window: What window_tracker__add() said of the sample.
 */
void window_group__count(struct window_group *group, const struct window *window)
{
	for (unsigned int i = 0; window->whole && i < group->nr_counts; i++)
		group->totals[i] += window->counts[i];
}

/*
 * Sums over windows: of their weights (SUM_NR), and with these of the lengths as they were
 * armed and of the counts. Then of the products of each pair of these, with the squares of
 * the weights.
 */
enum { SUM_NR, SUM_ARMED, SUM_COUNTS };

static unsigned int window_group__nr_values(const struct window_group *group)
{
	return SUM_COUNTS + group->nr_counts;
}

static unsigned int window_group__nr_sums(const struct window_group *group)
{
	unsigned int nr = window_group__nr_values(group);

	return nr + nr * (nr + 1) / 2 + group->nr_counts + 1;
}

/*
 * Find the sums of the counts of all windows that begin in the entry, behind the products: of
 * the sampling event what they tell of, and behind these what they counted of it.
 */
static double *window_stats__begun(const struct window_stats *stats,
				   const struct window_group *group)
{
	return stats->sums + window_group__nr_sums(group) - group->nr_counts - 1;
}

/* Return which part of the windows that begin in the entry tells of it: the rest is too long. */
static double window_stats__told(const struct window_stats *stats,
				 const struct window_group *group)
{
	const double *begun = window_stats__begun(stats, group);

	return begun[group->nr_counts] > 0 ?
	       begun[group->sampler_index] / begun[group->nr_counts] : 1;
}

/* Return what these say of an event for a unit of the sampling event. */
static double window_stats__begun_rate(const struct window_stats *stats,
				       const struct window_group *group, unsigned int event)
{
	const double *begun = window_stats__begun(stats, group);
	double length = begun[(int)event == group->insns ? group->sampler_index :
							   group->nr_counts];

	return length > 0 ? begun[event] / length : 0;
}

/* Return the sum of the products of two values. */
static double *window_stats__product(const struct window_stats *stats,
				     const struct window_group *group,
				     unsigned int a, unsigned int b)
{
	unsigned int high = max(a, b), low = min(a, b);

	return stats->sums + window_group__nr_values(group) + high * (high + 1) / 2 + low;
}

/**
 * window_stats__add_round - Count a round.
 * @stats: The statistics.
 * @weight: What the round stands for, in units of the sampling event.
 */
void window_stats__add_round(struct window_stats *stats, double weight)
{
	stats->nr_rounds++;
	stats->weight += weight;
	stats->weight2 += weight * weight;
}

static int window_stats__alloc(struct window_stats *stats, const struct window_group *group)
{
	if (!stats->sums)
		stats->sums = calloc(window_group__nr_sums(group), sizeof(*stats->sums));
	return stats->sums ? 0 : -ENOMEM;
}

/* Add a window. */
static void window_stats__add_values(struct window_stats *stats, const struct window_group *group,
				     const double *values)
{
	unsigned int nr = window_group__nr_values(group);
	double *sum = stats->sums;

	for (unsigned int i = 0; i < nr; i++)
		*sum++ += values[i];
	for (unsigned int i = 0; i < nr; i++) {
		for (unsigned int j = 0; j <= i; j++)
			*sum++ += values[i] * values[j];
	}
}

/**
 * window_stats__add_window - Add the counts of a window.
 * @stats: The statistics.
 * @group: Its group of events.
 * @window: The window.
 * @problems: Mask of enum window_problem, to be counted.
 * @used: The counts of the window are used.
 * @scale: What its round stands for, compared with others.
 *
 * Return: 0, or -ENOMEM.
 */
int window_stats__add_window(struct window_stats *stats, const struct window_group *group,
			     const struct window *window, unsigned int problems, bool used,
			     double scale)
{
	unsigned int nr = window_group__nr_values(group);
	double values[nr];

	stats->nr_windows++;
	for (int i = 0; i < WINDOW_PROBLEMS; i++)
		stats->problems[i] += !!(problems & (1 << i));
	if (!used)
		return 0;
	if (window_stats__alloc(stats, group))
		return -ENOMEM;

	stats->nr_used++;
	values[SUM_NR] = scale;
	values[SUM_ARMED] = scale * window->armed;
	for (unsigned int i = 0; i < group->nr_counts; i++)
		values[SUM_COUNTS + i] = scale * window->counts[i];
	window_stats__add_values(stats, group, values);
	return 0;
}

/**
 * window_stats__add_branches - Add what the branches before a sample tell of an entry.
 * @stats: The statistics.
 * @group: Its group of events, which cycles sample.
 * @cycles: Cycles, see struct window_block.
 * @insns: Instructions in these.
 *
 * Return: 0, or -ENOMEM.
 */
int window_stats__add_branches(struct window_stats *stats, const struct window_group *group,
			       double cycles, double insns)
{
	unsigned int nr = window_group__nr_values(group);
	double values[nr];

	if (window_stats__alloc(stats, group))
		return -ENOMEM;

	stats->nr_windows++;
	stats->nr_used++;
	memset(values, 0, sizeof(values));
	values[SUM_NR] = 1;
	values[SUM_ARMED] = cycles;
	values[SUM_COUNTS + group->sampler_index] = cycles;
	values[SUM_COUNTS + group->insns] = insns;
	window_stats__add_values(stats, group, values);
	return 0;
}

/**
 * window_stats__add_end - Count a window that ends.
 * @stats: The statistics of where it ends.
 * @window: The window.
 * @scale: What its round stands for, compared with others.
 */
void window_stats__add_end(struct window_stats *stats, const struct window *window, double scale)
{
	stats->ended += scale;
	stats->overlong += scale * window->overlong;
}

/* Tell by how much windows are too long that end in an entry: that of all, and its own. */
static double window_stats__overlong(const struct window_stats *stats,
				     const struct window_group *group)
{
	const struct window_stats *all = &group->all;
	double one;

	if (!all->ended || !all->nr_used)
		return 0;
	one = all->ended / all->nr_used;
	return (stats->overlong + one * all->overlong / all->ended) / (stats->ended + one);
}

/* Return what the windows counted of the sampling event. */
static double window_stats__length(const struct window_stats *stats,
				   const struct window_group *group)
{
	return stats->sums ? stats->sums[SUM_COUNTS + group->sampler_index] : 0;
}

/**
 * window_stats__merge - Add statistics to others.
 * @stats: Where to add them.
 * @other: Those to add.
 * @group: The group of events of both.
 *
 * The windows of code that stalls are longer than those of other code: they end after the
 * stall. So the counts are added as parts of the time of their entries.
 *
 * Return: 0, or -ENOMEM.
 */
int window_stats__merge(struct window_stats *stats, const struct window_stats *other,
			const struct window_group *group)
{
	double length = window_stats__length(stats, group);
	double other_length = window_stats__length(other, group);
	unsigned int nr = window_group__nr_values(group);

	if (other_length > 0 && window_stats__alloc(stats, group))
		return -ENOMEM;
	for (unsigned int i = 0; other_length > 0 && i < window_group__nr_sums(group); i++) {
		double scale = length > 0 ? stats->weight / length : 1;
		double other_scale = other->weight / other_length;
		/* These have the square. */
		bool product = i >= nr && i < nr + nr * (nr + 1) / 2;

		stats->sums[i] *= product ? scale * scale : scale;
		stats->sums[i] += other->sums[i] *
				  (product ? other_scale * other_scale : other_scale);
	}
	stats->nr_rounds += other->nr_rounds;
	stats->weight += other->weight;
	stats->weight2 += other->weight2;
	stats->nr_windows += other->nr_windows;
	stats->nr_used += other->nr_used;
	for (int i = 0; i < WINDOW_PROBLEMS; i++)
		stats->problems[i] += other->problems[i];
	return 0;
}

/**
 * window_stats__exit - Free what statistics have.
 * @stats: The statistics.
 */
void window_stats__exit(struct window_stats *stats)
{
	zfree(&stats->sums);
}

/**
 * window_stats__left - Return how many of the windows ended elsewhere.
 * @stats: The statistics.
 *
 * Return: 0 to 100 percent, 0 if there are none.
 */
double window_stats__left(const struct window_stats *stats)
{
	u64 nr = stats->problems[ilog2(WINDOW_LEFT)];

	return stats->nr_windows ? 100.0 * nr / stats->nr_windows : 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Return the time from the end of the interval before a window that the window tells of. */
static double kept_window__time(const struct kept_window *kept, const struct window_group *group)
{
	return kept->armed + group->latency - group->costs[group->sampler_index];
}

/* Return the part of it in which the interrupt waited. */
static double kept_window__waiting(const struct kept_window *kept,
				   const struct window_group *group)
{
	double time = kept_window__time(kept, group);

	return time > 0 ? clamp((kept->late - group->latency) / time, 0.0, 1.0) : 0;
}

/*
 * Count the instructions of a window, from the end of the interval before it for as long as
 * the window was armed, if none ends in a stall but the one that stalls. A window that ended in
 * a stall has all others in the time before.
 */
static double kept_window__insns(const struct kept_window *kept, const struct window_group *group,
				 const u64 *counts)
{
	double time = kept_window__time(kept, group);
	double waiting = kept_window__waiting(kept, group);
	double overlong = kept->overlong - group->latency;
	double executing = time - max(overlong, 0.0);
	double part = executing > 0 ? min(time * (1 - waiting) / executing, 1.0) : waiting < 1;

	return ((double)counts[group->insns] - (overlong > 0)) * part +
	       (kept->late > group->latency && kept->late - group->latency <= time);
}

/*
 * Find out how many instructions are not executed in stalls, from the totals. Return how many
 * more each window has than the totals let expect.
 */
static double window_group__find_stall(struct window_group *group, double cycles,
				       double insns_total)
{
	double count = 0, stalled = 0, time = 0, nr = 0, excess;

	for (unsigned int i = 0; i < group->nr_kept; i++) {
		const struct kept_window *kept = &group->kept[i];
		const u64 *counts = &group->kept_counts[i * group->nr_counts];
		double insns = counts[group->insns];

		if (kept->children)
			continue;
		count += kept->scale * insns;
		stalled += kept->scale * (insns - kept_window__insns(kept, group, counts));
		time += kept->scale * kept_window__time(kept, group);
		nr += kept->scale;
	}
	group->stalls = 0;
	if (stalled <= 0 || cycles <= 0)
		return 0;
	excess = count - time * insns_total / cycles;
	group->stalls = clamp(excess / stalled, 0.0, 1.0);
	return (excess - group->stalls * stalled) / nr;
}

/**
 * window_group__find_latency - Find out by how much nearly all intervals are late.
 * @group: The group.
 *
 * Return: 0, or -ENOMEM.
 */
int window_group__find_latency(struct window_group *group)
{
	double *late;

	if (!group->nr_kept)
		return 0;
	late = malloc(group->nr_kept * sizeof(*late));
	if (!late)
		return -ENOMEM;
	for (unsigned int i = 0; i < group->nr_kept; i++)
		late[i] = group->kept[i].overlong;
	qsort(late, group->nr_kept, sizeof(*late), compare_doubles);
	group->latency = late[(unsigned int)(LATENCY_QUANTILE * group->nr_kept)];
	free(late);
	return 0;
}

/**
 * window_group__find_stalls - Find out how much of the time of windows is stalls.
 * @group: The group, with the latency, and the costs. If these are known for the sampling
 *	event, they get such that all windows together have as many instructions as the
 *	totals say.
 * @nr_interrupts: Number of samples.
 *
 * Of the windows that are kept, and what was counted since this was called before.
 */
void window_group__find_stalls(struct window_group *group, double nr_interrupts)
{
	double *cost = &group->costs[group->sampler_index];
	double insns, interrupts = nr_interrupts - group->added.interrupts;

	if (group->insns < 0)
		return;
	insns = group->totals[group->insns] - group->added.insns;
	for (int step = 0; insns > 0 && step < COST_STEPS; step++) {
		double cycles = group->totals[group->sampler_index] - group->added.cycles -
				*cost * interrupts;
		double excess = window_group__find_stall(group, cycles, insns);

		if (!*cost || group->prepared)
			break;
		*cost = max(*cost - excess * cycles / insns, 0.0);
	}
	group->added.cycles = group->totals[group->sampler_index];
	group->added.insns = group->totals[group->insns];
	group->added.interrupts = nr_interrupts;
}

/* Return what a window counted of an event: of instructions, in its time. */
static double kept_window__count(const struct kept_window *kept, const struct window_group *group,
				 const u64 *counts, unsigned int event)
{
	double count = counts[event] - group->costs[event];

	if (event == group->sampler_index)
		return kept_window__time(kept, group);
	if ((int)event != group->insns)
		return count;
	return count - group->stalls * (count - kept_window__insns(kept, group, counts));
}

/**
 * window_stats__begin_kept - Note what a window says of the rates of where it begins.
 * @stats: The statistics.
 * @group: Their group of events.
 * @kept: The window.
 * @counts: What it counted.
 *
 * Return: 0, or -ENOMEM.
 */
int window_stats__begin_kept(struct window_stats *stats, const struct window_group *group,
			     const struct kept_window *kept, const u64 *counts)
{
	if (window_stats__alloc(stats, group))
		return -ENOMEM;
	if (kept_window__time(kept, group) <= 0)
		return 0;
	for (unsigned int i = 0; i < group->nr_counts; i++) {
		window_stats__begun(stats, group)[i] +=
			kept->scale * kept_window__count(kept, group, counts, i);
	}
	window_stats__begun(stats, group)[group->nr_counts] +=
		kept->scale * (counts[group->sampler_index] - group->costs[group->sampler_index]);
	return 0;
}

/**
 * window_stats__add_kept - Let a window count for the entries where it begins and ends.
 * @begin: The statistics of the first.
 * @end: Those of the second, or NULL if it is the first.
 * @group: Their group of events.
 * @kept: The window, noted by window_stats__begin_kept() as others are.
 * @counts: What it counted.
 */
void window_stats__add_kept(struct window_stats *begin, struct window_stats *end,
			    const struct window_group *group, const struct kept_window *kept,
			    const u64 *counts)
{
	unsigned int nr = window_group__nr_values(group);
	double time = kept_window__time(kept, group), scale = kept->scale;
	double executing = time * (1 - kept_window__waiting(kept, group));
	double other = executing * OTHER_PART;
	double told = window_stats__told(begin, group), first[nr], second[nr];
	bool both;

	if (time <= 0)
		return;
	if (!end || !end->sums || !executing)
		end = NULL;
	/* A long one is in others, too: it tells nothing of where it ends. */
	both = end && group->insns >= 0;
	if (both)
		scale /= 2;
	first[SUM_NR] = scale;
	second[SUM_NR] = scale;
	first[SUM_ARMED] = scale * kept->armed;
	second[SUM_ARMED] = scale * kept->armed;
	for (unsigned int i = 0; i < group->nr_counts; i++) {
		double count = kept_window__count(kept, group, counts, i);
		double of_end = end ? other * window_stats__begun_rate(end, group, i) : 0;
		double of_begin = (time - executing + other) *
				  window_stats__begun_rate(begin, group, i);

		/* What happens in stalls too is counted in all of the window. */
		if (i != group->sampler_index && (int)i != group->insns)
			count *= told;
		if (i == group->sampler_index) {
			/* It is no estimate how long the window is in each. */
			of_end = both ? other : 0;
			of_begin = time - executing + other;
		} else if (end && !both) {
			/* What the first has in the same time is in its place. */
			of_end -= other * window_stats__begun_rate(begin, group, i);
		}
		first[SUM_COUNTS + i] = scale * (count - of_end);
		second[SUM_COUNTS + i] = scale * (count - of_begin);
	}
	window_stats__add_values(begin, group, first);
	if (both)
		window_stats__add_values(end, group, second);
}

/**
 * window_stats__clear - Forget the counts of windows.
 * @stats: The statistics.
 * @group: Their group of events.
 */
void window_stats__clear(struct window_stats *stats, const struct window_group *group)
{
	if (stats->sums)
		memset(stats->sums, 0, window_group__nr_sums(group) * sizeof(*stats->sums));
}

/**
 * window_stats__limit - Let what is known of others not be nearly all of an entry.
 * @stats: The statistics, with all windows.
 * @group: Their group of events.
 */
void window_stats__limit(struct window_stats *stats, const struct window_group *group)
{
	double length = window_stats__length(stats, group);

	for (unsigned int i = 0; stats->sums && i < group->nr_counts; i++) {
		double least = MIN_OWN * length * window_stats__begun_rate(stats, group, i);

		if (i != group->sampler_index)
			stats->sums[SUM_COUNTS + i] = max(stats->sums[SUM_COUNTS + i], least);
	}
}

/* Tell how many equal rounds would tell as much as these weighted ones: L. Kish's number. */
static double window_stats__effective_nr(const struct window_stats *stats)
{
	return stats->weight2 ? stats->weight * stats->weight / stats->weight2 : 0;
}

/* Find what samples of the event of windows, or of another one, say of an entry. */
static struct window_samples window_entry__samples(const struct window_entry *entry,
						   const struct window_group *group,
						   unsigned int event)
{
	struct window_samples samples = {};

	if (event != group->sampler_index) {
		if (entry->samples)
			samples = entry->samples[event];
	} else if (group->all.weight) {
		samples.share = entry->stats->weight / group->all.weight;
		samples.all = window_stats__effective_nr(&group->all);
	}
	return samples;
}

static double samples__nr(const struct window_samples *samples)
{
	return samples->share * samples->all;
}

/* Return the variance of the logarithm of a share. */
static double window_samples__variance(const struct window_samples *samples)
{
	return (1 - samples->share) / samples__nr(samples);
}

/*
 * Compute the variance of the sum over the windows of an entry of what the counts, multiplied
 * by @factors, differ from what is expected for their lengths. With @noise, what is known of it
 * from other entries has a part too.
 */
static double window_stats__variance(const struct window_stats *stats,
				     const struct window_group *group, const double *factors,
				     const double *noise)
{
	unsigned int nr = window_group__nr_values(group), length = group->sampler_index;
	double v[nr], nr_windows, nr_products, prior = 0, sum = 0;

	memset(v, 0, sizeof(v));
	for (unsigned int i = 0; i < group->nr_counts; i++) {
		if (i == length || !factors[i])
			continue;
		v[SUM_COUNTS + i] = factors[i];
		v[SUM_COUNTS + length] -= factors[i] * stats->sums[SUM_COUNTS + i] /
					  stats->sums[SUM_COUNTS + length];
		if (noise)
			prior += factors[i] * factors[i] * noise[i];
	}
	for (unsigned int i = SUM_COUNTS; i < nr; i++) {
		for (unsigned int j = SUM_COUNTS; j < nr; j++) {
			if (v[i] && v[j])
				sum += v[i] * v[j] * *window_stats__product(stats, group, i, j);
		}
	}
	sum = max(sum, 0.0);
	if (!noise)
		return sum;
	nr_products = *window_stats__product(stats, group, SUM_NR, SUM_NR);
	nr_windows = stats->sums[SUM_NR] * stats->sums[SUM_NR] / nr_products;
	prior *= PRIOR_WINDOWS * nr_products / nr_windows;
	return (sum + prior) * nr_windows / (nr_windows + PRIOR_WINDOWS - 1);
}

/* Estimates of the rate of an event, and the variances of their logarithms. */
struct window_rate {
	double	windows;
	double	windows_variance;
	double	samples;
	double	samples_variance;
};

/* Compute the rates of windows alone, and samples alone: 0 is one that does not exist. */
static struct window_rate window_entry__rate(const struct window_entry *entry,
					     const struct window_group *group,
					     unsigned int event, const double *noise)
{
	struct window_samples time = window_entry__samples(entry, group, group->sampler_index);
	struct window_samples samples = window_entry__samples(entry, group, event);
	double factors[group->nr_counts], length = window_stats__length(entry->stats, group);
	struct window_rate rate = {};

	if (length > 0) {
		double count = entry->stats->sums[SUM_COUNTS + event];

		memset(factors, 0, sizeof(factors));
		factors[event] = 1;
		/* What is left by rounding is no count. */
		rate.windows = count >= MIN_RATE * length ? count / length : 0;
		rate.windows_variance = window_stats__variance(entry->stats, group, factors,
							       noise) / (count * count);
	}
	if (samples__nr(&samples) >= MIN_SAMPLES && time.share) {
		rate.samples = samples.share * group->totals[event] /
			       (time.share * group->totals[group->sampler_index]);
		rate.samples_variance = window_samples__variance(&samples) +
					window_samples__variance(&time);
	}
	return rate;
}

/**
 * window_group__find_costs - Find out what the interrupts add to windows.
 * @group: The group. Its totals are with that.
 * @entries: Its entries, functions in the best case.
 * @nr: Number of these.
 * @nr_interrupts: Number of samples.
 *
 * A user's instructions are not executed by interrupts. If the kernel's are counted too, or
 * instructions are not counted, nothing is known. If they are not sampled, or what was found
 * can be chance, interrupts are taken to add nothing.
 */
void window_group__find_costs(struct window_group *group, const struct window_entry *entries,
			      unsigned int nr, double nr_interrupts)
{
	double *cycles = &group->totals[group->sampler_index], all = *cycles;
	double *cost = &group->costs[group->sampler_index], weights = 0;

	if (group->insns < 0 || !group->sampler->core.attr.exclude_kernel || !group->all.sums ||
	    !all || !group->totals[group->insns])
		return;

	/* Newton's method: the logarithm of the rate of windows falls with their length. */
	for (int step = 0; group->samplers[group->insns] && step < COST_STEPS; step++) {
		double sum = 0;

		weights = 0;
		for (unsigned int i = 0; i < nr; i++) {
			struct window_rate rate = window_entry__rate(&entries[i], group,
								     group->insns, NULL);
			const struct window_stats *stats = entries[i].stats;
			double length, overlong, slope, error, windows;

			if (!rate.windows || !rate.samples)
				continue;
			windows = stats->sums[SUM_NR];
			overlong = windows * window_stats__overlong(stats, group);
			length = stats->sums[SUM_ARMED] + overlong - windows * *cost;
			if (length < windows)
				continue;
			overlong /= length;
			slope = windows / length;
			error = rate.windows_variance + rate.samples_variance +
				overlong * overlong;
			sum += slope / error * log(rate.samples * length /
						   stats->sums[SUM_COUNTS + group->insns]);
			weights += slope * slope / error;
		}
		if (!weights)
			break;
		*cost += clamp(sum / weights, -MAX_COST_STEP, MAX_COST_STEP);
		*cycles = all - nr_interrupts * *cost;
	}
	*cycles = all;
	if (!weights || *cost < COST_ERRORS / sqrt(weights))
		*cost = 0;
	for (unsigned int i = 0; *cost && i < group->nr_counts; i++) {
		const double *sums = group->all.sums;

		if (i == group->sampler_index || (int)i == group->insns)
			continue;
		/* All windows together have the rate of the program. */
		group->costs[i] = (sums[SUM_COUNTS + i] - sums[SUM_COUNTS + group->insns] *
				   group->totals[i] / group->totals[group->insns]) /
				  sums[SUM_NR];
	}
}

/* Tell if the windows have enough of an event to be pooled with its samples. */
static bool window_group__is_frequent(const struct window_group *group, unsigned int event)
{
	return group->all.sums && group->all.sums[SUM_COUNTS + event] >=
				  MIN_COUNT * group->all.sums[SUM_NR];
}

/* Find out how counts of windows differ from what their entry and length let expect. */
static void window_group__find_noise(struct window_group *group,
				     const struct window_entry *entries, unsigned int nr)
{
	const double *all = group->all.sums;
	double factors[group->nr_counts], weights = PRIOR_NOISE;

	for (unsigned int j = 0; j < nr; j++) {
		const struct window_stats *stats = entries[j].stats;
		double squares = stats->sums ?
				 *window_stats__product(stats, group, SUM_NR, SUM_NR) : 0;

		/* Windows differ from their mean, and one alone does not. */
		if (squares)
			weights += squares * (1 - squares / pow(stats->sums[SUM_NR], 2));
	}
	for (unsigned int i = 0; i < group->nr_counts; i++) {
		double mean = all && all[SUM_NR] ? all[SUM_COUNTS + i] / all[SUM_NR] : 0;
		double sum = PRIOR_NOISE * (mean * mean + fabs(mean));

		if (i == group->sampler_index)
			continue;
		memset(factors, 0, sizeof(factors));
		factors[i] = 1;
		for (unsigned int j = 0; j < nr; j++) {
			if (window_stats__length(entries[j].stats, group) > 0) {
				sum += window_stats__variance(entries[j].stats, group, factors,
							      NULL);
			}
		}
		group->noise[i] = sum / weights;
	}
}

/*
 * Return the square of how biased the windows of an entry are, up to a factor that all have: by
 * as much as they are of other entries, and as they are too long. Where stalls begin and
 * end in windows is uncertain: of instructions it is subtracted, and other events can happen
 * in them.
 */
static double window_stats__bias(const struct window_stats *stats,
				 const struct window_group *group)
{
	double left = (stats->problems[ilog2(WINDOW_LEFT)] + 1.0) / (stats->nr_windows + 2.0);
	double overlong = stats->sums ?
			  OVERLONG_BIAS * clamp(1 - window_stats__told(stats, group), 0.0, 1.0) : 0;

	if (group->branches)
		return BRANCHES_BIAS * BRANCHES_BIAS;
	return left * left + overlong * overlong + UNLEFT_BIAS * UNLEFT_BIAS;
}

/*
 * Return the logarithm of the odds that the windows of an entry are not like those of others,
 * if windows and samples differ by the root of @square, and @variance is that of others.
 */
static double outlier_log_odds(double square, double variance)
{
	double more = variance + OUTLIER_BIAS * OUTLIER_BIAS;

	return log(OUTLIERS) + log(variance / more) / 2 +
	       square / 2 * (1 / variance - 1 / more);
}

/* Return the logarithm of one more than a number, from that of the number, however large. */
static double log1p_exp(double x)
{
	return x > 30 ? x : log1p(exp(x));
}

/* What windows and samples of an entry differ by. */
struct difference {
	/* The square of the difference of their logarithms. */
	double	square;
	/* What of it their errors explain. */
	double	variance;
	/* window_stats__bias() */
	double	bias;
};

/* Compare the entries with enough samples. Return how many there are. */
static unsigned int window_group__compare(const struct window_group *group,
					  const struct window_entry *entries, unsigned int nr,
					  unsigned int event, struct difference *differences)
{
	unsigned int compared = 0;

	for (unsigned int i = 0; i < nr; i++) {
		struct window_samples samples = window_entry__samples(&entries[i], group, event);
		struct window_samples time = window_entry__samples(&entries[i], group,
								   group->sampler_index);
		struct difference *difference = &differences[compared];
		struct window_rate rate;

		if (samples__nr(&samples) < MIN_COMPARED || samples__nr(&time) < MIN_COMPARED)
			continue;
		rate = window_entry__rate(&entries[i], group, event, group->noise);
		if (!rate.windows || !rate.samples)
			continue;
		difference->variance = rate.windows_variance + rate.samples_variance;
		difference->square = log(rate.samples / rate.windows);
		difference->square *= difference->square;
		difference->bias = window_stats__bias(entries[i].stats, group);
		compared++;
	}
	return compared;
}

/*
 * Find out how biased windows are: the mean of all variances, weighted with how likely it is
 * that other programs have it, and that windows and samples then differ as they do.
 */
static double window_group__find_bias(const struct window_group *group,
				      const struct window_entry *entries, unsigned int nr,
				      unsigned int event, struct difference *differences)
{
	double likelihoods[BIAS_STEPS], biases[BIAS_STEPS], most = -INFINITY;
	double weights = 0, sum = 0;

	nr = window_group__compare(group, entries, nr, event, differences);
	for (int step = 0; step < BIAS_STEPS; step++) {
		double log_bias = log(MIN_BIAS) +
				  log(MAX_BIAS / MIN_BIAS) * step / (BIAS_STEPS - 1);
		double prior = (log_bias - log(LIKELY_BIAS)) / BIAS_SPREAD;

		biases[step] = exp(2 * log_bias);
		likelihoods[step] = -prior * prior / 2;
		for (unsigned int i = 0; i < nr; i++) {
			double square = differences[i].square;
			double variance = differences[i].variance +
					  biases[step] * differences[i].bias;

			likelihoods[step] -= (log(variance) + square / variance) / 2;
			if ((int)event == group->insns)
				likelihoods[step] += log1p_exp(outlier_log_odds(square, variance));
		}
		most = max(most, likelihoods[step]);
	}
	for (int step = 0; step < BIAS_STEPS; step++) {
		double weight = exp(likelihoods[step] - most);

		weights += weight;
		sum += weight * biases[step];
	}
	return sum / weights;
}

/*
 * An estimate of a count, how large the part of the windows in its logarithm is, and the
 * square of how biased that is.
 */
struct window_count {
	double	count;
	double	windows;
	double	bias;
};

/*
 * @relative: The count is to be compared with that of another event that windows tell of.
 * Return: False if there is nothing to estimate it from.
 */
static bool window_entry__count(const struct window_entry *entry,
				const struct window_group *group, unsigned int event,
				bool relative, struct window_count *count)
{
	struct window_samples time = window_entry__samples(entry, group, group->sampler_index);
	struct window_samples samples = window_entry__samples(entry, group, event);
	double cycles = time.share * group->totals[group->sampler_index];
	double windows, sampled, time_variance;
	struct window_rate rate;

	count->windows = 0;
	count->bias = group->bias[event] * window_stats__bias(entry->stats, group);
	count->count = cycles;
	if (event == group->sampler_index)
		return cycles > 0;

	rate = window_entry__rate(entry, group, event, group->noise);
	count->count = samples.share * group->totals[event];
	if (group->samplers[event] && (!window_group__is_frequent(group, event) || !rate.windows))
		return true;
	/* Branches tell of instructions alone. */
	if (!group->samplers[event] && group->branches && (int)event != group->insns)
		return false;
	if (!group->samplers[event] || !rate.samples) {
		count->windows = 1;
		count->count = cycles * rate.windows;
		return window_stats__length(entry->stats, group) > 0 && cycles > 0;
	}
	if ((int)event == group->insns) {
		double difference = log(rate.samples / rate.windows), log_odds;

		log_odds = outlier_log_odds(difference * difference, rate.windows_variance +
					    rate.samples_variance + count->bias);
		count->bias += OUTLIER_BIAS * OUTLIER_BIAS / (1 + exp(-log_odds));
	}
	time_variance = window_samples__variance(&time);
	windows = rate.windows_variance + count->bias;
	sampled = window_samples__variance(&samples);
	if (relative)
		sampled += time_variance;
	else
		windows += time_variance;
	count->windows = windows + sampled > 0 ? sampled / (windows + sampled) : 0.5;
	count->count = cycles * exp(count->windows * log(rate.windows) +
				    (1 - count->windows) * log(rate.samples));
	return true;
}

/* If samples are missing, shares in those that are left are not shares of the counters. */
static void window_group__check_shares(const struct window_group *group,
				       struct window_metric *metric,
				       const struct window_entry *entries, unsigned int nr)
{
	struct window_count count;
	double sum = 0;

	if (metric->kind != WINDOW_METRIC_SHARE || !metric->available)
		return;
	for (unsigned int i = 0; i < nr; i++) {
		if (window_entry__count(&entries[i], group, metric->dividend,
					/*relative=*/false, &count))
			sum += count.count;
	}
	metric->contradicted = fabs(sum - group->totals[metric->dividend]) >
			       MAX_ERROR * group->totals[metric->dividend];
}

/**
 * window_group__calibrate - Find out how much windows differ from each other and from samples.
 * @group: The group.
 * @entries: All entries.
 * @nr: Number of these.
 *
 * Return: 0, or -ENOMEM.
 */
int window_group__calibrate(struct window_group *group, const struct window_entry *entries,
			    unsigned int nr)
{
	struct difference *differences = malloc((nr + 1) * sizeof(*differences));
	double insns = UNKNOWN_BIAS * UNKNOWN_BIAS;

	if (!differences)
		return -ENOMEM;
	window_group__find_noise(group, entries, nr);
	if (group->insns >= 0 && group->samplers[group->insns])
		insns = window_group__find_bias(group, entries, nr, group->insns, differences);
	for (unsigned int i = 0; i < group->nr_counts; i++) {
		/* Of what does not sample, the instructions have to tell. */
		group->bias[i] = insns;
		if (group->samplers[i] && window_group__is_frequent(group, i))
			group->bias[i] = window_group__find_bias(group, entries, nr, i,
								 differences);
	}
	free(differences);
	for (unsigned int i = 0; i < group->nr_metrics; i++)
		window_group__check_shares(group, &group->metrics[i], entries, nr);
	group->calibrated = true;
	return 0;
}

/* Tell what one count stands for, of a sample or in a window. */
static double window_entry__one(const struct window_entry *entry,
				const struct window_group *group, unsigned int event)
{
	struct window_samples time = window_entry__samples(entry, group, group->sampler_index);
	struct window_samples samples = window_entry__samples(entry, group, event);

	if (group->samplers[event])
		return samples.all ? group->totals[event] / samples.all : group->totals[event];
	return time.share * group->totals[group->sampler_index] /
	       window_stats__length(entry->stats, group);
}

/* Return quantile 0.975 of Student's distribution: M. Abramowitz, I. A. Stegun, 26.7.5. */
static double student_975(double df)
{
	const double z = NORMAL_975, z3 = z * z * z, z5 = z3 * z * z;

	/* The series is for more than this. */
	df = max(df, 2.5);
	return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df) +
	       (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * df * df * df);
}

/* The variance of a sum, and F. E. Satterthwaite's degrees of freedom of it (1946). */
struct variance {
	double	sum;
	double	sum2;
};

static void variance__add(struct variance *variance, double value, double df)
{
	variance->sum += value;
	if (df > 0)
		variance->sum2 += value * value / df;
}

static double variance__half_interval(const struct variance *variance)
{
	double df = variance->sum2 ? variance->sum * variance->sum / variance->sum2 : INFINITY;

	return (isfinite(df) ? student_975(df) : NORMAL_975) * sqrt(variance->sum);
}

/* Find how a metric changes with each count: derivatives by their logarithms, or by them. */
static void window_metric__derive(const struct window_metric *metric,
				  const struct window_group *group, double value, double *counts,
				  double *derivatives)
{
	memset(derivatives, 0, group->nr_counts * sizeof(*derivatives));
	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		unsigned int event = metric->id_events[i];
		double count = counts[event], step = 0.001 * (count ?: group->totals[event] ?: 1);

		counts[event] += step;
		derivatives[event] = (window_metric__compute(metric, group, counts) - value) / step;
		counts[event] = count;
	}
}

/* Compute a metric from estimates of its counts. Return NAN if one of them is not known. */
static double window_entry__compute(const struct window_entry *entry,
				    const struct window_group *group,
				    const struct window_metric *metric,
				    double *counts, struct window_count *parts)
{
	unsigned int of_windows = 0;
	bool relative = false;

	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		unsigned int event = metric->id_events[i];

		relative = relative || event == group->sampler_index || !group->samplers[event];
		of_windows += window_group__is_frequent(group, event);
	}
	/* Windows tell better how two events compare than how often each comes. */
	relative = relative || of_windows > 1;
	memset(counts, 0, group->nr_counts * sizeof(*counts));
	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		unsigned int event = metric->id_events[i];

		if (!window_entry__count(entry, group, event, relative, &parts[event]))
			return NAN;
		counts[event] = parts[event].count;
	}
	return window_metric__compute(metric, group, counts);
}

static enum metric_threshold_classify
window_entry__classify(const struct window_entry *entry, const struct window_group *group,
		       const struct window_metric *threshold)
{
	struct window_count parts[group->nr_counts];
	double counts[group->nr_counts];

	if (!threshold || !threshold->available)
		return METRIC_THRESHOLD_UNKNOWN;
	return metric_threshold_classify__value(window_entry__compute(entry, group, threshold,
								      counts, parts));
}

/**
 * window_stats__estimate - Estimate a metric.
 * @entry: The entry.
 * @group: Its group of events, calibrated.
 * @metric: Index of the metric in the group.
 * @estimate: The estimate, in the unit of the metric.
 *
 * Return: How precise it is.
 */
enum window_quality window_stats__estimate(const struct window_entry *entry,
					   const struct window_group *group,
					   unsigned int metric,
					   struct window_estimate *estimate)
{
	const struct window_metric *m = &group->metrics[metric];
	unsigned int nr = group->nr_counts;
	double counts[nr], derivatives[nr], factors[nr], by_time = 0;
	double half, value, length;
	struct window_samples time = window_entry__samples(entry, group, group->sampler_index);
	struct window_count parts[nr];
	struct variance variance = {};

	if (!m->available)
		return WINDOW_ESTIMATE_NONE;
	value = window_entry__compute(entry, group, m, counts, parts);
	if (!isfinite(value))
		return WINDOW_ESTIMATE_NONE;
	estimate->value = value;
	estimate->threshold = window_entry__classify(entry, group, m->threshold);

	window_metric__derive(m, group, value, counts, derivatives);
	length = window_stats__length(entry->stats, group);
	memset(factors, 0, sizeof(factors));
	for (unsigned int i = 0; i < m->nr_ids; i++) {
		unsigned int event = m->id_events[i];
		double part = parts[event].windows, by_log = derivatives[event] * counts[event];
		struct window_samples samples = window_entry__samples(entry, group, event);

		if (event == group->sampler_index) {
			by_time += by_log;
			continue;
		}
		by_time += part * by_log;
		if (part) {
			double count = entry->stats->sums[SUM_COUNTS + event];

			factors[event] = count > 0 ? part * by_log / count :
					 derivatives[event] * time.share *
					 group->totals[group->sampler_index] / length;
			variance__add(&variance, part * part * by_log * by_log *
				      parts[event].bias, BIAS_DF);
		}
		if (part < 1 && samples.share) {
			variance__add(&variance, (1 - part) * (1 - part) * by_log * by_log *
				      window_samples__variance(&samples), samples__nr(&samples));
		}
		if (group->fractions[event]) {
			double slots = time.share * group->totals[group->slots];

			/* How a CPU rounds is not documented: at most by a step. */
			slots *= derivatives[event] / FRACTION_STEPS;
			variance__add(&variance, slots * slots / 3, 0);
		}
	}
	if (by_time && time.share)
		variance__add(&variance, by_time * by_time * window_samples__variance(&time),
			      samples__nr(&time));
	if (length > 0) {
		variance__add(&variance, window_stats__variance(entry->stats, group, factors,
								group->noise),
			      entry->stats->nr_used + PRIOR_WINDOWS - 1);
	}
	half = variance__half_interval(&variance);

	if (value > 0 && half < value) {
		double relative_half = max(half / value, RELATIVE_FLOOR);

		estimate->low = value * exp(-relative_half);
		estimate->high = value * exp(relative_half);
	} else {
		estimate->low = value < 0 ? value - half : max(value - half, 0.0);
		estimate->high = value + half;
	}
	if (!value && m->kind != WINDOW_METRIC_EXPR) {
		counts[m->dividend] = min(window_entry__one(entry, group, m->dividend) *
					  POISSON_UPPER, group->totals[m->dividend]);
		estimate->high = window_metric__compute(m, group, counts);
	}
	/* A part is at most all, if the totals are. */
	if (m->kind == WINDOW_METRIC_SHARE ||
	    (m->kind == WINDOW_METRIC_RATIO && m->factor == 100 &&
	     group->totals[m->dividend] <= group->totals[m->divisor])) {
		estimate->value = min(value, m->factor);
		estimate->low = min(estimate->low, m->factor);
		estimate->high = min(estimate->high, m->factor);
	}
	return value > 0 && !m->contradicted && estimate->high <= value * (1 + MAX_ERROR) &&
	       estimate->low * (1 + MAX_ERROR) >= value * 0.999 ?
	       WINDOW_ESTIMATE_GOOD : WINDOW_ESTIMATE_POOR;
}

/**
 * window_stats__time - Estimate the share of time, of the unit of the sampling event.
 * @stats: The statistics.
 * @group: Their group of events.
 * @estimate: The share, in percent.
 *
 * Return: False if there is no sample at all.
 */
bool window_stats__time(const struct window_stats *stats, const struct window_group *group,
			struct window_estimate *estimate)
{
	double n = window_stats__effective_nr(&group->all), p;

	if (!n)
		return false;

	p = stats->weight / group->all.weight;
	wilson_interval(p, n, &estimate->low, &estimate->high);
	estimate->value = 100 * p;
	estimate->low *= 100;
	estimate->high *= 100;
	return true;
}

/* Half of the interval are about two standard errors: at most 1.96, the t of many rounds. */
static double standard_error(double low, double high)
{
	return (high - low) / 2 / NORMAL_975;
}

/**
 * window_estimate__z - Tell by how many standard errors two estimates differ.
 * @a: An estimate.
 * @b: Another one, of other data.
 *
 * Return: The difference of @b and @a, on a logarithmic scale if both are positive,
 * divided by its standard error. 0 if nothing is known of it.
 */
double window_estimate__z(const struct window_estimate *a, const struct window_estimate *b)
{
	double difference, error_a, error_b;

	if (a->low > 0 && b->low > 0) {
		difference = log(b->value / a->value);
		error_a = standard_error(log(a->low), log(a->high));
		error_b = standard_error(log(b->low), log(b->high));
	} else {
		difference = b->value - a->value;
		error_a = standard_error(a->low, a->high);
		error_b = standard_error(b->low, b->high);
	}
	difference /= sqrt(error_a * error_a + error_b * error_b);
	return isfinite(difference) ? difference : 0;
}

/* Seventeen digits are any double. */
static void fprintf_array(const double *values, unsigned int nr, FILE *fp)
{
	fputc('[', fp);
	for (unsigned int i = 0; i < nr; i++)
		fprintf(fp, "%s%.17g", i ? ", " : "", values[i]);
	fputc(']', fp);
}

/**
 * window_stats__fprintf_json - Write statistics as members of a JSON object.
 * @stats: The statistics.
 * @group: Their group of events.
 * @depth: Of the members.
 * @fp: Where to write.
 *
 * All are sums: those of two recordings can be added.
 */
void window_stats__fprintf_json(const struct window_stats *stats,
				const struct window_group *group, int depth, FILE *fp)
{
	static const char * const names[WINDOW_PROBLEMS] = {
		"left", "lost", "length", "backwards", "split", "multiplexed",
	};
	const double *begun;
	unsigned int nr;

	output_json_key_format(fp, false, depth, "rounds", "%" PRIu64, stats->nr_rounds);
	output_json_key_format(fp, true, depth, "weight", "%.17g", stats->weight);
	output_json_key_format(fp, true, depth, "weight2", "%.17g", stats->weight2);
	output_json_key_format(fp, true, depth, "windows", "%" PRIu64, stats->nr_windows);
	output_json_key_format(fp, true, depth, "used", "%" PRIu64, stats->nr_used);
	output_json_key_format(fp, true, depth, "problems", "{");
	for (int i = 0; i < WINDOW_PROBLEMS; i++)
		fprintf(fp, "%s\"%s\": %" PRIu64, i ? ", " : "", names[i], stats->problems[i]);
	fputc('}', fp);
	if (!stats->sums)
		return;

	nr = window_group__nr_values(group);
	begun = window_stats__begun(stats, group);
	output_json_key_format(fp, true, depth, "sums", "%s", "");
	fprintf_array(stats->sums, nr, fp);
	output_json_key_format(fp, true, depth, "begun", "[%.17g, %.17g]",
			       begun[group->sampler_index], begun[group->nr_counts]);
	output_json_key_format(fp, true, depth, "products", "%s", "");
	fprintf_array(stats->sums + nr, nr * (nr + 1) / 2, fp);
}

/**
 * window_group__fprintf_json - Write what the statistics of a group have in common.
 * @group: The group.
 * @depth: Of the members of a JSON object.
 * @fp: Where to write.
 */
void window_group__fprintf_json(const struct window_group *group, int depth, FILE *fp)
{
	unsigned int nr = group->nr_counts;
	struct evsel *evsel;

	output_json_key_format(fp, false, depth, "group", "[");
	for_each_group_evsel(evsel, evsel__leader(group->sampler)) {
		if (!nr--)
			break;
		if (nr + 1 != group->nr_counts)
			fputs(", ", fp);
		output_json_string(fp, evsel__name(evsel));
	}
	fputc(']', fp);
	output_json_key_format(fp, true, depth, "totals", "%s", "");
	fprintf_array(group->totals, group->nr_counts, fp);
	output_json_key_format(fp, true, depth, "sampler", "%u", group->sampler_index);
	output_json_key_format(fp, true, depth, "length", "%.17g", group->length);
	output_json_key_format(fp, true, depth, "branches", group->branches ? "true" : "false");
	output_json_key_format(fp, true, depth, "costs", "%s", "");
	fprintf_array(group->costs, group->nr_counts, fp);
	output_json_key_format(fp, true, depth, "noise", "%s", "");
	fprintf_array(group->noise, group->nr_counts, fp);
	output_json_key_format(fp, true, depth, "bias", "%s", "");
	fprintf_array(group->bias, group->nr_counts, fp);
	output_json_key_format(fp, true, depth, "all", "{");
	window_stats__fprintf_json(&group->all, group, depth + 1, fp);
	output_json_format(fp, false, depth, "}");
}
