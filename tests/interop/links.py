#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec --link` between two processes: each fault's measured rate is the one that was asked
for, in each direction and for one peer alone; the same seed loses the same datagrams; processes of
one address share a line; reliable connections hide it all.

Counts may be five standard deviations off. Times have only the bounds that hold on a busy machine:
nothing is early, and half of the datagrams are less than BUSY_US late, in one of ATTEMPTS runs.

usage: links.py OCHE LINK_PROBE
"""
import json
import math
import os
import subprocess
import sys

import pairs

OCHE, PROBE = sys.argv[1], sys.argv[2]
BUSY_US = 20000
ATTEMPTS = 5
COUNT = 4000


def start(address, words, options, **environment):
    return subprocess.Popen([OCHE, "exec", "--device", address, *options, "--", PROBE, *words],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **environment})


def probe(sender=(), receiver=(), count=COUNT, size=1000, gap_us=20, senders=1, **environment):
    """Sends datagrams from one device to another. Returns what each receiver saw."""
    seen, running = [], []
    for _ in range(senders):
        port = pairs.free_port()
        hears = start(pairs.SERVER, [str(port)], receiver)
        pairs.wait_until_listening(port, hears)
        running.append((hears, port))
    calls = [start(pairs.CLIENT, [str(port), pairs.SERVER, str(count), str(size), str(gap_us)],
                   sender, **environment) for _, port in running]
    for (hears, _), caller in zip(running, calls):
        out, err = hears.communicate(timeout=pairs.LIMIT)
        _, caller_err = caller.communicate(timeout=pairs.LIMIT)
        if hears.returncode != 0 or caller.returncode != 0:
            pairs.fail(sender, receiver, out, err, caller_err)
        seen.append(json.loads(out))
    return seen if senders > 1 else seen[0]


def must(truth, *what):
    if not truth:
        pairs.fail(*what)


def is_share(got, count, share):
    return abs(got - count * share) <= 5 * math.sqrt(count * share * (1 - share)) + 1


def losses():
    for options in ({"sender": ["--link-out=loss=5%"]}, {"receiver": ["--link-in=loss=5%"]},
                    {"sender": [f"--link={pairs.SERVER}:loss=5%"]},
                    {"OCHE_LINK_OUT": "loss=5%"}, {"OCHE_DROP": "50000"},
                    {"sender": ["--link-out=burst_loss=5%:length=1"]}):
        seen = probe(**options)
        must(is_share(seen["lost"], COUNT, 0.05), options, seen)
    # the wrong direction, and another peer
    for options in ({"sender": ["--link-in=loss=50%"]}, {"receiver": ["--link-out=loss=50%"]},
                    {"sender": ["--link=192.0.2.7:loss=50%"]}):
        must(probe(**options)["lost"] == 0, options)
    once, again = (probe(["--link-out=loss=20%,seed=7"]) for _ in range(2))
    must(once["lost"] == again["lost"] > 0, once, again)


def damage():
    seen = probe(["--link-out=duplicate=5%"])
    must(is_share(seen["twice"], COUNT, 0.05) and seen["lost"] == 0, seen)
    for options in ({"sender": ["--link-out=corrupt=5%"]}, {"receiver": ["--link-in=corrupt=5%"]}):
        must(is_share(probe(**options)["lost"], COUNT, 0.05), options)


def delays():
    """A busy machine may stop a process for a second, so one of several runs must be in time."""
    for options in ({"sender": ["--link-out=delay=3ms"]}, {"receiver": ["--link-in=delay=3ms"]}):
        for _ in range(ATTEMPTS):
            seen = probe(**options, count=500, gap_us=100)
            must(seen["delay_us"]["p1"] >= 3000, options, seen)
            must(seen["lost"] == seen["overtaken"] == 0, seen)
            if seen["delay_us"]["p50"] < 3000 + BUSY_US:
                break
        must(seen["delay_us"]["p50"] < 3000 + BUSY_US, options, seen)
    both = probe(["--link-out=delay=2ms"], ["--link-in=delay=2ms"], count=500, gap_us=100)
    must(both["delay_us"]["p1"] >= 4000, "two links", both)
    seen = probe(["--link-out=reorder=5%:by=20ms"], count=2000, gap_us=200)
    must(is_share(seen["overtaken"], 2000, 0.05) and seen["lost"] == 0, seen)


def lines():
    """A line of 80 Mbit/s: 1,000 bytes are 1,098 on the line."""
    goodput = 80e6 * 1000 / 1098
    for _ in range(ATTEMPTS):
        seen = probe(["--link-out=rate=80Mbps,queue=4MB"], count=3000, gap_us=0)
        must(seen["lost"] == 0 and seen["payload_bps"] < 1.03 * goodput, seen)
        if seen["payload_bps"] > 0.7 * goodput:
            break
    must(seen["payload_bps"] > 0.7 * goodput, "too slow, or a very busy machine", seen)
    # The whole takes 330 ms on the line. A sender that takes as long, on a very busy machine, loses
    # nothing.
    for _ in range(ATTEMPTS):
        seen = probe(["--link-out=rate=80Mbps,queue=100KB"], count=3000, gap_us=0)
        if seen["lost"] > 2000:
            break
    must(seen["lost"] > 2000, "drop-tail, or a very busy machine", seen)
    # Two processes of one address have the line together: alone, each would get half of what it
    # sends through.
    two = probe(["--link-out=rate=80Mbps,queue=50KB"], count=30000, gap_us=55, senders=2)
    must(sum(one["payload_bps"] for one in two) < 1.5 * goodput, two)


def reliable():
    """perftest over a link with everything: the data arrives."""
    # No bursts: one of eight packets would take all retries of a sender that repeats one packet.
    everything = "loss=1%,delay=200us,jitter=50us:normal,reorder=1%,duplicate=1%,corrupt=0.5%"
    for tool in ("ib_write_bw", "ib_send_bw", "ib_read_bw"):
        sides = [pairs.Side(address, [f"--link={everything}"])
                 for address in (pairs.SERVER, pairs.CLIENT)]
        done = pairs.run(OCHE, tool, "-F -n 300 -s 16384", *sides)
        must(done.error is None, tool, done.error)


def main():
    pairs.need("ib_write_bw")
    losses()
    damage()
    delays()
    lines()
    reliable()
    print("ok")


main()
