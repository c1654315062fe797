#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche export`: what it writes is read again as the same flows on the same network; what the other
program's files cannot have is refused with one line, and nothing is written.

Environment: OCHE.
"""
import json
import os
import re
import sys
import tempfile

from checks import check, must, report, run_program

OCHE = os.environ["OCHE"]
FLOWS = "src,dst,bytes,start\n0,5,10KB,0\n3,1,1MB,1us\n7,0,1,1.5us\n0,7,20KB,2000.001ns\n"
LEAVES = "{type: leaf_spine, leaves: 2, hosts_per_leaf: 4, spines: 2, delay: 700ns}"
# Two pods; each aggregation switch has two cables to each of two cores.
BUNDLED = "".join(f"host h{i}\n" for i in range(8)) + \
          "".join(f"switch t{i}\nswitch a{i}\nswitch c{i}\n" for i in range(4)) + \
          "".join(f"link h{i} t{i // 2} 200Gbps 1us\n" for i in range(8)) + \
          "".join(f"link t{i} a{i // 2 * 2 + k} 200Gbps 500ns\n"
                  for i in range(4) for k in range(2)) + \
          "".join(f"link a{i} c{i % 2 + k // 2 * 2} 100Gbps 300ns\n"
                  for i in range(4) for k in range(4))
NETWORKS = [LEAVES, "{type: fat_tree, k: 4}", "{type: star, hosts: 8}",
            "{type: from_file, file: bundled.topology}",
            "{type: clos, pods: 2, tors_per_pod: 2, hosts_per_tor: 4}"]
# What takes the place of the workload or topology, the format, and the line.
REFUSED = [
    ("topology={type: dumbbell}", "htsim", "--set topology={type: dumbbell}: topology: is no fat "
     "tree of htsim: a link is not between two tiers that follow one another; write --to hpcc, "
     "which has any network"),
    ("topology={type: from_file, file: uneven.topology}", "htsim", "topology: is no fat tree of "
     "htsim: switches of a tier have different numbers of links"),
    ("topology={type: from_file, file: mixed.topology}", "htsim", "topology: is no fat tree of "
     "htsim: hosts of a ToR have no numbers that follow one another"),
    ("topology.host_rate=2.5Gbps", "htsim", "topology: links of 2.50Gbps; htsim has whole Gbit/s"),
    ("topology.delay=1.5ns", "htsim", "topology: a delay of 1.50ns; htsim has whole nanoseconds"),
    ("workload={type: from_file, file: large.csv}", "htsim", "workload: flow 0 has 3000000000 "
     "bytes; htsim reads at most 2147483647: make it several flows"),
    ("workload={type: permutation, bytes: 64B, messages: 1000000}", "htsim", "workload: 8000000 "
     "flows; at most 4000000 can be exported: set a shorter duration, or fewer messages"),
    ("workload={type: long_flows, load: 40%}|duration=1ms", "hpcc", "application makes the flow's "
     "bytes one after the other, which has no form in a file of flows"),
    ("workload={type: poisson_cdf, cdf: websearch, load: 1%}|duration=1ns", "hpcc", "workload: no "
     "flow is known before the run; there is nothing to export"),
    ("workload={type: permutation, messages: 2}", "hpcc", "workload: flow 1 starts when others "
     "have ended, and HPCC's flows have a start; write --to htsim, or one message for each flow"),
    ("workload={type: schedule, file: calc.goal}", "htsim", "rank 1: calculates after a message; a "
     "flow of other simulators starts at once when its trigger goes off"),
    ("workload={type: schedule, file: any.goal}", "htsim", "rank 1: receives from any source or "
     "with any tag, which no list of flows can say"),
    ("workload={type: schedule, file: left.goal}", "htsim", "rank 0: there are messages without "
     "receives, or receives without messages; oche import says which"),
    ("workload={type: schedule, file: two.goal}", "htsim", "rank 1: a message lets operations go "
     "on that wait for different others; a connection of htsim fires one trigger"),
    ("workload={type: schedule, file: two.goal, overhead: 1us}", "htsim", "overhead: other "
     "simulators start a flow at once; set it to 0"),
    ("workload={type: schedule, file: two.goal, ranks_per_host: 2}", "htsim", "rank 0: sends to a "
     "rank of its own host, which uses no network; set ranks_per_host: 1"),
    ("workload={type: schedule, file: late.goal}", "htsim", "rank 1: a message waits for a time "
     "and for other messages; a flow of other simulators has a start or a trigger"),
    ("workload={type: schedule, file: busy.goal}", "htsim", "rank 0: a cpu calculates when other "
     "operations could begin; give calculations a cpu of their own, one after the other"),
]
SEND = "num_ranks 3\nrank 0 {\na: send 10b to 1 tag 1\n}\nrank 1 {\n"
FILES = {
    "flows.csv": FLOWS,
    "large.csv": "src,dst,bytes,start\n0,1,3GB,0\n",
    "bundled.topology": BUNDLED,
    "uneven.topology": "host a\nhost b\nhost c\nswitch s\nswitch t\nswitch u\n"
                       "link a s 1Gbps 1us\nlink b s 1Gbps 1us\nlink c t 1Gbps 1us\n"
                       "link s u 1Gbps 1us\nlink t u 1Gbps 1us\n",
    "mixed.topology": "host a\nhost b\nhost c\nhost d\nswitch s\nswitch t\nswitch u\n"
                      "link a s 1Gbps 1us\nlink b t 1Gbps 1us\nlink c s 1Gbps 1us\n"
                      "link d t 1Gbps 1us\nlink s u 1Gbps 1us\nlink t u 1Gbps 1us\n",
    "calc.goal": SEND + "a: recv 10b from 0 tag 1\nb: calc 5\nb requires a\n"
                        "c: send 9b to 0 tag 2\nc requires b\n}\n".replace("to 0", "to 2") +
                 "rank 2 {\nrecv 9b from 1 tag 2\n}\n",
    "any.goal": SEND + "recv 10b from -1 tag 1\n}\n",
    "left.goal": SEND + "}\n",
    "two.goal": "num_ranks 3\nrank 0 {\na: send 10b to 1 tag 1\n}\nrank 1 {\n"
                "a: recv 10b from 0 tag 1\nb: recv 10b from 2 tag 2\nc: send 9b to 2 tag 3\n"
                "c requires a\nd: send 8b to 2 tag 4\nd requires a\nd requires b\n}\n"
                "rank 2 {\nsend 10b to 1 tag 2\nrecv 9b from 1 tag 3\nrecv 8b from 1 tag 4\n}\n",
    "late.goal": SEND + "a: recv 10b from 0 tag 1\nb: calc 5 cpu 1\nc: send 9b to 2 tag 2\n"
                        "c requires b\nc requires a\n}\nrank 2 {\nrecv 9b from 1 tag 2\n}\n",
    "busy.goal": "num_ranks 2\nrank 0 {\na: calc 10\nb: send 1b to 1 tag 1\n"
                 "c: send 1b to 1 tag 2\nc requires a\n}\n"
                 "rank 1 {\nrecv 1b from 0 tag 1\nrecv 1b from 0 tag 2\n}\n",
}
BAD = [
    ([], "which scenario? give its file, or a name that oche run --list shows"),
    (["x.yaml"], "to which program? write --to htsim or --to hpcc"),
    (["x.yaml", "--to", "ns3"], "--to ns3: is not known; htsim or hpcc"),
    (["x.yaml", "--to", "htsim"], "where to? write -o FOLDER; --out . is this one"),
    (["x.yaml", "--to", "htsim", "-o", ""], "where to? write -o FOLDER; --out . is this one"),
    (["x.yaml", "x.yaml", "--to", "htsim"], "x.yaml: a second scenario; one at a time"),
    (["x.yaml", "--to", "htsim", "-o", "flows.csv"], '"flows.csv" is a file; give a folder'),
    (["x.yaml", "--to", "htsim", "-o", "/proc/x"], "/proc/x: cannot be made"),
    (["x.yaml", "--to", "hpcc", "-o", "a b"], "--out: that simulator reads paths without blanks"),
    (["none.yaml", "--to", "hpcc", "-o", "a"], "none.yaml: cannot be read"),
    (["x.yaml", "--to", "hpcc", "-o", "a", "-s", "topology.hots=3"], "topology.hots: unknown key"),
]


def export(where, *options):
    return run_program(OCHE, "export", *options, cwd=where, timeout=60)


def run(where, *options):
    """Returns the trace hash and the metrics of a run."""
    shown = run_program(OCHE, "run", *options, "-o", "out", cwd=where, timeout=60)
    told = run_program(OCHE, "run", *options, "--json", "-o", "out", cwd=where, timeout=60)
    must(shown.returncode == 0 == told.returncode, options, shown.stderr, told.stderr)
    return (re.search(r"trace hash +(\w+)", shown.stdout)[1],
            json.loads(told.stdout)["runs"][0]["metrics"])


def scenario(where, name, topology, workload):
    with open(os.path.join(where, name), "w", encoding="utf-8") as out:
        out.write(f"topology: {topology}\ncongestion_control: none\nworkload: {workload}\n")


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def connections(text):
    """The flows of a matrix, by what they are: ids and numbers of triggers may differ."""
    return sorted(re.sub(r" id \d+|(?<=trigger )\d+", "", line)
                  for line in text.split("\n") if "->" in line)


def check_hpcc(where):
    """Read again, the run is the same to the last event."""
    for network in NETWORKS:
        scenario(where, "a.yaml", network, "{type: from_file, file: flows.csv}")
        done = export(where, "a.yaml", "--to", "hpcc", "-o", "h")
        check(done.returncode == 0 and "the starts of 1 flows" in done.stdout, done.stdout,
              done.stderr)
        scenario(where, "b.yaml", "{type: from_file, file: h/topology.txt}",
                 "{type: from_file, file: h/flow.txt, origin: 2s}")
        if "file" not in network:  # its names have another order
            check(run(where, "a.yaml")[0] == run(where, "b.yaml")[0], network)
        must(export(where, "b.yaml", "--to", "hpcc", "-o", "h2").returncode == 0, network)
        for name in ("topology.txt", "flow.txt"):
            check(text_of(where, "h", name) == text_of(where, "h2", name), network, name)
    check("CC_MODE 0" in text_of(where, "h", "config.txt"), "the scheme")
    done = export(where, "a.yaml", "--to", "hpcc", "-o", "h", "-s",
                  "congestion_control={name: dcqcn, timer: 300us, g: 1/256, rai: 50Mbps}")
    config = text_of(where, "h", "config.txt")
    for line in ("CC_MODE 1", "RP_TIMER 300", "EWMA_GAIN 0.00390625", "RATE_AI 50Mb/s"):
        check(line + "\n" in config, line, "in", config)


def check_htsim(where):
    """Read again and exported again, network and flows are the same."""
    for network in NETWORKS:
        for workload in ("{type: permutation, bytes: 50KB, messages: 3}",
                         "{type: collective, bytes: 100KB, ranks: 6}",
                         "{type: collective, bytes: 100KB, ranks: 8, algorithm: tree}"):
            scenario(where, "a.yaml", network, workload)
            done = export(where, "a.yaml", "--to", "htsim", "-o", "t")
            must(done.returncode == 0, network, workload, done.stderr)
            scenario(where, "b.yaml", "{type: from_file, file: t/network.topo}",
                     "{type: schedule, file: t/flows.cm}")
            done = export(where, "b.yaml", "--to", "htsim", "-o", "t2")
            must(done.returncode == 0, network, workload, done.stderr)
            check(text_of(where, "t", "flows.cm").count("\n") ==
                  text_of(where, "t2", "flows.cm").count("\n"), network, workload)
            check(connections(text_of(where, "t", "flows.cm")) ==
                  connections(text_of(where, "t2", "flows.cm")), network, workload)
            if "star" not in network:  # htsim has a second tier above it
                check(text_of(where, "t", "network.topo") == text_of(where, "t2", "network.topo"),
                      network)
    scenario(where, "a.yaml", LEAVES, "{type: permutation, bytes: 50KB}")
    scenario(where, "b.yaml", "{type: from_file, file: t/network.topo}",
             "{type: permutation, bytes: 50KB}")
    must(export(where, "a.yaml", "--to", "htsim", "-o", "t").returncode == 0, "export")
    check(run(where, "a.yaml")[0] == run(where, "b.yaml")[0], "the network")
    check("Bundle 2" in bundled(where), bundled(where))


def bundled(where):
    scenario(where, "a.yaml", NETWORKS[3], "{type: from_file, file: flows.csv}")
    must(export(where, "a.yaml", "--to", "htsim", "-o", "t").returncode == 0, "bundled")
    check("3->1 id 2 start 1000000 size 1000000\n" in text_of(where, "t", "flows.cm"), "a flow")
    return text_of(where, "t", "network.topo")


def check_collective(where):
    """A collective in htsim's form takes as long as the original, and the last ACK's way."""
    scenario(where, "a.yaml", "{type: star, hosts: 8, delay: 1us}",
             "{type: collective, bytes: 1MB, algorithm: ring}")
    must(export(where, "a.yaml", "--to", "htsim", "-o", "t").returncode == 0, "export")
    scenario(where, "b.yaml", "{type: star, hosts: 8, delay: 1us}",
             "{type: schedule, file: t/flows.cm}")
    first, second = (run(where, name)[1]["workload.0.time"] for name in ("a.yaml", "b.yaml"))
    check(1.5e-6 < second - first < 3e-6, first, second)


def check_refused(where):
    scenario(where, "x.yaml", LEAVES, "{type: permutation, bytes: 1KB}")
    before = sorted(os.listdir(where))
    for change, to, words in REFUSED:
        sets = [word for one in change.split("|") for word in ("-s", one)]
        done = export(where, "x.yaml", "--to", to, "-o", "none", *sets)
        check(done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1 and
              words in done.stderr, change, "gets", done.stderr)
    for options, words in BAD:
        done = export(where, *options)
        check(done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1 and
              words in done.stderr, options, "gets", done.stderr)
    check(sorted(os.listdir(where)) == before, "left", set(os.listdir(where)) - set(before))
    odd = "odd\x1b[31m"
    done = export(where, "x.yaml", "--to", "htsim", "-o", odd)
    check(done.returncode == 0 and "\x1b" not in done.stdout, done.stdout)


def main():
    with tempfile.TemporaryDirectory() as where:
        for name, text in FILES.items():
            with open(os.path.join(where, name), "w", encoding="utf-8") as file:
                file.write(text)
        check_refused(where)
        check_hpcc(where)
        check_htsim(where)
        check_collective(where)
    return report()


sys.exit(main())
