# SPDX-License-Identifier: GPL-2.0
#
# make demo      record a workload with windows on an emulated machine, and
#                print the metrics of its functions (MACHINES="NAME ...": on these)
# make test      run the checks, and the tests of the machines of CI: "N passed, N failed, N skipped"
#                MACHINES="NAME ..."  those of these machines, or NAME@KERNEL
#                TEST="NAME[.FILTER] ..."  these lines of a machine's list, or of a
#                selftest the tests with FILTER in their TAP names:
#                TEST=alt_period.cycles.jitter
#                build/results/junit.xml has the results as JUnit
# make shell     a shell on a test machine: MACHINES=NAME
#
# make import    make build/linux from the base and patches/
# make export    make patches/ and the plain files from build/linux
# make check     apply, compare and lint the patches
#                import, export, check: TREE=qemu for patches/qemu and build/qemu
# make mail      write build/mail/TOPIC for git send-email: TOPIC=NAME
#                SIGNOFF='NAME <MAIL>'; those of patches/qemu, man-pages and syzkaller too
# make lint      lint the scripts and the plain files, and test the scripts: two minutes
#
# make bench     print evidence: WHAT=, see below
# make verify    prove what takes too long for "make test": WHAT=, see below
# make deb       build Debian packages of the kernel and of perf in build/deb, with the
#                configuration of the running kernel, or CONFIG=FILE, and
#                LOCALMODCONFIG=1: only the modules that are loaded (or LSMOD=FILE)
#                WHAT=perf: of perf alone, for the kernel that runs
# make backport  make the 6.12 LTS kernel with patches/backports/6.12 and run its tests, or
#                WHAT=apply|export|check|range-diff|build|results, see
#                scripts/series/backport.sh
# make clean     remove build/, or WHAT=cache what is cached; WHAT=list prints that
#
# For all of them:
#   KERNEL_TREE=DIRECTORY  the kernel source tree to use as base, instead of the
#                          Debian package in patches/base.pin
#   JOBS=N                 jobs at the same time (default: as many as CPUs)
#   CMDLINE="OPTION ..."   more options for the kernels of test machines
#   RERUN=yes              run test machines even if nothing has changed for them. Default:
#                          take the results of the last run, which repeats to the bit
#   XDG_CACHE_HOME=DIRECTORY  the cache is in perf-windows there (~/.cache)
# With UPDATE_PINS=1, what is downloaded from Debian is pinned to today's versions.
#
# Each target installs what it needs and this machine misses (apt, as root or
# with sudo). Builds leave what they say in build/log.

# What is set on the command line is in the environment of the scripts.
TREE ?= linux

help:
	@sed -n '2,/^$$/{ s/^#$$//p; s/^# //p }' Makefile | tail -n +2
	@for verb in bench verify; do \
		echo "make $$verb WHAT="; sed -n 's/^#   //p' scripts/$$verb/$$verb.sh; echo; \
	done
	@echo 'Machines and kernels, MACHINE@KERNEL (in machines/, and what they run in tests/tests.table):'
	@scripts/run/list-machines.sh

demo test:
	@scripts/run/$@.sh $(MACHINES)

shell:
	@scripts/run/shell.sh $(MACHINES)

import export check:
	@scripts/series/$@.sh $(TREE)

mail:
	@scripts/series/mail.sh $(TOPIC)

lint:
	@scripts/verify/lint.sh
	@tests/host/scripts.sh

bench verify:
	@scripts/$@/$@.sh $(WHAT)

deb:
	@scripts/ship/deb.sh $(WHAT)

backport:
	@scripts/series/backport.sh 6.12 $(or $(WHAT),test)

clean:
	@scripts/make/clean.sh $(or $(WHAT),build)

.PHONY: help demo test shell import export check mail lint bench verify deb backport clean
