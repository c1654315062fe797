#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche sweep and oche reproduce, killed (SIGKILL) at random moments again and again: no finished
point runs twice, whatever moment it is, and the results in the end are those of a run that nobody
disturbed. Likewise if the write-ahead log that the killed one has left is cut anywhere, as after a
full disk: what can then still be read is not done again.

Environment: OCHE, SOURCE, SANITIZED; OCHE_LONG=yes: six times as many kills; OCHE_SEED: another
seed, which a failure names.
"""
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from checks import failures, report

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
SLOW = os.environ.get("SANITIZED") == "yes"
ROUNDS = 6 if os.environ.get("OCHE_LONG") == "yes" else 1
SEED = int(os.environ.get("OCHE_SEED", "1"))
SWEEP = ["sweep", os.path.join(SOURCE, "tests", "scenarios", "pairs.yaml"), "--vary",
         "loss.probability=0,0.1%", "--vary", "workload[0].pairs=1,4", "--repeat", "6",
         "--set", "duration=1ms" if SLOW else "duration=3ms"]
SCENARIO = """\
duration: 2ms
topology: {type: star, hosts: 2, host_rate: 40Gbps}
switch: {ecn: false}
host: {mtu: 1000B, ack_every: 64, ack_timeout: 100us, connections: per_pair}
congestion_control: none
workload: {type: background, bytes: 400KB}
"""
PAPER = """\
title: A paper
authors: A, B
published: somewhere
figures: [one]
grids:
  lossy: {vary: {loss.probability: [0, 0.01%, 0.1%, 1%]}, repeat: 6}
quantities:
  throughput: {metric: goodput, relative_to: {loss.probability: 0}, label: relative throughput}
"""
FIGURE = """\
title: Losses
place: Fig 1
scenario: s.yaml
grids: [{from: lossy}]
claims:
  - name: lossless
    text: all of it without loss
    kind: value
    quantity: throughput
    at: {loss.probability: 0}
    published: 100%
    tolerance: {absolute: 0.01, in_shape: 0.02}
    place: sec 1
    source: text
    confidence: high
"""


def check(truth, *what):
    if not truth:
        failures.append(" ".join(str(w) for w in what) + f" (OCHE_SEED={SEED})")


def ask(path, query):
    """Rows of a file that may be in use or half written: it is read as a copy, with its log."""
    with tempfile.TemporaryDirectory() as place:
        copy = os.path.join(place, "copy")
        for end in ("", "-wal"):
            if os.path.exists(path + end):
                shutil.copy(path + end, copy + end)
        database = sqlite3.connect(copy)
        try:
            return database.execute(query).fetchall()
        except sqlite3.Error:
            return []
        finally:
            database.close()


def done_points(path):
    """The rows of finished points; the wall time in them differs each time a point runs."""
    return set(ask(path, "SELECT * FROM points WHERE status = 'done'"))


def results(path):
    return [sorted(ask(path, query)) for query in (
        "SELECT id, repeat, seed, status, error, trace_hash FROM points",
        "SELECT * FROM metrics WHERE name NOT LIKE '%wall%' AND name NOT LIKE '%per_second%'")]


class Command:
    """A command that makes the file `path`, of `total` points."""

    def __init__(self, work, arguments, path, total, **options):
        self.work, self.arguments, self.total, self.options = work, arguments, total, options
        self.path = os.path.join(work, path)

    def start(self):
        # A group of its own: the workers die with it, as by the kernel's killer or a time limit.
        return subprocess.Popen([OCHE, *self.arguments], cwd=self.work, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True,
                                **self.options)

    def remove(self):
        for end in ("", "-wal", "-shm", "-journal"):
            if os.path.exists(self.path + end):
                os.unlink(self.path + end)

    def kill_after(self, seconds):
        """Starts it and kills it. Returns its status, and what it said."""
        running = self.start()
        try:
            said = running.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            if random.random() < 0.5:
                os.kill(running.pid, signal.SIGKILL)  # the workers are left to themselves
            else:
                os.killpg(running.pid, signal.SIGKILL)
            said = running.communicate()[1]
        return running.returncode, said

    def finish(self):
        running = self.start()
        said = running.communicate(timeout=300)[1]
        return running.returncode, said


def cut_log(path):
    """Cuts the log anywhere."""
    log = path + "-wal"
    if os.path.exists(log) and os.path.getsize(log) > 0:
        os.truncate(log, random.randrange(os.path.getsize(log)))


def disturb(command, name, cut):
    """Kills it until it has ended by itself, and looks after each time."""
    command.remove()
    begun = time.monotonic()
    status, said = command.finish()
    whole_time = time.monotonic() - begun
    check(status == 0, name, "undisturbed", status, said)
    whole = results(command.path)
    check(len(whole[0]) == command.total, name, "undisturbed points", len(whole[0]))
    for _ in range(ROUNDS):
        command.remove()
        kept, kills, between = set(), 0, 0
        for _ in range(60):
            status, said = command.kill_after(random.uniform(0, whole_time / 3))
            now = done_points(command.path)
            # The row of a point that has run again has another wall time.
            check(kept <= now, name, "points ran again, or are gone", len(kept - now))
            if cut and status == -signal.SIGKILL:
                cut_log(command.path)
                now = done_points(command.path)
            kept, kills = now, kills + (status == -signal.SIGKILL)
            between += 0 < len(now) < command.total
            if status == 0:
                break
            check(status == -signal.SIGKILL, name, "status", status, said)
        before = done_points(command.path)
        status, said = command.finish()
        check(status == 0, name, "in the end", status, said)
        check(before <= done_points(command.path), name, "points ran again in the end")
        check(results(command.path) == whole, name, "results differ")
        check(kills > 0 and between > 0, name, "was not killed in the middle", kills, between)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    random.seed(SEED)
    with tempfile.TemporaryDirectory() as work:
        papers = os.path.join(work, "papers")
        write(os.path.join(papers, "p", "paper.yaml"), PAPER)
        write(os.path.join(papers, "p", "figures", "one.yaml"), FIGURE)
        write(os.path.join(papers, "p", "scenarios", "s.yaml"), SCENARIO.replace("2ms", "6ms"))
        commands = {
            "sweep": Command(work, [*SWEEP, "--jobs", "2", "--out", "d"], "d/sweep.sqlite", 24),
            "reproduce": Command(work, ["reproduce", "p/one", "--jobs", "2", "--out", "r"],
                                 "r/one.sqlite", 24,
                                 env={**os.environ, "OCHE_PAPERS": papers}),
        }
        for name, command in commands.items():
            for cut in (False, True):
                disturb(command, f"{name}, log cut" if cut else name, cut)
    return report()


sys.exit(main())
