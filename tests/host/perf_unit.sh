#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: perf_unit.sh NAME...
#
# Run those tests of "perf test" here that depend on no CPU and no kernel, in a second, with the
# perf of the test machines: see tests/guest/perf-test.sh.
. "$(dirname "$0")/../../scripts/make/lib.sh"

[ $# -gt 0 ] || usage
perf=$("$TOP/scripts/make/perf.sh" "$host_arch")
PATH=${perf%/*}:$PATH exec "$TOP/tests/guest/perf-test.sh" "$@"
