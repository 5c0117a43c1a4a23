#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: topdown-stat.sh BUBBLE
# needs: perf
#
# Does perf stat --topdown tell what the slots of a program are used for, and those of each
# interval, as the model of the emulated CPU gives? For machines with pmu-stalls=on and
# pmu-bubble=BUBBLE. And is its output as topdown.txt has it? KTAP.
. "$(dirname "$0")/ktap.sh"
bubble=$1 mispredict=16
# Cycles, instructions, mispredicted and taken branches: the rest is bound by the backend.
events='{cycles,instructions,branch-misses,cpu/event=0xc4,umask=0x20/}'

# Print the percentages of a file of perf stat --topdown, a line for each of its own, in the
# order retiring, bad speculation, frontend and backend bound.
percentages()			# FILE
{
	awk '
		/tma_retiring/ {
			gsub(/%/, "")
			for (i = j = 1; i <= NF; i++)
				if ($i ~ /^tma_/)
					place[$i] = j++
			next
		}
		j && /[0-9]/ && !/[^ 0-9.-]/ {
			first = NF - (j - 1)
			print $(first + place["tma_retiring"]),
			      $(first + place["tma_bad_speculation"]),
			      $(first + place["tma_frontend_bound"]),
			      $(first + place["tma_backend_bound"])
		}' "$1"
}

# Compute the same from the counts of other events.
truth()				# COMMAND...
{
	perf stat -x, -e "$events" -o /tmp/truth.stat "$@" > /dev/null
	awk -F, -v bubble="$bubble" -v mispredict=$mispredict '
		$1 ~ /^[0-9]/ { c[++nr] = $1 }
		END {
			r = 100 * c[2] / c[1]
			bad = 100 * mispredict * c[3] / c[1]
			fe = 100 * bubble * c[4] / c[1]
			print r, bad, fe, 100 - r - bad - fe
		}' /tmp/truth.stat
}

# Is each line of numbers near those in TRUTH, and are there LINES or more?
near()				# NAME LINES TRUTH < NUMBERS
{
	awk -v name="$1" -v lines="$2" -v truth="$3" '
		BEGIN { split(truth, want) }
		{
			printf "# %s:", name
			for (i = 1; i <= 4; i++) {
				printf " %.1f (%.1f)", $i, want[i]
				bad += $i - want[i] > 1 || want[i] - $i > 1
			}
			print ""
			nr++
		}
		END { exit nr < lines || bad }'
	result $? "$1"
}

plan 6
for function in nops int_div mispredict cache_miss; do
	workload=(perf test -w fnmix 2000 "$function" 8)
	want=$(truth "${workload[@]}")
	perf stat --topdown -o /tmp/topdown.stat "${workload[@]}" > /dev/null
	near "perf stat --topdown $function" 1 "$want" < <(percentages /tmp/topdown.stat)
done

workload=(timeout 0.65 perf test -w fnmix 1000000 int_div 8)
want=$(truth "${workload[@]}")
perf stat -I 100 --topdown -o /tmp/topdown.stat "${workload[@]}" > /dev/null
# The first one begins with exec, and the last one is what is left.
near 'perf stat -I --topdown' 4 "$want" < <(percentages /tmp/topdown.stat | sed '1d; $d')

perf stat -a -I 1000 --topdown -o /tmp/topdown.stat timeout 1.5 \
	perf test -w fnmix 1000000 int_div 8 > /dev/null
grep -v '^$' /tmp/topdown.stat | head -n 3 | sed 's/^/# /'
# The text had counts, each in a line of its own.
[ "$(percentages /tmp/topdown.stat | wc -l)" -ge 1 ] &&
	! grep -q 'topdown-retiring\|% retiring' /tmp/topdown.stat
result $? 'percentages in a line'
exit "$failed"
