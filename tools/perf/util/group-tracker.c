// SPDX-License-Identifier: GPL-2.0
/*
 * What a group of events counted between two samples that have its counts.
 *
 * An event with perf_event_attr::alt_sample_period alternates between a long interval
 * and windows. The sample that ends the long interval begins a round, each of the next
 * ends a window.
 */
#include "group-tracker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>
#include <internal/rc_check.h>
#include <perf/event.h>

#include "evlist.h"
#include "evsel.h"
#include "hashmap.h"
#include "sample.h"
#include "thread.h"

struct window_round {
	void			*data;
	size_t			size;
	/* Size of the allocation, which the next round reuses. */
	size_t			allocated;
};

/* One instance of an event: on a CPU, of a task, or with inheritance one of several. */
struct group_source {
	/* The key: an ID of the event that samples. */
	u64			id;
	struct evsel		*sampler;
	/* Index of the sampler in the group, or an error. */
	int			sampler_member;
	unsigned int		nr_members;
	/* Index in the group of each value of a group read, and the ID it was found for. */
	unsigned int		nr_values;
	u64			*value_ids;
	int			*members;
	/* Incremented when the event was throttled. */
	u64			nr_throttled;
};

/* The samples whose counts continue. */
struct group_stream {
	/* The key. tid is 0 if all threads share the counts. */
	struct group_source	*source;
	u32			tid;
	struct thread		*thread;
	bool			has_sample;
	bool			in_round;
	unsigned int		index;
	u64			time;
	u64			enabled;
	u64			last_long;
	u64			nr_throttled;
	u64			nr_lost;
	u64			lost;
	u64			not_running;
	/* A sample can end one round and begin another. */
	struct window_round	rounds[2];
	unsigned int		round;
	u64			counts[];
};

struct group_tracker {
	struct hashmap		*sources;
	struct hashmap		*streams;
	/* Since when instances of events are stopped, by the ID of the instance. */
	struct hashmap		*throttled;
	u64			nr_lost;
	/* Threads that ended, and those without a sample. */
	unsigned int		nr_ended;
	unsigned int		nr_without_sample;
	u64			*counts;
	u64			*deltas;
	unsigned int		nr_allocated;
};

static size_t group_source__hash(long key, void *ctx __maybe_unused)
{
	return ((struct group_source *)key)->id * 31;
}

static bool group_source__equal(long key1, long key2, void *ctx __maybe_unused)
{
	return ((struct group_source *)key1)->id == ((struct group_source *)key2)->id;
}

static size_t id__hash(long key, void *ctx __maybe_unused)
{
	return key * 31;
}

static bool id__equal(long key1, long key2, void *ctx __maybe_unused)
{
	return key1 == key2;
}

static size_t group_stream__hash(long key, void *ctx __maybe_unused)
{
	struct group_stream *stream = (struct group_stream *)key;

	return (size_t)stream->source / sizeof(void *) + stream->tid * 31;
}

static bool group_stream__equal(long key1, long key2, void *ctx __maybe_unused)
{
	struct group_stream *a = (struct group_stream *)key1;
	struct group_stream *b = (struct group_stream *)key2;

	return a->source == b->source && a->tid == b->tid;
}

/**
 * group_tracker__new - Make a tracker without samples.
 *
 * Return: The tracker, or NULL if memory is short.
 */
struct group_tracker *group_tracker__new(void)
{
	struct group_tracker *tracker = zalloc(sizeof(*tracker));

	if (!tracker)
		return NULL;

	tracker->sources = hashmap__new(group_source__hash, group_source__equal, NULL);
	tracker->streams = hashmap__new(group_stream__hash, group_stream__equal, NULL);
	tracker->throttled = hashmap__new(id__hash, id__equal, NULL);
	if (IS_ERR(tracker->sources) || IS_ERR(tracker->streams) ||
	    IS_ERR(tracker->throttled)) {
		group_tracker__delete(tracker);
		return NULL;
	}
	return tracker;
}

static void group_stream__delete(struct group_stream *stream)
{
	thread__put(stream->thread);
	free(stream->rounds[0].data);
	free(stream->rounds[1].data);
	free(stream);
}

static void group_source__delete(struct group_source *source)
{
	free(source->value_ids);
	free(source->members);
	free(source);
}

/**
 * group_tracker__delete - Free a tracker.
 * @tracker: The tracker, or NULL.
 */
