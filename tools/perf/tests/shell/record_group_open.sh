#!/bin/bash
# Record groups with an event that cannot be opened
# SPDX-License-Identifier: GPL-2.0

# perf record goes on without an event that cannot be opened, and what it writes has
# to be a group of the others. There is no software event of that number, which perf
# learns only from the kernel.

set -e

err=0
data=$(mktemp /tmp/__perf_test.perf.data.XXXXXX)
log=$(mktemp /tmp/__perf_test.log.XXXXXX)
bad=software/config=0x7fff/

cleanup() {
	rm -f "${data}" "${log}"
	trap - EXIT TERM INT
}
trap 'cleanup; exit 1' EXIT TERM INT

# record EVENTS: record them, into a file that a failure does not leave behind
record() {
	rm -f "${data}"
	perf record -o "${data}" -e "$1" perf test -w noploop 0.1 > "${log}" 2>&1
}

# check NAME COMMAND...: report whether COMMAND succeeds
check() {
	local name=$1

	shift
	if "$@"
	then
		echo "${name} [Success]"
	else
		echo "${name} [Failed]"
		cat "${log}"
		err=1
	fi
}

# records EVENTS GROUPS EVENT...: record EVENTS, get GROUPS and samples of each EVENT, and of
# no other
records() {
	local groups sampled

	record "$1" || return
	groups=$(perf evlist -g -i "${data}" 2>> "${log}" | sed '/^#/d; s/:u//g' | paste -sd ' ')
	sampled=$(perf script -F event -i "${data}" 2>> "${log}" | sed 's/:.*//; s/ //g' | sort -u)
	[ "${groups}" = "$2" ] && [ "${sampled}" = "$(printf '%s\n' "${@:3}" | sort)" ]
}

# records_nothing EVENTS: there is no recording of EVENTS
records_nothing() {
	! record "$1" && grep -q "Failure to open any events" "${log}"
}

if ! record cpu-clock
then
	echo "cpu-clock cannot be recorded [Skipped]"
	cleanup
	exit 2
fi

check "the only member" records "{cpu-clock,${bad}}" "cpu-clock" cpu-clock
check "the last member, and another event" records "{cpu-clock,task-clock,${bad}},cpu-clock" \
	"{cpu-clock,task-clock} cpu-clock" cpu-clock task-clock
check "two members" records "{cpu-clock,${bad},task-clock,${bad}}" \
	"{cpu-clock,task-clock}" cpu-clock task-clock
check "members of two groups" records "{cpu-clock,${bad}},{task-clock,cpu-clock,${bad}}" \
	"cpu-clock {task-clock,cpu-clock}" cpu-clock task-clock

# The samples of the leader have the counts of the group.
check "the only member, leader sampling" records "{cpu-clock,${bad}}:S" "cpu-clock" cpu-clock
check "the first member, leader sampling" records "{cpu-clock,${bad},task-clock}:S" \
	"{cpu-clock,task-clock}" cpu-clock task-clock
# The samples of the other one would not have them, but are made from these.
check "the first member, leader sampling of one" records "{cpu-clock:S,${bad},task-clock}" \
	"{cpu-clock:S,task-clock}" cpu-clock task-clock

# Without a leader there is no group, and no event of it.
check "the leader, and another event" records "{${bad},cpu-clock},task-clock" \
	"task-clock" task-clock
check "the leader, and another group" records "{${bad},cpu-clock}:S,{task-clock,cpu-clock}:S" \
	"{task-clock,cpu-clock}" cpu-clock task-clock
check "the leader, and nothing else" records_nothing "{${bad},cpu-clock}:S"
check "all events" records_nothing "{${bad},${bad}}"

# The members of a weak group are opened one by one.
check "the leader of a weak group" records "{${bad},cpu-clock,task-clock}:W" \
	"cpu-clock task-clock" cpu-clock task-clock

cleanup
exit "${err}"
