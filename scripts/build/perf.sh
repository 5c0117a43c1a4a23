#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: perf.sh ARCH [TREE]
#
# Build a static perf for ARCH from TREE (default: build/linux) and print its
# path. It has what the test machines need: symbols, tracepoints, and the events of
# their CPUs.
. "$(dirname "$0")/../common.sh"

arch=${1:?ARCH}
tree=${2:-$LINUX}
out=$tree/out-perf-$arch

use_arch "$arch"
sysroot=$("$TOP/scripts/build/sysroot.sh" "$arch")
lib=$sysroot/usr/lib/$multiarch
mkdir -p "$out"

case $arch in
arm64)	events=(arm64 arm/cortex-a57-a72) ;;
x86_64)	events=(x86 'alderlake,icelakex') ;;
*)	events=(none all) ;;
esac

say "building perf for $arch in $out"
without=(NO_LIBPYTHON NO_LIBPERL NO_LIBLLVM NO_JVMTI NO_SLANG NO_LIBDEBUGINFOD
	NO_CAPSTONE NO_LIBNUMA NO_LIBPFM4 NO_BABELTRACE2 NO_LIBDW NO_LIBZSTD
	NO_LZMA NO_SDT NO_AIO NO_LIBCRYPTO NO_RUST)
PKG_CONFIG_LIBDIR=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$sysroot \
make -s -C "$tree/tools/perf" O="$out" ARCH="${arch/x86_64/x86}" -j"$JOBS" \
	CROSS_COMPILE="$CROSS_COMPILE" CC="ccache ${CROSS_COMPILE}gcc" \
	CXX="ccache ${CROSS_COMPILE}g++" HOSTCC="ccache gcc" \
	PYTHON=/usr/bin/python3 BUILD_BPF_SKEL=0 \
	JEVENTS_ARCH="${events[0]}" JEVENTS_MODEL="${events[1]}" \
	EXTRA_CFLAGS="-I$sysroot/usr/include -I$sysroot/usr/include/$multiarch" \
	LDFLAGS="-static -L$lib" "${without[@]/%/=1}" "$out/perf" >&2
echo "$out/perf"
