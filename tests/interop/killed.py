#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One side of a pair of unmodified clients is killed (SIGKILL) in the middle of a transfer: the
other one ends with "retry exceeded" in the time that timeout and retries make, and nothing stays
behind of either: no name, no port, no file. The address can be used again at once. Under RoGUE the
other one ends so when the peer's library has not answered for as long as a queue pair that failed
is tried to be brought back.

usage: killed.py OCHE

OCHE_LONG=yes: SEND, too.
"""
import os
import re
import sys
import time

import names
import pairs

RETRIES = 7  # perftest's
# (client, the side that is killed, timeout code). A peer is given up after 4.096 us * 2^code, and
# the same time again for each retry. A perftest that only receives waits for ever on any NIC; only
# the requester gets an error.
CASES = [("ib_write_bw -D 60", "server", 14), ("ib_write_bw -D 60", "server", 16),
         ("ib_write_bw -D 60 -b", "client", 14), ("ib_read_bw -D 60", "server", 14),
         ("ib_send_bw -D 60", "server", 14)]
UNDER_ROGUE = [("ib_write_bw -D 60", "server"), ("ib_read_bw -n 5000000 -e", "server"),
               ("ib_send_bw -D 60", "server")]
BEFORE = set(os.listdir("/dev/shm"))  # not ours
NAMES_OF_ERROR = "Failed status 12|transport retry counter exceeded"


def residue():
    """Names and ports of this test's addresses, and files of ours."""
    found = names.slots(pairs.NET + "*")
    for address in (pairs.SERVER, pairs.CLIENT):
        packed = "".join(f"{int(part):02X}" for part in reversed(address.split(".")))
        with open("/proc/net/udp", encoding="ascii") as rows:
            found += [row.strip() for row in rows if packed + ":" in row.split()[1]]
    return found + [name for name in os.listdir("/dev/shm")
                    if "oche" in name and name not in BEFORE and
                    not name.startswith("oche-faults-") and
                    not re.fullmatch(r"oche-\d+", name)]  # except folders of names and live views


def one(oche, client, killed, code, options, least, most):
    """Returns the output of the surviving side, which ends after `least` to `most` seconds."""
    command, arguments = client.split(" ", 1)
    words = [command] + arguments.split() + ["-u", str(code)]
    port = pairs.free_port()
    sides = {"server": pairs.start_server(oche, words, pairs.Side(pairs.SERVER, options), port)}
    sides["client"] = pairs.Side(pairs.CLIENT, options).start(
        oche, words + ["-p", str(port), "127.0.0.1"])
    pairs.wait_until_moving(oche, sides["client"], sides["server"])
    if not residue():
        pairs.fail("no name or port is found of processes that are alive")
    time.sleep(0.1)
    sides[killed].kill()
    started = time.time()
    alive = sides["client" if killed == "server" else "server"]
    said, late = pairs.said_by(alive, pairs.LIMIT)
    took = time.time() - started
    sides[killed].communicate()
    if late or alive.returncode == 0 or re.search(NAMES_OF_ERROR, said) is None:
        pairs.fail(client, "late" if late else f"status {alive.returncode}", said)
    if not least < took < most:
        pairs.fail(client, code, options, f"ended after {took:.2f} s")
    left = residue()
    if left:
        pairs.fail(client, "left behind:", left)
    print(f"{client} -u {code} {' '.join(options)}: retry exceeded {took:.2f} s after the {killed} "
          "was killed", flush=True)
    return said


def main(oche):
    pairs.need("ib_write_bw", "ibv_rc_pingpong")
    for client, killed, code in CASES if pairs.LONG else CASES[:-1]:
        timeout = 4.096e-6 * 2 ** code
        asked = timeout * (RETRIES + 1) # patience: device/verbs/modify_qp.c
        least = asked if asked >= 2 else min(2, 4 * asked)
        # A busy machine is late; a NIC may take up to four times the timeout.
        # The waiting side need not spin each time.
        polls = [] if pairs.LONG or code == 16 else ["--poll", "sleep"]
        one(oche, client, killed, code, polls, least * 0.85, 4 * timeout * (RETRIES + 1) + 5)
        done = pairs.run(oche, "ibv_rc_pingpong", "-g 0 -c -n 100")
        if done.error is not None:
            pairs.fail("afterwards:", done.error)
    for client, killed in UNDER_ROGUE if pairs.LONG else UNDER_ROGUE[:-1]:
        said = one(oche, client, killed, 12, ["--rogue=resync_tries=500", "--stats"], 0.4, 20)
        # More than one if the peer was late before it was killed, on a busy machine.
        if re.search(r"with a shadow 1;.* switches [1-9]", said) is None:
            pairs.fail(client, "no queue pair has failed", said)


if __name__ == "__main__":
    main(sys.argv[1])
