#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scripted events, one file for both worlds: the receiver of a message of 20 packets sees the same
PSNs in the same order on the wire (`oche exec --events`, perftest, a capture) and in the simulator
(`events:`, `oche run --pcap`), with Go-Back-N.

What the receiver sends back is late in both worlds, so that the sender has sent the whole message
before it hears of a loss. A machine that stops the sender in the middle of a message for longer
than that gives another order; then the pair runs again, a few times.

usage: events.py OCHE
"""
import json
import os
import subprocess
import sys
import tempfile

import pairs

OCHE = sys.argv[1]
PACKETS = 20
LATE = "200ms"  # what the receiver sends back
TRIES = 5

# Events, the verbs that move the data, and the order of relative PSNs that follows from Go-Back-N.
# Of the packet that is overtaken the order ends there: the simulator's receiver sends a NAK at the
# gap, and the device's, which handles several packets at a time, finds the gap filled.
ALL = list(range(PACKETS))
CASES = [
    ("lost twice", ["{qpn: 0, psn: 5, type: drop, iter: 1}",
                    "{qpn: 0, psn: 5, type: drop, iter: 2}"], ("write", "send"),
     ALL[:5] + ALL[6:] + ALL[6:] + ALL[5:]),
    ("damaged at once", ["{qpn: 0, psn: 0, type: bit-error, iter: 1}"], ("write",), ALL[1:] + ALL),
    ("marked, twice, overtaken",
     ["{qpn: 0, psn: 4, type: ecn, iter: 1}", "{qpn: 0, psn: 2, type: duplicate, iter: 1}",
      "{qpn: 0, psn: 17, type: reorder, iter: 1, by: 2}"], ("write",),
     [0, 1, 2, 2] + ALL[3:17] + [18, 19, 17]),
    # later than the packet behind it, for which there is a NAK, and before what the NAK brings
    ("late", ["{qpn: 0, psn: 18, type: delay, iter: 1, by: 50ms}"], ("write",),
     ALL[:18] + [19, 18, 18, 19]),
    ("a response lost twice", ["{qpn: 0, psn: 5, type: drop, iter: 1}",
                               "{qpn: 0, psn: 5, type: drop, iter: 2}"], ("read",),
     ALL[:5] + ALL[6:] + ALL[6:] + ALL[5:]),
]
SCENARIO = """name: events
duration: 60s
topology: {{type: star, hosts: 2, host_rate: 10Gbps, delay: 100ms}}
switch: {{pfc: false}}
host: {{mtu: 1024B, ack_timeout: 4s}}
congestion_control: none
recovery: go_back_n
workload: {{type: permutation, pattern: shift, bytes: 20480B, verb: {verb}}}
events: {{file: events.yaml, port: "tor0:host1"}}
"""


def must(truth, *what):
    if not truth:
        pairs.fail(*what)


def seen_in(capture, receiver):
    """Returns relative PSNs of right data packets to the address, in order; those that are marked;
    and how many were wrong."""
    done = subprocess.run([OCHE, "wire", "--json", capture], text=True, capture_output=True,
                          check=False)
    data = [packet for packet in json.loads(done.stdout)["packets"]
            if packet["kind"] == "roce" and packet["dst"] == receiver and
            any(word in packet["opcode"] for word in ("WRITE", "SEND", "RESPONSE")) and
            packet["payload_bytes"] > 0]
    right = [packet for packet in data if packet["verdict"] == "right"]
    base = min(packet["psn"] for packet in data)  # no test of ours passes the end of the circle
    if max(packet["psn"] for packet in data) - base > 1 << 23:
        return None
    return ([packet["psn"] - base for packet in right],
            sorted({packet["psn"] - base for packet in right if "CE" in packet["flags"]}),
            len(data) - len(right))


def on_the_wire(verb, path, folder):
    """The first message alone: with one message under way the rest comes later."""
    capture = f"{folder}/wire.pcap"
    late = [f"--link-out=delay={LATE}"]
    scripted = [f"--events={path}", f"--capture={capture}", "--stats"]
    schemes = ["--cc=none", "--recovery=go_back_n", "--source-ports=1"]
    receiver = pairs.CLIENT if verb == "read" else pairs.SERVER
    sides = [pairs.Side(address, schemes + (scripted + late if address == receiver else []))
             for address in (pairs.SERVER, pairs.CLIENT)]
    done = pairs.run(OCHE, f"ib_{verb}_bw", "-F -n 5 -t 1 -m 1024 -u 20 -s 20480", *sides)
    must(done.error is None, verb, done.error)
    seen = seen_in(capture, receiver)
    said = done.called if receiver == pairs.CLIENT else done.served
    return seen, [line for line in said.split("\n") if "scripted events:" in line]


def in_the_simulator(verb, folder):
    with open(f"{folder}/scenario.yaml", "w", encoding="utf-8") as file:
        file.write(SCENARIO.format(verb=verb))
    hashes = set()
    for more in ([], ["--set", "bytes=true", "--set", "payload=true"]):
        done = subprocess.run([OCHE, "run", f"{folder}/scenario.yaml", f"--out={folder}/out",
                               f"--pcap={folder}/sim.pcap:host1", *more],
                              text=True, capture_output=True, check=False)
        must(done.returncode == 0, done.stdout, done.stderr)
        hashes.add(done.stdout[done.stdout.index("trace hash"):].split()[2])
    must(len(hashes) == 1, "structs and bytes differ", hashes)
    lines = [line for line in done.stdout.split("\n") if line.startswith("Scripted events at")]
    return seen_in(f"{folder}/sim.pcap", "10.0.0.2"), lines


def compare(name, events, verb, expected):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/events.yaml"
        with open(path, "w", encoding="utf-8") as file:
            file.write("events:\n" + "".join(f"  - {event}\n" for event in events))
        (psns, marked, _), said = in_the_simulator(verb, folder)
        must(psns[:len(expected)] == expected, name, verb, "simulator:", psns, expected)
        must(len(said) == 1 and "never" not in said[0], name, said)
        for attempt in range(TRIES):
            seen, told = on_the_wire(verb, path, folder)
            if seen is not None and seen[0][:len(expected)] == expected:
                break
            print(f"{name}: {verb}: attempt {attempt + 1}: {seen}")
        else:
            pairs.fail(name, verb, "wire:", seen, "simulator:", psns)
        must(marked == seen[1] == ([4] if "marked" in name else []), name, "marks", marked, seen)
        must(seen[2] == ("damaged" in name), name, "wrong", seen)
        must(len(told) == 1 and "never" not in told[0], name, told)
        # the same numbers behind "scripted events: " and "Scripted events at PORT: "
        must(told[0].split("scripted events: ")[1] == said[0].split(": ", 1)[1].rstrip("."),
             name, told, said)


def never():
    """Events that never happened are reported without --stats; a Lumina file is read."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/lumina.yaml"
        with open(path, "w", encoding="utf-8") as file:
            file.write("local-workspace: /tmp\ntraffic:\n  num-qps: 1\n  data-pkt-events:\n"
                       "    - {qpn: 0, psn: 1000000, type: drop, iter: 1}\n"
                       "    - {qpn: 0, psn: 3, type: ecn, iter: 1}\n")
        sides = [pairs.Side(pairs.SERVER, [f"--events={path}"]), pairs.Side(pairs.CLIENT)]
        done = pairs.run(OCHE, "ib_write_bw", "-F -n 5 -s 20480", *sides)
        must(done.error is None, done.error)
        must("scripted events: ecn 1; never happened: 1, the first qpn 0 psn 1000000 iter 1 drop" in
             done.served, done.served)


