/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by alt_period_bpf.c and its BPF program.
 */
#ifndef ALT_PERIOD_BPF_H
#define ALT_PERIOD_BPF_H

#include <linux/types.h>

#define MAX_INTERVALS	2048

struct interval {
	__u64 period;	/* bpf_perf_event_data::sample_period */
	__u64 count;	/* of the event, bpf_perf_prog_read_value() */
};

#endif /* ALT_PERIOD_BPF_H */
