#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: demo.sh [MACHINE...]
#
# Record a workload on each MACHINE (default: x86_64-stalls, where functions are slow for
# different reasons), and print the metrics of its functions.
. "$(dirname "$0")/machines.sh"

machines=("$@")
[ $# -gt 0 ] || machines=(x86_64-stalls)
for name in "${machines[@]}"; do
	require_machine "$name"
done
for name in "${machines[@]}"; do
	results=$RESULTS/demo-$name
	RERUN=yes "$TOP/scripts/run/run-list.sh" "$name" demo "$results"
	cat "$results/record.tap" "$results/report.tap"
	"$TOP/scripts/run/summary.sh" "$BUILD/lists/demo-$name.tests=$results"
done
