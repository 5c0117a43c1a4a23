// SPDX-License-Identifier: GPL-2.0
/*
 * Alternating and jittered sample periods: is each interval as long as it
 * should be, and is the sample at its end labelled with that length?
 *
 * What is exact is compared exactly. That is the case for software events,
 * tracepoints and breakpoints; for a hardware counter it depends on the
 * machine and is found out with an ordinary event. With ALT_PERIOD_EXACT=1 in
 * the environment, a hardware counter that is not exact is a failure; with
 * ALT_PERIOD_EXACT=0, it is never expected to be.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "alt_period.h"
#include "kselftest_harness.h"

#define CYCLES		200	/* long intervals that most tests look at */
#define MAX_SAMPLES	4096
#define SECONDS		50	/* the most that one measurement may take */

/* More work that the events under test count. */

static volatile uint64_t watched, watched_too;

static void call_getppid(void)
{
	syscall(SYS_getppid);
}

static void call_yield(void)
{
	spin_a_while();
	sched_yield();
}

static void write_watched(void)
{
	watched++;
	watched_too++;
}

static void sleep_a_little(void)
{
	usleep(1);
}

/* Calls of this are counted through a uprobe. */
static __attribute__((noinline)) void probed(void)
{
	asm volatile("nop");
}

/* Where that is in the file of this program. */
static uint64_t probed_offset(void)
{
	unsigned long start, end, offset, at = (unsigned long)probed;
	uint64_t ret = 0;
	char line[256];
	FILE *maps;

	maps = fopen("/proc/self/maps", "r");
	if (!maps)
		return 0;
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    at >= start && at < end)
			ret = at - start + offset;
	}
	fclose(maps);
	return ret;
}

static int tracepoint_id(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	return read_number(path);
}

FIXTURE(alt_period)
{
	struct perf_event_attr attr;
	struct ring ring;
	struct sample *samples;
	size_t nr_samples;
	bool exact;
	int fd;
	int sibling;
};

FIXTURE_VARIANT(alt_period)
{
	uint32_t type;
	uint64_t config;
	uint64_t period, alt_period;
	const char *tracepoint;
	bool uprobe;
	void (*work)(void);
	enum { EXACT, EXACT_IF_MACHINE_IS, NOT_EXACT } exact;
};

FIXTURE_VARIANT_ADD(alt_period, cycles) {
	.type = PERF_TYPE_HARDWARE,
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.period = 999700,
	.alt_period = 300,
	.work = spin_a_while,
	.exact = EXACT_IF_MACHINE_IS,
};

FIXTURE_VARIANT_ADD(alt_period, page_faults) {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.period = 20,
	.alt_period = 3,
	.work = touch_page,
	.exact = EXACT,
};

/* A window of one event: software events have a fast path for this period. */
FIXTURE_VARIANT_ADD(alt_period, page_faults_window_1) {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.period = 20,
	.alt_period = 1,
	.work = touch_page,
	.exact = EXACT,
};

FIXTURE_VARIANT_ADD(alt_period, switches) {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	.period = 20,
	.alt_period = 3,
	.work = sleep_a_little,
	.exact = EXACT,
};

FIXTURE_VARIANT_ADD(alt_period, uprobe) {
	.uprobe = true,
	.period = 20,
	.alt_period = 3,
	.work = probed,
	.exact = EXACT,
};

/* Counts ns, many at once: a call may end more than one interval. */
FIXTURE_VARIANT_ADD(alt_period, tracepoint_weighted) {
	.type = PERF_TYPE_TRACEPOINT,
	.tracepoint = "sched/sched_stat_runtime",
	.period = 10000,
	.alt_period = 1000,
	.work = call_yield,
	.exact = NOT_EXACT,
};

FIXTURE_VARIANT_ADD(alt_period, tracepoint) {
	.type = PERF_TYPE_TRACEPOINT,
	.tracepoint = "syscalls/sys_enter_getppid",
	.period = 50,
	.alt_period = 7,
	.work = call_getppid,
	.exact = EXACT,
};

/* A window may be longer than the period. */
FIXTURE_VARIANT_ADD(alt_period, breakpoint) {
	.type = PERF_TYPE_BREAKPOINT,
	.period = 5,
	.alt_period = 11,
	.work = write_watched,
	.exact = EXACT,
};

FIXTURE_VARIANT_ADD(alt_period, task_clock) {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_TASK_CLOCK,
	.period = 1000000,
	.alt_period = 50000,
	.work = spin_a_while,
	.exact = NOT_EXACT,
};

FIXTURE_VARIANT_ADD(alt_period, cpu_clock) {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.period = 1000000,
	.alt_period = 50000,
	.work = spin_a_while,
	.exact = NOT_EXACT,
};

/* Do the events happen in the kernel? */
static bool in_kernel(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_TRACEPOINT ||
	       (attr->type == PERF_TYPE_SOFTWARE &&
		attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES);
}

static bool is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_TASK_CLOCK ||
		attr->config == PERF_COUNT_SW_CPU_CLOCK);
}

