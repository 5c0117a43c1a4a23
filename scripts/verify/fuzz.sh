#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: fuzz.sh [MACHINE...]
#
# Throw OPERATIONS random operations (default 5000000) with SEED (default: from
# the time) at the kernel of each MACHINE (default: arm64-debug), and print what
# alt_period_fuzz says. It repeats a run that failed when given the seed of it.
# PLAIN=1 uses no alternating periods, to see whether the base is the culprit.
. "$(dirname "$0")/../run/machines.sh"

operations=${OPERATIONS:-5000000}
seed=${SEED:-$(date +%s)}
machines=("$@")
[ $# -gt 0 ] || machines=(arm64-debug)
[[ $operations =~ ^[1-9][0-9]*$ ]] || die "OPERATIONS='$operations' is not a number"
[[ $seed =~ ^[0-9]+$ ]] || die "SEED='$seed' is not a number"
for name in "${machines[@]}"; do
	require_machine "$name"
done
# A thousand operations in a second is less than half of what was measured.
seconds=$((operations / 1000 + 300))

list=$BUILD/lists/fuzz.tests
mkdir -p "${list%/*}"
echo "fuzz $seconds /selftests/perf_events/alt_period_fuzz -dv${PLAIN:+p} -n $operations -s $seed" > "$list"

lists=()
for name in "${machines[@]}"; do
	results=$RESULTS/fuzz-$name
	say "$operations operations with seed $seed on $name"
	"$TOP/scripts/run/run-list.sh" "$name" "$list" "$results" $((seconds + 120)) ||
		warn "$name did not run as it should"
	grep -v '^# operation' "$results/fuzz.tap" || true
	lists+=("$list=$results")
done
"$TOP/scripts/run/summary.sh" "${lists[@]}"
