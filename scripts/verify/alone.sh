#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: alone.sh [TOPIC]
#
# Prove that TOPIC (default: alternating-periods) stands by itself, on the base with what its
# cover says it needs and nothing else: there are no warnings of the pages that it touches, and the
# tests that it adds or changes pass on arm64-up and x86_64-intel: KUnit, selftests, and perf's.
# Prints the tests that are skipped, with their reasons. One that was not skipped when "make test"
# ran the whole series fails.
. "$(dirname "$0")/../make/lib.sh"

topic=${1:-alternating-periods} status=0
work=$("$TOP/scripts/series/topic-tree.sh" "$topic" | tail -n 1)
mapfile -t files < <(git -C "$work" diff --name-only "topic-$topic" HEAD)
need make python3-sphinx=sphinx-build python3-yaml=/usr/lib/python3/dist-packages/yaml \
	python3-sphinx-rtd-theme=/usr/lib/python3/dist-packages/sphinx_rtd_theme
mkdir -p "$LOGS" "$BUILD/lists"

# Print the tests of a result that were skipped, or with "-v" those that were not: a name and
# the reason.
skipped()			# [-v] TAP...
{
	local option=()

	[ "$1" != -v ] || { option=(-v); shift; }
	tr -d '\r' < <(cat "$@") | sed -nE 's/^#? *ok [0-9]+ ([^ ]+\.[^ ]+)/\1/p' |
		grep "${option[@]}" '# SKIP' | sort
}

pages=$(printf '%s\n' "${files[@]}" | sed -n 's|^Documentation/\([^/]*\)/.*|\1|p' | sort -u | paste -sd ' ')
if [ -n "$pages" ]; then
	log=$LOGS/alone-htmldocs.log
	rm -rf "$work/out-docs"
	mkdir -p "$work/out-docs"
	make -s -C "$work" O=out-docs htmldocs SPHINXDIRS="$pages" PYTHON3=/usr/bin/python3 \
		SPHINXBUILD=/usr/bin/sphinx-build SPHINXOPTS="-j$JOBS" > "$log" 2>&1 ||
		{ tail -n 20 "$log" >&2; die "the documentation of $topic does not build"; }
	if printf '%s\n' "${files[@]}" | grep -Ff - "$log"; then
		status=1
	else
		echo "documentation: no warnings of the pages of $topic"
	fi
fi

# A helper of the selftests is no program, nor is a library of perf's scripts one of them.
mapfile -t tests < <(cd "$work" && printf '%s\n' "${files[@]}" | sed -n '
	s|^tools/testing/selftests/perf_events/\(.*\)\.c$|\1|p
	s|^tools/perf/tests/shell/\([^/]*\.sh\)$|perf \1|p'
	for file in "${files[@]}"; do
		[[ $file != tools/perf/tests/*.c || ! -e $file ]] ||
			sed -n 's/^DEFINE_SUITE("\(.*\)", .*/perf \1/p
				s/^\t\.desc = "\(.*\)",$/perf \1/p' "$file"
	done)
for name in arm64-up x86_64-intel; do
	results=$RESULTS/alone-$name
	"$TOP/scripts/run/boot-tree.sh" "$name" "$work" "$results" "${tests[@]}" || status=1
	# The summary has their reasons.
	[ -n "$(skipped "$results"/*.tap || true)" ] || continue
	whole=()
	for program in kunit "${tests[@]}"; do
		program=${program#perf } program=${program%.sh}
		[ ! -e "$RESULTS/$name/$program.tap" ] || whole+=("$RESULTS/$name/$program.tap")
	done
	if [ ${#whole[@]} = 0 ]; then
		warn "the whole series has no results on $name: 'make test MACHINES=$name' first"
		status=1
		continue
	fi
	# By the name: the whole series has more tests.
	join <(skipped "$results"/*.tap) <(skipped -v "${whole[@]}" | cut -d ' ' -f 1) > "$results/skips"
	[ ! -s "$results/skips" ] || {
		echo "skipped alone, and not by the whole series:"
		cat "$results/skips"
		status=1
	}
done
exit $status
