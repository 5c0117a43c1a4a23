// SPDX-License-Identifier: GPL-2.0
/*
 * Estimates from windows and samples: the method is in the manual of perf report,
 * METRICS and WINDOWS.
 *
 * Windows and samples of instructions are pooled, an empirical Bayes estimate: B. Efron,
 * C. Morris, "Data Analysis Using Stein's Estimator and its Generalizations" (1975).
 *
 * All estimates are computed from sums that can be added, of entries and of recordings.
 */
#include "fnstat.h"

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
#include "fnstat-sums.h"

/* Quantile of the normal distribution, for an interval of 95 %. */
#define NORMAL_975		1.959964
/* The upper end for a Poisson process without an event, -log(0.025). */
#define POISSON_UPPER		3.689
/* Steps of the TopDown metrics of Intel's CPUs, which are fractions of slots in 8 bits. */
#define FRACTION_STEPS		255
/* An estimate that can be wrong by this factor is not printed. */
#define USELESS_ERROR		2
/*
 * Part of a window that counts where it ends, if it begins elsewhere. An interrupt comes after the
 * instruction that waits, so this is in windows that end there, but not in those that begin there.
 */
#define END_PART		0.75
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
/* If others have less than this part of the time, their rates have to differ much to matter. */
#define FEW_OTHERS		0.25

/**
 * fnstat_group__count - Add the counts of a sample to the totals.
 * @group: The group.
 * @gs: What group_tracker__add() said of the sample.
 */
void fnstat_group__count(struct fnstat_group *group, const struct group_sample *gs)
{
	group->missing.time += gs->time;
	group->missing.enabled += gs->enabled;
	for (unsigned int i = 0; gs->whole && i < group->nr_counts; i++)
		group->totals[i] += gs->counts[i];
}

/**
 * fnstat_stats__add_sample - Count a sample of the event with windows.
 * @stats: The statistics of where it is.
 * @weight: Its weight, in units of the event.
 * @earlier: Number of earlier samples of the same round in the same place. They have the same
 *	weight, and all together count as one.
 */
void fnstat_stats__add_sample(struct fnstat_stats *stats, double weight, unsigned int earlier)
{
	stats->weight += weight;
	/* This is the growth of the square of the sum. */
	stats->weight2 += (2.0 * earlier + 1) * weight * weight;
}

/**
 * fnstat_stats__count_window - Count a window.
 * @stats: The statistics of where it begins.
 * @problems: Mask of enum window_problem.
 * @used: The counts of the window are used.
 */
void fnstat_stats__count_window(struct fnstat_stats *stats, unsigned int problems, bool used)
{
	stats->nr_windows++;
	stats->nr_used += used;
	for (int i = 0; i < WINDOW_PROBLEMS; i++)
		stats->problems[i] += !!(problems & (1 << i));
}

static int fnstat_stats__alloc(struct fnstat_stats *stats, const struct fnstat_group *group)
{
	if (!stats->sums)
		stats->sums = calloc(fnstat_group__nr_sums(group), sizeof(*stats->sums));
	return stats->sums ? 0 : -ENOMEM;
}

