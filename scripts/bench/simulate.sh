#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: simulate.sh [PROGRAM...]
#
# How wrong is what perf fnstat says of the functions of programs, those of
# scripts/make/real.sh or these, in a simulation that knows what each of them took? It takes
# the interrupts of all recordings in one run of a program: see simulate.c, simulate.py and
# docs/estimate.md.
#
# TIMINGS="base|lat|arm|rf|sil ..."
#             when interrupts come, and what they cost (all)
# EVENTS="precise|late ..."
#             samples of instructions and misses are of their place at once, or as late as
#             those of cycles (both)
# INTERRUPTS="NUMBER|SECONDSs ..."
#             of a recording, or as many as perf fnstat takes by default in some seconds of a
#             CPU with 3 GHz (3000 10000)
# KINDS="samples|w0|fnstat|windows|stacks|ipc|samples-all|w0-all|fnstat-all|windows-all ..."
#             samples of cycles and instructions, read by perf report and by perf fnstat
#             report, those and windows, windows alone, branch stacks, these in the column IPC
#             of perf report -b; all: misses of branches and of the cache too (samples w0
#             fnstat windows)
# LENGTHS="CYCLES[/JITTER] ..."
#             of windows, without what the interrupt adds (300, its jitter two thirds)
# SETS=NUMBER how many recordings of each (2)
# EACH=1      a line for each program
# PERF=FILE   the perf that reads them, x86_64 (that of build/linux)
# COMPARE=FILE  another perf that reads the same recordings, and the difference of the errors
# ONLY_RECORD=1  print nothing, and leave the recordings in the cache
#
# A line has, for the programs on which constants were chosen and for the others: the error in
# percent, with the standard error of its mean over the sets, how many percent of the intervals
# have the true value, how many cells without a mark are outside of it, and how many of these
# are wrong by more than a fifth; of the functions with more than 5 and 1 % of the time, how
# many percent have no mark, and how many of these are wrong by more than a fifth.
. "$(dirname "$0")/../make/lib.sh"

here=$TOP/scripts/bench cache=$CACHE/simulated
choose_rows "$TOP/tests/real/programs.table" "$@"
for perf in "${PERF:-}" "${COMPARE:-}"; do
	[ -z "$perf" ] || [ -x "$perf" ] || die "no program $perf"
done
need gcc libc6-dev=/usr/include/stdio.h python3 qemu-user=qemu-x86_64
real=$("$TOP/scripts/make/real.sh")
if [ -z "${PERF:-}" ]; then
	"$TOP/scripts/series/import.sh" linux
	PERF=$("$TOP/scripts/make/perf.sh" x86_64)
fi
mkdir -p "$BUILD/simulate" "$cache"
gcc -O2 -Wall -shared -fPIC -o "$BUILD/simulate/plugin.so" "$here/simulate.c"
JOBS=$JOBS python3 "$here/simulate.py" "$real" "$BUILD/simulate/plugin.so" "$cache" "$PERF" \
	"${COMPARE:-}" "$@"
