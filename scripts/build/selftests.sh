#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: selftests.sh ARCH [TREE]
#
# Build the perf_events selftests of TREE (default: build/linux) for ARCH,
# static, and print the directory they are installed in.
. "$(dirname "$0")/../common.sh"

arch=${1:?ARCH}
tree=${2:-$LINUX}
out=$tree/out-$arch

use_arch "$arch"
# libelf and zlib are for libbpf. What is there for riscv64 is of a later Debian.
bpf=
if [ "$arch" != riscv64 ]; then
	sysroot=$("$TOP/scripts/build/sysroot.sh" "$arch")
	flags=(USERCFLAGS="-I$sysroot/usr/include -I$sysroot/usr/include/$multiarch"
		USERLDFLAGS="-static -L$sysroot/usr/lib/$multiarch")
	[ ! -e "$tree/tools/testing/selftests/perf_events/alt_period_bpf.c" ] ||
		bpf=$out/selftests/perf_events/alt_period_bpf
else
	flags=(USERLDFLAGS=-static)
fi
say "building the selftests for $arch in $out"
mkdir -p "$out"
make -s -C "$tree" O="out-$arch" ARCH="$kernel_arch" headers >&2
make -s -C "$tree/tools/testing/selftests" O="$out" ARCH="$kernel_arch" \
	CROSS_COMPILE="$CROSS_COMPILE" FORCE_TARGETS=1 TARGETS=perf_events \
	"${flags[@]}" INSTALL_PATH="$out/selftests" install >&2
[ -z "$bpf" ] || [ -e "$bpf" ] || die "$bpf was not built"
echo "$out/selftests/perf_events"
