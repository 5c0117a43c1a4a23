#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: check.sh
#
# Prove that patches/ applies to the base with plain "git am", that an export of
# the result is patches/ and the plain files again, to the byte, and that the
# shell scripts and the patches pass their linters.
. "$(dirname "$0")/old-series.sh"

[ "$(git -C "$TOP" rev-parse HEAD 2>/dev/null)" ] || die "not a git checkout"
tree=$BUILD/check/linux copy=$BUILD/check/export

say "shellcheck"
mapfile -t scripts < <(cd "$TOP" && git ls-files -co --exclude-standard \
	'*.sh' '*.conf' machines/init .ci/run patches/base.pin)
(cd "$TOP" && shellcheck "${scripts[@]}")

# What the work tree has and patches/ has not would be left out.
if [ -d "$LINUX/.git" ] &&
   [ "$(git -C "$LINUX" config series.head || true)" != "$(git -C "$LINUX" rev-parse HEAD)" ]; then
	warn "$LINUX has commits that are not exported: 'make export'"
fi

say "applying patches/ to the base"
rm -rf "$copy"
forget_import "$tree"
"$TOP/scripts/import.sh" "$tree"

# Another base has other line numbers, and not the base-commit lines.
pinned=$(sed -n 's/^base-commit: //p' "$TOP"/patches/0001-*.patch)
if [ "$pinned" = "$(git -C "$tree" rev-parse base)" ]; then
	"$TOP/scripts/export.sh" "$tree" "$copy"
	say "comparing patches/ and the plain files with what the patches create"
	diff -r -x base.pin -x qemu "$TOP/patches" "$copy/patches"
	while read -r file; do
		cmp "$TOP/$file" "$copy/$file"
	done < "$copy/patches/files"
	while read -r file; do
		case $file in
		no) ;;
		esac
		[ -e "$copy/$file" ] || die "$file is not created by the series"
	done < <(cd "$TOP" && git ls-files kernel tools selftests Documentation)
else
	warn "the base is not that of the series: only that it applies is checked"
fi

say "checkpatch"
ignore=$(grep -v '^#' "$TOP/scripts/checkpatch.ignore" | awk '{ print $1 }' | paste -sd,)
# Debian's python3, which has what spdxcheck.py imports.
(cd "$tree" && PATH=/usr/bin:/bin ./scripts/checkpatch.pl --strict --quiet --no-summary \
	--ignore "$ignore" "$TOP"/patches/[0-9]*.patch)
echo "patches/ applies to the base and is clean"
