#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: list-packages.sh
#
# Print the packages of Debian that "make test" installs where they are missing, a line each: what
# its scripts say with need(). The Containerfile asks.
. "$(dirname "$0")/../common.sh"

cd "$TOP"
mapfile -t scripts < <(
	printf '%s\n' scripts/{make,run,series}/*.sh html/*.sh
	sed -n '/^\[host\]/,/^$/p; /^\[results\]/,/^$/p' tests/tests.table |
		grep -oE '(scripts|tests|html)/[a-z_/-]+\.sh')
# A call goes to the end of the line, or of the first one without a backslash at its end.
calls=$(sed -E ':more; /\\$/ { N; s/\\\n//; b more }' "${scripts[@]}" |
	grep -E '^[[:space:]]*need ' | sed 's/>&2$//')

need() { printf '%s\n' "${@%%=*}"; }
for conf in machines/arch/*.conf; do
	. "$conf"
	eval "$calls"
done | sort -u
