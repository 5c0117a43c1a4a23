#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: qemu-test.sh
#
# Run the test that our QEMU has of its performance counters, without a kernel,
# with and without stalls, and each twice: both runs print the same.
. "$(dirname "$0")/common.sh"

binary=$("$TOP/scripts/build/qemu.sh")
tests=$QEMU/tests/tcg
firmware=(-L /usr/share/seabios -L /usr/share/qemu)	# of Debian's, for ours
dir=$RESULTS/qemu-pmu
rm -rf "$dir"
mkdir -p "$dir"

flags=(-nostdlib -ffreestanding -fno-stack-protector -fno-pie -fcf-protection=none
	-mno-red-zone -O0 -g -I"$tests/minilib")
gcc "${flags[@]}" -mgeneral-regs-only -c "$tests/x86_64/system/pmu.c" -o "$dir/pmu.o"
gcc "${flags[@]}" -c "$tests/minilib/printf.c" -o "$dir/printf.o"
gcc "${flags[@]}" -Wa,--noexecstack -c "$tests/x86_64/system/boot.S" -o "$dir/boot.o"
gcc -no-pie -static -nostdlib -Wl,-T"$tests/x86_64/system/kernel.ld" -Wl,--build-id=none \
	"$dir"/{boot,pmu,printf}.o -lgcc -o "$dir/pmu"

run()			# OUTPUT CPU-PROPERTIES
{
	timeout 120 "$binary" "${firmware[@]}" -machine pc -m 512 \
		-icount 'shift=0,sleep=off' -seed 1 -nic none -display none -no-reboot \
		-cpu "max,vendor=GenuineIntel,family=6,model=106,$2" \
		-chardev "file,id=output,path=$dir/$1" -device 'isa-debugcon,chardev=output' \
		-device 'isa-debug-exit,iobase=0xf4,iosize=0x4' -kernel "$dir/pmu" \
		< /dev/null > "$dir/$1.log" 2>&1 ||
		die "$(cat "$dir/$1" "$dir/$1.log")"
}

for stalls in off on; do
	run "$stalls-1" "pmu=on,pmu-stalls=$stalls"
	run "$stalls-2" "pmu=on,pmu-stalls=$stalls"
	cmp "$dir/$stalls-1" "$dir/$stalls-2"
done
for refused in '-cpu max,vendor=GenuineIntel,pmu=on' \
	       '-icount shift=0 -cpu max,vendor=AuthenticAMD,pmu=on'; do
	# shellcheck disable=SC2086 # several options
	if timeout 10 "$binary" "${firmware[@]}" -machine pc $refused \
			-display none < /dev/null > "$dir/refused.log" 2>&1 ||
	   ! grep -q 'pmu=on needs' "$dir/refused.log"; then
		die "not refused: $refused ($(cat "$dir/refused.log"))"
	fi
done
echo "the emulated performance counters are exact, twice the same"
