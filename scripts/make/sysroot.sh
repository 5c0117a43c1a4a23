#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: sysroot.sh ARCH
#
# Unpack the Debian packages that the test machines of ARCH need (libraries to
# link perf with, busybox) below the cache and print the directory. Nothing is
# installed, so that ARCH need not be that of this machine. Their versions are in
# machines/arch/ARCH.pin.
. "$(dirname "$0")/lib.sh"

[ $# = 1 ] || usage
use_arch "$1"
pin=$TOP/machines/arch/$1.pin
touch "$pin"

# Print where it is: it depends on the versions.
directory()
{
	echo "$CACHE/sysroot/$1-$(cat <(echo "$suite ${sysroot[*]}") "$pin" | sha256sum | cut -c-16)"
}

fetch()			# ARCH
{
	local tmp=$CACHE/sysroot/$1.tmp from=$suite deb

	rm -rf "$tmp"
	# The index of a suite can be out of step with its checksums for days.
	if [ -n "$other_suite" ] &&
			! "$TOP/scripts/apt-private.sh" "$1" "$suite" "$debian_arch" apt-get -qq update; then
		warn "no packages of $suite for $1 at the moment: taking those of $other_suite"
		from=$other_suite
	fi
	fetch_pinned "$pin" "$from" "$debian_arch" "$tmp/debs" "${sysroot[@]}"
	for deb in "$tmp"/debs/*.deb; do
		dpkg -x "$deb" "$tmp"
	done
	rm -r "$tmp/debs"
	[ -e "$tmp/bin" ] || ln -s usr/bin "$tmp/bin"
	rm -rf "$(directory "$1")"
	mv "$tmp" "$(directory "$1")"
}

lock_cache "sysroot-$1"
if [ -n "${UPDATE_PINS:-}" ] || [ ! -d "$(directory "$1")" ]; then
	step "packages of Debian $suite for $1" fetch "$1"
fi
directory "$1"
