#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche sweep: the same numbers with any number of processes and as in oche run. A killed sweep
continues without repeating anything. A point that dies is reported, and the others run. Mistakes
are found before anything runs. Slurm's tasks give the same results.

Environment: OCHE, SOURCE; SANITIZED=yes: the program is built with a sanitizer, and slow.
"""
import csv
import json
import os
import pty
import re
import resource
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

from checks import check, report, run_program

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
SCENARIO = os.path.join(SOURCE, "tests", "scenarios", "pairs.yaml")
TWO_FLOWS = os.path.join(SOURCE, "tests", "scenarios", "two_flows.yaml")
# 12 points of some 10 ms each, and 12 that are long enough to be caught.
GRID = [SCENARIO, "--vary", "loss.probability=0,0.1%", "--vary", "workload[0].pairs=1,4",
        "--repeat", "3", "--set", "duration=1ms"]
LONG = [*GRID[:-1], "duration=8ms" if os.environ.get("SANITIZED") == "yes" else "duration=20ms"]
# A parent that ignores SIGINT (nohup, or a script's &) would have all programs ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def sweep(*arguments, status=0, **options):
    done = run_program(OCHE, "sweep", *arguments, **options)
    check(done.returncode == status, arguments, "status", done.returncode, done.stderr)
    return done


def database(folder):
    return sqlite3.connect(os.path.join(folder, "sweep.sqlite"))


def ask(folder, query):
    db = database(folder)
    rows = db.execute(query).fetchall()
    db.close()
    return rows


def results(folder):
    """All that does not depend on the machine, the command and the time."""
    return [ask(folder, query) for query in (
        "SELECT id, repeat, seed, status, error, trace_hash FROM points ORDER BY id",
        "SELECT * FROM point_values ORDER BY 1, 2", "SELECT * FROM axis_values ORDER BY 1, 2",
        "SELECT * FROM axes", "SELECT * FROM metrics ORDER BY 1, 2",
        "SELECT * FROM metric_names", "SELECT * FROM distributions ORDER BY 1, 2, 5",
        "SELECT * FROM parameters",
        "SELECT * FROM info WHERE key NOT IN ('command', 'began', 'ended') ORDER BY key")]


def test_any_number_of_processes(work):
    one, three = os.path.join(work, "one"), os.path.join(work, "three")
    first = sweep(*GRID, "--jobs", "1", "--out", one)
    second = sweep(*GRID, "--jobs", "3", "--out", three, "--csv")
    check(results(one) == results(three), "results differ between 1 and 3 processes")
    check(first.stdout.replace(one, "OUT") == second.stdout.replace(three, "OUT"), "tables differ")
    check(first.stderr == "" == second.stderr, first.stderr, second.stderr)
    check(len(ask(one, "SELECT * FROM points WHERE status = 'done'")) == 12, "points")
    check(sorted(os.listdir(one)) == ["sweep.sqlite"], os.listdir(one))
    check(sorted(os.listdir(three)) == ["metrics.csv", "points.csv", "sweep.sqlite"],
          os.listdir(three))
    with open(os.path.join(three, "points.csv"), encoding="utf-8") as rows:
        points = list(csv.DictReader(rows))
    check(len(points) == 12, "points.csv")
    metrics = dict(ask(three, "SELECT name, value FROM metrics WHERE point = 7"))
    check(metrics == {name: float(points[7][name]) for name in metrics}, "metrics of points.csv")
    check({float(row["loss.probability.number"]) for row in points} == {0, 0.001}, points[0])
    document = json.loads(sweep(*GRID, "--out", three, "--json", "--quiet").stdout)
    check(document["points"][7]["metrics"] == metrics, "metrics of --json")
    check([point["numbers"] for point in document["points"]] ==
          [{key[:-7]: float(value) for key, value in row.items() if key.endswith(".number")}
           for row in points], "numbers of --json", document["points"][0])
    check(document["info"] == dict(ask(three, "SELECT * FROM info")), "info of --json")
    check(re.search(r"^0\.1% +4 +[\d.]+ ± [\d.]+Gbps ", first.stdout, re.M), first.stdout)
    again = sweep(*GRID, "--out", one, "--metric", "fct.all.p99", "--metric", "acks")
    with sqlite3.connect(os.path.join(one, "sweep.sqlite")) as db:
        noted = db.execute("SELECT value FROM info WHERE key = 'metric'").fetchall()
    check(noted == [("fct.all.p99",)], "the report's first metric", noted)
    check("12 of 12 points were done before" in again.stderr, again.stderr)
    check(re.search(r"pairs +fct\.all\.p99 +acks\n", again.stdout), again.stdout)
    check(sweep(*GRID, "--out", one, "--quiet").stdout == "", "--quiet prints")


def test_a_point_is_what_oche_run_says(work):
    folder, one = os.path.join(work, "one"), os.path.join(work, "run")
    subprocess.run([OCHE, "run", SCENARIO, "--set", "duration=1ms", "--set",
                    "loss.probability=0.1%", "--set", "workload[0].pairs=4", "--seed", "3", "--out",
                    one, "--quiet"], check=True)
    db = sqlite3.connect(os.path.join(one, "run.sqlite"))
    (run_hash,), = db.execute("SELECT value FROM info WHERE key = 'trace_hash'").fetchall()
    counters = dict(db.execute("SELECT name, value FROM counters WHERE entity = 'all'"))
    of_run = dict(db.execute("SELECT name, value FROM metrics"))
    names = set(db.execute("SELECT * FROM metric_names"))
    db.close()
    (point, point_hash), = ask(folder, "SELECT id, trace_hash FROM points WHERE seed = 3 ORDER BY"
                               " id DESC LIMIT 1")
    check(point == 11 and point_hash == run_hash, "the last point", point, point_hash, run_hash)
    metrics = dict(ask(folder, "SELECT name, value FROM metrics WHERE point = 11"))
    for metric, counter in (("lost", "lost_packets"), ("acks", "nic_acks_sent"),
                            ("retransmitted_bytes", "nic_retransmitted_bytes"),
                            ("timeouts", "nic_timeouts"), ("packet_hops", "hops"),
                            ("marks.tor_to_up", "marks_tor_to_up")):
        check(metrics[metric] == counters[counter], metric, metrics[metric], counters[counter])
    check(metrics["lost"] > 0, "nothing was lost")
    check(of_run == metrics and len(of_run) > 150, "metrics of run.sqlite and sweep.sqlite",
          set(of_run.items()) ^ set(metrics.items()))
    check(names <= set(ask(folder, "SELECT * FROM metric_names")) and len(names) == len(of_run),
          "names of metrics")
    check("fct.all.p99" in of_run, "percentiles")


def start(*arguments):
    return subprocess.Popen([OCHE, "sweep", *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def children(pid):
    """Point number by process id."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
                text = stat.read()
        except OSError:
            continue
        words = text.rsplit(")", 1)[1].split()
        point = re.search(r"\(point (\d+)\)", text)
        if int(words[1]) == pid and point and words[0] != "Z":
            found[int(name)] = int(point.group(1))
    return found


