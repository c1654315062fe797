#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs unmodified verbs programs, a server and a client of each, on the verbs library.

usage: clients.py OCHE [--table] [--preload=LIBRARY] [NAME…]

OCHE is the program, whose `exec` runs both sides, each on a loopback address of its own. A pair
works if both end with status 0 and what they print says so: a bandwidth or a latency above zero,
the data checked where the program can (pingpong -c); and if a capture of each side is right:
tshark finds nothing malformed and no warning, `oche wire` each ICRC right. NAME: only those whose
command has it; without, the first two of each program and transport (of a program that measures
latency the first), and a WRITE of 2 bytes and of 2 MiB. All with a quarter of the messages. --table
prints the table of docs/clients.md; it and OCHE_LONG=yes run all, also what takes longest, perftest
over all sizes by each operation. --preload: a sanitizer's library, which must come before the
programs'. Status 77: the programs are not installed.
"""
import re
import subprocess
import sys

import pairs

# (transport, operation, command, arguments after it). GID 0 is the device's address.
PINGPONGS = [
    ("RC", "SEND", "ibv_rc_pingpong", "-g 0 -c -n 300"),
    ("RC", "SEND", "ibv_rc_pingpong", "-g 0 -c -e -n 300"),
    ("RC", "SEND", "ibv_rc_pingpong", "-g 0 -c -N -n 300"),
    ("RC", "SEND", "ibv_rc_pingpong", "-g 0 -c -t -n 300"),
    ("RC", "SEND", "ibv_rc_pingpong", "-g 0 -c -m 4096 -s 100000 -n 50"),
    ("RC", "SEND", "ibv_rc_pingpong", "-g 0 -c -e -t -n 100"),
    ("UC", "SEND", "ibv_uc_pingpong", "-g 0 -c -n 300"),
    ("UD", "SEND", "ibv_ud_pingpong", "-g 0 -c -n 300"),
    ("UD", "SEND", "ibv_ud_pingpong", "-g 0 -c -e -n 300"),
    ("RC, SRQ", "SEND", "ibv_srq_pingpong", "-g 0 -c -n 300"),
    ("RC, SRQ", "SEND", "ibv_srq_pingpong", "-g 0 -c -e -q 4 -n 300"),
]
PERFTESTS = [
    ("RC", "WRITE", "ib_write_bw", "-n 200"),
    ("RC", "WRITE", "ib_write_bw", "-n 5 -a"),
    ("RC", "WRITE", "ib_write_bw", "-n 200 -b"),
    ("RC", "WRITE", "ib_write_bw", "-n 200 -q 16"),
    ("RC", "WRITE", "ib_write_bw", "-n 200 --report_gbits -m 1024"),
    ("UC", "WRITE", "ib_write_bw", "-n 200 -c UC"),
    ("RC", "WRITE", "ib_write_bw", "-n 200 -l 8 -s 1000"),
    ("RC", "WRITE", "ib_write_lat", "-n 50"),
    ("RC", "WRITE", "ib_write_lat", "-n 5 -a"),
    ("RC", "WRITE", "ib_write_lat", "-n 50 -I 200 -s 100"),
    ("UC", "WRITE", "ib_write_lat", "-n 50 -c UC"),
    ("RC", "SEND", "ib_send_bw", "-n 200"),
    ("RC", "SEND", "ib_send_bw", "-n 5 -a"),
    ("RC", "SEND", "ib_send_bw", "-n 200 -b"),
    ("RC", "SEND", "ib_send_bw", "-n 200 -e"),
    ("RC", "SEND", "ib_send_bw", "-n 200 -q 16"),
    ("RC", "SEND", "ib_send_lat", "-n 50"),
    ("RC", "SEND", "ib_send_lat", "-n 50 -e"),
    ("UC", "SEND", "ib_send_lat", "-n 50 -c UC"),
    ("UC", "SEND", "ib_send_bw", "-n 200 -c UC"),
    ("UD", "SEND", "ib_send_bw", "-n 200 -c UD"),
    ("UD", "SEND", "ib_send_lat", "-n 50 -c UD"),
    ("RC, SRQ", "SEND", "ib_send_bw", "-n 200 --use-srq"),
    ("RC, SRQ", "SEND", "ib_send_lat", "-n 50 --use-srq"),
    ("RC", "READ", "ib_read_bw", "-n 200"),
    ("RC", "READ", "ib_read_bw", "-n 5 -a"),
    ("RC", "READ", "ib_read_bw", "-n 200 -q 4"),
    ("RC", "READ", "ib_read_bw", "-n 200 -b"),
    ("RC", "READ", "ib_read_lat", "-n 50"),
    ("RC", "atomic", "ib_atomic_bw", "-n 200 -A FETCH_AND_ADD"),
    ("RC", "atomic", "ib_atomic_bw", "-n 200 -A CMP_AND_SWAP"),
    ("RC", "atomic", "ib_atomic_bw", "-n 200 -b -q 4"),
    ("RC", "atomic", "ib_atomic_lat", "-n 50 -A FETCH_AND_ADD"),
    ("RC", "atomic", "ib_atomic_lat", "-n 50 -A CMP_AND_SWAP"),
]
ALL_SIZES = [("ib_write_bw", "-n 5 -a"), ("ib_write_lat", "-n 5 -a"), ("ib_send_bw", "-n 5 -a"),
             ("ib_read_bw", "-n 5 -a")]
TWO_SIZES = [("RC", "WRITE", "ib_write_bw", "-n 5 -s 2"),
             ("RC", "WRITE", "ib_write_bw", "-n 5 -s 2097152")]


def lists(oche):
    """Checks ibv_devices, ibv_devinfo, and a pair without options. Returns the error, or None."""
    for words in (["ibv_devices"], ["ibv_devinfo", "-v"]):
        done = subprocess.run([oche, "exec", "--device", pairs.SERVER, "--"] + words, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0 or "oche_lo_v4" not in done.stdout:
            return f"{words[0]}: status {done.returncode}: {done.stdout}"
    if "::ffff:" + pairs.SERVER not in done.stdout or "RoCE v2" not in done.stdout:
        return f"ibv_devinfo: no GID of {pairs.SERVER}: {done.stdout}"
    return pairs.run(oche, "ibv_rc_pingpong", "-g 0 -c -n 100", pairs.Side(None),
                     pairs.Side(None)).error


def firsts(entries):
    """The first two entries of each client and transport; for a client that measures latency, only
    the first."""
    seen = {}
    for entry in entries:
        seen.setdefault((entry[0], entry[2]), []).append(entry)
    return [entry for (_, command), of_one in seen.items()
            for entry in of_one[:1 if command.endswith("_lat") else 2]]


def shorter(transport, operation, command, arguments):
    """The entry with a quarter of its messages, if those are many."""
    return transport, operation, command, re.sub(
        r"-n (\d{3,})", lambda found: f"-n {int(found[1]) // 4}", arguments)


def tell(wrong):
    for line in wrong:
        print(line, file=sys.stderr, flush=True)


def main(arguments):
    oche = arguments[0]
    table = "--table" in arguments
    names = [name for name in arguments[1:] if not name.startswith("--")]
    entries = [entry for entry in PINGPONGS + PERFTESTS
               if not names or any(name in f"{entry[2]} {entry[3]}" for name in names)]
    if not table and not pairs.LONG:
        entries = [entry for entry in entries if entry[2:] not in ALL_SIZES]
        entries = [shorter(*entry) for entry in (entries if names else firsts(entries))]
        if not names:
            entries += TWO_SIZES
    pairs.need(*(entry[2] for entry in entries))
    failed = 0
    if not names:
        error = lists(oche)
        failed += error is not None
        print(error or "ibv_devices, ibv_devinfo, a pair without options: works\n", flush=True)
    if table:
        print("| client | operation | transport | command | |\n|---|---|---|---|---|")
    preload = [name.split("=", 1)[1] for name in arguments if name.startswith("--preload=")]
    captured = pairs.Captured(**({"LD_PRELOAD": preload[0]} if preload else {}))
    for transport, operation, command, options in entries:
        done = captured.run(oche, command, options)
        wrong = captured.wrong(all_of_them=table)
        failed += (done.error is not None) + len(wrong)
        said = "works" if done.error is None and not (table and wrong) else "does not work"
        if table:
            print(f"| {command} | {operation} | {transport} | `{command} {options}` | {said} |")
        else:
            print(f"{command} {options}: {said} ({done.seconds:.1f} s)", flush=True)
        if done.error is not None:
            print(done.error, file=sys.stderr, flush=True)
        tell(wrong)
    wrong = captured.wrong()
    failed += len(wrong)
    tell(wrong)
    captured.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
