#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: export-qemu.sh [TREE [DESTINATION]]
#
# Write the commits base..series of TREE (default: build/qemu) to DESTINATION
# (default: patches/qemu).
. "$(dirname "$0")/old-series.sh"

tree=${1:-$QEMU}
dest=${2:-$TOP/patches/qemu}

cd "$tree"
export_patches "$dest"
[ "$dest" != "$TOP/patches/qemu" ] || mark_exported "$dest"
say "$(git rev-list --count base..series) patches in $dest"
