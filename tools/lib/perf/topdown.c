// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <linux/compiler.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <perf/topdown.h>

#define SLOTS		0x400	/* events of the kernel */
#define RETIRING	0x8000	/* and those that follow it, one for each part */
#define LEVEL_PARTS	4	/* of each level */
#define SLICES		2	/* attr.config1 of slots, metrics_slices in sysfs */
#define STEPS		0xff	/* of a fraction, which has 8 bits */
/* Values that are no sequence count of a user page, which is even while it is not written. */
#define NO_LOCK		1
#define WRITING		3	/* @base is being written */

/*
 * With SLICES, the kernel adds the registers of slots and metrics to the counts each time
 * that the thread is switched or its events are read, zeroes them, and changes the sequence
 * count of the user page of slots. As long as that is @lock, counts are @base plus the
 * registers.
 */
struct perf_topdown {
	struct perf_event_mmap_page	*page;
	u32				process, thread;	/* numbers of the owner */
	struct perf_topdown_raw		base;
	u32				lock;
	unsigned int			nr;
	int				fd[1 + 2 * LEVEL_PARTS];	/* slots, and their parts */
};

/*
 * Threads and processes have numbers, because addresses of thread-local data are reused. The
 * TLS model avoids a function call to find the number of a thread. The number of a process is
 * in a separate page, which fork(2) zeroes in the child.
 */
static __thread u32 this_thread __attribute__((tls_model("initial-exec")));
static u32 last_thread, last_process;
static u32 this_process[4096 / sizeof(u32)] __aligned(4096);

/* Page to read where there is no user page. */
static struct perf_event_mmap_page no_page;

#if defined(__i386__) || defined(__x86_64__)
#define RDPMC_SLOTS	0x40000003	/* fixed counter 3 */
#define RDPMC_METRICS	0x20000000

static u64 rdpmc(unsigned int counter)
{
	unsigned int low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (counter));
	return low | (u64)high << 32;
}
#else
#define RDPMC_SLOTS	0
#define RDPMC_METRICS	0

static u64 rdpmc(unsigned int counter __maybe_unused) { return 0; }
#endif

