#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How `oche check-nic` reads captures: Lumina's mirror with its wrapping clock and numbers and its
random ports; damaged mirrors, packets that are cut, captures of one direction, times that fall, and
several captures without a common clock. The captures are written here, byte by byte.

Environment: OCHE.
"""
import json
import os
import random
import struct
import sys
import tempfile
import zlib

from checks import check, must, report, run_program

OCHE = os.environ["OCHE"]
TEST = """requester: {nic: {type: CX6}}
responder: {nic: {type: CX6}}
traffic:
  num-qps: 2
  rdma-verb: write
  num-msgs-per-qp: 1
  mtu: 256
  message-size: 1024
  data-pkt-events:
  - {qpn: 1, psn: 1, type: drop, iter: 1}
"""
MIRROR_PORT = 9741
LAST_NUMBER = 0x7fffffff
FIRST, MIDDLE, LAST, ACK = 0x06, 0x07, 0x08, 0x11  # opcodes
HERE, THERE = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
RANDOM = random.Random(1)


class Packet:
    """A packet at the switch: of the data of a queue pair (0, 1), or an answer to it."""

    def __init__(self, ns, pair, opcode, psn, **more):
        self.ns, self.pair, self.opcode, self.psn = ns, pair, opcode, psn
        self.event, self.nak = more.get("event", 0), more.get("nak", False)
        self.answer = opcode == ACK
        self.source_port = 50000 + pair

    def headers(self):
        """From the BTH to the end of the payload."""
        bth = struct.pack(">BBHII", self.opcode, 0x40, 0xffff,
                          (0x21 if self.answer else 0x11) + self.pair, 100 + self.psn)
        if self.answer:
            return bth + struct.pack(">I", (0x60 if self.nak else 0x1f) << 24)
        return bth + (struct.pack(">QII", 0, 1, 1024) if self.opcode == FIRST else b"") + bytes(256)

    def ip(self, **changed):
        """The IP packet. `changed`: ttl, source_port, port and checksum (UDP's)."""
        body = self.headers()
        ends = (THERE, HERE) if self.answer else (HERE, THERE)
        ttl, port = changed.get("ttl", 64), changed.get("port", 4791)
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 2, 28 + len(body) + 4, 0, 0x4000, ttl, 17, 0,
                           *ends)
        udp = struct.pack(">HHHH", changed.get("source_port", self.source_port), port,
                          8 + len(body) + 4, changed.get("checksum", 0))
        # The ICRC covers ones in place of fields that change on the way.
        covered = b"\xff" * 8 + head[:1] + b"\xff" + head[2:8] + b"\xff" + head[9:10] + \
            b"\xff\xff" + head[12:] + udp[:6] + b"\xff\xff" + body[:4] + b"\xff" + body[5:]
        return head + udp + body + struct.pack("<I", zlib.crc32(covered))

    def frame(self):
        return bytes(range(12)) + b"\x08\x00" + self.ip()

    def mirrored(self, number, clock, port=MIRROR_PORT):
        """As inject_switch.p4 sends it: the source port moves to the checksum."""
        ip = self.ip(ttl=self.event, port=port, checksum=self.source_port,
                     source_port=RANDOM.randrange(65536))
        return ((clock + self.ns) % 2**48).to_bytes(6, "big") + number.to_bytes(6, "big") + \
            b"\x08\x00" + ip


def packets():
    """Pair 1 loses its second packet. Its answers come first: order does not match them."""
    data = [Packet(1000 * i + 100 * pair, pair, (FIRST, MIDDLE, MIDDLE, LAST)[i], i,
                   event=int((pair, i) == (1, 1))) for i in range(4) for pair in (0, 1)]
    return data + [Packet(5000, 1, ACK, 1, nak=True), Packet(7000, 1, MIDDLE, 1),
                   Packet(8000, 1, MIDDLE, 2), Packet(9000, 1, LAST, 3), Packet(10000, 1, ACK, 3),
                   Packet(11000, 0, ACK, 3)]


LATENCIES = {"NACK generation": 5000 - 2100, "NACK reaction": 2000, "retransmission": 7000 - 1100}


