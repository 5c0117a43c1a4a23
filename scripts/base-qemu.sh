#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: base-qemu.sh
#
# Make the source of QEMU that patches/qemu/base.pin names available as one commit
# and print "REPOSITORY COMMIT", as base.sh does for the kernel.
. "$(dirname "$0")/old-series.sh"
. "$TOP/patches/qemu/base.pin"

dir=$CACHE/qemu-base
dsc=$dir/qemu_${QEMU_VERSION#*:}.dsc
repository=${dsc%.dsc}.git

fetch()
{
	local apt=("$TOP/scripts/apt-private.sh" qemu "$QEMU_SUITE"
		"$(dpkg --print-architecture)")

	say "fetching the source of QEMU $QEMU_VERSION"
	export APT_TYPE=deb-src
	"${apt[@]}" apt-get -qq update >&2
	# Compares the files with the checksums in the .dsc.
	(cd "$dir" && "${apt[@]}" apt-get -qq source --download-only \
		"qemu=$QEMU_VERSION" >&2) ||
		die "$QEMU_SUITE has no QEMU $QEMU_VERSION: change patches/qemu/base.pin"
}

if [ ! -d "$repository" ]; then
	install_packages dpkg-dev patch
	mkdir -p "$dir"
	[ -e "$dsc" ] || fetch
	echo "$QEMU_SHA256  $dsc" | sha256sum --check --status ||
		die "$dsc has not the sha256 of patches/qemu/base.pin"
	say "unpacking QEMU $QEMU_VERSION (half a minute)"
	tmp=$repository.tmp
	rm -rf "$tmp"
	mkdir "$tmp"
	dpkg-source --no-check --skip-patches -x "$dsc" "$tmp/src" > /dev/null 2>&1
	# What the build needs of Debian's patches: two files are not in its source.
	for patch in skip-unpack-edk2-blobs disable-pycotap; do
		patch -s -p1 -d "$tmp/src" < "$tmp/src/debian/patches/$patch.patch"
	done
	# Of the packaging; and two thirds are firmware that is not built here.
	rm -r "$tmp/src/debian" "$tmp/src/roms"
	snapshot "$tmp/git" "$tmp/src" 'QEMU base'
	mv "$tmp/git" "$repository"
	rm -rf "$tmp"
fi
echo "$repository $(git --git-dir="$repository" rev-parse HEAD)"
