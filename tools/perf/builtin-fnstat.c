// SPDX-License-Identifier: GPL-2.0
/*
 * perf fnstat: metrics per function, from the counts of short windows.
 *
 * perf record with an event that alternates between long intervals and windows, and perf
 * report with their statistics: see util/fnstat.h.
 */
#include "builtin.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <api/fs/fs.h>
#include <perf/cpumap.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "util/pmu.h"
#include "util/pmus.h"
#include "util/record.h"
#include "util/strbuf.h"
#include "util/fnstat-measure.h"
#include "util/fnstat-events.h"
#include "util/fnstat.h"

/* Options for another command. */
struct fnstat_args {
	int		nr;
	const char	**argv;
	const char	*cpus;		/* argument of -C, or NULL */
	bool		branches;	/* one of the options is for branch stacks */
	bool		kernel;		/* --all-kernel */
};

static int fnstat__keep_option(const struct option *opt, const char *arg, int unset)
{
	struct fnstat_args *args = opt->value;
	const char *name = opt->long_name, *no = "";
	const char **argv = reallocarray(args->argv, args->nr + 1, sizeof(*argv));
	char *kept;

	if (!argv)
		return -ENOMEM;
	args->argv = argv;
	if (unset && strstarts(name, "no-"))
		name += strlen("no-");
	else if (unset)
		no = "no-";
	if (name ? asprintf(&kept, "--%s%s%s%s", no, name, arg ? "=" : "", arg ?: "") < 0 :
		   asprintf(&kept, "-%c%s", opt->short_name, arg ?: "") < 0)
		return -ENOMEM;
	argv[args->nr++] = kept;
	if (opt->short_name == 'C')
		args->cpus = arg;
	if (opt->long_name && !strcmp(opt->long_name, "all-kernel"))
		args->kernel = !unset;
	args->branches |= opt->short_name == 'b' || opt->short_name == 'j' ||
			  (name && arg && !strcmp(name, "call-graph") && strstarts(arg, "lbr"));
	return 0;
}

static bool has_option(const struct option *opts, const struct option *other)
{
	for (; opts->type != OPTION_END; opts++) {
		if ((opts->short_name && opts->short_name == other->short_name) ||
		    (other->long_name && !strcmp(opts->long_name, other->long_name)))
			return true;
	}
	return false;
}

/*
 * Make a table of own options and those of another command, which are kept for it: the parser
 * needs all of them to find the start of the workload.
 */
static struct option *fnstat__join_options(const struct option *own, const struct option *others,
					   struct fnstat_args *args)
{
	size_t nr_own = 0, nr_others = 0;
	struct option *all, *opt;

	while (own[nr_own].type != OPTION_END)
		nr_own++;
	while (others[nr_others].type != OPTION_END)
		nr_others++;
	all = calloc(nr_own + nr_others + 1, sizeof(*all));
	if (!all)
		return NULL;
	memcpy(all, own, nr_own * sizeof(*all));
	opt = all + nr_own;
	for (; others->type != OPTION_END; others++) {
		if (has_option(own, others))
			continue;
		*opt = *others;
		opt->type = OPTION_CALLBACK;
		opt->callback = fnstat__keep_option;
		opt->value = args;
		opt->set = NULL;
		/* Types without a value come first. */
		if (others->type < OPTION_STRING)
			opt->flags |= PARSE_OPT_NOARG;
		opt++;
	}
	opt->type = OPTION_END;
	return all;
}

/* Check if the CPU can count cycles with terms. Return 0, or an error. */
static int can_count_cycles(const char *terms, bool kernel)
{
	struct strbuf event = STRBUF_INIT;
	int ret = strbuf_addf(&event, "cycles%s%s", terms, kernel ? "" : *terms ? "u" : ":u") ?:
		  fnstat_events__can_open(event.buf);

	strbuf_release(&event);
	return ret;
}

#define DEFAULT		(~0ULL)
#define DEFAULT_PERIOD	1999700
/* Shortest interval of a clock, in ns. */
#define MIN_CLOCK	100000

/*
 * Cycles that a window executes after what the interrupt adds: more than this differs between
 * interrupts, and more than a reorder buffer holds. Where no samples of instructions are exact,
 * fewer cycles have less of other functions, but what an interrupt adds differs by a part of it.
 */
#define WINDOW_LENGTH	300
#define WINDOW_ALONE	100
#define MAX_WINDOW	5000

