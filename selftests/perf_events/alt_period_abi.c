// SPDX-License-Identifier: GPL-2.0
/*
 * The ABI of alternating and jittered sample periods: each request is accepted, or
 * refused with the right error.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */
#include <libgen.h>
#include <stddef.h>

#include "alt_period.h"
#include "kselftest_harness.h"

#define SIMD_OFFSET	offsetof(struct perf_event_attr, __reserved_4)
#define ALT_OFFSET	offsetof(struct perf_event_attr, alt_sample_period)
#define LAST_OFFSET	offsetof(struct perf_event_attr, __reserved_7)

FIXTURE(abi) {
	struct perf_event_attr attr;	/* of cycles with windows */
};

FIXTURE_SETUP(abi)
{
	if (!have_alt_period())
		SKIP(return, "the kernel has no alternating sample periods");
	self->attr = (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(self->attr),
		.sample_period = 1000,
		.alt_sample_period = 100,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	if (why_missing(try_attr(&self->attr)))
		SKIP(return, "no cycles with alternating sample periods");
}

FIXTURE_TEARDOWN(abi)
{
}

/* The function that all lengths go through has a KUnit test of its own. */
static const struct {
	const char *what;
	__u64 period;
	__u32 alt_period, jitter, alt_jitter;
	__u16 alt_count;
	bool freq, kernel;
	int expected;
} requests[] = {
	{ "nothing", },
	{ "a period", 1000 },
	{ "four windows", 1000, 100, .alt_count = 4 },
	{ "a window longer than the period", 1000, 2000 },
	{ "the longest lengths", INT64_MAX, UINT32_MAX },
	{ "both jitters", 1000, 100, 100, 50 },
	{ "jitter without a window", 1000, 0, 100 },

	{ "jitter of a window that is not there", 1000, .alt_jitter = 5, .expected = EINVAL },
	{ "windows of no length", 1000, .alt_count = 2, .expected = EINVAL },
	{ "a window without a period", 0, 100, .expected = EINVAL },
	{ "jitter without a period", 0, 0, 10, .expected = EINVAL },
	{ "a window of 0 to 200", 1000, 100, 0, 200, .expected = EINVAL },

	{ "four windows at a frequency", 100, 100, .alt_count = 4, .freq = true },
	{ "any jitter at a frequency: it is cut", 1, 0, UINT32_MAX, .freq = true },
	{ "a window of 0 to 200 at a frequency", 100, 100, 0, 200, .freq = true,
	  .expected = EINVAL },

	{ "a window that counts the kernel", 1000, 100, .kernel = true, .expected = EOPNOTSUPP },
	{ "jitter that counts the kernel", 1000, 0, 100, .kernel = true },

#if defined(__i386__) || defined(__x86_64__)
	/* These PMUs arm two events at least. */
	{ "a window of one event", 1000, 1, .expected = EINVAL },
	{ "a window of two events", 1000, 2 },
	{ "a period of one to three events", 2, 0, 2, .expected = EINVAL },
#endif
};

TEST_F(abi, requests)
{
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		self->attr.sample_period = requests[i].period;
		self->attr.alt_sample_period = requests[i].alt_period;
		self->attr.sample_jitter = requests[i].jitter;
		self->attr.alt_sample_jitter = requests[i].alt_jitter;
		self->attr.alt_sample_count = requests[i].alt_count;
		self->attr.freq = requests[i].freq;
		self->attr.exclude_kernel = !requests[i].kernel;
		EXPECT_EQ(requests[i].expected, try_attr(&self->attr))
			TH_LOG("%s", requests[i].what);
	}
}

