#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that write without end are ended by Ctrl-C, SIGTERM, _exit in a handler … Each time the
counters are printed once for each device, the capture is complete, and the program's status is
as without oche. After SIGKILL the capture has all but the last burst.

usage: process_exit.py OCHE PROGRAM, which is process_exit.c's. OCHE_LONG=yes: each many times more.
"""
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

import pairs

NETWORK = pairs.NET
INT, TERM = signal.SIGINT, signal.SIGTERM
# Way to end → the signals that the program gets, and its status.
ENDS = {
    "default": ([INT], -INT), "threads": ([INT], -INT), "shown": ([INT], -INT),
    "spawns": ([TERM], -TERM), "ignored": ([INT, TERM], -TERM), "flag": ([INT], 3),
    "_exit": ([INT], 5), "_Exit": ([INT], 6), "quick_exit": ([INT], 7), "exit": ([INT], 8),
    "again": ([INT], -INT), "once": ([INT], -INT), "forked": ([INT], -INT),
}


# Their handler may have interrupted us for good in the middle of a burst of packets.
AT_ONCE, BURST = ("_exit", "_Exit", "quick_exit", "exit"), 256
MOVING = 4000000  # bytes of a capture; after so many its connection is made, and data moves


def records(path, cut=False):
    """Returns the packets of a capture. Checks that all records are whole, except a last one that
    may be cut."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 24 or data[:4] != bytes.fromhex("4d3cb2a1"):
        pairs.fail(path, "has no header", data[:24])
    at, count = 24, 0
    while at < len(data):
        if len(data) - at < 16:
            break
        length, whole = struct.unpack("<II", data[at + 8:at + 16])
        if length != whole or not 40 < length < 5000:
            pairs.fail(path, f"record {count} has {length} of {whole} bytes")
        if len(data) - at - 16 < length:
            break
        at += 16 + length
        count += 1
    if at != len(data) and not cut:
        pairs.fail(path, f"is cut after {count} records, in the middle of one")
    return count


def start(oche, words, *options, group=False):
    return subprocess.Popen([oche, "exec", *options, "--", *words], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=group,
                            restore_signals=True)


def until_busy(process):
    """Until it has said twice that it works. Returns how many WRITEs are done."""
    return sum(int(process.stdout.readline() or 0) for _ in range(2))


def told(error, address):
    """Returns the packets sent and received by the one line of counters; all are the program's."""
    lines = re.findall(rf"^oche: {re.escape(address)}: sent (\d+) packets in \d+ datagrams, "
                       r"received (\d+) ", error, re.M)
    if len(lines) != 1 or len(re.findall(rf"^oche: {re.escape(address)}: recovery ", error,
                                         re.M)) != 1:
        pairs.fail("counters are told", len(lines), "times of", address, error)
    return sum(map(int, lines[0]))


def end_one(oche, program, folder, how, by_hand=False):
    """by_hand: without liboche-exit.so, as where the variables alone are set."""
    signals, status = ENDS[how]
    address, other = NETWORK + "1", NETWORK + "2"
    path = os.path.join(folder, "x.pcap")
    if by_hand:
        environment = dict(os.environ, OCHE_STATS="1", OCHE_CAPTURE=path, OCHE_DEVICE=address,
                           LD_LIBRARY_PATH=os.path.dirname(oche))
        process = subprocess.Popen([program, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=environment)
    else:
        process = start(oche, [program, how, *[other] * (how == "default")], "--stats",
                        "--device", address, "--capture", path, group=how == "forked")
    done = until_busy(process)
    time.sleep(random.uniform(0, 0.02))
    for number in signals:
        if how == "forked":
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        time.sleep(0.001)
    try:
        said, error = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        pairs.fail(how, "it does not end", process.communicate())
    done += sum(map(int, said.split()))
    if process.returncode != status:
        pairs.fail(how, "status", process.returncode, "is not", status, error)
    counted = [(told(error, address), records(path))]
    if how == "default" and not by_hand:
        counted.append((told(error, other), records(path.replace(".pcap", f"-{other}.pcap"))))
    for packets, captured in counted:
        if captured + BURST * (how in AT_ONCE) < packets:
            pairs.fail(how, f"{packets} packets were counted, and {captured} are in the capture")
    if sum(captured for _, captured in counted) < 4 * done:
        pairs.fail(how, done, "WRITEs are done, and the captures have", counted)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))


def killed(oche, program, folder):
    path = os.path.join(folder, "x.pcap")
    process = start(oche, [program, "default"], "--device", NETWORK + "1", "--capture", path)
    done = until_busy(process)
    time.sleep(random.uniform(0, 0.02))
    process.kill()
    said, _ = process.communicate(timeout=30)
    done += sum(map(int, said.split()))
    captured = records(path, cut=True)
    if captured < 4 * done:
        pairs.fail("SIGKILL:", done, "WRITEs were done, and the capture has", captured)


def endless(oche, folder, options, number):
    """ib_write_bw --run_infinitely, both sides, which ends in no other way."""
    pairs.need("ib_write_bw")
    port, address = pairs.free_port(), NETWORK + "1"
    words = ["ib_write_bw", "--run_infinitely", "-D", "1", "-p", str(port)]
    sides, captures = [], []
    for name in ("server", "client"):
        captures.append(os.path.join(folder, name + ".pcap"))
        sides.append(start(oche, words + ["127.0.0.1"] * len(sides), "--device", address,
                           "--capture", captures[-1], *options))
        if name == "server":
            pairs.wait_until_listening(port, sides[0])
    pairs.wait_for("the captures do not grow",
                   lambda: all(os.path.exists(path) and os.path.getsize(path) > MOVING
                               for path in captures), *sides)
    for side in sides:  # both, as each would soon notice that the other is gone
        side.send_signal(number)
    for side, path, name in zip(sides, captures, ("server", "client")):
        try:
            said = side.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            side.kill()
            pairs.fail("ib_write_bw", name, "does not end", side.communicate())
        if side.returncode != -number:
            pairs.fail("ib_write_bw", name, side.returncode, said)
        counted, captured = told(said[1], address), records(path)
        if captured < counted:
            pairs.fail("ib_write_bw", name, counted, captured)
        if "--rogue" in options and len(re.findall("^oche: rogue: connections 1,", said[1],
                                                   re.M)) != 1:
            pairs.fail("RoGUE says nothing", said)
        os.unlink(path)
        print(f"ib_write_bw --run_infinitely, {name}, {' '.join(options)}, signal {number}: "
              f"{captured} packets")


def main(arguments):
    oche, program = map(os.path.abspath, arguments)
    times = 30 if pairs.LONG else 3
    with tempfile.TemporaryDirectory() as folder:
        for how in ENDS:
            for _ in range(times):
                end_one(oche, program, folder, how)
            print(how)
        for _ in range(times):
            end_one(oche, program, folder, "default", by_hand=True)
            killed(oche, program, folder)
        endless(oche, folder, ["--stats"], INT)
        endless(oche, folder, ["--stats", "--rogue"], TERM)
    print("ok")


if __name__ == "__main__":
    main(sys.argv[1:])
