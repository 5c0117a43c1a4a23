#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: perf
#
# What the PMUs cpu_core and cpu_atom of an exact machine count, one CPU each: what
# perf test's hybrid.sh cannot ask of others. KTAP.
. "$(dirname "$0")/ktap.sh"

out=/tmp/hybrid.out data=/tmp/hybrid.data
spin=(perf test -w noploop 0.01)

plan 6
for pmu in cpu_core cpu_atom; do
	on_cpu=(taskset $((1 << $(cat /sys/devices/$pmu/cpus))))

	# 0x3c: cycles.
	"${on_cpu[@]}" perf stat -x, -e "{$pmu/cycles/u,$pmu/r3c/u}" "${spin[@]}" > "$out" 2>&1
	awk -F, -v pmu=$pmu '$3 ~ pmu { n[++nr] = $1 } END { exit !(nr == 2 && n[1] > 0 && n[1] == n[2]) }' "$out"
	result $? "raw cycles of $pmu are its cycles"

	# An instruction is a cycle, and both are counted exactly. Two lines for each
	# sample: MISC COUNT EVENT
	"${on_cpu[@]}" perf record -o "$data" \
		-e "{$pmu/cycles,period=9700,alt-period=300/,$pmu/instructions/}:uS" \
		"${spin[@]}" > "$out" 2>&1
	perf script -i "$data" -F misc,event,period 2> /dev/null > "$out"
	[ "$(grep -c . "$out")" -gt 1000 ] && awk '
		{ window = int((NR - 1) / 2) % 2 }
		$2 != (window ? 300 : 9700) || ($1 ~ /W/) != window { print NR ": " $0; exit 1 }
		' "$out"
	result $? "windows of $pmu"
done

# The cores do not have it.
perf stat -x, -a -e cpu_atom/L1-icache-loads/ sleep 0.01 > "$out" 2>&1
awk -F, '/cpu_atom/ && $1 > 0 { nr++ } END { exit nr != 1 }' "$out"
result $? "a cache event of cpu_atom"

# A task that has an event of cpu_atom can fork while that PMU has no CPU.
online=/sys/devices/system/cpu/cpu$(cat /sys/devices/cpu_atom/cpus)/online
perf stat -e cycles bash -c "echo 0 > $online; (echo forked)" > "$out" 2>&1
echo 1 > "$online"
grep -q '^forked' "$out"
result $? "fork with a PMU offline"
exit "$failed"
