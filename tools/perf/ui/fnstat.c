// SPDX-License-Identifier: GPL-2.0
/* Columns of metrics of the entries. */
#include "fnstat.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/zalloc.h>

#include "../util/color.h"
#include "../util/debug.h"
#include "../util/evlist.h"
#include "../util/evsel.h"
#include "../util/hist.h"
#include "../util/json-output.h"
#include "../util/machine.h"
#include "../util/sample.h"
#include "../util/sort.h"
#include "../util/strbuf.h"
#include "../util/symbol.h"
#include "../util/thread.h"
#include "../util/units.h"
#include "../util/branch-blocks.h"
#include "../util/fnstat.h"
#include "ui.h"
#include "util.h"

#define METRIC_WIDTH	7
#define INTERVAL_WIDTH	21
/* A value, its interval and its mark, separated. */
#define FIELDS_WIDTH	64

enum fnstat_column {
	/* Below: the index of a metric. */
	COLUMN_WINDOWS = -1,
	COLUMN_LEFT = -2,
	COLUMN_TIME = -3,
};

struct hpp_fnstat {
	struct perf_hpp_fmt	hpp;
	/* Columns of hists with other events can differ. */
	int			column;
	char			*name;
};

static char **metric_names;
static unsigned int nr_metric_names;

static struct hpp_fnstat *hpp_fnstat(struct perf_hpp_fmt *fmt)
{
	return container_of(fmt, struct hpp_fnstat, hpp);
}

/* Find the first of all groups that the same event samples: others add columns to it. */
static struct hists *hists__fnstat_table(struct hists *hists)
{
	struct evsel *evsel = hists_to_evsel(hists), *pos;

	evlist__for_each_entry(evsel->evlist, pos) {
		struct hists *table = evsel__hists(pos);

		if (table->fnstat_group && table->stats.nr_samples &&
		    evsel__counts_same(pos, evsel))
			return table;
	}
	return hists;
}

/* Find the group that has the values of a column of a table. */
static struct hists *hists__column_hists(struct hists *hists, int column)
{
	struct evsel *evsel = hists_to_evsel(hists), *pos;

	if (column < 0 || hists__has_metric(hists, column) ||
	    hists__fnstat_table(hists) != hists)
		return hists;
	evlist__for_each_entry(evsel->evlist, pos) {
		if (hists__has_metric(evsel__hists(pos), column) &&
		    evsel__counts_same(pos, evsel))
			return evsel__hists(pos);
	}
	return hists;
}

/**
 * evsel__is_in_fnstat_table - Check if the columns of an event are in the table of another.
 * @evsel: The event.
 *
 * Groups that the same event samples have one table, but those whose metrics are all of
 * groups before them have their own.
 *
 * Return: True if they are, false if the event has a separate table.
 */
bool evsel__is_in_fnstat_table(struct evsel *evsel)
{
	struct hists *hists = evsel__hists(evsel), *table = hists__fnstat_table(hists);
	bool repeats = false;

	if (!hists->fnstat_group)
		return evsel__samples_for_group(evsel);
	for (unsigned int i = 0; i < hists->fnstat_group->nr_metrics; i++) {
		if (!hists__has_metric(hists, i))
			continue;
		if (table != hists && hists__column_hists(table, i) == hists)
			return true;
		repeats = true;
	}
	return table != hists && !repeats;
}

static const struct fnstat_metric *hpp_fnstat__metric(const struct hpp_fnstat *hw,
						      struct hists *hists)
{
	const struct fnstat_group *group = hists__column_hists(hists, hw->column)->fnstat_group;

	if (!group || hw->column < 0 || (unsigned int)hw->column >= group->nr_metrics)
		return NULL;
	return &group->metrics[hw->column];
}

/* Find the entry that has the value of a column of another one, or return NULL. */
static struct hist_entry *hpp_fnstat__he(const struct hpp_fnstat *hw, struct hist_entry *he)
{
	struct hists *hists = hists__column_hists(he->hists, hw->column);

	return hists == he->hists ? he : hists__find_same(hists, he);
}

/* Return the statistics for a column: with children, the entry's own are in the first ones. */
static const struct fnstat_stats *hist_entry__shown_fnstat(const struct hist_entry *he)
{
	return he->fnstat ? &he->fnstat[symbol_conf.cumulate_callchain ? 1 : 0] : NULL;
}

static enum fnstat_quality __hist_entry__estimate(struct hist_entry *he, bool children,
						  unsigned int metric,
						  struct fnstat_estimate *estimate)
{
	const struct fnstat_group *group = he->hists->fnstat_group;
	struct fnstat_value *value;
	struct fnstat_stats *stats;
	struct fnstat_entry entry;

	if (!he->fnstat || !group || metric >= group->nr_metrics)
		return FNSTAT_ESTIMATE_NONE;
	stats = &he->fnstat[children];
	entry.stats = stats;
	entry.samples = hist_entry__samples(he, children);
	if (entry.samples && !stats->values)
		stats->values = calloc(group->nr_metrics, sizeof(*stats->values));
	if (!stats->values)
		return FNSTAT_ESTIMATE_NONE;
	value = &stats->values[metric];
	if (!value->known) {
		value->quality = fnstat_stats__estimate(&entry, group, metric, &value->estimate);
		value->known = true;
	}
	*estimate = value->estimate;
	return value->quality;
}

static enum fnstat_quality hist_entry__estimate(struct hist_entry *he, unsigned int metric,
						struct fnstat_estimate *estimate)
{
	return __hist_entry__estimate(he, symbol_conf.cumulate_callchain, metric, estimate);
}

static const char * const estimate_marks[] = {
	[FNSTAT_ESTIMATE_NONE]		= "-",
	[FNSTAT_ESTIMATE_GOOD]		= "",
	[FNSTAT_ESTIMATE_POOR]		= "?",
	[FNSTAT_ESTIMATE_BOUND]		= "<",
	[FNSTAT_ESTIMATE_USELESS]	= "-",
};

static const char *hpp_fnstat__header(const struct hpp_fnstat *hw, struct hists *hists)
{
	const struct fnstat_metric *metric = hpp_fnstat__metric(hw, hists);

	switch (hw->column) {
	case COLUMN_WINDOWS:
		return "Windows";
	case COLUMN_LEFT:
		return "%DIS";
	case COLUMN_TIME:
		return "%CY";
	default:
		return metric ? metric->header : hw->name;
	}
}

static bool hpp_fnstat__is_estimate(const struct hpp_fnstat *hw)
{
	return hw->column >= 0 || hw->column == COLUMN_TIME;
}

static int hpp_fnstat__width(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp __maybe_unused,
			     struct hists *hists)
{
	const struct hpp_fnstat *hw = hpp_fnstat(fmt);
	bool interval = symbol_conf.show_fnstat_ci && hpp_fnstat__is_estimate(hw);
	int len = max((int)strlen(hpp_fnstat__header(hw, hists)) + 1,
		      interval ? INTERVAL_WIDTH : METRIC_WIDTH);

	if (symbol_conf.field_sep)
		return FIELDS_WIDTH;
	return fmt->user_len ?: len;
}

/* Avoid "-0": a sum of rounding errors has any sign. */
static double without_minus(double value)
{
	return fabs(value) < 0.005 ? 0 : value;
}

/* Return the number of significant decimals. */
static int error__decimals(double error)
{
	if (!isfinite(error) || error >= 5)
		return 0;
	return error >= 0.5 ? 1 : 2;
}

/* Print the fields of an estimate for a program: what the table has, with all digits. */
static int snprint_fields(char *buf, size_t size, const struct fnstat_estimate *estimate,
			  enum fnstat_quality quality, bool ci)
{
	bool none = quality == FNSTAT_ESTIMATE_NONE || (quality == FNSTAT_ESTIMATE_USELESS && !ci);
	const char *sep = symbol_conf.field_sep, *mark = estimate_marks[quality];
	int ret = 0;

