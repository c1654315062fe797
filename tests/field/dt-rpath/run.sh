#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sh run.sh OCHE ; a program of a conda-like prefix, by DT_RPATH and by DT_RUNPATH
O=${1:-oche}; here=$(dirname "$(readlink -f "$0")"); d=$(mktemp -d); mkdir "$d/bin" "$d/lib"
cp -L "$(ldconfig -p | awk '/libibverbs.so.1 /{print $NF; exit}')" "$d/lib/libibverbs.so.1"
for t in disable enable; do
    gcc "$here/list.c" -o "$d/bin/$t" -libverbs -Wl,--$t-new-dtags,-rpath,'$ORIGIN/../lib'
    echo "--$t-new-dtags:"; "$O" exec -- "$d/bin/$t"; echo "rc $?"
done
rm -r "$d"
