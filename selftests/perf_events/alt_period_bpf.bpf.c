// SPDX-License-Identifier: GPL-2.0
/*
 * Note what a program on an event with alternating periods gets to see, and
 * drop some of its samples. Plain UAPI types, so that no BTF is needed.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "alt_period_bpf.h"

struct interval seen[MAX_INTERVALS];
__u32 nr_seen;
__u32 nr_failed;

/* Samples to be dropped: those with such a period, and every so many. */
__u64 drop_from = 1, drop_to;
__u32 drop_every;

SEC("perf_event")
int note_interval(struct bpf_perf_event_data *ctx)
{
	struct bpf_perf_event_value value = {};
	__u64 period = ctx->sample_period;
	__u32 i = nr_seen;

	if (bpf_perf_prog_read_value(ctx, &value, sizeof(value)))
		nr_failed++;

	nr_seen = i + 1;
	if (i < MAX_INTERVALS) {
		seen[i].period = period;
		seen[i].count = value.counter;
	}

	if (period >= drop_from && period <= drop_to)
		return 0;
	return !drop_every || i % drop_every != drop_every - 1;
}

char LICENSE[] SEC("license") = "GPL";
