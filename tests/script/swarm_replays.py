#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Worlds of the swarm as a user runs them: the trace hash is the same when a run is repeated from
its run.sqlite, when half of the scenario comes by --set in any order, and with a capture, a trace
and CSV files beside it. And all results are the same number by number, but for the time they took.

usage: swarm_replays.py SWARM
Environment: OCHE, SOURCE; OCHE_LONG=yes: more worlds.
"""
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

from checks import run_program

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
WORLDS = 400 if os.environ.get("OCHE_LONG") == "yes" else 12
SEED = 1
CHOOSES = ("type", "name", "preset", "file", "cdf_file", "model")  # keys that other lines depend on
PLAIN = re.compile(r"[A-Za-z0-9_.%]+")
FINE = (0, 3)  # 3: a deadlock, or flows that cannot arrive; the results are written


def run(scenario, folder, *options):
    """The path of the results, or None, and what was said."""
    ended = run_program(OCHE, "run", scenario, "-o", folder, "--quiet", "-t", "1", *options,
                        timeout=300)
    return (os.path.join(folder, "run.sqlite") if ended.returncode in FINE else None,
            f"status {ended.returncode}: {ended.stderr}")


def results(path):
    """Returns the trace hash and the metrics, without those of the run itself."""
    with sqlite3.connect(path) as database:
        (value,) = database.execute(
            "SELECT value FROM info WHERE key = 'trace_hash'").fetchone()
        metrics = dict(database.execute("SELECT name, value FROM metrics"))
    return value, {name: value for name, value in metrics.items()
                   if name not in ("events", "threads") and "wall" not in name}


def split(text, rng):
    """The scenario without some of its values, and those as arguments of --set."""
    kept, sets, section, entry = [], [], "", -1
    for line in text.splitlines():
        top = re.fullmatch(r"(\w+): *(.*)", line)
        value = re.fullmatch(r"    ?(\w+): (.*)|  (- )(\w+): (.*)", line) or \
            re.fullmatch(r"  (\w+): (.*)", line)
        if top and top[2] == "":
            section, entry = top[1], -1
        key = None
        if top and top[2] not in ("", "{}"):
            key, what = top[1], top[2]
        elif value and line.startswith("  - "):
            entry += 1
        elif value:
            key, what = value[1], value[2]
            key = f"{section}[{entry}].{key}" if entry >= 0 else f"{section}.{key}"
        if key and key.split(".")[-1] not in CHOOSES and key != "defaults" and \
                PLAIN.fullmatch(what) and rng.random() < 0.5:
            sets.append(f"{key}={what}")
            if line.startswith("  "):
                kept.append(None)
            continue
        kept.append(line)
    rng.shuffle(sets)
    return drop_empty(kept), sets


def drop_empty(lines):
    """Removes the keys of sections that have lost all their values."""
    text, lines = [], [line for line in lines if line is not None]
    for number, line in enumerate(lines):
        follows = lines[number + 1] if number + 1 < len(lines) else ""
        text.append(line + " {}" if line.endswith(":") and not follows.startswith(" ") else line)
    return "\n".join(text) + "\n"


def tier_sections(text):
    """True if sections lie within others: not taken apart here."""
    return re.search(r"^ +\w+:\n", text, re.M) or re.search(r"^ +\w+:$", text, re.M)


def ways(scenario, folder, rng):
    """(how, scenario, options) of the runs that must be the same."""
    with open(scenario, encoding="utf-8") as file:
        text = file.read()
    first = os.path.join(folder, "first", "run.sqlite")
    host = a_host(first)
    yield "replay", first, []
    yield "beside", scenario, ["--csv", "--pcap", f"{folder}/all.pcap:{host}",
                               "--trace", f"{folder}/all.jsonl"]
    if not tier_sections(text):
        kept, sets = split(text, rng)
        half = os.path.join(os.path.dirname(scenario), "half.yaml")
        with open(half, "w", encoding="utf-8") as file:
            file.write(kept)
        yield "sets", half, [word for one in sets for word in ("--set", one)]


def compare(scenario, folder, rng):
    """Runs a scenario in several ways. Returns a list of differences, and a list of the ways that
    ran."""
    wrong, tried = [], []
    first, said = run(scenario, os.path.join(folder, "first"))
    if first is None:
        return [f"{scenario}: {said}"], tried
    expected, metrics = results(first)
    for how, other, options in ways(scenario, folder, rng):
        path, said = run(other, os.path.join(folder, how), *options)
        if path is None:
            wrong.append(f"{scenario}, {how} {' '.join(options)}: {said}")
            continue
        value, seen = results(path)
        tried.append(how)
        if value != expected:
            wrong.append(f"{scenario}, {how} {' '.join(options)}: hash {value}, not {expected}")
        for name in sorted(set(metrics) | set(seen)):
            if metrics.get(name) != seen.get(name):
                wrong.append(f"{scenario}, {how}: {name} is {seen.get(name)}, "
                             f"not {metrics.get(name)}")
                break
    return wrong, tried


def a_host(path):
    """The name of the first host."""
    with sqlite3.connect(path) as database:
        (name,) = database.execute("SELECT name FROM nodes ORDER BY rowid LIMIT 1").fetchone()
    return name


def main(swarm):
    with tempfile.TemporaryDirectory() as folder:
        worlds = os.path.join(folder, "worlds")
        os.mkdir(worlds)
        os.symlink(os.path.join(SOURCE, "tests", "swarm", "files"), os.path.join(folder, "files"))
        subprocess.run([swarm, "--quiet", "--seed", str(SEED), "--worlds", str(WORLDS), "--write",
                        worlds], check=True, stdout=subprocess.DEVNULL)
        wrong, counts = [], {}
        for name in sorted(os.listdir(worlds)):
            found, tried = compare(os.path.join(worlds, name), os.path.join(folder, name + ".out"),
                                   random.Random(name))
            wrong += found
            for how in tried:
                counts[how] = counts.get(how, 0) + 1
    for line in wrong:
        print("FAILED:", line)
    print(f"{WORLDS} worlds; compared:", ", ".join(f"{how} {n}" for how, n in counts.items()))
    few = [how for how in ("replay", "beside", "sets") if counts.get(how, 0) < WORLDS // 4]
    sys.exit(f"hardly ever: {few}" if few else bool(wrong))


main(sys.argv[1])