/* Give the calling thread and its process their numbers, if they have none. */
static int number(void)
{
	u32 none = 0, process;

	if (madvise(this_process, sizeof(this_process), MADV_WIPEONFORK))
		return -errno;
	process = __atomic_add_fetch(&last_process, 1, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(this_process, &none, process, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	if (!this_thread)
		this_thread = __atomic_add_fetch(&last_thread, 1, __ATOMIC_RELAXED);
	return 0;
}

static bool has_event(const char *pmu, const char *event)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/%s", pmu, event);
	return !access(path, F_OK);
}

static int open_event(struct perf_event_attr *attr, int leader)
{
	return syscall(__NR_perf_event_open, attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static int open_events(struct perf_topdown *topdown)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_RAW,	/* of cpu and cpu_core */
		.config = SLOTS,
		.config1 = SLICES,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		/* Do not count a virtual machine; KVM may refuse to count both. */
		.exclude_guest = 1,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	/* Without a page, each reading is a read(2): RDPMC is a fault on E-cores. */
	bool hybrid = has_event("cpu_core", "slots"), with_page = !hybrid;
	const char *pmu = hybrid ? "cpu_core" : "cpu";
	unsigned int parts;
	void *page;

	if (!has_event(pmu, "slots"))
		return -ENOENT;
	parts = has_event(pmu, "topdown-heavy-ops") ? 2 * LEVEL_PARTS : LEVEL_PARTS;
	for (int leader = -1; topdown->nr <= parts; leader = topdown->fd[0]) {
		int fd = open_event(&attr, leader);

		/* A kernel without slices restores the registers after a switch. */
		if (fd < 0 && errno == EINVAL && attr.config1) {
			attr.config1 = 0;
			with_page = false;
			fd = open_event(&attr, leader);
		}
		if (fd < 0)
			return -errno;
		attr.config = RETIRING + (topdown->nr << 8);
		attr.config1 = 0;
		topdown->fd[topdown->nr++] = fd;
	}
	if (!with_page)
		return 0;
	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, topdown->fd[0], 0);
	if (page == MAP_FAILED)
		return -errno;
	topdown->page = page;
	return 0;
}

int perf_topdown__new(struct perf_topdown **topdown)
{
	struct perf_topdown *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->page = &no_page;
	new->lock = NO_LOCK;
	err = open_events(new);
	if (!err)
		err = number();
	new->process = this_process[0];
	new->thread = this_thread;
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
	s64 data[3 + 1 + 2 * LEVEL_PARTS] = {};	/* nr, times, counts */
	ssize_t size = (3 + topdown->nr) * sizeof(*data), ret;
	bool known;
	u32 lock;

	ret = read(topdown->fd[0], data, size);
	if (ret != size)
		return ret < 0 ? -errno : -EIO;
	*raw = (struct perf_topdown_raw) {
		.slots = data[3],
		.missed = data[1] - data[2],
		.retiring = data[4],
		.bad_spec = data[5],
		.fe_bound = data[6],
		.be_bound = data[7],
		.heavy_ops = data[8],
		.br_mispredict = data[9],
		.fetch_lat = data[10],
		.mem_bound = data[11],
	};

	/* A handler that has interrupted this leaves @base alone. */
	if (READ_ONCE(topdown->lock) == WRITING)
		return 0;
	WRITE_ONCE(topdown->lock, WRITING);
	barrier();
	topdown->base = *raw;
	lock = READ_ONCE(page->lock);
	barrier();
	/* Check that nothing was counted since read(2), by a switch or a handler's read(2). */
	known = page->cap_user_rdpmc && page->index == RDPMC_SLOTS + 1 && page->offset == data[3];
	barrier();
	WRITE_ONCE(topdown->lock, known ? lock : NO_LOCK);
	return 0;
}

/* Return the part of @unit, 2^32 / STEPS for each slot, of a field: < 2^64. */
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

	if (topdown->thread != this_thread || topdown->process != READ_ONCE(this_process[0]))
		return -ESRCH;
	if (READ_ONCE(page->lock) != lock)
		return read_kernel(topdown, raw);

	/* A handler that changed @base before this also changed the page's lock. */
	barrier();
	slots = rdpmc(RDPMC_SLOTS);
	metrics = rdpmc(RDPMC_METRICS);
	if (slots > max_slots)
		return read_kernel(topdown, raw);
	unit = slots * ((1ULL << 32) / STEPS);
	raw->slots = base->slots + slots;
	raw->missed = base->missed;
	raw->retiring = base->retiring + fraction(unit, metrics, 0);
	raw->bad_spec = base->bad_spec + fraction(unit, metrics, 1);
	raw->fe_bound = base->fe_bound + fraction(unit, metrics, 2);
	raw->be_bound = base->be_bound + fraction(unit, metrics, 3);
	metrics >>= 32;		/* 0 without level 2 */
	raw->heavy_ops = base->heavy_ops + fraction(unit, metrics, 0);
	raw->br_mispredict = base->br_mispredict + fraction(unit, metrics, 1);
	raw->fetch_lat = base->fetch_lat + fraction(unit, metrics, 2);
	raw->mem_bound = base->mem_bound + fraction(unit, metrics, 3);
	barrier();
	/* The registers may have been another task's, or zeroed. */
	return READ_ONCE(page->lock) == lock ? 0 : read_kernel(topdown, raw);
}

void perf_topdown__add(struct perf_topdown_raw *sum, const struct perf_topdown_raw *begin,
		       const struct perf_topdown_raw *end)
{
	sum->slots += end->slots - begin->slots;
	sum->missed += end->missed - begin->missed;
	sum->retiring += end->retiring - begin->retiring;
	sum->bad_spec += end->bad_spec - begin->bad_spec;
	sum->fe_bound += end->fe_bound - begin->fe_bound;
	sum->be_bound += end->be_bound - begin->be_bound;
	sum->heavy_ops += end->heavy_ops - begin->heavy_ops;
	sum->br_mispredict += end->br_mispredict - begin->br_mispredict;
	sum->fetch_lat += end->fetch_lat - begin->fetch_lat;
	sum->mem_bound += end->mem_bound - begin->mem_bound;
}

double perf_topdown__fraction(const struct perf_topdown_raw *sum, __s64 part)
{
	if (part <= 0 || sum->slots <= 0)
		return 0;
	return part < sum->slots ? (double)part / sum->slots : 1;
}

void perf_topdown__delete(struct perf_topdown *topdown)
{
	bool inherited;

	if (!topdown)
		return;
	inherited = topdown->process != READ_ONCE(this_process[0]);
	/* Descriptors that a child inherited would keep it counting. */
	if (!inherited && topdown->nr)
		ioctl(topdown->fd[0], PERF_EVENT_IOC_DISABLE, 0);
	while (topdown->nr)
		close(topdown->fd[--topdown->nr]);
	/* A forked process does not have the page. */
	if (!inherited && topdown->page != &no_page)
		munmap(topdown->page, sysconf(_SC_PAGESIZE));
	free(topdown);
}
