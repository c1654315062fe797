#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche import`: schedules of GOAL, as text and binary, end when LogGOPSim says; those that do not
end name what waits; htsim's matrices become schedules; configurations, topologies, lists of flows
and distributions are recognised, and become scenarios that run; wrong files get one line, with the
line or the rank.

Environment: OCHE, SOURCE.
"""
import json
import os
import struct
import sys
import tempfile

import goal
from checks import check, must, report, run_program

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]

# When schedule 0, 1, … of goal.py ends, in ns, by LogGOPSim (76451de) with its defaults.
ENDS = [8061911, 3628488, 6018096, 2828625, 398710, 4797135, 4432229, 3691764, 3239348, 2417730,
        1207588, 6094, 2439423, 2014431, 2008633, 3205896, 402813, 4066526, 5647780, 4423189]

TEXT = "num_ranks 2\nrank 0 {\na: calc 5 cpu 1\nb: send 8b to 1 tag 3 cpu 0 nic 0\n" \
       "b requires a\n}\nrank 1 {\nrecv 8b from 0 tag 3\n}\n"
# What is replaced in TEXT, by what, and what the line must contain.
WRONG = [
    ("num_ranks 2", "ranks 2", "x.goal:1: begins with \"ranks\", as nothing that is known"),
    ("num_ranks 2", "num_ranks 0", "x.goal:1: num_ranks: 0"),
    ("num_ranks 2", "num_ranks 99999999", "too large"),
    ("rank 1 {", "rank 2 {", "x.goal:7: rank: 2 is too large"),
    ("rank 1 {", "rank 0 {", "comes a second time"),
    ("rank 1 {", "rank 1", "has no block"),
    ("rank 1 {", "send 8b to 0", "is outside of a rank"),
    ("8b to 1", "8 to 1", "x.goal:4: a size ends in b"),
    ("8b to 1", "b to 1", "is no number"),
    ("8b to 1", "8b 1", "to is missing"),
    ("8b to 1", "8b to 2", "there is no rank 2"),
    ("8b to 1", "8b to 0", "sends to itself"),
    ("8b to 1", "8b to -1", "a send goes to one rank"),
    ("to 1 tag 3", "to 1 tag -1", "a send has one tag"),
    ("cpu 0 nic 0", "nic 0 cpu 0", "is not known behind a send"),
    ("calc 5 cpu 1", "calc 5 nic 1", "is not known behind a calc"),
    ("calc 5 cpu 1", "calc 5 cpu 255", "too large"),
    ("b requires a", "b requires c", "x.goal:5: the label c is not defined above"),
    ("b requires a", "b requires b", "waits for itself"),
    ("b requires a", "b needs a", "is not known"),
    ("b requires a", "b requires a\na requires b", "rank 0: 2 operations wait for each other"),
    ("b: send", "a: send", "the label a is also in line 3"),
    ("b: send", "b: put", "is no operation"),
    ("from 0 tag 3\n}\n", "from 0 tag 3\n", "the block of rank 1, in line 7, does not end"),
    ("num_ranks 2", "", "x.goal:2: begins with \"rank\""),
]


MATRIX = "Nodes 4\nConnections 3\nTriggers 1\ntrigger id 7 barrier count 2\n" \
         "0->1 id 1 start 5000000 size 1000 recv_done_trigger 7\n" \
         "2->3 id 2 start 0 size 1000 send_done_trigger 7\n3->0 id 3 trigger 7 size 2000\n"
WRONG_MATRIX = [
    ("Nodes 4", "Nodes 3", "x.goal:6: destination: 3 is too large; at most 2"),
    ("Nodes 4", "Nodes 1", "x.goal:1: Nodes: 1; at least 2"),
    ("Nodes 4", "Nodes x", "x.goal:1: Nodes: \"x\" is no number"),
    ("Connections 3", "Connections 2", "has 3 connections and 1 triggers; its head says 2 and 1"),
    ("Connections 3", "Links 3", "x.goal:2: \"Links\" is not known"),
    ("count 2", "count 0", "x.goal:4: a trigger needs an id from 1"),
    ("count 2", "count 3", "x.goal:4: trigger 7 needs 3 firings, and 2 connections fire it"),
    ("3->0 id 3 trigger 7 size 2000", "3->0 id 3 trigger 8 size 2000", "trigger 8 is not defined"),
    ("2->3 id 2", "trigger id 8 multishot\n3->1 trigger 8 size 1\n2->3 id 2",
     "x.goal:6: no connection fires multishot trigger 8; at least one"),
    ("barrier count 2", "often", "x.goal:4: \"often\" is not known in a trigger"),
    ("trigger id 7 b", "trigger id 8 b", "x.goal:5: trigger 7 is not defined"),
    ("0->1", "0-1", "x.goal:5: \"0-1\" is no connection"),
    ("0->1", "1->1", "x.goal:5: node 1 sends to itself"),
    ("start 5000000", "start 5us", "x.goal:5: start: \"5us\" is no whole number"),
    ("start 5000000 ", "", "x.goal:5: a connection has a start or a trigger; write start 0"),
    ("trigger 7 size 2000", "trigger 7 start 0 size 2000", "a start or a trigger, not both"),
    ("size 2000", "", "x.goal:7: size is missing"),
    ("size 2000", "size 2000 colour 3", "x.goal:7: \"colour\" is not known"),
    ("size 2000", "size 2000\nfailure switch_type AGG switch_id 0 link_id 0",
     "x.goal: has 1 failures; its head says 0"),
    ("size 2000", "size 2000\nfailure switch_type TOR switch_id 0 link_id 0",
     "x.goal:8: switch_type TOR; only links of AGG to a core can fail in htsim"),
    ("size 2000", "size 2000\nfailure switch_type AGG switch_id 0",
     "x.goal:8: a failure needs switch_type AGG, a switch_id and a link_id"),
    ("size 2000", "size 2000\nfailure switch_type AGG switch_id x link_id 0",
     "x.goal:8: switch_id: \"x\" is no number"),
    ("size 2000", "size 2000\nfailure switch_type AGG port 0",
     "x.goal:8: \"port\" is not known in a failure"),
]


# As HPCC's simulator has it: switches before hosts, another link behind the last, ns-3's rates.
TOPOLOGY = "5 2 5\n0 1\n2 0 25Gbps 1us 0\n3 0 25000000000.0 1us 0\n4 1 25Gb/s 1us 0\n" \
           "0 1 100Gbps 1us 0\n0 1 100Gbps 1us 0\n\n0 255 1Gbps 1us 0\nwhat it is\n"
FLOWS = "3\n2 4 3 100 20000 2.000001\n3 4 3 100 30000 2.000002\n4 2 3 100 5000 2.0001\n"
CONFIG = """ENABLE_QCN 1 {0: disable, 1: enable}
TOPOLOGY_FILE mix/topology.txt
FLOW_FILE mix/flow.txt
SIMULATOR_STOP_TIME 2.5
CC_MODE 1
RP_TIMER 900
EWMA_GAIN 0.00390625
RATE_AI 50Mb/s
PACKET_PAYLOAD_SIZE 1000
L2_BACK_TO_ZERO 0
HAS_WIN 1
LINK_DOWN 50 0 1
KMAX_MAP 2 25000000000 400 100000000000 1600
KMIN_MAP 2 25000000000 100 100000000000 400
PMAX_MAP 2 25000000000 0.2 100000000000 0.2
BUFFER_SIZE 16
FCT_OUTPUT_FILE mix/fct.txt
NEW_KEY 1 2
"""
CONFIG_DB = {
    "DEVICE_METADATA": {"localhost": {"hwsku": "x"}},
    "PORT": {f"Ethernet{i}": {"speed": "25000"} for i in range(0, 64, 4)},
    "BUFFER_POOL": {"pool": {"size": "16000000", "type": "ingress", "mode": "dynamic"}},
    "BUFFER_PROFILE": {"lossless": {"pool": "pool", "xon": "18432", "xon_offset": "2496",
                                    "xoff": "40000", "size": "1248", "dynamic_th": "-1"}},
    "BUFFER_PG": {f"Ethernet{i}|3-4": {"profile": "lossless"} for i in range(0, 64, 4)},
    "WRED_PROFILE": {"RDMA": {"ecn": "ecn_all", "wred_green_enable": "true",
                              "green_min_threshold": "100000", "green_max_threshold": "400000",
                              "green_drop_probability": "20"}},
    "QUEUE": {"Ethernet0,Ethernet4|3-4": {"wred_profile": "RDMA"}},
    "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4"}},
    "PFC_WD": {"Ethernet0": {"action": "drop", "detection_time": "200", "restoration_time": "400"}},
}


def oche_import(*options):
    return run_program(OCHE, "import", *options, timeout=60)


def result_of(path, status=0):
    done = oche_import("--json", path)
    must(done.returncode == status and not done.stderr, path, done.returncode, done.stderr)
    return json.loads(done.stdout)


def write(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def check_ends(folder):
    for seed, end in enumerate(ENDS):
        ranks = goal.made(seed)
        for content in (goal.text_of(ranks), goal.binary_of(ranks)):
            result = result_of(write(folder, "made.goal", content))
            check(result["end_ns"] == end and result["operations_left"] == 0 and
                  result["sends"] == result["receives"], "schedule", seed, result, "not", end)
    barrier = os.path.join(SOURCE, "scenarios", "graphs", "dissemination_16.goal")
    check(result_of(barrier)["end_ns"] == 22000, "the barrier")
    done = oche_import(barrier, "--loggops", "L=1000,o=0,g=0,G=0")
    check("ends after 4000 ns" in done.stdout, done.stdout, done.stderr)


def check_matrix(folder):
    """A connection matrix of htsim becomes a schedule: connections, the clock of their starts, and
    messages that say that a trigger has been fired elsewhere, or starts something elsewhere."""
    result = result_of(write(folder, "x.cm", MATRIX))
    # Trigger 7 is at home at node 3: nodes 1 and 2 tell it. Node 0 waits 5 us with its own.
    check((result["sends"], result["receives"], result["calculations"], result["ranks"]) ==
          (5, 5, 2, 4), result)
    check("a trigger fires or starts something at another node 2 times" in result["remark"], result)
    check(result["format"] == "htsim's connection matrix", result)
    done = run_program(OCHE, "run", write(folder, "x.yaml", "topology: {type: star, hosts: 4, "
                       "host_rate: 100Gbps, delay: 1us}\ncongestion_control: none\n"
                       f"workload: {{type: from_file, file: {folder}/x.cm}}\n"), "--json", "-o",
                       folder + "/out", timeout=60)
    time = json.loads(done.stdout)["runs"][0]["metrics"]["workload.0.time"]
    # 5 us, and four ways of 2 us and a little more: node 0's data, node 1's word, node 3's data,
    # and its ACK.
    check(13e-6 < time < 13.6e-6, time, done.stderr)
    answer = os.path.join(SOURCE, "scenarios", "graphs", "incast_then_answer.cm")
    check(result_of(answer)["operations_left"] == 0, "incast_then_answer.cm")


MULTISHOT = "Nodes 4\nConnections 5\nTriggers 1\ntrigger id 1 multishot\n" \
            "0->1 id 1 start 0 size 500000 send_done_trigger 1\n" \
            "1->2 id 2 start 0 size 1000 recv_done_trigger 1\n" \
            "0->2 id 3 trigger 1 size 3000\n0->3 id 4 trigger 1 size 4000\n" \
            "2->3 id 5 trigger 1 size 5000{0}\n"


def starts(folder, network):
    """Returns by size the starts of flows of a run of x.cm, in us, and what the run prints."""
    write(folder, "x.yaml", f"topology: {network}\ncongestion_control: none\n"
          f"workload: {{type: schedule, file: {folder}/x.cm}}\n")
    done = run_program(OCHE, "run", "x.yaml", "--trace", "x.csv", timeout=60, cwd=folder)
    must(done.returncode == 0, done.stderr)
    with open(os.path.join(folder, "x.csv"), encoding="utf-8") as lines:
        rows = [line.split(",") for line in lines if "FLOW_STARTED" in line]
    return {int(row[6]): int(row[0]) / 1e6 for row in rows}, done.stdout


def check_multishot(folder):
    """Each firing of a multishot starts the next connection in the file's order, whoever fires; a
    connection that is left over never starts, and must not be one that others wait for."""
    write(folder, "x.cm", MULTISHOT.format(""))
    result = result_of(folder + "/x.cm")
    check(result["operations_left"] == 0 and "1 connections never start" in result["remark"],
          result)
    found, _ = starts(folder, "{type: star, hosts: 4, host_rate: 100Gbps, delay: 1us}")
    # Connection 2 is there after 2 us, and its word at node 0 after 4; connection 1 is acknowledged
    # after 40 us and a round trip of 4.
    check(4 < found[3000] < 5 and 44 < found[4000] < 50 and 5000 not in found, found)
    write(folder, "x.cm", MULTISHOT.format(" send_done_trigger 1"))
    check(oche_import(folder + "/x.cm").returncode == 1, "it waits for itself")
    write(folder, "x.cm", MULTISHOT.format(" recv_done_trigger 2").replace(
        "Triggers 1", "Triggers 2").replace("0->1 id 1", "trigger id 2 oneshot\n0->1 id 1"))
    done = oche_import(folder + "/x.cm")
    check(done.returncode == 2 and "x.cm:10: never starts, as trigger 1 starts 3 connections and "
          "is fired 2 times" in done.stderr, done.stderr)


def check_failures(folder):
    """A matrix's failures take links away, for good and from the beginning."""
    matrix = "Nodes 8\nConnections 1\nFailures 2\n0->7 id 1 start 0 size 100000\n" \
             "failure switch_type AGG switch_id 0 link_id 1\n" \
             "failure switch_type AGG switch_id 0 link_id 0\n"
    write(folder, "x.cm", matrix)
    check(result_of(folder + "/x.cm")["failures"] == 2, "failures")
    _, shown = starts(folder, "{type: fat_tree, k: 4}")
    check("down from 0 to the end: agg0:core0, agg0:core1; out of the routes from 0 to the end"
          in shown and "0 packets were lost to failures" in shown, shown)


