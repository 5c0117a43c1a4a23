#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: initramfs.sh ARCH LIST OUTPUT [FILE=PLACE...]
#
# Write to OUTPUT an initramfs for a test machine of ARCH: busybox and bash,
# machines/init, the LIST of what it runs, and each FILE (or directory) at PLACE.
. "$(dirname "$0")/../common.sh"

[ $# -ge 3 ] || die "usage: initramfs.sh ARCH LIST OUTPUT [FILE=PLACE...]"
arch=$1 list=$2 output=$3
shift 3

sysroot=$("$TOP/scripts/build/sysroot.sh" "$arch")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin"
cp "$sysroot/bin/busybox" "$root/bin/busybox"
cp "$sysroot/bin/bash-static" "$root/bin/bash"
install -m 755 "$TOP/machines/init" "$root/init"
cp "$list" "$root/list"
for item; do
	mkdir -p "$root/$(dirname "${item#*=}")"
	cp -r "${item%%=*}" "$root/${item#*=}"
done
mkdir -p "$(dirname "$output")"
find "$root" -exec touch -h -d @0 {} +
(cd "$root" && find . -print0 | LC_ALL=C sort -z |
	cpio --quiet -o0 -H newc -R 0:0 --reproducible) | gzip -1 -n > "$output"
