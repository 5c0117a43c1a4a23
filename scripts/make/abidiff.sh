#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: abidiff.sh
#
# Print the path of an abidiff that the kernel's check-uapi.sh takes: that of this
# machine, or if that is too old, as in Debian 12, the one of abidiff.pin, unpacked
# once with the libraries that it needs. Nothing is installed.
. "$(dirname "$0")/lib.sh"

pin=$TOP/scripts/make/abidiff.pin
directory() { echo "$CACHE/abidiff/$(sha256sum "$pin" | cut -c-16)"; }

unpack()
{
	local tmp=$CACHE/abidiff/tmp deb

	rm -rf "$tmp"
	fetch_pinned "$pin" trixie amd64 "$tmp/debs" abigail-tools libabigail5 libbinutils libbpf1 \
		libbz2-1.0 libc6 libctf0 libdw1t64 libelf1t64 libgcc-s1 liblzma5 libsframe1 \
		libstdc++6 libxml2 libxxhash0 libzstd1 zlib1g
	for deb in "$tmp"/debs/*.deb; do
		dpkg -x "$deb" "$tmp"
	done
	rm -r "$tmp/debs"
	# Its libraries need a libc, and a loader, of that Debian.
	cat > "$tmp/abidiff" <<-'END'
		#!/bin/sh
		dir=$(dirname "$(readlink -f "$0")")
		lib=$dir/usr/lib/x86_64-linux-gnu
		exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$dir/usr/bin/abidiff" "$@"
	END
	chmod 755 "$tmp/abidiff"
	"$tmp/abidiff" --version
	rm -rf "$(directory)"
	mv "$tmp" "$(directory)"
}

lock_cache abidiff
# The version of the first one whose meaning of types is what check-uapi.sh expects.
if [ -z "${UPDATE_PINS:-}" ] && command -v abidiff > /dev/null &&
		printf '2.4\n%s\n' "$(abidiff --version | cut -d ' ' -f 2)" | sort -VC; then
	command -v abidiff
	exit
fi
if [ -n "${UPDATE_PINS:-}" ] || [ ! -x "$(directory)/abidiff" ]; then
	need dpkg
	step abidiff unpack
fi
echo "$(directory)/abidiff"
