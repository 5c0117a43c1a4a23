/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_WINDOW_RECORD_H
#define __PERF_WINDOW_RECORD_H

#include <stdbool.h>

struct evlist;
struct strbuf;

/**
 * struct window_record - Common options of the groups of events of a recording.
 * @pmu: Of all events, or NULL if they are those of each core PMU.
 * @sampler: The event that samples, with its terms, or several, separated by commas.
 * @branches_sampler: The same for groups whose events can all sample, with branch stacks in
 *	place of windows, or NULL.
 * @terms: Terms of the other events, to sample those that can, or NULL.
 * @modifiers: Of each group.
 * @windows: @sampler has windows of user space. Each group counts instructions, which tell what an
 *	interrupt adds to them.
 */
struct window_record {
	const char	*pmu;
	const char	*sampler;
	const char	*branches_sampler;
	const char	*terms;
	const char	*modifiers;
	bool		windows;
};

int window_record__add_group(const struct window_record *rec, const char *counters,
			     struct strbuf *events);
int window_record__add_metrics(const struct window_record *rec, const char *metrics,
			       struct strbuf *events);
int window_record__can_open(const char *events);
int window_record__open(const char *events, struct evlist **evlist);

#endif /* __PERF_WINDOW_RECORD_H */
