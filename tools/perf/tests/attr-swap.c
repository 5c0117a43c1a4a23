// SPDX-License-Identifier: GPL-2.0
/*
 * Test the byte swap of perf_event_attr, as for a perf.data file from a machine of
 * the other byte order. What such a machine writes is generated from a description
 * of the layout, which must cover the whole struct: a new field has to be added
 * here, and then fails until perf_event__attr_swap() handles it.
 */
#include <byteswap.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include "debug.h"
#include "session.h"
#include "tests.h"

/* The flags after read_format have no name of their own. */
#define FLAGS_OFFSET	(offsetof(struct perf_event_attr, read_format) + sizeof(u64))
#define FLAGS_PRECISE	15	/* precise_ip, two bits */
#define FLAGS_NR	40	/* without the reserved ones */

static const struct field {
	const char *name;
	size_t offset, size;
	unsigned int bits;	/* bit-fields in it */
	bool reserved;
} fields[] = {
#define MEMBER(f, bits, reserved) \
	{ #f, offsetof(struct perf_event_attr, f), \
	  sizeof(((struct perf_event_attr *)NULL)->f), bits, reserved }
#define FIELD(f)	MEMBER(f, 0, false)
#define BITS(f, n)	MEMBER(f, n, false)
#define RESERVED(f)	MEMBER(f, 0, true)
	FIELD(type),
	FIELD(size),
	FIELD(config),
	FIELD(sample_period),
	FIELD(sample_type),
	FIELD(read_format),
	{ "flags", FLAGS_OFFSET, sizeof(u64), FLAGS_NR, false },
	FIELD(wakeup_events),
	FIELD(bp_type),
	FIELD(config1),
	FIELD(config2),
	FIELD(branch_sample_type),
	FIELD(sample_regs_user),
	FIELD(sample_stack_user),
	FIELD(clockid),
	FIELD(sample_regs_intr),
	FIELD(aux_watermark),
	FIELD(sample_max_stack),
	RESERVED(__reserved_2),
	FIELD(aux_sample_size),
	BITS(aux_action, 3),
	FIELD(sig_data),
	FIELD(config3),
	FIELD(config4),
	FIELD(__reserved_4[0]),
	FIELD(__reserved_4[1]),
	FIELD(__reserved_4[2]),
	FIELD(__reserved_4[3]),
	FIELD(__reserved_5[0]),
	FIELD(__reserved_5[1]),
	FIELD(__reserved_6[0]),
	FIELD(__reserved_6[1]),
	FIELD(alt_sample_period),
	FIELD(sample_jitter),
	FIELD(alt_sample_jitter),
	FIELD(alt_sample_count),
	RESERVED(__reserved_7),
#undef RESERVED
#undef BITS
#undef FIELD
#undef MEMBER
};

static const u32 attr_sizes[] = {
	0,
	PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER1, PERF_ATTR_SIZE_VER2,
	PERF_ATTR_SIZE_VER3, PERF_ATTR_SIZE_VER4, PERF_ATTR_SIZE_VER5,
	PERF_ATTR_SIZE_VER6, PERF_ATTR_SIZE_VER7, PERF_ATTR_SIZE_VER8,
	PERF_ATTR_SIZE_VER9,
	/* With sample_simd_*, and without alternating periods. */
	offsetof(struct perf_event_attr, alt_sample_period),
	sizeof(struct perf_event_attr),
};

/*
 * Set the Nth bit of the bit-fields. They are allocated from the least significant
 * bit on little endian machines and from the most significant bit on big endian
 * machines, and so are the bytes. So the bit is in the same byte on both, but
 * counted from the other end.
 */
static void set_flag(u8 *flags, unsigned int n, bool big_endian)
{
	flags[n / 8] |= 1 << (big_endian ? 7 - n % 8 : n % 8);
}

static int test__attr_swap_layout(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	struct perf_event_attr attr = { .disabled = 1, .precise_ip = 1, .defer_output = 1 };
	struct perf_event_attr expect = {};
	u8 *flags = (u8 *)&expect + FLAGS_OFFSET;
	bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	size_t end = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		TEST_ASSERT_EQUAL(fields[i].name, (int)fields[i].offset, (int)end);
		end += fields[i].size;
	}
	TEST_ASSERT_EQUAL("a field of perf_event_attr is missing in this test",
			  (int)end, (int)sizeof(attr));

	set_flag(flags, 0, big_endian);
	set_flag(flags, FLAGS_PRECISE + big_endian, big_endian);
	set_flag(flags, FLAGS_NR - 1, big_endian);
	TEST_ASSERT_VAL("bits of the flags", !memcmp(&attr, &expect, sizeof(attr)));
	return TEST_OK;
}

/*
 * Swap an attr of @size bytes that has all fields, and of the bit-fields bit @bit: all
 * that is within its size arrives, and nothing else changes.
 */
static int check_swap(u32 size, unsigned int bit)
{
	struct perf_event_attr attr = {}, expect = {};
	u32 swapped = size ?: PERF_ATTR_SIZE_VER0;
	bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	int ret = TEST_OK;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *f = &fields[i];
		u8 *from = (u8 *)&attr + f->offset, *to = (u8 *)&expect + f->offset;
		bool swaps = f->offset < swapped;

		if (bit < f->bits) {
			unsigned int other = bit;

			/* The bits of a value are reversed as well. */
			if (f->offset == FLAGS_OFFSET && swaps &&
			    (bit == FLAGS_PRECISE || bit == FLAGS_PRECISE + 1))
				other = 2 * FLAGS_PRECISE + 1 - bit;
			set_flag(from, other, big_endian ^ swaps);
			set_flag(to, bit, big_endian);
		}
		for (size_t j = 0; !f->bits && !f->reserved && j < f->size; j++) {
			to[j] = 0x11 * (j + 1);
			from[swaps ? f->size - 1 - j : j] = to[j];
		}
	}
	attr.size = bswap_32(size);
	expect.size = swapped;

	perf_event__attr_swap(&attr);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *f = &fields[i];

		if (memcmp((u8 *)&attr + f->offset, (u8 *)&expect + f->offset, f->size)) {
			pr_debug("attr of %u bytes, bit %u: %s is wrong\n", size, bit, f->name);
			ret = TEST_FAIL;
		}
	}
	return ret;
}

static int test__attr_swap(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	int ret = TEST_OK;

	for (size_t i = 0; i < ARRAY_SIZE(attr_sizes); i++) {
		for (unsigned int bit = 0; bit < FLAGS_NR; bit++) {
			if (check_swap(attr_sizes[i], bit))
				ret = TEST_FAIL;
		}
	}
	return ret;
}

static struct test_case tests__attr_swap[] = {
	TEST_CASE("Layout of perf_event_attr", attr_swap_layout),
	TEST_CASE("Byte swap of its fields", attr_swap),
	{ .name = NULL, }
};

struct test_suite suite__attr_swap = {
	.desc = "perf_event_attr of other machines",
	.test_cases = tests__attr_swap,
};
