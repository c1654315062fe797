#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What bash offers after parts of a command line. Environment: OCHE, SOURCE.
set -eu
shopt -u extglob
# shellcheck disable=SC1091
. "$SOURCE/cli/completion/oche.bash"
fail() { echo "FAILED: $*"; exit 1; }

offers() { # offers EXPECTED WORD…    EXPECTED: a word that must be offered, or !WORD: must not
    local expected=$1
    shift
    COMP_WORDS=("$OCHE" "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _oche
    if [ "${expected#!}" != "$expected" ]; then
        ! printf '%s\n' "${COMPREPLY[@]}" | grep -qxF -- "${expected#!}" ||
            fail "$*: offers $expected"
    else
        printf '%s\n' "${COMPREPLY[@]}" | grep -qxF -- "$expected" ||
            fail "$*: offers ${COMPREPLY[*]:0:20}, not $expected"
    fi
}

for command in run sweep reproduce report fluid buffers exec wire; do
    offers "$command" ""
    offers --help "$command" --h
done
offers run r
offers fct.all.p99 run x.yaml --until-stable fct.a
offers '!fct.all.max' run x.yaml --until-stable fct.a
offers '!sweep' r
offers hpcc export --to h
offers demo export d
offers --set= export --s
offers --set= run --se
offers --quiet run --q
offers switch.kmin= run scenarios/demo.yaml --set sw
offers duration= run --set du
offers 'workload[0].load=' sweep --vary work
offers workload.degree= run --set workload.d
offers '!switch.degree=' run --set switch.d
offers congestion_control.g= run -s = congestion_control.g
offers congestion_control= run --set congestion_control
for key in name description seed defaults model duration warmup stop_when_done; do
    offers "$key=" run --set "${key:0:2}"
    offers "$key=" sweep x.yaml --vary ''
done
offers switch.tor.kmin= run --set switch.tor.k
offers '!switch.tor.mechanisms=' run --set switch.tor.m
offers dcqcn run --set congestion_control = dc
offers '!none' run --set congestion_control = dc
offers go_back_n sweep --vary = recovery = ''
offers dcqcn,none run --compare congestion_control = dcqcn,no
offers static run -s switch.threshold = st
offers true run --set switch.pfc =
offers poisson_cdf run --set 'workload[3].type' = po
offers leaf_spine sweep -v topology.type = l
offers fluid sweep --vary model = f
offers '!fluid' sweep --vary mode = f
offers --zip sweep --z
offers goodput sweep --metric goo
offers fct.below_10KB.p99 sweep -m fct.below
offers '!goodput' run -m goo
offers --json wire --js
offers --json buffers --js
offers dcqcn reproduce dc
offers dcqcn/fig3 reproduce dcqcn/
offers incast run inc
offers incast sweep --quiet inc
here=$(mktemp -d)
cd "$here"
touch incmine.yaml
offers incmine.yaml run inc
cd - >/dev/null
rm -r "$here"
offers '!incast' run ./inc
offers dcqcn exec --cc = dc
offers timely_patched exec --cc = ti
offers none exec --cc =
offers '!Congestion' exec --cc =
offers '!selective_repeat' exec --cc =
offers selective_repeat exec --recovery = s
offers '!dcqcn' exec --recovery =
offers '!dcqcn' run --cc = dc
offers trident2 buffers --preset tri
offers paper buffers --preset = pa
offers tomahawk6 buffers --preset ''
offers '!sure:' buffers --preset s
offers --alpha= buffers --al
offers '!trident2' run tri
