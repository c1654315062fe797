#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Endurance: four processes (soak.c), three of them on one address, with 64 queue pairs between
them: RC, RC with a shared receive queue, UC, datagrams. All operations and sizes at random, every
byte checked, packets lost on purpose; and every few seconds one of the processes is killed
(SIGKILL), and another takes its place a moment later, or one is stopped for a moment. All posted
work must be completed; a queue pair to a process that was killed fails with "retry exceeded" in the
time that timeout and retries make, and no other fails; survivors connect to the new process; memory
and descriptors of the process that is never killed stay as they were; nothing stays behind.

usage: soak.py OCHE SOAK [--path PATH] [--minutes N] [--schemes NAME,…] [--rate BYTES] [--loss PPM]
               [--kill-every SECONDS] [--timeout CODE] [--largest BYTES] [--limit SECONDS]
               [--seed N] [--sanitized] [--test]

PATH is the program of path.c. With it there is one more scheme, "faults": the defaults between two
namespaces, with a path between them that loses, duplicates, delays and damages packets.

The time, 30 minutes, is shared by the schemes. The rate is that of each process, a second; it is
low enough for the whole to take a third of a processor. --sanitized: SOAK has a sanitizer, so its
memory is not judged. --test: as a test of Meson, 3 minutes, or with a sanitizer 16 seconds; without
one it is skipped unless OCHE_LONG=yes.
"""
import argparse
import collections
import math
import os
import queue
import random
import re
import signal
import subprocess
import sys
import threading
import time

import names
import netns
import pairs

NODES, ROLES = 4, ("RC 1024", "RC 4096", "RC 256", "RC shared", "UC")
RETRIES, RETRY_EXCEEDED = 7, 12
ADDRESSES = [pairs.NET + "1", pairs.NET + "1", pairs.NET + "1", pairs.NET + "2"]
SCHEMES = {
    "defaults": [],
    "dart": ["--cc=dart,base_rtt=5ms"],
    "dcqcn": ["--cc=dcqcn"],
    "cubic": ["--cc=cubic",
              "--recovery=selective_repeat,rto=measured,rto_low=50ms,rto_high=200ms"],
    "faults": [],
}
FAULTS = ["--lose=20000", "--duplicate=20000", "--reorder=10000", "--corrupt=20000"]
# Two of the processes are near and two far. cubic decides how much the far ones can send.
FAR_NODES, FAULTS_RATE, FAULTS_LARGEST = (2, 3), 4e5, 100001
SET_UP = 30  # seconds that two processes may need to connect, on a busy machine
GROWTH = 4 << 20  # bytes that a process may grow by
WARM_UP = 0.2  # part of the time in which memory may still grow


class Failed(Exception):
    pass


def residue():
    """Names and ports of our addresses, and shared memory."""
    found = names.slots(pairs.NET + "*")
    packed = ["".join(f"{int(part):02X}" for part in reversed(address.split("."))) + ":"
              for address in ADDRESSES]
    with open("/proc/net/udp", encoding="ascii") as rows:
        found += [row.strip() for row in rows if any(word in row for word in packed)]
    return found


def shared_memory():
    return {name for name in os.listdir("/dev/shm")
            if "oche" in name and not name.startswith("oche-faults-") and
            not re.fullmatch(r"oche-\d+", name)}  # except folders of names and live views


class Node:
    """A process that is there now, or will be again."""

    def __init__(self, number, place):
        self.number = number
        self.address, self.before = place  # and a command that runs another command there
        self.process, self.up, self.idle, self.lives = None, False, False, 0
        self.again_at = None  # when it is started again
        self.killed_at = 0.0
        self.lines = queue.Queue()
        self.counts = {}
        self.errors = []  # its output on standard error

    def start(self, options, words, arguments, environment):
        self.process = subprocess.Popen(
            [*self.before, options.oche, "exec", "--stats", "--device", self.address, *words, "--",
             options.soak, "--timeout", str(options.timeout), "--retries", str(RETRIES), *arguments,
             "--seed", str(random.getrandbits(60)), str(self.number)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **environment}, bufsize=1)
        self.up, self.idle, self.again_at, self.counts = False, False, None, {}
        self.lives += 1
        for stream, put in ((self.process.stdout, self.lines.put),
                            (self.process.stderr, self.errors.append)):
            threading.Thread(target=lambda stream=stream, put=put, life=self.lives:
                             [put((life, line.rstrip("\n"))) for line in stream],
                             daemon=True).start()

    def say(self, line):
        try:
            self.process.stdin.write(line + "\n")
        except BrokenPipeError:
            pass  # the process has ended; the reader of its output reports why

    def memory(self):
        """Resident bytes, descriptors."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as row:
            pages = int(row.read().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir(f"/proc/{self.process.pid}/fd"))


