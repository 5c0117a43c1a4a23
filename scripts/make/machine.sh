#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: machine.sh MACHINE LIST NAME [WHAT...]
#
# Build what the test MACHINE needs to run LIST, and WHAT, see list_needs(): its emulator, its
# kernel, and the initramfs build/initramfs/NAME.cpio. Prints their paths, a line each.
#
# On the machine, perf is in the path, the selftests are in /selftests, libperf's tests in
# /libperf and scripts in /guest and /perf-tests, all from the tree with the series: an old
# kernel has to cope with them. Of scripts and selftests there are those that LIST names, and
# those that these scripts name: with a change of another one, the results are still those of
# an earlier run (see boot.sh). WHAT "all" is for all of them. SOURCE=TREE takes all of this, and
# the kernel of a machine that runs the series, from another tree.
. "$(dirname "$0")/lib.sh"
. "$TOP/scripts/run/machines.sh"

[ $# -ge 3 ] || usage
name=$1 list=$2 output=$BUILD/initramfs/$3.cpio
needs=$(list_needs < "$list")
load_machine "$name"
[ -n "$arch" ] || die "'$name' is no machine to boot"
machine_qemu=$qemu
use_arch "$arch"

# What comes next uses one CPU at times: QEMU is built meanwhile.
if [ "$machine_qemu" = ours ]; then
	exec {emulator}< <("$TOP/scripts/make/qemu.sh" "${qemu#qemu-system-}")
else
	need "${qemu_packages[@]}"
fi
linux=${SOURCE:-$LINUX}
"$TOP/scripts/series/import.sh" linux
case $tree in
series)
	source=$linux ;;
base)
	source=$BASE
	base_worktree ;;
*)
	source=$BUILD/linux-$tree
	"$TOP/scripts/series/import.sh" "linux-$tree" ;;
esac

mkdir -p "${output%/*}"
kernel=$("$TOP/scripts/make/kernel.sh" "$arch" "$source" "$fragment")
selftests=$("$TOP/scripts/make/selftests.sh" "$arch" "$linux")
files=()

# Print those files whose name is a word of standard input.
mentioned()			# FILE...
{
	awk -F / 'FNR == NR { word[$0]; next } $NF in word' \
		<(grep -oE '[[:alnum:]_.+-]+') <(printf '%s\n' "$@")
}

scripts=("$TOP"/tests/guest/* "$TOP/scripts/ship/try-on-hardware.sh")
mapfile -t programs < <(find "$selftests/perf_events" -type f -executable)
perf_tests=("$linux"/tools/perf/tests/shell/*.sh)
if [[ " ${*:4} " != *' all '* ]]; then
	# Take those that the list names, and those that these use.
	mapfile -t named < <(mentioned "${scripts[@]}" < "$list")
	mapfile -t scripts < <(cat "$list" "${named[@]}" | mentioned "${scripts[@]}")
	mapfile -t programs < <(cat "$list" "${scripts[@]}" | mentioned "${programs[@]}")
	mapfile -t perf_tests < <(mentioned "${perf_tests[@]}" < "$list")
fi
for file in "${scripts[@]}"; do
	files+=("$file=guest/${file##*/}")
done
if [ ${#programs[@]} -gt 0 ]; then
	printf 'perf_events:%s\n' "${programs[@]##*/}" |
		grep -xFf - "$selftests/kselftest-list.txt" > "$output.list" || true
	files+=("$output.list=selftests/kselftest-list.txt"
		"$selftests"/{run_kselftest.sh=selftests/run_kselftest.sh,kselftest=selftests/kselftest}
		"$selftests/perf_events/settings=selftests/perf_events/settings")
	for file in "${programs[@]}"; do
		files+=("$file=selftests/perf_events/${file##*/}")
	done
fi
for what in $needs "${@:4}"; do
	case $what in
	libperf)
		directory=$("$TOP/scripts/make/libperf.sh" "$arch")
		files+=("$directory=$what") ;;
	perf)
		perf=$("$TOP/scripts/make/perf.sh" "$arch" "$linux")
		# What the tests read is where they are in tools/perf.
		files+=("$perf=usr/bin/perf"
			"$linux/tools/perf/perf-completion.sh=perf-completion.sh")
		for file in "${perf_tests[@]}" "$linux"/tools/perf/tests/shell/*/; do
			file=${file%/}
			files+=("$file=perf-tests/${file##*/}")
		done ;;
	python)
		libraries=$("$TOP/scripts/make/sysroot.sh" "$arch")
		files+=("$libraries/usr/bin/python3.11=usr/bin/python3"
			"$libraries/usr/lib/python3.11=usr/lib/python3.11" "$libraries/lib=lib")
		for file in "$libraries"/usr/lib/*/libsqlite3.so.0*; do
			files+=("$file=${file#"$libraries/"}")
		done
		[ ! -d "$libraries/lib64" ] || files+=("$libraries/lib64=lib64") ;;
	real)
		directory=$("$TOP/scripts/make/real.sh")
		files+=("$directory=real") ;;
	typed)
		while read -r file; do
			files+=("$file=typed/${file##*/}")
		done < <(mentioned "$TOP/README.md" "$linux"/tools/perf/Documentation/*.txt \
			"$linux"/Documentation/admin-guide/perf/*.rst < "$list") ;;
	all|nothing|profile) ;;
	*)	die "no WHAT='$what'" ;;
	esac
done
if [ "$machine_qemu" = ours ]; then
	read -r qemu <&"$emulator" || die "no QEMU for $name"
fi
"$TOP/scripts/make/initramfs.sh" "$arch" "$list" "$environment" "$output" "${files[@]}"
printf '%s\n' "$qemu" "$kernel" "$output"
