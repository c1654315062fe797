#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche reproduce on what a paper says in the main: statements with the verdicts that claims give
them, on a terminal and as JSON, of a run and of recorded results; what is refused; and curves.

Environment: OCHE.
"""
import json
import os
import re
import sys
import tempfile

from checks import check, report
from reproduce_paper import FIGURE, make_papers, reproduce, write

STATEMENTS = """\
statements:
  - {name: a, text: without loss nothing is slower, place: sec 1, published: 100 %, source: text,
     decided_by: [one/lossless, two/lossless]}
  - {name: b, text: losses help, place: sec 2, published: more, source: plot,
     decided_by: [one/lossless, one/wrong], explanation: BECAUSE}
  - {name: c, text: a NAK for each gap helps, place: sec 3, published: more, source: memory,
     decided_by: two/order}
declared: [{reading: a NAK a second, because: it is said}]
"""
# At 1 % the paper's number is that of the other reading, under which statement b holds.
BETTER = FIGURE.replace("published: 150%", "published: 11%").replace(
    "tolerance: {absolute: 0.05, in_shape: 0.1}\n    place: sec 2",
    "tolerance: {absolute: 0.03, in_shape: 0.04}\n    place: sec 2")
CURVES = """\
  - name: ordering
    text: GBN above never
    kind: ordering
    quantity: throughput
    at: {loss.probability: [0.01%, 1%]}
    of: {recovery: [GBN, never]}
    along: loss.probability
    says: GBN > never
    tolerance: {margin: 1%, in_shape: 60%}
    place: sec 3
    source: text
    confidence: high
  - name: reversed
    text: never above GBN
    kind: ordering
    quantity: throughput
    at: {loss.probability: [0.01%, 1%]}
    of: {recovery: [never, GBN]}
    along: loss.probability
    says: never > GBN
    tolerance: {margin: 0, in_shape: 60%}
    place: sec 3
    source: text
    confidence: high
  - name: factor
    text: GBN over itself
    kind: factor
    quantity: throughput
    of: [{recovery: GBN}, {recovery: GBN}]
    along: loss.probability
    take: largest
    published: 1.01
    tolerance: {relative: 0.1, in_shape: 0.2}
    place: sec 3
    source: text
    confidence: high
