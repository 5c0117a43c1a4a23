// SPDX-License-Identifier: GPL-2.0
/*
 * Random operations on events with alternating sample periods, valid and not, while
 * they count. The kernel has to survive; these things are checked as well:
 *
 *  - an open or PERF_EVENT_IOC_PERIOD that breaks the rules of the periods fails
 *    with the right error, and one that obeys them has the same result as the same
 *    request without alternating periods;
 *  - PERF_EVENT_IOC_MODIFY_ATTRIBUTES changes none of them;
 *  - each sample belongs to an event that was opened, has a label that its event
 *    can have, and is marked as window if and only if it is one;
 *  - long intervals and windows come in their sequence, as long as nothing happened
 *    that may lose samples.
 *
 * The operation with number N depends on the seed and N alone, so a run can be
 * repeated as far as time and interrupts repeat.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__ /* Use ll64 */
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "alt_period_fuzz.h"
#include "alt_period_bpf.h"

#define MAX_CPUS	64

struct fuzz fuzz;

/* Does a step of the work that events count. */
static void work(__u64 *s)
{
	__u64 r = next_random(s);
	unsigned int n = 1 + (r >> 8) % 4;
	char *page = fuzz.pages + (r >> 16) % NR_PAGES * fuzz.page_size;

	switch (r % 16) {
	case 0 ... 2:
		madvise(page, fuzz.page_size, MADV_DONTNEED);
		*(volatile char *)page = 1;
		break;
	case 3 ... 7:
		while (n--)
			fuzz.watched[(r >> 16) % 4]++;
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

static void unmap(struct event *e)
{
	if (!e->ring.page)
		return;
	drain(e);
	ring_unmap(&e->ring);
	fuzz.epoch++;
}

static void map(struct event *e)
{
	size_t ring_pages = 1 << below(4);
	bool overwrite = one_in(16);
	struct ring ring;

	if (e->ring.page)
		return;
	if (ring_map_pages(&ring, e->fd, ring_pages,
			   overwrite ? PROT_READ : PROT_READ | PROT_WRITE))
		return;
	fuzz.totals.mapped++;
	new_sequence(e);
	e->ring = ring;
	e->readable = !overwrite && !e->attr.write_backward && !e->redirected;
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

/* Chooses a task and a CPU. */
static void pick_target(pid_t *pid, int *cpu)
{
	const struct thread *t = &fuzz.threads[below(MAX_HELPERS)];
	pid_t child = fuzz.children[below(MAX_HELPERS)];

	*pid = 0;
	*cpu = -1;
	switch (below(32)) {
	case 0 ... 5:
		*cpu = below(fuzz.nr_cpus);
		break;
	case 6 ... 8:
		*pid = -1;
		*cpu = below(fuzz.nr_cpus);
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
		if (t->used)
			*pid = __atomic_load_n(&t->tid, __ATOMIC_RELAXED);
		break;
	}
}

/* Returns true if the samples of both can be told apart in one ring. */
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

/* Opens the same event without alternating periods. Returns the error. */
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

/* Opens an event with a random attr, and checks that the kernel should do so. */
static void open_event(struct event *e, bool broken)
{
	union attr_buffer u = {};
	struct perf_event_attr attr;
	struct event *leader = &fuzz.events[below(MAX_EVENTS)];
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
	/* The kernel would read beyond the union. */
	if (attr.size > sizeof(u) && attr.size <= fuzz.page_size)
		return;
	if (tail || (attr.size && attr.size < PERF_ATTR_SIZE_VER0) || attr.size > fuzz.page_size)
		expected = E2BIG;
	else if (breaks_rules(&attr))
		expected = EINVAL;

	fuzz.stats[kind].tried++;
	fd = sys_open(&u.attr, pid, cpu, group, flags);
	if (expected) {
		fuzz.totals.refused++;
		if (fd != -expected)
			complain("open: %d instead of error %d: %s", fd, expected, show(&attr));
	} else if (!fuzz.plain && has_fields(&attr)) {
		if (alternates(&attr) && !is_hardware(&attr) && fd >= 0)
			complain("open: no event of a PMU: %s", show(&attr));
		if (attr.alt_sample_period && !attr.exclude_kernel && fd >= 0)
			complain("open: a window of the kernel: %s", show(&attr));
		/* A group may be full after this one. */
		if (fd < 0 || (group < 0 && one_in(16)))
			check_open(&attr, fd,
				   try_twin(&u.attr, pid, cpu, group, flags));
	}
	if (fd < 0)
		return;

	fuzz.stats[kind].opened++;
	if (core_pmu_of(&attr))
		core_pmu_of(&attr)->opened++;
	e->fd = fd;
	e->kind = kind;
	e->attr = attr;
	e->pid = pid;
	e->cpu = cpu;
	e->redirected = flags & PERF_FLAG_FD_OUTPUT;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &e->id) || e->id <= fuzz.last_id)
		complain("id %llu after %llu", e->id, fuzz.last_id);
	fuzz.last_id = e->id;
	/* It may have samples already, in the ring of its group. */
	add_history(e);
	if (is_storm(&attr, kind))
		close_event(e);
	else if (one_in(2))
		map(e);
}

/* Operations on an event. */

static void do_work(struct event *e)
{
	work(&fuzz.random);
}

static void do_open(struct event *e)
{
	open_event(e, false);
}

static void do_open_broken(struct event *e)
{
	static struct event scratch = { .fd = -1 };

	open_event(e->fd >= 0 ? &scratch : e, true);
	close_event(&scratch);
}

static void do_period(struct event *e)
{
	struct perf_event_attr attr = e->attr;
	struct history *h = &fuzz.histories[e->id % HISTORY];
	bool alternating = alternates(&attr);
	__u64 value;
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
	/* Clock events turn a frequency into a period at open. */
	if (is_clock(e->kind))
		attr.freq = 0;
	if (is_storm(&attr, e->kind))
		ioctl(e->fd, PERF_EVENT_IOC_DISABLE, 0);

	/* Samples that come before the ioctl returns may have either length. */
	if (value && h->id == e->id)
		add_length(h, value);
	err = ioctl(e->fd, PERF_EVENT_IOC_PERIOD, &value) ? errno : 0;
	fuzz.totals.periods++;

	if (!e->attr.sample_period || !value)
		expected = EINVAL;
	else if (attr.freq)
		/* The sysctl is one or more, and limits the samples of the rounds. */
		expected = value == 1 && !attr.alt_sample_period ? 0 : -1;
	else if (e->attr.freq)
		expected = -1;			/* depends on the limited jitter */
	else if (value >> 63 || (alternating && breaks_rules(&attr)))
		expected = EINVAL;
	else if (shortest(&attr) < tolerated_min(&attr))
		expected = -1;
	if (expected >= 0 ? err != expected : err && err != EINVAL)
		complain("ioctl: period %llu: error %d instead of %d: %s",
			 value, err, expected, show(&e->attr));

	if (!err) {
		e->attr.sample_period = value;
		new_sequence(e);
		if (is_storm(&attr, e->kind))
			close_event(e);
	} else if (value && h->id == e->id) {
		/* No sample can have it. */
		h->nr_lengths--;
	}
}

static void do_modify(struct event *e)
{
	struct perf_event_attr attr = e->attr, seen;
	bool changed;
	int err;

	if (one_in(2)) {
		attr.bp_addr = (uintptr_t)&fuzz.watched[below(4)];
		attr.disabled = one_in(2);
	} else if (one_in(8)) {
		fill_attr(&attr, one_in(2));
	} else if (!fuzz.plain) {
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
	struct event *to = &fuzz.events[below(MAX_EVENTS)];
	int fd = -1;

	if (to->fd >= 0 && can_share(&e->attr, &to->attr) && !one_in(4))
		fd = to->fd;
	if (!ioctl(e->fd, PERF_EVENT_IOC_SET_OUTPUT, fd))
		e->redirected = fd >= 0;
	new_sequence(e);
}

static void do_bpf(struct event *e)
{
	struct history *h = &fuzz.histories[e->id % HISTORY];

	if (!ioctl(e->fd, PERF_EVENT_IOC_SET_BPF, fuzz.progs[below(NR_PROGS)]) &&
	    h->id == e->id)
		h->in_sequence = false;
}

static void do_enable(struct event *e)
{
	ioctl(e->fd, PERF_EVENT_IOC_ENABLE, below(2));
}

static void do_disable(struct event *e)
{
	ioctl(e->fd, PERF_EVENT_IOC_DISABLE, below(2));
}

static void do_refresh(struct event *e)
{
	ioctl(e->fd, PERF_EVENT_IOC_REFRESH, below(8));
}

static void do_reset(struct event *e)
{
	ioctl(e->fd, PERF_EVENT_IOC_RESET, below(2));
}

static void do_pause(struct event *e)
{
	ioctl(e->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, below(2));
	new_sequences();
}

static void do_filter(struct event *e)
{
	ioctl(e->fd, PERF_EVENT_IOC_SET_FILTER, one_in(2) ? "common_pid > 0" : "0");
}

static void do_fcntl(struct event *e)
{
	fcntl(e->fd, F_SETFL, one_in(2) ? O_ASYNC : O_NONBLOCK);
}

static void do_read(struct event *e)
{
	static char buffer[4096];

	(void)!read(e->fd, buffer, below(sizeof(buffer)));
}

/* Operations on the rest of the system. */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0 && errno == EBADF)
		complain("%s", path);
	close(fd);
}

