#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rdma-core's own tests of verbs, which Debian's python3-pyverbs installs, on this project's
library. They are unpacked into a temporary folder, never copied into the project. They look for a
device's interface in sysfs; this script gives it to them instead.

usage: pyverbs.py BUILD [--table] [--seed=N] [--preload=LIBRARY] [NAME…]

BUILD: the folder of libibverbs.so.1. NAME: only the tests whose name has it. --table prints the
table of docs/clients.md. --seed: of what the tests choose by chance (1). --preload: a sanitizer's
library, which must come first. A test must pass, or be skipped for a reason that SKIPPED has, or
fail and be in KNOWN; one of KNOWN that passes fails this. Status 77: the package is not installed.
"""
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TESTS = "/usr/share/doc/rdma-core/tests"
DEVICE, INTERFACE = "oche_lo_v4", "lo"
PYTHON = "/usr/bin/python3"  # Debian's, which the package is for
LEAST = 83  # number of tests that must pass

# Tests that cannot pass, and why.
KNOWN = {
    "test_shared_pd.SharedPDTestCase.test_imported_rc_ex_rdma_write":
        "shares objects by the kernel's descriptor of a context; there is none",
}
# A test's text when it is skipped, and the real reason.
SKIPPED = [
    ("MLX5|mlx5|EFA|PCI device|[Cc]uda|/dev/dri|DevX|VFIO|timestamp to nano|QP type 8|QP type 255",
     "another vendor's device, a GPU, raw packets"),
    ("huge pages", "no huge pages on this machine"),
    ("Multicast", "multicast"),
    ("ODP", "on-demand paging"),
    ("Device memory", "device memory"),
    ("Parent Domain", "a parent domain's allocators"),
    ("XRCD", "XRC"),
    ("Raw Packet|RAW", "raw packets"),
    ("Extended CQ", "tag matching"),
    ("Extended QP", "atomic write"),
    ("All gid indices", "a GID that is not there; there is one, and it is"),
    ("with(out)? (extended )?attrs", "flags at a queue pair's creation, chosen by chance"),
]


def inside(folder, seed, names):
    """In a process with the library: runs the tests, a line of JSON to standard output each."""
    import random
    import unittest

    sys.argv = ["run_tests.py", "--dev", DEVICE, "--gid", "0"]
    sys.path[0:1] = [folder, folder + "/tests"]  # not this folder
    from args_parser import parser  # as run_tests.py does it
    import tests

    class Result(unittest.TestResult):
        def startTest(self, test):
            super().startTest(test)
            print(test.id(), file=sys.stderr, flush=True)

        def tell(self, test, outcome, text=""):
            name = re.sub(r"^tests\.", "", test.id())
            print(json.dumps([name, outcome, text]), flush=True)

        def addSuccess(self, test):
            self.tell(test, "passed")

        def addSkip(self, test, reason):
            self.tell(test, "skipped", reason)

        def addFailure(self, test, err):
            self.tell(test, "failed", self._exc_info_to_string(err, test))

        addError = addFailure

        def addSubTest(self, test, subtest, err):
            if err is not None:
                self.addFailure(test, err)

    parser.parse_args()
    random.seed(int(seed))
    tell_interface(tests.base)
    if names:
        loader = unittest.TestLoader()
        loader.testNamePatterns = [f"*{name}*" for name in names]
        suite = loader.loadTestsFromModule(tests)
    else:
        suite = unittest.TestLoader().loadTestsFromModule(tests)
    suite.run(Result())


def tell_interface(base):
    """Gives the tests a device's network interface, whose address they connect to. They look for it
    in a folder of sysfs that only the kernel can make. All else is unchanged."""
    exists = os.path.exists
    folder = f"/sys/class/infiniband/{DEVICE}/device/net/"
    os.path.exists = lambda path: path == folder or exists(path)
    base.RDMATestCase.get_net_name = staticmethod(lambda device: INTERFACE)


def unpack(folder):
    shutil.copytree(TESTS, folder + "/tests")
    for name in glob.glob(folder + "/tests/*.gz"):
        with gzip.open(name, "rb") as packed, open(name[:-3], "wb") as plain:
            shutil.copyfileobj(packed, plain)


def run(build, options, names):
    """A list of [name, outcome, text]."""
    folder = tempfile.mkdtemp()
    seed = options.get("seed", "1")
    environment = dict(os.environ, LD_LIBRARY_PATH=build, PYTHONHASHSEED=seed,
                       LD_PRELOAD=options.get("preload", ""),
                       OCHE_DEVICE=f"127.{33 + os.getpid() // 250 % 200}.{os.getpid() % 250}.1")
    try:
        unpack(folder)
        done = subprocess.run([PYTHON, os.path.abspath(__file__), "--inside", folder, seed, *names],
                              env=environment, text=True, capture_output=True, timeout=600,
                              check=False)
    finally:
        shutil.rmtree(folder)
    if done.returncode != 0:
        print(f"FAILED: status {done.returncode}\n{done.stderr[-4000:]}")
        sys.exit(1)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]


def meaning_of(reason):
    for pattern, meaning in SKIPPED:
        if re.search(pattern, reason):
            return meaning
    return None


def judge(results):
    """Returns the number of wrong results, and the reasons and names of tests that do not pass."""
    wrong, behind = 0, {}
    for name, outcome, text in results:
        if outcome == "skipped":
            meaning = meaning_of(text)
        else:
            meaning = KNOWN.get(name)
        if outcome == "passed" and meaning is not None:
            print(f"FAILED: {name} passes: take it out of KNOWN", file=sys.stderr)
            wrong += 1
        elif outcome != "passed" and meaning is None:
            print(f"FAILED: {name}: {outcome}: {text}", file=sys.stderr)
            wrong += 1
        elif outcome != "passed":
            behind.setdefault((outcome, meaning), []).append(name)
    return wrong, behind


def main(arguments):
    build = os.path.abspath(arguments[0])
    names = [name for name in arguments[1:] if not name.startswith("--")]
    options = dict(option[2:].split("=", 1) for option in arguments[1:]
                   if option.startswith("--") and "=" in option)
    stock = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    if not os.path.isdir(TESTS) or subprocess.run([PYTHON, "-c", "import pyverbs.device"],
                                                  env=stock, capture_output=True,
                                                  check=False).returncode:
        print("not installed: python3-pyverbs")
        sys.exit(77)
    results = run(build, options, names)
    wrong, behind = judge(results)
    passed = {}
    for name, outcome, _ in results:
        if outcome == "passed":
            module = name.split(".")[0]
            passed[module] = passed.get(module, 0) + 1
    if "--table" in arguments:
        print("| tests | pass |\n|---|---|")
        for module, count in sorted(passed.items()):
            print(f"| {module} | {count} |")
        print("\n| not | what it would need | tests |\n|---|---|---|")
        for (outcome, meaning), which in sorted(behind.items()):
            print(f"| {outcome} | {meaning} | {len(which)} |")
    else:
        for (outcome, meaning), which in sorted(behind.items()):
            print(f"{len(which)} {outcome}: {meaning}")
        print(f"{sum(passed.values())} passed, {wrong} wrong")
    if not names and sum(passed.values()) < LEAST:
        print(f"FAILED: only {sum(passed.values())} passed")
        wrong += 1
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        inside(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        main(sys.argv[1:])
