#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/install-deps on a made-up machine: silent when nothing is missing, installs as root, asks
# sudo when not, and says one line when it may not; installs nothing for another purpose. The page's
# packages: fetched once, and no reason to fail.
set -eu

fake=$(mktemp -d)
trap 'rm -rf "$fake"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

put() { # put COMMAND SCRIPT
    printf '#!/bin/bash\n%s\n' "$2" >"$fake/$1"
    chmod +x "$fake/$1"
}
run() { # run [PURPOSE…]: status in $status, both outputs in $out
    status=0
    : >"$fake/apt.log"
    out=$(PATH="$fake:/usr/bin:/bin" "$fake/tree/tools/install-deps" "$@" 2>&1) || status=$?
}

mkdir -p "$fake/tree/tools" "$fake/tree/tests" "$fake/tree/report/page/node_modules"
cp tools/install-deps "$fake/tree/tools"
touch "$fake/tree/meson.build" "$fake/tree/tests/meson.build"
printf '#!/bin/bash\necho >>"%s/kernel.log"\nexit "$(cat "%s/kernel.status")"\n' "$fake" "$fake" \
    >"$fake/tree/tools/fetch-kernel"
chmod +x "$fake/tree/tools/fetch-kernel"
echo 0 >"$fake/kernel.status"
cp report/page/fetch report/page/package-lock.json report/page/meson.build "$fake/tree/report/page"
cp report/page/package-lock.json "$fake/tree/report/page/node_modules/.oche-lock"
put npm 'exit 1'
put node ''
put chromium ''
put dpkg-query 'for p in "$@"; do case $p in -*) ;; *) printf "installed:%s " "$p";; esac; done'
put apt-get "echo \"\$@\" >>$fake/apt.log"
put id 'echo 0'
put sudo 'exit 1'

run
[ "$status" = 0 ] && [ -z "$out" ] || fail "nothing missing: status $status, said: $out"
[ ! -s "$fake/apt.log" ] || fail "nothing missing, but apt-get was called"

# Two are missing; root installs those of the purpose and nothing else, without a question.
put dpkg-query 'for p in "$@"; do case $p in -*|meson|tshark) ;;
    *) printf "installed:%s " "$p";; esac; done; exit 1'
run build test
[ "$status" = 0 ] || fail "root: status $status, said: $out"
grep -q '^-q -y update$' "$fake/apt.log" || fail "root: no update: $(cat "$fake/apt.log")"
grep -q '^-q -y install --no-install-recommends meson tshark$' "$fake/apt.log" ||
    fail "root: $(cat "$fake/apt.log")"

run build
grep -q 'install --no-install-recommends meson$' "$fake/apt.log" ||
    fail "build: $(cat "$fake/apt.log")"
run test wire
grep -q 'install --no-install-recommends tshark$' "$fake/apt.log" ||
    fail "test: $(cat "$fake/apt.log")"
run wire
[ "$status" = 0 ] && [ ! -s "$fake/apt.log" ] || fail "wire: $(cat "$fake/apt.log")"

# The simulator needs nothing of RDMA.
put dpkg-query 'for p in "$@"; do case $p in
    -*|libjson-c-dev|libibverbs-dev|librdmacm-dev|libisal2) ;;
    *) printf "installed:%s " "$p";; esac; done; exit 1'
run sim
grep -q 'install --no-install-recommends libjson-c-dev$' "$fake/apt.log" ||
    fail "sim: $(cat "$fake/apt.log")"
run build
grep -q ' libjson-c-dev libibverbs-dev librdmacm-dev libisal2$' "$fake/apt.log" ||
    fail "build: $(cat "$fake/apt.log")"
put dpkg-query 'for p in "$@"; do case $p in -*|meson|tshark) ;;
    *) printf "installed:%s " "$p";; esac; done; exit 1'

# The kernel of a virtual machine is fetched for that purpose alone, and it must be had.
[ ! -e "$fake/kernel.log" ] || fail "a kernel was fetched for another purpose"
run interop
[ "$status" = 0 ] && [ -s "$fake/kernel.log" ] || fail "interop: status $status, said: $out"
echo 1 >"$fake/kernel.status"
run interop
[ "$status" = 1 ] || fail "interop without a kernel: status $status"
echo 0 >"$fake/kernel.status"

