#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oche reproduce, with a paper of its own: claim by claim what is published, measured and judged; a
results file that says the same; runs that figures share are made once, and those that are there are
not made again; a run that dies is told, the others count; what is wrong is found before anything
runs. And the papers that come with the program can be read, quick and full.

Environment: OCHE, SOURCE.
"""
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time

from checks import check, report, run_program
from reproduce_paper import FIGURE, OCHE, PAPER, SCENARIO, ask, make_papers, reproduce, write

SOURCE = os.environ["SOURCE"]
# A parent that ignores SIGINT (nohup, or a script's &) would have all programs ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

POINTS = "SELECT id, seed, trace_hash, wall_s FROM points ORDER BY id"


def test_a_paper(work):
    said = reproduce(work, "p").stdout
    one, two = "out/reproduce/p/one.sqlite", "out/reproduce/p/two.sqlite"
    lines = said.split("\n")
    row = {line.split("  ")[0]: line for line in reversed(lines) if "shape" in line}
    check(re.search(r"100 % +100 % +– +factor 1.01; shape 1.02 +reproduced$",
                    row["all of it without loss"]), row["all of it without loss"])
    check(re.search(r"150 % .* not reproduced$", row["more than all of it at 1 %"]), said)
    check(re.search(r"GBN > never .* reproduced$", row["a NAK for each gap is better"]), said)
    check("  more than all of it at 1 % (not reproduced)\n    EXPLAINED\n" in said, said)
    check("  3 reproduced, 0 in shape, 1 not reproduced\n" in said, said)
    check(re.search(r"^p +text +8 +6 +0 +2$", said, re.M), said)
    # Each table says how to read its verdicts.
    tables = re.split(r"^p/\w+: ", said, flags=re.M)[1:]
    check(len(tables) == 2, said)
    for table in tables:
        check("in shape, beyond it but within the wider band\n" in table, table)
        check(("  ?: the interval reaches into another verdict" in table) ==
              bool(re.search(r"(reproduced|in shape)\?$", table, re.M)), table)
    check("claims and tolerances: not committed\n" in said, said)
    check("also measured: a NAK a second" in said, said)
    check(said.startswith("p: A paper\n2 figures, 26 runs for 52 points, as figures share them\n"),
          said)
    check("is here to be broken into two lines\n    because it is longer" in said, said)
    # The file says the same.
    claims = ask(work, one, "SELECT name, verdict, published, measured, low, high, interval, "
                 "tolerance, confidence, explanation FROM claims")
    check([(c[0], c[1]) for c in claims] ==
          [("lossless", "reproduced"), ("low", "reproduced"), ("wrong", "not reproduced"),
           ("order", "reproduced")], claims)
    check(claims[2][2] == 1.5 and claims[2][4] < claims[2][3] < claims[2][5], claims[2])
    check([c[6] for c in claims] == ["", "t", "t", "bootstrap"], claims)
    check(claims[2][7:] == ("factor 1.03; shape 1.07", "low", "EXPLAINED"), claims[2])
    readings = dict(ask(work, one, "SELECT name, readings.measured FROM readings JOIN claims ON "
                        "claim = id"))
    check(readings["wrong"] < claims[2][3] and readings["order"] is None, readings)
    check(ask(work, one, "SELECT id, title, x_name, x_scale, y_name, y_scale FROM plots") ==
          [(1, "each", "loss", "log", "relative throughput", "linear"),
           (2, "at one per cent", "recovery", "linear", "%", "linear")], "plots")
    check([n for n, in ask(work, one, "SELECT count(*) FROM curves JOIN curve_points ON curve = id "
                           "WHERE plot = 2 GROUP BY curve")] == [1] * 4, "bars")
    check(ask(work, one, "SELECT kind, label, count(*) FROM curves JOIN curve_points ON curve = id "
              "WHERE plot = 1 GROUP BY curve ORDER BY kind, label") ==
          [("measured", "GBN", 2), ("measured", "GBN (a NAK a second)", 2),
           ("measured", "never", 2), ("measured", "never (a NAK a second)", 2),
           ("published", "GBN", 1)], "curves")
    info = dict(ask(work, one, "SELECT key, value FROM info"))
    check((info["kind"], info["paper"], info["figure"], info["mode"],
           info["tolerances_commit"]) == ("figure", "p", "one", "full", "not committed"),
          info)
    # Every run once: the second figure has the first one's, wall time and all.
    points = ask(work, one, POINTS)
    check(len(points) == 2 + 2 * 2 * 6, len(points))
    check(points == ask(work, two, POINTS), "figures share runs")
    # The measured value is that of oche run.
    mean = ask(work, one, "SELECT avg(value) FROM metrics JOIN point_values USING (point) WHERE "
               "name = 'goodput' AND axis = 0 AND number = 0 AND point IN (SELECT point FROM "
               "point_values WHERE axis = 1 AND number = 2)")[0][0]
    lossless = ask(work, one, "SELECT value FROM metrics WHERE name = 'goodput' AND point = 0")
    check(abs(mean / lossless[0][0] - claims[2][3]) < 1e-9, mean, lossless, claims[2])


def test_again(work):
    """Points are not run again. Texts may change afterwards, and the output follows."""
    one = "out/reproduce/p/one.sqlite"
    before = ask(work, one, POINTS)
    write(os.path.join(work, "papers", "p"), "figures/one.yaml",
          FIGURE.replace("EXPLAINED", "because of this"))
    said = reproduce(work, "p/one").stdout
    check("    because of this\n" in said, said)
    # An explanation that several claims share is printed once, below these claims.
    write(os.path.join(work, "papers", "p"), "figures/one.yaml",
          FIGURE.replace("EXPLAINED", "because of this") + """\
  - name: wrong_too
    text: half as much again
    kind: value
    quantity: throughput
    at: {loss.probability: 1%}
    published: 151%
    tolerance: {absolute: 0.05, in_shape: 0.1}
    place: sec 2
    source: text
    confidence: low
    explanation: because of this
