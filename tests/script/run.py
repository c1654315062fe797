#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche run: the same command gives the same results; the results file, the CSV files, the tables
and the capture agree with one another; comparisons; nothing is left behind when something fails.

Environment: OCHE, SOURCE.
"""
import csv
import json
import math
import os
import pty
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from checks import check, report, run_program

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
SCENARIOS = os.path.join(SOURCE, "tests", "scenarios")
LONGER = "Set a longer duration, or none."
# A parent that ignores SIGINT (nohup, or a script's &) would have all programs ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def oche(*arguments, status=0):
    done = run_program(OCHE, "run", *arguments)
    check(done.returncode == status, arguments, "status", done.returncode, done.stderr)
    check((done.stderr == "") == (status == 0), arguments, "says", repr(done.stderr))
    return done.stdout


def scenario(name):
    return os.path.join(SCENARIOS, name + ".yaml")


def steady(text):
    """Returns the lines that do not depend on the machine."""
    return re.sub(r"^(threads|wall time|speed).*\n", "", text, flags=re.M)


def database(*path):
    return sqlite3.connect(os.path.join(*path, "run.sqlite"))


def dump(folder):
    """All tables but what differs by machine or command."""
    with database(folder) as db:
        lines = [line for line in db.iterdump()
                 if not re.search(r"INTO \"?info\"? VALUES\('(wall_s|command|threads)'", line)]
    return lines


def test_determinism(work):
    for name in ("pauses", "losses"):
        outs = []
        for i, options in enumerate(([], [], ["--threads", "2"])):
            folder = os.path.join(work, f"{name}{i}")
            text = oche(scenario(name), "--out", folder, *options)
            outs.append((steady(text).replace(folder, "OUT"), dump(folder)))
        check(outs[0] == outs[1], name, "two runs differ")
        check(outs[0][0] == outs[2][0], name, "the table of two threads differs")
        check(outs[0][1] == outs[2][1], name, "the results of two threads differ")
        other = oche(scenario(name), "--out", os.path.join(work, "seed"), "--seed", "2")
        hashes = re.findall(r"^trace hash +([0-9a-f]{16})$", outs[0][0] + other, re.M)
        check(len(hashes) == 2 and hashes[0] != hashes[1], name, "hashes of two seeds", hashes)


def one(db, query, *arguments):
    return db.execute(query, arguments).fetchone()[0]


def counter(db, name, entity="all"):
    return one(db, "SELECT value FROM counters WHERE entity = ? AND name = ?", entity, name)


def test_results(work):
    folder = os.path.join(work, "results")
    text = oche(scenario("pauses"), "--out", folder, "--set", "switch.kmin=6KB", "--seed", "5")
    with database(folder) as db:
        check(one(db, "PRAGMA integrity_check") == "ok", "integrity")
        info = dict(db.execute("SELECT * FROM info"))
        check(info["scenario"] == "pauses" and info["seed"] == "5", info)
        with open(scenario("pauses"), encoding="utf-8") as file:
            check(info["scenario_text"] == file.read(), "the scenario's text")
        check(info["trace_hash"] in text, "hash", info["trace_hash"])
        check(info["simulated_ps"] == str(10**9) and info["measured_ps"] == str(9 * 10**8),
              "times", info)
        given = dict(db.execute("SELECT key, value FROM parameters WHERE given"))
        check(given.get("switch.kmin") == "6KB" and given.get("seed") == "5", given)
        check("switch.beta" not in given, "switch.beta was not given")
        check(one(db, "SELECT value FROM parameters WHERE key = 'switch.beta'") == "8", "default")
        check(one(db, "SELECT value FROM parameters WHERE key = 'workload[1].degree'") == "8",
              "workload[1].degree")

        # Flows: the rows agree with the table; no flow is faster than alone; flows of the warm-up
        # are marked.
        row = re.search(r"^all sizes +([\d,]+) +([\d,]+) +([\d,]+) ", text, re.M)
        started, done, failed = (int(n.replace(",", "")) for n in row.groups())
        check(started == one(db, "SELECT count(*) FROM flows WHERE measured"), "flows", started)
        check(done == one(db, "SELECT count(*) FROM flows WHERE measured AND status = "
                              "'completed'"), "flows completed", done)
        check(failed == 0 and one(db, "SELECT count(*) FROM flows WHERE status LIKE 'failed%'")
              == 0, "failed")
        check(one(db, "SELECT min(slowdown) FROM flows") >= 1, "faster than alone")
        check(one(db, "SELECT count(*) FROM flows WHERE measured != (start_ps >= 100000000)") == 0,
              "measured")
        check(one(db, "SELECT count(*) FROM flows WHERE (delivered_ps IS NULL) != "
                      "(status = 'unfinished')") == 0, "unfinished")
        check(0 < one(db, "SELECT count(*) FROM flows WHERE NOT measured"), "none in warm-up")

        # Counters: ports and hosts add up to the sums, and the marks to those that came.
        for name in ("marks", "packets"):
            places = sum(counter(db, f"{name}_{p}") for p in ("tor_to_host", "tor_to_up",
                                                             "aggregation", "core"))
            ports = one(db, "SELECT sum(value) FROM counters WHERE name = ? AND entity LIKE "
                            "'%:%'", name)
            check(places == ports > 0, name, places, ports)
        for name in ("delivered_bytes", "cnps_sent", "data_packets_sent"):
            hosts = one(db, "SELECT sum(value) FROM counters WHERE name = ? AND entity LIKE "
                            "'host%'", name)
            check(hosts == counter(db, "nic_" + name) > 0, name, hosts)
        # Times in them are picoseconds, and the page that explains them names each.
        with open(os.path.join(SOURCE, "docs", "results.md"), encoding="utf-8") as page:
            row = re.search(r"^\| entity_counters \|.*$", page.read(), re.M).group(0)
        named = [name for (name,) in db.execute("SELECT DISTINCT name FROM entity_counters WHERE "
                                                "instr(name, '_time') > 0")]
        check("paused_time_0" in named and "queueing_time_ps" in named, "times", named)
        for name in named:
            check(f"`{re.sub('_[0-9]$', '_N', name)}`" in row.partition("picoseconds")[2],
                  "docs/results.md lacks", name)
        sent = one(db, "SELECT sum(value) FROM counters WHERE name LIKE 'pauses_sent__'")
        check(sent == counter(db, "pauses_sent") > 0, "pauses sent", sent)
        held = one(db, "SELECT sum(value) FROM counters WHERE name LIKE 'pauses_received__' AND "
                       "entity LIKE 'host%' AND entity NOT LIKE '%:%'")
        check(held == counter(db, "pauses_received_by_hosts") > 0, "pauses of hosts", held)

        # Series: an interval apart, from warm-up to the end; goodput adds up to what arrived.
        check(one(db, "SELECT count(*) FROM series_names WHERE name NOT IN ('held', "
                      "'longest_queue', 'slowest_goodput')") == 2 + 16 + 2, "series")
        times = [t for (t,) in db.execute("SELECT DISTINCT time_ps FROM series ORDER BY 1")]
        check(times == [10**8 + 5 * 10**7 * (i + 1) for i in range(18)], "times", times)
        series = one(db, "SELECT sum(value) FROM series JOIN series_names ON id = series WHERE "
                         "name = 'goodput' AND entity = 'all'")
        check(abs(series * 50e-6 / 8 - counter(db, "nic_delivered_bytes")) <= 18, "goodput",
              series)

        # The longest queues are at those ports of the counters, without those that are watched.
        longest = dict(db.execute("SELECT entity, max(value) FROM series JOIN series_names ON id = "
                                  "series WHERE name = 'longest_queue' GROUP BY entity"))
        most = db.execute("SELECT entity, value FROM counters WHERE name = 'max_queue_bytes' AND "
                          "entity NOT IN (SELECT entity FROM histogram_names) ORDER BY value DESC "
                          "LIMIT 3").fetchall()
        check(sorted(longest.values()) == sorted(value for _, value in most), longest, most)
        check(most[0][0] in longest and len(longest) == 3, longest, most)

        # The slowest flows are those that took longest beyond what they take alone.
        slowest = {entity for entity, in db.execute("SELECT entity FROM series_names WHERE name = "
                                                    "'slowest_goodput'")}
        ends = "coalesce(delivered_ps, 10 * 100000000)"
        worst = [f"flow {flow}" for flow, in db.execute(
            "SELECT id FROM flows WHERE measured AND bytes >= 100000 AND status IN ('completed', "
            f"'unfinished') ORDER BY {ends} - start_ps - ideal_ps DESC, id LIMIT 3")]
        check(slowest == set(worst) and len(worst) > 0, slowest, worst)

        # Shares of time that ports were held. The duration is a whole number of intervals.
        for port, share in db.execute("SELECT entity, sum(value) FROM series JOIN series_names ON "
                                      "id = series WHERE name = 'held' GROUP BY entity"):
            total = one(db, "SELECT value FROM counters WHERE entity = ? AND name = "
                            "'paused_time_0'", port)
            check(abs(share * 50e6 - total) < 1000, "held", port, share, total)
        check(one(db, "SELECT count(*) FROM series_names WHERE name = 'held'") ==
              one(db, "SELECT count(*) FROM counters WHERE name = 'paused_time_0'") > 0, "held")

        # The topology: every port of the counters is at the end of a link.
        check(one(db, "SELECT count(*) FROM nodes WHERE kind = 'host'") == 16, "hosts")
        check(one(db, "SELECT count(*) FROM nodes WHERE name = 'tor1' AND kind = 'tor' AND pod = 0")
              == 1, "tor1")
        check(one(db, "SELECT count(*) FROM counters WHERE entity != 'all' AND entity NOT IN "
                      "(SELECT port_a FROM links UNION SELECT port_b FROM links)") == 0, "links")
        check(one(db, "SELECT count(*) FROM links JOIN nodes a ON a.id = a JOIN nodes b ON b.id = "
                      "b WHERE a.kind = 'host' AND port_a = a.name AND port_b = b.name || ':' || "
                      "a.name AND rate_bps = 40000000000 AND delay_ps = 1000000") == 16,
              "links of hosts")

        # Watched queues: their histogram's weights are the measured time.
        for (total,) in db.execute("SELECT sum(weight) FROM histograms GROUP BY histogram"):
            check(total == 9 * 10**8, "weights", total)
        check(one(db, "SELECT count(*) FROM histogram_names WHERE name = 'queue'") == 2, "queues")


def test_timeout_causes(work):
    """Also with a warm-up in which some timers expire: rows, counters and their sum are the
    same."""
    rows = {"last_packet": "the last packet was lost", "last_ack": "the last ACK was lost",
            "nak_lost": "the NAK was lost", "lost_twice": "the same packet was lost twice",
            "nak_held": "the NAK waited for its interval", "other": "the answer was on its way"}
    base = ("--set", "loss.probability=0.05", "--set", "host.ack_timeout=200us", "--set",
            "recovery.nak_exception=false")
    sums = []
    for i, options in enumerate(([], ["--set", "warmup=1ms"])):
        folder = os.path.join(work, f"causes{i}")
        text = oche(scenario("losses"), "--out", folder, *base, *options)
        shown = {cause: re.search(f"^  {row} +([\\d,]+)$", text, re.M)
                 for cause, row in rows.items()}
        with database(folder) as db:
            counts = {cause: counter(db, "timeouts_" + cause) for cause in rows}
            sums.append(counter(db, "nic_timeouts"))
        for cause, count in counts.items():
            said = shown[cause] and int(shown[cause].group(1).replace(",", ""))
            check((said or 0) == count, "timeouts", cause, said, count)
            check((count > 0) == bool(shown[cause]), "a row without timeouts", cause)
        check(sum(counts.values()) == sums[-1] > 0, "causes", counts, "of", sums[-1])
        check(counts["nak_held"] > 0 and counts["lost_twice"] > 0, counts)
    check(sums[1] < sums[0], "timeouts in the warm-up count", sums)


def test_dart_counts(work):
    """The table and the results have Dart's part of the traffic, for dart only."""
    folder = os.path.join(work, "dart")
    text = oche(scenario("pauses"), "--out", folder, "--compare", "congestion_control=dart,dcqcn")
    rows = {}
    updates, acks, groups = ("Dart: updates of the share sent", "Dart: ACKs with a share",
                             "Dart: groups of senders announced")
    for name in (updates, acks, groups):
        rows[name] = re.search(rf"^{name} +([\d,]+) +–$", text, re.M)
        check(rows[name] is not None, name, "in", text)
    check("other packets of congestion control" not in text, "updates are shown twice")
    if None in rows.values():
        return
    shown = {name: int(row.group(1).replace(",", "")) for name, row in rows.items()}
    with database(folder, "dart") as db:
        check(shown[acks] == counter(db, "dart_share_acks") ==
              counter(db, "nic_acks_sent") + counter(db, "nic_naks_sent") > 0, shown)
        check(shown[updates] == counter(db, "nic_cc_packets_sent") > 0, shown)
        check(shown[groups] == counter(db, "dart_groups") > 0, shown)
        check(counter(db, "dart_groups_not_come") >= 0, "not come")
        check(counter(db, "dart_groups_void") == 0, "void")
    with database(folder, "dcqcn") as db:
        check(one(db, "SELECT count(*) FROM counters WHERE name LIKE 'dart_%'") == 0, "of dcqcn")


