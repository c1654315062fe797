#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What tools/check-packages runs as root in a clean Debian root: each stage installs packages from
# /packages with what they depend on, and uses them as a user without privileges.
#   installed.sh program HASH | develop | away
# HASH: the trace hash of scenarios/headroom.yaml in the build.
set -eu -o pipefail
export DEBIAN_FRONTEND=noninteractive
fail() { echo "FAILED: $*"; exit 1; }
user() { setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs env HOME=/tmp "$@"; }
install() {
    apt-get -q -y install --no-install-recommends "$@" >/tmp/log 2>&1 ||
        { tail -n 20 /tmp/log; fail "apt-get install $*"; }
}
work=$(user mktemp -d)
cd "$work"

program() {
    install /packages/oche_*.deb /packages/oche-verbs_*.deb
    ! dpkg -s libibverbs1 >/dev/null 2>&1 || fail "oche wants the system's libibverbs"
    user oche --version
    user oche run /usr/share/oche/scenarios/headroom.yaml | tee said | grep "^trace hash"
    grep -q "^trace hash  *$1\$" said || fail "not the trace hash $1 of the build"
    if [ -e /usr/share/oche/report.html ]; then
        user oche report out/headroom
        [ -s out/headroom/report.html ] || fail "no report"
    fi
    user oche reproduce --tolerances >said
    grep -q "^dcqcn/fig3 [0-9a-f]\{40\} " said || fail "papers"
    for page in oche.1 oche-exec.1 oche-scenario.5; do
        [ -e "/usr/share/man/man${page##*.}/$page.gz" ] || fail "no manual page $page"
    done
    grep -q Apache-2.0 /usr/share/doc/oche/copyright || fail "copyright"
    [ -e /usr/share/doc/oche/guide.md ] || fail "documents"
    # There is no program that uses verbs yet; the library loads all the same.
    user oche exec -- cat /proc/self/maps >/dev/null
}

develop() {
    install /packages/*.deb gcc libc6-dev pkg-config libibverbs-dev iproute2 ibverbs-utils perftest
    source=/usr/share/doc/oche/library/two_nics.c
    # shellcheck disable=SC2046  # flags are words
    user gcc -Wall -Wextra -Werror $source -o shared $(pkg-config --cflags --libs oche)
    # shellcheck disable=SC2046
    user gcc -Wall -Wextra -Werror -static $source -o static \
        $(pkg-config --static --cflags --libs oche)
    [[ $(readelf -d shared) == *liboche.so.0* ]] || fail "not linked with liboche.so.0"
    ! readelf -d static | grep NEEDED || fail "not static"
    for kind in shared static; do
        user "./$kind" dcqcn selective_repeat | sed "s/^/$kind: /" | grep "data equal" ||
            fail "the program that is built $kind"
    done
    cat >rogue.c <<'C'
#include <rogue/rogue.h>
#include <errno.h>
#include <stdio.h>

int main(void)
{
    struct ibv_qp nobody;
    puts(rogue_take_round_trips(&nobody, 0, 0) < 0 && errno == EINVAL ? "rogue: linked" : "rogue?");
    return 0;
}
C
    # shellcheck disable=SC2046
    user gcc -Wall -Wextra -Werror rogue.c -o rogue $(pkg-config --cflags --libs oche-rogue)
    user ./rogue | grep "rogue: linked" || fail "the program that uses RoGUE"
    unshare -n bash "$0" wire
}

# In a network namespace of its own.
wire() {
    ip link set lo up
    user oche exec -- ibv_devinfo | tee said | grep hca_id
    grep -q "state:.*PORT_ACTIVE" said || fail "ibv_devinfo: $(cat said)"
    for options in "" --rogue; do
        # shellcheck disable=SC2086
        user timeout 60 oche exec $options -- ib_write_bw -n 200 >server 2>&1 &
        sleep 2
        # shellcheck disable=SC2086
        user timeout 60 oche exec $options -- ib_write_bw -n 200 127.0.0.1 >said 2>&1 ||
            { cat said; kill $!; fail "ib_write_bw"; }
        wait $! || { cat server; fail "the server of ib_write_bw"; }
        grep -E "^ *65536 .* [1-9]" said | sed "s/^/ib_write_bw $options/" || fail "ib_write_bw"
    done
}

away() {
    apt-get -q -y purge oche oche-verbs liboche0 liboche-dev >/tmp/log 2>&1
    left=$(find /usr /etc /var/lib/dpkg -name '*oche*')
    [ -z "$left" ] || fail "left after purge: $left"
    echo "purged"
}

chmod 777 "$work"
"$@"
