#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: lbr.sh
# needs: perf
#
# With a sample for every 32 taken branches, the 32 records of a branch stack have the
# cycles that a counter has from one sample to the next. KTAP.
. "$(dirname "$0")/ktap.sh"
data=/tmp/lbr.data

perf record -q -b -m 8M -o "$data" \
	-e '{cpu/event=0xc4,umask=0x20,period=32/,cycles}:uS' \
	perf test -w fnmix 20 > /dev/null 2>&1
# Samples, those with 32 records, as the kernel drops them when it switches between
# tasks, those of these that have the cycles of their records, mispredicted branches.
read -r samples full right mispredicted < <(
	perf script -i "$data" -F event,period,brstack 2> /dev/null |
	awk '$2 == "cycles:" {
			cycles = 0
			for (i = 3; i <= NF; i++) {
				split($i, entry, "/")
				cycles += entry[6]
				mispredicted += entry[3] == "M"
			}
			samples++
			full += NF == 2 + 32
			right += NF == 2 + 32 && cycles == $1
		}
		END { print samples + 0, full + 0, right + 0, mispredicted + 0 }')
echo "# $samples samples, $full with 32 records, $right of them with the cycles of these;" \
	"$mispredicted mispredicted branches"
plan 3
[ "$samples" -gt 1000 ] && [ $((samples - full)) -lt $((samples / 100)) ]
result $? 'samples of 32 branches'
[ "$right" = "$full" ]
result $? 'the records have all cycles'
[ "$mispredicted" -gt 0 ] && [ "$mispredicted" -lt $((samples * 32 / 10)) ]
result $? 'mispredicted branches are marked'
exit "$failed"
