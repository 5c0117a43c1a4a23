// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <perf/topdown.h>

#define STEPS		0xff	/* of a fraction, which has 8 bits */
#define NR_PARTS	8
/* No sequence count of a user page: those are even while nobody writes. */
#define NO_LOCK		1
#define NO_THREAD	~0UL

/* The events of a PMU: its leader counts slots or cycles, the others parts of the slots. */
struct topdown_group {
	int		fd[1 + NR_PARTS];
	int		nr;
	unsigned int	width;		/* slots of a cycle, or 1 */
	bool		rest;		/* bad speculation is the rest */
	unsigned int	retiring;	/* config, if not the one in sysfs */
};

/*
 * The kernel adds the registers of slots and metrics to the counts each time that the
 * thread is switched or its events are read, zeroes them, and changes the sequence count
 * of the user page of slots. As long as that is @lock, counts are @base and what is in
 * the registers.
 */
struct perf_topdown {
	struct perf_event_mmap_page	*page;
	unsigned long			*owner;	/* 0 if inherited */
	struct perf_topdown_raw		base;
	u32				lock;
	bool				busy;	/* @base is being written */
	int				nr;
	struct topdown_group		groups[2];
};

/*
 * A number, as the address of what a thread has may have been that of another one. With
 * this model it is found without a function call.
 */
static __thread unsigned long this_thread __attribute__((tls_model("initial-exec"))) = NO_THREAD;
static unsigned long last_thread;

/* What is read instead of a user page where there is none. */
static struct perf_event_mmap_page no_page;

#if defined(__i386__) || defined(__x86_64__)
#include <cpuid.h>

#define RDPMC_SLOTS	0x40000003	/* fixed counter 3 */
#define RDPMC_METRICS	0x20000000

static u64 rdpmc(unsigned int counter)
{
	unsigned int low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (counter));
	return low | (u64)high << 32;
}

/* Those for which tools/perf/pmu-events/arch/x86 has TopdownL1, and with which formula. */
static bool find_e_core(struct topdown_group *group)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d))
		return false;
	switch (a & 0xfff0ff0) {
	/* alderlake, alderlaken */
	case 0x90670: case 0x906a0: case 0xb0670: case 0xb06a0: case 0xb06e0: case 0xb06f0:
		group->width = 5;
		group->rest = true;
		group->retiring = 0xc2;
		return true;
	/* meteorlake, for which sysfs has all uops (0xc2), sierraforest, grandridge */
	case 0xa06a0: case 0xa06c0: case 0xb0650: case 0xa06f0: case 0xb0660:
		group->width = 6;
		group->retiring = 0x72;
		return true;
	/* arrowlake, lunarlake */
	case 0xc0650: case 0xc0660: case 0xb06d0:
		group->width = 8;
		group->retiring = 0x2c2;
		return true;
	default:
		return false;
	}
}
#else
#define RDPMC_SLOTS	0
#define RDPMC_METRICS	0

static u64 rdpmc(unsigned int counter __maybe_unused) { return 0; }
static bool find_e_core(struct topdown_group *group __maybe_unused) { return false; }
#endif

/* Read up to two numbers from a file of a PMU. */
static int scan(const char *pmu, const char *file, const char *format, unsigned int *a,
		unsigned int *b)
{
	char path[128];
	int err = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", pmu, file);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (fscanf(f, format, a, b) < 1)
		err = -ENOENT;
	fclose(f);
	return err;
}

