#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs libfabric's verbs provider, unmodified, between two hosts (network namespaces with a veth
pair between them), as it leaves out devices of loopback addresses: connections, datagrams, and the
two layers that make reliable datagrams of them; and MPI messages over one of those.

usage: libfabric.py OCHE [--table] [NAME…]

OCHE is the program, whose `exec` runs everything here. NAME: only those whose command has it.
--table prints the table of docs/clients.md. A pair works if both sides end with status 0, the
client says that all answers came, their data right (-c), and each side's capture is right.
Status 77: libfabric-bin is not installed, or no namespace can be made.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import applications
import netns
import pairs

# what goes over the wire, options of both sides
PINGPONGS = [
    ("SEND, RC, by rdma_cm", "-p verbs -e msg -c -I 100 -S 10000"),
    ("SEND, RC, by rdma_cm", "-p verbs -e msg -c -I 20 -S 1000000"),
    ("SEND, RC, by rdma_cm", "-p 'verbs;ofi_rxm' -e rdm -c -I 100 -S 10000"),
    ("SEND, READ, RC, by rdma_cm", "-p 'verbs;ofi_rxm' -e rdm -c -I 20 -S 1000000"),
    ("SEND, UD", "-p 'verbs;ofi_rxd' -e rdm -c -I 100 -S 10000"),
    ("SEND, UD", "-p verbs -e dgram -c -I 100 -S 1000"),
]
LIMIT = 30  # seconds for one run
# Open MPI's one-sided operations need one thread with this layer.
MPI = ("mpirun --oversubscribe --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include "
       "'verbs;ofi_rxm' --mca osc pt2pt -np 3 ")


def start(oche, address, before, capture, command, **more):
    return subprocess.Popen(
        [*before, oche, "exec", *capture, "--device", address, "--", *shlex.split(command)],
        env=dict(os.environ, **more), text=True, errors="replace", stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def said_by(process, limit):
    """All that it prints until it ends, and whether it had to be killed."""
    try:
        return process.communicate(timeout=limit)[0], False
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0], True


def pingpong(oche, far, options, folder):
    """Returns what is wrong, or None. ofi_rxm has a race at the end, on any device. If a side hears
    of the other's end before it has polled its last completions, it destroys the queue pair and
    loses them. This happens on a busy machine, so the run is tried again."""
    for _ in range(4 if "ofi_rxm" in options else 1):
        wrong, late = pingpong_once(oche, far, options, folder)
        if not late and "Work Request Flushed Error" not in (wrong or ""):
            break
    return wrong


def pingpong_once(oche, far, options, folder):
    """Returns what is wrong, or None, and True if a side did not end."""
    captures = [f"{folder}/{side}.pcap" for side in ("server", "client")]
    port = pairs.free_port()
    serving = start(oche, netns.FAR, far.enter, ["--capture", captures[0]],
                    f"fi_pingpong {options} -B {port}")
    pairs.wait_until_listening(port, serving)
    calling = start(oche, netns.NEAR, [], ["--capture", captures[1]],
                    f"fi_pingpong {options} -P {port} {netns.FAR}")
    called, late = said_by(calling, LIMIT)
    served, later = said_by(serving, 1 if late else LIMIT)
    rounds = re.search(r"-I (\d+)", options)[1]
    if late or later or serving.returncode != 0 or calling.returncode != 0 or \
            not re.search(rf"(?m)^\S+ +{rounds} +={rounds} ", called):
        return f"status {serving.returncode}, {calling.returncode}: {served}\n{called}", \
            late or later
    wrong = [pairs.wrong_for_oche(oche, name)[0] for name in captures]
    return next((what for what in wrong if what is not None), None), False


def without_device(oche):
    """Returns what is wrong with both sides at localhost, or None. For libfabric localhost is the
    first device that is not loopback's. If there is none, a line says why nothing is found."""
    port = pairs.free_port()
    words = [oche, "exec", "--", "fi_pingpong", "-p", "verbs", "-e", "msg", "-c", "-I", "10"]
    how = {"text": True, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
           "stderr": subprocess.STDOUT}
    serving = subprocess.Popen([*words, "-B", str(port)], **how)
    pairs.wait_until_listening(port, serving)
    calling = subprocess.Popen([*words, "-P", str(port), "127.0.0.1"], **how)
    called, late = said_by(calling, LIMIT)
    served, later = said_by(serving, 1 if late else LIMIT)
    if late or later or serving.returncode != 0 or calling.returncode != 0 or "oche: " in called:
        return f"status {serving.returncode}, {calling.returncode}: {served}\n{called}"
    alone = subprocess.run(["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh",
                            oche, "exec", "--", "fi_info", "-p", "verbs", "-t", "FI_EP_MSG"],
                           **how, timeout=LIMIT, check=False)
    if alone.returncode == 0 or alone.stdout.count("oche: libfabric connects no endpoints") != 1:
        return f"with loopback alone, status {alone.returncode}: {alone.stdout}"
    chosen = subprocess.run([oche, "exec", "--device", "127.0.0.1", "--", "fi_info", "-p", "verbs",
                             "-t", "FI_EP_MSG"], **how, timeout=LIMIT, check=False)
    if chosen.returncode == 0 or chosen.stdout.count("and OCHE_DEVICE (--device) names one") != 1:
        return f"with --device=127.0.0.1, status {chosen.returncode}: {chosen.stdout}"
    return None


def messages(oche, folder):
    """Returns what is wrong with MPI over libfabric, or None."""
    program = os.path.join(folder, "program.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(applications.MPI_PROGRAM)
    running = start(oche, netns.NEAR, [], [], f"{MPI} {applications.MPI_PYTHON} {program}",
                    MPI4PY_RC_THREADS="0", OMPI_ALLOW_RUN_AS_ROOT="1",
                    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    said, late = said_by(running, LIMIT)
    if late or running.returncode != 0 or said.count("data right at") != 3:
        return f"status {running.returncode}: {said}"
    return None


def main(arguments):
    oche = os.path.abspath(arguments[0])
    table = "--table" in arguments
    names = [name for name in arguments[1:] if not name.startswith("--")]
    far = netns.Far()
    far.veth(9000)
    failed = 0
    if table:
        print("| application | what | command | |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        work = [("fi_pingpong", what, f"oche exec -- fi_pingpong {options}",
                 lambda options=options: pingpong(oche, far, options, folder))
                for what, options in PINGPONGS]
        work.append(("fi_pingpong", "SEND, RC, by rdma_cm, both sides here and without --device",
                     "oche exec -- fi_pingpong -p verbs -e msg -c -I 10",
                     lambda: without_device(oche)))
        work.append(("mpirun", "messages, one-sided, RC, by rdma_cm; data checked",
                     f"MPI4PY_RC_THREADS=0 oche exec -- {MPI}python3 PROGRAM",
                     lambda: messages(oche, folder)))
        for program, what, shown, run in work:
            if names and not any(name in shown for name in names):
                continue
            if shutil.which(program) is None:
                print(f"not installed: {program}", file=sys.stderr)
                continue
            wrong = run()
            failed += wrong is not None
            said = "works" if wrong is None else "does not work"
            print(f"| {program} | {what} | `{shown}` | {said} |" if table else f"{shown}: {said}",
                  flush=True)
            if wrong is not None:
                print(wrong, file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    netns.enter()
    pairs.need("fi_pingpong", "ip")
    sys.exit(main(sys.argv[1:]))
