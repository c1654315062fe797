#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dart's look-ahead under unmodified perftest: `oche exec --incast` makes messages name all hosts
that send to one receiver together (docs/papers/dart.md#d39).

usage: look_ahead.py OCHE

A pair works if both sides end with status 0, the client's packets name the right senders as often
as they should, every packet's ICRC is right, and the server's counters say what it did with the
lists. Servers that know no list, no dart, or no extensions take the same messages.
"""
import os
import re
import subprocess
import sys
import tempfile

import pairs

THIRD = pairs.NET + "3"
LIST = f"--incast={THIRD},{pairs.SERVER},{pairs.CLIENT}"  # in the order of addresses 1, 2, 3
DART, GBN = "--cc=dart", "--recovery=go_back_n"
BOTH = [DART, LIST]
OTHERS = [DART, f"--incast={THIRD},{pairs.SERVER}"]
# Queue pairs have four messages under way; a device names nobody before the first ACK has come.
DEPTH = 4
FEW = f" -t {DEPTH}"
# (client, arguments, options of the server, of the client, messages of the client that may name
# senders, whether the server counts by them)
ENTRIES = [
    ("ib_write_bw", "-n 50 -s 20000" + FEW, BOTH, BOTH, 50, True),
    ("ib_write_bw", "-n 50 -s 100" + FEW, BOTH, BOTH, 50, True),
    ("ib_write_bw", "-n 50 -s 20000 -q 2" + FEW, BOTH + [GBN], BOTH + [GBN], 100, True),
    ("ib_send_bw", "-n 50 -s 20000" + FEW, BOTH + [GBN], BOTH + [GBN], 50, True),
    ("ib_send_lat", "-n 20 -s 100", BOTH + [GBN], BOTH + [GBN], 20, True),
    # selective repeat has no room for a list in SENDs; a READ's sender is asked
    ("ib_send_bw", "-n 50 -s 20000" + FEW, BOTH, BOTH, 0, False),
    ("ib_read_bw", "-n 50 -s 20000", BOTH, BOTH, 0, False),
    ("ib_write_bw", "-n 50 -s 20000 -c UC", BOTH, BOTH, 0, False),
    # servers without the list, and without dart
    ("ib_write_bw", "-n 50 -s 20000" + FEW, [DART], BOTH, 50, False),
    ("ib_write_bw", "-n 50 -s 20000" + FEW, [], BOTH, 50, False),
    ("ib_write_bw", "-n 50 -s 20000" + FEW, ["--cc=none", GBN], [DART, LIST, GBN], 0, False),
    # clients that are not in the list
    ("ib_write_bw", "-n 50 -s 20000" + FEW, BOTH, [DART], 0, False),
    ("ib_write_bw", "-n 50 -s 20000" + FEW, OTHERS, OTHERS, 0, False),
]


def lists_of(oche, capture, source):
    """The senders that packets of `source` name, as text; fails if a packet is wrong."""
    done = subprocess.run([oche, "wire", capture], text=True, capture_output=True, check=False)
    if done.returncode != 0 or "ICRC ok" not in done.stdout:
        pairs.fail(f"oche wire: status {done.returncode}: {done.stderr}{done.stdout[:500]}")
    return [match[1] for match in
            re.finditer(rf" {re.escape(source)} → .* GROUP .*, (\d+ senders: [\d ]+), ICRC ok",
                        done.stdout)]


def counted(said, name):
    found = re.search(rf"counters of dart:.* {re.escape(name)} (\d+)", said)
    return int(found[1]) if found else 0


def check(oche, folder, number, entry):
    """Returns what is wrong with a pair, or None."""
    client, arguments, server_options, client_options, wanted, counts = entry
    capture = f"{folder}/{number}.pcap"
    done = pairs.run(oche, client, arguments,
                     pairs.Side(pairs.SERVER, server_options + ["--stats"]),
                     pairs.Side(pairs.CLIENT, client_options + ["--capture", capture]))
    if done.error is not None:
        return done.error
    lists = lists_of(oche, capture, pairs.CLIENT)
    unknown = DEPTH * (2 if "-q 2" in arguments else 1)
    # a packet that is sent again names them again
    if wanted == 0 and lists or len(lists) < wanted - unknown or len(lists) > 2 * wanted:
        return f"{len(lists)} lists of {wanted} messages"
    if any(found != "2 senders: 2 3" for found in lists):
        return f"wrong lists: {set(lists)}"
    groups, void = counted(done.served, "groups"), counted(done.served, "groups.void")
    if counts != (groups > 0) or (counts and void > 0):
        return f"the server used {groups} lists, and {void} were void: {done.served[-2000:]}"
    if server_options == [DART] and not 0 < void <= len(lists):
        return f"{void} void lists of {len(lists)}"
    return None


def main(oche):
    pairs.need("ib_write_bw", "ib_send_bw", "ib_send_lat", "ib_read_bw")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, entry in enumerate(ENTRIES):
            error = check(oche, folder, number, entry)
            failed += error is not None
            print(f"{entry[0]} {entry[1]}, {' '.join(entry[2])} | {' '.join(entry[3])}: "
                  f"{'works' if error is None else error}", flush=True)
            if os.path.exists(f"{folder}/{number}.pcap"):
                os.unlink(f"{folder}/{number}.pcap")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
