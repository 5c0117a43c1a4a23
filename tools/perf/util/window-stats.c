// SPDX-License-Identifier: GPL-2.0
/*
 * Estimates from windows and samples: the method is in the manual of perf report, WINDOWS.
 *
 * Windows and samples of instructions are pooled, an empirical Bayes estimate: B. Efron,
 * C. Morris, "Data Analysis Using Stein's Estimator and its Generalizations" (1975).
 *
 * All estimates are computed from sums that can be added, of entries and of recordings.
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
#include "symbol_conf.h"

/* Quantile of the normal distribution, for an interval of 95 %. */
#define NORMAL_975		1.959964
/* The upper end for a Poisson process without an event, -log(0.025). */
#define POISSON_UPPER		3.689
/* Steps of the TopDown metrics of Intel's CPUs, which are fractions of slots in 8 bits. */
#define FRACTION_STEPS		255
/* An estimate that can be wrong by this factor is not printed. */
#define USELESS_ERROR		2
/* With fewer samples there is no logarithm of an estimate, and windows do not tell their length. */
#define MIN_SAMPLES		3
/* How often to halve the range of the cost of interrupts, or to solve for all rates. */
#define STEPS			40
/* Part of a window that leaves its entry which is of the entry at its other end. */
#define OTHERS			0.4
/* Variance of the logarithm of the rate of an entry, before its windows are known. */
#define RATE_SPREAD		0.15
/*
 * Standard deviation of the logarithm of a rate from windows that all leave their entry, or from
 * samples that are late.
 */
#define BIAS			0.2
/* The same of branch stacks, which have the place of each count. */
#define BRANCHES_BIAS		0.015
/*
 * The same of an event that windows have hardly any of, as misses, or whose samples are late, and
 * what it is more if all windows leave: most of what they have is of others then.
 */
#define RARE_BIAS		0.3
#define RARE_LEFT		2
/* Part by which the cost of interrupts differs between functions. */
#define COST_SPREAD		0.05

/*
 * Sums over windows: of their weights, and of the weighted counts. Then the sums of the
 * products of each pair of these values, and the counts before window_group__subtract_others().
 */
enum { SUM_NR, SUM_COUNTS };

static unsigned int window_group__nr_values(const struct window_group *group)
{
	return SUM_COUNTS + group->nr_counts;
}

static unsigned int window_group__nr_sums(const struct window_group *group)
{
	unsigned int nr = window_group__nr_values(group);

	return nr + nr * (nr + 1) / 2 + group->nr_counts;
}

/* Return the sum of the products of two values. */
static double *window_stats__product(const struct window_stats *stats,
				     const struct window_group *group,
				     unsigned int a, unsigned int b)
{
	unsigned int row = max(a, b), column = min(a, b);

	return stats->sums + window_group__nr_values(group) + row * (row + 1) / 2 + column;
}

/* Return the counts of the windows before those of other entries were subtracted. */
static double *window_stats__raw(const struct window_stats *stats, const struct window_group *group)
{
	return stats->sums + window_group__nr_sums(group) - group->nr_counts;
}

/**
 * window_group__count - Add the counts of a sample to the totals.
 * @group: The group.
 * @window: What window_tracker__add() said of the sample.
 */
void window_group__count(struct window_group *group, const struct window *window)
{
	group->missing.time += window->time;
	for (unsigned int i = 0; window->whole && i < group->nr_counts; i++)
		group->totals[i] += window->counts[i];
}

/**
 * window_stats__add_sample - Count a sample of the event with windows.
 * @stats: The statistics of where it is.
 * @weight: Its weight, in units of the event.
 * @earlier: Number of earlier samples of the same round in the same place. They have the same
 *	weight, and all together count as one.
 */
void window_stats__add_sample(struct window_stats *stats, double weight, unsigned int earlier)
{
	stats->weight += weight;
	/* This is the growth of the square of the sum. */
	stats->weight2 += (2.0 * earlier + 1) * weight * weight;
}

/**
 * window_stats__count_window - Count a window.
 * @stats: The statistics of where it begins.
 * @problems: Mask of enum window_problem.
 * @used: The counts of the window are used.
 */
void window_stats__count_window(struct window_stats *stats, unsigned int problems, bool used)
{
	stats->nr_windows++;
	stats->nr_used += used;
	for (int i = 0; i < WINDOW_PROBLEMS; i++)
		stats->problems[i] += !!(problems & (1 << i));
}

static int window_stats__alloc(struct window_stats *stats, const struct window_group *group)
{
	if (!stats->sums)
		stats->sums = calloc(window_group__nr_sums(group), sizeof(*stats->sums));
	return stats->sums ? 0 : -ENOMEM;
}

static int window_stats__add_values(struct window_stats *stats, const struct window_group *group,
				    const double *values)
{
	unsigned int nr = window_group__nr_values(group);
	double *sum;

	if (window_stats__alloc(stats, group))
		return -ENOMEM;
	sum = stats->sums;
	for (unsigned int i = 0; i < nr; i++)
		*sum++ += values[i];
	for (unsigned int i = 0; i < nr; i++) {
		for (unsigned int j = 0; j <= i; j++)
			*sum++ += values[i] * values[j];
	}
	return 0;
}

/**
 * window_stats__add_counts - Add the counts of a window.
 * @stats: The statistics of where it begins or ends.
 * @group: Its group of events.
 * @counts: The counts.
 * @weight: Weight of the window.
 * @left: It began or ended elsewhere.
 *
 * Return: 0, or -ENOMEM.
 */
