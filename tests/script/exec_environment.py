#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each environment variable that the library, or `oche exec`, reads is in `oche exec --help`, in
docs/verbs.md and in the manual page; and what these name is read.
"""
import glob
import os
import re
import subprocess
import sys

SOURCE = os.environ["SOURCE"]
OCHE = os.environ["OCHE"]
READERS = ("device/**/*.[ch]", "rogue/verbs/*.[ch]", "cli/exec.c", "cli/exec_link.c",
           "cli/preflight.c")
NAME = r"\bOCHE_[A-Z_]+\b"


def text_of(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def read_by_sources():
    """Returns names in quotation marks, without those in the text of --help."""
    names = set()
    for pattern in READERS:
        paths = glob.glob(pattern, root_dir=SOURCE, recursive=True)
        if not paths:
            sys.exit(f"FAILED: no file fits {pattern}")
        for path in paths:
            names |= set(re.findall(r'"(OCHE_[A-Z_]+)"', text_of(path)))
    return names


def main():
    read = read_by_sources()
    page = text_of("docs/verbs.md")
    section = page[page.index("## Environment variables"):]
    section = section[:section.index("\n## ", 1)]
    shown = subprocess.run([OCHE, "exec", "--help"], text=True, capture_output=True, check=True)
    places = {"docs/verbs.md": set(re.findall(r"^\| `(OCHE_[A-Z_]+)`", section, re.MULTILINE)),
              "docs/oche-exec.1": set(re.findall(NAME, text_of("docs/oche-exec.1"))),
              "oche exec --help": set(re.findall(NAME, shown.stdout))}
    wrong = [f"{name} is read and not in {place}" for place, names in places.items()
             for name in sorted(read - names)]
    wrong += [f"{name} is in {place} and not read" for place, names in places.items()
              for name in sorted(names - read)]
    if len(read) < 10 or wrong:
        sys.exit("FAILED: " + "; ".join(wrong or read))
    print(f"ok: {len(read)} variables")


main()
