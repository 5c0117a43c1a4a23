#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: summary.sh LIST=RESULTS...
#
# Print a line for each test of each LIST from the NAME.tap and NAME.status
# files in RESULTS, the reasons of skipped tests, what failed, and at the end
# "N passed, N failed, N skipped". Fails if a test failed, did not run, did not
# end, or skipped all it has.
#
# A test that speaks KTAP counts with its top-level results; any other is one
# test, passed with exit status 0 and skipped with 4 (kselftest) or 2 (perf).
. "$(dirname "$0")/common.sh"

passed=0 failed=0 skipped=0

for item; do
	list=${item%%=*} results=${item#*=}
	while read -r name _; do
		case $name in
		''|'#'*) continue ;;
		esac
		tap=$results/$name.tap
		status=$(cat "$results/$name.status" 2> /dev/null || echo none)
		ok=0 bad=0 skip=0 note=
		if [ "$status" = none ]; then
			bad=1 note='did not run'
		elif grep -qE '^1\.\.[0-9]+' "$tap"; then
			ok=$(grep -cE '^ok [0-9]+' "$tap" || true)
			skip=$(grep -cE '^ok [0-9]+.*# SKIP' "$tap" || true)
			bad=$(grep -cE '^not ok [0-9]+' "$tap" || true)
			planned=$(sed -nE 's/^1\.\.([0-9]+).*/\1/p' "$tap" | head -n 1)
			if [ $((ok + bad)) -ne "$planned" ]; then
				note="has $((ok + bad)) of $planned results"
				lost=$((planned - ok - bad))
				bad=$((bad + (lost > 0 ? lost : 1)))
			elif [ "$status" != 0 ] && [ "$bad" = 0 ] && [ "$ok" != "$skip" ]; then
				bad=1 note="exit status $status"
			fi
			ok=$((ok - skip))
		else
			case $status in
			0)	ok=1 ;;
			2|4)	skip=1 ;;
			124)	bad=1 note='took too long' ;;
			*)	bad=1 note="exit status $status" ;;
			esac
		fi
		# A list is what its machine can run: a whole test that skips hides
		# something.
		if [ $((ok + bad)) = 0 ]; then
			bad=1 note='nothing was tested'
		fi
		verdict=PASS
		[ "$bad" = 0 ] || verdict=FAIL
		printf '%s  %-10s %-22s %3d passed, %d failed, %d skipped%s\n' \
			"$verdict" "$(basename "$results")" "$name" \
			"$ok" "$bad" "$skip" "${note:+ ($note)}"
		if [ "$bad" != 0 ] && [ -f "$tap" ]; then
			# With what each of them said.
			awk '/^(not )?ok / { if ($1 == "not") { print said $0; bad = 1 } said = ""; next }
			     /^ *(#|not ok )/ { said = said $0 "\n" }
			     END { exit !bad }' "$tap" || tail -n 10 "$tap"
		fi
		passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	done < "$list"
	sed -nE 's/^ok [0-9]+.*# SKIP *//p' "$results"/*.tap | sort | uniq -c |
		sed -E "s|^ *([0-9]+) |      $(basename "$results"): skipped \\1: |"
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
