#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The same work recorded with short, long and alternating periods: how much data
# is that, and how often is the event throttled?

rounds=${1:-2000}
data=/tmp/periods.data

printf '%-28s %12s %10s %10s %12s\n' period 'data, bytes' samples throttled 'runtime, ms'
for period in period=300 period=1000 period=1000000 period=999700,alt-period=300; do
	begin=$(awk '{ print int($1 * 1000) }' /proc/uptime)
	perf record -q -o "$data" -e "{cycles/$period/,instructions}:uS" \
		perf test -w fnmix "$rounds" > /dev/null 2>&1 || exit 1
	end=$(awk '{ print int($1 * 1000) }' /proc/uptime)
	perf report -i "$data" --stats 2> /dev/null |
	awk -v period="$period" -v bytes="$(stat -c %s "$data")" -v ms=$((end - begin)) '
		/SAMPLE events/ && !samples { samples = $3 }
		/ THROTTLE events/ && !throttled { throttled = $3 }
		END {
			printf "%-28s %12d %10d %10d %12d\n", period, bytes,
				samples, throttled, ms
		}'
	rm -f "$data"
done
