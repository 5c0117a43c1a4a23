#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: host.sh LIST TEST
#
# Run a TEST of build/lists/LIST.tests here, as init does on a test machine:
# build/results/LIST/TEST.tap and TEST.status.
#
# "# uses: PATH..." behind its command names all that it reads, as paths of this repository, or
# with linux: in front of the last commit of build/linux, or qemu: for build/qemu. If it passed with the same files, and the same packages of
# this machine, it does not run again, unless RERUN=yes: its results are those of then, and
# TEST.repeats has the date.
. "$(dirname "$0")/../make/lib.sh"

[ $# = 2 ] || usage
list=$1
read -r name seconds command < <(awk -v name="$2" '$1 == name' "$BUILD/lists/$list.tests") ||
	die "no test '$2'"
out=$RESULTS/$list/$name
mkdir -p "${out%/*}"
cd "$TOP"

# Print the files that TREE has below paths, with their contents as hashes.
contents()			# TREE INDEX PATH...
{
	[ $# -gt 2 ] || return 0
	GIT_INDEX_FILE=$2 git -C "$1" ls-files -s -- "${@:3}"
}

kept=''
read -ra uses < <(sed -n 's/.*# uses: *//p' <<< "$command") || true
if [ ${#uses[@]} -gt 0 ] && [ -z "${KERNEL_TREE:-}" ]; then
	ours=() linux=() qemu=() index=$(work_tree_index .)
	for path in "${uses[@]}"; do
		case $path in
		linux:*)	linux+=("${path#linux:}") ;;
		qemu:*)		qemu+=("${path#qemu:}") ;;
		*)		ours+=("$path") ;;
		esac
	done
	key=$({
		echo "$command"
		contents . "$index" "${ours[@]}"
		if [ ${#linux[@]} -gt 0 ]; then
			GIT_INDEX_FILE=$index git -C "$LINUX" read-tree HEAD
			contents "$LINUX" "$index" "${linux[@]}"
		fi
		if [ ${#qemu[@]} -gt 0 ]; then
			"$TOP/scripts/series/import.sh" qemu
			tree_key "$QEMU"
		fi
		dpkg-query -W 2> /dev/null || gcc --version
	} | sha256sum)
	kept=$CACHE/results/${key%% *}.tap
	rm -f "$index"
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
	if ! { mkdir -p "${kept%/*}" && cp "$out.tap" "$kept.$$" && mv "$kept.$$" "$kept"; }; then
		rm -f "$kept.$$"
		warn "the result of $name is not kept"
	fi
fi
