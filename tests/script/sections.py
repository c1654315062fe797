#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/papers/sections.md lists what papers describe, against code. Each row has yes, part or no,
and a reason where it is not yes. The files that a row names exist, and have the names in brackets
behind them; keys of scenarios exist. Every figure and table of a paper, and every figure of
papers/PAPER, is in a row. docs/papers/README.md has the numbers of rows.

usage: sections.py ROOT | --self-test
"""
import os
import re
import sys
import tempfile

# The numbers of figures and tables of each paper; of DCQCN those that docs/papers/dcqcn.md knows.
FIGURES = {"dcqcn": range(1, 21), "dart": range(1, 16), "rogue": range(1, 17),
           "error-recovery": range(1, 8)}
TABLES = {"dcqcn": (), "dart": ("I", "II"), "rogue": ("1",), "error-recovery": ("I",)}
HEAD = "| section | mechanism or experiment | S | W | where, or why not |"
VERDICTS = ("yes", "part", "no")
LEAST_REASON = 3  # words
FILE = re.compile(r"`([\w./*-]+)`(?: \(((?:`[\w ]+`(?:, )?)+)\))?")


def numbers(places):
    """The numbers behind Fig or Figs: 11 of "Fig 11(a)", 3 and 4 of "Figs 3, 4"."""
    found = set()
    for some in re.findall(r"Figs? (\d+(?:\([a-z]\))?(?:(?:, | to )(?:\d+|\([a-z]\)))*)", places):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", some):
            found.update(range(int(first), int(last or first) + 1))
    return found


def rows_of(page):
    """(line, paper, cells) of each row of the tables; what is wrong with the tables' form."""
    rows, wrong, paper = [], [], None
    for number, line in enumerate(page.split("\n"), 1):
        anchor = re.match(r'## <a id="([a-z-]+)"></a>', line)
        if anchor:
            paper = anchor.group(1)
        if not line.startswith("|") or line in (HEAD, "|---|---|---|---|---|"):
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if paper is None or len(cells) != 5:
            wrong.append(f"{number}: not a row of a paper's table")
        else:
            rows.append((number, paper, cells))
    return rows, wrong


def reason(text):
    """The words of a last column that are neither a file, a name nor a decision."""
    text = re.sub(r"\[[A-Z]\d+\]\([^)]*\)", "", re.sub(r"`[^`]*`", "", text))
    return re.findall(r"[A-Za-z]{2,}", text)


def check_row(root, paper, cells, keys):
    section, what, simulator, wire, where = cells
    wrong = []
    if not section or not what or not where or "–" in (section, what, simulator, wire, where):
        wrong.append("an empty cell")
    if simulator not in VERDICTS or wire not in VERDICTS:
        wrong.append(f"{simulator}, {wire}: yes, part or no")
    if (simulator, wire) != ("yes", "yes") and len(reason(where)) < LEAST_REASON:
        wrong.append("no reason")
    for path, names in FILE.findall(where):
        if "/" not in path:
            if path.endswith(".yaml"):
                path = f"papers/{paper}/figures/{path}"
            elif re.fullmatch(r"[a-z]+\.[a-z_]+", path):
                if path not in keys:
                    wrong.append(f"{path} is no key")
                continue
            else:
                continue
        if not os.path.exists(os.path.join(root, path)):
            wrong.append(f"{path} is not there")
            continue
        if not names:
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            words = set(re.findall(r"\w+", file.read()))
        wrong += [f"{path} has no {name}" for name in re.findall(r"`([\w ]+)`", names)
                  if not set(name.split()) <= words]
    return wrong


def check_paper(root, paper, rows):
    """Figures that no row has."""
    places = [cells[0] for _, of, cells in rows if of == paper]
    where = " ".join(cells[4] for _, of, cells in rows if of == paper)
    seen = numbers("; ".join(places))
    wrong = [f"{paper}: no row has Fig {n}" for n in FIGURES.get(paper, ()) if n not in seen]
    wrong += [f"{paper}: no row has Table {n}" for n in TABLES.get(paper, ())
              if not re.search(rf"Table {n}\b", " ".join(places))]
    with open(os.path.join(root, "papers", paper, "paper.yaml"), encoding="utf-8") as file:
        listed = re.search(r"^figures: \[([^]]*)\]", file.read(), re.M).group(1)
    wrong += [f"{paper}: no row has {name}.yaml" for name in re.split(r",\s*", listed.strip())
              if f"`{name}.yaml`" not in where]
    return wrong


