# SPDX-License-Identifier: GPL-2.0
# On Debian's kernel again: nothing is left.
. ./transcript.sh
uname -r
uname -r | no grep -e '-windows'
ls /boot /lib/modules
state | diff /root/before -
no grep -e '-windows' /boot/grub/grub.cfg
dpkg --audit
