#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scenarios of scenarios/: each one says how to run it, these commands work, and the comments'
claims about the outcome hold. The largest ones are shortened unless OCHE_LONG=yes.

Environment: OCHE, SOURCE, OCHE_LONG.
"""
import glob
import os
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import time

from checks import check, failures, report

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
# Runs that must not end with status 0: the number is that of the command in the comments.
STATUS = {"deadlock0": 3, "loop1": 3}
LONG = os.environ.get("OCHE_LONG") == "yes"
# Options that shorten the scenarios that take the longest.
SHORTER = {} if LONG else {
    "drop-tail": ["--set", "duration=2500ms"],
    "fairness": ["--set", "duration=150ms"],
    "parking_lot": ["--set", "duration=40ms"],
    "rogue": ["--set", "duration=12ms"],
    "demo": ["--set", "workload.stop=5ms", "--set", "warmup=1ms"],
    "permutation": ["--set", "workload.messages=1", "--set", "workload.bytes=500KB"],
    "storage": ["--set", "workload[0].stop=2ms"],
    "victim": ["--set", "duration=40ms"],
}


def commands(text):
    """Returns the lines "# oche run …" of the opening comment, with their continuation lines."""
    found = re.findall(r"^#     oche (run [^#\n]*(?:\n#         [^#\n]*)*)", text, re.M)
    return [shlex.split(re.sub(r"\n#\s+", " ", command), comments=False) for command in found]


def without_remark(words):
    """"(make demo)" after a command is said to the reader."""
    return [word for word in words if not re.search(r"^\(|\)$", word)]


def run(words, out, status):
    begun = time.monotonic()
    done = subprocess.run([OCHE, *words, "--out", out], cwd=os.path.dirname(out),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    check(done.returncode == status, words, done.returncode, done.stdout)
    print(f"{time.monotonic() - begun:5.1f} s  oche {' '.join(words)}")


def value(out, name, query="SELECT value FROM counters WHERE entity = 'all' AND name = ?"):
    with sqlite3.connect(os.path.join(out, "run.sqlite")) as db:
        return db.execute(query, (name,)).fetchone()[0]


INFO = "SELECT value FROM info WHERE key = ?"


def victims(with_pfc, with_dcqcn):
    """host4 to host5, and no other flow, by the port to host15; with DCQCN hardly at all."""
    query = ("SELECT src, dst, root, 1.0 * lost_ps / (SELECT value FROM info WHERE key = "
             "'measured_ps') FROM flows WHERE victim = ?")
    with sqlite3.connect(os.path.join(with_pfc, "run.sqlite")) as db:
        found = db.execute(query, (1,)).fetchall()
        root = db.execute("SELECT port, senders FROM pause_tree WHERE depth = 0 "
                          "ORDER BY held_ps DESC").fetchone()
    check([row[:3] for row in found] == [(4, 5, "tor3:host15")] and found[0][3] > 0.5, "victim",
          found)
    check(root == ("tor3:host15", 6), "victim: the hot spot", root)
    with sqlite3.connect(os.path.join(with_dcqcn, "run.sqlite")) as db:
        check(db.execute(query, (1,)).fetchall() == [], "victim with DCQCN")


def slowdown(out, least, most):
    """The 99th percentile of the slowdowns of flows of a range of sizes."""
    with sqlite3.connect(os.path.join(out, "run.sqlite")) as db:
        all_of_them = [s for (s,) in db.execute(
            "SELECT slowdown FROM flows WHERE measured AND slowdown NOT NULL AND bytes >= ? AND "
            "bytes < ? ORDER BY 1", (least, most))]
    return all_of_them[-(-len(all_of_them) * 99 // 100) - 1]


def jain(out):
    return float(value(out, "jain_of_flow_goodputs", "SELECT value FROM info WHERE key = ?"))


def claims(work):
    """Checks the claims in the scenarios' comments."""
    def at(*parts):
        return os.path.join(work, *parts)
    pauses, drops = "pauses_sent", "drops_tor_to_host"
    many = 2500 if LONG else 100
    check(value(at("demo0", "none"), pauses) > many > value(at("demo0", "dcqcn"), pauses), "demo")
    check(slowdown(at("demo0", "none"), 0, 10**5) > 10 * slowdown(at("demo0", "dcqcn"), 0, 10**5),
          "demo: short flows")
    check(value(at("incast0", "dcqcn"), pauses) == 0 < value(at("incast0", "none"), pauses),
          "incast")
    waits = [slowdown(at("nic-loss0", name), 0, 10**7)
             for name in ("connectx-5", "connectx-6", "ideal", "connectx-6-no-floor")]
    check(waits == sorted(waits) and waits[3] > 10 * waits[0], "nic-loss", waits)
    for verb in ("write", "read"):
        check(value(at("read-incast0", verb), "nic_cnps_received") > 1000 >
              value(at("read-incast0", verb), pauses) == 0, "read-incast: CNPs", verb)
    written, read = (value(at("read-incast0", verb), "hops") for verb in ("write", "read"))
    check(0.45 * written < read < 0.55 * written, "read-incast: packet-hops", written, read)
    check(value(at("read-incast1", "timely"), pauses) > 1000 >
          value(at("read-incast1", "dcqcn"), pauses), "read-incast: TIMELY")
    check(value(at("headroom0", "1"), drops) == 0 < value(at("headroom0", "0.9"), drops) <
          value(at("headroom0", "0.5"), drops), "headroom")
    check(value(at("lossy0", "0"), "nic_retransmitted_packets") == 0, "lossy without loss")
    check(value(at("lossy0", "0.01"), "nic_timeouts") > 10, "lossy: timeouts")
    metric = "SELECT value FROM metrics WHERE name = ?"
    cubic, without = (value(at("drop-tail0", cc), "goodput", metric) for cc in ("cubic", "none"))
    check(cubic > 155e6 and without < 20e6, "drop-tail: goodput", cubic, without)
    check(value(at("drop-tail1"), "goodput", metric) > 178e6, "drop-tail: selective repeat")
    again = "nic_retransmitted_packets"
    check(value(at("drop-tail1"), again) < value(at("drop-tail0", "cubic"), again) / 5,
          "drop-tail: sent again")
    for segment, least, most in (("16KiB", 250e3, 350e3), ("64KiB", 1.2e6, 1.4e6)):
        out = at("rogue0", segment)
        check(value(out, "drops.buffer", metric) == 0, "rogue: drops with", segment)
        check(least < value(out, "queue.leaf0:host0.max", metric) < most, "rogue: queue", segment)
    check(value(at("rogue0", "128KiB"), "drops.buffer", metric) > 10000, "rogue: no drops")
    check(value(at("thresholds0", "120KB"), pauses) > 3 * value(at("thresholds0", "5KB"), pauses),
          "thresholds")
    check(value(at("thresholds1", "static"), pauses) > value(at("thresholds1", "dynamic"), pauses),
          "thresholds: static")
    check(slowdown(at("storage0", "none"), 0, 10**4) > slowdown(at("storage0", "dcqcn"), 0, 10**4),
          "storage: short flows")
    check(slowdown(at("storage0", "none"), 10**6, 10**7) <
          slowdown(at("storage0", "dcqcn"), 10**6, 10**7), "storage: long flows")
    check(slowdown(at("storage1", "per_pair"), 0, 10**4) >
          slowdown(at("storage1", "per_flow"), 0, 10**4), "storage: queue pairs that stay")
    check(jain(at("parking_lot0", "dcqcn")) > 0.99, "parking lot: DCQCN is fair")
    check(jain(at("parking_lot0", "none")) < 0.95, "parking lot: PFC alone is not")
    check(jain(at("fairness0")) > 0.99 and jain(at("fairness1")) < 0.9, "fairness")
    victim = ("SELECT sum(value) FROM series JOIN series_names ON id = series WHERE name = "
              "'goodput' AND entity = ?")
    with_pfc, with_dcqcn = (value(at("victim0", v), "host5", victim) for v in ("none", "dcqcn"))
    check(2 * with_pfc < with_dcqcn, "victim", with_pfc, with_dcqcn)
    victims(at("victim0", "none"), at("victim0", "dcqcn"))
    new_reno, dctcp = (at("tcp0", "_name__%s__port_buffer__200KB%s_" % v)
                       for v in (("tcp", ""), ("dctcp", "__k__30KB")))
    check(value(new_reno, "nic_timeouts") > 0 == value(dctcp, "nic_timeouts"), "tcp: timeouts")
    for other in (dctcp, at("tcp0", "dcqcn")):
        check(slowdown(new_reno, 0, 10**6) > 3 * slowdown(other, 0, 10**6), "tcp: FCT", other)
    check(value(at("tcp0", "dcqcn"), drops) == 0 < value(dctcp, drops), "tcp: losses")
    check(value(at("deadlock0"), "deadlock", INFO) ==
          "leaf2:spine1 → spine1:leaf3 → leaf3:spine0 → spine0:leaf2 → leaf2:spine1, class 0",
          "deadlock: the circle")
    check(value(at("loop0"), "status", INFO) == "done" and
          "never arrive" in value(at("loop0"), "flows_without_a_way", INFO), "loop at 1 Gbps")
    check(value(at("loop1"), "status", INFO) == "deadlock", "loop at 2 Gbps")
    tiers_and_hosts(at)


