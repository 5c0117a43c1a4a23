#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: disk.sh QEMU DISK TRANSCRIPT SECONDS SCRIPT [FILE...] [-- OPTION...]
#
# Boot the DISK, which scripts/ship/debian-disk.sh made, through its boot loader, and
# run SCRIPT there, as root and with the FILEs in its working directory. What it prints
# is in TRANSCRIPT, the console in TRANSCRIPT.console. Fails if the script does, or does
# not come to its end within SECONDS. The OPTIONs are QEMU's.
. "$(dirname "$0")/../common.sh"

[ $# -ge 5 ] || usage
emulator=$1 disk=$2 transcript=$3 seconds=$4 script=$5
shift 5
files=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	files+=("$1")
	shift
done
[ $# = 0 ] || shift

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$script" "$dir/run"
[ ${#files[@]} = 0 ] || cp "${files[@]}" "$dir"
# The second disk is the archive itself.
tar -C "$dir" --exclude=./tar -cf "$dir/tar" .

rm -f "$transcript"
# On a clock of the host, a kernel at times finds that its timers do not work.
timeout --foreground "$seconds" "$emulator" -L /usr/share/seabios -L /usr/share/qemu \
	-machine pc -m 1024 -icount 'shift=0,sleep=off' -seed 1 \
	-nic none -vga none -display none -monitor none -no-reboot \
	-drive "file=$disk,format=raw,if=virtio,cache=unsafe" \
	-drive "file=$dir/tar,format=raw,if=virtio,readonly=on" \
	-serial "file:$transcript.console" -serial "file:$transcript" "$@" \
	< /dev/null 2> "$transcript.qemu" || {
	[ $? = 124 ] || die "QEMU failed: $(cat "$transcript.qemu")"
	die "${script##*/} did not end within $seconds s, see $transcript"
}
tail -n 1 "$transcript" | grep -qx 'status 0' ||
	die "${script##*/} failed on the disk: $(tail -n 5 "$transcript")"
