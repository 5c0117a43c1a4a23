// SPDX-License-Identifier: GPL-2.0
/* Find metrics, and their events in a group. */
#include "fnstat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "env.h"
#include "evlist.h"
#include "evsel.h"
#include "expr.h"
#include "hashmap.h"
#include "header.h"
#include "metricgroup.h"
#include "pmu.h"
#include "pmu-events/pmu-events.h"
#include "strbuf.h"
#include "symbol_conf.h"

static const struct {
	const char	*name;
	const char	*header;
	const char	*text;
	double		factor;
	const char	*dividend;
	/* NULL: the share of the dividend. */
	const char	*divisor;
} fnstat_metrics[] = {
	{ "cpi", "CPI", "cycles per instruction",
	  1, "cycles", "instructions" },
	{ "ipc", "IPC", "instructions per cycle",
	  1, "instructions", "cycles" },
	{ "branch-mpki", "BM/KI", "branch misses in 1000 instructions",
	  1000, "branch-misses", "instructions" },
	{ "cache-mpki", "CM/KI", "cache misses in 1000 instructions",
	  1000, "cache-misses", "instructions" },
	{ "branch-miss-rate", "%BMR", "percentage of the branches that miss",
	  100, "branch-misses", "branches" },
	{ "cache-miss-rate", "%CM", "percentage of the cache references that miss",
	  100, "cache-misses", "cache-references" },
	{ "instructions-share", "%I", "percentage of all instructions",
	  100, "instructions", NULL },
	{ "branch-miss-share", "%BM", "percentage of all branch misses",
	  100, "branch-misses", NULL },
	{ "cache-ref-share", "%CREF", "percentage of all cache references",
	  100, "cache-references", NULL },
	{ "cache-miss-share", "%CMISS", "percentage of all cache misses",
	  100, "cache-misses", NULL },
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
 * fnstat_event__has_name - Check if an event has a name.
 * @name: The event as the user wrote it, with modifiers or a PMU.
 * @event: The name to look for.
 * @with_terms: Also accept terms, as in event/terms/ or pmu/event,terms/.
 *
 * Return: True for "event", "event:u" and "pmu/event/".
 */
bool fnstat_event__has_name(const char *name, const char *event, bool with_terms)
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
 * Check if an event is meant by a name. Hardware events have several names, and a PMU with an
 * event of one of these names in sysfs gives it another type.
 */
static bool evsel__is_event(struct evsel *evsel, const char *event, bool with_terms)
{
	/* The JSON files have this name for slots, the leader of TopDown metrics in sysfs. */
	if (!strcasecmp(event, "topdown.slots"))
		event = "slots";
	if (fnstat_event__has_name(evsel__name(evsel), event, with_terms))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(hardware_names); i++) {
		if (!strcasecmp(hardware_names[i].name, event)) {
			u64 config = hardware_names[i].config;

			if (__evsel__match(evsel, PERF_TYPE_HARDWARE, config))
				return true;
			for (size_t j = 0; j < ARRAY_SIZE(hardware_names); j++) {
				if (hardware_names[j].config == config &&
				    fnstat_event__has_name(evsel__name(evsel),
							   hardware_names[j].name, with_terms))
					return true;
			}
			return false;
		}
	}
	return false;
}

/* Check if two events count in the same modes of the CPU. */
static bool evsel__counts_where(const struct evsel *a, const struct evsel *b)
{
	return a->core.attr.exclude_user == b->core.attr.exclude_user &&
	       a->core.attr.exclude_kernel == b->core.attr.exclude_kernel;
}

