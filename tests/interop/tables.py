#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/clients.md: runs everything that it tells of.

usage: tables.py BUILD >docs/clients.md
       tables.py BUILD --write SECTION…
       tables.py --check

--write runs only these sections' scripts, and puts what comes out into docs/clients.md; a section
is named by the first word of its row in SECTIONS. --check runs no client: the page must have the
texts of this file, and the rows of those scripts that can list them (--rows). Where one of these
needs a program that is not installed, that is said, and the status is 77 if all else is right.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

HEAD = """# Clients

Unmodified programs of Debian 12's ibverbs-utils and perftest (rdma-core 44, perftest 4.5) on this
project's verbs library: `ibv_devices`, `ibv_devinfo`, and the pairs below, each side as
`oche exec --device ADDRESS -- COMMAND`, the client with the server's name behind it. A pair works
if both sides end with status 0 and their output shows that data moved, and, where the program can
tell (pingpong with `-c`), that it is the data that was sent.

This file is made by `tests/interop/tables.py build`; `make check` runs the same.
"""

PAIRS = """
## Each client

On loopback, with a capture at each side: tshark finds no malformed packet and has no remark, and
`oche wire` finds that each packet's ICRC is right and that its fields, encoded again, are the same
bytes.
"""

BY_ADDRESS = """
## By address

rdmacm-utils, perftest with `-R`, qperf, fio 3.33 (`ioengine=rdma`) and a program of ours on librpma
1.2 (`tests/interop/rpma.c`), connected by our librdmacm (`tests/interop/rdma_cm.py`): both sides on
one address, with a capture at each side, as above; the connection manager's messages are in it. The
same script has several servers on one address, one of which is killed, and IPv6. fio asks for no
retries where a receive is not posted yet, so with `--verb=send` its server needs `--iodepth` of as
many messages as there are; and once a transfer has failed, fio's client waits for ever. By hand, on
2026-11-28, as Debian 12 has no valkey: valkey 8.0.1 with its RDMA module and its own test, SET, GET
and a save meanwhile, in one and in four threads (`tests/interop/valkey.py`).
"""

SOCKETS = """
## Sockets

rdmacm-utils' programs for rsocket, and TCP programs with `oche exec --sockets`
(`tests/interop/rsockets.py`), both sides on one address. The device's counters show that the data
went over RDMA, or, where one side has none, by TCP; captures of rstream and riostream are judged as
above. `tests/interop/rsockets_calls.c` has the calls one by one, `rsockets_hostile.c` a peer that
does not keep to the protocol. PyTorch 1.13 (Debian's python3-torch; `tests/interop/pytorch.py`, in
`make check-full`) has all its connections by RDMA. By hand, on 2026-11-26: redis-server with
redis-benchmark, nginx (`master_process off`) with curl, netcat.
"""

ISER = """
## iSER

The target is tgt 1.0.85 (Debian's tgt); initiators are libiscsi 1.19 (libiscsi-bin) and qemu 7.2's
driver over it (qemu-utils, qemu-block-extra). Both sides are on one address
(`tests/interop/iser.py`). TARGET is the target's name, NAME one that the target knows of an
initiator. Blocks are written, read back and compared by the initiator, and once more in the file
behind the target. `oche wire` finds each packet of the initiator right, and READ and WRITE among
them.

tgtd's iSER accepts an initiator only if both its address and its name are bound; over TCP one of
the two is enough. Without the name the login ends with "Target not found", as in the last row,
whatever the adapter:

```sh
tgtadm --lld iser --mode target --op bind --tid 1 --initiator-address ALL
tgtadm --lld iser --mode target --op bind --tid 1 --initiator-name NAME
```

libiscsi's iSER has limits of its own: it crashes with more than 256 commands at a time, fails with
more than 256 KiB in a command, and reports as many bytes as were asked for. So of the 212 tests of
`iscsi-test-cu` that are not about asynchronous commands 194 pass by iSER, and 204 by TCP
(2026-11-28).
"""

