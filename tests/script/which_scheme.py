#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of "which scheme when" are those of docs/schemes.csv, and a few of its runs still have
the trace hash that was recorded. Also: what the tool says about bad arguments.

Environment: OCHE, SOURCE, BUILD.
"""
import os
import subprocess
import sys

from checks import check, report

SOURCE, BUILD = os.environ["SOURCE"], os.environ["BUILD"]
TOOL = os.path.join(SOURCE, "tools", "which-scheme")


def run(*arguments):
    return subprocess.run([TOOL, "--build", BUILD, *arguments], capture_output=True, text=True,
                          check=False)


def main():
    done = run("--check")
    check(done.returncode == 0 and done.stdout == "", "pages:", done.stdout, done.stderr)
    done = run("--again", "67")
    check(done.returncode == 0 and done.stdout == "", "runs:", done.stdout, done.stderr)
    done = run("--show", "incast,100,lossy,dcqcn")
    check("pfc: false" in done.stdout and "dcqcn" in done.stdout, "--show prints", done.stdout)
    for wrong in ("incast,100,lossy", "incast,100,lossy,quux", "incast,1,lossy,dcqcn"):
        done = run("--show", wrong)
        check(done.returncode == 2 and done.stderr.count("\n") == 1, wrong, done.returncode,
              done.stderr)
    return report()


sys.exit(main())
