// SPDX-License-Identifier: GPL-2.0
/*
 * TopDown metrics of Intel's CPUs: fractions of fixed counter 3, the pipeline slots. Both
 * registers are reset when the events are read, and saved and restored when the task is
 * switched; what read(2) returns and what user space reads with RDPMC is the same.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"
#include "kselftest_harness.h"

#define DEVICES		"/sys/bus/event_source/devices"
#define SLOTS		0x0400
#define SLOTS_P		0x01a4		/* the same, on a general counter */
#define METRIC(n)	(0x8000 + ((n) << 8))
#define LEVEL_1		4
#define LEVEL_2		8
#define WORK		200000
#define RDPMC_SLOTS	0x40000003	/* fixed counter 3 */
#define RDPMC_METRICS	0x20000000

struct counts {
	uint64_t nr, slots, metrics[LEVEL_1], slots_p;
};

static const char *pmu;

static bool exists(const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu, file);
	return !access(path, F_OK);
}

/* Goes to a CPU with metrics, of a hybrid system as well, and stays there. */
static bool find_metrics(void)
{
	cpu_set_t cpus, one;

	pmu = "cpu_core";
	if (!exists("events/slots"))
		pmu = "cpu";
	if (!exists("events/slots"))
		return false;
	if (!read_cpus(DEVICES "/cpu_core/cpus", &cpus) &&
	    sched_getaffinity(0, sizeof(cpus), &cpus))
		return false;
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++) {
		if (CPU_ISSET(cpu, &cpus))
			CPU_SET(cpu, &one);
	}
	return !sched_setaffinity(0, sizeof(one), &one);
}

static int open_event(uint64_t config, uint64_t config1, int group, bool disabled, pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config = config,
		.config1 = config1,
		.read_format = PERF_FORMAT_GROUP,
		.disabled = disabled,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	char path[256];
	int fd;

	snprintf(path, sizeof(path), DEVICES "/%s/type", pmu);
	attr.type = read_number(path);
	fd = perf_event_open(&attr, pid, -1, group);
	return fd < 0 ? -errno : fd;
}

#if defined(__x86_64__) || defined(__i386__)
static uint64_t rdpmc(uint32_t counter)
{
	uint32_t low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (counter));
	return low | (uint64_t)high << 32;
}
#else
static uint64_t rdpmc(uint32_t counter)
{
	return 0;
}
#endif

