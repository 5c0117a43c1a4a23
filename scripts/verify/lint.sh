#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: lint.sh
#
# Lint what this repository has as plain files, in a minute and without a tree of
# the series: shellcheck, codespell, the tables of machines and tests, and of the kernel
# checkpatch and kernel-doc, and that the selftests compile against headers as they are
# installed. What checkpatch says that does not apply to a file is in checkpatch.exceptions. KTAP.
. "$(dirname "$0")/../run/machines.sh"
. "$TOP/scripts/packages.sh"

need shellcheck codespell git perl python3 gcc libc6-dev=/usr/include/stdio.h make
cd "$TOP"
mapfile -t files < <(git ls-files -co --exclude-standard)
mapfile -t plain < <(printf '%s\n' "${files[@]}" | grep -E '^(kernel|tools|selftests|Documentation)/')

# Only these files of the base are needed.
read -r repository commit < <("$TOP/scripts/series/base.sh" linux)
[ -n "$commit" ] || die 'no base, which has checkpatch.pl'
tree=$BUILD/lint/$commit
if [ ! -d "$tree" ]; then
	rm -rf "$BUILD/lint" && mkdir -p "$tree.tmp"
	git --git-dir="$repository" archive "$commit" scripts/checkpatch.pl scripts/spelling.txt \
		scripts/const_structs.checkpatch tools/docs tools/lib/python \
		include/uapi/linux/perf_event.h tools/testing/selftests/{lib.mk,Makefile} \
		tools/testing/selftests/{kselftest_harness,kselftest}.h \
		tools/testing/selftests/kselftest tools/testing/selftests/perf_events \
		tools/include tools/build tools/scripts scripts/subarch.include |
		tar -x -C "$tree.tmp"
	mv "$tree.tmp" "$tree"
fi

shell_scripts()
{
	local scripts
	mapfile -t scripts < <(printf '%s\n' "${files[@]}" |
		grep -E '(\.(sh|conf)|^machines/init|^\.ci/run|/base\.pin)$' | grep -v '^tools/')
	shellcheck "${scripts[@]}"
}

# perf's own way to call it.
perf_shell_scripts()
{
	local scripts
	mapfile -t scripts < <(printf '%s\n' "${plain[@]}" | grep '^tools/.*\.sh$')
	(cd tools/perf/tests/shell && shellcheck --norc -s bash -a -S warning -e SC1091,SC2154 \
		"${scripts[@]#tools/perf/tests/shell/}")
}

spelling()
{
	local texts
	mapfile -t texts < <(printf '%s\n' "${files[@]}" | grep -vE '^patches/|^machines/configs/|\.pin$')
	codespell "${texts[@]}"
}

checkpatch()
{
	local sources said
	mapfile -t sources < <(printf '%s\n' "${plain[@]}" | grep -E '\.([ch]|rst|sh)$|/Makefile$')
	said=$({ perl "$tree/scripts/checkpatch.pl" --no-tree --strict --quiet --no-summary --terse \
		--show-types -f "${sources[@]}" || [ $? = 1 ]; } | drop_exceptions) ||
		{ echo 'checkpatch did not run'; return 1; }
	[ -z "$said" ] || { echo "$said"; return 1; }
}

kernel_doc()
{
	local sources
	mapfile -t sources < <(printf '%s\n' "${plain[@]}" | grep -E '^kernel/.*\.[ch]$')
	[ ${#sources[@]} = 0 ] || /usr/bin/python3 "$tree/tools/docs/kernel-doc" -none -Wall -Werror "${sources[@]}"
}

# English that native speakers do not write.
english()
{
	local texts status=0
	mapfile -t texts < <(printf '%s\n' "${files[@]}" | grep -E '^(html|scripts|tests|machines)/' |
		grep -vE '\.(config|table|pin|cases)$|lint\.sh$')
	avoid 'a comment begins with its subject or its verb' \
		'^[[:space:]]*(#|/\*|//) (Of|Those|None|Nor|Half|As|The same)\>' "${texts[@]}" || status=1
	avoid '"stops doing", "continues", "starts again"' \
		'\<(stops? to|go(es)? on|begins? anew)\>' "${texts[@]}" || status=1
	avoid 'name who or what does it' \
		'\<([Nn]obody|[Ss]omebody|Whoever|whoever)\>([^:]|$)' "${texts[@]}" || status=1
	return "$status"
}

# Fail if a line has the pattern, and say what is expected instead.
avoid()				# WHAT PATTERN FILE...
{
	! grep -nE "$2" "${@:3}" | sed "s|$| ($1)|" | grep .
}

# The header as the patches make it, and the directory as they leave it.
selftests()
{
	local work=$BUILD/lint/selftests patch headers
	rm -rf "$work"
	mkdir -p "$work/include"
	cp -r "$tree/tools" "$work/tools"
	cp selftests/perf_events/* "$work/tools/testing/selftests/perf_events/"
	mkdir -p "$work/header/include/uapi/linux"
	cp "$tree/include/uapi/linux/perf_event.h" "$work/header/include/uapi/linux/"
	for patch in patches/[0-9]*.patch; do
		grep -q '^+++ b/include/uapi/linux/perf_event.h' "$patch" || continue
		(cd "$work/header" && GIT_CEILING_DIRECTORIES=$work \
			git apply --include=include/uapi/linux/perf_event.h "$TOP/$patch") || return
	done
	headers=$work/header/include/uapi
	# Its Makefile prints what it compiles also where it is asked not to.
	make -s -C "$work/tools/testing/selftests/perf_events" CLANG=false OUTPUT="$work" \
		KHDR_INCLUDES="-isystem $headers -fsyntax-only -Werror" > /dev/null
}

mutants()
{
	scripts/verify/mutants.sh . check
}

nr=0 failed=0
check()				# NAME FUNCTION
{
	local said status=0
	said=$(set +e; "$2" 2>&1) || status=$?
	[ -z "$said" ] || echo "# ${said//$'\n'/$'\n# '}"
	if [ $status = 0 ]; then
		echo "ok $((++nr)) $1"
	else
		echo "not ok $((++nr)) $1"
		failed=1
	fi
}

echo 'TAP version 13'
echo '1..9'
check shellcheck shell_scripts
check 'tables of machines and tests' check_tables
check "lines of mutants.table" mutants
check "shellcheck of perf's tests" perf_shell_scripts
check codespell spelling
check english english
check checkpatch checkpatch
check kernel-doc kernel_doc
check 'selftests compile' selftests
exit $failed
