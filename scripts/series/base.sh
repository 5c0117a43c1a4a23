#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: base.sh linux|qemu
scripts=$(dirname "$0")/..
case $1 in
linux)	exec "$scripts/base.sh" ;;
qemu)	exec "$scripts/base-qemu.sh" ;;
esac
