#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: alternating.sh
# needs: perf
#
# Type the commands of the cover letter that this series began with, as they are there, and
# see that what it says of their results is so. "benchmark" is the workload fnmix, whose
# functions are the classes of that letter. For machines with pmu-stalls=on. KTAP.
. "$(dirname "$0")/ktap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$work/out
export PAGER=cat PATH=$work:$PATH
cd "$work" || exit

# Print the workload, of so many rounds of its functions.
workload() { printf '#!/bin/sh\nexec perf test -w fnmix %d\n' "$1"; }

# With half of it one recording in twenty does not know the CPI of isb.
workload 4000 > benchmark
chmod +x benchmark

# True if the value in a column of the table of the windows is the largest of all functions.
largest()		# COLUMN FUNCTION
{
	awk -v column="$1" -v function_="fnmix_$2" '
		/^# Overhead/	{ for (i = 1; i <= NF; i++) if ($i == column) field = i - 1 }
		/\[\.\] fnmix_/	{ if (name == "" || $field + 0 > most) { most = $field + 0; name = $NF } }
		END		{ print column, name, most; exit name != function_ }' table > "$out"
}

samples() { perf script -F period 2> /dev/null | wc -l; }

plan 12
perf record -T --sample-cpu --call-graph fp,4 --user-callchains \
	-k CLOCK_MONOTONIC_RAW \
	-e '{cycles/period=999700,alt-period=300/,instructions,branch-misses,cache-references,cache-misses}:uS' \
	benchmark 0 1 > "$out" 2>&1
result $? 'the command with five counters, as typed'
# perf script prints the counts of a sample for each event.
perf script -F misc,period,event 2> "$out" | awk '
	!/cycles/	{ next }
			{ n++; window = $1 ~ /W/; bad += window == last || window != ($2 < 2000); last = window }
	END		{ exit bad > 2 || n < 200 }'
result $? 'long intervals and windows take turns'
perf script -D 2> "$out" | awk '
	/PERF_RECORD_SAMPLE/	{ n++ }
	/^\.\.\.\.\. id .*value/	{ values++ }
	/^\.\.\. FP chain: nr:/	{ chains++; bad += substr($4, 4) > 5 }
	END			{ exit !n || bad || chains != n || values != 5 * n }'
result $? 'five counts and four user frames in each sample'
perf report --windows --metrics cpi,branch-mpki,cache-mpki,cache-miss-rate,instructions-share,branch-miss-share,cache-ref-share,cache-miss-share \
	--stdio --no-children --sort sym -g none > table 2> "$out"
result $? 'its table'
grep -qE '^# Overhead +CPI +BM/KI +CM/KI +%CM +%I +%BM +%CREF +%CMISS' table
result $? 'columns'
perf report --fnstat --stdio -q -F windows,metric:cpi,time-share,left,sym -g none > with 2> "$out" &&
	grep -q fnmix_cache_miss with
result $? 'columns of the number of windows, %CY and %DIS'
largest BM/KI mispredict
result $? 'branch_mispredicts has most branch misses'
largest CM/KI cache_miss
result $? 'dcache_miss has most cache misses'
awk '/\[\.\] fnmix_nops/ { nops = $2 + 0 } /\[\.\] fnmix_barrier/ { barrier = $2 + 0 }
	END { print "CPI", nops, barrier; exit !(nops && nops < 2 && barrier > 8) }' table > "$out"
result $? 'isb has many cycles per instruction, nops few'

# What period=300 records has to fit into the memory.
workload 400 > benchmark
for period in 1000000 1000 300 999700,alt-period=300; do
	perf record -i -vvv -e "{cycles/period=$period/,instructions}:uS" benchmark 0 1 \
		> /dev/null 2> "$out" || break
	echo "$period $(samples) $(stat -c %s perf.data)" >> sizes
	[ "$period" != 300 ] || rm perf.data
done
[ "$(wc -l < sizes)" = 4 ]
result $? 'the commands with periods, as typed'
cp sizes "$out"
awk '{ n[$1] = $2; size[$1] = $3 }
	END { w = "999700,alt-period=300"; r = n[w] / n[1000000]; exit !(r > 1.8 && r < 2.2 && size[w] < 2.5 * size[1000000]) }' sizes
result $? 'twice the samples of period=1000000'
awk '{ size[$1] = $3 } END { print "# period=300 has", size[300] / size["999700,alt-period=300"], "times the data"; exit size[300] < 25 * size["999700,alt-period=300"] }' sizes
result $? '25 times less data than period=300'
exit "$failed"
