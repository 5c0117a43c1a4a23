#!/bin/bash
# perf report of windows
# SPDX-License-Identifier: GPL-2.0

# The intervals of an ordinary period are windows too with --attribution: this needs neither a
# PMU nor a kernel with alternating periods.

# shellcheck disable=SC2154 # testdir and log come from lib/
set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh

data=${testdir}/perf.data
out=${testdir}/report

report() {
	perf report -i "${data}" --stdio --fnstat --attribution=same "$@" > "${out}" 2> "${log}"
}

# used OPTIONS...: print how many windows are used
used() {
	report "$@" && sed -nE 's/^# ([0-9]+) windows( .*, ([0-9]+) used)?.*/\1 \3/p' "${out}" |
		awk '{ print $NF }'
}

if ! run_logged perf record -o "${data}" -e '{task-clock/period=100000/,page-faults}:uS' \
	perf test -w fnmix 300
then
	skip_test "Windows: cannot record"
fi

# For programs: the first line has the names of the fields, all others have as many, nothing is
# padded, and values are numbers.
test_fields() {
	local what=$1

	shift
	if report -t, "$@" && awk -F, '
		NR == 1 { nr = NF; bad = $1 == "Overhead" ? "" : $0 }
		NF != nr || /#|%|[^,][?<]|, | ,| $/ { bad = $0 }
		NR > 1 { rows++; total = $0 ~ /\[total\]$/; if (!total && $1 + 0 <= 0) bad = $0 }
		END { if (bad) print bad; exit bad || !total || rows < 2 }' "${out}"
	then
		pass "${what}"
	else
		cat "${out}"
		fail "${what}"
	fi
}
test_fields "A field for each column" -s sym --metrics page_faults_per_second
test_fields "A field for each end of an interval" -s sym --metrics page_faults_per_second --ci
test_fields "A field for each column of a hierarchy" -s comm,sym --hierarchy

report -s sym --metrics all
if awk '/^# Overhead .*Windows .*%DIS/ { head = 1 }
	head && $1 ~ /%$/ { time += $1 }
	/^# and [0-9]+ functions? with [0-9]+ % of the time/ { time += $6; few++ }
	END { exit !(head && time > 99 && time < 101) }' "${out}"
then
	pass "Shares of time add up"
else
	cat "${out}"
	fail "Shares of time add up"
fi

# What a window is of, and rows of a few samples that tell nothing: without symbols, there are many.
report --symfs "${testdir}/none" -s sym --metrics all
few=$(sed -nE 's/^# and ([0-9]+) functions? with .* fewer than 3 samples each .*/\1/p' "${out}")
rows=$(grep -c "^ *[0-9.]*%" "${out}")
if grep -q "^# [0-9]* windows of 100000 ns, [0-9]* ended in another function" "${out}" &&
   [ -n "${few}" ] && report --symfs "${testdir}/none" -s sym --metrics all -v &&
   [ "$(grep -c "^ *[0-9.]*%" "${out}")" = $((rows + few)) ] && ! grep -q "^# and " "${out}"
then
	pass "Rows of few samples"
else
	cat "${out}"
	echo "${rows} rows, and ${few}"
	fail "Rows of few samples"
fi

# What was counted: the time is that of the program, of which the recording has nearly all.
if run_logged perf record --running-time -o "${data}.one" \
	-e '{task-clock/period=40000000/,page-faults}:uS' perf test -w noploop 0.1 &&
   perf report -i "${data}.one" --stdio --fnstat --attribution=same > "${out}" 2> "${log}" &&
   grep -q "^# Counted: 0\.0[48]0*[0-9]* s of CPU time$" "${out}" && ! grep -q "1 windows" "${out}"
then
	pass "What was counted, and one window"
else
	cat "${out}"
	fail "What was counted, and one window"
fi

# These are far more samples than the kernel allows, so it throttles the event.
throttled=
if run_logged perf record --running-time -o "${data}.throttled" -e '{cycles/period=1000/,instructions}:uS' \
	perf test -w noploop 0.2
then
	throttled=$(perf report -i "${data}.throttled" --stats 2> "${log}" |
		awk '$1 == "THROTTLE" { print $3; exit }')
fi
if [ -n "${throttled}" ]
then
	perf report -i "${data}.throttled" --stdio --fnstat --attribution=same > "${out}" 2> "${log}"
	if grep -q "^# Throttled for [0-9]* % of the time (${throttled} times): " "${out}" &&
	   perf report -i "${data}.throttled" --fnstat --json 2> "${log}" |
		grep -q "\"Throttled for [0-9]* % of the time (${throttled} times): "
	then
		pass "What was throttled"
	else
		cat "${out}"
		fail "What was throttled"
	fi
else
	skip "What was throttled: nothing was"
fi

# Without symbols each address is a separate place, because its function is not known.
same=$(used --symfs "${testdir}/none" -s sym)
any=$(used --symfs "${testdir}/none" -s sym --attribution=any)
if [ -n "${same}" ] && [ "${same}" -lt "${any}" ]
then
	pass "Places without a symbol"
else
	echo "used: ${same}, wherever they end: ${any}"
	fail "Places without a symbol"
fi

# as_cpu MODEL: report a metric of Sapphire Rapids, as if an Intel CPU had made the recording
as_cpu() {
	local id="GenuineIntel,6,$1,0"

	while [ "${#id}" -lt "${#cpuid}" ]
	do
		id="${id}0"
	done
	LC_ALL=C sed "s/${cpuid}/${id}/" "${data}" > "${data}.cpu" &&
	perf report -i "${data}.cpu" --header-only 2> /dev/null | grep -q "^# cpuid : ${id}$" &&
	perf report -i "${data}.cpu" --stdio --fnstat --metrics=tma_amx_busy \
		> "${out}" 2> "${log}"
}

