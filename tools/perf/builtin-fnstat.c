// SPDX-License-Identifier: GPL-2.0
/*
 * perf fnstat: metrics per function, from the counts of short windows.
 *
 * perf record with an event that alternates between long intervals and windows, and perf
 * report with their statistics: see util/window.c and util/window-stats.c.
 */
#include "builtin.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <subcmd/parse-options.h>

#include "util/debug.h"
#include "util/evlist.h"
#include "util/parse-events.h"
#include "util/record.h"
#include "util/strbuf.h"
#include "util/strlist.h"
#include "util/target.h"
#include "util/window-stats.h"

/* The arguments of a command that an own option takes, and the others. */
struct fnstat_args {
	int		nr_own;
	int		nr_others;
	const char	**own;
	const char	**others;
};

static const struct option *find_option(const struct option *opt, const char *arg,
					bool *has_value)
{
	for (; opt->type != OPTION_END; opt++) {
		size_t len = opt->long_name && strstarts(arg, "--") ? strlen(opt->long_name) : 0;

		if (len && !strncmp(arg + 2, opt->long_name, len) &&
		    (!arg[2 + len] || arg[2 + len] == '=')) {
			*has_value = arg[2 + len];
			return opt;
		}
		if (!strstarts(arg, "--") && opt->short_name && arg[1] == opt->short_name) {
			*has_value = arg[2];
			return opt;
		}
	}
	return NULL;
}

static bool option_takes_value(const struct option *opt)
{
	/* Those without a value come first. */
	return opt->type >= OPTION_STRING &&
	       !(opt->flags & (PARSE_OPT_NOARG | PARSE_OPT_OPTARG));
}

/*
 * Own options can stand anywhere before the workload. Where that begins, only the options
 * of the other command tell: those that they know may take the next argument.
 */
static int split_args(struct fnstat_args *args, int argc, const char **argv,
		      const struct option *own, const struct option *others)
{
	int i;

	args->nr_own = 1;
	args->nr_others = 0;
	args->own = calloc(argc + 1, sizeof(*args->own));
	args->others = calloc(argc + 1, sizeof(*args->others));
	if (!args->own || !args->others)
		return -ENOMEM;

	args->own[0] = argv[0];
	for (i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--"); i++) {
		bool has_value = false, is_own = !strcmp(argv[i], "-h") ||
						 !strcmp(argv[i], "--help");
		const struct option *opt = find_option(own, argv[i], &has_value);

		if (opt)
			is_own = true;
		else if (!is_own)
			opt = find_option(others, argv[i], &has_value);
		if (is_own)
			args->own[args->nr_own++] = argv[i];
		else
			args->others[args->nr_others++] = argv[i];
		if (!opt || has_value || !option_takes_value(opt) || i + 1 == argc)
			continue;
		if (is_own)
			args->own[args->nr_own++] = argv[++i];
		else
			args->others[args->nr_others++] = argv[++i];
	}
	for (; i < argc; i++)
		args->others[args->nr_others++] = argv[i];
	return 0;
}

static void free_args(struct fnstat_args *args)
{
	free(args->own);
	free(args->others);
}

/* Tell if the CPU can count these events together with cycles, or return an error. */
static int can_count(const char *events, bool kernel)
{
	char str[32 + strlen(events)], tid[16];
	struct target target = { .tid = tid };
	struct evlist *evlist = evlist__new();
	struct parse_events_error err;
	int ret = -ENOMEM;

	scnprintf(tid, sizeof(tid), "%d", (int)gettid());
	scnprintf(str, sizeof(str), "{cycles%s%s}%s", *events ? "," : "", events,
		  kernel ? "" : ":u");
	parse_events_error__init(&err);
	if (evlist && !__parse_events(evlist, str, /*pmu_filter=*/NULL,
				      /*cputype_filter=*/false, &err, /*fake_pmu=*/false,
				      /*warn_if_reordered=*/false, /*fake_tp=*/false) &&
	    !evlist__create_maps(evlist, &target)) {
		ret = evlist__open(evlist);
		if (!ret)
			evlist__close(evlist);
	}
	parse_events_error__exit(&err);
	evlist__put(evlist);
	return ret;
}

