#!/bin/bash
# Alternating sample periods
# SPDX-License-Identifier: GPL-2.0

# Record with the event terms alt-period, alt-count, period-jitter and
# alt-period-jitter, check that the periods of the samples are as asked for, and
# that what makes no sense is refused with a sentence.

set -u

err=0
dir=$(mktemp -d /tmp/__perf_test.alt_period.XXXXXX)
data=$dir/perf.data
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
	err=1
}

# The clocks are there on every machine; cycles only with a PMU.
events=(task-clock)
if perf record -o /dev/null -e 'cycles/period=100000/u' true 2> /dev/null; then
	events+=(cycles)
fi

record()
{
	perf record -o "$data" "$@" perf test -w noploop 0.1 > "$log" 2>&1
}

# "PERIOD FLAG" for each sample, FLAG is W or -.
periods()
{
	perf script -i "$data" -F misc,period,event 2> /dev/null |
		awk '{ print $2, $1 ~ /W/ ? "W" : "-" }'
}

# check_sequence LONG JITTER WINDOW JITTER COUNT
check_sequence()
{
	periods | awk -v l="$1" -v lj="$2" -v s="$3" -v sj="$4" -v n="$5" '
	{
		window = (NR - 1) % (n + 1) > 0
		period = window ? s : l
		jitter = window ? sj : lj
		low = period - int(jitter / 2)
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
		print nr[0] " long, " nr[1] " windows"
	}'
}

# check_record WHAT "LONG JITTER WINDOW JITTER COUNT" PERF-RECORD-OPTIONS...
check_record()
{
	local what=$1 sequence=$2
	shift 2

	echo "$what"
	# shellcheck disable=SC2086 # five arguments
	if ! record "$@" || ! check_sequence $sequence; then
		fail "$what"
	fi
}

test_periods()
{
	local e=$1 mod=$2 l=$3 s=$4
	local jitter="period-jitter=1000,alt-period-jitter=100"

	check_record "$e: alternating periods" "$l 0 $s 0 1" \
		-e "$e/period=$l,alt-period=$s/$mod"
	check_record "$e: terms in another order, and a count" "$l 0 $s 0 3" \
		-e "$e/alt-count=3,alt-period=$s,period=$l/$mod"
	check_record "$e: the period from the command line" "$l 0 $s 0 1" \
		-c "$l" -e "$e/alt-period=$s/$mod"
	check_record "$e: only the flag with --no-period" "$l 0 $s 0 1" \
		--no-period -e "$e/period=$l,alt-period=$s/$mod"
	check_record "$e: jitter" "$l 1000 $s 100 1" \
		-e "$e/period=$l,alt-period=$s,$jitter/$mod"
	if [ "$(periods | sort -u | wc -l)" -lt 10 ]; then
		fail "$e: jitter is constant"
	fi
	perf evlist -v -i "$data" | grep "alt_sample_period: $s" |
		grep -q "sample_jitter: 1000, alt_sample_jitter: 100" ||
		fail "$e: perf evlist -v"
}

test_group()
{
	echo "group"
	record -T --sample-cpu --call-graph fp,4 --user-callchains -k CLOCK_MONOTONIC_RAW \
		-e '{cycles/period=99700,alt-period=300/,page-faults}:uS' ||
		{ fail "group: $(cat "$log")"; return; }
	# The leader alternates, and the other event does not sample by itself.
	perf script -i "$data" -F misc,period,event | grep cycles > "$dir/leader"
	[ "$(wc -l < "$dir/leader")" -ge 20 ] || fail "group: few samples"
	perf evlist -v -i "$data" | grep '^page-faults' | grep -q 'alt_sample_period' &&
		fail "group: the member has windows"
}

# refused SENTENCE COMMAND...
refused()
{
	local sentence=$1
	shift

	rm -f "$data"
	if "$@" > "$log" 2>&1; then
		fail "not refused: $*"
	elif ! grep -qF "$sentence" "$log"; then
		fail "no sentence '$sentence': $*"
		cat "$log"
	elif [ -s "$data" ]; then
		fail "refused, but there is a recording: $*"
	fi
}

# refuse_record SENTENCE TERMS, of a task-clock event
refuse_record()
{
	refused "$1" perf record -o "$data" -e "task-clock/$2/" perf test -w noploop 0.01
}

# Of a clock the kernel makes a period of the frequency, for the pair of both.
test_frequency()
{
	check_record "task-clock: a frequency" "980000 0 20000 0 1" \
		-e "task-clock/freq=1000,alt-period=20000/"
	check_record "task-clock: the default frequency" "230000 0 20000 0 1" \
		-e "task-clock/alt-period=20000/"
}

test_refusals()
{
	local l="period=100000" s="alt-period=20000"

	echo "refusals"
	refuse_record "too big" "$l,alt-period=0x8000000000000000"
	refuse_record "too big" "$l,$s,alt-count=0x100000000"
	refuse_record "too big" "$l,period-jitter=0x100000000"
	refuse_record "too big" "$l,$s,alt-period-jitter=0x100000000"
	refuse_record "'alt-count' needs 'alt-period'" "$l,alt-count=2"
	refuse_record "'alt-period-jitter' needs 'alt-period'" "$l,alt-period-jitter=2"
	refuse_record "must be less than twice 'period'" "$l,period-jitter=200000"
	refuse_record "must be less than twice 'alt-period'" "$l,$s,alt-period-jitter=40000"
	refuse_record "minimum of the PMU" "$l,alt-period=300"
	refused "is not usable in 'perf stat'" \
		perf stat -e "task-clock/$s/" perf test -w noploop 0.01
	# What is left without the event is not what was asked for.
	refused "minimum of the PMU" perf record -o "$data" -e page-faults \
		-e "task-clock/$l,alt-period=300/" perf test -w noploop 0.01
}

# On a kernel without the feature nothing may be recorded, and this is why.
if ! record -e 'task-clock/period=100000,alt-period=20000/'; then
	if grep -q "does not support alternating or jittered sample periods" "$log"; then
		echo "[Skip] the kernel has no alternating sample periods"
		cleanup
		exit 2
	fi
	cat "$log"
	fail "cannot record"
fi

for event in "${events[@]}"; do
	case $event in
	cycles)	test_periods cycles u 99700 300; test_group ;;
	*)	test_periods "$event" "" 1000000 50000 ;;
	esac
done
test_frequency
test_refusals

cleanup
exit $err
