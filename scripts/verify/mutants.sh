#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: mutants.sh [TREE [check]]
#
# Does "perf test" notice a line of the windows that is wrong? Each line of mutants.table is
# one that is broken: compile its file so, link perf with it, and run the unit test, which
# has to fail. TREE (default: build/linux) is not changed. Print the table. With "check", only
# look whether the table has lines of the files.
. "$(dirname "$0")/../make/lib.sh"

tree=${1:-$LINUX} what=${2:-} table=$TOP/scripts/verify/mutants.table
test="Metrics of functions"
[ -d "$tree/tools/perf" ] || usage

# Compile $dir/mutant.c as FILE is, and link it in front of all others.
build()				# FILE
{
	local file=$1 name command

	name=$(basename "$file" .c)
	command=$(sed -n '1s/^cmd_[^ ]* := //p' "$out/$(dirname "$file")/.$name.o.cmd")
	# shellcheck disable=SC2001 # regular expressions
	command=$(sed "s|-Wp,-M[DT],[^ ]*||g; s|\$(pound)|#|g; s|-O3|-O1|
		s| -c -o .*| -w -iquote $(dirname "$file") -c -o $dir/mutant.o $dir/mutant.c|" \
		<<< "$command")
	(cd "$tree/tools/perf" && eval "$command") || return 1
	"${CROSS_COMPILE}gcc" -static -fuse-ld=lld -o "$dir/perf" "$dir/mutant.o" \
		-Wl,--allow-multiple-definition "$out/perf-in.o" \
		-Wl,--start-group -Wl,--whole-archive "$out"/libperf-{bench,test,ui,util}.a \
		"$out/libpmu-events.a" "$out"/lib{api/libapi,perf/libperf,subcmd/libsubcmd}.a \
		"$out"/lib{symbol/libsymbol,bpf/libbpf}.a -Wl,--no-whole-archive "-L$lib" \
		-lpthread -lrt -lm -ldl -lelf -lz -ltraceevent -lstdc++ -Wl,--end-group
}

# Run the test, set failed to the subtests that fail.
run_test()
{
	local status=0

	timeout 60 "$dir/perf" test "$test" < /dev/null > "$dir/log" 2>&1 || status=$?
	failed=$(sed -n 's/^ *[0-9.]*: \(.*[^ ]\) *: FAILED.*/\1/p' "$dir/log" | paste -s -d ,)
	[ "$status" = 0 ] || failed=${failed:-status $status}
	grep -q ': Ok$' "$dir/log" || failed=${failed:-no test has passed}
}

# Check that the table has lines of the files, once each, of those that are there.
check_table()
{
	local file old rest source

	while IFS=$'\t' read -r file old _; do
		[[ -n $file && $file != \#* && -f $tree/tools/perf/$file ]] || continue
		source=$(< "$tree/tools/perf/$file")
		rest=${source#*"$old"}
		[[ $rest != "$source" ]] || die "mutants.table: $file has no '$old'"
		[[ $rest != *"$old"* ]] || die "mutants.table: $file has '$old' twice"
	done < "$table"
}

check_table
[ "$what" != check ] || exit 0
need lld=ld.lld
perf=$("$TOP/scripts/make/perf.sh" "$host_arch" "$tree")
out=${perf%/*}
use_arch "$host_arch"
lib=$("$TOP/scripts/make/sysroot.sh" "$host_arch")/usr/lib/$multiarch
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
file=$(awk -F '\t' '/^[^#]/ { print $1; exit }' "$table")
cp "$tree/tools/perf/$file" "$dir/mutant.c"
build "$file" || die "cannot build perf"
run_test
[ -z "$failed" ] || die "the test fails without a mutant: $failed"

killed=0 all=0
while IFS=$'\t' read -r file old new; do
	[[ -n $file && $file != \#* ]] || continue
	source=$(< "$tree/tools/perf/$file")
	rest=${source#*"$old"}
	printf '%s\n' "${source%%"$old"*}$new$rest" > "$dir/mutant.c"
	build "$file" 2> "$dir/log" || { cat "$dir/log" >&2; die "'$new' is no code"; }
	run_test
	all=$((all + 1))
	[ -z "$failed" ] || killed=$((killed + 1))
	printf '%-24s %-60s %-24s %s\n' "$file" "$old" "${new:-(nothing)}" \
		"${failed:-SURVIVES}"
done < "$table"
echo "$killed of $all mutants are noticed"
[ "$killed" = "$all" ]