/*
 * Make lists of the events of metrics that can be counted together with cycles: one, or
 * more if there are not enough counters. A metric that cannot be counted is left out.
 */
static int fnstat__add_groups(struct strlist *groups, const char *metrics, bool kernel)
{
	char *names = strdup(metrics), *name, *tmp;
	struct strbuf group = STRBUF_INIT, all = STRBUF_INIT, one = STRBUF_INIT;
	struct strbuf left_out = STRBUF_INIT;
	int ret = names ? 0 : -ENOMEM;

	for (name = names ? strtok_r(names, ", ", &tmp) : NULL; name && !ret;
	     name = strtok_r(NULL, ", ", &tmp)) {
		strbuf_setlen(&one, 0);
		strbuf_setlen(&all, 0);
		ret = strbuf_add(&all, group.buf, group.len);
		ret = ret ?: window_metric__add_events(name, &all) ?:
			     window_metric__add_events(name, &one);
		if (ret == -ENOENT) {
			pr_err("Unknown metric '%s', see perf list, or use one of: %s.\n", name,
			       window_metric__names());
		} else if (ret == -EINVAL) {
			pr_err("The expression of metric '%s' is wrong.\n", name);
		} else if (!ret && !can_count(all.buf, kernel)) {
			strbuf_setlen(&group, 0);
			ret = strbuf_add(&group, all.buf, all.len);
		} else if (!ret && group.len && !can_count(one.buf, kernel)) {
			ret = strlist__add(groups, group.buf);
			strbuf_setlen(&group, 0);
			ret = ret ?: strbuf_add(&group, one.buf, one.len);
		} else if (!ret) {
			ret = strbuf_addf(&left_out, "%s%s", left_out.len ? ", " : "", name);
		}
	}
	if (!ret && group.len)
		ret = strlist__add(groups, group.buf);
	if (!ret && left_out.len)
		pr_info("fnstat: left out, their events cannot be counted: %s\n", left_out.buf);
	strbuf_release(&left_out);
	strbuf_release(&one);
	strbuf_release(&all);
	strbuf_release(&group);
	free(names);
	return ret;
}

/* Append a group that cycles lead, with windows. */
static int fnstat__add_group(struct strbuf *events, const char *cycles, const char *counters,
			     const char *insns, bool kernel)
{
	char *list = strdup(counters), *event, *tmp;
	int ret = list ? strbuf_addf(events, "%s{%s", events->len ? "," : "", cycles) : -ENOMEM;

	for (event = list ? strtok_r(list, ",", &tmp) : NULL; event && !ret;
	     event = strtok_r(NULL, ",", &tmp)) {
		ret = strbuf_addf(events, ",%s%s", event,
				  strcmp(event, "instructions") ? "" : insns);
	}
	free(list);
	return ret ?: strbuf_addstr(events, kernel ? "}:S" : "}:uS");
}

#define DEFAULT		(~0ULL)

