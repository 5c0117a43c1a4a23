#!/bin/bash
# perf fnstat tests (exclusive)
# SPDX-License-Identifier: GPL-2.0

# shellcheck disable=SC2154 # testdir and log come from lib/
set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/test_helper.sh
. "${shelldir}"/lib/test_helper.sh
# shellcheck source=lib/fake_pmu.sh
. "${shelldir}"/lib/fake_pmu.sh

data=${testdir}/perf.data
out=${testdir}/report

# Some drivers accept precise_ip and ignore it: samples have PERF_RECORD_MISC_EXACT_IP if they are
# of the place of their event.
exact=no
if perf record -e instructions/period=20011/uP -o "${data}" perf test -w fnmix 100 \
	> /dev/null 2>&1 &&
   perf report -D -i "${data}" 2> /dev/null | grep -q "PERF_RECORD_SAMPLE(IP, 0x4"
then
	exact=yes
fi

has_several_core_pmus() {
	[ "$(find /sys/bus/event_source/devices/*/cpus 2> /dev/null | wc -l)" -gt 1 ]
}

# check_shares NAME: check that the share of instructions of each function in the
# recording is that of the workload, within the precision of sampling
check_shares() {
	if perf test -w fnmix list | grep -q unknown
	then
		skip "$1: unknown number of instructions"
		return
	fi
	if ! perf fnstat report -i "${data}" -x, --ci > "${out}" 2> "${log}"
	then
		fail "$1: report"
		return
	fi
	if perf test -w fnmix list | awk -F '[ ,]' '
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
			if (!sum || !col)
				exit 1
			for (name in insns) {
				want = 100 * insns[name] / sum
				diff = share[name] - want
				if (!(name in share) || diff > 2 || diff < -2 || cpi[name] <= 0) {
					print name ": " share[name] "%, expected " want "%"
					bad = 1
				}
			}
			if (time < 99.5 || time > 100.5) {
				print "all have " time "% of the time"
				bad = 1
			}
			exit bad
		}' - "${out}"
	then
		pass "$1"
	else
		cat "${out}"
		fail "$1"
	fi
}

# check_screen NAME: check that a name of 20 letters fits into 80 columns, that lines above the
# table say what its columns are, and that a cell has an upper end or nothing for what never
# happens, cache misses of nops
check_screen() {
	if perf fnstat report -i "${data}" > "${out}" 2> "${log}" &&
	   awk '/^# Overhead/ {
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
	then
		pass "$1"
	else
		cat "${out}"
		fail "$1"
	fi
}

test_plain_period() {
	if ! perf fnstat record -c 20011 -w 0 -o "${data}" \
		perf test -w fnmix 5000 2> "${log}"
	then
		fail "Record a plain period"
		return
	fi
	check_shares "Report of a plain period"
	test_columns
	# Late samples have wide intervals, so no colour.
	if [ "${exact}" = yes ]
	then
		test_thresholds
	fi
}

test_windows() {
	if ! perf fnstat record -c 19700 -w 300 --jitter 2000 -o "${data}" \
		perf test -w fnmix 5000 2> "${log}"
	then
		if grep -q "does not support alternating or jittered" "${log}"
		then
			skip "Report of windows: no alternating periods"
		else
			fail "Record windows"
		fi
		return
	fi
	check_shares "Report of windows"
	test_thresholds
	check_screen "Names within 80 columns, and no value of what did not happen"
}

# test_refused NAME OPTIONS...: check that a report fails with a message
test_refused() {
	local what=$1

	shift
	if perf fnstat report "$@" > /dev/null 2> "${log}" || [ ! -s "${log}" ]
	then
		fail "Refuse ${what}"
	else
		pass "Refuse ${what}"
	fi
}

# test_no_cycles: check that a clock serves where there are no cycles, with a warning
test_no_cycles() {
	if perf fnstat record -c 200000 -o "${data}" perf test -w fnmix 300 > "${log}" 2>&1 &&
	   grep -q "does not count cycles" "${log}" &&
	   perf fnstat report -i "${data}" 2> "${log}" | grep -q '%.* fnmix_' &&
	   perf fnstat record -o "${data}" dd if=/dev/zero of=/dev/null bs=512 count=300000 \
		> "${log}" 2>&1 &&
	   perf fnstat report -i "${data}" > "${out}" 2> "${log}" &&
	   grep -q '^# [0-9]* % of the time was in the kernel' "${out}" &&
	   ! grep -q "of what was counted" "${out}"
	then
		pass "A clock instead of cycles"
	elif grep -qi "permission\|paranoid" "${log}"
	then
		skip "A clock instead of cycles: no permission"
	else
		fail "A clock instead of cycles"
	fi
	if perf fnstat record -M cpi -o "${data}" true > /dev/null 2> "${log}" ||
	   ! grep -q "does not count cycles" "${log}"
	then
		fail "No metrics of a clock"
	else
		pass "No metrics of a clock"
	fi
}

