#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: refill.sh CYCLES
#
# For machines with pmu-refill=CYCLES: of a function that has an instruction in each
# cycle, windows have so many instructions fewer than cycles, as each begins with an
# interrupt. KTAP.
. "$(dirname "$0")/ktap.sh"
refill=$1 data=/tmp/refill.data

plan 4
for window in 300 3000; do
	perf record -q -o "$data" -e "{cycles/period=99700,alt-period=$window/,instructions}:uS" \
		perf test -w fnmix 20000 nops 8 > /dev/null 2>&1
	# Windows, those in which all cycles but the refill were instructions, and how
	# many instructions there are at most.
	read -r all good most < <(perf script -D -i "$data" 2> /dev/null |
		awk -v window=$window -v refill="$refill" '
			function hex(digits, value, i) {
				sub(/^0x/, "", digits)
				for (i = 1; i <= length(digits); i++)
					value = 16 * value + index("0123456789abcdef",
								   substr(digits, i, 1)) - 1
				return value
			}
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
exit "$failed"
