#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: robots.sh [NAME...]
#
# Run what the kernel's robots and maintainers run on a series, the rows of
# robots.table or those given, and print a line for each: NAME, result, seconds, and
# what it found. A result is
#
#   ok       nothing that the base does not complain of
#   as base  it fails on the base, too, and complains of nothing else there
#   FAIL     it fails, or complains of something new; this is the exit status, too
#   not run  the line says why
#
# What a row said is in build/log/robots-NAME.log. checkpatch, and whether the patches
# apply, are in "make check".
. "$(dirname "$0")/../make/lib.sh"

AS_BASE=76 NOT_RUN=77		# exit statuses of rows, which make does not have
table=$TOP/scripts/verify/robots.table
choose_rows "$table" "$@"

# A row that lacks a program is not a failure of the series.
available()			# PACKAGE...
{
	(need "$@") || not_run "cannot install $*"
}

not_run()			# WHY...
{
	echo "$*"
	exit "$NOT_RUN"
}

# Run "COMMAND TREE OUT ARGUMENT..." and leave what it says in OUT/log.
say_to_log()			# COMMAND TREE OUT ARGUMENT...
{
	mkdir -p "$3"
	"$@" > "$3/log" 2>&1
}

# Run COMMAND on the base, once.
of_base()			# COMMAND ARGUMENT...
{
	local out=$BASE/out-robots-$name key status=0

	base_worktree
	key=$(git -C "$BASE" rev-parse HEAD; echo "$*"; declare -f "$1")
	if ! is_built "$out" "$key"; then
		say_to_log "$1" "$BASE" "$out" "${@:2}" || status=$?
		echo "$status" > "$out/status"
		set_built "$out" "$key"
	fi
	return "$(cat "$out/status")"
}

# Judge what COMMAND says of build/linux by what it says of the base.
judge()				# COMMAND ARGUMENT...
{
	local out=$LINUX/out-robots-$name status=0 base_status=0 new count

	say_to_log "$1" "$LINUX" "$out" "${@:2}" || status=$?
	cat "$out/log" >&2
	count=$(complaints "$out/log" "$LINUX" | wc -l)
	if [ "$status" = 0 ] && [ "$count" = 0 ]; then
		echo 'no complaints'
		return
	fi
	of_base "$@" || base_status=$?
	new=$(comm -23 <(complaints "$out/log" "$LINUX") \
		<(complaints "$BASE/out-robots-$name/log" "$BASE"))
	if [ -n "$new" ]; then
		printf '\nNew:\n%s\n' "$new" >&2
		echo "$(wc -l <<< "$new") new: $(head -n 1 <<< "$new")"
		exit 1
	elif [ "$status" != 0 ] && [ "$base_status" = 0 ]; then
		echo "status $status, and 0 of the base"
		exit 1
	elif [ "$status" != 0 ]; then
		echo "$count complaints and status $status, as of the base"
		exit "$AS_BASE"
	fi
	echo "$count complaints, which the base has"
}

objects()			# ARCH PACKAGES COMPILER CONFIG TARGET...
{
	local verdict status=0 target count=0 out=$LINUX/out-objects-robots-$name

	verdict=$("$TOP/scripts/verify/compare-warnings.sh" "robots-$name" "$@") || status=$?
	cat "$out/log" >&2 || true
	for target in "${@:5}"; do
		count=$((count + $(find "$out/$target" -name '*.o' 2> /dev/null | wc -l)))
	done
	# Nothing is not to be taken for "nothing new".
	[ "$count" != 0 ] || { echo "${verdict:-failed}, and no objects"; exit 1; }
	echo "${verdict:-failed}, $count objects, $(complaints "$out/log" "$LINUX" | wc -l) complaints"
	case $status in
	0)	;;
	2)	exit "$AS_BASE" ;;
	*)	exit 1 ;;
	esac
}

