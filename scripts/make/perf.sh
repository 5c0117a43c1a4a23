#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: perf.sh ARCH [TREE]
#
# Build a static perf for ARCH from TREE (default: build/linux) and print its
# path. It has what the test machines need: symbols, tracepoints, and the events of
# their CPUs.
. "$(dirname "$0")/lib.sh"

[ $# -ge 1 ] || usage
arch=$1 tree=${2:-$LINUX}
out=$tree/out-perf-$arch
use_arch "$arch"
[ -n "${jevents:-}" ] || die "there is no perf for $arch, see ${arch_conf#"$TOP/"}"
need bison ccache flex make pkg-config python3 "${compiler[@]}" gcc g++ \
	libc6-dev=/usr/include/stdio.h
libraries=$("$TOP/scripts/make/sysroot.sh" "$arch")
lib=$libraries/usr/lib/$multiarch
# It is built from tools/ alone.
key=$(tree_key "$tree" '[^/]*|tools/testing'
	cat "$arch_conf" "$0" | sha256sum; echo "$libraries"
	"${CROSS_COMPILE}gcc" --version | head -n 1)

without=(NO_LIBPYTHON NO_LIBPERL NO_LIBLLVM NO_JVMTI NO_SLANG NO_LIBDEBUGINFOD
	NO_CAPSTONE NO_LIBNUMA NO_LIBPFM4 NO_BABELTRACE2 NO_LIBDW NO_LIBZSTD
	NO_LZMA NO_SDT NO_AIO NO_LIBCRYPTO NO_RUST NO_SHELLCHECK)

build()
{
	mkdir -p "$out"
	# Make does not see that there are others.
	[ "$(cat "$out/jevents" 2> /dev/null)" = "${jevents[*]}" ] || rm -rf "$out/pmu-events"
	echo "${jevents[*]}" > "$out/jevents"
	# All paths are absolute here: let ccache find the objects of another tree.
	export CCACHE_BASEDIR=$tree
	# Without a repository, the commit is no part of its version: with a change of
	# something else, its tests need not run again. Without libpython, nothing is asked of
	# python3-config.
	GIT_DIR=/nonexistent PKG_CONFIG_LIBDIR=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$libraries \
	make -s -C "$tree/tools/perf" O="$out" ARCH="$perf_arch" -j"$JOBS" \
		CROSS_COMPILE="$CROSS_COMPILE" CC="ccache ${CROSS_COMPILE}gcc" \
		CXX="ccache ${CROSS_COMPILE}g++" HOSTCC="ccache gcc" \
		PYTHON=/usr/bin/python3 PYTHON_CONFIG=/bin/true BUILD_BPF_SKEL=0 \
		JEVENTS_ARCH="${jevents[0]}" JEVENTS_MODEL="${jevents[1]}" \
		EXTRA_CFLAGS="-I$libraries/usr/include -I$libraries/usr/include/$multiarch" \
		LDFLAGS="-static -L$lib" "${without[@]/%/=1}" "$out/perf"
	# Debugging data has the names of directories: without, it is the same in each checkout.
	"${CROSS_COMPILE}strip" -g "$out/perf"
	set_built "$out" "$key"
}

is_built "$out" "$key" || step "perf $arch of ${tree##*/}" build
echo "$out/perf"
