// SPDX-License-Identifier: GPL-2.0
/*
 * PERF_TYPE_HARDWARE and PERF_TYPE_HW_CACHE events with the type ID of a PMU in
 * the upper half of attr.config: they count on that PMU or not at all.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */
#include <dirent.h>
#include <sched.h>
#include <sys/wait.h>

#include "alt_period.h"
#include "kselftest_harness.h"

#define DEVICES		"/sys/bus/event_source/devices"
#define MAX_PMUS	512	/* servers have hundreds of uncore PMUs */
#define MAX_CPUS	64
#define MAX_SAMPLES	200
#define ROUNDS		50	/* of a long interval and a window */

#ifndef PERF_HW_CONFIG
#error "the kernel headers are too old, run 'make headers' first"
#endif

struct pmu {
	char name[64];
	__u32 type;
	bool core;
	cpu_set_t cpus;		/* of a core PMU */
};

static struct pmu pmus[MAX_PMUS];
static unsigned int nr_pmus, nr_core_pmus;
static cpu_set_t usable;	/* online, and this may run there */

/* Returns the first CPU after @cpu that is usable, or MAX_CPUS. */
static int next_cpu(int cpu)
{
	do {
		cpu++;
	} while (cpu < MAX_CPUS && !CPU_ISSET(cpu, &usable));
	return cpu;
}

#define for_each_cpu(cpu) \
	for (int cpu = next_cpu(-1); cpu < MAX_CPUS; cpu = next_cpu(cpu))

struct event {
	const char *name;
	__u32 type, config;
	bool everywhere;	/* each core PMU has it */
};

#define CACHE(cache, op, result)						\
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |	\
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct event events[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS) },
	{ "L1-icache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS) },
};

/* The names on x86 and others, s390, and ARC */
static bool is_only_core_pmu(const char *name)
{
	return !strcmp(name, "cpu") || !strcmp(name, "cpum_cf") || !strcmp(name, "arc_pct");
}

static void read_pmus(void)
{
	DIR *dir = opendir(DEVICES);
	struct dirent *entry;

	sched_getaffinity(0, sizeof(usable), &usable);
	while (dir && nr_pmus < MAX_PMUS && (entry = readdir(dir))) {
		struct pmu *pmu = &pmus[nr_pmus];
		char path[512];
		int type;

		type = read_pmu_number(entry->d_name, "type");
		if (type < 0)
			continue;
		snprintf(pmu->name, sizeof(pmu->name), "%.63s", entry->d_name);
		pmu->type = type;
		/* Only core PMUs have "cpus"; the only one need not have it. */
		snprintf(path, sizeof(path), DEVICES "/%s/cpus", entry->d_name);
		if (read_cpus(path, &pmu->cpus)) {
			pmu->core = true;
		} else if (is_only_core_pmu(pmu->name)) {
			pmu->core = true;
			pmu->cpus = usable;
		}
		nr_core_pmus += pmu->core;
		nr_pmus++;
	}
	if (dir)
		closedir(dir);
}

static const struct pmu *find_pmu(__u32 type)
{
	for (unsigned int i = 0; i < nr_pmus; i++) {
		if (pmus[i].type == type)
			return &pmus[i];
	}
	return NULL;
}

