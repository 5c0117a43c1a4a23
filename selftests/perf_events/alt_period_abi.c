// SPDX-License-Identifier: GPL-2.0
/*
 * The ABI of alternating and jittered sample periods: each request is accepted, or
 * refused with the right error.
 */
#define _GNU_SOURCE
#define __SANE_USERSPACE_TYPES__	/* Use ll64 */
#include <dirent.h>
#include <stddef.h>

#include "alt_period.h"
#include "kselftest_harness.h"

#define ALT_OFFSET	offsetof(struct perf_event_attr, alt_sample_period)

static const struct perf_event_attr cycles = {
	.type = PERF_TYPE_HARDWARE,
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.size = sizeof(cycles),
	.disabled = 1,
	.exclude_kernel = 1,
	.exclude_hv = 1,
};

static const struct perf_event_attr page_faults = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_PAGE_FAULTS,
	.size = sizeof(page_faults),
	.disabled = 1,
	.exclude_kernel = 1,
	.exclude_hv = 1,
};

FIXTURE(abi)
{
	struct perf_event_attr attr;
};

FIXTURE_VARIANT(abi)
{
	const struct perf_event_attr *attr;
};

FIXTURE_VARIANT_ADD(abi, cycles) { &cycles };
FIXTURE_VARIANT_ADD(abi, page_faults) { &page_faults };

FIXTURE_SETUP(abi)
{
	if (!have_alt_period())
		SKIP(return, "the kernel has no alternating sample periods");
	self->attr = *variant->attr;
	self->attr.sample_period = 1000;
	self->attr.alt_sample_period = 100;
	if (variant->attr == &cycles && why_missing(try_attr(&self->attr)))
		SKIP(return, "no cycles with alternating sample periods");
	self->attr = *variant->attr;
}

FIXTURE_TEARDOWN(abi)
{
}

struct request {
	const char *what;
	__u64 period, alt_period;
	__u32 jitter, alt_jitter, alt_count;
	bool freq;
	int expected;
};

#define MAX	INT64_MAX

static const struct request requests[] = {
	{ "nothing", },
	{ "a period", 1000 },
	{ "a window", 1000, 100 },
	{ "four windows", 1000, 100, 0, 0, 4 },
	{ "2^32 - 1 windows", 1000, 100, 0, 0, UINT32_MAX },
	{ "a window as long as the period", 1000, 1000 },
	{ "a window longer than the period", 1000, 2000 },
	{ "the longest lengths", MAX, MAX },
	{ "both jitters", 1000, 100, 100, 50 },
	{ "jitter without a window", 1000, 0, 100 },

	{ "jitter of a window that is not there", 1000, 0, 0, 5, .expected = EINVAL },
	{ "a number of windows that are not there", 1000, 0, 0, 0, 2, .expected = EINVAL },

	{ "a window without a period", 0, 100, .expected = EINVAL },
	{ "jitter without a period", 0, 0, 10, .expected = EINVAL },
	{ "jitter of windows without a period", 0, 0, 0, 10, .expected = EINVAL },
	{ "a number of windows without a period", 0, 0, 0, 0, 2, .expected = EINVAL },
	{ "all of them without a period", 0, 100, 10, 10, 2, .expected = EINVAL },

	{ "a period of 2^63", MAX + 1ULL, .expected = EINVAL },
	{ "a period of 2^63 with a window", MAX + 1ULL, 100, .expected = EINVAL },
	{ "a window of 2^63", 1000, MAX + 1ULL, .expected = EINVAL },
	{ "a window of 2^64 - 1", 1000, UINT64_MAX, .expected = EINVAL },

	{ "a period of 100 to 1900", 1000, 0, 1800 },
	{ "a period of 0 to 2000", 1000, 0, 2000, .expected = EINVAL },
	{ "a period of 0 to 2000 with a window", 1000, 100, 2000, .expected = EINVAL },
	{ "a period below zero", 1000, 0, UINT32_MAX, .expected = EINVAL },
	{ "a window of 100 to 1900", 1000, 1000, 0, 1800 },
	{ "a window of 0 to 2000", 1000, 1000, 0, 2000, .expected = EINVAL },
	{ "a window below zero", 1000, 100, 0, UINT32_MAX, .expected = EINVAL },
	{ "the widest jitter", (1ULL << 31) + 99, (1ULL << 31) + 99, UINT32_MAX, UINT32_MAX },
	{ "wider by one than fits", (1ULL << 31) - 1, 0, UINT32_MAX, .expected = EINVAL },

	{ "the longest period with jitter", MAX - 100, 0, 100 },
	{ "a period whose jitter exceeds 63 bits", MAX - 99, 0, 100, .expected = EINVAL },
	{ "the longest window with jitter", 1000, MAX - 100, 0, 100 },
	{ "a window whose jitter exceeds 63 bits", 1000, MAX - 99, 0, 100, .expected = EINVAL },

	{ "a window at a frequency", 100, 100, .freq = true },
	{ "jitter at a frequency", 100, 0, 10, .freq = true },
	{ "any jitter at a frequency: it is cut", 1, 0, UINT32_MAX, .freq = true },
	{ "both at a frequency", 100, 200, 10, 180, 4, .freq = true },
	{ "rounds of 10,000 samples a second", 100, 100, .alt_count = 99, .freq = true },
	{ "rounds of 2^32 samples", 100, 100, .alt_count = UINT32_MAX, .freq = true,
	  .expected = EINVAL },
	{ "a window at no frequency", 0, 100, .freq = true, .expected = EINVAL },
	{ "jitter at no frequency", 0, 0, 10, .freq = true, .expected = EINVAL },
	{ "a window of 0 to 200 at a frequency", 100, 100, 0, 200, .freq = true,
	  .expected = EINVAL },
	{ "a window of 2^63 at a frequency", 100, MAX + 1ULL, .freq = true, .expected = EINVAL },
};

