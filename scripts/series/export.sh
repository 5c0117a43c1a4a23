#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: export.sh linux|qemu [TREE [DESTINATION]]
#
# Write the commits base..series of TREE (default: build/linux, build/qemu) as
# covers and patches to DESTINATION (default: patches/ or patches/qemu), in place
# of those that are there, and for linux a plain copy of every file that the
# series adds beside DESTINATION. A patch has the number of its topic and its own,
# so that a change touches what follows it in its topic and nothing else.
. "$(dirname "$0")/series.sh"
use_series "${1:-}"
tree=${2:-$worktree} dest=${3:-$patches}

cd "$tree"
require_tree
[ -z "$(git rev-list --merges base..series)" ] || die "$tree has merges, which no patch can hold"
export GIT_CONFIG_GLOBAL=/dev/null
mapfile -t commits < <(git rev-list --reverse base..series)
[ ${#commits[@]} != 0 ] || die "$tree has no series"
is_empty "${commits[0]}" ||
	die "the first commit of $tree is no cover (an empty commit 'topic: NAME')"

# The new files take the place of the old ones when all of them are there.
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT

number=0 cover='' first='' last=''
# Write the cover of a topic: what its commit says, then what is generated.
finish_cover()
{
	[ -n "$cover" ] || return 0
	[ -n "$last" ] || die "$cover has no patches"
	! git log -1 --format=%B "$first" | grep -qx -e --- ||
		die "$cover has a line '---' in its text, where the generated part begins"
	{
		git log -1 --format=%B "$first" | sed 1,2d | git stripspace
		printf -- '---\n'
		git log --reverse --format='  %s' "$first..$last"
		echo
		git diff --no-renames --stat=72 --summary "$first" "$last"
	} > "$new/$cover"
}

for commit in "${commits[@]}"; do
	subject=$(git log -1 --format=%s "$commit")
	if is_empty "$commit"; then
		[[ $subject =~ ^topic:\ [a-z0-9-]+$ ]] ||
			die "$commit changes nothing and is no cover: '$subject'"
		! compgen -G "$new/*-${subject#topic: }.cover" > /dev/null ||
			die "two covers are called '${subject#topic: }'"
		finish_cover
		number=$(((number / 100 + 1) * 100)) first=$commit last=''
		cover=$(printf '%04d-%s.cover' $number "${subject#topic: }")
		continue
	fi
	number=$((number + 1)) last=$commit
	[ -n "$(git log -1 --format=%ae "$commit")" ] ||
		die "the author of '$subject' has no mail address"
	[ $((number % 100)) -le "$TOPIC_LIMIT" ] ||
		die "$cover has more than $TOPIC_LIMIT patches: split the topic"
	# Lengths that git would choose by the size of the repository are fixed.
	git format-patch -q -1 --no-numbered --start-number $number --zero-commit \
		--no-signature --abbrev=12 --filename-max-length=100 \
		--output-directory="$new" "$commit"
done
drop_index_lines "$new"/*.patch
finish_cover

mkdir -p "$dest"
for old in "$dest"/[0-9]*.cover; do
	name=${old##*/}
	[ ! -e "$old" ] || compgen -G "$new/*${name#[0-9]*-}" > /dev/null ||
		warn "there is no topic ${name#[0-9]*-} any more"
done
mapfile -t files < <(series_files "$dest")
[ ${#files[@]} = 0 ] || rm -f "${files[@]}"
cp "$new"/* "$dest"

if [ "$series" = linux ]; then
	plain_name()
	{
		case $1 in
		tools/testing/selftests/*)	echo "${1#tools/testing/}" ;;
		*)				echo "$1" ;;
		esac
	}

	# The file patches/files lists what an earlier export made.
	top=$(dirname "$dest") list=$dest/files
	if [ -f "$list" ]; then
		(cd "$top" && xargs -r rm -f) < "$list"
	fi
	# With what it takes to build the selftests by themselves.
	{
		git diff --name-only --no-renames --diff-filter=A base..series
		git ls-files tools/testing/selftests/perf_events/{Makefile,config,settings,.gitignore}
	} | while read -r file; do
		plain=$(plain_name "$file")
		mkdir -p "$top/$(dirname "$plain")"
		cp -p "$file" "$top/$plain"
		echo "$plain"
	done | LC_ALL=C sort -u > "$new/list"
	cp "$new/list" "$list"
	find "$top/kernel" "$top/tools" "$top/selftests" "$top/Documentation" \
		-type d -empty -delete 2>/dev/null || true
fi

if [ "$dest" = "$patches" ]; then
	# What is exported needs no import.
	git config series.imported "$(series_key "$(git rev-parse base)" "$dest")"
	git config series.head "$(git rev-parse HEAD)"
	"$TOP/scripts/series/documents.sh"
fi
say "${#commits[@]} files in $dest"
