#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: deps.sh
#
# Install what the builds and the test machines need and this machine misses.
. "$(dirname "$0")/common.sh"

packages=(
	bc bison ca-certificates ccache cpio debian-archive-keyring flex gcc g++
	git libc6-dev libelf-dev make perl pkg-config python3 python3-git python3-ply rsync
	xz-utils
	gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross
	qemu-system-arm qemu-system-x86 shellcheck
)

missing=()
for package in "${packages[@]}"; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
	[ "$status" = installed ] || missing+=("$package")
done
# Where the base comes from, see apt-private.sh, is in the package lists.
# shellcheck disable=SC2016 # apt expands that
apt-get indextargets --format '$(ORIGIN)' | grep -x Debian > /dev/null || lists=no
[ ${#missing[@]} -gt 0 ] || [ -n "${lists:-}" ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
	command -v sudo > /dev/null ||
		die "neither root nor sudo for 'apt-get update' and to install ${missing[*]}"
	as_root=(sudo)
fi
"${as_root[@]}" apt-get -qq update
[ ${#missing[@]} -gt 0 ] || exit 0
say "installing ${missing[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
	apt-get -qq install -y --no-install-recommends "${missing[@]}" > /dev/null
