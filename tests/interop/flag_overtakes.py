#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program that polls a flag behind its data (flag_overtakes.c): it reads stale data where
packets take several paths and each is placed as it comes, and nowhere else; mended, it never does.

usage: flag_overtakes.py OCHE FLAG_OVERTAKES
"""
import itertools
import os
import re
import subprocess
import sys

import pairs

OCHE, PROGRAM = sys.argv[1], sys.argv[2]
TIMES = 10 if pairs.LONG else 3  # of each combination
ROUNDS = 500  # of a program that is right
PLENTY = 10000000  # rounds of one that is wrong, which ends long before
STALE = r"round \d+: the flag is set, but byte \d+ of 16384 is stale: \d+, not \d+\n"
AS_IT_COMES = ["--recovery=selective_repeat,memory=as_it_comes"]
SPRAY = ["--link-out=spray=4:by=3us"]
BUGS = [[], ["--two-writes"]]
MENDED = [["--mended=imm"], ["--mended=send"]]


def start(address, options, words, cpus=None):
    pin = None if cpus is None else lambda: os.sched_setaffinity(0, cpus)
    return subprocess.Popen([OCHE, "exec", "--device", address, *options, "--", PROGRAM, *words],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            preexec_fn=pin)


def run(receiver, sender, words, cpus=None):
    """(status of the receiver, status of the sender, what the receiver prints, all errors)"""
    port = str(pairs.free_port())
    hears = start(pairs.SERVER, receiver, [*words, port])
    pairs.wait_until_listening(int(port), hears)
    says = start(pairs.CLIENT, sender, [*words, port, pairs.SERVER], cpus)
    out, wrong = hears.communicate(timeout=pairs.LIMIT_ALL)
    said, also = says.communicate(timeout=pairs.LIMIT)
    return hears.returncode, says.returncode, out, said + wrong + also


def must_be_right(receiver, sender, words, cpus=None):
    got = run(receiver, sender, [*words, f"--rounds={ROUNDS}"], cpus)
    if got != (0, 0, f"{ROUNDS} rounds, all data was there\n", ""):
        pairs.fail(receiver, sender, words, got)


def must_be_stale(receiver, sender, words):
    status, other, out, wrong = run(receiver, sender, [*words, f"--rounds={PLENTY}"])
    if (status, other, wrong) != (1, 1, "") or not re.fullmatch(STALE, out):
        pairs.fail(receiver, sender, words, status, other, out, wrong)


def main():
    # The kernel itself may reorder what a process sends from two processors, if it is very busy.
    one = {min(os.sched_getaffinity(0))}
    for bug, _ in itertools.product(BUGS, range(TIMES)):
        must_be_right([], [], bug)
        must_be_right([], SPRAY, bug)
        must_be_right(AS_IT_COMES, [], bug, one)
        must_be_stale(AS_IT_COMES, SPRAY, bug)
        for mended in MENDED:
            for receiver, sender in itertools.product(([], AS_IT_COMES), ([], SPRAY)):
                must_be_right(receiver, sender, bug + mended)
    print("ok")


main()
