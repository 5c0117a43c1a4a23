// SPDX-License-Identifier: GPL-2.0
/*
 * usage: count_fuzz SECONDS [SEED [THREADS [UID]]]
 *
 * Does random things to few events in groups, of all PMUs that are there, and looks whether
 * their counts are possible: what was counted between two reads of an event takes time, and
 * what has been counted stays so. What else a kernel does wrong is for its debugging options
 * to tell.
 *
 * Threads do the same to the same events. With one thread, a machine that repeats itself to
 * the bit repeats what this does for a SEED.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "alt_period.h"
#include "kselftest.h"

/* In a period: a kernel with KASAN does nothing but deliver signals if they are more frequent. */
#define RARE	(1 << 20)
#define GROUPS		6
#define MEMBERS		4
#define KINDS		512
#define NOTES		8
#define BUFFER_PAGES	8
#define MAX_THREADS	16
#define MAX_CHILDREN	3

/* A CPU has this many cycles, and instructions, in a nanosecond: the emulated ones have. */
#define CPU_RATE	1
/* Slots are more than cycles. */
#define SLOTS_RATE	8
/* What is possible is a jump when there are this many times as many, and some more. */
#define TOLERANCE	4
#define SOME		100000
/* Such an event may count what was before it was there: the time since the last tick. */
#define SOME_RUNTIME	40000000
/* An event is enabled since the time of its context was updated: some ticks (docs/found.md). */
#define CLOCK_ERROR	20000000

/* What is counted. */
struct kind {
	char name[40];
	__u32 type;
	__u64 config;
	__u64 rate;		/* at most, in a nanosecond, on a CPU */
	__u64 more;		/* than that at any time */
	bool bare;		/* of a PMU that has no samples and leaves nothing out */
};

struct event {
	int fd;
	struct perf_event_attr attr;
	const struct kind *kind;
	__u64 id, opened, cpus;
	bool leads;
	struct ring ring;
	pthread_mutex_t lock;	/* of what follows */
	__u64 count, enabled, running, at;
	bool known;		/* not after a reset */
	struct {
		const char *what;
		__u64 how, at;
	} notes[NOTES];
	unsigned long nr_notes;
};

/* To open, to close and to reset is to write: what is counted meanwhile is not known. */
static struct {
	pthread_rwlock_t lock;
	pid_t pid;
	int cpu;
	struct event events[MEMBERS];	/* the first one leads them, if it is open */
} groups[GROUPS];

static struct kind kinds[KINDS];
static unsigned int nr_kinds, nr_common_kinds;
static unsigned int core_pmus[8], nr_core_pmus;
static bool alternating;
static int nr_cpus;
static __u64 end;
static struct sample_limits limits;
static bool limited;

static pthread_mutex_t drain_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t failure_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long operations, opens, refused, reads, samples;
static volatile __u64 sink;
/* In a page of its own: QEMU is slow at all of a page where a breakpoint is. */
static volatile long *data;
static __thread __u64 random_state;
static __thread unsigned int children;

static __u64 any(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545F4914F6CDD1DULL;
}

static unsigned int below(unsigned int n)
{
	return (any() >> 20) % n;
}

static bool one_in(unsigned int n)
{
	return !below(n);
}

static void add_to(unsigned long *number, unsigned long n)
{
	__atomic_fetch_add(number, n, __ATOMIC_RELAXED);
}

/*
 * What is wrong in kernels without the series as well, and is not fixed there: the period of
 * a precise event is not changed, because the records that wait in the buffer would be counted
 * with the new one (docs/found.md).
 */
static bool keeps_period(const struct perf_event_attr *attr)
{
	return attr->precise_ip;
}

/* The kinds of events. */

static void add_kind(const char *name, __u32 type, __u64 config, __u64 rate, __u64 more)
{
	struct kind *kind = &kinds[nr_kinds];

	if (nr_kinds == KINDS)
		return;
	snprintf(kind->name, sizeof(kind->name), "%s/0x%llx", name, config);
	kind->type = type;
	kind->config = config;
	kind->rate = rate;
	kind->more = more;
	nr_kinds++;
}

static void add_tracepoint(const char *name, __u64 more)
{
	char path[200];
	int id;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	id = read_number(path);
	if (id >= 0)
		add_kind(name, PERF_TYPE_TRACEPOINT, id, 1, more);
}