int window_stats__add_counts(struct window_stats *stats, const struct window_group *group,
			     const u64 *counts, double weight, bool left)
{
	double values[window_group__nr_values(group)];

	values[SUM_NR] = weight;
	for (unsigned int i = 0; i < group->nr_counts; i++)
		values[SUM_COUNTS + i] = weight * counts[i];
	if (left)
		stats->left += weight;
	return window_stats__add_values(stats, group, values);
}

static int cmp_pairs(const void *a, const void *b)
{
	const struct window_pair *x = a, *y = b;

	return x->stats != y->stats ? (x->stats < y->stats ? -1 : 1) :
	       x->other != y->other ? (x->other < y->other ? -1 : 1) : 0;
}

/* Make one of the pairs of the same entries, of which call chains have many. */
static void window_group__merge_pairs(struct window_group *group)
{
	size_t nr = 0;

	if (!group->nr_pairs)
		return;
	qsort(group->pairs, group->nr_pairs, sizeof(*group->pairs), cmp_pairs);
	for (size_t i = 0; i < group->nr_pairs; i++) {
		if (nr && !cmp_pairs(&group->pairs[nr - 1], &group->pairs[i]))
			group->pairs[nr - 1].weight += group->pairs[i].weight;
		else
			group->pairs[nr++] = group->pairs[i];
	}
	group->nr_pairs = nr;
}

/**
 * window_group__add_pair - Note that a window left an entry.
 * @group: The group.
 * @stats: The statistics of where it begins or ends.
 * @other: The statistics of where its other end is.
 * @weight: Weight of the window.
 *
 * Return: 0, or -ENOMEM.
 */
int window_group__add_pair(struct window_group *group, struct window_stats *stats,
			   struct window_stats *other, double weight)
{
	if (group->nr_pairs == group->max_pairs) {
		window_group__merge_pairs(group);
		if (group->nr_pairs >= group->max_pairs / 2) {
			size_t max = 2 * group->max_pairs ?: 1024;
			struct window_pair *pairs = reallocarray(group->pairs, max,
								 sizeof(*pairs));

			if (!pairs)
				return -ENOMEM;
			group->pairs = pairs;
			group->max_pairs = max;
		}
	}
	group->pairs[group->nr_pairs++] = (struct window_pair){ stats, other, weight };
	return 0;
}

/**
 * window_stats__add_branches - Add blocks of an entry from the branch stack of a sample.
 * @stats: The statistics.
 * @group: Its group of events, whose sampler is cycles.
 * @cycles: Cycles of the blocks, see struct window_block.
 * @insns: Instructions of the blocks.
 *
 * Return: 0, or -ENOMEM.
 */
int window_stats__add_branches(struct window_stats *stats, const struct window_group *group,
			       double cycles, double insns)
{
	double values[window_group__nr_values(group)];

	memset(values, 0, sizeof(values));
	values[SUM_NR] = 1;
	values[SUM_COUNTS + group->sampler_index] = cycles;
	values[SUM_COUNTS + group->insns] = insns;
	window_stats__count_window(stats, /*problems=*/0, /*used=*/true);
	return window_stats__add_values(stats, group, values);
}

/* Return the count of the sampling event in the windows. */
static double window_stats__length(const struct window_stats *stats,
				   const struct window_group *group)
{
	return stats->sums ? stats->sums[SUM_COUNTS + group->sampler_index] : 0;
}

/**
 * window_stats__merge - Add statistics to others.
 * @stats: Where to add.
 * @other: The statistics to add.
 * @group: The group of events of both.
 *
 * Return: 0, or -ENOMEM.
 */
int window_stats__merge(struct window_stats *stats, const struct window_stats *other,
			const struct window_group *group)
{
	if (other->sums && window_stats__alloc(stats, group))
		return -ENOMEM;
	for (unsigned int i = 0; other->sums && i < window_group__nr_sums(group); i++)
		stats->sums[i] += other->sums[i];
	stats->left += other->left;
	stats->weight += other->weight;
	stats->weight2 += other->weight2;
	stats->nr_windows += other->nr_windows;
	stats->nr_used += other->nr_used;
	for (int i = 0; i < WINDOW_PROBLEMS; i++)
		stats->problems[i] += other->problems[i];
	return 0;
}

/**
 * window_stats__exit - Free the members of statistics.
 * @stats: The statistics.
 */
void window_stats__exit(struct window_stats *stats)
{
	zfree(&stats->sums);
	zfree(&stats->samples);
	zfree(&stats->values);
}

/**
 * window_stats__left - Return the percentage of windows that ended elsewhere.
 * @stats: The statistics.
 *
 * Return: 0 to 100 percent, 0 if there are none.
 */
double window_stats__left(const struct window_stats *stats)
{
	u64 nr = stats->problems[ilog2(WINDOW_LEFT)];

	return stats->nr_windows ? 100.0 * nr / stats->nr_windows : 0;
}

static bool window_stats__has_many(const struct window_stats *stats)
{
	return stats->sums && stats->nr_used >= MIN_SAMPLES;
}

/* Add the sums of an entry, scaled as window_stats__correct() does for a cost of interrupts. */
static void window_stats__add_scaled(const struct window_stats *stats,
				     const struct window_group *group, double cost, double *all)
{
	double length = window_stats__length(stats, group) - cost * stats->sums[SUM_NR];

	/* With a cost that leaves no time, they have any number of instructions. */
	if (stats->sums[SUM_NR] && length <= 0)
		all[SUM_COUNTS + group->insns] = INFINITY;
	for (unsigned int i = 0; length > 0 && i < window_group__nr_values(group); i++)
		all[i] += stats->weight / length * stats->sums[i];
}

