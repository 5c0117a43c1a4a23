#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: perf
#
# Pseudo-NMIs of arm64: an overflow interrupts the kernel where it has disabled
# interrupts. KTAP.
. "$(dirname "$0")/ktap.sh"

data=/tmp/nmi.data out=/tmp/nmi.out pipe=/tmp/nmi.pipe

# What has the timer interrupt.
record()			# EVENT
{
	perf record -a -o "$data" -e "$1" bash -c '
		for ((i = 0; i < 300; i++)); do read -t 0.0001 -u 3; done; true' \
		3<> "$pipe" > "$out" 2>&1
}
mkfifo "$pipe"

plan 3

dmesg > "$out"
grep -q 'PMU driver, .* using NMIs' "$out"
result $? 'the driver uses NMIs'

# A handler of interrupts, which has them disabled.
handler='^(hrtimer_interrupt|__hrtimer_run_queues|ktime_get_update_offsets_now)$'

record cycles/period=4999/k
result $? 'sample the kernel'
perf script -i "$data" -F ip,sym 2> /dev/null |
	awk 'NF { print $2 }' | sort | uniq -c | sort -rn > "$out"
samples=$(awk -v handler="$handler" '$2 ~ handler { nr += $1 } END { print nr + 0 }' "$out")
echo "# $samples samples of the handler of the timer"
[ "$samples" -gt 10 ]
result $? 'there are samples of the handler of the timer'

exit "$failed"
