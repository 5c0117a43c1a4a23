/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_WINDOW_STATS_H
#define __PERF_WINDOW_STATS_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

#include "window.h"

struct evsel;
struct expr_parse_ctx;
struct strbuf;
struct window_refs;

/* The rounds are dealt to so many groups, to estimate the error without each in turn. */
#define WINDOW_GROUPS		32

/* An entry with less is marked: its windows may not be like the rest of its time. */
#define WINDOW_MIN_COVERAGE	0.8
#define WINDOW_MIN_KEPT		10
/*
 * The same if its counts may differ as much, as a logarithm, when the windows that left it
 * are added, and these are not few.
 */
#define WINDOW_MAX_DIFFERENCE	0.1
#define WINDOW_MIN_LEFT		5
/* The ends of shorter windows are too near to each other for a slope. */
#define WINDOW_MIN_SLOPE	1000

/**
 * struct window_stats - Statistics of the windows of a hist entry, or of all entries.
 * @nr_rounds: Number of rounds that begin in the entry.
 * @weight: Sum of their weights: of all the sampling event counts, what is the entry's.
 * @weight2: Sum of the squares of their weights.
 * @nr_windows: Number of windows of these rounds.
 * @nr_kept: Number of those that are used.
 * @problems: Number of windows with each enum window_problem.
 * @sums: What the used windows counted, in WINDOW_GROUPS rows, and those that are not used
 *	because they left the entry, in one more. Allocated for the first window.
 */
struct window_stats {
	u64	nr_rounds;
	double	weight;
	double	weight2;
	u64	nr_windows;
	u64	nr_kept;
	u64	problems[WINDOW_PROBLEMS];
	double	*sums;
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
 * @kind: How it is computed.
 * @factor: Unit of a ratio, or of an expression.
 * @dividend: Index in the group of the event that is divided, or shared.
 * @divisor: Index in the group of the event to divide by.
 * @available: The group has all events.
 * @expr: An expression.
 * @refs: Other metrics in it.
 * @ctx: To compute it.
 * @nr_ids: Number of its events.
 * @ids: Their names in the expression.
 * @id_events: Their indices in the group.
 */
struct window_metric {
	char			*name;
	char			*header;
	enum window_metric_kind	kind;
	double			factor;
	unsigned int		dividend;
	unsigned int		divisor;
	bool			available;
	char			*expr;
	struct window_refs	*refs;
	struct expr_parse_ctx	*ctx;
	unsigned int		nr_ids;
	char			**ids;
	unsigned int		*id_events;
};

/**
 * struct window_group - What the statistics of a group of events have in common.
 * @sampler: The event that samples.
 * @nr_counts: Number of events in the group.
 * @sampler_index: Index of @sampler in the group.
 * @returns: Index in the group of an event that counts returns from functions, or -ENOENT.
 * @slots: Index in the group of the event whose fractions TopDown metrics are, or -ENOENT.
 * @slope: The lengths of windows differ so much that what an interrupt adds can be removed.
 * @length: Nominal length of a window, or 0.
 * @totals: What each event counted in the recording.
 * @samplers: For each event, another one that counts the same and samples, or NULL.
 * @fractions: For each event, if it is a fraction of @slots.
 * @all: Statistics of all entries.
 * @nr_metrics: Number of metrics.
 * @metrics: The metrics.
 */
struct window_group {
	struct evsel		*sampler;
	unsigned int		nr_counts;
	unsigned int		sampler_index;
	int			returns;
	int			slots;
	bool			slope;
	double			length;
	double			*totals;
	struct evsel		**samplers;
	bool			*fractions;
	struct window_stats	all;
	unsigned int		nr_metrics;
	struct window_metric	*metrics;
};

/**
 * struct window_estimate - A value with the interval that has it 95 times of 100.
 * @value: The estimate.
 * @low: Lower end.
 * @high: Upper end.
 */
struct window_estimate {
	double	value;
	double	low;
	double	high;
};

/**
 * struct window_samples - What the samples of an event say of an entry.
 * @share: The entry's part of them, 0 to 1, weighted with their periods.
 * @nr: Number of samples, of those of one weight that would tell as much.
 */
struct window_samples {
	double	share;
	double	nr;
};

/**
 * enum window_quality - Where an estimate is from, and if it is to be trusted.
 * @WINDOW_ESTIMATE_NONE: There is no estimate.
 * @WINDOW_ESTIMATE_GOOD: From windows.
 * @WINDOW_ESTIMATE_POOR: From windows that are few, or not like the time of the entry.
 * @WINDOW_ESTIMATE_SAMPLED: From the samples of both events, as the windows are poor.
 * @WINDOW_ESTIMATE_CONTRADICTED: From the samples of both events, as they say something
 *	else than the windows.
 */
enum window_quality {
	WINDOW_ESTIMATE_NONE,
	WINDOW_ESTIMATE_GOOD,
	WINDOW_ESTIMATE_POOR,
	WINDOW_ESTIMATE_SAMPLED,
	WINDOW_ESTIMATE_CONTRADICTED,
};

struct window_group *window_group__new(struct evsel *sampler);
void window_group__delete(struct window_group *group);
int window_group__add_metric(struct window_group *group, const char *name);
void window_group__count(struct window_group *group, const struct window *window);
bool window_event__has_name(const char *name, const char *event, bool with_terms);
extern const char * const window_returns_events[];

const char *window_metric__names(void);
int window_metric__add_events(const char *name, const char *pmu, struct strbuf *events);
bool window_metric__is_builtin(const char *name);
const char *window_metric__default_names(void);
char *window_metric__expand_groups(const char *names);

void window_stats__add_round(struct window_stats *stats, double weight);
int window_stats__add_window(struct window_stats *stats, const struct window_group *group,
			     const struct window *window, unsigned int problems,
			     unsigned int jackknife, double scale);
int window_stats__merge(struct window_stats *stats, const struct window_stats *other,
			const struct window_group *group);
void window_stats__exit(struct window_stats *stats);

void window_stats__subtract(const struct window_stats *stats, const struct window_group *group,
			    double *counts);
int window_stats__set_counts(struct window_stats *stats, const struct window_group *group,
			     const double *counts);

double window_stats__coverage(const struct window_stats *stats);
bool window_stats__is_good(const struct window_stats *stats, const struct window_group *group);
bool window_stats__value(const struct window_stats *stats, const struct window_group *group,
			 unsigned int metric, double *value);
bool window_stats__estimate(const struct window_stats *stats, const struct window_group *group,
			    unsigned int metric, struct window_estimate *estimate);
enum window_quality window_stats__best_estimate(const struct window_stats *stats,
						const struct window_group *group,
						unsigned int metric,
						const struct window_samples *samples,
						struct window_estimate *estimate);
double window_estimate__z(const struct window_estimate *a, const struct window_estimate *b);
bool window_group__samples(const struct window_group *group);
bool evsel__samples_for_windows(struct evsel *evsel);
void window_stats__fprintf_json(const struct window_stats *stats,
				const struct window_group *group, int depth, FILE *fp);
void window_group__fprintf_json(const struct window_group *group, int depth, FILE *fp);
bool window_stats__time(const struct window_stats *stats, const struct window_group *group,
			struct window_estimate *estimate);

#endif /* __PERF_WINDOW_STATS_H */
