#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: import.sh [DIRECTORY [qemu]]
#
# Make DIRECTORY (default: build/linux) a git tree of the base with the series
# applied on branch "series"; tag "base" is what it was applied to. Stops at
# the first patch that does not apply. With "qemu" it is the series of
# patches/qemu on QEMU.
#
# A tree that has commits since the last import or export is left alone, for
# that is work to be exported; if patches/ changed as well, this says so and
# fails.
. "$(dirname "$0")/old-series.sh"

tree=${1:-$LINUX} series=${2:-}
patches=("$TOP/patches${series:+/$series}"/[0-9]*.patch)
[ -e "${patches[0]}" ] || patches=()

read -r repository commit < <("$TOP/scripts/base${series:+-$series}.sh")
[ -n "$commit" ] || die "no base"
key=$(series_key "$commit" "${patches[@]}")

if [ ! -d "$tree/.git" ]; then
	say "checking out the base in $tree"
	mkdir -p "$(dirname "$tree")"
	rm -rf "$tree.tmp"
	git clone -q --no-checkout "$repository" "$tree.tmp"
	git -C "$tree.tmp" checkout -q -b series "$commit"
	# Of builds and of checkpatch.
	printf '%s\n' '/out-*/' '/.checkpatch-*' >> "$tree.tmp/.git/info/exclude"
	mv "$tree.tmp" "$tree"
fi

cd "$tree"
imported=$(git config series.imported || true)
[ "$imported" != "$key" ] || exit 0

if [ -d .git/rebase-apply ] || [ -d .git/rebase-merge ]; then
	die "$tree: a 'git am' or 'git rebase' is unfinished"
fi
[ -z "$(git status --porcelain)" ] ||
	die "patches/ changed, and $tree has changes that are not committed"
if [ -n "$imported" ] && [ "$(git config series.head)" != "$(git rev-parse HEAD)" ]; then
	die "patches/ changed, and $tree has commits that were not exported"
fi

git cat-file -e "$commit" 2>/dev/null || git fetch -q "$repository" "$commit"
git tag -f base "$commit" > /dev/null
git checkout -q -B series "$commit"
if [ ${#patches[@]} -gt 0 ]; then
	say "applying ${#patches[@]} patches"
	git var GIT_COMMITTER_IDENT > /dev/null 2>&1 ||
		export GIT_COMMITTER_NAME=series GIT_COMMITTER_EMAIL=''
	git am -q --no-3way --committer-date-is-author-date "${patches[@]}" ||
		die "the series does not apply to the base (see $tree)"
fi
git config series.imported "$key"
git config series.head "$(git rev-parse HEAD)"
