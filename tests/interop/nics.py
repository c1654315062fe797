#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs see the errors of real adapters (`oche exec --nic`): a WRITE whose packets are all lost,
by scripted events or because the peer's queue pair is in error, fails after as long as on the
adapter, with its vendor_err, and its packet has left as often.

A busy machine may be late, never early: a timer that expires late makes the next one late, too.

usage: nics.py OCHE NIC_SILENT [--table]
"""
import os
import subprocess
import sys
import tempfile

import pairs

OCHE, NIC_SILENT = (os.path.abspath(path) for path in sys.argv[1:3])
SERVER, CLIENT = pairs.NET + "31", pairs.NET + "32"
RETRY_EXC = 12
LATE_MS = 3000  # how late a busy machine may be
EARLY_MS = 1.5  # the report's numbers are medians of trials that differ by 0.9 ms

# Adapter, T, R, the error's time in ms, its vendor_err, how often the packet leaves, and how the
# packets are lost. Tables A1, A2 and B of CX6-report (docs/papers/nics.md#connectx-6).
CASES = [
    ("connectx-6", 14, 1, 440.6, 0x81, (4, 7), "events"),
    ("connectx-6", 14, 2, 977.6, 0x81, (5, 8), "events"),
    ("connectx-6", 14, 4, 2051.4, 0x81, (7, 10), "peer"),
    ("connectx-6", 8, 7, 3661.8, 0x81, (10, 13), "events"),
    ("connectx-6-no-floor", 8, 7, 9.5, 0x81, (8, 8), "events"),
    ("connectx-6-no-floor", 12, 7, 147.0, 0x81, (8, 8), "peer"),
    ("connectx-5", 14, 3, 30.0, 0x81, (4, 4), "events"),
    ("ideal", 12, 3, 268.4, 1, (4, 16), "peer"),  # four timeouts, of T to 4 T
]


def must(truth, *what):
    if not truth:
        pairs.fail(*what)


def exec_of(address, *options):
    return [OCHE, "exec", "--device", address, *options, "--", NIC_SILENT]


def events_in(folder):
    """A file that has every pass of the first packet lost."""
    path = os.path.join(folder, "events.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write("events:\n")
        for number in range(1, 33):
            file.write(f"- {{qpn: 0, psn: 0, type: drop, iter: {number}}}\n")
    return path


def packets_in(capture):
    """How many WRITEs have left."""
    listed = subprocess.run([OCHE, "wire", capture], stdout=subprocess.PIPE, text=True,
                            check=True).stdout
    return sum("WRITE ONLY qp" in line for line in listed.splitlines())


def run(case, folder):
    nic, timeout, retries, _, _, _, how = case
    port = str(pairs.free_port())
    capture = os.path.join(folder, "capture.pcap")
    options = ["--nic", nic] + (["--events", events_in(folder)] if how == "events" else [])
    server = subprocess.Popen(exec_of(SERVER, *options) + [port] + ["error"] * (how == "peer"),
                              stdout=subprocess.PIPE, text=True)
    must(server.stdout.readline() == "listening\n", "no server")
    said = subprocess.run(exec_of(CLIENT, "--nic", nic, "--capture", capture) +
                          [port, SERVER, str(timeout), str(retries)],
                          stdout=subprocess.PIPE, text=True, timeout=120, check=True).stdout
    must(server.wait(timeout=60) == 0, "the server failed")
    status, vendor_err, ms = said.split()
    return int(status), int(vendor_err, 16), float(ms), packets_in(capture)


def main():
    if "--table" in sys.argv:
        print("| adapter | T | R | published, ms | on the wire, ms | vendor_err | packets |\n"
              "|---|---|---|---|---|---|---|")
    for case in CASES:
        nic, timeout, retries, published, vendor_err, (least, most), _ = case
        with tempfile.TemporaryDirectory() as folder:
            outcome = run(case, folder)
        status, got, ms, packets = outcome
        what = f"{nic} T {timeout} R {retries}: {outcome}"
        if "--table" in sys.argv:
            print(f"| {nic} | {timeout} | {retries} | {published} | {ms} | {got:#x} | {packets} |")
        must(status == RETRY_EXC and got == vendor_err, what)
        must(published - EARLY_MS <= ms <= published + LATE_MS, what, "not", published, "ms")
        must(least <= packets <= most, what, "not", least, "to", most)
    if "--table" not in sys.argv:
        print(f"{len(CASES)} errors as on the adapters")


main()
