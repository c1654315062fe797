#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche check-nic` in the simulator: all adapters and verbs get right verdicts; what was delayed is
measured, and a profile that is written from it behaves as what it was made from; wrong files and
arguments get one line that names the place, and no profile is left behind.

Environment: OCHE, SOURCE.
"""
import json
import os
import re
import sys
import tempfile

from checks import check, must, report, run_program

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
LUMINA = os.path.join(SOURCE, "scenarios", "lumina")
HABITS = ("ideal,nak_delay=5us,nak_reaction=20us,cnp_delay=3us,nak_brings_cnp=true,"
          "cnp_interval=4us,read_nak_delay=7us")

TEST = """requester: {nic: {type: CX6}}
responder: {nic: {type: CX6}}
traffic:
  num-qps: 2
  rdma-verb: write
  num-msgs-per-qp: 3
  mtu: 1024
  message-size: 4096
  data-pkt-events:
  - {qpn: 0, psn: 1, type: drop, iter: 1}
"""
# What is replaced in TEST, by what, and what the line must contain.
WRONG = [
    ("type: CX6}}\nresponder", "type: CX9}}\nresponder",
     'wrong.yaml:1: requester.nic.type: "CX9" is no adapter'),
    ("responder: {nic: {type: CX6}}\n", "", "responder: is missing"),
    ("responder: {nic: {type: CX6}}", "responder: {nic: {typ: CX6}}", "did you mean type?"),
    ("responder: {nic: {type: CX6}}", "responder: {nic: 5}", "responder.nic: is no map"),
    ("requester", "sender: 1\nrequester", "sender: a test of Lumina has no such key"),
    ("  num-qps: 2\n", "", "traffic.num-qps: is missing"),
    ("num-qps: 2", "num-qps: 0", "num-qps"),
    ("num-qps", "num-qp", "did you mean num-qps?"),
    ("rdma-verb: write", "rdma-verb: atomic", "rdma-verb"),
    ("rdma-verb: write", "rdma-verb: send_read", "judged in captures alone"),
    ("  num-qps", "  barrier-sync: true\n  num-qps", "traffic.barrier-sync"),
    ("  num-qps", "  min-retransmit-timeout: 0\n  num-qps", "waits for ever"),
    ("  num-qps", "  min-retransmit-timeout: 32\n  num-qps", "min-retransmit-timeout"),
    ("mtu: 1024", "mtu: 1500", "wrong.yaml:7: traffic.mtu: is no MTU"),
    ("message-size: 4096", "message-size: 4KB", "message-size"),
    ("mtu: 1024\n  message-size: 4096", "mtu: 256\n  message-size: 1000000000", "at most 8388607"),
    ("psn: 1", "psn: 4", "a message has only 4 packets"),
    ("  mtu: 1024\n", "", "traffic.mtu: is missing"),
    ("qpn: 0", "qpn: 2", "only 2 queue pairs"),
    ("type: drop", "type: delay", "by: is missing"),
    ("type: drop", "type: duplicate", "none of Lumina's"),
    ("  num-qps", "  tx-depth: 2\n  num-qps", "only ecn is possible"),
    ("traffic:", "switch: {port-speed: 12G}\ntraffic:", "is no speed of a port"),
    ("traffic:", "rewrite-udp-dst-port: 0\ntraffic:", "rewrite-udp-dst-port"),
    ("requester: {nic: {type: CX6}}", "requester: {nic: {type: CX6}, roce-parameters: "
     "{dcqcn-rp-enable: maybe}}", "dcqcn-rp-enable"),
]


def check_nic(*options, **more):
    return run_program(OCHE, "check-nic", *options, timeout=120, **more)


def result_of(*options, status=0):
    done = check_nic("--json", *options)
    must(done.returncode == status and not done.stderr, options, done.returncode,
         done.stdout[:2000], done.stderr)
    return json.loads(done.stdout)


def verdict(result, judge):
    return next(row["verdict"] for row in result["verdicts"] if row["judge"] == judge)


def median_of(result, latency):
    return next(row["median_ns"] for row in result["latencies"] if row["latency"] == latency)


def check_adapters():
    """Every adapter here follows Go-Back-N, whatever else it does."""
    listed = run_program(OCHE, "nic").stdout.split("\n\n")[0]
    for nic in [line.split()[0] for line in listed.splitlines()] + ["CX4", "E810"]:
        for name in ("write", "read"):
            result = result_of(os.path.join(LUMINA, name + ".yaml"), "--nic", nic)
            judges = ("go-back-N sender", "go-back-N receiver") if name == "write" else \
                ("READ responder", "READ requester")
            check(all(verdict(result, judge) == "right" for judge in judges) and
                  result["events"]["happened"] == 35, nic, name, result["verdicts"])
            check_counted(nic, name, result)


def check_counted(nic, name, result):
    """The adapters themselves count what their packets show."""
    shown, counted = dict(result["counters"]), dict(result["counted"])
    counted["local_ack_timeout_err"] += counted.pop("roce_adp_retrans")
    if name == "read":  # a response was lost twice: its timeout looks as if a gap had caused it
        for of in shown, counted:
            of["implied_nak_seq_err"] += of.pop("local_ack_timeout_err")
    if nic == "connectx-6-no-floor":  # the first timeout of each message sends nothing: no packet
        counted["implied_nak_seq_err" if name == "read" else "local_ack_timeout_err"] -= 5
    check(all(counted[key] == value for key, value in shown.items()), nic, name, shown, counted)


def check_counts():
    """What is known of the test without its run: counters, marks, repeated packets."""
    result = result_of(os.path.join(LUMINA, "write.yaml"))
    counters = result["counters"]
    check(counters["packet_seq_err"] == 20 and counters["out_of_sequence"] == 20 and
          counters["local_ack_timeout_err"] == 5 and
          counters["np_ecn_marked_roce_packets"] == 10, counters)
    check(result["cnps"]["nacks"] == 20 and result["cnps"]["sent"] == 20, result["cnps"])
    quiet = result_of(os.path.join(LUMINA, "write.yaml"), "--nic", "CX4")  # its NACKs bring no CNP
    check(quiet["cnps"]["sent"] == 4, quiet["cnps"])
    again = result_of(os.path.join(LUMINA, "read.yaml"))
    check(again["counters"]["duplicate_request"] == 25, again["counters"])


def check_late_answers(folder):
    """What is due after the last message is sent, too: CNPs of a last packet. A run whose packets
    are all late has failed messages, and is no wrong input."""
    path = os.path.join(folder, "last.yaml")
    on = "{nic: {type: CX6}, roce-parameters: {dcqcn-rp-enable: true, dcqcn-np-enable: true}}"
    for verb, options, us in (("read", (), 0), ("write", ("--nic", "ideal,cnp_delay=3us"), 3),
                              ("read", ("--nic", "ideal,cnp_delay=1s"), 1e6)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(TEST.replace("{nic: {type: CX6}}", on).replace("num-qps: 2", "num-qps: 1")
                       .replace("per-qp: 3", "per-qp: 1").replace("4096", "10240")
                       .replace("psn: 1, type: drop", "psn: 9, type: ecn")
                       .replace("verb: write", "verb: " + verb))
        result = result_of(path, *options)
        ms = float(re.search(r"simulated, ([0-9.]+) ms", check_nic(path, *options).stdout).group(1))
        check(result["cnps"]["sent"] == result["cnps"]["marks"] == 1 and
              us <= ms * 1e3 < us + 5, verb, options, ms, result)
    with open(path, "w", encoding="utf-8") as file:
        file.write(TEST.replace("psn: 1, type: drop", "psn: 1, type: ecn").replace(
            "  num-qps", "  min-retransmit-timeout: 8\n  max-retransmit-retry: 0\n  num-qps"))
    failed = check_nic(path, "--nic", "CX4", "--delay", "5ms")
    check(failed.returncode == 1 and
          "\n6 messages were given up after the last retry.\n" in failed.stdout, failed.stdout,
          failed.stderr)


def check_waits(folder):
    """Messages are delivered, or fail, however long an adapter waits and whatever was asked."""
    path = os.path.join(folder, "waits.yaml")
    lost = "".join(f"  - {{qpn: 0, psn: 3, type: drop, iter: {i}}}\n" for i in range(1, 30))
    for nic in ("CX5", "CX6", "connectx-6-no-floor", "connectx-7,timeouts=adaptive"):
        for exponent in (1, 14):
            with open(path, "w", encoding="utf-8") as file:
                file.write(TEST.replace("num-qps: 2", f"num-qps: 1\n  min-retransmit-timeout: "
                                        f"{exponent}\n  max-retransmit-retry: 7")
                           .replace("per-qp: 3", "per-qp: 1")
                           .replace("  - {qpn: 0, psn: 1, type: drop, iter: 1}\n", lost))
            failed = check_nic(path, "--nic", nic)
            check(failed.returncode == 1 and
                  "\n1 messages were given up after the last retry.\n" in failed.stdout, nic,
                  exponent, failed.stdout, failed.stderr)


def check_profile(folder):
    test, out = os.path.join(LUMINA, "write.yaml"), os.path.join(folder, "seen.yaml")
    first = result_of(test, "--nic", HABITS, "--profile", out)
    second = result_of(test, "--nic", out)
    for latency, ns in (("NACK generation", 5000), ("NACK reaction", 20000),
                        ("CNP after its mark", 3000)):
        check(ns < median_of(first, latency) < ns + 400, latency, median_of(first, latency))
        check(abs(median_of(first, latency) - median_of(second, latency)) < 20, latency,
              median_of(second, latency))
    check(first["cnps"]["sent"] == second["cnps"]["sent"], first["cnps"], second["cnps"])
    shown = run_program(OCHE, "nic", out).stdout
    for words in ("nak_delay                        5us", "nak_reaction                     20us",
                  "nak_brings_cnp                   true"):
        check(words in shown, words, "is not in", shown)
    reads = os.path.join(folder, "reads.yaml")
    result_of(os.path.join(LUMINA, "read.yaml"), "--nic", HABITS, "--profile", reads)
    check("read_nak_delay                   7us" in run_program(OCHE, "nic", reads).stdout,
          "the profile of a READ")
    # A delay of the link is no delay of the adapter.
    far = os.path.join(folder, "far.yaml")
    result_of(test, "--nic", HABITS, "--delay=3us", "--profile", far)
    check("nak_delay                        5us" in run_program(OCHE, "nic", far).stdout,
          "the profile at long links")
    refused = check_nic(test, "--profile", os.path.join(folder, "none", "out.yaml"))
    check(refused.returncode == 2 and refused.stderr.count("\n") == 1, refused.stderr)


def check_wrong(folder):
    path, out = os.path.join(folder, "wrong.yaml"), os.path.join(folder, "out.yaml")
    for old, new, words in WRONG:
        must(old in TEST, old)
        with open(path, "w", encoding="utf-8") as file:
            file.write(TEST.replace(old, new, 1))
        done = check_nic("wrong.yaml", "--profile", "out.yaml", cwd=folder)
        check(done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1 and
              words in done.stderr and not os.path.exists(out), repr(new), "gets", done.stderr,
              done.stdout)
    with open(path, "w", encoding="utf-8") as file:
        file.write(TEST)
    check(check_nic(path).returncode == 0, "the right one")
    for options in ([], ["none.yaml"], [path, path], [path, "--behind-events"],
                    [path, "--pcap", path], [path, "--pcap", "none"], [path, "--nic", "none"],
                    [path, "--delay", "0"], [path, "--delay", "5"], [folder]):
        done = check_nic(*options)
        check(done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1, options,
              done.returncode, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_adapters()
        check_counts()
        check_late_answers(folder)
        check_waits(folder)
        check_profile(folder)
        check_wrong(folder)
    return report()


sys.exit(main())