# test_no_cycles_in: check what perf fnstat diff says of a clock, and of a user who may not count
# the kernel
test_no_cycles_in() {
	if perf fnstat diff -M cpi,ipc "${data}" "${data}" > /dev/null 2> "${log}" ||
	   ! grep -q "compares one metric, and 'cpi,ipc' is a list" "${log}"
	then
		fail "No diff of two metrics"
	else
		pass "No diff of two metrics"
	fi
	if perf fnstat diff "${data}" "${data}" > /dev/null 2> "${log}" ||
	   ! grep -q "does not count cycles" "${log}"
	then
		fail "No diff of a clock"
	else
		pass "No diff of a clock"
	fi
	if perf fnstat report -i "${data}" 2> "${log}" | grep -q "total"
	then
		fail "No total without metrics"
	else
		pass "No total without metrics"
	fi
}

# test_no_windows: check that samples serve where there are no windows
test_no_windows() {
	if perf fnstat record -c 19700 -o "${data}" perf test -w fnmix 5000 > "${log}" 2>&1 &&
	   grep -q "no windows" "${log}"
	then
		check_shares "Samples instead of windows"
	else
		fail "Samples instead of windows"
	fi
	# Windows that the user asks for are not replaced.
	if perf fnstat record -w 300 -o "${data}" true > /dev/null 2> "${log}" || [ ! -s "${log}" ]
	then
		fail "No windows of a length that is given"
	else
		pass "No windows of a length that is given"
	fi
}

# Without a PMU perf record replaces cycles by a clock event, or fails.
if ! perf record -e '{cycles/period=20011/,instructions}:uS' -o "${data}" \
	perf test -w fnmix 100 > /dev/null 2>&1 ||
   perf evlist -v -i "${data}" | grep -q "PERF_COUNT_SW_.*_CLOCK"
then
	test_no_cycles
	test_no_cycles_in
	skip "Windows: cycles cannot be sampled"
	end_test
fi

# A kernel or a PMU without windows: all other tests need them.
if ! run_logged perf record -e cycles/period=999700,alt-period=300/u -o "${data}" true
then
	test_no_windows
	end_test
fi

# test_events NAME REGEX OPTIONS...: check the events that perf record gets
test_events() {
	local what=$1 regex=$2

	shift 2
	perf fnstat -v record --counters instructions -o "${data}" "$@" true > "${log}" 2>&1 || true
	if grep -qE -- "${regex}" "${log}"
	then
		pass "${what}"
	else
		fail "${what}"
	fi
}
test_events "Long intervals are jittered" \
	"cycles/period=1999700,alt-period=300,period-jitter=199970,alt-period-jitter=200/" -w 300
test_events "User space by default" "}:uS'"
test_events "Kernel, after an option of perf record" "cycles/period=1999700[,/].*}:S'" -a --kernel
test_events "Kernel alone" "cycles/period=1999700[,/].*}:S'" --all-kernel
test_events "Period, after an option of perf record" "period=100000,alt-period=[1-9]" \
	-a -c 100000 -w 300
test_events "Frequency" "cycles/freq=500,alt-period=[1-9][0-9]*,alt-period-jitter=[1-9]" \
	-F 500 -w 300
# The length is that without branch stacks, and what an interrupt adds.
length="[3-9][0-9][0-9],period-jitter=199970,alt-period-jitter=200"
if [ "${exact}" = no ]
then
	length="[1-9][0-9]*,period-jitter=199970,alt-period-jitter=[1-9][0-9]*"
fi
test_events "Windows beside branch stacks of the user" \
	"cycles/period=1999700,alt-period=${length}/" --call-graph=lbr
test_events "Highest frequency" \
	"cycles/freq=$(($(cat /proc/sys/kernel/perf_event_max_sample_rate) / 2))," -F max
