// SPDX-License-Identifier: GPL-2.0
/*
 * Does libperf's perf/topdown.h tell of code what the model of the emulated CPU gives?
 * For machines with pmu-stalls=on, or with the costs 0; see docs/system/i386/tcg-pmu.rst
 * of our QEMU for the costs, in cycles. KTAP.
 *
 * usage: topdown-truth LEVEL BUBBLE DIV FENCE [WIDTH]
 *        topdown-truth		prints the error of perf_topdown__new()
 *
 * With a WIDTH it is on a P-core of a hybrid system, where each reading is a read(2).
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
#include <perf/topdown.h>

#define LOOPS	40000
#define PARTS	8
/* Slots, less than what the other task executes at a time. */
#define LEAK	40000
/* Steps of the metrics, which are fractions. */
#define STEPS	255.
/* No read(2) for the precision. */
#define ANY	~0U

static int level, width, bubble, div_cost, fence_cost, tests, failures;

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

/* One iteration: instructions, heavy ones, cycles that these take longer. */
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

static double cycles_of(const struct code *code)
{
	return code->insns + bubble + (code->cost ? *code->cost : 0);
}

/* In the order of struct perf_topdown_raw. */
static void truth(const struct code *code, double part[PARTS])
{
	double cycles = cycles_of(code);

	memset(part, 0, PARTS * sizeof(*part));
	part[0] = code->insns / cycles;
	part[2] = bubble / cycles;
	part[3] = (code->cost ? *code->cost : 0) / cycles;
	if (level == 2)
		part[4] = code->heavy / cycles;
}

static void ratios(const struct perf_topdown_raw *sum, double part[PARTS])
{
	const __s64 parts[PARTS] = {
		sum->retiring, sum->bad_spec, sum->fe_bound, sum->be_bound,
		sum->heavy_ops, sum->br_mispredict, sum->fetch_lat, sum->mem_bound,
	};

	for (int i = 0; i < PARTS; i++)
		part[i] = (double)parts[i] / sum->slots;
}

/* What each part is wrong by, at most. */
static double compare(const struct perf_topdown_raw *sum, const double want[PARTS])
{
	double part[PARTS], worst = 0;

	ratios(sum, part);
	for (int i = 0; i < (level == 2 ? PARTS : 4); i++) {
		printf(" %.2f (%.2f)", 100 * part[i], 100 * want[i]);
		worst = fmax(worst, fabs(part[i] - want[i]));
	}
	printf(" %%, wrong by %.2f\n", 100 * worst);
	return worst;
}

