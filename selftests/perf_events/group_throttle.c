// SPDX-License-Identifier: GPL-2.0
/*
 * A group of events survives throttling, whichever of its events causes it: its hardware
 * events stop and go on together, a software event throttles only itself and is not stopped
 * by others. So it does when members come and go, when buffers do, when periods change, and
 * when there are thousands of them.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "helpers.h"
#include "kselftest_harness.h"

#define RING_PAGES	64	/* power of two */
#define SLOTS		5
#define SLOT_NS		40000000ULL	/* several ticks of any kernel */
#define MEMBERS		2
#define FREE_RUNNING	"/sys/bus/event_source/devices/uncore_iio_free_running_0"

struct event {
	int fd;
	struct perf_event_mmap_page *page;
	uint64_t samples, throttled, unthrottled;
	uint64_t behind, forbidden;	/* samples since the group was throttled, but for one */
	uint64_t unthrottled_at;	/* if no sample followed yet */
	uint64_t least, early;		/* of samples that are a time: how many came before */
};

static size_t ring_size(void)
{
	return (RING_PAGES + 1) * sysconf(_SC_PAGESIZE);
}

/* Counts the records in the buffer of @event and makes room for others. */
static void drain(struct event *event)
{
	uint8_t *data = (uint8_t *)event->page + sysconf(_SC_PAGESIZE);
	uint64_t mask = RING_PAGES * sysconf(_SC_PAGESIZE) - 1;
	uint64_t head = __atomic_load_n(&event->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = event->page->data_tail;

	while (tail < head) {
		/* Records are multiples of eight bytes: no field is in two parts. */
		struct perf_event_header *header = (void *)(data + (tail & mask));
		uint64_t *time = (void *)(data + ((tail + sizeof(*header)) & mask));

		switch (header->type) {
		case PERF_RECORD_SAMPLE:
			event->samples++;
			/* The one that throttles is written behind the record of it. */
			if (event->throttled != event->unthrottled && event->behind++)
				event->forbidden++;
			if (event->unthrottled_at && *time - event->unthrottled_at < event->least)
				event->early++;
			event->unthrottled_at = 0;
			break;
		case PERF_RECORD_THROTTLE:
			event->throttled++;
			event->behind = 0;
			break;
		case PERF_RECORD_UNTHROTTLE:
			event->unthrottled++;
			event->unthrottled_at = *time;
			break;
		}
		tail += header->size;
	}
	__atomic_store_n(&event->page->data_tail, tail, __ATOMIC_RELEASE);
}

/* Returns false if the error of an open means more than that the machine has no such event. */
static bool is_missing(int err)
{
	return err == ENOENT || err == ENODEV || err == EOPNOTSUPP ||
	       err == EACCES || err == EPERM;
}

static uint64_t count_of(int fd)
{
	uint64_t value = 0;

	return read(fd, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

#define HW(event, period)	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event, period }
#define SW(event, period)	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##event, period }

FIXTURE(group)
{
	struct event events[MEMBERS];
};

FIXTURE_VARIANT(group)
{
	struct {
		uint32_t type;
		uint64_t config, period;	/* a period of 0: it only counts */
	} members[MEMBERS];		/* the first one leads the group */
	unsigned int precise;
	bool freq;
};

#define GROUP_VARIANT(name, leader, member, ...)			\
	FIXTURE_VARIANT_ADD(group, name)				\
	{								\
		.members = { leader, member },				\
		__VA_ARGS__						\
	}

/* Both overflow at the same time, or one of them far more often. */
GROUP_VARIANT(cycles_instructions, HW(CPU_CYCLES, 2000), HW(INSTRUCTIONS, 2000));
GROUP_VARIANT(instructions_cycles, HW(INSTRUCTIONS, 2000), HW(CPU_CYCLES, 2000));
GROUP_VARIANT(rare_leader, HW(CPU_CYCLES, 20000), HW(INSTRUCTIONS, 2000));
GROUP_VARIANT(rare_member, HW(INSTRUCTIONS, 2000), HW(CPU_CYCLES, 20000));
/* A period of 1: the highest frequency that is allowed. */
GROUP_VARIANT(frequency, HW(CPU_CYCLES, 1), HW(INSTRUCTIONS, 1), .freq = true);
GROUP_VARIANT(precise, HW(CPU_CYCLES, 2000), HW(INSTRUCTIONS, 2000), .precise = 2);
GROUP_VARIANT(counting_leader, HW(CPU_CYCLES, 0), HW(INSTRUCTIONS, 2000));
GROUP_VARIANT(counting_member, HW(CPU_CYCLES, 2000), HW(INSTRUCTIONS, 0));
GROUP_VARIANT(software_leader, SW(CPU_CLOCK, 100000), HW(INSTRUCTIONS, 2000));
GROUP_VARIANT(software_member, HW(CPU_CYCLES, 2000), SW(CPU_CLOCK, 100000));
/* The group is throttled more often than the clock ends a period. */
GROUP_VARIANT(long_cpu_clock, HW(CPU_CYCLES, 300), SW(CPU_CLOCK, 2000000));
GROUP_VARIANT(long_task_clock, HW(CPU_CYCLES, 300), SW(TASK_CLOCK, 2000000));

FIXTURE_SETUP(group)
{
	for (int i = 0; i < MEMBERS; i++)
		self->events[i] = (struct event){ .fd = -1, .page = MAP_FAILED };
}

FIXTURE_TEARDOWN(group)
{
	for (int i = MEMBERS - 1; i >= 0; i--) {
		if (self->events[i].page != MAP_FAILED)
			munmap(self->events[i].page, ring_size());
		if (self->events[i].fd >= 0)
			close(self->events[i].fd);
	}
}

/* The leader is disabled. Returns false if this machine has no such group. */
static bool open_group(struct __test_metadata *_metadata, struct event *events,
		       const FIXTURE_VARIANT(group) *variant, bool cpu)
{
	for (int i = 0; i < MEMBERS; i++) {
		struct perf_event_attr attr = {
			.size = sizeof(attr),
			.type = variant->members[i].type,
			.config = variant->members[i].config,
			.sample_period = variant->members[i].period,
			.sample_type = PERF_SAMPLE_IP,
			.precise_ip = variant->precise,
			.freq = variant->freq && variant->members[i].type == PERF_TYPE_HARDWARE,
			.disabled = !i,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.wakeup_events = 1U << 31,
		};

		if (attr.freq)
			attr.sample_freq = read_number(PERF_MAX_RATE);
		events[i].fd = perf_event_open(&attr, cpu ? -1 : 0, cpu ? sched_getcpu() : -1,
					       i ? events[0].fd : -1);
		if (events[i].fd < 0)
			return false;
		/* The leader tells of the others even if it takes no samples. */
		if (i && !attr.sample_period)
			continue;
		events[i].page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED,
				      events[i].fd, 0);
		ASSERT_NE(MAP_FAILED, events[i].page);
	}
	return true;
}

static bool pin_to_this_cpu(void)
{
	return pin_to(sched_getcpu());
}

static void check_group(struct __test_metadata *_metadata, struct event *events,
			const FIXTURE_VARIANT(group) *variant, bool cpu)
{
	ASSERT_TRUE(pin_to_this_cpu());
	if (!open_group(_metadata, events, variant, cpu)) {
		ASSERT_TRUE(is_missing(errno)) TH_LOG("%s", strerror(errno));
		SKIP(return, "no such group: %s", strerror(errno));
	}

	ASSERT_EQ(0, ioctl(events[0].fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int slot = 0; slot < SLOTS; slot++) {
		uint64_t samples[MEMBERS], counts[MEMBERS], end = now_ns() + SLOT_NS;

		for (int i = 0; i < MEMBERS; i++) {
			samples[i] = events[i].samples;
			counts[i] = count_of(events[i].fd);
		}
		do {
			spin(10000);
			for (int i = 0; i < MEMBERS; i++) {
				if (events[i].page != MAP_FAILED)
					drain(&events[i]);
			}
		} while (now_ns() < end);

		for (int i = 0; i < MEMBERS; i++) {
			uint64_t count = count_of(events[i].fd);

			EXPECT_LT(counts[i], count)
				TH_LOG("event %d does not count in slot %d", i, slot);
			/* Some periods, because a clock may end one in the kernel. */
			if (!variant->members[i].period ||
			    count - counts[i] < 3 * variant->members[i].period)
				continue;
			EXPECT_LT(samples[i], events[i].samples)
				TH_LOG("event %d has no samples in slot %d", i, slot);
		}
	}
	ASSERT_EQ(0, ioctl(events[0].fd, PERF_EVENT_IOC_DISABLE, 0));

	for (int i = 0; i < MEMBERS; i++) {
		if (events[i].page == MAP_FAILED)
			continue;
		drain(&events[i]);
		ksft_print_msg("%s: %llu samples, throttled %llu times\n",
			       i ? "member" : "leader",
			       (unsigned long long)events[i].samples,
			       (unsigned long long)events[i].throttled);
		/* The group can be disabled while it is throttled. */
		EXPECT_LE(events[i].throttled - events[i].unthrottled, 1);
	}
	if (!events[0].throttled && !events[1].throttled)
		SKIP(return, "this machine does not throttle the group");
}

TEST_F(group, of_a_task)
{
	check_group(_metadata, self->events, variant, false);
}

TEST_F(group, of_a_cpu)
{
	check_group(_metadata, self->events, variant, true);
}

#define TRIO	3

FIXTURE(trio)
{
	struct event events[TRIO];
};

FIXTURE_VARIANT(trio)
{
	int changed;			/* which of three events */
	uint64_t periods[TRIO];
};

/* A member that would not be throttled alone, and one that would. */
FIXTURE_VARIANT_ADD(trio, middle_rare) { .changed = 1, .periods = { 2000, 50000000, 3000 } };
FIXTURE_VARIANT_ADD(trio, middle) { .changed = 1, .periods = { 2000, 2000, 3000 } };
FIXTURE_VARIANT_ADD(trio, last) { .changed = 2, .periods = { 2000, 3000, 2000 } };
FIXTURE_VARIANT_ADD(trio, leader) { .changed = 0, .periods = { 20000, 2000, 3000 } };

FIXTURE_SETUP(trio)
{
	ASSERT_TRUE(pin_to_this_cpu());
	for (int i = 0; i < TRIO; i++)
		self->events[i] = (struct event){ .fd = -1, .page = MAP_FAILED };
	for (int i = 0; i < TRIO; i++) {
		struct perf_event_attr attr = {
			.size = sizeof(attr),
			.type = PERF_TYPE_HARDWARE,
			.config = i == 1 ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_CPU_CYCLES,
			.sample_period = variant->periods[i],
			.sample_type = PERF_SAMPLE_IP,
			.disabled = !i,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.wakeup_events = 1U << 31,
		};

		self->events[i].fd = perf_event_open(&attr, 0, -1, i ? self->events[0].fd : -1);
		if (self->events[i].fd < 0) {
			ASSERT_TRUE(is_missing(errno)) TH_LOG("%s", strerror(errno));
			SKIP(return, "no such group: %s", strerror(errno));
		}
		self->events[i].page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED,
					    self->events[i].fd, 0);
		ASSERT_NE(MAP_FAILED, self->events[i].page);
	}
	ASSERT_EQ(0, ioctl(self->events[0].fd, PERF_EVENT_IOC_ENABLE, 0));
}

FIXTURE_TEARDOWN(trio)
{
	for (int i = TRIO - 1; i >= 0; i--) {
		if (self->events[i].page != MAP_FAILED)
			munmap(self->events[i].page, ring_size());
		if (self->events[i].fd >= 0)
			close(self->events[i].fd);
	}
}

static void drain_trio(struct event *events)
{
	for (int i = 0; i < TRIO; i++) {
		if (events[i].page != MAP_FAILED)
			drain(&events[i]);
	}
}

/* Whatever was done to them before, all of them count and take samples in each slot. */
static void check_trio(struct __test_metadata *_metadata, struct event *events)
{
	for (int slot = 0; slot < 3; slot++) {
		uint64_t counts[TRIO], samples[TRIO], end = now_ns() + SLOT_NS;

		for (int i = 0; i < TRIO; i++) {
			counts[i] = count_of(events[i].fd);
			samples[i] = events[i].samples;
		}
		while (now_ns() < end) {
			spin(10000);
			drain_trio(events);
		}
		for (int i = 0; i < TRIO; i++) {
			EXPECT_LT(counts[i], count_of(events[i].fd))
				TH_LOG("event %d does not count in slot %d", i, slot);
			EXPECT_LT(samples[i], events[i].samples)
				TH_LOG("event %d has no samples in slot %d", i, slot);
		}
	}
	if (!events[0].throttled)
		SKIP(return, "this machine does not throttle the group");
}

/* One is disabled and enabled, again and again, also while its group is throttled. */
TEST_F(trio, enabled)
{
	int fd = self->events[variant->changed].fd;
	uint64_t period = 2000;

	for (uint64_t end = now_ns() + SLOTS * SLOT_NS; now_ns() < end;) {
		ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
		spin(3000);
		ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
		spin(7000);
		drain_trio(self->events);
	}
	/* A rare one now has to have samples as well. */
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
	check_trio(_metadata, self->events);
}

/* One gets a new buffer, and that of the leader, again and again. */
TEST_F(trio, buffers)
{
	struct event *event = &self->events[variant->changed];
	uint64_t period = 2000;

	for (uint64_t end = now_ns() + SLOTS * SLOT_NS; now_ns() < end;) {
		ASSERT_EQ(0, munmap(event->page, ring_size()));
		event->page = MAP_FAILED;
		spin(1000);
		if (variant->changed) {
			ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_SET_OUTPUT,
					   self->events[0].fd));
			spin(1000);
			ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_SET_OUTPUT, -1L));
		}
		event->page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED,
				   event->fd, 0);
		ASSERT_NE(MAP_FAILED, event->page);
		spin(3000);
		drain_trio(self->events);
	}
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period));
	check_trio(_metadata, self->events);
}