struct fnstat_record {
	u64		period;
	u64		freq;
	u64		window;
	u64		jitter;
	u64		window_jitter;
	const char	*metrics;
	const char	*counters;
	const char	*cpus;
	double		hz;
	bool		kernel;
	bool		own_branches;
	bool		branches;
	bool		exact;
};

/* Choose the lengths of windows that the user has not given. */
static void fnstat__choose_window(struct fnstat_record *rec)
{
	char terms[64];
	double cost = 0;

	/* A window cannot count the kernel. */
	if (rec->window == DEFAULT && rec->kernel)
		rec->window = 0;
	rec->hz = 1e9;
	if (fnstat_measure(&cost, &rec->hz, &rec->branches))
		cost = 0;
	rec->exact = fnstat_measure_exact();
	/* Do not replace windows or branch stacks that the user asked for. */
	if (rec->window != DEFAULT || rec->own_branches)
		rec->branches = false;
	if (rec->window == DEFAULT) {
		double length = rec->exact ? WINDOW_LENGTH :
				clamp(cost, (double)WINDOW_ALONE, (double)WINDOW_LENGTH);
		u64 jitter = length * 2 / 3;

		rec->window = max(cost, 0.0) + 0.5 + length;
		/* A PMU can have a minimum. */
		for (;; rec->window *= 2) {
			scnprintf(terms, sizeof(terms), "/period=999700,alt-period=%" PRIu64 "/",
				  rec->window - jitter / 2);
			if (can_count_cycles(terms, /*kernel=*/false) != -EINVAL ||
			    rec->window > MAX_WINDOW)
				break;
		}
		if (can_count_cycles(terms, /*kernel=*/false) &&
		    !can_count_cycles("", /*kernel=*/false)) {
			rec->window = 0;
			pr_warning("fnstat: no windows, the kernel or the PMU does not support them: the metrics are from %s.\n",
				   rec->branches ?
				   "branch stacks, and those of TopDown are missing" :
				   "samples alone, and less precise");
		} else if (rec->window_jitter == DEFAULT) {
			rec->window_jitter = jitter;
		}
	}
	/* A program that repeats itself must not stay in step with the samples. */
	if (rec->jitter == DEFAULT)
		rec->jitter = rec->window && !rec->freq ? rec->period / 10 : 0;
	/* A window must not be a whole number of its loops either. */
	if (rec->window_jitter == DEFAULT)
		rec->window_jitter = rec->window / 3 * 2;
}

/* Append the terms of the event with windows. */
static int fnstat__add_terms(const struct fnstat_record *rec, u64 window, struct strbuf *terms)
{
	int ret;

	if (rec->freq)
		ret = strbuf_addf(terms, "freq=%" PRIu64, rec->freq);
	else
		ret = strbuf_addf(terms, "period=%" PRIu64, rec->period);
	if (!ret && window)
		ret = strbuf_addf(terms, ",alt-period=%" PRIu64, window);
	if (!ret && rec->jitter)
		ret = strbuf_addf(terms, ",period-jitter=%" PRIu64, rec->jitter);
	if (!ret && window && rec->window_jitter)
		ret = strbuf_addf(terms, ",alt-period-jitter=%" PRIu64, rec->window_jitter);
	return ret;
}

/* Append the terms of other events, to get about as many samples as there are rounds. */
static int fnstat__add_sampling_terms(const struct fnstat_record *rec, struct strbuf *terms)
{
	u64 freq = rec->freq;
	int limit;

	if (!freq) {
		freq = max(rec->hz / rec->period, 1.0);
		/* The kernel refuses more, and lowers the limit if interrupts take too long. */
		if (!sysctl__read_int("kernel/perf_event_max_sample_rate", &limit))
			freq = min_t(u64, freq, max(limit / 2, 1));
	}
	return strbuf_addf(terms, "freq=%" PRIu64, freq);
}

/* Append a clock, which has the time of functions where nothing counts cycles. */
static int fnstat__add_clock(const struct fnstat_record *rec, struct strbuf *events)
{
	if (rec->metrics || rec->counters) {
		pr_err("fnstat: this machine does not count cycles\n");
		return -ENOENT;
	}
	pr_warning("fnstat: this machine does not count cycles. A clock tells the time of functions: there are no metrics.\n");
	if (rec->freq)
		return strbuf_addf(events, "{cpu-clock/freq=%" PRIu64 "/,page-faults}:%sS",
				   rec->freq, rec->kernel ? "" : "u");
	if (rec->period < MIN_CLOCK)
		pr_warning("fnstat: the clock has an interval of %d ns, the shortest one\n",
			   MIN_CLOCK);
	return strbuf_addf(events, "{cpu-clock/period=%" PRIu64 "/,page-faults}:%sS",
			   max_t(u64, rec->period, MIN_CLOCK), rec->kernel ? "" : "u");
}

