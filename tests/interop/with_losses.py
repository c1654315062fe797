#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs other projects' tests and programs twice: as they are, and with OCHE_LINK_OUT=loss=0.1%, so
that each direction loses a packet of a thousand. The scripts beside this one run them.

usage: with_losses.py BUILD [--table] [--link=LINK] [NAME…]

NAME: only projects with it in their name. --link: another link than loss=0.1%. What does not work
goes to standard error, as its script says it. --table changes nothing: the rows are those of
docs/clients.md. Status 1: something does not work without losses; with losses it is a result.
Status 77: nothing of it is installed.
"""
import os
import re
import subprocess
import sys

import pairs

HERE = os.path.dirname(os.path.abspath(__file__))
LINK = "loss=0.1%"
# A project, what of it runs, and the script.
PROJECTS = [
    ("rdma-core 44", "all tests of pyverbs", "pyverbs {build}"),
    ("rdma-core 44, perftest 4.5", "pairs", "clients {oche} --table"),
    ("rdmacm-utils 44, perftest, qperf, fio 3.33, librpma 1.2", "pairs that connect by address",
     "rdma_cm {oche} --table --rpma={rpma}"),
    ("UCX 1.13", "all tests of ucx_perftest", "ucx_tests {oche} --table"),
    ("UCX 1.13", "its io_demo", "applications {oche} --table io_demo"),
    ("libfabric 1.17", "fi_pingpong, MPI over it", "libfabric {oche} --table"),
    ("Open MPI 4.1, MPICH 4.0", "messages and one-sided operations",
     "applications {oche} --table PROGRAM mpi_data ringtest"),
    ("HPCC 1.5", "its seven benchmarks", "applications {oche} --table hpcc"),
    ("Gloo of 2022-05-18", "allreduce and broadcast", "applications {oche} --table gloo_data"),
    ("libiscsi 1.19, tgt 1.0.85, qemu 7.2", "programs, two of libiscsi's tests",
     "iser {oche} --table"),
    ("qemu 7.2", "migration of a virtual machine", "migration {oche} --table"),
]


def outcomes(said):
    """Returns how many worked, and how many there were."""
    found = re.search(r"(?m)^(\d+) passed, (\d+) wrong$", said)
    if found is not None:
        return int(found[1]), int(found[1]) + int(found[2])
    worked, total = 0, 0
    for row in said.splitlines():
        for cell in row.split("|") if row.startswith("|") else []:
            counts = re.fullmatch(r" (?:(\d+) work|(\d+) of (\d+)) ", cell)
            if counts is not None:
                worked += int(counts[1] or counts[2])
                total += int(counts[1] or counts[3])
            elif cell in (" works ", " refused ", " does not work "):
                worked += cell != " does not work "
                total += 1
    return worked, total


def run(script, build, link):
    """Returns the table's cell, whether all worked, and False in place of both without the
    programs."""
    name, *arguments = script.format(build=build, oche=f"{build}/oche",
                                     rpma=f"{build}/tests/interop/rpma").split()
    environment = {key: value for key, value in os.environ.items() if key != "OCHE_LINK_OUT"}
    if link is not None:
        environment["OCHE_LINK_OUT"] = link
    done = subprocess.run([sys.executable, f"{HERE}/{name}.py", *arguments], env=environment,
                          stdout=subprocess.PIPE, text=True, errors="replace", check=False)
    worked, total = outcomes(done.stdout)
    if done.returncode == 77 and total == 0:
        return "", False
    if total == 0:
        return f"status {done.returncode}", False
    return f"{total} work" if worked == total else f"{worked} of {total}", worked == total


def main(arguments):
    build = os.path.abspath(arguments[0])
    names = [name for name in arguments[1:] if not name.startswith("--")]
    link = next((name[7:] for name in arguments if name.startswith("--link=")), LINK)
    projects = [row for row in PROJECTS if not names or any(name in row[0] for name in names)]
    if not projects:
        pairs.fail("no such project; there are:", "\n".join(row[0] for row in PROJECTS))
    print(f"| project | tests | script | as it is | {link} |\n|---|---|---|---|---|", flush=True)
    failed = present = 0
    for project, what, script in projects:
        clean, good = run(script, build, None)
        if clean == "":
            print(f"not installed: {project}", file=sys.stderr, flush=True)
            continue
        present += 1
        failed += not good
        lossy, _ = run(script, build, link)
        shown = re.sub(r" ?(\{\w+\}|--\S+)", "", script).split(" ", 1)
        shown = f"`{shown[0]}.py`" + (f" {shown[1]}" if len(shown) > 1 else "")
        print(f"| {project} | {what} | {shown} | {clean} | {lossy} |", flush=True)
    if present == 0:
        return 77
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
