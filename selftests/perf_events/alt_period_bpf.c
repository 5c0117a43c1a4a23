// SPDX-License-Identifier: GPL-2.0
/*
 * Alternating and jittered sample periods as BPF programs see them: the program
 * runs at the end of each interval, gets its length, and the samples that it drops
 * disturb no other interval.
 *
 * A program cannot ask which intervals are windows: PERF_RECORD_MISC_ALT_WINDOW is
 * set in the record, which is written after the program ran. The length tells
 * where the ranges of both do not overlap, as here.
 *
 * With ALT_PERIOD_EXACT=yes in the environment, hardware counters have to be exact.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__ /* Use ll64 */

#include "alt_period.h"
#include "alt_period_bpf.h"
#include "kselftest_harness.h"

#define ROUNDS		200	/* that each test looks at */
#define SECONDS		20	/* limit of one measurement */
#define MAX_INTERVALS	2048
#define LONG_PERIOD		99700
#define ALT_PERIOD	300

/* The value of the map that the program shares with the test. */
struct shared {
	/* Set by the test: drop samples of these lengths, and every so many */
	__u64 drop_from, drop_to;
	__u64 drop_every;
	/* Set by the program */
	__u64 nr_failed;
	__u64 nr_seen;
	struct interval {
		__u64 period;	/* bpf_perf_event_data::sample_period */
		__u64 count;	/* of the event, bpf_perf_prog_read_value() */
	} seen[MAX_INTERVALS];
};

/* Offsets that the program uses. */
#define CTX_PERIOD	offsetof(struct bpf_perf_event_data, sample_period)
#define SHARED(field)	offsetof(struct shared, field)
#define VALUE_SIZE	sizeof(struct bpf_perf_event_value)
#define VALUE_COUNTER	offsetof(struct bpf_perf_event_value, counter)

/*
 * Loads the program of all tests here:
 *
 *	i = shared->nr_seen;
 *	period = ctx->sample_period;
 *	if (bpf_perf_prog_read_value(ctx, &value, sizeof(value)))
 *		shared->nr_failed++;
 *	if (i < MAX_INTERVALS) {
 *		shared->seen[i].period = period;
 *		shared->seen[i].count = value.counter;
 *	}
 *	shared->nr_seen = ++i;
 *	if (period >= shared->drop_from && period <= shared->drop_to)
 *		return 0;
 *	return !shared->drop_every || i % shared->drop_every;
 */
static int load_program(int map, char *log, size_t log_size)
{
	enum {
		CTX = BPF_REG_6, MAP = BPF_REG_7, PERIOD = BPF_REG_8, I = BPF_REG_9,
	};
	const struct bpf_insn insns[] = {
		BPF_MOV64_REG(CTX, BPF_REG_1),
		BPF_LD_MAP_VALUE(MAP, map, 0),		/* &shared */
		BPF_LDX_MEM(BPF_DW, PERIOD, CTX, CTX_PERIOD),
		BPF_LDX_MEM(BPF_DW, I, MAP, SHARED(nr_seen)),

		/* bpf_perf_prog_read_value() to the stack */
		BPF_MOV64_REG(BPF_REG_1, CTX),
		BPF_MOV64_REG(BPF_REG_2, BPF_REG_10),
		BPF_ALU64_IMM(BPF_ADD, BPF_REG_2, -(int)VALUE_SIZE),
		BPF_MOV64_IMM(BPF_REG_3, VALUE_SIZE),
		BPF_EMIT_CALL(BPF_FUNC_perf_prog_read_value),
		BPF_JMP_IMM(BPF_JEQ, BPF_REG_0, 0, 3),
		BPF_LDX_MEM(BPF_DW, BPF_REG_1, MAP, SHARED(nr_failed)),
		BPF_ALU64_IMM(BPF_ADD, BPF_REG_1, 1),
		BPF_STX_MEM(BPF_DW, MAP, BPF_REG_1, SHARED(nr_failed)),

		/* r1 = MAP + I * sizeof(struct interval) */
		BPF_JMP_IMM(BPF_JGE, I, MAX_INTERVALS, 6),
		BPF_MOV64_REG(BPF_REG_1, I),
		BPF_ALU64_IMM(BPF_MUL, BPF_REG_1, sizeof(struct interval)),
		BPF_ALU64_REG(BPF_ADD, BPF_REG_1, MAP),
		BPF_STX_MEM(BPF_DW, BPF_REG_1, PERIOD, SHARED(seen[0].period)),
		BPF_LDX_MEM(BPF_DW, BPF_REG_2, BPF_REG_10,
			    (int)VALUE_COUNTER - (int)VALUE_SIZE),
		BPF_STX_MEM(BPF_DW, BPF_REG_1, BPF_REG_2, SHARED(seen[0].count)),

		BPF_ALU64_IMM(BPF_ADD, I, 1),
		BPF_STX_MEM(BPF_DW, MAP, I, SHARED(nr_seen)),

		/* Drop the sample for its length */
		BPF_LDX_MEM(BPF_DW, BPF_REG_1, MAP, SHARED(drop_from)),
		BPF_JMP_REG(BPF_JLT, PERIOD, BPF_REG_1, 2),
		BPF_LDX_MEM(BPF_DW, BPF_REG_1, MAP, SHARED(drop_to)),
		BPF_JMP_REG(BPF_JLE, PERIOD, BPF_REG_1, 6),	/* to "drop" */

		/* Drop the sample for its number */
		BPF_LDX_MEM(BPF_DW, BPF_REG_1, MAP, SHARED(drop_every)),
		BPF_JMP_IMM(BPF_JEQ, BPF_REG_1, 0, 2),		/* to "keep" */
		BPF_ALU64_REG(BPF_MOD, I, BPF_REG_1),
		BPF_JMP_IMM(BPF_JEQ, I, 0, 2),			/* to "drop" */

		/* keep: */
		BPF_MOV64_IMM(BPF_REG_0, 1),
		BPF_EXIT_INSN(),
		/* drop: */
		BPF_MOV64_IMM(BPF_REG_0, 0),
		BPF_EXIT_INSN(),
	};

	return bpf_load_perf_prog(insns, ARRAY_SIZE(insns), log, log_size);
}

