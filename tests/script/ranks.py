#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche run` under mpirun: the same results file as one process, whatever the number of ranks; one
clear line for what is not possible; a rank that dies ends the run, and leaves nothing half-written;
a signal ends it with what was run.
With OCHE_LONG=yes, all scenarios, and a thousand random worlds.

usage: ranks.py MPI_WORLDS
"""
import concurrent.futures
import glob
import os
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from checks import fail, run_program

OCHE, BUILD = os.environ["OCHE"], os.environ["BUILD"]
LONG = os.environ.get("OCHE_LONG") == "yes"
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
LIMIT = 900 if LONG else 300
# Two mpirun at once may fail to make one folder: each of ours has its own in this one.
SESSIONS = tempfile.TemporaryDirectory(prefix="ompi-")
os.environ["OMPI_MCA_orte_tmpdir_base"] = SESSIONS.name

# Short forms, and the number of ranks; both incast ones end by themselves, deadlock with status 3.
SCENARIOS = [
    ("permutation", ["--set", "duration=60us", "--set", "measure.interval=5us"], (2, 4)),
    ("incast", ["--set", "duration=1ms"], (2,)),
    ("deadlock", [], (2,)),
    ("lossy", ["--set", "duration=1ms"], (3,)),
    # It ends by itself, when all that has arrived is also in memory.
    ("lossy", ["--set", "workload.bytes=200KB", "--set", "loss.probability=0.01", "--set",
               "host={dma_latency: 50us, ack_timeout: 300us, retry_count: 1}"], (2,)),
    ("rogue", ["--set", "duration=1ms", "--set", "measure.rates=true"], (2,)),
    ("link-failure", ["--set", "workload.stop=2ms", "--set", "routes.reroute=200us", "--set",
                      "failures=[{link: \"leaf0:spine1\", at: 500us, until: 1500us}]"], (2,)),
    # What ranks of jobs did, and when phases began and ended.
    ("all-reduce", ["--set", "workload[0].bytes=2MB", "--set", "workload[0].compute=50us", "--set",
                    "workload[1].bytes=2MB"], (2,)),
]


def environment(of=None):
    """With a folder of its own for an mpirun."""
    return {**(of or os.environ),
            "OMPI_MCA_orte_tmpdir_base": tempfile.mkdtemp(dir=SESSIONS.name)}


def run(command, env=None, **more):
    try:
        return run_program(*command, timeout=LIMIT, env=environment(env), **more)
    except subprocess.TimeoutExpired:
        return fail(*command, "has not ended")


def rows(folder):
    """All that is in a results file but the command, how long it took, and what ranks do not have:
    the slowest flows over time."""
    with sqlite3.connect(":memory:") as results:
        with sqlite3.connect(os.path.join(folder, "run.sqlite")) as file:
            file.backup(results)
        results.execute("DELETE FROM series WHERE series IN (SELECT id FROM series_names WHERE "
                        "name = 'slowest_goodput')")
        results.execute("DELETE FROM series_names WHERE name = 'slowest_goodput'")
        return [line for line in results.iterdump()
                if "INTO \"info\" VALUES('command'" not in line
                and "INTO \"info\" VALUES('wall_s'" not in line]


def compare(name, options, counts, folder):
    one = os.path.join(folder, "one")
    words = ["run", f"scenarios/{name}.yaml", "-q", *options, "--out"]
    alone = run([OCHE, *words, one, "-t", "1"])
    if not os.path.exists(os.path.join(one, "run.sqlite")):
        fail(name, alone.stderr)
    expected = rows(one)

    for count in counts:
        many = os.path.join(folder, f"many{count}")
        done = run([*MPIRUN, "-np", str(count), OCHE, *words, many])
        if done.returncode != alone.returncode:
            fail(name, count, "ranks: status", done.returncode, "not", alone.returncode,
                 done.stderr)
        got = rows(many)
        if got != expected:
            apart = [pair for pair in zip(expected, got) if pair[0] != pair[1]]
            fail(name, count, "ranks:", len(got), "rows, not", len(expected), apart[:3])


def check_worlds(program):
    for count, worlds in ((2, 1000 if LONG else 18), (4, 1000 if LONG else 9)):
        done = run([*MPIRUN, "-np", str(count), program, "40000", str(worlds)])
        print(done.stdout, end="")
        if done.returncode != 0 or "all the same" not in done.stdout:
            fail("random worlds on", count, "ranks:", done.stdout, done.stderr)


def refused(words, says, folder, oche=OCHE, count=3, beside=None):
    """Expects status 2 and one line of this program, printed once. `beside`: command of one more
    rank."""
    more = [] if beside is None else [":", "-np", "1", *beside]
    done = run([*MPIRUN, "-np", str(count), oche, *words, *more])
    own = [line for line in done.stderr.split("\n") if says in line]

    if done.returncode != 2 or len(own) != 1:
        fail(words, "status", done.returncode, done.stderr)
    if os.listdir(folder):
        fail(words, "has left", os.listdir(folder))


def check_refusals(folder, pool):
    jobs = []

    def later(*what, **more):
        jobs.append(pool.submit(refused, *what, **more))

    out = ["--out", os.path.join(folder, "out")]
    os.mkdir(empty := os.path.join(folder, "empty"))
    here = ["run", "scenarios/incast.yaml", *out]

    later([*here, "--pcap", os.path.join(empty, "a.pcap") + ":host1"], "--pcap: ", empty)
    later([*here, "--trace", os.path.join(empty, "a.csv")], "--trace: ", empty)
    later([*here, "--partition-report", "4"], "--partition-report: ", empty)
    later([*here, "--until-stable", "goodput"], "--until-stable: ", empty)
    later([*here, "-t", "2"], "--threads 2: ", empty)
    later([*here, "--set", "switch.kmin=x"], "--set switch.kmin=x", empty)
    later(["run", "--bogus"], "--bogus", empty)
    later(["sweep", "scenarios/incast.yaml", "--vary", "seed=1,2", "--out", out[1]],
          "oche sweep: is one process", empty)
    later(["reproduce", "dart"], "oche reproduce: is one process", empty)
    other = os.path.join(folder, "other")
    with open(other, "w", encoding="utf-8") as script:
        script.write('#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 2 ] && set -- "$@" --set '
                     f'switch.kmin=11KB\nexec {OCHE} "$@"\n')
    os.chmod(other, 0o755)
    later([*here], "rank 2: has another scenario, other files of it, or other options", empty,
          other)
    alone = os.path.join(folder, "alone")
    shutil.copy(OCHE, alone)
    later(["run", "scenarios/incast.yaml", *out], "liboche-mpi.so is neither", empty, alone)
    refuse_others(here, alone, empty, folder, later)
    jobs.append(pool.submit(another_program, here))
    for job in jobs:
        job.result()
    if os.path.exists(out[1]):
        fail("a refused run has made", out[1])
    done = run([*MPIRUN, "-np", "1", alone, *here, "-q", "--set", "duration=100us"])
    if done.returncode != 0:
        fail("one process needs no library:", done.stderr)
    shutil.rmtree(out[1])


def another_program(here):
    """If one rank is another program that never answers, rank 0 prints that it waits for it."""
    done = run_program("timeout", "-s", "INT", "13", *MPIRUN, "-np", "1", OCHE, *here, ":", "-np",
                       "1", "sh", "-c", "exec sleep 12", timeout=LIMIT, env=environment())
    if "rank 0: waits for the other processes" not in done.stderr or done.returncode == 0:
        fail("another program beside:", done.returncode, done.stderr)


def refuse_others(here, alone, empty, folder, later):
    """One rank is started in a different way: all ranks must end, and none may wait for ever."""
    other = os.path.join(folder, "build")

    os.mkdir(other)
    for name in (OCHE, f"{BUILD}/liboche-mpi.so"):
        shutil.copy(name, other)
    build = os.path.join(other, os.path.basename(OCHE))
    with open(build, "ab") as program:
        program.write(b"another build")
    differs = "rank 1: has another scenario, other files of it, or other options"
    later([*here, "--compare", "seed=1,2"], differs, empty, count=1,
          beside=[OCHE, *here, "--set", "seed=1"])
    later([*here, "--compare", "seed=1,2"], differs, empty, count=1,
          beside=[OCHE, *here, "--compare", "seed=1,3"])
    for name in ("near", "far"):
        os.mkdir(os.path.join(folder, name))
        for path in glob.glob("scenarios/deadlock.*"):
            shutil.copy(path, os.path.join(folder, name))
    with open(os.path.join(folder, "far", "deadlock.routes"), "rb+") as routes:
        routes.truncate(routes.read().rstrip().rfind(b"\n") + 1)
    later([os.path.join(folder, "near"), OCHE, "run", "deadlock.yaml", *here[2:]], differs,
          empty, oche="-wdir", count=1,
          beside=["-wdir", os.path.join(folder, "far"), OCHE, "run", "deadlock.yaml", *here[2:]])
    later([*here], "rank 1: is another build of oche", empty, count=1,
          beside=[OCHE, "run", "--show-defaults"])
    later([*here], "rank 1: is another build of oche", empty, count=1, beside=[build, *here])
    # Rank 0 waits in MPI for these, which say why they do not come.
    later([*here], "rank 1: --threads 3: ", empty, count=1, beside=[OCHE, *here, "-t", "3"])
    later([*here], "rank 1: mpirun: liboche-mpi.so is neither", empty, count=1,
          beside=[alone, *here])


def rank_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as words:
            environment = words.read().split(b"\0")
        with open(f"/proc/{pid}/cmdline", "rb") as words:
            name = words.read().split(b"\0")[0].decode()
    except OSError:
        return None, ""
    for word in environment:
        if word.startswith(b"OMPI_COMM_WORLD_RANK="):
            return int(word.split(b"=")[1]), name
    return None, name


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as numbers:
            return [int(number) for number in numbers.read().split()]
    except OSError:
        return []


def check_remark(folder):
    """The windows of this run hold a few events."""
    words = ["run", "scenarios/incast.yaml", "--set", "duration=100us", "--set",
             "topology.delay=100ns", "--out", os.path.join(folder, "remark")]
    done = run([*MPIRUN, "-np", "2", OCHE, *words])
    said = [line for line in done.stderr.split("\n") if line]

    if (len(said) != 1 or not said[0].startswith("mpirun: 2 processes are expected to have ")
            or "one process is most likely faster" not in said[0]):
        fail("few events in a window:", done.stderr)
    if run([*MPIRUN, "-np", "2", OCHE, *words, "-q"]).stderr:
        fail("-q speaks of few events in a window")
    lost = os.environ | {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1"}
    done = run([OCHE, *words], env=lost)
    if done.returncode != 2 or not done.stderr.startswith("rank 1: mpirun: started 2 processes"):
        fail("a rank without mpirun: status", done.returncode, done.stderr)


def check_told(folder):
    """A series ends a window at each sample. Ranks must report each window to each other only
    once."""
    done = run([*MPIRUN, "-np", "2", OCHE, "run", "scenarios/permutation.yaml", "--verbose",
                "--set", "duration=20us", "--set", "measure.interval=500ns", "--out",
                os.path.join(folder, "told")])
    told = re.search(r"told each other of ([0-9]+) windows", done.stderr)

    if told is None or not 40 <= int(told.group(1)) <= 42:
        fail("40 windows, of half a microsecond each, are told otherwise:", done.stderr)


class Long:
    """A run that takes far longer than anyone waits, on two ranks, at a terminal."""

    def __init__(self, out):
        self.out, self.said = out, ""
        self.terminal, ours = pty.openpty()
        self.process = subprocess.Popen([*MPIRUN, "-np", "2", OCHE, "run",
                                         "scenarios/permutation.yaml", "--set",
                                         "workload.bytes=2GB", "--out", out],
                                        stdout=subprocess.DEVNULL, stderr=ours)
        os.close(ours)
        os.set_blocking(self.terminal, False)

    def read(self):
        try:
            while more := os.read(self.terminal, 65536):
                self.said += more.decode(errors="replace")
        except OSError:  # there is no more data, for now or at all
            pass
        return self.said

    def await_progress(self):
        """The progress line comes from rank 0 through mpirun. Returns the rank 1's process."""
        end = time.time() + 60
        while "packet-hops/s" not in self.read() and time.time() < end:
            time.sleep(0.1)
        if "packet-hops/s" not in self.said:
            fail("no progress of ranks:", self.said)
        for pid in children(self.process.pid):
            if rank_of(pid)[0] == 1:
                return pid
        return fail("there is no rank 1")

    def end(self):
        """Returns mpirun's status, and which files are left."""
        try:
            self.process.wait(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            fail("ranks have not ended", self.said)
        self.read()
        os.close(self.terminal)
        return self.process.returncode, sorted(os.listdir(self.out))


def check_killed(folder):
    """Rank 1 is killed in the middle of the run."""
    run = Long(os.path.join(folder, "killed"))
    os.kill(run.await_progress(), signal.SIGKILL)
    status, left = run.end()
    if status == 0:
        fail("a killed rank: status", status, run.said)
    if "rank 1" not in run.said:
        fail("a killed rank is not named:", run.said)
    if left:
        fail("a killed rank has left", left)


def check_interrupted(folder):
    """SIGUSR1 to mpirun ends the run with results. Ctrl-C does so, too, if the run ends within the
    second that mpirun gives it. In any case the files that are left are whole."""
    run = Long(os.path.join(folder, "interrupted"))
    run.await_progress()
    run.process.send_signal(signal.SIGUSR1)
    status, left = run.end()
    if status != 130 or left != ["run.sqlite"] or "interrupted at" not in run.said:
        fail("SIGUSR1 at mpirun: status", status, left, run.said)
    flows = [row for row in rows(run.out) if 'INSERT INTO "flows"' in row]
    if not flows:
        fail("SIGUSR1 at mpirun: no flows in the results")

    run = Long(os.path.join(folder, "ctrl-c"))
    run.await_progress()
    run.process.send_signal(signal.SIGINT)
    status, left = run.end()
    if status == 0 or left not in ([], ["run.sqlite"]):
        fail("Ctrl-C: status", status, left, run.said)
    print("Ctrl-C leaves", "results" if left and rows(run.out) else "nothing, as it took too long")


def main():
    if shutil.which("mpirun") is None or not os.path.exists(f"{BUILD}/liboche-mpi.so"):
        print("there is no mpirun, or the program is built without MPI")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for name, options, counts in SCENARIOS:
            compare(name, options, counts, os.path.join(folder, name))
        for path in sorted(glob.glob("scenarios/*.yaml")) if LONG else []:
            name = os.path.splitext(os.path.basename(path))[0]
            compare(name, [], (2, 4), os.path.join(folder, f"long-{name}"))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:  # they mostly wait
            check_refusals(folder, pool)
        check_remark(folder)
        check_told(folder)
        check_killed(folder)
        check_interrupted(folder)
    check_worlds(sys.argv[1])


main()
