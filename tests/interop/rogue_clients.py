#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perftest under `oche exec --rogue`, unmodified: WRITE, SEND and READ over reliable connections.

usage: rogue_clients.py OCHE [--table]

A pair works if both sides end with status 0, something was moved, and the counters of both say
that each connection had a shadow queue pair, and that pieces were posted. Pairs of LIMITED must
also wait for one of few limiters; some lose packets meanwhile. --table prints the table of
docs/clients.md.
"""
import re
import sys

import pairs

ENTRIES = [
    ("ib_write_bw", "WRITE", "-n 200"),
    ("ib_write_bw", "WRITE", "-n 50 -s 1000000"),
    ("ib_write_bw", "WRITE", "-n 200 -b -q 4"),
    ("ib_write_lat", "WRITE", "-n 50"),
    ("ib_send_bw", "SEND", "-n 200"),
    ("ib_send_bw", "SEND", "-n 200 -b -q 4"),
    ("ib_send_bw", "SEND", "-n 200 -e"),
    ("ib_send_lat", "SEND", "-n 50"),
    ("ib_read_bw", "READ", "-n 200"),
    ("ib_read_bw", "READ", "-n 50 -s 1000000"),
    ("ib_read_bw", "READ", "-n 200 -b -q 4"),
    ("ib_read_lat", "READ", "-n 50"),
]

# client, options, limiters of the adapter (rate_limiters), packets lost per million
LIMITED = [
    ("ib_write_bw", "-n 200 -q 8", 2, 0),
    ("ib_write_bw", "-n 50 -b -q 4 -s 1000000", 1, 0),
    ("ib_read_bw", "-n 200 -q 8", 2, 0),
    ("ib_send_bw", "-n 200 -q 8", 2, 0),
    ("ib_send_bw", "-n 200 -q 4 -e", 1, 0),
    ("ib_send_bw", "-n 200 -b -q 4", 1, 2000),
    ("ib_read_bw", "-n 200 -q 4", 1, 2000),
]


def counted(said, what):
    return sum(int(number) for number in re.findall(rf"oche: .*{what} (\d+)", said))


def wrong(done):
    """Returns what is wrong with a pair, or None."""
    if done.error is not None:
        return done.error
    for side, said in (("server", done.served), ("client", done.called)):
        connections = counted(said, "rogue: connections")
        if connections == 0 or counted(said, "with a shadow") != connections:
            return f"no shadow: {side}: {said}"
    return None if counted(done.served + done.called, "pieces") > 0 else f"idle: {done.called}"


def main(arguments):
    pairs.need(*(entry[0] for entry in ENTRIES))
    table = "--table" in arguments
    failed = 0
    if table:
        print("| client | operation | transport | command | |\n|---|---|---|---|---|")
    for client, operation, options in ENTRIES:
        sides = [pairs.Side(address, ["--rogue", "--stats"])
                 for address in (pairs.SERVER, pairs.CLIENT)]
        done = pairs.run(arguments[0], client, options, *sides)
        error = wrong(done)
        failed += error is not None
        said = "works" if error is None else "does not work"
        if table:
            print(f"| {client} | {operation} | RC | `{client} {options}` | {said} |")
        else:
            print(f"{client} {options}: {said} ({done.seconds:.1f} s)", flush=True)
        if error is not None:
            print(error, file=sys.stderr, flush=True)
    for client, options, limiters, lost in LIMITED if not table else ():
        sides = [pairs.Side(address, [f"--rogue=rate_limiters={limiters}", "--stats"],
                            OCHE_DROP=str(lost)) for address in (pairs.SERVER, pairs.CLIENT)]
        done = pairs.run(arguments[0], client, options, *sides)
        error = wrong(done)
        if error is None and counted(done.called, f"waits for one of {limiters} limiters:") == 0:
            error = f"nobody waited for a limiter: {done.called}"
        failed += error is not None
        print(f"{client} {options}, {limiters} limiters, {lost} lost: "
              f"{'works' if error is None else error} ({done.seconds:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