def test_rogue_over_time(work):
    """Windows, round trips, limits and shadow switches of RoGUE's connections are in the results: a
    connection's series begin when it does, its limit is the rate, and goes by steps to window over
    base RTT; tests/unit/sim/test_rogue_series.c compares with the libraries."""
    path = os.path.join(work, "rogue.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("name: rogue\nduration: 20ms\nstop_when_done: false\n"
                   "topology: {type: star, hosts: 4, host_rate: 10Gbps}\n"
                   "switch: {pfc: false}\nhost: {ack_timeout: 200us}\n"
                   "congestion_control: {name: rogue, hardware_retries: 0, hold_off_bytes: 0}\n"
                   "workload: {type: transfers, pairs: \"1>0, 2>0, 3>0\", bytes: 20MB, messages: 1,"
                   " stagger: 3ms}\nloss: {probability: 0.004}\n"
                   "measure: {interval: 1ms, rates: true}\n")
    folder = os.path.join(work, "rogue")
    text = oche(path, "--out", folder, "--csv")
    with database(folder) as db:
        query = ("SELECT time_ps / 1e9, value FROM series JOIN series_names ON id = series "
                 "WHERE name = ? AND entity = ? ORDER BY time_ps")

        def points(name, number):
            return dict(db.execute(query, (name, f"connection {number}")).fetchall())

        near = 0
        for i in range(3):
            window, limit = points("window", i), points("limit", i)
            rtt, base, rate = points("rtt", i), points("base_rtt", i), points("rate", i)
            check(min(window) == 3 * i + 1 and len(window) == 20 - 3 * i, "window", i, window)
            check(window.keys() == limit.keys() == rtt.keys() == base.keys(), "times", i)
            check(all(rate[at] == limit[at] for at in limit), "limit", i, limit, rate)
            check(all(0 < base[at] <= rtt[at] < 1e-3 for at in rtt), "RTTs", i, rtt, base)
            near += sum(abs(min(window[at] * 8 / base[at], 10e9) / limit[at] - 1) < 1e-3
                        for at in limit)
        check(near > 40, "only", near, "of 51 limits are window over base RTT, or the line's rate")
        switches = db.execute("SELECT sum(value), count(DISTINCT entity) FROM series JOIN "
                              "series_names ON id = series WHERE name = 'switches'").fetchone()
        counted = one(db, "SELECT value FROM metrics WHERE name = 'rogue.switches'")
        check(switches == (counted, 3) and counted > 0, "switches", switches, counted, text)
        units = db.execute("SELECT DISTINCT name, unit FROM series_names WHERE entity LIKE "
                           "'connection %' ORDER BY name").fetchall()
        check(units == [("base_rtt", "s"), ("limit", "bps"), ("rate", "bps"), ("rtt", "s"),
                        ("switches", "count"), ("window", "bytes")], "units", units)
    with open(os.path.join(folder, "series.csv"), encoding="utf-8") as file:
        rows = [line for line in file if line.startswith("window,connection 2,bytes,")]
    check(len(rows) == 14, "series.csv", rows)


