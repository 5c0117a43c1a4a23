// SPDX-License-Identifier: GPL-2.0
/*
 * Random operations on events with alternating sample periods, valid and not,
 * while they count. That the kernel survives is one thing, the others are:
 *
 *  - an open or PERF_EVENT_IOC_PERIOD that breaks the rules of the periods fails
 *    with the right error, and one that obeys them does what the same request
 *    without alternating periods does;
 *  - PERF_EVENT_IOC_MODIFY_ATTRIBUTES changes none of them;
 *  - each sample belongs to an event that was opened, has a label that its event
 *    can have, and is marked as window if and only if it is one;
 *  - long intervals and windows come in their sequence, as long as nothing that
 *    may lose samples happened.
 *
 * The operation with number N depends on the seed and N alone, so a run can be
 * repeated as far as time and interrupts repeat.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "alt_period.h"
#include "kselftest.h"

#define MAX_EVENTS	48
#define MAX_HELPERS	4	/* children, and threads as well */
#define MAX_CPUS	64
#define NR_PAGES	16	/* that can be touched */
#define HISTORY		32768
#define MAX_LENGTHS	6
#define MAX_COMPLAINTS	20

#define CLOCK_MIN	10000	/* ns, the shortest period of a clock that varies */
#define CLOCK_SANE	300000	/* ...and the shortest that any machine keeps up with */
#define HW_MIN		256	/* what a hardware PMU may demand at most */

#ifndef PERF_ATTR_SIZE_VER10
#error "the kernel headers are too old, run 'make headers' first"
#endif

enum kind {
	PAGE_FAULTS, BREAKPOINT, TRACEPOINT, CYCLES, INSTRUCTIONS, CPU_CLOCK,
	TASK_CLOCK, SWITCHES, OTHER, NR_KINDS
};

static const char * const kind_names[NR_KINDS] = {
	"page-faults", "breakpoint", "tracepoint", "cycles", "instructions",
	"cpu-clock", "task-clock", "context-switches", "other",
};

static struct {
	uint64_t tried, opened, longs, windows;
} stats[NR_KINDS];

static struct {
	uint64_t mapped, lost, throttled, evicted, in_sequence, traps, refused, periods;
	uint64_t forks, threads, hotplugs;
} totals;

/* What is known of an event when its samples are read, maybe after its end. */
struct history {
	uint64_t id;
	enum kind kind;
	uint64_t sample_type;
	bool freq, alternating;
	uint64_t alt_min, alt_max;
	uint32_t jitter, count;
	uint64_t lengths[MAX_LENGTHS];	/* every sample_period that it had */
	unsigned int nr_lengths;	/* more than MAX_LENGTHS: anything goes */
	bool in_sequence;		/* can the sequence be checked at all? */
	bool excludes;			/* may an interval end without a sample? */
	int64_t next;			/* interval: 0 is the long one, -1 unknown */
	uint64_t epoch;			/* ...and it is unknown in another epoch */
	bool restarts;			/* what is read now is not in sequence */
};

struct event {
	int fd;			/* -1: free */
	uint64_t id;
	enum kind kind;
	struct perf_event_attr attr;
	pid_t pid;
	int cpu;
	char *ring;
	size_t ring_size;
	bool readable;		/* our own, written forward and not over what is unread */
	bool redirected;	/* to the ring of another event, which a mapping shows */
	uint64_t tail;
};

static struct event events[MAX_EVENTS];
static struct history *histories;
static uint64_t last_id;

/* See new_sequence() and new_sequences(). */
static uint64_t epoch;
static bool out_of_sequence;

static uint64_t seed, operation, state;
static unsigned long complaints;
static bool plain, disruptive;
static int verbose;

static long page_size;
static char *pages;
static volatile uint64_t watched[4];
static int nr_cpus, tracepoint = -1;
static int progs[3] = { -1, -1, -1 };
static volatile sig_atomic_t traps;

static pid_t children[MAX_HELPERS];
static struct thread {
	pthread_t thread;
	bool used;
	volatile pid_t tid;
	uint64_t state;
} threads[MAX_HELPERS];

static void complain(const char *format, ...)
{
	va_list args;

	if (complaints++ >= MAX_COMPLAINTS)
		return;
	printf("# seed %llu operation %llu: ", (unsigned long long)seed,
	       (unsigned long long)operation);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

/* Random numbers: splitmix64. */

static uint64_t next_random(uint64_t *s)
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint64_t below(uint64_t limit)
{
	return next_random(&state) % limit;
}

static uint64_t between(uint64_t first, uint64_t last)
{
	return first + below(last - first + 1);
}

static bool one_in(uint64_t n)
{
	return below(n) == 0;
}

/* Work that the events count. */

static void work(uint64_t *s)
{
	uint64_t r = next_random(s);
	unsigned int n = 1 + (r >> 8) % 4;
	char *page = pages + (r >> 16) % NR_PAGES * page_size;

	switch (r % 16) {
	case 0 ... 2:
		madvise(page, page_size, MADV_DONTNEED);
		*(volatile char *)page = 1;
		break;
	case 3 ... 7:
		while (n--)
			watched[(r >> 16) % 4]++;
		break;
	case 8 ... 9:
		while (n--)
			syscall(SYS_getppid);
		break;
	case 10:
		sched_yield();
		break;
	default:
		spin(100 * n);
	}
}

/* The attr as the kernel sees it: what is beyond attr.size is zero. */
static struct perf_event_attr effective(const struct perf_event_attr *attr)
{
	struct perf_event_attr seen = {};
	size_t size = attr->size ?: PERF_ATTR_SIZE_VER0;

	memcpy(&seen, attr, size < sizeof(seen) ? size : sizeof(seen));
	return seen;
}

static bool is_varying(const struct perf_event_attr *attr)
{
	return attr->alt_sample_period || attr->sample_jitter;
}

static bool has_fields(const struct perf_event_attr *attr)
{
	return is_varying(attr) || attr->alt_sample_jitter || attr->alt_sample_count;
}

static bool length_valid(uint64_t length, uint32_t jitter)
{
	return length > jitter / 2 && length <= INT64_MAX - (uint64_t)jitter;
}

static bool is_clock(enum kind kind)
{
	return kind == CPU_CLOCK || kind == TASK_CLOCK;
}

static bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT &&
	       attr->type != PERF_TYPE_BREAKPOINT;
}

