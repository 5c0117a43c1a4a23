#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: perf
#
# Do the functions of the workload have as many instructions per call as it says?
# What 100 more calls of a function cost, less what 100 more calls of an empty
# one do, is exactly that on a machine that counts exactly. KTAP.
. "$(dirname "$0")/ktap.sh"

# The least of three runs: one may have executed a few instructions more, to
# start up.
instructions()		# ROUNDS FUNCTION
{
	for _ in 1 2 3; do
		perf stat -x, -e instructions:u -o /tmp/stat perf test -w fnmix "$1" "$2" 8
		awk -F, '/instructions/ { print $1 }' /tmp/stat
	done | sort -n | head -n 1
}

hundred_calls()		# FUNCTION
{
	echo $(($(instructions 200 "$1") - $(instructions 100 "$1")))
}

list=$(perf test -w fnmix list every)
plan $(($(echo "$list" | wc -l) - 1))
empty=$(hundred_calls empty)
while read -r name known; do
	[ "$name" != empty ] || continue
	# A call of "empty" is one instruction.
	seen=$(($(hundred_calls "$name") - empty + 100))
	echo "# 100 calls of $name: $seen instructions, of $((known * 100))"
	[ "$seen" = $((known * 100)) ]
	result $? "$name: $known instructions per call"
done <<< "$list"
exit "$failed"
