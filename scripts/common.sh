# SPDX-License-Identifier: GPL-2.0
# Sourced by every script here: where things are, and how to say things.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/perf-windows
BUILD=$TOP/build
LINUX=$BUILD/linux		# base + series: the tree to work in
BASE=$BUILD/base		# base alone, for comparisons
QEMU=$BUILD/qemu		# QEMU with its series
QEMU_FIRMWARE=(-L /usr/share/seabios -L /usr/share/qemu)	# of Debian's, for ours
JOBS=${JOBS:-$(nproc)}

# BASE_PACKAGE, BASE_VERSION, BASE_SHA256
. "$TOP/patches/base.pin"

say() { printf '==> %s\n' "$*" >&2; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() { printf '%s: error: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Objects of earlier builds, wherever the tree of that build was.
export CCACHE_DIR=$CACHE/ccache CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=5G
export CCACHE_SLOPPINESS=time_macros

# How to build for an architecture: CROSS_COMPILE, kernel_arch (what the kernel
# calls it), kernel_target, kernel_image.
use_arch()
{
	kernel_arch=$1
	case $1 in
	arm64)
		CROSS_COMPILE=aarch64-linux-gnu-
		kernel_target=Image kernel_image=arm64/boot/Image
		debian_arch=arm64 multiarch=aarch64-linux-gnu ;;
	riscv64)
		CROSS_COMPILE=riscv64-linux-gnu- kernel_arch=riscv
		kernel_target=Image kernel_image=riscv/boot/Image
		debian_arch=riscv64 multiarch=riscv64-linux-gnu ;;
	x86_64)
		CROSS_COMPILE=x86_64-linux-gnu-
		kernel_target=bzImage kernel_image=x86/boot/bzImage
		debian_arch=amd64 multiarch=x86_64-linux-gnu ;;
	*)
		die "no test kernel for architecture '$1' (arm64, riscv64, x86_64)" ;;
	esac
	export CROSS_COMPILE kernel_arch kernel_target kernel_image debian_arch multiarch
}

# allnoconfig drops silently what has unmet dependencies.
check_config()			# WANTED CONFIG WHAT-FOR
{
	local line option

	while IFS= read -r line; do
		option=${line%%=*}
		case $line in
		*=n)	! grep -q "^$option=" "$2" ;;
		*)	grep -qxF "$line" "$2" ;;
		esac || die "$line cannot be set for $3"
	done < <(grep '^CONFIG_' "$1")
}

# Install those of the packages that this machine misses.
install_packages()		# PACKAGE...
{
	local package status lists='' missing=() as_root=()

	for package; do
		status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
		[ "$status" = installed ] || missing+=("$package")
	done
	# Where the base comes from, see apt-private.sh, is in the package lists.
	# shellcheck disable=SC2016 # apt expands that
	apt-get indextargets --format '$(ORIGIN)' | grep -x Debian > /dev/null || lists=no
	[ ${#missing[@]} -gt 0 ] || [ -n "$lists" ] || return 0

	if [ "$(id -u)" != 0 ]; then
		command -v sudo > /dev/null ||
			die "neither root nor sudo for 'apt-get update' and to install ${missing[*]}"
		as_root=(sudo)
	fi
	"${as_root[@]}" apt-get -qq update
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing ${missing[*]}"
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install -y --no-install-recommends "${missing[@]}" > /dev/null
}

# What a tree was made from.
series_key()			# BASE-COMMIT PATCH...
{
	echo "$1-$(cat /dev/null "${@:2}" | sha256sum | cut -c-64)"
}

# Write the commits base..series of the tree that is the working directory to
# DIRECTORY, in place of the patches that are there.
export_patches()		# DIRECTORY
{
	[ -z "$(git status --porcelain)" ] ||
		die "$PWD has changes that are not committed"
	[ -n "$(git rev-list base..series)" ] || die "$PWD has no series"

	mkdir -p "$1"
	rm -f "$1"/[0-9]*.patch
	git format-patch -q --zero-commit --no-signature --base=base \
		--output-directory="$1" base..series
}

# What is exported to DIRECTORY needs no import.
mark_exported()			# DIRECTORY
{
	git config series.imported \
		"$(series_key "$(git rev-parse base)" "$1"/[0-9]*.patch)"
	git config series.head "$(git rev-parse HEAD)"
}

# Let import.sh apply the series to TREE anew, if it is there. The import before
# may have failed.
forget_import()			# TREE
{
	[ -d "$1/.git" ] || return 0
	git -C "$1" am --abort 2> /dev/null || true
	git -C "$1" checkout -qf series
	git -C "$1" clean -qfd
	git -C "$1" config --unset series.imported || true
}

# Commit all files of DIRECTORY, always as the same commit. Streaming every file
# into one pack (bigFileThreshold) takes half a minute where loose objects take
# minutes.
snapshot()			# REPOSITORY DIRECTORY MESSAGE
{
	local git=(git --git-dir="$1" --work-tree="$2"
		-c core.bigFileThreshold=1 -c core.compression=1
		-c core.fsync=none -c gc.auto=0)
	local tree commit

	[ -d "$1" ] || git init -q --bare "$1"
	(cd "$2" && "${git[@]}" add -A -f .)
	tree=$("${git[@]}" write-tree)
	commit=$(GIT_AUTHOR_NAME=base GIT_AUTHOR_EMAIL='' \
		GIT_AUTHOR_DATE='@0 +0000' GIT_COMMITTER_NAME=base \
		GIT_COMMITTER_EMAIL='' GIT_COMMITTER_DATE='@0 +0000' \
		"${git[@]}" commit-tree -m "$3" "$tree")
	"${git[@]}" update-ref HEAD "$commit"
}

# build/base: the base alone.
base_worktree()
{
	[ -e "$BASE/.git" ] ||
		git -C "$LINUX" worktree add -q --force --detach "$BASE" base
	git -C "$BASE" checkout -q --detach base
}