/* A PMU of this type may refuse to go below that, or else it must not. */
static uint64_t tolerated_min(const struct perf_event_attr *attr)
{
	if (!is_hardware(attr))
		return 0;
	/* By these types, clocks and others can be opened. */
	return attr->type > PERF_TYPE_BREAKPOINT ? CLOCK_MIN : HW_MIN;
}

/* Must any kernel refuse this with EINVAL? See perf_event_attr. */
static bool breaks_rules(const struct perf_event_attr *attr)
{
	if (attr->__reserved_1 || attr->__reserved_2 || attr->__reserved_3 ||
	    attr->__reserved_4)
		return true;
	if (!attr->alt_sample_period && (attr->alt_sample_jitter || attr->alt_sample_count))
		return true;
	if (!is_varying(attr))
		return false;
	if (!attr->sample_period)
		return true;
	if (attr->alt_sample_period &&
	    !length_valid(attr->alt_sample_period, attr->alt_sample_jitter))
		return true;
	/* At a frequency the jitter is cut to what sample_period becomes. */
	return !attr->freq && !length_valid(attr->sample_period, attr->sample_jitter);
}

/* The shortest interval that is asked for. */
static uint64_t shortest(const struct perf_event_attr *attr)
{
	uint64_t period = attr->freq ? INT64_MAX : interval_min(attr, false);
	uint64_t alt = interval_min(attr, true);

	return attr->alt_sample_period && alt < period ? alt : period;
}

/*
 * A clock that fires while its event is excluded is not throttled: on a slow
 * machine some of these leave no time for anything else. Do not let them run.
 */
static bool is_storm(const struct perf_event_attr *attr, enum kind kind)
{
	return is_clock(kind) && attr->sample_period && shortest(attr) < CLOCK_SANE;
}

/* Errors that depend on what else happens on the machine. */
static bool is_transient(int err)
{
	return err == ESRCH || err == ENODEV || err == ENOMEM || err == EMFILE ||
	       err == ENFILE || err == ENOSPC || err == EBUSY || err == EAGAIN ||
	       err == EINTR;
}

static const char *show(const struct perf_event_attr *attr)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "type %u config %llx %s %llu jitter %u alt %llu jitter %u count %u size %u",
		 attr->type, (unsigned long long)attr->config,
		 attr->freq ? "freq" : "period", (unsigned long long)attr->sample_period,
		 attr->sample_jitter, (unsigned long long)attr->alt_sample_period,
		 attr->alt_sample_jitter, attr->alt_sample_count, attr->size);
	return text;
}

/* Attrs. */

static uint64_t edge(uint64_t near)
{
	static const uint64_t edges[] = {
		0, 1, 2, 3, CLOCK_MIN - 1, CLOCK_MIN, 1ULL << 31, 1ULL << 32,
		INT64_MAX - 1, INT64_MAX, 1ULL << 63, UINT64_MAX - 1, UINT64_MAX,
	};

	switch (below(4)) {
	case 0:
		return near + below(5) - 2;
	case 1:
		return INT64_MAX - near + below(5) - 2;
	case 2:
		return next_random(&state) >> below(64);
	}
	return edges[below(ARRAY_SIZE(edges))];
}

static enum kind fill_source(struct perf_event_attr *attr)
{
	static const enum kind kinds[] = {	/* how often each comes */
		PAGE_FAULTS, PAGE_FAULTS, PAGE_FAULTS, PAGE_FAULTS, PAGE_FAULTS,
		BREAKPOINT, BREAKPOINT, BREAKPOINT, TRACEPOINT, TRACEPOINT,
		CYCLES, CYCLES, INSTRUCTIONS, CPU_CLOCK, CPU_CLOCK, TASK_CLOCK,
		TASK_CLOCK, SWITCHES, SWITCHES, OTHER,
	};
	enum kind kind = kinds[below(ARRAY_SIZE(kinds))];

	attr->type = PERF_TYPE_SOFTWARE;
	switch (kind) {
	case PAGE_FAULTS:
		attr->config = one_in(3) ? PERF_COUNT_SW_PAGE_FAULTS_MIN :
					   PERF_COUNT_SW_PAGE_FAULTS;
		break;
	case BREAKPOINT:
		attr->type = PERF_TYPE_BREAKPOINT;
		attr->bp_type = one_in(8) ? below(8) : HW_BREAKPOINT_W;
		attr->bp_len = one_in(8) ? below(10) : HW_BREAKPOINT_LEN_8;
		attr->bp_addr = (uintptr_t)&watched[below(4)];
		if (attr->bp_type == HW_BREAKPOINT_X) {
			attr->bp_addr = (uintptr_t)spin;
			attr->bp_len = sizeof(long);
		}
		break;
	case TRACEPOINT:
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->config = tracepoint;
		break;
	case CYCLES:
	case INSTRUCTIONS:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = kind == CYCLES ? PERF_COUNT_HW_CPU_CYCLES :
						PERF_COUNT_HW_INSTRUCTIONS;
		break;
	case CPU_CLOCK:
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		break;
	case TASK_CLOCK:
		attr->config = PERF_COUNT_SW_TASK_CLOCK;
		break;
	case SWITCHES:
		attr->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
		break;
	default:
		attr->type = one_in(2) ? below(12) : PERF_TYPE_SOFTWARE;
		attr->config = one_in(8) ? next_random(&state) : below(16);
		/* Another name of a clock would need its limits. */
		if (attr->type == PERF_TYPE_SOFTWARE &&
		    attr->config <= PERF_COUNT_SW_TASK_CLOCK)
			attr->config = PERF_COUNT_SW_DUMMY;
		break;
	}
	return kind;
}

