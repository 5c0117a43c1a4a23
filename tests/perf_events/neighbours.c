// SPDX-License-Identifier: GPL-2.0
/*
 * usage: neighbours [-r FIXTURE.VARIANT.TEST]...
 *
 * What is near an event that is throttled: the events of its group, its count, what was read of
 * it before, the task that it belongs to, and the CPU of another one. No count jumps, none is
 * lost, and after each throttle there are samples again.
 *
 * How many samples an event has is known from its count and its period. What it may have counted
 * is known from a reference: an event that counts the same, has no samples, and is in no group.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "alt_period.h"
#include "kselftest_harness.h"

#define MEMBERS		3
#define SLOTS		3	/* of several ticks each */
#define SLOT_NS		(20000000ULL * slowness())
#define BUFFER_PAGES	16
#define RATE		2000	/* so few samples in a second that most periods here throttle */

struct event {
	int fd, reference;
	struct perf_event_attr attr;
	struct ring ring;
	__u64 samples, count;
	__u64 missing;		/* samples, at most */
	bool jumped;		/* is said once */
};

static bool counts_are_exact(void)
{
	const char *value = getenv("ALT_PERIOD_EXACT");

	return !value || strcmp(value, "no");
}

/* A machine that is not exact has other work to do meanwhile. */
static unsigned int slowness(void)
{
	return machine_slowness() * (counts_are_exact() ? 1 : 5);
}

static __u64 count_of(int fd)
{
	__u64 total[2] = { };		/* some have the time that they are enabled */

	return read(fd, total, sizeof(total)) < 0 ? 0 : total[0];
}

