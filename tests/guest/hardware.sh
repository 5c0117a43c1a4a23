#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: hardware.sh ADDED
#
# Does scripts/ship/try-on-hardware.sh find what is known of this machine: that a window has
# as many cycles as its length, and that ADDED of these are what an interrupt takes? The
# counts of all else are one cycle for each instruction. KTAP.
. "$(dirname "$0")/ktap.sh"
added=$1
out=/tmp/hardware
mkdir -p $out.d

cd $out.d || exit 1
TESTS='alt_period_abi alt_period_example' CALLS=1000 \
	bash "$(dirname "$0")/try-on-hardware.sh" /selftests/perf_events > "$out" 2>&1
status=$?
cat windows-*.txt >> "$out"

plan 6
result $status 'the script ends'
tail -n 1 "$out" | grep -qx '== end'
result $? 'all of it is in the report'
# Each test that it runs has an exit status, and no test failed.
[ "$(grep -c '^exit status 0$' "$out")" = 2 ] && ! grep -q '^not ok' "$out"
result $? 'the selftests are in it'
grep -qE '^# cycles, period 2000, windows of 2000 +[0-9.]+ ns$' "$out"
result $? 'costs are in it'

# The function nops has four lengths, enough windows, none longer than it should be. The
# cycles per instruction of an ordinary run have interrupts as well, hence some tolerance.
awk -v added="$added" '
	/^nops: [01]\.[09][0-9]* cycles per instruction/	{ found = 1; next }
	/^[a-z_]+: /					{ found = 0 }
	!found || $1 !~ /^[0-9]+$/			{ next }
	{
		rows++
		off = $9 - added
		if (off < 0)
			off = -off
		good += $2 >= 30 && $3 == 0 && $4 == 0 && $5 == 0 && off <= 1 + $1 * 0.004
	}
	END { exit rows != 4 || good != 4 }' "$out"
result $? "windows have their length, and an interrupt adds $added cycles"
# Short periods are throttled, a long one with windows is not.
awk '
	/^period=300 /			{ short_ = $5 + 0 }
	/^period=999700,alt-period=300/	{ found = 1; windows = $5 + 0 }
	END { exit !(short_ > 0 && found && windows == 0) }' "$out"
result $? 'throttling'
exit "$failed"
