#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A newcomer follows docs/add-a-scheme.md: the blocks of that page are put into a copy of the
tree, it is built, and its commands are run. Every flow must then take as long as the page says.
Of the copy only the core is built, and linked with what else this build has of the program, which
is the same.

Environment: SOURCE, BUILD, OCHE (the program of this build: without `oche run` there is nothing to
test), CC; OCHE_LONG=yes: all of the copy is built. Status 77: skipped.
"""
import glob
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SOURCE = os.environ["SOURCE"]
PAGE = os.path.join(SOURCE, "docs", "add-a-scheme.md")


def run(command, where, status=0):
    done = subprocess.run(command, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, shell=isinstance(command, str), check=False)
    if done.returncode != status:
        sys.exit(f"{command}: status {done.returncode}, expected {status}\n{done.stdout}")
    return done.stdout


def blocks():
    """The fenced blocks of the page: {"core/cc/fixed_rate.c": text, …}, and the shell commands."""
    files, commands = {}, []
    with open(PAGE, encoding="utf-8") as page:
        text = page.read()
    for kind, name, body in re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", text, re.M | re.S):
        if kind == "sh":
            commands += body.strip().split("\n")
        else:
            files[name] = body
    return files, commands


def copy_tree(to):
    """The tree without what was built in it, and without its history."""
    def skip(folder, names):
        built = [n for n in names if n.startswith("build") or n in (".git", "out")]
        return built if os.path.samefile(folder, SOURCE) else [n for n in names
                                                               if n == "node_modules"]
    shutil.copytree(SOURCE, to, ignore=skip)


def follow(tree, files):
    """Steps 1 and 2: a new file, and a line in the list. Returns the scenario's name."""
    scenario = None
    for name, body in files.items():
        path = os.path.join(tree, name)
        if name.endswith("meson.build"):
            with open(path, encoding="utf-8") as old:
                text = old.read()
            changed = re.sub(r"^(cc_schemes = \[\n)", r"\1" + body, text, flags=re.M)
            assert changed != text, f"{name} has no list of schemes"
            body = changed
        else:
            assert not os.path.exists(path), f"{name} exists already"
        if name.endswith(".yaml"):
            scenario = name
        with open(path, "w", encoding="utf-8") as new:
            new.write(body)
    assert scenario and len(files) == 3, f"expected a file, a line and a scenario: {list(files)}"
    return scenario


def build(tree):
    """Step 3. `make` is the front door; this is the same with less optimisation, to be quick."""
    run(["meson", "setup", "build", "-Dbuildtype=plain"], tree)
    if os.environ.get("OCHE_LONG") == "yes":
        run(["ninja", "-C", "build", "oche"], tree)
        return
    core = os.path.join("core", "libcore.a")
    run(["ninja", "-C", "build", core], tree)
    command = run(["ninja", "-C", os.environ["BUILD"], "-t", "commands", "-s", "oche"],
                  tree).splitlines()[-1]
    words = shlex.split(command)
    assert core in words and words[words.index("-o") + 1] == "oche", command
    words[words.index("-o") + 1] = os.path.join(tree, "build", "oche")
    words[words.index(core)] = os.path.join(tree, "build", core)
    run(words, os.environ["BUILD"])


def flow_times(out):
    """Microseconds from start to delivery, of every flow in the results file below `out`."""
    found = [f for f in glob.glob(os.path.join(out, "**"), recursive=True) if os.path.isfile(f)
             and open(f, "rb").read(15) == b"SQLite format 3"]
    assert len(found) == 1, f"results files: {found}"
    with sqlite3.connect(found[0]) as db:
        return [(end - start) / 1e6 for start, end in
                db.execute("SELECT start_ps, delivered_ps FROM flows")]


def ignored_cnps(tree, command):
    """Checks the scheme's counter. In the table and in the results it must equal the CNPs that
    arrived, without those of the warm-up. There are some in the warm-up."""
    counts = []
    for warmup in "", " --set warmup=200us":
        text = run(command + warmup, tree)
        shown = re.search(r"^fixed_rate\.ignored_cnps +([\d,]+)$", text, re.M)
        assert shown, "no row fixed_rate.ignored_cnps"
        with sqlite3.connect(os.path.join(tree, "out", "incast", "run.sqlite")) as db:
            stored = dict(db.execute("SELECT name, value FROM metrics"))
        counts.append(int(shown.group(1).replace(",", "")))
        assert counts[-1] == stored["fixed_rate.ignored_cnps"] == stored["cnps.received"] > 0, \
            (counts, stored)
    assert counts[1] < counts[0], counts
    return counts[0]


def main():
    oche = os.environ["OCHE"]
    if not os.path.exists(oche) or " run " not in subprocess.run(
            [oche, "--help"], stdout=subprocess.PIPE, text=True, check=False).stdout:
        print("this program has no subcommand run")
        return 77
    files, commands = blocks()
    with tempfile.TemporaryDirectory() as folder:
        tree = os.path.join(folder, "tree")
        copy_tree(tree)
        scenario = follow(tree, files)
        build(tree)
        listed = run([c for c in commands if "--show-defaults" in c][0], tree)
        assert "fixed_rate" in listed and "rate" in listed, listed
        run([c for c in commands if c.endswith(f"run {scenario}")][0], tree)
        times = flow_times(os.path.join(tree, "out"))
        assert len(times) == 2 and all(10780 < t < 10820 for t in times), times
        counted = ignored_cnps(tree, [c for c in commands if "--out out/incast" in c][0])
        named = run([c for c in commands if "--metrics" in c][0], tree)
        assert re.match(r"fixed_rate\.ignored_cnps +count +CNPs that came", named), named
        refused = run([c for c in commands if c.endswith("=8GB")][0], tree, status=2)
        assert "rate" in refused and refused.count("\n") == 1, refused
    print(f"flows took {', '.join(f'{t:.1f}' for t in times)} us; {counted} CNPs ignored; "
          f"refused: {refused.strip()}")
    return 0


sys.exit(main())
