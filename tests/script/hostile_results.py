#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results files that others have made or cut: views where tables belong, views without end,
triggers, virtual tables, files of which a part is missing. Each is refused with one line, soon.

Environment: OCHE.
"""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from checks import check, report, run_program

OCHE = os.environ["OCHE"]
LIMIT = 60  # seconds for one command
SCENARIO = "topology: {type: star, hosts: 4}\nworkload: {type: incast, degree: 2, bytes: 10KB}\n"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
SWEEP = ["sweep", "s.yaml", "--vary", "switch.kmin=4KB,5KB,6KB", "--jobs", "1", "--out", "d"]
# Tables of a run that a command does not look at.
NOT_READ = {"run": ("metrics", "parameters", "nodes"), "report": ("files", "overrides")}


def oche(folder, *arguments):
    try:
        return run_program(OCHE, *arguments, cwd=folder, stdin=subprocess.DEVNULL, errors="replace",
                           timeout=LIMIT)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(late.cmd, "no status: is busy for ever", "", "")


def refused(done, what, *said):
    check(done.returncode == 2 and done.stderr.count("\n") == 1, what, done.returncode,
          repr(done.stderr))
    for part in said:
        check(part in done.stderr, what, repr(done.stderr), "without", repr(part))


def change(path, *statements):
    """Runs SQL statements, which may also change the schema."""
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()


def to_view(table, columns):
    """A table that has become a view without end, of the same columns."""
    return (f"ALTER TABLE {table} RENAME TO was_{table}",
            f"CREATE VIEW {table}({columns}) AS {ENDLESS}" + ", ".join(
                "i" if column == "id" else "'status'" for column in columns.split(", ")) +
            " FROM n")


def columns_of(path, table):
    database = sqlite3.connect(path)
    names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    database.close()
    return ", ".join(names)


def test_views(folder, commands):
    run = os.path.join(folder, "r", "run.sqlite")
    for table in ("info", "flows", "metrics", "files", "overrides", "parameters", "nodes"):
        path = os.path.join(folder, f"{table}.sqlite")
        shutil.copy(run, path)
        change(path, *to_view(table, columns_of(path, table)))
        for command in commands:
            if table in NOT_READ[command]:
                continue
            refused(oche(folder, command, path), f"{command}, {table} is a view", f"{table}.sqlite")
        if table in ("info", "flows"):
            # A new run does not take such a file for results, does not hang, and does not replace
            # it.
            os.makedirs(os.path.join(folder, "v"), exist_ok=True)
            shutil.copy(path, os.path.join(folder, "v", "run.sqlite"))
            refused(oche(folder, "run", "s.yaml", "--quiet", "--out", "v"), f"over {table}",
                    "v/run.sqlite: not a results file")


def test_virtual_tables(folder, commands):
    path = os.path.join(folder, "virtual.sqlite")
    shutil.copy(os.path.join(folder, "r", "run.sqlite"), path)
    try:
        change(path, "CREATE VIRTUAL TABLE x USING fts5(y)")
    except sqlite3.OperationalError:
        return  # this SQLite has no such module
    for command in commands:
        refused(oche(folder, command, path), command, "has a virtual table")


def test_triggers(folder):
    """A trigger in a sweep's file does nothing when the sweep continues."""
    check(oche(folder, *SWEEP).returncode == 0, "a sweep")
    path = os.path.join(folder, "d", "sweep.sqlite")
    change(path, "DELETE FROM metrics WHERE point = 2", "DELETE FROM points WHERE id = 2",
           "CREATE TABLE fired (x)",
           "CREATE TRIGGER t AFTER INSERT ON points BEGIN INSERT INTO fired VALUES (1); "
           "DELETE FROM metrics; END")
    done = oche(folder, *SWEEP)
    check(done.returncode == 0, "a sweep with a trigger", done.returncode, done.stderr)
    database = sqlite3.connect(path)
    check(database.execute("SELECT count(*) FROM fired").fetchone() == (0,), "a trigger fired")
    check(database.execute("SELECT count(DISTINCT point) FROM metrics").fetchone() == (3,),
          "metrics are missing")
    database.close()


def test_cut_sweep(folder):
    shutil.rmtree(os.path.join(folder, "d"))
    check(oche(folder, *SWEEP).returncode == 0, "a sweep")
    path = os.path.join(folder, "d", "sweep.sqlite")
    with open(path, "rb") as file:
        whole = file.read()
    for size in (100, 4000, 4096, 9000, len(whole) // 2, len(whole) - 4096, len(whole) - 1):
        with open(path, "wb") as file:
            file.write(whole[:size])
        refused(oche(folder, *SWEEP), f"a sweep cut to {size}", "d/sweep.sqlite: is damaged (",
                "--restart begins anew here, --out puts new results elsewhere")
        with open(path, "rb") as file:
            check(file.read() == whole[:size], f"a sweep cut to {size}", "was changed")
    done = oche(folder, *SWEEP, "--restart")
    check(done.returncode == 0, "--restart of a damaged file", done.returncode, done.stderr)
    done = oche(folder, *SWEEP)
    check(done.returncode == 0, "after --restart", done.returncode, done.stderr)


def test_cut_run(folder, commands):
    with open(os.path.join(folder, "r", "run.sqlite"), "rb") as file:
        whole = file.read()
    path = os.path.join(folder, "cut.sqlite")
    for size in (100, 4096, 9000, len(whole) // 2, len(whole) - 4096, len(whole) - 1):
        with open(path, "wb") as file:
            file.write(whole[:size])
        for command in commands:
            refused(oche(folder, command, path), f"{command} cut to {size}", "cut.sqlite: ",
                    "damaged")


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "s.yaml"), "w", encoding="utf-8") as file:
            file.write(SCENARIO)
        done = oche(folder, "run", "s.yaml", "--quiet", "--out", "r")
        check(done.returncode == 0, done.stderr)
        commands = ["run"]
        if oche(folder, "report", "r", "-o", "x.html").returncode == 0:
            commands.append("report")  # it may have been built without the page
        test_views(folder, commands)
        test_virtual_tables(folder, commands)
        test_triggers(folder)
        test_cut_sweep(folder)
        test_cut_run(folder, commands)
    return report()


sys.exit(main())
