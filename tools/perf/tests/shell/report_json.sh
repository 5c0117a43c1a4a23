#!/bin/bash
# perf report as JSON
# SPDX-License-Identifier: GPL-2.0

# Samples alone give metrics, too, so most tests need no kernel with alternating periods.

# shellcheck disable=SC2154 # testdir and log come from lib/
set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh
# shellcheck source=lib/setup_python.sh
. "${shelldir}"/lib/setup_python.sh

data=${testdir}/perf.data
# Number of processes to record, and how often to sample. Each CPU with samples has a report.
processes=${PROCESSES:-3}
period=${PERIOD:-5003}

# A name that is not UTF-8, with special characters of JSON.
odd=${testdir}/$'b\xff"\\'
ln -s "$(command -v perf)" "${odd}"

# workload PROCESSES NAME: run processes, one of them by another name of perf
workload() {
	local i

	for ((i = 1; i < $1; i++))
	do
		perf test -w fnmix $((i % 2 * 100 + 100)) &
	done
	"$2" test -w fnmix 300
	wait
}
export -f workload

# record EVENTS OPTIONS...: record processes on all CPUs
record() {
	local events=$1

	shift
	# shellcheck disable=SC2016 # bash -c expands it
	run_logged perf record -a -o "${data}" -e "${events}" "$@" \
		bash -c 'workload "$@"' - "${processes}" "${odd}"
}

# Without a PMU perf record replaces cycles by a clock event, or fails.
if ! record "{cycles/period=${period}/,instructions/period=${period}/}:uS" -g ||
   perf evlist -v -i "${data}" | grep -q "PERF_COUNT_SW_.*_CLOCK"
then
	if ! record '{cpu-clock/period=100000/,page-faults}:uS' -g
	then
		skip_test "JSON: cannot record"
	fi
fi

# json FILE OPTIONS...: write a report
json() {
	local file=$1

	shift
	if ! perf report -i "${data}" --json --no-inline "$@" > "${testdir}/${file}" 2> "${log}"
	then
		fail "Write ${file}"
		end_test
	fi
}

# json_windows: write a report of windows, and one for each CPU
json_windows() {
	local cpu

	json whole.json --no-children --fnstat --sort sym -g none \
		--metrics cpi,instructions-share
	rm -rf "${testdir}/parts"
	mkdir "${testdir}/parts"
	for cpu in $(perf script -i "${data}" -F cpu 2> "${log}" | tr -d '[] ' | sort -u)
	do
		json "parts/${cpu}.json" --no-children --fnstat --sort sym -g none \
			-C "$((10#${cpu}))"
	done
}

json plain.json --no-children --sort sym,comm -g caller,0
json tree.json --no-children --sort comm -g caller,0
json folded.json --no-children --sort comm -g folded,caller,0
json children.json --children --fnstat --sort sym -g none
json filtered.json --no-children --sort comm,sym --comms perf -g none
json_windows

