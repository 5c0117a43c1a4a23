// SPDX-License-Identifier: GPL-2.0
/*
 * Alternating and jittered sample periods as BPF programs see them: the program
 * runs at the end of each interval, gets its length, and what it drops disturbs
 * no other interval.
 *
 * A program is not told which intervals are windows; PERF_RECORD_MISC_ALT_WINDOW
 * is in the record that is made after it ran. It knows them by their length
 * where the ranges do not overlap, as here.
 *
 * With ALT_PERIOD_EXACT=1 in the environment, a hardware counter has to be exact.
 */
#define _GNU_SOURCE
#include <bpf/libbpf.h>
#include <sys/resource.h>

#include "alt_period.h"
#include "alt_period_bpf.h"
#include "alt_period_bpf.skel.h"
#include "kselftest_harness.h"

#define CYCLES		200	/* long intervals that each test looks at */
#define SECONDS		20	/* the most that one measurement may take */

static volatile uint64_t watched;

static void write_watched(void)
{
	watched++;
}

FIXTURE(bpf)
{
	struct perf_event_attr attr;
	struct alt_period_bpf *skel;
	struct bpf_link *link;
	struct ring ring;
	struct sample *samples;
	size_t nr_samples;
	bool exact;
	int fd;
};

FIXTURE_VARIANT(bpf)
{
	uint32_t type;
	uint64_t config;
	uint64_t period, alt_period;
	void (*work)(void);
};

FIXTURE_VARIANT_ADD(bpf, cycles) {
	.type = PERF_TYPE_HARDWARE,
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.period = 99700,
	.alt_period = 300,
	.work = spin_a_while,
};

FIXTURE_VARIANT_ADD(bpf, page_faults) {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.period = 20,
	.alt_period = 4,
	.work = touch_page,
};

FIXTURE_VARIANT_ADD(bpf, breakpoint) {
	.type = PERF_TYPE_BREAKPOINT,
	.period = 6,
	.alt_period = 31,
	.work = write_watched,
};

static bool is_open(int fd)
{
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

FIXTURE_SETUP(bpf)
{
	struct perf_event_attr *attr = &self->attr;
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	const char *exact = getenv("ALT_PERIOD_EXACT");

	memset(self, 0, sizeof(*self));
	self->fd = -1;
	self->samples = calloc(MAX_INTERVALS, sizeof(*self->samples));
	ASSERT_NE(NULL, self->samples);

	if (!have_alt_period())
		SKIP(return, "the kernel has no alternating sample periods");

	ASSERT_TRUE(map_fresh_page());

	attr->size = sizeof(*attr);
	attr->type = variant->type;
	attr->config = variant->config;
	attr->sample_period = variant->period;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
	attr->read_format = PERF_FORMAT_GROUP;
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	if (variant->type == PERF_TYPE_HARDWARE)
		stay_on_core_pmu(attr);
	if (variant->type == PERF_TYPE_BREAKPOINT) {
		attr->bp_type = HW_BREAKPOINT_W;
		attr->bp_addr = (uintptr_t)&watched;
		attr->bp_len = HW_BREAKPOINT_LEN_8;
	}

	if (!is_open(perf_event_open(attr, 0, -1, -1))) {
		if (errno == ENOENT || errno == ENODEV || errno == EOPNOTSUPP)
			SKIP(return, "no such event: %s", strerror(errno));
		if (errno == EACCES)
			SKIP(return, "not permitted, see /proc/sys/kernel/perf_event_paranoid");
		ASSERT_TRUE(false) TH_LOG("open: %s", strerror(errno));
	}
	attr->alt_sample_period = variant->alt_period;
	if (!is_open(perf_event_open(attr, 0, -1, -1))) {
		if (errno == EOPNOTSUPP && variant->type == PERF_TYPE_HARDWARE)
			SKIP(return, "the PMU does not support alternating sample periods");
		ASSERT_TRUE(false) TH_LOG("open with alt_sample_period: %s", strerror(errno));
	}
	self->exact = variant->type != PERF_TYPE_HARDWARE || (exact && strcmp(exact, "0"));

	libbpf_set_print(NULL);
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_PERF_EVENT, NULL) != 1)
		SKIP(return, "no BPF programs for perf events, or not permitted");
	self->skel = alt_period_bpf__open_and_load();
	ASSERT_NE(NULL, self->skel) TH_LOG("BPF: %s", strerror(errno));
}

FIXTURE_TEARDOWN(bpf)
{
	bpf_link__destroy(self->link);
	alt_period_bpf__destroy(self->skel);
	ring_unmap(&self->ring);
	if (self->fd >= 0)
		close(self->fd);
	free(self->samples);
}