/* Add up the scaled sums of all entries, those with few windows as one, @rest. */
static void window_group__scale(const struct window_group *group,
				struct window_stats *const *stats, unsigned int nr,
				const struct window_stats *rest, double cost, double *all)
{
	memset(all, 0, window_group__nr_values(group) * sizeof(*all));
	for (unsigned int i = 0; i < nr; i++) {
		if (window_stats__has_many(stats[i]))
			window_stats__add_scaled(stats[i], group, cost, all);
	}
	window_stats__add_scaled(rest, group, cost, all);
}

/**
 * window_group__find_costs - Find out what the interrupts add to windows.
 * @group: The group. Its totals lose it.
 * @stats: The statistics of all entries.
 * @nr: Number of these.
 * @nr_interrupts: Number of samples.
 *
 * Without the costs, all entries together have the rate of the recording. This needs a count of
 * user space's instructions alone, which interrupts do not change.
 */
void window_group__find_costs(struct window_group *group, struct window_stats *const *stats,
			      unsigned int nr, double nr_interrupts)
{
	unsigned int length = group->sampler_index, nr_values = window_group__nr_values(group);
	double sums[nr_values], few[nr_values], insns, total, divisor, low = 0, high;
	struct window_stats rest = { .sums = few };
	const double *all = group->all.sums;

	if (group->insns < 0 || group->branches || group->contradicted || !all ||
	    !group->sampler->core.attr.exclude_kernel)
		return;
	total = group->totals[group->insns];
	high = min(all[SUM_COUNTS + length] / all[SUM_NR], group->totals[length] / nr_interrupts);
	memset(few, 0, sizeof(few));
	for (unsigned int i = 0; i < nr; i++) {
		if (!stats[i]->sums || window_stats__has_many(stats[i]))
			continue;
		for (unsigned int j = 0; j < nr_values; j++)
			few[j] += stats[i]->sums[j];
		rest.weight += stats[i]->weight;
	}
	for (int step = 0; step < STEPS; step++) {
		double cost = (low + high) / 2, time;

		window_group__scale(group, stats, nr, &rest, cost, sums);
		insns = sums[SUM_COUNTS + group->insns];
		time = sums[SUM_COUNTS + length] - cost * sums[SUM_NR];
		if (insns * (group->totals[length] - cost * nr_interrupts) < total * time)
			low = cost;
		else
			high = cost;
	}
	window_group__scale(group, stats, nr, &rest, low, sums);
	insns = sums[SUM_COUNTS + group->insns];
	divisor = sums[SUM_NR] - insns * nr_interrupts / total;
	if (!insns || divisor <= 0)
		return;
	for (unsigned int i = 0; i < group->nr_counts; i++) {
		double excess = sums[SUM_COUNTS + i] - insns * group->totals[i] / total;

		group->costs[i] = i == length ? low : excess / divisor;
		group->totals[i] -= group->costs[i] * nr_interrupts;
	}
}

/**
 * window_group__check_samples - Compare the samples of an event with its total.
 * @group: The group. If samples are missing, they are not pooled with windows.
 * @event: Index of the event.
 * @weight: Sum of the weights of all samples.
 * @nr: Effective number of samples.
 */
void window_group__check_samples(struct window_group *group, unsigned int event, double weight,
				 double nr)
{
	double total = group->totals[event];

	/* A clock counts the kernel even if it has no samples there. */
	if (evsel__is_clock(group->sampler)) {
		if (total && group->sampler->core.attr.exclude_kernel)
			group->missing.kernel = max(1 - weight / total, 0.0);
		return;
	}
	/* The time after the last sample of a thread is always missing. */
	if (nr && fabs(weight - total) > (WINDOW_MAX_ERROR + MIN_SAMPLES / nr) * total) {
		group->contradicted = true;
		group->contradiction = total ? 100 * weight / total : INFINITY;
	}
}

/**
 * window_group__check_exact - Find out if the samples of an event are of their places.
 * @group: The group. Late samples are not used where windows have the event.
 * @event: Index of the event.
 * @exact: Part of the samples with PERF_RECORD_MISC_EXACT_IP, 0 to 1.
 */
void window_group__check_exact(struct window_group *group, unsigned int event, double exact)
{
	if (exact >= 1 - WINDOW_MAX_ERROR)
		return;
	if (window_group__has_windows(group) || (group->branches && (int)event == group->insns))
		group->samplers[event] = NULL;
	else
		group->late[event] = true;
}

/* Replace each value of the windows by a factor times it, less a part of the value @of. */
static void window_stats__transform(struct window_stats *stats, const struct window_group *group,
				    const double *factors, const double *parts, unsigned int of)
{
	unsigned int nr = window_group__nr_values(group);
	double copy[window_group__nr_sums(group)];
	struct window_stats old = { .sums = copy };
	double square;

	memcpy(copy, stats->sums, sizeof(copy));
	square = *window_stats__product(&old, group, of, of);
	for (unsigned int i = 0; i < nr; i++) {
		double own = *window_stats__product(&old, group, i, of);

		stats->sums[i] = factors[i] * copy[i] - parts[i] * copy[of];
		for (unsigned int j = 0; j <= i; j++) {
			double other = *window_stats__product(&old, group, j, of);
			double *product = window_stats__product(stats, group, i, j);

			*product = factors[i] * factors[j] * *product -
				   factors[i] * parts[j] * own -
				   factors[j] * parts[i] * other +
				   parts[i] * parts[j] * square;
		}
	}
}

/**
 * window_stats__correct - Make the counts of windows those of the entry.
 * @stats: The statistics.
 * @group: Their group of events, with the costs.
 *
 * Subtract the costs. Then scale the counts so that the cycles in windows, or whatever the
 * sampling event counts, are those of all samples in the entry: they become counts of the entry,
 * and those of several entries can be added.
 */