static int fnstat_stats__add_values(struct fnstat_stats *stats, const struct fnstat_group *group,
				    const double *values)
{
	unsigned int nr = fnstat_group__nr_values(group);
	double *sum;

	if (fnstat_stats__alloc(stats, group))
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
 * fnstat_stats__add_counts - Add the counts of a window.
 * @stats: The statistics of where it begins or ends.
 * @group: Its group of events.
 * @counts: The counts.
 * @weight: Weight of the window, of both ends.
 * @begins: It begins there.
 * @ends: It ends there.
 *
 * Return: 0, or -ENOMEM.
 */
int fnstat_stats__add_counts(struct fnstat_stats *stats, const struct fnstat_group *group,
			     const u64 *counts, double weight, bool begins, bool ends)
{
	double values[fnstat_group__nr_values(group)];

	if (!begins || !ends)
		weight *= ends ? END_PART : 1 - END_PART;
	values[SUM_NR] = weight;
	for (unsigned int i = 0; i < group->nr_counts; i++)
		values[SUM_COUNTS + i] = weight * counts[i];
	if (fnstat_stats__add_values(stats, group, values))
		return -ENOMEM;
	for (unsigned int i = 0; begins && i < fnstat_group__nr_values(group); i++)
		fnstat_stats__begins(stats, group)[i] += ends ? values[i] / 2 : values[i];
	if (!begins || !ends)
		stats->left += weight;
	return 0;
}

/**
 * fnstat_stats__add_branches - Add blocks of an entry from the branch stack of a sample.
 * @stats: The statistics.
 * @group: Its group of events, whose sampler is cycles.
 * @cycles: Cycles of the blocks, see struct branch_block.
 * @insns: Instructions of the blocks.
 *
 * Return: 0, or -ENOMEM.
 */
int fnstat_stats__add_branches(struct fnstat_stats *stats, const struct fnstat_group *group,
			       double cycles, double insns)
{
	double values[fnstat_group__nr_values(group)];

	memset(values, 0, sizeof(values));
	values[SUM_NR] = 1;
	values[SUM_COUNTS + group->sampler_index] = cycles;
	values[SUM_COUNTS + group->insns] = insns;
	fnstat_stats__count_window(stats, /*problems=*/0, /*used=*/true);
	return fnstat_stats__add_values(stats, group, values);
}

/**
 * fnstat_stats__merge - Add statistics to others.
 * @stats: Where to add.
 * @other: The statistics to add.
 * @group: The group of events of both.
 *
 * Return: 0, or -ENOMEM.
 */
int fnstat_stats__merge(struct fnstat_stats *stats, const struct fnstat_stats *other,
			const struct fnstat_group *group)
{
	if (other->sums && fnstat_stats__alloc(stats, group))
		return -ENOMEM;
	for (unsigned int i = 0; other->sums && i < fnstat_group__nr_sums(group); i++)
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
 * fnstat_stats__exit - Free the members of statistics.
 * @stats: The statistics.
 */
void fnstat_stats__exit(struct fnstat_stats *stats)
{
	zfree(&stats->sums);
	zfree(&stats->samples);
	zfree(&stats->values);
}

/**
 * fnstat_stats__left - Return the percentage of windows that ended elsewhere.
 * @stats: The statistics.
 *
 * Return: 0 to 100 percent, 0 if there are none.
 */
double fnstat_stats__left(const struct fnstat_stats *stats)
{
	u64 nr = stats->problems[ilog2(WINDOW_LEFT)];

	return stats->nr_windows ? 100.0 * nr / stats->nr_windows : 0;
}

/**
 * fnstat_group__check_samples - Compare the samples of an event with its total.
 * @group: The group. If samples are missing, they are not pooled with windows.
 * @event: Index of the event.
 * @weight: Sum of the weights of all samples.
 * @nr: Effective number of samples.
 */
void fnstat_group__check_samples(struct fnstat_group *group, unsigned int event, double weight,
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
	if (nr && fabs(weight - total) > (FNSTAT_MAX_ERROR + MIN_SAMPLES / nr) * total) {
		group->contradicted = true;
		group->contradiction = total ? 100 * weight / total : INFINITY;
	}
}

/**
 * fnstat_group__check_exact - Find out if the samples of an event are of their places.
 * @group: The group. Late samples are not used where windows have the event.
 * @event: Index of the event.
 * @exact: Part of the samples with PERF_RECORD_MISC_EXACT_IP, 0 to 1.
 */
void fnstat_group__check_exact(struct fnstat_group *group, unsigned int event, double exact)
{
	if (samples__are_exact(exact))
		return;
	if (fnstat_group__has_windows(group) || (group->branches && (int)event == group->insns))
		group->samplers[event] = NULL;
	else
		group->late[event] = true;
}

/* The part of all samples that is in an entry, and their effective number. */
struct part {
	double	share;
	double	nr;
	/* Variance of the logarithm of the share. */
	double	variance;
};

/* Find the part of an entry in the samples of the event with windows, or of another one. */
static struct part fnstat_entry__part(const struct fnstat_entry *entry,
				      const struct fnstat_group *group, unsigned int event)
{
	const struct fnstat_stats *all = &group->all;
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
	/* If one entry has all samples, others can still have about one of nr + 1. */
	if (part.nr)
		part.variance = max(1 / part.nr - 1 / nr, 1 / nr / (nr + 1));
	if (group->late[event])
		part.variance += pow((int)event == group->insns ? BIAS : RARE_BIAS, 2);
	return part;
}

/*
 * Compute the variance of the sum over the windows of an entry: of the residuals of the counts,
 * multiplied by @factors, from those expected for their lengths. @noise adds what other entries
 * say of the variance.
 */
static double fnstat_stats__variance(const struct fnstat_stats *stats,
				     const struct fnstat_group *group, const double *factors,
				     const double *noise)
{
	unsigned int nr = fnstat_group__nr_values(group), length = group->sampler_index;
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
				       *fnstat_stats__product(stats, group, i, j);
		}
	}
	sum = max(sum, 0.0);
	if (!noise)
		return sum;
	/* The noise weighs as much as one window of the entry. */
	return sum + prior * pow(*fnstat_stats__product(stats, group, SUM_NR, SUM_NR) /
				 stats->sums[SUM_NR], 2);
}

