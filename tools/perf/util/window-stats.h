/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_WINDOW_STATS_H
#define __PERF_WINDOW_STATS_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

#include "stat.h"
#include "window.h"

struct evlist;
struct evsel;
struct hist_entry;
struct expr_parse_ctx;
struct perf_env;
struct strbuf;
struct window_refs;
struct window_samples;
struct window_value;

/**
 * struct window_stats - Statistics of the windows of a hist entry, or of all entries.
 * @weight: Sum of the weights of samples: the part of the sampling event in the entry.
 * @weight2: Sum of the squares of the weight of each round.
 * @nr_windows: Number of windows that begin in the entry.
 * @nr_used: Number of used windows among them.
 * @problems: Number of windows with each enum window_problem.
 * @left: Weight of the windows in @sums that begin or end elsewhere.
 * @sums: Sums of the used windows, see window_group__nr_sums(). Allocated for the first window.
 * @index: Of the entry, while all are corrected.
 * @samples: Result of hist_entry__samples(), or NULL before its first call.
 * @values: Estimate of each metric, or NULL before one is asked for.
 */
struct window_stats {
	double	weight;
	double	weight2;
	u64	nr_windows;
	u64	nr_used;
	u64	problems[WINDOW_PROBLEMS];
	double	left;
	double	*sums;
	unsigned int		index;
	struct window_samples	*samples;
	struct window_value	*values;
};

/*
 * A wider interval has a mark: with this, few values without one are wrong by a fifth. Samples
 * may miss this part of the count.
 */
#define WINDOW_MAX_ERROR	0.28

/* Where more of the time is missing, all values have a mark. */
#define WINDOW_MAX_MISSING	0.1

/**
 * struct window_pair - A window that left an entry.
 * @stats: The statistics of where it begins or ends.
 * @other: The statistics of where its other end is.
 * @weight: Weight of the window.
 */
struct window_pair {
	const struct window_stats	*stats;
	const struct window_stats	*other;
	double				weight;
};

/**
 * struct window_missing - What a recording lacks.
 * @nr_throttled: How often the kernel stopped the events.
 * @throttled: How long, in ns.
 * @time: In which the events counted, in ns. 0 if it was not recorded.
 * @nr_ended: Number of threads that ended, if each has its own counts.
 * @nr_without_sample: Those that ended before their first sample.
 * @lost: Part of the samples that the kernel dropped, 0 to 1.
 * @kernel: Part of the time of a clock that has no samples, in the kernel, 0 to 1.
 */
struct window_missing {
	unsigned int	nr_throttled;
	u64		throttled;
	u64		time;
	unsigned int	nr_ended;
	unsigned int	nr_without_sample;
	double		lost;
	double		kernel;
};

enum window_metric_kind {
	/* Factor times one event by another. */
	WINDOW_METRIC_RATIO,
	/* The entry's percentage of all that an event counted. */
	WINDOW_METRIC_SHARE,
	/* An expression of events, as in the JSON files of pmu-events. */
	WINDOW_METRIC_EXPR,
};

/**
 * struct window_metric - A metric, with its events in the group.
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
struct window_metric {
	char			*name;
	char			*header;
	const char		*text;
	enum window_metric_kind	kind;
	double			factor;
	unsigned int		dividend;
	unsigned int		divisor;
	bool			available;
	double			total;
	char			*expr;
	struct window_refs	*refs;
	struct window_metric	*threshold;
	struct expr_parse_ctx	*ctx;
	unsigned int		nr_ids;
	char			**ids;
	unsigned int		*id_events;
};

/**
 * struct window_group - Common data of the statistics of a group of events.
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
struct window_group {
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
	struct window_missing	missing;
	const struct window_metric	*differs;
	double			mean;
	bool			corrected;
	struct evsel		**samplers;
	bool			*late;
	bool			*fractions;
	struct window_stats	all;
	size_t			nr_pairs;
	size_t			max_pairs;
	struct window_pair	*pairs;
	unsigned int		nr_metrics;
	struct window_metric	*metrics;
};

/**
 * struct window_estimate - A value with its interval of 95 %.
 * @value: The estimate.
 * @low: Lower end.
 * @high: Upper end.
 * @bias: The part of the standard error that is the same in other recordings.
 * @dividend: The count that a ratio or a share divides, else NAN.
 * @divisor: The count to divide it by, without the metric's factor, else NAN.
 * @threshold: Class of @value by the threshold of the metric.
 */
struct window_estimate {
	double				value;
	double				low;
	double				high;
	double				bias;
	double				dividend;
	double				divisor;
	enum metric_threshold_classify	threshold;
};

