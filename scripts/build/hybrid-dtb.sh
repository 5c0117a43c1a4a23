#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: hybrid-dtb.sh QEMU OPTION...
#
# Print the path of a device tree for the arm64 machine that QEMU makes with these
# options, which has two kinds of core PMU (machines/dts/arm64-hybrid.dtsi).
. "$(dirname "$0")/../common.sh"

dir=$BUILD/dtb
mkdir -p "$dir"
"$@" -machine dumpdtb="$dir/qemu.dtb" -display none 2> /dev/null
{
	# Where the cells of an interrupt are three, there is a fourth now: 0.
	dtc -q -I dtb -O dts "$dir/qemu.dtb" | sed -E '
		s/(#interrupt-cells = <)0x03>/\10x04>/
		/^\t+interrupts = </s/((0x[0-9a-f]+ ){2}0x[0-9a-f]+)/\1 0x00/g'
	cat "$TOP/machines/dts/arm64-hybrid.dtsi"
} > "$dir/hybrid.dts"
dtc -q -I dts -O dtb "$dir/hybrid.dts" > "$dir/hybrid.dtb"
echo "$dir/hybrid.dtb"