	if (!none) {
		ret = scnprintf(buf, size, "%.6g", quality == FNSTAT_ESTIMATE_BOUND && !ci ?
				estimate->high : estimate->value);
	}
	if (ci && none) {
		ret += scnprintf(buf + ret, size - ret, "%s%s", sep, sep);
	} else if (ci) {
		ret += scnprintf(buf + ret, size - ret, "%s%.6g%s%.6g", sep, estimate->low, sep,
				 estimate->high);
		mark = quality == FNSTAT_ESTIMATE_GOOD ? "" : "?";
	}
	return ret + scnprintf(buf + ret, size - ret, "%s%s", sep, mark);
}

/**
 * perf_hpp__snprint_field_names - Print the names of the fields of an estimate.
 * @name: That of its column.
 * @buf: Where to print.
 * @size: Of @buf.
 *
 * Return: The number of characters.
 */
int perf_hpp__snprint_field_names(const char *name, char *buf, size_t size)
{
	const char *sep = symbol_conf.field_sep;
	int ret = scnprintf(buf, size, "%s", name);

	if (symbol_conf.show_fnstat_ci) {
		ret += scnprintf(buf + ret, size - ret, "%s%s low%s%s high", sep, name, sep,
				 name);
	}
	return ret + scnprintf(buf + ret, size - ret, "%s%s mark", sep, name);
}

/* Print an estimate by its quality: a value and its mark, a bound, or with its interval. */
static int snprint_estimate(char *buf, size_t size, const struct fnstat_estimate *estimate,
			    enum fnstat_quality quality, bool ci)
{
	int decimals, ret;

	if (symbol_conf.field_sep)
		return snprint_fields(buf, size, estimate, quality, ci);
	if (quality == FNSTAT_ESTIMATE_NONE || (quality == FNSTAT_ESTIMATE_USELESS && !ci))
		return scnprintf(buf, size, "- ");
	if (quality == FNSTAT_ESTIMATE_BOUND && !ci) {
		double unit;

		decimals = error__decimals(estimate->high);
		unit = pow(10, -decimals);
		return scnprintf(buf, size, "<%.*f ", decimals,
				 ceil(estimate->high / unit) * unit);
	}
	decimals = error__decimals((estimate->high - estimate->low) / 2);
	ret = scnprintf(buf, size, "%.*f%s", decimals, without_minus(estimate->value),
			quality == FNSTAT_ESTIMATE_GOOD ? " " : "?");
	if (ci) {
		ret += scnprintf(buf + ret, size - ret, " [%.*f, %.*f]", decimals,
				 without_minus(estimate->low), decimals,
				 without_minus(estimate->high));
	}
	return ret;
}

/* @color: Set to that of a good value, NULL if it is not wanted. */
static int hpp_fnstat__print(const struct hpp_fnstat *hw, struct hist_entry *he, bool ci,
			     char *buf, size_t size, const char **color)
{
	enum fnstat_quality quality = FNSTAT_ESTIMATE_NONE;
	const struct fnstat_stats *stats;
	const struct fnstat_group *group;
	struct fnstat_estimate estimate;

	he = hpp_fnstat__he(hw, he);
	stats = he ? hist_entry__shown_fnstat(he) : NULL;
	group = he ? he->hists->fnstat_group : NULL;
	if (!group || !stats)
		return snprint_estimate(buf, size, &estimate, quality, ci);

	switch (hw->column) {
	case COLUMN_WINDOWS:
		return scnprintf(buf, size, "%" PRIu64, stats->nr_used);
	case COLUMN_LEFT:
		return scnprintf(buf, size, "%.0f", fnstat_stats__left(stats));
	case COLUMN_TIME:
		if (fnstat_stats__time(stats, group, &estimate))
			quality = FNSTAT_ESTIMATE_GOOD;
		break;
	default:
		quality = hist_entry__estimate(he, hw->column, &estimate);
		if (color && quality == FNSTAT_ESTIMATE_GOOD)
			*color = metric_threshold_classify__color(estimate.threshold);
		break;
	}
	return snprint_estimate(buf, size, &estimate, quality, ci);
}

/* Print a value of all entries: metrics come from the counters, without an error. */
static int hpp_fnstat__print_total(const struct hpp_fnstat *hw, struct hists *hists, char *buf,
				   size_t size)
{
	struct hists *column = hists__column_hists(hists, hw->column);
	const struct fnstat_metric *metric = hpp_fnstat__metric(hw, hists);
	const struct fnstat_group *group = column->fnstat_group;
	struct fnstat_estimate estimate = { .value = 100, .low = 100, .high = 100 };
	bool ci = symbol_conf.field_sep && symbol_conf.show_fnstat_ci;
	enum fnstat_quality quality = FNSTAT_ESTIMATE_GOOD;

	switch (hw->column) {
	case COLUMN_WINDOWS:
		return scnprintf(buf, size, "%" PRIu64, group->all.nr_used);
	case COLUMN_LEFT:
		return scnprintf(buf, size, "%.0f", fnstat_stats__left(&group->all));
	case COLUMN_TIME:
		break;
	default:
		if (!metric || !isfinite(metric->total)) {
			quality = FNSTAT_ESTIMATE_NONE;
			break;
		}
		estimate.value = metric->total;
		estimate.low = metric->total;
		estimate.high = metric->total;
		break;
	}
	return snprint_estimate(buf, size, &estimate, quality, ci);
}

static int hpp_fnstat__fmt_header(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp,
				  struct hists *hists, int line, int *span __maybe_unused)
{
	const char *header = "";
	int width = symbol_conf.field_sep ? 0 : hpp_fnstat__width(fmt, hpp, hists);
	char total[128];

	if (line == hists->hpp_list->nr_header_lines - 1) {
		header = hpp_fnstat__header(hpp_fnstat(fmt), hists);
	} else {
		hpp_fnstat__print_total(hpp_fnstat(fmt), hists, total, sizeof(total));
		header = total;
	}
	if (symbol_conf.field_sep && hpp_fnstat__is_estimate(hpp_fnstat(fmt)))
		return perf_hpp__snprint_field_names(header, hpp->buf, hpp->size);
	return scnprintf(hpp->buf, hpp->size, "%*s", width, header);
}

static int hpp_fnstat__entry(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp,
			     struct hist_entry *he)
{
	int width = symbol_conf.field_sep ? 0 : hpp_fnstat__width(fmt, hpp, he->hists);
	char buf[128];

	hpp_fnstat__print(hpp_fnstat(fmt), he, symbol_conf.show_fnstat_ci, buf, sizeof(buf),
			  /*color=*/NULL);
	return scnprintf(hpp->buf, hpp->size, "%*s", width, buf);
}

/* Colour a metric as perf stat does, unless its interval is wide. */
static int hpp_fnstat__color(struct perf_hpp_fmt *fmt, struct perf_hpp *hpp,
			     struct hist_entry *he)
{
	int width = hpp_fnstat__width(fmt, hpp, he->hists);
	const char *color = "";
	char buf[128];

	hpp_fnstat__print(hpp_fnstat(fmt), he, symbol_conf.show_fnstat_ci, buf, sizeof(buf),
			  &color);
	return color_snprintf(hpp->buf, hpp->size, color, "%*s", width, buf);
}

