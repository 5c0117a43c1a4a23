#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: perf
#
# Print the samples of ordinary events: the same on every kernel, whatever the
# time it spends on them. scripts/run/test.sh compares base and series.

stream()		# PERF-RECORD-OPTIONS...
{
	echo "# $*"
	perf record -q -o /tmp/streams.data "$@" perf test -w fnmix 20 2>&1 |
		grep -v schedstat
	perf script -i /tmp/streams.data -F event,ip,sym,period 2> /dev/null
}

stream -e 'cycles/period=10007/u'
stream -e 'cycles/period=300/u'
stream -e '{cycles/period=20011/,instructions,page-faults}:uS'
stream -e 'page-faults/period=7/u'
stream -e 'page-faults/period=1/u' --period
stream -e 'syscalls:sys_enter_mmap' -c 1
# A fixed period beside PERF_SAMPLE_PERIOD: each event is a sample.
stream -e page-faults:u -c 100000 --period
stream -e syscalls:sys_enter_mmap -c 100000
