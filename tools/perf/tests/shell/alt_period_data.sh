#!/bin/bash
# Alternating sample periods in perf.data
# SPDX-License-Identifier: GPL-2.0

# The length of each interval and the mark of a window must survive pipes and perf
# inject, and arrive at perf report, at scripts and in converted data.

# shellcheck disable=SC2154 # testdir, log and workload come from lib/
set -e
# The checks at the end of a pipe set err.
shopt -s lastpipe

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh
# shellcheck source=lib/alt_period.sh
. "${shelldir}"/lib/alt_period.sh

data=${testdir}/perf.data
other=${testdir}/other.data
export PERF_BUILDID_DIR=${testdir}/buildid

# Each CPU has a separate event, with a separate sequence.
run_on_one_cpu

# check_periods NAME: the standard input is "PERIOD FLAG" of long intervals and
# windows
check_periods() {
	check "$1" awk -v l="${long}" -v s="${window}" '
		$0 == l " -"	{ nr[0]++; next }
		$0 == s " W"	{ nr[1]++; next }
				{ print "sample " NR ": " $0; bad = 1 }
		END		{ exit bad || nr[0] < 10 || nr[1] < 10 }'
}

# check_same NAME: the standard input has the same samples as the recording
check_same() {
	check "$1" cmp -s - "${testdir}/periods"
}

test_pipe() {
	local record=(perf record -q -o - -e "${event}")

	"${record[@]}" "${workload[@]}" 2> "${log}" | periods - | check_periods "Pipe"
	"${record[@]}" "${workload[@]}" 2> "${log}" | perf inject -b 2>> "${log}" |
		periods - | check_periods "Pipe through perf inject"
	"${record[@]}" "${workload[@]}" 2> "${log}" | cat > "${other}"
	periods "${other}" | check_periods "Pipe to a file"
	if perf evlist -v -i "${other}" 2> /dev/null | grep -q "alt_sample_period: ${window}"
	then
		pass "Attr in a pipe"
	else
		fail "Attr in a pipe"
	fi
}

test_inject() {
	local option

	for option in '' -b --buildid-all -s -j --itrace=l16
	do
		rm -f "${other}"
		# shellcheck disable=SC2086 # no option, or one
		if ! perf inject ${option} -i "${data}" -o "${other}" > "${log}" 2>&1
		then
			fail "Inject ${option}"
			continue
		fi
		periods "${other}" | check_same "Inject ${option}"
	done
	perf inject -i "${data}" -o - 2> "${log}" | periods - | check_same "Inject to a pipe"
}

samples() {
	perf report -D -i "$1" 2> /dev/null | grep PERF_RECORD_SAMPLE |
		sed 's/.*PERF_RECORD_SAMPLE//'
}

# An event that is not the leader has the windows. The count of the leader is often the
# same in several samples.
test_inject_group() {
	local name="Inject a group"

	if ! perf record -o "${data}" -e "{page-faults,${event}}:S" "${workload[@]}" \
		> "${log}" 2>&1 ||
	   ! perf inject -i "${data}" -o "${other}" > "${log}" 2>&1
	then
		fail "${name}"
		return
	fi
	samples "${data}" > "${testdir}/samples"
	if [ "$(grep -c "period: ${window} " "${testdir}/samples")" -lt 10 ]
	then
		fail "${name}: few windows"
	fi
	samples "${other}" | check "${name}" cmp -s - "${testdir}/samples"
}

test_json() {
	if ! perf data convert --force --to-json "${testdir}/json" -i "${data}" \
		> "${log}" 2>&1
	then
		fail "JSON"
		return
	fi
	awk -F'[:,]' '
		/"period"/	{ if (NR > 1 && period) print period, flag
				  gsub(/ /, "", $2); period = $2; flag = "-" }
		/"alt-window"/	{ flag = "W" }
		END		{ print period, flag }' "${testdir}/json" | check_same "JSON"
}

# The weight of a line is the sum of the periods of its samples.
test_report() {
	perf script -i "${data}" -F comm,period 2> /dev/null |
		awk '{ sum[$1] += $2 } END { for (c in sum) print c, sum[c] }' |
		sort > "${testdir}/script"
	perf report -i "${data}" --stdio -q -s comm -F period,comm 2> /dev/null |
		awk 'NF { print $2, $1 }' | sort > "${testdir}/report"
	if [ -s "${testdir}/script" ] && diff "${testdir}/script" "${testdir}/report"
	then
		pass "Report"
	else
		fail "Report"
	fi
}

