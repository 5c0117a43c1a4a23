#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: build-selftests.sh ARCH [TREE]
#
# Build the perf_events selftests of TREE (default: build/linux) for ARCH,
# static, and print the directory they are installed in.
. "$(dirname "$0")/common.sh"

arch=${1:?ARCH}
tree=${2:-$LINUX}
out=$tree/out-$arch

use_arch "$arch"
say "building the selftests for $arch in $out"
mkdir -p "$out"
make -s -C "$tree" O="out-$arch" ARCH="$kernel_arch" headers >&2
make -s -C "$tree/tools/testing/selftests" O="$out" ARCH="$kernel_arch" \
	CROSS_COMPILE="$CROSS_COMPILE" USERLDFLAGS=-static FORCE_TARGETS=1 \
	TARGETS=perf_events INSTALL_PATH="$out/selftests" install >&2
echo "$out/selftests/perf_events"
