#!/bin/bash
# perf fnstat tests (exclusive)
# SPDX-License-Identifier: GPL-2.0

# shellcheck disable=SC2154 # testdir, log and out come from lib/
set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh
# shellcheck source=lib/fake_pmu.sh
. "${shelldir}"/lib/fake_pmu.sh

data=${testdir}/perf.data
devices=/sys/bus/event_source/devices

# A program that moves to another core PMU has two tables, and tasks that share a CPU are a check.
run_on_one_cpu

# record OPTIONS...: record metrics
record() {
	run_logged perf fnstat record -o "${data}" "$@"
}

# record_events EVENTS: record a short workload with perf record
record_events() {
	run_logged perf record -o "${data}" -e "$1" perf test -w fnmix 100
}

# report OPTIONS...: write a report
report() {
	perf fnstat report -i "${data}" "$@" > "${out}" 2> "${log}"
}

# Some drivers accept precise_ip and ignore it: samples have PERF_RECORD_MISC_EXACT_IP if they are
# of the place of their event.
exact=no
if record_events instructions/period=20011/uP &&
   perf report -D -i "${data}" 2> /dev/null | grep -q "PERF_RECORD_SAMPLE(IP, 0x4"
then
	exact=yes
fi

has_several_core_pmus() {
	[ "$(find ${devices}/*/cpus 2> /dev/null | wc -l)" -gt 1 ]
}

# has_shares: check that the share of instructions of each function is that of the workload, within
# the precision of sampling
has_shares() {
	report -x, --ci && awk -F '[ ,]' '
		NR == FNR && $1 != "empty" { insns["fnmix_" $1] = $2; sum += $2 }
		NR == FNR { next }
		FNR == 1 {
			FS = ","
			$0 = $0
			for (i = 1; i <= NF; i++)
				if ($i == "%I")
					col = i
			next
		}
		{ name = $NF; sub(/^\[.\] /, "", name); time += $1 }
		name in insns { share[name] = $col; cpi[name] = $2 }
		END {
			for (name in insns) {
				diff = share[name] - 100 * insns[name] / sum
				if (!(name in share) || diff > 2 || diff < -2 || cpi[name] <= 0) {
					print name ": " share[name] "%, too much by " diff "%"
					bad = 1
				}
			}
			exit bad || !sum || !col || time < 99.5 || time > 100.5
		}' "${testdir}/list" "${out}"
}

# check_shares NAME: the same, if the numbers of instructions are known
check_shares() {
	perf test -w fnmix list > "${testdir}/list"
	if grep -q unknown "${testdir}/list"
	then
		skip "$1: unknown number of instructions"
	elif is_marked "${data}"
	then
		skip "$1: throttled"
	else
		check "$1" has_shares
	fi
}

# Check that a name of 20 letters fits into 80 columns, that lines above the table say what its
# columns are, and that a cell has an upper end or nothing for what never happens, cache misses of
# nops.
is_screen() {
	report && awk '/^# Overhead/ {
			header = $0
			for (i = 2; i <= NF; i++) {
				if ($i == "CM/KI")
					column = i - 1
				bad += $i != "Overhead" && $i != "Symbol" &&
				       !index(above, " " $i ": ")
			}
			bad += index($0, "Symbol") > 60 || /Windows|DIS/
		}
		!header { above = above $0 }
		/ fnmix_nops$/ { rows++; bad += column && $column !~ /^<[0-9.]+$|^-$|^0[.]00$/ }
		END { exit bad || !rows || !header }' "${out}"
}

# Check that the order of the fields is that of the entries.
is_sorted() {
	report -F metric:cpi,overhead,sym -t , --ci && awk -F, '
		/fnmix_/ && $1 != "" {
			nr++
			bad += nr > 1 && $1 > last
			last = $1 + 0
		}
		END { exit bad || nr < 2 }' "${out}"
}