def test_csv(work):
    folder = os.path.join(work, "csv")
    oche(scenario("pauses"), "--out", folder, "--csv", "--quiet")
    with database(folder) as db:
        for table in ("flows", "series", "counters", "metrics"):
            with open(os.path.join(folder, table + ".csv"), encoding="utf-8") as file:
                rows = list(csv.reader(file))
            check(len(rows) - 1 == one(db, f"SELECT count(*) FROM {table}"), table, len(rows))
        with open(os.path.join(folder, "flows.csv"), encoding="utf-8") as file:
            size = sum(int(row["bytes"]) for row in csv.DictReader(file))
        check(size == one(db, "SELECT sum(bytes) FROM flows"), "bytes", size)
    check(sorted(os.listdir(folder)) == ["counters.csv", "flows.csv", "metrics.csv", "run.sqlite",
                                         "series.csv"],
          os.listdir(folder))


def test_json(work):
    """--json prints what is in the results files, and nothing else."""
    folder = os.path.join(work, "json")
    document = json.loads(oche(scenario("pauses"), "--out", folder, "--json"))
    check(list(document) == ["runs"] and len(document["runs"]) == 1, "runs", list(document))
    run = document["runs"][0]
    with database(folder) as db:
        for table, member in (("info", "info"), ("metrics", "metrics")):
            check(dict(db.execute(f"SELECT * FROM {table}")) == run[member], member)
        check(dict(db.execute("SELECT name, unit FROM metric_names")) == run["units"], "units")
        check({key: [value["value"], value["unit"], value["given"]]
               for key, value in run["parameters"].items()} ==
              {row[0]: [row[1], row[2], row[3] == 1]
               for row in db.execute("SELECT * FROM parameters")}, "parameters")
    check(run["results"] == os.path.join(folder, "run.sqlite") and run["kind"] == "run", run)
    with open(scenario("pauses"), encoding="utf-8") as file:
        check(run["info"]["scenario_text"] == file.read(), "the scenario's text")
    both = json.loads(oche(scenario("pauses"), "--out", folder, "--json", "--compare",
                           "switch.pfc=true,false"))
    check([run["info"]["label"] for run in both["runs"]] == ["true", "false"], "labels")


def test_wide_compare(work):
    """A table fits in 120 columns: further runs are in another table below it, and long names
    below all tables."""
    long = "{name: dcqcn, mode: nic}"
    text = oche(scenario("pauses"), "--out", os.path.join(work, "wide"), "--compare",
                f"congestion_control=none,dcqcn,timely,dart,{long}")
    tables = re.findall(r"^congestion_control .*\n(?:.+\n)+", text, re.M)
    check(len(tables) == 2, "two tables", text)
    lines = [line for table in tables for line in table.splitlines() if line[:1] not in "[#"]
    check(max(map(len, lines)) <= 120, max(lines, key=len))
    heads = [table.splitlines()[0].split()[1:] for table in tables]
    check(heads == [["PFC", "alone", "dcqcn", "timely"], ["dart", "#5"]], heads)
    check(f"\n#5: {long}\n" in text, text)
    check(len(re.findall("^trace hash", text, re.M)) == 2, text)
    four = oche(scenario("pauses"), "--out", os.path.join(work, "wide"), "--compare",
                "congestion_control=none,dcqcn,timely,dart")
    check(len(re.findall("^trace hash", four, re.M)) == 1, four)
    alone = run_program(OCHE, "run", scenario("pauses"), "--by-size")
    check(alone.returncode == 2 and "--by-size is of --compare" in alone.stderr, alone.stderr)