/* Reads an event in user space, of a metric its fraction of the slots. */
static uint64_t read_user(struct perf_event_mmap_page *page, int metric)
{
	volatile struct perf_event_mmap_page *p = page;	/* the kernel writes it */
	uint32_t lock, index;
	uint64_t count;
	int64_t value;

	do {
		lock = p->lock;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		index = p->index;
		count = p->offset;
		if (index && metric >= 0) {
			value = rdpmc(RDPMC_SLOTS);
			count += value * (rdpmc(RDPMC_METRICS) >> (8 * metric) & 0xff) / 0xff;
		} else if (index) {
			value = rdpmc(index - 1) << (64 - p->pmc_width);
			count += value >> (64 - p->pmc_width);
		}
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (p->lock != lock);
	return index ? count : 0;
}

FIXTURE(topdown)
{
	int fd[2 + LEVEL_1];
	struct counts counts;
	pid_t child;
};

FIXTURE_SETUP(topdown)
{
	if (!find_metrics())
		SKIP(return, "no TopDown metrics");
}

FIXTURE_TEARDOWN(topdown)
{
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
}

/* Opens slots, the metrics of level 1, and slots as an ordinary event. */
static bool open_group(int *fd, pid_t pid)
{
	fd[0] = open_event(SLOTS, 0, -1, true, pid);
	for (int i = 0; i < LEVEL_1; i++)
		fd[1 + i] = open_event(METRIC(i), 0, fd[0], false, pid);
	fd[1 + LEVEL_1] = open_event(SLOTS_P, 0, fd[0], false, pid);
	for (int i = 0; i < 2 + LEVEL_1; i++) {
		if (fd[i] < 0)
			return false;
	}
	return true;
}

static bool read_counts(int fd, struct counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	return read(fd, counts, sizeof(*counts)) > 0;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Read in user space, by a system call, and in user space: one after the other. */
TEST_F(topdown, user_page)
{
	struct perf_event_mmap_page *page[1 + LEVEL_1];
	uint64_t before[1 + LEVEL_1], after, since = 0, last = 0;

	ASSERT_TRUE(open_group(self->fd, 0));
	for (int i = 0; i < 1 + LEVEL_1; i++) {
		page[i] = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, self->fd[i], 0);
		ASSERT_NE(page[i], MAP_FAILED);
	}
	ASSERT_EQ(ioctl(self->fd[0], PERF_EVENT_IOC_ENABLE, 0), 0);
	if (!page[0]->cap_user_rdpmc)
		SKIP(return, "RDPMC is off");

	for (int round = 0; round < 12; round++) {
		spin(WORK);
		/* Be switched, then be read without that, and both. */
		if (round % 3 != 1)
			usleep(1000);
		spin(WORK);
		before[0] = read_user(page[0], -1);
		for (int i = 0; i < LEVEL_1; i++)
			before[1 + i] = read_user(page[1 + i], i);
		if (round % 3 == 0)
			continue;

		ASSERT_TRUE(read_counts(self->fd[0], &self->counts));
		after = read_user(page[0], -1);
		EXPECT_LE(before[0], self->counts.slots);
		EXPECT_GE(after, self->counts.slots);
		EXPECT_LT(after - before[0], WORK);
		since = self->counts.slots - last;
		last = self->counts.slots;
		for (int i = 0; i < LEVEL_1; i++) {
			/* Fractions have 8 bits; some code ran in between. */
			EXPECT_LT(distance(before[1 + i], self->counts.metrics[i]), since / 50)
				TH_LOG("round %d metric %d: user %llu, read %llu", round, i,
				       (unsigned long long)before[1 + i],
				       (unsigned long long)self->counts.metrics[i]);
		}
	}
}

/*
 * A task that is woken, but does not get to user mode, has executed nothing, whatever
 * other tasks count on that CPU.
 */
TEST_F(topdown, nothing)
{
	int own[2 + LEVEL_1], sockets[2];
	char byte = 0, bytes[1000];

	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	self->child = fork();
	ASSERT_GE(self->child, 0);
	if (!self->child) {
		/* More than will come: it waits, and copies a byte from time to time. */
		if (write(sockets[1], &byte, 1) == 1)
			recv(sockets[1], bytes, sizeof(bytes), MSG_WAITALL);
		_exit(1);
	}
	ASSERT_EQ(read(sockets[0], &byte, 1), 1);
	usleep(20000);
	ASSERT_TRUE(open_group(own, 0));
	ASSERT_TRUE(open_group(self->fd, self->child));
	ASSERT_EQ(ioctl(own[0], PERF_EVENT_IOC_ENABLE, 0), 0);
	ASSERT_EQ(ioctl(self->fd[0], PERF_EVENT_IOC_ENABLE, 0), 0);

	for (int i = 0; i < 50; i++) {
		spin(WORK / 10);
		ASSERT_EQ(write(sockets[0], &byte, 1), 1);
		usleep(100);
	}
	ASSERT_TRUE(read_counts(own[0], &self->counts));
	EXPECT_GT(self->counts.slots, 50 * WORK / 10);
	ASSERT_TRUE(read_counts(self->fd[0], &self->counts));
	EXPECT_EQ(self->counts.slots, 0);
	for (int i = 0; i < LEVEL_1; i++)
		EXPECT_EQ(self->counts.metrics[i], 0);
}

FIXTURE(late)
{
	struct counts first, second;
	int fd[2];
};

/* Slots that count already get their first metric. */
FIXTURE_VARIANT(late)
{
	bool read_before;
	bool disabled;		/* while the metric is opened */
};

FIXTURE_VARIANT_ADD(late, unread) { };
FIXTURE_VARIANT_ADD(late, read) { .read_before = true };
FIXTURE_VARIANT_ADD(late, disabled) { .read_before = true, .disabled = true };

FIXTURE_SETUP(late)
{
	if (!find_metrics())
		SKIP(return, "no TopDown metrics");
}

FIXTURE_TEARDOWN(late)
{
}

/* A task that is switched, as can happen in between, counts right from then on. */
TEST_F(late, counts)
{
	for (int i = 0; i < 10; i++) {
		uint64_t work, retiring, rounds = 1;

		self->fd[0] = open_event(SLOTS, 0, -1, false, 0);
		ASSERT_GE(self->fd[0], 0);
		if (variant->read_before) {
			spin(WORK / 10);
			ASSERT_TRUE(read_counts(self->fd[0], &self->first));
			rounds = 2;
		}
		if (variant->disabled)
			ASSERT_EQ(ioctl(self->fd[0], PERF_EVENT_IOC_DISABLE, 0), 0);
		self->fd[1] = open_event(METRIC(0), 0, self->fd[0], false, 0);
		ASSERT_GE(self->fd[1], 0);
		if (variant->disabled)
			ASSERT_EQ(ioctl(self->fd[0], PERF_EVENT_IOC_ENABLE, 0), 0);
		spin(WORK / 10);
		ASSERT_TRUE(read_counts(self->fd[0], &self->first));
		spin(WORK / 10);
		ASSERT_TRUE(read_counts(self->fd[0], &self->second));
		close(self->fd[1]);
		close(self->fd[0]);

		work = self->second.slots - self->first.slots;
		retiring = self->second.metrics[0] - self->first.metrics[0];
		EXPECT_GT(work, WORK / 10);
		EXPECT_GT(retiring, WORK / 10);
		EXPECT_LT(distance(self->first.slots, rounds * work), work / 4)
			TH_LOG("%llu slots, then %llu", (unsigned long long)self->first.slots,
			       (unsigned long long)work);
		EXPECT_LT(distance(self->first.metrics[0], retiring), work / 4)
			TH_LOG("%llu retiring, then %llu",
			       (unsigned long long)self->first.metrics[0],
			       (unsigned long long)retiring);
	}
}

/*
 * Slots are those that a general counter counts, and the metrics are all of them. On a CPU
 * whose metrics overflow (-cpu max,pmu-metrics-width=24 of an emulated one) this happens
 * while restored values are in the registers.
 */
TEST_F(topdown, overflow)
{
	uint64_t sum = 0;

	ASSERT_TRUE(open_group(self->fd, 0));
	ASSERT_EQ(ioctl(self->fd[0], PERF_EVENT_IOC_ENABLE, 0), 0);
	for (int i = 0; i < 50; i++) {
		spin(WORK);
		usleep(1000);
	}
	ASSERT_TRUE(read_counts(self->fd[0], &self->counts));
	EXPECT_GT(self->counts.slots, 50 * WORK);
	EXPECT_LT(distance(self->counts.slots, self->counts.slots_p), self->counts.slots / 100)
		TH_LOG("%llu slots, %llu by a general counter",
		       (unsigned long long)self->counts.slots,
		       (unsigned long long)self->counts.slots_p);
	for (int i = 0; i < LEVEL_1; i++)
		sum += self->counts.metrics[i];
	EXPECT_LT(distance(self->counts.slots, sum), self->counts.slots / 50)
		TH_LOG("%llu slots, the metrics are %llu",
		       (unsigned long long)self->counts.slots, (unsigned long long)sum);
}

/* Only a CPU that can clear the metrics has a bit for it. */
TEST_F(topdown, metrics_clear)
{
	int fd = open_event(SLOTS, 1, -1, false, 0);

	if (exists("format/metrics_clear")) {
		EXPECT_GE(fd, 0);
	} else {
		EXPECT_EQ(fd, -EINVAL);
	}
	EXPECT_EQ(open_event(SLOTS, 2, -1, false, 0), -EINVAL);
	fd = open_event(SLOTS, 0, -1, false, 0);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(open_event(METRIC(0), 1, fd, false, 0), -EINVAL);
}

/* Metrics that the CPU has need slots as leader, others cannot be opened. */
TEST_F(topdown, levels)
{
	bool level_2 = exists("events/topdown-heavy-ops");
	int leader = open_event(SLOTS, 0, -1, true, 0);

	ASSERT_GE(leader, 0);
	for (int i = 0; i < LEVEL_2; i++) {
		int fd = open_event(METRIC(i), 0, leader, false, 0);

		if (i < LEVEL_1 || level_2) {
			EXPECT_GE(fd, 0);
		} else {
			EXPECT_EQ(fd, -EINVAL);
		}
		EXPECT_EQ(open_event(METRIC(i), 0, -1, false, 0), -EINVAL)
			TH_LOG("metric %d", i);
	}
}

TEST_HARNESS_MAIN