"""


def statements_of(work, text=STATEMENTS):
    write(work, "papers/p/statements.yaml", text)


def test_on_a_terminal(work):
    """How many hold comes first, then each statement; claims are named if asked for."""
    statements_of(work)
    quick = reproduce(work, "p", "--quick").stdout
    for line in (r"p: what the paper says \(quick\)", r"verdict \(quick\) +by reading 1 +statement",
                 r"holds +holds +without loss nothing is slower \(published: 100 %\)",
                 r"does not hold +does not hold +losses help \(published: more\)",
                 r"holds           –               a NAK for each gap helps "
                 r"\(published: more; from memory\)",
                 r"reading 1: a NAK a second\n"
                 r"–: the reading measured none of the statement's claims",
                 r"p +1 +0 +1 +0 +0 +1 of 2 +1"):
        check(re.search(f"^{line}$", quick, re.M), line, quick)
    check("  losses help (does not hold)\n    BECAUSE\n" in quick, quick)
    check(quick.index("hold or in shape") < quick.index("what the paper says"), "counts first")
    check("by one/" not in quick, "claims are named without --verbose")
    check("what the paper says" not in reproduce(work, "p/one", "--quick").stdout, "one figure")
    said = reproduce(work, "p", "--quick", "--verbose").stdout
    check("by one/lossless (reproduced), one/wrong (not reproduced)\n" in said, said)
    reproduce(work, "p", "--record", "--quiet")
    said = reproduce(work).stdout
    check(said.startswith("statements ") and "(quick)" not in said, said)
    check(said.index("hold or in shape") < said.index("p: what the paper says\n"), said)
    check(re.search(r"^  declared: a NAK a second +1 +0 +1 +0 +0 +1 of 2 +1$", said, re.M), said)
    check("BECAUSE" not in said, "recorded explanations without --verbose", said)
    said = reproduce(work, "-v").stdout
    check("by two/order (reproduced)\n" in said, "--verbose, recorded", said)
    check("  losses help (does not hold)\n    BECAUSE\n" in said, "--verbose, recorded", said)


def counts(hold, in_shape, do_not_hold, from_memory):
    def memory(**held):
        return {"hold": 0, "in_shape": 0, "do_not_hold": 0, "not_measured": 0, "not_judged": 0,
                **held}
    return {"hold": hold, "in_shape": in_shape, "do_not_hold": do_not_hold, "not_measured": 0,
            "not_judged": 0, "hold_or_in_shape": hold + in_shape,
            "judged": hold + in_shape + do_not_hold, "from_memory": memory(hold=from_memory)}


def check_statements(paper):
    """Statements as JSON, of a run and of what was recorded of it."""
    first, second, third = paper["statements"]
    check((first["name"], first["text"], first["place"], first["published"], first["source"]) ==
          ("a", "without loss nothing is slower", "sec 1", "100 %", "text"), first)
    check([claim["claim"] for claim in second["decided_by"]] == ["one/lossless", "one/wrong"],
          second)
    check([claim["verdict"] for claim in second["decided_by"]] == ["reproduced", "not reproduced"],
          second)
    check(0.3 < second["decided_by"][1]["measured"] < 0.7 and
          second["decided_by"][1]["unit"] == "ratio", second)
    check([(one["verdict"], one["unsure"]) for one in paper["statements"]] ==
          [("holds", False), ("does not hold", False), ("holds", False)], paper["statements"])
    check([(one["reading"], one["verdict"], one["measured"]) for one in
           first["declared"] + second["declared"] + third["declared"]] ==
          [("a NAK a second", "holds", True), ("a NAK a second", "holds", True),
           ("a NAK a second", "holds", False)], "declared readings")
    check(second["best"] == second["declared"][0], "best reading", second["best"])
    check((first["explanation"], second["explanation"], third["source"]) ==
          (None, "BECAUSE", "memory"), "texts")
    check(paper["counts"]["as_judged"] == counts(1, 0, 1, 1), paper["counts"])
    check(paper["counts"]["declared"] == [{"reading": "a NAK a second", **counts(2, 0, 0, 1),
                                           "because": "it is said", "measured": True}],
          paper["counts"])
    check(paper["counts"]["best"] == {"reading": "a NAK a second", **counts(2, 0, 0, 1)},
          paper["counts"])


def rounded(statements):
    """The statements with four digits of what was measured, as the file rounds numbers."""
    for statement in statements:
        for claim in statement["decided_by"]:
            claim["measured"] = f"{claim['measured']:.4g}" if claim["measured"] else None
    return statements


def test_as_json(work):
    """--json has the statements of a run, and without a paper all that was recorded."""
    statements_of(work)
    write(work, "papers/p/figures/one.yaml", BETTER)
    write(work, "papers/p/figures/two.yaml", "quick_differs: NOT ALIKE\n" + FIGURE)
    said = json.loads(reproduce(work, "p", "--record", "--json").stdout)
    check([figure["info"]["figure"] for figure in said["figures"]] == ["one", "two"], said)
    paper, = said["papers"]
    check((paper["paper"], paper["title"], paper["mode"]) == ("p", "A paper", "full"), paper)
    check(paper["quick_differs"] == [{"figure": "two", "reason": "NOT ALIKE"}], paper)
    check_statements(paper)
    recorded = json.loads(reproduce(work, "--json").stdout)
    check(list(recorded) == ["papers"], recorded)
    kept, = recorded["papers"]
    check_statements(kept)
    check(kept["counts"] == paper["counts"] and kept["quick_differs"] == paper["quick_differs"] and
          rounded(kept["statements"]) == rounded(paper["statements"]), "as it was run")
    check((kept["claims"], kept["seeds"], len(kept["recorded"])) == (8, [1, 6], 1), kept)
    with open(os.path.join(work, "papers/p/results.csv"), encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split(",") for line in list(lines)[1:]]
    check(len(rows) == len(kept["results"]) == 14, kept["results"])
    for row, one in zip(rows, kept["results"]):
        check([row[0], row[1], row[2], row[7], row[8], int(row[9]), row[11], row[12]] ==
              [one["figure"], one["claim"], one["source"], one["unit"],
               one["verdict"] + "?" * one["unsure"], one["seeds"], one["commit"], one["date"]],
              row, one)
        check([None if text in ("", "never") else float(text) for text in row[3:7]] ==
              [one[key] for key in ("published", "measured", "low", "high")], row, one)
        check((row[13] or None) == one["reading"], row, one)
    # A paper of which one figure has run has no verdicts on statements, and says so by their lack.
    paper, = json.loads(reproduce(work, "p/two", "--quick", "--json").stdout)["papers"]
    check("statements" not in paper and "counts" not in paper and paper["mode"] == "quick", paper)
    check(paper["quick_differs"] == [{"figure": "two", "reason": "NOT ALIKE"}], paper)
    os.unlink(os.path.join(work, "papers/p/statements.yaml"))
    kept, = json.loads(reproduce(work, "--json").stdout)["papers"]
    check(kept["statements"] == [] and kept["counts"]["best"] is None, kept["counts"])


def test_what_is_refused(work):
    """A claim that is unknown, or that is not the paper's, in a run and in what was recorded."""
    path = os.path.realpath(os.path.join(work, "papers/p/statements.yaml"))
    statements_of(work, STATEMENTS.replace("two/order", "two/odrer"))
    unknown = (f'{path}:7: statements[2].decided_by: "odrer" is not a claim of the figure; did you '
               'mean "order"? (lossless, low, wrong, order)\n')
    for arguments in (["p", "--quick"], [], ["--json"], ["--stale"], ["p", "--list"]):
        done = reproduce(work, *arguments, status=2)
        check(done.stderr == unknown and not done.stdout, arguments, done.stderr, done.stdout)
    statements_of(work)
    write(work, "papers/p/figures/one.yaml",
          FIGURE.replace("source: text", "source: own", 1))
    done = reproduce(work, "p", "--quick", status=2)
    check(done.stderr == f"{path}:3: statements[0].decided_by[0]: one/lossless is this project's "
          "own claim; a statement is decided by the paper's\n" and not done.stdout, done.stderr)
    for options in (["-v", "--json"], ["p", "-v", "--quiet"], ["p", "-v", "--list"]):
        done = reproduce(work, *options, status=2)
        check(done.stderr == "oche reproduce: --verbose adds to the table of statements; leave out "
              "what prints another table or none\n", options, done.stderr)


