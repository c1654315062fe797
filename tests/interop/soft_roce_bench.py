#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our device and Linux's soft-RoCE side by side in one virtual machine: the same clients on each,
one after the other, over a pair of veth devices. Ours has an end in each of two namespaces.
soft-RoCE has a device on both ends of another pair, in the machine's own namespace, which is the
only one that it serves; routing rules make it send over the link.

usage: soft_roce_bench.py OCHE [--runs=N] [--quick] [CLIENT…]

Prints a table in Markdown: medians of N runs (5), and how often ours is soft-RoCE's. CPU is what
the machine used of this host's processors for both ends and its kernel, less what it uses for the
same programs with five messages; perftest polls, so who is slower uses more. An emulated machine is
no measure for others: only the ratios say something. For latency it is not shown: both ends poll.
--quick: one run of two clients. CLIENT: only its rows, such as ib_write_lat. Status 77 as in
soft_roce.py.
"""
import os
import statistics
import sys

import pairs
import vm

ROWS = [  # client, bytes, MTU of the path
    (f"ib_{name}_bw", size, mtu) for name in ("write", "send", "read") for size in (65536, 4096)
    for mtu in (1024, 4096)
] + [(f"ib_{name}_lat", 8, 4096) for name in ("write", "send")]
COUNT = {"bw": 400, "lat": 500}
SETUP = """
ip netns add a; ip netns add b
ip link add va netns a type veth peer name vb netns b
for side in a b; do
    ip -n $side link set lo up; ip -n $side link set v$side mtu 9000 up
done
ip -n a addr add 10.81.0.1/24 dev va; ip -n b addr add 10.81.0.2/24 dev vb
ip link add ra type veth peer name rb
for side in a b; do
    ip link set r$side mtu 9000 up
    echo 1 >/proc/sys/net/ipv4/conf/r$side/accept_local
    echo 0 >/proc/sys/net/ipv4/conf/r$side/rp_filter
    echo 1 >/proc/sys/net/ipv4/conf/r$side/arp_ignore
done
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
ip addr add 10.82.0.1/32 dev ra; ip addr add 10.82.0.2/32 dev rb
ip rule add pref 10 from all iif ra lookup local; ip rule add pref 11 from all iif rb lookup local
ip rule add pref 20 from 10.82.0.1 to 10.82.0.2 lookup 101
ip rule add pref 21 from 10.82.0.2 to 10.82.0.1 lookup 102
ip rule add pref 100 lookup local; ip rule del pref 0
ip route add 10.82.0.2 dev ra src 10.82.0.1 table 101
ip route add 10.82.0.1 dev rb src 10.82.0.2 table 102
"""


def gid_of(machine, device, address):
    hexadecimal = "".join(f"{int(part):02x}" for part in address.split("."))
    said = machine.must(f"cd /sys/class/infiniband/{device}/ports/1/gids && grep . 0 1 2 3 4 5")
    wanted = f"ffff:{hexadecimal[:4]}:{hexadecimal[4:]}"
    return next(line.split(":")[0] for line in said.split("\n") if line.endswith(wanted))


def used_by(machine):
    """Seconds of this host's processors that the machine has used."""
    with open(f"/proc/{machine.process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, machine, oche):
        self.machine, self.oche = machine, oche
        self.gids = [gid_of(machine, "rxea", "10.82.0.1"), gid_of(machine, "rxeb", "10.82.0.2")]
        self.port = 19000

    def commands(self, ours, words):
        """The server's command, and the client's."""
        if ours:
            return [f"ip netns exec {side} {self.oche} exec --device 10.81.0.{number} -- {words}"
                    for side, number in (("b", 2), ("a", 1))], "10.81.0.2"
        return [f"{words} -d rxe{side} -x {gid}" for side, gid in
                (("b", self.gids[1]), ("a", self.gids[0]))], "127.0.0.1"

    def measure(self, ours, client, size, mtu, count):
        """MB/s or us, and seconds of CPU."""
        self.port += 1
        words = f"{client} -s {size} -n {count} -m {mtu} -p {self.port} -F -u 20"
        if "read" in client:
            words += " -o 16"
        (server, calling), address = self.commands(ours, words)
        used = used_by(self.machine)
        serving = self.machine.start(server)
        inside = "ip netns exec b " if ours else ""
        self.machine.must(f"for i in $(seq 200); do {inside}grep -q ':{self.port:04X} .* 0A' "
                          "/proc/net/tcp && exit 0; sleep 0.05; done; exit 1")
        status, said = self.machine.run(f"{calling} {address}", 100)
        if status != 0 or serving.wait(30) != 0:
            raise vm.Failed(f"{calling}: {said}\n{serving.said()}")
        row = pairs.rows_of(said)[-1]
        return float(row[3]) if client.endswith("_bw") else float(row[4]), \
            used_by(self.machine) - used

    def row(self, client, size, mtu, runs):
        """Two pairs of medians, first ours, then soft-RoCE's: the measured value, and ns of CPU
        per byte."""
        count = COUNT[client.split("_")[-1]] * (4 if size == 4096 else 1)
        values, cpu = ([], []), ([], [])
        start = [self.measure(ours, client, size, mtu, 5)[1] for ours in (True, False)]
        for _ in range(runs):
            for i, ours in enumerate((True, False)):
                value, used = self.measure(ours, client, size, mtu, count)
                values[i].append(value)
                cpu[i].append((used - start[i]) * 1e9 / (size * count))
        return [statistics.median(row) for row in values], [statistics.median(row) for row in cpu]


def bench(machine, oche, runs, rows):
    machine.must(SETUP)
    machine.rxe("rxea", "ra")
    machine.rxe("rxeb", "rb")
    flags = machine.must("grep -m1 flags /proc/cpuinfo").split()
    print("Linux", machine.must("uname -r").strip() + ", flags of the processor:",
          " ".join(name for name in ("pclmulqdq", "sse4_2", "avx2", "avx512f", "vpclmulqdq")
                   if name in flags))
    both = Bench(machine, oche)
    print("\n| client | bytes | MTU | oche | soft-RoCE | ratio | CPU, ns a byte, oche | soft-RoCE "
          "| ratio |\n|---|---|---|---|---|---|---|---|---|")
    for client, size, mtu in rows:
        values, cpu = both.row(client, size, mtu, runs)
        unit = "MB/s" if client.endswith("_bw") else "us"
        used = "– | – | –"
        if client.endswith("_bw"):
            used = f"{cpu[0]:.3g} | {cpu[1]:.3g} | {cpu[0] / max(cpu[1], 1e-9):.2f}"
        print(f"| {client} | {size} | {mtu} | {values[0]:.4g} {unit} | {values[1]:.4g} {unit} "
              f"| {values[0] / values[1]:.2f} | {used} |", flush=True)


def main(arguments):
    runs = next((int(word[7:]) for word in arguments if word.startswith("--runs=")), 5)
    quick = "--quick" in arguments
    named = [word for word in arguments[1:] if not word.startswith("-")]
    rows = [row for row in ROWS if not named or row[0] in named]
    pairs.need("ib_write_bw", "rdma")
    vm.enter()
    with vm.Machine(nets=(), memory=2048) as machine:
        bench(machine, os.path.abspath(arguments[0]), 1 if quick else runs,
              [rows[0], rows[-1]] if quick else rows)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except vm.Failed as error:
        print(f"soft_roce_bench.py: {error}", file=sys.stderr)
        sys.exit(1)