/* A task that preempts this one each 100 us, and does something else. */
static pid_t start_other(bool topdown)
{
	struct sched_param param = { .sched_priority = 1 };
	struct timespec time = { .tv_nsec = 100000 };
	struct perf_topdown_raw raw;
	struct perf_topdown *td;
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || sched_setscheduler(0, SCHED_FIFO, &param) ||
	    (topdown && perf_topdown__new(&td)))
		_exit(1);
	for (;;) {
		divisions(1000);
		if (topdown && perf_topdown__read(td, &raw, 0))
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

/* A region of one kind of code, read at both ends. */
static bool measure(struct perf_topdown *td, const struct code *code, const char *beside)
{
	struct perf_topdown_raw a, b, sum = {};
	double part[PARTS], cycles, slots;

	if (perf_topdown__read(td, &a, 0))
		return false;
	code->run(code->n);
	if (perf_topdown__read(td, &b, ANY))
		return false;
	perf_topdown__add(&sum, &a, &b);
	truth(code, part);
	cycles = cycles_of(code) * code->n;
	slots = sum.slots / cycles;
	printf("# %s, %s: %.3f slots a cycle", code->name, beside, slots);
	/* A step where it ends, and some hundred instructions of the reading. */
	return compare(&sum, part) <= 1 / STEPS + 0.002 && sum.missed < 10000 &&
	       slots / width >= 0.9999 && slots / width < 1.002;
}

/* A region whose first tenth is of another kind. */
static bool measure_change(struct perf_topdown *td)
{
	struct perf_topdown_raw a, b, sum = {};
	double cycles, want[PARTS] = {}, part[PARTS];

	if (perf_topdown__read(td, &a, 0))
		return false;
	divisions(200000);
	nops(360000);
	if (perf_topdown__read(td, &b, ANY))
		return false;
	perf_topdown__add(&sum, &a, &b);
	cycles = 200000. * (5 + bubble + div_cost) + 360000. * (102 + bubble);
	truth(&codes[1], want);
	truth(&codes[0], part);
	for (int i = 0; i < PARTS; i++) {
		want[i] *= 200000. * (5 + bubble + div_cost) / cycles;
		want[i] += part[i] * 360000. * (102 + bubble) / cycles;
	}
	printf("# change:");
	return compare(&sum, want) <= 1 / STEPS + 0.002;
}

/* Short regions, each behind a longer one, added up. */
static bool add_short(struct perf_topdown *td, unsigned int n, __u32 limit,
		      struct perf_topdown_raw *sum)
{
	struct perf_topdown_raw a, b;

	for (int i = 0; i < 1000; i++) {
		nops(200 + i * 7 % 100);
		if (perf_topdown__read(td, &a, limit))
			return false;
		if (n)
			divisions(n);
		if (perf_topdown__read(td, &b, ANY))
			return false;
		perf_topdown__add(sum, &a, &b);
	}
	return true;
}

/*
 * With those of empty regions, which have what is executed in the reading, subtracted, they
 * are right to some percent for a limit that is no more than what is before a region.
 */
static bool measure_short(struct perf_topdown *td)
{
	static const __u32 limits[] = { 0, 20000, 1000000, ANY };
	double part[PARTS], worst;
	bool ok = true;

	truth(&codes[1], part);
	for (int i = 0; i < 4; i++) {
		struct perf_topdown_raw empty = {}, sum = {}, difference = {};

		if (!add_short(td, 0, limits[i], &empty) || !add_short(td, 100, limits[i], &sum))
			return false;
		perf_topdown__add(&difference, &empty, &sum);
		printf("# short, limit %u:", limits[i]);
		worst = compare(&difference, part);
		if (worst > 0.02 && limits[i] <= 20000)
			ok = false;
	}
	return ok;
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
	struct perf_topdown_raw a, b;
	__s64 max = 0;
	int above = 0, failed = 0;

	failed += !!perf_topdown__read(td, &a, ANY);
	for (int i = 0; i < LOOPS; i++) {
		failed += !!perf_topdown__read(td, &b, ANY);
		if (b.slots - a.slots > LEAK || b.slots < a.slots)
			above++;
		if (b.slots - a.slots > max)
			max = b.slots - a.slots;
		a = b;
	}
	printf("# %d of %d reads above %d slots, at most %lld, %d failed\n", above, LOOPS, LEAK,
	       (long long)max, failed);
	result(!above && !failed, "reads");
}

/* Do the same, with a reset by ioctl(2) before each read(2). */
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
static double overhead(struct perf_topdown *td, __u32 max_slots)
{
	int fd = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1, true);
	struct perf_topdown_raw raw;
	__u64 count[4];
	int err = 0;

	if (fd < 0 || perf_topdown__read(td, &raw, max_slots))
		return 0;
	for (int i = 0; i < 4; i++) {
		if (read(fd, &count[i], 8) != 8)
			return 0;
		/* Without, and with: ten at a time, as the loop is none of them. */
		for (int j = 0; i == 2 && j < 10; j++) {
#define READ	err |= perf_topdown__read(td, &raw, max_slots)
			READ; READ; READ; READ; READ; READ; READ; READ; READ; READ;
		}
	}
	close(fd);
	if (err)
		return 0;
	return (count[3] - count[2] - (count[1] - count[0])) / 100.;
}

int main(int argc, char **argv)
{
	static const char * const beside[] = { "alone", "storm", "storm of TopDown" };
	struct perf_topdown *td;
	double by_kernel, fast;
	char name[64];
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 5) {
		puts(strerror(-perf_topdown__new(&td)));
		return 0;
	}
	level = atoi(argv[1]);
	bubble = atoi(argv[2]);
	div_cost = atoi(argv[3]);
	fence_cost = atoi(argv[4]);
	width = argc > 5 ? atoi(argv[5]) : 5;
	printf("TAP version 13\n1..%zu\n", 3 * (NR_CODES + 2) + 3);
	err = perf_topdown__new(&td);
	if (err) {
		printf("Bail out! perf_topdown__new(): %d\n", err);
		return 1;
	}
	/* An interrupt in between counts as well: take the least of three. */
	fast = overhead(td, ANY);
	for (int i = 0; i < 2; i++)
		fast = fmin(fast, overhead(td, ANY));
	by_kernel = overhead(td, 0);
	printf("# %.1f instructions a reading, %.1f with read(2)\n", fast, by_kernel);
	/* With the call, and what keeps its result. */
	if (argc <= 5)
		result(fast && fast <= 100 && by_kernel > 10 * fast, "at most 100 instructions");
	else
		result(true, "at most 100 instructions # SKIP a hybrid system");
	for (int i = 0; i < 3; i++) {
		pid_t other = i ? start_other(i == 2) : 0;

		for (size_t j = 0; j < NR_CODES; j++) {
			snprintf(name, sizeof(name), "%s %s", codes[j].name, beside[i]);
			result(measure(td, &codes[j], beside[i]), name);
		}
		snprintf(name, sizeof(name), "change %s", beside[i]);
		result(measure_change(td), name);
		snprintf(name, sizeof(name), "short %s", beside[i]);
		result(measure_short(td), name);
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