void window_stats__correct(struct window_stats *stats, const struct window_group *group)
{
	unsigned int nr = window_group__nr_values(group);
	double factors[nr], costs[nr], scale;

	if (!stats->sums)
		return;
	scale = stats->weight / (window_stats__length(stats, group) -
				 group->costs[group->sampler_index] * stats->sums[SUM_NR]);
	/* The windows can be shorter than the costs. */
	if (!(scale > 0) || !isfinite(scale)) {
		zfree(&stats->sums);
		return;
	}
	for (unsigned int i = 0; i < nr; i++) {
		factors[i] = scale;
		costs[i] = i < SUM_COUNTS ? 0 : scale * group->costs[i - SUM_COUNTS];
	}
	window_stats__transform(stats, group, factors, costs, SUM_NR);
	stats->left *= scale;
}

/* The part of all samples that is in an entry, and their effective number. */
struct part {
	double	share;
	double	nr;
	/* Variance of the logarithm of the share. */
	double	variance;
};

/* Find the part of an entry in the samples of the event with windows, or of another one. */
static struct part window_entry__part(const struct window_entry *entry,
				      const struct window_group *group, unsigned int event)
{
	const struct window_stats *all = &group->all;
	struct part part = {};
	double nr = 0;

	if (event == group->sampler_index) {
		/* Kish's effective number. */
		part.share = all->weight ? entry->stats->weight / all->weight : 0;
		part.nr = samples__effective_nr(entry->stats->weight, entry->stats->weight2);
		nr = samples__effective_nr(all->weight, all->weight2);
	} else if (entry->samples) {
		part.share = entry->samples[event].share;
		nr = entry->samples[event].all;
		part.nr = part.share * nr;
	}
	if (part.nr)
		part.variance = max(1 / part.nr - 1 / nr, 0.0);
	if (group->late[event])
		part.variance += pow((int)event == group->insns ? BIAS : RARE_BIAS, 2);
	return part;
}

/*
 * Compute the variance of the sum over the windows of an entry: of the residuals of the counts,
 * multiplied by @factors, from those expected for their lengths. @noise adds what other entries
 * say of the variance.
 */
static double window_stats__variance(const struct window_stats *stats,
				     const struct window_group *group, const double *factors,
				     const double *noise)
{
	unsigned int nr = window_group__nr_values(group), length = group->sampler_index;
	double v[nr], prior = 0, sum = 0;

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
		for (unsigned int j = SUM_COUNTS; j <= i; j++) {
			if (v[i] && v[j])
				sum += (i == j ? 1 : 2) * v[i] * v[j] *
				       *window_stats__product(stats, group, i, j);
		}
	}
	sum = max(sum, 0.0);
	if (!noise)
		return sum;
	/* The noise weighs as much as one window of the entry. */
	return sum + prior * pow(*window_stats__product(stats, group, SUM_NR, SUM_NR) /
				 stats->sums[SUM_NR], 2);
}

/*
 * Return the bias of a count of the windows of an entry as a variance: of what other entries
 * add, of the correction for this, and of the costs, which differ between functions.
 */
static double window_stats__bias(const struct window_stats *stats,
				 const struct window_group *group, unsigned int event)
{
	double products = *window_stats__product(stats, group, SUM_NR, SUM_NR);
	double nr = samples__effective_nr(stats->sums[SUM_NR], products);
	double left = (stats->left / stats->sums[SUM_NR] * nr + 1) / (nr + 2);
	double cost = group->costs[group->sampler_index] * stats->sums[SUM_NR] /
		      window_stats__length(stats, group);
	double count = stats->sums[SUM_COUNTS + event];
	double raw = window_stats__raw(stats, group)[event];
	double change = count > 0 && raw > 0 ? log(count / raw) : 0;
	double rare = (int)event == group->insns ? 0 :
		      (RARE_BIAS + RARE_LEFT * left) / (1 + max(count, 0.0) / stats->sums[SUM_NR]);

	if (group->branches)
		return BRANCHES_BIAS * BRANCHES_BIAS;
	return pow(BIAS * left, 2) + change * change + pow(COST_SPREAD * cost, 2) + rare * rare;
}

/* Rates of an event from windows and samples, and the variances of their logarithms. */
struct window_rate {
	double	windows;
	double	windows_variance;
	double	windows_bias;
	double	samples;
	double	samples_variance;
};

/* Compute the rates of windows alone and of samples alone, 0 if there is none. */
static struct window_rate window_entry__rate(const struct window_entry *entry,
					     const struct window_group *group, unsigned int event)
{
	double factors[group->nr_counts], length = window_stats__length(entry->stats, group);
	struct part time = window_entry__part(entry, group, group->sampler_index);
	struct part samples = window_entry__part(entry, group, event);
	struct window_rate rate = {};

	if (length > 0 && entry->stats->sums[SUM_COUNTS + event] > 0) {
		double count = entry->stats->sums[SUM_COUNTS + event];

		memset(factors, 0, sizeof(factors));
		factors[event] = 1 / count;
		rate.windows = count / length;
		rate.windows_variance = window_stats__variance(entry->stats, group, factors,
							       group->noise) + group->common;
	}
	if (samples.nr >= MIN_SAMPLES && time.share) {
		rate.samples = samples.share * group->totals[event] /
			       (time.share * group->totals[group->sampler_index]);
		rate.samples_variance = samples.variance + time.variance;
	}
	if (!rate.windows)
		return rate;
	rate.windows_bias = window_stats__bias(entry->stats, group, event);
	/* Samples can show that there is more. */
	if (rate.samples && !group->contradicted && !group->branches)
		rate.windows_bias = max(rate.windows_bias,
					(pow(log(rate.samples / rate.windows), 2) -
					 NORMAL_975 * NORMAL_975 * rate.samples_variance) / 2);
	return rate;
}