# check_reports NAME EXPRESSION: evaluate an expression of Python for the reports
check_reports() {
	if "${PYTHON}" - "${testdir}" "$2" 2> "${log}" << 'END'
import glob, json, math, sys

def load(name):
	with open(name) as file:
		return json.load(file)

def is_close(a, b, tolerance=1e-9):
	return abs(a - b) <= tolerance * abs(b)

# Period of all nodes of a tree.
def chain_period(nodes):
	return sum(node["period"] + chain_period(node.get("next", [])) for node in nodes)

def check_chains(report):
	for event in report["events"]:
		for entry in event["entries"]:
			# The stacks of others may be garbage.
			if entry["symbol"].startswith("fnmix_"):
				assert chain_period(entry["callchains"]) == entry["period"], entry
	return any("callchains" in entry for event in report["events"]
		   for entry in event["entries"])

# The period of each whole chain.
def chains(nodes, before=(), all=None):
	all = {} if all is None else all
	for node in nodes:
		frames = before + tuple(node["frames"])
		all[frames] = all.get(frames, 0) + node["period"]
		chains(node.get("next", []), frames, all)
	return {frames: period for frames, period in all.items() if period}

def same_chains(a, b):
	rows = [[(entry["command"], chains(entry.get("callchains", [])))
		 for event in report["events"] for entry in event["entries"]]
		for report in (a, b)]
	return rows[0] and rows[0] == rows[1]

def check_periods(report):
	for event in report["events"]:
		entries = event["entries"]
		assert sum(entry["period"] for entry in entries) == event["period"]
		assert sum(entry["samples"] for entry in entries) == event["samples"]
		assert entries == sorted(entries, key=lambda entry: -entry["period"])
	return True

def check_keys(report):
	return all("symbol" in entry and "command" in entry
		   for event in report["events"] for entry in event["entries"])

# Each core PMU has a group.
def groups(report):
	return [event for event in report["events"] if "fnstat" in event]

def check_groups(check, report):
	return groups(report) and all(map(check, groups(report)))

# The sums of each function, of one report or several.
def sums(reports):
	result = {}
	for event in sum(map(groups, reports), []):
		for entry in event["entries"]:
			windows = entry["fnstat"]
			row = [windows["weight"], windows["weight2"], windows["windows"],
			       windows["used"], *windows["problems"].values()]
			old = result.get(entry["symbol"], [0] * len(row))
			result[entry["symbol"]] = [a + b for a, b in zip(old, row)]
	return result

def calls(entries, symbol):
	return sum(entry["children"]["fnstat"]["weight"] for entry in entries
		   if entry["symbol"] == symbol)

def is_child_sum(event):
	all = event["fnstat"]["all"]
	entries = [entry for entry in event["entries"] if "fnstat" in entry]
	for entry in entries:
		assert entry["children"]["fnstat"]["weight"] >= entry["fnstat"]["weight"]
		assert "metrics" in entry and "metrics" in entry["children"]
	return sum(entry["fnstat"]["weight"] for entry in entries) == all["weight"] and \
		sum(entry["fnstat"]["used"] for entry in entries) == all["used"] and \
		calls(entries, "fnmix") > 0.9 * sum(entry["fnstat"]["weight"] for entry in entries
						    if entry["symbol"].startswith("fnmix_"))

# The counts of metrics are those of their values, and add up to the totals.
def check_counts(event):
	group = event["fnstat"]
	all_cycles, all_insns = (group["totals"][i] for i in (group["sampler"], 1 - group["sampler"]))
	metrics = [entry["metrics"]["cpi"] for entry in event["entries"] if "cpi" in entry["metrics"]]
	cycles, insns = (sum(metric[key] for metric in metrics) for key in ("dividend", "divisor"))
	assert all(is_close(metric["value"], metric["dividend"] / metric["divisor"])
		   for metric in metrics)
	assert is_close(group["metrics"]["cpi"], all_cycles / all_insns)
	# Entries without an estimate are missing in the sums.
	return 0.95 < cycles / all_cycles <= 1.000001 and 0.8 < insns / all_insns < 1.2

dir, expression = sys.argv[1:]
plain, children, whole = (load(f"{dir}/{name}.json") for name in ("plain", "children", "whole"))
parts = [load(name) for name in glob.glob(f"{dir}/parts/*.json")]
sys.exit(not eval(expression))
END
	then
		pass "$1"
	else
		fail "$1"
	fi
}

check_reports "Version" 'all(report["version"] == 1 for report in parts + [plain, children, whole])'
check_reports "Sort keys" 'check_keys(plain)'
check_reports "Names of any bytes" \
	'"b\ufffd\"\\" in {e["command"] for v in plain["events"] for e in v["entries"]}'
check_reports "A filter by name" 'load(f"{dir}/filtered.json")["events"]'
check_reports "Entries add up" 'check_periods(plain) and check_periods(whole)'
check_reports "Callchains add up" 'check_chains(plain)'
check_reports "Folded callchains" \
	'same_chains(load(f"{dir}/tree.json"), load(f"{dir}/folded.json"))'
