#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: import.sh linux|qemu [DIRECTORY]
. "$(dirname "$0")/../common.sh"
case $1 in
linux)	exec "$TOP/scripts/import.sh" "${2:-$LINUX}" ;;
qemu)	exec "$TOP/scripts/import.sh" "${2:-$QEMU}" qemu ;;
esac
