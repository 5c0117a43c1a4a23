// SPDX-License-Identifier: GPL-2.0
/*
 * Sampling events whose intervals differ in length
 *
 * The sequence advances in __perf_event_next_interval() and nowhere else: where
 * a driver begins an interval. So it does not depend on whether the driver arms
 * the counter before or after it calls perf_event_overflow(), nor on whether
 * a sample was throttled, filtered, or dropped.
 */
#include <linux/overflow.h>
#include <linux/perf_event.h>
#include <linux/random.h>

#include "internal.h"

/* Is every length that @jitter makes of @period between 1 and 2^63 - 1? */
static bool perf_jitter_valid(u64 period, u32 jitter)
{
	return period > jitter / 2 && period <= S64_MAX - jitter;
}

/* Is an attr consistent, as far as that can be told without its PMU? */
bool perf_attr_period_valid(const struct perf_event_attr *attr)
{
	if (!attr->alt_sample_period &&
	    (attr->alt_sample_jitter || attr->alt_sample_count))
		return false;

	if (!has_varying_period(attr))
		return true;

	/* In frequency mode jitter is cut to what the period allows. */
	if (!attr->sample_period ||
	    (!attr->freq &&
	     !perf_jitter_valid(attr->sample_period, attr->sample_jitter)))
		return false;

	return !attr->alt_sample_period ||
	       perf_jitter_valid(attr->alt_sample_period, attr->alt_sample_jitter);
}

static u32 perf_attr_windows(const struct perf_event_attr *attr)
{
	return attr->alt_sample_period ? attr->alt_sample_count ?: 1 : 0;
}

/*
 * What is left for the long interval if a whole cycle is to be @cycle events.
 * At least 1: windows that fill the cycle are not cut, but make it longer.
 */
u64 perf_attr_long_period(const struct perf_event_attr *attr, u64 cycle)
{
	u64 windows;

	if (check_mul_overflow(attr->alt_sample_period,
			       (u64)perf_attr_windows(attr), &windows) ||
	    cycle <= windows)
		return 1;

	return cycle - windows;
}

/*
 * Begin again with a long interval. The counter must be stopped; it is to be
 * started with PERF_EF_RELOAD.
 */
void perf_event_restart_period(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;

	hwc->interval = 0;
	hwc->overrun = 0;
	local64_set(&hwc->period_left, 0);
}

/*
 * To be called after pmu::event_init, which may have changed the attr and
 * hwc->sample_period for its own purposes.
 */
int perf_event_init_period(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	struct pmu *pmu = event->pmu;

	if (!has_varying_period(&event->attr))
		return 0;

	if (!(pmu->capabilities & PERF_PMU_CAP_VARYING_PERIOD) ||
	    event->attr.aux_output)
		return -EOPNOTSUPP;

	if (pmu->check_period(event, perf_attr_min_period(&event->attr)))
		return -EINVAL;

	hwc->varying = true;
	hwc->long_period = hwc->sample_period;
	hwc->sample_period = 0;
	prandom_seed_state(&hwc->rnd, get_random_u64());
	perf_event_restart_period(event);

	return 0;
}

/*
 * Draw one of the jitter + 1 lengths around @period. The get_random_*() family
 * takes locks and this may be an NMI. The numbers are no secret,
 * PERF_SAMPLE_PERIOD shows them, but for that very reason no two events may
 * share a generator.
 */
static u64 perf_jitter(struct rnd_state *rnd, u64 period, u64 jitter)
{
	if (!jitter)
		return period;

	return period - jitter / 2 +
	       ((prandom_u32_state(rnd) * (jitter + 1)) >> 32);
}

/*
 * The part of perf_event_next_interval() for varying events. Returns what to
 * program the counter for. Runs in NMI context.
 *
 * The overrun of the last interval is mostly interrupt latency and can exceed a
 * window, which would lose its meaning if it were cut by that. So a window
 * begins now and lasts its whole length, and the next long interval pays.
 */
s64 __perf_event_next_interval(struct perf_event *event, s64 left)
{
	struct perf_event_attr *attr = &event->attr;
	struct hw_perf_event *hwc = &event->hw;

	hwc->overrun -= left;

	if (hwc->interval) {
		left = perf_jitter(&hwc->rnd, attr->alt_sample_period,
				   attr->alt_sample_jitter);
		hwc->last_period = left | PERF_PERIOD_WINDOW;
	} else {
		u64 jitter = attr->sample_jitter;

		if (attr->freq)
			jitter = min(jitter, hwc->long_period);
		left = perf_jitter(&hwc->rnd, hwc->long_period, jitter);
		hwc->last_period = left;
		/* Way outside a reasonable range: just skip forward. */
		if (hwc->overrun < left)
			left -= hwc->overrun;
		hwc->overrun = 0;
	}

	if (hwc->interval < perf_attr_windows(attr))
		hwc->interval++;
	else
		hwc->interval = 0;

	return left;
}
