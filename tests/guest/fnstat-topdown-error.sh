#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: fnstat-topdown-error.sh BUBBLE [RECORDINGS]
# needs: perf
#
# Do the intervals that perf fnstat prints of TopDown metrics have the truth in them? The
# truth of a function is the model of the emulated CPU, with what perf stat counts of its
# calls. These are long: windows do not have what happens once in each call. For machines
# with pmu-stalls=on and pmu-bubble=BUBBLE. KTAP.
. "$(dirname "$0")/ktap.sh"
bubble=$1 recordings=${2:-5} rounds=500 mispredict=16
dir=/tmp/error
mkdir -p "$dir"
export PAGER=cat

counts()		# ROUNDS FUNCTION: cycles, instructions, mispredicts, taken branches
{
	perf stat -x, -e '{cycles,instructions,branch-misses,cpu/event=0xc4,umask=0x20/}:u' \
		-o "$dir/stat" perf test -w fnmix "$1" "$2" 8 > /dev/null
	awk -F, '$1 ~ /^[0-9]/ { printf "%s ", $1 }' "$dir/stat"
}

empty="$(counts 100 empty) $(counts 600 empty)"
for function in int_div fp_div barrier mispredict cache_miss; do
	echo "$(counts 100 $function) $(counts 600 $function) $empty" |
	awk -v name=$function -v bubble="$bubble" -v mispredict=$mispredict '{
		# An empty function is called as the others are.
		for (i = 1; i <= 4; i++)
			n[i] = $(i + 4) - $i - ($(i + 12) - $(i + 8))
		retiring = 100 * n[2] / n[1]
		bad = 100 * mispredict * n[3] / n[1]
		frontend = 100 * bubble * n[4] / n[1]
		print name, "tma_retiring", retiring
		print name, "tma_bad_speculation", bad
		print name, "tma_frontend_bound", frontend
		print name, "tma_backend_bound", 100 - retiring - bad - frontend
	}'
done > "$dir/truth"

for ((i = 1; i <= recordings; i++)); do
	perf fnstat record -q -M TopdownL1 -c 19700 -o "$dir/data" \
		perf test -w fnmix $rounds all 8 > "$dir/log" 2>&1 || cat "$dir/log"
	perf fnstat report -i "$dir/data" --no-inline --ci -t '|' -M TopdownL1 2> "$dir/log" |
	awk -F '|' '
		/^Overhead/ { for (i = 1; i <= NF; i++) column[$i] = i }
		/fnmix_/ {
			sub(/.*fnmix_/, "", $NF)
			for (metric in column) {
				i = column[metric]
				if (metric ~ /^tma_[a-z_]*$/ && $i != "")
					print $NF, metric, $i, $(i + 1), $(i + 2)
			}
		}'
done > "$dir/estimates"

plan 1
awk -v recordings="$recordings" '
	FNR == NR { truth[$1, $2] = $3; key[++nr] = $1 SUBSEP $2; next }
	($1, $2) in truth {
		k = $1 SUBSEP $2
		n[k]++
		sum[k] += $3
		half[k] += ($5 - $4) / 2
		# What is counted of calls of the function has an error of its own.
		inside = $4 <= truth[k] + 0.02 && truth[k] - 0.02 <= $5
		within[k] += inside
		all += inside
		most++
	}
	END {
		printf "# %-11s %-20s %8s %8s %6s %s\n", "function", "metric", "truth", "mean",
			"+-", "in"
		for (i = 1; i <= nr; i++) {
			split(key[i], name, SUBSEP)
			k = key[i]
			missing += n[k] != recordings
			if (n[k])
				printf "# %-11s %-20s %8.3f %8.3f %6.3f %d of %d\n", name[1],
					name[2], truth[k], sum[k] / n[k], half[k] / n[k], within[k], n[k]
		}
		printf "# %d of %d intervals have the truth\n", all, most
		exit !most || missing || all < 0.9 * most
	}' "$dir/truth" "$dir/estimates"
result $? 'intervals have the truth'
exit "$failed"
