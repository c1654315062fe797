# SPDX-License-Identifier: Apache-2.0
"""The network that all three simulators have, and what is sent in it.

Sixteen leaves with eight hosts each and eight spines, every link of 100 Gbit/s and 1 us. A full
packet takes 1250 bytes of the line in each simulator, which is 100 ns: ns-3 counts time in whole
nanoseconds. Flows are of whole packets, as htsim sends nothing else. The parts of those 1250 bytes
differ: a flow is counted in packets, and each simulator is told the payload that its headers leave.
"""
import bisect
import os
import random

LEAVES, SPINES, HOSTS_PER_LEAF = 16, 8, 8
HOSTS = LEAVES * HOSTS_PER_LEAF
RATE_GBPS, DELAY_NS = 100, 1000
LINE_BYTES = 1250       # of a full packet
PAYLOAD_BYTES = 1168    # of it in oche: 82 are headers, preamble and gap
QUEUED_BYTES = 1230     # of it in oche's buffers: preamble and gap are on the line alone
WEBSEARCH = os.path.join(os.path.dirname(__file__), "../../data/cdf/websearch.txt")


class Flow:
    """From host src to host dst, so many packets, from start_ns on."""

    def __init__(self, src, dst, packets, start_ns):
        self.src, self.dst, self.packets, self.start_ns = src, dst, packets, start_ns


def leaf_of(host):
    return host // HOSTS_PER_LEAF


def packets_of(size_bytes):
    return max(1, -(-size_bytes // PAYLOAD_BYTES))


def permutation(seed, size_bytes=2_000_000):
    """Each host sends to one other and receives from one other; they start within 10 us."""
    draw = random.Random(f"permutation {seed}")
    while True:
        to = list(range(HOSTS))
        draw.shuffle(to)
        if all(src != dst for src, dst in enumerate(to)):
            break
    return in_order([Flow(src, dst, packets_of(size_bytes), draw.randrange(10_000))
                     for src, dst in enumerate(to)])


def incast(seed, degree=16, size_bytes=1_000_000):
    """Hosts of other leaves send to host 0, and start within 1 us."""
    draw = random.Random(f"incast {seed}")
    senders = draw.sample(range(HOSTS_PER_LEAF, HOSTS), degree)
    return in_order([Flow(src, 0, packets_of(size_bytes), draw.randrange(1000))
                     for src in senders])


def websearch(seed, load=0.4, duration_ns=2_000_000):
    """Poisson arrivals at each host for duration_ns, sizes of the web search distribution."""
    draw = random.Random(f"websearch {seed}")
    sizes, shares = read_cdf(WEBSEARCH)
    mean = sum((shares[i] - shares[i - 1]) * (sizes[i] + sizes[i - 1]) / 2
               for i in range(1, len(sizes)))
    gap_ns = mean * 8 / (load * RATE_GBPS)
    flows = []
    for src in range(HOSTS):
        now = draw.expovariate(1 / gap_ns)
        while now < duration_ns:
            dst = (src + draw.randrange(1, HOSTS)) % HOSTS
            flows.append(Flow(src, dst, packets_of(drawn(draw, sizes, shares)), int(now)))
            now += draw.expovariate(1 / gap_ns)
    return in_order(flows)


def read_cdf(path):
    """(sizes in bytes, parts of all flows that are at most as large, from 0 to 1)."""
    with open(path, encoding="utf-8") as lines:
        rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return [int(row[0]) for row in rows], [float(row[1]) / 100 for row in rows]


def drawn(draw, sizes, shares):
    share = draw.random()
    i = bisect.bisect_left(shares, share, 1, len(shares) - 1)
    part = (share - shares[i - 1]) / (shares[i] - shares[i - 1])
    return int(sizes[i - 1] + part * (sizes[i] - sizes[i - 1]))


def in_order(flows):
    return sorted(flows, key=lambda flow: (flow.start_ns, flow.src, flow.dst))


def jittered(flows, seed):
    """The same flows, each 1 ns later with a probability of a half, in the same order."""
    draw = random.Random(f"jitter {seed}")
    return [Flow(flow.src, flow.dst, flow.packets, flow.start_ns + draw.randrange(2))
            for flow in flows]


def ideal_ns(flow):
    """Until the last ACK arrives, alone in the network, ACKs counted as 7 ns."""
    links = 2 if leaf_of(flow.src) == leaf_of(flow.dst) else 4
    return 100 * (flow.packets + links - 1) + 2 * links * DELAY_NS + 7 * links


WORKLOADS = {"permutation": permutation, "incast": incast, "websearch": websearch}