static void set_rate(const char *rate)
{
	write_file("/proc/sys/kernel/perf_event_max_sample_rate", rate);
}

static void do_rate(struct event *e)
{
	if (fuzz.disruptive)
		set_rate(!one_in(4) ? "100000" : one_in(2) ? "1" : "3000");
}

static void do_hotplug(struct event *e)
{
	bool online;
	char path[64];

	if (!fuzz.disruptive)
		return;
	online = !one_in(3);
	if (fuzz.nr_cpus < 2)
		return;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 (int)between(1, fuzz.nr_cpus - 1));
	write_file(path, online ? "1" : "0");
	fuzz.totals.hotplugs++;
}

static void all_cpus_online(void)
{
	for (int cpu = 1; cpu < fuzz.nr_cpus; cpu++) {
		char path[64];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
		write_file(path, "1");
	}
}

static void do_affinity(struct event *e)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < fuzz.nr_cpus; i++)
		CPU_SET(i, &set);
	if (!one_in(4)) {
		CPU_ZERO(&set);
		CPU_SET(below(fuzz.nr_cpus), &set);
	}
	sched_setaffinity(0, sizeof(set), &set);
}

static void do_prctl(struct event *e)
{
	prctl(one_in(2) ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE);
}

static void reap(pid_t *child)
{
	if (*child)
		waitpid(*child, NULL, 0);
	*child = 0;
}

