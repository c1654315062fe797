# SPDX-License-Identifier: Apache-2.0
"""Results files for tests of the report, as store/store.h and store/sweep_store.h describe
them: a run with as many flows as wanted, a sweep with points that failed, reproduced figures."""
import math
import os
import random
import sqlite3
import sys

RUN = """
PRAGMA user_version = 4;
CREATE TABLE info (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE parameters (key TEXT PRIMARY KEY, value TEXT NOT NULL, unit TEXT NOT NULL, given
 INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE flows (id INTEGER PRIMARY KEY, workload INTEGER NOT NULL, src INTEGER NOT NULL, dst
 INTEGER NOT NULL, bytes INTEGER NOT NULL, start_ps INTEGER, delivered_ps INTEGER, completed_ps
 INTEGER, ideal_ps INTEGER, slowdown REAL, retransmitted INTEGER NOT NULL, timeouts INTEGER NOT
 NULL, status TEXT NOT NULL, measured INTEGER NOT NULL, held_ps INTEGER NOT NULL, lost_ps INTEGER
 NOT NULL, root TEXT, victim INTEGER NOT NULL);
CREATE TABLE series_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL, entity TEXT NOT NULL, unit
 TEXT NOT NULL);
CREATE TABLE series (series INTEGER NOT NULL, time_ps INTEGER NOT NULL, value REAL NOT NULL,
 PRIMARY KEY (series, time_ps)) WITHOUT ROWID;
CREATE TABLE metric_names (name TEXT PRIMARY KEY, unit TEXT NOT NULL, help TEXT NOT NULL) WITHOUT
 ROWID;
CREATE TABLE metrics (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE entity_counters (entity TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL,
 PRIMARY KEY (entity, name)) WITHOUT ROWID;
CREATE TABLE histogram_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL, entity TEXT NOT NULL, unit
 TEXT NOT NULL, weight TEXT NOT NULL);
CREATE TABLE histograms (histogram INTEGER NOT NULL, low INTEGER NOT NULL, high INTEGER, weight
 INTEGER NOT NULL, PRIMARY KEY (histogram, low)) WITHOUT ROWID;
CREATE TABLE nodes (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, pod INTEGER);
CREATE TABLE links (id INTEGER PRIMARY KEY, a INTEGER NOT NULL, b INTEGER NOT NULL, port_a TEXT NOT
 NULL, port_b TEXT NOT NULL, rate_bps INTEGER NOT NULL, delay_ps INTEGER NOT NULL);
CREATE TABLE pause_tree (id INTEGER PRIMARY KEY, parent INTEGER, port TEXT, class INTEGER NOT NULL,
 depth INTEGER NOT NULL, pauses INTEGER NOT NULL, held_ps INTEGER NOT NULL, first_ps INTEGER,
 last_ps INTEGER, ports INTEGER NOT NULL, senders INTEGER NOT NULL, returns INTEGER NOT NULL);
CREATE TABLE deadlock (position INTEGER PRIMARY KEY, port TEXT NOT NULL, class INTEGER NOT NULL);
"""

# Measurements that earlier versions did not write.
WHERE = """
CREATE TABLE congestion (place TEXT PRIMARY KEY, ports INTEGER NOT NULL, packets INTEGER NOT NULL,
 marks INTEGER NOT NULL, queueing_ps INTEGER NOT NULL, worst_ps REAL, worst_port TEXT, queue_max
 INTEGER, paused_ps INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE paths (flow INTEGER NOT NULL, way TEXT NOT NULL, hop INTEGER NOT NULL, node INTEGER NOT
 NULL, port TEXT NOT NULL, deflected INTEGER NOT NULL, lane INTEGER, tokens INTEGER, time_ps
 INTEGER, PRIMARY KEY (flow, way, hop)) WITHOUT ROWID;
CREATE TABLE deflections (id INTEGER PRIMARY KEY, time_ps INTEGER NOT NULL, flow INTEGER, node
 INTEGER NOT NULL, in_port TEXT NOT NULL, port TEXT NOT NULL, lane INTEGER NOT NULL, tokens INTEGER
 NOT NULL);
"""

