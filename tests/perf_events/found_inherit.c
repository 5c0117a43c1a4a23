// SPDX-License-Identifier: GPL-2.0
/*
 * The counts of inherited events, and the times for which they were enabled, are added to
 * the event they were inherited from when their task exits or executes another program.
 * Linux 7.3 adds them too early, see docs/found.md.
 */
#define _GNU_SOURCE

#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define SPIN_NS		20000000
/* The clocks of the scheduler and of perf do not stop at the same time. */
#define LEAST_NS	(SPIN_NS / 10 * 9)

struct counts {
	uint64_t value, enabled, running;
};

static int open_task_clock(struct perf_event_attr *attr, int cpu)
{
	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_TASK_CLOCK;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->inherit = 1;
	/* Needs no privileges. A clock counts the time in the kernel all the same. */
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	return syscall(SYS_perf_event_open, attr, 0, cpu, -1, 0);
}

/* Returns how long this task has been running. */
static uint64_t ran_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void spin(void)
{
	uint64_t end = ran_ns() + SPIN_NS;

	while (ran_ns() < end)
		;
}

/* Gets in @added what a child adds that spins and then exits or executes "true". */
static void count_child(struct __test_metadata *_metadata, int fd, bool exec,
			struct counts *added)
{
	struct counts before;
	int status;
	pid_t child;

	ASSERT_EQ(sizeof(before), read(fd, &before, sizeof(before)));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		spin();
		if (exec)
			execlp("true", "true", NULL);
		_exit(exec);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(sizeof(*added), read(fd, added, sizeof(*added)));
	added->value -= before.value;
	added->enabled -= before.enabled;
	added->running -= before.running;
}

/*
 * The children never run on the CPU of the event, but it is enabled. There are several of
 * them because the kernel may hand the event itself to one, see context_equiv().
 */
TEST(enabled_while_inactive)
{
	struct perf_event_attr attr = {};
	struct counts added;
	cpu_set_t all, set;
	int cpu, here = -1, other = -1;
	int fd, i;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(all), &all));
	for (cpu = 0; cpu < CPU_SETSIZE && other < 0; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		if (here < 0)
			here = cpu;
		else
			other = cpu;
	}
	if (other < 0)
		SKIP(return, "there is only one CPU");

	CPU_ZERO(&set);
	CPU_SET(here, &set);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(set), &set));
	fd = open_task_clock(&attr, other);
	ASSERT_LE(0, fd);
	for (i = 0; i < 3; i++) {
		count_child(_metadata, fd, false, &added);
		EXPECT_EQ(0, added.value);
		EXPECT_EQ(0, added.running);
		EXPECT_LE(LEAST_NS, added.enabled);
	}
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(all), &all));
	close(fd);
}

static void check_complete(struct __test_metadata *_metadata, struct perf_event_attr *attr,
			   bool exec)
{
	struct counts added;
	int fd = open_task_clock(attr, -1);

	ASSERT_LE(0, fd);
	count_child(_metadata, fd, exec, &added);
	EXPECT_LE(LEAST_NS, added.value);
	EXPECT_LE(LEAST_NS, added.enabled);
	EXPECT_EQ(added.enabled, added.running);
	close(fd);
}

TEST(count_at_exit)
{
	check_complete(_metadata, &(struct perf_event_attr){}, false);
}

/* The event is counting when the kernel removes it. */
TEST(count_at_exec)
{
	check_complete(_metadata, &(struct perf_event_attr){ .remove_on_exec = 1 }, true);
}

TEST_HARNESS_MAIN
