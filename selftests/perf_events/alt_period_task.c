// SPDX-License-Identifier: GPL-2.0
/*
 * Alternating sample periods of events that are stopped and started by others: by context
 * switches, for the events of children, in excluded modes, and by throttling.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */
#include <signal.h>
#include <sys/resource.h>

#include "alt_period_probes.h"

#define SLOW_STACK	32768	/* bytes in a sample */

/* Starts a task that runs on this CPU whenever this one yields. */
static pid_t start_rival(void)
{
	pid_t pid;

	if (!pin_to_cpu())
		return -1;
	pid = fork();
	if (!pid) {
		for (;;)
			sched_yield();
	}
	return pid;
}

/* Yields after each @steps of the work. */
static bool sample_and_yield(struct event *event, size_t nr, unsigned int steps)
{
	time_t end = time(NULL) + SECONDS;

	ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
	while (event->nr_samples < nr && time(NULL) <= end) {
		for (unsigned int i = 0; i < steps; i++)
			event->work();
		sched_yield();
		if (ring_used(&event->ring))
			collect(event);
	}
	ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
	collect(event);
	return event->nr_samples >= nr;
}

static void check_context_switches(struct __test_metadata *_metadata, struct event *event,
				   unsigned int steps)
{
	struct rusage before, after;
	long switches;
	pid_t rival;

	rival = start_rival();
	ASSERT_LT(0, rival);
	getrusage(RUSAGE_SELF, &before);
	EXPECT_EQ(0, event_open(event, NULL));
	EXPECT_TRUE(sample_and_yield(event, 2 * ROUNDS, steps));
	getrusage(RUSAGE_SELF, &after);
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);

	switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw;
	ksft_print_msg("%ld context switches\n", switches);
	ASSERT_LT(100, switches);
	ASSERT_LE(2 * ROUNDS, event->nr_samples);
	check_sequence(_metadata, event, 0, 2 * ROUNDS, 0, 0);
}

static void test_context_switches(struct __test_metadata *_metadata, struct event *event)
{
	/* Not in step with the windows. */
	check_context_switches(_metadata, event, 3);
}

TEST_F_TIMEOUT(hw, context_switches, 90)
{
	self->event.stops = true;
	if (use_windows(_metadata, &self->event))
		test_context_switches(_metadata, &self->event);
}

TEST_WINDOWS(weighted, context_switches, 90)
TEST_WINDOWS_COUNTED(context_switches, 90)

/* A timer never fires late if the task has no time for it. */
TEST_F_TIMEOUT(clock, context_switches, 90)
{
	if (use_windows(_metadata, &self->event))
		check_context_switches(_metadata, &self->event, 1000);
}

/* Every child starts with its own long interval, and draws its own jitter. */
static void test_inherit(struct __test_metadata *_metadata, struct event *event)
{
	enum { CHILDREN = 2, EACH = 2 * 20 };
	pid_t children[CHILDREN];
	struct sample seen[CHILDREN][EACH];
	size_t nr[CHILDREN] = {};
	int done = 0, same = 0;

	/*
	 * With PERF_SAMPLE_READ each task keeps its own event; otherwise tasks
	 * with equal inherited events hand them on at a context switch.
	 */
	event->attr.inherit = 1;
	event->attr.sample_jitter = event->attr.sample_period / 2;

	/* An event that is inherited can be mapped only if bound to a CPU. */
	ASSERT_TRUE(pin_to_cpu());
	event->fd = perf_event_open(&event->attr, 0, sched_getcpu(), -1);
	ASSERT_LE(0, event->fd);
	ASSERT_EQ(0, ring_map(&event->ring, event->fd));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	/* The parent is in the middle of its sequence when it forks. */
	ASSERT_TRUE(work_until(event, 3));

	for (int c = 0; c < CHILDREN; c++) {
		children[c] = fork();
		ASSERT_LE(0, children[c]);
		if (!children[c]) {
			for (;;)
				event->work();
		}
	}

	for (time_t end = time(NULL) + SECONDS; done < CHILDREN && time(NULL) <= end;) {
		usleep(1000);
		collect(event);
		for (size_t i = 0; i < event->nr_samples; i++) {
			const struct sample *s = &event->samples[i];

			for (int c = 0; c < CHILDREN; c++) {
				if (s->pid != (__u32)children[c] || nr[c] == EACH)
					continue;
				seen[c][nr[c]++] = *s;
				done += nr[c] == EACH;
			}
		}
		event->nr_samples = 0;
	}
	for (int c = 0; c < CHILDREN; c++) {
		kill(children[c], SIGKILL);
		waitpid(children[c], NULL, 0);
	}

	ASSERT_EQ(CHILDREN, done);
	for (int c = 0; c < CHILDREN; c++) {
		memcpy(event->samples, seen[c], sizeof(seen[c]));
		check_sequence(_metadata, event, 0, EACH, 0, 0);
	}
	for (int i = 0; i < EACH; i++)
		same += !seen[0][i].window && seen[0][i].period == seen[1][i].period;
	EXPECT_GT(EACH / 2, same);
}

