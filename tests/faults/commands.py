#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each subcommand of oche while calls of the system fail, each in turn: allocations, files, a full
disk, processes, threads; and while clocks jump. A command then either does what it always does,
byte for byte, or ends with one line and a status that its help names. It never hangs, is never
ended by a signal, never speaks of a bug; no file is left that is not complete; and what goes on
where it was interrupted does so when the same command is given again.

usage: commands.py FAIL_CALLS PRELOAD CLIENT [CASE…]
       fail_calls.c, preload.c, and verbs_client.c, or - where there is no verbs library
Environment: OCHE, SOURCE. OCHE_LONG=yes: a hundred calls of a kind, all if they are fewer, several
commands at a time; OCHE_LONG=all: a thousand (hours); else some of each kind.
"""
import concurrent.futures
import errno
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
LONG = {"yes": 100, "all": 1000}.get(os.environ.get("OCHE_LONG"), 0)  # calls of a kind
LIMIT_S = 120  # the machine may be busy
# A disk would be waited for: what is synchronised need not be.
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
SKIPPED = 77
SCENARIO = """\
duration: 200us
defaults: paper
topology: {type: star, hosts: 2, host_rate: 10Gbps}
congestion_control: dcqcn
workload: {type: background, bytes: 20KB}
"""
SETS = ["--set", "loss.probability=0.1%"]
PAPER = """\
title: A paper
authors: A
published: somewhere
figures: [one]
grids: {all: {vary: {loss.probability: [0, 1%]}}}
quantities:
  goodput: {metric: goodput, label: goodput}
"""
FIGURE = """\
title: Goodput
place: Fig 1
scenario: s.yaml
grids: [{from: all}]
plot:
  - title: each
    quantity: goodput
    along: loss.probability
    x: {name: loss}
    y: {name: goodput}
claims:
  - name: lossless
    text: much
    kind: at_least
    quantity: goodput
    at: {loss.probability: 0}
    bound: 1Gbps
    says: much
    tolerance: {absolute: 0bps, in_shape: 1Gbps}
    place: sec 1
    source: text
    confidence: high
