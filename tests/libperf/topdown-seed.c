// SPDX-License-Identifier: GPL-2.0
/*
 * The statements that a text about TopDown by RDPMC made, before this series had corrected
 * it in tools/perf/Documentation/topdown.txt: each one executed, with the code of that
 * text. For an Intel CPU whose cycles have SLOTS slots, with pmu-stalls=on,
 * pmu-bubble=BUBBLE and pmu-metrics-strict=on; on a CPU without metrics for what was said of these. The test of a
 * statement that is wrong passes if it fails in the way that its comment names. What a test
 * has found is in the line before its result. KTAP.
 *
 * usage: topdown-seed [SLOTS BUBBLE]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <x86intrin.h>

/* From the text: */
#define RDPMC_FIXED	(1 << 30)	/* return fixed counters */
#define RDPMC_METRIC	(1 << 29)	/* return metric counters */

#define FIXED_COUNTER_SLOTS		3
#define METRIC_COUNTER_TOPDOWN_L1	0

#define GET_METRIC(m, i) (((m) >> (i*8)) & 0xff)

static inline uint64_t read_slots(void)
{
	return _rdpmc(RDPMC_FIXED | FIXED_COUNTER_SLOTS);
}

static inline uint64_t read_metrics(void)
{
	return _rdpmc(RDPMC_METRIC | METRIC_COUNTER_TOPDOWN_L1);
}

/* Defined by this program: */
#define DEVICES		"/sys/bus/event_source/devices"
#define METRICS		4
#define GENERAL		16	/* more than general counters */
#define MISPREDICT	16	/* cycles */

struct counts {
	uint64_t nr, enabled, running, value[1 + METRICS];
};

static unsigned int width, bubble;
static bool has_metrics;
static int tests, failures;

/* The attr of the text, but for what read(2) returns. */
static int open_event(uint32_t type, uint64_t config, int group, bool pinned)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.exclude_kernel = 1,
		.pinned = pinned,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return syscall(__NR_perf_event_open, &attr, 0, -1, group, 0);
}

static bool map(int fd)
{
	return mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED;
}

/* Slots, with all metrics as members. */
static int open_group(void)
{
	int leader = open_event(PERF_TYPE_RAW, 0x400, -1, false);

	for (int i = 0; i < METRICS; i++) {
		if (open_event(PERF_TYPE_RAW, 0x8000 + (i << 8), leader, false) < 0)
			return -1;
	}
	return map(leader) ? leader : -1;
}

static bool read_counts(int fd, struct counts *counts)
{
	return read(fd, counts, sizeof(*counts)) > 0;
}

static void spin(unsigned int n)
{
	asm volatile("1: dec %0; jnz 1b" : "+r" (n) : : "cc");
}

/* Back end bound, for more than half of the slots. */
static void divisions(unsigned int n)
{
	asm volatile("1: xor %%edx, %%edx; mov $100, %%eax; div %1; dec %0; jnz 1b"
		     : "+r" (n) : "r" (7) : "eax", "edx", "cc");
}

/* Some of each part: branches that depend on random bits, and divisions. */
static void mixture(unsigned int n)
{
	unsigned int random = 1;

	asm volatile("1: imul $1103515245, %1; add $12345, %1; test $0x10000, %1; jz 2f; nop; "
		     "2: xor %%edx, %%edx; mov $100, %%eax; div %2; dec %0; jnz 1b"
		     : "+r" (n), "+r" (random) : "r" (7) : "eax", "edx", "cc");
}

/* What retires of the slots of divisions(). */
static double retiring_truth(void)
{
	int group = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, -1, false);
	int other = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, group, false);
	struct counts a, b;

	read_counts(group, &a);
	divisions(100000);
	read_counts(group, &b);
	close(other);
	close(group);
	return (double)(b.value[1] - a.value[1]) / (b.value[0] - a.value[0]);
}

/* The program of the text, for the part that is retiring: as it is, or divided by 0xff. */
static double retiring(unsigned int n, double divisor)
{
	uint64_t slots_a, metric_a, slots_b, metric_b, retiring_slots_a, retiring_slots;

	slots_a = read_slots();
	metric_a = read_metrics();
	divisions(n);
	slots_b = read_slots();
	metric_b = read_metrics();
	retiring_slots_a = GET_METRIC(metric_a, 0) * slots_a;
	retiring_slots = GET_METRIC(metric_b, 0) * slots_b - retiring_slots_a;
	/* A float of the text; a difference can be negative. */
	return (float)(int64_t)retiring_slots / (slots_b - slots_a) / divisor;
}

