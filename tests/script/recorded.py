#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verdicts that are kept beside papers (papers/PAPER/results.csv) are those of this program:
`oche reproduce --stale` finds none whose claims, scenarios or runs have changed, or whose sample of
a point gives something else. What was measured on the wire (papers/PAPER/measured) is never
measured again here: a sample is of the simulator's part of such a figure, and the verdicts have to
be of the measurements that are there. If one is stale: oche reproduce PAPER/FIGURE --restart
--record, and look at what moved (git diff).

Environment: OCHE, SOURCE; OCHE_LONG=yes: the samples of all figures, otherwise of every eighth one.
"""
import os
import subprocess
import sys
import tempfile

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
QUICK = [] if os.environ.get("OCHE_LONG") == "yes" else ["--quick"]

# Papers whose results are known to be older than the program, and why. A line here says so until
# their verdicts are measured again. A paper that is not stale must not be here; now none is stale.
OLDER = set()


def main():
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run([OCHE, "reproduce", "--stale", "--quiet", *QUICK, "--papers",
                               SOURCE + "/papers"],
                              cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
    lines = done.stdout.splitlines()
    stale = {line.split("/")[0] for line in lines}
    wrong = [line for line in lines if line.split("/")[0] not in OLDER]
    wrong += [f"{paper} is not stale any more; take it out of OLDER" for paper in OLDER
              if paper not in stale]
    if done.returncode not in (0, 1) or done.returncode != int(bool(lines)) or done.stderr:
        wrong.append(f"status {done.returncode}: {done.stderr}")
    for line in wrong:
        print("FAILED:", line)
    return 1 if wrong else 0


sys.exit(main())
