#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: states.sh states|topics|backports
#
# Print a table of docs/sending.md or docs/topics.md: see documents.sh.
#
#   states      of each topic, what its cover (or README, of those for other projects) says of when it
#               is sent (Order:), to whose tree (Tree:), and what became of it (State: not sent, or
#               "sent DATE LINK", or "merged COMMIT")
#   topics      the topics, how many patches each has, how many of others are mailed with it, and what
#               its cover is called
#   backports   how many patches of each backport are those of the series
. "$(dirname "$0")/series.sh"
check_what "$@"

row()				# FILE TOPIC PATCHES
{
	local file=${1#"$TOP/"} order state tree

	order=$(cover_header "$1" Order) state=$(cover_header "$1" State) tree=$(cover_header "$1" Tree)
	[[ $order =~ ^[0-9]+$ ]] || die "$file: the order '$order' is no number"
	[[ $state =~ ^(not\ sent|sent\ [0-9]{4}-[0-9]{2}-[0-9]{2}\ https?://.*|merged\ [0-9a-f]{12})$ ]] ||
		die "$file: State is 'not sent', 'sent DATE LINK' or 'merged COMMIT', not '$state'"
	[ -n "$tree" ] || die "$file has no Tree"
	echo "| $order | $2 | $3 | $state | $tree |"
}

states()
{
	local name cover

	echo '| order | topic | patches | state | tree |'
	echo '|---|---|---|---|---|'
	{
		for name in linux qemu; do
			use_series "$name"
			for cover in "$patches"/*.cover; do
				row "$cover" "$(topic_name "$cover")" "$(topic_patches "$cover" | wc -l)"
			done
		done
		for name in man-pages syzkaller; do
			row "$TOP/patches/$name/README" "$name" \
				"$(find "$TOP/patches/$name" -name '*.patch' | wc -l)"
		done
	} | sort -s -t '|' -k 2,2n
}

topics()
{
	local cover number own with

	echo '| number | topic | patches | with | what |'
	echo '|---|---|---|---|---|'
	use_series linux
	for cover in "$patches"/*.cover; do
		number=${cover##*/}
		own=$(topic_patches "$cover" | wc -l)
		with=$(($(mailed_patches "$cover" | wc -l) - own))
		echo "| ${number%%-*} | $(topic_name "$cover") | $own | $with | $(cover_header "$cover" Subject) |"
	done
}

backports()
{
	local dir

	echo '| kernel | patches as they are | that differ, or are its own |'
	echo '|---|---|---|'
	for dir in "$TOP"/patches/backports/*/; do
		awk -v name="$(basename "$dir")" '
			NF && !/^#/ { if (/\.patch( |$)/) other++; else same++ }
			END { print "| " name " | " same + 0 " | " other + 0 " |" }' "$dir/series"
	done
}

"$1"