/* Lengths that overflow now and then and obey the rules. */
static void fill_periods(struct perf_event_attr *attr, enum kind kind)
{
	uint64_t min = 1;

	switch (kind) {
	case CYCLES:
	case INSTRUCTIONS:
	case OTHER:
		/* Not so often that nothing else gets done. */
		min = 300;
		attr->sample_period = between(100, 3000) * (attr->exclude_kernel ? 1000 : 5000);
		attr->alt_sample_period = between(300, 3000);
		break;
	case CPU_CLOCK:
	case TASK_CLOCK:
		min = CLOCK_SANE;
		attr->sample_period = between(1000, 10000) * 1000;
		attr->alt_sample_period = between(300, 3000) * 1000;
		break;
	default:
		attr->sample_period = between(1, 40);
		attr->alt_sample_period = between(1, 8);
		break;
	}
	if (one_in(4))
		attr->alt_sample_period = 0;
	else if (one_in(2))
		attr->alt_sample_count = below(6);
	if (one_in(2) || !attr->alt_sample_period)
		attr->sample_jitter = below(2 * (attr->sample_period - min) + 2);
	if (one_in(2) && attr->alt_sample_period)
		attr->alt_sample_jitter = below(2 * (attr->alt_sample_period - min) + 2);
}

static void break_period(struct perf_event_attr *attr)
{
	switch (below(6)) {
	case 0:
		attr->sample_period = edge(attr->sample_jitter / 2);
		break;
	case 1:
		attr->alt_sample_period = edge(attr->alt_sample_jitter / 2);
		break;
	case 2:
		attr->sample_jitter = one_in(2) ? 2 * attr->sample_period + below(4) - 2 :
						  edge(0);
		break;
	case 3:
		attr->alt_sample_jitter = one_in(2) ?
			2 * attr->alt_sample_period + below(4) - 2 : edge(0);
		break;
	case 4:
		attr->alt_sample_count = edge(0);
		break;
	case 5:
		attr->freq = 1;
		attr->sample_freq = one_in(4) ? edge(100000) : between(1, 2000);
		break;
	}
}

/* The other fields: most are zero mostly. */
static void fill_rest(struct perf_event_attr *attr)
{
	uint64_t bits = next_random(&state) & next_random(&state) & next_random(&state) &
			next_random(&state) & next_random(&state);

	attr->disabled = one_in(2);
	attr->inherit = one_in(4);
	attr->exclude_hv = one_in(2);
	attr->exclude_user = one_in(32);
	attr->exclude_idle = one_in(16);
	attr->pinned = bits >> 0;
	attr->exclusive = bits >> 1;
	attr->mmap = bits >> 2;
	attr->comm = bits >> 3;
	attr->inherit_stat = bits >> 4;
	attr->enable_on_exec = bits >> 5;
	attr->task = bits >> 6;
	attr->watermark = bits >> 7;
	attr->precise_ip = bits >> 8 & 3;
	attr->mmap_data = bits >> 10;
	attr->sample_id_all = bits >> 11;
	attr->exclude_host = bits >> 12;
	attr->exclude_guest = bits >> 13;
	attr->exclude_callchain_kernel = bits >> 14;
	attr->exclude_callchain_user = bits >> 15;
	attr->mmap2 = bits >> 16;
	attr->comm_exec = bits >> 17;
	attr->use_clockid = bits >> 18;
	attr->context_switch = bits >> 19;
	attr->write_backward = bits >> 20;
	attr->namespaces = bits >> 21;
	attr->ksymbol = bits >> 22;
	attr->bpf_event = bits >> 23;
	attr->aux_output = bits >> 24;
	attr->cgroup = bits >> 25;
	attr->text_poke = bits >> 26;
	attr->build_id = bits >> 27;
	attr->inherit_thread = bits >> 28;
	attr->sigtrap = bits >> 29;
	attr->remove_on_exec = attr->sigtrap || (bits >> 30 & 1);
	attr->defer_callchain = bits >> 31;
	attr->defer_output = bits >> 32;
	attr->clockid = below(12);
	attr->sig_data = next_random(&state);
	attr->wakeup_events = below(4);
	if (one_in(32))
		attr->aux_action = below(8);

	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_PERIOD;
	if (one_in(2))
		attr->sample_type |= below(1 << 10);
	else if (one_in(8))
		attr->sample_type = below(one_in(64) ? UINT64_MAX : PERF_SAMPLE_MAX);
	attr->read_format = one_in(64) ? next_random(&state) : below(PERF_FORMAT_MAX);
	if (one_in(2))
		attr->read_format = 0;
	attr->branch_sample_type = one_in(2) ? PERF_SAMPLE_BRANCH_ANY :
					       below(PERF_SAMPLE_BRANCH_MAX);
	attr->sample_regs_user = next_random(&state) & 0xff;
	attr->sample_regs_intr = next_random(&state) & 0xff;
	attr->sample_stack_user = 8 * below(64);
	if (one_in(16))
		attr->sample_max_stack = below(200);
}