static struct perf_event_attr hardware(__u64 config, __u64 period)
{
	return (struct perf_event_attr){
		.size = PERF_ATTR_SIZE_VER8,
		.type = PERF_TYPE_HARDWARE,
		.config = config,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

static struct perf_event_attr software(__u64 config, __u64 period)
{
	struct perf_event_attr attr = hardware(config, period);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	attr.exclude_kernel = 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	return attr;
}

/* Instructions, or cycles where there are none: in QEMU without icount. */
static __u64 instructions(void)
{
	struct perf_event_attr attr = hardware(PERF_COUNT_HW_INSTRUCTIONS, 0);
	int fd = perf_event_open(&attr, 0, -1, -1);

	if (fd < 0)
		return PERF_COUNT_HW_CPU_CYCLES;
	close(fd);
	return PERF_COUNT_HW_INSTRUCTIONS;
}

/*
 * Opens a group of @nr events with what is in their attr, for @pid and @cpu. The leader and the
 * references of all are disabled. Returns an error, or 0.
 */
static int open_group(struct event *events, int nr, pid_t pid, int cpu)
{
	for (int i = 0; i < nr; i++) {
		struct event *event = &events[i];
		struct perf_event_attr reference = event->attr;

		event->attr.disabled |= !i;
		event->fd = perf_event_open(&event->attr, pid, cpu, i ? events[0].fd : -1);
		if (event->fd < 0)
			return errno;
		if (event->attr.sample_period &&
		    ring_map_pages(&event->ring, event->fd, BUFFER_PAGES, PROT_READ | PROT_WRITE))
			return errno;
		if (event->attr.type != PERF_TYPE_HARDWARE)
			continue;
		/* One for all that count the same. */
		for (int j = 0; j < i && event->reference < 0; j++) {
			if (events[j].attr.type == PERF_TYPE_HARDWARE &&
			    events[j].attr.config == event->attr.config)
				event->reference = dup(events[j].reference);
		}
		if (event->reference >= 0)
			continue;
		reference.sample_period = 0;
		reference.freq = 0;
		reference.precise_ip = 0;
		reference.disabled = 1;
		event->reference = perf_event_open(&reference, pid, cpu, -1);
		if (event->reference < 0)
			return errno;
	}
	return 0;
}

/* Skips the test on a machine that lacks an event, which is no failure. */
#define REQUIRE(error)							\
	do {								\
		int err_ = error;					\
									\
		if (err_) {						\
			ASSERT_NE(NULL, why_missing(err_))		\
				TH_LOG("%s", strerror(err_));		\
			SKIP(return, "%s", why_missing(err_));		\
		}							\
	} while (0)

static void close_group(struct event *events)
{
	for (int i = MEMBERS - 1; i >= 0; i--) {
		ring_unmap(&events[i].ring);
		if (events[i].fd >= 0)
			close(events[i].fd);
		if (events[i].reference >= 0)
			close(events[i].reference);
		memset(&events[i], 0, sizeof(events[i]));
		events[i].fd = -1;
		events[i].reference = -1;
	}
}

static void enable_group(struct event *events, int nr)
{
	for (int i = 0; i < nr; i++) {
		if (events[i].reference >= 0)
			ioctl(events[i].reference, PERF_EVENT_IOC_ENABLE, 0);
	}
	ioctl(events[0].fd, PERF_EVENT_IOC_ENABLE, 0);
}

static void disable_group(struct event *events, int nr)
{
	ioctl(events[0].fd, PERF_EVENT_IOC_DISABLE, 0);
	for (int i = 0; i < nr; i++) {
		if (events[i].reference >= 0)
			ioctl(events[i].reference, PERF_EVENT_IOC_DISABLE, 0);
	}
}

static void drain(struct event *events, int nr)
{
	struct perf_event_header header;
	__u64 at;

	for (int i = 0; i < nr; i++) {
		while (events[i].ring.page && ring_next(&events[i].ring, &header, &at))
			events[i].samples += header.type == PERF_RECORD_SAMPLE;
	}
}

static unsigned int throttles(const struct event *events, int nr)
{
	unsigned int most = 0;

	for (int i = 0; i < nr; i++) {
		if (events[i].ring.nr_throttled > most)
			most = events[i].ring.nr_throttled;
	}
	return most;
}

/* Reads all counts: none is less than it was, or more than its reference. */
static void read_group(struct __test_metadata *_metadata, struct event *events, int nr)
{
	for (int i = 0; i < nr; i++) {
		__u64 count = count_of(events[i].fd);

		EXPECT_LE(events[i].count, count)
			TH_LOG("event %d of %d counts backwards after %u throttles", i, nr,
			       throttles(events, nr));
		if (events[i].reference >= 0 && !events[i].jumped) {
			/* The reference is stopped a little earlier where it is no counter. */
			__u64 slack = counts_are_exact() ? 0 : 1000000;
			__u64 all = count_of(events[i].reference) + slack;

			events[i].jumped = count > all;
			EXPECT_LE(count, all)
				TH_LOG("event %d of %d jumps by %lld after %u throttles", i, nr,
				       count - events[i].count, throttles(events, nr));
		}
		events[i].count = count;
	}
}

enum neighbour {
	UNREAD,			/* nothing happens before a throttle */
	READ,			/* counts are read */
	SWITCH,			/* another task gets the CPU */
};

/*
 * Runs a group for some slots. In each of them each event that is enabled has to count, and
 * those that sample have to have samples. @running is a mask of those that are enabled.
 */
static void run_slots(struct __test_metadata *_metadata, struct event *events, int nr,
		      enum neighbour neighbour, unsigned int running)
{
	for (int slot = 0; slot < SLOTS; slot++) {
		__u64 samples[MEMBERS], counts[MEMBERS], end = now_ns() + SLOT_NS;

		for (int i = 0; i < nr; i++) {
			samples[i] = events[i].samples;
			counts[i] = neighbour == UNREAD ? 0 : count_of(events[i].fd);
		}
		for (unsigned int n = 0; now_ns() < end; n++) {
			spin(100 + n * 37 % 2000);
			if (neighbour == READ)
				read_group(_metadata, events, nr);
			else if (neighbour == SWITCH)
				sched_yield();
			drain(events, nr);
		}
		for (int i = 0; i < nr; i++) {
			__u64 count = neighbour == UNREAD ? 0 : count_of(events[i].fd);

			if (!(running & 1 << i)) {
				EXPECT_EQ(counts[i], count)
					TH_LOG("event %d of %d is disabled, slot %d", i, nr, slot);
				EXPECT_EQ(samples[i], events[i].samples);
				continue;
			}
			if (neighbour != UNREAD) {
				EXPECT_LT(counts[i], count)
					TH_LOG("event %d of %d counts nothing in slot %d", i, nr,
					       slot);
			}
			if (events[i].attr.sample_period && !events[i].attr.freq) {
				EXPECT_LT(samples[i], events[i].samples)
					TH_LOG("event %d of %d has no samples in slot %d", i, nr,
					       slot);
			}
		}
	}
}

/* Checks the counts of a group that is disabled against samples and references. */
static void check_group(struct __test_metadata *_metadata, struct event *events, int nr)
{
	drain(events, nr);
	read_group(_metadata, events, nr);
	drain(events, nr);
	for (int i = 0; i < nr; i++) {
		__u64 period = events[i].attr.sample_period, n = events[i].samples;

		EXPECT_EQ(0, events[i].ring.nr_broken);
		if (events[i].attr.type != PERF_TYPE_HARDWARE || !period || events[i].attr.freq ||
		    !counts_are_exact())
			continue;
		ASSERT_EQ(0, events[i].ring.nr_lost);
		EXPECT_LE(n * period, events[i].count)
			TH_LOG("event %d of %d: %llu samples of %llu", i, nr, n, period);
		/* A new period begins at once. */
		EXPECT_GE((n + 1 + events[i].missing) * period + period / 10, events[i].count)
			TH_LOG("event %d of %d: %llu samples of %llu", i, nr, n, period);
	}
}

/* Another task on the CPU of this one. It ends with it. */
static pid_t share_cpu(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		spin(500);
		sched_yield();
	}
}

static void end_task(pid_t *pid)
{
	if (*pid > 0) {
		kill(*pid, SIGKILL);
		waitpid(*pid, NULL, 0);
	}
	*pid = 0;
}

/* Runs until the group of @events is throttled. Returns false if it is not for a while. */
static bool wait_for_throttle(struct event *events, int nr)
{
	for (__u64 end = now_ns() + SLOT_NS; now_ns() < end;) {
		__u64 before = count_of(events[0].fd);

		spin(500);
		drain(events, nr);
		if (count_of(events[0].fd) == before)
			return true;
	}
	return false;
}

static int home;			/* the CPU of the tests */

/*
 * Pins this task to the first CPU that counts events without the type of a PMU: where there are
 * several core PMUs, not all CPUs do.
 */
static bool pin_home(void)
{
	struct perf_event_attr attr = hardware(PERF_COUNT_HW_CPU_CYCLES, 0);
	int fd = perf_event_open(&attr, 0, -1, -1);
	bool pinned = false;

	for (home = 0; !pinned && pin_to(home); home++) {
		__u64 before = count_of(fd);

		spin(100);
		pinned = fd < 0 || count_of(fd) != before;
	}
	home--;
	if (fd >= 0)
		close(fd);
	return pinned;
}

/* Returns false if this machine cannot limit the rate of samples. */
static bool set_up(struct event *events, struct sample_limits *limits)
{
	memset(events, 0, MEMBERS * sizeof(*events));
	for (int i = 0; i < MEMBERS; i++) {
		events[i].fd = -1;
		events[i].reference = -1;
	}
	save_sample_limits(limits);
	return set_sample_limits(RATE, 0) && pin_home();
}

/* All fixtures are the same, but for their variants. */
#define LIMITED_FIXTURE(name)						\
	FIXTURE(name)							\
	{								\
		struct sample_limits limits;				\
		struct event events[MEMBERS];				\
		pid_t other;						\
	};								\
									\
	FIXTURE_SETUP(name)						\
	{								\
		if (!set_up(self->events, &self->limits))		\
			SKIP(return, "cannot limit the rate of samples"); \
	}								\
									\
	FIXTURE_TEARDOWN_PARENT(name)					\
	{								\
		restore_sample_limits(&self->limits);			\
	}

LIMITED_FIXTURE(limited)

/* Hardware events that are throttled, by the way they have their samples. */

LIMITED_FIXTURE(sampled)

FIXTURE_VARIANT(sampled)
{
	unsigned int precise;
	bool freq;
	bool large;		/* PEBS has one interrupt for many records */
};

FIXTURE_VARIANT_ADD(sampled, plain) { };
FIXTURE_VARIANT_ADD(sampled, frequency) { .freq = true };
FIXTURE_VARIANT_ADD(sampled, precise) { .precise = 1 };
FIXTURE_VARIANT_ADD(sampled, precise_2) { .precise = 2 };
FIXTURE_VARIANT_ADD(sampled, precise_frequency) { .precise = 1, .freq = true };
FIXTURE_VARIANT_ADD(sampled, precise_2_frequency) { .precise = 2, .freq = true };
FIXTURE_VARIANT_ADD(sampled, large) { .precise = 1, .large = true };
FIXTURE_VARIANT_ADD(sampled, large_2) { .precise = 2, .large = true };

static struct perf_event_attr sampled(const FIXTURE_VARIANT(sampled) *variant, __u64 config,
				      __u64 period)
{
	struct perf_event_attr attr = hardware(config, period);

	attr.precise_ip = variant->precise;
	if (variant->freq) {
		attr.freq = 1;
		attr.sample_freq = RATE;
	}
	if (variant->large) {
		attr.sample_type &= ~PERF_SAMPLE_CALLCHAIN;
		attr.sample_period /= 20;
	}
	return attr;
}

static void set_sampled(struct event *events, const FIXTURE_VARIANT(sampled) *variant)
{
	events[0].attr = sampled(variant, PERF_COUNT_HW_CPU_CYCLES, 20011);
	events[1].attr = sampled(variant, instructions(), 30011);
	events[2].attr = sampled(variant, PERF_COUNT_HW_CPU_CYCLES, 25013);
}

/* In one line, for a table. */
static void print_samples(struct event *events, int nr)
{
	char samples[100] = "";

	for (int i = 0, n = 0; i < nr; i++)
		n += snprintf(samples + n, sizeof(samples) - n, "%s%llu", i ? ", " : "",
			      events[i].samples);
	ksft_print_msg("%d events: %s samples, throttled %u times\n", nr, samples,
		       throttles(events, nr));
}

/* Groups of one to three events, each of which throttles it. */
static void run_sampled(struct __test_metadata *_metadata, FIXTURE_DATA(sampled) *self,
			const FIXTURE_VARIANT(sampled) *variant, enum neighbour neighbour)
{
	unsigned int throttled = 0;

	if (neighbour == SWITCH)
		self->other = share_cpu();
	for (int nr = 1; nr <= MEMBERS; nr++) {
		set_sampled(self->events, variant);
		REQUIRE(open_group(self->events, nr, 0, -1));
		enable_group(self->events, nr);
		run_slots(_metadata, self->events, nr, neighbour, ~0);
		disable_group(self->events, nr);
		check_group(_metadata, self->events, nr);
		print_samples(self->events, nr);
		throttled += throttles(self->events, nr);
		close_group(self->events);
	}
	end_task(&self->other);
	/* An interrupt for a whole buffer of records is a rare one. */
	if (!throttled && !variant->large && !variant->freq && __test_passed(_metadata))
		SKIP(return, "this machine does not throttle the group");
}

TEST_F(sampled, unread)
{
	run_sampled(_metadata, self, variant, UNREAD);
}

TEST_F(sampled, counts_read)
{
	run_sampled(_metadata, self, variant, READ);
}

TEST_F(sampled, task_switched)
{
	run_sampled(_metadata, self, variant, SWITCH);
}

/* Two events of the same kind and period end it with the same instruction. */
TEST_F(sampled, same_interrupt)
{

	for (int nr = 2; nr <= MEMBERS; nr++) {
		for (int i = 0; i < nr; i++)
			self->events[i].attr = sampled(variant, instructions(), 20011);
		REQUIRE(open_group(self->events, nr, 0, -1));
		enable_group(self->events, nr);
		run_slots(_metadata, self->events, nr, READ, ~0);
		disable_group(self->events, nr);
		drain(self->events, nr);
		/* The first one that throttles it stops the others, and drivers skip these. */
		for (int i = 0; i < nr; i++)
			self->events[i].missing = throttles(self->events, nr);
		check_group(_metadata, self->events, nr);
		print_samples(self->events, nr);
		close_group(self->events);
	}
}

/* A member that is disabled does not count while its group runs. */
TEST_F(sampled, disabled_member)
{
	struct event *late = &self->events[1];

	set_sampled(self->events, variant);
	late->attr.disabled = 1;
	REQUIRE(open_group(self->events, MEMBERS, 0, -1));
	enable_group(self->events, MEMBERS);
	run_slots(_metadata, self->events, MEMBERS, READ, ~2);
	EXPECT_EQ(0, late->count);

	/* In the middle of a throttle, if there is one. */
	wait_for_throttle(self->events, MEMBERS);
	ASSERT_EQ(0, ioctl(late->fd, PERF_EVENT_IOC_ENABLE, 0));
	run_slots(_metadata, self->events, MEMBERS, READ, ~0);
	wait_for_throttle(self->events, MEMBERS);
	ASSERT_EQ(0, ioctl(late->fd, PERF_EVENT_IOC_DISABLE, 0));
	read_group(_metadata, self->events, MEMBERS);
	drain(self->events, MEMBERS);
	run_slots(_metadata, self->events, MEMBERS, READ, ~2);
	disable_group(self->events, MEMBERS);
	check_group(_metadata, self->events, MEMBERS);
	print_samples(self->events, MEMBERS);
	close_group(self->events);
}

/* One member of a group gets a new period, the same, while they are throttled. */
TEST_F(sampled, new_period)
{
	for (int changed = 0; changed < MEMBERS; changed++) {
		__u64 period, end;
			int n = 0;

		set_sampled(self->events, variant);
		REQUIRE(open_group(self->events, MEMBERS, 0, -1));
		period = self->events[changed].attr.sample_period;
		enable_group(self->events, MEMBERS);
		for (end = now_ns() + SLOT_NS; now_ns() < end; n++) {
			wait_for_throttle(self->events, MEMBERS);
			ASSERT_EQ(0, ioctl(self->events[changed].fd, PERF_EVENT_IOC_PERIOD,
					   &period));
			self->events[changed].missing++;
		}
		run_slots(_metadata, self->events, MEMBERS, READ, ~0);
		disable_group(self->events, MEMBERS);
		check_group(_metadata, self->events, MEMBERS);
		ksft_print_msg("event %d: %d new periods, %llu samples\n", changed, n,
			       self->events[changed].samples);
		close_group(self->events);
	}
}

/* Clocks and hardware events in a group. */

LIMITED_FIXTURE(clock)

FIXTURE_VARIANT(clock)
{
	__u64 config;
	bool leads;
	unsigned int precise;	/* of the hardware events */
};

FIXTURE_VARIANT_ADD(clock, cpu) { PERF_COUNT_SW_CPU_CLOCK };
FIXTURE_VARIANT_ADD(clock, task) { PERF_COUNT_SW_TASK_CLOCK };
FIXTURE_VARIANT_ADD(clock, cpu_leads) { PERF_COUNT_SW_CPU_CLOCK, .leads = true };
FIXTURE_VARIANT_ADD(clock, task_leads) { PERF_COUNT_SW_TASK_CLOCK, .leads = true };
FIXTURE_VARIANT_ADD(clock, cpu_precise) { PERF_COUNT_SW_CPU_CLOCK, .precise = 1 };

/* Makes a group of a clock and two hardware events of these periods, and returns the clock. */
static struct event *set_clock(struct event *events, const FIXTURE_VARIANT(clock) *variant,
			       __u64 clock_period, __u64 period)
{
	struct event *clock = &events[variant->leads ? 0 : 2];

	for (int i = 0; i < MEMBERS; i++) {
		events[i].attr = hardware(i == 1 ? instructions() : PERF_COUNT_HW_CPU_CYCLES,
					  period + 1000 * i);
		events[i].attr.precise_ip = variant->precise;
	}
	clock->attr = software(variant->config, clock_period);
	return clock;
}

static __u64 difference(__u64 a, __u64 b)
{
	return a > b ? a - b : b - a;
}

/* Hardware events are throttled: the clock counts all the time, and has all samples. */
TEST_F(clock, hardware_throttles)
{
	struct event *events = self->events, *clock;
	struct { __u64 value, enabled; } total;

	clock = set_clock(events, variant, 1000000, 20011);
	REQUIRE(open_group(events, MEMBERS, 0, -1));
	enable_group(events, MEMBERS);
	run_slots(_metadata, events, MEMBERS, READ, ~0);
	disable_group(events, MEMBERS);
	check_group(_metadata, events, MEMBERS);
	ASSERT_EQ(sizeof(total), read(clock->fd, &total, sizeof(total)));
	ksft_print_msg("counted %llu of %llu ns, %llu samples, %llu of the hardware events\n",
		       total.value, total.enabled, clock->samples,
		       events[1].samples + events[variant->leads ? 2 : 0].samples);
	EXPECT_GE(total.enabled / 100 + 50000, difference(total.value, total.enabled));
	/* Under a debugging kernel some come late. */
	EXPECT_GE(total.enabled / 1000000 + 2, clock->samples);
	EXPECT_LE(total.enabled / 1000000 * (counts_are_exact() ? 9 : 5) / 10,
		  clock->samples + 2);
	close_group(events);
}

/* The clock throttles itself: no other event of the group notices. */
static void clock_throttles(struct __test_metadata *_metadata, struct event *events,
			    const FIXTURE_VARIANT(clock) *variant, enum neighbour neighbour)
{
	struct event *clock;
	struct { __u64 value, enabled; } total;

	/* The hardware events sample less often than the limit. */
	clock = set_clock(events, variant, 50000, 3000000);
	REQUIRE(open_group(events, MEMBERS, 0, -1));
	enable_group(events, MEMBERS);
	run_slots(_metadata, events, MEMBERS, neighbour, ~0);
	disable_group(events, MEMBERS);
	check_group(_metadata, events, MEMBERS);
	for (int i = 0; i < MEMBERS; i++) {
		__u64 all;

		if (&events[i] == clock)
			continue;
		all = count_of(events[i].reference);
		ksft_print_msg("event %d counted %llu of %llu, the clock has %llu samples\n", i,
			       events[i].count, all, clock->samples);
		/* It is enabled after its reference, and disabled before it. */
		EXPECT_GE(all / 100 + 20000, difference(all, events[i].count));
	}
	/* The clock has fewer samples than periods, or it was not throttled. */
	EXPECT_GT(SLOTS * SLOT_NS / 50000 * 9 / 10, clock->samples);
	/* It counts no time twice. */
	ASSERT_EQ(sizeof(total), read(clock->fd, &total, sizeof(total)));
	ksft_print_msg("the clock counted %llu of %llu ns\n", total.value, total.enabled);
	EXPECT_LE(total.value, total.enabled + 50000 * machine_slowness());
	close_group(events);
}

TEST_F(clock, clock_throttles)
{
	clock_throttles(_metadata, self->events, variant, READ);
}

TEST_F(clock, unread_clock_throttles)
{
	clock_throttles(_metadata, self->events, variant, UNREAD);
}

/*
 * Events of the task are scheduled while an event of the CPU is throttled. On Ice Lake they need
 * the first four counters, so that it gets another one.
 */
TEST_F(limited, moved)
{
	struct perf_event_attr attr = hardware(0x148, 0);	/* L1D_PEND_MISS.PENDING there */
	struct event *event = self->events;
	unsigned int throttled = 0;

	attr.type = PERF_TYPE_RAW;
	event->attr = hardware(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 5003);
	REQUIRE(open_group(event, 1, -1, home));
	enable_group(event, 1);
	for (int i = 0; i < 10; i++) {
		int others[4];

		throttled += wait_for_throttle(event, 1);
		for (int j = 0; j < 4; j++) {
			others[j] = perf_event_open(&attr, 0, -1, -1);
			REQUIRE(others[j] < 0 ? errno : 0);
		}
		run_slots(_metadata, event, 1, READ, ~0);
		for (int j = 0; j < 4; j++)
			close(others[j]);
	}
	disable_group(event, 1);
	check_group(_metadata, event, 1);
	ksft_print_msg("%llu samples, others came in %u throttles\n", event->samples,
		       throttled);
	close_group(event);
	if (!throttled && __test_passed(_metadata))
		SKIP(return, "this machine does not throttle the event");
}

/* A clock that throttles itself stops no other clock. */
TEST_F(limited, two_clocks)
{
	struct event *events = self->events;
	struct { __u64 value, enabled; } total;

	events[0].attr = software(PERF_COUNT_SW_CPU_CLOCK, 50000);
	events[1].attr = software(PERF_COUNT_SW_TASK_CLOCK, 1000000);
	REQUIRE(open_group(events, 2, 0, -1));
	enable_group(events, 2);
	run_slots(_metadata, events, 2, READ, ~0);
	disable_group(events, 2);
	check_group(_metadata, events, 2);
	ASSERT_EQ(sizeof(total), read(events[1].fd, &total, sizeof(total)));
	ksft_print_msg("counted %llu of %llu ns, %llu and %llu samples\n", total.value,
		       total.enabled, events[0].samples, events[1].samples);
	EXPECT_GE(total.enabled / 100 + 50000, difference(total.value, total.enabled));
	close_group(events);
}

/*
 * Opens groups of a clock that throttles itself and members of a PMU without an interrupt,
 * closes them in another order, and compares what one has counted with an event alone.
 */
static void no_interrupt(struct __test_metadata *_metadata, const char *pmu, __u64 config)
{
	unsigned int seed = 1, compared = 0;
	struct perf_event_attr attr = { .size = PERF_ATTR_SIZE_VER8, .disabled = 1 };
	int type = read_pmu_number(pmu, "type"), cpu = read_pmu_number(pmu, "cpumask");

	if (type < 0)
		SKIP(return, "no PMU %s", pmu);
	if (cpu < 0)
		cpu = 0;
	ASSERT_TRUE(pin_to(cpu));
	for (int round = 0; round < 30; round++) {
		int fd[4] = { -1, -1, -1, -1 }, clock = rand_r(&seed) % 2 ? 0 : 3, alone;
		__u64 all, count, end;

		attr.type = type;
		attr.config = config;
		alone = perf_event_open(&attr, -1, cpu, -1);
		REQUIRE(alone < 0 ? errno : 0);
		for (int i = 0; i < 4; i++) {
			struct perf_event_attr member = attr;

			member.disabled = !i;
			if (i == clock) {
				member = software(PERF_COUNT_SW_CPU_CLOCK, 50000);
				member.disabled = !i;
			}
			/* A free running counter is in a group only once. */
			fd[i] = perf_event_open(&member, -1, cpu, i ? fd[0] : -1);
			if (!i)
				ASSERT_LE(0, fd[0]) TH_LOG("%s", strerror(errno));
		}
		ASSERT_EQ(0, ioctl(alone, PERF_EVENT_IOC_ENABLE, 0));
		ASSERT_EQ(0, ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0));
		for (end = now_ns() + SLOT_NS / 4; now_ns() < end;)
			spin(1000);
		if (rand_r(&seed) % 2) {
			ioctl(fd[0], PERF_EVENT_IOC_DISABLE, 0);
			ioctl(alone, PERF_EVENT_IOC_DISABLE, 0);
			all = count_of(alone);
			for (int i = 0; i < 4; i++) {
				if (i == clock || fd[i] < 0)
					continue;
				count = count_of(fd[i]);
				EXPECT_GE(all, count) TH_LOG("round %d, event %d", round, i);
				EXPECT_LE(all / 20 * 19, count)
					TH_LOG("round %d, event %d, clock %d", round, i, clock);
				compared += !!all;
			}
		}
		for (int i = rand_r(&seed) % 4, n = 0; n < 4; n++, i = (i + 1) % 4) {
			if (fd[i] >= 0)
				close(fd[i]);
			if (rand_r(&seed) % 2)
				spin(20000);
		}
		close(alone);
	}
	ksft_print_msg("%u counts compared\n", compared);
}

