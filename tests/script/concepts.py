#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/concepts.md shows what its commands print. Each block of commands is run, with the scenarios
that the page shows beside it; each line of the block that follows stands in the output, spaces
apart. Each part has a picture, which is well-formed and has colours for light and dark.

Environment: OCHE, SOURCE.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from checks import check, report

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.M)
ENDS = {"deadlock.yaml": 3}  # the status, where it is not 0


def plain(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def run(commands, work):
    """Returns the commands' output; None if a program that they need is missing."""
    if "sqlite3" in commands and not shutil.which("sqlite3"):
        return None
    done = subprocess.run(commands.replace("oche run", f"'{OCHE}' run")
                          .replace("oche wire", f"'{OCHE}' wire"), shell=True, cwd=work,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    status = next((end for name, end in ENDS.items() if name in commands), 0)
    check(done.returncode == status, commands, "status", done.returncode, done.stderr)
    return done.stdout


def check_commands(page, work):
    said, count = None, 0
    for kind, text in BLOCK.findall(page):
        if kind.startswith("yaml "):
            with open(os.path.join(work, kind.split()[1]), "w", encoding="utf-8") as file:
                file.write(text)
        elif kind == "sh":
            said = run(text, work)
        elif said is not None:
            count += 1
            printed = plain(said)
            for line in plain(text):
                begin = line.split()[0] + " "
                check(any(line in one for one in printed), "docs/concepts.md shows:", line,
                      "\n  printed:", "\n  ".join(one for one in printed if begin in one))
    check(count >= 10, "only", count, "blocks of what commands print")


def check_pictures(page):
    parts = page.split("\n## ")[1:]
    check(len(parts) >= 8, "only", len(parts), "parts")
    shown = set()
    for part in parts:
        pictures = re.findall(r"^!\[.+\]\((concepts/[a-z-]+\.svg)\)$", part, re.M)
        check(len(pictures) == 1, part.split("\n")[0], "has pictures:", pictures)
        shown.update(pictures)
    there = {"concepts/" + name for name in os.listdir(os.path.join(SOURCE, "docs", "concepts"))}
    check(shown == there, "pictures that are shown, or there, but not both:", shown ^ there)
    for name in sorted(shown & there):
        with open(os.path.join(SOURCE, "docs", name), encoding="utf-8") as file:
            text = file.read()
        root = xml.etree.ElementTree.fromstring(text)
        check(root.get("viewBox", "").startswith("0 0 760 "), name, "viewBox")
        check("prefers-color-scheme: dark" in text, name, "has no colours for dark")


def main():
    with open(os.path.join(SOURCE, "docs", "concepts.md"), encoding="utf-8") as file:
        page = file.read()
    check_pictures(page)
    with tempfile.TemporaryDirectory() as work:
        os.symlink(os.path.join(SOURCE, "scenarios"), os.path.join(work, "scenarios"))
        check_commands(page, work)
    return report()


sys.exit(main())