static uint32_t index_of(int fd)
{
	const struct perf_event_mmap_page *page = mmap(NULL, getpagesize(), PROT_READ,
						       MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? 0 : page->index;
}

/* Is it right, to what 8 bits tell? */
static bool is_right(double ratio)
{
	double truth = retiring_truth();

	printf("# %.4g, is %.3f\n", ratio, truth);
	return fabs(ratio - truth) < 0.02;
}

/* It is fixed counter 3. */
static bool test_open(void)
{
	int fd = open_event(PERF_TYPE_RAW, 0x400, -1, false);
	uint32_t index = fd < 0 ? 0 : index_of(fd);

	printf("# index %#x\n", index);
	return index == (RDPMC_FIXED | FIXED_COUNTER_SLOTS) + 1;
}

/* Wrong: nothing is mapped, so RDPMC is a fault. */
static bool test_as_written(void)
{
	int fd = open_event(PERF_TYPE_RAW, 0x400, -1, false);

	if (fd < 0)
		exit(1);
	printf("# %llu slots\n", (unsigned long long)read_slots());
	return false;
}

/* Wrong: slots without a metric begin below zero, to interrupt when they are 2^47. */
static bool test_slots_mapped(void)
{
	int fd = open_event(PERF_TYPE_RAW, 0x400, -1, false);
	uint64_t slots;

	if (fd < 0 || !map(fd))
		return false;
	spin(1000000);
	slots = read_slots();
	printf("# %#llx slots, retiring %.3g\n", (unsigned long long)slots,
	       retiring(100000, 0xff));
	return slots >> 46 != 0;
}

/* With all metrics, and divided by 0xff; a program has done something else before. */
static bool test_group(void)
{
	struct counts counts;
	int fd = open_group();

	if (fd < 0 || !read_counts(fd, &counts))
		return false;
	spin(1000000);
	return is_right(retiring(100000, 0xff));
}

/* Wrong: it is 0xff times the ratio. */
static bool test_formula(void)
{
	struct counts counts;
	double ratio, truth;
	int fd = open_group();

	if (fd < 0 || !read_counts(fd, &counts))
		return false;
	ratio = retiring(100000, 1);
	truth = retiring_truth();
	printf("# %.4g, is %.3f\n", ratio, truth);
	return fabs(ratio / 0xff - truth) < 0.02;
}

/* Tell if the register has less than it had: it began again from zero. */
static bool is_restarted(uint64_t before, uint64_t after)
{
	printf("# %llu slots, then %llu\n", (unsigned long long)before,
	       (unsigned long long)after);
	return after && after < before / 10;
}

/* Wrong: slots are less than before, when another program has read them in between. */
static bool test_over_read(void)
{
	struct counts counts;
	uint64_t before, after;
	int fd = open_group();

	if (fd < 0)
		return false;
	divisions(100000);
	before = read_slots();
	read_counts(fd, &counts);
	divisions(1000);
	after = read_slots();
	return is_restarted(before, after);
}

/* It accumulates for the time when the counter is enabled: a switch ends no difference. */
static bool test_over_switch(void)
{
	uint64_t begin, middle, end, field[2];
	double first, second;

	if (open_group() < 0)
		return false;
	divisions(100000);
	begin = read_slots();
	divisions(100000);
	middle = read_slots();
	field[0] = GET_METRIC(read_metrics(), 0);
	for (int i = 0; i < 10; i++)
		usleep(1000);
	divisions(100000);
	end = read_slots();
	field[1] = GET_METRIC(read_metrics(), 0);
	first = middle - begin;
	second = (double)end - middle;
	printf("# %.0f slots, then %.0f; retiring %.3f, then %.3f\n", first, second,
	       field[0] / 255., field[1] / 255.);
	return fabs(second - first) < first / 50 && fabs((double)field[1] - field[0]) < 4;
}

static bool test_width(void)
{
	int group = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, -1, false);
	int fd = open_event(PERF_TYPE_RAW, 0x400, -1, false);
	struct counts cycles[2], slots[2];
	double ratio;

	if (group < 0 || fd < 0 || !read_counts(group, &cycles[0]) || !read_counts(fd, &slots[0]))
		return false;
	divisions(100000);
	if (!read_counts(group, &cycles[1]) || !read_counts(fd, &slots[1]))
		return false;
	ratio = (double)(slots[1].value[0] - slots[0].value[0]) /
		(cycles[1].value[0] - cycles[0].value[0]);
	printf("# %.3f a cycle, is %u\n", ratio, width);
	return fabs(ratio - width) < 0.01;
}

