#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Go-Back-N over a path that loses packets independently: its formula, and each loss by itself.

The oracle (Go-Back-N, as in Kurose and Ross sec 3.4.3, with NAKs): a lone sender always sends. If
packet n is lost, the next packet that arrives makes the receiver send NAK(n), and the sender goes
back when the NAK arrives. Time is counted in slots, a packet's time on the line. Let D be the slots
from the first sending of n to the second if n + 1 arrives: the pipe. If k packets behind n are lost
too, the NAK leaves k slots later. If the NAK is lost, the next one leaves D - 1 slots after it, or
k slots more (the NAK interval is chosen so). With a loss of p for data and q for NAKs

    slots of a packet = 1 + p / (1 - p) * (D + p / (1 - p) + q / (1 - q) * (D - 1 + p / (1 - p)))

and the goodput is its inverse. Textbooks have (1 - p) / (1 - p + p D): they leave out q and the
losses right behind a loss. The same rules, applied to the packets that the trace names as lost,
give the time of delivery without any randomness.

Two messages follow one another on a queue pair, and the first one is measured: so no loss is the
last one, which only a timeout repairs.

Tolerances: of the time of delivery 0. Of the formula four standard deviations of the sum over all
packets, by the geometric distributions above; at most 5 %.
"""
import math
import sys

from product import compare, events, flows, must, report, run, write

MTU, RETH, BEHIND = 1024, 16, 2000  # BEHIND: packets of the second message
LINE = MTU + 8 + 14 + 20 + 8 + 12 + 4 + 4 + 12
NAK = LINE - MTU + 4
# Gbit/s, delay of a link in us, loss, losses of NAKs too, packets
CASES = ((40, 1, 0.001, False, 300_000), (40, 1, 0.01, False, 250_000),
         (40, 1, 0.1, False, 60_000), (100, 5, 0.001, False, 300_000),
         (100, 5, 0.01, False, 320_000), (40, 1, 0.01, True, 250_000),
         (40, 1, 0.1, True, 60_000))


def pipe(per_byte, delay):
    """Returns D, and the time from NAK's departure to its arrival. In the pipe are packet n and its
    follower, twice stored and forwarded, and the NAK."""
    back = 2 * (NAK * per_byte + delay)
    slot = LINE * per_byte
    return math.ceil((3 * slot + RETH * per_byte + 2 * delay + back) / slot), back


def delivered(packets, per_byte, delay, interval, lost):
    """Returns when the last packet of the first message is delivered. `lost` has (PSN, time at
    which the switch sends it) of each lost packet."""
    _, back = pipe(per_byte, delay)
    free = switch_free = expected = psn = 0
    last_nak, last_psn, naks = 0, None, []
    while True:
        while naks and naks[0][0] <= free:
            psn = naks.pop(0)[1]
        free += (LINE + (RETH if psn in (0, packets) else 0)) * per_byte
        switch_free = max(switch_free, free + delay)
        begins = switch_free
        switch_free += (LINE + (RETH if psn in (0, packets) else 0)) * per_byte
        now = switch_free + delay
        if (psn, begins) in lost:
            lost.discard((psn, begins))
        elif psn == expected:
            expected += 1
            if expected == packets:
                return now
        elif expected != last_psn or now >= last_nak + interval:
            last_nak, last_psn = now, expected
            if (expected, now + back // 2) in lost:
                lost.discard((expected, now + back // 2))
            else:
                naks.append((now + back, expected))
        psn += 1


def formula(loss, nak_loss, pipe_slots):
    """Returns the mean and the variance of a packet's slots."""
    more, again = loss / (1 - loss), nak_loss / (1 - nak_loss)
    late = more / (1 - loss)  # variance of a geometric distribution of mean `more`
    once = pipe_slots - 1 + more
    cost = pipe_slots + more + again * once
    cost_variance = late + again * late + again / (1 - nak_loss) * once**2
    return 1 + more * cost, more * cost_variance + late * cost**2


def main():
    for rate, delay, loss, both, packets in CASES:
        per_byte, slot = 8000 // rate, LINE * 8000 // rate
        slots, _ = pipe(per_byte, delay * 10**6)
        interval = (slots - 1) * slot - slot // 2
        write("flows.csv", f"src,dst,bytes,start\n0,1,{packets * MTU},0\n0,1,{BEHIND * MTU},0\n")
        where = "where: last_hop" if both else 'port: "tor0:host1"'
        run(f"topology: {{type: star, hosts: 2, host_rate: {rate}Gbps, delay: {delay}us}}\n"
            "congestion_control: none\nswitch: {buffer: 64MB, pfc: false}\n"
            f"host: {{mtu: {MTU}B, connections: per_pair, ack_every: 64}}\n"
            f"recovery: {{name: go_back_n, nak_interval: {interval}ps}}\n"
            f"loss: {{probability: {loss}, {where}}}\nmeasure: {{interval: 0}}\n"
            "workload: {type: from_file, file: flows.csv}\n", "--trace", "trace.csv:host=tor0")
        measured = flows("delivered_ps")[0][0]
        lost = {(int(row["psn"]), int(row["time_ps"])) for row in events("trace.csv", "DROPPED")}
        case = (f"{rate} Gbit/s, {delay} us, pipe of {slots}, loss {loss} of "
                f"{'data, ACKs and NAKs' if both else 'data'}")
        must(len(lost) > loss * packets / 2, f"losses: {case}")
        compare("time of delivery, loss by loss", case,
                delivered(packets, per_byte, delay * 10**6, interval, lost), measured, 0)
        mean, variance = formula(loss, loss if both else 0, slots)
        way = (measured - slot - 2 * delay * 10**6) / slot  # without the first packet's way
        compare("goodput by the formula", case, 1 / mean, packets / way,
                4 * math.sqrt(packets * variance) / (packets * mean))
    return report()


if __name__ == "__main__":
    sys.exit(main())