/* Open self->attr, with @sibling as member of its group unless it is NULL. */
static int event_open(FIXTURE_DATA(alt_period) *self, struct perf_event_attr *sibling)
{
	self->fd = perf_event_open(&self->attr, 0, -1, -1);
	if (self->fd < 0)
		return -errno;
	if (sibling) {
		self->sibling = perf_event_open(sibling, 0, -1, self->fd);
		if (self->sibling < 0)
			return -errno;
	}
	return ring_map(&self->ring, self->fd) ? -errno : 0;
}

static void event_close(FIXTURE_DATA(alt_period) *self)
{
	ring_unmap(&self->ring);
	if (self->fd >= 0)
		close(self->fd);
	if (self->sibling >= 0)
		close(self->sibling);
	self->fd = -1;
	self->sibling = -1;
	self->nr_samples = 0;
}

static void collect(FIXTURE_DATA(alt_period) *self)
{
	self->nr_samples += ring_read(&self->ring, self->samples + self->nr_samples,
				      MAX_SAMPLES - self->nr_samples,
				      self->attr.sample_type & PERF_SAMPLE_READ);
}

/* Work until there are @nr samples in all. False when that takes too long. */
static bool work_until(FIXTURE_DATA(alt_period) *self, void (*work)(void), size_t nr)
{
	time_t end = time(NULL) + SECONDS;

	while (self->nr_samples < nr) {
		for (int i = 0; i < 10; i++)
			work();
		if (ring_used(&self->ring))
			collect(self);
		if (time(NULL) > end)
			return false;
	}
	return true;
}

static bool sample_for(FIXTURE_DATA(alt_period) *self, void (*work)(void), size_t nr)
{
	bool ret;

	ioctl(self->fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	ret = work_until(self, work, nr);
	ioctl(self->fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	collect(self);
	return ret;
}

/* Is it known of this machine that it is exact? */
static bool must_be_exact(void)
{
	const char *exact = getenv("ALT_PERIOD_EXACT");

	return exact && strcmp(exact, "0");
}

/* Is every interval of an ordinary event of this kind exactly its length? */
static bool machine_is_exact(FIXTURE_DATA(alt_period) *self, void (*work)(void))
{
	struct perf_event_attr attr = self->attr;
	bool exact = true;

	self->attr.alt_sample_period = 0;
	self->attr.sample_period = 10000;
	if (event_open(self, NULL) || !sample_for(self, work, 50))
		exact = false;
	for (size_t i = 1; i < self->nr_samples; i++) {
		if (self->samples[i].count[0] - self->samples[i - 1].count[0] != 10000)
			exact = false;
	}
	event_close(self);
	self->attr = attr;
	return exact;
}

FIXTURE_SETUP(alt_period)
{
	struct perf_event_attr *attr = &self->attr;
	int fd;

	self->fd = -1;
	self->sibling = -1;
	self->ring.page = NULL;
	self->nr_samples = 0;
	self->samples = calloc(MAX_SAMPLES, sizeof(*self->samples));
	ASSERT_NE(NULL, self->samples);

	if (!have_alt_period())
		SKIP(return, "the kernel has no alternating sample periods");

	ASSERT_TRUE(map_fresh_page());

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = variant->type;
	attr->config = variant->config;
	attr->sample_period = variant->period;
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ;
	attr->read_format = PERF_FORMAT_GROUP;
	attr->disabled = 1;
	attr->exclude_hv = 1;
	/*
	 * The timer of a clock fires in the kernel as well: an interval that ends
	 * in an excluded mode ends without a sample.
	 */
	attr->exclude_kernel = !in_kernel(attr) && !is_clock(attr);

	if (is_clock(attr)) {
		struct timespec resolution;

		clock_getres(CLOCK_MONOTONIC, &resolution);
		if (resolution.tv_sec || resolution.tv_nsec > 1000)
			SKIP(return, "no timers of high resolution");
	}

	if (variant->uprobe) {
		int type = read_number("/sys/bus/event_source/devices/uprobe/type");

		if (type < 0)
			SKIP(return, "the kernel has no uprobes");
		attr->type = type;
		attr->uprobe_path = (uintptr_t)"/proc/self/exe";
		attr->probe_offset = probed_offset();
		ASSERT_NE(0, attr->probe_offset);
	}

	switch (variant->type) {
	case PERF_TYPE_HARDWARE:
		stay_on_core_pmu(attr);
		break;
	case PERF_TYPE_TRACEPOINT: {
		int id = tracepoint_id(variant->tracepoint);

		if (id < 0)
			SKIP(return, "no %s in /sys/kernel/tracing", variant->tracepoint);
		attr->config = id;
		break;
	}
	case PERF_TYPE_BREAKPOINT:
		attr->bp_type = HW_BREAKPOINT_W;
		attr->bp_addr = (uintptr_t)&watched;
		attr->bp_len = HW_BREAKPOINT_LEN_8;
		break;
	}

	fd = perf_event_open(attr, 0, -1, -1);
	if (fd < 0 && (errno == ENOENT || errno == ENODEV || errno == EOPNOTSUPP))
		SKIP(return, "no such event: %s", strerror(errno));
	if (fd < 0 && errno == EACCES)
		SKIP(return, "not permitted, see /proc/sys/kernel/perf_event_paranoid");
	ASSERT_LE(0, fd) TH_LOG("open: %s", strerror(errno));
	close(fd);

	attr->alt_sample_period = variant->alt_period;
	fd = perf_event_open(attr, 0, -1, -1);
	if (fd < 0 && errno == EOPNOTSUPP && variant->exact == EXACT_IF_MACHINE_IS &&
	    !must_be_exact())
		SKIP(return, "the PMU does not support alternating sample periods");
	ASSERT_LE(0, fd) TH_LOG("open with alt_sample_period: %s", strerror(errno));
	close(fd);

	self->exact = variant->exact == EXACT;
	if (variant->exact == EXACT_IF_MACHINE_IS) {
		const char *exact = getenv("ALT_PERIOD_EXACT");

		self->exact = (!exact || must_be_exact()) &&
			      machine_is_exact(self, variant->work);
		if (must_be_exact()) {
			ASSERT_TRUE(self->exact) TH_LOG("the counter is not exact");
		}
	}
}

FIXTURE_TEARDOWN(alt_period)
{
	event_close(self);
	free(self->samples);
}

/*
 * Check samples @from to @to - 1, the first of which ends a long interval
 * (@phase 0) or a window (1 to the number of windows): the flag is set for
 * windows only, the label is within the limits, and, if counts are known, so
 * are the counts. @before is the count where the first interval began.
 */
static void check_sequence(struct __test_metadata *_metadata,
			   FIXTURE_DATA(alt_period) *self,
			   size_t from, size_t to, unsigned int phase,
			   uint64_t before)
{
	const struct perf_event_attr *attr = &self->attr;
	unsigned int windows = attr->alt_sample_period ? attr->alt_sample_count ?: 1 : 0;

	for (size_t i = from; i < to; i++) {
		const struct sample *s = &self->samples[i];
		bool window = phase != 0;

		ASSERT_EQ(window, s->window)
			TH_LOG("sample %zu: flag, period %llu", i, (unsigned long long)s->period);
		ASSERT_LE(interval_min(attr, window), s->period) TH_LOG("sample %zu: label", i);
		ASSERT_GE(interval_max(attr, window), s->period) TH_LOG("sample %zu: label", i);
		if (self->exact && (attr->sample_type & PERF_SAMPLE_READ)) {
			ASSERT_EQ(s->period, s->count[0] - before)
				TH_LOG("sample %zu: %s is not as long as its label", i,
				       window ? "window" : "long interval");
		}
		before = s->count[0];
		phase = phase < windows ? phase + 1 : 0;
	}
}

static void print_summary(FIXTURE_DATA(alt_period) *self)
{
	size_t windows = 0;

	for (size_t i = 0; i < self->nr_samples; i++)
		windows += self->samples[i].window;
	ksft_print_msg("%zu long and %zu window samples, %s\n", self->nr_samples - windows,
		       windows, self->exact ? "every interval exactly its length" :
					      "labels and flags only");
}

TEST_F_TIMEOUT(alt_period, alternates, 60)
{
	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_TRUE(sample_for(self, variant->work, 2 * CYCLES));
	check_sequence(_metadata, self, 0, 2 * CYCLES, 0, 0);
	EXPECT_EQ(0, self->ring.nr_lost);
	self->nr_samples = 2 * CYCLES;
	print_summary(self);
}

/* A window that does not end within anyone's lifetime ends all samples. */
TEST_F(alt_period, endless_window)
{
	self->attr.alt_sample_period = INT64_MAX;
	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(work_until(self, variant->work, 1));
	for (uint64_t i = 0; i < 4 * variant->period && i < 4000; i++)
		variant->work();
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));
	collect(self);
	ASSERT_EQ(1, self->nr_samples);
	check_sequence(_metadata, self, 0, 1, 0, 0);
}

