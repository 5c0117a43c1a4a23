#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: libperf-tests.sh [BUBBLE]
# needs: libperf
#
# libperf's own tests of events and of TopDown, the latter without RDPMC as well, the error
# of perf_topdown__new() without PMUs in sysfs, and on a machine whose PMU "cpu" has metrics
# and whose taken branches cost BUBBLE cycles, the example as each command of its page has
# built it, and the program of topdown.txt, compared with what perf stat counts. KTAP.
. "$(dirname "$0")/ktap.sh"
devices=/sys/bus/event_source/devices
stub=/tmp/devices
bubble=${1:-0}

is()				# NAME GOT WANTED
{
	[ "$2" = "$3" ] || echo "# $2, not $3"
	[ "$2" = "$3" ]
	result $? "$1"
}

# Compare the percentages in the first lines of a file with others. They may be wrong by 1.
near()				# NAME FILE PERCENTAGE...
{
	local name=$1

	paste <(head -n 4 "$2") <(printf '%s\n' "${@:3}") | awk -v name="$name" '
		/%/ {
			printf "# %s: %s %%, by hand %.1f\n", name, $1, $NF
			bad += $1 - $NF > 1 || $NF - $1 > 1
			nr++
		}
		END { exit nr != 4 || bad }'
	result $? "$name"
}

plan 11
# This file is that of Arm's PMU; others have another one.
[ ! -e /proc/sys/kernel/perf_user_access ] || echo 1 > /proc/sys/kernel/perf_user_access
/libperf/tests -v evsel
result $? evsel
/libperf/tests -v topdown | tee /tmp/topdown.log
result "${PIPESTATUS[0]}" topdown

mkdir "$stub"
mount -o bind "$stub" "$devices"
is 'no PMU' "$(/libperf/topdown-truth)" 'No such file or directory'
umount "$devices"

# For programs that are linked with the shared library.
loader=(/libperf/lib/ld-linux-x86-64.so.2 --library-path /libperf/lib)

# Cycles, instructions, those that divisions take longer, taken branches.
example()		# NAME PROGRAM...
{
	local truth name=$1
	shift

	if [ ! -e "$devices/cpu/events/slots" ]; then
		result 0 "$name # SKIP no metrics"
		return
	fi
	perf stat -x, -o /tmp/topdown.stat -e '{cycles:u,instructions:u,r0914:u,r20c4:u}' \
		"$@" 3000000 > /tmp/topdown.out
	mapfile -t truth < <(awk -F, -v bubble="$bubble" '$1 ~ /^[0-9]/ { c[++nr] = $1 }
		END { printf "%f\n0\n%f\n%f\n", 100 * c[2] / c[1], 100 * bubble * c[4] / c[1],
				100 * c[3] / c[1] }' /tmp/topdown.stat)
	near "$name" /tmp/topdown.out "${truth[@]}"
}

example 'example, shared library' "${loader[@]}" /libperf/topdown-1
example 'example, static library' /libperf/topdown-2
example 'example, pkg-config' "${loader[@]}" /libperf/topdown-3
example topdown-rdpmc /libperf/topdown-rdpmc
if [ -e "$devices/cpu/events/slots" ]; then
	"${loader[@]}" /libperf/topdown-cxx
	result $? C++
else
	result 0 'C++ # SKIP no metrics'
fi

# What reads counters with RDPMC nonetheless gets a signal.
if compgen -G "$devices/cpu*/rdpmc" > /dev/null; then
	for file in "$devices"/cpu*/rdpmc; do
		echo 0 > "$file"
	done
	if [ -e "$devices/cpu/events/slots" ]; then
		/libperf/topdown-rdpmc > /dev/null
		is 'topdown-rdpmc without RDPMC' $? 1
	else
		result 0 'topdown-rdpmc without RDPMC # SKIP no metrics'
	fi
	/libperf/tests -v topdown
	result $? 'topdown without RDPMC'
	example 'example without RDPMC' /libperf/topdown-2
	# For the tests that follow.
	for file in "$devices"/cpu*/rdpmc; do
		echo 1 > "$file"
	done
else
	for name in topdown-rdpmc topdown example; do
		result 0 "$name without RDPMC # SKIP no RDPMC"
	done
fi
exit "$failed"