# is_marked FILE: true if much was throttled, so that all values of a recording have a mark
is_marked() {
	perf fnstat report -i "$1" 2> "${log}" | awk '
		/^# Throttled /			{ throttled = 1 }
		/^# All values have a mark/	{ marked = 1 }
						END { exit !throttled || !marked }'
}

# Check that a metric below its threshold of 1 is red, that others are green, and that those with a
# mark have no colour.
has_colours() {
	report -x, -F metric:insn_per_cycle,sym && ! grep -q "$(printf '\033')" "${out}" &&
	report --stdio --stdio-color=always -F metric:insn_per_cycle,sym &&
	awk -v esc="$(printf '\033')" '/fnmix_/ {
			red = index($0, esc "[31m") > 0
			green = index($0, esc "[32m") > 0
			gsub(esc "\\[[0-9;]*m", "")
			if ($1 ~ /[?-]/)
				bad += red || green
			else
				bad += $1 < 0.99 ? !red : $1 > 1.01 ? !green : red == green
			coloured += red || green
		}
		END { exit bad || !coloured }' "${out}"
}

test_thresholds() {
	if is_marked "${data}"
	then
		skip "Colours of thresholds: throttled"
	else
		check "Colours of thresholds" has_colours
	fi
}

# record_windows NAME OPTIONS...: record windows, or report why not
record_windows() {
	local name=$1

	shift
	if record "$@"
	then
		return 0
	elif grep -q "does not support alternating or jittered" "${log}"
	then
		skip "${name}: no alternating periods"
	else
		fail "${name}: record"
	fi
	return 1
}

# refuses REGEX COMMAND...: check that a command fails with a message
refuses() {
	local regex=$1

	shift
	! "$@" > "${out}" 2> "${log}" && grep -q -- "${regex}" "${log}"
}

# Check that a clock serves where there are no cycles, with a warning.
has_clock() {
	record -c 200000 perf test -w fnmix 300 && grep -q "does not count cycles" "${log}" &&
	report && grep -q '%.* fnmix_' "${out}" &&
	record dd if=/dev/zero of=/dev/null bs=512 count=300000 &&
	report && grep -q '^# [0-9]* % of the time was in the kernel' "${out}" &&
	! grep -q "of what was counted\|total" "${out}"
}

test_clock() {
	if has_clock
	then
		pass "A clock instead of cycles"
	elif grep -qi "permission\|paranoid" "${log}"
	then
		skip "A clock instead of cycles: no permission"
	else
		fail "A clock instead of cycles"
	fi
	check "No diff of a clock" refuses "does not count cycles" \
		perf fnstat diff "${data}" "${data}"
	check "No diff of two metrics" refuses "compares one metric, and 'cpi,ipc' is a list" \
		perf fnstat diff -M cpi,ipc "${data}" "${data}"
	check "No metrics of a clock" refuses "does not count cycles" \
		perf fnstat record -M cpi -o "${data}" true
}

# Check that samples serve where there are no windows, unless the user asks for these.
test_no_windows() {
	if record -c 19700 perf test -w fnmix 5000 && grep -q "no windows" "${log}"
	then
		check_shares "Samples instead of windows"
	else
		fail "Samples instead of windows"
	fi
	# Other events are sampled as often as so many cycles last.
	perf fnstat -v record -o "${data}" true > "${log}" 2>&1 || true
	check "The cycles in a second without windows" \
		grep -q "there are [1-9][0-9]* cycles in a second" "${log}"
	check "No windows of a length that is given" refuses . \
		perf fnstat record -w 300 -o "${data}" true
}

# Without a PMU perf record replaces cycles by a clock event, or fails.
if ! record_events '{cycles/period=20011/,instructions}:uS' ||
   perf evlist -v -i "${data}" | grep -q "PERF_COUNT_SW_.*_CLOCK"
then
	test_clock
	skip "Windows: cycles cannot be sampled"
	end_test
fi

# A kernel or a PMU without windows: all other tests need them.
if ! run_logged perf record -e cycles/period=999700,alt-period=300/u -o "${data}" true
then
	test_no_windows
	end_test
fi