TEST_F_TIMEOUT(alt_period, bursts, 60)
{
	self->attr.alt_sample_count = 4;
	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_TRUE(sample_for(self, variant->work, 5 * CYCLES));
	check_sequence(_metadata, self, 0, 5 * CYCLES, 0, 0);
	self->nr_samples = 5 * CYCLES;
	print_summary(self);
}

/* The events of the group are those of the window, and none is lost. */
TEST_F(alt_period, group_deltas)
{
	struct perf_event_attr sibling = self->attr;

	/* A second counter of the same kind, not sampling. */
	sibling.sample_period = 0;
	sibling.alt_sample_period = 0;
	sibling.sample_type = 0;
	sibling.disabled = 0;
	if (sibling.type == PERF_TYPE_BREAKPOINT) {
		sibling.bp_addr = (uintptr_t)&watched_too;
		if (!getenv("ALT_PERIOD_EXACT"))
			SKIP(return, "emulators miscount two breakpoints at once");
	}

	ASSERT_EQ(0, event_open(self, &sibling));
	ASSERT_TRUE(sample_for(self, variant->work, 2 * CYCLES));
	check_sequence(_metadata, self, 0, 2 * CYCLES, 0, 0);
	for (size_t i = 1; self->exact && i < 2 * CYCLES; i++) {
		const struct sample *s = &self->samples[i];

		ASSERT_EQ(s->period, s->count[1] - s[-1].count[1])
			TH_LOG("sample %zu: sibling", i);
	}
}

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void print_lengths(const char *what, uint64_t nominal, uint64_t *lengths, size_t nr)
{
	qsort(lengths, nr, sizeof(*lengths), compare_u64);
	ksft_print_msg("%s of %llu: %zu, min %llu, median %llu, 90%% %llu, max %llu\n",
		       what, (unsigned long long)nominal, nr,
		       (unsigned long long)lengths[0],
		       (unsigned long long)lengths[nr / 2],
		       (unsigned long long)lengths[nr * 9 / 10],
		       (unsigned long long)lengths[nr - 1]);
}

