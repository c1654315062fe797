#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collective operations on an empty network against their formulas.

Draws operations, algorithms, sizes and ranks; each run's time must be within 1 % of what the
algorithm's formula gives from the line times and latencies of its messages (2 to 1024 ranks), with
or without an ACK beside each message: the first ones meet none. Two trees share links in a way that
no formula has; for them there are bounds.

usage: collectives.py OCHE [COUNT]
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

OCHE = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 36
MTU, RATE, DELAY = 4096, 100e9, 1e-6
HEADERS, RETH, ACK = 82, 16, 86  # bytes on the line: of a packet, of a WRITE's first one, of an ACK


class Acks:
    bytes = ACK


def frame(payload, first):
    return payload + -payload % 4 + HEADERS + (RETH if first else 0)


def line(size, ack=None):
    """The time that a message occupies a link, and an ACK of another message with it."""
    full, rest = divmod(max(size, 1), MTU)
    data = full * (MTU + HEADERS) + RETH + (frame(rest, False) if rest else 0)
    return (data + (Acks.bytes if ack is None else ack)) * 8 / RATE


def trip(size):
    """The time from the post of a message until it has been delivered, through one switch."""
    last = frame(min(max(size, 1), MTU), size <= MTU)
    return line(size, 0) + last * 8 / RATE + 2 * DELAY


def in_steps(steps, chunks, size):
    """Each step passes on what came in the step before, chunk by chunk."""
    one, way = line(size), trip(size)
    return max(steps * chunks * one + way - one, steps * way + (chunks - 1) * one)


def ring(operation, ranks, size, chunks, window):
    if operation == "broadcast":
        chunk = size / chunks
        return (ranks - 1) * trip(chunk) + (chunks - 1) * line(chunk)
    steps = (ranks - 1) * (2 if operation == "all_reduce" else 1)
    return in_steps(steps, chunks, size / ranks / chunks)


def halving_doubling(operation, ranks, size, chunks, window):
    power = 1 << int(math.log2(ranks))
    exchange = lambda part: trip(part / chunks) + (chunks - 1) * line(part / chunks)
    halves = [size / 2 ** (i + 1) for i in range(int(math.log2(ranks)))]
    time = sum(map(exchange, halves)) * (2 if operation == "all_reduce" else 1)
    return time + (2 * trip(size) if power < ranks else 0)


def direct(operation, ranks, size, chunks, window):
    block = size / ranks / chunks
    one, way = chunks * line(block), trip(block) + (chunks - 1) * line(block)
    steps = ranks - 1
    if window == 0 or window >= steps:
        return steps * one + way - one
    return max(steps * one + way - one, (steps - 1) // window * way + way +
               (steps - 1) % window * one)


FORMULAS = {"ring": ring, "halving_doubling": halving_doubling, "direct": direct}
OPERATIONS = {"ring": ["all_reduce", "all_gather", "reduce_scatter", "broadcast"],
              "halving_doubling": ["all_reduce", "all_gather", "reduce_scatter"],
              "direct": ["all_to_all", "all_gather", "reduce_scatter"],
              "tree": ["all_reduce", "broadcast"]}


def tree_bounds(operation, ranks, size, chunks):
    """By the way from the lowest leaf up and down, and by the four copies of half of the bytes that
    the busiest rank sends or receives. Messages of the other tree and child may come between."""
    chunk = size / 2 / chunks
    hops = (2 if operation == "all_reduce" else 1) * int(math.log2(ranks))
    least = hops * trip(chunk)
    most = (hops + (operation == "broadcast")) * (trip(chunk) + 3 * line(chunk))
    return least, most + (chunks - 1) * 5 * line(chunk)


def run(text):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "run.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        done = subprocess.run([OCHE, "run", path, "--json"], cwd=work, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"status {done.returncode}: {done.stderr}\n{text}")
    return json.loads(done.stdout)["runs"][0]


def draw(rng, number):
    algorithm = list(OPERATIONS)[number % 4]
    operation = rng.choice(OPERATIONS[algorithm])
    ranks = rng.choice([2, 3, rng.randint(4, 64), 1 << rng.randint(1, 7)])
    if number == 0 or number % 12 == 5:
        ranks = 1024
    if algorithm == "halving_doubling" and operation != "all_reduce":
        ranks = 1 << int(math.log2(ranks))
    chunks = rng.choice([1, 1, 2, 4, 8])
    size = ranks * chunks * int(10 ** rng.uniform(1, 5))
    if ranks == 1024:
        size, chunks = ranks * rng.randint(1000, 3000), 1
    if algorithm == "tree":
        size *= 8
    return algorithm, operation, ranks, size, chunks, rng.choice([0, 1, 2, 4])


def main():
    rng = random.Random(46)
    failed = 0
    for number in range(COUNT):
        algorithm, operation, ranks, size, chunks, window = draw(rng, number)
        key = f", window: {window}" if algorithm == "direct" else ""
        text = (f"topology: {{type: star, hosts: {ranks}, host_rate: 100Gbps, delay: 1us}}\n"
                f"host: {{mtu: {MTU}B, ack_every: 1048576}}\n"
                f"workload: {{type: collective, operation: {operation}, algorithm: {algorithm}, "
                f"bytes: {size}B, chunks: {chunks}{key}}}\ncongestion_control: none\n")
        time = run(text)["metrics"]["workload.0.time"]
        if algorithm == "tree":
            least, most = tree_bounds(operation, ranks, size, chunks)
            good = least <= time <= most
            wanted = f"{least:.4g} to {most:.4g}"
        else:
            formulas = []
            for Acks.bytes in (0, ACK):
                formulas.append(FORMULAS[algorithm](operation, ranks, size, chunks, window))
            good = 0.99 * formulas[0] <= time <= 1.01 * formulas[1]
            wanted = " and ".join(f"{f:.4g} ({100 * (time / f - 1):+.2f} %)" for f in formulas)
        failed += not good
        if not good or "-v" in sys.argv:
            print(f"{'ok' if good else 'FAILED'}: {operation} by {algorithm}, {ranks} ranks, "
                  f"{size} bytes, {chunks} chunks, window {window}: {time:.4g} s, formula {wanted}")
    print(f"{COUNT - failed} of {COUNT} operations as their formulas say")
    return 1 if failed or not COUNT else 0


sys.exit(main())
