# SPDX-License-Identifier: Apache-2.0
"""Many hosts at one switch: a network namespace each, a bridge between them, and a port of the
switch that is slow and has a short drop-tail queue. Real processes (ib_write_bw) send through that
port all at once. What tests/interop/rogue_incast.py and tools/bench-incast share.

Each host has a second link, to a network of its own, on which perftest's programs meet: what is
measured is the data, and not how long TCP takes through a full queue.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import pairs

DATA, MEET = "10.79.0.", "10.80.0."
RECEIVER = 1  # the receiver's number; senders have 2, 3, …
MTU = 1500
BUCKET = 8000  # bytes that the slow port sends at once after it was idle; seven packets
FRAME = 1082  # bytes of a packet at the port, with a path MTU of 1024
MARKED_SHARE = 0.95  # part of the port's rate; above it the queue that decides about marks grows
LIMIT = 60  # seconds that a run may take longer than it should


def command(words, before=()):
    done = subprocess.run([*before, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pairs.fail(*words, done.stderr)
    return done.stdout


class Host:
    """A namespace with two links: to the switch for data, and to the other switch."""

    def __init__(self, number):
        self.number = number
        self.process = subprocess.Popen(["unshare", "-n", "sleep", "100000"])
        own = os.readlink("/proc/self/ns/net")
        end = time.time() + 20
        while os.readlink(f"/proc/{self.process.pid}/ns/net") == own:
            if time.time() > end:
                pairs.fail("no second namespace")
            time.sleep(0.005)
        self.enter = ["nsenter", "-t", str(self.process.pid), "-n"]

    def ip(self, *lines):
        done = subprocess.run([*self.enter, "ip", "-batch", "-"], input="\n".join(lines),
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pairs.fail(lines, done.stderr)


class Switch:
    """The receiver and its senders. The port to the receiver has a rate of `mbps` and a queue of
    `queue` bytes. Packets that find the queue full are lost."""

    def __init__(self, senders, mbps, queue):
        self.senders = senders
        self.hosts = [Host(number) for number in range(1, senders + 2)]
        self.links()
        self.port(mbps, queue)

    def links(self):
        lines = ["link set lo up"]
        for bridge in ("data", "meet"):
            lines += [f"link add name {bridge} type bridge", f"link set {bridge} mtu {MTU} up"]
        for host in self.hosts:
            for bridge in ("data", "meet"):
                name = f"{bridge}{host.number}"
                # Packets and not larger units: a switch drops, and mixes, one at a time.
                lines += [f"link add name {name} mtu {MTU} gso_max_segs 1 type veth peer name "
                          f"{bridge} mtu {MTU} gso_max_segs 1 netns {host.process.pid}",
                          f"link set {name} master {bridge} up"]
        done = subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            print(f"no bridge or no veth devices here: {done.stderr}")
            sys.exit(77)
        for host in self.hosts:
            lines = ["link set lo up", f"addr add {MEET}{host.number}/24 dev meet"]
            addresses = [host.number]
            if host.number == RECEIVER:  # a process for each sender, each with its own address
                addresses = [100 + sender for sender in range(self.senders)]
            lines += [f"addr add {DATA}{address}/24 dev data" for address in addresses]
            host.ip(*lines, "link set data up", "link set meet up")

    def port(self, mbps, queue):
        """Limits the receiver's port anew."""
        command(["tc", "qdisc", "replace", "dev", f"data{RECEIVER}", "root", "tbf", "rate",
                 f"{mbps}mbit", "burst", str(BUCKET), "limit", str(queue)])

    def port_out(self, mbps, queue):
        """Limits the packets that leave the receiver's host, and no longer those that arrive at
        it."""
        subprocess.run(["tc", "qdisc", "del", "dev", f"data{RECEIVER}", "root"],
                       capture_output=True, check=False)
        command(["tc", "qdisc", "replace", "dev", "data", "root", "tbf", "rate", f"{mbps}mbit",
                 "burst", str(BUCKET), "limit", str(queue)], self.hosts[0].enter)

    def marks(self, mbps, burst):
        """Marks CE what would find more than `burst` packets in a queue that empties a little more
        slowly than the port's, which is the nearest thing to a switch's threshold that nft has. (By
        bytes it has a bucket of a whole second.) False: nft has no hook for it.
        `mbps` None: no marks."""
        if shutil.which("nft") is None:
            return mbps is None
        subprocess.run(["nft", "delete", "table", "netdev", "incast"], capture_output=True,
                       check=False)
        if mbps is None:
            return True
        rules = ("table netdev incast { chain marks { type filter hook egress device "
                 f"data{RECEIVER} priority 0; policy accept; ip ecn != 0 limit rate over "
                 f"{int(mbps * 125000 / FRAME * MARKED_SHARE)}/second burst {burst} packets "
                 "ip ecn set ce\n }\n}\n")
        return subprocess.run(["nft", "-f", "-"], input=rules, capture_output=True, text=True,
                              check=False).returncode == 0

    def look(self):
        """Returns tc's counts of the port's queue, of both directions if both are limited."""
        words = ["tc", "-s", "-j", "qdisc", "show", "dev"]
        both = (json.loads(command([*words, f"data{RECEIVER}"])),
                json.loads(command([*words, "data"], self.hosts[0].enter)))
        counts = [row for rows in both for row in rows if row.get("kind") == "tbf"]
        return {name: sum(row[name] for row in counts) for name in ("bytes", "drops", "backlog")}

    def lost(self):
        """Packets that found no room in the port's queue, since it was limited."""
        return self.look()["drops"]

    def close(self):
        for host in self.hosts:
            host.process.kill()
        for host in self.hosts:
            host.process.wait()
        for bridge in ("data", "meet"):
            for host in self.hosts:
                subprocess.run(["ip", "link", "del", f"{bridge}{host.number}"],
                               capture_output=True, check=False)
            command(["ip", "link", "del", bridge])


