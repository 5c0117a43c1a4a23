#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: run.sh
#
# Test the scripts themselves: what summary.sh prints for each directory of
# summary/, how lists of tests expand, and that wrong arguments are refused with a
# sentence before any work. KTAP.
cd "$(dirname "$0")" || exit
. ../machines.sh
set +e

nr=0 failed=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

result()			# STATUS WHAT
{
	if [ "$1" = 0 ]; then
		echo "ok $((++nr)) $2"
	else
		sed 's/^/# /' "$out/difference"
		echo "not ok $((++nr)) $2"
		failed=1
	fi
}

echo 'TAP version 13'

# A CASE has list.tests, results/NAME.tap and .status, what is expected, and the
# exit status.
for dir in summary/*/; do
	../summary.sh "$dir/list.tests=$dir/results" > "$out/seen" 2>&1
	status=$?
	diff -u "$dir/expected" "$out/seen" > "$out/difference" &&
		diff -u "$dir/status" <(echo $status) >> "$out/difference"
	result $? "summary of $(basename "$dir")"
done

for list in lists/*.tests; do
	expand_list "$list" 2>&1 | diff -u "${list%.tests}.expected" - > "$out/difference"
	result $? "list $(basename "$list" .tests)"
done

# What is printed in one line, with exit status 1.
echo CONFIG_MODULES=y > "$out/config"
refused()			# SENTENCE COMMAND...
{
	local sentence=$1
	shift
	(cd "$TOP" && "$@") > "$out/seen" 2>&1
	if [ $? = 1 ] && [ "$(wc -l < "$out/seen")" = 1 ] && grep -qE "$sentence" "$out/seen"; then
		result 0 "refused: ${*#"$TOP"/}"
	else
		cp "$out/seen" "$out/difference"
		result 1 "refused: ${*#"$TOP"/}"
	fi
}

refused "no machine 'nope'" scripts/test.sh nope
refused "'arm64-kcsan' has no list" scripts/test.sh arm64-kcsan
refused "no test 'nope'" env TEST=nope scripts/test.sh arm64
refused "none of .* has the test 'nope'" env TEST=nope scripts/test.sh
refused "it has no 'jitter'" env TEST=kunit.jitter scripts/test.sh arm64
refused "no machine 'nope'" scripts/shell.sh nope
refused 'a shell is on one machine' scripts/shell.sh
refused "'host' is no machine to boot" scripts/shell.sh host
refused "no machine 'nope'" scripts/fuzz.sh nope
refused "OPERATIONS='many'" env OPERATIONS=many scripts/fuzz.sh
refused "no 'nope' in archs.table" scripts/archs.sh nope
refused "no architecture 'nope'" scripts/build/kernel.sh nope
refused 'usage: kernel.sh' scripts/build/kernel.sh
refused "no machine 'nope'" scripts/run.sh nope machines/demo.tests results
refused "no backport 'nope': 6.12" scripts/backport.sh nope apply
refused 'usage: backport.sh' scripts/backport.sh 6.12 nope
refused 'usage: topdown.sh' scripts/topdown.sh nope
refused "no 'nope' in robots.table: " scripts/robots.sh nope
refused "no program 'nope': bzip2" scripts/bench-real.sh nope
refused "no machine 'nope'" env MACHINES=nope scripts/bench-real.sh lua
refused 'no configuration /nope: set CONFIG=FILE' env CONFIG=/nope scripts/deb.sh
refused 'README.md is no configuration' env CONFIG=README.md scripts/deb.sh
refused 'no list of modules /nope' env CONFIG="$out/config" LSMOD=/nope scripts/deb.sh
# On a machine without apt: one sentence, which names what is missing.
mkdir "$out/bin"
for tool in bash dirname sed mkdir cat head nproc; do
	ln -s "$(command -v $tool)" "$out/bin/$tool"
done
refused 'missing on this machine: shellcheck .*in Debian' env PATH="$out/bin" scripts/lint.sh


# What the README says to type, of what the test machines cannot: machines/guest/typed.sh.
while read -r target; do
	grep -qE "^([a-z-]+ )*$target( [a-z-]+)*:" "$TOP/Makefile" || echo "no target '$target'"
done < <(sed -nE 's/^    make ([a-z-]+).*/\1/p' "$TOP/README.md" | sort -u) > "$out/difference"
while read -r file _; do
	[ -x "$TOP/$file" ] || echo "no '$file'"
done < <(sed -n 's/^    \(scripts\/[a-z/-]*\.sh\)/\1/p' "$TOP/README.md") >> "$out/difference"
[ ! -s "$out/difference" ]
result $? "the README's targets and scripts are there"

echo "1..$nr"
exit $failed
