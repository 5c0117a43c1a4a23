#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: backport.sh VERSION apply|export|check|range-diff|build|test|results
#
# The backport of the kernel side of the series to an older kernel, see
# patches/backports/VERSION:
#
#   apply       make build/linux-VERSION: its base, and the patches on it, with plain
#               "git am" that stops at the first one that does not apply. Never merge:
#               what merges cleanly can be wrong.
#   export      write patches/backports/VERSION from that tree. A patch that is not as
#               it is in patches/ has a paragraph "[VERSION: what differs, and why]" at
#               the end of its message, and the file "series" says what it was made from.
#   check       only whether the patches apply, and whether those that differ were made
#               from the code that is in patches/ now (comments and messages can differ), in
#               seconds and without a tree
#   range-diff  show how those that differ do so
#   build       build its kernels for the machines that have a list MACHINE@VERSION, or
#               MACHINE@KERNEL-VERSION, in tests/tests.table
#   test        run the tests on these machines, with the selftests and perf of the
#               series, and print the results beside those of the series
#   results     print that again
. "$(dirname "$0")/series.sh"
. "$TOP/scripts/run/machines.sh"

[ $# = 2 ] || usage
version=$1
use_series "linux-$version"

apply()
{
	"$TOP/scripts/series/import.sh" "$series"
}

# Print what a patch does, without the numbers of lines and blobs.
changes()			# PATCH
{
	sed -n '/^diff --git /,$p' "$1" | sed 's/^@@ .*/@@/'
}

# Print one word for the code that a patch changes: comments and what is around it do not count.
changes_key()			# PATCH
{
	changes "$1" | sed -nE '/^(---|\+\+\+) /d; s|/\*.*\*/||; /^[-+][[:space:]]*(\*([ \/]|$)|\/\*|\/\/|$)/d; /^[-+]/p' |
		sha256sum | cut -c-12
}

export_patches()
{
	local commit file name original new noted

	cd "$worktree"
	require_tree
	new=$(mktemp -d)
	while read -r commit; do
		file=$(GIT_CONFIG_GLOBAL=/dev/null git format-patch -q -1 --no-numbered \
			--zero-commit --no-signature --abbrev=12 --filename-max-length=100 \
			--output-directory="$new" "$commit" && ls "$new"/0001-*)
		drop_index_lines "$file"
		name=${file##*/0001-}
		original=$(find_patch "${name%.patch}")
		[ -e "$original" ] || original=''
		noted=$(git log -1 --format=%B "$commit" | grep -cF "[$version: " || true)
		if [ -n "$original" ] && [ "$(changes "$file")" = "$(changes "$original")" ]; then
			[ "$noted" = 0 ] || die "'$name' does not differ, but says how"
			rm "$file"
			echo "${name%.patch}" >> "$new/series"
		else
			[ "$noted" = 1 ] || die "'$name' differs and does not say how, with [$version: ...]"
			mv "$file" "$new/$name"
			echo "$name${original:+ $(changes_key "$original")}" >> "$new/series"
		fi
	done < <(git rev-list --reverse base..series)
	rm -f "$patches"/*.patch
	cp "$new"/* "$patches"
	rm -rf "$new"
	git config series.imported "$(series_key "$(git rev-parse base)" "$patches")"
	git config series.head "$(git rev-parse HEAD)"
	say "$(grep -vc '\.patch' "$patches/series") patches as they are, $(grep -c '\.patch' "$patches/series") that differ"
}

check()
{
	local repository commit file name key original count=0 status=0

	while read -r name key; do
		[ -n "$key" ] || continue
		original=$(find_patch "${name%.patch}")
		if [ ! -e "$original" ] || [ "$(changes_key "$original")" != "$key" ]; then
			echo "${original##*/} has other code than that which $name of $version was made from:" \
				"'make backport WHAT=apply', the same change there, 'make backport WHAT=export'" >&2
			status=1
		fi
	done < "$patches/series"
	[ $status = 0 ] || return $status
	read -r repository commit < <("$TOP/scripts/series/base.sh" "$series")
	[ -n "$commit" ] || die "no base"
	open_index "$repository" "$commit"
	while read -r file; do
		git apply --cached "$file" || die "${file#"$TOP/"} does not apply to $BASE_PACKAGE"
		count=$((count + 1))
	done < <(series_files "$patches")
	rm -rf "${GIT_INDEX_FILE%/*}"
	[ $count != 0 ] || die "${patches#"$TOP/"} lists no patches"
	say "$count patches apply to $BASE_PACKAGE $BASE_VERSION"
}

range_diff()
{
	local file name subject old new

	apply
	"$TOP/scripts/series/import.sh" linux
	GIT_ALTERNATE_OBJECT_DIRECTORIES=$(git -C "$LINUX" rev-parse --path-format=absolute --git-path objects)
	export GIT_ALTERNATE_OBJECT_DIRECTORIES
	while read -r new; do
		subject=$(git -C "$worktree" log -1 --format=%s "$new")
		old=$(git -C "$LINUX" log --format='%H %s' base..series |
			awk -v subject="$subject" '{ hash = $1; sub(/^[^ ]+ /, "") } $0 == subject { print hash }')
		if [ -z "$old" ]; then
			printf -- '-:  --------- > 1:  %.9s %s\n' "$new" "$subject"
		else
			# Each with its own, however different they are.
			git -C "$worktree" range-diff --no-color --creation-factor=999 \
				"$old^..$old" "$new^..$new"
		fi
	done < <(git -C "$worktree" rev-list --reverse base..series)
}

machines()
{
	list_names | grep -E "@(.*-)?${version//./[.]}\$"
}

build()
{
	local name

	apply
	for name in $(machines); do
		(load_machine "$name"
		 "$TOP/scripts/make/kernel.sh" "$arch" "$worktree" "$fragment")
	done
}

# Print "TEST PASSED FAILED SKIPPED" for each test of a machine.
results()			# MACHINE
{
	[ ! -f "$BUILD/lists/$1.tests" ] ||
		"$TOP/scripts/run/summary.sh" "$BUILD/lists/$1.tests=$RESULTS/$1" 2> /dev/null |
		awk '/^(PASS|FAIL) / { print $3, $4, $6, $8 }' || true
}

compare()
{
	local name

	for name in $(machines); do
		printf '\n%-20s %-22s %s\n' "${name%[@-]"$version"}" 'series' "$version"
		awk '
			{ result = sprintf("%4d ok %2d bad %2d skip", $2, $3, $4) }
			FNR == NR	{ newer[$1] = result; next }
			{ printf "  %-18s %-22s %s\n", $1, ($1 in newer) ? newer[$1] : "did not run", result
			  delete newer[$1] }
			END { for (test in newer) printf "  %-18s %-22s %s\n", test, newer[test], "left out" }
		' <(results "${name%[@-]"$version"}") <(results "$name")
	done
}

run_tests()
{
	local names status=0

	mapfile -t names < <(machines)
	"$TOP/scripts/run/test.sh" "${names[@]}" || status=$?
	compare
	return $status
}

case $2 in
apply)		apply ;;
export)		export_patches ;;
check)		check ;;
range-diff)	range_diff ;;
build)		build ;;
test)		run_tests ;;
results)	compare ;;
*)		usage ;;
esac
