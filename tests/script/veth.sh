#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two network namespaces and a veth link between them, over IPv4 and IPv6; the kernel takes our
# large datagrams apart before the link, and another program captures there. So the IP
# identifications, lengths and ICRCs are seen as a foreign RoCEv2 device would see them.
#     veth.sh PROGRAM
set -u
skip() { echo "$*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }

if [ "${1-}" != --inside ]; then
    for tool in unshare nsenter ip dumpcap tshark; do
        command -v "$tool" >/dev/null || skip "$tool is missing"
    done
    unshare -Urn true 2>/dev/null || skip "no user namespaces here"
    exec unshare -Urnpf --mount-proc --kill-child bash "$0" --inside "$@"
fi
program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

unshare -n sleep 1000 &
far=$!
own=$(readlink /proc/self/ns/net)
for _ in $(seq 100); do
    [ "$(readlink /proc/$far/ns/net)" != "$own" ] && break
    sleep 0.02
done
there() { nsenter -t "$far" -n "$@"; }
ip link add near type veth peer name far netns "$far" 2>/dev/null || skip "no veth devices here"
ip addr add 10.77.0.1/24 dev near
ip addr add fd77::1/64 dev near nodad
there ip addr add 10.77.0.2/24 dev far
there ip addr add fd77::2/64 dev far nodad
# One segment at a time on the link: what comes larger is segmented before.
ip link set near mtu 4200 gso_max_segs 1 up
there ip link set far mtu 4200 gso_max_segs 1 up

# run NAME ADDRESS ADDRESS: 8 MiB by each operation, captured at the far end
run() {
    local dumper
    nsenter -t "$far" -n dumpcap -q -B 64 -i far -f "udp port 4791" \
        -w "$work/$1.pcapng" 2>"$work/dumpcap" &
    dumper=$!
    for _ in $(seq 250); do
        [ -s "$work/$1.pcapng" ] && break
        kill -0 $dumper 2>/dev/null || skip "dumpcap: $(cat "$work/dumpcap")"
        sleep 0.02
    done
    "$program" --bytes $((8 << 20)) --message $((256 << 10)) --netns "/proc/$far/ns/net" \
        "$2" "$3" >"$work/out" 2>&1 || fail "$1: $(cat "$work/out")"
    echo "$1:"
    cat "$work/out"
    sleep 0.3
    kill -TERM $dumper
    wait $dumper
    "$OCHE" wire --quiet "$work/$1.pcapng" >"$work/wire" ||
        fail "$1: oche wire: $(head -n 5 "$work/wire"; tail -n 20 "$work/wire")"
    bad=$(tshark -r "$work/$1.pcapng" -o ip.check_checksum:TRUE \
        -Y '_ws.malformed || _ws.expert.severity==error' 2>&1 | grep -v '^Running as user') &&
        fail "$1: tshark: $(head <<<"$bad")"
    ports=$(tshark -r "$work/$1.pcapng" -T fields -e udp.srcport 2>/dev/null | sort -un | xargs)
    for port in $ports; do
        [ "$port" -ge 61000 ] || fail "$1: source ports $ports"
    done
    [ "$(sed -nE 's/^RoCEv2 +([0-9]+).*/\1/p' "$work/wire")" -gt 6000 ] ||
        fail "$1: $(tail -n 20 "$work/wire")"
}

run ipv4 10.77.0.1 10.77.0.2
ids=$(tshark -r "$work/ipv4.pcapng" -T fields -e ip.id 2>/dev/null | sort -u | wc -l)
[ "$ids" -gt 4 ] || fail "only $ids IP identifications: nothing was segmented"
run ipv6 fd77::1 fd77::2
exit 0