SWEEP = """
PRAGMA user_version = 3;
PRAGMA application_id = 0x6f636865;
CREATE TABLE info (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE parameters (key TEXT PRIMARY KEY, value TEXT NOT NULL, unit TEXT NOT NULL, given
 INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE axes (id INTEGER PRIMARY KEY, key TEXT NOT NULL);
CREATE TABLE axis_values (axis INTEGER NOT NULL, number INTEGER NOT NULL, value TEXT NOT NULL,
 PRIMARY KEY (axis, number)) WITHOUT ROWID;
CREATE TABLE points (id INTEGER PRIMARY KEY, repeat INTEGER NOT NULL, seed NOT NULL, status TEXT NOT
 NULL, error TEXT, wall_s REAL, trace_hash TEXT);
CREATE TABLE point_values (point INTEGER NOT NULL, axis INTEGER NOT NULL, number INTEGER NOT NULL,
 PRIMARY KEY (point, axis)) WITHOUT ROWID;
CREATE TABLE metric_names (name TEXT PRIMARY KEY, unit TEXT NOT NULL, help TEXT NOT NULL) WITHOUT
 ROWID;
CREATE TABLE metrics (point INTEGER NOT NULL, name TEXT NOT NULL, value REAL, PRIMARY KEY (point,
 name)) WITHOUT ROWID;
CREATE TABLE distributions (point INTEGER NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL, samples
 INTEGER NOT NULL, thousandth INTEGER NOT NULL, value REAL, PRIMARY KEY (point, name, thousandth))
 WITHOUT ROWID;
"""

FIGURE = """
CREATE TABLE claims (id INTEGER PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, quantity TEXT
 NOT NULL, condition TEXT NOT NULL, published REAL, published_text TEXT NOT NULL, unit TEXT NOT
 NULL, place TEXT NOT NULL, tolerance TEXT NOT NULL, confidence TEXT NOT NULL, measured REAL, low
 REAL, high REAL, spread REAL, verdict TEXT NOT NULL, explanation TEXT NOT NULL, interval TEXT NOT
 NULL, unsure INTEGER NOT NULL, source TEXT NOT NULL);
CREATE TABLE readings (claim INTEGER NOT NULL REFERENCES claims, label TEXT NOT NULL, measured REAL,
 low REAL, high REAL, verdict TEXT NOT NULL);
CREATE TABLE plots (id INTEGER PRIMARY KEY, title TEXT NOT NULL, x_name TEXT NOT NULL, x_scale TEXT
 NOT NULL, y_name TEXT NOT NULL, y_scale TEXT NOT NULL);
CREATE TABLE curves (id INTEGER PRIMARY KEY, label TEXT NOT NULL, kind TEXT NOT NULL, x_name TEXT
 NOT NULL, y_name TEXT NOT NULL, x_unit TEXT NOT NULL, y_unit TEXT NOT NULL, plot INTEGER NOT NULL);
CREATE TABLE curve_points (curve INTEGER NOT NULL, x REAL, y REAL, low REAL, high REAL);
CREATE TABLE differences (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
"""


def create(path, schema):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.unlink(path)
    db = sqlite3.connect(path)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + schema)
    return db


