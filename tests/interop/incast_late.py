# SPDX-License-Identifier: Apache-2.0
"""A path that delivers some packets late, so that others overtake them, and loses none: what one
sender of ours gets of it, and one flow of TCP beside it. What tools/bench-incast measures, and
tests/interop/late.py in short.
"""
import json
import os
import re
import statistics
import subprocess

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
    pairs.wait_until_listening(TCP_PORT, server)
    words = ["iperf3", "-J", "-c", netns.FAR, "-p", str(TCP_PORT), "-C", "cubic", "-t",
             str(seconds), "-O", str(margin)]
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          timeout=seconds + 2 * margin + incast.LIMIT)
    server.wait(timeout=incast.LIMIT)
    path.close()
    said = json.loads(done.stdout)
    if "error" in said:
        pairs.fail("iperf3:", said["error"])
    return said["end"]["sum_received"]["bits_per_second"] / 1e6


def simulated(oche, case, seconds, scenario, out):
    """Mbit/s of payload of the same in the simulator."""
    words = ["run", scenario, "--out", os.path.join(out, "bench-incast-late"),
             "--set", f"duration={seconds + 2}s", "--set", "warmup=2s",
             "--set", f"topology.delay={case.rtt * 1000 / 6:.0f}us",
             "--set", f"topology.bottleneck_rate={case.rate}Mbps",
             "--set", f"switch.port_buffer={case.queue}KB", "--set", f"loss.late={case.late}%",
             "--set", f"loss.probability={case.lost}%"]
    return float(re.search(r"goodput, all hosts +([0-9.]+)Mbps", incast.command([oche, *words]))
                 .group(1))


def cases(quick):
    """Late packets at two round trips, a lossy path, and long ones."""
    if quick:
        return [Case(200, 10, late=1.0)]
    return ([Case(200, rtt, late=late) for rtt in (1, 10) for late in (0.0, 0.1, 1.0, 5.0)] +
            [Case(200, 20, lost=5.0), Case(200, 50), Case(1000, 20, queue=2500)])


HEAD = ("| Mbit/s | round trip, ms | late | lost | ours | TCP cubic | ours of TCP | in the "
        "simulator | sent again | losses undone |\n|---|---|---|---|---|---|---|---|---|---|")


def row(oche, far, program, case, options, scenario):
    """A row of the table: medians of options.runs of options.seconds."""
    margin = 2
    runs = [ours(oche, far, program, case, options.seconds, margin) for _ in range(options.runs)]
    flows = [tcp(far, program, case, options.seconds, margin) for _ in range(options.runs)]
    rate = statistics.median(rate for rate, _ in runs)
    beside = statistics.median(flows)
    again, undone = (statistics.median(counts[name] for _, counts in runs)
                     for name in ("again", "early losses"))
    there = simulated(oche, case, options.seconds, scenario, options.out)
    return (f"| {case.rate} | {case.rtt} | {case.late:g} % | {case.lost:g} % | {rate:.0f} | "
            f"{beside:.0f} | {100 * rate / max(beside, 1):.0f} % | {there:.0f} | {again:.0f} | "
            f"{undone:.0f} |")
