#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sockets over RDMA under unmodified programs: those of rdmacm-utils that call rsocket, and TCP
programs by `oche exec --sockets`. Each pair ends with status 0, its data is compared, and the
device's counters show that the data went over RDMA. What rstream sends is captured, and each packet
is right to the bit. Then peers without RDMA: the connection uses TCP, either way round.

usage: rsockets.py OCHE [--table | --rows] [NAME…]

Only programs with NAME in their command, if one is given. OCHE_LONG=yes and --table: files of 100
MB, not of 20.
"""
import hashlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import names
import pairs

ADDRESS = pairs.NET + "8"
LIMIT = 60  # seconds
HERE = os.path.dirname(os.path.abspath(__file__))
ECHO = os.path.join(HERE, "rsockets_asyncio.py")
BIG = pairs.LONG or "--table" in sys.argv or "--rows" in sys.argv
FILE_BYTES = 100_000_000 if BIG else 20_000_000
FILE = f"a file of {FILE_BYTES // 1_000_000} MB"

# what, server, client, what the client says
OWN = [
    ("blocking calls, data checked", "rstream -T b -T v -S 5000 -C 300",
     r"custom +4\.8k +300"),
    ("without waiting, data checked", "rstream -T v -S 100000 -C 50", r"custom +97k +50"),
    ("poll, data checked", "rstream -T a -T v -S 3000 -C 200", r"custom +2\.9k +200"),
    ("rdma_getaddrinfo", "rstream -T r -T b -S 64 -C 100", r"custom +64 +100"),
    ("4 KiB of memory", "rstream -T b -T v -B 4096 -S 10000 -C 50", r"custom +9\.7k +50"),
    ("TCP under it, preloaded", "rstream -T s -T b -T v -S 5000 -C 100", r"custom +4\.8k +100"),
    ("mapped memory, data checked", "riostream -I 50 -C 1 -S 64 -T v", r"custom +64 +1 +50"),
    ("mapped memory, blocking calls", "riostream -I 2 -C 40 -S 65536 -T b",
     r"custom +64k +40 +2"),
]
TCP = [
    ("select", "iperf3 -s -1", "iperf3 -n 30M -c {address}", r"30\.[01] MBytes.*sender"),
    ("to the client", "iperf3 -s -1", "iperf3 -R -n 30M -c {address}", r"MBytes.*receiver"),
    ("4 connections", "iperf3 -s -1", "iperf3 -P 4 -n 30M -c {address}", r"SUM.*sender"),
    ("4 connections, to the client", "iperf3 -s -1", "iperf3 -R -P 4 -n 30M -c {address}",
     r"SUM.*receiver"),
]


class Failed(Exception):
    pass


class Program:
    """A process in a group of its own."""

    def __init__(self, oche, command, options=(), environment=(), folder=None):
        variables = dict(os.environ)
        variables.update(environment)
        self.output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        command = command if isinstance(command, list) else command.split()
        before = [oche, "exec", "--device", ADDRESS, *options, "--"] if oche else []
        self.process = subprocess.Popen(
            before + command, env=variables, stdin=subprocess.DEVNULL, stdout=self.output,
            stderr=subprocess.STDOUT, start_new_session=True, cwd=folder)

    def said(self):
        self.output.seek(0)
        return self.output.read()

    def wait(self, what):
        try:
            return self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Failed(f"{what} is not done after {LIMIT} s: {self.said()}") from None

    def kill(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)
        self.process.wait()


def has_service(port):
    return names.tcp_service_held(ADDRESS, port)


def has_tcp(port):
    for table in ("tcp", "tcp6"):
        with open(f"/proc/net/{table}", encoding="ascii") as rows:
            if any(f":{port:04X} " in row and " 0A " in row for row in rows):
                return True
    return False


def wait_until(listens, port, server):
    end = time.monotonic() + LIMIT
    while not listens(port):
        if time.monotonic() > end or server.process.poll() is not None:
            raise Failed(f"no server: {server.said()}")
        time.sleep(0.02)


def packets_of(said):
    """Returns the packets that a program's device has sent and received, by OCHE_STATS."""
    counts = re.findall(r"sent (\d+) packets in \d+ datagrams, received (\d+)", said)
    return sum(int(sent) + int(received) for sent, received in counts)


