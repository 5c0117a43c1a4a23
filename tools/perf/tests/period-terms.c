// SPDX-License-Identifier: GPL-2.0
/*
 * Parse random combinations of the event terms for sample periods, valid and
 * invalid. The parser must refuse invalid ones with a message, and the attr of valid
 * ones must be that of a simple model, whatever the order of the terms.
 *
 * PERF_TEST_SEED in the environment selects other combinations.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include "debug.h"
#include "evlist.h"
#include "evsel.h"
#include "parse-events.h"
#include "record.h"
#include "tests.h"

#define NR_STRINGS	3000
#define MAX_EVENTS	3
#define MAX_TERMS	6
#define DEFAULT_FREQ	4000

/* The expected attr of an event. */
struct model {
	bool freq;
	u64 period;			/* or the frequency */
	u64 alt_period;
	u64 jitter, alt_jitter, alt_count;
};

static u64 state;

/* splitmix64 */
static u64 next_random(void)
{
	u64 z = (state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static unsigned int below(unsigned int limit)
{
	return next_random() % limit;
}

/* Return a number of up to 64 bits, often at the end of a range. */
static u64 random_value(void)
{
	static const u64 edges[] = {
		0, 1, UINT_MAX, UINT_MAX + 1ULL, INT64_MAX, INT64_MAX + 1ULL, UINT64_MAX,
	};

	return below(3) ? next_random() >> below(64) : edges[below(ARRAY_SIZE(edges))];
}

static void add_good_term(char *text, size_t size, struct model *model)
{
	static const struct {
		const char *name;
		size_t offset;		/* in the model */
		u64 max;
	} terms[] = {
		{ "period", offsetof(struct model, period), UINT64_MAX },
		{ "freq", offsetof(struct model, period), UINT64_MAX },
		{ "alt-period", offsetof(struct model, alt_period), INT64_MAX },
		{ "alt-count", offsetof(struct model, alt_count), UINT_MAX },
		{ "period-jitter", offsetof(struct model, jitter), UINT_MAX },
		{ "alt-period-jitter", offsetof(struct model, alt_jitter), UINT_MAX },
	};
	unsigned int i = below(ARRAY_SIZE(terms));
	u64 value;

	do {
		value = random_value();
	} while (value > terms[i].max);

	if (i < 2)
		model->freq = i;
	*(u64 *)((void *)model + terms[i].offset) = value;
	scnprintf(text, size, below(2) ? "%s=%" PRIu64 : "%s=0x%" PRIx64, terms[i].name, value);
}

static void add_other_term(char *text, size_t size)
{
	static const char * const terms[] = { "time=0", "time", "name=some", "no-inherit" };

	scnprintf(text, size, "%s", terms[below(ARRAY_SIZE(terms))]);
}

static void add_bad_term(char *text, size_t size)
{
	static const char * const names[] = {
		"alt-period", "alt-count", "period-jitter", "alt-period-jitter",
	};
	static const char * const values[] = {
		"", "=", "=no", "=-1", "=1x", "=1.5", "=18446744073709551616",
		"=0x8000000000000000", "=18446744073709551615", "=0x1ffffffffffffffff",
	};
	static const char * const unknown[] = {
		"alt_period=1", "jitter=1", "window=1", "alt-periods=1", "-period=1",
	};

	if (below(4))
		scnprintf(text, size, "%s%s", names[below(ARRAY_SIZE(names))],
			  values[below(ARRAY_SIZE(values))]);
	else
		scnprintf(text, size, "%s", unknown[below(ARRAY_SIZE(unknown))]);
}

/* Write an event to @text, return true if the parser should accept it. */
static bool random_event(char *text, size_t size, struct model *model)
{
	static const char * const names[] = { "cpu-clock", "page-faults", "dummy" };
	unsigned int nr = 1 + below(MAX_TERMS);
	bool good = true;
	size_t len;

	*model = (struct model){ .freq = true, .period = DEFAULT_FREQ };
	len = scnprintf(text, size, "%s/", names[below(ARRAY_SIZE(names))]);
	for (unsigned int i = 0; i < nr; i++) {
		char term[64];

		if (!below(12)) {
			add_bad_term(term, sizeof(term));
			good = false;
		} else if (!below(6)) {
			add_other_term(term, sizeof(term));
		} else {
			add_good_term(term, sizeof(term), model);
		}
		len += scnprintf(text + len, size - len, "%s%s", i ? "," : "", term);
	}
	scnprintf(text + len, size - len, "/");
	return good;
}

static bool is_as_modelled(struct evsel *evsel, const struct model *model,
			   const struct record_opts *opts)
{
	const struct perf_event_attr *attr = &evsel->core.attr;
	bool varies = model->alt_period || model->alt_count || model->jitter ||
		      model->alt_jitter;
	bool with_period = model->freq || varies;

	if (opts->period_set)
		with_period = opts->period;
	if (opts->no_samples && (attr->alt_sample_period || attr->alt_sample_count ||
				 attr->sample_jitter || attr->alt_sample_jitter))
		return false;

	return opts->no_samples ||
	       (attr->freq == model->freq && attr->sample_period == model->period &&
		attr->alt_sample_period == model->alt_period &&
		attr->alt_sample_count == model->alt_count &&
		attr->sample_jitter == model->jitter &&
		attr->alt_sample_jitter == model->alt_jitter &&
		!!(attr->sample_type & PERF_SAMPLE_PERIOD) == with_period);
}

static int check_string(char *text, const struct model *models, bool good)
{
	struct record_opts opts = {
		.freq = DEFAULT_FREQ,
		.user_freq = UINT_MAX,
		.user_interval = ULLONG_MAX,
		.no_samples = !below(8),
		.period_set = !below(4),
		.period = below(2),
	};
	struct evlist *evlist = evlist__new();
	struct parse_events_error err;
	struct evsel *evsel;
	int ret = TEST_FAIL;

	if (!evlist)
		return TEST_FAIL;

	parse_events_error__init(&err);
	if (parse_events(evlist, text, &err)) {
		if (good)
			pr_debug("refused: %s\n", text);
		else if (list_empty(&err.list))
			pr_debug("refused without a message: %s\n", text);
		else
			ret = TEST_OK;
		goto out;
	}
	if (!good) {
		pr_debug("not refused: %s\n", text);
		goto out;
	}
	evlist__for_each_entry(evlist, evsel) {
		evsel__config(evsel, &opts, NULL);
		if (!is_as_modelled(evsel, &models[evsel->core.idx], &opts)) {
			pr_debug("event %d is not what was asked for%s: %s\n", evsel->core.idx,
				 opts.no_samples ? " with --no-samples" : "", text);
			goto out;
		}
	}
	ret = TEST_OK;
out:
	parse_events_error__exit(&err);
	evlist__put(evlist);
	return ret;
}

static void set_seed(void)
{
	const char *seed = getenv("PERF_TEST_SEED");

	state = seed ? strtoull(seed, NULL, 0) : 1;
	pr_debug("seed %" PRIu64 "\n", state);
}

static int test__model(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	unsigned int nr_good = 0;

	set_seed();
	for (unsigned int i = 0; i < NR_STRINGS; i++) {
		struct model models[MAX_EVENTS];
		unsigned int nr = 1 + below(MAX_EVENTS);
		bool group = !below(3), good = true;
		char text[2048];
		size_t len = scnprintf(text, sizeof(text), "%s", group ? "{" : "");

		for (unsigned int j = 0; j < nr; j++) {
			char event[512];

			good &= random_event(event, sizeof(event), &models[j]);
			len += scnprintf(text + len, sizeof(text) - len, "%s%s", j ? "," : "",
					 event);
		}
		scnprintf(text + len, sizeof(text) - len, "%s", group ? "}" : "");
		nr_good += good;
		if (check_string(text, models, good))
			return TEST_FAIL;
	}
	pr_debug("%u strings, %u of them good\n", NR_STRINGS, nr_good);
	return nr_good > NR_STRINGS / 8 && nr_good < NR_STRINGS * 7 / 8 ? TEST_OK : TEST_FAIL;
}

/* Check only that the parser survives and gives a reason for each refusal. */
static int test__garbage(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const char * const tokens[] = {
		"cpu-clock", "page-faults", "/", "/", ",", ",", "=", "{", "}", ":", "S", "u", "p",
		"alt-period", "alt-count", "period-jitter", "alt-period-jitter", "period", "freq",
		"1", "300", "0x", "0xffffffffffffffff", "-", " ", "'", "*", "@", "name",
	};

	set_seed();
	for (unsigned int i = 0; i < NR_STRINGS; i++) {
		struct evlist *evlist = evlist__new();
		struct parse_events_error err;
		unsigned int nr = 1 + below(16);
		char text[512] = "";
		bool silent;

		if (!evlist)
			return TEST_FAIL;
		for (unsigned int j = 0; j < nr; j++)
			strcat(text, tokens[below(ARRAY_SIZE(tokens))]);
		parse_events_error__init(&err);
		silent = parse_events(evlist, text, &err) && list_empty(&err.list);
		parse_events_error__exit(&err);
		evlist__put(evlist);
		if (silent) {
			pr_debug("refused without a message: %s\n", text);
			return TEST_FAIL;
		}
	}
	return TEST_OK;
}

static struct test_case tests__period_terms[] = {
	TEST_CASE("Valid and invalid terms", model),
	TEST_CASE("Tokens in random order", garbage),
	{	.name = NULL, }
};

struct test_suite suite__period_terms = {
	.desc = "Random terms of sample periods",
	.test_cases = tests__period_terms,
};
