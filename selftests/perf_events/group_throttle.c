// SPDX-License-Identifier: GPL-2.0
/*
 * A group of events survives throttling, whichever of its events causes it: its hardware
 * events stop and go on together, a software event throttles only itself and is not stopped
 * by others.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "helpers.h"
#include "kselftest_harness.h"

#define RING_PAGES	16		/* power of two */
#define SLOTS		5
#define SLOT_NS		40000000ULL	/* several ticks of any kernel */
#define MEMBERS		3		/* at most, but for one test */

struct event {
	struct perf_event_attr attr;
	int fd;
	struct perf_event_mmap_page *page;
	uint64_t samples, throttled, unthrottled;
	uint64_t behind, forbidden;	/* samples since it was throttled, but for one */
	uint64_t not_before, early;	/* samples of a clock since it went on */
};

#define EVENT(event_type, event_config, period, ...)			\
	{								\
		.size = sizeof(struct perf_event_attr),			\
		.type = event_type,					\
		.config = event_config,					\
		.sample_period = period,				\
		.sample_type = PERF_SAMPLE_TIME,			\
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,		\
		.exclude_kernel = 1,					\
		.exclude_hv = 1,					\
		.wakeup_events = 1U << 31,				\
		__VA_ARGS__						\
	}

/* With a period of 0 an event only counts. */
#define HW(event, ...)	EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event, __VA_ARGS__)
#define SW(event, ...)	EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##event, __VA_ARGS__)

/*
 * Opens a group of this task, or of @cpu, whose leader is disabled. Returns false, and skips
 * the test, if this machine has no such group.
 */
static bool open_group(struct __test_metadata *_metadata, struct event *events, int nr, int cpu)
{
	for (int i = 0; i < nr; i++) {
		struct event *event = &events[i];

		event->attr.disabled = !i;
		if (event->attr.freq)
			event->attr.sample_freq = read_number(PERF_MAX_RATE);
		event->fd = perf_event_open(&event->attr, cpu < 0 ? 0 : -1, cpu,
					    i ? events[0].fd : -1);
		if (event->fd < 0) {
			ASSERT_TRUE(errno == ENOENT || errno == ENODEV || errno == EOPNOTSUPP ||
				    errno == EACCES || errno == EPERM)
				TH_LOG("event %d: %s", i, strerror(errno));
			SKIP(return false, "no such group: %s", strerror(errno));
		}
		event->page = mmap(NULL, (RING_PAGES + 1) * sysconf(_SC_PAGESIZE),
				   PROT_READ | PROT_WRITE, MAP_SHARED, event->fd, 0);
		ASSERT_NE(MAP_FAILED, event->page);
	}
	return true;
}

