#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DCQCN in packets: queue, rates and CNPs of 2, 4, 8 and 16 senders at one bottleneck.

The oracle: packet_dcqcn.c, a packet simulator of its own for this one network. Both simulators draw
their own random numbers, so means over time are compared, after a warm-up of 100 ms.

Beside that, for the reader: the queue at rest of the fluid model (`oche fluid`), which knows no
packets. It is not compared: from 9 senders on packets have shorter queues, since the queue swings
to Kmax, where all senders are marked at once.

Tolerances: four standard errors of the difference, at most 5 %. The oracle's batches give the
standard error of a batch; the product's run is as long as so many batches.

usage: dcqcn_packets.py PACKET_DCQCN
"""
import math
import sqlite3
import subprocess
import sys

from product import FOLDER, compare, must, output_of, report, rows_of, run

WARMUP, BATCH = 100, 50  # ms
PAYLOAD = 1024
# senders: batches of the product, and of the oracle
LENGTHS = {2: (80, 120), 4: (70, 105), 8: (80, 120), 16: (20, 40)}
QUANTITIES = ("queue, mean", "queue, deviation", "rate, mean", "rate, deviation", "CNPs a second",
              "packets a second")
# Rates of few senders wander slowly: four standard errors are 17 % with two of them.
NOISY, NOISY_BELOW = "rate, deviation", 8


def quantities(queue, queue_square, rate, rate_square, cnps, packets, seconds):
    return (queue, math.sqrt(queue_square - queue**2), rate, math.sqrt(rate_square - rate**2),
            cnps / seconds, packets / seconds)


def oracle(program, senders, batches):
    """Returns for each quantity its value and the relative standard deviation of a batch."""
    told = subprocess.run([program, str(senders), "1", str(WARMUP), str(batches), str(BATCH)],
                          stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [[float(value) for value in line.split()] for line in told.splitlines()]
    must(len(rows) == batches, f"{len(rows)} batches of {senders} senders")
    whole = quantities(*(sum(column) / batches for column in zip(*rows)), BATCH / 1e3)
    each = zip(*(quantities(*row, BATCH / 1e3) for row in rows))
    return [(value, math.sqrt(sum((one / value - 1)**2 for one in ones) / (batches - 1)))
            for value, ones in zip(whole, each)]


def product(senders, batches):
    metrics = run(
        f"topology: {{type: star, hosts: {senders + 1}, host_rate: 40Gbps, delay: 1us}}\n"
        "defaults: paper\ncongestion_control: dcqcn\nswitch: {buffer: 200MB, pfc: false}\n"
        f"host: {{mtu: {PAYLOAD}B, ack_every: 64}}\n"
        "measure: {interval: 500us, rates: true, queues: \"tor0:host0\"}\n"
        f"warmup: {WARMUP}ms\nduration: {WARMUP + batches * BATCH}ms\n"
        f"workload: {{type: incast, degree: {senders}, bytes: 100GB, senders: next}}\n")
    base = sqlite3.connect(f"{FOLDER.name}/out/run.sqlite")
    rate, rate_square = base.execute(
        "SELECT avg(value), avg(value * value) FROM series JOIN series_names ON series = id "
        f"WHERE name = 'rate' AND time_ps > {WARMUP * 10**9}").fetchone()
    base.close()
    queue, deviation = (metrics["queue.tor0:host0." + name] for name in ("mean", "sd"))
    return quantities(queue, queue**2 + deviation**2, rate, rate_square, metrics["cnps"],
                      metrics["goodput"] / 8 / PAYLOAD * batches * BATCH / 1e3,
                      batches * BATCH / 1e3)


def main():
    output_of("fluid", "--fixed-point", "--counts", ",".join(map(str, LENGTHS)), "--csv",
              "points.csv")
    model = {int(row["flows"]): row["queue_bytes"] for row in rows_of("points.csv")}
    for senders, (batches, own_batches) in LENGTHS.items():
        measured = product(senders, batches)
        expected = oracle(sys.argv[1], senders, own_batches)
        for name, one, (value, spread) in zip(QUANTITIES, measured, expected):
            if name == NOISY and senders < NOISY_BELOW:
                continue
            error = spread * math.sqrt(1 / batches + 1 / own_batches)
            compare(name, f"{name} of {senders} senders", value, one, 4 * error)
        print(f"queue of {senders} senders: {measured[0]:.0f} B, the oracle's "
              f"{expected[0][0]:.0f} B, fluid model " +
                  (f"{float(model[senders]):.0f} B" if model[senders] else "at Kmax"))
    return report()


if __name__ == "__main__":
    sys.exit(main())
