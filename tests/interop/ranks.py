#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two ranks of `oche run` on two hosts, which are network namespaces with a veth pair between them:
mpirun starts the other rank through a command in place of ssh, and they talk over TCP. Then two on
one host, whose MPI talks over our own verbs. The results are those of one process.

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


def check(command, expected, folder):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        pairs.fail(*command, done.stdout, done.stderr)
    if expected and hash_of(folder) != expected:
        pairs.fail(*command, "hashes", hash_of(folder), expected)


def on_two_hosts(oche, far, expected, folder):
    agent, out = os.path.join(folder, "agent"), os.path.join(folder, "two")
    with open(agent, "w", encoding="utf-8") as script:
        script.write("#!/bin/sh\nshift\nexec " + " ".join(far.enter) + ' sh -c "$*"\n')
    os.chmod(agent, 0o755)
    before = bytes_sent()
    check(["mpirun", "--host", f"{netns.NEAR},{netns.FAR}", "-np", "2",
           "--mca", "plm_rsh_agent", agent, "--mca", "btl", "tcp,self", "--mca", "pml", "ob1",
           "--mca", "btl_tcp_if_include", NET, "--mca", "oob_tcp_if_include", NET,
           oche, "run", *SCENARIO, "--out", out], expected, out)
    sent = bytes_sent() - before
    if sent < 100000:
        pairs.fail("only", sent, "bytes went to the other host")
    print(f"the same hash; {sent} bytes went to the other host")


def over_own_verbs(oche, expected, folder):
    out = os.path.join(folder, "own")
    if not os.path.exists(os.path.join(os.path.dirname(oche), "libibverbs.so.1")):
        return
    os.environ["UCX_TLS"] = "rc_verbs,ud_verbs,self"
    capture = os.path.join(folder, "own.pcap")
    check([oche, "exec", "--device", "127.0.0.1", "--files", "--capture", capture, "--",
           "mpirun", "--oversubscribe", "-np", "2", "--mca", "pml", "ucx", "--mca", "osc", "ucx",
           oche, "run", *SCENARIO, "--out", out], expected, out)
    sent = os.path.getsize(capture.replace(".pcap", "-127.0.0.1.pcap"))
    if sent < 100000:
        pairs.fail("only", sent, "bytes are in the capture of our verbs")
    print(f"the same hash over our own verbs; {sent} bytes captured")


def main():
    oche = os.path.abspath(sys.argv[1])
    if shutil.which("mpirun") is None or not os.path.exists(
            os.path.join(os.path.dirname(oche), "liboche-mpi.so")):
        print("there is no mpirun, or the program is built without MPI")
        sys.exit(77)
    netns.enter()
    far = netns.Far()
    far.veth(1500)
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory() as folder:
        one = os.path.join(folder, "one")
        check([oche, "run", *SCENARIO, "-t", "1", "--out", one], None, one)
        expected = hash_of(one)
        if not expected:
            pairs.fail("no hash in", one)
        on_two_hosts(oche, far, expected, folder)
        over_own_verbs(oche, expected, folder)


main()
