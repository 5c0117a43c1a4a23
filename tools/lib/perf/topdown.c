// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__i386__) || defined(__x86_64__)
#include <cpuid.h>
#endif
#include <api/fs/fs.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>
#include <perf/evsel.h>
#include <perf/threadmap.h>
#include <perf/topdown.h>
#include <internal/evsel.h>
#include <internal/mmap.h>
#include <internal/xyarray.h>

#define LEVEL_1		4	/* parts */

/*
 * A metric is a fraction of 8 bits of all slots since the metrics were reset, which
 * read(2) does. At 10 to 30 slots in a nanosecond this is a system call each 140 us
 * at most, for steps of half a microsecond.
 */
#define METRIC_STEPS	255
#define COARSE_SLOTS	(4 * 1024 * 1024)

/* Of ratios. */
#define MAX_ERROR	0.1

struct topdown_group;

/* Events that tell what slots are used for. */
struct topdown_backend {
	/* Names in sysfs, or where there are none, the configs. The first one leads. */
	const char *names[PERF_MMAP_GROUP_MAX];
	u64 configs[PERF_MMAP_GROUP_MAX];
	/* Of a level: how many these are, 0 if there is no such level. */
	int nr[3];
	/* A PMU with this event is for another backend. */
	const char *without;
	/* Slots of a cycle, 0 if this is not known for the PMU. */
	unsigned int (*width)(const char *pmu);
	void (*add)(struct topdown_group *group, const u64 *counts,
		    struct perf_topdown_value *value);
};

/* The events on a PMU. */
struct topdown_group {
	struct topdown_group *next;
	const struct topdown_backend *backend;
	unsigned int width;
	int nr;
	struct perf_evsel *evsels[PERF_MMAP_GROUP_MAX];
	struct perf_event_mmap_page *pcs[PERF_MMAP_GROUP_MAX];
	u64 configs[PERF_MMAP_GROUP_MAX];
	bool in_user_space;		/* or the user pages are not right */
	bool checked;			/* whether they are */
	u64 running;			/* ns, at the last read(2) */

	/* Of metrics, when they were reset: */
	u64 slots;
	u64 error;
	u32 lock;			/* of the user page */

	/* Of Arm: the counts of the last value, and what was computed until then. */
	u64 last[PERF_MMAP_GROUP_MAX];
	double retiring, bad_spec;
};

struct perf_topdown {
	struct topdown_group *groups;
	const char **owner;	/* &thread, in memory that fork(2) clears */
};

/* Its address is different in each thread. */
static __thread const char thread;

/* Intel's metrics: slots, and parts that the kernel, or libperf, has made of fractions. */
static void add_metrics(struct topdown_group *group, const u64 *counts,
			struct perf_topdown_value *value)
{
	value->slots += counts[0];
	for (int i = 1; i < group->nr; i++)
		value->part[i - 1] += counts[i];
}

/* Intel's E-cores: an event for each part. */
static void add_parts(struct topdown_group *group, const u64 *counts,
		      struct perf_topdown_value *value)
{
	for (int i = 0; i < group->nr; i++) {
		value->slots += counts[i];
		value->part[i] += counts[i];
	}
}

enum { AMD_CYCLES, AMD_RETIRED, AMD_DISPATCHED, AMD_FRONTEND, AMD_BACKEND };

/* Slots that another thread of the core used are none of the parts. */
static void add_amd(struct topdown_group *group, const u64 *counts,
		    struct perf_topdown_value *value)
{
	value->slots += group->width * counts[AMD_CYCLES];
	value->part[PERF_TOPDOWN_RETIRING] += counts[AMD_RETIRED];
	if (counts[AMD_DISPATCHED] > counts[AMD_RETIRED])
		value->part[PERF_TOPDOWN_BAD_SPEC] += counts[AMD_DISPATCHED] -
						      counts[AMD_RETIRED];
	value->part[PERF_TOPDOWN_FE_BOUND] += counts[AMD_FRONTEND];
	value->part[PERF_TOPDOWN_BE_BOUND] += counts[AMD_BACKEND];
}

/* Zen 4 and later. */
static unsigned int amd_width(const char *pmu __maybe_unused)
{
#if defined(__i386__) || defined(__x86_64__)
	unsigned int max, eax, b, c, d, family, model;

	if (strcmp(pmu, "cpu") || !__get_cpuid(0, &max, &b, &c, &d) || b != signature_AMD_ebx)
		return 0;
	__cpuid(1, eax, b, c, d);
	family = (eax >> 8 & 0xf) + (eax >> 20 & 0xff);
	model = (eax >> 4 & 0xf) + (eax >> 12 & 0xf0);
	if (family >= 0x1a)
		return 8;
	/* Of this family, Zen 3 has the other models. */
	if (family == 0x19 && ((model >= 0x10 && model < 0x20) || model >= 0x60))
		return 6;
#endif
	return 0;
}

