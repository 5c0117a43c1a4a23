/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixtures of events that need something to be caused or found: context switches,
 * probes, tracepoints, breakpoints.
 */
#ifndef ALT_PERIOD_PROBES_H
#define ALT_PERIOD_PROBES_H

#include "alt_period_fixtures.h"

/* A test of events that are counted one by one, each in the place where it happens. */
#define TEST_WINDOWS_COUNTED(name, seconds)				\
	TEST_WINDOWS(sw, name, seconds)					\
	TEST_WINDOWS(switches, name, seconds)				\
	TEST_WINDOWS(probe, name, seconds)				\
	TEST_WINDOWS(breakpoint, name, seconds)

/* A test of all events. */
#define TEST_WINDOWS_ALL(name, seconds)					\
	TEST_WINDOWS(hw, name, seconds)					\
	TEST_WINDOWS(clock, name, seconds)				\
	TEST_WINDOWS(weighted, name, seconds)				\
	TEST_WINDOWS_COUNTED(name, seconds)

/* Work that these events count. */

static volatile __u64 watched, watched_too;

static inline void write_watched(void)
{
	watched++;
	watched_too++;
}

static inline void call_getppid(void)
{
	syscall(SYS_getppid);
}

static inline void call_yield(void)
{
	spin_a_while();
	sched_yield();
}

static inline void sleep_a_little(void)
{
	/* A time that is over before the timer is set is no sleep. */
	usleep(machine_slowness() > 1 ? 1000 : 1);
}

/* Calls of this are counted through a uprobe. */
static __attribute__((noinline)) void probed(void)
{
	asm volatile("nop");
}

/* Returns the offset of probed() in the file of this program. */
static inline __u64 probed_offset(void)
{
	unsigned long start, end, offset, at = (unsigned long)probed;
	__u64 ret = 0;
	char line[256];
	FILE *maps;

	maps = fopen("/proc/self/maps", "r");
	if (!maps)
		return 0;
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    at >= start && at < end)
			ret = at - start + offset;
	}
	fclose(maps);
	return ret;
}

/* Context switches: a software event in the kernel, at any time */
FIXTURE(switches)
{
	struct event event;
};

FIXTURE_SETUP(switches)
{
	struct event *event = &self->event;

	event_init(_metadata, event, 20, 3, sleep_a_little);
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	event->attr.exclude_kernel = 0;
	require_event(_metadata, event);
}

FIXTURE_TEARDOWN(switches)
{
	event_destroy(&self->event);
}

/* Sets @attr to a tracepoint. Returns false, and skips the test, if there is none. */
static inline bool use_tracepoint(struct __test_metadata *_metadata,
				  struct perf_event_attr *attr, const char *name)
{
	char path[128];
	int id;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	id = read_number(path);
	if (id < 0)
		SKIP(return false, "cannot read %s: %s", path, strerror(errno));
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = id;
	attr->exclude_kernel = 0;
	return true;
}

static inline bool use_getppid(struct __test_metadata *_metadata, struct perf_event_attr *attr)
{
	return use_tracepoint(_metadata, attr, "syscalls/sys_enter_getppid");
}

static inline bool use_uprobe(struct __test_metadata *_metadata, struct perf_event_attr *attr)
{
	int type = read_number("/sys/bus/event_source/devices/uprobe/type");

	if (type < 0)
		SKIP(return false, "the kernel has no uprobes");
	attr->type = type;
	attr->uprobe_path = (uintptr_t)"/proc/self/exe";
	attr->probe_offset = probed_offset();
	ASSERT_NE(0, attr->probe_offset);
	return true;
}

/* Tracepoints and probes */
FIXTURE(probe)
{
	struct event event;
};

FIXTURE_VARIANT(probe)
{
	bool (*use)(struct __test_metadata *_metadata, struct perf_event_attr *attr);
	__u64 period, alt_period;
	void (*work)(void);
};

FIXTURE_VARIANT_ADD(probe, tracepoint)
{
	.use = use_getppid,
	.period = 50,
	.alt_period = 7,
	.work = call_getppid,
};

FIXTURE_VARIANT_ADD(probe, uprobe)
{
	.use = use_uprobe,
	.period = 20,
	.alt_period = 3,
	.work = probed,
};

FIXTURE_SETUP(probe)
{
	struct event *event = &self->event;

	event_init(_metadata, event, variant->period, variant->alt_period, variant->work);
	if (variant->use(_metadata, &event->attr))
		require_event(_metadata, event);
}

FIXTURE_TEARDOWN(probe)
{
	event_destroy(&self->event);
}

/* A tracepoint that counts ns, many at once: a call may end more than one interval */
FIXTURE(weighted)
{
	struct event event;
};

FIXTURE_SETUP(weighted)
{
	struct event *event = &self->event;

	event_init(_metadata, event, 10000, 1000, call_yield);
	event->exact = false;
	if (use_tracepoint(_metadata, &event->attr, "sched/sched_stat_runtime"))
		require_event(_metadata, event);
}

FIXTURE_TEARDOWN(weighted)
{
	event_destroy(&self->event);
}

/* Data breakpoints. A window may be longer than the long interval. */
FIXTURE(breakpoint)
{
	struct event event;
};

FIXTURE_SETUP(breakpoint)
{
	struct event *event = &self->event;

	event_init(_metadata, event, 5, 11, write_watched);
	event->attr.type = PERF_TYPE_BREAKPOINT;
	event->attr.bp_type = HW_BREAKPOINT_W;
	event->attr.bp_addr = (uintptr_t)&watched;
	event->attr.bp_len = HW_BREAKPOINT_LEN_8;
	require_event(_metadata, event);
}

FIXTURE_TEARDOWN(breakpoint)
{
	event_destroy(&self->event);
}

#endif /* ALT_PERIOD_PROBES_H */
