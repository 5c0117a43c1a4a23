#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: libperf.sh ARCH [TREE]
#
# Build libperf of TREE (default: build/linux) for ARCH as its Makefile does, install it
# below a directory, and print one with its tests and tests/libperf/topdown-truth.c, static, and
# for x86 with topdown-seed.c, the program in perf's topdown.txt, and what the commands in
# libperf-topdown.txt build, as they are there: topdown-1 and so on. These and topdown-cxx
# may need the libraries in lib.
. "$(dirname "$0")/lib.sh"

[ $# -ge 1 ] || usage
arch=$1 tree=${2:-$LINUX}
out=$tree/out-libperf-$arch
use_arch "$arch"
need make pkg-config "${compiler[@]}"
key=$(tree_key "$tree" '[^/]*|tools/testing'
	cat "$arch_conf" "$0" "$TOP"/tests/libperf/topdown-*.c | sha256sum; "${CROSS_COMPILE}gcc" --version | head -n 1)
source=$tree/tools/lib/perf

# Build topdown.c by each command of the page. The compiler finds what is installed, as it
# would in /usr.
as_typed()			# PREFIX
{
	local dir command number=0

	dir=$(mktemp -d)
	cp "$source/Documentation/examples/topdown.c" "$dir"
	ln -s "$(command -v "${CROSS_COMPILE}gcc")" "$dir/gcc"
	while read -r command; do
		say "$command"
		(cd "$dir" && PATH=$dir:$PATH C_INCLUDE_PATH=$1/include LIBRARY_PATH=$1/lib64 \
			PKG_CONFIG_LIBDIR=$1/lib64/pkgconfig PKG_CONFIG_SYSROOT_DIR=${1%/usr} \
			bash -ec "$command")
		mv "$dir/topdown" "$out/bin/topdown-$((++number))"
	done < <(sed -n 's/^\$ gcc /gcc /p' "$source/Documentation/libperf-topdown.txt")
	rm -rf "$dir"
	[ "$number" = 3 ] || die "$number commands in libperf-topdown.txt"
}

build()
{
	local gcc=("${CROSS_COMPILE}gcc" -O2 -g -Wall -Wextra -static "-ffile-prefix-map=$TOP/=") prefix=$out/root/usr file
	local include=(-I"$source/include" -I"$tree/tools/include" -I"$tree/tools/lib"
		-I"$tree/tools/arch/$perf_arch/include" -I"$tree/tools/arch/$perf_arch/include/uapi"
		-I"$tree/tools/include/uapi")
	local installed=(-I"$prefix/include" -L"$prefix/lib64")

	rm -rf "${out:?}/bin" "$out/root"
	mkdir -p "$out/bin/lib"
	make -s -C "$source" OUTPUT="$out/" ARCH="$perf_arch" CROSS_COMPILE="$CROSS_COMPILE" \
		CC="${CROSS_COMPILE}gcc" DESTDIR="$out/root" prefix=/usr \
		install_lib install_headers install_pkgconfig
	# Elsewhere it is lib.
	[ -d "$prefix/lib64" ] || ln -s lib "$prefix/lib64"
	# The Makefile cannot build the tests elsewhere.
	"${gcc[@]}" -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers \
		"${include[@]}" -o "$out/bin/tests" "$source"/tests/*.c "$out"/lib{perf,api}.a -pthread
	# Only these see a function that the shared library does not export.
	"${CROSS_COMPILE}gcc" -Wbad-function-cast -Werror "${include[@]}" -o "$out/tests-shared" \
		"$source"/tests/*.c "-L$out" -lperf "$out/libapi.a" -pthread
	"${gcc[@]}" -I"$tree/tools/include/uapi" "${installed[@]}" -o "$out/bin/topdown-truth" \
		"$TOP/tests/libperf/topdown-truth.c" -lperf -lapi -lm
	[ "$arch" = x86_64 ] || { set_built "$out" "$key"; return; }

	as_typed "$prefix"
	"${CROSS_COMPILE}g++" -Wall -Wextra -pedantic -Werror -static-libstdc++ -static-libgcc \
		"${installed[@]}" -o "$out/bin/topdown-cxx" "$source/tests/topdown.cpp" -lperf
	"${gcc[@]}" -o "$out/bin/topdown-seed" "$TOP/tests/libperf/topdown-seed.c"
	awk '/^\/\* topdown\.c/ { on = 1 }
			on { print }
			/^int main/ { end = 1 }
			end && /^}/ { exit }' "$tree/tools/perf/Documentation/topdown.txt" |
		"${gcc[@]}" -Werror -x c -o "$out/bin/topdown-rdpmc" -
	cp -L "$prefix/lib64/libperf.so" "$out/bin/lib"
	for file in libc.so.6 libm.so.6 ld-linux-x86-64.so.2; do
		cp -L "$("${CROSS_COMPILE}gcc" -print-file-name="$file")" "$out/bin/lib"
	done
	set_built "$out" "$key"
}

is_built "$out" "$key" || step "libperf $arch of ${tree##*/}" build
echo "$out/bin"
