# SPDX-License-Identifier: Apache-2.0
"""A program that brings a libibverbs of its own, as those of a conda prefix do."""
import os
import re


def check(case):
    """Linked by DT_RPATH and by DT_RUNPATH the program finds the same devices, and at least one."""
    if case.run(*os.environ.get("CC", "cc").split(), "list.c", "-o", "list",
                "-libverbs").returncode != 0:
        case.skip("programs cannot be linked with libibverbs")
    done = case.run("bash", "run.sh", os.path.abspath(os.environ["OCHE"]))
    found = re.findall(r"(\d+) devices", done.stdout)
    case.must(len(found) == 2 and found[0] == found[1] != "0",
              f"devices: {done.stdout}{done.stderr}")
