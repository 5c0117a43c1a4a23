#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: perf
#
# On a kernel without the series: perf refuses to record with windows, says why,
# and leaves no recording. KTAP.
. "$(dirname "$0")/ktap.sh"

plan 5
out=/tmp/old-kernel.log data=/tmp/old-kernel.data
sentence='This kernel does not support alternating or jittered sample periods.'

check()			# WHAT PERF-RECORD-OPTIONS...
{
	local what=$1
	shift
	rm -f "$data"
	! perf record -o "$data" "$@" true > "$out" 2>&1 &&
		[ ! -s "$data" ] && grep -qF "$sentence" "$out"
	result $? "$what"
}

check 'windows' -e 'cycles/period=999700,alt-period=300/u'
check 'jitter' -e 'cycles/period=999700,period-jitter=300/u'
# With :P perf tries again with less precision: that must not drop the windows.
check 'windows, precise' -e 'cycles/period=999700,alt-period=300/P'
check 'windows of a clock' -e 'task-clock/period=999700,alt-period=30000/'

# An event without them is recorded as ever.
perf record -o "$data" -e 'cycles/period=999700/u' perf test -w noploop 0.1 \
	> "$out" 2>&1 && [ "$(perf script -i "$data" | wc -l)" -gt 10 ]
result $? 'ordinary event'
exit "$failed"