/*
 * Compute the rate of an event in windows: the count in a unit of the event with windows, 0 if
 * there is none. @variance: Set to that of its logarithm by chance.
 */
static double fnstat_stats__rate(const struct fnstat_stats *stats,
				 const struct fnstat_group *group, unsigned int event,
				 double *variance)
{
	double count = stats->sums ? stats->sums[SUM_COUNTS + event] : 0;
	double factors[group->nr_counts];

	*variance = 0;
	if (count <= 0 || fnstat_stats__length(stats, group) <= 0)
		return 0;
	memset(factors, 0, sizeof(factors));
	factors[event] = 1 / count;
	*variance = fnstat_stats__variance(stats, group, factors, group->noise);
	return count / fnstat_stats__length(stats, group);
}

/*
 * Compare the windows that begin in an entry with those that end there, and half of those that
 * stay with each: their rates and lengths are the same if they ran there alone. An instruction that
 * waits makes the ones that end at it longer, and those that leave are more of the ones that end.
 * @variance: That of the logarithm of the rate. Return: By which part they differ, more than by
 * chance.
 */
static double fnstat_stats__disagreement(const struct fnstat_stats *stats,
					 const struct fnstat_group *group, unsigned int event,
					 double variance)
{
	const double *begins = fnstat_stats__begins(stats, group), *sums = stats->sums;
	unsigned int length = SUM_COUNTS + group->sampler_index, count = SUM_COUNTS + event;
	double left = fnstat_stats__part_left(stats), nr = sums[SUM_NR], total = sums[length];
	double nr_part = begins[SUM_NR] / nr, part = begins[length] / total;
	/* One end can have less than the costs: then they differ by any part. */
	double nr_both = nr_part * (1 - nr_part), both = max(part * (1 - part), 0.000001);
	double rates, lengths, lengths_variance;

	/* All begin there, or end, but for rounding. */
	if (nr_both < 0.000001)
		return 0;
	lengths_variance = *fnstat_stats__product(stats, group, length, length) / total / total -
			   *fnstat_stats__product(stats, group, length, SUM_NR) * 2 / total / nr +
			   *fnstat_stats__product(stats, group, SUM_NR, SUM_NR) / nr / nr;
	rates = pow((begins[count] / sums[count] - part) / both, 2) - left * variance / both;
	lengths = pow((part - nr_part) / nr_both, 2) - left * lengths_variance / nr_both;
	return sqrt(max(rates, 0.0)) + sqrt(max(lengths, 0.0));
}

/*
 * Windows that leave an entry can come back, and then they seem to have stayed. Return how many
 * times as many leave as those that end elsewhere tell: by chance they end in an entry as often as
 * it has the time, @share, so that nearly all end where nearly all of it is. Up to two fifths of
 * the time it makes no difference.
 */
static double return_factor(double share)
{
	double part = min(share, 1 - FEW_OTHERS);

	return max(1.5 * part / (1 - part), 1.0);
}

/*
 * Return the bias of a count of the windows of an entry as a variance: of what other entries
 * add, of the correction for this, of what their ends differ by, and of the costs, which differ
 * between functions. What comes back and is not seen adds no more to the ends than to the others.
 * @share: Its part of the time. @variance: That of the logarithm of the rate by chance. @sampled:
 * Samples would show what the ends differ by.
 */
static double fnstat_stats__bias(const struct fnstat_stats *stats,
				 const struct fnstat_group *group, unsigned int event,
				 double share, double variance, bool sampled)
{
	double products = *fnstat_stats__product(stats, group, SUM_NR, SUM_NR);
	double nr = samples__effective_nr(stats->sums[SUM_NR], products);
	double left = (fnstat_stats__part_left(stats) * nr + 1) / (nr + 2);
	double back = return_factor(share);
	double others = pow(BIAS * min(back * left, 1.0), 2);
	double count = stats->sums[SUM_COUNTS + event];
	double cost = stats->sums[SUM_NR] *
		      (group->costs[group->sampler_index] / fnstat_stats__length(stats, group) -
		       group->costs[event] / count);
	double raw = fnstat_stats__raw(stats, group)[event];
	double change = raw > 0 ? pow(log(count / raw), 2) : 0;
	double differ = fnstat_stats__disagreement(stats, group, event, variance);
	double ends = pow(max(differ, min(back * differ, BIAS)), 2);
	double rare = (int)event == group->insns ? 0 :
		      (RARE_BIAS + RARE_LEFT * left) / (1 + count / stats->sums[SUM_NR]);

	others = sampled ? max(others + change, ends) : others + max(change, ends);
	return others + pow(COST_SPREAD * cost, 2) + rare * rare;
}

