#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: perf
#
# PEBS: an ordinary event fills a buffer, and the hardware reloads its period; an
# event with windows has one record, and one interrupt, at a time. KTAP.
. "$(dirname "$0")/ktap.sh"

data=/tmp/pebs.data out=/tmp/pebs.out

nmis() { awk '/NMI:/ { print $2 }' /proc/interrupts; }

record()		# PERF-RECORD-OPTIONS...; sets interrupts, and writes "PERIOD FLAG" to $out
{
	interrupts=$(nmis)
	perf record -o "$data" "$@" perf test -w fnmix 20 > "$out" 2>&1 || return
	interrupts=$(($(nmis) - interrupts))
	perf script -i "$data" -F misc,period 2> /dev/null |
		awk 'NF { print $NF, $1 ~ /W/ ? "W" : "-" }' > "$out"
	samples=$(wc -l < "$out")
	kinds=$(sort "$out" | uniq -c | tr -s ' ' | tr '\n' ,)
	echo "# $samples samples, $interrupts interrupts:$kinds"
}

# What the program executes, in user mode.
count()			# EVENT
{
	perf stat -x, -e "$1:u" -o /tmp/stat perf test -w fnmix 20
	awk -F, '$1 ~ /^[0-9]/ { print $1 }' /tmp/stat
}

plan 8

insns=$(count instructions)
branches=$(count branches)
echo "# $insns instructions, $branches branches"

record -e instructions/period=10007/upp
[ "$interrupts" -lt 10 ] && [ "$(sort -u "$out")" = '10007 -' ]
result $? 'large PEBS: all periods are 10007, and there are few interrupts'
[ "$samples" = $((insns / 10007)) ]
result $? 'large PEBS: no sample is missing'

record --call-graph fp -e instructions/period=10007/upp
[ "$interrupts" = "$samples" ] && [ "$(sort -u "$out")" = '10007 -' ]
result $? 'auto-reload: an interrupt for each sample'
[ "$samples" = $((insns / 10007)) ]
result $? 'auto-reload: no sample is missing'

alternates()
{
	awk -v l="$1" -v s="$2" '
		$0 != (NR % 2 ? l " -" : s " W") { print NR ": " $0; exit bad = 1 }
		END { exit bad }' "$out"
}

record -e instructions/period=9707,alt-period=300/upp
alternates 9707 300 && [ "$interrupts" = "$samples" ]
result $? 'windows of instructions, one record at a time'
[ "$samples" = $((2 * (insns / 10007) + (insns % 10007 >= 9707))) ]
result $? 'windows of instructions: no sample is missing'

record -e branches/period=1990,alt-period=10/upp
alternates 1990 10 && [ "$interrupts" = "$samples" ]
result $? 'windows of branches, one record at a time'
[ "$samples" = $((2 * (branches / 2000) + (branches % 2000 >= 1990))) ]
result $? 'windows of branches: no sample is missing'
exit "$failed"
