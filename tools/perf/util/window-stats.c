// SPDX-License-Identifier: GPL-2.0
/*
 * Estimates from windows.
 *
 * The share of time is that of the samples that end long intervals, each weighted with
 * what its round stands for: their places are random, the ends of windows are not. The
 * windows give ratios of events only, as ratios of sums. Their error is estimated by a
 * delete-a-group jackknife over rounds: B. Efron, "The Jackknife, the Bootstrap and Other
 * Resampling Plans" (1982); P. S. Kott, "The delete-a-group jackknife" (2001). That of a
 * share is the interval of E. B. Wilson, "Probable inference, the law of succession, and
 * statistical inference" (1927).
 *
 * The windows of a function that is shorter than they are, or has calls of several kinds,
 * are not like the rest of its time. If another event of the group samples as well, the
 * shares of both in their samples, times the totals of the counters, are an estimate that
 * holds for any function, but has a larger error.
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
#include <linux/string.h>
#include <linux/zalloc.h>

#include "evlist.h"
#include "evsel.h"
#include "expr.h"
#include "hashmap.h"
#include "json-output.h"
#include "metricgroup.h"
#include "pmu.h"
#include "pmu-events/pmu-events.h"
#include "strbuf.h"

/* Of the normal distribution, for an interval of 95 %. */
#define NORMAL_975		1.959964
/* The same for one of 90 %, or one end of 95 %. */
#define NORMAL_95		1.644854
/* The upper end for a Poisson process without an event. */
#define POISSON_UPPER		3.689
/* No interval is narrower: lengths are whole instructions. */
#define RELATIVE_FLOOR		0.005
/* Nor narrower than what is not covered can change, if it differs from the rest by this. */
#define UNCOVERED_DIFFERENCE	0.1
/* TopDown metrics of Intel's CPUs are fractions of slots in 8 bits, each of so many steps. */
#define FRACTION_STEPS		255
/* Estimates that differ by more than so many standard errors contradict each other. */
#define CONTRADICTION		3

static const struct {
	const char	*name;
	const char	*header;
	double		factor;
	const char	*dividend;
	/* NULL: the share of the dividend. */
	const char	*divisor;
} window_metrics[] = {
	{ "cpi",		"CPI",	   1,	 "cycles",	     "instructions" },
	{ "ipc",		"IPC",	   1,	 "instructions",     "cycles" },
	{ "branch-mpki",	"BM/KI",   1000, "branch-misses",    "instructions" },
	{ "cache-mpki",		"CM/KI",   1000, "cache-misses",     "instructions" },
	{ "branch-miss-rate",	"%BMR",	   100,	 "branch-misses",    "branches" },
	{ "cache-miss-rate",	"%CM",	   100,	 "cache-misses",     "cache-references" },
	{ "instructions-share",	"%I",	   100,	 "instructions",     NULL },
	{ "branch-miss-share",	"%BM",	   100,	 "branch-misses",    NULL },
	{ "cache-ref-share",	"%L1DA",   100,	 "cache-references", NULL },
	{ "cache-miss-share",	"%L1DM",   100,	 "cache-misses",     NULL },
};

static const struct {
	const char	*name;
	u64		config;
} hardware_names[] = {
	{ "cycles",			PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles",			PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions",		PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references",		PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses",		PERF_COUNT_HW_CACHE_MISSES },
	{ "branches",			PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions",	PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses",		PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles",			PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend",	PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend",	PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles",			PERF_COUNT_HW_REF_CPU_CYCLES },
};

/**
 * window_event__has_name - Tell if an event is of this name.
 * @name: What the user calls the event: with modifiers, or of a PMU.
 * @event: The name.
 * @with_terms: With terms too, as event/terms/ or pmu/event,terms/.
 *
 * Return: True for "event", "event:u" and "pmu/event/".
 */
bool window_event__has_name(const char *name, const char *event, bool with_terms)
{
	const char *terms = strchr(name, '/');
	size_t len = strlen(event);

	if (!strncasecmp(name, event, len) &&
	    (!name[len] || name[len] == ':' || (with_terms && name[len] == '/')))
		return true;
	return terms && !strncasecmp(terms + 1, event, len) &&
	       (terms[1 + len] == '/' || (with_terms && terms[1 + len] == ','));
}

/*
 * The events of hardware have several names, and a PMU that has an event of such a name
 * in sysfs gives it another type.
 */
static bool evsel__is_event(struct evsel *evsel, const char *event, bool with_terms)
{
	/* The leader of TopDown metrics in sysfs, and in the JSON files. */
	if (!strcasecmp(event, "topdown.slots"))
		event = "slots";
	if (window_event__has_name(evsel__name(evsel), event, with_terms))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(hardware_names); i++) {
		if (!strcasecmp(hardware_names[i].name, event)) {
			u64 config = hardware_names[i].config;

			if (__evsel__match(evsel, PERF_TYPE_HARDWARE, config))
				return true;
			for (size_t j = 0; j < ARRAY_SIZE(hardware_names); j++) {
				if (hardware_names[j].config == config &&
				    window_event__has_name(evsel__name(evsel),
							   hardware_names[j].name, with_terms))
					return true;
			}
			return false;
		}
	}
	return false;
}

static int __window_group__find_event(const struct window_group *group, const char *event,
				      bool with_terms)
{
	struct evsel *evsel;
	int i = 0;

	for_each_group_evsel(evsel, evsel__leader(group->sampler)) {
		if (i < (int)group->nr_counts && evsel__is_event(evsel, event, with_terms))
			return i;
		i++;
	}
	return -ENOENT;
}

/* Terms can make it sample, or another event. */
static int window_group__find_event(const struct window_group *group, const char *event)
{
	int ret = __window_group__find_event(group, event, /*with_terms=*/false);

	return ret >= 0 ? ret : __window_group__find_event(group, event, /*with_terms=*/true);
}