""")
    twice = reproduce(work, "p/one").stdout
    check("why:\n  more than all of it at 1 % (not reproduced)\n  half as much again (not "
          "reproduced)\n    because of this\n\n" in twice and twice.count("because of this") == 1,
          twice)
    write(os.path.join(work, "papers", "p"), "figures/one.yaml",
          FIGURE.replace("EXPLAINED", "because of this"))
    reproduce(work, "p/one")
    check(before == ask(work, one, POINTS), "points are kept")
    check(ask(work, one, "SELECT explanation FROM claims WHERE name = 'wrong'") ==
          [("because of this",)], "the file is told")
    done = reproduce(work, "p/one", "--restart", "--quiet")
    check(done.stdout == "" and done.stderr == "", done.stdout, done.stderr)
    after = ask(work, one, POINTS)
    check([p[:3] for p in before] == [p[:3] for p in after] and before != after,
          "the same runs, made again")


EVERYTHING = ("SELECT point, name, unit, value FROM metrics JOIN metric_names USING (name) "
              "ORDER BY 1, 2",
              "SELECT point, name, unit, samples, thousandth, value FROM distributions "
              "ORDER BY 1, 2, 5", POINTS)


def test_resumed(work):
    """A figure that was made before shares its runs, too: the other one has them to the bit."""
    reproduce(work, "p/one", "--out", "resumed", "--quiet")
    reproduce(work, "p", "--out", "resumed", "--quiet")
    for query in EVERYTHING:
        rows = ask(work, "resumed/one.sqlite", query)
        check(len(rows) >= 26 and rows == ask(work, "resumed/two.sqlite", query), query)


def test_slash_at_the_end(work):
    """A name with a slash, as a shell completes it, means the same as without."""
    for which, amount in (("p", "2 figures, 26 runs for 52 points, as figures share them"),
                          ("p/", "2 figures, 26 runs for 52 points, as figures share them"),
                          ("p//", "2 figures, 26 runs for 52 points, as figures share them"),
                          ("p/two", "1 figure, 26 runs"), ("p/two/", "1 figure, 26 runs")):
        said = reproduce(work, which).stdout
        check(said.startswith(f"p: A paper\n{amount}\n\n"), which, said[:200])


def test_quick(work):
    said = reproduce(work, "p/one", "--quick", "--out", "q", "--jobs", "1").stdout
    check(re.search(r"^hardly less with little loss .* no data$", said, re.M), said)
    check("1 no data\n" in said and "  verdict (quick)\n" in said, said)
    check(len(ask(work, "q/one.sqlite", POINTS)) == 2 + 2 * 3, "points")
    full = {p[0]: p[2] for p in ask(work, "out/reproduce/p/one.sqlite", POINTS)}
    check({p[2] for p in ask(work, "q/one.sqlite", POINTS)} <= set(full.values()),
          "quick runs are some of the full ones")
    write(work, "papers/p/figures/two.yaml", "quick_differs: NOT ALIKE\n" + FIGURE)
    said = reproduce(work, "p/two", "--quick").stdout
    check(", 0 not reproduced, 1 no data, 3 not testable\n" in said, said)
    check("\nno verdicts with --quick: NOT ALIKE\n" in said, said)
    done = reproduce(work, "p/one", "--out", "q", status=2)
    check(done.stdout.count("\n") < 12 and done.stderr.count("\n") == 1 and
          "q/one.sqlite: " in done.stderr, "another grid", done.stderr)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(child) for child in file.read().split()]


def start_and_catch(work, out):
    """A run that is long enough to be caught, and one of its points' processes."""
    running = subprocess.Popen([OCHE, "reproduce", "p/one", "--out", out, "--jobs", "1"],
                               cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "OCHE_PAPERS": os.path.join(work, "papers")})
    for _ in range(3000):
        found = children(running.pid)
        if found:
            return running, found[0]
        time.sleep(0.01)
    sys.exit("no point was ever running")


