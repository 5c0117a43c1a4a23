#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: test.sh [MACHINE...]
#
# Run the tests of all test machines, or of those given, compare base and
# series, and print a summary. Results are in build/results/MACHINE.
. "$(dirname "$0")/common.sh"

machines=("$@")
[ $# -gt 0 ] || machines=(arm64 arm64-up arm64-base arm64-hybrid x86_64)

lists=()
for name in "${machines[@]}"; do
	list=$TOP/machines/$name.tests results=$BUILD/results/$name
	[ -f "$list" ] || die "no machine '$name' with tests in machines"
	lists+=("$list=$results")
	# What did not run because of this is counted as failed by the summary.
	"$TOP/scripts/run.sh" "$name" "$list" "$results" ||
		warn "$name did not run as it should"
done

status=0
series=$BUILD/results/arm64-up base=$BUILD/results/arm64-base
if [[ " ${machines[*]} " == *' arm64-up '* && " ${machines[*]} " == *' arm64-base '* ]]; then
	echo
	echo 'Time that a sample takes from the program, base and series:'
	paste -d '|' "$base/sample_cost.tap" "$series/sample_cost.tap" |
		awk -F '|' '{ printf "%s   %s\n", $1, substr($2, 45) }'
	echo
	# The samples of ordinary events are the same to the byte.
	if ! grep -q fnmix_ "$base/streams.tap" ||
	   ! diff -q "$base/streams.tap" "$series/streams.tap" > /dev/null; then
		echo 'FAIL  the samples of ordinary events differ between base and series:'
		diff "$base/streams.tap" "$series/streams.tap" | head -n 20
		status=1
	else
		echo "PASS  the $(grep -c fnmix "$series/streams.tap") samples of ordinary" \
			'events are the same on base and series'
	fi
fi
"$TOP/scripts/summary.sh" "${lists[@]}" || status=1
exit $status
