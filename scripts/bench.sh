#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: bench.sh MACHINE LIST RESULTS [SECONDS]
#
# Build what LIST needs and run it on MACHINE (a scripts/qemu/MACHINE.conf),
# with the results in the directory RESULTS. There is a Python on the machine if
# LIST has a line "# needs python".
#
# On the machine, perf is in the path and the selftests are in /selftests, both
# always from the tree with the series: an old kernel has to cope with them.
. "$(dirname "$0")/common.sh"

[ $# -ge 3 ] || die "usage: bench.sh MACHINE LIST RESULTS [SECONDS]"
name=$1 list=$2 results=$3 seconds=${4:-900}
[ -f "$TOP/scripts/qemu/$name.conf" ] || die "no machine '$name' in scripts/qemu"
. "$TOP/scripts/qemu/$name.conf"

"$TOP/scripts/import.sh"
case $tree in
base)	source=$BASE
	base_worktree ;;
*)	source=$LINUX ;;
esac

kernel=$("$TOP/scripts/build-kernel.sh" "$arch" "$source" "${fragment:-}")
selftests=$("$TOP/scripts/build-selftests.sh" "$arch")
files=("$selftests=selftests" "$TOP/scripts/qemu/guest=guest")
if [ -n "${with_perf:-}" ]; then
	files+=("$("$TOP/scripts/build-perf.sh" "$arch")=usr/bin/perf"
		"$LINUX/tools/perf/tests/shell=perf-tests")
fi
if grep -q '^# needs python' "$list"; then
	sysroot=$("$TOP/scripts/sysroot.sh" "$arch")
	files+=("$sysroot/usr/bin/python3.11=usr/bin/python3"
		"$sysroot/usr/lib/python3.11=usr/lib/python3.11" "$sysroot/lib=lib")
fi
initramfs=$BUILD/initramfs/$(basename "$results").cpio.gz
"$TOP/scripts/build-initramfs.sh" "$arch" "$list" "$initramfs" "${files[@]}"
"$TOP/scripts/run-qemu.sh" "$name" "$kernel" "$initramfs" "$results" "$seconds"