static bool evsel__counts_same(const struct evsel *a, const struct evsel *b)
{
	const struct perf_event_attr *x = &a->core.attr, *y = &b->core.attr;

	return x->type == y->type && x->config == y->config && x->config1 == y->config1 &&
	       x->config2 == y->config2 && x->config3 == y->config3 &&
	       x->exclude_user == y->exclude_user && x->exclude_kernel == y->exclude_kernel &&
	       x->exclude_hv == y->exclude_hv && x->exclude_idle == y->exclude_idle &&
	       x->exclude_host == y->exclude_host && x->exclude_guest == y->exclude_guest;
}

static bool evsel__is_sampler_of(struct evsel *evsel, const struct evsel *member)
{
	return evsel->core.attr.sample_period && !evsel->core.attr.alt_sample_period &&
	       !evsel__has_windows(evsel) && evsel__counts_same(evsel, member);
}

/* Find an event without windows that samples what a member of a group counts. */
static struct evsel *evsel__find_sampler(struct evsel *member)
{
	struct evsel *evsel;

	/* Other groups may sample the same. */
	if (evsel__is_sampler_of(member, member))
		return member;
	evlist__for_each_entry(member->evlist, evsel) {
		if (evsel__is_sampler_of(evsel, member))
			return evsel;
	}
	return NULL;
}

/* Names of events that count the returns from functions. */
const char * const window_returns_events[] = {
	"br_inst_retired.near_return",	/* Intel */
	"ex_ret_near_ret",		/* AMD */
	"br_return_retired",		/* Arm */
	"returns",			/* of others, as given by the user */
	NULL
};

/**
 * evsel__samples_for_windows - Tell if the samples of an event are used with windows.
 * @evsel: The event.
 *
 * Return: True if a group with windows counts the same.
 */
bool evsel__samples_for_windows(struct evsel *evsel)
{
	struct evsel *pos, *member;

	evlist__for_each_entry(evsel->evlist, pos) {
		if (!evsel__has_windows(pos))
			continue;
		for_each_group_evsel(member, evsel__leader(pos)) {
			if (member != pos && evsel__find_sampler(member) == evsel)
				return true;
		}
	}
	return false;
}

/**
 * window_group__new - Prepare the statistics of a group of events.
 * @sampler: The event that samples.
 *
 * Return: The group, without metrics, or NULL if memory is short.
 */
struct window_group *window_group__new(struct evsel *sampler)
{
	struct window_group *group = zalloc(sizeof(*group));
	const struct perf_event_attr *attr = &sampler->core.attr;
	struct evsel *leader = evsel__leader(sampler), *evsel;
	unsigned int i = 0;

	if (!group)
		return NULL;

	group->sampler = sampler;
	group->nr_counts = leader->core.nr_members;
	group->slope = attr->alt_sample_period >= WINDOW_MIN_SLOPE &&
		       attr->alt_sample_jitter >= attr->alt_sample_period;
	/* With a frequency alone they have no common length. */
	group->length = attr->alt_sample_period ?: attr->freq ? 0 : attr->sample_period;
	group->totals = calloc(group->nr_counts, sizeof(*group->totals));
	group->samplers = calloc(group->nr_counts, sizeof(*group->samplers));
	group->fractions = calloc(group->nr_counts, sizeof(*group->fractions));
	if (!group->totals || !group->samplers || !group->fractions) {
		window_group__delete(group);
		return NULL;
	}
	group->returns = -ENOENT;
	for (size_t j = 0; window_returns_events[j] && group->returns < 0; j++)
		group->returns = window_group__find_event(group, window_returns_events[j]);
	/* Without slots, on E-cores, they are counters. */
	group->slots = window_group__find_event(group, "slots");
	for_each_group_evsel(evsel, leader) {
		/* A file can claim to have fewer. */
		if (i >= group->nr_counts)
			break;
		if (evsel == sampler)
			group->sampler_index = i;
		else
			group->samplers[i] = evsel__find_sampler(evsel);
		group->fractions[i] = group->slots >= 0 && strstr(evsel__name(evsel), "topdown-");
		i++;
	}
	return group;
}

/* Metrics that others have in their expressions. */
struct window_refs {
	unsigned int		nr;
	struct metric_ref	*refs;
};

static void window_refs__delete(struct window_refs *refs)
{
	for (unsigned int i = 0; refs && i < refs->nr; i++) {
		free((char *)refs->refs[i].metric_name);
		free((char *)refs->refs[i].metric_expr);
	}
	if (refs)
		free(refs->refs);
	free(refs);
}

static bool window_refs__has(const struct window_refs *refs, const char *name)
{
	for (unsigned int i = 0; i < refs->nr; i++) {
		if (!strcmp(refs->refs[i].metric_name, name))
			return true;
	}
	return false;
}

static int window_refs__add(struct window_refs *refs, const char *name, char *expr)
{
	struct metric_ref *new = reallocarray(refs->refs, refs->nr + 1, sizeof(*new));

	if (new) {
		refs->refs = new;
		new += refs->nr;
		new->metric_expr = expr;
		new->metric_name = strdup(name);
		if (new->metric_name) {
			refs->nr++;
			return 0;
		}
	}
	free(expr);
	return -ENOMEM;
}

/**
 * window_group__delete - Free a group.
 * @group: The group, or NULL.
 */
void window_group__delete(struct window_group *group)
{
	if (!group)
		return;

	for (unsigned int i = 0; i < group->nr_metrics; i++) {
		struct window_metric *metric = &group->metrics[i];

		free(metric->name);
		free(metric->header);
		free(metric->expr);
		window_refs__delete(metric->refs);
		if (metric->ctx)
			expr__ctx_free(metric->ctx);
		for (unsigned int j = 0; j < metric->nr_ids; j++)
			free(metric->ids[j]);
		free(metric->ids);
		free(metric->id_events);
	}
	free(group->metrics);
	window_stats__exit(&group->all);
	free(group->totals);
	free(group->samplers);
	free(group->fractions);
	free(group);
}

/**
 * window_group__samples - Tell if more than one event of a group samples.
 * @group: The group.
 *
 * Return: True if window_stats__best_estimate() can use samples.
 */
