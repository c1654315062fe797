#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The house rules that a machine can see: one licence line a file, lines of at most 100 columns,
C files of at most 800 lines, C functions of at most 70, names of plain characters, and nothing in
the repository that a test or a tool has left there.

usage: house.py ROOT
"""
import os
import re
import subprocess
import sys

FOLDERS = ("core", "fabric", "sim", "device", "store", "report", "params", "lab", "fluid",
           "rogue", "cli", "bench", "ci", "docs", "papers", "tests", "tools", ".ci")
MOST_LINES_OF_A_FUNCTION = 70
# Functions that were longer when the rule came: {(file, what it is called): lines}. None is added,
# none may grow, and an entry goes when its function has become shorter.
LONGER = {
    ("bench/fabric_net.c", "main"): 105,
    ("tests/interop/loopback.c", "parse"): 92,
    ("tests/unit/store/test_store.c", "fill"): 91,
    ("tests/interop/verbs_refuses.c", "test_modifying"): 79,
    ("tests/unit/cc/test_dcqcn_options.c", "hyper_and_its_multiplier"): 78,
    ("tests/unit/lab/measures/test_metrics.c", "test_values"): 76,
    ("tests/support/sample.h", "sample_packet"): 77,
    ("tests/interop/verbs.c", "test_extended"): 72,
}
# All files in the root folder. Files that a program writes where it is started are not in the list.
ROOT_FILES = {".clang-format", ".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE",
              "Makefile", "README.md", "ROADMAP.md", "meson.build", "meson_options.txt"}
LEFTOVERS = (".orig", ".rej", "~")
SOURCES = (".c", ".h", ".py", ".sh", ".js", ".mjs", ".css", ".sql", "meson.build")


def functions(lines):
    """(name, lines between its braces, number of its first line) of each function of a C file."""
    opened = None
    for number, line in enumerate(lines):
        if line == "{":
            opened = number
        elif line.startswith("}") and opened is not None:
            head = opened - 1
            while head > 0 and lines[head - 1] and lines[head - 1][-1] not in ";}/":
                head -= 1
            names = re.findall(r"(\w+)\(", " ".join(lines[head:opened]))
            yield names[0] if names else "?", number - opened - 1, head + 1
            opened = None


def check_functions(path, lines):
    """Returns the functions of a C file that are too long, and exceptions no longer needed."""
    found, longer = [], {name for file, name in LONGER if file == path}
    for name, length, number in functions(lines):
        most = max(MOST_LINES_OF_A_FUNCTION, LONGER.get((path, name), 0))
        if length > most:
            found.append(f"{path}:{number}: {name} has {length} lines; at most {most}")
        if length > MOST_LINES_OF_A_FUNCTION:
            longer.discard(name)
    return found + [f"{path}: {name} is no longer too long: take it off the list in house.py"
                    for name in longer]


def check(path, text):
    lines = text.split("\n")
    found = []
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
        found.append(f"{path}:1: no SPDX-License-Identifier line")
    if path.endswith((".c", ".h")) and len(lines) > 801:
        found.append(f"{path}: {len(lines) - 1} lines; at most 800")
    if path.endswith((".c", ".h")):
        found += check_functions(path, lines)
    for number, line in enumerate(lines, 1):
        if len(line) > 100:
            found.append(f"{path}:{number}: {len(line)} columns; at most 100")
    return found


def listed(root):
    """The names of all files in the repository."""
    names = subprocess.run(["git", "-C", root, "ls-files", "-z"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=False).stdout
    return [name for name in names.decode("utf-8", "replace").split("\0") if name]


def odd_names(names):
    """Names that a shell or a person would stumble over."""
    return [f"{name!r}: a name of letters, digits and ._+- is meant"
            for name in names if not re.fullmatch(r"[\w./+-]*", name, re.ASCII)]


def leftovers(names):
    """Returns files that were added by mistake."""
    return [f"{name}: left by a program? house.py lists what belongs into the root folder"
            for name in names if "/" not in name and name not in ROOT_FILES] + [
                f"{name}: left by patch or an editor" for name in names if name.endswith(LEFTOVERS)]


def main(root):
    names = listed(root)
    found = odd_names(names) + leftovers(names)
    for folder in FOLDERS:
        for directory, folders, files in os.walk(os.path.join(root, folder)):
            folders[:] = [name for name in folders if name != "node_modules"]
            for name in files:
                full = os.path.join(directory, name)
                script = folder in ("tools", "report", ".ci") and os.access(full, os.X_OK)
                if name.endswith(SOURCES) or script:
                    with open(full, encoding="utf-8") as source:
                        found += check(os.path.relpath(full, root), source.read())
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