static void *spin_on_a_cpu(void *arg)
{
	pid_t tid = gettid();

	pin_to_this_cpu();
	__atomic_store_n((pid_t *)arg, tid, __ATOMIC_RELEASE);
	/* It ends with its process. */
	for (;;)
		spin(10000);
	return NULL;
}

/*
 * The buffers of a group change on one CPU while it is throttled on another. A kernel that
 * does not cope with that crashes.
 */
TEST(race)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 1000,
		.sample_type = PERF_SAMPLE_IP,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	enum { NR = 100 };
	void *pages[NR];
	pthread_t thread;
	uint64_t end, count, first;
	pid_t tid = 0;
	int fd[NR];

	ASSERT_EQ(0, pthread_create(&thread, NULL, spin_on_a_cpu, &tid));
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	for (int i = 0; i < NR; i++) {
		fd[i] = perf_event_open(&attr, tid, -1, i ? fd[0] : -1);
		if (fd[i] < 0) {
			ASSERT_TRUE(is_missing(errno)) TH_LOG("event %d: %s", i, strerror(errno));
			SKIP(return, "no such group: %s", strerror(errno));
		}
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_PAGE_FAULTS;
		attr.sample_period = 1ULL << 40;
	}
	/* The thread may be on a CPU of another PMU than that of the event. */
	usleep(SLOT_NS / 1000);
	first = count_of(fd[0]);
	for (end = now_ns() + 20 * SLOT_NS; now_ns() < end;) {
		for (int i = 0; i < NR; i++) {
			pages[i] = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
					MAP_SHARED, fd[i], 0);
			/* There is a limit for those who are not root. */
			if (pages[i] == MAP_FAILED && i)
				ioctl(fd[i], PERF_EVENT_IOC_SET_OUTPUT, fd[i / 2]);
		}
		usleep(5000);
		for (int i = NR - 1; i >= 0; i--) {
			if (pages[i] != MAP_FAILED)
				munmap(pages[i], sysconf(_SC_PAGESIZE));
			else
				ioctl(fd[i], PERF_EVENT_IOC_SET_OUTPUT, -1L);
		}
	}
	count = count_of(fd[0]);
	usleep(SLOT_NS / 1000);
	if (first)
		EXPECT_LT(count, count_of(fd[0]));
}

