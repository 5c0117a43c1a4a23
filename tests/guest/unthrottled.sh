#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: unthrottled.sh COMMAND...
# needs: nothing
#
# Run COMMAND with no limit on the rate of samples that matters here: when an
# event is throttled depends on the time that the kernel takes.
cd /proc/sys/kernel || exit
echo 25 > perf_cpu_time_max_percent	# else the rate cannot be set
echo 1000000 > perf_event_max_sample_rate
echo 0 > perf_cpu_time_max_percent
cd /tmp && exec "$@"
