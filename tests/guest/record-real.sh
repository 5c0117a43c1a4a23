#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: record-real.sh PROGRAM truth PROFILE
#        record-real.sh PROGRAM old|events|precise|without|new INTERRUPTS [PROFILE]
#        record-real.sh PROGRAM events-cpi|precise-cpi|without-cpi|new-cpi INTERRUPTS [PROFILE]
# needs: perf profile real
#
# Run PROGRAM, of scripts/make/real.sh, and print what scripts/bench/real.py judges: lines
# "# NAME VALUE", and the report as JSON, compressed, in base64.
#
# truth: count its events, and let QEMU note what each address takes (PROFILE, see
# pmu-profile in patches/qemu). This comes first, the others need its counts. They record
# with about so many INTERRUPTS:
#
# old: windows of 300 cycles for the function where they begin and end; longer ones,
# and slopes, where an interrupt adds much (REFILL=, the cycles)
# events: a quarter of them each of cycles, instructions, and the misses of branches and
# the cache, without windows
# precise: the same, precise where the CPU can
# without: perf fnstat record -w 0
# new: perf fnstat record
# MODE-cpi: the same for CPI alone, with more samples of its events
set -euo pipefail
program=$1 mode=$2 nr=$3 profile=${4:-}
recording=/tmp/real.data counts=/tmp/$program.counts
sampled=(cycles:cycles insns:instructions bm:branch-misses cm:cache-misses)
metrics=()
case $mode in
*-cpi)	metrics=(-M cpi) sampled=("${sampled[@]:0:2}") ;;
esac

command=()
while read -r name _ row; do
	[ "$name" != "$program" ] || eval "command=($row)"
done < /real/programs.table
[ ${#command[@]} -gt 0 ] || { echo "no program $program"; exit 1; }
command[0]=/real/bin/${command[0]}
cd /real
# To QEMU each iteration of REP MOVSB is an instruction, to CPUs all of them are one.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=0x40000000
GLIBC_TUNABLES+=:glibc.cpu.x86_rep_stosb_threshold=0x40000000

# Run perf record or the like, and print how long.
timed()
{
	local begin

	if [ -n "$profile" ]; then
		mkfifo /tmp/profile
		perf stat -a -e "$(printf 'r%02xfe' "$profile"):u" cat /tmp/profile &> /dev/null &
		exec 3> /tmp/profile
		echo "# profile $profile"
	fi
	begin=$EPOCHREALTIME
	"$@" -- "${command[@]}" > /dev/null 2> /tmp/said || { cat /tmp/said; exit 1; }
	echo "$begin $EPOCHREALTIME" | awk '{ printf "# seconds %.4f\n", $2 - $1 }'
	if [ -n "$profile" ]; then
		exec 3>&-
		wait $!
		rm /tmp/profile
	fi
}

if [ "$mode" = truth ]; then
	event=$(printf 'r%02xfe' "$nr")
	timed perf stat -x, -o "$counts" -e "$event:u,instructions:u" \
		-e branch-misses:u,cache-misses:u,task-clock
	awk -F, 'BEGIN { split("cycles,insns,bm,cm,ms", name) }
		$1 ~ /^[0-9]/ { print "# " name[++n] " " $1 }' "$counts" | tee "$counts.sums"
	exit
fi

# The period of an event that has NR samples.
period()		# EVENT NR
{
	awk -v event="$1" -v nr="$2" '
		$2 == event { p = int($3 / nr + 0.5); print (p > 1 ? p : 1) }' "$counts.sums"
}

rm -f "$recording"
case $mode in
old)
	cycles=$(period cycles $((nr / 2)))
	window=300 jitter=200
	if [ "${REFILL:-0}" -gt 6 ]; then
		window=$(((REFILL / 100 + 1) * 800))
		[ "$window" -ge 1000 ] || window=1000
		jitter=$window
	fi
	terms=period=$cycles,alt-period=$window
	terms+=,period-jitter=$((cycles / 10)),alt-period-jitter=$jitter
	timed perf record -o "$recording" \
		-e "{cycles/$terms/,instructions,branch-misses,cache-misses}:uS"
	report=(perf report --fnstat --sort sym --attribution same) ;;
events*|precise*)
	events=() modifier=u
	[[ $mode != precise* ]] || modifier=uP
	for event in "${sampled[@]}"; do
		events+=(-e "${event#*:}/period=$(period "${event%:*}" $((nr / ${#sampled[@]})))/$modifier")
	done
	timed perf record -o "$recording" "${events[@]}"
	report=(perf report --sort sym) ;;
without*|new*)
	# Two interrupts for so many cycles, but one with branch stacks in place of windows, or
	# without either. Where instructions are sampled, one for so many. Of the misses, and of
	# the references to the cache that the default has as well, about one for so many cycles.
	options=("${metrics[@]}")
	[[ $mode != without* ]] || options+=(-w 0)
	perf fnstat record -o "$recording" "${options[@]}" true > /dev/null 2>&1
	recorded=$(perf evlist -v -i "$recording")
	rounds=1 insns=0
	! grep -q alt_sample_period <<< "$recorded" || rounds=2
	! grep -q '^[^ ]*instructions.*sample_freq' <<< "$recorded" || insns=1
	others=$(grep -c '^[^ ]*\(branch\|cache\)-.*sample_freq' <<< "$recorded" || true)
	cycles=$(awk -v nr="$nr" -v samples=$((rounds + others)) -v insns="$insns" '
		{ count[$2] = $3 }
		END { printf "%d", (samples * count["cycles"] + insns * count["insns"]) / nr }' "$counts.sums")
	timed perf fnstat record -o "$recording" -c "$cycles" "${options[@]}"
	sed 's/^/# said /' /tmp/said
	report=(perf fnstat report "${metrics[@]}") ;;
*)
	echo "no mode $mode"; exit 1 ;;
esac
echo "# bytes $(stat -c %s "$recording")"
perf report -i "$recording" --stats 2> /dev/null |
	awk '/ (SAMPLE|LOST|THROTTLE) events:/ && !seen[$1]++ { print "# " tolower($1) " " $3 }'
perf report -i "$recording" --header-only | sed -n 's/^# sample duration : *\([0-9.]*\) ms/# duration \1/p'
"${report[@]}" -i "$recording" --no-demangle --json > /tmp/real.json 2> /tmp/said ||
	{ cat /tmp/said; exit 1; }
echo '# json'
gzip -c /tmp/real.json | base64
