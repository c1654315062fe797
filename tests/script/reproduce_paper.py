# SPDX-License-Identifier: Apache-2.0
"""A small paper of the tests' own, with two figures of the same claims, and how oche reproduce is
run on it.

Environment: OCHE.
"""
import os
import sqlite3

from checks import check, run_program

OCHE = os.environ["OCHE"]

SCENARIO = """\
duration: 2ms
topology: {type: star, hosts: 2, host_rate: 40Gbps}
switch: {ecn: false}
host: {mtu: 1000B, ack_every: 64, ack_timeout: 100us, connections: per_pair}
congestion_control: none
workload: {type: background, bytes: 400KB}
"""
PAPER = """\
title: A paper
authors: A, B
published: somewhere
figures: [one, two]
grids:
  lossless:
    vary:
      recovery: {GBN: go_back_n, never: {name: go_back_n, nak_interval: 1s, nak_exception: false}}
      loss.probability: [0]
  lossy:
    vary: {recovery: {GBN: go_back_n,
                      never: {name: go_back_n, nak_interval: 1s, nak_exception: false}},
           loss.probability: [0.01%, 1%]}
    repeat: 6
    quick: {repeat: 3, vary: {loss.probability: [1%]}}
quantities:
  throughput: {metric: goodput, relative_to: {loss.probability: 0}, label: relative throughput}
differences: ["hosts are simulated, and this is a long sentence that is here to be broken into two
              lines because it is longer than a line may be"]
"""
FIGURE = """\
title: Losses
place: Fig 1
scenario: s.yaml
grids: [{from: lossless}, {from: lossy}]
at: {recovery: GBN}
also: [{label: a NAK a second, at: {recovery: never}}]
plot:
  - title: each
    quantity: throughput
    along: loss.probability
    by: recovery
    x: {name: loss, scale: log}
    y: {name: relative throughput}
    published: [{curve: GBN, points: [[1%, 50%]]}]
  - title: at one per cent
    quantity: throughput
    by: recovery
    at: {loss.probability: 1%}
    x: {name: recovery}
    y: {name: "%"}
claims:
  - name: lossless
    text: all of it without loss
    kind: value
    quantity: throughput
    at: {loss.probability: 0}
    published: 100%
    tolerance: {absolute: 0.01, in_shape: 0.02}
    place: sec 1
    source: text
    confidence: high
  - name: low
    text: hardly less with little loss
    kind: at_least
    quantity: throughput
    at: {loss.probability: 0.01%}
    bound: 80%
    says: hardly less
    tolerance: {absolute: 0, in_shape: 0.2}
    place: sec 1
    source: text
    confidence: high
  - name: wrong
    text: more than all of it at 1 %
    kind: value
    quantity: throughput
    at: {loss.probability: 1%}
    published: 150%
    tolerance: {absolute: 0.05, in_shape: 0.1}
    place: sec 2
    source: text
    confidence: low
    explanation: EXPLAINED
  - name: order
    text: a NAK for each gap is better
    kind: order
    quantity: throughput
    at: {loss.probability: 1%}
    of: {recovery: [GBN, never]}
    says: GBN > never
    tolerance: {margin: 0.02, in_shape: 0.05}
    place: sec 3
    source: text
    confidence: medium
"""

def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def make_papers(work):
    folder = os.path.join(work, "papers", "p")
    write(folder, "paper.yaml", PAPER)
    write(folder, "scenarios/s.yaml", SCENARIO)
    write(folder, "figures/one.yaml", FIGURE)
    write(folder, "figures/two.yaml", FIGURE.replace("title: Losses", "title: The same again"))
    return os.path.dirname(folder)


def reproduce(work, *arguments, status=0, **options):
    done = run_program(OCHE, "reproduce", *arguments, cwd=work,
                       env={**os.environ, "OCHE_PAPERS": os.path.join(work, "papers")}, **options)
    check(done.returncode == status, arguments, "status", done.returncode, done.stderr)
    return done


def ask(work, path, query):
    db = sqlite3.connect(os.path.join(work, path))
    rows = db.execute(query).fetchall()
    db.close()
    return rows