/* Append the event with windows, or with branch stacks. */
static int fnstat__add_sampler(const struct fnstat_record *rec, const char *pmu, u64 window,
			       bool branches, struct strbuf *event)
{
	return strbuf_addf(event, pmu ? "%s/cycles," : "%scycles/", pmu ?: "") ?:
	       fnstat__add_terms(rec, window, event) ?:
	       strbuf_addstr(event, branches ? ",branch_type=any/" : "/");
}

/* Append the groups of a core PMU, or of all of them. */
static int fnstat__add_groups(const struct fnstat_record *rec, const char *pmu,
			      const char *metrics, struct strbuf *events)
{
	struct strbuf cycles = STRBUF_INIT, branches = STRBUF_INIT, terms = STRBUF_INIT;
	struct fnstat_events group = {
		.pmu		= pmu,
		.modifiers	= rec->kernel ? ":S" : ":uS",
		.windows	= rec->window && !rec->kernel,
	};
	size_t len = events->len;
	int ret = fnstat__add_sampler(rec, pmu, rec->window, /*branches=*/false, &cycles) ?:
		  fnstat__add_sampler(rec, pmu, /*window=*/0, /*branches=*/true, &branches) ?:
		  fnstat__add_sampling_terms(rec, &terms);

	group.sampler = cycles.buf;
	group.branches_sampler = rec->branches ? branches.buf : NULL;
	/* Late samples of other events tell less than windows do. */
	group.terms = rec->window && !rec->branches && !rec->exact ? NULL : terms.buf;
	if (!ret && rec->counters) {
		ret = fnstat_events__add_group(&group, rec->counters, events);
		/* The user's events can need all counters. */
		if (!ret && group.windows && fnstat_events__can_open(events->buf + len)) {
			group.windows = false;
			strbuf_setlen(events, len);
			ret = fnstat_events__add_group(&group, rec->counters, events);
		}
	} else {
		ret = ret ?: fnstat_events__add_metrics(&group, metrics, events);
	}
	strbuf_release(&cycles);
	strbuf_release(&branches);
	strbuf_release(&terms);
	return ret;
}

/* Check if the event that samples can be opened. Return 0, or an error. */
static int fnstat__can_sample(const struct fnstat_record *rec)
{
	struct strbuf terms = STRBUF_INIT;
	int ret = strbuf_addch(&terms, '/') ?: fnstat__add_terms(rec, rec->window, &terms) ?:
		  strbuf_addch(&terms, '/') ?: can_count_cycles(terms.buf, rec->kernel);

	strbuf_release(&terms);
	return ret;
}

/* Append a group of cycles and instructions, to include what runs on a PMU without metrics. */
static int fnstat__add_instructions(const struct fnstat_record *rec, const char *pmu,
				    struct strbuf *events)
{
	struct fnstat_record fallback = *rec;
	struct strbuf group = STRBUF_INIT;
	int ret;

	fallback.counters = "instructions";
	ret = fnstat__add_groups(&fallback, pmu, NULL, &group);
	if (!ret && fnstat_events__can_open(group.buf) == -EBUSY) {
		pr_warning("%s has none of these metrics, and others hold its counters\n", pmu);
	} else if (!ret) {
		pr_info("%s has none of these metrics, but cycles and instructions\n", pmu);
		ret = strbuf_addf(events, ",%s", group.buf);
	}
	strbuf_release(&group);
	return ret;
}

/* Append the groups of each core PMU. A PMU without the metrics counts instructions. */
static int fnstat__add_pmu_groups(const struct fnstat_record *rec, const char *metrics,
				  struct strbuf *events)
{
	struct perf_cpu_map *cpus = rec->cpus ? perf_cpu_map__new(rec->cpus) : NULL;
	struct strbuf without = STRBUF_INIT;
	struct perf_pmu *pmu = NULL;
	char *name, *tmp;
	int ret = 0;

