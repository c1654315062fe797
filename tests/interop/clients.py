#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs unmodified verbs programs, a server and a client of each, on the verbs library.

usage: clients.py OCHE [--table] [NAME…]

OCHE is the program, whose `exec` runs both sides, each on a loopback address of its own. A pair
works if both end with status 0 and what they print says so: a bandwidth or a latency above zero,
the data checked where the program can (pingpong -c). NAME: only those whose command has it.
--table prints the table of docs/clients.md. Status 77: the programs are not installed.
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import time

LIMIT = 90  # seconds for a pair; a loaded machine is slow
LIMIT_ALL = 300  # with -a, where perftest measures the clock 23 times
# Of this run alone: several may go on at a time.
NET = f"127.{33 + os.getpid() // 250 % 200}.{os.getpid() % 250}."
SERVER, CLIENT = NET + "1", NET + "2"

# (transport, operation, command, arguments after it). GID 0 is the device's address.
PINGPONGS = [
    ("RC", "SEND", "ibv_rc_pingpong", "-g 0 -c -n 300"),
    ("RC", "SEND", "ibv_rc_pingpong", "-g 0 -c -e -n 300"),
    ("RC", "SEND", "ibv_rc_pingpong", "-g 0 -c -N -n 300"),
    ("RC", "SEND", "ibv_rc_pingpong", "-g 0 -c -t -n 300"),
    ("RC", "SEND", "ibv_rc_pingpong", "-g 0 -c -m 4096 -s 100000 -n 50"),
    ("RC", "SEND", "ibv_rc_pingpong", "-g 0 -c -e -t -n 100"),
    ("UC", "SEND", "ibv_uc_pingpong", "-g 0 -c -n 300"),
    ("UD", "SEND", "ibv_ud_pingpong", "-g 0 -c -n 300"),
    ("UD", "SEND", "ibv_ud_pingpong", "-g 0 -c -e -n 300"),
    ("RC, SRQ", "SEND", "ibv_srq_pingpong", "-g 0 -c -n 300"),
    ("RC, SRQ", "SEND", "ibv_srq_pingpong", "-g 0 -c -e -q 4 -n 300"),
]
PERFTESTS = [
    ("RC", "WRITE", "ib_write_bw", "-n 200"),
    ("RC", "WRITE", "ib_write_bw", "-n 5 -a"),
    ("RC", "WRITE", "ib_write_bw", "-n 200 -b"),
    ("RC", "WRITE", "ib_write_bw", "-n 200 -q 16"),
    ("RC", "WRITE", "ib_write_bw", "-n 200 --report_gbits -m 1024"),
    ("UC", "WRITE", "ib_write_bw", "-n 200 -c UC"),
    ("RC", "WRITE", "ib_write_bw", "-n 200 -l 8 -s 1000"),
    ("RC", "WRITE", "ib_write_lat", "-n 50"),
    ("RC", "WRITE", "ib_write_lat", "-n 5 -a"),
    ("RC", "WRITE", "ib_write_lat", "-n 50 -I 200 -s 100"),
    ("UC", "WRITE", "ib_write_lat", "-n 50 -c UC"),
    ("RC", "SEND", "ib_send_bw", "-n 200"),
    ("RC", "SEND", "ib_send_bw", "-n 5 -a"),
    ("RC", "SEND", "ib_send_bw", "-n 200 -b"),
    ("RC", "SEND", "ib_send_bw", "-n 200 -e"),
    ("RC", "SEND", "ib_send_bw", "-n 200 -q 16"),
    ("RC", "SEND", "ib_send_lat", "-n 50"),
    ("RC", "SEND", "ib_send_lat", "-n 50 -e"),
    ("UC", "SEND", "ib_send_lat", "-n 50 -c UC"),
    ("UC", "SEND", "ib_send_bw", "-n 200 -c UC"),
    ("UD", "SEND", "ib_send_bw", "-n 200 -c UD"),
    ("UD", "SEND", "ib_send_lat", "-n 50 -c UD"),
    ("RC, SRQ", "SEND", "ib_send_bw", "-n 200 --use-srq"),
    ("RC, SRQ", "SEND", "ib_send_lat", "-n 50 --use-srq"),
    ("RC", "READ", "ib_read_bw", "-n 200"),
    ("RC", "READ", "ib_read_bw", "-n 5 -a"),
    ("RC", "READ", "ib_read_bw", "-n 200 -q 4"),
    ("RC", "READ", "ib_read_bw", "-n 200 -b"),
    ("RC", "READ", "ib_read_lat", "-n 50"),
    ("RC", "atomic", "ib_atomic_bw", "-n 200 -A FETCH_AND_ADD"),
    ("RC", "atomic", "ib_atomic_bw", "-n 200 -A CMP_AND_SWAP"),
    ("RC", "atomic", "ib_atomic_bw", "-n 200 -b -q 4"),
    ("RC", "atomic", "ib_atomic_lat", "-n 50 -A FETCH_AND_ADD"),
    ("RC", "atomic", "ib_atomic_lat", "-n 50 -A CMP_AND_SWAP"),
]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_listening(port, process):
    """Without connecting, which the server would take for its client."""
    end = time.time() + LIMIT
    wanted = f"{port:04X} "
    while time.time() < end and process.poll() is None:
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            with open(table, encoding="ascii") as rows:
                for row in rows:
                    fields = row.split()
                    if fields[1].endswith(":" + wanted.strip()) and fields[3] == "0A":
                        return
        time.sleep(0.02)