def tiers_and_hosts(at):
    """Tiers by their own thresholds; slow receivers, and storms."""
    metric = "SELECT value FROM metrics WHERE name = ?"
    queues = [value(at("tiers0"), f"congestion.{where}.queue_max", metric)
              for where in ("tor_up", "core_down")]
    check(2 * queues[0] < queues[1], "tiers: queues", queues)
    for name, expected in (("switch.leaf.kmin", "20KB"), ("switch.spine.kmin", "400KB"),
                           ("switch.leaf.pfc_priorities", "auto (2)")):
        found = value(at("tiers0"), name, "SELECT value FROM parameters WHERE key = ?")
        check(found == expected, "tiers:", name, found)
    with sqlite3.connect(os.path.join(at("slow-receiver0"), "run.sqlite")) as db:
        check(db.execute("SELECT src, dst, root FROM flows WHERE victim").fetchall() ==
              [(1, 2, "tor0:host0")], "slow receiver: victims")
    slow = "flow.0.goodput"
    check(9e9 < value(at("slow-receiver0"), slow, metric) < 10e9, "slow receiver: its goodput")
    check(9e9 < value(at("slow-receiver0"), "flow.1.goodput", metric) < 11e9 and
          value(at("slow-receiver0"), "flow.2.goodput", metric) > 80e9, "slow receiver: others")
    for pfc, drops in (("true", False), ("false", True)):
        found = value(at("slow-receiver1", pfc), "receive_buffer.drops", metric)
        check((found > 0) == drops, "slow receiver: drops with PFC", pfc, found)
    check(value(at("pause-storm0"), "pauses.host", metric) == 2 and
          value(at("pause-storm0"), "victims", metric) > 0, "storm: PAUSEs")
    check(value(at("pause-storm0"), "flows.unfinished", metric) == 0, "storm: all is delivered")
    for action, goodput, held, drops in (("alert", 8.34e9, 56.4e-3, 0),
                                         ("drop", 23.0e9, 5.71e-3, 31087),
                                         ("forward", 28.9e9, 3.25e-3, 0)):
        out = at("pfc-watchdog0", action)
        check(abs(value(out, "workload.1.flow_goodput.p50", metric) / goodput - 1) < 0.01 and
              abs(value(out, "pause_time.aggregation", metric) / held - 1) < 0.01 and
              value(out, "drops", metric) == drops, "watchdog", action)


def main():
    files = sorted(glob.glob(os.path.join(SOURCE, "scenarios", "*.yaml")))
    check(len(files) >= 7, "only", len(files), "scenarios")
    with tempfile.TemporaryDirectory() as work:
        os.symlink(os.path.join(SOURCE, "scenarios"), os.path.join(work, "scenarios"))
        for path in files:
            name = os.path.basename(path)[:-len(".yaml")]
            with open(path, encoding="utf-8") as file:
                found = commands(file.read())
            check(found, name, "does not say how to run it")
            for number, words in enumerate(found):
                words = without_remark(words)
                check(words[1] == f"scenarios/{name}.yaml", name, "runs", words[1])
                run(words + SHORTER.get(name, []), os.path.join(work, f"{name}{number}"),
                    STATUS.get(f"{name}{number}", 0))
        if not failures:
            claims(work)
    return report()


sys.exit(main())
