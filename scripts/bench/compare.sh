#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: compare.sh MACHINE
#
# Compare what MACHINE@base and MACHINE, without the series and with it, have left in
# build/results: the samples of ordinary events are the same to the byte. What a sample costs is
# printed beside each other. KTAP.
. "$(dirname "$0")/../common.sh"

[ $# = 1 ] || usage
base=$RESULTS/$1@base series=$RESULTS/$1

echo 'TAP version 13'
echo '1..1'
if [ -f "$base/sample_cost.tap" ] && [ -f "$series/sample_cost.tap" ]; then
	echo "# What a sample costs, $1@base | $1:"
	paste -d '|' <(grep '^# ' "$base/sample_cost.tap") \
		<(grep '^# ' "$series/sample_cost.tap" | sed 's/^# //') |
		sed 's/|/ | /'
fi
if ! grep -q fnmix_ "$base/streams.tap"; then
	echo "not ok 1 $1@base has no samples to compare"
elif ! cmp -s "$base/streams.tap" "$series/streams.tap"; then
	diff "$base/streams.tap" "$series/streams.tap" | head -n 20 | sed 's/^/# /'
	echo "not ok 1 the samples of ordinary events differ between $1@base and $1"
else
	echo "# $(grep -c fnmix "$series/streams.tap") samples"
	echo "ok 1 the samples of ordinary events are the same on $1@base and $1"
	exit
fi
exit 1
