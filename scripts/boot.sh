#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: boot.sh MACHINE KERNEL INITRAMFS RESULTS [SECONDS]
#
# Boot KERNEL with INITRAMFS on the MACHINE that machines/MACHINE.conf
# describes, and collect in the directory RESULTS what its init sends, and the
# console in console.log. Fails if the machine does not get to its end within
# SECONDS (default 900); what the tests said is for summary.sh to judge.
. "$(dirname "$0")/common.sh"

[ $# -ge 4 ] || die "usage: boot.sh MACHINE KERNEL INITRAMFS RESULTS [SECONDS]"
name=$1 kernel=$2 initramfs=$3 dir=$4 seconds=${5:-900}
conf=$TOP/machines/$name.conf
[ -f "$conf" ] || die "no machine '$name' (there is no $conf)"
. "$conf"
# "series": our own, see patches/qemu.
if [ "$qemu" = series ]; then
	qemu=$("$TOP/scripts/build/qemu.sh")
	machine+=("${QEMU_FIRMWARE[@]}")
fi

rm -rf "$dir"
mkdir -p "$dir"
stream=$dir/results.tar
say "booting $name"
status=0
timeout --foreground "$seconds" \
	"$qemu" "${machine[@]}" -display none -monitor none -no-reboot \
	-serial "file:$dir/console.log" "${result_port[@]//RESULTS/$stream}" \
	-kernel "$kernel" -initrd "$initramfs" \
	-append "$cmdline printk.time=1 panic=-1 panic_on_warn=1 oops=panic ${CMDLINE:-}" \
	< /dev/null > "$dir/qemu.log" 2>&1 || status=$?

# One archive after the other, as each test sent its own.
if [ -s "$stream" ]; then
	tar -xif "$stream" -C "$dir" 2> /dev/null || true
fi
rm -f "$stream"
if [ ! -e "$dir/end" ]; then
	tail -n 20 "$dir/console.log" "$dir/qemu.log" >&2
	[ $status -ne 124 ] || die "$name did not end within $seconds s"
	die "$name stopped unexpectedly (QEMU's exit status $status, see $dir)"
fi
# The time stamp tells a message of the kernel from one of a test.
if grep -nE '\[ *[0-9]+\.[0-9]{6}\] .*(BUG|WARNING|KASAN|UBSAN|Oops|INFO: (task|rcu)).*:' \
		"$dir/console.log" >&2; then
	die "the kernel of $name complained, see $dir/console.log"
fi
