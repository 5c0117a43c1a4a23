// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <test_progs.h>
#include "test_perf_alt_period.skel.h"

#define LONG_PERIOD	99700
#define ALT_PERIOD	300
#define MIN_INTERVALS	20

/* Programs run at the end of each interval, whatever they do with the sample */
static void check_intervals(__u64 dropped_period)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = LONG_PERIOD,
		.alt_sample_period = ALT_PERIOD,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	struct test_perf_alt_period *skel;
	struct bpf_link *link;
	int fd;

	skel = test_perf_alt_period__open_and_load();
	if (!ASSERT_OK_PTR(skel, "skel_load"))
		return;
	skel->bss->dropped_period = dropped_period;

	fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == EOPNOTSUPP)) {
		test__skip();
		goto cleanup;
	}
	if (!ASSERT_GE(fd, 0, "perf_event_open"))
		goto cleanup;
	link = bpf_program__attach_perf_event(skel->progs.handler, fd);
	if (!ASSERT_OK_PTR(link, "attach_perf_event")) {
		close(fd);
		goto cleanup;
	}
	for (int i = 0; i < 2 * MIN_INTERVALS * LONG_PERIOD; i++)
		asm volatile("");
	bpf_link__destroy(link);

	ASSERT_GE(skel->bss->nr_periods, MIN_INTERVALS, "nr_periods");
	for (int i = 0; i < MIN_INTERVALS; i++) {
		if (!ASSERT_EQ(skel->bss->periods[i],
			       i % 2 ? ALT_PERIOD : LONG_PERIOD, "period"))
			break;
	}
cleanup:
	test_perf_alt_period__destroy(skel);
}

void test_perf_alt_period(void)
{
	if (test__start_subtest("all_samples"))
		check_intervals(0);
	if (test__start_subtest("no_samples_of_windows"))
		check_intervals(ALT_PERIOD);
	if (test__start_subtest("no_samples_of_long_intervals"))
		check_intervals(LONG_PERIOD);
}
