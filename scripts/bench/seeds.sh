#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: seeds.sh TEXT [series|check]
#
# Print tests/seeds/TEXT.table, what a text that this series began with says, statement by
# statement, with the test of each and its result, as Markdown:
#
#	boot|MACHINE[@base]|LIST	a machine, and what it runs of tests/tests.table, as
#					MACHINE:LIST of scripts/run/test.sh. With @base: without
#					the series as well
#	KIND|STATEMENT|TEST|POINT	the points of a test, as a regular expression, or nothing:
#					all of it. The machines above run it, or others do, and
#					the last results are printed.
#	none|STATEMENT|WHY		a statement without a test
#
# KIND is
#
#	seed	a statement of that text
#	wrong	one that is not true with the series either, and that no document of it has:
#		its test passes if it fails in just one way, which the point names
#	now	what the documents have instead, or in addition
#
# Boots the machines with the kernel of the base and of the series. Fails if a test did not run, or
# fails with the series. With "series" none is booted: the results are those that test.sh has left
# of the series. With "check" results are printed if they are there, and only what is no test at
# all fails.
. "$(dirname "$0")/../run/machines.sh"

if [ $# = 0 ] || [ $# -gt 2 ] || [[ ! ${2:-series} =~ ^(series|check)$ ]]; then
	usage
fi
seed=$1 how=${2:-}
table=$TOP/tests/seeds/$seed.table
[ -f "$table" ] ||
	die "no text '$seed':$(cd "$TOP/tests/seeds" && printf ' %s' *.table | sed 's/\.table//g')"

series=() lists=() base=()
while IFS='|' read -r _ machine list; do
	series+=("${machine%@base}")
	lists+=("$list")
	[[ -n $how || $machine != *@base ]] || base+=("$machine")
done < <(grep '^boot|' "$table")

# A test of the lists, or a selftest, which the lists have all together.
is_test()			# TEST
{
	[ -e "$TOP/selftests/perf_events/$1.c" ] || grep -q "^$1 " "$TOP/tests/tests.table"
}

while IFS='|' read -r kind statement test point; do
	case $kind in
	''|'#'*|boot)	;;
	none)		[ -n "$test" ] || die "neither a test nor a reason: $statement" ;;
	seed|wrong|now)	[ "$test" = tables ] || is_test "$test" || die "no test '$test': $statement" ;;
	*)		die "no kind '$kind': $statement" ;;
	esac
done < "$table"

for i in "${!lists[@]}"; do
	[ -z "$how" ] || break
	for name in "${series[i]}@base" "${series[i]}"; do
		[[ " ${base[*]} ${series[*]} " == *" $name "* ]] || continue
		results=$RESULTS/$(results_name "$name:${lists[i]}")
		rm -rf "${results:?}"
		"$TOP/scripts/run/run-list.sh" "$name" "${lists[i]}" "$results" >&2 || warn "$name did not get to its end"
	done
done

# What the metrics of perf are for.
tables()			# TREE
{
	local tables=$1/tools/perf/pmu-events/arch/x86 ok=''

	echo 1..4
	grep -q TopdownL1 "$tables"/sandybridge/*.json &&
		! grep -q TopdownL1 "$tables"/silvermont/*.json || ok='not '
	echo "${ok}ok 1 Sandy Bridge, not Silvermont"
	ok=''
	grep -q TopdownL2 "$tables"/icelakex/icx-metrics.json || ok='not '
	echo "${ok}ok 2 level 2 in perf"
	ok=''
	# The formulas use slots, which are cycles, and not the metrics of later CPUs.
	grep -q 'IDQ_UOPS_NOT_DELIVERED.CORE / tma_info_thread_slots' \
		"$tables"/sandybridge/snb-metrics.json &&
		! grep -qi 'topdown\\\\-' "$tables"/sandybridge/snb-metrics.json || ok='not '
	echo "${ok}ok 3 formulas of Sandy Bridge"
	ok=''
	[ -z "$(find "$1/tools" "$1/include" -iname '*libjevents*' -o -name jevents.h)" ] || ok='not '
	echo "${ok}ok 4 no libjevents"
}
if [ "$how" != check ] && grep -q '|tables|' "$table"; then
	mkdir -p "$RESULTS/$seed-tables" "$RESULTS/$seed-tables@base"
	[ ${#base[@]} = 0 ] || tables "$BASE" > "$RESULTS/$seed-tables@base/tables.tap"
	tables "$LINUX" > "$RESULTS/$seed-tables/tables.tap"
fi

# Print the directories with results of a test: of the machines that are booted here, with
# SUFFIX, or of all that ran it.
where()				# TEST [SUFFIX]
{
	local i file booted=''

	[ "$1" != tables ] || { echo "$RESULTS/$seed-tables${2:-}"; return; }
	for i in "${!lists[@]}"; do
		grep -q "^$1 " <<< "$(expand_list "${lists[i]}")" || continue
		booted=yes
		echo "$RESULTS/$(results_name "${series[i]}${2:-}:${lists[i]}")"
	done
	[ -z "$booted${2:-}" ] || return 0
	for file in "$RESULTS"/*/"$1.tap"; do
		[ ! -e "$file" ] || echo "${file%/*}"
	done
}

