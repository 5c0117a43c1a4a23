#!/bin/bash
# perf report as JSON
# SPDX-License-Identifier: GPL-2.0

# Samples alone give metrics, too, so most tests need no kernel with alternating periods.

# shellcheck disable=SC2154 # testdir, log and out come from lib/
set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh
# shellcheck source=lib/setup_python.sh
. "${shelldir}"/lib/setup_python.sh

data=${testdir}/perf.data
# Number of processes to record, and how often to sample. Each CPU with samples has a report.
processes=${PROCESSES:-3}
period=${PERIOD:-20011}

# A name that is not UTF-8, with special characters of JSON, and two that differ in a blank at the
# end.
odd=${testdir}/$'b\xff"\\'
for name in "${odd}" "${testdir}/b" "${testdir}/b "
do
	ln -s "$(command -v perf)" "${name}"
done

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

# json NAME OPTIONS...: write a report
json() {
	local name=$1

	shift
	if ! perf report -i "${data}" --json --no-inline "$@" > "${testdir}/${name}.json" \
		2> "${log}"
	then
		fail "Write ${name}"
		end_test
	fi
}

# json_metrics: write a report of metrics, and one for each CPU
json_metrics() {
	local options=(--no-children --fnstat --sort sym -g none) cpu

	json whole "${options[@]}" --metrics cpi,instructions-share
	rm -rf "${testdir}/parts"
	mkdir "${testdir}/parts"
	for cpu in $(perf script -i "${data}" -F cpu 2> "${log}" | tr -d '[] ' | sort -u)
	do
		json "parts/${cpu}" "${options[@]}" -C "$((10#${cpu}))"
	done
}

json plain --no-children --sort sym,comm -g caller,0
json tree --no-children --sort comm -g caller,0
json folded --no-children --sort comm -g folded,caller,0
json children --children --fnstat --sort sym -g none
json filtered --no-children --sort comm,sym --comms perf -g none
json_metrics

# holds EXPRESSION: evaluate an expression of Python for the reports
holds() {
	"${PYTHON}" - "${testdir}" "$1" 2> "${log}" << 'END'
import collections, glob, json, sys

dir, expression = sys.argv[1:]

def load(name):
	with open(f"{dir}/{name}.json") as file:
		return json.load(file)

def all_entries(report):
	return [entry for event in report["events"] for entry in event["entries"]]

# Period of all nodes of a tree.
def chain_period(nodes):
	return sum(node["period"] + chain_period(node.get("next", [])) for node in nodes)

# The stacks of others may be garbage.
def check_chains(report):
	entries = [entry for entry in all_entries(report) if entry["symbol"].startswith("fnmix_")]
	for entry in entries:
		assert chain_period(entry["callchains"]) == entry["period"], entry
	return entries

# The period of each whole chain.
def chains(nodes, before=()):
	result = collections.Counter()
	for node in nodes:
		frames = before + tuple(node["frames"])
		result[frames] += node["period"]
		result += chains(node.get("next", []), frames)
	return +result

def chains_of_commands(report):
	return [(entry["command"], chains(entry.get("callchains", [])))
		for entry in all_entries(report)]

def check_periods(report):
	for event in report["events"]:
		entries = event["entries"]
		assert sum(entry["period"] for entry in entries) == event["period"]
		assert sum(entry["samples"] for entry in entries) == event["samples"]
		assert entries == sorted(entries, key=lambda entry: -entry["period"])
	return True

# Each core PMU has a group.
def groups(report):
	return [event for event in report["events"] if "fnstat" in event]

def check_groups(check, report):
	return groups(report) and all(map(check, groups(report)))

# The sums of each function, of one report or several.
def sums(reports):
	result = collections.Counter()
	for event in sum(map(groups, reports), []):
		for entry in event["entries"]:
			fnstat = entry["fnstat"]
			for key in ("weight", "weight2", "windows", "used"):
				result[entry["symbol"], key] += fnstat[key]
			for key, value in fnstat["problems"].items():
				result[entry["symbol"], key] += value
	return result

def is_child_sum(event):
	all = event["fnstat"]["all"]
	weight = used = functions = calls = 0
	for entry in event["entries"]:
		if "fnstat" not in entry:
			continue
		own, children = entry["fnstat"], entry["children"]["fnstat"]
		assert children["weight"] >= own["weight"]
		assert "metrics" in entry and "metrics" in entry["children"]
		weight += own["weight"]
		used += own["used"]
		functions += own["weight"] if entry["symbol"].startswith("fnmix_") else 0
		calls += children["weight"] if entry["symbol"] == "fnmix" else 0
	return weight == all["weight"] and used == all["used"] and calls > 0.9 * functions

def is_close(a, b):
	return abs(a - b) <= 1e-9 * abs(b)

# The counts of metrics are those of their values, and add up to the totals.
def check_counts(event):
	group = event["fnstat"]
	all_cycles = group["totals"][group["sampler"]]
	all_insns = group["totals"][1 - group["sampler"]]
	metrics = [entry["metrics"]["cpi"] for entry in event["entries"]
		   if "cpi" in entry["metrics"]]
	cycles = sum(cpi["dividend"] for cpi in metrics)
	insns = sum(cpi["divisor"] for cpi in metrics)
	assert all(is_close(cpi["value"], cpi["dividend"] / cpi["divisor"]) for cpi in metrics)
	assert is_close(group["metrics"]["cpi"], all_cycles / all_insns)
	# Entries without an estimate are missing in the sums.
	return 0.95 < cycles / all_cycles <= 1.000001 and 0.8 < insns / all_insns < 1.2

plain, children, whole = map(load, ("plain", "children", "whole"))
parts = [load(name[len(dir) + 1:-5]) for name in glob.glob(f"{dir}/parts/*.json")]
sys.exit(not eval(f"({expression})"))
END
}

