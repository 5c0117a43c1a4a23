#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: headline.sh [RECORDINGS [ROUNDS]]
# needs: perf
#
# Record a program with a long period, with short ones, and with windows: how
# much data is that, how much slower is the program, how long does the report take, and
# how wrong is its table, from the windows that end where they begin? For machines with
# pmu-stalls=on, where the cycles per instruction of each function are known. KTAP.
#
# Run time and report time are in guest time, which is instructions with icount. The
# error is the mean of |CPI / true CPI - 1| over the functions, weighted with their true
# times; a function without a CPI counts as 1. Its interval of 95 % is that of the mean
# of the recordings. Without throttling there is so much data that the program only does
# an eighth of its rounds, for which it takes more windows a second for the same error. With it,
# the short periods lose so many samples that few windows have as small an error.
. "$(dirname "$0")/ktap.sh"
recordings=${1:-5} rounds=${2:-2000}
# MiB, twice the last level cache: to fill more takes longer than the rest.
buffer=2
data=/tmp/headline.data window=alt-period=300,alt-period-jitter=200
export PAGER=cat

# Milliseconds of guest time, and what the command prints.
timed()
{
	local begin=$EPOCHREALTIME

	"$@"
	echo "$begin $EPOCHREALTIME" | awk '{ print 1000 * ($2 - $1) }' > /tmp/ms
}
# This script is also the program that is recorded, to time it.
if [ "${headline_program:-}" ]; then
	timed perf test -w fnmix "$rounds" all "$buffer"
	exit
fi

counts()		# ROUNDS FUNCTION: cycles and instructions
{
	perf stat -x, -e '{cycles,instructions}:u' -o /tmp/stat \
		perf test -w fnmix "$1" "$2" "$buffer"
	awk -F, '$1 ~ /^[0-9]/ { printf "%s ", $1 }' /tmp/stat
}

# A line "function cycles-per-call CPI" for each. Of both numbers those of an empty
# function are taken, but for its own instruction.
for function in empty mispredict int_div fp_div convert barrier cache_miss nops; do
	echo "$function $(counts 100 "$function") $(counts 1100 "$function")"
done | awk '{
	cycles = ($4 - $2) / 1000; insns = ($5 - $3) / 1000
	if ($1 == "empty") {
		empty_cycles = cycles - 1; empty_insns = insns - 1
	} else {
		cycles -= empty_cycles
		print $1, cycles, cycles / (insns - empty_insns)
	}
}' > /tmp/truth

error()			# the error of the table of a recording
{
	perf report -i "$data" --fnstat --attribution same -q -t '|' --sort sym \
		-F metric:cpi,sym 2> /dev/null |
	awk -F '|' '
		FNR == NR { split($0, t, " "); time[t[1]] = t[2]; cpi[t[1]] = t[3]; all += t[2]; next }
		/fnmix_/ { sub(/.*fnmix_/, "", $NF); found[$NF] = $1 + 0 }
		END {
			for (f in cpi) {
				e = found[f] ? found[f] / cpi[f] - 1 : 1
				error += time[f] / all * (e < 0 ? -e : e)
			}
			print 100 * error
		}' /tmp/truth -
}

throttling()		# PERCENT OF THE TIME, 0: NONE
{
	cd /proc/sys/kernel || exit
	echo 25 > perf_cpu_time_max_percent
	echo $((percent ? 100000 : 10000000)) > perf_event_max_sample_rate
	echo "$1" > perf_cpu_time_max_percent
	cd /tmp || exit
}

plan 4
printf '# %-10s %-28s %10s %8s %9s %8s %10s  %s\n' throttling period 'data, B' samples \
	throttles 'run time' 'report, ms' 'error, %'
for percent in 25 0; do
	throttling $percent
	[ $percent != 0 ] || rounds=$((rounds / 8))
	timed perf test -w fnmix "$rounds" all "$buffer"
	undisturbed=$(cat /tmp/ms)
	of_windows=$((percent ? 4999700 : 199700))
	for period in 1000000 1000 300 999700,$window $of_windows,$window; do
		: > /tmp/errors
		for ((i = 0; i < recordings; i++)); do
			# perf record would keep it, and the space is small.
			rm -f "$data"
			headline_program=yes perf record -q -o "$data" \
				-e "{cycles/period=$period/,instructions}:uS" \
				"$0" "$recordings" "$rounds" > /dev/null 2>&1
			mv /tmp/ms /tmp/run-ms
			error >> /tmp/errors
		done
		timed perf report -i "$data" --fnstat --attribution same --stdio --sort sym \
			> /dev/null 2>&1
		perf report -i "$data" --stats 2> /dev/null |
		awk -v percent="$percent" -v period="${period%%,alt-period-j*}" \
			-v bytes="$(stat -c %s "$data")" -v ms="$(cat /tmp/run-ms)" \
			-v report="$(cat /tmp/ms)" -v undisturbed="$undisturbed" '
			function root(x, r, i) {
				r = x > 1 ? x : 1
				for (i = 0; i < 60; i++)
					r = (r + x / r) / 2
				return x > 0 ? r : 0
			}
			FILENAME == "/tmp/errors" { n++; sum += $1; squares += $1 * $1; next }
			/SAMPLE events/ && !samples { samples = $3 }
			/ THROTTLE events/ && !throttled { throttled = $3 }
			END {
				mean = sum / n
				# Quantile 0.975 of the distribution of Student.
				split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26", t, " ")
				half = n > 1 ? (n > 10 ? 2.1 : t[n - 1]) *
					root((squares - n * mean * mean) / (n - 1) / n) : 0
				printf "# %-10s %-28s %10d %8d %9d %8.3f %10.0f  %.2f +- %.2f\n",
					percent " %", period, bytes, samples, throttled,
					ms / undisturbed, report, mean, half
			}' /tmp/errors - | tee -a /tmp/table
	done
done
sed -i 's/ %//' /tmp/table

# Print a FIELD of the table: bytes, slow-down, error, its interval.
field()			# PERCENT PERIOD FIELD
{
	awk -v percent="$1" -v period="$2" -v field="$3" '
		$2 == percent && $3 == period { print $field; exit }' /tmp/table
}

for of in '0 199700' '25 4999700'; do
	percent=${of% *} period=${of#* },alt-period=300
	smaller=$(($(field "$percent" 300 4) / $(field "$percent" "$period" 4)))
	echo "# at $percent %: $period has $smaller times less data than 300"
	# Not if there was no space for the other.
	[ "$smaller" -ge 62 ] && [ "$(field "$percent" 300 5)" -gt 0 ] && awk -v a="$(field "$percent" "$period" 9)" \
		-v b="$(field "$percent" 300 9)" 'BEGIN { exit !(a <= b) }'
	result $? "$percent %: at least 62 times less data, and no larger error"
	awk -v slow="$(field "$percent" "$period" 7)" 'BEGIN { exit !(slow <= 1.2) }'
	result $? "$percent %: at most 1.2 times the run time"
done
exit "$failed"
