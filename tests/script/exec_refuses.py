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
         ("--entropy", "OCHE_ENTROPY", "drill"),
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
         ("--entropy", "OCHE_ENTROPY", "oblivious"),
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


EVENT_FILES = [
    ("events:\n  - {qpn: 0, psn: 5, type: drip, iter: 1}\n", ":2: events[0].type: "),
    ("events:\n  - {qpn: 0, psn: 5, type: drop}\n", ":2: events[0].iter: is missing"),
    ("events:\n  - {qpn: 0, psn: 5, type: drop, iter: 0}\n", ":2: events[0].iter: "),
    ("events:\n  - {qpn: 0, psn: 16777216, type: drop, iter: 1}\n", ":2: events[0].psn: "),
    ("events:\n  - qpn: 0\n    psn: x\n    type: drop\n    iter: 1\n", ":3: events[0].psn: "),
    ("events:\n  - {qpn: 0, psm: 5, type: drop, iter: 1}\n", "did you mean psn?"),
    ("events:\n  - {qpn: 0, psn: 5, type: drop, iter: 1, colour: red}\n", "no such key"),
    ("events:\n  - {qpn: 0, psn: [5], type: drop, iter: 1}\n", "is no single value"),
    ("events:\n  - {qpn: 0, psn: 5, type: delay, iter: 1}\n", "events[0].by: is missing"),
    ("events:\n  - {qpn: 0, psn: 5, type: delay, iter: 1, by: 3}\n", "events[0].by: "),
    ("events:\n  - {qpn: 0, psn: 5, type: reorder, iter: 1, by: 0}\n", "events[0].by: "),
    ("events:\n  - {qpn: 0, psn: 5, type: ecn, iter: 1, by: 3}\n", "delay and reorder alone"),
    ("events:\n  - {qpn: 0, psn: 5, type: drop, iter: 1}\n"
     "  - {qpn: 0, psn: 6, type: drop, iter: 1}\n  - {qpn: 0, psn: 5, type: ecn, iter: 1}\n",
     ":4: events[2]: is for the same packet as the event in line 2"),
    ("events:\n  - drop\n", "is no event"),
    ("events: []\n", "has no events"),
    ("event:\n  - {qpn: 0, psn: 5, type: drop, iter: 1}\n", "a list of events is missing"),
    ("events:\n  - {qpn: 0, psn: 5, type: drop, iter: 1}\nfog: 1\n", ":3: fog: is not known"),
    ("traffic:\n  num-qps: 1\n", ":1: traffic: a list of events is missing"),
    ("traffic:\n  data-pkt-events:\n    - {qpn: 0, psn: 5, type: drop, iter: -1}\n",
     ":3: traffic.data-pkt-events[0].iter: "),
    ("events: {", "YAML")]
# A test of Lumina, with keys that are of no interest here.
LUMINA = """local-workspace: /tmp/lumina
switch: {control-ip: 192.0.2.1, port-speed: 100G}
traffic:
  num-qps: 2 # connections
  rdma-verb: write
  data-pkt-events: # what happens
    - qpn: 0
      psn: 4
      type: ecn
      iter: 1
    - {qpn: 1, psn: 5, type: bit-error, iter: 2}
"""


def events():
    """Files of scripted events: mistakes with their lines, and what becomes of right ones."""
    with tempfile.TemporaryDirectory() as top:
        path = os.path.join(top, "events.yaml")

        def run_with(text, *words):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return run(f"--events={path}", "--", *words)

        for text, says in EVENT_FILES:
            must(refused(run_with(text, "true"), "--events: ", path, says), text)
        many = "".join(f"  - {{qpn: 0, psn: {psn}, type: drop, iter: 1}}\n" for psn in range(2049))
        must(refused(run_with("events:\n" + many, "true"), "more than 2048 events"), "many")
        most = run_with("events:\n" + many[:many.rindex("  -")], "sh", "-c", "echo $OCHE_EVENTS")
        must(most.returncode == 0 and most.stdout.count(":1:drop") == 2048, "2048")
        shows = ("sh", "-c", "echo $OCHE_EVENTS")
        done = run_with("events:\n  - {qpn: 0, psn: 5, type: drop, iter: 1}\n"
                        "  - {qpn: 3, psn: 0x10, type: delay, iter: 2, by: 1.5ms}\n", *shows)
        must(refused(done, "events[1].psn"), done)
        done = run_with("events:\n  - {qpn: 0, psn: 5, type: drop, iter: 1}\n"
                        "  - {qpn: 3, psn: 16, type: delay, iter: 2, by: 1.5ms}\n"
                        "  - {by: 2, qpn: 3, psn: 17, iter: 1, type: reorder}\n", *shows)
        must(done.stdout == "0:5:1:drop,3:16:2:delay=1500us,3:17:1:reorder=2\n", done)
        done = run_with(LUMINA, *shows)
        must(done.stdout == "0:4:1:ecn,1:5:2:bit-error\n", done)
    must(refused(run("--events=/nowhere/at/all", "--", "true"), "/nowhere/at/all"), "no file")
    must(refused(run("--events=/tmp", "--", "true"), "/tmp: is a folder; give a file of events"),
         "a folder")
    done = run("--", "true", OCHE_EVENTS="0:5:1:drip")
    must(refused(done, "OCHE_EVENTS", "0:5:1:drip"), done)
    must(run("--", "true", OCHE_EVENTS="0:5:1:drop").returncode == 0, "a right one")


def paths():
    """What schemes of paths that learn from ACKs need beside --entropy."""
    for entropy in ("bitmap", "reps", "mixed"):
        says = f"{entropy} needs --peer-ports=any"
        must(refused(run(f"--entropy={entropy}", "--", "true"), "--entropy: ", says), entropy)
        must(refused(run("--", "true", OCHE_ENTROPY=entropy), "OCHE_ENTROPY: ", says), entropy)
        words = (f"--entropy={entropy}", "--peer-ports=any")
        for ports in (1, 3, 48):
            must(refused(run(*words, f"--source-ports={ports}", "--", "true"),
                         f"{entropy} needs 2, 4, 8"), entropy, ports)
            must(refused(run(*words, "--", "true", OCHE_SOURCE_PORTS=str(ports)),
                         f"{entropy} needs 2, 4, 8"), entropy, ports)
        must(run(*words, "--", "true").returncode == 0, entropy, "of four ports")
        done = run(*words, "--source-ports=64", "--", "sh", "-c", "echo $OCHE_ENTROPY")
        must(done.returncode == 0 and done.stdout == entropy + "\n", done)
    must(run("--entropy=oblivious", "--source-ports=3", "--", "true").returncode == 0, "oblivious")


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
    events()
    paths()
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