void group_tracker__delete(struct group_tracker *tracker)
{
	struct hashmap_entry *cur;
	size_t bkt;

	if (!tracker)
		return;

	if (!IS_ERR_OR_NULL(tracker->streams)) {
		hashmap__for_each_entry(tracker->streams, cur, bkt)
			group_stream__delete(cur->pvalue);
	}
	if (!IS_ERR_OR_NULL(tracker->sources)) {
		hashmap__for_each_entry(tracker->sources, cur, bkt)
			group_source__delete(cur->pvalue);
	}
	hashmap__free(tracker->streams);
	hashmap__free(tracker->sources);
	hashmap__free(tracker->throttled);
	free(tracker->counts);
	free(tracker->deltas);
	free(tracker);
}

/**
 * evsel__group_sampler - Find the event of a group that samples, usually its leader.
 * @leader: Leader of the group.
 *
 * Return: The first event with a period or frequency, or @leader.
 */
struct evsel *evsel__group_sampler(struct evsel *leader)
{
	struct evsel *evsel;
	int member = 0;

	for_each_group_evsel(evsel, leader) {
		/* A file can claim to have fewer. */
		if (member++ >= leader->core.nr_members)
			break;
		if (evsel->core.attr.sample_period)
			return evsel;
	}
	return leader;
}

/* The kernel reads no more than 16 KB of a group, but a file can claim to have more. */
#define MAX_MEMBERS	(16 * 1024 / 8)

/**
 * evsel__reads_group - Check if the samples of an event can end windows.
 * @evsel: The event.
 *
 * Return: True if its samples have the counts of a group of two events or more, and no
 * event before it in the group samples.
 */
bool evsel__reads_group(struct evsel *evsel)
{
	const struct perf_event_attr *attr = &evsel->core.attr;
	struct evsel *leader = evsel__leader(evsel);

	return (attr->sample_type & PERF_SAMPLE_READ) &&
	       (attr->read_format & PERF_FORMAT_GROUP) &&
	       leader->core.nr_members > 1 && leader->core.nr_members <= MAX_MEMBERS &&
	       evsel__group_sampler(leader) == evsel;
}

/* Find the index in its group of the event with this ID, below @nr_members. */
static int evsel__find_member(struct evsel *leader, u64 id, unsigned int nr_members)
{
	struct perf_sample_id *sid = evlist__id2sid(leader->evlist, id);
	struct evsel *evsel, *pos;
	unsigned int member = 0;

	if (!sid || !sid->evsel)
		return -ENOENT;

	evsel = container_of(sid->evsel, struct evsel, core);
	for_each_group_evsel(pos, leader) {
		/* A file can claim to have fewer, a pipe later that it has more. */
		if (member >= nr_members)
			break;
		if (pos == evsel)
			return member;
		member++;
	}
	return -ENOENT;
}

static struct group_source *group_tracker__findnew_source(struct group_tracker *tracker,
							  u64 id, struct evsel *sampler)
{
	struct group_source key = { .id = id }, *source;

	if (hashmap__find(tracker->sources, &key, &source))
		return source;

	source = zalloc(sizeof(*source));
	if (!source)
		return NULL;

	source->id = id;
	source->sampler = sampler;
	source->nr_members = evsel__leader(sampler)->core.nr_members;
	source->sampler_member = evsel__find_member(evsel__leader(sampler), id,
						    source->nr_members);
	if (hashmap__add(tracker->sources, source, source)) {
		group_source__delete(source);
		return NULL;
	}
	return source;
}

static struct group_stream *group_tracker__findnew_stream(struct group_tracker *tracker,
							  struct group_source *source,
							    u32 tid)
{
	struct group_stream key = { .source = source, .tid = tid }, *stream;

	if (hashmap__find(tracker->streams, &key, &stream))
		return stream;

	stream = zalloc(sizeof(*stream) + source->nr_members * sizeof(u64));
	if (!stream)
		return NULL;

	stream->source = source;
	stream->tid = tid;
	if (hashmap__add(tracker->streams, stream, stream)) {
		group_stream__delete(stream);
		return NULL;
	}
	return stream;
}

