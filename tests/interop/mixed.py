#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""READs in pieces, atomics, SENDs and WRITEs in one stream, both ways at once (mixed.c), between
two namespaces with a path between them that loses, duplicates, delays and damages packets, under
the defaults of `oche exec`. Each byte is right, and each work request is done in time.

usage: mixed.py OCHE PATH MIXED [--runs N] [--from SEED] [--keep-going] [--captures DIRECTORY]

Without --runs a few seeds; with OCHE_LONG=yes 300. --captures keeps what both sides sent and
received. Status 77: not possible here.
"""
import argparse
import collections
import subprocess
import sys
import time

import netns
import pairs

SHORT, LONG = 4, 300
LIMIT = 120  # seconds for a run; the program gives up before
# Packets in a million: lost, duplicated, late, damaged.
FAULTS = {"bad": (50000, 50000, 20000, 50000), "mild": (10000, 10000, 5000, 5000)}
MEANT = ("lost", "duplicated", "reordered", "corrupted")


def words(options, seed):
    """The program and its arguments. The seed chooses the arguments that vary."""
    reads, queue = (16, 4, 1)[seed % 3], (8, 2, 16, 1)[seed // 3 % 4]
    return [options.mixed, "-s", str(seed), "-o", str(reads), "-q", str(queue), "-n",
            str(20 + 5 * queue)]


def exec_options(options, seed, side):
    """Returns the options for oche exec."""
    captures = options.captures
    return ["--stats"] + ([f"--capture={captures}/{seed}-{side}.pcap"] if captures else [])


def run(options, far, seed):
    """Returns what went wrong, or None, and the path's counts."""
    name = "mild" if seed % 4 == 0 else "bad"
    faults = [f"--{fault}={ppm}" for fault, ppm in
              zip(("lose", "duplicate", "reorder", "corrupt"), FAULTS[name])]
    path = far.path(options.path, 9000, f"--seed={seed}", *faults, ipv6=False)
    port = pairs.free_port()
    server = pairs.Side(netns.FAR, exec_options(options, seed, "server"), far.enter)
    client = pairs.Side(netns.NEAR, exec_options(options, seed, "client"))
    serving = server.start(options.oche, words(options, seed) + ["-p", str(port)])
    calling = client.start(options.oche, words(options, seed) + ["-p", str(port), netns.FAR])
    called, late = pairs.said_by(calling, LIMIT)
    served, later = pairs.said_by(serving, 1 if late else LIMIT)
    did = path.close()
    if late or later or serving.returncode != 0 or calling.returncode != 0:
        return f"seed {seed} ({name}): status {serving.returncode} of the server, " \
            f"{calling.returncode} of the client\nserver: {served}\nclient: {called}", did
    return None, did


def main(arguments):
    netns.enter()
    parser = argparse.ArgumentParser()
    for name in ("oche", "path", "mixed"):
        parser.add_argument(name)
    parser.add_argument("--runs", type=int, default=LONG if pairs.LONG else SHORT)
    parser.add_argument("--from", type=int, default=1, dest="first")
    parser.add_argument("--keep-going", action="store_true")
    parser.add_argument("--captures")
    options = parser.parse_args(arguments)
    far = netns.Far()
    failed, total, started = 0, collections.Counter(), time.time()
    for seed in range(options.first, options.first + options.runs):
        wrong, did = run(options, far, seed)
        total.update(did)
        if wrong is not None:
            failed += 1
            print("FAILED:", wrong, flush=True)
            if not options.keep_going:
                break
    print(f"{options.runs} runs, {failed} failed, {time.time() - started:.0f} s; path:",
          ", ".join(f"{what} {total[what]}" for what in ("passed", *MEANT)))
    if any(total[what] == 0 for what in MEANT):
        pairs.fail("the path did nothing")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
