#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: archs.sh [NAME...]
#
# Compile perf core and the PMU drivers of build/linux for all architectures in
# archs.table, or those given, with W=1 and sparse, and print a line for each:
# "ok", "failed", or "no Debian cross compiler". A warning that the base does not
# have is a failure. Installs the compilers that this machine misses.
# TREE=DIRECTORY compiles another tree than build/linux.
. "$(dirname "$0")/build/lib.sh"

table=$TOP/scripts/archs.table
names=("$@")
mapfile -t known < <(awk '!/^#/ { print $1 }' "$table")
[ $# -gt 0 ] || names=("${known[@]}")
for name in "${names[@]}"; do
	[[ " ${known[*]} " == *" $name "* ]] || die "no '$name' in ${table##*/}: ${known[*]}"
done

# What the compilers say is in TREE/out-archs-NAME/log.
compile()			# TREE
{
	local out=$1/out-archs-$name target
	local make=(make -s -C "$1" O="${out##*/}" ARCH="$arch" W=1 C=1
		CHECK="$sparse" -k -j"$JOBS")

	case $compiler in
	LLVM=*)	make+=("$compiler" CC="ccache clang${compiler#LLVM=}") ;;
	*)	make+=(CROSS_COMPILE="$compiler" CC="ccache ${compiler}gcc") ;;
	esac
	mkdir -p "$out"
	"${make[@]}" KCONFIG_ALLCONFIG="$config" allnoconfig > "$out/log" 2>&1 || return 1
	check_config "$config" "$out/.config" "$name"
	# An object that is there already would not repeat its warnings.
	for target in "${targets[@]}"; do
		case $target in
		*/)	find "$out/$target" -name '*.o' -delete 2> /dev/null || true ;;
		*)	rm -f "$out/$target" ;;
		esac
	done
	"${make[@]}" "${targets[@]}" > "$out/log" 2>&1
}

warnings()			# TREE
{
	# Without line numbers, which differ.
	sed -nE 's/:[0-9]+:[0-9]+: (warning|error):/: \1:/p' "$1/out-archs-$name/log" | sort
}

# The base is compiled once for each configuration.
compile_base()
{
	local done=$BASE/out-archs-$name/done key
	base_worktree
	key=$(git -C "$BASE" rev-parse HEAD; sha256sum "$config" "$table")
	[ "$(cat "$done" 2> /dev/null)" != "$key" ] || return 0
	compile "$BASE" && echo "$key" > "$done"
}

check()				# prints the verdict
{
	local new log=$tree/out-archs-$name/log

	compile "$tree" || {
		echo 'failed'
		grep -E '(error|Error|\*\*\*)' "$log" | head -n 20 >&2
		return 1
	}
	if [ -n "$(warnings "$tree")" ]; then
		compile_base || {
			echo 'failed (the base does not compile)'
			return 1
		}
		new=$(comm -23 <(warnings "$tree") <(warnings "$BASE"))
		[ -z "$new" ] || {
			echo 'failed (new warnings)'
			echo "$new" >&2
			return 1
		}
	fi
	echo 'ok'
}

tree=${TREE:-$LINUX}
[ -n "${TREE:-}" ] || "$TOP/scripts/series/import.sh" linux
need bc bison ccache flex make perl gcc libc6-dev=/usr/include/stdio.h \
	libelf-dev=/usr/include/gelf.h
sparse=$("$TOP/scripts/build/sparse.sh")
status=0
for name in "${names[@]}"; do
	read -r _ arch packages compiler targets < <(awk -v name="$name" '$1 == name' "$table")
	if [ "$packages" = - ]; then
		verdict='no Debian cross compiler'
	else
		IFS=, read -ra packages <<< "$packages"
		for i in "${!packages[@]}"; do
			# What is there is the command: gcc-X and clang-19 have it in
			# /usr/bin, lld-19 and llvm-19 beside others.
			case ${packages[i]} in
			gcc-*)	packages[i]+="=${compiler}gcc" ;;
			lld-*)	packages[i]+="=ld.${packages[i]}" ;;
			llvm-*)	packages[i]+="=llvm-nm${packages[i]#llvm}" ;;
			esac
		done
		need "${packages[@]}"
		read -ra targets <<< "$targets"
		config=$TOP/machines/configs/archs/$name.config
		verdict=$(check) || status=1
		: "${verdict:=failed}"
	fi
	printf '%-14s %s\n' "$name" "$verdict"
done
exit $status
