#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two ranks of `oche run` on two hosts, which are network namespaces with a veth pair between them:
mpirun starts the other rank through a command in place of ssh, and they talk over TCP. The results
are those of one process.

usage: ranks.py OCHE
"""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import netns
import pairs

NET = netns.NEAR.rsplit(".", 1)[0] + ".0/24"
SCENARIO = ["scenarios/incast.yaml", "-q", "--set", "duration=300us"]


def hash_of(folder):
    with sqlite3.connect(os.path.join(folder, "run.sqlite")) as results:
        return results.execute("SELECT value FROM info WHERE key LIKE '%hash%'").fetchall()


def bytes_sent():
    """By this host, over the veth pair: /sys shows another namespace's devices."""
    with open("/proc/net/dev", encoding="ascii") as devices:
        for line in devices:
            if line.strip().startswith("wire0:"):
                return int(line.split(":")[1].split()[8])
    return pairs.fail("no device wire0")


def main():
    oche = os.path.abspath(sys.argv[1])
    if shutil.which("mpirun") is None or not os.path.exists(
            os.path.join(os.path.dirname(oche), "liboche-mpi.so")):
        print("there is no mpirun, or the program is built without MPI")
        sys.exit(77)
    netns.enter()
    far = netns.Far()
    far.veth(1500)
    with tempfile.TemporaryDirectory() as folder:
        agent = os.path.join(folder, "agent")
        with open(agent, "w", encoding="utf-8") as script:
            script.write("#!/bin/sh\nshift\nexec " + " ".join(far.enter) + ' sh -c "$*"\n')
        os.chmod(agent, 0o755)
        one, two = os.path.join(folder, "one"), os.path.join(folder, "two")
        before = bytes_sent()
        for command in (
                [oche, "run", *SCENARIO, "-t", "1", "--out", one],
                ["mpirun", "--allow-run-as-root", "--host", f"{netns.NEAR},{netns.FAR}", "-np", "2",
                 "--mca", "plm_rsh_agent", agent, "--mca", "btl", "tcp,self",
                 "--mca", "pml", "ob1", "--mca", "btl_tcp_if_include", NET,
                 "--mca", "oob_tcp_if_include", NET, oche, "run", *SCENARIO, "--out", two]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            if done.returncode != 0:
                pairs.fail(*command, done.stdout, done.stderr)
        if not hash_of(one) or hash_of(one) != hash_of(two):
            pairs.fail("hashes", hash_of(one), hash_of(two))
        sent = bytes_sent() - before
        if sent < 100000:
            pairs.fail("only", sent, "bytes went to the other host")
        print(f"the same hash; {sent} bytes went to the other host")


main()
