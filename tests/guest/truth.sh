#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: truth.sh [RECORDINGS]
#
# Are the numbers that perf prints of functions true, and their confidence intervals as
# wide as they should be? For machines with pmu-stalls=on. KTAP.
#
# The truth of a function is what perf stat counts of more calls of it, less what it
# counts of as many calls of an empty one. The same program is recorded again and again,
# each time with other random lengths of the intervals. Of all estimates of a number,
# that is not zero:
#
#   z		(estimate - truth) / standard error, the latter being what the printed
#		interval of 95 % is made of. Its mean has to be below 0.3.
#   coverage	the part of the intervals that have the truth in them: 0.90 to 0.985,
#		as 0.95 times 200 recordings has a spread. Those of fewer have wider limits.
#
# An interval is never printed narrower than 0.5 % on each side, or a tenth of what is not
# covered. Those that narrow tell no standard error, so they have no z. Where most are,
# all of them may have the truth, and the mean of z is not looked at.
#
# Functions for which windows are too long have to be marked with '?', or to be right:
# from samples of both events (EBS=1, the default), their CPI and share of instructions.
# The columns "?" and "*!" have the part of the recordings that mark it so.
# Functions with less than five samples in a recording, 20 if these are the estimate, are not
# judged.
. "$(dirname "$0")/ktap.sh"
recordings=${1:-200}
rounds=${ROUNDS:-2000} period=${PERIOD:-399700} window=300 jitter=${JITTER:-799000}
options=${OPTIONS-,alt-period-jitter=200}
samples=''
[ "${EBS:-1}" = 0 ] || samples=/period=$period,period-jitter=$jitter/
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

# A line "recording function what estimate low high coverage mark" for each number.
export PAGER=cat
events='{cycles/period='$period,alt-period=$window,period-jitter=$jitter$options/
events+=,instructions$samples',branch-misses,cache-misses}:uS'
for ((i = 1; i <= recordings; i++)); do
	perf record -q -o "$dir/data" -e "$events" \
		perf test -w fnmix "$rounds" every "$buffer" > "$dir/log" 2>&1 ||
		cat "$dir/log" >&2
	perf report -i "$dir/data" --windows --ci -q -t '|' --sort sym -F "$(
		)time-share,metric:cpi,metric:instructions-share,$(
		)metric:branch-mpki,metric:cache-mpki,windows,coverage,sym" 2> "$dir/log" |
	awk -F '|' -v i="$i" '
		$NF ~ /fnmix_/ {
			sub(/.*fnmix_/, "", $NF)
			sub(/ *$/, "", $NF)
			split("time cpi insns bm cm", what, " ")
			for (j = 1; j <= 5; j++) {
				if (split($j, v, ";") < 3)
					continue
				mark = v[1]
				sub(/.*[0-9]/, "", mark)
				print i, $NF, what[j], v[1] + 0, v[2], v[3] + 0, $7 + 0, mark
			}
			print i, $NF, "windows", $6 + 0, $7 + 0
		}'
done > "$dir/estimates"

