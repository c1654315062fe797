# SPDX-License-Identifier: Apache-2.0
"""One flow alone, with selective repeat and with Go-Back-N, at an MTU of 256 bytes."""


def check(case):
    """Its slowdown is 1.0 with both: selective repeat's header counts in the ideal time, too."""
    for name in ("sr", "gbn"):
        case.oche("run", name + ".yaml", "--quiet")
        rows = case.rows(f"out/{name}/run.sqlite", "SELECT slowdown FROM flows")
        case.same([round(slowdown, 3) for (slowdown,) in rows], [1.0], f"slowdown, {name}")
