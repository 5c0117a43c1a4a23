#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: deb-kernel.sh DIRECTORY
#
# Build Debian packages of the kernel in build/linux, with upstream's own packaging,
# leave them in DIRECTORY and print their paths: the image, and the headers for
# modules of others (DKMS). The release ends in -windows, so that they are installed
# beside the kernels of the distribution.
#
# The configuration is CONFIG=FILE or that of the running kernel, with Kconfig.fragment
# and without debug information. LOCALMODCONFIG=1 leaves out the modules that
# are not loaded: now, or in LSMOD=FILE, which lsmod wrote.
. "$(dirname "$0")/../make/lib.sh"

[ $# = 1 ] || usage
dir=$1
choose_config
need bc bison ccache cpio debhelper=dh dpkg-dev=dpkg-buildpackage flex gcc kmod \
	libc6-dev=/usr/include/stdio.h libdw-dev=/usr/include/dwarf.h \
	libelf-dev=/usr/include/gelf.h libssl-dev=/usr/include/openssl/ssl.h lz4 make perl \
	python3 rsync xz-utils=xz zstd

# The packages are written to the directory above that of the objects.
packages=$LINUX/out-deb
out=$packages/kernel
key=$(tree_key "$LINUX" 'tools/perf|tools/testing|Documentation'
	cat "$config" "$TOP/Kconfig.fragment" "$0" | sha256sum
	echo "${LOCALMODCONFIG:-}"; sha256sum < "${LSMOD:-/dev/null}"
	gcc --version | head -n 1)

kernel_make()
{
	make -s -C "$LINUX" O="$out" CC='ccache gcc' LOCALVERSION=-windows -j"$JOBS" "$@"
}

configure()
{
	local set=("$LINUX/scripts/config" --file "$out/.config") option file line

	case $config in
	*.gz)	gunzip -c "$config" > "$out/.config" ;;
	*)	cp "$config" "$out/.config" ;;
	esac
	# Certificates that only the distribution has.
	for option in SYSTEM_TRUSTED_KEYS SYSTEM_REVOCATION_KEYS MODULE_SIG_KEY; do
		file=$("${set[@]}" --state "$option")
		case $file in
		undef|''|certs/signing_key.pem)	continue ;;
		esac
		[ -e "$LINUX/$file" ] || "${set[@]}" --set-str "$option" \
			"$([ $option != MODULE_SIG_KEY ] || echo certs/signing_key.pem)"
	done
	# Debug information makes packages of half a gigabyte, and LOCALVERSION_AUTO a
	# name of each state of the tree.
	for option in DWARF_TOOLCHAIN_DEFAULT DWARF4 DWARF5 BTF; do
		"${set[@]}" --disable "DEBUG_INFO_$option"
	done
	"${set[@]}" --enable DEBUG_INFO_NONE --disable LOCALVERSION_AUTO
	kernel_make olddefconfig
	if [ -n "${LOCALMODCONFIG:-}" ]; then
		kernel_make localmodconfig < <(yes '')
	fi
	"$LINUX/scripts/kconfig/merge_config.sh" -m -O "$out" "$out/.config" "$TOP/Kconfig.fragment"
	kernel_make olddefconfig
	# Options of other architectures are not there at all.
	while IFS= read -r line; do
		! grep -qx "# ${line%=*} is not set" "$out/.config" ||
			die "$line cannot be set with $config"
	done < <(grep '^CONFIG_' "$TOP/Kconfig.fragment")
	check_config <(echo CONFIG_PERF_EVENTS=y) "$out/.config" "$config"
}

build()
{
	local version

	mkdir -p "$out"
	rm -f "$packages"/linux-*
	configure
	version=$(kernel_make --no-print-directory kernelversion)
	# The time: a later package is an upgrade, wherever it was built.
	kernel_make KDEB_PKGVERSION="$version-$(date -u +%Y%m%d%H%M)" KDEB_CHANGELOG_DIST=unstable \
		bindeb-pkg
	# The headers of libc stay those of the distribution.
	rm "$packages"/linux-libc-dev_*
	set_built "$out" "$key"
}

is_built "$out" "$key" || step 'packages of the kernel' build
mkdir -p "$dir"
rm -f "$dir"/linux-image-*.deb "$dir"/linux-headers-*.deb
# Without modules there is no package of headers.
cp "$packages"/*.deb "$dir"
ls "$dir"/linux-[ih]*.deb
