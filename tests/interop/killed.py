#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One side of a pair of unmodified clients is killed (SIGKILL) in the middle of a transfer: the
other one ends with "retry exceeded" in the time that timeout and retries make, and nothing stays
behind of either: no name, no port, no file. The address can be used again at once.

usage: killed.py OCHE
"""
import os
import re
import sys
import time

import pairs

RETRIES = 7  # perftest's
# (client, who is killed, timeout code). 4.096 us * 2^code, and once more for each retry. perftest
# waits for ever for what a peer should have sent, on any NIC: only who asks is told.
CASES = [("ib_write_bw -D 60", "server", 14), ("ib_write_bw -D 60", "server", 16),
         ("ib_write_bw -D 60 -b", "client", 14), ("ib_read_bw -D 60", "server", 14),
         ("ib_send_bw -D 60", "server", 14)]
NAMES_OF_ERROR = "Failed status 12|transport retry counter exceeded"


def residue():
    """Names and ports of this test's addresses, and files of ours."""
    found = []
    with open("/proc/net/unix", encoding="ascii", errors="replace") as rows:
        found += [row.strip() for row in rows if f"oche/{os.getuid()}/{pairs.NET}" in row]
    for address in (pairs.SERVER, pairs.CLIENT):
        packed = "".join(f"{int(part):02X}" for part in reversed(address.split(".")))
        with open("/proc/net/udp", encoding="ascii") as rows:
            found += [row.strip() for row in rows if packed + ":" in row.split()[1]]
    return found + [name for name in os.listdir("/dev/shm") if "oche" in name]


def moving(process):
    """Waits until a process has used a good deal of processor time: it transfers."""
    end = time.time() + pairs.LIMIT
    while time.time() < end:
        with open(f"/proc/{process.pid}/stat", encoding="ascii") as row:
            fields = row.read().rsplit(")", 1)[1].split()
        if (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") > 0.4:
            return
        time.sleep(0.05)
    pairs.fail("nothing moves")


def one(oche, client, killed, code):
    command, arguments = client.split(" ", 1)
    words = [command] + arguments.split() + ["-u", str(code)]
    timeout = 4.096e-6 * 2 ** code
    port = pairs.free_port()
    sides = {"server": pairs.start_server(oche, words, pairs.Side(pairs.SERVER), port)}
    sides["client"] = pairs.Side(pairs.CLIENT).start(oche, words + ["-p", str(port), "127.0.0.1"])
    moving(sides["client"])
    if not residue():
        pairs.fail("no name or port is found of processes that are alive")
    time.sleep(0.5)
    sides[killed].kill()
    started = time.time()
    alive = sides["client" if killed == "server" else "server"]
    said, late = pairs.said_by(alive, pairs.LIMIT)
    took = time.time() - started
    sides[killed].communicate()
    if late or alive.returncode == 0 or re.search(NAMES_OF_ERROR, said) is None:
        pairs.fail(client, "late" if late else f"status {alive.returncode}", said)
    # A busy machine is late; a NIC may take up to four times the timeout.
    if not timeout * RETRIES * 0.9 < took < 4 * timeout * (RETRIES + 1) + 5:
        pairs.fail(client, f"ended after {took:.2f} s, {RETRIES + 1} timeouts of {timeout:.3f} s")
    left = residue()
    if left:
        pairs.fail(client, "left behind:", left)
    print(f"{client} -u {code}: retry exceeded {took:.2f} s after the {killed} was killed, "
          f"{RETRIES + 1} timeouts are {timeout * (RETRIES + 1):.2f} s", flush=True)


def main(oche):
    pairs.need("ib_write_bw", "ibv_rc_pingpong")
    for client, killed, code in CASES:
        one(oche, client, killed, code)
        done = pairs.run(oche, "ibv_rc_pingpong", "-g 0 -c -n 100")
        if done.error is not None:
            pairs.fail("afterwards:", done.error)


if __name__ == "__main__":
    main(sys.argv[1])
