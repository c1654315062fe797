# SPDX-License-Identifier: Apache-2.0
# The front door. Meson does the work, in build/; missing Debian packages are installed first.
PREFIX ?= /usr/local

.PHONY: all demo check bench format install clean

all: build/build.ninja
	@ninja -C build

build/build.ninja:
	@tools/install-deps
	@meson setup build

# WebSearch traffic at 50 % load on 128 hosts, under DCQCN and under PFC alone.
demo: all
	@build/oche run scenarios/demo.yaml --compare congestion_control=dcqcn,none

check:
	@tools/install-deps
	@tools/check

bench: all
	@tools/bench

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install: all
	@meson configure build -Dprefix="$(abspath $(PREFIX))"
	@meson install -C build

clean:
	@rm -rf build build-*
