#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche fault` and `oche exec --fail` on a program that writes all the time: it sees each fault as
verbs tell it, and goes on when the fault is over. Words that are wrong get one line and status 2;
other users, and programs with --view=off, are not reached.

usage: faults.py OCHE FAULT_CLIENT
"""
import json
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time

import pairs

OCHE, CLIENT = sys.argv[1], sys.argv[2]
# name of a status, and its number in enum ibv_wc_status
STATUSES = {"loc-len": 1, "loc-qp-op": 2, "loc-prot": 4, "flush": 5, "mw-bind": 6, "bad-resp": 7,
            "loc-access": 8, "rem-inv-req": 9, "rem-access": 10, "rem-op": 11, "retry-exc": 12,
            "rnr-retry-exc": 13, "rem-abort": 16, "fatal": 19, "resp-timeout": 20, "general": 21}
BAD = [(["loss=2"], "loss: 2 is out of range"), (["los=1"], "did you mean loss?"),
       (["loss=1", "for", "ever"], "a time is meant"), (["loss=1", "during", "3s"], '"for TIME"'),
       (["in"], "a word is missing"), (["192.0.2:loss=1"], "not an IP address"),
       (["kill-qp"], "a word is missing"), (["kill-qp", "x"], "a queue pair's number"),
       (["kill-qp", "0x1000000"], "a queue pair's number"), (["kill-qp", "all", "bad"], "a status"),
       (["fail", "reg_mr"], "which call?"), (["fail", "fly=1"], "no call that can fail"),
       (["port-up", "now"], "one word too many"), (["explode"], "a fault is meant"),
       (["loss=0.1,seed=3"], "seed: cannot be changed"), (["ecn=1KB..2KB"], "without rate"),
       (["loss", "1%"], "loss=VALUE is meant"), (["portdown"], "did you mean port-down?"),
       (["kill-qp", "all", "rem-acces"], "did you mean rem-access?"),
       (["queue=1MB"], "has no effect without rate"), ([""], "a word is empty"),
       (["\x1b[31m"], "\\x1b[31m")]


def must(truth, *what):
    if not truth:
        pairs.fail(*what)


class Program:
    """fault_client under oche exec, whose lines are waited for."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen(
            [OCHE, "exec", "--device", pairs.SERVER, f"--view={folder}", *options, "--", CLIENT],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def until(self, *patterns):
        """Returns when each pattern had its line, in any order: the program has two threads that
        print. The value is the line that came last.
        """
        end, seen, patterns = time.monotonic() + pairs.LIMIT, [], list(patterns)
        while time.monotonic() < end:
            try:
                seen.append(self.lines.get(timeout=1))
            except queue.Empty:
                if self.process.poll() is not None:
                    break
                continue
            patterns = [i for i in patterns if not re.fullmatch(i, seen[-1])]
            if not patterns:
                return seen[-1]
        return pairs.fail(patterns, "did not come; there came", seen)

    def say(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=pairs.LIMIT)


def fault(folder, *words, status=0):
    done = subprocess.run([OCHE, "fault", f"--view={folder}", *words], text=True, check=False,
                          capture_output=True, timeout=pairs.LIMIT)
    must(done.returncode == status, words, "status", done.returncode, done.stdout, done.stderr)
    return done


def reachable(folder):
    """The library's own thread makes the process known, a moment after the device is open."""
    end = time.monotonic() + pairs.LIMIT
    while subprocess.run([OCHE, "fault", f"--view={folder}", "all", "restore"], check=False,
                         capture_output=True, timeout=pairs.LIMIT).returncode != 0:
        must(time.monotonic() < end, "not reachable")


def errors(folder, program):
    for name, number in STATUSES.items():
        fault(folder, "all", "kill-qp", "all", name)
        program.until(f"wc {number} 17")
        program.until(r"ready \d+")
    fault(folder, "fault_client", "kill-qp", "all")  # without a status: retries exceeded
    program.until("wc 12 17")
    number = program.until(r"ready \d+").split()[1]
    fault(folder, pairs.SERVER, "kill-qp", hex(int(number)), "rem-op")
    program.until("wc 11 17")
    number = program.until(r"ready \d+").split()[1]
    done = fault(folder, "all", "kill-qp", "5", status=1)
    must("no queue pair 0x5" in done.stderr, done.stderr)
    for word, event in (("path-migrated", "path migrated"),
                        ("path-migration-failed", "path migration request error")):
        fault(folder, "all", word, number)
        program.until(f"event {event}")


def port(folder, program):
    fault(folder, "all", "port-down")
    program.until("event port error", "port down")
    fault(folder, "all", "loss=0")  # a change of links does not bring it up
    program.until("wc 12 2")  # no packet passes: retries are used up
    fault(folder, "all", "port-up")
    program.until("port active")
    fault(folder, "all", "port-down", "for", "300ms")
    program.until("port down")
    program.until("port active")


def calls(folder, program):
    program.say("reg")
    program.until("reg_mr 0")
    fault(folder, "all", "fail", "reg_mr=2:EAGAIN")
    for word in ("reg_mr 0", "reg_mr 11", "reg_mr 0"):
        program.say("reg")
        program.until(word)
    fault(folder, "all", "fail", "reg_mr=1..")
    program.say("reg")
    program.until("reg_mr 12")
    fault(folder, "all", "restore")
    program.say("reg")
    program.until("reg_mr 0")


