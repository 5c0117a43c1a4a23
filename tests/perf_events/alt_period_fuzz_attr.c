// SPDX-License-Identifier: GPL-2.0
/*
 * The attrs of the fuzzer, and the rules of their periods.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__ /* Use ll64 */
#include <linux/hw_breakpoint.h>
#include <stddef.h>

#include "alt_period_fuzz.h"

#define NR_RESERVED	7	/* fields that are reserved for later */

/* Returns the code of the first of the events @names that the PMU in @path has, or 0. */
static __u64 event_code(const char *path, const char *const names[2])
{
	long long code = 0;

	for (int i = 0; i < 2 && !code; i++) {
		char file_name[512];
		FILE *file;

		snprintf(file_name, sizeof(file_name), "%s/events/%s", path, names[i]);
		file = fopen(file_name, "r");
		if (!file)
			continue;
		if (fscanf(file, "event=%lli", &code) != 1)
			code = 0;
		fclose(file);
	}
	return code;
}

/* Finds the core PMUs, if there are several of them: these have a file "cpus". */
void find_core_pmus(void)
{
	static const char *const cycles[] = { "cpu-cycles", "cpu_cycles" };
	static const char *const instructions[] = { "instructions", "inst_retired" };
	glob_t files;

	if (glob("/sys/bus/event_source/devices/*/cpus", 0, NULL, &files))
		return;
	for (size_t i = 0; i < files.gl_pathc && files.gl_pathc > 1 && i < MAX_PMUS; i++) {
		struct core_pmu *pmu = &fuzz.pmus[fuzz.nr_pmus++];
		char *path = files.gl_pathv[i];

		strcpy(strrchr(path, '/'), "/type");	/* no longer than /cpus */
		pmu->type = read_number(path);
		*strrchr(path, '/') = '\0';
		snprintf(pmu->name, sizeof(pmu->name), "%.63s", strrchr(path, '/') + 1);
		pmu->cycles = event_code(path, cycles);
		pmu->instructions = event_code(path, instructions);
	}
	globfree(&files);
}

/* Returns the one of several core PMUs that @attr asks for, or NULL. */
struct core_pmu *core_pmu_of(const struct perf_event_attr *attr)
{
	__u32 type = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ?
		     attr->config >> 32 : attr->type;

	for (unsigned int i = 0; i < fuzz.nr_pmus; i++) {
		if (fuzz.pmus[i].type == type)
			return &fuzz.pmus[i];
	}
	return NULL;
}

/* Returns the attr that the kernel sees: zero beyond attr.size. */
struct perf_event_attr effective(const struct perf_event_attr *attr)
{
	struct perf_event_attr seen = {};
	size_t size = attr->size ?: PERF_ATTR_SIZE_VER0;

	memcpy(&seen, attr, size < sizeof(seen) ? size : sizeof(seen));
	return seen;
}

static bool length_valid(__u64 length, __u32 jitter)
{
	return length > jitter / 2 && length <= INT64_MAX - (__u64)jitter;
}

bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT &&
	       attr->type != PERF_TYPE_BREAKPOINT;
}

/*
 * Returns the length below which a PMU of this type may refuse an interval; above it,
 * the PMU must not.
 */
__u64 tolerated_min(const struct perf_event_attr *attr)
{
	return is_hardware(attr) ? HW_MIN : 0;
}

/*
 * Returns true if every kernel must refuse this attr with EINVAL, see struct
 * perf_event_attr. The table in alt_period_abi.c has the same rules one by one, each
 * in a few words.
 */
bool breaks_rules(const struct perf_event_attr *attr)
{
	if (attr->__reserved_1 || attr->__reserved_2 || attr->__reserved_3 || attr->__reserved_7)
		return true;
	for (size_t i = offsetof(struct perf_event_attr, __reserved_4);
	     i < offsetof(struct perf_event_attr, alt_sample_period); i++) {
		if (((const char *)attr)[i])
			return true;
	}
	if (!attr->alt_sample_period && (attr->alt_sample_jitter || attr->alt_sample_count))
		return true;
	if (!alternates(attr))
		return false;
	if (!attr->sample_period)
		return true;
	if (attr->alt_sample_period &&
	    !length_valid(attr->alt_sample_period, attr->alt_sample_jitter))
		return true;
	/* At a frequency, the kernel limits the jitter to the period that it chooses. */
	return !attr->freq && !length_valid(attr->sample_period, attr->sample_jitter);
}

