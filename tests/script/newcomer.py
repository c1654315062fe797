#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does what README.md and the pages of PAGES say, as a newcomer would, and compares what is shown.

Blocks of a page are taken in their order, in one empty folder in which `scenarios` is that of the
repository:
    ```yaml first.yaml      a file of this name and content (also csv, text)
    ```console              commands, after "$ ", with what they print; status 0, or `# status N`
                            at the end of the command's line
A shown line "…" stands for any number of lines, and "…" within a line for any text. What depends on
the machine (wall time, speed) is shown with "…". `oche` is the program under test. Commands that
begin with another program than those of PROGRAMS are not run, nor `oche report` without its page.
The demo and a figure of a paper, which take longest, are run with OCHE_LONG=yes.

Environment: OCHE, SOURCE, BUILD.
"""
import os
import re
import subprocess
import sys
import tempfile

from checks import failures, report

OCHE, SOURCE = os.path.abspath(os.environ["OCHE"]), os.path.abspath(os.environ["SOURCE"])
PAGES = ("README.md", "docs/guide.md", "docs/thresholds.md", "docs/trace.md")
PROGRAMS = ("oche", "ls", "cat", "grep", "head", "sqlite3")
BLOCK = re.compile(r"^```(\w+)(?: ([\w./-]+))?\n(.*?)^```$", re.M | re.S)
HAS_PAGE = os.path.exists(os.path.join(os.environ["BUILD"], "report", "page", "report.html"))
LONG = ("scenarios/demo.yaml", "oche reproduce error-recovery/fig3 ")


def fits(shown, printed):
    """True if the printed lines are those shown, where "…" stands for any."""
    pattern = ""
    for line in shown:
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part.rstrip()) for part in line.split("…")) + r"[ ]*\n"
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in printed)) is not None


def commands(block):
    """(command, expected status, lines shown) of a console block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            command, _, remark = line[2:].partition("  # ")
            status = re.fullmatch(r"status (\d+)", remark.strip())
            found.append((command.strip(), int(status[1]) if status else 0, []))
        elif not found:
            failures.append(f"a console block begins with {line!r}, not with $")
        else:
            found[-1][2].append(line)
    return found


def obey(page, block, folder):
    environment = {**os.environ, "PATH": os.path.dirname(OCHE) + ":" + os.environ["PATH"],
                   "COLUMNS": "100"}
    done = 0
    for command, status, shown in commands(block):
        if command.split()[0] not in PROGRAMS or \
                (command.startswith("oche report") and not HAS_PAGE) or \
                (any(part in command for part in LONG) and os.environ.get("OCHE_LONG") != "yes"):
            continue
        done += 1
        ran = subprocess.run(command, shell=True, cwd=folder, env=environment, check=False,
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if ran.returncode != status:
            failures.append(f"{page}: {command}: status {ran.returncode}\n{ran.stdout[-2000:]}")
        elif not fits(shown, ran.stdout.splitlines()):
            failures.append(f"{page}: {command} prints\n{ran.stdout}\nand the page shows\n" +
                            "\n".join(shown))
    return done


def self_test():
    for shown, printed, right in (
            (["a", "…", "d"], ["a", "b", "c", "d"], True), (["a", "…"], ["a"], True),
            (["a"], ["a", "b"], False), (["a", "…", "c"], ["a", "b"], False),
            (["wall …s"], ["wall 7 s"], True), (["x 1"], ["x 2"], False), ([], [], True)):
        if fits(shown, printed) != right:
            failures.append(f"{shown} fits {printed}: {not right}")


def main():
    self_test()
    for page in PAGES:
        with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
            text = file.read()
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(SOURCE, "scenarios"), os.path.join(folder, "scenarios"))
            done = 0
            for kind, name, content in BLOCK.findall(text):
                if name:
                    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                        file.write(content)
                elif kind == "console":
                    done += obey(page, content, folder)
        if done == 0:
            failures.append(f"{page} shows no command that can be run")
    return report()


sys.exit(main())
