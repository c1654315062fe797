#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every citation leads somewhere: the source of each parameter that `oche run` and `oche fluid`
show, each mention of a page of docs/papers in sources, scenarios, papers and docs, and each link
between those pages. Names of sources that are not in the repository are found.

usage: citations.py ROOT OCHE | --self-test ROOT
"""
import os
import re
import subprocess
import sys
import tempfile

ENDS = (".c", ".h", ".py", ".sh", ".yaml", ".md", ".build", ".txt", ".js", ".mjs", ".1", ".5",
        ".sql")
NOT_READ = {".git", "node_modules", "notes", "__pycache__"}
NOT_CHECKED = {os.path.join("tests", "script", "citations.py")}
ELSEWHERE = re.compile(
    r"\bREFERENCE\b|\bDESIGN\b|\bZ16m?\b|\bNS3\b|\btags? (?:K|OWN)\b|\(OWN\)"
    r"|\bconfidence:? K\b|(?<![\w.])[A-J]\.\d{1,2}\b"
    r"|\(D\d{1,2}(?:, D\d{1,2})*\)|\([ALR]\d\)")
LINK = re.compile(r"\]\(([^)\s]*)\)")


def mentions_of(pages):
    names = "|".join(re.escape(name) for name in sorted(pages) if name != "README.md")
    return re.compile(rf"(?<![\w/.-])(?:\./)?(?:docs/papers/|papers/)?((?:{names})"
                      rf"#[a-z0-9-]+(?:(?:,| and| to)(?:\s*\n\s*[*#])? #[a-z0-9-]+)*)")


def check_text(path, text, sources, mention):
    """Returns what is wrong with the mentions in a file."""
    found = []
    for match in mention.finditer(text):
        cited = re.sub(r"(?:,| and| to)(?:\s*\n\s*[*#])? #", ", #", match.group(1))
        try:
            sources.page(cited)
        except ValueError as wrong:
            found.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {wrong}")
    for match in ELSEWHERE.finditer(text):
        found.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(0)!r} is "
                     "not in the repository")
    return found


def check_links(folder, sources):
    """Links from the pages of docs/papers."""
    found = []
    for page, anchors in sources.anchors.items():
        found += [f"{page}: two places are #{anchor}" for anchor in set(anchors)
                  if anchors.count(anchor) > 1]
        with open(os.path.join(folder, page), encoding="utf-8") as file:
            links = LINK.findall(file.read())
        for link in links:
            name, _, anchor = link.partition("#")
            if name and name not in sources.anchors:
                if not os.path.exists(os.path.join(folder, name)):
                    found.append(f"{page}: {link} leads nowhere")
            elif anchor and anchor not in sources.anchors[name or page]:
                found.append(f"{page}: {link} leads nowhere")
    return found


def has_value(text, value):
    """True if the text has the value, such as 55us, as "55 us"; a rate of 40Gbps as 40 Gbit/s."""
    number, unit = re.fullmatch(r"([\d./]*)(.*)", value).groups()
    unit = re.sub(r"^([KMGT]?)bps$", r"\1bit/s", unit)
    return re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)\s*{re.escape(unit)}", text)


def check_value(folder, where, preset):
    """Returns what is wrong with `value: PAGE#PLACE`. The place must have the number."""
    found = []
    for page, anchor in re.findall(r"(?:^|; )value: ([a-z0-9-]+\.md)#([a-z0-9-]+)", where):
        with open(os.path.join(folder, page), encoding="utf-8") as file:
            text = file.read().split(f'<a id="{anchor}"></a>')[1].split("\n#")[0]
        if not has_value(text, preset):
            found.append(f"[{where}]: {page}#{anchor} does not have {preset}")
    return found


def check_shown(shown, sources, folder):
    """The sources in what --show-defaults prints: in brackets, or behind a range as last column."""
    found, count, preset = [], 0, None
    for line in shown.split("\n"):
        key = re.match(r"^ {4,8}\S+ +\S+ +default (\S+?)(?:; paper (\S+?))?(?:;.*)?$", line)
        preset = key.group(2) or key.group(1) if key else preset
        match = re.match(r"^ {8}.*\[([^\]]*)\]$", line)
        if not match:
            match = re.match(
                r"^  \S+ +(?=(\S+))\1 +\S+ +(?:\S+ to \S+|[^\s\d].*?(?=  )) +(\S.*)$", line)
            if not match:
                continue
            preset = match.group(1)
        where = match.groups()[-1]
        count += 1
        try:
            sources.all(where)
        except ValueError as wrong:
            found.append(f"[{where}]: {wrong}")
            continue
        found += check_value(folder, where, preset)
    return found, count


def files(root):
    for directory, folders, names in os.walk(root):
        here = os.path.relpath(directory, root)
        folders[:] = sorted(
            name for name in folders if name not in NOT_READ and
            not os.path.exists(os.path.join(directory, name, "build.ninja")) and
            not (here == "." and (name == "out" or name.startswith("build"))))  # as .gitignore
        for name in sorted(names):
            path = os.path.normpath(os.path.join(here, name))
            if name.endswith(ENDS) and path not in NOT_CHECKED:
                yield path


def check_tree(root, sources):
    found, mention, count = [], mentions_of(sources.anchors), 0
    for path in files(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        found += check_text(path, text, sources, mention)
        count += len(mention.findall(text))
    folder = os.path.join(root, "docs", "papers")
    with open(os.path.join(root, "docs", "meson.build"), encoding="utf-8") as file:
        installed = file.read()
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
        index = file.read()
    if "install_subdir('papers'," not in installed:
        found.append("docs/meson.build does not install papers/")
    for page in sources.anchors:
        if page != "README.md" and f"]({page})" not in index:
            found.append(f"docs/papers/README.md does not list {page}")
    return found + check_links(folder, sources), count


# The least number of sources. Fewer mean that the output has changed.
LEAST = ((250, "run"), (14, "fluid", "--model", "dcqcn"), (11, "fluid", "--model", "timely"),
         (12, "fluid", "--model", "timely_patched"))


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def main(root, oche):
    sources = cited.Sources(os.path.join(root, "docs", "papers"))
    found, mentions = check_tree(root, sources)
    shown = 0
    for least, *command in LEAST:
        wrong, count = check_shown(run(oche, *command, "--show-defaults"), sources,
                                   os.path.join(root, "docs", "papers"))
        found += [f"oche {' '.join(command)} --show-defaults: {text}" for text in wrong]
        shown += count
        if count < least:
            found.append(f"oche {' '.join(command)} --show-defaults has {count} sources")
    print("\n".join(found))
    print(f"{shown} sources of parameters, {mentions} mentions of pages, {len(found)} wrong")
    return 1 if found else 0


# ---- self-test: wrong citations are found, and right ones are accepted ----

GOOD = ("our choice", "our choice (as Linux)", "Dart sec III-D; dart.md#d5", "DCQCN eq 4, Table 2",
        "DCQCN sec 3.1; dcqcn.md#parameters", "dart.md#d5, #d6", "ns2-xpass",
        "RFC 6298 sec 2.1 (1 s)", "ECN or Delay sec 4.2", "IBTA annex A10", "rcp.md")
BAD = ("", "our choice, as Linux", "REFERENCE D18", "Z16 sec 4", "Dart", "Dart page 7",
       "Dart sec III-D, REFERENCE D5", "Darts sec III", "dart.md#d99", "dart.md#d5, #d99",
       "paper.md#a", "Dart sec", "the paper: 1", "DCQCN sec 3.1, dcqcn.md#a1", "ns3",
       "DCQCN sec 3.1;dcqcn.md#a1")
GOOD_TEXT = ("/* Rates (dart.md#d2). */", "# see docs/papers/dcqcn.md#a1, #a2 to #a4",
             "REFERENCES nodes", "leaves (L1, L2, T4)", " * (dcqcn.md#a1,\n * #a2)",
             "mydart.md#none", "InfiniBand, annex A10.3.2", "version 1.A.2")
BAD_TEXT = ("/* Rates (dart.md#d99). */", "see docs/papers/dcqcn.md#nothing", "(REFERENCE A.8)",
            "as DESIGN has it", "(Z16)", "NS3's code", "tag K", "confidence: K", "as at A.4 item 2",
            "of A.8.", "(D18)", "(D18, D20)", "(dart.md#d2, #d99)",
            " * (dcqcn.md#a1,\n * #nothing)")
SHOWN = """host: every host's NIC
    mtu                      bytes   default 1KiB
        payload [{0}]
