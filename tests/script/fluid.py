#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche fluid: runs, tables, CSV and results files say the same; a scenario gives what it says it
gives; bad input gets one line and status 2, and leaves nothing behind.

Environment: OCHE, SOURCE.
"""
import csv
import os
import re
import sqlite3
import sys
import tempfile

from checks import claim, report, run_program

OCHE = os.environ["OCHE"]
FOLDER = tempfile.TemporaryDirectory()
INCAST = os.path.join(FOLDER.name, "incast.yaml")  # with the paper's values, which the model uses
with open(os.path.join(os.environ["SOURCE"], "scenarios", "incast.yaml"), encoding="utf-8") as text:
    PAPERS = re.sub(r"^description: .*$", "defaults: paper", text.read(), flags=re.M)
with open(INCAST, "w", encoding="utf-8") as text:
    text.write(PAPERS)


def run(*arguments, where):
    return run_program(OCHE, "fluid", *arguments, cwd=where)


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_run(where):
    """The paper's two flows. Files that are written must have the values that are shown."""
    done = run("--csv", "two.csv", "--out", "two", "--interval", "1ms", where=where)
    claim("run", done.returncode == 0 and done.stderr == "", done)
    for text in ("fixed point: p* 0.0777 % (first order 0.0925 %)", "queue 20.2KB",
                 "phase margin 19.4 degrees: stable", "link used: 100 %",
                 "from 40.2ms on, the flows are within 10 %", "results: two.csv",
                 "results: two/run.sqlite"):
        claim(f"run says {text!r}", text in done.stdout, done)
    table = rows(os.path.join(where, "two.csv"))
    claim("columns", list(table[0]) == ["time_s", "queue_bytes", "flow1_bps", "flow2_bps"])
    claim("101 rows", len(table) == 101)
    claim("first row", [float(x) for x in table[0].values()] == [0, 0, 40e9, 5e9])
    last = [float(x) for x in table[-1].values()]
    claim("last row", last[0] == 0.1 and abs(last[1] - 20.1e3) < 200 and
          abs(last[2] + last[3] - 40e9) < 1e6 and abs(last[2] - last[3]) < 0.2e9)
    base = sqlite3.connect(os.path.join(where, "two", "run.sqlite"))
    series = base.execute("SELECT name, entity, unit, count(*) FROM series_names JOIN series ON "
                          "id = series GROUP BY id ORDER BY id").fetchall()
    claim("series", series == [
        ("queue", "bottleneck", "bytes", 101), ("goodput", "all", "bps", 101),
        ("rate", "flow 1", "bps", 101), ("rate", "flow 2", "bps", 101)])
    stored = base.execute("SELECT value FROM series WHERE series = (SELECT id FROM series_names "
                          "WHERE entity = 'flow 1') ORDER BY time_ps").fetchall()
    claim("same numbers", all(abs(a[0] - float(b["flow1_bps"])) < 1e3
                              for a, b in zip(stored, table)))
    base.close()
    again = run("--csv", "again.csv", "--interval", "1ms", "--quiet", where=where)
    claim("quiet", again.returncode == 0 and again.stdout == "", again)
    claim("same again", rows(os.path.join(where, "again.csv")) == table)


def test_tables(where):
    done = run("--fixed-point", "--csv", "points.csv", where=where)
    claim("fixed points", done.returncode == 0 and "p* > pmax" in done.stdout, done)
    marks = {row["flows"]: float(row["mark"]) for row in rows(os.path.join(where, "points.csv"))}
    for flows, mark in (("2", 0.00078), ("10", 0.00603), ("16", 0.01087), ("64", 0.0591)):
        claim(f"p* of {flows}", abs(marks[flows] / mark - 1) < 0.005)
    claim("no queue above pmax", [row["queue_bytes"] == "" for row in
                                  rows(os.path.join(where, "points.csv"))] ==
          [False] * 4 + [True] * 4)
    done = run("--stability", "--counts", "2,10", "--delays", "4us,85us", "--csv", "stable.csv",
               where=where)
    claim("stability", done.returncode == 0 and
          re.search(r"^10 +8\.7 +-3\.4 !$", done.stdout, re.M), done)
    table = rows(os.path.join(where, "stable.csv"))
    claim("unstable roots", [row["unstable_roots"] for row in table] == ["0", "0", "0", "2"])
    claim("swings", [float(row["queue_sd_bytes"]) > 10e3 for row in table] ==
          [False, False, False, True])
    done = run("--stability", "--counts", "10", "--delays", "100us", "--set", "rai=10Mbps",
               where=where)
    claim("R_AI 10 Mbps cures", "!" not in done.stdout.split("fixed point)")[1], done)


