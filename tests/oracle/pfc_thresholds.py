#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PFC's thresholds as `oche buffers` computes them, and the time of a switch's first PAUSE.

The oracle of the thresholds: the DCQCN paper's sec 4, for any switch. With B bytes of memory, n
ports, p priorities and headroom t of each: S = B - p n t, t_PFC = S / (p n) or beta (S - s) / p,
t_ECN = t_PFC / n or beta S / (p n (beta + 1)). Headroom is what a link carries in two delays and
the response time, a frame that each end has begun, and a PAUSE frame of 64 bytes, preamble and gap.

The oracle of the first PAUSE: senders at line rate, a moment apart, into one port. The bytes of
each sender are counted from the arrival of a whole packet to the moment when it begins to leave,
and the first count above the threshold is the PAUSE.

Tolerances: of thresholds a byte, as they are rounded, or the nine digits printed; of the times 0.
"""
import json
import math
import random
import sys

from product import compare, events, must, output_of, report, run, write

CASES = 60
OVERHEAD = 8 + 14 + 20 + 8 + 12 + 4 + 4 + 12  # of a packet on the line, beside the payload
NOT_STORED = 8 + 12                           # of that: preamble and gap
RETH, MTU = 16, 1024
PAUSE = 64 + NOT_STORED


def headroom_of(rate_gbps, delay_ns, response_ns, frame):
    return math.ceil(rate_gbps * (2 * delay_ns + response_ns) / 8) + 2 * frame + PAUSE


def test_arithmetic(draw):
    for _ in range(CASES):
        ports, priorities = draw.choice((8, 16, 32, 48, 64)), draw.randint(1, 8)
        rate, delay, response = draw.choice((10, 25, 40, 100)), draw.randint(50, 2000), 500
        mtu, beta = draw.choice((1500, 4200, 9216)), draw.choice((1, 2, 4, 8, 16))
        frame = mtu + 14 + 4
        headroom = headroom_of(rate, delay, response, frame)
        memory = ports * priorities * headroom + draw.randint(2, 60) * 10**6
        told = json.loads(output_of(
            "buffers", "--json", "--buffer", f"{memory}B", "--ports", str(ports), "--priorities",
            str(priorities), "--rate", f"{rate}Gbps", "--delay", f"{delay}ns", "--response",
            f"{response}ns", "--mtu", f"{mtu}B", "--beta", str(beta)))
        shared = memory - ports * priorities * headroom
        static, dynamic = shared / (priorities * ports), beta * shared / priorities
        row = told["by_priorities"][-1]
        case = f"{ports} ports of {rate} Gbit/s, {delay} ns, {priorities} priorities, beta {beta}"
        for name, expected, measured in (
                ("headroom", headroom, told["links"][0]["headroom_bytes"]),
                ("shared", shared, row["shared_bytes"]),
                ("static t_PFC", static, row["static_pfc_bytes"]),
                ("static t_ECN", static / ports, row["static_ecn_bytes"]),
                ("dynamic t_PFC", dynamic, row["dynamic_pfc_bytes"]),
                ("dynamic t_ECN", beta * shared / (priorities * ports * (beta + 1)),
                 row["dynamic_ecn_bytes"])):
            rounding = 0 if name in ("headroom", "shared") else max(1 / expected, 1e-8)
            compare("thresholds of oche buffers", f"{name}: {case}", expected, measured, rounding)


def first_pause(starts, per_byte, delay, pauses):
    """Returns (time, sender) of the first packet with which pauses(bytes of its sender, bytes of
    all) holds. Times are in ps; starts[i] is that of sender i."""
    arrivals = []
    for sender, start in enumerate(starts):
        sent = start
        for number in range(4000):
            line = OVERHEAD + MTU + (RETH if number == 0 else 0)
            sent += line * per_byte
            arrivals.append((sent + delay, sender, line))
    held, leaves, free = [0] * len(starts), [], 0
    for now, sender, line in sorted(arrivals):
        while leaves and leaves[0][0] <= now:
            _, gone, size = leaves.pop(0)
            held[gone] -= size
        size = line - NOT_STORED
        if pauses(held[sender] + size, sum(held) + size):
            return now, sender
        held[sender] += size
        begins = max(free, now)
        free = begins + line * per_byte
        leaves.append((begins, sender, size))
    return None


def test_simulated(draw):
    for _ in range(12):
        senders, rate = draw.randint(2, 5), draw.choice((10, 25, 40, 100))
        dynamic, delay = draw.random() < 0.5, draw.choice((500, 1000, 3000))
        per_byte, frame = 8000 // rate, MTU + RETH + OVERHEAD - NOT_STORED
        ports, priorities = senders + 1, 2
        headroom = headroom_of(rate, delay, 500, frame)
        if dynamic:
            beta = draw.choice((0.5, 1, 2))
            # Small memories, so that the threshold falls while the queue grows.
            memory = ports * priorities * headroom + draw.randint(200, 600) * 1000
            shared = memory - ports * priorities * headroom
            switch = f"threshold: dynamic, beta: {beta}"

            def pauses(mine, everybody, beta=beta, shared=shared):
                return mine > beta * (shared - everybody) / priorities
        else:
            xoff, memory = draw.randint(20, 150) * 1000, 12 * 10**6
            switch = f"threshold: static, xoff: {xoff}B"

            def pauses(mine, everybody, xoff=xoff):
                return everybody > 0 and mine > xoff
        # No two events at the same time: starts differ by parts of a packet.
        gap = (OVERHEAD + MTU) * per_byte // senders
        starts = [sender * gap + sender * sender * 1000 for sender in range(senders)]
        write("flows.csv", "src,dst,bytes,start\n" + "".join(
            f"{sender + 1},0,4000000,{start / 1e12:.12f}\n" for sender, start in enumerate(starts)))
        run(f"topology: {{type: star, hosts: {ports}, host_rate: {rate}Gbps, delay: {delay}ns}}\n"
            f"congestion_control: none\nswitch: {{buffer: {memory}B, pfc_priorities: {priorities}, "
            f"{switch}}}\nduration: 2ms\nworkload: {{type: from_file, file: flows.csv}}\n",
            "--trace", "trace.csv:host=tor0")
        sent = events("trace.csv", "PAUSE_SENT")
        expected = first_pause(starts, per_byte, delay * 1000, pauses)
        case = f"{senders} senders at {rate} Gbit/s, {delay} ns, {memory} B, {switch}"
        must(sent and expected, f"a PAUSE: {case}: {expected}")
        if sent and expected:
            compare("time of the first PAUSE", case, expected[0], int(sent[0]["time_ps"]), 0)
            must(int(sent[0]["port"]) == expected[1] + 1, f"port: {case}")


def main():
    draw = random.Random(7)
    test_arithmetic(draw)
    test_simulated(draw)
    return report()


if __name__ == "__main__":
    sys.exit(main())
