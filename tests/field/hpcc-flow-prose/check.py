# SPDX-License-Identifier: Apache-2.0
"""A flow file as HPCC's ns-3 program reads it."""


def check(case):
    """Two flows of 1 MB each, from hosts 0 and 1 to host 3, at 2 s."""
    case.oche("run", "case.yaml")
    case.same(case.rows("out/case/run.sqlite",
                        "SELECT src, dst, bytes, start_ps FROM flows ORDER BY id"),
              [(0, 3, 1000000, 2 * 10**12), (1, 3, 1000000, 2 * 10**12)], "the flows")