# What else this machine has does not matter, as in deb-perf.sh.
perf_without=(NO_LIBPERL NO_LIBLLVM NO_JVMTI NO_LIBDEBUGINFOD NO_CAPSTONE NO_LIBPFM4
	NO_BABELTRACE2 NO_SDT NO_LIBCRYPTO NO_RUST NO_SHELLCHECK)

build_perf()			# TREE OUT ARGUMENT...
{
	local tree=$1 out=$2 goal=all word optimize='' cc='ccache gcc' cxx='ccache g++'
	local args=() variant

	for word in "${@:3}"; do
		# Build only perf itself of a variant.
		goal=$out/perf
		case $word in
		OPTIMIZE=*)	optimize=${word#*=} ;;
		LLVM=*)		args+=("$word") cc="ccache clang${word#*=}" cxx="ccache clang++${word#*=}" ;;
		make_*)		# What tests/make builds is there in one or more lines.
			mapfile -t variant < <(sed -nE "s/^${word}[[:space:]]+[:+]=[[:space:]]*//p" \
				"$tree/tools/perf/tests/make" | xargs -r -n 1)
			[ ${#variant[@]} != 0 ] || die "tests/make has no $word"
			args+=("${variant[@]}") ;;
		*)		args+=("$word") ;;
		esac
	done
	# All paths are absolute here: let ccache find the objects of another tree.
	# Debug information is not needed.
	rm -rf "$out/perf"
	CCACHE_BASEDIR=$tree make -s -k -C "$tree/tools/perf" O="$out" -j"$JOBS" CC="$cc" CXX="$cxx" \
		HOSTCC='ccache gcc' PYTHON=/usr/bin/python3 PYTHON_CONFIG=/usr/bin/python3-config \
		EXTRA_CFLAGS="$optimize -g0" "${perf_without[@]/%/=1}" "${args[@]}" "$goal" &&
		"$out/perf" version
}

perf()				# [VARIABLE=VALUE|make_NAME|OPTIMIZE=-On]...
{
	available bison ccache clang flex gcc g++ libc6-dev=/usr/include/stdio.h \
		libdw-dev=/usr/include/dwarf.h libelf-dev=/usr/include/gelf.h \
		liblzma-dev=/usr/include/lzma.h libnuma-dev=/usr/include/numa.h \
		libpython3-dev=/usr/include/python3.*/Python.h libslang2-dev=/usr/include/slang.h \
		libtraceevent-dev=/usr/include/traceevent/event-parse.h \
		libzstd-dev=/usr/include/zstd.h make pkg-config python3 python3-setuptools=/usr/lib/python3/dist-packages/setuptools \
		zlib1g-dev=/usr/include/zlib.h
	[[ "$*" != *LLVM=* ]] || available clang-19
	judge build_perf "$@"
}

# perf_event_attr may grow at its end, for its size tells its version. Everything else that
# check-uapi.sh says is printed.
uapi_changes()			# LOG
{
	awk '
		/^==== ABI differences detected in include\/linux\/perf_event.h /	{ next }
		/^(==== |error - )/ && !/^==== End/	{ if (!/^error - 1\/[0-9]+ UAPI/) print; next }
		/^=+$/ || /^ *$/ || /^Generated by/	{ next }
		/^ +.[C]. .struct perf_event_attr. changed:$/	{ next }
		/^ +type size changed from [0-9]+ to [0-9]+ .in bits.$/	{ end = $5; next }
		/^ +[0-9]+ data member insertions?:$/	{ next }
		/, at offset [0-9]+ .in bits. at perf_event.h/ && end {
			match($0, /at offset [0-9]+/)
			if (substr($0, RSTART + 10, RLENGTH - 10) + 0 >= end + 0)
				next
		}
		{ print }' "$1"
}