bool window_group__samples(const struct window_group *group)
{
	for (unsigned int i = 0; i < group->nr_counts; i++) {
		if (group->samplers[i])
			return true;
	}
	return false;
}

/**
 * window_metric__names - List the metrics that need no description of the PMU.
 *
 * Return: Their names, separated by commas.
 */
const char *window_metric__names(void)
{
	return "cpi,ipc,branch-mpki,cache-mpki,branch-miss-rate,cache-miss-rate,instructions-share,branch-miss-share,cache-ref-share,cache-miss-share";
}

/**
 * window_metric__default_names - List the metrics of a report that names none.
 *
 * Return: Their names, separated by commas.
 */
const char *window_metric__default_names(void)
{
	return "cpi,branch-mpki,cache-mpki,cache-miss-rate,instructions-share,branch-miss-share,cache-ref-share,cache-miss-share";
}

struct find_metric {
	const char	*name;
	/* NULL: any. */
	const char	*pmu;
	/* Another PMU has a metric of this name. */
	bool		of_others;
	char		*expr;
	/* What perf stat multiplies it by: 100 if it prints percent. */
	double		factor;
};

static int find_metric_fn(const struct pmu_metric *pm,
			  const struct pmu_metrics_table *table __maybe_unused, void *data)
{
	struct find_metric *find = data;
	char *unit;

	if (find->expr || !pm->metric_name || !pm->metric_expr ||
	    strcasecmp(pm->metric_name, find->name))
		return 0;
	if (find->pmu && pm->pmu && strcmp(pm->pmu, "default_core") &&
	    strcmp(pm->pmu, find->pmu)) {
		find->of_others = true;
		return 0;
	}
	find->expr = strdup(pm->metric_expr);
	if (!pm->unit || perf_pmu__convert_scale(pm->unit, &unit, &find->factor))
		find->factor = 1;
	return 0;
}

/*
 * Look for a metric in the descriptions of the PMU, and in those of all machines.
 * Return: 0, -ENODEV if only other PMUs have it, -ENOENT if none, or -ENOMEM.
 */
static int find_metric_expr(const char *name, const char *pmu, char **expr, double *factor)
{
	const struct pmu_metrics_table *tables[] = {
		pmu_metrics_table__find(), pmu_metrics_table__default(),
	};
	struct find_metric find = { .name = name, .pmu = pmu };

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !find.expr; i++) {
		if (tables[i])
			pmu_metrics_table__for_each_metric(tables[i], find_metric_fn, &find);
	}
	*factor = find.factor;
	*expr = find.expr;
	if (find.expr)
		return 0;
	return find.of_others ? -ENODEV : -ENOENT;
}

/* Replace an ID that is a metric by those in its expression. Return 0 if there is none. */
static int expr__replace_ref(struct expr_parse_ctx *ctx, const char *pmu,
			     struct window_refs *refs)
{
	struct hashmap_entry *cur;
	size_t bkt;

	hashmap__for_each_entry(ctx->ids, cur, bkt) {
		double factor;
		char *expr, *name;
		int ret = 0;

		if (find_metric_expr(cur->pkey, pmu, &expr, &factor))
			continue;
		name = strdup(cur->pkey);
		if (!name) {
			free(expr);
			return -ENOMEM;
		}
		expr__del_id(ctx, name);
		if (window_refs__has(refs, name)) {
			free(expr);
		} else {
			ret = window_refs__add(refs, name, expr);
			if (!ret)
				ret = expr__find_ids(expr, NULL, ctx);
		}
		free(name);
		return ret ?: 1;
	}
	return 0;
}

/* The caller frees what is returned, also after an error. */
static int find_metric_ids(const char *name, const char *pmu, char **expr, double *factor,
			   struct window_refs **refs, struct expr_parse_ctx **ctx)
{
	int ret = find_metric_expr(name, pmu, expr, factor);

	if (ret)
		return ret;
	*ctx = expr__ctx_new();
	*refs = zalloc(sizeof(**refs));
	if (!*ctx || !*refs)
		return -ENOMEM;
	if (expr__find_ids(*expr, NULL, *ctx) < 0)
		return -EINVAL;
	do {
		ret = expr__replace_ref(*ctx, pmu, *refs);
	} while (ret > 0);
	return ret;
}

/*
 * Get the event of an ID of an expression, where '@' stands for '/', which divides there.
 * Return: The event for the parser, or its name in a recording, to be freed.
 */
static char *metric_id__event(const char *id, bool recorded)
{
	const char *name = recorded ? strstr(id, ",name=") : NULL;
	char *event;

	if (name) {
		name += strlen(",name=");
		return strndup(name, strcspn(name, ",@"));
	}
	/* The PMU is that of the group. */
	name = recorded ? strchr(id, '@') : NULL;
	if (name)
		return strndup(name + 1, strcspn(name + 1, "@"));
	event = strdup(id);
	if (event)
		strreplace(event, '@', '/');
	return event;
}

static int window_metric__init_expr(struct window_metric *metric, struct window_group *group)
{
	struct hashmap_entry *cur;
	size_t bkt;
	int ret;

	metric->kind = WINDOW_METRIC_EXPR;
	ret = find_metric_ids(metric->name, evsel__pmu_name(group->sampler), &metric->expr,
			      &metric->factor, &metric->refs, &metric->ctx);
	/* It is a column of another PMU. */
	if (ret == -ENODEV)
		return 0;
	if (ret)
		return ret;

	metric->ids = calloc(hashmap__size(metric->ctx->ids) ?: 1, sizeof(*metric->ids));
	metric->id_events = calloc(hashmap__size(metric->ctx->ids) ?: 1,
				   sizeof(*metric->id_events));
	if (!metric->ids || !metric->id_events)
		return -ENOMEM;

	metric->available = true;
	hashmap__for_each_entry(metric->ctx->ids, cur, bkt) {
		char *name = metric_id__event(cur->pkey, /*recorded=*/true);
		int event = name ? window_group__find_event(group, name) : -ENOMEM;

		free(name);
		if (event < 0) {
			metric->available = false;
			continue;
		}
		metric->ids[metric->nr_ids] = strdup(cur->pkey);
		if (!metric->ids[metric->nr_ids])
			return -ENOMEM;
		metric->id_events[metric->nr_ids++] = event;
	}
	return 0;
}

