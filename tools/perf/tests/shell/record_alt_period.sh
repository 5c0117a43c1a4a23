#!/bin/bash
# Alternating sample periods
# SPDX-License-Identifier: GPL-2.0

# Record with the event terms alt-period, alt-count, period-jitter and
# alt-period-jitter. The samples must have the periods that were asked for, and
# invalid requests must be refused with a message and without a recording. The length
# of each interval and the mark of a window must survive pipes and perf inject, and
# arrive at perf report, at scripts and in converted data.

# shellcheck disable=SC2154 # testdir and log come from lib/
set -e
# The checks at the end of a pipe set err.
shopt -s lastpipe

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh
# shellcheck source=lib/fake_pmu.sh
. "${shelldir}"/lib/fake_pmu.sh

data=${testdir}/perf.data
other=${testdir}/other.data
export PERF_BUILDID_DIR=${testdir}/buildid
workload=(perf test -w noploop 0.1)
event=cycles/period=99700,alt-period=300/u
# The core PMUs, if there are several.
pmus=$(find /sys/bus/event_source/devices/*/ -maxdepth 1 -name cpus | wc -l)

# Each CPU has a separate event, with a separate sequence.
run_on_one_cpu

record() {
	perf record -o "${data}" "$@" "${workload[@]}" > "${log}" 2>&1
}

# periods FILE: print "PERIOD FLAG" for each sample, with the flag W for the end
# of a window, or else -. FILE can be - for the standard input.
periods() {
	perf script -i "$1" -F misc,period,event 2> /dev/null |
		awk '{ print $2, $1 ~ /W/ ? "W" : "-" }'
}

has_windows() {
	[ "$(periods "${data}" | grep -c W)" -ge 10 ]
}

# evlist_has EVENT FIELDS [DATA]: an event of the recording has FIELDS in its attr
evlist_has() {
	perf evlist -v -i "${3:-${data}}" 2> /dev/null | grep -E "^([^ ]*/)?$1" |
		grep -qE " $2(,|\$)"
}

# check_sequence NAME [LONG JITTER WINDOW JITTER COUNT]: check the sequence of intervals,
# which is the standard input. LONG can be "any".
check_sequence() {
	check "$1" awk -v l="${2:-99700}" -v lj="${3:-0}" -v s="${4:-300}" -v sj="${5:-0}" \
		-v n="${6:-1}" '
	{
		window = (NR - 1) % (n + 1) > 0
		period = window ? s : l
		jitter = window ? sj : lj
		low = period - int(jitter / 2)
		if (period == "any")
			low = $1
		if ($2 != (window ? "W" : "-") || $1 < low || $1 > low + jitter) {
			print "sample " NR ": " $0
			bad = 1
			exit
		}
		nr[window]++
	}
	END { exit bad || nr[0] < 10 || nr[1] < 10 * n - n }'
}

# check_record NAME "LONG JITTER WINDOW JITTER COUNT" PERF-RECORD-OPTIONS...
check_record() {
	local name=$1 sequence=$2

	shift 2
	if record "$@"
	then
		# shellcheck disable=SC2086 # five arguments
		periods "${data}" | check_sequence "${name}" ${sequence}
	else
		fail "${name}"
	fi
}

# refused MESSAGE PERF-RECORD-OPTIONS...: check that perf record fails with MESSAGE and
# records nothing
refused() {
	local message=$1

	shift
	rm -f "${data}"
	if record "$@" || ! grep -qF -- "${message}" "${log}" || [ -s "${data}" ]
	then
		fail "Refused with \"${message}\": $*"
	else
		pass "Refused with \"${message}\""
	fi
}

lengths_vary() {
	[ "$(periods "${data}" | sort -u | wc -l)" -ge 10 ]
}

test_periods() {
	local jitter="period-jitter=1000,alt-period-jitter=100" long="any 0 300 0 1"

	check_record "windows" "99700 0 300 0 1" -e "${event}"
	check_record "several windows" "99700 0 300 0 3" \
		-e "cycles/alt-count=3,alt-period=300,period=99700/u"
	check_record "period from the command line" "99700 0 300 0 1" \
		-c 99700 -e "cycles/alt-period=300/u"
	check_record "only the flag with --no-period" "99700 0 300 0 1" --no-period -e "${event}"
	check_record "cycles: highest precision" "99700 0 300 0 1" -e "${event}P"
	check_record "jitter" "99700 1000 300 100 1" \
		-e "cycles/period=99700,alt-period=300,${jitter}/u"
	check "lengths with jitter vary" lengths_vary
	check "perf evlist -v" evlist_has cycles \
		"alt_sample_period: 300, sample_jitter: 1000, alt_sample_jitter: 100"

	check_record "frequency" "${long}" -e "cycles/freq=1000,alt-period=300/u"
	check_record "frequency from the command line" "${long}" \
		-F 1000 -e "cycles/alt-period=300/u"
	# The default is 4000 rounds per second, of two samples each.
	if [ "$(cat /proc/sys/kernel/perf_event_max_sample_rate)" -lt 8000 ]
	then
		skip "Default frequency: above kernel.perf_event_max_sample_rate"
	else
		check_record "default frequency" "${long}" -e "cycles/alt-period=300/u"
	fi
}

