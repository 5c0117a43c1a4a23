#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: boot-tree.sh MACHINE TREE RESULTS PROGRAM...
#
# Build the kernel and the selftests of TREE, and run on MACHINE the KUnit tests of periods, if
# TREE has them, and these PROGRAMs of the perf_events selftests. Prints the summary.
. "$(dirname "$0")/../make/lib.sh"
. "$TOP/scripts/run/machines.sh"

[ $# -ge 3 ] || usage
load_machine "$1"
name=$1 tree=$2 results=$3
shift 3
use_arch "$arch"
rm -rf "$results"
emulator=$("$TOP/scripts/make/qemu.sh" "${qemu#qemu-system-}")
kernel=$("$TOP/scripts/make/kernel.sh" "$arch" "$tree" "$fragment")
selftests=$("$TOP/scripts/make/selftests.sh" "$arch" "$tree")
list=$BUILD/lists/${results##*/}.tests initramfs=$BUILD/initramfs/${results##*/}.cpio
mkdir -p "${list%/*}"
{
	[ ! -e "$tree/kernel/events/period_test.c" ] || echo 'kunit 60 /guest/kunit.sh perf_period'
	for program; do
		echo "$program 600 /guest/kselftest.sh -o 300 $program"
	done
} > "$list"
"$TOP/scripts/make/initramfs.sh" "$arch" "$list" "$environment" "$initramfs" \
	"$selftests=selftests" "$TOP/tests/guest=guest"
step "running ${tree##*/} on $name" "$TOP/scripts/run/boot.sh" "$name" "$emulator" "$kernel" \
	"$initramfs" "$results" 1800
"$TOP/scripts/run/summary.sh" "$list=$results"
