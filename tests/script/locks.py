#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang checks the locks of device/ (device/host/lock.h): every source of the build passes, and
each kind of wrong access is an error.

usage: locks.py ROOT BUILD

Status 77: there is no clang.
"""
import concurrent.futures
import json
import os
import re
import shutil
import sys
import tempfile

from checks import run_program

FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", '-DOCHE_VERSION=""', "-fsyntax-only", "-Wthread-safety",
         "-Werror=thread-safety"]
FEWEST = 80  # sources of device/ in a build with verbs; without, there are some 35

START = """#include "device/internal.h"
static struct oche_lock lock = OCHE_LOCK_INITIALIZER;
static unsigned count OCHE_GUARDED_BY(lock);
static void add(void) OCHE_NEEDS(lock);
static void add(void) { count++; }
"""
GOOD = """
void both(struct oche_device *device)
{
    oche_lock_take(&lock);
    add();
    oche_lock_release(&lock);
    oche_device_lock(device);
    device->completed = oche_device_nic(device) != NULL;
    oche_device_unlock(device);
}
"""
WRONG = {  # what clang says: the function that it says it about
    "writing variable 'count' requires holding lock 'lock'": "void f(void) { count = 1; add(); }",
    "calling function 'add' requires holding lock 'lock'": "void f(void) { add(); }",
    "lock' is still held at the end of function": "void f(void) { oche_lock_take(&lock); add(); }",
    "releasing lock 'lock' that was not held": "void f(void) { oche_lock_release(&lock); }",
    "writing variable 'completed' requires holding lock 'device_lock'":
        "void f(struct oche_device *device) { device->completed = true; }",
    "calling function 'oche_device_nic' requires holding lock 'device_lock'":
        "void *f(struct oche_device *device) { return oche_device_nic(device); }",
    "calling function 'device_transmit' requires holding lock 'device_lock'":
        "void f(struct oche_device *device) { oche_device_lock(device); oche_device_unlock(device);"
        " device_transmit(device, 0); }",
}


def check(clang, root, source):
    done = run_program(clang, *FLAGS, "-I", root, source)
    return done.returncode, done.stderr


def sources_of(root, build):
    """The C files of device/ that the build compiles."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as commands:
        files = {os.path.realpath(os.path.join(one["directory"], one["file"]))
                 for one in json.load(commands)}
    return sorted(file for file in files
                  if file.startswith(os.path.join(root, "device", "")) and file.endswith(".c"))


def main(root, build):
    clang = shutil.which("clang")
    if clang is None:
        print("clang is missing")
        return 77
    root, failed = os.path.realpath(root), []
    sources = sources_of(root, build)
    with_verbs = any("/device/verbs/" in source for source in sources)
    if len(sources) < (FEWEST if with_verbs else 20):
        failed.append(f"only {len(sources)} sources found")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda source: check(clang, root, source), sources)
        for source, (status, said) in zip(sources, results):
            if status != 0:
                failed.append(f"{os.path.relpath(source, root)}:\n{said}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "accesses.c")
        for want, text in {"": GOOD, **WRONG}.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(START + text + "\n")
            status, said = check(clang, root, path)
            if (status != 0) != bool(want) or not re.search(re.escape(want), said):
                failed.append(f"{text.strip()}\nshould give '{want}', gives:\n{said or 'nothing'}")
    print(f"{len(sources)} sources, {len(WRONG)} wrong accesses")
    for line in failed:
        print("FAILED:", line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
