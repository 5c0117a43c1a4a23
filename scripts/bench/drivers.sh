#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: drivers.sh
#
# Print which drivers have run the selftests of sampling events, on which machine,
# with what result, and what they refuse: from the results of the last run of each
# machine that has driver= (and refuses=). Fails if one has no results.
. "$(dirname "$0")/../run/machines.sh"

# The programs that a driver can fail.
programs='alt_period|alt_period_task|alt_period_freq|alt_period_bpf|group_throttle|sample_period'
missing=0

printf '%-34s %-14s %6s %6s %7s  %s\n' driver 'ran on' passed failed skipped refuses
for name in $(machine_names); do
	row=$(
		load_machine "$name"
		[ -n "$driver" ] || exit 0
		list=$BUILD/lists/drivers-$name.tests
		mkdir -p "${list%/*}"
		expanded=$(expand_list "$name") || exit 1
		grep -E "^($programs) " <<< "$expanded" > "$list" || exit 0
		sums=$("$TOP/scripts/run/summary.sh" "$list=$RESULTS/$name" 2> /dev/null | tail -n 1) || true
		if [ ! -d "$RESULTS/$name" ]; then
			sums='not run yet'
			printf '%-34s %-14s %s\n' "$driver" "$name" "$sums"
			exit 1
		fi
		read -r passed _ failed _ skipped _ <<< "$sums"
		printf '%-34s %-14s %6s %6s %7s  %s\n' "$driver" "$name" "$passed" "$failed" \
			"$skipped" "$refuses"
	) || missing=1
	[ -z "$row" ] || echo "$row"
done
exit $missing
