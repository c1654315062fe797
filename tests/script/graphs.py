#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random schedules on hosts: those that end, and those that cannot.

Some sends and receives are taken away, and ranks are made to wait for each other. What is left over
must not depend on the network: `oche run` must name as many ranks, receives and messages as `oche
import` finds by its model, with messages that are eager and others that are not, and a run whose
ranks all end must end by itself.

usage: graphs.py     environment: OCHE, SOURCE; OCHE_LONG=yes: 1,000 schedules
"""
import json
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import goal
from checks import check, must, report, run_program

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
COUNT = 1000 if os.environ.get("OCHE_LONG") == "yes" else 300
PLACES = ("", ", ranks_per_host: 2", ", ranks_per_host: 3, channels: 2", ", placement: random",
          ", send_ends: acknowledged", ", overhead: 2us", ", verb: send")
EAGER = (1000000000, 0, 500)  # bytes; the sender of a longer message waits for its receive


def broken(seed):
    """A schedule of goal.py in which, by the seed, something is missing or waits in a circle."""
    ranks = goal.made(seed)
    draws = goal.Draws(seed + 7777777)
    for _ in range(draws.below(3)):
        rank = draws.below(len(ranks))
        operations, dependencies = ranks[rank]
        messages = [i for i, op in enumerate(operations) if op[0] != "calc"]
        if not messages:
            continue
        gone = messages[draws.below(len(messages))]
        operations[gone] = ("calc", 100, 0, 0, 0)
    if draws.below(3) == 0:  # two ranks wait for each other's message
        first, second = 0, 1 + draws.below(len(ranks) - 1)
        for here, there, tag in ((first, second, 1000), (second, first, 1001)):
            operations, dependencies = ranks[here]
            at = len(operations)
            operations.append(("recv", 8, there, 2001 - tag, 0))
            operations.append(("send", 8, there, tag, 0))
            dependencies.append((at + 1, "requires", at))
    return ranks


def verdicts(work, seed):
    """Returns what is left by the model, and in the simulated network."""
    ranks = broken(seed)
    path = os.path.join(work, f"{seed}.goal")
    with open(path, "w", encoding="utf-8") as out:
        out.write(goal.text_of(ranks))
    eager = EAGER[seed // len(PLACES) % len(EAGER)]
    done = run_program(OCHE, "import", path, "--json", "--loggops", f"S={eager}")
    model = json.loads(done.stdout)
    scenario = os.path.join(work, f"{seed}.yaml")
    with open(scenario, "w", encoding="utf-8") as out:
        out.write(f"topology: {{type: star, hosts: {len(ranks)}}}\ncongestion_control: none\n"
                  f"seed: {seed}\nhost: {{ack_timeout: 1ms}}\nswitch: {{buffer: 32MB}}\n"
                  f"workload: {{type: schedule, file: {path}{PLACES[seed % len(PLACES)]}, "
                  f"rendezvous_above: {eager}B}}\n")
    done = run_program(OCHE, "run", scenario, "--json", "-o", f"{work}/{seed}")
    if done.returncode not in (0, 3):
        return model, done.stderr
    return model, json.loads(done.stdout)["runs"][0]["metrics"]


def judge(work, seed):
    model, metrics = verdicts(work, seed)
    if isinstance(metrics, str):
        return f"schedule {seed}: {metrics}"
    found = {"receives_without_message": metrics["workload.0.receives_left"],
             "messages_without_receive": metrics["workload.0.messages_left"]}
    for name, value in found.items():
        if value != model[name]:
            return f"schedule {seed}: {name}: {value}, by the model {model[name]}"
    ended = metrics["workload.0.ranks_done"] == metrics["workload.0.ranks"]
    if ended != (model["operations_left"] == 0):
        return f"schedule {seed}: ended: {ended}, operations left by the model: " \
               f"{model['operations_left']}"
    return ""


def time_of(work, network, text, settings=""):
    """Returns how long a schedule takes, in ns."""
    with open(os.path.join(work, "x.goal"), "w", encoding="utf-8") as out:
        out.write(text)
    with open(os.path.join(work, "x.yaml"), "w", encoding="utf-8") as out:
        out.write(f"topology: {network}\ncongestion_control: none\n"
                  f"workload: {{type: schedule, file: x.goal{settings}}}\n")
    done = run_program(OCHE, "run", "x.yaml", "--json", cwd=work)
    must(done.returncode == 0, done.stderr)
    return round(json.loads(done.stdout)["runs"][0]["metrics"]["workload.0.time"] * 1e9, 3)


def check_times(work):
    """Cpus, overhead, local messages, and a schedule whose end LogGOPSim gives."""
    star = "{type: star, hosts: 16, host_rate: 100Gbps, delay: 1241.84ns}"
    with open(os.path.join(SOURCE, "scenarios", "graphs", "dissemination_16.goal"),
              encoding="utf-8") as text:
        barrier = text.read()
    check(time_of(work, star, barrier, ", overhead: 1500ns") == 22000, "LogGOPSim's 22,000 ns")
    calcs = "num_ranks 2\nrank 0 {\na: calc 1000\nb: calc 500\nc: calc 1200 cpu 1\n" \
            "d: calc 300\nd irequires a\ne: calc 100 cpu 1\ne requires a\n}\n"
    check(time_of(work, star, calcs) == 1800, "three calculations of a cpu, and two of another")
    message = "num_ranks 2\nrank 0 {\na: send 1000b to 1 tag 1\nb: calc 10\nb requires a\n}\n" \
              "rank 1 {\na: recv 1000b from 0 tag 1\n}\n"
    local = ", ranks_per_host: 2, local_rate: 80Gbps, local_latency: 50ns, overhead: 7ns"
    check(time_of(work, star, message, local) == 7 + 100 + 50 + 7, "a local message")
    check(time_of(work, star, message, local + ", send_ends: acknowledged") == 7 + 100 + 50 + 10,
          "its send ends when it is there")
    both = "num_ranks 2\nrank 0 {\nsend 1000b to 1 tag 1\nsend 1000b to 1 tag 2\n}\nrank 1 {\n" \
           "recv 1000b from 0 tag 2\nrecv 1000b from 0 tag 1\n}\n"
    check(time_of(work, star, both, local) == 7 + 200 + 50 + 7, "one behind the other")
    check_rendezvous(work, star, message, local)


def check_rendezvous(work, star, message, local):
    """A request, an answer and the data, each after the overhead of the rank that sends it."""
    asks = ", rendezvous_above: 999B"
    check(time_of(work, star, message, local + asks) == 3 * (7 + 50) + 100 + 7, "a local message")
    check(time_of(work, star, message, local + ", rendezvous_above: 1000B") == 7 + 100 + 50 + 7,
          "one that is just short enough")
    check(time_of(work, star, message, local + asks + ", send_ends: acknowledged") ==
          3 * (7 + 50) + 100 + 10, "a local send, which ends when the data is there")
    control = time_of(work, star, message.replace("1000b", "64b"))
    data = time_of(work, star, message)
    for overhead in (300, 1000):  # in which the ACK of what has arrived goes out
        check(time_of(work, star, message, f"{asks}, overhead: {overhead}ns") ==
              round(2 * control + data + 4 * overhead, 3), "over the network")
    late = message.replace("a: recv", "c: calc 100000\na: recv").replace(
        "tag 1\n}\n", "tag 1\na requires c\n}\n")
    check(late.count("a requires c") == 1, late)
    check(time_of(work, star, late, asks + ", overhead: 300ns") ==
          round(100000 + control + data + 3 * 300, 3),
          "the receive is posted late")


def sentence_of(work, workload, *options):
    """Returns what a run says of its job, and its metrics. Freed memory would show."""
    with open(os.path.join(work, "c.yaml"), "w", encoding="utf-8") as out:
        out.write("topology: {type: star, hosts: 4, host_rate: 100Gbps}\n"
                  f"congestion_control: none\nworkload: {workload}\n")
    environment = {**os.environ, "MALLOC_PERTURB_": "85"}
    shown = run_program(OCHE, "run", "c.yaml", *options, cwd=work, env=environment)
    told = run_program(OCHE, "run", "c.yaml", "--json", *options, cwd=work, env=environment)
    must(shown.returncode == told.returncode == 0, shown.stderr, told.stderr)
    run = json.loads(told.stdout)["runs"][0]
    line = next(line for line in shown.stdout.split("\n") if line.startswith("Job 0"))
    return line, {**run["metrics"], "job": run["jobs"][0]}


def check_sentences(work):
    broadcast = "{type: collective, operation: broadcast, bytes: 1MB, chunks: 1"
    once, first = sentence_of(work, broadcast + "}")
    check("broadcast (ring) of 1MB, 4 ranks on 4 hosts" in once, once)
    for more in (", repeat: 10}", ", repeat: 10, compute: 1ms}", ", repeat: 3, overhead: 10ns}"):
        line, metrics = sentence_of(work, broadcast + more)
        ratio = metrics["workload.0.bus_bandwidth"] / first["workload.0.bus_bandwidth"]
        check(abs(ratio - 1) < 0.01, line, "and once", once)
    # Each pair of ranks uses its queue pairs in turn, however the messages are numbered.
    for ranks, pairs in ((4, 12), (3, 6)):
        trace = f"channels{ranks}.csv"
        sentence_of(work, "{type: collective, operation: all_to_all, algorithm: direct, "
                    f"bytes: 1MB, chunks: 1, repeat: 4, channels: 4, ranks: {ranks}}}",
                    "--trace", trace)
        with open(os.path.join(work, trace), encoding="utf-8") as rows:
            started = {tuple(row.split(",")[1:4]) for row in rows if "FLOW_STARTED" in row}
        check(len(started) == 4 * pairs, ranks, "ranks,", len(started), "queue pairs")
    two = "num_ranks 2\nrank 0 {\na: calc 100000\nb: calc 100000 cpu 1\nr: recv 8b from 1\n}\n" \
          "rank 1 {\na: calc 200000\ns: send 8b to 0\ns requires a\n}\n"
    with open(os.path.join(work, "two.goal"), "w", encoding="utf-8") as out:
        out.write(two)
    line, metrics = sentence_of(work, "{type: schedule, file: two.goal}")
    check(abs(metrics["workload.0.exposed.max"] - 102e-6) < 0.2e-6 and "wait 25 %" in line, line,
          metrics["workload.0.exposed.max"])


def check_phases(work):
    """Phases in words and as JSON: of a ring both halves, of halving and doubling the longest."""
    reduce = "{type: collective, operation: all_reduce, bytes: 8MB, compute: 1ms, repeat: 2"
    line, found = sentence_of(work, reduce + "}")
    check(re.search(r"; reduce_scatter \S+us, all_gather \S+us[;.]", line), line)
    job = found["job"]
    check(job["ranks"] == 4 and job["end"] == found["workload.0.time"], job)
    check(job["late"] == found["workload.0.straggler"] and len(job["repetitions"]) == 2, job)
    for one in job["repetitions"]:
        first, second = one["phases"]
        check((first["name"], second["name"]) == ("reduce_scatter", "all_gather"), one)
        check(one["begin"] == first["begin"] < second["begin"] <= first["end"] < second["end"] ==
              one["end"], one)
    line, found = sentence_of(work, reduce + ", algorithm: halving_doubling}")
    phases = found["job"]["repetitions"][0]["phases"]
    check([phase["name"] for phase in phases] == [
        "halving, distance 2", "halving, distance 1", "doubling, distance 1",
        "doubling, distance 2"], phases)
    check(re.search(r"; longest of 4 phases: (halv|doubl)ing, distance 2, \S+us[;.]", line), line)
    # One of three ranks is beyond the power of two.
    line, found = sentence_of(work, "{type: collective, algorithm: halving_doubling, bytes: 1MB, "
                              "ranks: 3}")
    phases = [phase["name"] for phase in found["job"]["repetitions"][0]["phases"]]
    check(phases == ["from ranks beyond", "halving, distance 1", "doubling, distance 1",
                     "to ranks beyond"], phases)
    late = "num_ranks 3\n" + "".join(f"rank {i} {{\ncalc {time}\n}}\n"
                                      for i, time in enumerate((1000, 5000, 7000)))
    with open(os.path.join(work, "late.goal"), "w", encoding="utf-8") as out:
        out.write(late)
    line, found = sentence_of(work, "{type: schedule, file: late.goal}")
    check(line.endswith("rank 2 ends last, 2us after the median."), line)
    check(found["job"]["repetitions"] == [] and found["job"]["bytes"] is None, found["job"])


def main():
    kinds = {"ends": 0, "stuck": 0}
    with tempfile.TemporaryDirectory() as work:
        with ThreadPoolExecutor(2) as pool:
            for text in pool.map(lambda seed: judge(work, seed), range(COUNT)):
                check(text == "", text)
        check_times(work)
        check_sentences(work)
        check_phases(work)
        for seed in range(COUNT):
            with open(os.path.join(work, f"{seed}.goal"), encoding="utf-8") as text:
                kinds["stuck" if "tag 1000" in text.read() else "ends"] += 1
    must(min(kinds.values()) > COUNT / 10, "too few of a kind:", kinds)
    return report()


if __name__ == "__main__":
    sys.exit(main())
