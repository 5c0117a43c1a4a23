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
refused "no kernel 'nope': 6.12 base debug" scripts/run/test.sh arm64@nope
refused "no machine 'nope'" scripts/run/test.sh nope@base
refused "no kernel 'base@6.12'" scripts/run/test.sh arm64@base@6.12
refused "no list of tests 'arm64@kcsan'" scripts/run/test.sh arm64@kcsan
echo 'x 1 true # needs: nope' > "$out/needs"
refused "a test needs 'nope'" scripts/make/machine.sh arm64 "$out/needs" x
# The selftests are tests, too: their names are in the tree, which "make test" has made.
if [ -d "$LINUX/tools" ]; then
	"$TOP/scripts/series/import.sh" linux 2> /dev/null
	refused "no test 'nope'" env TEST=nope scripts/run/test.sh arm64
	refused "none of .* has the test 'nope'" env TEST=nope scripts/run/test.sh
	refused "it has no 'jitter'" env TEST=kunit.jitter scripts/run/test.sh arm64
	mkdir -p "$BUILD/lists"
	refused "another 'make test' of arm64@debug runs" flock "$BUILD/lists/arm64@debug.lock" \
		env TEST=kunit scripts/run/test.sh arm64@debug
fi
refused "no machine 'nope'" scripts/run/shell.sh nope
refused 'a shell is on one machine' scripts/run/shell.sh
refused "'host' is no machine to boot" scripts/run/shell.sh host
refused "no machine 'nope'" scripts/verify/fuzz.sh nope
refused "no kernel 'nope'" scripts/verify/fuzz.sh arm64@nope
refused "OPERATIONS='many'" env OPERATIONS=many scripts/verify/fuzz.sh
refused "DURATION='long'" env DURATION=long scripts/verify/fuzz.sh
refused "no 'nope' in archs.table" scripts/verify/archs.sh nope
refused "no architecture 'nope'" scripts/make/kernel.sh nope
refused 'usage: kernel.sh' scripts/make/kernel.sh
refused "no machine 'nope'" scripts/run/run-list.sh nope demo results
refused "no backport 'nope': 6.12" scripts/series/backport.sh nope apply
refused 'usage: backport.sh' scripts/series/backport.sh 6.12 nope
refused 'usage: seeds.sh' scripts/bench/seeds.sh topdown nope
refused "no text 'nope': alternating hybrid topdown" scripts/bench/seeds.sh nope
refused "no 'nope' in robots.table: " scripts/verify/robots.sh nope
refused "no 'nope' in programs.table: bzip2" scripts/bench/measure-real.sh nope
refused "no machine 'nope'" env MACHINES=nope scripts/bench/measure-real.sh lua
refused "no 'nope' in programs.table: bzip2" scripts/bench/simulate.sh nope
refused 'no program /nope' env PERF=/nope scripts/bench/simulate.sh lua
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