/* Returns the shortest interval that an event may have. */
__u64 shortest(const struct perf_event_attr *attr)
{
	__u64 period = attr->freq ? INT64_MAX : interval_min(attr, false);
	__u64 alt = interval_min(attr, true);

	return attr->alt_sample_period && alt < period ? alt : period;
}

/*
 * A clock that fires while its event is excluded is not throttled: on a slow machine
 * some of these leave no time for anything else. They must not run.
 */
bool is_storm(const struct perf_event_attr *attr, enum kind kind)
{
	return is_clock(kind) && attr->sample_period && shortest(attr) < CLOCK_SANE;
}

/* Describes an attr for a complaint. */
const char *show(const struct perf_event_attr *attr)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "type %u config %llx precise %u %s %llu jitter %u alt %u jitter %u count %u size %u",
		 attr->type, attr->config, attr->precise_ip,
		 attr->freq ? "freq" : "period", attr->sample_period,
		 attr->sample_jitter, attr->alt_sample_period,
		 attr->alt_sample_jitter, attr->alt_sample_count, attr->size);
	return text;
}

static void set_reserved(struct perf_event_attr *attr, unsigned int field, __u32 value)
{
	switch (field) {
	case 0:
		attr->__reserved_1 = value;
		break;
	case 1:
		attr->__reserved_2 = value;
		break;
	case 2:
		attr->__reserved_3 = value;
		break;
	case 3:
		attr->__reserved_4[below(4)] = value;
		break;
	case 4:
		attr->__reserved_5[below(2)] = value;
		break;
	case 5:
		attr->__reserved_6[below(2)] = value;
		break;
	case 6:
		attr->__reserved_7 = value;
		break;
	}
}

/* Returns a value at a limit of some rule, or close to @near, or anything. */
__u64 edge(__u64 near)
{
	static const __u64 edges[] = {
		0, 1, 2, 3, 1ULL << 31, 1ULL << 32,
		INT64_MAX - 1, INT64_MAX, 1ULL << 63, UINT64_MAX - 1, UINT64_MAX,
	};

	switch (below(4)) {
	case 0:
		return near + below(5) - 2;
	case 1:
		return INT64_MAX - near + below(5) - 2;
	case 2:
		return random_u64() >> below(64);
	}
	return edges[below(ARRAY_SIZE(edges))];
}

/* Asks for one of several core PMUs, in each of the ways to do so, or for none. */
static void choose_pmu(struct perf_event_attr *attr, enum kind kind)
{
	const struct core_pmu *pmu;

	if (!fuzz.nr_pmus)
		return;
	pmu = &fuzz.pmus[below(fuzz.nr_pmus)];
	switch (below(8)) {
	case 0 ... 2:
		attr->config = PERF_HW_CONFIG(pmu->type, attr->config);
		break;
	case 3 ... 5:
		attr->type = pmu->type;
		attr->config = kind == CPU_CYCLES ? pmu->cycles : pmu->instructions;
		break;
	case 6:
		/* It is of another PMU, or of none. */
		attr->config = PERF_HW_CONFIG(below(32), attr->config);
		break;
	}
}

