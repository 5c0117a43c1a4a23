#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: bench.sh WHAT
#
# Print evidence:
#
#   cost       what a sample, a context switch and opening an event cost, and how large
#              the structs are, on the base and with the series
#   drivers    which drivers ran the tests, from the last results
#   fixes      the tests of what is fixed, and of what that may break, on the base and
#              with the series: throttled groups, and TopDown
#   found      what is wrong on the base and not mended here (docs/found.md): fails
#   headline   a program recorded with a long period, short ones and windows: size of
#              the data, run time, and the error of the table of its functions
#   page       what fnstat-html.py makes of a recording from x86_64-stalls (or
#              with REPORT=FILE of this JSON): build/results/page/page.html, checked in
#              Chromium, with a screenshot
#   real       how wrong the metrics of functions of real programs are, with sampled events
#              and with perf fnstat: PROGRAMS="NAME ..." these, and MACHINES=,
#              MODES="events|precise|without|new|events-cpi|precise-cpi|without-cpi|new-cpi
#              ...", INTERRUPTS="NUMBER ..."
#   seeds      what the texts that this began with say, statement by statement, with the
#              test of each and its result, on the base and with the series:
#              TEXT=alternating|hybrid|topdown one of them
#   simulate   the same as real in a simulation, for programs on which constants of the
#              estimator were chosen and for others: PROGRAMS="NAME ..." these, and TIMINGS=,
#              EVENTS=, INTERRUPTS=, KINDS=, LENGTHS=, SETS=, EACH=, COMPARE=, see
#              scripts/bench/simulate.sh
#   speed      instructions, time and memory of perf report with windows, without, and of
#              the base, for a recording of SAMPLES= (2000000)
#   truth      what perf says of functions on x86_64-stalls, what is true, and how often
#              the confidence intervals have it: RECORDINGS= (200)
. "$(dirname "$0")/../common.sh"

check_what "$@"
here=$TOP/scripts/bench run=$TOP/scripts/run
read -ra programs <<< "${PROGRAMS:-}"

cost()				# MACHINE
{
	TEST='streams sample_cost' "$run/test.sh" "$1" "$1@base"
	"$here/compare.sh" "$1"
}

# Run LIST on x86_64-stalls, and print what its test $what said.
on_stalls()			# LIST SECONDS
{
	"$run/run-list.sh" x86_64-stalls "$1" "$RESULTS/$what" "$2"
	cat "$RESULTS/$what/$what.tap"
	"$run/summary.sh" "$BUILD/lists/$what.tests=$RESULTS/$what"
}

what=$1 status=0
case $what in
cost)		cost arm64-up
		cost x86_64-intel
		cost x86_64-zen4
		"$here/struct-sizes.sh" ;;
fixes)		"$here/fixes.sh" arm64-up
		"$here/fixes.sh" x86_64-stalls ;;
found)		for name in x86_64-two@base x86_64-spr@base; do
			"$run/run-list.sh" "$name" found "$RESULTS/found-$name" 300 || true
			cat "$RESULTS/found-$name"/*.tap
		done ;;
headline)	on_stalls headline 1800 ;;
page)		"$TOP/html/page.sh" ${REPORT:+"$REPORT"} ;;
real)		"$here/measure-real.sh" "${programs[@]}" ;;
seeds)		for seed in ${TEXT:-alternating hybrid topdown}; do
			printf '\n%s:\n\n' "$seed"
			"$here/seeds.sh" "$seed" || status=1
		done
		exit "$status" ;;
simulate)	"$here/simulate.sh" "${programs[@]}" ;;
speed)		"$here/speed.sh" ${SAMPLES:+"$SAMPLES"} ;;
truth)		mkdir -p "$BUILD/lists"
		echo "truth 3600 /guest/truth.sh ${RECORDINGS:-}" > "$BUILD/lists/truth.list"
		on_stalls "$BUILD/lists/truth.list" 3600 ;;
*)		"$here/$what.sh" ;;
esac