# Events without the terms have samples where a window ends, too, and their sum is that of
# the report. The leader alternates, or a member, or both.
test_group() {
	local name="Group" sum kinds

	check "${name}" record -T --sample-cpu --call-graph fp,4 --user-callchains \
		-k CLOCK_MONOTONIC_RAW -e "{${event},page-faults,cpu-clock}:uS"
	if evlist_has page-faults 'alt_sample_period.*'
	then
		fail "${name}: the member has windows"
	fi
	# The other events are in the group of one core PMU, which may not be that of this CPU.
	perf script -i "${data}" -F misc,event 2> /dev/null |
		check "${name}: marks" awk -v several="$((pmus > 1))" '
			!/cycles/	{ others++; bad = bad || $1 ~ /W/; next }
			$1 ~ /W/	{ windows++ }
				END { exit bad || (others < 10 && !several) || windows < 10 }'
	sum=$(perf script -i "${data}" -F period,event 2> /dev/null |
		awk '{ sum += $1 } END { print sum }')
	perf report -i "${data}" --stdio 2> /dev/null |
		check "${name}: report" grep -q "^# Event count (approx.): ${sum}\$"

	name="Group with a member that has windows of its own"
	check "${name}" record -c 70000 -e "{${event},instructions/alt-period=500/u}:S"
	# perf script prints a sample once for each event of the group. A window that was
	# throttled has one more mark.
	kinds=$(perf script -D -i "${data}" | sed -nE \
		's/.*PERF_RECORD_SAMPLE\(IP, 0x(.*)\): .* period: ([0-9]+) .*/\1 \2/p' |
		sed 's/^3002/2002/' |
		sort | uniq -c | awk '$1 >= 20 { print $2, $3 }' | tr '\n' ' ')
	check "${name}: ${kinds}" [ "${kinds}" = "2 70000 2 99700 2002 300 2002 500 " ]
}

# One event for each core PMU, each with the terms.
test_wildcard() {
	local name="One event for each core PMU"

	check "${name}" record -e "${event}"
	check "${name}: number" [ "$(perf evlist -v -i "${data}" |
		grep -c 'alt_sample_period: 300')" = "$((pmus ? pmus : 1))" ]
}

# The event of an uncore PMU is left out, as without windows.
test_uncore() {
	local name="cycles of an uncore PMU, too" option

	if ! add_uncore_cycles "${testdir}/sysfs"
	then
		skip "${name}: no PMU that does not sample"
		return
	fi
	for option in --per-thread -a
	do
		if ! record "${option}" -e cycles:u
		then
			skip "${name}: no permission for ${option}"
		elif SYSFS_PATH=${testdir}/sysfs record "${option}" \
			-e "{${event},instructions}:uS" &&
		     ! perf evlist -i "${data}" | grep -q uncore_fake && has_windows
		then
			pass "${name}: ${option}"
		else
			fail "${name}: ${option}"
		fi
	done
}

# check_windows_option FIELDS PERF-RECORD-OPTIONS...: the leader has these in its attr, and
# windows in the recording
check_windows_option() {
	local fields=$1

	shift
	if record "$@" && has_windows && evlist_has cycles "${fields}"
	then
		pass "--windows: ${fields}"
	else
		fail "--windows: ${fields}"
	fi
}

test_windows_option() {
	check_windows_option "alt_sample_period: 300, sample_jitter: 10000" -c 100000 --windows
	check_windows_option "alt_sample_period: 500, sample_jitter: 10000" \
		-c 100000 --windows=500 -e '{cycles,instructions}:uS'
	check_windows_option "alt_sample_period: 300" -F 5000 --windows
	check_windows_option "alt_sample_period: 300" -F max --windows
	check_windows_option "alt_sample_period: 300, sample_jitter: 500" --windows \
		-e '{cycles/period=100000,period-jitter=500/,instructions}:uS'
	check_windows_option "alt_sample_period: 700" -c 100000 --windows \
		-e '{cycles/alt-period=700/,instructions}:uS'
	check_windows_option "alt_sample_period: 300" -c 100000 --windows \
		-e '{cycles,instructions/period=99700/}:uS'
	if evlist_has instructions 'alt_sample_period.*'
	then
		fail "--windows: members that sample have none"
	fi
	refused "needs a group" --windows -e cycles:u
	refused "needs a group" --windows -e '{task-clock,cycles}:S'
	refused "a window of 100000 is not shorter" --windows=100000 -c 100000
	refused "with a frequency of 4000" --windows=9999999 -F 4000
}

