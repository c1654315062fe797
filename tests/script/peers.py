#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/peers without its peers: bad arguments are one line and status 2; ns-3's hash and the files
for the peers are what they should be; oche takes the scenarios that are written for it, and a flow
that is alone takes the time that the comparison counts as ideal.

Environment: OCHE, SOURCE. The working directory is the source root.
"""
import os
import sys
import tempfile

from checks import check, failures, run_program

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
sys.path.insert(0, f"{SOURCE}/tools/peers")

import htsim  # noqa: E402
import network  # noqa: E402
import ns3  # noqa: E402
import oche  # noqa: E402
from statistics_of import Pair, percentile, rank_correlation  # noqa: E402

OPTIONS = {"buffer_mib": 2, "kmin_kb": 100, "kmax_kb": 400, "seed": 1, "pauses": True}


def run(*command):
    return run_program(*command)


def check_arguments(folder):
    for tool in ("compare", "prepare"):
        result = run(f"{SOURCE}/tools/peers/{tool}", "--help")
        check(result.returncode == 0 and "DIR" in result.stdout, tool, "--help:", result)
    for command, word in [(["compare"], "DIR"), (["compare", folder], "prepare"),
                          (["compare", folder, "--seeds", "0"], "at least 1"),
                          (["prepare"], "usage"), (["prepare", folder, "--fast"], "usage"),
                          (["prepare", "--rates-at-once"], "usage")]:
        result = run(f"{SOURCE}/tools/peers/{command[0]}", *command[1:])
        check(result.returncode == 2 and word in result.stderr, *command, "gave", result)
    check(not os.listdir(folder), "something was written:", os.listdir(folder))


def check_flows():
    for name, make in network.WORKLOADS.items():
        flows = make(1)
        check([vars(f) for f in flows] == [vars(f) for f in make(1)], name, "differs from itself")
        check([vars(f) for f in flows] != [vars(f) for f in make(2)], name, "is that of any seed")
        late = [b.start_ns - a.start_ns for a, b in zip(flows, network.jittered(flows, 1))]
        check(set(late) == {0, 1}, name, "jitter of", set(late), "ns")
        check(all(f.src != f.dst for f in flows), name, "has a host that sends to itself")
    flows = network.permutation(1)
    check(sorted(f.dst for f in flows) == list(range(network.HOSTS)), "no permutation")
    payload = sum(f.packets for f in network.websearch(1)) * network.PAYLOAD_BYTES
    load = payload * 8 / (network.HOSTS * network.RATE_GBPS * 2_000_000)
    check(0.3 < load < 0.5, "web search: load of", load)


def check_peers_files(folder, flows):
    check(ns3.murmur3([0x74736574], 0) == 0xBA6BD213, "murmur3 of 'test'")
    ns3.write(f"{folder}/ns3", flows, dict(OPTIONS, dcqcn=True, ack_high_prio=True))
    with open(f"{folder}/ns3/topology.txt", encoding="utf-8") as lines:
        check(lines.readline() == "152 24 256\n" and len(lines.readlines()) == 257, "ns-3's links")
    with open(f"{folder}/ns3/fct.txt", "w", encoding="utf-8") as out:
        for flow, sport in reversed(list(zip(flows, ns3.sports(flows)))):
            out.write(f"{ns3.address(flow.src):08x} {ns3.address(flow.dst):08x} {sport} 100 1 2 "
                      f"{flow.start_ns + 5} 3\n")
    check(ns3.results(f"{folder}/ns3/fct.txt", flows) == [f.start_ns + 5 for f in flows],
          "ns-3's results")
    htsim.write(f"{folder}/htsim", flows)
    with open(f"{folder}/htsim/log.txt", "w", encoding="utf-8") as out:
        for i, flow in enumerate(flows):
            out.write(f"Flow Roce_{flow.src}_{flow.dst} {1000 + 3 * i} finished at 7.5 total\n")
            out.write(f"way {network.leaf_of(flow.src)} {i + 1} 3\n")
            out.write(f"way {network.leaf_of(flow.dst)} {i + 1} 4\n")
    times, ways = htsim.results(f"{folder}/htsim/log.txt", flows)
    check(times == [7500 - f.start_ns for f in flows], "htsim's times", times)
    check(ways == [(3, 4)] * len(flows), "htsim's ways", ways)


def check_oche(folder, flows):
    """oche accepts each scenario that is written for it. A flow alone has full speed, on the other
    path as well."""
    for peer, dcqcn, ack_high_prio in [("ns3", False, True), ("ns3", True, True),
                                       ("ns3", False, False), ("htsim", False, False)]:
        options = dict(OPTIONS, peer=peer, dcqcn=dcqcn, ack_high_prio=ack_high_prio)
        oche.write(folder, flows, ns3.paths(flows), options)
        for flow, took in zip(flows, oche.run(OCHE, folder, flows)):
            ideal = network.ideal_ns(flow)
            check(ideal <= took < ideal + 10, peer, dcqcn, ack_high_prio, ideal, took)


def check_statistics():
    pair = Pair([100, 200, 400], [100, 220, 200], [100, 100, 100])
    check(abs(pair.greatest() - 0.5) < 1e-9 and abs(pair.typical() - 0.1) < 1e-9, "differences")
    check(Pair([1, 1, 1], [1, 1.2, 0.5], [1, 1, 1]).far() == 2 / 3, "far")
    check(abs(Pair([1, 2], [2, 4], [1, 1]).correlation() - 1) < 1e-9, "correlation")
    check([percentile(range(1, 101), p) for p in (50, 99, 100)] == [50, 99, 100], "percentiles")
    check(rank_correlation([1, 2, 30], [1, 4, 9]) > 0.999, "rank correlation")


with tempfile.TemporaryDirectory() as place:
    check_arguments(place)
    check_flows()
    apart = [network.Flow(0, 9, 1000, 0), network.Flow(17, 30, 1, 500),
             network.Flow(40, 41, 300, 1000)]
    check_peers_files(place, apart[:2])
    check_oche(f"{place}/oche", apart)
    check_statistics()
for failure in failures:
    print("FAILED:", failure)
sys.exit(bool(failures))