def links(folder, program):
    """A partition lasts as long as it was asked to; JSON says when it began."""
    before = time.time_ns()
    done = fault(folder, "partition", pairs.SERVER, pairs.SERVER, "for", "3s", "--json")
    told = json.loads(done.stdout)["processes"]
    must(all(one["done"] and before <= one["at_ns"] <= time.time_ns() for one in told), told)
    must(told[0]["pid"] == program.process.pid and told[0]["device"] == pairs.SERVER, told)
    program.until("wc 12 [12]")
    fault(folder, "all", "restore")
    fault(folder, str(program.process.pid), "in", f"{pairs.SERVER}:loss=1")
    program.until("wc 12 [12]")
    fault(folder, "all", "restore")
    fault(folder, "all", "kill-qp", "all", "fatal")  # it works again, so this is the next error
    program.until("wc 19 17")
    program.until(r"ready \d+")


def listed(folder):
    """What is in force is shown: without words, of a program, in JSON. Asking leaves no line."""
    def says(text):
        for words in ((), ("all",), ("fault_client", "list")):
            said = fault(folder, *words).stdout
            must(re.search(f": {text}$", said, re.M), words, said, "is not", text)

    says("no faults")
    fault(folder, "all", "out", f"{pairs.CLIENT}:delay=5ms,loss=1%")
    says(f"link out {pairs.CLIENT}:loss=0.01,delay=5ms \\(changed: delay=5ms,loss=1%\\)")
    fault(folder, "all", "restore")
    fault(folder, "all", "delay=1ms", "for", "900s")
    says(r"link delay=1ms \(changed: delay=1ms for (900|8\d\d) s more\)")
    fault(folder, "all", "fail", "reg_mr=2..3,create_cq=1..")
    says("link delay=1ms .*; changed: fail reg_mr=2..3; changed: fail create_cq=1..")
    fault(folder, "all", "port-down", "for", "800s")
    says(r"link delay=1ms .*; the port is down for (800|7\d\d) s more; changed: fail reg_mr.*")
    told = json.loads(fault(folder, "--json").stdout)["processes"]
    must(told[0]["done"] and "the port is down" in told[0]["says"], told)
    fault(folder, "all", "restore")
    says("no faults")
    with tempfile.TemporaryDirectory() as other:
        must("on a device of oche" in fault(other, status=1).stderr, "nobody runs")


def no_room(folder):
    """Changes that all stay, as each ends earlier than the last: there is room for 16."""
    for i in range(17):
        fault(folder, "all", f"delay={i}us", "for", f"{9000 - 100 * i}s", status=i // 16)
    fault(folder, "all", "restore")


def refused(folder):
    for words, says in BAD:
        done = fault(folder, "all", *words, status=2)
        must(says in done.stderr and done.stderr.count("\n") == 1, words, done.stderr)
    must("no running program" in fault(folder, "nobody", "loss=0", status=1).stderr, "nobody")
    for words in (["all", "list", "it"], ["partition"], ["partition", "127.0.0.1"],
                  ["partition", "here", "there"]):
        must(fault(folder, *words, status=2).stderr.count("\n") == 1, words)
    with tempfile.TemporaryDirectory() as other:  # another user's, or --view=off: not in there
        fault(other, "all", "loss=1", status=1)


def failing_from_the_start(folder):
    for rule, says in (("open_device=1", "failed ibv_open_device 5"),
                       ("reg_mr=1", "failed ibv_reg_mr 12"),
                       ("create_cq=1..", "failed ibv_create_cq 12"),
                       ("alloc_pd=1:ENODEV", "failed ibv_alloc_pd 19"), ("create_qp=2", "gone 12"),
                       ("modify_qp=3", "gone .*"), ("post_send=4", "gone .*")):
        program = Program(folder, f"--fail={rule}")
        program.until(says)
        program.process.kill()
    program = Program(folder, "--fail=reg_mr=2..")  # `restore` ends what `fault` has changed
    reachable(folder)
    fault(folder, "all", "fail", "reg_mr=1:EAGAIN")
    for word in ("reg_mr 11", "reg_mr 12"):
        program.say("reg")
        program.until(word)
        fault(folder, "all", "restore")
    program.end()


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = Program(folder)
        program.until(r"ready \d+")
        reachable(folder)
        refused(folder)
        errors(folder, program)
        port(folder, program)
        calls(folder, program)
        links(folder, program)
        listed(folder)
        no_room(folder)
        fault(folder, "all", "device-fatal")
        # the receive is flushed; the pair's next try fails
        program.until("event local catastrophic error", "port Input/output error", r"gone \d+",
                      "receive 5")
        must("the device has vanished" in fault(folder).stdout, "in force")
        must("vanished" in fault(folder, "all", "restore", status=1).stderr, "for good")
        program.say("rest")
        program.until("open 5 rereg 5 resize 5 notify 5", "closed 0 0 0 0", "again 0")
        program.end()
        failing_from_the_start(folder)
    print("ok")


main()
