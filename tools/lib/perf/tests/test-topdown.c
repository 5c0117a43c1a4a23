// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <perf/topdown.h>
#include <internal/tests.h>
#include "tests.h"

#define DEVICES		"/sys/bus/event_source/devices"
/* Limit without a read(2) for precision. */
#define ANY		~0U

static noinline void spin(unsigned int n)
{
	while (n--)
		barrier();
}

/* RDPMC is for systems on which all CPUs have metrics. */
static bool has_metrics(void)
{
	return !access(DEVICES "/cpu/events/slots", F_OK);
}

static bool has_level_2(void)
{
	return !access(DEVICES "/cpu/events/topdown-heavy-ops", F_OK) ||
	       !access(DEVICES "/cpu_core/events/topdown-heavy-ops", F_OK);
}

/*
 * Each slot is one of the parts of level 1, and a part of level 2 is in one of these. Regions
 * that follow each other are a whole.
 */
static int test_parts(void)
{
	struct perf_topdown_raw first, a, b, sum = {}, whole = {};
	struct perf_topdown *topdown;
	__s64 parts, error;

	__T("failed to open", !perf_topdown__new(&topdown));
	__T("failed to read", !perf_topdown__read(topdown, &first, 0));
	a = first;
	for (int i = 0; i < 100; i++) {
		spin(4000);
		__T("failed to read", !perf_topdown__read(topdown, &b, ANY));
		perf_topdown__add(&sum, &a, &b);
		a = b;
	}
	perf_topdown__add(&whole, &first, &b);
	__T("another sum", !memcmp(&sum, &whole, sizeof(sum)));
	/* Allow a step of the slots since the read(2) at the begin, and a slot for each switch. */
	error = sum.slots / 255 + 100;
	parts = sum.retiring + sum.bad_spec + sum.fe_bound + sum.be_bound;
	__T_VERBOSE("\t%lld slots, %lld %lld %lld %lld, %lld %lld %lld %lld\n",
		    sum.slots, sum.retiring, sum.bad_spec, sum.fe_bound, sum.be_bound,
		    sum.heavy_ops, sum.br_mispredict, sum.fetch_lat, sum.mem_bound);
	__T("no slots", sum.slots > 400000);
	__T("parts are not all slots", llabs(sum.slots - parts) <= 4 * error);
	__T("nothing retires", sum.retiring > sum.slots / 100);
	__T("not counted", sum.missed < 1000000);
	if (has_level_2()) {
		__T("heavy operations", sum.heavy_ops <= sum.retiring + 2 * error);
		__T("mispredicts", sum.br_mispredict <= sum.bad_spec + 2 * error);
		__T("fetch latency", sum.fetch_lat <= sum.fe_bound + 2 * error);
		__T("memory bound", sum.mem_bound <= sum.be_bound + 2 * error);
	} else {
		__T("level 2 in level 1", !sum.heavy_ops && !sum.br_mispredict &&
		    !sum.fetch_lat && !sum.mem_bound);
	}
	perf_topdown__delete(topdown);
	perf_topdown__delete(NULL);
	return 0;
}

/* Each member is added, and a fraction is from 0 to 1, and 0 without slots. */
static int test_fraction(void)
{
	union {
		struct perf_topdown_raw raw;
		__s64 members[sizeof(struct perf_topdown_raw) / sizeof(__s64)];
	} begin = { .raw.slots = 1 }, end, sum = {};

	for (size_t i = 0; i < ARRAY_SIZE(end.members); i++)
		end.members[i] = 100 + i;
	perf_topdown__add(&sum.raw, &begin.raw, &end.raw);
	perf_topdown__add(&sum.raw, &begin.raw, &end.raw);
	__T("slots", sum.raw.slots == 198);
	for (size_t i = 1; i < ARRAY_SIZE(end.members); i++)
		__T("a member", sum.members[i] == 2 * end.members[i]);
	__T("a half", perf_topdown__fraction(&sum.raw, 99) == 0.5);
	__T("less than 0", perf_topdown__fraction(&sum.raw, -1) == 0);
	__T("more than all", perf_topdown__fraction(&sum.raw, 199) == 1);
	sum.raw.slots = 0;
	__T("of nothing", perf_topdown__fraction(&sum.raw, 1) == 0);
	return 0;
}

