# SPDX-License-Identifier: Apache-2.0
"""Two links between the same two switches, and a list that names them by both ends."""


def check(case):
    """Both links have a series of their queue, with a name of its own."""
    case.oche("run", "by_pair.yaml", "--quiet")
    rows = case.rows("out/by_pair/run.sqlite",
                     "SELECT entity FROM series_names WHERE name = 'queue' ORDER BY entity")
    case.same([entity for (entity,) in rows], ["t0:t1/1", "t0:t1/2"], "queues with a series")