static enum kind fill_attr(struct perf_event_attr *attr, bool broken)
{
	enum kind kind;

	memset(attr, 0, sizeof(*attr));
	attr->exclude_kernel = one_in(2);
	kind = fill_source(attr);
	fill_rest(attr);
	fill_periods(attr, kind);
	attr->size = sizeof(*attr);

	if (plain) {
		attr->size = PERF_ATTR_SIZE_VER9;
		memset(&attr->alt_sample_period, 0,
		       sizeof(*attr) - offsetof(struct perf_event_attr, alt_sample_period));
		return kind;
	}
	if (one_in(16)) {
		attr->alt_sample_period = 0;
		attr->alt_sample_jitter = 0;
		attr->alt_sample_count = 0;
		attr->sample_jitter = 0;
	}
	if (one_in(16)) {
		attr->freq = 1;
		attr->sample_freq = between(1, 2000);
	}
	if (broken) {
		do {
			break_period(attr);
		} while (one_in(2));
		if (one_in(8))
			set_reserved(attr, below(NR_RESERVED), 1U << below(32));
		if (one_in(8))
			attr->size = one_in(2) ? 8 * below(24) : edge(sizeof(*attr));
		/* What is accepted may be a storm of interrupts. */
		attr->disabled |= !one_in(4);
	}
	return kind;
}

/* Events. */

static struct history *find_history(uint64_t id)
{
	struct history *h = &histories[id % HISTORY];

	if (h->id == id)
		return h;
	if (h->id > id)
		totals.evicted++;
	else
		complain("a sample of event %llu, which nobody opened", (unsigned long long)id);
	return NULL;
}

static void add_length(struct history *h, uint64_t length)
{
	if (h->nr_lengths < MAX_LENGTHS)
		h->lengths[h->nr_lengths] = length;
	h->nr_lengths++;
}

static void add_history(struct event *e)
{
	const struct perf_event_attr *attr = &e->attr;
	struct history *h = &histories[e->id % HISTORY];

	memset(h, 0, sizeof(*h));
	h->id = e->id;
	h->kind = e->kind;
	h->sample_type = attr->sample_type;
	h->freq = attr->freq;
	h->alternating = attr->alt_sample_period;
	h->alt_min = attr->alt_sample_period - attr->alt_sample_jitter / 2;
	h->alt_max = h->alt_min + attr->alt_sample_jitter;
	h->jitter = attr->sample_jitter;
	h->count = attr->alt_sample_count ?: 1;
	add_length(h, attr->sample_period);
	/* The tasks that inherit an event have a sequence each. */
	h->in_sequence = h->alternating && !attr->inherit;
	/* Of a clock one may end in an excluded mode; a long one follows. */
	h->excludes = (is_clock(e->kind) || e->kind == OTHER) &&
		      (attr->exclude_kernel || attr->exclude_user || attr->exclude_idle);
	h->next = -1;
}

static void check_sample(struct history *h, const struct perf_event_header *header,
			 uint64_t label, bool labelled)
{
	bool window = header->misc & PERF_RECORD_MISC_ALT_WINDOW;
	bool ok = h->nr_lengths > MAX_LENGTHS;

	if (window)
		stats[h->kind].windows++;
	else
		stats[h->kind].longs++;

	if (window && !h->alternating) {
		complain("%s without windows has one, of %llu", kind_names[h->kind],
			 (unsigned long long)label);
		return;
	}

	if (labelled && window && (label < h->alt_min || label > h->alt_max))
		complain("%s: window of %llu, not of %llu to %llu", kind_names[h->kind],
			 (unsigned long long)label, (unsigned long long)h->alt_min,
			 (unsigned long long)h->alt_max);
	/* Of an ordinary event the label is something else, or not exact. */
	if (labelled && !window && !h->freq && (h->alternating || h->jitter)) {
		for (unsigned int i = 0; i < h->nr_lengths && !ok; i++) {
			uint64_t min = h->lengths[i] - h->jitter / 2;

			ok = label >= min && label <= min + h->jitter;
		}
		if (!ok)
			complain("%s: long interval of %llu, not of %llu jitter %u",
				 kind_names[h->kind], (unsigned long long)label,
				 (unsigned long long)h->lengths[h->nr_lengths - 1], h->jitter);
	}

	if (!h->in_sequence || h->restarts || out_of_sequence)
		return;
	if (h->epoch != epoch) {
		h->epoch = epoch;
		h->next = -1;
	}
	if (h->next < 0) {
		if (!window)
			h->next = 1;
		return;
	}
	if (!window && h->excludes)
		h->next = 0;
	if (window != !!h->next) {
		complain("%s (event %llu): %s instead of interval %lld of 0 to %u",
			 kind_names[h->kind], (unsigned long long)h->id,
			 window ? "window" : "long interval", (long long)h->next, h->count);
		h->next = -1;
		return;
	}
	totals.in_sequence++;
	h->next = h->next < h->count ? h->next + 1 : 0;
}

