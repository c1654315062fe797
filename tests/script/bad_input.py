#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input to oche run and oche import: for each mistake exactly one line, with file, line, key,
and what would be right; status 2; and no folder, file or half a file made.

Environment: OCHE.
"""
import os
import sys
import tempfile

from checks import failures, report, run_program

OCHE = os.environ["OCHE"]
BASE = """\
duration: 200us
topology:
  type: clos
  pods: 2
  tors_per_pod: 2
  hosts_per_tor: 4
  oversubscription: 2
switch:
  kmin: 5KB
congestion_control: dcqcn
workload:
  - type: poisson_cdf
    cdf_file: sizes.cdf
    load: 50%
  - type: incast
    degree: 4
loss:
  probability: 0
measure:
  queues: tor0:host0
"""
FILES = {
    "sizes.cdf": "1000 0\n2000 100\n",
    "falls.cdf": "1000 0\n2000 50\n3000 40\n4000 100\n",
    "ends.cdf": "1000 0\n2000 90\n",
    "right.routes": "tor0 tor1 agg0\n",
    "wrong.routes": "# by hand\ntor0 tor1 agg7\n",
    "no_flow.routes": "flow 999999 host0 tor0 host1\n",
    "other_flow.routes": "# by hand\nflow 0 host0 tor0 host1\n",
    "gap.routes": "flow 0 host0 tor0 tor1 host5\n",
    "twice.routes": "tor0 tor1 agg0\ntor0 host5 agg0\ntor0 tor1 agg1\n",
    "lag.topology": "host a\nhost b\nswitch s\nswitch t\nlink a s 1Gbps 1us\n"
                    "link b t 1Gbps 1us\nlink s t 1Gbps 1us\nlink s t 1Gbps 1us\n",
    "lag.yaml": "topology: {type: from_file, file: lag.topology}\n"
                "workload: {type: incast, degree: 1}\nloss: {port: \"s:t\", probability: 0.1}\n",
    "right.events": "events:\n  - {qpn: 0, psn: 5, type: drop, iter: 1}\n",
    "wrong.events": "events:\n  - {qpn: 0, psn: 5, type: drop, iter: 0}\n",
    "long.goal": "num_ranks 2\nrank 0 {\nsend 2000000000000b to 1\n}\n",
    "wrong.jsonl": '{"op": "calc", "rank": 0, "ns": 5, "id": 1}\n'
                   '{"op": "send", "rank": 1, "to": 0, "bytes": 8, "after": 1}\n',
    "wrong.simai": "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 3\n1\n",
    "wrong.0.et": "\x07\n\x050.0.3",
    "right.0.et": "\x07\n\x050.0.4\x04\x08\x01\x18\x04",
    "wrong.groups": '{"0": [0, 1]}',
    "verbs.csv": "src,dst,bytes,start,verb\n0,1,1000,0,READ\n0,1,1000,0,fetch\n",
    "list.yaml": "- a\n- b\n",
    "broken.yaml": "duration: [1ms\n",
    "tree.topo": "Nodes 16\nTiers 2\nPodsize 16\nTier 0\nDownlink_speed_Gbps 100\n"
                 "Downlink_Latency_ns 1000\nRadix_Down 4\nRadix_Up 4\n",
    "wide.topo": "Nodes 16\nTiers 2\nPodsize 16\nTier 0\nDownlink_speed_Gbps 100 200\n",
    "failed.cm": "Nodes 2\nConnections 1\nFailures 1\n0->1 start 0 size 1000\n"
                 "failure switch_type AGG switch_id 0 link_id 0\n",
    "lost.cm": "Nodes 2\nConnections 1\nFailures 1\n0->1 start 0 size 1000\n"
               "failure switch_type AGG switch_id 0 link_id 0\n",
    "often.cm": "Nodes 2\nConnections 1\nFailures 99\n0->1 start 0 size 1000\n" +
                99 * "failure switch_type AGG switch_id 0 link_id 0\n",
    "far.cm": "Nodes 2\nConnections 1\nFailures 1\n0->1 start 0 size 1000\n"
              "failure switch_type AGG switch_id 9 link_id 0\n",
    "cores.cm": "Nodes 2\nConnections 1\nFailures 1\n0->1 start 0 size 1000\n"
                "failure switch_type AGG switch_id 1 link_id 2\n",
    "first.yaml": "topology: {type: star, host_rate: 40Gbps}\nworkload: {type: incast}\n",
    "twice.yaml": "duration: 1ms\nduration: 2ms\n",
    "many.yaml": "duration: 30ms\ntopology: {type: star, hosts: 8, host_rate: 40Gbps}\n"
                 "workload: {type: permutation, bytes: 64B, messages: 0}\n",
    "long.yaml": "duration: 3s\ntopology: {type: star, hosts: 8, host_rate: 40Gbps}\n"
                 "workload: {type: permutation, bytes: 1KB, messages: 0, start: 2.8s}\n"
                 "congestion_control: rogue\n",
}

INCAST = "  - type: incast\n    degree: 4"
# A text of BASE, its replacement, and the expected error ("s.yaml" is the scenario).
CHANGED = [
    ("  pods: 2", "  podz: 2", 's.yaml:4: topology.podz: unknown key; did you mean "pods"?'),
    (INCAST, "  - type: collective\n    operation: all_to_all",
     's.yaml:15: workload[1].algorithm: ring is not for all_to_all; direct is'),
    (INCAST, "  - type: collective\n    algorithm: direct",
     's.yaml:16: workload[1].algorithm: direct is for all_to_all, all_gather and reduce_scatter'),
    (INCAST, "  - type: collective\n    ranks: 1",
     's.yaml:16: workload[1].ranks: 1; 2 to 1048576'),
    (INCAST, "  - type: collective\n    ranks: 17",
     's.yaml:15: workload[1].ranks_per_host: 17 ranks need 17 hosts, and there are 16; at least '
     '2 of them on each'),
    (INCAST, "  - type: collective\n    ranks: 4\n    first_host: 13",
     's.yaml:17: workload[1].first_host: from host 13 on there are 3 hosts, and the ranks need '
     '4; a lower one, or more ranks_per_host (ranks_per_host is 1 by default)'),
    (INCAST, "  - type: collective\n    hosts: host1, host99",
     's.yaml:16: workload[1].hosts: there is no host host99'),
    (INCAST, "  - type: collective\n    hosts: host1, host1",
     's.yaml:16: workload[1].hosts: host1 is in the list twice; once is enough'),
    (INCAST, "  - type: collective\n    hosts: host1\n    ranks: 2",
     's.yaml:16: workload[1].hosts: 1 of them; the ranks need 2'),
    (INCAST, "  - type: collective\n    placement: random\n    first_host: 2",
     's.yaml:17: workload[1].first_host: has no effect here; it is for placement: packed'),
    (INCAST, "  - type: collective\n    ranks_per_host: 64\n    channels: 2",
     's.yaml:17: workload[1].channels: 64 ranks on a host and 2 channels need more than 4096 '
     'queue pairs of two hosts; fewer'),
    (INCAST, "  - type: collective\n    repeat: 1000000\n    chunks: 65536",
     's.yaml:16: workload[1].repeat: 1000000 times, with chunks and ranks as they are, is too '
     'much; lower one of these'),
    (INCAST, "  - type: schedule",
     's.yaml:15: workload[1].file: not given; the path of a schedule'),
    (INCAST, "  - type: schedule\n    file: sizes.cdf",
     's.yaml:16: workload[1].file: sizes.cdf:1: is no schedule; it begins with num_ranks 16'),
    (INCAST, "  - type: schedule\n    file: long.goal",
     's.yaml:16: workload[1].file: long.goal: rank 0 sends 2000000000000 bytes at once; at most '
     '1099511627776'),
    (INCAST, "  - type: schedule\n    file: wrong.jsonl",
     's.yaml:16: workload[1].file: wrong.jsonl:2: after: "1" is of another rank; ranks wait by '
     'messages alone'),
    (INCAST, "  - type: schedule\n    file: wrong.simai",
     's.yaml:16: workload[1].file: wrong.simai:1: all_gpus: 3; a multiple of '
     'model_parallel_NPU_group x ep x pp = 2 x 1 x 1'),
    (INCAST, "  - type: schedule\n    file: wrong.0.et",
     's.yaml:16: workload[1].file: wrong.0.et: byte 0: schema 0.0.3 is not read; 0.0.4 and later '
     'are'),
    (INCAST, "  - type: schedule\n    file: right.0.et\n    groups_file: wrong.groups",
     's.yaml:17: workload[1].groups_file: wrong.groups: group "0": 2 ranks; 1 to 1'),
    (INCAST, "  - type: schedule\n    file: right.0.et\n    gpus: 4",
     "s.yaml:17: workload[1].gpus: has no meaning for Chakra's execution traces; leave it out"),
    (INCAST, "  - type: from_file\n    file: long.goal\n    origin: 1s",
     's.yaml:17: workload[1].origin: has no effect on a schedule; leave it out'),
    ("duration: 200us", "durration: 200us",
     's.yaml:1: durration: unknown key; did you mean "duration"?'),
    ("  kmin: 5KB", "  kmin: 5us",
     's.yaml:9: switch.kmin: "5us": "us" is not a unit of size; use B, KiB, MiB, GiB, TiB, KB, MB, '
     'GB or TB'),
    ("  kmin: 5KB", "  kmin: 10M",
     's.yaml:9: switch.kmin: "10M": "M" is not a unit of size; did you mean "10MB"? (B, KiB, MiB, '
     'GiB, TiB, KB, MB, GB or TB)'),
    ("    load: 50%", "    load: 60",
     's.yaml:14: workload[0].load: 60 is out of range; from 0.0001 to 10; did you mean "60%"?'),
    ("  kmin: 5KB", "  ecn: ja",
     's.yaml:9: switch.ecn: "ja" is not true or false; write true or false; yes, no, on and off '
     'are possible, too'),
    ("  kmin: 5KB", "  mechanisms: [iofd, iodf]",
     's.yaml:9: switch.mechanisms: "iodf" is not known; write some of iofd, rcp_rate, '
     'int_stamp, credit_shaper, ib_credits, fecn, pfc_watchdog, random_spray, round_robin, drill, '
     'letflow, trimming, or none'),
    ("  kmin: 5KB", "  pfc: false\n  mechanisms: pfc_watchdog",
     "s.yaml: pfc_watchdog.action: no PAUSE to watch: switch.pfc is false; leave the mechanism "
     "out, or change that (at tor0)"),
    ("  kmin: 5KB", "  mechanisms: pfc_watchdog\npfc_watchdog: {detection_time: 100ms}",
     "s.yaml:10: pfc_watchdog.detection_time: poll_interval: is above detection_time; make it at "
     "most that (poll_interval is 200ms by default)"),
    ("  kmin: 5KB", "  mechanisms: pfc_watchdog\npfc_watchdog: {action: pause}",
     's.yaml:10: pfc_watchdog.action: "pause" is not known; write one of drop, forward, alert'),
    ("  kmin: 5KB", "  kmin: 5KB\n  mechanisms: ib_credits\nib_credits:\n  interval: 10ns",
     "s.yaml:12: ib_credits.interval: flow control packets would fill the link; at least 1us, or "
     "0"),
    ("loss:", "fecn:\n  threshold: 7\nloss:",
     "s.yaml:17: fecn: no switch has it: it comes with congestion_control: ib_cc; choose that, or "
     "leave this out"),
    ("congestion_control: dcqcn", "congestion_control: ib_cc\nfecn:\n  threshold: 16",
     "s.yaml:12: fecn.threshold: 16 is out of range; from 0 to 15"),
    ("congestion_control: dcqcn", "congestion_control: {name: ib_cc, ccti_limit: 3, ccti_min: 3}",
     "s.yaml:10: congestion_control.ccti_min: is not below ccti_limit, so that nothing would ever "
     "slow down; less, or a higher ccti_limit"),
    ("congestion_control: dcqcn", "congestion_control: {name: dart, line_below: 0.97}",
     "s.yaml:10: congestion_control.line_below: must not be above line_above (line_above is 0.95 "
     "by default)"),
    ("congestion_control: dcqcn", "congestion_control: {name: dart, line_above: 0.5}",
     "s.yaml:10: congestion_control.line_above: line_below: must not be above line_above "
     "(line_below is 0.9 by default)"),
    ("congestion_control: dcqcn", "congestion_control: {line_below: 0.97}",
     "s.yaml:10: congestion_control.line_below: unknown key of dcqcn, which is meant where there "
     "is no name; add name: dart"),
    ("congestion_control: dcqcn", "congestion_control: {name: dart, weights: 16:2}",
     "s.yaml:10: congestion_control.weights: names a host that there is not; the first is 0"),
    ("congestion_control: dcqcn", "congestion_control: {name: dart, weights: '3:2, 3:1'}",
     "s.yaml:10: congestion_control.weights: names a host twice; write it once"),
    ("loss:", "iofd:\n  tokens: 2\nloss:",
     "s.yaml:17: iofd: no switch has it; add mechanisms: [iofd] to the section switch, or leave "
     "this out"),
    ("loss:", "failures: [{link: agg9:tor0}]\nloss:",
     's.yaml:17: failures[0].link: no node is called "agg9"; hosts are host0 to host15, switches '
     'tor0 to core3'),
    ("loss:", "failures:\n  - {link: tor0:tor1}\nloss:",
     's.yaml:18: failures[0].link: tor0 has no port "tor1"; its ports are 0 to 5, and the first '
     'leads to host0'),
    ("loss:", "failures:\n  - {switch: agg0}\n  - {switch: spine0}\nloss:",
     's.yaml:19: failures[1].switch: no switch is called "spine0"; they are tor0 to core3'),
    ("loss:", "failures:\n  - {switch: agg0, speed: 0.5}\n  - {random: 1, direction: out}\nloss:",
     's.yaml:19: failures[1].direction: a link that is down is so in both directions; loss: 1 is '
     'one that carries nothing'),
    ("loss:", "failures: {switch: host3}\nloss:",
     's.yaml:17: failures.switch: no switch is called "host3"; they are tor0 to core3; of a host '
     'write its link'),
    ("  kmin: 5KB", "  kmin: 5KB\n  leaf: {kmin: 7KB}",
     "s.yaml:10: switch.leaf: topology clos has no such tier; it has tor, agg, core"),
    ("  kmin: 5KB", "  kmin: 5KB\n  agg:\n    mechanisms: iofd",
     "s.yaml:11: switch.agg.mechanisms: has one value for the whole network; write it as "
     "switch.mechanisms"),
    ("  kmin: 5KB", "  kmin: 5KB\n  tor: {kmin: 5us}",
     's.yaml:10: switch.tor.kmin: "5us": "us" is not a unit of size; use B, KiB, '),
    ("  kmin: 5KB", "  kmin: 5KB\n  core: 7", "s.yaml:10: switch.core: is not a section; write its "
     "keys below it, as KEY: VALUE"),
    ("loss:", "slow_receivers: {hosts: host16}\nloss:",
     's.yaml:17: slow_receivers.hosts: no host is called "host16"; they are host0 to host15, or '
     'all'),
    ("loss:", "slow_receivers: {hosts: host1, drain_rate: 0}\nloss:",
     "s.yaml:17: slow_receivers.drain_rate: 0 is out of range; from "),
    ("loss:", "pause_storms: [{hosts: host1}, {hosts: host2, at: 200us}]\nloss:",
     "s.yaml:17: pause_storms[1].at: is not before the end of the run; make it less than "
     "duration"),
    ("loss:", "pause_storms: {hosts: host1, priorities: data}\nloss:",
     's.yaml:17: pause_storms.priorities: "data" is no class; write numbers from 0 to 1, or all'),
    ("loss:", "failures: {random: 17, where: tor_links}\nloss:",
     's.yaml:17: failures.random: there are only 8 such links'),
    ("loss:", "failures: {random: 1, where: spine_links}\nloss:",
     's.yaml:17: failures.where: "spine_links" is not known; '),
    ("loss:", "failures: {at: 20us}\nloss:",
     "s.yaml:17: failures: names no link; give one of link: leaf0:spine1, switch: spine1 and "
     "random: 2"),
    ("loss:", "failures: {link: tor0:agg0, switch: agg0}\nloss:",
     "s.yaml:17: failures: names more than one of link, switch and random; give one of "),
    ("loss:", "failures: {link: tor0:agg0, at: 200us}\nloss:",
     "s.yaml:17: failures.at: is not before the end of the run; make it less than duration"),
    ("loss:", "failures: {link: tor0:agg0, at: 20us, until: 20us}\nloss:",
     "s.yaml:17: failures.until: is not after at; make it later, or never"),
    ("loss:", "failures: {link: tor0:agg0, where: core_links, at: 20us}\nloss:",
     "s.yaml:17: failures.where: is for links that are drawn, and this entry names them; leave it "
     "out, or give random in their place"),
    ("congestion_control: dcqcn", "congestion_control: dcqcn\nhost: {dma_latency: 2ms}",
     "s.yaml:11: host.dma_latency: 2ms is out of range; from 0 to 1ms"),
    ("congestion_control: dcqcn", "congestion_control: dcqcn\nhost: {doorbell_latency: -1us}",
     "s.yaml:11: host.doorbell_latency: -1us is negative; write a time with its unit, such as 55us "
     "or 1.5ms"),
    ("congestion_control: dcqcn", "congestion_control: dcqcn\nhost: {completion_latency: 1}",
     "s.yaml:11: host.completion_latency: 1 has no unit; add one of ps, ns, us, ms or s"),
    ("congestion_control: dcqcn", "congestion_control: expresspass\nhost: {feedback_jitter: 1us}",
     "s.yaml:11: host.feedback_jitter: is for ACKs and CNPs, and expresspass has none; 0, or "
     "another congestion_control"),
    ("congestion_control: dcqcn", "congestion_control: expresspass\nfailures: {switch: agg0}",
     "s.yaml:11: failures: congestion_control expresspass needs both directions of a flow on one "
     "way, which failures change; leave them out, or choose another scheme"),
    ("duration: 200us", "duration: 200us\nroutes: {file: right.routes}\nfailures: {switch: agg0}",
     "s.yaml:2: routes.reroute: file says the ways, and nothing says them without the links that "
     "fail; make this never"),
    ("loss:", "rcp_rate:\n  alpha: 0.1\nloss:",
     "s.yaml:17: rcp_rate: no switch has it: it comes with congestion_control: rcp; choose that, "
     "or leave this out"),
    ("loss:", "int_stamp:\n  least_queue: 1KB\nloss:",
     "s.yaml:17: int_stamp: no switch has it: it comes with congestion_control: hpcc; choose that, "
     "or leave this out"),
    ("congestion_control: dcqcn", "congestion_control: hpcc\nint_stamp:\n  least_queue: 2GB",
     "s.yaml:12: int_stamp.least_queue: 2GB is out of range; from 0 to 1GiB"),
    ("congestion_control: dcqcn", "congestion_control: {name: hpcc, eta: 0}",
     "s.yaml:10: congestion_control.eta: 0 is out of range; from 0.01 to 2"),
    ("congestion_control: dcqcn", "congestion_control: {name: swift, fs_min_cwnd: 100}",
     "s.yaml:10: congestion_control.fs_min_cwnd: must be below fs_max_cwnd "
     "(fs_max_cwnd is 100 by default)"),
    ("congestion_control: dcqcn",
     "congestion_control: {name: swift, initial_cwnd: 12, max_cwnd: 11}",
     "s.yaml:10: congestion_control.initial_cwnd: must not be above max_cwnd"),
    ("congestion_control: dcqcn", "congestion_control: rcp\nrcp_rate:\n  alpha: 17",
     "s.yaml:12: rcp_rate.alpha: 17 is out of range; from 0 to 16"),
    ("congestion_control: dcqcn", "congestion_control: rcp\nrcp_rate:\n  period: 1ns",
     "s.yaml:12: rcp_rate.period: must be 1us or more, or 0 for the mean round trip"),
    ("duration: 200us", "duration: 200",
     "s.yaml:1: duration: 200 has no unit; add one of ps, ns, us, ms or s"),
    ("duration: 200us", "duration: 86401s",
     "s.yaml:1: duration: 86401s is out of range; from 0 to 86400s"),
    ("hosts_per_tor: 4", "hosts_per_tor: 0",
     "s.yaml:6: topology.hosts_per_tor: 0 is out of range; from 1 to 1024"),
    ("hosts_per_tor: 4", "hosts_per_tor: -4",
     "s.yaml:6: topology.hosts_per_tor: -4 is negative; write a whole number, such as 128"),
    ("oversubscription: 2", "oversubscription: 3",
     "s.yaml:7: topology.oversubscription: 3 needs 1.333 uplinks of 100Gbps for 4 hosts of "
     "100Gbps; 4 (1 uplinks) or 2 (2) would do"),
    ("type: clos", "type: close",
     's.yaml:3: topology.type: "close" is not known; did you mean "clos"? (star, dumbbell, '
     'parking_lot, leaf_spine, clos, fat_tree, from_file)'),
    ("duration: 200us", "duration: 200us\nroutes: {file: wrong.routes}",
     'wrong.routes:2: tor0 has no port "agg7"; its ports are 0 to 5, and the '
     'first leads to host0'),
    ("duration: 200us", "duration: 200us\nroutes: {file: twice.routes}",
     "twice.routes:3: line 1 has this destination at tor0 already; one line with "
     "all its ports would be right"),
    ("duration: 200us", "duration: 200us\nroutes: {file: no_flow.routes}",
     "no_flow.routes:1: there is no flow 999999; the workloads make 13322, counted from 0"),
    ("duration: 200us", "duration: 200us\nroutes: {file: other_flow.routes}",
     "other_flow.routes:2: flow 0 goes from host0 to host7; a path between these two, or back, "
     "would be right"),
    ("duration: 200us",
     "duration: 200us\nroutes: {file: other_flow.routes}\nhost: {entropy: reps}\n"
     "recovery: selective_repeat",
     "other_flow.routes:2: flows have many paths by host.entropy; ecmp, or a file without paths of "
     "flows"),
    ("duration: 200us", "duration: 200us\nroutes: {file: gap.routes}",
     "gap.routes:1: tor0 has no link to tor1; a path follows links"),
    ("duration: 200us", "duration: 200us\nroutes: {file: no.routes}",
     "s.yaml:2: routes.file: no.routes: No such file or directory; a readable file would be right"),
    ("loss:", "events: {file: wrong.events, port: \"tor0:host0\"}\nloss:",
     "s.yaml:17: events.file: wrong.events:2: events[0].iter: 0 is out of range; from 1 to 65535"),
    ("loss:", "events: {file: no.events, port: \"tor0:host0\"}\nloss:",
     "s.yaml:17: events.file: no.events: cannot be read: No such file or directory"),
    ("loss:", "events: {file: ., port: \"tor0:host0\"}\nloss:",
     "s.yaml:17: events.file: .: is a folder; give a file of events"),
    ("loss:", "events: {file: right.events}\nloss:",
     "s.yaml:17: events.port: is missing; write the port whose packets they are for, such as "
     "tor0:host3"),
    ("loss:", "events: {port: \"tor0:host0\"}\nloss:",
     "s.yaml:17: events.port: there is no events.file; write one, or leave this out"),
    ("loss:", "events: {file: right.events, port: \"tor0:host9\"}\nloss:",
     's.yaml:17: events.port: tor0 has no port "host9"; '),
    ("loss:", "events: {file: right.events, port: \"tor0:host0\"}\nloss:\n  late: 0.1",
     "s.yaml:17: events.port: this port's packets are late at random, too (loss.late); choose one "
     "of them, or other ports"),
    ("congestion_control: dcqcn", "congestion_control: expresspass\n"
     "events: {file: right.events, port: \"tor0:host0\"}",
     "s.yaml:11: events.file: is for queue pairs, not for expresspass; choose another "
     "congestion_control, or leave this out"),
    ("duration: 200us", "duration: 200us\nroutes: {fiel: right.routes}",
     's.yaml:2: routes.fiel: unknown key; did you mean "file"?'),
    ("duration: 200us", "duration: 200us\nroutes: right.routes",
     "s.yaml:2: routes: is not a section; write its keys below it, as KEY: VALUE"),
    ("  queues: tor0:host0", "  victim_share: 0",
     "s.yaml:20: measure.victim_share: 0 is out of range; from 0.001 to 1"),
    ("congestion_control: dcqcn", "congestion_control: dcqnc",
     's.yaml:10: congestion_control: "dcqnc" is not known; did you mean "dcqcn"? ('),
    ("congestion_control: dcqcn", "congestion_control: {name: dcqcn, gain: 2}",
     "s.yaml:10: congestion_control.gain: unknown key; "),
    ("congestion_control: dcqcn", "recovery: {name: selective_repeat, memory: in_order}",
     "s.yaml:10: recovery.memory: is only for `oche exec`, as no program looks at memory here; "
     "leave it out"),
    ("congestion_control: dcqcn", "congestion_control: {name: dcqcn, g: 2}",
     "s.yaml:10: congestion_control.g: 2 is out of range; from "),
    ("cdf_file: sizes.cdf", "cdf_file: falls.cdf",
     "s.yaml:13: workload[0].cdf_file: falls.cdf:3: cdf: 40 after 50; it must not fall"),
    ("cdf_file: sizes.cdf", "cdf_file: ends.cdf",
     "s.yaml:13: workload[0].cdf_file: ends.cdf:2: cdf: "),
    ("cdf_file: sizes.cdf", "cdf_file: no.cdf",
     's.yaml:13: workload[0].cdf_file: no.cdf: No such file or directory; a readable file of lines '
     '"size_bytes cdf"'),
    ("cdf_file: sizes.cdf", "cdf_file: .",
     's.yaml:13: workload[0].cdf_file: .: Is a directory; a readable file of lines '
     '"size_bytes cdf"'),
    (INCAST, "  - type: from_file\n    file: .",
     "s.yaml:16: workload[1].file: .: Is a directory; a readable file of flows"),
    ("  - type: incast\n    degree: 4", "  - type: incast\n    verb: reed",
     's.yaml:16: workload[1].verb: "reed" is not known; did you mean "read"? ('),
    ("  - type: incast\n    degree: 4", "  - type: long_flows\n    verb: read",
     "s.yaml:16: workload[1].verb: a READ asks for bytes that are there; greedy: true, or another "
     "verb"),
    ("  - type: incast\n    degree: 4", "  - type: incast\n    bytes: 2TiB",
     "s.yaml:16: workload[1].bytes: 2TiB is out of range; from 1B to 1TiB"),
    (INCAST, "  - type: from_file\n    file: verbs.csv",
     's.yaml:16: workload[1].file: verbs.csv:3: verb: "fetch" is none; write, send or read'),
    ("cdf_file: sizes.cdf", "cdf: websearched",
     's.yaml:13: workload[0].cdf: "websearched" is not known; did you mean "websearch"? ('),
    ("degree: 4", "degree: 16",
     "s.yaml:16: workload[1].degree: 16 senders, but only 15 hosts beside the receiver; at most "
     "15"),
    ("  kmin: 5KB", "  kmin: 900KB\n  kmax: 200KB",
     "s.yaml:9: switch.kmin: 900000 bytes is above kmax, 200000 bytes; would be right: at most "
     "kmax (at tor0)"),
    ("  kmin: 5KB", "  kmin: 5KB\n  buffer: 10KB",
     "s.yaml:10: switch.buffer: 10000 bytes is less than the PFC headroom of "),
    ("duration: 200us", "duration: 200us\nwarmup: 200us",
     "s.yaml:2: warmup: leaves nothing to measure; make it less than duration"),
    ("probability: 0", "pattern: 3,x",
     "s.yaml:18: loss.pattern: a number is missing at character 3; would be right: 3,7,10-19, or "
     "every 100, or psn 5"),
    ("probability: 0", "port: tor0:host9",
     's.yaml:18: loss.port: '),
    ("probability: 0", "probability: 2", "s.yaml:18: loss.probability: 2 is out of range; from "),
    ("queues: tor0:host0", "queues: tor9:host0",
     's.yaml:20: measure.queues: no node is called "tor9"; hosts are host0 to host15, switches '
     'tor0 to core3'),
    ("queues: tor0:host0", "queues: tor*:upp*",
     's.yaml:20: measure.queues: no port matches "tor*:upp*"; switches are tor0 to core3, and the '
     'first of the 6 ports of tor0 is tor0:0 or tor0:host0'),
    ("queues: tor0:host0", 'queues: "*"\n  queue_step: 1B',
     "s.yaml:20: measure.queues: histograms of 48 queues take "),
    ("queues: tor0:host0", "queues: host3",
     "s.yaml:20: measure.queues: host3 is a host; name a port of a switch, such as tor0:host3"),
    ("  queues: tor0:host0", "  - queues",
     "s.yaml:19: measure: is not a section; write its keys below it, as KEY: VALUE"),
]

# Arguments after "oche run" (S is the scenario), and the expected message.
COMMANDS = [
    (["no.yaml"], "no.yaml: cannot be read: No such file or directory; give the path of a scenario "
                  "file"),
    (["list.yaml"], "list.yaml:1: "),
    (["broken.yaml"], "broken.yaml:2: not YAML: "),
    (["twice.yaml"], "twice.yaml:2: duration: "),
    (["lag.yaml"],
     "lag.yaml:3: loss.port: s:t is 2 parallel links; name one of them, s:t/1 to s:t/2"),
    (["many.yaml"],
     "many.yaml:3: workload: 18750016 connections; at most 16777152 can be run, as queue pair "
     "numbers have 24 bits: fewer or larger flows, a shorter run, or host.connections: per_pair"),
    (["long.yaml"],
     "long.yaml:3: workload: 8000016 connections; at most 2097152 with congestion_control: rogue: "
     "fewer or larger flows, a shorter run, or host.connections: per_pair"),
    ([], "oche run: which scenario? give a YAML file, or the name of one that oche run --list "
     "shows"),
    (["S", "S"], "oche run: s.yaml: one scenario at a time"),
    (["S", "--set", "podz=1"], "--set podz=1: podz: unknown key; "),
    (["S", "--set", "topology.podz=1"],
     '--set topology.podz=1: topology.podz: unknown key; did you mean "pods"?'),
    (["S", "--set", "topology[0].pods=2"],
     "--set topology[0].pods=2: topology: is a list; write one type, or a map with the key type"),
    (["S", "--set", "workload[1].verb=read", "--set", "congestion_control=dctcp"],
     "--set workload[1].verb=read: workload[1].verb: read, but congestion_control: dctcp has no "
     "verbs of flows; leave it out"),
    (["S", "--set", "workload[1].verb=send", "--set", "congestion_control=rogue"],
     "--set workload[1].verb=send: workload[1].verb: send, but congestion_control: rogue has no "
     "verbs of flows; set congestion_control.verb"),
    (["S", "--set", "workload[1].bytes=3GB", "--set", "congestion_control=dctcp"],
     "s.yaml:11: workload: a flow of 3000000000 bytes; at most 2147483648 with "
     "congestion_control: dctcp"),
    (["S", "--set", "switch.kmin"],
     "--set switch.kmin: not KEY=VALUE; write it as switch.buffer=9MB"),
    (["S", "--set", "switch.kmin=[1"], "--set switch.kmin=[1: not YAML: "),
    (["S", "--set", "workload[7].load=1"], 
     '--set workload[7].load=1: workload: "7" is not an entry of this list of 2; write workload[0] '
     'for the first'),
    (["S", "--set", "topology.oversubscription=3"],
     "--set topology.oversubscription=3: topology.oversubscription: 3 needs 1.333 uplinks of "),
    (["S", "--set", "warmup=1ms"],
     "--set warmup=1ms: warmup: leaves nothing to measure; make it less than duration"),
    (["S", "--set", "host.mtu=5us", "--seed", "3"],
     '--set host.mtu=5us: host.mtu: "5us": "us" is not a unit of size; use B, KiB, MiB, GiB, TiB, '
     'KB, MB, GB or TB'),
    (["S", "--set", "topology.host_rate=100G"],
     '--set topology.host_rate=100G: topology.host_rate: "100G": "G" is not a unit of rate; did '
     'you mean "100Gbps"? (bps, Kbps, Mbps, Gbps or Tbps)'),
    (["S", "--set", "switch.ecn=false"],
     "--set switch.ecn=false: switch.ecn: congestion_control dcqcn needs switches that mark; set "
     "this to true, or choose another scheme"),
    (["S", "--set", "switch.ecn=off"],
     "--set switch.ecn=off: switch.ecn: congestion_control dcqcn needs switches that mark; set "
     "this to true, or choose another scheme"),
    (["S", "--set", "congestion_control=dctcp", "--set", "switch.ecn=false"],
     "--set switch.ecn=false: switch.ecn: congestion_control dctcp needs switches that mark; set "
     "this to true, or choose another scheme"),
    (["S", "--set", "congestion_control={name: dctcp, ack_delay: 20ms}"],
     "--set congestion_control={name: dctcp, ack_delay: 20ms}: congestion_control.ack_delay: "
     "senders would time out first; make it shorter than rto_min (rto_min is 10ms by default)"),
    (["S", "--set", "congestion_control={name: tcp, lossless: true, port_buffer: 9KB}"],
     "--set congestion_control={name: tcp, lossless: true, port_buffer: 9KB}: "
     "congestion_control.port_buffer: nothing is dropped with lossless: true; make that false, or "
     "this 0"),
    (["S", "--set", "congestion_control={name: tcp, k: 30KB}"],
     "--set congestion_control={name: tcp, k: 30KB}: congestion_control.k: unknown key; write "
     "one of name, preset, mss, "),
    (["first.yaml", "--set", "topology={type: from_file, file: tree.topo}"],
     "tree.topo: there is no Tier 1, and Tiers is 2"),
    (["first.yaml", "--set", "topology={type: from_file, file: wide.topo}"],
     "wide.topo:5: Downlink_speed_Gbps: 2 words; one number would be right"),
    (["first.yaml", "--set", "workload={type: schedule, file: failed.cm}"],
     "--set workload={type: schedule, file: failed.cm}: workload.file: failed.cm:5: switch_type "
     "AGG: this topology has no aggregation switches; use one of three tiers, or leave the failure "
     "out"),
    (["first.yaml", "--set", "topology={type: fat_tree, k: 4}", "--set",
      "workload={type: schedule, file: far.cm}"],
     "--set workload={type: schedule, file: far.cm}: workload.file: far.cm:5: switch_id 9: AGG "
     "switches are 0 to 7"),
    (["first.yaml", "--set", "topology={type: fat_tree, k: 4}", "--set",
      "workload={type: schedule, file: cores.cm}"],
     "--set workload={type: schedule, file: cores.cm}: workload.file: cores.cm:5: link_id 2: agg1 "
     "leads to 2 cores, from 0"),
    (["first.yaml", "--set", "topology={type: fat_tree, k: 4}", "--set",
      "workload={type: schedule, file: often.cm}"],
     "--set workload={type: schedule, file: often.cm}: workload.file: often.cm: has 99 failures, "
     "and the topology 48 links"),
    (["first.yaml", "--set", "topology={type: fat_tree, k: 4}", "--set",
      "workload={type: schedule, file: lost.cm}", "--set", "routes.file=right.routes"],
     "--set workload={type: schedule, file: lost.cm}: workload: its matrix has failures, and "
     "routes.file fixes the ways of flows; leave one of them out"),
    (["first.yaml", "--set", "topology.delay=1ms"],
     "first.yaml: switch.buffer: 12000000 bytes is less than the PFC headroom of "),
    (["S", "--set", "routes.file=wrong.routes"],
     'wrong.routes:2: tor0 has no port "agg7"; its ports '
     'are 0 to 5, and the first leads to host0'),
    (["S", "--set", 'workload={type: transfers, pairs: "0>15, 5>16"}'],
     '--set workload={type: transfers, pairs: "0>15, 5>16"}: workload.pairs: there is no host '
     '16; 0 to 15'),
    (["S", "--set", 'workload={type: transfers, pairs: [0>15, 3>3]}'],
     '--set workload={type: transfers, pairs: [0>15, 3>3]}: workload.pairs: host 3 sends to '
     'itself; another host'),
    (["S", "--set", 'workload={type: transfers, pairs: 0-3}'],
     '--set workload={type: transfers, pairs: 0-3}: workload.pairs: "0-3" is no pair; two '
     "hosts, such as 0>15 or host0>host15"),
    (["S", "--set", "workload={type: transfers}"],
     '--set workload={type: transfers}: workload.pairs: not given; sender and receiver, such '
     'as "0>15, 5>15"'),
    (["S", "--set", "workload={type: closed_cdf, pairs: 300}"],
     "--set workload={type: closed_cdf, pairs: 300}: workload.pairs: 300, but 16 hosts have only "
     "240; give at most that many"),
    (["S", "--set", "workload={type: closed_cdf, cdf_file: sizes.cdf}",
      "--set", "workload.cdf_file=ends.cdf"],
     "--set workload.cdf_file=ends.cdf: workload.cdf_file: ends.cdf:2: cdf: "),
    (["S", "--set", "workload={type: closed_cdf, cdf_file: ends.cdf}"],
     "--set workload={type: closed_cdf, cdf_file: ends.cdf}: workload.cdf_file: ends.cdf:2: cdf: "),
    (["S", "--set", "workload={type: incast, degree: 2, back_to_back: true, period: 1ms}"],
     "--set workload={type: incast, degree: 2, back_to_back: true, period: 1ms}: "
     "workload.back_to_back: there is one round that does not end; without period"),
    (["S", "--set", "host.connections=per_chains"],
     '--set host.connections=per_chains: host.connections: "per_chains" is not known; did you mean '
     '"per_chain"? ('),
    (["S", "--set", "switch.chip_ports=5"],
     "--set switch.chip_ports=5: switch.chip_ports: 5 for a switch with 6 ports; would be right: "
     "6 or more, or 0 (at tor0)"),
    (["S", "--seed", "x"],
     '--seed x: seed: "x" is not a whole number; write a whole number, such as 128'),
    (["S", "--seed", "-1"],
     "--seed -1: seed: -1 is negative; write a whole number, such as 128"),
    (["S", "--threads", "0"],
     "oche run: --threads 0: not a number of threads; write 1 to 64, or auto"),
    (["S", "--threads", "99999"],
     "oche run: --threads 99999: not a number of threads; write 1 to 64, or auto"),
    (["S", "--threads", "18446744073709551617"],
     "oche run: --threads 18446744073709551617: not a number of threads; write 1 to 64, or auto"),
    (["S", "-t", "x"],
     "oche run: --threads x: not a number of threads; write 1 to 64, or auto"),
    (["S", "--partition-report", "1"],
     "oche run: --partition-report 1: not a number of parts; write 2 to 64"),
    (["S", "--partition-report", "auto"],
     "oche run: --partition-report auto: not a number of parts; write 2 to 64"),
    (["S", "--partition-report", "4", "--threads", "2"],
     "oche run: --partition-report is made in one thread; leave out --threads"),
    (["S", "--partition-report", "4", "--compare", "seed=1,2"],
     "oche run: --partition-report is of one run; leave out --compare"),
    (["S", "--partition-report", "4", "--pcap", "x.pcap:1"],
     "oche run: --partition-report has no captures; leave out --pcap"),
    (["S", "--threads", "two"],
     "oche run: --threads two: not a number of threads; write 1 to 64, or auto"),
    (["S", "--compare", "congestion_control"],
     "--compare congestion_control: has no key or no values; write it as "
     "congestion_control=dcqcn,none"),
    (["S", "--compare", "congestion_control=dcqcn"],
     "--compare congestion_control=dcqcn: has only one value; write it as "
     "congestion_control=dcqcn,none"),
    (["S", "--compare", "congestion_control=dcqcn,nune"],
     '--compare congestion_control=nune: congestion_control: "nune" is not known; did you mean '
     '"none"? ('),
    (["S", "--compare", "switch.kmim=1KB,2KB"],
     '--compare switch.kmim=1KB: switch.kmim: unknown key; did you mean "kmin"?'),
    (["S", "--set", "switch.kmax=200KB", "--compare", "switch.kmin=1KB,900KB"],
     "--compare switch.kmin=900KB: switch.kmin: 900000 bytes is above kmax, 200000 bytes; "),
    (["S", "--compare", "switch.kmin=1KB,1000B"],
     "--compare switch.kmin=1KB,1000B: 1KB and 1000B come to the same run; leave one out"),
    (["S", "--set", "switch.mechanisms=iofd,iofd"],
     "--set switch.mechanisms=iofd,iofd: switch.mechanisms: iofd is there twice; name it once"),
    (["S", "--set", "switch.mechanisms=drill,iofd", "--set", "recovery=selective_repeat"],
     "--set switch.mechanisms=drill,iofd: switch.mechanisms: drill and iofd both choose the port; "
     "name one"),
    (["S", "--set", "switch.mechanisms=round_robin", "--set", "congestion_control=expresspass"],
     "--set switch.mechanisms=round_robin: switch.mechanisms: round_robin sends packets by any "
     "path, and congestion_control expresspass needs one path for both directions; leave it out"),
    (["S", "--set", "switch.mechanisms=drill"],
     "--set switch.mechanisms=drill: switch.mechanisms: with drill packets overtake each other, "
     "and go_back_n sends them again as lost; recovery: {name: selective_repeat, reorder: window}, "
     "or host.reordering: accept to run it nevertheless"),
    (["S", "--set", "host.entropy=mixed", "--set", "congestion_control=hpcc"],
     "--set host.entropy=mixed: host.entropy: with mixed packets of a queue pair take many paths, "
     "and congestion_control: hpcc compares what they say of one; another scheme, or "
     "host.reordering: accept to run it nevertheless"),
    (["S", "--set", "switch.mechanisms=drill", "--set", "congestion_control=tcp"],
     "--set switch.mechanisms=drill: switch.mechanisms: with drill packets overtake each other, "
     "and new_reno sends them again as lost; another congestion_control, or host.reordering: "
     "accept to run it nevertheless"),
    (["S", "--set", "switch.mechanisms=random_spray", "--set", "recovery=selective_repeat", "--set",
      "workload={type: incast, degree: 4, verb: read}"],
     "--set switch.mechanisms=random_spray: switch.mechanisms: with random_spray packets overtake "
     "each other, and READ data that is overtaken is asked for again; WRITEs, or host.reordering: "
     "accept to run it nevertheless"),
    (["S", "--set", "host.entropy=reps"],
     "--set host.entropy=reps: host.entropy: with reps packets overtake each other, and go_back_n "
     "sends them again as lost; recovery: {name: selective_repeat, reorder: window}, or "
     "host.reordering: accept to run it nevertheless"),
    (["S", "--set", "switch.mechanisms=trimming"],
     "--set switch.mechanisms=trimming: switch.mechanisms: with trimming only headers arrive of "
     "some packets, and go_back_n drops these; recovery: selective_repeat, or leave trimming out"),
    (["S", "--set", "switch={mechanisms: [trimming, iofd], pfc: false}", "--set",
      "recovery=selective_repeat"],
     "s.yaml: trimming.size: a switch with lanes cannot trim; leave trimming out, or the mechanism "
     "that has lanes (at tor0)"),
    (["S", "--set", "host.entropy=mixed", "--set", "congestion_control=rogue"],
     "--set host.entropy=mixed: host.entropy: congestion_control rogue has one path for each "
     "connection; ecmp"),
    (["S", "--set", "host={entropy: bitmap, paths: 48}", "--set", "recovery=selective_repeat"],
     "--set host={entropy: bitmap, paths: 48}: host.paths: 48 is no power of two; 32, 64, 128 or "
     "the like"),
    (["S", "--set", "host.entropy=oblivious", "--set", "recovery=selective_repeat", "--set",
      "switch.mechanisms=drill"],
     "--set host.entropy=oblivious: host.entropy: drill chooses packets' paths already; ecmp, or "
     "leave drill out of switch.mechanisms"),
    (["S", "--set", "switch.mechanisms=iofd", "--set", "iofd.tokens=7"],
     "--set iofd.tokens=7: iofd.tokens: 7 would need 8 lanes beside the class of ACKs, and there "
     "are 8 classes in all; would be right: at most 6, or lanes: escape"),
    (["S", "--set", "switch.mechanisms=iofd", "--set", "switch.pfc_priorities=4"],
     "--set switch.pfc_priorities=4: switch.pfc_priorities: 4 for 6 lossless classes; would be "
     "right: 6 or more (at tor0)"),
    (["S", "--set", "switch.mechanisms=ib_credits", "--set", "ib_credits.buffer=1KB"],
     "--set ib_credits.buffer=1KB: ib_credits.buffer: 1000 bytes; would be right: at least two "),
    (["S", "--set", "switch.mechanisms=ib_credits", "--set", "ib_credits.update=65KB"],
     "--set ib_credits.update=65KB: ib_credits.update: 65000 bytes may never become free while a "),
    (["S", "--set", "switch.mechanisms=ib_credits", "--set", "switch.port_buffer=1MB", "--set",
      "switch.pfc=false"],
     "s.yaml: ib_credits.buffer: makes all 2 classes lossless, and switch.port_buffer, 1000000 "),
    (["S", "--set", "switch.mechanisms=iofd", "--set", "congestion_control=tcp"],
     "--set switch.mechanisms=iofd: switch.mechanisms: iofd is for messages of RNICs, and hosts "
     "that end in tcp have none; leave it out, or choose another congestion_control"),
    (["S", "--set", "congestion_control=hpcc", "--set", "host.ack_every=2"],
     "--set host.ack_every=2: host.ack_every: congestion_control hpcc needs an ACK for every "
     "packet; set this to 1, or choose another scheme"),
    (["S", "--set", "switch.mechanisms=rcp_rate", "--set", "congestion_control=dcqcn"],
     "--set switch.mechanisms=rcp_rate: switch.mechanisms: rcp_rate is of use to "
     "congestion_control: rcp alone, and this is dcqcn; leave it out, or choose that"),
    (["S", "--set", "switch.mechanisms=credit_shaper"],
     "--set switch.mechanisms=credit_shaper: switch.mechanisms: credit_shaper is of use to "
     "congestion_control: expresspass alone, and this is dcqcn; leave it out, or choose that"),
    (["S", "--set", "congestion_control=expresspass", "--set", "topology.aggs_per_pod=1"],
     "s.yaml:2: topology: expresspass needs credits and data to take the same way, and "
     "between "),
    (["S", "--set", "congestion_control=expresspass", "--set", "congestion_control.w_most=0.1"],
     "--set congestion_control.w_most=0.1: congestion_control.w_most: w_initial: is not between "
     "w_least and w_most; make it one of them, or in between (w_initial is 0.5 by default, w_least "
     "is 0.01 by default)"),
    (["S", "--compare", "congestion_control=dart,none", "--set",
      "congestion_control.suppress_marks=false"],
     "--compare congestion_control=dart: would undo --set congestion_control.suppress_marks=false; "
     "write both as one, congestion_control={name: …, key: …}"),
    (["S", "--compare", "seed=1,2", "--compare", "seed=3,4"],
     "oche run: --compare seed=3,4: one comparison at a time"),
    (["S", "--pcap", "x.pcap"],
     "--pcap: which of 16 hosts? name them after the file, such as x.pcap:host0,host1"),
    (["S", "--pcap", "x.pcap:host16"],
     '--pcap: no node is called "host16"; hosts are host0 to host15, switches tor0 to core3'),
    (["S", "--pcap", "x.pcap:16"],
     '--pcap: no node is called "16"; hosts are host0 to host15, switches tor0 to core3'),
    (["S", "--pcap", "x.pcap:tor0"],
     "--pcap: tor0 has 6 ports; name one as tor0:host0 or tor0:0"),
    (["S", "--pcap", "x.pcap:tor0:up2"],
     '--pcap: tor0 has no port "up2"; its ports are 0 to 5, and the first leads to host0'),
    (["S", "--pcap", "x.pcap:tor*:upp*"],
     '--pcap: no port matches "tor*:upp*"; switches are tor0 to core3, and the first of the 6 '
     'ports of tor0 is tor0:0 or tor0:host0'),
    (["S", "--pcap", "x.pcap:"], "--pcap x.pcap:: write FILE, or FILE:HOST,SWITCH:PORT"),
    (["S", "--pcap", ".:1"], "--pcap .: not a plain file; give the name of a new one"),
    (["S", "--pcap", "/dev/null:1"],
     "--pcap /dev/null: not a plain file; give the name of a new one"),
    (["S", "--trace", "x.txt"],
     "--trace x.txt: ends neither in .csv nor in .jsonl (a JSON object a line), which says how it "
     "is written"),
    (["S", "--trace", "x.csv:port=3"],
     '--trace x.csv:port=3: "port" is not known; write host=3, host=tor0 or flow=7'),
    (["S", "--trace", "x.csv:"],
     '--trace x.csv:: "" is not known; write host=3, host=tor0 or flow=7'),
    (["S", "--trace", "x.csv:host=3,"],
     "--trace x.csv:host=3,: host= has no value; write such as host=3 or host=tor0"),
    (["S", "--trace", "x.csv:host=host16"],
     '--trace x.csv:host=host16: no node is called "host16"; hosts are host0 to host15, or 0 to '
     "15, switches tor0 to core3"),
    (["S", "--trace", "x.csv:flow=9999999999999999999999"],
     "--trace x.csv:flow=9999999999999999999999: flow 9999999999999999999999: there are flows 0 "
     "to "),
    (["S", "--trace", "no/x.csv"],
     "--trace no/x.csv: cannot be written: No such file or directory; give a place that can be"),
    (["S", "--trace", "./x.csv:host=3", "--pcap", "./x.csv:3"],
     "oche run: --trace and --pcap name one file; give each its own"),
    (["S", "--trace", "x.csv:host=3", "--pcap", "./x.csv:3"],
     "oche run: --trace and --pcap name one file; give each its own"),
    (["S", "--pcap", "x.pcap:1", "--pcap", "y.pcap:2"],
     "oche run: --pcap y.pcap:2: one capture at a time; list ports after one file"),
    (["S", "--pcap", "x.pcap:,"], '--pcap: "," names no port; write such as host0'),
    (["S", "--trace", "x.csv", "--compare", "seed=1,2"],
     "oche run: --trace is of one run; leave out --compare"),
    (["S", "--trace", "x.csv", "--show-defaults"],
     "oche run: --show-defaults runs nothing; leave out --trace"),
    (["S", "--set", "measure.interval=1ps"],
     "--set measure.interval=1ps: measure.interval: gives more than a million samples; make it "
     "longer, or duration shorter"),
    (["S", "--pcap", "no/x.pcap:1"], 
     "--pcap no/x.pcap: cannot be written: No such file or directory; give a place that can be"),
    (["S", "--pcap", "x.pcap:1", "--threads", "2"],
     "oche run: --pcap needs one thread; leave out --threads"),
    (["S", "--pcap", "x.pcap:1", "--compare", "seed=1,2"],
     "oche run: --pcap captures one run; leave out --compare"),
    (["S", "--set", "sw\x1b[31m\x7f\u0085é=1"],
     "--set sw\\x1b[31m\\x7f\\xc2\\x85é=1: not a key; write parts with dots between, such as "),
    (["S", "--set", "sw\x1b=1"], "--set sw\\x1b=1: sw\\x1b: unknown key; "),
    (["S", "--threads", "\x1b]0;x\x07"],
     "oche run: --threads \\x1b]0;x\\x07: not a number of threads; write 1 to 64, or auto"),
    (["no\nsuch\t\udcff"], "oche run: no\\nsuch\\t\\xff: no such file or scenario; oche run --list "
                           "shows those that come with oche"),
    (["./no\nsuch\t\udcff"], "./no\\nsuch\\t\\xff: cannot be read: No such file or directory; give "
                             "the path of a scenario file"),
    (["S", "--out", ""], "oche run: --out: names no folder; write --out . for this one"),
    (["--show-defaults", "--set", "host.mtu=4KiB"],
     "oche run: --set host.mtu=4KiB: --show-defaults without a scenario shows what can be written, "
     "which nothing overrides; give a scenario too"),
    (["S", "--show-defaults", "--compare", "seed=1,2"],
     "oche run: --show-defaults runs nothing; leave out --compare"),
    (["S", "--out", "sizes.cdf/x"],
     '"sizes.cdf" is a file; give a folder for the results, or the name of a new one'),
    (["S", "--out", "sizes.cdf"],
     '"sizes.cdf" is a file; give a folder for the results, or the name of a new one'),
    (["S", "--out", "/proc/x"],
     "/proc/x: cannot be made: No such file or directory; give a folder that can be written"),
]


# Files that `oche import FILE -o x.yaml` refuses, and how.
IMPORTED = [
    # HPCC's configuration
    ("CC_MODE one\n", 'HERE:1: CC_MODE: "one" is no whole number; a whole number'),
    ("CC_MODE 1\nRATE_AI 50Mbit\n", 'HERE:2: RATE_AI: "50Mbit" is no rate; as in 50Mb/s'),
    ("CC_MODE 1\nEWMA_GAIN 0x1\n", 'HERE:2: EWMA_GAIN: "0x1" is hexadecimal; a number, 0 or more'),
    ("CC_MODE 1\nKMAX_MAP 2 25000000000 400\n",
     "HERE:2: KMAX_MAP: the file ends where its value should be"),
    ("CC_MODE 1\nKMAX_MAP 5000 25000000000 400\n", "HERE:2: KMAX_MAP: 5000 entries; at most 4096"),
    ("CC_MODE 1\nBUFFER_SIZE 4000\n", "HERE:2: BUFFER_SIZE: 4000 MB; from 1 to 2047"),
    ("CC_MODE 1\nRP_TIMER 0\n", "HERE:2: RP_TIMER: 0 us; from 0.001 to 1000000"),
    ("CC_MODE 1\nTOPOLOGY_FILE sizes.cdf\n", "sizes.cdf:1: 2 numbers; nodes, switches and links "
     "would be right"),
    ("CC_MODE 1\nFLOW_FILE right.routes\n", 'right.routes:1: no column "src"; the first line is a '
     "number of flows, or names of columns, with src,dst,bytes,start"),
    ("CC_MODE 1\nTOPOLOGY_FILE lag.topology\nLINK_DOWN 5 0 1\n",
     "HERE:3: LINK_DOWN: the topology has no link between nodes 0 and 1"),
    # CONFIG_DB
    ('{"a": 1}', "HERE: is JSON without a table that is read: WRED_PROFILE, QUEUE, BUFFER_POOL, "
     "BUFFER_PROFILE, BUFFER_PG, PORT_QOS_MAP, PFC_WD"),
    ('{"PFC_WD": {"a": {"action": "drop",}\n',
     "HERE:2: not JSON: did not find expected ',' or '}'; check commas, quotes and brackets here "
     "and on the line before"),
    ('{"QUEUE": {},\n"QUEUE": {}}',
     "HERE:2: QUEUE: given twice; it is on line 1 already, keep one of them"),
    ('{"QUEUE": [1]}', "HERE:1: QUEUE: no table; an object of rows"),
    ('{"PFC_WD": {\n"a": "drop"}}', "HERE:2: PFC_WD.a: no row; an object of fields"),
    ('{"PFC_WD": {"a": {\n"action": "pause"}}}',
     'HERE:2: PFC_WD.a.action: "pause"; drop, forward or alert'),
    ('{"QUEUE": {"a|3": {"wred_profile": "W"}}}',
     'HERE:1: QUEUE.a|3.wred_profile: WRED_PROFILE has no "W"'),
    ('{"WRED_PROFILE": {"W": {"ecn": "ecn_all", "wred_green_enable": "true", '
     '"green_min_threshold": "2", "green_max_threshold": "1"}}}',
     "HERE:1: WRED_PROFILE.W.green_min_threshold: 2 is above green_max_threshold, 1; at most that"),
    ('{"WRED_PROFILE": {"W": {"x": "\\ud83d\\ude00"}}}',
     "HERE:1: not JSON: found invalid Unicode character escape code; write the character itself in "
     "place of \\u escapes above U+FFFF"),
    ('{"PORT_QOS_MAP": {"a": {"pfc_enable": "3 4"}}}',
     'HERE:1: PORT_QOS_MAP.a.pfc_enable: "3 4"; priorities, as in 3,4'),
    # others
    ("", "HERE: is empty"),
    ("hello\n", 'HERE:1: begins with "hello", as nothing that is known: '),
    ("topology: {type: star}\n", "HERE:1: is a scenario: oche run HERE"),
    ("Nodes 16\nTiers 2\n", 'HERE: has no tiers; "Tier 0" and its keys come after Nodes, Tiers and '
     'Podsize'),
    ("1\n0 0 3 100 5 0\n", "HERE:2: dst: host 0 sends to itself; another host"),
    ("9\n0 1 2 3 4 5 6 7 8\n", "HERE:2: is a list of nodes, as in a TRACE_FILE, which nothing "
     "here needs; a flow has 5 or 6 numbers"),
    ("2\n0 1 3 100 1000 0\n", "HERE: 1 flows, but the first line says 2"),
    ("0 0\n100 50\n", "HERE:2: cdf: ends at 50; the last line's must be 100 (percent) or 1"),
    ("host a\nhost b\n", "HERE:2: switch: none in the file; hosts are linked to a switch"),
    ("4 1 3\n9\n", 'HERE:2: "9" is no node; a whole number, at most 3'),
    ("num_ranks 2\nrank 0 {\n", "HERE:2: the block of rank 0, in line 2, does not end"),
]


def run(arguments, where):
    return run_program(OCHE, "run", *arguments, cwd=where)


def judge(done, what, said, where, before):
    """The complaints about one run that had to fail."""
    found = []
    if done.returncode != 2 or done.stdout != "":
        found.append(f"{what}: status {done.returncode}, prints {done.stdout[:200]!r}")
    # The expected text is the whole line, or its beginning before a list.
    whole = said and said[-1] not in " (:"
    right = done.stderr == said + "\n" if whole else done.stderr.startswith(said)
    if not right or done.stderr.count("\n") != 1 or not done.stderr.endswith("\n"):
        found.append(f"{what}:\n  says   {done.stderr!r}\n  should {said!r}")
    if sorted(os.listdir(where)) != before:
        found.append(f"{what}: left {sorted(set(os.listdir(where)) - set(before))}")
        sys.exit("\n".join(found))
    return found


def main():
    with tempfile.TemporaryDirectory() as where:
        for name, text in FILES.items():
            with open(os.path.join(where, name), "w", encoding="utf-8") as file:
                file.write(text)
        path = os.path.join(where, "s.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(BASE)
        before = sorted(os.listdir(where))
        for arguments, said in COMMANDS:
            arguments = ["s.yaml" if a == "S" else a for a in arguments]
            failures.extend(judge(run(arguments, where), arguments, said, where, before))
        for old, new, said in CHANGED:
            assert BASE.count(old) == 1, old
            with open(path, "w", encoding="utf-8") as file:
                file.write(BASE.replace(old, new))
            failures.extend(judge(run(["s.yaml"], where), new, said, where, before))
        for text, said in IMPORTED:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = run_program(OCHE, "import", "s.yaml", "-o", "x.yaml", cwd=where)
            said = "oche import: " + said.replace("HERE", "s.yaml")
            failures.extend(judge(done, text, said, where, before))
        # The program must accept what was changed.
        with open(path, "w", encoding="utf-8") as file:
            file.write(BASE)
        done = run(["s.yaml", "--quiet"], where)
        if done.returncode != 0 or done.stderr != "" or not os.path.exists(
                os.path.join(where, "out", "s", "run.sqlite")):
            failures.append(f"the scenario itself: {done.returncode}, {done.stderr}")
    return report()


sys.exit(main())
