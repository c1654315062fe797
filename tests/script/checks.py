# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: running programs, and checks. A test that goes on after a
failure uses `check` and ends with `return report()`; one that cannot go on uses `must` and `fail`.
"""
import subprocess
import sys

failures = []


def run_program(*command, **options):
    """Runs a command to its end; its outputs are text. `options` are those of subprocess.run."""
    return subprocess.run(command, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                                      "text": True, "check": False, **options})


def fail(*what):
    print("FAILED:", *what, flush=True)
    sys.exit(1)


def must(truth, *what):
    if not truth:
        fail(*what)


def check(truth, *what):
    """Notes a failure; the test goes on."""
    if not truth:
        failures.append(" ".join(str(word) for word in what))


def claim(what, truth, result=None):
    """Like `check`, and prints the output of the program whose `result` is wrong."""
    shown = "" if result is None else (f"\n  status {result.returncode}\n"
                                       f"  {result.stdout[-3000:]}\n  {result.stderr}")
    check(truth, f"{what}{shown}")


def report():
    """Prints the failures. Returns the exit status."""
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0
