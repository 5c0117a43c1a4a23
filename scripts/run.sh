#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: run.sh MACHINE LIST RESULTS [SECONDS]
#
# Build what LIST needs and run it on MACHINE (a machines/MACHINE.conf),
# with the results in the directory RESULTS. There is a Python on the machine if
# LIST has a line "# needs python".
#
# On the machine, perf is in the path and the selftests are in /selftests, both
# always from the tree with the series: an old kernel has to cope with them.
. "$(dirname "$0")/common.sh"

[ $# -ge 3 ] || die "usage: run.sh MACHINE LIST RESULTS [SECONDS]"
name=$1 list=$2 results=$3 seconds=${4:-900}
[ -f "$TOP/machines/$name.conf" ] || die "no machine '$name' in machines"
. "$TOP/machines/$name.conf"

"$TOP/scripts/series/import.sh" linux
case $tree in
base)	source=$BASE
	base_worktree ;;
*)	source=$LINUX ;;
esac

kernel=$("$TOP/scripts/build/kernel.sh" "$arch" "$source" "${fragment:-}")
selftests=$("$TOP/scripts/build/selftests.sh" "$arch")
files=("$selftests=selftests" "$TOP/machines/guest=guest")
if [ -n "${with_perf:-}" ]; then
	files+=("$("$TOP/scripts/build/perf.sh" "$arch")=usr/bin/perf"
		"$LINUX/tools/perf/tests/shell=perf-tests")
fi
if grep -q '^# needs python' "$list"; then
	sysroot=$("$TOP/scripts/build/sysroot.sh" "$arch")
	files+=("$sysroot/usr/bin/python3.11=usr/bin/python3"
		"$sysroot/usr/lib/python3.11=usr/lib/python3.11" "$sysroot/lib=lib")
fi
initramfs=$BUILD/initramfs/$(basename "$results").cpio.gz
"$TOP/scripts/build/initramfs.sh" "$arch" "$list" "$initramfs" "${files[@]}"
"$TOP/scripts/boot.sh" "$name" "$kernel" "$initramfs" "$results" "$seconds"
