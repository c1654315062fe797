#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Without an option, on an ordinary Ethernet: hosts in network namespaces, and a port of 200 Mbit/s
with a drop-tail queue of 1 MB before the receiver. The link is used, its senders get about equal
shares, also where the receiver is one without our extensions; and what was the default before
collapses, and a line says so.

usage: incast_default.py OCHE

Status 77: not possible here. tools/bench-incast measures.
"""
import sys

import incast
import netns
import pairs

RATE, QUEUE = 200, 1000000  # Mbit/s, bytes
SENDERS = 3
SECONDS = 6 if pairs.LONG else 4
# A machine that does other things has fewer.
GOODPUT, JAIN = (0.85, 0.85) if pairs.LONG else (0.7, 0.7)
TRIES = 3
COLLAPSE = 0.3
PLAIN = ["--cc", "none", "--recovery", "go_back_n"]


def good(oche, switch, what, receiver):
    for _ in range(TRIES):
        done = incast.run(oche, switch, [], SECONDS, SECONDS // 3, receiver=receiver)
        print(f"{what}: {done.goodput:.0f} of {RATE} Mbit/s, Jain's index {done.jain:.3f}, "
              f"{done.lost} lost", flush=True)
        if done.failed:
            pairs.fail(*done.failed)
        if "congestion control cubic:" not in done.said[0]:
            pairs.fail("cubic is not the default:", done.said[0])
        if done.goodput >= GOODPUT * RATE and done.jain >= JAIN:
            return
    pairs.fail(f"{what}: the bars are {GOODPUT * RATE:.0f} Mbit/s and {JAIN}:", done.rates)


def collapses(oche, switch):
    # If other programs use the processors, senders may be too slow to fill the port's queue.
    for _ in range(TRIES):
        done = incast.run(oche, switch, PLAIN, 3)
        print(f"Go-Back-N alone: {done.goodput:.0f} of {RATE} Mbit/s", flush=True)
        if done.goodput <= COLLAPSE * RATE:
            break
    else:
        pairs.fail("Go-Back-N does not collapse: is the port's queue as it should be?")
    line = "were sent again: the network loses packets, for which the defaults"
    if not all(line in said for said in done.said):
        pairs.fail("no line says that much was sent again:", done.said[0])


def main(oche):
    netns.enter()
    pairs.need("ib_write_bw", "tc")
    switch = incast.Switch(SENDERS, RATE, QUEUE)
    good(oche, switch, "the defaults", None)
    good(oche, switch, "with a plain peer", PLAIN)
    collapses(oche, switch)
    switch.close()


if __name__ == "__main__":
    main(sys.argv[1])
