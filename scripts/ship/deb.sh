#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: deb.sh [perf]
#
# Build Debian packages of the kernel and of perf, or of perf alone, in build/deb, and
# say how to install them, and how to go back.
. "$(dirname "$0")/../make/lib.sh"

[[ $# -le 1 && ${1:-perf} = perf ]] || usage
dir=$BUILD/deb
if [ $# = 1 ]; then
	"$TOP/scripts/series/import.sh" linux
	perf=$("$TOP/scripts/ship/deb-perf.sh" "$dir")
	cat <<-END
	Install it, beside the distribution's:     sudo apt install $perf
	On the kernel that runs:                   perf-windows fnstat record -- PROGRAM
	                                           perf-windows fnstat report
	Go back:                                   sudo apt purge linux-perf-windows
	END
	exit
fi
# Before anything is built, or installed for that: it takes hours.
choose_config
! zgrep -q '^CONFIG_DEBUG_INFO_BTF=y' "$config" ||
	warn 'the kernel will have no BTF: bpftrace and others that need it fail until you go back'
for file in /sys/firmware/efi/efivars/SecureBoot-*; do
	[ ! -e "$file" ] || [ "$(tail -c 1 "$file" | od -An -tu1)" -eq 0 ] ||
		warn 'Secure Boot is on, and refuses the kernel unless you sign it (sbsign, mokutil)'
done
"$TOP/scripts/series/import.sh" linux
"$TOP/scripts/ship/deb-perf.sh" "$dir"
kernel=$("$TOP/scripts/ship/deb-kernel.sh" "$dir")
echo "$kernel"
cat <<END

Install them, beside the distribution's:   sudo apt install $dir/*.deb
Reboot, and:                               perf-windows fnstat record -- PROGRAM
Go back, with one of:                      'Advanced options' in the menu of the boot loader
                                           sudo apt purge 'linux-*-windows'
END
