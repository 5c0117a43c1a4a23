# SPDX-License-Identifier: GPL-2.0
# Sourced by the scripts here: the series, and how their topics are stored.
#
# patches/ is a sequence of topics. TT00-NAME.cover is the cover letter of topic
# TT, TT01-*.patch and what follows are its patches. In a work tree the cover is
# an empty commit in front of its patches, with the subject "topic: NAME", so
# that "git rebase -i" moves patches from one topic to another, and "git commit
# --amend" edits a cover.
#
# A series linux-VERSION is a backport, without topics: patches/backports/VERSION/series
# lists its patches in order by name: those of patches/ that are taken as they are, by
# their name without number, and the files beside it.

. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
. "$TOP/scripts/packages.sh"

# What git writes depends on nothing that a user configured.
export GIT_CONFIG_NOSYSTEM=1

TOPIC_LIMIT=24			# patches that can be mailed at once

# Set for a series: its name, the directory of its patches, its work tree, and
# the pin of its base (or what the file BASE_PIN= has instead).
use_series()			# linux|linux-VERSION|qemu
{
	case ${1:-} in
	linux)	patches=$TOP/patches worktree=$LINUX base_name=kernel ;;
	linux-*)
		patches=$TOP/patches/backports/${1#linux-} worktree=$BUILD/$1 base_name=kernel
		[ -f "$patches/series" ] ||
			die "no backport '${1#linux-}': $(cd "$TOP/patches/backports" && echo *)" ;;
	qemu)	patches=$TOP/patches/qemu worktree=$QEMU base_name=QEMU ;;
	*)	die "no series '${1:-}': linux or qemu" ;;
	esac
	series=$1
	. "${BASE_PIN:-$patches/base.pin}"
}

# Like use_series(), for the one that has a topic.
use_series_of()			# NAME
{
	if compgen -G "$TOP/patches/qemu/[0-9][0-9][0-9][0-9]-$1.cover" > /dev/null; then
		use_series qemu
	else
		use_series linux
	fi
}

# End unless the working directory is a tree at rest: on branch "series", nothing
# uncommitted, nothing unfinished, and its last import complete.
require_tree()
{
	local dir

	for dir in rebase-apply rebase-merge; do
		[ ! -d "$(git rev-parse --git-path "$dir")" ] ||
			die "$PWD: a 'git am' or 'git rebase' is unfinished"
	done
	[ "$(git config series.importing || true)" != yes ] ||
		die "$PWD: the last import did not get to its end: 'make import' first"
	[ "$(git symbolic-ref -q HEAD || true)" = refs/heads/series ] ||
		die "$PWD is not on branch 'series'"
	[ -z "$(git status --porcelain)" ] || die "$PWD has changes that are not committed"
}

# Print the files of DIRECTORY that make a series, in order.
series_files()			# DIRECTORY
{
	[ ! -f "$1/series" ] || { listed_files "$1"; return; }
	find "$1" -maxdepth 1 -regex '.*/[0-9]+-[^/]*\.\(cover\|patch\)' | LC_ALL=C sort
}

# Print the files that DIRECTORY/series lists. One that is not there is printed as well,
# for git to fail.
listed_files()			# DIRECTORY
{
	local item

	while read -r item _; do
		case $item in
		''|'#'*)	;;
		*.patch)	echo "$1/$item" ;;
		*)		find_patch "$item" ;;
		esac
	done < "$1/series"
}

# Print the patch of patches/ that is called NAME behind its number. One that is not
# there is printed as a pattern, for git to fail.
find_patch()			# NAME
{
	local found=("$TOP/patches"/[0-9][0-9][0-9][0-9]-"$1".patch)

	echo "${found[0]}"
}

# Make an index of COMMIT for git apply --cached, which applies as git am does and
# needs no tree. Remove the directory of GIT_INDEX_FILE at the end.
open_index()			# REPOSITORY COMMIT
{
	export GIT_DIR=$1 GIT_INDEX_FILE
	GIT_INDEX_FILE=$(mktemp -d)/index
	git read-tree "$2"
}

# Print what a tree is made from, as one word.
series_key()			# BASE-COMMIT DIRECTORY
{
	local files
	mapfile -t files < <(series_files "$2")
	echo "$1-$(cat /dev/null "${files[@]}" | sha256sum | cut -c-64)"
}

