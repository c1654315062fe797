#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche report without a browser: the pages of runs, sweeps and figures, its errors, and that no
text of a results file becomes HTML. tests/script/report_page.mjs tests the page in a browser.

Environment: OCHE, SOURCE, BUILD.
"""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from checks import check, failures, run_program

OCHE, SOURCE, BUILD = os.environ["OCHE"], os.environ["SOURCE"], os.environ["BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
import report_fixture as fixture  # noqa: E402



def oche(*arguments, **environment):
    return run_program(OCHE, *arguments, env={**os.environ, **environment})


def refused(done, *says):
    check(done.returncode == 2 and done.stderr.count("\n") == 1, "status and one line", says,
          done.returncode, done.stderr)
    for text in says:
        check(text in done.stderr, "should say", text, "said", done.stderr)


def page_of(folder, *arguments):
    done = oche("report", folder, *arguments)
    check(done.returncode == 0 and done.stderr == "", "report", folder, done.returncode,
          done.stderr)
    path = done.stdout.split("\n", maxsplit=1)[0].removeprefix("report: ")
    with open(path, encoding="utf-8") as file:
        return file.read()


def data_of(page):
    """Returns the page's data. The text contains no '<', so it cannot end the HTML element."""
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1]
    check("<" not in text, "a '<' in the data")
    return json.loads(text)


