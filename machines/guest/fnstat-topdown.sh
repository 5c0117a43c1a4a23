#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: fnstat-topdown.sh
#
# Do windows tell why a function is slow? The TopDown fractions that perf fnstat prints of
# each function of the workload, and those that perf stat counts of the function alone, less
# what the program does to start up. topdown.sh compares the latter with the model of the
# CPU. For machines with pmu-stalls=on. KTAP.
. "$(dirname "$0")/ktap.sh"
data=/tmp/topdown.data
metrics=tma_retiring,tma_bad_speculation,tma_frontend_bound,tma_backend_bound
group='{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound}:u'
export PAGER=cat

counts()		# ROUNDS FUNCTION
{
	perf stat -x, -e "$group" -o /tmp/stat perf test -w fnmix "$1" "$2" 8
	awk -F, '$1 ~ /^[0-9]/ { printf "%s ", $1 }' /tmp/stat
}

plan 8
perf fnstat record -q -M TopdownL1 -c 39700 -o "$data" perf test -w fnmix 500 all 8 \
	> /tmp/log 2>&1
perf fnstat report -i "$data" --no-inline -q -t '|' -F "metric:${metrics//,/,metric:},sym" \
	> /tmp/table 2>> /tmp/log
[ -s /tmp/table ]
result $? 'perf fnstat record -M TopdownL1' || cat /tmp/log
for function in nops convert int_div fp_div barrier mispredict cache_miss; do
	echo "$(grep "fnmix_$function " /tmp/table || grep "fnmix_$function\$" /tmp/table)|$(
		counts 100 "$function")|$(counts 600 "$function")" |
	awk -F '|' -v name="$function" '{
		split($6, less, " "); split($7, all, " ")
		split("retiring bad-spec fe-bound be-bound", metric, " ")
		bad = 0
		printf "# %s:", name
		for (i = 1; i <= 4; i++) {
			want = 100 * (all[i + 1] - less[i + 1]) / (all[1] - less[1])
			printf " %s %.1f (%.1f)", metric[i], $i, want
			bad += $i - want > 2 || want - $i > 2 || $i == "-"
		}
		printf " %%\n"
		exit bad != 0
	}'
	result $? "$function"
done
exit "$failed"
