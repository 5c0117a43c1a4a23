#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: export.sh linux|qemu
scripts=$(dirname "$0")/..
case $1 in
linux)	exec "$scripts/export.sh" ;;
qemu)	exec "$scripts/export-qemu.sh" ;;
esac
