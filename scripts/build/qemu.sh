#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: qemu.sh
#
# Build the QEMU of build/qemu (made from patches/qemu if it is not there), small:
# x86_64, the machine "pc", software emulation, and print the path of the binary.
# What was built from the same source before is taken from the cache.
. "$(dirname "$0")/../common.sh"

# The firmware is that of Debian's QEMU.
install_packages ccache gcc libc6-dev libglib2.0-dev make ninja-build patch pkg-config \
	python3 qemu-system-data seabios zlib1g-dev
"$TOP/scripts/series/import.sh" qemu

# Debian 12's meson is too old.
meson()
{
	local dir=$CACHE/meson
	local apt=("$TOP/scripts/apt-private.sh" meson bookworm-backports
		"$(dpkg --print-architecture)")

	if [ ! -d "$dir" ]; then
		say 'fetching meson'
		rm -rf "$dir.tmp"
		mkdir -p "$dir.tmp"
		(cd "$dir.tmp" && "${apt[@]}" apt-get -qq update >&2 &&
			"${apt[@]}" apt-get -qq download meson >&2)
		dpkg -x "$dir.tmp"/meson_*.deb "$dir.tmp"
		mv "$dir.tmp" "$dir"
	fi
	export PATH=$dir/usr/bin:$PATH PYTHONPATH=$dir/usr/lib/python3/dist-packages
}

# Files that are not committed count as well.
export GIT_INDEX_FILE=$QEMU/.git/index.build
git -C "$QEMU" read-tree HEAD
git -C "$QEMU" add -A
content=$(git -C "$QEMU" write-tree)
rm -f "$GIT_INDEX_FILE"
unset GIT_INDEX_FILE
version=$(. /etc/os-release && echo "$ID-$VERSION_ID")-$(dpkg --print-architecture)
binary=$CACHE/qemu/$(cat <(echo "$content $version") "$0" | sha256sum | cut -c-16)/qemu-system-x86_64
if [ -x "$binary" ]; then
	echo "$binary"
	exit
fi

meson
out=$QEMU/out-x86_64
devices=$QEMU/configs/devices/x86_64-softmmu/bench.mak
say "building QEMU in $out"
printf '%s\n' CONFIG_I440FX=y CONFIG_ISA_DEBUG=y > "$devices"
grep -qxF "${devices#"$QEMU"}" "$QEMU/.git/info/exclude" ||
	echo "${devices#"$QEMU"}" >> "$QEMU/.git/info/exclude"
mkdir -p "$out"
cd "$out"
[ -e build.ninja ] || ../configure --cc='ccache gcc' --python=/usr/bin/python3 \
	--target-list=x86_64-softmmu --without-default-features --enable-tcg \
	--without-default-devices --with-devices-x86_64=bench --disable-fdt \
	--disable-download --disable-docs --disable-tools --disable-guest-agent \
	--disable-pixman --disable-install-blobs > configure.log ||
	die "configure failed, see $out/configure.log and $out/config.log"
ninja -j"$JOBS" qemu-system-x86_64 >&2
mkdir -p "$(dirname "$binary")"
strip -o "$binary.tmp" qemu-system-x86_64
mv "$binary.tmp" "$binary"
echo "$binary"