def test_dying(work):
    folder = os.path.join(work, "papers", "p")
    write(folder, "scenarios/s.yaml", SCENARIO.replace("2ms", "60ms"))
    running, victim = start_and_catch(work, "dead")
    os.kill(victim, signal.SIGKILL)
    said, complaints = running.communicate(timeout=100)
    check(running.returncode == 1, "status", running.returncode)
    check(re.search(r"^one: point \d+ \(.*\) crashed: signal 9 .*\n  to repeat it: oche run ",
                    complaints, re.M), complaints)
    check("reproduced" in said, said)
    check(ask(work, "dead/one.sqlite", "SELECT status, count(*) FROM points GROUP BY 1 ORDER BY 1")
          == [("crashed", 1), ("done", 25)], "points")
    reproduce(work, "p/one", "--out", "dead") # tries that one again
    check(ask(work, "dead/one.sqlite", "SELECT DISTINCT status FROM points") == [("done",)],
          "tried again")
    running, _ = start_and_catch(work, "stopped")
    running.send_signal(signal.SIGINT)
    said, complaints = running.communicate(timeout=100)
    check(running.returncode == 130 and "interrupted: " in complaints, running.returncode,
          complaints)
    check("verdict" not in said, said)
    reproduce(work, "p/one", "--out", "stopped")
    check(ask(work, "dead/one.sqlite", "SELECT id, trace_hash FROM points ORDER BY 1") ==
          ask(work, "stopped/one.sqlite", "SELECT id, trace_hash FROM points ORDER BY 1"),
          "the same in the end")
    write(folder, "scenarios/s.yaml", SCENARIO)