static struct perf_event_attr attr_of(const struct event *event, __u32 id)
{
	return (struct perf_event_attr){
		.type = event->type,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_HW_CONFIG(id, event->config),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

/* Returns the file descriptor, or the error as a negative number. */
static int open_attr(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = perf_event_open(attr, pid, cpu, -1);

	/* Some PMUs cannot exclude anything. */
	if (fd < 0 && errno == EINVAL) {
		attr->exclude_kernel = 0;
		attr->exclude_hv = 0;
		fd = perf_event_open(attr, pid, cpu, -1);
	}
	return fd < 0 ? -errno : fd;
}

static int open_event(const struct event *event, __u32 id, pid_t pid, int cpu, bool inherit)
{
	struct perf_event_attr attr = attr_of(event, id);

	attr.inherit = inherit;
	return open_attr(&attr, pid, cpu);
}

static int try_event(const struct event *event, __u32 id, pid_t pid, int cpu, bool inherit)
{
	int fd = open_event(event, id, pid, cpu, inherit);

	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

static const char *error_name(int err)
{
	const char *name = err > 0 ? strerrorname_np(err) : NULL;

	return err < 0 ? "-" : !err ? "ok" : name ?: "?";
}

/* Returns a CPU that @pmu serves, or one that it does not, or -1 if there is none. */
static int find_cpu(const struct pmu *pmu, bool served)
{
	for_each_cpu(cpu) {
		if (!!CPU_ISSET(cpu, &pmu->cpus) == served)
			return cpu;
	}
	return -1;
}

static bool can_run_on(const struct pmu *pmu)
{
	return pmu->core && find_cpu(pmu, true) >= 0;
}

/* Returns false if this user may open no event. */
static bool is_permitted(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = perf_event_open(&attr, 0, -1, -1);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || (errno != EACCES && errno != EPERM);
}

FIXTURE(hw_type)
{
	cpu_set_t old_cpus;
};

FIXTURE_SETUP(hw_type)
{
	sched_getaffinity(0, sizeof(self->old_cpus), &self->old_cpus);
	if (!nr_pmus)
		read_pmus();
	ASSERT_LT(0, nr_pmus);
	ASSERT_GT(MAX_PMUS, nr_pmus);
	if (!is_permitted())
		SKIP(return, "not permitted, see /proc/sys/kernel/perf_event_paranoid");
}

FIXTURE_TEARDOWN(hw_type)
{
	sched_setaffinity(0, sizeof(self->old_cpus), &self->old_cpus);
}

/* Merges the results of several ways to open an event: -2 if they differ. */
static void merge(int *seen, int err)
{
	*seen = *seen == -1 || *seen == err ? err : -2;
}

/*
 * Tries an event with an ID: of the task on any CPU, of the task and of all tasks bound
 * to each CPU, and inherited or not if that makes a difference.
 */
static void check_id(struct __test_metadata *_metadata, __u32 id, const struct event *event)
{
	const struct pmu *pmu = find_pmu(id);
	bool core = pmu && pmu->core;
	int any = -1, served = -1, other = -1;

	for (int inherit = 0; inherit < 2; inherit++) {
		merge(&any, try_event(event, id, 0, -1, inherit));
		for_each_cpu(cpu) {
			int *seen = core && CPU_ISSET(cpu, &pmu->cpus) ? &served : &other;

			merge(seen, try_event(event, id, 0, cpu, inherit));
		}
	}
	for_each_cpu(cpu) {
		int *seen = core && CPU_ISSET(cpu, &pmu->cpus) ? &served : &other;
		int err = try_event(event, id, -1, cpu, false);

		if (err == EACCES)	/* of all tasks: not permitted */
			break;
		merge(seen, err);
	}

	ksft_print_msg("%-10x %-18.18s %-22s %-11s %-11s %s\n", id,
		       pmu ? pmu->name : "(no PMU)", event->name, error_name(any),
		       core ? error_name(served) : "-", error_name(other));

	if (other != -1) {
		EXPECT_EQ(ENOENT, other) TH_LOG("%s, id %x", event->name, id);
	}
	if (!core) {
		EXPECT_EQ(ENOENT, any) TH_LOG("%s, id %x", event->name, id);
		return;
	}
	if (served == -1)		/* none of its CPUs is usable */
		return;
	/* The PMU has the event everywhere or nowhere. */
	EXPECT_NE(-2, any) TH_LOG("%s, id %x", event->name, id);
	EXPECT_EQ(any, served) TH_LOG("%s, id %x", event->name, id);
	if (event->everywhere) {
		EXPECT_EQ(0, any) TH_LOG("%s, id %x", event->name, id);
	}
}

TEST_F(hw_type, matrix)
{
	static const __u32 no_pmus[] = {
		PERF_TYPE_HW_CACHE, 99, 0x7fffffff, 0x80000000, 0xffffffff,
	};

	ksft_print_msg("%-10s %-18s %-22s %-11s %-11s %s\n", "ID", "PMU", "event", "any CPU",
		       "its CPUs", "other CPUs");
	for (size_t e = 0; e < ARRAY_SIZE(events); e++) {
		for (unsigned int i = 0; i < nr_pmus; i++)
			check_id(_metadata, pmus[i].type, &events[e]);
		for (size_t i = 0; i < ARRAY_SIZE(no_pmus); i++) {
			if (!find_pmu(no_pmus[i]))
				check_id(_metadata, no_pmus[i], &events[e]);
		}
	}
}

/* Returns the number after @key in the fdinfo of @fd. */
static __u64 fdinfo(int fd, const char *key)
{
	__u64 value = UINT64_MAX;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "r");
	if (!file)
		return value;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			value = strtoull(line + strlen(key) + 1, NULL, 0);
	}
	fclose(file);
	return value;
}

TEST_F(hw_type, fdinfo)
{
	if (!nr_core_pmus)
		SKIP(return, "no core PMU");

	for (unsigned int i = 0; i < nr_pmus; i++) {
		for (size_t e = 0; pmus[i].core && e < ARRAY_SIZE(events); e++) {
			const struct event *event = &events[e];
			int fd = open_event(event, pmus[i].type, 0, -1, false);

			if (fd < 0)
				continue;
			EXPECT_EQ(event->type, fdinfo(fd, "perf_event_attr.type"));
			EXPECT_EQ(pmus[i].type, fdinfo(fd, "pmu_type"));
			EXPECT_EQ(PERF_HW_CONFIG(pmus[i].type, event->config),
				  fdinfo(fd, "perf_event_attr.config"));
			close(fd);
		}
	}
}

static __u64 count_of(int fd)
{
	__u64 count;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : UINT64_MAX;
}

/* An event counts only while its task is on a CPU of its PMU. */
TEST_F(hw_type, counts)
{
	if (!nr_core_pmus)
		SKIP(return, "no core PMU");

	for (unsigned int i = 0; i < nr_pmus; i++) {
		if (!can_run_on(&pmus[i]))
			continue;
		for_each_cpu(cpu) {
			int fd = open_event(&events[0], pmus[i].type, 0, -1, false);
			__u64 before;

			ASSERT_LE(0, fd);
			if (!pin_to(cpu)) {
				close(fd);
				continue;
			}
			before = count_of(fd);
			spin(10000);
			if (CPU_ISSET(cpu, &pmus[i].cpus)) {
				EXPECT_LT(before + 10000, count_of(fd))
					TH_LOG("%s on CPU %d", pmus[i].name, cpu);
			} else {
				EXPECT_EQ(before, count_of(fd))
					TH_LOG("%s on CPU %d", pmus[i].name, cpu);
			}
			close(fd);
		}
	}
}

/* The event of a child counts on the PMU of its parent. */
TEST_F(hw_type, inherit)
{
	if (!nr_core_pmus)
		SKIP(return, "no core PMU");

	for (unsigned int i = 0; i < nr_pmus; i++) {
		for (int served = 0; can_run_on(&pmus[i]) && served < 2; served++) {
			int cpu = find_cpu(&pmus[i], served);
			__u64 count;
			int fd;
			pid_t pid;

			if (cpu < 0)
				continue;
			/* The counts of the parent must not hide that the child has none. */
			ASSERT_TRUE(pin_to(cpu));
			fd = open_event(&events[0], pmus[i].type, 0, -1, true);
			ASSERT_LE(0, fd);
			pid = fork();
			ASSERT_LE(0, pid);
			if (!pid) {
				spin(1000000);
				_exit(0);
			}
			ASSERT_EQ(pid, waitpid(pid, NULL, 0));
			count = count_of(fd);
			if (served) {
				EXPECT_LT(1000000, count) TH_LOG("%s", pmus[i].name);
			} else {
				EXPECT_EQ(0, count) TH_LOG("%s", pmus[i].name);
			}
			close(fd);
		}
	}
}

/*
 * A task that goes from CPU to CPU has an event with windows on each core PMU: no interval
 * is lost, cut short, or swapped with another.
 */
TEST_F(hw_type, windows_on_all_pmus)
{
	struct sample *samples[MAX_PMUS] = {};
	struct ring rings[MAX_PMUS] = {};
	size_t nr[MAX_PMUS] = {};
	int fds[MAX_PMUS];
	unsigned int moves = 0, opened = 0;
	time_t end = time(NULL) + 20;
	bool enough = false;

	if (!nr_core_pmus)
		SKIP(return, "no core PMU");
	if (!have_alt_period())
		SKIP(return, "the kernel has no alternating sample periods");

	for (unsigned int i = 0; i < nr_pmus; i++) {
		struct perf_event_attr attr = attr_of(&events[0], pmus[i].type);

		if (!can_run_on(&pmus[i]))
			continue;
		attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
		/* No two are the same, so that a mix-up shows. */
		attr.sample_period = 99700 + 100 * i;
		attr.alt_sample_period = 3000 + 100 * i;
		fds[i] = open_attr(&attr, 0, -1);
		if (fds[i] == -EOPNOTSUPP || fds[i] == -ENOENT)
			continue;	/* has no interrupt, or cannot sample this */
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(0, ring_map(&rings[i], fds[i]));
		samples[i] = calloc(MAX_SAMPLES, sizeof(*samples[i]));
		ASSERT_NE(NULL, samples[i]);
		opened++;
	}
	if (!opened)
		SKIP(return, "no core PMU supports alternating sample periods");

	while (!enough && time(NULL) <= end) {
		if (!pin_to(moves++ % MAX_CPUS))
			continue;
		for (int n = 0; n < 20; n++)
			spin_a_while();
		enough = true;
		for (unsigned int i = 0; i < nr_pmus; i++) {
			if (!rings[i].page)
				continue;
			nr[i] += ring_read(&rings[i], &samples[i][nr[i]],
					   MAX_SAMPLES - nr[i],
					   PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD);
			enough &= nr[i] >= 2 * ROUNDS;
		}
	}

	for (unsigned int i = 0; i < nr_pmus; i++) {
		if (!rings[i].page)
			continue;
		ASSERT_LE(2 * ROUNDS, nr[i]) TH_LOG("%s", pmus[i].name);
		EXPECT_EQ(0, rings[i].nr_lost);
		for (size_t s = 0; s < nr[i]; s++) {
			ASSERT_EQ(s % 2, samples[i][s].window) TH_LOG("%s, %zu", pmus[i].name, s);
			ASSERT_EQ((s % 2 ? 3000 : 99700) + 100 * i, samples[i][s].period)
				TH_LOG("%s, %zu", pmus[i].name, s);
		}
		ksft_print_msg("%s: %zu samples, %u moves\n", pmus[i].name, nr[i], moves);
		ring_unmap(&rings[i]);
		free(samples[i]);
		close(fds[i]);
	}
}

TEST_HARNESS_MAIN