/* The PMUs that are there, but for those that need more than a number to count something. */
static void add_pmus(void)
{
	static const unsigned int configs[] = { 0, 1, 2, 3, 0xff, 0x10ff, 0x20ff };
	char path[300];
	glob_t files;

	if (glob("/sys/bus/event_source/devices/*", 0, NULL, &files))
		return;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *name = strrchr(files.gl_pathv[i], '/') + 1;
		int type;

		snprintf(path, sizeof(path), "%s/type", files.gl_pathv[i]);
		type = read_number(path);
		if (type < 0 || !strcmp(name, "software") || !strcmp(name, "tracepoint") ||
		    !strcmp(name, "breakpoint") || !strcmp(name, "kprobe") ||
		    !strcmp(name, "uprobe"))
			continue;
		snprintf(path, sizeof(path), "%s/cpus", files.gl_pathv[i]);
		if (!strcmp(name, "cpu") || !access(path, F_OK)) {
			if (nr_core_pmus < ARRAY_SIZE(core_pmus))
				core_pmus[nr_core_pmus++] = type;
			add_kind(name, type, 0x3c, CPU_RATE, 0);
			add_kind(name, type, 0xc0, CPU_RATE, 0);
			add_kind(name, type, 0x11, CPU_RATE, 0);
			continue;
		}
		for (unsigned int c = 0; c < ARRAY_SIZE(configs); c++) {
			/* The msr PMU also has a temperature. */
			if (!strcmp(name, "msr") && configs[c] > 2)
				break;
			add_kind(name, type, configs[c], 1, 0);
			kinds[nr_kinds - 1].bare = true;
		}
	}
	globfree(&files);
}