/**
 * window_group__add_metric - Add a metric.
 * @group: The group.
 * @name: One of window_metric__names(), or of the metrics that perf list prints.
 *
 * Return: 0 (window_metric::available tells if the group has its events), -ENOENT if
 * there is no such metric, -EINVAL if its expression is wrong, or -ENOMEM.
 */
int window_group__add_metric(struct window_group *group, const char *name)
{
	struct window_metric *metric;
	int ret = 0;

	metric = reallocarray(group->metrics, group->nr_metrics + 1, sizeof(*metric));
	if (!metric)
		return -ENOMEM;
	group->metrics = metric;
	metric += group->nr_metrics++;
	memset(metric, 0, sizeof(*metric));
	metric->name = strdup(name);
	if (!metric->name)
		return -ENOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(window_metrics); i++) {
		typeof(window_metrics[0]) *m = &window_metrics[i];
		int dividend, divisor;

		if (strcasecmp(name, m->name))
			continue;
		dividend = window_group__find_event(group, m->dividend);
		divisor = m->divisor ? window_group__find_event(group, m->divisor) :
				       (int)group->sampler_index;
		metric->kind = m->divisor ? WINDOW_METRIC_RATIO : WINDOW_METRIC_SHARE;
		metric->factor = m->factor;
		metric->available = dividend >= 0 && divisor >= 0;
		metric->dividend = max(dividend, 0);
		metric->divisor = max(divisor, 0);
		metric->header = strdup(m->header);
		return metric->header ? 0 : -ENOMEM;
	}

	ret = window_metric__init_expr(metric, group);
	if (ret)
		return ret;
	metric->header = strdup(name);
	return metric->header ? 0 : -ENOMEM;
}

/* Tell if a list has a name. */
static bool has_name(const char *list, const char *name, char separator)
{
	size_t len = strlen(name);

	for (const char *pos = list; pos && (pos = strcasestr(pos, name)); pos += len) {
		if ((pos == list || pos[-1] == separator) && (!pos[len] || pos[len] == separator))
			return true;
	}
	return false;
}

/* Append an event to a list, unless it is in there, or cycles, which samples. */
static int add_event(struct strbuf *events, const char *event)
{
	if (!strcasecmp(event, "cycles") || !strcasecmp(event, "cpu-cycles"))
		return 0;
	if (has_name(events->buf, event, ','))
		return 0;
	return strbuf_addf(events, "%s%s", events->len ? "," : "", event);
}

/**
 * window_metric__is_builtin - Tell if a metric is the same for all PMUs.
 * @name: Of the metric.
 *
 * Return: True for window_metric__names().
 */
bool window_metric__is_builtin(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(window_metrics); i++) {
		if (!strcasecmp(name, window_metrics[i].name))
			return true;
	}
	return false;
}

/**
 * window_metric__add_events - Append the events of a metric to a list.
 * @name: Of the metric, as for window_group__add_metric().
 * @pmu: Name of the core PMU that counts them, or NULL if there is only one.
 * @events: Names separated by commas. Those that are in there, and cycles, are left out.
 *
 * Return: 0, -ENOENT if there is no such metric, -ENODEV if only other PMUs have it,
 * -EINVAL if its expression is wrong, or -ENOMEM.
 */
int window_metric__add_events(const char *name, const char *pmu, struct strbuf *events)
{
	struct expr_parse_ctx *ctx = NULL;
	struct window_refs *refs = NULL;
	struct hashmap_entry *cur;
	char *expr = NULL;
	double factor;
	size_t bkt;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(window_metrics); i++) {
		typeof(window_metrics[0]) *m = &window_metrics[i];

		if (strcasecmp(name, m->name))
			continue;
		ret = m->divisor ? add_event(events, m->divisor) : 0;
		return ret ?: add_event(events, m->dividend);
	}

	ret = find_metric_ids(name, pmu, &expr, &factor, &refs, &ctx);
	if (!ret) {
		hashmap__for_each_entry(ctx->ids, cur, bkt) {
			char *event = metric_id__event(cur->pkey, /*recorded=*/false);

			ret = ret ?: event ? add_event(events, event) : -ENOMEM;
			free(event);
		}
	}
	if (ctx)
		expr__ctx_free(ctx);
	window_refs__delete(refs);
	free(expr);
	return ret;
}

struct find_group {
	const char	*group;
	struct strbuf	*all;
	int		ret;
};

static int find_group_fn(const struct pmu_metric *pm,
			 const struct pmu_metrics_table *table __maybe_unused, void *data)
{
	struct find_group *find = data;

	if (!pm->metric_name || !has_name(pm->metric_group, find->group, ';') ||
	    has_name(find->all->buf, pm->metric_name, ','))
		return 0;
	find->ret = find->ret ?: strbuf_addf(find->all, "%s%s", find->all->len ? "," : "",
					     pm->metric_name);
	return 0;
}

/**
 * window_metric__expand_groups - Replace groups of metrics by their metrics.
 * @names: Of metrics and groups, separated by commas.
 *
 * Return: Names of metrics, each once, and those that are neither. To be freed. NULL if
 * memory is short.
 */