	while (!ret && (pmu = perf_pmus__scan_core(pmu))) {
		struct perf_cpu_map *common = perf_cpu_map__intersect(cpus, pmu->cpus);
		bool used = (!cpus || common) && !perf_pmu__is_offline(pmu);
		size_t len = events->len;

		perf_cpu_map__put(common);
		if (!used)
			continue;
		ret = fnstat__add_groups(rec, pmu->name, metrics, events);
		if (!ret && events->len == len)
			ret = strbuf_addf(&without, "%s ", pmu->name);
	}
	for (name = events->len && without.len ? strtok_r(without.buf, " ", &tmp) : NULL;
	     name && !ret; name = strtok_r(NULL, " ", &tmp))
		ret = fnstat__add_instructions(rec, name, events);
	strbuf_release(&without);
	perf_cpu_map__put(cpus);
	return ret;
}

static int fnstat__add_events(struct fnstat_record *rec, struct strbuf *events)
{
	const char *metrics = rec->metrics ?: fnstat_metric__default_names();
	int ret;

	fnstat__choose_window(rec);
	if (!rec->metrics && !rec->counters && !rec->exact) {
		metrics = "cpi,instructions-share";
		pr_info("fnstat: no metrics of misses by default, as no exact samples of instructions were found: -M branch-mpki,cache-mpki has rough ones\n");
	}
	/* The user's events can have a PMU. */
	if (perf_pmus__num_core_pmus() > 1 && !rec->counters)
		ret = fnstat__add_pmu_groups(rec, metrics, events);
	else
		ret = fnstat__add_groups(rec, NULL, metrics, events);
	if (!ret && !events->len) {
		if (rec->metrics && !fnstat__can_sample(rec)) {
			pr_err("fnstat: none of these metrics can be counted, or others hold the counters\n");
			return -ENOENT;
		}
		/* perf record says why not. */
		rec->counters = "instructions";
		ret = fnstat__add_groups(rec, NULL, NULL, events);
	}
	if (!ret && rec->counters && fnstat_events__can_open(events->buf) == -EBUSY) {
		pr_err("fnstat: cycles and these events never run together, as others hold counters\n");
		ret = -EBUSY;
	}
	return ret;
}

/* Parse a frequency like perf record, but refuse anything that is no number. */
static int parse_freq(const struct option *opt, const char *arg, int unset)
{
	struct record_opts record_opts = {};
	const struct option record_opt = { .value = &record_opts };
	u64 *freq = opt->value;
	char *end;

	if (unset) {
		*freq = 0;
		return 0;
	}
	if (!strcasecmp(arg, "max")) {
		if (record__parse_freq(&record_opt, arg, unset))
			return -1;
		/* A round has two samples. */
		*freq = record_opts.user_freq / 2;
		return 0;
	}
	*freq = strtoull(arg, &end, 0);
	if (!*freq || *end || !isdigit(*arg)) {
		pr_err("fnstat: the frequency is a number above 0, or max\n");
		return -1;
	}
	return 0;
}

/* Check what the user has given, and the kernel refuses without a reason, or takes. */
static int fnstat__check_lengths(const struct fnstat_record *rec)
{
	u64 period = rec->period == DEFAULT ? DEFAULT_PERIOD : rec->period;
	int limit;

	if (!rec->freq && rec->window != DEFAULT && rec->window >= period) {
		pr_err("fnstat: a window is not shorter than the interval before it, %" PRIu64 "\n",
		       period);
		return -EINVAL;
	}
	if (rec->freq && !sysctl__read_int("kernel/perf_event_max_sample_rate", &limit) &&
	    rec->freq > (u64)limit) {
		pr_err("fnstat: the kernel takes at most %d samples in a second, see kernel.perf_event_max_sample_rate, and so many intervals with a window can have twice as many\n",
		       limit);
		return -EINVAL;
	}
	return 0;
}

/* Refuse events of a core PMU that counts nowhere now: perf record would have none. */
static int fnstat__check_counters(const struct fnstat_record *rec)
{
	struct perf_pmu *pmu = NULL;
	char name[128];

	while (rec->counters && (pmu = perf_pmus__scan_core(pmu))) {
		scnprintf(name, sizeof(name), "%s/", pmu->name);
		if (strstr(rec->counters, name) && perf_pmu__is_offline(pmu)) {
			pr_err("fnstat: all CPUs of %s, which --counters names, are offline\n",
			       pmu->name);
			return -ENODEV;
		}
	}
	return 0;
}