/* Return what a thread returns, or NULL. */
static void *in_thread(void *(*function)(void *), void *data)
{
	pthread_t thread;
	void *ret;

	return pthread_create(&thread, NULL, function, data) || pthread_join(thread, &ret) ?
		NULL : ret;
}

/* Read the object of another thread, in a thread that has an object, too. */
static void *read_in_thread(void *topdown)
{
	struct perf_topdown_raw raw;
	struct perf_topdown *own;
	long err;

	if (perf_topdown__new(&own))
		return NULL;
	err = perf_topdown__read(own, &raw, ANY);
	if (!err)
		err = perf_topdown__read(topdown, &raw, ANY);
	perf_topdown__delete(own);
	return (void *)err;
}

static void *open_in_thread(void *unused __maybe_unused)
{
	struct perf_topdown *topdown;

	return perf_topdown__new(&topdown) ? NULL : topdown;
}

/* An object belongs to the thread that has opened it, not to a process that inherited it. */
static int test_owner(void)
{
	struct perf_topdown_raw raw;
	struct perf_topdown *topdown, *of_thread;
	int status;
	pid_t pid;

	__T("failed to open", !perf_topdown__new(&topdown));
	__T("another thread could read",
	    in_thread(read_in_thread, topdown) == (void *)-ESRCH);
	/* The second thread reuses the stack and other data of the first one. */
	of_thread = in_thread(open_in_thread, NULL);
	__T("failed to open in a thread", of_thread);
	__T("a later thread could read",
	    in_thread(read_in_thread, of_thread) == (void *)-ESRCH);
	perf_topdown__delete(of_thread);

	pid = fork();
	__T("failed to fork", pid >= 0);
	if (!pid) {
		int err = perf_topdown__read(topdown, &raw, ANY);

		perf_topdown__delete(topdown);
		if (err != -ESRCH || perf_topdown__new(&topdown) ||
		    perf_topdown__read(topdown, &raw, ANY))
			_exit(1);
		_exit(0);
	}
	__T("failed to wait", waitpid(pid, &status, 0) == pid);
	__T("another process could read, or not open its own", !status);
	__T("failed to read", !perf_topdown__read(topdown, &raw, ANY));
	perf_topdown__delete(topdown);
	return 0;
}

/* A deleted object does not count any more, even if a child has its descriptors. */
static int test_delete(void)
{
	struct perf_topdown_raw a, b;
	struct perf_topdown *topdown;
	pid_t pid;

	__T("failed to open", !perf_topdown__new(&topdown));
	pid = fork();
	__T("failed to fork", pid >= 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	perf_topdown__delete(topdown);
	__T("failed to open", !perf_topdown__new(&topdown));
	__T("failed to read", !perf_topdown__read(topdown, &a, 0));
	spin(20000000);
	__T("failed to read", !perf_topdown__read(topdown, &b, 0));
	kill(pid, SIGKILL);
	__T("failed to wait", waitpid(pid, NULL, 0) == pid);
	__T_VERBOSE("\t%lld ns missed\n", b.missed - a.missed);
	__T("a deleted object counts", b.missed - a.missed < 1000000);
	perf_topdown__delete(topdown);
	return 0;
}

static struct perf_topdown *of_handler;
static volatile __s64 in_handler;	/* slots that the handler has read */
static volatile int handled, failed;

/* Check that slots increase, reading each third time from the kernel. */
static void handler(int sig __maybe_unused)
{
	struct perf_topdown_raw raw;

	if (perf_topdown__read(of_handler, &raw, handled++ % 3 ? ANY : 0) ||
	    raw.slots <= in_handler)
		failed++;
	in_handler = raw.slots;
}

/* A handler may interrupt a reading and read the same object, and both are right. */
static int test_signal(void)
{
	struct itimerval timer = { { 0, 20 }, { 0, 20 } }, off = {};
	struct perf_topdown_raw raw;
	__s64 before, last = 0;

	in_handler = 0;
	handled = 0;
	failed = 0;
	__T("failed to open", !perf_topdown__new(&of_handler));
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < 500000; i++) {
		before = in_handler;
		if (perf_topdown__read(of_handler, &raw, i % 64 ? ANY : 0) ||
		    raw.slots <= before || raw.slots <= last)
			failed++;
		last = raw.slots;
	}
	setitimer(ITIMER_REAL, &off, NULL);
	signal(SIGALRM, SIG_DFL);
	__T_VERBOSE("\t%d signals, %d failed\n", handled, failed);
	__T("no signals", handled > 100);
	__T("failed to read, or less than before", !failed);
	__T("failed to read", !perf_topdown__read(of_handler, &raw, 0));
	__T("more than the kernel counts", last < raw.slots);
	perf_topdown__delete(of_handler);
	return 0;
}