test_events "No frequency" "a number above 0, or max" -F 5x
test_events "Frequency or period" "exclude each other" -F 500 -c 100000
test_events "Metrics or counters" "exclude each other" -M cpi --counters instructions
test_events "A cut name" "cycles/freq=500," --fre 500
test_events "A cut name of fnstat" "Ambiguous option" --win 100
test_events "A cut name of both" "could be --kernel.* or --kernel" --kern
test_events "A cut name of perf record" "period=100000,alt-period" --outp "${data}" -c 100000 \
	-w 300
test_events "Several letters" "period=100000,alt-period" -aqo "${data}" -c 100000 -w 300
test_events "Several letters, one of fnstat" "cycles/freq=500,[^/]*/.*" -gF500
test_events "More samples than the kernel takes" "at most [0-9]* samples" -F 100000000
test_events "A window as long as the long interval" "not shorter than the interval before it" \
	-c 20000 -w 20000
test_events "No number" "expects a numerical value" -w 12x

# add_offline_pmu DIR: make a copy of sysfs that has one more core PMU, without an online CPU
add_offline_pmu() {
	local other pmu

	for other in /sys/bus/event_source/devices/*
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

# test_fake_pmu NAME: check that the events and windows are those without this PMU
test_fake_pmu() {
	if SYSFS_PATH=${testdir}/sysfs perf fnstat -v record -c 99700 -M cpi -o "${data}" \
		perf test -w fnmix 300 > "${log}" 2>&1 &&
	   grep -qE "cycles[/,]period=99700,(alt-period=[1-9]|.*branch_type=any)" "${log}" &&
	   ! perf evlist -i "${data}" | grep -q _fake
	then
		pass "$1"
	else
		fail "$1"
	fi
	rm -rf "${testdir}/sysfs"
}
if add_uncore_cycles "${testdir}/sysfs"
then
	test_fake_pmu "An uncore PMU has cycles, too"
else
	skip "An uncore PMU has cycles, too: no PMU that does not sample"
	rm -rf "${testdir}/sysfs"
fi
add_offline_pmu "${testdir}/sysfs"
SYSFS_PATH=${testdir}/sysfs test_events "An event of a core PMU whose CPUs are offline" \
	"all CPUs of offline_fake, .* are offline" --counters offline_fake/instructions/
test_fake_pmu "A core PMU whose CPUs are offline"

# test_reason NAME REGEX OPTIONS...: check that a refusal has the right reason
test_reason() {
	local what=$1 regex=$2

	shift 2
	if run_logged perf fnstat record -o "${data}" "$@" true ||
	   ! grep -q "${regex}" "${log}" || grep -q "Left out\|none of these" "${log}"
	then
		fail "${what}"
	else
		pass "${what}"
	fi
}
test_reason "Too much jitter" "refuses these alternating or jittered periods" --jitter 9999999
test_reason "Too much jitter, with metrics" "refuses these alternating or jittered periods" \
	-M cpi --jitter 9999999

# test_no_kernel: check the message for a user who may not count the kernel
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
	taskset -c "${cpu}" perf fnstat -v record --counters instructions -c 99700 -w 0 \
		-o "${data}" true 2>&1 | sed -n 's|.*instructions/freq=\([0-9]*\).*|\1|p'
}

# A task that shares the CPU gets as many samples in its own time.
test_busy_cpu() {
	local cpu alone shared

	if ! command -v taskset > /dev/null
	then
		skip "A frequency on a busy CPU: there is no taskset"
		return
	fi
	cpu=$(first_cpu "$(cat /sys/devices/system/cpu/online)")
	alone=$(sampled_freq)
	taskset -c "${cpu}" perf test -w noploop 20 &
	victim=$!
	shared=$(sampled_freq)
	kill "${victim}"
	wait "${victim}" 2> /dev/null || true
	check "A frequency on a busy CPU" [ "$((shared * 4))" -gt "$((alone * 3))" ]
}
test_busy_cpu

# completes WORD... : print the proposals of the shell for the last word
completes() {
	bash -c '. "$0"
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_perf
		echo "${COMPREPLY[*]}"' "${completion}" "$@" 2> "${log}"
}

test_completion() {
	local completion=${shelldir}/../../perf-completion.sh

	[ -e "${completion}" ] || completion=/etc/bash_completion.d/perf
	if [ ! -e "${completion}" ]
	then
		skip "Completion: no ${completion}"
	elif [ "$(completes perf fnstat re)" = "record report" ] &&
	     [ "$(completes perf fnstat record -F 99 --win)" = "--window --window-jitter --windows" ] &&
	     [ "$(completes perf fnstat record --call-g)" = "--call-graph" ] &&
	     [ "$(completes perf fnstat report --call-g)" = "--call-graph" ] &&
	     [ "$(completes perf fnstat diff --met)" = "--metrics" ] &&
	     [ "$(completes perf record --win)" = "--windows" ]
	then
		pass "Completion"
	else
		fail "Completion"
	fi
}
test_completion

# The kernel would refuse so many samples. There are none if they are late, and windows.
sampled="freq=[0-9]*/P"
if [ "${exact}" = no ]
then
	sampled=""
fi
test_events "Each event samples" "instructions${sampled:+/${sampled}}}" -c 1000 -w 300
test_events "Each event samples without windows" "instructions/freq=[0-9]*/P}" -c 1000 -w 0
# There are no samples of this event to be used with branch stacks.
test_events "Events with terms and modifiers" \
	"alt-period=[^/]*/,instructions/name=x${sampled:+,${sampled}}.*,page-faults:u}" \
	--counters instructions/name=x/,page-faults:u

# What an interrupt adds to windows is found from instructions: each group counts them.
test_events "Instructions in each group with windows" \
	"alt-period=[^/]*/,page-faults[^,]*,instructions}:uS'" --counters page-faults \
	-w 300
test_events "No instructions without windows" "page-faults[^,]*}:uS'" --counters page-faults -w 0

# test_columns: check that the order of the fields is that of the entries
test_columns() {
	if perf fnstat report -i "${data}" -F metric:cpi,overhead,sym -t , --ci 2> "${log}" |
		awk -F, '/fnmix_/ && $1 != "" {
				nr++
				if (nr > 1 && $1 > last)
					exit failed = 1
				last = $1 + 0
			}
			END { exit failed || nr < 2 }'
	then
		pass "Sort by the first field"
	else
		fail "Sort by the first field"
	fi
}

