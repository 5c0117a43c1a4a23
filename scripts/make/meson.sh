#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: meson.sh
#
# Print the directory of a meson that configures our QEMU, that of meson.pin:
# Debian 12's is too old.
. "$(dirname "$0")/lib.sh"

pin=$TOP/scripts/make/meson.pin
directory() { echo "$CACHE/meson/$(sha256sum "$pin" | cut -c-16)"; }

fetch()
{
	local tmp=$CACHE/meson/tmp

	rm -rf "$tmp"
	fetch_pinned "$pin" bookworm-backports "$(dpkg --print-architecture)" "$tmp" meson
	dpkg -x "$tmp"/meson_*.deb "$tmp"
	rm -rf "$(directory)"
	mv "$tmp" "$(directory)"
}

lock_cache meson
if [ -n "${UPDATE_PINS:-}" ] || [ ! -d "$(directory)" ]; then
	step meson fetch
fi
directory
