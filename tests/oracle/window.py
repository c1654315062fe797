#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Throughput of a sender with a window: W packets a round trip, or the line, whichever is slower.

The oracle: the first packet of a window leaves when the ACK of the same packet of the window before
has arrived. So W packets take R = max(RTT, W T), where T is a packet's time on the line, and RTT is
the time of a packet and its ACK over an empty path: of each link transmission and propagation
(Kurose and Ross, sec 3.4). Between the completion of two messages of n1 and n2 packets, both
multiples of W, are (n2 - n1) / W rounds.

Tolerance 0: the times are whole picoseconds.
"""
import sys

from product import compare, flows, report, run, write

LINE = 8 + 14 + 20 + 8 + 12 + 4 + 4 + 12  # bytes beside the payload: Ethernet, IPv4, UDP, BTH, ICRC
ACK = LINE + 4
SHORT, LONG = 20, 120  # windows of a message


def main():
    for rate in (10, 25, 100, 400):
        for delay in (1, 5, 50):
            for mtu in (1024, 4096):
                for window in (1, 2, 7, 64, 200):
                    write("flows.csv", f"src,dst,bytes,start\n0,1,{SHORT * window * mtu},0\n"
                          f"0,1,{LONG * window * mtu},10\n")
                    run(f"topology: {{type: star, hosts: 2, host_rate: {rate}Gbps, "
                        f"delay: {delay}us}}\ncongestion_control: none\n"
                        f"host: {{mtu: {mtu}B, window: {window}}}\n"
                        "switch: {buffer: 64MB, pfc: false}\nmeasure: {interval: 0}\n"
                        "workload: {type: from_file, file: flows.csv}\n")
                    short, long = (end - start for end, start in flows("delivered_ps, start_ps"))
                    packet = (LINE + mtu) * 8000 // rate
                    trip = 2 * packet + 2 * ACK * 8000 // rate + 4 * delay * 10**6
                    expected = max(trip, window * packet) * (LONG - SHORT)
                    compare("time of a window", f"{window} packets of {mtu}, {rate} Gbit/s, "
                            f"{delay} us", expected, long - short, 0)
    return report()


if __name__ == "__main__":
    sys.exit(main())
