# SPDX-License-Identifier: GPL-2.0
#
# make demo      record a workload with windows on an emulated machine, and
#                print the metrics of its functions (MACHINES="NAME ...": on these)
# make test      run all tests and checks: "N passed, N failed, N skipped"
#                MACHINES="NAME ..."  those of these machines
#                TEST="NAME[.FILTER] ..."  these tests: a line of a list, or of
#                a selftest those with FILTER in their TAP names, for example
#                TEST=alt_period.cycles.jitter
# make shell     a shell on a test machine: MACHINES=NAME
# make fuzz      throw OPERATIONS= (5000000) random operations with SEED= at the
#                kernels of MACHINES= (arm64-debug: KASAN and lockdep), or with
#                PLAIN=1 operations without alternating periods
# make archs     compile perf core and the PMU drivers for all architectures, or
#                with ARCHS="NAME ..." for these, see scripts/archs.table
# make headline  record a program with a long period, short ones and windows: size of the
#                data, run time, and the error of the table of its functions
# make cost      print what a sample, a context switch and opening an event cost,
#                and how large the structs are, on the base and with the series
# make fixes     run the tests of what is fixed, and of what that may break, on the base
#                and with the series: throttled groups, TopDown, short intervals
# make topdown   print what the text that this began with says of TopDown by RDPMC, and the
#                results of the test of each statement, on the base and with the series
# make truth     record a workload on x86_64-stalls RECORDINGS= (200) times, and print
#                what perf says of its functions, what is true, and how often the
#                confidence intervals have it
# make bench     record real programs on emulated machines and print how wrong the metrics of
#                their functions are, with windows as they were, with sampled events, and
#                with perf fnstat: WHAT=real, PROGRAMS="NAME ..." these, and MACHINES=,
#                MODES="old|events|new|events-cpi|new-cpi ...", INTERRUPTS="NUMBER ..." see scripts/bench-real.sh
# make speed     print the instructions, time and memory of perf report with windows,
#                without, and of the base, for a recording of SAMPLES= (2000000)
# make page      write build/results/page/page.html, what perf fnstat report --html makes of
#                a recording from x86_64-stalls (or with REPORT=FILE of this JSON), check
#                it in Chromium, and take a screenshot
# make drivers   print which drivers ran the tests, from the last results
# make backport  make the 6.12 LTS kernel with patches/backports/6.12 and run its tests, or
#                WHAT=apply|export|check|range-diff|build|results, see scripts/backport.sh
# make newest    print how many patches apply to the newest kernel in Debian's archive
# make deb       build Debian packages of the kernel and of perf in build/deb, with the
#                configuration of the running kernel, or CONFIG=FILE, and
#                LOCALMODCONFIG=1: only the modules that are loaded (or LSMOD=FILE)
# make deb-test  install them on a disk with Debian 12 in QEMU, boot, record, remove them:
#                build/results/deb has what it says; PACKAGES=DIRECTORY tests these
# make robots    run what the kernel's robots and maintainers run on a series, and print a
#                line for each: WHAT="NAME ..." these of scripts/robots.table
# make bisect    prove that each commit compiles without new warnings (W=1,
#                sparse), boots and passes the tests that exist by then
# make qemu      build our QEMU, check its series, and run its own test
#
# make import    make build/linux from the base and patches/
# make export    make patches/ and the plain files from build/linux
# make check     apply, compare and lint the patches
# make mail      write build/mail/TOPIC for git send-email: TOPIC=NAME
#                SIGNOFF='NAME <MAIL>'; man-pages and syzkaller are topics too
#                The first three: TREE=qemu for patches/qemu and build/qemu
# make lint      lint the scripts and the plain files, and test the scripts, in
#                seconds
# make cache     print what is cached, and how large it is
# make clean-cache   remove that
# make clean     remove build/
#
# For all of them:
#   KERNEL_TREE=DIRECTORY  the kernel source tree to use as base, instead of the
#                          Debian package in patches/base.pin
#   JOBS=N                 jobs at the same time (default: as many as CPUs)
#   CMDLINE="OPTION ..."   more options for the kernels of test machines
#   XDG_CACHE_HOME=DIRECTORY  the cache is in perf-windows there (~/.cache)
# With UPDATE_PINS=1, what is downloaded from Debian is pinned to today's versions.
#
# Each target installs what it needs and this machine misses (apt, as root or
# with sudo). Builds leave what they say in build/log.