/* Find the variance of the counts of windows around the mean of their entry and length. */
static void window_group__find_noise(struct window_group *group,
				     struct window_stats *const *entries, unsigned int nr)
{
	const double *all = group->all.sums;

	for (unsigned int i = 0; all && i < group->nr_counts; i++) {
		double factors[group->nr_counts], sum = 0, weights = 0;

		memset(factors, 0, sizeof(factors));
		factors[i] = 1;
		for (unsigned int j = 0; j < nr; j++) {
			const struct window_stats *stats = entries[j];
			double squares;

			if (!stats->sums)
				continue;
			/* One window alone does not differ from its mean. */
			squares = *window_stats__product(stats, group, SUM_NR, SUM_NR);
			weights += squares * (1 - squares / pow(stats->sums[SUM_NR], 2));
			sum += window_stats__variance(stats, group, factors, /*noise=*/NULL);
		}
		/* Entries with one window alone do not show it: assume any count. */
		group->noise[i] = weights ? sum / weights :
				  pow(all[SUM_COUNTS + i] / all[SUM_NR], 2);
	}
}

/*
 * Find the error of the costs. They make the instructions per cycle of all windows those of the
 * recording, so each entry has the error of this rate.
 */
static void window_group__find_common(struct window_group *group)
{
	double factors[group->nr_counts], alone;
	const double *all = group->all.sums;

	if (!all || !group->costs[group->sampler_index])
		return;
	memset(factors, 0, sizeof(factors));
	factors[group->insns] = 1 / all[SUM_COUNTS + group->insns];
	/* One window alone does not differ from its mean. */
	alone = *window_stats__product(&group->all, group, SUM_NR, SUM_NR) / pow(all[SUM_NR], 2);
	group->common = alone < 1 ?
			window_stats__variance(&group->all, group, factors, /*noise=*/NULL) /
			(1 - alone) : 1;
}

/* The rate of an event in an entry, while the part of others is subtracted. */
struct rate_of_entry {
	/* From its windows, with the part @others_part of what ran at their other ends. */
	double	windows;
	double	others_part;
	/* Without others, and as far as it is known: @trust is 0 for that of all entries. */
	double	known;
	double	trust;
	/* The sum of the weights of windows that left, and of these times the other rates. */
	double	left;
	double	others;
};

/* Return what is of other entries in the rate of windows. */
static double rate_of_entry__others(const struct rate_of_entry *rate)
{
	return min(rate->others_part * rate->others / rate->left, 2 * OTHERS * rate->windows);
}

/* Return the rate of windows without that of others. */
static double rate_of_entry__own(const struct rate_of_entry *rate)
{
	return rate->left ? (rate->windows - rate_of_entry__others(rate)) /
			    (1 - rate->others_part) : rate->windows;
}

/* Find the rates of all entries. @mean: That of all together. */
static void window_group__solve(const struct window_group *group, struct rate_of_entry *rates,
				unsigned int nr, double mean)
{
	for (unsigned int i = 0; i < nr; i++)
		rates[i].known = mean + rates[i].trust * (rates[i].windows - mean);
	for (int step = 0; step < STEPS; step++) {
		for (unsigned int i = 0; i < nr; i++) {
			rates[i].others = 0;
			rates[i].left = 0;
		}
		for (size_t i = 0; i < group->nr_pairs; i++) {
			const struct window_pair *pair = &group->pairs[i];
			struct rate_of_entry *rate = &rates[pair->stats->index];

			rate->left += pair->weight;
			rate->others += pair->weight * rates[pair->other->index].known;
		}
		for (unsigned int i = 0; i < nr; i++) {
			double own = rate_of_entry__own(&rates[i]);

			/* Half a step does not swing. */
			rates[i].known = (rates[i].known + mean +
					  rates[i].trust * (own - mean)) / 2;
		}
	}
}

/**
 * window_group__subtract_others - Subtract what other entries add to the counts of windows.
 * @group: The group, with the pairs of all windows that left. They are freed.
 * @stats: The statistics of all entries, corrected.
 * @nr: Number of these.
 *
 * A window that leaves its entry has counts of what ran between its ends, mostly of the entries
 * at the ends. All rates are found together:
 *
 *   w = (1 - a) r + a (mean of r at the other ends),  a = OTHERS * (part of windows that left)
 *
 * Return: 0, or -ENOMEM.
 */
