#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche run: memory follows the flows that a run reaches, not those that a workload could start.

192 hosts send messages of 16 bytes, one after the other, to the end of the run. If the line were
full of payload these would be 16.7 million flows; a run reaches some ten thousand. Flows, and the
tables of NICs and of other endpoints, must not pay for the rest.

Environment: OCHE, SANITIZED.
"""
import os
import re
import subprocess
import sys
import tempfile

OCHE = os.environ["OCHE"]
SANITIZED = os.environ["SANITIZED"] == "yes"
MOST_KB = 300_000
SCENARIO = """duration: {duration}
topology: {{type: star, hosts: 192}}
switch: {{buffer: 64MB}}
workload: {{type: permutation, bytes: 16B, messages: 0}}
congestion_control: {scheme}
host: {{connections: {connections}}}
"""
# Duration, scheme, connections, threads; and the hash, which is as when all flows were planned
# before the run.
CASES = [
    ("279us", "none", "per_flow", 1, "04f6ea92f455a88d"),
    ("279us", "none", "per_flow", 2, "04f6ea92f455a88d"),
    ("279us", "dcqcn", "per_chain", 1, "717a64740b865cb3"),
    ("279us", "none", "per_pair", 1, "aa670bef419d27b8"),
    ("279us", "dctcp", "per_flow", 1, "02a0df93ce334e0b"),
    ("60us", "expresspass", "per_flow", 1, "e3e25c7cbdd62a66"),
]


def run(case, folder):
    """Returns the peak of memory in KB, and what the run printed."""
    duration, scheme, connections, threads, _ = case
    scenario = os.path.join(folder, "tiny.yaml")
    with open(scenario, "w", encoding="utf-8") as file:
        file.write(SCENARIO.format(duration=duration, scheme=scheme, connections=connections))
    with open(os.path.join(folder, "output"), "w+", encoding="utf-8") as output:
        with subprocess.Popen([OCHE, "run", scenario, "--threads", str(threads), "-o",
                               os.path.join(folder, "out")], stdout=output,
                              stderr=subprocess.STDOUT) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return usage.ru_maxrss, output.read(), process.returncode


def main():
    failures = 0
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            peak, text, status = run(case, folder)
        found = re.search(r"^trace hash +(\w+)$", text, re.MULTILINE)
        print(f"{peak:>9} KB: {case}")
        if status != 0 or found is None or found.group(1) != case[-1]:
            failures += 1
            print(f"FAILED: status {status}, another hash\n{text[-2000:]}")
        elif peak > MOST_KB and not SANITIZED:
            failures += 1
            print(f"FAILED: at most {MOST_KB} KB")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
