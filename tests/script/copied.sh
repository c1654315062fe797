#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A built tree works after cp -r: its program finds the papers beside it, and make sets its build
# folder up anew. OCHE_LONG=yes: with Meson itself, where the first tree is gone. Environment:
# BUILD, SOURCE.
set -eu
fail() { echo "FAILED: $*"; exit 1; }

case $BUILD in
"$SOURCE"/*) ;;
*) echo "the build folder is not in the tree"; exit 77 ;;
esac
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
copy="$work/a copy"
build=$copy/${BUILD#"$SOURCE"/}
mkdir -p "$build/meson-info" "$copy/tools" "$work/bin"
cp -r "$SOURCE/papers" "$SOURCE/meson.build" "$copy"
cp "$SOURCE/tools/configure" "$copy/tools"
cp "$BUILD/oche" "$build"
cp "$BUILD/build.ninja" "$build"
cp "$BUILD/meson-info/meson-info.json" "$build/meson-info"

cd /
said=$("$build/oche" reproduce --list) || fail "reproduce --list: $said"
case $said in
*"$copy/papers"* | *dcqcn*) ;;
*) fail "papers: $said" ;;
esac

# Meson's part, by its arguments: set up anew where it was for another tree, and left alone here.
printf '#!/bin/sh\necho meson "$@"\n' >"$work/bin/meson"
chmod +x "$work/bin/meson"
said=$(PATH=$work/bin:$PATH "$copy/tools/configure" "$build")
[[ $said == *"meson setup --reconfigure $build" ]] || fail "in a copy: $said"
said=$(PATH=$work/bin:$PATH "$SOURCE/tools/configure" "$BUILD")
[ -z "$said" ] || fail "in the tree itself: $said"
said=$(PATH=$work/bin:$PATH "$copy/tools/configure" other -Dtests=false)
[ "$said" = "meson setup other -Dtests=false" ] || fail "a new folder: $said"

[ "${OCHE_LONG:-}" = yes ] && git -C "$SOURCE" rev-parse >/dev/null 2>&1 || exit 0
mkdir "$work/first"
git -C "$SOURCE" archive HEAD | tar -x -C "$work/first"
cd "$work/first"
{ tools/configure build -Dtests=false && ninja -C build core/liboche.a; } >"$work/log" 2>&1 ||
    { tail "$work/log"; fail "the first tree"; }
cp -r "$work/first" "$work/second"
cd "$work/second"
rm -rf "$work/first"
{ tools/configure build && ninja -C build core/liboche.a; } >"$work/log" 2>&1 ||
    { tail "$work/log"; fail "the copy"; }
[ ! -e "$work/first" ] || fail "the first tree is there again"