TEST_F(limited, msr)
{
	/* The TSC. */
	no_interrupt(_metadata, "msr", 0);
}

TEST_F(limited, uncore)
{
	/* The clock of the I/O unit. */
	no_interrupt(_metadata, "uncore_iio_free_running_0", 0x10ff);
}

TEST_F(limited, uncore_box)
{
	no_interrupt(_metadata, "uncore_cha_0", 0);
}

/* Events of tracepoints and of breakpoints. */

static volatile long watched;

/*
 * A task is woken on another CPU while it still runs: its tracepoint overflows on the CPU of the
 * one who wakes it. That throttles the tracepoint, and stops the counters of neither CPU.
 */
TEST_F(limited, tracepoint_of_another_cpu)
{
	int id = read_number("/sys/kernel/tracing/events/sched/sched_waking/id");
	struct perf_event_attr mine = hardware(PERF_COUNT_HW_CPU_CYCLES, 0);
	struct event *events = self->events;
	int to[2], from[2], member, stopped = 0;
	__u64 rounds = 0, before, end;
	char byte = 0;
	pid_t pid;

	if (id < 0)
		SKIP(return, "no tracepoints");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one CPU");
	ASSERT_EQ(0, pipe(to));
	ASSERT_EQ(0, pipe(from));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin_to(home + 1);
		while (read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1)
			spin(rounds++ % 100);
		_exit(0);
	}
	self->other = pid;
	/* On this CPU, as many as there may be of the other one: the same counters. */
	for (int i = 0; i < MEMBERS; i++) {
		events[i].fd = perf_event_open(&mine, 0, -1, i ? events[0].fd : -1);
		REQUIRE(events[i].fd < 0 ? errno : 0);
	}
	member = -1;
	for (int i = 0; i < 4; i++) {
		struct perf_event_attr attr = hardware(PERF_COUNT_HW_CPU_CYCLES, i ? 0 : 1);
		int fd;

		attr.exclude_kernel = 0;
		if (!i) {
			attr.type = PERF_TYPE_TRACEPOINT;
			attr.config = id;
			attr.sample_type = PERF_SAMPLE_IP;
		}
		fd = perf_event_open(&attr, pid, -1, member);
		ASSERT_LE(0, fd) TH_LOG("event %d: %s", i, strerror(errno));
		if (!i)
			member = fd;
	}
	for (end = now_ns() + 4 * SLOT_NS; now_ns() < end; rounds++) {
		ASSERT_EQ(1, write(to[1], &byte, 1));
		for (int i = 0; i < MEMBERS; i++) {
			before = count_of(events[i].fd);
			spin(20);
			stopped += count_of(events[i].fd) == before;
		}
		ASSERT_EQ(1, read(from[0], &byte, 1));
	}
	ksft_print_msg("%llu times woken, %llu times counted, %d times stopped\n", rounds,
		       count_of(member), stopped);
	EXPECT_EQ(0, stopped);
	end_task(&self->other);
	close_group(events);
}

