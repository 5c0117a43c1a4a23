#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: summary.sh LIST=RESULTS...
#
# Print a line for each test of each LIST from the NAME.tap and NAME.status
# files in RESULTS, what failed, the reasons of skipped tests, and at the end
# "N passed, N failed, N skipped". Fails if a test failed, did not run, did not
# end, or skipped all it has. One during which the machine crashed or hung says so, and
# those behind it did not run. Complaints of the kernel that belong to no test are those of a
# test "kernel", which comes first. With JUNIT=FILE, each result is written to FILE as well.
#
# The results can be those of an earlier run, see boot.sh.
#
# A test that speaks KTAP counts with its results, see summary.awk; any other is
# one test, passed with exit status 0 and skipped with 4 (kselftest) or 2 (perf).
# A failure that is expected (XFAIL) is neither passed nor failed.
. "$(dirname "$0")/../common.sh"

[ $# -gt 0 ] || usage
passed=0 failed=0 skipped=0
cases=$(mktemp)
trap 'rm -f "$cases"' EXIT

# Print the tests of a list: what the kernel complained of comes first.
tests_of()			# LIST RESULTS
{
	[ ! -e "$2/kernel.status" ] || echo kernel
	awk '!/^#/ && NF { print $1 }' "$1"
}

for item; do
	list=${item%%=*} results=${item#*=} machine=$(basename "${item#*=}")
	skips=''
	while read -r name; do
		tap=$results/$name.tap
		status=$(cat "$results/$name.status" 2> /dev/null || true)
		ok=0 bad=0 skip=0 xfail=0 note='' said=''
		[ ! -f "$tap" ] || [[ $status =~ ^(crashed|hung)$ ]] ||
			said=$(tr -d '\r' < "$tap" | awk -v status="$status" -f "$TOP/scripts/run/summary.awk")
		if [ -z "$status" ]; then
			bad=1 note='did not run'
		elif [ -n "$said" ]; then
			read -r ok bad skip xfail <<< "$said"
			note=$(sed -n 's/^note //p' <<< "$said")
			skips+=$(sed -n 's/^skip //p' <<< "$said")$'\n'
		else
			case $status in
			0)	ok=1 ;;
			2|4)	skip=1 ;;
			124)	bad=1 note='took too long' ;;
			crashed|hung) bad=1 note=$status ;;
			*)	bad=1 note="exit status $status" ;;
			esac
		fi
		# A list is what its machine can run: a whole test that skips hides
		# something.
		if [ $((ok + bad + xfail)) = 0 ]; then
			bad=1 note='nothing was tested'
		fi
		word=passed
		[ "$ok" != 0 ] || word=skipped
		[ "$bad" = 0 ] || word=failed
		{
			echo "suite $machine.$name"
			# What speaks no KTAP is one test, and so is what is wrong with one as a whole.
			if ! grep -a '^case ' <<< "$said" || [ -n "$note" ] ||
					{ [ "$bad" != 0 ] && ! grep -qa '^case failed ' <<< "$said"; }; then
				echo "case $word $name${note:+: $note}"
			fi
		} >> "$cases"
		verdict=PASS
		[ "$bad" = 0 ] || verdict=FAIL
		[ "$xfail" = 0 ] || note="$xfail failed as expected${note:+, $note}"
		[ ! -e "$results/$name.repeats" ] || note+="${note:+, }as on $(cat "$results/$name.repeats")"
		printf '%s  %-13s %-18s %3d passed, %d failed, %d skipped%s\n' \
			"$verdict" "$machine" "$name" "$ok" "$bad" "$skip" "${note:+ ($note)}"
		if [ "$bad" != 0 ] && [ -f "$tap" ]; then
			if grep -qa '^fail ' <<< "$said"; then
				text=$(sed -n 's/^fail //p' <<< "$said")
			elif [[ $status =~ ^(crashed|hung)$ || $name = kernel ]]; then
				text=$(cat "$tap")
			else
				# What perf says of a failed part is not always at the end.
				text=$({ grep -B 2 -E '\[Failed|FAILED' "$tap" || cat "$tap"; } | tail -n 15)
			fi
			echo "$text"
			echo "text ${text//$'\n'/$'\n'text }" >> "$cases"
		fi
		passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	done < <(tests_of "$list" "$results")
	grep . <<< "$skips" | sort | uniq -c |
		sed -E "s|^ *([0-9]+) |      $machine: skipped \\1: |" || true
	[ ! -e "$results/repeats" ] ||
		echo "      $machine: nothing has changed since it ran on $(cat "$results/repeats")"
done

[ -z "${JUNIT:-}" ] ||
	{ iconv -c -f UTF-8 -t UTF-8 "$cases" || true; } | awk -f "$TOP/scripts/run/junit.awk" > "$JUNIT"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
