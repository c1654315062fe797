#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche wire: golden captures are right, in every link type and format; spoiled ones are not; what
it counts is what is there; bad arguments and unreadable files get one line and status 2.

Environment: OCHE, the program. The working directory is the source root.
"""
import array
import fcntl
import glob
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import zlib

from checks import claim, failures, report, run_program

OCHE = os.environ["OCHE"]
GOLDEN = "tests/golden"
# Resent packets, NAKs and RNR NAKs of golden captures; the others have none.
SENT_AGAIN = {
    "rxe-send-mtu4096": (3, 0, 0),  # after a timeout
    "oche-rxe-atomic-again": (4, 0, 0), "rxe-oche-atomic-again": (3, 0, 0),
    "oche-rxe-nak": (1, 1, 0), "rxe-oche-nak": (8, 1, 0),
    "oche-rxe-read-again": (9, 0, 0), "rxe-oche-read-again": (8, 0, 0),
    "oche-rxe-rnr": (3, 0, 2), "rxe-oche-rnr": (22, 7, 11),
    "oche-rxe-timeout": (1, 0, 0), "rxe-oche-timeout": (2, 0, 0),
}
EN10MB, NULL, RAW, LOOP, SLL, SLL2 = 1, 0, 101, 108, 113, 276


def run(*arguments, stdin=None):
    done = run_program(OCHE, "wire", *arguments, stdin=stdin)
    if done.stdout != "" and stdin is None and "--json" not in arguments:
        same_as_json(arguments, done)
    return done


def same_as_json(arguments, done):
    """Each run of this test again with --json: the same status, counts and packets."""
    again = run(*arguments, "--json")
    document = json.loads(again.stdout)
    summary, packets, text = document["summary"], document["packets"], counts(done)
    claim(f"--json {arguments}: status", (again.returncode, again.stderr) ==
          (done.returncode, done.stderr), again)
    for name, key in (("frames", "frames"), ("RoCEv2", "roce"), ("PFC", "pfc"), ("CNPs", "cnps"),
                      ("neither", "neither"), ("retransmissions", "retransmissions"),
                      ("RNR NAKs", "rnr_naks"), ("CE marks", "ce_marks"), ("wrong", "wrong"),
                      ("cut short", "cut_short")):
        claim(f"--json {arguments}: {name}", summary[key] == text[name], done)
    claim(f"--json {arguments}: NAKs", sum(one["packets"] for one in summary["naks"]) ==
          text["NAKs"], done)
    claim(f"--json {arguments}: whole", document["capture"]["whole"] == (done.returncode != 2))
    lines = re.findall(r"^ *(\d+) (-?[\d.]+)  (.*)$", done.stdout, re.M)
    claim(f"--json {arguments}: packets", [(str(one["frame"]), one["time_ns"]) for one in packets]
          == [(frame, round(float(time) * 1e9)) for frame, time, _ in lines], done)
    for one, (_, _, line) in zip(packets, lines):
        verdict = "wrong" if "WRONG" in line or "DIFFERS" in line else \
            "cut" if "not judged" in line else "right"
        claim(f"--json {arguments}: {line}", one.get("verdict", "right") == verdict and all(
            str(one[key]) in line for key in ("src", "dst", "opcode", "psn", "frame_bytes", "msn",
                                              "syndrome", "va", "rkey", "length")
            if key in one and key in ("src", "dst") or "opcode" in one and key in one), again)


def read_pcap(path):
    """The frames of a little-endian pcap."""
    data = open(path, "rb").read()
    frames, at = [], 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + length])
        at += 16 + length
    return frames


def write_pcap(path, frames, link=EN10MB, nano=False, order="<", lengths=None):
    magic = 0xa1b23c4d if nano else 0xa1b2c3d4
    with open(path, "wb") as out:
        out.write(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, link))
        for i, frame in enumerate(frames):
            length = lengths[i] if lengths else len(frame)
            out.write(struct.pack(order + "IIII", 1000, i * 10, len(frame), length))
            out.write(frame)


def icrc(ip):
    """From first principles, for IPv4: eight bytes of ones, the masked packet."""
    masked = bytearray(ip)
    for at in (1, 8, 10, 11, 26, 27, 32):
        masked[at] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(masked)))


def ipv4_checksum(header):
    total = sum(struct.unpack("!10H", header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def roce(opcode, psn, rest=b"", qpn=17, source=1, tos=0, byte4=0, bad_icrc=False, tver=0):
    """An Ethernet frame; `rest`: extension headers and payload."""
    bth = struct.pack("!BBHIII", opcode, tver, 0xffff, byte4 << 24 | qpn, psn, 0)[:12]
    count = 20 + 8 + len(bth) + len(rest) + 4
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, tos, count, 0, 0x4000, 64, 17, 0,
                     bytes([10, 0, 0, source]), bytes([10, 0, 0, 3 - source]))
    ip = ip[:10] + struct.pack("!H", ipv4_checksum(ip)) + ip[12:]
    udp = struct.pack("!HHHH", 0xc000, 4791, count - 20, 0)
    packet = ip + udp + bth + rest
    tail = icrc(packet)
    if bad_icrc:
        tail = bytes([tail[0] ^ 1]) + tail[1:]
    return bytes([2, 0, 10, 0, 0, 3 - source, 2, 0, 10, 0, 0, source, 8, 0]) + packet + tail


def counts(result):
    """The lower part of the summary: name → number."""
    return {name.strip(): int(number)
            for name, number in re.findall(r"^([A-Za-z][A-Za-z0-9 ]*?) +(\d+)(?: \(.*\))?$",
                                           result.stdout, flags=re.M)}


def golden():
    for path in sorted(glob.glob(f"{GOLDEN}/*.pcap")):
        frames = read_pcap(path)
        result = run(path)
        claim(f"{path} is right", result.returncode == 0, result)
        got = counts(result)
        claim(f"{path}: every frame is RoCEv2",
              got.get("RoCEv2") == got.get("frames") == len(frames) and got.get("wrong") == 0,
              result)
        claim(f"{path}: a line a frame",
              result.stdout.count("ICRC ok, encoded again the same") == len(frames), result)
        wanted = SENT_AGAIN.get(os.path.basename(path).removesuffix(".pcap"), (0, 0, 0))
        claim(f"{path}: sent again, NAKs, RNR NAKs: {wanted}",
              (got["retransmissions"], got["NAKs"], got["RNR NAKs"]) == wanted, result)
    result = run(f"{GOLDEN}/rxe-atomic-cas.pcap")
    claim("a line says what a packet is",
          re.search(r"192\.168\.71\.2 → 192\.168\.70\.2  RC COMPARE SWAP qp 0x000015 psn 6194448 "
                    r"AckReq, 0 bytes payload, 86 frame, va 0x55871e426000 rkey 0x610 "
                    r"compare 0x0 swap 0x0, ICRC ok", result.stdout), result)


def link_types(work):
    frames = read_pcap(f"{GOLDEN}/rxe-rping.pcap")
    path = f"{work}/link.pcap"
    cooked = struct.pack("!HHH8s", 0, 1, 6, b"\2\0\0\0\0\1\0\0")
    cooked2 = struct.pack("!HHIHBB8s", 0x0800, 0, 3, 1, 0, 6, b"\2\0\0\0\0\1\0\0")
    shapes = {
        "VLAN": (EN10MB, [f[:12] + b"\x81\0\x60\x05" + f[12:] for f in frames]),
        "two VLANs": (EN10MB, [f[:12] + b"\x88\xa8\0\x01\x81\0\x60\x05" + f[12:] for f in frames]),
        "padded": (EN10MB, [f + b"\0" * 10 for f in frames]),
        "raw": (RAW, [f[14:] for f in frames]),
        "cooked": (SLL, [cooked + b"\x08\0" + f[14:] for f in frames]),
        "cooked VLAN": (SLL, [cooked + b"\x81\0\x60\x05\x08\0" + f[14:] for f in frames]),
        "cooked v2": (SLL2, [cooked2 + f[14:] for f in frames]),
        "null": (NULL, [b"\x02\0\0\0" + f[14:] for f in frames]),
        "loop": (LOOP, [b"\0\0\0\x02" + f[14:] for f in frames]),
    }
    for name, (link, shaped) in shapes.items():
        for nano, order in ((False, "<"), (True, ">")):
            write_pcap(path, shaped, link, nano, order)
            result = run(path)
            claim(f"{name}: all frames are right", result.returncode == 0 and
                  counts(result).get("RoCEv2") == len(frames), result)
            step = "0.000000010" if nano else "0.000010000"
            claim(f"{name}: the second frame's time", f"     2 {step}  192" in result.stdout,
                  result)
        spoiled = [f[:-20] + bytes([f[-20] ^ 1]) + f[-19:] for f in shaped]
        if name != "padded":
            write_pcap(path, spoiled, link)
            claim(f"{name}: spoiled", run("-q", path).returncode == 1)
    write_pcap(path, frames, 105)  # 802.11
    result = run(path)
    claim("an unknown link type is refused",
          result.returncode == 2 and "link type IEEE802_11 is not known" in result.stderr, result)
    with open(f"{GOLDEN}/rxe-ud.pcap", "rb") as capture:
        claim("standard input", run("-", stdin=capture).returncode == 0)


def outer(protocol, payload, version=4):
    """An Ethernet frame with an IP packet of this protocol."""
    if version == 6:
        ip = struct.pack("!IHBB16s16s", 6 << 28, len(payload), protocol, 64, bytes([9] * 16),
                         bytes([8] * 16))
        return bytes([6] * 12) + b"\x86\xdd" + ip + payload
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 7, 0x4000, 64, protocol, 0,
                     bytes([172, 16, 0, 1]), bytes([172, 16, 0, 2]))
    return bytes([6] * 12) + b"\x08\0" + ip + payload


def udp(port, payload):
    return struct.pack("!HHHH", 50000, port, 8 + len(payload), 0) + payload


def tunnels(work):
    frames = read_pcap(f"{GOLDEN}/rxe-rping.pcap")
    path = f"{work}/tunnel.pcap"
    vxlan, geneve = b"\x08\0\0\0\0\0\x2a\0", b"\x01\0\x65\x58\0\0\x2a\0opts"
    shapes = {
        "in VXLAN 42": [lambda f: outer(17, udp(4789, vxlan + f)),
                        lambda f: outer(17, udp(4789, vxlan + f), 6),
                        lambda f: outer(17, udp(8472, vxlan + f)) + b"\0" * 9,
                        lambda f: outer(17, udp(4789, vxlan + f[:12] + b"\x88\xa8\0\1\x81\0\0\2" +
                                                f[12:])),
                        lambda f: outer(4, outer(17, udp(4789, vxlan + f))[14:])],
        "in GENEVE 42": [lambda f: outer(17, udp(6081, geneve + f))],
        "in GRE 42": [lambda f: outer(47, b"\x20\0\x65\x58\0\0\0\x2a" + f)],
        "in GRE, ": [lambda f: outer(47, b"\0\0\x08\0" + f[14:])],
        "in IP, ": [lambda f: outer(4, f[14:]), lambda f: outer(4, f[14:], 6)],
    }
    for says, ways in shapes.items():
        for i, way in enumerate(ways):
            shaped = [way(f) for f in frames]
            write_pcap(path, shaped, EN10MB)
            result = run(path)
            got = counts(result)
            claim(f"{says} {i}: all frames are right", result.returncode == 0 and
                  got["RoCEv2"] == len(frames) and got["retransmissions"] == 0, result)
            claim(f"{says} {i}: each line says it", result.stdout.count(says) == len(frames),
                  result)
            write_pcap(path, [f[:-20] + bytes([f[-20] ^ 1]) + f[-19:] for f in shaped], EN10MB)
            claim(f"{says} {i}: spoiled", run("-q", path).returncode == 1)
    one = frames[0]
    outside = [outer(17, udp(4789, b"\0" * 8 + one)), outer(17, udp(4790, vxlan + one)),
               outer(17, udp(4789, vxlan + one[:12] + b"\x08\x06" + one[14:])),
               outer(17, udp(4789, vxlan)), outer(47, b"\0\1\x08\0" + one[14:])]
    write_pcap(path, outside, EN10MB)
    result = run(path)
    claim("no tunnels, or not of RoCEv2", result.returncode == 0 and
          counts(result)["neither"] == len(outside), result)
    # A packet that claims to be longer than the datagram that contains it.
    short = bytearray(outer(4, one[14:]))
    short[16:18] = struct.pack("!H", len(one) - 14 + 20 - 8)
    write_pcap(path, [bytes(short)], EN10MB)
    claim("a packet that ends after its tunnel's", run(path).returncode == 1 or
          counts(run(path))["neither"] == 1)
    # The same packet beside a tunnel and in it was not sent twice.
    write_pcap(path, [one, outer(17, udp(4789, vxlan + one))], EN10MB)
    claim("before and in a tunnel", counts(run(path))["retransmissions"] == 0)


def pcapng(work):
    frames = read_pcap(f"{GOLDEN}/rxe-ud.pcap")
    path = f"{work}/x.pcapng"

    def block(kind, body):
        body += b"\0" * (-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    with open(path, "wb") as out:
        out.write(block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)))
        out.write(block(1, struct.pack("<HHI", EN10MB, 0, 0)))
        for i, frame in enumerate(frames):
            out.write(block(6, struct.pack("<IIIII", 0, 0, i, len(frame), len(frame)) + frame))
    result = run(path)
    claim("pcapng", result.returncode == 0 and counts(result).get("RoCEv2") == len(frames), result)


def wrong(work):
    path = f"{work}/wrong.pcap"
    good = roce(0x04, 1, b"12345678")
    cases = {
        "ICRC is wrong": roce(0x04, 1, b"12345678", bad_icrc=True),
        "unknown opcode 0x1f": roce(0x1f, 1),
        "transport version is not 0": roce(0x04, 1, tver=3),
        "payload length impossible for the opcode": roce(0x00, 1),
        "shorter than its opcode's headers": roce(0x0c, 1),
        "pad count larger than the payload": roce(0x04, 1, tver=0x10),
        "IP header checksum is wrong": good[:24] + b"\0\0" + good[26:],
        "IP length does not fit UDP's": good[:38] + b"\0\x0f" + good[40:],
    }
    for cause, frame in cases.items():
        for at in (0, 1, 2):  # at any position
            frames = [good, good, good]
            frames[at] = frame
            write_pcap(path, frames)
            result = run("-q", path)
            name = re.sub(r" 0x.*", "", cause)
            claim(f"{cause}: status, line and summary",
                  result.returncode == 1 and counts(result).get("wrong") == 1 and
                  f"wrong                     1 (1 {name})" in result.stdout, result)
            lines = [line for line in result.stdout.split("\n") if re.match(r"^ +\d+ \d", line)]
            claim(f"{cause}: only that line", len(lines) == 1 and
                  lines[0].startswith(f"{at + 1:6}") and
                  (f"WRONG: {cause}" in lines[0] or "ICRC WRONG: 0x" in lines[0]), result)
    spoiled = read_pcap(f"{GOLDEN}/rxe-rc.pcap")
    spoiled[100] = spoiled[100][:60] + bytes([spoiled[100][60] ^ 0x10]) + spoiled[100][61:]
    write_pcap(path, spoiled)
    result = run(path)
    claim("one spoiled packet of a golden capture", result.returncode == 1 and
          counts(result).get("wrong") == 1 and "   101 " in
          next(line for line in result.stdout.split("\n") if "WRONG" in line), result)


def counting(work):
    path = f"{work}/count.pcap"
    aeth = lambda syndrome, msn: bytes([syndrome]) + msn.to_bytes(3, "big")
    other_l2 = lambda frame: b"\2\0\0\0\0\x77" + frame[6:]
    pfc = (b"\x01\x80\xc2\0\0\1\2\0\0\0\0\1\x88\x08\x01\x01\0\x08" + b"\0" * 6 + b"\xff\xff" +
           b"\0" * 34)
    frames = [
        roce(0x04, 5, b"abcd"), roce(0x04, 6, b"abcd", tos=3),
        roce(0x04, 5, b"abcd"), roce(0x04, 6, b"abcd"),        # again: 2
        roce(0x04, 5, b"abcd", qpn=18),                        # another queue pair
        roce(0x04, 5, b"abcd", source=2),                      # the other direction
        other_l2(roce(0x04, 7, b"abcd")), roce(0x04, 7, b"abcd"),  # seen at two places
        roce(0x10, 5, aeth(0x1f, 3) + b"data"),                # a response is no request
        roce(0x10, 5, aeth(0x1f, 3) + b"data"),                # again: 1
        roce(0x11, 9, aeth(0x1f, 3)), roce(0x11, 9, aeth(0x1f, 3)),  # an ACK may be repeated
        roce(0x11, 9, aeth(0x60, 3)), roce(0x11, 9, aeth(0x62, 3)), roce(0x11, 9, aeth(0x60, 3)),
        roce(0x11, 9, aeth(0x2c, 3)),                          # RNR NAK, code 12
        roce(0x81, 0, b"\0" * 16, byte4=0x40), roce(0x81, 0, b"\0" * 16, byte4=0x40),
        roce(0x64, 1, b"\0" * 8), roce(0x64, 1, b"\0" * 8),    # UD repeats nothing
        b"\xff" * 12 + b"\x08\x06" + b"\0" * 46,               # ARP
        roce(0x04, 1)[:20] + b"\0\xb9" + roce(0x04, 1)[22:36],  # the last bytes of a datagram
        roce(0x04, 1)[:23] + b"\x06" + roce(0x04, 1)[24:],     # TCP
        pfc,
    ]
    write_pcap(path, frames)
    result = run(path)
    claim("the counted capture is right", result.returncode == 0, result)
    got = counts(result)
    for name, number in {"frames": len(frames), "RoCEv2": len(frames) - 4, "PFC": 1, "neither": 3,
                         "retransmissions": 3, "NAKs": 3, "RNR NAKs": 1, "CNPs": 2, "CE marks": 1,
                         "cut short": 0, "wrong": 0}.items():
        claim(f"{name} should be {number}, is {got.get(name)}", got.get(name) == number, result)
    for text in ("(2 PSN sequence, 1 remote access)", "RNR NAK wait 0.64 ms msn 3",
                 "NAK PSN sequence error msn 3", "ACK msn 3", "PFC pause class 3: 65535\n",
                 "BECN", "psn 6 CE"):
        claim(f"the listing has: {text}", text in result.stdout, result)
    claim("retransmissions are marked", result.stdout.count("RETRANSMISSION") == 3, result)
    claim("opcodes are summed", re.search(r"^RC SEND ONLY +8 +32$", result.stdout, flags=re.M),
          result)
    quiet = run("-q", path)
    claim("quiet lists nothing that is right", "→" not in quiet.stdout and "PFC pause" not in
          quiet.stdout and counts(quiet) == got, quiet)

    # The PSN circle is wider than the memory of it: the same PSN after half of it is new.
    far = [roce(0x04, psn % 2**24, b"abcd") for psn in
           (10, 2**22, 2**23 - 100, 2**23 + 2**22, 2**24 - 5, 2**24 + 10, 2**24 + 10, 2**24 + 5)]
    write_pcap(path, far)
    claim("a full circle on, a PSN is new", counts(run(path)).get("retransmissions") == 1)


def cut(work):
    path = f"{work}/cut.pcap"
    frames = read_pcap(f"{GOLDEN}/rxe-rc.pcap")
    write_pcap(path, [f[:100] for f in frames], lengths=[len(f) for f in frames])
    result = run(path)
    got = counts(result)
    long = sum(len(f) > 100 for f in frames)
    claim("cut frames are counted and not called wrong",
          result.returncode == 1 and got.get("cut short") == long and got.get("wrong") == 0,
          result)
    claim("their headers are read", got.get("RoCEv2") == len(frames) and
          result.stdout.count("RC SEND MIDDLE") > 10 and
          "cut to 100 of 1082 bytes: not judged" in result.stdout, result)
    write_pcap(path, [f[:50] for f in frames], lengths=[len(f) for f in frames])
    result = run(path)
    claim("frames cut within the headers",
          result.returncode == 1 and counts(result).get("cut short") == len(frames), result)
    write_pcap(path, [f[:16] for f in frames], lengths=[len(f) for f in frames])
    result = run(path)
    claim("frames cut within IP", result.returncode == 1 and
          counts(result).get("cut short") == len(frames), result)
    tcp = roce(0x04, 1)[:23] + b"\x06" + roce(0x04, 1)[24:]
    dns = roce(0x04, 1)[:36] + b"\0\x35" + roce(0x04, 1)[38:]
    write_pcap(path, [tcp[:24], dns[:38], dns[:37]], lengths=[len(tcp), len(dns), len(dns)])
    got = counts(run(path))
    claim("a cut frame of something else, as far as that can be seen",
          got.get("neither") == 2 and got.get("cut short") == 1, result)


def refused(work):
    truncated = f"{work}/truncated.pcap"
    with open(f"{GOLDEN}/rxe-ud.pcap", "rb") as whole, open(truncated, "wb") as part:
        part.write(whole.read()[:-7])
    result = run(truncated)
    claim("a capture that ends in the middle of a frame",
          result.returncode == 2 and "after frame 4: truncated dump file" in result.stderr and
          counts(result).get("frames") == 4, result)
    garbage = f"{work}/garbage"
    with open(garbage, "wb") as out:
        out.write(b"not a capture at all, by no means whatsoever")
    for arguments, text in (([], "which capture?"), (["a", "b"], "one capture at a time"),
                            (["/no/such/file"], "/no/such/file: No such file or directory"),
                            ([garbage], f"{garbage}: unknown file format"),
                            (["--bogus"], "unrecognized option")):
        result = run(*arguments)
        claim(f"{arguments}: status 2 and a line", result.returncode == 2 and
              text in result.stderr and result.stdout == "", result)


def has_read_all(process):
    """True if the process waits for more of its standard input."""
    left = array.array("i", [0])
    fcntl.ioctl(process.stdin, termios.FIONREAD, left)
    with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
        return left[0] == 0 and file.read().rsplit(")", 1)[1].split()[0] == "S"


def interrupted(work):
    """Ctrl-C ends reading a growing capture; the packets read so far are listed and summed up."""
    with open(f"{GOLDEN}/rxe-read.pcap", "rb") as file:
        data = file.read()
    for options in ([], ["--json"]):
        running = subprocess.Popen([OCHE, "wire", "-", *options], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        running.stdin.write(data)
        running.stdin.flush()
        end = time.monotonic() + 60
        while not has_read_all(running) and running.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        try:
            out, err = running.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            running.kill()
            out, err = running.communicate()
        claim(f"interrupted {options}", running.returncode == 130 and
              re.fullmatch(rb"interrupted after frame \d+; the summary is of what was read\n", err))
        if options:
            document = json.loads(out)
            claim("the list ends", not document["capture"]["whole"] and
                  len(document["packets"]) == document["summary"]["frames"] > 10)
        else:
            claim("the summary is there", b"\nretransmissions " in out)


def main():
    with tempfile.TemporaryDirectory() as work:
        golden()
        link_types(work)
        tunnels(work)
        pcapng(work)
        wrong(work)
        counting(work)
        cut(work)
        refused(work)
        interrupted(work)
    print(f"{len(failures)} failures")
    return report()


if __name__ == "__main__":
    sys.exit(main())