static void add_kinds(void)
{
	static const __u64 raw[] = { 0x3c, 0xc0, 0xc4, 0x76, 0x11, 0x08 };

	for (int i = 0; i < PERF_COUNT_HW_MAX; i++)
		add_kind("hardware", PERF_TYPE_HARDWARE, i, CPU_RATE, 0);
	/* More of those that all CPUs have. */
	for (int i = 0; i < 8; i++)
		add_kind("hardware", PERF_TYPE_HARDWARE, i % 2, CPU_RATE, 0);
	for (int i = 0; i < 6; i++)
		add_kind("cache", PERF_TYPE_HW_CACHE, i % 3 | (i / 3) << 16, CPU_RATE, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(raw); i++)
		add_kind("raw", PERF_TYPE_RAW, raw[i], CPU_RATE, 0);
	/* The slots of Intel's CPUs, and how they were used. */
	add_kind("slots", PERF_TYPE_RAW, 0x400, SLOTS_RATE, 0);
	add_kind("metric", PERF_TYPE_RAW, 0x8000, SLOTS_RATE, 0);
	add_kind("metric", PERF_TYPE_RAW, 0x8100, SLOTS_RATE, 0);
	for (int i = 0; i < 3; i++) {
		add_kind("cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 1, 0);
		add_kind("task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1, 0);
	}
	for (int i = PERF_COUNT_SW_PAGE_FAULTS; i < PERF_COUNT_SW_MAX; i++)
		add_kind("software", PERF_TYPE_SOFTWARE, i, 1, 0);
	add_kind("breakpoint", PERF_TYPE_BREAKPOINT, 0, 1, 0);
	add_kind("breakpoint", PERF_TYPE_BREAKPOINT, 0, 1, 0);
	add_tracepoint("syscalls/sys_enter_getppid", 0);
	add_tracepoint("sched/sched_switch", 0);
	add_tracepoint("sched/sched_waking", 0);
	add_tracepoint("sched/sched_stat_runtime", SOME_RUNTIME);
	nr_common_kinds = nr_kinds;
	add_pmus();
}

/* Failures. */

static const char *kind_name(const struct event *event)
{
	return event->kind ? event->kind->name : "closed";
}

static void print_event(struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	char path[40], line[200];
	unsigned long first;
	FILE *file;

	ksft_print_msg("%s: type %u size %u config 0x%llx period or frequency %llu%s\n",
		       kind_name(event), attr->type, attr->size, attr->config,
		       attr->sample_period, attr->freq ? ", a frequency" : "");
	ksft_print_msg("alternating %u jitter %u and %u count %u\n", attr->alt_sample_period,
		       attr->sample_jitter, attr->alt_sample_jitter, attr->alt_sample_count);
	ksft_print_msg("sample_type 0x%llx read_format 0x%llx precise_ip %u inherit %u pinned %u\n",
		       attr->sample_type, attr->read_format, attr->precise_ip, attr->inherit,
		       attr->pinned);
	ksft_print_msg("disabled %u exclusive %u exclude user %u kernel %u hv %u idle %u\n",
		       attr->disabled, attr->exclusive, attr->exclude_user, attr->exclude_kernel,
		       attr->exclude_hv, attr->exclude_idle);
	ksft_print_msg("inherit_stat %u enable_on_exec %u remove_on_exec %u sigtrap %u\n",
		       attr->inherit_stat, attr->enable_on_exec, attr->remove_on_exec,
		       attr->sigtrap);
	first = event->nr_notes > NOTES ? event->nr_notes - NOTES : 0;
	for (unsigned long i = first; i < event->nr_notes; i++)
		ksft_print_msg("after %llu ns: %s %llu\n",
			       event->notes[i % NOTES].at - event->opened,
			       event->notes[i % NOTES].what, event->notes[i % NOTES].how);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", event->fd);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		ksft_print_msg("fdinfo %s", line);
	if (file)
		fclose(file);
}

static void restore_limits(void)
{
	if (limited)
		restore_sample_limits(&limits);
}

/* Prints what happened and the events of the group, and ends the program. */
static void fail(struct event *event, const char *what, __u64 count, __u64 before, __u64 elapsed)
{
	unsigned int group = 0;

	pthread_mutex_lock(&failure_lock);
	for (unsigned int i = 0; i < GROUPS * MEMBERS; i++) {
		if (&groups[i / MEMBERS].events[i % MEMBERS] == event)
			group = i / MEMBERS;
	}
	ksft_print_msg("%s %s: %llu after %llu (%lld more) in %llu ns\n", kind_name(event), what,
		       count, before, count - before, elapsed);
	ksft_print_msg("group %u of pid %d, CPU %d:\n", group, groups[group].pid,
		       groups[group].cpu);
	for (int i = 0; i < MEMBERS; i++) {
		if (groups[group].events[i].fd >= 0 && &groups[group].events[i] != event)
			print_event(&groups[group].events[i]);
	}
	ksft_print_msg("this one of them:\n");
	print_event(event);
	ksft_print_msg("%lu operations, %lu opens, %lu refused, %lu reads checked, %lu samples\n",
		       operations, opens, refused, reads, samples);
	restore_limits();
	ksft_test_result_fail("count_fuzz\n");
	fflush(NULL);
	_exit(1);
}

/* Remembers what was done to an event last. */
static void note(struct event *event, const char *what, __u64 how)
{
	unsigned long nr = __atomic_fetch_add(&event->nr_notes, 1, __ATOMIC_RELAXED) % NOTES;

	event->notes[nr].what = what;
	event->notes[nr].how = how;
	event->notes[nr].at = now_ns();
}

/* Counts. */

static __u64 possible(const struct event *event, __u64 elapsed)
{
	return elapsed * event->cpus * event->kind->rate * TOLERANCE + SOME + event->kind->more;
}

/*
 * How far a count can be below one that was read, in kernels without the series as well, but 2^48
 * above it there: if a record of PEBS is lost, what was counted of its period is taken back
 * (docs/found.md). There is none before a whole period. Each child can lose some.
 */
static __s64 taken_back(const struct event *event, __u64 elapsed)
{
	const struct perf_event_attr *attr = &event->attr;
	__u64 most = possible(event, elapsed);

	if (!attr->precise_ip || attr->freq || attr->sample_period > most || event->kind->bare ||
	    attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT ||
	    attr->type == PERF_TYPE_BREAKPOINT)
		return 0;
	return attr->inherit ? most : attr->sample_period;
}

/* What was known of an event before it is read. */
struct before {
	__u64 count, enabled, running, at;
	bool known;
};

static struct before remember(struct event *event)
{
	struct before before;

	pthread_mutex_lock(&event->lock);
	before = (struct before){ event->count, event->enabled, event->running, event->at,
				  event->known };
	pthread_mutex_unlock(&event->lock);
	return before;
}

/* Checks what was read of an event between @begin and now. */
static void check(struct event *event, const struct before *before, __u64 begin, __u64 count,
		  const __u64 *times)
{
	__u64 now = now_ns(), all = now - event->opened, since = now - before->at;
	__s64 back = taken_back(event, all), more = count - before->count;

	add_to(&reads, 1);
	if (count + back > possible(event, all) + back)
		fail(event, "counts more than was possible since it is there", count, 0, all);
	if (before->known && more < -back)
		fail(event, "counts backwards", count, before->count, since);
	if (before->known && more > (__s64)possible(event, since))
		fail(event, "jumps", count, before->count, since);
	if (times) {
		if (times[0] > all * event->cpus + CLOCK_ERROR)
			fail(event, "is enabled for too long", times[0], 0, all);
		if (times[1] > times[0])
			fail(event, "runs for longer than it is enabled", times[1], times[0], all);
		if (times[0] < before->enabled)
			fail(event, "was enabled for longer", times[0], before->enabled, since);
		if (times[1] < before->running)
			fail(event, "ran for longer", times[1], before->running, since);
	}
	pthread_mutex_lock(&event->lock);
	/* Another thread may have read it later. */
	if (!event->known || (count >= event->count && begin >= event->at)) {
		event->count = count;
		event->at = begin;
		event->known = true;
		if (times) {
			event->enabled = times[0];
			event->running = times[1];
		}
	}
	pthread_mutex_unlock(&event->lock);
}

static void read_event(struct event *events, int nr)
{
	struct event *event = &events[nr];
	const __u64 format = event->attr.read_format;
	const bool group = format & PERF_FORMAT_GROUP;
	struct before before[MEMBERS];
	__u64 buffer[3 + 3 * 64], times[2], *at = buffer, n = 1, begin;
	ssize_t size;

	for (int i = 0; i < MEMBERS; i++)
		before[i] = remember(&events[i]);
	begin = now_ns();
	size = read(event->fd, buffer, sizeof(buffer));
	/* No more than the end of the file if it is pinned and cannot be. */
	if (size <= 0)
		return;
	if (group)
		n = *at++;
	else
		at++;
	for (int i = 0; i < 2; i++)
		times[i] = format & (1 << i) ? *at++ : 0;
	for (__u64 i = 0; i < n && i < 64; i++) {
		__u64 count = group ? *at++ : buffer[0];
		__u64 id = format & PERF_FORMAT_ID ? *at++ : 0;
		int j = MEMBERS;

		at += !!(format & PERF_FORMAT_LOST);
		/* The first one is the leader, whichever member is read. */
		if (id)
			for (j = 0; j < MEMBERS && (events[j].fd < 0 || events[j].id != id); j++)
				;
		else if (!group || (!i && event->leads))
			j = nr;
		if (j < MEMBERS)
			check(&events[j], &before[j], begin, count,
			      !i && (format & 3) == 3 ? times : NULL);
	}
}

/* After a reset: what was counted of children is still there. */
static void forget_counts(struct event *events)
{
	for (int i = 0; i < MEMBERS; i++)
		events[i].known = false;
}

/* Work that events count. */

static bool map_data(void)
{
	data = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return data != MAP_FAILED;
}

static void burn(void)
{
	for (int i = below(20000); i > 0; i--) {
		sink += i;
		if (!(i & 255))
			data[i / 256 & 3]++;
	}
	if (one_in(3)) {
		size_t size = 4 * sysconf(_SC_PAGESIZE);
		char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages != MAP_FAILED) {
			for (size_t i = 0; i < size; i += sysconf(_SC_PAGESIZE))
				pages[i] = 1;
			munmap(pages, size);
		}
	}
	if (one_in(3))
		syscall(SYS_getppid);
	if (one_in(8))
		sched_yield();
	if (one_in(40))
		usleep(below(3000));
}

static void move_to_some_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(below(nr_cpus), &set);
	if (one_in(3)) {
		for (int i = 0; i < nr_cpus; i++)
			CPU_SET(i, &set);
	}
	sched_setaffinity(0, sizeof(set), &set);
}

