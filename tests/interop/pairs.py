# SPDX-License-Identifier: Apache-2.0
"""Runs a pair of other people's programs, a server and a client, on the verbs library, and judges
what they print and what they captured. What the scripts of this folder share.
"""
import atexit
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import names

LONG = os.environ.get("OCHE_LONG") == "yes"  # the long form, of `make check-full`
LIMIT = 90  # seconds for a pair; a loaded machine is slow
LIMIT_ALL = 300  # with -a, where perftest measures the clock 23 times
# Each run has addresses of its own, as several may run at a time.
NET = f"127.{33 + os.getpid() // 250 % 200}.{os.getpid() % 250}."
SERVER, CLIENT = NET + "1", NET + "2"
# Two mpirun at once may fail to make one folder: each test has its own. A process identifier would
# not do: netns.enter() makes this process number 1, and several tests may be number 1 at a time.
SESSIONS = f"{tempfile.gettempdir()}/ompi-{secrets.token_hex(4)}"
os.environ["OMPI_MCA_orte_tmpdir_base"] = SESSIONS
atexit.register(shutil.rmtree, SESSIONS, ignore_errors=True)
WRONG = "_ws.malformed || _ws.expert"
# tshark guesses what a payload is, and finds perftest's bytes to be malformed RPC.
GUESSES = ["rpcordma", "smc", "smb_direct", "nvme-rdma", "lnet", "iser", "infiniband_sdp", "fcoib"]


def fail(*what):
    print("FAILED:", *what, flush=True)
    sys.exit(1)


def need(*programs):
    """Ends the test as skipped when one of them is missing."""
    missing = sorted({name for name in programs if shutil.which(name) is None})
    if missing:
        print(f"not installed: {', '.join(missing)}")
        sys.exit(77)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listening(port, process):
    """Without connecting, which the server would take for its client."""
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{process.pid}/net/{table}", encoding="ascii") as rows:
            for row in rows:
                fields = row.split()
                if fields[1].endswith(f":{port:04X}") and fields[3] == "0A":
                    return True
    return False


def wait_until_listening(port, process):
    end = time.time() + LIMIT
    while time.time() < end and process.poll() is None:
        try:
            if listening(port, process):
                return
        except OSError:
            return  # it has ended
        time.sleep(0.02)


def wait_for(what, truth, *processes):
    """Waits until it is true. Fails if one of the processes ends before, or after LIMIT."""
    end = time.monotonic() + LIMIT
    while not truth():
        ended = [process.args for process in processes if process.poll() is not None]
        if ended or time.monotonic() > end:
            for process in processes:
                process.kill()
            fail(f"{what}:", f"ended: {ended}" if ended else f"not within {LIMIT} s",
                 [process.communicate() for process in processes])
        time.sleep(0.02)


