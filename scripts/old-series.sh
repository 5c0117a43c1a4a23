# SPDX-License-Identifier: GPL-2.0
# Sourced by the old scripts of the series, until scripts/series replaces them.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$TOP/scripts/packages.sh"
. "$TOP/patches/base.pin"
install_packages() { :; }

# What a tree was made from.
series_key()			# BASE-COMMIT PATCH...
{
	echo "$1-$(cat /dev/null "${@:2}" | sha256sum | cut -c-64)"
}

# Write the commits base..series of the tree that is the working directory to
# DIRECTORY, in place of the patches that are there.
export_patches()		# DIRECTORY
{
	[ -z "$(git status --porcelain)" ] ||
		die "$PWD has changes that are not committed"
	[ -n "$(git rev-list base..series)" ] || die "$PWD has no series"

	mkdir -p "$1"
	rm -f "$1"/[0-9]*.patch
	git format-patch -q --zero-commit --no-signature --base=base \
		--output-directory="$1" base..series
}

# What is exported to DIRECTORY needs no import.
mark_exported()			# DIRECTORY
{
	git config series.imported \
		"$(series_key "$(git rev-parse base)" "$1"/[0-9]*.patch)"
	git config series.head "$(git rev-parse HEAD)"
}

# Let import.sh apply the series to TREE anew, if it is there. The import before
# may have failed.
forget_import()			# TREE
{
	[ -d "$1/.git" ] || return 0
	git -C "$1" am --abort 2> /dev/null || true
	git -C "$1" checkout -qf series
	git -C "$1" clean -qfd
	git -C "$1" config --unset series.imported || true
}

# Commit all files of DIRECTORY, always as the same commit. Streaming every file
# into one pack (bigFileThreshold) takes half a minute where loose objects take
# minutes.
snapshot()			# REPOSITORY DIRECTORY MESSAGE
{
	local git=(git --git-dir="$1" --work-tree="$2"
		-c core.bigFileThreshold=1 -c core.compression=1
		-c core.fsync=none -c gc.auto=0)
	local tree commit

	[ -d "$1" ] || git init -q --bare "$1"
	(cd "$2" && "${git[@]}" add -A -f .)
	tree=$("${git[@]}" write-tree)
	commit=$(GIT_AUTHOR_NAME=base GIT_AUTHOR_EMAIL='' \
		GIT_AUTHOR_DATE='@0 +0000' GIT_COMMITTER_NAME=base \
		GIT_COMMITTER_EMAIL='' GIT_COMMITTER_DATE='@0 +0000' \
		"${git[@]}" commit-tree -m "$3" "$tree")
	"${git[@]}" update-ref HEAD "$commit"
}