awk -v recordings="$recordings" -v period="$period" '
	# The awk of busybox can have no functions like these.
	function root(x, r, i) {
		r = x > 1 ? x : 1
		for (i = 0; i < 60; i++)
			r = (r + x / r) / 2
		return x > 0 ? r : 0
	}
	function ln(x, sum, y, term, i) {
		for (sum = 0; x > 1.5; sum++)
			x /= 2
		for (; x < 0.75; sum--)
			x *= 2
		sum *= 0.69314718056
		y = (x - 1) / (x + 1)
		term = 2 * y
		for (i = 1; i < 40; i += 2) {
			sum += term / i
			term *= y * y
		}
		return sum
	}
	FNR == NR && $1 != "rest" {
		total[$1] = $2; insns[$1] = $3
		truth[$1, "cpi"] = $2 / $3
		truth[$1, "bm"] = 1000 * $4 / $3
		truth[$1, "cm"] = 1000 * $5 / $3
		if ($1 != "total")
			name[++nr] = $1
		next
	}
	FNR == NR { rest[$2] = $3; next }
	$3 == "windows" {
		windows[$2] += $4 / recordings
		coverage[$2] += $5 / recordings
		next
	}
	{
		t = $3 == "time" ? total[$2] / total["total"] :
		    $3 == "insns" ? insns[$2] / insns["total"] : truth[$2, $3]
		if ($3 == "time" || $3 == "insns")
			t = truth[$2, $3] = 100 * t
		k = $2 SUBSEP $3
		n[k]++
		sum[k] += $4
		marked[k] += $8 == "?"
		sampled[k] += $8 == "*" || $8 == "!"
		covered[k] += $5 <= t && t <= $6
		if ($3 == "time") {
			# The number of samples that the interval of Wilson is made of.
			p = $4 / 100; low = $5 / 100
			if (p > low && low > 0) {
				size = low * (1 - low) * 3.841459 / ((p - low) * (p - low))
				z = (p - t / 100) / root(t / 100 * (1 - t / 100) / size)
				zs[k] += z; zs2[k] += z * z; zn[k]++
			}
		} else if (t > 0 && $4 > 0 && $5 > 0) {
			# 2.04: Student, 31 degrees of freedom.
			half = ln($6 / $5) / 2
			# No interval is narrower, see "Error" in perf-report(1).
			least = (1 - $7) / 10 > 0.005 ? (1 - $7) / 10 : 0.005
			if (half < 1.002 * least) {
				floor[k]++
				next
			}
			z = ln($4 / t) / (half / 2.0395)
			zs[k] += z; zs2[k] += z * z; zn[k]++
		}
	}
	function abs(x) { return x < 0 ? -x : x }
	END {
		wider = recordings < 200 ? root(200 / recordings) : 1
		print "TAP version 13"
		m = split("time cpi insns bm cm", what, " ")
		split("%time CPI %insns BM/KI CM/KI", title, " ")
		printf "# %-11s %-7s %9s %9s %7s %6s %6s %7s %5s %5s %5s  %s\n", "function",
			"number", "truth", "mean", "mean z", "sd z", "cover", "windows", "used",
			"?", "*!", "verdict"
		for (f = 1; f <= nr; f++) {
			for (j = 1; j <= m; j++) {
				k = name[f] SUBSEP what[j]
				t = truth[name[f], what[j]]
				if (!n[k])
					continue
				c = covered[k] / n[k]
				mean = zn[k] ? zs[k] / zn[k] : 0
				sd = zn[k] ? root(abs(zs2[k] / zn[k] - mean * mean)) : 0
				# Less than one event in 1000 instructions: often none is seen.
				few = (what[j] == "bm" || what[j] == "cm") && t < 1
				narrow = floor[k] > n[k] / 2
				biased = !few && !narrow && abs(mean) >= 0.3 * wider
				below = c < 0.95 - 0.05 * wider
				above = c > 0.95 + 0.035 * wider && !few && !narrow
				# Few samples are shown only if they are more than 10.
				from_samples = sampled[k] >= 0.5 * n[k]
				if (total[name[f]] < (from_samples ? 20 : 5) * period) {
					verdict = "rare"
				} else if (marked[k] >= 0.9 * n[k]) {
					verdict = "marked" (biased || below || above ? "" : ", right")
				} else {
					verdict = biased ? "BIASED" : below ? "NARROW" :
						  above ? "WIDE" : "right"
					if (verdict != "right")
						bad[++nr_bad] = name[f] " " title[j] ": " verdict
					if (verdict == "right" && narrow)
						verdict = verdict ", floor"
					if (verdict == "right" && few)
						verdict = verdict ", few"
					if (from_samples)
						verdict = verdict ", from samples"
				}
				printf "# %-11s %-7s %9.4g %9.4g %7.2f %6.2f %6.3f %7.1f %5.2f %5.2f %5.2f  %s\n",
					name[f], title[j], t, sum[k] / n[k], mean, sd, c,
					windows[name[f]], coverage[name[f]], marked[k] / n[k],
					sampled[k] / n[k], verdict
			}
		}
		for (i in rest)
			printf "# %.3f %% of the total %s is not of functions\n", rest[i],
				i == 1 ? "cycles" : i == 2 ? "instructions" :
				i == 3 ? "branch misses" : "cache misses"
		for (i = 1; i <= nr_bad; i++)
			print "# " bad[i]
		print "1..2"
		ok = recordings > 0
		for (f = 1; f <= nr; f++)
			ok = ok && (n[name[f], "time"] >= 0.9 * recordings ||
				    total[name[f]] < 5 * period)
		print (ok ? "ok" : "not ok") " 1 each function is in each recording"
		print (nr_bad ? "not ok" : "ok") " 2 each number is right or marked"
		exit nr_bad || !ok
	}' "$dir/truth" "$dir/estimates"