/* Rates of an event from windows and samples, and the variances of their logarithms. */
struct fnstat_rate {
	double	counted;
	double	counted_variance;
	double	counted_bias;
	double	samples;
	double	samples_variance;
};

/* Compute the rates of windows alone and of samples alone, 0 if there is none. */
static struct fnstat_rate fnstat_entry__rate(const struct fnstat_entry *entry,
					     const struct fnstat_group *group, unsigned int event)
{
	struct part time = fnstat_entry__part(entry, group, group->sampler_index);
	struct part samples = fnstat_entry__part(entry, group, event);
	struct fnstat_rate rate = {};
	double variance;
	bool sampled;

	rate.counted = fnstat_stats__rate(entry->stats, group, event, &variance);
	rate.counted_variance = variance + group->common;
	if (samples.nr >= MIN_SAMPLES && time.share) {
		rate.samples = samples.share * group->totals[event] /
			       (time.share * group->totals[group->sampler_index]);
		rate.samples_variance = samples.variance + time.variance;
	}
	if (!rate.counted)
		return rate;
	if (group->branches) {
		rate.counted_bias = BRANCHES_BIAS * BRANCHES_BIAS;
		return rate;
	}
	sampled = rate.samples && !group->contradicted;
	rate.counted_bias = fnstat_stats__bias(entry->stats, group, event, time.share, variance,
					       sampled);
	/* Samples can show that there is more. */
	if (sampled)
		rate.counted_bias = max(rate.counted_bias,
					(pow(log(rate.samples / rate.counted), 2) -
					 NORMAL_975 * NORMAL_975 * rate.samples_variance) / 2);
	return rate;
}

/* Find the variance of the counts of windows around the mean of their entry and length. */
static void fnstat_group__find_noise(struct fnstat_group *group,
				     struct fnstat_stats *const *entries, unsigned int nr)
{
	const double *all = group->all.sums;

