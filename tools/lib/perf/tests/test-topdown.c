// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/perf_event.h>
#include <perf/core.h>
#include <perf/topdown.h>
#include <internal/tests.h>
#include "tests.h"

#define LEVEL_1		4	/* parts */
#define DEVICES		"/sys/bus/event_source/devices"

static int libperf_print(enum libperf_print_level level, const char *fmt, va_list ap)
{
	return level <= LIBPERF_WARN ? vfprintf(stderr, fmt, ap) : 0;
}

static noinline void spin(unsigned int n)
{
	while (n--)
		barrier();
}

static bool has_metrics(void)
{
	return !access(DEVICES "/cpu/events/slots", F_OK) ||
	       !access(DEVICES "/cpu_core/events/slots", F_OK);
}

/* Each slot is one of the parts of level 1, and a part of level 2 is in one of these. */
static int test_parts(unsigned int level)
{
	struct perf_topdown_value a, b;
	struct perf_topdown *topdown;
	double ratio[PERF_TOPDOWN_PARTS], error, sum = 0;
	int err;

	err = perf_topdown__new(&topdown, level);
	if (level == 2 && err == -EOPNOTSUPP) {
		__T_VERBOSE("\tno level 2\n");
		return 0;
	}
	__T("failed to open", !err);
	err = perf_topdown__read(topdown, &a);
	/* On an E-core. */
	if (level == 2 && err == -EAGAIN) {
		__T_VERBOSE("\tno level 2 on this CPU\n");
		perf_topdown__delete(topdown);
		return 0;
	}
	__T("failed to read", !err);
	spin(400000);
	__T("failed to read", !perf_topdown__read(topdown, &b));
	__T("too short", !perf_topdown__ratios(&a, &b, ratio, &error));
	__T_VERBOSE("\t%llu slots, error %.3f:", (unsigned long long)(b.slots - a.slots), error);
	for (int i = 0; i < PERF_TOPDOWN_PARTS; i++) {
		__T_VERBOSE(" %.3f", ratio[i]);
		if (i < LEVEL_1)
			sum += ratio[i];
		else
			__T("a part of a part is larger",
			    ratio[i] <= ratio[i - LEVEL_1] + 2 * error);
		if (level == 1 && i >= LEVEL_1)
			__T("level 2 in level 1", !b.part[i]);
	}
	__T_VERBOSE("\n");
	__T("no error, or none with metrics", !error == !b.error);
	error = 0.02 + LEVEL_1 * error;
	__T("ratios do not sum up to 1", sum > 1 - error && sum < 1 + error);
	__T("the end was the beginning",
	    perf_topdown__ratios(&b, &a, ratio, &error) == -EINVAL);
	__T("ratios of nothing", perf_topdown__ratios(&a, &a, ratio, &error) == -ERANGE);
	perf_topdown__delete(topdown);
	return 0;
}

/* Steps grow, which makes a short region too short, but not for ever. */
static int test_error(void)
{
	double ratio[PERF_TOPDOWN_PARTS], error;
	struct perf_topdown_value a, b;
	struct perf_topdown *topdown;
	int resets = 0, short_regions = 0;
	__u64 step, max = 0;

	__T("failed to open", !perf_topdown__new(&topdown, 1));
	__T("failed to read", !perf_topdown__read(topdown, &a));
	spin(80000);
	__T("failed to read", !perf_topdown__read(topdown, &b));
	if (b.step <= a.step) {
		__T_VERBOSE("\ta counter for each part\n");
		perf_topdown__delete(topdown);
		return 0;
	}
	for (int i = 0; i < 200; i++) {
		step = a.step;
		spin(80000);
		__T("failed to read", !perf_topdown__read(topdown, &a));
		if (a.step < step)
			resets++;
		if (a.step > max)
			max = a.step;
		__T("failed to read", !perf_topdown__read(topdown, &b));
		if (a.step > 1000) {
			short_regions++;
			__T("a short region",
			    perf_topdown__ratios(&a, &b, ratio, &error) == -ERANGE);
		}
	}
	__T_VERBOSE("\t%d resets, %d short regions, steps of at most %llu\n", resets,
		    short_regions, (unsigned long long)max);
	__T("the metrics were not reset", resets > 1);
	__T("no steps", short_regions > 1);
	__T("steps have no bound", max < 20000);
	perf_topdown__delete(topdown);
	return 0;
}

static void *read_in_thread(void *topdown)
{
	struct perf_topdown_value value;

	return (void *)(long)perf_topdown__read(topdown, &value);
}

/* It is of the thread that has opened it, and not of a process that has inherited it. */
static int test_owner(void)
{
	struct perf_topdown_value value;
	struct perf_topdown *topdown;
	pthread_t thread;
	void *ret;
	int status;
	pid_t pid;

	__T("failed to open", !perf_topdown__new(&topdown, 1));
	__T("failed to create a thread", !pthread_create(&thread, NULL, read_in_thread, topdown));
	__T("failed to join a thread", !pthread_join(thread, &ret));
	__T("another thread could read", (long)ret == -ESRCH);
	pid = fork();
	__T("failed to fork", pid >= 0);
	if (!pid) {
		int err = perf_topdown__read(topdown, &value);

		perf_topdown__delete(topdown);
		_exit(err == -ESRCH ? 0 : 1);
	}
	__T("failed to wait", waitpid(pid, &status, 0) == pid);
	__T("another process could read", !status);
	__T("failed to read", !perf_topdown__read(topdown, &value));
	perf_topdown__delete(topdown);
	return 0;
}

