#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: initramfs.sh ARCH LIST ENVIRONMENT OUTPUT [FILE=PLACE...]
#
# Write to OUTPUT an initramfs for a test machine of ARCH: busybox and bash,
# machines/init, the LIST of what it runs ("NAME SECONDS COMMAND") with the
# variables in ENVIRONMENT ("NAME=VALUE ..."), and each FILE (or directory) at PLACE.
. "$(dirname "$0")/lib.sh"

[ $# -ge 4 ] || usage
arch=$1 list=$2 environment=$3 output=$4
shift 4
need cpio

libraries=$("$TOP/scripts/make/sysroot.sh" "$arch")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
# Not for root alone.
chmod 755 "$root"
mkdir -p "$root/bin"
cp "$libraries/bin/busybox" "$root/bin/busybox"
cp "$libraries/bin/bash-static" "$root/bin/bash"
install -m 755 "$TOP/machines/init" "$root/init"
cp "$list" "$root/list"
echo "${environment:+export $environment}" > "$root/environment"
for item; do
	mkdir -p "$root/$(dirname "${item#*=}")"
	cp -r "${item%%=*}" "$root/${item#*=}"
done
mkdir -p "$(dirname "$output")"
find "$root" -exec touch -h -d @0 {} +
# Not compressed: the machine would be slower at unpacking it than this one.
(cd "$root" && find . -print0 | LC_ALL=C sort -z |
	cpio --quiet -o0 -H newc -R 0:0 --reproducible) > "$output"