static void be_a_child(void)
{
	alarm(2);
	burn();
	if (one_in(4))
		move_to_some_cpu();
	burn();
	if (one_in(3) && !fork()) {
		alarm(2);
		burn();
		_exit(0);
	}
	if (one_in(3))
		execl("/proc/self/exe", "count_fuzz", "child", NULL);
	_exit(0);
}

static void make_a_child(void)
{
	pid_t pid;

	if (children == MAX_CHILDREN && wait(NULL) > 0)
		children--;
	pid = fork();
	if (!pid)
		be_a_child();
	if (pid < 0)
		return;
	children++;
	if (one_in(2) && waitpid(pid, NULL, __WNOTHREAD) > 0)
		children--;
}

/* Operations. */

static __u64 some_period(void)
{
	static const __u64 periods[] = {
		1, 2, 3, 20, 32, 100, 300, 1000, 2000, 10000, 20000, 100000, 1000000,
		1ULL << 31, 1ULL << 32, 1ULL << 47, (1ULL << 63) - 1,
	};

	return below(4) ? periods[below(ARRAY_SIZE(periods))] : 1 + below(3000);
}

static void some_attr(struct perf_event_attr *attr, const struct kind *kind)
{
	const __u64 rare = PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER |
		PERF_SAMPLE_STACK_USER | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT |
		PERF_SAMPLE_WEIGHT_STRUCT;

	memset(attr, 0, sizeof(*attr));
	attr->size = alternating ? sizeof(*attr) : PERF_ATTR_SIZE_VER8;
	attr->type = kind->type;
	attr->config = kind->config;
	if (attr->type == PERF_TYPE_HARDWARE && nr_core_pmus && one_in(6))
		attr->config |= (__u64)core_pmus[below(nr_core_pmus)] << 32;
	if (attr->type == PERF_TYPE_BREAKPOINT) {
		attr->bp_type = HW_BREAKPOINT_W | (below(2) ? HW_BREAKPOINT_R : 0);
		attr->bp_addr = (unsigned long)&data[below(4)];
		attr->bp_len = sizeof(data[0]);
	}
	if (below(6))
		attr->sample_period = some_period();
	if (one_in(5)) {
		attr->freq = 1;
		attr->sample_freq = 1 + below(20000);
	}
	if (below(2)) {
		attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
		/* With it a PEBS event has an interrupt for each record. */
		if (below(2))
			attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	} else {
		attr->sample_type = any() & (PERF_SAMPLE_MAX - 1) & ~PERF_SAMPLE_AUX;
		if (below(3))
			attr->sample_type &= ~rare;
	}
	if (one_in(3))
		attr->sample_type |= PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
	attr->read_format = below(2) ? 0 : below(PERF_FORMAT_MAX);
	attr->disabled = below(2);
	attr->inherit = one_in(4);
	attr->inherit_thread = attr->inherit && one_in(8);
	attr->inherit_stat = one_in(8);
	attr->pinned = one_in(8);
	attr->exclusive = one_in(16);
	attr->exclude_kernel = below(4) || geteuid();
	attr->exclude_user = one_in(8);
	attr->exclude_hv = below(2);
	attr->exclude_idle = one_in(8);
	attr->exclude_host = one_in(32);
	attr->exclude_guest = below(3);
	attr->precise_ip = below(3) ? 0 : below(4);
	attr->enable_on_exec = one_in(8);
	attr->watermark = one_in(8);
	attr->wakeup_events = one_in(8) ? below(5) : 0;
	attr->remove_on_exec = one_in(8);
	if (attr->remove_on_exec && below(2)) {
		attr->sigtrap = 1;
		attr->sig_data = 7;
		attr->freq = 0;
		attr->sample_period |= RARE;
	}
	attr->write_backward = one_in(10);
	attr->config3 = one_in(40);
	if (kind->bare && below(8)) {
		attr->freq = 0;
		attr->sample_period = 0;
		attr->sample_type = 0;
		attr->precise_ip = 0;
		attr->exclude_kernel = 0;
		attr->exclude_user = 0;
		attr->exclude_hv = 0;
		attr->exclude_idle = 0;
		attr->exclude_host = 0;
		attr->exclude_guest = 0;
		attr->config3 = 0;
		return;
	}
	if (alternating && attr->type != PERF_TYPE_SOFTWARE && attr->type < PERF_TYPE_MAX &&
	    below(2)) {
		attr->alt_sample_period = some_period();
		/* Windows count user space alone. */
		attr->exclude_kernel |= !one_in(8);
		attr->sample_jitter = below(2) ? 0 : below(3) ? below(200) : ~0U;
		attr->alt_sample_jitter = below(2) ? 0 : below(3) ? below(200) : ~0U;
		attr->alt_sample_count = below(2) ? 0 : below(10);
		if (attr->sigtrap)
			attr->alt_sample_period |= RARE;
	}
}