static double hist_entry__fnstat_value(struct hist_entry *he, const struct hpp_fnstat *hw)
{
	const struct fnstat_stats *stats;
	struct fnstat_estimate estimate;
	enum fnstat_quality quality;

	he = hpp_fnstat__he(hw, he);
	stats = he ? hist_entry__shown_fnstat(he) : NULL;
	if (!stats || !he->hists->fnstat_group)
		return -INFINITY;
	switch (hw->column) {
	case COLUMN_WINDOWS:
		return stats->nr_used;
	case COLUMN_LEFT:
		return fnstat_stats__left(stats);
	case COLUMN_TIME:
		return stats->weight;
	default:
		if (!hpp_fnstat__metric(hw, he->hists))
			return -INFINITY;
		quality = hist_entry__estimate(he, hw->column, &estimate);
		/* Values that are not printed come last. */
		if (quality == FNSTAT_ESTIMATE_NONE ||
		    (quality == FNSTAT_ESTIMATE_USELESS && !symbol_conf.show_fnstat_ci))
			return -INFINITY;
		return estimate.value;
	}
}

static int64_t hpp_fnstat__sort(struct perf_hpp_fmt *fmt, struct hist_entry *a,
				struct hist_entry *b)
{
	double value_a = hist_entry__fnstat_value(a, hpp_fnstat(fmt));
	double value_b = hist_entry__fnstat_value(b, hpp_fnstat(fmt));

	return value_a > value_b ? 1 : value_a < value_b ? -1 : 0;
}

static int64_t hpp_fnstat__nop_cmp(struct perf_hpp_fmt *fmt __maybe_unused,
				   struct hist_entry *a __maybe_unused,
				   struct hist_entry *b __maybe_unused)
{
	return 0;
}

static bool hpp_fnstat__equal(struct perf_hpp_fmt *a, struct perf_hpp_fmt *b)
{
	return a->entry == hpp_fnstat__entry && b->entry == hpp_fnstat__entry &&
	       hpp_fnstat(a)->column == hpp_fnstat(b)->column;
}

/* Skip a column whose events the PMU lacks. */
static bool hpp_fnstat__skip(struct perf_hpp_fmt *fmt, struct hists *hists)
{
	const struct fnstat_group *group = hists->fnstat_group;
	const struct fnstat_metric *metric = group ?
				hpp_fnstat__metric(hpp_fnstat(fmt), hists) : NULL;
	int column = hpp_fnstat(fmt)->column;

	if (!group || (metric && !metric->available))
		return true;
	return (column == COLUMN_WINDOWS || column == COLUMN_LEFT) && !group->branches &&
	       !fnstat_group__has_windows(group);
}

static void hpp_fnstat__free(struct perf_hpp_fmt *fmt)
{
	free(hpp_fnstat(fmt)->name);
	free(hpp_fnstat(fmt));
}

static struct hpp_fnstat *hpp_fnstat__new(int column, const char *name)
{
	struct hpp_fnstat *hw = zalloc(sizeof(*hw));

	if (!hw)
		return NULL;

	hw->column = column;
	hw->name = strdup(name);
	if (!hw->name) {
		free(hw);
		return NULL;
	}
	hw->hpp.name = hw->name;
	hw->hpp.header = hpp_fnstat__fmt_header;
	hw->hpp.width = hpp_fnstat__width;
	hw->hpp.entry = hpp_fnstat__entry;
	/* Browsers do not print its result, and have the totals above the names. */
	if (!use_browser)
		hw->hpp.color = hpp_fnstat__color;
	else
		perf_hpp_list.nr_header_lines = 2;
	hw->hpp.cmp = hpp_fnstat__nop_cmp;
	hw->hpp.collapse = hpp_fnstat__nop_cmp;
	hw->hpp.sort = hpp_fnstat__sort;
	hw->hpp.equal = hpp_fnstat__equal;
	hw->hpp.skip = hpp_fnstat__skip;
	hw->hpp.free = hpp_fnstat__free;
	INIT_LIST_HEAD(&hw->hpp.list);
	INIT_LIST_HEAD(&hw->hpp.sort_list);
	return hw;
}

/**
 * perf_hpp__is_csv - Check if a table is for programs.
 *
 * Its first line has the names of the columns, and all others have nothing but values.
 *
 * Return: True if it has metrics, and a separator of fields.
 */
bool perf_hpp__is_csv(void)
{
	return symbol_conf.field_sep && symbol_conf.show_fnstat;
}

/**
 * perf_hpp__strip_field - Remove from a field what is for people.
 * @fmt: Its column.
 * @field: The field. Loses its blanks, and the unit of a share of the time.
 *
 * Return: Its length.
 */
int perf_hpp__strip_field(struct perf_hpp_fmt *fmt, char *field)
{
	const char *begin = skip_spaces(field);
	size_t len = strlen(begin);

	while (len && isspace(begin[len - 1]))
		len--;
	if (len && begin[len - 1] == '%' && !perf_hpp__is_sort_entry(fmt))
		len--;
	memmove(field, begin, len);
	field[len] = '\0';
	return len;
}

/**
 * perf_hpp__is_fnstat_entry - Check if a column is a metric, or the share of time.
 * @fmt: The column.
 *
 * Return: True if perf_hpp__new_fnstat_column() made it.
 */
bool perf_hpp__is_fnstat_entry(const struct perf_hpp_fmt *fmt)
{
	return fmt->entry == hpp_fnstat__entry;
}

/**
 * perf_hpp__dup_fnstat_entry - Copy a column of a metric.
 * @fmt: The column.
 *
 * Return: The copy, or NULL if memory is short.
 */
struct perf_hpp_fmt *perf_hpp__dup_fnstat_entry(struct perf_hpp_fmt *fmt)
{
	struct hpp_fnstat *hw = hpp_fnstat__new(hpp_fnstat(fmt)->column, hpp_fnstat(fmt)->name);

	if (!hw)
		return NULL;
	hw->hpp.level = fmt->level;
	return &hw->hpp;
}

/**
 * perf_hpp__find_fnstat_metric - Find or add a metric to those that events get.
 * @name: The name.
 *
 * Return: Its index in the fnstat_group of hists that are initialized later, or -ENOMEM.
 */