	for (unsigned int i = 0; all && i < group->nr_counts; i++) {
		double factors[group->nr_counts], sum = 0, weights = 0;

		memset(factors, 0, sizeof(factors));
		factors[i] = 1;
		for (unsigned int j = 0; j < nr; j++) {
			const struct fnstat_stats *stats = entries[j];
			double squares;

			if (!stats->sums)
				continue;
			/* One window alone does not differ from its mean. */
			squares = *fnstat_stats__product(stats, group, SUM_NR, SUM_NR);
			weights += squares * (1 - squares / pow(stats->sums[SUM_NR], 2));
			sum += fnstat_stats__variance(stats, group, factors, /*noise=*/NULL);
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
static void fnstat_group__find_common(struct fnstat_group *group)
{
	double factors[group->nr_counts], alone;
	const double *all = group->all.sums;

	if (!all || !group->costs[group->sampler_index])
		return;
	memset(factors, 0, sizeof(factors));
	factors[group->insns] = 1 / all[SUM_COUNTS + group->insns];
	/* One window alone does not differ from its mean. */
	alone = *fnstat_stats__product(&group->all, group, SUM_NR, SUM_NR) / pow(all[SUM_NR], 2);
	group->common = alone < 1 ?
			fnstat_stats__variance(&group->all, group, factors, /*noise=*/NULL) /
			(1 - alone) : 1;
}

/**
 * fnstat_group__throttled - Return the part of the time in which the events were stopped.
 * @group: The group.
 *
 * Return: 0 to 1.
 */
double fnstat_group__throttled(const struct fnstat_group *group)
{
	const struct fnstat_missing *missing = &group->missing;

	return missing->time ? min((double)missing->throttled / missing->time, 1.0) : 0;
}

/**
 * fnstat_group__short_threads - Limit the time of threads without a sample.
 * @group: The group.
 *
 * Each ran for less than a period.
 *
 * Return: The largest part of the time that can be theirs, 0 to 1.
 */
double fnstat_group__short_threads(const struct fnstat_group *group)
{
	const struct perf_event_attr *attr = &group->sampler->core.attr;
	double count = attr->freq ? 0 : (double)group->missing.nr_without_sample *
					attr->sample_period;

	return count ? count / (count + group->totals[group->sampler_index]) : 0;
}

/**
 * fnstat_group__missing - Estimate the part of the time that has no samples.
 * @group: The group.
 *
 * Return: 0 to 1.
 */
double fnstat_group__missing(const struct fnstat_group *group)
{
	double threads = fnstat_group__short_threads(group);
	double part = max(fnstat_group__throttled(group), group->missing.lost);

	/* They ran for half a period on average. */
	return max(part, threads / (2 - threads));
}

/**
 * fnstat_group__marks_all - Check if no value is to be trusted.
 * @group: The group.
 *
 * Return: True if samples are missing, or windows have something else in them.
 */
bool fnstat_group__marks_all(const struct fnstat_group *group)
{
	return group->contradicted || group->differs ||
	       fnstat_group__missing(group) > FNSTAT_MAX_MISSING;
}

/*
 * Compare what all windows together tell of a metric with what was counted. It differs where
 * the interrupts are in the windows: without instructions, what they add is not known.
 */
static void fnstat_group__check_metrics(struct fnstat_group *group)
{
	const struct fnstat_entry all = { .stats = &group->all };

	/* fnstat_group__find_costs() has found them. */
	if (group->insns >= 0 && !symbol_conf.same_window &&
	    group->sampler->core.attr.exclude_kernel)
		return;
	for (unsigned int i = 0; i < group->nr_metrics && !group->differs; i++) {
		const struct fnstat_metric *metric = &group->metrics[i];
		struct fnstat_estimate estimate;
		bool sampled = false;

		for (unsigned int j = 0; j < metric->nr_ids; j++)
			sampled |= !!group->samplers[metric->id_events[j]];
		if (sampled || !isfinite(metric->total) || metric->total < 0 ||
		    fnstat_stats__estimate(&all, group, i, &estimate) == FNSTAT_ESTIMATE_NONE)
			continue;
		if (estimate.low > metric->total * (1 + FNSTAT_MAX_ERROR) ||
		    estimate.high * (1 + FNSTAT_MAX_ERROR) < metric->total) {
			group->differs = metric;
			group->mean = estimate.value;
		}
	}
}

/**
 * fnstat_group__calibrate - Find the noise of windows, and the totals of metrics.
 * @group: The group, whose costs are found.
 * @stats: The statistics of all entries, corrected.
 * @nr: Number of these.
 */
void fnstat_group__calibrate(struct fnstat_group *group, struct fnstat_stats *const *stats,
			     unsigned int nr)
{
	for (unsigned int i = 0; i < group->nr_metrics; i++) {
		struct fnstat_metric *metric = &group->metrics[i];

		/* Nothing was counted if the group never ran. */
		metric->total = metric->available && group->totals[group->sampler_index] ?
				fnstat_metric__compute(metric, group, group->totals) : NAN;
	}
	fnstat_group__find_noise(group, stats, nr);
	fnstat_group__find_common(group);
	fnstat_group__check_metrics(group);
}

/* An estimate of a count, and the weight of windows in its logarithm, 0 to 1. */
struct fnstat_count {
	double	count;
	double	counted;
};

/*
 * Estimate a count of an entry. @relative: It is compared with a count whose error is that of
 * the time. Return: False if there is nothing to estimate it from.
 */
static bool fnstat_entry__count(const struct fnstat_entry *entry,
				const struct fnstat_group *group, unsigned int event,
				bool relative, struct fnstat_count *count)
{
	struct part time = fnstat_entry__part(entry, group, group->sampler_index);
	struct part samples = fnstat_entry__part(entry, group, event);
	double cycles = time.share * group->totals[group->sampler_index];
	bool is_insns = (int)event == group->insns, sampled = group->samplers[event];
	double counted, sampling;
	struct fnstat_rate rate;

	*count = (struct fnstat_count){ .count = cycles };
	if (event == group->sampler_index)
		return cycles > 0;

	rate = fnstat_entry__rate(entry, group, event);
	count->count = samples.share * group->totals[event];
	/* Branch stacks have only instructions, and windows see too few other events. */
	if (!entry->stats->sums || !cycles || (!is_insns && (sampled || group->branches)) ||
	    (sampled && !rate.counted))
		return sampled;
	count->counted = 1;
	if (rate.samples && sampled && !group->contradicted) {
		counted = rate.counted_variance + (relative ? 0 : time.variance) +
			  rate.counted_bias;
		sampling = samples.variance + (relative ? time.variance : 0);
		count->counted = counted + sampling > 0 ? sampling / (counted + sampling) : 1;
	}
	count->count = cycles * pow(rate.counted, count->counted) *
		       pow(rate.samples, 1 - count->counted);
	return true;
}

/* Return the upper end of a count of which samples or windows have none. */
static double fnstat_entry__upper(const struct fnstat_entry *entry,
				  const struct fnstat_group *group, unsigned int event)
{
	const struct fnstat_stats *stats = entry->stats;
	double nr, one;

	if (group->samplers[event])
		return POISSON_UPPER * group->totals[event] / entry->samples[event].all;
	if (!stats->sums)
		return 0;
	/* One count has the mean weight of a window. The cost, which all have, can be less. */
	nr = stats->sums[SUM_NR];
	one = *fnstat_stats__product(stats, group, SUM_NR, SUM_NR) / nr;
	return (POISSON_UPPER * one +
		NORMAL_975 * COST_SPREAD * nr * fabs(group->costs[event])) *
	       group->totals[group->sampler_index] / group->all.weight;
}

/* Compute the derivative of a metric by each count. */
static void fnstat_metric__derive(const struct fnstat_metric *metric,
				  const struct fnstat_group *group, double value, double *counts,
				  double *derivatives)
{
	memset(derivatives, 0, group->nr_counts * sizeof(*derivatives));
	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		unsigned int event = metric->id_events[i];
		double count = counts[event], step = 0.001 * (count ?: group->totals[event] ?: 1);

		counts[event] += step;
		derivatives[event] = (fnstat_metric__compute(metric, group, counts) - value) / step;
		counts[event] = count;
	}
}

/* Compute a metric from estimates of its counts. Return NAN if one is not known. */
static double fnstat_entry__compute(const struct fnstat_entry *entry,
				    const struct fnstat_group *group,
				    const struct fnstat_metric *metric,
				    double *counts, struct fnstat_count *parts)
{
	bool relative = false;

	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		unsigned int event = metric->id_events[i];

		relative = relative || event == group->sampler_index || !group->samplers[event];
	}
	memset(counts, 0, group->nr_counts * sizeof(*counts));
	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		unsigned int event = metric->id_events[i];

		if (!fnstat_entry__count(entry, group, event, relative, &parts[event]))
			return NAN;
		counts[event] = parts[event].count;
	}
	return fnstat_metric__compute(metric, group, counts);
}

