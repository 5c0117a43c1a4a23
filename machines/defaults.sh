# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0
# All variables that describe a machine, with their defaults. NAME.conf sets those of a CPU,
# variants.table what differs on machines that are variants of another one, and with kernels.

arch=			# machines/arch/ARCH.conf: compilers and packages; none is not booted
tree=series		# the kernel: series, base, or the version of a backport
fragment=		# machines/configs/FRAGMENT.config is added to the kernel's configuration
qemu=			# ours: QEMU with patches/qemu, otherwise Debian's

cpu=			# -cpu of QEMU
smp=1			# -smp
memory=512		# -m, in MB
machine=()		# other options of QEMU
# The clock: an instruction takes a nanosecond, and each run has the same date and random numbers.
clock=(-icount 'shift=0,sleep=off' -rtc 'base=2024-01-01,clock=vm' -seed 1)
devices=		# machines/dts/DEVICES is added to the device tree of QEMU
# Options of QEMU for the port that writes to the file RESULTS. Without ioeventfd it does so at
# once, and not when the host has time for it: a run would not repeat to the bit.
result_port=(-global virtio-mmio.ioeventfd=off -device virtio-serial-device
	-chardev 'file,id=results,path=RESULTS' -device 'virtserialport,chardev=results')
cmdline=		# of the kernel, with results=, the port in /dev that init sends results to
environment=		# of tests: 'NAME=VALUE ...'

# A variant does not have these of its machine, only its own:
driver=			# the PMU driver, for "make bench WHAT=drivers" to print
refuses='-'		# what this refuses, for the same