# check_events REGEX OPTIONS...: check the events that perf record gets, or a message
check_events() {
	local regex=$1

	shift
	set -- "$@" true
	perf fnstat -v record --counters instructions -o "${data}" "$@" > "${log}" 2>&1 || true
	check "Events of record ${*//"${testdir}/"/}" grep -qE -- "${regex}" "${log}"
}
# Long intervals are jittered.
check_events "cycles/period=1999700,alt-period=300,period-jitter=199970,alt-period-jitter=200/" \
	-w 300
check_events "}:uS'"
check_events "there are [1-9][0-9]* cycles in a second"
check_events "cycles/period=1999700[,/].*}:S'" -a --kernel
check_events "cycles/period=1999700[,/].*}:S'" --all-kernel
check_events "period=100000,alt-period=[1-9]" -a -c 100000 -w 300
check_events "cycles/freq=500,alt-period=[1-9][0-9]*,alt-period-jitter=[1-9]" -F 500 -w 300
# The length is that without branch stacks, and what an interrupt adds.
length="[3-9][0-9][0-9],period-jitter=199970,alt-period-jitter=200"
[ "${exact}" = yes ] ||
	length="[1-9][0-9]*,period-jitter=199970,alt-period-jitter=[1-9][0-9]*"
check_events "cycles/period=1999700,alt-period=${length}/" --call-graph=lbr
max=$(($(cat /proc/sys/kernel/perf_event_max_sample_rate) / 2))
check_events "cycles/freq=${max}," -F max
check_events "a number above 0, or max" -F 5x
check_events "exclude each other" -F 500 -c 100000
check_events "exclude each other" -M cpi
check_events "at most [0-9]* samples" -F 100000000
check_events "not shorter than the interval before it" -c 20000 -w 20000
# Names of options that are cut, and letters that are together.
check_events "cycles/freq=500," --fre 500
check_events "Ambiguous option" --win 100
check_events "could be --kernel.* or --kernel" --kern
check_events "period=100000,alt-period" --outp "${data}" -c 100000 -w 300
check_events "cycles/freq=500,[^/]*/.*" -aqgF500
# The kernel would refuse so many samples. There are none if they are late, and windows.
sampled="freq=[0-9]*/P"
[ "${exact}" = yes ] || sampled=""
check_events "instructions${sampled:+/${sampled}}}" -c 1000 -w 300
check_events "instructions/freq=[0-9]*/P}" -c 1000 -w 0
# There are no samples of this event to be used with branch stacks.
check_events "alt-period=[^/]*/,instructions/name=x${sampled:+,${sampled}}.*,page-faults:u}" \
	--counters instructions/name=x/,page-faults:u
# What an interrupt adds to windows is found from instructions: each group counts them.
check_events "alt-period=[^/]*/,page-faults[^,]*,instructions}:uS'" --counters page-faults -w 300
check_events "page-faults[^,]*}:uS'" --counters page-faults -w 0

