#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DCQCN's fluid model: where it rests, and how it gets there.

The oracle: equations 5 to 9 of the DCQCN paper (sec 5.1), in packets and seconds. At rest all flows
have C/N. Then eq 9 = 0 gives R_T - R_C, eq 8 with this R_T - R_C is a function of the mark p alone,
and bisection finds its root; eqs 5 and 7 give queue and alpha. The transient is the same equations
for each of two flows, by Euler's method with steps of 0.5 us.

Tolerance of the fixed point, 0.01 %: the CSV file has 9 digits or more, so only rounding is left.
Tolerance of the way there, 0.5 %: Euler's method errs by about half a step's change, most while the
first queue builds up.
"""
import math
import sys

from product import compare, output_of, report, rows_of

PACKET = 1000.0  # bytes
KMIN, KMAX, PMAX = 5e3 / PACKET, 200e3 / PACKET, 0.01
CAPACITY = 40e9 / 8 / PACKET  # packets a second
ALPHA_INTERVAL, CNP_INTERVAL, TIMER = 55e-6, 50e-6, 55e-6
BYTE_COUNTER = 10e6 / PACKET
FAST_RECOVERY, GAIN = 5, 1 / 256
INCREASE = 40e6 / 8 / PACKET  # R_AI
COUNTS = range(2, 17)
DELAY = 4e-6
LEAST = 1e-300


class Terms:
    """The factors of eqs 7 to 9 that depend on the mark p and the rate R a loop delay ago."""

    def __init__(self, mark, rate):
        kept = math.log1p(-mark)  # (1 - p)^x = exp(x kept)
        self.cut = -math.expm1(CNP_INTERVAL * rate * kept)
        self.alpha = -math.expm1(ALPHA_INTERVAL * rate * kept)
        if mark < LEAST:
            bytes_, timer = 1 / BYTE_COUNTER, 1 / (TIMER * rate)
        else:
            bytes_ = mark / math.expm1(-BYTE_COUNTER * kept)
            timer = mark / math.expm1(-TIMER * rate * kept)
        self.increases = bytes_ + timer
        self.additive = (bytes_ * math.exp(FAST_RECOVERY * BYTE_COUNTER * kept) +
                         timer * math.exp(FAST_RECOVERY * TIMER * rate * kept))


def target_grows(mark, rate):
    """Returns dR_T/dt (eq 8) if alpha (eq 7) and R_C (eq 9) rest."""
    terms = Terms(mark, rate)
    above = rate * terms.alpha / CNP_INTERVAL * terms.cut / (rate * terms.increases)
    return -above / CNP_INTERVAL * terms.cut + INCREASE * rate * terms.additive


def fixed_point(flows):
    rate, low, high = CAPACITY / flows, 1e-9, 0.9
    for _ in range(200):
        middle = math.sqrt(low * high)
        if target_grows(middle, rate) > 0:
            low = middle
        else:
            high = middle
    return low, Terms(low, rate).alpha, KMIN + low / PMAX * (KMAX - KMIN)


def red(queue):
    if queue <= KMIN:
        return 0.0
    return (queue - KMIN) / (KMAX - KMIN) * PMAX if queue <= KMAX else 1.0


def transient(rates, duration, step, every):
    """Returns the queue and the rates after each `every`."""
    count, delay = round(duration / step), round(DELAY / step)
    current, target, alpha = list(rates), list(rates), [1.0] * len(rates)
    queue, points, shown = 0.0, [], round(every / step)
    marks, past = [0.0] * delay, [tuple(rates)] * delay
    for number in range(count + 1):
        if number % shown == 0:
            points.append((queue, *current))
        mark, rates_then = marks[number % delay], past[number % delay]
        marks[number % delay], past[number % delay] = red(queue), tuple(current)
        queue = max(0.0, queue + (sum(current) - CAPACITY) * step)
        for i, then in enumerate(rates_then):
            terms = Terms(mark, then)
            above = target[i] - current[i]
            cut = current[i] * alpha[i] / (2 * CNP_INTERVAL) * terms.cut
            target[i] += step * (INCREASE * then * terms.additive -
                                 above / CNP_INTERVAL * terms.cut)
            target[i] = min(target[i], CAPACITY)
            alpha[i] += step * GAIN / ALPHA_INTERVAL * (terms.alpha - alpha[i])
            current[i] = min(CAPACITY, current[i] + step * (above / 2 * then * terms.increases -
                                                            cut))
    return points


def main():
    output_of("fluid", "--fixed-point", "--counts", ",".join(map(str, COUNTS)), "--csv",
              "points.csv")
    for row in rows_of("points.csv"):
        flows = int(row["flows"])
        mark, alpha, queue = fixed_point(flows)
        compare("mark at rest", f"p* of {flows} flows", mark, float(row["mark"]), 1e-4)
        if mark <= PMAX:
            compare("queue at rest", f"queue of {flows} flows", queue * PACKET,
                    float(row["queue_bytes"]), 1e-4)
        compare("alpha at rest", f"alpha of {flows} flows", alpha, float(row["alpha"]), 1e-4)
    output_of("fluid", "--duration", "30ms", "--interval", "1ms", "--csv", "run.csv", "--quiet")
    points = transient((CAPACITY, CAPACITY / 8), 30e-3, 0.5e-6, 1e-3)
    for row, point in list(zip(rows_of("run.csv"), points))[1:]:
        expected = (point[0] * PACKET, *(rate * 8 * PACKET for rate in point[1:]))
        for name, value in zip(("queue_bytes", "flow1_bps", "flow2_bps"), expected):
            compare("way to the fixed point", f"{name} at {row['time_s']} s", value,
                    float(row[name]), 5e-3)
    return report()


if __name__ == "__main__":
    sys.exit(main())
