#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unmodified programs that connect by address, on our librdmacm: each pair ends with status 0 and
says what it should, and what both sides captured is right, to the bit. Then several servers on one
address: each gets what is for its port, also after the first one was killed; a port that nobody has
is refused at once; a port that one has cannot be taken twice; and nothing stays behind.

usage: rdma_cm.py OCHE [--table] [--rpma=PROGRAM] [NAME…]

Only programs with NAME in their command, if one is given. PROGRAM: rpma.c, which needs librpma.
Programs that are not there are left out and named. OCHE_LONG=yes and --table: all of qperf's tests,
and of 65536 bytes ten times as many messages, each packet of which is looked at.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import names
import pairs

ADDRESS = pairs.NET + "7"
LIMIT = 60  # seconds
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPACES = {"TCP": 0x106, "UDP": 0x111}

# Each sends for a second, as fast as it can or as its sleeps allow. All packets are checked.
QPERF, QPERF_POLLS = "rc_lat", ["--poll", "sleep"]
if pairs.LONG or "--table" in sys.argv:
    QPERF, QPERF_POLLS = "rc_lat rc_bw rc_rdma_write_bw rc_rdma_read_bw", []
FIO = "fio --name=job --thread=1 --ioengine=rdma --size=8m --bs=64k --iodepth=16"
FIO_SAYS = r"(?s)err= 0.*issued rwts: total=0,128,0,0 "

# operation, transport, server, client without the address, port, port space, what the client says
PAIRS = [
    ("SEND, WRITE, READ; data checked", "RC", "rping -s -C 10 -V -p {port}",
     "rping -c -C 10 -v -V -p {port} -a {address}", None, "TCP", r"ping data: rdma-ping-9"),
    ("the same, 64 KB", "RC", "rping -s -C 5 -V -S 65000 -p {port}",
     "rping -c -C 5 -V -S 65000 -p {port} -a {address}", None, "TCP", r""),
    ("SEND, 10 connections", "RC", "ucmatose -c 10 -p {port}",
     "ucmatose -c 10 -p {port} -s {address}", None, "TCP",
     r"(?s)data transfers complete.*return status 0"),
    ("SEND, with a move to another channel", "RC", "ucmatose -m -p {port}",
     "ucmatose -m -p {port} -s {address}", None, "TCP",
     r"(?s)data transfers complete.*return status 0"),
    ("SEND", "UD", "udaddy -c 5", "udaddy -c 5 -s {address}", 7174, "UDP",
     r"(?s)data transfers complete.*return status 0"),
    ("SEND, synchronous", "RC", "rdma_server -p {port}", "rdma_client -p {port} -s {address}", None,
     "TCP", r"rdma_client: end 0"),
    ("SEND, synchronous", "RC", "rdma_xserver -c r -p {port}",
     "rdma_xclient -c r -p {port} -s {address}", None, "TCP", r"rdma_xclient: end 0"),
    ("WRITE", "RC", "ib_write_bw -R -n 500 -p {port}", "ib_write_bw -R -n 500 -p {port} {address}",
     None, "TCP", r"(?m)^ 65536 +500 "),
    ("READ", "RC", "ib_read_lat -R -n 100 -p {port}", "ib_read_lat -R -n 100 -p {port} {address}",
     None, "TCP", r"(?m)^ 2 +100 "),
    ("SEND", "RC", "ib_send_bw -R -n 500 -q 4 -p {port}",
     "ib_send_bw -R -n 500 -q 4 -p {port} {address}", None, "TCP", r"(?m)^ 65536 +2000 "),
    ("SEND", "UD", "ib_send_lat -R -c UD -n 100 -p {port}",
     "ib_send_lat -R -c UD -n 100 -p {port} {address}", None, "TCP", r"(?m)^ 2 +100 "),
    ("atomic", "RC", "ib_atomic_bw -R -n 200 -p {port}",
     "ib_atomic_bw -R -n 200 -p {port} {address}", None, "TCP",
     r"(?m)^ 8 +200 "),
    ("SEND, WRITE, READ", "RC", "qperf -lp {port}",
     f"qperf -lp {{port}} -cm 1 -t 1 {{address}} {QPERF}", None, None,
     rf"(?s){QPERF.split()[-1]}:.*(bw|latency)"),
    ("WRITE", "RC", f"{FIO} --port={{port}} --rw=read",
     f"{FIO} --hostname={{address}} --port={{port}} --verb=write --rw=write", None, "TCP",
     FIO_SAYS),
    ("READ", "RC", f"{FIO} --port={{port}} --rw=read",
     f"{FIO} --hostname={{address}} --port={{port}} --verb=read --rw=write", None, "TCP",
     FIO_SAYS),
    # It has no retries for receives that are not posted yet, so the server posts them all.
    ("SEND; data checked", "RC",
     f"{FIO} --port={{port}} --rw=read --iodepth=128 --verify=crc32c --verify_state_save=0",
     f"{FIO} --hostname={{address}} --port={{port}} --verb=send --rw=write "
     "--verify=crc32c --do_verify=0 --verify_state_save=0", None, "TCP", FIO_SAYS),
    ("WRITE, READ, SEND; data checked", "RC", "{rpma} server {address} {port}",
     "{rpma} client {address} {port}", None, "TCP", "data right"),
]