check "Version" holds 'all(report["version"] == 1 for report in parts + [plain, children, whole])'
check "Sort keys" holds 'all({"symbol", "command"} <= entry.keys() for entry in all_entries(plain))'
check "Names of any bytes" holds \
	'"b\ufffd\"\\" in {entry["command"] for entry in all_entries(plain)}'
check "A filter by name" holds 'load("filtered")["events"]'
check "Entries add up" holds 'check_periods(plain) and check_periods(whole)'
check "Callchains add up" holds 'check_chains(plain)'
check "Folded callchains" holds 'all_entries(load("tree")) and
	chains_of_commands(load("tree")) == chains_of_commands(load("folded"))'
check "Metrics with children" holds 'check_groups(is_child_sum, children)'
check "$(find "${testdir}/parts" -type f | wc -l) CPUs add up" holds \
	'sums([whole]) and sums(parts) == sums([whole])'
check "What is missing" holds 'check_groups(lambda event: "remarks" in event["fnstat"] and
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

# Compare the example with perf report, and its results for whole and parts.
is_same_by_query() {
	query "${testdir}"/parts/*.json > "${testdir}/parts.txt" &&
	query "${testdir}/whole.json" > "${testdir}/whole.txt" &&
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
	{ [ "$(perf evlist -i "${data}" | grep -c cycles)" -gt 1 ] ||
	  is_same_table "${testdir}/report.txt" "${testdir}/whole.txt" 0.001 0.1; } &&
	is_same_table "${testdir}/whole.txt" "${testdir}/parts.txt" 0.1 5
}

# Compare the example for a report with that of one in which each group is there twice, as where
# counters do not suffice for all metrics, and a clock.
is_same_twice() {
	"${PYTHON}" - "${testdir}" << 'END' > "${log}" 2>&1 &&
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
	query "${testdir}/twice.json" | diff - "${testdir}/whole.txt" > "${log}" 2>&1 &&
	[ -s "${testdir}/whole.txt" ]
}

test_query() {
	local windows="period=${period}0,alt-period=100,alt-period-jitter=60"

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
	check "A query of many reports" is_same_by_query
	check "A query of what is there twice, or a clock" is_same_twice
	if ! record "{cycles/${windows}/,instructions/period=${period}0/}:uS"
	then
		skip "A query of windows and samples: the kernel or the PMU has no windows"
		return
	fi
	json_metrics
	check "A query of windows and samples" is_same_by_query
	check "Counts of metrics" holds 'check_groups(check_counts, whole)'
}

# refuses OPTION: check that there is a message instead of JSON
refuses() {
	! perf report -i "${data}" --json "$1" > /dev/null 2> "${log}" && [ -s "${log}" ]
}
for option in --hierarchy --stats --header --dump-raw-trace
do
	check "Refuse JSON with ${option}" refuses "${option}"
done
test_query

# The fields of a tracepoint are keys too: without them, there is one entry.
if run_logged perf record -o "${data}" -e sched:sched_switch perf test -w fnmix 100
then
	json fields --sort prev_comm,next_comm
	check "Fields of tracepoints" holds 'all({"field_prev_comm", "field_next_comm"} <=
		entry.keys() for entry in all_entries(load("fields")))'
else
	skip "Fields of tracepoints: cannot record"
fi

# shellcheck disable=SC2016 # bash -c expands it
if run_logged perf record -o "${data}" -e cpu-clock/period=100000/u \
	bash -c '"$1" test -w fnmix 100; "$1 " test -w fnmix 100' - "${testdir}/b"
then
	json blanks --sort comm
	check "Names with a blank at the end" holds \
		'{"b", "b "} <= {entry["command"] for entry in all_entries(load("blanks"))}'
else
	skip "Names with a blank at the end: cannot record"
fi

# Remove the feature HEADER_CPUID (9) from a recording.
has_no_cpuid() {
	"${PYTHON}" - "${data}" << 'END' &&
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
with open(sys.argv[1], "wb") as file:
    file.write(data)
END
	json cpuid && holds '"cpuid" not in load("cpuid")'
}
check "CPUID of another machine" has_no_cpuid

end_test