/*
 * A tracepoint that counts many at once throttles itself. It counts again after a context switch,
 * before and after the next tick.
 */
TEST_F(limited, tracepoint_throttles)
{
	int id = read_number("/sys/kernel/tracing/events/sched/sched_stat_runtime/id");
	struct event *events = self->events;

	if (id < 0)
		SKIP(return, "no tracepoints");
	events[0].attr = hardware(id, 10000);
	events[0].attr.type = PERF_TYPE_TRACEPOINT;
	events[0].attr.sample_type = PERF_SAMPLE_IP;
	events[0].attr.exclude_kernel = 0;
	events[1].attr = hardware(PERF_COUNT_HW_CPU_CYCLES, 0);
	self->other = share_cpu();
	REQUIRE(open_group(events, 2, 0, -1));
	enable_group(events, 2);
	run_slots(_metadata, events, 2, SWITCH, ~0);
	end_task(&self->other);
	/* Now there is no other task. */
	for (int i = 0; i < SLOTS; i++) {
		__u64 samples = events[0].samples, count = count_of(events[0].fd);

		for (__u64 end = now_ns() + SLOT_NS; now_ns() < end; drain(events, 2)) {
			spin(100000);
			usleep(100);
		}
		EXPECT_LT(samples, events[0].samples) TH_LOG("slot %d", i);
		EXPECT_LT(count, count_of(events[0].fd)) TH_LOG("slot %d", i);
	}
	disable_group(events, 2);
	check_group(_metadata, events, 2);
	ksft_print_msg("%llu samples, throttled %u times\n", events[0].samples,
		       events[0].ring.nr_throttled);
	/* The hardware event counts while the tracepoint does not. */
	EXPECT_GE(events[1].count / 100 + 20000, count_of(events[1].reference) - events[1].count);
	close_group(events);
}

