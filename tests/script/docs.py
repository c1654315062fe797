#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages say what the program does: docs/scenario-reference.md is what the parameter tables
make; the example of docs/scenario.md runs; the manual pages have the options of --help, no more and
no fewer, and are well-formed; files and links that the pages name are there; what `make install`
installs can be used.

Environment: OCHE, SOURCE, BUILD, CC.
"""
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from checks import check, report, run_program

OCHE, SOURCE, BUILD = os.environ["OCHE"], os.environ["SOURCE"], os.environ["BUILD"]
SANITIZED = os.environ["SANITIZED"]
MANUAL = ("oche.1", "oche-buffers.1", "oche-fluid.1", "oche-import.1", "oche-nic.1",
          "oche-report.1", "oche-reproduce.1", "oche-run.1", "oche-scenario.5", "oche-stat.1",
          "oche-sweep.1", "oche-wire.1")


def run(command, where=None, **environment):
    done = subprocess.run(command, cwd=where, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, shell=isinstance(command, str),
                          env={**os.environ, **environment})
    check(done.returncode == 0, command, "status", done.returncode, done.stdout[-2000:])
    return done.stdout


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def test_scenario_page(work):
    run([os.path.join(SOURCE, "tools", "scenario-reference"), "--check", OCHE])
    page = read("docs", "scenario.md")
    example = re.search(r"^```yaml\n(.*?)^```$", page, re.M | re.S).group(1)
    with open(os.path.join(work, "incast8.yaml"), "w", encoding="utf-8") as file:
        file.write(example)
    commands = re.findall(r"^oche (run incast8[^#\n]*)", page, re.M)
    check(len(commands) == 4, "commands", commands)
    for command in commands:
        run(f"'{OCHE}' {command}", work)


def test_own_network(work):
    """The files that docs/scenario.md shows for a network of one's own run together."""
    files = re.findall(r"^```\w+ (campus\.\w+)\n(.*?)^```$", read("docs", "scenario.md"),
                       re.M | re.S)
    check(len(files) == 2, "files", files)
    for name, text in files:
        with open(os.path.join(work, name), "w", encoding="utf-8") as file:
            file.write(text)
    run([OCHE, "run", "campus.yaml", "--set", "measure.queues=left:top0"], work)


def test_scenario_reference_usage():
    """Wrong or missing arguments give one line with the usage, and status 2."""
    tool = os.path.join(SOURCE, "tools", "scenario-reference")
    for arguments, begins in (([], "usage: "), (["--check"], "usage: "), (["--help"], "usage: "),
                              ([OCHE, OCHE], "usage: "),
                              (["build-none/oche"], "build-none/oche: No such file or directory; "),
                              (["--check", SOURCE], SOURCE + ": Permission denied; "),
                              (["false"], "false: run --show-defaults ended with status 1; ")):
        done = run_program(tool, *arguments)
        check(done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1 and
              done.stderr.startswith(begins) and "[--check] OCHE" in done.stderr,
              "scenario-reference", arguments, "says", done.returncode, done.stderr)


def recorded_statements():
    """Verdicts of statements as recorded. Those from memory are left out, and so is what another
    simulator printed or only an abstract says: none counts in a total."""
    apart = ("ultra-ethernet", "load-balancing", "ethereal")
    papers = json.loads(run([OCHE, "reproduce", "--json"]))["papers"]
    return [one["verdict"] for paper in papers for one in paper["statements"]
            if one["source"] != "memory" and paper["paper"] not in apart]


def test_statement_tables():
    """The pages have the statements and claims with the verdicts that were recorded."""
    tool = os.path.join(SOURCE, "tools", "statement-tables")
    run([tool, "--check", OCHE])
    verdicts = recorded_statements()
    hold, near, fail = map(verdicts.count, ("holds", "in shape", "does not hold"))
    said = (f"Of {len(verdicts)} main statements of seven papers, {hold} hold, "
            f"{near} are in shape, {fail} do not")
    check(said in " ".join(read("README.md").split()), "README.md does not say", said)
    said = f"| **all, as judged** | {len(verdicts)} | {hold} | {near} | {fail} | "
    check(said in read("docs", "fidelity.md"), "docs/fidelity.md does not say", said)
    for arguments, begins in (([], "usage: "), ([OCHE, OCHE], "usage: "),
                              (["build-none/oche"], "tools/statement-tables: build-none/oche does"),
                              (["false"], "tools/statement-tables: false does not run: ")):
        done = run_program(tool, *arguments)
        check(done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1 and
              done.stderr.startswith(begins), "statement-tables", arguments, done.stderr)


