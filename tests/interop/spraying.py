#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One queue pair over many source ports, with each scheme of `--entropy`: data leaves from all
ports, ACKs name paths, and their ports have the remainders of the data's. Then four paths of
unequal rate (tools/four-paths): each carries what its share of the ports is.

usage: spraying.py OCHE FOUR_PATHS

Nothing here depends on how fast the machine is. Where namespaces, veth or tbf are missing, the
second part is skipped, with a line.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

import pairs

PORTS = 8
WRITES, ACK = range(6, 12), 17  # opcodes of RC
PATH = 1  # bit of BTH byte 4


def packets(path):
    """Yields (source address, UDP source port, opcode, reserved bits) of each packet captured."""
    with open(path, "rb") as file:
        data = file.read()
    at = 24
    while at < len(data):
        count = struct.unpack_from("<I", data, at + 8)[0]
        packet = data[at + 16:at + 16 + count]
        at += 16 + count
        yield packet[12:16], int.from_bytes(packet[20:22], "big"), packet[28], packet[32]


def on_loopback(oche, entropy):
    hears = entropy not in ("ecmp", "oblivious")
    with tempfile.TemporaryDirectory() as top:
        capture = os.path.join(top, "client.pcap")
        options = [f"--entropy={entropy}", f"--source-ports={PORTS}", "--peer-ports=any"]
        done = pairs.run(oche, "ib_write_bw", "-n 300 -s 65536", pairs.Side(pairs.SERVER, options),
                         pairs.Side(pairs.CLIENT, options + ["--capture", capture]), pairs.SERVER)
        if done.error is not None:
            pairs.fail(entropy, done.error)
        own = bytes(map(int, pairs.CLIENT.split(".")))
        data, acks = set(), []
        for source, port, opcode, reserved in packets(capture):
            if source == own and opcode in WRITES:
                data.add(port % PORTS)
            elif source != own and opcode == ACK:
                acks.append((port % PORTS, bool(reserved & PATH)))
    if len(data) != (1 if entropy == "ecmp" else PORTS):
        pairs.fail(entropy, "data left from ports with the remainders", sorted(data))
    naming = {remainder for remainder, names in acks if names}
    if not acks or (len(naming) >= 2) != hears or not naming <= data:
        pairs.fail(entropy, f"{len(acks)} ACKs; those that name a path have the remainders",
                   sorted(naming))
    print(f"{entropy}: {len(data)} ports, ACKs name {len(naming)} of them", flush=True)


def over_four_paths(four_paths, build):
    """Rates that any machine reaches. Control packets keep to one path: less than a hundredth."""
    done = subprocess.run([four_paths, "--rates=40,30,20,10", "--seconds=2", "--json",
                           "--only=oblivious", build], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        print(done.stdout.strip())
        return
    if done.returncode != 0:
        pairs.fail("four-paths:", done.stdout, done.stderr)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    right = {"equal": [16, 16, 16, 16], "by rate": [26, 19, 13, 6]}
    if {row["map"] for row in rows} != set(right) or len(rows) != 3:
        pairs.fail(rows)
    for row in rows:
        wanted = [ports / 64 for ports in right[row["map"]]]
        if row["goodput_mbps"] <= 0 or row["goodput_mbps"] > 100 or \
                any(abs(is_now - want) > 0.03 for is_now, want in zip(row["path_shares"], wanted)):
            pairs.fail(row, "instead of", wanted)
        print(f"{row['name']}: {row['goodput_mbps']:.0f} Mbit/s")


def main():
    oche, four_paths = sys.argv[1:]
    pairs.need("ib_write_bw")
    for entropy in ("ecmp", "oblivious", "bitmap", "reps", "mixed"):
        on_loopback(oche, entropy)
    over_four_paths(four_paths, os.path.dirname(os.path.abspath(oche)))


if __name__ == "__main__":
    main()