# add_offline_pmu DIR: make a copy of sysfs that has one more core PMU, without an online CPU
add_offline_pmu() {
	local other pmu

	for other in "${devices}"/*
	do
		if [ "$(basename "${other}")" = cpu ] || [ -e "${other}/cpus" ]
		then
			break
		fi
	done
	pmu=$(add_fake_pmu "$1" offline_fake)
	cp "${other}/type" "${pmu}/type"
	cp -r "${other}/format" "${other}/events" "${pmu}"
	echo > "${pmu}/cpus"
}

# Check that the events and windows are those without the PMU of a copy of sysfs.
ignores_fake_pmu() {
	SYSFS_PATH=${testdir}/sysfs perf fnstat -v record -c 99700 -M cpi -o "${data}" \
		perf test -w fnmix 300 > "${log}" 2>&1 &&
	grep -qE "cycles[/,]period=99700,(alt-period=[1-9]|.*branch_type=any)" "${log}" &&
	! perf evlist -i "${data}" | grep -q _fake
}
if add_uncore_cycles "${testdir}/sysfs"
then
	check "An uncore PMU has cycles, too" ignores_fake_pmu
else
	skip "An uncore PMU has cycles, too: no PMU that does not sample"
fi
rm -rf "${testdir}/sysfs"
add_offline_pmu "${testdir}/sysfs"
SYSFS_PATH=${testdir}/sysfs check_events "all CPUs of offline_fake, .* are offline" \
	--counters offline_fake/instructions/
check "A core PMU whose CPUs are offline" ignores_fake_pmu
rm -rf "${testdir}/sysfs"

# Check that the reason is the jitter, and not a metric.
refuses_jitter() {
	refuses "refuses these alternating or jittered periods" \
		perf fnstat record -o "${data}" --jitter 9999999 "$@" true &&
	! grep -q "Left out\|none of these" "${log}"
}
check "Too much jitter" refuses_jitter
check "Too much jitter, with metrics" refuses_jitter -M cpi

# Check the message for a user who may not count the kernel.
test_no_kernel() {
	local user=(su -s /bin/sh nobody -c)

	if ! "${user[@]}" "perf version" > /dev/null 2>&1 ||
	   [ "$(cat /proc/sys/kernel/perf_event_paranoid)" != 2 ]
	then
		skip "No permission to count the kernel"
	elif run_logged "${user[@]}" "perf fnstat -v record --kernel -o - true" &&
	     grep -q "only user space" "${log}" && grep -q "}:uS'" "${log}"
	then
		pass "No permission to count the kernel"
	else
		fail "No permission to count the kernel"
	fi
}
test_no_kernel

# sampled_freq: print the frequency of instructions, while another task runs or not
sampled_freq() {
	perf fnstat -v record --counters instructions -c 99700 -w 0 \
		-o "${data}" true 2>&1 | sed -n 's|.*instructions/freq=\([0-9]*\).*|\1|p'
}

# stop: end the background task
stop() {
	kill "${1:--TERM}" "${victim}"
	wait "${victim}" 2> /dev/null || true
}

# Check that a task that shares the CPU gets as many samples in its own time.
test_busy_cpu() {
	local alone shared

	alone=$(sampled_freq)
	perf test -w noploop 20 &
	victim=$!
	shared=$(sampled_freq)
	stop
	check "A frequency on a busy CPU" [ "$((shared * 4))" -gt "$((alone * 3))" ]
}
test_busy_cpu

completion=${shelldir}/../../perf-completion.sh
[ -e "${completion}" ] || completion=/etc/bash_completion.d/perf

# completes PROPOSALS WORD... : check what the shell proposes for the last word
completes() {
	local proposals=$1

	shift
	[ "$(bash -c '. "$0"
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_perf
		echo "${COMPREPLY[*]}"' "${completion}" "$@" 2> "${log}")" = "${proposals}" ]
}

has_completion() {
	completes "record report" perf fnstat re &&
	completes "--window --window-jitter --windows" perf fnstat record -F 99 --win &&
	completes "--call-graph" perf fnstat record --call-g &&
	completes "--call-graph" perf fnstat report --call-g &&
	completes "--metrics" perf fnstat diff --met &&
	completes "--windows" perf record --win
}
if [ -e "${completion}" ]
then
	check "Completion" has_completion
else
	skip "Completion: no ${completion}"
fi

check "Refuse an unknown attribution" refuses "Unknown attribution" \
	perf fnstat report -i "${data}" --attribution=none

if record -c 20011 -w 0 perf test -w fnmix 5000
then
	check_shares "Report of a plain period"
	check "Sort by the first field" is_sorted
	# Late samples have wide intervals, so no colour.
	[ "${exact}" = no ] || test_thresholds
else
	fail "Record a plain period"
fi

if record_windows "Report of windows" -c 19700 -w 300 --jitter 2000 perf test -w fnmix 5000
then
	check_shares "Report of windows"
	test_thresholds
	check "Names within 80 columns, and no value of what did not happen" is_screen
fi

# first_number KEY: print the first number of this member in the report
first_number() {
	grep -oE "\"$1\": \[?[0-9]+" "${out}" | head -n 1 | grep -oE '[0-9]+$' || true
}

# Check that the counts of each file are those of its own time.
add_up_in_files() {
	local nr=0 file period total

	record -c 19700 -M cpi --switch-output=200K perf test -w fnmix 5000 || return
	for file in "${data}".[0-9]*
	do
		perf fnstat report -i "${file}" --json > "${out}" 2> "${log}" || true
		period=$(first_number period)
		total=$(first_number totals)
		# The last file can begin soon before the program ends, and its first round is
		# not counted.
		[ "${period:-0}" -ge 197000 ] || continue
		[ "$((total * 5))" -ge "$((period * 4))" ] &&
		[ "$((total * 4))" -le "$((period * 5))" ] &&
		grep -q '"contradicted": false' "${out}" || return
		nr=$((nr + 1))
	done
	[ "${nr}" -ge 3 ]
}

# With as many samples as above, a kernel that throttles leaves too few files.
if is_marked "${data}"
then
	skip "Files of --switch-output add up: throttled"
else
	check "Files of --switch-output add up" add_up_in_files
fi

# Options of fnstat can stand after those of perf record, and those of the workload are left to it.
takes_options() {
	! record -c 20011 -q -w 0 --no-buildid perf test -w fnmix 100 -c 5 &&
	grep -q "unknown switch .c" "${log}" &&
	record -q --window 0 -c 20011 perf test -w fnmix 100 &&
	perf evlist -v -i "${data}" | grep -q "sample_freq }: 20011"
}
check "Options at any place" takes_options

# has_stars FILE MIN MAX: check that so many functions have a share of instructions in the
# recording and in another one, and that as many as MIN to MAX of them differ significantly
has_stars() {
	perf diff -c metric:instructions-share --sort sym -t , "${data}" "$1" 2> "${log}" |
		tee "${out}" | awk -F, -v min="$2" -v max="$3" '
			/fnmix_/ && $6 != "" { nr++; stars += $7 == "*" }
			END { exit !(nr >= 5 && stars >= min && stars <= max) }'
}

compares() {
	perf fnstat diff -s sym "${data}" -M instructions-share "${data}.2" 2> "${log}" |
		grep -q '[0-9]\*  \[.\] fnmix_' &&
	perf fnstat diff "${data}" "${data}.2" 2> "${log}" | grep -q '^# Baseline  *Base cpi'
}

test_diff() {
	local windows=(-c 9700 -w 300)

	record_windows "Differences" "${windows[@]}" -o "${data}.2" \
		perf test -w fnmix 1000 every 8 || return 0
	record_windows "Differences" "${windows[@]}" perf test -w fnmix 1000 || return 0
	if is_marked "${data}" || is_marked "${data}.2"
	then
		skip "Differences: throttled"
		return
	fi
	check "No difference of a recording from itself" has_stars "${data}" 0 0
	# The other program has the same functions, and more.
	check "Differences of two programs" has_stars "${data}.2" 3 99
	check "Differences by perf fnstat" compares
}
test_diff

# is_same_twice EVENTS: compare a recording with itself: each function has the same CPI twice, and
# all together that of the report
is_same_twice() {
	local all

	run_logged perf record -o "${data}" -e "$1" perf test -w fnmix 2000 every 8 || return
	all=$(timeout 60 perf report --fnstat -F metric:cpi,windows -s dso -d perf -q -t , \
		-i "${data}" 2> "${log}" | awk -F, '/^[0-9]/ { print $1; exit }')
	perf diff -c metric:cpi --sort sym -t , "${data}" "${data}" 2> "${log}" |
		awk -F, '/fnmix_/ { nr += $2 ~ /^[0-9]/; if ($2 != $4) { print; bad = 1 } }
			END { exit bad || nr < 5 }' &&
	[ -n "${all}" ] &&
	[ "$(perf diff -c metric:cpi --sort dso -d perf -t , -q "${data}" "${data}" \
		2> "${log}" | awk -F, '{ print $2; exit }')" = "${all}" ]
}

# has_header REGEX METRICS [OPTIONS...]: record METRICS, and find REGEX in the header of a report
# with OPTIONS
has_header() {
	local regex=$1 metrics=$2

	shift 2
	record -c 20011 -w 0 -M "${metrics}" perf test -w fnmix 300 && report "$@" &&
	grep -q "^# Overhead ${regex}" "${out}"
}

sampler=cycles/period=20011/
second=instructions/period=20011/
# Each PMU has its own table of functions, and another PMU may lack some.
if ! has_several_core_pmus
then
	check "Diff of two kinds of samples" is_same_twice "{${sampler},${second}}:uS"
	check "Diff of a group behind the same event" is_same_twice \
		"${sampler}u,{${sampler},${second}}:uS"
	check "Diff of two groups with two kinds of samples" is_same_twice \
		"{${sampler},${second}}:uS,{${sampler},${second},page-faults}:uS"
	# The events of this metric have the name of their PMU.
	check "Events with the name of a PMU" has_header ".*page_faults_per_second" \
		page_faults_per_second -M page_faults_per_second
fi

# The samples of other events are part of the table, and have no table. Each core PMU that the
# program ran on has a table.
has_one_table() {
	record -c 20011 -w 0 -M cpi perf test -w fnmix 2000 every 8 && report &&
	[ "$(perf evlist -v -i "${data}" | grep -c 'sample_freq }: ')" -ge \
	  "$((2 * $(grep -c '^# Overhead' "${out}")))" ] && grep -q '[0-9?]  .*fnmix_' "${out}"
}
check "Metrics from samples of instructions" has_one_table

# Functions are estimated with what all others say, those of a hierarchy as well.
# A table leaves out those with few samples, but for -v.
functions() {
	perf fnstat report --ci -v -i "${data}" "$@" 2> "${log}" |
		grep -o '[0-9].*\[\.\] fnmix_[a-z_]*' | tr -s ' ' | sort
}
is_same_in_hierarchy() {
	functions --sort sym > "${out}"
	[ -s "${out}" ] && functions --sort dso,sym --hierarchy | cmp - "${out}"
}
check "A hierarchy with the values of a table" is_same_in_hierarchy

has_events_of_metric() {
	record -c 20011 -w 0 -M ipc true && perf evlist -i "${data}" | grep -q instructions &&
	! perf evlist -i "${data}" | grep -q misses &&
	refuses "Unknown metric 'no-such-metric'" \
		perf fnstat record -M no-such-metric -o "${data}" true &&
	refuses . perf fnstat record -M '' -o "${data}" true
}
check "Events of a metric" has_events_of_metric

# What only happens in the kernel is not counted in user space. Events of no PMU are in the group
# of one core PMU: where the program runs on another, there are samples of cycles alone.
has_no_kernel_counts() {
	record -c 20011 -w 0 -M cpi,cs_per_second perf test -w fnmix 100 &&
	grep -q "Left out, .* --kernel: cs_per_second" "${log}" &&
	! perf evlist -i "${data}" | grep -q context-switches &&
	record -c 20011 -w 0 --counters context-switches,task-clock perf test -w fnmix 100 &&
	report && ! grep -q "cs_per_second" "${out}" && grep -q "fnmix_" "${out}" &&
	{ grep -q "^No metric has these events.*context-switches" "${log}" ||
	  has_several_core_pmus; }
}
check "No counts of the kernel in user space" has_no_kernel_counts

# The ratio of instructions and prefetches, of which the workload has none.
ratio=lpm_swpf_totals_insn_per_pf
has_no_ratio() {
	report -M "${ratio}" && grep -q "^# Overhead .*lpm_swpf" "${out}" &&
	! grep -q "% .* 0\.00 .*fnmix_" "${out}"
}
if ! perf list metric 2> /dev/null | grep -q "${ratio}" ||
   ! record -c 20011 -w 300 -M "${ratio}" perf test -w fnmix 300 ||
   ! perf evlist -i "${data}" | grep -qi "prefetch\|swpf"
then
	skip "No value of a ratio by zero: no such metric"
else
	check "No value of a ratio by zero" has_no_ratio
fi

# Not all of these can be counted together, and each group is complete.
if [ ! -e "${devices}/cpu/events/slots" ]
then
	skip "Several groups of TopDown: no slots"
elif ! run_logged perf fnstat -v record -M TopdownL1,TopdownL2 -o "${data}" true ||
     grep -q "regrouped\|cannot be opened\|will be removed" "${log}"
then
	fail "Several groups of TopDown"
elif ! grep -q "record -e '.*slots.*}:uSX*,{slots" "${log}"
then
	skip "Several groups of TopDown: one has all"
else
	pass "Several groups of TopDown"
fi

# A program that is shorter than an interval has no sample.
short="no sample.*shorter than an interval"
has_no_sample() {
	record -w 0 true &&
	refuses "${short} of 1999700 [a-z0-9_/]*cycles .*others.*-c" \
		perf fnstat report -i "${data}" &&
	refuses "perf.data: There is ${short}" perf fnstat diff "${data}" "${data}" &&
	report --json && grep -q '"events": \[' "${out}"
}
check "A program without a round" has_no_sample

# Threads that are too short for a sample are counted, and what is left is not to be trusted.
# shellcheck disable=SC2016 # bash -c expands it
short_threads=(bash -c 'for i in $(seq 60); do env true; done; perf test -w fnmix 100')
says_short_threads() {
	local said='6[0-9] of 6[0-9] threads, with up to'

	record -c 999700 -w 0 -M cpi "${short_threads[@]}" && report &&
	grep -q "^# ${said} [0-9]* % of the time, ended before their first sample" "${out}" &&
	grep -q "^# All values have a mark" "${out}" &&
	report --json && grep -q "\"${said}" "${out}" && grep -q '"marked": true' "${out}" &&
	! grep -q '"mark": ""' "${out}" &&
	run_logged perf fnstat diff "${data}" "${data}" && grep -q "^${said}" "${log}"
}
check "Threads that end before their first sample" says_short_threads

# A report that names no metric has those that were recorded.
check "All metrics of a recording" has_header ".*CPI .*IPC .*%I " cpi --all
check "One more column" has_header ".*IPC  *Symbol" cpi -F +metric:ipc
check "One more key" has_header ".*Symbol  *IPC" cpi --sort +metric:ipc
if [ -e "${devices}/cpu/events/slots" ]
then
	check "The metrics of a recording" has_header ".*tma_retiring " TopdownL1
else
	skip "The metrics of a recording: no slots"
fi

# remark PERIOD ITERATIONS [OPTIONS...]: print the remark that a recording lacks data
remark() {
	local period=$1 iterations=$2

	shift 2
	record -c "${period}" -w 0 -M cpi perf test -w fnmix "${iterations}" || return
	report "$@" || return
	grep "good CPI" "${out}" || true
}

# is_enough PERIOD ITERATIONS: there is no remark, or none when its advice is followed
is_enough() {
	local said longer

	said=$(remark "$@") || return
	[ -n "${said}" ] || return 0
	longer=$(echo "${said}" | sed -nE 's|.*: record (at least )?([0-9]*) times as long.*|\2|p')
	[ -n "${longer}" ] && [ "${longer}" -le 20 ] &&
	said=$(remark "$1" $(($2 * longer))) && [ -z "${said}" ]
}

says_how_much() {
	local said

	said=$(remark 999700 60) &&
	echo "${said}" | grep -qE '^# [0-9]+ % of the time has no good CPI: record .*\.$' &&
	said=$(remark 999700 60 --comms nobody) && [ -z "${said}" ] && is_enough 49700 300
}
if [ "${exact}" = no ]
then
	skip "How much longer to record: no exact samples"
elif says_how_much
then
	pass "How much longer to record"
elif grep -q "^# Throttled " "${out}"
then
	skip "How much longer to record: throttled"
else
	fail "How much longer to record"
fi

# With call chains, entries have their own metrics, unless the user asks for children.
has_own_metrics() {
	record -c 20011 -g -w 0 -M cpi perf test -w fnmix 300 &&
	report -g none && grep -q "^# Overhead .*CPI" "${out}" &&
	report -g none --children && grep -q "^# Children .*Self .*CPI" "${out}"
}
check "Own metrics, and with children" has_own_metrics

# A recording that was killed does not say which events are a group.
perf fnstat record -c 20011 -w 0 -M cpi -o "${data}" perf test -w noploop 2 > /dev/null 2>&1 &
victim=$!
sleep 0.5
stop -KILL
check "A recording that was killed" refuses "not finished" perf fnstat report -i "${data}"

# Functions that run on a core PMU without the events of a metric must not be missing.
has_all_pmus() {
	record -w 0 -c 20011 -M tma_info_bad_spec_ipmispredict true &&
	grep -q "cpu_atom has none of these metrics" "${log}" &&
	[ "$(perf evlist -i "${data}" 2> "${log}" |
		grep -c '^cpu_atom/cycles,\|^cpu_atom/instructions,')" = 2 ] &&
	run_logged perf fnstat -v record -w 0 -C "$(cut -d, -f1 "${devices}/cpu_core/cpus" |
		cut -d- -f1)" -o "${data}" true &&
	! grep -q "^perf record -e.*cpu_atom/\|regrouped" "${log}"
}
if [ -e "${devices}/cpu_atom" ]
then
	check "A metric of one PMU" has_all_pmus
else
	skip "A metric of one PMU: no cpu_atom"
fi

# counts_or_says_why: record while others hold counters: events are counted, or there is a message
counts_or_says_why() {
	if record -c 20011 -w 0 perf test -w noploop 0.01
	then
		cp "${log}" "${testdir}/said"
		# Another core PMU can have free counters, where the program does not run.
		{ report && grep -q "^# *[0-9.]* .*\[total\]" "${out}"; } ||
		{ grep -q "others hold its counters" "${testdir}/said" &&
		  grep -q "others held the counters" "${log}"; }
	else
		cp "${log}" "${testdir}/said"
		grep -q "others hold" "${log}"
	fi
}

# Hold one more counter each time: there is a message of it at last.
test_busy() {
	local name="Counters that others hold" nr pinned=cycles:D told=0 failed=0

	for nr in $(seq 10)
	do
		perf stat -a -e "${pinned}" -o /dev/null sleep 100 2> /dev/null &
		victim=$!
		sleep 0.2
		counts_or_says_why || failed=${nr}
		stop
		told=$((told + $(grep -c "others hold\|those of others" "${testdir}/said" || true)))
		[ "${failed}" = 0 ] || break
		pinned+=,instructions:D
	done
	if [ "${failed}" = 0 ] && [ "${told}" = 0 ]
	then
		skip "${name}: this CPU has more of them"
	else
		check "${name}" [ "${failed}" = 0 ]
	fi
}
if [ "$(id -u)" = 0 ]
then
	test_busy
else
	skip "Counters that others hold: not root"
fi

record_events cycles/period=20011/u || true
check "Refuse to compare samples without a group" refuses "no metrics" \
	perf diff -c metric:cpi "${data}" "${data}"
check "Refuse samples without a group" refuses . perf fnstat report -i "${data}"

# A group without the event of a metric has no column of it.
has_no_cpi() {
	report -x, && awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) bad += $i == "CPI"; seen = $1 == "Overhead" }
		END { exit bad || !seen }' "${out}"
}
record_events '{instructions/period=20011/,instructions}:uS' || true
check "No metrics without their events" has_no_cpi
check "Refuse an unknown metric" refuses . perf fnstat report -i "${data}" -M no-such-metric

: > "${data}"
check "Refuse an empty file" refuses . perf fnstat report -i "${data}"

end_test