static enum metric_threshold_classify
fnstat_entry__classify(const struct fnstat_entry *entry, const struct fnstat_group *group,
		       const struct fnstat_metric *threshold)
{
	struct fnstat_count parts[group->nr_counts];
	double counts[group->nr_counts];

	if (!threshold || !threshold->available)
		return METRIC_THRESHOLD_UNKNOWN;
	return metric_threshold_classify__value(fnstat_entry__compute(entry, group, threshold,
								      counts, parts));
}

/*
 * Compute the variance of a metric from those of samples and windows of each count. @bias: Set to
 * the part that is not chance, but the same in other recordings.
 */
static double fnstat_entry__variance(const struct fnstat_entry *entry,
				     const struct fnstat_group *group,
				     const struct fnstat_metric *metric, double value,
				     double *counts, const struct fnstat_count *parts,
				     double *bias)
{
	struct part time = fnstat_entry__part(entry, group, group->sampler_index);
	double derivatives[group->nr_counts], factors[group->nr_counts];
	double by_time = 0, variance = 0;

	fnstat_metric__derive(metric, group, value, counts, derivatives);
	memset(factors, 0, sizeof(factors));
	*bias = 0;
	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		unsigned int event = metric->id_events[i];
		double part = parts[event].counted, by_log = derivatives[event] * counts[event];
		struct part samples = fnstat_entry__part(entry, group, event);

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
				 fnstat_entry__rate(entry, group, event).counted_bias;
		}
		if (group->fractions[event]) {
			double slots = time.share * group->totals[group->slots];

			/* The rounding of CPUs is not documented: at most one step. */
			variance += pow(slots * derivatives[event] / FRACTION_STEPS, 2) / 3;
		}
	}
	variance += by_time * by_time * time.variance;
	if (entry->stats->sums)
		variance += fnstat_stats__variance(entry->stats, group, factors, group->noise);
	return variance + *bias;
}

