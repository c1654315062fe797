#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that end right after their last receive or send and destroy nothing, in all ways that
there are. The peer has to get what an adapter would have sent by then: ACKs, responses of READs,
messages that were posted. No end may take long.

usage: exits.py OCHE PROGRAM [HOW=TIMES …], which is exits.c's. OCHE_LONG=yes: 100 times each.
"""
import os
import select
import signal
import subprocess
import sys
import time

import pairs

INT, TERM, KILL = -signal.SIGINT, -signal.SIGTERM, -signal.SIGKILL
# Way to end → status. POSTED: the program ends this way without a ping-pong first.
WAYS = {
    "return": 0, "exit": 0, "thread": 0, "beside": 0, "handler": 0, "quick_exit": 0, "_exit": 0,
    "_Exit": 0, "term": TERM, "int": INT, "again": TERM, "killed": TERM, "kill-later": KILL,
    "timer": -signal.SIGALRM, "timer-exit": 0, "timer-_exit": 0,
    "execv": 0, "execve": 0, "execvp": 0, "execl": 0, "execlp": 0, "execle": 0, "no-exec": 0,
    "fork": 0, "vfork": 0, "gone": 0, "close": 0, "unread": 0, "unread-term": TERM,
    "unread-destroy": 0,
}
POSTED = {"unmapped": 0, "posted-rc": 0, "posted-uc": 0, "posted-ud": 0, "posted-ud-_exit": 0,
          "posted-ud-destroy": 0}
ONLY_LONG = ["execve", "execvp", "execlp", "execle", "_Exit"]  # as others
# Without the library of oche exec: only the folder of libraries is in use.
BY_HAND = ["return", "thread", "quick_exit", "term", "killed", "posted-ud"]
# A busy machine may keep the server from sending all before the client ends, the client from ending
# before the library's own thread reads what is unmapped, and that thread from sending an ACK.
TRIES = {"unread": 4, "unread-term": 4, "unread-destroy": 4, "unmapped": 4, "kill-later": 4}
LONGEST = 20  # seconds that a client may take on a busy machine; it takes 0.1
SHORTEST = 2.5  # seconds that the shortest of several may take: ends wait 5 where all else fails


def start(oche, words, address, by_hand=False):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    if not by_hand:
        return subprocess.Popen([oche, "exec", "--device", address, "--", *words], **pipes)
    environment = dict(os.environ, OCHE_DEVICE=address, LD_LIBRARY_PATH=os.path.dirname(oche))
    return subprocess.Popen(words, env=environment, **pipes)


def line_of(process):
    if not select.select([process.stdout], [], [], pairs.LIMIT)[0]:
        return "nothing"
    return process.stdout.readline().strip()


class Server:
    def __init__(self, oche, program):
        self.port = pairs.free_port()
        self.process = start(oche, [program, "serve", str(self.port)], pairs.SERVER)
        if line_of(self.process) != "listens":
            pairs.fail("the server does not start")

    def end(self):
        self.process.stdin.close()
        if self.process.wait(LONGEST) != 0:
            pairs.fail("status of the server:", self.process.returncode)


def one(oche, program, server, how, rounds, by_hand):
    """Returns what went wrong, or None, and how long the client took."""
    begun = time.time()
    client = start(oche, [program, how, str(server.port), str(rounds)], pairs.CLIENT, by_hand)
    said = line_of(server.process)
    try:
        client.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        client.kill()
        client.communicate()
        return "it does not end", LONGEST
    if client.returncode != {**WAYS, **POSTED, "kill": KILL}[how]:
        return f"status {client.returncode}", LONGEST
    return None if said == "ok" else said, time.time() - begun


def many(oche, program, server, how, rounds, times, by_hand=False):
    """Returns how often it was right."""
    right, longest, shortest, wrong = 0, 0, LONGEST, None
    for _ in range(times):
        for _ in range(TRIES.get(how, 1)):
            error, took = one(oche, program, server, how, rounds, by_hand)
            if error is None:
                break
        longest, shortest = max(longest, took), min(shortest, took)
        right += error is None
        wrong = wrong or error
    if right > 0 and shortest > SHORTEST:
        right, wrong = 0, f"takes {shortest:.2f} s"
    print(f"{how + (' by hand' if by_hand else ''):20} rounds {rounds:4}: {right} of {times}, "
          f"longest {longest:.2f} s" + (f": {wrong}" if wrong else ""), flush=True)
    return right == times


def main(arguments):
    oche, program = map(os.path.abspath, arguments[:2])
    server = Server(oche, program)
    if len(arguments) > 2:
        for how, times in (word.split("=") for word in arguments[2:]):
            for rounds in (0,) if how in POSTED else (1, 1000):
                many(oche, program, server, how, rounds, int(times))
        return
    times = 100 if pairs.LONG else 2
    whole = True
    for how in WAYS:
        if pairs.LONG or how not in ONLY_LONG:
            for rounds in (1, 1000):
                whole &= many(oche, program, server, how, rounds, times)
    for how in POSTED:
        whole &= many(oche, program, server, how, 0, times)
    for how in BY_HAND:
        whole &= many(oche, program, server, how, 0 if how in POSTED else 1, times, by_hand=True)
    server.end()
    if not whole:
        pairs.fail("peers lack what was due")
    print("ok")


if __name__ == "__main__":
    main(sys.argv[1:])
