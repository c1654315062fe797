#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In a build with sanitizers all that is ours has them: every object file but those that are named
here calls the sanitizer's functions. What is not built is left out. Of the undefined-behaviour
sanitizer, which finds nothing to check in some files, half of each folder must have calls.

Environment: BUILD. usage: sanitized.py SANITIZERS     as Meson's b_sanitize: address,undefined
"""
import collections
import json
import os
import re
import subprocess
import sys

BUILD = os.environ["BUILD"]
CALLS = {"address": "__asan_", "undefined": "__ubsan_handle_", "thread": "__tsan_"}
# Programs and libraries for those that have none, and assembly.
NONE = re.compile(r"liboche-exit\.so\.p/|.*private_jump\.S\.o$|"
                  r"tests/interop/((system|before|later|lesser|patient)[\w-]*\.so|verified|mixed|"
                  r"both_namespaces)\.p/")


def objects():
    """The object files of the build, and those of the option quick, of which tests have less."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        for command in json.load(file):
            name = command["output"]
            if not NONE.match(name) and os.path.exists(os.path.join(BUILD, name)):
                yield name, "-fno-sanitize=undefined" in command["command"]


def undefined_symbols(names):
    """{object: the symbols that it needs}"""
    found = {name: set() for name in names}
    done = subprocess.run(["nm", "--undefined-only", "--print-file-name", *names], cwd=BUILD,
                          stdout=subprocess.PIPE, text=True, check=True)
    for line in done.stdout.splitlines():
        name, _, rest = line.partition(":")
        found[name].add(rest.split()[-1])
    return found


def main(sanitizers):
    files = dict(objects())
    symbols = undefined_symbols(list(files))
    wrong = []
    for kind in sanitizers:
        folders = collections.defaultdict(list)
        for name, less in files.items():
            has = any(symbol.startswith(CALLS[kind]) for symbol in symbols[name])
            if kind != "undefined":
                wrong += [] if has else [f"{name}: without the sanitizer {kind}"]
            elif not less:
                folders[name.split("/")[0]].append(has)
        wrong += [f"{folder}: {sum(has)} of {len(has)} files with the sanitizer {kind}"
                  for folder, has in folders.items() if sum(has) < len(has) / 2]
        print(f"{kind}: {len(files)} files")
    print("\n".join(wrong))
    return 1 if wrong or len(files) < 100 else 0


sys.exit(main(sys.argv[1].split(",")))
