// SPDX-License-Identifier: GPL-2.0
/*
 * Sampling events whose intervals differ in length
 *
 * The state of the sequence, hw_perf_event::alt, is written in this file
 * only. The sequence advances where a driver begins an interval, in
 * __perf_event_next_interval(). So it does not depend on whether a sample was
 * filtered or dropped.
 *
 *   next_interval()    interrupt        next_interval(): label, next length
 *   |------ runs ------|-- overrun -----|------ runs ------
 *
 *   next_interval()    stop             start: resume_interval(), next_interval()
 *   |------ runs ------|-- overrun -----|------ a long interval runs ------
 *
 * What is counted past the end, the overrun, makes the next long interval
 * shorter. A driver that stops an event drops its interrupt, and a window
 * begins at a sample: where that is missing, a new round begins. A stop in the
 * middle of an interval, by throttling, leaves the rest for later and the mark
 * @split.
 *
 * All this is written on the CPU where the event is active: by its interrupt, which
 * can be an NMI, and with its counter stopped by the tick (frequency,
 * unthrottling), by IPIs (ioctls), and when it is scheduled in or out. A counter
 * that is stopped has no interrupt, so there is no lock.
 */
#include <linux/kernel_stat.h>
#include <linux/overflow.h>
#include <linux/perf_event.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "period.h"

/**
 * DOC: Converting a driver
 *
 * 1. Begin each interval in perf_event_next_interval(), where the counter is
 *    armed: in pmu::start() with PERF_EF_RELOAD, and in the interrupt handler. It
 *    replaces the lines that compare hw_perf_event::period_left with the period.
 *    Program the counter for what it returns, or for less if the counter is too
 *    narrow: the interval then takes several overflows. Nothing else in the
 *    driver may take hw_perf_event::sample_period for the length of an interval.
 *
 * 2. Overflow handling has an order: read the counter, take
 *    hw_perf_event::last_period for the sample, begin the next interval, and, if
 *    one began, call perf_event_overflow(). That may stop the event, which has to
 *    be in its new interval by then. Keep all counters stopped meanwhile: short
 *    windows that include the kernel would count nothing but the handler.
 *
 * 3. Call perf_event_resume_interval() before the counter of an event that was
 *    stopped is armed, in pmu::start() and elsewhere: its interval may have been
 *    given up, or its interrupt dropped. Where the hardware may have written the
 *    sample by then, and the driver finds it later, drop it. Where the driver has no
 *    sample at the end of an interval, or makes an interval longer, call
 *    perf_event_split_interval().
 *
 * 4. Refuse what does not work. In pmu::event_init(), EOPNOTSUPP for modes in which
 *    the hardware begins an interval by itself; has_alt_period() tells which
 *    events matter. In pmu::check_period(), EINVAL for periods that the driver
 *    would round: a sample must not claim a length that was not armed. Limits of
 *    sample_period elsewhere have to apply to perf_attr_min_period().
 *
 * 5. Set PERF_PMU_CAP_ALT_PERIOD in pmu::capabilities, and run the tests in
 *    tools/testing/selftests/perf_events on a CPU with this PMU. What a driver
 *    does wrong fails in alt_period, alt_period_ctl, alt_period_task,
 *    alt_period_freq or group_throttle. A driver that nobody has run does not set
 *    it. No driver of today is a module: the functions are not exported.
 */

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

	if (!has_alt_period(attr))
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
 * @attr: the attr of an alternating event
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
 * perf_attr_freq_valid - check a frequency
 * @attr: the attr of an event in frequency mode
 * @freq: the frequency of its rounds, in Hz
 *
 * Return: true if the samples of the rounds keep to the limit of the machine,
 * kernel.perf_event_max_sample_rate.
 */
bool perf_attr_freq_valid(const struct perf_event_attr *attr, u64 freq)
{
	u64 samples;

	return !check_mul_overflow(freq, 1ULL + perf_attr_windows(attr), &samples) &&
	       samples <= sysctl_perf_event_sample_rate;
}

/**
 * perf_event_in_window - test whether the interval that runs is a window
 * @event: an event, alternating or not
 *
 * Return: true if it is.
 */
bool perf_event_in_window(struct perf_event *event)
{
	struct perf_alt_period *alt = event->hw.alt;

	return alt && (alt->misc & PERF_RECORD_MISC_ALT_WINDOW);
}

/**
 * perf_event_round_count - count the events since the last call
 * @event: an alternating event in frequency mode
 *
 * The nominal length of a round would not do: jitter and interrupt latency make
 * it differ from the count to which the time belongs.
 *
 * Return: the count, or zero if it is unknown.
 */
