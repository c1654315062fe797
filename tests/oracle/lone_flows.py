#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion times of lone flows, exact to the picosecond.

The oracle: a message of `bytes` is cut into packets of at most the MTU. On the line a packet of a
WRITE has preamble 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, payload and pad, ICRC 4, FCS 4 and gap 12
bytes; the first one also a RETH of 16; an ACK has an AETH of 4 in place of the payload (InfiniBand
specification, annex A17; IEEE 802.3). Links are stores and forwards in a row: packet i leaves link
h after it has arrived whole and packet i - 1 has left (the recursion of a tandem of servers). Each
packet is acknowledged when it has arrived, and ACKs go back by the same links.

Tolerance 0: rates are chosen so that a byte takes whole picoseconds.
"""
import sys

from product import compare, flows, report, run, write

LEAST = 8 + 14 + 20 + 8 + 12 + 4 + 4 + 12
RETH, AETH = 16, 4
SIZES = (1, 700, 4096, 65537, 300001)
APART = 1000  # us between the starts of two flows
# host and middle rates in Gbit/s, with 1, 2, 3 and 5 switches on the way
RATES = ((10, 10), (25, 100), (40, 40), (100, 25), (200, 400), (400, 200))
MTUS = (256, 1024, 4096)
CHAINS = ((1, 1000, 0), (2, 500, 3000), (3, 1000, 1000), (5, 2000, 100))  # switches, delays in ns


def on_the_line(size, mtu):
    """Returns the bytes of each packet on the line."""
    whole, rest = divmod(size, mtu)
    payloads = [mtu] * whole + ([rest] if rest else [])
    lines = [LEAST + payload + -payload % 4 for payload in payloads]
    lines[0] += RETH
    return lines


def through(links, packets, start):
    """Returns when each packet has arrived, in ps, if packet i is there to be sent at start[i].
    A link is (ps a byte, delay in ps)."""
    arrived = start
    for per_byte, delay in links:
        free, before, arrived = 0, arrived, []
        for line, ready in zip(packets, before):
            free = max(free, ready) + line * per_byte
            arrived.append(free + delay)
    return arrived


def path(switches, host_rate, middle_rate, host_delay, middle_delay):
    host = (8000 // host_rate, host_delay * 1000)
    return [host] + [(8000 // middle_rate, middle_delay * 1000)] * (switches - 1) + [host]


def scenario(switches, host_rate, middle_rate, host_delay, middle_delay, mtu):
    if switches == 1:
        topology = f"{{type: star, hosts: 2, host_rate: {host_rate}Gbps, delay: {host_delay}ns}}"
    else:
        topology = (f"{{type: parking_lot, hops: {switches - 1}, hosts_per_switch: 1, host_rate: "
                    f"{host_rate}Gbps, link_rate: {middle_rate}Gbps, delay: {host_delay}ns, "
                    f"link_delay: {middle_delay}ns}}")
    return (f"topology: {topology}\ncongestion_control: none\nhost: {{mtu: {mtu}B}}\n"
            "switch: {buffer: 64MB, pfc: false}\nworkload: {type: from_file, file: flows.csv}\n")


def main():
    for switches, host_delay, middle_delay in CHAINS:
        last = 1 if switches == 1 else switches - 1
        write("flows.csv", "src,dst,bytes,start\n" + "".join(
            f"0,{last},{size},{number * APART}us\n" for number, size in enumerate(SIZES)))
        for host_rate, middle_rate in RATES:
            for mtu in MTUS:
                given = (switches, host_rate, middle_rate, host_delay, middle_delay)
                links = path(*given)
                run(scenario(*given, mtu))
                rows = flows("bytes, start_ps, delivered_ps, completed_ps")
                for size, start, delivered, completed in rows:
                    packets = on_the_line(size, mtu)
                    arrived = through(links, packets, [0] * len(packets))
                    acked = through(links, [LEAST + AETH] * len(packets), arrived)
                    what = f"{size} bytes, mtu {mtu}, path {given}"
                    compare("delivery", what, arrived[-1], delivered - start, 0)
                    compare("completion", "ACK of " + what, acked[-1], completed - start, 0)
    return report()


if __name__ == "__main__":
    sys.exit(main())
