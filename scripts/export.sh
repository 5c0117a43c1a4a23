#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: export.sh [TREE [DESTINATION]]
#
# Write the commits base..series of TREE (default: build/linux) to DESTINATION
# (default: this repository): patches/NNNN-*.patch, the generated part of
# patches/cover-letter.txt, and a plain copy of every file that the series adds.
. "$(dirname "$0")/old-series.sh"

tree=${1:-$LINUX}
dest=${2:-$TOP}

cd "$tree"
export_patches "$dest/patches"

# The text above the line "---" is written by hand, the rest is generated.
cover=$dest/patches/cover-letter.txt
count=$(git rev-list --count base..series)
{
	sed -e '/^---$/,$d' \
	    -e "s|^Subject: \[PATCH[^]]*\]|Subject: [PATCH 0/$count]|" \
	    "$TOP/patches/cover-letter.txt"
	printf -- '---\n'
	git shortlog --no-merges base..series
	git diff --stat=72 --summary base..series
	printf '\nbase-commit: %s (%s %s)\n' "$(git rev-parse base)" \
		"$BASE_PACKAGE" "$BASE_VERSION"
} > "$cover.tmp"
mv "$cover.tmp" "$cover"

# Plain copies: those of an earlier export are listed in patches/files.
plain_name()
{
	case $1 in
	tools/testing/selftests/*)	echo "${1#tools/testing/}" ;;
	*)				echo "$1" ;;
	esac
}

list=$dest/patches/files
if [ -f "$list" ]; then
	while read -r file; do
		rm -f "$dest/$file"
	done < "$list"
fi
while read -r file; do
	plain=$(plain_name "$file")
	mkdir -p "$dest/$(dirname "$plain")"
	cp -p "$file" "$dest/$plain"
	echo "$plain"
done < <(git diff --name-only --diff-filter=A base..series) > "$list.tmp"
mv "$list.tmp" "$list"
find "$dest/kernel" "$dest/tools" "$dest/selftests" "$dest/Documentation" \
	-type d -empty -delete 2>/dev/null || true

[ "$dest" != "$TOP" ] || mark_exported "$dest/patches"
say "$count patches in $dest/patches"
