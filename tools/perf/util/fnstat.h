/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_FNSTAT_H
#define __PERF_FNSTAT_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

#include "stat.h"
#include "group-tracker.h"

struct evlist;
struct evsel;
struct hist_entry;
struct expr_parse_ctx;
struct perf_env;
struct strbuf;
struct fnstat_refs;
struct fnstat_samples;
struct fnstat_value;

/**
 * struct fnstat_stats - Statistics of the windows of a hist entry, or of all entries.
 * @weight: Sum of the weights of samples: the part of the sampling event in the entry.
 * @weight2: Sum of the squares of the weight of each round.
 * @nr_windows: Number of windows that begin in the entry.
 * @nr_used: Number of used windows among them.
 * @problems: Number of windows with each enum window_problem.
 * @left: Weight of the windows in @sums that begin or end elsewhere.
 * @sums: Sums of the used windows, see fnstat_group__nr_sums(). Allocated for the first window.
 * @index: Of the entry, while all are corrected.
 * @samples: Result of hist_entry__samples(), or NULL before its first call.
 * @values: Estimate of each metric, or NULL before one is asked for.
 */
struct fnstat_stats {
	double	weight;
	double	weight2;
	u64	nr_windows;
	u64	nr_used;
	u64	problems[WINDOW_PROBLEMS];
	double	left;
	double	*sums;
	unsigned int		index;
	struct fnstat_samples	*samples;
	struct fnstat_value	*values;
};

/*
 * A wider interval has a mark: with this, few values without one are wrong by a fifth. Samples
 * may miss this part of the count.
 */
#define FNSTAT_MAX_ERROR	0.28
/* A factor of data that is too large to be told. */
#define FNSTAT_FAR_MORE		1000

/* Where more of the time is missing, all values have a mark. */
#define FNSTAT_MAX_MISSING	0.1

/**
 * struct window_pair - A window that left an entry.
 * @stats: The statistics of where it begins or ends.
 * @other: The statistics of where its other end is.
 * @weight: Weight of the window.
 */
struct window_pair {
	const struct fnstat_stats	*stats;
	const struct fnstat_stats	*other;
	double				weight;
};

/**
 * struct fnstat_missing - What a recording lacks.
 * @nr_throttled: How often the kernel stopped the events.
 * @throttled: How long, in ns.
 * @time: In which the events counted, in ns. 0 if it was not recorded.
 * @enabled: The same, with the time in which others had the counters.
 * @nr_ended: Number of threads that ended, if each has its own counts.
 * @nr_without_sample: Those that ended before their first sample.
 * @lost: Part of the samples that the kernel dropped, 0 to 1.
 * @kernel: Part of the time of a clock that has no samples, in the kernel, 0 to 1.
 */
struct fnstat_missing {
	unsigned int	nr_throttled;
	u64		throttled;
	u64		time;
	u64		enabled;
	unsigned int	nr_ended;
	unsigned int	nr_without_sample;
	double		lost;
	double		kernel;
};

enum fnstat_metric_kind {
	/* Factor times one event by another. */
	FNSTAT_METRIC_RATIO,
	/* The entry's percentage of all that an event counted. */
	FNSTAT_METRIC_SHARE,
	/* An expression of events, as in the JSON files of pmu-events. */
	FNSTAT_METRIC_EXPR,
};

/**
 * struct fnstat_metric - A metric, with its events in the group.
 * @name: As given by the user.
 * @header: Of the column.
 * @text: What it is, or NULL if the name says so.
 * @kind: How it is computed.
 * @factor: Unit of a ratio, or of an expression.
 * @dividend: Index in the group of the event that is divided, or shared.
 * @divisor: Index in the group of the event to divide by.
 * @available: The group has all events.
 * @total: The value of all entries, NAN if there is none.
 * @expr: An expression.
 * @refs: Other metrics in it.
 * @threshold: An expression that is not 0 if the value of the metric is bad, or NULL.
 * @ctx: Parser context of @expr.
 * @nr_ids: Number of its events.
 * @ids: Their names in an expression.
 * @id_events: Their indices in the group.
 */
struct fnstat_metric {
	char			*name;
	char			*header;
	const char		*text;
	enum fnstat_metric_kind	kind;
	double			factor;
	unsigned int		dividend;
	unsigned int		divisor;
	bool			available;
	double			total;
	char			*expr;
	struct fnstat_refs	*refs;
	struct fnstat_metric	*threshold;
	struct expr_parse_ctx	*ctx;
	unsigned int		nr_ids;
	char			**ids;
	unsigned int		*id_events;
};

