# SPDX-License-Identifier: GPL-2.0
#
# For tests of machines with a PMU that this one lacks.

# add_fake_pmu DIR NAME: make a copy of sysfs for SYSFS_PATH that has one more PMU. The caller
# adds the files of this PMU, whose directory is printed.
add_fake_pmu() {
	local devices=bus/event_source/devices file

	mkdir -p "$1/${devices}/$2"
	for file in /sys/* /sys/bus/* /sys/bus/event_source/* "/sys/${devices}"/*
	do
		if [ ! -e "$1${file#/sys}" ]
		then
			ln -s "${file}" "$1${file#/sys}"
		fi
	done
	echo "$1/${devices}/$2"
}

# add_uncore_cycles DIR: the same with an uncore PMU that has cycles, as the DSU of Arm and others.
# Its type is that of another PMU that cannot sample. Return false if there is none.
add_uncore_cycles() {
	local pmu type

	type=$(cat /sys/bus/event_source/devices/{msr,uprobe}/type 2> /dev/null | head -n 1)
	pmu=$(add_fake_pmu "$1" uncore_fake)
	mkdir "${pmu}/format" "${pmu}/events"
	echo 'config:0-63' > "${pmu}/format/event"
	echo 'event=0' > "${pmu}/events/cycles"
	echo 0 > "${pmu}/cpumask"
	echo "${type}" > "${pmu}/type"
	[ -n "${type}" ]
}
