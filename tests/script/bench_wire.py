#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/bench-wire: what it reads in other programs' output (as they really print it), what it
refuses, and that a program which fails, hangs or is missing costs its row and leaves nothing.
"""
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time

from checks import must, run_program

BENCH = os.path.join(os.environ["SOURCE"], "tools", "bench-wire")
BUILD = os.environ["BUILD"]
IB_WRITE_BW = """\
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      145890           0.00               38.24                0.072939
---------------------------------------------------------------------------------------
"""
IB_WRITE_LAT = """\
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]
 8       10000          3.95           86.67        6.88               8.07          2.1   9.1  31.5
"""
UCX_BW = """\
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |
[thread 0]             15043     14.214  1684.832   310.924       37.10     201.01         594
Final:                 20000     29.719    91.623   285.211      682.14     219.14       10914
"""
UCX_LAT = "                      2000      6.930     7.631     7.632        1.00       1.00   13\n"
FABRIC = """\
bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
{}     1k      =1k      1.9g        9.63s    217.83    4813.69       0.00
"""
IPERF = '{"end": {"sum_sent": {"bits_per_second": 9e9}, "sum_received": {"bits_per_second": 8e9}}}'
LIMIT = "20"  # seconds; other tests run at the same time
NEEDED = ("setpriv", "cat", "sh", "ib_write_bw", "ib_write_lat")


def load():
    loader = importlib.machinery.SourceFileLoader("bench_wire", BENCH)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_wire", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def reads(bench):
    options = bench.arguments_of([BUILD])
    must((options.runs, options.seconds) == (5, 2), "defaults", options)

    def near(value, wanted):
        must(abs(value - wanted) < 1e-6 * wanted, value, "is not", wanted)

    for said, measure, wanted in (
            (IB_WRITE_BW, lambda: bench.perftest(options, "ib_write_bw", 65536), 38.24),
            (IB_WRITE_LAT, lambda: bench.perftest(options, "ib_write_lat", 8), 6.88),
            (UCX_BW, lambda: bench.ucx(options, "ucp_put_bw", 65536), 219.14 * 8 * 2**20 / 1e9),
            (UCX_LAT, lambda: bench.ucx(options, "ucp_put_lat", 8), 6.93),
            (FABRIC.format("1m"), lambda: bench.libfabric(options, 1 << 20), 217.83 * 8 / 1000),
            (FABRIC.format("8 "), lambda: bench.libfabric(options, 8), 4813.69),
            (IPERF, lambda: bench.iperf(options), 8.0)):
        bench.pair = lambda *_: said
        near(measure(), wanted)
        bench.pair = lambda *_: "nothing that it knows\n"
        try:
            measure()
        except bench.Failed:
            continue
        must(False, "a value of nothing")


def refuses():
    for words in (["--runs", "0"], ["--seconds", "31"], ["--runs", "many"], ["/nowhere"]):
        done = run_program(BENCH, *words)
        must(done.returncode == 2 and not done.stdout, words, done)


def left(folder):
    """Processes of the made-up programs."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                words = file.read().replace("\0", " ")
        except OSError:
            continue
        if folder in words and "bench_wire.py" not in words:
            found.append(words)
    return found


def runs_with_what_there_is():
    """perftest's two alone are there; iperf3 says no, ucx_perftest's client does not end."""
    with tempfile.TemporaryDirectory() as folder:
        for name in NEEDED:
            path = subprocess.run(["sh", "-c", f"command -v {name}"], text=True, check=True,
                                  capture_output=True).stdout.strip()
            os.symlink(path, os.path.join(folder, name))
        for name, text in (("iperf3", "echo 'iperf3: error - no'; exit 1"),
                           ("ucx_perftest", f"exec {sys.executable} {folder}/stays \"$@\"")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\n{text}\n")
            os.chmod(os.path.join(folder, name), 0o755)
        with open(os.path.join(folder, "stays"), "w", encoding="utf-8") as file:
            file.write("import socket, sys, time\n"
                       "if '127.0.0.1' not in sys.argv:\n"
                       "    listening = socket.socket()\n"
                       "    port = int(sys.argv[sys.argv.index('-p') + 1])\n"
                       "    listening.bind(('127.0.0.1', port))\n"
                       "    listening.listen()\n"
                       "time.sleep(600)\n")
        done = run_program(sys.executable, BENCH, "--quick", "--limit", LIMIT, BUILD, timeout=350,
                           env=dict(os.environ, PATH=folder))
        must(done.returncode == 1, done)
        for line in (r"^\d{4}-\d\d-\d\d, \d+ cores.*1 run of each",
                     r"^\| ib_write_bw, 64 KiB \| \d+\.\d\d Gbit/s \| ",
                     r"^\| ib_write_lat, 8 B \| \d", r"^\| ib_write_lat, 8 B, UC \| \d",
                     r"^\| ib_write_bw, 64 KiB, 16 queue pairs \| \d",
                     r"^- ib_write_lat, 8 B, UC: \d+\.\d\d of raw UDP ping-pong.*: (not )?met$",
                     r"^\| iperf3, TCP \| failed \| \|$",
                     r"^\| UCX over TCP, put, 64 KiB \| failed \| \|$",
                     r"^- ib_write_bw, 64 KiB: \d\.\d\d of raw UDP.*: (not )?met$",
                     r"^- ib_write_bw, 64 KiB beside UCX over TCP, put, 64 KiB: not measured$"):
            must(re.search(line, done.stdout, re.M), line, done.stdout, done.stderr)
        for line in (r"not installed, so not measured: fi_pingpong, ib_read_bw, ib_send_bw, "
                     r"ib_send_lat \(Debian: libfabric-bin perftest\)",
                     r"iperf3, TCP, run 1: iperf3 -s .*: iperf3: error - no",
                     rf"UCX over TCP, put, 8 B, run 1: not done after {LIMIT} s"):
            must(re.search(line, done.stderr), line, done.stderr)
        end = time.monotonic() + 10
        while left(folder) and time.monotonic() < end:
            time.sleep(0.05)
        must(not left(folder), "left behind:", left(folder))


def alone():
    """Begins again in a network namespace where that can be: other tests have devices at 127.0.0.1,
    and end them as they like."""
    again = ["sh", "-c", 'ip link set lo up && exec "$0" "$@"', sys.executable, *sys.argv, "alone"]
    if sys.argv[1:] != ["alone"] and \
            subprocess.run(["unshare", "-Urn", *again[:2], "ip link set lo up"], check=False,
                           stderr=subprocess.DEVNULL).returncode == 0:
        os.execvp("unshare", ["unshare", "-Urn", *again])


alone()
reads(load())
refuses()
runs_with_what_there_is()
print("ok")