/**
 * struct fnstat_group - Common data of the statistics of a group of events.
 * @sampler: The event that samples.
 * @nr_counts: Number of events in the group.
 * @sampler_index: Index of @sampler in the group.
 * @insns: Index in the group of the instructions, or -ENOENT.
 * @slots: Index in the group of the event whose fractions TopDown metrics are, or -ENOENT.
 * @branches: Branch stacks of the samples of @sampler take the place of windows.
 * @length: Nominal length of a window, or 0.
 * @totals: Count of each event in the recording, without @costs.
 * @costs: What the interrupts add to the counts of a window.
 * @noise: Variance of the count of a window, if the rate of its entry is known.
 * @common: Variance of the logarithm of that rate in all entries, from the error of @costs.
 * @contradicted: Samples are missing, or there are more than was counted.
 * @contradiction: Their weight in percent of the count.
 * @missing: What has no samples.
 * @differs: A metric whose windows all together differ from its count, or NULL.
 * @mean: The value of the windows of @differs.
 * @corrected: @costs, and counts of other entries, are no longer in the statistics and @totals.
 * @samplers: For each event, another one that counts the same and samples, or NULL.
 * @late: For each event, true if its samples are of what ran later.
 * @fractions: For each event, true if it is a fraction of @slots.
 * @all: Statistics of all entries.
 * @nr_pairs: Number of @pairs.
 * @max_pairs: Room for so many.
 * @pairs: The windows that left an entry, until the counts are corrected.
 * @nr_metrics: Number of metrics.
 * @metrics: The metrics.
 */
struct fnstat_group {
	struct evsel		*sampler;
	unsigned int		nr_counts;
	unsigned int		sampler_index;
	int			insns;
	int			slots;
	bool			branches;
	double			length;
	double			*totals;
	double			*costs;
	double			*noise;
	double			common;
	bool			contradicted;
	double			contradiction;
	struct fnstat_missing	missing;
	const struct fnstat_metric	*differs;
	double			mean;
	bool			corrected;
	struct evsel		**samplers;
	bool			*late;
	bool			*fractions;
	struct fnstat_stats	all;
	size_t			nr_pairs;
	size_t			max_pairs;
	struct window_pair	*pairs;
	unsigned int		nr_metrics;
	struct fnstat_metric	*metrics;
};

/**
 * struct fnstat_estimate - A value with its interval of 95 %.
 * @value: The estimate.
 * @low: Lower end.
 * @high: Upper end.
 * @bias: The part of the standard error that is the same in other recordings.
 * @dividend: The count that a ratio or a share divides, else NAN.
 * @divisor: The count to divide it by, without the metric's factor, else NAN.
 * @threshold: Class of @value by the threshold of the metric.
 */
struct fnstat_estimate {
	double				value;
	double				low;
	double				high;
	double				bias;
	double				dividend;
	double				divisor;
	enum metric_threshold_classify	threshold;
};

/**
 * struct fnstat_samples - The samples of an event in an entry.
 * @share: The entry's part of all samples, 0 to 1, weighted with their periods.
 * @all: Effective number of samples of all entries, see samples__effective_nr().
 */
struct fnstat_samples {
	double	share;
	double	all;
};

/**
 * struct fnstat_entry - The windows and samples of an entry.
 * @stats: Its windows.
 * @samples: Its samples of each event of the group. The event with windows is not used.
 */
struct fnstat_entry {
	const struct fnstat_stats	*stats;
	const struct fnstat_samples	*samples;
};

/**
 * enum fnstat_quality - How precise an estimate is.
 * @FNSTAT_ESTIMATE_NONE: There is no estimate.
 * @FNSTAT_ESTIMATE_GOOD: Its interval reaches at most FNSTAT_MAX_ERROR up.
 * @FNSTAT_ESTIMATE_POOR: Its interval is wider.
 * @FNSTAT_ESTIMATE_BOUND: The value can be less than half of the estimate, and its interval reaches
 *	up to less than the value of all entries.
 * @FNSTAT_ESTIMATE_USELESS: As that, and it can be more than the value of all entries.
 */
enum fnstat_quality {
	FNSTAT_ESTIMATE_NONE,
	FNSTAT_ESTIMATE_GOOD,
	FNSTAT_ESTIMATE_POOR,
	FNSTAT_ESTIMATE_BOUND,
	FNSTAT_ESTIMATE_USELESS,
};

/**
 * struct fnstat_value - An estimate that is kept: entries are sorted by it before it is printed.
 * @estimate: The estimate, not set if @quality is FNSTAT_ESTIMATE_NONE.
 * @quality: How precise it is.
 * @known: It was computed.
 */
struct fnstat_value {
	struct fnstat_estimate	estimate;
	enum fnstat_quality	quality;
	bool			known;
};

