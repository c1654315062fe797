#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that users name, each in its place: what is no file is refused in one line, and nothing
waits for ever or fills the memory; a pipe is as good as a file.

Environment: OCHE.
"""
import concurrent.futures
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading

import chakra
from checks import failures, report, run_program

OCHE = os.environ["OCHE"]
LIMIT = 60                 # seconds for one run
MEMORY = 2 << 30           # bytes of addresses that a run may have; the sanitizers need more
SCENARIO = "topology: {type: star, hosts: 4}\nworkload: {type: incast, degree: 2, bytes: 10KB}\n"
RIGHT = {
    "scenario": SCENARIO,
    "topology.file": "host a\nhost b\nhost c\nswitch s\n" + "".join(
        f"link {host} s 10Gbps 1us\n" for host in "abc"),
    "routes.file": "spine0 leaf1 leaf1\n",
    "workload.file": "src,dst,bytes,start\n0,1,10KB,0\n",
    "workload.cdf_file": "1000 0\n2000 100\n",
    "workload.groups_file": '{"0": [0, 1]}',
}


def arguments(where, path):
    """Returns arguments of oche run with `path` in one place and right files in all others."""
    sets = {"topology.file": ["topology={type: from_file}"],
            "routes.file": ["topology={type: leaf_spine}"],
            "workload.file": ["workload={type: from_file}"],
            "workload.groups_file": ["workload={type: schedule, file: x.0.et}"],
            "workload.cdf_file": ["duration=100us", "workload={type: poisson_cdf, load: 10%}"]}
    if where == "scenario":
        return [path]
    return ["s.yaml", *(a for s in [*sets[where], f"{where}={path}"] for a in ("--set", s))]


def limit():
    if os.environ.get("SANITIZED") != "yes":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(folder, command, out, **more):
    return run_program(OCHE, "run", *command, "--quiet", "--out", out, cwd=folder,
                       stdin=subprocess.DEVNULL, errors="replace", timeout=LIMIT, preexec_fn=limit,
                       **more)


def refused(folder, where, path, said):
    """The complaints about a run that must be refused in a line with `said`."""
    what = f"{where} {path}"
    try:
        done = run(folder, arguments(where, path), "refused")
    except subprocess.TimeoutExpired:
        return [f"{what}: waits for ever"]
    found = []
    if done.returncode != 2 or done.stderr.count("\n") != 1:
        found.append(f"{what}: status {done.returncode}: {done.stderr!r}")
    if said not in done.stderr or path not in done.stderr:
        found.append(f"{what}: {done.stderr!r} without {said!r}")
    if os.path.exists(os.path.join(folder, "refused")):
        found.append(f"{what}: left results")
    return found


def capture(folder):
    """Returns the errors for captures: something that is no file, and a capture through a pipe."""
    found = []
    run(folder, ["s.yaml", "--pcap", "x.pcap:host0"], "captured")
    for path, said in (("fifo", "a pipe to which nobody writes"), ("socket", "a socket"),
                       ("/dev/zero", "a device"), (".", "Is a directory"), ("none", "No such")):
        try:
            done = run_program(OCHE, "wire", path, cwd=folder, stdin=subprocess.DEVNULL,
                               timeout=LIMIT)
        except subprocess.TimeoutExpired:
            found.append(f"oche wire {path}: waits for ever")
            continue
        if done.returncode != 2 or done.stderr.count("\n") != 1 or said not in done.stderr:
            found.append(f"oche wire {path}: status {done.returncode}: {done.stderr!r}")
    summary = {}
    for how in ("x.pcap", "<(cat x.pcap)", "- <x.pcap"):
        done = run_program("bash", "-c", f'"$0" wire --json {how} | grep frames', OCHE, cwd=folder,
                           timeout=LIMIT)
        summary[how] = done.stdout[done.stdout.find('"summary"'):]
        if done.returncode != 0 or done.stderr != "":
            found.append(f"oche wire {how}: {done.returncode}: {done.stderr!r}")
    return found if len(set(summary.values())) == 1 else [*found, f"oche wire: {summary}"]


def feed(end, text):
    with os.fdopen(end, "w") as pipe:
        try:
            pipe.write(text)
        except BrokenPipeError:
            pass


def piped(folder, where, number):
    """Returns the errors of a run that reads `where` from an anonymous pipe, as the shell's <(…)
    makes it."""
    reader, writer = os.pipe()
    feeder = threading.Thread(target=feed, args=(writer, RIGHT[where]))
    feeder.start()
    done = run(folder, arguments(where, f"/dev/fd/{reader}"), f"piped{number}", pass_fds=[reader])
    os.close(reader)
    feeder.join()
    if done.returncode == 0 and done.stderr == "":
        return []
    return [f"{where} from a pipe: status {done.returncode}: {done.stderr!r}"]


def named(folder):
    """The complaints about the folder of results of a scenario that comes through a pipe."""
    reader, writer = os.pipe()
    feeder = threading.Thread(target=feed, args=(writer, SCENARIO))
    feeder.start()
    done = subprocess.run([OCHE, "run", f"/dev/fd/{reader}"], cwd=folder, pass_fds=[reader],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    os.close(reader)
    feeder.join()
    if done.stdout.endswith("results: out/pipe/run.sqlite\n"):
        return []
    return [f"results of a scenario from a pipe: {done.stdout!r}"]


def endless(folder, where):
    """Returns the errors of a run whose input file is a pipe without end."""
    writer = subprocess.Popen(["yes", "0 0"], stdout=subprocess.PIPE)
    path = f"/dev/fd/{writer.stdout.fileno()}"
    done = run(folder, arguments(where, path), "endless", pass_fds=[writer.stdout.fileno()])
    writer.stdout.close()
    writer.wait()
    if done.returncode == 2 and "larger than " in done.stderr and done.stderr.count("\n") == 1:
        return []
    return [f"{where} from an endless pipe: status {done.returncode}: {done.stderr!r}"]


def make_files(folder):
    """Makes each wrong file; returns them with the expected messages."""
    def make(name, content):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)
        return name
    os.mkfifo(os.path.join(folder, "fifo"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(folder, "socket"))
    listener.close()
    with open(os.path.join(folder, "huge"), "wb") as file:
        file.truncate(1 << 42)
    return [("/dev/zero", "a device, not a file"), ("/dev/null", "a device, not a file"),
            (".", "Is a directory"), ("socket", "a socket, not a file"),
            ("no.ne", "No such file or directory"), ("huge", "larger than "),
            ("fifo", "a pipe to which nobody writes"),
            (make("odd\x1b[31m\u202ename", b"\0"), "")]


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "s.yaml"), "w", encoding="utf-8") as file:
            file.write(SCENARIO)
        chakra.write(folder, "x", [[]] * 2)
        wrong = make_files(folder)
        texts = {"utf16": "0 0\n".encode("utf-16"), "nul": b"a\n0\0 1\n"}
        for name, content in texts.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            jobs = [pool.submit(refused, folder, where, path, said)
                    for where in RIGHT for path, said in wrong if said]
            jobs += [pool.submit(refused, folder, where, name, said)
                     for where in RIGHT if where != "workload.groups_file"  # which is JSON
                     for name, said in (("utf16", "utf16:1: is UTF-16; save "),
                                        ("nul", "nul:1: not YAML: control characters"
                                         if where == "scenario" else "nul:2: has a NUL byte"))]
            jobs += [pool.submit(piped, folder, where, number)
                     for number, where in enumerate(RIGHT)]
            jobs += [pool.submit(endless, folder, where)
                     for where in ("scenario", "workload.cdf_file", "topology.file",
                                   "workload.groups_file")]
            jobs.append(pool.submit(capture, folder))
            jobs.append(pool.submit(named, folder))
            for job in jobs:
                failures.extend(job.result())
        # Escape sequences in a name do not reach the terminal.
        odd = wrong[-1][0]
        for where in RIGHT:
            done = run(folder, arguments(where, odd), "odd")
            if "\x1b" in done.stderr or "\u202e" in done.stderr or "odd\\x1b" not in done.stderr:
                failures.append(f"{where} {odd!r}: {done.stderr!r}")
    return report()


sys.exit(main())
