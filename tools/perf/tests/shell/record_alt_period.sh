#!/bin/bash
# Alternating sample periods
# SPDX-License-Identifier: GPL-2.0

# Record with the event terms alt-period, alt-count, period-jitter and
# alt-period-jitter. The samples must have the periods that were asked for, and
# invalid requests must be refused with a message and without a recording.

# shellcheck disable=SC2154 # testdir and log come from lib/
set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh
# shellcheck source=lib/alt_period.sh
. "${shelldir}"/lib/alt_period.sh
# shellcheck source=lib/fake_pmu.sh
. "${shelldir}"/lib/fake_pmu.sh

data=${testdir}/perf.data

# Each CPU has a separate event, with a separate sequence.
run_on_one_cpu

record() {
	perf record -o "${data}" "$@" "${workload[@]}" > "${log}" 2>&1
}

# check_sequence LONG JITTER WINDOW JITTER COUNT: check the sequence of intervals
# in the recording. LONG can be "any".
check_sequence() {
	periods "${data}" | awk -v l="$1" -v lj="$2" -v s="$3" -v sj="$4" -v n="$5" '
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
	END {
		if (bad || nr[0] < 10 || nr[1] < 10 * n - n)
			exit 1
		print nr[0] " long intervals, " nr[1] " windows"
	}'
}

# check_record NAME "LONG JITTER WINDOW JITTER COUNT" PERF-RECORD-OPTIONS...
check_record() {
	local name=$1 sequence=$2

	shift 2
	# shellcheck disable=SC2086 # five arguments
	if record "$@" && check_sequence ${sequence}
	then
		pass "${name}"
	else
		fail "${name}"
	fi
}

lengths_vary() {
	[ "$(periods "${data}" | sort -u | wc -l)" -ge 10 ]
}

evlist_shows() {
	perf evlist -v -i "${data}" | grep "alt_sample_period: 300" |
		grep -q "sample_jitter: 1000, alt_sample_jitter: 100"
}

test_periods() {
	local terms="period=99700,alt-period=300" jitter="period-jitter=1000,alt-period-jitter=100"

	check_record "windows" "99700 0 300 0 1" -e "cycles/${terms}/u"
	check_record "terms in another order, and a count" "99700 0 300 0 3" \
		-e "cycles/alt-count=3,alt-period=300,period=99700/u"
	check_record "period from the command line" "99700 0 300 0 1" \
		-c 99700 -e "cycles/alt-period=300/u"
	check_record "only the flag with --no-period" "99700 0 300 0 1" \
		--no-period -e "cycles/${terms}/u"
	check_record "jitter" "99700 1000 300 100 1" -e "cycles/${terms},${jitter}/u"
	check "lengths with jitter vary" lengths_vary
	check "perf evlist -v" evlist_shows
}

# The leader alternates, and the other event does not sample.
test_group() {
	local name="Group"

	if ! record -T --sample-cpu --call-graph fp,4 --user-callchains \
		-k CLOCK_MONOTONIC_RAW \
		-e '{cycles/period=99700,alt-period=300/,page-faults}:uS'
	then
		fail "${name}"
	elif [ "$(perf script -i "${data}" -F misc,period,event | grep -c cycles)" -lt 20 ]
	then
		fail "${name}: few samples"
	elif perf evlist -v -i "${data}" | grep '^page-faults' | grep -q alt_sample_period
	then
		fail "${name}: the member has windows"
	else
		pass "${name}"
	fi
}

# perf script prints a sample once for each event of the group.
test_group_member() {
	local name="Group with a member that has windows of its own" kinds

	if ! record -c 70000 \
		-e '{cycles/period=99700,alt-period=300/,instructions/alt-period=500/}:uS'
	then
		fail "${name}"
		return
	fi
	kinds=$(perf script -D -i "${data}" | sed -nE \
		's/.*PERF_RECORD_SAMPLE\(IP, 0x(.*)\): .* period: ([0-9]+) .*/\1 \2/p' |
		sort | uniq -c | awk '$1 >= 20 { print $2, $3 }' | tr '\n' ' ')
	if [ "${kinds}" = "2 70000 2 99700 2002 300 2002 500 " ]
	then
		pass "${name}"
	else
		fail "${name}: ${kinds}"
	fi
}

