#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: states.sh
#
# Print the table of docs/sending.md: of each topic, what its cover (or README, of those for other
# projects) says of when it is sent (Order:), to whose tree (Tree:), and what became of it (State:
# not sent, or "sent DATE LINK", or "merged COMMIT").
. "$(dirname "$0")/lib.sh"
[ $# = 0 ] || usage

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
