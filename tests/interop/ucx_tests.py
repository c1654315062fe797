#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests that ucx_perftest has, those that its own help lists: of UCX's lower half (UCT) by
each transport and each way to give it the data, of its upper half (UCP) with the transports that it
may choose from, in two sizes.

usage: ucx_tests.py OCHE [--table | --rows | --any-time] [TEST…]

--table prints the table of docs/clients.md, --rows the same without running anything. It takes two
minutes, so it is skipped without OCHE_LONG=yes, an option, or the names of tests. A test that a
transport does not have must say so ("Unsupported operation"); which those are stands below, and any
other difference is a failure. Status 77: it is skipped, or ucx_perftest is not installed.
"""
import os
import re
import subprocess
import sys
import tempfile

import applications
import pairs
from applications import Application, Failed

DEVICE = "oche_lo_v4:1"
UCT, UCP = ("rc_verbs", "ud_verbs"), ("rc_verbs,ud_verbs", "ud_verbs")
LAYOUTS = ("short", "bcopy", "zcopy")
# Tests of UCT without atomics. `get` has no short form; the others have all three.
MOVES = ("am_lat", "am_bw", "put_lat", "put_bw", "get")
# InfiniBand has no atomic swap. Datagrams have no WRITE, READ or atomic.
UNSUPPORTED = {"rc_verbs": {"swap"},
               "ud_verbs": {"put_lat", "put_bw", "get", "add_lat", "add_mr", "fadd", "swap",
                            "cswap"}}
SAYS = r"(?m)^ *\d{2,} +([\d.]+ +){6}[1-9]"  # its last line; the last number is messages per second


def tests():
    """Returns the names that the program lists, and for each whether it belongs to the upper
    half."""
    said = subprocess.run(["ucx_perftest", "-h"], capture_output=True, text=True,
                          check=False).stdout
    found = re.findall(r"(?m)^ +([a-z_]+) - (UCT|UCP) ", said)
    if len(found) < 20:
        pairs.fail("ucx_perftest lists no tests:", said)
    return [(name, half == "UCP") for name, half in found]


def of_uct(name, transport):
    """The commands of one cell."""
    layouts = LAYOUTS if name in MOVES else LAYOUTS[:1]
    for layout in layouts[1:] if name == "get" else layouts:
        # zcopy of READ is for what is longer than bcopy takes.
        size = 65536 if (name, layout) == ("get", "zcopy") else 8
        yield (f"-t {name} -d {DEVICE} -x {transport} -D {layout} -s {size}", None,
               name in UNSUPPORTED[transport])


def of_ucp(name, transports):
    sizes = (8,) if re.search("add|swap", name) else (8, 65536)
    for size in sizes:
        yield f"-t {name} -s {size}", transports, False


def run(oche, words, tls, unsupported, folder):
    row = Application("", f"ucx_perftest -f -w 20 -n 200 {words}",
                      "Unsupported operation" if unsupported else SAYS, server="-p {port}",
                      client="-p {port} 127.0.0.1", tls=tls, files=True, refuses=unsupported,
                      server_stays=unsupported)
    applications.run(oche, row, folder)


def cell(oche, commands, folder):
    """Returns the table's cell: how many of the commands worked."""
    failed, count, unsupported = [], 0, False
    for words, tls, unsupported in commands:
        count += 1
        try:
            run(oche, words, tls, unsupported, folder)
        except Failed as error:
            failed.append(f"ucx_perftest {words} ({tls or 'UCT'}): {error}")
    if failed:
        return f"{count - len(failed)} of {count}", failed
    return "not in UCX" if unsupported else f"{count} work" if count > 1 else "works", []


def main(arguments):
    oche = os.path.abspath(arguments[0])
    names = [name for name in arguments[1:] if not name.startswith("--")]
    rows, failures = "--rows" in arguments, []
    print("| test | UCT, rc_verbs | UCT, ud_verbs | UCP, rc_verbs and ud_verbs | UCP, ud_verbs |\n"
          "|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, upper in tests():
            if names and name not in names:
                continue
            cells = ["", ""] if upper else []
            for transport in UCP if upper else UCT:
                commands = (of_ucp if upper else of_uct)(name, transport)
                said, failed = ("", []) if rows else cell(oche, commands, folder)
                failures += failed
                cells.append(said)
            cells += [] if upper else ["", ""]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    for failure in failures:
        print(failure, file=sys.stderr, flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    pairs.need("ucx_perftest")
    if not (pairs.LONG or len(sys.argv) > 2):
        print("only with OCHE_LONG=yes, as it takes two minutes")
        sys.exit(77)
    sys.exit(main(sys.argv[1:]))
