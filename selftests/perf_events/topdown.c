// SPDX-License-Identifier: GPL-2.0
/*
 * TopDown metrics of Intel's CPUs: fractions of fixed counter 3, the pipeline slots. If a
 * task can execute RDPMC, both registers go on after a context switch, for programs that
 * take the difference of what RDPMC reads, or reset the events and read once. Otherwise, or
 * if slots ask for slices, they start from zero, and the counts are right whatever happens.
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
#define WORK		200000
#define CLEAR		1		/* bits of config1 of slots */
#define SLICES		2
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

/* Slots that retire, and slots that wait for the back end. */
static void nops(unsigned int n)
{
	while (n--)
		asm volatile(".rept 100; nop; .endr");
}

static void divisions(unsigned int n)
{
	while (n--) {
		uint32_t low = 100, high = 0;

		asm volatile("div %2" : "+a" (low), "+d" (high) : "r" (7) : "cc");
	}
}
#else
static void nops(unsigned int n) { }
static void divisions(unsigned int n) { }

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
static bool open_group(int *fd, uint64_t config1, pid_t pid)
{
	fd[0] = open_event(SLOTS, config1, -1, true, pid);
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

static struct perf_event_mmap_page *map_page(int fd)
{
	return mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
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

	if (!exists("format/metrics_slices"))
		SKIP(return, "the kernel has no slices");
	ASSERT_TRUE(open_group(self->fd, SLICES, 0));
	for (int i = 0; i < 1 + LEVEL_1; i++) {
		page[i] = map_page(self->fd[i]);
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
	ASSERT_TRUE(open_group(own, 0, 0));
	ASSERT_TRUE(open_group(self->fd, 0, self->child));
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

/*
 * Slots are those that a general counter counts, and the metrics are all of them. On a CPU
 * whose metrics overflow (-cpu max,pmu-metrics-width=24 of an emulated one) this happens
 * between two switches.
 */
TEST_F(topdown, overflow)
{
	uint64_t sum = 0;

	ASSERT_TRUE(open_group(self->fd, 0, 0));
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

static void add_counts(struct counts *sum, const struct counts *from, const struct counts *to)
{
	sum->slots += to->slots - from->slots;
	for (int i = 0; i < LEVEL_1; i++)
		sum->metrics[i] += to->metrics[i] - from->metrics[i];
}

/* A task that is woken each 100 us, on the same CPU, with TopDown events of its own or not. */
static pid_t disturb(bool topdown)
{
	struct sched_param param = { .sched_priority = 1 };
	pid_t child = fork();
	int fd[2 + LEVEL_1];

	if (child)
		return child;
	/* Without it, the scheduler may make it wait. */
	sched_setscheduler(0, SCHED_FIFO, &param);
	if (topdown && open_group(fd, 0, 0))
		ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0);
	for (;;) {
		nops(50);
		usleep(100);
	}
}

FIXTURE(slices)
{
	int fd[2 + LEVEL_1];
	pid_t child;
};

FIXTURE_VARIANT(slices)
{
	uint64_t config1;
	bool mapped, topdown;	/* the other task, too */
};

FIXTURE_VARIANT_ADD(slices, unmapped) { };
FIXTURE_VARIANT_ADD(slices, unmapped_both) { .topdown = true };
FIXTURE_VARIANT_ADD(slices, mapped) { .config1 = SLICES, .mapped = true };
FIXTURE_VARIANT_ADD(slices, mapped_both) { .config1 = SLICES, .mapped = true, .topdown = true };

FIXTURE_SETUP(slices)
{
	if (!find_metrics())
		SKIP(return, "no TopDown metrics");
	if (variant->config1 && !exists("format/metrics_slices"))
		SKIP(return, "the kernel has no slices");
}

FIXTURE_TEARDOWN(slices)
{
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
}

/*
 * Two phases that differ, read at their ends only, while the task is switched thousands of
 * times: the same as what many reads of an undisturbed task have.
 */
TEST_F(slices, phases)
{
	enum { PIECES = 20, NOPS = 20000, DIVISIONS = 40000 };
	struct counts before, after, often = {}, once = {};

	ASSERT_TRUE(open_group(self->fd, variant->config1, 0));
	for (int i = 0; variant->mapped && i < 1 + LEVEL_1; i++)
		ASSERT_NE(map_page(self->fd[i]), MAP_FAILED);
	ASSERT_EQ(ioctl(self->fd[0], PERF_EVENT_IOC_ENABLE, 0), 0);
	ASSERT_TRUE(read_counts(self->fd[0], &before));
	for (int i = 0; i < 2 * PIECES; i++) {
		if (i < PIECES)
			nops(NOPS);
		else
			divisions(DIVISIONS);
		ASSERT_TRUE(read_counts(self->fd[0], &after));
		add_counts(&often, &before, &after);
		before = after;
	}

	self->child = disturb(variant->topdown);
	ASSERT_GT(self->child, 0);
	usleep(1000);
	ASSERT_TRUE(read_counts(self->fd[0], &before));
	nops(PIECES * NOPS);
	divisions(PIECES * DIVISIONS);
	ASSERT_TRUE(read_counts(self->fd[0], &after));
	add_counts(&once, &before, &after);
	EXPECT_LT(distance(once.slots, often.slots), often.slots / 50)
		TH_LOG("%llu slots, %llu undisturbed", (unsigned long long)once.slots,
		       (unsigned long long)often.slots);
	for (int i = 0; i < LEVEL_1; i++) {
		EXPECT_LT(distance(once.metrics[i], often.metrics[i]), often.slots / 100)
			TH_LOG("metric %d of %llu slots: %llu, undisturbed %llu", i,
			       (unsigned long long)once.slots,
			       (unsigned long long)once.metrics[i],
			       (unsigned long long)often.metrics[i]);
	}
}

FIXTURE(kept)
{
	int fd[2];
	pid_t child;
};

/* A page of any event, also of one that is not in the group: RDPMC needs no more. */
FIXTURE_VARIANT(kept)
{
	bool slots, metric, other;
};

FIXTURE_VARIANT_ADD(kept, slots) { .slots = true };
FIXTURE_VARIANT_ADD(kept, metric) { .metric = true };
FIXTURE_VARIANT_ADD(kept, both) { .slots = true, .metric = true };
FIXTURE_VARIANT_ADD(kept, other) { .other = true };

FIXTURE_SETUP(kept)
{
	struct perf_event_mmap_page *page = NULL;

	if (!find_metrics())
		SKIP(return, "no TopDown metrics");
	self->fd[0] = open_event(SLOTS, 0, -1, false, 0);
	ASSERT_GE(self->fd[0], 0);
	self->fd[1] = open_event(METRIC(0), 0, self->fd[0], false, 0);
	ASSERT_GE(self->fd[1], 0);
	if (variant->slots)
		page = map_page(self->fd[0]);
	ASSERT_NE(page, MAP_FAILED);
	if (variant->metric)
		page = map_page(self->fd[1]);
	ASSERT_NE(page, MAP_FAILED);
	if (variant->other) {
		int fd = open_event(SLOTS_P, 0, -1, false, 0);

		ASSERT_GE(fd, 0);
		page = map_page(fd);
	}
	ASSERT_NE(page, MAP_FAILED);
	if (!page->cap_user_rdpmc)
		SKIP(return, "RDPMC is off");
	self->child = disturb(true);
	ASSERT_GT(self->child, 0);
}

FIXTURE_TEARDOWN(kept)
{
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
}

/* Two phases, and @sleeps, or more, switches between their ends. */
static void sleep_between(int sleeps)
{
	divisions(40000);
	while (sleeps--) {
		usleep(100);
		nops(1);
	}
	nops(WORK / 100);
}

/* PAPI's component topdown: reset slots and a metric, and read the metrics once. */
TEST_F(kept, reset)
{
	uint64_t first = 0, field;

	for (int sleeps = 0; sleeps <= 30; sleeps += 10) {
		ASSERT_EQ(ioctl(self->fd[0], PERF_EVENT_IOC_RESET, 0), 0);
		ASSERT_EQ(ioctl(self->fd[1], PERF_EVENT_IOC_RESET, 0), 0);
		sleep_between(sleeps);
		field = rdpmc(RDPMC_METRICS) & 0xff;
		if (!sleeps)
			first = field;
		EXPECT_LT(distance(field, first), 0xff / 50)
			TH_LOG("retiring %.1f %%, with %d switches %.1f %%", first / 2.55, sleeps,
			       field / 2.55);
	}
}

/* VPP, and what topdown.txt said: differences of what is read at two points. */
TEST_F(kept, difference)
{
	uint64_t slots[2], retiring[2];
	int64_t first[2] = {};

	for (int sleeps = 0; sleeps <= 30; sleeps += 10) {
		/* Far from an overflow of the metrics, and not from zero. */
		ASSERT_EQ(ioctl(self->fd[0], PERF_EVENT_IOC_RESET, 0), 0);
		nops(WORK / 1000);
		for (int i = 0; i < 2; i++) {
			if (i)
				sleep_between(sleeps);
			slots[i] = rdpmc(RDPMC_SLOTS);
			retiring[i] = slots[i] * (rdpmc(RDPMC_METRICS) & 0xff) / 0xff;
		}
		if (!sleeps) {
			first[0] = slots[1] - slots[0];
			first[1] = retiring[1] - retiring[0];
		}
		EXPECT_LT(distance(slots[1] - slots[0], first[0]), first[0] / 50)
			TH_LOG("%lld slots, with %d switches %lld", (long long)first[0], sleeps,
			       (long long)(slots[1] - slots[0]));
		/* A step at each end, of all slots until then. */
		EXPECT_LT(distance(retiring[1] - retiring[0], first[1]), slots[1] / 50)
			TH_LOG("%lld retiring, with %d switches %lld", (long long)first[1], sleeps,
			       (long long)(retiring[1] - retiring[0]));
	}
}

/* Some of both, the same each time. */
static void piece(void)
{
	nops(WORK / 20);
	divisions(WORK / 4);
}

FIXTURE(member)
{
	struct counts a, b;
};

/* Which metric, as not every CPU waits for divisions. */
FIXTURE_VARIANT(member)
{
	int off, late;
};

FIXTURE_VARIANT_ADD(member, retiring_off) { .off = 0, .late = 3 };
FIXTURE_VARIANT_ADD(member, retiring_late) { .off = 3, .late = 0 };

FIXTURE_SETUP(member)
{
	if (!find_metrics())
		SKIP(return, "no TopDown metrics");
}

FIXTURE_TEARDOWN(member)
{
}

/* A member that is off while the others are read, and one that is enabled late. */
TEST_F(member, counts)
{
	uint64_t slots, metric, once;
	int leader, off, late;

	leader = open_event(SLOTS, 0, -1, false, 0);
	ASSERT_GE(leader, 0);
	late = open_event(METRIC(variant->late), 0, leader, true, 0);
	ASSERT_GE(late, 0);
	off = open_event(METRIC(variant->off), 0, leader, false, 0);
	ASSERT_GE(off, 0);
	ASSERT_TRUE(read_counts(leader, &self->a));
	piece();
	ASSERT_TRUE(read_counts(leader, &self->b));
	slots = self->b.slots - self->a.slots;
	metric = self->b.metrics[1] - self->a.metrics[1];
	if (variant->off == 0)
		EXPECT_GT(metric, slots / 4);

	/* Twice as much as before, of which the member does not count the half. */
	piece();
	ASSERT_EQ(ioctl(off, PERF_EVENT_IOC_DISABLE, 0), 0);
	piece();
	ASSERT_TRUE(read_counts(leader, &self->a));
	ASSERT_EQ(ioctl(off, PERF_EVENT_IOC_ENABLE, 0), 0);
	EXPECT_LT(distance(self->a.slots - self->b.slots, 2 * slots), slots / 50);
	EXPECT_LT(distance(self->a.metrics[1] - self->b.metrics[1], metric), slots / 50)
		TH_LOG("%llu of %llu",
		       (unsigned long long)(self->a.metrics[1] - self->b.metrics[1]),
		       (unsigned long long)metric);

	/* It counts from then on, and goes on when another one joins. */
	piece();
	ASSERT_EQ(ioctl(late, PERF_EVENT_IOC_ENABLE, 0), 0);
	piece();
	ASSERT_TRUE(read_counts(leader, &self->b));
	EXPECT_LT(distance(self->b.slots - self->a.slots, 2 * slots), slots / 50);
	EXPECT_LT(distance(self->b.metrics[1] - self->a.metrics[1], 2 * metric), slots / 50)
		TH_LOG("%llu of 2 * %llu",
		       (unsigned long long)(self->b.metrics[1] - self->a.metrics[1]),
		       (unsigned long long)metric);

	/* That one has nothing of what was before it was enabled, and all since. */
	EXPECT_EQ(self->a.metrics[0], 0);
	once = self->b.metrics[0];
	piece();
	ASSERT_TRUE(read_counts(leader, &self->a));
	if (variant->late == 0)
		EXPECT_GT(once, slots / 4);
	EXPECT_LT(distance(self->a.metrics[0] - self->b.metrics[0], once), slots / 50)
		TH_LOG("late %llu, then %llu", (unsigned long long)once,
		       (unsigned long long)(self->a.metrics[0] - self->b.metrics[0]));
}

/* Which bits of config1 are accepted is in sysfs. Only slots have them. */
TEST_F(topdown, config1)
{
	bool slices = exists("format/metrics_slices");

	EXPECT_EQ(open_event(SLOTS, SLICES, -1, false, 0) >= 0, slices);
	if (exists("format/metrics_clear"))
		EXPECT_GE(open_event(SLOTS, CLEAR, -1, false, 0), 0);
	EXPECT_EQ(open_event(SLOTS, 4, -1, false, 0), -EINVAL);
	self->fd[0] = open_event(SLOTS, 0, -1, false, 0);
	ASSERT_GE(self->fd[0], 0);
	EXPECT_EQ(open_event(METRIC(0), CLEAR, self->fd[0], false, 0), -EINVAL);
	EXPECT_EQ(open_event(METRIC(0), SLICES, self->fd[0], false, 0), -EINVAL);
}

TEST_HARNESS_MAIN
