#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche run: memory grows with the flows that a run reaches, not with those that a workload could
start. Finished flows take little.

192 hosts send messages of 16 bytes, one after the other, to the end of the run. If the line were
full of payload these would be 16.7 million flows; a run reaches some ten thousand. Flows, and the
tables of NICs and of other endpoints, must not pay for the rest: neither with memory nor, where
reading takes none, with the page faults of reading what nobody has written.

Eight hosts do so for long: what a run of thrice the length needs more, divided by the flows that it
has more, is what the times in the tables and in the results need, which are sorted.

Environment: OCHE, SANITIZED, OCHE_LONG.
"""
import os
import re
import subprocess
import sys
import tempfile

OCHE = os.environ["OCHE"]
SANITIZED = os.environ["SANITIZED"] == "yes"
MOST_KB = 300_000
MOST_FAULTS = 30_000  # the whole run; a quarter of a million pages hold all plans
SCENARIO = """duration: {duration}
defaults: paper
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


LONG = """duration: {duration}
topology: {{type: star, hosts: 8, host_rate: 40Gbps}}
workload: {{type: {workload}}}
host: {{connections: {connections}}}
"""
FLOWS_KB = 110 / 1024  # for each flow more
FLOWS_FAULTS = 0.25     # the same limit; each page holds some 60 flows of one array
# Workload, connections, threads; and the hashes, which are as when all flows were kept.
GROWTH = [
    ("permutation, bytes: 1KB, messages: 0", "per_flow", 1, ("50ms", "150ms"),
     ("fbc54668dd1142dd", "22642a502a623eae")),
    ("permutation, bytes: 1KB, messages: 0", "per_chain", 1, ("50ms", "150ms"),
     ("dfa03b9c115ae667", "5d66fd9b8b26c027")),
]
ALL = os.environ.get("OCHE_LONG") == "yes"
if not ALL:
    GROWTH[1] = (*GROWTH[1][:3], ("15ms", "45ms"), ("5b42b2c5ef115925", "d7360f02ea3d08bd"))
if SANITIZED:  # its own memory is not told from the program's: for what it finds, and the hash
    GROWTH = GROWTH[:1] if ALL else [
        (*GROWTH[0][:3], ("5ms", "15ms"), ("3ed551c77938e28b", "b4b154144246eb9f"))]
elif ALL:
    GROWTH += [(*case[:2], threads, *case[3:]) for case in GROWTH for threads in (2, 3)]


def run(case, folder):
    duration, scheme, connections, threads, _ = case
    return run_text(SCENARIO.format(duration=duration, scheme=scheme, connections=connections),
                    threads, folder)


def run_text(text, threads, folder):
    """Returns what the run took of memory and time, what it printed, and its status."""
    scenario = os.path.join(folder, "tiny.yaml")
    with open(scenario, "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(folder, "output"), "w+", encoding="utf-8") as output:
        with subprocess.Popen([OCHE, "run", scenario, "--threads", str(threads), "-o",
                               os.path.join(folder, "out")], stdout=output,
                              stderr=subprocess.STDOUT) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        return usage, output.read(), process.returncode


def grows_little(case):
    workload, connections, threads, durations, hashes = case
    peaks, faults, flows, found = [], [], [], []
    for duration in durations:
        text = LONG.format(duration=duration, workload=workload, connections=connections)
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            usage, said, status = run_text(text, threads, folder)
        started = re.search(r"^below 10KB +([0-9,]+)", said, re.MULTILINE)
        trace = re.search(r"^trace hash +(\w+)$", said, re.MULTILINE)
        if status != 0 or started is None or trace is None:
            print(f"FAILED: {case}: status {status}\n{said[-2000:]}")
            return False
        peaks.append(usage.ru_maxrss)
        faults.append(usage.ru_minflt)
        flows.append(int(started.group(1).replace(",", "")))
        found.append(trace.group(1))
    each = (peaks[1] - peaks[0]) / (flows[1] - flows[0])
    fault_each = (faults[1] - faults[0]) / (flows[1] - flows[0])
    print(f"{1024 * each:>9.0f} bytes and {fault_each:.2f} faults for each flow more: {case}")
    if tuple(found) != hashes:
        print(f"FAILED: other hashes: {found}")
        return False
    if each > FLOWS_KB and not SANITIZED:
        print(f"FAILED: at most {1024 * FLOWS_KB:.0f} bytes")
        return False
    if fault_each > FLOWS_FAULTS and not SANITIZED:
        print(f"FAILED: at most {FLOWS_FAULTS} faults")
        return False
    return True


def main():
    failures = 0
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            usage, text, status = run(case, folder)
        found = re.search(r"^trace hash +(\w+)$", text, re.MULTILINE)
        peak, faults = usage.ru_maxrss, usage.ru_minflt
        print(f"{peak:>9} KB, {faults:>6} faults: {case}")
        if status != 0 or found is None or found.group(1) != case[-1]:
            failures += 1
            print(f"FAILED: status {status}, another hash\n{text[-2000:]}")
        elif peak > MOST_KB and not SANITIZED:
            failures += 1
            print(f"FAILED: at most {MOST_KB} KB")
        elif faults > MOST_FAULTS and not SANITIZED:
            failures += 1
            print(f"FAILED: at most {MOST_FAULTS} faults")
    for case in GROWTH:
        failures += not grows_little(case)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