int window_group__subtract_others(struct window_group *group, struct window_stats *const *stats,
				  unsigned int nr)
{
	unsigned int nr_values = window_group__nr_values(group), length = group->sampler_index;
	double factors[nr_values], others[nr_values], by[group->nr_counts];
	struct rate_of_entry *rates = calloc(nr + 1, sizeof(*rates));

	if (!rates)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		stats[i]->index = i;
		if (!stats[i]->sums)
			continue;
		rates[i].others_part = OTHERS * stats[i]->left / stats[i]->sums[SUM_NR];
		memcpy(window_stats__raw(stats[i], group), stats[i]->sums + SUM_COUNTS,
		       group->nr_counts * sizeof(double));
	}
	for (unsigned int event = 0; event < group->nr_counts; event++) {
		if (event == length || !group->totals[length])
			continue;
		for (unsigned int i = 0; i < nr; i++) {
			double count = stats[i]->sums ? stats[i]->sums[SUM_COUNTS + event] : 0;

			rates[i].windows = 0;
			rates[i].trust = 0;
			if (!(count > 0))
				continue;
			memset(by, 0, sizeof(by));
			by[event] = 1 / count;
			rates[i].windows = count / window_stats__length(stats[i], group);
			rates[i].trust = RATE_SPREAD /
					 (RATE_SPREAD + window_stats__variance(stats[i], group, by,
									       group->noise));
		}
		window_group__solve(group, rates, nr,
				    group->totals[event] / group->totals[length]);
		for (unsigned int i = 0; i < nr; i++) {
			if (!stats[i]->sums || !rates[i].left)
				continue;
			for (unsigned int j = 0; j < nr_values; j++) {
				factors[j] = 1;
				others[j] = 0;
			}
			factors[SUM_COUNTS + event] /= 1 - rates[i].others_part;
			others[SUM_COUNTS + event] = rate_of_entry__others(&rates[i]) /
						     (1 - rates[i].others_part);
			window_stats__transform(stats[i], group, factors, others,
						SUM_COUNTS + length);
		}
	}
	free(rates);
	zfree(&group->pairs);
	group->nr_pairs = 0;
	group->max_pairs = 0;
	return 0;
}

/**
 * window_group__throttled - Return the part of the time in which the events were stopped.
 * @group: The group.
 *
 * Return: 0 to 1.
 */
double window_group__throttled(const struct window_group *group)
{
	const struct window_missing *missing = &group->missing;

	return missing->time ? min((double)missing->throttled / missing->time, 1.0) : 0;
}

/**
 * window_group__short_threads - Limit the time of threads without a sample.
 * @group: The group.
 *
 * Each ran for less than a long interval.
 *
 * Return: The largest part of the time that can be theirs, 0 to 1.
 */
double window_group__short_threads(const struct window_group *group)
{
	const struct perf_event_attr *attr = &group->sampler->core.attr;
	double count = attr->freq ? 0 : (double)group->missing.nr_without_sample *
					attr->sample_period;

	return count ? count / (count + group->totals[group->sampler_index]) : 0;
}

/**
 * window_group__missing - Estimate the part of the time that has no samples.
 * @group: The group.
 *
 * Return: 0 to 1.
 */
double window_group__missing(const struct window_group *group)
{
	double threads = window_group__short_threads(group);
	double part = max(window_group__throttled(group), group->missing.lost);

	/* They ran for half a long interval on average. */
	return max(part, threads / (2 - threads));
}

/**
 * window_group__marks_all - Check if no value is to be trusted.
 * @group: The group.
 *
 * Return: True if samples are missing, or windows have something else in them.
 */
bool window_group__marks_all(const struct window_group *group)
{
	return group->contradicted || group->differs ||
	       window_group__missing(group) > WINDOW_MAX_MISSING;
}

/*
 * Compare what all windows together tell of a metric with what was counted. It differs where
 * the interrupts are in the windows: without instructions, what they add is not known.
 */
static void window_group__check_metrics(struct window_group *group)
{
	const struct window_entry all = { .stats = &group->all };

	/* window_group__find_costs() has found them. */
	if (group->insns >= 0 && !symbol_conf.same_window &&
	    group->sampler->core.attr.exclude_kernel)
		return;
	for (unsigned int i = 0; i < group->nr_metrics && !group->differs; i++) {
		const struct window_metric *metric = &group->metrics[i];
		struct window_estimate estimate;
		bool sampled = false;

		for (unsigned int j = 0; j < metric->nr_ids; j++)
			sampled |= !!group->samplers[metric->id_events[j]];
		if (sampled || !isfinite(metric->total) || metric->total < 0 ||
		    window_stats__estimate(&all, group, i, &estimate) == WINDOW_ESTIMATE_NONE)
			continue;
		if (estimate.low > metric->total * (1 + WINDOW_MAX_ERROR) ||
		    estimate.high * (1 + WINDOW_MAX_ERROR) < metric->total) {
			group->differs = metric;
			group->mean = estimate.value;
		}
	}
}

/**
 * window_group__calibrate - Find the noise of windows, and the totals of metrics.
 * @group: The group, whose costs are found.
 * @stats: The statistics of all entries, corrected.
 * @nr: Number of these.
 */
void window_group__calibrate(struct window_group *group, struct window_stats *const *stats,
			     unsigned int nr)
{
	for (unsigned int i = 0; i < group->nr_metrics; i++) {
		struct window_metric *metric = &group->metrics[i];

		/* Nothing was counted if the group never ran. */
		metric->total = metric->available && group->totals[group->sampler_index] ?
				window_metric__compute(metric, group, group->totals) : NAN;
	}
	window_group__find_noise(group, stats, nr);
	window_group__find_common(group);
	window_group__check_metrics(group);
}

/* An estimate of a count, and the weight of windows in its logarithm, 0 to 1. */
struct window_count {
	double	count;
	double	windows;
};

/*
 * Estimate a count of an entry. @relative: It is compared with a count whose error is that of
 * the time. Return: False if there is nothing to estimate it from.
 */
