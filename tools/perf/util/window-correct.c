// SPDX-License-Identifier: GPL-2.0
/*
 * Take out of windows what is not of the entries that they are counted for: what interrupts add,
 * and what ran at their other ends.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>

#include "evsel.h"
#include "fnstat-sums.h"

/* How often to halve the range of the cost of interrupts, or to solve for all rates. */
#define STEPS			40
/*
 * Of an entry that all windows leave, they tell nothing: by this part it is faster than they are
 * in real programs.
 */
#define FASTER			0.15
/*
 * How far the part of others in such windows can be off, to how far the rate of an entry is from
 * that of its windows.
 */
#define OTHERS_SPREAD		0.6
/* An entry has at least this part of the rate of its windows. */
#define LEAST_OWN		0.3

static bool fnstat_stats__has_many(const struct fnstat_stats *stats)
{
	return stats->sums && stats->nr_used >= MIN_SAMPLES;
}

/* Add the sums of an entry, scaled as fnstat_stats__correct() does for a cost of interrupts. */
static void fnstat_stats__add_scaled(const struct fnstat_stats *stats,
				     const struct fnstat_group *group, double cost, double *all)
{
	double length = fnstat_stats__length(stats, group) - cost * stats->sums[SUM_NR];

	/* With a cost that leaves no time, they have any number of instructions. */
	if (stats->sums[SUM_NR] && length <= 0)
		all[SUM_COUNTS + group->insns] = INFINITY;
	for (unsigned int i = 0; length > 0 && i < fnstat_group__nr_values(group); i++)
		all[i] += stats->weight / length * stats->sums[i];
}

/* Add up the scaled sums of all entries, those with few windows as one, @rest. */
static void fnstat_group__scale(const struct fnstat_group *group,
				struct fnstat_stats *const *stats, unsigned int nr,
				const struct fnstat_stats *rest, double cost, double *all)
{
	memset(all, 0, fnstat_group__nr_values(group) * sizeof(*all));
	for (unsigned int i = 0; i < nr; i++) {
		if (fnstat_stats__has_many(stats[i]))
			fnstat_stats__add_scaled(stats[i], group, cost, all);
	}
	fnstat_stats__add_scaled(rest, group, cost, all);
}

/**
 * fnstat_group__find_costs - Find out what the interrupts add to windows.
 * @group: The group. Its totals lose it.
 * @stats: The statistics of all entries.
 * @nr: Number of these.
 * @nr_interrupts: Number of samples.
 *
 * Without the costs, all entries together have the rate of the recording. This needs a count of
 * user space's instructions alone, which interrupts do not change.
 */
