// SPDX-License-Identifier: GPL-2.0
/*
 * Print what a sample costs, in ns of the program that is sampled, and what an
 * event costs when tasks are switched, and when it is opened and closed.
 *
 * Not a test: the numbers are for a comparison of two kernels on one machine.
 * Each is the shortest of many short runs, so that timer ticks do not count.
 * On an emulated machine where each instruction takes 1 ns (QEMU with
 * "-icount shift=0") they are numbers of instructions and repeat exactly.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>

#include "alt_period.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define RUNS		400
#define SAMPLES		64	/* in a run */
#define STEPS		8	/* of what is not sampled, in a run */

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void touch_pages(unsigned int n)
{
	while (n--)
		touch_page();
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

static int to_partner, from_partner;

/* Each is two context switches, to a task without events and back. */
static void round_trips(unsigned int n)
{
	char c = 0;

	while (n--) {
		if (write(to_partner, &c, 1) != 1 || read(from_partner, &c, 1) != 1)
			exit(1);
	}
}

static pid_t start_partner(void)
{
	int to[2], from[2];
	cpu_set_t set;
	pid_t pid;
	char c;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || pipe(to) || pipe(from))
		return -1;
	to_partner = to[1];
	from_partner = from[0];
	pid = fork();
	if (!pid) {
		while (read(to[0], &c, 1) == 1 && write(from[1], &c, 1) == 1)
			;
		_exit(0);
	}
	return pid;
}

static struct perf_event_attr *attr_to_open;

static void open_and_close(unsigned int n)
{
	while (n--) {
		struct perf_event_attr attr = *attr_to_open;

		close(perf_event_open(&attr, 0, -1, -1));
	}
}

static int compare_times(const void *a, const void *b)
{
	uint64_t time_a = *(uint64_t *)a, time_b = *(uint64_t *)b;

	return time_a < time_b ? -1 : time_a > time_b;
}

/*
 * The time of each step of @work, with an event of @attr unless that is NULL: the
 * median, for the scheduler may choose another order in a few runs.
 */
static void measure_steps(const char *what, struct perf_event_attr *attr,
			  void (*work)(unsigned int))
{
	uint64_t times[RUNS];
	struct perf_event_attr copy;
	int fd = -1;

	if (attr) {
		copy = *attr;
		fd = perf_event_open(&copy, 0, -1, -1);
		if (fd < 0) {
			printf("%-44s %s\n", what, strerror(errno));
			return;
		}
	}
	for (int i = 0; i < RUNS; i++)
		times[i] = run(fd, work, STEPS);
	qsort(times, RUNS, sizeof(times[0]), compare_times);
	printf("%-44s %8.1f ns\n", what, (double)times[RUNS / 2] / STEPS);
	if (attr)
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
	pid_t partner;

	if (!map_fresh_page()) {
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

	/* No sample within a run. */
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.sample_period = 1ULL << 40;
	attr.alt_sample_period = 0;
	attr_to_open = &attr;
	measure_steps("open and close, cycles", NULL, open_and_close);
	attr.alt_sample_period = 300;
	measure_steps("open and close, cycles with windows", NULL, open_and_close);

	partner = start_partner();
	if (partner < 0) {
		perror("no partner to switch to");
		return 1;
	}
	/* The kernel's hooks stay for a second after the last event. */
	sleep(2);
	measure_steps("two context switches, no event", NULL, round_trips);
	attr.alt_sample_period = 0;
	measure_steps("two context switches, cycles", &attr, round_trips);
	attr.alt_sample_period = 300;
	measure_steps("two context switches, cycles with windows", &attr, round_trips);
	kill(partner, SIGKILL);

	return 0;
}
