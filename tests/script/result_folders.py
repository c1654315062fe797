#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks where oche run puts results: no run replaces another's; two at once into one folder are
refused; a results file repeats its run or says why it cannot; a report of a folder names its runs.

Environment: OCHE, SOURCE, BUILD.
"""
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from checks import check, failures, report, run_program

OCHE = os.path.abspath(os.environ["OCHE"])
PAGE = os.path.join(os.path.abspath(os.environ["BUILD"]), "report", "page", "report.html")
signal.signal(signal.SIGINT, signal.default_int_handler)


def oche(*arguments, status=0):
    done = run_program(OCHE, *arguments)
    check(done.returncode == status, arguments, "status", done.returncode, done.stderr)
    if done.returncode != status:
        print(failures[-1])  # later tests may need the results
    return done


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def scenario(name, workload, more=""):
    write(name, "topology: {type: star, hosts: 4, host_rate: 100Gbps}\n"
                f"workload: {workload}\n{more}")


def info(folder):
    with sqlite3.connect(os.path.join(folder, "run.sqlite")) as db:
        return dict(db.execute("SELECT * FROM info"))


def found():
    return sorted(os.path.relpath(os.path.join(folder, name), "out")
                  for folder, _, names in os.walk("out") for name in names)


def test_places():
    """The scenario as it is, each set of overrides and each comparison have their own folders."""
    scenario("s.yaml", "{type: incast, degree: 3, bytes: 100KB}")
    oche("run", "s.yaml", "-q")
    before = info("out/s")
    for options in (["--set", "switch.kmin=20KB", "--seed", "7"],
                    ["--set", "workload={type: incast, degree: 3, bytes: 1KB}"],
                    ["--compare", "congestion_control=dcqcn,none"],
                    ["--compare", "congestion_control=dcqcn,none", "--set", "workload.degree=2"]):
        oche("run", "s.yaml", "-q", *options)
    check(info("out/s") == before, "the run without overrides was replaced")
    names = found()
    odd = [name for name in names if name.startswith("s/workload=")]
    check(len(odd) == 1 and re.fullmatch(r"s/workload=_type_incast_degree_3_bytes_1KB_[0-9a-f]{8}"
                                         r"/run\.sqlite", odd[0]), odd)
    check([name for name in names if name not in odd] == [
        "s/congestion_control=dcqcn/run.sqlite", "s/congestion_control=none/run.sqlite",
        "s/run.sqlite", "s/switch.kmin=20KB,seed=7/run.sqlite",
        "s/workload.degree=2/congestion_control=dcqcn/run.sqlite",
        "s/workload.degree=2/congestion_control=none/run.sqlite"], names)
    with sqlite3.connect("out/s/workload.degree=2/congestion_control=none/run.sqlite") as db:
        sets = [row[0] for row in db.execute("SELECT assignment FROM overrides ORDER BY position")]
    check(sets == ["workload.degree=2", "congestion_control=none"], sets)
    if not os.path.exists(PAGE):
        return
    oche("report", "out/s")
    with open("out/s/report.html", encoding="utf-8") as file:
        data = json.loads(re.search(r'id="?data"?[^>]*>(.*?)</script>', file.read(), re.S)[1])
    documents = [[one["compared"], one["overrides"], len(one["runs"])]
                 for one in data["documents"]]
    check(sorted(documents) == [["", "", 3], ["congestion_control", "", 2],
                                ["congestion_control", "workload.degree=2", 2]], documents)


def test_two_at_once():
    """The second run into a folder is refused before it runs; one into another folder is not."""
    scenario("long.yaml", "{type: background}", "duration: 3600s\n")
    first = subprocess.Popen([OCHE, "run", "long.yaml", "-q"], stderr=subprocess.PIPE, text=True)
    while not os.path.exists("out/long") and first.poll() is None:
        time.sleep(0.01)
    time.sleep(0.2)
    done = oche("run", "long.yaml", status=2)
    check(done.stderr == "out/long: another oche is writing there; wait for it, or give another "
                         "--out\n", done.stderr)
    oche("run", "long.yaml", "-q", "--set", "duration=10us")
    first.send_signal(signal.SIGINT)
    check(first.wait(timeout=60) == 130, first.stderr.read())
    first.stderr.close()
    check(info("out/long")["status"] == "interrupted", info("out/long"))
    check(not [name for name in found() if name.endswith(".part")], found())
    done = oche("run", "out/long/run.sqlite", "--set", "duration=10us")
    check("same hash" not in done.stdout, "another run was compared")


def test_repeat():
    """A results file repeats its run with overrides and seed, from any folder."""
    scenario("s.yaml", "{type: incast, degree: 3, bytes: 100KB}")
    options = ["--set", "loss.probability=1%", "--seed", "7"]
    oche("run", "s.yaml", "-q", *options)
    place = "out/s/loss.probability=1%,seed=7"
    wanted = info(place)["trace_hash"]
    os.rename("s.yaml", "gone.yaml")
    done = oche("run", place + "/run.sqlite")
    check(done.stdout.endswith(f"results: {place}/repeat/run.sqlite\n"
                               f"same hash as {place}/run.sqlite: {wanted}\n"), done.stdout)
    check(info(place + "/repeat")["trace_hash"] == wanted, "the hash in the results")
    done = oche("run", place + "/run.sqlite", "--json", "-q")
    check(json.loads(done.stdout)["runs"][0]["overrides"] == ["loss.probability=1%", "seed=7"],
          done.stdout[:300])
    done = oche("run", place + "/repeat/run.sqlite", "--json")
    check(json.loads(done.stdout) and done.stderr.startswith("same hash as "), done.stderr)
    done = oche("run", place + "/run.sqlite", "--seed", "8")
    check("hash as" not in done.stdout and
          "out/s/loss.probability=1%,seed=7,seed=8/run.sqlite" in done.stdout, done.stdout[-300:])
    # Another version made it; or this one, which then is not deterministic.
    shutil.copytree(place, "other")
    for program, says in (("oche 0.0.1", r"version: this is oche \S+, that was oche 0\.0\.1; hash "
                                         rf"{wanted}, was 0{{16}}\n"),
                          (info(place)["program"], rf"hash {wanted}, was 0{{16}}, by the same "
                                                   r"version\n")):
        with sqlite3.connect("other/run.sqlite") as db:
            db.execute("UPDATE info SET value = '0000000000000000' WHERE key = 'trace_hash'")
            db.execute("UPDATE info SET value = ? WHERE key = 'program'", (program,))
        done = oche("run", "other/run.sqlite", "-q", status=1)
        check(re.fullmatch("differs from other/run.sqlite: " + says, done.stderr), done.stderr)
    with sqlite3.connect("other/run.sqlite") as db:
        db.execute("DROP TABLE overrides")
    done = oche("run", "other/run.sqlite", status=2)
    check("was made by an earlier version" in done.stderr and done.stderr.count("\n") == 1,
          done.stderr)
    oche("sweep", "gone.yaml", "--vary", "workload.degree=2,3", "-q", "--out", "swept")
    done = oche("run", "swept/sweep.sqlite", status=2)
    check(done.stderr == "swept/sweep.sqlite: is not a run's results; give a scenario, or a "
                         "run.sqlite\n", done.stderr)
    shown = oche("run", place + "/run.sqlite", "--show-defaults").stdout
    check(re.search(r"^loss.probability +0.01 ", shown, re.M), shown)


def test_repeat_with_files():
    """Files that the scenario or an override names are found where they were, or beside the
    results; others of that name are refused."""
    os.makedirs("there/sub")
    write("there/sub/flo'ws.csv", "start,src,dst,bytes\n0,0,1,10KB\n1us,2,1,20KB\n")
    scenario("there/own.yaml", "[{type: from_file, file: \"sub/flo'ws.csv\"}]")
    scenario("by-set.yaml", "{type: from_file, file: none.csv}")
    oche("run", "there/own.yaml", "-q")
    oche("run", "by-set.yaml", "-q", "--set", "workload.file='there/sub/flo''ws.csv'", "--out",
         "out/set")
    results = [os.path.abspath(place + "/run.sqlite") for place in ("out/own", "out/set")]
    os.makedirs("elsewhere")
    os.chdir("elsewhere")
    for path in results:
        check("same hash as" in oche("run", path).stdout, path)
    os.rename("../there/sub/flo'ws.csv", "../moved.csv")
    for path in results:
        done = oche("run", path, status=2)
        check(re.fullmatch(re.escape(path) + r": workload(\[0\])?\.file: /\S+/there/sub/flo'ws\.csv"
                           " cannot be read; put the file of that run there, or beside the "
                           r"results\n", done.stderr), done.stderr)
        shutil.copy("../moved.csv", os.path.join(os.path.dirname(path), "flo'ws.csv"))
        check("same hash as" in oche("run", path).stdout, path)
        with open(os.path.join(os.path.dirname(path), "flo'ws.csv"), "a", encoding="utf-8") as file:
            file.write("2us,3,1,30KB\n")
        check("has changed since that run" in oche("run", path, status=2).stderr, path)
        check("has changed" in oche("run", path, "--set", "seed=2", status=2).stderr, path)
    # If an override replaces a file, the replaced file need not exist.
    for path, key in zip(results, ("workload.0.file", "workload.file")):
        oche("run", path, "-q", "--set", key + "=../moved.csv", "--out", "new")
        check(info("new")["trace_hash"] == info(os.path.dirname(path))["trace_hash"], path)
    oche("run", results[1], "-q", "--set", "workload={type: incast, degree: 2, bytes: 1KB}",
         "--out", "new")
    os.chdir("..")


def test_interrupted_repeat():
    """Ctrl-C keeps the results of a repeat so far, and those of the run that it repeats."""
    before = info("out/long")
    running = subprocess.Popen([OCHE, "run", "out/long/run.sqlite"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    while not os.path.exists("out/long/repeat") and running.poll() is None:
        time.sleep(0.01)
    time.sleep(0.2)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    check(running.returncode == 130 and "interrupted at" in err, err)
    check(out.endswith("differs from out/long/run.sqlite: this run was interrupted\n"), out[-300:])
    check(info("out/long") == before, "the results that were repeated")
    check(info("out/long/repeat")["status"] == "interrupted", "the repeat's results")


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        test_places()
        test_two_at_once()
        test_interrupted_repeat()
        test_repeat()
        test_repeat_with_files()
        os.chdir("/")
    return report()


sys.exit(main())
