# SPDX-License-Identifier: Apache-2.0
"""Runs ns-3's HPCC fork: its input files, the paths that its switches' hash chooses, its results.

alibaba-edu/High-Precision-Congestion-Control on GitHub, simulation/, built as docs/peers.md says.
"""
import os
import subprocess

from network import (DELAY_NS, HOSTS, LEAVES, LINE_BYTES, RATE_GBPS, SPINES, leaf_of)

# Headers are Ethernet's 14, IP's 20, UDP's 8 and a sequence number of 6. With 1250 bytes a packet
# would take 99 ns, as a double a little below 1e-7 s is cut to whole nanoseconds; with 1251, 100.
PAYLOAD_BYTES = LINE_BYTES + 1 - 48
START_NS = 2_000_000_000         # where its own examples begin
DPORT, FIRST_SPORT = 100, 10_000
MASK = 0xFFFFFFFF

CONFIG = """ENABLE_QCN {ecn}
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE {payload}
TOPOLOGY_FILE {folder}/topology.txt
FLOW_FILE {folder}/flow.txt
TRACE_FILE {folder}/trace.txt
TRACE_OUTPUT_FILE {folder}/trace.out
FCT_OUTPUT_FILE {folder}/fct.txt
PFC_OUTPUT_FILE {folder}/pfc.txt
SIMULATOR_STOP_TIME 3
CC_MODE {cc_mode}
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 50Mb/s
RATE_HAI 100Mb/s
MIN_RATE 100Mb/s
DCTCP_RATE_AI 1000Mb/s
ERROR_RATE_PER_LINK 0
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
HAS_WIN 0
GLOBAL_T 1
VAR_WIN 0
FAST_REACT 1
U_TARGET 0.95
MI_THRESH 0
INT_MULTI 1
MULTI_RATE 0
SAMPLE_FEEDBACK 0
PINT_LOG_BASE 1.05
PINT_PROB 1
RATE_BOUND 1
ACK_HIGH_PRIO {ack_high_prio}
LINK_DOWN 0 0 0
ENABLE_TRACE 0
KMAX_MAP 1 {bps} {kmax_kb}
KMIN_MAP 1 {bps} {kmin_kb}
PMAX_MAP 1 {bps} 0.2
BUFFER_SIZE {buffer_mib}
QLEN_MON_FILE {folder}/qlen.txt
QLEN_MON_START 1
QLEN_MON_END 1
"""


def leaf_id(leaf):
    return HOSTS + leaf


def spine_id(spine):
    return HOSTS + LEAVES + spine


def write(folder, flows, options):
    """The files of a run. options: dcqcn, ack_high_prio, buffer_mib, kmin_kb, kmax_kb."""
    os.makedirs(folder, exist_ok=True)
    links = [(host, leaf_id(leaf_of(host))) for host in range(HOSTS)]
    links += [(leaf_id(leaf), spine_id(spine)) for leaf in range(LEAVES) for spine in range(SPINES)]
    with open(f"{folder}/topology.txt", "w", encoding="utf-8") as out:
        out.write(f"{HOSTS + LEAVES + SPINES} {LEAVES + SPINES} {len(links)}\n")
        out.write(" ".join(str(HOSTS + i) for i in range(LEAVES + SPINES)) + "\n")
        for a, b in links:
            out.write(f"{a} {b} {RATE_GBPS}Gbps {DELAY_NS}ns 0\n")
    with open(f"{folder}/flow.txt", "w", encoding="utf-8") as out:
        out.write(f"{len(flows)}\n")
        for flow in flows:
            out.write(f"{flow.src} {flow.dst} 3 {DPORT} {flow.packets * PAYLOAD_BYTES} "
                      f"{(START_NS + flow.start_ns) / 1e9:.9f}\n")
    with open(f"{folder}/trace.txt", "w", encoding="utf-8") as out:
        out.write("0\n")
    with open(f"{folder}/config.txt", "w", encoding="utf-8") as out:
        out.write(CONFIG.format(folder=folder, payload=PAYLOAD_BYTES, bps=RATE_GBPS * 10**9,
                                ecn=int(options["dcqcn"]), cc_mode=1 if options["dcqcn"] else 0,
                                ack_high_prio=int(options["ack_high_prio"]),
                                buffer_mib=options["buffer_mib"], kmin_kb=options["kmin_kb"],
                                kmax_kb=options["kmax_kb"]))


