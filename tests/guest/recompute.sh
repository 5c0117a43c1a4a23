#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: recompute.sh
# needs: perf
#
# Does perf report print of windows what awk computes from the samples as perf script
# dumps them, to the last digit? Of windows that end where they begin, without marks. KTAP.
. "$(dirname "$0")/ktap.sh"
. "$(dirname "$0")/hex.sh"
data=/tmp/recompute.data known=/tmp/recompute.known seen=/tmp/recompute.seen
out=/tmp/recompute.out
export PAGER=cat
misses='' metric=''
if perf stat -x, -e branch-misses:u -o "$out" true && grep -q '^[0-9]' "$out"; then
	misses=,branch-misses metric=,metric:branch-mpki
fi

# Print a table of the program, "symbol share-of-time CPI share-of-instructions misses-per-1000
# windows", from the windows that end where they begin. The group has cycles, instructions
# and, if the CPU has them, branch misses.
recompute()		# WINDOW
{
	perf script -D -i "$data" 2> /dev/null |
	awk -v window="$1" -v misses="$misses" "$awk_hex"'
		# Both samples of a round have a half of what it stands for.
		function add_time(symbol,	time) {
			time = window ? int((long + window) / 2) : long
			weight[symbol] += time
			all += time
		}
		/PERF_RECORD_(LOST|THROTTLE|UNTHROTTLE)/ { print "lost or throttled"; exit }
		/PERF_RECORD_SAMPLE/ {
			match($0, /IP, 0x[0-9a-f]+/)
			misc = hex(substr($0, RSTART + 4, RLENGTH - 4))
			match($0, /period: [0-9]+/)
			armed = substr($0, RSTART + 8, RLENGTH - 8) + 0
			# Bit 13 of PERF_RECORD_MISC_*: it ends a window. Bit 12: a split one.
			is_window = int(misc / 8192) % 2
			split_window = int(misc / 4096) % 2
			nr = 0
			sample = 1
			next
		}
		sample && /^\.\.\.\.\. id / { sub(/,/, "", $5); count[++nr] = hex($5); next }
		# The line that perf script prints without -D, after the dump.
		sample && /^ *[^ .]+ +[0-9]+ +[0-9.]+: / {
			sample = 0
			symbol = $0
			sub(/ \([^(]*\)$/, "", symbol)
			sub(/\+0x[0-9a-f]+$/, "", symbol)
			sub(/.*: +[0-9a-f]+ /, "", symbol)
			for (i = 1; i <= 3; i++) {
				delta[i] = count[i] - before[i]
				before[i] = count[i]
				total[i] += delta[i]
			}
			if ((is_window || !window) && start != "") {
				# An ordinary interval is shorter if the one before was too long.
				late = (window ? long : armed) / 2
				if (symbol == start && !(is_window && split_window) &&
				    delta[1] >= (is_window ? armed : armed - late) &&
				    delta[1] - armed <= late) {
					used[start]++
					for (i = 1; i <= 3; i++)
						sum[start, i] += delta[i]
				}
				if (window)
					add_time(symbol)
				start = ""
			}
			if (!is_window) {
				start = symbol
				long = armed
				add_time(symbol)
			}
		}
		END {
			# Without a symbol each address is an entry.
			delete weight["[unknown]"]
			for (s in weight) {
				share = weight[s] / all
				c = sum[s, 1]
				insns = sum[s, 2]
				printf "%s %.6g ", s, 100 * share
				if (insns > 0)
					printf "%.6g ", c / insns
				else
					printf "- "
				if (!used[s])
					printf "- "
				else
					printf "%.6g ", 100 * share * total[1] * insns / c / total[2]
				if (misses && insns > 0)
					printf "%.6g ", 1000 * sum[s, 3] / insns
				else if (misses)
					printf "- "
				printf "%d\n", used[s]
			}
		}' | sort > "$known"
}

compare()		# NAME TERMS WINDOW
{
	local lines

	if ! perf record -q -o "$data" -e "{cycles/$2/,instructions$misses}:uS" \
		perf test -w fnmix 300 every 8 > "$out" 2>&1; then
		result 1 "$1"
		return
	fi
	recompute "$3"
	perf report -i "$data" --fnstat --attribution same --ci -q -t '|' --sort sym -F "$(
		)time-share,metric:cpi,metric:instructions-share$metric,$(
		)windows,sym" 2> "$out" |
	awk -F '|' '$NF != "[total]" {
		sub(/^\[.\] /, "", $NF)
		printf "%s", $NF
		# The ends of its interval and its mark follow each value.
		for (i = 1; i < NF - 1; i += 4)
			printf " %s", $i == "" ? "-" : $i
		print " " $i
	}' | grep -v '^0*[0-9a-f]\{16\} ' | sort > "$seen"
	lines=$(wc -l < "$known")
	echo "# $1: $lines functions"
	diff "$known" "$seen" > "$out"
	# The workload has at least ten of them.
	[ ! -s "$out" ] && [ "$(grep -c fnmix_ "$known")" -ge 10 ]
	result $? "$1"
}

plan 3
compare 'a plain period' period=49999,period-jitter=9999 0
compare windows period=99700,alt-period=300,period-jitter=99000 300
compare 'windows of several lengths' \
	period=99700,alt-period=300,period-jitter=99000,alt-period-jitter=200 300
exit "$failed"