/* Wrong: each field is rounded, so it can be less. */
static bool test_sum(void)
{
	unsigned int sum, min = 0xff, max = 0;
	uint64_t metrics;

	if (open_group() < 0)
		return false;
	for (int i = 0; i < 100; i++) {
		divisions(1000);
		metrics = read_metrics();
		sum = 0;
		for (int j = 0; j < METRICS; j++)
			sum += GET_METRIC(metrics, j);
		if (sum < min)
			min = sum;
		if (sum > max)
			max = sum;
	}
	printf("# sums from %#x to %#x\n", min, max);
	return min < 0xff && min > 0xff - METRICS && max <= 0xff;
}

/* From bit 0 on retiring, bad speculation, frontend and backend bound. */
static bool test_fields(void)
{
	int group = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, -1, false);
	int fd = open_group();
	struct counts a, b, counts;
	double cycles, want[METRICS], got;
	uint64_t metrics;
	bool ok = true;

	open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, group, false);
	open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, group, false);
	open_event(PERF_TYPE_RAW, 0x20c4, group, false);	/* taken branches */
	if (fd < 0 || !read_counts(group, &a) || !read_counts(fd, &counts))
		return false;
	mixture(100000);
	metrics = read_metrics();
	if (!read_counts(group, &b) || b.nr != 4)
		return false;
	cycles = b.value[0] - a.value[0];
	want[0] = (b.value[1] - a.value[1]) / cycles;
	want[1] = MISPREDICT * (b.value[2] - a.value[2]) / cycles;
	want[2] = bubble * (b.value[3] - a.value[3]) / cycles;
	want[3] = 1 - want[0] - want[1] - want[2];
	printf("#");
	for (int i = 0; i < METRICS; i++) {
		got = GET_METRIC(metrics, i) / 255.;
		printf(" %.3f (%.3f)", got, want[i]);
		ok &= fabs(got - want[i]) < 0.01 && want[i] > 0.05;
		for (int j = 0; j < i; j++)
			ok &= fabs(want[i] - want[j]) > 0.03;
	}
	printf("\n");
	return ok;
}

/* All general counters are in use by events that have to be on the PMU. */
static bool test_no_general(void)
{
	struct counts counts;
	int used = 0, fd;

	for (int i = 0; i < GENERAL; i++) {
		/* Branches: there is no fixed counter for them. */
		fd = open_event(PERF_TYPE_RAW, 0x00c4, -1, true);
		/* The end of the file if it has no counter. */
		if (fd < 0 || !read_counts(fd, &counts))
			break;
		used++;
	}
	fd = open_group();
	divisions(100000);
	if (fd < 0 || !read_counts(fd, &counts))
		return false;
	printf("# beside %d, counts %.0f %% of the time\n", used,
	       100. * counts.running / counts.enabled);
	return used >= 4 && used < GENERAL && counts.running == counts.enabled &&
	       counts.value[0] && counts.value[1];
}

/* Another process of the same CPU measures something else meanwhile. */
static bool test_per_thread(void)
{
	int cycles = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, -1, false), fd;
	struct counts a, b, begin, end;
	double slots, ratio, truth;
	pid_t pid = fork();

	if (!pid) {
		/* Not for ever, if the parent fails. */
		alarm(60);
		fd = open_group();
		for (;;)
			spin(10000);
	}
	fd = open_group();
	if (pid < 0 || fd < 0 || !read_counts(fd, &begin) || !read_counts(cycles, &a))
		return false;
	for (int i = 0; i < 100; i++) {
		divisions(5000);
		usleep(1000);
	}
	if (!read_counts(fd, &end) || !read_counts(cycles, &b))
		return false;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	slots = (double)(end.value[0] - begin.value[0]) / width / (b.value[0] - a.value[0]);
	ratio = (double)(end.value[1] - begin.value[1]) / (end.value[0] - begin.value[0]);
	truth = retiring_truth();
	printf("# slots of %.3f of its cycles, retiring %.3f of %.3f\n", slots, ratio, truth);
	return fabs(slots - 1) < 0.02 && fabs(ratio - truth) < 0.02;
}

