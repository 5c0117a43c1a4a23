#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: qemu.sh TARGET
#
# Build the QEMU of build/qemu (made from patches/qemu if it is not there) for
# TARGET, small: software emulation of the one machine that is used here, and print
# the path of the binary. What was built from the same source before is taken from
# the cache.
. "$(dirname "$0")/lib.sh"

[ $# = 1 ] || usage
target=$1 script=$(realpath "$0")
need ccache gcc libc6-dev=/usr/include/stdio.h libglib2.0-dev=/usr/include/glib-2.0/glib.h make \
	ninja-build=ninja patch pkg-config python3 zlib1g-dev=/usr/include/zlib.h \
	python3-venv='/usr/lib*/python3*/ensurepip/__init__.py'
case $target in
aarch64)
	need libfdt-dev=/usr/include/libfdt.h
	options=(--enable-fdt=system)
	config=(CONFIG_ARM_VIRT=y CONFIG_VIRTIO_SERIAL=y) ;;
x86_64)
	# The firmware is that of Debian's QEMU.
	need qemu-system-data=/usr/share/qemu seabios=/usr/share/seabios/bios-256k.bin
	options=(--disable-fdt)
	config=(CONFIG_I440FX=y CONFIG_ISA_DEBUG=y CONFIG_VIRTIO_PCI=y CONFIG_VIRTIO_BLK=y) ;;
*)
	die "no target '$target': aarch64, x86_64" ;;
esac
"$TOP/scripts/series/import.sh" qemu

version=$(. /etc/os-release && echo "$ID-${VERSION_ID:-}")-$(uname -m)
key=$(tree_key "$QEMU")
binary=$CACHE/qemu/$(cat <(echo "$key $version") "$0" | sha256sum | cut -c-16)/qemu-system-$target
out=$QEMU/out-$target
devices=$QEMU/configs/devices/$target-softmmu/bench.mak

build()
{
	local meson exclude

	meson=$("$TOP/scripts/make/meson.sh")
	export PATH=$meson/usr/bin:$PATH PYTHONPATH=$meson/usr/lib/python3/dist-packages
	printf '%s\n' "${config[@]}" > "$devices"
	exclude=$(git -C "$QEMU" rev-parse --path-format=absolute --git-path info/exclude)
	grep -qxF "${devices#"$QEMU"}" "$exclude" || echo "${devices#"$QEMU"}" >> "$exclude"
	# Options that have changed since are no part of it.
	[ "$out/build.ninja" -nt "$script" ] || rm -rf "$out"
	mkdir -p "$out"
	cd "$out"
	# A compiler that takes half the time for what no emulated instruction executes.
	cat > cc <<'END'
#!/bin/sh
case "$*" in
*" -o "*qapi*|*" -o "*qmp*|*" -o libblock"*|*" -o libcrypto"*|*" -o libio"*|*" -o libmigration"*|*" -o trace/"*)
	set -- "$@" -O1 ;;
esac
exec ccache gcc "$@"
END
	chmod +x cc
	# In a git tree configure sets werror in that file, from which meson takes it, in place of
	# the option, when an input has changed.
	if [ ! -e build.ninja ]; then
		../configure --cc="$PWD/cc" --python=/usr/bin/python3 \
			--target-list="$target-softmmu" --without-default-features --enable-tcg \
			--without-default-devices --with-devices-"$target"=bench "${options[@]}" \
			--disable-download --disable-docs --disable-tools --disable-guest-agent \
			--disable-pixman --disable-install-blobs --disable-debug-info --disable-werror
		sed -i '/^werror/d' config-meson.cross
	fi
	ninja -j"$JOBS" "qemu-system-$target"
	mkdir -p "$(dirname "$binary")"
	strip -o "$binary.tmp" "qemu-system-$target"
	mv "$binary.tmp" "$binary"
}

lock_cache "qemu-$target"
[ -x "$binary" ] || step "QEMU for $target" build
echo "$binary"
