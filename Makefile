# SPDX-License-Identifier: GPL-2.0
# Every target installs what it needs. KERNEL_TREE=DIRECTORY: a kernel source
# tree to use as base instead of the Debian package in patches/base.pin.
#
# make demo      record a workload with windows on an emulated machine, and
#                print the metrics of its functions
# make test      check the series and run all tests, or with MACHINES="NAME ..."
#                those of these machines (arm64 arm64-up arm64-base arm64-hybrid
#                arm64-debug riscv64 x86_64 x86_64-intel x86_64-hybrid
#                x86_64-stalls, see machines)
# make archs     compile perf core and the PMU drivers for all architectures, or
#                with ARCHS="NAME ..." for those of these (see scripts/archs.table)
# make periods   print how data size and throttling depend on the period
# make fuzz      throw OPERATIONS= (5000000) random operations with SEED= at a
#                kernel with KASAN and lockdep, or those of MACHINES="NAME ..."
# make cost      print what a sample, a context switch and opening an event cost,
#                and how large the structs are, on the base and with the series
# make bisect    prove that each commit compiles without new warnings (W=1,
#                sparse), boots and passes the tests that exist by then
# make qemu      build our QEMU, check its series, and run its own test
# make import    make build/linux from the base and patches/
# make export    make patches/ and the plain files from build/linux
# make check     apply, compare and lint the series
# make clean     remove build/

RESULTS := build/results
export KERNEL_TREE

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | tail -n +2

deps:
	@scripts/deps.sh

demo: deps
	@scripts/run.sh arm64-up machines/demo.tests $(RESULTS)/demo
	@cat $(RESULTS)/demo/report.tap
	@scripts/summary.sh machines/demo.tests=$(RESULTS)/demo

test: deps check
	@scripts/test.sh $(MACHINES)

archs: deps
	@scripts/archs.sh $(ARCHS)

periods: deps
	@scripts/run.sh arm64-up machines/periods.tests $(RESULTS)/periods
	@cat $(RESULTS)/periods/periods.tap

fuzz: deps
	@scripts/fuzz.sh $(MACHINES)

cost: deps
	@scripts/test.sh arm64-up arm64-base
	@scripts/struct-sizes.sh

qemu: deps
	@scripts/check-qemu.sh
	@scripts/qemu-test.sh

bisect: deps
	@scripts/bisect.sh

import: deps
	@scripts/import.sh

export:
	@scripts/export.sh

check: deps
	@scripts/check.sh

clean:
	@for tree in build/linux build/qemu; do \
		if [ -d $$tree/.git ] && [ "$$(git -C $$tree config series.head)" != \
			"$$(git -C $$tree rev-parse HEAD)" ]; then \
			echo "$$tree has commits that are not exported: 'make export' or" \
				"scripts/export-qemu.sh first" >&2; \
			exit 1; \
		fi; \
	done
	rm -rf build

.PHONY: help deps demo test archs periods fuzz cost qemu bisect import export check clean
