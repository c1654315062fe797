#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kit for CI: its libraries need no library but libc, and none newer than glibc 2.34, which
Ubuntu 22.04 and Red Hat 9 have; its program has the commands that the page names; ci/install
refuses what is no kit. Then the snippets and the example of docs/ci.md run as they are printed, by
an unprivileged user in a place like a CI job's (runner_root.py).

With OCHE_LONG=yes, as root, where mmdebstrap is: also in new roots of Debian 12 and 13, with the
packages that the snippet installs. Where musl-gcc is, also the kit for musl. Environment:
OCHE_LONG, BUILD, SOURCE. Status 77 where the machine has no such place or no cmake, after the other
tests.
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import yaml

import runner_root
from checks import check, claim, must, report, run_program

BUILD, SOURCE = os.environ["BUILD"], os.environ["SOURCE"]
NEWEST = (2, 34) # Red Hat 9's; Ubuntu 22.04 has 2.35
C_LIBRARY = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
EXAMPLES = os.path.join(SOURCE, "ci", "examples")
SUITES = ("bookworm", "trixie")


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


# ---- what it needs ----

def too_new(listed):
    """Of `objdump -T`: (version, symbol) of each undefined symbol of a glibc newer than NEWEST."""
    found = re.findall(r"\*UND\*.*\(?GLIBC_(\d+)\.(\d+)[.\d]*\)?\s+(\S+)$", listed, re.M)
    return [(f"{major}.{minor}", name) for major, minor, name in found
            if (int(major), int(minor)) > NEWEST]


def test_symbols(kit):
    line = "0000000000000000      DF *UND*\t0000000000000000 (GLIBC_%s) strtol"
    must(too_new(line % "2.38") == [("2.38", "strtol")] and not too_new(line % "2.2.5"), "too_new")
    libraries = glob.glob(f"{kit}/lib/oche/*.so*")
    own = {os.path.basename(path) for path in libraries}
    check(own >= {"libibverbs.so.1", "librdmacm.so.1", "librspreload.so.1", "liboche-exit.so",
                  "liboche-files.so", "liboche-rogue.so"}, "libraries:", own)
    for path in [f"{kit}/bin/oche", *libraries]:
        listed = run_program("objdump", "-T", path).stdout
        check("GLIBC_" in listed, path, "needs nothing?", listed)
        check(not too_new(listed), path, "needs a newer glibc:", too_new(listed))
        headers = run_program("objdump", "-p", path).stdout
        needed = set(re.findall(r"NEEDED +(\S+)", headers))
        check(needed and needed <= C_LIBRARY | own, path, "needs", needed)
        # What the linker asks of a newer glibc with -z pack-relative-relocs.
        check("GLIBC_ABI_" not in headers, path, "needs", headers)


def test_program(kit):
    oche = f"{kit}/bin/oche"
    page = read("docs", "ci.md")
    helped = run_program(oche, "--help").stdout
    commands = re.findall(r"^  (\w+) ", helped, re.M)
    check({"exec", "stat"} <= set(commands), "commands:", helped)
    for command in commands:
        check(f"`oche {command}`" in page, "docs/ci.md does not name", command)
    refused = run_program(oche, "run", "a.yaml")
    claim("oche run in the kit", refused.returncode == 2 and refused.stderr ==
          "oche: run: not in the kit for CI; the whole of oche has it\n", refused)
    claim("oche run in the help", "run " not in helped.split("exec", maxsplit=1)[0])


# ---- ci/install and ci/run ----

def install(work, name, **variables):
    return run_program(os.path.join(SOURCE, "ci", "install"), os.path.join(work, name),
                       env={**os.environ, **variables})


def test_install(work, tarball):
    done = install(work, "a folder", KIT_TARBALL=tarball)
    claim("ci/install", done.returncode == 0 and done.stdout == f"{work}/a folder/bin\n", done)
    claim("the installed program", run_program(f"{work}/a folder/bin/oche", "--version")
          .returncode == 0)
    sha256 = run_program("sha256sum", tarball).stdout.split()[0]
    done = install(work, "right", KIT_TARBALL=tarball, KIT_SHA256=sha256)
    claim("the right SHA-256", done.returncode == 0, done)
    done = install(work, "wrong", KIT_TARBALL=tarball, KIT_SHA256="0" * 64)
    claim("a wrong SHA-256", done.returncode == 1 and sha256 in done.stderr and
          not os.path.exists(f"{work}/wrong"), done)
    done = install(work, "none", KIT_TARBALL=f"{work}/none.tar.gz")
    claim("no tarball", done.returncode == 2 and "none.tar.gz: there is no such file" in
          done.stderr, done)
    done = install(work, "text", KIT_TARBALL=os.path.abspath(__file__))
    claim("not a tarball", done.returncode == 2 and "not a tarball of the kit" in done.stderr, done)


