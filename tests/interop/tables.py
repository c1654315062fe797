#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/clients.md: runs all programs of the page.

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

Which unmodified programs were run on this project's verbs library, with results and known limits.
[verbs.md](verbs.md) says how to run your own programs.

Both sides run as `oche exec --device ADDRESS -- COMMAND`; the client's command also names the
server. A pair "works" if both sides end with status 0 and their output shows that data was
transferred. If the program checks the data, the data must be right, too. Each section names its
script, which says more. `tests/interop/tables.py build` makes this page.
"""

PAIRS = """
## Each client

ibverbs-utils (rdma-core 44) and perftest 4.5 of Debian 12 on loopback. Each side writes a capture.
tshark finds no fault in the captures. `oche wire` finds each ICRC right, and when it encodes the
decoded fields again, it gets the same bytes.
"""

BY_ADDRESS = """
## By address

rdmacm-utils, perftest with `-R`, qperf, fio 3.33 (`ioengine=rdma`) and librpma 1.2 connect by our
librdmacm (`tests/interop/rdma_cm.py`). Captures are checked as above. The script also tests IPv6,
several servers on one address, and a killed server.

- fio connects without retries. With `--verb=send`, fio's server posts only as many receives as its
  `--iodepth` says. So this number must be at least the number of messages. After a failed transfer
  fio's client waits for ever.
- valkey 8.0.1 with its RDMA module was run by hand on 2026-11-28 (`tests/interop/valkey.py`).
  valkey's own test, SET, GET and a save pass, with one thread and with four. Debian 12 does not
  have valkey.
"""

SOCKETS = """
## Sockets

rsocket programs of rdmacm-utils, and TCP programs with `oche exec --sockets`
(`tests/interop/rsockets.py`). The library's counters must show that connections use RDMA, or TCP if
one side has no RDMA.

- `tests/interop/rsockets_calls.c` tests single calls. `tests/interop/rsockets_hostile.c` is a peer
  that breaks the protocol.
- PyTorch 1.13 (`tests/interop/pytorch.py`) makes all its connections by RDMA.
- Tested by hand on 2026-11-26: redis-server with redis-benchmark, nginx (`master_process off`) with
  curl, netcat.
"""

ISER = """
## iSER

The target is tgt 1.0.85, the initiators are libiscsi 1.19 and qemu 7.2 (`tests/interop/iser.py`).
In the commands TARGET is the target's name, and NAME an initiator's name. The test compares blocks
after reading, and in the file behind the target. `oche wire` finds each packet right.

For iSER, tgtd needs both the address and the name of an initiator; over TCP the address or the name
is enough. Without the name the login ends with "Target not found" (last row), with any adapter:

```sh
tgtadm --lld iser --mode target --op bind --tid 1 --initiator-address ALL
tgtadm --lld iser --mode target --op bind --tid 1 --initiator-name NAME
```

libiscsi's iSER crashes with more than 256 commands at a time, and fails with more than 256 KiB in a
command. If a command transfers fewer bytes than requested, libiscsi still reports the requested
number. So 194 of the 212 synchronous tests of `iscsi-test-cu` pass by iSER, and 204 by TCP
(2026-11-28).
"""

MIGRATION = """
## A virtual machine that moves

qemu 7.2 without KVM moves a guest by RDMA while the guest writes its memory
(`tests/interop/migration.py`). Afterwards the memory is the same, and the guest continues.
"""

UCX_TESTS = """
## All tests of ucx_perftest

These are the tests of UCX 1.13 (`tests/interop/ucx_tests.py`, in `make check-full`). "3 work" means
that `short`, `bcopy` and `zcopy` work (`get` has no `short`). "2 work" means that 8 bytes and 64
KiB work. "not in UCX" means that UCX lacks the operation on this transport.
"""

SCHEMES = """
## Each scheme

Both sides use the same scheme. The device's counters must show that the scheme reacts. With Dart,
counters must show shares in ACKs.
"""

ROGUE = """
## With RoGUE

Both sides run under `oche exec --rogue` ([rogue.md](rogue.md)). Counters show that a shadow queue
pair posted the work.
"""

PATHS = """
## Paths

The pairs run on one host over IPv6, and on two hosts (network namespaces) with a path MTU of 1024
or 4096.
"""

FAULTS = """
## Bad networks

A link between two hosts loses, duplicates, reorders or damages RoCEv2 packets. In a damaged packet
one bit is flipped, and the UDP checksum is removed. The clients are `ibv_rc_pingpong` and
`ibv_srq_pingpong` (with `-c`), `ib_send_lat`, `ib_atomic_bw`, `ib_write_bw` and `ib_read_bw`.

- go_back_0 was not run with `ib_write_bw` and `ib_read_bw`, because a message of 16 packets may
  need more than the seven retries of these clients.
- A pingpong ends when it has received all messages. If the last ACK that it sent is lost, the other
  side reports "retry exceeded", with any NIC.
"""

MARKS = """
## Marks

`ib_write_bw` runs over a link of 2 Gbit/s that puts an ECN mark on each packet that had to wait.
With the marks DCQCN gets CNPs and slows down. DCQCN without marks, and other schemes, do not slow
down.
"""

KILLED = """
## A peer that is killed