static void *read_topdown(void *data __maybe_unused)
{
	struct perf_topdown_raw raw;
	struct perf_topdown *topdown;
	__s64 slots = 0;
	long reads = 0;

	if (perf_topdown__new(&topdown))
		return NULL;
	WRITE_ONCE(reader, syscall(__NR_gettid));
	while (!READ_ONCE(reader_stop)) {
		if (perf_topdown__read(topdown, &raw, ANY) || raw.slots < slots)
			return NULL;
		slots = raw.slots;
		reads++;
	}
	perf_topdown__delete(topdown);
	return (void *)reads;
}

/* Stay on the CPUs of a PMU. */
static bool move_to(const char *pmu)
{
	char path[128];
	cpu_set_t set;
	int cpu, err;
	FILE *file;

	snprintf(path, sizeof(path), DEVICES "/%s/cpus", pmu);
	file = fopen(path, "r");
	if (!file)
		return false;
	err = fscanf(file, "%d", &cpu) != 1;
	fclose(file);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !err && !sched_setaffinity(0, sizeof(set), &set);
}

/* E-cores do not have metrics. */
static int test_e_core(void)
{
	struct perf_topdown_raw a, b, c;
	struct perf_topdown *topdown;

	if (access(DEVICES "/cpu_atom", F_OK)) {
		__T_VERBOSE("\tno hybrid system\n");
		return 0;
	}
	__T("failed to open", !perf_topdown__new(&topdown));
	__T("failed to move", move_to("cpu_atom"));
	__T("failed to read", !perf_topdown__read(topdown, &a, ANY));
	spin(10000000);
	__T("failed to read", !perf_topdown__read(topdown, &b, ANY));
	__T_VERBOSE("\t%lld slots, %lld ns missed\n", b.slots - a.slots, b.missed - a.missed);
	__T("counted on an E-core", b.slots == a.slots && b.retiring == a.retiring);
	__T("missed nothing on an E-core", b.missed - a.missed > 1000000);
	__T("failed to move", move_to("cpu_core"));
	__T("failed to read", !perf_topdown__read(topdown, &b, ANY));
	spin(10000000);
	__T("failed to read", !perf_topdown__read(topdown, &c, ANY));
	__T("not counted on a P-core", c.slots - b.slots > 10000000 && c.missed == b.missed);
	perf_topdown__delete(topdown);
	return 0;
}

