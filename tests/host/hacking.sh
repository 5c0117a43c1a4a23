#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: hacking.sh
#
# Type what docs/hacking.md says, section by section, in a copy of this repository with a copy of
# build/linux: all of it works, and "make check" is green at the end of a section that types it. What
# is not typed, an output and what needs a terminal, hours or a container, is in the pattern
# below. KTAP.
. "$(dirname "$0")/../../scripts/series/series.sh"

[ $# = 0 ] || usage
use_series linux
skipped='FAIL |not ok |make shell |make verify |podman '
work=$BUILD/hacking copy=$work/copy

export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A
export GIT_COMMITTER_EMAIL=a@example.com

# Copy the files of this repository, and the work trees with what is built of them: another import
# and another kernel would take minutes.
rm -rf "$work"
mkdir -p "$copy/build"
(cd "$TOP" && git ls-files -z -co --exclude-standard | xargs -0 cp -P --parents -t "$copy")
git -C "$copy" init -q
git -C "$copy" add -A
git -C "$copy" commit -q -m copy
for name in linux qemu; do
	"$TOP/scripts/series/import.sh" "$name"
	tree=$copy/build/$name
	git clone -q --shared --branch series "$BUILD/$name" "$tree"
	cp "$BUILD/$name/.git/info/exclude" "$tree/.git/info/exclude"
	for key in imported applied head; do
		git -C "$tree" config "series.$key" "$(git -C "$BUILD/$name" config "series.$key" || true)"
	done
done
[ ! -d "$LINUX/out-x86_64" ] || cp -a "$LINUX/out-x86_64" "$copy/build/linux"

# Line 3 of period.c is a comment.
printf '#!/bin/sh\nexec sed -i "3s/Sampling events/Events/" "$@"\n' > "$work/editor"
chmod +x "$work/editor"
export EDITOR=$work/editor GIT_EDITOR=true
# What make was called with is not for the calls of make here.
unset MAKEFLAGS MFLAGS MACHINES TEST TREE
nr=0 failed=0
echo 'TAP version 13'
while read -r section; do
	{
		echo 'set -eux'
		awk -v section="## $section" '/^## / { on = $0 == section } on && (sub(/^    /, "") || !NF)' \
			"$TOP/docs/hacking.md" | grep -vE "^($skipped)"
	} > "$work/typed"
	if (cd "$copy" && bash "$work/typed") > "$work/said" 2>&1 < /dev/null; then
		echo "ok $((++nr)) $section"
	else
		tail -n 30 "$work/said" | sed 's/^/# /'
		echo "not ok $((++nr)) $section"
		failed=1
	fi
done < <(sed -n 's/^## //p' "$TOP/docs/hacking.md")
echo "1..$nr"
exit $failed