static void do_reap(struct event *e)
{
	reap(&fuzz.children[below(MAX_HELPERS)]);
}

static void do_fork(struct event *e)
{
	pid_t *child = &fuzz.children[below(MAX_HELPERS)];
	unsigned int steps = below(64);
	bool exec = one_in(8);

	reap(child);
	fflush(stdout);
	*child = fork();
	if (*child < 0)
		*child = 0;
	if (*child) {
		fuzz.totals.forks++;
		return;
	}
	while (steps--)
		work(&fuzz.random);
	if (exec)
		execl("/proc/self/exe", "alt_period_fuzz", "-x", NULL);
	_exit(0);
}

static void *run_thread(void *arg)
{
	struct thread *t = arg;

	__atomic_store_n(&t->tid, syscall(SYS_gettid), __ATOMIC_RELAXED);
	for (unsigned int steps = next_random(&t->random) % 128; steps; steps--)
		work(&t->random);
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

static void do_join(struct event *e)
{
	join(&fuzz.threads[below(MAX_HELPERS)]);
}

static void do_thread(struct event *e)
{
	struct thread *t = &fuzz.threads[below(MAX_HELPERS)];

	join(t);
	t->random = random_u64();
	t->used = !pthread_create(&t->thread, NULL, run_thread, t);
	fuzz.totals.threads += t->used;
}

/*
 * Handles a synchronous signal, one for each sample. If it comes before the access
 * that a breakpoint is for, the access is never done: disable the events after a while.
 */
static void on_trap(int sig)
{
	(void)sig;
	if (++fuzz.traps < 32)
		return;
	for (int i = 0; i < MAX_EVENTS; i++) {
		if (fuzz.events[i].fd >= 0 && fuzz.events[i].attr.sigtrap)
			ioctl(fuzz.events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

/*
 * Loads a program that drops the samples of lengths that have none of the bits of @imm:
 * none, all, or those of even length.
 */
static int load_prog(int imm)
{
	const struct bpf_insn insns[] = {
		/* return ctx->sample_period & imm */
		BPF_LDX_MEM(BPF_DW, BPF_REG_0, BPF_REG_1,
			    offsetof(struct bpf_perf_event_data, sample_period)),
		BPF_ALU64_IMM(BPF_AND, BPF_REG_0, imm),
		BPF_EXIT_INSN(),
	};

	return bpf_load_perf_prog(insns, ARRAY_SIZE(insns), NULL, 0);
}

/*
 * The kernel patches its code or registers a tracepoint for the first event of a kind
 * and for the last one. For speed, holds one event of each kind that is never enabled.
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
	attr.config = fuzz.tracepoint;
	if (fuzz.tracepoint >= 0)
		perf_event_open(&attr, 0, -1, -1);
}

/*
 * The weights add up to 100000. An event is opened instead of an operation that needs
 * one if there is none at the place that was chosen.
 */
static struct operation {
	const char *name;
	unsigned int weight;
	bool needs_event;
	void (*fn)(struct event *e);
	__u64 count, time, longest;	/* with -v, in ns */
} operations[] = {
	{ "open",	0,	false,	do_open },
	{ "open-broken", 3000,	false,	do_open_broken },
	{ "work",	50000,	false,	do_work },
	{ "affinity",	200,	false,	do_affinity },
	{ "fork",	20,	false,	do_fork },
	{ "reap",	20,	false,	do_reap },
	{ "thread",	20,	false,	do_thread },
	{ "join",	20,	false,	do_join },
	{ "prctl",	10,	false,	do_prctl },
	{ "hotplug",	2,	false,	do_hotplug },
	{ "rate",	18,	false,	do_rate },
	{ "close",	990,	true,	close_event },
	{ "drain",	14700,	true,	drain },
	{ "enable",	8000,	true,	do_enable },
	{ "disable",	4000,	true,	do_disable },
	{ "period",	7000,	true,	do_period },
	{ "read",	6000,	true,	do_read },
	{ "refresh",	1500,	true,	do_refresh },
	{ "reset",	1000,	true,	do_reset },
	{ "modify",	1000,	true,	do_modify },
	{ "map",	700,	true,	map },
	{ "unmap",	300,	true,	unmap },
	{ "output",	500,	true,	do_output },
	{ "pause",	200,	true,	do_pause },
	{ "bpf",	300,	true,	do_bpf },
	{ "filter",	400,	true,	do_filter },
	{ "fcntl",	100,	true,	do_fcntl },
};

static struct operation *pick_operation(struct event *e)
{
	unsigned int weights = 0;
	unsigned int i, r;

	for (i = 0; i < ARRAY_SIZE(operations); i++)
		weights += operations[i].weight;
	r = below(weights);
	for (i = 0; r >= operations[i].weight; i++)
		r -= operations[i].weight;
	return operations[i].needs_event && e->fd < 0 ? &operations[0] : &operations[i];
}

/* Leaves a weight only to the operations in @list, separated by commas. */
static bool restrict_operations(char *list)
{
	bool named[ARRAY_SIZE(operations)] = {};
	unsigned int i, weights = 0;
	char *name;

	while ((name = strsep(&list, ","))) {
		for (i = 0; i < ARRAY_SIZE(operations); i++) {
			if (!strcmp(name, operations[i].name))
				break;
		}
		if (i == ARRAY_SIZE(operations))
			return false;
		named[i] = true;
	}
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		if (!named[i])
			operations[i].weight = 0;
		weights += operations[i].weight;
	}
	return weights;
}

static __u64 now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void bad_usage(const char *name)
{
	fprintf(stderr,
		"usage: %s [-dpv] [-n OPERATIONS] [-o NAME[,NAME...]] [-s SEED]\n"
		"  -d  disrupt the machine: CPU hotplug, sysctls\n"
		"  -n  number of operations (100000)\n"
		"  -o  do these operations alone, and open events for them:\n     ",
		name);
	for (unsigned int i = 1; i < ARRAY_SIZE(operations); i++)
		fprintf(stderr, "%s%s", i == 13 ? "\n      " : " ", operations[i].name);
	fprintf(stderr,
		"\n"
		"  -p  plain: no alternating periods, for other kernels\n"
		"  -s  seed (1), 0: from the clock\n"
		"  -v  print progress and times of operations, twice: every operation\n");
	exit(KSFT_FAIL);
}

static void parse_options(int argc, char **argv)
{
	int opt;

	fuzz.operations = 100000;
	fuzz.seed = 1;
	while ((opt = getopt(argc, argv, "dn:o:ps:vx")) != -1) {
		switch (opt) {
		case 'd':
			fuzz.disruptive = true;
			break;
		case 'n':
			fuzz.operations = strtoull(optarg, NULL, 0);
			break;
		case 'o':
			if (!restrict_operations(optarg))
				bad_usage(argv[0]);
			break;
		case 'p':
			fuzz.plain = true;
			break;
		case 's':
			fuzz.seed = strtoull(optarg, NULL, 0);
			break;
		case 'v':
			fuzz.verbose++;
			break;
		case 'x':	/* exec'd by a child */
			exit(0);
		default:
			bad_usage(argv[0]);
		}
	}
	if (!fuzz.seed)
		fuzz.seed = now(CLOCK_REALTIME) % 1000000007;
}

static void setup(void)
{
	fuzz.page_size = sysconf(_SC_PAGE_SIZE);
	fuzz.nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (fuzz.nr_cpus > MAX_CPUS)
		fuzz.nr_cpus = MAX_CPUS;
	fuzz.histories = calloc(HISTORY, sizeof(*fuzz.histories));
	fuzz.pages = mmap(NULL, NR_PAGES * fuzz.page_size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!fuzz.histories || fuzz.pages == MAP_FAILED)
		ksft_exit_fail_msg("no memory\n");
	for (int i = 0; i < MAX_EVENTS; i++)
		fuzz.events[i].fd = -1;
	fuzz.tracepoint = read_number("/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id");
	fuzz.progs[0] = load_prog(-1);
	fuzz.progs[1] = load_prog(0);
	fuzz.progs[2] = load_prog(1);
	find_core_pmus();
	signal(SIGTRAP, on_trap);
	signal(SIGIO, SIG_IGN);
	hold_events();
}

static void do_operation(void)
{
	struct event *e = &fuzz.events[below(MAX_EVENTS)];
	struct operation *op = pick_operation(e);
	__u64 time;

	if (fuzz.verbose > 1 || (fuzz.verbose && fuzz.operation % 100000 == 0)) {
		ksft_print_msg("operation %llu: %s\n", fuzz.operation, op->name);
		fflush(stdout);
	}
	if (!fuzz.verbose) {
		op->fn(e);
		return;
	}
	time = now(CLOCK_MONOTONIC);
	op->fn(e);
	time = now(CLOCK_MONOTONIC) - time;
	op->count++;
	op->time += time;
	if (time > op->longest)
		op->longest = time;
}

static void loop(void)
{
	for (fuzz.operation = 0; fuzz.operation < fuzz.operations; fuzz.operation++) {
		fuzz.totals.traps += fuzz.traps;
		fuzz.traps = 0;
		fuzz.random = fuzz.seed + fuzz.operation * 0xd1342543de82ef95;
		random_u64();
		do_operation();
		if (fuzz.complaints >= MAX_COMPLAINTS)
			break;
	}
}

static void teardown(void)
{
	for (int i = 0; i < MAX_HELPERS; i++) {
		reap(&fuzz.children[i]);
		join(&fuzz.threads[i]);
	}
	for (int i = 0; i < MAX_EVENTS; i++)
		close_event(&fuzz.events[i]);
	if (fuzz.disruptive) {
		all_cpus_online();
		set_rate("100000");
	}
}

/* Returns true if anything was tested. */
static bool report(__u64 time)
{
	__u64 tried = 0, opened = 0, samples = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(operations); i++) {
		const struct operation *op = &operations[i];

		if (op->count)
			ksft_print_msg("%-16s %llu times, %.3f s, %.1f us each, %.1f us at most\n",
				       op->name, op->count, op->time / 1e9,
				       op->time / 1e3 / op->count, op->longest / 1e3);
	}
	for (int i = 0; i < NR_KINDS; i++) {
		typeof(fuzz.stats[0]) *s = &fuzz.stats[i];

		ksft_print_msg("%-16s %llu of %llu opens, %llu long and %llu window samples\n",
			       kind_names[i], s->opened, s->tried, s->longs, s->windows);
		tried += s->tried;
		opened += s->opened;
		samples += s->longs + s->windows;
	}
	for (unsigned int i = 0; i < fuzz.nr_pmus; i++) {
		const struct core_pmu *pmu = &fuzz.pmus[i];

		ksft_print_msg("PMU %s (type %u): %llu opens, %llu samples\n", pmu->name,
			       pmu->type, pmu->opened, pmu->samples);
	}
	ksft_print_msg("%llu opens against the rules, %llu changes of periods, %llu rings\n",
		       fuzz.totals.refused, fuzz.totals.periods, fuzz.totals.mapped);
	ksft_print_msg("%llu samples in sequence, %llu lost records, %llu throttled, %llu traps\n",
		       fuzz.totals.in_sequence, fuzz.totals.lost, fuzz.totals.throttled,
		       fuzz.totals.traps);
	ksft_print_msg("%llu forks, %llu threads, %llu hotplugs, %llu samples of long ago\n",
		       fuzz.totals.forks, fuzz.totals.threads, fuzz.totals.hotplugs,
		       fuzz.totals.evicted);
	ksft_print_msg("seed %llu: %llu operations in %.1f s, %llu of %llu opens, %llu samples\n",
		       fuzz.seed, fuzz.operation, time / 1e9, opened, tried, samples);
	return opened && samples;
}

int main(int argc, char **argv)
{
	bool tested;
	__u64 begin, end;

	parse_options(argc, argv);
	ksft_print_header();
	if (!fuzz.plain && !have_alt_period())
		ksft_exit_skip("the kernel has no alternating sample periods\n");
	ksft_set_plan(1);
	ksft_print_msg("seed %llu, %llu operations\n", fuzz.seed, fuzz.operations);

	setup();
	begin = now(CLOCK_MONOTONIC);
	loop();
	end = now(CLOCK_MONOTONIC);
	teardown();

	tested = report(end - begin);
	if (!tested)
		ksft_print_msg("nothing was tested\n");
	ksft_test_result(!fuzz.complaints && tested, "%lu complaints\n", fuzz.complaints);
	ksft_finished();
}
