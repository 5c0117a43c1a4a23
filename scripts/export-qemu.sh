#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: export-qemu.sh [TREE [DESTINATION]]
#
# Write the commits base..series of TREE (default: build/qemu) to DESTINATION
# (default: patches/qemu).
. "$(dirname "$0")/common.sh"

tree=${1:-$QEMU}
dest=${2:-$TOP/patches/qemu}

cd "$tree"
[ -z "$(git status --porcelain)" ] ||
	die "$tree has changes that are not committed"
[ -n "$(git rev-list base..series)" ] || die "$tree has no series"

mkdir -p "$dest"
rm -f "$dest"/[0-9]*.patch
git format-patch -q --zero-commit --no-signature --base=base \
	--output-directory="$dest" base..series
if [ "$dest" = "$TOP/patches/qemu" ]; then
	# What is exported needs no import.
	git config series.imported \
		"$(series_key "$(git rev-parse base)" "$dest"/[0-9]*.patch)"
	git config series.head "$(git rev-parse HEAD)"
fi
say "$(git rev-list --count base..series) patches in $dest"
