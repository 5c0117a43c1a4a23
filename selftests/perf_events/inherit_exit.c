// SPDX-License-Identifier: GPL-2.0
/*
 * What inherited events counted gets to the event they were inherited from when
 * the task that has them exits or executes another program, and so do the times
 * for which they were enabled.
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
	/* Anybody may. A clock counts the time in the kernel as well. */
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	return syscall(SYS_perf_event_open, attr, 0, cpu, -1, 0);
}

/* How long this task has been running. */
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

/* What a child that spins, and then exits or executes "true", adds to the event. */
static void count_child(struct __test_metadata *_metadata, int fd, bool exec,
			struct counts *added)
{
	struct counts before;
	int status;
	pid_t child;

	ASSERT_EQ(read(fd, &before, sizeof(before)), sizeof(before));
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		spin();
		if (exec)
			execlp("true", "true", NULL);
		_exit(exec);
	}
	ASSERT_EQ(waitpid(child, &status, 0), child);
	ASSERT_EQ(status, 0);
	ASSERT_EQ(read(fd, added, sizeof(*added)), sizeof(*added));
	added->value -= before.value;
	added->enabled -= before.enabled;
	added->running -= before.running;
}

/*
 * The children are never where the event counts, and yet could have been. Of several:
 * the kernel may let one of them have the event itself, see context_equiv().
 */
TEST(enabled_while_inactive)
{
	struct perf_event_attr attr = {};
	struct counts added;
	cpu_set_t all, set;
	int cpu, here = -1, other = -1;
	int fd, i;

	ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	for (cpu = 0; cpu < CPU_SETSIZE && other < 0; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		if (here < 0)
			here = cpu;
		else
			other = cpu;
	}
	if (other < 0)
		SKIP(return, "one CPU");

	CPU_ZERO(&set);
	CPU_SET(here, &set);
	ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
	fd = open_task_clock(&attr, other);
	ASSERT_GE(fd, 0);
	for (i = 0; i < 3; i++) {
		count_child(_metadata, fd, false, &added);
		EXPECT_EQ(added.value, 0);
		EXPECT_EQ(added.running, 0);
		EXPECT_GE(added.enabled, LEAST_NS);
	}
	ASSERT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
	close(fd);
}

static void check_complete(struct __test_metadata *_metadata, struct perf_event_attr *attr,
			   bool exec)
{
	struct counts added;
	int fd = open_task_clock(attr, -1);

	ASSERT_GE(fd, 0);
	count_child(_metadata, fd, exec, &added);
	EXPECT_GE(added.value, LEAST_NS);
	EXPECT_GE(added.enabled, LEAST_NS);
	EXPECT_EQ(added.running, added.enabled);
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