/**
 * struct window_samples - The samples of an event in an entry.
 * @share: The entry's part of all samples, 0 to 1, weighted with their periods.
 * @all: Effective number of samples of all entries, see Kish's in WINDOWS.
 */
struct window_samples {
	double	share;
	double	all;
};

/**
 * struct window_entry - The windows and samples of an entry.
 * @stats: Its windows.
 * @samples: Its samples of each event of the group. The event with windows is not used.
 */
struct window_entry {
	const struct window_stats	*stats;
	const struct window_samples	*samples;
};

/**
 * enum window_quality - How precise an estimate is.
 * @WINDOW_ESTIMATE_NONE: There is no estimate.
 * @WINDOW_ESTIMATE_GOOD: Its interval reaches at most WINDOW_MAX_ERROR up.
 * @WINDOW_ESTIMATE_POOR: Its interval is wider.
 * @WINDOW_ESTIMATE_BOUND: Its interval reaches down to 0, and up to less than the value of all
 *	entries.
 * @WINDOW_ESTIMATE_USELESS: The value can be twice or half of the estimate.
 */
enum window_quality {
	WINDOW_ESTIMATE_NONE,
	WINDOW_ESTIMATE_GOOD,
	WINDOW_ESTIMATE_POOR,
	WINDOW_ESTIMATE_BOUND,
	WINDOW_ESTIMATE_USELESS,
};

/**
 * struct window_value - An estimate that is kept: entries are sorted by it before it is printed.
 * @estimate: The estimate, not set if @quality is WINDOW_ESTIMATE_NONE.
 * @quality: How precise it is.
 * @known: It was computed.
 */
struct window_value {
	struct window_estimate	estimate;
	enum window_quality	quality;
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

struct window_group *window_group__new(struct evsel *sampler);
void window_group__delete(struct window_group *group);
bool window_group__has_windows(const struct window_group *group);
double window_group__throttled(const struct window_group *group);
double window_group__short_threads(const struct window_group *group);
double window_group__missing(const struct window_group *group);
bool window_group__marks_all(const struct window_group *group);
int window_group__add_metric(struct window_group *group, const char *name);
bool window_event__has_name(const char *name, const char *event, bool with_terms);
bool evsel__counts_same(const struct evsel *a, const struct evsel *b);
bool evsel__samples_for_windows(struct evsel *evsel);

const char *window_metric__names(void);
int window_metric__add_events(const char *name, const char *pmu, const char *sampler,
			      struct strbuf *events);
const char *window_metric__default_names(void);
char *evlist__window_metrics(struct evlist *evlist, bool all, struct perf_env *env);
char *window_metric__expand_groups(const char *names, struct perf_env *env);
double window_metric__compute(const struct window_metric *metric,
			      const struct window_group *group, const double *counts);

void window_group__count(struct window_group *group, const struct window *window);
void window_group__check_samples(struct window_group *group, unsigned int event, double weight,
				 double nr);
void window_group__find_costs(struct window_group *group, struct window_stats *const *stats,
			      unsigned int nr, double nr_interrupts);
void window_group__check_exact(struct window_group *group, unsigned int event, double exact);
void window_group__calibrate(struct window_group *group, struct window_stats *const *stats,
			     unsigned int nr);
int window_group__add_pair(struct window_group *group, struct window_stats *stats,
			   struct window_stats *other, double weight);
int window_group__subtract_others(struct window_group *group, struct window_stats *const *stats,
				  unsigned int nr);

void window_stats__add_sample(struct window_stats *stats, double weight, unsigned int earlier);
void window_stats__count_window(struct window_stats *stats, unsigned int problems, bool used);
int window_stats__add_counts(struct window_stats *stats, const struct window_group *group,
			     const u64 *counts, double weight, bool left);
int window_stats__add_branches(struct window_stats *stats, const struct window_group *group,
			       double cycles, double insns);
void window_stats__correct(struct window_stats *stats, const struct window_group *group);
int window_stats__merge(struct window_stats *stats, const struct window_stats *other,
			const struct window_group *group);
void window_stats__exit(struct window_stats *stats);

double window_stats__left(const struct window_stats *stats);
enum window_quality window_stats__estimate(const struct window_entry *entry,
					   const struct window_group *group,
					   unsigned int metric,
					   struct window_estimate *estimate);
double window_estimate__z(const struct window_estimate *a, const struct window_estimate *b,
			  bool same_bias);
bool window_stats__time(const struct window_stats *stats, const struct window_group *group,
			struct window_estimate *estimate);
void window_stats__fprintf_json(const struct window_stats *stats, int depth, FILE *fp);
void window_group__fprintf_json(const struct window_group *group, int depth, FILE *fp);

#endif /* __PERF_WINDOW_STATS_H */