def test_compare(work):
    folder = os.path.join(work, "compare")
    values = ["none", "{name: dcqcn, mode: nic}", "dcqcn"]
    text = oche(scenario("pauses"), "--compare", "congestion_control=" + ",".join(values),
                "--out", folder)
    check(sorted(os.listdir(folder)) == ["_name__dcqcn__mode__nic_", "dcqcn", "none"],
          os.listdir(folder))
    check(re.search(r"^congestion_control +PFC alone +\{name: dcqcn, mode: nic\} +dcqcn$", text,
                    re.M), text)
    line = re.search(r"^trace hash +(\w+) +(\w+) +(\w+)$", text, re.M)
    for value, found in zip(("none", "_name__dcqcn__mode__nic_", "dcqcn"), line.groups()):
        with database(folder, value) as db:
            check(one(db, "SELECT value FROM info WHERE key = 'trace_hash'") == found, value)
            check(one(db, "SELECT value FROM info WHERE key = 'seed'") == "1", value)
    check(len(set(line.groups())) == 3, "variants with the same hash", line.groups())
    # A column is what the run alone would say.
    alone = oche(scenario("pauses"), "--out", os.path.join(work, "alone"))
    check(line.group(3) in alone, "dcqcn alone has another hash")
    # Sentences are made from the numbers: which ports pause, and how often.
    pauses = [int(n.replace(",", "")) for n in
              re.search(r"^PAUSE frames sent +([\d,]+) +([\d,]+) +([\d,]+)$", text, re.M).groups()]
    most, least = max(pauses), min(pauses)
    check(0 < least < most, pauses)
    names = ["PFC alone", values[1], "dcqcn"]
    base, other = pauses[0], max(pauses, key=lambda n: abs(math.log(n / pauses[0])))
    check(re.search(rf"{re.escape(names[pauses.index(other)])} sends {other:,} PAUSE frames, \S+ "
                    rf"times as many as the base, PFC alone \({base:,}\)", text), text)
    same = oche(scenario("pauses"), "--compare", "description=a,b", "--out", folder)
    check("The runs send about as many PAUSE frames" in same, same)
    quiet = oche(scenario("losses"), "--set", "loss={}", "--set", "switch.pfc=true", "--set",
                 "switch.buffer=12MB", "--compare", "host.ack_every=1,4", "--out", folder)
    check("No run sends a PAUSE frame." in quiet, quiet)


def test_links_between_tors(work):
    """Without tiers they have one name in all tables, unless the runs have different topologies."""
    path = os.path.join(work, "level.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("topology: {type: dumbbell, left_hosts: 2, right_hosts: 2}\n"
                   "workload: {type: permutation, bytes: 100KB}\n")
    folder = os.path.join(work, "level")
    for words, up in (([], False), (["--compare", "seed=1,2"], False),
                      (["--compare", "topology={type: dumbbell},{type: leaf_spine}"], True)):
        text = oche(path, *words, "--out", folder)
        level, found = (len(re.findall(rf"^ *{name}  ", text, re.M))
                        for name in ("switch to switch", "ToR to up"))
        check((found > 0) == up and (up or level > 1), words, text)


def test_remark(work):
    """TIMELY's thresholds count the whole round trip. If it is longer than they are, without a
    queue, a note says so. A star of three, links of 40 Gbit/s and 20 us: 80 us and 0.26 us more,
    for the packet at the switch and the ACK on both links."""
    folder = os.path.join(work, "remark")
    options = [scenario("pauses"), "--set", "warmup=0", "--set", "congestion_control=timely",
               "--set", "topology={type: star, hosts: 3, host_rate: 40Gbps, delay: 20us}", "--set",
               "workload={type: incast, degree: 2, bytes: 10KB}", "--set", "measure={}", "--set",
               "switch={}", "--out", folder]
    said = ("where nothing waits, a round trip takes up to 80.3us: not less than t_low, so that "
            "rates")
    text = oche(*options)
    check(f"\ntimely: {said} go by the gradient alone.\n" in text, text)
    with database(folder) as db:
        check(one(db, "SELECT value FROM info WHERE key = 'congestion_control_remark'") ==
              said + " go by the gradient alone", "remark in the results")
    text = oche(*options, "--compare", "congestion_control=dcqcn,timely_patched")
    check(f"\n[1] timely_patched: {said} fall although nothing waits.\n" in text and
          text.count("where nothing waits") == 1, text)
    text = oche(*options, "--set", "congestion_control.t_low=81us")
    check("nothing waits" not in text, text)
    text = oche(*options, "--set", "congestion_control=dctcp")
    check("\ndctcp: switches mark by a slope from kmin to kmax; it is made for a step: set "
          "congestion_control.k, such as 97KB at 10 Gbit/s.\n" in text, text)
    text = oche(*options, "--set", "congestion_control={name: dctcp, k: 97KB}")
    check("by a slope" not in text, text)


def test_flows_without_a_time(work):
    """A note counts the flows that are missing in the table of times, one or several."""
    path = os.path.join(work, "few.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("name: few\nduration: 1ms\ntopology: {type: star, hosts: 3, host_rate: 10Gbps}\n"
                   "workload: {type: transfers, pairs: \"0>2\", bytes: 10MB, messages: 1}\n")
    for options, words in (
            ([], "1 flow was not finished at the end; its time is not in the table. " + LONGER),
            (["--set", "workload[0].pairs=0>2, 1>2"],
             "2 flows were not finished at the end; their times are not in the table. " + LONGER),
            (["--set", "warmup=10us"], "1 flow began during warm-up and is left out."),
            (["--set", "workload[0].pairs=0>2, 1>2", "--set", "warmup=10us"],
             "2 flows began during warm-up and are left out.")):
        text = oche(path, "--out", os.path.join(work, "few"), *options)
        check(f"\n{words}\n" in text, options, "lacks", words, text)


def test_ignored(work):
    """Parameters of queue pairs are reported as ignored only where hosts have no queue pairs."""
    folder = os.path.join(work, "ignored")
    options = [scenario("pauses"), "--set", "warmup=0", "--set", "topology={type: star, hosts: 3}",
               "--set", "measure={}", "--set", "switch={}", "--out", folder]
    plain = ["--set", "host={}", "--set", "workload={type: incast, degree: 2, bytes: 10KB}"]
    given = ["--set", "host={mtu: 512B, retry_count: 7, ipv6: true, dma_latency: 1us}", "--set",
             "workload={type: incast, degree: 2, bytes: 10KB, initial_rate: 1Gbps}"]
    said = "hosts have no queue pairs, so nothing comes of "
    keys = "workload.initial_rate, host.mtu, host.retry_count, host.dma_latency"
    text = oche(*options, *given, "--set", "congestion_control=expresspass")
    check(f"\nexpresspass: {said}{keys}.\n" in text, text)
    with database(folder) as db:
        check(one(db, "SELECT value FROM info WHERE key = 'ignored'") == said + keys, "ignored")
    for name in ("expresspass", "tcp", "dcqcn"):
        text = oche(*options, *plain, "--set", "congestion_control=" + name)
        check(said not in text, text)
    text = oche(*options, *given, "--compare", "congestion_control=dcqcn,tcp")
    check(text.count(said) == 1 and f"\n[1] tcp: {said}{keys}.\n" in text, text)
    text = oche(*options, *given, "--set", "congestion_control=rogue")
    said = "the library above queue pairs decides, so nothing comes of "
    check(f"\nrogue: {said}workload.initial_rate.\n" in text, text)
    for name in ("rogue", "tcp", "dcqcn"):
        text = oche(*options, *plain, "--set", "congestion_control=" + name, "--set",
                    "recovery=selective_repeat")
        check(("so nothing comes of recovery.\n" in text) == (name == "tcp"), text)
        check(("recovery selective_repeat, seed" in text) == (name != "tcp"), text)


