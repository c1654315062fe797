#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how runs end: without a duration when all is delivered; with the reason when nothing can
be delivered any more; by Ctrl-C, with the results until then. And sweeps with impossible points.

Environment: OCHE.
"""
import os
import re
import signal
import sqlite3
import subprocess
import tempfile
import time

from checks import must, run_program

OCHE = os.environ["OCHE"]
STAR = "topology: {type: star, hosts: 4, host_rate: 10Gbps}\n"
INCAST = "workload: {type: incast, degree: 3, bytes: 25MB, senders: next}\n"
signal.signal(signal.SIGINT, signal.default_int_handler)  # under nohup, programs would ignore it


def oche(*words, status=0):
    done = run_program(OCHE, *words)
    must(done.returncode == status, words, "status", done.returncode, done.stderr)
    return done


def write(text):
    with open("s.yaml", "w", encoding="utf-8") as file:
        file.write(text)


def info(folder):
    with sqlite3.connect(os.path.join(folder, "run.sqlite")) as db:
        return dict(db.execute("SELECT key, value FROM info"))


def test_delivered():
    write(STAR + INCAST)
    done = oche("run", "s.yaml")
    time_ms = float(re.search(r"simulated time +([0-9.]+)ms", done.stdout).group(1))
    must(60 <= time_ms < 100 and "not finished" not in done.stdout, done.stdout)
    must(", seed 1, defaults of equipment in use\n" in done.stdout, done.stdout)
    must(info("out/s")["status"] == "done", info("out/s"))
    done = oche("run", "s.yaml", "--set", "duration=10ms", "--set", "defaults=paper")
    must("\n3 flows were not finished at the end; their times are not in the table. Set a longer "
         "duration, or none.\n" in done.stdout, done.stdout)
    must(", seed 1, defaults of the papers\n" in done.stdout, done.stdout)
    shown = oche("run", "s.yaml", "--show-defaults").stdout
    must(re.search(r"\nduration +0 \(until delivered\) ", shown), shown)
    must(shown.endswith("\nworkload[0], incast: ends by itself, and the run with it\n"), shown)
    must(re.search(r"^congestion_control\.cut +auto \(periodic, by mode nic\)", shown, re.M) and
         re.search(r"^congestion_control\.mode, here nic: what `auto` means .*HPCC", shown, re.M),
         shown)
    shown = oche("run", "--show-defaults").stdout
    said = re.findall(r"^      (?:ends by itself|goes on for as long as the run)", shown, re.M)
    must(len(said) == 11, shown)
    done = oche("run", "s.yaml", "--set", "warmup=1s")
    must(re.search(r"^warmup: the run ended at \S+, and nothing is measured before 1s\.$",
                   done.stdout, re.M), done.stdout)
    done = oche("run", "s.yaml", "--set", "warmup=1ms")
    must("\nwarmup: " not in done.stdout, done.stdout)
    done = oche("run", "s.yaml", "--compare", "congestion_control=dcqcn,none")
    must(re.search(r"^Every flow arrives\. With dcqcn half of them take at most \S+ and the last "
                   r"one ends after \S+; with PFC alone .*\.\nGoodput is all bytes over the time "
                   r"to that last one: \S+ with dcqcn, \S+ with PFC alone\.$",
                   done.stdout, re.M) or
         "Goodput" not in done.stdout, done.stdout)


def test_refused():
    write(STAR + "workload:\n  - {type: poisson_cdf, load: 10%}\n")
    done = oche("run", "s.yaml", status=2)
    must(done.stderr == "s.yaml:3: workload[0]: type: poisson_cdf goes on for as long as the run; "
                        "set its stop, or set duration\n", done.stderr)
    done = oche("run", "s.yaml", "--set", "workload[0].stop=1ms", "--set", "model=fluid", status=2)
    must(not os.path.exists("out/s2"), "ran")
    for model in ("fluid", "both"):
        done = oche("sweep", "s.yaml", "--set", "workload[0].stop=1ms", "--set", f"model={model}",
                    "--out", "fluid", status=2)
        must("without duration" in done.stderr and done.stderr.count("\n") == 1, done.stderr)


def test_stalled():
    says = (r"nothing was delivered from \S+ or earlier to \S+, WHY: 1 of 3 flows have not "
            r"arrived, 1 of them under way: flow \d from host1 to host0 "
            r"\(\S+ of 25MB\); down: .*host1.*; no port is held by PAUSE; next timer of host1: \S+")
    for retries, why in ((1000000, "and links that stay down cut off every flow that is left"),
                         (900000, r"1,000 times the longest timeout \(50us\)")):
        write(STAR + INCAST + f"host: {{ack_timeout: 50us, retry_count: {retries}}}\n"
              "failures: [{link: host1, at: 100us}]\n")
        line = says.replace("WHY", why)
        done = oche("run", "s.yaml", "--out", "stalled", status=3)
        must(re.fullmatch(line + "\n", done.stderr), done.stderr)
        must(re.search(f"^STALLED: {line}\\.$", done.stdout, re.M), done.stdout)
        must(info("stalled")["status"] == "stalled", info("stalled"))
        must(re.fullmatch(line, info("stalled")["stalled"]), info("stalled"))
    done = oche("sweep", "s.yaml", "--repeat", "2", "--quiet", "--out", "sweep-stalled", status=1)
    must(len(re.findall(r"failed: nothing was delivered from", done.stderr)) == 2, done.stderr)


def test_late_hosts():
    """A run whose doorbells and completions last longer than 1,000 timeouts does not stall."""
    write("topology: {type: star, hosts: 3, host_rate: 400Gbps, delay: 1ns}\n"
          "host: {ack_timeout: 1us, doorbell_latency: 1ms, completion_latency: 1ms}\n"
          "congestion_control: none\n"
          "workload: {type: permutation, pattern: shift, shift: 1, bytes: 1KB, messages: 2}\n")
    oche("run", "s.yaml", "--out", "late")
    must(info("late")["status"] == "done", info("late"))


def test_one_pipe():
    """Standard output and error in one pipe: each message on a line of its own, in order."""
    write(STAR + INCAST + "host: {ack_timeout: 50us}\nfailures: [{link: host1, at: 100us}]\n"
          "description: " + 6000 * "x" + "\n")
    done = subprocess.run([OCHE, "run", "s.yaml"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    lines = done.stdout.splitlines()
    must(done.returncode == 3 and lines[-1].startswith("nothing was delivered from "), lines[-3:])
    must(lines[-2].startswith("results: "), lines[-3:])


def test_bound():
    """A run that lasts for its whole duration is not called a stall: more data might have come."""
    write(STAR + "workload:\n"
          "  - {type: transfers, pairs: 0>1, bytes: 10KB, messages: 2}\n"
          "  - {type: transfers, pairs: 2>3, bytes: 100KB}\n"
          "host: {ack_timeout: 50us}\nfailures: [{link: host1, at: 1us}]\n")
    done = oche("run", "s.yaml", "--out", "bound", status=3)
    says = (r"not all was delivered at \S+, the most that this run may last without duration; set "
            r"duration to give it more: 2 of 2 flows .*")
    must(re.fullmatch(says + "\n", done.stderr), done.stderr)
    must(re.search(f"^NOT FINISHED: {says}\\.$", done.stdout, re.M), done.stdout)
    must("STALLED" not in done.stdout, done.stdout)
    must(info("bound")["status"] == "unfinished", info("bound"))
    must(re.fullmatch(says, info("bound")["unfinished"]), info("bound"))


def has_text(path):
    return os.path.exists(path) and os.path.getsize(path) > 0


def interrupted(path, *words):
    """Presses Ctrl-C when the run has written something to a file, or to standard error. A busy
    machine may let it wait for seconds before its first packet."""
    with open("error", "w+", encoding="utf-8") as error:
        running = subprocess.Popen([OCHE, "run", "s.yaml", "--out", "cut", *words],
                                   stdout=subprocess.PIPE, stderr=error, text=True)
        end = time.monotonic() + 60
        while not has_text(path) and running.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=60)
        error.seek(0)
        err = error.read()
    must(running.returncode == 130, running.returncode, err)
    return out, err


def test_interrupted():
    write(STAR + "duration: 3600s\nworkload: {type: background}\n")
    out, err = interrupted("cut.csv.part", "--pcap", "cut.pcap:host3", "--trace", "cut.csv:host=3")
    must(re.fullmatch(r"ahead: some \S+ packet-hops, at four million a second [^;]+; Ctrl-C ends "
                      r"the run with what there is\n"
                      r"interrupted at \S+; the results are of what was run until then\n", err),
         err)
    must("goodput, all hosts" in out and "results: cut/run.sqlite" in out, out)
    must(info("cut")["status"] == "interrupted", info("cut"))
    must(os.path.exists("cut.pcap") and not os.path.exists("cut.pcap.part"), "the capture")
    with open("cut.csv", encoding="utf-8") as trace:
        lines = trace.read()
    must(lines.count("\n") > 10 and lines.endswith("\n"), lines[-200:])
    must(f"trace: cut.csv:host=3, {lines.count(chr(10)) - 1:,} events\n" in out, out[-200:])
    out, err = interrupted("error", "--compare", "recovery=go_back_n,selective_repeat")
    must(err.endswith(", and 1 of 2 runs are missing\n"), err)
    must(out.endswith("results: cut/go_back_n/run.sqlite\n"), out)


PATIENCE_S = 0.5  # OCHE_PATIENCE_MS: what is being made may still become ready


def test_interrupted_before():
    """Ctrl-C while a large schedule is made or read: the end comes soon, without results."""
    star = "topology: {type: star, hosts: 512}\nduration: 1us\n"
    with open("long.goal", "w", encoding="utf-8") as goal:
        goal.write("num_ranks 2\nrank 0 {\n")
        goal.writelines(f"l{i}: calc {i}\n" for i in range(4000000))
        goal.write("}\nrank 1 {\n}\n")
    for text, more in (("workload: {type: collective, algorithm: ring, chunks: 32}\n", ()),
                       ("workload: {type: schedule, file: long.goal}\n", ()),
                       ("workload: {type: collective, algorithm: ring, chunks: 32}\n",
                        ("--compare", "congestion_control=none,dcqcn"))):
        write(star + text)
        with subprocess.Popen([OCHE, "run", "s.yaml", "--out", "before", *more],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as running:
            time.sleep(0.4)
            must(running.poll() is None, "the schedule is too short for this test")
            began = time.monotonic()
            running.send_signal(signal.SIGINT)
            said = running.communicate(timeout=60)[1]
        took = time.monotonic() - began
        must(running.returncode == 130, text, running.returncode, said)
        must(said == "interrupted before the run began; there are no results\n", said)
        must(PATIENCE_S - 0.1 < took < PATIENCE_S + 5, "it took", took)
        must(not os.path.exists("before"), "results")


def test_skip_invalid():
    write(STAR + "workload: {type: incast, bytes: 10KB}\n")
    grid = ["sweep", "s.yaml", "--vary", "workload.degree=2,3,4,50", "--repeat", "2"]
    done = oche(*grid, status=2)
    must(done.stderr.count("\n") == 1 and "4 senders" in done.stderr, done.stderr)
    for _ in range(2):  # the second time, nothing is left to run
        done = oche(*grid, "--skip-invalid")
        must(done.stderr.startswith("2 of 4 combinations cannot be run, and are left out:\n  ") and
             "4 senders" in done.stderr and "50 senders" in done.stderr, done.stderr)
        must("\n4 points: 2 combinations, 2 seeds\n" in done.stdout, done.stdout)
        must(len(re.findall(r"^[23]  ", done.stdout, re.M)) == 2, done.stdout)
        must(not re.search(r"^(4|50)  ", done.stdout, re.M), done.stdout)
    done = oche("sweep", "s.yaml", "--vary", "workload.degree=4,50", "--skip-invalid", "--out",
                "no", status=2)
    must(done.stderr.count("\n") == 1, done.stderr)
    with sqlite3.connect("out/s-sweep/sweep.sqlite") as db:
        (said,), = db.execute("SELECT value FROM info WHERE key = 'left_out'")
    must(re.fullmatch(r"workload\.degree=4\t.*4 senders.*\nworkload\.degree=50\t.*50 senders.*\n",
                      said), said)
    # A line a reason.
    done = oche(*grid, "--vary", "host.mtu=1KiB,2KiB,4KiB", "--skip-invalid", "--out", "lines")
    must(done.stderr.count("\n") == 3 and done.stderr.startswith("6 of 12 combinations ") and
         re.search(r"^  3, the first workload\.degree=4, host\.mtu=1KiB: .*4 senders",
                   done.stderr, re.M), done.stderr)
    # The first combination may be one that not even makes a scenario.
    done = oche("sweep", "s.yaml", "--vary", "topology.hosts=0,4", "--set", "workload.degree=2",
                "--skip-invalid", "--out", "first")
    must(done.stderr.startswith("1 of 2 combinations"), done.stderr)
    done = oche(*grid, "--skip-invalid", "--slurm", status=2)
    must("--skip-invalid" in done.stderr, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        test_delivered()
        test_refused()
        test_stalled()
        test_late_hosts()
        test_one_pipe()
        test_bound()
        test_interrupted()
        test_interrupted_before()
        test_skip_invalid()
    print("ok")


main()