# A table with a line that is not understood is refused with one sentence, and so is what is not there.
check='. scripts/run/machines.sh && check_tables'
broken()			# SENTENCE FILE SED-PROGRAM
{
	rm -rf "$out/top"
	mkdir -p "$out/top/patches"
	cp -r "$TOP"/{scripts,machines,tests,html} "$out/top"
	cp -r "$TOP/patches/backports" "$out/top/patches"
	sed -i "$3" "$out/top/$2"
	(cd "$out/top" && bash -c "$check") > "$out/seen" 2>&1
	if [ $? = 1 ] && [ "$(wc -l < "$out/seen")" = 1 ] && grep -qE "$1" "$out/seen"; then
		result 0 "refused: $3 in $2"
	else
		cp "$out/seen" "$out/difference"
		result 1 "refused: $3 in $2"
	fi
}
machines=machines/variants.table tests=tests/tests.table
broken 'kernel tree=bsae' $machines 's/tree=base/tree=bsae/'
broken 'no machines/configs/nope.config' $machines 's/fragment=debug/fragment=nope/'
broken 'no machines/dts/nope.dtsi' $machines 's/devices=arm64-idle.dtsi/devices=nope.dtsi/'
broken "of 'arm64-upp', which is no other machine" $machines 's/^arm64-late arm64-up/arm64-late arm64-upp/'
broken "@debug-6.12 is of 'arm64', which is no other machine or kernel" $machines 's/^@debug-6.12 @debug/@debug-6.12 arm64/'
broken "arm64-late is of '@debug', which is no other machine" $machines 's/^arm64-late arm64-up/arm64-late @debug/'
broken '\[arm64@nope\] is no machine, and nothing runs this list' $tests 's/^\[arm64@debug\]/[arm64@nope]/'
broken "is made from itself" $machines 's/^arm64-up arm64 /arm64-up arm64-late /'
broken 'sets spm, which' $machines 's/^\tsmp=4/\tspm=4/'
broken '\[arm64-qaud\] is no machine, and nothing runs this list' $tests 's/^\[arm64-idle\]/[arm64-qaud]/'
check='. scripts/run/machines.sh && check_syntax'
broken 'variants.table:[0-9]+: spaces in place of a tab: ' $machines 's/^\tsmp=4/    smp=4/'
broken 'variants.table:[0-9]+: no assignments: ' $machines 's/^\tsmp=4/\tsmp 4/'
broken 'variants.table:[0-9]+: no "NAME OF WHAT": arm64-up' $machines 's/^arm64-up arm64 .*/arm64-up arm64/'
broken 'variants.table:[0-9]+: a second machine' $machines 's/^arm64-late /arm64-up /'
broken 'variants.table:[0-9]+: a second machine' $machines 's/^arm64-late /arm64 /'
broken 'variants.table:[0-9]+: of no machine: ' $machines '1i \\tsmp=4'
broken 'variants.table:[0-9]+: no "NAME OF WHAT": @ - ' $machines 's/^@base /@ /'
broken 'variants.table:[0-9]+: a second machine' $machines 's/^@6.12 /@base /'
broken 'variants.table:[0-9]+: no machine: Arm64' $machines 's/^arm64-late /Arm64-late /'
broken 'variants.table:[0-9]+: no assignments: ' $machines 's/^\tsmp=4/\tsmp=4;date/'
broken "variants.table:[0-9]+: no assignments: " $machines "s/^\tsmp=4/\tsmp='4/"
broken 'tests.table:[0-9]+: no "NAME SECONDS COMMAND"' $tests 's/^kunit 60 /kunit /'
broken 'tests.table:[0-9]+: no "NAME SECONDS COMMAND"' $tests 's/^kunit 60 .*/kunit 60 # nothing/'
broken 'tests.table:[0-9]+: no "NAME SECONDS COMMAND"' $tests 's/^kunit 60 /kunit 0 /'
broken 'tests.table:[0-9]+: no " # uses: ' $tests 's/ # uses: html/ #uses: html/'
broken 'tests.table:[0-9]+: the name of what the kernel says' $tests 's/^kunit 60 /kernel 60 /'
broken 'tests.table:[0-9]+: no .LIST.: .arm64@' $tests 's/^\[arm64@debug\]/[arm64@]/'
broken 'tests.table:[0-9]+: no .LIST.: .arm64 idle' $tests 's/^\[arm64-idle\]/[arm64 idle]/'
broken 'tests.table:[0-9]+: no "selftests SECONDS"' $tests 's/^selftests 600/selftests/'
broken 'tests.table:[0-9]+: no "include LIST"' $tests 's/^include common/include/'
broken 'tests.table:[0-9]+: no reason' $tests 's/^\(without topdown\) # .*/\1/'
broken 'tests.table:[0-9]+: in no list' $tests '1i kunit 60 true'
broken 'tests.table:[0-9]+: a second list' $tests 's/^\[arm64-idle\]/[arm64-up]/'
broken 'tests.table:[0-9]+: a second test' $tests 's/^libperf 120 /streams 120 /'
check='. scripts/run/machines.sh && expand_list arm64'
broken "no list 'nope'" $tests 's/^include common/include nope/'
broken 'common includes itself' $tests 's/^\[common\]/&\ninclude common/'

# Tests run in the order of the list, whatever is typed.
select_tests "$(printf '%s 1 true\n' d b c a)" a b d | cut -d ' ' -f 1 | paste -sd ' ' > "$out/difference"
[ "$(cat "$out/difference")" = 'd b a' ]
result $? 'selected tests run in the order of the list'