TEST_WINDOWS_ALL(inherit, 90)

/* Pipes with which two tasks take turns. */
struct turns {
	int to_child[2], to_parent[2];
};

/* Ends the turn of this task and waits for its next one. Returns false at the end. */
static bool pass_turn(int to, int from)
{
	char turn = 0;

	return write(to, &turn, 1) == 1 && read(from, &turn, 1) == 1;
}

static pid_t start_partner(struct turns *turns, struct event *event, unsigned int steps)
{
	char turn;
	pid_t pid;

	if (pipe(turns->to_child) || pipe(turns->to_parent))
		return -1;
	pid = fork();
	if (!pid) {
		close(turns->to_child[1]);
		close(turns->to_parent[0]);
		if (read(turns->to_child[0], &turn, 1) != 1)
			_exit(1);
		do {
			for (unsigned int i = 0; i < steps; i++)
				event->work();
		} while (pass_turn(turns->to_parent[1], turns->to_child[0]));
		_exit(0);
	}
	close(turns->to_child[0]);
	close(turns->to_parent[1]);
	return pid;
}

/*
 * Parent and child take turns, each of @steps of the work, within their windows. Each has
 * its own sequence: the events stay with their task, although those of two tasks are equal
 * and could be handed on.
 */
static void check_inherited_turns(struct __test_metadata *_metadata, struct event *event,
				  unsigned int steps)
{
	enum { TASKS = 2, EACH = 2 * 50 };
	time_t end = time(NULL) + SECONDS;
	struct rusage before, after;
	struct sample *seen[TASKS];
	size_t nr[TASKS] = {};
	struct turns turns;
	long nr_turns;
	pid_t child;

	event->attr.inherit = 1;
	ASSERT_TRUE(pin_to_cpu());
	event->fd = perf_event_open(&event->attr, 0, sched_getcpu(), -1);
	ASSERT_LE(0, event->fd);
	ASSERT_EQ(0, ring_map(&event->ring, event->fd));
	for (int t = 0; t < TASKS; t++) {
		seen[t] = calloc(EACH, sizeof(*seen[t]));
		ASSERT_NE(NULL, seen[t]);
	}
	/* What changes an event later breaks the equality. */
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	child = start_partner(&turns, event, steps);
	ASSERT_LT(0, child);
	getrusage(RUSAGE_SELF, &before);
	while ((nr[0] < EACH || nr[1] < EACH) && time(NULL) <= end) {
		for (unsigned int i = 0; i < steps; i++)
			event->work();
		if (!pass_turn(turns.to_child[1], turns.to_parent[0]))
			break;
		event->nr_samples = 0;
		collect(event);
		for (size_t i = 0; i < event->nr_samples; i++) {
			int t = event->samples[i].pid == (__u32)child;

			if (nr[t] < EACH)
				seen[t][nr[t]++] = event->samples[i];
		}
	}
	getrusage(RUSAGE_SELF, &after);
	/* A task that wakes up may preempt, and answer before anybody waits for it. */
	nr_turns = after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw;
	close(turns.to_child[1]);
	close(turns.to_parent[0]);
	waitpid(child, NULL, 0);
	event_close(event);

	ksft_print_msg("%zu and %zu samples, %ld turns\n", nr[0], nr[1], nr_turns);
	ASSERT_LE(EACH / 4, nr_turns);
	for (int t = 0; t < TASKS; t++) {
		ASSERT_EQ(EACH, nr[t]);
		memcpy(event->samples, seen[t], EACH * sizeof(*seen[t]));
		check_sequence(_metadata, event, 0, EACH, 0, 0);
		free(seen[t]);
	}
}