static bool window_entry__count(const struct window_entry *entry,
				const struct window_group *group, unsigned int event,
				bool relative, struct window_count *count)
{
	struct part time = window_entry__part(entry, group, group->sampler_index);
	struct part samples = window_entry__part(entry, group, event);
	double cycles = time.share * group->totals[group->sampler_index];
	bool is_insns = (int)event == group->insns, sampled = group->samplers[event];
	double windows, sampling;
	struct window_rate rate;

	*count = (struct window_count){ .count = cycles };
	if (event == group->sampler_index)
		return cycles > 0;

	rate = window_entry__rate(entry, group, event);
	count->count = samples.share * group->totals[event];
	/* Branch stacks have only instructions, and windows see too few other events. */
	if (!entry->stats->sums || !cycles || (!is_insns && (sampled || group->branches)) ||
	    (sampled && !rate.windows))
		return sampled;
	count->windows = 1;
	if (rate.samples && sampled && !group->contradicted) {
		windows = rate.windows_variance + (relative ? 0 : time.variance) +
			  rate.windows_bias;
		sampling = samples.variance + (relative ? time.variance : 0);
		count->windows = windows + sampling > 0 ? sampling / (windows + sampling) : 1;
	}
	count->count = cycles * pow(rate.windows, count->windows) *
		       pow(rate.samples, 1 - count->windows);
	return true;
}

/* Return the weight of one count in a sample or a window. */
static double window_entry__one(const struct window_entry *entry,
				const struct window_group *group, unsigned int event)
{
	if (group->samplers[event])
		return group->totals[event] / entry->samples[event].all;
	if (!entry->stats->sums)
		return 0;
	/* The mean weight of a window. */
	return *window_stats__product(entry->stats, group, SUM_NR, SUM_NR) /
	       entry->stats->sums[SUM_NR] * group->totals[group->sampler_index] /
	       group->all.weight;
}

/* Compute the derivative of a metric by each count. */
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

/* Compute a metric from estimates of its counts. Return NAN if one is not known. */
static double window_entry__compute(const struct window_entry *entry,
				    const struct window_group *group,
				    const struct window_metric *metric,
				    double *counts, struct window_count *parts)
{
	bool relative = false;

	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		unsigned int event = metric->id_events[i];

		relative = relative || event == group->sampler_index || !group->samplers[event];
	}
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

/*
 * Compute the variance of a metric from those of samples and windows of each count. @bias: Set to
 * the part that is not chance, but the same in other recordings.
 */
static double window_entry__variance(const struct window_entry *entry,
				     const struct window_group *group,
				     const struct window_metric *metric, double value,
				     double *counts, const struct window_count *parts,
				     double *bias)
{
	struct part time = window_entry__part(entry, group, group->sampler_index);
	double derivatives[group->nr_counts], factors[group->nr_counts];
	double by_time = 0, variance = 0;

	window_metric__derive(metric, group, value, counts, derivatives);
	memset(factors, 0, sizeof(factors));
	*bias = 0;
	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		unsigned int event = metric->id_events[i];
		double part = parts[event].windows, by_log = derivatives[event] * counts[event];
		struct part samples = window_entry__part(entry, group, event);

		if (event == group->sampler_index) {
			by_time += by_log;
			continue;
		}
		by_time += part * by_log;
		variance += pow((1 - part) * by_log, 2) * samples.variance;
		if (part) {
			double count = entry->stats->sums[SUM_COUNTS + event];

			/* Windows are scaled to the time of the entry by samples. */
			factors[event] = count > 0 ? part * by_log / count :
					 derivatives[event] * group->totals[group->sampler_index] /
					 group->all.weight;
			variance += pow(part * by_log, 2) * group->common;
			*bias += pow(part * by_log, 2) *
				 window_entry__rate(entry, group, event).windows_bias;
		}
		if (group->fractions[event]) {
			double slots = time.share * group->totals[group->slots];

			/* The rounding of CPUs is not documented: at most one step. */
			variance += pow(slots * derivatives[event] / FRACTION_STEPS, 2) / 3;
		}
	}
	variance += by_time * by_time * time.variance;
	if (entry->stats->sums)
		variance += window_stats__variance(entry->stats, group, factors, group->noise);
	return variance + *bias;
}

static enum window_quality window_estimate__quality(const struct window_estimate *estimate,
						    const struct window_group *group,
						    double total)
{
	double value = estimate->value, low = estimate->low, high = estimate->high;

	/* A 0 is certain if the event never happened. */
	if (!value && !high && !total)
		return WINDOW_ESTIMATE_GOOD;
	if (low <= 0)
		return high > 0 && high < total ? WINDOW_ESTIMATE_BOUND : WINDOW_ESTIMATE_USELESS;
	if (!window_group__marks_all(group) && high <= value * (1 + WINDOW_MAX_ERROR) &&
	    low * (1 + WINDOW_MAX_ERROR) >= value * 0.999)
		return WINDOW_ESTIMATE_GOOD;
	return low * USELESS_ERROR >= value ? WINDOW_ESTIMATE_POOR : WINDOW_ESTIMATE_USELESS;
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
	struct window_count parts[group->nr_counts];
	double counts[group->nr_counts], bias, half, value;

	if (!m->available)
		return WINDOW_ESTIMATE_NONE;
	value = window_entry__compute(entry, group, m, counts, parts);
	if (!isfinite(value))
		return WINDOW_ESTIMATE_NONE;
	estimate->value = value;
	estimate->dividend = m->kind == WINDOW_METRIC_EXPR ? NAN : counts[m->dividend];
	estimate->divisor = m->kind == WINDOW_METRIC_EXPR ? NAN :
			    m->kind == WINDOW_METRIC_SHARE ? group->totals[m->dividend] :
			    counts[m->divisor];
	estimate->threshold = window_entry__classify(entry, group, m->threshold);

	half = NORMAL_975 * sqrt(window_entry__variance(entry, group, m, value, counts, parts,
							&bias));
	estimate->bias = sqrt(bias);
	if (value > 0 && half < value) {
		estimate->low = value * exp(-half / value);
		estimate->high = value * exp(half / value);
	} else {
		estimate->low = value < 0 ? value - half : max(value - half, 0.0);
		estimate->high = value + half;
	}
	if (!value) {
		bool late = false;

		for (unsigned int i = 0; i < m->nr_ids; i++) {
			unsigned int event = m->id_events[i];

			late |= group->late[event];
			if (!counts[event])
				counts[event] = min(window_entry__one(entry, group, event) *
						    POISSON_UPPER, group->totals[event]);
		}
		estimate->high = max(m->kind == WINDOW_METRIC_EXPR ? estimate->high : 0,
				     window_metric__compute(m, group, counts));
		/* Late samples can all be elsewhere. */
		if (late)
			estimate->high = INFINITY;
	}
	/* A part of a total is at most 100 %. */
	if (m->kind == WINDOW_METRIC_SHARE ||
	    (m->kind == WINDOW_METRIC_RATIO && m->factor == 100 &&
	     group->totals[m->dividend] <= group->totals[m->divisor])) {
		estimate->value = min(value, m->factor);
		estimate->low = min(estimate->low, m->factor);
		estimate->high = min(estimate->high, m->factor);
	}
	return window_estimate__quality(estimate, group, m->total);
}

