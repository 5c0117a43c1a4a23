#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: perf
#
# Do the functions of the workload have as many cycles per call as the model of the
# emulated CPU gives? For machines with pmu-stalls=on, see target/i386/tcg/system/
# pmu.c of our QEMU for the costs. KTAP.
. "$(dirname "$0")/ktap.sh"
mispredict=16 l1_miss=30 llc_miss=200 int_div=14 fp_div=12 fence=33

events='{cycles,instructions,branch-misses,cpu/event=0xd1,umask=0x08/,cpu/event=0xd1,umask=0x20/}:u'

# What 100 more calls of a function count, less what 100 more calls of an empty
# one do: cycles, instructions, mispredicted branches, loads that miss L1, and
# those that miss the last level cache.
counts()		# ROUNDS FUNCTION
{
	# A file for each of the two that hundred_calls() runs at a time.
	perf stat -x, -e "$events" -o "/tmp/stat.$1" perf test -w fnmix "$1" "$2" 8
	awk -F, '$1 ~ /^[0-9]/ { print $1 }' "/tmp/stat.$1"
}

hundred_calls()		# FUNCTION
{
	paste -d ' ' <(counts 100 "$1") <(counts 200 "$1") | awk '{ print $2 - $1 }'
}

plan 8
mapfile -t empty < <(hundred_calls empty)
check()			# FUNCTION STALLS-OF-INSTRUCTIONS-PER-CALL
{
	local seen known i

	mapfile -t seen < <(hundred_calls "$1")
	for i in 0 1 2 3 4; do
		seen[i]=$((seen[i] - empty[i]))
	done
	# All instructions but those that stall have one cycle.
	known=$((seen[1] + 100 * $2 + mispredict * seen[2] +
		l1_miss * (seen[3] - seen[4]) + llc_miss * seen[4]))
	echo "# $1: ${seen[*]}; $known cycles by the model"
	[ "${seen[0]}" = $known ]
	result $? "$1"
	last=("${seen[@]}")
}

check nops 0
check convert 0
check int_div $((1500 * int_div))
check fp_div $((2000 * fp_div))
check barrier $((400 * 2 * fence))
check mispredict 0
# Chance predicts half of its 3000 random branches.
[ $((last[2] / 100)) -gt 1200 ] && [ $((last[2] / 100)) -lt 1800 ]
result $? mispredicts
check cache_miss 0
exit "$failed"
