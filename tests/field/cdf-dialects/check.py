# SPDX-License-Identifier: Apache-2.0
"""One distribution as three programs write it: with a byte-order mark, with commas, with numpy's
numbers."""


def check(case):
    """All three give the same flows, and those of the plain form of the file."""
    with open(case.path("plain.cdf"), "w", encoding="utf-8") as file:
        file.write("0 0\n100 50\n10000 100\n")
    with open(case.path("comma.yaml"), encoding="utf-8") as file, \
            open(case.path("plain.yaml"), "w", encoding="utf-8") as plain:
        plain.write(file.read().replace("comma.cdf", "plain.cdf"))
    flows = {}
    for name in ("plain", "bom", "comma", "numpy"):
        case.oche("run", name + ".yaml", "--quiet")
        flows[name] = case.rows(f"out/{name}/run.sqlite",
                                "SELECT src, dst, bytes, start_ps FROM flows ORDER BY id")
        case.same(flows[name], flows["plain"], f"the flows of {name}.cdf")
    case.must(len(flows["plain"]) > 1, "there are not several flows")
