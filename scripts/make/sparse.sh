#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: sparse.sh
#
# Print the path of a sparse that checks this kernel: that of Debian 12 is too old
# for it, and the kernel's makefiles skip the check then. Builds the one of
# sparse.pin, once.
. "$(dirname "$0")/lib.sh"

pin=$TOP/scripts/make/sparse.pin
directory() { echo "$CACHE/sparse/$(sha256sum "$pin" | cut -c-16)"; }

build()
{
	local tmp=$CACHE/sparse/tmp

	rm -rf "$tmp"
	APT_TYPE=deb-src fetch_pinned "$pin" sid "$(dpkg --print-architecture)" "$tmp" sparse
	tar -xf "$tmp"/sparse_*.orig.tar.* -C "$tmp" --strip-components=1
	make -s -C "$tmp" -j"$JOBS" sparse CC=gcc HAVE_SQLITE=no HAVE_LLVM=no HAVE_GTK=no \
		HAVE_LIBXML=no
	rm -rf "$(directory)"
	mv "$tmp" "$(directory)"
}

lock_cache sparse
if [ -n "${UPDATE_PINS:-}" ] || [ ! -x "$(directory)/sparse" ]; then
	need dpkg-dev=dpkg-source gcc libc6-dev=/usr/include/stdio.h make
	step sparse build
fi
echo "$(directory)/sparse"
