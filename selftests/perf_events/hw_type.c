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

#include "helpers.h"
#include "kselftest_harness.h"

#define DEVICES		"/sys/bus/event_source/devices"
#define MAX_CORE_PMUS	8
#define MAX_IDS		512	/* servers have hundreds of uncore PMUs */
#define MAX_CPUS	64

#ifndef PERF_HW_CONFIG
#error "the kernel headers are too old, run 'make headers' first"
#endif

struct pmu {
	char name[64];
	__u32 type;
	cpu_set_t cpus;
	bool usable;		/* on one of cpus[] */
};

static struct pmu core_pmus[MAX_CORE_PMUS];
static unsigned int nr_core_pmus, nr_other_ids, nr_cpus;
static __u32 other_ids[MAX_IDS];	/* of PMUs that are not core PMUs */
static int cpus[MAX_CPUS];		/* that are online, and that this may run on */

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
	cpu_set_t set, both;

	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (CPU_ISSET(cpu, &set))
			cpus[nr_cpus++] = cpu;
	}
	while (dir && nr_core_pmus < MAX_CORE_PMUS && nr_other_ids < MAX_IDS &&
	       (entry = readdir(dir))) {
		struct pmu *pmu = &core_pmus[nr_core_pmus];
		int type = read_pmu_number(entry->d_name, "type");
		char path[512];

		if (type < 0)
			continue;
		/* Only core PMUs have "cpus"; the only one need not have it. */
		snprintf(path, sizeof(path), DEVICES "/%s/cpus", entry->d_name);
		if (is_only_core_pmu(entry->d_name)) {
			pmu->cpus = set;
		} else if (!read_cpus(path, &pmu->cpus)) {
			other_ids[nr_other_ids++] = type;
			continue;
		}
		snprintf(pmu->name, sizeof(pmu->name), "%.63s", entry->d_name);
		pmu->type = type;
		CPU_AND(&both, &set, &pmu->cpus);
		pmu->usable = CPU_COUNT(&both);
		nr_core_pmus++;
	}
	if (dir)
		closedir(dir);
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

FIXTURE(hw_type)
{
	cpu_set_t old_cpus;
};

FIXTURE_SETUP(hw_type)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int err = try_attr(&attr);

	sched_getaffinity(0, sizeof(self->old_cpus), &self->old_cpus);
	read_pmus();
	ASSERT_LT(0, nr_core_pmus + nr_other_ids);
	ASSERT_GT(MAX_CORE_PMUS, nr_core_pmus);
	ASSERT_GT(MAX_IDS, nr_other_ids);
	if (why_missing(err))
		SKIP(return, "%s", why_missing(err));
}

FIXTURE_TEARDOWN(hw_type)
{
	sched_setaffinity(0, sizeof(self->old_cpus), &self->old_cpus);
}

/*
 * Tries an event with an ID: of the task on any CPU, of the task and of all tasks bound
 * to each CPU, and inherited or not if that makes a difference. The PMU of that ID has
 * the event everywhere or nowhere, and no other has it.
 */
static void check_id(struct __test_metadata *_metadata, __u32 id, const struct pmu *pmu,
		     const struct event *event)
{
	int expected = pmu ? try_event(event, id, 0, -1, false) : ENOENT;

	if (pmu && pmu->usable && event->everywhere)
		EXPECT_EQ(0, expected) TH_LOG("%s, id %x", event->name, id);
	EXPECT_EQ(expected, try_event(event, id, 0, -1, false));
	EXPECT_EQ(expected, try_event(event, id, 0, -1, true));
	for (unsigned int i = 0; i < nr_cpus; i++) {
		int here = pmu && CPU_ISSET(cpus[i], &pmu->cpus) ? expected : ENOENT;
		int err = try_event(event, id, -1, cpus[i], false);

		if (err != EACCES)	/* of all tasks: not permitted */
			EXPECT_EQ(here, err) TH_LOG("%s, id %x, CPU %d", event->name, id, cpus[i]);
		for (int inherit = 0; inherit < 2; inherit++) {
			EXPECT_EQ(here, try_event(event, id, 0, cpus[i], inherit))
				TH_LOG("%s, id %x, CPU %d", event->name, id, cpus[i]);
		}
	}
}

