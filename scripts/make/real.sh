#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: real.sh
#
# Print the path of a directory with real programs, bin/, what they work on, data/, and what
# each does, programs.table: the sources of real.pin, from Debian 12, as static programs for
# x86_64 with -O2 -g. Built once.
. "$(dirname "$0")/lib.sh"

[ $# = 0 ] || usage
[ "$(uname -m)" = x86_64 ] || die 'these are programs for x86_64, and there is no other compiler'
pin=$TOP/scripts/make/real.pin real=$TOP/tests/real
packages=(bzip2 lua5.4 sqlite3 zlib libzstd tcc nlohmann-json3 box2d cmark mawk minisat2 pugixml
	yaml-cpp)
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

# Compile a library and tests/real/PROGRAM.cpp as one file, which takes a fraction of the time.
build_together()		# PROGRAM DIRECTORY SOURCE...
{
	printf '#include "%s"\n' "${@:3}" "$real/$1.cpp" > "$1-all.cpp"
	ccache g++ "${flags[@]}" -std=c++17 -I"$2" -I"$2/include" -I"$2/src" -o "$bin/$1" "$1-all.cpp"
}

build_bfs()
{
	build_together bfs .
}

build_bzip2()
{
	cd bzip2
	ccache gcc "${flags[@]}" -D_FILE_OFFSET_BITS=64 -o "$bin/bzip2" bzip2.c blocksort.c huffman.c \
		crctable.c randtable.c compress.c decompress.c bzlib.c
}

build_jsonbench()
{
	build_together jsonbench nlohmann-json3/single_include
}

build_lua()
{
	cd lua5.4/src
	rm luac.c
	# Debian's rules write it.
	echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' > lua5.4-deb-multiarch.h
	# The seed of its hashes is the time otherwise, and no run like another.
	ccache gcc "${flags[@]}" -DLUA_USE_POSIX -D'luai_makeseed(L)=42' -o "$bin/lua" ./*.c -lm
}

build_minigzip()
{
	cd zlib
	CC='ccache gcc' CFLAGS='-O2 -g' LDFLAGS=-static ./configure --static
	make -s minigzip
	cp minigzip "$bin"
}

build_sqlite3()
{
	cd sqlite3
	make -s -f main.mk TOP=. BCC='ccache gcc' NAWK=awk EXE= sqlite3.c shell.c
	ccache gcc "${flags[@]}" -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -o "$bin/sqlite3" \
		shell.c sqlite3.c -lm
}

build_tcc()
{
	cd tcc
	./configure --debug --cc='ccache gcc' --extra-cflags='-O2 -g' --extra-ldflags=-static
	# Its Makefile takes one with TOP for a part of another.
	env -u TOP make -s tcc
	cp tcc "$bin"
}

build_box2d()
{
	# What it reads of a clock makes no run like another.
	sed -i 's/__linux__/NO_CLOCK/' box2d/include/box2d/b2_timer.h box2d/src/common/b2_timer.cpp
	build_together box2d box2d box2d/src/*/*.cpp
}

build_cmark()
{
	cd cmark/src
	sed 's/#cmakedefine \(.*\)/#define \1 1/' config.h.in > config.h
	sed 's/@[A-Z_]*@/0/g' cmark_version.h.in > cmark_version.h
	echo '#define CMARK_EXPORT' > cmark_export.h
	ccache gcc "${flags[@]}" -I. -o "$bin/cmark" ./*.c
}

build_mawk()
{
	cd mawk
	# Its configure takes longer than all of it.
	printf '#define %s\n' LOCALE DECL_ENVIRON SIZE_T_STDDEF_H GCC_NORETURN GCC_UNUSED 'OPT_TRACE 0' \
		HAVE_{ERRNO_H,FCNTL_H,FORK,ISNAN,MKTIME,PIPE,REAL_PIPES,STRFTIME,SYS_WAIT_H,UNISTD_H,WAIT} \
		'NAME_RANDOM "random"' 'MAWK_RAND_MAX RAND_MAX' 'mawk_rand random' 'mawk_srand srandom' \
		> config.h
	gcc -DHAVE_CONFIG_H -I. -o makescan makescan.c
	./makescan > scancode.c
	ccache gcc "${flags[@]}" -w -DHAVE_CONFIG_H -DLOCAL_REGEXP -I. -o "$bin/mawk" \
		{array,bi_funct,bi_vars,cast,code,da,error,execute,fcall,field,files,fin,hash,init,jmp}.c \
		{kw,main,matherr,memory,parse,print,re_cmpl,regexp,scan,scancode,split,trace,version}.c \
		zmalloc.c -lm
}

build_join()
{
	build_together join .
}

build_minisat()
{
	build_together minisat minisat2 minisat2/minisat/{core/Solver,utils/Options,utils/System}.cc
}

build_pugixml()
{
	build_together pugixml pugixml pugixml/src/pugixml.cpp
}

build_yamlcpp()
{
	build_together yamlcpp yaml-cpp yaml-cpp/src/*.cpp
}

build_zstd()
{
	# Where perf is not: a profile of what a recording does has both.
	make -s -C libzstd/programs CC='ccache gcc' CFLAGS='-O2 -g' \
		LDFLAGS='-static -Wl,-Ttext-segment=0x20000000' HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0 zstd
	cp libzstd/programs/zstd "$bin"
}

# Print a list of characters.
characters()			# FORMAT LINES
{
	python3 "$real/unicode.py" sqlite3/ext/fts3/unicode/UnicodeData.txt "$2" "$1" > "$out/data/t.$1"
}

build()
{
	local tmp=$CACHE/real/tmp out=$CACHE/real/tmp/out bin=$CACHE/real/tmp/out/bin file
	local program i running=0
	# Paths are in the debugging data: make them the same everywhere.
	export CCACHE_BASEDIR=$tmp

	rm -rf "$tmp"
	mkdir -p "$bin" "$out/data"
	fetch "$tmp"
	cd "$tmp"
	# What takes longest comes first.
	for program in sqlite3 zstd yamlcpp lua jsonbench pugixml box2d tcc mawk minigzip cmark \
			bzip2 minisat join bfs; do
		[ "$running" -lt "$JOBS" ] || { wait -n; running=$((running - 1)); }
		"build_$program" &
		running=$((running + 1))
	done
	for (( ; running; running--)); do
		wait -n
	done

	# The manual of Lua, lists of characters, the source of SQLite, and the specification of
	# Markdown.
	cp "$real"/t.* "$out/data"
	cp "$real/programs.table" "$out"
	cp lua5.4/doc/manual.html "$out/data/text350"
	characters json 3500
	characters xml 8000
	characters yaml 200
	tcc/tcc -Btcc -Itcc/include -E -o "$out/data/sq.c" -DSQLITE_THREADSAFE=0 sqlite3/sqlite3.c
	for ((i = 0; i < 4; i++)); do
		cat cmark/test/spec.txt
	done > "$out/data/spec.md"
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