static void drain(struct event *e)
{
	struct perf_event_mmap_page *page = (void *)e->ring;
	char *data = e->ring + page_size;
	uint64_t head, mask = e->ring_size - 1;

	if (!e->ring || !e->readable)
		return;

	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	while (e->tail < head) {
		struct perf_event_header *header = (void *)(data + (e->tail & mask));
		struct history *h = NULL;
		uint64_t at = e->tail + sizeof(*header);
		uint64_t label = 0;

		if (header->size < sizeof(*header) || header->size % 8 ||
		    header->size > head - e->tail) {
			complain("record of %u bytes in a ring with %llu", header->size,
				 (unsigned long long)(head - e->tail));
			e->tail = head;
			break;
		}
		switch (header->type) {
		case PERF_RECORD_SAMPLE:
			h = find_history(e->attr.sample_type & PERF_SAMPLE_IDENTIFIER ?
					 *(uint64_t *)(data + (at & mask)) : e->id);
			if (!h)
				break;
			if (h->sample_type & PERF_SAMPLE_PERIOD) {
				at += 8 * __builtin_popcountll(h->sample_type &
					(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
					 PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
					 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
				label = *(uint64_t *)(data + (at & mask));
			}
			check_sample(h, header, label, h->sample_type & PERF_SAMPLE_PERIOD);
			break;
		case PERF_RECORD_LOST:
			totals.lost++;
			epoch++;
			break;
		case PERF_RECORD_THROTTLE:
			totals.throttled++;
			break;
		}
		e->tail += header->size;
	}
	__atomic_store_n(&page->data_tail, e->tail, __ATOMIC_RELEASE);
}

static void drain_all(void)
{
	for (int i = 0; i < MAX_EVENTS; i++) {
		if (events[i].fd >= 0)
			drain(&events[i]);
	}
}

/*
 * After something that restarts the sequence of an event or sends its samples to
 * another ring: what is still to be read is not in sequence.
 */
static void new_sequence(struct event *e)
{
	struct history *h = &histories[e->id % HISTORY];

	h->restarts = true;
	drain_all();
	h->restarts = false;
	h->next = -1;
}

/* The same for all events, after something that may lose samples. */
static void new_sequences(void)
{
	out_of_sequence = true;
	drain_all();
	out_of_sequence = false;
	epoch++;
}

static void unmap(struct event *e)
{
	if (!e->ring)
		return;
	drain(e);
	munmap(e->ring, e->ring_size + page_size);
	e->ring = NULL;
	epoch++;
}

static void map(struct event *e)
{
	size_t size = page_size << below(4);
	bool overwrite = one_in(16);
	void *ring;

	if (e->ring)
		return;
	ring = mmap(NULL, page_size + size, overwrite ? PROT_READ : PROT_READ | PROT_WRITE,
		    MAP_SHARED, e->fd, 0);
	if (ring == MAP_FAILED)
		return;
	totals.mapped++;
	new_sequence(e);
	e->ring = ring;
	e->ring_size = size;
	e->readable = !overwrite && !e->attr.write_backward && !e->redirected;
	e->tail = 0;
}

static void close_event(struct event *e)
{
	bool unmap_first = one_in(2);

	if (e->fd < 0)
		return;
	if (unmap_first)
		unmap(e);
	else
		drain(e);
	close(e->fd);
	unmap(e);
	e->fd = -1;
}

static void pick_target(pid_t *pid, int *cpu)
{
	const struct thread *t = &threads[below(MAX_HELPERS)];
	pid_t child = children[below(MAX_HELPERS)];

	*pid = 0;
	*cpu = -1;
	switch (below(32)) {
	case 0 ... 5:
		*cpu = below(nr_cpus);
		break;
	case 6 ... 8:
		*pid = -1;
		*cpu = below(nr_cpus);
		break;
	case 9:
		*pid = one_in(2) ? -1 : 1 << 30;
		*cpu = one_in(2) ? -1 : 1 << 20;
		break;
	case 10 ... 12:
		if (child)
			*pid = child;
		break;
	case 13 ... 15:
		if (t->used && t->tid)
			*pid = t->tid;
		break;
	}
}

/* Can the samples of both be told apart in one ring? */
static bool can_share(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->sample_type & b->sample_type & PERF_SAMPLE_IDENTIFIER;
}

/* Room for an attr of the future. */
union attr_buffer {
	struct perf_event_attr attr;
	char bytes[512];
};

static int sys_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		    unsigned long flags)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group,
			 flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The same without alternating periods. */
static int try_twin(const struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		    unsigned long flags)
{
	union attr_buffer u = { .attr = *attr };
	int fd;

	u.attr.alt_sample_period = 0;
	u.attr.sample_jitter = 0;
	u.attr.alt_sample_jitter = 0;
	u.attr.alt_sample_count = 0;
	u.attr.disabled = 1;
	fd = sys_open(&u.attr, pid, cpu, group, flags);
	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

static void check_open(const struct perf_event_attr *attr, enum kind kind, int fd,
		       int twin)
{
	int err = fd < 0 ? -fd : 0;
	bool too_short = is_varying(attr) && is_clock(kind) && shortest(attr) < CLOCK_MIN;

	if (err == twin || is_transient(err) || is_transient(twin))
		return;
	/* The limit is a sysctl, which the kernel lowers by itself. */
	if (attr->freq && attr->sample_freq > 1 && (err == EINVAL || twin == EINVAL))
		return;
	/* Where it cannot be done, or is too short, the order of checks is free. */
	if (err == EOPNOTSUPP && (attr->aux_output || is_hardware(attr)))
		return;
	if (err == EINVAL &&
	    (too_short || shortest(attr) < tolerated_min(attr)))
		return;
	complain("open: error %d, without alternating periods %d: %s", err, twin, show(attr));
}

static void do_open(struct event *e, bool broken)
{
	union attr_buffer u = {};
	struct perf_event_attr attr;
	struct event *leader = &events[below(MAX_EVENTS)];
	unsigned long flags = 0;
	bool tail = false;
	enum kind kind;
	int fd, cpu, group = -1;
	int expected = 0;
	pid_t pid;

	kind = fill_attr(&u.attr, broken);
	if (broken && one_in(16)) {
		tail = true;
		u.bytes[sizeof(u) - 1 - below(64)] = 1;
		u.attr.size = sizeof(u);
	}
	u.attr.disabled |= is_storm(&u.attr, kind);
	pick_target(&pid, &cpu);
	if (leader->fd >= 0 && one_in(4)) {
		group = leader->fd;
		if (!one_in(8)) {
			pid = leader->pid;
			cpu = leader->cpu;
		}
		if (one_in(8))
			flags |= PERF_FLAG_FD_NO_GROUP;
		if (one_in(8) && can_share(&u.attr, &leader->attr))
			flags |= PERF_FLAG_FD_OUTPUT;
	}

	attr = effective(&u.attr);
	/* What the kernel would read beyond the union is anything. */
	if (attr.size > sizeof(u) && attr.size <= page_size)
		return;
	if (tail || (attr.size && attr.size < PERF_ATTR_SIZE_VER0) || attr.size > page_size)
		expected = E2BIG;
	else if (breaks_rules(&attr))
		expected = EINVAL;

	stats[kind].tried++;
	fd = sys_open(&u.attr, pid, cpu, group, flags);
	if (expected) {
		totals.refused++;
		if (fd != -expected)
			complain("open: %d instead of error %d: %s", fd, expected, show(&attr));
	} else if (!plain && has_fields(&attr)) {
		if (is_clock(kind) && shortest(&attr) < CLOCK_MIN && fd >= 0)
			complain("open: a clock below its minimum: %s", show(&attr));
		/* A group may be full after this one. */
		if (fd < 0 || (group < 0 && one_in(16)))
			check_open(&attr, kind, fd,
				   try_twin(&u.attr, pid, cpu, group, flags));
	}
	if (fd < 0)
		return;

	stats[kind].opened++;
	e->fd = fd;
	e->kind = kind;
	e->attr = attr;
	e->pid = pid;
	e->cpu = cpu;
	e->redirected = flags & PERF_FLAG_FD_OUTPUT;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &e->id) || e->id <= last_id)
		complain("id %llu after %llu", (unsigned long long)e->id,
			 (unsigned long long)last_id);
	last_id = e->id;
	/* It may have counted already, maybe into the ring of its group. */
	add_history(e);
	if (is_storm(&attr, kind))
		close_event(e);
	else if (one_in(2))
		map(e);
}