TEST_F(abi, requests)
{
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		const struct request *r = &requests[i];

		self->attr.sample_period = r->period;
		self->attr.alt_sample_period = r->alt_period;
		self->attr.sample_jitter = r->jitter;
		self->attr.alt_sample_jitter = r->alt_jitter;
		self->attr.alt_sample_count = r->alt_count;
		self->attr.freq = r->freq;
		EXPECT_EQ(r->expected, try_attr(&self->attr)) TH_LOG("%s", r->what);
	}
}

/* Each window of a round counts, when it is opened and when the frequency is changed. */
TEST_F(abi, maximum_of_the_frequency)
{
	int limit = read_number("/proc/sys/kernel/perf_event_max_sample_rate");
	struct perf_event_attr *attr = &self->attr;

	ASSERT_LT(100, limit);
	attr->freq = 1;
	attr->alt_sample_period = 100;
	for (__u32 windows = 0; windows <= 9; windows++) {
		__u64 frequency = limit / ((windows ?: 1) + 1);
		int fd;

		attr->alt_sample_count = windows;
		attr->sample_freq = frequency + 1;
		EXPECT_EQ(EINVAL, try_attr(attr)) TH_LOG("%u windows", windows);
		attr->sample_freq = frequency;
		fd = perf_event_open(attr, 0, -1, -1);
		ASSERT_LE(0, fd) TH_LOG("%u windows", windows);
		EXPECT_EQ(0, ioctl(fd, PERF_EVENT_IOC_PERIOD, &frequency));
		frequency++;
		EXPECT_EQ(-1, ioctl(fd, PERF_EVENT_IOC_PERIOD, &frequency));
		EXPECT_EQ(EINVAL, errno);
		close(fd);
	}
}

