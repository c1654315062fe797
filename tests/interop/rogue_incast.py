#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RoGUE where many send to one: hosts in network namespaces, and a port of 200 Mbit/s with a
drop-tail queue of 128 KB before the receiver. No transfer fails, the link is used, and its senders
get equal shares. Under RoGUE the device has Go-Back-N, which collapses without it.

usage: rogue_incast.py OCHE

3 senders. OCHE_LONG=yes: 8, too, Go-Back-N alone beside them, and the bars that RoGUE is to meet on
a machine that does nothing else. Status 77: not possible here. tools/bench-incast measures.
"""
import sys

import incast
import netns
import pairs

RATE, QUEUE = 200, 128000  # Mbit/s, bytes
SECONDS = 4
# A machine that does other things has fewer.
GOODPUT, JAIN = (0.8, 0.9) if pairs.LONG else (0.6, 0.85)
TRIES = 3
COLLAPSE = 0.3


def rogue(oche, switch):
    """A busy machine has three tries for the bars, but none to lose a transfer."""
    for _ in range(TRIES):
        done = incast.run(oche, switch, ["--rogue", "--line-rate", f"{RATE}Mbps"], SECONDS)
        print(f"RoGUE, {switch.senders} senders: {done.goodput:.0f} of {RATE} Mbit/s, Jain's index "
              f"{done.jain:.3f}, {done.lost} lost, {done.counted('switches')} switches", flush=True)
        if done.failed:
            pairs.fail(*done.failed)
        first = done.said[0]
        if "recovery go_back_n:" not in first or done.counted("with a shadow") != switch.senders:
            pairs.fail("not RoGUE above Go-Back-N:", first)
        if done.goodput >= GOODPUT * RATE and done.jain >= JAIN:
            return
    pairs.fail(f"the bars are {GOODPUT * RATE:.0f} Mbit/s and {JAIN}:", done.rates, *done.said)


def plain(oche, switch):
    """Runs Go-Back-N alone, to compare RoGUE with. Transfers may fail here."""
    done = incast.run(oche, switch, ["--recovery", "go_back_n"], SECONDS)
    print(f"Go-Back-N, {switch.senders} senders: {done.goodput:.0f} of {RATE} Mbit/s", flush=True)
    if done.goodput > COLLAPSE * RATE:
        pairs.fail("Go-Back-N does not collapse: is the port's queue as it should be?")


def main(oche):
    netns.enter()
    pairs.need("ib_write_bw", "tc")
    for senders in (3, 8) if pairs.LONG else (3,):
        switch = incast.Switch(senders, RATE, QUEUE)
        rogue(oche, switch)
        if pairs.LONG:
            plain(oche, switch)
        switch.close()


if __name__ == "__main__":
    main(sys.argv[1])