static void do_period(struct event *e)
{
	struct perf_event_attr attr = e->attr;
	struct history *h = &histories[e->id % HISTORY];
	bool varying = is_varying(&attr);
	uint64_t value;
	int err, expected = 0;

	if (one_in(2)) {
		value = edge(attr.sample_jitter / 2);
	} else if (attr.freq) {
		value = between(1, 2000);
	} else {
		fill_periods(&attr, e->kind);
		value = attr.sample_period;
		attr = e->attr;
	}

	attr.sample_period = value;
	/* Of a clock the kernel has made a period of its frequency. */
	if (is_clock(e->kind))
		attr.freq = 0;
	if (is_storm(&attr, e->kind))
		ioctl(e->fd, PERF_EVENT_IOC_DISABLE, 0);

	/* Whatever is sampled until the ioctl returns may be of either length. */
	if (value && h->id == e->id)
		add_length(h, value);
	err = ioctl(e->fd, PERF_EVENT_IOC_PERIOD, &value) ? errno : 0;
	totals.periods++;

	if (!e->attr.sample_period || !value)
		expected = EINVAL;
	else if (attr.freq)
		expected = value == 1 ? 0 : -1;	/* depends on the sysctl */
	else if (e->attr.freq)
		expected = -1;			/* depends on the jitter that is left */
	else if (value >> 63 || (varying && breaks_rules(&attr)) ||
		 (varying && is_clock(e->kind) && shortest(&attr) < CLOCK_MIN))
		expected = EINVAL;
	else if (shortest(&attr) < tolerated_min(&attr))
		expected = -1;
	if (expected >= 0 ? err != expected : err && err != EINVAL)
		complain("ioctl: period %llu: error %d instead of %d: %s",
			 (unsigned long long)value, err, expected, show(&e->attr));

	if (!err) {
		e->attr.sample_period = value;
		new_sequence(e);
		if (is_storm(&attr, e->kind))
			close_event(e);
	} else if (value && h->id == e->id) {
		/* Nothing can have it. */
		h->nr_lengths--;
	}
}

static void do_modify(struct event *e)
{
	struct perf_event_attr attr = e->attr, seen;
	bool changed;
	int err;

	if (one_in(2)) {
		attr.bp_addr = (uintptr_t)&watched[below(4)];
		attr.disabled = one_in(2);
	} else if (one_in(8)) {
		fill_attr(&attr, one_in(2));
	} else if (!plain) {
		break_period(&attr);
	}
	seen = effective(&attr);
	if (attr.size > sizeof(attr))
		return;
	changed = seen.alt_sample_period != e->attr.alt_sample_period ||
		  seen.alt_sample_jitter != e->attr.alt_sample_jitter ||
		  seen.alt_sample_count != e->attr.alt_sample_count ||
		  seen.sample_jitter != e->attr.sample_jitter ||
		  seen.sample_period != e->attr.sample_period;
	err = ioctl(e->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) ? errno : 0;
	if (!err && (changed || breaks_rules(&seen)))
		complain("ioctl: attributes modified to %s", show(&seen));
	if (err && err != EINVAL && breaks_rules(&seen) &&
	    seen.size >= PERF_ATTR_SIZE_VER0)
		complain("ioctl: error %d of attributes %s", err, show(&seen));
}

static void do_output(struct event *e)
{
	struct event *to = &events[below(MAX_EVENTS)];
	int fd = -1;

	if (to->fd >= 0 && can_share(&e->attr, &to->attr) && !one_in(4))
		fd = to->fd;
	if (!ioctl(e->fd, PERF_EVENT_IOC_SET_OUTPUT, fd))
		e->redirected = fd >= 0;
	new_sequence(e);
}