static void open_event(unsigned int g, int nr)
{
	struct event *events = groups[g].events, *event = &events[nr];
	/* A machine can have a hundred PMUs of uncore. */
	const struct kind *kind = &kinds[below(one_in(5) ? nr_kinds : nr_common_kinds)];
	struct perf_event_attr attr;
	int leader = -1, fd;
	__u64 opened;

	if (!nr) {
		groups[g].pid = below(4) ? 0 : -1;
		groups[g].cpu = below(3) && !groups[g].pid ? -1 : (int)below(nr_cpus);
	} else if (below(8)) {
		leader = events[0].fd;
	}
	some_attr(&attr, kind);
	add_to(&opens, 1);
	opened = now_ns();
	fd = syscall(SYS_perf_event_open, &attr, groups[g].pid, groups[g].cpu, leader,
		     below(4) ? PERF_FLAG_FD_CLOEXEC : below(8));
	if (fd < 0) {
		add_to(&refused, 1);
		return;
	}
	event->attr = attr;
	event->kind = kind;
	event->opened = opened;
	event->at = opened;
	event->leads = leader < 0;
	event->cpus = attr.inherit ? nr_cpus : 1;
	event->count = 0;
	event->enabled = 0;
	event->running = 0;
	event->known = true;
	event->nr_notes = 0;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &event->id))
		event->id = 0;
	event->fd = fd;
}

