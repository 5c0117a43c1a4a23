/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Open a sampling event with alternating periods and read its samples.
 */
#ifndef ALT_PERIOD_H
#define ALT_PERIOD_H

#include <errno.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "helpers.h"

#ifndef PERF_ATTR_SIZE_VER11
#error "the kernel headers are too old, run 'make headers' first"
#endif

#define RING_PAGES	256	/* power of two */

struct sample {
	__u32 pid;
	__u64 period;		/* PERF_SAMPLE_PERIOD */
	bool window;		/* PERF_RECORD_MISC_ALT_WINDOW */
	bool split;		/* PERF_RECORD_MISC_ALT_SPLIT */
	unsigned int gaps;	/* ring::nr_gaps before it */
	__u64 count[3];		/* of the event and its siblings, if read */
};

struct ring {
	struct perf_event_mmap_page *page;
	size_t size;			/* of the whole mapping */
	__u64 tail;
	unsigned int nr_throttled;
	unsigned int nr_gaps;		/* throttled, or tasks switched, with context_switch */
	unsigned int nr_lost;
	unsigned int nr_broken;		/* headers that make no sense */
};

/* Returns true if the kernel knows the fields: it has another error then. */
static inline bool have_alt_period(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .alt_sample_period = 1 };

	return try_attr(&attr) != E2BIG;
}

/*
 * Reads ALT_PERIOD_EXACT from the environment: with "yes" the hardware counters of this
 * machine count exactly, and intervals are compared to the event. Without it tests check
 * the sequence and its labels.
 */
static inline bool machine_is_exact(void)
{
	const char *value = getenv("ALT_PERIOD_EXACT");

	return value && !strcmp(value, "yes");
}

/*
 * Reads ALT_PERIOD_SLOW from the environment: how many times as long as others this machine
 * takes for an interrupt or a context switch, 10 with KASAN and lockdep. The default is 1.
 */
static inline unsigned int machine_slowness(void)
{
	const char *value = getenv("ALT_PERIOD_SLOW");

	return value ? atoi(value) : 1;
}

/* The limits of an interval, long or window. */
static inline __u64 interval_min(const struct perf_event_attr *attr, bool window)
{
	return window ? attr->alt_sample_period - attr->alt_sample_jitter / 2 :
			attr->sample_period - attr->sample_jitter / 2;
}

static inline __u64 interval_max(const struct perf_event_attr *attr, bool window)
{
	return interval_min(attr, window) +
	       (window ? attr->alt_sample_jitter : attr->sample_jitter);
}

/*
 * Where there are several core PMUs, gives @attr the ID of that of this CPU, and stays here:
 * without an ID, a hardware event of a task counts on any one of them.
 */
static inline void stay_on_core_pmu(struct perf_event_attr *attr)
{
	int cpu = sched_getcpu();
	cpu_set_t cpus;
	glob_t files;

	if (glob("/sys/bus/event_source/devices/*/cpus", 0, NULL, &files))
		return;
	for (size_t i = 0; files.gl_pathc > 1 && i < files.gl_pathc; i++) {
		char *path = files.gl_pathv[i];
		int type;

		if (!read_cpus(path, &cpus) || !CPU_ISSET(cpu, &cpus))
			continue;
		strcpy(strrchr(path, '/'), "/type");	/* no longer than /cpus */
		type = read_number(path);
		if (type >= 0 && pin_to(cpu))
			attr->config |= (__u64)type << 32;
	}
	globfree(&files);
}

static inline void spin_a_while(void)
{
	spin(100);
}

/* Maps a ring of @pages data pages, a power of two. Returns -1 on error, with errno. */
static inline int ring_map_pages(struct ring *ring, int fd, size_t pages, int prot)
{
	size_t size = (pages + 1) * sysconf(_SC_PAGE_SIZE);
	void *page = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	memset(ring, 0, sizeof(*ring));
	if (page == MAP_FAILED)
		return -1;
	ring->page = page;
	ring->size = size;
	return 0;
}

static inline int ring_map(struct ring *ring, int fd)
{
	return ring_map_pages(ring, fd, RING_PAGES, PROT_READ | PROT_WRITE);
}

static inline void ring_unmap(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->size);
	ring->page = NULL;
}

/* Returns the number of bytes that were written to the ring and not read yet. */
static inline __u64 ring_used(const struct ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) - ring->tail;
}

/* Returns the eight bytes at @at, which never wrap around: records are made of such. */
static inline __u64 ring_u64(const struct ring *ring, __u64 at)
{
	const char *data = (char *)ring->page + ring->page->data_offset;

	return *(__u64 *)(data + at % ring->page->data_size);
}

/*
 * Takes the next record from the ring: its header, and in @at the place of what follows it,
 * for ring_u64() until the next call. Returns false if there is none. Skips all that is
 * there if a header makes no sense.
 */
static inline bool ring_next(struct ring *ring, struct perf_event_header *header, __u64 *at)
{
	__u64 used, first;

	/* The records before are done with. */
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
	used = ring_used(ring);
	if (!used)
		return false;

	first = ring_u64(ring, ring->tail);
	memcpy(header, &first, sizeof(*header));
	if (header->size < sizeof(*header) || header->size % 8 || header->size > used) {
		ring->nr_broken++;
		ring->tail += used;
		__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
		return false;
	}

	*at = ring->tail + sizeof(*header);
	ring->tail += header->size;
	ring->nr_lost += header->type == PERF_RECORD_LOST;
	ring->nr_throttled += header->type == PERF_RECORD_THROTTLE;
	ring->nr_gaps += header->type == PERF_RECORD_UNTHROTTLE ||
			 header->type == PERF_RECORD_SWITCH_CPU_WIDE;
	return true;
}

/*
 * Reads up to @max samples, and returns their number. @sample_type is PERF_SAMPLE_TID, and
 * may be PERF_SAMPLE_PERIOD and, with PERF_FORMAT_GROUP, PERF_SAMPLE_READ.
 */
static inline size_t ring_read(struct ring *ring, struct sample *samples, size_t max,
			       __u64 sample_type)
{
	struct perf_event_header header;
	size_t nr = 0;
	__u64 at;

	while (nr < max && ring_next(ring, &header, &at)) {
		struct sample *s = &samples[nr];
		__u64 ids, counters;

		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		memset(s, 0, sizeof(*s));
		s->window = header.misc & PERF_RECORD_MISC_ALT_WINDOW;
		s->split = header.misc & PERF_RECORD_MISC_ALT_SPLIT;
		s->gaps = ring->nr_gaps;
		ids = ring_u64(ring, at);
		memcpy(&s->pid, &ids, 4);
		at += 8;
		if (sample_type & PERF_SAMPLE_PERIOD) {
			s->period = ring_u64(ring, at);
			at += 8;
		}
		if (sample_type & PERF_SAMPLE_READ) {
			counters = ring_u64(ring, at);
			for (__u64 i = 0; i < counters && i < 3; i++)
				s->count[i] = ring_u64(ring, at + 8 + 8 * i);
		}
		nr++;
	}
	return nr;
}

#endif /* ALT_PERIOD_H */
