#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: shell.sh MACHINE
#
# Start a shell on a test machine, with perf, the selftests and the scripts of
# tests/guest in its path. Commands can come from a pipe as well.
. "$(dirname "$0")/../make/lib.sh"
. "$TOP/scripts/run/machines.sh"

[ $# = 1 ] || die "a shell is on one machine: MACHINES=NAME, one of $(machine_names | paste -sd ' ')"
load_machine "$1"
[ -n "$arch" ] || die "'$1' is no machine to boot"
use_arch "$arch"
artifacts=$("$TOP/scripts/make/machine.sh" "$1" /dev/null "shell-$1" all ${jevents:+perf python})
mapfile -t artifacts <<< "$artifacts"
exec "$TOP/scripts/run/boot.sh" "$1" "${artifacts[@]}" "$RESULTS/shell-$1" shell