def write(path, frames, snap=65535):
    """Writes (ns, frame) as a pcap file with times in nanoseconds."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, snap, 1))
        for ns, frame in frames:
            kept = frame[:snap]
            file.write(struct.pack("<IIII", ns // 10**9, ns % 10**9, len(kept), len(frame)) + kept)


class Reader:
    """Judges captures in a folder."""

    def __init__(self, folder):
        self.folder = folder
        for name, text in (("test", TEST),
                           ("mirrored", f"rewrite-udp-dst-port: {MIRROR_PORT}\n{TEST}")):
            with open(self.path(name + ".yaml"), "w", encoding="utf-8") as file:
                file.write(text)

    def path(self, name):
        return os.path.join(self.folder, name)

    def judge(self, frames, test="test", status=0, snap=65535):
        """`frames`: of one file, or lists of several. Returns the JSON, and the remarks as text."""
        files = frames if frames and isinstance(frames[0], list) else [frames]
        options = [self.path(test + ".yaml")]
        for number, of_file in enumerate(files):
            write(self.path(f"{number}.pcap"), of_file, snap)
            options += ["--pcap", self.path(f"{number}.pcap")]
        text = run_program(OCHE, "check-nic", *options)
        done = run_program(OCHE, "check-nic", "--json", *options)
        must(done.returncode == text.returncode == status, "status", done.returncode, "not", status,
             text.stdout, done.stderr)
        return json.loads(done.stdout), text.stdout

    def refused(self, what, frames, *words, test="test", snap=65535):
        """The captures are refused with one line that has these words."""
        files = frames if frames and isinstance(frames[0], list) else [frames]
        options = [self.path(test + ".yaml")]
        for number, of_file in enumerate(files):
            write(self.path(f"{number}.pcap"), of_file, snap)
            options += ["--pcap", self.path(f"{number}.pcap")]
        done = run_program(OCHE, "check-nic", *options)
        check(done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1 and
              all(word in done.stderr for word in words), what, "gets", done.returncode,
              done.stderr, done.stdout)


def plain(of):
    return [(10**18 + packet.ns, packet.frame()) for packet in of]


def mirror(of, first=1, clock=10**12, port=MIRROR_PORT):
    """The switch's frames, in its order; their times of capture say nothing."""
    return [(i, packet.mirrored((first + i - 1) % LAST_NUMBER + 1, clock, port))
            for i, packet in enumerate(of)]


def split(frames):
    """Two files, as the two hosts of a mirror write them."""
    return [frames[1::2], frames[::2]]


def must_be_right(what, result, source):
    found = {row["latency"]: row["median_ns"] for row in result["latencies"]}
    check(result["right"] and result["from"] == source and found == LATENCIES and
          result["packets_missing"] == result["packets_cut"] == result["packets_earlier"] == 0 and
          "one_direction" not in result, what, result)


def check_mirrors(reader):
    for what, frames in (
            ("a mirror", mirror(packets())),
            ("numbers that wrap", mirror(packets(), first=LAST_NUMBER - 5)),
            ("the last number", mirror(packets(), first=LAST_NUMBER)),
            ("a clock that wraps", mirror(packets(), clock=2**48 - 2500)),
            ("both", mirror(packets(), first=LAST_NUMBER - 2, clock=2**48 - 8000))):
        must_be_right(what, reader.judge(split(frames), "mirrored")[0], "mirror")
        check(reader.judge(frames[:4] + frames[5:], "mirrored", 1)[0]["packets_missing"] == 1,
              what, "with a packet less")
    must_be_right("a mirror with RoCE's port",
                  reader.judge(split(mirror(packets(), port=4791)))[0], "mirror")
    must_be_right("a capture of a test with a mirror", reader.judge(plain(packets()),
                                                                    "mirrored")[0], "capture")


def check_damaged(reader):
    frames = mirror(packets())
    for test, whole in (("mirrored", frames), ("test", mirror(packets(), port=4791))):
        reader.refused("a number twice", whole[:3] + whole[2:], "two packets have the number 3 ",
                       "frame 3", "frame 4", test=test)
        reader.refused("a file twice", [whole, whole], "two packets have the number 1 ",
                       "0.pcap and frame 1", test=test)
    for ttl in (4, 64):
        other = packets()
        other[2].event = ttl
        reader.refused("a TTL", mirror(other), "frame 3", f"TTL is {ttl};", test="mirrored")
    for number in (0, LAST_NUMBER + 1):
        wrong = frames[4][1][:6] + number.to_bytes(6, "big") + frames[4][1][12:]
        reader.refused("a number", frames[:4] + [(0, wrong)] + frames[5:], "frame 5",
                       "source MAC", test="mirrored")
    reader.refused("a capture with a mirror", [frames, plain(packets())], "1.pcap: frame 1",
                   "the mirror alone", test="mirrored")