# is_marked FILE: true if much was throttled, so that all values of a recording have a mark
is_marked() {
	perf fnstat report -i "$1" 2> "${log}" | grep -q "^# All values have a mark"
}

# test_thresholds: check that a metric below its threshold of 1 is red, that others are green,
# and that those with a mark have no colour
test_thresholds() {
	if is_marked "${data}"
	then
		skip "Colours of thresholds: throttled"
	elif perf fnstat report -i "${data}" --stdio --stdio-color=always \
		-F metric:insn_per_cycle,sym > "${out}" 2> "${log}" &&
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
		END { exit bad || !coloured }' "${out}" &&
	   ! perf fnstat report -i "${data}" -x, -F metric:insn_per_cycle,sym 2> "${log}" |
		grep -q "$(printf '\033')"
	then
		pass "Colours of thresholds"
	else
		cat -v "${out}"
		fail "Colours of thresholds"
	fi
}

# first_number KEY: print the first number of this member in the report
first_number() {
	grep -oE "\"$1\": \[?[0-9]+" "${out}" | head -n 1 | grep -oE '[0-9]+$' || true
}

# test_files NAME OPTIONS...: check that the counts of each file are those of its own time
test_files() {
	local name=$1 nr=0 file period total

	shift
	rm -f "${data}".[0-9]*
	if ! perf fnstat record -c 19700 -M cpi -o "${data}" "$@" \
		perf test -w fnmix 5000 > "${log}" 2>&1
	then
		fail "${name}: record"
		return
	fi
	for file in "${data}".[0-9]*
	do
		perf fnstat report -i "${file}" --json > "${out}" 2> "${log}" || true
		period=$(first_number period)
		total=$(first_number totals)
		# The program can end before the last file has a sample.
		if [ -z "${period}" ]
		then
			continue
		fi
		if [ "$((total * 5))" -lt "$((period * 4))" ] ||
		   [ "$((total * 4))" -gt "$((period * 5))" ] ||
		   ! grep -q '"contradicted": false' "${out}"
		then
			echo "samples of ${period} cycles of ${total}" >> "${log}"
			fail "${name}: ${file}"
			return
		fi
		nr=$((nr + 1))
	done
	check "${name}" [ "${nr}" -ge 3 ]
}
test_files "Files of --switch-output add up" --switch-output=200K

test_refused "an unknown attribution" -i "${data}" --attribution=none
test_plain_period
test_windows