static void do_bpf(struct event *e)
{
	if (!ioctl(e->fd, PERF_EVENT_IOC_SET_BPF, progs[below(ARRAY_SIZE(progs))]) &&
	    histories[e->id % HISTORY].id == e->id)
		histories[e->id % HISTORY].in_sequence = false;
}

/* The rest of the system. */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0 && errno == EBADF)
		complain("%s", path);
	close(fd);
}

static void do_hotplug(bool online)
{
	char path[64];

	if (nr_cpus < 2)
		return;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 (int)between(1, nr_cpus - 1));
	write_file(path, online ? "1" : "0");
	totals.hotplugs++;
}

static void all_cpus_online(void)
{
	for (int cpu = 1; cpu < nr_cpus; cpu++) {
		char path[64];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
		write_file(path, "1");
	}
}

static void set_rate(const char *rate)
{
	write_file("/proc/sys/kernel/perf_event_max_sample_rate", rate);
}

static void do_affinity(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < nr_cpus; i++)
		CPU_SET(i, &set);
	if (!one_in(4)) {
		CPU_ZERO(&set);
		CPU_SET(below(nr_cpus), &set);
	}
	sched_setaffinity(0, sizeof(set), &set);
}

static void reap(pid_t *child)
{
	if (*child)
		waitpid(*child, NULL, 0);
	*child = 0;
}

static void do_fork(pid_t *child)
{
	unsigned int steps = below(64);
	bool exec = one_in(8);

	reap(child);
	fflush(stdout);
	*child = fork();
	if (*child < 0)
		*child = 0;
	if (*child) {
		totals.forks++;
		return;
	}
	while (steps--)
		work(&state);
	if (exec)
		execl("/proc/self/exe", "alt_period_fuzz", "-x", NULL);
	_exit(0);
}

static void *run_thread(void *arg)
{
	struct thread *t = arg;

	t->tid = syscall(SYS_gettid);
	for (unsigned int steps = next_random(&t->state) % 128; steps; steps--)
		work(&t->state);
	return NULL;
}

static void join(struct thread *t)
{
	if (!t->used)
		return;
	pthread_join(t->thread, NULL);
	t->used = false;
	t->tid = 0;
}

static void do_thread(struct thread *t)
{
	join(t);
	t->state = next_random(&state);
	t->used = !pthread_create(&t->thread, NULL, run_thread, t);
	totals.threads += t->used;
}

/*
 * A synchronous signal for each sample. Where it comes before the access that a
 * breakpoint is for, the access is never done: after a while, let go.
 */
