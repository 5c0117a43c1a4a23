#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: topdown.sh
#
# Run the tests of TopDown on machines with the kernel of the base and of the series, and
# print scripts/topdown.table with the results, as Markdown. Fails if a test did not run, or
# if one fails with the series: those of statements that are wrong have to.
. "$(dirname "$0")/machines.sh"

[ $# = 0 ] || usage
base=(x86_64-stalls-base x86_64-zen4-base x86_64-spr-base)
series=(x86_64-stalls x86_64-zen4 x86_64-spr)
lists=(topdown topdown-other topdown-overflow)

for i in "${!lists[@]}"; do
	for name in "${base[i]}" "${series[i]}"; do
		rm -rf "${RESULTS:?}/topdown-$name"
		"$TOP/scripts/run.sh" "$name" "$TOP/machines/${lists[i]}.tests" \
			"$RESULTS/topdown-$name" >&2 || warn "$name did not get to its end"
	done
done

# What libperf of a tree exports.
library()		# TREE RESULTS
{
	local nr

	nr=$(grep -c 'perf_topdown__' "$1/tools/lib/perf/libperf.map") || true
	echo 1..1
	echo "# libperf has $nr functions of TopDown"
	[ "$nr" != 0 ] || printf 'not '
	echo 'ok 1 library'
}
library "$BASE" > "$RESULTS/topdown-${base[0]}/library.tap"
library "$LINUX" > "$RESULTS/topdown-${series[0]}/library.tap"

# Print "ok", "FAIL" or "N of N ok", and what the test said of it, or "did not run", or a
# note on a test that did not end.
point()			# TEST POINT MACHINE...
{
	local test=$1 point=$2 name tap=''
	shift 2

	for name; do
		[ ! -f "$RESULTS/topdown-$name/$test.tap" ] || tap=$RESULTS/topdown-$name/$test.tap
	done
	if [ -z "$tap" ]; then
		echo 'did not run'
		return
	elif tr -d '\r' < "$tap" | awk -v status=0 -f "$TOP/scripts/summary.awk" | grep '^note '; then
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
				# Of several, the first one that failed.
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
echo "Kernels of the base (${base[*]}) and of the series (${series[*]}), perf and libperf of the"
printf 'series:\n\n'
printf '| %s | %s | %s | %s |\n' statement base series test --- --- --- ---
while IFS='|' read -r kind statement test point; do
	case $kind in
	''|'#'*) continue ;;
	esac
	before=$(point "$test" "$point" "${base[@]}")
	now=$(point "$test" "$point" "${series[@]}")
	case $kind in
	wrong)	what="$statement (wrong)" ;;
	now)	what="now: $statement" ;;
	*)	what=$statement ;;
	esac
	printf '| %s | %s | %s | %s: %s |\n' "$what" "$before" "$now" "$test" "${point//|/ or }"
	if [[ "$before|$now" =~ (^|\|)(did\ not\ run|note\ ) ]]; then
		warn "did not run to its end: $test: $point"
		status=1
	elif [ "$kind" = wrong ] && passed "$now"; then
		warn "is right with the series: $statement"
		status=1
	elif [ "$kind" != wrong ] && ! passed "$now"; then
		warn "fails with the series: $statement"
		status=1
	fi
done < "$TOP/scripts/topdown.table"
exit $status