static int cmd_fnstat_record(int argc, const char **argv)
{
	struct fnstat_record rec = {
		.period		= DEFAULT,
		.window		= DEFAULT,
		.jitter		= DEFAULT,
		.window_jitter	= DEFAULT,
	};
	const struct option options[] = {
		OPT_U64('c', "count", &rec.period,
			"length of the interval between windows, in cycles"),
		OPT_CALLBACK('F', "freq", &rec.freq, "freq or 'max'",
			     "so many windows per second, instead of a length", parse_freq),
		OPT_U64('w', "window", &rec.window,
			"length of a window, in cycles (0: no windows)"),
		OPT_U64(0, "jitter", &rec.jitter,
			"width of the random spread of the interval between windows"),
		OPT_U64(0, "window-jitter", &rec.window_jitter,
			"width of the random spread of the window"),
		OPT_STRING('M', "metrics", &rec.metrics, "name[,name...]",
			   "count the events of these metrics"),
		OPT_STRING(0, "counters", &rec.counters, "events",
			   "count these events, and cycles"),
		OPT_BOOLEAN(0, "kernel", &rec.kernel, "include the kernel"),
		OPT_END()
	};
	const char * const usage[] = {
		"perf fnstat record [<options>] [<options of perf record>] [--] <command>",
		NULL
	};
	struct strbuf events = STRBUF_INIT;
	const char **rec_argv = NULL;
	struct fnstat_args args = {};
	struct option *all_options = fnstat__join_options(options, record_options, &args);
	int nr = 0, ret = -ENOMEM;

	if (!all_options)
		return ret;
	argc = parse_options(argc, argv, all_options, usage, PARSE_OPT_STOP_AT_NON_OPTION);
	if ((rec.counters && !*rec.counters) || (rec.metrics && !*rec.metrics)) {
		pr_err("fnstat: the list of %s is empty\n", rec.metrics ? "metrics" : "counters");
		ret = -EINVAL;
		goto out;
	}
	if (rec.counters && rec.metrics) {
		pr_err("fnstat: --counters and --metrics exclude each other\n");
		ret = -EINVAL;
		goto out;
	}
	if (rec.period != DEFAULT && rec.freq) {
		pr_err("fnstat: --count and --freq exclude each other\n");
		ret = -EINVAL;
		goto out;
	}

	ret = fnstat__check_lengths(&rec) ?: fnstat__check_counters(&rec);
	if (ret)
		goto out;

	rec.own_branches = args.branches;
	rec.cpus = args.cpus;
	rec.kernel |= args.kernel;
	if (rec.period == DEFAULT)
		rec.period = DEFAULT_PERIOD;

	ret = can_count_cycles("", rec.kernel);
	/* perf record would drop the kernel silently. */
	if (rec.kernel && !args.kernel && (ret == -EACCES || ret == -EPERM)) {
		int user = can_count_cycles("", /*kernel=*/false);

		/* Permissions are checked before what the machine has. */
		if (!user || user == -ENOENT) {
			pr_warning("fnstat: no permission to count the kernel, only user space. See perf_event_paranoid in perf_event_open(2).\n");
			rec.kernel = false;
			ret = user;
		}
	}
	if (ret == -EBUSY)
		pr_err("fnstat: others hold the counters that can count cycles\n");
	else if (ret == -ENOENT)
		ret = fnstat__add_clock(&rec, &events);
	else
		ret = fnstat__add_events(&rec, &events);
	if (ret)
		goto out;

	rec_argv = calloc(args.nr + argc + 7, sizeof(*rec_argv));
	if (!rec_argv) {
		ret = -ENOMEM;
		goto out;
	}
	rec_argv[nr++] = "record";
	/* Tells which part of the time the event was throttled. */
	rec_argv[nr++] = "--running-time";
	/* With a period of the first event, perf record would leave out those of all. */
	rec_argv[nr++] = "--period";
	rec_argv[nr++] = "-e";
	rec_argv[nr++] = events.buf;
	for (int i = 0; i < args.nr; i++)
		rec_argv[nr++] = args.argv[i];
	if (argc)
		rec_argv[nr++] = "--";
	for (int i = 0; i < argc; i++)
		rec_argv[nr++] = argv[i];

	pr_debug("perf record -e '%s'\n", events.buf);
	ret = cmd_record(nr, rec_argv);
out:
	for (int i = 0; i < args.nr; i++)
		free((char *)args.argv[i]);
	free(args.argv);
	free(all_options);
	free(rec_argv);
	strbuf_release(&events);
	return ret;
}

