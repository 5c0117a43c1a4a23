#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: test.sh [MACHINE...]
#
# Run the tests of these machines, by default what CI runs, and print a summary.
# TEST="NAME[.FILTER] ..." runs these tests only, see select_tests(). Results
# are in build/results/MACHINE. "host" is this machine, see its list.
. "$(dirname "$0")/machines.sh"

machines=("$@")
# What takes longest comes first.
[ $# -gt 0 ] || machines=(arm64-up x86_64-intel x86_64-lbr x86_64-stalls host arm64 x86_64
	arm64-hybrid arm64-base x86_64-uncore arm64-idle)
read -ra tests <<< "${TEST:-}"

# What is wrong with the arguments is said before anything is built.
for name in "${machines[@]}"; do
	require_machine "$name"
	has_list "$name" || die "the machine '$name' has no list of tests"
done
# The selftests are those of the tree: the base has some as well.
"$TOP/scripts/series/import.sh" linux
chosen=() entries=()
for name in "${machines[@]}"; do
	list=$(expand_list "$name")
	if [ ${#tests[@]} -gt 0 ]; then
		if ! selected=$(select_tests "$list" "${tests[@]}"); then
			# Take those of the default machines that have it.
			[ $# = 0 ] || die "on $name: $selected"
			continue
		fi
		list=$selected
	fi
	list_needs <<< "$list" > /dev/null
	chosen+=("$name")
	entries+=("$list")
done
[ ${#chosen[@]} -gt 0 ] || die "none of ${machines[*]} has the test '${tests[*]}'"
lists=$BUILD/lists
mkdir -p "$lists"
for i in "${!chosen[@]}"; do
	echo "${entries[i]}" > "$lists/${chosen[i]}.tests"
done

# First build, on all CPUs, then boot one machine on each: it is one thread.
artifacts=() jobs=() items=()
for name in "${chosen[@]}"; do
	items+=("$lists/$name.tests=$RESULTS/$name")
	rm -rf "${RESULTS:?}/$name"
	mkdir -p "$RESULTS/$name"
	if [ "$name" = host ]; then
		while read -r test _; do
			jobs+=("host.sh $test")
		done < "$lists/host.tests"
	# What cannot be built did not run, says the summary.
	elif paths=$("$TOP/scripts/make/machine.sh" "$name" "$lists/$name.tests" "$name"); then
		jobs+=("boot.sh $name $(paste -sd ' ' <<< "$paths") $RESULTS/$name 1800")
	fi
done

run_job()			# SCRIPT ARGUMENT...
{
	. "$TOP/scripts/common.sh"
	local script=$1 what=$2
	shift

	[ "$script" != host.sh ] || what="host $what"
	step "test $what" "$TOP/scripts/run/$script" "$@"
}
export -f run_job
export TOP
[ ${#jobs[@]} = 0 ] || printf '%s\n' "${jobs[@]}" |
	xargs -P "$JOBS" -I {} bash -c 'run_job {}' || true

for name in "${chosen[@]}"; do
	[ ! -e "$RESULTS/$name/kernel.status" ] || echo 'kernel 0 dmesg' >> "$lists/$name.tests"
done

# A machine that is there to be compared with another one that ran as well.
for name in "${chosen[@]}"; do
	other=$(load_machine "$name" && echo "$compare")
	if [ -n "$other" ] && [ ${#tests[@]} = 0 ] && [[ " ${chosen[*]} " == *" $other "* ]]; then
		echo "compare 60 scripts/bench/compare.sh $name $other" >> "$lists/$name.tests"
		status=0
		"$TOP/scripts/bench/compare.sh" "$name" "$other" > "$RESULTS/$name/compare.tap" || status=$?
		echo $status > "$RESULTS/$name/compare.status"
	fi
done
"$TOP/scripts/run/summary.sh" "${items[@]}"