/* Wrong: there is one set of metrics, so another user has it half of the time. */
static bool test_always(void)
{
	struct counts counts[2];
	int fds[2] = { open_group(), open_group() };

	divisions(2000000);
	for (int i = 0; i < 2; i++) {
		if (fds[i] < 0 || !read_counts(fds[i], &counts[i]) || !counts[i].enabled)
			return false;
		printf("# counts %.0f %% of the time\n",
		       100. * counts[i].running / counts[i].enabled);
	}
	return counts[0].running < counts[0].enabled * 0.9 &&
	       counts[1].running < counts[1].enabled * 0.9;
}

/* True if precision is lost: a short region after a long time. */
static bool is_lost(void)
{
	double ratio, truth = retiring_truth();

	spin(10000000);
	ratio = retiring(1000, 0xff);
	printf("# %.3g, is %.3f\n", ratio, truth);
	return fabs(ratio - truth) > 0.1;
}

static bool test_precision(void)
{
	return open_group() >= 0 && is_lost();
}

/* Wrong: after a hundredth of a second, it is lost as well. */
static bool test_interval(void)
{
	struct counts counts;
	int fd = open_group();

	return fd >= 0 && read_counts(fd, &counts) && is_lost();
}

/* Both registers are of divisions only, and not of what was before. */
static bool is_reset(double truth)
{
	double ratio;
	uint64_t slots;

	divisions(1000);
	slots = read_slots();
	ratio = GET_METRIC(read_metrics(), 0) / 255.;
	printf("# %llu slots, retiring %.3f, is %.3f\n", (unsigned long long)slots, ratio,
	       truth);
	return slots > 10000 && slots < 1000000 && fabs(ratio - truth) < 0.05;
}

static bool test_read_resets(void)
{
	double truth = retiring_truth();
	struct counts counts;
	int fd = open_group();

	if (fd < 0)
		return false;
	spin(1000000);
	read_counts(fd, &counts);
	return is_reset(truth);
}

static bool test_ioctl_resets(void)
{
	double truth = retiring_truth();
	int fd = open_group();

	if (fd < 0)
		return false;
	spin(1000000);
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	return is_reset(truth);
}

/* On another CPU: nothing in sysfs, and no such counter. */
static bool test_other_cpu(void)
{
	int fd = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, -1, false);

	printf("# not in sysfs\n");
	if (fd < 0 || !map(fd))
		return false;
	/* Fixed counter 3, which is to be a fault. */
	printf("# %llu slots\n", (unsigned long long)read_slots());
	return false;
}

/* Runs a test in a process of its own, which a fault ends. */
static void run(const char *name, bool (*test)(void), bool with_metrics, bool to_fault)
{
	int status;
	pid_t pid;
	bool ok;

	if (with_metrics != has_metrics) {
		printf("ok %d %s # SKIP %s metrics here\n", ++tests, name,
		       has_metrics ? "there are" : "no");
		return;
	}
	pid = fork();
	if (!pid)
		exit(test() ? 0 : 1);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		exit(1);
	if (WIFSIGNALED(status))
		printf("# RDPMC: %s\n", strsignal(WTERMSIG(status)));
	ok = to_fault ? WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV : !status;
	printf("%sok %d %s\n", ok ? "" : "not ", ++tests, name);
	failures += !ok;
}

int main(int argc, char **argv)
{
	width = argc > 1 ? atoi(argv[1]) : 5;
	bubble = argc > 2 ? atoi(argv[2]) : 0;
	has_metrics = !access(DEVICES "/cpu/events/slots", F_OK);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..18\n");
	run("other CPU", test_other_cpu, false, true);
	run("no general counters", test_no_general, true, false);
	run("two users take turns", test_always, true, false);
	run("per thread", test_per_thread, true, false);
	run("width", test_width, true, false);
	run("open", test_open, true, false);
	run("as written is a fault", test_as_written, true, true);
	run("slots alone begin below zero", test_slots_mapped, true, false);
	run("group mapped", test_group, true, false);
	run("fields in order", test_fields, true, false);
	run("sums are less", test_sum, true, false);
	run("formula is 0xff times too much", test_formula, true, false);
	run("precision is lost", test_precision, true, false);
	run("precision is lost soon", test_interval, true, false);
	run("read resets", test_read_resets, true, false);
	run("a read ends a difference", test_over_read, true, false);
	run("a switch ends no difference", test_over_switch, true, false);
	run("ioctl resets", test_ioctl_resets, true, false);
	return failures != 0;
}
