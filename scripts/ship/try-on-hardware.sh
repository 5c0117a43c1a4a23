#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: try-on-hardware.sh [SELFTESTS [PERF]]
#
# Try windows on this machine, and write what came of it to one file, to be mailed. To be
# run as root, on a kernel with the series and an otherwise idle machine; it takes about
# ten minutes. It needs bash, awk, and
#
#   SELFTESTS	the directory with the programs of tools/testing/selftests/perf_events
#		(default: perf_events here, or that of a kernel tree)
#   PERF	perf of the same tree (default: the one in PATH)
#
# CPU=N runs on another CPU than 0, TESTS="NAME ..." these selftests only, and CALLS=N
# makes the recordings longer or shorter.
set -uo pipefail

tests=${TESTS-alt_period_abi sample_period alt_period alt_period_ctl alt_period_task
	alt_period_freq alt_period_bpf alt_period_example group_throttle hw_type inherit_exit
	topdown}
dir=${1:-perf_events} perf=${2:-perf} cpu=${CPU:-0} calls=${CALLS:-100000}
[ -x "$dir/sample_cost" ] || dir=tools/testing/selftests/perf_events
work=$(mktemp -d) out=$PWD/windows-$(uname -m)-$(date +%Y%m%d-%H%M%S).txt
trap 'rm -rf "$work"' EXIT
export PAGER=cat

fail() { echo "try-on-hardware.sh: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || fail 'not root'
[ -x "$dir/sample_cost" ] || fail "no selftests in ${1:-perf_events}, see the usage"
"$perf" test -w fnmix list > "$work/list" 2>&1 || fail "$perf is not the perf of the series"

part() { printf '\n== %s\n' "$*"; echo "$*" >&2; }

# On a machine with several core PMUs, take the one of this CPU.
pmu=''
for file in /sys/bus/event_source/devices/*/cpus; do
	[ -e "$file" ] || continue
	for range in $(tr , ' ' < "$file"); do
		[ "$cpu" -lt "${range%-*}" ] || [ "$cpu" -gt "${range#*-}" ] ||
			{ pmu=${file%/cpus} pmu=${pmu##*/}; }
	done
done
event()			# NAME [TERMS]
{
	if [ -n "$pmu" ]; then
		echo "$pmu/$1${2:+,$2}/"
	else
		echo "$1${2:+/$2/}"
	fi
}

record()		# TERMS CALLS FUNCTION: a recording of many calls of a function
{
	"$perf" record -q -o "$work/data" -e "{$(event cycles "$1"),$(event instructions)}:uS" \
		"$perf" test -w fnmix "$2" "$3" 8 2>&1
}

counts()		# CALLS FUNCTION: cycles and instructions
{
	"$perf" stat -x, -o "$work/stat" -e "{$(event cycles),$(event instructions)}:u" \
		"$perf" test -w fnmix "$1" "$2" 8 > /dev/null
	awk -F, '$1 ~ /^[0-9]/ { printf "%s ", $1 }' "$work/stat"
}

# What the windows of a recording counted: the event before its terms, the member after it.
windows()		# LENGTH CYCLES-PER-INSTRUCTION
{
	"$perf" script -i "$work/data" -F misc,event,period 2> /dev/null |
	awk -v length_="$1" -v cpi="$2" '
		function middle(list, part) { return list[int((n - 1) * part) + 1] }
		function sort(list,	i, j, t) {
			for (i = 2; i <= n; i++) {
				t = list[i]
				for (j = i - 1; j >= 1 && list[j] > t; j--)
					list[j + 1] = list[j]
				list[j + 1] = t
			}
		}
		$3 ~ /cycles/	{ window = $1 ~ /W/; split_ = $1 ~ /s/; cycles = $2; next }
		!window		{ next }
		split_		{ splits++; next }
		n < 4000	{ late[++n] = cycles - length_; added[n] = cycles - $2 * cpi }
		END {
			sort(late); sort(added)
			printf "%6d %8d %6d %8d %8d %8d %8d %8.1f %8.1f %8.1f\n", length_, n,
				splits, late[1], middle(late, .5), middle(late, .9), late[n],
				middle(added, .1), middle(added, .5), middle(added, .9)
		}'
}

