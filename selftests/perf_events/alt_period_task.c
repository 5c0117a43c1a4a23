// SPDX-License-Identifier: GPL-2.0
/*
 * Alternating sample periods of events that something comes between: ioctls, context
 * switches, children that inherit them, and throttling.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */
#include <signal.h>
#include <sys/prctl.h>

#include "alt_period_event.h"

/*
 * A new period in the middle of an interval, long or a window: that does not end, and a new
 * round begins.
 */
TEST_F_TIMEOUT(hw, ioc_period, 60)
{
	struct event *event = &self->event;
	const __u64 period = event->attr.sample_period, longer = 2 * period;

	if (!use_windows(_metadata, event))
		return;
	for (int window = 0; window < 2; window++) {
		__u64 counts[2];
		struct sample *s;
		size_t nr;

		/* The window must not be over before the ioctl. */
		event->attr.sample_period = period;
		event->attr.alt_sample_period = period;
		ASSERT_EQ(0, event_open(event));
		ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
		ASSERT_TRUE(work_until(event, 20 + window));
		ASSERT_EQ(sizeof(counts), read(event->fd, counts, sizeof(counts)));
		ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &longer));
		collect(event);
		nr = event->nr_samples;
		ASSERT_TRUE(work_until(event, nr + 20));

		check_sequence(_metadata, event, 0, nr, 0, 0);
		event->attr.sample_period = longer;
		/* The counter runs between read(2) and the ioctl. If not exact, it pays. */
		s = &event->samples[nr];
		if (event->exact)
			ASSERT_LE(counts[1] + longer, s->count[0]);
		check_sequence(_metadata, event, nr, nr + 20, 0, s->count[0] - s->period);
		event_close(event);
	}
}

/* Starts a task that takes turns with this one, which stays on its CPU. */
static pid_t start_rival(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		spin_a_while();
		sched_yield();
	}
}

static void stop_rival(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Opens @event for this task, or for a CPU, where it sees whatever runs there. */
static int open_for(struct event *event, bool cpu, int group)
{
	event->attr.context_switch = cpu;
	return event_open_on(event, cpu ? -1 : 0, cpu ? sched_getcpu() : -1, group);
}

/*
 * The event is disabled and enabled again in the middle of intervals, or another task runs:
 * the intervals go on. Windows of an event of a CPU are marked then. Those of an event of a
 * task are not, for the task knows what it did.
 */
static void check_turns(struct __test_metadata *_metadata, struct event *event, bool disable)
{
	ASSERT_TRUE(pin_to(sched_getcpu()));
	event->stops = true;
	event->attr.sample_period = 100000;
	event->attr.alt_sample_period = 1500;
	for (int cpu = 0; cpu < 2; cpu++) {
		time_t end = time(NULL) + SECONDS;
		pid_t rival = disable ? 0 : start_rival();
		size_t split = 0, whole = 0;

		ASSERT_LE(0, rival);
		if (open_for(event, cpu, -1)) {
			ASSERT_TRUE(cpu);
			SKIP(return, "no events of a CPU: %s", strerror(errno));
		}
		for (int turn = 0; event->nr_samples < ROUNDS && time(NULL) <= end; turn++) {
			size_t nr = event->nr_samples;

			ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
			/* Not in step with the windows. */
			for (int i = 0; i <= turn % 7; i++)
				spin_a_while();
			ASSERT_EQ(0, disable ? ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0) :
					       sched_yield());
			collect(event);
			/* No record tells that it was disabled. */
			for (; disable && cpu && nr < event->nr_samples; nr++)
				event->samples[nr].gaps += turn;
		}
		if (rival) {
			stop_rival(rival);
			ASSERT_LT(100, task_switches() - event->switches);
		}
		ASSERT_LE(ROUNDS, event->nr_samples);
		check_sequence(_metadata, event, 0, ROUNDS, 0, 0);
		for (size_t i = 0; i < ROUNDS; i++) {
			split += event->samples[i].split;
			whole += event->samples[i].window && !event->samples[i].split;
		}
		ASSERT_LT(10, whole);
		ASSERT_LE(cpu ? 10 : 0, split);
		event_close(event);
	}
}