static void check_inherited_turns_twice(struct __test_metadata *_metadata, struct event *event,
					unsigned int steps)
{
	check_inherited_turns(_metadata, event, steps);
	/* An event that reads its counts stays with its task anyway: also without. */
	event->attr.sample_type &= ~PERF_SAMPLE_READ;
	event->attr.read_format = 0;
	check_inherited_turns(_metadata, event, steps);
}

static void test_inherited_turns(struct __test_metadata *_metadata, struct event *event)
{
	check_inherited_turns_twice(_metadata, event, 2);
}

TEST_WINDOWS(weighted, inherited_turns, 90)
TEST_WINDOWS_COUNTED(inherited_turns, 90)

TEST_F_TIMEOUT(hw, inherited_turns, 90)
{
	if (!use_windows(_metadata, &self->event))
		return;
	self->event.attr.sample_period = 20000;
	self->event.attr.alt_sample_period = 3000;
	check_inherited_turns_twice(_metadata, &self->event, 2);
}

TEST_F_TIMEOUT(clock, inherited_turns, 90)
{
	if (use_windows(_metadata, &self->event))
		check_inherited_turns_twice(_metadata, &self->event, 50);
}

/*
 * The timer of a clock goes on in excluded modes, where an interval ends without a sample.
 * The sequence then starts again: a window's counts are those since a sample.
 */
TEST_F(clock, excluded_mode)
{
	struct event *event = &self->event;
	size_t in_a_row = 0, cut_short = 0;

	if (!use_windows(_metadata, event))
		return;
	event->attr.exclude_kernel = 1;
	event->attr.alt_sample_count = 2;
	event->work = call_yield;
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, 3 * ROUNDS));
	for (size_t i = 0; i < event->nr_samples; i++) {
		if (event->samples[i].window) {
			ASSERT_NE(0, i);
			ASSERT_GE(2, ++in_a_row) TH_LOG("sample %zu", i);
		} else {
			cut_short += i && in_a_row < 2;
			in_a_row = 0;
		}
	}
	/* Some intervals ended in the kernel. */
	ASSERT_LT(0, cut_short);
}

/* Being throttled and let go again swaps no label and loses no interval. */
TEST_F(hw, throttling)
{
	struct event *event = &self->event;
	time_t end = time(NULL) + SECONDS;

	if (!use_windows(_metadata, event))
		return;
	event->attr.sample_period = 400;
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	while (event->nr_samples < MAX_SAMPLES && event->ring.nr_throttled < 3 &&
	       time(NULL) <= end) {
		event->work();
		collect(event);
	}
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0));
	ksft_print_msg("%zu samples, throttled %u times\n", event->nr_samples,
		       event->ring.nr_throttled);
	check_sequence(_metadata, event, 0, event->nr_samples, 0, 0);
	if (!event->ring.nr_throttled && machine_exactness() != EXACT_YES)
		SKIP(return, "this machine keeps up with %zu samples", event->nr_samples);
	ASSERT_LT(0, event->ring.nr_throttled);
}

/* Checks that windows are marked as split, or have exactly the counts of their length. */
static void check_windows(struct __test_metadata *_metadata, struct event *event,
			  size_t *whole, size_t *split)
{
	*whole = 0;
	*split = 0;
	for (size_t i = 1; i < event->nr_samples; i++) {
		const struct sample *s = &event->samples[i];

		if (!s->window)
			continue;
		*split += s->split;
		*whole += !s->split;
		ASSERT_TRUE(event->member || (s->gaps != s[-1].gaps) == s->split)
			TH_LOG("sample %zu: %u throttled or switched in the window", i,
			       s->gaps - s[-1].gaps);
		if (event->exact && !s->split) {
			ASSERT_EQ(s->period, s->count[0] - s[-1].count[0])
				TH_LOG("sample %zu", i);
		}
	}
}

