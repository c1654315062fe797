#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The program itself: help, version, and one line with status 2 for what it does not know.
set -u

fail() { echo "FAILED: $*"; exit 1; }
run() { # run ARGUMENTS…: sets status, out (standard output), err (standard error)
    out=$("$OCHE" "$@" 2>"$errors")
    status=$?
    err=$(cat "$errors")
}
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT

run --help
[ $status = 0 ] && [ -z "$err" ] || fail "--help: status $status, $err"
[[ $out == "Usage: oche COMMAND"* ]] || fail "--help says: $out"
for command in $(sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' <<<"$out"); do
    run "$command" --help
    [ $status = 0 ] && [[ $out == "Usage: oche $command"* ]] || fail "$command --help: $out$err"
    run "$command" --no-such-option
    [ $status = 2 ] && [ -z "$out" ] && [ -n "$err" ] || fail "$command --no-such-option: $status"
done

run --version
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$SOURCE/meson.build")
[ $status = 0 ] && [ "$out" = "oche $version" ] || fail "--version: $status, $out"

run
[ $status = 2 ] && [ -z "$out" ] && [[ $err == "Usage: oche COMMAND"* ]] || fail "nothing: $err"

run frobnicate
[ $status = 2 ] && [ -z "$out" ] || fail "frobnicate: status $status, $out"
[ "$err" = "oche: frobnicate: no such command; oche --help lists them" ] || fail "says: $err"

# What is misspelt: a command, an option.
for pair in rnu:run swep:sweep reprot:report stats:stat; do
    run "${pair%:*}"
    [ $status = 2 ] && [ "$err" = "oche: ${pair%:*}: no such command; did you mean \"${pair#*:}\"? \
oche --help lists them" ] || fail "${pair%:*} says: $err"
done
misspelt() { # misspelt COMMAND OPTION MEANT ARGUMENT…
    local command=$1 option=$2 meant=$3
    shift 3
    run "$command" "$@"
    [ $status = 2 ] && [ -z "$out" ] &&
        [ "$err" = "oche $command: $option: no such option; did you mean $meant?" ] ||
        fail "$command $*: status $status, $out$err"
}
misspelt run --quite --quiet s.yaml --quite
misspelt run --ouut --out --ouut=x s.yaml
misspelt run --hepl --help --hepl
misspelt sweep --varry --vary s.yaml --set a=b --varry a=b
misspelt exec --recvery --recovery --recvery=x -- true
misspelt fluid --mdoel --model -s a=b --mdoel
# None: a value, what another program is given, what is similar to nothing, a beginning.
for arguments in "run --set --ouut" "run -s --ouut" "run -qs --ouut" "exec true --recvery=x" \
    "run -- --quite" "run --xyzzyzz" "run --se=a"; do
    # shellcheck disable=SC2086  # words
    run $arguments
    [[ $err != *"did you mean"* ]] || fail "$arguments says: $err"
done

# exec, as far as it goes without a verbs program.
run exec
[ $status = 2 ] && [[ $err == "oche exec: no COMMAND"* ]] || fail "exec: status $status, $err"
run exec --cc nonesuch -- true
[ $status = 2 ] && [[ $err == *"no such congestion control; choose one of none, cubic, dcqcn"* ]] ||
    fail "exec --cc nonesuch: status $status, $err"
run exec --recovery nonesuch -- true
[ $status = 2 ] && [[ $err == *"no such loss recovery; there are go_back_0"* ]] ||
    fail "exec --recovery nonesuch: status $status, $err"
run exec --peer-ports all -- true
[ $status = 2 ] && [[ $err == *"--peer-ports: all: must be pinned or any"* ]] ||
    fail "exec --peer-ports all: status $status, $err"
run exec --device here -- true
[ $status = 2 ] && [[ $err == *"--device: here: not an IP address"* ]] ||
    fail "exec --device here: status $status, $err"
if [ -e "$BUILD/libibverbs.so.1" ]; then
    run exec -- no-such-program
    [ $status = 127 ] && [[ $err == "oche exec: no-such-program: "* ]] ||
        fail "exec no-such-program: status $status, $err"
    run exec -- "$SOURCE"
    [ $status = 126 ] || fail "exec of a folder: status $status, $err"
    run exec --cc dcqcn --device 127.0.0.9 -- sh -c 'echo $OCHE_CC $OCHE_DEVICE; exit 3'
    [ $status = 3 ] && [ "$out" = "dcqcn 127.0.0.9" ] || fail "exec sh: status $status, $out"
    run exec -- sh -c 'echo ${LD_LIBRARY_PATH%%:*}'
    [ "$out" -ef "$BUILD" ] || fail "exec sets LD_LIBRARY_PATH to $out"
fi
