// SPDX-License-Identifier: GPL-2.0
/*
 * A group of events survives throttling, whichever of its events causes it: all of them
 * go on to count and to take samples, each buffer tells when they did not, and clocks in
 * the group count no time twice.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "helpers.h"
#include "kselftest_harness.h"

#define MAX_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"
#define RING_PAGES	64	/* power of two */
#define SLOTS		5
#define SLOT_NS		40000000ULL	/* several ticks of any kernel */
#define MEMBERS		2

struct event {
	int fd;
	struct perf_event_mmap_page *page;
	uint64_t samples, throttled, unthrottled;
	uint64_t throttled_at, throttled_ns;	/* of those that are over */
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
			break;
		case PERF_RECORD_THROTTLE:
			event->throttled++;
			event->throttled_at = *time;
			break;
		case PERF_RECORD_UNTHROTTLE:
			event->unthrottled++;
			event->throttled_ns += *time - event->throttled_at;
			break;
		}
		tail += header->size;
	}
	__atomic_store_n(&event->page->data_tail, tail, __ATOMIC_RELEASE);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
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
/* A clock that is stopped begins a new period: short, or it is never over. */
GROUP_VARIANT(software_leader, SW(CPU_CLOCK, 100000), HW(INSTRUCTIONS, 2000));
GROUP_VARIANT(software_member, HW(CPU_CYCLES, 2000), SW(CPU_CLOCK, 100000));

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
			attr.sample_freq = read_number(MAX_RATE);
		events[i].fd = perf_event_open(&attr, cpu ? -1 : 0, cpu ? sched_getcpu() : -1,
					       i ? events[0].fd : -1);
		if (events[i].fd < 0)
			return false;
		if (!attr.sample_period)
			continue;
		events[i].page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED,
				      events[i].fd, 0);
		ASSERT_NE(MAP_FAILED, events[i].page);
	}
	return true;
}

static bool pin_to_this_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

