// SPDX-License-Identifier: GPL-2.0
/*
 * Alternating sample periods of events that are stopped and started by others: by context
 * switches, for the events of children, in excluded modes, and by throttling.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */
#include <signal.h>
#include <sys/resource.h>

#include "alt_period_fixtures.h"

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

/* Yields after each @steps of work. */
static bool sample_and_yield(struct event *event, size_t nr, unsigned int steps)
{
	time_t end = time(NULL) + SECONDS;

	ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
	while (event->nr_samples < nr && time(NULL) <= end) {
		for (unsigned int i = 0; i < steps; i++)
			spin_a_while();
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
				spin_a_while();
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

TEST_WINDOWS(hw, inherit, 90)

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
	ASSERT_TRUE(pin_to_cpu());
	event->fd = perf_event_open(&event->attr, 0, sched_getcpu(), -1);
	ASSERT_LE(0, event->fd);
	ASSERT_EQ(0, ring_map(&event->ring, event->fd));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(work_until(event, 20));
	for (int c = 0; c < CHILDREN; c++) {
		time_t end = time(NULL) + SECONDS;
		bool windows[2];
		int nr = 0;
		pid_t child = fork();

		ASSERT_LE(0, child);
		while (!child)
			spin_a_while();
		while (nr < 2 && time(NULL) <= end) {
			usleep(1000);
			event->nr_samples = 0;
			collect(event);
			for (size_t i = 0; i < event->nr_samples && nr < 2; i++) {
				if (event->samples[i].pid == (__u32)child)
					windows[nr++] = event->samples[i].window;
			}
		}
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		ASSERT_EQ(2, nr);
		good += !windows[0] && windows[1];
	}
	/* One that ends while the child is switched out has no sample, and comes again. */
	EXPECT_LE(CHILDREN - 2, good);
}

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
				spin_a_while();
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
			spin_a_while();
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

TEST_F_TIMEOUT(hw, inherited_turns, 90)
{
	if (!use_windows(_metadata, &self->event))
		return;
	self->event.attr.sample_period = 20000;
	self->event.attr.alt_sample_period = 3000;
	check_inherited_turns_twice(_metadata, &self->event, 2);
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
		spin_a_while();
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
		spin_a_while();
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

TEST_HARNESS_MAIN