/* Map values to members of the group. Look up only IDs that are new. */
static int group_source__map_values(struct group_source *source, struct perf_sample *sample)
{
	struct evsel *leader = evsel__leader(source->sampler);
	struct sample_read_value *v = sample->read.group.values;
	u64 read_format = source->sampler->core.attr.read_format;
	u64 nr = sample->read.group.nr;

	if (source->nr_values != nr) {
		zfree(&source->value_ids);
		zfree(&source->members);
		source->nr_values = 0;
		source->value_ids = calloc(nr, sizeof(*source->value_ids));
		source->members = calloc(nr, sizeof(*source->members));
		if (!source->value_ids || !source->members)
			return -ENOMEM;
		source->nr_values = nr;
		for (u64 i = 0; i < nr; i++)
			source->members[i] = -ENOENT;
	}
	for (u64 i = 0; i < nr; i++, v = next_sample_read_value(v, read_format)) {
		if (source->value_ids[i] == v->id && source->members[i] >= 0)
			continue;
		source->value_ids[i] = v->id;
		source->members[i] = evsel__find_member(leader, v->id, source->nr_members);
	}
	return 0;
}

/* Find the ID of the sampling event in a group read. */
static u64 sample__sampler_id(struct perf_sample *sample, struct evsel *sampler)
{
	struct sample_read_value *v = sample->read.group.values;
	u64 read_format = sampler->core.attr.read_format;
	struct evsel *leader = evsel__leader(sampler);

	/* The values begin with that of the leader. */
	if (sampler == leader && sample->read.group.nr)
		return v->id;

	sample_read_group__for_each(v, sample->read.group.nr, read_format) {
		struct perf_sample_id *sid = evlist__id2sid(leader->evlist, v->id);

		if (sid && sid->evsel == &sampler->core)
			return v->id;
	}
	return 0;
}

static int group_tracker__reserve(struct group_tracker *tracker, unsigned int nr)
{
	u64 *counts, *deltas;

	if (nr <= tracker->nr_allocated)
		return 0;

	counts = realloc(tracker->counts, nr * sizeof(*counts));
	if (counts)
		tracker->counts = counts;
	deltas = realloc(tracker->deltas, nr * sizeof(*deltas));
	if (deltas)
		tracker->deltas = deltas;
	if (!counts || !deltas)
		return -ENOMEM;
	tracker->nr_allocated = nr;
	return 0;
}

/* Copy the counts of a group read. Return the number of lost samples of the sampling event. */
static u64 group_source__read(struct group_source *source, struct perf_sample *sample,
			      u64 *counts)
{
	struct sample_read_value *v = sample->read.group.values;
	u64 read_format = source->sampler->core.attr.read_format;
	u64 lost = 0;

	memset(counts, 0, source->nr_members * sizeof(*counts));
	for (unsigned int i = 0; i < source->nr_values;
	     i++, v = next_sample_read_value(v, read_format)) {
		if (source->members[i] < 0)
			continue;
		counts[source->members[i]] = v->value;
		if (v->id == source->id && (read_format & PERF_FORMAT_LOST))
			lost = v->lost;
	}
	return lost;
}

/*
 * An overrun is less than half of the long interval, and a missing sample adds more than this.
 * The overrun of an ordinary interval shortens the next one.
 */
static bool has_armed_length(u64 length, u64 armed, bool window, u64 last_long)
{
	u64 overrun = (window && last_long ? last_long : armed) / 2;

	return length <= armed + overrun && length >= (window ? armed : armed - overrun);
}

/* Check if a sample ends a window of an event that alternates. */
static bool is_window(const struct perf_sample *sample)
{
	return sample->evsel->core.attr.alt_sample_period &&
	       (sample->misc & PERF_RECORD_MISC_ALT_WINDOW);
}

/* Compute the counts since the sample before, and the time in which the events counted. */
static void group_stream__count(struct group_stream *stream, struct group_tracker *tracker,
				struct perf_sample *sample, bool per_thread,
				struct group_sample *gs)
{
	struct group_source *source = stream->source;

	gs->nr_counts = source->nr_members;
	gs->counts = tracker->deltas;
	gs->whole = true;
	for (unsigned int i = 0; i < source->nr_members; i++) {
		u64 before = stream->has_sample ? stream->counts[i] : 0;

		if (tracker->counts[i] < before) {
			gs->problems |= WINDOW_BACKWARDS;
			gs->whole = false;
		}
		tracker->deltas[i] = tracker->counts[i] - before;
	}
	/* A file of --switch-output or --overwrite has only the last of what was counted. */
	if (!stream->has_sample && !has_armed_length(tracker->deltas[source->sampler_member],
						     sample->period, is_window(sample),
						     /*last_long=*/0))
		gs->whole = false;