static enum fnstat_quality fnstat_estimate__quality(const struct fnstat_estimate *estimate,
						    const struct fnstat_group *group,
						    double total)
{
	double value = estimate->value, low = estimate->low, high = estimate->high;

	/* A 0 is certain if the event never happened. */
	if (!value && !high && !total)
		return FNSTAT_ESTIMATE_GOOD;
	if (low > 0 && !fnstat_group__marks_all(group) &&
	    high <= value * (1 + FNSTAT_MAX_ERROR) &&
	    low * (1 + FNSTAT_MAX_ERROR) >= value * 0.999)
		return FNSTAT_ESTIMATE_GOOD;
	if (low > 0 && low * USELESS_ERROR >= value)
		return FNSTAT_ESTIMATE_POOR;
	return high > 0 && high < total ? FNSTAT_ESTIMATE_BOUND : FNSTAT_ESTIMATE_USELESS;
}

/**
 * fnstat_stats__estimate - Estimate a metric.
 * @entry: The entry.
 * @group: Its group of events, calibrated.
 * @metric: Index of the metric in the group.
 * @estimate: The estimate, in the unit of the metric.
 *
 * Return: How precise it is.
 */
enum fnstat_quality fnstat_stats__estimate(const struct fnstat_entry *entry,
					   const struct fnstat_group *group,
					   unsigned int metric,
					   struct fnstat_estimate *estimate)
{
	const struct fnstat_metric *m = &group->metrics[metric];
	struct fnstat_count parts[group->nr_counts];
	double counts[group->nr_counts], bias, half, value;

	if (!m->available)
		return FNSTAT_ESTIMATE_NONE;
	value = fnstat_entry__compute(entry, group, m, counts, parts);
	if (!isfinite(value))
		return FNSTAT_ESTIMATE_NONE;
	estimate->value = value;
	estimate->dividend = m->kind == FNSTAT_METRIC_EXPR ? NAN : counts[m->dividend];
	estimate->divisor = m->kind == FNSTAT_METRIC_EXPR ? NAN :
			    m->kind == FNSTAT_METRIC_SHARE ? group->totals[m->dividend] :
			    counts[m->divisor];
	estimate->threshold = fnstat_entry__classify(entry, group, m->threshold);

	half = NORMAL_975 * sqrt(fnstat_entry__variance(entry, group, m, value, counts, parts,
							&bias));
	estimate->bias = sqrt(bias);
	if (value > 0 && half < value) {
		estimate->low = value * exp(-half / value);
		estimate->high = value * exp(half / value);
	} else {
		estimate->low = value < 0 ? value - half : max(value - half, 0.0);
		/* The upper end of what few samples count is more than as far away. */
		estimate->high = value > 0 && m->kind != FNSTAT_METRIC_EXPR ?
				 value * exp(half / value) : value + half;
	}
	if (!value) {
		bool late = false;

		for (unsigned int i = 0; i < m->nr_ids; i++) {
			unsigned int event = m->id_events[i];

			late |= group->late[event];
			if (!counts[event])
				counts[event] = min(fnstat_entry__upper(entry, group, event),
						    group->totals[event]);
		}
		estimate->high = max(m->kind == FNSTAT_METRIC_EXPR ? estimate->high : 0,
				     fnstat_metric__compute(m, group, counts));
		/* Late samples can all be elsewhere. */
		if (late)
			estimate->high = INFINITY;
	}
	/* A part of a total is at most 100 %. */
	if (m->kind == FNSTAT_METRIC_SHARE ||
	    (m->kind == FNSTAT_METRIC_RATIO && m->factor == 100 &&
	     group->totals[m->dividend] <= group->totals[m->divisor])) {
		estimate->value = min(value, m->factor);
		estimate->low = min(estimate->low, m->factor);
		estimate->high = min(estimate->high, m->factor);
	}
	return fnstat_estimate__quality(estimate, group, m->total);
}

/**
 * fnstat_entry__needs - Estimate how much more data gives a value without a mark.
 * @entry: The entry.
 * @group: Its group of events, calibrated.
 * @metric: The metric.
 * @estimate: The estimate of it, or NULL if there is none.
 *
 * It is that of samples alone, which is an upper limit, or of windows where there are no samples.
 * More samples that are late have the same bias, and so have more windows.
 *
 * Return: A factor, FNSTAT_FAR_MORE or more if it cannot be told, or INFINITY if no data is enough.
 */
