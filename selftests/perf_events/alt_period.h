/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Open a sampling event with alternating periods and read its samples.
 */
#ifndef ALT_PERIOD_H
#define ALT_PERIOD_H

#include <errno.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <linux/hw_breakpoint.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES	256	/* power of two */
#define NR_RESERVED	4	/* fields that are reserved for later */

struct sample {
	uint32_t pid, tid;
	uint64_t period;	/* PERF_SAMPLE_PERIOD */
	bool window;		/* PERF_RECORD_MISC_ALT_WINDOW */
	uint64_t count[3];	/* of the event and its siblings, if read */
};

struct ring {
	struct perf_event_mmap_page *page;
	uint64_t tail;
	unsigned int nr_throttled;
	unsigned int nr_lost;
};

static inline int perf_event_open(struct perf_event_attr *attr, pid_t pid,
				  int cpu, int group)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group,
		       PERF_FLAG_FD_CLOEXEC);
}

/* Does the kernel know the fields at all? */
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
	int fd = perf_event_open(&attr, 0, -1, -1);

	if (fd < 0)
		return errno != E2BIG;
	close(fd);
	return true;
}

static inline void set_reserved(struct perf_event_attr *attr, unsigned int field,
				uint32_t value)
{
	switch (field) {
	case 0:
		attr->__reserved_1 = value;
		break;
	case 1:
		attr->__reserved_2 = value;
		break;
	case 2:
		attr->__reserved_3 = value;
		break;
	case 3:
		attr->__reserved_4 = value;
		break;
	}
}

/* The limits of an interval, long or window. */
static inline uint64_t interval_min(const struct perf_event_attr *attr, bool window)
{
	return window ? attr->alt_sample_period - attr->alt_sample_jitter / 2 :
			attr->sample_period - attr->sample_jitter / 2;
}

static inline uint64_t interval_max(const struct perf_event_attr *attr, bool window)
{
	return interval_min(attr, window) +
	       (window ? attr->alt_sample_jitter : attr->sample_jitter);
}

/* The number in a file of sysfs or tracefs, or -1. */
static inline int read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	int number;

	if (!file)
		return -1;
	if (fscanf(file, "%d", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

/* A list of CPUs in sysfs: "0-3,5". Returns whether there is one. */
static inline bool read_cpus(const char *path, cpu_set_t *set)
{
	FILE *file = fopen(path, "r");
	int first, last;
	char c;

	if (!file)
		return false;
	CPU_ZERO(set);
	while (fscanf(file, "%d", &first) == 1) {
		last = first;
		c = fgetc(file);
		if (c == '-' && fscanf(file, "%d", &last) == 1)
			c = fgetc(file);
		for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, set);
		if (c != ',')
			break;
	}
	fclose(file);
	return true;
}

/*
 * Without the type ID of a PMU, a hardware event of a task counts on one of several
 * core PMUs, whichever it is. Give @attr the ID of the PMU of this CPU, and stay on
 * its CPUs. Nothing changes where there is one core PMU.
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
		attr->config |= (uint64_t)type << 32;
}

/* Work that events count. Each call is a step of the work. */

static char *fresh_page;

static inline bool map_fresh_page(void)
{
	if (!fresh_page)
		fresh_page = mmap(NULL, sysconf(_SC_PAGE_SIZE), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return fresh_page != MAP_FAILED;
}

/* One page fault. */
static inline void touch_page(void)
{
	madvise(fresh_page, sysconf(_SC_PAGE_SIZE), MADV_DONTNEED);
	*(volatile char *)fresh_page = 1;
}

static __attribute__((noinline, unused)) void spin(unsigned int n)
{
	for (volatile unsigned int i = 0; i < n; i++)
		;
}

static inline void spin_a_while(void)
{
	spin(100);
}

static inline int ring_map(struct ring *ring, int fd)
{
	void *page = mmap(NULL, (RING_PAGES + 1) * sysconf(_SC_PAGE_SIZE),
			  PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return -1;
	memset(ring, 0, sizeof(*ring));
	ring->page = page;
	return 0;
}

static inline void ring_unmap(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, (RING_PAGES + 1) * sysconf(_SC_PAGE_SIZE));
	ring->page = NULL;
}

/* Bytes that were written to the ring and not read yet. */
static inline uint64_t ring_used(struct ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) - ring->tail;
}

static inline void ring_copy(struct ring *ring, uint64_t at, void *to, size_t size)
{
	char *data = (char *)ring->page + ring->page->data_offset;

	for (size_t i = 0; i < size; i++)
		((char *)to)[i] = data[(at + i) % ring->page->data_size];
}

/*
 * Read up to @max samples of an event with the sample_type
 * PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD, and PERF_SAMPLE_READ with
 * PERF_FORMAT_GROUP if @read. Counts the other records of interest in @ring.
 */
static inline size_t ring_read(struct ring *ring, struct sample *samples,
			       size_t max, bool read)
{
	size_t nr = 0;

	while (nr < max && ring_used(ring) >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		struct sample *s = &samples[nr];
		uint64_t at = ring->tail;

		ring_copy(ring, at, &header, sizeof(header));
		at += sizeof(header);
		ring->tail += header.size;

		switch (header.type) {
		case PERF_RECORD_SAMPLE:
			memset(s, 0, sizeof(*s));
			ring_copy(ring, at, &s->pid, 4);
			ring_copy(ring, at + 4, &s->tid, 4);
			ring_copy(ring, at + 8, &s->period, 8);
			s->window = header.misc & PERF_RECORD_MISC_ALT_WINDOW;
			if (read) {
				uint64_t counters;

				ring_copy(ring, at + 16, &counters, 8);
				if (counters > 3)
					counters = 3;
				ring_copy(ring, at + 24, s->count, 8 * counters);
			}
			nr++;
			break;
		case PERF_RECORD_THROTTLE:
			ring->nr_throttled++;
			break;
		case PERF_RECORD_LOST:
			ring->nr_lost++;
			break;
		default:
			break;
		}
	}
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);

	return nr;
}

#endif /* ALT_PERIOD_H */