enum { ARM_CYCLES, ARM_RETIRED, ARM_SPECULATED, ARM_STALLED, ARM_FRONTEND, ARM_BACKEND };

/*
 * Slots that are not stalled retire or are of bad speculation, as operations do: which is
 * right for what was executed in between, but not for sums.
 */
static void add_arm(struct topdown_group *group, const u64 *counts,
		    struct perf_topdown_value *value)
{
	u64 delta[PERF_MMAP_GROUP_MAX];
	double used, retired = 0;

	for (int i = 0; i < group->nr; i++) {
		delta[i] = counts[i] - group->last[i];
		group->last[i] = counts[i];
	}
	used = (double)group->width * delta[ARM_CYCLES] - delta[ARM_STALLED];
	if (used > 0 && delta[ARM_SPECULATED])
		retired = used * delta[ARM_RETIRED] / delta[ARM_SPECULATED];
	if (used > 0) {
		group->retiring += min(retired, used);
		group->bad_spec += used - min(retired, used);
	}
	value->slots += group->width * counts[ARM_CYCLES];
	value->part[PERF_TOPDOWN_RETIRING] += group->retiring;
	value->part[PERF_TOPDOWN_BAD_SPEC] += group->bad_spec;
	value->part[PERF_TOPDOWN_FE_BOUND] += counts[ARM_FRONTEND];
	value->part[PERF_TOPDOWN_BE_BOUND] += counts[ARM_BACKEND];
}

/* Read the first line of a file of a PMU. Returns false if it has none. */
static bool read_line(const char *pmu, const char *file, char *line, size_t size)
{
	char path[PATH_MAX];
	bool done;
	FILE *f;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/%s",
		 sysfs__mountpoint(), pmu, file);
	f = fopen(path, "r");
	if (!f)
		return false;
	done = fgets(line, size, f);
	fclose(f);
	return done;
}

static unsigned int arm_width(const char *pmu)
{
	char line[64];

	return read_line(pmu, "caps/slots", line, sizeof(line)) ? strtoul(line, NULL, 0) : 0;
}

static const struct topdown_backend backends[] = {
	{
		.names = {
			"slots", "topdown-retiring", "topdown-bad-spec", "topdown-fe-bound",
			"topdown-be-bound", "topdown-heavy-ops", "topdown-br-mispredict",
			"topdown-fetch-lat", "topdown-mem-bound",
		},
		.nr = { 0, 1 + LEVEL_1, 1 + PERF_TOPDOWN_PARTS },
		.add = add_metrics,
	}, {
		.names = {
			"topdown-retiring", "topdown-bad-spec", "topdown-fe-bound",
			"topdown-be-bound",
		},
		.nr = { 0, LEVEL_1 },
		.without = "slots",
		.add = add_parts,
	}, {
		.configs = {
			[AMD_CYCLES]	 = 0x76,
			[AMD_RETIRED]	 = 0xc1,
			[AMD_DISPATCHED] = 0x7aa,
			[AMD_FRONTEND]	 = 0x1000001a0,
			[AMD_BACKEND]	 = 0x100001ea0,
		},
		.nr = { 0, 5 },
		.width = amd_width,
		.add = add_amd,
	}, {
		.names = {
			[ARM_CYCLES]	 = "cpu_cycles",
			[ARM_RETIRED]	 = "op_retired",
			[ARM_SPECULATED] = "op_spec",
			[ARM_STALLED]	 = "stall_slot",
			[ARM_FRONTEND]	 = "stall_slot_frontend",
			[ARM_BACKEND]	 = "stall_slot_backend",
		},
		.nr = { 0, 6 },
		.width = arm_width,
		.add = add_arm,
	},
};

/* Get the config of an event like "event=0x00,umask=0x80", the only terms of core PMUs here. */
static bool find_event(const char *pmu, const char *name, u64 *config)
{
	char file[NAME_MAX], line[64], *term, *rest = line;

	snprintf(file, sizeof(file), "events/%s", name);
	if (!read_line(pmu, file, line, sizeof(line)))
		return false;
	*config = 0;
	while ((term = strsep(&rest, ","))) {
		if (!strncmp(term, "event=", 6))
			*config |= strtoul(term + 6, NULL, 0);
		else if (!strncmp(term, "umask=", 6))
			*config |= strtoul(term + 6, NULL, 0) << 8;
		else
			return false;
	}
	return true;
}