def test_run(work, kit):
    """ci/run's options reach `oche exec`, each as one word. The program is one that prints them."""
    os.makedirs(f"{work}/words")
    with open(f"{work}/words/oche", "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    os.chmod(f"{work}/words/oche", 0o755)
    path = {"PATH": f"{work}/words:{os.environ['PATH']}"}
    done = run_program(os.path.join(SOURCE, "ci", "run"), env={
        **path, "KIT_CC": "dcqcn,rai=40Mbps", "KIT_LINK": "loss=1%\n\n192.0.2.7:delay=5us\n",
        "KIT_EVENTS": "a file.yaml", "KIT_OPTIONS": "--stats",
        "KIT_RUN": "ctest | cat"})
    claim("ci/run", done.stdout.split("\n") == [
        "exec", "--poll=sleep", "--cc=dcqcn,rai=40Mbps", "--link=loss=1%",
        "--link=192.0.2.7:delay=5us", "--events=a file.yaml", "--stats", "--", "bash", "-e", "-o",
        "pipefail", "-c", "ctest | cat", ""], done)
    done = run_program(os.path.join(SOURCE, "ci", "run"), env={**path, "KIT_RUN": "true"})
    claim("ci/run without options",
          done.stdout.split("\n")[:3] == ["exec", "--poll=sleep", "--"], done)
    done = run_program(os.path.join(SOURCE, "ci", "run"), env={
        "PATH": f"{kit}/bin:{os.environ['PATH']}", "KIT_RUN": "false | true; exit 3"})
    claim("the status of the tests", done.returncode == 1, done)


# ---- the page ----

def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", read("docs", "ci.md"), re.M | re.S)


def github_job():
    """The steps of the page's GitHub job."""
    page = yaml.safe_load(next(text for text in blocks("yaml") if "runs-on" in text))
    return page["jobs"]["rdma-tests"]["steps"]


def action_steps(given):
    """The steps of ci/action.yml with these inputs, as (environment, script)."""
    action = yaml.safe_load(read("ci", "action.yml"))
    inputs = {name: row["default"] for name, row in action["inputs"].items()}
    must(set(given) <= set(inputs), "inputs that the action does not have:", given)
    inputs.update(given)
    for name in inputs:
        must(f"| `{name}` |" in read("docs", "ci.md"), "docs/ci.md does not name the input", name)
    for step in action["runs"]["steps"]:
        must(step["shell"] == "bash" and step.get("if", "inputs.run != ''") == "inputs.run != ''",
             "the action's step", step)
        if "if" in step and inputs["run"] == "":
            continue
        values = {name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda at: inputs[at.group(1)], value)
                  for name, value in step["env"].items()}
        must("${{" not in str(values) + step["run"], "an expression that is not known:", step)
        yield values, step["run"]


def as_github(steps):
    """A script that does what a runner does with the steps. Their packages are installed
    already."""
    lines = ["export GITHUB_PATH=$HOME/github_path RUNNER_TEMP=$HOME/temp",
             "export GITHUB_ACTION_PATH=$HOME/action", "mkdir temp; touch github_path", "cd work"]

    def add(environment, script):
        words = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
        lines.append('PATH=$(tac "$GITHUB_PATH" | tr "\\n" ":")$PATH')
        lines.append(f"env {words} bash -e -o pipefail -c {shlex.quote(script)}")
    for step in steps:
        if "run" in step:
            if not step["run"].startswith("sudo apt-get"):
                add({}, step["run"])
        elif re.match(r"OWNER/oche/ci@v[\d.]+$", step["uses"]):
            for environment, script in action_steps(step["with"]):
                add(environment, script)
        else:
            must(step["uses"] == "actions/checkout@v4", "a step that is not known:", step)
    return "\n".join(lines)


def as_gitlab():
    text = next(text for text in blocks("yaml") if "runs-on" not in text)
    must(text in read("ci", "gitlab.yml"), "ci/gitlab.yml is not as in docs/ci.md")
    return "cd work\n" + "\n".join(yaml.safe_load(text)["rdma-tests"]["script"])


def packages(steps):
    """The packages that the job installs, and those of the pytest example."""
    line = next(step["run"] for step in steps if "apt-get install" in step.get("run", ""))
    return re.search(r"install -y (.*)$", line).group(1).split() + ["perftest", "python3-pytest"]


# What must be true where the snippets run, or the test shows less than the page says.
PLACE = r"""
test "$(id -u)" = 1000
grep -qx 'CapBnd:.0*' /proc/self/status
grep -qx 'NoNewPrivs:.1' /proc/self/status
[ "$(uname -m)" != x86_64 ] || grep -qx 'Seccomp:.2' /proc/self/status
! touch /here 2>/dev/null
! unshare -U true 2>/dev/null
test "$(grep -c : /proc/net/dev)" = 1
test ! -e /dev/infiniband
"""


def test_snippets(files, root, where):
    """Both snippets, each in a place of its own, and the example of the page's shell block."""
    steps = github_job()
    for what, script, shown in (
            ("GitHub", as_github(steps), r"100% tests passed.* out of 2"),
            ("GitLab", as_gitlab() + "\n" + blocks("sh")[0], r"100% tests passed.* out of 2[^$]*"
             r"1 passed")):
        done = runner_root.run(PLACE + script, files, root)
        check(done.returncode == 0 and re.search(shown, done.stdout),
              f"{what}'s snippet in {where}: status {done.returncode}\n{done.stdout[-4000:]}")
        print(f"{what}'s snippet in {where}: status {done.returncode}", flush=True)