class Half:
    """A switch where only the first `senders` hosts send RDMA."""

    def __init__(self, switch, senders):
        self.senders, self.hosts = senders, switch.hosts[:senders + 1]
        self.look, self.lost = switch.look, switch.lost


def counted(texts, what):
    """The sum of a number of statistics."""
    return sum(int(number) for number in re.findall(rf"{what} (\d+)", "\n".join(texts)))


def jain(rates):
    squares = sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / (len(rates) * squares) if squares > 0 else 0.0


class Incast:
    """The results of one run."""

    def __init__(self, rates, failed, lost, queue, said, served):
        self.rates = rates  # Mbit/s of each sender that did not fail
        self.failed = failed  # errors of the other programs
        self.lost = lost
        self.queue = queue  # bytes before the port, now and then
        self.said, self.served = said, served  # all that senders and receivers printed

    @property
    def goodput(self):
        return sum(self.rates)

    @property
    def jain(self):
        return jain(self.rates + [0.0] * len(self.failed))

    def counted(self, what):
        """The sum of a number of the senders' statistics."""
        return counted(self.said, what)


class Watch(threading.Thread):
    """Looks at the port's queue ten times a second, from `begin` to `end` seconds from now."""

    def __init__(self, switch, begin, end):
        super().__init__(daemon=True)
        self.switch, self.begin, self.end, self.bytes = switch, begin, end, []

    def run(self):
        start = time.time()
        time.sleep(self.begin)
        while time.time() - start < self.end:
            self.bytes.append(self.switch.look()["backlog"])
            time.sleep(0.1)


def rate_of(said):
    """Mbit/s that ib_write_bw says, or None: by its messages, as it rounds its Gbit/s."""
    rows = pairs.rows_of(said)
    return float(rows[-1][4]) * float(rows[-1][0]) * 8 if rows else None


def run(oche, switch, options, seconds, margin=1, verb="ib_write_bw", receiver=None,
        receiver_calls=False, **environment):
    """Every sender writes to the receiver for `seconds`. The first and the last `margin` of this
    time do not count. `options`: options of oche exec at the senders, and at the receiver unless
    `receiver` is given. `receiver_calls`: the receiver's programs are the clients, so with
    ib_read_bw the receiver reads."""
    environment = {"OCHE_STATS": "1", **environment}
    # The hosts share few processors: if a program that waits spins, its peers cannot run.
    options = ["--poll", "sleep", *options]
    receiver_options = options if receiver is None else ["--poll", "sleep", *receiver]
    words = [verb, "-D", str(seconds), "-f", str(margin), "-s", "65536", "-t", "16", "-Q", "1",
             "--report_gbits", "-F"]
    before = switch.lost()
    host, senders = switch.hosts[0], switch.hosts[1:]
    serving, calling = [], []
    ends = []
    for i, sender in enumerate(senders):
        here = pairs.Side(f"{DATA}{100 + i}", receiver_options, host.enter, **environment)
        there = pairs.Side(f"{DATA}{sender.number}", options, sender.enter, **environment)
        ends.append((there, here, sender) if receiver_calls else (here, there, host))
    for i, (server, _, _) in enumerate(ends):
        serving.append(server.start(oche, words + ["-p", str(20000 + i)]))
    for i, process in enumerate(serving):
        pairs.wait_until_listening(20000 + i, process)
    for i, (_, client, where) in enumerate(ends):
        calling.append(client.start(oche, words + ["-p", str(20000 + i),
                                                   f"{MEET}{where.number}"]))
    watch = Watch(switch, margin, seconds - margin)
    watch.start()
    rates, failed, said, served = [], [], [], []
    for process in calling:
        text, late = pairs.said_by(process, seconds + LIMIT)
        rate = rate_of(text)
        said.append(text)
        if late or process.returncode != 0 or rate is None:
            failed.append(f"status {process.returncode}{', late' if late else ''}: {text}")
        else:
            rates.append(rate)
    for process in serving:
        text, _ = pairs.said_by(process, 5)
        served.append(text)
    watch.join()
    return Incast(rates, failed, switch.lost() - before, watch.bytes, said, served)
