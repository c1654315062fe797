#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A test in Lumina's words gives the same packets in the simulator and on the wire, compared packet
by packet, and the same verdicts: the test is scenarios/lumina/both-worlds.yaml, with ib_write_bw
for its traffic. The capture of the sender is judged; that of the receiver, which lacks what was
lost; and the sender's as Lumina's switch would have mirrored it, in two files, cut and rewritten.

Answers come in batches to a device, which then leaves out ACKs that the next one implies. So of
ACKs with nothing between them only the last is compared.

usage: check_nic.py OCHE
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import pairs

OCHE = os.path.abspath(sys.argv[1])
TEST = os.path.join(os.path.dirname(__file__), "../../scenarios/lumina/both-worlds.yaml")
EVENTS = {"passed": 0, "drop": 1, "ecn": 2, "bit-error": 3}  # Lumina's numbers
MIRROR_PORT = 9741
SNAP = 128


def check_nic(*options, status=None):
    done = subprocess.run([OCHE, "check-nic", "--json", "--packets", *options],
                          text=True, capture_output=True, check=False, timeout=pairs.LIMIT)
    if done.returncode not in ((0, 1) if status is None else (status,)):
        pairs.fail("check-nic", options, "status", done.returncode, done.stdout[:2000], done.stderr)
    return json.loads(done.stdout)


def sequences(result, answers=True):
    """By stream: its packets, in order; or its data alone."""
    streams = {}
    for packet in result["packets"]:
        if packet["kind"] != "data" and not answers:
            continue
        stream = streams.setdefault(packet["stream"], [])
        if stream and stream[-1][0] == "ACK" == packet["kind"]:
            stream.pop()
        stream.append((packet["kind"], packet.get("psn"), packet["event"]))
    return streams


def difference(found, wanted, answers=True):
    """Returns where two results differ, or None."""
    for stream, packets in sequences(wanted, answers).items():
        have = sequences(found, answers).get(stream, [])
        if have == packets:
            continue
        at = next((i for i, (a, b) in enumerate(zip(have, packets)) if a != b),
                  min(len(have), len(packets)))
        return f"stream {stream} at {at}: {have[at - 3:at + 5]}, not {packets[at - 3:at + 5]}"
    if found["verdicts"] != wanted["verdicts"]:
        return f"verdicts: {found['verdicts']}, not {wanted['verdicts']}"
    return None


def must_be_alike(what, found, wanted, answers=True):
    text = difference(found, wanted, answers)
    if text:
        pairs.fail(what, text)


def on_wire(folder, delay):
    """Runs the test's traffic. Returns the captures of the sender and of the receiver."""
    captures = [os.path.join(folder, name) for name in ("sender.pcap", "receiver.pcap")]
    options = ["--nic", "connectx-5,timeouts=as_asked", "--cc", "dcqcn",
               "--recovery", "go_back_n,nak_interval=never", "--link-in", f"delay={delay}"]
    client = pairs.Side(pairs.CLIENT, options + ["--capture", captures[0]])
    server = pairs.Side(pairs.SERVER, options + ["--events", TEST, "--capture", captures[1]])
    done = pairs.run(OCHE, "ib_write_bw", "-q 4 -n 5 -s 10240 -t 1 -Q 1 -m 1024 -u 21", server,
                     client)
    if done.error:
        pairs.fail(done.error, done.served, done.called)
    return captures


# ---- Lumina's mirror ----


def packets_of(capture):
    """The IP packets of a pcap file with times in nanoseconds."""
    with open(capture, "rb") as file:
        data = file.read()
    head = struct.unpack("<IHHiIII", data[:24])
    if head[0] != 0xa1b23c4d:
        pairs.fail(capture, "is none of ours", head)
    at, found = 24, []
    while at < len(data):
        seconds, ns, kept, whole = struct.unpack("<IIII", data[at:at + 16])
        if kept != whole:
            pairs.fail(capture, "is cut")
        found.append((seconds * 10**9 + ns, data[at + 16:at + 16 + kept]))
        at += 16 + kept
    return found


def mirror(capture, judged, folder):
    """Writes the packets as the switch mirrors them. Returns the files."""
    events = {packet["packet"]: packet["event"] for packet in judged["packets"]}
    files = [os.path.join(folder, name) for name in ("first.pcap", "second.pcap")]
    outs = [open(name, "wb") for name in files]  # pylint: disable=consider-using-with
    for out in outs:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    packets = packets_of(capture)
    ports = random.Random(1)
    for number, (when_ns, packet) in enumerate(packets, 1):
        ip = bytearray(packet)
        ip[1] |= 3  # ECN
        ip[8] = EVENTS[events[number]]  # TTL
        ip[26:28] = ip[20:22]  # UDP: the checksum gets the source port, which becomes random
        ip[20:24] = struct.pack(">HH", ports.randrange(65536), MIRROR_PORT)
        frame = (when_ns - packets[0][0]).to_bytes(6, "big") + number.to_bytes(6, "big") + \
            b"\x08\x00" + bytes(ip)
        outs[number % 2].write(struct.pack("<IIII", 1, 0, min(SNAP, len(frame)), len(frame)) +
                               frame[:SNAP])
    for out in outs:
        out.close()
    return files


def check_mirror(capture, judged, folder):
    test = os.path.join(folder, "mirrored.yaml")
    with open(TEST, encoding="utf-8") as file:
        text = file.read()
    with open(test, "w", encoding="utf-8") as file:
        file.write(f"rewrite-udp-dst-port: {MIRROR_PORT}\n{text}")
    files = mirror(capture, judged, folder)
    found = check_nic(test, "--pcap", files[1], "--pcap", files[0])
    if found["from"] != "mirror" or found["packets_missing"] != 0:
        pairs.fail("the mirror is", found["from"], found["packets_missing"])
    must_be_alike("mirror", found, judged)
    half = check_nic(test, "--pcap", files[1], status=1)
    if half["packets_missing"] == 0 or half["right"]:
        pairs.fail("half of a mirror has", half["packets_missing"], "missing")


def main():
    pairs.need("ib_write_bw")
    with tempfile.TemporaryDirectory() as folder:
        simulated = check_nic(TEST, "--delay=5ms", status=0)
        if simulated["events"] != {"listed": 35, "happened": 35, "contradicted": 0}:
            pairs.fail("events", simulated["events"])
        # A device that has no processor for longer than the delay sends a message in two parts.
        for delay in ("10ms", "50ms", "250ms"):
            sender, receiver = on_wire(folder, delay)
            judged = check_nic(TEST, "--pcap", sender)
            if not difference(judged, simulated):
                break
        must_be_alike("the sender's capture", judged, simulated)
        # At a receiver, how data and answers alternate depends on how fast it is.
        must_be_alike("the receiver's capture",
                      check_nic(TEST, "--pcap", receiver, "--behind-events"), simulated,
                      answers=False)
        check_nic(TEST, "--pcap", receiver, status=1)
        check_mirror(sender, judged, folder)
    print("ok")


main()
