/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_UI_FNSTAT_H
#define __PERF_UI_FNSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct evlist;
struct evsel;
struct group_sample;
struct group_tracker;
struct hist_entry;
struct hists;
struct machine;
struct perf_env;
struct perf_hpp_fmt;
struct perf_sample;
struct strbuf;
union perf_event;

#define FNSTAT_LEGEND \
	"'?': can be wrong by more than a quarter. '<': less than that. '-': not known."

bool perf_hpp__is_fnstat_column(const char *name);
struct perf_hpp_fmt *perf_hpp__new_fnstat_column(const char *name);
int perf_hpp__snprint_field_names(const char *name, char *buf, size_t size);
bool perf_hpp__is_csv(void);
int perf_hpp__strip_field(struct perf_hpp_fmt *fmt, char *field);
bool perf_hpp__is_fnstat_entry(const struct perf_hpp_fmt *fmt);
struct perf_hpp_fmt *perf_hpp__dup_fnstat_entry(struct perf_hpp_fmt *fmt);
int perf_hpp__add_fnstat_columns(const char *metrics, struct evlist *evlist,
				 struct perf_env *env);
void perf_hpp__add_function_key(void);
int perf_hpp__find_fnstat_metric(const char *name);
int hists__init_fnstat(struct hists *hists);
int hists__track_sample(struct hists *hists, struct group_tracker *tracker,
			struct perf_sample *sample, struct machine *machine,
			struct group_sample *gs);
bool hists__has_metric(const struct hists *hists, unsigned int metric);
int hist_entry__snprint_metric(struct hist_entry *he, unsigned int metric, char *buf,
			       size_t size);
bool hist_entry__metric_z(struct hist_entry *he, struct hist_entry *pair,
			  unsigned int metric, double *z);
void hist_entry__fprintf_fnstat_json(struct hist_entry *he, bool children, int depth, FILE *fp);
void hists__fprintf_fnstat_json(struct hists *hists, int depth, FILE *fp);
bool evsel__is_in_fnstat_table(struct evsel *evsel);
int evlist__check_samples(struct evlist *evlist, const char *path, bool part);
void evlist__warn_fnstat_metrics(struct evlist *evlist);
void evlist__warn_unused_events(struct evlist *evlist);
void hists__track_throttle(struct group_tracker *tracker, union perf_event *event,
			   struct perf_sample *sample);
void evlist__find_missing(struct evlist *evlist, const struct group_tracker *tracker,
			  bool part);
bool hist_entry__has_few_samples(const struct hist_entry *he);
void hists__fnstat_remarks(struct hists *hists, struct strbuf *remarks);
char *hists__fnstat_advice(struct hists *hists);
size_t hists__fprintf_fnstat(struct hists *hists, FILE *fp);
size_t hist_entry__fprintf_fnstat(struct hist_entry *he, FILE *fp);
bool hists__has_fnstat_columns(struct hists *hists);
size_t hists__fprintf_fnstat_totals(struct hists *hists, FILE *fp);

#endif /* __PERF_UI_FNSTAT_H */
