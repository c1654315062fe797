# SPDX-License-Identifier: Apache-2.0
"""Servers of 400G and of 25G at one switch, in two orders of lines."""

QUERY = """SELECT nodes.name, sum(flows.bytes) * 8 / 20e-3 / 1e9 FROM flows
           JOIN nodes ON nodes.id = flows.src GROUP BY nodes.name"""


def check(case):
    """A load of 20 % is that part of each host's own link: about 80 Gbit/s for those of 400G, 5 for
    those of 25G, whatever the order of the lines. By name the results are the same."""
    offered = {}
    for name in ("mixed_rates", "swapped"):
        case.oche("run", name + ".yaml", "--quiet")
        offered[name] = dict(case.rows(f"out/{name}/run.sqlite", QUERY))
        for host, least, most in (("gpu0", 72, 88), ("gpu1", 72, 88), ("disk0", 4, 6.5),
                                  ("disk1", 4, 6.5)):
            gbps = offered[name].get(host, 0)
            case.must(least < gbps < most, f"{name}: {host} offers {gbps:.1f} Gbit/s")
    case.same(offered["swapped"], offered["mixed_rates"], "what hosts offer with swapped lines")