test_refusals() {
	local l="period=100000" s="alt-period=20000"
	local jitter="cycles/period=100000,period-jitter=200000/u"
	local sentence="refuses these alternating or jittered periods"

	refused "${sentence}" -e "${jitter}"
	# The clock is not the reason.
	refused "${sentence}" -k CLOCK_MONOTONIC_RAW -e "${jitter}"
	# A recording with only the other event must be refused.
	refused "${sentence}" -e page-faults -e "${jitter}"
	refused "no-samples" -n -e "cycles/$l,$s/u"
	refused "No alternating or jittered" -e "task-clock/$l,$s/u"
	# The periods are not the reason.
	if ! record -b -e cycles:u
	then
		refused "branch stack" -b -e "cycles/$l,$s/u"
	fi
	# Some users record no kernel anyway.
	if record -e cycles:k
	then
		refused "(/u)" -e "cycles/$l,$s/"
		refused "(:uS)" --windows -e '{cycles,instructions}:S'
	fi
	run_logged perf stat -e "cycles/$s/u" true || true
	check "perf stat" grep -q "is not usable in 'perf stat'" "${log}"
}

test_pipe() {
	local record=(perf record -q -o - -e "${event}" "${workload[@]}")

	"${record[@]}" 2> "${log}" | periods - | check_sequence "Pipe"
	"${record[@]}" 2> "${log}" | perf inject -b 2>> "${log}" | periods - |
		check_sequence "Pipe through perf inject"
	"${record[@]}" 2> "${log}" | cat > "${other}"
	periods "${other}" | check_sequence "Pipe to a file"
	check "Attr in a pipe" evlist_has cycles "alt_sample_period: 300" "${other}"
}

samples() {
	perf report -D -i "$1" 2> /dev/null | sed -n 's/.*PERF_RECORD_SAMPLE//p'
}

test_inject() {
	local option

	for option in '' -b --buildid-all -s -j --itrace=l16
	do
		rm -f "${other}"
		# shellcheck disable=SC2086 # no option, or one
		run_logged perf inject ${option} -i "${data}" -o "${other}" || true
		periods "${other}" | check "Inject ${option}" cmp -s - "${testdir}/periods"
	done
	perf inject -i "${data}" -o - 2> "${log}" | periods - |
		check "Inject to a pipe" cmp -s - "${testdir}/periods"

	# An event that is not the leader has the windows. The count of the leader is often
	# the same in several samples.
	check "Inject a group" record -e "{page-faults,${event}}:S"
	check "Inject a group: windows" has_windows
	samples "${data}" > "${testdir}/samples"
	rm -f "${other}"
	run_logged perf inject -i "${data}" -o "${other}" || true
	samples "${other}" | check "Inject a group: samples" cmp -s - "${testdir}/samples"
}

test_json() {
	run_logged perf data convert --force --to-json "${testdir}/json" -i "${data}" || true
	awk -F'[:,]' '
		/"period"/	{ if (NR > 1 && period) print period, flag
				  gsub(/ /, "", $2); period = $2; flag = "-" }
		/"alt-window"/	{ flag = "W" }
		END		{ print period, flag }' "${testdir}/json" |
		check "JSON" cmp -s - "${testdir}/periods"
}

same_periods() {
	[ -s "${testdir}/script" ] && diff "${testdir}/script" "${testdir}/report"
}

# The weight of a line is the sum of the periods of its samples.
test_report() {
	perf script -i "${data}" -F comm,period 2> /dev/null |
		awk '{ sum[$1] += $2 } END { for (c in sum) print c, sum[c] }' |
		sort > "${testdir}/script"
	perf report -i "${data}" --stdio -q -s comm -F period,comm 2> /dev/null |
		awk 'NF { print $2, $1 }' | sort > "${testdir}/report"
	check "Report" same_periods
}

perf list --details 2> /dev/null | check "perf list" grep -q 'alt-period=number'

# Without a PMU, perf record replaces cycles by a clock, unless the event has windows or jitter.
if ! record -e 'cycles/period=100000/u' || ! perf evlist -i "${data}" | grep -q cycles
then
	refused "event is not supported" -e 'cycles/period=1000000,alt-period=50000/u'
	refused "event is not supported" -e 'cycles/period=1000000,period-jitter=50000/u'
	end_test
fi
if ! record -e "${event}"
then
	if grep -qE "does not support alternating|No alternating" "${log}"
	then
		skip_test "This machine has no alternating sample periods"
	fi
	fail "Record with windows"
fi

periods "${data}" > "${testdir}/periods"
check_sequence "Record" < "${testdir}/periods"
test_json
test_report
test_inject
test_pipe
test_periods
test_group
test_wildcard
test_uncore
test_windows_option
test_refusals

end_test
