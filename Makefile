# SPDX-License-Identifier: GPL-2.0
# Entry points of the project; the work is done by scripts/.

ARCH ?= x86_64
FLAVOUR ?= ours
CONFIG_EXTRA ?=
S := scripts
# Targets that serve both architectures do so unless one is named.
ARCHES := $(if $(filter command environment,$(firstword $(origin ARCH))),$(ARCH))
MAKEFLAGS += --no-print-directory
export KSRC QEMU_ACCEL JOBS

.DEFAULT_GOAL := help
.PHONY: help deps tree kernel guest shell run check check-all clients record-clients matrix \
	kselftest kunit abi-diff record-stock bench bench-ext bench-smp boots stress mutants patch docs report qemu-x86 qemu-arm64 \
	deb vm series clean

help:
	@echo 'Targets (options in brackets):'
	@echo '  run          boot x86_64 in QEMU and profile real programs with Debian'\''s perf [FLAVOUR=ours|stock]'
	@echo '  report       a page of figures, charts, the state of features, and the flame graph of make run'
	@echo '  deb          Debian packages of the kernel, x86_64, by Debian'\''s configuration (hours)'
	@echo '               [CONFIG=small: for virtual machines, in minutes]'
	@echo '  vm           a Debian 12 with the small package in it, at its serial line [FLAVOUR=] [PMU=]'
	@echo '  check        everything a change must pass, on x86_64 and arm64; ends with "N passed, N failed"'
	@echo '  check-all    check, then every client, arm64 with ACPI, matrix, stress, other configurations; takes hours'
	@echo '  matrix       compile what uses perf_events in many configurations and architectures'
	@echo '               [CONFIGS="names", see scripts/matrix --list]'
	@echo '  clients      Debian'\''s perf, bpftrace, bpfcc, gdb, stress-ng, PAPI, trinity ... in guests; facts as on stock'
	@echo '               [ARCH=] [FLAVOUR=] [CLIENTS="names"]'
	@echo '  deps         install missing Debian packages (root or sudo)'
	@echo '  tree         assemble build/tree: Linux 6.12 with this repository over it'
	@echo '  kernel       build a kernel, print the image path last'
	@echo '               [ARCH=x86_64|arm64] [FLAVOUR=ours|stock] [CONFIG_EXTRA=FILE with Kconfig lines]'
	@echo '  shell        interactive guest with perf and pfx, and commands to try [ARCH=] [FLAVOUR=]'
	@echo '  kselftest    compile and run the selftests in a guest [ARCH=] [FLAVOUR=] [TESTS="names"]'
	@echo '  kunit        boot kernels with the KUnit tests built in [ARCH=]'
	@echo '  abi-diff     run the ABI sweep on stock and ours, record stock'\''s answers, print differences [ARCH=]'
	@echo '  record-stock record what the stock kernel answers (perf test, base selftests, ABI sweep), both architectures'
	@echo '  record-clients  only what the clients report on the stock kernel [ARCH=] [CLIENTS="names"]'
	@echo '  bench        operation | stock | ours | ratio, in guest instructions [ARCH=]; without ARCH='
	@echo '               it also writes the tables and charts of Documentation/perf_events/benchmark.rst'
	@echo '               [PEER=FOLDER with a newer kernel, to be measured beside the two]'
	@echo '  bench-ext    what the extensions cost, on ours alone [ARCH=]; without ARCH= as above'
	@echo '  bench-smp    interrupts to other CPUs, wall-clock time, and lines of memory that move'
	@echo '               between CPUs, with their table and chart [ARCH=]'
	@echo '  boots        boot both architectures BOOTS=20 times, run perf in each [FLAVOUR=]'
	@echo '  stress       everything at once on 4 CPUs, SECONDS=600 [KERNEL=debug|kcsan] [SEED=]'
	@echo '  mutants      small faults put into the kernel at random: which does no test notice? [ARCH=arm64] [SEED=1] [N=100]'
	@echo '  qemu-x86     build QEMU with an emulated x86 PMU (Debian'\''s source, 3-5 minutes), print its path last;'
	@echo '               then shell and kselftest take PMU=skl|skl2|icl|spr|zen|zen3|zen3-brs|zen4'
	@echo '  qemu-arm64   the same for arm64, whose PMU can interrupt late: PMU=prompt|late|later|late-v8.0|lossy|lossy-v8.0'
	@echo '  patch        this subsystem as one patch against the base, on stdout'
	@echo '  series       the same as a series of patches with a cover letter, in build/series'
	@echo '  docs         build the pages of Documentation/perf_events as HTML and man pages, print the first'
	@echo '  clean        remove build/'
	@echo 'KSRC=/path/to/linux-6.12.y uses another base. QEMU_ACCEL=kvm uses KVM (default: TCG).'
	@echo 'JOBS=N limits parallel compilation.'