static pid_t reader;	/* 0 until it reads */
static bool stop;

static void *read_all_the_time(void *data __maybe_unused)
{
	struct perf_topdown *topdown;
	struct perf_topdown_value value;
	__u64 last = 0;
	long reads = 0;
	int err;

	if (perf_topdown__new(&topdown, 1))
		return NULL;
	WRITE_ONCE(reader, syscall(__NR_gettid));
	while (!READ_ONCE(stop)) {
		err = perf_topdown__read(topdown, &value);
		if ((err && err != -EAGAIN) || value.slots < last)
			return NULL;
		last = value.slots;
		reads++;
	}
	perf_topdown__delete(topdown);
	return (void *)reads;
}

/* A thread that is moved while it reads, as the CPUs of a hybrid system are not the same. */
static int test_migration(void)
{
	cpu_set_t affinity, cpu;
	pthread_t thread;
	void *reads;
	int next = 0;

	__T("failed to get affinity", !sched_getaffinity(0, sizeof(affinity), &affinity));
	if (CPU_COUNT(&affinity) < 2) {
		__T_VERBOSE("\ta single CPU\n");
		return 0;
	}
	reader = 0;
	WRITE_ONCE(stop, false);
	__T("failed to create a thread",
	    !pthread_create(&thread, NULL, read_all_the_time, NULL));
	for (int i = 0; i < 1000 && !READ_ONCE(reader); i++)
		usleep(1000);
	for (int i = 0; i < 2000; i++) {
		do
			next = (next + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(next, &affinity));
		CPU_ZERO(&cpu);
		CPU_SET(next, &cpu);
		__T("failed to move a thread", !sched_setaffinity(reader, sizeof(cpu), &cpu));
	}
	WRITE_ONCE(stop, true);
	__T("failed to join a thread", !pthread_join(thread, &reads));
	__T("failed to read on another CPU", reads);
	__T_VERBOSE("\t%ld reads\n", (long)reads);
	return 0;
}

/* Others have the counters: of metrics, there is one. */
static int test_busy(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_RAW,
		.config = 0x400,	/* slots */
		.pinned = 1,
		.exclude_kernel = 1,
	};
	struct perf_topdown_value value;
	struct perf_topdown *topdown;
	int slots, metric;

	if (access(DEVICES "/cpu/events/slots", F_OK)) {
		__T_VERBOSE("\tno metrics, or not on all CPUs\n");
		return 0;
	}
	__T("failed to open", !perf_topdown__new(&topdown, 1));
	__T("failed to read", !perf_topdown__read(topdown, &value));
	slots = syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);
	attr.config = 0x8000;		/* retiring */
	attr.pinned = 0;
	metric = syscall(__NR_perf_event_open, &attr, 0, -1, slots, 0);
	__T("failed to open others", slots >= 0 && metric >= 0);
	/* Where user space cannot read counters, this has what was counted until now. */
	perf_topdown__read(topdown, &value);
	__T("read what is not counted", perf_topdown__read(topdown, &value) == -EAGAIN);
	close(metric);
	close(slots);
	for (int i = 0; i < 100 && perf_topdown__read(topdown, &value) == -EAGAIN; i++)
		usleep(1000);
	__T("not counted again", !perf_topdown__read(topdown, &value));
	perf_topdown__delete(topdown);
	return 0;
}

static int test_descriptors(void)
{
	struct perf_topdown *topdown;
	struct rlimit limit, one;
	int fd = dup(1);

	__T("failed to get the limit", fd >= 0 && !getrlimit(RLIMIT_NOFILE, &limit));
	close(fd);
	one = limit;
	one.rlim_cur = fd + 1;
	__T("failed to set the limit", !setrlimit(RLIMIT_NOFILE, &one));
	__T("one descriptor", perf_topdown__new(&topdown, 1) == -EMFILE);
	one.rlim_cur = fd;
	__T("failed to set the limit", !setrlimit(RLIMIT_NOFILE, &one));
	__T("no descriptor", perf_topdown__new(&topdown, 1) == -EMFILE);
	__T("failed to reset the limit", !setrlimit(RLIMIT_NOFILE, &limit));
	return 0;
}

static int test_levels(void)
{
	struct perf_topdown *topdown;

	__T("level 0", perf_topdown__new(&topdown, 0) == -EINVAL);
	__T("level 3", perf_topdown__new(&topdown, 3) == -EINVAL);
	if (access(DEVICES "/cpu/events/topdown-heavy-ops", F_OK) &&
	    access(DEVICES "/cpu_core/events/topdown-heavy-ops", F_OK))
		__T("level 2", perf_topdown__new(&topdown, 2) == -EOPNOTSUPP);
	perf_topdown__delete(NULL);
	return 0;
}

int test_topdown(int argc, char **argv)
{
	struct perf_topdown *topdown;
	int err;

	__T_START;

	libperf_init(libperf_print);

	err = perf_topdown__new(&topdown, 1);
	if (err == -ENOENT && !has_metrics()) {
		fprintf(stdout, "SKIP (no PMU)\n");
		return 0;
	}
	__T("failed to open", !err);
	perf_topdown__delete(topdown);

	test_levels();
	test_descriptors();
	test_parts(1);
	test_parts(2);
	test_error();
	test_owner();
	test_migration();
	test_busy();

	__T_END;
	return tests_failed == 0 ? 0 : -1;
}
