#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every congestion control, with its defaults at 25 to 800 Gbit/s, is not much worse than PFC
alone: the 99th percentile of slowdowns is at most FACTOR times as long, and at least SHARE of the
bytes is delivered. Exceptions have a reason in docs/schemes.md, and must still be needed. It is a
small form of the table there, by the same tool.

Environment: OCHE, SOURCE, BUILD.
"""
import json
import os
import re
import subprocess
import sys

from checks import check, failures

OCHE, SOURCE, BUILD = os.environ["OCHE"], os.environ["SOURCE"], os.environ["BUILD"]
FACTOR, SHARE = 1.5, 0.9
RATES = (25, 100, 400, 800)
ALL = RATES
# (scheme, pattern): rates in Gbit/s; the limits there; the place in docs/schemes.md that says why.
EXCEPTIONS = {
    ("dcqcn", "incast"): ((25, 100), 2.2, 0.7, "dcqcn"),
    ("timely_patched", "incast"): ((25,), 2.7, 0.9, "timely"),
    ("rogue", "incast"): ((25,), 1.9, 0.9, "rogue"),
    ("rogue", "permutation"): ((400,), 1.6, 0.75, "rogue"),
    ("ib_cc", "incast"): ((25, 100), 2.4, 0.7, "ib-cc"),
    ("nscc", "incast"): ((25, 100), 2.7, 0.9, "nscc"),
    ("cubic", "permutation"): ((100, 400, 800), 4.5, 0.3, "windows"),
    ("cubic", "incast"): ((800,), 1.7, 0.65, "windows"),
    ("cubic", "websearch"): ((800,), 1.5, 0.8, "windows"),
    ("rcp", "permutation"): ((100, 400, 800), 5.5, 0.33, "rcp"),
    ("rcp", "incast"): ((100, 400, 800), 1.9, 0.6, "rcp"),
    ("hpcc", "permutation"): (ALL, 2.1, 0.6, "hpcc"),
    ("hpcc", "incast"): ((25, 100, 400), 5.8, 0.8, "hpcc"),
    ("hpcc", "websearch"): ((800,), 1.5, 0.75, "hpcc"),
    ("dctcp", "permutation"): ((100, 400, 800), 4.9, 0.2, "windows"),
    ("dctcp", "incast"): ((100, 400, 800), 2.4, 0.42, "windows"),
    ("tcp", "permutation"): ((100, 400, 800), 4.9, 0.2, "windows"),
    ("tcp", "incast"): ((400, 800), 1.6, 0.42, "windows"),
    ("tcp", "websearch"): ((800,), 1.5, 0.8, "windows"),
    ("expresspass", "permutation"): ((400, 800), 2.3, 0.55, "expresspass"),
    ("expresspass", "incast"): (ALL, 5.7, 0.6, "expresspass"),
    ("expresspass", "websearch"): ((800,), 1.5, 0.8, "expresspass"),
}


def schemes():
    """Returns all schemes of the program."""
    shown = subprocess.run([OCHE, "run", "--show-defaults"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout
    section = re.search(r"^congestion_control: .*?(?=^\S)", shown + "\nend\n", re.M | re.S)
    section = section.group(0).split("\n", 1)[1]
    return re.findall(r"^  name: (\w+)", section, re.M)


def measure(names):
    command = [os.path.join(SOURCE, "tools", "scheme-table"), "--build", BUILD, "--small", "--json",
               "--schemes", ",".join(names)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}")
    return {(scheme, rate, pattern): (p99, share)
            for scheme, rate, pattern, p99, share in json.loads(done.stdout)}


def judge(table, scheme, rate, pattern):
    """Checks one cell. Returns true if it is beyond the usual limits."""
    p99, share = table[scheme, rate, pattern]
    base_p99, base_share = table["none", rate, pattern]
    slower, less = p99 / base_p99, share / base_share
    rates, factor, least, _ = EXCEPTIONS.get((scheme, pattern), ((), FACTOR, SHARE, None))
    if rate not in rates:
        factor, least = FACTOR, SHARE
    check(slower <= factor and less >= least,
          f"{scheme}, {rate} Gbit/s, {pattern}: {slower:.2f} times the p99 of PFC alone, "
          f"{less:.2f} of what it delivers; {factor} and {least} are allowed")
    return slower > FACTOR or less < SHARE


def main():
    names = schemes()
    check({"none", "dcqcn", "timely", "expresspass"} <= set(names), f"schemes: {names}")
    table = measure(names)
    refused = {(scheme, pattern, rate) for scheme, rate, pattern in table
               if scheme != "none" and judge(table, scheme, rate, pattern)}
    with open(os.path.join(SOURCE, "docs", "schemes.md"), encoding="utf-8") as file:
        page = file.read()
    for (scheme, pattern), (rates, _, _, place) in EXCEPTIONS.items():
        check(scheme in names, f"{scheme}: no such scheme, and an exception")
        check(f'<a id="{place}"></a>' in page, f"docs/schemes.md#{place}: there is no such place")
        for rate in rates:
            check((scheme, pattern, rate) in refused,
                  f"{scheme}, {rate} Gbit/s, {pattern}: is within the usual limits; take the "
                  "exception out")
    for failure in failures:
        print("FAILED:", failure)
    sys.exit(1 if failures else 0)


main()
