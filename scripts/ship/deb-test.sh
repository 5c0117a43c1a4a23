#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: deb-test.sh [DIRECTORY]
#
# Build the packages of "make deb", or take those in DIRECTORY, and show on a disk with
# Debian 12, with the counters of an Ice Lake, that they install on Debian's kernel, where
# perf records with plain periods and says so; that the boot loader starts the new
# kernel, where it records with windows; and that Debian's kernel is back when
# they are removed. What the machine printed is in build/results/deb. KTAP.
. "$(dirname "$0")/../run/machines.sh"

[ $# -le 1 ] || usage
load_machine x86_64-intel	# sets cpu
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
compgen -G "$dir/linux-image-*.deb" > /dev/null || die "no package of a kernel in $dir"
packages=("$dir"/*.deb)

rm -rf "$results"
mkdir -p "$results"
# To be removed as docs/install.md says.
sed -n "s/^ *sudo \(apt purge\) \(.*\) && sudo reboot\$/\1 -q -y \2/p" "$TOP/docs/install.md" > "$results/purge"
[ "$(wc -l < "$results/purge")" = 1 ] || die 'docs/install.md does not say how to remove the packages'
trap 'rm -f "$disk"' EXIT
cp --sparse=always --reflink=auto "$debian/disk.img" "$disk"

nr=0
boot()			# NAME WHAT-IT-SHOWS [FILE...]
{
	local script=$1 what=$2 start=$SECONDS
	shift 2

	if ! "$TOP/scripts/ship/disk.sh" "$emulator" "$disk" "$results/$script" 1800 \
			"$guest/$script.sh" "$@" -- -cpu "$cpu"; then
		echo "not ok $((++nr)) $script: $what"
		echo "# see ${results#"$TOP/"}/$script"
		exit 1
	fi
	echo "ok $((++nr)) $script: $what"
	echo "# $((SECONDS - start)) s, on $(sed -n 's/^Linux version \([^ ]*\).*/\1/p; s/.*\] Linux version \([^ ]*\).*/\1/p' \
		"$results/$script.console" | head -n 1)"
}

echo 'TAP version 13'
echo '1..3'
boot install "apt installs the packages on Debian's kernel, where perf has plain periods" \
	"$guest/transcript.sh" "$guest/program.py" "${packages[@]}"
boot record 'the boot loader starts the new kernel, perf has windows, apt removes both' \
	"$guest/transcript.sh" "$guest/program.py" "$results/purge"
boot back "Debian's kernel is back, and nothing is left" "$guest/transcript.sh"
