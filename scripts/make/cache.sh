#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: cache.sh [clean]
#
# Print what is cached, in ~/.cache/perf-windows or below XDG_CACHE_HOME, and how
# large it is; with "clean" remove it.
. "$(dirname "$0")/../common.sh"

describe()			# NAME
{
	case $1 in
	apt)		echo 'package lists of Debian' ;;
	base)		echo "source of the kernel, and its repository" ;;
	debian)		echo "a disk with Debian for each set of packages" ;;
	qemu-base)	echo "source of QEMU, and its repository" ;;
	ccache)		echo 'objects' ;;
	qemu)		echo 'our QEMU, a directory for each state of its source' ;;
	meson|sparse)	echo "a directory for each scripts/make/$1.pin" ;;
	real)		echo 'real programs, a directory for each scripts/make/real.pin' ;;
	sysroot)	echo 'packages for test machines, a directory for each machines/arch/*.pin' ;;
	esac
}

case ${1:-} in
'')	;;
clean)	rm -rf "$CACHE"
	say "removed $CACHE"
	exit ;;
*)	usage ;;
esac
[ -d "$CACHE" ] || { echo "$CACHE: nothing is cached"; exit; }
for dir in "$CACHE"/*/; do
	name=$(basename "$dir")
	printf '%6s  %-10s %s\n' "$(du -sh "$dir" | cut -f 1)" "$name" "$(describe "$name")"
done
printf '%6s  %s\n' "$(du -sh "$CACHE" | cut -f 1)" "$CACHE"
