// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perf/core.h>
#include <perf/topdown.h>

static const char * const names[PERF_TOPDOWN_PARTS] = {
	"retiring", "bad speculation", "frontend bound", "backend bound",
	"heavy operations", "branch mispredicts", "fetch latency", "memory bound",
};

static int libperf_print(enum libperf_print_level level,
			 const char *fmt, va_list ap)
{
	return level <= LIBPERF_WARN ? vfprintf(stderr, fmt, ap) : 0;
}

/* What is to be measured. */
static void divide(unsigned int n)
{
	volatile unsigned int divisor = 7, sum = 0;

	while (n--)
		sum += n / divisor;
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? atoi(argv[1]) : 1000000;
	struct perf_topdown_value begin, end;
	double ratio[PERF_TOPDOWN_PARTS], error;
	struct perf_topdown *topdown;
	int level = 2, parts, err;

	libperf_init(libperf_print);

	err = perf_topdown__new(&topdown, level);
	if (err == -EOPNOTSUPP)
		err = perf_topdown__new(&topdown, --level);
	if (err) {
		fprintf(stderr, "failed to open: %s\n", strerror(-err));
		return 1;
	}

	err = perf_topdown__read(topdown, &begin);
	divide(n);
	if (!err)
		err = perf_topdown__read(topdown, &end);
	if (!err)
		err = perf_topdown__ratios(&begin, &end, ratio, &error);
	if (err) {
		fprintf(stderr, "failed to measure: %s\n", strerror(-err));
	} else {
		parts = level == 2 ? PERF_TOPDOWN_PARTS : PERF_TOPDOWN_HEAVY_OPS;
		for (int i = 0; i < parts; i++)
			printf("%5.1f %%  %s\n", 100 * ratio[i], names[i]);
		printf("of %llu slots, each +- %.1f %%\n",
		       (unsigned long long)(end.slots - begin.slots), 100 * error);
	}
	perf_topdown__delete(topdown);
	return err ? 1 : 0;
}
