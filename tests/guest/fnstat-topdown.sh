#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: [LIMIT=POINTS] fnstat-topdown.sh [GROUP [CPU PMU]]
# needs: perf
#
# Do windows tell why a function is slow? The metrics of GROUP (default: TopdownL1) that
# perf fnstat prints of each function of the workload, and those that perf stat prints of
# the function alone, while it is running. topdown.sh compares what the latter counts with
# the model of the CPU. On a hybrid machine, those of PMU, on its CPU. They may differ by LIMIT
# (3). For machines with pmu-stalls=on. KTAP.
. "$(dirname "$0")/ktap.sh"
metrics=${1:-TopdownL1}
run=(env) stat=(perf stat) pmu=cpu
if [ -n "${2:-}" ]; then
	run=(taskset -c "$2")
	pmu=$3
	stat+=(--cputype "${3#cpu_}")
fi
data=/tmp/topdown.data
export PAGER=cat

# A line "METRIC PERCENT" for each metric of a function.
alone()			# FUNCTION
{
	local pid

	"${run[@]}" perf test -w fnmix 1000000 "$1" 8 &
	pid=$!
	# It starts up, which is something else.
	sleep 0.3
	"${stat[@]}" -x, -M "$metrics" -o /tmp/stat -p $pid sleep 0.3
	kill $pid
	wait $pid || true
	awk -F, '$NF ~ /^%  [a-z]/ { split($NF, name, " "); print name[2], $(NF - 1) }' /tmp/stat
}

plan 9
# If these need another group of events, the others are columns of its table.
all=cpi,branch-mpki,$metrics
"${run[@]}" perf fnstat record -q -M "$all" -c 19700 -o "$data" \
	perf test -w fnmix 2000 all 8 > /tmp/log 2>&1
# There is a table for each PMU, below the name of the event.
perf fnstat report -i "$data" --no-inline --ci -t '|' -M "$all" 2>> /tmp/log |
awk -v RS= -v pmu="$pmu" 'pmu == "cpu" || index($0, pmu) == 1' > /tmp/table
perf fnstat report -i "$data" --stdio -M "$all" > /tmp/groups 2>&1
grep -q fnmix_nops /tmp/table
result $? "perf fnstat record -M $all" || cat /tmp/log /tmp/table
# Metrics that cannot be counted together are in it too.
[ "$(grep -c '^Overhead' /tmp/table)" -eq 1 ]
result $? "one table of $(grep -c '^# [0-9]* windows' /tmp/groups) groups" || cat /tmp/table
for function in nops convert int_div fp_div barrier mispredict cache_miss; do
	alone "$function" | awk -F '|' -v name="$function" -v limit="${LIMIT:-3}" '
		NR == FNR { split($0, v, " "); want[v[1]] = v[2]; n++; next }
		/^Overhead/ {
			split("", column)
			for (i = 1; i <= NF; i++)
				column[$i] = i
		}
		$NF ~ ("fnmix_" name "$") {
			for (metric in want) {
				if (metric in column)
					have[metric] = $column[metric]
			}
		}
		END {
			for (metric in want) {
				value = have[metric]
				printf "# %s: %s %.1f (%s)\n", name, metric, value, want[metric]
				if (value !~ /^-?[0-9]/ || value - want[metric] > limit ||
				    want[metric] - value > limit)
					bad = 1
			}
			exit bad || n < 4
		}' - /tmp/table
	result $? "$function"
done
exit "$failed"
