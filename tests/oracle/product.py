# SPDX-License-Identifier: Apache-2.0
"""What the oracles share: running the product, and comparing numbers. An oracle is a solution of
its own, from a paper or a textbook; it has no code of the product, and no number of its tests.

Environment: OCHE, the program.
"""
import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

OCHE = os.environ["OCHE"]
# A wider tolerance would hide a change by a few per cent.
WIDEST = 0.05
FOLDER = tempfile.TemporaryDirectory(prefix="oracle-")
failures, largest = [], {}


def output_of(*arguments):
    """Returns what the program prints; ends the test if the program fails."""
    done = subprocess.run([OCHE, *arguments], cwd=FOLDER.name, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        print("FAILED: oche", *arguments, "\n", done.stdout[-2000:], done.stderr)
        sys.exit(1)
    return done.stdout


def write(name, text):
    """Writes a file that a scenario names."""
    with open(os.path.join(FOLDER.name, name), "w", encoding="utf-8") as file:
        file.write(text)


def run(scenario, *arguments):
    """Runs a scenario, which is its YAML text, with one thread. Returns its metrics."""
    write("scenario.yaml", scenario)
    told = output_of("run", "scenario.yaml", "--json", "--quiet", "--threads", "1", "--out", "out",
                     *arguments)
    return json.loads(told)["runs"][0]["metrics"]


def flows(columns):
    """Returns these columns of the last run's flows, in the order of the flows."""
    base = sqlite3.connect(os.path.join(FOLDER.name, "out", "run.sqlite"))
    rows = base.execute(f"SELECT {columns} FROM flows ORDER BY id").fetchall()
    base.close()
    return rows


def rows_of(name):
    """Returns the rows of a CSV file that the program wrote."""
    with open(os.path.join(FOLDER.name, name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def events(name, *wanted):
    """Returns the events of these kinds, in the order of a trace, as maps without empty fields."""
    found = []
    with open(os.path.join(FOLDER.name, name), encoding="utf-8") as file:
        columns = file.readline().strip().split(",")
        where = columns.index("event")
        for line in file:
            if line.split(",", where + 1)[where] in wanted:
                fields = line.rstrip("\n").split(",")
                found.append({columns[i]: field for i, field in enumerate(fields) if field})
    return found


def compare(kind, what, expected, measured, tolerance):
    """Compares by the relative deviation; tolerance 0 asks for equality. `kind` is what the summary
    counts together. Returns the deviation."""
    if tolerance > WIDEST:
        failures.append(f"{what}: a tolerance of {tolerance:.1%} is no test")
    deviation = abs(measured / expected - 1) if expected else abs(measured)
    if not deviation <= tolerance:
        failures.append(f"{what}: expected {expected:.9g}, measured {measured:.9g}, "
                        f"{deviation:.3%} apart; at most {tolerance:.3%}")
    count, most, allowed = largest.get(kind, (0, 0.0, 0.0))
    largest[kind] = (count + 1, max(most, deviation), max(allowed, tolerance))
    return deviation


def must(truth, *what):
    """Notes a failure that is not about a number."""
    if not truth:
        failures.append(" ".join(str(word) for word in what))


def report():
    """Prints the largest deviations and all failures. Returns the exit status."""
    for kind, (count, most, allowed) in largest.items():
        print(f"{kind}: {count} compared, largest deviation {100 * most:.2g} %, "
              f"tolerance {100 * allowed:.2g} %")
    for failure in failures[:20]:
        print("FAILED:", failure)
    if not largest:
        print("FAILED: nothing was compared")
    return 1 if failures or not largest else 0
