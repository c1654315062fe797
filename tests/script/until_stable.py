#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche run --until-stable: ends by itself, says how certain the metric is, or why it is not.

Environment: OCHE.
"""
import os
import re
import sqlite3
import sys
import tempfile

from checks import check, report, run_program

OCHE = os.environ["OCHE"]


def run(status, *arguments):
    done = run_program(OCHE, "run", *arguments)
    check(done.returncode == status, arguments, "status", done.returncode, done.stderr)
    check(done.stderr.count("\n") == (status != 0), arguments, "says", repr(done.stderr))
    return done


def info_of(folder):
    with sqlite3.connect(os.path.join(folder, "run.sqlite")) as results:
        return dict(results.execute("SELECT key, value FROM info"))


def test_ends(work, yaml):
    """The same by one and two threads, and when it is repeated; later for a narrower interval."""
    one, two, narrow = (os.path.join(work, name) for name in ("one", "two", "narrow"))
    table = run(0, yaml, "--out", one, "--until-stable", "goodput", "-t", "1").stdout
    info = info_of(one)
    row = re.search(r"until stable, 95 % interval +(goodput 1[12][\d.]*Gbps ± ([\d.e-]+) % of it, "
                    r"(\d+) batches of ([\d.]+)us)\n", table)
    check(row, "no row:", table)
    check(info["until_stable"] == "goodput" and info["until_stable_reached"] == "yes", info)
    check(float(info["until_stable_within"]) == 0.05, info["until_stable_within"])
    half, mean = (float(info["until_stable_" + key]) for key in ("half_width", "mean"))
    check(half <= 0.05 * mean and abs(100 * half / mean - float(row.group(2))) < 0.06, half, mean)
    batches, batch = (int(info["until_stable_" + key]) for key in ("batches", "batch_ps"))
    check(batches == int(row.group(3)) and abs(batch / 1e6 - float(row.group(4))) < 1, info)
    simulated = int(info["simulated_ps"])
    check(simulated < 100e9 and 0 <= simulated - batches * batch < 2e6, info)

    run(0, yaml, "--out", two, "--until-stable", "goodput", "-t", "2")
    same = [key for key in info if key.startswith("until_stable")] + ["simulated_ps", "trace_hash"]
    check(all(info_of(two)[key] == info[key] for key in same), "two threads:", info_of(two))
    again = run(0, os.path.join(one, "run.sqlite")).stdout
    check("same hash as " in again and row.group(1) in again, "repeated:", again)
    run(0, yaml, "--out", narrow, "--until-stable", "goodput", "--within", "0.5%")
    check(int(info_of(narrow)["simulated_ps"]) > simulated, "half a per cent:", info_of(narrow))


def test_is_not_stable(work, yaml):
    folder = os.path.join(work, "not")
    done = run(4, yaml, "--out", folder, "-q", "--set", "duration=10ms", "--until-stable",
               "goodput", "--within", "0.0001%")
    check(done.stdout == "" and re.fullmatch(
        r"goodput is not stable at the end of the run: ± [\d.e-]+ %, more than 0\.0001 %, after "
        r"\d+ batches of [\d.]+us; set a longer duration, about [\d.]+m?s\n", done.stderr),
        done.stderr)
    check(info_of(folder)["until_stable_reached"] + "\n" == done.stderr, info_of(folder))
    table = run(4, yaml, "--out", folder, "--set", "duration=10ms", "--until-stable", "goodput",
                "--within", "0.0001%").stdout
    check(re.search(r"until stable, 95 % interval +not stable: goodput ", table), table)
    both = run(4, yaml, "--out", folder, "-q", "--set", "duration=10ms", "--until-stable",
               "goodput", "--compare", "workload.load=50%,0.1%")
    check(both.stderr.startswith("workload.load=0.1%: goodput is not stable"), both.stderr)
    check(info_of(os.path.join(folder, "50_"))["until_stable_reached"] == "yes", "the other is")


def test_refuses(work, yaml):
    folder = os.path.join(work, "refused")
    for options, why in (
            (("--until-stable", "jain"), "--until-stable jain: has no mean that a longer run makes "
             "more certain; give one of goodput, utilisation.PLACE.mean, and the mean, p50, p90, "
             "p99 or p99.9 of queue.PORT, fct.SIZE and slowdown.SIZE\n"),
            (("--within", "5%"), "--within is of --until-stable; give that too\n"),
            (("--until-stable", "goodput", "--within", "1"), "--within 1: not a part of the mean; "
             "write a share above 0 and below 1, such as 5% or 0.05\n"),
            (("--until-stable", "goodput", "--show-defaults"), "leave out --until-stable\n"),
            (("--until-stable", "goodput", "--set", "duration=20us"), "duration leaves 20us "),
            (("--until-stable", "goodput", "--compare", "duration=1s,20us"), "leaves 20us ")):
        out = [] if "--show-defaults" in options else ["--out", folder]
        done = run(2, yaml, *out, *options)
        check(why in done.stderr, options, done.stderr)
    check(not os.path.exists(folder), "a refused run left a folder")


def main():
    with tempfile.TemporaryDirectory() as work:
        yaml = os.path.join(work, "stable.yaml")
        with open(yaml, "w", encoding="utf-8") as file:
            file.write("topology: {type: star, hosts: 4, host_rate: 10Gbps}\nduration: 1s\n"
                       "workload: {type: long_flows, load: 50%, load_of: host}\n")
        test_ends(work, yaml)
        test_is_not_stable(work, yaml)
        test_refuses(work, yaml)
    return report()


sys.exit(main())