/*
 * A window is never shortened, however late the sample before it was: not even
 * with the kernel's cycles, when the interrupt handler counts as well. What
 * that takes is paid by the long intervals, so that the mean is right.
 */
TEST_F_TIMEOUT(alt_period, whole_windows, 60)
{
	static const struct {
		const char *name;
		bool user, kernel;
	} modes[] = {
		{ "user", true, false }, { "kernel", false, true }, { "both", true, true },
	};
	static uint64_t lengths[2][MAX_SAMPLES];
	bool clock = is_clock(&self->attr);

	if (self->exact && self->attr.type != PERF_TYPE_HARDWARE)
		SKIP(return, "covered exactly by the other tests");
	if (variant->type == PERF_TYPE_TRACEPOINT)
		SKIP(return, "many events at once end more than one interval");

	if (!clock)
		self->attr.sample_period = 99700;
	for (int mode = clock ? 2 : 0; mode < 3; mode++) {
		size_t nr[2] = {};
		bool payable = !clock;
		int64_t total;

		self->attr.exclude_user = !modes[mode].user;
		self->attr.exclude_kernel = !modes[mode].kernel;
		if (event_open(self, NULL)) {
			ASSERT_EQ(EACCES, errno);
			SKIP(return, "not permitted, see /proc/sys/kernel/perf_event_paranoid");
		}
		ASSERT_TRUE(sample_for(self, modes[mode].user ? variant->work : call_getppid,
				       2 * CYCLES + 1));
		for (size_t i = 1; i <= 2 * CYCLES; i++) {
			const struct sample *s = &self->samples[i];
			uint64_t length = s->count[0] - s[-1].count[0];

			lengths[s->window][nr[s->window]++] = length;
			/* What a long interval cannot pay for, of a whole cycle, is let go. */
			payable &= length < s->period + self->attr.sample_period / 2;
			if (s->window && i > 1)
				payable &= s->count[0] - s[-2].count[0] <
					   self->attr.sample_period * 3 / 2;
			/* The count of a clock is read some ns before it is armed. */
			if (s->window)
				ASSERT_LE(s->period, length) TH_LOG("%s, sample %zu",
								    modes[mode].name, i);
		}
		ksft_print_msg("%s:\n", modes[mode].name);
		print_lengths("  windows", self->attr.alt_sample_period, lengths[1], nr[1]);
		print_lengths("  long intervals", self->attr.sample_period, lengths[0], nr[0]);

		/* What is counted past the end of the last interval is not paid yet. */
		total = self->samples[2 * CYCLES].count[0] - self->samples[0].count[0] -
			CYCLES * (self->attr.sample_period + self->attr.alt_sample_period);
		if (must_be_exact() && !clock) {
			EXPECT_TRUE(payable);
		}
		if (payable) {
			EXPECT_GT((int64_t)self->attr.sample_period, total);
			EXPECT_LT(-(int64_t)self->attr.sample_period, total);
		}
		event_close(self);
	}
}

struct spread {
	uint64_t min, max, sum;
	size_t nr;
};

static void spread_add(struct spread *spread, uint64_t value)
{
	if (!spread->nr || value < spread->min)
		spread->min = value;
	if (!spread->nr || value > spread->max)
		spread->max = value;
	spread->sum += value;
	spread->nr++;
}

TEST_F_TIMEOUT(alt_period, jitter, 120)
{
	struct spread spread[2] = {};
	size_t nr = MAX_SAMPLES;

	if (variant->exact == EXACT_IF_MACHINE_IS)
		self->attr.sample_period = 9700;
	self->attr.sample_jitter = self->attr.sample_period / 5;
	if (is_clock(&self->attr)) {
		/* As many in a second as any machine can take. */
		nr = 512;
		self->attr.sample_jitter = self->attr.sample_period / 20;
	}
	/* The range of a window must stay above zero, see the variants. */
	self->attr.alt_sample_jitter = self->attr.alt_sample_period > 1 ?
				       self->attr.alt_sample_period / 3 * 2 : 0;

	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_TRUE(sample_for(self, variant->work, nr));
	check_sequence(_metadata, self, 0, nr, 0, 0);

	for (size_t i = 0; i < nr; i++)
		spread_add(&spread[self->samples[i].window], self->samples[i].period);
	for (int window = 0; window < 2; window++) {
		const struct spread *s = &spread[window];
		uint64_t nominal = window ? self->attr.alt_sample_period : self->attr.sample_period;
		uint32_t jitter = window ? self->attr.alt_sample_jitter : self->attr.sample_jitter;
		double mean = (double)s->sum / s->nr;
		double off = __builtin_fabs(mean - nominal);
		/* Four standard deviations of such a mean, squared. */
		double limit = 16.0 * (jitter + 1) * (jitter + 1) / 12 / s->nr;

		ksft_print_msg("%s %llu jitter %u: %zu from %llu to %llu, mean %.2f\n",
			       window ? "window" : "period", (unsigned long long)nominal, jitter,
			       s->nr, (unsigned long long)s->min, (unsigned long long)s->max, mean);
		if (nominal >= 1000 && jitter <= nominal / 5) {
			EXPECT_GE(0.005, off / nominal);
		}
		/* The middle of the range is half an event off if jitter is odd. */
		if (jitter % 2)
			off -= 0.5;
		EXPECT_GE(limit, off * off);
		if (!jitter) {
			EXPECT_EQ(nominal, s->min);
			EXPECT_EQ(nominal, s->max);
		} else if (jitter < 300) {
			/* A value that never comes has odds below 1 in 1000. */
			EXPECT_EQ(interval_min(&self->attr, window), s->min);
			EXPECT_EQ(interval_max(&self->attr, window), s->max);
		} else {
			EXPECT_GT(nominal - jitter / 2 + jitter / 20, s->min);
			EXPECT_LT(nominal + jitter / 2 - jitter / 20, s->max);
		}
	}
}

