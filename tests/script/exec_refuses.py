#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec`: what it refuses, in options and in the environment, with one line and status 2; and
folders that it runs from: with a blank, with a colon, and without /proc."""
import os
import re
import shutil
import subprocess
import tempfile

from checks import must, run_program

OCHE = os.environ["OCHE"]
WRONG = [("--cc", "OCHE_CC", "dqcn"),
         ("--cc", "OCHE_CC", "dcqcn,"),
         ("--cc", "OCHE_CC", ",dcqcn"),
         ("--recovery", "OCHE_RECOVERY", "none"),
         ("--line-rate", "OCHE_LINE_RATE", "10"),
         ("--device", "OCHE_DEVICE", "eth0"),
         ("--poll", "OCHE_POLL", "often"),
         ("--source-ports", "OCHE_SOURCE_PORTS", "0"),
         ("--source-ports", "OCHE_SOURCE_PORTS", "65"),
         ("--source-ports", "OCHE_SOURCE_PORTS", "8x"),
         ("--peer-ports", "OCHE_PEER_PORTS", "all"),
         ("--fail", "OCHE_FAIL", "reg_mr=0"),
         ("--link", "OCHE_LINK", "fog=1%"),
         ("--link-in", "OCHE_LINK_IN", "loss=2"),
         ("--link-out", "OCHE_LINK_OUT", "rate=1Gbps,ecn=2MB..1MB")]
RIGHT = [("--cc", "OCHE_CC", "dcqcn"),
         ("--recovery", "OCHE_RECOVERY", "selective_repeat"),
         ("--line-rate", "OCHE_LINE_RATE", "10Gbps"),
         ("--device", "OCHE_DEVICE", "127.0.0.1"),
         ("--poll", "OCHE_POLL", "sleep"),
         ("--source-ports", "OCHE_SOURCE_PORTS", "64"),
         ("--peer-ports", "OCHE_PEER_PORTS", "any"),
         ("--fail", "OCHE_FAIL", "reg_mr=3,create_qp=2..4:EAGAIN,post_send=9.."),
         ("--link", "OCHE_LINK", "192.0.2.7:loss=0.1%,delay=50us"),
         ("--link-in", "OCHE_LINK_IN", "delay=1ms|at=3s,delay=0s"),
         ("--link-out", "OCHE_LINK_OUT", "rate=1Gbps,ecn=1MB..2MB")]

# An incast's hosts: the list, and the scheme that must take it.
HOSTS = "10.0.0.1,10.0.0.2"
NO_INCASTS = [("10.0.0.1", "dart", "one host alone"), ("10.0.0.1,host", "dart", '"host" is not'),
              ("10.0.0.1,10.0.0.1", "dart", "twice"), ("10.0.0.1,fd00::1", "dart", "IPv4 and IPv6"),
              (HOSTS, "", "needs --cc=dart"), (HOSTS, "cubic", "needs --cc=dart"),
              (HOSTS, "dart,look_ahead=false", "needs --cc=dart, with look_ahead")]

# A key that is there twice.
TWICE = [("--rogue", "OCHE_ROGUE", "alpha=0.2,beta=0.9,alpha=0.3", "alpha"),
         ("--cc", "OCHE_CC", "dcqcn,g=0.1,g=0.2", "g"),
         ("--recovery", "OCHE_RECOVERY", "go_back_n,nak_interval=1us,nak_interval=1us",
          "nak_interval")]


def run(*words, program=OCHE, before=(), **environment):
    return run_program(*before, program, "exec", *words, env=dict(os.environ, **environment))


def refused(done, *names):
    return done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1 and \
        all(name in done.stderr for name in names)


LINK_FILES = [("link:\n  - delay: 50us\n  - at: 3s\n    los: 1%\n",
               ":3: link[1]: a link has no los"),
              ("link:\n  - delay: 50us\n  - delay: 1ms\n", ":3: link[1]: a step is not later"),
              ("links:\n  - delay: 50us\n", "a list of steps is missing"),
              ("link: []\n", "a list of steps is missing"),
              ("link:\n  - 50us\n", "is no step"),
              ("link:\n  - loss: [1%]\n", "is no value of a link"),
              ("link:\n  - loss: 1%\nfog: 2\n", ":3: fog: is not known; only link: is")]


def links():
    """Rules of links: together, from files, and what they are."""
    done = run("--link=loss=1%", "--link=192.0.2.7:loss=2%", "--link-in=192.0.2.8:delay=1ms", "--",
               "sh", "-c", "echo $OCHE_LINK $OCHE_LINK_IN")
    must(done.stdout == "loss=1%;192.0.2.7:loss=2% 192.0.2.8:delay=1ms\n", done)
    must(refused(run("--link=loss=1%", "--link-in=loss=1%", "--", "true"), "--link-in",
                 "a second rule"), "two rules for one direction")
    must(refused(run("--link=loss=1%;delay=1ms", "--", "true"), "give the option again"),
         "two in one")
    must(refused(run("--link=@/nowhere/at/all", "--", "true"), "/nowhere/at/all"), "no file")
    with tempfile.TemporaryDirectory() as top:
        path = os.path.join(top, "link.yaml")
        for text, says in LINK_FILES:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            must(refused(run(f"--link=@{path}", "--", "true"), path, says), text)
        with open(path, "w", encoding="utf-8") as file:
            file.write("# by time\nlink:\n  - delay: 50us\n    jitter: 10us:normal\n"
                       "  - {at: 3s, loss: 1%}\n")
        for peer in ("", "192.0.2.7:"):
            done = run(f"--link={peer}@{path}", "--", "sh", "-c", "echo \"$OCHE_LINK\"")
            must(done.stdout == f"{peer}delay=50us,jitter=10us:normal|at=3s,loss=1%\n", done)
    done = run("--link=help", "--", "true")
    with open(os.path.join(os.environ["SOURCE"], "docs/faults.md"), encoding="utf-8") as file:
        page = file.read()
    keys = re.findall(r"^  ([a-z_]+)=", done.stdout, re.MULTILINE)
    must(done.returncode == 0 and len(keys) > 15, done)
    must(all(f"`{key}`" in page for key in keys), "not in docs/faults.md:",
         [key for key in keys if f"`{key}`" not in page])


def main():
    for option, variable, value in WRONG:
        done = run(f"{option}={value}", "--", "echo", "ran")
        must(refused(done, option, value), done)
        done = run("--", "echo", "ran", **{variable: value})
        must(refused(done, variable, value), done)
    for option, variable, value, key in TWICE:
        says = f"{key} is there twice; give it once"
        done = run(f"{option}={value}", "--", "echo", "ran")
        must(refused(done, option, says), done)
        done = run("--", "echo", "ran", **{variable: value})
        must(refused(done, variable, says), done)
    for hosts, scheme, says in NO_INCASTS:
        words = [f"--cc={scheme}"] if scheme else []
        must(refused(run(f"--incast={hosts}", *words, "--", "echo", "ran"), says), hosts, scheme)
        must(refused(run("--", "echo", "ran", OCHE_INCAST=hosts, OCHE_CC=scheme), says), hosts)
    must(refused(run("--rogue", f"--incast={HOSTS}", "--", "true"), "--incast: needs --cc=dart"),
         "--rogue")
    must(refused(run("--rogue", "--", "true", OCHE_INCAST=HOSTS), "OCHE_INCAST: needs --cc=dart"),
         "--rogue")
    done = run("--cc=dart", f"--incast={HOSTS}", "--", "sh", "-c", "echo $OCHE_INCAST")
    must(done.returncode == 0 and done.stdout == HOSTS + "\n", done)
    for option, variable, value in RIGHT:
        wrong = next(wrong for name, _, wrong in WRONG if name == option)
        done = run(f"{option}={value}", "--", "sh", "-c", f"echo ${variable}", **{variable: wrong})
        must(done.returncode == 0 and done.stdout == value + "\n", "instead of", done)
        done = run("--", "sh", "-c", f"echo ${variable}", **{variable: value})
        must(done.returncode == 0 and done.stdout == value + "\n", "left alone", done)
        must(run("--", "true", **{variable: ""}).returncode == 0, "empty: as if it were not there")
    links()
    must(refused(run("--capture=", "--", "true"), "--capture"), "no name")
    must(refused(run("--rogue=", "--", "true"), "--rogue"), "no key")
    with tempfile.TemporaryDirectory() as top:
        for name, right in (("a b", True), ("a:b", False), ("a;b", False)):
            folder = os.path.join(top, name)
            os.mkdir(folder)
            for file in ("oche", "libibverbs.so.1", "liboche-exit.so"):
                shutil.copy(os.path.join(os.path.dirname(OCHE), file), folder)
            done = run("--", "sh", "-c", "echo $LD_LIBRARY_PATH", program=folder + "/oche",
                       LD_LIBRARY_PATH="")
            must(done.stdout == folder + "\n" if right else refused(done, folder), done)
    apart = ("unshare", "-Urm", "sh", "-c", 'mount -t tmpfs none /proc && exec "$0" "$@"')
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode == 0:
        done = run("--", "sh", "-c", "echo $LD_LIBRARY_PATH", before=apart, LD_LIBRARY_PATH="")
        must(done.stdout == os.path.realpath(os.path.dirname(OCHE)) + "\n", "no /proc", done)
    else:
        print("no namespaces here: not tried without /proc")
    print("ok")


if __name__ == "__main__":
    main()