def must_end_well(program, what, says=""):
    status = program.wait(what)
    said = program.said()
    if status != 0 or not re.search(says, said):
        raise Failed(f"{what}: status {status}: {said}")
    return said


def judge_captures(oche, folder):
    for name in sorted(os.listdir(folder)):
        done = subprocess.run([oche, "wire", os.path.join(folder, name)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0 or "WRITE" not in done.stdout:
            raise Failed(f"oche wire {name}: {done.stdout[-1000:]}")


def run_own(oche, row):
    _, command, says = row
    port = pairs.free_port()
    options = ["--sockets"] if "-T s" in command else []
    with tempfile.TemporaryDirectory() as folder:
        capture = {"OCHE_CAPTURE": os.path.join(folder, "%p.pcap")}
        server = Program(oche, f"{command} -p {port} -b {ADDRESS}", options, capture)
        client = None
        try:
            wait_until(has_service, port, server)
            client = Program(oche, f"{command} -p {port} -s {ADDRESS}", options, capture)
            must_end_well(client, "the client", says)
            must_end_well(server, "the server")
        finally:
            server.kill()
            if client is not None:
                client.kill()
        judge_captures(oche, folder)


def run_tcp(oche, row):
    _, command, client_command, says = row
    port = pairs.free_port()
    server = Program(oche, f"{command} -p {port}", ["--sockets"])
    client = None
    try:
        wait_until(has_service, port, server)
        client = Program(oche, f"{client_command.format(address=ADDRESS)} -p {port}",
                         ["--sockets", "--stats"])
        said = must_end_well(client, "the client", says)
        if packets_of(said) < 7000:  # packets of 4096 bytes
            raise Failed(f"that was not RDMA: {said}")
    finally:
        server.kill()
        if client is not None:
            client.kill()


# ---- files ----


def sum_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") \
            else hashlib.sha256(file.read()).hexdigest()


def make_file(folder, count=FILE_BYTES):
    path = os.path.join(folder, "sent")
    with open(path, "wb") as file:
        file.write(os.urandom(count))
    return path


def rcopy(oche):
    with tempfile.TemporaryDirectory() as folder:
        sent, port = make_file(folder), pairs.free_port()
        server = Program(oche, f"rcopy -p {port}", folder=folder)
        try:
            wait_until(has_service, port, server)
            client = Program(oche, f"rcopy {sent} {ADDRESS}:{folder}/got -p {port}")
            must_end_well(client, "rcopy", r"bytes in")
            end = time.monotonic() + 10
            while not os.path.exists(f"{folder}/got") and time.monotonic() < end:
                time.sleep(0.02)
        finally:
            server.kill()
        if sum_of(sent) != sum_of(f"{folder}/got"):
            raise Failed("the copy is another file")


def fetch(oche, server_options, client_options, over_rdma):
    """curl gets a file from python's http.server; either may be without RDMA."""
    with tempfile.TemporaryDirectory() as folder:
        sent, port = make_file(folder), pairs.free_port()
        server = Program(oche if server_options is not None else None,
                         f"python3 -m http.server --bind {ADDRESS} {port}", server_options or (),
                         folder=folder)
        try:
            wait_until(has_service if server_options else has_tcp, port, server)
            client = Program(oche if client_options is not None else None,
                             f"curl -sS -o got http://{ADDRESS}:{port}/sent", client_options or (),
                             folder=folder)
            said = must_end_well(client, "curl")
        finally:
            server.kill()
        if sum_of(sent) != sum_of(f"{folder}/got"):
            raise Failed("what came is another file")
        if over_rdma != (packets_of(said) > FILE_BYTES // 4096):
            raise Failed(f"RDMA or not: {said}")


def curl(oche):
    fetch(oche, ["--sockets"], ["--sockets", "--stats"], True)


def client_without(oche):
    fetch(oche, ["--sockets"], None, False)


def server_without(oche):
    fetch(oche, None, ["--sockets", "--stats"], False)


def epoll(oche):
    port = pairs.free_port()
    server = Program(oche, ["python3", ECHO, "server", ADDRESS, str(port)], ["--sockets"])
    try:
        wait_until(has_service, port, server)
        client = Program(oche, ["python3", ECHO, "client", ADDRESS, str(port)],
                         ["--sockets", "--stats"])
        said = must_end_well(client, "the client", r"20 connections echoed")
        if packets_of(said) < 3000:
            raise Failed(f"that was not RDMA: {said}")
        # a peer without RDMA, at the same time
        must_end_well(Program(None, ["python3", ECHO, "client", ADDRESS, str(port)]), "by TCP",
                      r"20 connections echoed")
    finally:
        server.kill()


READER = """
import socket, sys
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
for _ in range(40):
    connection, _ = server.accept()
    while connection.recv(65536):
        pass
    connection.close()
print("40 ends", flush=True)
"""
WRITER = """
import os, socket, sys, time
def opened():
    return len(os.listdir("/proc/self/fd"))
for i in range(40):
    with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as connection:
        connection.sendall(b"x" * 5000)
    if i == 5:
        time.sleep(1)
        before = opened()
end = time.monotonic() + 20
while opened() - before > 4 and time.monotonic() < end:
    time.sleep(0.05)
print("more descriptors:", opened() - before, flush=True)
sys.stdin.read() # lives on
"""


FORKER = """
import os, socket, subprocess, sys
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
child = os.fork()
if child == 0:
    os._exit(7)
print("child:", os.waitpid(child, 0)[1] >> 8, "true:", subprocess.run(["true"]).returncode)
connection, _ = server.accept()
subprocess.run(["true"], stdout=subprocess.DEVNULL)
connection.sendall(b"after fork")
"""
CALLER = """
import os, socket, sys
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
print(connection.recv(100, socket.MSG_WAITALL))
number = connection.detach()
os.closerange(number, number + 1)
file = os.open("file", os.O_CREAT | os.O_WRONLY)
os.write(file, b"to a file")
print("the same" if file == number else "another", os.path.getsize("file"))
"""


def forks(oche):
    """A server that forks and starts programs, and a client that uses its socket's descriptor for
    a file afterwards."""
    port = pairs.free_port()
    with tempfile.TemporaryDirectory() as folder:
        server = Program(oche, ["python3", "-c", FORKER, ADDRESS, str(port)], ["--sockets"])
        try:
            wait_until(has_service, port, server)
            client = Program(oche, ["python3", "-c", CALLER, ADDRESS, str(port)], ["--sockets"],
                             folder=folder)
            must_end_well(client, "the client", r"after fork.*\nthe same 9\n")
            must_end_well(server, "the server", r"child: 7 true: 0")
        finally:
            server.kill()


def closes(oche):
    """A client that closes its connections and lives on: the server sees each end."""
    port = pairs.free_port()
    server = Program(oche, ["python3", "-c", READER, ADDRESS, str(port)], ["--sockets"])
    client = None
    try:
        wait_until(has_service, port, server)
        client = Program(oche, ["sh", "-c", 'sleep 60 | exec python3 -c "$@"', "sh", WRITER,
                                ADDRESS, str(port)], ["--sockets"])
        if server.wait("the server") != 0 or "40 ends" not in server.said():
            raise Failed(f"the ends were not seen: {server.said()} {client.said()}")
        limit = time.monotonic() + LIMIT
        while "more descriptors" not in client.said() and time.monotonic() < limit:
            time.sleep(0.05)
        more = re.search(r"more descriptors: (-?\d+)", client.said())
        if more is None or int(more.group(1)) > 4:
            raise Failed(f"descriptors stay open: {client.said()}")
    finally:
        server.kill()
        if client is not None:
            client.kill()


SENDER = """
import os, signal, socket, sys
socket.create_connection((sys.argv[1], int(sys.argv[2]))).sendall(b"x" * 300000)
if sys.argv[3] == "_exit":
    os._exit(0)
if sys.argv[3] == "term":
    os.kill(os.getpid(), signal.SIGTERM)
"""
TAKER = """
import socket, sys
with socket.create_server((sys.argv[1], int(sys.argv[2]))) as listener:
    for _ in range(int(sys.argv[3])):
        peer, got = listener.accept()[0], 0
        while some := len(peer.recv(65536)):
            got += some
        print(got, flush=True)
"""


def ends(oche):
    """Clients that send and end at once: all arrives, and the end, as with TCP."""
    port, ways = pairs.free_port(), ["exit", "_exit", "term"] * 3
    server = Program(oche, ["python3", "-c", TAKER, ADDRESS, str(port), str(len(ways))],
                     ["--sockets"])
    try:
        wait_until(has_service, port, server)
        for way in ways:
            client = Program(oche, ["python3", "-c", SENDER, ADDRESS, str(port), way],
                             ["--sockets"])
            if client.wait("the client") != (-signal.SIGTERM if way == "term" else 0):
                raise Failed(f"{way}: {client.said()}")
        must_end_well(server, "the server", r"^(300000\n){%u}$" % len(ways))
    finally:
        server.kill()


def killed(oche):
    """If the server is killed in the middle, its client must end, too."""
    port = pairs.free_port()
    server = Program(oche, f"iperf3 -s -p {port}", ["--sockets"])
    try:
        wait_until(has_service, port, server)
        client = Program(oche, f"iperf3 -t 40 -c {ADDRESS} -p {port}", ["--sockets"])
        pairs.wait_until_moving(oche, client.process, server.process)
        server.kill()
        started = time.monotonic()
        if client.wait("the client") == 0 or time.monotonic() - started > 20:
            raise Failed(f"the client has not noticed: {client.said()}")
    finally:
        server.kill()


def nothing_is_left(_oche):
    if left := names.slots(ADDRESS):
        raise Failed(f"names stay behind: {left}")


CASES = [
    (FILE, "rcopy", rcopy),
    (FILE, "curl, python3 -m http.server", curl),
    ("epoll: 20 connections at a time", "python3, asyncio", epoll),
    ("40 connections that are closed", "python3", closes),
    ("fork, closerange", "python3", forks),
    ("the client has no RDMA: TCP", "curl, python3 -m http.server", client_without),
    ("the server has no RDMA: TCP", "curl, python3 -m http.server", server_without),
    ("clients that end at once", "python3", ends),
    ("the server is killed", "iperf3 -s", killed),
]


def rows_of():
    """Yields for each row: its name, the command as shown in the table, and a function that runs
    it."""
    for row in OWN:
        yield row[0], row[1], "--sockets" if "-T s" in row[1] else "", row, run_own
    for row in TCP:
        yield row[0], row[2].replace("{address}", "ADDRESS"), "--sockets", row, run_tcp
    for what, command, function in CASES:
        yield what, command, "" if command == "rcopy" else "--sockets", None, function


def main(arguments):
    oche = os.path.abspath(arguments[0])
    table = "--table" in arguments
    names = [name for name in arguments[1:] if not name.startswith("--")]
    failed = 0
    if "--rows" not in arguments:
        pairs.need("rstream", "riostream", "rcopy", "iperf3", "curl")
    if table or "--rows" in arguments:
        print("| program | what | exec's option | |\n|---|---|---|---|")
    if "--rows" in arguments:
        for what, command, option, _, _ in rows_of():
            print(f"| `{command}` | {what} | {f'`{option}`' if option else ''} | |")
        return 0
    for what, command, option, row, function in rows_of():
        if names and not any(name in command for name in names):
            continue
        said = "works"
        try:
            if row is not None:
                function(oche, row)
            else:
                function(oche)
        except Failed as error:
            failed += 1
            said = "does not work"
            print(f"{command}: {what}: {error}", file=sys.stderr, flush=True)
        if table:
            print(f"| `{command}` | {what} | {f'`{option}`' if option else ''} | {said} |")
        else:
            print(f"{command}: {what}: {said}", flush=True)
    try:
        nothing_is_left(oche)
    except Failed as error:
        failed += 1
        print(error, file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
