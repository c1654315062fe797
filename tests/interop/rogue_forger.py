#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forges messages between libraries before a connection is made. A forger that cannot read packets
to the peer's address is not taken for the peer's library.

In a network namespace of its own: what is forged reaches all libraries of the host, and they count
it.

usage: rogue_forger.py OCHE ROGUE_FORGER
"""
import os
import re
import subprocess
import sys

import netns
import pairs

LOST = "100000"  # packets in a million
ASKER = pairs.NET + "3"


def run(oche, program, *words, lost="0"):
    """Returns the number of connections, of connections with a shadow, and of switches to the
    shadow."""
    done = subprocess.run([oche, "exec", "--rogue", "--stats", "--device", pairs.SERVER, "--",
                           program, *words], env={**os.environ, "OCHE_DROP": lost}, text=True,
                          capture_output=True, timeout=300, check=False)
    said = re.search(r"oche: rogue: connections (\d+), of these with a shadow (\d+).*"
                     r"switches (\d+)", done.stderr)
    if done.returncode != 0 or said is None:
        pairs.fail(words, done.returncode, done.stdout, done.stderr)
    print(f"{words[0]}: connections {said[1]}, with a shadow {said[2]}, switches {said[3]}",
          flush=True)
    return [int(number) for number in said.groups()]


def main(oche, program):
    netns.enter()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for _ in range(3):  # chance decides which packets are lost
        counts = run(oche, program, "named", lost=LOST)
        if counts[2] > 0:
            break
    if counts[:2] != [2, 2] or counts[2] == 0:
        pairs.fail("named", counts)
    if run(oche, program, "blind", pairs.CLIENT, ASKER) != [1, 0, 0]:
        pairs.fail("a stranger is taken for the peer's library")
    if run(oche, program, "peer", pairs.CLIENT) != [1, 1, 0]:
        pairs.fail("the peer's library is not taken for what it is")


if __name__ == "__main__":
    main(*sys.argv[1:])