/* Find the events that a PMU has for a level: 0, -ENOENT if none, -EOPNOTSUPP for level 1. */
static int find_events(const char *pmu, unsigned int level, struct topdown_group *group)
{
	int err = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(backends); i++) {
		const struct topdown_backend *backend = &backends[i];
		int nr;

		group->backend = backend;
		group->nr = backend->nr[level];
		group->width = 1;
		if (backend->without && find_event(pmu, backend->without, &group->configs[0]))
			continue;
		if (backend->width)
			group->width = backend->width(pmu);
		if (!group->width)
			continue;
		for (nr = 0; nr < backend->nr[1] || nr < group->nr; nr++) {
			group->configs[nr] = backend->configs[nr];
			if (backend->names[nr] &&
			    !find_event(pmu, backend->names[nr], &group->configs[nr]))
				break;
		}
		if (group->nr && nr >= group->nr)
			return 0;
		if (nr >= backend->nr[1])
			err = -EOPNOTSUPP;
	}
	return err;
}

static void close_group(struct topdown_group *group, bool inherited)
{
	for (int i = group->nr - 1; i >= 0; i--) {
		struct perf_evsel *evsel = group->evsels[i];

		if (!evsel)
			continue;
		/* A process that was forked does not have these mappings. */
		if (inherited) {
			xyarray__delete(evsel->mmap);
			evsel->mmap = NULL;
		}
		perf_evsel__munmap(evsel);
		perf_evsel__close(evsel);
		perf_evsel__delete(evsel);
	}
	free(group);
}

/* Open the events for the calling thread. They begin to count together. */
static int open_group(struct topdown_group *group, unsigned int type,
		      struct perf_thread_map *threads)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_RUNNING,
#ifdef __aarch64__
		.config1 = 0x2,		/* Request user access */
#endif
	};

	for (int i = 0; i < group->nr; i++) {
		struct perf_evsel *evsel;
		int err, fd;

		attr.config = group->configs[i];
		evsel = perf_evsel__new(&attr);
		if (!evsel)
			return -ENOMEM;
		group->evsels[i] = evsel;
		evsel->leader = group->evsels[0];
		err = perf_evsel__open(evsel, NULL, threads);
		if (err)
			return err;
		fd = *(int *)xyarray__entry(evsel->fd, 0, 0);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		if (perf_evsel__mmap(evsel, 0))
			return -errno;
		group->pcs[i] = perf_evsel__mmap_base(evsel, 0, 0);
		attr.disabled = 0;
	}
	group->in_user_space = true;
	group->lock = READ_ONCE(group->pcs[0]->lock);
	return perf_evsel__enable(group->evsels[0]) ? -errno : 0;
}

/* Add the events of a PMU. */
static int add_pmu(struct perf_topdown *topdown, const char *pmu, unsigned int level,
		   struct perf_thread_map *threads)
{
	struct topdown_group *group = zalloc(sizeof(*group));
	char type[32];
	int err;

	if (!group)
		return -ENOMEM;
	err = find_events(pmu, level, group);
	if (!err && !read_line(pmu, "type", type, sizeof(type)))
		err = -ENOENT;
	if (!err)
		err = open_group(group, strtoul(type, NULL, 10), threads);
	if (err) {
		close_group(group, false);
		return err;
	}
	group->next = topdown->groups;
	topdown->groups = group;
	return 0;
}

static int add_pmus(struct perf_topdown *topdown, unsigned int level)
{
	struct perf_thread_map *threads;
	int none = -ENOENT, err = 0;
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (!sysfs__mountpoint())
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/bus/event_source/devices", sysfs__mountpoint());
	dir = opendir(path);
	if (!dir)
		return -errno;
	threads = perf_thread_map__new_dummy();
	if (!threads) {
		closedir(dir);
		return -ENOMEM;
	}
	perf_thread_map__set_pid(threads, 0, 0);

	while (!err && (entry = readdir(dir))) {
		errno = 0;
		err = add_pmu(topdown, entry->d_name, level, threads);
		/* A file that cannot be opened is none that is not there. */
		if (err == -ENOENT && (errno == EMFILE || errno == ENFILE))
			err = -errno;
		/* Another one may do. */
		if (err == -ENOENT || err == -EOPNOTSUPP) {
			if (err == -EOPNOTSUPP)
				none = err;
			err = 0;
		}
	}
	closedir(dir);
	perf_thread_map__put(threads);
	if (!err && !topdown->groups)
		err = none;
	return err;
}

