// SPDX-License-Identifier: GPL-2.0
/*
 * Test the byte swap of perf_event_attr, as for a perf.data file from a machine of
 * the other byte order. What such a machine writes is generated from a description
 * of the layout, which must cover the whole struct: a new field has to be added
 * here, and then fails until perf_event__attr_swap() handles it.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include "debug.h"
#include "evlist.h"
#include "evsel.h"
#include "header.h"
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

static void reverse(u8 *to, const u8 *from, size_t size)
{
	while (size--)
		*to++ = from[size];
}

static bool host_is_big_endian(void)
{
	const union { u16 word; u8 byte; } one = { .word = 1 };

	return !one.byte;
}

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
	bool big_endian = host_is_big_endian();
	size_t i, end = 0;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
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

/* Swap each field on its own, check that it arrives and that nothing else changes. */
static int swap_fields(u32 size)
{
	u32 swapped = size ?: PERF_ATTR_SIZE_VER0;
	int ret = TEST_OK;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *f = &fields[i];
		struct perf_event_attr attr = {}, expect = { .size = swapped };
		bool beyond = f->offset >= swapped;
		u8 *p = (u8 *)&attr + f->offset, *e = (u8 *)&expect + f->offset;
		size_t j;

		if (f->reserved || f->bits || f->offset == offsetof(struct perf_event_attr, size))
			continue;

		reverse((u8 *)&attr.size, (u8 *)&size, sizeof(size));
		for (j = 0; j < f->size; j++)
			e[j] = 0x11 * (j + 1);
		if (beyond)	/* not swapped */
			memcpy(p, e, f->size);
		else
			reverse(p, e, f->size);

		perf_event__attr_swap(&attr);
		if (memcmp(&attr, &expect, sizeof(attr))) {
			pr_debug("attr of %u bytes: %s is wrong\n", size, f->name);
			ret = TEST_FAIL;
		}
	}
	return ret;
}

/* Do the same for each bit of the bit-fields. */
static int swap_bits(u32 size)
{
	u32 swapped = size ?: PERF_ATTR_SIZE_VER0;
	bool big_endian = host_is_big_endian();
	int ret = TEST_OK;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *f = &fields[i];
		bool is_flags = f->offset == FLAGS_OFFSET;
		bool beyond = f->offset >= swapped;
		unsigned int n;

		for (n = 0; n < f->bits; n++) {
			struct perf_event_attr attr = {}, expect = { .size = swapped };
			unsigned int other = n;

			/* The bits of a value are reversed as well. */
			if (is_flags && n == FLAGS_PRECISE)
				other = FLAGS_PRECISE + 1;
			else if (is_flags && n == FLAGS_PRECISE + 1)
				other = FLAGS_PRECISE;

			reverse((u8 *)&attr.size, (u8 *)&size, sizeof(size));
			set_flag((u8 *)&attr + f->offset, beyond ? n : other,
				 beyond ? big_endian : !big_endian);
			set_flag((u8 *)&expect + f->offset, n, big_endian);

			perf_event__attr_swap(&attr);
			if (memcmp(&attr, &expect, sizeof(attr))) {
				pr_debug("attr of %u bytes: bit %u of %s is wrong\n",
					 size, n, f->name);
				ret = TEST_FAIL;
			}
		}
	}
	return ret;
}

static int test__attr_swap_fields(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	int ret = TEST_OK;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(attr_sizes); i++) {
		if (swap_fields(attr_sizes[i]))
			ret = TEST_FAIL;
	}
	return ret;
}

static int test__attr_swap_bits(struct test_suite *test __maybe_unused,
				int subtest __maybe_unused)
{
	int ret = TEST_OK;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(attr_sizes); i++) {
		if (swap_bits(attr_sizes[i]))
			ret = TEST_FAIL;
	}
	return ret;
}

/*
 * Read an attr with a field that this perf does not know, as from a pipe. The ids
 * come after this field. It is not kept, so attr.size must not include it.
 */
static int test__attr_larger(struct test_suite *test __maybe_unused,
			     int subtest __maybe_unused)
{
	struct {
		struct perf_event_header header;
		struct perf_event_attr attr;
		u64 unknown;
		u64 id;
	} ev = {
		.header = {
			.type = PERF_RECORD_HEADER_ATTR,
			.size = sizeof(ev),
		},
		.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.size = sizeof(ev.attr) + sizeof(ev.unknown),
			.sample_type = PERF_SAMPLE_ID,
		},
		.unknown = 1,
		.id = 99,
	};
	struct evlist *evlist = NULL;
	u32 size = 0, nr_ids = 0;
	u64 id = 0;
	int err;

	err = perf_event__process_attr(NULL, (union perf_event *)&ev, &evlist);
	if (!err) {
		struct evsel *evsel = evlist__first(evlist);

		size = evsel->core.attr.size;
		nr_ids = evsel->core.ids;
		if (nr_ids)
			id = evsel->core.id[0];
	}
	evlist__put(evlist);

	TEST_ASSERT_EQUAL("perf_event__process_attr()", err, 0);
	TEST_ASSERT_EQUAL("ids", (int)nr_ids, 1);
	TEST_ASSERT_EQUAL("id", (int)id, 99);
	TEST_ASSERT_EQUAL("attr.size", (int)size, (int)sizeof(struct perf_event_attr));

	return TEST_OK;
}

static struct test_case tests__attr_swap[] = {
	TEST_CASE("Layout of perf_event_attr", attr_swap_layout),
	TEST_CASE("Byte swap of its fields", attr_swap_fields),
	TEST_CASE("Byte swap of its bit-fields", attr_swap_bits),
	TEST_CASE("Larger than this perf knows", attr_larger),
	{ .name = NULL, }
};

struct test_suite suite__attr_swap = {
	.desc = "perf_event_attr of other machines and newer perfs",
	.test_cases = tests__attr_swap,
};