class Link:
    """A link between two processes."""

    def __init__(self, first, second):
        self.nodes = (first, second)
        self.epoch = 0
        self.there = {first: False, second: False}  # which ends have queue pairs
        self.live = set()  # who may send
        self.ends, self.ready = {}, set()
        self.begun = 0.0
        self.dead = None  # the end that was killed, while the other end does not know yet
        self.failed = collections.Counter()

    def other(self, number):
        return self.nodes[1 - self.nodes.index(number)]


class Soak:
    def __init__(self, options, name, seconds):
        self.options, self.name, self.seconds = options, name, seconds
        self.far, self.path = None, None
        if name == "faults":
            self.far = netns.Far()
            self.path = self.far.path(options.path, 9000, f"--seed={options.seed}", *FAULTS,
                                      ipv6=False)
        self.nodes = [Node(number, self.place(number)) for number in range(NODES)]
        self.links = [Link(a, b) for a in range(NODES) for b in range(a)]
        self.total = collections.Counter()
        self.kills, self.stops, self.recoveries, self.connected = 0, 0, 0, 0
        self.longest = 0.0  # from a kill until the last survivor knew
        self.earliest = math.inf  # from a peer's last answer until a queue pair failed, ms
        self.samples = []  # of the process that is never killed, taken while all links exist
        self.started = time.monotonic()
        self.timeout = 4.096e-6 * 2 ** options.timeout
        self.stopped = None  # a process, and until when

    def fail(self, *what):
        raise Failed(f"{self.name}: after {time.monotonic() - self.started:.1f} s: "
                     f"{' '.join(map(str, what))}")

    def place(self, number):
        """Returns a process's address, and the command prefix that runs a command in its place."""
        if self.far is None:
            return ADDRESSES[number], []
        return (netns.FAR, self.far.enter) if number in FAR_NODES else (netns.NEAR, [])

    # ---- connecting ----

    def link_of(self, one, other):
        return next(link for link in self.links if {one, other} == set(link.nodes))

    def connect(self, now):
        for link in self.links:
            first, second = (self.nodes[number] for number in link.nodes)
            if not any(link.there.values()) and first.up and second.up:
                link.epoch += 1
                link.begun, link.ends, link.ready, link.live = now, {}, set(), set()
                for node in (first, second):
                    link.there[node.number] = True
                    node.say(f"link {link.other(node.number)} {link.epoch}")
            if all(link.there.values()) and not link.live and now - link.begun > SET_UP:
                self.fail("nodes", link.nodes, "do not connect")

    def heard_of_link(self, node, word, rest):
        peer, epoch, *rest = rest.split(" ", 2)
        link = self.link_of(node.number, int(peer))
        if int(epoch) != link.epoch:
            self.fail(node.number, word, peer, "in epoch", epoch, "of", link.epoch)
        if word == "broken":
            self.broken(node, link)
        elif word == "failed":
            self.queue_failed(node, link, *map(int, rest[0].split()))
        elif link.dead is not None:
            return  # it is told to drop the link
        elif word == "ends":
            link.ends[node.number] = rest[0]
            if len(link.ends) == 2:
                for number in link.nodes:
                    self.nodes[number].say(f"meet {link.other(number)} {epoch} "
                                           f"{link.ends[link.other(number)]}")
        elif word == "ready":
            link.ready.add(node.number)
            if len(link.ready) == 2:
                link.live = set(link.nodes)
                self.connected += 1
                for number in link.nodes:
                    self.nodes[number].say(f"go {link.other(number)} {epoch}")

    # ---- what survivors notice ----

    def queue_failed(self, node, link, role, status, waited_ms):
        least = RETRIES * self.timeout * 0.9
        if link.dead is None:
            self.fail(f"node {node.number}: {ROLES[role]} to node {link.other(node.number)}, which "
                      f"is alive, failed with status {status} after {waited_ms} ms")
        if status != RETRY_EXCEEDED:
            self.fail(f"node {node.number}: {ROLES[role]}: status {status}, not retry exceeded")
        if waited_ms < 1000 * least:
            self.fail(f"node {node.number}: {ROLES[role]}: failed {waited_ms} ms after the last "
                      f"answer, not {1000 * least:.0f}")
        self.earliest = min(self.earliest, waited_ms)
        link.failed[role] += 1

    def broken(self, node, link):
        took = time.monotonic() - self.nodes[link.other(node.number)].killed_at
        if link.dead is None:
            self.fail("node", node.number, "has lost node", link.other(node.number))
        if link.live:
            self.recoveries += 1
            self.longest = max(self.longest, took)
            if sorted(link.failed) != list(range(len(ROLES) - 1)):
                self.fail("node", node.number, "failed:", dict(link.failed))
        link.there = dict.fromkeys(link.nodes, False)
        link.live, link.dead = set(), None
        link.failed.clear()

    def late(self, now):
        """A NIC may take up to four times the timeout; a busy machine is late."""
        most = 4 * self.timeout * (RETRIES + 1) + 8
        for link in self.links:
            if link.dead is not None and now - self.nodes[link.dead].killed_at > most:
                self.fail("node", link.other(link.dead), "does not notice in", f"{most:.1f} s",
                          "that node", link.dead, "is gone; failed:", dict(link.failed))

    # ---- what happens to processes ----

    def kill(self, node, now):
        self.drain()
        self.keep_counts(node)
        node.process.kill()
        node.process.wait()
        node.killed_at, node.up = now, False
        node.again_at = now + random.choice((0, random.uniform(0, 4)))
        self.kills += 1
        for link in self.links:
            if node.number not in link.nodes:
                continue
            survivor = link.other(node.number)
            link.there[node.number] = False
            if not link.there[survivor]:  # was killed, too, before this one noticed
                link.live, link.dead = set(), None
                link.failed.clear()
                continue
            link.dead = node.number
            if not link.live:
                self.nodes[survivor].say(f"drop {node.number} {link.epoch}")

    def disturb(self, now):
        """Kills or stops a process other than the first, if all is well."""
        victims = [node for node in self.nodes[1:] if node.up]
        if not victims or self.stopped is not None:
            return
        victim = random.choice(victims)
        if self.kills == 0 or random.random() < 0.7:
            self.kill(victim, now)
            return
        victim.process.send_signal(signal.SIGSTOP)
        self.stopped = (victim, now + random.uniform(0, 2 * self.timeout))
        self.stops += 1

    def go_on(self, now):
        if self.stopped is not None and now > self.stopped[1]:
            self.stopped[0].process.send_signal(signal.SIGCONT)
            self.stopped = None

    def start(self, node):
        rate, largest = self.options.rate, self.options.largest
        arguments = []
        if self.path is not None:
            rate, largest = min(rate, FAULTS_RATE), min(largest, FAULTS_LARGEST)
            arguments = ["--doubled"]
        arguments += ["--rate", str(rate), "--largest", str(largest)]
        node.start(self.options, SCHEMES[self.name], arguments,
                   {"OCHE_DROP": str(self.options.loss), "OCHE_POLL": "sleep"})

    # ---- listening ----

    def keep_counts(self, node):
        self.total.update(node.counts)
        node.counts = {}

    def heard(self, node, line):
        word, _, rest = line.partition(" ")
        if word == "counts":
            words = rest.split()
            node.counts = dict(zip(words[::2], map(int, words[1::2])))
            slowest = node.counts.pop("slowest_ms")
            self.total["slowest_ms"] = max(self.total["slowest_ms"], slowest)
        elif word == "up":
            node.up = True
        elif word == "idle":
            node.idle = True
        elif word in ("ends", "ready", "failed", "broken"):
            self.heard_of_link(node, word, rest)
        else:
            self.fail("node", node.number, "says:", line, *node.errors[-5:])

    def drain(self):
        for node in self.nodes:
            while not node.lines.empty():
                life, line = node.lines.get()
                if life == node.lives and node.again_at is None:
                    self.heard(node, line)

    def look(self):
        """Everything that is not caused by time."""
        self.drain()
        for node in self.nodes:
            if node.again_at is None and node.process.poll() is not None:
                time.sleep(0.2)
                self.drain()
                self.fail("node", node.number, "has ended with status", node.process.returncode,
                          *node.errors[-5:])
        now = time.monotonic()
        for node in self.nodes:
            if node.again_at is not None and now >= node.again_at:
                self.start(node)
        self.connect(now)
        self.late(now)
        self.go_on(now)
        return now

    # ---- from begin to end ----

    def all_live(self):
        return all(link.live and link.dead is None for link in self.links)

    def until(self, true, seconds, what):
        end = time.monotonic() + seconds
        while not true():
            if self.look() > end:
                self.fail(what)
            time.sleep(0.02)

    def run(self):
        for node in self.nodes:
            self.start(node)
        self.until(self.all_live, SET_UP, "not all processes are connected")
        end = time.monotonic() + self.seconds
        next_kill, next_sample = time.monotonic() + self.pause(), 0
        while (now := self.look()) < end:
            if now > next_kill and end - now > 2:
                self.disturb(now)
                next_kill = now + self.pause()
            if now > next_sample and self.all_live():
                self.samples.append((now - self.started, *self.nodes[0].memory()))
                next_sample = now + 0.5
            time.sleep(0.02)
        if self.stopped is not None:
            self.go_on(math.inf)
        self.until(self.all_live, 2 * SET_UP, "not all processes are connected again")
        time.sleep(0.5)
        for node in self.nodes:
            node.say("stop")
        self.until(lambda: all(node.idle for node in self.nodes), self.options.limit,
                   "posted work is not completed")
        self.end()

    def pause(self):
        return random.uniform(0.5, 1.5) * self.options.kill_every

    def end(self):
        for node in self.nodes:
            self.keep_counts(node)
            node.say("quit")
        for node in self.nodes:
            try:
                status = node.process.wait(30)
            except subprocess.TimeoutExpired:
                self.fail("node", node.number, "does not end")
            if status != 0:
                time.sleep(0.5)
                self.fail("node", node.number, "ended with status", status, *node.errors[-40:])
        time.sleep(0.1)
        if left := residue():
            self.fail("left behind:", left)
        self.judge()

    def clean_up(self):
        for node in self.nodes:
            if node.process is not None and node.process.poll() is None:
                node.process.kill()
        if self.path is not None:
            print("  path:", self.path.close(), flush=True)
            self.far.process.kill()

    # ---- what came out ----

    def judge(self):
        silent = [name for name in self.operations() if self.total[name] == 0]
        if silent:
            self.fail("never done:", silent)
        if not self.options.sanitized:
            first, last, _ = self.growth()
            if last - first > GROWTH:
                self.fail(f"memory grew from {first} to {last} bytes")
        descriptors = [sample[2] for sample in self.samples[int(len(self.samples) * WARM_UP):]]
        if max(descriptors) > descriptors[0]:
            self.fail("descriptors grew:", descriptors)

    def operations(self):
        return ["SEND", "SEND_IMM", "WRITE", "WRITE_IMM", "READ", "FETCH_ADD", "COMPARE_SWAP",
                "UC", "UD"]

    def growth(self):
        """Resident bytes after the warm-up and at the end, means of a tenth each; bytes a minute
        between, by least squares."""
        rows = self.samples[int(len(self.samples) * WARM_UP):]
        tenth = max(1, len(rows) // 10)
        first, last = (sum(row[1] for row in part) / tenth for part in (rows[:tenth],
                                                                      rows[-tenth:]))
        mean_at, mean = (sum(row[i] for row in rows) / len(rows) for i in (0, 1))
        square = sum((row[0] - mean_at) ** 2 for row in rows)
        slope = sum((row[0] - mean_at) * (row[1] - mean) for row in rows) / square if square else 0
        return first, last, 60 * slope

    def counted(self, what):
        """The sum of a number in the statistics of those that were not killed."""
        return sum(int(number) for node in self.nodes for life, line in node.errors
                   for number in re.findall(rf"{what} (\d+)", line))

    def report(self):
        first, last, slope = self.growth()
        messages = sum(self.total[name] for name in self.operations())
        size = sum(self.total[name + "_bytes"] for name in self.operations())
        print(f"{self.name}: {self.seconds:.0f} s, {messages:,} messages, {size / 1e9:.2f} GB, all "
              f"right; " + ", ".join(f"{name} {self.total[name]:,}" for name in self.operations()) +
              f"; lost of UC {self.total['sent_uc'] - self.total['UC']:,} of "
              f"{self.total['sent_uc']:,}, of UD {self.total['sent_ud'] - self.total['UD']:,} of "
              f"{self.total['sent_ud']:,}")
        print(f"  {self.kills} killed, {self.stops} stopped; {self.recoveries} times a survivor's "
              f"queue pairs failed, the last one at most {self.longest:.2f} s after the kill, none "
              f"sooner than {self.earliest / 1000:.2f} s after the last answer; connected "
              f"{self.connected} times; slowest work {self.total['slowest_ms'] / 1000:.2f} s")
        print(f"  the last processes: again {self.counted('again')}, timeouts "
              f"{self.counted('timeouts')}, NAKs {self.counted('NAKs sent')}, RNR NAKs "
              f"{self.counted('RNR NAKs sent')}, duplicates {self.counted('duplicates')}, socket "
              f"full {self.counted('waited for a full socket')}, passed on "
              f"{self.counted('passed on to other processes')}, lost on that way "
              f"{self.counted('lost on that way')}, dropped by the kernel "
              f"{self.counted('dropped by the kernel')}")
        print(f"  node 0, which lived through all: {first / 1e6:.2f} MB after a fifth of the time, "
              f"{last / 1e6:.2f} MB at the end, {slope / 1e3:+.1f} KB a minute; "
              f"{self.samples[-1][2]} descriptors", flush=True)
        for node in self.nodes:
            for _, line in node.errors:
                if "counters of" in line:
                    print(f"  node {node.number}: {line}", flush=True)


def parse(arguments):
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("oche")
    parser.add_argument("soak")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--path")
    parser.add_argument("--schemes")
    parser.add_argument("--rate", type=float, default=3e6)
    parser.add_argument("--loss", type=int, default=2000)
    parser.add_argument("--kill-every", type=float, default=10)
    parser.add_argument("--timeout", type=int, default=16)
    parser.add_argument("--largest", type=int, default=3000001)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.getrandbits(32))
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--test", action="store_true")
    options = parser.parse_args(arguments)
    if options.test and not options.sanitized and not pairs.LONG:
        print("only with OCHE_LONG=yes, as it takes three minutes")
        sys.exit(77)
    if options.test:
        options.minutes, options.kill_every = 3, 6
    if options.test and options.sanitized and not pairs.LONG:
        options.minutes, options.kill_every, options.timeout = 16 / 60, 3, 14
        options.schemes, options.largest, options.rate = "defaults,cubic,faults", 500001, 1.5e6
    options.oche, options.soak = map(os.path.abspath, (options.oche, options.soak))
    options.path = options.path and os.path.abspath(options.path)
    options.schemes = (options.schemes or ",".join(SCHEMES)).split(",")
    if "faults" in options.schemes and not (options.path and netns.possible()):
        print("without faults: there is no --path, or no namespaces and TUN devices")
        options.schemes.remove("faults")
    for name in options.schemes:
        if name not in SCHEMES:
            parser.error(f"{name}: there are {', '.join(SCHEMES)}")
    return options


def main(arguments):
    options = parse(arguments)
    if "faults" in options.schemes:
        netns.enter()
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    memory = shared_memory()
    random.seed(options.seed)
    print(f"seed {options.seed}", flush=True)
    for name in options.schemes:
        soak = Soak(options, name, 60 * options.minutes / len(options.schemes))
        try:
            soak.run()
            soak.report()
        except Failed as error:
            pairs.fail(error)
        finally:
            soak.clean_up()
    if more := shared_memory() - memory:
        pairs.fail("shared memory stays behind:", more)


if __name__ == "__main__":
    main(sys.argv[1:])
