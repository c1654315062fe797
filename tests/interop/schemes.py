#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unmodified clients with every congestion control and every loss recovery of `oche exec`, by
option and by variable; what the devices have counted; options that are wrong.

usage: schemes.py OCHE [--table]

--table prints the table of docs/clients.md. Status 77: the programs are not installed.
"""
import itertools
import os
import re
import subprocess
import sys

import pairs

CLIENTS = ["ibv_rc_pingpong -g 0 -c -n 200", "ib_write_bw -n 200", "ib_send_lat -n 50",
           "ib_read_bw -n 200", "ib_atomic_bw -n 200", "ib_send_bw -n 200 -c UD"]
SHORT = [0, 3, 5]  # without --table and OCHE_LONG=yes: a WRITE, and one of these in turn
# Parameters where the defaults are for hardware: docs/wire.md.
PARAMETERS = {"timely": "t_low=5ms,t_high=50ms,min_rtt=2ms",
              "timely_patched": "t_low=5ms,t_high=50ms,min_rtt=2ms",
              "dart": "base_rtt=5ms",
              "selective_repeat": "rto_low=5ms,rto_high=20ms"}
# Wrong settings, and a part of the error that each must give.
WRONG = [("--cc", "OCHE_CC", "dqcn", "choose one of none, cubic, dcqcn"),
         ("--cc", "OCHE_CC", "rcp", "needs switches"),
         ("--cc", "OCHE_CC", "hpcc", "needs switches"),
         ("--cc", "OCHE_CC", "timely,t_lo=5ms", "did you mean t_low?"),
         ("--cc", "OCHE_CC", "timely,t_low=5", "unit"),
         ("--recovery", "OCHE_RECOVERY", "go_back_m", "there are go_back_0"),
         ("--recovery", "OCHE_RECOVERY", "selective_repeat,window=5000", "window"),
         ("--line-rate", "OCHE_LINE_RATE", "10", "unit")]


def names_of(oche, what):
    said = subprocess.run([oche, "exec", "--help"], capture_output=True, text=True,
                          check=True).stdout
    return re.search(what + r": ([\w, \n]+)\.", said).group(1).replace("\n", " ").split(", ")


def wrong_options(oche):
    for option, variable, text, says in WRONG:
        clean = {name: value for name, value in os.environ.items() if name[:5] != "OCHE_"}
        for words, environment in (([f"{option}={text}"], clean),
                                   ([], {**clean, variable: text})):
            done = subprocess.run([oche, "exec", *words, "--", "true"], env=environment,
                                  capture_output=True, text=True, check=False)
            if done.returncode != 2 or done.stderr.count("\n") != 1 or says not in done.stderr:
                pairs.fail(option, variable, text, done)
        print(f"{option}={text}: {done.stderr}", end="")


def one(oche, options, client, scheme, **environment):
    """Returns what is wrong, or None."""
    command, arguments = client.split(" ", 1)
    sides = [pairs.Side(address, list(options) + ["--stats"], **environment)
             for address in (pairs.SERVER, pairs.CLIENT)]
    done = pairs.run(oche, command, arguments, *sides)
    if done.error is not None:
        return done.error
    for said in (done.served, done.called):
        if f"congestion control {scheme}:" not in said and f"recovery {scheme}:" not in said:
            return f"the counters are not of {scheme}: {said[-1500:]}"
    stamped = sum(map(int, re.findall(r"stamped (\d+)", done.served + done.called)))
    # Each ACK of a data receiver carries a share; atomics and datagrams have none.
    if scheme.startswith("dart") and "write" in command and stamped == 0:
        return f"no ACK carried a share: {done.served}{done.called}"
    return None


def main(arguments):
    oche, table = arguments[0], "--table" in arguments
    pairs.need("ibv_rc_pingpong", "ib_write_bw")
    clients = CLIENTS if table or pairs.LONG else []
    turn = itertools.cycle(SHORT)
    failed = 0
    if table:
        print("| | | " + " | ".join(f"`{client}`" for client in clients) + " |")
        print("|---|---|" + "---|" * len(clients))
    else:
        wrong_options(oche)
    for what, option in (("Congestion control", "--cc"), ("Recovery", "--recovery")):
        for name in names_of(oche, what):
            scheme = ",".join(filter(None, (name, PARAMETERS.get(name))))
            cells = []
            for client in clients or [CLIENTS[1], CLIENTS[next(turn)]]:
                error = one(oche, [option, scheme], client, scheme)
                failed += error is not None
                cells.append("works" if error is None else "does not work")
                if error is not None:
                    print(f"{option} {scheme}: {client}: {error}", file=sys.stderr, flush=True)
            if table:
                print(f"| {option} | {scheme} | " + " | ".join(cells) + " |", flush=True)
            else:
                print(f"{option} {scheme}: {', '.join(cells)}", flush=True)
    error = one(oche, [], CLIENTS[1], "dcqcn", OCHE_CC="dcqcn")
    if error is not None:
        print("OCHE_CC=dcqcn:", error, file=sys.stderr)
    sys.exit(1 if failed or error is not None else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
