#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a static library of one object whose only global symbols are the installed headers' (as
# liboche.map has it for the shared one): a program that links it may use all other names itself.
# usage: one-object.sh LIBRARY OBJCOPY AR COMPILER… -- OBJECT…
set -eu
library=$1 objcopy=$2 ar=$3
shift 3
compiler=
while [ "$1" != -- ]; do
    compiler="$compiler $1"
    shift
done
shift
object=${library%.a}.o
# shellcheck disable=SC2086 # a compiler may be several words, as "ccache cc"
$compiler -r -nostdlib -o "$object" "$@"
"$objcopy" --wildcard --keep-global-symbol='oche_*' "$object"
rm -f "$library"
"$ar" rcsD "$library" "$object"
rm -f "$object"
