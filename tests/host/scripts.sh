#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: scripts.sh
#
# Test scripts/: what summary.sh prints for each case of summary.cases, how the list of each one of
# list.cases expands, what those of series/ do with the small series of each one of series.cases,
# and that wrong arguments are refused with a sentence before any work. KTAP.
#
# "=== NAME" begins a case, "== FILE" one of its files, and a line "\ No newline at end of file"
# after its last one means that, as in a diff:
#
#	list.tests		the list of tests
#	results/NAME.tap	the output of a test of it, and in NAME.status its exit status
#	patches/, tree/		a series, and the kernel that it is for
#	command			what to type where these are
#	expected		the output of the script
#	status			the exit status of summary.sh
. "$(dirname "$0")/../../scripts/run/machines.sh"
cd "$(dirname "$0")"
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

# Write the files of the CASES, each to a directory of its own, and set cases to these.
unpack()			# CASES
{
	mapfile -t cases < <(sed -n "s|^=== |$out/|p" "$1")
	[ ${#cases[@]} -gt 0 ] || die "no cases in $1"
	mkdir -p "${cases[@]/%//results}"
	awk -v out="$out" '
		function put(newline)
		{
			if (held)
				printf "%s%s", line, newline > file
			held = 0
		}
		sub(/^=== /, "")	{ put("\n"); dir = out "/" $0 "/"; next }
		sub(/^== /, "") {
			put("\n")
			file = dir $0
			system("mkdir -p \"$(dirname \"" file "\")\"")
			printf "" > file
			next
		}
		/^\\ No newline at end of file$/	{ put(""); next }
						{ put("\n"); line = $0; held = 1 }
		END				{ put("\n") }' "$1"
}

unpack summary.cases
for dir in "${cases[@]}"; do
	"$TOP/scripts/run/summary.sh" "$dir/list.tests=$dir/results" > "$dir/seen" 2>&1
	echo $? > "$dir/seen.status"
	diff -u "$dir/expected" "$dir/seen" > "$out/difference" &&
		diff -u "$dir/status" "$dir/seen.status" >> "$out/difference"
	result $? "${dir##*/}"
done

unpack list.cases
for dir in "${cases[@]}"; do
	expand_list "$dir/list.tests" 2>&1 | diff -u "$dir/expected" - > "$out/difference"
	result $? "${dir##*/}"
done

# Run COMMAND with a name, but without a configuration of git.
as_author()			# COMMAND...
{
	env -u KERNEL_TREE HOME="$out" XDG_CACHE_HOME="$out/cache" GIT_CONFIG_NOSYSTEM=1 \
		GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsync GIT_CONFIG_VALUE_0=none \
		GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=A \
		GIT_COMMITTER_EMAIL=a@example.com "$@"
}

unpack series.cases
for dir in "${cases[@]}"; do
	cp -r "$TOP/scripts" "$dir"
	git init -q "$dir/tree"
	as_author git -C "$dir/tree" add .
	as_author git -C "$dir/tree" commit -q -m kernel
	as_author git -C "$dir/tree" tag v1
	(cd "$dir" && as_author KERNEL_TREE="$dir/tree" bash command) 2>&1 < /dev/null |
		sed "s|$dir/||g" > "$dir/seen"
	diff -u "$dir/expected" "$dir/seen" > "$out/difference"
	result $? "${dir##*/}"
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

refused "no machine 'nope'" scripts/run/test.sh nope
refused "'arm64-kcsan' has no list" scripts/run/test.sh arm64-kcsan
refused "no test 'nope'" env TEST=nope scripts/run/test.sh arm64
refused "none of .* has the test 'nope'" env TEST=nope scripts/run/test.sh
echo 'x 1 true # needs: nope' > "$out/needs"
refused "a test needs 'nope'" scripts/make/machine.sh arm64 "$out/needs" x
refused "it has no 'jitter'" env TEST=kunit.jitter scripts/run/test.sh arm64
refused "no machine 'nope'" scripts/run/shell.sh nope
refused 'a shell is on one machine' scripts/run/shell.sh
refused "'host' is no machine to boot" scripts/run/shell.sh host
refused "no machine 'nope'" scripts/verify/fuzz.sh nope
refused "OPERATIONS='many'" env OPERATIONS=many scripts/verify/fuzz.sh
refused "DURATION='long'" env DURATION=long scripts/verify/fuzz.sh
refused "no 'nope' in archs.table" scripts/verify/archs.sh nope
refused "no architecture 'nope'" scripts/make/kernel.sh nope
refused 'usage: kernel.sh' scripts/make/kernel.sh
refused "no machine 'nope'" scripts/run/run-list.sh nope demo results
refused "no backport 'nope': 6.12" scripts/series/backport.sh nope apply
refused 'usage: backport.sh' scripts/series/backport.sh 6.12 nope
refused 'usage: seeds.sh' scripts/bench/seeds.sh topdown nope
refused "no seed 'nope': alternating hybrid topdown" scripts/bench/seeds.sh nope
refused "no 'nope' in robots.table: " scripts/verify/robots.sh nope
refused "no program 'nope': bzip2" scripts/bench/real.sh nope
refused "no machine 'nope'" env MACHINES=nope scripts/bench/real.sh lua
for script in bench/bench make/clean verify/verify; do
	refused "no WHAT='nope', it is one of: [a-z]+ [a-z ]+$" "scripts/$script.sh" nope
	refused "no WHAT=''" "scripts/$script.sh"
done
refused "no machine 'nope'" scripts/run/demo.sh host nope
refused 'no configuration /nope: set CONFIG=FILE' env CONFIG=/nope scripts/ship/deb.sh
refused 'README.md is no configuration' env CONFIG=README.md scripts/ship/deb.sh
refused 'no list of modules /nope' env CONFIG="$out/config" LSMOD=/nope scripts/ship/deb.sh
# On a machine without apt: one sentence, which names what is missing.
mkdir "$out/bin"
for tool in bash dirname sed mkdir cat head nproc; do
	ln -s "$(command -v $tool)" "$out/bin/$tool"
done
refused 'missing on this machine: shellcheck .*in Debian' env PATH="$out/bin" scripts/verify/lint.sh

# A run is that of the cache until something changes, for machines that repeat runs.
cat > "$out/qemu" << 'END'
#!/bin/sh
dir=$(dirname "$0")
echo "$@" >> "$dir/runs"
for option; do
	case $option in
	file:*)		: > "${option#file:}" ;;
	*,path=*)	tar -cf "${option##*path=}" -C "$dir" end ;;
	esac
done
END
chmod +x "$out/qemu"
touch "$out/end" "$out/runs"
echo kernel > "$out/kernel"
echo initramfs > "$out/initramfs"
boots()				# NUMBER MACHINE [VARIABLE=VALUE...]
{
	local old
	old=$(wc -l < "$out/runs")
	env XDG_CACHE_HOME="$out/cache" "${@:3}" "$TOP/scripts/run/boot.sh" "$2" "$out/qemu" \
		"$out/kernel" "$out/initramfs" "$out/booted" > "$out/difference" 2>&1 &&
		[ $(($(wc -l < "$out/runs") - old)) = "$1" ] && [ -e "$out/booted/end" ] &&
		[ "$(find "$out/booted" -name repeats | wc -l)" = $((1 - $1)) ]
	result $? "$1 boots of $2 ${*:3}"
}
boots 1 arm64
boots 0 arm64
boots 1 arm64 RERUN=yes
boots 1 arm64 CMDLINE=more
boots 1 arm64-up
echo other >> "$out/initramfs"
boots 1 arm64
boots 1 arm64-stress
boots 1 arm64-stress

# What the README says to type, of what the test machines cannot: tests/guest/typed.sh.
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
