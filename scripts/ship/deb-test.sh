#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: deb-test.sh [DIRECTORY]
#
# Build the packages of "make deb", or take those in DIRECTORY, and show on a disk with
# Debian 12 that perf alone installs on Debian's kernel, and what perf fnstat tells there of
# CPUs with branch stacks, with precise events, and with neither. Then, unless DIRECTORY has
# no kernel, with the counters of an Ice Lake: both install, the boot loader starts the new
# kernel, where perf records with windows, and Debian's kernel is back when they are
# removed. What the machines printed is in build/results/deb. KTAP.
. "$(dirname "$0")/../run/machines.sh"

[ $# -le 1 ] || usage
guest=$TOP/tests/disk
results=$RESULTS/deb
disk=$results/disk.img

emulator=$("$TOP/scripts/make/qemu.sh" x86_64)
"$TOP/scripts/series/import.sh" linux
dir=${1:-$BUILD/deb-test}
[ $# = 1 ] || "$TOP/scripts/ship/deb-perf.sh" "$dir" > /dev/null
perf=("$dir"/linux-perf-windows_*.deb)
[ -e "${perf[0]}" ] || die "no package of perf in $dir"
# Debian's disk leaves out manuals and documents.
for file in man/man1/perf-fnstat.1 doc/linux-perf-windows/report-json.txt \
	doc/linux-perf-windows/report_json.sql; do
	dpkg-deb -c "${perf[0]}" | grep -F " ./usr/share/$file" > /dev/null || die "no $file in ${perf[0]}"
done
# The disk has what perf depends on, and nothing that it does not say.
mapfile -t libraries < <(dpkg-deb -f "${perf[0]}" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//')
debian=$("$TOP/scripts/ship/debian-disk.sh" "$emulator" python3-minimal "${libraries[@]}")
# The modules that this machine has loaded: a kernel with all of them takes an hour.
[ $# = 1 ] || CONFIG=$debian/config LOCALMODCONFIG=1 LSMOD=$debian/lsmod \
	"$TOP/scripts/ship/deb-kernel.sh" "$dir" > /dev/null
packages=("$dir"/*.deb)
kernels=("$dir"/linux-image-*.deb)
[[ $# = 1 || -e ${kernels[0]} ]] || die "no package of a kernel in $dir"

rm -rf "$results"
mkdir -p "$results"
# To be removed as docs/install.md says.
sed -n "s/^ *sudo \(apt purge\) \(.*\) && sudo reboot\$/\1 -q -y \2/p" "$TOP/docs/install.md" > "$results/purge"
[ "$(wc -l < "$results/purge")" = 1 ] || die 'docs/install.md does not say how to remove the packages'
trap 'rm -f "$disk"' EXIT

nr=0
boot()			# NAME WHAT-IT-SHOWS SCRIPT [FILE...]
{
	local name=$1 what=$2 script=$3 start=$SECONDS
	shift 3

	if ! "$TOP/scripts/ship/disk.sh" "$emulator" "$disk" "$results/$name" 1800 \
			"$guest/$script.sh" "$guest/transcript.sh" "$@" -- -cpu "$cpu"; then
		echo "not ok $((++nr)) $name: $what"
		echo "# see ${results#"$TOP/"}/$name"
		exit 1
	fi
	echo "ok $((++nr)) $name: $what"
	echo "# $((SECONDS - start)) s, on $(sed -n 's/^Linux version \([^ ]*\).*/\1/p; s/.*\] Linux version \([^ ]*\).*/\1/p' \
		"$results/$name.console" | head -n 1)"
}

# Use a new copy of the disk on MACHINE.
use_disk()		# MACHINE
{
	load_machine "$1"	# sets cpu
	cp --sparse=always --reflink=auto "$debian/disk.img" "$disk"
}

# Install perf alone, and record.
alone()			# MACHINE WHAT-IT-SAYS
{
	use_disk "$1"
	echo "$2" > "$results/says"
	boot "alone-$1" "perf alone on Debian's kernel: $2" perf-alone \
		"$guest/program.py" "$results/says" "${perf[0]}"
}

echo 'TAP version 13'
[ -e "${kernels[0]}" ] && echo '1..6' || echo '1..3'
alone x86_64-lbr 'from branch stacks'
alone x86_64-intel 'from samples alone'
alone x86_64-zen4 'samples are late'
[ -e "${kernels[0]}" ] || exit 0
use_disk x86_64-intel
boot install "apt installs the packages on Debian's kernel, where perf has plain periods" install \
	"$guest/program.py" "${packages[@]}"
boot record 'the boot loader starts the new kernel, perf has windows, apt removes both' record \
	"$guest/program.py" "$results/purge"
boot back "Debian's kernel is back, and nothing is left" back
