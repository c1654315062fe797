#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are linked with liboche-rogue.so and call the functions of rogue/rogue.h.

usage: rogue_api.py OCHE ROGUE_REPLAY_API ROGUE_UC_API

Reliable connections as under `oche exec --rogue`: data and order while queue pairs fail. Unreliable
ones: data, completions and answers, without loss, with some, and with all packets lost; what they
refuse.
"""
import os
import re
import subprocess
import sys

import pairs


def counted(said, what):
    return sum(int(number) for number in re.findall(rf"oche: rogue: (?:.*[^\w])?{what} (\d+)",
                                                    said))


def must(what, *facts):
    if not what:
        pairs.fail(*facts)


def run(oche, program, mode, lost="0", options=(), **environment):
    """Returns the library's output at the end."""
    done = subprocess.run(
        [oche, "exec", "--stats", "--device", pairs.SERVER, *options, "--", program, mode],
        env={**os.environ, "OCHE_DROP": lost, **environment}, text=True, capture_output=True,
        timeout=300, check=False)
    must(done.returncode == 0, mode, done.returncode, done.stdout, done.stderr)
    print(f"{os.path.basename(program)} {mode}, {lost} lost", flush=True)
    return done.stderr


def reliable(oche, program):
    for _ in range(3):  # chance decides which packets are lost
        said = run(oche, program, "replay", "100000", OCHE_ROGUE="segment_bytes=64KiB")
        if counted(said, "switches") > 0:
            break
    must(counted(said, "with a shadow") == 2 and counted(said, "switches") > 0, said)


def unreliable(oche, program):
    said = run(oche, program, "writes")
    must(counted(said, "unreliable") == 2 and counted(said, "with a shadow") == 0, said)
    must(counted(said, "answered batches") >= 30 and counted(said, "samples") > 0, said)
    # Only the writer polls here, but the other side's library must still answer.
    said = run(oche, program, "lossy")
    must(counted(said, "answered batches") >= 30 and
         counted(said, "answered batches") > 4 * counted(said, "timeouts"), said)
    said = run(oche, program, "lossy", "20000")
    must(counted(said, "unanswered") > 0, said)
    said = run(oche, program, "lost", "1000000")
    must(counted(said, "timeouts") > 2 and counted(said, "answered batches") == 0, said)
    run(oche, program, "refused")
    # The result must be the same if the program also runs under `oche exec --rogue`.
    said = run(oche, program, "writes", options=["--rogue"])
    must(counted(said, "unreliable") == 2, said)


def main(oche, replay, uc):
    reliable(oche, replay)
    unreliable(oche, uc)


if __name__ == "__main__":
    main(*sys.argv[1:])
