#!/bin/bash
# perf fnstat tests
# SPDX-License-Identifier: GPL-2.0

set -e

err=0
perfdata=$(mktemp /tmp/__perf_test.perf.data.XXXXXX)
out=$(mktemp /tmp/__perf_test.fnstat.XXXXXX)

cleanup() {
	rm -f "${perfdata}" "${perfdata}.old" "${out}"
	trap - EXIT TERM INT
}

trap_cleanup() {
	echo "Unexpected signal in ${FUNCNAME[1]}"
	cleanup
	exit 1
}
trap trap_cleanup EXIT TERM INT

fail() {
	echo "$1 [Failed]"
	err=1
}

# Each function of the workload has the share of instructions that it is known to
# have, give or take what sampling makes of that.
check_shares() {
	if perf test -w fnmix 0 all list | grep -q unknown
	then
		echo "$1: unknown number of instructions [Skipped]"
		return
	fi
	if ! perf fnstat report -i "${perfdata}" -x, > "${out}"
	then
		fail "$1: report"
		return
	fi
	if perf test -w fnmix 0 all list | awk -F '[ ,]' '
		NR == FNR && $1 != "empty" { insns["fnmix_" $1] = $2; sum += $2 }
		NR == FNR { next }
		FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "%I") col = i; next }
		$1 in insns { share[$1] = $col }
		END {
			for (name in insns) {
				want = 100 * insns[name] / sum
				diff = share[name] - want
				if (!(name in share) || diff > 2 || diff < -2) {
					print name ": " share[name] "%, expected " want "%"
					bad = 1
				}
			}
			exit bad
		}' - "${out}"
	then
		echo "$1 [Success]"
	else
		cat "${out}"
		fail "$1"
	fi
}

test_plain_period() {
	perf fnstat record -c 20011 -w 0 -o "${perfdata}" perf test -w fnmix 5000 2> /dev/null
	check_shares "Report of a plain period"
}

test_windows() {
	if ! perf fnstat record -c 19700 -w 300 --jitter 2000 -o "${perfdata}" \
		perf test -w fnmix 5000 2> "${out}"
	then
		if grep -q "does not support alternating or jittered" "${out}"
		then
			echo "Report of windows: no alternating periods [Skipped]"
		else
			cat "${out}"
			fail "Record windows"
		fi
		return
	fi
	check_shares "Report of windows"
}

# Refused with a message.
test_refused() {
	local what=$1

	shift
	if perf fnstat report "$@" > /dev/null 2> "${out}" || [ ! -s "${out}" ]
	then
		fail "Refuse $what"
	else
		echo "Refuse $what [Success]"
	fi
}

# Without cycles of a PMU perf record has a clock instead, or fails.
if ! perf record -e '{cycles/period=20011/,instructions}:uS' -o "${perfdata}" \
	perf test -w fnmix 100 > /dev/null 2>&1 ||
   perf evlist -v -i "${perfdata}" | grep -q PERF_COUNT_SW_CPU_CLOCK
then
	echo "fnstat: cycles cannot be sampled [Skipped]"
	cleanup
	exit 2
fi

test_refused "an unknown attribution" -i "${perfdata}" --attribution=none
test_plain_period
test_windows

perf record -e cycles/period=20011/u -o "${perfdata}" true > /dev/null 2>&1
test_refused "samples without a group" -i "${perfdata}"

perf record -e '{instructions/period=20011/,branches}:uS' -o "${perfdata}" \
	true > /dev/null 2>&1 || perf record -e '{instructions/period=20011/,page-faults}:uS' \
	-o "${perfdata}" true > /dev/null 2>&1
test_refused "a group without cycles" -i "${perfdata}"

: > "${perfdata}"
test_refused "an empty file" -i "${perfdata}"

cleanup
exit $err