# Two checkouts that share a cache and start at the same time: each gets the source of the kernel.
mkdir -p "$out/race/deb/DEBIAN" "$out/race/deb/usr/src" "$out/race/cache/perf-windows/base"
(
	cd "$out/race" || exit
	for ((dir = 0; dir < 20; dir++)); do
		mkdir -p "source/linux-source-0/$dir"
		for ((file = 0; file < 100; file++)); do
			echo $file > "source/linux-source-0/$dir/$file"
		done
	done
	tar -C source -cJf deb/usr/src/linux-source-0.tar.xz linux-source-0
	printf '%s\n' 'Package: linux-source-0' 'Version: 0' 'Architecture: all' \
		'Maintainer: A <a@example.com>' 'Description: A' > deb/DEBIAN/control
	dpkg-deb -b deb cache/perf-windows/base/linux-source-0_0_all.deb
	printf 'BASE_%s\n' PACKAGE=linux-source-0 VERSION=0 SUITE=none SHA256= > pin
) > /dev/null
for ((i = 1; i <= 4; i++)); do
	env -u KERNEL_TREE XDG_CACHE_HOME="$out/race/cache" BASE_PIN="$out/race/pin" \
		"$TOP/scripts/series/base.sh" linux > "$out/race/$i" 2> "$out/race/$i.errors" &
done
wait
cat "$out/race"/*.errors > "$out/difference"
[ "$(cat "$out/race"/[1-4] | sort | uniq -c | sed -E 's/^ *([0-9]+) .*/\1/')" = 4 ] &&
	[ "$(cat "$out/race"/*.errors | grep -vc waiting:)" = 1 ]
result $? 'four commands that need the source at once unpack it once'

# What an object includes by .incbin, as bzImage does the kernel.
(
	mkdir -p "$out/ccache" && cd "$out/ccache" && . "$TOP/scripts/make/lib.sh" && set -e
	export CCACHE_DIR=$out/ccache/cache
	need ccache gcc
	echo '.incbin "blob"' > incbin.S
	for word in first second; do
		echo "$word" > blob
		ccache gcc -Wp,-MMD,incbin.d -c incbin.S -o incbin.o
		grep -q "$word" incbin.o
	done
) > "$out/difference" 2>&1
result $? 'an object with another file in it is not that of the cache'

# A run is that of the cache until something changes, for machines that repeat runs.
# This QEMU has the console of a file, and gets to its end if the file "end" is there.
cat > "$out/qemu" << 'END'
#!/bin/sh
dir=$(dirname "$0")
echo "$@" >> "$dir/runs"
for option; do
	case $option in
	file:*)		cat "$dir/console" > "${option#file:}" ;;
	*,path=*)	[ ! -e "$dir/end" ] || tar -cf "${option##*path=}" -C "$dir" end ;;
	esac
done
END
chmod +x "$out/qemu"
touch "$out/console" "$out/end" "$out/runs"
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
echo other >> "$out/kernel"
boots 1 arm64
echo '# other' >> "$out/qemu"
boots 1 arm64
boots 0 arm64
boots 1 arm64-stress
boots 1 arm64-stress

# A test that runs here is not run again before something changes that it uses.
mkdir -p "$out/host/build/lists"
cp -r "$TOP/scripts" "$out/host"
echo 1 > "$out/host/used"
git init -q "$out/host"
as_author git -C "$out/host" add used
cat > "$out/host/build/lists/host.tests" << 'END'
good 10 echo run >> runs; cat used # uses: used
bad 10 echo run >> runs; false # uses: used
tree 10 echo run >> runs # uses: linux:used
late 1 echo run >> runs; sleep 20 # uses: used
END
git init -q "$out/host/build/linux"
cp "$out/host/used" "$out/host/build/linux"
as_author git -C "$out/host/build/linux" add used
as_author git -C "$out/host/build/linux" commit -q -m 1
runs()				# NUMBER TEST WHAT [VARIABLE=VALUE...]
{
	: > "$out/host/runs"
	as_author "${@:4}" "$out/host/scripts/run/host.sh" host "$2" > "$out/difference" 2>&1 &&
		[ "$(wc -l < "$out/host/runs")" = "$1" ] &&
		[ "$(find "$out/host/build/results/host" -name "$2.repeats" | wc -l)" = $((1 - $1)) ]
	result $? "a test here runs $1 times: $3"
}
runs 1 good 'the first time'
runs 0 good 'nothing has changed'
runs 1 good 'RERUN=yes' RERUN=yes
touch "$out/host/other"
runs 0 good 'another file has changed'
echo 2 > "$out/host/used"
runs 1 good 'what it uses has changed'
[ "$(cat "$out/host/build/results/host/good.tap")" = 2 ]
result $? 'and has the new result'
runs 1 bad 'it fails'
runs 1 bad 'it has failed before'
runs 1 tree 'the first time'
echo 2 > "$out/host/build/linux/used"
runs 0 tree 'what is not committed does not count'
as_author git -C "$out/host/build/linux" commit -q -a -m 2
runs 1 tree 'the kernel has another commit'
runs 1 late 'it takes too long'
[ "$(cat "$out/host/build/results/host/late.status")" = 124 ]
result $? 'and has the status of that'