MIGRATION = """
## A virtual machine that moves

qemu 7.2 (Debian's qemu-system-x86, without KVM) moves a running guest from one address to another
(`tests/interop/migration.py`). The guest writes its memory all the time. After the move the memory
of both sides is the same, byte for byte, and the guest runs on.
"""

UCX_TESTS = """
## All tests of ucx_perftest

Those that UCX 1.13's `ucx_perftest -h` lists (`tests/interop/ucx_tests.py`, in `make check-full`).
"3 work": data by `short`, `bcopy` and `zcopy`; `get` has no `short`. "2 work": 8 bytes and 64 KiB.
"not in UCX": UCX says that the transport has no such operation, as InfiniBand has no atomic swap,
and a datagram no WRITE, READ or atomic.
"""

SCHEMES = """
## Each scheme

Both sides have the same scheme; the counters of `OCHE_STATS` must show it at work, and for Dart
that ACKs carried shares.
"""

ROGUE = """
## With RoGUE

`oche exec --rogue` at both sides ([rogue.md](rogue.md)): each connection has a shadow queue pair,
and the library's counters show that it posted the work.
"""

PATHS = """
## Paths

One host over IPv6; two hosts (network namespaces) with a veth pair between them, whose MTU makes a
path MTU of 1024 or 4096.
"""

FAULTS = """
## Bad networks

Two hosts with a link between them that loses, duplicates, reorders or damages RoCEv2 packets at
random. Of a damaged packet one bit is flipped and the UDP checksum is removed, so that only the
ICRC shows it. The clients are `ibv_rc_pingpong` and `ibv_srq_pingpong` (with `-c`), `ib_send_lat`,
`ib_atomic_bw`, and but for go_back_0 `ib_write_bw` and `ib_read_bw`; with go_back_0 a message of 16
packets may not come through with the seven retries that clients have. A pingpong that has
everything ends at once: if its last ACK is lost, the other side ends with "retry exceeded" though
all data was right, on any NIC.
"""

MARKS = """
## Marks

`ib_write_bw` over a link with 2 Gbit/s that marks packets CE when they have to wait: DCQCN gets
CNPs and slows down. Without marks it does not slow down, nor do other schemes.
"""

KILLED = """
## A peer that is killed

SIGKILL in the middle of a transfer; afterwards no names, ports or files may be left. A peer is
given up after 8 timeouts (0.54 s with `-u 14`, 2.15 s with `-u 16`), or up to four times as late
where that is less than 2 s ([wire.md](wire.md#loss-recovery)).
"""

CEPH = """
## Ceph

Ceph 16.2 (Debian's ceph-mon, ceph-osd, ceph-common), one monitor and three OSDs with their objects
in memory, every connection by verbs (`ms_type = async+rdma`, with `oche exec --files`), by
`tests/interop/ceph.py`, which has the whole configuration and runs in `make check-full`: an object
of 20 MB is put, got and compared, then `rados bench` writes and reads. Ceph takes 32,768 buffers of
128 KB a process unless `ms_async_rdma_receive_buffers` says less, and wants
`ms_async_rdma_roce_ver = 2`. Figures are of a machine that was busy with other work.
"""

PYVERBS = """
## rdma-core's own tests

Those that Debian's python3-pyverbs installs, some 270, most of them for devices of one vendor, run
with the library by `tests/interop/pyverbs.py`: which ones pass, and what the others would need.
Those of rdma_cm look for the device's interface in sysfs, where only the kernel can make files;
the script tells them.
"""

LIBFABRIC = """
## libfabric

libfabric 1.17 (Debian's libfabric-bin) between two network namespaces with a veth pair, as its
verbs provider leaves out devices of loopback addresses (`tests/interop/libfabric.py`; each side
with `--device` and its own address, the client with the server's behind it): connections by rdma_cm
(`msg`), datagrams, and reliable datagrams over either. Data is checked (`-c`), and so is each
side's capture, as above. PROGRAM is that of the next section.
"""

