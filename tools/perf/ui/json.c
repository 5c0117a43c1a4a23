// SPDX-License-Identifier: GPL-2.0
/* Entries of a report as JSON, see tools/perf/Documentation/report-json.txt. */
#include "../util/json-output.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/string.h>

#include "../util/callchain.h"
#include "../util/comm.h"
#include "../util/data.h"
#include "../util/env.h"
#include "../util/evlist.h"
#include "../util/evsel.h"
#include "../util/hist.h"
#include "fnstat.h"
#include "../util/map_symbol.h"
#include "../util/session.h"
#include "../util/sort.h"
#include "../util/symbol.h"
#include "../util/symbol_conf.h"

/* Incremented when a program that reads the output has to be changed. */
#define JSON_VERSION	1

/* Print the name of a column as a name of a member. */
static void fprintf_key(FILE *fp, const char *header, int depth)
{
	char key[64];
	size_t i;

	for (i = 0; header[i] && i < sizeof(key) - 1; i++)
		key[i] = isalnum(header[i]) ? tolower(header[i]) : '_';
	key[i] = '\0';
	output_json_delimiters(fp, true, depth);
	output_json_string(fp, key);
	fputs(": ", fp);
}

static void hist_entry__fprintf_keys_json(struct hist_entry *he, struct hists *hists, int depth,
					  FILE *fp)
{
	struct perf_hpp_fmt *fmt;
	char buf[4096];

	hists__for_each_format(hists, fmt) {
		struct perf_hpp hpp = { .buf = buf, .size = sizeof(buf) };

		/* A key that is a field belongs to a tracepoint, and other events lack it. */
		if (!perf_hpp__is_sort_entry(fmt) &&
		    !(perf_hpp__is_dynamic_entry(fmt) &&
		      perf_hpp__defined_dynamic_entry(fmt, hists)))
			continue;
		/* A field can have the name of a key. */
		scnprintf(buf, sizeof(buf), "%s%s",
			  perf_hpp__is_dynamic_entry(fmt) ? "field." : "", fmt->name);
		fprintf_key(fp, buf, depth);
		/* The column has the mode of the CPU too. */
		if (perf_hpp__is_sym_entry(fmt) && he->ms.sym) {
			output_json_string(fp, he->ms.sym->name);
			continue;
		}
		if (perf_hpp__is_sym_entry(fmt)) {
			fprintf(fp, "\"%#" PRIx64 "\"", he->ip);
			continue;
		}
		/* Its blanks are part of a name. */
		if (perf_hpp__is_comm_entry(fmt)) {
			output_json_string(fp, comm__str(he->comm));
			continue;
		}
		buf[0] = '\0';
		fmt->entry(fmt, &hpp, he);
		output_json_string(fp, strim(buf));
	}
	if (he->ms.sym || he->ip)
		output_json_key_format(fp, true, depth, "mode", "\"%c\"", he->level);
}

/* Print the functions of a node. Flat and folded chains have no tree: they are whole. */
static void callchain__fprintf_frames_json(struct callchain_node *cnode, bool *comma, FILE *fp)
{
	struct callchain_list *chain;
	char buf[1024];

	if (cnode->parent &&
	    (callchain_param.mode == CHAIN_FLAT || callchain_param.mode == CHAIN_FOLDED))
		callchain__fprintf_frames_json(cnode->parent, comma, fp);
	list_for_each_entry(chain, &cnode->val, list) {
		if (*comma)
			fputs(", ", fp);
		*comma = true;
		output_json_string(fp, callchain_list__sym_name(chain, buf, sizeof(buf),
								/*show_dso=*/false));
	}
}

/* Print the nodes of a tree, and the end of their array. */
static void callchain__fprintf_json(struct rb_root *root, int depth, FILE *fp)
{
	bool first = true;

	for (struct rb_node *node = rb_first(root); node; node = rb_next(node)) {
		struct callchain_node *cnode = rb_entry(node, struct callchain_node, rb_node);
		bool comma = false;

		output_json_format(fp, !first, depth + 1, "{");
		first = false;
		output_json_key_format(fp, false, depth + 2, "period", "%" PRIu64, cnode->hit);
		output_json_key_format(fp, true, depth + 2, "frames", "[");
		callchain__fprintf_frames_json(cnode, &comma, fp);
		fputc(']', fp);
		if (!RB_EMPTY_ROOT(&cnode->rb_root)) {
			output_json_key_format(fp, true, depth + 2, "next", "[");
			callchain__fprintf_json(&cnode->rb_root, depth + 2, fp);
		}
		output_json_format(fp, false, depth + 1, "}");
	}
	if (!first)
		output_json_delimiters(fp, false, depth);
	fputc(']', fp);
}