def test_models(where):
    done = run("--model", "timely", "--flows", "7Gbps,3Gbps", where=where)
    claim("timely", "fixed point: none" in done.stdout and "do not come within" in done.stdout,
          done)
    done = run("--model", "timely_patched", "--flows", "7Gbps,3Gbps", where=where)
    claim("timely_patched", "queue 78.1KB; differences fall to 1/e in 25.6ms" in done.stdout and
          "from 53.9ms on" in done.stdout, done)
    many = run("--flows", "40Gbps," * 9 + "1Gbps@5us," * 5 + "2Gbps", where=where)
    claim("neighbours are merged", "flows 1 to 9: each 40Gbps" in many.stdout, many)
    starts = ",".join(f"{n}Gbps@{n}us" for n in range(1, 13))
    many = run("--flows", starts, where=where)
    claim("many flows", "rates: the most (+) and the least (-)" in many.stdout and
          "mean rates: " in many.stdout, many)


def test_scenario(where):
    done = run(INCAST, "--set", "workload.degree=4", "--set", "congestion_control.rhai=1Gbps",
               "--set", "kmax=300KB", "--set", "switch.kmin=6KB", where=where)
    claim("scenario", done.returncode == 0 and done.stderr == "", done)
    for text in ("4 flows, 40Gbps, packets of 1.11KB, delay 4.48us", "kmin 6KB, kmax 300KB",
                 "scenario incast: what goes to host0; not in the model: rhai, sizes of flows",
                 "flows 1 to 4: each 40Gbps from 0 on"):
        claim(f"scenario gives {text!r}", text in done.stdout, done)
    # `auto` values follow the rate of the bottleneck's line.
    at_40g = [run(INCAST, "--set", f"congestion_control.timer={timer}", "--set",
                  f"congestion_control.rai={rai}", where=where).stdout
              for timer, rai in (("auto", "auto"), ("187500ns", "20Mbps"))]
    claim("auto is computed", at_40g[0] == at_40g[1] != "")
    # Parameters of a run that the equations ignore.
    for scheme, left in (("dcqcn", "window, feedback_jitter, ecn_at"),
                         ("timely", "window, feedback_jitter")):
        done = run(INCAST, "--set", f"congestion_control={scheme}", "--set",
                   "host={window: 9, feedback_jitter: 10us}", "--set", "switch.ecn_at=enqueue",
                   "--duration", "1ms", where=where)
        claim(f"left out of {scheme}", f"; not in the model: {left}, sizes of flows\n" in
              done.stdout, done)
    done = run(INCAST, "--set", "loss.probability=1%", "--set", "slow_receivers=[{hosts: host0}]",
               "--set", "pause_storms=[{hosts: host0, at: 1ms}]", "--set",
               "failures=[{link: 'tor0:host0', at: 1ms}]", "--duration", "1ms", where=where)
    claim("what befalls hosts and links is left out", "; not in the model: loss, failures, "
          "slow_receivers, pause_storms, sizes of flows\n" in done.stdout, done)
    done = run(INCAST, "--out", "incast", "--quiet", where=where)
    base = sqlite3.connect(os.path.join(where, "incast", "run.sqlite"))
    name = base.execute("SELECT value FROM info WHERE key = 'scenario'").fetchone()
    port = base.execute("SELECT entity FROM series_names WHERE name = 'queue'").fetchone()
    claim("named as oche run does", done.returncode == 0 and name == ("incast",) and
          port == ("tor0:host0",), done)
    base.close()
    done = run(INCAST, "--set",
               "congestion_control={name: timely_patched, t_low: 60us, rtt_ref: 1us}",
               "--set", "workload.degree=2", "--duration", "300ms", where=where)
    for text in ("timely_patched, fluid model: 2 flows", "t_low 60us", "base_rtt 4260400ps",
                 "not in the model: rtt_ref, sizes of flows"):
        claim(f"TIMELY's scenario gives {text!r}", text in done.stdout, done)
    done = run(INCAST, "--set", "congestion_control={name: timely_patched, t_low: 2us}",
               "--set", "workload.degree=2", where=where)
    claim("thresholds below an empty round trip", done.returncode == 0 and
          "none with a queue; base_rtt alone holds the rates down" in done.stdout, done)
    shown = run(INCAST, "--show-defaults", "--set", "congestion_control.g=1/16", where=where)
    claim("shows values", re.search(r"^  g +1/16 ", shown.stdout, re.M), shown)
    shown = run("--show-defaults", where=where)
    claim("shows defaults", re.search(r"^  g +1/256 ", shown.stdout, re.M), shown)