/* Check for an event that only happens in the kernel, and does not count there. */
static bool evsel__counts_nothing(const struct evsel *evsel)
{
	const struct perf_event_attr *attr = &evsel->core.attr;

	return attr->type == PERF_TYPE_SOFTWARE && attr->exclude_kernel &&
	       (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		attr->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
		attr->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

static int __fnstat_group__find_event(const struct fnstat_group *group, const char *event,
				      bool with_terms)
{
	struct evsel *evsel;
	int i = 0;

	for_each_group_evsel(evsel, evsel__leader(group->sampler)) {
		if (i < (int)group->nr_counts && evsel__is_event(evsel, event, with_terms) &&
		    evsel__counts_where(evsel, group->sampler) && !evsel__counts_nothing(evsel))
			return i;
		i++;
	}
	return -ENOENT;
}

/* Prefer an event without terms: these can make it sample, or make it another event. */
static int fnstat_group__find_event(const struct fnstat_group *group, const char *event)
{
	int ret = __fnstat_group__find_event(group, event, /*with_terms=*/false);

	return ret >= 0 ? ret : __fnstat_group__find_event(group, event, /*with_terms=*/true);
}

/**
 * evsel__counts_same - Check if two events count the same.
 * @a: One.
 * @b: The other.
 *
 * Return: True if they do, whether they sample or not.
 */
bool evsel__counts_same(const struct evsel *a, const struct evsel *b)
{
	const struct perf_event_attr *x = &a->core.attr, *y = &b->core.attr;

	return x->type == y->type && x->config == y->config && x->config1 == y->config1 &&
	       x->config2 == y->config2 && x->config3 == y->config3 &&
	       evsel__counts_where(a, b) &&
	       x->exclude_hv == y->exclude_hv && x->exclude_idle == y->exclude_idle &&
	       x->exclude_host == y->exclude_host && x->exclude_guest == y->exclude_guest;
}

static bool evsel__is_sampler_of(struct evsel *evsel, const struct evsel *member)
{
	return evsel->core.attr.sample_period && !evsel->core.attr.alt_sample_period &&
	       !evsel__reads_group(evsel) && evsel__counts_same(evsel, member);
}

/* Find an event that samples what a member of a group counts. */
static struct evsel *evsel__find_sampler(struct evsel *member)
{
	struct evsel *evsel;

	/* Prefer the member itself, because other groups may sample the same. */
	if (evsel__is_sampler_of(member, member))
		return member;
	evlist__for_each_entry(member->evlist, evsel) {
		if (evsel__is_sampler_of(evsel, member))
			return evsel;
	}
	return NULL;
}

/**
 * evsel__samples_for_group - Check if the samples of an event are used for metrics.
 * @evsel: The event.
 *
 * Return: True if a group whose samples have its counts has such an event.
 */
bool evsel__samples_for_group(struct evsel *evsel)
{
	struct evsel *pos, *member;

	evlist__for_each_entry(evsel->evlist, pos) {
		if (!evsel__reads_group(pos))
			continue;
		for_each_group_evsel(member, evsel__leader(pos)) {
			if (member != pos && evsel__find_sampler(member) == evsel)
				return true;
		}
	}
	return false;
}

/* Check if samples of cycles have stacks of all kinds of branches, with cycles. */
static bool fnstat_group__has_branches(const struct fnstat_group *group)
{
	const struct perf_event_attr *attr = &group->sampler->core.attr;
	u64 type = attr->sample_type & PERF_SAMPLE_BRANCH_STACK ? attr->branch_sample_type : 0;

	return (type & PERF_SAMPLE_BRANCH_ANY) &&
	       !(type & (PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_NO_CYCLES)) &&
	       !attr->alt_sample_period && group->insns >= 0 &&
	       fnstat_group__find_event(group, "cycles") == (int)group->sampler_index &&
	       !symbol_conf.any_window && !symbol_conf.same_window;
}

/**
 * fnstat_group__new - Prepare the statistics of a group of events.
 * @sampler: The event that samples.
 *
 * Return: The group, without metrics, or NULL if memory is short.
 */
struct fnstat_group *fnstat_group__new(struct evsel *sampler)
{
	struct fnstat_group *group = zalloc(sizeof(*group));
	const struct perf_event_attr *attr = &sampler->core.attr;
	struct evsel *leader = evsel__leader(sampler), *evsel;
	unsigned int i = 0;

	if (!group)
		return NULL;

	group->sampler = sampler;
	group->nr_counts = leader->core.nr_members;
	/* The intervals of a frequency have no common length. */
	group->length = attr->alt_sample_period ?: attr->freq ? 0 : attr->sample_period;
	group->totals = calloc(group->nr_counts, sizeof(*group->totals));
	group->costs = calloc(group->nr_counts, sizeof(*group->costs));
	group->noise = calloc(group->nr_counts, sizeof(*group->noise));
	group->samplers = calloc(group->nr_counts, sizeof(*group->samplers));
	group->late = calloc(group->nr_counts, sizeof(*group->late));
	group->fractions = calloc(group->nr_counts, sizeof(*group->fractions));
	if (!group->totals || !group->costs || !group->noise || !group->samplers ||
	    !group->late || !group->fractions) {
		fnstat_group__delete(group);
		return NULL;
	}
	group->insns = fnstat_group__find_event(group, "instructions");
	/* TopDown events without slots, on E-cores, are ordinary counters. */
	group->slots = fnstat_group__find_event(group, "slots");
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
	group->branches = fnstat_group__has_branches(group);
	return group;
}

/**
 * fnstat_group__has_windows - Check if intervals are used as windows.
 * @group: The group.
 *
 * Return: True if they are short and of user space alone, or the user says so. Others cover too
 * many functions, or the interrupt.
 */
bool fnstat_group__has_windows(const struct fnstat_group *group)
{
	const struct perf_event_attr *attr = &group->sampler->core.attr;

	return (attr->alt_sample_period && attr->exclude_kernel) || symbol_conf.any_window ||
	       symbol_conf.same_window;
}

/**
 * fnstat_group__knows_cost - Check if an interrupt adds something to windows.
 * @group: The group.
 *
 * Return: True if this is more than its error, at most that of the rate of all windows.
 */
bool fnstat_group__knows_cost(const struct fnstat_group *group)
{
	double cost = group->costs[group->sampler_index];
	double error = 1.96 * sqrt(group->common) * group->length;

	return fabs(cost) >= max(error, 0.5);
}

/* Metrics that are part of the expressions of others. */
struct fnstat_refs {
	unsigned int		nr;
	struct metric_ref	*refs;
};

static void fnstat_refs__delete(struct fnstat_refs *refs)
{
	for (unsigned int i = 0; refs && i < refs->nr; i++) {
		free((char *)refs->refs[i].metric_name);
		free((char *)refs->refs[i].metric_expr);
	}
	if (refs)
		free(refs->refs);
	free(refs);
}

static bool fnstat_refs__has(const struct fnstat_refs *refs, const char *name)
{
	for (unsigned int i = 0; i < refs->nr; i++) {
		if (!strcmp(refs->refs[i].metric_name, name))
			return true;
	}
	return false;
}

static int fnstat_refs__add(struct fnstat_refs *refs, const char *name, char *expr)
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

static void fnstat_metric__exit(struct fnstat_metric *metric)
{
	if (metric->threshold)
		fnstat_metric__exit(metric->threshold);
	free(metric->threshold);
	free(metric->name);
	free(metric->header);
	free(metric->expr);
	fnstat_refs__delete(metric->refs);
	if (metric->ctx)
		expr__ctx_free(metric->ctx);
	for (unsigned int i = 0; metric->ids && i < metric->nr_ids; i++)
		free(metric->ids[i]);
	free(metric->ids);
	free(metric->id_events);
}

/**
 * fnstat_group__delete - Free a group.
 * @group: The group, or NULL.
 */
void fnstat_group__delete(struct fnstat_group *group)
{
	if (!group)
		return;

	for (unsigned int i = 0; i < group->nr_metrics; i++)
		fnstat_metric__exit(&group->metrics[i]);
	free(group->metrics);
	fnstat_stats__exit(&group->all);
	free(group->totals);
	free(group->costs);
	free(group->noise);
	free(group->late);
	free(group->pairs);
	free(group->samplers);
	free(group->fractions);
	free(group);
}

/**
 * fnstat_metric__names - List the metrics that need no description of the PMU.
 *
 * Return: Their names, separated by commas.
 */
const char *fnstat_metric__names(void)
{
	return "cpi,ipc,branch-mpki,cache-mpki,branch-miss-rate,cache-miss-rate,instructions-share,branch-miss-share,cache-ref-share,cache-miss-share";
}

/**
 * fnstat_metric__default_names - List the metrics of a report that names none.
 *
 * Return: Their names, separated by commas.
 */
const char *fnstat_metric__default_names(void)
{
	return "cpi,branch-mpki,cache-mpki,instructions-share";
}

struct find_metric {
	const char	*name;
	/* NULL: any. */
	const char	*pmu;
	/* Another PMU has a metric of this name. */
	bool		of_others;
	char		*expr;
	/* NULL: there is none. */
	char		*threshold;
	/* Factor of the output of perf stat: 100 if it prints percent. */
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
	find->threshold = pm->metric_threshold ? strdup(pm->metric_threshold) : NULL;
	if (!pm->unit || perf_pmu__convert_scale(pm->unit, &unit, &find->factor))
		find->factor = 1;
	return 0;
}

/* Find the metrics of the CPU of a recording, or of this one. */
static const struct pmu_metrics_table *find_table(struct perf_env *env)
{
	unsigned int family, model, stepping;
	char vendor[16], cpuid[128];

	if (!env || !env->cpuid ||
	    (!get_cpuid(cpuid, sizeof(cpuid), (struct perf_cpu){ -1 }) &&
	     !strcmp(cpuid, env->cpuid)))
		return pmu_metrics_table__find();
	/* The tables have only CPUs of this architecture. */
	if (strcmp(perf_env__arch(env), perf_env__arch(NULL)))
		return NULL;
	/* On x86, files have it in another form than tables. */
	strlcpy(cpuid, env->cpuid, sizeof(cpuid));
	if (sscanf(env->cpuid, "%15[^,],%u,%u,%u", vendor, &family, &model, &stepping) == 4)
		scnprintf(cpuid, sizeof(cpuid), "%s-%u-%X-%X", vendor, family, model, stepping);
	return find_core_metrics_table(perf_env__arch(env), cpuid);
}

/*
 * Look for a metric in the descriptions of the PMU, and in those of all machines. The
 * caller frees its expression and threshold, which is not wanted if NULL is given.
 * Return: 0, -ENODEV if only other PMUs have it, -ENOENT if none, or -ENOMEM.
 */
static int find_metric_expr(const char *name, const char *pmu, struct perf_env *env, char **expr,
			    double *factor, char **threshold)
{
	const struct pmu_metrics_table *tables[] = {
		find_table(env), pmu_metrics_table__default(),
	};
	struct find_metric find = { .name = name, .pmu = pmu };

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !find.expr; i++) {
		if (tables[i])
			pmu_metrics_table__for_each_metric(tables[i], find_metric_fn, &find);
	}
	*factor = find.factor;
	*expr = find.expr;
	if (threshold)
		*threshold = find.threshold;
	else
		free(find.threshold);
	if (find.expr)
		return 0;
	return find.of_others ? -ENODEV : -ENOENT;
}

/* Replace an ID that is a metric by those in its expression. Return 0 if there is none. */
static int expr__replace_ref(struct expr_parse_ctx *ctx, const char *pmu,
			     struct perf_env *env, struct fnstat_refs *refs)
{
	struct hashmap_entry *cur;
	size_t bkt;

	hashmap__for_each_entry(ctx->ids, cur, bkt) {
		double factor;
		char *expr, *name;
		int ret = 0;

		if (find_metric_expr(cur->pkey, pmu, env, &expr, &factor, /*threshold=*/NULL))
			continue;
		name = strdup(cur->pkey);
		if (!name) {
			free(expr);
			return -ENOMEM;
		}
		expr__del_id(ctx, name);
		if (fnstat_refs__has(refs, name)) {
			free(expr);
		} else {
			ret = fnstat_refs__add(refs, name, expr);
			if (!ret)
				ret = expr__find_ids(expr, NULL, ctx);
		}
		free(name);
		return ret ?: 1;
	}
	return 0;
}

/* Find the events of an expression. The caller frees @refs and @ctx, also after an error. */
static int find_expr_ids(const char *expr, const char *pmu, struct perf_env *env,
			 struct fnstat_refs **refs, struct expr_parse_ctx **ctx)
{
	int ret;

	*ctx = expr__ctx_new();
	*refs = zalloc(sizeof(**refs));
	if (!*ctx || !*refs)
		return -ENOMEM;
	if (expr__find_ids(expr, NULL, *ctx) < 0)
		return -EINVAL;
	do {
		ret = expr__replace_ref(*ctx, pmu, env, *refs);
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

static int fnstat_metric__init_expr(struct fnstat_metric *metric, struct fnstat_group *group)
{
	struct hashmap_entry *cur;
	size_t bkt;
	int ret;

	metric->kind = FNSTAT_METRIC_EXPR;
	ret = find_expr_ids(metric->expr, evsel__pmu_name(group->sampler),
			    evsel__env(group->sampler), &metric->refs, &metric->ctx);
	if (ret)
		return ret;

	metric->ids = calloc(hashmap__size(metric->ctx->ids) ?: 1, sizeof(*metric->ids));
	metric->id_events = calloc(hashmap__size(metric->ctx->ids) ?: 1,
				   sizeof(*metric->id_events));
	if (!metric->ids || !metric->id_events)
		return -ENOMEM;

	/* Where nothing was counted there is no value. */
	metric->ctx->sctx.ratio_by_zero_is_nan = true;
	metric->available = true;
	hashmap__for_each_entry(metric->ctx->ids, cur, bkt) {
		char *name = metric_id__event(cur->pkey, /*recorded=*/true);
		int event = name ? fnstat_group__find_event(group, name) : -ENOMEM;

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

static int fnstat_metric__find_expr(struct fnstat_metric *metric, struct fnstat_group *group)
{
	char *threshold = NULL;
	int ret = find_metric_expr(metric->name, evsel__pmu_name(group->sampler),
				   evsel__env(group->sampler), &metric->expr, &metric->factor,
				   &threshold);

	metric->kind = FNSTAT_METRIC_EXPR;
	/* It is a column of another PMU. */
	if (ret == -ENODEV)
		return 0;
	ret = ret ?: fnstat_metric__init_expr(metric, group);
	if (ret || !threshold) {
		free(threshold);
		return ret;
	}
	metric->threshold = zalloc(sizeof(*metric->threshold));
	if (!metric->threshold) {
		free(threshold);
		return -ENOMEM;
	}
	metric->threshold->expr = threshold;
	metric->threshold->factor = 1;
	return fnstat_metric__init_expr(metric->threshold, group);
}

/**
 * fnstat_group__add_metric - Add a metric.
 * @group: The group.
 * @name: One of fnstat_metric__names(), or of the metrics that perf list prints.
 *
 * Return: 0 (fnstat_metric::available tells if the group has its events), -ENOENT if
 * there is no such metric, -EINVAL if its expression is wrong, or -ENOMEM.
 */
int fnstat_group__add_metric(struct fnstat_group *group, const char *name)
{
	struct fnstat_metric *metric;
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

	for (size_t i = 0; i < ARRAY_SIZE(fnstat_metrics); i++) {
		typeof(fnstat_metrics[0]) *m = &fnstat_metrics[i];
		int dividend, divisor;

		if (strcasecmp(name, m->name))
			continue;
		dividend = fnstat_group__find_event(group, m->dividend);
		divisor = m->divisor ? fnstat_group__find_event(group, m->divisor) :
				       (int)group->sampler_index;
		metric->kind = m->divisor ? FNSTAT_METRIC_RATIO : FNSTAT_METRIC_SHARE;
		metric->text = m->text;
		metric->factor = m->factor;
		metric->available = dividend >= 0 && divisor >= 0;
		metric->dividend = max(dividend, 0);
		metric->divisor = max(divisor, 0);
		metric->nr_ids = metric->kind == FNSTAT_METRIC_RATIO ? 2 : 1;
		metric->id_events = calloc(metric->nr_ids, sizeof(*metric->id_events));
		if (!metric->id_events)
			return -ENOMEM;
		metric->id_events[0] = metric->dividend;
		if (metric->kind == FNSTAT_METRIC_RATIO)
			metric->id_events[1] = metric->divisor;
		metric->header = strdup(m->header);
		return metric->header ? 0 : -ENOMEM;
	}

	ret = fnstat_metric__find_expr(metric, group);
	if (ret)
		return ret;
	metric->header = strdup(name);
	return metric->header ? 0 : -ENOMEM;
}

/* Check if a list has a name. */
static bool has_name(const char *list, const char *name, char separator)
{
	size_t len = strlen(name);

	for (const char *pos = list; pos && (pos = strcasestr(pos, name)); pos += len) {
		if ((pos == list || pos[-1] == separator) && (!pos[len] || pos[len] == separator))
			return true;
	}
	return false;
}

/* Check if an event is one of the argument of perf record -e. */
static bool is_sampler(const char *samplers, const char *event)
{
	for (const char *pos = samplers; (pos = strcasestr(pos, event)) != NULL; pos++) {
		if ((pos == samplers || strchr(",/", pos[-1])) &&
		    strchr(",:/", pos[strlen(event)]))
			return true;
	}
	return !strcasecmp(event, "cycles") && is_sampler(samplers, "cpu-cycles");
}

/* Append an event to a list, unless it is there already, or samples. */
static int add_event(struct strbuf *events, const char *event, const char *sampler)
{
	if (!strcasecmp(event, "cpu-cycles"))
		event = "cycles";
	if (has_name(events->buf, event, ',') || is_sampler(sampler, event))
		return 0;
	return strbuf_addf(events, "%s%s", events->len ? "," : "", event);
}

/**
 * fnstat_metric__add_events - Append the events of a metric to a list.
 * @name: Of the metric, as for fnstat_group__add_metric().
 * @pmu: Name of the core PMU that counts them, or NULL if there is only one.
 * @sampler: The events that sample.
 * @events: Names separated by commas, each once, without @sampler.
 *
 * Return: 0, -ENOENT if there is no such metric, -ENODEV if only other PMUs have it,
 * -EINVAL if its expression is wrong, or -ENOMEM.
 */
int fnstat_metric__add_events(const char *name, const char *pmu, const char *sampler,
			      struct strbuf *events)
{
	struct expr_parse_ctx *ctx = NULL;
	struct fnstat_refs *refs = NULL;
	struct hashmap_entry *cur;
	char *expr = NULL;
	double factor;
	size_t bkt;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(fnstat_metrics); i++) {
		typeof(fnstat_metrics[0]) *m = &fnstat_metrics[i];

		if (strcasecmp(name, m->name))
			continue;
		ret = m->divisor ? add_event(events, m->divisor, sampler) : 0;
		return ret ?: add_event(events, m->dividend, sampler);
	}

	ret = find_metric_expr(name, pmu, /*env=*/NULL, &expr, &factor, /*threshold=*/NULL);
	if (!ret)
		ret = find_expr_ids(expr, pmu, /*env=*/NULL, &refs, &ctx);
	if (!ret) {
		hashmap__for_each_entry(ctx->ids, cur, bkt) {
			char *event = metric_id__event(cur->pkey, /*recorded=*/false);

			ret = ret ?: event ? add_event(events, event, sampler) : -ENOMEM;
			free(event);
		}
	}
	if (ctx)
		expr__ctx_free(ctx);
	fnstat_refs__delete(refs);
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
 * fnstat_metric__expand_groups - Replace groups of metrics by their metrics.
 * @names: Of metrics and groups, separated by commas.
 * @env: Of the recording, or NULL for this machine.
 *
 * Return: Names of metrics, and unknown names, each once. The caller frees it. NULL if memory
 * is short.
 */
char *fnstat_metric__expand_groups(const char *names, struct perf_env *env)
{
	char *list = strdup(names), *name, *tmp;
	struct strbuf all = STRBUF_INIT;
	int ret = list ? 0 : -ENOMEM;

	for (name = list ? strtok_r(list, ", ", &tmp) : NULL; name && !ret;
	     name = strtok_r(NULL, ", ", &tmp)) {
		const struct pmu_metrics_table *tables[] = {
			find_table(env), pmu_metrics_table__default(),
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

/* Check if the group has the events of a built-in metric of a list, and it needs @event. */
static bool fnstat_metrics__have(const char *names, const struct fnstat_group *group, int event)
{
	for (size_t i = 0; i < ARRAY_SIZE(fnstat_metrics); i++) {
		typeof(fnstat_metrics[0]) *m = &fnstat_metrics[i];

		int dividend = fnstat_group__find_event(group, m->dividend);
		int divisor = fnstat_group__find_event(group, m->divisor ?: m->dividend);

		if (has_name(names, m->name, ',') && dividend >= 0 && divisor >= 0 &&
		    (dividend == event || divisor == event))
			return true;
	}
	return false;
}

struct find_recorded {
	struct fnstat_group	*group;
	/* For each event, true if no built-in metric has it. */
	bool			*others;
	struct strbuf		*names;
	int			ret;
};

/*
 * Check if an expression contains one of the others itself, or only metrics that do. Expanding
 * the metrics in it would take long.
 */
static bool expr__has_others(const char *expr, const struct find_recorded *find)
{
	struct expr_parse_ctx *ctx = expr__ctx_new();
	bool has_event = false, has_metric = false, unknown = false;
	struct hashmap_entry *cur;
	size_t bkt;

	if (!ctx)
		return false;
	if (expr__find_ids(expr, NULL, ctx) >= 0) {
		hashmap__for_each_entry(ctx->ids, cur, bkt) {
			char *name = metric_id__event(cur->pkey, /*recorded=*/true);
			int event = name ? fnstat_group__find_event(find->group, name) : -ENOMEM;

			if (event >= 0)
				has_event |= find->others[event];
			else if (has_name(find->names->buf, cur->pkey, ','))
				has_metric = true;
			else
				unknown = true;
			free(name);
		}
	}
	expr__ctx_free(ctx);
	return has_event || (has_metric && !unknown);
}

static int find_recorded_fn(const struct pmu_metric *pm,
			    const struct pmu_metrics_table *table __maybe_unused, void *data)
{
	struct find_recorded *find = data;
	int ret;

	/* An expression that only adds up counts is no metric of a function. */
	if (find->ret || !pm->metric_name || !pm->metric_expr ||
	    !strpbrk(pm->metric_expr, "/-") || !expr__has_others(pm->metric_expr, find) ||
	    has_name(find->names->buf, pm->metric_name, ','))
		return 0;
	ret = fnstat_group__add_metric(find->group, pm->metric_name);
	if (ret == -ENOMEM)
		find->ret = ret;
	else if (!ret && find->group->metrics[find->group->nr_metrics - 1].available)
		find->ret = strbuf_addf(find->names, ",%s", pm->metric_name);
	return 0;
}

/* Add the metrics of recorded events that the default metrics do not need. */
static int fnstat_group__find_recorded(struct fnstat_group *group, struct perf_env *env,
				       struct strbuf *names)
{
	const char *defaults = fnstat_metric__default_names();
	const struct pmu_metrics_table *tables[] = {
		find_table(env), pmu_metrics_table__default(),
	};
	bool others[group->nr_counts], any = false;
	struct find_recorded find = { .group = group, .others = others, .names = names };

	for (unsigned int i = 0; i < group->nr_counts; i++) {
		others[i] = !fnstat_metrics__have(fnstat_metric__names(), group, i);
		any |= others[i];
	}
	for (size_t i = 0; i < ARRAY_SIZE(fnstat_metrics) && !find.ret; i++) {
		typeof(fnstat_metrics[0]) *m = &fnstat_metrics[i];
		int dividend = fnstat_group__find_event(group, m->dividend);
		int divisor = fnstat_group__find_event(group, m->divisor ?: m->dividend);

		if (dividend >= 0 && divisor >= 0 && !has_name(names->buf, m->name, ',') &&
		    (!fnstat_metrics__have(defaults, group, dividend) ||
		     !fnstat_metrics__have(defaults, group, divisor)))
			find.ret = strbuf_addf(names, ",%s", m->name);
	}
	/* Twice, because metrics refer to others that follow them. */
	for (size_t i = 0; i < 2 * ARRAY_SIZE(tables) && any && !find.ret; i++) {
		if (tables[i / 2])
			pmu_metrics_table__for_each_metric(tables[i / 2], find_recorded_fn, &find);
	}
	return find.ret;
}

/**
 * evlist__fnstat_metrics - List the metrics of a report of a recording.
 * @evlist: Of the recording, or NULL.
 * @all: Also those that are not shown by default.
 * @env: Of the recording, or NULL.
 *
 * Return: The built-in names, and metrics of the PMU for recorded events that these do not need.
 * The caller frees it. NULL if memory is short.
 */
char *evlist__fnstat_metrics(struct evlist *evlist, bool all, struct perf_env *env)
{
	struct strbuf names = STRBUF_INIT;
	int ret = strbuf_addstr(&names, all ? fnstat_metric__names() :
				fnstat_metric__default_names());
	struct evsel *evsel;

	if (!evlist)
		return ret ? NULL : strbuf_detach(&names, NULL);
	evlist__for_each_entry(evlist, evsel) {
		struct fnstat_group *group;

		if (ret || !evsel__reads_group(evsel))
			continue;
		group = fnstat_group__new(evsel);
		ret = group ? fnstat_group__find_recorded(group, env, &names) : -ENOMEM;
		fnstat_group__delete(group);
	}
	if (ret) {
		strbuf_release(&names);
		return NULL;
	}
	return strbuf_detach(&names, NULL);
}

/**
 * fnstat_metric__compute - Compute a metric from counts.
 * @metric: The metric, which is available.
 * @group: Its group.
 * @counts: Of each event of the group, what the entry counted.
 *
 * Return: The value in the unit of the metric, or NAN.
 */
double fnstat_metric__compute(const struct fnstat_metric *metric,
			      const struct fnstat_group *group, const double *counts)
{
	double value;

	if (metric->kind == FNSTAT_METRIC_RATIO)
		return metric->factor * counts[metric->dividend] / counts[metric->divisor];
	if (metric->kind == FNSTAT_METRIC_SHARE)
		return metric->factor * counts[metric->dividend] / group->totals[metric->dividend];

	expr__ctx_clear(metric->ctx);
	for (unsigned int i = 0; i < metric->refs->nr; i++) {
		if (expr__add_ref(metric->ctx, &metric->refs->refs[i]))
			return NAN;
	}
	for (unsigned int i = 0; i < metric->nr_ids; i++) {
		char *id = strdup(metric->ids[i]);

		if (!id || expr__add_id_val(metric->ctx, id, counts[metric->id_events[i]])) {
			free(id);
			return NAN;
		}
	}
	if (expr__parse(&value, metric->ctx, metric->expr))
		return NAN;
	return metric->factor * value;
}
