/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of the fuzzer:
 *
 *   alt_period_fuzz.c		the operations and the loop
 *   alt_period_fuzz_attr.c	random attrs, and the rules of the periods
 *   alt_period_fuzz_model.c	what samples and errors must look like
 */
#ifndef ALT_PERIOD_FUZZ_H
#define ALT_PERIOD_FUZZ_H

#include <pthread.h>
#include <signal.h>

#include "alt_period.h"
#include "kselftest.h"

#define MAX_EVENTS	48
#define MAX_HELPERS	4	/* children, and threads as well */
#define NR_PROGS	3
#define NR_PAGES	16	/* that can be touched */
#define MAX_PMUS	8	/* core PMUs */
#define HISTORY		32768
#define MAX_LENGTHS	6
#define MAX_COMPLAINTS	20

#define CLOCK_SANE	300000	/* ns, the shortest one that any machine keeps up with */
#define HW_MIN		256	/* the highest minimum that a hardware PMU may have */

enum kind {
	PAGE_FAULTS, BREAKPOINT, TRACEPOINT, CPU_CYCLES, INSTRUCTIONS, CPU_CLOCK,
	TASK_CLOCK, SWITCHES, OTHER, NR_KINDS
};

/* One of several core PMUs */
struct core_pmu {
	char name[64];
	__u32 type;
	__u64 cycles, instructions;	/* its own codes of these events */
	__u64 opened, samples;		/* of events that ask for this PMU */
};

/* An event, as needed when its samples are read, which may be after its end. */
struct history {
	__u64 id;
	enum kind kind;
	struct core_pmu *pmu;		/* that it asks for, or NULL */
	struct perf_event_attr attr;	/* as opened */
	bool freq, alternating;
	__u64 alt_min, alt_max;
	__u32 jitter, count;
	__u64 lengths[MAX_LENGTHS];	/* every sample_period that it had */
	unsigned int nr_lengths;	/* more than MAX_LENGTHS: anything goes */
	bool in_sequence;		/* the sequence can be checked at all */
	__s64 next;			/* interval: 0 is the long one, -1 unknown */
	__u64 epoch;			/* ...and it is unknown in another epoch */
	bool restarts;			/* samples read now are not in sequence */
};

struct event {
	int fd;			/* -1: free */
	__u64 id;
	enum kind kind;
	struct perf_event_attr attr;
	pid_t pid;
	int cpu;
	struct ring ring;
	bool readable;		/* own, written forward and not over unread records */
	bool redirected;	/* to the ring of another event, which a mapping shows */
};

struct thread {
	pthread_t thread;
	bool used;
	pid_t tid;		/* written by the thread */
	__u64 random;
};

struct fuzz {
	/* Options */
	__u64 seed, operations;
	bool plain, disruptive;
	int verbose;

	/* The machine */
	long page_size;
	int nr_cpus;
	struct core_pmu pmus[MAX_PMUS];
	unsigned int nr_pmus;		/* 0 if there is only one */
	int tracepoint;			/* its ID, or -1 */
	int progs[NR_PROGS];		/* BPF programs */
	char *pages;
	volatile __u64 watched[4];	/* by breakpoints */

	__u64 operation;		/* number of the current one */
	__u64 random;			/* state of its random numbers */
	struct event events[MAX_EVENTS];
	pid_t children[MAX_HELPERS];
	struct thread threads[MAX_HELPERS];
	volatile sig_atomic_t traps;

	/* The model */
	struct history *histories;
	__u64 last_id;
	__u64 epoch;			/* see new_sequences() */
	bool out_of_sequence;
	unsigned long complaints;

	/* For the report */
	struct {
		__u64 tried, opened, longs, windows;
	} stats[NR_KINDS];
	struct {
		__u64 mapped, lost, throttled, evicted, in_sequence, traps, refused;
		__u64 periods, forks, threads, hotplugs;
	} totals;
};

extern struct fuzz fuzz;
extern const char * const kind_names[NR_KINDS];

/* Random numbers: splitmix64. */

static inline __u64 next_random(__u64 *s)
{
	__u64 z = (*s += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static inline __u64 random_u64(void)
{
	return next_random(&fuzz.random);
}

static inline __u64 below(__u64 limit)
{
	return random_u64() % limit;
}

static inline __u64 between(__u64 first, __u64 last)
{
	return first + below(last - first + 1);
}

static inline bool one_in(__u64 n)
{
	return below(n) == 0;
}

static inline bool alternates(const struct perf_event_attr *attr)
{
	return attr->alt_sample_period || attr->sample_jitter;
}

static inline bool has_fields(const struct perf_event_attr *attr)
{
	return alternates(attr) || attr->alt_sample_jitter || attr->alt_sample_count;
}

static inline bool is_clock(enum kind kind)
{
	return kind == CPU_CLOCK || kind == TASK_CLOCK;
}

/* alt_period_fuzz_attr.c */
void find_core_pmus(void);
struct core_pmu *core_pmu_of(const struct perf_event_attr *attr);
struct perf_event_attr effective(const struct perf_event_attr *attr);
bool is_hardware(const struct perf_event_attr *attr);
__u64 tolerated_min(const struct perf_event_attr *attr);
bool breaks_rules(const struct perf_event_attr *attr);
__u64 shortest(const struct perf_event_attr *attr);
bool is_storm(const struct perf_event_attr *attr, enum kind kind);
const char *show(const struct perf_event_attr *attr);
__u64 edge(__u64 near);
void fill_periods(struct perf_event_attr *attr, enum kind kind);
void break_period(struct perf_event_attr *attr);
enum kind fill_attr(struct perf_event_attr *attr, bool broken);

/* alt_period_fuzz_model.c */
__printf(1, 2) void complain(const char *format, ...);
void add_length(struct history *h, __u64 length);
void add_history(struct event *e);
void drain(struct event *e);
void new_sequence(struct event *e);
void new_sequences(void);
void check_open(const struct perf_event_attr *attr, int fd, int twin);

#endif /* ALT_PERIOD_FUZZ_H */
