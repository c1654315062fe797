#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""READs through a slow port with a drop-tail queue of 1 MB, without an option (ib_read_bw as it is:
READs of 64 KiB, 16 outstanding): one host that reads from one and from several others, and several
that read from one. The port is used, and little is sent again.

usage: incast_reads.py OCHE [SECONDS]    SECONDS: 4 or more; the first and last quarter do not count

Status 77: not possible here.
"""
import sys

import incast
import netns
import pairs

RATE, QUEUE = 200, 1000000  # Mbit/s, bytes
MANY = 4
LEAVES = 1024 / incast.FRAME  # payload of all bytes at the port, with a path MTU of 1024
# A machine that does other things has less.
GOODPUT = 0.8 if pairs.LONG else 0.7
AGAIN = 0.1  # fraction of the data packets
TRIES = 3


def again_of(done):
    """The share of data packets that were sent again, by whichever end."""
    texts = [*done.said, *done.served]
    sent = incast.counted(texts, ": sent")
    return incast.counted(texts, ": again") / sent if sent else 1


def good(oche, switch, what, seconds, receiver_calls):
    for _ in range(TRIES):
        done = incast.run(oche, switch, [], seconds, seconds // 4, verb="ib_read_bw",
                          receiver_calls=receiver_calls)
        again = again_of(done)
        print(f"{what}: {done.goodput:.0f} of {RATE * LEAVES:.0f} Mbit/s, Jain's index "
              f"{done.jain:.3f}, {100 * again:.1f} % sent again, {done.lost} lost", flush=True)
        if done.failed:
            pairs.fail(*done.failed)
        if done.goodput >= GOODPUT * RATE * LEAVES and again < AGAIN:
            return
    pairs.fail(f"{what}: the bars are {GOODPUT * RATE * LEAVES:.0f} Mbit/s and {100 * AGAIN:.0f} %")


def main(oche, seconds=8 if pairs.LONG else 4):
    netns.enter()
    pairs.need("ib_read_bw", "tc")
    for many in (1, MANY):
        switch = incast.Switch(many, RATE, QUEUE)
        good(oche, switch, f"one reads from {many}", seconds, True)
        if many > 1:
            switch.port_out(RATE, QUEUE)
            good(oche, switch, f"{many} read from one", seconds, False)
        switch.close()


if __name__ == "__main__":
    main(sys.argv[1], *[int(word) for word in sys.argv[2:]])