def waits_for_sigint(pid):
    """True if the process catches SIGINT, so that the signal does not end it."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        blocked = re.search(r"^SigBlk:\s*([0-9a-f]+)$", file.read(), re.M).group(1)
    return int(blocked, 16) >> (signal.SIGINT - 1) & 1 == 1


def checking(work, *options):
    """Interrupts the check of a paper that takes minutes, and gives what a terminal showed."""
    main, terminal = pty.openpty()
    seen = b""
    with subprocess.Popen([OCHE, "reproduce", "dart", "--out", "checked", *options], cwd=work,
                          stdout=subprocess.PIPE, stderr=terminal,
                          env={**os.environ, "OCHE_PAPERS": os.path.join(SOURCE, "papers")}
                          ) as running:
        os.close(terminal)
        if "--quiet" in options:
            while not waits_for_sigint(running.pid) and running.poll() is None:
                time.sleep(0.01)
            running.send_signal(signal.SIGINT)
        while True:
            try:
                piece = os.read(main, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece
            if b" done" in piece and b"interrupted" not in seen:
                running.send_signal(signal.SIGINT)
        check(running.stdout.read() == b"", "something is said before the check is over")
    os.close(main)
    check(running.returncode == 130, "interrupted while checking: status", running.returncode)
    check(not os.path.exists(os.path.join(work, "checked")), "a folder was made before the check")
    return seen.decode()


def test_checking(work):
    """Work before the first run is shown on a terminal and can be interrupted."""
    end = "interrupted: nothing has run yet; the same command begins again\r\n"
    seen = checking(work)
    check(re.match(r"\r\x1b\[Kchecking \d{3} combinations of dart\r\x1b\[Kchecking \d{3} "
                   r"combinations of dart, \d+ done", seen) and seen.endswith("\r\x1b[K" + end),
          "checking:", repr(seen))
    check(checking(work, "--quiet") == end, "--quiet shows what is checked")


def test_lists(work):
    said = reproduce(work, "--list").stdout
    check(said.startswith("p: A paper\nA, B (somewhere)\n"), said)
    check(re.search(r"^one: Losses +26 +4 +Fig 1$", said, re.M), said)
    said = reproduce(work, "p/two", "--list").stdout
    check("one" not in said and "two: The same again" in said, said)
    said = reproduce(work, "--tolerances").stdout
    check(re.fullmatch(r"p/one - [0-9a-f]{16}\np/two - [0-9a-f]{16}\n", said), said)


def test_recorded(work):
    """Results are kept beside the paper, counted without running, and told when they are stale."""
    make_papers(work)
    papers = os.path.join(work, "papers", "p")
    results, sample = os.path.join(papers, "results.csv"), os.path.join(papers, "sample.csv")
    said = reproduce(work).stdout
    check(re.search(r"^p +all +0 +0 +0 +0$", said, re.M), said)
    check(reproduce(work, "--stale", status=1).stdout ==
          "p/one: it has none\np/two: it has none\n", "nothing is recorded")
    reproduce(work, "--all", "--record", "--quiet")
    lines = open(results, encoding="utf-8").read().splitlines()
    check(lines[0] == "figure,claim,source,published,measured,low,high,unit,verdict,seeds,digest,"
          "commit,date,reading", lines[0])
    check(all(line.count(",") == 13 for line in lines), lines)
    judged = [line for line in lines[1:] if line.endswith(",")]
    check(len(judged) == 8 and len(lines) == 15 and
          all(line.endswith((",", ",a NAK a second")) for line in lines[1:]), lines)
    check(re.fullmatch(r"one,wrong,text,1\.5,0\.5\d+,0\.4\d+,0\.5\d+,ratio,not reproduced,6,"
                       r"[0-9a-f]{16},-,20\d\d-\d\d-\d\d,", judged[2]), judged)
    samples = open(sample, encoding="utf-8").read().splitlines()
    check(len(samples) == 3 and re.fullmatch(r"one,\d+,[0-9a-f]{16},goodput=\S+", samples[1]),
          samples)
    said = reproduce(work).stdout
    check(re.search(r"^p +text +8 +6 +0 +2$", said, re.M), said)
    check(re.search(r"^p +8 +1 to 6 +- +20\d\d-\d\d-\d\d$", said, re.M), said)
    check(reproduce(work, "--stale").stdout == "no result is stale\n", "nothing has changed")

    # Another model: the trace of a sample differs. Another claim, and a text that decides nothing.
    write(papers, "sample.csv", samples[0] + "\n" + samples[1] + "\n" +
          re.sub(r"[0-9a-f]{16}", "0" * 16, samples[2]) + "\n")
    check(reproduce(work, "--stale", status=1).stdout ==
          "p/two: its sample gives something else\n", "another trace")
    check(reproduce(work, "--stale", "--quick").stdout == "no result is stale\n",
          "the second figure's sample is not run")
    write(papers, "sample.csv", samples[0] + "\n" +
          re.sub(r"[0-9a-f]{16}", "0" * 16, samples[1]) + "\n" + samples[2] + "\n")
    check(reproduce(work, "--stale", "--quick", status=1).stdout ==
          "p/one: its sample gives something else\n", "the first one's is")
    write(papers, "sample.csv", "\n".join(samples) + "\n")
    write(papers, "figures/one.yaml", FIGURE.replace("EXPLAINED", "otherwise"))
    check(reproduce(work, "--stale").stdout == "no result is stale\n", "another explanation")
    write(papers, "figures/one.yaml", FIGURE.replace("published: 150%", "published: 149%"))
    check(reproduce(work, "--stale", status=1).stdout == "p/one: its claims, its scenario or what "
          "it runs have changed\n", "another claim")
    check(reproduce(work, "p/two", "--stale").stdout == "no result is stale\n", "the other figure")
    write(work + "/papers/p", "scenarios/s.yaml", SCENARIO.replace("400KB", "401KB"))
    check(reproduce(work, "--stale", status=1).stdout.count("have changed") == 2, "a scenario")

    # One figure is measured again; the other one's lines stay.
    write(work + "/papers/p", "scenarios/s.yaml", SCENARIO)
    reproduce(work, "p/one", "--record", "--quiet", "--restart")
    again = open(results, encoding="utf-8").read().splitlines()
    check(again[8:] == lines[8:] and any(line.startswith("one,wrong,text,1.49,")
                                         for line in again[:8]), again)
    check(reproduce(work, "--stale").stdout == "no result is stale\n", "measured again")

    # Not a line, the same claim twice, a number of seeds below 0, and an escape sequence.
    for line in ("one,wrong,hearsay", lines[1], lines[3].replace("reproduced,", "reproduced,-", 1),
                 lines[3] + "\x1b[31m"):
        write(papers, "results.csv", "\n".join([*lines[:3], line]) + "\n")
        done = reproduce(work, status=2)
        check(done.stderr == f"{results}:4: is no line of a paper's results; oche reproduce "
              "--record writes the file\n", line, done.stderr)
    os.unlink(results)
    os.unlink(sample)
    write(papers, "figures/one.yaml", FIGURE)


BAD = [
    (["q"], "q: no such paper in {papers}; there are: p"),
    (["p/three"], "p/three: no such figure; there are: one, two"),
    (["p/two/x"], "p/two/x: no such figure; there are: one, two"),
    (["/"], 'oche reproduce: "/" names no paper; oche reproduce --list lists them'),
    ([""], 'oche reproduce: "" names no paper; oche reproduce --list lists them'),
    (["p", "p"], "oche reproduce: p: one paper or figure at a time"),
    (["--quick", "--full"], "oche reproduce: --quick and --full do not go together; give one"),
    (["--list", "--tolerances"], "oche reproduce: --list, --tolerances and --stale do not go "
                                 "together; give one"),
    (["--quick"], "oche reproduce: no paper is named; PAPER, PAPER/FIGURE or --all\n"),
    (["--record"], "oche reproduce: no paper is named; PAPER, PAPER/FIGURE or --all\n"),
    (["--all", "p"], "oche reproduce: p: --all is every paper; leave out one of them\n"),
    (["p", "--record", "--quick"], "oche reproduce: --record is for all runs of a paper; leave out "
                                   "what runs fewer\n"),
    (["--jobs", "0"], "oche reproduce: --jobs 0: not a number from 1 to 1024"),
    (["--papers", "nowhere"], "nowhere: no such folder; name the papers' folder with --papers, or "
                              "in OCHE_PAPERS"),
    (["--papers", "out"], "out: has no papers; a paper is a folder with paper.yaml in it"),
    (["p/one", "--out", "papers/p/scenarios/s.yaml"],
     '"papers/p/scenarios/s.yaml" is a file; give a folder for the results, or the name of a '
     'new one'),
]
CHANGED = [
    ("published: 150%", "published: 150bps",
     '{papers}/p/figures/one.yaml:48: claims[2].published: "150bps" is not a number; '),
    ("scenario: s.yaml", "scenario: t.yaml",
     "{papers}/p/figures/one.yaml:3: scenario: {papers}/p/scenarios/t.yaml: cannot be read: "),
    ("{from: lossy}", "{from: lossy, set: {host.mtu: 5us}}",
     '{papers}/p/figures/one.yaml:4: grids[0]: does not say host.mtu, as another grid does; '
     'add it to its set'),
    ("[{from: lossless}, {from: lossy}]",
     "[{from: lossless, set: {host.mtu: 5us}}, {from: lossy, set: {host.mtu: 5us}}]",
     '{papers}/p/figures/one.yaml:4: grids[0].set.host.mtu: "5us": "us" is not a unit of size'),
    ("[{from: lossless}, {from: lossy}]",
     "[{from: lossless, set: {switch.pfcc: true}}, {from: lossy, set: {switch.pfcc: true}}]",
     '{papers}/p/figures/one.yaml:4: grids[0].set.switch.pfcc: unknown key; did you mean "pfc"?\n'),
    ("{from: lossy}", "{from: lossy, quick: {vary: {loss.probability: [0.01]}}}",
     "{papers}/p/figures/one.yaml:4: grids[1].quick.vary.loss.probability[0]: 0.01 is written "
     "as 1% elsewhere; write it in one way"),
]


def test_bad_grids_of_the_paper(work):
    """A figure takes the paper's grids; errors name the file and line of the grid."""
    papers = os.path.join(work, "papers")
    for old, new, said in (
            ("[0.01%, 1%]}", "[0.01%, 1%, 2]}",
             ":13: grids.lossy.vary.loss.probability[2]: 2 is out of range; "),
            ("[0.01%, 1%]}", "[0.01%, 1%, 0.01]}",
             ":13: grids.lossy.vary.loss.probability: 1% and 0.01 are the same; write each value"),
            ("nak_interval: 1s,", "nak_interval: 1m,",
             ':8: grids.lossless.vary.recovery.never: recovery.nak_interval: "1m": "m" is not a ')):
        write(os.path.join(papers, "p"), "paper.yaml", PAPER.replace(old, new))
        done = reproduce(work, "p/one", status=2)
        check(done.stderr.startswith(f"{papers}/p/paper.yaml{said}") and
              done.stderr.count("\n") == 1, done.stderr, "not", said)
    write(os.path.join(papers, "p"), "paper.yaml", PAPER)