BAD = [
    (["--set", "kmim=1KB"], '--set kmim=1KB: the model dcqcn has no kmim; did you mean "kmin"?'),
    (["--set", "switch.kmin=1KB"],
     "--set switch.kmin=1KB: the model dcqcn has no switch.kmin; --show-defaults lists all"),
    (["--set", "kmin"], "--set kmin: not KEY=VALUE; write it as kmin=10KB"),
    (["--set", "g=2"], '--set g=2: 2 is out of range; from 1e-06 to 1; did you mean "2%"?'),
    (["--set", "kmin=500KB"], "--set kmin=500KB: kmin: is above kmax; make it kmax or less"),
    (["--model", "dcqnc"], "oche fluid: --model dcqnc: no such model; did you mean dcqcn?"),
    (["--flows", "41Gbps"], "--flows 41Gbps: is above the capacity; write at most that, or set "
                            "capacity; write 2, or 40Gbps,5Gbps@10ms, or 8x1Gbps"),
    (["--duration", "5"],
     "oche fluid: --duration 5: 5 has no unit; add one of ps, ns, us, ms or s"),
    (["--csv", "no/x.csv"],
     "no/x.csv: cannot be written: No such file or directory; give a place that can be"),
    (["--csv", "/dev/null"], "/dev/null: not a plain file; give the name of a new one"),
    (["--fixed-point", "--csv", "."], ".: not a plain file; give the name of a new one"),
    (["--stability", "--csv", "no/x.csv"],
     "no/x.csv: cannot be written: No such file or directory; give a place that can be"),
    (["--out", "/proc/x"],
     "/proc/x: cannot be made: No such file or directory; give a folder that can be written"),
    (["--interval", "1us"],
     "oche fluid: --interval is for --csv and --out; give one of them"),
    (["--interval", "1ns", "--csv", "x.csv", "--duration", "1s"],
     "--interval: gives more than a million rows, or twenty million numbers; make it longer, or "
     "--duration shorter"),
    (["--fixed-point", "--stability"],
     "oche fluid: --fixed-point and --stability do not go together; give one"),
    (["--fixed-point", "--model", "timely"],
     "--model timely: has no fixed point; timely_patched has one"),
    (["--stability", "--set", "rai=0"],
     "rai: is 0, and without additive increase there is no fixed point; make it more"),
    (["--counts", "2"], "oche fluid: --counts is for --fixed-point and --stability; a run takes "
                        "--flows"),
    (["--stability", "--delays", "1ns"],
     "oche fluid: --delays 1ns: 1ns is out of range; from 100ns to 1s"),
    (["--stability", "--flows", "2"],
     "oche fluid: --flows is for a run; a table takes --counts 2,10,64"),
    (["--show-defaults", "--csv", "x.csv"],
     "oche fluid: --show-defaults runs nothing; leave out what is for a run or a table"),
    (["--receiver", "host0"],
     "oche fluid: --receiver chooses among a scenario's; give a scenario"),
    (["no.yaml"], "no.yaml: cannot be read: No such file or directory; give the path of a scenario "
                  "file"),
    ([INCAST, "--set", "congestion_control.preset=deployed"],
     "--set congestion_control.preset=deployed: congestion_control.preset: the model is one of the "
     "paper's algorithm, not of NICs in use; set preset: paper and mode: paper, or defaults: "
     "paper"),
    ([INCAST, "--set", "switch.kmim=1KB"],
     '--set switch.kmim=1KB: switch.kmim: unknown key; did you mean "kmin"?'),
    ([INCAST, "--set", "congestion_control=none"],
     f"{INCAST}: congestion_control: none has no fluid model; dcqcn has, or choose with --model"),
    ([INCAST, "--set", "congestion_control={name: timely, delta: 0bps}"],
     "--set congestion_control={name: timely, delta: 0bps}: congestion_control.delta: the fluid "
     "model takes 1bps to 1Tbps"),
    ([INCAST, "--receiver", "host99"],
     "--receiver host99: no host of this topology; there are host0 to host16"),
    ([INCAST, "--receiver", "host3"],
     f"{INCAST}:16: workload: no flow goes to host3; the model needs one"),
    ([INCAST, "--set", "workload.receiver=random", "--set", "workload.period=1ms"],
     f"{INCAST}:16: workload: flows go to host"),
]


def test_bad_input(where):
    before = sorted(os.listdir(where))
    for arguments, said in BAD:
        done = run(*arguments, where=where)
        right = done.stderr == said + "\n" or (said.endswith("host") and
                                               done.stderr.startswith(said) and
                                               done.stderr.count("\n") == 1)
        claim(f"{arguments}: should say {said!r}",
              right and done.returncode == 2 and done.stdout == "", done)
        claim(f"{arguments} leaves nothing", sorted(os.listdir(where)) == before)


def main():
    for test in (test_run, test_tables, test_models, test_scenario, test_bad_input):
        with tempfile.TemporaryDirectory() as where:
            test(where)
    return report()


sys.exit(main())