/* Loads a program that does nothing: returns false if bpf(2) is refused. */
static bool have_bpf(void)
{
	const struct bpf_insn insns[] = {
		BPF_MOV64_IMM(BPF_REG_0, 1),
		BPF_EXIT_INSN(),
	};
	int fd = bpf_load_perf_prog(insns, ARRAY_SIZE(insns), NULL, 0);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

FIXTURE(bpf)
{
	struct perf_event_attr attr;
	struct shared *shared;
	struct ring ring;
	struct sample *samples;
	size_t nr_samples;
	bool exact;
	int fd, map, prog;
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
	static char log[16384];

	memset(self, 0, sizeof(*self));
	self->fd = -1;
	self->map = -1;
	self->prog = -1;
	self->exact = machine_is_exact();

	if (!have_alt_period())
		SKIP(return, "the kernel has no alternating sample periods");
	if (!have_bpf()) {
		/* The verifier's refusal of a program that does nothing. */
		ASSERT_NE(EACCES, errno);
		SKIP(return, "no BPF programs for perf events: %s", strerror(errno));
	}

	attr->size = sizeof(*attr);
	attr->type = PERF_TYPE_HARDWARE;
	attr->config = PERF_COUNT_HW_CPU_CYCLES;
	attr->sample_period = LONG_PERIOD;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
	attr->read_format = PERF_FORMAT_GROUP;
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	stay_on_core_pmu(attr);

	if (!is_open(perf_event_open(attr, 0, -1, -1))) {
		if (why_missing(errno))
			SKIP(return, "%s", why_missing(errno));
		ASSERT_TRUE(false) TH_LOG("open: %s", strerror(errno));
	}
	attr->alt_sample_period = ALT_PERIOD;
	if (!is_open(perf_event_open(attr, 0, -1, -1))) {
		if (errno == EOPNOTSUPP)
			SKIP(return, "the PMU does not support alternating sample periods");
		ASSERT_TRUE(false) TH_LOG("open with alt_sample_period: %s", strerror(errno));
	}

	self->samples = calloc(MAX_INTERVALS, sizeof(*self->samples));
	ASSERT_NE(NULL, self->samples);
	self->map = bpf_create_value(sizeof(*self->shared));
	ASSERT_LE(0, self->map) TH_LOG("BPF map: %s", strerror(errno));
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED, self->map, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	self->shared->drop_from = 1;
	self->prog = load_program(self->map, log, sizeof(log));
	ASSERT_LE(0, self->prog) TH_LOG("BPF program: %s\n%s", strerror(errno), log);
}

FIXTURE_TEARDOWN(bpf)
{
	ring_unmap(&self->ring);
	if (self->fd >= 0)
		close(self->fd);
	if (self->prog >= 0)
		close(self->prog);
	if (self->map >= 0)
		close(self->map);
	free(self->samples);
}

/* Opens the event, attaches the program, and lets it see @nr intervals. */
static void run(struct __test_metadata *_metadata, FIXTURE_DATA(bpf) *self, size_t nr)
{
	const __u64 *nr_seen = &self->shared->nr_seen;
	time_t end = time(NULL) + SECONDS;

	self->fd = perf_event_open(&self->attr, 0, -1, -1);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ring_map(&self->ring, self->fd));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_SET_BPF, self->prog))
		TH_LOG("attach: %s", strerror(errno));

	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	while (__atomic_load_n(nr_seen, __ATOMIC_RELAXED) < nr && time(NULL) <= end) {
		for (int i = 0; i < 10; i++)
			spin_a_while();
	}
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));

	ASSERT_LE(nr, *nr_seen);
	ASSERT_GE(MAX_INTERVALS, *nr_seen);
	ASSERT_EQ(0, self->shared->nr_failed) TH_LOG("bpf_perf_prog_read_value()");
	self->nr_samples = ring_read(&self->ring, self->samples, MAX_INTERVALS,
				     self->attr.sample_type);
	ASSERT_EQ(0, self->ring.nr_lost);
	ASSERT_EQ(0, self->ring.nr_broken);
}

