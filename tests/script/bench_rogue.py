#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that tools/bench-rogue prints its tables and a verdict for each claim, whatever these say.

Environment: BUILD, SOURCE.
"""
import os
import re
import sys

from checks import must, run_program

BENCH = os.path.join(os.environ["SOURCE"], "tools", "bench-rogue")


def run(*words):
    return run_program(sys.executable, BENCH, *words, timeout=500)


def rows(said, begins):
    return len(re.findall(rf"^{begins}", said, re.M))


def main():
    build = os.environ["BUILD"]
    for words, says in ((["latency"], "invalid choice"),
                        (["rtt", "--rate", "0", build], "1 to 400000"),
                        (["cpu", "/nowhere"], "/nowhere: there is no oche")):
        done = run(*words)
        must(done.returncode == 2 and says in done.stderr and done.stdout == "", words, done)
    done = run("cpu", "--quick", build)
    must(done.returncode == 0, done)
    number = r"\d+\.\d+"
    must(rows(done.stdout, rf"\| (READ, RC|WRITE, UC), \d+ KiB \| .*{number} \|$") == 13 and
         rows(done.stdout, rf"\| (Fig \d|own) \| .* \| {number} \| {number} \|") == 10,
         done.stdout)
    done = run("rtt", "--quick", build)
    if done.returncode == 77:
        print(done.stdout)
        return 77
    must(done.returncode == 0, done)
    three = r"-?\d+\.\d, -?\d+\.\d, -?\d+\.\d"
    must(rows(done.stdout, rf"\| (READ|WRITE), (UC|RC) \|.*{three}") == 3, done.stdout)
    must(rows(done.stdout, r"- .*: -?[\dinf.]+, .* to .*: (not )?met$") == 15, done.stdout)
    return 0


sys.exit(main())