LIMITED_FIXTURE(stopped)

FIXTURE_VARIANT(stopped)
{
	bool breakpoint;
};

FIXTURE_VARIANT_ADD(stopped, breakpoint) { .breakpoint = true };
FIXTURE_VARIANT_ADD(stopped, tracepoint) { };

static void hit(int n)
{
	while (n--) {
		watched++;
		syscall(SYS_getppid);
	}
}

/* Expects @n hits to be counted and sampled, few enough for a tick. */
static void expect_hits(struct __test_metadata *_metadata, struct event *event, int n)
{
	__u64 samples, count;

	/* Another task runs, and another tick begins. */
	usleep(20000);
	drain(event, 1);
	samples = event->samples;
	count = count_of(event->fd);
	hit(n);
	drain(event, 1);
	EXPECT_EQ(count + n, count_of(event->fd));
	EXPECT_EQ(samples + n, event->samples);
}

TEST_F(stopped, limit)
{
	struct event *event = &self->events[0];
	struct perf_event_attr *attr = &event->attr;

	*attr = hardware(0, 1);
	attr->sample_type = PERF_SAMPLE_IP;
	if (variant->breakpoint) {
		attr->type = PERF_TYPE_BREAKPOINT;
		attr->bp_type = HW_BREAKPOINT_W;
		attr->bp_addr = (unsigned long)&watched;
		attr->bp_len = sizeof(watched);
	} else {
		int id = read_number("/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id");

		if (id < 0)
			SKIP(return, "no tracepoints");
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->config = id;
		attr->exclude_kernel = 0;
	}
	REQUIRE(open_group(event, 1, 0, -1));
	for (int i = 0; i < 3; i++) {
		__u64 samples = event->samples;

		ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_REFRESH, 3));
		usleep(20000);
		hit(6);
		drain(event, 1);
		EXPECT_EQ(samples + 3, event->samples);
		usleep(20000);
	}
	/* There is no limit any more. */
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	expect_hits(_metadata, event, 5);
	close_group(self->events);
}

TEST_HARNESS_MAIN
