#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: boot.sh MACHINE QEMU KERNEL INITRAMFS RESULTS [SECONDS]
#
# Boot KERNEL with INITRAMFS on a MACHINE of machines/,
# and collect in the directory RESULTS what its init sends, and the console in
# console.log. Fails if the machine does not get to its end within SECONDS
# (default 900); what the tests said is for summary.sh to judge.
#
# A machine that counts instructions repeats a run to the bit: with the same QEMU, kernel,
# initramfs and options as an earlier one, RESULTS are those of that, from the cache, unless
# RERUN=yes. Then the file RESULTS/repeats has its date.
#
# With PROFILE=yes, x86_64 alone, QEMU leaves in RESULTS/profile what each address of the
# programs took that event 0xfe counts, see pmu-profile in patches/qemu.
#
# With SECONDS=shell the console is on the terminal, and init starts a shell.
. "$(dirname "$0")/../make/lib.sh"
. "$TOP/scripts/run/machines.sh"

[ $# -ge 5 ] || usage
name=$1 emulator=$2 kernel=$3 initramfs=$4 dir=$5 seconds=${6:-900}
load_machine "$name"
use_arch "$arch"
rm -rf "$dir"
mkdir -p "$dir"
stream=$dir/results.tar log=$dir/console.log

# The firmware is that of Debian's QEMU, for ours.
[ "$emulator" = "${emulator##*/}" ] || machine+=(-L /usr/share/seabios -L /usr/share/qemu)
[ -z "$devices" ] ||
	machine+=(-dtb "$("$TOP/scripts/make/dtb.sh" "$devices" "$dir" \
		"$emulator" "${machine[@]}")")
[ -z "${PROFILE:-}" ] || machine+=(-global "max-x86_64-cpu.pmu-profile=$dir/profile")
machine+=("${result_port[@]//RESULTS/$stream}" -display none -no-reboot
	-kernel "$kernel" -initrd "$initramfs")
cmdline="console=$console $cmdline printk.time=1 panic=-1"

if [ "$seconds" = shell ]; then
	size=$(stty size 2> /dev/null || echo 24 200)
	# Send a line when there is a prompt for it: what comes earlier gets lost, or
	# to a program that reads it. The end of a file does not get through a
	# serial line.
	feed()
	{
		local line

		while IFS= read -r line || [ -n "$line" ]; do
			until [ "$(tail -c 2 "$log" 2> /dev/null)" = '# ' ]; do sleep 0.1; done
			printf '%s\n' "$line"
			sleep 0.2
		done
		until [ "$(tail -c 2 "$log")" = '# ' ]; do sleep 0.1; done
		echo exit
	}
	options=(-chardev "stdio,id=console,mux=on,signal=off,logfile=$log"
		-serial chardev:console -mon chardev=console
		-append "$cmdline quiet shell size=${size/ /x} ${CMDLINE:-}")
	if [ -t 0 ]; then
		say "$name: 'exit' ends it, Ctrl-A X kills it"
		exec "$emulator" "${options[@]}" "${machine[@]}"
	fi
	# It may wait for a prompt that does not come any more.
	exec {commands}< <(feed)
	feeder=$! status=0
	"$emulator" "${options[@]}" "${machine[@]}" <&"$commands" || status=$?
	kill "$feeder" 2> /dev/null || true
	exit $status
fi

cmdline+=" panic_on_warn=1 oops=panic ${CMDLINE:-}"
kept=''
if [[ " ${clock[*]} " == *' -icount '* ]]; then
	key=$({
		cat "$(command -v "$emulator")" "$kernel" "$initramfs" "$0"
		cat /usr/share/{seabios,qemu}/*.bin /usr/lib/*/qemu/accel-*.so 2> /dev/null || true
		[ -z "$devices" ] || cat "$dir/machine.dtb"
		printf '%s\n' "${machine[@]//"$dir"/}" "$cmdline"
	} | sha256sum)
	kept=$CACHE/results/${key%% *}.tar.gz
fi

# Keep the results, unless that fails: a full disk is no failure of a test.
keep()
{
	mkdir -p "${kept%/*}" &&
		find "${kept%/*}" -type f -atime +30 -delete &&
		tar -czf "$kept.$$" -C "$dir" . && mv "$kept.$$" "$kept" && return
	rm -f "$kept.$$"
	return 1
}

status=0
if [ -n "$kept" ] && [ -z "${RERUN:-}" ] && tar -tzf "$kept" > /dev/null 2>&1 &&
		tar -xzf "$kept" -C "$dir"; then
	touch -ac "$kept"
	date -r "$kept" +%F > "$dir/repeats" || true
else
	: > "$log"
	timeout --foreground "$seconds" "$emulator" -serial "file:$log" -monitor none \
		"${machine[@]}" -append "$cmdline" < /dev/null > "$dir/qemu.log" 2>&1 || status=$?

	# One archive after the other, as each test sent its own.
	if [ -s "$stream" ]; then
		tar -xif "$stream" -C "$dir" 2> /dev/null || true
	fi
	rm -f "$stream"
	if [ -n "$kept" ] && [ -e "$dir/end" ] && [ "$status" = 0 ]; then
		keep || warn "the results of $name are not kept"
	fi
fi
# The time stamp tells a message of the kernel from one of a test.
complaint='\[ *[0-9]+\.[0-9]{6}\] ((.*[^A-Z_])?(BUG|WARNING|KASAN|UBSAN|Oops)\b.*:|(rcu: )?INFO: (task|rcu|trying to register)|.*(self-detected stall|kthread starved|hard LOCKUP)|Internal error: |Unable to handle kernel|Kernel panic - |unchecked MSR access|Uhhuh\.)'

registers='R(SP|[A-D]X|[SD]I|BP|[0-9]+)|[CDEFGS]S|[CD]R[0-9]|PKRU|Code|pstate|sp|x[0-9]+|Hardware name|Modules linked in'

# Print from the console what the kernel said first, with the call trace but without registers, or
# else the end, behind the subtest that ran then.
last_words()
{
	local first text

	text=$(tr -d '\r' < "$log")
	first=$(grep -n -m 1 -E "$complaint" <<< "$text" | cut -d : -f 1) || true
	head -n "$((${first:-1000000} - 1))" <<< "$text" | awk '
		/^== / || /^(# )*# +(OK|FAIL) /	{ ran = "" }
		/^(# )*# +RUN /			{ ran = $0 }
		END				{ if (ran != "") print ran }'
	if [ -z "$first" ]; then
		tail -n 15 <<< "$text"
		return
	fi
	# The text of a warning is in front of it. That of the lock checker is long.
	awk -v first="$first" -v registers="\\\\] ($registers) ?: " '
		NR < first	{ if (/---\[ cut here \]/) begin = NR; line[NR] = $0; next }
		NR == first	{ if (begin && begin >= first - 3)
					while (++begin < first)
						print line[begin]
				  most = /lock/ ? 120 : 40 }
		/---\[ end / || NR > first + most	{ exit }
		$0 !~ registers				{ print }' <<< "$text"
}

if [ ! -e "$dir/end" ]; then
	# What ran did not get to send its results: they are what the kernel said. For summary.sh
	# that is a result of this test, or of the kernel, if no test had begun.
	test=$(tr -d '\r' < "$log" | sed -nE 's/^== ([a-z][a-z0-9_-]*)$/\1/p' | tail -n 1)
	what=${test:-kernel}
	[ ! -e "$dir/$what.status" ] || what=kernel
	{ last_words; cat "$dir/qemu.log"; } > "$dir/$what.tap"
	if [ $status = 124 ]; then echo hung; else echo crashed; fi > "$dir/$what.status"
	[ $status -ne 124 ] || die "$name did not end within $seconds s, in ${test:-no test}, see $log"
	die "$name stopped unexpectedly in ${test:-no test} (QEMU's exit status $status), see $log"
fi
if grep -qE "$complaint" "$log"; then
	# Not each of these ends the machine: for summary.sh it is a test that failed.
	echo 1 > "$dir/kernel.status"
	last_words > "$dir/kernel.tap"
	die "the kernel of $name complained, see $log"
fi
