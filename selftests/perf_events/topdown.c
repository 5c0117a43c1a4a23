// SPDX-License-Identifier: GPL-2.0
/*
 * TopDown metrics of Intel's CPUs: fractions of fixed counter 3, the pipeline slots. If a
 * task can execute RDPMC, both registers go on after a context switch, for programs that
 * take the difference of what RDPMC reads, or reset the events and read once. Otherwise, or
 * if slots ask for slices, they start from zero, and the counts are right whatever happens.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helpers.h"
#include "kselftest_harness.h"

#define DEVICES		"/sys/bus/event_source/devices"
#define SLOTS		0x0400
#define SLOTS_P		0x01a4		/* the same, on a general counter */
#define METRIC(n)	(0x8000 + ((n) << 8))
#define LEVEL_1		4
#define EVENTS		(LEVEL_1 + 2)
#define WORK		200000
#define CLEAR		1		/* bits of config1 of slots */
#define SLICES		2
#define RDPMC_SLOTS	0x40000003	/* fixed counter 3 */
#define RDPMC_METRICS	0x20000000

struct counts {
	uint64_t nr, slots, metrics[LEVEL_1], slots_p;
};

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

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
	cpu_set_t cpus;

	pmu = "cpu_core";
	if (!exists("events/slots"))
		pmu = "cpu";
	if (!exists("events/slots"))
		return false;
	if (read_cpus(DEVICES "/cpu_core/cpus", &cpus))
		sched_setaffinity(0, sizeof(cpus), &cpus);
	return pin_to(sched_getcpu());
}

static int open_event(uint64_t config, uint64_t config1, int group, pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config = config,
		.config1 = config1,
		.read_format = PERF_FORMAT_GROUP,
		.disabled = group < 0,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd;

	attr.type = read_pmu_number(pmu, "type");
	fd = perf_event_open(&attr, pid, -1, group);
	return fd < 0 ? -errno : fd;
}

/* Opens and enables slots, the metrics of level 1, and slots as an ordinary event. */
static bool open_group(int *fd, uint64_t config1, pid_t pid)
{
	static const uint64_t configs[EVENTS] = {
		SLOTS, METRIC(0), METRIC(1), METRIC(2), METRIC(3), SLOTS_P,
	};

	for (int i = 0; i < EVENTS; i++) {
		fd[i] = open_event(configs[i], i ? 0 : config1, i ? fd[0] : -1, pid);
		if (fd[i] < 0)
			return false;
	}
	return !ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0);
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
static uint64_t rdpmc(uint32_t counter) { return 0; }
static void nops(unsigned int n) { }
static void divisions(unsigned int n) { }
#endif