int perf_topdown__new(struct perf_topdown **topdown, unsigned int level)
{
	struct perf_topdown *new;
	int err;

	if (level < 1 || level > 2)
		return -EINVAL;
	new = zalloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->owner = mmap(NULL, sizeof(*new->owner), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (new->owner == MAP_FAILED) {
		free(new);
		return -ENOMEM;
	}
	madvise(new->owner, sizeof(*new->owner), MADV_WIPEONFORK);
	*new->owner = &thread;

	err = add_pmus(new, level);
	if (err)
		perf_topdown__delete(new);
	else
		*topdown = new;
	return err;
}

static bool has_metrics(const struct topdown_group *group)
{
	return group->backend->add == add_metrics;
}

/* Whether the kernel has done anything with the group since its metrics were reset. */
static u32 lock_changes(const struct topdown_group *group)
{
	return READ_ONCE(group->pcs[0]->lock) - group->lock;
}

/*
 * What metrics may be wrong by that are fractions of that many slots: a step of each time
 * slice, which the kernel counts by itself, rounded.
 */
static u64 metrics_error(const struct topdown_group *group, u64 slots)
{
	return slots / METRIC_STEPS + 1 + lock_changes(group);
}

static int read_user_pages(const struct topdown_group *group, u64 *counts, u64 *slots)
{
	return perf_mmap__read_group(group->pcs, group->configs, group->nr, counts, slots);
}

/*
 * Read the counts with read(2), which resets metrics.
 *
 * Returns 1 if the group has counted since the last time, 0 if not, or -EAGAIN.
 */
static int read_kernel(struct topdown_group *group, u64 *counts)
{
	u64 data[2 + PERF_MMAP_GROUP_MAX];	/* nr, time running, counts */
	ssize_t size = (2 + group->nr) * sizeof(*data);
	bool counted;

	if (read(*(int *)xyarray__entry(group->evsels[0]->fd, 0, 0), data, size) != size)
		return -EAGAIN;
	counted = data[1] != group->running;
	group->running = data[1];
	memcpy(counts, data + 2, group->nr * sizeof(*data));
	if (has_metrics(group)) {
		/* Of this, lock changes of read(2) itself are a few. */
		group->error += metrics_error(group, counts[0] - group->slots);
		group->slots = counts[0];
		group->lock = READ_ONCE(group->pcs[0]->lock);
	}
	return counted;
}

/*
 * Kernels before "perf/x86/intel: Count TopDown metrics by time slice" have something
 * else in the user pages, and do not update them when the metrics are read. Find
 * out by reading in user space, in the kernel, and in user space.
 */
static void check_user_pages(struct topdown_group *group)
{
	u64 before[PERF_MMAP_GROUP_MAX], counts[PERF_MMAP_GROUP_MAX];
	u64 after[PERF_MMAP_GROUP_MAX], slots;

	/* Otherwise the thread may be on a CPU of another kind now. */
	if (read_user_pages(group, before, &slots) != 1 || read_kernel(group, counts) != 1 ||
	    read_user_pages(group, after, &slots) != 1)
		return;
	group->in_user_space = before[0] <= counts[0] && counts[0] <= after[0];
	group->checked = true;
}

int perf_topdown__read(struct perf_topdown *topdown, struct perf_topdown_value *value)
{
	bool counting = false;

	if (*topdown->owner != &thread)
		return -ESRCH;

	memset(value, 0, sizeof(*value));
	for (struct topdown_group *group = topdown->groups; group; group = group->next) {
		u64 counts[PERF_MMAP_GROUP_MAX], slots = 0, step = 0;
		int ret = -1;

		if (group->in_user_space && !group->checked)
			check_user_pages(group);
		if (group->in_user_space)
			ret = read_user_pages(group, counts, &slots);
		if (ret < 0 ||
		    (ret && has_metrics(group) && (slots > COARSE_SLOTS || lock_changes(group)))) {
			ret = read_kernel(group, counts);
			if (ret < 0)
				return ret;
		} else if (has_metrics(group)) {
			step = metrics_error(group, counts[0] - group->slots);
		}
		if (ret)
			counting = true;
		group->backend->add(group, counts, value);
		value->error += group->error + step;
		value->step += step;
	}
	return counting ? 0 : -EAGAIN;
}

int perf_topdown__ratios(const struct perf_topdown_value *a, const struct perf_topdown_value *b,
			 double ratio[PERF_TOPDOWN_PARTS], double *error)
{
	double slots = b->slots - a->slots;

	if (b->slots < a->slots || b->error + a->step < a->error)
		return -EINVAL;
	if (!slots)
		return -ERANGE;
	/* Each end is wrong by a step, and what is in between by what was added since. */
	*error = (b->error + 2 * a->step - a->error) / slots;
	if (*error > MAX_ERROR)
		return -ERANGE;
	for (int i = 0; i < PERF_TOPDOWN_PARTS; i++) {
		/* A part can get smaller by a step. */
		ratio[i] = b->part[i] > a->part[i] ? (b->part[i] - a->part[i]) / slots : 0;
		ratio[i] = min(ratio[i], 1.0);
	}
	return 0;
}

void perf_topdown__delete(struct perf_topdown *topdown)
{
	struct topdown_group *group, *next;

	if (!topdown)
		return;
	for (group = topdown->groups; group; group = next) {
		next = group->next;
		close_group(group, !*topdown->owner);
	}
	munmap(topdown->owner, sizeof(*topdown->owner));
	free(topdown);
}
