#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: typed.sh /DOCUMENT...
# needs: perf typed
#
# Type what each block of commands in the documents says, one after the other in one
# directory, and compare the functions of a table behind it: the first two columns are about
# what they are in the document. (A value without a mark can be wrong by a quarter, in both.)
# What is not typed is in the table here with the reason, and nothing else is. KTAP.
. "$(dirname "$0")/ktap.sh"

# The document, the kind, a pattern of the first line of a block or of a line, the reason.
# "stop" is typed, and interrupted after a second.
other='*armv8_*'
[ -e /sys/bus/event_source/devices/cpu_core ] || other='*cpu_[ac]*'
branches=stop
[ -e /sys/bus/event_source/devices/cpu/caps/branches ] || branches=line
table="
perf-fnstat.txt|block|six chosen *|what a simulation printed
README.md|block|Overhead *|what make demo prints
README.md|block|patches/ *|the directories
perf-fnstat.txt|block|-e '{cycles/period=*...}:uS'|an option, and cut
README.md|line|make *|builds or boots, where this repository is
README.md|line|cd build/linux *|needs a kernel tree
README.md|line|perf fnstat report --json *|needs Python, where this repository is
README.md|line|sudo apt *|installs packages: make verify WHAT=deb does
alternating-periods.rst|line|perf record -e '{cycles/PERIOD/*|a period of the table
alternating-periods.rst|line|perf report --stats|for each of these
perf-report.txt|$branches|perf record -e '*branch_type=*|records until it is interrupted, or has no branches
perf-report.txt|stop|perf record -e '*:uS'|records until it is interrupted
report-json.txt|line|*> reports/*|needs another directory: report_json.sh makes one
hybrid.txt|block|PERF_TYPE_HARDWARE*|the layout of the config
hybrid.txt|block|PERF_TYPE_HW_CACHE*|the layout of the config
hybrid.txt|block|type *|what perf stat -vv prints
hybrid.txt|line|$other|of another machine
hybrid.txt|line|*taskset -c 16 *|has fewer CPUs here: hybrid.sh takes those that there are
hybrid.txt|stop|perf stat -e *_*|counts until it is interrupted"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/here"
# The programs of users.
for name in app PROGRAM; do
	printf '#!/bin/sh\nexec perf test -w fnmix 500\n' > "$work/bin/$name"
done
printf '#!/bin/sh\nexec perf "$@"\n' > "$work/bin/perf-windows"
chmod +x "$work"/bin/*
export PATH=$work/bin:/real/bin:$PATH PAGER=cat
cd "$work/here" || exit

# Print the blocks of a document, without its indentation, each behind a line "= NUMBER".
blocks()		# DOCUMENT
{
	awk '
		FILENAME ~ /\.md$/	{ on = /^    / }
		FILENAME !~ /\.md$/ && /^\.\.\.\.$/ { fence = !fence; on = 0; next }
		FILENAME !~ /\.md$/	{ on = fence || (/^  [^ ]/ && (on || last == "")) }
		FILENAME ~ /hybrid\.txt$/	{ on = /^\t/ }
		FILENAME ~ /\.rst$/	{ on = /^    [^ ]/ }
		on && !was		{ print "= " FNR }
		on			{ sub(/^[ \t]+/, ""); if ($0 != "" || fence) print }
					{ was = on; last = $0 }' "$1"
}

# Set reason to what the table has of a line.
listed()		# KIND LINE
{
	local name kind pattern

	while IFS='|' read -r name kind pattern reason; do
		# shellcheck disable=SC2053 # It is a pattern.
		[[ $name == "${document##*/}" && $kind == "$1" && $2 == $pattern ]] || continue
		echo "$name|$kind|$pattern|" >> "$work/used"
		return
	done <<< "$table"
	return 1
}

# Functions of the table in a block whose values are not those that were printed.
differences()		# BLOCK OUTPUT
{
	awk '
		!/\[\.\] /	{ next }
		FNR == NR	{ share[$NF] = $1; value[$NF] = $2; next }
		{ seen[$NF] = $1; seen_value[$NF] = $2 }
		END {
			for (name in share) {
				off = seen[name] - share[name]
				ratio = value[name] + 0 ? seen_value[name] / value[name] : 1
				if (!(name in seen) || off > 3 || off < -3 ||
				    (value[name] seen_value[name] !~ /[?]/ &&
				     (ratio > 1.5 || ratio < 0.67)))
					print name ": " seen[name] " " seen_value[name] \
						", the document has " share[name] " " value[name]
			}
		}' "$1" "$2"
}

# Type the lines of a block, in a document that has prompts those behind one.
block()			# NUMBER FILE
{
	local lines line typed=0 good=0 file='' where=${document##*/}:$1

	mapfile -t lines < "$2"
	if listed block "${lines[0]}"; then
		echo "# $where: not typed: $reason"
		return
	fi
	# This test takes only the commands of these pages.
	case ${document##*/} in
	perf-report.txt|report-json.txt|*.rst)
		[[ ${lines[0]} =~ ^('$ ')?perf' ' ]] || return 0 ;;
	esac
	: > "$work/out"
	for line in "${lines[@]}"; do
		if [[ ${lines[0]} == '$ '* ]]; then
			if [[ $line != '$ '* ]]; then
				[ -z "$file" ] || echo "$line" >> "$file"
				continue
			fi
			line=${line#'$ '} file=
			# A file of the user, which is behind the command.
			if [[ $line == 'cat '* && ! -e ${line#cat } ]]; then
				file=${line#cat }
				continue
			fi
		fi
		case $line in
		'perf '*|'perf-windows '*|'mv '*|'cat '*)
			if listed line "$line"; then
				echo "# $where: '$line' not typed: $reason"
				continue
			fi
			typed=1
			if listed stop "$line"; then
				timeout -s INT 1 bash -c "exec $line" >> "$work/out" 2> "$work/errors" < /dev/null
				# So perf stat ends.
				[ $? = 130 ] && continue
			else
				bash -c "$line" >> "$work/out" 2> "$work/errors" < /dev/null && continue
			fi
			good=1
			echo "# failed: $line"
			sed 's/^/# /' "$work/errors" ;;
		*)
			if listed line "$line"; then
				echo "# $where: '${line%%  *}' not typed: $reason"
			else
				typed=1 good=1
				echo "# not typed for no reason: $line"
			fi ;;
		esac
	done
	[ $typed = 1 ] || return 0
	if [ $good = 0 ]; then
		differences "$2" "$work/out" > "$work/different"
		sed 's/^/# /' "$work/different"
		[ ! -s "$work/different" ] || good=1
	fi
	result $good "$where: ${lines[0]#'$ '}"
}

echo 'TAP version 13'
for document; do
	rm -rf "$work/blocks"
	mkdir "$work/blocks"
	blocks "$document" | awk -v dir="$work/blocks" '
		/^= [0-9]+$/	{ file = sprintf("%s/%06d", dir, $2); next }
				{ print > file }'
	for file in "$work"/blocks/*; do
		block "$((10#${file##*/}))" "$file"
	done
done
while IFS='|' read -r name kind pattern reason; do
	[[ -z $name || " $* " != *"/$name "* ]] || grep -qxF "$name|$kind|$pattern|" "$work/used" ||
		echo "$name|$kind|$pattern|$reason" >> "$work/unused"
done <<< "$table"
[ ! -s "$work/unused" ] || sed 's/^/# /' "$work/unused"
[ ! -s "$work/unused" ]
result $? 'the documents have all that is listed here'
echo "1..$nr"
exit "$failed"
