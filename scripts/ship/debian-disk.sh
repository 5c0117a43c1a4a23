#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: debian-disk.sh QEMU [PACKAGE...]
#
# Make a disk with a Debian 12 for x86: its cloud kernel, its boot loader, the PACKAGEs, and
# a service that runs what scripts/ship/disk.sh gives to it. Print the directory, which is
# cached: disk.img, and the kernel's configuration and loaded modules, config and lsmod.
. "$(dirname "$0")/../make/lib.sh"

[ $# -ge 1 ] || usage
emulator=$1
shift
suite=bookworm
packages=(systemd-sysv kmod udev linux-image-cloud-amd64 initramfs-tools grub-pc "$@")
guest=$TOP/tests/disk
megabytes=3072 offset=1		# of the file system
key=$(cat "$0" "$guest"/{bench,bench.service,grub.sh}; echo "${packages[@]}")
dir=$CACHE/debian/$(sha256sum <<< "$key" | cut -c-16)
tmp=$dir.tmp

# Print a script that completes the tree below "$1".
finish()
{
	cat <<-END
		set -eu
		cp '$guest/bench' "\$1/usr/local/sbin/bench"
		chmod 755 "\$1/usr/local/sbin/bench"
		cp '$guest/bench.service' "\$1/etc/systemd/system/"
		chroot "\$1" systemctl --quiet enable bench.service
		chroot "\$1" systemctl --quiet mask apt-daily.timer apt-daily-upgrade.timer \
			dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
			fstrim.timer getty@tty1.service serial-getty@ttyS0.service
		echo bench > "\$1/etc/hostname"
		echo '/dev/vda1 / ext4 errors=remount-ro 0 1' > "\$1/etc/fstab"
		cat >> "\$1/etc/default/grub" <<-GRUB
			GRUB_CMDLINE_LINUX="console=ttyS0 panic=-1"
			GRUB_CMDLINE_LINUX_DEFAULT=
			GRUB_TERMINAL="serial console"
			GRUB_SERIAL_COMMAND="serial --unit=0 --speed=115200"
			GRUB_TIMEOUT=0
			GRUB_DISABLE_OS_PROBER=true
		GRUB
		cp "\$1"/boot/vmlinuz-* '$tmp/vmlinuz'
		cp "\$1"/boot/initrd.img-* '$tmp/initrd.img'
		cp "\$1"/boot/config-* '$tmp/config'
	END
}

build()
{
	local as_root=()

	rm -rf "$CACHE"/debian/*.tmp
	mkdir -p "$tmp"
	truncate -s ${megabytes}M "$tmp/disk.img"
	echo "start=$((offset * 2048)), type=83, bootable" | sfdisk -q "$tmp/disk.img"
	finish > "$tmp/finish"
	# The mirror of this machine, as the other packages of Debian.
	"$TOP/scripts/apt-private.sh" debian "$suite" amd64 apt-get -qq update
	mmdebstrap --variant=apt --architectures=amd64 --format=tar \
		--aptopt='APT::Sandbox::User "root"' --aptopt='Acquire::Languages "none"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--include="$(IFS=,; echo "${packages[*]}")" \
		--customize-hook="sh '$tmp/finish' \"\$1\"" \
		"$suite" "$tmp/root.tar" "$CACHE/apt/debian/sources.list"
	# The owners of files are what root, or what seems to be root, makes of them.
	[ "$(id -u)" = 0 ] || as_root=(unshare --map-root-user --map-auto)
	"${as_root[@]}" sh -ec "mkdir '$tmp/root'
		tar -C '$tmp/root' --exclude='./dev/*' -xf '$tmp/root.tar'
		mke2fs -q -t ext4 -L bench -E offset=$((offset << 20)) -d '$tmp/root' \
			'$tmp/disk.img' $((megabytes - offset))m
		rm -rf '$tmp/root' '$tmp/root.tar'"
	# Its own tools install the boot loader.
	"$TOP/scripts/ship/disk.sh" "$emulator" "$tmp/disk.img" "$tmp/grub" 1800 "$guest/grub.sh" -- \
		-cpu qemu64,svm=off -kernel "$tmp/vmlinuz" -initrd "$tmp/initrd.img" \
		-append 'root=/dev/vda1 console=ttyS0 panic=-1'
	sed '1,/^BEGIN$/d; /^END$/,$d; /^+/d' "$tmp/grub" > "$tmp/lsmod"
	rm -rf "$dir"
	mv "$tmp" "$dir"
}

need e2fsprogs=/usr/sbin/mke2fs fdisk=/usr/sbin/sfdisk mmdebstrap tar xz-utils=xz
PATH=$PATH:/usr/sbin
mkdir -p "$CACHE/debian"
lock_cache debian
[ -d "$dir" ] || step "disk with Debian $suite" build
echo "$dir"
