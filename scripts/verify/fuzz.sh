#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: fuzz.sh [MACHINE[@KERNEL]...]
#
# Do random things to the kernel of each MACHINE with SEED (default: from the time), and print
# what the programs say that do them. They repeat a run that failed when given its seed.
#
#   alt_period_fuzz	OPERATIONS of them (default 5000000; default machine: arm64@debug).
#			PLAIN=1 uses no alternating periods, to see whether the base is
#			the culprit.
#   count_fuzz		for DURATION seconds of the machine (default 60), as root and
#			then as a user (default machines: arm64-stress@debug x86_64-two@debug
#			x86_64-intel x86_64-zen4)
. "$(dirname "$0")/../run/machines.sh"

operations=${OPERATIONS:-5000000}
duration=${DURATION:-60}
seed=${SEED:-$(date +%s)}
[[ $operations =~ ^[1-9][0-9]*$ ]] || die "OPERATIONS='$operations' is not a number"
[[ $duration =~ ^[1-9][0-9]*$ ]] || die "DURATION='$duration' is not a number"
[[ $seed =~ ^[0-9]+$ ]] || die "SEED='$seed' is not a number"
for name; do
	require_machine "$name"
done

mkdir -p "$BUILD/lists"
lists=()

# Run a list, which has been written, on machines.
fuzz()			# LIST SECONDS MACHINE...
{
	local list=$BUILD/lists/$1.tests what=$1 seconds=$2 name results
	shift 2

	for name; do
		results=$RESULTS/$what-$name
		say "$what with seed $seed on $name"
		"$TOP/scripts/run/run-list.sh" "$name" "$list" "$results" "$seconds" ||
			warn "$name did not run as it should"
		cat "$results"/*.tap | grep -v '^# operation' || true
		lists+=("$list=$results")
	done
}

# A thousand operations in a second is less than half of what was measured.
seconds=$((operations / 1000 + 300))
echo "fuzz $seconds /selftests/perf_events/alt_period_fuzz -dv${PLAIN:+p} -n $operations -s $seed" \
	> "$BUILD/lists/fuzz.tests"
machines=("$@")
[ $# -gt 0 ] || machines=(arm64@debug)
fuzz fuzz $((seconds + 120)) "${machines[@]}"

# A second of a machine with KASAN and lockdep is up to a minute here.
{
	echo "root $((duration + 60)) /selftests/perf_events/count_fuzz $duration $seed 4"
	echo "user $((duration + 60)) /selftests/perf_events/count_fuzz $duration $seed 4 65534"
} > "$BUILD/lists/count-fuzz.tests"
[ $# -gt 0 ] || machines=(arm64-stress@debug x86_64-two@debug x86_64-intel x86_64-zen4)
fuzz count-fuzz $((2 * duration * 60 + 300)) "${machines[@]}"
"$TOP/scripts/run/summary.sh" "${lists[@]}"
