// SPDX-License-Identifier: GPL-2.0
/*
 * Does libperf's perf/topdown.h tell of code what the model of the emulated CPU gives?
 * For machines with pmu-stalls=on, or with the costs 0; see docs/system/i386/tcg-pmu.rst
 * of our QEMU for the costs, in cycles. KTAP.
 *
 * usage: topdown-truth LEVEL BUBBLE DIV FENCE [CPU]
 *        topdown-truth [USER-ID]	prints the error of perf_topdown__new()
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <perf/core.h>
#include <perf/topdown.h>

#define LOOPS	40000
#define PIECES	10
/* Slots, less than what the other task executes at a time. */
#define LEAK	40000

static int level, bubble, div_cost, fence_cost, tests, failures;

static int print(enum libperf_print_level l, const char *fmt, va_list args)
{
	return l <= LIBPERF_WARN ? vfprintf(stderr, fmt, args) : 0;
}

static void result(bool ok, const char *name)
{
	printf("%sok %d %s\n", ok ? "" : "not ", ++tests, name);
	failures += !ok;
}

#ifdef __x86_64__
static void nops(unsigned int n)
{
	asm volatile("1: .rept 100; nop; .endr; dec %0; jnz 1b" : "+r" (n) : : "cc");
}

static void divisions(unsigned int n)
{
	asm volatile("1: xor %%edx, %%edx; mov $100, %%eax; div %1; dec %0; jnz 1b"
		     : "+r" (n) : "r" (7) : "eax", "edx", "cc");
}

static void fences(unsigned int n)
{
	asm volatile("1: lfence; dec %0; jnz 1b" : "+r" (n) : : "cc");
}
#else
/* Elsewhere only the errors can be asked for. */
static void nops(unsigned int n) { (void)n; }
static void divisions(unsigned int n) { (void)n; }
static void fences(unsigned int n) { (void)n; }
#endif

/* Of one iteration: instructions, heavy ones, cycles that these take longer. */
static const struct code {
	const char *name;
	void (*run)(unsigned int n);
	unsigned int n, insns, heavy;
	int *cost;
} codes[] = {
	{ "nops", nops, 20000, 102, 0, NULL },
	{ "divisions", divisions, 100000, 5, 1, &div_cost },
	{ "fences", fences, 60000, 3, 1, &fence_cost },
	{ "many divisions", divisions, 1000000, 5, 1, &div_cost },
};
#define NR_CODES	(sizeof(codes) / sizeof(codes[0]))

static void truth(const struct code *code, double part[PERF_TOPDOWN_PARTS])
{
	double cost = code->cost ? *code->cost : 0, cycles = code->insns + bubble + cost;

	memset(part, 0, PERF_TOPDOWN_PARTS * sizeof(*part));
	part[PERF_TOPDOWN_RETIRING] = code->insns / cycles;
	part[PERF_TOPDOWN_FE_BOUND] = bubble / cycles;
	part[PERF_TOPDOWN_BE_BOUND] = cost / cycles;
	if (level == 2)
		part[PERF_TOPDOWN_HEAVY_OPS] = code->heavy / cycles;
}

/* A task that preempts this one each 100 us, and does something else. */
static pid_t start_other(bool topdown)
{
	struct sched_param param = { .sched_priority = 1 };
	struct timespec time = { .tv_nsec = 100000 };
	struct perf_topdown_value value;
	struct perf_topdown *td;
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || sched_setscheduler(0, SCHED_FIFO, &param) ||
	    (topdown && perf_topdown__new(&td, level)))
		_exit(1);
	for (;;) {
		divisions(1000);
		if (topdown && perf_topdown__read(td, &value))
			_exit(1);
		nanosleep(&time, NULL);
	}
}

static bool stop_other(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
}

static bool measure(struct perf_topdown *td, const struct code *code, const char *beside)
{
	double ratio[PERF_TOPDOWN_PARTS], part[PERF_TOPDOWN_PARTS], error, worst = 0;
	struct perf_topdown_value a, b;
	int err;

	if (perf_topdown__read(td, &a))
		return false;
	/* Where context switches are many, read in between. */
	for (unsigned int i = 0; i < PIECES; i++) {
		code->run(code->n / PIECES);
		if (perf_topdown__read(td, &b))
			return false;
	}
	err = perf_topdown__ratios(&a, &b, ratio, &error);
	if (err) {
		printf("# %s, %s: %s, error %.3f\n", code->name, beside, strerror(-err), error);
		return false;
	}
	truth(code, part);
	printf("# %s, %s: %llu slots", code->name, beside, (unsigned long long)(b.slots - a.slots));
	for (int i = 0; i < (level == 2 ? PERF_TOPDOWN_PARTS : 4); i++) {
		printf(" %.2f (%.2f)", 100 * ratio[i], 100 * part[i]);
		worst = fmax(worst, fabs(ratio[i] - part[i]));
	}
	printf(" %%, wrong by %.2f of %.2f\n", 100 * worst, 100 * error);
	/* Reading executes some hundred instructions of its own, each time. */
	return worst <= error + 0.01;
}

/*
 * A region whose first tenth is of another kind, not read in between: in a storm, fractions
 * that are rounded again and again cannot follow. Then this has to be known.
 */
static bool measure_change(struct perf_topdown *td)
{
	double ratio[PERF_TOPDOWN_PARTS], error = 0, cycles, want;
	struct perf_topdown_value a, b;
	int err;

	if (perf_topdown__read(td, &a))
		return false;
	divisions(200000);
	nops(360000);
	if (perf_topdown__read(td, &b))
		return false;
	cycles = 200000. * (5 + bubble + div_cost) + 360000. * (102 + bubble);
	want = (200000. * 5 + 360000. * 102) / cycles;
	err = perf_topdown__ratios(&a, &b, ratio, &error);
	if (err) {
		printf("# change: %s, error %.3f\n", strerror(-err), error);
		return err == -ERANGE;
	}
	printf("# change: %.2f (%.2f) %% of %.2f\n", 100 * ratio[0], 100 * want, 100 * error);
	return fabs(ratio[0] - want) <= error + 0.01;
}

