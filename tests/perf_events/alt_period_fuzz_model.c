// SPDX-License-Identifier: GPL-2.0
/*
 * What the fuzzer knows of each event, and whether its samples and the errors of the
 * kernel agree with that.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__ /* Use ll64 */
#include <stdarg.h>

#include "alt_period_fuzz.h"

/* The parts of a sample in front of its period, 8 bytes each. */
#define BEFORE_PERIOD	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
			 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | \
			 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)

const char * const kind_names[NR_KINDS] = {
	"page-faults", "breakpoint", "tracepoint", "cycles", "instructions",
	"cpu-clock", "task-clock", "context-switches", "other",
};

void complain(const char *format, ...)
{
	va_list args;

	if (fuzz.complaints++ >= MAX_COMPLAINTS)
		return;
	printf("# seed %llu operation %llu: ", fuzz.seed,
	       fuzz.operation);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

/* Returns the history of a sample's event, or NULL if the table has none. */
static struct history *find_history(__u64 id)
{
	struct history *h = &fuzz.histories[id % HISTORY];

	if (h->id == id)
		return h;
	if (h->id > id)
		fuzz.totals.evicted++;
	else
		complain("sample of event %llu, which was never opened", id);
	return NULL;
}

void add_length(struct history *h, __u64 length)
{
	if (h->nr_lengths < MAX_LENGTHS)
		h->lengths[h->nr_lengths] = length;
	h->nr_lengths++;
}

void add_history(struct event *e)
{
	const struct perf_event_attr *attr = &e->attr;
	struct history *h = &fuzz.histories[e->id % HISTORY];

	memset(h, 0, sizeof(*h));
	h->id = e->id;
	h->kind = e->kind;
	h->pmu = core_pmu_of(attr);
	h->attr = *attr;
	h->freq = attr->freq;
	h->alternating = attr->alt_sample_period;
	h->alt_min = attr->alt_sample_period - attr->alt_sample_jitter / 2;
	h->alt_max = h->alt_min + attr->alt_sample_jitter;
	h->jitter = attr->sample_jitter;
	h->count = attr->alt_sample_count ?: 1;
	add_length(h, attr->sample_period);
	/* Each task that inherits an event has its own sequence. */
	h->in_sequence = h->alternating && !attr->inherit;
	h->next = -1;
}

/* Checks a sample against the history of its event. */
static void check_sample(struct history *h, const struct perf_event_header *header,
			 __u64 label, bool labelled)
{
	bool window = header->misc & PERF_RECORD_MISC_ALT_WINDOW;
	bool ok = h->nr_lengths > MAX_LENGTHS;

	if ((header->misc & PERF_RECORD_MISC_ALT_SPLIT) && !window)
		complain("event %llu: a long interval is split: %s", h->id, show(&h->attr));
	if (window)
		fuzz.stats[h->kind].windows++;
	else
		fuzz.stats[h->kind].longs++;
	if (h->pmu)
		h->pmu->samples++;

	if (window && !h->alternating) {
		complain("event %llu has a window of %llu: %s", h->id, label, show(&h->attr));
		return;
	}

	if (labelled && window && (label < h->alt_min || label > h->alt_max))
		complain("event %llu: window of %llu: %s", h->id, label, show(&h->attr));
	/* The label of an ordinary event means something else, or is not exact. */
	if (labelled && !window && !h->freq && (h->alternating || h->jitter)) {
		for (unsigned int i = 0; i < h->nr_lengths && !ok; i++) {
			__u64 min = h->lengths[i] - h->jitter / 2;

			ok = label >= min && label <= min + h->jitter;
		}
		if (!ok)
			complain("event %llu: long interval of %llu, not of %llu: %s", h->id, label,
				 h->lengths[h->nr_lengths - 1], show(&h->attr));
	}

	if (!h->in_sequence || h->restarts || fuzz.out_of_sequence)
		return;
	if (h->epoch != fuzz.epoch) {
		h->epoch = fuzz.epoch;
		h->next = -1;
	}
	if (h->next < 0) {
		if (!window)
			h->next = 1;
		return;
	}
	/* What ends when its counter is stopped has no sample: a long interval follows. */
	if (!window)
		h->next = 0;
	if (window != !!h->next) {
		complain("event %llu: %s instead of interval %lld of 0 to %u: %s", h->id,
			 window ? "window" : "long interval", h->next, h->count,
			 show(&h->attr));
		h->next = -1;
		return;
	}
	fuzz.totals.in_sequence++;
	h->next = h->next < h->count ? h->next + 1 : 0;
}

/* Checks the sample whose body is at @at in the ring of @e. */
static void read_sample(struct event *e, const struct perf_event_header *header, __u64 at)
{
	struct history *h;
	__u64 label = 0;

	h = find_history(e->attr.sample_type & PERF_SAMPLE_IDENTIFIER ?
			 ring_u64(&e->ring, at) : e->id);
	if (!h)
		return;
	if (h->attr.sample_type & PERF_SAMPLE_PERIOD) {
		at += 8 * __builtin_popcountll(h->attr.sample_type & BEFORE_PERIOD);
		label = ring_u64(&e->ring, at);
	}
	check_sample(h, header, label, h->attr.sample_type & PERF_SAMPLE_PERIOD);
}

/* Reads the ring of an event, and checks its samples. */
void drain(struct event *e)
{
	struct perf_event_header header;
	struct ring *ring = &e->ring;
	__u64 at, end;

	if (!ring->page || !e->readable)
		return;

	/* Records that arrive meanwhile are for later: they may never end. */
	end = ring->tail + ring_used(ring);
	while (ring->tail < end && ring_next(ring, &header, &at)) {
		switch (header.type) {
		case PERF_RECORD_SAMPLE:
			read_sample(e, &header, at);
			break;
		case PERF_RECORD_LOST:
			fuzz.totals.lost++;
			fuzz.epoch++;
			break;
		case PERF_RECORD_THROTTLE:
			fuzz.totals.throttled++;
			break;
		}
	}
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
	if (ring->nr_broken)
		complain("ring of event %llu: a header that makes no sense", e->id);
	ring->nr_broken = 0;
}

void drain_all(void)
{
	for (int i = 0; i < MAX_EVENTS; i++) {
		if (fuzz.events[i].fd >= 0)
			drain(&fuzz.events[i]);
	}
}

/*
 * Called after something that restarts the sequence of an event or sends its samples
 * to another ring: the samples that are not read yet are not in sequence.
 */
void new_sequence(struct event *e)
{
	struct history *h = &fuzz.histories[e->id % HISTORY];

	h->restarts = true;
	drain_all();
	h->restarts = false;
	h->next = -1;
}

/* Begin all sequences again, after something that may lose samples. */
void new_sequences(void)
{
	fuzz.out_of_sequence = true;
	drain_all();
	fuzz.out_of_sequence = false;
	fuzz.epoch++;
}

/* Errors that depend on other activity of the machine. */
static bool is_transient(int err)
{
	return err == ESRCH || err == ENODEV || err == ENOMEM || err == EMFILE ||
	       err == ENFILE || err == ENOSPC || err == EBUSY || err == EAGAIN ||
	       err == EINTR;
}

/* Compares the result of an open with that of its twin. */
void check_open(const struct perf_event_attr *attr, int fd, int twin)
{
	int err = fd < 0 ? -fd : 0;

	if (err == twin || is_transient(err) || is_transient(twin))
		return;
	/*
	 * The limit of the frequency, times the samples of a round, is a sysctl that the
	 * kernel lowers by itself.
	 */
	if (attr->freq && (attr->sample_freq > 1 || attr->alt_sample_period) &&
	    (err == EINVAL || twin == EINVAL))
		return;
	/*
	 * Only PMUs have windows. Drivers may check in any order whether they can do this, and
	 * the lengths.
	 */
	if (err == EOPNOTSUPP)
		return;
	if (err == EINVAL && shortest(attr) < tolerated_min(attr))
		return;
	complain("open: error %d, without alternating periods %d: %s", err, twin, show(attr));
}
