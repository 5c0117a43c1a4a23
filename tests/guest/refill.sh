#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: refill.sh CYCLES
# needs: perf
#
# For machines with pmu-refill=CYCLES: of a function that has an instruction in each
# cycle, windows have so many instructions fewer than cycles, as each begins with an
# interrupt. The CPI that perf report prints is without that. KTAP.
. "$(dirname "$0")/ktap.sh"
. "$(dirname "$0")/hex.sh"
refill=$1 data=/tmp/refill.data
export PAGER=cat

# The CPI of the function times 1000, from windows of a length with a spread.
cpi()			# WINDOW JITTER
{
	perf record -q -o "$data" \
		-e "{cycles/period=99700,alt-period=$1,alt-period-jitter=$2/,$(
			)instructions/period=99700,period-jitter=9970/}:uS" \
		perf test -w fnmix 20000 nops 8 > /dev/null 2>&1
	perf report -i "$data" --fnstat -q -t '|' --sort sym -F metric:cpi,sym \
		2> /dev/null |
		awk -F '|' '/fnmix_nops/ { printf "%.0f", 1000 * $1 }'
}

plan 9
for window in 300 3000; do
	perf record -q -o "$data" -e "{cycles/period=99700,alt-period=$window/,instructions}:uS" \
		perf test -w fnmix 20000 nops 8 > /dev/null 2>&1
	# Windows, those in which all cycles but the refill were instructions, and how
	# many instructions there are at most.
	read -r all good most < <(perf script -D -i "$data" 2> /dev/null |
		awk -v window=$window -v refill="$refill" "$awk_hex"'
			/PERF_RECORD_SAMPLE/ {
				match($0, /IP, 0x[0-9a-f]+/)
				# Bit 13 of PERF_RECORD_MISC_*: it ends a window.
				ends = int(hex(substr($0, RSTART + 4, RLENGTH - 4)) / 8192) % 2
				nr = 0
			}
			/^\.\.\.\.\. id / {
				sub(/,/, "", $5)
				count = hex($5)
				delta[++nr] = count - before[nr]
				before[nr] = count
				if (nr == 2 && ends) {
					all++
					good += delta[1] == window && delta[2] == window - refill
					if (delta[1] == window && delta[2] > most)
						most = delta[2]
				}
			}
			END { print all + 0, good + 0, most + 0 }')
	echo "# windows of $window cycles: $all, with $((window - refill)) instructions: $good," \
		"the most of any: $most"
	[ "$all" -gt 100 ]
	result $? "windows of $window"
	# The others have a cache miss, or a mispredicted branch, and are fewer.
	[ "$most" = $((window - refill)) ] && [ $((good * 2)) -gt "$all" ]
	result $? "windows of $window have $((window - refill)) instructions"
done

for window in 1500 300 60; do
	ratio=$(cpi $window 20)
	echo "# CPI from windows of $window: 0.001 * $ratio"
	[ "$ratio" -ge 980 ] && [ "$ratio" -le 1020 ]
	result $? "CPI from windows of $window has nothing of what the interrupts add"
done
# The last windows are the shortest, which tell it best.
added=$(perf report -i "$data" --fnstat 2> /dev/null |
	sed -n 's/^# [0-9]* windows .* Without the \([0-9]*\) that an interrupt adds.*/\1/p')
echo "# perf report finds ${added:-0} cycles that an interrupt adds"
[ "${added:-0}" -ge $((refill - 3)) ] && [ "${added:-0}" -le $((refill + 3)) ]
result $? 'perf report finds what an interrupt adds'

events=$(perf fnstat -v record -o "$data" true 2>&1)
echo "$events" | grep -F 'perf record -e' | sed 's/^/# /'
window=$(grep -F 'perf record -e' <<< "$events" | grep -o 'alt-period=[0-9]*' | head -n 1)
window=$((${window#*=} - refill))
# What is measured are multiplications, which stall too: up to five cycles more.
[ $window -ge 300 ] && [ $window -le 305 ]
result $? 'perf fnstat record measures it'
exit "$failed"
