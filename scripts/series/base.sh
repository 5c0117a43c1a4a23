#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: base.sh linux|linux-VERSION|qemu
#
# Make the base of a series available as one commit and print "REPOSITORY COMMIT".
# That of linux, not of a backport, is KERNEL_TREE= when that is set (a git tree: its
# HEAD; any other directory: its files). Otherwise a base is the Debian package that base.pin
# names. The commit depends on nothing but the files.
. "$(dirname "$0")/series.sh"
use_series "${1:-}"
need git
lock_cache "base-$series"

# Commit all files of DIRECTORY, always as the same commit. Streaming every file
# into one pack (bigFileThreshold) takes half a minute where loose objects take
# minutes.
snapshot()			# REPOSITORY DIRECTORY MESSAGE
{
	local git=(git --git-dir="$1" --work-tree="$2"
		-c core.bigFileThreshold=1 -c core.compression=1
		-c core.fsync=none -c gc.auto=0)
	local tree commit

	[ -d "$1" ] || git init -q --bare "$1"
	(cd "$2" && "${git[@]}" add -A -f .)
	tree=$("${git[@]}" write-tree)
	commit=$(GIT_AUTHOR_NAME=base GIT_AUTHOR_EMAIL='' \
		GIT_AUTHOR_DATE='@0 +0000' GIT_COMMITTER_NAME=base \
		GIT_COMMITTER_EMAIL='' GIT_COMMITTER_DATE='@0 +0000' \
		"${git[@]}" commit-tree -m "$3" "$tree")
	"${git[@]}" update-ref HEAD "$commit"
}

# Make the repository in a temporary place: an interrupted run leaves no half one.
make_repository()		# REPOSITORY FUNCTION FILE
{
	local tmp=$1.tmp

	[ ! -d "$1" ] || return 0
	rm -rf "$tmp"
	mkdir -p "$tmp"
	say "unpacking ${3##*/} (a minute)"
	"$2" "$tmp" "$3"
	mv "$tmp/git" "$1"
	rm -rf "$tmp"
}

find_deb()			# DIRECTORY VERSION
{
	find "$1" -name "${BASE_PACKAGE}_${2}_all.deb" -print -quit
}

fetch_linux()			# prints the path of the .deb
{
	need ca-certificates=/etc/ssl/certs/ca-certificates.crt \
		debian-archive-keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
		dpkg=dpkg-deb python3 xz-utils=xz >&2

	local dir=$CACHE/base version=$BASE_VERSION sha=$BASE_SHA256 deb
	local apt=("$TOP/scripts/apt-private.sh" "${series/linux/base}" "$BASE_SUITE" amd64)

	mkdir -p "$dir"
	deb=$(find_deb "$dir" "$version")
	if [ -z "$deb" ]; then
		say "fetching $BASE_PACKAGE $version"
		"${apt[@]}" apt-get -qq update >&2
		if ! "${apt[@]}" apt-cache madison "$BASE_PACKAGE" |
				grep -F " $version " > /dev/null; then
			version=$("${apt[@]}" apt-cache madison "$BASE_PACKAGE" |
				awk -F' *[|] *' 'NR == 1 { print $2 }')
			[ -n "$version" ] ||
				die "$BASE_SUITE has no $BASE_PACKAGE: set KERNEL_TREE="
			warn "$BASE_PACKAGE $BASE_VERSION is gone from $BASE_SUITE: using $version instead"
			sha=
		fi
		(cd "$dir" && "${apt[@]}" apt-get -qq download \
			"$BASE_PACKAGE=$version" >&2)
		deb=$(find_deb "$dir" "$version")
	fi
	[ -n "$deb" ] || die "$BASE_PACKAGE $version could not be downloaded"
	if [ -n "$sha" ] &&
	   ! echo "$sha  $deb" | sha256sum --check --status; then
		rm -f "$deb"
		die "$deb had not the sha256 of ${patches#"$TOP/"}/base.pin; it is removed, try again"
	fi
	echo "$deb"
}

# The files of the kernel go from the archive to the repository, without 90000 files on the way.
unpack_linux()			# DIRECTORY DEB
{
	git init -q --bare -b master "$1/git"
	dpkg-deb --fsys-tarfile "$2" |
		tar -xO "./usr/src/$BASE_PACKAGE.tar.xz" | xz -dc |
		python3 "$TOP/scripts/series/tar2git.py" "$base_name base" |
		git --git-dir="$1/git" -c pack.compression=1 -c core.fsync=none \
			fast-import --quiet --depth=0
}

fetch_qemu()			# prints the path of the .dsc
{
	local dir=$CACHE/qemu-base dsc
	local apt=("$TOP/scripts/apt-private.sh" qemu "$QEMU_SUITE"
		"$(dpkg --print-architecture)")

	dsc=$dir/qemu_${QEMU_VERSION#*:}.dsc
	if [ ! -e "$dsc" ]; then
		mkdir -p "$dir"
		say "fetching the source of QEMU $QEMU_VERSION"
		export APT_TYPE=deb-src
		"${apt[@]}" apt-get -qq update >&2
		# Compares the files with the checksums in the .dsc.
		(cd "$dir" && "${apt[@]}" apt-get -qq source --download-only \
			"qemu=$QEMU_VERSION" >&2) ||
			die "$QEMU_SUITE has no QEMU $QEMU_VERSION: change patches/qemu/base.pin"
	fi
	echo "$QEMU_SHA256  $dsc" | sha256sum --check --status ||
		die "$dsc has not the sha256 of patches/qemu/base.pin"
	echo "$dsc"
}

unpack_qemu()			# DIRECTORY DSC
{
	local source=$1/source patch

	need dpkg-dev=dpkg-source patch
	dpkg-source --no-check --skip-patches -x "$2" "$source" > /dev/null 2>&1
	# What the build needs of Debian's patches: two files are not in its source.
	for patch in skip-unpack-edk2-blobs disable-pycotap; do
		patch -s -p1 -d "$source" < "$source/debian/patches/$patch.patch"
	done
	# Drop the packaging, and the firmware, two thirds of all, that is not built here.
	rm -r "$source/debian" "$source/roms"
	snapshot "$1/git" "$source" "$base_name base"
}

case $series:${KERNEL_TREE:-} in
qemu:*)
	dsc=$(fetch_qemu)
	repository=${dsc%.dsc}.git
	make_repository "$repository" unpack_qemu "$dsc" ;;
linux:|linux-*)
	deb=$(fetch_linux)
	repository=${deb%.deb}.git
	make_repository "$repository" unpack_linux "$deb" ;;
*)
	if [ -e "$KERNEL_TREE/.git" ]; then
		echo "$(git -C "$KERNEL_TREE" rev-parse --path-format=absolute --git-common-dir)" \
			"$(git -C "$KERNEL_TREE" rev-parse HEAD)"
		exit
	fi
	[ -f "$KERNEL_TREE/Kbuild" ] ||
		die "KERNEL_TREE=$KERNEL_TREE is not a kernel source tree"
	KERNEL_TREE=$(cd "$KERNEL_TREE" && pwd)
	repository=$CACHE/base/tree-$(echo "$KERNEL_TREE" | sha256sum | cut -c-16).git
	mkdir -p "$CACHE/base"
	say "reading $KERNEL_TREE"
	snapshot "$repository" "$KERNEL_TREE" "$base_name base" ;;
esac
echo "$repository $(git --git-dir="$repository" rev-parse HEAD)"
