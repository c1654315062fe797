#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The load of flows that a clock starts, as oche run, --compare and oche sweep show it. Delivered
follows offered for any scheme and any duration of the last flow, and is the same for any number of
threads and ranks. Rows of zeros are hidden; notes on a run come before the table.

Environment: OCHE.

usage: load.py [ranks]
  ranks: also by two processes of mpirun
"""
import os
import re
import sqlite3
import sys
import tempfile

from checks import check, report, run_program

OCHE = os.environ["OCHE"]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2"]
SESSIONS = tempfile.TemporaryDirectory(prefix="ompi-")
os.environ["OMPI_MCA_orte_tmpdir_base"] = SESSIONS.name

SCENARIO = """
seed: 3
warmup: 2ms
topology: {type: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 4, host_rate: 25Gbps,
           link_rate: 100Gbps}
congestion_control: dcqcn
workload: {type: poisson_cdf, cdf: alistorage2019, load: 60%, stop: 9999.987us}
"""


def oche(*arguments, program=(OCHE,), status=0):
    done = run_program(*program, *arguments)
    check(done.returncode == status, arguments, "status", done.returncode, done.stderr)
    return done.stdout


def metrics(folder):
    with sqlite3.connect(os.path.join(folder, "run.sqlite")) as results:
        return dict(results.execute("SELECT name, value FROM metrics"))


def run(work, name, scenario, *arguments, program=(OCHE,)):
    folder = os.path.join(work, name)
    oche("run", scenario, "--out", folder, "--quiet", *arguments, program=program)
    return metrics(folder)


def test_delivered_follows_offered(work, scenario):
    """At 30, 60 and 80 % of load, the network delivers the offered load. Goodput over the run is
    lower, because it includes the drain."""
    before = 0
    for load, least in (("30%", 0.95), ("60%", 0.92), ("80%", 0.85)):
        got = {}
        for scheme in ("dcqcn", "none"):
            one = run(work, f"{load}-{scheme}", scenario, "--set", f"workload.load={load}",
                      "--set", f"congestion_control={scheme}")
            got[scheme] = one
            check(least < one["load.delivered_share"] < 1.06, load, scheme,
                  one["load.delivered_share"])
            check(one["load.alone"] == 1 and abs(one["load.window"] - 7999.987e-6) < 1e-12, one)
            check(0 < one["load.drain"] and abs(one["load.drain"] + 9999.987e-6
                                                - one["simulated_time"]) < 20e-6,
                  "drain", one["load.drain"], one["simulated_time"])
        check(got["dcqcn"]["load.offered"] == got["none"]["load.offered"], "the same flows")
        both = [got[scheme]["load.delivered"] for scheme in got]
        check(abs(both[0] / both[1] - 1) < 0.05, load, "the same bytes", both)
        check(both[0] > 1.15 * before, load, "delivers more than", before, both[0])
        before = both[0]


def test_threads_and_ranks(work, scenario, mpi):
    """Counting happens within a window of the engine. The run is the same without counting."""
    cut = ["--set", "topology.leaves=4"]
    one = run(work, "t1", scenario, "-t", "1", *cut)
    names = [name for name in one if name.startswith("load.")]
    check(len(names) > 10, names)
    for threads in ("2", "4"):
        other = run(work, "t" + threads, scenario, "-t", threads, *cut)
        check(all(other[name] == one[name] for name in names), threads, "threads differ")
    if mpi:
        other = run(work, "ranks", scenario, *cut, program=(*MPIRUN, OCHE))
        check(all(other[name] == one[name] for name in names), "ranks differ")
    hashes = {info(os.path.join(work, name), "trace_hash") for name in ("t1", "t2", "t4")}
    # An explicit interval, so that the run does not choose one and hide a difference.
    for interval in ("0", "100us"):
        run(work, "i" + interval, scenario, "--set", f"measure.interval={interval}")
        hashes.add(info(os.path.join(work, "i" + interval), "trace_hash"))
    check(len(hashes) == 1, hashes)


def info(folder, key):
    with sqlite3.connect(os.path.join(folder, "run.sqlite")) as results:
        return dict(results.execute("SELECT key, value FROM info"))[key]


def test_tables(work, scenario):
    out = os.path.join(work, "tables")
    one = oche("run", scenario, "--out", out)
    check("load and use of links: from 2ms, the end of warm-up, until 10.0ms, when arrivals stop"
          in one, one)
    check("load offered until arrivals stop" in one and "use until arrivals stop" in one, one)
    check("goodput" not in one and "Jain" not in one, one)
    check("No packet was dropped, lost or sent again.\n" in one, one)
    compare = ["run", scenario, "--out", out, "--compare", "congestion_control=dcqcn,none"]
    both = oche(*compare)
    check(re.search(r"^congestion_control +dcqcn +PFC alone$", both, re.M), both)
    check("Goodput" not in both and "goodput" not in both, both)
    check(both.index("slowdown p50") < both.index("FCT p50"), "slowdown first")
    check("Until arrivals stop, the network delivers " in both, both)
    check(re.search(r"^slowdown p50 \(n [\d,]+\) ", both, re.M), both)
    check("slowdown p99 by flow size" in both and "slowdown p90 by flow size" not in both, both)
    check(re.search(r"^\d+ more rows by flow size; --by-size shows them\.$", both, re.M), both)
    sizes = oche(*compare, "--by-size")
    check("--by-size shows" not in sizes, sizes)
    check("slowdown p90 by flow size\n  below 10KB (n " in sizes and
          "FCT p99 by flow size\n  below 10KB (n " in sizes, sizes)
    check("These numbers are of one seed, 3:" in both, both)
    hidden = re.search(r"^(\d+) rows are hidden that are 0 in all runs; --all shows them\.$", both,
                       re.M)
    check(hidden, both)
    rows = [re.split(" {2,}", line.strip()) for line in both.splitlines()]
    table = [row for row in rows if len(row) == 3 and set(row[1:]) <= {"0", "–"}]
    check(not table, "rows of zeros:", table)
    whole = oche(*compare, "--all")
    check("--all shows" not in whole and "lost on links" in whole, whole)
    # --all also shows the counters by the names of adapters, which nobody asked for here
    adapters = sum(bool(re.match(r"[a-z]+(_[a-z]+)+ ", line)) for line in whole.splitlines()
                   if not line.startswith("congestion_control "))
    check(adapters > 20 and "out_of_sequence" not in both, adapters, both)
    check(len(whole.splitlines()) - adapters - len(both.splitlines()) == int(hidden.group(1)) - 1
          + sum(line.startswith("---") for line in whole.splitlines())
          - sum(line.startswith("---") for line in both.splitlines()), hidden.group(0))


def test_notes_first(work, scenario):
    """Parameters that do not suit the network are reported before the table and marked in it."""
    text = oche("run", scenario, "--out", os.path.join(work, "notes"), "--compare",
                "congestion_control=dcqcn,{name: timely, preset: paper}",
                "--set", "workload.stop=2100us",
                "--set", "topology.host_rate=100Gbps", "--set", "topology.link_rate=400Gbps")
    note = re.search(r"^\[(\d)\] \{name: timely.*: .*\.$", text, re.M)
    check(note, "no note on timely:", text)
    if note:
        head = re.search(r"^congestion_control .*$", text, re.M)
        check(note.start() < head.start(), "notes come first")
        check(re.search(rf"timely.* \[.*{note.group(1)}.*\]$", head.group(0)), head.group(0))


def test_other_workloads(work, scenario):
    """Without arrivals by a clock goodput stays; beside them, both are shown."""
    base = ["run", scenario, "--out", os.path.join(work, "other"), "--set", "warmup=0"]
    text = oche(*base, "--set", "workload={type: incast, degree: 8, bytes: 100KB}")
    check("goodput, all hosts" in text and "Jain's index" in text, text)
    check("load offered" not in text, text)
    text = oche(*base, "--set", "workload=[{type: incast, degree: 8, bytes: 100KB}, "
                "{type: poisson_cdf, cdf: alistorage2019, stop: 1ms}]")
    check("goodput, all hosts" in text and "load offered" in text and "Jain" not in text, text)


def test_sweep(work, scenario):
    sweep = ["sweep", scenario, "--vary", "workload.load=30%,60%", "--out"]
    head = oche(*sweep, os.path.join(work, "a.sqlite")).splitlines()
    head = next(line for line in head if line.startswith("workload.load"))
    check(head.split()[1:5] == ["slowdown.all.p99", "fct.all.p99", "load.offered", "load.delivered"]
          and "goodput" not in head and "jain" not in head, head)
    sweep[3] = "workload.degree=4,8"
    incast = "workload={type: incast, degree: 2, bytes: 100KB}"
    head = oche(*sweep, os.path.join(work, "b.sqlite"), "--set", incast, "--set",
                "warmup=0").splitlines()
    head = next(line for line in head if line.startswith("workload.degree"))
    check("goodput" in head and "load.offered" not in head, head)


def test_until_stable(work, scenario):
    """Batches beyond a workload's stop are refused, even beside a workload that continues."""
    base = ["run", scenario, "--out", os.path.join(work, "stable"), "--until-stable", "goodput"]
    more = ["--set", "workload=[{type: poisson_cdf, cdf: alistorage2019, load: 30%}, {type: "
            "poisson_cdf, cdf: alistorage2019, load: 30%, stop: 2100us}]"]
    done = run_program(OCHE, *base, *more, "--set", "duration=40ms")
    check(done.returncode == 2 and "the arrivals of a workload stop at 2.10ms" in done.stderr
          and done.stderr.count("\n") == 1, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as work:
        scenario = os.path.join(work, "load.yaml")
        with open(scenario, "w", encoding="ascii") as out:
            out.write(SCENARIO)
        test_delivered_follows_offered(work, scenario)
        test_threads_and_ranks(work, scenario, sys.argv[1:] == ["ranks"])
        test_tables(work, scenario)
        test_notes_first(work, scenario)
        test_other_workloads(work, scenario)
        test_sweep(work, scenario)
        test_until_stable(work, scenario)
    return report()


if __name__ == "__main__":
    sys.exit(main())
