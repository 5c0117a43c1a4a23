// SPDX-License-Identifier: GPL-2.0
/*
 * perf fnstat: metrics per function, from the counts of short windows.
 *
 * Every other sample of an event that alternates between long intervals and short
 * windows is the end of a window, and the group that it reads has the counts of the
 * window. If both ends of a window are in the same function, most likely all of it
 * is.
 */
#include "builtin.h"
#include "perf.h"
#include "perf-sys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>
#include <internal/rc_check.h>
#include <subcmd/pager.h>
#include <subcmd/parse-options.h>

#include "util/addr_location.h"
#include "util/cloexec.h"
#include "util/data.h"
#include "util/debug.h"
#include "util/dso.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/hashmap.h"
#include "util/header.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/sample.h"
#include "util/session.h"
#include "util/strbuf.h"
#include "util/symbol.h"
#include "util/symbol_conf.h"
#include "util/thread.h"
#include "util/tool.h"

/* The role of an event in the metrics. */
enum fnstat_role {
	CYCLES,
	INSTRUCTIONS,
	BRANCH_MISSES,
	CACHE_REFS,
	CACHE_MISSES,
	NR_ROLES,
};

#define ROLES_REQUIRED	(BIT(CYCLES) | BIT(INSTRUCTIONS))

static const struct {
	u64		config;
	const char	*name;
} fnstat_events[NR_ROLES] = {
	[CYCLES]	= { PERF_COUNT_HW_CPU_CYCLES,		"cycles" },
	[INSTRUCTIONS]	= { PERF_COUNT_HW_INSTRUCTIONS,		"instructions" },
	[BRANCH_MISSES]	= { PERF_COUNT_HW_BRANCH_MISSES,	"branch-misses" },
	[CACHE_REFS]	= { PERF_COUNT_HW_CACHE_REFERENCES,	"cache-references" },
	[CACHE_MISSES]	= { PERF_COUNT_HW_CACHE_MISSES,		"cache-misses" },
};

struct fnstat_func {
	/* The key. The code of a dso without a symbol is one function. */
	struct dso	*dso;
	struct symbol	*sym;
	/* The number of windows that end in the function, and of those that it keeps. */
	u64		windows;
	u64		kept;
	/* Counts of the kept windows, at the end scaled by windows / kept. */
	double		counts[NR_ROLES];
	char		*name;
};

/* The samples of one instance of an event, whose counts continue. */
struct fnstat_stream {
	/* The key. tid is 0 if all threads share the counts. */
	u64		id;
	u32		tid;
	/* The place and the counts of the last sample. */
	struct thread	*thread;
	struct fnstat_func *func;
	u64		counts[NR_ROLES];
	/* perf_fnstat::nr_lost at the last sample. */
	u64		nr_lost;
};

struct perf_fnstat {
	struct perf_tool tool;
	struct hashmap	*funcs;
	struct hashmap	*streams;
	const char	*attribution;
	const char	*sep;
	bool		any;
	bool		force;
	u64		nr_lost;
	/* The roles that all groups have. */
	unsigned int	roles;
	struct fnstat_func total;
	struct fnstat_func **sorted;
	size_t		nr_sorted;
};

static size_t fnstat_func__hash(long key, void *ctx __maybe_unused)
{
	struct fnstat_func *func = (struct fnstat_func *)key;

	return (size_t)func->sym ^ (size_t)RC_CHK_ACCESS(func->dso);
}

static bool fnstat_func__equal(long key1, long key2, void *ctx __maybe_unused)
{
	struct fnstat_func *a = (struct fnstat_func *)key1;
	struct fnstat_func *b = (struct fnstat_func *)key2;

	return a->sym == b->sym && RC_CHK_ACCESS(a->dso) == RC_CHK_ACCESS(b->dso);
}

static struct fnstat_func *fnstat__findnew_func(struct perf_fnstat *fnstat, struct dso *dso,
						struct symbol *sym)
{
	struct fnstat_func key = { .dso = dso, .sym = sym }, *func;