def run(simulation, folder, flows, seed):
    """Completion times in ns, one for each flow: until the last ACK is at the sender. The seed is
    that of marks."""
    build = f"{simulation}/build"
    environment = dict(os.environ, LD_LIBRARY_PATH=build, NS_GLOBAL_VALUE=f"RngRun={seed}",
                       MALLOC_MMAP_THRESHOLD_=str(1 << 30), MALLOC_MMAP_MAX_="0")
    with open(f"{folder}/log.txt", "w", encoding="utf-8") as log:
        status = subprocess.run([f"{build}/scratch/third", f"{folder}/config.txt"], stdout=log,
                                stderr=log, env=environment, check=False).returncode
    if status != 0:
        raise SystemExit(f"ns-3 ended with status {status}; see {folder}/log.txt")
    return results(f"{folder}/fct.txt", flows)


def results(path, flows):
    numbers = {(flow.src, flow.dst, sport): i
               for i, (flow, sport) in enumerate(zip(flows, sports(flows)))}
    times = [None] * len(flows)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            sip, dip, sport, _, _, _, fct_ns, _ = line.split()
            times[numbers[host_of(sip), host_of(dip), int(sport)]] = int(fct_ns)
    if None in times:
        raise SystemExit(f"{path}: {times.count(None)} of {len(flows)} flows have not completed")
    return times


def pauses(folder):
    """PAUSE frames that arrived somewhere."""
    with open(f"{folder}/pfc.txt", encoding="utf-8") as lines:
        return sum(line.split()[4] == "1" for line in lines)


def host_of(address):
    return (int(address, 16) >> 8) & 0xFFFF


def sports(flows):
    """Source ports: from 10000 on for each pair of hosts."""
    seen, ports = {}, []
    for flow in flows:
        pair = flow.src, flow.dst
        ports.append(FIRST_SPORT + seen.get(pair, 0))
        seen[pair] = seen.get(pair, 0) + 1
    return ports


def paths(flows):
    """(spine of the data, spine of the ACKs) of each flow, None under one leaf.

    A switch hashes addresses and ports by MurmurHash3 with its own number as the seed. Its next
    hops are in the order of the nodes' addresses in memory, which is that of their numbers if all
    of them come from one growing heap; run sets malloc's environment so.
    """
    return [(None, None) if leaf_of(flow.src) == leaf_of(flow.dst) else
            (spine(flow.src, flow.dst, sport, DPORT), spine(flow.dst, flow.src, DPORT, sport))
            for flow, sport in zip(flows, sports(flows))]


def spine(src, dst, sport, dport):
    words = address(src), address(dst), sport | dport << 16
    return murmur3(words, leaf_id(leaf_of(src))) % SPINES


def address(node):
    return 0x0B000001 + (node // 256 << 16) + (node % 256 << 8)


def murmur3(words, seed):
    """MurmurHash3 for x86, 32 bits (A. Appleby, public domain), of whole words."""
    value = seed
    for word in words:
        word = word * 0xCC9E2D51 & MASK
        word = (word << 15 | word >> 17) & MASK
        value ^= word * 0x1B873593 & MASK
        value = (value << 13 | value >> 19) & MASK
        value = value * 5 + 0xE6546B64 & MASK
    value ^= 4 * len(words)
    value = (value ^ value >> 16) * 0x85EBCA6B & MASK
    value = (value ^ value >> 13) * 0xC2B2AE35 & MASK
    return value ^ value >> 16