/* They are the same for perf_event_open() and PERF_EVENT_IOC_PERIOD. */
TEST_F(abi, limits)
{
	__u64 rate = read_number(PERF_MAX_RATE);
	const struct {
		bool freq;
		__u64 good, bad;
	} limits[] = {
		{ false, 510, 500 },		/* from 0 on */
		{ false, INT64_MAX - 1000, INT64_MAX - 999 },
		{ true, rate / 5, rate / 5 + 1 },	/* with all windows of a round */
	};

	self->attr.alt_sample_count = 4;
	self->attr.sample_jitter = 1000;
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		int fd;

		self->attr.freq = limits[i].freq;
		self->attr.sample_period = limits[i].bad;
		EXPECT_EQ(EINVAL, try_attr(&self->attr)) TH_LOG("%llu", limits[i].bad);
		self->attr.sample_period = limits[i].good;
		fd = perf_event_open(&self->attr, 0, -1, -1);
		ASSERT_LE(0, fd) TH_LOG("%llu", limits[i].good);
		EXPECT_EQ(0, ioctl(fd, PERF_EVENT_IOC_PERIOD, &limits[i].good));
		EXPECT_EQ(-1, ioctl(fd, PERF_EVENT_IOC_PERIOD, &limits[i].bad));
		EXPECT_EQ(EINVAL, errno);
		close(fd);
	}
}

/* A later kernel can tell from an error that this one does not know its fields. */
TEST_F(abi, reserved_fields)
{
	unsigned char *bytes = (unsigned char *)&self->attr;

	for (size_t i = SIMD_OFFSET; i < sizeof(self->attr); i++) {
		if (i >= ALT_OFFSET && i < LAST_OFFSET)
			continue;
		bytes[i] = 1;
		EXPECT_EQ(EINVAL, try_attr(&self->attr)) TH_LOG("byte %zu", i);
		bytes[i] = 0;
	}
}

/*
 * A PMU that samples has windows, or refuses them with EOPNOTSUPP. The other tests check
 * that PMUs with windows do not ignore the fields.
 */
TEST_F(abi, every_pmu)
{
	int err, with = 0;
	glob_t files;

	if (chdir("/sys/bus/event_source/devices") || glob("*/type", 0, NULL, &files))
		SKIP(return, "no PMUs in sysfs");
	self->attr.sample_period = 100000;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		self->attr.type = read_number(files.gl_pathv[i]);
		/* Config 0 is no event of most of these, 0x11 is cycles on Arm. */
		for (self->attr.config = 0; self->attr.config < 0x20; self->attr.config++) {
			self->attr.alt_sample_period = 0;
			if (try_attr(&self->attr))
				continue;
			self->attr.alt_sample_period = 20000;
			err = try_attr(&self->attr);
			with += !err;
			ksft_print_msg("%s: %s\n", dirname(files.gl_pathv[i]),
				       err ? "refuses" : "windows");
			if (err)
				EXPECT_EQ(EOPNOTSUPP, err);
			break;
		}
	}
	EXPECT_LT(0, with);
}

/* The state of an event goes with it. */
TEST_F(abi, no_leak)
{
	enum { EVENTS = 20000, BYTES = 64 };
	char line[128];
	long kb[2];

	if (machine_slowness() > 1)
		SKIP(return, "debugging options keep memory that was freed");
	/* What is cached is there after the first turn. */
	for (int turn = 0; turn < 2; turn++) {
		FILE *file;

		for (int i = 0; i < EVENTS; i++)
			ASSERT_EQ(0, try_attr(&self->attr));
		/* It is freed behind a grace period. */
		usleep(300000);
		file = fopen("/proc/meminfo", "r");
		ASSERT_NE(NULL, file);
		while (fgets(line, sizeof(line), file) &&
		       sscanf(line, "SUnreclaim: %ld", &kb[turn]) != 1)
			;
		fclose(file);
	}
	EXPECT_GT(EVENTS * BYTES / 1024 / 2, kb[1] - kb[0]);
}

/* The places of the fields are ABI. */
TEST(layout)
{
	EXPECT_EQ(144, SIMD_OFFSET);
	EXPECT_EQ(176, ALT_OFFSET);
	EXPECT_EQ(180, offsetof(struct perf_event_attr, sample_jitter));
	EXPECT_EQ(184, offsetof(struct perf_event_attr, alt_sample_jitter));
	EXPECT_EQ(188, offsetof(struct perf_event_attr, alt_sample_count));
	EXPECT_EQ(190, LAST_OFFSET);
	EXPECT_EQ(192, sizeof(struct perf_event_attr));
	EXPECT_EQ(192, PERF_ATTR_SIZE_VER11);
	EXPECT_EQ(1 << 13, PERF_RECORD_MISC_ALT_WINDOW);
}

TEST_HARNESS_MAIN