	/* Other clocks go on while a thread sleeps, and do not tell when it began. */
	if ((stream->has_sample || per_thread) && sample->read.time_running > stream->time) {
		gs->time = sample->read.time_running - stream->time;
		gs->enabled = sample->read.time_enabled - stream->enabled;
	}
	stream->time = sample->read.time_running;
	stream->enabled = sample->read.time_enabled;
}

/* End a window of a round. @lost: Number of lost samples of the event, if it has one. */
static void group_stream__end_window(struct group_stream *stream,
				     const struct group_tracker *tracker,
				     struct perf_sample *sample, u64 lost, bool same_thread,
				     struct group_sample *gs)
{
	const struct perf_event_attr *attr = &sample->evsel->core.attr;
	const struct group_source *source = stream->source;

	gs->ends = stream->in_round;
	gs->ending = &stream->rounds[stream->round];
	gs->armed = sample->period;
	gs->index = stream->index;
	/* The event may have a count of its own losses. */
	if (attr->read_format & PERF_FORMAT_LOST ? stream->lost != lost :
	    stream->nr_lost != tracker->nr_lost)
		gs->problems |= WINDOW_LOST;
	if (!has_armed_length(gs->counts[source->sampler_member], sample->period,
			      is_window(sample), stream->last_long))
		gs->problems |= WINDOW_LENGTH;
	if (sample->misc & PERF_RECORD_MISC_ALT_SPLIT)
		gs->problems |= WINDOW_SPLIT;
	/* The kernel marks windows that were split, but not other intervals. */
	if (!is_window(sample) && (stream->nr_throttled != source->nr_throttled || !same_thread))
		gs->problems |= WINDOW_SPLIT;
	if (stream->not_running != sample->read.time_enabled - sample->read.time_running)
		gs->problems |= WINDOW_MULTIPLEXED;
	/*
	 * The next window belongs to this round unless a sample is missing: the round ends after
	 * its number of windows.
	 */
	stream->index++;
	if (is_window(sample) && stream->index >= (attr->alt_sample_count ?: 1))
		stream->in_round = false;
}

static void group_stream__begin_round(struct group_stream *stream, struct perf_sample *sample,
				      struct group_sample *gs)
{
	const struct perf_event_attr *attr = &sample->evsel->core.attr;

	stream->round ^= 1;
	gs->begins = true;
	gs->beginning = &stream->rounds[stream->round];
	gs->beginning->size = 0;
	gs->weight = sample->period;
	if (attr->alt_sample_period)
		gs->weight += (u64)attr->alt_sample_period * (attr->alt_sample_count ?: 1);
	stream->last_long = sample->period;
	stream->in_round = true;
	stream->index = 0;
}

/**
 * group_tracker__add - Compute what a group counted since the sample before.
 * @tracker: The tracker.
 * @sample: A sample of any event, the samples before it having been added.
 * @thread: Its thread.
 * @gs: The result, all zero if the sample does not have the counts of a group.
 *
 * Return: 0, or -ENOMEM.
 */
int group_tracker__add(struct group_tracker *tracker, struct perf_sample *sample,
		       struct thread *thread, struct group_sample *gs)
{
	struct evsel *sampler = sample->evsel;
	struct group_source *source;
	struct group_stream *stream;
	bool same_thread, per_thread;
	u64 lost, id;

	memset(gs, 0, sizeof(*gs));
	if (!evsel__reads_group(sampler))
		return 0;
	/* A damaged file can have samples without the counts of their event. */
	if (!sample->read.group.values)
		return 0;
	id = sample__sampler_id(sample, sampler);
	if (!id)
		return 0;

	per_thread = perf_evsel__attr_has_per_thread_sample_period(&sampler->core);
	source = group_tracker__findnew_source(tracker, id, sampler);
	/* A file can claim that two events have one ID. */
	if (source && (source->sampler != sampler || source->sampler_member < 0))
		return 0;
	if (!source || group_source__map_values(source, sample) ||
	    group_tracker__reserve(tracker, source->nr_members))
		return -ENOMEM;
	stream = group_tracker__findnew_stream(tracker, source, per_thread ? sample->tid : 0);
	if (!stream)
		return -ENOMEM;

