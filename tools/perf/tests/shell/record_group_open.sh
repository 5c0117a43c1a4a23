#!/bin/bash
# Record groups with an event that cannot be opened
# SPDX-License-Identifier: GPL-2.0

# perf record goes on without an event that cannot be opened, and what it writes has
# to be a group of the others. There is no software event of that number, which perf
# learns only from the kernel.

set -e

err=0
testdir=$(mktemp -d /tmp/__perf_test.XXXXXX)
log=${testdir}/log
data=${testdir}/perf.data

cleanup() {
	rm -rf "${testdir}"
	trap - EXIT TERM INT
}

trap_cleanup() {
	echo "Unexpected signal in ${FUNCNAME[1]}"
	cleanup
	exit 1
}
trap trap_cleanup EXIT TERM INT

pass() {
	echo "$1 [Success]"
}

fail() {
	echo "$1 [Failed]"
	cat "${log}"
	err=1
}

bad=software/config=0x7fff/

# record EVENTS: record them, into a file that a failure does not leave behind
record() {
	rm -f "${data}"
	perf record -o "${data}" -e "$1" perf test -w noploop 0.1 > "${log}" 2>&1
}

# has_groups GROUPS: the recording has these events, in these groups
has_groups() {
	local groups

	groups=$(perf evlist -g -i "${data}" 2>> "${log}" | sed '/^#/d; s/:u//g' | paste -sd ' ')
	[ "${groups}" = "$1" ]
}

# has_samples EVENT...: each of these events has samples, and no other has
has_samples() {
	local sampled

	sampled=$(perf script -F event -i "${data}" 2>> "${log}" | sed 's/:.*//; s/ //g' | sort -u)
	[ "${sampled}" = "$(printf '%s\n' "$@" | sort)" ]
}

# check_record NAME EVENTS GROUPS EVENT...: record EVENTS, get GROUPS and samples of
# each EVENT
check_record() {
	local name=$1 events=$2 groups=$3

	shift 3
	if record "${events}" && has_groups "${groups}" && has_samples "$@"
	then
		pass "${name}"
	else
		fail "${name}"
	fi
}

# check_refused NAME EVENTS: there is no recording of EVENTS
check_refused() {
	if record "$2" || ! grep -q "Failure to open any events" "${log}"
	then
		fail "$1"
	else
		pass "$1"
	fi
}

# check_message NAME: the message for the member names the event that was missing
check_message() {
	if grep -A 1 "Failure to open event 'cpu-clock" "${log}" |
		grep -q "leader of its group, '${bad}'"
	then
		pass "$1"
	else
		fail "$1"
	fi
}

if ! record cpu-clock
then
	echo "cpu-clock cannot be recorded [Skipped]"
	cleanup
	exit 2
fi

check_record "the only member" "{cpu-clock,${bad}}" \
	"cpu-clock" cpu-clock
check_record "the first member" "{cpu-clock,${bad},task-clock}" \
	"{cpu-clock,task-clock}" cpu-clock task-clock
check_record "the last member, and another event" "{cpu-clock,task-clock,${bad}},cpu-clock" \
	"{cpu-clock,task-clock} cpu-clock" cpu-clock task-clock
check_record "two members" "{cpu-clock,${bad},task-clock,${bad}}" \
	"{cpu-clock,task-clock}" cpu-clock task-clock
check_record "members of two groups" "{cpu-clock,${bad}},{task-clock,cpu-clock,${bad}}" \
	"cpu-clock {task-clock,cpu-clock}" cpu-clock task-clock

# The samples of the leader have the counts of the group.
check_record "the only member, leader sampling" "{cpu-clock,${bad}}:S" \
	"cpu-clock" cpu-clock
check_record "the first member, leader sampling" "{cpu-clock,${bad},task-clock}:S" \
	"{cpu-clock,task-clock}" cpu-clock task-clock
# The samples of the other one would not have them, but are made from these.
check_record "the first member, leader sampling of one" "{cpu-clock:S,${bad},task-clock}" \
	"{cpu-clock:S,task-clock}" cpu-clock task-clock

# Without a leader there is no group, and no event of it.
check_record "the leader, and another event" "{${bad},cpu-clock},task-clock" \
	"task-clock" task-clock
check_message "the message says that it is the leader"
check_record "the leader, and another group" "{${bad},cpu-clock}:S,{task-clock,cpu-clock}:S" \
	"{task-clock,cpu-clock}" cpu-clock task-clock
check_refused "the leader, and nothing else" "{${bad},cpu-clock}:S"
check_refused "all events" "{${bad},${bad}}"

# The members of a weak group are opened one by one.
check_record "the leader of a weak group" "{${bad},cpu-clock,task-clock}:W" \
	"cpu-clock task-clock" cpu-clock task-clock

cleanup
exit "${err}"