/* Open the event, attach the program, and let it see @nr intervals. */
static void run(struct __test_metadata *_metadata, FIXTURE_DATA(bpf) *self,
		void (*work)(void), size_t nr)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .dont_enable = true);
	volatile typeof(self->skel->bss->nr_seen) *nr_seen = &self->skel->bss->nr_seen;
	time_t end = time(NULL) + SECONDS;

	self->fd = perf_event_open(&self->attr, 0, -1, -1);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ring_map(&self->ring, self->fd));
	self->link = bpf_program__attach_perf_event_opts(self->skel->progs.note_interval,
							 self->fd, &opts);
	ASSERT_NE(NULL, self->link) TH_LOG("attach: %s", strerror(errno));

	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	while (*nr_seen < nr && time(NULL) <= end) {
		for (int i = 0; i < 10; i++)
			work();
	}
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));

	ASSERT_LE(nr, *nr_seen);
	ASSERT_GE(MAX_INTERVALS, *nr_seen);
	ASSERT_EQ(0, self->skel->bss->nr_failed) TH_LOG("bpf_perf_prog_read_value()");
	self->nr_samples = ring_read(&self->ring, self->samples, MAX_INTERVALS, true);
	ASSERT_EQ(0, self->ring.nr_lost);
}

static bool is_window(const struct perf_event_attr *attr, size_t i)
{
	return i % (1 + (attr->alt_sample_count ?: 1)) != 0;
}

/*
 * The program saw every interval, in order and with its length, and the ring
 * has a sample with that length and the right flag for each that it let pass.
 */
static void check(struct __test_metadata *_metadata, FIXTURE_DATA(bpf) *self)
{
	const struct perf_event_attr *attr = &self->attr;
	typeof(*self->skel->bss) *bss = self->skel->bss;
	typeof(*self->skel->data) *data = self->skel->data;
	size_t passed = 0, windows = 0;
	uint64_t before = 0;

	for (size_t i = 0; i < bss->nr_seen; i++) {
		const struct interval *seen = &bss->seen[i];
		const struct sample *s = &self->samples[passed];
		bool window = is_window(attr, i);

		ASSERT_LE(interval_min(attr, window), seen->period) TH_LOG("interval %zu", i);
		ASSERT_GE(interval_max(attr, window), seen->period) TH_LOG("interval %zu", i);
		if (self->exact) {
			ASSERT_EQ(seen->period, seen->count - before)
				TH_LOG("interval %zu: count", i);
		}
		before = seen->count;
		windows += window;

		if (seen->period >= data->drop_from && seen->period <= bss->drop_to)
			continue;
		if (bss->drop_every && i % bss->drop_every == bss->drop_every - 1)
			continue;
		ASSERT_LT(passed, self->nr_samples) TH_LOG("interval %zu: no sample", i);
		ASSERT_EQ(window, s->window) TH_LOG("interval %zu: flag", i);
		ASSERT_EQ(seen->period, s->period) TH_LOG("interval %zu: label", i);
		if (self->exact) {
			ASSERT_EQ(seen->count, s->count[0]) TH_LOG("interval %zu", i);
		}
		passed++;
	}
	ASSERT_EQ(passed, self->nr_samples);
	ksft_print_msg("%u intervals, %zu of them windows, %zu samples\n",
		       bss->nr_seen, windows, passed);
}

TEST_F(bpf, alternates)
{
	run(_metadata, self, variant->work, 2 * CYCLES);
	check(_metadata, self);
}

TEST_F(bpf, bursts)
{
	self->attr.alt_sample_count = 4;
	run(_metadata, self, variant->work, 5 * CYCLES);
	check(_metadata, self);
}

TEST_F(bpf, jitter)
{
	size_t longs = 0, differ = 0;

	self->attr.sample_jitter = variant->period / 3;
	self->attr.alt_sample_jitter = variant->alt_period / 2;
	run(_metadata, self, variant->work, 2 * CYCLES);
	check(_metadata, self);
	for (size_t i = 2; i < 2 * CYCLES; i += 2, longs++) {
		const struct interval *seen = &self->skel->bss->seen[i];

		differ += seen[0].period != seen[-2].period;
	}
	EXPECT_LT(longs / 3, differ);
}

/* It drops all windows, all long intervals, every second or third sample. */

TEST_F(bpf, drop_windows)
{
	self->attr.alt_sample_count = 2;
	self->skel->data->drop_from = variant->alt_period;
	self->skel->bss->drop_to = variant->alt_period;
	run(_metadata, self, variant->work, 3 * CYCLES);
	check(_metadata, self);
}

TEST_F(bpf, drop_long_intervals)
{
	self->skel->data->drop_from = variant->period;
	self->skel->bss->drop_to = variant->period;
	run(_metadata, self, variant->work, 2 * CYCLES);
	check(_metadata, self);
}

TEST_F(bpf, drop_every_second)
{
	self->attr.alt_sample_count = 4;
	self->skel->bss->drop_every = 2;
	run(_metadata, self, variant->work, 5 * CYCLES);
	check(_metadata, self);
}

TEST_F(bpf, drop_every_third)
{
	self->skel->bss->drop_every = 3;
	run(_metadata, self, variant->work, 2 * CYCLES);
	check(_metadata, self);
}

TEST_F(bpf, drop_all)
{
	self->skel->bss->drop_every = 1;
	run(_metadata, self, variant->work, 2 * CYCLES);
	check(_metadata, self);
	EXPECT_EQ(0, self->nr_samples);
}

TEST_HARNESS_MAIN