check_reports "Windows with children" 'check_groups(is_child_sum, children)'
check_reports "$(find "${testdir}/parts" -type f | wc -l) CPUs add up" \
	'sums([whole]) and sums(parts) == sums([whole])'

check_reports "What is missing" 'check_groups(lambda event: "remarks" in event["fnstat"] and
	event["fnstat"]["marked"] >= (event["fnstat"]["missing"] > 0.1), whole)'

# query FILE...: print the table of the example in the manual page
query() {
	"${PYTHON}" - "${shelldir}/lib/report_json.sql" "$@" << 'END'
import sqlite3, sys

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE reports (data)")
for name in sys.argv[2:]:
	with open(name) as file:
		db.execute("INSERT INTO reports VALUES (?)", [file.read()])
with open(sys.argv[1]) as file:
	for row in db.execute(file.read()):
		print(*(f"{value:g}" if isinstance(value, (int, float)) else value or "-"
			for value in row))
END
}

# is_same_table FILE FILE TOLERANCE MIN: compare tables of entries with so much time
is_same_table() {
	awk -v tolerance="$3" -v least="$4" '
		$1 < least { next }
		NR == FNR { time[$5] = $1; cpi[$5] = $2; windows[$5] = $3; next }
		{
			nr++
			low = cpi[$5] * (1 - tolerance) - 0.0101
			high = cpi[$5] * (1 + tolerance) + 0.0101
			difference = $1 - time[$5]
			# Without an estimate it is "-".
			if (!($5 in time) || difference > 0.0101 || difference < -0.0101 ||
			    $3 != windows[$5] || ($2 == "-") != (cpi[$5] == "-") ||
			    ($2 != "-" && ($2 < low || $2 > high))) {
				print $0 ", but " time[$5], cpi[$5], windows[$5]
				failed = 1
			}
		}
		END { exit failed || !nr }' "$1" "$2" > "${log}"
}

