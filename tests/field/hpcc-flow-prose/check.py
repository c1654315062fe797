# SPDX-License-Identifier: Apache-2.0
"""A flow file of HPCC: a count, more lines than that, and prose."""


def check(case):
    """Two flows of 1 MB each, from hosts 0 and 1 to host 3, at 2 s: the count rules, as for HPCC's
    ns-3 program, which reads no further. A remark says which lines are not read."""
    done = case.oche("run", "case.yaml")
    case.same(case.rows("out/case/run.sqlite",
                        "SELECT src, dst, bytes, start_ps FROM flows ORDER BY id"),
              [(0, 3, 1000000, 2 * 10**12), (1, 3, 1000000, 2 * 10**12)], "the flows")
    case.must("flow.txt: 2 flows, as the first line says; line 4 and what follows are not read"
              in done.stdout, f"no remark on the lines that are not read: {done.stdout}")
