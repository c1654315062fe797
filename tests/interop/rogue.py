#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec --rogue`: unmodified clients with RoGUE under them, on a network that loses nothing,
on one that loses so much that queue pairs fail, and with a peer that has no RoGUE; a program that
checks every byte and the order while queue pairs fail; datagrams that no library sends.

usage: rogue.py OCHE ROGUE_REPLAY ROGUE_OTHERS

OCHE_LONG=yes: all clients; otherwise some of them, as rogue_clients.py has perftest's, too.
"""
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile

import pairs
from paths import last_ack_lost

CLIENTS = ["ib_write_bw -n 200", "ib_read_bw -n 200", "ib_send_bw -n 200 -q 3 -b",
           "ib_write_lat -n 100", "ib_atomic_bw -n 100",
           *["ib_send_lat -n 100 -e"] * 5,  # one event too few stops it, now and then
           "ib_write_bw -n 100 -s 64 -I 64", "ibv_rc_pingpong -g 0 -c -n 200",
           "ibv_rc_pingpong -g 0 -c -n 50 -s 300000", "ibv_rc_pingpong -g 0 -c -N -n 200",
           "ibv_rc_pingpong -g 0 -c -e -n 200"]
# These have queue pairs that RoGUE leaves alone.
OTHERS = [("ibv_ud_pingpong -g 0 -c -n 100 -s 1000", "another type than RC"),
          ("ibv_srq_pingpong -g 0 -c -n 100 -q 1", "a shared receive queue"),
          ("ibv_rc_pingpong -g 0 -c -t -n 100", "an extended completion queue"),
          ("ibv_uc_pingpong -g 0 -c -e -n 100", "another type than RC")]
LOSSY = ["ib_write_bw -n 100 -u 8", "ib_read_bw -n 100 -u 8", "ib_send_bw -n 50 -u 8",
         "ibv_rc_pingpong -g 0 -c -n 40 -s 50000", "ibv_rc_pingpong -g 0 -c -e -n 40"]
LOST = "100000"  # packets in a million
NOBODY = "the peer has no RoGUE"
RETRY_EXCEEDED = "Failed status 12"
FIRST_PORT, PORTS = 4793, 64


def counted(said, what):
    """Returns the sum of one statistic over all lines that have it."""
    return sum(int(number) for number in re.findall(rf"oche: rogue: .*{what} (\d+)", said))


def must(what, *facts):
    if not what:
        pairs.fail(*facts)


def run(oche, client, server_options=("--rogue",), client_options=("--rogue",), **environment):
    command, arguments = client.split(" ", 1)
    environment = {"OCHE_STATS": "1", **environment}
    lossy = "OCHE_DROP" in environment
    for _ in range(3 if lossy else 1):
        done = pairs.run(oche, command, arguments,
                         pairs.Side(pairs.SERVER, server_options, **environment),
                         pairs.Side(pairs.CLIENT, client_options, **environment))
        # Eight queue pairs in a row on which nothing completes (docs/rogue.md): with so many
        # losses, and timeouts of a millisecond on a busy machine, that happens.
        if done.error is None or RETRY_EXCEEDED not in done.error:
            break
    must(done.error is None or (lossy and last_ack_lost(command, done)), client, done.error)
    print(f"{client} {' '.join(server_options)}; {' '.join(client_options)}; "
          f"{environment.get('OCHE_DROP', 0)} lost: {done.seconds:.1f} s", flush=True)
    return done


def without_loss(oche):
    for client in CLIENTS if pairs.LONG else CLIENTS[5::3]:
        done = run(oche, client)
        both = done.served + done.called
        must(counted(done.called, "with a shadow") >= 1 and
             counted(done.served, "with a shadow") >= 1 and NOBODY not in both, client, both)
        must(counted(both, "pieces") > 0 and counted(both, "strangers'") == 0, client, both)
    for client, why in OTHERS if pairs.LONG else OTHERS[::2]:
        both = run(oche, client)
        for said in (both.served, both.called):
            must("rogue: connections" not in said and
                 f"oche: rogue: queue pairs left alone 1: {why} 1\n" in said, client, why, said)


def segments(oche):
    """Large verbs are cut into pieces, messages are not. Without shadows, a peer is never asked
    for one."""
    done = run(oche, "ib_write_bw -n 50 -s 65536", client_options=["--rogue=segment_bytes=16KiB"])
    must(counted(done.called, "pieces") >= 200, done.called)
    done = run(oche, "ib_send_bw -n 50 -s 65536", client_options=["--rogue=segment_bytes=16KiB"])
    must(counted(done.called, "pieces") == 50, done.called)
    done = run(oche, "ib_write_bw -n 50 -b", client_options=["--rogue=shadow=false"])
    both = done.served + done.called
    must(counted(both, "connections") == 2 and counted(both, "with a shadow") == 0, both)


def with_loss(oche):
    switches = 0
    for _ in range(3):  # chance decides which packets are lost
        for client in LOSSY if pairs.LONG else LOSSY[::2]:
            done = run(oche, client, OCHE_DROP=LOST)
            both = done.served + done.called
            switches += counted(both, "switches")
            must(counted(both, "resynchronised") <= counted(both, "messages"), client, both)
        if switches > 0:
            break
    must(switches > 0, "no queue pair has failed")


def alone(oche):
    """The sending side prints one line: the peer has no RoGUE. Everything else works as without
    RoGUE."""
    clients = ["ibv_rc_pingpong -g 0 -c -n 100", "ib_send_bw -n 100 -q 2", "ib_read_bw -n 50"]
    for client in clients if pairs.LONG else clients[:2]:
        done = run(oche, client, server_options=())
        must(done.called.count(NOBODY) == 1 and counted(done.called, "with a shadow") == 0 and
             counted(done.called, "connections") > 0, client, done.called)
        done = run(oche, client, client_options=())
        must(counted(done.served, "with a shadow") == 0, client, done.served)


def replays(oche, program):
    for mode, lost, least in (("replay", LOST, 1), ("silent", "1000000", 2),
                              ("atomic", "1000000", 0)):
        for _ in range(3):  # chance decides which packets are lost
            done = subprocess.run(
                [oche, "exec", "--rogue=segment_bytes=64KiB", "--stats", "--device", pairs.SERVER,
                 "--", program, mode], env={**os.environ, "OCHE_DROP": lost}, text=True,
                capture_output=True, timeout=300, check=False)
            must(done.returncode == 0, mode, done.stdout, done.stderr)
            if counted(done.stderr, "switches") >= least:
                break
        must(counted(done.stderr, "with a shadow") == 2, mode, done.stderr)
        must(counted(done.stderr, "switches") >= least, mode, done.stderr)
        must(mode != "atomic" or counted(done.stderr, "replayed") == 0, mode, done.stderr)
        print(f"{mode}: {counted(done.stderr, 'switches')} switches, "
              f"{counted(done.stderr, 'suppressed')} suppressed", flush=True)


def noise():
    """Datagrams to all libraries here: of every length, with and without the right beginning."""
    chance = random.Random(1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for length in range(0, 120):
            for kind in range(0, 9):
                body = bytes(chance.randrange(256) for _ in range(length))
                head = b"rgv2" + bytes([kind, kind % 3, 0, 0])
                for port in range(FIRST_PORT, FIRST_PORT + 4):
                    sender.sendto((head + body)[:length], (pairs.SERVER, port))


def strangers(oche):
    """The server ignores datagrams that are not valid messages."""
    port = pairs.free_port()
    words = ["ibv_rc_pingpong", "-g", "0", "-c", "-n", "200"]
    side = pairs.Side(pairs.SERVER, ["--rogue"], OCHE_STATS="1")
    serving = pairs.start_server(oche, words, side, port)
    noise()
    calling = pairs.Side(pairs.CLIENT, ["--rogue"]).start(
        oche, words + ["-p", str(port), "127.0.0.1"])
    called, late = pairs.said_by(calling, pairs.LIMIT)
    served, _ = pairs.said_by(serving, pairs.LIMIT)
    must(not late and pairs.judge(words[0], called, served) is None, called, served)
    must(counted(served, "strangers'") > 500 and counted(served, "with a shadow") == 1, served)


def refused(oche):
    def says(words, *parts):
        done = subprocess.run([oche, "exec", *words, "--", "true"], text=True, capture_output=True,
                              check=False)
        must(done.returncode == 2 and done.stderr.count("\n") == 1 and done.stdout == "" and
             all(part in done.stderr for part in parts), words, done)

    says(["--rogue=alfa=1"], "--rogue: rogue has no parameter alfa; did you mean alpha?")
    says(["--rogue=alpha"], "no value")
    says(["--rogue=segment_bytes=big"], "segment_bytes", "not a size")
    says(["--rogue=alpha=9"], "alpha is above beta")
    says(["--rogue=transport=uc"], "transport: not given here")
    says(["--rogue=alpha=1,rtt_noise=1us"], "rtt_noise: only the simulator has it")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(oche, folder)
        shutil.copy(os.path.join(os.path.dirname(oche), "libibverbs.so.1"), folder)
        done = subprocess.run([f"{folder}/oche", "exec", "--rogue", "--", "true"], text=True,
                              capture_output=True, check=False)
        must(done.returncode == 2 and "--rogue: there is no" in done.stderr, done)
    for value, wrong in (("gamma=x", "gamma"), ("transport=uc", "transport: not given here"),
                         ("rtt_noise=1us", "rtt_noise: only the simulator")):
        done = subprocess.run([oche, "exec", "--rogue", "--", "env", f"OCHE_ROGUE={value}",
                               "ibv_devinfo"], text=True, capture_output=True, check=False)
        must(f"OCHE_ROGUE: {wrong}" in done.stderr, done)
    for words, lines in ((["--rogue"], 0), ([], 1)):
        done = subprocess.run([oche, "exec", *words, "--", "true"], text=True, capture_output=True,
                              env={**os.environ, "OCHE_ROGUE": "alpha=1"}, check=False)
        must(done.returncode == 0 and
             done.stderr.count("OCHE_ROGUE without --rogue") == lines, done)


def others(oche, program):
    """Beside connections: events of queue pairs without RoGUE, and a child's own device."""
    for words, connections in ((["armed"], []), (["forked", pairs.CLIENT], [2, 2]),
                               (["signals"], [2])):
        done = subprocess.run(
            [oche, "exec", "--rogue", "--stats", "--device", pairs.SERVER, "--", program, *words],
            text=True, capture_output=True, timeout=300, check=False)
        must(done.returncode == 0, words, done.stdout, done.stderr)
        said = [int(count) for count in re.findall(r"oche: rogue: connections (\d+), of these with "
                                                   r"a shadow \1;", done.stderr)]
        must(said == connections and "no RoGUE" not in done.stderr, words, done.stderr)
        print(f"{words[0]}: with a shadow {said}", flush=True)


def main(oche, program, beside):
    pairs.need("ibv_rc_pingpong", "ib_write_bw")
    refused(oche)
    without_loss(oche)
    segments(oche)
    alone(oche)
    strangers(oche)
    with_loss(oche)
    replays(oche, program)
    others(oche, beside)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3])