/* Counts the records in the buffer of @event and makes room for others. */
static void drain(struct event *event)
{
	struct perf_event_mmap_page *page = event->page;
	uint8_t *data = (uint8_t *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;

	while (tail < head) {
		/* Records are multiples of eight bytes: no field is in two parts. */
		struct perf_event_header *header = (void *)(data + tail % page->data_size);
		uint64_t *time = (void *)(data + (tail + sizeof(*header)) % page->data_size);

		switch (header->type) {
		case PERF_RECORD_SAMPLE:
			event->samples++;
			/* The one that throttles is written behind the record of it. */
			if (event->throttled != event->unthrottled && event->behind++)
				event->forbidden++;
			event->early += *time < event->not_before;
			event->not_before = 0;
			break;
		case PERF_RECORD_THROTTLE:
			event->throttled++;
			event->behind = 0;
			break;
		case PERF_RECORD_UNTHROTTLE:
			event->unthrottled++;
			event->not_before = *time + event->attr.sample_period / 2;
			break;
		}
		tail += header->size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

struct total {
	uint64_t value, enabled;
};

static struct total read_total(struct event *event)
{
	struct total total = {};

	if (read(event->fd, &total, sizeof(total)) < 0)
		return (struct total){};
	return total;
}

static uint64_t count_of(struct event *event)
{
	return read_total(event).value;
}

static void work(struct event *events, int nr)
{
	for (uint64_t end = now_ns() + SLOT_NS; now_ns() < end;) {
		spin(10000);
		for (int i = 0; i < nr; i++)
			drain(&events[i]);
	}
}

/* Runs a group that is enabled for some slots: each event counts, and has samples, in each. */
static void check_slots(struct __test_metadata *_metadata, struct event *events, int nr)
{
	for (int slot = 0; slot < SLOTS; slot++) {
		uint64_t samples[MEMBERS], counts[MEMBERS];

		for (int i = 0; i < nr; i++) {
			samples[i] = events[i].samples;
			counts[i] = count_of(&events[i]);
		}
		work(events, nr);
		for (int i = 0; i < nr; i++) {
			uint64_t period = events[i].attr.sample_period;
			uint64_t count = count_of(&events[i]);

			EXPECT_LT(counts[i], count)
				TH_LOG("event %d does not count in slot %d", i, slot);
			/* Some periods, because a clock may end one in the kernel. */
			if (period && count - counts[i] >= 3 * period)
				EXPECT_LT(samples[i], events[i].samples)
					TH_LOG("event %d has no samples in slot %d", i, slot);
		}
	}
}

FIXTURE(group)
{
	struct event events[2];
};

FIXTURE_VARIANT(group)
{
	struct perf_event_attr attrs[2];	/* the first one leads the group */
};

#define GROUP_VARIANT(name, ...)	\
	FIXTURE_VARIANT_ADD(group, name) { .attrs = { __VA_ARGS__ } }

/* Both overflow at the same time, or the leader not as often. */
GROUP_VARIANT(cycles_instructions, HW(CPU_CYCLES, 2000), HW(INSTRUCTIONS, 2000));
GROUP_VARIANT(instructions_cycles, HW(INSTRUCTIONS, 2000), HW(CPU_CYCLES, 2000));
GROUP_VARIANT(rare_leader, HW(CPU_CYCLES, 20000), HW(INSTRUCTIONS, 2000));
GROUP_VARIANT(counting_leader, HW(CPU_CYCLES, 0), HW(INSTRUCTIONS, 2000));
GROUP_VARIANT(frequency, HW(CPU_CYCLES, 1, .freq = 1), HW(INSTRUCTIONS, 1, .freq = 1));
GROUP_VARIANT(precise, HW(CPU_CYCLES, 2000, .precise_ip = 2),
	      HW(INSTRUCTIONS, 2000, .precise_ip = 2));
GROUP_VARIANT(software_leader, SW(CPU_CLOCK, 100000), HW(INSTRUCTIONS, 2000));
/* Both are throttled, each by itself. */
GROUP_VARIANT(short_clock, SW(TASK_CLOCK, 10000), HW(INSTRUCTIONS, 2000));
/* The leader is throttled more often than the clock ends a period. */
GROUP_VARIANT(long_clock, HW(CPU_CYCLES, 300), SW(CPU_CLOCK, 2000000));

FIXTURE_SETUP(group)
{
	for (int i = 0; i < 2; i++)
		self->events[i] = (struct event){ .attr = variant->attrs[i] };
	ASSERT_TRUE(pin_to(sched_getcpu()));
	/* A group of a task goes on after a context switch as well. */
	open_group(_metadata, self->events, 2, getuid() ? -1 : sched_getcpu());
}

FIXTURE_TEARDOWN(group)
{
}

TEST_F(group, goes_on)
{
	struct event *events = self->events;

	ASSERT_EQ(0, ioctl(events[0].fd, PERF_EVENT_IOC_ENABLE, 0));
	check_slots(_metadata, events, 2);
	ASSERT_EQ(0, ioctl(events[0].fd, PERF_EVENT_IOC_DISABLE, 0));

	for (int i = 0; i < 2; i++) {
		struct total total = read_total(&events[i]);

		drain(&events[i]);
		/* The group can be disabled while it is throttled. */
		EXPECT_LE(events[i].throttled - events[i].unthrottled, 1);
		if (events[i].attr.type != PERF_TYPE_SOFTWARE)
			continue;
		/* A clock counts all the time, each of it once. */
		EXPECT_LE(total.enabled - total.enabled / 1000, total.value);
		EXPECT_GE(total.enabled + total.enabled / 1000, total.value);
	}
	if (!events[0].throttled && !events[1].throttled)
		SKIP(return, "this machine does not throttle the group");
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
	ASSERT_TRUE(pin_to(sched_getcpu()));
}

FIXTURE_TEARDOWN_PARENT(limited)
{
	restore_sample_limits(&self->limits);
}

/* A clock that was throttled at the end of a period begins a whole one when it goes on. */
TEST_F(limited, clock_period)
{
	struct event clock = { .attr = SW(CPU_CLOCK, 1000000) };

	if (!open_group(_metadata, &clock, 1, -1))
		return;
	ASSERT_EQ(0, ioctl(clock.fd, PERF_EVENT_IOC_ENABLE, 0));
	check_slots(_metadata, &clock, 1);
	EXPECT_LT(0, clock.unthrottled);
	EXPECT_LE(clock.early, clock.unthrottled / 4);
}

/* Waits until @event is throttled. Returns false if it is not for a while, or counts nothing. */
static bool wait_for_throttle(struct event *event)
{
	uint64_t before, count, end = now_ns() + SLOT_NS;

	do {
		before = count_of(event);
		spin(2000);
		count = count_of(event);
	} while (count != before && now_ns() < end);
	return count && count == before;
}

/*
 * Whichever event of a throttled group gets a new period, the group does not go on before the
 * next tick. Then all of its events do, also if one was disabled and enabled meanwhile.
 */
TEST_F(limited, changes)
{
	struct event events[MEMBERS] = {
		{ .attr = HW(CPU_CYCLES, 300000) },
		{ .attr = HW(INSTRUCTIONS, 1000000000) },
		{ .attr = SW(CPU_CLOCK, 1000000000) },
	};
	int throttled = 0, early = 0;

	if (!open_group(_metadata, events, MEMBERS, -1))
		return;
	ASSERT_EQ(0, ioctl(events[0].fd, PERF_EVENT_IOC_ENABLE, 0));
	while (throttled < 4 * MEMBERS && wait_for_throttle(&events[1])) {
		struct event *changed = &events[throttled % MEMBERS];
		bool new_period = throttled++ % 2;
		uint64_t before[MEMBERS];

		if (new_period) {
			EXPECT_EQ(0, ioctl(changed->fd, PERF_EVENT_IOC_PERIOD,
					   &changed->attr.sample_period));
		} else {
			EXPECT_EQ(0, ioctl(changed->fd, PERF_EVENT_IOC_DISABLE, 0));
			EXPECT_EQ(0, ioctl(changed->fd, PERF_EVENT_IOC_ENABLE, 0));
		}
		for (int i = 0; i < MEMBERS; i++)
			before[i] = count_of(&events[i]);
		spin(2000);
		if (new_period)
			early += count_of(&events[0]) != before[0] ||
				 count_of(&events[1]) != before[1];
		work(events, MEMBERS);
		for (int i = 0; i < MEMBERS; i++) {
			EXPECT_LT(before[i], count_of(&events[i]))
				TH_LOG("event %d does not go on", i);
		}
	}
	if (!throttled)
		SKIP(return, "this machine does not throttle the group");
	/* The tick may come in between. */
	EXPECT_LE(early, throttled / 6);
}

/*
 * The clock of a group whose PMU has no interrupt goes on at the next tick as well. Until
 * then it stops nobody else.
 */
static void no_interrupt(struct __test_metadata *_metadata, const char *pmu, uint64_t config)
{
	struct event alone = { .attr = EVENT(0, config, 0) }, group[2];
	int type = read_pmu_number(pmu, "type"), cpu = read_pmu_number(pmu, "cpumask");
	uint64_t count, all;

	if (type < 0)
		SKIP(return, "no PMU %s", pmu);
	/* An uncore event is opened on the first CPU of a package, wherever that is asked for. */
	if (cpu < 0)
		cpu = sched_getcpu();
	ASSERT_TRUE(pin_to(cpu));

	/* These PMUs count always. */
	alone.attr.type = type;
	alone.attr.exclude_kernel = 0;
	alone.attr.exclude_hv = 0;
	group[0] = alone;
	group[1] = (struct event){ .attr = SW(CPU_CLOCK, 100000) };
	if (!open_group(_metadata, &alone, 1, cpu))
		return;
	if (!open_group(_metadata, group, 2, cpu))
		return;
	ASSERT_EQ(0, ioctl(alone.fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, ioctl(group[0].fd, PERF_EVENT_IOC_ENABLE, 0));
	check_slots(_metadata, &group[1], 1);
	/* While the clock is throttled, most likely. */
	ASSERT_EQ(0, ioctl(group[0].fd, PERF_EVENT_IOC_DISABLE, 0));
	ASSERT_EQ(0, ioctl(alone.fd, PERF_EVENT_IOC_DISABLE, 0));
	count = count_of(&group[0]);
	all = count_of(&alone);
	EXPECT_GT(SLOTS * SLOT_NS / 100000 / 2, group[1].samples);
	EXPECT_LE(all / 10 * 9, count);
	EXPECT_GE(all, count);
}

TEST_F(limited, no_interrupt)
{
	/* The TSC. */
	no_interrupt(_metadata, "msr", 0);
}

/* The driver of such a PMU expects nobody else to stop its events. */
TEST_F(limited, uncore)
{
	/* The clock of the I/O unit. */
	no_interrupt(_metadata, "uncore_iio_free_running_0", 0x10ff);
}

/* A group that is throttled stays so when its CPU was idle, and its counts are right. */
TEST_F(limited, idle)
{
	struct event events[2] = {
		{ .attr = HW(CPU_CYCLES, 20000) },
		{ .attr = HW(INSTRUCTIONS, 0) },
	};
	uint64_t cycles, instructions;

	if (!open_group(_metadata, events, 2, sched_getcpu()))
		return;
	ASSERT_EQ(0, ioctl(events[0].fd, PERF_EVENT_IOC_ENABLE, 0));
	for (uint64_t end = now_ns() + SLOTS * SLOT_NS; now_ns() < end; drain(&events[0])) {
		spin(50000);
		usleep(300);
		/* Nothing is counted by that. */
		count_of(&events[1]);
	}
	ASSERT_EQ(0, ioctl(events[0].fd, PERF_EVENT_IOC_DISABLE, 0));
	drain(&events[0]);
	if (!events[0].throttled)
		SKIP(return, "this machine does not throttle the event");
	EXPECT_EQ(0, events[0].forbidden);
	/* No CPU has that many instructions in a cycle, or that few of such a loop. */
	cycles = count_of(&events[0]);
	instructions = count_of(&events[1]);
	EXPECT_LT(cycles / 16, instructions);
	EXPECT_GT(cycles * 16, instructions);
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

/*
 * Any user can open a group of thousands. Interrupts are off while it is throttled and runs
 * again, for a time that does not grow with the square of their number.
 */
TEST_F(limited, many)
{
	static const int members[] = { 500, 2000 };
	struct event leader = { .attr = HW(CPU_CYCLES, 300000) };
	struct perf_event_attr attr = SW(PAGE_FAULTS, 1ULL << 40);
	struct rlimit limit = { 4096, 4096 };
	uint64_t gaps[2];
	int nr = 0;

	if (setrlimit(RLIMIT_NOFILE, &limit))
		SKIP(return, "no limit of %d files: %s", (int)limit.rlim_cur, strerror(errno));
	if (!open_group(_metadata, &leader, 1, -1))
		return;
	for (int round = 0; round < 2; round++) {
		for (; nr < members[round]; nr++)
			ASSERT_LE(0, perf_event_open(&attr, 0, -1, leader.fd));
		ASSERT_EQ(0, ioctl(leader.fd, PERF_EVENT_IOC_ENABLE, 0));
		/* Of several, the one that nothing else added to. */
		gaps[round] = longest_gap();
		for (int i = 0; i < 4; i++) {
			uint64_t gap = longest_gap();

			if (gap < gaps[round])
				gaps[round] = gap;
		}
		ASSERT_EQ(0, ioctl(leader.fd, PERF_EVENT_IOC_DISABLE, 0));
	}
	drain(&leader);
	if (!leader.throttled)
		SKIP(return, "this machine does not throttle the group");
	/* Four times as many; with the square it is sixteen. */
	EXPECT_LT(gaps[1], 8 * gaps[0]);
}

TEST_HARNESS_MAIN
