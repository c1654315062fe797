#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A key that does nothing says so. In small scenarios each key is set to other valid values. If no
value moves the trace hash or a metric, `oche run` must have said that the key has no effect, or
the key is listed below with a reason. An entry that is no longer needed is a failure, too.

    knobs.py [SCENARIO …]    without arguments: the scenarios below

A key is also a failure if a line calls it idle and it moves something.

Environment: OCHE.
"""
import json
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from checks import check, must, report, run_program

OCHE = os.environ["OCHE"]

# Each scenario has as many things happen as it can: marks, PAUSEs, losses, timeouts. The sections
# are those whose keys are tried. Keys of schemes need longer runs, and have tests of their own.
SCENARIOS = {
    "lossless": ("topology switch host workload loss", """
duration: 500us
topology: {type: star, hosts: 6, host_rate: 25Gbps}
switch: {buffer: 200KB}
host: {ack_timeout: 50us}
workload: {type: incast, degree: 4, bytes: 100KB, period: 100us, jitter: 1us}
loss: {probability: 1%}
"""),
    "lossy": ("topology routes switch host failures loss workload recovery", """
duration: 200us
topology: {type: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 3}
switch: {pfc: false, ecn: false, buffer: 100KB}
host: {ack_timeout: 30us}
congestion_control: timely
recovery: selective_repeat
workload: {type: permutation, bytes: 100KB, messages: 0}
loss: {late: 2%, late_least: 1us, late_most: 5us}
failures: {link: "leaf0:spine1", at: 50us, until: 150us}
routes: {reroute: 20us}
"""),
    "tcp": ("switch host", """
duration: 1ms
topology: {type: dumbbell, left_hosts: 3, right_hosts: 3}
switch: {buffer: 100KB, kmin: 5KB, kmax: 40KB}
congestion_control: {name: dctcp, rto_min: 100us}
workload: {type: incast, degree: 3, bytes: 200KB, period: 200us}
"""),
    "credits": ("switch", """
