#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: truth.sh [RECORDINGS]
# needs: perf
#
# Are the numbers that perf fnstat prints of functions true, and their confidence intervals
# as wide as they should be? For machines with pmu-stalls=on. KTAP.
#
# The truth of a function is what perf stat counts of more calls of it, less what it
# counts of as many calls of an empty one. The same program is recorded again and again,
# each time with other random lengths of the intervals. Of all estimates of a number:
#
# hold	the part of the intervals of 95 % that have the truth in them: 0.92 to 0.995 of all,
#	or 0.88 with 20 recordings. One number can have less, as what windows count of other
#	functions is the same in each recording: 0.8; with 20 it is 0.48, as 0.8 can be less by chance.
#	A function that each window leaves (insns_50) has no such limit: see docs/estimate.md.
# off	what the mean of the estimates differs by from the truth: at most a tenth, and chance,
#	where less than half of them have a mark.
# ?	the part of the estimates that have a mark: CPI for at most a fifth of the time.
#
# Functions with less than five samples in a recording are not judged.
. "$(dirname "$0")/ktap.sh"
recordings=${1:-200}
rounds=2000 period=99700
# MiB, eight times the last level cache.
buffer=8
dir=/tmp/truth
mkdir -p "$dir"

counts()		# ROUNDS FUNCTION: cycles, instructions, branch and cache misses
{
	perf stat -x, -e '{cycles,instructions,branch-misses,cache-misses}:u' \
		-o "$dir/stat.$2" perf test -w fnmix "$1" "$2" "$buffer"
	awk -F, '$1 ~ /^[0-9]/ { printf "%s ", $1 }' "$dir/stat.$2"
}

# Called often enough that neither random numbers matter nor what it takes to start.
per_call()		# FUNCTION [CALLS]
{
	local calls=${2:-1000}

	echo "$(counts 100 "$1") $(counts $((100 + calls)) "$1")" |
	awk -v name="$1" -v calls="$calls" '{
		print name, ($5 - $1) / calls, ($6 - $2) / calls, ($7 - $3) / calls,
			($8 - $4) / calls }'
}

{
	for function in mispredict int_div fp_div convert barrier cache_miss nops modes; do
		per_call "$function"
	done
	# The calls of these are multiplied below.
	for function in empty caller leaf sizes insns_50 insns_200 insns_800; do
		per_call "$function" 10000
	done
	echo "total $(counts "$rounds" every)"
	echo "less $(counts $((rounds / 2)) every)"
} > "$dir/calls"

# A line "function cycles instructions branch-misses cache-misses" for what the function
# itself does in the program, and one for all of it.
awk -v rounds="$rounds" '
	{ for (i = 2; i <= 5; i++) n[$1, i] = $i }
	# Less the call of an empty function, which is one instruction.
	function less_empty(f, i) {
		for (i = 2; i <= 5; i++)
			n[f, i] -= n["empty", i] - (i <= 3)
	}
	function less_calls(f, called, calls, i) {
		for (i = 2; i <= 5; i++)
			n[f, i] -= calls * n[called, i]
	}
	function known(f, from, own, i) {
		for (i = 2; i <= 5; i++)
			n[f, i] = n[from, i] - (i <= 3) * own
		for (i = 2; i <= 5; i++)
			n[from, i] -= n[f, i]
	}
	function put(f, calls, i) {
		printf "%s", f
		for (i = 2; i <= 5; i++)
			printf " %d", (n[f, i] > 0) * rounds * calls * n[f, i]
		print ""
		for (i = 2; i <= 5; i++)
			sum[i] += calls * n[f, i]
	}
	END {
		m = split("mispredict int_div fp_div convert barrier cache_miss nops " \
			  "caller leaf sizes insns_50 insns_200 insns_800 modes", f, " ")
		for (j = 1; j <= m; j++)
			less_empty(f[j])
		less_calls("caller", "leaf", 600)
		less_calls("sizes", "insns_50", 20)
		less_calls("sizes", "insns_200", 20)
		less_calls("sizes", "insns_800", 20)
		# The instructions of its own are known, and have no stalls.
		known("bimodal", "modes", 2 + 5 * (5 + 9 * 244))
		for (j = 1; j <= 8; j++)
			put(f[j], 1)
		put("leaf", 600)
		put("sizes", 1)
		put("insns_50", 20)
		put("insns_200", 20)
		put("insns_800", 20)
		put("modes", 1)
		put("bimodal", 1)
		print "total", n["total", 2], n["total", 3], n["total", 4], n["total", 5]
		# What remains is the shuffling.
		for (i = 2; i <= 5; i++) {
			all = (n["total", i] - n["less", i]) / (rounds - int(rounds / 2))
			print "rest", i - 1, 100 * (all - sum[i]) / all
		}
	}' "$dir/calls" > "$dir/truth"

