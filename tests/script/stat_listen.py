#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Silent connections do not block `oche stat --listen`: beside connections that send nothing, or
little, of any user, a request is answered at once. Run as root, they are of another user.

usage: stat_listen.py OCHE
"""
import http.client
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

from checks import fail

NOBODY = 65534
CLIENTS = 16  # clients that are served at a time
REQUEST = 1  # seconds that a request may take
SLACK = 3  # on a busy machine; without mercy for the silent it would be far more
HOLD = """
import encodings.idna, os, socket, sys, time
count, port, words = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({nobody})
    os.setuid({nobody})
held = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
print("there", flush=True)
while True:
    for one in held:
        try:
            one.send(words)
        except OSError:
            held.remove(one)
            held.append(socket.create_connection(("127.0.0.1", port)))
    time.sleep(0.02)
"""


def ask(port):
    """Returns the seconds until the page has arrived."""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics")
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status != 200 or b"oche_" not in text:
        fail("status", answer.status, text[:200])
    return time.monotonic() - began


def beside(port, count, words):
    """Asks some times beside as many connections, which send these words again and again."""
    held = subprocess.Popen([sys.executable, "-c", HOLD.format(nobody=NOBODY), str(count),
                             str(port), words], stdout=subprocess.PIPE, text=True, cwd="/")
    try:
        if held.stdout.readline() != "there\n":
            fail("they do not get there")
        longest = max(ask(port) for _ in range(20))
    finally:
        held.kill()
        held.wait()
        held.stdout.close()
    print(f"{count} connections that say {words!r}: answered within {longest:.2f} s")
    if longest > SLACK:
        fail(f"that is more than {SLACK} s")


def ends_within(port, say, least, most):
    """The server ends a connection after so many seconds; say(connection, seconds) speaks."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=0.1) as connection:
        while True:
            took = time.monotonic() - began
            try:
                say(connection, took)
                if connection.recv(100) == b"":
                    break
            except TimeoutError:
                pass
            except OSError:
                break
            if took > 60:
                fail("it is not ended")
    took = time.monotonic() - began
    if not least < took < most:
        fail(f"it is ended after {took:.2f} s")


def in_pieces(port):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        for piece in (b"GET /met", b"rics HTTP/1.1\r\nHo", b"st: a\r\n\r\n"):
            connection.sendall(piece)
            time.sleep(0.1)
        if not connection.recv(100).startswith(b"HTTP/1.1 200 "):
            fail("a request in pieces is not answered")


def main(oche):
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([oche, "stat", "--view", folder, "--listen", "0"], text=True,
                                  stdout=subprocess.PIPE)
        try:
            line = server.stdout.readline()
            port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/metrics\n", line).group(1))
            ask(port)
            beside(port, CLIENTS, "")
            beside(port, 20 * CLIENTS, "")
            beside(port, CLIENTS, "G")
            in_pieces(port)
            ends_within(port, lambda one, took: None, REQUEST - 0.1, REQUEST + SLACK)
            ends_within(port, lambda one, took: one.send(b"G"), REQUEST - 0.1, REQUEST + SLACK)
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()
    if os.geteuid() != 0:
        print("not root: the silent ones were of this user, too")
    print("ok")


if __name__ == "__main__":
    main(*sys.argv[1:])
