#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche stat, beside a running ib_write_bw that loses packets: the table (in a pipe, and on a
terminal of any width, where Ctrl-C ends it well), JSON and its rates, the page for Prometheus and
who may ask for it how; whose files it reads, and their modes; that a process which is stopped is
stale and one that is killed is gone within a second; that programs run on where there can be no
file; and that connections are counted, by rdma_cm and of sockets, over RDMA and over TCP.

usage: view.py OCHE [--preload=LIBRARY | --others]

--preload: a sanitizer's library, which must come before the program's. --others: only what other
users, and other PID namespaces, see; as root.
"""
import fcntl
import http.client
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import time

import pairs

LOST = "300"  # packets in a million
NOBODY = 65534


class Stat:
    """Runs `oche stat` on the test's own folder."""

    def __init__(self, oche, folder):
        self.oche, self.folder = oche, folder

    def words(self, *options):
        return [self.oche, "stat", "--view", self.folder, *options]

    def said(self, *options, **more):
        done = subprocess.run(self.words(*options), text=True, capture_output=True, check=False,
                              timeout=60, **more)
        if done.returncode != 0 or done.stderr:
            pairs.fail("oche stat", options, "status", done.returncode, done.stderr)
        return done.stdout

    def json(self, *options):
        return json.loads(self.said("--json", *options))

    def processes(self, *options):
        """PID → process."""
        return {process["pid"]: process for process in self.json(*options)["processes"]}


def until(what, truth, seconds=60):
    """Waits until it is true, and returns how long that took."""
    began = time.time()
    while not truth():
        if time.time() > began + seconds:
            pairs.fail("not within", seconds, "s:", what)
        time.sleep(0.01)
    return time.time() - began


# ---- what is shown ----


def check_files(folder, count):
    mode = stat.S_IMODE(os.stat(folder).st_mode)
    names = os.listdir(folder)
    modes = {stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) for name in names}
    views = {name for name in names if not name.endswith(".s")}
    if mode != 0o700 or len(views) != count or modes != {0o600} or \
            set(names) != views | {f"{name}.s" for name in views}:  # its socket
        pairs.fail("folder", oct(mode), names, "have", [oct(mode) for mode in modes])


def snapshots(stat_of):
    """Two increases, each over 0.6 s, in three lines. On a busy machine a program may have had no
    processor for as long, and then its increase is over nothing: those are asked for again."""

    def is_late(line):
        return any(device["over_s"] < 0.2 for process in line["processes"]
                   for device in process["devices"])

    lines = []

    def are_there():
        lines[:] = [json.loads(line) for line in
                    stat_of.said("--json", "-q", "-w", "0.6", "-n", "3").splitlines()]
        return len(lines) != 3 or not is_late(lines[-1])

    until("all programs write their counters", are_there, 40)
    if len(lines) != 3:
        pairs.fail(len(lines), "lines of JSON")
    return lines


def check_json(stat_of, client, server):
    """Two snapshots some time apart: the counters' increase must agree with the rates."""
    lines = snapshots(stat_of)
    for which, address, direction in ((client, pairs.CLIENT, "send"),
                                      (server, pairs.SERVER, "receive")):
        found = [process for process in lines[-1]["processes"] if process["pid"] == which.pid]
        if len(found) != 1 or len(found[0]["devices"]) != 1:
            pairs.fail(which.pid, "is not in", lines[-1])
        process, device = found[0], found[0]["devices"][0]
        counted = device["counters"]["sent_bytes" if direction == "send" else "received_bytes"]
        rate = device[direction + "_bps"]
        if device["address"] != address or process["command"] != "ib_write_bw" or \
                "ib_write_bw -D" not in process["arguments"] or device["stale"] or \
                device["congestion_control"] != "dart" or not 0.2 <= device["over_s"] < 10 or \
                counted == 0 or abs(rate - counted * 8 / device["over_s"]) > rate / 1000:
            pairs.fail(direction, process)
        pair = device["qps"]
        if device["queue_pairs"] != 2 or device["peers"] != 1 or len(pair) != 2 or \
                {qp["peer"] for qp in pair} != {pairs.CLIENT, pairs.SERVER} - {address} or \
                {qp["type"] for qp in pair} != {"RC"}:
            pairs.fail("queue pairs", device)
    return lines