def check_stuck(folder):
    """A receive without a message, a message without a receive, and ranks that wait for each
    other's long messages."""
    path = write(folder, "x.goal", TEXT.replace("from 0 tag 3", "from 0 tag 4"))
    done = oche_import(path)
    check(done.returncode == 1 and "1 receives get no message; the first: rank 1, recv 8b from 0 "
          "tag 4" in done.stdout and "from rank 0 to 1, tag 3" in done.stdout, done.stdout)
    path = write(folder, "x.goal", TEXT.replace("from 0 tag 3", "from -1 tag -1"))
    check(oche_import(path).returncode == 0, "any source and tag")
    block = "s: send 100000b to {0} tag 1\nr: recv 100000b from {0} tag 1\nr requires s\n"
    text = "num_ranks 2\nrank 0 {\n" + block.format(1) + "}\nrank 1 {\n" + block.format(0) + "}\n"
    result = result_of(write(folder, "x.goal", text), status=1)
    check(result["operations_left"] == 4 and result["messages_without_receive"] == 2, result)
    check(result_of(write(folder, "x.goal", text.replace("100000b", "100b")))["end_ns"] > 0,
          "short messages do not wait")


def check_wrong(folder):
    for text, old, new, words in [(TEXT, *row) for row in WRONG] + \
            [(MATRIX, *row) for row in WRONG_MATRIX]:
        must(old in text, old)
        write(folder, "x.goal", text.replace(old, new, 1))
        done = run_program(OCHE, "import", "x.goal", timeout=60, cwd=folder)
        check(done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1 and
              words in done.stderr, repr(new), "gets", done.stderr)
    comments = "/* a\n b */ " + TEXT.replace("tag 3\n", "tag 3 // here\n").replace("\n", "\r\n")
    check(oche_import(write(folder, "x.goal", comments)).returncode == 0, "comments")
    for options in ([], ["none"], [folder], ["a", "b"], ["--loggops", "X=1", "a"],
                    ["--loggops", "L", "a"], [write(folder, "empty", b"")]):
        done = oche_import(*options)
        check(done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1, options,
              done.stderr)


