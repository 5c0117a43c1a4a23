#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: report_sql.sh
#
# Make of the recording with windows that x86_64-stalls has left (its test record_sql) ten reports
# as JSON, of as many parts of the time, and add them up as report-json.txt says, on SQLite
# and on a PostgreSQL server that is started for it. Of each function, they have what
# perf report says of all: the time and the windows, and the CPI within 5 % of its interval. KTAP.
. "$(dirname "$0")/../../scripts/run/machines.sh"
. "$TOP/scripts/packages.sh"

[ $# = 0 ] || usage
parts=10
need postgresql=pg_virtualenv python3 sqlite3
perf=$("$TOP/scripts/make/perf.sh" x86_64)
page=$LINUX/tools/perf/Documentation/report-json.txt
query=$LINUX/tools/perf/tests/shell/lib/report_json.sql
work=$(mktemp -d) out=$work/log
trap 'rm -rf "$work"' EXIT
. "$TOP/tests/guest/ktap.sh"
plan 6

recording=$RESULTS/x86_64-stalls/record_sql.tap
mkdir -p "$work/root/usr/bin"
[ -e "$recording" ] || die "x86_64-stalls has left no recording: 'make test MACHINES=x86_64-stalls'"
tr -d '\r' < "$recording" | base64 -d 2> "$out" | gunzip > "$work/perf.data" 2>> "$out" ||
	cat "$recording" >> "$out"
[ -s "$work/perf.data" ]
result $? 'record'

# report OPTION...: what perf fnstat report prints
report()
{
	"$perf" fnstat report -i "$work/perf.data" --symfs "$work/root" -M cpi "$@" 2> "$out"
}

# Compare a table with the entries of the whole report that take at least a percent of the
# time: rounds at the ends of a part are in none, at most LOST of all. TOLERANCE is of the
# CPI, "interval" is that of the report and 5 % more: each part finds a cost of interrupts of its
# own, which is by chance more than 0 in some and never less.
compare()			# TOLERANCE LOST TABLE
{
	python3 - "$work/one/reports/one.json" "$@" << 'END'
import json
import sys

tolerance, lost, table = sys.argv[2], float(sys.argv[3]), sys.argv[4]
with open(sys.argv[1], encoding='utf-8') as file:
    events = json.load(file)['events']
with open(table, encoding='utf-8') as file:
    rows = {row[4]: [float(x or 'nan') for x in row[:3]]
            for row in (line.rstrip('\n').split('|') for line in file)}
compared = 0
for event in events:
    if 'fnstat' not in event:
        continue
    for entry in event['entries']:
        time = 100 * entry['fnstat']['weight'] / event['fnstat']['all']['weight']
        if time < 1:
            continue
        compared += 1
        cpi, used = entry['metrics']['cpi'], entry['fnstat']['used']
        low, high = 0.95 * cpi['low'], 1.05 * cpi['high']
        if tolerance != 'interval':
            low, high = (cpi['value'] * (1 + sign * float(tolerance)) for sign in (-1, 1))
        row = rows.get(entry['symbol'])
        if not row or abs(row[0] - time) > 0.011 + lost * time or \
                not low - 0.006 <= row[1] <= high + 0.006 or \
                not used * (1 - lost) <= row[2] <= used:
            sys.exit(f'{entry["symbol"]}: {row}, perf has {time}, {cpi}, {used}')
if compared < 5:
    sys.exit(f'compared {compared} functions')
END
}

mkdir -p "$work"/{one,reports}/reports
ln -s "$perf" "$work/root/usr/bin/perf"
report --json > "$work/one/reports/one.json" || cat "$out" >> "$work/failed"
for ((i = 1; i <= parts; i++)); do
	report --json --time "10%/$i" > "$work/reports/reports/$i.json" || cat "$out" >> "$work/failed"
done
[ ! -s "$work/failed" ]
result $? "$(grep -l '"dividend"' "$work"/reports/reports/* | wc -l) of $parts reports have a CPI"

# Print the commands of the page that begin with WORD, as they are typed.
typed()				# WORD
{
	awk -v word="$1" '
		/^  \$ /	{ on = $2 == word; sub(/\$ /, "") }
		!/^  /		{ on = 0 }
		on' "$page"
}

# Print what an engine makes of the reports in a directory: "time|CPI|windows|left|function".
add_up()			# ENGINE DIRECTORY
{
	case $1 in
	SQLite)
		typed sqlite3 | sed 's/-box/-batch/' > "$work/$2/commands" ;;
	PostgreSQL)
		{ typed psql; typed for; } | sed 's/psql/& -v ON_ERROR_STOP=1 -qAt/' > "$work/$2/commands" ;;
	esac
	cp "$query" "$work/$2"
	chmod -R a+rX "$work"
	(
		cd "$work/$2"
		run=(bash -euo pipefail commands)
		[ "$1" = SQLite ] || run=(pg_virtualenv "${run[@]}")
		"${run[@]}" 2> "$out" | grep '|'
	) > "$work/$2/$1.table"
}

check()				# NAME DIRECTORY TOLERANCE LOST
{
	local status=0

	if ! add_up "$engine" "$2" || ! compare "$3" "$4" "$work/$2/$engine.table" 2> "$out"; then
		status=1
	fi
	result $status "$engine: $1"
}

# A machine that did nothing changes nothing.
for ((i = 100; i; i--)); do
	report --json --time "1%/$i" > "$work/one/reports/idle.json"
	grep -q '"dividend"' "$work/one/reports/idle.json" || break
done
for engine in SQLite PostgreSQL; do
	check "one report, and an empty one" one 0.001 0
	check "$parts reports" reports interval 0.01
done
exit "$failed"
