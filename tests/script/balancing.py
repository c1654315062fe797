#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Worlds whose packets take many paths: by each mechanism of switches and each `host.entropy`, with
selective repeat, payload and losses. Every flow is delivered, once and with the right bytes; the
trace hash is the same for 1, 2 and 4 threads, and for packets as bytes. Without losses no packet is
sent again, and the uplinks are used more evenly than by ECMP. With trimming an incast ends without
a timeout, and each trimmed packet that arrives has one NACK.

Environment: OCHE.
"""
import os
import re
import sys
import tempfile

from checks import check, report, run_program

OCHE = os.environ["OCHE"]
WORLD = """\
topology: {type: leaf_spine, leaves: 4, hosts_per_leaf: 4, spines: 4, host_rate: 100Gbps,
           link_rate: 100Gbps, delay: 1us}
congestion_control: none
recovery: {name: selective_repeat, reorder: window}
workload: {type: permutation, pattern: shift, shift: 4, bytes: 300KB, messages: 2}
"""
FLOWS = 32
MECHANISMS = ["random_spray", "round_robin", "drill", "letflow"]
ENTROPIES = ["oblivious", "bitmap", "reps", "mixed"]


def values(folder, *options):
    """Runs the world. Returns what its tables say."""
    result = run_program(OCHE, "run", "w.yaml", "--all", "--out", "out", *options, cwd=folder)
    check(result.returncode == 0, options, result.stdout[-500:], result.stderr)

    def row(name):
        found = re.search(rf"^ *{re.escape(name)} +([0-9a-f]{{16}}|[\d.,]+)", result.stdout, re.M)
        check(found, options, "has no row", name)
        return found.group(1).replace(",", "") if found else "0"

    sizes = re.search(r"^all sizes +(\d+) +(\d+) +(\d+)", result.stdout, re.M)
    check(sizes, options, "has no flows")
    return {"flows": sizes.groups() if sizes else (), "hash": row("trace hash"),
            "again": int(row("data packets retransmitted")),
            "timeouts": int(row("ACK timeouts")),
            "trimmed": int(row("trimmed packets that arrived")),
            "nacks": int(row("NACKs for them")),
            "uneven": float(row("busiest uplink over the mean, ToR up"))}


def check_trimming(folder):
    """An incast over several racks, sprayed, with queues of 40 packets."""
    options = ["--set", "workload={type: incast, degree: 8, bytes: 300KB}", "--set",
               "host.entropy=oblivious", "--set", "switch={pfc: false, mechanisms: [trimming]}",
               "--set", "trimming.queue=45KB", "--set", "payload=true", "--set",
               "congestion_control=nscc"]
    runs = [values(folder, *options, *more)
            for more in (["--threads", "1"], ["--threads", "2"], ["--threads", "4"],
                         ["--set", "bytes=true"])]
    check(runs[0]["flows"] == ("8", "8", "0"), runs[0])
    check(runs[0]["timeouts"] == 0 and runs[0]["trimmed"] > 20, runs[0])
    check(runs[0]["nacks"] == runs[0]["trimmed"], runs[0])
    check(runs[0]["again"] == runs[0]["trimmed"], runs[0])
    check(len({run["hash"] for run in runs}) == 1, [run["hash"] for run in runs])
    either = values(folder, *options, "--set", "trimming.victim=either", "--set",
                    "loss.probability=0.2%")
    check(either["flows"] == ("8", "8", "0"), either)
    check(either["hash"] != runs[0]["hash"], either)


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "w.yaml"), "w", encoding="utf-8") as file:
            file.write(WORLD)
        ecmp = values(folder)
        for choice in ([f"switch.mechanisms={name}" for name in MECHANISMS] +
                       [f"host.entropy={name}" for name in ENTROPIES]):
            clean = values(folder, "--set", choice)
            check(clean["flows"] == (str(FLOWS), str(FLOWS), "0"), choice, clean)
            if "letflow" not in choice:
                check(clean["again"] == 0, choice, "sends again", clean["again"])
                check(clean["uneven"] < 1 + (ecmp["uneven"] - 1) / 2, choice, clean, ecmp)
            lossy = ["--set", choice, "--set", "loss.probability=0.2%", "--set", "payload=true"]
            runs = [values(folder, *lossy, *more)
                    for more in (["--threads", "1"], ["--threads", "2"], ["--threads", "4"],
                                 ["--set", "bytes=true"])]
            check(runs[0]["flows"] == (str(FLOWS), str(FLOWS), "0"), choice, runs[0])
            check(runs[0]["again"] > 0, choice, "loses nothing")
            check(len({run["hash"] for run in runs}) == 1, choice, [run["hash"] for run in runs])
        check_trimming(folder)
    return report()


sys.exit(main())
