#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waiting in a queue with random arrivals: M/D/1 at 50, 80 and 90 % load.

The oracle: many senders send messages of a single packet to one receiver, by Poisson processes. The
merged arrivals are almost Poisson, and all packets are alike; so the mean wait before the
receiver's link is rho S / (2 (1 - rho)), where S is a packet's time on the line and rho the load
(the formula of Pollaczek and Khinchine for a constant service time). The same arrivals in Lindley's
recursion, W' = max(0, W + S - gap), give each packet's wait without any randomness.

Tolerances: of the sum of all differences to Lindley's waits 0, as times are whole picoseconds. Of
the load 2 %, five standard errors of the fewest arrivals. Of the mean by the formula, at the load
that these arrivals have, 5 %: at least two standard errors, which the test estimates by 50 batches.
"""
import math
import sys

from product import compare, flows, must, report, run, write

SENDERS, RATE, PER_BYTE = 400, 100, 80  # Gbit/s; ps a byte
PAYLOAD, LINE = 1024, 1024 + 8 + 14 + 20 + 8 + 12 + 16 + 4 + 4 + 12
SERVICE = LINE * PER_BYTE
DELAY = 1_000_000
LOADS = ((0.5, 60_000), (0.8, 200_000), (0.9, 500_000))  # and packets
BATCHES = 50
TOLERANCE = 0.05


def waits(arrivals):
    """Returns the wait of each packet by Lindley's recursion. Arrivals are in order."""
    wait, before, found = 0, arrivals[0], []
    for now in arrivals:
        wait = max(0, wait + SERVICE - (now - before)) if found else 0
        found.append(wait)
        before = now
    return found


def at_switch(rows):
    """Returns (time at which the packet reaches the switch, row) in order. A sender's own link
    makes a packet wait for the one before."""
    free, reached = {}, []
    for row in rows:
        left = max(row[1], free.get(row[0], 0)) + SERVICE
        free[row[0]] = left
        reached.append((left + DELAY, row))
    reached.sort(key=lambda pair: pair[0])
    return reached


def check(load, packets):
    write("size.cdf", f"{PAYLOAD} 0\n{PAYLOAD} 100\n")
    stop = packets * SERVICE / load / 1e12
    run(f"topology: {{type: star, hosts: {SENDERS + 1}, host_rate: {RATE}Gbps, delay: 1us}}\n"
        "congestion_control: none\nswitch: {buffer: 64MB, pfc: false}\nmeasure: {interval: 0}\n"
        f"workload: {{type: poisson_cdf, cdf_file: size.cdf, senders: {SENDERS}, headers: true, "
        f"load: {load / SENDERS}, stop: {stop:.9f}s}}\n")
    rows = flows("src, start_ps, delivered_ps, dst")
    rows.sort(key=lambda row: row[1])
    reached = at_switch(rows)
    expected = waits([now for now, _ in reached])
    measured = [delivered - now - SERVICE - DELAY for now, (_, _, delivered, _) in reached]
    wrong = sum(abs(a - b) for a, b in zip(expected, measured))
    compare("all waits (Lindley)", f"sum of {len(rows)} waits at load {load}", sum(expected),
            sum(expected) + wrong, 0)
    between = reached[-1][0] - reached[0][0]
    offered = (len(rows) - 1) * SERVICE / between
    compare("load", f"load {load}", load, offered, 0.02)
    formula = offered * SERVICE / (2 * (1 - offered))
    size = len(measured) // BATCHES
    means = [sum(measured[i * size:(i + 1) * size]) / size for i in range(BATCHES)]
    centre = sum(means) / BATCHES
    error = math.sqrt(sum((mean - centre) ** 2 for mean in means) / (BATCHES - 1) / BATCHES)
    must(error < TOLERANCE / 2 * formula, f"too few packets at load {load}: the standard error is "
         f"{error / formula:.1%} of the mean")
    compare("mean wait (M/D/1)", f"load {load}", formula, sum(measured) / len(measured), TOLERANCE)


def main():
    for load, packets in LOADS:
        check(load, packets)
    return report()


if __name__ == "__main__":
    sys.exit(main())
