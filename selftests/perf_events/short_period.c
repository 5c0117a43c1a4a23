// SPDX-License-Identifier: GPL-2.0
/*
 * Intervals of a few events: an event whose interval is over before the handler of its
 * interrupt is, or of which a switch leaves less than the PMU can arm. It has to go on, or
 * to be refused, and no window may be longer than its label without a mark.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */
#include <signal.h>
#include <sys/wait.h>

#include "alt_period.h"
#include "kselftest_harness.h"

#define LONGEST		100
#define ROUNDS		3
#define ROUND_NS	40000000ULL	/* several ticks of any kernel */
#define RING		8		/* pages */

FIXTURE(short_period)
{
	struct sample_limits limits;
	struct perf_event_attr attr;
	struct ring ring;
	int fd;
	pid_t child;
};

FIXTURE_VARIANT(short_period)
{
	bool window;		/* that is short, not the period */
	int precise;
};

FIXTURE_VARIANT_ADD(short_period, user) { };
FIXTURE_VARIANT_ADD(short_period, window_user) { .window = true };
FIXTURE_VARIANT_ADD(short_period, window_precise) { .window = true, .precise = 2 };

FIXTURE_SETUP(short_period)
{
	save_sample_limits(&self->limits);
	self->fd = -1;
	self->attr = (struct perf_event_attr){
		.size = sizeof(self->attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 100000,
		.sample_type = PERF_SAMPLE_TID,
		.precise_ip = variant->precise,
		.wakeup_events = 1,	/* take PEBS records one at a time */
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	stay_on_core_pmu(&self->attr);
	ASSERT_TRUE(pin_to(sched_getcpu()));
	self->fd = perf_event_open(&self->attr, -1, sched_getcpu(), -1);
	if (self->fd < 0) {
		ASSERT_NE(NULL, why_missing(errno)) TH_LOG("%s", strerror(errno));
		restore_sample_limits(&self->limits);
		SKIP(return, "%s", why_missing(errno));
	}
	close(self->fd);
	self->fd = -1;
}

FIXTURE_TEARDOWN(short_period)
{
	if (self->child > 0) {
		kill(self->child, SIGKILL);
		waitpid(self->child, NULL, 0);
	}
	ring_unmap(&self->ring);
	if (self->fd >= 0)
		close(self->fd);
	restore_sample_limits(&self->limits);
}

/* Returns the number of new samples, those of windows if these are short. */
static unsigned int take_samples(struct ring *ring, bool window)
{
	struct perf_event_header header;
	unsigned int nr = 0;
	__u64 at;

	while (ring_next(ring, &header, &at)) {
		nr += header.type == PERF_RECORD_SAMPLE &&
		      (!window || header.misc & PERF_RECORD_MISC_ALT_WINDOW);
	}
	return nr;
}

/* Each length has samples, and has more of them later. */
TEST_F_TIMEOUT(short_period, goes_on, 300)
{
	struct perf_event_attr *attr = &self->attr;
	unsigned int refused = 0;

	for (unsigned int length = 1; length <= LONGEST; length++) {
		if (variant->window)
			attr->alt_sample_period = length;
		else
			attr->sample_period = length;
		/* A kernel without windows changes it. */
		attr->size = sizeof(*attr);
		self->fd = perf_event_open(attr, -1, sched_getcpu(), -1);
		if (self->fd < 0) {
			ASSERT_TRUE(errno == EINVAL || errno == EOPNOTSUPP || errno == E2BIG)
				TH_LOG("length %u: %s", length, strerror(errno));
			refused++;
			continue;
		}
		ASSERT_EQ(0, ring_map_pages(&self->ring, self->fd, RING, PROT_READ | PROT_WRITE));
		ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
		for (int round = 0; round < ROUNDS; round++) {
			__u64 end = now_ns() + ROUND_NS;
			unsigned int nr = 0;

			while (nr < 3 && now_ns() < end) {
				spin(1000);
				getppid();
				nr += take_samples(&self->ring, variant->window);
			}
			EXPECT_LE(3, nr) TH_LOG("length %u is silent in round %d", length, round);
			if (nr < 3)
				break;
		}
		ring_unmap(&self->ring);
		close(self->fd);
		self->fd = -1;
	}
	ksft_print_msg("%u lengths up to %u are refused\n", refused, LONGEST);
	if (refused == LONGEST)
		SKIP(return, "this PMU refuses them");
}

/*
 * A task that is switched all the time: what its windows count is what they are long, or they
 * are marked. With the highest precision some CPUs have a high limit.
 */
TEST_F(short_period, remainder)
{
	struct perf_event_attr *attr = &self->attr;
	unsigned int windows = 0, split = 0;
	struct sample sample;
	bool other = true;
	__u64 last = 0;

	if (!variant->window)
		SKIP(return, "this is about windows");
	if (!machine_is_exact())
		SKIP(return, "the counters are not known to be exact");
	attr->config = (attr->config & ~0xffULL) | PERF_COUNT_HW_INSTRUCTIONS;
	attr->sample_period = 3000;
	attr->alt_sample_period = 200;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
	attr->read_format = PERF_FORMAT_GROUP;
	attr->precise_ip = variant->precise ? 3 : 0;
	self->child = fork();
	ASSERT_LE(0, self->child);
	if (!self->child) {
		for (;;)
			sched_yield();
	}
	self->fd = perf_event_open(attr, 0, -1, -1);
	if (self->fd < 0) {
		/* A kernel without windows, or an event that cannot be that precise. */
		ASSERT_TRUE(errno == E2BIG || errno == EOPNOTSUPP) TH_LOG("%s", strerror(errno));
		SKIP(return, "no such event: %s", strerror(errno));
	}
	ASSERT_EQ(0, ring_map(&self->ring, self->fd));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	for (unsigned int i = 0; i < 3000; i++) {
		spin(i % 37);
		sched_yield();
		while (ring_read(&self->ring, &sample, 1, attr->sample_type)) {
			__u64 count = sample.count[0] - last;

			last = sample.count[0];
			if (!sample.window)
				continue;
			windows++;
			split += sample.split;
			if (sample.split || count == sample.period)
				continue;
			/* Says it once. */
			if (other)
				EXPECT_EQ(sample.period, count) TH_LOG("window %u", windows);
			other = false;
		}
	}
	ksft_print_msg("%u windows, %u of them are marked\n", windows, split);
	EXPECT_LT(split, windows);
}

TEST_HARNESS_MAIN
