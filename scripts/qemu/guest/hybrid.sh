#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perf on a machine with the PMUs cpu_core and cpu_atom, of one CPU each: what the
# documentation of perf says about hybrid CPUs. KTAP.
. "$(dirname "$0")/ktap.sh"

core=$(cat /sys/bus/event_source/devices/cpu_core/type)
atom=$(cat /sys/bus/event_source/devices/cpu_atom/type)
core_cpu=$(cat /sys/devices/cpu_core/cpus) atom_cpu=$(cat /sys/devices/cpu_atom/cpus)
out=/tmp/hybrid.out data=/tmp/hybrid.data

show() { sed 's/^/# /' "$out"; }
# The event is there, and counted something.
counted() { grep -qE "^ +[1-9][0-9,]* +$1( |\$)" "$out"; }
on_cpu() { taskset $((1 << $1)) "${@:2}"; }
spin=(perf test -w noploop 0.01)

plan 12

[ "$core_cpu,$atom_cpu" = 0,1 ]
result $? "CPU 0 is a core, CPU 1 an atom"

# Two events of type 0, with the PMU in the upper half of the config.
perf stat -vv -e cycles -a sleep 0.01 > "$out" 2>&1
grep -qE "config +0x${core}00000000 " "$out" && grep -qE "config +0x$(printf %x "$atom")00000000 " "$out" &&
	counted cpu_core/cycles/ && counted cpu_atom/cycles/
result $? "cycles of the whole system"
show

# A thread that moves to the atom: both count, each a part of the time.
on_cpu "$core_cpu" perf stat -e cycles -- taskset $((1 << atom_cpu)) "${spin[@]}" > "$out" 2>&1
[ "$(grep -cE '[0-9] +cpu_(core|atom)/cycles/ +\([0-9.]+%\)$' "$out")" = 2 ]
result $? "cycles of a thread on both, with percentages"
show

on_cpu "$core_cpu" perf stat -- "${spin[@]}" > "$out" 2>&1
missing=0
for event in cycles instructions branches branch-misses; do
	grep -qE "cpu_core/(cpu-)?$event/" "$out" || missing=1
	grep -qE "cpu_atom/(cpu-)?$event/" "$out" || missing=1
done
result $missing "the default events of perf stat are those of both"
show

perf record -o "$data" "${spin[@]}" > "$out" 2>&1 && perf evlist -v -i "$data" > "$out" 2>&1
grep -q "cpu_core/cycles/.*config: 0x${core}00000000 " "$out" &&
	grep -q "cpu_atom/cycles/.*config: 0x$(printf %x "$atom")00000000 " "$out"
result $? "the default events of perf record are those of both"

perf stat -a -e cpu_core/cycles/,cpu_atom/cycles/ sleep 0.01 > "$out" 2>&1
counted cpu_core/cycles/ && counted cpu_atom/cycles/
result $? "cpu_core/cycles/, cpu_atom/cycles/"

perf stat -a -e cpu_atom/L1-icache-loads/ sleep 0.01 > "$out" 2>&1
counted cpu_atom/L1-icache-loads/
result $? "cpu_atom/L1-icache-loads/"

# 0x3c: cycles, and the numbers are the same.
perf stat -x, -a -e '{cpu_core/cycles/,cpu_core/r3c/}' sleep 0.01 > "$out" 2>&1
awk -F, '/cpu_core/ { n[NR] = $1 } END { exit !(n[1] > 0 && n[2] > 0) }' "$out"
result $? "raw events"

perf stat -a -e '{cpu_core/cycles/,cpu_atom/instructions/}' sleep 0.01 > "$out" 2>&1
grep -q 'events were regrouped to match PMUs' "$out" && counted cpu_core/cycles/ &&
	counted cpu_atom/instructions/
result $? "a group of both is regrouped, with a warning"

perf stat -a -e '{cpu_core/cycles/,cpu_core/instructions/}' sleep 0.01 > "$out" 2>&1
! grep -q regrouped "$out" && counted cpu_core/cycles/ && counted cpu_core/instructions/
result $? "a group of one"

# Windows on each PMU; an instruction is a cycle, and both are counted exactly.
for pmu in cpu_core cpu_atom; do
	cpu=$core_cpu
	[ $pmu = cpu_core ] || cpu=$atom_cpu
	on_cpu "$cpu" perf record -o "$data" \
		-e "{$pmu/cycles,period=9700,alt-period=300/,$pmu/instructions/}:uS" \
		"${spin[@]}" > "$out" 2>&1
	perf script -i "$data" -F misc,event,period 2> /dev/null > "$out"
	# Two lines for each sample: MISC COUNT EVENT
	[ "$(grep -c . "$out")" -gt 1000 ] && awk '
		{ window = int((NR - 1) / 2) % 2 }
		$2 != (window ? 300 : 9700) || ($1 ~ /W/) != window { print NR ": " $0; exit 1 }
		' "$out"
	result $? "windows of $pmu"
done
exit "$failed"