static void check_group(struct __test_metadata *_metadata, struct event *events,
			const FIXTURE_VARIANT(group) *variant, bool cpu)
{
	uint64_t end;

	ASSERT_TRUE(pin_to_this_cpu());
	if (!open_group(_metadata, events, variant, cpu)) {
		ASSERT_TRUE(errno == ENOENT || errno == ENODEV || errno == EOPNOTSUPP ||
			    errno == EACCES || errno == EPERM) TH_LOG("%s", strerror(errno));
		SKIP(return, "no such group: %s", strerror(errno));
	}

	ASSERT_EQ(0, ioctl(events[0].fd, PERF_EVENT_IOC_ENABLE, 0));
	end = now_ns();
	for (int slot = 0; slot < SLOTS; slot++) {
		uint64_t samples[MEMBERS], counts[MEMBERS];

		for (int i = 0; i < MEMBERS; i++) {
			samples[i] = events[i].samples;
			counts[i] = count_of(events[i].fd);
		}
		end += SLOT_NS;
		do {
			spin(10000);
			for (int i = 0; i < MEMBERS; i++) {
				if (events[i].page != MAP_FAILED)
					drain(&events[i]);
			}
		} while (now_ns() < end);

		for (int i = 0; i < MEMBERS; i++) {
			EXPECT_LT(counts[i], count_of(events[i].fd))
				TH_LOG("event %d does not count in slot %d", i, slot);
			if (events[i].page == MAP_FAILED)
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
	/* Both buffers tell it. */
	for (int i = 0; i < MEMBERS; i++) {
		if (events[i].page != MAP_FAILED)
			EXPECT_LT(0, events[i].throttled) TH_LOG("event %d", i);
	}
	if (events[0].page != MAP_FAILED && events[1].page != MAP_FAILED)
		EXPECT_EQ(events[0].throttled, events[1].throttled);
}

TEST_F(group, of_a_task)
{
	check_group(_metadata, self->events, variant, false);
}

TEST_F(group, of_a_cpu)
{
	check_group(_metadata, self->events, variant, true);
}

/* Buffers that several events of a group share */
#define SHARING	3

FIXTURE(buffers)
{
	struct event events[SHARING];
};

FIXTURE_VARIANT(buffers)
{
	int output[SHARING];		/* the event whose buffer it writes to */
	bool counting[SHARING];		/* it takes no samples */
	bool disabled[SHARING];		/* the leader is enabled in the end */
	int toggled;			/* it is enabled while the group is throttled... */
	bool reverse;			/* ...or disabled */
};

FIXTURE_VARIANT_ADD(buffers, of_the_leader)
{
	.output = { 0, 0, 0 },
};

FIXTURE_VARIANT_ADD(buffers, of_the_leader_and_a_member)
{
	.output = { 0, 0, 2 },
};

FIXTURE_VARIANT_ADD(buffers, of_two_members)
{
	.output = { 0, 1, 1 },
};

/* The buffer belongs to a member that is not throttled itself. */
FIXTURE_VARIANT_ADD(buffers, of_a_counting_member)
{
	.output = { 0, 1, 1 },
	.counting = { false, true, false },
};

FIXTURE_VARIANT_ADD(buffers, of_a_disabled_member)
{
	.output = { 0, 1, 1 },
	.disabled = { false, true, false },
};

/* It was not throttled with the others. */
FIXTURE_VARIANT_ADD(buffers, of_an_enabled_member)
{
	.output = { 0, 1, 1 },
	.disabled = { false, true, false },
	.toggled = 1,
};

/* It was throttled with the others, and is enabled when they are not any more. */
FIXTURE_VARIANT_ADD(buffers, of_a_stopped_member)
{
	.output = { 0, 1, 1 },
	.toggled = 1,
	.reverse = true,
};

/* There is no other event that writes to its buffer. */
FIXTURE_VARIANT_ADD(buffers, of_a_stopped_member_alone)
{
	.output = { 0, 1, 2 },
	.toggled = 2,
	.reverse = true,
};

FIXTURE_SETUP(buffers)
{
	for (int i = 0; i < SHARING; i++)
		self->events[i] = (struct event){ .fd = -1, .page = MAP_FAILED };
}

FIXTURE_TEARDOWN(buffers)
{
	for (int i = SHARING - 1; i >= 0; i--) {
		if (self->events[i].page != MAP_FAILED)
			munmap(self->events[i].page, ring_size());
		if (self->events[i].fd >= 0)
			close(self->events[i].fd);
	}
}

/* Each buffer tells it once, however many events write to it. */
TEST_F(buffers, tell_once)
{
	bool throttled;
	uint64_t end;

	ASSERT_TRUE(pin_to_this_cpu());
	for (int i = 0; i < SHARING; i++) {
		struct event *event = &self->events[i];
		struct perf_event_attr attr = {
			.size = sizeof(attr),
			.type = PERF_TYPE_HARDWARE,
			.config = i ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_CPU_CYCLES,
			.sample_period = variant->counting[i] ? 0 : 2000 + 1000 * i,
			.sample_type = PERF_SAMPLE_IP,
			.disabled = !i || variant->disabled[i],
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.wakeup_events = 1U << 31,
		};

		event->fd = perf_event_open(&attr, 0, -1, i ? self->events[0].fd : -1);
		if (event->fd < 0)
			SKIP(return, "no such group: %s", strerror(errno));
		if (variant->output[i] != i) {
			ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_SET_OUTPUT,
					   self->events[variant->output[i]].fd));
			continue;
		}
		event->page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED,
				   event->fd, 0);
		ASSERT_NE(MAP_FAILED, event->page);
	}

	ASSERT_EQ(0, ioctl(self->events[0].fd, PERF_EVENT_IOC_ENABLE, 0));
	for (end = now_ns() + SLOTS * SLOT_NS; now_ns() < end;) {
		spin(10000);
		for (int i = 0; i < SHARING; i++) {
			if (self->events[i].page != MAP_FAILED)
				drain(&self->events[i]);
		}
		if (!variant->toggled)
			continue;
		throttled = self->events[0].throttled != self->events[0].unthrottled;
		ASSERT_EQ(0, ioctl(self->events[variant->toggled].fd,
				   throttled != variant->reverse ? PERF_EVENT_IOC_ENABLE :
								   PERF_EVENT_IOC_DISABLE, 0));
	}
	ASSERT_EQ(0, ioctl(self->events[0].fd, PERF_EVENT_IOC_DISABLE, 0));

	for (int i = 0; i < SHARING; i++) {
		struct event *event = &self->events[i];

		if (event->page == MAP_FAILED)
			continue;
		drain(event);
		ksft_print_msg("buffer %d: %llu samples, throttled %llu times\n", i,
			       (unsigned long long)event->samples,
			       (unsigned long long)event->throttled);
		EXPECT_LT(0, event->samples);
		EXPECT_EQ(self->events[0].throttled, event->throttled) TH_LOG("buffer %d", i);
		EXPECT_EQ(self->events[0].unthrottled, event->unthrottled) TH_LOG("buffer %d", i);
	}
	/* The group can be disabled while it is throttled. */
	EXPECT_LE(self->events[0].throttled - self->events[0].unthrottled, 1);
	if (!self->events[0].throttled)
		SKIP(return, "this machine does not throttle the group");
}

