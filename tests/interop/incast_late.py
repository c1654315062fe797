# SPDX-License-Identifier: Apache-2.0
"""A path that delivers some packets late, so that others overtake them, and loses none: what one
sender of ours gets of it, and one flow of TCP beside it. What tools/bench-incast measures, and
tests/interop/late.py in short.
"""
import json
import subprocess
import time

import incast
import netns
import pairs

MTU = 1500
LATE = "0.5-2.5"  # ms by which late packets are late
PORT, TCP_PORT = 20000, 21000


class Case:
    """A path of `rate` Mbit/s whose empty round trip is `rtt` ms, with a queue of `queue` KB.
    `late`, `lost`: percent of all packets, in both directions."""

    def __init__(self, rate, rtt, late=0.0, lost=0.0, queue=500):
        self.rate, self.rtt, self.late, self.lost, self.queue = rate, rtt, late, lost, queue

    def options(self):
        return ["--rate", str(self.rate), "--queue", str(self.queue), "--delay",
                str(self.rtt / 2), "--reorder", str(round(self.late * 10000)), "--late", LATE,
                "--lose", str(round(self.lost * 10000)), "--all"]


def ours(oche, far, program, case, seconds, margin, options=()):
    """Mbit/s of payload of ib_write_bw, and its counters: packets sent again, losses undone."""
    words = ["ib_write_bw", "-D", str(seconds + 2 * margin), "-f", str(margin), "-s", "65536", "-t",
             "64", "-Q", "1", "-m", "1024", "--report_gbits", "-F", "-p", str(PORT)]
    exec_options = ["--poll", "sleep", *options]
    path = far.path(program, MTU, *case.options())
    serving = pairs.start_server(oche, words, pairs.Side(netns.FAR, exec_options, far.enter), PORT)
    near = pairs.Side(netns.NEAR, exec_options, OCHE_STATS="1")
    calling = near.start(oche, words + [netns.FAR])
    said, _ = pairs.said_by(calling, seconds + 2 * margin + incast.LIMIT)
    pairs.said_by(serving, 5)
    path.close()
    return (incast.rate_of(said) or 0,
            {name: incast.counted([said], name) for name in ("again", "early losses", " timeouts")})


def tcp(far, program, case, seconds, margin):
    """Mbit/s of one flow of TCP cubic over such a path."""
    path = far.path(program, MTU, *case.options())
    server = subprocess.Popen([*far.enter, "iperf3", "-s", "-1", "-B", netns.FAR, "-p",
                               str(TCP_PORT)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    done = subprocess.run(["iperf3", "-J", "-c", netns.FAR, "-p", str(TCP_PORT), "-C", "cubic", "-t",
                           str(seconds), "-O", str(margin)], capture_output=True, text=True,
                          timeout=seconds + 2 * margin + incast.LIMIT, check=False)
    server.wait(timeout=incast.LIMIT)
    path.close()
    said = json.loads(done.stdout)
    if "error" in said:
        pairs.fail("iperf3:", said["error"])
    return said["end"]["sum_received"]["bits_per_second"] / 1e6