# check_query NAME: compare the example with perf report, and its results for whole and parts
check_query() {
	query "${testdir}"/parts/*.json > "${testdir}/parts.txt"
	query "${testdir}/whole.json" > "${testdir}/whole.txt"
	perf report -i "${data}" --stdio --no-inline --fnstat -g none --no-children --sort sym \
		-F overhead,metric:cpi,windows,sym -q --ci -t, 2> "${log}" |
		awk -F, '$NF != "[total]" {
			# Where nothing has windows, the column is not there.
			windows = NF > 6 ? $6 : 0
			sub(/^\[.\] /, "", $NF)
			sub(/^0x0+/, "0x", $NF)
			sub(/^0+$/, "0", $NF)
			print $1, $2 == "" ? "-" : $2, windows, "-", $NF
		}' > "${testdir}/report.txt"
	# The query adds up the core PMUs, and perf report has a table of each.
	if { [ "$(perf evlist -i "${data}" | grep -c cycles)" -gt 1 ] ||
	     is_same_table "${testdir}/report.txt" "${testdir}/whole.txt" 0.001 0.1; } &&
	   is_same_table "${testdir}/whole.txt" "${testdir}/parts.txt" 0.1 5
	then
		pass "$1"
	else
		fail "$1"
	fi
}

# check_units: compare the example for a report with that of one in which each group is there
# twice, as where counters do not suffice for all metrics, and a clock
check_units() {
	local name="A query of what is there twice, or a clock"

	if "${PYTHON}" - "${testdir}" << 'END' > "${log}" 2>&1 &&
import json, sys

dir = sys.argv[1]
with open(f"{dir}/whole.json") as file:
	report = json.load(file)
events = report["events"]
report["events"] = events * 2 + [event | {"event": "cpu-clock:u", "unit": "ns"} for event in events]
with open(f"{dir}/twice.json", "w") as file:
	json.dump(report, file)
assert {event["unit"].split("/")[-1] for event in events} <= {"cycles", "instructions"}
END
	   query "${testdir}/whole.json" > "${testdir}/whole.txt" &&
	   query "${testdir}/twice.json" | diff - "${testdir}/whole.txt" > "${log}" 2>&1 &&
	   [ -s "${testdir}/whole.txt" ]
	then
		pass "${name}"
	else
		fail "${name}"
	fi
}

test_query() {
	local windows

	if ! "${PYTHON}" -c 'import sqlite3; assert sqlite3.sqlite_version_info >= (3, 38)' \
		2> /dev/null
	then
		skip "A query of many reports: no SQLite"
		return
	fi
	if ! perf evlist -i "${data}" | grep -q instructions
	then
		skip "A query of many reports: no instructions"
		return
	fi
	check_query "A query of many reports"
	check_units
	windows="period=${period}0,alt-period=100,alt-period-jitter=60"
	if ! record "{cycles/${windows}/,instructions/period=${period}0/}:uS"
	then
		skip "A query of windows and samples: the kernel or the PMU has no windows"
		return
	fi
	json_windows
	check_query "A query of windows and samples"
	check_reports "Counts of metrics" 'check_groups(check_counts, whole)'
}

test_refused() {
	if perf report -i "${data}" --json "$@" > /dev/null 2> "${log}" || [ ! -s "${log}" ]
	then
		fail "Refuse JSON with $*"
	else
		pass "Refuse JSON with $*"
	fi
}
# The fields of a tracepoint are keys too: without them, there is one entry.
test_fields() {
	if ! run_logged perf record -o "${data}" -e sched:sched_switch \
		perf test -w fnmix 100
	then
		skip "Fields of tracepoints: cannot record"
		return
	fi
	json fields.json --sort prev_comm,next_comm
	check_reports "Fields of tracepoints" \
		'all("field_prev_comm" in entry and "field_next_comm" in entry for event in
		     load(f"{dir}/fields.json")["events"] for entry in event["entries"])'
}

# Two names that differ in a blank at the end are two entries.
test_blanks() {
	ln -s "$(command -v perf)" "${testdir}/b"
	ln -s "$(command -v perf)" "${testdir}/b "
	# shellcheck disable=SC2016 # bash -c expands it
	if ! run_logged perf record -o "${data}" -e cpu-clock/period=100000/u \
		bash -c '"$1" test -w fnmix 100; "$1 " test -w fnmix 100' - "${testdir}/b"
	then
		skip "Names with a blank at the end: cannot record"
		return
	fi
	json blanks.json --sort comm
	check_reports "Names with a blank at the end" \
		'{"b", "b "} <= {entry["command"] for event in
		     load(f"{dir}/blanks.json")["events"] for entry in event["entries"]}'
}

# Remove the feature HEADER_CPUID (9) from a recording.
test_cpuid() {
	"${PYTHON}" - "${data}" "${testdir}/no-cpuid.data" << 'END'
import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
begin = sum(struct.unpack_from("=2Q", data, 40))
features = int.from_bytes(data[72:104], sys.byteorder)
place = begin + 16 * bin(features & 0x1ff).count("1")
last = begin + 16 * (bin(features).count("1") - 1)
data[place:last] = data[place + 16:last + 16]
data[72:104] = (features & ~0x200).to_bytes(32, sys.byteorder)
with open(sys.argv[2], "wb") as file:
    file.write(data)
END
	if ! perf report -i "${testdir}/no-cpuid.data" --json > "${testdir}/cpuid.json" 2> "${log}"
	then
		fail "CPUID: report"
		return
	fi
	check_reports "CPUID of another machine" '"cpuid" not in load(f"{dir}/cpuid.json")'
}

test_refused --hierarchy
test_refused --stats
test_refused --header
test_refused --dump-raw-trace
test_query
test_fields
test_cpuid
test_blanks

end_test