static void unmap_event(struct event *event)
{
	pthread_mutex_lock(&drain_lock);
	ring_unmap(&event->ring);
	pthread_mutex_unlock(&drain_lock);
}

static void close_event(struct event *event)
{
	if (below(2))
		unmap_event(event);
	close(event->fd);
	event->fd = -1;
	event->kind = NULL;
	unmap_event(event);
}

/* Several events can have one buffer. */
static void drain(struct event *event)
{
	struct perf_event_header header;
	unsigned long nr = 0;
	__u64 at;

	if (!event->ring.page || event->attr.write_backward)
		return;
	pthread_mutex_lock(&drain_lock);
	event->ring.tail = event->ring.page->data_tail;
	while (ring_next(&event->ring, &header, &at))
		nr += header.type == PERF_RECORD_SAMPLE;
	pthread_mutex_unlock(&drain_lock);
	if (event->ring.nr_broken)
		fail(event, "has records that make no sense", event->ring.nr_broken, 0, 0);
	add_to(&samples, nr);
}

static void control(struct event *event, const char *what, unsigned long request, __u64 how)
{
	note(event, what, how);
	ioctl(event->fd, request, how);
}

static void change_period(struct event *event)
{
	__u64 period = event->attr.freq ? 1 + below(20000) :
		       event->attr.sigtrap ? some_period() | RARE : some_period();

	if (keeps_period(&event->attr))
		return;
	note(event, "period", period);
	ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period);
}

static void change_breakpoint(struct event *event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (unsigned long)&data[below(4)],
		.bp_len = sizeof(data[0]),
		.sample_period = 100,
	};

	note(event, "modify", attr.bp_addr);
	ioctl(event->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
}