/* Another user has the only set of metrics, on this CPU or in the thread. */
static int test_busy(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_RAW,
		.config = 0x400,	/* slots */
		.pinned = cpu < 0,
	};
	struct perf_topdown_raw a, b, c = {}, d;
	struct perf_topdown *topdown;
	int slots, metric;
	cpu_set_t affinity, set;

	__T("failed to get affinity", !sched_getaffinity(0, sizeof(affinity), &affinity));
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (!has_metrics() || sched_setaffinity(0, sizeof(set), &set)) {
		__T_VERBOSE("\tno metrics\n");
		return 0;
	}
	slots = syscall(__NR_perf_event_open, &attr, cpu < 0 ? 0 : -1, cpu, -1, 0);
	if (slots < 0 && errno == EACCES) {
		__T_VERBOSE("\tnot permitted\n");
		return 0;
	}
	attr.config = 0x8000;		/* retiring */
	attr.pinned = 0;
	metric = syscall(__NR_perf_event_open, &attr, cpu < 0 ? 0 : -1, cpu, slots, 0);
	__T("failed to open others", slots >= 0 && metric >= 0);

	__T("failed to open", !perf_topdown__new(&topdown));
	__T("failed to read", !perf_topdown__read(topdown, &a, ANY));
	spin(10000000);
	__T("failed to read", !perf_topdown__read(topdown, &b, ANY));
	__T_VERBOSE("\tbeside: %lld slots, %lld ns missed\n", b.slots - a.slots,
		    b.missed - a.missed);
	__T("counted what is not counted", b.slots == a.slots);
	__T("missed nothing", b.missed - a.missed > 1000000);
	close(metric);
	close(slots);
	/* Wait for its turn. */
	for (int i = 0; i < 100 && c.slots <= b.slots; i++) {
		usleep(1000);
		__T("failed to read", !perf_topdown__read(topdown, &c, ANY));
	}
	spin(1000000);
	__T("failed to read", !perf_topdown__read(topdown, &d, ANY));
	__T("not counted again", d.slots - c.slots > 1000000);
	__T("missed", d.missed == c.missed);
	__T("what was missed is forgotten", d.missed >= b.missed);
	perf_topdown__delete(topdown);
	sched_setaffinity(0, sizeof(affinity), &affinity);
	return 0;
}

static int test_descriptors(void)
{
	struct perf_topdown *topdown;
	struct rlimit limit, one;
	int fd = dup(1);

	__T("failed to get the limit", fd >= 0 && !getrlimit(RLIMIT_NOFILE, &limit));
	close(fd);
	one = limit;
	for (int i = 0; i < 5; i++) {
		one.rlim_cur = fd + i;
		__T("failed to set the limit", !setrlimit(RLIMIT_NOFILE, &one));
		__T("too few descriptors", perf_topdown__new(&topdown) == -EMFILE);
		__T("descriptors are left open", i == 0 || dup(1) == fd);
		close(fd);
	}
	__T("failed to reset the limit", !setrlimit(RLIMIT_NOFILE, &limit));
	return 0;
}

/* A user can lock a limited number of pages, one for each object. */
static int test_locked_pages(void)
{
	struct rlimit none = { 0, 0 }, files = { 65536, 65536 };
	struct perf_topdown *topdown;
	int status, nr, err;
	pid_t pid;

	if (access(DEVICES "/cpu/format/metrics_slices", F_OK) || getuid()) {
		__T_VERBOSE("\tno user page, or not root\n");
		return 0;
	}
	pid = fork();
	__T("failed to fork", pid >= 0);
	if (!pid) {
		if (setrlimit(RLIMIT_MEMLOCK, &none) || setrlimit(RLIMIT_NOFILE, &files) ||
		    setuid(65534))
			_exit(1);
		for (nr = 0; !(err = perf_topdown__new(&topdown)); nr++)
			;
		__T_VERBOSE("\t%d objects, then %s\n", nr, strerror(-err));
		fflush(stdout);
		_exit(err == -EPERM && nr >= 100 ? 0 : 1);
	}
	__T("failed to wait", waitpid(pid, &status, 0) == pid);
	__T("not EPERM, or too soon", !status);
	return 0;
}

int test_topdown(int argc, char **argv)
{
	struct perf_topdown *topdown;
	int err;

	__T_START;

	err = perf_topdown__new(&topdown);
	if (err == -ENOENT && access(DEVICES "/cpu/events/slots", F_OK) &&
	    access(DEVICES "/cpu_core/events/slots", F_OK)) {
		fprintf(stdout, "SKIP (no PMU)\n");
		return 0;
	}
	__T("failed to open", !err);
	perf_topdown__delete(topdown);

	/* Stay where there are metrics on a hybrid system. */
	move_to("cpu_core");
	test_parts();
	test_fraction();
	test_owner();
	test_delete();
	test_signal();
	test_e_core();
	/* A thread may move between the different CPUs of a hybrid system while it reads. */
	test_moved_reader(read_topdown);
	test_busy(-1);
	test_busy(0);
	test_descriptors();
	test_locked_pages();

	__T_END;
	return tests_failed == 0 ? 0 : -1;
}
