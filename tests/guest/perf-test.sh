#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: perf-test.sh NAME...
# needs: perf
#
# Run the tests of 'perf test' whose names contain a NAME, which exits with 0
# whatever they find. KTAP.
log=/tmp/perf-test.log
perf test -v "$@" > "$log" 2>&1
sed 's/^/# /' "$log"
echo 'TAP version 13'
sed -nE 's/^ *[0-9.]+: (.*[^ ]) *: (Ok|Skip|FAILED!)(.*)/\2:\1:\3/p' "$log" |
awk -F ':' '
	$1 == "Ok"	{ print "ok " ++nr " " $2 }
	$1 == "Skip"	{ print "ok " ++nr " " $2 " # SKIP" $3 }
	$1 == "FAILED!"	{ print "not ok " ++nr " " $2; failed = 1 }
	END {
		print "1.." nr + 0
		exit !nr || failed
	}'
