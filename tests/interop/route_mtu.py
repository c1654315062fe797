#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packets and the MTU of their route, between network namespaces whose interfaces have 9000 bytes:
a port's active MTU follows the route to its network, rdma_cm's path MTU the route to the peer, and
where packets are too large all the same (a route to one peer, over IPv6 too, an interface that has
changed meanwhile, a router with a smaller link) one line says how large they are, and for what.

usage: route_mtu.py OCHE

Status 77: not possible here.
"""
import os
import re
import shutil
import subprocess
import sys
import time

import netns
import pairs

NEAR, FAR = netns.NEAR, netns.FAR
BEHIND = "10.79.0.3"  # a host that the far one routes to
ROUTER = "10.79.0.2"  # the router's address on the far side
SILENT = "nothing has come from"


def too_large(address, packet, route, fits=1024):
    """The line, as a regular expression."""
    return (rf"(?m)^oche: packets of {packet} bytes to {re.escape(address)} are larger than the "
            rf"MTU of the route, which is {route}: a path MTU of {fits} fits \(ib_write_bw: -m\)$")


def pair(oche, words, far, address=FAR, change=None):
    """Runs both sides; `change` while data moves. (status of the client, what it says)"""
    port = pairs.free_port()
    serving = pairs.Side(None, [], far).start(oche, [*words, "-p", str(port)])
    if "-R" in words:
        pairs.wait_for_service("*", port, serving, "*")  # of another network namespace
    else:
        pairs.wait_until_listening(port, serving)
    calling = pairs.Side(None).start(oche, [*words, "-p", str(port), address])
    if change is not None:
        pairs.wait_until_moving(oche, calling, serving)
        change()
    said, late = pairs.said_by(calling, 60)
    serving.kill()
    pairs.said_by(serving, 10)
    if late:
        pairs.fail(*words, "did not end:", said)
    return calling.returncode, said


def works(what, answer, mtu):
    status, said = answer
    if status != 0 or "oche: " in said or not re.search(rf"(?m)^ Mtu +: {mtu}\[B\]", said):
        pairs.fail(f"{what}: status {status}, not 0 with a path MTU of {mtu}:", said)
    print(f"{what}: path MTU {mtu}", flush=True)


def says(what, answer, line):
    status, said = answer
    if status == 0 or len(re.findall(line, said)) != 1 or SILENT in said:
        pairs.fail(f"{what}: status {status}, not one line {line}:", said)
    print(f"{what}: {re.search(line, said)[0]}", flush=True)


def ip(words, enter=()):
    subprocess.run([*enter, "ip", *words.split()], check=True)


def refused(oche, far):
    """rdma_cm, where the server's interface has the smaller MTU: both sides say why."""
    if not os.path.exists(os.path.join(os.path.dirname(oche), "librdmacm.so.1")) or \
            shutil.which("rping") is None:
        return
    line = (r"(?m)^oche: a peer was refused, as it asks for a path MTU of 4096, and this device's "
            r"interface carries 1024: both interfaces must have the same MTU$")
    ip("link set wire0 mtu 1500", far.enter)
    port = pairs.free_port()
    words = ["-a", FAR, "-p", str(port), "-C", "1"]
    serving = pairs.Side(None, [], far.enter).start(oche, ["rping", "-s", *words])
    pairs.wait_for_service("*", port, serving, "*")
    calling = pairs.Side(None).start(oche, ["rping", "-c", *words])
    called, _ = pairs.said_by(calling, 30)
    serving.kill()
    served, _ = pairs.said_by(serving, 10)
    ip("link set wire0 mtu 9000", far.enter)
    if "REJECTED" not in called or len(re.findall(line, served)) != 1 or \
            called.count("oche: a peer has refused a path MTU of 4096, as its interface ") != 1:
        pairs.fail("interfaces that differ, by rdma_cm:", called, served)
    print(f"interfaces that differ: {re.search(line, served)[0]}", flush=True)


def third(far):
    """A host behind the far one, over a link of 1500 bytes that its own interface does not show."""
    host = subprocess.Popen(["unshare", "-n", "sleep", "100000"])
    end = time.time() + 20
    while os.readlink(f"/proc/{host.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
        if time.time() > end:
            pairs.fail("no third namespace")
        time.sleep(0.02)
    enter = ["nsenter", "-t", str(host.pid), "-n"]
    ip(f"link add wire1 type veth peer name wire1 netns {host.pid}", far.enter)
    for address, mtu, where in ((ROUTER, 1500, far.enter), (BEHIND, 9000, enter)):
        ip(f"addr add {address}/24 dev wire1", where)
        ip(f"link set wire1 mtu {mtu} up", where)
    ip(f"route add 10.78.0.0/24 via {ROUTER}", enter)
    subprocess.run([*far.enter, "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"], check=True)
    ip(f"route add 10.79.0.0/24 via {FAR}")
    return enter


def main(oche):
    netns.enter()
    pairs.need("ib_write_bw", "ibv_rc_pingpong")
    far = netns.Far()
    far.veth(9000)
    write = ["ib_write_bw", "-s", "8192", "-n", "20", "-F"]
    packet = 20 + 8 + 12 + 16 + 4096 + 4

    works("as the interfaces are", pair(oche, write, far.enter), 4096)
    ip(f"route change 10.78.0.0/24 dev wire0 src {NEAR} mtu 1500")
    works("a route to the network with 1500 bytes", pair(oche, write, far.enter), 1024)
    ip(f"route change 10.78.0.0/24 dev wire0 src {NEAR}")
    ip(f"route add {FAR}/32 dev wire0 src {NEAR} mtu 1500")
    works("another network's route", pair(oche, [*write, "-m", "1024"], far.enter), 1024)
    says("a route to the peer with 1500 bytes", pair(oche, write, far.enter),
         too_large(FAR, packet, 1500))
    if os.path.exists(os.path.join(os.path.dirname(oche), "librdmacm.so.1")):
        status, said = pair(oche, [*write, "-R"], far.enter)
        if status != 0 or "oche: " in said:
            pairs.fail(f"rdma_cm over that route: status {status}:", said)
        print("rdma_cm over that route: works", flush=True)
    ip(f"route del {FAR}/32")
    ip("link set wire0 mtu 1500")
    says("a path MTU that is more than the interface's", pair(
        oche, ["ibv_rc_pingpong", "-d", "oche_wire0_v4", "-g", "0", "-m", "4096"], far.enter),
         r"(?m)^oche: ibv_modify_qp: a path MTU of 4096 is larger than the interface's, which is "
         r"1500 bytes: 1024 fits$")
    ip("link set wire0 mtu 9000")
    refused(oche, far)
    says("an interface that changes", pair(
        oche, [*write[:-3], "-D", "20", "-F"], far.enter,
        change=lambda: ip("link set wire0 mtu 1500")), too_large(FAR, packet, 1500))
    ip("link set wire0 mtu 9000")
    ip(f"-6 route add {netns.FAR6}/128 dev wire0 mtu 1500")
    six = ["ibv_rc_pingpong", "-d", "oche_wire0_v6", "-g", "0", "-m", "4096", "-s", "8192"]
    says("IPv6", pair(oche, [*six, "-n", "9"], far.enter),
         too_large(netns.FAR6, 40 + 8 + 12 + 4096 + 4, 1500))
    behind = third(far)
    says("a router's smaller link", pair(oche, write, behind, BEHIND),
         too_large(BEHIND, packet, 1500))


if __name__ == "__main__":
    main(sys.argv[1])