# test_own_options: check that an option of fnstat can stand after one of perf record
test_own_options() {
	if perf fnstat record -o "${data}" -c 20011 -q -w 0 --no-buildid \
		perf test -w fnmix 100 -c 5 2> "${log}"
	then
		fail "Options of the workload are left to it"
	elif perf fnstat record -o "${data}" -q --window 0 -c 20011 \
		perf test -w fnmix 100 2> "${log}" &&
	     perf evlist -v -i "${data}" | grep -q "sample_freq }: 20011"
	then
		pass "Options at any place"
	else
		fail "Options at any place"
	fi
}
test_own_options

# diff_stars FILE FILE: print how many functions have a share of instructions in both files,
# and how many of them differ significantly
diff_stars() {
	perf diff -c metric:instructions-share --sort sym -t , "$1" "$2" 2> "${log}" |
		awk -F, '/fnmix_/ && $6 != "" { nr++; stars += $7 == "*" }
			END { print nr + 0, stars + 0 }'
}

test_diff() {
	local nr stars cpu

	# Recordings from core PMUs of two kinds have no event in common.
	if ! command -v taskset > /dev/null
	then
		skip "Differences: there is no taskset"
		return
	fi
	cpu=$(first_cpu "$(cat /sys/devices/system/cpu/online)")
	if ! taskset -c "${cpu}" perf fnstat record -c 9700 -w 300 -o "${data}" \
		perf test -w fnmix 1000 2> "${log}" ||
	   ! taskset -c "${cpu}" perf fnstat record -c 9700 -w 300 -o "${data}.2" \
		perf test -w fnmix 1000 every 8 2> "${log}"
	then
		if grep -q "does not support alternating or jittered" "${log}"
		then
			skip "Differences: no alternating periods"
		else
			fail "Record for a comparison"
		fi
		return
	fi
	if is_marked "${data}" || is_marked "${data}.2"
	then
		skip "Differences: throttled"
		return
	fi
	read -r nr stars <<< "$(diff_stars "${data}" "${data}")"
	if [ "${nr}" -ge 5 ] && [ "${stars}" -eq 0 ]
	then
		pass "No difference of a recording from itself"
	else
		fail "No difference of a recording from itself"
	fi
	# The other program has the same functions, and more.
	read -r nr stars <<< "$(diff_stars "${data}" "${data}.2")"
	if [ "${nr}" -ge 5 ] && [ "${stars}" -ge 3 ]
	then
		pass "Differences of two programs"
	else
		echo "${nr} functions, ${stars} differ"
		fail "Differences of two programs"
	fi
	if perf fnstat diff -s sym "${data}" -M instructions-share "${data}.2" 2> "${log}" |
		grep -q '[0-9]\*  \[.\] fnmix_' &&
	   perf fnstat diff "${data}" "${data}.2" 2> "${log}" | grep -q '^# Baseline  *Base cpi'
	then
		pass "Differences by perf fnstat"
	else
		fail "Differences by perf fnstat"
	fi
	rm -f "${data}.2"
}
test_diff

# test_diff_self NAME EVENTS: compare a recording with itself: each function has the same CPI
# twice, and all together that of the report
test_diff_self() {
	local what=$1 events=$2 all

	if ! perf record -o "${data}" -e "${events}" perf test -w fnmix 2000 every 8 \
		> "${log}" 2>&1
	then
		cat "${log}"
		fail "Record ${what}"
		return
	fi
	all=$(timeout 60 perf report --fnstat -F metric:cpi,windows -s dso -d perf -q -t , \
		-i "${data}" 2> "${log}" | awk -F, '/^[0-9]/ { print $1; exit }')
	if perf diff -c metric:cpi --sort sym -t , "${data}" "${data}" 2> "${log}" |
		awk -F, '/fnmix_/ { nr += $2 ~ /^[0-9]/; if ($2 != $4) { print; bad = 1 } }
			END { exit bad || nr < 5 }' &&
	   [ -n "${all}" ] &&
	   [ "$(perf diff -c metric:cpi --sort dso -d perf -t , -q "${data}" "${data}" \
		2> "${log}" | awk -F, '{ print $2; exit }')" = "${all}" ]
	then
		pass "${what}"
	else
		echo "all: ${all}"
		fail "${what}"
	fi
}

