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

#define SIMD_OFFSET	offsetof(struct perf_event_attr, __reserved_4)
#define ALT_OFFSET	offsetof(struct perf_event_attr, alt_sample_period)
#define LAST_OFFSET	offsetof(struct perf_event_attr, __reserved_7)

static const struct perf_event_attr cycles = {
	.type = PERF_TYPE_HARDWARE,
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.size = sizeof(cycles),
	.disabled = 1,
	.exclude_kernel = 1,
	.exclude_hv = 1,
};

FIXTURE(abi) {
	struct perf_event_attr attr;
};

FIXTURE_SETUP(abi)
{
	if (!have_alt_period())
		SKIP(return, "the kernel has no alternating sample periods");
	self->attr = cycles;
	self->attr.sample_period = 1000;
	self->attr.alt_sample_period = 100;
	if (why_missing(try_attr(&self->attr)))
		SKIP(return, "no cycles with alternating sample periods");
	self->attr = cycles;
}

FIXTURE_TEARDOWN(abi)
{
}

struct request {
	const char *what;
	__u64 period;
	__u32 alt_period, jitter, alt_jitter;
	__u16 alt_count;
	bool freq;
	int expected;
};

#define MAX	INT64_MAX

static const struct request requests[] = {
	{ "nothing", },
	{ "a period", 1000 },
	{ "a window", 1000, 100 },
	{ "four windows", 1000, 100, 0, 0, 4 },
	{ "2^16 - 1 windows", 1000, 100, 0, 0, UINT16_MAX },
	{ "a window as long as the period", 1000, 1000 },
	{ "a window longer than the period", 1000, 2000 },
	{ "the longest lengths", MAX, UINT32_MAX },
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

	{ "a period of 100 to 1900", 1000, 0, 1800 },
	{ "a period of 0 to 2000", 1000, 0, 2000, .expected = EINVAL },
	{ "a period of 0 to 2000 with a window", 1000, 100, 2000, .expected = EINVAL },
	{ "a period below zero", 1000, 0, UINT32_MAX, .expected = EINVAL },
	{ "a window of 100 to 1900", 1000, 1000, 0, 1800 },
	{ "a window of 0 to 2000", 1000, 1000, 0, 2000, .expected = EINVAL },
	{ "a window below zero", 1000, 100, 0, UINT32_MAX, .expected = EINVAL },
	{ "the widest jitter", (1ULL << 31) + 99, (1U << 31) + 99, UINT32_MAX, UINT32_MAX },
	{ "wider by one than fits", (1ULL << 31) - 1, 0, UINT32_MAX, .expected = EINVAL },

	{ "the longest period with jitter", MAX - 100, 0, 100 },
	{ "a period whose jitter exceeds 63 bits", MAX - 99, 0, 100, .expected = EINVAL },
	{ "the longest window with jitter", 1000, UINT32_MAX, 0, UINT32_MAX },

	{ "a window at a frequency", 100, 100, .freq = true },
	{ "jitter at a frequency", 100, 0, 10, .freq = true },
	{ "any jitter at a frequency: it is cut", 1, 0, UINT32_MAX, .freq = true },
	{ "both at a frequency", 100, 200, 10, 180, 4, .freq = true },
	{ "rounds of 10,000 samples a second", 100, 100, .alt_count = 99, .freq = true },
	{ "rounds of 2^16 samples", 100, 100, .alt_count = UINT16_MAX, .freq = true,
	  .expected = EINVAL },
	{ "a window at no frequency", 0, 100, .freq = true, .expected = EINVAL },
	{ "jitter at no frequency", 0, 0, 10, .freq = true, .expected = EINVAL },
	{ "a window of 0 to 200 at a frequency", 100, 100, 0, 200, .freq = true,
	  .expected = EINVAL },

#if defined(__i386__) || defined(__x86_64__)
	/* These PMUs arm two events at least. */
	{ "a window of one event", 1000, 1, .expected = EINVAL },
	{ "a window of one to three events", 1000, 2, 0, 2, .expected = EINVAL },
	{ "a period of one to three events", 2, 0, 2, .expected = EINVAL },
	{ "a window of two events", 1000, 2 },
#endif
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

/*
 * Every value of each byte that is reserved, so that a later kernel can tell from an error
 * that this one does not know it.
 */
TEST_F(abi, reserved_fields)
{
	unsigned char *bytes = (unsigned char *)&self->attr;

	self->attr.sample_period = 1000;
	self->attr.alt_sample_period = 100;
	for (size_t i = SIMD_OFFSET; i < sizeof(self->attr); i++) {
		if (i >= ALT_OFFSET && i < LAST_OFFSET)
			continue;
		for (unsigned int value = 0; value < 256; value++) {
			bytes[i] = value;
			ASSERT_EQ(value ? EINVAL : 0, try_attr(&self->attr))
				TH_LOG("byte %zu is 0x%x", i, value);
		}
		bytes[i] = 0;
	}
}

/* Windows of what nobody has run are refused; jitter of what counts the kernel is not. */
TEST_F(abi, not_with_the_kernel)
{
	self->attr.sample_period = 100000;
	self->attr.alt_sample_period = 1000;
	self->attr.exclude_kernel = 0;
	EXPECT_EQ(EOPNOTSUPP, try_attr(&self->attr));
	self->attr.exclude_user = 1;
	EXPECT_EQ(EOPNOTSUPP, try_attr(&self->attr));
	self->attr.exclude_user = 0;
	self->attr.alt_sample_period = 0;
	self->attr.sample_jitter = 1000;
	EXPECT_EQ(0, try_attr(&self->attr));
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
			self->attr = cycles;
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

/* Returns what the slab allocator has in use, in kB, or -1. */
static long slab_kb(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kb = -1;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "SUnreclaim: %ld", &kb) == 1)
			break;
	}
	fclose(file);
	return kb;
}

