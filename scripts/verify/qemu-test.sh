#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: qemu-test.sh
#
# Run the tests that our QEMU has of its performance counters, without a kernel:
# those of x86 on the CPUs that it emulates, with and without stalls, and each twice,
# as both runs print the same, those of Arm on CPUs with counters of 32 and of 64 bits.
. "$(dirname "$0")/../make/lib.sh"

binary=$("$TOP/scripts/make/qemu.sh" x86_64)
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
		-cpu "max,pmu=on,$2" \
		-chardev "file,id=output,path=$dir/$1" -device 'isa-debugcon,chardev=output' \
		-device 'isa-debug-exit,iobase=0xf4,iosize=0x4' -kernel "$dir/pmu" \
		< /dev/null > "$dir/$1.log" 2>&1 ||
		die "$(cat "$dir/$1" "$dir/$1.log")"
}

# The sums of a profile are what the guest has counted meanwhile.
check_profile()			# OUTPUT
{
	awk '$1 == 1 { for (i = 3; i <= 6; i++) sum[i] += $i }
	     END { print "profile 1:", sum[3], sum[4], sum[5], sum[6] }' "$dir/profile" |
		grep -qxFf - "$dir/$1" || die "the profile is not what is counted in $dir/$1"
}

declare -A cpus=(
	[intel]='vendor=GenuineIntel,family=6,model=106'
	[refill]='vendor=GenuineIntel,family=6,model=106,pmu-refill=40'
	[lbr]="vendor=GenuineIntel,family=6,model=106,pmu-refill=40,pmu-bubble=3,pmu-lbr=on,pmu-profile=$dir/profile"
	[late]='vendor=GenuineIntel,family=6,model=106,pmu-latency=50,pmu-latency-random=100,pmu-bubble=3,pmu-lbr=on'
	[cold]='vendor=GenuineIntel,family=6,model=106,pmu-refill=20,pmu-refill-random=30,pmu-refill-line=10,pmu-latency=50'
	[evict]='vendor=GenuineIntel,family=6,model=106,pmu-evict=100'
	[topdown]='vendor=GenuineIntel,family=6,model=143,pmu-metrics-width=20,pmu-metrics-clear=on,pmu-bubble=3'
	# Undefined after an overflow: the longest part of the test has 2^26 slots.
	[strict]='vendor=GenuineIntel,family=6,model=143,pmu-metrics-width=28,pmu-metrics-strict=on'
	[atom]='vendor=GenuineIntel,family=6,model=151,core-type=atom,pmu-bubble=3'
	[zen3]='vendor=AuthenticAMD,family=25,model=1,perfmon-v2=off'
	[zen4]='vendor=AuthenticAMD,family=25,model=17'
	[zen3-late]='vendor=AuthenticAMD,family=25,model=1,perfmon-v2=off,pmu-latency=70'
	[zen4-late]='vendor=AuthenticAMD,family=25,model=17,pmu-latency-random=60,pmu-latency=50'
	[zen4-bubble]='vendor=AuthenticAMD,family=25,model=17,pmu-bubble=3'
)
for cpu in "${!cpus[@]}"; do
	for stalls in off on; do
		# Without stalls one metric is all, which is never rounded.
		[ "$cpu-$stalls" != strict-off ] || continue
		for i in 1 2; do
			run "$cpu-$stalls-$i" "${cpus[$cpu]},pmu-stalls=$stalls"
			[ "$cpu" != lbr ] || check_profile "$cpu-$stalls-$i"
		done
		cmp "$dir/$cpu-$stalls-1" "$dir/$cpu-$stalls-2"
	done
done
# Each finds out by itself what its CPU does: it has to be what the CPU was told.
grep -qx 'an IRET refills 40 cycles' "$dir/refill-off-1" || die "pmu-refill has no effect"
grep -qx 'an IRET refills 20 to 30 cycles, and by chance 0 to 30' "$dir/cold-on-1" ||
	die "pmu-refill-random or pmu-refill-line has no effect"
grep -q '^an IRET evicts [345].' "$dir/evict-on-1" || die "pmu-evict has no effect"
for late in 'late-on-1: 50 to 150' 'zen3-late-off-1: 70 to 70' 'zen4-late-off-1: 50 to 110'; do
	grep -q "^an interrupt is ${late#*: } cycles late" "$dir/${late%: *}" ||
		die "pmu-latency has no effect"
done
grep -qx 'the counters of the metrics have 20 bits' "$dir/topdown-off-1" ||
	die "pmu-metrics-width has no effect"
grep -qx 'a bubble has 3 cycles' "$dir/topdown-off-1" || die "pmu-bubble has no effect"
grep -qx 'branches are recorded' "$dir/lbr-off-1" || die "pmu-lbr has no effect"
grep -qx 'RDPMC can clear the metrics' "$dir/topdown-off-1" ||
	die "pmu-metrics-clear has no effect"
grep -qx 'metrics add up to less than 255' "$dir/strict-on-1" ||
	die "pmu-metrics-strict has no effect"
for refused in '-cpu max,vendor=GenuineIntel,pmu=on' '-cpu max,vendor=AuthenticAMD,pmu=on' \
	       '-icount shift=0 -cpu max,vendor=CentaurHauls,pmu=on'; do
	# shellcheck disable=SC2086 # several options
	if timeout 10 "$binary" "${firmware[@]}" -machine pc $refused \
			-display none < /dev/null > "$dir/refused.log" 2>&1 ||
	   ! grep -q 'pmu=on needs' "$dir/refused.log"; then
		die "not refused: $refused ($(cat "$dir/refused.log"))"
	fi
done
# It has the counters on request only.
echo quit | timeout 10 "$binary" "${firmware[@]}" -machine pc -nic none -cpu max -S \
	-display none -monitor stdio > "$dir/max.log" 2>&1 || die "$(cat "$dir/max.log")"

binary=$("$TOP/scripts/make/qemu.sh" aarch64)
use_arch arm64
need "${compiler[@]}"
flags=(-nostdlib -ffreestanding -fno-stack-protector -fno-pie -mgeneral-regs-only -O0 -g
	-I"$tests/minilib")
"${CROSS_COMPILE}gcc" "${flags[@]}" -no-pie -static -Wl,-T"$tests/aarch64/system/kernel.ld" \
	-Wl,--build-id=none "$tests/aarch64/system"/{boot.S,pmu.c} "$tests/minilib/printf.c" \
	-o "$dir/pmu-arm64"
late=cortex-a57,pmu-latency=100,pmu-latency-random=100,pmu-refill=30,pmu-refill-random=40
for cpu in cortex-a57 max late-1 late-2; do
	timeout 120 "$binary" -machine virt -cpu "${cpu/#late-?/$late}" \
		-icount 'shift=0,sleep=off' -seed 1 -nic none -display none -serial none -monitor none \
		-chardev "file,id=output,path=$dir/$cpu" \
		-semihosting-config 'enable=on,target=native,chardev=output' \
		-kernel "$dir/pmu-arm64" < /dev/null > "$dir/$cpu.log" 2>&1 ||
		die "$(cat "$dir/$cpu" "$dir/$cpu.log")"
done
cmp "$dir/late-1" "$dir/late-2"
grep -qx 'an exception return takes 30 to 70 cycles more' "$dir/late-1" ||
	die "pmu-refill has no effect"
grep -q '^an interrupt is 100 to 200 cycles late' "$dir/late-1" || die "pmu-latency has no effect"
echo "the emulated performance counters are exact, twice the same"
