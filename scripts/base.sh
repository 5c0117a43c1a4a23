#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: base.sh
#
# Make the base kernel available as one commit and print "REPOSITORY COMMIT".
# The base is KERNEL_TREE= when that is set (a git tree: its HEAD; any other
# directory: its files), otherwise the Debian package pinned in patches/base.pin.
# The commit depends on nothing but the files, so that the base-commit lines
# of the series are the same on every machine.
. "$(dirname "$0")/old-series.sh"

fetch_package()			# prints the path of the .deb
{
	local dir=$CACHE/base version=$BASE_VERSION sha=$BASE_SHA256 deb
	local apt=("$TOP/scripts/apt-private.sh" base "$BASE_SUITE" amd64)

	mkdir -p "$dir"
	deb=$(find_package "$dir" "$version")
	if [ -z "$deb" ]; then
		say "fetching $BASE_PACKAGE $version"
		"${apt[@]}" apt-get -qq update >&2
		if ! "${apt[@]}" apt-cache madison "$BASE_PACKAGE" |
				grep -F " $version " > /dev/null; then
			version=$("${apt[@]}" apt-cache madison "$BASE_PACKAGE" |
				awk -F'[| ]+' 'NR == 1 { print $3 }')
			[ -n "$version" ] ||
				die "$BASE_SUITE has no $BASE_PACKAGE: set KERNEL_TREE="
			warn "$BASE_PACKAGE $BASE_VERSION is gone from $BASE_SUITE: using $version instead"
			sha=
		fi
		(cd "$dir" && "${apt[@]}" apt-get -qq download \
			"$BASE_PACKAGE=$version" >&2)
		deb=$(find_package "$dir" "$version")
	fi
	[ -n "$deb" ] || die "$BASE_PACKAGE $version could not be downloaded"
	if [ -n "$sha" ] &&
	   ! echo "$sha  $deb" | sha256sum --check --status; then
		rm -f "$deb"
		die "$deb had not the sha256 of patches/base.pin; it is removed, try again"
	fi
	echo "$deb"
}

find_package()			# DIRECTORY VERSION
{
	find "$1" -name "${BASE_PACKAGE}_${2}_all.deb" -print -quit
}

# Unpack in a temporary place: an interrupted run leaves no half repository.
snapshot_package()		# REPOSITORY DEB
{
	local tmp=$1.tmp

	rm -rf "$tmp"
	mkdir -p "$tmp/src"
	say "unpacking ${2##*/}"
	dpkg-deb --fsys-tarfile "$2" |
		tar -xO "./usr/src/$BASE_PACKAGE.tar.xz" |
		tar -xJ --strip-components=1 -C "$tmp/src"
	# It is for Debian's packaging and would hide every new file.
	rm -f "$tmp/src/.gitignore"
	say "committing the base (half a minute)"
	snapshot "$tmp/git" "$tmp/src" 'kernel base'
	mv "$tmp/git" "$1"
	rm -rf "$tmp"
}

if [ -z "${KERNEL_TREE:-}" ]; then
	deb=$(fetch_package)
	repository=$CACHE/base/$(basename "$deb" .deb).git
	[ -d "$repository" ] || snapshot_package "$repository" "$deb"
elif [ -e "$KERNEL_TREE/.git" ]; then
	echo "$(git -C "$KERNEL_TREE" rev-parse --path-format=absolute --git-common-dir)" \
		"$(git -C "$KERNEL_TREE" rev-parse HEAD)"
	exit
elif [ -f "$KERNEL_TREE/Kbuild" ]; then
	KERNEL_TREE=$(cd "$KERNEL_TREE" && pwd)
	repository=$CACHE/base/tree-$(echo "$KERNEL_TREE" | sha256sum | cut -c-16).git
	mkdir -p "$CACHE/base"
	say "reading $KERNEL_TREE"
	snapshot "$repository" "$KERNEL_TREE" 'kernel base'
else
	die "KERNEL_TREE=$KERNEL_TREE is not a kernel source tree"
fi
echo "$repository $(git --git-dir="$repository" rev-parse HEAD)"
