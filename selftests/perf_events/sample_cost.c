// SPDX-License-Identifier: GPL-2.0
/*
 * Print what a sample costs, in ns of the program that is sampled.
 *
 * Not a test: the numbers are for a comparison of two kernels on one machine.
 * Each is the shortest of many short runs, so that timer ticks do not count.
 * On an emulated machine where each instruction takes 1 ns (QEMU with
 * "-icount shift=0") they are numbers of instructions and repeat exactly.
 */
#define _GNU_SOURCE
#include "alt_period.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define RUNS		400
#define SAMPLES		64	/* in a run */

static char *fresh_page;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void __attribute__((noinline)) spin(unsigned int n)
{
	for (volatile unsigned int i = 0; i < n; i++)
		;
}

static void touch_pages(unsigned int n)
{
	while (n--) {
		madvise(fresh_page, sysconf(_SC_PAGE_SIZE), MADV_DONTNEED);
		*(volatile char *)fresh_page = 1;
	}
}

/* Run @work(@n) once, with the event @fd unless that is -1. */
static uint64_t run(int fd, void (*work)(unsigned int), unsigned int n)
{
	uint64_t begin, end;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	begin = now();
	work(n);
	end = now();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);

	return end - begin;
}

static void measure(const char *what, struct perf_event_attr attr,
		    void (*work)(unsigned int), unsigned int n)
{
	static struct sample samples[8 * SAMPLES];
	uint64_t without = UINT64_MAX;
	double cost = 0;
	struct ring ring;
	int fd;

	/* A copy of the attr, for an old kernel writes its size. */
	fd = perf_event_open(&attr, 0, -1, -1);
	if (fd < 0 || ring_map(&ring, fd)) {
		printf("%-44s %s\n", what, strerror(errno));
		return;
	}
	for (int i = 0; i < RUNS; i++) {
		uint64_t time = run(-1, work, n);

		if (time < without)
			without = time;
	}
	for (int i = 0; i < RUNS; i++) {
		uint64_t time = run(fd, work, n);
		size_t nr = ring_read(&ring, samples, ARRAY_SIZE(samples), false);

		/* Not if it was throttled. */
		if (nr < SAMPLES - 1)
			continue;
		if (!cost || ((double)time - without) / nr < cost)
			cost = ((double)time - without) / nr;
	}
	printf("%-44s %8.1f ns\n", what, cost);
	ring_unmap(&ring);
	close(fd);
}

int main(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	fresh_page = mmap(NULL, sysconf(_SC_PAGE_SIZE), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh_page == MAP_FAILED) {
		perror("mmap");
		return 1;
	}

	attr.sample_period = 2000;
	measure("cycles, period 2000", attr, spin, SAMPLES * 2000 / 5);

	attr.sample_type |= PERF_SAMPLE_PERIOD;
	measure("cycles, period 2000, with the period", attr, spin, SAMPLES * 2000 / 5);

	attr.alt_sample_period = 2000;
	measure("cycles, period 2000, windows of 2000", attr, spin, SAMPLES * 2000 / 5);

	attr.sample_jitter = 10;
	attr.alt_sample_jitter = 10;
	measure("cycles, period 2000, windows of 2000, jitter", attr, spin, SAMPLES * 2000 / 5);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.sample_jitter = 0;
	attr.alt_sample_jitter = 0;
	attr.alt_sample_period = 0;
	attr.sample_type &= ~PERF_SAMPLE_PERIOD;
	attr.sample_period = 4;
	measure("page-faults, period 4", attr, touch_pages, SAMPLES * 4);

	attr.alt_sample_period = 4;
	measure("page-faults, period 4, windows of 4", attr, touch_pages, SAMPLES * 4);

	return 0;
}
