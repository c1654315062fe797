# SPDX-License-Identifier: Apache-2.0
"""A flow file of HPCC's generator, whose times begin at 2 s."""

LATE = "flow.txt: its first flow starts after 2 s, and rates are over that time, too"


def check(case):
    """Without `origin` a remark says that nothing is sent for 2 s, which rates count. With
    `origin: 2s` there is none, and the goodput is that of the flows."""
    late = case.oche("run", "case.yaml").stdout
    case.must(LATE in late and "; origin: 2s in the workload" in late, "no remark on the 2 s")
    soon = case.oche("run", "case.yaml", "--set", "workload.origin=2s", "--out", "soon")
    case.must("its first flow starts" not in soon.stdout, f"a remark all the same: {soon.stdout}")
    for rate, in case.rows("soon/run.sqlite", "SELECT value FROM metrics WHERE name = 'goodput'"):
        case.must(rate > 20e9, f"a goodput of {rate} bit/s")
