#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: topdown.sh [series]
#
# Run the tests of TopDown on machines with the kernel of the base and of the series, or of
# the series only, and print tests/topdown.table with the results, as Markdown. Fails if a
# test did not run, or fails with the series.
. "$(dirname "$0")/../run/machines.sh"

[ $# -le 1 ] || usage
[ "${1:-series}" = series ] || usage
series=(x86_64-topdown x86_64-zen4 x86_64-old x86_64-spr)
lists=(topdown topdown-other topdown-other topdown-overflow)
base=()
[ $# = 1 ] || base=("${series[@]/%/-base}")

for i in "${!lists[@]}"; do
	for name in ${base[i]:+"${base[i]}"} "${series[i]}"; do
		rm -rf "${RESULTS:?}/topdown-$name"
		"$TOP/scripts/run/run-list.sh" "$name" "$TOP/tests/lists/${lists[i]}.tests" \
			"$RESULTS/topdown-$name" >&2 || warn "$name did not get to its end"
	done
done

# What the metrics of perf are for.
tables()			# TREE
{
	local tables=$1/tools/perf/pmu-events/arch/x86 ok=''

	echo 1..2
	grep -q TopdownL1 "$tables"/sandybridge/*.json &&
		! grep -q TopdownL1 "$tables"/silvermont/*.json || ok='not '
	echo "${ok}ok 1 Sandy Bridge, not Silvermont"
	ok=''
	grep -q TopdownL2 "$tables"/icelakex/icx-metrics.json || ok='not '
	echo "${ok}ok 2 level 2 in perf"
}
[ $# = 1 ] || tables "$BASE" > "$RESULTS/topdown-${base[0]}/tables.tap"
tables "$LINUX" > "$RESULTS/topdown-${series[0]}/tables.tap"

# Print "ok", "FAIL" or "N of N ok", and what the test said of it, or "did not run", or a
# note on a test that did not end: of the last machine, or the last one that is not ok.
# SUFFIX is that of the machines.
point()			# TEST POINT [SUFFIX]
{
	local i list tap said='' worst=''

	for i in "${!lists[@]}"; do
		list=$TOP/tests/lists/${lists[i]}.tests
		tap=$RESULTS/topdown-${series[i]}${3:-}/$1.tap
		if [ "$1" = tables ]; then
			[ "$i" = 0 ] || continue
		elif ! grep -q "^$1 " "$list"; then
			continue
		fi
		said='did not run'
		[ ! -f "$tap" ] || said=$(point_of "$tap" "$2")
		if [ -z "$worst" ] || passed "$worst"; then
			worst=$said
		fi
	done
	echo "$worst"
}

point_of()		# FILE POINT
{
	local tap=$1 point=$2

	if tr -d '\r' < "$tap" | awk -v status=0 -f "$TOP/scripts/run/summary.awk" | grep '^note '; then
		return
	fi
	tr -d '\r' < "$tap" | awk -v point="^($point)\$" '
		# kselftest prints "# " before all that a program says. Of that, what was
		# expected first.
		nested = /^# (#|ok|not ok) / { sub(/^# /, "") }
		nested && /^#  RUN/ { said = "" }
		nested && /^#/ {
			if (said == "" && sub(/.*:Expected /, ""))
				said = $0
			next
		}
		/^# / { said = substr($0, 3); next }
		/^(not )?ok [0-9]+ / {
			ok = $1 == "ok"
			name = $0
			sub(/^(not )?ok [0-9]+ */, "", name)
			if (name ~ point && !/# SKIP/) {
				good += ok
				# If there are several, keep the first one that failed.
				if (!nr++ || (!ok && good == nr - 1))
					what = said
			}
			said = ""
		}
		END {
			if (!nr)
				print "did not run"
			else if (nr > 1 && good == nr)
				print good " of " nr " ok"
			else
				print (nr > 1 ? good " of " nr " ok" : good ? "ok" : "FAIL") \
					(what == "" ? "" : ": " what)
		}'
}

# One that all of its points passed?
passed() { [[ $1 =~ ^ok ]] || [[ $1 =~ ^([0-9]+)\ of\ ([0-9]+) && ${BASH_REMATCH[1]} = "${BASH_REMATCH[2]}" ]]; }

status=0
echo "Kernels of ${base[*]:+the base (${base[*]}) and of }the series (${series[*]}), perf and"
printf 'libperf of the series:\n\n'
printf '| %s | %s | %s | %s |\n' statement base series test --- --- --- ---
while IFS='|' read -r kind statement test point; do
	case $kind in
	''|'#'*) continue ;;
	esac
	before='' now=$(point "$test" "$point")
	[ $# = 1 ] || before=$(point "$test" "$point" -base)
	case $kind in
	wrong)	what="$statement (wrong)" ;;
	now)	what="now: $statement" ;;
	*)	what=$statement ;;
	esac
	printf '| %s | %s | %s | %s: %s |\n' "$what" "$before" "$now" "$test" "${point//|/ or }"
	if [[ "$before|$now" =~ (^|\|)(did\ not\ run|note\ ) ]]; then
		warn "did not run to its end: $test: $point"
		status=1
	elif ! passed "$now"; then
		warn "fails with the series: $statement"
		status=1
	fi
done < "$TOP/tests/topdown.table"
exit $status