def test_idle_keys(work):
    """Given keys without effect are named before the tables, in the results and before a run. Runs
    that are the same are named below a comparison, and in JSON."""
    folder = os.path.join(work, "idle")
    options = [scenario("pauses"), "--set", "warmup=0", "--set", "topology={type: star, hosts: 3}",
               "--set", "measure={}", "--set", "switch={pfc: false, xon_offset: 1KB}", "--set",
               "workload={type: incast, degree: 2, bytes: 10KB}"]
    said = "switch.xon_offset has no effect here: switch.pfc is false"
    text = oche(*options, "--out", folder)
    check(f"\n{said}.\n" in text, text)
    with database(folder) as db:
        check(one(db, "SELECT value FROM info WHERE key = 'idle_key_1'") == said, "idle_key_1")
    text = oche(*options, "--show-defaults")
    check(text.endswith(f"\n\n{said}.\n"), text)
    varied = [*options, "--compare", "switch.xon_offset=1KB,2KB,3KB", "--out", folder]
    text = oche(*varied)
    check(f"[1] every run: {said}.\n" in text, text)
    check("\nswitch.xon_offset=1KB, switch.xon_offset=2KB and switch.xon_offset=3KB gave the same "
          "run, packet for packet: switch.xon_offset made no difference here.\n" in text, text)
    check(json.loads(oche(*varied, "--json"))["same_runs"] == [["1KB", "2KB", "3KB"]], "same_runs")
    # With PFC the key has an effect: it is given for that run, and nothing is said.
    text = oche(*options, "--compare", "switch.pfc=true,false", "--out", folder)
    check("has no effect" not in text, text)


def test_rogue_retry_count(work):
    """The application's retry count bounds RoGUE's changes of queue pair, and nothing says that it
    were in vain."""
    options = [scenario("pauses"), "--set", "warmup=0", "--set", "topology={type: star, hosts: 2}",
               "--set", "measure={}", "--set", "switch={pfc: false}", "--set", "duration=300ms",
               "--set", "workload={type: transfers, pairs: 1>0, messages: 1}",
               "--set", "loss={probability: 0.3}", "--set", "congestion_control=rogue"]

    def switches(retries):
        folder = os.path.join(work, f"retries{retries}")
        text = oche(*options, "--set", f"host={{ack_timeout: 1ms, retry_count: {retries}}}",
                    "--out", folder)
        check("nothing comes of" not in text, text)
        with database(folder) as db:
            check(one(db, "SELECT status FROM flows") == "failed: retries exceeded", text)
            return one(db, "SELECT value FROM metrics WHERE name = 'rogue.switches'")

    counted = switches(0), switches(7)
    check(counted[0] < counted[1], counted)