"""
# Parts of a run's output that differ from run to run.
PASSING = re.compile(r"^(speed|wall|simulated in|.* points? in |.* took ).*$", re.MULTILINE)
PASSING_KEYS = ("wall_s", "command", "began", "ended", "program", "cores")

ABOUT_POINTS = re.compile(r"(\w+: )?point \d+ |  to repeat it: |\d+ of \d+ points are not done; ")
LOGS = ("-wal", "-shm", "-journal")

E = errno
# The failing call, the way it fails, and if all later calls fail, too.
MEMORY = [("memory", E.ENOMEM, True), ("memory", E.ENOMEM, False), ("mmap", E.ENOMEM, True)]
FILES = [("open", E.EMFILE, True), ("open", E.EACCES, False), ("read", E.EIO, False),
         ("folder", E.ENOSPC, False), ("write", E.ENOSPC, True), ("write", E.EIO, False),
         ("write", "short", False), ("sync", E.EIO, False), ("sync", E.ENOSPC, True),
         ("rename", E.ENOSPC, False)]
PROCESSES = [("descriptor", E.EMFILE, True), ("descriptor", E.ENFILE, False),
             ("process", E.EAGAIN, True), ("process", E.EAGAIN, False),
             ("process", E.ENOMEM, False), ("thread", E.EAGAIN, True), ("wait", E.EINTR, False)]
CLOCKS = [("clock", "hour", True), ("clock", "back", True), ("clock", "still", True)]
NETWORK = [("socket", E.EACCES, True), ("socket", E.ENOBUFS, False), ("send", E.ENOBUFS, False),
           ("send", E.EAGAIN, False), ("send", E.ENETUNREACH, True), ("send", E.EINTR, False),
           ("receive", E.EINTR, False), ("receive", E.ECONNREFUSED, False),
           ("receive", E.ENOMEM, True)]
ALL = MEMORY + FILES + PROCESSES + CLOCKS + NETWORK


class Case:
    """A command, and the files that it needs and makes."""

    def __init__(self, name, *arguments, before=(), statuses=(2,), quick=1.0, resumes=False,
                 never=(), only=None, last=()):
        self.name, self.arguments, self.before = name, arguments, before
        self.statuses, self.quick, self.resumes = statuses, quick, resumes
        self.only = only  # what fails, with how many n in the quick form
        self.last = last  # the calls of which the last one fails in the quick form, not any one
        self.never = never  # what does not fail: argp's help leaves out what it has no memory for


RUN = ("run", "s.yaml", *SETS, "--out", "out")
MERGE = ("sweep", "s.yaml", "--vary", "loss.probability=0,1%", "--out", "out")
SWEEP = (*MERGE, "--jobs", "1")
CASES = [
    Case("run", *RUN, "--csv"),
    Case("run again", *RUN, before=[RUN], quick=0.5),
    Case("run repeated", "run", "out/run.sqlite", "--out", "again", before=[RUN], quick=0.3),
    Case("run --pcap", *RUN, "--pcap", "a.pcap", quick=0.5),
    Case("run --trace", *RUN, "--trace", "a.csv:host=0,flow=0", quick=0.3),
    Case("run --compare", "run", "s.yaml", "--out", "out", "--compare",
         "recovery=go_back_n,go_back_0", "--csv", quick=0.5),
    Case("run --threads", *RUN, "--threads", "2", quick=0.5),
    Case("run --show-defaults", "run", "s.yaml", "--show-defaults", quick=0.5),
    Case("sweep", *SWEEP, "--csv", statuses=(1, 2), resumes=True),
    Case("sweep --jobs", *MERGE, "--jobs", "2", "--quiet", statuses=(1, 2), quick=0.5,
         resumes=True),
    Case("sweep --point", *SWEEP, "--point", "0/1", statuses=(1, 2), quick=0.5, resumes=True),
    Case("sweep --merge", *MERGE, "--merge", before=[(*SWEEP, "--point", "0/1")],
         statuses=(1, 2), quick=0.5, resumes=True),
    Case("sweep --restart", *SWEEP, "--restart", before=[SWEEP], statuses=(1, 2), quick=0.5,
         resumes=True),
    Case("sweep --slurm", *SWEEP, "--slurm", quick=0.3),
    Case("sweep --metrics", "sweep", "--metrics", quick=0.3),
    Case("reproduce", "reproduce", "--papers", "papers", "--jobs", "1", "--out", "out", "a/one",
         statuses=(1, 2), resumes=True),
    Case("reproduce --list", "reproduce", "--papers", "papers", "--list", quick=0.3),
    Case("reproduce --tolerances", "reproduce", "--papers", "papers", "--tolerances", quick=0.5),
    Case("fluid", "fluid", "s.yaml", "--duration", "1ms", "--csv", "f.csv", "--out", "out"),
    Case("fluid --stability", "fluid", "--stability", "--counts", "2", "--delays", "4us",
         "--csv", "f.csv", quick=0.3),
    Case("buffers", "buffers", "--check", "s.yaml", statuses=(1, 2), quick=0.3),
    Case("buffers --json", "buffers", "--check", "s.yaml", "--json", statuses=(1, 2), quick=0.2),
    Case("report", "report", "out", before=[RUN]),
    Case("report --svg", "report", "out", "--svg", "svg", before=[RUN], quick=0.2,
         last=("write",)),  # node's data
    Case("wire", "wire", "a.pcap", before=[(*RUN, "--pcap", "a.pcap")], statuses=(1, 2)),
    Case("wire --json", "wire", "a.pcap", "--json", before=[(*RUN, "--pcap", "a.pcap")],
         statuses=(1, 2), quick=0.3),
    Case("help", "--help", quick=0.2),
    # Larger files, for allocations that the small scenario does not make.
    Case("credits", "run", f"{SOURCE}/tests/scenarios/credits.yaml", "--set", "duration=400us",
         "--set", "warmup=0", "--out", "out", only={"memory": 5}),
    Case("pauses", "run", f"{SOURCE}/tests/scenarios/pauses.yaml", "--set", "duration=300us",
         "--set", "warmup=0", "--set", "measure.interval=10us", "--threads", "2", "--out", "out",
         only={"memory": 5}),
    Case("run --help", "run", "--help", quick=0.2, never=("memory",)),
]


def exec_cases(client):
    """A verbs program. Each run has a different address for its device."""
    own = f"--device=127.{os.getpid() % 200 + 20}.{os.getpid() // 200 % 250}."
    return [Case("exec", "exec", own + "9", client, statuses=(1, 2)),
            Case("exec --capture", "exec", own + "10", "--capture=live.pcap", client,
                 statuses=(1, 2), quick=0.5),
            Case("exec --rogue", "exec", own + "11", "--rogue", client, statuses=(1, 2),
                 quick=0.5)]


# ---- the files of a case ----

def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_inputs(folder, case):
    write(f"{folder}/s.yaml", SCENARIO)
    if case.arguments[0] == "reproduce":
        write(f"{folder}/papers/a/paper.yaml", PAPER)
        write(f"{folder}/papers/a/figures/one.yaml", FIGURE)
        write(f"{folder}/papers/a/scenarios/s.yaml", SCENARIO)
    for arguments in case.before:
        subprocess.run([OCHE, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       timeout=LIMIT_S)


def rows_of(path):
    """Returns a database's tables without values that differ from run to run, or its error."""
    tables = {}
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
            at = database.execute(f"SELECT * FROM {name}")
            kept = [i for i, column in enumerate(at.description) if column[0] not in PASSING_KEYS]
            tables[name] = sorted(repr([row[i] for i in kept]) for row in at
                                  if row[0] not in PASSING_KEYS)
        tables["version"] = database.execute("PRAGMA user_version").fetchall()
        database.close()
    except sqlite3.Error as error:
        return str(error)
    return tables


