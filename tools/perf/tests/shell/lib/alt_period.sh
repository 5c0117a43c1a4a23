# SPDX-License-Identifier: GPL-2.0
#
# For tests of alternating sample periods.

# shellcheck disable=SC2034 # used by the tests
workload=(perf test -w noploop 0.1)

# periods FILE: print "PERIOD FLAG" for each sample, with the flag W for the end
# of a window, or else -. FILE can be - for the standard input.
periods() {
	perf script -i "$1" -F misc,period,event 2> /dev/null |
		awk '{ print $2, $1 ~ /W/ ? "W" : "-" }'
}
