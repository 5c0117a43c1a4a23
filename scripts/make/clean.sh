#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: clean.sh WHAT
#
#   build      remove build/, unless a tree there has work that is not exported
#   cache      remove what is cached, in ~/.cache/perf-windows or below XDG_CACHE_HOME
#   list       print what is cached, and how large it is
. "$(dirname "$0")/../common.sh"

check_what "$@"

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
	simulated)	echo 'recordings of make bench WHAT=simulate' ;;
	results)	echo 'results of test machines, a file for each run' ;;
	sysroot)	echo 'packages for test machines, a directory for each machines/arch/*.pin' ;;
	esac
}

list()
{
	local dir name

	[ -d "$CACHE" ] || { echo "$CACHE: nothing is cached"; exit; }
	for dir in "$CACHE"/*/; do
		name=$(basename "$dir")
		printf '%6s  %-10s %s\n' "$(du -sh "$dir" | cut -f 1)" "$name" "$(describe "$name")"
	done
	printf '%6s  %s\n' "$(du -sh "$CACHE" | cut -f 1)" "$CACHE"
}

clean_build()
{
	local tree

	for tree in "$LINUX" "$QEMU"; do
		[ -d "$tree/.git" ] || continue
		if [ "$(git -C "$tree" config series.head)" != "$(git -C "$tree" rev-parse series)" ] ||
		   [ -n "$(git -C "$tree" status --porcelain)" ]; then
			die "${tree#"$TOP/"} has work that is not exported:" \
				"'make export TREE=${tree##*/}' first"
		fi
	done
	rm -rf "$BUILD"
	say "removed $BUILD"
}

case $1 in
build)	clean_build ;;
cache)	rm -rf "$CACHE"
	say "removed $CACHE" ;;
list)	list ;;
esac