def steady(name, what):
    """Returns a text file without values that differ from run to run."""
    if name == "points.csv":
        rows = [line.split(b",") for line in what.splitlines()]
        at = rows[0].index(b"wall_s")
        return [row[:at] + row[at + 1:] for row in rows]
    if name.endswith(".point"):
        return re.sub(rb"\nwall .*", b"", what)
    if name.endswith(".html"):
        return re.sub(rb'"(wall_s|command|made|began)"\W+("[^"]*"|[\w.+-]+)', b"", what)
    return what


def contents(folder):
    """Returns the contents of each file, in a form that is equal for two runs of one command."""
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            if name.startswith("live"):
                what = None  # exists, as far as it has been written
            elif name.endswith(".sqlite"):
                what = rows_of(path)
            else:
                with open(path, "rb") as file:
                    what = file.read()
                what = steady(name, what)
            found[os.path.relpath(path, folder)] = what
    return found


# ---- a run ----

class Done:
    """The end of a command, and its files."""

    def __init__(self, status, out, err, files, counts, failed):
        self.status, self.out, self.err, self.files = status, out, err, files
        self.counts, self.failed = counts, failed


def told(text, folder):
    return PASSING.sub("", text.decode("utf-8", "replace").replace(folder, "HERE"))


def run(tools, case, fault=("none", 0, False), n=0, stdout=subprocess.PIPE, keep=None):
    """Runs a case in a folder of its own, with the n-th call failing."""
    call, error, later = fault
    with tempfile.TemporaryDirectory(prefix="oche-faults-", dir=IN_MEMORY) as work:
        folder = keep or f"{work}/in"
        if keep is None:
            shutil.copytree(case.inputs, folder)
        command = [*tools, f"{work}/counts", call, str(n), f"{error}{'+' if later else ''}", OCHE,
                   *case.arguments]
        try:
            done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout,
                                  stderr=subprocess.PIPE, timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return Done("hangs", "", "", {}, {}, "")
        with open(f"{work}/counts", encoding="utf-8") as file:
            lines = [line.split(None, 1) for line in file.read().splitlines()]
        counts = {line[0]: int(line[1]) for line in lines if line[0] != "failed"}
        failed = next((line[1] for line in lines if line[0] == "failed"), "")
        again = None
        result = Done(done.returncode, told(done.stdout or b"", folder),
                      told(done.stderr, folder),
                      contents(folder), counts, failed)
        if case.resumes and keep is None and done.returncode not in (0, SKIPPED) and n > 0:
            again = run(tools, case, keep=folder)
        result.again = again
        return result