def is_asleep(process):
    """True if its first thread waits for something."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as row:
        return row.read().rsplit(")", 1)[1].split()[0] == "S"


def wait_for_service(address, port, process, net=None):
    """Until the process listens to a port of rdma_cm's. A process has the port from
    rdma_bind_addr on; once it sleeps it has called rdma_listen, too, and waits for a peer."""
    wait_for("no server", lambda: names.tcp_service_held(address, port, net) and
             is_asleep(process), process)


def moved_bytes(oche, process):
    """Returns how many bytes a process has sent and received by now, as `oche stat` shows it."""
    done = subprocess.run([oche, "stat", "--json"], text=True, capture_output=True, check=False,
                          timeout=LIMIT)
    if done.returncode != 0:
        return 0  # no process has made the folder yet
    return sum(device["counters"]["sent_bytes"] + device["counters"]["received_bytes"]
               for one in json.loads(done.stdout)["processes"] if one["pid"] == process.pid
               for device in one["devices"])


def wait_until_moving(oche, process, *others):
    """Until it has moved a megabyte: its connections exist, and it transfers."""
    wait_for("nothing moves", lambda: moved_bytes(oche, process) > 1000000, process, *others)


def patient(oche, command, environment):
    """The environment of a client: perftest's spin on the clock as they begin, a fifth of a second
    of a processor each, and sleep instead with patient_clock.c, where that is built."""
    library = os.path.join(os.path.dirname(os.path.abspath(oche)), "tests/interop/patient_clock.so")
    if not command.startswith("ib_") or re.search("[ :]", library) or not os.path.exists(library):
        return environment
    others = environment.get("LD_PRELOAD")
    return {**environment, "LD_PRELOAD": f"{others}:{library}" if others else library}


class Side:
    """How to start one side: its address (None: the program chooses), and words before and after
    the command."""

    def __init__(self, address, options=(), before=(), more=(), **environment):
        self.address = address
        self.options = list(options)  # options of oche exec
        self.before = list(before)  # a command that runs another
        self.more = list(more)  # arguments of the program
        self.environment = environment

    def start(self, oche, words):
        device = ["--device", self.address] if self.address else []
        environment = patient(oche, words[0], {**os.environ, **self.environment})
        return subprocess.Popen(
            self.before + [oche, "exec", *self.options, *device, "--"] + words[:1] + self.more +
            words[1:], env=environment, text=True, errors="replace", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Outcome:
    def __init__(self, error, served, called, seconds):
        self.error, self.served, self.called, self.seconds = error, served, called, seconds


def start_server(oche, words, side, port):
    serving = side.start(oche, words + ["-p", str(port)])
    wait_until_listening(port, serving)
    return serving


def said_by(process, limit):
    """All that it prints until it ends, standard error last; and whether it had to be killed."""
    late = False
    try:
        said = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        late = True
        process.kill()
        said = process.communicate()
    return "\n".join(text or "" for text in said), late


def run_once(oche, command, arguments, server=None, client=None, name="127.0.0.1"):
    """Returns an Outcome. Its error is None if both sides ended with status 0 and printed the
    right text. `name`: the client's name for the server."""
    server = server or Side(SERVER)
    client = client or Side(CLIENT)
    words = [command] + arguments.split()
    limit = LIMIT_ALL if "-a" in words else LIMIT
    started = time.time()
    port = free_port()
    serving = start_server(oche, words, server, port)
    calling = client.start(oche, words + ["-p", str(port), name])
    called, late = said_by(calling, limit)
    served, later = said_by(serving, 1 if late else limit)
    late = late or later
    error = f"not done after {limit} s" if late else None
    if not late and (serving.returncode != 0 or calling.returncode != 0):
        error = f"status {serving.returncode} of the server, {calling.returncode} of the client"
    error = error or judge(command, called, served)
    if error is not None:
        error += f"\nserver: {served}\nclient: {called}"
    return Outcome(error, served, called, time.time() - started)


def is_clock_trouble(outcome):
    """True if perftest gave up because of the machine: it compares two clocks for 20 us before it
    reports, and ends ("Correlation coefficient") if the machine was busy meanwhile."""
    return outcome.error is not None and "Correlation coefficient" in outcome.error


def run(*arguments, **options):
    """Calls run_once, up to three times if perftest's clocks differ."""
    for _ in range(3):
        outcome = run_once(*arguments, **options)
        if not is_clock_trouble(outcome):
            break
    return outcome


def rows_of(output):
    """Returns perftest's results: a list of words for each size."""
    return [line.split() for line in output.split("\n")
            if re.match(r"\s*\d+\s+\d+\s+[\d.]+", line)]


def judge(command, called, served=""):
    """Returns what is wrong with the output, or None."""
    if command.endswith("pingpong"):
        if not re.search(r"^\d+ iters in ", called, re.M):
            return "no result"
        return "wrong data" if "invalid data" in called + served else None
    rows = rows_of(called)
    if not rows:
        return "no result"
    column = 4 if command.endswith("_bw") else 5  # messages, or the average
    for row in rows:
        if float(row[column]) <= 0:
            return f"nothing moved: {' '.join(row)}"
    return None


# ---- captures ----


def wrong_for_oche(oche, capture):
    """Returns what oche wire finds wrong in a capture, or None, and its number of packets."""
    ours = subprocess.run([oche, "wire", "--quiet", capture], text=True, capture_output=True,
                          check=False)
    if ours.returncode != 0:
        return f"oche wire: {ours.stdout[:1000]}{ours.stderr}", 0
    packets = int(re.search(r"^RoCEv2 +(\d+)", ours.stdout, re.M).group(1))
    frames = int(re.search(r"^frames +(\d+)", ours.stdout, re.M).group(1))
    if packets == 0 or packets != frames:
        return f"oche wire: {frames} frames, {packets} packets", packets
    return None, packets


