// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perf/topdown.h>

#define REGIONS	100

/* Run the code to measure. */
static void divide(unsigned int n)
{
	volatile unsigned int divisor = 7, sum = 0;

	while (n--)
		sum += n / divisor;
}

static void print(const char *name, const struct perf_topdown_raw *sum, __s64 part)
{
	printf("%5.1f %%  %s\n", 100 * perf_topdown__fraction(sum, part), name);
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? atoi(argv[1]) : 1000000;
	struct perf_topdown_raw begin, end, sum = {};
	struct perf_topdown *topdown;
	int err;

	err = perf_topdown__new(&topdown);
	if (err) {
		fprintf(stderr, "failed to open: %s\n", strerror(-err));
		return 1;
	}
	for (int i = 0; i < REGIONS && !err; i++) {
		err = perf_topdown__read(topdown, &begin, 100000);
		divide(n / REGIONS);
		if (!err)
			err = perf_topdown__read(topdown, &end, ~0U);
		if (!err)
			perf_topdown__add(&sum, &begin, &end);
	}
	perf_topdown__delete(topdown);
	if (err || !sum.slots) {
		fprintf(stderr, "failed to read: %s\n", err ? strerror(-err) : "not counted");
		return 1;
	}
	print("retiring", &sum, sum.retiring);
	print("bad speculation", &sum, sum.bad_spec);
	print("frontend bound", &sum, sum.fe_bound);
	print("backend bound", &sum, sum.be_bound);
	printf("of %lld slots\n", (long long)sum.slots);
	if (sum.missed)
		printf("and not counted for %lld ns\n", (long long)sum.missed);
	return 0;
}
