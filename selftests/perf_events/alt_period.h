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
	__u32 pid, tid;
	__u64 period;		/* PERF_SAMPLE_PERIOD */
	bool window;		/* PERF_RECORD_MISC_ALT_WINDOW */
	bool split;		/* PERF_RECORD_MISC_ALT_SPLIT */
	unsigned int gaps;	/* ring::nr_unthrottled and nr_switches before it */
	__u64 count[3];		/* of the event and its siblings, if read */
};

struct ring {
	struct perf_event_mmap_page *page;
	size_t size;			/* of the whole mapping */
	__u64 tail;
	unsigned int nr_throttled;
	unsigned int nr_unthrottled;
	unsigned int nr_switches;	/* of tasks on this CPU, with context_switch */
	unsigned int nr_lost;
	unsigned int nr_broken;		/* headers that make no sense */
};

/* Returns 0, or the error with which an event of @attr is refused. */
static inline int try_attr(struct perf_event_attr *attr)
{
	int fd = perf_event_open(attr, 0, -1, -1);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Returns true if the kernel knows the fields. */
static inline bool have_alt_period(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.size = sizeof(attr),
		.sample_period = 1000,
		.alt_sample_period = 10,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return try_attr(&attr) != E2BIG;
}

/*
 * Returns why an ordinary event cannot be opened on this machine, or NULL if that
 * must not fail with @err.
 */
static inline const char *why_missing(int err)
{
	switch (err) {
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "no such event";
	case EACCES:
	case EPERM:
		return "not permitted, see /proc/sys/kernel/perf_event_paranoid";
	default:
		return NULL;
	}
}

enum exactness {
	EXACT_AUTO,
	EXACT_YES,
	EXACT_NO,
};

/*
 * Reads ALT_PERIOD_EXACT from the environment. It tells how the hardware counters of this
 * machine count:
 *
 *   yes	exactly; a counter that does not, or cannot be tested, is a failure
 *   no		not exactly; only flags and labels of their samples are checked
 *   auto	unknown, the default; a test finds out with an ordinary event
 */
static inline enum exactness machine_exactness(void)
{
	const char *value = getenv("ALT_PERIOD_EXACT");

	if (!value || !strcmp(value, "auto"))
		return EXACT_AUTO;
	if (!strcmp(value, "yes"))
		return EXACT_YES;
	if (!strcmp(value, "no"))
		return EXACT_NO;
	fprintf(stderr, "ALT_PERIOD_EXACT=%s is not one of yes, no, auto\n", value);
	exit(1);
}

/*
 * Reads ALT_PERIOD_SLOW from the environment: how many times as long as others this machine
 * takes for an interrupt or a context switch, 10 with KASAN and lockdep. The default is 1.
 */
static inline unsigned int machine_slowness(void)
{
	const char *value = getenv("ALT_PERIOD_SLOW");
	int times = value ? atoi(value) : 1;

	if (times >= 1)
		return times;
	fprintf(stderr, "ALT_PERIOD_SLOW=%s is not a number above 0\n", value);
	exit(1);
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
 * Gives @attr the ID of the core PMU of this CPU, and stays on the CPUs of that PMU:
 * without an ID, a hardware event of a task counts on any one of several core PMUs.
 * Does nothing where there is one core PMU.
 */
static inline void stay_on_core_pmu(struct perf_event_attr *attr)
{
	cpu_set_t allowed, cpus;
	int cpu = sched_getcpu();
	int type = -1;
	glob_t files;

	if (cpu < 0 || sched_getaffinity(0, sizeof(allowed), &allowed) ||
	    glob("/sys/bus/event_source/devices/*/cpus", 0, NULL, &files))
		return;
	for (size_t i = 0; type < 0 && i < files.gl_pathc && files.gl_pathc > 1; i++) {
		char *path = files.gl_pathv[i];

		if (!read_cpus(path, &cpus) || !CPU_ISSET(cpu, &cpus))
			continue;
		strcpy(strrchr(path, '/'), "/type");	/* no longer than /cpus */
		type = read_number(path);
	}
	globfree(&files);
	if (type < 0)
		return;
	CPU_AND(&cpus, &cpus, &allowed);
	if (!sched_setaffinity(0, sizeof(cpus), &cpus))
		attr->config |= (__u64)type << 32;
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

static inline void ring_copy(const struct ring *ring, __u64 at, void *to, size_t size)
{
	const char *data = (char *)ring->page + ring->page->data_offset;

	for (size_t i = 0; i < size; i++)
		((char *)to)[i] = data[(at + i) % ring->page->data_size];
}

static inline __u64 ring_u64(const struct ring *ring, __u64 at)
{
	__u64 value;

	ring_copy(ring, at, &value, sizeof(value));
	return value;
}

/*
 * Takes the next record from the ring: its header, and in @at the place of what
 * follows it, for ring_copy() until the next call. Returns false if there is none.
 * Skips all that is there if a header makes no sense, and counts that.
 *
 *	while (ring_next(ring, &header, &at))
 *		...
 */
static inline bool ring_next(struct ring *ring, struct perf_event_header *header, __u64 *at)
{
	__u64 used;

	/* The records before are done with. */
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
	used = ring_used(ring);
	if (!used)
		return false;

	if (used >= sizeof(*header))
		ring_copy(ring, ring->tail, header, sizeof(*header));
	if (used < sizeof(*header) || header->size < sizeof(*header) ||
	    header->size % 8 || header->size > used) {
		ring->nr_broken++;
		ring->tail += used;
		__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
		return false;
	}

	*at = ring->tail + sizeof(*header);
	ring->tail += header->size;
	ring->nr_lost += header->type == PERF_RECORD_LOST;
	ring->nr_throttled += header->type == PERF_RECORD_THROTTLE;
	ring->nr_unthrottled += header->type == PERF_RECORD_UNTHROTTLE;
	ring->nr_switches += header->type == PERF_RECORD_SWITCH_CPU_WIDE;
	return true;
}

/*
 * Reads up to @max samples of an event whose sample_type is PERF_SAMPLE_TID,
 * PERF_SAMPLE_PERIOD or not, and PERF_SAMPLE_READ with PERF_FORMAT_GROUP or not.
 * Returns their number.
 */
static inline size_t ring_read(struct ring *ring, struct sample *samples, size_t max,
			       __u64 sample_type)
{
	struct perf_event_header header;
	size_t nr = 0;
	__u64 at;

	while (nr < max && ring_next(ring, &header, &at)) {
		struct sample *s = &samples[nr];

		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		memset(s, 0, sizeof(*s));
		s->window = header.misc & PERF_RECORD_MISC_ALT_WINDOW;
		s->split = header.misc & PERF_RECORD_MISC_ALT_SPLIT;
		s->gaps = ring->nr_unthrottled + ring->nr_switches;
		ring_copy(ring, at, &s->pid, 4);
		ring_copy(ring, at + 4, &s->tid, 4);
		at += 8;
		if (sample_type & PERF_SAMPLE_PERIOD) {
			s->period = ring_u64(ring, at);
			at += 8;
		}
		if (sample_type & PERF_SAMPLE_READ) {
			__u64 counters = ring_u64(ring, at);

			if (counters > 3)
				counters = 3;
			ring_copy(ring, at + 8, s->count, 8 * counters);
		}
		nr++;
	}
	return nr;
}

#endif /* ALT_PERIOD_H */