# test_header NAME REGEX METRICS [OPTIONS...]: record METRICS, and find REGEX in the header of a
# report with OPTIONS
test_header() {
	local what=$1 regex=$2 metrics=$3

	shift 3
	if perf fnstat record -c 20011 -w 0 -M "${metrics}" -o "${data}" perf test -w fnmix 300 \
		> /dev/null 2> "${log}" &&
	   perf fnstat report "$@" -i "${data}" 2> "${log}" | grep -q "^# Overhead ${regex}"
	then
		pass "${what}"
	else
		cat "${log}"
		fail "${what}"
	fi
}

sampler=cycles/period=20011/
second=instructions/period=20011/
# Each PMU has its own table of functions, and another PMU may lack some.
if ! has_several_core_pmus
then
	test_diff_self "Diff of two kinds of samples" "{${sampler},${second}}:uS"
	test_diff_self "Diff of a group behind the same event" \
		"${sampler}u,{${sampler},${second}}:uS"
	test_diff_self "Diff of two groups with two kinds of samples" \
		"{${sampler},${second}}:uS,{${sampler},${second},page-faults}:uS"

	# The events of this metric have the name of their PMU.
	test_header "Events with the name of a PMU" ".*page_faults_per_second" \
		page_faults_per_second -M page_faults_per_second
fi

# The samples of other events are part of the table, and have no table. Each core PMU that the
# program ran on has a table.
if perf fnstat record -c 20011 -w 0 -M cpi -o "${data}" perf test -w fnmix 2000 every 8 2> "${log}" &&
   perf fnstat report -i "${data}" > "${out}" 2> "${log}" &&
   [ "$(perf evlist -v -i "${data}" | grep -c 'sample_freq }: ')" -ge \
     "$((2 * $(grep -c '^# Overhead' "${out}")))" ] && grep -q '[0-9?]  .*fnmix_' "${out}"
then
	pass "Metrics from samples of instructions"
else
	cat "${out}"
	fail "Metrics from samples of instructions"
fi

# Functions are estimated with what all others say, those of a hierarchy as well.
functions() {
	perf fnstat report --ci -i "${data}" "$@" 2> "${log}" |
		grep -o '[0-9].*\[\.\] fnmix_[a-z_]*' | tr -s ' ' | sort
}
functions --sort sym > "${out}"
if [ -s "${out}" ] && [ "$(functions --sort dso,sym --hierarchy)" = "$(cat "${out}")" ]
then
	pass "A hierarchy with the values of a table"
else
	cat "${out}"
	fail "A hierarchy with the values of a table"
fi

# The events of a metric, and an unknown one.
if perf fnstat record -c 20011 -w 0 -M ipc -o "${data}" true > /dev/null 2> "${log}" &&
   perf evlist -i "${data}" | grep -q instructions &&
   ! perf evlist -i "${data}" | grep -q misses &&
   ! perf fnstat record -M no-such-metric -o "${data}" true > /dev/null 2> "${log}" &&
   grep -q "Unknown metric 'no-such-metric'" "${log}" &&
   ! perf fnstat record -M '' -o "${data}" true > /dev/null 2> "${log}" && [ -s "${log}" ]
then
	pass "Events of a metric"
else
	cat "${log}"
	fail "Events of a metric"
fi

# What only happens in the kernel is not counted in user space. Events of no PMU are in the group
# of one core PMU: where the program runs on another, there are samples of cycles alone.
if run_logged perf fnstat record -c 20011 -w 0 -M cpi,cs_per_second -o "${data}" \
	perf test -w fnmix 100 && grep -q "Left out, .* --kernel: cs_per_second" "${log}" &&
   ! perf evlist -i "${data}" | grep -q context-switches &&
   run_logged perf fnstat record -c 20011 -w 0 --counters context-switches,task-clock \
	-o "${data}" perf test -w fnmix 100 &&
   perf fnstat report -i "${data}" > "${out}" 2> "${log}" && ! grep -q "cs_per_second" "${out}" &&
   grep -q "fnmix_" "${out}" &&
   { grep -q "^No metric has these events.*context-switches" "${log}" || has_several_core_pmus; }
then
	pass "No counts of the kernel in user space"
else
	cat "${out}" "${log}"
	fail "No counts of the kernel in user space"
fi

# The ratio of instructions and prefetches, of which the workload has none.
if ! perf list metric 2> /dev/null | grep -q lpm_swpf_totals_insn_per_pf ||
   ! run_logged perf fnstat record -c 20011 -w 300 -M lpm_swpf_totals_insn_per_pf -o "${data}" \
	perf test -w fnmix 300 || ! perf evlist -i "${data}" | grep -qi "prefetch\|swpf"