def wait_for(what, running, seconds=60):
    """Waits until `what` returns something true, and returns that."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and running.poll() is None:
        value = what()
        if value:
            return value
        time.sleep(0.005)
    check(False, "waited in vain for", what)
    return None


def done_points(folder):
    try:
        return ask(folder, "SELECT * FROM points WHERE status = 'done' ORDER BY id")
    except sqlite3.Error:
        return []


def test_killed_in_the_middle(work):
    """After a kill, finished points stay as they are, and only the rest runs."""
    whole = os.path.join(work, "whole")
    sweep(*LONG, "--out", whole, "--quiet")
    for how in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        folder = os.path.join(work, how.name)
        running = start(*LONG, "--out", folder, "--jobs", "2")
        wait_for(lambda: len(done_points(folder)) >= 3, running)
        left = children(running.pid)
        running.send_signal(how)
        said = running.communicate(timeout=30)[1]
        if how == signal.SIGKILL:
            check(running.returncode == -9, how, running.returncode)
        else:
            check(running.returncode == 130, how, running.returncode)
            check(re.search(r"^interrupted: \d+ of 12 points are done", said, re.M), how, said)
        until = time.monotonic() + 20
        while any(os.path.exists(f"/proc/{pid}") for pid in left) and time.monotonic() < until:
            time.sleep(0.01)
        check(not any(os.path.exists(f"/proc/{pid}") for pid in left), how, "children go on", left)
        before = done_points(folder)
        check(3 <= len(before) < 12, how, "points done:", len(before))
        again = sweep(*LONG, "--out", folder)
        check(f"{len(before)} of 12 points were done before" in again.stderr, how, again.stderr)
        after = done_points(folder)
        # The wall time is another in every run: a point that ran again would show.
        check([point for point in after if point in before] == before, how, "points ran again")
        check(len(after) == 12 and results(folder) == results(whole), how, "results differ")


def test_a_point_that_is_killed(work):
    folder = os.path.join(work, "killed")
    running = start(*LONG, "--out", folder, "--jobs", "2")
    victim = wait_for(lambda: [pid for pid, point in children(running.pid).items() if point == 4],
                      running)
    os.kill(victim[0], signal.SIGKILL)
    said = running.communicate(timeout=60)
    check(running.returncode == 1, "status", running.returncode)
    check(re.search(r"^point 4 \(loss\.probability=0, workload\[0\]\.pairs=4, seed 2\) crashed: "
                    r"signal 9 \(Killed\)", said[1], re.M), said[1])
    check("1 of 12 points are not done" in said[1], said[1])
    check(re.search(r"^0 +4 +2 of 3 ", said[0], re.M), said[0])
    check("\nmean ± half its 95 % interval over the points that are done of 3 seeds, 1 to 3\n"
          in said[0], said[0])
    rows = ask(folder, "SELECT id, status, error IS NULL FROM points ORDER BY id")
    check(rows == [(i, "crashed" if i == 4 else "done", i != 4) for i in range(12)], rows)
    # The command that it gives repeats the point, and the sweep tries it again.
    command = re.search(r"to repeat it: oche (.*)", said[1]).group(1)
    subprocess.run(f"'{OCHE}' {command} --quiet --out '{work}/repeated'", shell=True, check=True)
    db = sqlite3.connect(os.path.join(work, "repeated", "run.sqlite"))
    (repeated,), = db.execute("SELECT value FROM info WHERE key = 'trace_hash'").fetchall()
    db.close()
    again = sweep(*LONG, "--out", folder)
    check("11 of 12 points were done before" in again.stderr, again.stderr)
    check(ask(folder, "SELECT trace_hash, error FROM points WHERE id = 4") == [(repeated, None)],
          "the point that was repeated")


def test_a_point_that_deadlocks(work):
    """Such a point has failed, with the circle of ports; the others are as they should be."""
    folder = os.path.join(work, "deadlock")
    done = sweep("scenarios/deadlock.yaml", "--set", "duration=4ms", "--vary",
                 "switch.pfc=true,false", "--out", folder, status=1)
    check(re.search(r"^point 0 \(switch\.pfc=true, seed 1\) failed: deadlock since \S+, noticed "
                    r"at \S+: leaf2:spine1 → .* → leaf2:spine1, class 0; ", done.stderr, re.M),
          done.stderr)
    rows = ask(folder, "SELECT id, status, error LIKE 'deadlock since %' FROM points ORDER BY id")
    check(rows == [(0, "failed", 1), (1, "done", None)], rows)
    check(ask(folder, "SELECT point, value FROM metrics WHERE name = 'victims'") == [(1, 0)],
          "metrics")


def test_points_without_a_value(work):
    """Without a finished flow there is no completion time. The mean says how many seeds have a
    value."""
    folder, scenario = os.path.join(work, "some"), os.path.join(work, "some.yaml")
    with open(scenario, "w", encoding="utf-8") as file:
        file.write("topology: {type: star, hosts: 3, host_rate: 10Gbps}\nduration: 60us\n"
                   "loss: {probability: 4%}\n"
                   "workload: {type: incast, degree: 2, bytes: 10KB}\n")
    said = sweep(scenario, "--repeat", "12", "--out", folder, "--metric", "fct.all.p50", "--metric",
                 "goodput").stdout
    count, = ask(folder, "SELECT count(*) FROM metrics WHERE name = 'fct.all.p50'")[0]
    check(0 < count < 12, "the scenario is not what it should be:", count)
    check(re.search(rf"^as it is +\S+ ± \S+us \(of {count}\) +\S+ ± \S+Gbps$", said, re.M),
          said)
    check("mean ± half its 95 % interval over 12 seeds, 1 to 12; (of N): over N of them, the "
          "others have no such value\n" in said, said)
    # Student's t for 12 values.
    rates = [row[0] for row in ask(folder, "SELECT value FROM metrics WHERE name = 'goodput'")]
    half = 2.201 * statistics.stdev(rates) / len(rates) ** 0.5 / 1e9
    shown = float(re.search(r"^as it is .* ± (\S+)Gbps$", said, re.M).group(1))
    check(len(rates) == 12 and abs(shown - half) <= 0.005 + 1e-9, "the interval", shown, half)


def test_a_point_without_memory(work):
    """One point may have no more memory than it has got: it ends by itself, and says why."""
    folder = os.path.join(work, "memory")
    running = start(SCENARIO, "--vary", "duration=1ms,400ms,2ms", "--set", "measure.interval=2us",
                    "--out", folder, "--jobs", "3")

    def has_run_for_a_while(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[11]) * 10 >= os.sysconf("SC_CLK_TCK")
    victim = wait_for(lambda: [pid for pid, point in children(running.pid).items()
                               if point == 1 and has_run_for_a_while(pid)], running)
    resource.prlimit(victim[0], resource.RLIMIT_AS, (1 << 20, 1 << 20))
    said = running.communicate(timeout=60)[1]
    check(running.returncode == 1, "status", running.returncode)
    check(re.search(r"^point 1 \(duration=400ms, seed 1\) crashed: (signal|ended with status) \d+ "
                    r".*: .*\w.*$", said, re.M), said)
    check([status for status, in ask(folder, "SELECT status FROM points ORDER BY id")] ==
          ["done", "crashed", "done"], "the others")


def test_what_is_wrong(work):
    folder = os.path.join(work, "wrong")
    cases = [
        (["none.yaml"], "none.yaml: cannot be read"),
        ([SCENARIO, "--vary", "loss.probability=0,2"],
         "--vary loss.probability=2: loss.probability: "),
        ([SCENARIO, "--vary", "los.probability=0,1"], "--vary los.probability=0: los: "),
        ([SCENARIO, "--set", "duration=2d"], "--set duration=2d: "),
        ([SCENARIO, "--vary", "measure.queues=tor0:host0,tor0:host77"],
         "--vary measure.queues=tor0:host77: measure.queues: "),
        ([SCENARIO, "--vary", "seed=1,2"], "--vary seed=1,2: seeds are what --repeat is for"),
        ([SCENARIO, "--vary", "duration=1ms,2ms", "--set", "duration=3ms"],
         "--vary duration=1ms,2ms: both set and varied"),
        ([SCENARIO, "--repeat", "0"], "--repeat 0: not a number from 1 to 1000000"),
        ([SCENARIO, "--jobs", "2x"], "--jobs 2x: not a number from 1 to 1024"),
        ([SCENARIO, "--repeat", "1000000", "--vary", "name=a,b"], "more than 1000000 points"),
        ([SCENARIO, "--metric", "gootput"], "--metric gootput: no such metric; perhaps goodput?"),
        ([SCENARIO, "--point", "7/7"], "--point 7/7: no such task"),
        ([SCENARIO, "--vary", "loss.probability=0,1%", "--vary", "workload[0].pairs=1,2,4",
          "--zip"], "--zip: loss.probability has 2 values and workload[0].pairs 3; give as many"),
        ([SCENARIO, "--vary", "loss.probability=0,1%", "--zip"],
         "--zip: takes the values of several axes together; give at least two --vary"),
        ([SCENARIO, "--vary", "loss.probability=0,0.01,1%"],
         "--vary loss.probability=0.01,1%: both come to the same run; leave one out"),
        ([SCENARIO, "--point", "0/0"], "--point 0/0: no such task; of N tasks the first is 0/N"),
        ([SCENARIO, "--point", "0/"], "--point 0/: not a task; write K/N, such as 0/40, with "),
        ([SCENARIO, "--point", "/1"], "--point /1: not a task; write K/N"),
        ([SCENARIO, "--point", "0/1/2"], "--point 0/1/2: not a task; write K/N"),
        ([SCENARIO, "--point", "18446744073709551616/18446744073709551617"],
         "--point 18446744073709551616/18446744073709551617: not a task; write K/N"),
        ([SCENARIO, "--point", ""], "--point : not a number from 0 to 999999, nor K/N"),
        ([SCENARIO, "--point", "-1"], "--point -1: not a number from 0 to 999999, nor K/N"),
        ([SCENARIO, "--set", "seed=18446744073709551615"],
         "seed: 18446744073709551615 is too large; at most 18446744073709551614\n"),
        ([SCENARIO, "--set", "seed=never"],
         'seed: "never" is not possible; at most 18446744073709551614\n'),
        ([SCENARIO, "--set", "seed=18446744073709551614", "--repeat", "2"],
         "seed: 18446744073709551614 leaves no room for 2 repeats; give a smaller seed\n"),
        ([SCENARIO, "--point", "1"], "--point 1: no such point; they are 0 to 0"),
        ([SCENARIO, "--point", "0", "--merge"], "--slurm, --point, --merge and --metrics do not"),
        ([SCENARIO, "--tasks", "3"], "--tasks says how --slurm divides the points"),
        ([SCENARIO, "--point", "0", "--csv"], "--csv, --json and --metric are for when"),
        ([SCENARIO, "--slurm", "--metric", "jain"], "--csv, --json and --metric are for when"),
        ([SCENARIO, "--merge", "--jobs", "2"], "--merge runs nothing; leave out --jobs"),
        ([SCENARIO, "--vary", "model=packets,water"], "--vary model=water: model: "),
        ([SCENARIO, "--vary", "model=packets,fluid"], "the model is one of the paper's algorithm"),
        ([SCENARIO, "--vary", "model=packets,fluid", "--set", "congestion_control.mode=paper"],
         "the model has one bottleneck; let all go"),
        ([TWO_FLOWS, "--vary", "model=packets,fluid", "--set", "congestion_control=none"],
         "model: congestion_control none has no fluid model; set it to packets"),
        ([TWO_FLOWS, "--set", "model=both", "--set", "measure.interval=0s"],
         "interval: is 0, and model: both compares rates in windows of it; set it to 1ms"),
        ([SCENARIO, SCENARIO], "one scenario at a time"),
        ([], "which scenario?"),
    ]
    for arguments, message in cases:
        done = sweep(*arguments, *(["--out", folder] if arguments else []), status=2)
        check(done.stdout == "" and done.stderr.count("\n") == 1 and message in done.stderr,
              arguments, "says", repr(done.stderr))
    check(not os.path.exists(folder), "something was made for nothing")
    done = sweep(SCENARIO, "--out", "/proc/none", status=2)
    check("/proc/none: cannot be made" in done.stderr, done.stderr)


def test_axes_together(work):
    """--zip takes values together; a value may come again, a combination not; the file, its CSV and
    the script for Slurm know it; another grid is another grid; interrupted, it goes on."""
    folder = os.path.join(work, "zip")
    grid = [SCENARIO, "--vary", "loss.probability=0,1%,1%", "--vary", "workload[0].pairs=1,1,4",
            "--zip", "--repeat", "2", "--set"]
    done = sweep(*grid, "duration=1ms", "--csv", "--out", folder)
    check("6 points: 3 combinations, 2 seeds" in done.stdout, done.stdout)
    check(re.search(r"^1% +1 .*\n1% +4 ", done.stdout, re.M), done.stdout)
    with open(os.path.join(folder, "points.csv"), encoding="utf-8") as file:
        rows = [(row["loss.probability"], row["workload[0].pairs"], row["seed"])
                for row in csv.DictReader(file)]
    check(rows == [(a, b, seed) for a, b in (("0", "1"), ("1%", "1"), ("1%", "4"))
                   for seed in "12"], rows)
    info = dict(ask(folder, "SELECT * FROM info"))
    check(info["zipped"] == "yes" and " --zip " in info["grid"], info["grid"])
    script = sweep(*grid, "duration=1ms", "--slurm", "--out", os.path.join(work, "array")).stdout
    check(" --zip " in script and "0-5" in script, script)
    done = sweep(*grid[:2], "loss.probability=0,1%,2%", *grid[3:], "duration=1ms", "--out", folder,
                 status=2)
    check("has results of another grid" in done.stderr, done.stderr)
    cut = os.path.join(work, "cut")
    running = start(*grid, LONG[-1], "--out", cut, "--jobs", "1")
    wait_for(lambda: len(done_points(cut)) >= 1, running)
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=30)[1]
    before = done_points(cut)
    check(running.returncode == 130 and f"{len(before)} of 6 points are done" in said, said)
    sweep(*grid, LONG[-1], "--out", cut, "--quiet")
    after = done_points(cut)
    check(len(after) == 6 and after[:len(before)] == before, "points ran again", before, after)


def test_what_does_not_fit(work):
    """Parameters without effect in some combinations are reported once, before these run."""
    vary = [SCENARIO, "--set", "duration=400us", "--vary", "switch.xoff=50KB,100KB"]
    dynamic = ["--set", "switch.threshold=dynamic"]
    done = sweep(*vary, *dynamic, "--out", work + "/unfit")
    said = "switch.xoff has no effect here: switch.threshold is dynamic"
    check(done.stderr == said + "\n", done.stderr)
    done = sweep(*vary, "--vary", "switch.threshold=static,dynamic", "--out", work + "/unfit2")
    check(done.stderr == said + " (switch.xoff=50KB, switch.threshold=dynamic, seed 1; 2 of 4 "
          "combinations)\n", done.stderr)
    same = ("(switch.xoff=50KB, switch.threshold=dynamic), (switch.xoff=100KB, "
            "switch.threshold=static) and (switch.xoff=100KB, switch.threshold=dynamic) gave the "
            "same run, packet for packet.\n")
    check(f"\n\n{same}\nresults:" in done.stdout, done.stdout)
    # A key that is fixed may be for one of the values of another.
    done = sweep(SCENARIO, "--set", "duration=400us", "--set", "switch.xoff=50KB", "--vary",
                 "switch.threshold=static,dynamic", "--out", work + "/unfit4")
    check(done.stderr == "", done.stderr)
    done = sweep(*vary, *dynamic, "--out", work + "/unfit3", "--quiet")
    check(done.stderr == "", done.stderr)


def test_keys_without_effect(work):
    """A key whose values give the same runs is named, below the table and in the results."""
    grid = [SCENARIO, "--set", "duration=400us", "--vary", "host.outstanding_reads=1,2", "--vary",
            "loss.probability=0,1%", "--repeat", "2"]
    said = ("host.outstanding_reads made no difference here: with each of its values the runs are "
            "the same, packet for packet.\n")
    done = sweep(*grid, "--out", work + "/idle")
    check(f"\n\n{said}\nresults:" in done.stdout, done.stdout)
    check("host.outstanding_reads has no effect here: no workload has verb: read" in done.stderr,
          done.stderr)
    done = sweep(*grid, "--out", work + "/idle", "--json")
    check(json.loads(done.stdout)["info"]["same_runs"] == said, done.stdout)


def test_the_fluid_model(work):
    """An axis with the fluid model works like any other. Its metrics have the same names as with
    packets, and its values are those of oche fluid."""
    folder = os.path.join(work, "models")
    done = sweep(TWO_FLOWS, "--vary", "model=packets,fluid,both", "--repeat", "2", "--out", folder,
                 "--metric", "goodput", "--metric", "model_distance", "--metric", "cnps")
    check(re.search(r"^fluid +37.0Gbps +– +–$", done.stdout, re.M) is not None, done.stdout)
    names = [set(name for name, in ask(folder, "SELECT name FROM metrics JOIN point_values USING "
                                       f"(point) WHERE axis = 0 AND number = {number}"))
             for number in range(3)]
    check(names[1] < names[0] < names[2], "the model has more, or both less")
    check(names[2] - names[0] == {"model_distance", "flow.0.model_distance",
                                  "flow.1.model_distance"}, names[2] - names[0])
    check({"goodput", "flow.1.rate", "rate_gap.late", "queue.tor0:host2.sd", "convergence.share",
           "flow.0.goodput", "jain", "measured_time"} <= names[1], names[1])
    check(not {"cnps", "pauses", "drops", "thresholds.shared", "fct.all.p50"} & names[1], names[1])
    values = ask(folder, "SELECT value FROM metrics JOIN point_values USING (point) WHERE "
                 "name = 'goodput' AND number = 1")
    check(len(values) == 2 and values[0] == values[1], "the model draws", values)
    shown = subprocess.run([OCHE, "fluid", TWO_FLOWS], stdout=subprocess.PIPE, text=True,
                           check=True).stdout
    sd = ask(folder, "SELECT value FROM metrics JOIN points p ON p.id = point JOIN point_values "
             "USING (point) WHERE name = 'queue.tor0:host2.mean' AND number = 1")[0][0]
    check("queue: mean 11.2KB" in shown and 10.5e3 < sd < 11.2e3, sd, shown[-400:])
    refused = subprocess.run([OCHE, "run", TWO_FLOWS, "--set", "model=fluid", "--out", folder],
                             stderr=subprocess.PIPE, text=True, check=False)
    check(refused.returncode == 2 and refused.stderr ==
          "--set model=fluid: model: is not packets, which is all that oche run simulates; use "
          "oche fluid or oche sweep, or set it to packets\n", refused.stderr)


def test_other_sweeps_are_refused(work):
    folder = os.path.join(work, "one")
    before = results(folder)
    done = sweep(*GRID[:-4], "--repeat", "4", "--set", "duration=1ms", "--out", folder, status=2)
    check(re.search(r"sweep\.sqlite: has results of another grid \(.*--repeat 3\); --out puts new "
                    r"ones elsewhere, --restart begins anew here\n$", done.stderr), done.stderr)
    copy = os.path.join(work, "pairs.yaml")
    with open(SCENARIO, encoding="utf-8") as old, open(copy, "w", encoding="utf-8") as new:
        new.write(old.read() + "# another text\n")
    done = sweep(copy, *GRID[1:], "--out", folder, status=2)
    check("has results of another text of the scenario" in done.stderr, done.stderr)
    check(results(folder) == before, "a refusal changed the results")
    sweep(copy, *GRID[1:3], "--set", "duration=1ms", "--out", folder, "--restart", "--quiet")
    check(len(ask(folder, "SELECT * FROM points")) == 2, "--restart")
    with open(os.path.join(work, "sweep.sqlite"), "w", encoding="utf-8") as other:
        other.write("somebody's notes, which are long enough to be looked at for a while\n")
    for restart in ([], ["--restart"]):
        done = sweep(*GRID, "--out", work, *restart, status=2)
        check("not a results file" in done.stderr, done.stderr)
    os.unlink(os.path.join(work, "sweep.sqlite"))
    running = start(*LONG, "--out", folder, "--restart")
    wait_for(lambda: children(running.pid), running)
    done = sweep(*LONG, "--out", folder, status=2)
    check("another oche is writing there" in done.stderr, done.stderr)
    running.kill()
    running.communicate()


def test_files_that_the_scenario_names(work):
    """The contents of named files belong to the sweep, even if only one value of an axis names a
    file."""
    where = os.path.join(work, "files")
    os.mkdir(where)
    scenario, folder = os.path.join(where, "f.yaml"), os.path.join(where, "out")

    def write(name, text):
        with open(os.path.join(where, name), "w", encoding="utf-8") as file:
            file.write(text)
    write("f.yaml", "topology: {type: star, hosts: 3, host_rate: 10Gbps}\nduration: 100us\n"
          "workload: {type: from_file, file: one.csv}\n")
    write("one.csv", "src,dst,bytes,start\n0,1,10000,0\n")
    write("two.csv", "src,dst,bytes,start\n0,2,20000,0\n")
    grid = [scenario, "--vary", f"workload.file={where}/one.csv,{where}/two.csv", "--out", folder]
    sweep(*grid)
    check("2 of 2 points were done before" in sweep(*grid).stderr, "the same files")
    before = results(folder)
    sweep(*grid, "--point", "0/1", "--quiet")
    for name in ("one.csv", "two.csv"):
        text = read(os.path.join(where, name))
        write(name, text.replace("0000", "0001"))
        done = sweep(*grid, status=2)
        check(re.search(r"has results of another content of the files that the scenario names "
                        r"\(one\.csv [0-9a-f]{16}, two\.csv [0-9a-f]{16}\); --out", done.stderr),
              done.stderr)
        done = sweep(*grid, "--point", "0/1", status=2)
        check("0.point: is of another grid" in done.stderr, done.stderr)
        write(name, text)
    check("2 of 2 points were done before" in sweep(*grid).stderr, "the same files again")
    check(results(folder) == before, "a refusal changed the results")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_the_way_over_slurm(work):
    """The script by hand, task by task, and the merge: the same as the direct way."""
    direct, folder = os.path.join(work, "one_direct"), os.path.join(work, "it's over slurm")
    sweep(*GRID, "--out", direct, "--quiet")
    script = os.path.join(work, "array.sh")
    printed = sweep(*GRID, "--out", folder, "--slurm", "--tasks", "5", "--jobs", "2",
                    cwd=work).stdout
    with open(script, "w", encoding="utf-8") as file:
        file.write(printed)
    check(not os.path.exists(folder), "--slurm made something")
    for line in ("#SBATCH --array=0-4", "#SBATCH --job-name=oche-pairs",
                 "#SBATCH --cpus-per-task=2"):
        check(line + "\n" in printed, line, "is not in", printed)
    subprocess.run(["bash", "-n", script], check=True)

    def task(number, status=0):
        done = run_program("bash", script, cwd="/",
                           env={**os.environ, "SLURM_ARRAY_TASK_ID": str(number)})
        check(done.returncode == status, "task", number, "status", done.returncode, done.stderr)
        return done
    for number in (0, 1, 3, 4):
        task(number)
    files = os.path.join(folder, "points")
    check(sorted(os.listdir(files)) == sorted(f"{i}.point" for i in range(12) if i % 5 != 2),
          os.listdir(files))
    check(not os.path.exists(os.path.join(folder, "sweep.sqlite")), "a task wrote the results")

    # Points that are missing, broken or of another grid are reported; the other points are shown.
    with open(os.path.join(files, "3.point"), "r+", encoding="utf-8") as half:
        half.truncate(1000)
    os.rename(os.path.join(files, "9.point"), os.path.join(files, "8.point"))
    done = sweep(*GRID, "--out", folder, "--merge", status=1)
    for point, what in ((2, "is missing"), (7, "is missing"), (9, "is missing"),
                        (3, "is not whole, or another point"),
                        (8, "is not whole, or another point")):
        check(re.search(rf"^point {point} \(.*\) {what}: .*/{point}\.point$", done.stderr, re.M),
              point, what, done.stderr)
    check("5 of 12 points are not done" in done.stderr, done.stderr)
    check(len(ask(folder, "SELECT * FROM points WHERE status = 'done'")) == 7, "merged points")
    stamps = {name: os.stat(os.path.join(files, name)).st_mtime_ns for name in os.listdir(files)}
    for number in range(5):
        task(number)
    check(all(os.stat(os.path.join(files, name)).st_mtime_ns == stamp
              for name, stamp in stamps.items() if name not in ("3.point", "8.point")),
          "finished points ran again")
    sweep(*GRID, "--out", folder, "--merge")
    check(results(folder) == results(direct), "results over Slurm's tasks differ")

    # Another grid in the same folder: its script and its tasks overwrite nothing.
    others = [*GRID[:2], "loss.probability=0,0.2%", *GRID[3:], "--out", folder]
    contents = {name: open(os.path.join(files, name), encoding="utf-8").read()
                for name in os.listdir(files)}
    said = sweep(*others, "--slurm", status=2).stderr
    check("sweep.sqlite: has results of another grid" in said, said)
    os.unlink(os.path.join(folder, "sweep.sqlite"))
    for how in (["--slurm"], ["--point", "0/2"]):
        done = sweep(*others, *how, status=2)
        check(done.stdout == "" and
              re.search(r"/0\.point: is of another grid, scenario or program; give another --out, "
                        r"or remove it\n$", done.stderr), how, done.stdout, done.stderr)
    said = sweep(*others, "--merge", status=1).stderr
    check(re.search(r"^point 11 \(.*\) is of another sweep: ", said, re.M), said)
    check(contents == {name: open(os.path.join(files, name), encoding="utf-8").read()
                       for name in os.listdir(files)}, "points of another grid were touched")
    sweep(*others, "--point", "0/2", "--restart", "--quiet")


def on_a_terminal(*arguments):
    """Returns the output on standard error, which is a terminal."""
    seen = b""
    main, terminal = pty.openpty()
    with subprocess.Popen([OCHE, "sweep", *arguments], stdout=subprocess.PIPE,
                          stderr=terminal) as running:
        os.close(terminal)
        running.stdout.read()
        while True:
            try:
                piece = os.read(main, 4096)
            except OSError:
                piece = b""
            if not piece:
                break
            seen += piece
    os.close(main)
    check(running.returncode == 0, "on a terminal", running.returncode)
    return seen.decode()


def test_progress(work):
    line = on_a_terminal(*LONG, "--out", os.path.join(work, "bar"), "--jobs", "2")
    check(re.search(r"\r\x1b\[K\[#*\.+\] \d+ of 12 points, [\d]+ s left, 2 running", line),
          "progress:", repr(line))
    check(line.endswith("\r\x1b[K"), "progress stays:", repr(line[-80:]))
    check(on_a_terminal(*GRID, "--out", os.path.join(work, "quiet"), "--quiet") == "",
          "--quiet shows progress")


def test_metrics():
    text = sweep("--metrics").stdout
    for words in ("goodput ", "fct.SIZE.p99 ", "SIZE: below_10KB", "PLACE: host_nic",
                  "\niofd.deflections         count  messages that a switch sent another way\n",
                  "\nib_credits.peak          bytes  most that one class held "):
        check(words in text, "--metrics lacks", words)
    check("MECHANISM.COUNTER" not in text, "--metrics has a pattern for mechanisms")
    done = sweep("--metrics", "--json", status=2)
    check(done.stdout == "" and done.stderr == "oche sweep: --metrics "
          "prints a list, and runs nothing; leave out --json\n", "--metrics with --json:", done)


def main():
    with tempfile.TemporaryDirectory() as work:
        test_any_number_of_processes(work)
        test_a_point_is_what_oche_run_says(work)
        test_killed_in_the_middle(work)
        test_a_point_that_is_killed(work)
        test_a_point_that_deadlocks(work)
        test_points_without_a_value(work)
        test_a_point_without_memory(work)
        test_what_is_wrong(work)
        test_axes_together(work)
        test_what_does_not_fit(work)
        test_keys_without_effect(work)
        test_the_fluid_model(work)
        test_files_that_the_scenario_names(work)
        test_the_way_over_slurm(work)
        test_other_sweeps_are_refused(work)
        test_progress(work)
    test_metrics()
    return report()


sys.exit(main())
