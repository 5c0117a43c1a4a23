// SPDX-License-Identifier: GPL-2.0
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#define MAX_INTERVALS 64

__u64 periods[MAX_INTERVALS];
__u32 nr_periods;
/* Drop the samples of intervals of this length */
__u64 dropped_period;

SEC("perf_event")
int handler(struct bpf_perf_event_data *ctx)
{
	__u64 period = ctx->sample_period;
	__u32 i = nr_periods;

	if (i < MAX_INTERVALS)
		periods[i] = period;
	nr_periods = i + 1;
	return period != dropped_period;
}

char _license[] SEC("license") = "GPL";