uapi()
{
	local abidiff out=$LINUX/out-robots-$name status=0 new

	abidiff=$("$TOP/scripts/make/abidiff.sh") || not_run 'no abidiff'
	mkdir -p "$out"
	rm -f "$out/changes"
	ABIDIFF=$abidiff CROSS_COMPILE='' "$LINUX/scripts/check-uapi.sh" -b series -p base -j "$JOBS" \
		-l "$out/changes" > "$out/log" 2>&1 || status=$?
	cat "$out/log" >&2
	if ! grep -q 'UAPI headers compatible with' "$out/log"; then
		echo "status $status: $(tail -n 1 "$out/log")"
		exit 1
	fi
	[ -s "$out/changes" ] || { tail -n 1 "$out/log"; return; }
	new=$(uapi_changes "$out/changes")
	if [ -n "$new" ]; then
		printf '\nNew:\n%s\n' "$new" >&2
		echo "$(wc -l <<< "$new") changes: $(head -n 1 <<< "$new")"
		exit 1
	fi
	echo "$(sed -nE 's|.* [0-9]+/([0-9]+) UAPI.*|\1|p' "$out/log") headers, perf_event_attr grows at its end"
}

# Print the C files of the kernel that the series has changed and TREE has.
changed_files()			# TREE
{
	git -C "$LINUX" diff --name-only --diff-filter=d base series -- '*.[ch]' ':!tools' |
		while read -r file; do
			[ ! -f "$1/$file" ] || echo "$file"
		done
}

run_coccicheck()		# TREE OUT
{
	local make=(make -s -C "$1" O="$2" ARCH=x86_64) files
	mapfile -t files < <(changed_files "$1")

	"${make[@]}" allnoconfig || return
	# It takes a directory: one that has these files only. It stops where the file
	# with the messages of spatch is there.
	rm -rf "$2/changed" "$2/spatch"
	mkdir "$2/changed"
	(cd "$1" && cp --parents "${files[@]}" "$2/changed") || return
	"${make[@]}" coccicheck MODE=report M="$2/changed" J="$JOBS" DEBUG_FILE="$2/spatch"
}

cocci()
{
	available coccinelle=spatch ocaml-nox=ocamlopt bc bison flex make gcc
	judge run_coccicheck
}

run_kernel_doc()		# TREE OUT
{
	local files
	mapfile -t files < <(changed_files "$1")
	cd "$1" && /usr/bin/python3 tools/docs/kernel-doc -none -Wall "${files[@]}"
}

kernel_doc()
{
	available python3
	judge run_kernel_doc
}

run_htmldocs()			# TREE OUT DIRECTORY...
{
	# From nothing: Sphinx repeats no warnings.
	rm -rf "$2/Documentation"
	make -s -C "$1" O="$2" htmldocs SPHINXDIRS="${*:3}" PYTHON3=/usr/bin/python3 \
		SPHINXBUILD=/usr/bin/sphinx-build SPHINXOPTS="-j$JOBS"
}

htmldocs()			# DIRECTORY...
{
	available python3-sphinx=sphinx-build python3-yaml=/usr/lib/python3/dist-packages/yaml \
		python3-sphinx-rtd-theme=/usr/lib/python3/dist-packages/sphinx_rtd_theme make
	judge run_htmldocs "$@"
}

"$TOP/scripts/series/import.sh" linux
mkdir -p "$LOGS"
failed=0
printf '%-22s %-8s %6s  %s\n' robot result seconds 'what it found'
for name in "${names[@]}"; do
	read -r _ kind arguments < <(awk -v name="$name" '$1 == name' "$table")
	read -ra arguments <<< "$arguments"
	start=$SECONDS log=$LOGS/robots-$name.log status=0
	# In a subshell of its own, not in a condition: "set -e" holds in it.
	set +e
	found=$(set -e; "$kind" "${arguments[@]}" 2> "$log")
	status=$?
	set -e
	case $status in
	0)		result=ok ;;
	"$AS_BASE")	result='as base' ;;
	"$NOT_RUN")	result='not run' ;;
	*)		result=FAIL failed=1
			found="${found:-stopped: $(tail -n 1 "$log")}; see ${log#"$TOP/"}" ;;
	esac
	printf '%-22s %-8s %6d  %s\n' "$name" "$result" $((SECONDS - start)) "$found"
done
exit $failed