char *window_metric__expand_groups(const char *names)
{
	char *list = strdup(names), *name, *tmp;
	struct strbuf all = STRBUF_INIT;
	int ret = list ? 0 : -ENOMEM;

	for (name = list ? strtok_r(list, ", ", &tmp) : NULL; name && !ret;
	     name = strtok_r(NULL, ", ", &tmp)) {
		const struct pmu_metrics_table *tables[] = {
			pmu_metrics_table__find(), pmu_metrics_table__default(),
		};
		struct find_group find = { .group = name, .all = &all };
		size_t len = all.len;

		for (size_t i = 0; i < ARRAY_SIZE(tables) && all.len == len; i++) {
			if (tables[i])
				pmu_metrics_table__for_each_metric(tables[i], find_group_fn,
								   &find);
		}
		ret = find.ret;
		if (!ret && all.len == len && !has_name(all.buf, name, ','))
			ret = strbuf_addf(&all, "%s%s", all.len ? "," : "", name);
	}
	free(list);
	if (ret) {
		strbuf_release(&all);
		return NULL;
	}
	return strbuf_detach(&all, NULL) ?: strdup("");
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
 * A row of sums: the number of windows, and the deviation of their length from the
 * nominal one; for each event its count, and if lengths differ its count times that
 * deviation.
 */
enum { SUM_NR, SUM_LENGTH, SUM_COUNTS };

static unsigned int window_group__nr_sums(const struct window_group *group)
{
	return SUM_COUNTS + group->nr_counts * (group->slope ? 2 : 1);
}

static size_t window_group__size(const struct window_group *group)
{
	return (WINDOW_GROUPS + 1) * window_group__nr_sums(group) * sizeof(double);
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

/**
 * window_stats__add_window - Add the counts of a window.
 * @stats: The statistics.
 * @group: Its group of events.
 * @window: The window.
 * @problems: Mask of enum window_problem. A window with a problem is not used, but that of
 *	one that only left the entry tells how different the rest of it may be.
 * @jackknife: Which of WINDOW_GROUPS its round is in.
 * @scale: What its round stands for, compared with others.
 *
 * Return: 0, or -ENOMEM.
 */
int window_stats__add_window(struct window_stats *stats, const struct window_group *group,
			     const struct window *window, unsigned int problems,
			     unsigned int jackknife, double scale)
{
	double deviation = (double)window->armed - group->length, *row;

	stats->nr_windows++;
	for (int i = 0; i < WINDOW_PROBLEMS; i++)
		stats->problems[i] += !!(problems & (1 << i));
	/* What left the entry has often been called, or returned to a caller. */
	if (problems & ~(WINDOW_LEFT | WINDOW_CALLED) || problems == WINDOW_CALLED)
		return 0;
	if (problems)
		jackknife = WINDOW_GROUPS;
	else
		stats->nr_kept++;

	if (!stats->sums) {
		stats->sums = zalloc(window_group__size(group));
		if (!stats->sums)
			return -ENOMEM;
	}
	row = stats->sums + jackknife * window_group__nr_sums(group);
	row[SUM_NR] += scale;
	if (group->slope)
		row[SUM_LENGTH] += scale * deviation;
	for (unsigned int i = 0; i < group->nr_counts; i++) {
		row[SUM_COUNTS + i] += scale * window->counts[i];
		if (group->slope) {
			row[SUM_COUNTS + group->nr_counts + i] +=
				scale * deviation * window->counts[i];
		}
	}
	return 0;
}

/* What the windows counted of the sampling event. */
static double window_stats__length(const struct window_stats *stats,
				   const struct window_group *group)
{
	unsigned int nr = window_group__nr_sums(group);
	double length = 0;

	for (int row = 0; stats->sums && row < WINDOW_GROUPS; row++)
		length += stats->sums[row * nr + SUM_COUNTS + group->sampler_index];
	return length;
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

	if (other_length && !stats->sums) {
		stats->sums = zalloc(window_group__size(group));
		if (!stats->sums)
			return -ENOMEM;
	}
	for (unsigned int i = 0;
	     other_length && i < (WINDOW_GROUPS + 1) * window_group__nr_sums(group); i++) {
		if (length)
			stats->sums[i] *= stats->weight / length;
		stats->sums[i] += other->sums[i] * other->weight / other_length;
	}
	stats->nr_rounds += other->nr_rounds;
	stats->weight += other->weight;
	stats->weight2 += other->weight2;
	stats->nr_windows += other->nr_windows;
	stats->nr_kept += other->nr_kept;
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

/* Compute the interval of a proportion of @n, with this quantile of the normal distribution. */
static void wilson_interval(double p, double n, double quantile, double *low, double *high)
{
	double z2 = quantile * quantile;
	double center = (p + z2 / (2 * n)) / (1 + z2 / n);
	double half = quantile * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);

	*low = max(center - half, 0.0);
	*high = min(center + half, 1.0);
}

/**
 * window_stats__coverage - Return how many of the windows are used.
 * @stats: The statistics.
 *
 * Return: 0 to 1, 0 if there are none.
 */
double window_stats__coverage(const struct window_stats *stats)
{
	return stats->nr_windows ? (double)stats->nr_kept / stats->nr_windows : 0;
}

/* Add the rows of all groups but one (all: -1). */
static void window_stats__sum(const struct window_stats *stats, const struct window_group *group,
			      int without, double *sums)
{
	unsigned int nr = window_group__nr_sums(group);

	memset(sums, 0, nr * sizeof(*sums));
	for (int row = 0; row < WINDOW_GROUPS; row++) {
		if (row == without)
			continue;
		for (unsigned int i = 0; i < nr; i++)
			sums[i] += stats->sums[row * nr + i];
	}
}

/*
 * Windows that left the entry counted other code too, so with them the counts of an entry
 * of long calls change little. If they change much, they may be of other calls of it,
 * which are too short for a window. The event that counts most tells.
 */
static bool window_stats__is_uniform(const struct window_stats *stats,
				     const struct window_group *group)
{
	unsigned int event = group->nr_counts, sampler = SUM_COUNTS + group->sampler_index;
	double kept[window_group__nr_sums(group)], difference;
	u64 nr_left = stats->problems[ilog2(WINDOW_LEFT)];
	const double *left;

	if (!stats->sums)
		return true;
	window_stats__sum(stats, group, -1, kept);
	left = stats->sums + WINDOW_GROUPS * window_group__nr_sums(group);
	for (unsigned int i = 0; i < group->nr_counts; i++) {
		if (i != group->sampler_index &&
		    (event == group->nr_counts || kept[SUM_COUNTS + i] > kept[SUM_COUNTS + event]))
			event = i;
	}
	if (event == group->nr_counts || nr_left < WINDOW_MIN_LEFT)
		return true;
	event += SUM_COUNTS;
	/* Neither has anything. */
	if (!kept[event] && !left[event])
		return true;
	difference = log((kept[event] + left[event]) / kept[event] *
			 kept[sampler] / (kept[sampler] + left[sampler]));
	/* How many windows left is chance, and what they change is in proportion to it. */
	difference = fabs(difference) * (1 + NORMAL_95 / sqrt(nr_left));
	return difference <= WINDOW_MAX_DIFFERENCE;
}

/**
 * window_stats__is_good - Tell if the windows can stand for all time of the entry.
 * @stats: The statistics.
 * @group: Its group of events.
 *
 * Return: False if they are few, it may be that many are not used, or those are different.
 */
bool window_stats__is_good(const struct window_stats *stats, const struct window_group *group)
{
	double low, high;

	if (stats->nr_kept < WINDOW_MIN_KEPT)
		return false;
	wilson_interval(window_stats__coverage(stats), stats->nr_windows, NORMAL_95, &low, &high);
	return low >= WINDOW_MIN_COVERAGE && window_stats__is_uniform(stats, group);
}

/*
 * What an event counts, up to a factor that all events have: the slope of its count over
 * the length of the window, which has no share in what each interrupt adds, or else the
 * count.
 */
static double window_group__event(const struct window_group *group, const double *sums,
				  unsigned int event)
{
	double count = sums[SUM_COUNTS + event];

	if (!group->slope)
		return count;
	return sums[SUM_COUNTS + group->nr_counts + event] -
	       sums[SUM_LENGTH] * count / sums[SUM_NR];
}

/* Estimate what the sampling event counted in an entry. */
static double window_stats__cycles(const struct window_stats *stats,
				   const struct window_group *group)
{
	if (!group->all.weight)
		return 0;
	return stats->weight / group->all.weight * group->totals[group->sampler_index];
}

/**
 * window_stats__subtract - Take what an entry counted from counts.
 * @stats: Statistics of the entry, with at least one window that is used.
 * @group: Its group of events.
 * @counts: A count for each event of the group, which is reduced by the estimate of it.
 */
void window_stats__subtract(const struct window_stats *stats, const struct window_group *group,
			    double *counts)
{
	double sums[window_group__nr_sums(group)], cycles, time;

	window_stats__sum(stats, group, -1, sums);
	cycles = window_group__event(group, sums, group->sampler_index);
	time = window_stats__cycles(stats, group);
	for (unsigned int i = 0; cycles > 0 && i < group->nr_counts; i++)
		counts[i] -= time * window_group__event(group, sums, i) / cycles;
}

/**
 * window_stats__set_counts - Replace the counts of all windows.
 * @stats: The statistics, without windows that are used.
 * @group: Their group of events.
 * @counts: A count for each event of the group.
 *
 * Return: 0, or -ENOMEM.
 */
int window_stats__set_counts(struct window_stats *stats, const struct window_group *group,
			     const double *counts)
{
	free(stats->sums);
	stats->sums = zalloc(window_group__size(group));
	if (!stats->sums)
		return -ENOMEM;

	stats->sums[SUM_NR] = 1;
	for (unsigned int i = 0; i < group->nr_counts; i++) {
		stats->sums[SUM_COUNTS + i] = counts[i];
		if (group->slope)
			stats->sums[SUM_COUNTS + group->nr_counts + i] = counts[i];
	}
	return 0;
}

/* @cycles: What the entry has of the sampling event: an expression may be of all counts. */
static bool window_metric__compute(const struct window_metric *metric,
				   const struct window_group *group, const double *sums,
				   double cycles, double *value)
{
	double divisor, scale;

	if (metric->kind != WINDOW_METRIC_EXPR) {
		divisor = window_group__event(group, sums, metric->divisor);
		if (divisor <= 0)
			return false;
		*value = metric->factor * window_group__event(group, sums, metric->dividend) /
			 divisor;
		return isfinite(*value);
	}

	scale = window_group__event(group, sums, group->sampler_index);
	if (scale <= 0)
		return false;
	scale = cycles > 0 ? cycles / scale : 1;
	expr__ctx_clear(metric->ctx);
	for (unsigned int i = 0; metric->refs && i < metric->refs->nr; i++) {
		if (expr__add_ref(metric->ctx, &metric->refs->refs[i]))
			return false;
	}
	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		double count = window_group__event(group, sums, metric->id_events[i]);
		char *id = strdup(metric->ids[i]);

		if (!id || expr__add_id_val(metric->ctx, id, scale * count)) {
			free(id);
			return false;
		}
	}
	if (expr__parse(value, metric->ctx, metric->expr))
		return false;
	*value *= metric->factor;
	return isfinite(*value);
}

/*
 * Half of the interval of what 8 bits of TopDown fractions do not tell. What is rounded at
 * random is part of what differs between windows; this is what may be the same in all of
 * them, which no number of windows makes smaller. How a CPU rounds is not documented: a
 * field is wrong by a step at most, anything up to that is as likely, and fields have
 * nothing to do with each other.
 */
static double window_metric__rounding(const struct window_metric *metric,
				      const struct window_group *group, const double *sums,
				      double cycles, double value)
{
	unsigned int nr = window_group__nr_sums(group);
	double shifted[nr], other, var = 0;

	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		unsigned int event = metric->id_events[i];

		if (!group->fractions[event])
			continue;
		memcpy(shifted, sums, sizeof(shifted));
		for (unsigned int j = SUM_COUNTS; j < nr; j += group->nr_counts)
			shifted[j + event] += sums[j + group->slots] / FRACTION_STEPS;
		if (window_metric__compute(metric, group, shifted, cycles, &other))
			var += (other - value) * (other - value) / 3;
	}
	return NORMAL_975 * sqrt(var);
}