	if (hashmap__find(fnstat->funcs, &key, &func))
		return func;

	func = zalloc(sizeof(*func));
	if (!func)
		return NULL;

	func->dso = dso__get(dso);
	func->sym = sym;
	if (hashmap__add(fnstat->funcs, func, func)) {
		dso__put(func->dso);
		free(func);
		return NULL;
	}
	return func;
}

static size_t fnstat_stream__hash(long key, void *ctx __maybe_unused)
{
	struct fnstat_stream *stream = (struct fnstat_stream *)key;

	return stream->id * 31 + stream->tid;
}

static bool fnstat_stream__equal(long key1, long key2, void *ctx __maybe_unused)
{
	struct fnstat_stream *a = (struct fnstat_stream *)key1;
	struct fnstat_stream *b = (struct fnstat_stream *)key2;

	return a->id == b->id && a->tid == b->tid;
}

static struct fnstat_stream *fnstat__findnew_stream(struct perf_fnstat *fnstat, u64 id, u32 tid)
{
	struct fnstat_stream key = { .id = id, .tid = tid }, *stream;

	if (hashmap__find(fnstat->streams, &key, &stream))
		return stream;

	stream = zalloc(sizeof(*stream));
	if (!stream)
		return NULL;

	stream->id = id;
	stream->tid = tid;
	if (hashmap__add(fnstat->streams, stream, stream)) {
		free(stream);
		return NULL;
	}
	return stream;
}

static int fnstat__init(struct perf_fnstat *fnstat)
{
	fnstat->funcs = hashmap__new(fnstat_func__hash, fnstat_func__equal, NULL);
	fnstat->streams = hashmap__new(fnstat_stream__hash, fnstat_stream__equal, NULL);

	return IS_ERR(fnstat->funcs) || IS_ERR(fnstat->streams) ? -ENOMEM : 0;
}

static void fnstat__exit(struct perf_fnstat *fnstat)
{
	struct hashmap_entry *cur;
	size_t bkt;

	if (!IS_ERR_OR_NULL(fnstat->streams)) {
		hashmap__for_each_entry(fnstat->streams, cur, bkt) {
			struct fnstat_stream *stream = cur->pvalue;

			thread__put(stream->thread);
			free(stream);
		}
	}
	hashmap__free(fnstat->streams);

	if (!IS_ERR_OR_NULL(fnstat->funcs)) {
		hashmap__for_each_entry(fnstat->funcs, cur, bkt) {
			struct fnstat_func *func = cur->pvalue;

			dso__put(func->dso);
			free(func->name);
			free(func);
		}
	}
	hashmap__free(fnstat->funcs);
	free(fnstat->sorted);
}

/* True for "event", "event:u", "event/terms/" and "pmu/event,terms/". */
static bool is_event_name(const char *name, const char *event)
{
	const char *terms = strchr(name, '/');
	size_t len = strlen(event);

	if (!strncmp(name, event, len) && (!name[len] || strchr(":/", name[len])))
		return true;
	return terms && !strncmp(terms + 1, event, len) &&
	       terms[1 + len] && strchr(",/", terms[1 + len]);
}

/*
 * Return the role of an event of any PMU. A PMU that has an event of that name in
 * sysfs, as on x86, gives it another type: then only the name identifies it.
 */
static int evsel__fnstat_role(struct evsel *evsel)
{
	u64 config = evsel->core.attr.config & PERF_HW_EVENT_MASK;
	bool generic = evsel->core.attr.type == PERF_TYPE_HARDWARE;
	const char *name = evsel__name(evsel);

	for (int role = 0; role < NR_ROLES; role++) {
		if (generic ? config == fnstat_events[role].config :
			      is_event_name(name, fnstat_events[role].name))
			return role;
	}
	if (!generic && is_event_name(name, "cpu-cycles"))
		return CYCLES;
	return -ENOENT;
}