static void hist_entry__fprintf_json(struct hist_entry *he, struct hists *hists, int depth,
				     FILE *fp)
{
	output_json_key_format(fp, false, depth, "samples", "%u", he->stat.nr_events);
	hist_entry__fprintf_keys_json(he, hists, depth, fp);
	output_json_key_format(fp, true, depth, "period", "%" PRIu64, he->stat.period);
	hist_entry__fprintf_fnstat_json(he, /*children=*/false, depth, fp);
	if (symbol_conf.cumulate_callchain) {
		output_json_key_format(fp, true, depth, "children", "{");
		output_json_key_format(fp, false, depth + 1, "samples", "%u",
				       he->stat_acc->nr_events);
		output_json_key_format(fp, true, depth + 1, "period", "%" PRIu64,
				       he->stat_acc->period);
		hist_entry__fprintf_fnstat_json(he, /*children=*/true, depth + 1, fp);
		output_json_format(fp, false, depth, "}");
	}
	if (hist_entry__has_callchains(he) && symbol_conf.use_callchain) {
		output_json_key_format(fp, true, depth, "callchains", "[");
		callchain__fprintf_json(&he->sorted_chain, depth, fp);
	}
}

/* Print what a period is a number of. All that have the same unit can be added. */
static void evsel__fprintf_unit_json(struct evsel *evsel, int depth, FILE *fp)
{
	char *unit = evsel__unit(evsel);

	output_json_key_string(fp, true, depth, "unit", unit ?: evsel__name(evsel));
	free(unit);
}

static void hists__fprintf_json(struct hists *hists, int depth, FILE *fp)
{
	bool comma = false;

	output_json_key_string(fp, false, depth, "event", evsel__name(hists_to_evsel(hists)));
	evsel__fprintf_unit_json(hists_to_evsel(hists), depth, fp);
	output_json_key_format(fp, true, depth, "samples", "%u", hists->stats.nr_samples);
	output_json_key_format(fp, true, depth, "period", "%" PRIu64, hists->stats.total_period);
	if (hists->fnstat_group) {
		output_json_key_format(fp, true, depth, "fnstat", "{");
		hists__fprintf_fnstat_json(hists, depth + 1, fp);
		output_json_format(fp, false, depth, "}");
	}
	if (symbol_conf.use_callchain) {
		output_json_key_string(fp, true, depth, "callchain_order",
				       callchain_param.order == ORDER_CALLER ? "caller" : "callee");
	}
	output_json_key_format(fp, true, depth, "entries", "[");
	for (struct rb_node *node = rb_first_cached(&hists->entries); node; node = rb_next(node)) {
		struct hist_entry *he = rb_entry(node, struct hist_entry, rb_node);

		if (he->filtered)
			continue;
		output_json_format(fp, comma, depth + 1, "{");
		comma = true;
		hist_entry__fprintf_json(he, hists, depth + 2, fp);
		output_json_format(fp, false, depth + 1, "}");
	}
	output_json_format(fp, false, depth, "]");
}

/**
 * perf_session__fprintf_json - Write the entries of all events that have samples as JSON.
 * @session: The recording, its entries sorted for output.
 * @fp: Where to write.
 *
 * Return: 0, or -1 if it could not be written.
 */
int perf_session__fprintf_json(struct perf_session *session, FILE *fp)
{
	struct perf_env *env = perf_session__env(session);
	struct evlist *evlist = session->evlist;
	struct evsel *evsel;
	bool comma = false;

	fputc('{', fp);
	output_json_key_format(fp, false, 1, "version", "%d", JSON_VERSION);
	if (env->hostname)
		output_json_key_string(fp, true, 1, "host", env->hostname);
	if (env->arch)
		output_json_key_string(fp, true, 1, "arch", env->arch);
	/* Without one in the recording, it can be that of this machine. */
	if (env->cpuid && (perf_data__is_pipe(session->data) ||
			   perf_header__has_feat(&session->header, HEADER_CPUID)))
		output_json_key_string(fp, true, 1, "cpuid", env->cpuid);
	output_json_key_format(fp, true, 1, "lost_samples", "%" PRIu64,
			       (u64)evlist__stats(evlist)->total_lost_samples);
	output_json_key_format(fp, true, 1, "events", "[");
	evlist__for_each_entry(evlist, evsel) {
		struct hists *hists = evsel__hists(evsel);

		if (!hists->stats.nr_samples)
			continue;
		/* Skip events whose samples are in the metrics of another event. */
		if (symbol_conf.show_fnstat && !hists->fnstat_group &&
		    evsel__is_in_fnstat_table(evsel))
			continue;
		output_json_format(fp, comma, 2, "{");
		comma = true;
		hists__fprintf_json(hists, 3, fp);
		output_json_format(fp, false, 2, "}");
	}
	output_json_format(fp, false, 1, "]");
	output_json_format(fp, false, 0, "}\n");
	return fflush(fp) || ferror(fp) ? -1 : 0;
}
