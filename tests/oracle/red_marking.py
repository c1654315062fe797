#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RED's marking curve (DCQCN sec 3.1, Fig 5): no mark up to Kmin, a line from 0 at Kmin to Pmax at
Kmax, above Kmax every packet.

The oracle: two senders at line rate, half a packet apart, fill one queue and stop; so the queue
that each packet leaves behind, or finds with marks at arrival, is known. The receiver's trace says
which packets have the mark. Packets with the same probability of 0 or 1 are counted exactly. On the
line between, the marks are a sum of independent draws.

Tolerance there: four standard deviations of that sum, over its mean. One deviation would be
exceeded in a third of the comparisons, four in one of 16,000; the seed is fixed.
"""
import math
import sys

from product import compare, events, must, report, run, write

MTU, RETH = 1024, 16
STORED = 14 + 20 + 8 + 12 + 4 + 4  # of a packet in a queue, beside the payload
LINE = STORED + 8 + 12
RATE, PER_BYTE, DELAY = 100, 80, 1_000_000  # Gbit/s; ps a byte; ps
PACKETS = 30000  # of each sender


def queues(starts, at_arrival):
    """Returns the sender of each packet in the order in which they leave, and the queue in bytes
    that decides about its mark."""
    arrivals = []
    for sender, start in enumerate(starts):
        sent = start
        for number in range(PACKETS):
            size = MTU + STORED + (RETH if number == 0 else 0)
            sent += (size + LINE - STORED) * PER_BYTE
            arrivals.append((sent + DELAY, sender, size))
    arrivals.sort()
    begins, free = [], 0
    for now, _, size in arrivals:
        begins.append(max(now, free))
        free = begins[-1] + (size + LINE - STORED) * PER_BYTE
    seen, waiting, arrived, left = [], 0, 0, 0
    for number, (now, sender, size) in enumerate(arrivals):
        if at_arrival:
            while left < number and begins[left] <= now:
                waiting -= arrivals[left][2]
                left += 1
            seen.append((sender, waiting))
            waiting += size
        else:
            while arrived < len(arrivals) and arrivals[arrived][0] <= begins[number]:
                waiting += arrivals[arrived][2]
                arrived += 1
            waiting -= size
            seen.append((sender, waiting))
    return seen


def check(kmin, kmax, pmax, at_arrival, parts):
    starts = (0, LINE * PER_BYTE + MTU * PER_BYTE // 2 + 40)
    bytes_ = PACKETS * MTU
    write("flows.csv", "src,dst,bytes,start\n" + "".join(
        f"{sender + 1},0,{bytes_},{start / 1e12:.12f}\n" for sender, start in enumerate(starts)))
    run(f"topology: {{type: star, hosts: 3, host_rate: {RATE}Gbps, delay: 1us}}\n"
        f"congestion_control: {{name: dcqcn, min_rate: {RATE}Gbps}}\n"
        f"switch: {{buffer: 200MB, kmin: {kmin}B, kmax: {kmax}B, pmax: {pmax}, "
        f"ecn_at: {'enqueue' if at_arrival else 'dequeue'}}}\n"
        "workload: {type: from_file, file: flows.csv}\n", "--trace", "trace.csv:host=0")
    marks = [row.get("ecn") == "3" for row in events("trace.csv", "DATA_ARRIVED")]
    seen = queues(starts, at_arrival)
    must(len(marks) == len(seen), f"{len(marks)} packets arrived, {len(seen)} expected")
    judge(kmin, kmax, pmax, parts, list(zip((queue for _, queue in seen), marks)))


def judge(kmin, kmax, pmax, parts, seen):
    """Compares marks with the curve. `seen` has the queue and the mark of each packet. The line
    between Kmin and Kmax is cut into so many equal parts."""
    case = f"kmin {kmin}, kmax {kmax}, pmax {pmax}"
    compare("marks up to Kmin", case, 0, sum(mark for queue, mark in seen if queue <= kmin), 0)
    above = [mark for queue, mark in seen if queue > kmax]
    must(above, f"no queue above Kmax: {case}")
    compare("marks above Kmax", case, len(above), sum(above), 0)
    for part in range(parts):
        low = kmin + (kmax - kmin) * part / parts
        high = low + (kmax - kmin) / parts
        chances = [(pmax * (queue - kmin) / (kmax - kmin), mark)
                   for queue, mark in seen if low < queue <= high]
        mean = sum(chance for chance, _ in chances)
        deviation = math.sqrt(sum(chance * (1 - chance) for chance, _ in chances))
        compare("marks between", f"part {part + 1}, {case}", mean,
                sum(mark for _, mark in chances), 4 * deviation / mean)


def main():
    check(100_000, 20_000_000, 1, False, 2)
    check(100_000, 20_000_000, 1, True, 2)
    check(1_000_000, 25_000_000, 0.5, False, 1)
    check(300_000, 300_000, 1, True, 0)
    return report()


if __name__ == "__main__":
    sys.exit(main())