def many(db, table, rows):
    rows = list(rows)
    if rows:
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def run(path, flows=1000, label="", scenario="fixture", seed=1, queue=True, where=False):
    """A star of 16 hosts. One host's port is held now and then."""
    draw = random.Random(seed)
    db = create(path, RUN + (WHERE if where else ""))
    many(db, "info", {
        "program": "oche 0.1.0", "command": "oche run fixture.yaml", "scenario": scenario,
        "description": "made by a test", "scenario_file": "fixture.yaml",
        "scenario_text": "name: fixture\n", "label": label, "topology": "star: 16 hosts",
        "congestion_control": "dcqcn", "recovery": "go_back_n", "seed": str(seed),
        "threads": "1", "simulated_ps": "11000000000", "measured_ps": "10000000000",
        "wall_s": "1.5", "trace_hash": "0123456789abcdef"}.items())
    many(db, "parameters", [("seed", str(seed), "count", 1), ("duration", "11ms", "time", 1),
                            ("switch.pfc", "true", "bool", 0)])
    many(db, "nodes", [(i, f"host{i}", "host", 0) for i in range(16)] + [(16, "tor0", "tor", 0)])
    many(db, "links", [(i, i, 16, f"host{i}", f"tor0:host{i}", 40 * 10**9, 10**6)
                       for i in range(16)])
    many(db, "entity_counters",
         [(f"host{i}", "line_bytes", draw.randrange(5 * 10**7)) for i in range(16)]
         + [(f"tor0:host{i}", "line_bytes", draw.randrange(5 * 10**7)) for i in range(16)]
         + [("host3", "paused_time_0", 2 * 10**9), ("tor0:host0", "max_queue_bytes", 150000)])
    rows = []
    for i in range(flows):
        size = int(10 ** draw.uniform(2, 7.5))
        ideal = 2 * 10**6 + size * 200
        slowdown = 1 + draw.expovariate(1) ** 3
        start = draw.randrange(11 * 10**9)
        end = start + int(ideal * slowdown)
        late = end > 11 * 10**9
        rows.append((i, 0, i % 16, (i + 5) % 16, size, start, None if late else end,
                     None if late else end + 10**6, ideal, None if late else (end - start) / ideal,
                     0, 0, "unfinished" if late else "completed", int(start >= 10**9),
                     *((10**9, 10**8 * (i % 9), "tor0:host0", 1) if i % 97 == 5 else
                       (0, 0, None, 0))))
    many(db, "flows", rows)
    _metrics(db, {"pauses": ("count", 12), "goodput": ("bps", 8e10), "timeouts": ("count", 3),
                  "timeouts.nak_lost": ("count", 3), "timeouts.other": ("count", 0),
                  "pause_time": ("s", 0.002), "pause_time.host": ("s", 0.002),
                  "pause_time.max": ("s", 0.002), "pause_roots": ("count", 1),
                  "victims": ("count", sum(row[17] for row in rows)),
                  "simulated_time": ("s", 0.011), "measured_time": ("s", 0.01),
                  **_of_flows([row for row in rows if row[13]])})
    many(db, "pause_tree", [(0, None, "tor0:host0", 0, 0, 12, 2 * 10**9, 10**9, 9 * 10**9, 1, 7, 0),
                            (1, 0, "host3", 0, 1, 12, 2 * 10**9, 10**9, 9 * 10**9, 0, 0, 0)])
    many(db, "series_names", [(1, "goodput", "all", "bps"), (2, "pauses", "all", "count"),
                              (3, "queue", "tor0:host0", "bytes"), (4, "held", "host3", "ratio")])
    steps = 2000
    when = [10**9 + 5 * 10**6 * (k + 1) for k in range(steps)]
    many(db, "series", [(1, t, 2e11 * (1 + math.sin(k / 150)) + draw.random() * 1e10)
                        for k, t in enumerate(when)]
         + [(2, t, draw.randrange(3)) for t in when]
         + [(3, t, abs(draw.gauss(0, 50000))) for t in when]
         + [(4, t, 0.5) for t in when[600:1400]])
    if queue:
        many(db, "histogram_names", [(1, "queue", "tor0:host0", "bytes", "ps")])
        many(db, "histograms", [(1, 100 * k, 100 * (k + 1), 10**7 + 1000 - k)
                                for k in range(1500)])
    if where:
        _where(db)
        _slowest(db, [150, 160])
        _longest(db, ["tor0:host3", "tor0:host7"] if label == "none" else ["tor0:host7"])
    db.commit()
    db.close()


def _of_flows(rows):
    """The metrics of flows that started after warm-up."""
    done = [row for row in rows if row[12] == "completed"]
    metrics = {"flows.started": ("count", len(rows)), "flows.delivered": ("count", len(done)),
               "flows.unfinished": ("count", len(rows) - len(done)), "flows.failed": ("count", 0)}
    for name, unit, values in (("fct", "s", sorted((row[6] - row[5]) / 1e12 for row in done)),
                               ("slowdown", "ratio", sorted(row[9] for row in done))):
        for percent in (50, 90, 99, 99.9):
            if values:
                metrics[f"{name}.all.p{percent}"] = (
                    unit, values[max(0, math.ceil(len(values) * percent / 100) - 1)])
    return metrics


