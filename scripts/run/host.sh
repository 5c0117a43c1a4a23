#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: host.sh TEST
#
# Run a TEST of build/lists/host.tests here, as init does on a test machine:
# build/results/host/TEST.tap and TEST.status.
. "$(dirname "$0")/../common.sh"

[ $# = 1 ] || usage
read -r name seconds command < <(grep "^$1 " "$BUILD/lists/host.tests") || die "no test '$1'"
mkdir -p "$RESULTS/host"
cd "$TOP"
status=0
timeout "$seconds" sh -c "$command" > "$RESULTS/host/$name.tap" 2>&1 || status=$?
echo $status > "$RESULTS/host/$name.status"