# What the kernel said of a crash is a result of the test that ran, or of the kernel.
rm "$out/end"
crashes()			# WHAT TEST, with the console as standard input, and what is said of it behind "="
{
	local console

	console=$(cat)
	sed '/^=$/,$d' <<< "$console" > "$out/console"
	env XDG_CACHE_HOME="$out/cache" RERUN=yes "$TOP/scripts/run/boot.sh" x86_64 "$out/qemu" \
		"$out/kernel" "$out/initramfs" "$out/booted" > /dev/null 2>&1
	{ cat "$out/booted/$2.status" && cat "$out/booted/$2.tap"; } 2>&1 |
		diff -u <(echo crashed; sed '1,/^=$/d' <<< "$console") - > "$out/difference"
	result $? "a crash $1"
}
crashes 'in a test' alt_period << 'END'
== kunit
== alt_period
# #  RUN           hw.cycles.alternates ...
# #            OK  hw.cycles.alternates
# #  RUN           hw.cycles.jitter ...
[    2.000001] ------------[ cut here ]------------
[    2.000002] WARNING: kernel/events/period.c:329 at next+0x192/0x1a0, CPU#0: alt_period/60
[    2.000003] CPU: 0 UID: 0 PID: 60 Comm: alt_period Not tainted 7.3.4 #1 PREEMPT
[    2.000003] Hardware name: QEMU
[    2.000003] RIP: 0010:next+0x192/0x1a0
[    2.000003] Code: 00 01 02
[    2.000003] RSP: 0018:ffffc90000003b90 EFLAGS: 00010046
[    2.000003] RAX: 0000000000000000 RBX: 0000000000000000 RCX: 0000000000000000
[    2.000003] R13: 0000000000000000 R14: 0000000000000000 R15: 0000000000000000
[    2.000003] FS:  000000000045f3c0(0000) GS:0000000000000000(0000) knlGS:0000000000000000
[    2.000003] CS:  0010 DS: 0000 ES: 0000 CR0: 0000000080050033
[    2.000003] CR2: 0000000000000000 CR3: 0000000000000000 CR4: 0000000000000000
[    2.000004] Call Trace:
[    2.000004]  <NMI>
[    2.000004]  x86_perf_event_set_period+0xf3/0x1c0
[    2.000005] ---[ end trace 0000000000000000 ]---
=
# #  RUN           hw.cycles.jitter ...
[    2.000002] WARNING: kernel/events/period.c:329 at next+0x192/0x1a0, CPU#0: alt_period/60
[    2.000003] CPU: 0 UID: 0 PID: 60 Comm: alt_period Not tainted 7.3.4 #1 PREEMPT
[    2.000003] RIP: 0010:next+0x192/0x1a0
[    2.000004] Call Trace:
[    2.000004]  <NMI>
[    2.000004]  x86_perf_event_set_period+0xf3/0x1c0
END
crashes 'at boot' kernel << 'END'
[    0.000001] Linux version 7.3.4
[    0.500000] WARNING: kernel/events/period.c:329 at next+0x38/0x60, CPU#0: swapper/0/1
[    0.500001] pstate: 604000c5 (nZCv daIF +PAN -UAO -TCO -DIT -SSBS BTYPE=--)
[    0.500001] pc : next+0x38/0x60
[    0.500001] sp : ffff800080003b90
[    0.500001] x29: ffff800080003b90 x28: 0000000000000000 x27: 0000000000000000
[    0.500002] Call trace:
[    0.500002]  next+0x38/0x60 (P)
[    0.500003] Kernel panic - not syncing: kernel: panic_on_warn set ...
=
[    0.500000] WARNING: kernel/events/period.c:329 at next+0x38/0x60, CPU#0: swapper/0/1
[    0.500001] pc : next+0x38/0x60
[    0.500002] Call trace:
[    0.500002]  next+0x38/0x60 (P)
[    0.500003] Kernel panic - not syncing: kernel: panic_on_warn set ...
END

crashes 'behind a test that has ended' libperf << 'END'
== alt_period
# #  RUN           hw.cycles.jitter ...
# #            OK  hw.cycles.jitter
== 3 of 4
== libperf
[    2.000001] ------------[ cut here ]------------
[    2.000001] what warn_on() says
[    2.000002] WARNING: kernel/events/period.c:329 at next+0x192/0x1a0, CPU#0: libperf/60
=
[    2.000001] what warn_on() says
[    2.000002] WARNING: kernel/events/period.c:329 at next+0x192/0x1a0, CPU#0: libperf/60
END