/* Chooses what to count. */
static enum kind fill_source(struct perf_event_attr *attr)
{
	static const enum kind kinds[] = {	/* how often each comes */
		PAGE_FAULTS, PAGE_FAULTS, PAGE_FAULTS,
		BREAKPOINT, TRACEPOINT, CPU_CYCLES, CPU_CYCLES, CPU_CYCLES, CPU_CYCLES,
		INSTRUCTIONS, INSTRUCTIONS, INSTRUCTIONS, INSTRUCTIONS, CPU_CLOCK, TASK_CLOCK,
		SWITCHES, OTHER,
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
		attr->bp_addr = (uintptr_t)&fuzz.watched[below(4)];
		if (attr->bp_type == HW_BREAKPOINT_X) {
			attr->bp_addr = (uintptr_t)spin;
			attr->bp_len = sizeof(long);
		}
		break;
	case TRACEPOINT:
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->config = fuzz.tracepoint;
		break;
	case CPU_CYCLES:
	case INSTRUCTIONS:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = kind == CPU_CYCLES ? PERF_COUNT_HW_CPU_CYCLES :
						PERF_COUNT_HW_INSTRUCTIONS;
		choose_pmu(attr, kind);
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
		attr->config = one_in(8) ? random_u64() : below(16);
		/* The limits of a clock hold for any name of it. */
		if (attr->type == PERF_TYPE_SOFTWARE &&
		    attr->config <= PERF_COUNT_SW_TASK_CLOCK)
			attr->config = PERF_COUNT_SW_DUMMY;
		break;
	}
	return kind;
}

/* Chooses lengths that overflow now and then and obey the rules. */
void fill_periods(struct perf_event_attr *attr, enum kind kind)
{
	__u64 min = 1;

	switch (kind) {
	case CPU_CYCLES:
	case INSTRUCTIONS:
	case OTHER:
		/* Leave time for other work. */
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
	/* These refuse windows and jitter. */
	if (!is_hardware(attr) && !one_in(8)) {
		attr->alt_sample_period = 0;
		return;
	}
	if (one_in(4))
		attr->alt_sample_period = 0;
	else if (one_in(2))
		attr->alt_sample_count = below(6);
	/* Windows that count the kernel are refused. */
	if (attr->alt_sample_period && !one_in(8))
		attr->exclude_kernel = 1;
	if (one_in(2) || !attr->alt_sample_period)
		attr->sample_jitter = below(2 * (attr->sample_period - min) + 2);
	if (one_in(2) && attr->alt_sample_period)
		attr->alt_sample_jitter = below(2 * (attr->alt_sample_period - min) + 2);
}

/* Changes one field so that it may break a rule. */
void break_period(struct perf_event_attr *attr)
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

/* Chooses the other fields, most of which are zero most of the time. */
static void fill_rest(struct perf_event_attr *attr)
{
	__u64 bits = random_u64() & random_u64() & random_u64() & random_u64() &
		     random_u64();

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
	attr->sig_data = random_u64();
	attr->wakeup_events = below(4);
	if (one_in(32))
		attr->aux_action = below(8);

	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_PERIOD;
	if (one_in(2))
		attr->sample_type |= below(1 << 10);
	else if (one_in(8))
		attr->sample_type = below(one_in(64) ? UINT64_MAX : PERF_SAMPLE_MAX);
	attr->read_format = one_in(64) ? random_u64() : below(PERF_FORMAT_MAX);
	if (one_in(2))
		attr->read_format = 0;
	attr->branch_sample_type = one_in(2) ? PERF_SAMPLE_BRANCH_ANY :
					       below(PERF_SAMPLE_BRANCH_MAX);
	attr->sample_regs_user = random_u64() & 0xff;
	attr->sample_regs_intr = random_u64() & 0xff;
	attr->sample_stack_user = 8 * below(64);
	if (one_in(16))
		attr->sample_max_stack = below(200);
}

/* Makes an attr that obeys the rules of the periods, or may break some if @broken. */
enum kind fill_attr(struct perf_event_attr *attr, bool broken)
{
	enum kind kind;

	memset(attr, 0, sizeof(*attr));
	attr->exclude_kernel = one_in(2);
	kind = fill_source(attr);
	fill_rest(attr);
	fill_periods(attr, kind);
	attr->size = sizeof(*attr);

	if (fuzz.plain) {
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
		/* If it is accepted, it may be a storm of interrupts. */
		attr->disabled |= !one_in(4);
	}
	return kind;
}