def check_causes(stat_of, client, server):
    """Packets lost on purpose count as dropped and as resent with a cause; Dart has one sender."""
    all_of_them = stat_of.processes()
    sender = all_of_them[client.pid]["devices"][0]
    receiver = all_of_them[server.pid]["devices"][0]
    again = sender["counters"]["resent_packets"]
    if sender["counters"]["dropped_packets"]["on purpose"] == 0 or \
            again["SACK"] + again["timeout"] + again["NAK"] == 0 or \
            receiver["counters"]["naks_sent"] == 0 or receiver["senders"] != 1 or \
            receiver["counters"]["dart"]["share_acks"] == 0:
        pairs.fail("causes", sender, receiver)
    if sender["counters"]["naks_received"] > receiver["counters"]["naks_sent"] + 1000:
        pairs.fail("more NAKs received than sent", sender, receiver)


def check_plain(stat_of, client, server):
    """In a pipe there are no sequences, and all columns."""
    for options in ([], ["-w", "0.5", "-n", "2"], ["-q"]):
        text = stat_of.said(*options)
        if "\033" in text or "\r" in text:
            pairs.fail("sequences in a pipe", repr(text))
        for words in ("PID", "DEVICE", "SCHEME", "RECOVERY", "SEND b/s", "RESENT", "DROPS",
                      pairs.CLIENT, pairs.SERVER, str(client.pid), str(server.pid), "dart",
                      "ib_write_bw -D", "on purpose", "resent "):
            if words not in text:
                pairs.fail(f"no {words!r} in", text)
        if ("per second" in text) != (options[:1] == ["-w"]) or \
                text.count("ITS QP") != (options == ["-q"]):
            pairs.fail(options, text)


def on_terminal(stat_of, width, height):
    """Runs it on a terminal until it has redrawn its table three times, then sends Ctrl-C. Returns
    its output and its status."""
    primary, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    process = subprocess.Popen(stat_of.words("-w", "0.5", "-q"), stdin=secondary, stdout=secondary,
                               stderr=subprocess.PIPE, start_new_session=True,
                               env={**os.environ, "TERM": "xterm"},
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(secondary)
    text, end, asked = b"", time.time() + 20, False
    while process.poll() is None or select.select([primary], [], [], 0)[0]:
        if not asked and len(re.findall(rb"\r\033\[\d+A", text)) >= 3:
            os.write(primary, b"\x03")
            asked = True
        if time.time() > end:
            process.kill()
            pairs.fail("Ctrl-C does not end it" if asked else "the table does not change", text)
        if select.select([primary], [], [], 0.05)[0]:
            try:
                text += os.read(primary, 65536)
            except OSError:
                break
    os.close(primary)
    return text.decode(), process.wait(), process.stderr.read()


def check_terminal(stat_of):
    for width, height in ((60, 40), (80, 40), (200, 60), (100, 6)):
        text, status, error = on_terminal(stat_of, width, height)
        if status != 0 or error:
            pairs.fail("on a terminal: status", status, error)
        tables = re.split(r"\r\033\[(\d+)A", text)
        if len(tables) < 7 or not text.endswith("\033[?25h") or "\033[?25l" not in text:
            pairs.fail("no table in place, or the cursor is not shown again", repr(text[-300:]))
        for table, up in zip(tables[0::2], tables[1::2]):
            lines = re.sub(r"\033\[[0-9;?]*[A-Za-z]", "", table).split("\n")[:-1]
            if len(lines) != int(up) or len(lines) >= height:
                pairs.fail(len(lines), "lines, and", up, "up, on", height)
            wide = [line for line in lines if len(line.rstrip("\r")) > width]
            if wide or not any(pairs.SERVER in line for line in lines):
                pairs.fail("wider than", width, wide or lines)


# ---- metrics ----

METRIC = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\} '
                    r"(\d+(?:\.\d+)?(?:e[+-]\d+)?)|(oche_unreadable_views) (\d+)")


