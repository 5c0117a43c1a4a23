#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: import.sh linux|qemu [DIRECTORY]
#
# Make DIRECTORY (default: build/linux, build/qemu) a git tree of the base with
# the series applied on branch "series"; tag "base" is what it was applied to.
# Stops at the first patch that does not apply.
#
# The tree's configuration says what it is: series.imported is the key of the patches that it has
# (series_key()), series.applied the same if git am has made it of them and no export them of it, and
# series.head its commit.
#
# A tree that has commits since the last import or export is left alone, for
# that is work to be exported; if patches/ changed as well, this says so and
# fails. Of two imports of the same tree at once, the second one waits.
. "$(dirname "$0")/series.sh"
use_series "${1:-}"
tree=${2:-$worktree}

# The lock is not left to what git starts in the background.
if [ "${IMPORT_LOCKED:-}" != "$tree" ]; then
	mkdir -p "$(dirname "$tree")"
	IMPORT_LOCKED=$tree exec flock --close "$tree.lock" "$0" "$@"
fi

read -r repository commit < <("$TOP/scripts/series/base.sh" "$series")
[ -n "$commit" ] || die "no base"
key=$(series_key "$commit" "$patches")

if [ ! -e "$tree/.git" ]; then
	say "checking out the base in $tree"
	rm -rf "$tree.tmp"
	git clone -q --no-checkout "$repository" "$tree.tmp"
	git -C "$tree.tmp" checkout -q -B series "$commit"
	# Ignore what builds and checkpatch leave.
	printf '%s\n' '/out-*/' '/.checkpatch-*' >> "$tree.tmp/.git/info/exclude"
	mv "$tree.tmp" "$tree"
fi

cd "$tree"
imported=$(git config series.imported || true)
if [ "$(git config series.importing || true)" = yes ]; then
	# An import failed: keep what was done about it.
	[ -z "$(git status --porcelain)" ] ||
		die "$tree: the last import failed, and there are changes that are not committed"
	git branch -f series-failed HEAD > /dev/null
	warn "the last import failed: starting again, its tree is branch series-failed"
	git am --abort 2> /dev/null || true
	git checkout -q -B series
	git config --unset series.importing
elif [ -n "$imported" ]; then
	[ "$imported" != "$key" ] || exit 0
	say 'patches/ changed'
	require_tree
	[ "$(git config series.head)" = "$(git rev-parse HEAD)" ] ||
		die "patches/ changed, and $tree has commits that were not exported"
fi
[ -z "$(git status --porcelain)" ] || die "$tree has changes that are not committed"

git cat-file -e "$commit" 2>/dev/null || git fetch -q "$repository" "$commit"
git config series.importing yes
git config --unset series.imported || true
git tag -f base "$commit" > /dev/null
git checkout -q -B series "$commit"

mapfile -t files < <(series_files "$patches")
say "applying ${#files[@]} files of ${patches#"$TOP/"}"
topic=()
for file in "${files[@]}"; do
	case $file in
	*.cover)
		[ ${#topic[@]} = 0 ] || apply_patches "${topic[@]}"
		topic=()
		commit_cover "$file" ;;
	*)
		topic+=("$file") ;;
	esac
done
[ ${#topic[@]} = 0 ] || apply_patches "${topic[@]}"
git config series.imported "$key"
git config series.applied "$key"
git config series.head "$(git rev-parse HEAD)"
git config --unset series.importing
