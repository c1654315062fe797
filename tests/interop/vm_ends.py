#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When vm.py ends, so do its machine, namespaces and files: by SIGINT, SIGTERM, SIGHUP; after
SIGKILL an empty folder stays.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

import pairs
import vm

LIMIT = 60  # seconds
VM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vm.py")


def machines(folder):
    """The machines that have files in this folder."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                words = file.read()
                found += [number] if folder.encode() in words and b"qemu" in words else []
        except OSError:
            pass
    return found


def wait(until, what):
    end = time.monotonic() + LIMIT
    while not until():
        if time.monotonic() > end:
            pairs.fail(what)
        time.sleep(0.05)


def main():
    why = vm.missing()
    if why is not None:
        print(why)
        sys.exit(77)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([VM, "sleep 1000"], env={**os.environ, "TMPDIR": folder})
            wait(lambda folder=folder: machines(folder), "no machine")
            process.send_signal(number)
            status = process.wait(LIMIT)
            if status != (-number if number == signal.SIGKILL else 128 + number):
                pairs.fail(number, "status", status)
            wait(lambda folder=folder: not machines(folder), f"{number}: the machine goes on")
            left = [name for _, folders, files in os.walk(folder) for name in folders + files]
            if len(left) > (number == signal.SIGKILL):
                pairs.fail(number, "left behind:", left)
        print(f"{number.name}: nothing stays behind", flush=True)


if __name__ == "__main__":
    main()
