# SPDX-License-Identifier: Apache-2.0
# The front door. Meson does the work, in build/; missing Debian packages are installed first, those
# of the purpose alone (tools/install-deps).
PREFIX ?= /usr/local
# Where an installation is; empty: neither was said.
PLACE = $(if $(filter-out file undefined,$(origin PREFIX) $(origin DESTDIR)),$(DESTDIR)$(abspath $(PREFIX)))

.PHONY: all sim build/oche demo demo-wire check check-full interop interop-bench soak bench bench-incast bench-tcp bench-wire format install uninstall dist deb kit kit-musl coverage clean

all:
	@tools/install-deps build page
	@tools/configure build
	@ninja -C build

# The simulator alone, build/oche, with what it needs installed; where node and npm are, the page of
# oche report, too.
sim build/oche:
	@tools/install-deps sim
	@tools/configure build
	@ninja -C build simulator

# WebSearch traffic at 50 % load on 128 hosts, under DCQCN and under PFC alone.
demo: sim
	@build/oche run scenarios/demo.yaml --compare congestion_control=dcqcn,none

# Debian's ib_write_bw and ib_send_lat, as they are, on the user-space device.
demo-wire:
	@tools/install-deps build wire
	@$(MAKE) --no-print-directory all
	@tools/demo-wire

# Everything that continuous integration runs.
check:
	@tools/install-deps build page test
	@tools/check

# The long form: every random case and every test in every build.
check-full:
	@tools/install-deps build page test test-full
	-@tools/install-deps interop
	@tools/check --full

# Which lines and branches the tests reach, a row a folder (docs/coverage.md): ten minutes.
coverage:
	@tools/install-deps build page test coverage
	@tools/coverage $(COVERAGE)

# Our device and the kernel's soft-RoCE (in a virtual machine) as each other's peers: all pairs, a
# quarter of an hour. And side by side in one machine: eight minutes.
interop interop-bench:
	@tools/install-deps build wire interop
	@$(MAKE) --no-print-directory all
	@ninja -C build tests/interop/verified tests/interop/path
	@tests/interop/soft_roce$(if $(findstring bench,$@),_bench).py build/oche \
	    $(if $(findstring bench,$@),,build/tests/interop/verified build/tests/interop/path --all)

# Endurance: four processes, 64 queue pairs, losses, kills, half an hour. make soak SOAK='--minutes 3'
soak:
	@tools/install-deps build wire
	@$(MAKE) --no-print-directory all
	@ninja -C build tests/interop/soak tests/interop/path
	@tests/interop/soak.py build/oche build/tests/interop/soak --path build/tests/interop/path $(SOAK)

# The simulator and its parts, under four minutes; make bench BENCH=--long: fifteen or more.
bench: all
	@tools/bench $(BENCH)

# Many senders into one slow port, by default and beside other schemes, TCP and the simulator: one
# table, two hours. make bench-incast INCAST='--runs 1 --only default' takes minutes.
bench-incast:
	@tools/install-deps build wire test
	@$(MAKE) --no-print-directory all
	@ninja -C build tests/interop/path
	@tools/bench-incast $(INCAST)

# The wire over loopback beside raw UDP sockets, and what there is without it: one table.
bench-wire:
	@tools/install-deps build wire
	@$(MAKE) --no-print-directory all
	@tools/bench-wire

# TCP sockets beside RDMA on this device, over loopback: DCQCN's Fig 1 as ratios, six minutes.
bench-tcp:
	@tools/install-deps build wire
	@$(MAKE) --no-print-directory all
	@tools/bench-tcp

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install: all
	@meson configure build -Dprefix="$(abspath $(PREFIX))"
	@meson install -C build
	@tools/uninstall --keep build "$(DESTDIR)$(abspath $(PREFIX))"

# A tarball that builds without git, node and npm; packages for Debian.
dist: all
	@tools/make-dist

deb:
	@tools/install-deps build page
	@tools/make-deb

# The kit for CI (docs/ci.md): a tarball that needs nothing but libc. FOLDER: where to put it.
kit:
	@tools/install-deps build
	@tools/configure build
	@ninja -C build kit
	@tools/make-kit build $(FOLDER)

# The same for systems with musl (Alpine).
kit-musl:
	@tools/install-deps build musl
	@tools/configure build
	@ninja -C build ci/oche-static
	@tools/make-kit --musl build $(FOLDER)

# Removes what `make install` with the same PREFIX and DESTDIR has installed, or the last one.
uninstall:
	@tools/uninstall build $(if $(PLACE),"$(PLACE)")

clean:
	@rm -rf build build-*