/* Returns the longest time, in ns, for which this task did not run in a while. */
static uint64_t longest_gap(void)
{
	uint64_t last = now_ns(), end = last + 3 * SLOT_NS, gap = 0;

	while (last < end) {
		uint64_t now = now_ns();

		if (now - last > gap)
			gap = now - last;
		last = now;
	}
	return gap;
}

FIXTURE(many)
{
	struct sample_limits limits;
};

FIXTURE_SETUP(many)
{
	save_sample_limits(&self->limits);
	/* What is measured should not change meanwhile. */
	write_number(PERF_MAX_PERCENT, 0);
}

/* Not by the user that the test becomes. */
FIXTURE_TEARDOWN_PARENT(many)
{
	restore_sample_limits(&self->limits);
}

/*
 * A group of thousands, of any user: interrupts are off while it is throttled and runs again,
 * for a time that does not grow with the square of their number.
 */
TEST_F(many, members)
{
	static const int members[] = { 500, 2000 };
	static int fd[2001];
	struct rlimit limit = { 4096, 4096 };
	struct event leader = {};
	uint64_t gaps[2];

	if (setrlimit(RLIMIT_NOFILE, &limit))
		SKIP(return, "no limit of %d files: %s", (int)limit.rlim_cur, strerror(errno));
	if (getuid() == 0)
		ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	ASSERT_TRUE(pin_to_this_cpu());
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i <= members[round]; i++) {
			struct perf_event_attr attr = {
				.size = sizeof(attr),
				.type = i ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE,
				.config = i ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_HW_CPU_CYCLES,
				.sample_period = i ? 1ULL << 40 : 2000,
				.sample_type = PERF_SAMPLE_IP,
				.disabled = !i,
				.exclude_kernel = 1,
				.exclude_hv = 1,
			};

			fd[i] = perf_event_open(&attr, 0, -1, i ? fd[0] : -1);
			if (fd[i] < 0) {
				ASSERT_TRUE(is_missing(errno))
					TH_LOG("event %d: %s", i, strerror(errno));
				SKIP(return, "no such group: %s", strerror(errno));
			}
		}
		leader.page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd[0], 0);
		ASSERT_NE(MAP_FAILED, leader.page);
		leader.throttled = 0;
		ASSERT_EQ(0, ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0));
		/* Of several, the one that nothing else added to. */
		gaps[round] = longest_gap();
		for (int i = 0; i < 4; i++) {
			uint64_t gap = longest_gap();

			drain(&leader);
			if (gap < gaps[round])
				gaps[round] = gap;
		}
		munmap(leader.page, ring_size());
		if (!leader.throttled)
			SKIP(return, "this machine does not throttle the group");
		for (int i = members[round]; i >= 0; i--)
			close(fd[i]);
		ksft_print_msg("%d members: longest gap %llu us\n", members[round],
			       (unsigned long long)gaps[round] / 1000);
	}
	/* Four times as many; with the square it is sixteen. */
	EXPECT_LT(gaps[1], 8 * gaps[0]);
}

