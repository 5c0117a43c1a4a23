#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: kselftest.sh [-o SECONDS] [-r FILTER]... PROGRAM [ARGUMENT...]
# needs: nothing
#
# Run a program of the perf_events selftests with kselftest's own runner, which
# ends it after the time in "settings", or after SECONDS. With FILTER it is only
# the tests that have this in their TAP names (FIXTURE.VARIANT.TEST), as one or
# several whole parts, and ARGUMENTs do not count.
set -o pipefail

options=() filters=()
while getopts o:r: option; do
	case $option in
	o)	options+=(-o "$OPTARG") ;;
	r)	filters+=("$OPTARG") ;;
	*)	exit 1 ;;
	esac
done
shift $((OPTIND - 1))
program=$1
shift
cd /selftests || exit

# Print the TAP names of all tests. The list that the harness prints has columns
# of fixtures, their variants, and their tests.
tap_names()
{
	# Its exit status is that of a skipped test.
	{ "perf_events/$program" -l 2>&1 || true; } | awk '
		# The value of a column, which longer values before it move.
		function column(from, width,	value) {
			value = substr($0, from + moved)
			if (value ~ /^ / || value == "")
				return ""
			sub(/ .*/, "", value)
			if (length(value) > width)
				moved += length(value) - width
			return value
		}
		function flush(	v, t) {
			for (v = 1; v <= variants || v == 1; v++)
				for (t = 1; t <= tests; t++)
					print fixture "." (variants ? variant[v] "." : "") test[t]
			variants = tests = 0
		}
		NR == 1		{ if (!/^# FIXTURE/) exit; next }
		/^----/		{ flush(); next }
		{
			moved = 0
			if (value = column(1, 20))
				fixture = value
			if (value = column(22, 25))
				variant[++variants] = value
			if (value = column(48, 99))
				test[++tests] = value
		}
		END		{ flush() }'
}

if [ ${#filters[@]} != 0 ]; then
	mapfile -t all < <(tap_names)
	set --
	for filter in "${filters[@]}"; do
		before=$#
		for name in "${all[@]}"; do
			[[ .$name. != *".$filter."* ]] || set -- "$@" -r "$name"
		done
		[ $# != $before ] || { echo "no test '$filter' in $program"; exit 1; }
	done
fi
# The runner's way to pass them.
[ $# = 0 ] || export "KSELFTEST_$(tr 'a-z-' 'A-Z_' <<< "$program")_ARGS=$*"
# It opens its output anew for each line: a file would lose what was there.
./run_kselftest.sh "${options[@]}" -t "perf_events:$program" 2>&1 | cat
