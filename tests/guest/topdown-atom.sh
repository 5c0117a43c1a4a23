#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# usage: topdown-atom.sh
#
# Are the slots that libperf takes for those of an E-core its cycles times its width, and is
# bad speculation what the other events leave? On an E-core of a hybrid machine, with its
# events, and with one in sysfs for "bound by the backend" that counts next to nothing. KTAP.
. "$(dirname "$0")/ktap.sh"
devices=/sys/bus/event_source/devices
stub=/tmp/devices

# Print retiring, bad speculation, frontend and backend bound, in percent.
example() { /libperf/topdown-2 1000000 | awk 'NR <= 4 { print $1 }' | paste -sd ' '; }

mkdir -p "$stub/cpu_atom/events"
cat "$devices/cpu_atom/type" > "$stub/cpu_atom/type"
for file in "$devices"/cpu_atom/events/topdown-*; do
	cat "$file" > "$stub/cpu_atom/events/${file##*/}"
done
# Mispredicted returns.
echo event=0xc5,umask=0x08 > "$stub/cpu_atom/events/topdown-be-bound"

plan 2
all=$(example)
mount -o bind "$stub" "$devices"
rest=$(example)
umount "$devices"
echo "# $all; without those bound by the backend: $rest"
awk -v all="$all" 'BEGIN {
	split(all, a)
	sum = a[1] + a[2] + a[3] + a[4]
	exit !(a[1] > 10 && a[4] > 10 && sum > 99.7 && sum < 100.3)
}'
result $? 'all slots'
awk -v all="$all" -v rest="$rest" 'BEGIN {
	split(all, a)
	split(rest, b)
	for (i = 1; i <= 4; i++) {
		d = b[i] - a[i] + (i == 2 ? -a[4] : i == 4 ? a[4] : 0)
		bad += d > 1 || d < -1
	}
	exit bad
}'
result $? 'bad speculation is the rest'
exit "$failed"