/*
 * A clock that throttles itself does so at the end of an interval. The next one begins
 * when it is let go, and a window is marked then, for its start is not where the sample
 * before it was taken. It counts the time in between as well.
 */
TEST_F(clock, throttled_by_itself)
{
	struct event *event = &self->event;
	int rate = read_number(PERF_MAX_RATE);
	const __u64 late = 30000 * machine_slowness();
	size_t whole, split, throttled[2] = {};
	time_t end = time(NULL) + SECONDS;

	if (!use_windows(_metadata, event))
		return;
	event->attr.sample_period = 800000;
	event->attr.alt_sample_period = 200000;
	event->attr.alt_sample_count = 2;
	if (!write_number(PERF_MAX_RATE, 1000))
		SKIP(return, "cannot write %s: %s", PERF_MAX_RATE, strerror(errno));
	if (!event_open(event, NULL)) {
		ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
		while (event->ring.nr_unthrottled < 50 && event->nr_samples < MAX_SAMPLES &&
		       time(NULL) <= end) {
			event->work();
			collect(event);
		}
		ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
		collect(event);
	}
	ASSERT_TRUE(write_number(PERF_MAX_RATE, rate));

	ASSERT_LE(50, event->ring.nr_unthrottled);
	check_sequence(_metadata, event, 0, event->nr_samples, 0, 0);
	check_windows(_metadata, event, &whole, &split);
	for (size_t i = 1; i < event->nr_samples; i++) {
		const struct sample *s = &event->samples[i];

		throttled[s->window] += s->gaps != s[-1].gaps;
		/* Late intervals shorten the next long one. */
		if (s->window || machine_exactness() == EXACT_YES) {
			ASSERT_LT(s->period - (s->window ? 0 : late), s->count[0] - s[-1].count[0])
				TH_LOG("sample %zu", i);
		}
		if (machine_exactness() == EXACT_YES && s->gaps == s[-1].gaps) {
			ASSERT_GT(s->period + late, s->count[0] - s[-1].count[0])
				TH_LOG("sample %zu", i);
		}
	}
	ksft_print_msg("%zu windows, %zu split; throttled before %zu windows, %zu long intervals\n",
		       whole + split, split, throttled[1], throttled[0]);
	ASSERT_LT(0, throttled[0]);
	ASSERT_LT(0, throttled[1]);
}

/*
 * A clock leaves other code twice the time that its samples take. With a large part of the
 * stack, a window gets longer than its label, and is marked.
 */
TEST_F(clock, slow_samples)
{
	struct event *event = &self->event;
	char stack[2 * SLOW_STACK];
	unsigned int split = 0;

	if (!use_windows(_metadata, event))
		return;
	memset(stack, 1, sizeof(stack));
	asm volatile("" : : "r" (stack) : "memory");
	event->attr.sample_period = 1000000 * machine_slowness();
	event->attr.alt_sample_period = 10000;
	event->attr.sample_type |= PERF_SAMPLE_STACK_USER;
	event->attr.sample_stack_user = SLOW_STACK;
	ASSERT_EQ(0, event_open(event, NULL));
	ASSERT_TRUE(sample_for(event, ROUNDS));
	for (size_t i = 1; i < event->nr_samples; i++) {
		const struct sample *s = &event->samples[i];

		if (!s->window || s->gaps != s[-1].gaps)
			continue;
		split += s->split;
		ASSERT_EQ(10000, s->period);
		/* Where time has no relation to the code, a sample may be fast. */
		if (machine_exactness() == EXACT_YES)
			ASSERT_TRUE(s->split);
		if (s->split)
			ASSERT_LT(15000, s->count[0] - s[-1].count[0]);
	}
	ksft_print_msg("%u windows got longer\n", split);
	if (!split && machine_exactness() != EXACT_YES)
		SKIP(return, "samples take less than half of a window here");
	ASSERT_LT(0, split);
}