def differing(files, right):
    return sorted(name for name in set(files) | set(right) if files.get(name) != right.get(name))


def wrong(case, done, right):
    """Returns the error in the end of a disturbed command, or None."""
    if done.status == "hangs":
        return "hangs"
    if done.status >= 128:
        return f"signal {done.status - 128}"
    if "bug" in done.err or "Assertion" in done.err:
        return "speaks of a bug"
    if done.status == right.status and not (done.err and right.status):
        if done.out != right.out:
            return "says something else, and ends well"
        different = differing(done.files, right.files)
        return f"differs in {different[:3]}, and ends well" if different else None
    if done.status not in case.statuses:
        return f"ends with status {done.status}"
    # Points that are not done are each reported, and may be the reason for status 1.
    lines = [line for line in done.err.splitlines() if not ABOUT_POINTS.match(line)]
    if len(lines) > 1 and lines[-1].startswith("verbs_client: ") and \
            all(line.startswith("oche: ") for line in lines[:-1]):
        # The library prints a reason, once for each missing feature; the program prints what it
        # cannot do.
        lines = lines[:1] if case.name == "exec --rogue" else lines[:-1]
    if len(lines) != 1 and not (done.status == 1 and done.err and not lines):
        return f"says {len(lines)} lines"
    return wrong_files(case, done, right)


def wrong_files(case, done, right):
    # SQLite's log is read when the same command continues.
    logs = {f"{name}{log}" for name in right.files if case.resumes for log in LOGS}
    strange = set(done.files) - set(right.files) - logs
    if strange:
        return f"leaves {sorted(strange)[:3]}"
    for name, what in done.files.items():
        if name in logs or what in (right.files[name], case.files.get(name)) or case.resumes:
            continue
        return f"leaves an incomplete {name}"
    again = done.again
    if again is not None and (again.status != right.status or differing(again.files, right.files)):
        return (f"does not go on: status {again.status}, "
                f"{differing(again.files, right.files)[:3]}: {again.err.strip()[:200]}")
    return None


# ---- a case ----