FIXTURE(clock)
{
	int leader, clock;
	struct perf_event_mmap_page *page;
};

FIXTURE_VARIANT(clock)
{
	uint64_t config;
	uint64_t sample_type;		/* of the leader */
};

FIXTURE_VARIANT_ADD(clock, cpu_clock)
{
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.sample_type = PERF_SAMPLE_READ,
};

FIXTURE_VARIANT_ADD(clock, task_clock)
{
	.config = PERF_COUNT_SW_TASK_CLOCK,
	.sample_type = PERF_SAMPLE_READ,
};

FIXTURE_VARIANT_ADD(clock, unread_cpu_clock)
{
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.sample_type = PERF_SAMPLE_IP,
};

FIXTURE_VARIANT_ADD(clock, unread_task_clock)
{
	.config = PERF_COUNT_SW_TASK_CLOCK,
	.sample_type = PERF_SAMPLE_IP,
};

FIXTURE_SETUP(clock)
{
	self->leader = -1;
	self->clock = -1;
	self->page = MAP_FAILED;
}

FIXTURE_TEARDOWN(clock)
{
	if (self->page != MAP_FAILED)
		munmap(self->page, ring_size());
	if (self->clock >= 0)
		close(self->clock);
	if (self->leader >= 0)
		close(self->leader);
}

