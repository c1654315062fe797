#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unmodified clients over paths: IPv6 on one host; two hosts with a link between them (namespaces,
veth) over IPv4 and IPv6 with an MTU of 1500 and of 9000; a link that loses, duplicates, reorders
and damages packets, with each loss recovery; a link that marks CE, where DCQCN must slow down.

usage: paths.py OCHE PATH [--table] [veth] [faults] [marks]

PATH: the program tests/interop/path.c. Without a name: all three. --table prints the tables of
docs/clients.md; without it, and without OCHE_LONG=yes, the worse of two bad links stands for both,
each MTU is tried with one version of IP, with every second client, as is ::1, and long
messages with two of the recoveries; on the bad link who waits spins with the last of these alone.
Status 77: not possible here.
"""
import re
import sys

import netns
import pairs

CLIENTS = [
    "ibv_rc_pingpong -g 0 -c -n 200", "ibv_uc_pingpong -g 0 -c -n 200",
    "ibv_ud_pingpong -g 0 -c -n 200 -s 1000", "ibv_srq_pingpong -g 0 -c -n 200",
    "ib_write_bw -n 200", "ib_read_bw -n 200", "ib_send_lat -n 50", "ib_atomic_bw -n 200",
]
RECOVERY = ["go_back_0", "go_back_n", "improved_go_back_n",
            "selective_repeat,rto_low=5ms,rto_high=20ms"]
# Packets in a million: lost, duplicated, reordered, damaged.
FAULTS = ["lose", "duplicate", "reorder", "corrupt"]
BAD = [(10000, 10000, 10000, 10000), (50000, 20000, 20000, 20000)]
# Without UC and UD: their clients wait for ever for lost packets.
RELIABLE = ["ibv_rc_pingpong -g 0 -c -e -n 100", "ibv_srq_pingpong -g 0 -c -e -n 100",
            "ib_send_lat -n 50", "ib_atomic_bw -n 50"]
# go_back_0 sends a long message again from its beginning after each loss, and has seven retries to
# do so.
LONG = ["ibv_rc_pingpong -g 0 -c -s 100000 -n 20", "ib_write_bw -n 50", "ib_read_bw -n 50"]


def last_ack_lost(command, done):
    """A pingpong ends when it has received everything. If its last ACK is lost, the other side gets
    no answer, on any NIC. All data was right then, and one side reports that."""
    both = done.served + done.called
    return command.endswith("pingpong") and "invalid data" not in both and \
        both.count(" iters in ") == 1 and both.count("retry counter exceeded") == 1


class Runs:
    """Runs pairs between two hosts, and keeps the outcomes for the table."""

    def __init__(self, oche, far, table):
        self.oche, self.far, self.table = oche, far, table
        self.failed = 0

    def head(self, *columns):
        if self.table:
            print("\n| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))

    def row(self, *columns):
        if self.table:
            print("| " + " | ".join(columns) + " |")
        else:
            print(": ".join(columns), flush=True)

    def run(self, client, ipv6=False, options=(), lossy=False):
        command, arguments = client.split(" ", 1)
        near, far = (netns.NEAR6, netns.FAR6) if ipv6 else (netns.NEAR, netns.FAR)
        done = pairs.run(self.oche, command, arguments,
                         pairs.Side(far, options, self.far.enter, OCHE_STATS="1"),
                         pairs.Side(near, options, OCHE_STATS="1"), netns.FAR)
        if done.error is not None and not (lossy and last_ack_lost(command, done)):
            self.failed += 1
            print(f"{client}: {done.error}", file=sys.stderr, flush=True)
        return done

    def must(self, what, *facts):
        if not what:
            self.failed += 1
            print("FAILED:", *facts, file=sys.stderr, flush=True)


def counted(said, what):
    """Returns a number of OCHE_STATS."""
    return int(re.search(what + r" (\d+)", said).group(1))


def all_of(runs):
    return runs.table or pairs.LONG


def one_host(runs):
    """Both sides on ::1, without namespaces."""
    runs.head("path", "client", "")
    for client in CLIENTS if all_of(runs) else CLIENTS[::2]:
        command, arguments = client.split(" ", 1)
        done = pairs.run(runs.oche, command, arguments, pairs.Side("::1"), pairs.Side("::1"))
        runs.must(done.error is None, client, "on ::1:", done.error)
        runs.row("one host, ::1", f"`{client}`", "works" if done.error is None else "does not work")


def veth(runs):
    one_host(runs)
    for mtu, path_mtu in ((1500, 1024), (9000, 4096)):
        runs.far.veth(mtu)
        for ipv6 in (False, True) if all_of(runs) else (mtu == 9000,):
            for client in CLIENTS if all_of(runs) else CLIENTS[ipv6::2]:
                done = runs.run(client, ipv6)
                seen = re.search(r"Mtu +: (\d+)", done.called)
                runs.must(seen is None or int(seen.group(1)) == path_mtu, client, "has MTU",
                          seen and seen.group(1), "not", path_mtu)
                runs.row(f"veth, MTU {mtu}, {'IPv6' if ipv6 else 'IPv4'}", f"`{client}`",
                         "works" if done.error is None else "does not work")
        runs.far.no_veth()


def faults(runs, program):
    runs.head("lost", "twice", "late", "damaged", "recovery", "clients", "")
    for bad in BAD if all_of(runs) else BAD[1:]:
        path = runs.far.path(program, 9000, *(f"--{name}={ppm}" for name, ppm in zip(FAULTS, bad)))
        for number, recovery in enumerate(RECOVERY):
            before = runs.failed
            long_ones = RECOVERY[1:] if all_of(runs) else RECOVERY[1::2]
            reliable = RELIABLE if all_of(runs) else RELIABLE[number % 2::2]
            clients = reliable + (LONG if recovery in long_ones else [])
            polls = [] if all_of(runs) or recovery == RECOVERY[-1] else ["--poll", "sleep"]
            for client in clients:
                done = runs.run(client, options=["--recovery", recovery, *polls], lossy=True)
                if not runs.table:
                    print(f"{recovery} {bad}: {client} ({done.seconds:.1f} s)", flush=True)
            runs.row(*(f"{ppm / 10000:g} %" for ppm in bad), recovery, str(len(clients)),
                     "work" if runs.failed == before else "do not all work")
        did = path.close()
        runs.must(all(did[key] > 0 for key in ("lost", "duplicated", "reordered", "corrupted")),
                  "the path did nothing:", did)


def marks(runs, program):
    """Runs the same client three times. DCQCN gets CNPs for marks and slows down; without marks it
    does not; a scheme that ignores marks does not slow down. A busy machine slows all of them, so
    the comparison has three tries."""
    for _ in range(3):
        rates, rows = [], []
        for mark, cc in ((None, "dcqcn"), (0, "dcqcn"), (0, "none")):
            options = ["--rate=2000", "--queue=4000"]
            options += [f"--mark={mark}"] if mark is not None else []
            path = runs.far.path(program, 9000, *options)
            done = runs.run("ib_write_bw -n 300", options=["--cc", cc, "--line-rate", "10Gbps"])
            did = path.close()
            if done.error is not None:
                return
            cnps = counted(done.called, "CNPs sent [0-9]+ received")
            rates.append(float(pairs.rows_of(done.called)[0][3]))
            rows.append(("2 Gbit/s" + (", marks what waits" if mark is not None else ""), cc,
                         str(counted(done.served, "CE received")), str(cnps), f"{rates[-1]:.0f}"))
            heard = mark is not None and cc == "dcqcn"
            runs.must((cnps > 0) == heard and (did["marked"] > 0) == heard, cc, mark, done.called,
                      did)
        if rates[1] < 0.7 * rates[0]:
            break
    runs.head("link", "congestion control", "marked", "CNPs", "MB/s")
    for row in rows:
        runs.row(*row)
    runs.must(rates[1] < 0.7 * rates[0], "DCQCN was not slowed down by marks:", rates)


def main(arguments):
    netns.enter()
    oche, program = arguments[:2]
    names = [name for name in arguments[2:] if name != "--table"] or ["veth", "faults", "marks"]
    pairs.need("ibv_rc_pingpong", "ib_write_bw")
    runs = Runs(oche, netns.Far(), "--table" in arguments)
    for name in names:
        if name == "veth":
            veth(runs)
        else:
            {"faults": faults, "marks": marks}[name](runs, program)
    sys.exit(1 if runs.failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
