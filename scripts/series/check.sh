#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: check.sh linux|qemu
scripts=$(dirname "$0")/..
case $1 in
linux)	exec "$scripts/check.sh" ;;
qemu)	exec "$scripts/check-qemu.sh" ;;
esac
