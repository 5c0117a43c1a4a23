# SPDX-License-Identifier: GPL-2.0
# Sourced by the scripts that know the test machines: machines/NAME.conf, or
# some lines of machines/variants.table, describe one, tests/tests.table lists what it runs.
# MACHINE@KERNEL is one with another kernel than that of the series.

. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# End unless each line of the two tables is what a line can be: what is not understood would be left
# out, and the rest run as if all were well.
check_syntax()
{
	local said

	said=$(cd "$TOP" && awk -f scripts/run/tables.awk machines/variants.table tests/tests.table)
	[ -z "$said" ] || die "$(head -n 1 <<< "$said")"
}

# End unless that holds, and what the tables name is there: each machine, and each list.
check_tables()
{
	local name

	check_syntax
	for name in $(machine_names) $(kernel_names | sed 's/^/arm64@/'); do
		check_machine "$name"
	done
	while read -r name; do
		is_machine "$name" ||
			grep -qxF "include $name" "$TOP/tests/tests.table" ||
			grep -rqwF -- "$name" "$TOP"/{scripts,html,tests/seeds} ||
			die "tests/tests.table: [$name] is no machine, and nothing runs this list"
	done < <(list_names)
}

# End unless what a machine names is there. (A shell of its own, for the variables.)
check_machine()			# NAME
(
	load_machine "$1"
	[[ $tree =~ ^(series|base)$ ]] || [ -d "$TOP/patches/backports/$tree" ] ||
		die "machines/variants.table: $1 has the kernel tree=$tree, which is none of series, base and backports"
	[ -z "$fragment" ] || [ -f "$TOP/machines/configs/$fragment.config" ] ||
		die "machines/variants.table: $1 has fragment=$fragment, and there is no machines/configs/$fragment.config"
	[ -z "$devices" ] || [ -f "$TOP/machines/dts/$devices" ] ||
		die "machines/variants.table: $1 has devices=$devices, and there is no machines/dts/$devices"
)

# Print the lines "NAME OF WHAT" of all machines, and "@KERNEL OF WHAT" of all kernels, with "-" for
# OF where that is none.
describe_all()
{
	(cd "$TOP/machines" && awk '
		FILENAME ~ /table$/	{ if (/^[@a-z]/) print; next }
		FNR == 1		{ name = FILENAME; sub(/\.conf$/, "", name); sub(/^# /, "")
					  print name, "-", $0 }' ./*.conf variants.table) |
		sed 's|^\./||' | LC_ALL=C sort
}

machine_names()
{
	describe_all | sed -nE 's/^([^@ ]+) .*/\1/p'
}

kernel_names()
{
	describe_all | sed -nE 's/^@([^ ]+) .*/\1/p'
}

is_machine()			# MACHINE[@KERNEL]
{
	machine_names | grep -qxF -- "${1%%@*}" &&
		{ [[ $1 != *@* ]] || kernel_names | grep -qxF -- "${1#*@}"; }
}

require_machine()		# MACHINE[@KERNEL]
{
	! is_machine "$1" || return 0
	! is_machine "${1%%@*}" || die "no kernel '${1#*@}': $(kernel_names | paste -sd ' ')"
	die "no machine '${1%%@*}': $(machine_names | paste -sd ' ')"
}

# Set the variables of machines/defaults.sh as a machine has them, and machine to all of
# QEMU's options that describe it.
load_machine()			# MACHINE[@KERNEL]
{
	require_machine "$1"
	. "$TOP/machines/defaults.sh"
	set_variables "${1%%@*}"
	[[ $1 != *@* ]] || set_variables "@${1#*@}"
	machine+=(-cpu "$cpu" -smp "$smp" -m "$memory" -nic none "${clock[@]}")
}

set_variables()			# NAME [DEPTH]
{
	local of known unknown

	if [ -f "$TOP/machines/$1.conf" ]; then
		. "$TOP/machines/$1.conf"
		return
	fi
	of=$(awk -v name="$1" '$1 == name && /^[@a-z]/ { print $2 }' "$TOP/machines/variants.table")
	if [ "$of" != - ]; then
		if [ "$of" = "$1" ] || [[ $1$of == *@* && $1$of != @*@* ]] ||
				! describe_all | cut -d ' ' -f 1 | grep -qxF -- "$of"; then
			die "machines/variants.table: $1 is of '$of', which is no other machine or kernel"
		fi
		[ "${2:-0}" -lt 20 ] || die "machines/variants.table: $1 is made from itself"
		set_variables "$of" $((${2:-0} + 1))
	fi
	driver='' refuses='-' known='' unknown=''
	known=$(compgen -v)
	eval "$(awk -v name="$1" '
		/^[@a-z]/	{ found = $1 == name }
		/^\t/ && found' "$TOP/machines/variants.table")"
	unknown=$(compgen -v | { grep -vxF -e _ -e "$known" || true; } | paste -sd ' ')
	[ -z "$unknown" ] ||
		die "machines/variants.table: $1 sets $unknown, which machines/defaults.sh does not have"
}

# Print what CI runs, as MACHINE[@KERNEL][:LIST]. What takes longest comes first.
ci_items()
{
	printf '%s\n' x86_64-intel x86_64-stalls arm64-up host x86_64-lbr x86_64-spr:topdown-overflow \
		x86_64-topdown:topdown x86_64-hybrid:hybrid x86_64-lbr:real-lua \
		x86_64-stalls:real-lua x86_64-zen4-late:real-lua x86_64-zen4-late:real-join \
		x86_64-zen4-late:real-bfs x86_64-lbr:real-zstd x86_64-stalls:real-zstd arm64 x86_64 \
		arm64-hybrid arm64-up@base x86_64-uncore x86_64-later x86_64-zen4:topdown-other \
		x86_64-old:topdown-other arm64-idle results
}

# Print the machines with a list of their own that CI does not run. Those with an older kernel are
# those of "make backport".
other_items()
{
	local name

	for name in $(list_names); do
		if is_machine "$name" && [[ ! $name =~ @.*[0-9]$ ]]; then
			echo "$name"
		fi
	done | grep -vxFf <(ci_items)
}

# Print how the results of "MACHINE[@KERNEL][:LIST]" are called.
results_name()			# ITEM
{
	case $1 in
	*:*)	echo "${1#*:}-${1%%:*}" ;;
	*)	echo "$1" ;;
	esac
}