/* The share of an event needs that of time, and the totals of both events. */
static double window_stats__share_factor(const struct window_stats *stats,
					 const struct window_group *group,
					 const struct window_metric *metric)
{
	double total = group->totals[metric->dividend];

	if (metric->kind != WINDOW_METRIC_SHARE)
		return 1;
	if (!group->all.weight || !total)
		return NAN;
	return stats->weight / group->all.weight * group->totals[metric->divisor] / total;
}

/**
 * window_stats__value - Estimate a metric.
 * @stats: The statistics.
 * @group: Their group of events.
 * @metric: Index of the metric in the group.
 * @value: The estimate, in the unit of the metric.
 *
 * Return: False if there is nothing to estimate it from.
 */
bool window_stats__value(const struct window_stats *stats, const struct window_group *group,
			 unsigned int metric, double *value)
{
	const struct window_metric *m = &group->metrics[metric];
	double sums[window_group__nr_sums(group)];

	if (!m->available || !stats->sums)
		return false;

	window_stats__sum(stats, group, -1, sums);
	if (!sums[SUM_NR] ||
	    !window_metric__compute(m, group, sums, window_stats__cycles(stats, group), value))
		return false;
	*value *= window_stats__share_factor(stats, group, m);
	return isfinite(*value);
}

/* Quantile 0.975 of Student's distribution: M. Abramowitz, I. A. Stegun, 26.7.5. */
static double student_975(unsigned int df)
{
	const double z = NORMAL_975, z3 = z * z * z, z5 = z3 * z * z;

	/* The series is for more than this. */
	if (df < 3)
		return df == 2 ? 4.303 : 12.706;
	return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96.0 * df * df) +
	       (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384.0 * df * df * df);
}