/*
 * A clock counts all the time, each of it once, while the hardware events of its group are
 * throttled, whether it is read in between, by samples of the leader and by read(2), or not.
 */
TEST_F(clock, counts_time_once)
{
	struct perf_event_attr leader = {
		.size = sizeof(leader),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 2000,
		.sample_type = variant->sample_type,
		.read_format = PERF_FORMAT_GROUP,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.wakeup_events = 1U << 31,
	};
	struct perf_event_attr clock = {
		.size = sizeof(clock),
		.type = PERF_TYPE_SOFTWARE,
		.config = variant->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct { uint64_t value, enabled; } total;
	struct event event = {};
	uint64_t end;

	ASSERT_TRUE(pin_to_this_cpu());
	self->leader = perf_event_open(&leader, 0, -1, -1);
	if (self->leader < 0) {
		ASSERT_TRUE(is_missing(errno)) TH_LOG("%s", strerror(errno));
		SKIP(return, "no cycles: %s", strerror(errno));
	}
	self->page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, self->leader, 0);
	ASSERT_NE(MAP_FAILED, self->page);
	self->clock = perf_event_open(&clock, 0, -1, self->leader);
	ASSERT_LE(0, self->clock);
	event.page = self->page;

	ASSERT_EQ(0, ioctl(self->leader, PERF_EVENT_IOC_ENABLE, 0));
	for (end = now_ns() + SLOTS * SLOT_NS; now_ns() < end; drain(&event)) {
		spin(10000);
		if (variant->sample_type == PERF_SAMPLE_READ) {
			ASSERT_EQ(sizeof(total),
				  read(self->clock, &total, sizeof(total)));
		}
	}
	ASSERT_EQ(0, ioctl(self->leader, PERF_EVENT_IOC_DISABLE, 0));
	drain(&event);
	if (!event.throttled)
		SKIP(return, "this machine does not throttle the group");

	ASSERT_EQ(sizeof(total), read(self->clock, &total, sizeof(total)));
	ksft_print_msg("counted %llu of %llu ns, throttled %llu times\n",
		       (unsigned long long)total.value, (unsigned long long)total.enabled,
		       (unsigned long long)event.throttled);
	/* The clock is not the first of the group that stops and starts. */
	EXPECT_LE(total.enabled - total.enabled / 1000, total.value);
	EXPECT_GE(total.enabled + total.enabled / 1000, total.value);
}

