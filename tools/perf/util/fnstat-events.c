// SPDX-License-Identifier: GPL-2.0
/* Make groups of the events of metrics. */
#include "fnstat-events.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <perf/cpumap.h>

#include "debug.h"
#include "evlist.h"
#include "evsel.h"
#include "parse-events.h"
#include "pmu.h"
#include "pmus.h"
#include "record.h"
#include "strbuf.h"
#include "target.h"
#include "time-utils.h"
#include "tool_pmu.h"
#include "fnstat.h"

/* Time in which each of several groups gets a turn, in ns. */
#define MAX_WAIT	(100 * NSEC_PER_MSEC)

/*
 * Remove what a recording is not about: an event without a PMU is also one of uncore PMUs
 * that have this name, and one of core PMUs whose CPUs are all offline.
 */
static void evlist__remove_copies(struct evlist *evlist)
{
	struct evsel *evsel, *tmp;
	int idx = 0;

	evlist__for_each_entry(evlist, evsel) {
		evsel->skippable = evsel__is_core_namesake(evsel) ||
				   (evsel->pmu && perf_pmu__is_offline(evsel->pmu));
	}
	evlist__for_each_entry_safe(evlist, tmp, evsel) {
		if (evsel->skippable) {
			evlist__remove(evlist, evsel);
			evsel__put(evsel);
		} else {
			evsel->core.idx = idx++;
		}
	}
}

/**
 * fnstat_events__open - Open events for this thread.
 * @events: As for perf record -e.
 * @evlist: Set to the events, or to NULL. The caller puts it, also after an error.
 *
 * Return: 0, -EINVAL if the events are not known, -ENOENT if the machine has none of the
 * kind, or another error of perf_event_open(2).
 */
int fnstat_events__open(const char *events, struct evlist **evlist)
{
	char tid[16];
	struct record_opts opts = { .target = { .tid = tid }, };
	struct parse_events_error err;
	struct evsel *evsel;
	int ret;

	*evlist = evlist__new();
	if (!*evlist)
		return -ENOMEM;

	scnprintf(tid, sizeof(tid), "%d", (int)gettid());
	parse_events_error__init(&err);
	ret = __parse_events(*evlist, events, /*pmu_filter=*/NULL, /*cputype_filter=*/false, &err,
			     /*fake_pmu=*/false, /*warn_if_reordered=*/false, /*fake_tp=*/false);
	parse_events_error__exit(&err);
	if (ret)
		return -EINVAL;
	evlist__remove_copies(*evlist);
	if (evlist__empty(*evlist))
		return -ENOENT;
	ret = evlist__create_maps(*evlist, &opts.target);
	if (ret)
		return ret;

	evlist__config(*evlist, &opts, /*callchain=*/NULL);
	evlist__for_each_entry(*evlist, evsel) {
		evsel->core.attr.read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED |
						PERF_FORMAT_TOTAL_TIME_RUNNING;
	}
	return evlist__open(*evlist);
}

/* Wait for the turn of an event: others can hold the counters, for some time or always. */
static bool evsel__gets_a_turn(struct evsel *evsel)
{
	struct perf_counts_values counts = {};
	u64 end = rdclock() + MAX_WAIT;

	while (!perf_evsel__read(&evsel->core, /*cpu_map_idx=*/0, /*thread=*/0, &counts)) {
		if (counts.run)
			return true;
		if (rdclock() > end)
			break;
	}
	return false;
}

/* Check if all groups run. */
static bool evlist__runs(struct evlist *evlist)
{
	cpu_set_t old, cpus;
	struct evsel *evsel;
	bool runs = true;

	if (sched_getaffinity(0, sizeof(old), &old))
		return true;
	evlist__enable(evlist);
	evlist__for_each_entry(evlist, evsel) {
		struct perf_cpu cpu;
		unsigned int i;

		if (!runs || !evsel__is_group_leader(evsel))
			continue;
		/* A group of a core PMU runs on its CPUs. */
		CPU_ZERO(&cpus);
		perf_cpu_map__for_each_cpu(cpu, i, evsel->core.pmu_cpus) {
			if (cpu.cpu >= 0 && cpu.cpu < CPU_SETSIZE)
				CPU_SET(cpu.cpu, &cpus);
		}
		CPU_AND(&cpus, &cpus, &old);
		if (evsel->core.is_pmu_core && CPU_COUNT(&cpus) &&
		    !sched_setaffinity(0, sizeof(cpus), &cpus))
			runs = evsel__gets_a_turn(evsel);
	}
	sched_setaffinity(0, sizeof(old), &old);
	return runs;
}

