#!/bin/bash
# Events on machines with several core PMUs (exclusive)
# SPDX-License-Identifier: GPL-2.0

# One event given becomes an event on each core PMU, as Documentation/hybrid.txt
# says: x86 hybrid and Arm big.LITTLE.

set -u
export LC_ALL=C

err=0
dir=$(mktemp -d /tmp/__perf_test.hybrid.XXXXXX)
log=$dir/log

cleanup()
{
	rm -rf "$dir"
	trap - EXIT TERM INT
}

trap_cleanup()
{
	echo "Unexpected signal in ${FUNCNAME[1]}"
	cleanup
	exit 1
}
trap trap_cleanup EXIT TERM INT

fail()
{
	echo "FAIL: $*"
	cat "$log"
	err=1
}

sysfs=/sys/bus/event_source/devices

# first_cpu PMU: the first CPU of its that this may run on
first_cpu()
{
	local range cpu

	tr ',' '\n' < "$sysfs/$1/cpus" | while read -r range; do
		for cpu in $(seq "${range%-*}" "${range#*-}"); do
			if taskset -c "$cpu" true 2> /dev/null; then
				echo "$cpu"
				return
			fi
		done
	done
}

declare -A cpu_of
pmus=()
for file in "$sysfs"/*/cpus; do
	[ -e "$file" ] || continue
	pmu=$(basename "$(dirname "$file")")
	cpu_of[$pmu]=$(first_cpu "$pmu")
	[ -z "${cpu_of[$pmu]}" ] || pmus+=("$pmu")
done
if [ ${#pmus[@]} -lt 2 ]; then
	echo "[Skip] one core PMU"
	cleanup
	exit 2
fi
if ! perf stat -a -e cycles true > "$log" 2>&1; then
	echo "[Skip] not permitted to count on all CPUs, or no counters"
	cleanup
	exit 2
fi
first=${pmus[0]} other=${pmus[1]}

# config PMU [EVENT]: the config of a hardware event, or of a cache event, of that PMU
config()
{
	printf '0x%x%08x' "$(cat "$sysfs/$1/type")" "${2:-0}"
}

test_list()
{
	local pmu

	echo "the list of events"
	perf list > "$dir/list" 2>&1
	for pmu in "${pmus[@]}"; do
		perf list --unit "$pmu" > "$log" 2>&1
		tr -s '\n ' ' ' < "$log" | grep -qE "Unit: $pmu\]| $pmu/" || fail "no event of $pmu"
		grep -q "^  $pmu/.*Raw event descriptor" "$dir/list" || fail "no descriptor of $pmu"
	done
	# The words may be on two lines.
	tr -s '\n ' ' ' < "$dir/list" > "$dir/words"
	if ! grep -qE "Unit: ($first|$other)\]" "$dir/words"; then
		echo "this perf has no table of events for this CPU"
		return
	fi
	for pmu in "${pmus[@]}"; do
		grep -q "Unit: $pmu\]" "$dir/words" || fail "no description of an event of $pmu"
	done
}

test_system_wide()
{
	echo "an event on the CPUs of each PMU"
	perf stat -vv -e cycles -a sleep 0.05 > "$log" 2>&1 || fail "perf stat -a"
	for pmu in "${pmus[@]}"; do
		grep -q "config  *$(config "$pmu")" "$log" || fail "no event of $pmu"
		grep -q "[1-9][0-9,]*  *$pmu/cycles/" "$log" || fail "no count of $pmu"
	done
}

test_thread()
{
	local pmu

	echo "a task that changes the PMU"
	for pmu in "${pmus[@]:1}"; do
		taskset -c "${cpu_of[$first]}" perf stat -e cycles -o "$log" \
			taskset -c "${cpu_of[$pmu]}" perf test -w noploop 0.1 > /dev/null 2>&1
		# Neither is all the time, so there are percentages.
		grep -qE "[1-9][0-9,]{5,} +$first/cycles/ +\([0-9.]+%\)" "$log" ||
			fail "no count of $first"
		grep -qE "[1-9][0-9,]{5,} +$pmu/cycles/ +\([0-9.]+%\)" "$log" ||
			fail "no count of $pmu"
	done

	echo "a task that stays"
	taskset -c "${cpu_of[$other]}" perf stat -e cycles -o "$log" \
		perf test -w noploop 0.01 > /dev/null 2>&1
	grep -qE "[1-9][0-9,]* +$other/cycles/ *$" "$log" || fail "no count of $other alone"
	grep -qE "<not counted> +$first/cycles/ +\(0.00%\)" "$log" || fail "a count of $first"
}

test_one_pmu()
{
	local pmu

	echo "an event of one PMU"
	for pmu in "${pmus[@]}"; do
		perf stat -e "$pmu/cycles/" -a sleep 0.01 > "$log" 2>&1 || fail "$pmu"
		[ "$(grep -c '/cycles/ *$' "$log")" = 1 ] || fail "more than $pmu"
		perf record -o "$dir/data" -e "$pmu/cycles/u" true > "$log" 2>&1
		perf evlist -v -i "$dir/data" > "$log" 2>&1
		grep "^$pmu/cycles/u" "$log" | grep -q "config: $(config "$pmu")" ||
			fail "perf record of $pmu"
	done
}

test_raw_and_cache()
{
	local pmu

	echo "raw and cache events of one PMU"
	for pmu in "${pmus[@]}"; do
		# What is opened; whether the CPU has the event is not the question.
		perf stat -vv -e "$pmu/r11/" true > "$log" 2>&1
		grep -q "type  *$(cat "$sysfs/$pmu/type") " "$log" || fail "PMU of a raw event"
		grep -qE "config +0x11( |\$)" "$log" || fail "config of a raw event"
		perf stat -vv -e "$pmu/L1-icache-loads/" true > "$log" 2>&1
		grep -q "config  *$(config "$pmu" 1)" "$log" || fail "config of a cache event"
	done
}

test_windows()
{
	local pmu

	echo "windows on one PMU"
	for pmu in "${pmus[@]}"; do
		# One CPU: the event of each has a sequence of its own.
		if ! taskset -c "${cpu_of[$pmu]}" perf record -o "$dir/data" \
			-e "$pmu/cycles,period=9700,alt-period=300/u" \
			perf test -w noploop 0.01 > "$log" 2>&1; then
			if grep -q "does not support alternating" "$log"; then
				echo "[Skip] no alternating sample periods"
				return
			fi
			fail "perf record of $pmu"
		fi
		perf script -i "$dir/data" -F misc,period > "$dir/samples" 2> "$log"
		awk '
			{ window = $1 ~ /W/ }
			$2 != (window ? 300 : 9700) || (NR > 1 && window == last) { exit 1 }
			{ last = window }
			END { exit NR < 100 }' "$dir/samples" || fail "samples of $pmu"
	done
}

test_defaults()
{
	local order

	echo "default events"
	perf stat true > "$log" 2>&1 || fail "perf stat"
	for pmu in "${pmus[@]}"; do
		grep -q "$pmu/.*cycles/" "$log" || fail "no cycles of $pmu"
		grep -q "$pmu/instructions/" "$log" || fail "no instructions of $pmu"
	done
	# All of one PMU before the first of another.
	order=$(grep -oE "($first|$other)/" "$log" | uniq | wc -l)
	[ "$order" = 2 ] || fail "events of PMUs are mixed"
	perf record -o "$dir/data" true > "$log" 2>&1 || fail "perf record"
	perf evlist -i "$dir/data" > "$log" 2>&1
	for pmu in "${pmus[@]}"; do
		grep -q "^$pmu/cycles/P" "$log" || fail "perf record without $pmu"
	done
}

test_group()
{
	echo "a group across PMUs"
	perf stat -e "{$first/cycles/,$other/instructions/}" true > "$log" 2>&1 || fail "group"
	grep -q "WARNING: events were regrouped to match PMUs" "$log" || fail "no warning"
	perf stat -e "{$first/cycles/,$first/instructions/}" true > "$log" 2>&1 || fail "group"
	grep -q "WARNING" "$log" && fail "a warning of a group on one PMU"
}

# A recording is read with the PMUs in its header, not those of this machine.
test_header()
{
	local input there=${other//[a-z]/x}

	echo "the PMUs of a recording"
	perf record -o "$dir/data" -e cycles/period=1000000/u true > "$log" 2>&1 || fail "record"
	perf record -o - -e cycles/period=1000000/u true > "$dir/pipe" 2> "$log" || fail "record to a pipe"
	# The name of the PMU in its header, where the sizes stay the same.
	sed -i "s/$other/$there/g" "$dir/data" "$dir/pipe"
	for input in "$dir/data" -; do
		perf evlist -v -i "$input" < "$dir/pipe" > "$log" 2>&1
		grep -q "config: $(config "$other") ($there/PERF_COUNT_HW_CPU_CYCLES/)" "$log" ||
			fail "name of a PMU that is not here"
		grep -q "config: $(config "$first") ($first/PERF_COUNT_HW_CPU_CYCLES/)" "$log" ||
			fail "name of a PMU"
		grep -q "^$there/.*cycles" "$log" || fail "name of an event"
	done
}

test_list
test_system_wide
test_thread
test_one_pmu
test_raw_and_cache
test_windows
test_defaults
test_group
test_header

cleanup
exit $err
