#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: deb.sh [DIRECTORY]
#
# Build Debian packages of the kernel and of perf in DIRECTORY (default: build/deb), and
# say how to install them, and how to go back.
. "$(dirname "$0")/../common.sh"

[ $# -le 1 ] || usage
dir=${1:-$BUILD/deb}
"$TOP/scripts/series/import.sh" linux
"$TOP/scripts/ship/deb-perf.sh" "$dir"
kernel=$("$TOP/scripts/ship/deb-kernel.sh" "$dir")
echo "$kernel"
image=$(dpkg-deb -f "$(grep /linux-image- <<< "$kernel")" Package)
cat <<END

Install them, beside the distribution's:   sudo apt install $dir/*.deb
Reboot, and:                               perf-windows fnstat record -- PROGRAM
Go back, with one of:                      'Advanced options' in the menu of the boot loader
                                           sudo apt purge $image linux-perf-windows
END
