#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: fixes.sh BASE SERIES
#
# Run the list "fixes" of tests/tests.table on two machines, whose kernels differ, and print
# for each what it ended with, and said, on both. What fails on BASE is no failure here.
. "$(dirname "$0")/../run/machines.sh"

[ $# = 2 ] || usage
status=0
for name; do
	out=$RESULTS/fixes-$name
	"$TOP/scripts/run/run-list.sh" "$name" fixes "$out" 1200 >&2 || true
	cat "$out"/*.tap | tr -d '\r' | awk '
		/#  RUN  / { name = $(NF - 1); said = "" }
		/Expected|has no samples/ { next }
		/^#* *# [^ ].*(samples|longest gap|refused|windows|switches|undisturbed)|counted .* ns/ {
			sub(/^[# ]*/, ""); said = said (said ? "; " : "") $0
		}
		/^# (not )?ok [0-9]+ / {
			result = /^# not ok/ ? "FAIL" : /# SKIP/ ? "SKIP" : "ok"
			if (said != "" || result != "SKIP")
				printf "%-40s %-5s %s\n", name, result, said
		}' | sort > "$out/table"
	[ -s "$out/table" ] || { warn "$name has no results"; status=1; }
done
printf '%s\n' "On $1 (above) and $2 (below):"
sort -s -k 1,1 "$RESULTS/fixes-$1/table" "$RESULTS/fixes-$2/table"
! grep -q ' FAIL ' "$RESULTS/fixes-$2/table" || status=1
exit $status