def test_stale_tables(work):
    """A number that differs from the recorded results is found, and written again."""
    tool = os.path.join("tools", "statement-tables")
    pages = [os.path.relpath(path, SOURCE)
             for path in glob.glob(os.path.join(SOURCE, "docs", "reproductions", "*.md"))]
    for name in [tool, "README.md", "docs/fidelity.md", *pages]:
        os.makedirs(os.path.dirname(os.path.join(work, "tables", name)), exist_ok=True)
        shutil.copy(os.path.join(SOURCE, name), os.path.join(work, "tables", name))
    tool = os.path.join(work, "tables", tool)
    for name, block in (("README.md", "statements"), ("docs/fidelity.md", "statements"),
                        ("docs/fidelity.md", "claims"),
                        ("docs/reproductions/dcqcn.md", "statements")):
        page, path = read(name), os.path.join(work, "tables", name)
        begin = page.index(f"<!-- {block}: tools/statement-tables writes this -->\n")
        spoilt = page[:begin] + re.sub(r"\d+", "987", page[begin:], count=1)
        with open(path, "w", encoding="utf-8") as file:
            file.write(spoilt)
        done = run_program(tool, "--check", OCHE)
        check(done.returncode == 1 and done.stdout.count("\n") == 1 and
              done.stdout.startswith(f"{name}: "), name, block, done.returncode, done.stdout)
        run([tool, OCHE])
        with open(path, encoding="utf-8") as file:
            check(file.read() == page, name, "is not as it was")