test_modifiers() {
	check_record "cycles: highest precision" "99700 0 300 0 1" \
		-e "cycles/period=99700,alt-period=300/uP"
}

# One event for each core PMU, each with the terms.
test_wildcard() {
	local name="One event for each core PMU" pmus

	pmus=$(find /sys/bus/event_source/devices/*/ -maxdepth 1 -name cpus | wc -l)
	if [ "${pmus}" = 0 ]
	then
		pmus=1
	fi
	if record -e 'cycles/period=99700,alt-period=300/u' &&
	   [ "$(perf evlist -v -i "${data}" | grep -c 'alt_sample_period: 300')" = "${pmus}" ]
	then
		pass "${name}"
	else
		fail "${name}: not ${pmus} events: $(perf evlist -v -i "${data}")"
	fi
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
			-e '{cycles/period=99700,alt-period=300/,instructions}:uS' &&
		     ! perf evlist -i "${data}" | grep -q uncore_fake &&
		     [ "$(periods "${data}" | grep -c W)" -ge 10 ]
		then
			pass "${name}: ${option}"
		else
			fail "${name}: ${option}"
		fi
	done
}

# refused MESSAGE COMMAND...: check that COMMAND fails with MESSAGE and records
# nothing
refused() {
	local message=$1

	shift
	rm -f "${data}"
	if "$@" > "${log}" 2>&1
	then
		fail "Not refused: $*"
	elif ! grep -qF "${message}" "${log}"
	then
		fail "Refused without \"${message}\": $*"
	elif [ -s "${data}" ]
	then
		fail "Refused, but recorded: $*"
	else
		pass "Refused with \"${message}\""
	fi
}

# refuse_record MESSAGE TERMS: the same for perf record and cycles
refuse_record() {
	refused "$1" perf record -o "${data}" -e "cycles/$2/u" perf test -w noploop 0.01
}

test_frequency() {
	check_record "frequency" "any 0 300 0 1" -e "cycles/freq=1000,alt-period=300/u"
	check_record "frequency from the command line" "any 0 300 0 1" \
		-F 1000 -e "cycles/alt-period=300/u"
	# The default is 4000 rounds per second, of two samples each.
	if [ "$(cat /proc/sys/kernel/perf_event_max_sample_rate)" -lt 8000 ]
	then
		skip "Default frequency: above kernel.perf_event_max_sample_rate"
		return
	fi
	check_record "default frequency" "any 0 300 0 1" -e "cycles/alt-period=300/u"
}

# check_windows_option "FIELD: VALUE..." PERF-RECORD-OPTIONS...: the leader has these in its
# attr, and windows in the recording
check_windows_option() {
	local fields=$1 name="--windows: $1" field

	shift
	if ! record "$@" || [ "$(periods "${data}" | grep -c W)" -lt 10 ]
	then
		fail "${name}"
		return
	fi
	IFS=, read -ra fields <<< "${fields}"
	for field in "${fields[@]}"
	do
		if ! perf evlist -v -i "${data}" | head -n 1 |
			grep -qE "[ ,]${field# }([ ,]|\$)"
		then
			fail "${name}: ${field}"
			return
		fi
	done
	pass "${name}"
}

test_windows_option() {
	check_windows_option "alt_sample_period: 300, sample_jitter: 10000" -c 100000 --windows
	check_windows_option "alt_sample_period: 500, sample_jitter: 10000" \
		-c 100000 --windows=500 -e '{instructions,cycles}:uS'
	check_windows_option "alt_sample_period: 300" -F 5000 --windows
	check_windows_option "alt_sample_period: 300" -F max --windows
	check_windows_option "alt_sample_period: 300, sample_jitter: 500" --windows \
		-e '{cycles/period=100000,period-jitter=500/,instructions}:uS'
	check_windows_option "alt_sample_period: 300" -c 100000 --windows \
		-e '{cycles,instructions/period=99700/}:uS'
	if perf evlist -v -i "${data}" | grep "instructions" | grep -q "alt_sample_period"
	then
		fail "--windows: members that sample have none"
	else
		pass "--windows: members that sample have none"
	fi
	check_windows_option "alt_sample_period: 700" -c 100000 --windows \
		-e '{cycles/alt-period=700/,instructions}:uS'
	refused "needs a group" perf record --windows -o "${data}" -e cycles:u \
		perf test -w noploop 0.01
	refused "needs a group" perf record --windows -o "${data}" -e '{task-clock,cycles}:S' \
		perf test -w noploop 0.01
	refused "a window of 100000 is not shorter" perf record --windows=100000 -c 100000 \
		-o "${data}" perf test -w noploop 0.01
	refused "with a frequency of 4000" perf record --windows=9999999 -F 4000 -o "${data}" \
		perf test -w noploop 0.01
}

test_refusals() {
	local l="period=100000" s="alt-period=20000"
	local sentence="refuses these alternating or jittered periods"

	refuse_record "too big" "$l,alt-period=0x100000000"
	refuse_record "too big" "$l,$s,alt-count=0x10000"
	refuse_record "too big" "$l,period-jitter=0x100000000"
	refuse_record "too big" "$l,$s,alt-period-jitter=0x100000000"
	refuse_record "needs a number" "$l,alt-period"
	refuse_record "${sentence}" "$l,alt-count=2"
	refuse_record "${sentence}" "$l,alt-period-jitter=2"
	refuse_record "${sentence}" "$l,period-jitter=200000"
	refuse_record "${sentence}" "$l,$s,alt-period-jitter=40000"
	refuse_record "${sentence}" \
		"period=0x7fffffffffffffff,period-jitter=2"
	refused "no-samples" perf record -n -o "${data}" -e "cycles/$l,$s/u" \
		perf test -w noploop 0.01
	refused "is not usable in 'perf stat'" \
		perf stat -e "cycles/$s/u" perf test -w noploop 0.01
	# The periods are not the reason.
	if ! record -b -e cycles:u
	then
		refused "branch stack" perf record -b -o "${data}" -e "cycles/$l,$s/u" \
			perf test -w noploop 0.01
	fi
	refused "${sentence}" perf record -k CLOCK_MONOTONIC_RAW -o "${data}" \
		-e "cycles/$l,period-jitter=200000/u" perf test -w noploop 0.01
	# A recording with only the other event must be refused.
	refused "${sentence}" perf record -o "${data}" -e page-faults \
		-e "cycles/$l,period-jitter=200000/u" perf test -w noploop 0.01
	refused "No alternating or jittered" perf record -o "${data}" \
		-e "task-clock/$l,$s/u" perf test -w noploop 0.01
	# Some users record no kernel anyway.
	if record -e cycles:k
	then
		refused "(/u)" perf record -o "${data}" -e "cycles/$l,$s/" \
			perf test -w noploop 0.01
		refused "(:uS)" perf record -o "${data}" --windows -e '{cycles,instructions}:S' \
			perf test -w noploop 0.01
	fi
}

if perf list --details 2> /dev/null | grep -q 'alt-period=number'
then
	pass "perf list"
else
	fail "perf list"
fi

# Without a PMU, perf record replaces cycles by a clock, unless the event has windows or jitter.
if ! record -e 'cycles/period=100000/u' || ! perf evlist -i "${data}" | grep -q cycles
then
	refused "event is not supported" perf record -o "${data}" \
		-e 'cycles/period=1000000,alt-period=50000/u' true
	refused "event is not supported" perf record -o "${data}" \
		-e 'cycles/period=1000000,period-jitter=50000/u' true
	end_test
fi
if ! record -e 'cycles/period=99700,alt-period=300/u'
then
	if grep -qE "does not support alternating|No alternating" "${log}"
	then
		skip_test "This machine has no alternating sample periods"
	fi
	fail "Record with windows"
fi

test_periods
test_group
test_group_member
test_modifiers
test_wildcard
test_uncore
test_windows_option
test_frequency
test_refusals

end_test
