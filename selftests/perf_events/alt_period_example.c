// SPDX-License-Identifier: GPL-2.0
/*
 * Take windows of 300 cycles while this program runs, and print the cycles per
 * instruction of two of its functions. This is the example of
 * Documentation/userspace-api/perf_alternating_periods.rst.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SKIP		4	/* the exit status that means so to kselftest */
#define DATA_SIZE	262144	/* of the buffer: enough for all samples */
#define SAMPLES		1000

/* A function in a section of its own: the linker tells where it begins and ends. */
#define FUNCTION(name)	\
	extern const char __start_in_##name[], __stop_in_##name[]; \
	static void __attribute__((noinline, section("in_" #name))) name(int n)

static volatile uint64_t number = 12345;

FUNCTION(add)
{
	uint64_t sum = number;

	while (n--)
		sum += sum ^ n;
	number = sum;
}

FUNCTION(divide)
{
	uint64_t quotient = number;

	while (n--)
		quotient = ~quotient / (n | 1);
	number = quotient;
}

static struct function {
	const char *name, *start, *stop;
	uint64_t windows, cycles, instructions;
} functions[] = {
	{ .name = "add", .start = __start_in_add, .stop = __stop_in_add },
	{ .name = "divide", .start = __start_in_divide, .stop = __stop_in_divide },
};

/* PERF_SAMPLE_IP, PERF_SAMPLE_PERIOD, and PERF_SAMPLE_READ of a group of two */
struct sample {
	struct perf_event_header header;
	uint64_t ip, period, nr, enabled, running, cycles, instructions;
};

static int open_event(struct perf_event_attr *attr, int group)
{
	return syscall(SYS_perf_event_open, attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static int refused(const char *event)
{
	int error = errno;

	fprintf(stderr, "%s: %s\n", event,
		error == E2BIG ? "this kernel has no windows" :
		error == EOPNOTSUPP ? "this PMU has no windows" : strerror(error));
	switch (error) {
	case E2BIG:
	case EOPNOTSUPP:
	case ENOENT:
	case EACCES:
		return SKIP;
	default:
		return 1;
	}
}

/* Adds what was counted between two samples, in @f if both are there. */
static void add_window(const struct sample *begin, const struct sample *end)
{
	for (struct function *f = functions; f < functions + 2; f++) {
		uint64_t start = (uintptr_t)f->start, size = f->stop - f->start;

		if (begin->ip - start >= size || end->ip - start >= size)
			continue;
		f->windows++;
		f->cycles += end->cycles - begin->cycles;
		f->instructions += end->instructions - begin->instructions;
	}
}

int main(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.size = sizeof(attr),
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.sample_period = 99700,		/* a long interval */
		.sample_jitter = 1000,		/* 99200 to 100200 */
		.alt_sample_period = 300,	/* a window */
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct perf_event_attr member = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.size = sizeof(member),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct { uint64_t nr, enabled, running, counts[2]; } total;
	const struct sample *sample, *last = NULL;
	struct perf_event_mmap_page *page;
	bool whole = true;
	int group;
	char *data;

	group = open_event(&attr, -1);
	if (group < 0)
		return refused("cycles");
	if (open_event(&member, group) < 0)
		return refused("instructions");
	page = mmap(NULL, sysconf(_SC_PAGE_SIZE) + DATA_SIZE, PROT_READ, MAP_SHARED, group, 0);
	if (page == MAP_FAILED) {
		perror("mmap");
		return 1;
	}

	ioctl(group, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 10000; i++) {
		add(10000);
		divide(10000);
		if (__atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) > SAMPLES * sizeof(*sample))
			break;
	}
	ioctl(group, PERF_EVENT_IOC_DISABLE, 0);
	if (read(group, &total, sizeof(total)) != sizeof(total))
		return refused("read");
	if (!total.running) {
		fprintf(stderr, "this CPU belongs to another PMU\n");
		return SKIP;
	}

	/* The buffer has not wrapped, and is not written to any more. */
	data = (char *)page + page->data_offset;
	for (uint64_t at = 0; at < page->data_head; at += sample->header.size) {
		sample = (const struct sample *)(data + at);
		if (sample->header.type != PERF_RECORD_SAMPLE)
			continue;
		/*
		 * Not a window that the event was throttled in, or that it was not
		 * on the PMU for all the time of.
		 */
		if (last && (sample->header.misc & PERF_RECORD_MISC_ALT_WINDOW) &&
		    !(sample->header.misc & PERF_RECORD_MISC_ALT_SPLIT) &&
		    sample->enabled - last->enabled == sample->running - last->running) {
			whole &= sample->cycles - last->cycles >= sample->period;
			add_window(last, sample);
		}
		last = sample;
	}

	for (struct function *f = functions; f < functions + 2; f++) {
		printf("%-6s %3llu windows, %.2f cycles per instruction\n", f->name,
		       (unsigned long long)f->windows, (double)f->cycles / f->instructions);
		if (!f->windows)
			return 1;
	}
	return whole ? 0 : 1;
}