dcqcn: keys for --set
  capacity             40Gbps     rate   1Mbps to 100Tbps       {0}
  byte_counter         10MB       bytes  1B to 9223372036854775807B {0}
"""


# Sources of two parameters, with defaults of 55us and 40Gbps.
TIMER = """  name: dcqcn
    timer                    time    default 55us; 1us to 10s
        of the rate increase [{0}]
    rate                     rate    default 40Gbps
        at first [{1}]
"""
GOOD_VALUES = (("value: dcqcn.md#parameters", "our choice"),
               ("DCQCN sec 3.1; value: dcqcn.md#parameters", "value: dcqcn.md#a4"))
BAD_VALUES = (("value: dcqcn.md#a4", "our choice"), ("our choice", "value: dcqcn.md#a12"))


def expect(failures, truth, *what):
    if not truth:
        failures.append(" ".join(str(word) for word in what))


def self_test(root):
    failures = []
    papers = os.path.join(root, "docs", "papers")
    sources = cited.Sources(papers)
    mention = mentions_of(sources.anchors)
    for where, count in [(w, 0) for w in GOOD] + [(w, 3) for w in BAD if w]:
        wrong, seen = check_shown(SHOWN.format(where), sources, papers)
        expect(failures, (len(wrong), seen) == (count, 3), where, "gives", wrong, seen)
    for both, count in [(w, 0) for w in GOOD_VALUES] + [(w, 1) for w in BAD_VALUES]:
        wrong, seen = check_shown(TIMER.format(*both), sources, papers)
        expect(failures, (len(wrong), seen) == (count, 2), both, "gives", wrong, seen)
    expect(failures, all(has_value(text, "55us") for text in ("55 us", "(55us)", "5, 55 us")) and
           not any(has_value(text, "55us") for text in ("155 us", "1.55 us", "55 ms", "55.5 us")),
           "values")
    for text in GOOD_TEXT:
        wrong = check_text("file", text, sources, mention)
        expect(failures, not wrong, text, "gives", wrong)
    for text in BAD_TEXT:
        expect(failures, check_text("file", text, sources, mention), text, "gives nothing")
    expect(failures, len(sources.publications) > 15 and len(sources.programs) > 10, "lists")
    with tempfile.TemporaryDirectory() as work:
        pages = os.path.join(work, "docs", "papers")
        os.makedirs(pages)
        os.makedirs(os.path.join(work, "core"))
        for name, text in (
                ("README.md", '<a id="publications"></a>\n| <a id="dart"></a>Dart | x |\n'
                              '<a id="programs"></a>\n[a](a.md) [b](#none) [c](c.md)\n'),
                ("a.md", '<a id="x"></a> <a id="x"></a> [r](README.md#dart) [n](b.md#y)\n'),
                ("b.md", "")):
            with open(os.path.join(pages, name), "w", encoding="utf-8") as page:
                page.write(text)
        with open(os.path.join(work, "docs", "meson.build"), "w", encoding="utf-8") as file:
            file.write("install_subdir('../papers', x)")
        with open(os.path.join(work, "core", "x.c"), "w", encoding="utf-8") as file:
            file.write("/* a.md#x, and (a.md#z) */")
        found, count = check_tree(work, cited.Sources(pages))
        expect(failures, count == 3 and sorted(found) == sorted([
            "core/x.c:1: a.md has no #z", "docs/meson.build does not install papers/",
            "docs/papers/README.md does not list b.md", "README.md: #none leads nowhere",
            "README.md: c.md leads nowhere", "a.md: two places are #x",
            "a.md: b.md#y leads nowhere", "docs/papers/a.md:1: b.md has no #y"]),
               "a tree gives", count, found)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    itself = sys.argv[1] == "--self-test"
    tree = sys.argv[2] if itself else sys.argv[1]
    sys.path.insert(0, os.path.join(tree, "tools"))
    sys.dont_write_bytecode = True
    import cited
    sys.exit(self_test(tree) if itself else main(tree, sys.argv[2]))