TEST_F_TIMEOUT(hw, disabled, 90)
{
	if (use_windows(_metadata, &self->event))
		check_turns(_metadata, &self->event, true);
}

TEST_F_TIMEOUT(hw, context_switches, 90)
{
	if (use_windows(_metadata, &self->event))
		check_turns(_metadata, &self->event, false);
}

/*
 * Parent and child take turns within their windows. Each has its own sequence, from its
 * first interval on: the events stay with their task, although those of two tasks are equal
 * and could be handed on at a context switch.
 */
static void check_inherited(struct __test_metadata *_metadata, struct event *event)
{
	enum { EACH = 100 };
	time_t end = time(NULL) + SECONDS;
	struct sample seen[2][EACH];
	size_t nr[2] = {};
	pid_t child;

	ASSERT_EQ(0, event_open_on(event, 0, sched_getcpu(), -1));
	/* What changes an event later breaks the equality. */
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	/* The parent is in the middle of its sequence when it forks. */
	ASSERT_TRUE(work_until(event, 3));
	child = start_rival();
	ASSERT_LT(0, child);
	do {
		for (size_t i = 0; i < event->nr_samples; i++) {
			int t = event->samples[i].pid == (__u32)child;

			if (nr[t] < EACH)
				seen[t][nr[t]++] = event->samples[i];
		}
		event->nr_samples = 0;
		spin_a_while();
		sched_yield();
		collect(event);
	} while ((nr[0] < EACH || nr[1] < EACH) && time(NULL) <= end);
	stop_rival(child);
	event_close(event);

	ASSERT_LE(EACH / 4, task_switches() - event->switches);
	for (int t = 0; t < 2; t++) {
		ASSERT_EQ(EACH, nr[t]);
		memcpy(event->samples, seen[t], sizeof(seen[t]));
		check_sequence(_metadata, event, 0, EACH, 0, 0);
	}
}

TEST_F_TIMEOUT(hw, inherited, 90)
{
	struct event *event = &self->event;

	if (!use_windows(_metadata, event))
		return;
	/* An event that is inherited can be mapped only if bound to a CPU. */
	ASSERT_TRUE(pin_to(sched_getcpu()));
	/* The other task can be throttled as well. */
	event->gaps_unknown = true;
	event->attr.inherit = 1;
	event->attr.sample_period = 20000;
	event->attr.alt_sample_period = 3000;
	check_inherited(_metadata, event);
	/* An event that reads its counts stays with its task anyway: also without. */
	event->attr.sample_type &= ~PERF_SAMPLE_READ;
	event->attr.read_format = 0;
	check_inherited(_metadata, event);
}

/* At a frequency, too, the copy for a child begins with a long interval and its windows. */
TEST_F_TIMEOUT(hw, inherited_frequency, 90)
{
	enum { CHILDREN = 8 };
	struct event *event = &self->event;
	int good = 0;

	if (!use_windows(_metadata, event))
		return;
	event->attr.inherit = 1;
	event->attr.freq = 1;
	event->attr.sample_freq = 1000;
	ASSERT_TRUE(pin_to(sched_getcpu()));
	ASSERT_EQ(0, event_open_on(event, 0, sched_getcpu(), -1));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(work_until(event, 20));
	for (int c = 0; c < CHILDREN; c++) {
		time_t end = time(NULL) + SECONDS;
		pid_t child = start_rival();
		bool windows[2];
		int nr = 0;

		ASSERT_LT(0, child);
		while (nr < 2 && time(NULL) <= end) {
			usleep(1000);
			event->nr_samples = 0;
			collect(event);
			for (size_t i = 0; i < event->nr_samples && nr < 2; i++) {
				if (event->samples[i].pid == (__u32)child)
					windows[nr++] = event->samples[i].window;
			}
		}
		stop_rival(child);
		ASSERT_EQ(2, nr);
		good += !windows[0] && windows[1];
	}
	/* One that ends while the child is switched out has no sample, and comes again. */
	EXPECT_LE(CHILDREN - 2, good);
}