FIXTURE(limited)
{
	struct sample_limits limits;
};

FIXTURE_SETUP(limited)
{
	save_sample_limits(&self->limits);
	/* One sample of each tick throttles. */
	if (!set_sample_limits(100, 0))
		SKIP(return, "cannot limit the rate of samples");
}

FIXTURE_TEARDOWN_PARENT(limited)
{
	restore_sample_limits(&self->limits);
}

/* A clock that was throttled at the end of a period begins a whole one when it goes on. */
TEST_F(limited, clock_period)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_TIME,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct event event = { .least = attr.sample_period / 2 };
	uint64_t end;

	event.fd = perf_event_open(&attr, 0, -1, -1);
	ASSERT_LE(0, event.fd);
	event.page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, event.fd, 0);
	ASSERT_NE(MAP_FAILED, event.page);

	ioctl(event.fd, PERF_EVENT_IOC_ENABLE, 0);
	for (end = now_ns() + SLOTS * SLOT_NS; now_ns() < end; drain(&event))
		spin(10000);
	ioctl(event.fd, PERF_EVENT_IOC_DISABLE, 0);

	ksft_print_msg("unthrottled %llu times, %llu early samples\n",
		       (unsigned long long)event.unthrottled, (unsigned long long)event.early);
	EXPECT_LT(0, event.unthrottled);
	EXPECT_LE(event.early, event.unthrottled / 4);
}

