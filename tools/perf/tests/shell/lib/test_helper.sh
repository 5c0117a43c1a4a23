# SPDX-License-Identifier: GPL-2.0
#
# For tests that make several checks: a temporary directory that is removed at
# the end, the results of the checks, and the choice of a CPU.
#
# err:		the exit status of the test, set to 1 by fail and check
# testdir:	the temporary directory
# log:		a file in it, which fail and check print
# out:		another one, for what is checked, which they print if it is there

err=0
testdir=$(mktemp -d /tmp/__perf_test.XXXXXX)
log=${testdir}/log
out=${testdir}/out

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

# pass NAME: report a success
pass() {
	echo "$1 [Success]"
}

# skip NAME: report a check that could not be made
skip() {
	echo "$1 [Skipped]"
}

# fail NAME: report a failure and print the log, and what is checked
fail() {
	echo "$1 [Failed]"
	cat "${out}" "${log}" 2> /dev/null || true
	err=1
}

# check NAME COMMAND...: report whether COMMAND succeeds
check() {
	local name=$1

	shift
	if "$@"
	then
		pass "${name}"
	else
		fail "${name}"
	fi
}

# run_logged COMMAND...: run COMMAND with its output in the log
run_logged() {
	"$@" > "${log}" 2>&1
}

# skip_test REASON: end the test as skipped
skip_test() {
	skip "$1"
	cleanup
	exit 2
}

# end_test: end the test with its result
end_test() {
	cleanup
	exit "${err}"
}

# require_taskset: end the test as skipped if it cannot choose CPUs
require_taskset() {
	if ! command -v taskset > /dev/null
	then
		skip_test "There is no taskset"
	fi
}

# first_cpu LIST: print the first CPU that the test may run on, of a LIST like
# those in sysfs
first_cpu() {
	local range cpu

	for range in ${1//,/ }
	do
		for cpu in $(seq "${range%-*}" "${range#*-}")
		do
			if taskset -c "${cpu}" true 2> /dev/null
			then
				echo "${cpu}"
				return
			fi
		done
	done
}

# run_on_one_cpu: bind the test and its children to one CPU
run_on_one_cpu() {
	require_taskset
	taskset -cp "$(first_cpu "$(cat /sys/devices/system/cpu/online)")" $$ > /dev/null
}