static void on_trap(int sig)
{
	(void)sig;
	if (++traps < 32)
		return;
	for (int i = 0; i < MAX_EVENTS; i++) {
		if (events[i].fd >= 0 && events[i].attr.sigtrap)
			ioctl(events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

static int load_prog(int32_t imm)
{
	struct bpf_insn insns[] = {
		/* r0 = ctx->sample_period */
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 0, .src_reg = 1,
		  .off = offsetof(struct bpf_perf_event_data, sample_period) },
		/* r0 &= imm: all, none, those of an odd length */
		{ .code = BPF_ALU64 | BPF_AND | BPF_K, .imm = imm },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (uintptr_t)insns,
		.insn_cnt = ARRAY_SIZE(insns),
		.license = (uintptr_t)"GPL",
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static void step(void)
{
	static char buffer[4096];
	static struct event scratch = { .fd = -1 };
	struct event *e = &events[below(MAX_EVENTS)];
	unsigned int r = below(100000);

	if (r < 50000) {
		work(&state);
		return;
	}
	if (r < 53000) {
		if (e->fd >= 0)
			e = &scratch;
		do_open(e, true);
		close_event(&scratch);
		return;
	}
	if (r < 53200) {
		do_affinity();
		return;
	}
	if (r < 53220) {
		do_fork(&children[below(MAX_HELPERS)]);
		return;
	}
	if (r < 53240) {
		reap(&children[below(MAX_HELPERS)]);
		return;
	}
	if (r < 53260) {
		do_thread(&threads[below(MAX_HELPERS)]);
		return;
	}
	if (r < 53280) {
		join(&threads[below(MAX_HELPERS)]);
		return;
	}
	if (r < 53290) {
		prctl(one_in(2) ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE);
		return;
	}
	if (r < 53292) {
		if (disruptive)
			do_hotplug(!one_in(3));
		return;
	}
	if (r < 53310) {
		if (disruptive)
			set_rate(!one_in(4) ? "100000" : one_in(2) ? "1" : "3000");
		return;
	}

	/* The rest is for an event that is open. */
	if (e->fd < 0) {
		do_open(e, false);
		return;
	}
	if (r < 54300)
		close_event(e);
	else if (r < 69000)
		drain(e);
	else if (r < 77000)
		ioctl(e->fd, PERF_EVENT_IOC_ENABLE, below(2));
	else if (r < 81000)
		ioctl(e->fd, PERF_EVENT_IOC_DISABLE, below(2));
	else if (r < 88000)
		do_period(e);
	else if (r < 94000)
		(void)!read(e->fd, buffer, below(sizeof(buffer)));
	else if (r < 95500)
		ioctl(e->fd, PERF_EVENT_IOC_REFRESH, below(8));
	else if (r < 96500)
		ioctl(e->fd, PERF_EVENT_IOC_RESET, below(2));
	else if (r < 97500)
		do_modify(e);
	else if (r < 98200)
		map(e);
	else if (r < 98500)
		unmap(e);
	else if (r < 99000)
		do_output(e);
	else if (r < 99200) {
		ioctl(e->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, below(2));
		new_sequences();
	} else if (r < 99500)
		do_bpf(e);
	else if (r < 99900)
		ioctl(e->fd, PERF_EVENT_IOC_SET_FILTER, one_in(2) ? "common_pid > 0" : "0");
	else
		fcntl(e->fd, F_SETFL, one_in(2) ? O_ASYNC : O_NONBLOCK);
}

/*
 * The first event of a kind and the last one make the kernel patch its code or
 * register a tracepoint. Hold one of each that is never enabled, for speed.
 */
static void hold_events(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE_VER9,
		.sample_period = 1ULL << 40,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_callchain_kernel = 1,
	};

	for (attr.config = 0; attr.config < PERF_COUNT_SW_MAX; attr.config++)
		perf_event_open(&attr, 0, -1, -1);
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = tracepoint;
	if (tracepoint >= 0)
		perf_event_open(&attr, 0, -1, -1);
}

static void usage(const char *name)
{
	fprintf(stderr,
		"usage: %s [-dpv] [-n OPERATIONS] [-s SEED]\n"
		"  -d  disrupt the machine: CPU hotplug, sysctls\n"
		"  -p  plain: no alternating periods, for other kernels\n"
		"  -v  print progress, twice: every operation\n", name);
	exit(KSFT_FAIL);
}

int main(int argc, char **argv)
{
	uint64_t operations = 100000, tried = 0, opened = 0, samples = 0;
	struct timespec begin, end;
	double seconds;
	int opt;

	clock_gettime(CLOCK_REALTIME, &begin);
	seed = (begin.tv_sec * 1000000000ULL + begin.tv_nsec) % 1000000007;
	while ((opt = getopt(argc, argv, "dn:ps:vx")) != -1) {
		switch (opt) {
		case 'd':
			disruptive = true;
			break;
		case 'n':
			operations = strtoull(optarg, NULL, 0);
			break;
		case 'p':
			plain = true;
			break;
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'v':
			verbose++;
			break;
		case 'x':	/* exec'd by a child */
			return 0;
		default:
			usage(argv[0]);
		}
	}

	ksft_print_header();
	if (!plain && !have_alt_period())
		ksft_exit_skip("the kernel has no alternating sample periods\n");
	ksft_set_plan(1);
	ksft_print_msg("seed %llu, %llu operations\n", (unsigned long long)seed,
		       (unsigned long long)operations);

	page_size = sysconf(_SC_PAGE_SIZE);
	nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (nr_cpus > MAX_CPUS)
		nr_cpus = MAX_CPUS;
	histories = calloc(HISTORY, sizeof(*histories));
	pages = mmap(NULL, NR_PAGES * page_size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!histories || pages == MAP_FAILED)
		ksft_exit_fail_msg("no memory\n");
	for (int i = 0; i < MAX_EVENTS; i++)
		events[i].fd = -1;
	tracepoint = read_number("/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id");
	progs[0] = load_prog(-1);
	progs[1] = load_prog(0);
	progs[2] = load_prog(1);
	signal(SIGTRAP, on_trap);
	signal(SIGIO, SIG_IGN);
	hold_events();

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (operation = 0; operation < operations; operation++) {
		totals.traps += traps;
		traps = 0;
		state = seed + operation * 0xd1342543de82ef95;
		next_random(&state);
		if (verbose > 1 || (verbose && operation % 100000 == 0)) {
			ksft_print_msg("operation %llu\n", (unsigned long long)operation);
			fflush(stdout);
		}
		step();
		if (complaints >= MAX_COMPLAINTS)
			break;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);

	for (int i = 0; i < MAX_HELPERS; i++) {
		reap(&children[i]);
		join(&threads[i]);
	}
	for (int i = 0; i < MAX_EVENTS; i++)
		close_event(&events[i]);
	if (disruptive) {
		all_cpus_online();
		set_rate("100000");
	}

	for (int i = 0; i < NR_KINDS; i++) {
		ksft_print_msg("%-16s %llu of %llu opens, %llu long and %llu window samples\n",
			       kind_names[i], (unsigned long long)stats[i].opened,
			       (unsigned long long)stats[i].tried,
			       (unsigned long long)stats[i].longs,
			       (unsigned long long)stats[i].windows);
		tried += stats[i].tried;
		opened += stats[i].opened;
		samples += stats[i].longs + stats[i].windows;
	}
	ksft_print_msg("%llu opens against the rules, %llu changes of periods, %llu rings\n",
		       (unsigned long long)totals.refused, (unsigned long long)totals.periods,
		       (unsigned long long)totals.mapped);
	ksft_print_msg("%llu samples in sequence, %llu lost records, %llu throttled, %llu traps\n",
		       (unsigned long long)totals.in_sequence, (unsigned long long)totals.lost,
		       (unsigned long long)totals.throttled, (unsigned long long)totals.traps);
	ksft_print_msg("%llu forks, %llu threads, %llu hotplugs, %llu samples of long ago\n",
		       (unsigned long long)totals.forks, (unsigned long long)totals.threads,
		       (unsigned long long)totals.hotplugs, (unsigned long long)totals.evicted);
	seconds = end.tv_sec - begin.tv_sec + (end.tv_nsec - begin.tv_nsec) / 1e9;
	ksft_print_msg("seed %llu: %llu operations in %.1f s, %llu of %llu opens, %llu samples\n",
		       (unsigned long long)seed, (unsigned long long)operation, seconds,
		       (unsigned long long)opened, (unsigned long long)tried,
		       (unsigned long long)samples);
	if (!opened || !samples)
		ksft_print_msg("nothing was tested\n");
	ksft_test_result(!complaints && opened && samples, "%lu complaints\n", complaints);
	ksft_finished();
}
