#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: topic-tree.sh NAME [DIRECTORY]
#
# Make DIRECTORY (default: build/topic/NAME) a work tree of the base, the topics
# that NAME requires, and NAME, and nothing else: what a maintainer has who
# applies it. Tag "topic-NAME" is what it was applied to. Prints the directory.
. "$(dirname "$0")/series.sh"
use_series_of "${1:-}"
cover=$(find_topic "${1:-}")
name=$1 dir=${2:-$BUILD/topic/$1}

"$TOP/scripts/series/import.sh" "$series"
mapfile -t required < <(required_topics "$cover")
if git -C "$dir" rev-parse -q --verify HEAD > /dev/null 2>&1 && [ -e "$dir/.git" ]; then
	git -C "$dir" am --abort 2> /dev/null || true
	git -C "$dir" checkout -qf --detach base
else
	rm -rf "$dir"
	git -C "$worktree" worktree prune
	git -C "$worktree" worktree add -q --force --detach "$dir" base
fi
cd "$dir"
mapfile -t files < <(required_patches "$cover")
[ ${#files[@]} = 0 ] || apply_patches "${files[@]}"
git tag -f "topic-$name" > /dev/null
mapfile -t files < <(mailed_patches "$cover")
apply_patches "${files[@]}"
say "$name on ${required[*]:+${required[*]##*/} on }the base"
echo "$dir"