duration: 200us
topology: {type: star, hosts: 6, host_rate: 25Gbps}
switch: {mechanisms: [ib_credits]}
congestion_control: ib_cc
workload: {type: incast, degree: 4, bytes: 100KB, period: 100us, verb: read}
loss: {probability: 1%}
"""),
}

# By scenario, keys that move nothing there, and why.
KNOWN = {
    "lossless": {
        "host.ack_priority": "ACKs meet no queue",
        "host.limiter_lag": "no flow is long enough for two rates",
        "host.resend_one_verb_at_a_time": "each queue pair has one message",
        "switch.pfc_priorities": "beta: auto makes up for it",
    },
    "lossy": {
        "host.ack_timeout": "selective_repeat finds all losses in time",
        "host.ecn_threshold": "timely asks for no marks",
        "host.limiter_lag": "as above",
        "host.priority_upto": "all flows are larger, or none is",
        "host.resend_one_verb_at_a_time": "as above",
        "host.retry_count": "no timeouts",
        "host.timer_restart": "no timeouts",
        "recovery.few_packets": "no timeouts",
        "recovery.probe": "no timeouts",
        "recovery.rto_most": "no timeouts",
        "recovery.sack": "each packet asks for an ACK",
        "recovery.undo": "no timeouts",
        "switch.ecn": "timely asks for no marks",
    },
    "tcp": {
        "switch.pfc": "TCP's packets are not lossless",
    },
    "credits": {
        "switch.buffer": "credits keep queues shorter",
        "switch.chip": "it decides the buffer alone",
        "switch.pfc": "credits replace it",
    },
}

FIRST = {"count": ["1", "2", "7"], "bytes": ["2KB", "40KB", "400KB"], "time": ["2us", "40us"],
         "rate": ["10Gbps"], "real": ["0.5", "0.05"]}
NUMBER = re.compile(r"([0-9.]+)(/[0-9]+)?([A-Za-z%]*)$")


def oche(scenario, folder, *arguments):
    done = run_program(OCHE, "run", scenario, "--out", folder, "--json", "--threads", "1",
                       *arguments)
    return json.loads(done.stdout)["runs"][0] if done.returncode in (0, 3) else None


def choices():
    """Returns the values of each choice, by the last part of its key; several keys may share it."""
    shown = run_program(OCHE, "run", "--show-defaults").stdout
    found = {}
    for name, values in re.findall(r"^ +(\w+) +choice +default [^;\n]+; (?:paper \w+; )?(.*)$",
                                   shown, re.M):
        found.setdefault(name, []).extend(values.split(", "))
    return found


def others(key, value, unit, words):
    """Returns values to try instead of `value`."""
    value = re.sub(r"^auto \((.*)\)$", r"\1", value).split(" (")[0]
    if unit == "bool":
        return ["false" if value == "true" else "true"]
    if unit == "choice":
        return [word for word in words.get(key.split(".")[-1], []) if word != value]
    number = NUMBER.match(value)
    if number is None or float(number[1]) == 0:
        return FIRST.get(unit, [])
    x = float(number[1]) / float((number[2] or "/1")[1:])
    return [f"{x * factor:.6g}{number[3]}" for factor in (2, 0.5, 0.1)] + FIRST[unit]


def effect(run):
    """Returns what a key may move."""
    metrics = run["metrics"]
    return run["info"]["trace_hash"], {name: value for name, value in metrics.items()
                                       if not name.startswith("wall")}


def is_called_idle(run, key):
    """True if a line of the run says that the key has no effect."""
    return any(text.startswith(f"{key} has no effect here:") for text in run["info"].values())


def is_mentioned(run, key):
    """True if a remark about queue pairs or receivers names the key."""
    last = key.split(".")[-1]
    return any("nothing comes of" in text and re.search(rf"\b{last}\b", text)
               for text in run["info"].values())


class Scenario:
    def __init__(self, path, work, sections):
        self.path, self.work = path, work
        self.base = oche(path, os.path.join(work, "base"))
        must(self.base is not None, path, "cannot be run")
        shown = run_program(OCHE, "run", path, "--show-defaults").stdout
        found = re.findall(r"^(\w[\w.\[\]]*) {2,}(\S.*?) +(bool|choice|count|bytes|time|rate|"
                           r"real)\b", shown, re.M)
        self.keys = [entry for entry in found if not entry[0].endswith(".preset") and
                     (sections is None or re.split(r"[.\[]", entry[0])[0] in sections)]

    def is_silent(self, entry, words):
        """True if no value of the key moves anything, and no line says so."""
        key, value, unit = entry
        tried = False
        for other in others(key, value, unit, words):
            run = oche(self.path, os.path.join(self.work, re.sub(r"\W", "_", key)),
                       "--set", f"{key}={other}")
            if run is None:
                continue
            tried = True
            moves = effect(run) != effect(self.base)
            if is_called_idle(run, key):
                check(not moves, f"{self.path}: {key}={other} has an effect, and is called idle")
                return False
            if moves or is_mentioned(run, key):
                return False
        return tried


def judge(name, scenario, words, pool):
    """Compares the keys that move nothing with those that are known."""
    silent = {entry[0] for entry, found in
              zip(scenario.keys, pool.map(lambda entry: scenario.is_silent(entry, words),
                                          scenario.keys)) if found}
    known = set(KNOWN.get(name, ()))
    print(f"{name}: {len(scenario.keys)} keys, {len(silent)} move nothing")
    for key in sorted(silent - known):
        check(False, f"{name}: {key} moves nothing, and no line says so")
    for key in sorted(known - silent):
        check(False, f"{name}: {key} moves something, or a line says that it does not; take it off "
                     "the list")


def main():
    words = choices()
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as pool:
        given = {os.path.basename(path): (path, None) for path in sys.argv[1:]}
        for name, (sections, text) in ({} if given else SCENARIOS).items():
            given[name] = os.path.join(work, name + ".yaml"), sections.split()
            with open(given[name][0], "w", encoding="utf-8") as file:
                file.write(text)
        for name, (path, sections) in given.items():
            judge(name, Scenario(path, os.path.join(work, "out-" + name), sections), words, pool)
    return report()


if __name__ == "__main__":
    sys.exit(main())
