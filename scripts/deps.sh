#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: deps.sh
#
# Install what the builds and the test machines need and this machine misses.
. "$(dirname "$0")/common.sh"

packages=(
	bc bison ca-certificates ccache clang cpio debian-archive-keyring flex gcc g++
	git libc6-dev libelf-dev make perl pkg-config python3 python3-git python3-ply rsync
	xz-utils zlib1g-dev
	gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross
	gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
	device-tree-compiler opensbi qemu-system-arm qemu-system-misc qemu-system-x86 shellcheck
)
install_packages "${packages[@]}"
