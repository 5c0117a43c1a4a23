#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: kernel.sh ARCH [TREE [FRAGMENT]]
#
# Build the test kernel for ARCH (a machines/arch/ARCH.conf) from TREE (default:
# build/linux) in TREE/out-ARCH and print the path of the image. Its configuration is what
# the machines need, what users are told to add (Kconfig.fragment) and what the selftests need
# (their config). With FRAGMENT,
# machines/configs/FRAGMENT.config is added, and it is in TREE/out-ARCH-FRAGMENT.
# A tree linux-VERSION has machines/configs/linux-VERSION.config in addition, which
# overrides the others.
. "$(dirname "$0")/lib.sh"

[ $# -ge 1 ] || usage
arch=$1 tree=${2:-$LINUX} fragment=${3:-}
configs=$TOP/machines/configs
use_arch "$arch"
fragments=("$configs/test.config" "$TOP/Kconfig.fragment" "$TOP/selftests/perf_events/config"
	"$configs/$arch.config")
[ ! -e "$tree/kernel/events/period_test.c" ] || fragments+=("$configs/series.config")
[ -z "$fragment" ] || fragments+=("$configs/$fragment.config")
[ ! -e "$configs/${tree##*/}.config" ] || fragments+=("$configs/${tree##*/}.config")
for file in "${fragments[@]}"; do
	[ -f "$file" ] || die "no configuration ${file#"$TOP/"}"
done

out=$tree/out-$arch${fragment:+-$fragment}
need bc bison ccache flex make perl "${compiler[@]}" gcc libc6-dev=/usr/include/stdio.h \
	libelf-dev=/usr/include/gelf.h
key=$(tree_key "$tree" 'tools/perf|tools/testing|Documentation'
	cat "${fragments[@]}" "$arch_conf" "$0" | sha256sum
	"${CROSS_COMPILE}gcc" --version | head -n 1)

kernel_make()
{
	# A build directory inside the tree keeps all paths relative, so that
	# ccache finds the objects again in another checkout.
	make -s -C "$tree" O="${out##*/}" ARCH="$kernel_arch" \
		CC="ccache ${CROSS_COMPILE}gcc" CROSS_COMPILE="$CROSS_COMPILE" \
		KBUILD_BUILD_TIMESTAMP='2026-01-01' KBUILD_BUILD_USER=perf \
		KBUILD_BUILD_HOST=windows KBUILD_BUILD_VERSION=1 LOCALVERSION= -j"$JOBS" "$@"
}

# Print all options: the last line of each counts. Of the PMU drivers at the end of
# Kconfig.fragment only those of ARCH are there.
options()
{
	local other=none

	[ "$arch" = arm64 ] || other='HW_PERF_EVENTS|ARM_PMU|ARM_PMUV3'
	cat "${fragments[@]}" | tac | awk -F= '!/^CONFIG_/ || !seen[$1]++' | tac |
		grep -vE "^CONFIG_($other)="
}

build()
{
	mkdir -p "$out"
	options > "$out/all.config"
	# Each time: an option can come and go with the commit that is checked out.
	kernel_make KCONFIG_ALLCONFIG="$out/all.config" allnoconfig
	check_config "$out/all.config" "$out/.config" "$arch"
	kernel_make "$kernel_target"
	set_built "$out" "$key"
}

is_built "$out" "$key" || step "kernel $arch${fragment:+-$fragment} of ${tree##*/}" build
echo "$out/arch/$kernel_image"