def must_happen():
    """--events-must-happen: status 5 and a line; 0 if all happened; 2 without events."""
    with tempfile.TemporaryDirectory() as folder:
        for event, more, status, says in (
                ("{qpn: 0, psn: 3, type: drop, iter: 1}", ["--events-must-happen"], 0, ""),
                ("{qpn: 0, psn: 3, type: drop, iter: 7}", [], 0, ""),
                ("{qpn: 0, psn: 3, type: drop, iter: 7}", ["--events-must-happen"], 5,
                 "none happened; never happened: 1, the first qpn 0 psn 3 iter 7 drop"),
                (None, ["--events-must-happen"], 2, "--events-must-happen: the scenario has no")):
            scenario = SCENARIO.format(verb="write")
            if event is None:
                scenario = "\n".join(i for i in scenario.split("\n") if not i.startswith("events:"))
            else:
                with open(f"{folder}/events.yaml", "w", encoding="utf-8") as file:
                    file.write(f"events:\n  - {event}\n")
            with open(f"{folder}/scenario.yaml", "w", encoding="utf-8") as file:
                file.write(scenario)
            done = subprocess.run([OCHE, "run", f"{folder}/scenario.yaml", f"--out={folder}/out",
                                   "--quiet", *more], text=True, capture_output=True, check=False)
            must(done.returncode == status, event, more, done.returncode, done.stderr)
            must(says in done.stderr and done.stderr.count("\n") == (says != ""), done.stderr)


def main():
    pairs.need("ib_write_bw", "ib_send_bw", "ib_read_bw")
    never()
    must_happen()
    for name, events, verbs, expected in CASES:
        for verb in verbs:
            compare(name, events, verb, expected)
    print("ok")


main()
