#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names from files and of files never reach a terminal, a page or JSON with characters that a
terminal or a reader obeys: controls, and those that change the direction of writing.

Environment: OCHE.
"""
import os
import re
import subprocess
import sys
import tempfile

from checks import failures, report

OCHE = os.environ["OCHE"]
ODD = "odd\x1b[31m\u202ea\u061c\u200f\u2066\u2028z"
OBEYED = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SCENARIO = "topology: {type: star, hosts: 4}\nworkload: {type: incast, degree: 2, bytes: 10KB}\n"
VARY = ["--vary", "switch.kmin=1KB,2KB"]
COMMANDS = [
    ["run", "--out", "a"],
    ["run", "--out", "b", "--compare", "congestion_control=dcqcn,none"],
    ["run", "--out", "c", "--json"],
    ["run"],
    ["run", "--show-defaults"],
    ["run", "--set", "topology.hosts=0"],
    ["sweep", "--out", "d", *VARY],
    ["sweep", "--vary", "congestion_control=dcqcn,xx"],
    ["fluid"],
    ["buffers", "--check"],
]


def oche(folder, *arguments):
    done = subprocess.run([OCHE, *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=60)
    for name, text in (("stdout", done.stdout), ("stderr", done.stderr)):
        look(f"{arguments!r} {name}", text)
    return done


def look(what, text):
    for line in text.decode("utf-8", "replace").split("\n"):
        found = OBEYED.search(line)
        if found:
            failures.append(f"{what}: {ascii(line[max(0, found.start() - 60):found.end() + 20])}")


def quoted(text):
    """Returns the text in double quotes, as in YAML."""
    return '"' + "".join(c if c.isascii() and c.isprintable() else f"\\u{ord(c):04x}"
                         for c in text) + '"'


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, ODD + ".yaml"), "w", encoding="utf-8") as file:
            file.write(SCENARIO)
        with open(os.path.join(folder, "named.yaml"), "w", encoding="utf-8") as file:
            file.write(f"name: {quoted(ODD)}\ndescription: {quoted(ODD)}\n{SCENARIO}")
        with open(os.path.join(folder, "keys.yaml"), "w", encoding="utf-8") as file:
            file.write(f"{quoted(ODD)}: 1\n{SCENARIO}")
        with open(os.path.join(folder, ODD + ".csv"), "w", encoding="utf-8") as file:
            file.write(f"src,dst,bytes,start\n{ODD},1,1KB,0\n")
        with open(os.path.join(folder, "list.txt"), "w", encoding="utf-8") as file:
            file.write("1\n0 1 3 100 1000 0\nmore\n")
        os.rename(os.path.join(folder, "list.txt"), os.path.join(folder, ODD + ".txt"))
        for command in COMMANDS:
            for scenario in (ODD + ".yaml", "named.yaml", "keys.yaml"):
                oche(folder, *command, scenario)
        for flows in (".csv", ".txt"):  # a host that is not there; a remark
            with open(os.path.join(folder, "flows.yaml"), "w", encoding="utf-8") as file:
                file.write("topology: {type: star, hosts: 4}\n"
                           f"workload: {{type: from_file, file: {quoted(ODD + flows)}}}\n")
            oche(folder, "run", "flows.yaml", "--out", "f")
            oche(folder, "sweep", "flows.yaml", "--out", "g" + flows, *VARY)
        if not os.path.exists(os.path.join(folder, "f", "run.sqlite")):
            failures.append("there is no run with a remark")
        for place in ("a", "d", "f", "a/run.sqlite", ODD + ".yaml", "nowhere" + ODD):
            done = oche(folder, "report", place, "-o", "x.html")
            if done.returncode == 0:
                with open(os.path.join(folder, "x.html"), "rb") as page:
                    text = page.read()
                # the page itself has such characters in its code: its data begin with {
                data = re.search(rb'<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.S)
                look(f"the page of {place}", data.group(1) if data else text)
    return report()


sys.exit(main())
