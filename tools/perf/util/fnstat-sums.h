/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_FNSTAT_SUMS_H
#define __PERF_FNSTAT_SUMS_H

#include <linux/kernel.h>

#include "fnstat.h"

/* With fewer samples there is no logarithm of an estimate, and windows do not tell their length. */
#define MIN_SAMPLES		3

/*
 * Sums over windows: of their weights, and of the weighted counts. Then the sums of the
 * products of each pair of these values, the same sums as at first of the windows that begin in
 * the entry, and the counts before fnstat_group__subtract_others().
 */
enum { SUM_NR, SUM_COUNTS };

static inline unsigned int fnstat_group__nr_values(const struct fnstat_group *group)
{
	return SUM_COUNTS + group->nr_counts;
}

static inline unsigned int fnstat_group__nr_sums(const struct fnstat_group *group)
{
	unsigned int nr = fnstat_group__nr_values(group);

	return 2 * nr + nr * (nr + 1) / 2 + group->nr_counts;
}

/* Return the sum of the products of two values. */
static inline double *fnstat_stats__product(const struct fnstat_stats *stats,
					    const struct fnstat_group *group,
					    unsigned int a, unsigned int b)
{
	unsigned int row = max(a, b), column = min(a, b);

	return stats->sums + fnstat_group__nr_values(group) + row * (row + 1) / 2 + column;
}

/* Return the counts of the windows before those of other entries were subtracted. */
static inline double *fnstat_stats__raw(const struct fnstat_stats *stats,
					const struct fnstat_group *group)
{
	return stats->sums + fnstat_group__nr_sums(group) - group->nr_counts;
}

/* Return the sums of what is of windows that begin in the entry. The rest is of those that end. */
static inline double *fnstat_stats__begins(const struct fnstat_stats *stats,
					   const struct fnstat_group *group)
{
	return fnstat_stats__raw(stats, group) - fnstat_group__nr_values(group);
}

/* Return the count of the sampling event in the windows. */
static inline double fnstat_stats__length(const struct fnstat_stats *stats,
					  const struct fnstat_group *group)
{
	return stats->sums ? stats->sums[SUM_COUNTS + group->sampler_index] : 0;
}

/* Return the part of the windows that left their entry, by weight. */
static inline double fnstat_stats__part_left(const struct fnstat_stats *stats)
{
	return stats->sums ? stats->left / stats->sums[SUM_NR] : 0;
}

#endif /* __PERF_FNSTAT_SUMS_H */
