#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server and a client on one host, both on the host's first address, without options: several
pairs at a time, and every OCHE_POLL. And `oche exec --poll` with a word that it does not know.
Status 77: ibv_rc_pingpong is not installed.
"""
import os
import shutil
import socket
import subprocess
import sys
import time

from checks import fail, run_program

OCHE = os.environ["OCHE"]
PROGRAM = "ibv_rc_pingpong"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listening(port):
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table) as lines:
            for line in lines:
                fields = line.split()
                if fields[1].endswith(f":{port:04X}") and fields[3] == "0A":
                    return True
    return False


def start(options, port, *server):
    command = [OCHE, "exec", *options, "--", PROGRAM, "-g", "0", "-c", "-n", "200", "-p",
               str(port), *server]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def pairs(count, *options):
    ports = [free_port() for _ in range(count)]
    running = [start(options, port) for port in ports]
    end = time.time() + 60
    while not all(listening(port) for port in ports):
        if time.time() > end or any(one.poll() is not None for one in running):
            fail("servers do not start:", [one.communicate()[0] for one in running])
        time.sleep(0.05)
    running += [start(options, port, "127.0.0.1") for port in ports]
    gids = set()
    for one in running:
        said = one.communicate(timeout=100)[0]
        if one.returncode != 0 or "200 iters" not in said or "in use" in said:
            fail(options, said)
        gids |= {line.split("GID")[1] for line in said.splitlines() if "address" in line}
    print(count, "pairs", *options, "GIDs", *gids)
    if len(gids) != 1:
        fail("more than one address:", gids)


def main():
    if shutil.which(PROGRAM) is None:
        print(PROGRAM, "is not installed")
        sys.exit(77)
    pairs(3)
    for how in ("busy", "adaptive", "sleep"):
        pairs(1, "--poll", how)
    wrong = run_program(OCHE, "exec", "--poll", "fast", "--", "true")
    if wrong.returncode != 2 or wrong.stderr.count("\n") != 1 or "sleep" not in wrong.stderr:
        fail("--poll fast:", wrong)


if __name__ == "__main__":
    main()