machine()
{
	part 'machine'
	uname -srvm
	grep -m 1 -E '^(model name|Model)' /proc/cpuinfo
	grep -E '^(vendor_id|cpu family|model|stepping|microcode|CPU (impl|part|var|rev).*|isa|cpu|uarch)\s*:' \
		/proc/cpuinfo | sort | uniq -c
	grep -ho 'hypervisor' /proc/cpuinfo | head -n 1
	cat /proc/cmdline
	"$perf" version
	"$dir/alt_period_abi" 2>&1 | grep -E ': (windows|refuses)$'
	head -v -n 1 /sys/bus/event_source/devices/*/cpus /sys/bus/event_source/devices/*/caps/* \
		/proc/sys/kernel/perf_* /proc/sys/kernel/nmi_watchdog 2> /dev/null | grep -v '^$'
	dmesg | grep -iE 'pmu|perf event|performance' | tail -n 20
}

selftests()
{
	local test

	for test in $tests; do
		part "selftest $test"
		timeout 900 "$dir/$test" 2>&1 | grep -vE '^# +(RUN|OK) '
		echo "exit status ${PIPESTATUS[0]}"
	done
}

lengths()
{
	local function once twice cpi length

	part 'windows of functions that are known'
	echo 'late: cycles counted in a window, less its length. added: cycles of a window, less those'
	echo 'that its instructions take in an ordinary run (what an interrupt adds).'
	for function in nops convert int_div; do
		read -r -a once <<< "$(counts "$calls" "$function")"
		read -r -a twice <<< "$(counts $((2 * calls)) "$function")"
		cpi=$(awk -v c="$((twice[0] - once[0]))" -v i="$((twice[1] - once[1]))" \
			'BEGIN { printf "%.4f", i ? c / i : 0 }')
		printf '%s: %s cycles per instruction, %s instructions per call (%s and the loop)\n' \
			"$function" "$cpi" "$(((twice[1] - once[1]) / calls))" \
			"$(awk -v f="$function" '$1 == f { print $2 }' "$work/list")"
		echo 'length  windows  split late min   median      90%      max added 10%  median      90%'
		for length in 100 300 1000 3000; do
			record "period=199700,alt-period=$length" "$calls" "$function"
			windows "$length" "$cpi"
		done
	done
}

throttling()
{
	local terms

	part 'throttling'
	for terms in period=300 period=1000 period=999700,alt-period=300 \
			period=9700,alt-period=300,alt-count=99; do
		record "$terms" "$calls" nops
		"$perf" report -i "$work/data" --stats 2> /dev/null |
		awk -v terms="$terms" '
			/SAMPLE events/ && !samples	{ samples = $3 }
			/ THROTTLE events/ && !throttled { throttled = $3 }
			/LOST events/ && !lost		{ lost = $3 }
			END { printf "%-40s %8d samples, throttled %6d, lost %6d\n", terms, samples,
				throttled, lost }'
	done
}

functions()
{
	part 'functions, with the windows that perf chooses'
	"$perf" fnstat record -o "$work/data" -- "$perf" test -w fnmix $((calls / 5)) 2>&1
	"$perf" fnstat report -i "$work/data" 2> /dev/null | grep -v '^$'
}

costs()
{
	part 'cost of a sample, a context switch, an event'
	"$dir/sample_cost" 2>&1
}

if command -v taskset > /dev/null; then
	taskset -p -c "$cpu" $$ > /dev/null || fail "cannot run on CPU $cpu"
fi
{
	machine
	costs
	lengths
	throttling
	functions
	selftests
	part 'what the kernel said'
	dmesg | grep -iE 'perf: interrupt took|WARNING|BUG|NMI|RIP:|Call [Tt]race' | tail -n 40
	part 'end'
} > "$out" 2> >(grep -v '^$' >&2)
echo "$out"