/* Kish's: of weighted rounds, how many equal ones would tell as much. */
static double window_stats__effective_nr(const struct window_stats *all)
{
	return all->weight2 ? all->weight * all->weight / all->weight2 : 0;
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
	wilson_interval(p, n, NORMAL_975, &estimate->low, &estimate->high);
	estimate->value = 100 * p;
	estimate->low *= 100;
	estimate->high *= 100;
	return true;
}

/**
 * window_stats__estimate - Estimate a metric and its error.
 * @stats: The statistics.
 * @group: Their group of events.
 * @metric: Index of the metric in the group.
 * @estimate: The estimate, in the unit of the metric.
 *
 * Return: False if there is nothing to estimate it from.
 */
bool window_stats__estimate(const struct window_stats *stats, const struct window_group *group,
			    unsigned int metric, struct window_estimate *estimate)
{
	const struct window_metric *m = &group->metrics[metric];
	unsigned int nr_sums = window_group__nr_sums(group), nr = 0;
	double sums[nr_sums], others[nr_sums], values[WINDOW_GROUPS], mean = 0, var = 0;
	double half, factor, least, rounding;
	double cycles = window_stats__cycles(stats, group), power = m->kind == WINDOW_METRIC_SHARE;
	bool logarithmic, negative;

	if (!window_stats__value(stats, group, metric, &estimate->value))
		return false;

	factor = window_stats__share_factor(stats, group, m);
	window_stats__sum(stats, group, -1, sums);
	rounding = window_metric__rounding(m, group, sums, cycles, estimate->value);
	/* Less than this, and what is left of a difference instead of zero, has no scale. */
	logarithmic = estimate->value > rounding;
	negative = estimate->value < 0;
	for (int row = 0; row < WINDOW_GROUPS; row++) {
		double value;

		if (!stats->sums[row * nr_sums + SUM_NR])
			continue;
		window_stats__sum(stats, group, row, others);
		/* The only round of an entry cannot be left out. */
		if (!others[SUM_NR] || !window_metric__compute(m, group, others, cycles, &value))
			continue;
		value *= factor;
		if (value <= rounding)
			logarithmic = false;
		if (value < 0)
			negative = true;
		values[nr++] = value;
	}

	if (estimate->value == 0 && m->kind != WINDOW_METRIC_EXPR) {
		estimate->low = 0;
		estimate->high = POISSON_UPPER * m->factor * factor /
				 sums[SUM_COUNTS + m->divisor];
		return true;
	}

	if (nr < 2) {
		estimate->low = logarithmic ? 0 : -INFINITY;
		estimate->high = INFINITY;
		return true;
	}
	for (unsigned int i = 0; i < nr; i++) {
		if (logarithmic)
			values[i] = log(values[i]);
		mean += values[i] / nr;
	}
	for (unsigned int i = 0; i < nr; i++)
		var += (values[i] - mean) * (values[i] - mean);
	var *= (nr - 1.0) / nr;

	/* The share of time is a factor of what is no ratio, with an error of its own. */
	if (m->kind == WINDOW_METRIC_EXPR && estimate->value) {
		double twice;

		if (window_metric__compute(m, group, sums, 2 * cycles, &twice))
			power = (twice - estimate->value) / estimate->value;
	}
	if (power && stats->weight) {
		double p = stats->weight / group->all.weight;
		double relative = (1 - p) / (p * window_stats__effective_nr(&group->all));

		relative *= power * power;
		var += logarithmic ? relative : relative * estimate->value * estimate->value;
	}
	half = student_975(nr - 1) * sqrt(var);
	least = max(UNCOVERED_DIFFERENCE * (1 - window_stats__coverage(stats)), RELATIVE_FLOOR);

	if (logarithmic) {
		half = max(half, least);
		estimate->low = estimate->value * exp(-half);
		estimate->high = estimate->value * exp(half);
	} else {
		half = max(half, least * fabs(estimate->value));
		estimate->low = estimate->value - half;
		estimate->high = estimate->value + half;
	}

	if (rounding) {
		double value = estimate->value;

		estimate->low = value - hypot(value - estimate->low, rounding);
		estimate->high = value + hypot(estimate->high - value, rounding);
		if (!negative)
			estimate->low = max(estimate->low, 0.0);
	}
	return true;
}

static bool window_samples__estimate(const struct window_group *group,
				     const struct window_metric *metric,
				     const struct window_samples *samples,
				     struct window_estimate *estimate)
{
	const struct window_samples *dividend = &samples[metric->dividend];
	const struct window_samples *divisor = &samples[metric->divisor];
	double half;