def parsed(text):
    """Prometheus' format, strictly: {(name, labels): value}."""
    samples, types, family, seen = {}, {}, None, set()
    if not text.endswith("\n"):
        pairs.fail("the page does not end with a line")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
            if family in seen:
                pairs.fail("samples of", family, "are not together")
            seen.add(family)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name != family or kind not in ("counter", "gauge") or \
                    (kind == "counter") != name.endswith("_total"):
                pairs.fail("TYPE", line, "after HELP of", family)
            types[name] = kind
        else:
            found = METRIC.fullmatch(line)
            if not found or (found.group(1) or found.group(4)) != family or family not in types:
                pairs.fail("not a sample of", family, line)
            labels = dict(re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', found.group(2) or ""))
            key = (family, tuple(sorted(labels.items())))
            if key in samples:
                pairs.fail("twice:", line)
            samples[key] = float(found.group(3) or found.group(5))
    return samples


def ask(port, method="GET", path="/metrics"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer, body


def ask_raw(port, data):
    """Sends bytes. Returns the answer until the server ends the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as asking:
        asking.sendall(data)
        text = b""
        try:
            while True:
                more = asking.recv(65536)
                if not more:
                    return text.decode()
                text += more
        except ConnectionResetError:
            return text.decode()


def value_of(samples, name, **labels):
    found = [value for (family, all_of_them), value in samples.items()
             if family == name and labels.items() <= dict(all_of_them).items()]
    if len(found) != 1:
        pairs.fail(len(found), "samples of", name, labels)
    return found[0]


def check_page(port, client, server):
    answer, text = ask(port)
    if answer.status != 200 or \
            answer.getheader("Content-Type") != "text/plain; version=0.0.4; charset=utf-8":
        pairs.fail("/metrics", answer.status, answer.getheaders())
    one = {"pid": str(client.pid), "device": pairs.CLIENT, "command": "ib_write_bw"}
    before, later = value_of(parsed(text), "oche_sent_bytes_total", **one), None

    def has_grown():
        nonlocal later
        later = parsed(ask(port)[1])
        return 0 < before < value_of(later, "oche_sent_bytes_total", **one)

    until("what was sent grows", has_grown)
    if value_of(later, "oche_queue_pairs", **one) != 2 or \
            value_of(later, "oche_active_senders", pid=str(server.pid)) != 1 or \
            value_of(later, "oche_dropped_packets_total", cause="on purpose", **one) == 0 or \
            value_of(later, "oche_connections_total", how="rdma_cm", pid=str(client.pid)) != 0 or \
            value_of(later, "oche_dart_share_acks_total", pid=str(server.pid)) == 0:
        pairs.fail("metrics", later)


def check_asking(port):
    """Anything except a GET of /metrics is refused, and the server continues."""
    for method, path, status in (("GET", "/", 404), ("GET", "/metrics/x", 404),
                                 ("POST", "/metrics", 405), ("HEAD", "/metrics", 405),
                                 ("GET", "/metrics?a=b", 200)):
        if ask(port, method, path)[0].status != status:
            pairs.fail(method, path, "is not", status)
    for data, begins in ((b"GET /metrics\r\n\r\n", "HTTP/1.1 400 "), (b"\r\n\r\n", "HTTP/1.1 400 "),
                         (b"GET /metrics HTTP/1.1\0\r\n\r\n", "HTTP/1.1 400 "),
                         (b"\xff\xfe\n\n", "HTTP/1.1 400 "),
                         (b"GET /metrics HTTP/1.1\r\nA: " + b"a" * 5000, "HTTP/1.1 431 "),
                         (b"GET /metrics HTTP/1.0\n\n", "HTTP/1.1 200 ")):
        said = ask_raw(port, data)
        if not said.startswith(begins):
            pairs.fail(data[:40], "has the answer", said[:200])


class Metrics:
    """A server of metrics."""

    def __init__(self, stat_of):
        self.stat_of = stat_of
        self.process = subprocess.Popen(stat_of.words("--listen", "0"), text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/metrics\n",
                                     self.process.stdout.readline()).group(1))

    def check_end(self):
        busy = subprocess.run(self.stat_of.words("--listen", str(self.port)), text=True,
                              capture_output=True, check=False)
        if busy.returncode != 2 or busy.stderr.count("\n") != 1:
            pairs.fail("a port that is taken", busy.returncode, busy.stderr)
        self.process.send_signal(signal.SIGINT)
        if self.process.wait(20) != 0 or self.process.stderr.read():
            pairs.fail("the server's end", self.process.returncode)


# ---- processes ----


def start_pair(oche, folder, preload, port):
    # It need not be fast; a waiting program leaves the processor to the others.
    options = ["--view", folder, "--cc", "dart,window=2ms,base_rtt=200us", "--line-rate", "500Mbps",
               "--poll", "sleep"]
    sides = [pairs.Side(address, options, OCHE_DROP=LOST, **preload)
             for address in (pairs.SERVER, pairs.CLIENT)]
    words = ["ib_write_bw", "-D", "60", "-q", "2", "-u", "18"]  # a busy machine is no dead peer
    server = pairs.start_server(oche, words, sides[0], port)
    return server, sides[1].start(oche, words + ["-p", str(port), "127.0.0.1"])


def is_moving(stat_of, client, server):
    all_of_them = stat_of.processes()
    return all(which.pid in all_of_them for which in (client, server)) and \
        all_of_them[server.pid]["devices"][0]["counters"]["received_bytes"] > 1000000 and \
        sum(all_of_them[client.pid]["devices"][0]["counters"]["resent_packets"].values()) > 0


def check_stopped(stat_of, client):
    """The client, as its peer does not wait for an answer."""
    client.send_signal(signal.SIGSTOP)
    until("stale", lambda: stat_of.processes()[client.pid]["devices"][0]["stale"], 10)
    if "stale" not in stat_of.said():
        pairs.fail("the table does not say that it is stale")
    client.send_signal(signal.SIGCONT)
    until("not stale", lambda: not stat_of.processes()[client.pid]["devices"][0]["stale"], 10)


def check_killed(stat_of, folder, which):
    """A process disappears within a second of its end; the next reader removes its file."""
    which.kill()
    began = time.time()
    which.wait()
    took = until("gone", lambda: which.pid not in stat_of.processes(), 10)
    if took > 1:
        pairs.fail("it is shown for", took, "s after it was killed")
    if any(name.startswith(f"{which.pid}-") for name in os.listdir(folder)):
        pairs.fail("its file is left", os.listdir(folder))
    print(f"killed and gone after {time.time() - began:.2f} s")


def check_refused(words, why, **more):
    """A folder that nothing can be in is an error, and not as if nothing ran."""
    done = subprocess.run(words, text=True, capture_output=True, check=False, timeout=60, **more)
    if done.returncode != 2 or done.stdout or done.stderr.count("\n") != 1 or \
            why not in done.stderr:
        pairs.fail(words, "status", done.returncode, done.stdout, done.stderr)


def check_other_users(oche, stat_of, folder):
    """Another user sees nothing; root sees all users' programs where they are by themselves."""

    def as_nobody():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)

    check_refused(stat_of.words(), "that this user alone can get at", preexec_fn=as_nobody)
    address = pairs.NET + "7"
    theirs = subprocess.Popen([oche, "exec", "--device", address, "--", "ibv_rc_pingpong", "-g",
                               "0", "-p", str(pairs.free_port())], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, preexec_fn=as_nobody, cwd="/")

    def seen(**more):
        text = subprocess.run([oche, "stat", "--json"], text=True, capture_output=True, check=True,
                              **more).stdout
        return {process["pid"]: process["user"] for process in json.loads(text)["processes"]}

    try:
        until("root sees all", lambda: theirs.pid in seen())
        if seen()[theirs.pid] not in ("nobody", str(NOBODY)):
            pairs.fail("it is not shown as nobody's", seen())
        if set(seen(preexec_fn=as_nobody).values()) != {seen()[theirs.pid]}:
            pairs.fail("nobody sees others'", seen(preexec_fn=as_nobody))
    finally:
        theirs.kill()
        theirs.wait()
    if theirs.pid in seen():
        pairs.fail("it is shown after its end")


def check_namespaces(oche, stat_of, folder):
    """A process of another PID namespace has the number that the reader knows it by."""
    command = ["unshare", "-p", "-f", "--mount-proc", oche, "exec", "--view", folder, "--device",
               pairs.NET + "6", "--", "ibv_rc_pingpong", "-g", "0", "-p", str(pairs.free_port())]
    inside = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True)

    def pid():
        return [number for number, process in stat_of.processes().items()
                if process["command"] == "ibv_rc_pingpong"]

    try:
        until("a process of another namespace", lambda: len(pid()) == 1)
        with open(f"/proc/{pid()[0]}/cmdline", encoding="ascii") as words:
            if "ibv_rc_pingpong" not in words.read():
                pairs.fail("the number is another process's", pid())
        # and from there, those outside cannot be seen, but by their own number
        text = subprocess.run(["unshare", "-p", "-f", "--mount-proc", *stat_of.words()], text=True,
                              capture_output=True, check=True).stdout
        if not re.search(r"^ *1\* +" + re.escape(pairs.NET) + "6 ", text, re.M) or \
                "* as its own PID namespace counts it" not in text:
            pairs.fail("from another namespace", text)
    finally:
        os.killpg(inside.pid, signal.SIGKILL)
        inside.wait()
    until("the namespace is gone", lambda: not pid(), 10)


