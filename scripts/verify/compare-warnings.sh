#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: compare-warnings.sh NAME ARCH PACKAGES COMPILER CONFIG TARGET...
#
# Compile TARGETs of build/linux, directories or objects, with W=1 and sparse, and
# print what came of it: "ok", or "failed" and why. A warning that the base does not
# have is a failure. ARCH, PACKAGES and COMPILER are as in archs.table. CONFIG is a
# file with the options to set, or the kernel's name of a configuration: allmodconfig,
# defconfig, randconfig:SEED. What the compiler says is in TREE/out-objects-NAME/log.
# Status 2: the base does not compile either. SOURCE=DIRECTORY compiles another
# tree than build/linux.
. "$(dirname "$0")/../make/lib.sh"

[ $# -ge 6 ] || usage
name=$1 arch=$2 compiler=$4 config=$5
IFS=, read -ra packages <<< "$3"
targets=("${@:6}")
tree=${SOURCE:-$LINUX}

for i in "${!packages[@]}"; do
	# What is there is the command: gcc-X and clang-19 have it in /usr/bin, lld-19
	# and llvm-19 beside others.
	case ${packages[i]} in
	gcc-*)	packages[i]+="=${compiler}gcc" ;;
	lld-*)	packages[i]+="=ld.${packages[i]}" ;;
	llvm-*)	packages[i]+="=llvm-nm${packages[i]#llvm}" ;;
	esac
done
need bc bison ccache flex make perl gcc libc6-dev=/usr/include/stdio.h \
	libelf-dev=/usr/include/gelf.h libssl-dev=/usr/include/openssl/ssl.h "${packages[@]}"
sparse=$("$TOP/scripts/make/sparse.sh")

configure()			# OUT MAKE...
{
	local out=$1
	shift

	case $config in
	/*)	"$@" KCONFIG_ALLCONFIG="$config" allnoconfig ;;
	*)	# Warnings are compared with those of the base: all have to be said.
		KCONFIG_SEED=${config#*:} "$@" "${config%:*}" &&
		printf '# %s is not set\n' CONFIG_WERROR CONFIG_OBJTOOL_WERROR >> "$out/.config" &&
		"$@" olddefconfig ;;
	esac
}

compile()			# TREE
{
	local out=$1/out-objects-$name target
	local make=(make -s -C "$1" O="${out##*/}" ARCH="$arch" W=1 C=1
		CHECK="$sparse" -k -j"$JOBS")

	case $compiler in
	LLVM=*)	make+=("$compiler" CC="ccache clang${compiler#LLVM=}") ;;
	*)	make+=(CROSS_COMPILE="$compiler" CC="ccache ${compiler}gcc") ;;
	esac
	mkdir -p "$out"
	configure "$out" "${make[@]}" > "$out/log" 2>&1 || return 1
	[ ! -f "$config" ] || check_config "$config" "$out/.config" "$name"
	# An object that is there already would not repeat its warnings.
	for target in "${targets[@]}"; do
		case $target in
		*/)	find "$out/$target" -name '*.o' -delete 2> /dev/null || true ;;
		*)	rm -f "$out/$target" ;;
		esac
	done
	"${make[@]}" "${targets[@]}" > "$out/log" 2>&1
}

said()				# TREE
{
	complaints "$1/out-objects-$name/log" "$1"
}

# The base is compiled once for each configuration.
compile_base()
{
	local done=$BASE/out-objects-$name/done key
	base_worktree
	key=$(git -C "$BASE" rev-parse HEAD; echo "$arch $compiler $config ${targets[*]}"
		[ ! -f "$config" ] || cat "$config")
	[ "$(cat "$done" 2> /dev/null)" != "$key" ] || return 0
	rm -f "$done"
	compile "$BASE" && echo "$key" > "$done"
}

compiles=yes base_compiles=yes new=
compile "$tree" || compiles=no
if [ $compiles = no ] || [ -n "$(said "$tree")" ]; then
	compile_base || base_compiles=no
	new=$(comm -23 <(said "$tree") <(said "$BASE"))
fi
[ -z "$new" ] || echo "$new" >&2
case $compiles,$base_compiles,$new in
yes,yes,)	echo 'ok' ;;
yes,yes,*)	echo 'failed (new warnings)'; exit 1 ;;
no,yes,*)	echo 'failed'
	grep -E '(error|Error|\*\*\*)' "$tree/out-objects-$name/log" | head -n 20 >&2
	exit 1 ;;
*,no,)	echo 'failed (the base does not compile)'; exit 2 ;;
*)	echo 'failed (new warnings, and the base does not compile)'; exit 1 ;;
esac
