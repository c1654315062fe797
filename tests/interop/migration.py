#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Moves a running virtual machine by RDMA, with Debian's qemu unmodified: the guest writes its
memory all the time, and after the move both qemus must have the same memory, byte for byte.

usage: migration.py OCHE [--table | --rows]

The guest is a few instructions that the BIOS starts as an option ROM; it needs no disk, and no KVM.
Each qemu has an address of its own. --table prints the table of docs/clients.md, --rows the same
without running anything. Status 77: qemu is not installed.
"""
import filecmp
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

import pairs

HERE, THERE = pairs.NET + "5", pairs.NET + "6"
LIMIT = 90  # seconds
MEMORY = 48 << 20
# At random: of a page of zeros qemu only says that it is one. The BIOS uses what is below 32 MB.
FILLED, FILLED_AT = 15 << 20, 16 << 20
WAYS = [
    ("WRITE, SEND; memory registered as it is sent", []),
    ("WRITE, SEND; all memory registered first", ["rdma-pin-all"]),
]
# Adds 1 to each word from 0x20000 to 0x7ffff, again and again: 96 pages that are never clean.
GUEST = bytes([
    0xb8, 0x00, 0x20,  # again: mov ax, 0x2000
    0x8e, 0xd8,        # segment: mov ds, ax
    0x31, 0xff,        # xor di, di
    0xff, 0x05,        # word: inc word [di]
    0x83, 0xc7, 0x02,  # add di, 2
    0x75, 0xf9,        # jnz word
    0x80, 0xc4, 0x10,  # add ah, 0x10
    0x80, 0xfc, 0x80,  # cmp ah, 0x80
    0x72, 0xed,        # jb segment
    0xeb, 0xe8,        # jmp again
])


class Failed(Exception):
    pass


def option_rom():
    """0x55 0xaa, the size in units of 512, code; all bytes add up to 0."""
    rom = bytearray(512)
    rom[:3] = 0x55, 0xaa, 1
    rom[3:3 + len(GUEST)] = GUEST
    rom[-1] = -sum(rom) & 0xff
    return bytes(rom)


class Machine:
    """A qemu, and the socket for its commands (QMP)."""

    def __init__(self, oche, folder, name, address, more):
        self.folder, self.name, self.lines = folder, name, None
        self.output = open(f"{folder}/{name}.txt", "w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(
            [oche, "exec", "--device", address, "--stats", "--", "qemu-system-x86_64", "-M", "pc",
             "-accel", "tcg", "-m", f"size={MEMORY >> 20}M", "-nodefaults", "-display", "none",
             "-option-rom", f"{folder}/rom", "-qmp",
             f"unix:{folder}/{name}.qmp,server=on,wait=off", *more],
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
            start_new_session=True)

    def said(self):
        self.output.seek(0)
        return self.output.read()

    def open(self):
        end = time.monotonic() + LIMIT
        self.control = socket.socket(socket.AF_UNIX)
        self.control.settimeout(LIMIT)
        while True:
            try:
                self.control.connect(f"{self.folder}/{self.name}.qmp")
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise Failed(f"qemu does not answer: {self.said()}") from None
                time.sleep(0.05)
        self.lines = self.control.makefile("rw", encoding="utf-8")
        self.lines.readline()  # a greeting
        self.tell("qmp_capabilities")

    def tell(self, what, **arguments):
        self.lines.write(json.dumps({"execute": what, "arguments": arguments}) + "\n")
        self.lines.flush()
        for line in self.lines:
            answer = json.loads(line)
            if "error" in answer:
                raise Failed(f"{what}: {answer['error']}: {self.said()}")
            if "return" in answer:  # other messages of qemu are events
                return answer["return"]
        raise Failed(f"qemu has ended at {what}: {self.said()}")

    def wait(self, what, until):
        end = time.monotonic() + LIMIT
        while not until():
            if time.monotonic() > end:
                raise Failed(f"{what} after {LIMIT} s: {self.said()}")
            time.sleep(0.05)

    def byte_of_guest(self):
        """Returns the counter of how often the guest has written all of its memory."""
        file = f"{self.folder}/{self.name}.word"
        self.tell("pmemsave", val=0x20000, size=2, filename=file)
        with open(file, "rb") as saved:
            return saved.read()

    def quit(self):
        self.tell("quit")
        try:
            status = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} does not end: {self.said()}") from None
        if status != 0:
            raise Failed(f"{self.name} ends with status {status}: {self.said()}")
        return self.said()

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.output.close()


def works(machine):
    """True once the guest has changed its memory twice."""
    seen = {machine.byte_of_guest()}

    def changed():
        seen.add(machine.byte_of_guest())
        return len(seen) > 2
    machine.wait("the guest does not work", changed)


def move(source, target, capabilities):
    """Returns qemu's answer about the migration."""
    for machine in (source, target):
        for name in capabilities:
            machine.tell("migrate-set-capabilities",
                         capabilities=[{"capability": name, "state": True}])
    # The least time that a busy machine needs for the last dirty memory, while the guest is paused.
    source.tell("migrate-set-parameters", **{"max-bandwidth": 10 ** 10, "downtime-limit": 5000})
    works(source)
    source.tell("migrate", uri=f"rdma:{THERE}:4444")
    source.wait("not moved", lambda: source.tell("query-migrate").get("status") in (
        "completed", "failed", "cancelled"))
    moved = source.tell("query-migrate")
    if moved["status"] != "completed":
        raise Failed(f"{moved}: {source.said()} {target.said()}")
    target.wait("not there", lambda: target.tell("query-status")["status"] == "paused")
    return moved["ram"]