double fnstat_entry__needs(const struct fnstat_entry *entry, const struct fnstat_group *group,
			   const struct fnstat_metric *metric,
			   const struct fnstat_estimate *estimate)
{
	double most = pow(log(1 + FNSTAT_MAX_ERROR) / NORMAL_975, 2), variance = 0, bias;

	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		unsigned int event = metric->id_events[i];

		if (group->late[event])
			return INFINITY;
		if (event == group->sampler_index) {
			variance += entry->stats->weight2 / pow(entry->stats->weight, 2);
		} else if (group->samplers[event] && entry->samples[event].share) {
			variance += 1 / entry->samples[event].share / entry->samples[event].all;
		} else if (group->samplers[event] && entry->samples[event].all) {
			/* None is about half of one. */
			variance += 2;
		} else {
			if (!estimate || estimate->low <= 0)
				return FNSTAT_FAR_MORE;
			bias = pow(estimate->bias / estimate->value, 2);
			variance = pow(log(estimate->high / estimate->low) / 2 / NORMAL_975, 2) -
				   bias;
			return most > bias ? variance / (most - bias) : INFINITY;
		}
	}
	return variance / most;
}

/**
 * fnstat_stats__time - Estimate the share of time, in units of the sampling event.
 * @stats: The statistics.
 * @group: Their group of events.
 * @estimate: The share, in percent.
 *
 * Return: False if there is no sample at all.
 */
bool fnstat_stats__time(const struct fnstat_stats *stats, const struct fnstat_group *group,
			struct fnstat_estimate *estimate)
{
	const struct fnstat_entry entry = { .stats = stats };
	struct part time = fnstat_entry__part(&entry, group, group->sampler_index);
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
 * fnstat_estimate__z - Compare two estimates.
 * @a: An estimate.
 * @b: Another one, of other data.
 * @same_bias: Both were recorded in the same way. The bias of windows is that of the same code in
 *	both, so that only its difference counts.
 *
 * Return: The difference of @b and @a, on a logarithmic scale if both are positive,
 * divided by its standard error, or 0 if that is not known.
 */
double fnstat_estimate__z(const struct fnstat_estimate *a, const struct fnstat_estimate *b,
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
 * fnstat_stats__fprintf_json - Write statistics as members of a JSON object.
 * @stats: The statistics.
 * @depth: Of the members.
 * @fp: Where to write.
 *
 * All are sums, so those of two recordings can be added.
 */
void fnstat_stats__fprintf_json(const struct fnstat_stats *stats, int depth, FILE *fp)
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
 * fnstat_group__fprintf_json - Write the common data of the statistics of a group.
 * @group: The group.
 * @depth: Of the members of a JSON object.
 * @fp: Where to write.
 */
void fnstat_group__fprintf_json(const struct fnstat_group *group, int depth, FILE *fp)
{
	unsigned int nr = group->nr_counts;
	struct evsel *evsel;
	bool comma = false;

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
	output_json_key_format(fp, true, depth, "metrics", "{");
	for (unsigned int i = 0; i < group->nr_metrics; i++) {
		const struct fnstat_metric *metric = &group->metrics[i];

		if (!metric->available || !isfinite(metric->total))
			continue;
		output_json_delimiters(fp, comma, depth + 1);
		comma = true;
		output_json_string(fp, metric->name);
		fprintf(fp, ": %.17g", metric->total);
	}
	fputc('}', fp);
	output_json_key_format(fp, true, depth, "sampler", "%u", group->sampler_index);
	output_json_key_format(fp, true, depth, "length", "%.17g", group->length);
	output_json_key_format(fp, true, depth, "branches", group->branches ? "true" : "false");
	output_json_key_format(fp, true, depth, "costs", "%s", "");
	fprintf_array(group->costs, group->nr_counts, fp);
	output_json_key_format(fp, true, depth, "contradicted",
			       group->contradicted ? "true" : "false");
	output_json_key_format(fp, true, depth, "throttled",
			       "{\"times\": %u, \"share\": %.17g}",
			       group->missing.nr_throttled, fnstat_group__throttled(group));
	output_json_key_format(fp, true, depth, "missing", "%.17g", fnstat_group__missing(group));
	output_json_key_format(fp, true, depth, "marked",
			       fnstat_group__marks_all(group) ? "true" : "false");
	output_json_key_format(fp, true, depth, "all", "{");
	fnstat_stats__fprintf_json(&group->all, depth + 1, fp);
	output_json_format(fp, false, depth, "}");
}