def test_idle_under_rogue(work):
    """RoGUE names keys that have no effect with its parameters; these change no hash. Other keys
    are not named."""
    path = os.path.join(work, "idle.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("name: idle\nduration: 10ms\ntopology: {type: star, hosts: 6, host_rate: "
                   "10Gbps}\nswitch: {pfc: false, buffer: 300KB}\n"
                   "workload: {type: incast, degree: 4, bytes: 200KB, period: 4ms}\n"
                   "loss: {probability: 2%}\n")
    keys = {"ack_every": "7", "ack_priority": "false", "window": "5", "ack_timeout": "300us",
            "resend_one_verb_at_a_time": "true", "timeouts": "connectx",
            "timer_restart": "packet", "retry_count": "0"}

    def run(scheme, *options):
        text = oche(path, "--out", os.path.join(work, "idle"), "--set",
                    f"congestion_control={{name: rogue, {scheme}}}", *options)
        said = re.search(r"^rogue: (.*nothing comes .*)\.$", text, re.M)
        return (re.search(r"^trace hash *(\w+)$", text, re.M).group(1),
                said.group(1) if said else None)

    cases = (("transport: uc", set(keys)), ("shadow: false", {"retry_count"}), ("alpha: 2", set()))
    for scheme, idle in cases:
        plain, said = run(scheme)
        check(said is None, scheme, said)
        for key, value in keys.items():
            trace, said = run(scheme, "--set", f"host.{key}={value}")
            wanted = f"with {scheme} nothing comes of host.{key}" if key in idle else None
            check(said == wanted, scheme, key, said)
            check(key not in idle or trace == plain, scheme, key, "changes the hash")
    all_of_them = [option for key in keys for option in ("--set", f"host.{key}={keys[key]}")]
    text = run("transport: uc", "--set", "workload[0].initial_rate=1Gbps", "--set",
               "recovery=selective_repeat", *all_of_them)[1]
    check(text == "the library above queue pairs decides, so nothing comes of "
          "workload.initial_rate; with transport: uc nothing comes of recovery, " +
          ", ".join("host." + key for key in keys), text)


def test_posted_under_rogue(work):
    """If a port cannot hold the segments that RoGUE's senders keep posted, a note says so, but only
    where that drops packets."""
    path = os.path.join(SOURCE, "scenarios", "rogue.yaml")
    said = ("whatever their windows, 12 flows at a time may keep 3.15MB under way "
            "(congestion_control.least_batches segments of each) through leaf0:host0, which holds "
            "at most {} and drops packets")

    def run(*sets):
        text = oche(path, "--out", os.path.join(work, "posted"), "--all", "--set", "duration=5ms",
                    *(word for one in sets for word in ("--set", one)))
        drops = re.search(r"^dropped by switches, buffer full *([0-9,]+)$", text, re.M).group(1)
        with database(work, "posted") as db:
            told = one(db, "SELECT max(value) FROM info WHERE key = "
                       "'congestion_control_remark'")
        check((f"\nrogue: {told}.\n" in text) == (told is not None), sets, text)
        return told, int(drops.replace(",", "")) > 0

    check(run() == (said.format("2MB"), True), "posted")
    check(run("switch.port_buffer=1MB") == (said.format("1MB"), True), "posted: port_buffer")
    for fits in ("congestion_control.verb=read", "congestion_control.segment_bytes=64KiB",
                 "congestion_control.least_batches=1", "switch.buffer=8MB", "switch.pfc=true",
                 "workload[0].bytes=100KB"):
        check(run(fits) == (None, False), "posted:", fits)
    # Dropped for other reasons: a first window of 4 MB each, and another scheme.
    for other in ("{name: rogue, segment_bytes: 16KiB, initial_packets: 4000}", "none"):
        check(run("congestion_control=" + other) == (None, True), "posted:", other)


def test_headroom(work):
    """A note reports too little headroom, and packets are lost then. A host that obeys a PAUSE late
    is no reason for it, as the switch keeps headroom for that."""
    folder = os.path.join(work, "headroom")
    given = [os.path.join(SOURCE, "scenarios", "headroom.yaml"), "--out", folder, "--set",
             "duration=2ms"]
    lost = r"^dropped by switches, buffer full +([1-9][0-9,]*)$"
    said = ("packets may be lost in spite of PFC: tor0:host0 has 1,000 B of headroom, and its link "
            "needs 33,538 B")
    text = oche(*given, "--set", "switch.headroom=1KB")
    check(f"\nswitch: {said}.\n" in text and re.search(lost, text, re.M), text)
    with database(folder) as db:
        check(one(db, "SELECT value FROM info WHERE key = 'headroom_remark'") == said, "info")
    for sets in ([], ["--set", "host.pfc_response=5us"], ["--set", "switch.pfc_response=0"],
                 ["--set", "switch.pfc=false", "--set", "switch.headroom=1KB"]):
        text = oche(*given, *sets)
        check("in spite of PFC" not in text, sets, text)
        check("switch.pfc=false" in sets or not re.search(lost, text, re.M), sets, text)
    text = oche(*given, "--compare", "switch.headroom_scale=1,0.5")
    check("\n[1] switch.headroom_scale=0.5: packets may be lost in spite of PFC: tor0:host0 has "
          "16,769 B of headroom, and its link needs 33,538 B.\n" in text and
          text.count("in spite of") == 1, text)


def test_capture(work):
    capture = os.path.join(work, "x.pcap")
    folder = os.path.join(work, "capture")
    oche(scenario("losses"), "--pcap", capture + ":host3,5,host3", "--out", folder, "--quiet")
    with database(folder) as db:
        sent = sum(counter(db, name, host) for host in ("host3", "host5") for name in
                   ("data_packets_sent", "acks_sent"))
    wire = subprocess.run([OCHE, "wire", "--quiet", capture], stdout=subprocess.PIPE, text=True,
                          check=False)
    check(wire.returncode == 0, "oche wire", wire.stdout[-2000:])
    frames = int(re.search(r"^frames +(\d+)$", wire.stdout, re.M).group(1))
    check(frames > sent > 1000, "frames", frames, "sent by the two", sent)
    if shutil.which("tshark"):
        bad = subprocess.run(["tshark", "-r", capture, "-o", "udp.check_checksum:TRUE", "-Y",
                              "_ws.malformed || _ws.expert.severity==error"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             check=True).stdout
        check(bad == "", "tshark:", bad[:2000])
        dissected = subprocess.run(["tshark", "-r", capture, "-Y", "infiniband"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   check=True).stdout.count("\n")
        check(dissected == frames, "tshark dissects", dissected, "of", frames)
    few = os.path.join(work, "few.pcap")
    oche(scenario("pairs"), "--set", "duration=400us", "--pcap", few, "--out", folder, "--quiet")
    check(os.path.getsize(few) > 10000, "all hosts of a small topology")
    check(not any(name.endswith(".part") for name in os.listdir(work)), os.listdir(work))


def test_quiet_and_progress(work):
    folder = os.path.join(work, "quiet")
    check(oche(scenario("pairs"), "--out", folder, "--quiet") == "", "--quiet prints")
    # On a terminal: a line that rewrites itself, and is gone before anything else comes.
    def on_a_terminal(*options, seconds):
        """Returns the output until the run is over, or is interrupted after `seconds`."""
        seen, main, terminal = b"", *pty.openpty()
        with subprocess.Popen([OCHE, "run", scenario("losses"), "--out", folder, "--set",
                               "workload[0].messages=9000", "--set", "duration=600ms", *options],
                              stdout=subprocess.DEVNULL, stderr=terminal) as running:
            os.close(terminal)
            ends = time.monotonic() + seconds
            try:
                while True: # until no process uses the terminal any more
                    if select.select([main], [], [], 0.05)[0]:
                        seen += os.read(main, 4096)
                    if time.monotonic() > ends or seen.count(b" left") >= 3:
                        running.send_signal(signal.SIGINT)
                        while select.select([main], [], [], 60)[0]:
                            seen += os.read(main, 4096)
            except OSError:
                pass
        os.close(main)
        return seen.decode()
    line = on_a_terminal(seconds=60)
    drawn = re.findall(r"\r\x1b\[K(\d+) %, ([\d.]+)ms of 600ms, \d+ flows done, [\d.]+ M "
                       r"packet-hops/s, at most \d+ (?:s|min) left", line)
    check(len(drawn) == 3 and all(abs(int(part) - float(ms) / 6) <= 1 for part, ms in drawn),
          "progress:", repr(line))
    check(re.search(r" left\r\x1b\[Kinterrupted at [^\r]*\r\n$", line), "it stays:", repr(line))
    check(" left" not in on_a_terminal("--quiet", seconds=2), "--quiet shows progress")
    check(on_a_terminal("--set", "duration=1ms", seconds=60) == "", "progress of a short run")


def test_help():
    """--help names every file of --csv and every exit status, as the manual does."""
    text = " ".join(oche("--help").split())
    csv_help = re.search(r"--csv (.*?) -", text).group(1)
    for name in ("metrics.csv", "flows.csv", "series.csv", "counters.csv"):
        check(name in csv_help, "--csv's help lacks", name, "in", csv_help)
    with open(os.path.join(SOURCE, "docs", "oche-run.1"), encoding="utf-8") as page:
        manual = page.read().split(".SH EXIT STATUS")[1].split(".SH")[0]
    told = re.findall(r"[:;] (\d+) ", text.split("Exit status")[1])
    statuses = re.findall(r"^\.TP\n(\d+)$", manual, re.M)
    check(told == statuses == ["0", "1", "2", "3", "4", "5", "130"], told, statuses)


def test_show_defaults():
    schema = oche("--show-defaults")
    for words in ("At the root: the run", "topology: hosts, switches and links", "type: clos",
                  "name: dcqcn  (default)", "kmin", "[dcqcn.md#parameters]"):
        check(words in schema, "--show-defaults lacks", words)
    for sets, key in (("switch.kmin=1GB", "switch.kmin"),  # it makes no world
                      ("warmup=1s", "warmup")):  # its sections do not fit together
        done = run_program(OCHE, "run", "--show-defaults", scenario("pairs"), "--set", sets)
        check(done.returncode == 2 and done.stderr.count("\n") == 1 and sets in done.stderr and
              re.search(rf"^{key} .* given$", done.stdout, re.M) and
              re.search(r"^host.mtu ", done.stdout, re.M), "refused, but shown:", done)
    values = oche("--show-defaults", scenario("pairs"), "--set", "switch.kmax=30KB")
    for key, value, given in (("switch.kmax", "30KB", True), ("switch.beta", "8", False),
                              ("congestion_control.name", "dcqcn", True),
                              ("congestion_control.mode", "nic", True),
                              ("workload[0].pairs", "4", True), ("duration", "4ms", True)):
        line = re.search(rf"^{re.escape(key)} .*$", values, re.M)
        check(line is not None and line.group(0).split()[1] == value and
              line.group(0).endswith("given") == given, key, line)


def test_pauses_add_up(work):
    """The forest of PAUSEs has them all, and every picosecond that a port was held."""
    oche(scenario("pauses"), "--quiet", "--out", os.path.join(work, "tree"),
         "--set", "congestion_control=none", "--set", "stop_when_done=false",
         "--set", "duration=20ms", "--set", "measure.interval=0")
    with database(work, "tree") as db:
        roots, branches = (db.execute(
            f"SELECT sum(pauses), sum(held_ps) FROM pause_tree WHERE parent IS {what}").fetchone()
            for what in ("NULL", "NOT NULL"))
        check(roots == branches and roots[0] > 1000, "pause_tree", roots, branches)
        check(roots[0] == counter(db, "pauses_sent"), "PAUSEs", roots[0])
        held = one(db, "SELECT sum(value) FROM counters WHERE name LIKE 'paused_time__'")
        check(roots[1] == held, "held", roots[1], held)
        check(one(db, "SELECT count(*) FROM pause_tree AS below JOIN pause_tree AS above "
                      "ON below.parent = above.id WHERE below.depth != above.depth + 1") == 0,
              "depths")
        check(one(db, "SELECT count(*) FROM flows WHERE lost_ps > held_ps OR "
                      "(lost_ps > 0) != (root IS NOT NULL)") == 0, "flows")


def test_deadlock(work):
    """Status 3, one line on standard error, and results with the circle; in little time."""
    folders = [os.path.join(work, name) for name in ("deadlock1", "deadlock2")]
    path = os.path.join(SOURCE, "scenarios", "deadlock.yaml")
    for folder, threads in zip(folders, "12"):
        done = run_program(OCHE, "run", path, "--threads", threads, "--out", folder)
        check(done.returncode == 3, "deadlock: status", done.returncode)
        check(re.fullmatch(r"deadlock since \S+, noticed at \S+: leaf2:spine1 → spine1:leaf3 → "
                           r"leaf3:spine0 → spine0:leaf2 → leaf2:spine1, class 0; each port waits "
                           r"for the next; [^\n]*\n", done.stderr), "deadlock says", done.stderr)
        check("DEADLOCK since " in done.stdout and "cyclic buffer dependency: leaf2:spine1 → " in
              done.stdout, "deadlock: tables", done.stdout)
        with database(folder) as db:
            # 0.1 s on an idle machine; sanitizers and others that use it may take their time.
            wall = float(one(db, "SELECT value FROM info WHERE key = 'wall_s'"))
            check(wall < 5, "deadlock: noticed after", wall, "s")
            since, noticed = (int(one(db, "SELECT value FROM info WHERE key = ?", key))
                              for key in ("deadlock_since_ps", "deadlock_noticed_ps"))
            check(0 < noticed - since < 10**9, "deadlock: noticed late", since, noticed)
            check(one(db, "SELECT value FROM info WHERE key = 'status'") == "deadlock", "status")
            check([row[0] for row in db.execute("SELECT port FROM deadlock ORDER BY position")] ==
                  ["leaf2:spine1", "spine1:leaf3", "leaf3:spine0", "spine0:leaf2"], "circle")
            check(one(db, "SELECT count(*) FROM flows WHERE status = 'unfinished'") == 4, "flows")
    check(dump(folders[0]) == dump(folders[1]), "deadlock: threads differ")
    out = run_program(OCHE, "run", path, "--out", os.path.join(work, "both"), "--compare",
                      "switch.pfc=true,false", "--set", "duration=10ms")
    check(out.returncode == 3 and
          re.fullmatch(r"switch\.pfc=true: deadlock since [^\n]*\n", out.stderr),
          "deadlock in a comparison", out.returncode, out.stderr)
    with database(work, "both", "false") as db:
        check(one(db, "SELECT value FROM info WHERE key = 'status'") == "done", "without PFC")
    oche(path, "--quiet", "--out", os.path.join(work, "short"), "--set", "routes.file=",
         "--set", "duration=1ms")


def test_deflection(work):
    """The ways of flows, each deflection, and the counters agree, whatever the threads."""
    path = os.path.join(SOURCE, "scenarios", "deflection.yaml")
    short = ["--set", "duration=2ms", "--set", "warmup=0"]
    folders = [os.path.join(work, name) for name in ("deflect1", "deflect2", "deflect3")]
    out = oche(path, *short, "--out", folders[0])
    oche(path, *short, "--out", folders[1], "--threads", "2", "--quiet")
    oche(path, *short, "--out", folders[2], "--set", "bytes=true", "--quiet")
    check(dump(folders[0]) == dump(folders[1]), "deflection: threads differ")
    with database(folders[0]) as db, database(folders[2]) as other:
        tables = "SELECT * FROM deflections", "SELECT * FROM ways"
        check(all(db.execute(t).fetchall() == other.execute(t).fetchall() for t in tables),
              "deflection: packets as bytes differ")
        count = one(db, "SELECT count(*) FROM deflections")
        check(count > 100 and count == one(db, "SELECT value FROM counters WHERE entity = 'all' "
                                           "AND name = 'iofd.deflections'"), "deflections", count)
        check(re.search(rf"^deflections +{count:,}$", out, flags=re.M), "deflections in the table")
        check(one(db, "SELECT count(*) FROM ways WHERE links < shortest OR "
                      "(deflections = 0 AND links != shortest)") == 0, "links without deflection")
        check(one(db, "SELECT count(*) FROM ways WHERE links > shortest") > 50, "longer ways")
        # Without resends, a flow has as many deflections as its packets took.
        check(one(db, "SELECT sum(retransmitted) FROM flows") == 0, "retransmissions")
        check(one(db, "SELECT count(*) FROM ways JOIN flows ON flow = flows.id WHERE status = "
                      "'completed' AND deflections != (SELECT count(*) FROM deflections AS each "
                      "WHERE each.flow = ways.flow)") == 0, "flows and their deflections")
        # In the order of time the tokens go down one by one, and no lane goes down.
        check(one(db, "SELECT count(*) FROM (SELECT tokens, row_number() OVER way AS number, lane, "
                      "lag(lane, 1, 0) OVER way AS before FROM deflections WINDOW way AS "
                      "(PARTITION BY flow ORDER BY time_ps)) WHERE tokens != 4 - number OR lane < "
                      "before") == 0, "tokens and lanes")
        check(one(db, "SELECT count(*) FROM deflections JOIN nodes ON node = nodes.id WHERE "
                      "in_port = port OR port LIKE '%:host%' OR port NOT LIKE name || ':%' OR "
                      "in_port NOT LIKE name || ':%'") == 0, "ports")
        check(one(db, "SELECT count(*) FROM deflections WHERE flow IS NULL") == 0, "flows")
        # The results explain metrics: each counter of the mechanism has its own help.
        helps = [row[0] for row in db.execute("SELECT help FROM metric_names WHERE name LIKE "
                                              "'iofd.%'")]
        check("messages that a switch sent another way" in helps and len(set(helps)) == len(helps),
              "iofd.*", helps)
        check(one(db, "SELECT count(*) FROM metric_names WHERE help LIKE '%: see %'") == 0,
              "help of metrics that is elsewhere")
    plain = oche(path, *short, "--set", "switch.mechanisms=none", "--out", folders[1])
    check("deflect" not in re.sub(r"^.*deflect1?.*(yaml|sqlite)$", "", plain.split("\n\n", 1)[1],
                                  flags=re.M), "a table of deflections without any")
    with database(folders[1]) as db:
        check(one(db, "SELECT (SELECT count(*) FROM deflections) + (SELECT count(*) FROM ways)")
              == 0, "rows without deflection")


def test_units_of_mechanisms(work):
    """If a mechanism's counter counts bytes, its name says so."""
    oche(scenario("credits"), "--out", os.path.join(work, "credits"), "--quiet")
    with database(work, "credits") as db:
        units = dict(db.execute("SELECT name, unit FROM metric_names WHERE name LIKE "
                                "'ib_credits.%'"))
        check(units == {"ib_credits.fcps": "count", "ib_credits.waits": "count",
                        "ib_credits.peak": "bytes"}, "units", units)


def test_other_files_stay(work):
    """A file with the name of the results is replaced only if it contains results."""
    folder = os.path.join(work, "other")
    path = os.path.join(folder, "run.sqlite")
    os.makedirs(folder)
    with open(path, "w", encoding="utf-8") as file:
        file.write("my notes")
    for where, options in ((folder, []), (work, ["--compare", "seed=1,2"])):
        if options:
            os.rename(folder, os.path.join(work, "2"))
        done = run_program(OCHE, "run", scenario("pairs"), "--quiet", "--out", where, *options)
        there = os.path.join(work, "2", "run.sqlite") if options else path
        check(done.returncode == 2 and done.stderr ==
              f"{there}: not a results file; remove it, or give another --out\n", done.stderr)
        with open(there, encoding="utf-8") as file:
            check(file.read() == "my notes", "the file has changed")
        check(len(os.listdir(os.path.dirname(there))) == 1, os.listdir(os.path.dirname(there)))
    os.remove(there)
    for _ in range(2):
        oche(scenario("pairs"), "--quiet", "--out", folder)


def test_nothing_is_left_behind(work):
    folder = os.path.join(work, "none", "of", "it")
    oche(scenario("pauses"), "--out", folder, "--set", "measure.queues=tor9:host0", status=2)
    check(not os.path.exists(os.path.join(work, "none")), "a folder was made for nothing")
    oche(scenario("pauses"), "--out", folder, "--compare", "switch.buffer=1500KB,1KB", status=2)
    check(not os.path.exists(os.path.join(work, "none")), "the first of two ran for nothing")
    # If the results cannot be renamed, the run fails, and its capture and partial files are
    # removed.
    os.makedirs(os.path.join(folder, "flows.csv"))
    capture = os.path.join(work, "left.pcap")
    oche(scenario("pairs"), "--out", folder, "--csv", "--pcap", capture + ":0", status=2)
    check(os.listdir(folder) == ["flows.csv"], os.listdir(folder))
    os.rename(os.path.join(folder, "flows.csv"), os.path.join(folder, "metrics.csv"))
    oche(scenario("pairs"), "--out", folder, "--csv", status=2)
    check(os.listdir(folder) == ["metrics.csv"], os.listdir(folder))
    check(not os.path.exists(capture) and not os.path.exists(capture + ".part"), "the capture")
    # Interrupted in the middle: the signal ends the program, and the partial capture is removed.
    for end in (signal.SIGHUP, signal.SIGTERM):
        interrupted = subprocess.Popen([OCHE, "run", scenario("pairs"), "--quiet", "--out",
                                        os.path.join(work, "cut"), "--set", "duration=90s",
                                        "--set", "stop_when_done=false", "--pcap",
                                        capture + ":0"], stderr=subprocess.DEVNULL,
                                       # As on a terminal, even if the tests run under nohup.
                                       preexec_fn=lambda: signal.signal(signal.SIGHUP,
                                                                        signal.SIG_DFL))
        while not os.path.exists(capture + ".part") and interrupted.poll() is None:
            time.sleep(0.01)
        interrupted.send_signal(end)
        try:
            interrupted.wait(timeout=20)
        except subprocess.TimeoutExpired:  # the file would fill the disk
            interrupted.kill()
        check(interrupted.wait() == -end, "interrupted by", end, interrupted.returncode)
        check(not os.path.exists(capture) and not os.path.exists(capture + ".part"), "after", end)


def main():
    os.chdir(SOURCE)
    with tempfile.TemporaryDirectory() as work:
        test_determinism(work)
        test_results(work)
        test_timeout_causes(work)
        test_dart_counts(work)
        test_csv(work)
        test_json(work)
        test_rogue_over_time(work)
        test_compare(work)
        test_wide_compare(work)
        test_links_between_tors(work)
        test_remark(work)
        test_flows_without_a_time(work)
        test_ignored(work)
        test_idle_keys(work)
        test_rogue_retry_count(work)
        test_idle_under_rogue(work)
        test_posted_under_rogue(work)
        test_headroom(work)
        test_capture(work)
        test_quiet_and_progress(work)
        test_pauses_add_up(work)
        test_deadlock(work)
        test_deflection(work)
        test_units_of_mechanisms(work)
        test_other_files_stay(work)
        test_nothing_is_left_behind(work)
    test_help()
    test_show_defaults()
    return report()


sys.exit(main())