/*
 * Being throttled and let go again swaps no label, loses no interval, and splits the window,
 * if it is one: of an event, or of each event of a group, whichever of them overflows.
 * Returns how often they were throttled.
 */
static unsigned int check_throttled(struct __test_metadata *_metadata, struct event *events[],
				    int nr, bool cpu)
{
	struct event *leader = events[0];
	time_t end = time(NULL) + SECONDS;
	bool full = false;

	for (int i = 0; i < nr; i++) {
		events[i]->attr.disabled = !i;
		events[i]->stops = nr > 1;
		/* Its leader's buffer does. */
		events[i]->gaps_unknown = i;
		ASSERT_EQ(0, open_for(events[i], cpu, i ? leader->fd : -1))
			TH_LOG("%s", strerror(errno));
	}
	ASSERT_EQ(0, ioctl(leader->fd, PERF_EVENT_IOC_ENABLE, 0));
	while (!full && leader->ring.nr_throttled < 5 && time(NULL) <= end) {
		spin_a_while();
		for (int i = 0; i < nr; i++) {
			collect(events[i]);
			full |= events[i]->nr_samples == MAX_SAMPLES;
		}
	}
	ASSERT_EQ(0, ioctl(leader->fd, PERF_EVENT_IOC_DISABLE, 0));

	for (int i = 0; i < nr; i++) {
		struct event *event = events[i];
		size_t split = 0;

		collect(event);
		for (size_t j = 0; j < event->nr_samples; j++) {
			/* The count of the leader comes first. */
			event->samples[j].count[0] = event->samples[j].count[i];
			split += event->samples[j].split;
		}
		check_sequence(_metadata, event, 0, event->nr_samples, 0, 0);
		/* The slower event takes a part of the samples, too. */
		EXPECT_LT(leader->nr_samples / 16, event->nr_samples);
		EXPECT_LT(event->nr_samples / 16, leader->nr_samples);
		/* Tasks that are switched split others. */
		if (!cpu)
			EXPECT_LE(split, leader->ring.nr_throttled);
	}
	for (int i = 0; i < nr; i++)
		event_close(events[i]);
	return leader->ring.nr_throttled;
}

static void require_throttled(struct __test_metadata *_metadata, unsigned int nr)
{
	if (!nr && !machine_is_exact())
		SKIP(return, "this machine keeps up");
	ASSERT_LT(0, nr);
}

TEST_F(hw, throttled_event)
{
	struct event *event = &self->event;

	if (!use_windows(_metadata, event))
		return;
	event->attr.sample_period = 400;
	require_throttled(_metadata, check_throttled(_metadata, &event, 1, false));
}

TEST_F(hw, throttled_group)
{
	/* The events overflow together, or one of them more often. */
	static const __u64 periods[][2] = { { 1700, 1700 }, { 1700, 4700 }, { 4700, 1700 } };
	struct event *cycles = &self->event;
	struct event instructions = *cycles;
	struct event *both[] = { cycles, &instructions };
	unsigned int throttled = 0;
	int c;

	if (!use_windows(_metadata, cycles) || !pin_to(sched_getcpu()))
		return;
	instructions.attr.config &= ~(__u64)PERF_HW_EVENT_MASK;
	instructions.attr.config |= PERF_COUNT_HW_INSTRUCTIONS;
	if (!require_event(_metadata, &instructions))
		return;
	instructions.attr.alt_sample_period = WINDOW;

	for (c = 0; c < 36; c++) {
		struct event *group[] = { both[c & 1], both[!(c & 1)] };

		cycles->attr.sample_period = periods[c / 4 % 3][0];
		instructions.attr.sample_period = periods[c / 4 % 3][1];
		/* None of them is precise, one, or both, if there are such events. */
		cycles->attr.precise_ip = c < 12 ? 0 : 2;
		instructions.attr.precise_ip = c < 24 ? 0 : 2;
		if (why_missing(try_attr(&cycles->attr)) ||
		    why_missing(try_attr(&instructions.attr)))
			break;
		throttled += check_throttled(_metadata, group, 2, c & 2);
	}
	ASSERT_LE(12, c);
	require_throttled(_metadata, throttled);
}

TEST_HARNESS_MAIN