APPLICATIONS = """
## What is built on verbs

UCX 1.13, Open MPI 4.1 over it (with mpi4py 3.1, and with HPCC 1.5), MPICH 4.0 over it, libfabric
1.17, uDAPL 2.1 and Gloo (of 2022-05-18), unmodified from Debian's packages ucx-utils, openmpi-bin,
python3-mpi4py, hpcc, mpich, libfabric-bin, dapl2-utils and libgloo-dev; then programs that ask for
something that is not there: they must get an error and end by themselves, with a status other than
0, and a line of oche's must say what is missing (qperf's server has it). "What" is what goes over
the wire. [verbs.md](verbs.md) says why `--files` is needed. Two processes of ucx_perftest, io_demo,
fi_pingpong, dtest and qperf, the client with the server's name behind it. PROGRAM is in
`tests/interop/applications.py`: two- and one-sided operations of MPI, with all data checked;
mpi_data (`tests/interop/mpi_data.c`, compiled by mpicc.mpich) does the same, gloo_data
(`tests/interop/gloo_data.cc`) allreduce and broadcast by Gloo's transport `ibverbs`. FILE names the
device `oche_lo_v4`.

Open MPI's `openib` is there in Debian's package, but built without rdma_cm: it knows one way to
connect, `udcm`, which is for InfiniBand alone ("CPCs attempted: udcm"), so it cannot run over any
RoCE adapter.
"""

SIZES = """
## Sizes

`tests/interop/verbs_sizes.c`, by the same interface as the clients: path MTU 256 to 4096, sizes
from 0 to a mebibyte and around each power of two of packets, SEND, WRITE and READ over RC, SEND and
WRITE over UC, SEND over UD, every byte compared; and `ibv_modify_qp_rate_limit` at 50 Mbit/s,
200 Mbit/s and 1 Gbit/s, within 3 % on a machine that is not busy.

## With sanitizers

`make check` runs some of the pairs and all of rdma-core's tests on a library with AddressSanitizer
and UndefinedBehaviorSanitizer as well.

## Dart's shares

`tests/interop/verbs_dart.c`: two devices write to a third one, each with a link of its own. Alone,
one has all of the link; together each has half of the receiver's, as the ACKs say.
"""


# What a section is called, its text, and what prints its table: a script and its arguments, where
# {oche} and so on are files of the build. The tables of several scripts are one.
SECTIONS = [
    ("clients", HEAD + PAIRS, ["clients {oche} --table"]),
    ("rdma_cm", BY_ADDRESS, ["rdma_cm {oche} --table --rpma={rpma}"]),
    ("iser", ISER, ["iser {oche} --table"]),
    ("migration", MIGRATION, ["migration {oche} --table"]),
    ("rsockets", SOCKETS, ["rsockets {oche} --table", "pytorch {oche} --table"]),
    ("schemes", SCHEMES, ["schemes {oche} --table"]),
    ("rogue", ROGUE, ["rogue_clients {oche} --table"]),
    ("paths", PATHS, ["paths {oche} {path} --table veth"]),
    ("faults", FAULTS, ["paths {oche} {path} --table faults"]),
    ("marks", MARKS, ["paths {oche} {path} --table marks"]),
    ("killed", KILLED, ["killed {oche}"]),
    ("libfabric", LIBFABRIC, ["libfabric {oche} --table"]),
    ("applications", APPLICATIONS, ["applications {oche} --table"]),
    ("ucx_tests", UCX_TESTS, ["ucx_tests {oche} --table"]),
    ("ceph", CEPH, ["ceph {oche} --table"]),
    ("pyverbs", PYVERBS, ["pyverbs {build} --table"]),
    ("sizes", SIZES, []),
]
WITH_ROWS = ("iser", "migration", "rsockets", "pytorch", "applications", "ucx_tests")
PAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "clients.md")