static bool evsel__has_group_read(const struct evsel *evsel)
{
	return (evsel->core.attr.sample_type & PERF_SAMPLE_READ) &&
	       (evsel->core.attr.read_format & PERF_FORMAT_GROUP);
}

/* Return the event of a group that samples, usually its leader. */
static struct evsel *evsel__fnstat_sampler(struct evsel *leader)
{
	struct evsel *evsel;

	for_each_group_evsel(evsel, leader) {
		if (evsel->core.attr.sample_period)
			return evsel;
	}
	return leader;
}

/* Store the counts of a sample by role, return a mask of the roles that it has. */
static unsigned int fnstat__read_group(struct perf_sample *sample, struct evsel *sampler,
				       u64 counts[NR_ROLES], u64 *id)
{
	struct sample_read_value *v = sample->read.group.values;
	struct evlist *evlist = sample->evsel->evlist;
	u64 read_format = sample->evsel->core.attr.read_format;
	unsigned int roles = 0;

	sample_read_group__for_each(v, sample->read.group.nr, read_format) {
		struct perf_sample_id *sid = evlist__id2sid(evlist, v->id);
		struct evsel *evsel;
		int role;

		if (!sid || !sid->evsel)
			continue;
		evsel = container_of(sid->evsel, struct evsel, core);
		if (evsel == sampler)
			*id = v->id;
		role = evsel__fnstat_role(evsel);
		if (role < 0 || (roles & BIT(role)))
			continue;
		counts[role] = v->value;
		roles |= BIT(role);
	}
	return roles;
}

static int fnstat__process_sample(const struct perf_tool *tool, union perf_event *event,
				  struct perf_sample *sample, struct machine *machine)
{
	struct perf_fnstat *fnstat = container_of(tool, struct perf_fnstat, tool);
	struct evsel *sampler = evsel__fnstat_sampler(evsel__leader(sample->evsel));
	bool per_thread = perf_evsel__attr_has_per_thread_sample_period(&sampler->core);
	bool same_thread, has_start;
	struct fnstat_stream *stream;
	struct fnstat_func *func;
	struct addr_location al;
	u64 counts[NR_ROLES], id = 0;
	unsigned int roles;
	int ret = -ENOMEM;

	if (!evsel__has_group_read(sampler))
		return 0;

	roles = fnstat__read_group(sample, sampler, counts, &id);
	if ((roles & ROLES_REQUIRED) != ROLES_REQUIRED)
		return 0;

	addr_location__init(&al);
	if (machine__resolve(machine, &al, sample) < 0) {
		pr_err("problem processing a sample, skipping it\n");
		ret = 0;
		goto out;
	}

	func = fnstat__findnew_func(fnstat, al.map ? map__dso(al.map) : NULL, al.sym);
	stream = fnstat__findnew_stream(fnstat, id, per_thread ? sample->tid : 0);
	if (!func || !stream)
		goto out;
	ret = 0;

	/* If threads have their own counts, another thread has reused the tid. */
	same_thread = RC_CHK_EQUAL(stream->thread, al.thread);
	has_start = stream->func && stream->nr_lost == fnstat->nr_lost &&
		    (same_thread || !per_thread);

	if (has_start && (!sampler->core.attr.alt_sample_period ||
			  (event->header.misc & PERF_RECORD_MISC_ALT_WINDOW))) {
		bool split = event->header.misc & PERF_RECORD_MISC_ALT_SPLIT;

		func->windows++;
		if (fnstat->any || (same_thread && !split && stream->func == func)) {
			func->kept++;
			for (int role = 0; role < NR_ROLES; role++) {
				if (roles & BIT(role))
					func->counts[role] += counts[role] - stream->counts[role];
			}
		}
	}

	thread__put(stream->thread);
	stream->thread = thread__get(al.thread);
	stream->func = func;
	stream->nr_lost = fnstat->nr_lost;
	memcpy(stream->counts, counts, sizeof(counts));
out:
	addr_location__exit(&al);
	return ret;
}

