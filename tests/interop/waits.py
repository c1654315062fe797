# SPDX-License-Identifier: Apache-2.0
"""Measures how long processes were ready to run and waited for a processor, by the kernel's counts
(/proc/PID/task/TID/schedstat: ns on a processor, ns of waiting), looked at every millisecond
by a process of its own. A wait is counted when it is over. Says whether a slow epoch of
tools/wire-dart was the scheduler's.
"""
import bisect
import glob
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

STEP = 0.001  # seconds between two looks
RECORD = "Q6Q"  # time in ns; for each of three processes: ns that it ran, and ns that it waited
PROCESSES = 3


def counters(pid):
    """Sums over the threads of a process."""
    run = waited = 0
    for name in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(name, encoding="ascii") as text:
                words = text.read().split()
        except OSError:
            continue  # a thread that has just ended
        run += int(words[0])
        waited += int(words[1])
    return run, waited


def look(pids, out):
    """Until SIGTERM."""
    while True:
        values = [value for pid in pids for value in counters(pid)]
        out.write(struct.pack(RECORD, time.time_ns(), *values))
        time.sleep(STEP)


class Watch:
    """Watches three processes, given by name and number."""

    def __init__(self, processes):
        self.names = list(processes)
        self.records = tempfile.TemporaryFile()
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__),
                                         *map(str, processes.values())], stdout=self.records)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.records.seek(0)
        seen = self.records.read()
        size = struct.calcsize(RECORD)
        self.looks = list(struct.iter_unpack(RECORD, seen[:len(seen) // size * size]))
        self.times = [look[0] for look in self.looks]

    def waited(self, begin, end):
        """Returns the ns that each process has waited, by name, from the sample before `begin` to
        the one after `end`."""
        i = max(0, bisect.bisect_right(self.times, begin) - 1)
        k = min(len(self.looks) - 1, bisect.bisect_left(self.times, end))
        return {name: self.looks[k][2 + 2 * n] - self.looks[i][2 + 2 * n]
                for n, name in enumerate(self.names)}


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with os.fdopen(1, "wb", closefd=False) as output:
        look([int(word) for word in sys.argv[1:1 + PROCESSES]], output)