def lay_files(work, tarball):
    """The user's folder: the checked-out project with the tarball in it, and the action."""
    files = os.path.join(work, "files")
    shutil.copytree(os.path.join(EXAMPLES, "googletest"), f"{files}/work")
    shutil.copy(os.path.join(EXAMPLES, "pytest", "test_two_processes.py"), f"{files}/work")
    shutil.copy(tarball, f"{files}/work")
    os.mkdir(f"{files}/action")
    for name in ("install", "run"):
        shutil.copy(os.path.join(SOURCE, "ci", name), f"{files}/action")
    return files


def test_new_roots(work, files):
    """Roots of Debian's packages alone."""
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        print("no new roots: they need root and mmdebstrap")
        return
    for suite in SUITES:
        root = os.path.join(work, suite)
        done = run_program("mmdebstrap", "--quiet", "--variant=essential",
                           "--include=" + ",".join(packages(github_job())), suite, root)
        claim(f"a root of {suite}", done.returncode == 0, done)
        if done.returncode == 0:
            test_snippets(files, root, suite)


def test_musl(work):
    """The kit for musl, in a root with nothing but musl."""
    compiler = shutil.which("musl-gcc")
    if compiler is None:
        print("no kit for musl: there is no musl-gcc")
        return
    made = run_program(os.path.join(SOURCE, "tools", "make-kit"), "--musl", BUILD, work)
    must(made.returncode == 0, "make-kit --musl:", made.stderr)
    files, root = os.path.join(work, "musl"), os.path.join(work, "musl-root")
    os.makedirs(f"{root}/lib")
    os.mkdir(files)
    run_program("tar", "-xzf", made.stdout.strip(), "-C", files, "--strip-components=1", check=True)
    libraries = glob.glob(f"{files}/lib/oche/*.so*")
    for path in libraries:
        needed = set(re.findall(r"NEEDED +(\S+)", run_program("objdump", "-p", path).stdout))
        check("libc.so" in needed and needed <= {"libc.so", "libibverbs.so.1"}, path, "needs",
              needed)
        check("GLIBC_" not in run_program("objdump", "-T", path).stdout, path, "is for glibc")
    linker = glob.glob("/lib/ld-musl-*.so.1")[0]
    shutil.copy(linker, f"{root}/lib")
    several = run_program("gcc", "-print-multiarch").stdout.strip()
    run_program(compiler, "-idirafter", "/usr/include", "-idirafter", f"/usr/include/{several}",
                os.path.join(SOURCE, "docs", "containers", "write_to_self.c"), "-o",
                f"{files}/write_to_self", f"{files}/lib/oche/libibverbs.so.1", check=True)
    for options in (["--link=loss=1%,delay=50us"], ["--rogue"]):
        done = runner_root.run_command(["bin/oche", "exec", "--stats", *options, "--",
                                        "./write_to_self"], files, root)
        check(done.returncode == 0 and "100000 bytes written" in done.stdout and
              re.search(r"oche: .* sent [1-9]\d* packets", done.stdout),
              f"musl, {options}: status {done.returncode}\n{done.stdout[-2000:]}")
        print(f"musl, {options}: status {done.returncode}", flush=True)


def missing_here():
    """Why the snippets cannot run on this machine's programs, or None."""
    for program in ("cmake", "c++", "ib_write_bw"):
        if shutil.which(program, path="/usr/local/bin:/usr/bin:/bin") is None:
            return f"there is no {program}"
    if not (glob.glob("/usr/lib*/cmake/GTest/GTestConfig.cmake") or
            glob.glob("/usr/lib/*/cmake/GTest/GTestConfig.cmake")):
        return "there is no googletest"
    if subprocess.run(["/usr/bin/python3", "-c", "import pytest"], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        return "there is no pytest"
    return runner_root.why_not()


def main():
    with tempfile.TemporaryDirectory() as work:
        made = run_program(os.path.join(SOURCE, "tools", "make-kit"), BUILD, work)
        must(made.returncode == 0, "make-kit:", made.stderr)
        tarball = made.stdout.strip()
        run_program("tar", "-xzf", tarball, "-C", work, check=True)
        kit = tarball.removesuffix(".tar.gz")
        test_symbols(kit)
        test_program(kit)
        test_install(work, tarball)
        test_run(work, kit)
        files = lay_files(work, tarball)
        why_not = missing_here()
        if why_not is None:
            test_snippets(files, "-", "this machine")
        if os.environ.get("OCHE_LONG") == "yes":
            test_new_roots(work, files)
            test_musl(work)
    status = report()
    if status == 0 and why_not is not None:
        print("the snippets did not run:", why_not)
        return 77
    return status


sys.exit(main())