then
	skip "No value of a ratio by zero: no such metric"
elif perf fnstat report -i "${data}" -M lpm_swpf_totals_insn_per_pf > "${out}" 2> "${log}" &&
     grep -q "^# Overhead .*lpm_swpf" "${out}" && ! grep -q "% .* 0\.00 .*fnmix_" "${out}"
then
	pass "No value of a ratio by zero"
else
	cat "${out}" "${log}"
	fail "No value of a ratio by zero"
fi

# Not all of these can be counted together, and each group is complete.
if [ ! -e /sys/bus/event_source/devices/cpu/events/slots ]
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
if perf fnstat record -w 0 -o "${data}" true > /dev/null 2>&1 &&
   ! perf fnstat report -i "${data}" > "${out}" 2> "${log}" &&
   grep -q "no sample.*shorter than an interval of 1999700 [a-z0-9_/]*cycles .*others.*-c" "${log}" &&
   ! run_logged perf fnstat diff "${data}" "${data}" &&
   grep -q "perf.data: There is no sample.*shorter than an interval" "${log}" &&
   perf fnstat report --json -i "${data}" 2> "${log}" | grep -q '"events": \['
then
	pass "A program without a round"
else
	cat "${out}" "${log}"
	fail "A program without a round"
fi

# Threads that are too short for a sample are counted, and what is left is not to be trusted.
# shellcheck disable=SC2016 # bash -c expands it
short=(bash -c 'for i in $(seq 60); do env true; done; perf test -w fnmix 100')
said='^# 6[0-9] of 6[0-9] threads, with up to [0-9]+ % of the time, ended before their first sample'
if perf fnstat record -c 999700 -w 0 -M cpi -o "${data}" "${short[@]}" > /dev/null 2> "${log}" &&
   perf fnstat report -i "${data}" > "${out}" 2> "${log}" && grep -qE "${said}" "${out}" &&
   grep -q "^# All values have a mark" "${out}" &&
   perf fnstat report --json -i "${data}" 2> "${log}" | tee -a "${out}" |
	grep -q '"60*[0-9] of 6[0-9] threads, with up to' &&
   grep -q '"marked": true' "${out}" && ! grep -q '"mark": ""' "${out}" &&
   run_logged perf fnstat diff "${data}" "${data}" &&
   grep -q '^6[0-9] of 6[0-9] threads, with up to' "${log}"
then
	pass "Threads that end before their first sample"
else
	cat "${out}" "${log}"
	fail "Threads that end before their first sample"
fi

# A report that names no metric has those that were recorded.
test_header "All metrics of a recording" ".*CPI .*IPC .*%I " cpi --all
test_header "One more column" ".*IPC  *Symbol" cpi -F +metric:ipc
if [ -e /sys/bus/event_source/devices/cpu/events/slots ]
then
	test_header "The metrics of a recording" ".*tma_retiring " TopdownL1
else
	skip "The metrics of a recording: no slots"
fi

# remark PERIOD ITERATIONS [OPTIONS...]: print the remark that a recording lacks data
remark() {
	local period=$1 iterations=$2

	shift 2
	perf fnstat record -c "${period}" -w 0 -M cpi -o "${data}" perf test -w fnmix "${iterations}" \
		> /dev/null 2> "${log}"
	perf fnstat report -i "${data}" "$@" 2> "${log}" | grep "good CPI"
}
# is_enough PERIOD ITERATIONS: there is no remark, or none when its advice is followed
is_enough() {
	local said longer

	said=$(remark "$@")
	if [ -z "${said}" ]
	then
		return 0
	fi
	echo "${said}" >> "${out}"
	longer=$(echo "${said}" | sed -nE 's|.*: record (at least )?([0-9]*) times as long.*|\2|p')
	[ -n "${longer}" ] && [ "${longer}" -le 20 ] &&
		! remark "$1" $(($2 * longer)) >> "${out}"
}
if [ "${exact}" = no ]
then
	skip "How much longer to record: no exact samples"
elif remark 999700 60 > "${out}" &&
   grep -qE '^# [0-9]+ % of the time has no good CPI: record .*\.$' "${out}" &&
   ! remark 999700 60 --comms nobody >> "${out}" &&
   is_enough 49700 300
then
	pass "How much longer to record"
else
	cat "${out}"
	fail "How much longer to record"
fi

