# SPDX-License-Identifier: Apache-2.0
"""Runs oche as one of its peers is set: the scenario, the flows, their paths, the results."""
import os
import sqlite3
import subprocess

import htsim
from network import (DELAY_NS, HOSTS_PER_LEAF, LEAVES, LINE_BYTES, PAYLOAD_BYTES, QUEUED_BYTES,
                     RATE_GBPS, SPINES, leaf_of)

SCENARIO = """topology: {{type: leaf_spine, leaves: {leaves}, spines: {spines},
  hosts_per_leaf: {hosts_per_leaf}, host_rate: {rate}Gbps, link_rate: {rate}Gbps,
  delay: {delay}ns, link_delay: {delay}ns}}
routes: {{file: routes.txt}}
host: {{mtu: {payload}B, pfc_response: 0, ack_timeout: never, ack_priority: {ack_priority}}}
switch: {{pfc_response: 0, pfc_priorities: 2, {switch}}}
congestion_control: {scheme}
workload: {{type: from_file, file: flows.csv}}
seed: {seed}
measure: {{interval: 0}}
"""

DCQCN = """{name: dcqcn, mode: nic, g: 1/256, alpha_interval: 1us, reduce_monitor_period: 4us,
  timer: 300us, fast_recovery_steps: 1, rai: 50Mbps, rhai: 100Mbps, min_rate: 100Mbps,
  release: never, idle_timeout: never, %s}"""


def as_queued(line_bytes):
    """Bytes of queues that hold as many full packets as so many bytes do in the peers."""
    return round(line_bytes * QUEUED_BYTES / LINE_BYTES)


def switch_as_ns3(options):
    """ns-3: a port's threshold is an eighth of what is free, behind 4096 bytes that every ingress
    queue has for itself; headroom is three times what a link's delay holds."""
    ports = HOSTS_PER_LEAF + SPINES
    headroom = RATE_GBPS * DELAY_NS // 8 * 3
    free = (options["buffer_mib"] << 20) - ports * (headroom + 4096) + 8 * 4096
    # oche has two lossless classes, data and control, and divides by two.
    keys = (f"threshold: dynamic, beta: 1/4, headroom: {as_queued(headroom)}B, "
            f"buffer: {as_queued(free) + 2 * ports * as_queued(headroom)}B, "
            f"xon_offset: {as_queued(3072)}B")
    if not options["dcqcn"]:
        return keys + ", ecn: false"
    return (f"{keys}, ecn_at: dequeue, pmax: 0.2, kmin: {as_queued(options['kmin_kb'] * 1000)}B, "
            f"kmax: {as_queued(options['kmax_kb'] * 1000)}B")


def switch_as_htsim(options):
    """htsim: a fixed threshold for each port, and memory without end."""
    return (f"threshold: static, xoff: {htsim.xoff_bytes(QUEUED_BYTES, options['pauses'])}B, "
            f"xon_offset: {htsim.ABOVE_XON_PACKETS * QUEUED_BYTES}B, buffer: 2GB, ecn: false")


def write(folder, flows, ways, options):
    """options: peer (ns3 or htsim), dcqcn, ack_high_prio, seed, pauses, and those of ns3.write."""
    os.makedirs(folder, exist_ok=True)
    switch = switch_as_ns3(options) if options["peer"] == "ns3" else switch_as_htsim(options)
    scheme = DCQCN % "np: ack" if options["dcqcn"] else "none"
    with open(f"{folder}/scenario.yaml", "w", encoding="utf-8") as out:
        out.write(SCENARIO.format(
            leaves=LEAVES, spines=SPINES, hosts_per_leaf=HOSTS_PER_LEAF, rate=RATE_GBPS,
            delay=DELAY_NS, payload=PAYLOAD_BYTES, switch=switch, scheme=scheme,
            ack_priority=str(options["ack_high_prio"]).lower(), seed=options["seed"]))
    with open(f"{folder}/flows.csv", "w", encoding="utf-8") as out:
        out.write("src,dst,bytes,start\n")
        for flow in flows:
            out.write(f"{flow.src},{flow.dst},{flow.packets * PAYLOAD_BYTES},{flow.start_ns}ns\n")
    with open(f"{folder}/routes.txt", "w", encoding="utf-8") as out:
        write_routes(out, flows, ways)


def write_routes(out, flows, ways):
    """The path of each flow's data, and that of its ACKs."""
    for number, (flow, (there, back)) in enumerate(zip(flows, ways)):
        if there is None:
            continue
        src, dst = (f"leaf{leaf_of(host)}" for host in (flow.src, flow.dst))
        out.write(f"flow {number} host{flow.src} {src} spine{there} {dst} host{flow.dst}\n")
        out.write(f"flow {number} host{flow.dst} {dst} spine{back} {src} host{flow.src}\n")


def run(program, folder, flows):
    """Completion times in ns, one for each flow: until the last ACK is at the sender."""
    command = [program, "run", "--quiet", "--out", f"{folder}/out", f"{folder}/scenario.yaml"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: status {result.returncode}\n{result.stderr}")
    with sqlite3.connect(f"{folder}/out/run.sqlite") as results:
        rows = results.execute("SELECT completed_ps - start_ps FROM flows ORDER BY id").fetchall()
    if len(rows) != len(flows) or None in [row[0] for row in rows]:
        raise SystemExit(f"{folder}: not all of {len(flows)} flows have completed")
    return [row[0] / 1000 for row in rows]
