#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A flood of the connection manager's messages, from many addresses, beside honest clients: these
connect in bounded time, and what the flood makes a process keep is bounded, too: whether its
program takes the events or not, and whether it listens at the port or not.

usage: cm_flood.py OCHE CM_EVENTS [--table] [NAME…]
"""
import os
import random
import socket
import struct
import subprocess
import sys
import time

import mads
import pairs

NET = sys.argv[4] if "--flood" in sys.argv else pairs.NET  # network of the process that began
SERVER, CLIENT = NET + "31", NET + "32"
SOURCES = [NET + str(100 + i) for i in range(32)]
SECONDS = 20 if pairs.LONG else 3
MOST = 400000 if pairs.LONG else 20000  # messages
CONNECTS = 15  # seconds for an honest connection: five REQs are sent until then
MEMORY = 32 << 10  # kilobytes that a process may grow by
oche, cm_events = (os.path.abspath(path) for path in sys.argv[1:3])


class Failed(Exception):
    pass


def must(holds, *what):
    if not holds:
        raise Failed(" ".join(map(str, what)))


# ---- the flood, in a process of its own ----


def messages(kind, source, port, draw):
    """Returns one message of the flood."""
    number, tid = draw.getrandbits(32), draw.getrandbits(64)
    if kind == "SIDR":
        return mads.sidr_request(source, SERVER, port, number, tid)
    if kind == "others":
        kind = draw.choice([mads.MRA, mads.REJ, mads.REP, mads.RTU, mads.DREQ, mads.DREP,
                            mads.SIDR_REP])
        rest = struct.pack(">II", 0x1F << 19, draw.getrandbits(32))
        return mads.answer(kind, tid, number, draw.getrandbits(32), rest)
    if kind == "nobody":
        # Never `port` itself: rping gives up as soon as one of its connections fails.
        port = (port + draw.randrange(1, 65535)) % 65536 or port + 1
    return mads.request(source, SERVER, port, number, tid, 2 + draw.getrandbits(23),
                        draw.choice([0, 14, 20, 31]))


def flood(kind, port, seconds):
    """Sends; prints how many, and in how many seconds, when it is over."""
    draw = random.Random(port)
    sockets = []
    for source in SOURCES:
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.setsockopt(socket.IPPROTO_IP, mads.IP_MTU_DISCOVER, mads.IP_PMTUDISC_DO)
        one.setblocking(False)
        one.bind((source, 0))
        sockets.append((source, one, one.getsockname()[1]))
    begun, sent = time.monotonic(), 0
    end = begun + seconds
    while time.monotonic() < end and sent < MOST:
        source, one, own_port = sockets[sent % len(sockets)]
        message = messages(kind, source, port, draw)
        try:
            one.sendto(mads.packet(source, SERVER, own_port, message), (SERVER, mads.PORT))
        except OSError:
            continue
        sent += 1
        if sent % 32 == 0:
            time.sleep(0.0005)  # this process is not to have a core of its own
    print(sent, time.monotonic() - begun)


def start_flood(kind, port):
    return subprocess.Popen([sys.executable, __file__, oche, cm_events, "--flood", NET, kind,
                             str(port), str(SECONDS)], stdout=subprocess.PIPE, text=True)


# ---- the honest ----


class Program:
    def __init__(self, address, command):
        self.process = subprocess.Popen(
            [oche, "exec", "--device", address, "--"] + [str(one) for one in command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def figure(self, name):
        """Returns a number of /proc/PID/status, in kilobytes."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as rows:
            return next(int(row.split()[1]) for row in rows if row.startswith(name + ":"))

    def seconds(self):
        """Returns the processor time that the process has used."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as row:
            fields = row.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self):
        self.process.kill()
        self.process.wait()


def serve(address, port, *how):
    program = Program(address, [cm_events, "serve", address, port, *how])
    must(program.process.stdout.readline() == "listening\n", "no server")
    return program


def connect(port):
    """Returns how many seconds a client needs for its connection, and how many it was asked."""
    client = Program(CLIENT, [cm_events, "ask", SERVER, port, "plain"])
    asked = None
    try:
        for line in client.process.stdout:
            words = line.split()
            if words[0] == "asked":
                asked = float(words[-1])
            if words[0] in ("CONNECT_RESPONSE", "REJECTED", "UNREACHABLE"):
                must(words[0] == "CONNECT_RESPONSE", "an honest client got", line)
                return float(words[-1]) - asked
    finally:
        client.kill()
    raise Failed("an honest client has ended")


def beside(kind, port, programs, honest_port):
    """Runs a flood; honest clients connect while it lasts. Returns a row of the table."""
    before = [(one.figure("VmRSS"), one.seconds()) for one in programs]
    attack = start_flood(kind, port)
    times = []
    time.sleep(0.3)
    while attack.poll() is None and honest_port is not None:
        times.append(connect(honest_port))
        time.sleep(0.05)
    sent, seconds = (float(one) for one in attack.stdout.read().split())
    must(sent > 1000, "the flood was", sent, "messages")
    time.sleep(0.2)
    grown = [one.figure("VmRSS") - was[0] for one, was in zip(programs, before)]
    spent = sum(one.seconds() - was[1] for one, was in zip(programs, before))
    must(max(grown) <= MEMORY, "grown by", grown, "kB")
    must(honest_port is None or times, "nobody connected")
    must(not times or max(times) <= CONNECTS, "connected in", times)
    row = (kind, f"{sent:.0f}", f"{sent / seconds:.0f}", f"{1e6 * spent / sent:.1f}", max(grown),
           len(times), f"{1e3 * sorted(times)[len(times) // 2]:.1f}" if times else "",
           f"{1e3 * max(times):.1f}" if times else "")
    if "--table" in sys.argv:
        print("| " + " | ".join(str(one) for one in row) + " |", flush=True)
    return row


# ---- the cases ----


def half_open(port):
    """The program accepts every request; the peers never confirm."""
    server = serve(SERVER, port, "auto")
    beside("REQ", port, [server], port)
    must(connect(port) < CONNECTS, "afterwards")
    server.kill()


def nobody_takes_events(port):
    """The flood's port has a program that never asks for an event; another port is honest."""
    lazy, honest = serve(SERVER, port, "lazy"), pairs.free_port()
    server = serve(SERVER, honest, "auto")
    beside("REQ", port, [lazy, server], honest)
    lazy.kill()
    server.kill()