	if (!metric->available || metric->kind == WINDOW_METRIC_EXPR ||
	    dividend->nr < WINDOW_MIN_KEPT)
		return false;

	if (metric->kind == WINDOW_METRIC_SHARE) {
		estimate->value = metric->factor * dividend->share;
		half = (1 - dividend->share) / dividend->nr;
	} else {
		if (divisor->nr < WINDOW_MIN_KEPT || !group->totals[metric->divisor])
			return false;
		estimate->value = metric->factor *
				  dividend->share * group->totals[metric->dividend] /
				  (divisor->share * group->totals[metric->divisor]);
		half = (1 - dividend->share) / dividend->nr +
		       (1 - divisor->share) / divisor->nr;
	}
	half = max(NORMAL_975 * sqrt(half), RELATIVE_FLOOR);
	estimate->low = estimate->value * exp(-half);
	estimate->high = estimate->value * exp(half);
	return estimate->value > 0 && isfinite(estimate->value);
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

/* Tell if windows and samples can not both be right. */
static bool contradict(const struct window_estimate *windows,
		       const struct window_estimate *sampled)
{
	if (windows->low > 0)
		return fabs(window_estimate__z(windows, sampled)) > CONTRADICTION;
	/* That the windows have hardly an event, or none, can be chance up to the upper end. */
	return sampled->low > windows->high;
}

/**
 * window_stats__best_estimate - Estimate a metric from windows, or else from samples.
 * @stats: The statistics.
 * @group: Their group of events.
 * @metric: Index of the metric in the group.
 * @samples: For each event of the group what its samples say of the entry, or NULL. That
 *	of the event with windows is not used.
 * @estimate: The estimate, in the unit of the metric.
 *
 * Return: Where it is from.
 */
enum window_quality window_stats__best_estimate(const struct window_stats *stats,
						const struct window_group *group,
						unsigned int metric,
						const struct window_samples *samples,
						struct window_estimate *estimate)
{
	bool good = window_stats__is_good(stats, group);
	bool exists = window_stats__estimate(stats, group, metric, estimate);
	struct window_estimate sampled;
	struct window_samples all[group->nr_counts];

	/* What is counted cannot be negative, but a slope can, by chance. */
	if (exists && estimate->value < 0 &&
	    group->metrics[metric].kind != WINDOW_METRIC_EXPR)
		good = false;
	if (samples) {
		double share = group->all.weight ? stats->weight / group->all.weight : 0;

		memcpy(all, samples, sizeof(all));
		all[group->sampler_index].share = share;
		all[group->sampler_index].nr = share * window_stats__effective_nr(&group->all);
		if (!window_samples__estimate(group, &group->metrics[metric], all, &sampled))
			samples = NULL;
	}
	if (samples && !good) {
		*estimate = sampled;
		return WINDOW_ESTIMATE_SAMPLED;
	}
	if (!exists)
		return WINDOW_ESTIMATE_NONE;
	if (samples && contradict(estimate, &sampled)) {
		*estimate = sampled;
		return WINDOW_ESTIMATE_CONTRADICTED;
	}
	return good ? WINDOW_ESTIMATE_GOOD : WINDOW_ESTIMATE_POOR;
}

/* Seventeen digits are any double. */
static void fprintf_array(const double *values, unsigned int nr, FILE *fp)
{
	fputc('[', fp);
	for (unsigned int i = 0; i < nr; i++)
		fprintf(fp, "%s%.17g", i ? ", " : "", values[i]);
	fputc(']', fp);
}

static void fprintf_sums(const double *row, const struct window_group *group, FILE *fp)
{
	fprintf(fp, "{\"windows\": %.17g, \"counts\": ", row[SUM_NR]);
	fprintf_array(row + SUM_COUNTS, group->nr_counts, fp);
	if (group->slope) {
		fprintf(fp, ", \"deviation\": %.17g, \"products\": ", row[SUM_LENGTH]);
		fprintf_array(row + SUM_COUNTS + group->nr_counts, group->nr_counts, fp);
	}
	fputc('}', fp);
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
		"left", "lost", "length", "backwards", "split", "multiplexed", "called",
	};
	unsigned int nr = window_group__nr_sums(group);
	double sums[nr];

	output_json_key_format(fp, false, depth, "rounds", "%" PRIu64, stats->nr_rounds);
	output_json_key_format(fp, true, depth, "weight", "%.17g", stats->weight);
	output_json_key_format(fp, true, depth, "weight2", "%.17g", stats->weight2);
	output_json_key_format(fp, true, depth, "windows", "%" PRIu64, stats->nr_windows);
	output_json_key_format(fp, true, depth, "used", "%" PRIu64, stats->nr_kept);
	output_json_key_format(fp, true, depth, "problems", "{");
	for (int i = 0; i < WINDOW_PROBLEMS; i++)
		fprintf(fp, "%s\"%s\": %" PRIu64, i ? ", " : "", names[i], stats->problems[i]);
	fputc('}', fp);
	if (!stats->sums)
		return;

	window_stats__sum(stats, group, -1, sums);
	output_json_key_format(fp, true, depth, "sums", "%s", "");
	fprintf_sums(sums, group, fp);
	output_json_key_format(fp, true, depth, "left", "%s", "");
	fprintf_sums(stats->sums + WINDOW_GROUPS * nr, group, fp);
	output_json_key_format(fp, true, depth, "groups", "[");
	for (int row = 0; row < WINDOW_GROUPS; row++) {
		output_json_delimiters(fp, row, depth + 1);
		fprintf_sums(stats->sums + row * nr, group, fp);
	}
	output_json_format(fp, false, depth, "]");
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
	output_json_key_format(fp, true, depth, "slope", group->slope ? "true" : "false");
	output_json_key_format(fp, true, depth, "all", "{");
	window_stats__fprintf_json(&group->all, group, depth + 1, fp);
	output_json_format(fp, false, depth, "}");
}
