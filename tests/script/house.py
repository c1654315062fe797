#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The house rules that a machine can see: one licence line a file, lines of at most 100 columns,
C files of at most 800 lines.

usage: house.py ROOT
"""
import os
import sys

FOLDERS = ("core", "fabric", "sim", "device", "store", "report", "params", "lab", "fluid",
           "rogue", "cli", "bench",
           "tests", "tools", ".ci")
SOURCES = (".c", ".h", ".py", ".sh", ".js", ".mjs", ".css", "meson.build")


def check(path, text):
    lines = text.split("\n")
    found = []
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
        found.append(f"{path}:1: no SPDX-License-Identifier line")
    if path.endswith((".c", ".h")) and len(lines) > 801:
        found.append(f"{path}: {len(lines) - 1} lines; at most 800")
    for number, line in enumerate(lines, 1):
        if len(line) > 100:
            found.append(f"{path}:{number}: {len(line)} columns; at most 100")
    return found


def main(root):
    found = []
    for folder in FOLDERS:
        for directory, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = [name for name in folders if name != "node_modules"]
            for name in names:
                full = os.path.join(directory, name)
                script = folder in ("tools", "report", ".ci") and os.access(full, os.X_OK)
                if name.endswith(SOURCES) or script:
                    with open(full, encoding="utf-8") as source:
                        found += check(os.path.relpath(full, root), source.read())
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
