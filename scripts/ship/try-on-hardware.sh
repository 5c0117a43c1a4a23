#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: try-on-hardware.sh [SELFTESTS [PERF]]
#
# Measure on this machine what "perf fnstat record" decides by, run the selftests, and write
# it to one file, to be mailed to linux-perf-users@vger.kernel.org as a reply to the series.
# On a kernel with the series and an otherwise idle machine; some minutes. It needs bash,
# awk, and
#
#   SELFTESTS	the directory with the programs of tools/testing/selftests/perf_events
#		(default: perf_events here, or that of a kernel tree)
#   PERF	perf of the same tree (default: the one in PATH)
#
# It does not need root, but without, selftests skip what they must not do, and limits that
# the kernel lowers stay so. CPU=N runs on another CPU than 0, TESTS="NAME ..." these
# selftests only, and CALLS=N makes the recordings longer or shorter.
set -uo pipefail

tests=${TESTS-alt_period_abi sample_period alt_period alt_period_task alt_period_freq
	alt_period_bpf group_throttle hw_type topdown}
dir=${1:-perf_events} perf=${2:-perf} cpu=${CPU:-0} calls=${CALLS:-100000}
[ -x "$dir/alt_period_abi" ] || dir=tools/testing/selftests/perf_events
name=windows-$(uname -m)-$(date +%Y%m%d-%H%M%S).txt
sysctl=/proc/sys/kernel period=199700
export PAGER=cat LC_ALL=C

fail() { echo "try-on-hardware.sh: $*" >&2; exit 1; }
part() { printf '\n== %s\n' "$1"; echo "$1" >&2; shift; [ $# = 0 ] || printf '%s\n' "$@"; }

# The kernel lowers the rate when interrupts take long, the selftests change both. A rate
# can only be set while there is a limit of time.
restore()
{
	[ "$(cat $sysctl/perf_event_max_sample_rate) $(cat $sysctl/perf_cpu_time_max_percent)" = \
		"$rate $percent" ] && return
	{
		echo 25 > $sysctl/perf_cpu_time_max_percent
		echo "$rate" > $sysctl/perf_event_max_sample_rate
		echo "$percent" > $sysctl/perf_cpu_time_max_percent
	} 2> /dev/null
}

[ -x "$dir/alt_period_abi" ] || fail "no selftests in ${1:-perf_events}, see the usage"
work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
"$perf" test -w fnmix list > "$work/list" 2>&1 || fail "$perf is not the perf of the series"
[ -e $sysctl/perf_event_max_sample_rate ] || fail 'this kernel has no perf events'
read -r rate < $sysctl/perf_event_max_sample_rate
read -r percent < $sysctl/perf_cpu_time_max_percent
case $cpu in ''|*[!0-9]*) fail "CPU='$cpu' is no number" ;; esac
[ "$calls" -gt 0 ] 2> /dev/null || fail "CALLS='$calls' is no number above 0"
taskset -p -c "$cpu" $$ > /dev/null 2>&1 || fail "cannot run on CPU $cpu with taskset"

# On a machine with several core PMUs, take the one of this CPU.
pmu='' others=''
for file in /sys/bus/event_source/devices/*/cpus; do
	[ -e "$file" ] || continue
	device=${file%/cpus} device=${device##*/}
	for range in $(tr , ' ' < "$file"); do
		if [ "$cpu" -ge "${range%-*}" ] && [ "$cpu" -le "${range#*-}" ]; then
			pmu=$device others=${others/ $device=*}
			break
		fi
		[[ $others == *" $device="* ]] || others+=" $device=${range%-*}"
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

opens() { "$perf" record -q -o "$work/data" -e "$1" true > "$work/said" 2>&1; }

opens page-faults:u || fail "no events for this user: be root, or lower perf_event_paranoid"
# Perf record would take a clock instead.
"$perf" stat -x, -o "$work/stat" -e "{$(event cycles)}:u" true > /dev/null 2>&1
grep -qs '^[0-9]' "$work/stat" || fail "CPU $cpu has no PMU that counts cycles: nothing to try"
opens "$(event cycles period=$period,alt-period=1000)u" ||
	fail "the driver of ${pmu:-the PMU} has no windows, see PERF_PMU_CAP_ALT_PERIOD"
