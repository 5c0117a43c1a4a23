#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: machine.sh MACHINE LIST NAME [WHAT...]
#
# Build what the test MACHINE needs to run LIST, and WHAT, see list_needs(): its emulator, its
# kernel, and the initramfs build/initramfs/NAME.cpio. Prints their paths, a line each.
#
# On the machine, perf is in the path, the selftests are in /selftests and libperf's
# tests in /libperf, all from the tree with the series: an old kernel has to cope
# with them.
. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/run/machines.sh"

[ $# -ge 3 ] || usage
name=$1 list=$2 output=$BUILD/initramfs/$3.cpio
needs=$(list_needs < "$list")
load_machine "$name"
[ -n "$arch" ] || die "'$name' is no machine to boot"
machine_qemu=$qemu
use_arch "$arch"

if [ "$machine_qemu" = ours ]; then
	qemu=$("$TOP/scripts/make/qemu.sh" "${qemu#qemu-system-}")
else
	need "${qemu_packages[@]}"
fi
"$TOP/scripts/series/import.sh" linux
case $tree in
series)
	source=$LINUX ;;
base)
	source=$BASE
	base_worktree ;;
*)
	source=$BUILD/linux-$tree
	"$TOP/scripts/series/import.sh" "linux-$tree" ;;
esac

kernel=$("$TOP/scripts/make/kernel.sh" "$arch" "$source" "$fragment")
selftests=$("$TOP/scripts/make/selftests.sh" "$arch")
files=("$selftests=selftests" "$TOP/tests/guest=guest"
	"$TOP/scripts/ship/try-on-hardware.sh=guest/try-on-hardware.sh")
for what in $needs "${@:4}"; do
	case $what in
	bpf|libperf)
		directory=$("$TOP/scripts/make/$what.sh" "$arch")
		files+=("$directory=$what") ;;
	perf)
		perf=$("$TOP/scripts/make/perf.sh" "$arch")
		# What the tests read is where they are in tools/perf.
		files+=("$perf=usr/bin/perf" "$LINUX/tools/perf/tests/shell=perf-tests"
			"$LINUX/tools/perf/perf-completion.sh=perf-completion.sh") ;;
	python)
		libraries=$("$TOP/scripts/make/sysroot.sh" "$arch")
		files+=("$libraries/usr/bin/python3.11=usr/bin/python3"
			"$libraries/usr/lib/python3.11=usr/lib/python3.11" "$libraries/lib=lib")
		for file in "$libraries"/usr/lib/*/libsqlite3.so.0*; do
			files+=("$file=${file#"$libraries/"}")
		done
		[ ! -d "$libraries/lib64" ] || files+=("$libraries/lib64=lib64") ;;
	real)
		directory=$("$TOP/scripts/make/real.sh")
		files+=("$directory=real") ;;
	typed)
		files+=("$TOP/README.md=typed/README.md")
		for file in tools/perf/Documentation/{perf-fnstat,perf-report,report-json,hybrid}.txt \
				Documentation/admin-guide/perf/alternating-periods.rst; do
			files+=("$LINUX/$file=typed/${file##*/}")
		done ;;
	nothing) ;;
	*)	die "no WHAT='$what'" ;;
	esac
done
"$TOP/scripts/make/initramfs.sh" "$arch" "$list" "$environment" "$output" "${files[@]}"
printf '%s\n' "$qemu" "$kernel" "$output"
