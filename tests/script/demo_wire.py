#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/demo-wire, with few iterations: what it prints, its closing sentence beside the programs'
own numbers, its errors, and that no process is left behind, also where it is ended on the way.
Status 77: perftest is not installed.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from checks import must, run_program

DEMO = os.path.join(os.environ["SOURCE"], "tools", "demo-wire")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def demo(*arguments, **environment):
    return run_program(DEMO, *arguments, env=dict(os.environ, **environment), timeout=250)


def left(port):
    """Processes of perftest with this port."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                words = file.read().split("\0")
        except OSError:
            continue
        if words[0].startswith("ib_") and str(port) in words:
            found.append(words)
    return found


def gone(port):
    """True if no process is left. Waits, as a killed one may take a moment."""
    end = time.monotonic() + 10
    while left(port) and time.monotonic() < end:
        time.sleep(0.05)
    return not left(port)


def error(done, *words):
    must(done.returncode == 1 and "Traceback" not in done.stderr, done)
    last = done.stderr.strip().split("\n")[-1]
    must(last.startswith("demo-wire: ") and all(word in last for word in words), words, done)


def works():
    port = free_port()
    done = demo("-n", "100", "-p", str(port))
    must(done.returncode == 0 and done.stderr == "", done.stdout, done.stderr)
    must(gone(port), "processes are left", left(port))
    must("\noche: " not in done.stdout, "counters are shown", done.stdout)
    for program in ("ib_write_bw", "ib_send_lat"):
        for host in ("", " localhost"):
            must(re.search(rf"^\$ oche exec -- {program} -n 100 -p {port}{host} ", done.stdout,
                           re.M), "no output of", program, host, done.stdout)
    rows = re.findall(r"^ *(\d+) +100 +(.*)$", done.stdout, re.M)
    must([row[0] for row in rows] == ["65536", "65536", "2", "2"], rows, done.stdout)
    said = " ".join(done.stdout.strip().split("\n")[-4:])
    gbits = float(rows[1][1].split()[2]) * 65536 * 8 / 1000
    typical = float(rows[3][1].split()[2])
    for words in (f"100 WRITEs of 65,536 bytes at {gbits:.3g} Gbit/s in", " on oche_",
                  f"100 SENDs of 2 bytes each way, typically {typical:.3g} us one way, in"):
        must(words in said, words, "not in", said)
    # 64 KiB are at least 16 packets at any path MTU; a SEND is one, and so is its ACK.
    packets = [int(word.replace(",", "")) for word in re.findall(r"([\d,]+) RoCEv2", said)]
    must(len(packets) == 2 and packets[0] > 1600 and packets[1] >= 400, said)


def errors():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = demo("-p", str(port))
        error(done, f"TCP port {port}", "-p PORT")
        must(done.stdout == "", done.stdout)
    error(demo("-p", "no"), "1 to 65535")
    error(demo(OCHE="/no/oche"), "no /no/oche")
    port = free_port()
    done = demo("-n", "100", "-p", str(port), "--no-such-option")
    error(done, "the server of ib_write_bw ended with status")
    must("no-such-option" in done.stdout, "perftest's own error is not shown", done.stdout)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.environ["OCHE"], folder)  # without the library, which must lie beside it
        error(demo(OCHE=os.path.join(folder, "oche")), "libibverbs-dev")
        os.symlink(sys.executable, os.path.join(folder, "python3"))
        error(demo(PATH=folder), "ib_write_bw is not installed", "perftest")


def ended(number):
    port = free_port()
    with subprocess.Popen([DEMO, "-D", "60", "-p", str(port)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as running:
        end = time.monotonic() + 60
        while len(left(port)) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        must(len(left(port)) == 2, "no server and client", left(port))
        running.send_signal(number)
    must(running.returncode != 0, "status 0 after", number)
    must(gone(port), "processes are left after", number, left(port))


# A parent that ignores SIGINT (nohup, or a script's &) would have all programs ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
if shutil.which("ib_write_bw") is None or shutil.which("ib_send_lat") is None:
    print("perftest is not installed")
    sys.exit(77)
works()
errors()
for one in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
    ended(one)
