#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stops a receiver for 300 ms in a transfer (SIGSTOP), as a busy machine does. The sender finds
that its timeout was early, and the next second carries about as much as the one before the stop. A
stop of a second does not end the connection either, although perftest's retries times its ACK
timeout are half a second.

usage: stopped.py OCHE

Status 77: not possible here.
"""
import signal
import sys
import time

import incast
import netns
import pairs

RATE, QUEUE = 200, 1000000  # Mbit/s, bytes
MOVING = 1000000  # bytes; after so many the connection is made, and data moves
SHARE = 0.6  # part of the rate in the second before; other load on the machine lowers it
TRIES = 4
SHORT, LONG = 0.3, 1.0  # seconds


def carried(switch, seconds):
    """Bytes that the port sends in the next seconds, per second."""
    start, before = time.time(), switch.look()["bytes"]
    time.sleep(seconds)
    return (switch.look()["bytes"] - before) / (time.time() - start)


def stop(process, seconds):
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)


def transfer(oche, switch, port):
    """(rate in the second before the stop, in the second after it, what the sender says)"""
    words = ["ib_write_bw", "-D", "8", "-f", "1", "-s", "65536", "-t", "16", "-Q", "1", "-F"]
    options = ["--poll", "sleep", "--stats"]
    begun = switch.look()["bytes"]
    serving = pairs.start_server(oche, words, pairs.Side(f"{incast.DATA}100", options,
                                                         switch.hosts[0].enter), port)
    calling = pairs.Side(f"{incast.DATA}{switch.hosts[1].number}", options,
                         switch.hosts[1].enter).start(
        oche, words + ["-p", str(port), f"{incast.MEET}{incast.RECEIVER}"])
    pairs.wait_for("nothing moves", lambda: switch.look()["bytes"] > begun + MOVING, calling,
                   serving)
    time.sleep(1)  # it starts up
    before = carried(switch, 1)
    stop(serving, SHORT)
    after = carried(switch, 1)
    stop(serving, LONG)
    said, late = pairs.said_by(calling, 60)
    pairs.said_by(serving, 10)
    if late or calling.returncode != 0:
        pairs.fail(f"status {calling.returncode}: a stop of {LONG} s has ended the transfer:", said)
    return before, after, said


def main(oche):
    netns.enter()
    pairs.need("ib_write_bw", "tc")
    switch = incast.Switch(1, RATE, QUEUE)
    for i in range(TRIES):
        before, after, said = transfer(oche, switch, 20000 + i)
        timeouts, early = (incast.counted([said], what) for what in (" timeouts", "early timeouts"))
        timeouts -= early
        print(f"{before * 8e-6:.0f} Mbit/s before the stop, {after * 8e-6:.0f} after it; "
              f"{timeouts} timeouts, {early} of them early", flush=True)
        if after >= SHARE * before and early > 0:
            break
    else:
        pairs.fail(f"less than {SHARE} of it after the stop")
    switch.close()


if __name__ == "__main__":
    main(sys.argv[1])
