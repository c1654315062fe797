#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that oche writes, where somebody else may have put something: a symbolic link, a pipe, a
file under the temporary name. What a planted link leads to is never written to.

Environment: OCHE.
"""
import fcntl
import os
import stat
import subprocess
import sys
import tempfile

from checks import check, report, run_program

OCHE = os.environ["OCHE"]
SCENARIO = "topology: {type: star, hosts: 4}\nworkload: {type: incast, degree: 2, bytes: 10KB}\n"
PRECIOUS = "precious\n" * 100
LIMIT = 60  # seconds for one command

# Each way to have a file written: arguments, and the file.
WAYS = {
    "results": (["run", "s.yaml", "--quiet", "--out", "d"], "d/run.sqlite"),
    "csv": (["run", "s.yaml", "--quiet", "--out", "d", "--csv"], "d/flows.csv"),
    "pcap": (["run", "s.yaml", "--quiet", "--out", "d", "--pcap", "d/x.pcap:host0"],
             "d/x.pcap"),
    "trace": (["run", "s.yaml", "--quiet", "--out", "d", "--trace", "d/x.csv"], "d/x.csv"),
    "report": (["report", "r", "-o", "d/x.html"], "d/x.html"),
    "fluid": (["fluid", "--model", "dcqcn", "--flows", "2", "--duration", "1ms", "--csv",
               "d/x.csv"], "d/x.csv"),
    "sweep": (["sweep", "s.yaml", "--vary", "switch.kmin=4KB,5KB", "--jobs", "1", "--out", "d",
               "--csv"], "d/points.csv"),
}


def oche(folder, arguments):
    try:
        return run_program(OCHE, *arguments, cwd=folder, stdin=subprocess.DEVNULL, timeout=LIMIT)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(late.cmd, "no status: waits for ever", "", "")


def is_untouched(folder):
    with open(os.path.join(folder, "precious"), "rb") as file:
        return file.read() == PRECIOUS.encode()


def plant_link(path):
    os.symlink("../precious", path)


def plant_file(path):
    os.link(os.path.join(os.path.dirname(path), "..", "precious"), path)


def plant_pipe(path):
    os.mkfifo(path)


def test_part(name, arguments, written, plant):
    """Something is there under the temporary name."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        plant(os.path.join(folder, written + ".part"))
        done = oche(folder, arguments)
        check(done.returncode == 0, name, plant.__name__, done.returncode, done.stderr)
        check(is_untouched(folder), name, plant.__name__, "was followed")
        path = os.path.join(folder, written)
        check(os.path.isfile(path) and not os.path.islink(path), name, plant.__name__, "no file")
        check(not os.path.lexists(path + ".part"), name, plant.__name__, "left its part")


def test_part_is_a_folder(name, arguments, written):
    """It cannot be removed: a line says so, and nothing else is lost."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        os.makedirs(os.path.join(folder, written + ".part", "x"))
        done = oche(folder, arguments)
        check(done.returncode == 2 and done.stderr.count("\n") == 1 and
              "cannot be written: " in done.stderr, name, "folder", done.returncode, done.stderr)
        check(os.path.isdir(os.path.join(folder, written + ".part", "x")), name, "folder is gone")


def test_part_is_a_device(name, arguments, written):
    """It stays. Root alone can make one, and that only where it may."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        path = os.path.join(folder, written + ".part")
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        except OSError:
            return
        done = oche(folder, arguments)
        check(done.returncode == 2 and done.stderr.count("\n") == 1, name, "device",
              done.returncode, done.stderr)
        check(os.path.lexists(path) and stat.S_ISCHR(os.lstat(path).st_mode), name,
              "device is gone")