# With call chains, entries have their own metrics, unless the user asks for children.
if perf fnstat record -c 20011 -g -w 0 -M cpi -o "${data}" perf test -w fnmix 300 \
	> /dev/null 2>&1 &&
   perf fnstat report -g none -i "${data}" 2> "${log}" | grep -q "^# Overhead .*CPI" &&
   perf fnstat report -g none --children -i "${data}" 2> "${log}" |
	grep -q "^# Children .*Self .*CPI"
then
	pass "Own metrics, and with children"
else
	cat "${log}"
	fail "Own metrics, and with children"
fi

# A recording that was killed does not say which events are a group.
perf fnstat record -c 20011 -w 0 -M cpi -o "${data}" perf test -w noploop 2 > /dev/null 2>&1 &
victim=$!
sleep 0.5
kill -KILL "${victim}"
wait "${victim}" 2> /dev/null || true
if perf fnstat report -i "${data}" > /dev/null 2> "${log}" || ! grep -q "not finished" "${log}"
then
	cat "${log}"
	fail "A recording that was killed"
else
	pass "A recording that was killed"
fi

# Functions that run on a core PMU without the events of a metric must not be missing.
if [ ! -e /sys/bus/event_source/devices/cpu_atom ]
then
	skip "A metric of one PMU: no cpu_atom"
elif run_logged perf fnstat record -w 0 -c 20011 -M tma_info_bad_spec_ipmispredict -o "${data}" \
	true && grep -q "cpu_atom has none of these metrics" "${log}" &&
     [ "$(perf evlist -i "${data}" 2> "${log}" |
	grep -c '^cpu_atom/cycles,\|^cpu_atom/instructions,')" = 2 ] &&
     run_logged perf fnstat -v record -w 0 -C "$(cut -d, -f1 \
	/sys/bus/event_source/devices/cpu_core/cpus | cut -d- -f1)" -o "${data}" true &&
     ! grep -q "^perf record -e.*cpu_atom/\|regrouped" "${log}"
then
	pass "A metric of one PMU"
else
	cat "${log}"
	fail "A metric of one PMU"
fi

# test_busy: check that where others hold counters, events are counted, or there is a message
test_busy() {
	local what="Counters that others hold" nr pinned=cycles:D told=0 bad=

	for nr in $(seq 10)
	do
		perf stat -a -e "${pinned}" -o /dev/null sleep 100 2> /dev/null &
		victim=$!
		sleep 0.2
		if perf fnstat record -c 20011 -w 0 -o "${data}" perf test -w noploop 0.01 \
			> /dev/null 2> "${log}"
		then
			perf fnstat report -i "${data}" > "${out}" 2>&1 &&
			grep -q "^# *[0-9.]* .*\[total\]" "${out}" ||
				bad+=" ${nr}: no report;"
		else
			grep -q "others hold" "${log}" || bad+=" ${nr}: no reason;"
		fi
		if grep -q "others hold\|those of others" "${log}"
		then
			told=$((told + 1))
		fi
		kill "${victim}"
		wait "${victim}" 2> /dev/null || true
		pinned+=,instructions:D
	done
	if [ -z "${bad}" ] && [ "${told}" -gt 0 ]
	then
		pass "${what}"
	elif [ -z "${bad}" ]
	then
		skip "${what}: this CPU has more of them"
	else
		echo "told ${told} times;${bad}"
		cat "${log}" "${out}"
		fail "${what}"
	fi
}
if [ "$(id -u)" = 0 ]
then
	test_busy
else
	skip "Counters that others hold: not root"
fi

perf record -e cycles/period=20011/u -o "${data}" true > /dev/null 2>&1
if perf diff -c metric:cpi "${data}" "${data}" > /dev/null 2> "${log}" ||
   ! grep -q "no metrics" "${log}"
then
	fail "Refuse to compare samples without a group"
else
	pass "Refuse to compare samples without a group"
fi
test_refused "samples without a group" -i "${data}"

# A group without the event of a metric has no column of it.
perf record -e '{instructions/period=20011/,instructions}:uS' -o "${data}" \
	perf test -w fnmix 100 > /dev/null 2>&1
if perf fnstat report -i "${data}" -x, 2> "${log}" | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) bad += $i == "CPI"; seen = $1 == "Overhead" }
	END { exit bad || !seen }'
then
	pass "No metrics without their events"
else
	fail "No metrics without their events"
fi
test_refused "an unknown metric" -i "${data}" -M no-such-metric

: > "${data}"
test_refused "an empty file" -i "${data}"

end_test