/* The state of an event goes with it. */
TEST_F(abi, no_leak)
{
	enum { EVENTS = 20000, BYTES = 64 };
	long kb[2];

	if (machine_slowness() > 1)
		SKIP(return, "debugging options keep memory that was freed");
	self->attr.sample_period = 100000;
	self->attr.alt_sample_period = 1000;
	/* What is cached is there after the first turn. */
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < EVENTS; i++)
			ASSERT_EQ(0, try_attr(&self->attr));
		/* It is freed behind a grace period. */
		usleep(300000);
		kb[turn] = slab_kb();
		if (kb[turn] < 0)
			SKIP(return, "no SUnreclaim in /proc/meminfo");
	}
	ksft_print_msg("%ld kB more\n", kb[1] - kb[0]);
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

/* Old and new callers know fewer and more fields than the kernel. */
TEST_F(abi, attr_size)
{
	union {
		struct perf_event_attr attr;
		char bytes[sizeof(struct perf_event_attr) + 64];
	} u;

	memset(&u, 0, sizeof(u));
	u.attr = cycles;
	u.attr.sample_period = 1000;

	/* An old caller does not have the fields; the kernel must not look. */
	u.attr.alt_sample_period = 1;
	u.attr.alt_sample_jitter = UINT32_MAX;
	u.attr.__reserved_7 = 1;
	for (__u32 size = PERF_ATTR_SIZE_VER0; size <= ALT_OFFSET; size += 8) {
		u.attr.size = size;
		EXPECT_EQ(0, try_attr(&u.attr)) TH_LOG("size %u", size);
	}
	/* This would have been an error. */
	u.attr.size = sizeof(u.attr);
	EXPECT_EQ(EINVAL, try_attr(&u.attr));
	u.attr.__reserved_7 = 0;
	EXPECT_EQ(EINVAL, try_attr(&u.attr));

	/* A caller that knows the first two fields only */
	u.attr.alt_sample_period = 100;
	u.attr.size = ALT_OFFSET + 8;
	EXPECT_EQ(0, try_attr(&u.attr));
	u.attr.alt_sample_jitter = 0;

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