# A line "recording function what estimate low high mark" for each number.
export PAGER=cat
for ((i = 1; i <= recordings; i++)); do
	perf fnstat record -q -o "$dir/data" -c "$period" -- \
		perf test -w fnmix "$rounds" every "$buffer" > "$dir/log" 2>&1 ||
		cat "$dir/log" >&2
	perf fnstat report -i "$dir/data" --ci -q -t '|' -F "$(
		)time-share,metric:cpi,metric:instructions-share,$(
		)metric:branch-mpki,metric:cache-mpki,windows,left,sym" 2> "$dir/log" |
	awk -F '|' -v i="$i" '
		$NF ~ /fnmix_/ {
			sub(/.*fnmix_/, "", $NF)
			split("time cpi insns bm cm", what, " ")
			# A value, the ends of its interval, and its mark.
			for (j = 1; j <= 5; j++) {
				f = 4 * j - 3
				if ($f != "")
					print i, $NF, what[j], $f, $(f + 1), $(f + 2),
						$(f + 3) != ""
			}
			print i, $NF, "windows", $21, $22
		}'
done > "$dir/estimates"

awk -v recordings="$recordings" -v period="$period" '
	# The awk of busybox can have no function like this.
	function root(x, r, i) {
		r = x > 1 ? x : 1
		for (i = 0; i < 60; i++)
			r = (r + x / r) / 2
		return x > 0 ? r : 0
	}
	function abs(x) { return x < 0 ? -x : x }
	FNR == NR && $1 == "rest" { rest[$2] = $3; next }
	FNR == NR {
		total[$1] = $2
		truth[$1, "time"] = $2
		truth[$1, "cpi"] = $2 / $3
		truth[$1, "insns"] = $3
		truth[$1, "bm"] = 1000 * $4 / $3
		truth[$1, "cm"] = 1000 * $5 / $3
		if ($1 != "total")
			name[++nr] = $1
		next
	}
	$3 == "windows" {
		windows[$2] += $4 / recordings
		left[$2] += $5 / recordings
		next
	}
	{
		k = $2 SUBSEP $3
		t = truth[k]
		if ($3 == "time" || $3 == "insns")
			t *= 100 / truth["total", $3]
		n[k]++
		sum[k] += $4
		sum2[k] += $4 * $4
		marked[k] += $7
		held[k] += $5 <= t * 1.000001 && t <= $6 * 1.000001
	}
	function bad(what) {
		print "# " what
		nr_bad++
	}
	function test(good, what) {
		printf "%s %d %s\n", good ? "ok" : "not ok", ++nr_tests, what
		failed += !good
	}
	END {
		wider = recordings < 200 ? root(200 / recordings) : 1
		print "TAP version 13"
		print "1..4"
		m = split("time cpi insns bm cm", what, " ")
		split("%time CPI %insns BM/KI CM/KI", title, " ")
		printf "# %-11s %-7s %9s %9s %7s %7s %5s %5s %7s %5s\n", "function", "number",
			"truth", "mean", "off", "sd", "hold", "?", "windows", "left"
		seen = 1
		for (f = 1; f <= nr; f++) {
			judged = total[name[f]] >= 5 * period
			seen = seen && (!judged || n[name[f], "time"] >= 0.9 * recordings)
			for (j = 1; j <= m; j++) {
				k = name[f] SUBSEP what[j]
				t = truth[k]
				if (what[j] == "time" || what[j] == "insns")
					t *= 100 / truth["total", what[j]]
				if (!n[k])
					continue
				mean = sum[k] / n[k]
				hold = held[k] / n[k]
				sd = root(abs(sum2[k] / n[k] - mean * mean))
				off = t ? mean / t - 1 : 0
				printf "# %-11s %-7s %9.4g %9.4g %6.1f%% %6.1f%% %5.3f %5.2f %7.1f %5.1f%s\n",
					name[f], title[j], t, mean, 100 * off, mean ? 100 * sd / mean : 0,
					hold, marked[k] / n[k], windows[name[f]], left[name[f]],
					judged ? "" : "  rare"
				# The truth of less than one in 1000 instructions is chance, and
				# which of the last two mispredicts is not known.
				if (!judged || ((what[j] == "bm" || what[j] == "cm") &&
						(t < 1 || name[f] ~ /^(modes|bimodal)$/)))
					continue
				number = name[f] " " title[j] ": "
				if (hold < 0.95 - 0.15 * wider && left[name[f]] < 95)
					bad(number "the interval is too narrow")
				chance = t ? 3 * sd / t / root(n[k]) : 0
				if (marked[k] < n[k] / 2 && abs(off) > 0.1 + chance)
					bad(number "off by more than a tenth, without a mark")
				all += n[k]
				all_held += held[k]
				if (what[j] == "cpi") {
					time += total[name[f]]
					clear += total[name[f]] * (1 - marked[k] / n[k])
				}
			}
		}
		for (i in rest)
			printf "# %.3f %% of the total %s is not of functions\n", rest[i],
				i == 1 ? "cycles" : i == 2 ? "instructions" :
				i == 3 ? "branch misses" : "cache misses"
		hold = all ? all_held / all : 0
		clear = time ? clear / time : 0
		test(recordings > 0 && seen, "each function is in each recording")
		test(all && !nr_bad, "each number is right or marked")
		test(hold >= 0.94 - 0.02 * wider && hold <= 0.995,
		     sprintf("%.3f of the intervals have the truth", hold))
		test(clear >= 0.8,
		     sprintf("%.2f of the time has a CPI without a mark", clear))
		exit failed > 0
	}' "$dir/truth" "$dir/estimates"