def test_bad_input(work):
    papers = os.path.join(work, "papers")
    os.makedirs(os.path.join(work, "out"), exist_ok=True)
    before = sorted(os.listdir(work))
    cases = [(arguments, None, said) for arguments, said in BAD]
    cases += [(["p/one"], FIGURE.replace(old, new), said) for old, new, said in CHANGED]
    for arguments, text, said in cases:
        write(os.path.join(papers, "p"), "figures/one.yaml", text if text is not None else FIGURE)
        done = reproduce(work, *arguments, status=2)
        check(done.stderr.startswith(said.format(papers=papers)) and done.stderr.count("\n") == 1,
              arguments, "says", done.stderr, "not", said)
        check(sorted(os.listdir(work)) == before, arguments, "left something behind")
    write(os.path.join(papers, "p"), "figures/one.yaml", FIGURE)


def test_what_is_outside(work):
    """A claim that cannot be measured is listed with the reason, counted, and never judged."""
    make_papers(work)
    papers = os.path.join(work, "papers", "p")
    outside = ("  - {name: cpu, text: a host takes no time, kind: outside, says: under 3 %,\n"
               "     place: sec 4, source: text, confidence: high, explanation: REASON}\n")
    write(papers, "figures/one.yaml", FIGURE + outside)
    said = reproduce(work, "p/one", "--quick").stdout
    check(re.search(r"^a host takes no time +under 3 % +– +– +– +not judged$", said, re.M), said)
    check("  a host takes no time (not judged)\n    REASON\n" in said, said)
    check(re.search(r"^  quick: \d reproduced, .* reproduced, .*1 not judged$", said, re.M), said)
    check(said.count("a host takes no time") == 2, "in no other reading", said)
    path = "out/reproduce/p-quick/one.sqlite"
    rows = ask(work, path, "SELECT quantity, condition, published, published_text, measured, low, "
               "tolerance, verdict, interval, explanation FROM claims WHERE name = 'cpu'")
    check(rows == [("", "", None, "under 3 %", None, None, "–", "not judged", "", "REASON")], rows)
    check(ask(work, path, "SELECT count(*) FROM readings JOIN claims ON claim = claims.id "
              "WHERE name = 'cpu'") == [(0,)], "readings")
    write(papers, "figures/one.yaml",
          FIGURE + outside.replace("outside,", "outside, quantity: throughput,"))
    check(": claims[4].quantity: unknown key" in reproduce(work, "p/one", status=2).stderr)


