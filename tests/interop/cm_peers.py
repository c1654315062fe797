#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Peers of connections by address that die, in each state of a connection: the survivor gets the
right event, at the time that the connection's parameters say. A peer is a program that is killed,
or a plain socket that says no more.

usage: cm_peers.py OCHE CM_EVENTS [NAME…]
"""
import os
import signal
import struct
import subprocess
import sys
import time

import mads
import pairs

SERVER, CLIENT, RAW = pairs.NET + "21", pairs.NET + "22", pairs.NET + "23"
RESPONSE = 4.096e-6 * 2 ** 20  # seconds, of our own requests
GIVEN_UP = 16 * RESPONSE
LIMIT = 20
oche, cm_events = (os.path.abspath(path) for path in sys.argv[1:3])


class Failed(Exception):
    pass


def must(holds, *what):
    if not holds:
        raise Failed(" ".join(map(str, what)))


class Program:
    """cm_events on an address. Its lines are words and, last, the time."""

    def __init__(self, address, *arguments):
        self.process = subprocess.Popen(
            [oche, "exec", "--device", address, "--", cm_events] + [str(one) for one in arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        programs.append(self)

    def line(self, what, limit=LIMIT):
        """Waits for a line that begins with `what`. Returns its words."""
        signal.alarm(int(limit))
        words = self.process.stdout.readline().split()
        signal.alarm(0)
        must(" ".join(words).startswith(what), f"{' '.join(words)!r} instead of {what!r}")
        return words

    def event(self, name, status=0, limit=LIMIT):
        """Returns when the event came."""
        return float(self.line(f"{name} {status} ", limit)[-1])

    def tell(self, letter):
        """Returns when it was done."""
        self.process.stdin.write(letter + "\n")
        return float(self.line("done " + letter)[-1])

    def order(self, letter):
        self.process.stdin.write(letter + "\n")

    def stop(self):
        """Stops all of its threads."""
        self.process.send_signal(signal.SIGSTOP)
        for _ in range(LIMIT * 100):
            states = set()
            for task in os.listdir(f"/proc/{self.process.pid}/task"):
                with open(f"/proc/{self.process.pid}/task/{task}/stat", encoding="ascii") as row:
                    states.add(row.read().rsplit(")", 1)[1].split()[0])
            if states == {"T"}:
                return
            time.sleep(0.01)
        raise Failed("does not stop")

    def kill(self):
        """Returns when it was dead."""
        self.process.kill()
        self.process.wait()
        return time.monotonic()


programs = []


def serving(port, *how):
    program = Program(SERVER, "serve", SERVER, port, *how)
    program.line("listening")
    return program


def asking(port, *how, address=CLIENT):
    """A client that has sent its REQ."""
    program = Program(address, "ask", SERVER, port, *how)
    for what in ("ADDR_RESOLVED", "ROUTE_RESOLVED", "asked"):
        program.line(what)
    return program


def connected(port, *how):
    server = serving(port)
    client = asking(port, *how)
    server.event("CONNECT_REQUEST")
    server.tell("a")
    client.event("ESTABLISHED")
    server.event("ESTABLISHED")
    return server, client


def neighbour(address):
    """Another process of the address, not related to the program."""
    program = Program(address, "serve", address, pairs.free_port())
    program.line("listening")
    return program


def about(seconds, wanted, what):
    """A loaded machine is late; early only as far as it was late to say when it began."""
    must(0.9 * wanted - 0.1 <= seconds <= wanted + 2.5,
         f"{what}: {seconds:.2f} s instead of {wanted:.2f}")


# ---- the requester dies ----


def dies_after_its_request(port):
    """The REP is repeated for as long as the REQ says, and then it is CONNECT_ERROR."""
    server, peer = serving(port), mads.Peer(RAW, SERVER)
    for timeout, retries in ((16, 3), (14, 7), (0, 0)):
        unit = 4.096e-6 * 2 ** max(timeout, 12)
        peer.own_id += 1
        peer.ask(port, 0x2000 + timeout, timeout, retries)
        server.event("CONNECT_REQUEST")
        accepted = server.tell("a")
        given_up = server.event("CONNECT_ERROR", -110)
        about(given_up - accepted, unit * (retries + 1), f"{retries} retries of {unit:.3f} s")
        replies = 0
        while peer.expect(mads.REP, 0.1):
            replies += 1
        must(1 <= replies <= retries + 6, replies, "REPs")
    peer.close()


def takes_its_request_back(port):
    """A peer that gives up sends a REJ with its own ID alone."""
    server, peer = serving(port), mads.Peer(RAW, SERVER)
    peer.ask(port)
    server.event("CONNECT_REQUEST")
    peer.say(mads.REJ, struct.pack(">BBH", 0, 0, 4))
    server.event("REJECTED", 4)
    peer.close()


def is_killed_after_its_request(port):
    """Another process of its address answers the REP: there is no such connection."""
    server, other = serving(port), neighbour(CLIENT)
    client = asking(port, "plain")
    server.event("CONNECT_REQUEST")
    client.kill()
    accepted = server.tell("a")
    about(server.event("REJECTED", 6) - accepted, 0, "a REP to nobody")
    other.kill()


def is_killed_before_its_rtu(port):
    server, other = serving(port), neighbour(CLIENT)
    client = asking(port, "plain")
    server.event("CONNECT_REQUEST")
    accepted = server.tell("a")
    client.event("CONNECT_RESPONSE")
    client.kill()
    about(server.event("REJECTED", 6) - accepted, RESPONSE / 16, "a REP that is repeated")
    other.kill()


def is_killed_after_its_dreq(port):
    server, client = connected(port)
    disconnected = client.tell("d")
    client.kill()
    about(server.event("DISCONNECTED") - disconnected, 0, "a DREQ")
    server.tell("d")
    server.event("TIMEWAIT_EXIT")


# ---- the listener dies ----


def is_killed_before_it_accepts(port):
    """A repeated REQ finds no listener, if the address has another process."""
    server = serving(port)
    other = neighbour(SERVER)
    client = asking(port)
    server.event("CONNECT_REQUEST")
    killed = server.kill()
    about(client.event("REJECTED", 8) - killed, 0.25, "a REQ to nobody")
    other.kill()


def is_killed_while_connected(port):
    """A transfer fails when the retries have passed; and a DREQ is answered by another process."""
    server, client = connected(port, "14")
    other = neighbour(SERVER)
    killed = server.kill()
    client.order("s")
    failed = float(client.line("completion 12 ")[-1])  # too many retries
    about(failed - killed, 8 * 4.096e-6 * 2 ** 14, "the completion")
    client.line("done s")
    disconnected = client.tell("d")
    about(client.event("DISCONNECTED") - disconnected, 0, "a DREQ to nobody")
    client.event("TIMEWAIT_EXIT")
    other.kill()


def retries_pass(port):
    """8 times the ACK timeout, which RDMA_OPTION_ID_ACK_TIMEOUT sets."""
    for exponent in (14, 16):
        server, client = connected(port, exponent)
        server.stop()
        started = time.monotonic()
        client.order("s")
        failed = float(client.line("completion 12 ")[-1])
        about(failed - started, 8 * 4.096e-6 * 2 ** exponent, "the retries")
        client.line("done")
        server.process.send_signal(signal.SIGCONT)
        client.kill()
        server.kill()


def is_stopped_for_a_second(port):
    """A peer that is stopped by a debugger, or waits for a processor, keeps its connection."""
    server, client = connected(port)
    server.stop()
    client.order("s")
    time.sleep(1)
    server.process.send_signal(signal.SIGCONT)
    client.line("completion 0 ")
    client.line("done s")


def does_not_answer_data(port):
    """Without a measured round trip data is sent again every 0.2 s; the interval does not grow."""
    peer = mads.Peer(RAW, CLIENT)
    client = Program(CLIENT, "ask", RAW, port)
    asked = peer.expect(mads.REQ)
    must(asked and asked[24 + 95] >> 3 == 17, "the REQ's ACK timeout")
    peer.send(mads.reply(peer.tid, peer.own_id, peer.peer_id, 0x4321))
    must(peer.expect(mads.RTU), "no RTU")
    for what in ("ADDR_RESOLVED", "ROUTE_RESOLVED", "asked", "ESTABLISHED"):
        client.line(what)
    client.order("x")
    times = []
    peer.socket.settimeout(1)
    while len(times) < 5:
        data = peer.socket.recv(65536)
        if data[5:8] == b"\0\x43\x21":
            times.append(time.monotonic())
    between = [after - before for before, after in zip(times, times[1:])]
    must(all(0.15 < wait < 0.4 for wait in between), "sent again after", between)
    peer.close()


def ends_as_programs_do(port):
    """If a program ends without being killed, its peers learn it at once."""
    for end in (lambda client: client.order("q"), lambda client: client.order("u"),
                lambda client: client.process.terminate()):
        server, client = connected(port)
        end(client)
        ended = time.monotonic()
        about(server.event("DISCONNECTED") - ended, 0, "the end of a program")
        client.process.wait(LIMIT)
        server.kill()


# ---- takes minutes: no answer at all ----


def nobody_answers_a_request(port):
    client = Program(CLIENT, "ask", RAW, port)
    client.event("ADDR_RESOLVED")
    client.event("ROUTE_RESOLVED")
    asked = float(client.line("asked")[-1])
    about(client.event("UNREACHABLE", -110, 90) - asked, GIVEN_UP, "a REQ")


def nobody_answers_a_dreq(port):
    server, client = connected(port)
    client.kill()
    disconnected = server.tell("d")
    about(server.event("DISCONNECTED", 0, 90) - disconnected, GIVEN_UP, "a DREQ")
    server.event("TIMEWAIT_EXIT")


def nobody_confirms(port):
    server = serving(port)
    client = asking(port, "plain")
    server.event("CONNECT_REQUEST")
    client.kill()
    accepted = server.tell("a")
    about(server.event("CONNECT_ERROR", -110, 90) - accepted, GIVEN_UP, "a REP")


SHORT = [dies_after_its_request, takes_its_request_back, is_killed_after_its_request,
         is_killed_before_its_rtu, is_killed_after_its_dreq, is_killed_before_it_accepts,
         is_killed_while_connected, retries_pass, is_stopped_for_a_second, does_not_answer_data,
         ends_as_programs_do]
LONG = [nobody_answers_a_request, nobody_answers_a_dreq, nobody_confirms]


def main(names):
    failed = 0
    for case in SHORT + (LONG if pairs.LONG or names else []):
        if names and case.__name__ not in names:
            continue
        try:
            case(pairs.free_port())
            print(f"{case.__name__}: right", flush=True)
        except Failed as error:
            failed += 1
            print(f"{case.__name__}: {error}", flush=True)
        while programs:
            programs.pop().kill()
    return 1 if failed else 0


def too_late(_signal, _frame):
    raise Failed("nothing was printed in time")


signal.signal(signal.SIGALRM, too_late)
sys.exit(main(sys.argv[3:]))
