#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: recompute.sh
#
# Does perf report print of windows what awk computes from the samples as perf script
# dumps them, to the last digit? KTAP.
. "$(dirname "$0")/ktap.sh"
. "$(dirname "$0")/hex.sh"
data=/tmp/recompute.data known=/tmp/recompute.known seen=/tmp/recompute.seen
out=/tmp/recompute.out
export PAGER=cat
misses='' metric=''
if perf stat -x, -e branch-misses:u -o "$out" true && grep -q '^[0-9]' "$out"; then
	misses=,branch-misses metric=,metric:branch-mpki
fi

# Of the program, a table "symbol share-of-time CPI share-of-instructions misses-per-1000
# windows coverage". The group has cycles, instructions and, if the CPU has them, branch
# misses.
recompute()		# WINDOW SLOPE
{
	perf script -D -i "$data" 2> /dev/null |
	awk -v window="$1" -v slope="$2" -v misses="$misses" "$awk_hex"'
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
				windows[start]++
				late = (window ? long : armed) / 2
				if (symbol == start && !(is_window && split_window) &&
				    delta[1] >= armed && delta[1] - armed <= late) {
					used[start]++
					a[start] += armed - window
					for (i = 1; i <= 3; i++) {
						sum[start, i] += delta[i]
						product[start, i] += (armed - window) * delta[i]
					}
				}
				# Windows that only left tell how different the rest may be.
				nr_left[start] += symbol != start
				if (symbol != start && !(is_window && split_window) &&
				    delta[1] >= armed && delta[1] - armed <= late) {
					for (i = 1; i <= 3; i++)
						left[start, i] += delta[i]
				}
				start = ""
			}
			if (!is_window) {
				start = symbol
				rounds[symbol]++
				long = armed
				weight[symbol] += armed + window
				all += armed + window
			}
		}
		function is_other(s, main, ratio) {
			if (nr_left[s] < 5)
				return 0
			main = sum[s, 3] > sum[s, 2] ? 3 : 2
			if (!sum[s, main])
				return 1
			ratio = (sum[s, main] + left[s, main]) / sum[s, main] *
				sum[s, 1] / (sum[s, 1] + left[s, 1])
			# exp(0.1) and exp(-0.1): the awk of busybox has neither.
			return ratio > 1.1051709181 || ratio < 0.9048374180
		}
		# The lower end of the interval of Wilson is below 0.8. No sqrt() either.
		function is_low(p, n, z2, above) {
			z2 = 1.644854 * 1.644854
			above = p + z2 / (2 * n) - 0.8 * (1 + z2 / n)
			return above < 0 ||
			       above * above < z2 * (p * (1 - p) / n + z2 / (4 * n * n))
		}
		function event(s, i) {
			return slope ? product[s, i] - a[s] * sum[s, i] / used[s] : sum[s, i]
		}
		END {
			for (s in rounds) {
				share = weight[s] / all
				printf "%s %.6g ", s, 100 * share
				few = !windows[s] || used[s] < 10 ||
				      is_low(used[s] / windows[s], windows[s]) || is_other(s)
				few = few ? "?" : ""
				insns = used[s] ? event(s, 2) : 0
				cycles = used[s] ? event(s, 1) : 0
				if (insns > 0)
					printf "%.6g%s ", cycles / insns, few
				else
					printf "- "
				if (cycles > 0)
					printf "%.6g%s ", 100 * insns / cycles * share *
						total[1] / total[2], few
				else
					printf "- "
				if (misses && insns > 0)
					printf "%.6g%s ", 1000 * event(s, 3) / insns, few
				else if (misses)
					printf "- "
				printf "%d %.4f\n", used[s],
					windows[s] ? used[s] / windows[s] : 0
			}
		}' | sort > "$known"
}

compare()		# NAME TERMS WINDOW SLOPE
{
	local lines

	if ! perf record -q -o "$data" -e "{cycles/$2/,instructions$misses}:uS" \
		perf test -w fnmix 300 every 8 > "$out" 2>&1; then
		result 1 "$1"
		return
	fi
	recompute "$3" "$4"
	perf report -i "$data" --windows -q -t '|' --sort sym -F "$(
		)time-share,metric:cpi,metric:instructions-share$metric,$(
		)windows,coverage,sym" 2> "$out" |
	awk -F '|' 'NF > 5 && !/^#/ {
		for (i = 1; i <= NF; i++)
			gsub(/^ *(\[.\] )?| *$/, "", $i)
		printf "%s", $NF
		for (i = 1; i < NF; i++)
			printf " %s", $i
		print ""
	}' | sort > "$seen"
	lines=$(wc -l < "$known")
	echo "# $1: $lines functions"
	diff "$known" "$seen" > "$out"
	# Those of the workload are at least ten.
	[ ! -s "$out" ] && [ "$(grep -c fnmix_ "$known")" -ge 10 ]
	result $? "$1"
}

plan 4
compare 'a plain period' period=49999,period-jitter=9999 0 0
compare windows period=99700,alt-period=300,period-jitter=99000 300 0
compare 'windows of several lengths' \
	period=99700,alt-period=300,period-jitter=99000,alt-period-jitter=200 300 0
compare 'the slope over the lengths of windows' \
	period=98500,alt-period=1500,period-jitter=99000,alt-period-jitter=2000 1500 1
exit "$failed"