NEVER = """\
title: Equal flows
place: Fig 2
scenario: s.yaml
grids:
  - set: {measure.interval: 200us}
    vary:
      workload:
        equal: {type: transfers, pairs: [1>0, 2>0], bytes: 100MB, messages: 1}
        unequal: {type: transfers, pairs: [1>0, 1>0, 2>0], bytes: 100MB, messages: 1}
        alone: {type: transfers, pairs: 1>0, bytes: 100MB, messages: 1}
quantities:
  since: {metric: convergence.time, label: equal since}
plot: {quantity: since, by: workload, x: {name: flows}, y: {name: since}}
claims:
"""
NEVER_CLAIM = """\
  - name: {0}
    text: "{0}: equal at once"
    kind: at_most
    quantity: since
    at: {{workload: {0}}}
    bound: 400us
    says: at once
    tolerance: {{absolute: 0us, in_shape: 100us}}
    place: sec 2
    source: text
    confidence: high
"""


def test_never(work):
    """Flows that never become equal are not reproduced; one flow alone has no such time."""
    papers = os.path.join(work, "papers", "p")
    write(papers, "paper.yaml", PAPER[:PAPER.index("figures")] + "figures: [never]\n")
    write(papers, "scenarios/s.yaml", SCENARIO.replace("hosts: 2", "hosts: 3")
          .replace("per_pair", "per_flow"))
    write(papers, "figures/never.yaml", NEVER + "".join(NEVER_CLAIM.format(name) for name in
                                                        ("equal", "unequal", "alone")))
    said = reproduce(work, "p/never").stdout
    check(re.search(r"^equal: equal at once +at once +0 .* reproduced$", said, re.M), said)
    check(re.search(r"^unequal: equal at once +at once +never .* not reproduced$", said, re.M),
          said)
    check(re.search(r"^alone: equal at once +at once +– .* no data$", said, re.M), said)
    check("  1 reproduced, 0 in shape, 1 not reproduced, 1 no data\n" in said, said)
    path = "out/reproduce/p/never.sqlite"
    check(ask(work, path, "SELECT measured, verdict FROM claims WHERE name = 'unequal'") ==
          [(None, "not reproduced")], "results")
    check(ask(work, path, "SELECT count(*) FROM curves") == [(1,)], "a curve of never")


