#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recipe of docs/security.md: two network namespaces, a veth link between them, WireGuard on the
# link (wireguard-go, where the kernel has none), and two devices at the tunnel's addresses. What
# they send is on the link only inside the tunnel, at its path MTU; what comes from the link
# beside the tunnel with a tunnel address is dropped where rp_filter is strict, and only there.
#     wireguard.sh PROGRAM
set -u
skip() { echo "$*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }

if [ "${1-}" != --inside ]; then
    for tool in unshare nsenter ip wg wireguard-go dumpcap python3; do
        command -v "$tool" >/dev/null || skip "$tool is missing"
    done
    [ -w /dev/net/tun ] || skip "no /dev/net/tun"
    unshare -Urnm true 2>/dev/null || skip "no user namespaces here"
    exec unshare -Urnmpf --mount-proc --kill-child bash "$0" --inside "$@"
fi
program=$2
mount -t tmpfs none /run && mkdir -p /run/wireguard || skip "no mounts here"
work=$(mktemp -d /run/work.XXXX)

unshare -n sleep 1000 &
far=$!
own=$(readlink /proc/self/ns/net)
for _ in $(seq 100); do
    [ "$(readlink /proc/$far/ns/net)" != "$own" ] && break
    sleep 0.02
done
there() { nsenter -t "$far" -n "$@"; }
ip link add near type veth peer name far netns "$far" 2>/dev/null || skip "no veth devices here"
ip addr add 10.78.0.1/24 dev near
there ip addr add 10.78.0.2/24 dev far
ip link set near mtu 1500 up
there ip link set far mtu 1500 up

# ---- the recipe, at both ends ----
for end in near far; do
    (umask 077; wg genkey >"$work/$end.key")
    wg pubkey <"$work/$end.key" >"$work/$end.pub"
done
# tunnel RUN NAME KEY ADDRESS PEER-KEY PEER-ADDRESS PEER-OUTSIDE
tunnel() {
    local run=$1
    shift
    WG_PROCESS_FOREGROUND=1 LOG_LEVEL=error $run wireguard-go -f "$1" >"$work/$1.log" 2>&1 &
    for _ in $(seq 100); do
        [ -S "/run/wireguard/$1.sock" ] && break
        sleep 0.05
    done
    [ -S "/run/wireguard/$1.sock" ] || skip "wireguard-go: $(cat "$work/$1.log")"
    $run wg set "$1" private-key "$2" listen-port 51820 peer "$4" allowed-ips "$5/32" \
        endpoint "$6:51820" || fail "wg set $1"
    $run ip addr add "$3/24" dev "$1"
    $run ip link set "$1" mtu 1420 txqueuelen 5000 up
}
tunnel "" wg-near "$work/near.key" 10.79.0.1 "$(cat "$work/far.pub")" 10.79.0.2 10.78.0.2
tunnel there wg-far "$work/far.key" 10.79.0.2 "$(cat "$work/near.pub")" 10.79.0.1 10.78.0.1
strict() {
    local name
    for name in all default near far wg-near wg-far; do
        for run in "" there; do
            [ ! -e /proc/sys/net/ipv4/conf/$name ] && [ -z "$run" ] && continue
            $run sh -c "echo $1 >/proc/sys/net/ipv4/conf/$name/rp_filter" 2>/dev/null
        done
    done
}
strict 1

# ---- what goes over it ----
dumpcap -q -i near -w "$work/link.pcapng" 2>"$work/dumpcap" &
dumper=$!
for _ in $(seq 250); do
    [ -s "$work/link.pcapng" ] && break
    kill -0 $dumper 2>/dev/null || skip "dumpcap: $(cat "$work/dumpcap")"
    sleep 0.02
done
"$program" --bytes $((4 << 20)) --message $((64 << 10)) --mtu 1024 --ack-timeout 200ms \
    --in-flight 2 --netns "/proc/$far/ns/net" 10.79.0.1 10.79.0.2 >"$work/out" 2>&1 ||
    fail "$(cat "$work/out")"
cat "$work/out"
sleep 0.3
kill -TERM $dumper
wait $dumper
python3 - "$work/link.pcapng" <<'PYTHON' || fail "the link"
import struct
import sys

data = open(sys.argv[1], "rb").read()
at, ports, longest = 0, {}, 0
while at + 12 <= len(data):
    kind, size = struct.unpack_from("<II", data, at)
    if kind == 6:
        count = struct.unpack_from("<I", data, at + 20)[0]
        frame = data[at + 28:at + 28 + count]
        if frame[12:14] == b"\x08\x00" and frame[23] == 17:
            port = struct.unpack_from(">H", frame, 36)[0]
            ports[port] = ports.get(port, 0) + 1
            longest = max(longest, count - 14)
    at += size
print(f"on the link: packets by UDP port {ports}, the longest has {longest} bytes")
sys.exit(list(ports) != [51820] or ports[51820] < 4000 or longest > 1500)
PYTHON

# ---- what comes beside it ----
# A datagram from the far host's link, with the far tunnel address: is it in a socket here?
beside() {
    python3 - "$far" <<'PYTHON'
import ctypes
import os
import socket
import struct
import sys

here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here.bind(("10.79.0.1", 4791))
here.settimeout(0.5)
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("near", 0))
own = link.getsockname()[4]
libc = ctypes.CDLL(None, use_errno=True)
space = os.open(f"/proc/{sys.argv[1]}/ns/net", os.O_RDONLY)
if libc.setns(space, 0) != 0:
    sys.exit(2)
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("far", 0))
udp = struct.pack(">HHHH", 61000, 4791, 12, 0) + b"beside"[:4]
ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0x4000, 64, 17, 0,
                 socket.inet_aton("10.79.0.2"), socket.inet_aton("10.79.0.1"))
total = sum(struct.unpack(">10H", ip))
total = (total & 0xffff) + (total >> 16)
ip = ip[:10] + struct.pack(">H", ~(total + (total >> 16)) & 0xffff) + ip[12:]
out.send(own + out.getsockname()[4] + b"\x08\x00" + ip + udp)
try:
    print("arrived:", here.recv(100))
except TimeoutError:
    sys.exit(1)
PYTHON
}
beside && fail "a packet beside the tunnel arrives although rp_filter is strict"
strict 0
beside || fail "a packet beside the tunnel does not arrive even if rp_filter is off"
echo "beside the tunnel: dropped where rp_filter is strict, taken where it is off"
