#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DCQCN's state machines, replayed from the events of a run.

The oracle of the sender: Fig 7 and equations 1 to 4 of the DCQCN paper (sec 3.1). It reads from the
trace only when CNPs arrived and which packets left, and computes each rate and each alpha with 40
decimal digits. Where the paper is silent it follows docs/papers/dcqcn.md: an event is counted
before the stage is chosen; hyper increase asks for min(T, BC) > F; R_T is at most the line; bytes
count on the line; a limiter that reaches the line is forgotten.

The oracle of the receiver: Fig 6. It reads which marked packets arrived. A CNP is due at once, or
at the end of the interval that the CNP before began.

NICs in use read the algorithm otherwise, and oche's defaults are theirs. Their rules are those of
docs/papers/dcqcn.md#readings, column nic: alpha has a timer of its own, each period at most one
cut, increases by the timer alone, and a CNP leaves with a marked packet or not at all.

Worlds: the paper's values, the strawman of sec 5.2, and values that a fixed seed draws, for both
readings.

Tolerances: times and stages 0; rates and alpha the last digit of the trace (a bit a second, 2^-32),
as they are rounded; a CNP leaves late by at most the time of an ACK and another CNP on the line.
"""
import random
import sys
from decimal import ROUND_HALF_UP, Decimal, getcontext

from product import compare, events, must, report, run, write

getcontext().prec = 40
US = 10**6  # in ps
LEAST = 8 + 14 + 20 + 8 + 12 + 4 + 4 + 12  # bytes of a packet on the line, beside the payload
RETH, ACK, CNP = 16, LEAST + 4, LEAST + 16
WRITE_FIRST, WRITE_ONLY = "6", "10"  # opcodes of InfiniBand's reliable connection
CUT, FIRST_CNP, FAST, ADDITIVE, HYPER = "1", "2", "3", "4", "5"  # causes in the trace
LAST_DIGIT = 1.001  # bit/s; a little more, as deviations are doubles
WORLDS, DURATION = 8, 12  # of each reading; ms

PAPER = {"mode": "paper", "rate": 40, "senders": 4, "g": Decimal(1) / 256, "alpha_interval": 55,
         "cnp_interval": 50, "timer": 55, "byte_counter": 10**7, "fast_recovery_steps": 5,
         "rai": 40 * 10**6, "rhai": 200 * 10**6, "floor": Decimal("0.001"), "kmin": 5000,
         "kmax": 200000, "pmax": "0.01"}
STRAWMAN = dict(PAPER, senders=8, g=Decimal(1) / 16, timer=1500, byte_counter=150000, kmin=40000,
                kmax=40000, pmax="1")


def drawn(draw):
    kmin = draw.choice((5000, 20000, 100000))
    return {"mode": "paper", "rate": draw.choice((10, 25, 40)), "senders": draw.randint(2, 6),
            "g": Decimal(1) / draw.choice((4, 16, 64, 256)),
            "alpha_interval": draw.randint(51, 120), "cnp_interval": draw.randint(10, 50),
            "timer": draw.randint(20, 200), "byte_counter": draw.randint(20, 400) * 1000,
            "fast_recovery_steps": draw.randint(1, 5), "rai": draw.randint(5, 100) * 10**6,
            "rhai": draw.randint(50, 500) * 10**6,
            "floor": Decimal(draw.choice(("0.001", "0.02"))), "kmin": kmin,
            "kmax": kmin + draw.choice((0, 50000, 400000)),
            "pmax": draw.choice(("0.005", "0.02", "0.2", "1"))}


def drawn_nic(draw):
    # An odd number of ns: the timer and the check of a period are never due at once.
    timer = Decimal(draw.randint(2, 30) * 10000 + 7) / 1000
    return dict(drawn(draw), mode="nic", alpha_interval=draw.randint(1, 20),
                cnp_interval=draw.randint(2, 20), timer=timer, period=draw.choice((3, 4, 7)),
                fast_recovery_steps=draw.randint(1, 3),
                first=Decimal(draw.choice(("1", "0.75", "0.25"))))


def whole(value):
    return int(value.to_integral_value(ROUND_HALF_UP))


class Sender:
    """The reaction point of a flow (Fig 7). `shown` has what the product has to show: (time, cause,
    rate) where the rate in whole bits changes, and (time, alpha, R_T) after each cut."""

    def __init__(self, values):
        self.values, self.line = values, Decimal(values["rate"] * 10**9)
        self.least = values["floor"] * self.line
        self.published, self.shown = whole(self.line), []
        self.free()

    def free(self):
        self.limited, self.alpha = False, Decimal(1)
        self.current = self.target = self.line
        self.timer_due = self.alpha_due = None

    def show(self, now, cause):
        rate = whole(self.current)
        if rate != self.published:
            self.shown.append((now, cause, rate))
            self.published = rate

    def cnp(self, now):
        gain = self.values["g"]
        self.limited = True
        self.target = self.current  # eq 1
        self.current = max(self.least, self.current * (1 - self.alpha / 2))
        self.alpha = (1 - gain) * self.alpha + gain
        self.times = self.rounds = self.bytes = 0
        self.timer_due = now + int(self.values["timer"] * US)
        self.alpha_due = now + self.values["alpha_interval"] * US
        self.show(now, CUT)
        self.shown.append((now, whole(self.alpha * 2**32), whole(self.target)))

    def until(self, now):
        """Handles the timers that are due before `now`."""
        while self.limited and min(self.timer_due, self.alpha_due) < now:
            if self.alpha_due <= self.timer_due:
                self.alpha *= 1 - self.values["g"]  # eq 2
                self.alpha_due += self.values["alpha_interval"] * US
            else:
                self.times += 1
                self.timer_due += int(self.values["timer"] * US)
                self.increase(self.timer_due - int(self.values["timer"] * US))

    def sent(self, now, line_bytes):
        if not self.limited:
            return
        self.bytes += line_bytes
        if self.bytes >= self.values["byte_counter"]:
            self.bytes = 0
            self.rounds += 1
            self.increase(now)

    def increase(self, now):
        steps = self.values["fast_recovery_steps"]
        cause = ADDITIVE
        if max(self.times, self.rounds) < steps:
            cause = FAST
        elif min(self.times, self.rounds) > steps:
            cause = HYPER
            self.target += (min(self.times, self.rounds) - steps) * self.values["rhai"]
        else:
            self.target += self.values["rai"]
        self.target = min(self.target, self.line)
        self.current = (self.current + self.target) / 2  # eqs 3 and 4
        self.show(now, cause)
        if self.published == whole(self.line):
            self.free()


class NicSender(Sender):
    """The reaction point as in NICs."""

    def free(self):
        super().free()
        self.check_due, self.came, self.raised = None, False, False

    def cnp(self, now):
        if self.limited:
            self.came = True
        else:
            self.limited, self.begin = True, now
            self.current = self.target = max(self.least, self.values["first"] * self.line)
            self.show(now, FIRST_CNP)
            self.times = 0
            self.timer_due = now + int(self.values["timer"] * US)
            self.alpha_due = now + self.values["alpha_interval"] * US
        period = self.values["period"] * US
        periods = max(1, -((self.begin - now) // period))
        self.check_due = self.begin + periods * period

    def until(self, now):
        while self.limited:
            due = min(when for when in (self.timer_due, self.alpha_due, self.check_due) if when)
            if due >= now:
                return
            if due == self.alpha_due:
                self.alpha *= 1 - self.values["g"]
                self.alpha += self.values["g"] if self.came else 0
                self.came = False
                self.alpha_due += self.values["alpha_interval"] * US
            elif due == self.check_due:
                self.cut(due)
            else:
                self.timer_due += int(self.values["timer"] * US)
                self.increase(due)

    def cut(self, now):
        if self.raised:
            self.target = self.current
        self.current = max(self.least, self.current * (1 - self.alpha / 2))
        self.check_due, self.raised, self.times = None, False, 0
        self.timer_due = now + int(self.values["timer"] * US)
        self.show(now, CUT)
        self.shown.append((now, whole(self.alpha * 2**32), whole(self.target)))

    def sent(self, now, line_bytes):
        pass

    def increase(self, now):
        steps, cause = self.values["fast_recovery_steps"], FAST
        if self.times > steps:
            cause = HYPER
            self.target += self.values["rhai"]
        elif self.times == steps:
            cause = ADDITIVE
            self.target += self.values["rai"]
        self.times += 1
        self.raised = True
        self.target = min(self.target, self.line)
        self.current = (self.current + self.target) / 2
        self.show(now, cause)


def cnps_due(marks, interval, waits):
    """Returns when CNPs are due for packets that arrived with a mark (Fig 6). `waits`: a mark
    within the interval is answered at its end, and else not at all."""
    due = []
    for now in marks:
        if not waits:
            if not due or now >= due[-1] + interval:
                due.append(now)
            continue
        if due and now <= due[-1]:
            continue  # the CNP that waits answers this packet, too
        due.append(max(now, due[-1] + interval) if due else now)
    return due


def scenario(values):
    nic = (f"mode: nic, min_rate: {whole(values['floor'] * values['rate'] * 10**9)}bps, "
           f"reduce_monitor_period: {values['period']}us, rate_on_first_cnp: {values['first']}, "
           if values["mode"] == "nic" else "")
    # The first flow ends last and is alone at the end, so it is free again; then another begins.
    senders, share = values["senders"], values["rate"] * 10**9 / 8 * DURATION / 1000
    rows = [(1, int(share), 0), (2, int(share / 4), DURATION * 0.8e-3)]
    rows += [(sender, int(share / 4 / senders), sender * sender * 1.3e-5)
             for sender in range(3, senders + 1)]
    write("flows.csv", "src,dst,bytes,start\n" +
          "".join(f"{src},0,{bytes_},{start:.9f}\n" for src, bytes_, start in rows))
    return (f"topology: {{type: star, hosts: {senders + 1}, host_rate: {values['rate']}Gbps, "
            "delay: 1us}\ndefaults: paper\ncongestion_control: {name: dcqcn, idle_timeout: never, "
            f"{nic}g: {values['g']}, alpha_interval: {values['alpha_interval']}us, "
            f"cnp_interval: {values['cnp_interval']}us, timer: {values['timer']}us, "
            f"byte_counter: {values['byte_counter']}B, "
            f"fast_recovery_steps: {values['fast_recovery_steps']}, rai: {values['rai']}bps, "
            f"rhai: {values['rhai']}bps, min_rate_fraction: {values['floor']}}}\n"
            f"switch: {{buffer: 200MB, pfc: false, kmin: {values['kmin']}B, "
            f"kmax: {values['kmax']}B, pmax: {values['pmax']}}}\n"
            f"measure: {{interval: 0}}\nduration: {DURATION}ms\n"
            "workload: {type: from_file, file: flows.csv}\n")


def replay(rows, values):
    """Returns the sender of the rows of one flow, and what the product showed."""
    sender, shown = (NicSender if values["mode"] == "nic" else Sender)(values), []
    for row in rows:
        now, event = int(row["time_ps"]), row["event"]
        if event == "RATE_CHANGED":
            shown.append((now, row["cause"], int(row["rate_bps"])))
        elif event == "CC_STATE":
            shown.append((now, int(row["state_a"]), int(row["state_b"])))
        elif event == "CNP_ARRIVED":
            sender.until(now)
            sender.cnp(now)
        elif event == "DATA_SENT":
            sender.until(now + 1)  # a timer that is due now may be why the packet leaves
            payload = int(row["bytes"])
            reth = RETH if row["opcode"] in (WRITE_FIRST, WRITE_ONLY) else 0
            sender.sent(now, LEAST + payload + -payload % 4 + reth)
        elif event == "FLOW_ENDED":
            sender.until(now)
            return sender, shown
    sender.until(int(rows[-1]["time_ps"]) + 1)
    return sender, shown


def compare_sender(case, sender, shown, seen):
    expected = sender.shown
    must(len(expected) == len(shown), f"{case}: {len(shown)} changes, {len(expected)} expected")
    for mine, told in zip(expected, shown):
        is_rate = isinstance(mine[1], str)
        same = mine[0] == told[0] and isinstance(told[1], str) == is_rate
        must(same and (not is_rate or mine[1] == told[1]), f"{case}: {told}, expected {mine}")
        if not same:
            return
        what = f"{case} at {mine[0]} ps"
        compare("R_C and R_T", what, mine[2], told[2], LAST_DIGIT / mine[2])
        if is_rate:
            seen[mine[1]] = seen.get(mine[1], 0) + 1
            seen["floor"] = seen.get("floor", 0) + (mine[2] == whole(sender.least))
            seen["free"] = seen.get("free", 0) + (mine[2] == whole(sender.line))
        else:
            compare("alpha", what, 2**32 + mine[1], 2**32 + told[1], 2**-32)


def compare_receiver(case, rows, values):
    end = int(rows[-1]["time_ps"])
    marks = [int(row["time_ps"]) for row in rows if row["event"] == "DATA_ARRIVED" and
             row.get("ecn") == "3"]
    sent = [int(row["time_ps"]) for row in rows if row["event"] == "CNP_SENT"]
    late = (ACK + CNP) * 8000 // values["rate"]
    waits = values["mode"] == "paper"
    due = [when for when in cnps_due(marks, values["cnp_interval"] * US, waits) if when <= end]
    must(len(due) == len(sent), f"{case}: {len(sent)} CNPs, {len(due)} expected")
    for mine, told in zip(due, sent):
        compare("time of a CNP", f"{case}: CNP due at {mine} ps", 0, max(0, mine - told), 0)
        must(told - mine <= late, f"{case}: CNP due at {mine} ps leaves at {told} ps")


def check(case, values, seen):
    run(scenario(values), "--trace", "trace.csv")
    flows = {}
    for row in events("trace.csv", "RATE_CHANGED", "CC_STATE", "CNP_ARRIVED", "DATA_SENT",
                      "FLOW_ENDED", "DATA_ARRIVED", "CNP_SENT"):
        flows.setdefault((row["node"], row["connection"]), []).append(row)
    for (node, connection), rows in flows.items():
        what = f"{case}, connection {connection} at {node}"
        if node == "host0":
            compare_receiver(what, rows, values)
        elif rows[0]["event"] == "DATA_SENT":
            compare_sender(what, *replay(rows, values), seen)


def main():
    draw, seen, seen_nic = random.Random(43), {}, {}
    for world in range(WORLDS):
        check(f"world {world}", (PAPER, STRAWMAN)[world] if world < 2 else drawn(draw), seen)
    for world in range(WORLDS):
        check(f"NIC's world {world}", drawn_nic(draw), seen_nic)
    for what in (CUT, FAST, ADDITIVE, HYPER, "floor", "free"):
        must(seen.get(what), f"no such change of a rate: {what}")
    for what in (CUT, FIRST_CNP, FAST, ADDITIVE, HYPER, "floor"):
        must(seen_nic.get(what), f"no such change of a NIC's rate: {what}")
    return report()


if __name__ == "__main__":
    sys.exit(main())