def test_contributing(work):
    """The command that compares trace hashes has one of each scenario."""
    block = [block for block in re.findall(r"^```sh\n(.*?)^```$", read("CONTRIBUTING.md"),
                                           re.M | re.S) if "trace hash" in block][0]
    folders = ("scenarios", "tests/scenarios")
    if os.environ.get("OCHE_LONG") != "yes":  # the first folder's take thrice as long
        check(" scenarios/*.yaml " in block, "CONTRIBUTING.md leaves scenarios out")
        block, folders = block.replace(" scenarios/*.yaml ", " "), folders[1:]
    run(block.replace("/tmp/", work + "/").replace("build/oche", f"'{OCHE}'"), SOURCE)
    with open(os.path.join(work, "before.txt"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    files = [os.path.relpath(path, SOURCE) for folder in folders
             for path in sorted(glob.glob(os.path.join(SOURCE, folder, "*.yaml")))]
    check([line.split(" ")[0] for line in lines] == files, "hashes of", lines)
    check(all(re.fullmatch(r"\S+ [0-9a-f]{16}", line) for line in lines), "hashes", lines)


def test_sweep_page(work):
    """The page's first command gives the page's table, apart from its numbers."""
    def shape(text):
        rows = text.split("\nresults:")[0].strip().split("\n")
        return rows[:2], [row.split()[:1] if row[:1].isdigit() else row.split() for row in rows[3:]
                          if not row.startswith("---")]
    page = read("docs", "sweep.md")
    command, table = re.search(r"^```sh\noche (sweep [^\n]*)\n```\n+```\n(.*?)^```$", page,
                               re.M | re.S).groups()
    said = run(f"'{OCHE}' {command} --out '{work}/sweep'", SOURCE)
    check(shape(said) == shape(table), "docs/sweep.md shows", table, "not", said)


def test_queries(work):
    """The queries that pages show find something, in shorter runs of what they are made for."""
    scenarios = os.path.join(SOURCE, "scenarios")
    run([OCHE, "run", f"{scenarios}/demo.yaml", "--set", "duration=7ms", "-q", "--out", "out/demo"],
        work)
    run([OCHE, "run", f"{scenarios}/deflection.yaml", "--set", "duration=1ms", "--set", "warmup=0",
         "-q", "--out", "out/deflection"], work)
    run([OCHE, "sweep", f"{scenarios}/lossy.yaml", "--vary", "loss.probability=0,1%", "--set",
         "duration=1ms", "--set", "warmup=0", "-q", "--out", "out/lossy-sweep"], work)
    count = 0
    for page in sorted(glob.glob(os.path.join(SOURCE, "docs", "*.md"))):
        text = read(page)
        scenario = dict(re.findall(r"^```yaml (\S+)\.yaml\n(.*?)^```$", text, re.M | re.S))
        for file, query in re.findall(r'sqlite3 (\S+) "(.*?)"$', text, re.M | re.S):
            name = file.split("/")[1]
            if name in scenario:
                with open(os.path.join(work, name + ".yaml"), "w", encoding="utf-8") as made:
                    made.write(scenario[name])
                run([OCHE, "run", name + ".yaml", "-q"], work)
            with sqlite3.connect(os.path.join(work, file)) as database:
                rows = database.execute(query).fetchall()
            count += 1
            check(rows and rows[0][0] is not None, page, query, "finds nothing")
    check(count >= 6, count, "queries")


def test_collectives_page(work):
    """The first scenario of docs/collectives.md gives the sentence that the page shows."""
    page = read("docs", "collectives.md")
    text = re.search(r"^```yaml ring\.yaml\n(.*?)^```$", page, re.M | re.S).group(1)
    with open(os.path.join(work, "ring.yaml"), "w", encoding="utf-8") as out:
        out.write(text)
    shown = run([OCHE, "run", "ring.yaml"], work)
    sentence = re.search(r"^Job 0, .*$", page, re.M).group(0)
    check(sentence in shown, "ring.yaml:", re.findall(r"^Job.*$", shown, re.M))


def test_import_page(work):
    """The files and commands of docs/import.md give what the page shows."""
    where = os.path.join(work, "import")
    page = read("docs", "import.md")
    os.makedirs(where)
    for name, text in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", page, re.M | re.S):
        with open(os.path.join(where, name), "w", encoding="utf-8") as file:
            file.write(text)
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.M | re.S):
        for command, shown in re.findall(r"^\$ oche (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            said = run(f"'{OCHE}' {command}", where)
            parts = [part for part in shown.split("…\n") if part]
            check(all(part in said for part in parts) and
                  (shown.startswith("…") or said.startswith(parts[0])), command, "says", said)
    with open(os.path.join(where, "sonic.yaml"), encoding="utf-8") as file:
        shown = re.search(r"^```yaml\n(switch:.*?)^```$", page, re.M | re.S).group(1)
        check(file.read().endswith(shown), "sonic.yaml")


def test_manual_of_scenarios():
    """oche-scenario(5) has the sections that the program has, every topology, and the units; its
    example is that of docs/scenario.md, which runs."""
    page = read("docs", "oche-scenario.5").replace("\\-", "-")
    shown = run([OCHE, "run", "--show-defaults"])
    parts = dict(re.findall(r"^\.SH (\w+)\n((?:(?!\.SH ).*\n)*)", page, re.M))
    sections = set(re.findall(r"^([a-z_]+): ", shown, re.M))
    told = re.findall(r"^\.TP\n\.B (\S+)$", parts["SECTIONS"], re.M)
    check(len(told) > 10 and set(told) == sections, "sections:", sections ^ set(told))
    units = set(re.findall(r"^    \S+ +([a-z]+) +default ", shown, re.M))
    told = set(re.findall(r"^\.TP\n\.B (\S+)$", parts["VALUES"], re.M))
    check(told == units, "units:", told ^ units)
    topology = shown.split("\ntopology: ")[1].split("\nroutes: ")[0]
    variants = re.findall(r"^  type: (\w+)", topology, re.M)
    check(len(variants) > 5 and set(variants) <= set(re.findall(r"\w+", parts["SECTIONS"])),
          "topologies", variants)
    guide = re.search(r"^```yaml\n(.*?)^```$", read("docs", "scenario.md"), re.M | re.S).group(1)
    check(f".nf\n{guide}.fi\n" in page, "the example of oche-scenario(5) is not the guide's")


def test_manual():
    for command in ("import", "report", "reproduce", "run", "stat", "sweep", "wire"):
        usage = run([OCHE, command, "--help"])
        page = read("docs", f"oche-{command}.1").replace("\\-", "-")
        told = set(re.findall(r"^ +(?:-., )?(--[a-z-]+)", usage, re.M))
        described = set(re.findall(r"^\.BR? .*?(--[a-z-]+)", page.split(".SH OPTIONS")[1]
                                   .split(".SH EXIT")[0], re.M))
        described.discard("--set seed=")
        check(told == described, command, "options:", told ^ described)
        letters = set(re.findall(r"^ +-(.), --", usage, re.M))
        check(letters == set(re.findall(r"^\.BR -(.) ", page, re.M)), command, letters)
    listed = set(re.findall(r"^  ([a-z]+) ", run([OCHE, "--help"]), re.M))
    check(listed == set(re.findall(r"^\.BR ([a-z]+)$", read("docs", "oche.1"), re.M)),
          "commands of oche.1", listed)
    test_manual_of_scenarios()
    if shutil.which("groff"):
        for page in MANUAL:
            said = run(["groff", "-man", "-ww", "-z", "-Tutf8", os.path.join(SOURCE, "docs", page)])
            check(said == "", page, said)


def pages():
    found = [path for pattern in ("*.md", "docs/**/*.md", "notes/*.md")
             for path in glob.glob(os.path.join(SOURCE, pattern), recursive=True)]
    return sorted(os.path.relpath(path, SOURCE) for path in found)


def prose(page):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", read(page), flags=re.M | re.S)


def headings(page):
    """A page's headings as GitHub names them in links."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.M):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w -]", "", plain).replace(" ", "-"))
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', read(page)))


def is_there(path):
    """True if it is a file, a folder, a pattern that fits one, or a source file without suffix."""
    return any(glob.glob(os.path.join(SOURCE, path) + end) for end in ("", ".c", ".h", ".py"))


def test_named_files():
    """Each path that a page names exists. Exceptions are files that a page shows how to make: their
    code block has the name, or they have a word in capitals, as in papers/NAME/paper.yaml.
    CHANGELOG and notes/ describe the past, and may name files that are gone."""
    tracked = [name for name in os.listdir(SOURCE) if re.fullmatch(r"[a-z]+", name)
               and os.path.isdir(os.path.join(SOURCE, name)) and name not in ("build", "out")]
    named = re.compile(r"(?<![\w/.*-])(?:%s)/[\w./*-]*[\w*]" % "|".join(sorted(tracked)))
    count = 0
    for page in pages():
        if page == "CHANGELOG.md" or page.startswith("notes/"):
            continue
        text = re.sub(r"\w+://\S+", "", read(page))
        for path in set(named.findall(text)) - set(re.findall(r"^```\w+ (\S+)$", text, re.M)):
            count += 1
            check(is_there(path) or re.search(r"[A-Z]{2,}", path), page, "names", path,
                  "which is not there")
    check(count > 100, "only", count, "paths in the pages")


def test_named_functions():
    """The functions that docs/architecture.md follows a packet through exist. Those of verbs are
    in rdma-core's header."""
    words = set()
    for folder in ("core", "fabric", "sim", "device", "lab", "cli"):
        for path in glob.glob(os.path.join(SOURCE, folder, "**", "*.[ch]"), recursive=True):
            with open(path, encoding="utf-8") as file:
                words.update(re.findall(r"\w+", file.read()))
    named = set(re.findall(r"`([a-z]+_[a-z0-9_]+)`", read("docs", "architecture.md")))
    check(len(named) > 40, "only", len(named), "functions in docs/architecture.md")
    for name in named:
        check(name.startswith("ibv_") or name in words,
              "docs/architecture.md names", name)


def test_names_of_blocks():
    """GitHub hides the file's name behind ```yaml, so the line before the block must name the
    file, too."""
    count = 0
    for page in pages():
        for before, name in re.findall(r"((?:.+\n)+)\n*^```\w+ (\S+)$", read(page), re.M):
            count += 1
            check(f"`{name}`" in before, page, "does not say that a block is", name)
    check(count > 8, "only", count, "blocks that are files")


def test_links():
    for page in pages():
        for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
            path, _, heading = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if re.match(r"\w+:", link):
                continue
            check(os.path.exists(os.path.join(SOURCE, target)), page, "links to", link)
            if heading and target.endswith(".md") and os.path.exists(os.path.join(SOURCE, target)):
                check(heading in headings(target), page, "links to no heading:", link)


def check_names(work, library, pkg_config, source):
    """The static library defines no name without its prefix, so that a program may have any."""
    names = re.findall(r"^\w+ [A-Z] (\w+)$", run(["nm", "-g", "--defined-only", library]), re.M)
    foreign = sorted(name for name in names if not name.startswith("oche_"))
    check(len(names) > 100, "only", len(names), "names in", library)
    check(not foreign, library, "defines", foreign)
    own = os.path.join(work, "own_names.c")
    with open(own, "w", encoding="utf-8") as file:
        file.write("void pacer_update_rate(void);\nvoid pacer_update_rate(void) {}\n"
                   "int cq_push = 1;\n")
    run(f"{os.environ['CC']} '{source}' '{own}' -o '{work}/own_names' "
        f"{run(pkg_config + ['--cflags']).strip()} {library} -lm")


def test_library(work, found, only):
    """Compiles the program of docs/library.md with the installed library as the page says, shared
    and static. The headers must also compile as C++."""
    prefix = os.path.dirname(os.path.dirname(only("/bin/oche")))
    libraries = os.path.dirname(only("/liboche.so"))
    pkg_config = ["pkg-config", f"--define-variable=prefix={prefix}", only("/pkgconfig/oche.pc")]
    program = os.path.join(work, "two_nics")
    source = only("/library/two_nics.c")
    for kind, flags in {"shared": "--libs", "static": f"{libraries}/liboche.a -lm"}.items():
        flags = run(pkg_config + ["--cflags"] + ([flags] if kind == "shared" else [])) + \
            (flags if kind == "static" else "")
        run(f"{os.environ['CC']} -Wall -Wextra -Werror '{source}' -o '{program}' " +
            flags.replace("\n", " "))
        said = run(["env", f"LD_LIBRARY_PATH={libraries}", program, "dcqcn", "selective_repeat"])
        check(re.fullmatch(r"done: .* us, [1-9]\d* packets sent again, data equal\n", said),
              kind, said)
        check(said.strip() in read("docs/library.md"), "docs/library.md does not show", said)
    check_names(work, f"{libraries}/liboche.a", pkg_config, source)
    headers = [path for path in found if "/include/oche/core/" in path]
    check(len(headers) > 15, "only", len(headers), "headers")
    every = os.path.join(work, "every.cc")
    with open(every, "w", encoding="utf-8") as file:
        file.writelines(f'#include "{header}"\n' for header in headers)
        file.write("oche_time at(const oche_nic *nic) { return oche_nic_next_timer(nic); }\n")
    if shutil.which("g++"):
        run(f"g++ -std=c++17 -Wall -Wextra -Werror -c '{every}' -o '{work}/every.o' "
            + run(pkg_config + ["--cflags"]))
        check("U oche_nic_next_timer\n" in run(["nm", f"{work}/every.o"]), "the names of C++")


def test_installed_rogue(work, found, only):
    """A program links with what pkg-config says, and finds its libraries at run time."""
    prefix = os.path.dirname(os.path.dirname(only("/bin/oche")))
    config = [path for path in found if path.endswith("/pkgconfig/oche-rogue.pc")][0]
    flags = run(["pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs", config])
    source = os.path.join(work, "uses_rogue.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <rogue/rogue.h>\n#include <errno.h>\n#include <stdio.h>\n"
                   "int main(void)\n{\n    struct ibv_qp nobody;\n"
                   "    int count = rogue_take_round_trips(&nobody, 0, 0);\n"
                   "    puts(count < 0 && errno == EINVAL ? \"none\" : \"some\");\n"
                   "    return 0;\n}\n")
    run(f"{os.environ['CC']} -Wall -Wextra -Werror '{source}' -o '{work}/uses_rogue' "
        f"{flags}")
    if SANITIZED == "no":
        check(run([os.path.join(work, "uses_rogue")]) == "none\n", "the program that uses RoGUE")


def test_install(work):
    run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", work])
    found = [os.path.join(folder, name) for folder, _, names in os.walk(work) for name in names]

    def only(end):
        ours = [path for path in found if path.endswith(end)]
        check(len(ours) == 1, end, ours)
        return ours[0] if ours else "/nothing"
    check(run([only("/bin/oche"), "--version"]).startswith("oche "), "the installed program")
    for page in MANUAL:
        only(f"/man{page[-1]}/{page}")
    run([only("/bin/oche"), "run", only("/scenarios/headroom.yaml"), "--quiet", "--out",
         os.path.join(work, "out")])
    # The installed program finds the page of its reports, if it was built with a page.
    if os.path.exists(os.path.join(BUILD, "report", "page", "report.html")):
        only("/oche/report-svg.mjs")
        run([only("/bin/oche"), "report", os.path.join(work, "out")])
        check(os.path.getsize(os.path.join(work, "out", "report.html"))
              > os.path.getsize(only("/oche/report.html")), "the installed page")
    # The installed program finds the installed papers, and what is known of their commits.
    listed = run([only("/bin/oche"), "reproduce", "--tolerances"], work)
    with open(only("/papers/commits.txt"), encoding="utf-8") as file:
        check(listed == file.read() and "error-recovery/fig2 " in listed, "commits", listed)
    if os.path.exists(os.path.join(BUILD, "liboche-rogue.so")):
        test_installed_rogue(work, found, only)
    if SANITIZED == "no":
        test_library(work, found, only)
    # After uninstalling, only files outside our own folders are left.
    for name in ("bash-completion/completions/oche", "site-functions/_oche", "/doc/oche/LICENSE"):
        only(name)
    uninstall = [sys.executable, os.path.join(SOURCE, "tools", "uninstall")]
    run([*uninstall, "--keep", BUILD, work])
    refused = subprocess.run([*uninstall, BUILD, work + "/other"], text=True, check=False,
                             stderr=subprocess.PIPE)
    check(refused.returncode == 2 and f"{work} is: give PREFIX" in refused.stderr,
          refused.returncode, refused.stderr)
    run([*uninstall, BUILD, work])
    left = [path for path in found if os.path.exists(path)]
    check(not left, "left by uninstall:", left)
    left = [folder for folder, _, _ in os.walk(work) if os.path.basename(folder) == "oche"]
    check(not left, "folders left by uninstall:", left)


def main():
    with tempfile.TemporaryDirectory() as work:
        test_scenario_page(work)
        test_own_network(work)
        test_sweep_page(work)
        test_queries(work)
        test_collectives_page(work)
        test_import_page(work)
        test_contributing(work)
        test_stale_tables(work)
    test_scenario_reference_usage()
    test_statement_tables()
    test_manual()
    test_named_files()
    test_named_functions()
    test_names_of_blocks()
    test_links()
    # Files that were installed from this build before can still be uninstalled afterwards.
    log, kept = os.path.join(BUILD, "meson-logs", "install-log.txt"), None
    if os.path.exists(log):
        with open(log, encoding="utf-8") as file:
            kept = file.read()
    with tempfile.TemporaryDirectory() as work:
        test_install(work)
    if kept is not None:
        with open(log, "w", encoding="utf-8") as file:
            file.write(kept)
    return report()


sys.exit(main())