def count_row(page_row, paper, rows):
    mine = [cells for _, of, cells in rows if of == paper]
    counts = [str(sum(cells[i] == v for cells in mine)) for i in (2, 3) for v in VERDICTS]
    right = f"| {len(mine)} | {', '.join(counts[:3])} | {', '.join(counts[3:])} |"
    return [] if page_row.endswith(right) else [f"README.md: {paper} should have {right}"]


def keys_of(root):
    """Keys of scenarios by section, as host.ack_priority."""
    found, section = set(), None
    with open(os.path.join(root, "docs", "scenario-reference.md"), encoding="utf-8") as file:
        for line in file:
            heading = re.match(r"#+ (?:`?name: )?`?(\w+)", line)
            if heading:
                section = heading.group(1)
            row = re.match(r"\| `(\w+)`", line)
            if row:
                found.add(f"{section}.{row.group(1)}")
    return found


def check(root):
    folder = os.path.join(root, "docs", "papers")
    with open(os.path.join(folder, "sections.md"), encoding="utf-8") as file:
        rows, wrong = rows_of(file.read())
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
        index = file.read()
    keys = keys_of(root)
    for number, paper, cells in rows:
        wrong += [f"{number}: {text}" for text in check_row(root, paper, cells, keys)]
    for paper in FIGURES:
        wrong += check_paper(root, paper, rows)
        row = re.search(rf"^\|.*\(sections\.md#{paper}\).*$", index, re.M)
        wrong += count_row(row.group(0), paper, rows) if row else [f"README.md: no {paper}"]
    return [f"docs/papers/sections.md:{text}" for text in wrong], len(rows)


# ---- self-test: wrong rows are found, and right ones are accepted ----

GOOD_ROWS = ("1, Fig 1 | what | yes | yes | `core/a.c`",
             "1 | what | yes | part | `core/a.c` (`f`, `g`); the wire has less",
             "1 | what | no | no | needs hosts with processors; [D1](dart.md#d1)",
             "1 | what | yes | yes | `fig1.yaml`, `host.mtu`, `core/`")
BAD_ROWS = ("1 | what | yes | – | `core/a.c`", "1 | what | yes | maybe | it is not clear yet",
            "1 | what | yes | no | `core/a.c`",
            "1 | what | yes | no | `core/a.c`; [D1](dart.md#d1)",
            "1 | what | yes | yes | `core/b.c`", "1 | what | yes | yes | `core/a.c` (`h`)",
            "1 | what | yes | yes | `fig2.yaml`", "1 | what | yes | yes | `host.mtus`",
            "1 | what | yes | yes |  ")
PLACES = (("2, Fig 11(a)", {11}), ("Figs 3, 4", {3, 4}), ("Figs 11 to 13; Fig 2", {2, 11, 12, 13}),
          ("VI-B, Fig 11(b), (c)", {11}), ("sec 4, Table 1", set()))


def self_test():
    wrong = []
    with tempfile.TemporaryDirectory() as root:
        for folder in ("core", "papers/dart/figures"):
            os.makedirs(os.path.join(root, folder))
        for name, text in (("core/a.c", "int f, g;"), ("papers/dart/figures/fig1.yaml", ""),
                           ("papers/dart/paper.yaml", "figures: [fig1,\n  fig3]\n")):
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(text)
        table = '## <a id="dart"></a>Dart\n' + "\n".join(f"| {row} |" for row in GOOD_ROWS)
        rows, form = rows_of(HEAD + "\n" + table + "\n| a | b |\n")
        wrong += [] if (len(rows), len(form)) == (4, 1) else [f"rows {rows} {form}"]
        for row, least in [(r, 0) for r in GOOD_ROWS] + [(r, 1) for r in BAD_ROWS]:
            cells = [cell.strip() for cell in row.split("|")]
            found = check_row(root, "dart", cells, {"host.mtu"})
            wrong += [] if len(found) >= least and (least or not found) else [f"{row}: {found}"]
        found = check_paper(root, "dart", rows)
        wrong += [] if {"dart: no row has Fig 15", "dart: no row has Table II",
                        "dart: no row has fig3.yaml"} <= set(found) else [f"paper: {found}"]
        wrong += [] if "dart: no row has Fig 1" not in found else [f"paper: {found}"]
        row = "| Dart | 4 | 3, 0, 1 | 2, 1, 1 |"
        wrong += count_row(row, "dart", rows)
        wrong += [] if count_row(row.replace("4", "5"), "dart", rows) else ["counts"]
    wrong += [f"{text}: {numbers(text)}" for text, right in PLACES if numbers(text) != right]
    return wrong


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if sys.argv[1] == "--self-test":
        wrong = self_test()
    else:
        wrong, count = check(sys.argv[1])
        print(f"{count} rows, {len(wrong)} wrong")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