TEST_F(alt_period, jitter_without_windows)
{
	struct spread spread = {};

	self->attr.alt_sample_period = 0;
	self->attr.sample_jitter = self->attr.sample_period / 2;
	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_TRUE(sample_for(self, variant->work, CYCLES));
	check_sequence(_metadata, self, 0, CYCLES, 0, 0);
	for (size_t i = 0; i < CYCLES; i++)
		spread_add(&spread, self->samples[i].period);
	EXPECT_NE(spread.min, spread.max);
}

/* Events that count many at once have samples that stand for several periods. */
static void check_ordinary(struct __test_metadata *_metadata,
			   FIXTURE_DATA(alt_period) *self, size_t from, size_t to,
			   uint64_t before)
{
	uint64_t period = self->attr.sample_period;

	if (self->exact || is_clock(&self->attr) || self->attr.type == PERF_TYPE_HARDWARE) {
		check_sequence(_metadata, self, from, to, 0, before);
		return;
	}
	for (size_t i = from; i < to; i++) {
		const struct sample *s = &self->samples[i];

		ASSERT_FALSE(s->window);
		ASSERT_EQ(0, s->period % period) TH_LOG("sample %zu", i);
		/* What is left over counts for the next sample. */
		ASSERT_GT(period, s->count[0] - before - s->period) TH_LOG("sample %zu", i);
		before += s->period;
	}
}

/* The period of an event without windows holds, and so do its labels. */
TEST_F(alt_period, ordinary_event)
{
	self->attr.alt_sample_period = 0;
	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_TRUE(sample_for(self, variant->work, CYCLES));
	check_ordinary(_metadata, self, 0, CYCLES, 0);
	if (!is_clock(&self->attr))
		return;

	/* All intervals of a clock but the first take at least 10 us, as labelled. */
	event_close(self);
	self->attr.sample_period = 5000;
	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_TRUE(sample_for(self, variant->work, CYCLES));
	EXPECT_EQ(5000, self->samples[0].period);
	for (size_t i = 1; i < CYCLES; i++) {
		ASSERT_EQ(10000, self->samples[i].period) TH_LOG("sample %zu", i);
	}
}

/* A new period is in force at once, and so is its label. */
TEST_F(alt_period, ordinary_ioc_period)
{
	uint64_t period = variant->period * 2, counts[2], before;
	size_t half;

	self->attr.alt_sample_period = 0;
	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(work_until(self, variant->work, 10));
	variant->work();
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));
	collect(self);
	half = self->nr_samples;
	ASSERT_EQ(sizeof(counts), read(self->fd, counts, sizeof(counts)));
	before = counts[1];
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &period));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	/* Once more while it is active: nothing was counted since. */
	if (variant->exact == EXACT && !in_kernel(&self->attr)) {
		ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &period));
	}
	ASSERT_TRUE(work_until(self, variant->work, half + 10));

	check_ordinary(_metadata, self, 0, half, 0);
	self->attr.sample_period = period;
	/* A counter that runs on to the ioctl is known to the event only. */
	if (variant->exact == EXACT_IF_MACHINE_IS)
		before = self->samples[half].count[0] - self->samples[half].period;
	check_ordinary(_metadata, self, half, half + 10, before);
}

/* For how long this task has been running, and its events with it. */
static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Sample for @time seconds, count the samples that end long intervals. */
static size_t count_cycles(FIXTURE_DATA(alt_period) *self, void (*work)(void),
			   double time, size_t *samples, struct __test_metadata *_metadata)
{
	unsigned int windows = self->attr.alt_sample_count;
	double end = seconds() + time;
	static unsigned int phase;
	size_t cycles = 0;

	if (samples)
		phase = 0;
	while (seconds() < end) {
		for (int i = 0; i < 10; i++)
			work();
		self->nr_samples = 0;
		collect(self);
		for (size_t i = 0; i < self->nr_samples; i++) {
			const struct sample *s = &self->samples[i];

			ASSERT_EQ(phase != 0, s->window) {
				TH_LOG("sample out of sequence, period %llu",
				       (unsigned long long)s->period);
			}
			if (s->window) {
				ASSERT_EQ(self->attr.alt_sample_period, s->period);
			} else {
				cycles++;
			}
			phase = phase < windows ? phase + 1 : 0;
		}
		if (samples)
			*samples += self->nr_samples;
	}
	return cycles;
}

