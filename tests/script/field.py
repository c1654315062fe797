#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs of other people's work that were once refused or misread: each folder of tests/field has
them, and a check.py that says what must come of them.

usage: field.py [NAME...]      all folders, or those named

A check.py has a function check(case), whose docstring says in words what must happen. It runs the
inputs, in a copy of its folder, with the methods of Case below; case.skip(why) leaves the folder
out where something is missing. A new folder needs no line here.

Environment: OCHE, the program, or else build/oche; CC for those that compile. Status 77: all
folders were left out.
"""
import importlib.util
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OCHE = os.path.abspath(os.environ.get("OCHE", os.path.join(SOURCE, "build", "oche")))
os.environ.update(OCHE=OCHE, SOURCE=SOURCE)  # for the folders' own programs
FOLDERS = os.path.join(SOURCE, "tests", "field")
LIMIT = 120  # seconds for one command


class Skipped(Exception):
    """Something that the folder needs is missing."""


class Case:
    """One folder: a copy of it to work in, and what was wrong."""

    def __init__(self, name, folder):
        self.name, self.folder, self.wrong = name, folder, []

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run(self, *command, **more):
        """Runs any command in the folder; has returncode, stdout and stderr."""
        return subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                              errors="replace", timeout=LIMIT, check=False, **more)

    def oche(self, *arguments, status=0, says=None):
        """Runs oche. With `says`, standard error must be one line that contains each of these;
        without, it must be empty."""
        done = self.run(OCHE, *arguments)
        what = shlex.join(("oche", *arguments))
        self.must(done.returncode == status, f"{what}: status {done.returncode}, not {status}: "
                                             f"{done.stderr}")
        if says is None:
            self.must(done.stderr == "", f"{what} says {done.stderr!r}")
        else:
            self.must(done.stderr.count("\n") == 1, f"{what}: not one line: {done.stderr!r}")
        for part in says or ():
            self.must(part in done.stderr, f"{what} says {done.stderr!r}, without {part!r}")
        return done

    def rows(self, results, query):
        """The rows that a query finds in a results file, such as out/case/run.sqlite."""
        if not os.path.exists(self.path(results)):
            self.must(False, f"there is no {results}")
            return []
        database = sqlite3.connect(self.path(results))
        try:
            return database.execute(query).fetchall()
        finally:
            database.close()

    def same(self, found, wanted, what):
        self.must(found == wanted, f"{what}: {found!r}, not {wanted!r}")

    def must(self, truth, what):
        if not truth:
            self.wrong.append(what)

    def networks(self):
        """Returns the words that run a command which makes network namespaces and runs Debian's
        programs."""
        if os.environ.get("SANITIZED") == "yes":
            self.skip("Debian's programs do not begin with a sanitizer's library there")
        if not all(shutil.which(name) for name in ("unshare", "ip", "ib_write_bw")):
            self.skip("unshare, ip or ib_write_bw is missing")
        own = ("unshare", "-Urnm", "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh")
        if self.run(*own, "ip", "netns", "add", "some").returncode != 0:
            self.skip("no network namespaces can be made")
        return own

    def skip(self, why):
        raise Skipped(why)


def check_of(folder):
    """The function of the folder's check.py."""
    spec = importlib.util.spec_from_file_location("check", os.path.join(folder, "check.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.check


def judge(name):
    """Prints and returns "ok", "skipped" or "FAILED"."""
    with tempfile.TemporaryDirectory() as where:
        case = Case(name, os.path.join(where, name))
        shutil.copytree(os.path.join(FOLDERS, name), case.folder)
        check = check_of(case.folder)
        try:
            check(case)
        except Skipped as why:
            print(f"{name}: skipped: {why}")
            return "skipped"
        except subprocess.TimeoutExpired as late:
            case.must(False, f"{late.cmd} took more than {LIMIT} s")
    for wrong in case.wrong:
        print(f"{name}: FAILED: {wrong}")
    if case.wrong:
        print(f"{name}: must be: {' '.join(check.__doc__.split())}")
    else:
        print(f"{name}: ok")
    return "FAILED" if case.wrong else "ok"


def main(names):
    sys.dont_write_bytecode = True
    names = names or sorted(os.listdir(FOLDERS))
    found = [judge(name) for name in names]
    if "FAILED" in found:
        return 1
    return 0 if "ok" in found else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
