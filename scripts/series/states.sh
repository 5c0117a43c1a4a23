#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: states.sh
#
# Print the table of docs/sending.md: of each topic, what its cover says of when it is sent
# (Order:), to whose tree (Tree:), and what became of it (State: not sent, or "sent DATE LINK",
# or "merged COMMIT").
. "$(dirname "$0")/lib.sh"
[ $# = 0 ] || usage
use_series linux

echo '| order | topic | patches | state | tree |'
echo '|---|---|---|---|---|'
for cover in "$patches"/*.cover; do
	order=$(cover_header "$cover" Order) state=$(cover_header "$cover" State)
	tree=$(cover_header "$cover" Tree)
	[[ $order =~ ^[0-9]+$ ]] || die "${cover##*/}: the order '$order' is no number"
	[[ $state =~ ^(not\ sent|sent\ [0-9]{4}-[0-9]{2}-[0-9]{2}\ https?://.*|merged\ [0-9a-f]{12})$ ]] ||
		die "${cover##*/}: State is 'not sent', 'sent DATE LINK' or 'merged COMMIT', not '$state'"
	[ -n "$tree" ] || die "${cover##*/} has no Tree"
	echo "| $order | $(topic_name "$cover") | $(topic_patches "$cover" | wc -l) | $state | $tree |"
done | sort -s -t '|' -k 2,2n
