#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: host.sh LIST TEST
#
# Run a TEST of build/lists/LIST.tests here, as init does on a test machine:
# build/results/LIST/TEST.tap and TEST.status.
#
# "# uses: PATH..." behind its command names all that it reads, as paths of this repository, or
# with linux: in front of build/linux. If it passed with the same files, and the same packages of
# this machine, it does not run again, unless RERUN=yes: its results are those of then, and
# TEST.repeats has the date.
. "$(dirname "$0")/../make/lib.sh"

[ $# = 2 ] || usage
list=$1
read -r name seconds command < <(grep "^$2 " "$BUILD/lists/$list.tests") || die "no test '$2'"
out=$RESULTS/$list/$name
mkdir -p "${out%/*}"
cd "$TOP"

# Print the files that TREE has below paths, with their contents as hashes.
contents()			# TREE PATH...
{
	local tree=$1 index

	shift
	[ $# -gt 0 ] || return 0
	index=$(work_tree_index "$tree")
	GIT_INDEX_FILE=$index git -C "$tree" ls-files -s -- "$@"
	rm -f "$index"
}

kept=''
read -ra uses < <(sed -n 's/.*# uses: *//p' <<< "$command") || true
if [ ${#uses[@]} -gt 0 ] && [ -z "${KERNEL_TREE:-}" ]; then
	ours=() theirs=()
	for path in "${uses[@]}"; do
		case $path in
		linux:*)	theirs+=("${path#linux:}") ;;
		*)		ours+=("$path") ;;
		esac
	done
	key=$({
		echo "$command"
		contents . "${ours[@]}"
		contents "$LINUX" "${theirs[@]}"
		dpkg-query -W 2> /dev/null || gcc --version
	} | sha256sum)
	kept=$CACHE/results/${key%% *}.tap
fi

rm -f "$out".*
if [ -n "$kept" ] && [ -z "${RERUN:-}" ] && cp "$kept" "$out.tap" 2> /dev/null; then
	touch -ac "$kept"
	date -r "$kept" +%F > "$out.repeats" || true
	echo 0 > "$out.status"
	exit
fi
status=0
timeout "$seconds" sh -c "$command" > "$out.tap" 2>&1 || status=$?
echo $status > "$out.status"
if [ -n "$kept" ] && [ $status = 0 ]; then
	mkdir -p "${kept%/*}"
	if ! { cp "$out.tap" "$kept.$$" && mv "$kept.$$" "$kept"; }; then
		warn "the result of $name is not kept"
	fi
fi
