#!/bin/bash
# Events on machines with several core PMUs (exclusive)
# SPDX-License-Identifier: GPL-2.0

# An event without a PMU becomes an event on each core PMU of x86 hybrid and Arm
# big.LITTLE machines, see Documentation/hybrid.txt.

# shellcheck disable=SC2154 # err, testdir and log come from lib/test_helper.sh
set -e
export LC_ALL=C

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh

perfdata=${testdir}/perf.data
sysfs=/sys/bus/event_source/devices

# config PMU [EVENT]: print the config of a hardware or cache event of PMU
config() {
	printf '0x%x%08x' "$(cat "${sysfs}/$1/type")" "${2:-0}"
}

# logged REGEX...: a line of the log matches each REGEX
logged() {
	local regex

	for regex
	do
		grep -qE "${regex}" "${log}" || return 1
	done
}

# check_pmus NAME REGEX: for each PMU, a line of the log matches REGEX, in which PMU is its name
# and CONFIG that of its cycles
check_pmus() {
	local pmu regex

	for pmu in "${pmus[@]}"
	do
		regex=${2//PMU/${pmu}}
		check "$1 of ${pmu}" logged "${regex//CONFIG/$(config "${pmu}")}"
	done
}

test_list() {
	local pmu

	check "List events" run_logged perf list
	check_pmus "List the raw event descriptor" "^  PMU/.*Raw event descriptor"
	# Words may be on different lines.
	tr -s '\n ' ' ' < "${log}" > "${testdir}/words"
	for pmu in "${pmus[@]}"
	do
		if grep -qE "Unit: (${first}|${other})\]" "${testdir}/words"
		then
			check "List descriptions of events of ${pmu}" \
				grep -q "Unit: ${pmu}\]" "${testdir}/words"
		else
			skip "List descriptions of events of ${pmu}: not known for this CPU"
		fi
		perf list --unit "${pmu}" 2>&1 | tr -s '\n ' ' ' > "${log}"
		check "List only events of ${pmu}" logged "Unit: ${pmu}\]| ${pmu}/"
	done
}

test_system_wide() {
	check "Count system wide" run_logged perf stat -vv -e cycles -a sleep 0.05
	check "Count system wide: attr" logged "^ +disabled +1$" "^ +inherit +1$" \
		"^ +sample_type +IDENTIFIER$" "^ +read_format +TOTAL_TIME_ENABLED.TOTAL_TIME_RUNNING$"
	check_pmus "Count system wide: event" "config +CONFIG"
	check_pmus "Count system wide: count" "[1-9][0-9,]* +PMU/cycles/"
	# Other PMUs, such as arm_dsu, may have cycles as well.
	check "Count system wide: order of the PMUs" \
		[ "$(sed -n 's|^ *[0-9][0-9,]* *\(.*\)/cycles/.*|\1|p' "${log}" |
			grep -xF "$(printf '%s\n' "${pmus[@]}")")" = \
		  "$(printf '%s\n' "${pmus[@]}" | LC_ALL=C sort)" ]
}

test_thread() {
	local pmu

	check "Count a task" run_logged perf stat -vv -e cycles true
	check "Count a task: attr" logged "^ +disabled +1$" "^ +inherit +1$" "^ +enable_on_exec +1$"
	for pmu in "${pmus[@]:1}"
	do
		check "Count a task that moves to ${pmu}" \
			run_logged taskset -c "${cpu_of[${first}]}" perf stat -e cycles \
			taskset -c "${cpu_of[${pmu}]}" perf test -w noploop 0.1
		# There are percentages, as no event counts all the time.
		check "Count a task that moves to ${pmu}: count of ${first}" \
			logged "[1-9][0-9,]{5,} +${first}/cycles/ +\([0-9.]+%\)"
		check "Count a task that moves to ${pmu}: count of ${pmu}" \
			logged "[1-9][0-9,]{5,} +${pmu}/cycles/ +\([0-9.]+%\)"
	done

	check "Count a task that stays" \
		run_logged taskset -c "${cpu_of[${other}]}" perf stat -e cycles \
		perf test -w noploop 0.01
	check "Count a task that stays: count of ${other}" \
		logged "[1-9][0-9,]* +${other}/cycles/ *$"
	check "Count a task that stays: no count of ${first}" \
		logged "<not counted> +${first}/cycles/ +\(0.00%\)"
}

test_one_pmu() {
	local pmu

	for pmu in "${pmus[@]}"
	do
		check "Count on ${pmu}" run_logged perf stat -e "${pmu}/cycles/" -a sleep 0.01
		check "Count on ${pmu}: one event" \
			[ "$(grep -c '/cycles/ *$' "${log}")" = 1 ]
		check "Record on ${pmu}" run_logged perf record -o "${perfdata}" \
			-e "${pmu}/cycles/u" true
		check "Record on ${pmu}: list" run_logged perf evlist -v -i "${perfdata}"
		check "Record on ${pmu}: config" \
			logged "^${pmu}/cycles/u.*config: $(config "${pmu}")"
	done
}

# Whether the CPU has the event does not matter: check what perf tries to open.
test_raw_and_cache() {
	local pmu

	for pmu in "${pmus[@]}"
	do
		perf stat -vv -e "${pmu}/r1a/" true > "${log}" 2>&1 || true
		check "Raw event of ${pmu}: type" logged "type +$(cat "${sysfs}/${pmu}/type") "
		check "Raw event of ${pmu}: config" logged "config +0x1a( |\$)"
		perf stat -vv -e "${pmu}/L1-icache-loads/" true > "${log}" 2>&1 || true
		check "Cache event of ${pmu}: config" logged "config +$(config "${pmu}" 1)"
	done
	if [ -e "${sysfs}/cpu_core" ]
	then
		check "Raw event without a PMU" run_logged perf stat -e r3c -a sleep 0.01
		check "Raw event without a PMU: of cpu_core alone" \
			[ "$(sed -n 's|^ *[0-9][0-9,]* *\(.*/r3c/\).*|\1|p' "${log}")" = cpu_core/r3c/ ]
	fi
}

# count CPU OPTIONS...: print the sum of what a task counts that moves from CPU to another PMU
count() {
	local cpu=$1

	shift
	taskset -c "${cpu}" perf stat "$@" -x, -e instructions:u \
		taskset -c "${cpu_of[${other}]}" perf test -w brstack 100000 2>&1 |
		awk -F, '$3 ~ /instructions/ { sum += $1 } END { printf "%d", sum }'
}

# Scaled counts are of a task that was on CPUs of one kind: those that are not scaled add up.
test_scaled() {
	local whole parts

	whole=$(count "${cpu_of[${other}]}")
	parts=$(count "${cpu_of[${first}]}" --no-scale)
	echo "alone ${whole}, in two parts ${parts}" > "${log}"
	check "Counts of a task that moves add up if they are not scaled" \
		[ "$((parts > whole ? parts - whole : whole - parts))" -lt "$((whole / 10))" ]
}

# The event is on one PMU and on one CPU, so there is one sequence of samples.
test_windows() {
	local pmu

	for pmu in "${pmus[@]}"
	do
		if ! run_logged taskset -c "${cpu_of[${pmu}]}" perf record -o "${perfdata}" \
			-e "${pmu}/cycles,period=9700,alt-period=300/u" \
			perf test -w noploop 0.01
		then
			if logged "alternating or jittered sample periods"
			then
				skip "Windows on ${pmu}: no alternating sample periods"
			else
				fail "Windows on ${pmu}: record"
			fi
			continue
		fi
		perf script -i "${perfdata}" -F misc,period > "${testdir}/samples" 2> "${log}"
		check "Windows on ${pmu}" awk '
			{ window = $1 ~ /W/ }
			{ bad += $2 != (window ? 300 : 9700) || (NR > 1 && window == last) }
			{ last = window }
			END { exit bad || NR < 100 }' "${testdir}/samples"
	done
}

test_defaults() {
	check "Default events of perf stat" run_logged perf stat true
	check_pmus "Default events of perf stat: cycles" "PMU/.*cycles/"
	check_pmus "Default events of perf stat: instructions" "PMU/instructions/"
	# All events of one PMU are before the first of another.
	check "Default events of perf stat: order of the PMUs" \
		[ "$(grep -oE "(${first}|${other})/" "${log}" | uniq | wc -l)" = 2 ]

	check "Default event of perf record" run_logged perf record -o "${perfdata}" true
	check "Default event of perf record: list" run_logged perf evlist -i "${perfdata}"
	check_pmus "Default event of perf record: cycles" "^PMU/cycles/P"
}

test_group() {
	check "Group of two PMUs" \
		run_logged perf stat -e "{${first}/cycles/,${other}/instructions/}" true
	check "Group of two PMUs: warning" \
		logged "WARNING: events were regrouped to match PMUs"
	check "Group of one PMU" \
		run_logged perf stat -e "{${first}/cycles/,${first}/instructions/}" true
	check "Group of one PMU: no warning" [ "$(grep -c WARNING "${log}")" = 0 ]
}

# The names of PMUs are those in the header of a recording, not those of this
# machine.
test_header() {
	local input there=${other//[a-z]/x} pipe=${testdir}/pipe

	check "PMUs of a recording: file" \
		run_logged perf record -o "${perfdata}" -e cycles/period=1000000/u true
	perf record -o - -e cycles/period=1000000/u true > "${pipe}" 2> "${log}"
	# Change the name of a PMU in the header to another one of the same length.
	sed -i "s/${other}/${there}/g" "${perfdata}" "${pipe}"
	for input in "${perfdata}" -
	do
		check "PMUs of a recording: read ${input##*/}" \
			run_logged perf evlist -v -i "${input}" < "${pipe}"
		check "PMUs of a recording: PMU of another machine" \
			logged "config: $(config "${other}") \(${there}/PERF_COUNT_HW_CPU_CYCLES/\)"
		check "PMUs of a recording: PMU of this machine" \
			logged "config: $(config "${first}") \(${first}/PERF_COUNT_HW_CPU_CYCLES/\)"
		check "PMUs of a recording: name of the event" logged "^${there}/.*cycles"
	done
}

require_taskset

# The PMUs with a CPU that the test may run on
declare -A cpu_of
pmus=()
for file in "${sysfs}"/*/cpus
do
	pmu=$(basename "${file%/cpus}")
	cpu_of[${pmu}]=$(first_cpu "$(cat "${file}" 2> /dev/null)")
	if [ -n "${cpu_of[${pmu}]}" ]
	then
		pmus+=("${pmu}")
	fi
done
if [ ${#pmus[@]} -lt 2 ]
then
	skip_test "Several core PMUs: there is one core PMU at most"
fi
if ! perf stat -a -e cycles true > /dev/null 2>&1
then
	skip_test "Several core PMUs: cannot count on all CPUs"
fi
first=${pmus[0]}
other=${pmus[1]}

test_list
test_system_wide
test_thread
test_one_pmu
test_raw_and_cache
test_scaled
test_windows
test_defaults
test_group
test_header
end_test
