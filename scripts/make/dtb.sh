#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: dtb.sh DTSI DIRECTORY QEMU OPTION...
#
# Write to DIRECTORY the device tree of the machine that QEMU makes with
# these options, with machines/dts/DTSI added, and print its path.
. "$(dirname "$0")/lib.sh"

[ $# -ge 3 ] || usage
dtsi=$TOP/machines/dts/$1 dir=$2
shift 2
need device-tree-compiler=dtc
"$@" -machine dumpdtb="$dir/qemu.dtb" -display none 2> /dev/null
{
	# With partitions, where the cells of an interrupt are three there is a fourth: 0.
	dtc -q -I dtb -O dts "$dir/qemu.dtb" |
		if grep -q ppi-partitions "$dtsi"; then
			sed -E 's/(#interrupt-cells = <)0x03>/\10x04>/
				/^\t+interrupts = </s/((0x[0-9a-f]+ ){2}0x[0-9a-f]+)/\1 0x00/g'
		else
			cat
		fi
	cat "$dtsi"
} > "$dir/machine.dts"
dtc -q -I dts -O dtb "$dir/machine.dts" > "$dir/machine.dtb"
echo "$dir/machine.dtb"