/*
 * A member that is enabled and disabled while its group is throttled, again and again.
 */
TEST(enabled_member)
{
	struct event events[2], *leader = &events[0], *member = &events[1];
	uint64_t end;

	ASSERT_TRUE(pin_to_this_cpu());
	for (int i = 0; i < 2; i++) {
		struct event *event = &events[i];
		struct perf_event_attr attr = {
			.size = sizeof(attr),
			.type = PERF_TYPE_HARDWARE,
			.config = i ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_CPU_CYCLES,
			/* The member alone is not throttled. */
			.sample_period = i ? 50000000 : 2000,
			.sample_type = PERF_SAMPLE_IP,
			.disabled = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.wakeup_events = 1U << 31,
		};

		*event = (struct event){};
		event->fd = perf_event_open(&attr, 0, -1, i ? leader->fd : -1);
		if (event->fd < 0)
			SKIP(return, "no such group: %s", strerror(errno));
		event->page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED,
				   event->fd, 0);
		ASSERT_NE(MAP_FAILED, event->page);
	}

	ASSERT_EQ(0, ioctl(leader->fd, PERF_EVENT_IOC_ENABLE, 0));
	for (end = now_ns() + SLOTS * SLOT_NS; now_ns() < end;) {
		ASSERT_EQ(0, ioctl(member->fd, PERF_EVENT_IOC_ENABLE, 0));
		spin(10000);
		ASSERT_EQ(0, ioctl(member->fd, PERF_EVENT_IOC_DISABLE, 0));
		drain(leader);
	}
	ASSERT_EQ(0, ioctl(leader->fd, PERF_EVENT_IOC_DISABLE, 0));
	drain(leader);
	ksft_print_msg("%llu samples, throttled %llu times\n",
		       (unsigned long long)leader->samples,
		       (unsigned long long)leader->throttled);
	EXPECT_LT(0, leader->samples);
	EXPECT_LE(leader->throttled - leader->unthrottled, 1);
	if (!leader->throttled)
		SKIP(return, "this machine does not throttle the group");
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
 * The clock counts while the group does, whether it is read in between, by samples of the
 * leader and by read(2), or not: not while it is throttled, and all the rest.
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
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,	/* that of now_ns() */
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
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct { uint64_t value, enabled; } total;
	struct event event = {};
	uint64_t begin, end, running, slack;

	ASSERT_TRUE(pin_to_this_cpu());
	self->leader = perf_event_open(&leader, 0, -1, -1);
	if (self->leader < 0)
		SKIP(return, "no cycles: %s", strerror(errno));
	self->page = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_SHARED, self->leader, 0);
	ASSERT_NE(MAP_FAILED, self->page);
	self->clock = perf_event_open(&clock, 0, -1, self->leader);
	ASSERT_LE(0, self->clock);
	event.page = self->page;

	begin = now_ns();
	ASSERT_EQ(0, ioctl(self->leader, PERF_EVENT_IOC_ENABLE, 0));
	for (end = now_ns() + SLOTS * SLOT_NS; now_ns() < end; drain(&event)) {
		spin(10000);
		/* Also while the group is throttled: it does not go on then. */
		if (variant->sample_type == PERF_SAMPLE_READ) {
			ASSERT_EQ(sizeof(total),
				  read(self->clock, &total, sizeof(total)));
		}
	}
	ASSERT_EQ(0, ioctl(self->leader, PERF_EVENT_IOC_DISABLE, 0));
	end = now_ns();
	drain(&event);
	if (!event.throttled)
		SKIP(return, "this machine does not throttle the group");
	/* That ends with the event. */
	if (event.throttled != event.unthrottled)
		event.throttled_ns += end - event.throttled_at;

	ASSERT_EQ(sizeof(total), read(self->clock, &total, sizeof(total)));
	ksft_print_msg("counted %llu of %llu ns, throttled %llu times, for %llu ns\n",
		       (unsigned long long)total.value, (unsigned long long)total.enabled,
		       (unsigned long long)event.throttled,
		       (unsigned long long)event.throttled_ns);
	ASSERT_LE(event.throttled - event.unthrottled, 1);
	ASSERT_LT(event.throttled_ns, total.enabled);
	running = total.enabled - event.throttled_ns;
	/* The clock is not the first of the group that stops and starts. */
	slack = total.enabled / 50;
	EXPECT_LT(running - slack, total.value);
	/* Some of the throttled time may have been that of another task. */
	slack += end - begin - total.enabled;
	EXPECT_GT(running + slack, total.value);
}

TEST_HARNESS_MAIN
