#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that a fuzz target is linked with is instrumented, as tests/fuzz/counters.txt records;
and the same check finds a target that is linked with an archive that is not.

All targets get what they are linked with from one option of Meson, so a few of them, without the
simulator, show whether it works. Those that link the simulator take four times as long to build.

Environment: SOURCE, BUILD (a build without sanitizers, whose archives are the wrong ones),
OCHE_LONG (all targets). Status 77: skipped, as there is no clang.
"""
import importlib.machinery
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys

SOURCE, BUILD = os.environ["SOURCE"], os.environ["BUILD"]
FUZZ = os.path.join(SOURCE, "tools", "fuzz")
FOLDER = os.path.join(BUILD, "fuzz-check")
TARGET = "decode"
FEW = [TARGET, "datagram", "qp_events"]


def tool():
    """tools/fuzz as a module."""
    loader = importlib.machinery.SourceFileLoader("fuzz", FUZZ)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fuzz", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def wrongly_linked():
    """A target that is linked first with the core of the ordinary build."""
    name = os.path.join("tests", "fuzz", f"fuzz_{TARGET}")
    commands = subprocess.run(["ninja", "-C", FOLDER, "-t", "commands", "-s", name], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
    words = shlex.split(commands.splitlines()[-1])
    core = os.path.join("core", "libcore.a")
    assert core in words and words[words.index("-o") + 1] == name, words
    words[words.index("-o") + 1] = name + "_wrong"
    words.insert(words.index(core), os.path.join(BUILD, core))
    subprocess.run(words, cwd=FOLDER, check=True)
    return os.path.join(FOLDER, name + "_wrong")


def main():
    if shutil.which("clang") is None:
        print("there is no clang")
        return 77
    targets = [] if os.environ.get("OCHE_LONG") else FEW
    done = subprocess.run([FUZZ, "--check", "--build", FOLDER, *targets], check=False)
    if done.returncode != 0:
        return done.returncode
    fuzz = tool()
    os.chdir(SOURCE)
    expected = fuzz.recorded()[TARGET]
    assert not fuzz.faults(fuzz.program(FOLDER, TARGET), FOLDER, TARGET, expected)
    wrong = wrongly_linked()
    found = fuzz.faults(wrong, FOLDER, TARGET, expected)
    print("\n".join(found))
    for part in "functions have no counters", "counters; ", "core/wire", "have address", \
            "have undefined":
        assert any(part in one for one in found), f"the wrong linking was not found by: {part}"
    assert fuzz.faults(wrong, FOLDER, TARGET, None), "only the table finds the wrong linking"
    return 0


sys.exit(main())
