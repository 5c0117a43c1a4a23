#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: deb-perf.sh DIRECTORY
#
# Build a Debian package of the perf in build/linux, leave it in DIRECTORY and print
# its path. Everything is in /usr/lib/perf-windows, but for the command perf-windows:
# the distribution's perf stays what it is.
. "$(dirname "$0")/../make/lib.sh"

[ $# = 1 ] || usage
dir=$1
package=linux-perf-windows prefix=/usr/lib/perf-windows
need asciidoctor bison ccache dpkg-dev=dpkg-shlibdeps flex gcc g++ libc6-dev=/usr/include/stdio.h \
	libdw-dev=/usr/include/dwarf.h libelf-dev=/usr/include/gelf.h \
	liblzma-dev=/usr/include/lzma.h libnuma-dev=/usr/include/numa.h \
	libpython3-dev=/usr/include/python3.*/Python.h libslang2-dev=/usr/include/slang.h \
	libtraceevent-dev=/usr/include/traceevent/event-parse.h libzstd-dev=/usr/include/zstd.h \
	make pkg-config python3 xmlto zlib1g-dev=/usr/include/zlib.h

out=$LINUX/out-deb/perf
root=$LINUX/out-deb/perf-root
key=$(tree_key "$LINUX" '[^/]*|tools/testing'
	cat "$0" "$TOP/html/fnstat-html.py" | sha256sum; gcc --version | head -n 1; dpkg -l libc6 libdw1 libelf1 libpython3-dev)

# The package is the same whatever else this machine has.
without=(NO_LIBPERL NO_LIBLLVM NO_JVMTI NO_LIBDEBUGINFOD NO_CAPSTONE NO_LIBPFM4
	NO_BABELTRACE2 NO_SDT NO_LIBCRYPTO NO_RUST NO_SHELLCHECK)

perf_make()
{
	make -s -C "$LINUX/tools/perf" O="$out" prefix="$prefix" DESTDIR="$root" lib=lib \
		CC='ccache gcc' CXX='ccache g++' HOSTCC='ccache gcc' \
		PYTHON=/usr/bin/python3 PYTHON_CONFIG=/usr/bin/python3-config \
		BUILD_BPF_SKEL=0 USE_ASCIIDOCTOR=1 "${without[@]/%/=1}" -j"$JOBS" "$@"
}

# Print what the programs and libraries below the working directory need.
depends()
{
	local files control

	mapfile -t files < <(find . -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF' - {} \; -print)
	control=$out/shlibdeps
	mkdir -p "$control/debian"
	printf 'Source: %s\n\nPackage: %s\nArchitecture: any\n' $package $package \
		> "$control/debian/control"
	files=("${files[@]/#./$PWD}")
	(cd "$control" && dpkg-shlibdeps -O "${files[@]}") | sed -n 's/^shlibs:Depends=//p'
}

build()
{
	local version wanted doc man

	mkdir -p "$out"
	rm -rf "$root"
	rm -f "$out"/*.deb
	# All paths are absolute here: let ccache find the objects of another tree.
	export CCACHE_BASEDIR=$LINUX
	perf_make install
	# Without one of these, it would be less than the distribution's.
	for wanted in dwarf libelf libnuma libpython libslang libtraceevent lzma zlib zstd; do
		"$root$prefix/bin/perf" check -q feature $wanted || die "perf is built without $wanted"
	done
	# Tests and workloads are found by their symbols: only debug information goes.
	find "$root" -type f -exec sh -c 'head -c 4 "$1" | grep -q ELF' - {} \; \
		-exec strip --strip-debug {} +
	doc=$root/usr/share/doc/$package man=$root/usr/share/man/man1
	mkdir -p "$root/usr/bin" "$doc" "$man" "$root/DEBIAN"
	# Not a link: perf takes "perf-NAME" for its command NAME.
	printf '#!/bin/sh\nexec %s/bin/perf "$@"\n' "$prefix" > "$root/usr/bin/perf-windows"
	chmod 755 "$root/usr/bin/perf-windows"
	install -m 755 "$TOP/html/fnstat-html.py" "$root/usr/bin/perf-windows-html"
	cp "$LINUX/COPYING" "$doc/copyright"
	cp "$LINUX"/tools/perf/Documentation/report-json.txt \
		"$LINUX"/tools/perf/tests/shell/lib/report_json.sql "$doc"
	# No other package has this page. The others are the distribution's there.
	ln -s "../../../lib/perf-windows/share/man/man1/perf-fnstat.1" "$man"
	[ -e "$man/perf-fnstat.1" ] || die 'perf is built without its manual'
	version=$(make -s --no-print-directory -C "$LINUX" kernelversion)
	cat > "$root/DEBIAN/control" <<-END
		Package: $package
		Version: $version-$(date -u +%Y%m%d%H%M)
		Architecture: $(dpkg --print-architecture)
		Maintainer: $(id -nu) <$(id -nu)@$(hostname)>
		Section: devel
		Priority: optional
		Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f 1)
		Depends: $(cd "$root" && depends)
		Recommends: binutils, man-db, python3
		Description: perf with windows: metrics of each function
		 The command is perf-windows, or perf with $prefix/bin in the path,
		 beside the perf of linux-perf. With a kernel that has no alternating periods
		 it records with plain ones, and says so. 'perf-windows help COMMAND' shows
		 the manual.
	END
	dpkg-deb --root-owner-group --build "$root" "$out"
	set_built "$out" "$key"
}

is_built "$out" "$key" || step 'package of perf' build
mkdir -p "$dir"
rm -f "$dir/$package"_*.deb
cp "$out"/*.deb "$dir"
ls "$dir/$package"_*.deb
