#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: kunit.sh SUITE
# needs: nothing
#
# Print the results of a KUnit suite, which the kernel has run while it booted.
mount -t debugfs debugfs /sys/kernel/debug 2> /dev/null
results=/sys/kernel/debug/kunit/$1/results
[ -e "$results" ] || { echo "the kernel has not run $1"; exit 1; }
# The cases of the suite are its subtests.
sed -n 's/^    //p' "$results"
# A suite that failed has "not ok" there.
grep '^ok ' "$results" > /dev/null