/*
 * A new period, of whichever event of a throttled group, does not let it go on before the
 * next tick does, and then all of its events go on.
 */
TEST_F(limited, new_period)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 300000,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	uint64_t period, before[TRIO], end;
	int fd[TRIO], throttled = 0, early = 0;

	ASSERT_TRUE(pin_to_this_cpu());
	for (int i = 0; i < TRIO; i++) {
		fd[i] = perf_event_open(&attr, 0, -1, i ? fd[0] : -1);
		if (fd[i] < 0) {
			ASSERT_TRUE(is_missing(errno)) TH_LOG("event %d: %s", i, strerror(errno));
			SKIP(return, "no such group: %s", strerror(errno));
		}
		attr.disabled = 0;
		attr.sample_period = 1000000000;
		attr.config = PERF_COUNT_HW_INSTRUCTIONS;
		if (i) {
			attr.type = PERF_TYPE_SOFTWARE;
			attr.config = PERF_COUNT_SW_CPU_CLOCK;
		}
	}

	ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0);
	for (end = now_ns() + 2 * SLOTS * SLOT_NS; now_ns() < end; throttled++) {
		do {
			before[1] = count_of(fd[1]);
			spin(2000);
		} while (count_of(fd[1]) != before[1] && now_ns() < end);
		/* Or this CPU has another PMU. */
		if (now_ns() >= end || !before[1])
			break;
		period = throttled % TRIO ? attr.sample_period : 300000;
		EXPECT_EQ(0, ioctl(fd[throttled % TRIO], PERF_EVENT_IOC_PERIOD, &period));
		for (int i = 0; i < TRIO; i++)
			before[i] = count_of(fd[i]);
		spin(2000);
		/* The tick may come in between. */
		early += count_of(fd[0]) != before[0] || count_of(fd[1]) != before[1];
		for (uint64_t tick = now_ns() + SLOT_NS; now_ns() < tick;)
			spin(2000);
		for (int i = 0; i < TRIO; i++) {
			EXPECT_LT(before[i], count_of(fd[i]))
				TH_LOG("event %d does not go on", i);
		}
	}
	for (int i = TRIO - 1; i >= 0; i--)
		close(fd[i]);
	if (!throttled)
		SKIP(return, "this machine does not throttle the group");
	ksft_print_msg("%d new periods, %d not throttled behind it\n", throttled, early);
	EXPECT_LE(early, throttled / 2);
}

/*
 * The clock of a group whose PMU has no interrupt goes on at the next tick as well. Until
 * then it stops nobody else.
 */