/*
 * Both events of a group have windows, one of them throttles the group, and none of them
 * loses its sequence.
 */
static void check_throttled_group(struct __test_metadata *_metadata, struct event *events[2],
				  bool cpu)
{
	time_t end = time(NULL) + SECONDS;

	for (int i = 0; i < 2; i++) {
		struct event *event = events[i];

		event->attr.disabled = !i;
		event->attr.context_switch = cpu;
		event->member = i;
		event->stops = true;
		event->fd = perf_event_open(&event->attr, cpu ? -1 : 0, cpu ? sched_getcpu() : -1,
					    i ? events[0]->fd : -1);
		ASSERT_LE(0, event->fd) TH_LOG("%s", strerror(errno));
		ASSERT_EQ(0, ring_map(&event->ring, event->fd));
	}
	ASSERT_EQ(0, ioctl(events[0]->fd, PERF_EVENT_IOC_ENABLE, 0));
	do {
		events[0]->work();
		for (int i = 0; i < 2; i++)
			collect(events[i]);
	} while (events[0]->nr_samples < MAX_SAMPLES && events[1]->nr_samples < MAX_SAMPLES &&
		 events[0]->ring.nr_throttled < 5 && time(NULL) <= end);
	ASSERT_EQ(0, ioctl(events[0]->fd, PERF_EVENT_IOC_DISABLE, 0));

	for (int i = 0; i < 2; i++) {
		struct event *event = events[i];
		size_t whole, split;

		collect(event);
		/* The count of the leader comes first. */
		for (size_t j = 0; i && j < event->nr_samples; j++)
			event->samples[j].count[0] = event->samples[j].count[1];
		check_sequence(_metadata, event, 0, event->nr_samples, 0, 0);
		check_windows(_metadata, event, &whole, &split);
		ksft_print_msg("%s%s: %zu windows, %zu split, throttled %u times\n",
			       i ? "member" : "leader", cpu ? " of a CPU" : "", whole, split,
			       event->ring.nr_throttled);
		/* The slower event takes a part of the samples, too. */
		EXPECT_LT(events[!i]->nr_samples / 16, event->nr_samples);
		/*
		 * Where a buffer does not tell it, so many can have been split by the
		 * throttling. Tasks that are switched split others.
		 */
		if (event->member && !cpu)
			EXPECT_LE(split, events[0]->ring.nr_throttled);
	}
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

	if (!use_windows(_metadata, cycles) || !pin_to_cpu())
		return;
	instructions.attr.config &= ~(__u64)PERF_HW_EVENT_MASK;
	instructions.attr.config |= PERF_COUNT_HW_INSTRUCTIONS;
	instructions.samples = calloc(MAX_SAMPLES, sizeof(*instructions.samples));
	ASSERT_NE(NULL, instructions.samples);
	if (!require_event(_metadata, &instructions))
		return;

	for (c = 0; c < 36; c++) {
		struct event *group[] = { both[c & 1], both[!(c & 1)] };

		/* None of them is precise, one, or both. */
		cycles->attr.precise_ip = c < 12 ? 0 : 2;
		instructions.attr.precise_ip = c < 24 ? 0 : 2;
		if (why_missing(try_attr(&cycles->attr)) ||
		    why_missing(try_attr(&instructions.attr)))
			break;

		cycles->attr.sample_period = periods[c / 4 % 3][0];
		instructions.attr.sample_period = periods[c / 4 % 3][1];
		cycles->attr.alt_sample_period = 300;
		instructions.attr.alt_sample_period = 300;
		check_throttled_group(_metadata, group, c & 2);
		throttled += group[0]->ring.nr_throttled;
		for (int i = 0; i < 2; i++)
			event_close(both[i]);
	}
	free(instructions.samples);
	ksft_print_msg("%d of 36 groups, the others need precise events\n", c);
	ASSERT_LE(12, c);
	if (!throttled && machine_exactness() != EXACT_YES)
		SKIP(return, "this machine keeps up");
	ASSERT_LT(0, throttled);
}