def run(oche, capabilities, folder):
    with open(f"{folder}/rom", "wb") as rom, open(f"{folder}/filled", "wb") as filled:
        rom.write(option_rom())
        filled.write(os.urandom(FILLED))
    # -S: the target's guest is paused on arrival, so that memory can be compared.
    machines = [Machine(oche, folder, "target", THERE, ["-S", "-incoming", f"rdma:{THERE}:4444"]),
                Machine(oche, folder, "source", HERE, [
                    "-device", f"loader,file={folder}/filled,addr={FILLED_AT:#x},force-raw=on"])]
    target, source = machines
    try:
        for machine in machines:
            machine.open()
        ram = move(source, target, capabilities)
        for machine in machines:
            machine.tell("pmemsave", val=0, size=MEMORY, filename=f"{folder}/{machine.name}.memory")
        if not filecmp.cmp(f"{folder}/source.memory", f"{folder}/target.memory", shallow=False):
            raise Failed("the memory of the two differs")
        with open(f"{folder}/target.memory", "rb") as memory, \
                open(f"{folder}/filled", "rb") as filled:
            memory.seek(FILLED_AT)
            if memory.read(FILLED) != filled.read():
                raise Failed("the target's memory is not what was loaded")
        target.tell("cont")
        works(target)
        for machine in machines:
            said = machine.quit()
        sent = sum(int(count) for count in re.findall(r": sent (\d+) packets", said))
        if sent < FILLED // 4096:
            raise Failed(f"only {sent} packets were sent: {said}")
        return f"{ram['transferred'] / 1e6:.0f} MB in {ram['dirty-sync-count']} rounds"
    finally:
        for machine in machines:
            machine.end()


def shown(capabilities):
    on = "".join(f"{name} on, " for name in capabilities)
    return f"{on}migrate rdma:ADDRESS:4444"


def main(arguments):
    table, rows = "--table" in arguments, "--rows" in arguments
    failed = 0
    if not rows:
        pairs.need("qemu-system-x86_64")
    if table or rows:
        print("| program | what | commands of its monitor | |\n|---|---|---|---|", flush=True)
    for what, capabilities in WAYS:
        said, measured = "" if rows else "works", ""
        try:
            if not rows:
                with tempfile.TemporaryDirectory() as folder:
                    measured = run(os.path.abspath(arguments[0]), capabilities, folder)
        except Failed as error:
            failed += 1
            said = "does not work"
            print(f"{shown(capabilities)}: {error}", file=sys.stderr, flush=True)
        print(f"| qemu-system-x86_64 | {what} | `{shown(capabilities)}` | {said} |"
              if table or rows else f"{shown(capabilities)}: {said}: {measured}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
