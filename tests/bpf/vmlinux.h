/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs of selftests/bpf that run here need of the header with all types. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
