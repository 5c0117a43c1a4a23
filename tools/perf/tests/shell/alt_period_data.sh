#!/bin/bash
# Alternating sample periods in perf.data
# SPDX-License-Identifier: GPL-2.0

# What the kernel says of the samples of an event with alternating periods, their
# length and whether they end a window, must survive pipes and perf inject, and
# arrive at perf report, at scripts and in converted data.

set -u
shopt -s lastpipe	# a check at the end of a pipe sets err

err=0
dir=$(mktemp -d /tmp/__perf_test.alt_period_data.XXXXXX)
data=$dir/perf.data
other=$dir/other.data
log=$dir/log
export PERF_BUILDID_DIR=$dir/buildid

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

# "PERIOD FLAG" for each sample, FLAG is W or -. A file, or - for standard input.
periods()
{
	perf script -i "$1" -F misc,period,event 2> /dev/null |
		awk '{ print $2, $1 ~ /W/ ? "W" : "-" }'
}

# check_periods WHAT: standard input is "PERIOD FLAG" of long periods and windows
check_periods()
{
	if ! awk -v l="$long" -v s="$window" '
		$0 == l " -"	{ nr[0]++; next }
		$0 == s " W"	{ nr[1]++; next }
				{ print "sample " NR ": " $0; bad = 1 }
		END		{ exit bad || nr[0] < 10 || nr[1] < 10 }'; then
		fail "$1"
	fi
}

# check_same WHAT: standard input has the same samples as the recording
check_same()
{
	echo "$1"
	cmp -s - "$dir/periods" || fail "$1"
}

test_pipe()
{
	local record=(perf record -q -o - -e "$event")

	echo "pipe"
	"${record[@]}" "${workload[@]}" 2> "$log" | periods - | check_periods "pipe"
	"${record[@]}" "${workload[@]}" 2> "$log" | perf inject -b 2>> "$log" |
		periods - | check_periods "pipe through perf inject"
	"${record[@]}" "${workload[@]}" > "$other" 2> "$log"
	periods "$other" | check_periods "pipe to a file"
	perf evlist -v -i "$other" 2> /dev/null | grep -q "alt_sample_period: $window" ||
		fail "attr in a pipe"
}

test_inject()
{
	local option

	for option in '' -b --buildid-all -s -j --itrace=l16; do
		rm -f "$other"
		# shellcheck disable=SC2086 # none, or one
		perf inject $option -i "$data" -o "$other" > "$log" 2>&1
		periods "$other" | check_same "inject $option"
	done
	perf inject -i "$data" -o - 2> "$log" | periods - | check_same "inject to a pipe"
}

# Windows of an event that is not the leader, whose count is often the same.
test_inject_group()
{
	echo "inject a group"
	perf record -o "$data" -e "{page-faults,$event}:S" "${workload[@]}" > "$log" 2>&1 ||
		{ fail "group: $(cat "$log")"; return; }
	perf inject -i "$data" -o "$other" > "$log" 2>&1
	perf report -D -i "$data" 2> /dev/null | grep 'PERF_RECORD_SAMPLE' |
		sed 's/.*PERF_RECORD_SAMPLE//' > "$dir/samples"
	[ "$(grep -c "period: $window " "$dir/samples")" -ge 10 ] || fail "group: no windows"
	perf report -D -i "$other" 2> /dev/null | grep 'PERF_RECORD_SAMPLE' |
		sed 's/.*PERF_RECORD_SAMPLE//' | cmp -s - "$dir/samples" ||
		fail "inject a group"
}

test_python()
{
	if ! perf check feature -q libpython; then
		echo "[Skip] perf script python: not built in"
		return
	fi
	cat > "$dir/script.py" <<- 'END'
		def process_event(event):
		    sample = event["sample"]
		    print(sample["period"], "W" if sample["misc"] & 1 << 13 else "-")
	END
	perf script -i "$data" -s "$dir/script.py" 2> "$log" | check_same "perf script python"
}

test_json()
{
	perf data convert --force --to-json "$dir/json" -i "$data" > "$log" 2>&1
	awk -F'[:,]' '
		/"period"/	{ if (NR > 1 && period) print period, flag
				  gsub(/ /, "", $2); period = $2; flag = "-" }
		/"alt-window"/	{ flag = "W" }
		END		{ print period, flag }' "$dir/json" | check_same "JSON"
}

# A line weighs what the periods of its samples are together.
test_report()
{
	echo "report"
	perf script -i "$data" -F comm,period 2> /dev/null |
		awk '{ sum[$1] += $2 } END { for (c in sum) print c, sum[c] }' |
		sort > "$dir/script"
	perf report -i "$data" --stdio -q -s comm -F period,comm 2> /dev/null |
		awk 'NF { print $2, $1 }' | sort > "$dir/report"
	if [ ! -s "$dir/script" ] || ! diff "$dir/script" "$dir/report"; then
		fail "report"
	fi
}

# The same with the counts that the group of the samples has.
test_report_group()
{
	local sum

	echo "report of a group"
	perf record -o "$data" -e "{$event,page-faults}:S" "${workload[@]}" > "$log" 2>&1 ||
		{ fail "group: $(cat "$log")"; return; }
	sum=$(perf script -i "$data" -F period,event 2> /dev/null |
		awk '{ sum += $1 } END { print sum }')
	perf report -i "$data" --stdio 2> /dev/null |
		grep -q "^# Event count (approx.): $sum\$" || fail "report of a group"
}

# The clocks are there on every machine; cycles only with a PMU.
event=cycles/period=99700,alt-period=300/ long=99700 window=300
if ! perf record -o "$data" -e "$event" "${workload[@]}" > "$log" 2>&1; then
	event=task-clock/period=1000000,alt-period=50000/ long=1000000 window=50000
	if ! perf record -o "$data" -e "$event" "${workload[@]}" > "$log" 2>&1; then
		cat "$log"
		err=1
		if grep -q "does not support alternating" "$log"; then
			echo "[Skip] the kernel has no alternating sample periods"
			err=2
		fi
		cleanup
		exit $err
	fi
fi
echo "$event"

periods "$data" > "$dir/periods"
check_periods "record" < "$dir/periods"
test_inject
test_python
test_json
test_report
test_pipe
test_inject_group
test_report_group

cleanup
exit $err
