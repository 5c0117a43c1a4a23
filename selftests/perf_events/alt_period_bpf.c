// SPDX-License-Identifier: GPL-2.0
/*
 * Alternating and jittered sample periods as BPF programs see them: the program
 * runs at the end of each interval, gets its length, and the samples that it drops
 * disturb no other interval.
 *
 * A program cannot ask which intervals are windows: PERF_RECORD_MISC_ALT_WINDOW is
 * set in the record, which is written after the program ran. The length tells
 * where the ranges of both do not overlap, as here.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__ /* Use ll64 */

#include "alt_period_event.h"
#include "alt_period_bpf.h"

#define LONG_PERIOD	99700
#define MAX_INTERVALS	2048

/* The value of the map that the program shares with the test. */
struct shared {
	__u64 nr;
	struct interval {
		__u64 drop;	/* set by the test: drop its sample */
		__u64 period;	/* bpf_perf_event_data::sample_period */
		struct bpf_perf_event_value value;
	} intervals[MAX_INTERVALS + 1];	/* the last one is for all that follow */
};

#define SHARED(field)	offsetof(struct shared, field)

/*
 * Loads the program of all tests here:
 *
 *	interval = &shared->intervals[min(shared->nr, MAX_INTERVALS)];
 *	shared->nr++;
 *	interval->period = ctx->sample_period;
 *	bpf_perf_prog_read_value(ctx, &interval->value, sizeof(interval->value));
 *	return !interval->drop;
 */
static int load_program(int map, char *log, size_t log_size)
{
	enum {
		CTX = BPF_REG_6, MAP = BPF_REG_7, INTERVAL = BPF_REG_8,
	};
	const struct bpf_insn insns[] = {
		BPF_MOV64_REG(CTX, BPF_REG_1),
		BPF_LD_MAP_VALUE(MAP, map, 0),		/* &shared */
		BPF_LDX_MEM(BPF_DW, INTERVAL, MAP, SHARED(nr)),
		BPF_MOV64_REG(BPF_REG_1, INTERVAL),
		BPF_ALU64_IMM(BPF_ADD, BPF_REG_1, 1),
		BPF_STX_MEM(BPF_DW, MAP, BPF_REG_1, SHARED(nr)),

		BPF_JMP_IMM(BPF_JLE, INTERVAL, MAX_INTERVALS, 1),
		BPF_MOV64_IMM(INTERVAL, MAX_INTERVALS),
		BPF_ALU64_IMM(BPF_MUL, INTERVAL, sizeof(struct interval)),
		BPF_ALU64_REG(BPF_ADD, INTERVAL, MAP),

		BPF_LDX_MEM(BPF_DW, BPF_REG_1, CTX,
			    offsetof(struct bpf_perf_event_data, sample_period)),
		BPF_STX_MEM(BPF_DW, INTERVAL, BPF_REG_1, SHARED(intervals[0].period)),
		BPF_MOV64_REG(BPF_REG_1, CTX),
		BPF_MOV64_REG(BPF_REG_2, INTERVAL),
		BPF_ALU64_IMM(BPF_ADD, BPF_REG_2, SHARED(intervals[0].value)),
		BPF_MOV64_IMM(BPF_REG_3, sizeof(struct bpf_perf_event_value)),
		BPF_EMIT_CALL(BPF_FUNC_perf_prog_read_value),

		BPF_LDX_MEM(BPF_DW, BPF_REG_0, INTERVAL, SHARED(intervals[0].drop)),
		BPF_ALU64_IMM(BPF_XOR, BPF_REG_0, 1),
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

struct bpf_case {
	const char *name;
	unsigned int windows;		/* in a round */
	unsigned int drop_every;	/* sample of these */
	bool drop_windows, drop_long_intervals, jitter;
};

static const struct bpf_case cases[] = {
	{ "alternates", .windows = 1 },
	{ "bursts", .windows = 4 },
	{ "jitter", .windows = 1, .jitter = true },
	{ "drop windows", .windows = 2, .drop_windows = true },
	{ "drop long intervals", .windows = 1, .drop_long_intervals = true },
	{ "drop every second", .windows = 4, .drop_every = 2 },
	{ "drop every third", .windows = 1, .drop_every = 3 },
	{ "drop all", .windows = 1, .drop_every = 1 },
};

/* Opens the event, attaches the program, and lets it see @nr intervals. */
static void run(struct __test_metadata *_metadata, struct event *event, int prog,
		const struct shared *shared, size_t nr)
{
	time_t end = time(NULL) + SECONDS;

	ASSERT_EQ(0, event_open(event));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_SET_BPF, prog))
		TH_LOG("attach: %s", strerror(errno));
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0));
	while (__atomic_load_n(&shared->nr, __ATOMIC_RELAXED) < nr && time(NULL) <= end) {
		for (int i = 0; i < 10; i++)
			spin_a_while();
	}
	ASSERT_EQ(0, ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0));
	ASSERT_LE(nr, shared->nr);
	ASSERT_GE(MAX_INTERVALS, shared->nr);
	collect(event);
	ASSERT_EQ(0, event->ring.nr_lost);
	ASSERT_EQ(0, event->ring.nr_broken);
	event_close(event);
}