def run_pair(oche, command, arguments, server=SERVER, client=CLIENT):
    """(error or None, the client's output). Without addresses: as a user would, with no options."""
    port = free_port()
    limit = LIMIT_ALL if " -a" in arguments else LIMIT
    words = [command] + arguments.split() + ["-p", str(port)]
    on = [[oche, "exec"] + (["--device", address] if address else []) + ["--"]
          for address in (server, client)]
    serving = subprocess.Popen(on[0] + words, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    try:
        wait_until_listening(port, serving)
        calling = subprocess.run(on[1] + words + ["127.0.0.1"], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit,
                                 check=False)
        served = serving.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired as late:
        serving.kill()
        served = serving.communicate()[0]
        said = late.output or b""
        said = said.decode(errors="replace") if isinstance(said, bytes) else said
        return f"not done after {limit} s\nserver: {served}\nclient: {said}", ""
    if serving.returncode != 0 or calling.returncode != 0:
        return (f"status {serving.returncode} of the server, {calling.returncode} of the client\n"
                f"server: {served}\nclient: {calling.stdout}"), ""
    return None, calling.stdout


def judge(command, output):
    """What is wrong with the output, or None."""
    if command.endswith("pingpong"):
        if not re.search(r"^\d+ iters in ", output, re.M):
            return "no result"
        return "wrong data" if "invalid data" in output else None
    rows = [line.split() for line in output.split("\n") if re.match(r"\s*\d+\s+\d+\s+[\d.]+", line)]
    if not rows:
        return "no result"
    column = 4 if command.endswith("_bw") else 5  # messages, or the average
    for row in rows:
        if float(row[column]) <= 0:
            return f"nothing moved: {' '.join(row)}"
    return None


def check(oche, entry):
    transport, operation, command, arguments = entry
    error, output = run_pair(oche, command, arguments)
    if error is None:
        error = judge(command, output)
        if error is not None:
            error += "\n" + output
    return error


def lists(oche):
    """ibv_devices and ibv_devinfo, and a pair without options: what is wrong, or None."""
    for words in (["ibv_devices"], ["ibv_devinfo", "-v"]):
        done = subprocess.run([oche, "exec", "--device", SERVER, "--"] + words, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0 or "oche_lo" not in done.stdout:
            return f"{words[0]}: status {done.returncode}: {done.stdout}"
    if "::ffff:" + SERVER not in done.stdout or "RoCE v2" not in done.stdout:
        return f"ibv_devinfo: no GID of {SERVER}: {done.stdout}"
    return run_pair(oche, "ibv_rc_pingpong", "-g 0 -c -n 100", None, None)[0]


def main(arguments):
    oche = arguments[0]
    table = "--table" in arguments
    names = [name for name in arguments[1:] if not name.startswith("--")]
    entries = [entry for entry in PINGPONGS + PERFTESTS
               if not names or any(name in f"{entry[2]} {entry[3]}" for name in names)]
    missing = sorted({entry[2] for entry in entries if shutil.which(entry[2]) is None})
    if missing:
        print(f"not installed: {', '.join(missing)}")
        return 77
    failed = 0
    if not names:
        error = lists(oche)
        failed += error is not None
        print(error or "ibv_devices, ibv_devinfo, a pair without options: works\n", flush=True)
    if table:
        print("| client | operation | transport | command | |\n|---|---|---|---|---|")
    for entry in entries:
        transport, operation, command, options = entry
        started = time.time()
        error = check(oche, entry)
        failed += error is not None
        said = "works" if error is None else "does not work"
        if table:
            print(f"| {command} | {operation} | {transport} | `{command} {options}` | {said} |")
        else:
            print(f"{command} {options}: {said} ({time.time() - started:.1f} s)", flush=True)
        if error is not None:
            print(error, file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