# Metrics are those of the CPU of the recording, not of the one that reads it.
cpuid=$(perf report -i "${data}" --header-only 2> /dev/null | sed -n 's/^# cpuid : //p')
if ! grep -q x86 <<< "$(uname -m)" || [ "${#cpuid}" -lt 20 ] ||
   ! PERF_CPUID=GenuineIntel-6-8F-0 perf list metric 2> /dev/null | grep -q tma_amx_busy
then
	skip "Metrics of the CPU of the recording"
elif as_cpu 143 && ! as_cpu 106 && grep -q "Unknown metric 'tma_amx_busy'" "${log}"
then
	pass "Metrics of the CPU of the recording"
else
	fail "Metrics of the CPU of the recording"
fi

# test_tables NAME NUMBER REGEX EVENT: record two groups, the first one with EVENT, and find so
# many tables with a header, whose columns all have numbers in the same row, and a total
test_tables() {
	local what=$1 nr=$2 header=$3 group="task-clock/period=100000/"

	if run_logged perf record -o "${data}.tables" \
		-e "{${group},$4}:S,{${group},page-faults}:S" perf test -w fnmix 300 &&
	   perf evlist -v -i "${data}.tables" | grep -q "exclude_kernel: 1"
	then
		skip "${what}: no permission to count the kernel"
	elif perf report -i "${data}.tables" --stdio --metrics cs_per_second,page_faults_per_second \
		--attribution=same --ci -s sym -t, > "${out}" 2> "${log}" &&
	   awk -F, -v nr="${nr}" -v header="${header}" '
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
	then
		pass "${what}"
	else
		cat "${out}"
		fail "${what}"
	fi
}
test_tables "One table of two groups" 1 \
	"Overhead,cs_per_second,page_faults_per_second,Symbol" context-switches
test_tables "Two tables of two groups with the same metrics" 2 \
	"Overhead,page_faults_per_second,Symbol" page-faults

# Both groups count at the same time, and so have as many windows, which all end in the program.
group=task-clock/period=10000000/
said=
if run_logged perf record -o "${data}.tables" \
	-e "{${group},context-switches}:uS,{${group},page-faults}:uS" perf test -w fnmix 300
then
	said=$(perf report -i "${data}.tables" --stdio --attribution=same -s comm \
		--metrics cs_per_second,page_faults_per_second 2> "${log}" |
		grep "^# [0-9]* windows")
fi
if [ -n "${said}" ] && [ -z "$(sort <<< "${said}" | uniq -d)" ]
then
	pass "What is the same of two groups"
else
	echo "${said}"
	fail "What is the same of two groups"
fi

# A frequency is no length of windows.
if run_logged perf record -o "${data}.freq" -F 997 -e '{task-clock,page-faults}:uS' \
	perf test -w fnmix 100 &&
   perf report -i "${data}.freq" --stdio --fnstat --attribution=same 2> "${log}" |
	grep -q "^# [0-9]* windows\($\|, \)"
then
	pass "Windows of a frequency"
else
	fail "Windows of a frequency"
fi

# The fewer samples, the fewer digits.
if perf report -i "${data}.freq" --stdio --fnstat --ci -F time-share,sym 2> "${log}" |
	tee "${out}" | awk -F '[][, ]+' '/^ *[0-9.]+ +\[/ {
			digits = $2 ~ /[.]/ ? length($2) - index($2, ".") : 0
			half = ($4 - $3) / 2
			bad += digits > (half > 5.5 ? 0 : half > 0.6 ? 1 : 2)
			rows += half > 0.6
		}
		END { exit bad || !rows }'
then
	pass "Digits that are not chance"
else
	cat "${out}"
	fail "Digits that are not chance"
fi

# Without --attribution, the intervals of an ordinary period are no windows.
if perf report -i "${data}" --stdio --metrics all -s sym > "${out}" 2> "${log}" &&
   grep -q "^# Overhead .* Symbol" "${out}" && ! grep -q "Windows\|%DIS" "${out}"
then
	pass "No windows of an ordinary period"
else
	cat "${out}"
	fail "No windows of an ordinary period"
fi
if perf report -i "${data}" --stdio --metrics all -s sym --attribution=any --no-attribution \
	2> "${log}" | cmp - "${out}"
then
	pass "No attribution"
else
	fail "No attribution"
fi

# The warning appears only where symbols are missing.
if report -s sym && ! grep -q "without symbols" "${log}" &&
   report --symfs "${testdir}/none" -s sym &&
   grep -q "^[0-9]* % of the time is in code without symbols.*buildid-cache" "${log}"
then
	pass "What to do about code without symbols"
else
	fail "What to do about code without symbols"
fi

# test_refused NAME REGEX EVENTS OPTIONS...: check for an error, also with input from a pipe
test_refused() {
	local what=$1 regex=$2 events=$3

	shift 3
	if ! run_logged perf record -q -o "${data}" -e "${events}" perf test -w noploop 0.01
	then
		fail "Record for: ${what}"
	elif report "$@" || ! grep -q "${regex}" "${log}"
	then
		fail "${what}"
	elif perf record -q -o - -e "${events}" perf test -w noploop 0.01 2> /dev/null |
		perf report -i - --stdio --fnstat "$@" > "${out}" 2> "${log}" ||
	     ! grep -q "${regex}" "${log}"
	then
		fail "${what}, from a pipe"
	else
		pass "${what}"
	fi
}
test_refused "No windows without a group" "There are no metrics" task-clock/period=10000/u
test_refused "No unknown metrics" "Unknown metric" \
	"{task-clock/period=10000/,page-faults}:uS" --metrics=no-such-metric

end_test
