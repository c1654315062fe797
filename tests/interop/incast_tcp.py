# SPDX-License-Identifier: Apache-2.0
"""TCP through the port of tests/interop/incast.py, to compare RDMA with, and as its neighbour.
iperf3, a server for each sender.
"""
import json
import subprocess
import time

import incast
import pairs

PORT = 21000
WARM_UP = 1  # seconds that servers have to listen


def is_there(scheme):
    """True if the kernel has this congestion control or can load it."""
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control", encoding="ascii") as names:
        return scheme in names.read().split()


class Flows:
    """A flow of TCP from each of `hosts`, which begin when this is made. The first and the
    last `margin` of `seconds` do not count."""

    def __init__(self, switch, hosts, scheme, seconds, margin):
        self.limit = seconds + incast.LIMIT
        self.servers = [
            subprocess.Popen([*switch.hosts[0].enter, "iperf3", "-s", "-1", "-B",
                              f"{incast.DATA}{100 + i}", "-p", str(PORT + i)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for i, _ in enumerate(hosts)]
        begun = time.monotonic()
        for i, server in enumerate(self.servers):
            pairs.wait_until_listening(PORT + i, server)
        time.sleep(max(0, begun + WARM_UP - time.monotonic()))  # run() counts from its end
        self.clients = [
            subprocess.Popen([*host.enter, "iperf3", "-J", "-c", f"{incast.DATA}{100 + i}", "-p",
                              str(PORT + i), "-C", scheme, "-t", str(seconds - 2 * margin), "-O",
                              str(margin)], stdout=subprocess.PIPE, text=True)
            for i, host in enumerate(hosts)]

    def end(self):
        """Mbit/s of each flow, and how many segments were sent again."""
        rates, again = [], 0
        for client in self.clients:
            said = json.loads(client.communicate(timeout=self.limit)[0])
            if "error" in said:
                pairs.fail("iperf3:", said["error"])
            rates.append(said["end"]["sum_received"]["bits_per_second"] / 1e6)
            again += said["end"]["sum_sent"]["retransmits"]
        for server in self.servers:
            server.wait(timeout=self.limit)
        return rates, again


def run(switch, scheme, seconds, margin):
    """Does what incast.run does, for TCP. Returns an Incast and `again`."""
    before = switch.lost()
    watch = incast.Watch(switch, margin + WARM_UP, seconds - margin + WARM_UP)
    watch.start()
    rates, again = Flows(switch, switch.hosts[1:], scheme, seconds, margin).end()
    watch.join()
    done = incast.Incast(rates, [], switch.lost() - before, watch.bytes, [], [])
    return done, again