class Failed(Exception):
    pass


def listens(address, port, space):
    """True if a process has the service."""
    return names.service_held(address, SPACES[space] << 16 | port)


class Program:
    """A process in a group of its own."""

    def __init__(self, oche, command, folder=None, address=ADDRESS, options=()):
        environment = pairs.patient(oche, command, dict(os.environ))
        if folder is not None:
            environment["OCHE_CAPTURE"] = os.path.join(folder, "%p.pcap")
        self.output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(
            [oche, "exec", "--device", address, *options, "--"] + command.split(), env=environment,
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
            start_new_session=True)

    def said(self):
        self.output.seek(0)
        return self.output.read()

    def wait(self, what):
        try:
            return self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Failed(f"{what} is not done after {LIMIT} s: {self.said()}") from None

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def wait_for(until, what, program):
    end = time.monotonic() + LIMIT
    while not until():
        if time.monotonic() > end or program.process.poll() is not None:
            raise Failed(f"{what}: {program.said()}")
        time.sleep(0.02)


def listening(port, space):
    if space is None:  # qperf's own connection
        with open("/proc/net/tcp6", encoding="ascii") as rows:
            return any(f":{port:04X} " in row and " 0A " in row for row in rows)
    return listens(ADDRESS, port, space)


def judge_numbers(said):
    """The first request to a queue pair has the PSN that its owner asked for in REQ or REP."""
    asked = re.findall(r"(\S+) → \S+ +UD .*, CM RE[QP] id .*?\bqp (0x\w+) psn (\d+)", said)
    requests = re.findall(r"→ (\S+) +RC (?:SEND|WRITE|READ REQ|COMPARE|FETCH)[A-Z ]*"
                          r"qp (0x\w+) psn (\d+)", said)
    seen = 0
    for owner, number, wanted in asked:
        first = next((psn for to, qp, psn in requests if (to, qp) == (owner, number)), None)
        seen += first is not None
        if first not in (None, wanted):
            raise Failed(f"queue pair {number} asked for PSN {wanted}, its peer began with {first}")
    return seen


