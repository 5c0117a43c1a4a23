/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fixtures of events that are simple to cause: hardware events, page faults, clocks.
 */
#ifndef ALT_PERIOD_FIXTURES_H
#define ALT_PERIOD_FIXTURES_H

#include "alt_period_event.h"

/* Defines a test of an event with windows; its body is the function test_NAME(). */
#define TEST_WINDOWS(fixture, name, seconds)				\
	TEST_F_TIMEOUT(fixture, name, seconds)				\
	{								\
		if (use_windows(_metadata, &self->event))		\
			test_##name(_metadata, &self->event);		\
	}

/* Returns true if each interval of an ordinary event is exactly as long as it should be. */
static inline bool counter_is_exact(struct event *event)
{
	struct perf_event_attr attr = event->attr;
	bool exact = true;

	event->attr.sample_period = 10000;
	if (event_open(event, NULL) || !sample_for(event, 50))
		exact = false;
	for (size_t i = 1; i < event->nr_samples; i++) {
		if (event->samples[i].count[0] - event->samples[i - 1].count[0] != 10000)
			exact = false;
	}
	event_close(event);
	event->attr = attr;
	return exact;
}

/* Hardware events */
FIXTURE(hw)
{
	struct event event;
};

FIXTURE_VARIANT(hw)
{
	__u64 config;
	__u64 period, alt_period;
};

FIXTURE_VARIANT_ADD(hw, cycles)
{
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.period = 999700,
	.alt_period = 300,
};

FIXTURE_VARIANT_ADD(hw, instructions)
{
	.config = PERF_COUNT_HW_INSTRUCTIONS,
	.period = 799700,
	.alt_period = 300,
};

FIXTURE_SETUP(hw)
{
	struct event *event = &self->event;
	enum exactness exactness = machine_exactness();

	event_init(_metadata, event, variant->period, variant->alt_period, spin_a_while);
	event->attr.type = PERF_TYPE_HARDWARE;
	event->attr.config = variant->config;
	stay_on_core_pmu(&event->attr);
	if (!require_event(_metadata, event))
		return;
	event->optional = exactness != EXACT_YES;
	event->exact = exactness != EXACT_NO && counter_is_exact(event);
	if (exactness == EXACT_YES) {
		ASSERT_TRUE(event->exact) TH_LOG("the counter is not exact");
	}
}

FIXTURE_TEARDOWN(hw)
{
	event_destroy(&self->event);
}

/* Software events, in user mode */
FIXTURE(sw)
{
	struct event event;
};

FIXTURE_VARIANT(sw)
{
	__u64 config;
	__u64 period, alt_period;
	void (*work)(void);
};

FIXTURE_VARIANT_ADD(sw, page_faults)
{
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.period = 20,
	.alt_period = 3,
	.work = touch_page,
};

/* A window of one event: software events have a fast path for this period. */
FIXTURE_VARIANT_ADD(sw, page_faults_window_1)
{
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.period = 20,
	.alt_period = 1,
	.work = touch_page,
};

FIXTURE_SETUP(sw)
{
	struct event *event = &self->event;

	event_init(_metadata, event, variant->period, variant->alt_period, variant->work);
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = variant->config;
	require_event(_metadata, event);
}

FIXTURE_TEARDOWN(sw)
{
	event_destroy(&self->event);
}

/* Clocks, which are timers */
FIXTURE(clock)
{
	struct event event;
};

FIXTURE_VARIANT(clock)
{
	__u64 config;
	__u64 period, alt_period;
};

FIXTURE_VARIANT_ADD(clock, task_clock)
{
	.config = PERF_COUNT_SW_TASK_CLOCK,
	.period = 1000000,
	.alt_period = 50000,
};

FIXTURE_VARIANT_ADD(clock, cpu_clock)
{
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.period = 1000000,
	.alt_period = 50000,
};

FIXTURE_SETUP(clock)
{
	struct event *event = &self->event;
	struct timespec resolution;

	event_init(_metadata, event, variant->period, variant->alt_period, spin_a_while);
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = variant->config;
	/*
	 * The timer fires in the kernel as well: an interval that ends in an excluded
	 * mode ends without a sample.
	 */
	event->attr.exclude_kernel = 0;
	event->exact = false;

	clock_getres(CLOCK_MONOTONIC, &resolution);
	if (resolution.tv_sec || resolution.tv_nsec > 1000)
		SKIP(return, "no timers of high resolution");
	require_event(_metadata, event);
}

FIXTURE_TEARDOWN(clock)
{
	event_destroy(&self->event);
}

#endif /* ALT_PERIOD_FIXTURES_H */