def _metrics(db, metrics):
    many(db, "metric_names", [(name, unit, "") for name, (unit, _) in metrics.items()])
    many(db, "metrics", [(name, value) for name, (_, value) in metrics.items()])


def _where(db):
    """Most of the waiting and all marks at the last links; two flows that went round."""
    _metrics(db, {"data_packets": ("count", 1000)})
    many(db, "congestion", [
        ("host_nic", 16, 1000, 0, 2 * 10**9, 3e6, "host2", None, 2 * 10**9),
        ("tor_to_host", 16, 2000, 40, 6 * 10**9, 9e6, "tor0:host0", 150000, 0)])
    for flow, times in ((3, 1), (8, 2)):
        src, dst = flow % 16, (flow + 5) % 16
        many(db, "paths", [(flow, "ordinary", 0, src, f"host{src}", 0, None, None, None),
                           (flow, "ordinary", 1, 16, f"tor0:host{dst}", 0, None, None, None)])
        nodes = [(src, f"host{src}", 0)] + [(16, "tor0:host0", 1)] * times \
            + [(16, f"tor0:host{dst}", 0)]
        left = 4
        for hop, (node, port, deflected) in enumerate(nodes):
            left -= deflected
            many(db, "paths", [(flow, "taken", hop, node, port, deflected, 4 - left, left,
                                10**9 if deflected else None)])
            if deflected:
                many(db, "deflections", [(None, 10**9, flow, node, "tor0:host1", port, 4 - left,
                                          left)])


