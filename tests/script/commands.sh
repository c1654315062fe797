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
