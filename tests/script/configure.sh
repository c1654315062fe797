#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/configure, with a made-up Meson and pkg-config: a build folder is set up once, and again
# when a package that a meson.build asks for has come, changed or gone, but for no other package.
# The test script/copied has trees that were moved. The Makefile: make sim and make build/oche build
# the simulator whatever is there, and install nothing else.
# Environment: SOURCE.
set -eu
fail() { echo "FAILED: $*"; exit 1; }

work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
tree=$work/tree
packages=$work/packages # a file a package, with its version
mkdir -p "$tree/tools" "$tree/sub" "$work/bin" "$packages"
cp "$SOURCE/tools/configure" "$tree/tools"
cp "$SOURCE/Makefile" "$tree"
echo "first = dependency('first', required: false)" >"$tree/meson.build"
echo "deps = [dependency('second'), dependency('dl')]" >"$tree/sub/meson.build"
put() { # put COMMAND SCRIPT
    printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
put pkg-config "case \$1 in
--variable) echo /nonexistent:$packages ;;
--modversion) cat '$packages/'\$2 ;;
esac"
put meson "echo meson \"\$@\"
mkdir -p build/meson-private build/meson-info
touch build/build.ninja build/meson-private/coredata.dat
echo '{\"directories\": {\"source\": \"$tree\"}}' >build/meson-info/meson-info.json"
run() { said=$(PATH=$work/bin:$PATH "$tree/tools/configure" build "$@"); }

again='meson configure --clearcache build
meson setup --reconfigure build'
run -Doption=1
[ "$said" = "meson setup build -Doption=1" ] || fail "a new folder: $said"
run
[ -z "$said" ] || fail "nothing has changed: $said"

echo 1.0 >"$packages/first"
run
[[ $said == *"< first -"*"> first 1.0"*"$again" ]] || fail "a package has come: $said"
run
[ -z "$said" ] || fail "after that: $said"
echo 1.0 >"$packages/other"
run
[ -z "$said" ] || fail "nobody asks for it: $said"
echo 2.0 >"$packages/new" && mv "$packages/new" "$packages/first"
run
[[ $said == *"> first 2.0"*"$again" ]] || fail "another version: $said"
rm "$packages/first"
run
[[ $said == *"> first -"*"$again" ]] || fail "a package has gone: $said"
echo 1.0 >"$packages/ompi-c"
run
[[ $said == *"> ompi-c 1.0"*"$again" ]] || fail "MPI has come: $said"

# A folder that somebody else has set up, before and after a change.
rm "$tree/build/meson-private/oche-packages"
touch "$tree/build/meson-private/coredata.dat"
run
[ -z "$said" ] || fail "set up by hand: $said"
rm "$tree/build/meson-private/oche-packages"
echo 1.0 >"$packages/second"
run
[[ $said == *"$again" ]] || fail "set up by hand, and a package has come: $said"

# make build/oche asks ninja, though the file is there and newer than all.
printf '#!/bin/bash\necho install-deps "$@"\n' >"$tree/tools/install-deps"
chmod +x "$tree/tools/install-deps"
put ninja 'echo ninja "$@"'
touch "$tree/build/oche"
for target in sim build/oche; do
    said=$(cd "$tree" && MAKEFLAGS='' PATH=$work/bin:$PATH make --no-print-directory "$target")
    [ "$said" = $'install-deps sim\nninja -C build simulator' ] || fail "make $target: $said"
done