/* Another task runs in the middle of windows that count on a CPU: they are marked. */
TEST_F(hw, split_by_tasks)
{
	struct event *event = &self->event;
	size_t whole, split;
	pid_t rival;

	if (!use_windows(_metadata, event))
		return;
	event->attr.sample_period = 20000;
	event->attr.alt_sample_period = 1000;
	event->attr.context_switch = 1;
	rival = start_rival();
	ASSERT_LT(0, rival);
	event->fd = perf_event_open(&event->attr, -1, sched_getcpu(), -1);
	if (event->fd < 0) {
		kill(rival, SIGKILL);
		SKIP(return, "no events of a CPU: %s", strerror(errno));
	}
	EXPECT_EQ(0, ring_map(&event->ring, event->fd));
	EXPECT_TRUE(sample_and_yield(event, 2 * ROUNDS, 3));
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);

	event->exact = event->exact && machine_exactness() == EXACT_YES;
	check_windows(_metadata, event, &whole, &split);
	ksft_print_msg("%zu windows, %zu split\n", whole + split, split);
	ASSERT_LT(0, split);
	ASSERT_LT(0, whole);
}

/*
 * Checks windows that count the kernel as well. The scheduler counts a switch, the PMU is
 * told, and the task changes, at different times, and a window can end between these: it
 * is split for sure if its ends are in different tasks, or if two records of switches are
 * in it; and it is not if nothing is near.
 */
static void check_kernel_windows(struct __test_metadata *_metadata, struct event *event,
				 bool cpu)
{
	size_t whole = 0, split = 0, other = 0, back = 0;
	pid_t rival;

	event->attr.exclude_kernel = 0;
	event->attr.sample_period = 60000;
	event->attr.sample_jitter = 9000;
	/* Switches to a task and back take longer with debug options of the kernel. */
	event->attr.alt_sample_period = 40000;
	event->attr.alt_sample_jitter = 76000;
	event->attr.context_switch = cpu;
	/* An interrupt that waits ends the interval late. */
	event->exact = false;
	if (try_attr(&event->attr) == EOPNOTSUPP)
		SKIP(return, "the PMU has no windows that include the kernel");
	rival = start_rival();
	ASSERT_LT(0, rival);
	event->fd = perf_event_open(&event->attr, cpu ? -1 : 0, cpu ? sched_getcpu() : -1, -1);
	if (event->fd < 0) {
		kill(rival, SIGKILL);
		SKIP(return, "no events of the kernel: %s", strerror(errno));
	}
	EXPECT_EQ(0, ring_map(&event->ring, event->fd));
	EXPECT_TRUE(sample_and_yield(event, 5 * ROUNDS, 40));
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);

	for (size_t i = 1; i + 1 < event->nr_samples; i++) {
		const struct sample *s = &event->samples[i];
		unsigned int gaps = s->gaps - s[-1].gaps;
		unsigned int near = s[1].gaps - s[-1].gaps;

		if (!s->window) {
			ASSERT_FALSE(s->split) TH_LOG("sample %zu", i);
			continue;
		}
		/* It begins at a sample, or a long interval comes again. */
		ASSERT_FALSE(s[-1].window) TH_LOG("sample %zu", i);
		/* However late the sample before it was, a window is not cut short. */
		if (machine_exactness() != EXACT_NO) {
			ASSERT_LE(s->period, s->count[0] - s[-1].count[0])
				TH_LOG("sample %zu", i);
		}
		split += s->split;
		whole += !s->split;
		other += s->tid != s[-1].tid;
		back += s->tid == s[-1].tid && s->split;
		if (s->tid != s[-1].tid || gaps >= 2) {
			ASSERT_TRUE(s->split) TH_LOG("sample %zu: tasks %u, %u, %u switches", i,
						     s[-1].tid, s->tid, gaps);
		}
		if (s->split && cpu) {
			ASSERT_LT(0, near)
				TH_LOG("sample %zu: split, no switch is near", i);
		}
	}
	ksft_print_msg("%s: %zu windows, %zu split: %zu end in another task, %zu in the same\n",
		       cpu ? "of a CPU" : "of a task", whole + split, split, other, back);
	ASSERT_LT(0, whole);
	if (cpu) {
		ASSERT_LT(0, other);
		ASSERT_LT(0, back);
	} else {
		ASSERT_EQ(0, other);
		/*
		 * What is left of a window at a switch can be too short for the counter, and
		 * where interrupts take long the event is throttled.
		 */
		ASSERT_GE(whole / 50 + event->ring.nr_throttled, split);
	}
}

