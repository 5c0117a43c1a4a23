// SPDX-License-Identifier: GPL-2.0
/*
 * Sampling events whose intervals differ in length
 *
 * The state, hw_perf_event::alt, is written in this file only, and on the CPU where the
 * event is active: by its interrupt, which can be an NMI, and, with its counter stopped,
 * by the tick, by IPIs and when it is scheduled. So there is no lock.
 */
#include <linux/kernel_stat.h>
#include <linux/perf_event.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "period.h"

/* Return the number of windows in a round. */
static u32 perf_attr_windows(const struct perf_event_attr *attr)
{
	return attr->alt_sample_period ? attr->alt_sample_count ?: 1 : 0;
}

/* Test whether an event of @attr may have @period, without the limits of its PMU. */
bool perf_attr_period_valid(const struct perf_event_attr *attr, u64 period)
{
	if (!attr->alt_sample_period &&
	    (attr->alt_sample_jitter || attr->alt_sample_count))
		return false;

	if (!has_alt_period(attr))
		return true;

	if (attr->alt_sample_period &&
	    attr->alt_sample_period <= attr->alt_sample_jitter / 2)
		return false;

	/* At a frequency jitter is cut to what the period allows. */
	if (attr->freq)
		return period;

	return period > attr->sample_jitter / 2 &&
	       period <= S64_MAX - attr->sample_jitter;
}

/* Return what the windows leave of a round; they are not cut if they fill it. */
u64 perf_attr_long_period(const struct perf_event_attr *attr, u64 round)
{
	u64 windows = (u64)attr->alt_sample_period * perf_attr_windows(attr);

	return round > windows ? round - windows : 1;
}

/* Test whether the samples of @freq rounds a second keep to the limit of the machine. */
bool perf_attr_freq_valid(const struct perf_event_attr *attr, u64 freq)
{
	return freq <= sysctl_perf_event_sample_rate / (1 + perf_attr_windows(attr));
}

/* Return what an alternating event has counted since the last call. */
u64 perf_event_round_count(struct perf_event *event)
{
	struct perf_alt_period *alt = event->hw.alt;
	u64 now = local64_read(&event->count);
	s64 count = now - alt->freq_count;

	alt->freq_count = now;

	/* PERF_EVENT_IOC_RESET makes it negative. */
	return max(count, 0);
}

/* Check @period of any event with the limits of its PMU: those are for all intervals. */
int perf_event_check_period(struct perf_event *event, u64 period)
{
	const struct perf_event_attr *attr = &event->attr;

	if (has_alt_period(attr)) {
		u64 window = attr->alt_sample_period ?: S64_MAX;

		if (!perf_attr_period_valid(attr, period))
			return -EINVAL;
		window -= attr->alt_sample_jitter / 2;
		/* The long intervals of a frequency are not known. */
		period = attr->freq ? window : min(period - attr->sample_jitter / 2, window);
	}

	return event->pmu->check_period(event, period);
}

/* Called after pmu::event_init. */
int perf_event_init_period(struct perf_event *event)
{
	struct perf_event_attr *attr = &event->attr;
	struct perf_alt_period *alt;

	if (!has_alt_period(attr))
		return 0;

	/* A short interval that counts the kernel can end in the handler, and be lost. */
	if (!(event->pmu->capabilities & PERF_PMU_CAP_ALT_PERIOD) || attr->aux_output ||
	    (attr->alt_sample_period && !attr->exclude_kernel))
		return -EOPNOTSUPP;

	if (perf_event_check_period(event, attr->sample_period))
		return -EINVAL;

	/* Where the event is: both are used in each interrupt. */
	alt = kzalloc_node(sizeof(*alt), GFP_KERNEL,
			   event->cpu >= 0 ? cpu_to_node(event->cpu) : NUMA_NO_NODE);
	if (!alt)
		return -ENOMEM;

	prandom_seed_state(&alt->rnd, get_random_u64());
	event->hw.alt = alt;
	/* The first interval is drawn when the event starts. */
	local64_set(&event->hw.period_left, 0);

	return 0;
}

/* Note that the interval that runs is interrupted. */
void perf_event_split_interval(struct perf_event *event)
{
	if (event->hw.alt)
		event->hw.alt->split = true;
}

static u64 perf_event_switches(void)
{
	return nr_context_switches_cpu(raw_smp_processor_id());
}

/*
 * Return the label of the interval that ends, see PERF_RECORD_MISC_ALT_SPLIT. The
 * scheduler counts a switch before it switches, so that the task tells as well.
 */
static u16 perf_event_interval_misc(struct perf_event *event)
{
	struct perf_alt_period *alt = event->hw.alt;

	if (!alt->misc)
		return 0;

	if (alt->split || (!(event->attach_state & PERF_ATTACH_TASK) &&
			   (alt->task != current ||
			    alt->switches != perf_event_switches())))
		return alt->misc | PERF_RECORD_MISC_ALT_SPLIT;

	return alt->misc;
}

/*
 * Draw one of the jitter + 1 lengths around @period. The get_random_*() family
 * takes locks, and this may be an NMI.
 */
static u64 perf_jitter(struct rnd_state *rnd, u64 period, u64 jitter)
{
	if (!jitter)
		return period;

	return period - jitter / 2 +
	       ((prandom_u32_state(rnd) * (jitter + 1)) >> 32);
}

/*
 * The part of perf_event_next_interval() for alternating events: begin the next interval,
 * and return the number of events to program the counter for.
 *
 * What was counted past the end of the last one, mostly interrupt latency, can be more
 * than a window, whose counts would mean nothing if it were shortened. So that begins now
 * and lasts its whole length, and the next long interval pays.
 */
s64 __perf_event_next_interval(struct perf_event *event, s64 left)
{
	struct perf_alt_period *alt = event->hw.alt;
	struct perf_event_attr *attr = &event->attr;
	struct hw_perf_event *hwc = &event->hw;
	u64 jitter = attr->sample_jitter;
	u64 length;

	alt->overrun -= left;
	alt->last_misc = perf_event_interval_misc(event);
	alt->split = false;
	alt->task = current;
	alt->switches = perf_event_switches();

	/* A window begins at a sample: a stopped event has none. */
	if (hwc->state & PERF_HES_UPTODATE)
		alt->next = 0;

	if (alt->next) {
		length = perf_jitter(&alt->rnd, attr->alt_sample_period,
				     attr->alt_sample_jitter);
		hwc->last_period = length;
		alt->misc = PERF_RECORD_MISC_ALT_WINDOW;
	} else {
		if (attr->freq)
			jitter = min(jitter, hwc->sample_period);
		length = perf_jitter(&alt->rnd, hwc->sample_period, jitter);
		hwc->last_period = length;
		alt->misc = 0;
		/* If way outside a reasonable range, just skip forward. */
		if (alt->overrun < length)
			length -= alt->overrun;
		alt->overrun = 0;
	}

	alt->next = alt->next < perf_attr_windows(attr) ? alt->next + 1 : 0;

	return length;
}