def judge_captures(oche, folder, datagrams):
    """Each packet's ICRC and fields are right, and the connection manager's messages are there."""
    seen = ""
    for name in sorted(os.listdir(folder)):
        done = subprocess.run([oche, "wire", os.path.join(folder, name)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise Failed(f"oche wire {name}: {done.stdout[-1000:]}")
        seen += done.stdout
        judge_numbers(done.stdout)
    kinds = ("SIDR REQ", "SIDR REP") if datagrams else ("REQ", "REP", "RTU", "DREQ", "DREP")
    # both sides may hang up, and end before the other's DREQ arrives
    both = len(set(re.findall(r", CM DREQ id (\w+)", seen))) > 1
    for kind in kinds:
        if f", CM {kind} id " not in seen and not (kind == "DREP" and both):
            raise Failed(f"no {kind} was captured")


def gave_up(said):
    """perftest measures the clock first, and makes no report if the machine was busy meanwhile."""
    return "Correlation coefficient" in said


def run_pair(oche, row, rpma):
    for _ in range(4):
        try:
            run_pair_once(oche, row, rpma)
            return
        except Failed as error:
            if not gave_up(str(error)):
                raise
    raise Failed("the machine is too busy for perftest")


def run_pair_once(oche, row, rpma):
    server, client, says = row[2], row[3], row[6]
    port, space = row[4] or pairs.free_port(), row[5]
    polls = QPERF_POLLS if server.startswith("qperf") else []
    with tempfile.TemporaryDirectory() as folder:
        serving = Program(oche, server.format(port=port, address=ADDRESS, rpma=rpma), folder,
                          options=polls)
        calling = None
        try:
            wait_for(lambda: listening(port, space), "no server", serving)
            calling = Program(oche, client.format(port=port, address=ADDRESS, rpma=rpma), folder,
                              options=polls)
            status = calling.wait("the client")
            if status != 0 or not re.search(says, calling.said()):
                raise Failed(f"the client's status is {status}: {calling.said()}\n"
                             f"server: {serving.said()}")
            if space is not None and serving.wait("the server") != 0:
                raise Failed(f"the server's status is {serving.process.returncode}: "
                             f"{serving.said()}")
        finally:
            serving.kill()
            if calling is not None:
                calling.kill()
        judge_captures(oche, folder, space == "UDP")


# ---- several on one address ----


def ping(oche, port):
    """Returns an rping's status and how long it took."""
    started = time.monotonic()
    program = Program(oche, f"rping -c -C 3 -V -p {port} -a {ADDRESS}")
    status = program.wait("rping")
    return status, time.monotonic() - started, program.said()


def must_work(oche, port, when):
    status, _, said = ping(oche, port)
    if status != 0:
        raise Failed(f"{when}: status {status}: {said}")


def several_servers(oche):
    """Two rping -s and one ib_write_bw -R; the first, whose slot gets all messages, is killed."""
    ports = []
    while len(ports) < 3:  # the same port may be found free twice
        ports = list({*ports, pairs.free_port()})
    commands = [f"rping -s -P -V -p {ports[0]}", f"rping -s -P -V -p {ports[1]}",
                f"ib_write_bw -R -n 500 -p {ports[2]}"]
    servers = []
    try:
        for command, port in zip(commands, ports):
            server = Program(oche, command)
            servers.append(server)
            wait_for(lambda port=port: listens(ADDRESS, port, "TCP"), "no server", server)
        for port in (ports[1], ports[0], ports[1]):
            must_work(oche, port, "all are there")
        second = Program(oche, f"rping -s -p {ports[1]}")
        if second.wait("a second rping -s") == 0 or "in use" not in second.said():
            raise Failed(f"a port was taken twice: {second.said()}")
        servers[0].kill()
        must_work(oche, ports[1], "the first is killed")
        status, seconds, said = ping(oche, ports[0])
        if status == 0 or "REJECTED" not in said or seconds > 10:
            raise Failed(f"nobody listens: status {status} after {seconds:.1f} s: {said}")
        writer = Program(oche, f"ib_write_bw -R -n 500 -p {ports[2]} {ADDRESS}")
        if (writer.wait("ib_write_bw") != 0 or servers[2].wait("its server") != 0) and not gave_up(
                writer.said() + servers[2].said()):
            raise Failed(f"ib_write_bw: {writer.said()} {servers[2].said()}")
        again = Program(oche, f"rping -s -P -V -p {ports[0]}")
        servers.append(again)
        wait_for(lambda: listens(ADDRESS, ports[0], "TCP"), "no server again", again)
        must_work(oche, ports[0], "the first is there again")
        must_work(oche, ports[1], "the first is there again, the second")
    finally:
        for server in servers:
            server.kill()


def nothing_is_left(_oche):
    if left := names.slots(ADDRESS):
        raise Failed(f"names stay behind: {left}")


def another_family(oche):
    """By IPv6, and with a wildcard listener of either family."""
    port = pairs.free_port()
    server = Program(oche, f"rping -s -P -V -p {port} -a ::1", address="::1")
    try:
        wait_for(lambda: listens("::1", port, "TCP"), "no server", server)
        client = Program(oche, f"rping -c -C 5 -V -p {port} -a ::1", address="::1")
        if client.wait("rping") != 0:
            raise Failed(client.said())
    finally:
        server.kill()


def with_rogue(oche):
    """RoGUE at one side, which the queue pairs of the connection manager go past."""
    port = pairs.free_port()
    server = Program(oche, f"rping -s -C 5 -V -p {port}", options=["--rogue"])
    try:
        wait_for(lambda: listens(ADDRESS, port, "TCP"), "no server", server)
        client = Program(oche, f"rping -c -C 5 -V -p {port} -a {ADDRESS}")
        if client.wait("rping") != 0:
            raise Failed(client.said())
    finally:
        server.kill()


def numbers_of_linux(oche):
    """Checks that judge_numbers holds between two Linux kernels."""
    said = subprocess.run([oche, "wire", "tests/golden/rxe-rping.pcap"], text=True,
                          stdout=subprocess.PIPE, check=True, cwd=ROOT).stdout
    if judge_numbers(said) != 2:
        raise Failed("the capture has no requests of both sides")


CASES = [("PSNs as Linux has them", numbers_of_linux),
         ("several servers on one address, one killed", several_servers), ("IPv6", another_family),
         ("RoGUE at one side", with_rogue),
         ("nothing stays behind", nothing_is_left)]


def shorter(row):
    """The pair with 50 messages of each queue pair instead of 500."""
    words = [word.replace("-n 500", "-n 50") for word in row[2:4]]
    return *row[:2], *words, *row[4:6], re.sub(r"(500|2000) $", lambda n: f"{int(n[1]) // 10} ",
                                               row[6])


def main(arguments):
    oche = os.path.abspath(arguments[0])
    table = "--table" in arguments
    names = [name for name in arguments[1:] if not name.startswith("--")]
    rows = [row for row in PAIRS if not names or any(name in row[3] for name in names)]
    if not table and not pairs.LONG:
        rows = [shorter(row) for row in rows]
    rpma = next((name[len("--rpma="):] for name in arguments if name.startswith("--rpma=")), "rpma")
    pairs.need("rping", "ib_write_bw")
    programs = {row: row[3].split()[0].format(rpma=rpma) for row in rows}
    missing = sorted({name for name in programs.values() if shutil.which(name) is None})
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
    rows = [row for row in rows if programs[row] not in missing]
    failed = 0
    if table:
        print("| client | operation | transport | command | |\n|---|---|---|---|---|")
    for row in rows:
        command = re.sub(r" (-p |-lp |--port=|)\{port\}", "", row[3])
        command = command.replace("{address}", "ADDRESS").replace("{rpma}", "rpma")
        said = "works"
        try:
            run_pair(oche, row, rpma)
        except Failed as error:
            failed += 1
            said = "does not work"
            print(f"{command}: {error}", file=sys.stderr, flush=True)
        if table:
            print(f"| {command.split()[0]} | {row[0]} | {row[1]} | `{command}` | {said} |")
        else:
            print(f"{command}: {said}", flush=True)
    for what, case in CASES if not names else []:
        try:
            case(oche)
            if not table:
                print(f"{what}: works", flush=True)
        except Failed as error:
            failed += 1
            print(f"{what}: {error}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
