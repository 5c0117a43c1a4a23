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

# One CPU: the event of each has a sequence of its own.
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[^0-9].*//')
taskset -cp "$cpu" $$ > /dev/null

workload=(perf test -w noploop 0.1)

record()
{
	perf record -o "$data" "$@" "${workload[@]}" > "$log" 2>&1
}

# "PERIOD FLAG" for each sample, FLAG is W or -.
periods()
{
	perf script -i "$data" -F misc,period,event 2> /dev/null |
		awk '{ print $2, $1 ~ /W/ ? "W" : "-" }'
}

# check_sequence LONG JITTER WINDOW JITTER COUNT. LONG "any": not checked
check_sequence()
{
	periods | awk -v l="$1" -v lj="$2" -v s="$3" -v sj="$4" -v n="$5" '
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

	echo "group: a member with windows of its own"
	record -c 70000 -e '{cycles/period=99700,alt-period=300/,instructions/alt-period=500/}:uS'
	# Of each sample perf script makes one for each event of the group.
	perf script -D -i "$data" | sed -nE \
		's/.*PERF_RECORD_SAMPLE\(IP, 0x(.*)\): .* period: ([0-9]+) .*/\1 \2/p' |
		sort | uniq -c > "$dir/kinds"
	[ "$(awk '$1 >= 20 { print $2, $3 }' "$dir/kinds" | tr '\n' ' ')" = \
		"2 70000 2 99700 2002 300 2002 500 " ] ||
		fail "group: $(cat "$dir/kinds")"
}

test_modifiers()
{
	check_record "cycles: as precise as it can be" "99700 0 300 0 1" \
		-e "cycles/period=99700,alt-period=300/uP"
}

# One event for each core PMU, each with the terms.
test_wildcard()
{
	local pmus

	echo "an event on each core PMU"
	pmus=$(find /sys/bus/event_source/devices/*/ -maxdepth 1 -name cpus | wc -l)
	[ "$pmus" -gt 0 ] || pmus=1
	record -e 'cycles/period=99700,alt-period=300/u'
	[ "$(perf evlist -v -i "$data" | grep -c 'alt_sample_period: 300')" = "$pmus" ] ||
		fail "not $pmus events: $(perf evlist -v -i "$data")"
}

test_tracepoint()
{
	local workload=(perf bench syscall basic --loop 300)
	local event=syscalls:sys_enter_getppid/

	if ! record -c 1 -e syscalls:sys_enter_getppid; then
		echo "[Skip] no tracepoints"
		return
	fi
	check_record "tracepoint" "7 0 3 0 1" -c 7 -e "${event}alt-period=3/"
	check_record "tracepoint: windows and jitter" "7 4 3 2 2" -c 7 \
		-e "${event}alt-period=3,alt-count=2,period-jitter=4,alt-period-jitter=2/"
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
	check_record "task-clock: a frequency from the command line" "980000 0 20000 0 1" \
		-F 1000 -e "task-clock/alt-period=20000/"
	check_record "task-clock: the default frequency" "230000 0 20000 0 1" \
		-e "task-clock/alt-period=20000/"
	[ ${#events[@]} = 1 ] ||
		check_record "cycles: the default frequency" "any 0 300 0 1" \
			-e "cycles/alt-period=300/u"
}

test_refusals()
{
	local l="period=100000" s="alt-period=20000" prev event

	echo "refusals"
	refuse_record "too big" "$l,alt-period=0x8000000000000000"
	refuse_record "too big" "$l,$s,alt-count=0x100000000"
	refuse_record "too big" "$l,period-jitter=0x100000000"
	refuse_record "too big" "$l,$s,alt-period-jitter=0x100000000"
	refuse_record "needs a number" "$l,alt-period"
	refuse_record "Unrecognized input" "$l,alt-period=-20000"
	refuse_record "'alt-count' needs 'alt-period'" "$l,alt-count=2"
	refuse_record "'alt-period-jitter' needs 'alt-period'" "$l,alt-period-jitter=2"
	refuse_record "must be less than twice 'period'" "$l,period-jitter=200000"
	refuse_record "must be less than twice 'alt-period'" "$l,$s,alt-period-jitter=40000"
	refuse_record "minimum of the PMU" "$l,alt-period=300"
	refuse_record "'period' and 'period-jitter' must be below 2^63" \
		"period=0x7fffffffffffffff,period-jitter=2"
	refuse_record "'alt-period' and 'alt-period-jitter' must be below 2^63" \
		"$l,alt-period=0x7fffffffffffffff,alt-period-jitter=2"
	refused "is not usable in 'perf stat'" \
		perf stat -e "task-clock/$s/" perf test -w noploop 0.01
	refused "'alt-period' cannot be used with --no-samples" \
		perf record -o "$data" -n -e "task-clock/$l,$s/" perf test -w noploop 0.01
	if [ ${#events[@]} -gt 1 ]; then
		prev=cycles/alt-count=2,alt-period=300/u
		event=instructions/period=90000,ratio-to-prev=0.5/u
		refused "'alt-count' cannot be used with 'ratio-to-prev' of " \
			perf record -o "$data" -e "{$prev,$event}" perf test -w noploop 0.01
		prev=cycles/period=80000/u
		event=instructions/ratio-to-prev=0.5,period-jitter=5/u
		refused "'period-jitter' cannot be used with 'ratio-to-prev'" \
			perf record -o "$data" -e "{$prev,$event}" perf test -w noploop 0.01
	fi
	# The periods are not at fault.
	refused "branch stack" perf record -b -o "$data" -e "task-clock/$l,$s/" \
		perf test -w noploop 0.01
	refused "minimum of the PMU" perf record -k CLOCK_MONOTONIC_RAW -o "$data" \
		-e "task-clock/$l,alt-period=300/" perf test -w noploop 0.01
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

perf list --details 2> /dev/null | grep -q 'alt-period=number' ||
	fail "perf list does not mention the terms"

# The clocks are there on every machine; cycles only with a PMU, and without it
# perf record makes a clock event of them.
events=(task-clock)
if record -e 'cycles/period=100000/u' && perf evlist -i "$data" | grep -q cycles; then
	events+=(cycles)
else
	refused "event is not supported" perf record -o "$data" \
		-e 'cycles/period=1000000,alt-period=50000/u' true
fi

for event in "${events[@]}"; do
	case $event in
	cycles)	test_periods cycles u 99700 300
		test_group
		test_modifiers
		test_wildcard ;;
	*)	test_periods "$event" "" 1000000 50000 ;;
	esac
done
test_tracepoint
test_frequency
test_refusals

cleanup
exit $err
