/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_FNSTAT_EVENTS_H
#define __PERF_FNSTAT_EVENTS_H

#include <stdbool.h>

struct evlist;
struct strbuf;

/**
 * struct fnstat_events - Common options of the groups of events of a recording.
 * @pmu: Of all events, or NULL if they are those of each core PMU.
 * @sampler: The event that samples, with its terms, or several, separated by commas.
 * @branches_sampler: The same for groups whose events can all sample, with branch stacks in
 *	place of windows, or NULL.
 * @terms: Terms of the other events, to sample those that can, or NULL.
 * @modifiers: Of each group.
 * @windows: @sampler has windows of user space. Each group counts instructions, which tell what an
 *	interrupt adds to them.
 */
struct fnstat_events {
	const char	*pmu;
	const char	*sampler;
	const char	*branches_sampler;
	const char	*terms;
	const char	*modifiers;
	bool		windows;
};

int fnstat_events__add_group(const struct fnstat_events *rec, const char *counters,
			     struct strbuf *events);
int fnstat_events__add_metrics(const struct fnstat_events *rec, const char *metrics,
			       struct strbuf *events);
int fnstat_events__can_open(const char *events);
int fnstat_events__open(const char *events, struct evlist **evlist);

#endif /* __PERF_FNSTAT_EVENTS_H */