static void no_interrupt(struct __test_metadata *_metadata, int type, uint64_t config, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.sample_type = PERF_SAMPLE_TIME,
		.disabled = 1,
	};
	struct event event = {};
	uint64_t end, samples, count, all;
	int leader, alone;

	leader = perf_event_open(&attr, -1, cpu, -1);
	if (leader < 0)
		SKIP(return, "cannot open it: %s", strerror(errno));
	alone = perf_event_open(&attr, -1, cpu, -1);
	ASSERT_LE(0, alone);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = 100000;
	attr.disabled = 0;
	event.fd = perf_event_open(&attr, -1, cpu, leader);
	ASSERT_LE(0, event.fd);
	event.page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, event.fd, 0);
	ASSERT_NE(MAP_FAILED, event.page);

	ioctl(alone, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < SLOTS; i++) {
		samples = event.samples;
		for (end = now_ns() + SLOT_NS; now_ns() < end; drain(&event))
			spin(10000);
		EXPECT_LT(samples, event.samples) TH_LOG("slot %d", i);
	}
	/* While the clock is throttled, most likely. */
	ioctl(leader, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(alone, PERF_EVENT_IOC_DISABLE, 0);
	all = count_of(alone);
	count = count_of(leader);
	ksft_print_msg("%llu samples, counted %llu of %llu\n", (unsigned long long)event.samples,
		       (unsigned long long)count, (unsigned long long)all);
	EXPECT_GT(SLOTS * SLOT_NS / attr.sample_period / 2, event.samples);
	EXPECT_LE(all / 10 * 9, count);
	EXPECT_GE(all, count);
	munmap(event.page, ring_size());
	close(event.fd);
	close(alone);
	close(leader);
}

TEST_F(limited, no_interrupt)
{
	int type = read_number("/sys/bus/event_source/devices/msr/type");

	if (type < 0)
		SKIP(return, "no PMU without interrupts");
	/* The TSC. */
	ASSERT_TRUE(pin_to_this_cpu());
	no_interrupt(_metadata, type, 0, sched_getcpu());
}

/* A group that is throttled stays so when its CPU was idle, and its counts are right. */
TEST_F(limited, idle)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 20000,
		.sample_type = PERF_SAMPLE_TIME,
		.disabled = 1,
	};
	struct event event = {};
	uint64_t end, leader, others;
	int member;

	ASSERT_TRUE(pin_to_this_cpu());
	event.fd = perf_event_open(&attr, -1, sched_getcpu(), -1);
	if (event.fd < 0) {
		ASSERT_TRUE(is_missing(errno)) TH_LOG("%s", strerror(errno));
		SKIP(return, "no cycles: %s", strerror(errno));
	}
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	attr.sample_period = 0;
	attr.disabled = 0;
	member = perf_event_open(&attr, -1, sched_getcpu(), event.fd);
	ASSERT_LE(0, member);
	event.page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, event.fd, 0);
	ASSERT_NE(MAP_FAILED, event.page);

	ioctl(event.fd, PERF_EVENT_IOC_ENABLE, 0);
	for (end = now_ns() + SLOTS * SLOT_NS; now_ns() < end; drain(&event)) {
		spin(50000);
		usleep(300);
		/* Nothing is counted by that. */
		count_of(member);
	}
	ioctl(event.fd, PERF_EVENT_IOC_DISABLE, 0);
	drain(&event);
	leader = count_of(event.fd);
	others = count_of(member);
	ksft_print_msg("%llu samples, throttled %llu times, counted %llu and %llu\n",
		       (unsigned long long)event.samples, (unsigned long long)event.throttled,
		       (unsigned long long)leader, (unsigned long long)others);
	if (!event.throttled)
		SKIP(return, "this machine does not throttle the event");
	EXPECT_EQ(0, event.forbidden);
	/* No CPU has that many instructions in a cycle, or that few of such a loop. */
	EXPECT_LT(leader / 16, others);
	EXPECT_GT(leader * 16, others);
}

/* An event of an uncore PMU is not stopped: its driver does not expect that. */
TEST_F(limited, uncore)
{
	int type = read_number(FREE_RUNNING "/type"), cpu;

	if (type < 0)
		SKIP(return, "no uncore PMU with free running counters");
	/* It is opened on the first CPU of a package, wherever that is asked for. */
	cpu = read_number(FREE_RUNNING "/cpumask");
	ASSERT_LE(0, cpu);
	ASSERT_TRUE(pin_to(cpu)) TH_LOG("CPU %d", cpu);
	/* The clock of the I/O unit. */
	no_interrupt(_metadata, type, 0x10ff, cpu);
}

TEST_HARNESS_MAIN
