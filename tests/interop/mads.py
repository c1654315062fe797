# SPDX-License-Identifier: Apache-2.0
"""The connection manager's messages from a plain UDP socket: a peer that may send anything.

Offsets are those of IBTA sec 12.6, after the MAD's header of 24 bytes. Headers in front are BTH (12
bytes) and DETH (8); behind is the ICRC.
"""
import errno
import os
import select
import socket
import struct
import time
import zlib

PORT = 4791
REQ, MRA, REJ, REP, RTU, DREQ, DREP, SIDR_REQ, SIDR_REP = range(0x10, 0x19)
TCP, UDP = 0x106, 0x111
IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2  # no IP identification, which the ICRC would cover
HEADERS = struct.pack(">BBHB3sI", 0x64, 0, 0xFFFF, 0, b"\0\0\1", 0) + struct.pack(
    ">II", 0x80010000, 1)


def gid(address):
    return b"\0" * 10 + b"\xff\xff" + socket.inet_aton(address)


def header(kind, tid):
    return struct.pack(">BBBBIQHHI", 1, 7, 2, 3, 0, tid, kind, 0, 0)


def mad(kind, tid, body):
    return (header(kind, tid) + body).ljust(256, b"\0")


def private(source, target, port):
    return struct.pack(">BBH", 0, 0x40, port) + b"\0" * 12 + socket.inet_aton(
        source) + b"\0" * 12 + socket.inet_aton(target)


def request(source, target, port, own_id, tid, qpn, timeout=20, retries=15):
    """A REQ to a port of the port space TCP; `timeout` is how long we take for an answer."""
    body = bytearray(232)
    struct.pack_into(">I", body, 0, own_id)
    struct.pack_into(">Q", body, 8, TCP << 16 | port)
    struct.pack_into(">I", body, 32, qpn << 8 | 1)  # responder resources
    body[39] = 1  # initiator depth
    body[43] = timeout << 3
    body[47] = timeout << 3 | 7
    struct.pack_into(">H", body, 48, 0xFFFF)
    body[50] = 3 << 4 | 7  # an MTU of 1024
    body[51] = retries << 4
    body[56:72] = gid(source)
    body[72:88] = gid(target)
    body[93] = 64
    body[95] = 14 << 3
    body[140:176] = private(source, target, 5000)
    return mad(REQ, tid, bytes(body))


def sidr_request(source, target, port, own_id, tid):
    return mad(SIDR_REQ, tid, struct.pack(">IHHQ", own_id, 0xFFFF, 0, UDP << 16 | port) +
               private(source, target, 5000))


def answer(kind, tid, own_id, peer_id, rest=b""):
    """Returns an RTU, DREQ, DREP, MRA or REJ, with `rest` after both IDs."""
    return mad(kind, tid, struct.pack(">II", own_id, peer_id) + rest)


def reply(tid, own_id, peer_id, qpn):
    """A REP."""
    rest = struct.pack(">IIIIBBBBQ", 0, qpn << 8, 0, 0, 1, 1, 0, 7 << 5, 1)
    return answer(REP, tid, own_id, peer_id, rest)


def packet(source, target, source_port, message):
    """The UDP payload, with its ICRC."""
    payload = HEADERS + message
    count = 28 + len(payload) + 4
    masked = b"\xff" * 8 + struct.pack(">BBHHHBBH4s4s", 0x45, 0xFF, count, 0, 0x4000, 0xFF, 17,
                                       0xFFFF, socket.inet_aton(source), socket.inet_aton(target))
    masked += struct.pack(">HHHH", source_port, PORT, count - 20, 0xFFFF)
    masked += payload[:4] + b"\xff" + payload[5:]
    return payload + struct.pack("<I", zlib.crc32(masked))


class Peer:
    """An address that speaks to `target`, on the port on which answers arrive."""

    def __init__(self, address, target):
        self.address, self.target = address, target
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        self.socket.bind((address, PORT))
        self.own_id = int.from_bytes(os.urandom(4), "big")
        self.tid = int.from_bytes(os.urandom(8), "big")
        self.peer_id = 0

    def close(self):
        self.socket.close()

    def send(self, message):
        try:
            self.socket.sendto(packet(self.address, self.target, PORT, message),
                               (self.target, PORT))
        except OSError as error:
            if error.errno not in (errno.ENOBUFS, errno.EAGAIN, errno.ECONNREFUSED):
                raise

    def ask(self, port, qpn=0x1234, timeout=20, retries=15):
        self.send(request(self.address, self.target, port, self.own_id, self.tid, qpn, timeout,
                          retries))

    def say(self, kind, rest=b""):
        self.send(answer(kind, self.tid, self.own_id, self.peer_id, rest))

    def hear(self, limit):
        """Returns the kind and the MAD of the next message, or None after `limit` seconds."""
        end = time.monotonic() + limit
        while True:
            left = max(0, end - time.monotonic())
            if not select.select([self.socket], [], [], left)[0]:
                return None
            data = self.socket.recv(65536)
            if len(data) == len(HEADERS) + 256 + 4 and data[20:22] == b"\1\7":
                message = data[20:276]
                return struct.unpack_from(">H", message, 16)[0], message

    def expect(self, kind, limit=10):
        """Waits for a message of a kind. Notes the numbers of its sender. Returns its MAD."""
        end = time.monotonic() + limit
        while True:
            heard = self.hear(max(0, end - time.monotonic()))
            if heard is None:
                return None
            if heard[0] == kind:
                self.tid = struct.unpack_from(">Q", heard[1], 8)[0]
                self.peer_id = struct.unpack_from(">I", heard[1], 24)[0]
                return heard[1]
