# SPDX-License-Identifier: GPL-2.0
# Sourced by every script here: where things are, and how to say things.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/perf-windows
BUILD=$TOP/build
LINUX=$BUILD/linux		# base + series: the tree to work in
BASE=$BUILD/base		# base alone, for comparisons
JOBS=${JOBS:-$(nproc)}

# BASE_PACKAGE, BASE_VERSION, BASE_SHA256
. "$TOP/patches/base.pin"

say() { printf '==> %s\n' "$*" >&2; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() { printf '%s: error: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Objects of earlier builds, wherever the tree of that build was.
export CCACHE_DIR=$CACHE/ccache CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=5G
export CCACHE_SLOPPINESS=time_macros

# How to build for an architecture: CROSS_COMPILE, kernel_target, kernel_image.
use_arch()
{
	case $1 in
	arm64)
		CROSS_COMPILE=aarch64-linux-gnu-
		kernel_target=Image kernel_image=arm64/boot/Image
		debian_arch=arm64 multiarch=aarch64-linux-gnu ;;
	x86_64)
		CROSS_COMPILE=x86_64-linux-gnu-
		kernel_target=bzImage kernel_image=x86/boot/bzImage
		debian_arch=amd64 multiarch=x86_64-linux-gnu ;;
	*)
		die "no test kernel for architecture '$1' (arm64, x86_64)" ;;
	esac
	export CROSS_COMPILE kernel_target kernel_image debian_arch multiarch
}

# What a tree was made from.
series_key()			# BASE-COMMIT PATCH...
{
	echo "$1-$(cat /dev/null "${@:2}" | sha256sum | cut -c-64)"
}
