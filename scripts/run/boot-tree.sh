#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: boot-tree.sh MACHINE TREE RESULTS TEST...
#
# Build the kernel, the selftests and perf of TREE, and run on MACHINE the KUnit tests of periods,
# if TREE has them, and each TEST: a program of the perf_events selftests, "perf SCRIPT.sh" of
# tools/perf/tests/shell, or "perf NAME", a unit test. Prints the summary.
. "$(dirname "$0")/machines.sh"

[ $# -ge 3 ] || usage
name=$1 tree=$2 results=$3
shift 3
rm -rf "$results"
list=$BUILD/lists/${results##*/}.tree
mkdir -p "${list%/*}"
{
	[ ! -e "$tree/kernel/events/period_test.c" ] || echo 'kunit 60 /guest/kunit.sh perf_period'
	for test; do
		script=${test#perf }
		case $test in
		'perf '*.sh)	echo "${script%.sh} 600 bash /perf-tests/$script # needs: perf python" ;;
		'perf '*)	echo "unit_${script//[^[:alnum:]]/_} 300 /guest/perf-test.sh '$script'" ;;
		*)		echo "$test 600 /guest/kselftest.sh -o 300 $test" ;;
		esac
	done
} > "$list"
SOURCE=$tree "$TOP/scripts/run/run-list.sh" "$name" "$list" "$results" 1800
"$TOP/scripts/run/summary.sh" "$list=$results"
