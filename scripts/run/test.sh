#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: test.sh [MACHINE[@KERNEL][:LIST]...]
#
# Run the tests of these machines, by default what CI runs, and print a summary.
# TEST="NAME[.FILTER] ..." runs these tests only, see select_tests(). LIST is
# another one than that of the machine and kernel. Results are in build/results/MACHINE[@KERNEL], or
# build/results/LIST-MACHINE[@KERNEL], and all together in build/results/junit.xml. "host" is this
# machine, see its list, and "results" as well, when the others have left theirs.
. "$(dirname "$0")/machines.sh"

items=("$@")
[ $# -gt 0 ] || mapfile -t items < <(ci_items)
read -ra tests <<< "${TEST:-}"

# What is wrong with the arguments is said before anything is built.
check_syntax
[[ ${TEST:-} =~ ^[A-Za-z0-9_.\ -]*$ ]] || die "TEST='$TEST' has what no name of a test has"
mapfile -t items < <(printf '%s\n' "${items[@]}" | awk '!seen[$0]++')
for item in "${items[@]}"; do
	require_machine "${item%%:*}"
	check_machine "${item%%:*}"
	has_list "${item#*:}" ||
		die "there is no list of tests '${item#*:}': MACHINE:LIST runs another one"
done
# The selftests are those of the tree: the base has some as well.
"$TOP/scripts/series/import.sh" linux
names=() chosen=() entries=()
for item in "${items[@]}"; do
	list=$(expand_list "${item#*:}")
	if [ ${#tests[@]} -gt 0 ]; then
		if ! selected=$(select_tests "$list" "${tests[@]}"); then
			# Take those of the default machines that have it.
			[ $# = 0 ] || die "on $item: $selected"
			continue
		fi
		list=$selected
	fi
	list_needs <<< "$list" > /dev/null
	names+=("$(results_name "$item")")
	chosen+=("${item%%:*}")
	entries+=("$list")
done
[ ${#chosen[@]} -gt 0 ] || die "none of ${items[*]} has the test '${tests[*]}'"
lists=$BUILD/lists
mkdir -p "$lists"
rm -f "$RESULTS/junit.xml"
for i in "${!names[@]}"; do
	echo "${entries[i]}" > "$lists/${names[i]}.tests"
done

# First build, on all CPUs, then boot one machine on each: it is one thread. What judges the
# results of machines comes behind them.
jobs=() last=() summary=()
for i in "${!names[@]}"; do
	name=${names[i]} machine=${chosen[i]}
	summary+=("$lists/$name.tests=$RESULTS/$name")
	# Held until this ends: another one would remove the results.
	exec {lock}> "$lists/$name.lock"
	flock --nonblock "$lock" || die "another 'make test' of $name runs in this checkout"
	rm -rf "${RESULTS:?}/$name"
	mkdir -p "$RESULTS/$name"
	case $machine in
	host|results)
		while read -r test _; do
			job="run_job 'test $machine $test' host.sh $machine $test"
			if [ "$machine" = host ]; then jobs+=("$job"); else last+=("$job"); fi
		done < "$lists/$name.tests" ;;
	# What cannot be built did not run, says the summary.
	*)	if paths=$("$TOP/scripts/make/machine.sh" "$machine" "$lists/$name.tests" "$name"); then
			job="run_job 'test $name' boot.sh $machine $(paste -sd ' ' <<< "$paths")"
			jobs+=("$(profile_of "$lists/$name.tests") $job $RESULTS/$name 1800")
		fi ;;
	esac
done

run_job()			# NAME SCRIPT ARGUMENT...
{
	. "$TOP/scripts/common.sh"
	step "$1" "$TOP/scripts/run/$2" "${@:3}"
}
export -f run_job
export TOP

run_jobs()			# JOB...
{
	[ $# = 0 ] || printf '%s\0' "$@" | xargs -0 -P "$JOBS" -n 1 bash -c || true
}
run_jobs "${jobs[@]}"
run_jobs "${last[@]}"

# Compare a machine with the kernel of the base, if its list has what can be compared, with that of
# the series, if that ran as well.
for i in "${!names[@]}"; do
	name=${names[i]} machine=${chosen[i]%@base} status=0
	if [ "$name" = "$machine@base" ] && [[ " ${names[*]} " == *" $machine "* ]] &&
			[ ${#tests[@]} = 0 ] && grep -q '^streams ' <<< "${entries[i]}"; then
		echo "compare 60 scripts/bench/compare.sh $machine" >> "$lists/$name.tests"
		"$TOP/scripts/bench/compare.sh" "$machine" > "$RESULTS/$name/compare.tap" || status=$?
		echo $status > "$RESULTS/$name/compare.status"
	fi
done
JUNIT=$RESULTS/junit.xml "$TOP/scripts/run/summary.sh" "${summary[@]}"
