#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: topdown-stat.sh
#
# Does perf stat --topdown tell what all slots of the machine are used for, and those of
# each interval? KTAP.
. "$(dirname "$0")/ktap.sh"
workload=(timeout 0.45 perf test -w fnmix 1000000 int_div 8)

# Of the lines that have nothing but numbers, the last four are percentages of all slots.
check()			# NAME LINES OPTION...
{
	local name=$1 lines=$2
	shift 2

	perf stat -a --topdown -o /tmp/topdown.stat "$@" "${workload[@]}" > /tmp/log 2>&1
	awk -v lines="$lines" '
		/[0-9]/ && !/[^ 0-9.]/ && NF >= 4 {
			sum = $NF + $(NF - 1) + $(NF - 2) + $(NF - 3)
			# Each is rounded to 0.1, and was to 8 bits.
			bad += sum < 99 || sum > 101
			said = said " " sum
			nr++
		}
		END {
			print "# sums:" said " %"
			exit nr < lines || bad
		}' /tmp/topdown.stat
	result $? "$name" || cat /tmp/log /tmp/topdown.stat
}

plan 2
check 'perf stat --topdown' 1
check 'perf stat -I --topdown' 4 -I 100
exit "$failed"
