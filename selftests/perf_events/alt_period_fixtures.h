/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixture of a hardware event with windows.
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

	event_init(_metadata, event, variant->period, variant->alt_period);
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

#endif /* ALT_PERIOD_FIXTURES_H */
