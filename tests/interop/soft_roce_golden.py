#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures of what our device and Linux's soft-RoCE say to each other when one packet is lost or a
receive is missing, as tests/golden has them: NAK, RNR NAK, what is sent again after a timeout,
READs and atomics that are repeated and what answers them.

usage: soft_roce_golden.py OCHE VERIFIED PATH FOLDER

Writes FOLDER/NAME.pcap, Ethernet frames as our side's link saw them: before what we send is lost,
and after what the other side sent was. Status 77 as in soft_roce.py.
"""
import os
import subprocess
import sys
import tempfile
import time

import pairs
import soft_roce
import vm

# name, operation of verified, side and opcode and number of the lost packet, client.
OURS, THEIRS = soft_roce.OURS, soft_roce.THEIRS
CAPTURES = [
    ("rxe-oche-nak", "-n 2 -s 4097 write", ("out", 0x07, 2), OURS),
    ("oche-rxe-nak", "-n 2 -s 4097 write", ("in", 0x07, 2), THEIRS),
    ("rxe-oche-rnr", "-n 3 -s 64 -w send", None, OURS),
    ("oche-rxe-rnr", "-n 3 -s 64 -w send", None, THEIRS),
    ("rxe-oche-timeout", "-n 2 -s 2000 send", ("out", 0x02, 2), OURS),
    ("oche-rxe-timeout", "-n 2 -s 2000 send", ("in", 0x02, 2), THEIRS),
    ("rxe-oche-read-again", "-n 2 -s 4097 read", ("in", 0x0e, 2), OURS),
    ("oche-rxe-read-again", "-n 2 -s 4097 read", ("out", 0x0e, 2), THEIRS),
    ("rxe-oche-atomic-again", "-n 2 add", ("in", 0x12, 1), OURS),
    ("oche-rxe-atomic-again", "-n 2 add", ("out", 0x12, 1), THEIRS),
]


def capture(hosts, name, words, lost, calls, folder):
    faults = ["--once={}:{}:{}".format(*lost)] if lost else []
    pair = soft_roce.Pair(name, "RC", f"verified {words}", calls, 1024, False, (name, faults))
    hosts.open_path(faults)
    hosts.set_mtu(soft_roce.BAD, 1024)
    target = os.path.join(folder, f"{name}.pcap")
    taking = subprocess.Popen(["dumpcap", "-q", "-P", "-i", soft_roce.BAD.device, "-f",
                               "udp port 4791", "-w", target], stderr=subprocess.PIPE, text=True)
    while "File:" not in taking.stderr.readline():
        if taking.poll() is not None:
            pairs.fail("dumpcap ended")
    time.sleep(0.5)
    result = soft_roce.Sides(hosts, pair, soft_roce.BAD, soft_roce.PORT).run()
    time.sleep(0.5)
    taking.terminate()
    taking.communicate()
    did = hosts.close_path()
    if result[0] != 0 or result[2] != 0 or (lost and did["lost"] != 1):
        pairs.fail(name, result, did)
    print(f"{name}: {did}", flush=True)


def main(arguments):
    programs = [os.path.abspath(name) for name in arguments[:3]]
    folder = os.path.abspath(arguments[3])
    pairs.need("dumpcap")
    vm.enter()
    sockets = tempfile.mkdtemp()
    with vm.Machine(nets=(vm.TAP_NET, soft_roce.bad_net(sockets))) as machine:
        hosts = soft_roce.Hosts(machine, programs, sockets)
        for row in CAPTURES:
            capture(hosts, *row, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