def run(command, build):
    """Returns the table that a script prints."""
    script, *arguments = command.format(oche=f"{build}/oche", build=build,
                                        path=f"{build}/tests/interop/path",
                                        rpma=f"{build}/tests/interop/rpma").split()
    sys.stdout.flush()
    done = subprocess.run([sys.executable, f"{HERE}/{script}.py", *arguments], text=True,
                          stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"tables.py: {script} ends with status {done.returncode}")
    lines = done.stdout.strip("\n").split("\n")
    if script == "killed":
        return [f"- {line}" for line in lines]
    return [line for line in lines if line.startswith("|") or script == "pyverbs"]


def without_head(lines):
    return lines[2:]


def section(text, commands, build):
    """A section of the page, with what its scripts print."""
    lines = []
    for command in commands:
        more = run(command, build)
        lines += more if not lines else without_head(more)
    return text + ("\n" + "\n".join(lines) + "\n" if lines else "")


def write(names, build):
    known = {name: (text, commands) for name, text, commands in SECTIONS}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"tables.py: what is {unknown[0]}? Sections are {', '.join(known)}")
    for name in names:
        text, commands = known[name]
        made = section(text, commands, build)
        title = re.search(r"(?m)^## .*$", made)[0]
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        # A section ends where the next one begins; a new one comes before the one after it here.
        parts = re.split(r"(?m)(?=^\n## )", page)
        at = next((i for i, part in enumerate(parts) if part.startswith(f"\n{title}\n")), None)
        made = made[made.index(f"\n{title}\n"):]
        if at is None:
            after = [re.search(r"(?m)^## .*$", text)[0] for _, text, _ in
                     SECTIONS[[row[0] for row in SECTIONS].index(name) + 1:]]
            at = next((i for i, part in enumerate(parts)
                       if any(part.startswith(f"\n{one}\n") for one in after)), len(parts))
            parts.insert(at, made)
        else:
            parts[at] = made
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write("".join(parts))
        print(f"{name}: written")


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def differences(name, expected, found):
    """The rows of the page against those that the scripts list, whose outcomes are empty."""
    if len(expected) != len(found):
        yield f"{name} has {len(expected)} rows and the page {len(found)}"
    for mine, its in zip(map(cells, expected), map(cells, found)):
        if len(mine) != len(its) or any(a not in ("", b) for a, b in zip(mine, its)):
            yield f"{name}: {' | '.join(mine)}: the page has {' | '.join(its)}"
            return


def check():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    wrong, missing = [], []
    for name, text, commands in SECTIONS:
        at = page.find(text)
        if at < 0:
            wrong.append(f"the text of {name} is not that of tables.py")
            continue
        if not commands or any(command.split()[0] not in WITH_ROWS for command in commands):
            continue
        rows = []
        for command in commands:
            script = command.split()[0]
            done = subprocess.run([sys.executable, f"{HERE}/{script}.py", "oche", "--rows"],
                                  capture_output=True, text=True, check=False)
            if done.returncode not in (0, 77):
                sys.exit(f"tables.py: {script} --rows ends with {done.returncode}: {done.stderr}")
            if done.returncode == 77:
                missing.append(f"{script}: {done.stdout.strip()}")
            rows += without_head(done.stdout.strip("\n").split("\n"))
        if not any(one.startswith(command.split()[0] + ":") for one in missing
                   for command in commands):
            found = re.match(r"\n((\|.*\n)*)", page[at + len(text):])[1].strip("\n").split("\n")
            wrong += differences(name, rows, without_head(found))
    for what in wrong:
        print("docs/clients.md:", what)
    if wrong:
        print("tests/interop/tables.py BUILD --write SECTION mends it")
        return 1
    for what in missing:
        print("not looked at:", what)
    return 77 if missing else 0


def main(arguments):
    if arguments == ["--check"]:
        return check()
    if len(arguments) > 2 and arguments[1] == "--write":
        return write(arguments[2:], arguments[0])
    if len(arguments) != 1:
        sys.exit(__doc__)
    print("".join(section(text, commands, arguments[0]) for _, text, commands in SECTIONS), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