MEASURED = """\
title: On the wire
place: Fig 3
scenario: s.yaml
grids:
  - vary: {model: [packets], loss.probability: [0, 1%]}
  - {measured: wire, vary: {model: [wire], loss.probability: [0, 1%]}, repeat: 4,
     quick: {repeat: 2}}
at: {model: wire}
also: [{label: simulated, at: {model: packets}}]
quantities:
  best: {metric: goodput, statistic: p99.9, label: goodput}
  since: {metric: convergence.trips, statistic: median, label: round trips}
claims:
"""
MEASURED_CLAIM = """\
  - {{name: {}, text: {}, kind: value, quantity: {}, at: {{loss.probability: {}}}, published: {},
     tolerance: {{relative: 0.1, in_shape: 0.5}}, place: sec 3, source: text, confidence: high}}
"""
WIRE = """\
# 2026-11-26; a small machine
# load 0.5
loss.probability,goodput,convergence.trips
0,1e9,2
0,4e9,3
0,3e9,1
0,2e9,never
1%,,1
1%,1e9,never
1%,1e9,never
1%,1e9,never
"""


def test_measured(work):
    """A grid that is measured is judged by its file, beside the simulator's runs, and is stale when
    the file is another one; nothing of it is run."""
    papers = os.path.join(work, "papers", "p")
    write(papers, "paper.yaml", PAPER[:PAPER.index("figures")] + "figures: [wire]\n")
    write(papers, "scenarios/s.yaml", SCENARIO)
    claims = "".join(MEASURED_CLAIM.format(*words) for words in (
        ("best", "the best of them", "best", "0", "4Gbps"),
        ("trips", "it settles", "since", "0", "2"),
        ("never", "it does not", "since", "1%", "2")))
    write(papers, "figures/wire.yaml", MEASURED + claims)
    done = reproduce(work, "p/wire", status=2)
    check(done.stderr == f"{papers}/figures/wire.yaml:6: grids[1].measured: {papers}/measured/"
          "wire.csv cannot be read: No such file or directory; oche reproduce --measure writes "
          "it\n", done.stderr)
    write(papers, "measured/wire.csv", WIRE)
    said = reproduce(work, "p/wire", "--record").stdout
    check("1 figure, 2 runs\n" in said and "Measured on the wire, not simulated: 2026-11-26; a "
          "small machine; load 0.5." in " ".join(said.split()), said)
    for words in (r"the best of them +4.00Gbps +4.00Gbps .* reproduced\??",
                  r"it settles +2 +2 .* reproduced\??", r"it does not +2 +never .*not reproduced"):
        check(re.search("^" + words + "$", said, re.M), words, said)
    check(re.search(r"^also measured: simulated.*\n-+\nthe best of them +3\d\.\dGbps", said, re.M),
          said)
    check(ask(work, "out/reproduce/p/wire.sqlite", "SELECT count(*) FROM points") == [(2,)], "runs")
    with open(papers + "/results.csv", encoding="utf-8") as lines:
        kept = lines.read()
    check(",4," in kept.splitlines()[1], kept)
    check(reproduce(work, "--stale").stdout == "no result is stale\n", "as it was recorded")
    write(papers, "measured/wire.csv", WIRE.replace("0,4e9,3", "0,5e9,3"))
    check(reproduce(work, "--stale", status=1).stdout ==
          "p/wire: its claims, its scenario or what it runs have changed\n", "another measurement")
    again = reproduce(work, "p/wire").stdout
    check(re.search("^the best of them +4.00Gbps +5.00Gbps", again, re.M), again)
    quick = reproduce(work, "p/wire", "--quick").stdout
    check(re.search("^it settles +2 +2 ", quick, re.M), quick)
    for old, new, said in (
            ("loss.probability,goodput", "loss.probability,godput",
             ":3: godput: is neither an axis of the figure nor a metric\n"),
            ("goodput,convergence.trips", "goodput,goodput", ":3: goodput: is there twice\n"),
            (WIRE, re.sub("^(loss.probability|0|1%),", "", WIRE, flags=re.M),
             ": has no column loss.probability, of which there are several\n"),
            ("0,3e9,1", "0,3e9", ":6: has not the 3 columns of the first line\n"),
            ("0,3e9,1", "0,3e9,1,1", ":6: has not the 3 columns of the first line\n"),
            ("0,3e9,1", "0,3e9,x", ':6: "x" is no number; a number, never, or nothing\n'),
            ("0,3e9,1", "2,3e9,1", ':6: "2" is no value of the figure\'s loss.probability\n'),
            ("0,3e9,1\n", "", ": has 3 rows of a combination that repeats 4 times; measure as many"
                             "\n")):
        write(papers, "measured/wire.csv", WIRE.replace(old, new))
        done = reproduce(work, "p/wire", status=2)
        check(done.stderr == f"{papers}/measured/wire.csv{said}", done.stderr, "not", said)
    write(papers, "measured/wire.csv", WIRE)
    for arguments, said in (
            (["p", "--measure"], "oche reproduce: --measure is for a figure that is measured on "
                                 "the wire; name it, as in oche reproduce dart/wire --measure\n"),
            (["p/other", "--measure"], "p/other: nothing of it is measured on the wire\n"),
            (["p/wire", "--measure"], f"--measure: no {work}/papers/../tools/wire-p: an experiment "
                                      "is part of the source tree, and not of every paper\n")):
        check(reproduce(work, *arguments, status=2).stderr == said, arguments)


