#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scenarios by name: oche run --list shows those of the sources, or those that were installed with
the program; run, sweep, buffers and fluid take one by its name, but a file of that name first. And
oche run - reads standard input.

Environment: OCHE, SOURCE.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from checks import check, report, run_program

OCHE, SOURCE = os.path.abspath(os.environ["OCHE"]), os.path.realpath(os.environ["SOURCE"])
STAR = "topology: {type: star, hosts: 4}\nworkload: {type: incast, degree: 2, bytes: 10KB}\n"


def oche(*arguments, program=OCHE, status=0, **options):
    done = run_program(program, *arguments, **options)
    check(done.returncode == status, f"{arguments}: status {done.returncode}\n{done.stderr}")
    return done


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def hash_of(done):
    return re.findall(r"^trace hash +(\w+)", done.stdout, re.M)


def test_sources():
    folder = os.path.join(SOURCE, "scenarios")
    names = sorted(file[:-5] for file in os.listdir(folder) if file.endswith(".yaml"))
    lines = oche("run", "--list").stdout.splitlines()
    check([line.split()[0] for line in lines[:-2]] == names, lines)
    for line, name in zip(lines, names):
        found = re.search(r"^description: (.*)$", read(f"{folder}/{name}.yaml"), re.M)
        check(line.split(None, 1)[1] == found[1], line)
    check(lines[-1] == f"files: {folder}/NAME.yaml, each with commands to try", lines[-1])
    # By name, with the file that it names, from another folder.
    done = oche("run", "victim", "--set", "duration=50us", "--set", "warmup=0")
    same = oche("run", f"{folder}/victim.yaml", "--set", "duration=50us", "--set", "warmup=0")
    check(hash_of(done) and hash_of(done) == hash_of(same), done.stdout)
    check(os.path.exists("out/victim/duration=50us,warmup=0/run.sqlite"), os.listdir("out"))
    for command in ("run", "sweep", "fluid"):
        done = oche(command, "incst", status=2)
        check(done.stderr == f'oche {command}: incst: no such file or scenario; did you mean '
              '"incast"?\n', done.stderr)
    done = oche("run", "nothing-like-it", status=2)
    check(done.stderr.endswith("oche run --list shows those that come with oche\n"), done.stderr)
    oche("sweep", "incast", "--vary", "host.mtu=1KiB,4KiB", "--set", "duration=10us", "--set",
         "warmup=0", "-q")
    done = oche("buffers", "--check", "incast")
    check(done.stdout.startswith(f"{folder}/incast.yaml: "), done.stdout[:100])
    # Paths and names of files are left alone.
    done = oche("run", "incast.yaml", status=2)
    check(done.stderr.startswith("incast.yaml: cannot be read: No such file"), done.stderr)


def test_installed():
    os.makedirs("usr/bin")
    os.makedirs("usr/share/oche/scenarios")
    program = shutil.copy(OCHE, "usr/bin/oche")
    done = oche("run", "--list", program=program, status=2)
    check("there are no scenarios in " in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    done = oche("run", "star", program=program, status=2)
    check(done.stderr == "oche run: star: no such file; give the path of a scenario file\n",
          done.stderr)
    there = "usr/share/oche/scenarios/"
    write(there + "star.yaml", "description: \"four\\x1b hosts\"\n" + STAR)
    write(there + "plain.yaml", STAR)
    write(there + "broken.yaml", "a: [\n")
    write(there + "rest.csv", "")
    lines = oche("run", "--list", program=program).stdout.splitlines()
    check(len(lines) == 5 and lines[0].startswith("broken  ") and "not YAML" in lines[0] and
          lines[1] == "plain" and lines[2] == "star    four\\x1b hosts", lines)
    oche("run", "star", "-q", program=program)
    check(os.path.exists("out/star/run.sqlite"), "star")
    # A folder of that name is not a scenario; a file is.
    os.mkdir("plain")
    oche("run", "plain", "-q", program=program)
    write("star", STAR + "name: mine\n")
    oche("run", "star", "-q", program=program)
    check(os.path.exists("out/mine/run.sqlite"), os.listdir("out"))
    # Options without effect are refused.
    for arguments in (["--list", "plain.x"], ["--list", "--csv"], ["--list", "--seed", "1"],
                      ["--list", "--show-defaults"]):
        done = oche("run", *arguments, program=program, status=2)
        check("--list runs nothing; leave out " in done.stderr, done.stderr)


def test_standard_input():
    write("s.yaml", STAR)
    right = hash_of(oche("run", "s.yaml"))
    done = oche("run", "-", input=STAR)
    check(right and hash_of(done) == right, done.stdout)
    check(done.stdout.endswith("\nresults: out/stdin/run.sqlite\n"), done.stdout[-100:])
    done = oche("run", "out/stdin/run.sqlite")
    check("same hash as out/stdin/run.sqlite" in done.stdout, done.stdout[-200:])
    with open("s.yaml", encoding="utf-8") as file:
        check(hash_of(oche("run", "-", stdin=file)) == right, "a file as standard input")
    # It is read once for several runs.
    done = oche("run", "-", "--compare", "seed=1,2", "-q", input=STAR)
    check(os.path.exists("out/stdin/seed=2/run.sqlite"), done.stderr)
    done = oche("run", "-", status=2, input="hosts: 3\n" + STAR)
    check(done.stderr.startswith("/dev/stdin:1: hosts: unknown key; "), done.stderr)
    done = oche("run", "-", status=2, stdin=subprocess.DEVNULL)
    check(done.stderr.count("\n") == 1, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as where:
        for test in (test_sources, test_installed, test_standard_input):
            folder = os.path.join(where, test.__name__)
            os.mkdir(folder)
            os.chdir(folder)
            test()
        os.chdir("/")
    return report()


sys.exit(main())