static void check_frequency(struct __test_metadata *_metadata,
			    FIXTURE_DATA(alt_period) *self, void (*work)(void),
			    unsigned int frequency, unsigned int windows)
{
	const double settle = 0.5, time = 0.5;
	size_t first = 0, cycles[2];

	self->attr.freq = 1;
	self->attr.sample_freq = frequency;
	self->attr.alt_sample_count = windows;
	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	count_cycles(self, work, settle, &first, _metadata);
	for (int i = 0; i < 2; i++)
		cycles[i] = count_cycles(self, work, time, NULL, _metadata);
	ksft_print_msg("%5u Hz, %u windows: %zu samples in %.1f s to settle, then %.1f and %.1f Hz\n",
		       frequency, windows, first, settle, cycles[0] / time, cycles[1] / time);
	for (int i = 0; i < 2; i++) {
		EXPECT_GE(0.05 * frequency, __builtin_fabs(cycles[i] / time - frequency));
	}
	/* No storm: it began with a period of 1. */
	EXPECT_GE(2 * settle * frequency * (windows + 1) + 1000, first);
	EXPECT_EQ(0, self->ring.nr_lost);
	event_close(self);
}

/*
 * In frequency mode it is the cycles of a long interval and its windows that
 * have the frequency, and the windows stay as they are.
 */
TEST_F_TIMEOUT(alt_period, frequency, 120)
{
	static const unsigned int frequencies[] = { 100, 1000, 4000 };

	if (self->attr.type != PERF_TYPE_HARDWARE && !is_clock(&self->attr) &&
	    variant->work != touch_page)
		SKIP(return, "too slow for thousands of cycles a second");

	for (int i = 0; i < 3; i++) {
		for (int n = 1; n <= 4; n += 3) {
			check_frequency(_metadata, self, variant->work, frequencies[i], n);
		}
	}
}

/* Nor has an ordinary event that counts the same at the same time. */
TEST_F(alt_period, ordinary_neighbours)
{
	struct perf_event_attr attr = self->attr;
	static struct sample samples[MAX_SAMPLES];
	struct ring rings[2];
	int fds[2];
	size_t nr;

	attr.alt_sample_period = 0;
	if (variant->exact == EXACT)
		attr.sample_period = 1;
	attr.read_format = 0;
	attr.sample_type &= ~PERF_SAMPLE_READ;
	attr.disabled = 0;
	if (attr.type == PERF_TYPE_BREAKPOINT && !getenv("ALT_PERIOD_EXACT"))
		SKIP(return, "emulators miscount several breakpoints at once");

	/* Not every counter of a PMU need be exact if one is, as in QEMU. */
	self->exact = variant->exact == EXACT;

	/* One is seen before the event with windows, the other after it. */
	for (int i = 0; i < 2; i++) {
		if (i) {
			ASSERT_EQ(0, event_open(self, NULL));
		}
		fds[i] = perf_event_open(&attr, 0, -1, -1);
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(0, ring_map(&rings[i], fds[i]));
	}
	ASSERT_TRUE(sample_for(self, variant->work, 20));
	check_sequence(_metadata, self, 0, 20, 0, 0);
	for (int i = 0; i < 2; i++) {
		nr = ring_read(&rings[i], samples, MAX_SAMPLES, false);
		EXPECT_LT(0, nr);
		while (nr--) {
			ASSERT_FALSE(samples[nr].window) TH_LOG("event %d, sample %zu", i, nr);
		}
		ring_unmap(&rings[i]);
		close(fds[i]);
	}
}

TEST_F(alt_period, ioc_period)
{
	uint64_t period = variant->period * 2;
	uint64_t before = 0;
	uint64_t counts[2];
	size_t half;

	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	/* Up to the middle of a window, unless it would be over too soon. */
	ASSERT_TRUE(work_until(self, variant->work, 2 * 10 + (variant->exact == EXACT)));
	collect(self);
	half = self->nr_samples;
	if (variant->exact == EXACT) {
		ASSERT_EQ(sizeof(counts), read(self->fd, counts, sizeof(counts)));
		before = counts[1];
	}
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &period));
	collect(self);
	ASSERT_TRUE(work_until(self, variant->work, half + 2 * 10));

	check_sequence(_metadata, self, 0, half, 0, 0);
	self->attr.sample_period = period;
	if (variant->exact == EXACT)
		check_sequence(_metadata, self, half, half + 20, 0, before);
	else	/* The counter ran between the last sample and the ioctl. */
		check_sequence(_metadata, self, half, half + 1, 0,
			       self->samples[half].count[0] - self->samples[half].period);
	check_sequence(_metadata, self, half + 1, half + 20, 1,
		       self->samples[half].count[0]);
}

TEST_F(alt_period, ioc_period_while_disabled)
{
	uint64_t period = variant->period * 2;

	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &period));
	self->attr.sample_period = period;
	ASSERT_TRUE(sample_for(self, variant->work, 20));
	check_sequence(_metadata, self, 0, 20, 0, 0);
}

