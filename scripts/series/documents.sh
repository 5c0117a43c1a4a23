#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: documents.sh [check]
#
# Write the tables of docs/ that are made from covers, or with "check" fail where one is not what
# they say. Such a table is behind a line "<!-- scripts/series/states.sh WHAT -->".
. "$(dirname "$0")/../common.sh"

[[ $# = 0 || $* = check ]] || usage
new=$(mktemp) status=0
trap 'rm -f "$new"' EXIT
for file in "$TOP"/docs/*.md; do
	awk -v top="$TOP" '
		function table(	line, status)
		{
			while ((status = (command | getline line)) > 0)
				print line
			if (close(command) != 0)
				exit failed = 1
		}
		skip && /^\|/	{ next }
		skip && NF	{ skip = 0 }
				{ print }
		/^<!-- scripts\/series\/states\.sh [a-z]+ -->$/ {
			command = top "/" $2 " " $3
			print ""
			table()
			skip = 1
			getline
		}
		END		{ exit failed }' "$file" > "$new"
	! cmp -s "$new" "$file" || continue
	if [ $# = 1 ]; then
		echo "${file#"$TOP/"} is not what the covers say: 'make export'" >&2
		status=1
	else
		cp "$new" "$file"
	fi
done
exit $status