def sample(count, most):
    """Returns some of 1 … count: all if they are few, more of the first."""
    if count <= most:
        return range(1, count + 1)
    geometric = {round(count ** (i / (most - 1 or 1))) for i in range(most)}
    return sorted(geometric | set(range(1, count + 1, max(1, count * 2 // most))))


def numbers(case, fault, count):
    call = fault[0]
    if LONG:
        return sample(count, LONG)
    most = round((case.only or {"memory": 4, "write": 2}).get(call, 1) * case.quick)
    if most > 1 or count == 0:
        return sample(count, most)
    if call in case.last:
        return [count]
    return [1 + zlib.crc32(f"{case.name} {fault}".encode()) % count]  # one, anywhere


def left_out(case, fault):
    """In the quick form slow commands get a third of the faults, and similar ones half each.
    Together they get all."""
    if LONG or case.only:
        return False
    slow = case.name.startswith("exec") or case.resumes
    every = 3 if slow else 2 if case.quick <= 0.5 else 1
    return (CASES.index(case) + ALL.index(fault)) % every != 0


def disturbed(tools, case, right):
    """Fails calls of each kind in turn. Returns how many commands ran, and what was wrong."""
    failures, runs, refused = [], 0, 0
    for fault in ALL:
        if fault[0] in case.never or (case.only and fault[0] not in case.only):
            continue
        if left_out(case, fault):
            continue
        for n in numbers(case, fault, right.counts[fault[0]]):
            done = run(tools, case, fault, n)
            what = wrong(case, done, right)
            runs += 1
            refused += done.status != right.status
            if what is not None:
                failures.append(f"{case.name}: {fault[0]} {n} of {right.counts[fault[0]]}, "
                                f"{fault[1]}{' and later' if fault[2] else ''} [{done.failed}]: "
                                f"{what}: {done.err.strip()[:300]}")
                print(failures[-1], flush=True)
    return runs, refused, failures


def without_output(tools, case, right):
    """A full disk, and a reader that has gone, as standard output."""
    failures = []
    if not right.out.strip():
        return failures
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = run(tools, case, stdout=full)
    what = wrong(case, done, right) if done.status != right.status or right.status else "ends well"
    if what is not None:
        failures.append(f"{case.name}: onto a full disk: {what}: {done.err.strip()[:300]}")
    reader, writer = os.pipe()
    os.close(reader)
    done = run(tools, case, stdout=writer)
    os.close(writer)
    if done.status not in (right.status, 2, 128 + 13) or "bug" in done.err or \
            set(done.files) - set(right.files):
        failures.append(f"{case.name}: into a closed pipe: status {done.status}, "
                        f"{sorted(done.files)}: {done.err.strip()[:300]}")
    for failure in failures:
        print(failure, flush=True)
    return failures


def check(tools, case, work):
    case.inputs = f"{work}/{case.name}"
    make_inputs(case.inputs, case)
    case.files = contents(case.inputs)
    right = run(tools, case)
    if right.status == SKIPPED:
        print(right.err)
        sys.exit(SKIPPED)
    if "built without it" in right.err or ("--svg" in case.arguments and not shutil.which("node")):
        print(f"{case.name}: not here")
        return []
    second = run(tools, case)
    if right.status not in (0, 1) or right.err or right.out != second.out or \
            differing(right.files, second.files):
        return [f"{case.name}: undisturbed: status {right.status}, {right.err}, "
                f"{differing(right.files, second.files)}\n{right.out}\n{second.out}"]
    began = time.monotonic()
    runs, refused, failures = disturbed(tools, case, right)
    failures += without_output(tools, case, right)
    print(f"{case.name}: {runs} runs, {refused} refused, {len(failures)} wrong, "
          f"{time.monotonic() - began:.1f} s", flush=True)
    return failures


def has_page():
    """A build without node, or without what the page is made of, has no `oche report`."""
    has = os.path.exists(os.path.join(os.path.dirname(OCHE), "report", "page", "report.html"))
    if not has:
        print("oche report is built without its page: not tried")
    return has


def main(fail_calls, preload, client, *wanted):
    failures = []
    fail_calls, preload = os.path.abspath(fail_calls), os.path.abspath(preload)
    if client != "-":
        CASES.extend(exec_cases(os.path.abspath(client)))
    with tempfile.TemporaryDirectory(prefix="oche-faults-", dir=IN_MEMORY) as work, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count() if LONG else 1) as pool:
        cases = [case for case in CASES if (not wanted or case.name in wanted) and
                 (case.arguments[0] != "report" or has_page())]
        for wrongs in pool.map(lambda case: check((fail_calls, preload), case, work), cases):
            failures += wrongs
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(failures)} wrong; {used.ru_utime + used.ru_stime:.1f} s of CPU time")
    print("\n".join(failures[:100]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
