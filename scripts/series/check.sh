#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: check.sh linux|qemu
#
# Prove that a series applies to its base with plain "git am", that an export of
# the result is the same files again, to the byte, that checkpatch has nothing
# to say but what scripts/verify/checkpatch.exceptions lists, that no patch is signed, and
# that each cover of linux names whom get_maintainer.pl names; and that backports
# apply to theirs.
. "$(dirname "$0")/series.sh"
use_series "${1:-}"
need git perl python3-git=/usr/lib/python3/dist-packages/git/__init__.py \
	python3-ply=/usr/lib/python3/dist-packages/ply/__init__.py
tree=$BUILD/check/$series copy=$BUILD/check/export-$series
failed=''

# What the work tree has and patches/ has not would be left out.
if [ -d "$worktree/.git" ] &&
   [ "$(git -C "$worktree" config series.head || true)" != "$(git -C "$worktree" rev-parse HEAD)" ]; then
	warn "$worktree has commits that are not exported: 'make export'"
fi

# True if build/linux is what git am has made of these patches: then it need not be made again.
applied()
{
	local repository commit

	[ -d "$worktree/.git" ] || return 1
	read -r repository commit < <("$TOP/scripts/series/base.sh" "$series")
	[ -n "$repository" ] &&
		[ "$(git -C "$worktree" config series.applied)" = "$(series_key "$commit" "$patches")" ] &&
		[ "$(git -C "$worktree" config series.head)" = "$(git -C "$worktree" rev-parse HEAD)" ] &&
		[ -z "$(git -C "$worktree" status --porcelain)" ]
}

if applied; then
	tree=$worktree
else
	# The import before may have failed.
	if [ -d "$tree/.git" ]; then
		git -C "$tree" am --abort 2> /dev/null || true
		git -C "$tree" checkout -qf series
		git -C "$tree" clean -qfd
		git -C "$tree" config --unset series.imported || true
		git -C "$tree" config --unset series.importing || true
	fi
	"$TOP/scripts/series/import.sh" "$series" "$tree"
fi

# Another base has other line numbers.
if [ "$BASE_COMMIT" = "$(git -C "$tree" rev-parse base)" ]; then
	rm -rf "$copy"
	"$TOP/scripts/series/export.sh" "$series" "$tree" "$copy/patches"
	say "comparing ${patches#"$TOP/"} and the plain files with what the patches create"
	diff -r -x base.pin -x qemu -x man-pages -x syzkaller -x backports -x later \
		"$patches" "$copy/patches"
	if [ "$series" = linux ]; then
		while read -r file; do
			cmp "$TOP/$file" "$copy/$file"
		done < "$patches/files"
		(cd "$TOP" && git ls-files kernel tools selftests Documentation) |
			LC_ALL=C sort | LC_ALL=C comm -23 - "$patches/files" > "$copy/surplus"
		[ ! -s "$copy/surplus" ] ||
			die "not created by the series: $(paste -sd ' ' "$copy/surplus")"
	fi
else
	warn "the base is not that of the series: only that it applies is checked"
fi

checkpatch()			# PATCH; prints what it has to say
{
	local name=${1##*/} options=(--strict --show-types --showfile --terse)

	[ "$series" = linux ] || options=(--no-tree)
	# Debian's python3 has what spdxcheck.py imports.
	(cd "$tree" && PATH=/usr/bin:/bin perl scripts/checkpatch.pl "${options[@]}" \
		--patch --no-signoff --quiet --no-summary "$1" 2>&1) |
		if [ "$series" = linux ]; then
			# What it says of a message has no file: it has the name of the patch.
			sed "s|^:|${name#*-}:|" | drop_exceptions | sed "s|^|${name%%-*} |"
		else
			# QEMU's has no types. New files are below directories that
			# MAINTAINERS has, and no patch is signed.
			grep -vE 'does MAINTAINERS need updating|Missing Signed-off-by' |
			grep -E -A 3 '^(ERROR|WARNING)' || true
		fi
}
export -f checkpatch drop_exceptions
export TOP tree series

mapfile -t files < <(series_files "$patches" | grep '\.patch$')
say "checkpatch of ${#files[@]} patches"
said=$(printf '%s\n' "${files[@]}" | xargs -P "$JOBS" -I{} bash -c 'checkpatch {}')
if [ -n "$said" ]; then
	echo "$said" >&2
	failed=1
fi
if grep -lE '^(Signed-off-by|Acked-by|Reviewed-by|Tested-by):' "${files[@]}" >&2; then
	echo 'these patches carry a name that was not given for them' >&2
	failed=1
fi

if [ "$series" = linux ]; then
	"$TOP/scripts/series/documents.sh" check || failed=1
	say 'topics'
	"$TOP/scripts/series/apply-topics.sh" || failed=1
	say 'recipients'
	for cover in "$patches"/*.cover; do
		[ "$(cover_header "$cover" Mail)" != single ] || continue
		mapfile -t files < <(topic_patches "$cover")
		missing=$(maintainers "${files[@]}" | bare_addresses |
			LC_ALL=C comm -23 - <({ cover_header "$cover" To; cover_header "$cover" Cc; } |
				bare_addresses))
		if [ -n "$missing" ]; then
			echo "${cover##*/} lacks $(paste -sd ' ' <<< "$missing")" >&2
			failed=1
		fi
	done

	say 'patches that are not mailed now, behind the others'
	(
		open_index "$tree/.git" series
		trap 'rm -rf "${GIT_INDEX_FILE%/*}"' EXIT
		for file in "$patches"/later/*.patch; do
			git apply --cached "$file" || { echo "${file#"$TOP/"} does not apply" >&2; false; }
		done
	) || failed=1
	for name in "$patches"/backports/*/; do
		"$TOP/scripts/series/backport.sh" "$(basename "$name")" check || failed=1
	done
fi
[ -z "$failed" ] || exit 1
echo "${patches#"$TOP/"} applies to its base and is clean"
