#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: fixes.sh MACHINE
#
# Run the list "fixes" of tests/tests.table on MACHINE@base and MACHINE, and print for each test
# what it ended with, and said, on both. What fails on the base is no failure here.
. "$(dirname "$0")/../run/machines.sh"

[ $# = 1 ] || usage
base=$RESULTS/fixes-$1@base series=$RESULTS/fixes-$1 status=0
for name in "$1@base" "$1"; do
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
printf '%s\n' "On $1@base (above) and $1 (below):"
sort -s -k 1,1 "$base/table" "$series/table"
! grep -q ' FAIL ' "$series/table" || status=1
exit $status
