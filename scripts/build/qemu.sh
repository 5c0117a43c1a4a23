#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: qemu.sh
#
# Build the QEMU of build/qemu (made from patches/qemu if it is not there), small:
# x86_64, the machine "pc", software emulation, and print the path of the binary.
# What was built from the same source before is taken from the cache.
. "$(dirname "$0")/lib.sh"

# The firmware is that of Debian's QEMU.
need ccache gcc libc6-dev=/usr/include/stdio.h libglib2.0-dev=/usr/include/glib-2.0/glib.h make \
	ninja-build=ninja patch pkg-config python3 qemu-system-data=/usr/share/qemu \
	seabios=/usr/share/seabios/bios-256k.bin zlib1g-dev=/usr/include/zlib.h
"$TOP/scripts/series/import.sh" qemu

version=$(. /etc/os-release && echo "$ID-${VERSION_ID:-}")-$(uname -m)
key=$(tree_key "$QEMU")
binary=$CACHE/qemu/$(cat <(echo "$key $version") "$0" | sha256sum | cut -c-16)/qemu-system-x86_64
out=$QEMU/out-x86_64
devices=$QEMU/configs/devices/x86_64-softmmu/bench.mak

build()
{
	local meson

	meson=$("$TOP/scripts/build/meson.sh")
	export PATH=$meson/usr/bin:$PATH PYTHONPATH=$meson/usr/lib/python3/dist-packages
	printf '%s\n' CONFIG_I440FX=y CONFIG_ISA_DEBUG=y > "$devices"
	grep -qxF "${devices#"$QEMU"}" "$QEMU/.git/info/exclude" ||
		echo "${devices#"$QEMU"}" >> "$QEMU/.git/info/exclude"
	mkdir -p "$out"
	cd "$out"
	[ -e build.ninja ] || ../configure --cc='ccache gcc' --python=/usr/bin/python3 \
		--target-list=x86_64-softmmu --without-default-features --enable-tcg \
		--without-default-devices --with-devices-x86_64=bench --disable-fdt \
		--disable-download --disable-docs --disable-tools --disable-guest-agent \
		--disable-pixman --disable-install-blobs
	ninja -j"$JOBS" qemu-system-x86_64
	mkdir -p "$(dirname "$binary")"
	strip -o "$binary.tmp" qemu-system-x86_64
	mv "$binary.tmp" "$binary"
}

[ -x "$binary" ] || step QEMU build
echo "$binary"
