#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: selftests.sh ARCH [TREE]
#
# Build the perf_events selftests of TREE (default: build/linux) and the programs in
# tests/perf_events for ARCH, static, and print the directory they are installed in, with
# kselftest's run_kselftest.sh.
. "$(dirname "$0")/lib.sh"

[ $# -ge 1 ] || usage
arch=$1 tree=${2:-$LINUX}
out=$tree/out-$arch
use_arch "$arch"
need make rsync "${compiler[@]}" gcc libc6-dev=/usr/include/stdio.h
flags=(USERCFLAGS="${selftest_cflags:-}" USERLDFLAGS=-static)
key=$(tree_key "$tree" 'tools/perf|Documentation|drivers|fs|kernel|mm|net|sound'
	cat "$arch_conf" "$0" "$TOP"/tests/perf_events/* | sha256sum
	"${CROSS_COMPILE}gcc" --version | head -n 1)

# Build the programs of tests/perf_events, which share the headers of the selftests.
build_own()
{
	local dir=$TOP/tests/perf_events flags=() program
	local programs=(count_fuzz found found_inherit group_stress neighbours sample_cost)

	# A topic by itself does not have all that these use.
	[ -e "$tree/tools/testing/selftests/perf_events/alt_period_bpf.h" ] || return 0
	flags=(-O2 -Wall -D_GNU_SOURCE= -static -pthread -isystem "$out/usr/include"
		-I"$tree/tools/testing/selftests" -I"$tree/tools/testing/selftests/perf_events"
		-idirafter "$tree/tools/include" "-ffile-prefix-map=$TOP/=")
	# shellcheck disable=SC2206 # several words
	flags+=(${selftest_cflags:-})
	[ "$arch" != x86_64 ] || programs+=(found_topdown)
	for program in "${programs[@]}"; do
		"${CROSS_COMPILE}gcc" "${flags[@]}" -o "$out/selftests/perf_events/$program" \
			"$dir/$program.c"
	done
	# For kselftest's runner to know it.
	echo perf_events:neighbours >> "$out/selftests/kselftest-list.txt"
	"${CROSS_COMPILE}gcc" "${flags[@]}" -o "$out/selftests/perf_events/alt_period_fuzz" \
		"$dir"/alt_period_fuzz*.c
}

build()
{
	mkdir -p "$out"
	rm -rf "$out/selftests"
	make -s -C "$tree" O="out-$arch" ARCH="$kernel_arch" headers
	make -s -C "$tree/tools/testing/selftests" O="$out" ARCH="$kernel_arch" \
		CROSS_COMPILE="$CROSS_COMPILE" FORCE_TARGETS=1 TARGETS=perf_events \
		"${flags[@]}" INSTALL_PATH="$out/selftests" install
	build_own
	set_built "$out/selftests" "$key"
}

is_built "$out/selftests" "$key" || step "selftests $arch of ${tree##*/}" build
echo "$out/selftests"
