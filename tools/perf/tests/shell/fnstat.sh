#!/bin/bash
# perf fnstat tests
# SPDX-License-Identifier: GPL-2.0

# shellcheck disable=SC2154 # testdir and log come from lib/
set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh

data=${testdir}/perf.data
out=${testdir}/report

# check_shares NAME: check that the share of instructions of each function in the
# recording is what is known of the workload, within the precision of sampling
check_shares() {
	if perf test -w fnmix list | grep -q unknown
	then
		skip "$1: unknown number of instructions"
		return
	fi
	if ! perf fnstat report -i "${data}" -x, > "${out}" 2> "${log}"
	then
		fail "$1: report"
		return
	fi
	if perf test -w fnmix list | awk -F '[ ,]' '
		NR == FNR && $1 != "empty" { insns["fnmix_" $1] = $2; sum += $2 }
		NR == FNR { next }
		FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "%I") col = i; next }
		$1 in insns { share[$1] = $col }
		END {
			if (!sum)
				exit 1
			for (name in insns) {
				want = 100 * insns[name] / sum
				missing = !(name in share)
				diff = share[name] - want
				if (missing || diff > 2 || diff < -2) {
					print name ": " share[name] "%, expected " want "%"
					bad = 1
				}
			}
			exit bad
		}' - "${out}"
	then
		pass "$1"
	else
		cat "${out}"
		fail "$1"
	fi
}

test_plain_period() {
	if ! perf fnstat record -c 20011 -w 0 -o "${data}" \
		perf test -w fnmix 5000 2> "${log}"
	then
		fail "Record a plain period"
		return
	fi
	check_shares "Report of a plain period"
}

test_windows() {
	if ! perf fnstat record -c 19700 -w 300 --jitter 2000 -o "${data}" \
		perf test -w fnmix 5000 2> "${log}"
	then
		if grep -q "does not support alternating or jittered" "${log}"
		then
			skip "Report of windows: no alternating periods"
		else
			fail "Record windows"
		fi
		return
	fi
	check_shares "Report of windows"
}

# test_refused NAME OPTIONS...: check that a report fails with a message
test_refused() {
	local what=$1

	shift
	if perf fnstat report "$@" > /dev/null 2> "${log}" || [ ! -s "${log}" ]
	then
		fail "Refuse ${what}"
	else
		pass "Refuse ${what}"
	fi
}

# Without a PMU perf record replaces cycles by a clock event, or fails.
if ! perf record -e '{cycles/period=20011/,instructions}:uS' -o "${data}" \
	perf test -w fnmix 100 > /dev/null 2>&1 ||
   perf evlist -v -i "${data}" | grep -q PERF_COUNT_SW_CPU_CLOCK
then
	skip_test "fnstat: cycles cannot be sampled"
fi

test_refused "an unknown attribution" -i "${data}" --attribution=none
test_plain_period
test_windows

perf record -e cycles/period=20011/u -o "${data}" true > /dev/null 2>&1
test_refused "samples without a group" -i "${data}"

perf record -e '{instructions/period=20011/,branches}:uS' -o "${data}" \
	true > /dev/null 2>&1 || perf record -e '{instructions/period=20011/,page-faults}:uS' \
	-o "${data}" true > /dev/null 2>&1
test_refused "a group without cycles" -i "${data}"

: > "${data}"
test_refused "an empty file" -i "${data}"

end_test
