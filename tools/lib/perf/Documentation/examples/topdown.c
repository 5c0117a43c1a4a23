// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perf/topdown.h>

#define REGIONS	100

/* What is to be measured. */
static void divide(unsigned int n)
{
	volatile unsigned int divisor = 7, sum = 0;

	while (n--)
		sum += n / divisor;
}

/* A part that is 0 may be less, by its error. */
static void print(const char *name, const struct perf_topdown_raw *sum, __s64 part)
{
	printf("%5.1f %%  %s\n", part > 0 ? 100. * part / sum->slots : 0, name);
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? atoi(argv[1]) : 1000000;
	struct perf_topdown_raw begin = { .size = sizeof(begin) };
	struct perf_topdown_raw end = begin, sum = begin;
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
			err = perf_topdown__add(&sum, &begin, &end);
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
	if (sum.level == 2) {
		print("heavy operations", &sum, sum.heavy_ops);
		print("branch mispredicts", &sum, sum.br_mispredict);
		print("fetch latency", &sum, sum.fetch_lat);
		print("memory bound", &sum, sum.mem_bound);
	}
	printf("of %lld slots, each +- %.1f %%\n", (long long)sum.slots,
	       100. * sum.error / sum.slots);
	if (sum.missed)
		printf("and not counted for %lld ns\n", (long long)sum.missed);
	return 0;
}
