#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec --rogue` above adapters that lack something (tests/interop/lesser_adapter.c): without
a rate limiter, where RoGUE posts later; without time stamps, where it reads the clock. And what
every adapter has under RoGUE: Go-Back-N, and a hardware retry count of 1.

usage: rogue_lesser.py OCHE LESSER_ADAPTER
"""
import os
import re
import subprocess
import sys

import pairs

RATE = 200  # Mbit/s; loopback does thousands
# One client polls. One waits for events, so that RoGUE's thread does the work. And READs, because
# the peer would have to limit their data.
CLIENTS = ["ib_write_bw -n 400 -s 65536", "ib_send_bw -n 200 -s 65536 -e",
           "ib_read_bw -n 200 -s 65536", "ib_send_bw -n 200 -s 65536",
           "ibv_rc_pingpong -g 0 -c -n 100 -s 20000"]


def must(what, *facts):
    if not what:
        pairs.fail(*facts)


def lesser(said, what):
    return int(re.search(rf"lesser adapter: .*{what} (\d+)", said).group(1))


def rogue_counted(said, what):
    return int(re.search(rf"oche: rogue: .*{what} (\d+)", said).group(1))


def run(oche, library, client, lacks):
    command, arguments = client.split(" ", 1)
    environment = {"OCHE_STATS": "1", "OCHE_TEST_LACKS": lacks, "LD_PRELOAD": library}
    options = ["--rogue", "--line-rate", f"{RATE}Mbps", "--poll", "sleep"]
    done = pairs.run(oche, command, arguments, pairs.Side(pairs.SERVER, options, **environment),
                     pairs.Side(pairs.CLIENT, options, **environment))
    must(done.error is None, client, lacks, done.error)
    for said in (done.called, done.served):
        must(rogue_counted(said, "with a shadow") == 1, client, lacks, said)
        must("recovery go_back_n:" in said and lesser(said, "most retries") <= 1, client, said)
        must((lesser(said, "stamps") > 0) == ("stamps" in lacks), client, lacks, said)
        must("limiter" not in lacks or lesser(said, "limits") == 0, client, lacks, said)
    # A server of ib_write_bw never gets ready to send.
    must(lesser(done.called, "most retries") == 1, client, lacks, done.called)
    must(rogue_counted(done.called, "samples") > 0, client, lacks, done.called)
    rate = ""
    if command.endswith("_bw"):
        mbps = float(pairs.rows_of(done.called)[0][3]) * 8 * 1.048576
        rate = f", {mbps:.0f} Mbit/s"
        # The first window leaves before anything is limited.
        must(mbps < 1.15 * RATE, client, lacks, "is not limited:", mbps)
        must(mbps > 0.05 * RATE, client, lacks, "is too slow:", mbps, done.called)
    print(f"without {lacks or 'nothing'}: {client}{rate} ({done.seconds:.1f} s)", flush=True)


def recovery(oche):
    """Checks the device's recovery: Go-Back-N, unless the user gives another."""
    for options, environment, expected in (
            (["--rogue"], {}, "go_back_n"), ([], {}, ""),
            (["--rogue", "--recovery=selective_repeat"], {}, "selective_repeat"),
            (["--rogue"], {"OCHE_RECOVERY": "go_back_0"}, "go_back_0")):
        clean = {name: value for name, value in os.environ.items() if name != "OCHE_RECOVERY"}
        done = subprocess.run([oche, "exec", *options, "--", "sh", "-c", 'echo "$OCHE_RECOVERY"'],
                              env={**clean, **environment}, text=True, capture_output=True,
                              check=False)
        must(done.returncode == 0 and done.stdout.strip() == expected, options, environment, done)


def main(oche, library):
    pairs.need("ibv_rc_pingpong", "ib_write_bw")
    recovery(oche)
    for lacks in ("limiter", "stamps", "limiter,stamps"):
        for client in CLIENTS if pairs.LONG or lacks == "limiter,stamps" else CLIENTS[:3:2]:
            run(oche, library, client, lacks)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