trap 'restore; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# Counted with cycles and instructions, if there are so many counters.
misses='' members=''
for event in branch-misses cache-misses cache-references; do
	opens "{$(event cycles period=$period),$(event instructions)$misses,$(event $event)}:uS" &&
		misses+=,$(event $event) members+=" $event"
done

machine()
{
	part 'machine'
	uname -srvm
	grep -m 1 -E '^(model name|Model)' /proc/cpuinfo
	grep -E '^(vendor_id|cpu family|model|stepping|microcode|CPU (impl|part|var|rev).*|isa|cpu|uarch)\s*:' \
		/proc/cpuinfo | sort | uniq -c
	grep -m 1 -ho 'hypervisor' /proc/cpuinfo
	"$perf" version
	echo "CPU $cpu, PMU ${pmu:-cpu}"
	[ -z "$others" ] || echo "not tried (PMU=CPU):$others: once more with that CPU="
	head -v -n 1 /sys/bus/event_source/devices/*/cpus /sys/bus/event_source/devices/*/caps/* \
		$sysctl/perf_* $sysctl/nmi_watchdog 2> /dev/null | grep -v '^$'
	dmesg 2> /dev/null | grep -E 'Performance Events|PMU driver|(hw|core)perfevents' | tail -n 20
}

counts()		# CALLS FUNCTION: cycles and instructions
{
	"$perf" stat -x, -o "$work/stat" -e "{$(event cycles),$(event instructions)}:u" \
		"$perf" test -w fnmix "$1" "$2" 8 > /dev/null
	awk -F, '$1 ~ /^[0-9]/ { printf "%s ", $1 }' "$work/stat"
}

ordinary()		# FUNCTION: set the cycles of a run, and those of an instruction
{
	local once twice

	read -r -a once <<< "$(counts "$calls" "$1")"
	read -r -a twice <<< "$(counts $((2 * calls)) "$1")"
	cycles=$((twice[0] - once[0]))
	cpi=$(awk -v c="$cycles" -v i="$((twice[1] - once[1]))" 'BEGIN { printf "%.4f", i ? c / i : 0 }')
}

# Record windows and print a line of what they counted. It says how many there are of those
# that there should be. The event is printed before its terms, the members after it.
windows()		# FUNCTION LENGTH MODIFIER
{
	if ! timeout --foreground 100 "$perf" record -q -o "$work/data" \
		-e "{$(event cycles "period=$period,alt-period=$2"),$(event instructions)$misses}:$3S" \
		"$perf" test -w fnmix "$calls" "$1" 8 > "$work/said" 2>&1; then
		printf '%-8s %-2s %6d refused\n' "$1" "$3" "$2"
		return
	fi
	"$perf" script -i "$work/data" -F misc,event,period 2> /dev/null |
	awk -v what="$(printf '%-8s %-2s %6d' "$1" "$3" "$2")" -v length_="$2" -v cpi="$cpi" \
		-v expected=$((cycles / (period + $2))) -v last="$last" -v mode="$3" \
		-v members="$members" -v means="$work/means" '
		function quantile(part) { return late[place[int((n - 1) * part) + 1]] }
		# Set place to where the values are in order.
		function sort(value, i, j) {
			for (i = 1; i <= n; i++) {
				for (j = i - 1; j >= 1 && value[place[j]] > value[i]; j--)
					place[j + 1] = place[j]
				place[j + 1] = i
			}
		}
		BEGIN		{ nr = split(members, member, " ") }
		$3 ~ /cycles/	{
			split_ = $1 ~ /s/
			window = $1 ~ /W/ && !split_ && n < 4000
			splits += split_
			if (window) {
				late[++n] = $2 - length_
				added[n] = $2
			}
		}
		!window			{ next }
		$3 ~ /instructions/	{ insns[n] = $2; added[n] -= $2 * cpi }
		{
			for (i = 1; i <= nr; i++)
				sum[i] += $3 ~ member[i] ? $2 : 0
		}
		END {
			if (!n) {
				print what "       0  silent"
				exit
			}
			sort(late)
			printf "%s %7d %6d%% %5d %6d %6d %6d %6d", what, n, \
				expected ? 100 * n / expected : 0, splits, quantile(0), quantile(.5), \
				quantile(.9), quantile(1)
			# The middle half: a few windows have something else in them.
			sort(added)
			for (i = int(n / 4) + 1; i <= n - int(n / 4); i++) {
				half++
				cycles += late[place[i]] + length_
				retired += insns[place[i]]
			}
			cycles /= half
			retired /= half
			printf mode == "u" ? " %7.1f" : "       -", cycles - retired * cpi
			# By how much they are longer than the last ones.
			split(last, before, " ")
			if (last && retired > before[2] && cpi)
				printf " %6.2f", (cycles - before[1]) / (retired - before[2]) / cpi
			else
				printf "      -"
			for (i = 1; i <= nr; i++)
				printf " %6.2f", sum[i] / n
			print ""
			print cycles, retired > means
		}'
}

lengths()
{
	local function length last

	part 'windows of functions that are known' \
		'late: cycles of a window, less its length, of the first, median, 90 % and last.' \
		'added: cycles, less those that its instructions take in an ordinary run (middle half).' \
		'rest: CPI of what a window has more than the line above, over the ordinary one.' \
		"The rest of a line: how many$members a window has (these functions: none)." \
		'Decides, in perf fnstat record:' \
		'- added: what is put on the 15 cycles of --window. It measures that itself, too:'
	"$perf" fnstat -v record -o "$work/data" true 2>&1 | grep -o 'interrupts add.*'
	printf '%s\n' '- rest is not 1 from 20 to 60: 15 cycles (WINDOW_LENGTH) are too few.' \
		'- misses of a window, that is of the interrupt: whether they are only to be sampled.' \
		'- shortest window that is there and not late: where it begins to look (MAX_WINDOW).'
	for function in nops convert int_div; do
		ordinary "$function"
		printf '\n%s: %s cycles per instruction\n%s\n' "$function" "$cpi" \
			'function in length windows   there split   late median    90%   last   added   rest'
		last=''
		for length in 20 60 200 600; do
			: > "$work/means"
			windows $function $length u
			last=$(cat "$work/means")
		done
		[ $function = nops ] || continue
		last=''
		for length in 1 2 5 10; do
			windows nops $length u
		done
	done
}

skid()
{
	local line event function modifier

	part 'skid of sampled events' \
		'Samples in the function that has these misses, and at its most frequent address.' \
		'Decides whether perf fnstat record asks for precise samples (P).'
	for line in 'branch-misses mispredict' 'cache-misses cache_miss'; do
		read -r event function <<< "$line"
		for modifier in u uP; do
			"$perf" record -q -o "$work/data" -e "$(event "$event" period=1009)$modifier" \
				"$perf" test -w fnmix $((calls / 50)) > /dev/null 2>&1
			"$perf" script -i "$work/data" -F ip,sym,symoff 2> /dev/null |
			awk -v what="$event:$modifier" -v function_="fnmix_$function" '
				{ all++ }
				$2 ~ function_ { here++; n = ++at[$2]; if (n > most) most = n }
				END {
					printf "%-18s %6d samples", what, all
					if (all)
						printf ", %5.1f %% in %s, %5.1f %% at one address",
							100 * here / all, function_, 100 * most / all
					print ""
				}'
		done
	done
}

selftests()
{
	local test

	for test in $tests; do
		part "selftest $test"
		timeout --foreground 900 "$dir/$test" 2>&1 | grep -vE '^# +(RUN|OK) '
		echo "exit status ${PIPESTATUS[0]}"
		restore
	done
}

{
	machine
	lengths
	skid
	part 'cost of a sample, a context switch, an event' \
		'Decides the default of --count: two samples for each 1999700 cycles.'
	if [ -x "$dir/sample_cost" ]; then "$dir/sample_cost" 2>&1; else echo "no sample_cost here"; fi
	part 'functions, with the windows that perf chooses'
	"$perf" fnstat record -o "$work/data" -- "$perf" test -w fnmix $((calls / 5)) 2>&1
	"$perf" fnstat report -i "$work/data" 2> /dev/null | grep -v '^$'
	restore
	selftests
	part 'what the kernel said'
	dmesg 2> /dev/null | grep -E 'perf: interrupt took|WARNING|BUG|NMI|RIP:|Call [Tt]race' | tail -n 40
	part 'end'
} > "$work/out"
cp "$work/out" "$name" || exit
echo "$PWD/$name: please mail it to linux-perf-users@vger.kernel.org, as a reply to the series"