def test_pages(work):
    fixture.everything(work)
    for name, kinds in (("runs", ["runs"]), ("sweep", ["sweep"]),
                        ("figures", ["figure", "figure", "figure"])):
        folder = os.path.join(work, name)
        page = page_of(folder)
        data = data_of(page)
        check([one["kind"] for one in data["documents"]] == kinds, name, "kinds")
        check(page.startswith("<!doctype html>"), name, "doctype")
        check("default-src 'none'" in page, name, "policy")
        check(not re.search(r'<(link|img|iframe|script[^>]+src)', page.split("<script>")[0]),
              name, "loads something")
        check(not [file for file in os.listdir(folder) if file.endswith(".part")], name, "left")
    runs = data_of(page_of(os.path.join(work, "runs")))["documents"][0]["runs"]
    check([run["info"]["label"] for run in runs] == ["dcqcn", "none"], "labels")
    with sqlite3.connect(os.path.join(work, "runs", "none", "run.sqlite")) as db:
        times = sorted(t for (t,) in db.execute(
            "SELECT delivered_ps - start_ps FROM flows WHERE measured AND status = 'completed'"))
    whole = runs[1]["flows"]["ranges"][-1]
    for at, p in enumerate((0.5, 0.9, 0.99, 0.999)):
        wanted = times[-(-int(p * 1000) * len(times) // 1000) - 1] / 1e12
        check(abs(whole["fct"][at] - wanted) < 1e-8 * wanted, "percentile", p, whole["fct"][at])
    check(whole["delivered"] == len(times), "delivered")
    out = os.path.join(work, "elsewhere.html")
    check(data_of(page_of(os.path.join(work, "sweep"), "--out", out))["documents"], "--out")
    # All of it, from the folder above.
    check(len(data_of(page_of(work))["documents"]) == 5, "the folder above")


def test_sizes_are_joined(work):
    """Fine ranges with few flows are joined, within a decade. Each result says how certain it
    is."""
    path = os.path.join(work, "sizes", "run.sqlite")
    fixture.run(path, 3000)
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM flows WHERE bytes BETWEEN 1000 AND 1000000 AND id % 20 > 0")
        last, = db.execute("SELECT max(start_ps) FROM flows").fetchone()
        all_flows = db.execute("SELECT bytes, slowdown FROM flows WHERE measured").fetchall()
    run = data_of(page_of(os.path.dirname(path)))["documents"][0]["runs"][0]
    flows = run["flows"]
    check(flows["from_s"] == 0.001, "from_s", flows["from_s"])
    check(abs(flows["last_start_s"] - last / 1e12) < 1e-9, "last_start_s", flows["last_start_s"])
    fine = flows["fine"]
    check(sum(one["started"] for one in fine) == len(all_flows), "all flows are in a range")
    for one, following in zip(fine, fine[1:]):
        check(one["to"] <= following["from"], "ranges overlap", one["to"], following["from"])
    check(any(one["to"] > 2.5 * max(one["from"], 100) for one in fine), "nothing was joined")
    for one in fine:
        check(one["to"] <= 10 * max(one["from"], 100), "more than a decade", one["from"], one["to"])
        low, high = one["slowdown_interval"][0]
        values = sorted(slow for size, slow in all_flows
                        if slow is not None and one["from"] <= size < one["to"])
        if len(values) < 6:
            check([low, high] == [None, None], "an interval of", len(values), low, high)
            continue
        check(low <= one["slowdown"][0] <= high, "p50 and its interval", low, high)
        inside = [value for value in values if low <= value <= high]
        check(len(inside) < len(values) * 0.6 or len(values) < 20, "too wide", len(values))
        tail = one["slowdown_interval"][2][1]
        check((tail is None) == (len(values) < 368), "the end of p99", len(values), tail)
    link = next(one for one in run["topology"]["links"] if "host3" in (one["ab"] + one["ba"]))
    held = link["ab"] if link["ab"][2] == "host3" else link["ba"]
    check(held[3:] == [0.2, "host3"], "held by PAUSE", link)


def test_one_file(work):
    """A file of results is enough, from wherever it is named; its page does not replace the
    folder's."""
    fixture.everything(work)
    for path, kind in (("runs/none/run.sqlite", "runs"), ("figures/fig6a.sqlite", "figure"),
                       ("sweep/sweep.sqlite", "sweep")):
        page = path.removesuffix(".sqlite") + ".html"
        done = oche("report", os.path.join(work, path))
        check(done.stdout == f"report: {os.path.join(work, page)}\n", done.stdout, done.stderr)
        documents = data_of(read(work, page))["documents"]
        check([one["kind"] for one in documents] == [kind], path, "documents")
        one = documents[0]["runs"][0] if kind == "runs" else documents[0]
        check(one["file"] == os.path.basename(path), path, "is named", one["file"])
        check(not os.path.exists(os.path.join(work, os.path.dirname(path), "report.html")), path)
    os.rename(os.path.join(work, "runs/none/run.sqlite"), os.path.join(work, "results of mine"))
    done = run_program(OCHE, "report", "results of mine", cwd=work)
    check(done.stdout == "report: results of mine.html\n", done.stdout, done.stderr)
    with open(os.path.join(work, "notes"), "w", encoding="utf-8") as file:
        file.write("something else\n" * 100)
    for place, said in ((os.path.join(work, "notes"), os.path.join(work, "notes")),
                        ("notes", "notes"), ("./notes", "./notes")):
        done = run_program(OCHE, "report", place, cwd=work)
        refused(done, "notes: is not a results file (file is not a database); move it elsewhere, "
                      "or give a file that oche run, oche sweep or oche reproduce has written\n")
        check(done.stderr.startswith(said + ": "), place, "is named", done.stderr)
    strange = os.path.join(work, "strange.sqlite")  # its name occurs in sqlite's error message
    with sqlite3.connect(strange) as db:
        db.execute("PRAGMA user_version = 4")
        db.execute("CREATE TABLE info (key, value)")
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE \x1b[31m (a\nb'")
    refused(oche("report", strange), "strange.sqlite: cannot be read: ",
            "malformed database schema", r'unrecognized token: "\x1b"')
    with sqlite3.connect(os.path.join(work, "other.sqlite")) as db:
        db.execute("CREATE TABLE a (b)")
    refused(oche("report", os.path.join(work, "other.sqlite")), "other.sqlite: has no results; ")
    refused(oche("report", os.path.join(work, "runs"), os.path.join(work, "sweep")),
            "sweep: one folder or file at a time")


def test_recorded(work):
    """The overview of figures has the verdicts that were recorded of all papers."""
    fixture.everything(work)
    papers = os.path.join(work, "papers")
    fixture.papers(papers)
    os.environ["OCHE_PAPERS"] = papers
    data = data_of(page_of(os.path.join(work, "figures")))
    first, second = data["recorded"]
    check(first["paper"] == "first" and first["title"] == "The first <paper>", first)
    check(first["claims"] == 4 and first["seeds"] == [5, 30], first)
    check(first["recorded"] == [
        {"claims": 3, "commit": "aaaaaaaaaaaa", "date": "2026-11-22"},
        {"claims": 1, "commit": "bbbbbbbbbbbb+", "date": "2026-11-23"}], first)
    check(first["verdicts"] == [
        {"source": source, "verdict": verdict, "unsure": unsure, "count": 1}
        for source, verdict, unsure in (("text", "reproduced", False), ("text", "reproduced", True),
                                        ("plot", "not reproduced", False),
                                        ("own", "not judged", False))], first)
    check([(one["text"], one["verdict"], one["unsure"], one["declared"][0]["verdict"])
           for one in first["statements"]] ==
          [("it is <fast>", "holds", True, "holds"),
           ("and twice as fast", "does not hold", False, "holds"),
           ("and small", "not measured", False, "not measured")], first["statements"])
    check(first["counts"]["as_judged"]["hold_or_in_shape"] == 1 and
          first["counts"]["best"]["reading"] == "other", first["counts"])
    check(second["statements"] == [], second)
    check(second["paper"] == "second" and second["seeds"] == [1, 1], second)
    check("recorded" not in data_of(page_of(os.path.join(work, "runs"))), "beside runs")
    results = os.path.join(papers, "second", "results.csv")
    with open(results, "a", encoding="utf-8") as file:
        file.write("fig1,a,hearsay\n")
    refused(oche("report", os.path.join(work, "figures")), f"{results}:3: is no line of a paper's "
            "results; oche reproduce --record writes the file\n")
    page_of(os.path.join(work, "runs"))
    os.environ["OCHE_PAPERS"] = os.path.join(work, "nowhere")
    check("recorded" not in data_of(page_of(os.path.join(work, "figures"))), "no papers")
    del os.environ["OCHE_PAPERS"]


def test_hostile_names(work):
    """Text from a results file stays text, and cannot change lines or directions."""
    evil = "</script><script>alert(1)</script><!-- \u2028 \u202e \x1b \" ' & {{x}} \\ ]]>"
    shown = evil.replace("\u2028", r"\xe2\x80\xa8").replace("\u202e", r"\xe2\x80\xae").replace(
        "\x1b", r"\x1b")
    plain = page_of_run(os.path.join(work, "plain"), "fixture")
    page = page_of_run(os.path.join(work, "evil"), evil)
    check(page.lower().count("<script") == plain.lower().count("<script"), "a script more")
    check(page.count("<!--") == plain.count("<!--"), "a comment more")
    check(data_of(page)["documents"][0]["scenario"] == shown, "the name is kept")
    charts = os.path.join(work, "charts")
    if shutil.which("node"):
        page_of(os.path.join(work, "evil"), "--svg", charts)
        for name in os.listdir(charts):
            picture = xml.etree.ElementTree.parse(os.path.join(charts, name))
            check(not any("script" in one.tag for one in picture.iter()), name, "a script")


PLACES = {("host", "tor"): "host_nic", ("tor", "aggregation"): "tor_up",
          ("aggregation", "core"): "aggregation_up", ("core", "aggregation"): "core_down",
          ("aggregation", "tor"): "aggregation_down", ("tor", "host"): "tor_to_host"}


def places_by_port(db):
    """Marks, waiting and packets of each place, from the counters of single ports."""
    kinds = dict(db.execute("SELECT id, kind FROM nodes"))
    counters = {}
    for entity, name, value in db.execute("SELECT entity, name, value FROM counters"):
        counters.setdefault(entity, {})[name] = value
    sums = {}
    for a, b, port_a, port_b in db.execute("SELECT a, b, port_a, port_b FROM links"):
        for near, far, port in ((a, b, port_a), (b, a, port_b)):
            of = counters.get(port, {})
            row = sums.setdefault(PLACES[kinds[near], kinds[far]], [0, 0, 0])
            host = kinds[near] == "host"
            row[0] += of.get("ce_marked" if host else "marks", 0)
            row[1] += of.get("queueing_time_ps", 0)
            row[2] += of.get("data_packets_sent" if host else "packets", 0)
    return sums


def near(a, b):
    return a == b or (a is not None and b is not None and abs(a - b) <= 1e-8 * abs(b))


def check_congestion(name, db, shown):
    rows = {row[0]: row[1:] for row in db.execute(
        "SELECT place, marks, queueing_ps, packets, worst_ps, queue_max, paused_ps "
        "FROM congestion")}
    check({place: list(row[:3]) for place, row in rows.items()} == places_by_port(db), name,
          "congestion by place is not that of its ports", rows, places_by_port(db))
    check(sum(row[0] for row in rows.values()) > 0, name, "no marks")
    sent, = db.execute("SELECT value FROM counters WHERE entity = 'all' AND name = "
                       "'nic_data_packets_sent'").fetchone()
    check([one["place"] for one in shown] == sorted(rows), name, "places", shown)
    for one in shown:
        marks, queueing, packets, worst, most, paused = rows[one["place"]]
        check(one["marks"] == marks and one["queue_max"] == most, name, one)
        for key, value in (("queueing", queueing / sent / 1e12),
                           ("queueing_mean", queueing / packets / 1e12),
                           ("queueing_worst", worst / 1e12), ("pause_time", paused / 1e12)):
            check(near(one[key], value), name, one["place"], key, one[key], value)
    return rows


def check_paths(db, deflected):
    names = dict(db.execute("SELECT id, name FROM nodes"))
    flows = [flow for flow, in db.execute(
        "SELECT flow FROM paths WHERE way = 'taken' GROUP BY flow ORDER BY sum(deflected) DESC, "
        "count(*) DESC, flow LIMIT 20")]
    listed = deflected["listed"]
    check([one["flow"] for one in listed] == flows and len(flows) == 20, "listed", listed)
    for one in listed:
        taken = one["taken"]
        noted = db.execute("SELECT node, port, lane, tokens, time_ps FROM deflections WHERE flow = "
                           "? ORDER BY time_ps", (one["flow"],)).fetchall()
        shown = [(hop["node"], hop["port"], hop["lane"], hop["tokens"]) for hop in taken
                 if hop["deflected"]]
        check(shown == [(names[node], *more) for node, *more, _ in noted], one["flow"],
              "deflections", shown, noted)
        check(all(near(hop["time_s"], time / 1e12) for hop, (*_, time) in
                  zip([hop for hop in taken if hop["deflected"]], noted)), "times", one)
        check(one["deflections"] == len(noted), one["flow"], "how often", one["deflections"])
        way = db.execute("SELECT packets, links, shortest FROM ways WHERE flow = ?",
                         (one["flow"],)).fetchone()
        if one["took_s"] is not None:
            check(way[1] == way[0] * len(taken), one["flow"], "links", way, len(taken))
            check(way[2] == way[0] * len(one["ordinary"]), one["flow"], "ordinary links", way)
        for ports in (taken, one["ordinary"]):
            check(ports[0]["node"] == one["src"] and ports[-1]["port"].endswith(":" + one["dst"]),
                  one["flow"], "from end to end", ports)
            check(all(a["port"].split(":")[1] == b["node"] for a, b in zip(ports[1:], ports[2:])),
                  one["flow"], "joined", ports)


def test_where(work):
    """Real runs and a sweep. The page must show the congestion and the deflected flows that are in
    the results files, by port, and that oche run reports."""
    folder = os.path.join(work, "runs")
    done = oche("run", os.path.join(SOURCE, "scenarios", "deflection.yaml"), "--compare",
                "switch.mechanisms=none,iofd", "--set", "duration=4ms", "--set", "warmup=1ms",
                "--out", folder)
    check(done.returncode == 0, done.stderr)
    check("waiting on a packet's way" in done.stdout, "where packets wait", done.stdout)
    runs = data_of(page_of(folder))["documents"][0]["runs"]
    runs.sort(key=lambda run: run["info"]["variant"])
    for run, name in zip(runs, ("none", "iofd")):
        with sqlite3.connect(os.path.join(folder, name, "run.sqlite")) as db:
            rows = check_congestion(name, db, run["congestion"])
            check(set(rows) == set(PLACES.values()), name, rows)
            count, = db.execute("SELECT count(*) FROM deflections").fetchone()
            check(run["deflected"]["deflections"] == count, name, "deflections", count)
            if name == "none":
                check(count == 0 and run["deflected"]["listed"] == [], "deflected without iofd")
                continue
            check_paths(db, run["deflected"])
            first = run["deflected"]["listed"][0]
            nodes = [hop["node"] + "*" * hop["deflected"] for hop in first["taken"]]
            check(f"flow {first['flow']}, {first['deflections']} times, by {len(nodes)} links: "
                  + " ".join(nodes + [first["dst"]]) in done.stdout, "in words", first)


def test_where_sweep(work):
    out = os.path.join(work, "sweep")
    done = oche("sweep", os.path.join(SOURCE, "scenarios", "incast.yaml"), "--vary",
                "congestion_control=dcqcn,none", "--set", "duration=1ms", "--set", "warmup=0",
                "--out", out, "--quiet", "--jobs", "1")
    check(done.returncode == 0, done.stderr)
    (sweep,) = data_of(page_of(out))["documents"]
    with sqlite3.connect(os.path.join(out, "sweep.sqlite")) as db:
        wanted = {}
        for name, point, value in db.execute(
                "SELECT name, point, value FROM metrics WHERE name LIKE 'congestion.%'"):
            wanted.setdefault(name, {})[point] = value
    shown = {metric["name"]: metric["mean"] for metric in sweep["metrics"]}
    check(len(wanted) > 20, "metrics of congestion", sorted(wanted))
    for name, values in wanted.items():
        check(all(value is None or abs(shown[name][point] - value) <= 1e-4 * abs(value)
                  for point, value in values.items()), name, shown[name], values)
    for point in (0, 1):
        check(wanted["congestion.tor_to_host.queueing_share"][point] > 0.5,
              "an incast waits at its receiver", wanted["congestion.tor_to_host.queueing_share"])
    check(wanted["congestion.tor_to_host.marks_share"][0] == 1, "an incast's marks")


def page_of_run(folder, scenario):
    for label in (scenario, "b"):
        fixture.run(os.path.join(folder, label[:1], "run.sqlite"), 50, label, scenario)
    return page_of(folder)


def test_refusals(work):
    refused(oche("report"), "which folder?")
    refused(oche("report", work, "--out", ""), "an empty name; --out takes a file")
    refused(oche("report", os.path.join(work, "nowhere")), "nowhere: cannot be read: No such file "
            "or directory; give a folder or a file that oche run")
    empty = os.path.join(work, "empty")
    os.mkdir(empty)
    refused(oche("report", empty), "has no results; give a folder or a file that oche run")
    check(os.listdir(empty) == [], "something was written")
    fixture.run(os.path.join(work, "one", "run.sqlite"), 50)
    refused(oche("report", os.path.join(work, "one"), "--out", os.path.join(work, "no", "x.html")),
            "x.html: cannot be written: No such file or directory; give a place that can be\n")
    refused(oche("report", os.path.join(work, "one"), "--out", "/dev/null"),
            "/dev/null: is not a file; give the name of a file\n")
    refused(oche("report", os.path.join(work, "one"), "--out", empty),
            f"{empty}: is a folder; give a file, such as {empty}/report.html\n")
    refused(oche("report", os.path.join(work, "one"), "--svg", "/dev/null"),
            "--svg /dev/null: is not a folder; give a folder, or the name of a new one\n")
    check(os.listdir(empty) == [], "something was written")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([OCHE, "report", os.path.join(work, "one")], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
        refused(done, "standard output: cannot be written")
    with open(os.path.join(empty, "run.sqlite"), "w", encoding="utf-8") as file:
        file.write("something else\n" * 100)
    refused(oche("report", empty), "run.sqlite: is not a results file (file is not a database); ")
    shutil.rmtree(empty)


def test_svg(work):
    if not shutil.which("node"):
        print("no node: --svg is not tested")
        return
    folder, out = os.path.join(work, "svg"), os.path.join(work, "charts")
    fixture.everything(folder)
    done = oche("report", folder, "--svg", out)
    check(done.returncode == 0 and done.stderr == "", "--svg", done.returncode, done.stderr)
    names = sorted(os.listdir(out))
    check(f"charts: {len(names)} in {out}" in done.stdout, "--svg says", done.stdout)
    for name in ("fig6a.svg", "fig3.svg", "fixture-fct.svg", "fixture-topology-1.svg",
                 "sweep-metric.svg", "fixture-pauses-0.svg"):
        check(name in names, "no", name, "in", names)
    for name in names:
        with open(os.path.join(out, name), encoding="utf-8") as file:
            text = file.read()
        root = xml.etree.ElementTree.fromstring(text)
        check(root.tag == "{http://www.w3.org/2000/svg}svg" and len(text) > 2000, name, len(text))
        check("NaN" not in text and "Infinity" not in text, name, "has what is no number")
    check("GBN+CE, published" in read(out, "fig6a.svg"), "the legend of fig6a")
    refused(oche("report", folder, "--svg", out, PATH="/nowhere"), "--svg needs node")
    blocked = os.path.join(work, "blocked")
    with open(blocked, "w", encoding="utf-8"):
        pass
    refused(oche("report", folder, "--svg", blocked), f"--svg {blocked}: is not a folder; ")
    refused(oche("report", folder, "--svg", os.path.join(blocked, "x")), "--svg: ")


PAUSING = """\
topology: {type: star, hosts: 6, host_rate: 100Gbps}
congestion_control: none
duration: 1ms
switch: {threshold: static, xoff: 20KB}
workload: {type: transfers, pairs: "0>1, 2>3, 1>2", bytes: 2MB, messages: 1}
slow_receivers: {hosts: host3, drain_rate: 10Gbps, buffer: 200KB}
pause_storms: {hosts: host1, at: 50us, until: 550us}
"""


def test_pausing_hosts(work):
    """Hosts that sent PAUSEs themselves are named, and a port's trees of two classes told apart."""
    with open(os.path.join(work, "s.yaml"), "w", encoding="utf-8") as file:
        file.write(PAUSING)
    done = oche("run", os.path.join(work, "s.yaml"), "--out", work)
    check(done.returncode == 0, done.stderr)
    (run,) = data_of(page_of(work))["documents"][0]["runs"]
    hosts = run["pauses"]["hosts"]
    check([(host["host"], host["port"], host["slow"]) for host in hosts] ==
          [("host3", "tor0:host3", True), ("host1", "tor0:host1", False)], hosts)
    slow, storm = hosts
    check(storm["pauses"] == 2 and abs(storm["held_s"] - 500e-6) < 1e-6, "two classes", storm)
    check(slow["pauses"] == run["metrics"]["pauses.host"][0] - 2 > 10, slow)
    check(f"\nhost3, a slow receiver, sent {slow['pauses']} PAUSEs itself and held tor0:host3 for "
          in done.stdout, done.stdout)
    check("\nhost1, in a storm, sent 2 PAUSEs itself and held tor0:host1 for 500us.\n"
          in done.stdout, done.stdout)
    check(len(re.findall(r"^tor0:host1, 1 sender  ", done.stdout, re.M)) == 1 and
          "\ntor0:host1, 1 sender, class 1 " in done.stdout, "class", done.stdout)


def check_rows(db, job, timeline):
    """The shown rows add up to what the file has of these ranks."""
    for row in timeline["rows"]:
        wanted = db.execute("SELECT sum(calculates_ps), sum(sends_ps), sum(receives_ps), "
                            "sum(waits_ps) FROM job_spans WHERE job = ? AND rank = ?",
                            (job, row["rank"])).fetchone()
        check(all(abs(a - b / 1e12) < 1e-10 for a, b in zip(row["sums"], wanted)), row["rank"],
              "does", row["sums"], wanted)
        cells = row["cells"]
        for k in range(4):
            sum_s = sum((cells[i + 1] - cells[i]) * cells[i + 2 + k] / 100
                        for i in range(0, len(cells), 6)) * timeline["step_s"]
            check(abs(sum_s - row["sums"][k]) <= 0.01 * row["end_s"], row["rank"], "draws", sum_s,
                  row["sums"])


def test_jobs(work):
    """Real jobs: what ranks did, phases, and jobs among the slowest flows."""
    scenario, folder = os.path.join(work, "jobs.yaml"), os.path.join(work, "jobs")
    with open(scenario, "w", encoding="utf-8") as out:
        out.write("topology: {type: leaf_spine, leaves: 4, hosts_per_leaf: 4, spines: 2}\n"
                  "congestion_control: dcqcn\nworkload: {type: collective, bytes: 16MB, repeat: 2, "
                  "compute: 100us}\n")
    done = oche("run", scenario, "--compare", "workload.algorithm=ring,tree,halving_doubling",
                "--out", folder)
    check(done.returncode == 0, done.stderr)
    runs = data_of(page_of(folder))["documents"][0]["runs"]
    runs.sort(key=lambda run: run["info"]["variant"])
    for run, phases in zip(runs, (["reduce_scatter", "all_gather"], ["up", "down"], [
            f"{what}, distance {far}" for what, list_of in (("halving", (8, 4, 2, 1)),
                                                            ("doubling", (1, 2, 4, 8)))
            for far in list_of])):
        label = run["info"]["label"]
        with sqlite3.connect(os.path.join(folder, label, "run.sqlite")) as db:
            (job,) = run["jobs"]
            check([phase["name"] for phase in job["phases"]] == phases, label, job["phases"])
            check(len(job["timeline"]["rows"]) == 16 and job["ended"] == 16, label, "ranks")
            check_rows(db, 0, job["timeline"])
            ends = sorted(row["end_s"] for row in job["timeline"]["rows"])
            check(abs(job["late_s"] - (ends[-1] - ends[7])) < 1e-9, label, job["late_s"], ends)
            check(abs(run["metrics"]["workload.0.straggler"][0] - job["late_s"]) < 1e-9, label,
                  "straggler")
            mean = sum(end - begin for begin, end, _ in job["repetitions"]) / 2
            check(abs(mean - run["metrics"]["workload.0.repetition.mean"][0]) < 1e-9, label,
                  job["repetitions"])
            slowest = [series for series in run["series"] if series["name"] == "slowest_goodput"]
            check(len(slowest) == 3 and all(" \u2192 " in one["about"] for one in slowest), label,
                  "the slowest flows", slowest)
    check("reduce_scatter" not in done.stdout, "a comparison has rows, not sentences", done.stdout)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def test_built_without(work):
    """A program that was built without the page says so, and refuses."""
    fixture.run(os.path.join(work, "run.sqlite"), 10)
    refused(oche("report", work), "this program was built without it", "; run make, ")
    check(os.listdir(work) == ["run.sqlite"], "something was written")


def main():
    built = os.path.exists(os.path.join(BUILD, "report", "page", "report.html"))
    tests = [test_pages, test_sizes_are_joined, test_one_file, test_recorded, test_hostile_names,
             test_refusals, test_svg, test_where, test_where_sweep, test_pausing_hosts,
             test_jobs] if built \
        else [test_built_without]
    for test in tests:
        with tempfile.TemporaryDirectory() as work:
            test(work)
    for failure in failures:
        print("FAILED:", failure)
    if not built and not failures:
        print("built without the page: only that it says so is tested")
    return 1 if failures else 0


sys.exit(main())