static int open_event(__u32 type, __u64 config, int group, bool kernel)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = type, .config = config,
		.exclude_kernel = !kernel, .exclude_hv = !kernel,
		.read_format = kernel ? 0 : PERF_FORMAT_GROUP,
	};

	return syscall(__NR_perf_event_open, &attr, 0, -1, group, 0);
}

/* Nothing of another task is counted: 100 instructions, and reading. */
static void leaks(struct perf_topdown *td)
{
	struct perf_topdown_value a, b;
	__u64 max = 0;
	int above = 0, failed = 0;

	failed += !!perf_topdown__read(td, &a);
	for (int i = 0; i < LOOPS; i++) {
		failed += !!perf_topdown__read(td, &b);
		if (b.slots - a.slots > LEAK || b.slots < a.slots)
			above++;
		if (b.slots - a.slots > max)
			max = b.slots - a.slots;
		a = b;
	}
	printf("# %d of %d reads above %d slots, at most %llu, %d failed\n", above, LOOPS, LEAK,
	       (unsigned long long)max, failed);
	result(!above && !failed, "reads");
}

/* The same, with a reset by ioctl(2) before each read(2). */
static void reset_leaks(void)
{
	int leader = open_event(PERF_TYPE_RAW, 0x400, -1, false);
	int metric = open_event(PERF_TYPE_RAW, 0x8000, leader, false);
	__u64 data[3], max = 0;
	int above = 0;

	if (leader < 0 || metric < 0) {
		printf("ok %d resets # SKIP no metrics here\n", ++tests);
		return;
	}
	for (int i = 0; i < LOOPS; i++) {
		ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
		if (read(leader, data, sizeof(data)) != sizeof(data))
			above++;
		if (data[1] > LEAK)
			above++;
		if (data[1] > max)
			max = data[1];
	}
	printf("# %d of %d resets above %d slots, at most %llu\n", above, LOOPS, LEAK,
	       (unsigned long long)max);
	result(!above, "resets");
	close(metric);
	close(leader);
}

/* What reading costs: instructions in user mode and in the kernel, or 0. */
static __u64 overhead(struct perf_topdown *td)
{
	int fd = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, true);
	struct perf_topdown_value value;
	__u64 begin, end, data[16], empty;
	int events[9], nr = level == 2 ? 9 : 5;

	for (int i = 0; !td && i < nr; i++) {
		events[i] = open_event(PERF_TYPE_RAW, i ? 0x8000 + ((i - 1) << 8) : 0x400,
				       i ? events[0] : -1, false);
	}
	if (fd < 0 || read(fd, &begin, 8) != 8 || read(fd, &end, 8) != 8)
		return 0;
	empty = end - begin;
	if (td)
		perf_topdown__read(td, &value);
	if (read(fd, &begin, 8) != 8)
		return 0;
	for (int i = 0; i < 100; i++) {
		if (td ? perf_topdown__read(td, &value) : read(events[0], data, sizeof(data)) <= 0)
			return 0;
	}
	if (read(fd, &end, 8) != 8)
		return 0;
	for (int i = 0; !td && i < nr; i++)
		close(events[i]);
	close(fd);
	/* On an E-core, this event does not count. */
	return end > begin ? (end - begin - empty) / 100 : 0;
}

int main(int argc, char **argv)
{
	static const char * const beside[] = { "alone", "storm", "storm of TopDown" };
	struct perf_topdown *td;
	__u64 by_kernel, by_libperf;
	char name[64];
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	libperf_init(print);
	if (argc < 5) {
		if (argc > 1 && setuid(atoi(argv[1])))
			return 1;
		puts(strerror(-perf_topdown__new(&td, 1)));
		return 0;
	}
	level = atoi(argv[1]);
	bubble = atoi(argv[2]);
	div_cost = atoi(argv[3]);
	fence_cost = atoi(argv[4]);
	if (argc > 5) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(atoi(argv[5]), &set);
		sched_setaffinity(0, sizeof(set), &set);
	}
	printf("TAP version 13\n1..%zu\n", 3 * (NR_CODES + 1) + 3);
	by_kernel = overhead(NULL);
	err = perf_topdown__new(&td, level);
	if (err) {
		printf("Bail out! perf_topdown__new(): %d\n", err);
		return 1;
	}
	by_libperf = overhead(td);
	printf("# read(2): %llu instructions, perf_topdown__read(): %llu\n",
	       (unsigned long long)by_kernel, (unsigned long long)by_libperf);
	if (by_kernel)
		result(by_libperf && by_libperf < by_kernel, "no system call");
	else
		result(true, "no system call # SKIP no instructions of this PMU");
	for (int i = 0; i < 3; i++) {
		pid_t other = i ? start_other(i == 2) : 0;

		for (size_t j = 0; j < NR_CODES; j++) {
			snprintf(name, sizeof(name), "%s %s", codes[j].name, beside[i]);
			result(measure(td, &codes[j], beside[i]), name);
		}
		snprintf(name, sizeof(name), "change %s", beside[i]);
		result(measure_change(td), name);
		if (i == 2) {
			leaks(td);
			reset_leaks();
		}
		if (other && !stop_other(other)) {
			printf("Bail out! the other task failed\n");
			return 1;
		}
	}
	perf_topdown__delete(td);
	return failures != 0;
}
