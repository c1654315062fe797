# SPDX-License-Identifier: Apache-2.0
"""Runs other people's programs, a server and a client, and finds numbers in what they print. What
tools/bench-wire and tools/bench-tcp share.
"""
import os
import platform
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time

ADDRESS = "127.0.0.1"
# The user's settings for oche, UCX or libfabric would be measured, too.
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("OCHE_", "UCX_", "FI_"))}


class Failed(Exception):
    pass


def used_by_children():
    """Seconds of processor time of all that was waited for, with the kernel's for it."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def free_port():
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return str(probe.getsockname()[1])


def listened(port):
    """Does not connect, because the server would take a connection for its client."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if not os.path.exists(table):
            continue
        with open(table, encoding="ascii") as lines:
            for line in lines:
                fields = line.split()
                if fields[1].endswith(f":{int(port):04X}") and fields[3] == "0A":
                    return True
    return False


class Child:
    """A program in a process group of its own. It ends with this one; its output is kept."""

    def __init__(self, words, environment=None):
        self.words = words
        self.used = None  # seconds of processor time, once it was waited for
        self.output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        try:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL"] + words, stdin=subprocess.DEVNULL,
                stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True,
                env={**CLEAN, **(environment or {})})
        except OSError as error:
            raise Failed(f"setpriv: {error.strerror}") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.output.close()

    def end(self, seconds):
        """Waits for its end. Returns its status, or None: it has not ended."""
        before = used_by_children()
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self.used = used_by_children() - before
        return status

    def wait(self, seconds):
        """What it printed."""
        status = self.end(seconds)
        if status is None:
            raise Failed(f"not done after {seconds} s: {self.command()}")
        if status != 0:
            raise Failed(f"status {status}: {self.command()}: {self.last_words()}")
        self.output.seek(0)
        return self.output.read()

    def command(self):
        return " ".join(self.words)

    def last_words(self):
        self.output.seek(0)
        lines = [line.strip() for line in self.output.read().splitlines() if line.strip(" -+|")]
        return lines[-1] if lines else "it said nothing"


def pair_used(options, server, client, port, environment=None):
    """Returns the client's output, and the seconds of processor time of client and server (None:
    the server did not end)."""
    with Child(server, environment) as serving:
        end = time.monotonic() + options.limit
        while not listened(port):
            if serving.process.poll() is not None:
                raise Failed(f"{serving.command()}: {serving.last_words()}")
            if time.monotonic() > end:
                raise Failed(f"no server after {options.limit} s: {serving.command()}")
            time.sleep(0.02)
        with Child(client, environment) as calling:
            said = calling.wait(options.limit)
            used = calling.used
        serving.end(5)  # normally, so its address is free for the next one; else it is ended
        return said, used, serving.used


def pair(options, server, client, port, environment=None):
    """Returns the client's output."""
    return pair_used(options, server, client, port, environment)[0]


def number(pattern, said, what):
    found = re.findall(pattern, said, re.M)
    if not found:
        raise Failed(f"{what} did not say what it measured")
    return float(found[-1])


def said_by(words, pattern):
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(pattern, done.stdout + done.stderr)
    return found[1] if found else None


def machine():
    model = said_by(["cat", "/proc/cpuinfo"], r"model name\s*: (.*)")
    model = f" of {model.replace('(R)', '').replace('(TM)', '')}" if model else ""
    return f"{len(os.sched_getaffinity(0))} cores{model}, Linux {platform.release().split('-')[0]}"
