/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers that several tests of perf events share.
 */
#ifndef PERF_EVENTS_HELPERS_H
#define PERF_EVENTS_HELPERS_H

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline int perf_event_open(struct perf_event_attr *attr, pid_t pid,
				  int cpu, int group)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, group,
		       PERF_FLAG_FD_CLOEXEC);
}

/* Returns 0, or the error with which an event of @attr is refused. */
static inline int try_attr(struct perf_event_attr *attr)
{
	int fd = perf_event_open(attr, 0, -1, -1);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Returns why a machine may refuse an ordinary event with @err, or NULL if it must not. */
static inline const char *why_missing(int err)
{
	if (err == ENOENT || err == ENODEV || err == EOPNOTSUPP)
		return "no such event";
	if (err == EACCES || err == EPERM)
		return "not permitted, see /proc/sys/kernel/perf_event_paranoid";
	return NULL;
}

static inline __u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static inline bool pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

/* Returns the number in a file of sysfs or tracefs, or -1. */
static inline int read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	int number;

	if (!file)
		return -1;
	if (fscanf(file, "%d", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

/* Returns the number in a file of a PMU in sysfs, or -1. */
static inline int read_pmu_number(const char *pmu, const char *file)
{
	char path[512];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/%s", pmu, file);
	return read_number(path);
}

/* Returns false if the file cannot be written. */
static inline bool write_number(const char *path, int number)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return false;
	fprintf(file, "%d\n", number);
	return !fclose(file);
}

#define PERF_MAX_RATE		"/proc/sys/kernel/perf_event_max_sample_rate"
#define PERF_MAX_PERCENT	"/proc/sys/kernel/perf_cpu_time_max_percent"

/*
 * The kernel lowers the rate of samples, of all events and for good, when interrupts take
 * too long. Tests that provoke this restore what they found.
 */
struct sample_limits {
	int rate, percent;
};

static inline void save_sample_limits(struct sample_limits *limits)
{
	limits->rate = read_number(PERF_MAX_RATE);
	limits->percent = read_number(PERF_MAX_PERCENT);
}

/* The kernel lets the rate be set only while it limits the time. */
static inline bool set_sample_limits(int rate, int percent)
{
	return write_number(PERF_MAX_PERCENT, 25) && write_number(PERF_MAX_RATE, rate) &&
	       write_number(PERF_MAX_PERCENT, percent);
}

static inline void restore_sample_limits(const struct sample_limits *limits)
{
	set_sample_limits(limits->rate, limits->percent);
}

/* Reads a list of CPUs in sysfs, "0-3,5". Returns false if there is no such file. */
static inline bool read_cpus(const char *path, cpu_set_t *set)
{
	FILE *file = fopen(path, "r");
	int first, last;
	char c;

	if (!file)
		return false;
	CPU_ZERO(set);
	while (fscanf(file, "%d", &first) == 1) {
		last = first;
		c = fgetc(file);
		if (c == '-' && fscanf(file, "%d", &last) == 1)
			c = fgetc(file);
		for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, set);
		if (c != ',')
			break;
	}
	fclose(file);
	return true;
}

static __attribute__((noinline, unused)) void spin(unsigned int n)
{
	for (volatile unsigned int i = 0; i < n; i++)
		;
}

#endif /* PERF_EVENTS_HELPERS_H */