TEST_F(hw, kernel_windows_of_a_cpu)
{
	if (use_windows(_metadata, &self->event))
		check_kernel_windows(_metadata, &self->event, true);
}

TEST_F(hw, kernel_windows_of_a_task)
{
	if (use_windows(_metadata, &self->event))
		check_kernel_windows(_metadata, &self->event, false);
}

/*
 * A software event goes on while the hardware events of its group are throttled: no interval
 * of it may be lost or split, and the timer of a clock must not hang the CPU.
 */
static void test_throttling(struct __test_metadata *_metadata, struct event *event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		/* Longer than the handler, which some CPUs count as well. */
		.sample_period = 2200 * machine_slowness(),
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD,
		.disabled = 1,
		.exclude_hv = 1,
	};
	time_t start = time(NULL);
	unsigned int loops = 0, split = 0;
	struct sample sample;
	struct ring ring;
	int leader;

	stay_on_core_pmu(&attr);
	leader = perf_event_open(&attr, 0, -1, -1);
	if (leader < 0) {
		ASSERT_NE(NULL, why_missing(errno));
		SKIP(return, "no leader that is throttled: %s", why_missing(errno));
	}
	ASSERT_EQ(0, ring_map(&ring, leader));
	event->member = true;
	/* The counts would begin with that of the leader. */
	event->attr.sample_type &= ~PERF_SAMPLE_READ;
	event->fd = perf_event_open(&event->attr, 0, -1, leader);
	ASSERT_LE(0, event->fd);
	ASSERT_EQ(0, ring_map(&event->ring, event->fd));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, ioctl(leader, PERF_EVENT_IOC_ENABLE, 0));
	for (; event->nr_samples < MAX_SAMPLES; loops++) {
		/* A throttled CPU may need long for its work. */
		time_t limit = loops < 2 * ROUNDS ? 20 : 2 * machine_slowness();

		if ((event->nr_samples >= 2 * ROUNDS && ring.nr_throttled >= 10) ||
		    time(NULL) > start + limit)
			break;
		/* System calls, to be interrupted in the kernel. */
		for (int i = 0; i < 100; i++)
			sched_yield();
		for (int i = 0; i < 10; i++)
			event->work();
		while (ring_read(&ring, &sample, 1, attr.sample_type))
			;
		collect(event);
	}
	ASSERT_EQ(0, ioctl(leader, PERF_EVENT_IOC_DISABLE, 0));
	ksft_print_msg("%zu samples, throttled %u times\n", event->nr_samples, ring.nr_throttled);
	check_sequence(_metadata, event, 0, event->nr_samples, 0, 0);
	for (size_t i = 0; i < event->nr_samples; i++)
		split += event->samples[i].split;
	EXPECT_EQ(0, split);
	if (machine_exactness() != EXACT_YES) {
		if (!ring.nr_throttled)
			SKIP(return, "this machine keeps up with the leader");
		/* An event that is lost has few samples of much work. */
		if (loops < 2 * ROUNDS && event->nr_samples <= 10)
			SKIP(return, "this machine does little but interrupts of the leader");
	}
	ASSERT_LT(0, ring.nr_throttled);
	ASSERT_LT(10, event->nr_samples);
	ring_unmap(&ring);
	close(leader);
}

TEST_WINDOWS(weighted, throttling, 30)
TEST_WINDOWS_COUNTED(throttling, 30)

TEST_F(clock, throttling)
{
	if (!use_windows(_metadata, &self->event))
		return;
	self->event.attr.sample_period = 300000;
	test_throttling(_metadata, &self->event);
}

TEST_HARNESS_MAIN
