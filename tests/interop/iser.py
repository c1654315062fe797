#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs iSER, unmodified: Debian's tgtd as the target, libiscsi's programs and qemu's iSCSI driver
as initiators, on one address. Blocks are written, read back and compared, by the initiator, and in
the file behind the target.

usage: iser.py OCHE [--table | --rows] [NAME…]

NAME: only initiators with it in their command; without, and without OCHE_LONG=yes, not libiscsi's
own tests, which take seconds. --table prints the table of docs/clients.md, --rows
the same without running anything. Programs that are not installed are left out and named. Status
77: there is no tgtd, or none of the initiators.

tgtd's iSER lets a login through only if the initiator is on both of the target's lists, that of
addresses and that of names; over TCP one of them is enough (usr/iscsi/iser_text.c and iscsid.c of
tgt 1.0.85). Else the answer is "target not found", which one row provokes.
"""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import applications
import pairs
from applications import Application, Failed

TARGET, OWN = "iqn.2026-11.example:disk", "iqn.2026-11.example:own"
SIZE = 16 << 20
# Place, length, byte. libiscsi's initiator crashes with more than 256 KiB.
BLOCKS = [(1 << 20, 256 << 10, 0x5a), (2 << 20, 64 << 10, 0x11), (3 << 20, 512, 0xa7)]
# Words of commands that the table shows in place of values, like ADDRESS elsewhere.
URL, DISK = "iser://{address}/" + TARGET + "/1", (
    "driver=raw,file.driver=iscsi,file.transport=iser,file.portal={address},file.target=" + TARGET +
    ",file.lun=1,file.initiator-name=" + OWN)
ALL_ASSERTS = r"(?m)^ +asserts +(\d+) +\1 +\1 +0 "


def io(words):
    return " ".join(f"-c '{words} -P {byte:#x} {at} {size}'" for at, size, byte in BLOCKS)


ROWS = [
    Application("SEND, WRITE", f"iscsi-inq -i {OWN} {URL}",
                r"(?s)DIRECT_ACCESS.*Vendor:IET.*Product:VIRTUAL-DISK", wire="RC WRITE ONLY"),
    Application("SEND, WRITE", f"iscsi-readcapacity16 -i {OWN} {URL}",
                f"Total size:{SIZE}\\b", wire="RC WRITE ONLY"),
    Application("SEND, WRITE, READ; data checked",
                f"qemu-io --image-opts {DISK} {io('write')} {io('read')}",
                r"(?s)(wrote (\d+)/\2 bytes.*){3}(read (\d+)/\4 bytes.*){3}",
                wire="RC READ REQUEST"),
    Application("SEND, WRITE, READ; data checked",
                f"iscsi-test-cu -i {OWN} --dataloss -t SCSI.OrWrite {URL}", ALL_ASSERTS,
                wire="RC READ REQUEST"),
    Application("SEND, WRITE, READ; data checked",
                f"iscsi-test-cu -i {OWN} --dataloss -t SCSI.WriteSame10 {URL}", ALL_ASSERTS,
                wire="RC READ REQUEST"),
    Application("a name that is not on the target's list", f"iscsi-inq {URL}",
                r"Target not found\(515\)", refuses=True, wire="RC SEND ONLY"),
]
DAEMON = Application("", "tgtd", "")


def shown(row):
    """With the blocks' places left out, which are in this file."""
    words = row.command
    for what, by in ((f" {io('write')} {io('read')}", " -c 'write …' -c 'read …'"),
                     ("{address}", "ADDRESS"), (TARGET, "TARGET"), (OWN, "NAME")):
        words = words.replace(what, by)
    return f"oche exec -- {words}"


