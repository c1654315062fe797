#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/bench-tcp: what it reads in perftest's output (as it really prints it), what it refuses,
its verdicts, and that it measures everything, or says what failed.

Environment: BUILD, SOURCE.
"""
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

from checks import must, run_program

BENCH = os.path.join(os.environ["SOURCE"], "tools", "bench-tcp")
BUILD = os.environ["BUILD"]
TCP = os.path.join(BUILD, "bench", "bench_wire_tcp")
ADDRESS = f"127.76.{os.getpid() // 250 % 200}.{os.getpid() % 250 + 1}"
READ_BW = """\
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      51300            0.00               13.42                0.025590
"""
READ_LAT = """\
 #bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] t_stdev[usec] 99% 99.9%
 2048    10000          3.95        86.67        6.88   \t   8.07       \t2.1 \t\t9.1 \t\t31.5
"""
NUMBER = r"\d+\.\d\d"


def load():
    loader = importlib.machinery.SourceFileLoader("bench_tcp", BENCH)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_tcp", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def reads(bench):
    options = bench.arguments_of([BUILD])
    must((options.runs, options.seconds, options.rounds) == (5, 2, 10000), "defaults", options)
    bench.pair_used = lambda *_: (READ_BW, 1, 1)
    must(bench.read_gbps(options, 65536) == 13.42, "throughput")
    bench.pair_used = lambda *_: (READ_LAT, 1, 1)
    must(bench.rdma_ping(options, "read") == [8.07, 6.88], "mean and median")
    # 5 messages: the start alone, .2 s of the client. 100 MB take .6 s more, 6000 ns per KiB.
    counts = []

    def used(_, command, *__):
        counts.append(int(command[command.index("-n") + 1]))
        return ("", 0.2, 0.01) if counts[-1] == 5 else ("", 0.8, 0.03)
    bench.pair_used = used
    client, server = bench.read_costs(options, 4096, 0.4)
    kib = (counts[1] - 5) * 4
    must(counts[0] == 5 and abs(counts[1] * 4096 - 1e8) < 4096, "messages", counts)
    must(abs(client - 0.6e9 / kib) < 1 and abs(server - 0.02e9 / kib) < 1, client, server)
    bench.tcp = lambda *_: "stream 11.785 Gbit/s, 59.75 373.52 ns/KiB\n"
    must(bench.tcp_stream(options, 4096) == [11.785, 59.75, 373.52], "stream")
    bench.tcp = lambda *_: "ping 2.870 2.454 us\n"
    must(bench.tcp_ping(options, "sleep") == [2.87, 2.454], "ping")
    for bench.tcp in (lambda *_: "nothing", lambda *_: ""):
        try:
            bench.tcp_ping(options, "sleep")
        except bench.Failed:
            continue
        must(False, "a value of nothing")


def judges(bench):
    paper = {("gbps", "rdma", 4 << 20): 38, ("gbps", "tcp", 4 << 20): 38,
             ("gbps", "tcp", 4 << 10): 20, ("ns", "rdma client", 4 << 20): 90,
             ("ns", "rdma server", 4 << 20): 1, ("ns", "tcp receiver", 4 << 20): 650,
             ("mean", "tcp sleep"): 25.4, ("mean", "read"): 1.7, ("mean", "write"): 1.7,
             ("mean", "send"): 2.8}
    for what, _, least, most, side, compute in bench.CLAIMS:
        must(bench.verdict(compute(paper), least, most, side) == "met", what, "in the paper")
    must(bench.verdict(2, 3, 4, 1) == "not met, but on the same side of 1", "above 1")
    must(bench.verdict(0.9, 3, 4, 1) == "not met" == bench.verdict(2, 0, 0.1, -1), "other side")


def refuses():
    for words in (["--runs", "0"], ["--seconds", "31"], ["--limit", "0"], ["--runs", "many"],
                  ["--address", "localhost"], ["/nowhere"]):
        done = run_program(sys.executable, BENCH, *words)
        must(done.returncode == 2 and not done.stdout, words, done)
    for words in ([], ["stream"], ["stream", "::1", "1", "1", "1"],
                  ["stream", ADDRESS, "0", "1", "1"], ["stream", ADDRESS, "1", "65", "1"],
                  ["ping", ADDRESS, "1", "-1", "spin"], ["ping", ADDRESS, "1", "1", "wait"]):
        done = run_program(TCP, *words)
        must(done.returncode == 2 and not done.stdout and done.stderr, words, done)


def measures():
    with tempfile.TemporaryDirectory() as empty:
        done = run_program(sys.executable, BENCH, "--quick", BUILD,
                           env=dict(os.environ, PATH=empty))
        must(done.returncode == 1 and "not installed: ib_read_bw" in done.stderr, done)
    done = run_program(sys.executable, BENCH, "--quick", "--address", ADDRESS, BUILD, timeout=550)
    must(done.returncode == 0, done)
    for line, count in ((rf"^\| (\d+ [KM]iB) (\| {NUMBER} ){{2}}(\| \d+ ){{4}}\|$", 6),
                        (rf"^\| (TCP|RDMA)[^|]* \| {NUMBER} \| {NUMBER} \| [\d.]* ?\|$", 5),
                        (rf"^\| [^|]+ \| {NUMBER} \| [^|]+ \| (not )?met[^|]* \|$", 8)):
        must(len(re.findall(line, done.stdout, re.M)) == count, line, done.stdout, done.stderr)
    # An address that this host lacks: each measurement fails, and says so.
    done = run_program(sys.executable, BENCH, "--quick", "--limit", "5", "--address", "192.0.2.77",
                       BUILD, timeout=550)
    must(done.returncode == 1 and done.stderr.count("run 1: ") >= 20 and
         len(re.findall(r"\| failed \|", done.stdout)) > 8, done)


if subprocess.run(["which", "ib_read_bw"], capture_output=True, check=False).returncode != 0:
    print("perftest is not installed")
    sys.exit(77)
reads(load())
judges(load())
refuses()
measures()
print("ok")