static bool is_window(const struct perf_event_attr *attr, size_t i)
{
	return i % (1 + (attr->alt_sample_count ?: 1)) != 0;
}

static bool is_dropped(const struct shared *shared, size_t i)
{
	__u64 period = shared->seen[i].period;

	if (period >= shared->drop_from && period <= shared->drop_to)
		return true;
	return shared->drop_every && (i + 1) % shared->drop_every == 0;
}

/*
 * Checks that the program saw every interval, in order and with its length, and
 * that the ring has a sample with that length and the right flag for each interval
 * that the program did not drop.
 */
static void check(struct __test_metadata *_metadata, FIXTURE_DATA(bpf) *self)
{
	const struct perf_event_attr *attr = &self->attr;
	const struct shared *shared = self->shared;
	size_t kept = 0, windows = 0;
	__u64 before = 0;

	for (size_t i = 0; i < shared->nr_seen; i++) {
		const struct interval *seen = &shared->seen[i];
		const struct sample *s = &self->samples[kept];
		bool window = is_window(attr, i);

		ASSERT_LE(interval_min(attr, window), seen->period) TH_LOG("interval %zu", i);
		ASSERT_GE(interval_max(attr, window), seen->period) TH_LOG("interval %zu", i);
		if (self->exact) {
			ASSERT_EQ(seen->period, seen->count - before)
				TH_LOG("interval %zu: count", i);
		}
		before = seen->count;
		windows += window;

		if (is_dropped(shared, i))
			continue;
		ASSERT_LT(kept, self->nr_samples) TH_LOG("interval %zu: no sample", i);
		ASSERT_EQ(window, s->window) TH_LOG("interval %zu: flag", i);
		ASSERT_EQ(seen->period, s->period) TH_LOG("interval %zu: label", i);
		if (self->exact) {
			ASSERT_EQ(seen->count, s->count[0]) TH_LOG("interval %zu", i);
		}
		kept++;
	}
	ASSERT_EQ(kept, self->nr_samples);
	ksft_print_msg("%llu intervals, %zu of them windows, %zu samples\n",
		       shared->nr_seen, windows, kept);
}

TEST_F(bpf, alternates)
{
	run(_metadata, self, 2 * ROUNDS);
	check(_metadata, self);
}

TEST_F(bpf, bursts)
{
	self->attr.alt_sample_count = 4;
	run(_metadata, self, 5 * ROUNDS);
	check(_metadata, self);
}

TEST_F(bpf, jitter)
{
	size_t longs = 0, differ = 0;

	self->attr.sample_jitter = LONG_PERIOD / 3;
	self->attr.alt_sample_jitter = ALT_PERIOD / 2;
	run(_metadata, self, 2 * ROUNDS);
	check(_metadata, self);
	for (size_t i = 2; i < 2 * ROUNDS; i += 2, longs++) {
		const struct interval *seen = &self->shared->seen[i];

		differ += seen[0].period != seen[-2].period;
	}
	EXPECT_LT(longs / 3, differ);
}

TEST_F(bpf, drop_windows)
{
	self->attr.alt_sample_count = 2;
	self->shared->drop_from = ALT_PERIOD;
	self->shared->drop_to = ALT_PERIOD;
	run(_metadata, self, 3 * ROUNDS);
	check(_metadata, self);
}

TEST_F(bpf, drop_long_intervals)
{
	self->shared->drop_from = LONG_PERIOD;
	self->shared->drop_to = LONG_PERIOD;
	run(_metadata, self, 2 * ROUNDS);
	check(_metadata, self);
}

TEST_F(bpf, drop_every_second)
{
	self->attr.alt_sample_count = 4;
	self->shared->drop_every = 2;
	run(_metadata, self, 5 * ROUNDS);
	check(_metadata, self);
}

TEST_F(bpf, drop_every_third)
{
	self->shared->drop_every = 3;
	run(_metadata, self, 2 * ROUNDS);
	check(_metadata, self);
}

TEST_F(bpf, drop_all)
{
	self->shared->drop_every = 1;
	run(_metadata, self, 2 * ROUNDS);
	check(_metadata, self);
	EXPECT_EQ(0, self->nr_samples);
}

TEST_HARNESS_MAIN