/* The timer of the clock events has no shorter periods than 10 us. */
TEST(minimum_of_the_clocks)
{
	static const __u64 clocks[] = {
		PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_TASK_CLOCK,
	};

	if (!have_alt_period())
		SKIP(return, "the kernel has no alternating sample periods");
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct perf_event_attr attr = page_faults;
		__u64 period;
		int fd;

		attr.config = clocks[i];
		attr.sample_period = 100000;
		attr.alt_sample_period = 10000;
		EXPECT_EQ(0, try_attr(&attr));
		attr.alt_sample_jitter = 2;
		EXPECT_EQ(EINVAL, try_attr(&attr));
		attr.alt_sample_jitter = 0;
		attr.alt_sample_period = 9999;
		EXPECT_EQ(EINVAL, try_attr(&attr));
		attr.alt_sample_period = 10000;
		attr.sample_period = 9999;
		EXPECT_EQ(EINVAL, try_attr(&attr));
		attr.sample_period = 10000;
		attr.sample_jitter = 2;
		EXPECT_EQ(EINVAL, try_attr(&attr));
		attr.sample_jitter = 0;
		fd = perf_event_open(&attr, 0, -1, -1);
		ASSERT_LE(0, fd);
		period = 9999;
		EXPECT_EQ(-1, ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
		EXPECT_EQ(EINVAL, errno);
		period = 10000;
		EXPECT_EQ(0, ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
		close(fd);
		/* An ordinary event is not refused. */
		attr.alt_sample_period = 0;
		attr.sample_period = 1;
		EXPECT_EQ(0, try_attr(&attr));
	}
}

/*
 * Every value of each byte of the reserved field, so that a later kernel can tell from an
 * error that this one does not know it.
 */
TEST_F(abi, reserved_field)
{
	struct perf_event_attr *attr = &self->attr;

	attr->sample_period = 1000;
	attr->alt_sample_period = 100;
	for (unsigned int shift = 0; shift < 8 * sizeof(attr->__reserved_4); shift += 8) {
		for (__u32 byte = 0; byte < 256; byte++) {
			attr->__reserved_4 = byte << shift;
			ASSERT_EQ(byte ? EINVAL : 0, try_attr(attr))
				TH_LOG("__reserved_4 = 0x%x", attr->__reserved_4);
		}
	}
}

/*
 * Events that go to another event's AUX buffer have no interrupt for each interval. Some
 * drivers refuse them for other reasons first.
 */
TEST_F(abi, aux_output)
{
	self->attr.sample_period = 1000;
	self->attr.aux_output = 1;
	self->attr.alt_sample_period = 100;
	EXPECT_NE(0, try_attr(&self->attr));
	self->attr.alt_sample_period = 0;
	self->attr.sample_jitter = 10;
	EXPECT_NE(0, try_attr(&self->attr));
}

/*
 * A PMU that samples has windows, or refuses them with EOPNOTSUPP. The other tests check
 * that PMUs with windows do not ignore the fields.
 */
TEST_F(abi, every_pmu)
{
	const char *devices = "/sys/bus/event_source/devices";
	struct dirent *entry;
	int with = 0, without = 0;
	DIR *dir = opendir(devices);

	if (!dir)
		SKIP(return, "no %s", devices);

	while ((entry = readdir(dir))) {
		char path[512];
		int type, plain, windows;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/type", devices, entry->d_name);
		type = read_number(path);
		if (type < 0)
			continue;
		/* Config 0 is no event of most of these, 0x11 is cycles on Arm. */
		for (__u64 config = 0; config < 0x20; config++) {
			self->attr = *variant->attr;
			self->attr.type = type;
			self->attr.config = config;
			self->attr.sample_period = 100000;
			plain = try_attr(&self->attr);
			self->attr.alt_sample_period = 20000;
			windows = try_attr(&self->attr);
			if (plain) {
				EXPECT_NE(0, windows);
			} else if (windows) {
				EXPECT_EQ(EOPNOTSUPP, windows) TH_LOG("%s", entry->d_name);
			}
			if (!plain)
				break;
		}
		if (plain)
			continue;
		with += !windows;
		without += !!windows;
		ksft_print_msg("%s: %s\n", entry->d_name, windows ? "refuses" : "windows");
	}
	closedir(dir);
	EXPECT_LT(0, with);
}

/* The places of the fields are ABI. */
TEST(layout)
{
	EXPECT_EQ(144, ALT_OFFSET);
	EXPECT_EQ(152, offsetof(struct perf_event_attr, sample_jitter));
	EXPECT_EQ(156, offsetof(struct perf_event_attr, alt_sample_jitter));
	EXPECT_EQ(160, offsetof(struct perf_event_attr, alt_sample_count));
	EXPECT_EQ(164, offsetof(struct perf_event_attr, __reserved_4));
	EXPECT_EQ(168, sizeof(struct perf_event_attr));
	EXPECT_EQ(168, PERF_ATTR_SIZE_VER10);
	EXPECT_EQ(1 << 13, PERF_RECORD_MISC_ALT_WINDOW);
	EXPECT_EQ(1 << 12, PERF_RECORD_MISC_ALT_SPLIT);
}

/* Old and new callers know fewer and more fields than the kernel. */
TEST_F(abi, attr_size)
{
	union {
		struct perf_event_attr attr;
		char bytes[sizeof(struct perf_event_attr) + 64];
	} u;

	memset(&u, 0, sizeof(u));
	u.attr = *variant->attr;
	u.attr.sample_period = 1000;

	/* An old caller does not have the fields; the kernel must not look. */
	u.attr.alt_sample_period = UINT64_MAX;
	u.attr.__reserved_4 = 1;
	for (__u32 size = PERF_ATTR_SIZE_VER0; size <= ALT_OFFSET; size += 8) {
		u.attr.size = size;
		EXPECT_EQ(0, try_attr(&u.attr)) TH_LOG("size %u", size);
	}
	/* This would have been an error. */
	u.attr.size = sizeof(u.attr);
	EXPECT_EQ(EINVAL, try_attr(&u.attr));
	u.attr.__reserved_4 = 0;

	/* A caller that knows alt_sample_period only */
	u.attr.alt_sample_period = 100;
	u.attr.alt_sample_count = UINT32_MAX;
	u.attr.sample_jitter = UINT32_MAX;
	u.attr.size = ALT_OFFSET + 8;
	EXPECT_EQ(0, try_attr(&u.attr));
	u.attr.alt_sample_count = 0;
	u.attr.sample_jitter = 0;

	/* A newer caller that uses no newer field, and one that does. */
	u.attr.size = sizeof(u);
	EXPECT_EQ(0, try_attr(&u.attr));
	EXPECT_EQ(sizeof(u), u.attr.size);
	u.bytes[sizeof(u) - 1] = 1;
	EXPECT_EQ(E2BIG, try_attr(&u.attr));
	/* The kernel tells the size that it knows. */
	EXPECT_LE(sizeof(u.attr), u.attr.size);
	EXPECT_GT(sizeof(u), u.attr.size);
}

TEST_HARNESS_MAIN
