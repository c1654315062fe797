# SPDX-License-Identifier: Apache-2.0
"""Dart's testbed experiment (ToN 2020, sec V-A, Figs 8 and 9) on the wire: a sender that writes all
the time, one that writes bursts, and a receiver, each a process in a network namespace; a bridge;
and the receiver's port limited by the kernel's token bucket (tc tbf). tools/wire-dart and a test
share it.

All is timed on the bridge, by the kernel, with one clock, where the paper has three and measures
the same at the receiver (t_cpu + t_b + t_f'). An epoch begins when the first packet of a burst
leaves its sender.
  told       until the long flow's sender is handed its first share that counts both senders
  converged  until its packets leave at the new rate: the start of the first WINDOW of them whose
             mean rate is half of the port's, give or take SLACK
"""
import bisect
import os
import signal
import struct
import subprocess
import tempfile
import time

import incast
import pairs
import waits

LONG, SHORT = 2, 3  # hosts; the receiver is incast.RECEIVER
DATA, BURST, SHARE, ACK = 1, 2, 3, 4  # records of wire_watch
WINDOW = 24  # packets
SLACK = 0.15
QUIET = 20e6  # ns without a packet of the short flow, before a burst
FRAME = 1082  # bytes of a full packet in the token bucket's count
MARK_AT = 1.0  # of the port's packets a second: 30 packets more than that, and what comes is marked
BUFFER = 1000000
OCHE = ["--recovery", "selective_repeat,rto=measured,rto_low=50ms,rto_high=200ms,window=4096"]


# The device derives parameters from the line's rate and the round trip (docs/wire.md).
SCHEMES = {"Dart": "dart", "DCQCN": "dcqcn", "TIMELY": "timely"}


class Epochs:
    """The epochs of one run. Times are in ns."""

    def __init__(self, records, mbps):
        self.long = [(t, value) for t, what, value in records if what == DATA]
        self.times = [t for t, _ in self.long]
        self.short = [t for t, what, _ in records if what == BURST]
        self.shares = [(t, value) for t, what, value in records if what == SHARE]
        self.acks = [t for t, what, _ in records if what == ACK]
        self.half = mbps * 1e6 / 2
        self.waits = None
        self.begins, self.ends = [], []
        for i, t in enumerate(self.short):
            if i == 0 or t - self.short[i - 1] > QUIET:
                self.begins.append(t)
                if i > 0:
                    self.ends.append(self.short[i - 1])
        if self.short:
            self.ends.append(self.short[-1])

    def told(self):
        """Returns each epoch's time until a share of two came; None if the burst was over first."""
        when = [t for t, _ in self.shares]
        found = []
        for begin, end in zip(self.begins, self.ends):
            i = bisect.bisect_left(when, begin)
            while i < len(when) and when[i] <= end and self.shares[i][1] < 2:
                i += 1
            found.append(when[i] - begin if i < len(when) and when[i] <= end else None)
        return found

    def silence(self, begin, end):
        """The longest time, between `begin` and `end`, in which the receiver sent nothing to the
        long flow's sender. The receiver acknowledges this flow's packets all the time."""
        when = [t for t, _ in self.shares]
        i, k = bisect.bisect_left(when, begin), bisect.bisect_right(when, end)
        marks = [begin, *when[i:k], end]
        return max(b - a for a, b in zip(marks, marks[1:]))

    def converged(self):
        most = self.half * (1 + SLACK)
        least = WINDOW * FRAME * 8e9 / most  # ns that a window takes
        longest = WINDOW * FRAME * 8e9 / (self.half * (1 - SLACK))
        found = []
        for begin, end in zip(self.begins, self.ends):
            i = bisect.bisect_left(self.times, begin)
            while i + WINDOW < len(self.times) and self.times[i] <= end and \
                    not least <= self.times[i + WINDOW] - self.times[i] <= longest:
                i += 1
            there = i + WINDOW < len(self.times) and self.times[i] <= end
            found.append(self.times[i] - begin if there else None)
        return found

    def rates(self, step):
        """Bits per second of the long flow in steps of so many ns: a list of (time, rate)."""
        found, begin, total = [], self.times[0], 0
        for t, value in self.long:
            while t >= begin + step:
                found.append((begin, total * 8e9 / step))
                begin, total = begin + step, 0
            total += value
        return found

    def levels(self, settle):
        """The long flow's rate before each burst, and beside it, `settle` ns after each change;
        None where nothing is left then."""
        alone, beside = [], []
        after = [self.times[0]] + self.ends[:-1]
        for previous, begin, end in zip(after, self.begins, self.ends):
            alone.append(self.between(previous + settle, begin))
            beside.append(self.between(begin + settle, end))
        return alone, beside

    def between(self, begin, end):
        if end - begin <= 0:  # which may be even if end > begin, in floating point
            return None
        i, k = bisect.bisect_left(self.times, begin), bisect.bisect_left(self.times, end)
        return sum(value for _, value in self.long[i:k]) * 8e9 / (end - begin)

    def round_trips(self):
        """From the first packet of a burst to the first acknowledgement: of bursts of one packet
        without a long flow it is the unloaded round trip."""
        found = []
        for begin in self.begins:
            i = bisect.bisect_left(self.acks, begin)
            if i < len(self.acks):
                found.append(self.acks[i] - begin)
        return found


