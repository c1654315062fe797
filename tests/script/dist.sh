#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tarball of `make dist` configures where there is neither git nor npm, with the page and the
# commits of tolerances in it. OCHE_LONG=yes: two of one commit are the same bytes; it builds, and
# what it built runs. Environment: BUILD, SOURCE. Skipped without git or the page.
set -eu
fail() { echo "FAILED: $*"; exit 1; }

cd "$SOURCE"
if [ ! -e "$BUILD/report/page/report.html" ] || ! git rev-parse --git-dir >/dev/null 2>&1; then
    echo "there is no page of oche report here, or no git"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/again"
for tool in git npm; do
    printf '#!/bin/sh\necho "$0 was called" >&2\nexit 127\n' >"$work/bin/$tool"
    chmod +x "$work/bin/$tool"
done
export XZ_OPT=-0 # what is tested is not how small it is
tools/make-dist "$BUILD" "$work" >/dev/null
if [ "${OCHE_LONG:-}" = yes ]; then
    tools/make-dist "$BUILD" "$work/again" >/dev/null
    cmp "$work"/oche-*.tar.xz "$work"/again/oche-*.tar.xz || fail "two tarballs differ"
fi
tar -xf "$work"/oche-*.tar.xz -C "$work"
cd "$work"/oche-*[0-9]
PATH=$work/bin:$PATH meson setup build >"$work/log" 2>&1 || { cat "$work/log"; fail "meson setup"; }
! grep -q "without its page\|was called" "$work/log" || fail "$(grep 'without\|called' "$work/log")"
grep -q "^dcqcn/fig3 [0-9a-f]\{40\}" papers/commits.txt || fail "commits.txt lacks dcqcn/fig3"
if [ "${OCHE_LONG:-}" = yes ]; then
    PATH=$work/bin:$PATH ninja -C build oche report/page/report.html >"$work/log" 2>&1 ||
        { tail "$work/log"; fail "ninja"; }
    build/oche run scenarios/headroom.yaml --quiet
    PATH=$work/bin:$PATH build/oche report out/headroom >/dev/null
    PATH=$work/bin:$PATH build/oche reproduce --tolerances | cmp - papers/commits.txt
fi