One side gets SIGKILL during a transfer; no names, ports or files may remain. The other side gives
up after 8 timeouts (0.54 s with `-u 14`, 2.15 s with `-u 16`). If 8 timeouts are below 2 s, giving
up may take [up to four times as long](wire.md#loss-recovery).
"""

CEPH = """
## Ceph

Ceph 16.2, one monitor and three OSDs in memory, all connections by verbs (`ms_type = async+rdma`,
`oche exec --files`). `tests/interop/ceph.py` (`make check-full`) has the whole configuration. The
test puts, gets and compares 20 MB, then runs `rados bench`, on a busy machine. Ceph needs
`ms_async_rdma_roce_ver = 2`. Each process of Ceph takes 32,768 buffers of 128 KB, unless
`ms_async_rdma_receive_buffers` sets a smaller number.
"""

PYVERBS = """
## rdma-core's own tests

Debian's python3-pyverbs has some 270 tests, most of them for one vendor's devices
(`tests/interop/pyverbs.py`). The tests of rdma_cm look in sysfs for the name of the device's
interface. Only the kernel can write this name there, so the script gives the name to the tests.
"""

LIBFABRIC = """
## libfabric

libfabric 1.17 runs between two network namespaces, as its verbs provider ignores loopback
(`tests/interop/libfabric.py`). The rows have connections by rdma_cm (`msg`), datagrams, and
reliable datagrams over connections or over datagrams. Data (`-c`) and captures are checked. PROGRAM
is explained in the next section.
"""

APPLICATIONS = """
## What is built on verbs

Debian's UCX 1.13, Open MPI 4.1 over it (with mpi4py 3.1, and with HPCC 1.5), MPICH 4.0 over it,
libfabric 1.17, uDAPL 2.1 and Gloo (of 2022-05-18). The programs at the end of the table need
features that are missing here. These programs must end with an error, and a line from oche must
name the feature (for qperf, in the server's output).

Column "what" has the operations on the wire. [verbs.md](verbs.md#files-of-a-device) says why
`--files` is needed. FILE is a file that names the device `oche_lo_v4`. Three programs check all
data:

- PROGRAM (`tests/interop/applications.py`) and mpi_data (`tests/interop/mpi_data.c`) use two- and
  one-sided MPI.
- gloo_data (`tests/interop/gloo_data.cc`) uses allreduce and broadcast by Gloo's transport
  `ibverbs`.

Open MPI's `openib` in Debian connects only by `udcm`, which is for InfiniBand ("CPCs attempted:
udcm"). So `openib` runs over no RoCE adapter.
"""

LOSSES = """
## With losses

Other projects' tests and programs run twice: as they are, and with `--link-out=loss=0.1%` on both
sides, so that each direction loses a packet of a thousand (`tests/interop/with_losses.py`). The
scripts are those of the other sections. To repeat it, all or one project, and with another link:

```sh
python3 tests/interop/with_losses.py build
python3 tests/interop/with_losses.py build --link=loss=1% 'Open MPI'
```

Connections repeat what is lost, so all of them work.
Datagrams (UD) do not:

- A test of pyverbs sends each datagram once, and fails if it is lost.
- `ibv_ud_pingpong`, `ib_send_lat -c UD` and `ib_send_bw -c UD` wait for ever for a lost datagram.
- qemu's migration failed in one of 16 runs: if the ACK of its last message is lost, the peer's
  disconnection overtakes the completion, and qemu gives up.

Gloo's own tests (commit 70dc360, transport `ibverbs`, by hand on 2026-11-30, one process for each
test) need three changes of Gloo, below. Then 1,122 of 1,134 pass, and with losses 1,114. Not
run are 35 tests that receive from any of several ranks, which Gloo's ibverbs does not do.

**Errors of oche that this found,** all mended:

- A message could fail with "local protection error" if its memory was unregistered right after it
  was posted, as Gloo does. Now it leaves first, as with an adapter.
- `ibv_destroy_qp` crashed if a message had just arrived for a receive whose buffer was freed
  already, as UCX does (`ucx_perftest`, one of 76 runs with losses).
- A program that loaded a library while it ended could wait for ever (rping, one of 100 connections
  that were refused).

**Errors of Gloo:**

- Its tests leave the index of the GID unset (`createDevice` in gloo/test/base_test.cc).
- `~Pair` holds the pair's lock while `ibv_destroy_cq` waits until all events are acknowledged. The
  thread that has taken an event waits for this lock (deadlock), or uses the pair when it is gone
  (crash). We let `~Pair` wait 20 ms before.
- `AllreduceBcube` changes memory that it still sends, if there are fewer elements than ranks. The
  sums are wrong then. We wait for the sends.
- Buffers are destroyed with pending sends, for which Gloo warns; most of the tests that still fail
  end so. Seven tests of `AbortSend` wait for a send that `ibverbs` does not count.
"""

SIZES = """
## Sizes

`tests/interop/verbs_sizes.c` sends messages of 0 bytes to a mebibyte, with sizes around each power
of two of packets, at path MTU 256 to 4096. Every byte is compared. The operations are SEND, WRITE
and READ on RC, SEND and WRITE on UC, and SEND on UD. On an idle machine, the rates that
`ibv_modify_qp_rate_limit` sets are kept within 3 % (50 Mbit/s, 200 Mbit/s and 1 Gbit/s).

## With sanitizers

`make check` also runs some pairs and all of rdma-core's tests with AddressSanitizer and
UndefinedBehaviorSanitizer.

## Dart's shares

In `tests/interop/verbs_dart.c` two devices write to a third one. Each device has its own link. If
only one device writes, its rate is that of its link. If both write, each gets half of the
receiver's link, as the shares in the ACKs say.
"""


# A section: its name, its text, and the scripts that print its table, with arguments. {oche} and so
# on are files of the build. The tables of several scripts become one.
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
    ("with_losses", LOSSES, ["with_losses {build} --table"]),
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
        # A section ends where the next one begins. A new one goes before the one that follows here.
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
    """Compares the rows of the page with the listed rows, which have empty outcomes."""
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