static int cmd_fnstat_record(int argc, const char **argv)
{
	u64 period = 999700, window = DEFAULT, jitter = DEFAULT, window_jitter = DEFAULT;
	const char *counters = NULL, *metrics = NULL;
	bool kernel = false, sample_insns = false;
	const struct option options[] = {
		OPT_U64('c', "count", &period, "length of the long interval, in cycles"),
		OPT_U64('w', "window", &window, "length of a window, in cycles (0: no windows)"),
		OPT_U64(0, "jitter", &jitter, "width of the random spread of the long interval"),
		OPT_U64(0, "window-jitter", &window_jitter,
			"width of the random spread of the window"),
		OPT_STRING('M', "metrics", &metrics, "name[,name...]",
			   "count the events of these metrics"),
		OPT_STRING(0, "counters", &counters, "events",
			   "count these events, and cycles"),
		OPT_BOOLEAN(0, "kernel", &kernel, "include the kernel"),
		OPT_BOOLEAN(0, "sample-instructions", &sample_insns,
			    "sample instructions too, for functions that are short"),
		OPT_END()
	};
	const char * const usage[] = {
		"perf fnstat record [<options>] [<options of perf record>] [--] <command>",
		NULL
	};
	struct strbuf events = STRBUF_INIT, cycles = STRBUF_INIT, insns = STRBUF_INIT;
	struct strlist *groups = strlist__new(NULL, NULL);
	const char **rec_argv = NULL;
	struct fnstat_args args;
	struct str_node *node;
	int nr = 0, ret;

	ret = split_args(&args, argc, argv, options, record_options);
	if (ret)
		goto out;
	parse_options(args.nr_own, args.own, options, usage, 0);
	/* With the kernel, the return from the interrupt is part of the window. */
	if (window == DEFAULT)
		window = kernel ? 3000 : 300;
	/* A program that repeats itself must not stay in step with the samples. */
	if (jitter == DEFAULT)
		jitter = window ? period / 10 : 0;
	/* Nor must a window be a whole number of its loops. */
	if (window_jitter == DEFAULT)
		window_jitter = window / 3 * 2;

	ret = strbuf_addf(&cycles, "cycles/period=%" PRIu64, period);
	if (!ret && window)
		ret = strbuf_addf(&cycles, ",alt-period=%" PRIu64, window);
	if (!ret && jitter)
		ret = strbuf_addf(&cycles, ",period-jitter=%" PRIu64, jitter);
	if (!ret && window && window_jitter)
		ret = strbuf_addf(&cycles, ",alt-period-jitter=%" PRIu64, window_jitter);
	if (!ret)
		ret = strbuf_addstr(&cycles, "/");
	if (!ret && sample_insns) {
		ret = strbuf_addf(&insns, "/period=%" PRIu64 ",period-jitter=%" PRIu64 "/",
				  period, jitter);
	}
	if (!ret && !groups)
		ret = -ENOMEM;
	if (ret)
		goto out;

	if (can_count("", kernel) == -ENOENT) {
		pr_err("fnstat: this machine does not count cycles\n");
		ret = -ENOENT;
		goto out;
	}
	if (counters)
		ret = strlist__add(groups, counters);
	else
		ret = fnstat__add_groups(groups, metrics ?: window_metric__default_names(), kernel);
	/* perf record says why not. */
	if (!ret && strlist__empty(groups))
		ret = strlist__add(groups, "instructions");
	strlist__for_each_entry(node, groups) {
		ret = ret ?: fnstat__add_group(&events, cycles.buf, node->s, insns.buf, kernel);
	}
	if (ret)
		goto out;

	rec_argv = calloc(args.nr_others + 4, sizeof(*rec_argv));
	if (!rec_argv) {
		ret = -ENOMEM;
		goto out;
	}
	rec_argv[nr++] = "record";
	rec_argv[nr++] = "-e";
	rec_argv[nr++] = events.buf;
	for (int i = 0; i < args.nr_others; i++)
		rec_argv[nr++] = args.others[i];

	pr_debug("perf record -e '%s'\n", events.buf);
	ret = cmd_record(nr, rec_argv);
out:
	free_args(&args);
	free(rec_argv);
	strlist__delete(groups);
	strbuf_release(&cycles);
	strbuf_release(&insns);
	strbuf_release(&events);
	return ret;
}

/* Perf report parses all other options, and knows which take the next argument. */
static int cmd_fnstat_report(int argc, const char **argv)
{
	static const char * const preset[] = { "report", "--windows", "--sort", "sym" };
	const char **rep_argv;
	int nr = 0, ret;

	/* An option with its value can become two arguments. */
	rep_argv = calloc(ARRAY_SIZE(preset) + 2 * argc + 1, sizeof(*rep_argv));
	if (!rep_argv)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(preset); i++)
		rep_argv[nr++] = preset[i];
	for (int i = 1; i < argc; i++) {
		/* Those that mean something else there. */
		if (strstarts(argv[i], "-M"))
			rep_argv[nr++] = "--metrics";
		else if (strstarts(argv[i], "-x"))
			rep_argv[nr++] = "--field-separator";
		else
			rep_argv[nr++] = argv[i];
		if ((strstarts(argv[i], "-M") || strstarts(argv[i], "-x")) && argv[i][2])
			rep_argv[nr++] = argv[i] + 2;
	}
	ret = cmd_report(nr, rep_argv);
	free(rep_argv);
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
