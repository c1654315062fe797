#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Losses that are known give the counters of adapters values that are known, on the wire as in the
simulator: a lost packet, a lost last packet, with and without adaptive retransmissions, and a lost
response to a READ. `oche stat` and the files below /sys/class/infiniband give the same values, and
the files keep a process's counts after its end.

usage: adapter_counters.py OCHE
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import pairs

OCHE = os.path.abspath(sys.argv[1])
PROFILE = "ideal,timeouts=as_asked"
# Name, command, profile, the lost packet, and what the two sides have counted then.
CASES = [
    ("a packet", "ib_write_bw", PROFILE, 4, {"packet_seq_err": 1}, {"out_of_sequence": 1}),
    ("the last packet", "ib_write_bw", PROFILE, 9, {"local_ack_timeout_err": 1}, {}),
    ("the last packet", "ib_write_bw", "connectx-6", 9, {"roce_adp_retrans": 1}, {}),
    ("a response", "ib_read_bw", PROFILE, 4, {"implied_nak_seq_err": 1}, {"duplicate_request": 1}),
]
COUNTED = ("packet_seq_err", "out_of_sequence", "local_ack_timeout_err", "roce_adp_retrans",
           "implied_nak_seq_err", "duplicate_request")

# Reads the files of one device, again and again: a line of JSON for each line of its input.
MONITOR = """
import glob, json, sys
folder, = glob.glob("/sys/class/infiniband/oche*/ports/1")
for line in sys.stdin:
    values = {}
    for name in glob.glob(folder + "/hw_counters/*") + glob.glob(folder + "/counters/*"):
        with open(name, encoding="ascii") as file:
            values["/".join(name.split("/")[-2:])] = int(file.read())
    print(json.dumps(values), flush=True)
"""


class Monitor:
    def __init__(self, address, view):
        self.program = subprocess.Popen(
            [OCHE, "exec", "--files", "--device", address, "--view", view, "--",
             sys.executable, "-c", MONITOR],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def values(self):
        self.program.stdin.write("again\n")
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())

    def end(self):
        self.program.stdin.close()
        self.program.wait(timeout=60)


def events_in(folder, psn):
    path = os.path.join(folder, "events.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"events:\n- {{qpn: 0, psn: {psn}, type: drop, iter: 1}}\n")
    return path


def adapters(view):
    """Address → the counters that oche stat prints."""
    done = subprocess.run([OCHE, "stat", "--json", "--view", view], text=True,
                          capture_output=True, check=True, timeout=60)
    return {device["address"]: device["adapter"]
            for process in json.loads(done.stdout)["processes"] for device in process["devices"]}


def fits(view, called, served):
    """True if both sides have counted what they must, and nothing else."""
    found = adapters(view)
    for address, wanted in ((pairs.CLIENT, called), (pairs.SERVER, served)):
        if address not in found:
            return False
        if any(found[address]["hw_counters"][name] != wanted.get(name, 0) for name in COUNTED):
            return False
    return True


def check_files(view, monitor, address):
    """The files say what oche stat says, which grows meanwhile."""
    before = adapters(view)[address]
    time.sleep(0.6)
    seen = monitor.values()
    time.sleep(0.6)
    after = adapters(view)[address]
    for folder in ("hw_counters", "counters"):
        for name, value in before[folder].items():
            if not value <= seen[f"{folder}/{name}"] <= after[folder][name]:
                pairs.fail(folder, name, value, seen[f"{folder}/{name}"], after[folder][name])
    if seen["counters/port_xmit_packets"] == 0 or seen["hw_counters/rx_dct_connect"] != 0:
        pairs.fail(seen)
    return seen


def run(case, folder):
    name, command, nic, psn, called, served = case
    view = os.path.join(folder, "view")
    options = ["--nic", nic, "--view", view, "--recovery", "go_back_n"]
    events = ["--events", events_in(folder, psn)]
    reads = command == "ib_read_bw"
    server = pairs.Side(pairs.SERVER, options + ([] if reads else events))
    client = pairs.Side(pairs.CLIENT, options + (events if reads else []))
    words = [command, "-D", "8", "-s", "10240", "-t", "1", "-m", "1024", "-u", "19"]
    port = pairs.free_port()
    serving = pairs.start_server(OCHE, words, server, port)
    calling = client.start(OCHE, words + ["-p", str(port), pairs.SERVER])
    monitor = Monitor(pairs.CLIENT, view)
    try:
        until = time.time() + 7
        while not fits(view, called, served):
            if time.time() > until or calling.poll() is not None:
                pairs.fail(f"{name} is lost, {command} on {nic}:", adapters(view))
            time.sleep(0.1)
        seen = check_files(view, monitor, pairs.CLIENT)
        calling.communicate(timeout=pairs.LIMIT)
        serving.communicate(timeout=pairs.LIMIT)
        last = monitor.values()
        if adapters(view) or any(last[key] < value for key, value in seen.items()):
            pairs.fail("after the end", last, "after", seen)
    finally:
        for program in (calling, serving):
            program.kill()
        monitor.end()


def main():
    pairs.need("ib_write_bw")
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "view"), 0o700)
            run(case, folder)
    print(f"{len(CASES)} losses counted as adapters count them")


main()
