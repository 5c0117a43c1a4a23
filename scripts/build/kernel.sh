#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: kernel.sh ARCH [TREE [FRAGMENT]]
#
# Build the test kernel for ARCH (arm64, riscv64, x86_64) from TREE (default:
# build/linux) in TREE/out-ARCH and print the path of the image. With FRAGMENT,
# machines/configs/FRAGMENT.config is added, and it is in TREE/out-ARCH-FRAGMENT.
. "$(dirname "$0")/../common.sh"

arch=${1:?ARCH}
tree=${2:-$LINUX}
fragment=${3:-}
out=$tree/out-$arch${fragment:+-$fragment}
configs=$TOP/machines/configs

kernel_make()
{
	# A build directory inside the tree keeps all paths relative, so that
	# ccache finds the objects again in another checkout.
	make -s -C "$tree" O="${out##*/}" ARCH="$kernel_arch" \
		CC="ccache ${CROSS_COMPILE}gcc" CROSS_COMPILE="$CROSS_COMPILE" \
		KBUILD_BUILD_TIMESTAMP='2026-01-01' KBUILD_BUILD_USER=perf \
		KBUILD_BUILD_HOST=windows KBUILD_BUILD_VERSION=1 LOCALVERSION= -j"$JOBS" "$@"
}

use_arch "$arch"
mkdir -p "$out"
fragments=("$configs/test.config" "$configs/$arch.config")
[ ! -e "$tree/kernel/events/period_test.c" ] || fragments+=("$configs/series.config")
[ -z "$fragment" ] || fragments+=("$configs/$fragment.config")
cat "${fragments[@]}" > "$out/all.config"
# Each time: an option can come and go with the commit that is checked out. What
# is the same as before is not built again.
kernel_make KCONFIG_ALLCONFIG="$out/all.config" allnoconfig >&2
check_config "$out/all.config" "$out/.config" "$arch"
say "building the $arch kernel in $out"
kernel_make "$kernel_target" >&2
echo "$out/arch/$kernel_image"
