# SPDX-License-Identifier: Apache-2.0
"""Two processes on a lossy link: pytest on verbs. The program under test is perftest's
ib_write_bw; put your server and client in its place. Run by `pytest`, with `oche` on PATH or its
path in OCHE."""

import os
import re
import subprocess
import time

import pytest

OCHE = os.environ.get("OCHE", "oche")
SECONDS = 60  # until a test has failed


def on_lossy_link(*command):
    """Starts a command on a device that loses 1 % of the packets, with its counters at the end."""
    return subprocess.Popen(
        [OCHE, "exec", "--link=loss=1%", "--poll=sleep", "--stats", "--", *command],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_for_port(port):
    """Waits until a process of this network namespace listens to the TCP port."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            with open(table, encoding="ascii") as rows:
                if re.search(rf":{port:04X} \S+ 0A ", rows.read()):
                    return
        time.sleep(0.05)
    pytest.fail(f"nobody listens to port {port}")


def test_writes_over_a_lossy_link():
    command = ["ib_write_bw", "-n", "200", "-p", "18515"]
    server = on_lossy_link(*command)
    client = None
    try:
        wait_for_port(18515)
        client = on_lossy_link(*command, "127.0.0.1")
        said = client.communicate(timeout=SECONDS)[0]
        assert client.returncode == 0, said
        assert re.search(r"^ *65536 +200 ", said, re.M), said
        # The link has lost packets, and the transport has sent them again.
        assert re.search(r"oche: .*[:,] again [1-9]", said), said
        said = server.communicate(timeout=SECONDS)[0]
        assert server.returncode == 0, said
    finally:
        for process in (server, client):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
