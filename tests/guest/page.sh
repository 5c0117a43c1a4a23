#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: page.sh
# needs: perf
#
# Print the JSON of a report with call chains, of functions whose metrics are known and
# of a real program: perf report itself. Compressed, in base64.
set -euo pipefail

hostname bench
dir=$(mktemp -d)
cd "$dir"
{
	perf record -g -o small.data -e cycles/period=99700/u perf test -w fnmix 2000
	perf fnstat record -g --count 99700 --jitter 30000 -o perf.data -- \
		bash -c 'perf test -w fnmix 1500 every 8; perf report -i small.data --stdio --no-inline'
	perf fnstat report -i perf.data --no-inline --json --children -g caller,0 > report.json
} > log 2>&1 || { cat log; exit 1; }
gzip -c report.json | base64