deps:
	@$(S)/deps

tree: deps
	@base=$$($(S)/base) && $(S)/assemble "$$base"

kernel: deps
	@if [ '$(FLAVOUR)' = ours ]; then base=$$($(S)/base) && $(S)/assemble "$$base"; fi
	@$(S)/kernel '$(ARCH)' '$(FLAVOUR)' '$(CONFIG_EXTRA)'

guest: deps
	@$(S)/guest '$(ARCH)' >/dev/null

shell: kernel guest
	@$(S)/shell -a '$(ARCH)' -F '$(FLAVOUR)' $(PMU:%=--pmu %)

run:
	@$(S)/demo '$(FLAVOUR)'

report:
	@$(S)/report

deb: tree
	@$(S)/deb '$(or $(CONFIG),full)'

series: deps
	@$(S)/series

vm:
	@$(S)/vm -F '$(FLAVOUR)' $(PMU:%=--pmu %)

check: deps
	@$(S)/check

check-all: deps
	@$(S)/deps python3-sphinx $$($(S)/matrix --packages)
	@$(S)/check --all

matrix: deps
	@$(S)/deps $$($(S)/matrix --packages)
	@$(S)/matrix $(CONFIGS)

clients: deps
	@$(S)/clients $(ARCHES:%=-a %) -F '$(FLAVOUR)' $(CLIENTS)

record-clients: deps
	@$(S)/clients $(ARCHES:%=-a %) --record $(CLIENTS)

kselftest: kernel guest
	@$(S)/kselftest -a '$(ARCH)' -F '$(FLAVOUR)' $(PMU:%=--pmu %) $(TESTS)

kunit: deps
	@$(S)/kunit $(ARCHES)

abi-diff: deps
	@$(S)/abi-diff $(ARCHES)

record-stock: deps
	@$(S)/record-stock $(ARCHES)

bench: deps
	@$(S)/bench $(PEER:%=--peer '%') $(ARCHES)

bench-ext: deps
	@$(S)/bench --ext $(ARCHES)

bench-smp: deps
	@$(S)/bench --smp $(ARCHES)

boots:
	@$(MAKE) kernel guest ARCH=arm64
	@$(MAKE) kernel guest ARCH=x86_64
	@$(S)/boots '$(or $(BOOTS),20)' '$(FLAVOUR)'

mutants: deps
	@$(S)/mutants $(if $(ARCH),-a $(ARCH)) $(if $(SEED),--seed $(SEED)) $(if $(N),-n $(N))

stress: deps
	@$(S)/stress -t '$(or $(SECONDS),600)' -k '$(or $(KERNEL),debug)' $(if $(SEED),-s $(SEED))

qemu-x86: deps
	@$(S)/qemu-x86

qemu-arm64: deps
	@$(S)/qemu-arm64

patch:
	@$(S)/deps >&2
	@base=$$($(S)/base) && $(S)/assemble "$$base" --patch

docs:
	@$(S)/deps python3-sphinx
	@$(S)/docs

clean:
	rm -rf build
