#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/beside-htsim beside a small program that prints as htsim does: what it is given, which
numbers come out, and what is refused.

Environment: OCHE, SOURCE.
"""
import os
import re
import sys
import tempfile

from checks import check, report, run_program

OCHE, SOURCE = os.environ["OCHE"], os.environ["SOURCE"]
TOOL = os.path.join(SOURCE, "tools", "beside-htsim")
# Each flow of the matrix takes 100 us. Before 300 us it has not ended; it says how it was called.
FAKE = """#!/usr/bin/env python3
import sys
values = dict(zip(sys.argv[1:], sys.argv[2:]))
open("called.txt", "a").write(" ".join(sys.argv) + "\\n")
open("given.txt", "w").write(open(values["-tm"]).read())
uec = sys.argv[0].endswith("uec")
for number, line in enumerate(l for l in open(values["-tm"]) if "->" in l):
    src, dst = line.split()[0].split("->")
    name = f"{'Uec' if uec else 'Roce'}_{src}_{dst}"
    print(f"Flow {name} flowId {number} uecSrc {number} starting at 5" if uec else
          f"startflow {name} at 5")
    if int(values["-end"]) >= 3000:
        print(f"Flow {name} flowId {number} uecSrc {number} finished at 105 total" if uec else
              f"Flow {name} {number} finished at 105 total bytes 1")
"""
TREE = "Nodes 8\nTiers 2\nPodsize 8\nTier 0\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1000\n" \
       "Radix_Down 2\nRadix_Up 2\nTier 1\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1000\n" \
       "Radix_Down 4\n"
MATRIX = "Nodes 8\nConnections 3\nTriggers 1\ntrigger id 1 oneshot\n" \
         "0->1 id 1 start 0 size 1000000 {0}_done_trigger 1\n" \
         "1->0 id 2 trigger 1 size 1000000\n4->6 id 3 start {1} size 1000000\n"


def write(where, name, text, mode=0o644):
    path = os.path.join(where, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    os.chmod(path, mode)


def beside(where, *options):
    return run_program(sys.executable, TOOL, "--oche", OCHE, "--htsim", where, *options, cwd=where,
                       timeout=60)


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def check_rows(where):
    write(where, "m.cm", MATRIX.format("send", 2000000))
    for program, start in (("roce", "start 2 "), ("uec", "start 2000000 ")):
        done = beside(where, "--program", program, "--topo", "t.topo", "--keep", "k", "m.cm")
        row = done.stdout.strip().split("\n")[-1].split(" | ")
        check(done.returncode == 0 and row[:2] == ["| m", "3"], done.stdout, done.stderr)
        # 250 packets of 4082 bytes take 81.6 us, and go two or four ways of 1 us there and back.
        mean = re.fullmatch(r"100.0, (\d+.\d)", row[2])
        check(mean and 84 < float(mean[1]) < 95, row)
        check(row[8].startswith("105.0, 1"), row)
        check(start in text_of(where, "k", "m", "given.txt"), program, "is given other starts")
    calls = text_of(where, "k", "m", "called.txt").strip().split("\n")
    check(len(calls) == 4 and "-end 4000" in calls[-1] and "-tiers 2 -hop_latency 1.0" in calls[0]
          and "-topo" in calls[-1] and "-topo" not in calls[0], calls)


def check_triggers(where):
    """htsim never fires when a flow is received, so it is told of acknowledgements."""
    write(where, "m.cm", MATRIX.format("recv", 0))
    done = beside(where, "--program", "uec", "--topo", "t.topo", "--keep", "k2", "m.cm")
    check("never fires recv_done_trigger" in done.stdout, done.stdout, done.stderr)
    check("send_done_trigger 1" in text_of(where, "k2", "m", "given.txt"), "given")


def check_scenario(where):
    write(where, "s.yaml", "topology: {type: from_file, file: t.topo}\n"
          "workload: {type: permutation, bytes: 1MB, messages: 2}\n")
    done = beside(where, "--seeds", "2", "s.yaml")
    check("| s | 32 | 100.0, " in done.stdout, done.stdout, done.stderr)


def check_refused(where):
    write(where, "odd.cm", MATRIX.format("send", 2000001))
    write(where, "half.topo", TREE.replace("Radix_Down 4", "Radix_Down 2\nOversubscribed 2"))
    write(where, "both.cm", MATRIX.format("recv", 0).replace("size 1000000 recv",
                                                             "size 1 send_done_trigger 1 recv"))
    for options, words in [
            (["--topo", "t.topo", "odd.cm"], "htsim_roce starts flows at whole microseconds alone"),
            (["--topo", "half.topo", "m.cm"], "htsim_roce takes no .topo file"),
            (["--topo", "t.topo", "--program", "uec", "both.cm"],
             "a flow fires when it is received"),
            (["--topo", "t.topo", "none.cm"], "none.cm is not there"),
            (["--pfc", "2", "m.cm"], "--pfc: from 4 to 50000 packets"),
            (["--mtu", "1", "m.cm"], "--mtu is from 256 to 8936"),
            (["--htsim", "k", "--topo", "t.topo", "m.cm"], "k has no program htsim_roce"),
            (["none"], "none is not there")]:
        done = beside(where, *options)
        check(done.returncode != 0 and words in done.stderr and "Traceback" not in done.stderr,
              options, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as where:
        for name in ("htsim_roce", "htsim_uec"):
            write(where, name, FAKE, 0o755)
        write(where, "t.topo", TREE)
        check_rows(where)
        check_triggers(where)
        check_scenario(where)
        check_refused(where)
    return report()


sys.exit(main())
