#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the ways of deflected flows (table paths) with those of their packets (table ways),
while links fail and routes follow. Ways that are reported are right to the link; those of that time
are left out.

Environment: OCHE, SOURCE.
"""
import os
import sqlite3
import sys
import tempfile

from checks import run_program

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
REROUTED = (2 * 10**9, 4 * 10**9)  # picoseconds: 1 ms after the failure, 1 ms after the repair

with tempfile.TemporaryDirectory() as folder:
    scenario = os.path.join(folder, "failing.yaml")
    with open(os.path.join(SOURCE, "scenarios", "deflection.yaml"), encoding="utf-8") as file:
        text = file.read()
    with open(scenario, "w", encoding="utf-8") as file:
        file.write(text + "\nfailures: {random: 3, at: 1ms, until: 3ms}\n")
    run = run_program(OCHE, "run", scenario, "--quiet", "--set", "duration=6ms", "-o", folder)
    if run.returncode != 0:
        sys.exit(f"oche run: status {run.returncode}: {run.stderr}")
    db = sqlite3.connect(os.path.join(folder, "run.sqlite"))
    told = db.execute(
        "SELECT flow, links, packets, hops FROM ways JOIN (SELECT flow, count(*) AS hops "
        "FROM paths WHERE way = 'taken' GROUP BY flow) USING (flow)").fetchall()
    wrong = [row for row in told if row[1] != row[2] * row[3]]
    if len(told) < 300 or wrong:
        sys.exit(f"{len(told)} ways, of which {len(wrong)} are not as long as what was crossed, "
                 f"such as that of flow {wrong[0][0]}" if wrong else f"only {len(told)} ways")
    in_between, = db.execute(
        "SELECT count(DISTINCT flow) FROM paths WHERE way = 'taken' AND time_ps BETWEEN ? AND ?",
        REROUTED).fetchone()
    deflected, = db.execute("SELECT count(*) FROM ways WHERE deflections > 0").fetchone()
    if in_between != 0 or len(told) > deflected - 100:
        sys.exit(f"{in_between} ways of the time when switches routed around the failures; "
                 f"{len(told)} of {deflected} told")