def test_measure(work):
    """--measure starts the paper's program, and its results are judged; with --record they are
    also kept."""
    kept = os.path.join(work, "papers", "p", "measured", "wire.csv")
    write(work, "tools/wire-p", "#!/bin/sh\n[ \"$1 $2 $#\" = '--out new 3' ] || exit 1\n"
          "cat >new/wire.csv <<END\n" + WIRE.replace("0,4e9,3", "0,6e9,3") + "END\n")
    os.chmod(os.path.join(work, "tools", "wire-p"), 0o755)
    said = reproduce(work, "p/wire", "--measure", "--out", "new").stdout
    check(re.search("^the best of them +4.00Gbps +6.00Gbps", said, re.M), said)
    with open(kept, encoding="utf-8") as text:
        check(text.read() == WIRE, "kept without --record")
    reproduce(work, "p/wire", "--measure", "--record", "--out", "new", "--quiet")
    with open(kept, encoding="utf-8") as text:
        check("0,6e9,3" in text.read(), "not kept")
    check(reproduce(work, "--stale").stdout == "no result is stale\n", "measured and recorded")
    write(work, "tools/wire-p", "#!/bin/sh\necho no namespaces here\nexit 1\n")
    done = reproduce(work, "p/wire", "--measure", "--out", "new", status=2)
    check(done.stdout == "no namespaces here\n" and done.stderr == "", done.stdout, done.stderr)


def test_papers_that_come_with_it():
    folder = os.path.join(SOURCE, "papers")
    for name in sorted(entry.name for entry in os.scandir(folder) if entry.is_dir()):
        files = {file[:-5] for file in os.listdir(os.path.join(folder, name, "figures"))
                 if file.endswith(".yaml")}
        for mode in ("--quick", "--full"):
            done = run_program(OCHE, "reproduce", name, mode, "--list", "--papers", folder)
            check(done.returncode == 0, name, mode, done.stderr)
            listed = set(re.findall(r"^(\w+): .* \d+ +\d+  ", done.stdout, re.M))
            check(listed and listed <= files, name, listed, files)


def main():
    with tempfile.TemporaryDirectory() as work:
        work = os.path.realpath(work)
        make_papers(work)
        test_a_paper(work)
        test_again(work)
        test_resumed(work)
        test_slash_at_the_end(work)
        test_quick(work)
        test_dying(work)
        test_checking(work)
        make_papers(work)
        test_lists(work)
        test_bad_input(work)
        test_bad_grids_of_the_paper(work)
    for test in (test_recorded, test_what_is_outside, test_never):
        with tempfile.TemporaryDirectory() as work:
            test(os.path.realpath(work))
    with tempfile.TemporaryDirectory() as work:
        test_measured(os.path.realpath(work))
        test_measure(os.path.realpath(work))
    test_papers_that_come_with_it()
    return report()


sys.exit(main())
