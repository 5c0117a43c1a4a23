// SPDX-License-Identifier: GPL-2.0
/*
 * Sampling events whose intervals differ in length
 *
 * The state of the sequence, hw_perf_event::interval, overrun and rnd, is
 * written in this file only. The sequence advances where a driver begins an
 * interval, in __perf_event_next_interval(). So it does not depend on whether
 * the driver arms the counter before or after it calls perf_event_overflow(),
 * nor on whether a sample was throttled, filtered, or dropped.
 */
#include <linux/overflow.h>
#include <linux/perf_event.h>
#include <linux/random.h>

#include "internal.h"

/* True if every length that @jitter makes of @period is in 1..S64_MAX. */
static bool perf_jitter_valid(u64 period, u32 jitter)
{
	return period > jitter / 2 && period <= S64_MAX - jitter;
}

/**
 * perf_attr_period_valid - check the sample periods of an attr
 * @attr: the attr, of any kind of event
 *
 * Return: true if they are consistent. The limits of the PMU are left to
 * perf_event_init_period().
 */
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

/* Return the number of windows in a round. */
static u32 perf_attr_windows(const struct perf_event_attr *attr)
{
	return attr->alt_sample_period ? attr->alt_sample_count ?: 1 : 0;
}

/**
 * perf_attr_long_period - calculate the long interval of a round
 * @attr: the attr of a varying event
 * @round: the number of events in a round
 *
 * Return: what the windows leave for the long interval. At least 1: windows
 * that fill the round are not cut, but make it longer.
 */
u64 perf_attr_long_period(const struct perf_event_attr *attr, u64 round)
{
	u64 windows;

	if (check_mul_overflow(attr->alt_sample_period,
			       (u64)perf_attr_windows(attr), &windows) ||
	    round <= windows)
		return 1;

	return round - windows;
}

/**
 * perf_event_restart_period - begin a new round with a long interval
 * @event: a sampling event, varying or not, its counter stopped
 *
 * The counter must be started with PERF_EF_RELOAD.
 */
void perf_event_restart_period(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;

	hwc->interval = 0;
	hwc->overrun = 0;
	local64_set(&hwc->period_left, 0);
}

/**
 * perf_event_skip_windows - let a long interval follow the current one
 * @event: a varying event
 *
 * For an interval that ends without a sample: a window begins at a sample.
 */
void perf_event_skip_windows(struct perf_event *event)
{
	event->hw.interval = 0;
}

/**
 * perf_event_owe - add to the overrun of a varying event
 * @event: a varying event
 * @count: events that the next long interval is to be shortened by
 */
void perf_event_owe(struct perf_event *event, u64 count)
{
	event->hw.overrun += count;
}

/**
 * __perf_event_keep_interval - keep an interval that is over without its sample
 * @event: a varying event, its counter just stopped and read
 *
 * The part of perf_event_keep_interval() for varying events.
 */
void __perf_event_keep_interval(struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	s64 left = local64_read(&hwc->period_left);

	if (left > 0)
		return;

	perf_event_owe(event, 1 - left);
	local64_set(&hwc->period_left, 1);
}

/**
 * perf_event_init_period - set up the sequence of a varying event
 * @event: a new event
 *
 * To be called after pmu::event_init, which may have changed the attr and
 * hwc->sample_period for its own purposes.
 *
 * Return: 0, also for an ordinary event, -EOPNOTSUPP if the PMU cannot vary
 * the period, or -EINVAL if an interval is too short for it.
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
 * takes locks and this may be an NMI. The numbers are no secret, because
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

/**
 * __perf_event_next_interval - begin the next interval of a varying event
 * @event: the event, its counter stopped
 * @left: events left of the interval that ended, zero or negative
 *
 * The part of perf_event_next_interval() for varying events. Runs in NMI
 * context.
 *
 * The overrun of the last interval is mostly interrupt latency and can exceed
 * a window, whose counts would mean nothing if that shortened it. So a window
 * begins now and lasts its whole length, and the next long interval pays.
 *
 * Return: the number of events to program the counter for.
 */
s64 __perf_event_next_interval(struct perf_event *event, s64 left)
{
	struct perf_event_attr *attr = &event->attr;
	struct hw_perf_event *hwc = &event->hw;
	u64 length;

	hwc->overrun -= left;

	if (hwc->interval) {
		length = perf_jitter(&hwc->rnd, attr->alt_sample_period,
				     attr->alt_sample_jitter);
		hwc->last_period = length | PERF_PERIOD_WINDOW;
	} else {
		u64 jitter = attr->sample_jitter;

		if (attr->freq)
			jitter = min(jitter, hwc->long_period);
		length = perf_jitter(&hwc->rnd, hwc->long_period, jitter);
		hwc->last_period = length;
		/* If way outside a reasonable range, just skip forward. */
		if (hwc->overrun < length)
			length -= hwc->overrun;
		hwc->overrun = 0;
	}

	if (hwc->interval < perf_attr_windows(attr))
		hwc->interval++;
	else
		hwc->interval = 0;

	return length;
}