class Target:
    """tgtd with one disk, which is a file."""

    def __init__(self, oche, folder):
        self.file = os.path.join(folder, "disk")
        with open(self.file, "wb") as file:
            file.truncate(SIZE)
        # libiscsi counts on malloc's memory to be zero, so none that meson fills for tests.
        os.environ.pop("MALLOC_PERTURB_", None)
        # The control socket is of this run alone; 128 MB is the least that it takes for buffers.
        os.environ["TGT_IPC_SOCKET"] = os.path.join(folder, "control")
        portal = f"portal={applications.ADDRESS}:{applications.free_port()}"  # for TCP alone
        self.side = applications.Side(
            oche, DAEMON, ["tgtd", "-f", "--iscsi", portal, "--iser", "pool_sz_mb=128"], folder)
        self.side.wait(lambda: self.side.ended() or
                       self.tell("--mode sys --op show", False) is not None,
                       "tgtd does not answer")
        for words in (f"--mode target --op new --tid 1 -T {TARGET}",
                      f"--mode logicalunit --op new --tid 1 --lun 1 -b {self.file}",
                      "--mode target --op bind --tid 1 --initiator-address ALL",
                      f"--mode target --op bind --tid 1 --initiator-name {OWN}"):
            self.tell("--lld iser " + words)

    def tell(self, words, must=True):
        """Returns the output of tgtadm, or None if it failed and `must` is false."""
        done = subprocess.run(["tgtadm", *words.split()], capture_output=True, text=True,
                              check=False, timeout=applications.LIMIT)
        if must and done.returncode != 0:
            raise Failed(f"tgtadm {words}: {done.stdout}{done.stderr} {self.side.said()}")
        return done.stdout if done.returncode == 0 else None

    def stop(self):
        """Ends connections, then the daemon, which must return status 0. The daemon crashes if a
        target that has a connection of iSER is removed by --force."""
        self.side.wait(lambda: "I_T nexus:" not in self.tell("--lld iser --mode target --op show"),
                       "a connection stays behind")
        self.tell("--lld iser --mode target --op delete --tid 1")
        self.tell("--mode sys --op delete")
        self.side.wait(self.side.ended, "tgtd is not done")
        if self.side.process.returncode != 0:
            raise Failed(f"tgtd's status is {self.side.process.returncode}: {self.side.said()}")

    def holds(self, blocks):
        with open(self.file, "rb") as file:
            for at, size, byte in blocks:
                file.seek(at)
                if file.read(size) != bytes([byte]) * size:
                    raise Failed(f"the file behind the target is wrong at {at}")


def run(oche, row, folder, target):
    capture = os.path.join(folder, "initiator.pcap")
    words = shlex.split(row.command.format(address=applications.ADDRESS))
    side = applications.Side(oche, row, words, folder, capture)
    try:
        side.wait(side.ended, "not done")
        applications.judge(row, side)
        shown_packets = subprocess.run([oche, "wire", capture], capture_output=True, text=True,
                                       check=False)
        if shown_packets.returncode != 0 or row.wire not in shown_packets.stdout:
            raise Failed(f"no {row.wire} among its packets, or a wrong one: "
                         f"{shown_packets.stdout[-1000:]}")
        if row.program == "qemu-io":
            target.holds(BLOCKS)
    finally:
        side.end()


def installed(row):
    if shutil.which(row.program) is None:
        return False
    return row.program != "qemu-io" or "iscsi" in subprocess.run(
        ["qemu-img", "--help"], capture_output=True, text=True, check=False).stdout.split()


def main(arguments):
    oche = os.path.abspath(arguments[0])
    names = [name for name in arguments[1:] if not name.startswith("--")]
    table, only_rows = "--table" in arguments, "--rows" in arguments
    rows = [row for row in ROWS if any(name in row.command for name in names) or not names and
            (table or only_rows or pairs.LONG or row.program != "iscsi-test-cu")]
    if table or only_rows:
        print("| initiator | what | command | |\n|---|---|---|---|", flush=True)
    if only_rows:
        for row in rows:
            print(f"| {row.program} | {row.what} | `{shown(row)}` | |")
        return 0
    pairs.need("tgtd", "tgtadm")
    missing = sorted({row.program for row in rows if not installed(row)})
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
    rows = [row for row in rows if row.program not in missing]
    if not rows:
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        target = Target(oche, folder)
        try:
            for row in rows:
                started, said = time.monotonic(), "refused" if row.refuses else "works"
                try:
                    run(oche, row, folder, target)
                except Failed as error:
                    failed += 1
                    said = "does not work"
                    print(f"{shown(row)}: {error}", file=sys.stderr, flush=True)
                took = "" if table else f" ({time.monotonic() - started:.1f} s)"
                print(f"| {row.program} | {row.what} | `{shown(row)}` | {said} |" if table else
                      f"{shown(row)}: {said}{took}", flush=True)
            target.stop()
        except Failed as error:
            failed += 1
            print(error, file=sys.stderr, flush=True)
        finally:
            target.side.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
