#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche run: what it shows of single ports and events. Patterns in measure.queues; captures at the
ports of switches; --trace, whose lines together have the hash of the run; series where
measure.interval is auto.

Environment: OCHE, SOURCE.
"""
import collections
import csv
import json
import os
import re
import resource
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

from checks import check, report, run_program

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]


def oche(*arguments, status=0):
    done = run_program(OCHE, "run", *arguments)
    check(done.returncode == status, arguments, "status", done.returncode, done.stderr)
    check((done.stderr == "") == (status == 0), arguments, "says", repr(done.stderr))
    return done.stdout if status == 0 else done.stderr


def scenario(name):
    return os.path.join(SOURCE, "tests", "scenarios", name + ".yaml")


def rows(folder, query):
    db = sqlite3.connect(os.path.join(folder, "run.sqlite"))
    try:
        return db.execute(query).fetchall()
    finally:
        db.close()


def hash_of(text):
    found = re.search(r"^trace hash +([0-9a-f]{16})$", text, re.M)
    return found.group(1) if found else None


def test_queues(work):
    def watched(queues):
        folder = os.path.join(work, "queues")
        text = oche(scenario("pauses"), "--set", "duration=400us", "--set", "warmup=0", "--set",
                    "measure.queues=" + queues, "--out", folder)
        shown = re.findall(r"^  (\w+:\w+)(?: +[\d.]+[KM]?B?){5}$", text, re.M)
        left = re.search(r"^  and (\d+) shorter ones *$", text, re.M)
        names = [name for name, in rows(
            folder, "SELECT entity FROM histogram_names ORDER BY id")]
        times = {time for time, in rows(
            folder, "SELECT sum(weight) FROM histograms GROUP BY histogram")}
        check(len(times) == 1, queues, "watched for", times)
        check(len(shown) == min(16, len(names)) and
              (int(left.group(1)) if left else 0) == len(names) - len(shown), queues, shown, left)
        return names, hash_of(text)

    one, plain = watched("tor0:agg1")
    check(one == ["tor0:agg1"], one)
    ups, same = watched("tor0:up*")
    check(ups == ["tor0:agg0", "tor0:agg1"] and same == plain, ups, same, plain)
    check(watched("tor0:up1, tor0:agg*, tor0:1")[0] == ["tor0:agg1", "tor0:agg0", "tor0:host1"],
          "in the order of the list, each once")
    everything, same = watched("all")
    ports = rows(os.path.join(work, "queues"), "SELECT port_a FROM links UNION "
                 "SELECT port_b FROM links")
    ports = sorted(port for port, in ports if ":" in port)
    check(sorted(everything) == ports and len(ports) > 40 and same == plain, everything)
    # A limit of memory, which also applies to series.
    def refused(*sets):
        sets = [part for one in ("measure.queues=all", "switch.pfc=false", *sets)
                for part in ("--set", one)]
        return oche(scenario("pauses"), *sets, "--out", os.path.join(work, "no"), status=2)

    told = refused("topology.pods=4", "topology.hosts_per_tor=32", "measure.interval=1ns")
    check(re.search(r"measure\.queues: series of \d+ queues with 900,000 samples take [\d.]+GB of "
                    "memory, and at most 1.07GB", told), told)
    told = refused("topology.pods=12", "topology.hosts_per_tor=32")
    check(re.search(r"measure\.queues: names 2,\d+ queues; at most 1,024 are watched", told), told)
    told = refused("topology.pods=4", "measure.queue_step=1B")
    check(re.search(r"measure\.queues: histograms of \d+ queues take [\d.]+GB", told), told)


def frames_of(path):
    """[(nanoseconds, bytes)] of a pcap file."""
    with open(path, "rb") as file:
        data = file.read()
    check(struct.unpack_from("<I", data)[0] == 0xa1b23c4d, path, "is no nanosecond pcap")
    at, frames = 24, []
    while at < len(data):
        seconds, nanoseconds, count, _ = struct.unpack_from("<IIII", data, at)
        frames.append((seconds * 10**9 + nanoseconds, data[at + 16:at + 16 + count]))
        at += 16 + count
    return frames


def test_capture(work):
    def captured(ports, name="losses"):
        path, folder = os.path.join(work, "x.pcap"), os.path.join(work, "capture")
        text = oche(scenario(name), "--set", "duration=1ms", "--pcap", path + ":" + ports,
                    "--out", folder)
        return frames_of(path), path, folder, hash_of(text)

    up, path, folder, traced = captured("tor0:up1")
    wire = subprocess.run([OCHE, "wire", "--quiet", path], stdout=subprocess.PIPE, text=True,
                          check=False)
    check(wire.returncode == 0 and len(up) > 200, len(up), wire.stdout[-1000:])
    plain = oche(scenario("losses"), "--set", "duration=1ms", "--out", folder)
    check(hash_of(plain) == traced, "a capture changes the run")
    check([when for when, _ in up] == sorted(when for when, _ in up), "out of order")
    # Both directions, each with the MAC addresses of the link's ends; TTL 63 behind one switch.
    ways = collections.Counter(frame[:12] for _, frame in up)
    check(len(ways) == 2, ways)
    first, second = ways
    check(first[:6] == second[6:] and first[6:] == second[:6], ways)
    hops = {way: {frame[21] for _, frame in up if frame[:12] == way} for way in ways}
    check(sorted(hops.values(), key=max) == [{60, 62}, {63}], hops)
    # The other end of the link sees the same frames at other times, but those still under way
    # at the end, and those that the link lost.
    down = captured("agg1:down0")[0]
    more = collections.Counter(frame for _, frame in up)
    less = collections.Counter(frame for _, frame in down)
    check(sum(((more - less) + (less - more)).values()) < len(up) // 50, len(up), len(down))
    check(up != down, "at the same times")
    # Patterns, hosts beside switches, PFC frames.
    check(len(captured("tor0:up*,host0")[0]) > len(up), "more ports, more frames")
    # One of two parallel links, and both.
    with open(os.path.join(work, "lag.topology"), "w") as file:
        file.write("host a\nhost b\nswitch s\nswitch t\nlink a s 10Gbps 1us\n"
                   "link b t 10Gbps 1us\nlink s t 10Gbps 1us\nlink s t 10Gbps 1us\n")
    with open(os.path.join(work, "lag.yaml"), "w") as file:
        file.write("topology: {type: from_file, file: lag.topology}\ncongestion_control: none\n"
                   "workload: {type: transfers, pairs: 'a>b', messages: 40, bytes: 20KB}\n")
    lag = [len(captured(ports, os.path.join(work, "lag"))[0])
           for ports in ("s:t", "s:t/1", "s:t/2", "s:t/?,a")]
    check(lag[1] > 0 and lag[2] > 0 and lag[0] == lag[1] + lag[2] < lag[3], lag)
    pauses = captured("tor*:*", "pauses")[0]
    check(any(frame[12:14] == b"\x88\x08" for _, frame in pauses), "no PFC frame of a switch")


# ---- the trace hash, anew ----

WORD = 2**64 - 1
TRACE_H = os.path.join(SOURCE, "core", "trace", "trace.h")


def kinds():
    with open(TRACE_H, encoding="utf-8") as file:
        table = file.read().split("#define OCHE_TRACE_EVENTS(X)")[1].split("enum")[0]
    return {name: number for number, name in enumerate(re.findall(r"\bX\((\w+),", table))}


# name, word, shift: the fields of each kind of event, as docs/trace.md has them
FIELDS = {
    "DATA_SENT": "psn b:bytes b32:opcode b40:retransmitted",
    "DATA_ARRIVED": "psn b:bytes b32:opcode b40:ecn",
    "DELIVERED": "psn b:bytes", "MESSAGE_DELIVERED": "msn b:bytes", "DUPLICATE": "psn b:opcode",
    "OUT_OF_ORDER": "psn b:expected_psn", "ACK_SENT": "psn b:msn b24:syndrome",
    "ACK_ARRIVED": "psn b:msn b24:syndrome", "CNP_SENT": "", "CNP_ARRIVED": "",
    "RATE_CHANGED": "cause b:rate_bps", "WINDOW_CHANGED": "cause b:window_bytes",
    "TIMEOUT": "psn b:retries_left", "GO_BACK": "psn b:highest_psn",
    "POSTED": "wr_id b:bytes b32:operation", "COMPLETED": "wr_id b:status",
    "STATE": "from_state b:to_state", "REJECTED": "cause b:psn",
    "PAUSE_SENT": "port b:quanta b16:class", "PAUSE_ARRIVED": "port b:quanta b16:class",
    "DROPPED": "port a32:cause b:psn", "MARKED": "psn b:backlog_bytes",
    "FLOW_STARTED": "flow b:bytes", "FLOW_ENDED": "flow b:bytes",
    "RANK_ENDED": "rank b:workload",
    "CC_STATE": "state_a b:state_b", "RESTARTED": "psn b:bytes b40:of_read",
    "PLACED": "psn b:bytes", "SENDERS": "senders b:told b32:cc_state",
    "DEFLECTED": "egress a16:port b:psn b24:tokens b32:lane", "CREDIT_SENT": "credit b:bytes",
    "CREDIT_ARRIVED": "credit b:bytes", "LINK_DOWN": "port", "LINK_UP": "port",
    "LINK_CHANGED": "port rate_bps", "REROUTED": "",
    "FCP_SENT": "port b:fccl b16:fctbs b32:vl", "FCP_ARRIVED": "port b:fccl b16:fctbs b32:vl",
}
PLACES = {kind: [(place.partition(":")[2] or place, place[0] == "b" and ":" in place,
                  int(re.match(r"[ab]?(\d*):|", place).group(1) or 0))
                 for place in text.split()] for kind, text in FIELDS.items()}


def mix64(x):
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & WORD
    x = (x ^ x >> 27) * 0x94d049bb133111eb & WORD
    return x ^ x >> 31


def hash_of_events(events, nodes):
    """The hash of core/trace/trace.h and of oche_network_hash, from the lines of a trace."""
    number = kinds()
    hashes = {node: [0x9e3779b97f4a7c15, 0] for node in nodes}
    for event in events:
        name = re.sub("^(RNR_)?NAK_", "ACK_", event["event"])
        words = [0, 0]
        for field, word, shift in PLACES[name]:
            words[word] |= int(event[field]) << shift
        own = hashes[event["node"]]
        h = (own[0] ^ int(event["time_ps"])) * 0xff51afd7ed558ccd & WORD
        h = (h ^ h >> 32 ^ (number[name] << 32 | int(event.get("qp") or 0))) * 0xc4ceb9fe1a85ec53
        h &= WORD
        h = (h ^ h >> 32 ^ words[0]) * 0x9fb21c651e98df25 & WORD
        own[0] = (h ^ h >> 32 ^ words[1]) * 0xd6e8feb86659fd93 & WORD
        own[1] += 1
    whole = 0x6f636865
    for node in nodes:
        whole = mix64(whole ^ hashes[node][0]) + hashes[node][1] & WORD
    return f"{whole:016x}"


def events_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        if path.endswith(".csv"):
            return list(csv.DictReader(file))
        return [json.loads(line) for line in file]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def test_trace(work):
    folder = os.path.join(work, "trace")

    def traced(path, end, *options, ending=".csv"):
        file = os.path.join(work, path + ending)
        given = os.path.join(SOURCE, end[0]) if os.sep in end[0] else scenario(end[0])
        sets = [part for one in end[1:] for part in ("--set", one)]
        text = oche(given, *sets, "--out", folder, "--trace", file, *options)
        nodes = [name for name, in rows(folder, "SELECT name FROM nodes ORDER BY id")]
        return file, hash_of(text), nodes, text

    seen = set()
    for world in (["pauses", "duration=250us", "warmup=0"], ["losses", "duration=600us"],
                  ["credits", "duration=330us"], ["tcp", "duration=300us"],
                  ["rogue", "duration=600us"], ["scenarios/graph-dissemination.yaml"],
                  ["selective", "duration=250us"], ["rcp", "duration=400us"],
                  ["pairs", "congestion_control=expresspass", "duration=400us"],
                  ["pairs", "congestion_control=dart", "duration=330us"],
                  ["losses", "recovery=go_back_0", "duration=300us"],
                  [os.path.join("scenarios", "deflection.yaml"), "duration=150us", "warmup=0"],
                  [os.path.join("scenarios", "link-failure.yaml"), "duration=400us",
                   "failures[0].at=100us", "failures[0].until=300us", "routes.reroute=50us",
                   "workload.stop=350us"]):
        first, expected, nodes, text = traced("one", world)
        events = events_of(first)
        seen.update(event["event"] for event in events)
        check(hash_of_events(events, nodes) == expected, world, "the trace is not of the hash")
        check(f"trace: {first}, {len(events):,} events\n" in text, world, len(events), text[-200:])
        order = [(int(event["time_ps"]), nodes.index(event["node"])) for event in events]
        check(order == sorted(order), world, "is not in order")
        if world[0] not in ("pauses", "rogue", "tcp"):
            continue
        two = traced("two", world, "--threads", "2")
        check(two[1] == expected and read(first) == read(two[0]), world, "two threads")
        lines, _, _, _ = traced("three", world, ending=".jsonl")
        check([{key: str(value) for key, value in event.items()} for event in events_of(lines)] ==
              [{key: value for key, value in event.items() if value != ""} for event in events],
              world, "JSON and CSV differ")
    check(seen >= {"DATA_SENT", "DATA_ARRIVED", "ACK_SENT", "ACK_ARRIVED", "NAK_SENT",
                   "NAK_ARRIVED", "CNP_SENT", "CNP_ARRIVED", "RATE_CHANGED", "WINDOW_CHANGED",
                   "TIMEOUT", "GO_BACK", "PAUSE_SENT", "PAUSE_ARRIVED", "DROPPED", "FLOW_STARTED",
                   "FLOW_ENDED", "CREDIT_SENT", "FCP_SENT", "DEFLECTED", "LINK_DOWN", "REROUTED",
                   "SENDERS", "RESTARTED", "RANK_ENDED"},
          "no event of these kinds:", sorted(set(FIELDS) - seen))


def test_page():
    """docs/trace.md has each kind of event, with its fields."""
    with open(os.path.join(SOURCE, "docs", "trace.md"), encoding="utf-8") as file:
        table = file.read().split("| event | fields |")[1].split("\n\n")[0]
    told = {}
    for names, fields in re.findall(r"^\| ([A-Z_, ]+) \| ([a-z_, ]*) ?\|", table, re.M):
        for name in names.split(", "):
            told[name.strip()] = [field for field in fields.strip().split(", ") if field]
    for kind in kinds():
        if kind != "NONE":
            names = [name for name, _, _ in PLACES[kind]]
            check(told.get(kind) == names, kind, told.get(kind), names)


def test_dropped_by_a_host(work):
    """docs/trace.md has the cause of what a slow receiver drops."""
    path = os.path.join(work, "dropped.jsonl")
    with open(os.path.join(SOURCE, "docs", "trace.md"), encoding="utf-8") as file:
        told = re.findall(r"(\d): ", file.read().split("\n| DROPPED |")[1].split("\n")[0])
    oche(os.path.join(SOURCE, "scenarios", "slow-receiver.yaml"), "--set", "switch.pfc=false",
         "--set", "duration=500us", "--quiet", "--out", os.path.join(work, "dropped"), "--trace",
         path + ":host=host0")
    causes = {event["cause"] for event in events_of(path) if event["event"] == "DROPPED"}
    check(causes == {4} and told == ["0", "1", "2", "4", "8"], "causes", causes, told)


def test_filter(work):
    folder = os.path.join(work, "filter")

    def traced(what):
        path = os.path.join(work, "filtered.jsonl")
        text = oche(scenario("losses"), "--set", "duration=1ms", "--out", folder, "--trace",
                    path + what, "--threads", "2")
        return events_of(path), hash_of(text)

    everything, plain = traced("")
    starts = [event for event in everything if event["event"] == "FLOW_STARTED"]
    sender = next(event["node"] for event in starts if event["flow"] == 2)
    for what, wanted in ((":host=3", lambda event: event["node"] == "host3"),
                         (":host=host3,tor0,host=agg1",
                          lambda event: event["node"] in ("host3", "tor0", "agg1")),
                         (":flow=2", lambda event: event.get("connection") == 2),
                         (f":flow=2,flow=5,host={sender}", lambda event: event["node"] == sender and
                          event.get("connection") in (2, 5))):
        events, traced_hash = traced(what)
        check(traced_hash == plain, what, "changes the run")
        check(events == [event for event in everything if wanted(event)], what, len(events))
        check(len(events) > 0, what, "matches nothing")
    told = oche(scenario("losses"), "--out", folder, "--trace", "x.csv:host=99", status=2)
    check(told == "--trace x.csv:host=99: no node is called \"99\"; hosts are host0 to host15, or "
          "0 to 15, switches tor0 to core3\n" and not os.path.exists("x.csv.part"), told)


def test_full_disk(work):
    """A file that cannot grow: one line, status 2, and no file that looks whole."""
    folder, path = os.path.join(work, "full"), os.path.join(work, "full.csv")

    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1200000, 1200000))

    for before in (False, True):
        begun = time.monotonic()
        done = run_program(OCHE, "run", scenario("losses"), "--out", folder, "--quiet", "--trace",
                           path, "--set", "duration=2s", "--set", "workload[0].messages=1000000",
                           preexec_fn=small)
        check(done.returncode == 2 and done.stderr == f"--trace {path}: cannot be written: File "
              "too large; give a place that can be\n", done.returncode, done.stderr)
        check(time.monotonic() - begun < 60, "the run went on")
        check(not os.path.exists(path + ".part"), "a part is left")
        check(os.path.exists(path) == before and (not before or read(path) == b"old"), path)
        check(os.listdir(folder) == [], os.listdir(folder))
        with open(path, "w", encoding="utf-8") as file:
            file.write("old")


TABLES = ("metrics", "entity_counters", "flows", "pause_tree", "congestion", "histograms")


def test_interval(work):
    """With `measure.interval: auto` there are series; nothing else differs."""
    def run(name, interval, *options):
        folder = os.path.join(work, "interval")
        sets = [] if interval is None else ["--set", "measure.interval=" + interval]
        text = oche(name, *sets, "--out", folder, *options)
        numbers = [row for table in TABLES for row in rows(folder, f"SELECT * FROM {table}")
                   if row[0] not in ("events", "wall_s", "speed", "threads")]
        counts = rows(folder, "SELECT count(*) FROM series GROUP BY series")
        (shown,), = rows(folder, "SELECT value FROM parameters WHERE key='measure.interval'")
        return hash_of(text), numbers, counts, shown, rows(folder, "SELECT * FROM series")

    for name in (scenario("losses"), scenario("selective"), scenario("rogue"),
                 scenario("tcp"),
                 os.path.join(SOURCE, "scenarios", "lossy.yaml")):
        plain, numbers, counts, shown, _ = run(name, "0")
        check(counts == [] and shown == "0", name, counts, shown)
        same, alike, counts, shown, series = run(name, None)
        check(same == plain, name, "the hash is another")
        check(alike == numbers, name, sorted(set(alike) ^ set(numbers))[:4])
        check(counts and all(count <= 512 for count, in counts), name, counts[:4])
        check(max(counts)[0] > 100, name, max(counts))
        check(re.fullmatch(r"auto \([\d.]+[mun]s\)", shown), name, shown)
        check(run(name, "auto", "--threads", "2")[4] == series, name, "two threads")
    shown = subprocess.run([OCHE, "run", "--show-defaults", scenario("losses")],
                           stdout=subprocess.PIPE, text=True, check=True).stdout
    check(re.search(r"^measure\.interval +auto \(\d+[nu]s or more\) ", shown, re.M),
          [line for line in shown.splitlines() if "measure.i" in line])


def main():
    os.chdir(SOURCE)
    with tempfile.TemporaryDirectory() as work:
        test_queues(work)
        test_capture(work)
        test_trace(work)
        test_page()
        test_dropped_by_a_host(work)
        test_filter(work)
        test_full_disk(work)
        test_interval(work)
    return report()


sys.exit(main())
