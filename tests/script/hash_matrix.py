#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One scenario, one trace hash, whoever compiled the program and however it runs: {gcc, clang} x
{not optimised, optimised} x {packets as structs, as bytes, as bytes with payload} x {1, 2 threads},
over the scenarios of tests/scenarios. The hash covers every protocol event of every node.

The program of this build is run in all six ways over one scenario, and in four over the others; of
the other programs each form and each number of threads is tried, in three of the six, and what is
not optimised is left out. A program is taken from a build folder beside this one when there is one
that was made so, that of clang also with ThreadSanitizer, which then watches runs of two threads,
half as long, beside one of this build's; otherwise it is built below BUILD/hash-matrix (kept, so
that the next time is quick).
Environment: SOURCE, BUILD, OCHE; OCHE_LONG=yes: all ways, not optimised too, gcc -O2 on its own
even where this build is gcc's, and no sanitizer. Status 77: a compiler is missing.
"""
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SOURCE, BUILD = os.environ["SOURCE"], os.environ["BUILD"]
WITH_THREADS = os.path.join(SOURCE, "build-threads")  # tools/check's, with ThreadSanitizer
COMPILERS = ("gcc", "clang")
OPTIMISATIONS = {"0": "not optimised", "2": "optimised"}
FORMS = {"struct": [], "bytes": ["--set", "bytes=true"],
         "payload": ["--set", "bytes=true", "--set", "payload=true"]}
THREADS = ("1", "2")
FEWER = (("struct", "1"), ("bytes", "2"), ("payload", "1"))
IN_ALL_WAYS = "pairs"
WATCHED = {"pairs": (("struct", "2"), ("payload", "1"))}  # with ThreadSanitizer
LONG = os.environ.get("OCHE_LONG") == "yes"
# Events that must happen in a scenario; otherwise its hash proves nothing.
SCENARIOS = {
    "pauses": ("pauses_sent", "pauses_received_by_hosts", "nic_cnps_sent", "marks_tor_to_host",
               "marks_tor_to_up", "marks_aggregation"),
    "losses": ("lost_packets", "drops_tor_to_host", "nic_retransmitted_packets", "nic_timeouts",
               "nic_naks_sent", "nic_cnps_sent"),
    "selective": ("lost_packets", "nic_placed_packets", "nic_retransmitted_packets", "nic_timeouts",
                  "drops_tor_to_host"),
    "rcp": ("lost_packets", "nic_retransmitted_packets", "nic_timeouts", "rcp_rate.updates",
            "rcp_rate.lowered"),
    "hpcc": ("lost_packets", "nic_retransmitted_packets", "nic_timeouts", "int_stamp.records"),
    "swift": ("lost_packets", "nic_retransmitted_packets", "nic_timeouts"),
    "credits": ("lost_packets", "nic_retransmitted_packets", "nic_timeouts", "ib_credits.fcps",
                "ib_credits.waits", "fecn.marked", "fecn.victims"),
    "rogue": ("rogue.switches", "rogue.replayed_pieces", "rogue.resynchronised", "rogue.held_off",
              "lost_packets", "nic_timeouts"),
    "latency": ("lost_packets", "nic_retransmitted_packets", "nic_timeouts", "nic_naks_sent",
                "nic_cnps_sent"),
    "scripted": ("scripted.happened", "scripted.never", "lost_packets",
                 "nic_retransmitted_packets", "nic_timeouts", "nic_duplicate_packets"),
    "pairs": ("nic_ce_marked", "marks_tor_to_up", "nic_cnps_sent"),
    "watchdog": ("pfc_watchdog.detected", "pfc_watchdog.restored", "pfc_watchdog.tx_dropped",
                 "pfc_watchdog.rx_dropped", "nic_retransmitted_packets", "pauses_sent"),
    "tcp": ("lost_packets", "nic_retransmitted_packets", "nic_timeouts", "drops_tor_to_host",
            "marks_tor_to_host", "nic_out_of_order_packets"),
}


def made_so(tree, compiler, optimisations):
    """True if the build folder has the unchanged program of that compiler: without
    sanitizers, or of clang's with that of tools/check's build of threads."""
    try:
        with open(os.path.join(tree, "compile_commands.json"), encoding="utf-8") as file:
            words = [w for w in json.load(file)[0]["command"].split() if "ccache" not in w]
        with open(os.path.join(tree, "meson-info", "intro-buildoptions.json"),
                  encoding="utf-8") as file:
            options = {option["name"]: option["value"] for option in json.load(file)}
        said = subprocess.run([words[0], "--version"], text=True, stdout=subprocess.PIPE,
                              check=False).stdout
    except (OSError, ValueError, LookupError): # none, or one that is being set up now
        return False
    found = "clang" if "clang" in said else "gcc"
    if options["b_sanitize"] == "thread":
        return found == compiler == "clang" and optimisations == "23"
    return (found == compiler and options["optimization"] in optimisations
            and options["b_sanitize"] == "none" and not options["c_args"])


def build(compiler, optimisation):
    """The program, built that way."""
    tree = os.path.join(BUILD, "hash-matrix", f"{compiler}-O{optimisation}")
    for beside in [] if LONG else [BUILD, WITH_THREADS,
                                   *sorted(glob.glob(os.path.join(SOURCE, "build*")))]:
        if made_so(beside, compiler, "23" if optimisation == "2" else optimisation):
            tree = beside
            break
    commands = [["ninja", "-C", tree, "oche"]]
    cached = f"ccache {compiler}" if shutil.which("ccache") else compiler
    if not os.path.exists(os.path.join(tree, "build.ninja")):
        shutil.rmtree(tree, ignore_errors=True)
        commands.insert(0, ["meson", "setup", tree, SOURCE, f"-Doptimization={optimisation}",
                            "-Ddebug=false"])
    for command in commands:
        done = subprocess.run(command, env={**os.environ, "CC": cached}, check=False, text=True,
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
            "SELECT name, value FROM counters WHERE entity = 'all' "
            "UNION ALL SELECT name, value FROM metrics").fetchall())


def runs_of(program, scenario):
    """(form, threads) of each run of a program."""
    if LONG or (program == os.environ["OCHE"] and scenario == IN_ALL_WAYS):
        return [(form, threads) for form in FORMS for threads in THREADS]
    return FEWER + (("struct", "2"),) if program == os.environ["OCHE"] else FEWER


def is_watched(program):
    return os.path.dirname(program) == WITH_THREADS


def half_as_long(scenario):
    """Options for a run of half the time."""
    with open(os.path.join(SOURCE, "tests", "scenarios", scenario + ".yaml"),
              encoding="utf-8") as file:
        duration, unit = re.search(r"^duration: (\d+)(ms|us)$", file.read(), re.M).groups()
    return ["--set", f"duration={int(duration) * (1000 if unit == 'ms' else 1) // 2}us"]


def watched_differs(program, scenario, folder):
    """Returns the result of ThreadSanitizer's program if it differs from this build's, or None."""
    for form, threads in WATCHED.get(scenario, (("struct", "2"),)):
        options = FORMS[form] + ["--threads", threads] + half_as_long(scenario)
        (right, _), (found, _) = (run(one, scenario, options, folder)
                                  for one in (os.environ["OCHE"], program))
        if found != right:
            return f"{scenario}: {form}, {threads} threads, half as long: {found}, not {right}"
    return None


def main():
    for compiler in COMPILERS:
        if shutil.which(compiler) is None:
            print(f"{compiler} is missing")
            return 77
    programs = {f"{compiler}, {OPTIMISATIONS[level]}": build(compiler, level)
                for compiler in COMPILERS for level in OPTIMISATIONS
                if LONG or level != "0"}
    if os.environ["OCHE"] not in programs.values():
        programs["this build"] = os.environ["OCHE"]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for scenario, must in SCENARIOS.items():
            hashes = {}
            for name, program in programs.items():
                if is_watched(program):
                    wrong = watched_differs(program, scenario, folder)
                    if wrong is not None:
                        failed = True
                        print(f"FAILED: {name}: {wrong}")
                    continue
                for form, threads in runs_of(program, scenario):
                    found, counters = run(program, scenario,
                                          FORMS[form] + ["--threads", threads], folder)
                    hashes.setdefault(found, []).append(f"{name}, {form}, {threads} threads")
                    if counters["corrupt_bytes"] != 0:
                        failed = True
                        print(f"FAILED: {scenario}: {hashes[found][-1]}: corrupt payload")
            for counter in must:
                if counters[counter] == 0:
                    failed = True
                    print(f"FAILED: {scenario}: nothing happened: {counter} is 0")
            other, _ = run(programs["gcc, optimised"], scenario, ["--seed", "2"], folder)
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
