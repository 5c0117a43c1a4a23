#!/bin/bash
# perf report of windows
# SPDX-License-Identifier: GPL-2.0

# The intervals of an ordinary period are windows too with --attribution: this needs neither a
# PMU nor a kernel with alternating periods.

# shellcheck disable=SC2154 # testdir, log and out come from lib/
set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh

data=${testdir}/perf.data

# Each CPU has a separate event, with intervals of its own.
run_on_one_cpu

# record FILE OPTIONS...: record a workload
record() {
	local file=$1

	shift
	run_logged perf record -o "${file}" "$@"
}

# report_of FILE OPTIONS...: write a report
report_of() {
	local file=$1

	shift
	perf report -i "${file}" --stdio "$@" > "${out}" 2> "${log}"
}

# report OPTIONS...: write a report in which all intervals are windows
report() {
	report_of "${data}" --fnstat --attribution=same "$@"
}

group='{task-clock/period=100000/,page-faults}:uS'
if ! record "${data}" -e "${group}" perf test -w fnmix 300
then
	skip_test "Windows: cannot record"
fi

# has_fields OPTIONS...: check a report for programs: the first line has the names of the fields,
# all others have as many, nothing is padded, and values are numbers
has_fields() {
	report -t, "$@" && awk -F, '
		NR == 1 { nr = NF; bad = $1 == "Overhead" ? "" : $0 }
		NF != nr || /#|%|[^,][?<]|, | ,| $/ { bad = $0 }
		NR > 1 { rows++; total = $0 ~ /\[total\]$/; if (!total && $1 + 0 <= 0) bad = $0 }
		END { if (bad) print bad; exit bad || !total || rows < 2 }' "${out}"
}
check "A field for each column" has_fields -s sym --metrics page_faults_per_second
check "A field for each end of an interval" has_fields -s sym --metrics page_faults_per_second --ci
check "A field for each column of a hierarchy" has_fields -s comm,sym --hierarchy

time_adds_up() {
	report -s sym --metrics all && awk '
		/^# Overhead .*Windows .*%DIS/ { head = 1 }
		head && $1 ~ /%$/ { time += $1 }
		/^# and [0-9]+ functions? with [0-9]+ % of the time/ { time += $6 }
		END { exit !(head && time > 99 && time < 101) }' "${out}"
}
check "Shares of time add up" time_adds_up

# Without symbols, many rows have a few samples that tell nothing.
counts_few() {
	local few rows

	report --symfs "${testdir}/none" -s sym --metrics all || return
	few=$(sed -nE 's/^# and ([0-9]+) functions? with .* fewer than 3 samples each .*/\1/p' \
		"${out}")
	rows=$(grep -c "^ *[0-9.]*%" "${out}")
	grep -q "^# [0-9]* windows of 100000 ns, [0-9]* ended in another function" "${out}" &&
	[ -n "${few}" ] && report --symfs "${testdir}/none" -s sym --metrics all -v &&
	[ "$(grep -c "^ *[0-9.]*%" "${out}")" = $((rows + few)) ] && ! grep -q "^# and " "${out}"
}
check "Rows of few samples" counts_few

# The time is that of the program, of which the recording has nearly all.
says_time() {
	record "${data}.one" --running-time -e '{task-clock/period=40000000/,page-faults}:uS' \
		perf test -w noploop 0.1 &&
	report_of "${data}.one" --fnstat --attribution=same &&
	grep -q "^# Counted: 0\.0[48]0*[0-9]* s of CPU time$" "${out}" &&
	! grep -q "1 windows" "${out}"
}
check "What was counted, and one window" says_time

# These are far more samples than the kernel allows, so it throttles the event.
record "${data}.many" --running-time -e '{cycles/period=1000/,instructions}:uS' \
	perf test -w noploop 0.2 || true
throttled=$(perf report -i "${data}.many" --stats 2> "${log}" |
	awk '$1 == "THROTTLE" { print $3; exit }')
says_throttled() {
	local said="Throttled for [0-9]* % of the time (${throttled} times): "

	report_of "${data}.many" --fnstat --attribution=same && grep -q "^# ${said}" "${out}" &&
	report_of "${data}.many" --fnstat --json && grep -q "\"${said}" "${out}"
}
if [ -n "${throttled}" ]
then
	check "What was throttled" says_throttled
else
	skip "What was throttled: nothing was"
fi

# used OPTIONS...: print how many windows are used
used() {
	report "$@" && sed -nE 's/^# ([0-9]+) windows( .*, ([0-9]+) used)?.*/\1 \3/p' "${out}" |
		awk '{ print $NF }'
}
# Without symbols each address is a separate place, because its function is not known.
same=$(used --symfs "${testdir}/none" -s sym)
any=$(used --symfs "${testdir}/none" -s sym --attribution=any)
check "Places without a symbol" [ "${same:-1}" -lt "${any:-0}" ]

# as_cpu MODEL: report a metric of Sapphire Rapids, as if an Intel CPU had made the recording
as_cpu() {
	local id="GenuineIntel,6,$1,0"

	while [ "${#id}" -lt "${#cpuid}" ]
	do
		id="${id}0"
	done
	LC_ALL=C sed "s/${cpuid}/${id}/" "${data}" > "${data}.cpu" &&
	perf report -i "${data}.cpu" --header-only 2> /dev/null | grep -q "^# cpuid : ${id}$" &&
	report_of "${data}.cpu" --fnstat --metrics=tma_amx_busy
}