/**
 * samples__effective_nr - Compute L. Kish's effective number of samples.
 * @weight: Sum of their weights.
 * @weight2: Sum of the squares of these.
 *
 * Return: Their number if all weigh the same, else less.
 */
static inline double samples__effective_nr(double weight, double weight2)
{
	return weight2 ? weight * weight / weight2 : 0;
}

/**
 * samples__are_exact - Check if samples have the place of their event.
 * @exact: Part of them with PERF_RECORD_MISC_EXACT_IP, 0 to 1.
 *
 * Return: True if what the others can change needs no mark.
 */
static inline bool samples__are_exact(double exact)
{
	return exact >= 1 - FNSTAT_MAX_ERROR;
}

struct fnstat_group *fnstat_group__new(struct evsel *sampler);
void fnstat_group__delete(struct fnstat_group *group);
bool fnstat_group__has_windows(const struct fnstat_group *group);
double fnstat_group__throttled(const struct fnstat_group *group);
double fnstat_group__short_threads(const struct fnstat_group *group);
double fnstat_group__missing(const struct fnstat_group *group);
bool fnstat_group__knows_cost(const struct fnstat_group *group);
bool fnstat_group__marks_all(const struct fnstat_group *group);
int fnstat_group__add_metric(struct fnstat_group *group, const char *name);
bool fnstat_event__has_name(const char *name, const char *event, bool with_terms);
bool evsel__counts_same(const struct evsel *a, const struct evsel *b);
bool evsel__samples_for_group(struct evsel *evsel);

const char *fnstat_metric__names(void);
int fnstat_metric__add_events(const char *name, const char *pmu, const char *sampler,
			      struct strbuf *events);
const char *fnstat_metric__default_names(void);
char *evlist__fnstat_metrics(struct evlist *evlist, bool all, struct perf_env *env);
char *fnstat_metric__expand_groups(const char *names, struct perf_env *env);
double fnstat_metric__compute(const struct fnstat_metric *metric,
			      const struct fnstat_group *group, const double *counts);

void fnstat_group__count(struct fnstat_group *group, const struct group_sample *gs);
void fnstat_group__check_samples(struct fnstat_group *group, unsigned int event, double weight,
				 double nr);
void fnstat_group__find_costs(struct fnstat_group *group, struct fnstat_stats *const *stats,
			      unsigned int nr, double nr_interrupts);
void fnstat_group__check_exact(struct fnstat_group *group, unsigned int event, double exact);
void fnstat_group__calibrate(struct fnstat_group *group, struct fnstat_stats *const *stats,
			     unsigned int nr);
int fnstat_group__add_pair(struct fnstat_group *group, struct fnstat_stats *stats,
			   struct fnstat_stats *other, double weight);
int fnstat_group__subtract_others(struct fnstat_group *group, struct fnstat_stats *const *stats,
				  unsigned int nr, unsigned int nr_children);

void fnstat_stats__add_sample(struct fnstat_stats *stats, double weight, unsigned int earlier);
void fnstat_stats__count_window(struct fnstat_stats *stats, unsigned int problems, bool used);
int fnstat_stats__add_counts(struct fnstat_stats *stats, const struct fnstat_group *group,
			     const u64 *counts, double weight, bool begins, bool ends);
int fnstat_stats__add_branches(struct fnstat_stats *stats, const struct fnstat_group *group,
			       double cycles, double insns);
void fnstat_stats__correct(struct fnstat_stats *stats, const struct fnstat_group *group);
int fnstat_stats__merge(struct fnstat_stats *stats, const struct fnstat_stats *other,
			const struct fnstat_group *group);
void fnstat_stats__exit(struct fnstat_stats *stats);

double fnstat_stats__left(const struct fnstat_stats *stats);
enum fnstat_quality fnstat_stats__estimate(const struct fnstat_entry *entry,
					   const struct fnstat_group *group,
					   unsigned int metric,
					   struct fnstat_estimate *estimate);
double fnstat_estimate__z(const struct fnstat_estimate *a, const struct fnstat_estimate *b,
			  bool same_bias);
double fnstat_entry__needs(const struct fnstat_entry *entry, const struct fnstat_group *group,
			   const struct fnstat_metric *metric,
			   const struct fnstat_estimate *estimate);
bool fnstat_stats__time(const struct fnstat_stats *stats, const struct fnstat_group *group,
			struct fnstat_estimate *estimate);
void fnstat_stats__fprintf_json(const struct fnstat_stats *stats, int depth, FILE *fp);
void fnstat_group__fprintf_json(const struct fnstat_group *group, int depth, FILE *fp);

#endif /* __PERF_FNSTAT_H */
