#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche run without memory: the n-th allocation fails, alone or with all later ones. The run ends
with status 2 and one line that says so, or it ends as if nothing had happened, with the same hash;
never by a signal, never as a bug.

usage: no_memory.py LIBRARY     tests/support/fail_allocation.c
Environment: OCHE. OCHE_LONG=yes: ten times as many n.
"""
import os
import re
import subprocess
import sys
import tempfile

OCHE = os.environ["OCHE"]
CASES = 500 if os.environ.get("OCHE_LONG") else 50
RUNS = (["tests/scenarios/credits.yaml", "--set", "duration=400us", "--set", "warmup=0"],
        ["tests/scenarios/pauses.yaml", "--set", "duration=300us", "--set", "warmup=0", "--set",
         "measure.interval=10us", "--threads", "2"])
TELLS = re.compile(r"out of memory|no memory for|Cannot allocate memory")


def run(library, arguments, work, n, once):
    """(what ended, allocations) of a run whose n-th allocation fails; 0: none."""
    count = os.path.join(work, "count")
    environment = {**os.environ, "LD_PRELOAD": library, "FAIL_ALLOCATION": str(n),
                   "ALLOCATIONS_TO": count}
    if once:
        environment["FAIL_ONCE"] = "1"
    done = subprocess.run([OCHE, "run", *arguments, "--out", os.path.join(work, "out")],
                          env=environment, text=True, capture_output=True, timeout=120,
                          check=False)
    if n > 0:
        return done, 0
    with open(count, encoding="utf-8") as file:
        return done, int(file.read())


def hash_of(done):
    found = re.search(r"^trace hash +(\w+)", done.stdout, re.MULTILINE)
    return found[1] if found else None


def wrong(done, right):
    """What is wrong with how a run ended, or None."""
    if done.returncode < 0:
        return f"signal {-done.returncode}"
    if "bug" in done.stderr:
        return "told as a bug"
    if done.returncode == 0:
        return None if hash_of(done) == right else "another hash"
    lines = done.stderr.strip().splitlines()
    if done.returncode != 2 or len(lines) != 1:
        return f"status {done.returncode} and {len(lines)} lines"
    return None if TELLS.search(lines[0]) else "memory is not named"


def main(library):
    failed = 0
    for arguments in RUNS:
        with tempfile.TemporaryDirectory() as work:
            done, allocations = run(library, arguments, work, 0, False)
            right = hash_of(done)
            if done.returncode != 0 or right is None or allocations < 100:
                sys.exit(f"{arguments}: {allocations} allocations, {done.stderr}")
            # Densely at first, where there is one of a kind each; few later, in SQLite's rows.
            cases = sorted({max(1, round(allocations ** (i / CASES))) for i in range(CASES + 1)} |
                           set(range(1, allocations, max(1, allocations // CASES))))
            ended = 0
            for once in (False, True):
                for n in cases:
                    done, _ = run(library, arguments, work, n, once)
                    what = wrong(done, right)
                    ended += done.returncode == 2
                    if what is not None:
                        failed += 1
                        print(f"{arguments[0]}: allocation {n}{' alone' if once else ''}: {what}: "
                              f"{done.stderr.strip()[:200]}")
            print(f"{arguments[0]}: {allocations} allocations, {2 * len(cases)} runs, of which "
                  f"{ended} end for want of memory", flush=True)
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
