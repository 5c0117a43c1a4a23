// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the cost of a sample, in ns of the program that is sampled, and the cost of
 * an event when tasks are switched and when it is opened and closed.
 *
 * The numbers are for a comparison of two kernels on one machine; none of them makes
 * this test fail. Each is the shortest of many short runs, so that timer ticks do not
 * count. On an emulated machine where each instruction takes 1 ns (QEMU with
 * "-icount shift=0") they are numbers of instructions and repeat exactly.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__ /* Use ll64 */
#include <sched.h>
#include <signal.h>

#include "alt_period.h"
#include "kselftest.h"

#define RUNS		400
#define SAMPLES		64	/* in a run */
#define STEPS		8	/* in a run without samples */

static __u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void print_cost(const char *name, double ns)
{
	ksft_print_msg("%-44s %8.1f ns\n", name, ns);
}

static void print_reason(const char *name, const char *reason)
{
	ksft_print_msg("%-44s not measured: %s\n", name, reason);
}

static char *fresh_page;

static void touch_pages(unsigned int n)
{
	while (n--) {
		madvise(fresh_page, sysconf(_SC_PAGE_SIZE), MADV_DONTNEED);
		*(volatile char *)fresh_page = 1;
	}
}

/* Runs @work(@n) once, with the event @fd unless that is -1. Returns the time. */
static __u64 run(int fd, void (*work)(unsigned int), unsigned int n)
{
	__u64 begin, end;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	begin = now();
	work(n);
	end = now();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);

	return end - begin;
}

/*
 * Measures a sample of @attr, a copy because an old kernel writes its size. Returns
 * false if that is not possible.
 */
static bool measure(const char *name, struct perf_event_attr attr,
		    void (*work)(unsigned int), unsigned int n)
{
	static struct sample samples[8 * SAMPLES];
	__u64 without = ~0ULL;
	double cost = 0;
	struct ring ring;
	int fd;

	fd = perf_event_open(&attr, 0, -1, -1);
	if (fd < 0 || ring_map(&ring, fd)) {
		print_reason(name, strerror(errno));
		return false;
	}
	for (int i = 0; i < RUNS; i++) {
		__u64 time = run(-1, work, n);

		if (time < without)
			without = time;
	}
	for (int i = 0; i < RUNS; i++) {
		__u64 time = run(fd, work, n);
		size_t nr = ring_read(&ring, samples, ARRAY_SIZE(samples), 0);

		/* It was throttled. */
		if (nr < SAMPLES - 1)
			continue;
		if (!cost || ((double)time - without) / nr < cost)
			cost = ((double)time - without) / nr;
	}
	if (cost)
		print_cost(name, cost);
	else
		print_reason(name, "throttled");
	ring_unmap(&ring);
	close(fd);
	return cost;
}

static int to_partner, from_partner;

/* Switches to a task without events and back, @n times. */
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
	CPU_SET(sched_getcpu(), &set);
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
	__u64 time_a = *(__u64 *)a, time_b = *(__u64 *)b;

	return time_a < time_b ? -1 : time_a > time_b;
}

/*
 * Measures a step of @work, with an event of @attr unless that is NULL. Takes the
 * median, because the scheduler may choose another order in a few runs.
 */
static void measure_steps(const char *name, struct perf_event_attr *attr,
			  void (*work)(unsigned int))
{
	__u64 times[RUNS];
	struct perf_event_attr copy;
	int fd = -1;

	if (attr) {
		copy = *attr;
		fd = perf_event_open(&copy, 0, -1, -1);
		if (fd < 0) {
			print_reason(name, strerror(errno));
			return;
		}
	}
	for (int i = 0; i < RUNS; i++)
		times[i] = run(fd, work, STEPS);
	qsort(times, RUNS, sizeof(times[0]), compare_times);
	print_cost(name, (double)times[RUNS / 2] / STEPS);
	if (attr)
		close(fd);
}

static void measure_open(const char *name, struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;
	int fd = perf_event_open(&copy, 0, -1, -1);

	if (fd < 0) {
		print_reason(name, strerror(errno));
		return;
	}
	close(fd);
	attr_to_open = attr;
	measure_steps(name, NULL, open_and_close);
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
	bool measured = false;
	pid_t partner;

	ksft_print_header();
	ksft_set_plan(1);
	fresh_page = mmap(NULL, sysconf(_SC_PAGE_SIZE), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh_page == MAP_FAILED)
		ksft_exit_fail_msg("mmap: %s\n", strerror(errno));

	attr.sample_period = 2000;
	measured |= measure("cycles, period 2000", attr, spin, SAMPLES * 2000 / 5);

	attr.sample_type |= PERF_SAMPLE_PERIOD;
	measured |= measure("cycles, period 2000, with the period", attr, spin, SAMPLES * 2000 / 5);

	attr.alt_sample_period = 2000;
	measured |= measure("cycles, period 2000, windows of 2000", attr, spin, SAMPLES * 2000 / 5);

	attr.sample_jitter = 10;
	attr.alt_sample_jitter = 10;
	measured |= measure("cycles, period 2000, windows of 2000, jitter", attr, spin,
			    SAMPLES * 2000 / 5);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.sample_jitter = 0;
	attr.alt_sample_jitter = 0;
	attr.alt_sample_period = 0;
	attr.sample_type &= ~PERF_SAMPLE_PERIOD;
	attr.sample_period = 4;
	measured |= measure("page-faults, period 4", attr, touch_pages, SAMPLES * 4);

	/* No sample within a run. */
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.sample_period = 1ULL << 40;
	attr.alt_sample_period = 0;
	measure_open("open and close, cycles", &attr);
	attr.alt_sample_period = 300;
	measure_open("open and close, cycles with windows", &attr);

	partner = start_partner();
	if (partner < 0)
		ksft_exit_fail_msg("no partner to switch to: %s\n", strerror(errno));
	/* The kernel keeps its hooks for a second after the last event. */
	sleep(2);
	measure_steps("two context switches, no event", NULL, round_trips);
	attr.alt_sample_period = 0;
	measure_steps("two context switches, cycles", &attr, round_trips);
	attr.alt_sample_period = 300;
	measure_steps("two context switches, cycles with windows", &attr, round_trips);
	kill(partner, SIGKILL);

	if (measured)
		ksft_test_result_pass("costs are printed\n");
	else
		ksft_test_result_skip("no event to sample\n");
	ksft_finished();
}