def check_binary(folder):
    """A binary schedule with one byte changed, or cut, is refused or another schedule; never more
    than a line."""
    right = goal.binary_of(goal.made(3))
    draws = goal.Draws(1)
    for number in range(400):
        content = bytearray(right)
        content[draws.below(len(content))] = draws.below(256)
        if number % 4 == 0:
            content = content[:draws.below(len(content))]
        done = oche_import(write(folder, "x.goal", bytes(content)))
        check(done.returncode in (0, 1) or
              (done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout), number,
              done.returncode, done.stderr)
    huge = struct.pack("<QIBB", 4223, 1 << 20, 0, 0) + b"\0" * 64
    check("ends in the table" in oche_import(write(folder, "x.goal", huge)).stderr, "a table cut")


def settings_of(result):
    return {entry["key"]: entry["value"] for entry in result["settings"]}


def check_run(folder, scenario, *options):
    """The scenario runs, and all of its keys have an effect. Returns the metrics."""
    options = (*options, "-o", folder + "/out")
    done = run_program(OCHE, "run", scenario, *options, timeout=60)
    check("has no effect" not in done.stdout, scenario, done.stdout)
    done = run_program(OCHE, "run", scenario, "--json", *options, timeout=60)
    must(done.returncode == 0, scenario, done.stderr)
    return json.loads(done.stdout)["runs"][0]["metrics"]