/**
 * fnstat_events__can_open - Check if the CPU can count events together.
 * @events: As for perf record -e.
 *
 * Return: The result of fnstat_events__open(), or -EBUSY if the events never run because
 * others hold the counters.
 */
int fnstat_events__can_open(const char *events)
{
	struct evlist *evlist;
	struct evsel *evsel;
	int ret = fnstat_events__open(events, &evlist);

	if (!ret) {
		/* Only perf stat counts duration_time and others that the kernel does not. */
		evlist__for_each_entry(evlist, evsel) {
			if (evsel__is_tool(evsel))
				ret = -ENOENT;
		}
		if (!ret && !evlist__runs(evlist))
			ret = -EBUSY;
	}
	evlist__put(evlist);
	return ret;
}

static bool is_slots(const char *event)
{
	return fnstat_event__has_name(event, "slots", /*with_terms=*/false) ||
	       fnstat_event__has_name(event, "topdown.slots", /*with_terms=*/false);
}

/* The kernel counts TopDown metrics only in a group that slots lead. */
static bool needs_slots(const struct fnstat_events *rec, const char *event)
{
	struct perf_pmu *pmu;

	if (is_slots(event))
		return true;
	if (!strstr(event, "topdown-"))
		return false;
	pmu = rec->pmu ? perf_pmus__find(rec->pmu) : perf_pmus__find_core_pmu();
	return pmu && perf_pmu__have_event(pmu, "slots");
}

/* Append an event, with the name of its PMU unless the user gave one, and with terms. */
static int add_name(const struct fnstat_events *rec, const char *event, const char *terms,
		    struct strbuf *events)
{
	size_t len = strlen(event);

	if (strchr(event, '/')) {
		/* Modifiers follow the last slash. */
		if (!terms || event[len - 1] != '/')
			return strbuf_addstr(events, event);
		return strbuf_addf(events, "%.*s,%s/", (int)len - 1, event, terms);
	}
	if (rec->pmu) {
		return strbuf_addf(events, "%s/%s%s%s/", rec->pmu, event, terms ? "," : "",
				   terms ?: "");
	}
	return terms ? strbuf_addf(events, "%s/%s/", event, terms) : strbuf_addstr(events, event);
}

/* Append an event to a group, with terms to sample if possible, else set @counted. */
static int add_event(const struct fnstat_events *rec, const char *event, struct strbuf *events,
		     bool *counted)
{
	const char *terms = rec->terms;
	struct strbuf name = STRBUF_INIT;
	int ret = 0;

	if (terms && !strchr(event, ':')) {
		ret = add_name(rec, event, terms, &name);
		/* Precise, if possible. */
		ret = ret ?: strbuf_addch(&name, 'P');
		if (!ret && fnstat_events__can_open(name.buf))
			terms = NULL;
	} else {
		terms = NULL;
	}
	if (!terms) {
		*counted = true;
		strbuf_setlen(&name, 0);
		ret = ret ?: add_name(rec, event, NULL, &name);
	}
	ret = ret ?: strbuf_addf(events, ",%s", name.buf);
	strbuf_release(&name);
	return ret;
}

/* Split a list like strsep(), but not at the commas between the terms of an event. */
static char *next_event(char **list)
{
	char *event = *list, *end = event;
	bool terms = false;

	if (!event || !*event)
		return NULL;
	for (; *end && (terms || *end != ','); end++)
		terms ^= *end == '/';
	*list = *end ? end + 1 : NULL;
	*end = '\0';
	return event;
}

/**
 * fnstat_events__add_group - Append a group of events.
 * @rec: Options of the group.
 * @counters: Events, separated by commas.
 * @events: As for perf record -e.
 *
 * Return: 0, or -ENOMEM.
 */
int fnstat_events__add_group(const struct fnstat_events *rec, const char *counters,
			     struct strbuf *events)
{
	struct strbuf others = STRBUF_INIT;
	char *list = strdup(counters), *pos = list, *event;
	int ret = list ? 0 : -ENOMEM;
	bool slots = false, counted = false, insns = false;
	const char *sampler;

	while (!ret && (event = next_event(&pos))) {
		slots |= needs_slots(rec, event);
		insns |= fnstat_event__has_name(event, "instructions", /*with_terms=*/true);
		if (!is_slots(event))
			ret = add_event(rec, event, &others, &counted);
	}
	sampler = rec->branches_sampler && !counted && !slots ? rec->branches_sampler :
								rec->sampler;
	if (rec->windows && sampler == rec->sampler && !insns) {
		ret = ret ?: strbuf_addch(&others, ',') ?:
			     add_name(rec, "instructions", /*terms=*/NULL, &others);
	}
	ret = ret ?: strbuf_addstr(events, events->len ? ",{" : "{");
	if (slots && rec->pmu)
		ret = ret ?: strbuf_addf(events, "%s/slots/,", rec->pmu);
	else if (slots)
		ret = ret ?: strbuf_addstr(events, "slots,");
	ret = ret ?: strbuf_addf(events, "%s%s}%s", sampler, others.buf, rec->modifiers);
	/* The parser would put all of TopDown into one group. */
	if (slots)
		ret = ret ?: strbuf_addstr(events, *rec->modifiers ? "X" : ":X");
	strbuf_release(&others);
	free(list);
	return ret;
}