int perf_hpp__find_fnstat_metric(const char *name)
{
	char **names;

	for (unsigned int i = 0; i < nr_metric_names; i++) {
		if (!strcasecmp(metric_names[i], name))
			return i;
	}
	names = reallocarray(metric_names, nr_metric_names + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	metric_names = names;
	names[nr_metric_names] = strdup(name);
	return names[nr_metric_names] ? (int)nr_metric_names++ : -ENOMEM;
}

/**
 * perf_hpp__is_fnstat_column - Check if a name is that of a column of a metric.
 * @name: The name.
 *
 * Return: True if it is, and the command has metrics.
 */
bool perf_hpp__is_fnstat_column(const char *name)
{
	return symbol_conf.can_show_fnstat &&
	       (!strcmp(name, "windows") || !strcmp(name, "left") ||
		!strcmp(name, "time-share") || (strstarts(name, "metric:") && name[7]));
}

/**
 * perf_hpp__new_fnstat_column - Make a column of a metric.
 * @name: "windows", "left", "time-share" or "metric:" and the name of a metric.
 *
 * In a hierarchy it is a column of all levels.
 *
 * Return: The column, or NULL if @name is none, or an error pointer.
 */
struct perf_hpp_fmt *perf_hpp__new_fnstat_column(const char *name)
{
	struct hpp_fnstat *hw;
	int column;

	if (!perf_hpp__is_fnstat_column(name))
		return NULL;
	if (!strcmp(name, "windows"))
		column = COLUMN_WINDOWS;
	else if (!strcmp(name, "left"))
		column = COLUMN_LEFT;
	else if (!strcmp(name, "time-share"))
		column = COLUMN_TIME;
	else
		column = perf_hpp__find_fnstat_metric(name + 7);
	if (column == -ENOMEM)
		return ERR_PTR(-ENOMEM);

	hw = hpp_fnstat__new(column, column >= 0 ? name + 7 : name);
	if (!hw)
		return ERR_PTR(-ENOMEM);
	symbol_conf.show_fnstat = true;
	return &hw->hpp;
}

static int perf_hpp__add_fnstat_column(const char *name)
{
	struct perf_hpp_fmt *fmt = perf_hpp__new_fnstat_column(name);

	if (IS_ERR_OR_NULL(fmt))
		return fmt ? PTR_ERR(fmt) : -EINVAL;
	perf_hpp_list__column_register(&perf_hpp_list, fmt);
	return 0;
}

/**
 * perf_hpp__add_fnstat_columns - Add the columns of metrics to the output.
 * @metrics: Names of metrics, separated by commas, "all", or NULL for the default.
 * @evlist: Of the recording, or NULL.
 * @env: Of the recording, or NULL.
 *
 * Return: 0, or -ENOMEM.
 */
int perf_hpp__add_fnstat_columns(const char *metrics, struct evlist *evlist,
				 struct perf_env *env)
{
	bool all = metrics && !strcmp(metrics, "all");
	char *names, *name, *tmp;
	int ret;

	if (metrics && !all)
		names = fnstat_metric__expand_groups(metrics, env);
	else
		names = evlist__fnstat_metrics(evlist, all, env);
	ret = names ? 0 : -ENOMEM;

	for (name = names ? strtok_r(names, ", ", &tmp) : NULL; name && !ret;
	     name = strtok_r(NULL, ", ", &tmp)) {
		char column[128];

		scnprintf(column, sizeof(column), "metric:%s", name);
		ret = perf_hpp__add_fnstat_column(column);
	}
	free(names);
	if (!all)
		return ret;
	return ret ?: perf_hpp__add_fnstat_column("windows") ?:
		      perf_hpp__add_fnstat_column("left");
}

static int64_t function_key__cmp(struct perf_hpp_fmt *fmt __maybe_unused,
				 struct hist_entry *a, struct hist_entry *b)
{
	/* Callers are compared before entries are collapsed. */
	if (symbol_conf.cumulate_callchain)
		return 0;
	if (!a->ms.sym && !b->ms.sym)
		return a->ip > b->ip ? 1 : a->ip < b->ip ? -1 : 0;
	return _sort__sym_cmp(a->ms.sym, b->ms.sym);
}

/**
 * perf_hpp__add_function_key - Keep functions apart until all samples are read.
 *
 * The place of a window is a function, even if the entries of the report are not functions.
 */
void perf_hpp__add_function_key(void)
{
	static struct perf_hpp_fmt key = {
		.name		= "function",
		.cmp		= function_key__cmp,
		.collapse	= hpp_fnstat__nop_cmp,
		.sort		= hpp_fnstat__nop_cmp,
	};

	if (perf_hpp_list.sym || symbol_conf.report_hierarchy)
		return;
	INIT_LIST_HEAD(&key.list);
	INIT_LIST_HEAD(&key.sort_list);
	perf_hpp_list__register_sort_field(&perf_hpp_list, &key);
	perf_hpp_list.need_collapse = 1;
}

/**
 * hists__init_fnstat - Prepare an event for metrics.
 * @hists: Of the event that samples.
 *
 * Return: 0, -ENOENT or -EINVAL after a message if there is no such metric or the group has
 * no event that is needed, or -ENOMEM.
 */
int hists__init_fnstat(struct hists *hists)
{
	int ret;

	if (hists->fnstat_group)
		return 0;

	hists->fnstat_group = fnstat_group__new(hists_to_evsel(hists));
	if (!hists->fnstat_group)
		return -ENOMEM;

	for (unsigned int i = 0; i < nr_metric_names; i++) {
		ret = fnstat_group__add_metric(hists->fnstat_group, metric_names[i]);
		if (ret == -ENOENT) {
			ui__error("Unknown metric '%s', see perf list, or use one of: %s.\n",
				  metric_names[i], fnstat_metric__names());
		} else if (ret == -EINVAL) {
			ui__error("The expression of metric '%s' is wrong.\n", metric_names[i]);
		}
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * hists__track_sample - Find out what a group counted since the sample before.
 * @hists: Of its event.
 * @tracker: The samples so far.
 * @sample: The sample.
 * @machine: Where it was taken.
 * @gs: The result, not changed if the event does not read its group.
 *
 * Call it for all samples, even if they are not shown: the next one continues their counts.
 *
 * Return: 0, or a negative error after a message.
 */
int hists__track_sample(struct hists *hists, struct group_tracker *tracker,
			struct perf_sample *sample, struct machine *machine,
			struct group_sample *gs)
{
	struct thread *thread;
	int ret;

	if (!evsel__reads_group(sample->evsel))
		return 0;
	ret = hists__init_fnstat(hists);
	if (ret)
		return ret;
	thread = machine__findnew_thread(machine, sample->pid, sample->tid);
	if (!thread)
		return -ENOMEM;
	ret = group_tracker__add(tracker, sample, thread, gs);
	if (hists->fnstat_group->branches)
		perf_sample__move_to_branch(sample);
	thread__put(thread);
	return ret;
}

/**
 * hists__track_throttle - Note that an event is stopped, or that it counts again.
 * @tracker: The samples so far.
 * @event: A PERF_RECORD_THROTTLE or PERF_RECORD_UNTHROTTLE.
 * @sample: Its sample.
 */
void hists__track_throttle(struct group_tracker *tracker, union perf_event *event,
			   struct perf_sample *sample)
{
	struct evsel *evsel = sample->evsel;
	struct fnstat_group *group = NULL;
	u64 time = group_tracker__throttle(tracker, &event->throttle);

	if (evsel)
		group = evsel__hists(evsel__group_sampler(evsel__leader(evsel)))->fnstat_group;
	if (!group)
		return;
	group->missing.nr_throttled += event->header.type == PERF_RECORD_THROTTLE;
	group->missing.throttled += time;
}

/**
 * evlist__find_missing - Find out what a recording lacks, for each group.
 * @evlist: Its events.
 * @tracker: All of its samples.
 * @part: They are selected by time or CPU. What such a part lacks is not known.
 */
void evlist__find_missing(struct evlist *evlist, const struct group_tracker *tracker,
			  bool part)
{
	const struct events_stats *stats = evlist__stats(evlist);
	double lost = stats->total_lost_samples;
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		struct fnstat_group *group = evsel__hists(evsel)->fnstat_group;

		if (!group)
			continue;
		if (part) {
			memset(&group->missing, 0, sizeof(group->missing));
			continue;
		}
		if (lost)
			group->missing.lost = lost / (lost + stats->nr_events[PERF_RECORD_SAMPLE]);
		if (perf_evsel__attr_has_per_thread_sample_period(&evsel->core)) {
			group_tracker__nr_threads(tracker, &group->missing.nr_ended,
						  &group->missing.nr_without_sample);
		}
	}
}

/**
 * hists__has_metric - Check if the events of a metric are counted.
 * @hists: Of any event.
 * @metric: Index of the metric.
 *
 * Return: True if the event reads its group, which has the others.
 */
bool hists__has_metric(const struct hists *hists, unsigned int metric)
{
	const struct fnstat_group *group = hists->fnstat_group;

	return group && metric < group->nr_metrics && group->metrics[metric].available;
}

/**
 * evlist__check_samples - Check that a recording has samples, and say why not.
 * @evlist: Its events.
 * @path: The file to be named, or NULL.
 * @part: Samples are selected by time or CPU.
 *
 * Return: 0, or -ENODATA after a message.
 */
int evlist__check_samples(struct evlist *evlist, const char *path, bool part)
{
	const char *where = path ?: "", *colon = path ? ": " : "";
	struct evsel *evsel, *sampler = NULL;
	char *unit;

	evlist__for_each_entry(evlist, evsel) {
		/* It can be alone on a core PMU, and its group on another. */
		if (evsel__group_sampler(evsel__leader(evsel)) == evsel &&
		    evsel__hists(evsel)->stats.nr_samples)
			return 0;
		if (evsel__reads_group(evsel))
			sampler = evsel;
	}
	if (!sampler)
		return 0;
	unit = evsel__unit(sampler);
	if (part) {
		pr_err("%s%sThere is no sample in what was selected.\n",
		       where, colon);
	} else if (sampler->core.attr.freq) {
		pr_err("%s%sThere is no sample: what ran is too short. Record with a higher frequency (-F).\n",
		       where, colon);
	} else {
		pr_err("%s%sThere is no sample: what ran is shorter than an interval of %" PRIu64 " %s (%s), or others held the counters. Record with a shorter one (-c).\n",
		       where, colon, (u64)sampler->core.attr.sample_period, unit ?: "",
		       evsel__name(sampler));
	}
	free(unit);
	return -ENODATA;
}

static bool has_line(const struct strbuf *lines, const char *line)
{
	size_t len = strlen(line);

	for (const char *pos = lines->buf; *pos; pos = strchr(pos, '\n') + 1) {
		if (!strncmp(pos, line, len) && pos[len] == '\n')
			return true;
	}
	return false;
}

/* Add a line, unless it is there already. */
static void __printf(2, 3) add_line(struct strbuf *lines, const char *format, ...)
{
	va_list args;
	char *line;

	va_start(args, format);
	if (vasprintf(&line, format, args) < 0)
		line = NULL;
	va_end(args);
	if (line && !has_line(lines, line))
		strbuf_addf(lines, "%s\n", line);
	free(line);
}

/* Check if a metric has an event of a group. */
static bool fnstat_group__uses(const struct fnstat_group *group, unsigned int event)
{
	for (unsigned int i = 0; i < group->nr_metrics; i++) {
		const struct fnstat_metric *metric = &group->metrics[i];

		for (unsigned int j = 0; j < metric->nr_ids; j++) {
			if (metric->available && metric->id_events[j] == event)
				return true;
		}
	}
	return false;
}

/**
 * evlist__warn_unused_events - Warn of events that were counted for nothing.
 * @evlist: Of the recording.
 */
void evlist__warn_unused_events(struct evlist *evlist)
{
	struct strbuf names = STRBUF_INIT, list = STRBUF_INIT;
	struct evsel *evsel, *member;
	char *tmp;

	evlist__for_each_entry(evlist, evsel) {
		const struct fnstat_group *group = evsel__hists(evsel)->fnstat_group;
		unsigned int i = 0;

		/* A clock has metrics of no function. */
		if (!group || evsel__is_clock(evsel))
			continue;
		for_each_group_evsel(member, evsel__leader(evsel)) {
			unsigned int event = i++;

			if (event >= group->nr_counts)
				break;
			if (event != group->sampler_index && (int)event != group->insns &&
			    (int)event != group->slots && !fnstat_group__uses(group, event))
				add_line(&names, "%s", evsel__name(member));
		}
	}
	for (char *name = strtok_r(names.buf, "\n", &tmp); name; name = strtok_r(NULL, "\n", &tmp))
		strbuf_addf(&list, "%s%s", list.len ? ", " : "", name);
	if (list.len)
		ui__warning("No metric has these events, see 'totals' of --json: %s.\n", list.buf);
	strbuf_release(&list);
	strbuf_release(&names);
}

/**
 * evlist__warn_fnstat_metrics - Warn of metrics whose events were not recorded.
 * @evlist: Of the recording.
 */
void evlist__warn_fnstat_metrics(struct evlist *evlist)
{
	struct strbuf names = STRBUF_INIT;

	for (unsigned int i = 0; i < nr_metric_names; i++) {
		struct evsel *evsel;
		bool found = false;

		evlist__for_each_entry(evlist, evsel)
			found = found || hists__has_metric(evsel__hists(evsel), i);
		if (!found)
			strbuf_addf(&names, "%s%s", names.len ? ", " : "", metric_names[i]);
	}
	if (names.len)
		ui__warning("Not recorded, see perf fnstat record -M: %s.\n", names.buf);
	strbuf_release(&names);
}

/**
 * hist_entry__snprint_metric - Print a metric of an entry, with its mark.
 * @he: The entry.
 * @metric: Index of the metric.
 * @buf: Where to print.
 * @size: Of @buf.
 *
 * Return: The number of characters.
 */
int hist_entry__snprint_metric(struct hist_entry *he, unsigned int metric, char *buf,
			       size_t size)
{
	struct fnstat_estimate estimate;
	enum fnstat_quality quality = hist_entry__estimate(he, metric, &estimate);

	return snprint_estimate(buf, size, &estimate, quality, symbol_conf.show_fnstat_ci);
}

/* Check if two groups have the same bias in the same code. */
static bool fnstat_group__is_alike(const struct fnstat_group *a, const struct fnstat_group *b)
{
	/* What an interrupt adds, which is a part of the length, was measured each time. */
	return a->branches == b->branches && fabs(a->length - b->length) <= 0.1 * a->length &&
	       (a->insns >= 0 && a->samplers[a->insns]) == (b->insns >= 0 && b->samplers[b->insns]);
}

/**
 * hist_entry__metric_z - Compare a metric of two entries.
 * @he: An entry.
 * @pair: The same of another recording.
 * @metric: Index of the metric.
 * @z: Set to the number of standard errors by which that of @pair is larger.
 *
 * Return: False if one of them is not known, or samples are missing in its recording.
 */
bool hist_entry__metric_z(struct hist_entry *he, struct hist_entry *pair,
			  unsigned int metric, double *z)
{
	struct fnstat_estimate a, b;
	enum fnstat_quality quality_a = hist_entry__estimate(he, metric, &a);
	enum fnstat_quality quality_b = hist_entry__estimate(pair, metric, &b);
	const struct fnstat_group *group_a = he->hists->fnstat_group;
	const struct fnstat_group *group_b = pair->hists->fnstat_group;

	if (quality_a == FNSTAT_ESTIMATE_NONE || quality_b == FNSTAT_ESTIMATE_NONE ||
	    fnstat_group__marks_all(group_a) || fnstat_group__marks_all(group_b))
		return false;
	*z = fnstat_estimate__z(&a, &b, fnstat_group__is_alike(group_a, group_b));
	return true;
}

static void fprintf_number(FILE *fp, const char *name, double value)
{
	/* JSON has no infinity. */
	if (isfinite(value))
		fprintf(fp, ", \"%s\": %.17g", name, value);
	else
		fprintf(fp, ", \"%s\": null", name);
}

/**
 * hists__fprintf_fnstat_json - Write the common data of the metrics of entries.
 * @hists: Of the event that samples.
 * @depth: Of the members of an object.
 * @fp: Where to write.
 */
void hists__fprintf_fnstat_json(struct hists *hists, int depth, FILE *fp)
{
	struct strbuf remarks = STRBUF_INIT;
	bool comma = false;
	char *last, *tmp;

	fnstat_group__fprintf_json(hists->fnstat_group, depth, fp);
	hists__fnstat_remarks(hists, &remarks);
	last = hists__fnstat_advice(hists);
	if (last)
		strbuf_addf(&remarks, "%s\n", last);
	free(last);
	output_json_key_format(fp, true, depth, "remarks", "[");
	for (char *line = strtok_r(remarks.buf, "\n", &tmp); line;
	     line = strtok_r(NULL, "\n", &tmp)) {
		output_json_delimiters(fp, comma, depth + 1);
		comma = true;
		output_json_string(fp, line);
	}
	fputc(']', fp);
	strbuf_release(&remarks);
}

/**
 * hist_entry__fprintf_fnstat_json - Write the metrics of an entry as members of an object.
 * @he: The entry.
 * @children: With those of its children.
 * @depth: Of the members.
 * @fp: Where to write.
 */
void hist_entry__fprintf_fnstat_json(struct hist_entry *he, bool children, int depth, FILE *fp)
{
	const struct fnstat_group *group = he->hists->fnstat_group;
	bool comma = false;

	if (!group || !he->fnstat)
		return;

	output_json_key_format(fp, true, depth, "fnstat", "{");
	fnstat_stats__fprintf_json(&he->fnstat[children], depth + 1, fp);
	output_json_format(fp, false, depth, "}");

	output_json_key_format(fp, true, depth, "metrics", "{");
	for (unsigned int i = 0; i < group->nr_metrics; i++) {
		struct fnstat_estimate estimate;
		enum fnstat_quality quality = __hist_entry__estimate(he, children, i,
								      &estimate);

		if (quality == FNSTAT_ESTIMATE_NONE)
			continue;
		output_json_delimiters(fp, comma, depth + 1);
		comma = true;
		output_json_string(fp, group->metrics[i].name);
		fprintf(fp, ": {\"mark\": \"%s\"", estimate_marks[quality]);
		fprintf_number(fp, "value", estimate.value);
		fprintf_number(fp, "low", estimate.low);
		fprintf_number(fp, "high", estimate.high);
		if (group->metrics[i].kind != FNSTAT_METRIC_EXPR) {
			fprintf_number(fp, "dividend", estimate.dividend);
			fprintf_number(fp, "divisor", estimate.divisor);
		}
		fputc('}', fp);
	}
	output_json_format(fp, false, depth, "}");
}

/* Say how many windows there are of what length, and those that are not of one place. */
static void fnstat_stats__describe(const struct fnstat_stats *stats, struct hists *hists,
				   struct strbuf *text)
{
	const char *left = hists->hpp_list->sym ? "ended in another function" : "ended elsewhere";
	const struct fnstat_group *group = hists->fnstat_group;
	const struct {
		enum window_problem	problem;
		const char		*text;
	} problems[] = {
		{ WINDOW_LEFT,		left },
		{ WINDOW_LOST,		"with lost samples" },
		{ WINDOW_LENGTH,	"of another length" },
		{ WINDOW_BACKWARDS,	"with counts that go backwards" },
		{ WINDOW_SPLIT,		"split" },
		{ WINDOW_MULTIPLEXED,	"multiplexed" },
	};
	char *unit, *event;

	if (group->branches) {
		strbuf_addf(text, "Branch stacks: %" PRIu64, stats->nr_used);
		return;
	}
	if (!fnstat_group__has_windows(group)) {
		strbuf_addstr(text, "No windows");
		return;
	}
	strbuf_addf(text, "%" PRIu64 " window%s", stats->nr_windows,
		    stats->nr_windows == 1 ? "" : "s");
	unit = evsel__unit(group->sampler);
	/* Without the PMU. */
	event = unit ? strrchr(unit, '/') : NULL;
	if (group->length)
		strbuf_addf(text, " of %.0f %s", group->length, event ? event + 1 : unit ?: "");
	free(unit);
	for (size_t i = 0; i < ARRAY_SIZE(problems); i++) {
		u64 nr = stats->problems[ilog2(problems[i].problem)];

		if (nr)
			strbuf_addf(text, ", %" PRIu64 " %s", nr, problems[i].text);
	}
	if (stats->nr_used < stats->nr_windows)
		strbuf_addf(text, ", %" PRIu64 " used", stats->nr_used);
	if (fnstat_group__knows_cost(group)) {
		strbuf_addf(text, ". Without the %.0f that an interrupt adds to each",
			    group->costs[group->sampler_index]);
	}
}

static size_t fprintf_amount(double count, const char *name, FILE *fp)
{
	char unit;
	double amount = convert_unit_double(count, &unit);
	size_t ret = fprintf(fp, "%.3g ", amount);

	if (unit != ' ')
		ret += fprintf(fp, "%c ", unit);
	return ret + fprintf(fp, "%s", name);
}

/* Print what all entries took together, as far as it was recorded. */
static size_t fnstat_group__fprintf_totals(const struct fnstat_group *group, const char *prefix,
					   FILE *fp)
{
	const struct fnstat_missing *missing = &group->missing;
	double counted = missing->enabled ? (double)missing->time / missing->enabled : 1;
	struct evsel *sampler = group->sampler;
	bool is_clock = evsel__is_clock(sampler);
	double time = missing->enabled ?: is_clock ? group->totals[group->sampler_index] : 0;
	char *name = evsel__unit(sampler), *event = name ? strrchr(name, '/') : NULL;
	const char *separator = "";
	size_t ret;

	/* That of a CPU has the time without a task. */
	if (!perf_evsel__attr_has_per_thread_sample_period(&sampler->core))
		time = 0;
	if (is_clock && !time) {
		free(name);
		return 0;
	}
	ret = fprintf(fp, "%sCounted", prefix);
	if (counted < 0.99)
		ret += fprintf(fp, " for %.0f %% of the time, as events took turns on the counters",
			       100 * counted);
	ret += fprintf(fp, ": ");
	if (time) {
		ret += fprintf(fp, "%.3g s of CPU time", time / 1e9);
		separator = ", ";
	}
	/* The name is without that of the PMU. */
	if (!is_clock && name) {
		ret += fprintf(fp, "%s", separator);
		ret += fprintf_amount(group->totals[group->sampler_index],
				      event ? event + 1 : name, fp);
		separator = ", ";
	}
	if (group->insns >= 0) {
		ret += fprintf(fp, "%s", separator);
		ret += fprintf_amount(group->totals[group->insns], "instructions", fp);
	}
	free(name);
	return ret + fprintf(fp, "%s\n", sampler->core.attr.exclude_kernel && !is_clock ?
			     " in user space" : "");
}

/* An entry with fewer samples tells nothing. */
#define MIN_SAMPLES	3
/* An entry needs so many samples for a good value, and their number is chance if it has few. */
#define GOOD_SAMPLES	100
#define FEW_SAMPLES	5

static double fnstat_stats__nr_samples(const struct fnstat_stats *stats)
{
	return samples__effective_nr(stats->weight, stats->weight2);
}

/**
 * hist_entry__has_few_samples - Check if a row says nothing.
 * @he: Its entry.
 *
 * Return: True if it has fewer than three samples, in a table that is not for a program.
 */
bool hist_entry__has_few_samples(const struct hist_entry *he)
{
	/* Some periods of a frequency differ. */
	return he->fnstat && he->hists->fnstat_group && !symbol_conf.field_sep && !verbose &&
	       !symbol_conf.cumulate_callchain && !symbol_conf.report_hierarchy &&
	       fnstat_stats__nr_samples(he->fnstat) < MIN_SAMPLES - 0.5;
}

/* The time of an entry without a good value, and the factor of data that it needs for one. */
struct shortage {
	double	time;
	double	factor;
};

static int cmp_shortage(const void *a, const void *b)
{
	double x = ((const struct shortage *)a)->factor, y = ((const struct shortage *)b)->factor;

	return x > y ? 1 : x < y ? -1 : 0;
}

/*
 * Find out how much more data would give nine tenths of the time a good value of a metric.
 * @at_least: Set if entries with few samples have more than a tenth of the time: there are others.
 * Return: The part of the time that has none now, or 0 if it is not known.
 */
static double hists__fnstat_shortage(struct hists *hists, unsigned int metric, double *factor,
				     bool *at_least)
{
	const struct fnstat_group *group = hists->fnstat_group;
	double time = 0, without = 0, few = 0, left;
	struct shortage *shortages;
	unsigned int nr = 0, i;

	shortages = calloc(hists->nr_entries + 1, sizeof(*shortages));
	if (!shortages)
		return 0;
	for (struct rb_node *node = rb_first_cached(&hists->entries); node; node = rb_next(node)) {
		struct hist_entry *he = rb_entry(node, struct hist_entry, rb_node);
		struct fnstat_estimate estimate;
		enum fnstat_quality quality;
		struct fnstat_entry entry;
		double nr_samples;

		if (he->filtered || !he->fnstat || !he->fnstat->weight ||
		    nr == hists->nr_entries)
			continue;
		time += he->fnstat->weight;
		quality = __hist_entry__estimate(he, /*children=*/false, metric, &estimate);
		entry.stats = &he->fnstat[0];
		entry.samples = hist_entry__samples(he, /*children=*/false);
		if (quality == FNSTAT_ESTIMATE_GOOD || !entry.samples)
			continue;
		without += he->fnstat->weight;
		shortages[nr].time = he->fnstat->weight;
		shortages[nr++].factor = fnstat_entry__needs(&entry, group,
							     &group->metrics[metric],
							     quality == FNSTAT_ESTIMATE_NONE ?
							     NULL : &estimate);
		nr_samples = fnstat_stats__nr_samples(he->fnstat);
		if (nr_samples < FEW_SAMPLES) {
			few += he->fnstat->weight;
			shortages[nr - 1].factor = max(shortages[nr - 1].factor,
						       GOOD_SAMPLES / nr_samples);
		}
	}
	*at_least = few > time / 10;
	qsort(shortages, nr, sizeof(*shortages), cmp_shortage);
	left = without;
	for (i = 0; i < nr && left > time / 10; i++)
		left -= shortages[i].time;
	*factor = i ? max(shortages[i - 1].factor, 2.0) : 1;
	free(shortages);
	return time ? without / time : 0;
}

/* Add the sentences about a group that are not there yet. */
static void fnstat_group__add_remarks(const struct fnstat_group *group, struct strbuf *remarks)
{
	const struct fnstat_missing *missing = &group->missing;
	double throttled = fnstat_group__throttled(group);
	double threads = fnstat_group__short_threads(group);

	if (group->sampler->core.attr.alt_sample_period && !fnstat_group__has_windows(group))
		add_line(remarks,
			 "Windows that count the kernel have the interrupts in them, and are not used: record user space, ':uS'.");
	if (group->differs) {
		add_line(remarks,
			 "%s is %.3g in the windows, and %.3g was counted: they are not like the program, as with interrupts in them, and all values have a mark.%s",
			 group->differs->header, group->mean, group->differs->total,
			 group->insns < 0 ? " Record instructions in the same group." : "");
	}
	/* Without a sample, nothing was counted. */
	if (group->contradicted && isfinite(group->contradiction)) {
		add_line(remarks,
			 "Samples are %.0f %% of what was counted, as with a filter or with threads that end before their first sample: windows and samples are not used together, and all values have a mark.",
			 group->contradiction);
	}
	/* The part is not known without --running-time of perf record. */
	if (missing->nr_throttled && !missing->time) {
		add_line(remarks,
			 "Throttled %u times: what ran then is missing. Record with a longer period.",
			 missing->nr_throttled);
	} else if (throttled >= 0.005) {
		add_line(remarks,
			 "Throttled for %.0f %% of the time (%u times): what ran then is missing. Record with a longer period.",
			 100 * throttled, missing->nr_throttled);
	}
	if (threads > 0.01) {
		add_line(remarks,
			 "%u of %u threads, with up to %.0f %% of the time, ended before their first sample: record with -a, or a smaller -c.",
			 missing->nr_without_sample, missing->nr_ended, 100 * threads);
	}
	if (missing->lost > 0.01) {
		add_line(remarks,
			 "%.0f %% of the samples were lost: record with a longer period, or a larger buffer (-m).",
			 100 * missing->lost);
	}
	if (missing->kernel > 0.01) {
		add_line(remarks,
			 "%.0f %% of the time was in the kernel, or idle, and is not here: see --kernel of perf fnstat record.",
			 100 * missing->kernel);
	}
	if (fnstat_group__missing(group) > FNSTAT_MAX_MISSING) {
		add_line(remarks,
			 "All values have a mark, as more than %.0f %% of the time is missing.",
			 100 * FNSTAT_MAX_MISSING);
	}
}

/* Check if the columns of an event are in a table. */
static bool hists__has_in_table(struct hists *hists, struct evsel *evsel)
{
	struct hists *others = evsel__hists(evsel);

	return others == hists ||
	       (others->fnstat_group && evsel__is_in_fnstat_table(evsel) &&
		hists__fnstat_table(others) == hists);
}

/**
 * hists__fnstat_remarks - Say what is missing in a table, or wrong.
 * @hists: Of the event that samples, with the data of metrics.
 * @remarks: Gets a line for each sentence.
 */
void hists__fnstat_remarks(struct hists *hists, struct strbuf *remarks)
{
	struct evsel *evsel;

	evlist__for_each_entry(hists_to_evsel(hists)->evlist, evsel) {
		if (hists__has_in_table(hists, evsel))
			fnstat_group__add_remarks(evsel__hists(evsel)->fnstat_group, remarks);
	}
}

/**
 * hists__fnstat_advice - Say how much more data a table needs for good values.
 * @hists: Of the event that samples, sorted for output.
 *
 * Return: A sentence to be freed, or NULL if most of the time has a good value.
 */
char *hists__fnstat_advice(struct hists *hists)
{
	const struct fnstat_group *group = hists->fnstat_group;
	const struct perf_event_attr *attr = &group->sampler->core.attr;
	unsigned int metric = 0;
	double part, factor = 1, period;
	bool at_least = false;
	char *remark;
	int ret;

	while (metric < group->nr_metrics && strcasecmp(group->metrics[metric].name, "cpi"))
		metric++;
	if (metric == group->nr_metrics || !group->metrics[metric].available ||
	    fnstat_group__marks_all(group) || symbol_conf.report_hierarchy)
		return NULL;
	if (!group->samplers[group->insns] && !group->branches && !fnstat_group__has_windows(group))
		return strdup("Instructions have no samples of their own, so no function has a CPI: see perf fnstat record.");
	part = hists__fnstat_shortage(hists, metric, &factor, &at_least);
	if (part < 0.1)
		return NULL;
	/* A fifth more, because another recording has other errors. */
	factor = ceil(1.2 * factor);
	period = attr->freq ? 0 : floor(attr->sample_period / factor / 100) * 100;
	if (isinf(factor)) {
		ret = asprintf(&remark, "%.0f %% of the time has no good CPI, and has none in a longer recording, as no samples of instructions are exact.",
			       100 * part);
	} else if (!(factor < FNSTAT_FAR_MORE)) {
		ret = asprintf(&remark, "%.0f %% of the time has no good CPI: record far longer.",
			       100 * part);
	} else if (period >= 10000) {
		ret = asprintf(&remark, "%.0f %% of the time has no good CPI: record %s%.0f times as long, or with -c %.0f.",
			       100 * part, at_least ? "at least " : "", factor, period);
	} else {
		ret = asprintf(&remark, "%.0f %% of the time has no good CPI: record %s%.0f times as long.",
			       100 * part, at_least ? "at least " : "", factor);
	}
	return ret < 0 ? NULL : remark;
}

/* Print what a column is, in the line of the column before if there is room. */
static size_t fprintf_column_text(const char *header, const char *text, const char *prefix,
				  size_t *width, FILE *fp)
{
	size_t len = strlen(header) + strlen(text) + strlen(": .");
	/* A box on the screen has a frame. */
	size_t max_width = *prefix ? 80 : 76;
	size_t ret = 0, printed;

	if (*width && *width + 1 + len > max_width) {
		ret = fprintf(fp, "\n");
		*width = 0;
	}
	printed = fprintf(fp, "%s%s: %s.", *width ? " " : prefix, header, text);
	*width += printed;
	return ret + printed;
}

static const char *hpp_fnstat__text(const struct hpp_fnstat *hw, struct hists *hists)
{
	const struct fnstat_metric *metric = hpp_fnstat__metric(hw, hists);

	switch (hw->column) {
	case COLUMN_WINDOWS:
		return "number of windows that are used";
	case COLUMN_LEFT:
		return "percentage of the windows that ended elsewhere";
	case COLUMN_TIME:
		return "percentage of the time";
	default:
		return metric ? metric->text : NULL;
	}
}

/* Print what the columns of a table are. */
static size_t hists__fprintf_fnstat_columns(struct hists *hists, FILE *fp)
{
	struct perf_hpp_fmt *fmt;
	size_t width = 0, ret = 0;

	hists__for_each_format(hists, fmt) {
		const struct hpp_fnstat *hw = hpp_fnstat(fmt);
		const char *text;

		if (!perf_hpp__is_fnstat_entry(fmt) || perf_hpp__should_skip(fmt, hists))
			continue;
		text = hpp_fnstat__text(hw, hists);
		if (text) {
			ret += fprintf_column_text(hpp_fnstat__header(hw, hists), text, "# ",
						   &width, fp);
		}
	}
	return ret + (width ? fprintf(fp, "\n") : 0);
}

static size_t fprintf_lines(const struct strbuf *lines, FILE *fp)
{
	size_t ret = 0;
	char *tmp;

	for (char *line = strtok_r(lines->buf, "\n", &tmp); line; line = strtok_r(NULL, "\n", &tmp))
		ret += fprintf(fp, "# %s\n", line);
	return ret;
}

/**
 * hists__fprintf_fnstat - Print what a reader of a table has to know.
 * @hists: Of the event that samples.
 * @fp: Where to print.
 *
 * Return: The number of characters.
 */
size_t hists__fprintf_fnstat(struct hists *hists, FILE *fp)
{
	struct evsel *evsel = hists_to_evsel(hists), *pos;
	struct strbuf lines = STRBUF_INIT, text = STRBUF_INIT;
	bool has_metric = false;
	char *remark;
	size_t ret = 0;

	if (!hists->fnstat_group)
		return 0;
	hists__fnstat_remarks(hists, &lines);
	ret += fprintf_lines(&lines, fp);
	ret += fnstat_group__fprintf_totals(hists->fnstat_group, "# ", fp);
	strbuf_setlen(&lines, 0);
	evlist__for_each_entry(evsel->evlist, pos) {
		const struct fnstat_group *group = evsel__hists(pos)->fnstat_group;

		if (!hists__has_in_table(hists, pos))
			continue;
		for (unsigned int i = 0; i < group->nr_metrics; i++)
			has_metric |= group->metrics[i].available;
		if (!group->branches && !fnstat_group__has_windows(group))
			continue;
		fnstat_stats__describe(&group->all, evsel__hists(pos), &text);
		add_line(&lines, "%s", text.buf);
		strbuf_setlen(&text, 0);
	}
	ret += fprintf_lines(&lines, fp);
	strbuf_release(&lines);
	strbuf_release(&text);
	ret += hists__fprintf_fnstat_columns(hists, fp);
	if (has_metric)
		ret += fprintf(fp, "# %s\n", FNSTAT_LEGEND);
	remark = hists__fnstat_advice(hists);
	if (remark)
		ret += fprintf(fp, "# %s\n", remark);
	free(remark);
	return ret + fprintf(fp, "#\n");
}

/**
 * hists__has_fnstat_columns - Check if a table has columns of metrics.
 * @hists: Of the event that samples.
 *
 * Return: False if no event of a metric was recorded, as with a clock.
 */
bool hists__has_fnstat_columns(struct hists *hists)
{
	struct perf_hpp_fmt *fmt;

	hists__for_each_format(hists, fmt) {
		if (perf_hpp__is_fnstat_entry(fmt) && !perf_hpp__should_skip(fmt, hists))
			return hists->fnstat_group;
	}
	return false;
}

/**
 * hist_entry__fprintf_fnstat - Print the metrics of an entry with their intervals.
 * @he: The entry.
 * @fp: Where to print.
 *
 * Also prints the metrics of all entries.
 *
 * Return: The number of characters, 0 if the entry has no metrics.
 */
size_t hist_entry__fprintf_fnstat(struct hist_entry *he, FILE *fp)
{
	const struct fnstat_group *group = he->hists->fnstat_group;
	const struct fnstat_stats *stats = hist_entry__shown_fnstat(he);
	struct strbuf text = STRBUF_INIT;
	size_t width = 0, ret = 0;
	char value[128];

	if (!group || !stats)
		return 0;

	fnstat_stats__describe(stats, he->hists, &text);
	ret += fnstat_group__fprintf_totals(group, "", fp);
	ret += fprintf(fp, "\n%s", text.buf);
	strbuf_release(&text);
	if (!hists__has_fnstat_columns(he->hists))
		return ret + fprintf(fp, "\n");
	ret += fprintf(fp, "\n\n%-24s %30s %10s\n", "", "entry, interval of 95 %", "total");
	for (unsigned int i = 0; i < group->nr_metrics; i++) {
		const struct hpp_fnstat hw = { .column = i };
		const struct fnstat_metric *metric = hpp_fnstat__metric(&hw, he->hists);

		if (!metric->available)
			continue;
		hpp_fnstat__print(&hw, he, /*ci=*/true, value, sizeof(value), /*color=*/NULL);
		ret += fprintf(fp, "%-24s %30s", metric->header, value);
		hpp_fnstat__print_total(&hw, he->hists, value, sizeof(value));
		ret += fprintf(fp, " %10s\n", value);
	}
	ret += fprintf(fp, "\n");
	for (unsigned int i = 0; i < group->nr_metrics; i++) {
		const struct hpp_fnstat hw = { .column = i };
		const struct fnstat_metric *metric = hpp_fnstat__metric(&hw, he->hists);

		if (metric->available && metric->text)
			ret += fprintf_column_text(metric->header, metric->text, "", &width, fp);
	}
	return ret + fprintf(fp, "%s%s\n", width ? "\n" : "", FNSTAT_LEGEND);
}

/**
 * hists__fprintf_fnstat_totals - Print the row after those of the entries.
 * @hists: Of the event that samples.
 * @fp: Where to print.
 *
 * Return: The number of characters.
 */
size_t hists__fprintf_fnstat_totals(struct hists *hists, FILE *fp)
{
	const char *sep = symbol_conf.field_sep, *name = "[total]";
	struct perf_hpp_fmt *fmt;
	bool first = true;
	size_t ret = 0;
	char bf[1024], value[128];
	struct perf_hpp hpp = { .buf = bf, .size = sizeof(bf) };

	if (!hists__has_fnstat_columns(hists))
		return 0;

	ret += fprintf(fp, "%s", sep ? "" : "# ");
	hists__for_each_format(hists, fmt) {
		int width;

		if (perf_hpp__should_skip(fmt, hists))
			continue;

		width = sep ? 0 : fmt->width(fmt, &hpp, hists);
		value[0] = '\0';
		if (perf_hpp__is_fnstat_entry(fmt)) {
			hpp_fnstat__print_total(hpp_fnstat(fmt), hists, value, sizeof(value));
		} else if (perf_hpp__is_sort_entry(fmt)) {
			/* In a hierarchy, the sort keys are one column, the last one. */
			if (symbol_conf.report_hierarchy)
				continue;
			/* The name stands in the first column of names. */
			ret += fprintf(fp, "%s%-*s", first ? "" : sep ?: "  ", width, name);
			name = "";
			first = false;
			continue;
		}
		ret += fprintf(fp, "%s%*s", first ? "" : sep ?: "  ", width, value);
		first = false;
	}
	if (symbol_conf.report_hierarchy)
		ret += fprintf(fp, "%s%s", first ? "" : sep ?: "  ", name);
	return ret + fprintf(fp, "\n");
}