	lost = group_source__read(source, sample, tracker->counts);
	same_thread = RC_CHK_EQUAL(stream->thread, thread);
	/* Another thread with this TID does not continue the counts. */
	if (per_thread && !same_thread) {
		stream->has_sample = false;
		stream->in_round = false;
	}
	group_stream__count(stream, tracker, sample, per_thread, gs);
	if (is_window(sample) || !sampler->core.attr.alt_sample_period)
		group_stream__end_window(stream, tracker, sample, lost, same_thread, gs);
	if (!is_window(sample))
		group_stream__begin_round(stream, sample, gs);

	if (!same_thread) {
		thread__put(stream->thread);
		stream->thread = thread__get(thread);
	}
	stream->has_sample = true;
	stream->lost = lost;
	stream->nr_lost = tracker->nr_lost;
	stream->nr_throttled = source->nr_throttled;
	/* The times are 0 if they were not recorded. */
	stream->not_running = sample->read.time_enabled - sample->read.time_running;
	memcpy(stream->counts, tracker->counts, source->nr_members * sizeof(*stream->counts));
	return 0;
}

/**
 * group_tracker__throttle - Note that an event is stopped, or that it counts again.
 * @tracker: The tracker.
 * @event: A PERF_RECORD_THROTTLE or PERF_RECORD_UNTHROTTLE.
 *
 * Return: How long it was stopped, in ns, at the end of this, else 0.
 */
u64 group_tracker__throttle(struct group_tracker *tracker,
			    const struct perf_record_throttle *event)
{
	struct group_source key = { .id = event->id }, *source;
	/* With 32 bits the difference is right for two seconds. */
	unsigned long begin;

	if (event->header.type == PERF_RECORD_THROTTLE) {
		hashmap__set(tracker->throttled, (long)event->stream_id, (long)event->time, NULL,
			     NULL);
		return 0;
	}
	if (hashmap__find(tracker->sources, &key, &source))
		source->nr_throttled++;
	if (!hashmap__delete(tracker->throttled, (long)event->stream_id, NULL, &begin))
		return 0;
	return max((long)(event->time - begin), 0L);
}

/**
 * group_tracker__lost - Note that records were lost, possibly samples of any event.
 * @tracker: The tracker.
 */
void group_tracker__lost(struct group_tracker *tracker)
{
	tracker->nr_lost++;
}

/**
 * group_tracker__exit_thread - Forget a thread.
 * @tracker: The tracker.
 * @tid: Its ID.
 */
void group_tracker__exit_thread(struct group_tracker *tracker, u32 tid)
{
	struct hashmap_entry *cur;
	bool has_sample = false;
	size_t bkt;

	if (!tid)
		return;

	hashmap__for_each_entry(tracker->sources, cur, bkt) {
		struct group_stream key = { .source = cur->pvalue, .tid = tid }, *stream;

		if (hashmap__delete(tracker->streams, &key, NULL, &stream)) {
			group_stream__delete(stream);
			has_sample = true;
		}
	}
	tracker->nr_ended++;
	tracker->nr_without_sample += !has_sample;
}

/**
 * group_tracker__nr_threads - Count the threads that ended.
 * @tracker: The tracker of a recording in which each thread has its counts.
 * @ended: Set to their number.
 * @without_sample: Set to the number of those that ended before their first sample.
 */
void group_tracker__nr_threads(const struct group_tracker *tracker, unsigned int *ended,
			       unsigned int *without_sample)
{
	*ended = tracker->nr_ended;
	*without_sample = tracker->nr_without_sample;
}

/**
 * window_round__set_data - Keep something until the round ends.
 * @round: The round that begins.
 * @data: Copied.
 * @size: Size of @data in bytes.
 *
 * Return: 0, or -ENOMEM.
 */
int window_round__set_data(struct window_round *round, const void *data, size_t size)
{
	if (size > round->allocated) {
		void *new = realloc(round->data, size);

		if (!new) {
			round->size = 0;
			return -ENOMEM;
		}
		round->data = new;
		round->allocated = size;
	}
	if (size)
		memcpy(round->data, data, size);
	round->size = size;
	return 0;
}

/**
 * window_round__data - Return the data that window_round__set_data() kept.
 * @round: The round of a window that ends.
 *
 * Return: The data, which the caller can change. window_round__data_size() is its size.
 */
void *window_round__data(const struct window_round *round)
{
	return round->data;
}

/**
 * window_round__data_size - Return the size of the data that window_round__set_data() kept.
 * @round: The round of a window that ends.
 *
 * Return: The size in bytes.
 */
size_t window_round__data_size(const struct window_round *round)
{
	return round->size;
}