/* Reads slots in user space, or of a metric its fraction of them. */
static uint64_t read_user(volatile struct perf_event_mmap_page *page, int metric)
{
	uint64_t count, slots, metrics;
	uint32_t lock;

	do {
		lock = page->lock;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		count = page->offset;
		if (page->index) {
			slots = rdpmc(RDPMC_SLOTS);
			metrics = rdpmc(RDPMC_METRICS);
			count += metric < 0 ? slots : slots * (metrics >> 8 * metric & 0xff) / 0xff;
		}
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (page->lock != lock);
	return count;
}

FIXTURE(topdown)
{
	int fd[EVENTS];
	struct counts counts;
};

FIXTURE_SETUP(topdown)
{
	if (!find_metrics())
		SKIP(return, "no TopDown metrics");
}

FIXTURE_TEARDOWN(topdown)
{
}

/* What user space reads is what read(2) returns, after switches and after reads. */
TEST_F(topdown, user_page)
{
	struct perf_event_mmap_page *page[1 + LEVEL_1];
	uint64_t user[1 + LEVEL_1], after, since, last = 0;

	if (!exists("format/metrics_slices"))
		SKIP(return, "the kernel has no slices");
	ASSERT_TRUE(open_group(self->fd, SLICES, 0));
	for (int i = 0; i < 1 + LEVEL_1; i++) {
		page[i] = map_page(self->fd[i]);
		ASSERT_NE(page[i], MAP_FAILED);
	}
	if (!page[0]->cap_user_rdpmc)
		SKIP(return, "RDPMC is off");

	for (int round = 0; round < 12; round++) {
		spin(WORK);
		/* Be switched, then be read without that, and both. */
		if (round % 3 != 1)
			usleep(1000);
		spin(WORK);
		for (int i = 0; i < 1 + LEVEL_1; i++)
			user[i] = read_user(page[i], i - 1);
		if (round % 3 == 0)
			continue;

		ASSERT_TRUE(read_counts(self->fd[0], &self->counts));
		after = read_user(page[0], -1);
		EXPECT_LE(user[0], self->counts.slots);
		EXPECT_GE(after, self->counts.slots);
		EXPECT_LT(after - user[0], WORK);
		since = self->counts.slots - last;
		last = self->counts.slots;
		/* Fractions have 8 bits; some code ran in between. */
		for (int i = 0; i < LEVEL_1; i++) {
			EXPECT_LT(distance(user[1 + i], self->counts.metrics[i]), since / 50)
				TH_LOG("metric %d in round %d", i, round);
		}
	}
}

/*
 * A task that is woken, but does not get to user mode, has executed nothing, whatever another
 * one, which can execute RDPMC, has left in the registers.
 */
TEST_F(topdown, nothing)
{
	int own[EVENTS], sockets[2];
	char byte = 0, bytes[1000];
	pid_t child;

	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* More than will come: it waits, and copies a byte from time to time. */
		if (write(sockets[1], &byte, 1) == 1)
			recv(sockets[1], bytes, sizeof(bytes), MSG_WAITALL);
		_exit(1);
	}
	ASSERT_EQ(read(sockets[0], &byte, 1), 1);
	usleep(20000);
	ASSERT_TRUE(open_group(own, 0, 0));
	ASSERT_NE(map_page(own[0]), MAP_FAILED);
	ASSERT_TRUE(open_group(self->fd, 0, child));

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

/* A task that is woken each 100 us, on the same CPU, with TopDown events of its own. */
static void start_other(void)
{
	struct sched_param param = { .sched_priority = 1 };
	int fd[EVENTS];

	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Without it, the scheduler may make it wait. */
	sched_setscheduler(0, SCHED_FIFO, &param);
	open_group(fd, 0, 0);
	for (;;) {
		nops(50);
		usleep(100);
	}
}

enum between { READ, NOTHING, TOGGLE, SLEEP };

/* Works in two phases that differ, each in pieces with something in between. */
static bool run_phases(int *fd, enum between between, struct counts *counts)
{
	const int pieces = 20;

	ioctl(fd[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	for (int i = 0; i < 2 * pieces; i++) {
		if (i < pieces)
			nops(WORK / 10);
		else
			divisions(WORK / 5);
		if (between == READ)
			read_counts(fd[0], counts);
		else if (between == TOGGLE)
			ioctl(fd[1], i % 2 ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
		else if (between == SLEEP && i % 10 == 0)
			usleep(1000);
	}
	return read_counts(fd[0], counts);
}

/* Compares the counts with those that have many reads of an undisturbed task. */
static void compare(struct __test_metadata *_metadata, int *fd, enum between between, bool other)
{
	struct counts expected, counts;

	ASSERT_TRUE(open_group(fd, 0, 0));
	ASSERT_TRUE(run_phases(fd, READ, &expected));
	if (other)
		start_other();
	usleep(1000);
	ASSERT_TRUE(run_phases(fd, between, &counts));
	EXPECT_LT(distance(counts.slots, expected.slots), expected.slots / 50);
	EXPECT_LT(distance(counts.slots_p, counts.slots), expected.slots / 100);
	/* One of them was off half of the time. */
	if (between == TOGGLE)
		counts.metrics[0] *= 2;
	for (int i = 0; i < LEVEL_1; i++) {
		EXPECT_LT(distance(counts.metrics[i], expected.metrics[i]), expected.slots / 100)
			TH_LOG("metric %d", i);
	}
}

/* The task is switched thousands of times. */
TEST_F(topdown, switches)
{
	compare(_metadata, self->fd, NOTHING, true);
}

/* A member is disabled and enabled while others count. */
TEST_F(topdown, member)
{
	compare(_metadata, self->fd, TOGGLE, false);
}

/* Where the metrics overflow (pmu-metrics-width=24 of QEMU) they do so between two switches. */
TEST_F(topdown, overflow)
{
	compare(_metadata, self->fd, SLEEP, false);
}

/*
 * A task with a page of any event can execute RDPMC. It reads the same whether it was switched
 * or not: VPP takes differences, PAPI resets the events and reads the metrics once.
 */
TEST_F(topdown, registers)
{
	struct perf_event_mmap_page *page = map_page(open_event(SLOTS_P, 0, -1, 0));
	uint64_t slots, retiring, first_slots = 0, first_retiring = 0;

	ASSERT_NE(page, MAP_FAILED);
	if (!page->cap_user_rdpmc)
		SKIP(return, "RDPMC is off");
	self->fd[0] = open_event(SLOTS, 0, -1, 0);
	ASSERT_GE(self->fd[0], 0);
	self->fd[1] = open_event(METRIC(0), 0, self->fd[0], 0);
	ASSERT_GE(self->fd[1], 0);
	ASSERT_EQ(ioctl(self->fd[0], PERF_EVENT_IOC_ENABLE, 0), 0);
	start_other();
	for (int sleeps = 0; sleeps <= 30; sleeps += 10) {
		ASSERT_EQ(ioctl(self->fd[0], PERF_EVENT_IOC_RESET, 0), 0);
		ASSERT_EQ(ioctl(self->fd[1], PERF_EVENT_IOC_RESET, 0), 0);
		divisions(WORK / 5);
		for (int i = 0; i < sleeps; i++) {
			usleep(100);
			nops(1);
		}
		nops(WORK / 100);
		slots = rdpmc(RDPMC_SLOTS);
		retiring = rdpmc(RDPMC_METRICS) & 0xff;
		if (!sleeps) {
			first_slots = slots;
			first_retiring = retiring;
		}
		EXPECT_LT(distance(slots, first_slots), first_slots / 50);
		EXPECT_LT(distance(retiring, first_retiring), 0xff / 50);
	}
}

/* Which bits of config1 are accepted is in sysfs. Only slots have them. */
TEST_F(topdown, config1)
{
	bool slices = exists("format/metrics_slices");

	EXPECT_EQ(open_event(SLOTS, SLICES, -1, 0) >= 0, slices);
	if (exists("format/metrics_clear"))
		EXPECT_GE(open_event(SLOTS, CLEAR, -1, 0), 0);
	EXPECT_EQ(open_event(SLOTS, 4, -1, 0), -EINVAL);
	self->fd[0] = open_event(SLOTS, 0, -1, 0);
	ASSERT_GE(self->fd[0], 0);
	EXPECT_EQ(open_event(METRIC(0), CLEAR, self->fd[0], 0), -EINVAL);
	EXPECT_EQ(open_event(METRIC(0), SLICES, self->fd[0], 0), -EINVAL);
}

TEST_HARNESS_MAIN
