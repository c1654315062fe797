#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One scenario, one trace hash, whoever compiled the program and however it runs: {gcc, clang} x
{-O0, -O2} x {packets as structs, as bytes, as bytes with payload} x {1, 2 threads}, over the
scenarios of tests/scenarios. The hash covers every protocol event of every node.

Builds the program four times below BUILD/hash-matrix (kept, so that the next time is quick); the
program that `make` has built, optimised across files, must agree too.
Environment: SOURCE, BUILD, OCHE. Status 77: a compiler is missing.
"""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["SOURCE"], os.environ["BUILD"]
COMPILERS = ("gcc", "clang")
OPTIMISATIONS = ("0", "2")
FORMS = {"struct": [], "bytes": ["--set", "bytes=true"],
         "payload": ["--set", "bytes=true", "--set", "payload=true"]}
THREADS = ("1", "2")
# What must have happened in a scenario, or its hash proves nothing.
SCENARIOS = {
    "pauses": ("pauses_sent", "pauses_received_by_hosts", "nic_cnps_sent", "marks_tor_to_host",
               "marks_tor_to_up", "marks_aggregation"),
    "losses": ("lost_packets", "drops_tor_to_host", "nic_retransmitted_packets", "nic_timeouts",
               "nic_naks_sent", "nic_cnps_sent"),
    "selective": ("lost_packets", "nic_placed_packets", "nic_retransmitted_packets", "nic_timeouts",
                  "drops_tor_to_host"),
    "rcp": ("lost_packets", "nic_retransmitted_packets", "nic_timeouts", "rcp_rate.updates",
            "rcp_rate.lowered"),
    "credits": ("lost_packets", "nic_retransmitted_packets", "nic_timeouts", "ib_credits.fcps",
                "ib_credits.waits", "fecn.marked", "fecn.victims"),
    "pairs": ("nic_ce_marked", "marks_tor_to_up", "nic_cnps_sent"),
    "tcp": ("lost_packets", "nic_retransmitted_packets", "nic_timeouts", "drops_tor_to_host",
            "marks_tor_to_host", "nic_out_of_order_packets"),
}


def build(compiler, optimisation):
    """The program, built that way."""
    tree = os.path.join(BUILD, "hash-matrix", f"{compiler}-O{optimisation}")
    commands = [["ninja", "-C", tree, "oche"]]
    if not os.path.exists(os.path.join(tree, "build.ninja")):
        shutil.rmtree(tree, ignore_errors=True)
        commands.insert(0, ["meson", "setup", tree, SOURCE, f"-Doptimization={optimisation}",
                            "-Ddebug=false"])
    for command in commands:
        done = subprocess.run(command, env={**os.environ, "CC": compiler}, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-4000:]}")
    return os.path.join(tree, "oche")


def run(program, scenario, options, out):
    """(trace hash, counters over all) of one run."""
    command = [program, "run", os.path.join("tests", "scenarios", scenario + ".yaml"),
               "--quiet", "--out", out] + options
    done = subprocess.run(command, cwd=SOURCE, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}")
    with sqlite3.connect(os.path.join(out, "run.sqlite")) as results:
        (value,) = results.execute("SELECT value FROM info WHERE key = 'trace_hash'").fetchone()
        return value, dict(results.execute(
            "SELECT name, value FROM counters WHERE entity = 'all'").fetchall())


def main():
    for compiler in COMPILERS:
        if shutil.which(compiler) is None:
            print(f"{compiler} is missing")
            return 77
    programs = {f"{c} -O{o}": build(c, o) for c in COMPILERS for o in OPTIMISATIONS}
    programs["this build"] = os.environ["OCHE"]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for scenario, must in SCENARIOS.items():
            hashes = {}
            for name, program in programs.items():
                for form, options in FORMS.items():
                    for threads in THREADS:
                        found, counters = run(program, scenario,
                                              options + ["--threads", threads], folder)
                        hashes.setdefault(found, []).append(f"{name}, {form}, {threads} threads")
                        if counters["corrupt_bytes"] != 0:
                            failed = True
                            print(f"FAILED: {scenario}: {hashes[found][-1]}: corrupt payload")
            for counter in must:
                if counters[counter] == 0:
                    failed = True
                    print(f"FAILED: {scenario}: nothing happened: {counter} is 0")
            other, _ = run(programs["gcc -O2"], scenario, ["--seed", "2"], folder)
            if other in hashes:
                failed = True
                print(f"FAILED: {scenario}: another seed gives the same hash {other}")
            runs = sum(len(ways) for ways in hashes.values())
            print(f"{scenario}: {counters['events']} events, {runs} runs: {' '.join(hashes)}")
            if len(hashes) != 1:
                failed = True
                for found, ways in hashes.items():
                    print(f"FAILED: {scenario}: {found}: {'; '.join(ways)}")
    return 1 if failed else 0


sys.exit(main())
