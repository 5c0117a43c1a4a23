#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: measure-real.sh [PROGRAM...]
#
# Record real programs, those of tests/real/programs.table or these, on emulated machines and
# judge what perf says of each function, at the same numbers of interrupts: with samples of each
# event as the CPU has them and precise, with perf fnstat without windows and with. What is true
# is counted by QEMU.
# See tests/guest/record-real.sh and scripts/bench/real.py. Each program has a machine of its own,
# whose results are in build/results/real-PROGRAM-MACHINE.
#
# MACHINES=, MODES= and INTERRUPTS= are those to run instead of all. KTAP.
. "$(dirname "$0")/../run/machines.sh"

read -ra machines <<< "${MACHINES:-x86_64-late x86_64-cold x86_64-zen4-late x86_64-zen4-cold}"
read -ra modes <<< "${MODES:-events precise without new events-cpi precise-cpi without-cpi new-cpi}"
read -ra interrupts <<< "${INTERRUPTS:-3000 10000 30000}"
choose_rows "$TOP/tests/real/programs.table" "$@"
programs=("${names[@]}")
for machine in "${machines[@]}"; do
	require_machine "$machine"
done

real=$("$TOP/scripts/make/real.sh")
list=$(mktemp) directories=()
trap 'rm -f "$list"' EXIT
for program in "${programs[@]}"; do
	run="600 /guest/unthrottled.sh /guest/record-real.sh $program" profiles=1 profile=
	{
		echo "truth $run truth 1"
		for mode in "${modes[@]}"; do
			for nr in "${interrupts[@]}"; do
				# Threads share a cache: what is true differs with each run.
				[[ $program != *-mt ]] || profile=$((++profiles))
				echo "$mode-$nr $run $mode $nr $profile"
			done
		done
	} > "$list"
	for machine in "${machines[@]}"; do
		directory=$RESULTS/$(results_name "$machine:real-$program")
		directories+=("$directory")
		# What is missing of it fails below.
		"$TOP/scripts/run/run-list.sh" "$machine" "$list" "$directory" 3600 || true
	done
done
python3 "$TOP/scripts/bench/real.py" "$real/bin" "${directories[@]}"
