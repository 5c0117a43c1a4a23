# SPDX-License-Identifier: GPL-2.0
# On the first boot of the disk, which QEMU started: Debian's boot loader starts the
# next ones.
set -ex
uname -r
grub-install /dev/vda
update-grub
# For who made the disk.
echo BEGIN
lsmod
echo END