# Builds that were configured without a package look again.
touch -d '2000-01-01' "$fake/tree/meson.build"
run build
[ "$(find "$fake/tree/meson.build" -newermt 2001-01-01)" ] || fail "builds do not look"

# Not a purpose: one line, status 2.
run bild
[ "$status" = 2 ] && [ "$(wc -l <<<"$out")" = 1 ] && [[ $out == *bild* ]] || fail "bild: $out"

# A removed package that left its configuration is missing as well.
put dpkg-query 'for p in "$@"; do case $p in -*) ;; meson) printf "config-files:%s " "$p";;
    *) printf "installed:%s " "$p";; esac; done'
run
grep -q 'install --no-install-recommends meson$' "$fake/apt.log" || fail "config-files: $out"

# Neither root nor sudo: one line that names them, status 1, nothing tried.
put id 'echo 1000'
run
[ "$status" = 1 ] || fail "may not: status $status"
[ "$(wc -l <<<"$out")" = 1 ] && [[ $out == *meson* ]] || fail "may not: said: $out"
[ ! -s "$fake/apt.log" ] || fail "may not, but apt-get was called"

# sudo without a password.
put sudo 'shift; [ "$1" = true ] || "$@"'
run
[ "$status" = 0 ] || fail "sudo: status $status, said: $out"
grep -q 'install --no-install-recommends meson$' "$fake/apt.log" || fail "sudo: $out"

# apt-get fails: its last words, then one line with what is missing.
put apt-get 'echo E: no network; exit 100'
run
[ "$status" = 1 ] && [[ $out == *"no network"* && $out == *meson* ]] || fail "apt fails: $out"

# The page's packages: fetched when they are missing or of another time, once.
put dpkg-query 'for p in "$@"; do case $p in -*) ;; *) printf "installed:%s " "$p";; esac; done'
echo '{}' >"$fake/tree/report/page/node_modules/.oche-lock"
put npm "echo \"\$PWD \$*\" >>$fake/npm.log; mkdir -p node_modules"
touch -d '2000-01-01' "$fake/tree/report/page/meson.build"
run
[ "$status" = 0 ] && grep -q "/tree/report/page ci " "$fake/npm.log" || fail "npm: $status $out"
[ "$(find "$fake/tree/report/page/meson.build" -newermt 2001-01-01)" ] ||
    fail "npm: builds do not look"
run
[ "$status" = 0 ] && [ -z "$out" ] && [ "$(wc -l <"$fake/npm.log")" = 1 ] || fail "npm: again: $out"

# The simulator's page, too, where there are node and npm.
echo '{}' >"$fake/tree/report/page/node_modules/.oche-lock"
run sim
[ "$status" = 0 ] && [ "$(wc -l <"$fake/npm.log")" = 2 ] || fail "npm: sim: $status $out"

# A network that does not answer.
rm "$fake/tree/report/page/node_modules/.oche-lock"
put npm 'sleep 60'
out=$(PATH="$fake:/usr/bin:/bin" "$fake/tree/report/page/fetch" 1 2>&1) || fail "fetch: $out"
[[ $out == *"not within 1 seconds"*without\ its\ page* ]] || fail "slow network: $out"
[ ! -e "$fake/tree/report/page/node_modules/.oche-lock" ] || fail "slow: believes that it has them"
echo '{}' >"$fake/tree/report/page/node_modules/.oche-lock"

# Without a network, and without npm: one line, and no failure.
rm "$fake/tree/report/page/node_modules/.oche-lock"
put npm 'echo npm error code ENOTFOUND; exit 1'
run
[ "$status" = 0 ] && [[ $out == *ENOTFOUND*without\ its\ page* ]] || fail "offline: $status $out"
[ ! -e "$fake/tree/report/page/node_modules/.oche-lock" ] ||
    fail "offline: believes that it has them"
rm "$fake/npm"
if ! PATH=/usr/bin:/bin command -v npm >/dev/null; then
    run sim
    [ "$status" = 0 ] && [ -z "$out" ] || fail "no npm: sim: status $status, said: $out"
    run
    [ "$status" = 0 ] || fail "no npm: status $status, said: $out"
fi