# What the kernel complains of fails a machine that gets to its end; what a test prints does not.
touch "$out/end"
complains()			# STATUS LINE
{
	echo "$2" > "$out/console"
	env XDG_CACHE_HOME="$out/cache" RERUN=yes "$TOP/scripts/run/boot.sh" arm64 \
		"$out/qemu" "$out/kernel" "$out/initramfs" "$out/booted" > "$out/difference" 2>&1
	[ $? = "$1" ] && [ "$(find "$out/booted" -name kernel.status | wc -l)" = "$1" ]
	result $? "the console says: $2"
}
while read -r line; do
	complains 1 "[    2.000001] $line"
done << 'END'
WARNING: kernel/events/core.c:1 at x86_pmu_stop+0x1/0x2, CPU#0: x/1
BUG: KASAN: slab-use-after-free in x+0x1/0x2
UBSAN: shift-out-of-bounds in kernel/events/core.c:1:2
Oops: general protection fault, 0000 [#1] SMP
INFO: task x:1 blocked for more than 122 seconds.
rcu: INFO: rcu_preempt self-detected stall on CPU
INFO: trying to register non-static key.
Internal error: synchronous external abort: 96000050 [#1] SMP
unchecked MSR access error: WRMSR to 0x38f (tried to write 0x0000000000000001) at rIP: 0x1
Uhhuh. NMI received for unknown reason 00 on CPU 0.
watchdog: CPU0: Watchdog detected hard LOCKUP on cpu 0
Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000009
END
complains 0 'WARNING: a test says this:'
complains 0 '[    2.000001] perf: Dynamic interrupt throttling disabled, can hang your system!'
complains 0 '[    2.000001] NO_WARNING: it is none'

# Whatever tests say, the results for other programs are XML.
mkdir "$out/junit"
echo 'x 1 true' > "$out/junit/list"
printf 'TAP version 13\n1..2\nok 1 "a" & <b>\nnot ok 2 \377\303\050 ]]>\033[1m\n' > "$out/junit/x.tap"
echo 1 > "$out/junit/x.status"
JUNIT=$out/junit/xml "$TOP/scripts/run/summary.sh" "$out/junit/list=$out/junit" > /dev/null 2>&1
python3 - "$out/junit/xml" > "$out/difference" 2>&1 << 'END'
import sys
import xml.dom.minidom

suites = xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName('testsuite')
cases = suites[0].getElementsByTagName('testcase')
assert [s.getAttribute('failures') for s in suites] == ['1']
assert cases[0].getAttribute('name') == '"a" & <b>', cases[0].toxml()
assert len(cases) == 2 and len(cases[1].getElementsByTagName('failure')) == 1
END
result $? 'results as JUnit XML'

# What the README says to type, of what the test machines cannot: tests/guest/typed.sh.
while read -r target; do
	grep -qE "^([a-z-]+ )*$target( [a-z-]+)*:" "$TOP/Makefile" || echo "no target '$target'"
done < <(sed -nE 's/^    make ([a-z-]+).*/\1/p' "$TOP/README.md" | sort -u) > "$out/difference"
while read -r file _; do
	[ -x "$TOP/$file" ] || echo "no '$file'"
done < <(sed -n 's/^    \(scripts\/[a-z/-]*\.sh\)/\1/p' "$TOP/README.md") >> "$out/difference"
[ ! -s "$out/difference" ]
result $? "the README's targets and scripts are there"

# A name of a script says which one.
git -C "$TOP" ls-files -co --exclude-standard -- scripts html tests machines | sed 's|.*/||' |
	grep -E '\.(sh|py|awk)$' | sort | uniq -d > "$out/difference"
[ ! -s "$out/difference" ]
result $? 'no two scripts have one name'

# The packages of the container are names alone, and those of each directory are there.
"$TOP/scripts/run/list-packages.sh" > "$out/difference" 2>&1 &&
	! grep -qvE '^[a-z0-9][a-z0-9+.-]+$' "$out/difference" &&
	[ "$(grep -cxE 'chromium|cpio|gcc-aarch64-linux-gnu|git|postgresql|qemu-system-arm|shellcheck' \
		"$out/difference")" = 7 ]
result $? 'the packages of the container'

echo "1..$nr"
exit $failed
