#!/bin/bash
# perf report of windows
# SPDX-License-Identifier: GPL-2.0

# The samples of an ordinary period are windows too, so this needs neither a PMU nor a kernel
# with alternating periods.

# shellcheck disable=SC2154 # testdir and log come from lib/
set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh

data=${testdir}/perf.data
out=${testdir}/report

report() {
	perf report -i "${data}" --stdio --windows "$@" > "${out}" 2> "${log}"
}

# used OPTIONS...: print how many windows are used
used() {
	report "$@" && sed -n 's/^# Windows: .* used: \([0-9]*\) .*/\1/p' "${out}"
}

if ! run_logged perf record -o "${data}" -e '{task-clock/period=100000/,page-faults}:uS' \
	perf test -w fnmix 300
then
	skip_test "Windows: cannot record"
fi

# The first line of fields is the header, all others have as many.
test_fields() {
	local what=$1

	shift
	if report -t, "$@" && awk -F, '
		/^# Overhead/ { nr = NF }
		/^ *[0-9.]+%/ || /^#.*\[total\]/ { rows++; if (NF != nr) bad = $0 }
		END { if (bad) print bad; exit bad || rows < 2 }' "${out}"
	then
		pass "${what}"
	else
		cat "${out}"
		fail "${what}"
	fi
}
test_fields "A field for each column" -s sym
# These events have no metric, and so no column of one.
test_fields "A field for each column of a hierarchy" -s comm,sym --hierarchy

report -s sym
if awk '/^# Overhead .*Windows .*Coverage/ { head = 1 }
	head && $1 ~ /%$/ { time += $1 }
	END { exit !(head && time > 99 && time < 101) }' "${out}"
then
	pass "Shares of time add up"
else
	cat "${out}"
	fail "Shares of time add up"
fi

# Without symbols each address is a place of its own: nobody knows what function it is in.
same=$(used --symfs "${testdir}/none" -s dso)
any=$(used --symfs "${testdir}/none" -s dso --attribution=any)
if [ -n "${same}" ] && [ "${same}" -lt "${any}" ]
then
	pass "Places without a symbol"
else
	echo "used: ${same}, wherever they end: ${any}"
	fail "Places without a symbol"
fi

end_test
