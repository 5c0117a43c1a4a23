#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: check-qemu.sh
#
# Prove that patches/qemu applies to Debian's QEMU with plain "git am", that an
# export of the result is patches/qemu again, to the byte, and that the patches pass
# QEMU's checkpatch.
. "$(dirname "$0")/old-series.sh"

tree=$BUILD/check/qemu copy=$BUILD/check/export-qemu

say "applying patches/qemu to the base"
rm -rf "$copy"
forget_import "$tree"
"$TOP/scripts/import.sh" "$tree" qemu
"$TOP/scripts/export-qemu.sh" "$tree" "$copy"
diff -r -x base.pin -x cover-letter.txt "$TOP/patches/qemu" "$copy"

say "checkpatch"
status=0
for patch in "$TOP"/patches/qemu/[0-9]*.patch; do
	# New files are below directories that MAINTAINERS has.
	log=$(perl "$tree/scripts/checkpatch.pl" --no-tree --patch --no-summary --quiet "$patch" |
		grep -v 'does MAINTAINERS need updating') || true
	if grep -qE '^(ERROR|WARNING)' <<< "$log"; then
		printf '%s\n%s\n' "${patch##*/}" "$log" >&2
		status=1
	fi
done
[ $status = 0 ] || die "checkpatch has something to say"
echo "patches/qemu applies to the base and is clean"
