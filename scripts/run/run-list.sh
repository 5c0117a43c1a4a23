#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: run-list.sh MACHINE LIST RESULTS [SECONDS]
#
# Build what LIST needs and run it on MACHINE, with the results in the directory
# RESULTS.
. "$(dirname "$0")/machines.sh"

[ $# -ge 3 ] || usage
name=$1 list=$2 results=$3 seconds=${4:-900}
require_machine "$name"
expanded=$BUILD/lists/${results##*/}.tests
mkdir -p "${expanded%/*}"
expand_list "$list" > "$expanded"
artifacts=$("$TOP/scripts/make/machine.sh" "$name" "$expanded" "${results##*/}")
mapfile -t artifacts <<< "$artifacts"
profile=$(profile_of "$expanded")
step "running ${results##*/}" env ${profile:+"$profile"} "$TOP/scripts/run/boot.sh" "$name" "${artifacts[@]}" "$results" "$seconds"
