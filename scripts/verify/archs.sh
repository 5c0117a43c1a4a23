#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: archs.sh [NAME...]
#
# Compile perf core and the PMU drivers of build/linux for all architectures in
# archs.table, or those given, with W=1 and sparse, and print a line for each:
# "ok" or "failed". A warning that the base does not have is a failure. Installs the compilers that this machine misses.
# SOURCE=DIRECTORY compiles another tree than build/linux. See compare-warnings.sh.
. "$(dirname "$0")/../make/lib.sh"

table=$TOP/scripts/verify/archs.table
choose_rows "$table" "$@"

[ -n "${SOURCE:-}" ] || "$TOP/scripts/series/import.sh" linux
status=0
for name in "${names[@]}"; do
	read -r _ arch packages compiler targets < <(awk -v name="$name" '$1 == name' "$table")
	read -ra targets <<< "$targets"
	config=$(arch_config "$name")
	verdict=$("$TOP/scripts/verify/compare-warnings.sh" "$name" "$arch" "$packages" "$compiler" \
		"$config" "${targets[@]}") || status=1
	: "${verdict:=failed}"
	printf '%-14s %s\n' "$name" "$verdict"
done
exit $status