u64 perf_event_round_count(struct perf_event *event)
{
	struct perf_alt_period *alt = event->hw.alt;
	u64 now = local64_read(&event->count);
	s64 count = now - alt->freq_count;

	alt->freq_count = now;

	/* PERF_EVENT_IOC_RESET makes it negative. */
	return max(count, 0);
}

/**
 * perf_event_skip_windows - let a long interval follow the current one
 * @event: an alternating event
 *
 * For an interval that ends without a sample: a window begins at a sample.
 */
void perf_event_skip_windows(struct perf_event *event)
{
	event->hw.alt->next = 0;
}

/**
 * perf_event_add_overrun - add to the overrun of an alternating event
 * @event: an alternating event
 * @count: events that the next long interval is to be shortened by
 */
void perf_event_add_overrun(struct perf_event *event, u64 count)
{
	event->hw.alt->overrun += count;
}

/**
 * __perf_event_resume_interval - begin a round if the interval is over
 * @event: an alternating event, its counter stopped
 *
 * The part of perf_event_resume_interval() for alternating events.
 */
void __perf_event_resume_interval(struct perf_event *event)
{
	if (local64_read(&event->hw.period_left) <= 0)
		perf_event_skip_windows(event);
}

/**
 * perf_event_init_period - set up the sequence of an alternating event
 * @event: a new event
 *
 * To be called after pmu::event_init, which may have changed the attr and
 * hwc->sample_period for its own purposes.
 *
 * Return: 0, also for an ordinary event, -EOPNOTSUPP if the PMU cannot vary
 * the period, -EINVAL if an interval is too short for it, or -ENOMEM.
 */
int perf_event_init_period(struct perf_event *event)
{
	struct perf_alt_period *alt;
	struct pmu *pmu = event->pmu;

	if (!has_alt_period(&event->attr))
		return 0;

	if (!(pmu->capabilities & PERF_PMU_CAP_ALT_PERIOD) ||
	    event->attr.aux_output)
		return -EOPNOTSUPP;

	if (pmu->check_period(event, perf_attr_min_period(&event->attr)))
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

/**
 * perf_event_free_period - free the state of an alternating event
 * @event: an event, alternating or not, that is about to be freed
 */
void perf_event_free_period(struct perf_event *event)
{
	kfree(event->hw.alt);
}

/**
 * perf_event_split_interval - note that an interval is interrupted
 * @event: an event, alternating or not, that was throttled, or that counts on
 *	   a CPU and is scheduled out, or whose driver armed more than was left
 *
 * An event that does not run has no interval that could be interrupted.
 */
void perf_event_split_interval(struct perf_event *event)
{
	if (event->hw.alt && event->state == PERF_EVENT_STATE_ACTIVE)
		event->hw.alt->split = true;
}

static u64 perf_event_switches(void)
{
	return nr_context_switches_cpu(raw_smp_processor_id());
}

/*
 * Return the label of the interval that runs, see PERF_RECORD_MISC_ALT_SPLIT. The
 * scheduler counts a switch before it switches, so that the task tells as well.
 */
static u16 perf_event_interval_misc(struct perf_event *event)
{
	struct perf_alt_period *alt = event->hw.alt;

	if (!(alt->misc & PERF_RECORD_MISC_ALT_WINDOW))
		return 0;

	if (alt->split || (!(event->attach_state & PERF_ATTACH_TASK) &&
			   (alt->task != current ||
			    alt->switches != perf_event_switches())))
		return alt->misc | PERF_RECORD_MISC_ALT_SPLIT;

	return alt->misc;
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
 * __perf_event_next_interval - begin the next interval of an alternating event
 * @event: the event, its counter stopped
 * @left: events left of the interval that ended, zero or negative
 *
 * The part of perf_event_next_interval() for alternating events. Runs in NMI
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
	struct perf_alt_period *alt = event->hw.alt;
	struct perf_event_attr *attr = &event->attr;
	struct hw_perf_event *hwc = &event->hw;
	u64 length;

	alt->overrun -= left;
	alt->last_misc = perf_event_interval_misc(event);
	alt->split = false;
	alt->task = current;
	alt->switches = perf_event_switches();

	if (alt->next) {
		length = perf_jitter(&alt->rnd, attr->alt_sample_period,
				     attr->alt_sample_jitter);
		hwc->last_period = length;
		alt->misc = PERF_RECORD_MISC_ALT_WINDOW;
	} else {
		u64 jitter = attr->sample_jitter;

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

	if (alt->next < perf_attr_windows(attr))
		alt->next++;
	else
		alt->next = 0;

	return length;
}