def check_config(folder):
    """A configuration of HPCC's simulator, with its files seen from the folder above it, becomes a
    scenario in another folder."""
    os.makedirs(folder + "/sim/mix")
    os.makedirs(folder + "/mine")
    config = write(folder, "sim/mix/config.txt", CONFIG)
    topology = write(folder, "sim/mix/topology.txt", TOPOLOGY)
    write(folder, "sim/mix/flow.txt", FLOWS)
    settings = settings_of(result_of(config))
    for key, value in [("congestion_control.timer", "900us"), ("host.mtu", "1000B"),
                       ("congestion_control.g", "0.00390625"), ("switch.buffer", "16MiB"),
                       ("switch.kmin_time", "32us"), ("switch.pmax", "0.2"), ("duration", "500ms"),
                       ("failures", '{link: "switch0:switch1/2", at: 50us}'),
                       ("workload.origin", "2s")]:
        check(settings.get(key) == value, key, settings.get(key), "not", value)
    result = result_of(config)
    check(result["not_understood"] == ["NEW_KEY (line 18)"], result["not_understood"])
    check(any("HAS_WIN" in note for note in result["no_counterpart"]), result)
    scenario = folder + "/mine/s.yaml"
    done = oche_import(config, "-o", scenario)
    check(done.returncode == 0 and f"wrote           {scenario}; next: oche run" in done.stdout,
          done.stdout, done.stderr)
    with open(scenario, encoding="utf-8") as file:
        text = file.read()
    check('file: "../sim/mix/topology.txt"' in text and "# KMIN_MAP" in text, text)
    metrics = check_run(folder, scenario)
    check(metrics["flows.delivered"] == 3, metrics["flows.delivered"])
    check("replaced " in oche_import(config, "-o", scenario).stdout, "replaced")
    done = oche_import(config, "-o", topology)
    check(done.returncode == 2 and "would replace" in done.stderr, done.stderr)
    with open(topology, encoding="utf-8") as file:
        check(file.read() == TOPOLOGY, "the topology was changed")
    for mode, name in (("7", "timely"), ("8", "dctcp"), ("3", "hpcc")):
        write(folder, "sim/mix/config.txt", CONFIG.replace("CC_MODE 1", "CC_MODE " + mode)
              .replace("L2_BACK_TO_ZERO 0", "").replace("50 0 1", "0 0 0"))
        check(settings_of(result_of(config))["congestion_control.name"] == name, mode)
        must(oche_import(config, "-o", scenario).returncode == 0, mode)
        done = run_program(OCHE, "run", scenario, "-o", folder + "/out", timeout=60)
        check(done.returncode == 0 and "no effect" not in done.stdout, mode, done.stdout,
              done.stderr)
    write(folder, "sim/mix/config.txt", CONFIG.replace("mix/", "none/"))
    result = result_of(config)
    check(sum("not there" in note for note in result["found"]) == 2 and
          settings_of(result)["workload.type"] == "poisson_cdf", result)