def check_falls(reader):
    for small in (50, 1000):
        of = packets()
        of[9].ns = of[8].ns - small  # the retransmission, behind the NACK
        for test, frames in (("mirrored", mirror(of)), ("test", plain(of))):
            result = reader.judge(frames, test)[0]
            check(result["packets_earlier"] == 0 and result["right"], small, test, result)
            check(all(row["most_ns"] < 10**6 for row in result["latencies"]), small, test, result)
    for large in (1001, 10**9):
        of = packets()
        for packet in of:
            packet.ns += 10**10
        of[9].ns = of[8].ns - large
        for test, frames in (("mirrored", mirror(of)), ("test", plain(of))):
            result, text = reader.judge(frames, test)
            check(result["packets_earlier"] == 1, large, test, result)
            check(all(row["most_ns"] < 10**6 for row in result["latencies"]), large, test, result)
            check("1 packets are earlier than those before them: latencies" in text, text)
    result = reader.judge([(0 if i == 5 else (2**31 - 1) * 10**9, packet.frame())
                           for i, packet in enumerate(packets())])[0]
    check(result["packets_earlier"] == 1 and
          all(row["most_ns"] == 0 for row in result["latencies"]), "all years", result)


def check_several(reader):
    both = plain(packets())
    reader.refused("two directions", [[one for one, packet in zip(both, packets())
                                       if packet.answer == answer] for answer in (False, True)],
                   "no mirror", "clocks", "mergecap")
    reader.refused("one behind the other", [both[:5], both[5:]], "0.pcap and", "1.pcap")


def check_cut(reader):
    first = 14 + 20 + 8 + 12  # a first packet of a WRITE has a header of 16 more bytes
    for snap, cut in ((70, 0), (69, 2), (first + 5, 2), (first + 4, 2), (first, 4 + 1)):
        result, text = reader.judge(plain(packets()), status=int(cut > 0), snap=snap)
        check(result["packets_cut"] == cut and result["right"] == (cut == 0), snap, result)
        check((f"{cut} packets were cut within their headers; capture with a snap length of at "
               "least 128 bytes" in text) == (cut > 0), snap, text)
    for snap in (10, 14, 20, 36, 53):
        reader.refused("all are cut", plain(packets()), "14 packets were cut",
                       "at least 128 bytes", snap=snap)
    check(reader.judge(mirror(packets()), "mirrored", 1, 69)[0]["packets_cut"] == 2,
          "a mirror that is cut")
    tcp, other = bytearray(packets()[0].frame()), bytearray(packets()[0].frame())
    tcp[14 + 9], other[14 + 22] = 6, 1
    six = bytes(12) + b"\x86\xdd" + struct.pack(">IHBB", 6 << 28, 300, 17, 64) + bytes(32) + \
        struct.pack(">HHHH", 1, 4791, 300, 0) + packets()[0].headers() + bytes(24)
    for what, frame, cut in (("TCP", bytes(tcp), 0), ("another port", bytes(other), 0),
                             ("IPv6", six, 1)):
        result = reader.judge(plain(packets()) + [(10**18, frame)], status=cut, snap=72)[0]
        check(result["packets_cut"] == cut, what, result)


def check_one_direction(reader):
    for kind, words in (("data", "data without any answers"),
                        ("answers", "answers without any data")):
        of = [packet for packet in packets() if packet.answer == (kind == "answers")]
        for test, frames in (("mirrored", mirror(of)), ("test", plain(of))):
            result, text = reader.judge(frames, test, status=1)
            check(result["one_direction"] == kind and not result["right"] and
                  f"The capture has one direction only: {words}." in text, kind, result, text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(folder)
        must_be_right("a capture", reader.judge(plain(packets()))[0], "capture")
        check_mirrors(reader)
        check_damaged(reader)
        check_falls(reader)
        check_several(reader)
        check_cut(reader)
        check_one_direction(reader)
    return report()


sys.exit(main())