def mark(mbps):
    """Marks packets if the port's queue is longer than 30 packets. A token bucket of the same rate
    stands for the queue."""
    rules = (f"table netdev dasr {{\n chain marks {{\n  type filter hook egress device "
             f"data{incast.RECEIVER} priority 0; policy accept;\n  ip ecn != 0 limit rate over "
             f"{int(mbps * 1e6 / 8 / FRAME * MARK_AT)}/second burst 30 packets ip ecn set ce\n }}\n"
             "}\n")
    subprocess.run(["nft", "-f", "-"], input=rules, text=True, check=True)


def waits_of(receiver, senders):
    names = ("receiver", "long flow", "short flow")
    return waits.Watch({name: process.pid for name, process in zip(names, [receiver, *senders])})


def processor_times():
    with open("/proc/stat", encoding="ascii") as lines:
        words = [int(word) for word in lines.readline().split()[1:9]]
    return words[3] + words[4], sum(words)


class Bench:
    def __init__(self, build, mbps):
        self.oche = os.path.join(build, "oche")
        self.programs = os.path.join(build, "tests", "interop")
        self.mbps = mbps
        self.switch = incast.Switch(2, mbps, BUFFER)
        mark(mbps)
        for host in (LONG, SHORT):  # every link has the rate: no sender's burst queues at the port
            incast.command(["tc", "qdisc", "replace", "dev", "data", "root", "tbf", "rate",
                            f"{mbps}mbit", "burst", "3000", "limit", str(BUFFER)],
                           self.switch.hosts[host - 1].enter)
        self.idle = None  # part of the processors that was idle in the last run

    def close(self):
        subprocess.run(["nft", "delete", "table", "netdev", "dasr"], capture_output=True,
                       check=False)
        self.switch.close()

    def start(self, host, scheme, *words):
        address = 100 if host == incast.RECEIVER else host
        side = pairs.Side(f"{incast.DATA}{address}", ["--poll", "sleep", "--line-rate",
                          f"{self.mbps}Mbps", "--cc", scheme, *OCHE],
                          self.switch.hosts[host - 1].enter)
        return side.start(self.oche, [os.path.join(self.programs, "wire_flows"), *map(str, words)])

    def run(self, scheme, bursts, messages, period_ms, size=65536, long=True, watch_waits=False):
        """An Epochs; `watch_waits`: its `waits` are those of the processes."""
        to = f"{incast.DATA}100"
        seconds = bursts * period_ms / 1000 + 2
        with tempfile.TemporaryFile() as records:
            watch = subprocess.Popen([os.path.join(self.programs, "wire_watch"), f"data{LONG}",
                                      f"data{SHORT}"], stdout=records, stderr=subprocess.PIPE,
                                     text=True)
            if watch.stderr.readline() != "ready\n":
                pairs.fail("wire_watch", watch.communicate()[1])
            receiver = self.start(incast.RECEIVER, scheme, "receive", to, 1 + long)
            if receiver.stdout.readline() != "ready\n":
                pairs.fail("the receiver", pairs.said_by(receiver, 1))
            idle, total = processor_times()
            senders = []
            if long:
                senders.append(self.start(LONG, scheme, "long", to, int(seconds + 1)))
                time.sleep(1)
            senders.append(self.start(SHORT, scheme, "short", to, bursts, messages, period_ms,
                                      size))
            looks = waits_of(receiver, senders) if watch_waits else None
            said = [pairs.said_by(process, seconds + 60) for process in reversed(senders)]
            idle_now, total_now = processor_times()
            self.idle = (idle_now - idle) / (total_now - total)
            if looks is not None:
                looks.end()
            watch.send_signal(signal.SIGTERM)
            missed = watch.communicate()[1]
            pairs.said_by(receiver, 5)
            for (text, late), process in zip(said, reversed(senders)):
                if late or process.returncode != 0:
                    pairs.fail(scheme, text)
            if "missed 0" not in missed:
                print(f"wire_watch: {missed.strip()} packets")
            records.seek(0)
            found = Epochs([(t, what >> 32, what & 0xffffffff)
                            for t, what in struct.iter_unpack("QQ", records.read())], self.mbps)
            found.waits = looks
            return found
