// SPDX-License-Identifier: GPL-2.0
/*
 * perf fnstat: metrics per function, from the counts of short windows.
 *
 * perf record with an event that alternates between long intervals and windows, and perf
 * report with their statistics: see util/window.c and util/window-stats.c.
 */
#include "builtin.h"
#include "perf-sys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <subcmd/parse-options.h>

#include "util/cloexec.h"
#include "util/debug.h"
#include "util/parse-events.h"
#include "util/record.h"
#include "util/strbuf.h"

/* The events of the default metrics. cycles samples, the group must have instructions. */
static const struct {
	u64		config;
	const char	*name;
} fnstat_counters[] = {
	{ PERF_COUNT_HW_INSTRUCTIONS,		"instructions" },
	{ PERF_COUNT_HW_BRANCH_MISSES,		"branch-misses" },
	{ PERF_COUNT_HW_CACHE_REFERENCES,	"cache-references" },
	{ PERF_COUNT_HW_CACHE_MISSES,		"cache-misses" },
};

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

/*
 * Append the events that can be opened in one group with cycles, in their
 * order. Fail only if there are no cycles: perf record has better messages for
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
	int fds[1 + ARRAY_SIZE(fnstat_counters)], ret = 0;

	fds[0] = sys_perf_event_open(&attr, 0, -1, -1, flags);
	if (fds[0] < 0 && errno == ENOENT) {
		pr_err("fnstat: this machine does not count cycles\n");
		return -ENOENT;
	}

	attr.disabled = 0;
	for (size_t i = 0; i < ARRAY_SIZE(fnstat_counters); i++) {
		attr.config = fnstat_counters[i].config;
		fds[1 + i] = -1;
		if (fds[0] >= 0)
			fds[1 + i] = sys_perf_event_open(&attr, 0, -1, fds[0], flags);
		/* Most metrics need instructions. */
		if (!ret && (fds[1 + i] >= 0 || !i))
			ret = strbuf_addf(events, ",%s", fnstat_counters[i].name);
	}

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	return ret;
}

#define DEFAULT		(~0ULL)

static int cmd_fnstat_record(int argc, const char **argv)
{
	u64 period = 999700, window = DEFAULT, jitter = DEFAULT;
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
	struct fnstat_args args;
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