def wrong_for_tshark(capture, packets):
    """Returns what tshark finds wrong in a capture, or None. It must see `packets` packets."""
    checks = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    guesses = [f"--disable-protocol={name}" for name in GUESSES]
    theirs = subprocess.run(
        ["tshark", "-r", capture, *checks, *guesses, "--disable-heuristic=mellanox_eoib",
         "--disable-heuristic=eth_over_ib", "-Y", WRONG, "-T", "fields", "-e", "frame.number",
         "-e", "_ws.expert.message", "-z", "io,phs"],
        text=True, errors="replace", capture_output=True, check=False)
    found, _, counts = theirs.stdout.partition("=====")
    if theirs.returncode != 0 or found.strip():
        return f"tshark: status {theirs.returncode}: {found[:1000]}{theirs.stderr}"
    # A row for each version of IP.
    if sum(int(count) for count in re.findall(r"infiniband +frames:(\d+)", counts)) != packets:
        return f"{packets} packets for oche wire; tshark: {counts}"
    return None


def wrong_in(oche, *captures):
    """Returns what oche wire or tshark finds wrong in captures, or None. They check each packet's
    ICRC and fields, and must see the same number of packets."""
    total = 0
    for capture in captures:
        wrong, packets = wrong_for_oche(oche, capture)
        if wrong is not None:
            return f"{os.path.basename(capture)}: {wrong}"
        total += packets
    return wrong_for_all(captures, total)


def wrong_for_all(captures, packets):
    """Like wrong_for_tshark, for several captures with `packets` packets in all."""
    if len(captures) == 1:
        return wrong_for_tshark(captures[0], packets)
    with tempfile.NamedTemporaryFile(suffix=".pcap") as all_of_them:
        subprocess.run(["mergecap", "-a", "-F", "pcap", "-w", all_of_them.name, *captures],
                       check=True)
        return wrong_for_tshark(all_of_them.name, packets)


def spoiled(capture, name):
    """A copy of the capture with the last byte of its first packet's ICRC turned over."""
    with open(capture, "rb") as whole:
        content = bytearray(whole.read())
    count = int.from_bytes(content[24 + 8:24 + 12], "little")
    content[24 + 16 + count - 1] ^= 0xff
    with open(name, "wb") as copy:
        copy.write(content)
    return name


class Captured:
    """Runs pairs with a capture at each side, and checks both: by oche wire at once; by tshark,
    which takes long to start, for several pairs together."""

    TOGETHER = 40000  # packets

    def __init__(self, **environment):
        need("tshark", "mergecap")
        self.environment = environment
        self.folder = tempfile.mkdtemp()
        self.tried = False  # whether the judge can find anything wrong
        self.left = []  # for tshark: commands that were run, their captures, number of packets
        self.pairs = 0

    def run(self, oche, command, arguments):
        self.pairs += 1
        files = [f"{self.folder}/{side}{self.pairs}.pcap" for side in ("server", "client")]
        sides = [Side(address, ["--capture", name], **self.environment)
                 for address, name in zip((SERVER, CLIENT), files)]
        for _ in range(5):
            done = run(oche, command, arguments, *sides)
            # perftest's own race with -e and -t, on any NIC: a completion between arming and
            # polling is polled together with earlier ones. Its event then finds no completion, and
            # perftest ends with an error.
            if done.error is None or "poll CQ failed 2\n" not in done.served + done.called:
                break
        if done.error is None:
            judged = [wrong_for_oche(oche, name) for name in files]
            done.error = next((wrong for wrong, _ in judged if wrong is not None), None)
            self.left.append((f"{command} {arguments}", files, sum(count for _, count in judged)))
        if done.error is None and not self.tried:
            self.tried = True
            done.error = wrong_in(oche, *files)
            for name in files:
                if wrong_in(oche, spoiled(name, f"{self.folder}/spoiled.pcap")) is None:
                    done.error = "nothing wrong is found in a capture with a wrong ICRC"
        return done

    def wrong(self, all_of_them=True):
        """Returns what tshark finds wrong in unchecked captures, as lines. Leaves them unchecked
        until there are many, unless `all_of_them`."""
        total = sum(count for _, _, count in self.left)
        if total == 0 or (total < self.TOGETHER and not all_of_them):
            return []
        found = []
        if wrong_for_all([name for _, files, _ in self.left for name in files], total) is not None:
            apart = [(what, wrong_for_all(files, count)) for what, files, count in self.left]
            found = [f"{what}: {wrong}" for what, wrong in apart if wrong is not None] or \
                ["tshark: only together are they wrong"]
        for _, files, _ in self.left:
            for name in files:
                os.unlink(name)
        self.left = []
        return found

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)