TEST_F(alt_period, ioc_period_is_validated)
{
	uint64_t period;

	self->attr.sample_jitter = variant->period;
	if (is_clock(&self->attr))
		self->attr.sample_jitter = 100;
	ASSERT_EQ(0, event_open(self, NULL));
	period = 0;
	EXPECT_EQ(-1, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &period));
	EXPECT_EQ(EINVAL, errno);
	period = 1ULL << 63;
	EXPECT_EQ(-1, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &period));
	EXPECT_EQ(EINVAL, errno);
	/* The shortest length would be 0. */
	period = self->attr.sample_jitter / 2;
	EXPECT_EQ(-1, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &period));
	EXPECT_EQ(EINVAL, errno);
	/* The longest would be 2^63. */
	period = INT64_MAX - self->attr.sample_jitter + 1;
	EXPECT_EQ(-1, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &period));
	EXPECT_EQ(EINVAL, errno);
	period = INT64_MAX - self->attr.sample_jitter;
	EXPECT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &period));
}

/* The limit counts every sample, and the sequence goes on after it. */
TEST_F(alt_period, ioc_refresh)
{
	ASSERT_EQ(0, event_open(self, NULL));

	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_REFRESH, 3));
	ASSERT_TRUE(work_until(self, variant->work, 3));
	for (int i = 0; i < 1000; i++)
		variant->work();
	collect(self);
	ASSERT_EQ(3, self->nr_samples);

	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_REFRESH, 2));
	ASSERT_TRUE(work_until(self, variant->work, 5));
	for (int i = 0; i < 1000; i++)
		variant->work();
	collect(self);
	ASSERT_EQ(5, self->nr_samples);

	check_sequence(_metadata, self, 0, 5, 0, 0);
}

/* Disabled in the middle of an interval, the event resumes there. */
TEST_F(alt_period, disable_and_enable)
{
	ASSERT_EQ(0, event_open(self, NULL));
	for (size_t i = 1; i <= 2 * 20; i++) {
		ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
		ASSERT_TRUE(work_until(self, variant->work, i));
		variant->work();
		ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));
		for (int j = 0; j < 100; j++)
			variant->work();
		collect(self);
	}
	check_sequence(_metadata, self, 0, self->nr_samples, 0, 0);
}

/* Let somebody else run on this CPU whenever the parent yields. */
static pid_t start_rival(void)
{
	cpu_set_t set;
	pid_t pid;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return -1;
	pid = fork();
	if (!pid) {
		for (;;)
			sched_yield();
	}
	return pid;
}

static void (*rival_work)(void);
static unsigned int rival_turns;

static void work_and_yield(void)
{
	static unsigned int turn;

	rival_work();
	/* Not in step with the windows. */
	if (++turn % rival_turns == 0)
		sched_yield();
}

TEST_F_TIMEOUT(alt_period, context_switches, 90)
{
	struct rusage before, after;
	long switches;
	pid_t rival;

	rival = start_rival();
	ASSERT_LT(0, rival);
	rival_work = variant->work;
	/* A timer that fires late never does if the task has no time for it. */
	rival_turns = is_clock(&self->attr) ? 1000 : 3;
	getrusage(RUSAGE_SELF, &before);
	EXPECT_EQ(0, event_open(self, NULL));
	EXPECT_TRUE(sample_for(self, work_and_yield, 2 * CYCLES));
	getrusage(RUSAGE_SELF, &after);
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);

	switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw;
	ksft_print_msg("%ld context switches\n", switches);
	ASSERT_LT(100, switches);
	ASSERT_LE(2 * CYCLES, self->nr_samples);
	check_sequence(_metadata, self, 0, 2 * CYCLES, 0, 0);
}

/* Every child starts with its own long interval, and draws its own jitter. */
TEST_F_TIMEOUT(alt_period, inherit, 90)
{
	enum { CHILDREN = 2, EACH = 2 * 20 };
	pid_t children[CHILDREN];
	struct sample seen[CHILDREN][EACH];
	size_t nr[CHILDREN] = {};
	int done = 0, same = 0;
	cpu_set_t set;

	/*
	 * With PERF_SAMPLE_READ each task keeps its own event; otherwise tasks
	 * with equal inherited events hand them on at a context switch.
	 */
	self->attr.inherit = 1;
	self->attr.sample_jitter = variant->period / 2;

	/* An event that is inherited can be mapped only if bound to a CPU. */
	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(set), &set));
	self->fd = perf_event_open(&self->attr, 0, sched_getcpu(), -1);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ring_map(&self->ring, self->fd));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	/* The parent is in the middle of its sequence when it forks. */
	ASSERT_TRUE(work_until(self, variant->work, 3));

	for (int c = 0; c < CHILDREN; c++) {
		children[c] = fork();
		ASSERT_LE(0, children[c]);
		if (!children[c]) {
			for (;;)
				variant->work();
		}
	}

	for (time_t end = time(NULL) + SECONDS; done < CHILDREN && time(NULL) <= end;) {
		usleep(1000);
		collect(self);
		for (size_t i = 0; i < self->nr_samples; i++) {
			const struct sample *s = &self->samples[i];

			for (int c = 0; c < CHILDREN; c++) {
				if (s->pid != (uint32_t)children[c] || nr[c] == EACH)
					continue;
				seen[c][nr[c]++] = *s;
				done += nr[c] == EACH;
			}
		}
		self->nr_samples = 0;
	}
	for (int c = 0; c < CHILDREN; c++) {
		kill(children[c], SIGKILL);
		waitpid(children[c], NULL, 0);
	}

	ASSERT_EQ(CHILDREN, done);
	for (int c = 0; c < CHILDREN; c++) {
		memcpy(self->samples, seen[c], sizeof(seen[c]));
		check_sequence(_metadata, self, 0, EACH, 0, 0);
	}
	for (int i = 0; i < EACH; i++)
		same += !seen[0][i].window && seen[0][i].period == seen[1][i].period;
	EXPECT_GT(EACH / 2, same);
}

