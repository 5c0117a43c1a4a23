#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: list-machines.sh
#
# Print the names of all machines and kernels, and what they are.
. "$(dirname "$0")/machines.sh"

describe_all | while read -r name _ what; do
	printf '  %-20s %s\n' "$name" "$what"
done
