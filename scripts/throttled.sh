#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: throttled.sh BASE SERIES
#
# Run the test of throttled groups on two machines, whose kernels differ, and print
# for each group the samples of its events and how it ended. What fails on BASE is no
# failure here.
. "$(dirname "$0")/machines.sh"

[ $# = 2 ] || usage
status=0
for name; do
	out=$RESULTS/throttled-$name
	"$TOP/scripts/run.sh" "$name" "$TOP/machines/throttled.tests" "$out" >&2 || true
	tr -d '\r' < "$out/group_throttle.tap" | awk '
		/#  RUN  / { name = $(NF - 1); said = "" }
		/samples, throttled|counted .* ns/ { sub(/^[# ]*/, ""); said = said (said ? "; " : "") $0 }
		/^# (not )?ok [0-9]+ / {
			result = /^# not ok/ ? "FAIL" : /# SKIP/ ? "SKIP" : "ok"
			printf "%-40s %-5s %s\n", name, result, said
		}' | sort > "$out/table"
	[ -s "$out/table" ] || { warn "$name has no results"; status=1; }
done
printf '%s\n' "A group of two events, on $1 (above) and $2 (below): samples of each"
sort -s -k 1,1 "$RESULTS/throttled-$1/table" "$RESULTS/throttled-$2/table"
! grep -q ' FAIL ' "$RESULTS/throttled-$2/table" || status=1
exit $status
