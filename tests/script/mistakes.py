#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All mistakes of a scenario are reported at once, with status 2: a line each, by line of the file,
then those of overrides. Ten at most are shown, with the number of others. Mistakes that only follow
from another are left out. The same holds for oche run, sweep, buffers and fluid.

Environment: OCHE.
"""
import os
import sys
import tempfile

from checks import failures, report, run_program

OCHE = os.environ["OCHE"]
TOPOLOGY = "topology: {type: star, hosts: 4}\n"
WORKLOAD = "workload: {type: incast, degree: 2}\n"
UNIT = ' "us" is not a unit of size; use B, KiB, MiB, GiB, TiB, KB, MB, GB or TB'
COUNT = " is not a whole number; write a whole number, such as 128"
# The scenario, overrides, and what is said, without "s.yaml:" at the beginning of the file's lines.
CASES = [
    # In the order of lines, whatever the order of sections.
    (WORKLOAD.replace("2", "x") + "host: 7\nswitch:\n  kmax: 5us\n  kmin: 4us\n" + TOPOLOGY, [],
     ['1: workload.degree: "x"' + COUNT,
      "2: host: is not a section; write its keys below it, as KEY: VALUE",
      '4: switch.kmax: "5us":' + UNIT, '5: switch.kmin: "4us":' + UNIT]),
    # A section with a misspelt name is not also reported as missing.
    ("topologie: {type: star}\nduration: 1\n", [],
     ['1: topologie: unknown key; did you mean "topology"?',
      '1: workload: is missing; add "workload: {type: incast}"',
      "2: duration: 1 has no unit; add one of ps, ns, us, ms or s"]),
    # If a section's variant is unknown, its other keys are not checked.
    ("topology: {type: stern, hosts: x, podz: 2}\nworkload: {typ: incast, degree: x}\n", [],
     ['1: topology.type: "stern" is not known; did you mean "star"? (',
      '2: workload.typ: unknown key; did you mean "type"?']),
    ("congestion_control: {nam: timely, beta: 7}\n" + TOPOLOGY + WORKLOAD, [],
     ['1: congestion_control.nam: unknown key; did you mean "name"?']),
    # Entries of lists and sections within sections.
    (TOPOLOGY + "switch:\n  leaf: {kmin: 1us, ecm: true}\n  kmin: 2us\nworkload:\n"
     "  - {type: incast, degree: x}\n  - 7\n  - {type: incast, degree: y}\n", [],
     ['3: switch.leaf.kmin: "1us":' + UNIT,
      '3: switch.leaf.ecm: unknown key; did you mean "ecn"?', '4: switch.kmin: "2us":' + UNIT,
      '6: workload[0].degree: "x"' + COUNT, '7: workload[1]: "7" is not known; write one of ',
      '8: workload[2].degree: "y"' + COUNT]),
    # The defaults are unknown: reported only once.
    ("defaults: nope\nhost: {preset: nope, acks: 1}\nseed: x\n" + TOPOLOGY + WORKLOAD, [],
     ['1: defaults: "nope" is not ', "2: host.preset: ", "2: host.acks: unknown key; ",
      '3: seed: "x"' + COUNT]),
    # Overrides are behind the file, by the option that was typed.
    (TOPOLOGY + WORKLOAD + "seeds: 1\n", ["--seed", "x", "--set", "switch.kmin=1us"],
     ['3: seeds: unknown key; did you mean "seed"?', '--seed x: seed: "x"' + COUNT,
      '--set switch.kmin=1us: switch.kmin: "1us":' + UNIT]),
    # Invalid overrides: the sections that they should give are not reported as missing.
    (TOPOLOGY, ["--set", "workload", "--set", "a..b=1"],
     ["--set workload: not KEY=VALUE; write it as switch.buffer=9MB",
      "--set a..b=1: not a key; write parts with dots between, such as switch.buffer or "]),
    # Readable values that contradict each other.
    (TOPOLOGY + WORKLOAD + "duration: 1ms\nwarmup: 2ms\n"
     "switch: {mechanisms: iodf, agg: {ecn: false}}\n",
     [], ["4: warmup: leaves nothing to measure; make it less than duration",
          "5: switch.agg: topology star has no such tier; it has ",
          '5: switch.mechanisms: "iodf" is not known; write some of ']),
    # Ten, and the number of the others; the first of the file, though sections come otherwise.
    ("".join(f"wrong{i}: 1\n" for i in range(7)) + "loss: {probability: x, a1: 1, a2: 2}\n" +
     "topology: {type: star, hosts: x}\n" + "workload: 7\n", [],
     [f"{i + 1}: wrong{i}: unknown key; " for i in range(7)] +
     ["8: loss.probability: ", "8: loss.a1: unknown key; ", "8: loss.a2: unknown key; ",
      "and 2 more mistakes"]),
    ("".join(f"wrong{i}: 1\n" for i in range(11)) + TOPOLOGY + WORKLOAD, [],
     [f"{i + 1}: wrong{i}: unknown key; " for i in range(10)] + ["and 1 more mistake"]),
]
OTHERS = (["sweep", "s.yaml", "--vary", "host.mtu=1024B,4096B"], ["buffers", "--check", "s.yaml"],
          ["fluid", "s.yaml"], ["run", "s.yaml", "--compare", "host.mtu=1024B,4096B"])


def oche(where, *arguments):
    return run_program(OCHE, *arguments, cwd=where)


def judge(what, done, said):
    lines = done.stderr.splitlines()
    said = ["s.yaml:" + line if line[0].isdigit() else line for line in said]
    right = len(lines) == len(said) and all(
        line.startswith(one) if one[-1] in " (" else line == one for line, one in zip(lines, said))
    if done.returncode != 2 or done.stdout != "" or not right:
        failures.append(f"{what}: status {done.returncode}, {done.stdout}\n{done.stderr}"
                        "should say\n" + "\n".join(said))


def main():
    with tempfile.TemporaryDirectory() as where:
        for text, options, said in CASES:
            with open(os.path.join(where, "s.yaml"), "w", encoding="utf-8") as file:
                file.write(text)
            judge(text, oche(where, "run", "s.yaml", *options), said)
        text, _, said = CASES[0]
        with open(os.path.join(where, "s.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        for command in OTHERS:
            judge(" ".join(command), oche(where, *command), said)
        if os.listdir(where) != ["s.yaml"]:
            failures.append(f"left {os.listdir(where)}")
    return report()


sys.exit(main())