RESULTS := build/results
TREE ?= linux
export KERNEL_TREE JOBS CMDLINE TEST OPERATIONS SEED PLAIN SIGNOFF UPDATE_PINS XDG_CACHE_HOME \
	CONFIG LOCALMODCONFIG LSMOD
# An empty one would not be the default.
unexport $(foreach name,JOBS XDG_CACHE_HOME,$(if $($(name)),,$(name)))

help:
	@sed -n '2,/^$$/{ s/^#$$//p; s/^# //p }' Makefile | tail -n +2
	@echo 'Machines (machines/NAME.conf, and NAME.tests with its tests):'
	@cd machines && for conf in *.conf; do \
		printf '  %-14s %s\n' $${conf%.conf} \
			"$$(sed -n '1s/^# //p' $$conf)"; \
	done

demo:
	@for machine in $(or $(MACHINES),arm64-up); do \
		results=$(RESULTS)/demo-$$machine; \
		scripts/run.sh $$machine machines/demo.tests $$results || exit; \
		cat $$results/record.tap $$results/report.tap; \
		scripts/summary.sh machines/demo.tests=$$results || exit; \
	done

test:
	@scripts/test.sh $(MACHINES)

shell:
	@scripts/shell.sh $(MACHINES)

archs:
	@scripts/archs.sh $(ARCHS)

headline:
	@scripts/run.sh x86_64-stalls machines/headline.tests $(RESULTS)/headline 1800
	@cat $(RESULTS)/headline/headline.tap
	@scripts/summary.sh machines/headline.tests=$(RESULTS)/headline

fuzz:
	@scripts/fuzz.sh $(MACHINES)

cost:
	@TEST='streams sample_cost' scripts/test.sh arm64-up arm64-base
	@TEST='streams sample_cost' scripts/test.sh x86_64-intel x86_64-base
	@TEST='streams sample_cost' scripts/test.sh x86_64-zen4 x86_64-zen4-base
	@scripts/compare.sh arm64-base arm64-up
	@scripts/compare.sh x86_64-base x86_64-intel
	@scripts/compare.sh x86_64-zen4-base x86_64-zen4
	@scripts/struct-sizes.sh

fixes:
	@scripts/fixes.sh arm64-base arm64-up
	@scripts/fixes.sh x86_64-stalls-base x86_64-stalls

topdown:
	@scripts/topdown.sh

truth:
	@mkdir -p build/lists
	@echo 'truth 3600 /guest/truth.sh $(RECORDINGS)' > build/lists/truth.list
	@scripts/run.sh x86_64-stalls build/lists/truth.list $(RESULTS)/truth 3600
	@cat $(RESULTS)/truth/truth.tap
	@scripts/summary.sh build/lists/truth.list=$(RESULTS)/truth

bench:
	@MACHINES='$(MACHINES)' MODES='$(MODES)' INTERRUPTS='$(INTERRUPTS)' \
		scripts/bench-$(or $(WHAT),real).sh $(PROGRAMS)

speed:
	@scripts/speed.sh $(SAMPLES)

page:
	@scripts/page.sh $(REPORT)

drivers:
	@scripts/drivers.sh

deb:
	@scripts/deb.sh

deb-test:
	@scripts/deb-test.sh $(PACKAGES)

qemu:
	@scripts/series/check.sh qemu
	@scripts/qemu-test.sh

backport:
	@scripts/backport.sh $(or $(VERSION),6.12) $(or $(WHAT),test)

newest:
	@scripts/newest.sh

robots:
	@scripts/robots.sh $(WHAT)

bisect:
	@scripts/bisect.sh

import export check:
	@scripts/series/$@.sh $(TREE)

mail:
	@scripts/series/mail.sh $(TOPIC)

lint:
	@scripts/lint.sh
	@scripts/tests/run.sh

cache:
	@scripts/cache.sh

clean-cache:
	@scripts/cache.sh clean

clean:
	@for tree in build/linux build/qemu; do \
		if [ -d $$tree/.git ] && [ "$$(git -C $$tree config series.head)" != \
			"$$(git -C $$tree rev-parse series)" -o \
			-n "$$(git -C $$tree status --porcelain)" ]; then \
			echo "$$tree has work that is not exported: 'make export" \
				"TREE=$${tree#build/}' first" >&2; \
			exit 1; \
		fi; \
	done
	rm -rf build

.PHONY: help demo test shell archs headline fuzz cost fixes topdown truth bench speed page drivers \
	deb deb-test qemu backport newest robots bisect import export check mail lint cache clean-cache clean
