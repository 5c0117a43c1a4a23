#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: libperf.sh ARCH [TREE]
#
# Build libperf of TREE (default: build/linux) for ARCH, static, and print the directory
# with its tests, its example of TopDown, the program in perf's topdown.txt, and
# machines/topdown-truth.c and, for x86, topdown-seed.c.
. "$(dirname "$0")/lib.sh"

[ $# -ge 1 ] || usage
arch=$1 tree=${2:-$LINUX}
out=$tree/out-libperf-$arch
use_arch "$arch"
need make "${compiler[@]}"
key=$(tree_key "$tree" '[^/]*|tools/testing'
	cat "$arch_conf" "$0" "$TOP"/machines/topdown-*.c | sha256sum; "${CROSS_COMPILE}gcc" --version | head -n 1)
source=$tree/tools/lib/perf

build()
{
	local gcc=("${CROSS_COMPILE}gcc" -O2 -g -Wall -Wextra -static)
	local include=(-I"$source/include" -I"$tree/tools/include" -I"$tree/tools/lib"
		-I"$tree/tools/arch/$perf_arch/include" -I"$tree/tools/arch/$perf_arch/include/uapi"
		-I"$tree/tools/include/uapi")

	rm -rf "${out:?}/bin"
	mkdir -p "$out/bin"
	make -s -C "$source" OUTPUT="$out/" ARCH="$perf_arch" CROSS_COMPILE="$CROSS_COMPILE" \
		CC="${CROSS_COMPILE}gcc" EXTRA_CFLAGS=-O2 libs
	# The Makefile cannot build the tests elsewhere.
	"${gcc[@]}" -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers \
		"${include[@]}" -o "$out/bin/tests" "$source"/tests/*.c "$out"/lib{perf,api}.a
	# With the headers as they are installed.
	"${gcc[@]}" -I"$source/include" -I"$tree/tools/include/uapi" -o "$out/bin/topdown" \
		"$source/Documentation/examples/topdown.c" "$out"/lib{perf,api}.a
	"${gcc[@]}" -I"$source/include" -I"$tree/tools/include/uapi" -o "$out/bin/topdown-truth" \
		"$TOP/machines/topdown-truth.c" "$out"/lib{perf,api}.a -lm
	if [ "$arch" = x86_64 ]; then
		"${gcc[@]}" -o "$out/bin/topdown-seed" "$TOP/machines/topdown-seed.c"
		awk '/^\/\* topdown\.c/ { on = 1 }
				on { print }
				/^int main/ { end = 1 }
				end && /^}/ { exit }' "$tree/tools/perf/Documentation/topdown.txt" |
			"${gcc[@]}" -Werror -x c -o "$out/bin/topdown-rdpmc" -
	fi
	set_built "$out" "$key"
}

is_built "$out" "$key" || step "libperf $arch of ${tree##*/}" build
echo "$out/bin"