def through_another_process(port):
    """The first process of the address gets all messages, and the port is the second's."""
    first = serve(SERVER, pairs.free_port())
    server = serve(SERVER, port, "auto")
    beside("REQ", port, [first, server], port)
    first.kill()
    server.kill()


def nobody_listens(port):
    server = serve(SERVER, port, "auto")
    beside("nobody", port, [server], port)
    server.kill()


def datagrams(port):
    server = serve(SERVER, port, "auto")
    beside("SIDR", port, [server], port)
    server.kill()


def other_messages(port):
    server = serve(SERVER, port, "auto")
    beside("others", port, [server], port)
    server.kill()


def rping(port):
    """(status, what it says) of a client."""
    client = Program(CLIENT, ["rping", "-c", "-C", "3", "-V", "-p", port, "-a", SERVER])
    said = client.process.communicate(timeout=30)[0]
    return client.process.returncode, said


def beside_rping(port):
    """A program of others, with a thread and a queue pair for each connection; 1,000 requests."""
    if subprocess.run(["which", "rping"], stdout=subprocess.DEVNULL, check=False).returncode != 0:
        return
    server = Program(SERVER, ["rping", "-s", "-P", "-p", port, "-a", SERVER])
    spare = serve(SERVER, pairs.free_port(), "auto")
    pairs.wait_for("no server", lambda: rping(port)[0] == 0, server.process)
    attack = start_flood("nobody", port)
    done = 0
    while attack.poll() is None:
        status, said = rping(port)
        must(status == 0, "rping:", said)
        done += 1
    must(done > 0, "no rping was done")
    server.kill()
    spare.kill()


CASES = [half_open, nobody_takes_events, through_another_process, nobody_listens, datagrams,
         other_messages, beside_rping]


def main(arguments):
    if arguments[:1] == ["--flood"]:
        flood(arguments[2], int(arguments[3]), float(arguments[4]))
        return 0
    names = [one for one in arguments if not one.startswith("--")]
    failed = 0
    if "--table" in arguments:
        print("| flood | messages | a second | us of processor each | kB grown | honest "
              "| median ms | longest ms |\n|---|---|---|---|---|---|---|---|")
    for case in CASES:
        if names and case.__name__ not in names:
            continue
        try:
            case(pairs.free_port())
            print(f"{case.__name__}: right", flush=True)
        except Failed as error:
            failed += 1
            print(f"{case.__name__}: {error}", flush=True)
    return 1 if failed else 0


sys.exit(main(sys.argv[3:]))