/* For completion: list own options before another command lists its own. */
static bool list_options(int argc, const char **argv, const char *own)
{
	if (argc != 2 || strcmp(argv[1], "--list-opts"))
		return false;
	printf("%s", own);
	return true;
}

static int cmd_fnstat_report(int argc, const char **argv)
{
	const char *metrics = NULL, *separator = NULL, *fields = NULL;
	bool all = false;
	const struct option options[] = {
		OPT_STRING_NOEMPTY('M', "metrics", &metrics, "name[,name...]",
				   "the metrics to show"),
		OPT_BOOLEAN(0, "all", &all, "all metrics, and how many windows they are from"),
		OPT_STRING('x', "field-separator", &separator, "separator",
			   "separate the columns by this, as -t"),
		OPT_STRING('F', "fields", &fields, "key[,key...]",
			   "the columns, in the order of the keys to sort by"),
		OPT_END()
	};
	const char * const usage[] = {
		"perf fnstat report [<options>] [<options of perf report>]",
		NULL
	};
	const char **rep_argv;
	int nr = 0, ret;

	if (list_options(argc, argv, "--all "))
		return cmd_report(argc, argv);
	argc = parse_options(argc, argv, options, usage, PARSE_OPT_KEEP_UNKNOWN);
	rep_argv = calloc(argc + 12, sizeof(*rep_argv));
	if (!rep_argv)
		return -ENOMEM;
	rep_argv[nr++] = "report";
	rep_argv[nr++] = "--fnstat";
	/* Show the metrics of functions themselves, unless the user asks for children. */
	rep_argv[nr++] = "--no-children";
	/* A sort key would come before the fields. */
	if (!fields || *fields == '+') {
		rep_argv[nr++] = "--sort";
		rep_argv[nr++] = "sym";
	}
	if (fields) {
		rep_argv[nr++] = "--fields";
		rep_argv[nr++] = fields;
	}
	if (metrics || all) {
		rep_argv[nr++] = "--metrics";
		rep_argv[nr++] = metrics ?: "all";
	}
	if (separator) {
		rep_argv[nr++] = "--field-separator";
		rep_argv[nr++] = separator;
	}
	for (int i = 0; i < argc; i++)
		rep_argv[nr++] = argv[i];
	ret = cmd_report(nr, rep_argv);
	free(rep_argv);
	return ret;
}

static int cmd_fnstat_diff(int argc, const char **argv)
{
	const char *metric = NULL;
	const struct option options[] = {
		OPT_STRING_NOEMPTY('M', "metrics", &metric, "name", "the metric to compare"),
		OPT_END()
	};
	const char * const usage[] = {
		"perf fnstat diff [-M <metric>] [<options of perf diff>] [<file>] <file>...",
		NULL
	};
	const char **diff_argv = NULL;
	char *compute = NULL;
	int nr = 0, ret = -ENOMEM;

	if (list_options(argc, argv, "--metrics "))
		return cmd_diff(argc, argv);
	argc = parse_options(argc, argv, options, usage, PARSE_OPT_KEEP_UNKNOWN);
	if (metric && strchr(metric, ',')) {
		pr_err("fnstat: a diff compares one metric, and '%s' is a list\n", metric);
		return -EINVAL;
	}
	diff_argv = calloc(argc + 6, sizeof(*diff_argv));
	if (!diff_argv || asprintf(&compute, "metric:%s", metric ?: "cpi") < 0)
		goto out;
	diff_argv[nr++] = "diff";
	diff_argv[nr++] = "--compute";
	diff_argv[nr++] = compute;
	diff_argv[nr++] = "--sort";
	diff_argv[nr++] = "sym";
	for (int i = 0; i < argc; i++)
		diff_argv[nr++] = argv[i];

	ret = cmd_diff(nr, diff_argv);
out:
	free(diff_argv);
	free(compute);
	return ret;
}

int cmd_fnstat(int argc, const char **argv)
{
	const struct option options[] = {
		OPT_INCR('v', "verbose", &verbose, "be more verbose"),
		OPT_END()
	};
	const char *const subcommands[] = { "record", "report", "diff", NULL };
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
	else if (!strcmp(argv[0], "diff"))
		ret = cmd_fnstat_diff(argc, argv);
	else
		usage_with_options(usage, options);

	/* free usage string allocated by parse_options_subcommand */
	free((void *)usage[0]);
	return ret;
}
