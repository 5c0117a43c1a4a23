#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: topdown.sh BUBBLE [PMU]
# needs: perf
#
# Do TopDown metrics tell of the functions of the workload what the model of the
# emulated CPU gives? For machines with pmu-stalls=on and pmu-bubble=BUBBLE, see
# docs/system/i386/tcg-pmu.rst of our QEMU for the costs. PMU is cpu, cpu_core, or
# cpu_atom, which has events instead of metrics. KTAP.
. "$(dirname "$0")/ktap.sh"
bubble=$1 pmu=${2:-cpu} rounds=200
slots=5 mispredict=16 l1_miss=30 llc_miss=200
events=/sys/bus/event_source/devices/$pmu/events

metrics=(retiring bad-spec fe-bound be-bound)
case $pmu in
cpu_core)	slots=6 ;;
cpu_atom)	mispredict=12 l1_miss=40 llc_miss=240 ;;
esac
[ ! -e "$events/topdown-heavy-ops" ] || metrics+=(heavy-ops br-mispredict fetch-lat mem-bound)
group=
[ "$pmu" = cpu_atom ] || group=$pmu/slots/,
for metric in "${metrics[@]}"; do
	group+=$pmu/topdown-$metric/,
done
# Taken branches, returns, indirect branches, loads that miss L1, and the last level
# cache. An E-core has six counters.
others=$pmu/cycles/,$pmu/instructions/,$pmu/branch-misses/
known=$pmu/event=0xc4,umask=0x20/,$pmu/event=0xc4,umask=0x08/,$pmu/event=0xc4,umask=0x80/
known+=,$pmu/event=0xd1,umask=0x08/,$pmu/event=0xd1,umask=0x20/

# Print what EVENTS count of a function.
counts()		# EVENTS FUNCTION
{
	perf stat -x, -e "$1" -o /tmp/topdown.stat perf test -w fnmix $rounds "$2" 8 > /dev/null
	awk -F, '$1 ~ /^[0-9<]/ { print $1 }' /tmp/topdown.stat
}

plan 7
check()			# FUNCTION HEAVY-OPERATIONS-PER-CALL
{
	local seen truth c

	if [ "$pmu" = cpu_atom ]; then
		# It has six counters: two runs, which the caches know both.
		counts "{$known}:u" "$1" > /dev/null
		mapfile -t seen < <(counts "{${group%,}}:u" "$1")
		mapfile -t c < <(counts "{$others,$known}:u" "$1")
		seen=(0 "${seen[@]}")
	else
		mapfile -t c < <(counts "{${group%,}}:u,{$others,$known}:u" "$1")
		seen=("${c[@]:0:${#metrics[@]} + 1}")
		c=("${c[@]:${#metrics[@]} + 1}")
	fi
	# C: cycles, instructions, mispredicts, taken, returns, indirect, misses.
	truth=($((slots * c[0])) $((slots * c[1])) $((slots * mispredict * c[2]))
		$((slots * bubble * c[3])) 0
		$((slots * rounds * $2)) $((slots * mispredict * c[2]))
		$((slots * bubble * (c[4] + c[5])))
		$((slots * (l1_miss * (c[6] - c[7]) + llc_miss * c[7]))))
	truth[4]=$((truth[0] - truth[1] - truth[2] - truth[3]))
	[ "$pmu" != cpu_atom ] || seen[0]=${truth[0]}
	echo "${seen[*]} ${truth[*]}" | awk -v nr=${#metrics[@]} -v names="${metrics[*]}" \
		-v function_name="$1" '{
			split(names, name, " ")
			bad = 0
			printf "# %s:", function_name
			for (i = 1; i <= nr; i++) {
				got = 100 * $(1 + i) / $1
				want = 100 * $(nr + 2 + i) / $(nr + 2)
				printf " %s %.1f (%.1f)", name[i], got, want
				# A field has 8 bits, and is rounded when the task is switched.
				bad += got - want > 1 || want - got > 1
			}
			printf " %%\n"
			exit bad != 0
		}'
	result $? "$1"
}

check nops 0
check convert 0
check int_div 1500
check fp_div 2000
check barrier 800
check mispredict 0
check cache_miss 0
exit "$failed"