/*
 * Forget the last sample. The event was stopped after it, so that the current
 * interval started elsewhere.
 */
static int fnstat__process_unthrottle(const struct perf_tool *tool, union perf_event *event,
				      struct perf_sample *sample __maybe_unused,
				      struct machine *machine __maybe_unused)
{
	struct perf_fnstat *fnstat = container_of(tool, struct perf_fnstat, tool);
	struct hashmap_entry *cur;
	size_t bkt;

	hashmap__for_each_entry(fnstat->streams, cur, bkt) {
		struct fnstat_stream *stream = cur->pvalue;

		if (stream->id == event->throttle.id)
			stream->func = NULL;
	}
	return 0;
}

/* Let all windows start anew: the lost records can be those of any event. */
static int fnstat__process_lost(const struct perf_tool *tool,
				union perf_event *event __maybe_unused,
				struct perf_sample *sample __maybe_unused,
				struct machine *machine __maybe_unused)
{
	struct perf_fnstat *fnstat = container_of(tool, struct perf_fnstat, tool);

	fnstat->nr_lost++;
	return 0;
}

/* Find the roles that all usable groups have, or print why there is no such group. */
static int fnstat__check_evlist(struct perf_fnstat *fnstat, struct evlist *evlist)
{
	unsigned int all = ~0U, best = 0;
	bool group_read = false;
	struct evsel *leader, *evsel;

	evlist__for_each_entry(evlist, leader) {
		unsigned int roles = 0;

		if (!evsel__is_group_leader(leader) ||
		    !evsel__has_group_read(evsel__fnstat_sampler(leader)))
			continue;

		group_read = true;
		for_each_group_evsel(evsel, leader) {
			int role = evsel__fnstat_role(evsel);

			if (role >= 0)
				roles |= BIT(role);
		}
		if ((roles & ROLES_REQUIRED) == ROLES_REQUIRED)
			all &= roles;
		best |= roles;
	}

	if (!group_read) {
		pr_err("fnstat: the samples do not have the counts of a group, record with 'perf fnstat record' or perf record -e '{cycles/period=N/,instructions}:S'\n");
		return -EINVAL;
	}
	if (all == ~0U) {
		pr_err("fnstat: there is no event '%s' in the group that was recorded\n",
		       fnstat_events[best & BIT(CYCLES) ? INSTRUCTIONS : CYCLES].name);
		return -EINVAL;
	}
	fnstat->roles = all;
	return 0;
}

/*
 * Scale the counts, so that functions that lose more windows than others keep their
 * share of the total.
 */
static void fnstat_func__scale(struct fnstat_func *func, struct fnstat_func *total)
{
	total->windows += func->windows;
	total->kept += func->kept;
	for (int role = 0; func->kept && role < NR_ROLES; role++) {
		func->counts[role] *= (double)func->windows / func->kept;
		total->counts[role] += func->counts[role];
	}
}