/*
 * Checks that the program saw every interval, in order and with its length, and that the
 * ring has a sample with that length and the right flag for each one that it did not drop.
 */
static void check(struct __test_metadata *_metadata, const struct event *event,
		  const struct bpf_case *c, const struct shared *shared)
{
	size_t round = 1 + c->windows, kept = 0, differ = 0;
	const struct interval *seen = shared->intervals;
	__u64 before = 0;

	for (size_t i = 0; i < shared->nr; i++) {
		const struct sample *s = &event->samples[kept];
		bool window = i % round;

		ASSERT_LE(interval_min(&event->attr, window), seen[i].period)
			TH_LOG("%s: interval %zu", c->name, i);
		ASSERT_GE(interval_max(&event->attr, window), seen[i].period)
			TH_LOG("%s: interval %zu", c->name, i);
		ASSERT_NE(0, seen[i].value.running) TH_LOG("bpf_perf_prog_read_value()");
		if (event->exact)
			ASSERT_EQ(seen[i].period, seen[i].value.counter - before)
				TH_LOG("%s: interval %zu: count", c->name, i);
		before = seen[i].value.counter;
		differ += i >= round && !window && seen[i].period != seen[i - round].period;

		if (seen[i].drop)
			continue;
		ASSERT_LT(kept, event->nr_samples) TH_LOG("%s: interval %zu", c->name, i);
		ASSERT_EQ(window, s->window) TH_LOG("%s: interval %zu: flag", c->name, i);
		ASSERT_EQ(seen[i].period, s->period) TH_LOG("%s: interval %zu: label", c->name, i);
		if (event->exact)
			ASSERT_EQ(before, s->count[0]) TH_LOG("%s: interval %zu", c->name, i);
		kept++;
	}
	ASSERT_EQ(kept, event->nr_samples);
	if (c->jitter)
		EXPECT_LT(ROUNDS / 3, differ);
	ksft_print_msg("%s: %llu intervals, %zu samples\n", c->name, shared->nr, kept);
}

TEST_F_TIMEOUT(hw, bpf, 120)
{
	struct event *event = &self->event;
	struct perf_event_attr *attr = &event->attr;
	static char log[16384];
	struct shared *shared;
	int map, prog;

	if (!use_windows(_metadata, event))
		return;
	if (!have_bpf()) {
		/* The verifier's refusal of a program that does nothing. */
		ASSERT_NE(EACCES, errno);
		SKIP(return, "no BPF programs for perf events: %s", strerror(errno));
	}
	map = bpf_create_value(sizeof(*shared));
	ASSERT_LE(0, map) TH_LOG("BPF map: %s", strerror(errno));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
	ASSERT_NE(MAP_FAILED, shared);
	prog = load_program(map, log, sizeof(log));
	ASSERT_LE(0, prog) TH_LOG("BPF program: %s\n%s", strerror(errno), log);

	for (const struct bpf_case *c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		size_t round = 1 + c->windows;

		attr->sample_period = LONG_PERIOD;
		attr->alt_sample_count = c->windows;
		attr->sample_jitter = c->jitter ? LONG_PERIOD / 3 : 0;
		attr->alt_sample_jitter = c->jitter ? WINDOW / 2 : 0;
		memset(shared, 0, sizeof(*shared));
		for (size_t i = 0; i < MAX_INTERVALS; i++) {
			shared->intervals[i].drop =
				(i % round ? c->drop_windows : c->drop_long_intervals) ||
				(c->drop_every && (i + 1) % c->drop_every == 0);
		}
		run(_metadata, event, prog, shared, round * ROUNDS);
		check(_metadata, event, c, shared);
	}
}

TEST_HARNESS_MAIN
