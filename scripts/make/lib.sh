# SPDX-License-Identifier: GPL-2.0
# Sourced by the scripts here: architectures, and what is built already.

. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
. "$TOP/scripts/packages.sh"

# Objects of earlier builds, wherever the tree of that build was.
export CCACHE_DIR=$CACHE/ccache CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=5G
export CCACHE_SLOPPINESS=time_macros
# CCACHE_DEPEND=1 takes a sixth less CPU time, but does not see what .incbin includes: a bzImage had
# the kernel of another build. The name sets apart what was compiled so.
export CCACHE_NAMESPACE=preprocessed

# This machine's architecture, as the kernel names it.
host_arch=${HOSTTYPE/aarch64/arm64}

# Set how to build for ARCH: what machines/arch/ARCH.conf has, and these defaults.
use_arch()			# ARCH
{
	arch_conf=$TOP/machines/arch/$1.conf
	[ -f "$arch_conf" ] ||
		die "no architecture '$1':$(cd "$TOP/machines/arch" && printf ' %s' *.conf | sed 's/\.conf//g')"
	kernel_arch=$1 perf_arch=$1
	# The other one is for when that cannot be fetched.
	suite=bookworm other_suite=''
	# What perf is linked with, and a Python for perf test: the interpreter, and
	# the libraries that it loads.
	sysroot=(busybox-static bash-static
		libelf-dev libelf1 zlib1g-dev libtraceevent-dev libtraceevent1
		python3.11-minimal libpython3.11-minimal libpython3.11-stdlib
		libc6 libexpat1 libsqlite3-0 zlib1g)
	. "$arch_conf"
}

# Print the path of a file with the options of a row of archs.table.
arch_config()			# NAME
{
	local config=$BUILD/archs/$1.config

	mkdir -p "${config%/*}"
	awk -v name="$1" '
		/^[a-z]/	{ if (on = $1 == name) print "CONFIG_PERF_EVENTS=y" }
		/^\t/ && on	{ for (i = 1; i <= NF; i++) print "CONFIG_" $i ($i ~ /=/ ? "" : "=y") }' \
		"$TOP/scripts/verify/archs.table" > "$config"
	[ -s "$config" ] || die "no '$1' in archs.table"
	echo "$config"
}

# Make sure that CONFIG has all options of WANTED: allnoconfig drops silently
# those with unmet dependencies.
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

# Set config to the configuration of the packages, CONFIG or that of the running kernel, and
# check LSMOD.
choose_config()
{
	config=${CONFIG:-/boot/config-$(uname -r)}
	[ -n "${CONFIG:-}" ] || [ -r "$config" ] || config=/proc/config.gz
	[[ -f $config && -r $config ]] ||
		die "no configuration ${CONFIG:-/boot/config-$(uname -r), nor $config}: set CONFIG=FILE"
	zgrep -q '^CONFIG_MODULES=y' "$config" ||
		die "$config is no configuration of a kernel with modules"
	if [ -n "${LSMOD:-}" ]; then
		[ -r "$LSMOD" ] || die "no list of modules $LSMOD"
		LSMOD=$(realpath "$LSMOD")
		export LSMOD
	else
		unset LSMOD
	fi
}

# Print an index of the git work tree TREE as it is, with what is not committed.
work_tree_index()		# TREE
{
	local git=(git -C "$1") index

	index=$(mktemp)
	# With its time: git trusts a file that is older than the index.
	cp -p "$("${git[@]}" rev-parse --path-format=absolute --git-path index)" "$index"
	GIT_INDEX_FILE=$index "${git[@]}" add -A
	echo "$index"
}

# Print a hash of the files of the git work tree TREE, those that are not
# committed as well, without the top-level directories and the ones below tools/
# that match the regular expression EXCLUDE.
tree_key()			# TREE [EXCLUDE]
{
	local git=(git -C "$1") index content

	index=$(work_tree_index "$1")
	content=$(GIT_INDEX_FILE=$index "${git[@]}" write-tree)
	rm -f "$index"
	{
		"${git[@]}" ls-tree "$content" | grep -vP '\ttools$'
		"${git[@]}" ls-tree "$content" tools/
	} | grep -vP "\t(${2:-})\$" | sha256sum | cut -d ' ' -f 1
}

# True if OUT was built from KEY: then there is nothing to do, not even to call
# make. Otherwise set_built() notes it when all is done.
is_built()			# OUT KEY
{
	[ "$(cat "$1/built-from" 2> /dev/null)" = "$2" ] && return
	rm -f "$1/built-from"
	return 1
}

set_built()			# OUT KEY
{
	echo "$2" > "$1/built-from"
}

# Print what tools complain of in LOG, in order: compilers, linkers, sparse, objtool,
# coccinelle, kernel-doc, Sphinx. Without the name of TREE, the numbers of lines, and
# offsets, which differ between one tree and another.
complaints()			# LOG TREE
{
	[ -f "$1" ] || return 0
	sed -nE '/(error|warning):|undefined reference|multiple definition|:[0-9]+-[0-9]+: /I {
			'"s|$2/||g"'
			s/:[0-9]+(:[0-9]+(-[0-9]+)?)?(:| )/:\3/
			s/\+0x[0-9a-f]+//g
			s/ line [0-9]+/ line N/g
			p
		}' "$1" | sort
}

# Make build/base: the base of the series in build/linux alone.
base_worktree()
{
	git -C "$LINUX" worktree prune
	[ -e "$BASE/.git" ] ||
		git -C "$LINUX" worktree add -q --force --detach "$BASE" base
	git -C "$BASE" checkout -q --detach base
}
