#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: bpf.sh ARCH
#
# Build the test of selftests/bpf that build/linux adds, for this machine's ARCH, with a
# skeleton that bpftool makes and libbpf, static, and print the directory with the program
# "bpf". tests/bpf has what it needs of the rest of selftests/bpf.
. "$(dirname "$0")/lib.sh"

[ $# = 1 ] || usage
arch=$1
use_arch "$arch"
[ "$(dpkg --print-architecture)" = "$debian_arch" ] || die "there is no libbpf for $arch here"
need bpftool=/usr/sbin/bpftool clang gcc libbpf-dev=/usr/include/bpf/libbpf.h \
	libc6-dev=/usr/include/stdio.h libelf-dev=/usr/include/gelf.h zlib1g-dev=/usr/include/zlib.h
out=$LINUX/out-bpf-$arch source=$LINUX/tools/testing/selftests/bpf
program=test_perf_alt_period
key=$(cat "$source/progs/$program.c" "$source/prog_tests/perf_alt_period.c" "$TOP"/tests/bpf/* \
	"$0" | sha256sum)

build()
{
	mkdir -p "$out"
	cd "$out"
	clang -target bpf -g -O2 -Wall -I"$TOP/tests/bpf" -idirafter "/usr/include/$multiarch" \
		-c -o "$program.bpf.o" "$source/progs/$program.c"
	/usr/sbin/bpftool gen skeleton "$program.bpf.o" name "$program" > "$program.skel.h"
	gcc -O2 -Wall -static -I"$TOP/tests/bpf" -I. -I"$LINUX/tools/include/uapi" -o bpf \
		"$TOP/tests/bpf/main.c" "$source/prog_tests/perf_alt_period.c" -lbpf -lelf -lz
	set_built "$out" "$key"
}

is_built "$out" "$key" || step "BPF test $arch" build
echo "$out"
