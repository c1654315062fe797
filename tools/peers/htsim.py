# SPDX-License-Identifier: Apache-2.0
"""Runs htsim's RoCE: its input files, the paths that its switches chose, its results.

Broadcom/csg-htsim on GitHub, sim/datacenter/htsim_roce, built as docs/peers.md says. It has PFC by
fixed thresholds and no congestion control for RoCE.
"""
import os
import re
import subprocess

from network import HOSTS, LINE_BYTES, RATE_GBPS, leaf_of

HEADER_BYTES = 86                # the bytes that it adds to a packet's payload, and an ACK's size
PAYLOAD_BYTES = LINE_BYTES - HEADER_BYTES
ABOVE_XON_PACKETS = 3


def xoff_packets(pauses):
    """Of PAYLOAD_BYTES each. Without pauses: more than ever wait."""
    return 150 if pauses else 100_000


def xoff_bytes(full_packet, pauses):
    """The threshold of PAUSE as oche's: packets of another size, half a packet from the edge."""
    packets = int(xoff_packets(pauses) * PAYLOAD_BYTES / LINE_BYTES + 0.5)
    return packets * full_packet - full_packet // 2


def write(folder, flows):
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/flows.cm", "w", encoding="utf-8") as out:
        out.write(f"Nodes {HOSTS}\nConnections {len(flows)}\n")
        for number, flow in enumerate(flows, 1):
            out.write(f"{flow.src}->{flow.dst} id {number} start {flow.start_ns * 1000} "
                      f"size {flow.packets * PAYLOAD_BYTES}\n")


def run(datacenter, folder, flows, seed, pauses):
    """(completion times in ns, paths) of the flows: until the last ACK is at the sender."""
    xoff = xoff_packets(pauses)
    command = [f"{datacenter}/htsim_roce", "-nodes", str(HOSTS), "-tiers", "2", "-tm",
               f"{folder}/flows.cm", "-strat", "ecmp_host", "-paths", "128", "-queue_type",
               "lossless_input", "-mtu", str(PAYLOAD_BYTES), "-linkspeed", str(RATE_GBPS * 1000),
               "-hop_latency", "1", "-pfc_thresholds", str(xoff - ABOVE_XON_PACKETS), str(xoff),
               "-q", "1000000", "-end", "1000000", "-seed", str(seed), "-o", f"{folder}/log.out"]
    with open(f"{folder}/log.txt", "w", encoding="utf-8") as log:
        status = subprocess.run(command, stdout=log, stderr=log, cwd=folder,
                                check=False).returncode
    if status != 0:
        raise SystemExit(f"htsim ended with status {status}; see {folder}/log.txt")
    return results(f"{folder}/log.txt", flows)


def results(path, flows):
    """Flows are identified by the numbers of their sources, which were made in the flows' order."""
    times, ways = {}, {}
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if found := re.match(r"Flow \S+ (\d+) finished at ([\d.e+]+)", line):
                times[int(found[1])] = float(found[2]) * 1000
            elif found := re.match(r"way (\d+) (\d+) (\d+)", line):
                ways[int(found[2]) - 1, int(found[1])] = int(found[3])
    if len(times) != len(flows):
        raise SystemExit(f"{path}: {len(times)} of {len(flows)} flows have completed")
    ends = [times[number] for number in sorted(times)]
    return ([end - flow.start_ns for end, flow in zip(ends, flows)],
            [(ways.get((i, leaf_of(flow.src))), ways.get((i, leaf_of(flow.dst))))
             for i, flow in enumerate(flows)])
