#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: hardware.sh [ADDED]
# needs: perf
#
# Does scripts/ship/try-on-hardware.sh find what is known of this machine: that a window has
# as many cycles as its length, and that ADDED of these are what an interrupt takes? The
# counts of all else are one cycle for each instruction. Without ADDED the machine misses
# something, and is refused at once. KTAP.
. "$(dirname "$0")/ktap.sh"
script=$(dirname "$0")/try-on-hardware.sh
out=/tmp/hardware
rate=/proc/sys/kernel/perf_event_max_sample_rate
mkdir -p $out.d
cd $out.d || exit 1

if [ $# = 0 ]; then
	plan 1
	begin=${EPOCHREALTIME/.}
	bash "$script" /selftests/perf_events > "$out" 2>&1
	status=$?
	took=$((${EPOCHREALTIME/.} - begin))
	echo "# status $status after $took us: $(cat "$out")"
	[ $status = 1 ] && [ $took -lt 1000000 ] && [ "$(wc -l < "$out")" = 1 ] &&
		grep -qE 'no PMU|no windows' "$out" && [ -z "$(ls)" ]
	result $? 'what is missing is said at once'
	exit "$failed"
fi

added=$1
export TESTS='alt_period_abi alt_period_bpf' CALLS=1000
before=$(cat $rate)
bash "$script" /selftests/perf_events > "$out" 2>&1
status=$?
cat windows-*.txt >> "$out"

plan 8
result $status 'the script ends'
tail -n 1 "$out" | grep -qx '== end' && grep -q 'mail it to ' "$out"
result $? 'all of it is in the report'
# Each test that it runs has an exit status, and no test failed.
[ "$(grep -c '^exit status 0$' "$out")" = 2 ] && ! grep -q '^not ok' "$out"
result $? 'the selftests are in it'
grep -qE '^# cycles, period 2000, windows of 2000 +[0-9.]+ ns$' "$out"
result $? 'costs are in it'

# The function nops has four lengths, enough windows, none longer than it should be, and
# behind what an interrupt adds all is as usual. The cycles per instruction of an ordinary
# run have interrupts as well, hence some tolerance.
grep -E '^nops +u ' "$out" | sed 's/^/# /'
awk -v added="$added" '
	$1 != "nops" || $2 != "u" || $3 < 20 || $3 <= added	{ next }
	{
		rows++
		off = $11 - added
		if (off < 0)
			off = -off
		good += $4 >= 30 && $5 + 0 >= 90 && $6 == 0 && $7 == 0 && $9 == 0 &&
			off <= 1 + $3 * 0.004
		# A length that has nothing but the interrupt is not the one before.
		rest += rows > 1 && $12 >= 0.98 && $12 <= 1.02
	}
	END {
		lengths = (added < 20) + (added < 60) + (added < 200) + (added < 600)
		exit rows != lengths || good != rows || rest != rows - 1
	}' "$out"
result $? "windows have their length, and an interrupt adds $added cycles"
# QEMU's Arm counts none.
awk -v arch="$(uname -m)" '
	$1 ~ /^branch-misses:uP/ { found = 1; good = arch == "x86_64" ? $2 >= 20 && $4 >= 80 : !$2 }
	END { exit !found || !good }' "$out"
result $? 'samples are where the misses are'

# It is interrupted after the kernel lowered the rate.
rm -f windows-*.txt "$out"
bash "$script" /selftests/perf_events > "$out" 2>&1 &
until grep -qs 'windows of functions' "$out"; do sleep 0.1; done
echo $((before / 2)) > $rate
kill -TERM $!
wait $!
status=$?
echo "# status $status, rate $(cat $rate) of $before"
[ $status = 130 ] && [ "$(cat $rate)" = "$before" ]
result $? 'limits are restored'
[ -z "$(ls)" ]
result $? 'half a report is none'
exit "$failed"