# Print the text of a cover that is written by hand. What export.sh generates
# follows the line "---".
cover_text()			# COVER
{
	sed '/^---$/,$d' "$1"
}

# Print the values of a header of a cover, a line each.
cover_header()			# COVER NAME
{
	sed -n "/^\$/q; s/^$2: *//p" "$1"
}

# Print the cover of a topic.
find_topic()			# NAME
{
	local found=("$patches"/[0-9][0-9][0-9][0-9]-"$1".cover)

	if [ -z "$1" ] || [ ! -e "${found[0]}" ]; then
		die "no topic '$1' in ${patches#"$TOP/"}:" \
			"$(cd "$patches" && echo [0-9]*.cover | sed -E 's/[0-9]+-|\.cover//g')"
	fi
	echo "${found[0]}"
}

# Print the name of the topic of a cover.
topic_name()			# COVER
{
	local name=${1##*/}

	name=${name#*-}
	echo "${name%.cover}"
}

# Print the patches of a topic.
topic_patches()			# COVER
{
	local number=${1##*/}

	printf '%s\n' "$patches/${number:0:2}"[0-9][0-9]-*.patch
}

# Print the covers of the topics that a topic needs, and of those that these
# need, in the order of the series.
required_topics()		# COVER
{
	local name

	for name in $(cover_header "$1" Requires); do
		name=$(find_topic "$name")
		[[ $name < $1 ]] || die "${1##*/} requires ${name##*/}, which comes later"
		required_topics "$name"
		echo "$name"
	done | LC_ALL=C sort -u
}

# Print the patches of other topics that are mailed with a topic until they are merged,
# in the order of the series: those that its cover names in headers "With".
with_patches()			# COVER
{
	local name

	for name in $(cover_header "$1" With); do
		find_patch "$name"
	done | LC_ALL=C sort
}

# Print the patches that have to be applied before those of a topic and those that
# are mailed with it, in the order of the series.
required_patches()		# COVER
{
	local topic

	required_topics "$1" | while read -r topic; do
		with_patches "$topic"
		topic_patches "$topic"
	done | LC_ALL=C sort -u
}

# Print the patches of a topic as it is mailed.
mailed_patches()		# COVER
{
	with_patches "$1" | LC_ALL=C comm -23 - <(required_patches "$1")
	topic_patches "$1"
}

# Run the rest of the command line as a committer, also without a configuration of git.
as_committer()
{
	if git var GIT_COMMITTER_IDENT > /dev/null 2>&1; then
		"$@"
	else
		GIT_COMMITTER_NAME=series GIT_COMMITTER_EMAIL='' "$@"
	fi
}

# Drop the lines "index ...": they tell what git knows already, and change with everything
# before a patch.
drop_index_lines()		# PATCH...
{
	sed -i '/^diff --git /,$ { /^index [0-9a-f]*\.\.[0-9a-f]*\( [0-7]*\)\?$/d }' "$@"
}

apply_patches()			# PATCH...
{
	as_committer git am -q --no-3way --committer-date-is-author-date "$@" ||
		die "the series does not apply (see $PWD)"
}

# Commit a cover to the tree that is the working directory.
commit_cover()			# COVER
{
	{ printf 'topic: %s\n\n' "$(topic_name "$1")"; cover_text "$1"; } |
		GIT_AUTHOR_NAME=cover GIT_AUTHOR_EMAIL='' GIT_AUTHOR_DATE='@0 +0000' \
		GIT_COMMITTER_NAME=cover GIT_COMMITTER_EMAIL='' \
		GIT_COMMITTER_DATE='@0 +0000' \
		git commit -q --allow-empty --cleanup=verbatim -F -
}

# True if COMMIT changes no file.
is_empty()			# COMMIT
{
	git rev-parse -q --verify "$1^" > /dev/null || return 1
	[ "$(git rev-parse "$1^{tree}")" = "$(git rev-parse "$1^^{tree}")" ]
}

# Print whom get_maintainer.pl, in the tree $tree, names for patches.
maintainers()			# PATCH...
{
	(cd "$tree" && perl scripts/get_maintainer.pl --no-git --no-git-fallback --no-keywords \
		--no-rolestats "$@" 2> /dev/null)
}

# Print the addresses in lines "NAME <ADDRESS>".
bare_addresses()
{
	sed -E 's/.*<([^>]+)>.*/\1/; s/ .*//' | LC_ALL=C sort -u
}