static int fnstat_func__cmp(const void *p1, const void *p2)
{
	const struct fnstat_func *a = *(const struct fnstat_func **)p1;
	const struct fnstat_func *b = *(const struct fnstat_func **)p2;

	if (a->windows != b->windows)
		return a->windows > b->windows ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int fnstat_func__set_name(struct fnstat_func *func, const char *sep)
{
	const char *dso = func->dso ? dso__short_name(func->dso) : NULL;
	int ret;

	if (!dso)
		ret = asprintf(&func->name, "[unknown]");
	else if (!func->sym || verbose > 0)
		ret = asprintf(&func->name, "%s (%s)", func->sym ? func->sym->name : "[unknown]",
			       dso);
	else
		ret = asprintf(&func->name, "%s", func->sym->name);
	if (ret < 0) {
		func->name = NULL;
		return -ENOMEM;
	}

	/* As in perf report, the separator must not occur in a field. */
	for (char *s = func->name; sep && (s = strpbrk(s, sep)); s++)
		*s = '.';
	return 0;
}

static int fnstat__sort(struct perf_fnstat *fnstat)
{
	struct hashmap_entry *cur;
	size_t bkt;

	fnstat->sorted = calloc(hashmap__size(fnstat->funcs) + 1, sizeof(*fnstat->sorted));
	if (!fnstat->sorted)
		return -ENOMEM;

	hashmap__for_each_entry(fnstat->funcs, cur, bkt) {
		struct fnstat_func *func = cur->pvalue;

		if (!func->windows)
			continue;
		if (fnstat_func__set_name(func, fnstat->sep))
			return -ENOMEM;
		fnstat_func__scale(func, &fnstat->total);
		fnstat->sorted[fnstat->nr_sorted++] = func;
	}
	qsort(fnstat->sorted, fnstat->nr_sorted, sizeof(*fnstat->sorted), fnstat_func__cmp);
	return 0;
}

/* A column is factor * dividend / divisor, the latter of the function or the total. */
static const struct {
	const char	*name;
	double		factor;
	enum fnstat_role dividend;
	enum fnstat_role divisor;
	bool		of_total;
} fnstat_columns[] = {
	{ "CPI",	1,	CYCLES,		INSTRUCTIONS,	false },
	{ "BM/KI",	1000,	BRANCH_MISSES,	INSTRUCTIONS,	false },
	{ "CM/KI",	1000,	CACHE_MISSES,	INSTRUCTIONS,	false },
	{ "%CM",	100,	CACHE_MISSES,	CACHE_REFS,	false },
	{ "%CY",	100,	CYCLES,		CYCLES,		true },
	{ "%I",		100,	INSTRUCTIONS,	INSTRUCTIONS,	true },
	{ "%BM",	100,	BRANCH_MISSES,	BRANCH_MISSES,	true },
	{ "%L1DA",	100,	CACHE_REFS,	CACHE_REFS,	true },
	{ "%L1DM",	100,	CACHE_MISSES,	CACHE_MISSES,	true },
};

static bool fnstat__has_column(const struct perf_fnstat *fnstat, size_t col)
{
	return (fnstat->roles & BIT(fnstat_columns[col].dividend)) &&
	       (fnstat->roles & BIT(fnstat_columns[col].divisor));
}

/* @func is NULL for the header. */
static void fnstat__print_row(const struct perf_fnstat *fnstat, const struct fnstat_func *func,
			      const char *name, int name_width)
{
	const char *sep = fnstat->sep ?: " ";
	bool align = !fnstat->sep;
	char buf[32];

	printf("%-*s%s", align ? name_width : 0, name, sep);
	if (func)
		printf("%*" PRIu64, align ? 8 : 0, func->windows);
	else
		printf("%*s", align ? 8 : 0, "#");

	for (size_t col = 0; col < ARRAY_SIZE(fnstat_columns); col++) {
		typeof(fnstat_columns[col]) *c = &fnstat_columns[col];
		const char *str = c->name;

		if (!fnstat__has_column(fnstat, col))
			continue;
		if (func) {
			double divisor = c->of_total ? fnstat->total.counts[c->divisor] :
						       func->counts[c->divisor];

			str = "-";
			if (func->kept && divisor) {
				scnprintf(buf, sizeof(buf), "%.2f",
					  c->factor * func->counts[c->dividend] / divisor);
				str = buf;
			}
		}
		printf("%s%*s", sep, align ? 7 : 0, str);
	}

	if (func) {
		scnprintf(buf, sizeof(buf), "%.1f",
			  100.0 * (func->windows - func->kept) / func->windows);
	}
	printf("%s%*s\n", sep, align ? 6 : 0, func ? buf : "DIS");
}

static void fnstat__print_header(const struct perf_fnstat *fnstat, struct evlist *evlist)
{
	struct evsel *leader;

	evlist__for_each_entry(evlist, leader) {
		struct evsel *sampler = evsel__fnstat_sampler(leader);
		const struct perf_event_attr *attr = &sampler->core.attr;

		if (!evsel__is_group_leader(leader) || !evsel__has_group_read(sampler))
			continue;
		printf("# %s: %s %" PRIu64, evsel__name(sampler),
		       attr->freq ? "frequency" : "period", (u64)attr->sample_period);
		if (attr->alt_sample_period)
			printf(", windows of %" PRIu64, (u64)attr->alt_sample_period);
		else
			printf(", each a window");
		printf("\n");
	}
	printf("# %" PRIu64 " windows, %" PRIu64 " kept (attribution: %s)\n#\n",
	       fnstat->total.windows, fnstat->total.kept, fnstat->any ? "any" : "same");
}

static void fnstat__print(const struct perf_fnstat *fnstat, struct evlist *evlist)
{
	int width = strlen("Symbol");

	for (size_t i = 0; i < fnstat->nr_sorted; i++)
		width = max(width, (int)strlen(fnstat->sorted[i]->name));

	if (!fnstat->sep) {
		setup_pager();
		fnstat__print_header(fnstat, evlist);
	}
	fnstat__print_row(fnstat, NULL, "Symbol", width);
	for (size_t i = 0; i < fnstat->nr_sorted; i++)
		fnstat__print_row(fnstat, fnstat->sorted[i], fnstat->sorted[i]->name, width);
	fnstat__print_row(fnstat, &fnstat->total, "TOTAL", width);
}

static int __cmd_fnstat_report(struct perf_fnstat *fnstat)
{
	struct perf_data data = {
		.path  = input_name,
		.mode  = PERF_DATA_MODE_READ,
		.force = fnstat->force,
	};
	struct perf_session *session;
	int ret;

	perf_tool__init(&fnstat->tool, /*ordered_events=*/true);
	fnstat->tool.sample	= fnstat__process_sample;
	fnstat->tool.lost	= fnstat__process_lost;
	fnstat->tool.lost_samples = fnstat__process_lost;
	fnstat->tool.unthrottle	= fnstat__process_unthrottle;
	fnstat->tool.mmap	= perf_event__process_mmap;
	fnstat->tool.mmap2	= perf_event__process_mmap2;
	fnstat->tool.comm	= perf_event__process_comm;
	fnstat->tool.namespaces	= perf_event__process_namespaces;
	fnstat->tool.fork	= perf_event__process_fork;
	fnstat->tool.exit	= perf_event__process_exit;
	fnstat->tool.attr	= perf_event__process_attr;
	fnstat->tool.feature	= perf_event__process_feature;
	fnstat->tool.build_id	= perf_event__process_build_id;
	fnstat->tool.ordering_requires_timestamps = true;
	/* Call sample() once for each sample, with the counts of all events. */
	fnstat->tool.dont_split_sample_group = true;

	session = perf_session__new(&data, &fnstat->tool);
	if (IS_ERR(session))
		return PTR_ERR(session);

	ret = fnstat__init(fnstat);
	if (ret)
		goto out;
	ret = symbol__init(perf_session__env(session));
	if (ret < 0)
		goto out;

	/* The events of a pipe are only known after its records have been read. */
	if (!perf_data__is_pipe(&data))
		ret = fnstat__check_evlist(fnstat, session->evlist);
	if (!ret)
		ret = perf_session__process_events(session);
	if (!ret && perf_data__is_pipe(&data))
		ret = fnstat__check_evlist(fnstat, session->evlist);
	if (!ret)
		ret = fnstat__sort(fnstat);
	if (ret)
		goto out;

	if (!fnstat->total.windows) {
		pr_err("fnstat: there is no window in '%s', record for longer or with a shorter period\n",
		       data.path ?: "-");
		ret = -ENODATA;
		goto out;
	}
	if (fnstat->nr_lost) {
		pr_warning("fnstat: records were lost %" PRIu64 " times, the windows around are left out\n",
			   fnstat->nr_lost);
	}
	fnstat__print(fnstat, session->evlist);
out:
	fnstat__exit(fnstat);
	perf_session__delete(session);
	return ret;
}

static int cmd_fnstat_report(int argc, const char **argv)
{
	struct perf_fnstat fnstat = { .attribution = "same" };
	const struct option options[] = {
		OPT_STRING('i', "input", &input_name, "file", "input file name"),
		OPT_STRING(0, "attribution", &fnstat.attribution, "same|any",
			   "count windows with both ends in the same function, or any"),
		OPT_STRING('x', "field-separator", &fnstat.sep, "separator",
			   "print fields with this separator and no header, for scripts"),
		OPT_BOOLEAN('f', "force", &fnstat.force, "don't complain, do it"),
		OPT_INCR('v', "verbose", &verbose, "be more verbose (show the DSO of functions)"),
		OPT_END()
	};
	const char * const usage[] = {
		"perf fnstat report [<options>]",
		NULL
	};

	argc = parse_options(argc, argv, options, usage, 0);
	if (argc)
		usage_with_options(usage, options);

	fnstat.any = !strcmp(fnstat.attribution, "any");
	if (!fnstat.any && strcmp(fnstat.attribution, "same")) {
		pr_err("fnstat: unknown attribution '%s', it can be 'same' or 'any'\n",
		       fnstat.attribution);
		return -EINVAL;
	}
	if (fnstat.sep && !strcmp(fnstat.sep, "\\t"))
		fnstat.sep = "\t";

	return __cmd_fnstat_report(&fnstat);
}

/*
 * Append the events that can be opened in one group with cycles, in the order of
 * the roles. Fail only if there are no cycles: perf record has better messages for
 * all other errors.
 */
static int fnstat__add_counters(struct strbuf *events, bool kernel)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_HW_CPU_CYCLES,
		.disabled	= 1,
		.exclude_kernel	= !kernel,
		.exclude_hv	= !kernel,
	};
	unsigned long flags = perf_event_open_cloexec_flag();
	int fds[NR_ROLES], ret = 0;

	fds[CYCLES] = sys_perf_event_open(&attr, 0, -1, -1, flags);
	if (fds[CYCLES] < 0 && errno == ENOENT) {
		pr_err("fnstat: this machine does not count cycles\n");
		return -ENOENT;
	}

	attr.disabled = 0;
	for (int role = INSTRUCTIONS; role < NR_ROLES && !ret; role++) {
		attr.config = fnstat_events[role].config;
		fds[role] = -1;
		if (fds[CYCLES] >= 0)
			fds[role] = sys_perf_event_open(&attr, 0, -1, fds[CYCLES], flags);
		/* The report needs instructions. */
		if (fds[role] >= 0 || role == INSTRUCTIONS)
			ret = strbuf_addf(events, ",%s", fnstat_events[role].name);
	}

	for (int role = 0; role < NR_ROLES; role++) {
		if (fds[role] >= 0)
			close(fds[role]);
	}
	return ret;
}