static int open_group(struct perf_topdown *topdown, const char *pmu, bool hybrid)
{
	static const char * const names[1 + NR_PARTS] = {
		"events/slots", "events/topdown-retiring", "events/topdown-bad-spec",
		"events/topdown-fe-bound", "events/topdown-be-bound",
		"events/topdown-heavy-ops", "events/topdown-br-mispredict",
		"events/topdown-fetch-lat", "events/topdown-mem-bound",
	};
	struct topdown_group *group = &topdown->groups[topdown->nr];
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.exclude_kernel = 1,
		.exclude_hv = 1,
		/* What a virtual machine runs is not this thread's; KVM may refuse both. */
		.exclude_guest = 1,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	/* On a hybrid system, E-cores do not have level 2. */
	int max = hybrid ? NR_PARTS / 2 : NR_PARTS;
	unsigned int event, umask;
	bool metrics;
	void *page;
	int err, fd;

	err = scan(pmu, "type", "%u", &attr.type, NULL);
	if (err)
		return err;
	for (group->nr = 0; group->nr <= max; group->nr++) {
		umask = 0;
		err = scan(pmu, names[group->nr], "event=%x,umask=%x", &event, &umask);
		if (err == -ENOENT && group->nr == 1 + NR_PARTS / 2)
			break;		/* no level 2 */
		if (err == -ENOENT && !group->nr && strcmp(pmu, "cpu_core") && find_e_core(group)) {
			event = 0x3c;	/* cycles */
			err = 0;
		}
		if (err)
			return err;
		attr.config = event | umask << 8;
		if (group->nr == 1 && group->retiring)
			attr.config = group->retiring;
		fd = syscall(__NR_perf_event_open, &attr, 0, -1,
			     group->nr ? group->fd[0] : -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0)
			return -errno;
		group->fd[group->nr] = fd;
		/* Counted as soon as it has something to close. */
		topdown->nr = group - topdown->groups + 1;
	}
	topdown->base.level = group->nr == 1 + NR_PARTS ? 2 : 1;
	metrics = !group->width;
	if (metrics)
		group->width = 1;
	/* No page, but read(2), if the thread may be moved to where RDPMC is a fault. */
	if (!metrics || hybrid)
		return 0;
	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, group->fd[0], 0);
	if (page == MAP_FAILED)
		return -errno;
	topdown->page = page;
	return 0;
}

