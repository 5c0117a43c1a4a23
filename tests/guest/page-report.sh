#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: page-report.sh
# needs: perf
#
# Print the JSON of a report with call chains, of functions whose metrics are known.
# Compressed, in base64.
set -euo pipefail

hostname bench
dir=$(mktemp -d)
cd "$dir"
{
	# In a thread: what calls main has no frame pointers, and the chains of main begin with
	# frames that do not exist.
	perf fnstat record -g --count 99700 --jitter 30000 -o perf.data -- \
		perf test -w fnmix 2500 every 8 1
	perf fnstat report -i perf.data --no-inline --json --children -g caller,0 > report.json
} > log 2>&1 || { cat log; exit 1; }
gzip -c report.json | base64