def _longest(db, ports):
    """The longest queues in spans of 50 us: 200 KB at the first port, half at the next."""
    for number, port in enumerate(ports):
        many(db, "series_names", [(1010 + number, "longest_queue", port, "bytes")])
        many(db, "series", [(1010 + number, 10**9 + 5 * 10**7 * (k + 1),
                             200000 // (number + 1) - 1000 * abs(k - 100)) for k in range(200)])


def _slowest(db, flows):
    """The slowest flows' throughput from 2 ms on, in spans of 50 us: 1 Gbit/s, 2 Gbit/s, …"""
    for number, flow in enumerate(flows):
        many(db, "series_names", [(1020 + number, "slowest_goodput", f"flow {flow}", "bps")])
        many(db, "series", [(1020 + number, 2 * 10**9 + 5 * 10**7 * (k + 1), (k + 1) * 1e9)
                            for k in range(40)])


def _grid(db, axes, repeats, value):
    """Points of a grid; value(numbers, repeat) gives a dictionary of metrics, or an error."""
    many(db, "axes", [(i, key) for i, (key, _) in enumerate(axes)])
    many(db, "axis_values", [(i, k, text) for i, (_, values) in enumerate(axes)
                             for k, text in enumerate(values)])
    places = [[]]
    for _, values in axes:
        places = [place + [k] for place in places for k in range(len(values))]
    point = 0
    for place in places:
        for repeat in range(repeats):
            found = value(place, repeat)
            failed = isinstance(found, str)
            status = "done" if not failed else "crashed" if "signal" in found else "failed"
            many(db, "points", [(point, repeat, 1 + repeat, status, found if failed else None,
                                 0.5, "0123456789abcdef")])
            many(db, "point_values", [(point, i, k) for i, k in enumerate(place)])
            if not failed:
                many(db, "metrics", [(point, name, one) for name, one in found.items()])
            point += 1


def _info(db, kind, **more):
    many(db, "info", {"program": "oche 0.1.0", "command": f"oche {kind}", "kind": kind,
                      "scenario": "scenarios/fixture.yaml", "scenario_text": "name: fixture\n",
                      "seed": "1", "began": "2026-11-21 10:00:00", "ended": "2026-11-21 10:05:00",
                      **more}.items())
    many(db, "parameters", [("seed", "1", "count", 1), ("description", "a fixture", "text", 1)])


def sweep(path, repeats=5, axes=(("loss.probability", ("0", "1e-5", "1e-4", "1e-3", "1e-2")),
                                 ("recovery", ("go_back_n", "selective_repeat")))):
    """goodput and timeouts over loss; one point crashed, one was refused."""
    draw = random.Random(7)
    db = create(path, SWEEP)
    _info(db, "sweep", repeats=str(repeats), grid="loss.probability, recovery")
    many(db, "metric_names", [("goodput", "bps", "payload delivered in order"),
                              ("timeouts", "count", "ACK timeouts"),
                              *((f"pair.{i}.goodput.mean", "bps", f"transfers of pair {i}")
                                for i in range(25))])

    def value(place, repeat):
        if place[:2] == [2, 1] and repeat == 0:
            return "killed by signal 11 (Segmentation fault)"
        if place[:2] == [4, 0] and repeat == 1:
            return "fixture.yaml:3: loss.probability: </script><b>is out of range"
        loss = 10 ** (place[0] - 6) if place[0] else 0
        good = 4e10 / (1 + loss * (3000 if place[1] == 0 else 50))
        return {"goodput": good * draw.uniform(0.93, 1.07), "timeouts": loss * 1e5 * draw.random(),
                **{f"pair.{i}.goodput.mean": good / (i + 1) for i in range(25)}}
    _grid(db, list(axes), repeats, value)
    for point, in list(db.execute("SELECT id FROM points WHERE status = 'done'")):
        many(db, "distributions", [(point, "fct", "s", 100, t, 1e-5 * 10 ** (t / 400))
                                   for t in range(0, 1001, 5)])
    db.commit()
    db.close()


LOSS = ("1e-5", "1e-4", "2e-4", "1e-3", "2e-3", "5e-3", "1e-2")
SCHEMES = {"GBN": 900, "GBN+ST": 700, "GBN+CE": 220, "Improved": 45}
PUBLISHED = {"GBN": [(1e-4, .70), (1e-3, .45), (1e-2, .03)],
             "GBN+CE": [(1e-3, .972), (2e-3, .68), (1e-2, .176)],
             "Improved": [(1e-3, .972), (1e-2, .64)]}
VERDICTS = ("reproduced", "reproduced", "in shape", "not reproduced", "reproduced", "no data")


def figure(path, name="fig6a", title="Four schemes against loss, ACK timeout 100 ms"):
    """Measured curves beside published points, a claim for each verdict."""
    draw = random.Random(name)
    db = create(path, SWEEP + FIGURE)
    _info(db, "figure", paper="error-recovery", figure=name, title=title,
          place="Fig 6(a), sec IV-A", mode="quick", tolerances_commit="1700c47", repeats="6")
    many(db, "plots", [(1, "", "loss probability of each link", "log", "relative throughput",
                        "linear")])
    many(db, "metric_names", [("goodput", "bps", "payload delivered in order"),
                              *((f"congestion.{place}.{name}", unit, "there")
                                for place in ("host_nic", "tor_to_host")
                                for name, unit in (("queueing", "s"), ("marks", "count")))])

    def level(scheme, loss):
        return 1 / (1 + loss * SCHEMES[scheme] * 4)

    def where(scheme, loss):
        return {f"congestion.{name}": value * (1 + scheme) * (1 + loss)
                for name, value in (("host_nic.queueing", 1e-6), ("tor_to_host.queueing", 3e-6),
                                    ("host_nic.marks", 0), ("tor_to_host.marks", 100))}
    _grid(db, [("recovery", list(SCHEMES)), ("loss.probability", list(LOSS))], 3,
          lambda place, repeat: {"goodput": 4e10 * level(list(SCHEMES)[place[0]],
                                                         float(LOSS[place[1]]))
                                 * draw.uniform(0.95, 1.05), **where(*place)})
    number = 0
    for scheme in SCHEMES:
        many(db, "curves", [(number, scheme, "measured", "loss probability", "throughput", "ratio",
                             "ratio", 1)])
        for loss in LOSS:
            y = level(scheme, float(loss)) * draw.uniform(0.97, 1.0)
            many(db, "curve_points", [(number, float(loss), y, y * 0.95, min(1, y * 1.05))])
        number += 1
    many(db, "curves", [(number, "GBN (another reading)", "measured", "loss probability",
                         "throughput", "ratio", "ratio", 1)])
    many(db, "curve_points", [(number, float(loss), 0.5, 0.4, 0.6) for loss in LOSS])
    number += 1
    for scheme, points in PUBLISHED.items():
        many(db, "curves", [(number, scheme, "published", "loss probability", "throughput",
                             "ratio", "ratio", 1)])
        many(db, "curve_points", [(number, x, y, None, None) for x, y in points])
        number += 1
    for i, verdict in enumerate(VERDICTS):
        known = verdict not in ("no data", "not reproduced")  # the latter: it never happened
        many(db, "claims", [(
            i, f"claim_{i}", f"Go-Back-N is down to {70 - 10 * i} % at 0.01 %", "throughput",
            "recovery = GBN, loss.probability = 1e-4", 0.7 - 0.1 * i, f"{70 - 10 * i} %", "ratio",
            "sec IV-A", "± 0.05, in shape ± 0.15", "high", 0.68 - 0.1 * i if known else None,
            0.66 - 0.1 * i if known else None, 0.70 - 0.1 * i if known else None,
            0.02 if known else None, verdict,
            "" if verdict == "in shape" else "The paper's loss is by path.",
            "t", int(verdict == "in shape"), "text" if i < 3 else "plot")])
        many(db, "readings", [(i, "loss of a <path>", 0.5 if known else None,
                               0.4 if known else None, 0.6 if known else None,
                               "reproduced" if known else verdict)])
    many(db, "differences", [(0, "'40GB' of Table I is taken as 40 Gbit/s (error-recovery.md#l1)."),
                             (1, "No congestion control; with one sender is no <congestion>.")])
    db.commit()
    db.close()


CAUSES = {"last packet lost": (.06, .071), "last ACK lost": (.02, .018), "NAK lost": (.52, .571),
          "same packet lost twice": (.36, .339), "NAK held back by the interval": (.03, None),
          "another reason": (.01, None)}


def bars(path, name="fig3"):
    """A figure of single numbers with names."""
    db = create(path, SWEEP + FIGURE)
    _info(db, "figure", paper="error-recovery", figure=name, title="Why timeouts happen",
          place="Fig 3, sec III-A", mode="quick", tolerances_commit="1700c47", repeats="20")
    many(db, "plots", [(1, "", "cause", "linear", "share of timeouts", "linear")])
    number = 0
    for label, (measured, published) in CAUSES.items():
        for name, kind, y in ((label, "measured", measured), (label, "published", published),
                              (label + " (another reading)", "measured", 1 / 6)):
            if y is None:
                continue
            many(db, "curves", [(number, name, kind, "cause", "share of timeouts", "", "ratio",
                                 1)])
            many(db, "curve_points", [(number, 0, y, *((y * 0.8, y * 1.2) if kind == "measured"
                                                       else (None, None)))])
            number += 1
        many(db, "claims", [(number, label, f"a share: {label}", "timeouts", "loss 1 %", published,
                             "" if published is None else f"{100 * published:g} %", "ratio",
                             "Fig 3", "± 0.13", "high", measured, measured * 0.8, measured * 1.2,
                             0.01, "reproduced", "", "bootstrap", 0, "text")])
    db.commit()
    db.close()


def several(path, name="fig4"):
    """A figure with several plots: many curves over a count, and two with wide intervals."""
    db = create(path, SWEEP + FIGURE)
    _info(db, "figure", paper="error-recovery", figure=name, title="Several plots", place="Fig 4",
          mode="quick", tolerances_commit="1700c47", repeats="5")
    many(db, "plots", [(1, "Many curves", "senders", "linear", "rate of many", "linear"),
                       (2, "Few curves", "pairs", "log", "rate of few", "linear"),
                       (3, "Losses below zero", "senders", "linear", "gain", "linear")])
    for i in range(6):
        many(db, "curves", [(i, f"curve {i}", "measured", "", "", "count", "bps", 1)])
        many(db, "curve_points", [(i, x, 1e9 * (i + x + 1), 1e9 * (i + x), 1e9 * (i + x + 2.5))
                                  for x in range(3)])
    for i in (6, 7):
        many(db, "curves", [(i, f"wide {i}", "measured", "", "", "count", "bps", 2)])
        many(db, "curve_points", [(i, x, 1e9 * i, -5e9, 13e9) for x in (5, 10, 80)])
    many(db, "curves", [(8, "wide 6", "published", "", "", "count", "bps", 2),
                        (9, "gain", "measured", "", "", "count", "ratio", 3)])
    many(db, "curve_points", [(8, 80, 8.5e9, None, None)])
    many(db, "curve_points", [(9, x, x - 1, x - 1.2, x - 0.8) for x in range(3)])
    db.commit()
    db.close()


STATEMENTS = """\
statements:
  - {name: a, text: it is <fast>, place: sec 1, published: 1, source: text,
     decided_by: [fig1/a, fig1/b]}
  - {name: c, text: and twice as fast, place: sec 2, published: 2, source: plot,
     decided_by: fig1/c, explanation: BECAUSE}
  - {name: d, text: and small, place: sec 3, published: 3, source: memory, decided_by: fig1/e}
declared: [{reading: other, because: it is said}]
"""


def papers(folder):
    """Papers with recorded verdicts: one of two commits with statements, one of a single seed, one
    of nothing."""
    lines = {
        "first": ["fig1,a,text,1,1,0.9,1.1,ratio,reproduced,30,00000000000000aa,aaaaaaaaaaaa,"
                  "2026-11-22",
                  "fig1,b,text,1,1,0.9,1.1,ratio,reproduced?,10,00000000000000aa,aaaaaaaaaaaa,"
                  "2026-11-22",
                  "fig1,c,plot,1,2,1.9,2.1,ratio,not reproduced,5,00000000000000aa,aaaaaaaaaaaa,"
                  "2026-11-22",
                  "fig2,d,own,,,,,count,not judged,0,00000000000000bb,bbbbbbbbbbbb+,2026-11-23"],
        "second": ["fig1,a,memory,1,1.4,,,ratio,in shape,1,00000000000000cc,cccccccccccc,"
                   "2026-11-21"],
        "third": [],
    }
    for name, rows in lines.items():
        os.makedirs(os.path.join(folder, name, "figures"))
        with open(os.path.join(folder, name, "paper.yaml"), "w", encoding="utf-8") as file:
            file.write(f"title: The {name} <paper>\nauthors: Somebody\npublished: 2026\n"
                       "figures: [fig1]\n")
        if rows:
            with open(os.path.join(folder, name, "results.csv"), "w", encoding="utf-8") as file:
                file.write("figure,claim,source,published,measured,low,high,unit,verdict,seeds,"
                           "digest,commit,date\n" + "\n".join(rows) + "\n")
    with open(os.path.join(folder, "first", "results.csv"), encoding="utf-8") as file:
        head, *rows = file.read().splitlines()
    with open(os.path.join(folder, "first", "results.csv"), "w", encoding="utf-8") as file:
        file.write("\n".join([head + ",reading", *(row + "," for row in rows),
                              rows[2].replace("not reproduced", "reproduced") + ",other"]) + "\n")
    with open(os.path.join(folder, "first", "statements.yaml"), "w", encoding="utf-8") as file:
        file.write(STATEMENTS)


def everything(folder):
    """One of each, for a look and for the test of the page."""
    run(os.path.join(folder, "runs", "dcqcn", "run.sqlite"), 3000, "dcqcn", where=True)
    run(os.path.join(folder, "runs", "none", "run.sqlite"), 3000, "none", seed=2, where=True)
    sweep(os.path.join(folder, "sweep", "sweep.sqlite"))
    figure(os.path.join(folder, "figures", "fig6a.sqlite"))
    figure(os.path.join(folder, "figures", "fig2.sqlite"), "fig2", "Go-Back-N against loss")
    bars(os.path.join(folder, "figures", "fig3.sqlite"))


def plots(folder):
    """Figures of several plots: one, and very many."""
    several(os.path.join(folder, "several", "fig4.sqlite"))
    for i in range(1, 25):
        several(os.path.join(folder, "crowd", f"fig{i}.sqlite"), f"fig{i}")


if __name__ == "__main__":
    everything(sys.argv[1])
    if sys.argv[2:] == ["plots"]:
        plots(sys.argv[1])
        papers(os.path.join(sys.argv[1], "papers"))
