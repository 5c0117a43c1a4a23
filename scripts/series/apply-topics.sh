#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: apply-topics.sh
#
# Apply each topic of patches/ to what its cover declares and to nothing else, as git
# am does, and print a line for each: its patches, those of other topics that are
# mailed with it, and the topics that it is applied on. Fails if one does not apply.
. "$(dirname "$0")/series.sh"
[ $# = 0 ] || usage
use_series linux
failed=''

read -r repository commit < <("$TOP/scripts/series/base.sh" linux)
[ -n "$commit" ] || die "no base"
open_index "$repository" "$commit"
for cover in "$patches"/*.cover; do
	name=$(topic_name "$cover")
	mapfile -t required < <(required_topics "$cover" | sed -E 's/.*\/[0-9]+-//; s/\.cover$//')
	mapfile -t before < <(required_patches "$cover")
	mapfile -t mailed < <(mailed_patches "$cover")
	mapfile -t own < <(topic_patches "$cover")
	git read-tree "$commit"
	result=applies
	git apply --cached "${before[@]}" "${mailed[@]}" || { result='does NOT apply'; failed=1; }
	printf '%-20s %2d + %d  %s on %s\n' "$name" ${#own[@]} \
		$((${#mailed[@]} - ${#own[@]})) "$result" \
		"${required[*]:-the base}${required[*]:+ (${#before[@]} patches)}"
done
rm -rf "${GIT_INDEX_FILE%/*}"
[ -z "$failed" ]
