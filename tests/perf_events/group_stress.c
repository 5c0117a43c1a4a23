// SPDX-License-Identifier: GPL-2.0
/*
 * usage: group_stress SECONDS [SEED]
 *
 * Throttles groups of events on one CPU while their buffers, periods and states change on
 * another one. What a kernel says is for debugging options to tell; here the leader of each
 * group has to count and to be sampled in the end: its counter may run when nothing looks at
 * it any more. Without alternating periods on a kernel that has none.
 */
#include <linux/perf_event.h>
#include <pthread.h>

#include "alt_period.h"
#include "kselftest.h"

#define MEMBERS		5
#define BUFFER_PAGES	3

/* What a member is opened with; the first are those of leaders. */
static struct {
	__u32 type;
	__u64 config, period, alt_period;
} kinds[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 2000 },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1700, 300 },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 3000 },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 20000 },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 20000 },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 5 },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 40000, 50 },
};

#define LEADERS		5

struct member {
	int fd;
	void *buffer;
};

/* The tasks that are sampled. They share a CPU, and one gives way at each step. */
static struct {
	pid_t tid;
	unsigned long steps;
} workers[2];

static size_t buffer_size;
static bool alternating;
static unsigned int seed;

static unsigned int below(unsigned int n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % n;
}

static void require_cpu(int cpu)
{
	if (!pin_to(cpu))
		ksft_exit_skip("there is no CPU %d: %s\n", cpu, strerror(errno));
}

/* Counts cycles in place of instructions where there are none, as in QEMU without icount. */
static void find_kinds(void)
{
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER8,
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = perf_event_open(&attr, 0, -1, -1);

	if (fd >= 0) {
		close(fd);
		return;
	}
	ksft_print_msg("no instructions: %s\n", strerror(errno));
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].type == attr.type && kinds[i].config == attr.config)
			kinds[i].config = PERF_COUNT_HW_CPU_CYCLES;
	}
}

