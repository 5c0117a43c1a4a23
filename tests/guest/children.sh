#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: children.sh
# needs: perf
#
# Has a function that calls nothing the same metrics with --children as without, if the call
# chain of an exact sample is taken by an interrupt that comes later, in another function? For
# machines with late interrupts and precise events. KTAP.
. "$(dirname "$0")/ktap.sh"
data=/tmp/children.data out=/tmp/children.out
export PAGER=cat

report()			# OPTION
{
	perf fnstat report -i "$data" "$1" -g none -q -t '|' -F time-share,metric:cpi,sym 2> "$out" |
		grep -E 'fnmix_(mispredict|int_div|fp_div|convert|barrier|cache_miss|nops)' | sort
}

plan 3
perf fnstat record -q -g -c 20011 -M cpi -o "$data" -- perf test -w fnmix 400 > "$out" 2>&1
result $? 'a recording with call chains'
perf report -D -i "$data" 2> "$out" | grep -q 'PERF_RECORD_SAMPLE(IP, 0x4'
result $? 'exact samples'
report --no-children > /tmp/children.own
report --children > /tmp/children.all
# An interrupt that comes in the kernel has the function as caller of that, in some of 10000.
sort -t '|' -k 5 /tmp/children.own /tmp/children.all | tee "$out" | awk -F '|' '
	function differ(a, b) { return a > 1.01 * b || b > 1.01 * a }
	$5 == name	{ n++; bad += differ($1, time) || differ($3, cpi) }
			{ name = $5; time = $1; cpi = $3 }
	END		{ exit bad || n != 7 }'
result $? 'functions that call nothing'