# Metrics are those of the CPU of the recording, not of the one that reads it.
has_metrics_of_cpu() {
	as_cpu 143 && ! as_cpu 106 && grep -q "Unknown metric 'tma_amx_busy'" "${log}"
}
cpuid=$(perf report -i "${data}" --header-only 2> /dev/null | sed -n 's/^# cpuid : //p')
if ! grep -q x86 <<< "$(uname -m)" || [ "${#cpuid}" -lt 20 ] ||
   ! PERF_CPUID=GenuineIntel-6-8F-0 perf list metric 2> /dev/null | grep -q tma_amx_busy
then
	skip "Metrics of the CPU of the recording"
else
	check "Metrics of the CPU of the recording" has_metrics_of_cpu
fi

# has_tables NUMBER COLUMNS: find so many tables of two groups with this header, whose columns all
# have numbers in the same row, and a total
has_tables() {
	report_of "${data}.tables" --metrics cs_per_second,page_faults_per_second \
		--attribution=same --ci -s sym -t, && awk -F, -v nr="$1" -v header="$2" '
		/^Overhead/ {
			names = $0
			gsub(/,[^,]* (low|high|mark)/, "", names)
			tables += names == header
			others += names != header
			n = NF
			for (i = 1; i <= NF; i++) {
				if ($i == "page_faults_per_second")
					column = i
			}
		}
		/^[0-9]/ { bad += NF != n; numbers += /fnmix_/ && !/,-/ }
		/total/ { totals += $column > 1000 }
		END { exit bad || others || tables != nr || totals != nr || !numbers }' "${out}"
}

# test_tables NAME NUMBER COLUMNS EVENT: record two groups, the first one with EVENT
test_tables() {
	local clock="task-clock/period=100000/"

	rm -f "${data}.tables"
	if record "${data}.tables" -e "{${clock},$4}:S,{${clock},page-faults}:S" \
		perf test -w fnmix 300 &&
	   perf evlist -v -i "${data}.tables" | grep -q "exclude_kernel: 1"
	then
		skip "$1: no permission to count the kernel"
	else
		check "$1" has_tables "$2" "$3"
	fi
}
test_tables "One table of two groups" 1 \
	"Overhead,cs_per_second,page_faults_per_second,Symbol" context-switches
test_tables "Two tables of two groups with the same metrics" 2 \
	"Overhead,page_faults_per_second,Symbol" page-faults

# Both groups count at the same time, and so have as many windows, which all end in the program.
says_once() {
	local clock=task-clock/period=10000000/

	record "${data}.tables" -e "{${clock},context-switches}:uS,{${clock},page-faults}:uS" \
		perf test -w fnmix 1000 &&
	report_of "${data}.tables" --attribution=same -s comm \
		--metrics cs_per_second,page_faults_per_second &&
	grep "^# [0-9]* windows" "${out}" > "${testdir}/said" &&
	[ -z "$(sort "${testdir}/said" | uniq -d)" ]
}
check "What is the same of two groups" says_once

# A frequency is no length of windows.
has_no_length() {
	record "${data}.freq" -F 997 -e '{task-clock,page-faults}:uS' perf test -w fnmix 100 &&
	report_of "${data}.freq" --fnstat --attribution=same &&
	grep -q "^# [0-9]* windows\($\|, \)" "${out}"
}
check "Windows of a frequency" has_no_length

# The fewer samples, the fewer digits.
has_digits() {
	report_of "${data}.freq" --fnstat --ci -F time-share,sym &&
	awk -F '[][, ]+' '/^ *[0-9.]+ +\[/ {
			digits = $2 ~ /[.]/ ? length($2) - index($2, ".") : 0
			half = ($4 - $3) / 2
			bad += digits > (half > 5.5 ? 0 : half > 0.6 ? 1 : 2)
			rows += half > 0.6
		}
		END { exit bad || !rows }' "${out}"
}
check "Digits that are not chance" has_digits

# Without --attribution, the intervals of an ordinary period are no windows.
has_no_windows() {
	report_of "${data}" --metrics all -s sym "$@" && grep -q "^# Overhead .* Symbol" "${out}" &&
	! grep -q "Windows\|%DIS" "${out}"
}
check "No windows of an ordinary period" has_no_windows
check "No attribution" has_no_windows --attribution=any --no-attribution

# The warning appears only where symbols are missing.
warns_of_symbols() {
	report -s sym && ! grep -q "without symbols" "${log}" &&
	report --symfs "${testdir}/none" -s sym &&
	grep -q "^[0-9]* % of the time is in code without symbols.*buildid-cache" "${log}"
}
check "What to do about code without symbols" warns_of_symbols

# refuses REGEX EVENTS OPTIONS...: check for an error, also with input from a pipe
refuses() {
	local regex=$1 events=$2

	shift 2
	record "${data}" -q -e "${events}" perf test -w noploop 0.01 && ! report "$@" &&
	grep -q "${regex}" "${log}" &&
	! perf record -q -o - -e "${events}" perf test -w noploop 0.01 2> /dev/null |
		perf report -i - --stdio --fnstat "$@" > "${out}" 2> "${log}" &&
	grep -q "${regex}" "${log}"
}
check "No windows without a group" refuses "There are no metrics" task-clock/period=10000/u
check "No unknown metrics" refuses "Unknown metric" "${group}" --metrics=no-such-metric

end_test