/* For those that hold the lock of the group with others. */
static void disturb(struct event *events, int nr)
{
	struct event *event = &events[nr];

	switch (below(12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		read_event(events, nr);
		break;
	case 4:
	case 5:
		control(event, "enable, group", PERF_EVENT_IOC_ENABLE, below(2));
		break;
	case 6:
		control(event, "disable, group", PERF_EVENT_IOC_DISABLE, below(2));
		break;
	case 7:
		control(event, "refresh", PERF_EVENT_IOC_REFRESH, below(8) ? below(50) : -1);
		break;
	case 8:
		change_period(event);
		break;
	case 9:
		control(event, "output", PERF_EVENT_IOC_SET_OUTPUT,
			below(4) ? groups[below(GROUPS)].events[below(MEMBERS)].fd : -1);
		break;
	case 10:
		control(event, "pause", PERF_EVENT_IOC_PAUSE_OUTPUT, below(2));
		break;
	case 11:
		if (one_in(4))
			change_breakpoint(event);
		break;
	}
}

/* For the one that has the group alone. */
static void rebuild(unsigned int g, int nr)
{
	struct event *events = groups[g].events, *event = &events[nr];

	if (event->fd < 0) {
		open_event(g, nr);
		return;
	}
	switch (below(6)) {
	case 0:
		close_event(event);
		break;
	case 1:
	case 2:
		if (!event->ring.page)
			ring_map_pages(&event->ring, event->fd, BUFFER_PAGES,
				       PROT_READ | PROT_WRITE);
		else
			drain(event);
		break;
	case 3:
		drain(event);
		break;
	case 4:
		if (one_in(3))
			unmap_event(event);
		break;
	case 5:
		if (one_in(3)) {
			control(event, "reset, group", PERF_EVENT_IOC_RESET, below(2));
			forget_counts(events);
		}
		break;
	}
}

static void *work(void *arg)
{
	random_state = (unsigned long)arg;
	while (now_ns() < end) {
		unsigned int g = below(GROUPS), nr = below(MEMBERS);

		add_to(&operations, 1);
		if (below(3)) {
			pthread_rwlock_rdlock(&groups[g].lock);
			if (groups[g].events[nr].fd >= 0)
				disturb(groups[g].events, nr);
		} else {
			pthread_rwlock_wrlock(&groups[g].lock);
			rebuild(g, nr);
		}
		pthread_rwlock_unlock(&groups[g].lock);
		burn();
		if (one_in(200))
			make_a_child();
		if (one_in(100))
			move_to_some_cpu();
	}
	return NULL;
}

static void ignore(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	struct rlimit files = { 4096, 4096 };
	unsigned long seed, nr_threads;
	pthread_t threads[MAX_THREADS];
	uid_t uid;

	if (argc == 2 && !strcmp(argv[1], "child")) {
		random_state = getpid();
		alarm(2);
		if (map_data())
			burn();
		return 0;
	}
	ksft_print_header();
	ksft_set_plan(1);
	if (!map_data())
		ksft_exit_fail_msg("cannot map a page: %s\n", strerror(errno));
	if (argc < 2 || argc > 5)
		ksft_exit_fail_msg("usage: count_fuzz SECONDS [SEED [THREADS [UID]]]\n");
	seed = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	nr_threads = argc > 3 ? strtoul(argv[3], NULL, 0) : 1;
	uid = argc > 4 ? strtoul(argv[4], NULL, 0) : 0;
	if (nr_threads < 1 || nr_threads > MAX_THREADS)
		ksft_exit_fail_msg("there can be up to %d threads\n", MAX_THREADS);
	setvbuf(stdout, NULL, _IOLBF, 0);
	setrlimit(RLIMIT_NOFILE, &files);
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	alternating = have_alt_period();
	add_kinds();
	/*
	 * Few samples throttle, and the kernel does not lower the limit further. With more of
	 * them a slow machine does nothing else, with one event already.
	 */
	save_sample_limits(&limits);
	limited = set_sample_limits(20000 / machine_slowness(), 0);
	if (uid && setresuid(uid, uid, uid))
		ksft_exit_fail_msg("cannot become user %u\n", uid);
	ksft_print_msg("seed %lu, %lu threads, %d CPUs, %u kinds of events, %s periods\n",
		       seed, nr_threads, nr_cpus, nr_kinds, alternating ? "alternating" : "plain");

	signal(SIGTRAP, ignore);
	signal(SIGIO, ignore);
	for (int g = 0; g < GROUPS; g++) {
		pthread_rwlock_init(&groups[g].lock, NULL);
		for (int i = 0; i < MEMBERS; i++) {
			groups[g].events[i].fd = -1;
			pthread_mutex_init(&groups[g].events[i].lock, NULL);
		}
	}
	end = now_ns() + strtoul(argv[1], NULL, 0) * 1000000000ULL;
	for (unsigned long i = 1; i < nr_threads; i++) {
		if (pthread_create(&threads[i], NULL, work,
				   (void *)(seed * 7919 + i * 104729 + 1)))
			ksft_exit_fail_msg("cannot create a thread\n");
	}
	work((void *)(seed * 7919 + 1));
	for (unsigned long i = 1; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	while (wait(NULL) > 0)
		;
	for (int g = 0; g < GROUPS; g++) {
		for (int i = 0; i < MEMBERS; i++) {
			if (groups[g].events[i].fd >= 0) {
				read_event(groups[g].events, i);
				drain(&groups[g].events[i]);
			}
		}
	}
	/* Not for the user that this has become. */
	restore_limits();
	ksft_print_msg("%lu operations, %lu opens, %lu refused, %lu reads checked, %lu samples\n",
		       operations, opens, refused, reads, samples);
	ksft_test_result_pass("count_fuzz\n");
	ksft_finished();
}