def check_config_db(folder):
    scenario = folder + "/sonic.yaml"
    path = write(folder, "config_db.json", json.dumps(CONFIG_DB, indent=4))
    settings = settings_of(result_of(path))
    for key, value in [("switch.kmin", "100KB"), ("switch.kmax", "400KB"), ("switch.pmax", "20%"),
                       ("switch.beta", "1"), ("switch.headroom", "40KB"),
                       ("switch.xon_offset", "2496B"), ("switch.chip_ports", "16"),
                       ("switch.buffer", "17.28MB"), ("topology.host_rate", "25Gbps"),
                       ("pfc_watchdog.restoration_time", "400ms")]:
        check(settings.get(key) == value, key, settings.get(key), "not", value)
    must(oche_import(path, "-o", scenario).returncode == 0, "CONFIG_DB")
    check(check_run(folder, scenario)["flows.delivered"] == 8, "its flows")
    for indent in (None, "\t"):
        write(folder, "config_db.json", json.dumps(CONFIG_DB, indent=indent))
        check(settings_of(result_of(path)) == settings, "written with", indent)


def check_parts(folder):
    """Topologies, flows, distributions and schedules are told apart, and each runs."""
    names = "host a\nhost b\nswitch s\nlink a s 1Gbps 1us\nlink b s 1Gbps 1us\n"
    for content, form in [(TOPOLOGY, "topology of HPCC's ns-3 simulator"), (names, "topology"),
                          (FLOWS, "list of flows"),
                          ("src,dst,bytes,start\n0,host2,1KB,0\n", "list of flows"),
                          ("# sizes\n1000 0\n2000 100\n", "distribution of flow sizes"),
                          ("size,cdf\n1000,0\n2000,1\n", "distribution of flow sizes"),
                          (TEXT, "GOAL"), (MATRIX, "htsim's connection matrix")]:
        path = write(folder, "part", content)
        check(result_of(path)["format"] == form, path, result_of(path)["format"], "not", form)
        must(oche_import(path, "-o", folder + "/part.yaml").returncode == 0, form)
        check_run(folder, folder + "/part.yaml", "--set", "duration=1ms")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_ends(folder)
        check_stuck(folder)
        check_matrix(folder)
        check_config(folder)
        check_config_db(folder)
        check_parts(folder)
        check_multishot(folder)
        check_failures(folder)
        check_wrong(folder)
        check_binary(folder)
    return report()


sys.exit(main())