/**
 * window_stats__time - Estimate the share of time, in units of the sampling event.
 * @stats: The statistics.
 * @group: Their group of events.
 * @estimate: The share, in percent.
 *
 * Return: False if there is no sample at all.
 */
bool window_stats__time(const struct window_stats *stats, const struct window_group *group,
			struct window_estimate *estimate)
{
	const struct window_entry entry = { .stats = stats };
	struct part time = window_entry__part(&entry, group, group->sampler_index);
	double n, p = time.share, z2 = NORMAL_975 * NORMAL_975, center, half;

	if (!time.nr)
		return false;
	/* E. B. Wilson's interval of a proportion. */
	n = time.variance ? (1 - p) / p / time.variance : time.nr;
	center = (p + z2 / (2 * n)) / (1 + z2 / n);
	half = NORMAL_975 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
	estimate->value = 100 * p;
	estimate->low = 100 * max(center - half, 0.0);
	estimate->high = 100 * min(center + half, 1.0);
	return true;
}

/* Return the variance by chance. An interval reaches NORMAL_975 standard errors up and down. */
static double variance_by_chance(double low, double high, double bias)
{
	return max(pow((high - low) / 2 / NORMAL_975, 2) - bias * bias, 0.0);
}

/**
 * window_estimate__z - Compare two estimates.
 * @a: An estimate.
 * @b: Another one, of other data.
 * @same_bias: Both were recorded in the same way. The bias of windows is that of the same code in
 *	both, so that only its difference counts.
 *
 * Return: The difference of @b and @a, on a logarithmic scale if both are positive,
 * divided by its standard error, or 0 if that is not known.
 */
double window_estimate__z(const struct window_estimate *a, const struct window_estimate *b,
			  bool same_bias)
{
	double difference, variance;

	if (a->low > 0 && b->low > 0) {
		double bias_a = a->bias / a->value, bias_b = b->bias / b->value;

		difference = log(b->value / a->value);
		variance = variance_by_chance(log(a->low), log(a->high), bias_a) +
			   variance_by_chance(log(b->low), log(b->high), bias_b) +
			   pow(bias_b - bias_a, 2) + (same_bias ? 0 : 2 * bias_a * bias_b);
	} else {
		difference = b->value - a->value;
		variance = variance_by_chance(a->low, a->high, a->bias) +
			   variance_by_chance(b->low, b->high, b->bias) +
			   pow(b->bias - a->bias, 2) + (same_bias ? 0 : 2 * a->bias * b->bias);
	}
	difference /= sqrt(variance);
	return isfinite(difference) ? difference : 0;
}

/* Write numbers with 17 digits, which preserve any double. */
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
 * @depth: Of the members.
 * @fp: Where to write.
 *
 * All are sums, so those of two recordings can be added.
 */
void window_stats__fprintf_json(const struct window_stats *stats, int depth, FILE *fp)
{
	static const char * const names[WINDOW_PROBLEMS] = {
		"left", "lost", "length", "backwards", "split", "multiplexed",
	};

	output_json_key_format(fp, false, depth, "weight", "%.17g", stats->weight);
	output_json_key_format(fp, true, depth, "weight2", "%.17g", stats->weight2);
	output_json_key_format(fp, true, depth, "windows", "%" PRIu64, stats->nr_windows);
	output_json_key_format(fp, true, depth, "used", "%" PRIu64, stats->nr_used);
	output_json_key_format(fp, true, depth, "problems", "{");
	for (int i = 0; i < WINDOW_PROBLEMS; i++)
		fprintf(fp, "%s\"%s\": %" PRIu64, i ? ", " : "", names[i], stats->problems[i]);
	fputc('}', fp);
}

/**
 * window_group__fprintf_json - Write the common data of the statistics of a group.
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
	output_json_key_format(fp, true, depth, "contradicted",
			       group->contradicted ? "true" : "false");
	output_json_key_format(fp, true, depth, "throttled",
			       "{\"times\": %u, \"share\": %.17g}",
			       group->missing.nr_throttled, window_group__throttled(group));
	output_json_key_format(fp, true, depth, "missing", "%.17g", window_group__missing(group));
	output_json_key_format(fp, true, depth, "marked",
			       window_group__marks_all(group) ? "true" : "false");
	output_json_key_format(fp, true, depth, "all", "{");
	window_stats__fprintf_json(&group->all, depth + 1, fp);
	output_json_format(fp, false, depth, "}");
}