int perf_topdown__new(struct perf_topdown **topdown)
{
	static const char * const pmus[] = { "cpu", "cpu_core", "cpu_atom" };
	struct perf_topdown *new = calloc(1, sizeof(*new));
	int err = 0;

	if (!new)
		return -ENOMEM;
	new->owner = mmap(NULL, sizeof(*new->owner), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (new->owner == MAP_FAILED) {
		free(new);
		return -ENOMEM;
	}
	if (madvise(new->owner, sizeof(*new->owner), MADV_WIPEONFORK))
		err = -errno;
	if (this_thread == NO_THREAD)
		this_thread = __atomic_add_fetch(&last_thread, 1, __ATOMIC_RELAXED);
	*new->owner = this_thread;
	new->page = &no_page;
	new->lock = NO_LOCK;

	for (size_t i = 0; i < ARRAY_SIZE(pmus) && !err; i++) {
		int nr = new->nr;

		err = open_group(new, pmus[i], i > 0);
		/* Another one may do, unless this one has a part. */
		if (err == -ENOENT && new->nr == nr)
			err = 0;
	}
	if (!err && !new->nr)
		err = -ENOENT;
	if (err)
		perf_topdown__delete(new);
	else
		*topdown = new;
	return err;
}

/* Read the counts with read(2), which zeroes the registers. */
static noinline int read_kernel(struct perf_topdown *topdown, struct perf_topdown_raw *raw)
{
	const struct perf_event_mmap_page *page = topdown->page;
	struct perf_topdown_raw sum = {
		.size = raw->size,
		.level = topdown->base.level,
		.error = 1,
	};
	s64 data[3 + 1 + NR_PARTS], *parts = &data[4];	/* nr, times, counts */
	bool known;
	u32 lock;

	if (raw->size < sizeof(*raw))
		return -EINVAL;
	/* What a later version has. */
	if (raw->size > sizeof(*raw))
		memset(raw + 1, 0, raw->size - sizeof(*raw));

	for (int i = 0; i < topdown->nr; i++) {
		const struct topdown_group *group = &topdown->groups[i];
		s64 *sums = (s64 *)&sum + offsetof(struct perf_topdown_raw, retiring) / sizeof(s64);
		ssize_t size = (3 + group->nr) * sizeof(*data);
		ssize_t ret = read(group->fd[0], data, size);

		if (ret != size)
			return ret < 0 ? -errno : -EIO;
		if (group->rest)
			parts[1] = data[3] * group->width - parts[0] - parts[2] - parts[3];
		for (int j = 0; j < group->nr - 1; j++)
			sums[j] += parts[j];
		sum.slots += data[3] * group->width;
		sum.missed -= data[2];
	}
	sum.missed += data[1];
	*raw = sum;

	/* A handler that has interrupted this leaves @base alone. */
	if (topdown->busy)
		return 0;
	WRITE_ONCE(topdown->busy, true);
	WRITE_ONCE(topdown->lock, NO_LOCK);
	barrier();
	topdown->base = sum;
	lock = READ_ONCE(page->lock);
	barrier();
	/* Was anything counted since read(2), in a switch, or by a handler's read(2)? */
	known = page->cap_user_rdpmc && page->index == RDPMC_SLOTS + 1 && page->offset == data[3];
	barrier();
	WRITE_ONCE(topdown->lock, known ? lock : NO_LOCK);
	barrier();
	WRITE_ONCE(topdown->busy, false);
	return 0;
}

/* The part of @unit, which is 2^32 / STEPS for each slot, that a field tells: < 2^64. */
static s64 fraction(u64 unit, u32 metrics, int field)
{
	return unit * (metrics >> 8 * field & STEPS) >> 32;
}

int perf_topdown__read(struct perf_topdown *topdown, struct perf_topdown_raw *raw,
		       __u32 max_slots)
{
	const struct perf_event_mmap_page *page = topdown->page;
	const struct perf_topdown_raw *base = &topdown->base;
	u32 lock = READ_ONCE(topdown->lock);
	u64 slots, metrics, unit;

	if (*topdown->owner != this_thread)
		return -ESRCH;
	if (READ_ONCE(page->lock) != lock || raw->size != sizeof(*raw))
		return read_kernel(topdown, raw);

	/* A handler that has changed @base before this has changed the page's lock, too. */
	barrier();
	slots = rdpmc(RDPMC_SLOTS);
	metrics = rdpmc(RDPMC_METRICS);
	if (slots > max_slots)
		return read_kernel(topdown, raw);
	unit = slots * ((1ULL << 32) / STEPS);
	raw->level = base->level;
	raw->slots = base->slots + slots;
	raw->missed = base->missed;
	raw->error = base->error + (unit >> 32);
	raw->retiring = base->retiring + fraction(unit, metrics, 0);
	raw->bad_spec = base->bad_spec + fraction(unit, metrics, 1);
	raw->fe_bound = base->fe_bound + fraction(unit, metrics, 2);
	raw->be_bound = base->be_bound + fraction(unit, metrics, 3);
	metrics = base->level < 2 ? 0 : metrics >> 32;
	raw->heavy_ops = base->heavy_ops + fraction(unit, metrics, 0);
	raw->br_mispredict = base->br_mispredict + fraction(unit, metrics, 1);
	raw->fetch_lat = base->fetch_lat + fraction(unit, metrics, 2);
	raw->mem_bound = base->mem_bound + fraction(unit, metrics, 3);
	barrier();
	/* The registers may have been another task's, or zeroed. */
	return READ_ONCE(page->lock) == lock ? 0 : read_kernel(topdown, raw);
}

int perf_topdown__add(struct perf_topdown_raw *sum, const struct perf_topdown_raw *begin,
		      const struct perf_topdown_raw *end)
{
	const s64 *from = (const s64 *)begin, *to = (const s64 *)end;
	s64 *words = (s64 *)sum, error;

	if (sum->size < sizeof(*sum) || begin->size < sum->size || end->size < sum->size)
		return -EINVAL;
	/* A step at each end, and in between one of each time slice. */
	error = sum->error + 2 * begin->error + (end->slots - begin->slots) / STEPS + 1;
	sum->level = end->level;
	for (size_t i = 1; i < sum->size / sizeof(*words); i++)
		words[i] += to[i] - from[i];
	sum->error = error;
	return 0;
}

void perf_topdown__delete(struct perf_topdown *topdown)
{
	if (!topdown)
		return;
	/* Descriptors that a child has inherited would leave it counting. */
	for (int i = 0; *topdown->owner && i < topdown->nr; i++)
		ioctl(topdown->groups[i].fd[0], PERF_EVENT_IOC_DISABLE, 0);
	for (int i = 0; i < topdown->nr; i++) {
		for (int j = topdown->groups[i].nr - 1; j >= 0; j--)
			close(topdown->groups[i].fd[j]);
	}
	/* A process that was forked does not have the page. */
	if (*topdown->owner && topdown->page != &no_page)
		munmap(topdown->page, sysconf(_SC_PAGESIZE));
	munmap(topdown->owner, sizeof(*topdown->owner));
	free(topdown);
}
