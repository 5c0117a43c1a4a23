#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: struct-sizes.sh
#
# Print the sizes of the structs that the series touches, on the base and with
# it, and where the series' members of struct hw_perf_event are (arm64).
. "$(dirname "$0")/../make/lib.sh"

# What fails in $(...) ends the script.
shopt -s inherit_errexit
use_arch arm64
need dwarves=pahole bc bison ccache flex make perl "${compiler[@]}" gcc \
	libc6-dev=/usr/include/stdio.h
"$TOP/scripts/series/import.sh" linux

object()			# TREE
{
	local make=(make -s -C "$1" O=out-layout ARCH=arm64 CC="ccache ${CROSS_COMPILE}gcc"
		CROSS_COMPILE="$CROSS_COMPILE" KCFLAGS=-g -j"$JOBS") config

	mkdir -p "$1/out-layout"
	config=$(arch_config arm64)
	"${make[@]}" KCONFIG_ALLCONFIG="$config" allnoconfig >&2
	"${make[@]}" kernel/events/core.o >&2
	echo "$1/out-layout/kernel/events/core.o"
}

size()				# STRUCT OBJECT
{
	pahole -C "$1" "$2" |
		sed -nE 's|^\t/\* size: ([0-9]+), cachelines: ([0-9]+).*|\1 (\2)|p'
}

base_worktree
before=$(object "$BASE")
after=$(object "$LINUX")
printf '%-20s %14s %14s   (bytes, cache lines)\n' struct base series
for struct in perf_event hw_perf_event perf_event_attr perf_sample_data; do
	old=$(size $struct "$before")
	new=$(size $struct "$after")
	printf '%-20s %14s %14s\n' "$struct" "$old" "$new"
done
echo
comm -13 <(pahole -C hw_perf_event "$before" | grep -oE '[a-z_0-9]+;' | sort) \
	<(pahole -C hw_perf_event "$after" | grep -oE '[a-z_0-9]+;' | sort) |
	while read -r member; do
		pahole -C hw_perf_event "$after" | grep -F "$member" |
			sed -E 's|^\t||; s|/\* +|/* offset |; s| +([0-9]+) \*/| size \1 */|'
	done