static void *work(void *arg)
{
	unsigned long nr = (unsigned long)arg;

	require_cpu(0);
	__atomic_store_n(&workers[nr].tid, gettid(), __ATOMIC_RELEASE);
	for (;;) {
		spin(20000);
		if (nr)
			sched_yield();
		__atomic_fetch_add(&workers[nr].steps, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Opens a member of the group of @leader, or a leader if that is -1, for @tid or for the CPU. */
static int open_member(int leader, pid_t tid, bool freq)
{
	unsigned int kind = below(leader < 0 ? LEADERS : ARRAY_SIZE(kinds));
	struct perf_event_attr attr = {
		.size = alternating ? sizeof(attr) : PERF_ATTR_SIZE_VER8,
		.type = kinds[kind].type,
		.config = kinds[kind].config,
		.sample_period = kinds[kind].period,
		.alt_sample_period = alternating ? kinds[kind].alt_period : 0,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		/* What overflows before a slow handler returns is silent (docs/found.md). */
		.exclude_kernel = below(2) || machine_slowness() > 1,
		.exclude_hv = 1,
		.disabled = leader < 0 || !below(4),
	};

	/* Windows count user space alone. */
	if (attr.alt_sample_period)
		attr.exclude_kernel = 1;
	if (freq && attr.type == PERF_TYPE_HARDWARE && attr.sample_period) {
		attr.freq = 1;
		attr.sample_freq = 400;
	}
	return perf_event_open(&attr, tid, tid < 0 ? 0 : -1, leader);
}

static void unmap_buffer(struct member *member)
{
	if (member->buffer)
		munmap(member->buffer, buffer_size);
	member->buffer = NULL;
}

static void map_buffer(struct member *member)
{
	unmap_buffer(member);
	member->buffer = mmap(NULL, buffer_size, PROT_READ | PROT_WRITE, MAP_SHARED, member->fd, 0);
	if (member->buffer == MAP_FAILED)
		member->buffer = NULL;
}

/* Does something to one of @nr members. What fails has done nothing. */
static void disturb(struct member *members, int nr, pid_t tid, bool freq)
{
	int i = below(nr);
	struct member *member = &members[i];
	char buffer[4096];
	__u64 period;

	switch (below(12)) {
	case 0:
		map_buffer(member);
		break;
	case 1:
		unmap_buffer(member);
		break;
	case 2:
		ioctl(member->fd, PERF_EVENT_IOC_SET_OUTPUT, below(2) ? members[below(nr)].fd : -1L);
		break;
	case 3:
		period = 2000 + below(3) * 3000;
		ioctl(member->fd, PERF_EVENT_IOC_PERIOD, &period);
		break;
	case 4:
		ioctl(member->fd, PERF_EVENT_IOC_DISABLE, 0);
		break;
	case 5:
		ioctl(member->fd, PERF_EVENT_IOC_ENABLE, 0);
		break;
	case 6:
		ioctl(member->fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
		break;
	case 7:
		ioctl(member->fd, PERF_EVENT_IOC_RESET, 0);
		break;
	case 8:
		ioctl(member->fd, PERF_EVENT_IOC_REFRESH, 3);
		break;
	case 9:
		if (read(member->fd, buffer, sizeof(buffer)) < 0)
			ksft_print_msg("cannot read a member: %s\n", strerror(errno));
		break;
	case 10:
		usleep(below(3000));
		break;
	case 11:
		if (i == 0 || below(10))
			break;
		unmap_buffer(member);
		close(member->fd);
		member->fd = open_member(members[0].fd, tid, freq);
		if (member->fd < 0)
			member->fd = dup(members[0].fd);
		break;
	}
}

static __u64 count_of(int fd)
{
	__u64 count;

	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

static bool has_sample(struct ring *ring)
{
	struct perf_event_header header;
	__u64 at;

	while (ring_next(ring, &header, &at)) {
		if (header.type == PERF_RECORD_SAMPLE)
			return true;
	}
	return false;
}

/*
 * Returns what the leader does not do any more when nothing disturbs it and the others do not
 * interrupt, or NULL. It counts what the tasks do, which takes a while where all time is spent
 * in interrupts.
 */
static const char *leader_fails(struct member *members, int nr)
{
	bool counts = false, samples = false;
	unsigned long steps[2];
	struct ring ring;
	__u64 count;

	for (int i = 1; i < nr; i++)
		ioctl(members[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(members[0].fd, PERF_EVENT_IOC_REFRESH, 1000000);
	/* The end of an earlier limit may disable it meanwhile. */
	usleep(20000);
	ioctl(members[0].fd, PERF_EVENT_IOC_ENABLE, 0);
	usleep(20000);
	/* A new buffer, which has no old samples and is not full. */
	unmap_buffer(&members[0]);
	ioctl(members[0].fd, PERF_EVENT_IOC_SET_OUTPUT, -1L);
	if (ring_map_pages(&ring, members[0].fd, BUFFER_PAGES - 1, PROT_READ | PROT_WRITE))
		ksft_exit_fail_msg("cannot map the buffer of a leader: %s\n", strerror(errno));
	count = count_of(members[0].fd);
	for (int i = 0; i < 2; i++)
		steps[i] = __atomic_load_n(&workers[i].steps, __ATOMIC_RELAXED);
	do {
		usleep(20000);
		counts |= count_of(members[0].fd) != count;
		samples |= has_sample(&ring);
	} while (!(counts && samples) &&
		 (__atomic_load_n(&workers[0].steps, __ATOMIC_RELAXED) < steps[0] + 1000 ||
		  __atomic_load_n(&workers[1].steps, __ATOMIC_RELAXED) < steps[1] + 1000));
	ring_unmap(&ring);
	return !counts ? "counts no more" : !samples ? "has no more samples" : NULL;
}

/* Opens a group, disturbs it, and returns what its leader does not do then, or NULL. */
static const char *stress_group(unsigned long *operations)
{
	struct member members[MEMBERS] = {};
	pid_t tid = below(2) ? -1 : workers[0].tid;
	int wanted = 1 + below(MEMBERS), nr;
	bool freq = !below(3);
	const char *failure;

	for (nr = 0; nr < wanted; nr++) {
		members[nr].fd = open_member(nr ? members[0].fd : -1, tid, freq);
		if (members[nr].fd < 0)
			break;
	}
	if (!nr) {
		const char *why = why_missing(errno);

		if (why)
			ksft_exit_skip("a leader: %s\n", why);
		ksft_exit_fail_msg("cannot open a leader: %s\n", strerror(errno));
	}
	for (int i = 0; i < nr; i++) {
		if (below(3))
			map_buffer(&members[i]);
		else
			ioctl(members[i].fd, PERF_EVENT_IOC_SET_OUTPUT, members[0].fd);
	}
	ioctl(members[0].fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = below(200); i > 0; i--, ++*operations)
		disturb(members, nr, tid, freq);

	failure = leader_fails(members, nr);
	for (int i = nr - 1; i >= 0; i--) {
		unmap_buffer(&members[i]);
		close(members[i].fd);
	}
	return failure;
}

int main(int argc, char **argv)
{
	unsigned long rounds = 0, frozen = 0, operations = 0;
	struct sample_limits limits;
	time_t end;

	ksft_print_header();
	ksft_set_plan(1);
	if (argc < 2 || argc > 3)
		ksft_exit_fail_msg("usage: group_stress SECONDS [SEED]\n");
	seed = argc == 3 ? atoi(argv[2]) : 1;
	end = time(NULL) + atoi(argv[1]);
	alternating = have_alt_period();
	find_kinds();
	buffer_size = BUFFER_PAGES * sysconf(_SC_PAGESIZE);

	require_cpu(1);
	save_sample_limits(&limits);
	/*
	 * Few samples throttle, and a debugging kernel has time for more than interrupts. The
	 * kernel would lower the limit further, and once told not to refuses to change it.
	 */
	if (!write_number(PERF_MAX_RATE, 2000) || !write_number(PERF_MAX_PERCENT, 0))
		ksft_exit_skip("cannot limit the rate of samples: %s\n", strerror(errno));
	for (unsigned long i = 0; i < 2; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, (void *)i))
			ksft_exit_fail_msg("cannot create a thread\n");
		while (!__atomic_load_n(&workers[i].tid, __ATOMIC_ACQUIRE))
			usleep(1000);
	}
	for (; time(NULL) < end; rounds++) {
		unsigned int begin = seed;
		const char *failure = stress_group(&operations);

		if (failure) {
			ksft_print_msg("the leader of round %lu (seed %u) %s\n",
				       rounds, begin, failure);
			frozen++;
		}
	}
	restore_sample_limits(&limits);
	ksft_print_msg("%lu rounds, %lu operations, %lu frozen leaders\n",
		       rounds, operations, frozen);
	ksft_test_result(!frozen, "group_stress\n");
	ksft_finished();
}
