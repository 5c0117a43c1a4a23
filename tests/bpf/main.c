// SPDX-License-Identifier: GPL-2.0
#include "test_progs.h"

bool subtest_failed;

static const char *subtest;
static int nr, failed;

void test_perf_alt_period(void);

static void end_subtest(void)
{
	if (!subtest)
		return;
	printf("%sok %d %s\n", subtest_failed ? "not " : "", ++nr, subtest);
	failed |= subtest_failed;
}

bool test__start_subtest(const char *name)
{
	end_subtest();
	subtest = name;
	subtest_failed = false;
	return true;
}

int main(void)
{
	puts("TAP version 13");
	test_perf_alt_period();
	end_subtest();
	printf("1..%d\n", nr);
	return failed;
}
