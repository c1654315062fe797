# SPDX-License-Identifier: Apache-2.0
# The front door. Meson does the work, in build/; missing Debian packages are installed first, those
# of the purpose alone (tools/install-deps).
PREFIX ?= /usr/local

.PHONY: all demo demo-wire check check-full bench bench-wire format install uninstall dist deb clean

all:
	@tools/install-deps build page
	@[ -f build/build.ninja ] || meson setup build
	@ninja -C build

# WebSearch traffic at 50 % load on 128 hosts, under DCQCN and under PFC alone.
# Installs and builds only what the simulator needs.
demo:
	@tools/install-deps build
	@[ -f build/build.ninja ] || meson setup build
	@ninja -C build oche
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
	@tools/install-deps build page test
	@tools/check --full

bench: all
	@tools/bench

# The wire over loopback beside raw UDP sockets, and what there is without it: one table.
bench-wire:
	@tools/install-deps build wire
	@$(MAKE) --no-print-directory all
	@tools/bench-wire

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install: all
	@meson configure build -Dprefix="$(abspath $(PREFIX))"
	@meson install -C build

# A tarball that builds without git, node and npm; packages for Debian.
dist: all
	@tools/make-dist

deb: all
	@tools/make-deb

# Removes what the last `make install` from this folder has installed.
uninstall:
	@tools/uninstall build

clean:
	@rm -rf build build-*