# Print "ok", "FAIL" or "N of N ok", and what the test said of it, or "did not run", or a
# note on a test that did not end: of the last machine, or the last one that is not ok.
point()			# TEST POINT [SUFFIX]
{
	local dir said='' worst=''

	while read -r dir; do
		said='did not run'
		[ ! -f "$dir/$1.tap" ] || said=$(point_of "$dir/$1" "$2")
		if [ -z "$worst" ] || passed "$worst"; then
			worst=$said
		fi
	done < <(where "$1" "${3:-}")
	echo "${worst:-did not run}"
}

point_of()		# FILE POINT
{
	local tap=$1.tap status=1 point=$2

	if [ -z "$point" ]; then
		status=$(cat "$1.status" 2> /dev/null) || status='did not run'
		case $status in
		0)	echo ok ;;
		[0-9]*)	echo FAIL ;;
		*)	echo "$status" ;;
		esac
		return
	fi
	if tr -d '\r' < "$tap" | awk -v status=0 -f "$TOP/scripts/run/summary.awk" | grep '^note '; then
		return
	fi
	tr -d '\r' < "$tap" | awk -v point="^($point)\$" '
		function result(ok, name)
		{
			if (name ~ point && !/# SKIP/) {
				good += ok
				# If there are several, keep the first one that failed.
				if (!nr++ || (!ok && good == nr - 1))
					what = said
			}
			said = ""
		}
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
			name = $0
			sub(/^(not )?ok [0-9]+ */, "", name)
			result($1 == "ok", name)
		}
		# The tests of perf.
		sub(/ \[Success\]$/, "")	{ result(1, $0) }
		sub(/ \[Failed\]$/, "")		{ result(0, $0) }
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
[ ${#series[@]} = 0 ] || [ "$how" = check ] ||
	printf 'Kernels of %sthe series (%s), perf and\nlibperf of the series:\n\n' \
		"${base[*]:+the base (${base[*]}) and of }" "${series[*]}"
printf '| %s | %s | %s | %s |\n' statement base series test --- --- --- ---
while IFS='|' read -r kind statement test point; do
	case $kind in
	''|'#'*|boot)
		continue ;;
	none)
		printf '| %s |  |  | none: %s |\n' "$statement" "$test"
		continue ;;
	esac
	before='' now=$(point "$test" "$point")
	[ ${#base[@]} = 0 ] || [ -z "$(where "$test" @base)" ] || before=$(point "$test" "$point" @base)
	case $kind in
	wrong)	what="$statement (wrong)" ;;
	now)	what="now: $statement" ;;
	*)	what=$statement ;;
	esac
	printf '| %s | %s | %s | %s%s |\n' "$what" "$before" "$now" "$test" "${point:+: ${point//|/ or }}"
	[ "$how" != check ] || continue
	if [[ "$before|$now" =~ (^|\|)(did\ not\ run|note\ ) ]]; then
		warn "did not run to its end: $test${point:+: $point}"
		status=1
	elif ! passed "$now"; then
		warn "fails with the series: $statement"
		status=1
	fi
done < "$table"
exit $status