static const struct option *fnstat__find_option(const struct option *opt, const char *arg,
						const char **value)
{
	for (; opt->type != OPTION_END; opt++) {
		size_t len = opt->long_name && strstarts(arg, "--") ? strlen(opt->long_name) : 0;

		if (len && !strncmp(arg + 2, opt->long_name, len) &&
		    (!arg[2 + len] || arg[2 + len] == '=')) {
			*value = arg + 2 + len;
			return opt;
		}
		if (!len && opt->short_name && arg[1] == opt->short_name) {
			*value = arg + 2;
			return opt;
		}
	}
	return NULL;
}

/* Return the number of arguments at the start that are options or their values. */
static int fnstat__nr_own_args(int argc, const char **argv, const struct option *options)
{
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		const struct option *opt;
		const char *value;

		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help"))
			continue;
		opt = fnstat__find_option(options, argv[i], &value);
		if (!opt)
			break;
		/* "-c 1000" and "--count 1000", not "-c1000" and "--count=1000". */
		if (opt->type != OPTION_BOOLEAN && !*value)
			i++;
	}
	return min(i, argc);
}

#define WINDOW_DEFAULT	(~0ULL)

static int cmd_fnstat_record(int argc, const char **argv)
{
	u64 period = 999700, window = WINDOW_DEFAULT, jitter = 0;
	const char *counters = NULL;
	bool kernel = false;
	const struct option options[] = {
		OPT_U64('c', "count", &period, "length of the long interval, in cycles"),
		OPT_U64('w', "window", &window, "length of a window, in cycles (0: no windows)"),
		OPT_U64(0, "jitter", &jitter, "width of the random spread of the long interval"),
		OPT_STRING(0, "counters", &counters, "events",
			   "events to count in addition to cycles (default: those of the metrics)"),
		OPT_BOOLEAN(0, "kernel", &kernel, "include the kernel"),
		OPT_END()
	};
	const char * const usage[] = {
		"perf fnstat record [<options>] [<options of perf record>] [--] <command>",
		NULL
	};
	struct strbuf events = STRBUF_INIT;
	const char **rec_argv = NULL;
	int own, nr = 0, ret;

	/* The first argument that is not known here, and all that follow, are perf record's. */
	own = fnstat__nr_own_args(argc, argv, options);
	parse_options(own, argv, options, usage, 0);
	/* With the kernel, the return from the interrupt is part of the window. */
	if (window == WINDOW_DEFAULT)
		window = kernel ? 3000 : 300;

	ret = strbuf_addf(&events, "{cycles/period=%" PRIu64, period);
	if (!ret && window)
		ret = strbuf_addf(&events, ",alt-period=%" PRIu64, window);
	if (!ret && jitter)
		ret = strbuf_addf(&events, ",period-jitter=%" PRIu64, jitter);
	if (!ret)
		ret = strbuf_addstr(&events, "/");
	if (!ret && counters)
		ret = strbuf_addf(&events, ",%s", counters);
	else if (!ret)
		ret = fnstat__add_counters(&events, kernel);
	if (!ret)
		ret = strbuf_addstr(&events, kernel ? "}:S" : "}:uS");
	if (ret)
		goto out;

	rec_argv = calloc(argc - own + 4, sizeof(*rec_argv));
	if (!rec_argv) {
		ret = -ENOMEM;
		goto out;
	}
	rec_argv[nr++] = "record";
	rec_argv[nr++] = "-e";
	rec_argv[nr++] = events.buf;
	for (int i = own; i < argc; i++)
		rec_argv[nr++] = argv[i];

	pr_debug("perf record -e '%s'\n", events.buf);
	ret = cmd_record(nr, rec_argv);
out:
	free(rec_argv);
	strbuf_release(&events);
	return ret;
}

int cmd_fnstat(int argc, const char **argv)
{
	const struct option options[] = {
		OPT_INCR('v', "verbose", &verbose, "be more verbose"),
		OPT_END()
	};
	const char *const subcommands[] = { "record", "report", NULL };
	const char *usage[] = { NULL, NULL };
	int ret = -EINVAL;

	argc = parse_options_subcommand(argc, argv, options, subcommands, usage,
					PARSE_OPT_STOP_AT_NON_OPTION);
	if (!argc)
		usage_with_options(usage, options);

	if (strlen(argv[0]) > 2 && strstarts("record", argv[0]))
		ret = cmd_fnstat_record(argc, argv);
	else if (strlen(argv[0]) > 2 && strstarts("report", argv[0]))
		ret = cmd_fnstat_report(argc, argv);
	else
		usage_with_options(usage, options);

	/* free usage string allocated by parse_options_subcommand */
	free((void *)usage[0]);
	return ret;
}