# Print "PROFILE=yes" if an expanded list needs that QEMU writes a profile, for boot.sh.
profile_of()			# FILE
{
	list_needs < "$1" | sed -n 's/^profile$/PROFILE=yes/p'
}

# Print the programs of the perf_events selftests of TREE.
selftest_names()		# TREE
{
	local dir=$1/tools/testing/selftests/perf_events

	[ -d "$dir" ] || die "there is no $dir yet: 'make import'"
	(cd "$dir" && printf '%s\n' *.c | sed 's/\.c$//')
}

# Print the names of all lists of tests/tests.table.
list_names()
{
	sed -nE 's/^\[(.*)\]$/\1/p' "$TOP/tests/tests.table"
}

has_list()			# NAME
{
	list_names | grep -qxF -- "$1"
}

# Print the lines of a list of tests/tests.table, or, if that is a path, of a file.
list_lines()			# LIST
{
	case $1 in
	*/*)	cat "$1" ;;
	*)	has_list "$1" || die "no list '$1' in tests/tests.table"
		awk -v head="[$1]" '/^\[/ { on = $0 == head; next } on' "$TOP/tests/tests.table" ;;
	esac
}

# Print the entries of a list, without includes and comments.
expand_list()			# LIST [DEPTH]
{
	local lines name rest depth=${2:-0}

	[ "$depth" -lt 20 ] || die "tests/tests.table: $1 includes itself"
	lines=$(list_lines "$1") || return
	while read -r name rest || [ -n "$name" ]; do
		case $name in
		''|'#'*)	;;
		include)	expand_list "$rest" $((depth + 1)) || exit ;;
		selftests)	selftest_names "$LINUX" |
				sed "s|.*|& $rest /guest/kselftest.sh &|" || exit ;;
		without)	[[ $rest == *' # '* ]] || die "no reason: without $rest"
				# shellcheck disable=SC2086 # one line for each name
				printf -- '- %s\n' ${rest%% # *} ;;
		*)		printf '%s %s\n' "$name" "$rest" ;;
		esac
	done <<< "$lines" |
	awk -v list="${1##*/}" '
		$1 == "-" && !($2 in line) {
			print "there is no test \"" $2 "\" to do without in " list > "/dev/stderr"
			exit bad = 1
		}
		$1 == "-"	{ delete line[$2]; next }
		!($1 in place)	{ place[$1] = ++nr; name[nr] = $1 }
				{ line[$1] = $0 }
		END		{ if (bad) exit bad
				  for (i = 1; i <= nr; i++) if (name[i] in line) print line[name[i]] }'
}

# Print what the lines of an expanded list, on standard input, need of what machine.sh can
# build, beside the kernel and the selftests.
list_needs()
{
	local lines known=' nothing libperf perf profile python real typed ' script word

	lines=$(cut -d ' ' -f 3- | sed 's/ # uses: .*//')
	{
		grep -owE 'libperf|perf' <<< "$lines" || true
		sed -n 's/.*# needs: *//p' <<< "$lines"
		{ grep -oE '/guest/[^ ]+' <<< "$lines" || true; } | sort -u | while read -r script; do
			grep -s '^# needs: ' "$TOP/tests$script" ||
				die "there is no tests$script with a line '# needs: WHAT...'"
		done | sed 's/^# needs: *//'
	} | tr -s ' ' '\n' | sort -u | while read -r word; do
		[[ $known == *" $word "* ]] || die "a test needs '$word', which is none of:${known% }"
		echo "$word"
	done
}

# Print those lines of the expanded LIST (its text) that TESTS name. A test is NAME, the entry
# of the list, or NAME.FILTER for a selftest: those whose TAP names have FILTER in
# them, which is one or several parts that follow each other. Fails for a test
# that the list does not have.
select_tests()			# LIST TEST...
{
	local list=$1 test name filter line
	local -A selected=()
	shift

	for test; do
		name=${test%%.*} filter=''
		[ "$name" = "$test" ] || filter=${test#*.}
		line=$(awk -v name="$name" '$1 == name' <<< "$list")
		[ -n "$line" ] || {
			echo "no test '$name': $(cut -d ' ' -f 1 <<< "$list" | paste -sd ' ')"
			return 1
		}
		if [ -n "$filter" ]; then
			# Another filter of the same program.
			line=${selected[$name]:-$line}
			[[ $line =~ ^(.*/guest/kselftest\.sh )(.*)$ ]] || {
				echo "'$name' is one test, it has no '$filter'"
				return 1
			}
			line="${BASH_REMATCH[1]}-r $filter ${BASH_REMATCH[2]}"
		fi
		selected[$name]=$line
	done
	# In the order of the list: a test can leave something behind.
	while read -r name _; do
		[ -z "${selected[$name]:-}" ] || printf '%s\n' "${selected[$name]}"
	done <<< "$list"
}
