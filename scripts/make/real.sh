#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: real.sh
#
# Print the path of a directory with real programs, bin/, and what they work on, data/:
# the sources of real.pin, from Debian 12, as static programs for x86_64 with -O2 -g. Built
# once.
. "$(dirname "$0")/lib.sh"

[ $# = 0 ] || usage
[ "$(uname -m)" = x86_64 ] || die 'these are programs for x86_64, and there is no other compiler'
pin=$TOP/scripts/make/real.pin real=$TOP/tests/real
packages=(bzip2 lua5.4 sqlite3 zlib libzstd tcc nlohmann-json3)
need ccache dpkg-dev=dpkg-source gcc g++ libc6-dev=/usr/include/stdio.h make patch python3 tcl=tclsh
script=$(realpath "$0")
directory()
{
	echo "$CACHE/real/$( (cat "$pin" "$script" "$real"/*; gcc --version) | sha256sum | cut -c-16)"
}
flags=(-O2 -g -static)

fetch()				# DIRECTORY
{
	local package

	APT_TYPE=deb-src fetch_pinned "$pin" bookworm amd64 "$1" "${packages[@]}"
	cd "$1"
	for package in "${packages[@]}"; do
		dpkg-source --no-check -x "$package"_*.dsc "$package" > /dev/null
	done
}

build()
{
	local tmp=$CACHE/real/tmp out=$CACHE/real/tmp/out bin=$CACHE/real/tmp/out/bin file
	# Paths are in the debugging data: make them the same everywhere.
	export CCACHE_BASEDIR=$tmp

	rm -rf "$tmp"
	mkdir -p "$bin" "$out/data"
	fetch "$tmp"

	cd "$tmp/bzip2"
	ccache gcc "${flags[@]}" -D_FILE_OFFSET_BITS=64 -o "$bin/bzip2" bzip2.c blocksort.c huffman.c \
		crctable.c randtable.c compress.c decompress.c bzlib.c
	cd "$tmp/lua5.4/src"
	rm luac.c
	# Debian's rules write it.
	echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' > lua5.4-deb-multiarch.h
	ccache gcc "${flags[@]}" -DLUA_USE_POSIX -o "$bin/lua" ./*.c -lm
	cd "$tmp/zlib"
	CC='ccache gcc' CFLAGS='-O2 -g' LDFLAGS=-static ./configure --static
	make -s -j"$JOBS" minigzip
	cp minigzip "$bin"
	# Where perf is not: a profile of what a recording does has both.
	make -s -C "$tmp/libzstd/programs" -j"$JOBS" CC='ccache gcc' CFLAGS='-O2 -g' \
		LDFLAGS='-static -Wl,-Ttext-segment=0x20000000' HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0 zstd
	cp "$tmp/libzstd/programs/zstd" "$bin"
	cd "$tmp/sqlite3"
	make -s -f main.mk TOP=. BCC='ccache gcc' NAWK=awk EXE= sqlite3.c shell.c
	ccache gcc "${flags[@]}" -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -o "$bin/sqlite3" \
		shell.c sqlite3.c -lm
	cd "$tmp/tcc"
	./configure --debug --cc='ccache gcc' --extra-cflags='-O2 -g' --extra-ldflags=-static
	# Its Makefile takes one with TOP for a part of another.
	env -u TOP make -s tcc
	cp tcc "$bin"
	ccache g++ "${flags[@]}" -std=c++17 -I"$tmp/nlohmann-json3/single_include" -o "$bin/jsonbench" \
		"$real/jsonbench.cpp"

	# The manual of Lua, a list of characters, and the source of SQLite.
	cp "$real"/t.* "$out/data"
	cp "$tmp/lua5.4/doc/manual.html" "$out/data/text350"
	python3 "$real/unicode.py" "$tmp/sqlite3/ext/fts3/unicode/UnicodeData.txt" 3500 > "$out/data/t.json"
	./tcc -B. -I include -E -o "$out/data/sq.c" -DSQLITE_THREADSAFE=0 "$tmp/sqlite3/sqlite3.c"
	for file in "$bin"/*; do
		readelf -hW "$file" | grep -q 'Type: *EXEC' || die "${file##*/} is not at fixed addresses"
	done
	file=$(directory)
	rm -rf "$file"
	mv "$out" "$file"
	rm -rf "$tmp"
}

lock_cache real
if [ -n "${UPDATE_PINS:-}" ] || [ ! -d "$(directory)" ]; then
	[ -e "$pin" ] || : > "$pin"
	step 'real programs' build
fi
directory
