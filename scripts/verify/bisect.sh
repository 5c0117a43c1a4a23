#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: bisect.sh [FROM..TO]
#
# Prove for each commit of the series (default: base..series of build/linux) that
# a bisection can stop there: what it touches compiles with W=1 and sparse
# without new warnings, and perf's unit tests pass. At the end of each topic, or with
# BOOT=each everywhere, the arm64 kernel builds and boots, and the tests that exist by
# then pass. Prints a line for each commit.
. "$(dirname "$0")/../make/lib.sh"
. "$TOP/scripts/run/machines.sh"

"$TOP/scripts/series/import.sh" linux
range=${1:-base..series}
git -C "$LINUX" rev-list -n 1 "$range" > /dev/null 2>&1 || die "no range '$range' in build/linux"
tree=$BUILD/bisect
[ -e "$tree/.git" ] ||
	git -C "$LINUX" worktree add -q --force --detach "$tree" base

# Which rows of archs.table a file is compiled for.
archs_of()			# FILE
{
	case $1 in
	arch/x86/*)			echo x86_64 i386 ;;
	drivers/perf/*)			echo arm64 arm-v7 ;;
	kernel/*|include/*)		echo arm64 x86_64 arm-v7 ;;
	esac
}

# Build perf and run its unit tests: away from its source, it finds no shell tests.
perf_tests()			# LOG
{
	local perf race copy=$BUILD/perf-of-bisect

	perf=$("$TOP/scripts/make/perf.sh" "$host_arch" "$tree" 2> "$1") || return 1
	cp "$perf" "$copy"
	# It polls a thousand times for a child that a busy machine has not reaped by then: it
	# fails on the base, too.
	race=$(cd / && "$copy" test list 2>&1 |
		sed -n 's/^ *\([0-9]*\): Number of exit events.*/\1/p')
	(cd / && "$copy" test -s "$race" < /dev/null) > "$1" 2>&1 &&
		grep -q '^Failed tests *: 0$' "$1"
}

boot()				# prints the number of tests that passed
{
	local programs

	# Two hang on the emulated machine, and Arm's CPUs have no TopDown metrics.
	mapfile -t programs < <(selftest_names "$tree" |
		grep -vxE 'sigtrap_threads|remove_on_exec|topdown')
	"$TOP/scripts/run/boot-tree.sh" arm64-up "$tree" "$RESULTS/bisect" "${programs[@]}" \
		> "$LOGS/bisect-summary" || { cat "$LOGS/bisect-summary" >&2; return 1; }
	tail -n 1 "$LOGS/bisect-summary"
}

# Whether the commit is the last one of the range, or of a topic: a cover, which is empty,
# follows.
is_end()			# NEXT-COMMIT
{
	[ "${BOOT:-}" = each ] || [ -z "$1" ] || git -C "$tree" diff --quiet "$1^" "$1"
}

mkdir -p "$LOGS"
# Objects of a later commit can be taken for those of an earlier one.
rm -rf "$tree"/out-perf-*
status=0
mapfile -t commits < <(git -C "$LINUX" rev-list --reverse "$range")
for i in "${!commits[@]}"; do
	commit=${commits[i]}
	git -C "$tree" checkout -q --detach "$commit"
	# Left over from the last commit tested, which may be a later one.
	rm -rf "$tree/out-arm64/selftests"
	mapfile -t files < <(git -C "$tree" diff --name-only HEAD^ HEAD)
	# The cover of a topic.
	[ ${#files[@]} != 0 ] || continue
	archs=() verdict=ok log=$LOGS/bisect.log
	for file in "${files[@]}"; do
		# shellcheck disable=SC2207 # words are wanted
		archs+=($(archs_of "$file"))
	done
	if [ ${#archs[@]} -gt 0 ]; then
		mapfile -t archs < <(printf '%s\n' "${archs[@]}" | sort -u)
		SOURCE=$tree "$TOP/scripts/verify/archs.sh" "${archs[@]}" > "$log" 2>&1 ||
			{ verdict='FAILED to compile'; cat "$log" >&2; }
	fi
	if printf '%s\n' "${files[@]}" | grep -E '^tools/(perf|lib|include)/' > /dev/null; then
		perf_tests "$log" ||
			{ verdict='FAILED to build perf, or its tests'; tail -n 20 "$log" >&2; }
	fi
	tests=
	if is_end "${commits[i + 1]:-}"; then
		tests=$(boot 2> "$log") ||
			{ verdict='FAILED to boot or to pass'; tail -n 30 "$log" >&2; }
	fi
	[ "$verdict" = ok ] || status=1
	printf '%-8s %-60.60s [%s] %s\n' "$verdict" \
		"$(git -C "$tree" log -1 --format=%s)" "${archs[*]}" "$tests"
done
exit $status
