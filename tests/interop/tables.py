#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/clients.md: runs everything that it tells of.

usage: tables.py BUILD >docs/clients.md
"""
import os
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
many messages as there are; and once a transfer has failed, fio's client waits for ever.
"""

SOCKETS = """
## Sockets

rdmacm-utils' programs for rsocket, and TCP programs with `oche exec --sockets`
(`tests/interop/rsockets.py`), both sides on one address. The device's counters show that the data
went over RDMA, or, where one side has none, by TCP; captures of rstream and riostream are judged as
above. `tests/interop/rsockets_calls.c` has the calls one by one, `rsockets_hostile.c` a peer that
does not keep to the protocol. By hand, on 2026-11-26: redis-server with redis-benchmark, nginx
(`master_process off`) with curl, netcat.
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

SIGKILL in the middle of a transfer; afterwards no names, ports or files may be left.
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

UCX 1.13, Open MPI 4.1 over it (with mpi4py 3.1), MPICH 4.0 over it, libfabric 1.17, uDAPL 2.1 and
Gloo (of 2022-05-18), unmodified from Debian's packages ucx-utils, openmpi-bin, python3-mpi4py,
mpich, libfabric-bin, dapl2-utils and libgloo-dev; then programs that ask for something that is not
there: they must get an error and end by themselves, with a status other than 0, and a line of
oche's must say what is missing (qperf's server has it). "What" is what goes over the wire.
[verbs.md](verbs.md) says why `--files` is needed. Two processes of ucx_perftest, io_demo,
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


def run(script, *arguments):
    sys.stdout.flush()
    done = subprocess.run([sys.executable, f"{HERE}/{script}.py", *arguments], text=True,
                          stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"tables.py: {script} ends with status {done.returncode}")
    return "\n" + done.stdout.strip("\n") + "\n"


def main(build):
    oche, path = build + "/oche", build + "/tests/interop/path"
    parts = [HEAD, PAIRS, run("clients", oche, "--table").replace(
        "ibv_devices, ibv_devinfo, a pair without options: works\n\n", "")]
    parts += [BY_ADDRESS, run("rdma_cm", oche, "--table", f"--rpma={build}/tests/interop/rpma")]
    parts += [SOCKETS, run("rsockets", oche, "--table")]
    parts += [SCHEMES, run("schemes", oche, "--table")]
    parts += [ROGUE, run("rogue_clients", oche, "--table")]
    parts += [PATHS, run("paths", oche, path, "--table", "veth")]
    parts += [FAULTS, run("paths", oche, path, "--table", "faults")]
    parts += [MARKS, run("paths", oche, path, "--table", "marks")]
    parts += [KILLED] + ["\n" + "".join(f"- {line}\n" for line in
                                        run("killed", oche).strip().split("\n"))]
    parts += [LIBFABRIC, run("libfabric", oche, "--table")]
    parts += [APPLICATIONS, run("applications", oche, "--table")]
    parts += [CEPH, run("ceph", oche, "--table")]
    parts += [PYVERBS, run("pyverbs", build, "--table"), SIZES]
    print("".join(parts), end="")


if __name__ == "__main__":
    main(sys.argv[1])