def test_curves(work):
    """A figure's summary says of each curve how often its ordering holds, and its factor."""
    write(work, "papers/p/figures/one.yaml", FIGURE + CURVES)
    said = reproduce(work, "p/one").stdout
    summary = said[said.index("\ncurves:\n"):].split("\n\n")[0].lstrip("\n").split("\n")
    check(summary == ["curves:", "  relative throughput, along loss.probability",
                      "    ordering holds at 2 of 2 points: GBN above never",
                      "    ordering holds at 0 of 2 points: never above GBN",
                      "    factor 1 (published 1.01): GBN over itself"], summary)
    for row in (r"GBN above never +GBN > never +2 of 2 points .* each by more than 1 %; shape 60 % "
                r"of points +reproduced\??", r"never above GBN .* 0 of 2 points .* not reproduced",
                r"GBN over itself +1.01 +1 .* reproduced"):
        check(re.search(f"^{row}$", said, re.M), row, said)
    # A quick run has one of the points.
    quick = reproduce(work, "p/one", "--quick").stdout
    check("    ordering holds at 1 of 1 point: GBN above never\n" in quick, quick)


def main():
    for test in (test_on_a_terminal, test_as_json, test_what_is_refused, test_curves):
        with tempfile.TemporaryDirectory() as work:
            work = os.path.realpath(work)
            make_papers(work)
            test(work)
    return report()


sys.exit(main())
