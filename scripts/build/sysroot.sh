#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: sysroot.sh ARCH
#
# Unpack the Debian packages that the test machine of ARCH needs (libraries to
# link perf with, busybox) below the cache and print the directory. Nothing is
# installed, so that ARCH need not be that of this machine.
. "$(dirname "$0")/../common.sh"

use_arch "${1:?ARCH}"
packages=(busybox-static bash-static)
case $1 in
riscv64)	# not in Debian 12, and its machine has no perf
	suite=trixie ;;
*)	suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	packages+=(libelf-dev libelf1 zlib1g-dev libtraceevent-dev libtraceevent1)
	# A Python for perf test: the interpreter, and the libraries that it loads.
	packages+=(python3.11-minimal libpython3.11-minimal libpython3.11-stdlib
		libc6 libexpat1 zlib1g) ;;
esac
sysroot=$CACHE/sysroot/$1-$(echo "$suite ${packages[*]}" | sha256sum | cut -c-16)

if [ ! -d "$sysroot" ]; then
	say "fetching ${packages[*]} for $debian_arch"
	rm -rf "$sysroot.tmp"
	mkdir -p "$sysroot.tmp/debs"
	apt=("$TOP/scripts/apt-private.sh" "sysroot-$1" "$suite" "$debian_arch")
	"${apt[@]}" apt-get -qq update >&2
	(cd "$sysroot.tmp/debs" && "${apt[@]}" apt-get -qq download "${packages[@]}" >&2)
	for deb in "$sysroot.tmp"/debs/*.deb; do
		dpkg -x "$deb" "$sysroot.tmp"
	done
	rm -r "$sysroot.tmp/debs"
	[ -e "$sysroot.tmp/bin" ] || ln -s usr/bin "$sysroot.tmp/bin"
	mv "$sysroot.tmp" "$sysroot"
fi
echo "$sysroot"
