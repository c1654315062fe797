#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""200 random faults in eight programs at work, with 64 queue pairs in all: links of all kinds,
partitions, ports that go down, killed queue pairs, calls that fail, events. Each request is
answered, no program ends or gets stuck, and when the faults are over, each pair writes on.

usage: fault_storm.py OCHE FAULT_CLIENT [--faults N] [--seed N]
"""
import argparse
import queue
import random
import subprocess
import tempfile
import threading
import time

import pairs

PROGRAMS, PAIRS = 8, 4  # a pair has two queue pairs
LINKS = ("loss=20%", "burst_loss=10%:length=8", "delay=3ms", "delay=1ms,jitter=1ms:normal",
         "reorder=10%:by=1ms", "duplicate=10%", "corrupt=10%", "spray=8:by=200us",
         "rate=20Mbps,queue=50KB", "rate=50Mbps,queue=100KB,ecn=10KB..50KB", "flap=50ms/20ms",
         "loss=1")
STATUSES = ("flush", "retry-exc", "rem-access", "loc-prot", "general")
CALLS = ("reg_mr", "create_qp", "modify_qp", "post_send", "post_recv")


class Program:
    def __init__(self, folder, address, *command):
        self.address = address
        self.process = subprocess.Popen(
            [command[0], "exec", "--device", address, f"--view={folder}", "--", command[1],
             str(PAIRS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.counts, self.ready = queue.Queue(), threading.Event()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            word, _, rest = line.partition(" ")
            if word == "counts":
                self.counts.put([int(number) for number in rest.split()])
            elif word == "ready":
                self.ready.set()

    def written(self):
        """How often each pair has written. Fails if the program does not answer."""
        self.process.stdin.write("count\n")
        self.process.stdin.flush()
        try:
            return self.counts.get(timeout=pairs.LIMIT)
        except queue.Empty:
            return pairs.fail(self.address, "is stuck; status", self.process.poll())


def random_fault(chance, addresses, target):
    """The words of a fault, without the program."""
    lasts = ["for", f"{chance.randrange(20, 400)}ms"]
    kind = chance.random()
    if kind < 0.5:
        words = chance.choice(([], ["in"], ["out"]))
        peer = chance.choice(("", "", target if target != "all" else chance.choice(addresses)))
        return [*words, f"{peer}:{chance.choice(LINKS)}".lstrip(":"), *lasts]
    if kind < 0.65:
        return ["port-down", *lasts]
    if kind < 0.85:
        return ["kill-qp", "all", chance.choice(STATUSES)]
    if kind < 0.95:
        first = chance.randrange(1, 4)
        return ["fail", f"{chance.choice(CALLS)}={first}..{first + chance.randrange(3)}"]
    return ["restore"]


def storm(options, folder, programs):
    chance = random.Random(options.seed)
    addresses = [program.address for program in programs]
    for number in range(options.faults):
        if chance.random() < 0.1:
            # the queue pairs of a program are connected to each other: from itself, or from others
            sides = chance.choice((chance.choices(addresses) * 2, chance.sample(addresses, 2)))
            words = ["partition", *sides, "for", f"{chance.randrange(50, 400)}ms"]
        else:
            target = chance.choice(addresses + ["all"])
            words = [target, *random_fault(chance, addresses, target)]
        done = subprocess.run([options.oche, "fault", f"--view={folder}", *words], text=True,
                              capture_output=True, check=False, timeout=pairs.LIMIT)
        # 1: all queue pairs of a device were just being made again, or its rules are used up
        if done.returncode != 0 and not (done.returncode == 1 and "no queue pair" in done.stderr) \
                and "no room for another link" not in done.stderr:
            pairs.fail("seed", options.seed, "fault", number, words, done.stdout, done.stderr)
        time.sleep(chance.uniform(0, 0.1))


def go_on(programs):
    """Each pair of each program writes again."""
    before = [program.written() for program in programs]
    end = time.monotonic() + pairs.LIMIT
    while True:
        now = [program.written() for program in programs]
        if all(new > old for one, other in zip(now, before) for new, old in zip(one, other)):
            return
        if time.monotonic() > end:
            pairs.fail("pairs that do not go on:", before, now)
        time.sleep(0.1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("oche")
    parser.add_argument("client")
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print("seed", options.seed, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        programs = [Program(folder, f"{pairs.NET}{number + 1}", options.oche, options.client)
                    for number in range(PROGRAMS)]
        for program in programs:
            if not program.ready.wait(pairs.LIMIT):
                pairs.fail(program.address, "is not ready")
        go_on(programs)
        storm(options, folder, programs)
        subprocess.run([options.oche, "fault", f"--view={folder}", "all", "restore"], check=True,
                       stdout=subprocess.DEVNULL, timeout=pairs.LIMIT)
        go_on(programs)
        for program in programs:
            program.process.stdin.close()
        for program in programs:
            if program.process.wait(pairs.LIMIT) != 0:
                pairs.fail(program.address, "status", program.process.returncode)
    print(f"ok: {options.faults} faults, {2 * PROGRAMS * PAIRS} queue pairs")


main()