def check_without(oche, folder, preload):
    """With views off, or where the file cannot be made, the program runs as usual and prints
    nothing."""
    wrong = os.path.join(folder, "file")
    with open(wrong, "w", encoding="ascii"):
        pass
    for where in ("off", wrong, "/proc/none"):
        sides = [pairs.Side(address, ["--view", where], **preload)
                 for address in (pairs.SERVER, pairs.CLIENT)]
        done = pairs.run(oche, "ibv_rc_pingpong", "-g 0 -n 100", *sides)
        if done.error or "oche:" in done.served + done.called:
            pairs.fail("--view", where, done.error, done.served, done.called)
    os.unlink(wrong)
    refused = subprocess.run([oche, "exec", "--view", "relative", "--", "true"], text=True,
                             capture_output=True, check=False)
    if refused.returncode != 2 or refused.stderr.count("\n") != 1:
        pairs.fail("a folder that is none", refused)


# ---- connections ----

SERVE = """
import socket, sys
with socket.create_server(("", int(sys.argv[1]))) as server:
    for _ in range(int(sys.argv[2])):
        with server.accept()[0] as one:
            one.sendall(one.recv(100))
            one.recv(100)
"""
CALL = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as one:
    one.sendall(b"hello")
    assert one.recv(100) == b"hello"