def test_part_of_another(name, arguments, written):
    """Another program is writing the file: its temporary file stays, and a line says so."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        path = os.path.join(folder, written + ".part")
        with open(path, "w", encoding="utf-8") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            done = oche(folder, arguments)
            check(done.returncode == 2 and done.stderr.count("\n") == 1 and
                  "busy" in done.stderr, name, "another's part", done.returncode, done.stderr)
            check(os.path.exists(path) and
                  os.path.samestat(os.stat(path), os.fstat(other.fileno())),
                  name, "took another's part")
        done = oche(folder, arguments)
        check(done.returncode == 0, name, "a part of nobody", done.returncode, done.stderr)


def test_final_link(name, arguments, written):
    """A link under the final name is replaced, or refused; what it leads to stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        plant_link(os.path.join(folder, written))
        done = oche(folder, arguments)
        check(is_untouched(folder), name, "final link was followed")
        if done.returncode == 0:
            check(not os.path.islink(os.path.join(folder, written)), name, "still a link")
        else:
            check(done.returncode == 2 and done.stderr.count("\n") == 1, name, "final link",
                  done.returncode, done.stderr)


def test_final_pipe(name, arguments, written):
    """Something other than a plain file keeps the final name, and a line says so."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        path = os.path.join(folder, written)
        plant_pipe(path)
        done = oche(folder, arguments)
        check(done.returncode == 2 and done.stderr.count("\n") == 1, name, "final pipe",
              done.returncode, done.stderr)
        check(stat.S_ISFIFO(os.lstat(path).st_mode), name, "a pipe was replaced")
        check(not os.path.lexists(path + ".part"), name, "final pipe", "left its part")


def test_sweep_link():
    """A sweep's file is written in place, so a link is refused, also one to a sweep's file."""
    for to in ("../precious", "../other.sqlite", "../nothing"):
        with tempfile.TemporaryDirectory() as folder:
            prepare(folder)
            sweep = ["sweep", "s.yaml", "--vary", "switch.kmin=4KB,5KB", "--jobs", "1", "--out"]
            if "other" in to:
                check(oche(folder, [*sweep, "o"]).returncode == 0, "a sweep")
                os.rename(os.path.join(folder, "o/sweep.sqlite"),
                          os.path.join(folder, "other.sqlite"))
            os.symlink(to, os.path.join(folder, "d/sweep.sqlite"))
            done = oche(folder, [*sweep, "d"])
            check(done.returncode == 2 and done.stderr.count("\n") == 1 and
                  "d/sweep.sqlite: cannot be written: a symbolic link, which is not followed; " in
                  done.stderr, "sweep.sqlite to", to, done.returncode, done.stderr)
            check(is_untouched(folder) and not os.path.exists(os.path.join(folder, "nothing")),
                  "sweep.sqlite to", to, "was followed")
            # A link to the folder is as good as the folder.
            os.symlink("d", os.path.join(folder, "l"))
            os.unlink(os.path.join(folder, "d/sweep.sqlite"))
            done = oche(folder, [*sweep, "l"])
            check(done.returncode == 0, "a link to the folder", done.returncode, done.stderr)


def prepare(folder):
    os.mkdir(os.path.join(folder, "d"))
    with open(os.path.join(folder, "s.yaml"), "w", encoding="utf-8") as file:
        file.write(SCENARIO)
    with open(os.path.join(folder, "precious"), "w", encoding="utf-8") as file:
        file.write(PRECIOUS)
    if not os.path.exists(os.path.join(folder, "r")):
        done = oche(folder, ["run", "s.yaml", "--quiet", "--out", "r"])
        check(done.returncode == 0, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        if oche(folder, ["report", "r", "-o", "x.html"]).returncode != 0:
            del WAYS["report"]  # built without the page
    for name, (arguments, written) in WAYS.items():
        for plant in (plant_link, plant_file, plant_pipe):
            test_part(name, arguments, written, plant)
        test_part_is_a_folder(name, arguments, written)
        test_part_is_a_device(name, arguments, written)
        test_part_of_another(name, arguments, written)
        test_final_link(name, arguments, written)
        test_final_pipe(name, arguments, written)
    test_sweep_link()
    return report()


sys.exit(main())
