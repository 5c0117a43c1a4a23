# SPDX-License-Identifier: GPL-2.0
# On Debian's kernel again: nothing is left.
. ./lib.sh
uname -r
uname -r | no grep -e '-windows'
ls /boot /lib/modules
no ls -d /boot/*-windows* /lib/modules/*-windows* /usr/src/*-windows* /usr/*/*perf-windows
no grep -e '-windows' /boot/grub/grub.cfg
no dpkg-query -W 'linux-*-windows'
dpkg --audit