/* Check for events that only happen in the kernel. */
static bool are_of_kernel(const char *counters)
{
	return strstr(counters, "context-switches") || strstr(counters, "cgroup-switches") ||
	       strstr(counters, "migrations");
}

static int can_count(const struct fnstat_events *rec, const char *counters)
{
	struct strbuf events = STRBUF_INIT;
	int ret = fnstat_events__add_group(rec, counters, &events) ?:
		  fnstat_events__can_open(events.buf);

	strbuf_release(&events);
	return ret;
}

/**
 * fnstat_events__add_metrics - Append groups of the events of metrics.
 * @rec: Options of each group.
 * @metrics: Names of metrics and of groups of metrics, separated by commas. Metrics that
 *	only other PMUs than that of @rec have are ignored.
 * @events: As for perf record -e.
 *
 * As many metrics as can be counted together share a group. Those that cannot be counted
 * at all are left out, with a message.
 *
 * Return: 0, -ENOENT or -EINVAL after a message if there is no such metric, or -ENOMEM.
 */
int fnstat_events__add_metrics(const struct fnstat_events *rec, const char *metrics,
			       struct strbuf *events)
{
	char *names = fnstat_metric__expand_groups(metrics, /*env=*/NULL), *name, *tmp;
	struct strbuf group = STRBUF_INIT, all = STRBUF_INIT, one = STRBUF_INIT;
	struct strbuf left_out = STRBUF_INIT, of_kernel = STRBUF_INIT;
	int ret = names ? 0 : -ENOMEM;
	size_t len = events->len;
	bool busy = false;

	for (name = names ? strtok_r(names, ", ", &tmp) : NULL; name && !ret;
	     name = strtok_r(NULL, ", ", &tmp)) {
		strbuf_setlen(&one, 0);
		strbuf_setlen(&all, 0);
		ret = strbuf_add(&all, group.buf, group.len);
		ret = ret ?: fnstat_metric__add_events(name, rec->pmu, rec->sampler, &all) ?:
			     fnstat_metric__add_events(name, rec->pmu, rec->sampler, &one);
		if (ret == -ENOENT) {
			pr_err("Unknown metric '%s', see perf list, or use one of: %s.\n", name,
			       fnstat_metric__names());
		} else if (ret == -EINVAL) {
			pr_err("The expression of metric '%s' is wrong.\n", name);
		} else if (ret == -ENODEV) {
			ret = 0;
		} else if (!ret && strchr(rec->modifiers, 'u') && are_of_kernel(one.buf)) {
			ret = strbuf_addf(&of_kernel, "%s%s", of_kernel.len ? ", " : "", name);
		} else if (!ret && !can_count(rec, all.buf)) {
			strbuf_setlen(&group, 0);
			ret = strbuf_add(&group, all.buf, all.len);
		} else if (!ret) {
			int alone = can_count(rec, one.buf);

			busy |= alone == -EBUSY;
			if (alone) {
				ret = strbuf_addf(&left_out, "%s%s", left_out.len ? ", " : "",
						  name);
				continue;
			}
			if (group.len)
				ret = fnstat_events__add_group(rec, group.buf, events);
			strbuf_setlen(&group, 0);
			ret = ret ?: strbuf_add(&group, one.buf, one.len);
		}
	}
	if (!ret && group.len)
		ret = fnstat_events__add_group(rec, group.buf, events);
	/* If all metrics are left out, the reason can be another one, and the caller reports it. */
	if (!ret && left_out.len && events->len > len) {
		pr_info("Left out, as %s cannot count their events%s: %s\n", rec->pmu ?: "the CPU",
			busy ? " beside those of others, as of the NMI watchdog" : "",
			left_out.buf);
	}
	if (!ret && of_kernel.len) {
		pr_info("Left out, as their events are those of the kernel, see --kernel: %s\n",
			of_kernel.buf);
	}
	strbuf_release(&of_kernel);
	strbuf_release(&left_out);
	strbuf_release(&one);
	strbuf_release(&all);
	strbuf_release(&group);
	free(names);
	return ret;
}