# Each sample can also have the counts of the group.
test_report_group() {
	local name="Report of a group" sum

	if ! perf record -o "${data}" -e "{${event},page-faults}:S" "${workload[@]}" \
		> "${log}" 2>&1
	then
		fail "${name}"
		return
	fi
	sum=$(perf script -i "${data}" -F period,event 2> /dev/null |
		awk '{ sum += $1 } END { print sum }')
	if perf report -i "${data}" --stdio 2> /dev/null |
		grep -q "^# Event count (approx.): ${sum}\$"
	then
		pass "${name}"
	else
		fail "${name}"
	fi
}

# All events of a group have samples where a window ends, and one of them has windows.
test_script_group() {
	local name="Marks of a group"

	if ! perf record -o "${data}" -e "{${event},cpu-clock}:S" "${workload[@]}" \
		> "${log}" 2>&1
	then
		fail "${name}"
		return
	fi
	perf script -i "${data}" -F misc,event 2> /dev/null | check "${name}" awk '
		/cpu-clock/	{ others++; bad = bad || $1 ~ /W/; next }
		$1 ~ /W/	{ windows++ }
				END { exit bad || others < 10 || windows < 10 }'
}

# number SIZE VALUE: print the bytes of a number, in the byte order ${order}
number() {
	local hex byte bytes=''

	hex=$(printf "%0$((2 * $1))x" "$2")
	while [ -n "${hex}" ]
	do
		byte="\\x${hex:0:2}"
		hex=${hex:2}
		if [ "${order}" = big ]
		then
			bytes=${bytes}${byte}
		else
			bytes=${byte}${bytes}
		fi
	done
	printf '%b' "${bytes}"
}

# numbers SIZE VALUE...: print several
numbers() {
	local size=$1

	shift
	while [ $# -gt 0 ]
	do
		number "${size}" "$1"
		shift
	done
}

# crafted SIZE SIMD WINDOWS: print a recording without samples, of an event that has an attr of
# this size, with sample_simd_* of other kernels, or windows, or both
crafted() {
	local size=$1

	number 8 0x32454c4946524550	# PERFILE2
	number 8 16
	number 4 64			# PERF_RECORD_HEADER_ATTR
	numbers 2 0 $((8 + size + 8))
	{
		numbers 4 0 "${size}"
		numbers 8 0 100000 256 4 0	# config, period, types, flags
		numbers 4 0 0			# wakeup_events, bp_type
		numbers 8 0 0 0 0		# up to sample_regs_user
		numbers 4 0 0
		numbers 8 0
		numbers 4 0
		numbers 2 0 0
		numbers 4 0 0
		numbers 8 0 0 0			# sig_data, config3, config4
		if [ "$2" = simd ]
		then
			numbers 2 1 1 8 0
			numbers 4 255 255
			numbers 8 65535 65535
		else
			numbers 8 0 0 0 0
		fi
		if [ "$3" = windows ]
		then
			numbers 4 300 1000 200
			numbers 2 3 0
		else
			numbers 8 0 0
		fi
	} | head -c "${size}"
	number 8 7			# its ID
}

# Fields of other kernels are behind config4 in the attr, and may be there or not.
test_crafted() {
	local fields='alt_sample_period: 300, sample_jitter: 1000, alt_sample_jitter: 200'
	local size simd windows order

	for order in little big
	do
		while read -r size simd windows
		do
			crafted "${size}" "${simd}" "${windows}" > "${other}"
			perf evlist -v -i "${other}" > "${log}" 2>&1 || true
			if grep -q 'sample_freq }: 100000' "${log}" &&
			   [ "$(grep -c "${fields}, alt_sample_count: 3" "${log}")" = \
			     "$(grep -c windows <<< "${windows}")" ] &&
			   [ "$(grep -c alt_sample "${log}")" = \
			     "$(grep -c windows <<< "${windows}")" ]
			then
				pass "Attr of ${size} bytes, ${order} endian: ${simd}, ${windows}"
			else
				fail "Attr of ${size} bytes, ${order} endian: ${simd}, ${windows}"
			fi
		done <<- 'END'
			144 - -
			176 simd -
			192 - windows
			192 simd windows
			192 simd -
		END
	done
}

record() {
	perf record -o "${data}" -e "${event}" "${workload[@]}" > "${log}" 2>&1
}

test_crafted

event=cycles/period=99700,alt-period=300/u long=99700 window=300
if ! record
then
	if grep -qE "does not support alternating|No alternating|not supported" "${log}"
	then
		skip_test "This machine has no alternating sample periods"
	fi
	fail "Record"
	end_test
fi
echo "${event}"

periods "${data}" > "${testdir}/periods"
check_periods "Record" < "${testdir}/periods"
test_inject
test_json
test_report
test_pipe
test_inject_group
test_report_group
test_script_group

end_test
