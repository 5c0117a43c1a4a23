#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: verify.sh WHAT
#
# Prove what takes too long for "make test":
#
#   alone      the topic TOPIC= (alternating-periods) by itself: pages, and selftests on arm64
#              and Ice Lake, with no skips that the whole series does not have
#   archs      perf core and the PMU drivers compile for all architectures, W=1 and sparse,
#              or with ARCHS="NAME ..." for these, see scripts/verify/archs.table
#   bisect     each commit compiles without new warnings, and the last ones of topics (with
#              BOOT=each: each) boot and pass the tests that exist by then
#   deb        the packages of "make deb" install on a disk with Debian 12 in QEMU, perf alone
#              on three CPUs, then with the kernel: they boot, record, and can be removed;
#              build/results/deb has what they say; PACKAGES=DIRECTORY tests these
#   fuzz       OPERATIONS= (5000000) random operations with SEED= do no harm to the kernels
#              of MACHINES= (arm64@debug: KASAN and lockdep); with PLAIN=1 without
#              alternating periods. No count jumps in twice DURATION= (60) seconds of random
#              operations on all kinds of events, on MACHINES= (two CPUs with KASAN and
#              lockdep, Intel with PEBS, AMD). Data races: MACHINES=arm64-stress@kcsan
#              CMDLINE=panic_on_warn=0, and the console
#   hacking    docs/hacking.md, typed in a copy of this repository
#   machines   the tests of all machines that "make test" leaves out: other CPUs, and kernels
#              with KASAN and lockdep
#   mutants    "perf test" notices each line of mutants.table that is wrong
#   newest     how many patches apply to the newest kernel in Debian's archive
#   qemu       our QEMU: its series, and its own test
#   robots     what the kernel's robots and maintainers run on a series, a line for each:
#              ROBOTS="NAME ..." these of scripts/verify/robots.table
. "$(dirname "$0")/../common.sh"

check_what "$@"
here=$TOP/scripts/verify
read -ra machines <<< "${MACHINES:-}"
read -ra archs <<< "${ARCHS:-}"
read -ra robots <<< "${ROBOTS:-}"

case $1 in
alone)	"$here/alone.sh" ${TOPIC:+"$TOPIC"} ;;
archs)	"$here/archs.sh" "${archs[@]}" ;;
deb)	"$TOP/scripts/ship/deb-test.sh" ${PACKAGES:+"$PACKAGES"} ;;
fuzz)	"$here/fuzz.sh" "${machines[@]}" ;;
hacking) "$TOP/tests/host/hacking.sh" ;;
machines)
	mapfile -t machines < <(. "$TOP/scripts/run/machines.sh" && other_items)
	"$TOP/scripts/run/test.sh" "${machines[@]}" ;;
qemu)	"$TOP/scripts/series/check.sh" qemu
	"$here/qemu-test.sh" ;;
robots)	"$here/robots.sh" "${robots[@]}" ;;
*)	"$here/$1.sh" ;;
esac
