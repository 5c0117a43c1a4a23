#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: page.sh [REPORT]
#
# Make the page of perf fnstat from REPORT, what perf report --json wrote, or of a
# recording from x86_64-stalls, and check it in Chromium: it shows all rows, sorts,
# zooms, finds, sends no request and complains of nothing. Leaves page.html,
# screenshot.png and dark.png in build/results/page. Without REPORT, screenshot.png is what
# docs/perf-fnstat.png is a copy of. KTAP.
. "$(dirname "$0")/../scripts/make/lib.sh"

[ $# -le 1 ] || usage
need python3 chromium chromium-driver=chromedriver \
	python3-selenium=/usr/lib/python3/dist-packages/selenium
script=$TOP/html/fnstat-html.py
dir=$RESULTS/page
if [ $# = 1 ]; then
	[ -r "$1" ] || die "no report $1"
	report=$(realpath "$1")
	mkdir -p "$dir"
else
	"$TOP/scripts/run/run-list.sh" x86_64-stalls page "$dir"
	report=$dir/report.json
	tr -d '\r' < "$dir/report.tap" | base64 -d 2> /dev/null | gunzip > "$report" ||
		die "no report in $dir/report.tap"
fi
python3 "$script" -o "$dir/page.html" "$report"
say "$dir/page.html"
# Debian's python3 has selenium.
/usr/bin/python3 "$TOP/html/check-page.py" "$dir/page.html" "$dir/screenshot.png"
