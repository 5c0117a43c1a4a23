#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: sparse.sh
#
# Print the path of a sparse that checks this kernel: that of Debian 12 is too old
# for it, and the kernel's makefiles skip the check then. Builds Debian's current
# one, once.
. "$(dirname "$0")/../common.sh"

dir=$CACHE/sparse
if [ ! -x "$dir/sparse" ]; then
	say 'building sparse'
	export APT_TYPE=deb-src
	apt=("$TOP/scripts/apt-private.sh" sparse sid "$(dpkg --print-architecture)")
	rm -rf "$dir.tmp"
	mkdir -p "$dir.tmp"
	cd "$dir.tmp"
	"${apt[@]}" apt-get -qq update >&2
	"${apt[@]}" apt-get -qq source --download-only sparse >&2
	tar -xf sparse_*.orig.tar.* --strip-components=1
	make -s -j"$JOBS" sparse CC=gcc HAVE_SQLITE=no HAVE_LLVM=no HAVE_GTK=no \
		HAVE_LIBXML=no >&2
	rm -rf "$dir"
	mv "$dir.tmp" "$dir"
fi
echo "$dir/sparse"
