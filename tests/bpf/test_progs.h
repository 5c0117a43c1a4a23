/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Run a test of selftests/bpf/prog_tests without the rest of selftests/bpf, which takes a
 * kernel with debug information: the macros of its test_progs.h that are needed. KTAP.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern bool subtest_failed;

bool test__start_subtest(const char *name);

#define ASSERT_TRUE_(condition, name, ...) ({				\
	bool good_ = (condition);					\
									\
	if (!good_) {							\
		subtest_failed = true;					\
		printf("# %s: " , name);				\
		printf(__VA_ARGS__);					\
		printf(" (%s)\n", strerror(errno));			\
	}								\
	good_;								\
})
#define ASSERT_GE(a, b, name) \
	ASSERT_TRUE_((a) >= (b), name, "%lld >= %lld", (long long)(a), (long long)(b))
#define ASSERT_EQ(a, b, name) \
	ASSERT_TRUE_((a) == (b), name, "%lld == %lld", (long long)(a), (long long)(b))
#define ASSERT_NEQ(a, b, name)	ASSERT_TRUE_((a) != (b), name, #a " != " #b)
#define ASSERT_OK_PTR(ptr, name) ASSERT_TRUE_(!libbpf_get_error(ptr), name, "pointer")
#define test__skip()		ASSERT_TRUE_(false, "skipped", "this machine has windows")