"""


def counted(oche, sockets, words):
    done = subprocess.Popen([oche, "exec", *sockets, "--stats", "--device", pairs.SERVER, "--",
                             *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done


def connections_of(process):
    error = process.communicate(timeout=60)[1]
    found = re.findall(r"^oche: connections by rdma_cm (\d+), of these of sockets (\d+); "
                       r"of sockets over TCP (\d+)$", error, re.M)
    if process.returncode != 0 or len(found) > 1:
        pairs.fail("status", process.returncode, error)
    return tuple(int(number) for number in found[0]) if found else (0, 0, 0)


def check_connections(oche):
    """Sockets over RDMA with one peer and over TCP with another, on one listener; and rping."""
    port = pairs.free_port()
    server = counted(oche, ["--sockets"], [sys.executable, "-c", SERVE, str(port), "2"])
    pairs.wait_until_listening(port, server)
    call = [sys.executable, "-c", CALL, pairs.SERVER, str(port)]
    over_rdma = connections_of(counted(oche, ["--sockets"], call))
    subprocess.run(call, check=True, timeout=60)
    if over_rdma != (1, 1, 0):
        pairs.fail("the client over RDMA has counted", over_rdma)
    told = connections_of(server)
    if told != (1, 1, 1):
        pairs.fail("the server has counted", told)
    port = pairs.free_port()
    plain = subprocess.Popen([sys.executable, "-c", SERVE, str(port), "1"])
    pairs.wait_until_listening(port, plain)
    told = connections_of(counted(oche, ["--sockets"], call[:-1] + [str(port)]))
    plain.wait(60)
    if told != (0, 0, 1):
        pairs.fail("the client over TCP has counted", told)
    if not shutil.which("rping"):
        return
    port = pairs.free_port()
    server = counted(oche, [], ["rping", "-s", "-C", "3", "-a", pairs.SERVER, "-p", str(port)])
    pairs.wait_for_service(pairs.SERVER, port, server)
    client = counted(oche, [], ["rping", "-c", "-C", "3", "-a", pairs.SERVER, "-p", str(port)])
    told = connections_of(client), connections_of(server)
    if told != ((1, 0, 0), (1, 0, 0)):
        pairs.fail("rping has counted", told)


def others(oche):
    if os.geteuid() != 0 or not shutil.which("unshare"):
        print("SKIPPED: what other users see: run it as root, with unshare")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as above:
        os.chmod(above, 0o755)
        folder = os.path.join(above, "view")
        os.mkdir(folder, 0o700)
        stat_of = Stat(oche, folder)
        check_other_users(oche, stat_of, folder)
        check_namespaces(oche, stat_of, folder)
    print("ok")


def main(arguments):
    pairs.need("ib_write_bw", "ibv_rc_pingpong")
    oche = os.path.abspath(arguments[0])
    if "--others" in arguments:
        others(oche)
        return
    preload = {"LD_PRELOAD": word.split("=", 1)[1] for word in arguments[1:]
               if word.startswith("--preload=")}
    with tempfile.TemporaryDirectory() as above:
        folder = os.path.join(above, "view")
        stat_of = Stat(oche, folder)
        check_refused(stat_of.words(), "No such file")
        os.mkdir(folder, 0o755)
        check_refused(stat_of.words("-w", "1"), "that this user alone can get at")
        os.chmod(folder, 0o700)
        if "No running program" not in stat_of.said() or stat_of.json()["processes"]:
            pairs.fail("there is something where nothing is")
        server, client = start_pair(oche, folder, preload, pairs.free_port())
        # the programs' output is read only after they end; it fits in a pipe
        until("they move", lambda: is_moving(stat_of, client, server))
        check_files(folder, 2)
        check_json(stat_of, client, server)
        check_causes(stat_of, client, server)
        check_plain(stat_of, client, server)
        metrics = Metrics(stat_of)
        check_page(metrics.port, client, server)
        check_asking(metrics.port)
        check_terminal(stat_of)
        check_stopped(stat_of, client)
        check_killed(stat_of, folder, server)  # the other one soon notices
        check_killed(stat_of, folder, client)
        if not preload:
            os.chmod(above, 0o755)
            check_connections(oche)
        check_without(oche, above, preload)
        metrics.check_end()
    print("ok")


if __name__ == "__main__":
    main(sys.argv[1:])