TEST_F(hw_type, matrix)
{
	static const __u32 no_pmus[] = {
		PERF_TYPE_HW_CACHE, 9999, 0x7fffffff, 0x80000000, 0xffffffff,
	};

	for (size_t e = 0; e < ARRAY_SIZE(events); e++) {
		for (unsigned int i = 0; i < nr_core_pmus; i++)
			check_id(_metadata, core_pmus[i].type, &core_pmus[i], &events[e]);
		for (unsigned int i = 0; i < nr_other_ids; i++)
			check_id(_metadata, other_ids[i], NULL, &events[e]);
		for (size_t i = 0; i < ARRAY_SIZE(no_pmus); i++)
			check_id(_metadata, no_pmus[i], NULL, &events[e]);
	}
}

/* Tests whether the fdinfo of @fd has a line with @key and this value. */
static bool has_fdinfo(int fd, const char *key, __u64 value)
{
	char path[64], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "r");
	while (file && !found && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');

		found = colon && colon - line == strlen(key) && !strncmp(line, key, strlen(key)) &&
			strtoull(colon + 1, NULL, 0) == value;
	}
	if (file)
		fclose(file);
	return found;
}

TEST_F(hw_type, fdinfo)
{
	if (!nr_core_pmus)
		SKIP(return, "no core PMU");

	for (unsigned int i = 0; i < nr_core_pmus; i++) {
		for (size_t e = 0; e < ARRAY_SIZE(events); e++) {
			__u32 id = core_pmus[i].type;
			__u64 config = PERF_HW_CONFIG(id, events[e].config);
			int fd = open_event(&events[e], id, 0, -1, false);

			if (fd < 0)
				continue;
			EXPECT_TRUE(has_fdinfo(fd, "perf_event_attr.type", events[e].type));
			EXPECT_TRUE(has_fdinfo(fd, "perf_event_attr.config", config));
			EXPECT_TRUE(has_fdinfo(fd, "pmu_type", id));
			close(fd);
		}
	}
}

static __u64 count_of(int fd)
{
	__u64 count;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : UINT64_MAX;
}

/*
 * Counts on @cpu what this task does, or with @inherit a child, whose event is on the PMU
 * of its parent: so much that the counts of the parent do not hide that it has none.
 */
static void check_count(struct __test_metadata *_metadata, const struct pmu *pmu, int cpu,
			bool inherit)
{
	int fd = open_event(&events[0], pmu->type, 0, -1, inherit);
	__u64 before, count;
	pid_t pid = 0;

	ASSERT_LE(0, fd);
	if (pin_to(cpu)) {
		before = count_of(fd);
		if (inherit)
			pid = fork();
		ASSERT_LE(0, pid);
		if (!pid)
			spin(1000000);
		if (!pid && inherit)
			_exit(0);
		if (pid)
			ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		count = count_of(fd) - before;
		EXPECT_TRUE(CPU_ISSET(cpu, &pmu->cpus) ? count > 1000000 : !count)
			TH_LOG("%s on CPU %d: %llu", pmu->name, cpu, count);
	}
	close(fd);
}

/* An event counts only while its task is on a CPU of its PMU. */
TEST_F(hw_type, counts)
{
	if (!nr_core_pmus)
		SKIP(return, "no core PMU");

	for (unsigned int i = 0; i < nr_core_pmus; i++) {
		for (unsigned int n = 0; core_pmus[i].usable && n < nr_cpus; n++) {
			check_count(_metadata, &core_pmus[i], cpus[n], false);
			check_count(_metadata, &core_pmus[i], cpus[n], true);
		}
	}
}

TEST_HARNESS_MAIN
