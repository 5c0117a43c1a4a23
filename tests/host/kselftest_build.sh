#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: kselftest_build.sh
#
# Build the perf_events selftests in each way that users build selftests, from a
# clean clone of the commit in build/linux, and see that all programs are there.
# Nothing is run. KTAP.
. "$(dirname "$0")/../../scripts/make/lib.sh"
. "$TOP/scripts/run/machines.sh"

need bc bison ccache clang flex make perl rsync gcc libc6-dev=/usr/include/stdio.h \
	libelf-dev=/usr/include/gelf.h zlib1g-dev=/usr/include/zlib.h
use_arch arm64
need "${compiler[@]}"
"$TOP/scripts/series/import.sh" linux

# A clone that shares the objects, without what no selftest needs.
tree=$BUILD/kselftest
rm -rf "$tree"
git clone -q --shared --no-checkout "$LINUX" "$tree"
git -C "$tree" sparse-checkout set --no-cone '/*' '!/Documentation/' '!/drivers/*' '!/sound/*' \
	'!/fs/*' '!/net/*' '!/kernel/*' '!/mm/*' '!/lib/*' '!/tools/perf/' \
	'!/tools/testing/*' '/tools/testing/selftests/*' '!/tools/testing/selftests/*/' \
	'/tools/testing/selftests/perf_events/' '/tools/testing/selftests/kselftest/' \
	'!/arch/*/*' '/arch/*/include/' '/arch/*/Makefile*' '/arch/*/tools/' '/arch/*/kernel/syscalls/' \
	'/arch/*/entry/syscalls/' 'Kconfig*'
git -C "$tree" checkout -q "$(git -C "$LINUX" rev-parse HEAD)"
mapfile -t programs < <(selftest_names "$tree")
cd "$tree"

nr=0 failed=0
# Build, and look for the programs in DIRECTORY.
try()				# WHAT DIRECTORY COMMAND...
{
	local what=$1 dir=$2 log=$BUILD/log/kselftest-build.log program missing=()
	shift 2

	git clean -fdxq
	rm -rf "$out"
	[[ $dir != "$out"* ]] || [ "$1" = make_tar ] || mkdir "$out"
	if ! "$@" > "$log" 2>&1 < /dev/null; then
		tail -n 20 "$log" | sed 's/^/# /'
		missing+=('exit status')
	fi
	for program in "${programs[@]}"; do
		[ -x "$dir/$program" ] || missing+=("$program")
	done
	if [ ${#missing[@]} = 0 ]; then
		echo "ok $((++nr)) $what"
	else
		echo "# missing: ${missing[*]}"
		echo "not ok $((++nr)) $what"
		failed=1
	fi
}

# Where Debian's ccache has compilers of its own: the command lines are those of users.
PATH=/usr/lib/ccache:$PATH
quick=(-s -j"$JOBS")
out=$BUILD/kselftest-out
selftests=tools/testing/selftests

at_the_top()			# [O=DIRECTORY]
{
	make "${quick[@]}" "$@" allnoconfig && make "${quick[@]}" "$@" kselftest-all TARGETS=perf_events
}

selftests()			# ARGUMENT...
{
	make "${quick[@]}" "$@" headers && make -C "$selftests" "${quick[@]}" "$@" TARGETS=perf_events
}

make_tar()
{
	make "${quick[@]}" headers &&
		make -C "$selftests" "${quick[@]}" TARGETS=perf_events gen_tar && mkdir "$out" &&
		tar -xaf "$selftests"/kselftest_install/kselftest-packages/kselftest.tar.gz -C "$out"
}

echo 'TAP version 13'
echo '1..6'
try 'make kselftest-all TARGETS=perf_events, at the top' $selftests/perf_events at_the_top
try 'make O=DIRECTORY kselftest-all TARGETS=perf_events' "$out/kselftest/perf_events" \
	at_the_top O="$out"
try 'make -C tools/testing/selftests TARGETS=perf_events' $selftests/perf_events selftests
try 'the same with O=DIRECTORY, for arm64' "$out/kselftest/perf_events" \
	selftests O="$out" ARCH=arm64 CROSS_COMPILE="$CROSS_COMPILE"
try 'the same without clang' $selftests/perf_events selftests CLANG=false
try 'make -C tools/testing/selftests TARGETS=perf_events gen_tar' "$out/perf_events" make_tar
exit $failed