/*
 * The timer of a clock goes on in excluded modes, where an interval ends without a
 * sample. Counts of a window are those since its start, so that is a sample.
 */
TEST_F(alt_period, excluded_mode)
{
	size_t in_a_row = 0, cut_short = 0;

	if (!is_clock(&self->attr))
		SKIP(return, "not even counted in excluded modes");

	self->attr.exclude_kernel = 1;
	self->attr.alt_sample_count = 2;
	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_TRUE(sample_for(self, call_yield, 3 * CYCLES));
	for (size_t i = 0; i < self->nr_samples; i++) {
		if (self->samples[i].window) {
			ASSERT_NE(0, i);
			ASSERT_GE(2, ++in_a_row) TH_LOG("sample %zu", i);
		} else {
			cut_short += i && in_a_row < 2;
			in_a_row = 0;
		}
	}
	/* Some intervals ended in the kernel. */
	ASSERT_LT(0, cut_short);
}

/* Two events with the same attr do not share their random numbers. */
TEST_F(alt_period, jitter_of_two_events_differs)
{
	uint64_t first[20];

	self->attr.sample_jitter = variant->period / 2;
	for (int event = 0; event < 2; event++) {
		bool differs = false;

		ASSERT_EQ(0, event_open(self, NULL));
		ASSERT_TRUE(sample_for(self, variant->work, 20));
		for (int i = 0; i < 20; i++) {
			differs |= self->samples[i].period != first[i];
			first[i] = self->samples[i].period;
		}
		if (event) {
			EXPECT_TRUE(differs);
		}
		event_close(self);
	}
}

/*
 * A software event is throttled with its group, and by the interrupt of another
 * event, that is at any time: no interval of it may be lost, and the timer of a
 * clock not hang the CPU.
 */
static void check_throttled_sibling(struct __test_metadata *_metadata,
				    FIXTURE_DATA(alt_period) *self, void (*work)(void))
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.sample_period = 400,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD,
		.disabled = 1,
		.exclude_hv = 1,
	};
	time_t end = time(NULL) + 2;
	struct sample sample;
	struct ring ring;
	int leader;

	stay_on_core_pmu(&attr);
	leader = perf_event_open(&attr, 0, -1, -1);
	if (leader < 0)
		SKIP(return, "no leader that is throttled: %s", strerror(errno));
	ASSERT_EQ(0, ring_map(&ring, leader));
	if (is_clock(&self->attr))
		self->attr.sample_period = 300000;
	/* That of the leader would come first. */
	self->attr.sample_type &= ~PERF_SAMPLE_READ;
	self->fd = perf_event_open(&self->attr, 0, -1, leader);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ring_map(&self->ring, self->fd));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, ioctl(leader, PERF_EVENT_IOC_ENABLE, 0));
	while ((self->nr_samples < 2 * CYCLES || ring.nr_throttled < 10) &&
	       self->nr_samples < MAX_SAMPLES && time(NULL) <= end) {
		/* System calls, to be interrupted in the kernel. */
		for (int i = 0; i < 100; i++)
			sched_yield();
		for (int i = 0; i < 10; i++)
			work();
		while (ring_read(&ring, &sample, 1, false))
			;
		collect(self);
	}
	ASSERT_EQ(0, ioctl(leader, PERF_EVENT_IOC_DISABLE, 0));
	ksft_print_msg("%zu samples, throttled %u times\n", self->nr_samples, ring.nr_throttled);
	ring_unmap(&ring);
	close(leader);
	check_sequence(_metadata, self, 0, self->nr_samples, 0, 0);
	if (!must_be_exact() && (!ring.nr_throttled || self->nr_samples <= 10))
		SKIP(return, "this machine is too fast or too slow for the leader");
	ASSERT_LT(0, ring.nr_throttled);
	ASSERT_LT(10, self->nr_samples);
}

/* Being throttled and let go again swaps no label and loses no interval. */
TEST_F(alt_period, throttling)
{
	time_t end = time(NULL) + SECONDS;

	if (self->attr.type != PERF_TYPE_HARDWARE) {
		check_throttled_sibling(_metadata, self, variant->work);
		return;
	}

	self->attr.sample_period = 400;
	ASSERT_EQ(0, event_open(self, NULL));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	while (self->nr_samples < MAX_SAMPLES && self->ring.nr_throttled < 3 &&
	       time(NULL) <= end) {
		spin_a_while();
		collect(self);
	}
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));
	ksft_print_msg("%zu samples, throttled %u times\n", self->nr_samples,
		       self->ring.nr_throttled);
	check_sequence(_metadata, self, 0, self->nr_samples, 0, 0);
	if (!self->ring.nr_throttled && !must_be_exact())
		SKIP(return, "this machine keeps up with %zu samples", self->nr_samples);
	ASSERT_LT(0, self->ring.nr_throttled);
}

TEST_HARNESS_MAIN