void fnstat_group__find_costs(struct fnstat_group *group, struct fnstat_stats *const *stats,
			      unsigned int nr, double nr_interrupts)
{
	unsigned int length = group->sampler_index, nr_values = fnstat_group__nr_values(group);
	double sums[nr_values], few[nr_values], insns, total, divisor, low = 0, high;
	struct fnstat_stats rest = { .sums = few };
	const double *all = group->all.sums;

	if (group->insns < 0 || group->branches || group->contradicted || !all ||
	    !group->sampler->core.attr.exclude_kernel)
		return;
	total = group->totals[group->insns];
	high = min(all[SUM_COUNTS + length] / all[SUM_NR], group->totals[length] / nr_interrupts);
	memset(few, 0, sizeof(few));
	for (unsigned int i = 0; i < nr; i++) {
		if (!stats[i]->sums || fnstat_stats__has_many(stats[i]))
			continue;
		for (unsigned int j = 0; j < nr_values; j++)
			few[j] += stats[i]->sums[j];
		rest.weight += stats[i]->weight;
	}
	for (int step = 0; step < STEPS; step++) {
		double cost = (low + high) / 2, time;

		fnstat_group__scale(group, stats, nr, &rest, cost, sums);
		insns = sums[SUM_COUNTS + group->insns];
		time = sums[SUM_COUNTS + length] - cost * sums[SUM_NR];
		if (insns * (group->totals[length] - cost * nr_interrupts) < total * time)
			low = cost;
		else
			high = cost;
	}
	fnstat_group__scale(group, stats, nr, &rest, low, sums);
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

/* Replace each value of the windows by a factor times it, less a part of the value @of. */
static void fnstat_stats__transform(struct fnstat_stats *stats, const struct fnstat_group *group,
				    const double *factors, const double *parts, unsigned int of)
{
	unsigned int nr = fnstat_group__nr_values(group);
	double *begins = fnstat_stats__begins(stats, group), *sums = stats->sums;
	double sum = sums[of], sum_begins = begins[of], products[nr];

	for (unsigned int i = 0; i < nr; i++)
		products[i] = *fnstat_stats__product(stats, group, i, of);
	for (unsigned int i = 0; i < nr; i++) {
		sums[i] = factors[i] * sums[i] - parts[i] * sum;
		begins[i] = factors[i] * begins[i] - parts[i] * sum_begins;
		for (unsigned int j = 0; j <= i; j++) {
			double *product = fnstat_stats__product(stats, group, i, j);

			*product = factors[i] * factors[j] * *product -
				   factors[i] * parts[j] * products[i] -
				   factors[j] * parts[i] * products[j] +
				   parts[i] * parts[j] * products[of];
		}
	}
}

/**
 * fnstat_stats__correct - Make the counts of windows those of the entry.
 * @stats: The statistics.
 * @group: Their group of events, with the costs.
 *
 * Subtract the costs. Then scale the counts so that the cycles in windows, or whatever the
 * sampling event counts, are those of all samples in the entry: they become counts of the entry,
 * and those of several entries can be added.
 */
void fnstat_stats__correct(struct fnstat_stats *stats, const struct fnstat_group *group)
{
	unsigned int nr = fnstat_group__nr_values(group);
	double factors[nr], costs[nr], scale;

	if (!stats->sums)
		return;
	scale = stats->weight / (fnstat_stats__length(stats, group) -
				 group->costs[group->sampler_index] * stats->sums[SUM_NR]);
	/* The windows can be shorter than the costs. */
	if (!(scale > 0) || !isfinite(scale)) {
		zfree(&stats->sums);
		stats->left = 0;
		return;
	}
	for (unsigned int i = 0; i < nr; i++) {
		factors[i] = scale;
		costs[i] = i < SUM_COUNTS ? 0 : scale * group->costs[i - SUM_COUNTS];
	}
	fnstat_stats__transform(stats, group, factors, costs, SUM_NR);
	stats->left *= scale;
	memcpy(fnstat_stats__raw(stats, group), stats->sums + SUM_COUNTS,
	       group->nr_counts * sizeof(*stats->sums));
}

/* Subtract @rate times the length from a count, and multiply the rest by @factor. */
static void fnstat_stats__subtract(struct fnstat_stats *stats, const struct fnstat_group *group,
				   unsigned int event, double rate, double factor)
{
	unsigned int nr = fnstat_group__nr_values(group);
	double factors[nr], parts[nr];

	if (!stats->sums)
		return;
	for (unsigned int i = 0; i < nr; i++) {
		factors[i] = i == SUM_COUNTS + event ? factor : 1;
		parts[i] = i == SUM_COUNTS + event ? factor * rate : 0;
	}
	fnstat_stats__transform(stats, group, factors, parts, SUM_COUNTS + group->sampler_index);
}

static int cmp_pairs(const void *a, const void *b)
{
	const struct window_pair *x = a, *y = b;

	return x->stats != y->stats ? (x->stats < y->stats ? -1 : 1) :
	       x->other != y->other ? (x->other < y->other ? -1 : 1) : 0;
}

/* Make one of the pairs of the same entries, of which call chains have many. */
static void fnstat_group__merge_pairs(struct fnstat_group *group)
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
 * fnstat_group__add_pair - Note that a window left an entry.
 * @group: The group.
 * @stats: The statistics of where it begins or ends.
 * @other: The statistics of where its other end is.
 * @weight: Weight of the window.
 *
 * Return: 0, or -ENOMEM.
 */
int fnstat_group__add_pair(struct fnstat_group *group, struct fnstat_stats *stats,
			   struct fnstat_stats *other, double weight)
{
	if (group->nr_pairs == group->max_pairs) {
		fnstat_group__merge_pairs(group);
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

/* The rate of an event in an entry, while the part of others is subtracted. */
struct rate_of_entry {
	/* From its windows, with the part @others_part of what ran at their other ends. */
	double	windows;
	double	others_part;
	/* Without others. */
	double	own;
	/* The sum of the weights of windows that left, and the mean rate at their other ends. */
	double	left;
	double	others;
};

/*
 * Return the factor of the rate of windows, and set @others to what is subtracted from it before:
 * the result is the rate that is most probable for what they have, and for a rate like theirs.
 */
static double rate_of_entry__factor(const struct rate_of_entry *rate, double *others)
{
	double doubt = OTHERS_SPREAD * OTHERS_SPREAD * rate->others_part;
	double expected = doubt * (1 + FASTER * rate->others_part);
	double part = 1 - rate->others_part;
	double factor = (expected + part) / (doubt + part * part);

	*others = min(part * rate->others_part * rate->others / (expected + part),
		      rate->windows * (1 - LEAST_OWN / factor));
	return factor;
}

/* Find the rates of all entries. */
static void fnstat_group__solve(const struct fnstat_group *group, struct rate_of_entry *rates,
				unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		rates[i].own = rates[i].windows;
	for (int step = 0; step < STEPS; step++) {
		for (unsigned int i = 0; i < nr; i++)
			rates[i].others = 0;
		for (size_t i = 0; i < group->nr_pairs; i++) {
			const struct window_pair *pair = &group->pairs[i];
			struct rate_of_entry *rate = &rates[pair->stats->index];

			rate->others += pair->weight * rates[pair->other->index].own / rate->left;
		}
		for (unsigned int i = 0; i < nr; i++) {
			double others, factor = rate_of_entry__factor(&rates[i], &others);

			/* Half a step does not swing. */
			rates[i].own = (rates[i].own + factor * (rates[i].windows - others)) / 2;
		}
	}
}

/**
 * fnstat_group__subtract_others - Subtract what other entries add to the counts of windows.
 * @group: The group, with the pairs of all windows that left. They are freed.
 * @stats: The statistics of all entries, corrected.
 * @nr: Number of these.
 * @nr_children: Number of further ones, of entries with their children.
 *
 * A window that leaves its entry has counts of all that ran between its ends. What is of neither
 * is taken for more of the other end. All rates are found together:
 *
 *   w = (1 - a) r + a (mean of r at the other ends),  a = (part of windows that left)^2
 *
 * What is subtracted from one entry is of others, so that the sum of all entries stays. What is
 * missing, or too much, is of those that windows leave.
 *
 * Return: 0, or -ENOMEM.
 */
int fnstat_group__subtract_others(struct fnstat_group *group, struct fnstat_stats *const *stats,
				  unsigned int nr, unsigned int nr_children)
{
	unsigned int nr_all = nr + nr_children, length = group->sampler_index;
	struct rate_of_entry *rates = calloc(nr_all + 1, sizeof(*rates));
	size_t nr_pairs = 0;

	if (!rates)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr_all; i++)
		stats[i]->index = i;
	for (size_t i = 0; i < group->nr_pairs; i++) {
		const struct window_pair *pair = &group->pairs[i];

		/* Without windows, the rate there is not known. */
		if (!pair->other->sums)
			continue;
		rates[pair->stats->index].left += pair->weight;
		group->pairs[nr_pairs++] = *pair;
	}
	group->nr_pairs = nr_pairs;
	for (unsigned int i = 0; i < nr_all; i++) {
		if (rates[i].left)
			rates[i].others_part = pow(fnstat_stats__part_left(stats[i]), 2);
	}
	for (unsigned int event = 0; event < group->nr_counts; event++) {
		double missing = 0, left = 0;

		if (event == length)
			continue;
		for (unsigned int i = 0; i < nr_all; i++) {
			double time = fnstat_stats__length(stats[i], group);

			rates[i].windows = time > 0 ?
				max(stats[i]->sums[SUM_COUNTS + event], 0.0) / time : 0;
		}
		fnstat_group__solve(group, rates, nr_all);
		for (unsigned int i = 0; i < nr; i++) {
			double time = fnstat_stats__length(stats[i], group);

			missing += time * (rates[i].windows - rates[i].own);
			left += time * rates[i].own * rates[i].others_part;
		}
		for (unsigned int i = 0; i < nr_all && left; i++) {
			double others, factor = rate_of_entry__factor(&rates[i], &others);

			factor *= 1 + missing / left * rates[i].others_part;
			fnstat_stats__subtract(stats[i], group, event, others, factor);
		}
	}
	free(rates);
	zfree(&group->pairs);
	group->nr_pairs = 0;
	group->max_pairs = 0;
	return 0;
}
