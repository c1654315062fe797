#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many threads on many queue pairs under `oche exec --rogue`: tests/interop/rogue_threads.c, on a
network that loses nothing, and on one where queue pairs fail.

usage: rogue_threads.py OCHE ROGUE_THREADS
"""
import os
import re
import subprocess
import sys

import pairs

CONNECTIONS = 2 * 24  # at least; further ones come and go


def run(oche, program, lost):
    """Returns how often a queue pair has failed."""
    done = subprocess.run([oche, "exec", "--rogue=segment_bytes=4KiB", "--stats", "--device",
                           pairs.SERVER, "--", program], env={**os.environ, "OCHE_DROP": lost},
                          text=True, capture_output=True, timeout=200, check=False)
    said = re.search(r"oche: rogue: connections (\d+), of these with a shadow \1;.*"
                     r"switches (\d+)", done.stderr)
    if done.returncode != 0 or said is None or int(said[1]) < CONNECTIONS:
        pairs.fail(lost, done.returncode, done.stdout, done.stderr)
    print(f"{lost} of a million lost: connections {said[1]}, switches {said[2]}", flush=True)
    return int(said[2])


def main(oche, program):
    run(oche, program, "0")
    if not any(run(oche, program, "100000") > 0 for _ in range(3)):
        pairs.fail("no queue pair has failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
