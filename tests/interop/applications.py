#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs unmodified programs built on verbs on the verbs library: UCX, Open MPI, HPCC over it, MPICH,
libfabric, uDAPL, Gloo. And programs that need a missing feature: these must get an error and end
by themselves.

usage: applications.py OCHE [--table | --rows] [NAME…]

OCHE is the program, whose `exec` runs everything here. NAME: only those whose command has it;
without, and without OCHE_LONG=yes, not those of LONGER, which take long to start or to compile.
--table prints the table of docs/clients.md, --rows the same without running anything. Programs
that are not installed are left out and named. Status 77: none is installed.
"""
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pairs
import rdma_cm

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 90  # seconds for one of them; a loaded machine is slow
ADDRESS = f"127.{33 + os.getpid() // 250 % 200}.{os.getpid() % 250}.3"  # only for this run
RC, UD = "rc_verbs,ud_verbs", "ud_verbs"
MPI_PYTHON = "/usr/bin/python3"  # Debian's, which has mpi4py
# Selected by words of their commands: a ring of messages over RC (MPI_PROGRAM also sends these);
# Gloo, because g++ takes several seconds for its headers; HPCC, which computes.
LONGER = ("ringtest -n 65536 -l 100", "gloo_data", "hpcc")
# Two processes: messages of four sizes, a reduction, an exchange, one-sided; all data looked at.
MPI_PROGRAM = """\
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
left, right = (rank - 1) % size, (rank + 1) % size
pattern = lambda of, count: bytearray((of + i) % 251 for i in range(count))
for count in (1, 100, 10000, 1 << 20):
    got = bytearray(count)
    comm.Sendrecv(pattern(rank, count), right, 0, got, left, 0)
    assert got == pattern(left, count), count
assert comm.allreduce(rank + 1) == size * (size + 1) // 2
assert comm.alltoall([rank * size + i for i in range(size)]) == [
    i * size + rank for i in range(size)]
window = MPI.Win.Allocate(65536, 1, comm=comm)
window.Fence()
mine = pattern(rank, 65536)  # Put reads it until the fence
window.Put(mine, right)
window.Fence()
assert bytes(window.tomemory()) == bytes(pattern(left, 65536))
window.Free()
print("data right at", rank, flush=True)
"""


# Programs of ours that are compiled first: name, source file, and how to compile it.
COMPILED = {
    "mpi_data": ("mpi_data.c", [["mpicc.mpich", "-O1"]], []),
    "gloo_data": ("gloo_data.cc", [["g++", "-std=c++17"], ["clang++", "-std=c++17"]], ["-lgloo"]),
}
# HPCC's problem, a small one, for two processes. It knows a line by its number.
HPCC_PROBLEM = """\
title
title
HPL.out
6 (stdout)
1 problem
300 equations
1 size of blocks
32
0 mapping by rows
1 grid, of 1 by 2
1
2
16.0 threshold
1 panel factorization
2
1 stopping criterion
4
1 number of panels
2
1 recursive factorization
1
1 broadcast
1
1 depth
1
2 swaps
64 threshold of swaps
0 L1
0 U
1 equilibration
8 alignment
separator
0 further problems for PTRANS
300
0 further sizes of blocks
32
"""
# Each of its seven programs checks what it has computed.
HPCC_SAYS = (r"(?s)\A(?!.*FAILED)(.*Found 0 errors in \d+ locations \(passed\)){4}.*"
             r" 5 tests completed and passed residual checks.*"
             r" 0 tests completed and failed residual checks.*\d \.+ PASSED.*\nSuccess=1\n")
DAT_DEVICES = 'oche u2.0 nonthreadsafe default libdaploscm.so.2 dapl.2.0 "oche_lo_v4 1" ""\n'


TABLE_HEAD = "| application | what | command | |\n|---|---|---|---|"


class Failed(Exception):
    pass


class Application:
    """One row. server, client: what each side has behind the command, with {port}; no client: there
    is one process. says: what its output (the client's) must hold. refuses: it ends by itself with
    a status that is not 0. stays: it is ended once it has said that; server_stays: its server is.
    port: where its server always listens; dat: it reads DAT's list of devices; by_cm: its server
    listens by rdma_cm; more: variables of the environment. wire: what `oche wire` must show of the
    client's packets. report: a file that it writes where it runs, and which holds what it says.
    program: the one that matters, if the command starts with another.
    """

    def __init__(self, what, command, says, server="", client=None, tls=None, files=False,
                 refuses=False, stays=False, server_stays=False, port=None, dat=False,
                 by_cm=False, more="", wire=None, report=None, program=None):
        self.what, self.command, self.says = what, command, says
        self.server, self.client, self.tls, self.files = server, client, tls, files
        self.refuses, self.stays, self.server_stays = refuses, stays, server_stays
        self.port, self.dat, self.wire = port, dat, wire
        self.by_cm, self.more, self.report = by_cm, more, report
        self.program = program or command.split()[0]

    def shown(self):
        environment = f"UCX_TLS={self.tls} " if self.tls else ""
        environment += f"{self.more} " if self.more else ""
        environment += "DAT_OVERRIDE=FILE " if self.dat else ""
        files = "--files " if self.files else ""
        command = self.command.replace(MPI_PYTHON, "python3").replace("{program}", "PROGRAM")
        command = command.replace("{folder}/", "")
        return f"{environment}oche exec {files}-- {command}"

    def line(self, said):
        """Its row of the table."""
        program = self.program.replace("{folder}/", "")
        return f"| {program} | {self.what} | `{self.shown()}` | {said} |"


def ucx(what, test, options, tls):
    # -f: prints only the last line. Its last number is messages per second.
    return Application(what, f"ucx_perftest -f -w 100 -t {test} {options}",
                       r"(?m)^ *\d{3,} +([\d.]+ +){6}[1-9]", server="-p {port}",
                       client="-p {port} 127.0.0.1", tls=tls, files=True)


def uct(what, test, wire):
    """UCX's lower half, which uses the device's atomics. Its upper half needs atomics of other
    sizes."""
    return Application(what, f"ucx_perftest -f -w 100 -t {test} -d oche_lo_v4:1 -x rc_verbs -s 8 "
                       "-n 200", r"(?m)^ *\d{3,} +([\d.]+ +){6}[1-9]", server="-p {port}",
                       client="-p {port} 127.0.0.1", files=True, wire=wire)


MPIRUN = "mpirun --oversubscribe --mca pml"


def mpi(what, options, says, tls):
    return Application(what, f"{MPIRUN} ucx --mca osc ucx {options}", says, tls=tls + ",self",
                       files=True)


def mpich(what, tls):
    return Application(what, "mpiexec.hydra -n 3 {folder}/mpi_data", r"(?s)(data right at.*){3}",
                       tls=tls + ",self", files=True)


def raw(program, says):
    return Application("raw packets", f"{program} --server -E 00:00:00:00:00:01 -B "
                       "00:00:00:00:00:02", f"(?s)oche: raw packets and .*{says}", refuses=True)


WORK = [
    Application("its devices", "ucx_info -d",
                r"(?s)Memory domain: oche_lo_v4.*Transport: rc_verbs.*atomic_fadd: 64 bit.*"
                r"Transport: ud_verbs",
                files=True),
    ucx("WRITE, RC", "ucp_put_lat", "-s 8 -n 500", RC),
    ucx("WRITE, RC", "ucp_put_bw", "-s 65536 -n 500", RC),
    ucx("READ, RC", "ucp_get", "-s 65536 -n 200", RC),
    ucx("SEND, READ, RC", "tag_bw", "-s 1000000 -n 100", RC),
    ucx("SEND, RC", "ucp_am_lat", "-s 100 -n 500", RC),
    ucx("SEND, RC", "ucp_fadd", "-s 8 -n 200", RC),
    uct("atomic, RC", "fadd", "RC FETCH ADD"),
    uct("atomic, RC", "cswap", "RC COMPARE SWAP"),
    ucx("SEND, UD", "tag_bw", "-s 65536 -n 200", UD),
    ucx("SEND, UD", "stream_lat", "-s 100 -n 300", UD),
    Application("SEND, READ, RC; data checked",
                "io_demo -q -d 1000:100000", r"Client exit with status 'OK'", server="-p {port}",
                client="-p {port} -i 200 -o read,write {address}", tls=RC + ",tcp,self", files=True,
                server_stays=True),
    Application("SEND, READ, RC, by rdma_cm; data checked",
                "io_demo -q -d 1000:100000", r"Client exit with status 'OK'", server="-p {port}",
                client="-p {port} -i 200 -o read,write {address}", tls=RC + ",self", files=True,
                server_stays=True, by_cm=True, more="UCX_SOCKADDR_TLS_PRIORITY=rdmacm"),
    mpi("messages, RC", f"-np 2 {MPI_PYTHON} -m mpi4py.bench ringtest -n 65536 -l 100",
        r"time for 100 loops", RC),
    mpi("messages, one-sided, RC; data checked", f"-np 3 {MPI_PYTHON} {{program}}",
        r"(?s)(data right at.*){3}", RC),
    mpi("messages, one-sided, UD; data checked", f"-np 2 {MPI_PYTHON} {{program}}",
        r"(?s)(data right at.*){2}", UD),
    Application("seven benchmarks, RC; results checked", f"{MPIRUN} ucx --mca osc ucx -np 2 hpcc",
                HPCC_SAYS, tls=RC + ",self", files=True, program="hpcc", report="hpccoutf.txt"),
    Application("messages over libfabric, UD", f"{MPIRUN} cm --mca mtl ofi --mca "
                f"mtl_ofi_provider_include 'verbs;ofi_rxd' -np 2 {MPI_PYTHON} -m mpi4py.bench "
                "ringtest -n 65536 -l 20",
                r"time for 20 loops"),
    mpich("messages, one-sided, RC; data checked", RC),
    mpich("messages, one-sided, UD; data checked", UD),
    Application("WRITE, RC; data checked", "{folder}/gloo_data oche_lo_v4 3",
                r"(?s)(data right at.*){3}"),
    Application("its devices", "fi_info -p verbs",
                r"(?s)domain: oche_lo_v4-dgram.*protocol: FI_PROTO_RXD"),
    Application("SEND, UD; data checked", "fi_pingpong -p 'verbs;ofi_rxd' -e rdm -c -I 50 -S 10000",
                r"(?m)^\S+ +50 +=50 ", server="-B {port}", client="-P {port} 127.0.0.1"),
    Application("SEND, WRITE, READ, RC", "dtest -P oche -b 65536 -B 20",
                r"DAPL Test Complete. PASSED", client="-h 127.0.0.1", port=15828, dat=True),
    Application("asynchronous events", "ibv_asyncwatch", r"oche_lo_v4: async event FD \d",
                stays=True),
]
REFUSED = [
    Application("XRC", "ibv_xsrq_pingpong",
                r"(?s)oche: XRC is not supported.*Couldn't Open the XRC Domain 95", refuses=True),
    raw("raw_ethernet_bw", "Unable to create QP"),
    raw("raw_ethernet_lat", "Unable to create QP"),
    raw("raw_ethernet_fs_rate", "Unable to create QP"),
    Application("an address without a GID", "qperf", r"failed to modify QP to RTR",
                server="-lp {port}", client="-lp {port} -t 1 127.0.0.1 rc_bw", refuses=True,
                server_stays=True),
]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listened(port):
    """Without connecting, which the server would take for its client."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table, encoding="ascii") as rows:
            for row in rows:
                fields = row.split()
                if fields[1].endswith(f":{port:04X}") and fields[3] == "0A":
                    return True
    return False


class Side:
    """A process in a group of its own, so that processes that it starts end with it."""

    def __init__(self, oche, row, words, folder, capture=None):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("UCX_", "OMPI_", "FI_"))}
        if row.tls:
            environment["UCX_TLS"] = row.tls
        environment.update(one.split("=", 1) for one in row.more.split())
        if row.dat:
            environment["DAT_OVERRIDE"] = os.path.join(folder, "dat.conf")
        if row.command.startswith("mpirun ") and os.getuid() == 0:  # two variables allow this
            environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        files = ["--files"] if row.files else []
        files += ["--capture", capture] if capture else []
        self.output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.report = os.path.join(folder, row.report) if row.report else None
        self.process = subprocess.Popen(
            [oche, "exec", "--device", ADDRESS] + files + ["--"] + words, env=environment,
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
            cwd=folder if row.report else None, start_new_session=True)

    def said(self):
        self.output.seek(0)
        said = self.output.read()
        if self.report is not None and os.path.exists(self.report):
            with open(self.report, encoding="utf-8", errors="replace") as report:
                said += report.read()
        return said

    def wait(self, until, what):
        end = time.monotonic() + LIMIT
        while not until():
            if time.monotonic() > end:
                raise Failed(f"{what} after {LIMIT} s: {self.said()}")
            time.sleep(0.02)

    def ended(self):
        return self.process.poll() is not None

    def end(self):
        if not self.ended():
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.output.close()


def words_of(row, more, port, folder):
    program = os.path.join(folder, "program.py")
    return shlex.split(f"{row.command} {more}".format(port=port, program=program,
                                                      address=ADDRESS, folder=folder))


def judge(row, side):
    """Once it has ended, or has said what is to be heard."""
    status, said = side.process.poll(), side.said()
    if status is not None and status < 0:
        raise Failed(f"ended by signal {-status}: {said}")
    if "symbol lookup error" in said or "undefined symbol" in said:
        raise Failed(f"a symbol is missing: {said}")
    if status is not None and row.refuses == (status == 0):
        raise Failed(f"status {status}: {said}")
    if not re.search(row.says, said):
        raise Failed(f"it did not say what was expected: {said}")


def served(row, port):
    return rdma_cm.listens(ADDRESS, port, "TCP") if row.by_cm else listened(port)


def wait_until_free(port):
    end = time.monotonic() + LIMIT
    while listened(port):
        if time.monotonic() > end:
            raise Failed(f"another process listens on TCP port {port}")
        time.sleep(0.1)


def run(oche, row, folder):
    port, sides = row.port or free_port(), []
    wait_until_free(port)
    try:
        if row.client is not None:
            serving = Side(oche, row, words_of(row, row.server, port, folder), folder)
            sides.append(serving)
            serving.wait(lambda: served(row, port) or serving.ended(), "no server")
        capture = os.path.join(folder, "client.pcap") if row.wire else None
        side = Side(oche, row, words_of(row, row.client or "", port, folder), folder, capture)
        sides.append(side)
        side.wait(lambda: side.ended() or row.stays and re.search(row.says, side.said()),
                  "not done")
        judge(row, side)
        if row.wire:
            shown = subprocess.run([oche, "wire", capture], capture_output=True, text=True,
                                   check=False).stdout
            if row.wire not in shown:
                raise Failed(f"no {row.wire} among its packets: {shown[:1000]}")
        if row.client is not None and not row.server_stays:
            serving.wait(serving.ended, "the server is not done")
            if serving.process.returncode != 0:
                raise Failed(f"the server's status is {serving.process.returncode}: "
                             f"{serving.said()}")
    finally:
        for side in sides:
            side.end()


def compile_all(folder, rows):
    """Compiles the programs of COMPILED that the rows need and that can be compiled here."""
    for name, (source, compilers, libraries) in COMPILED.items():
        if not any(name in row.command for row in rows):
            continue
        words = next((words for words in compilers if shutil.which(words[0]) is not None), None)
        if words is not None:
            subprocess.run([*words, os.path.join(HERE, source), "-o", os.path.join(folder, name),
                            *libraries], stderr=subprocess.DEVNULL, check=False)


def installed(row, folder):
    own = next((name for name in COMPILED if f"{{folder}}/{name}" in row.command), None)
    if own is not None and not os.path.exists(os.path.join(folder, own)):
        return False
    for program in (row.program, row.command.split()[0]):
        if shutil.which(program.format(folder=folder)) is None:
            return False
    return MPI_PYTHON not in row.command or subprocess.run(
        [MPI_PYTHON, "-c", "import mpi4py"], capture_output=True, check=False).returncode == 0


def main(arguments):
    oche = os.path.abspath(arguments[0])
    table = "--table" in arguments
    names = [name for name in arguments[1:] if not name.startswith("--")]
    rows = [row for row in WORK + REFUSED
            if any(name in row.command for name in names) or not names and
            (table or pairs.LONG or not any(words in row.command for words in LONGER))]
    failed = 0
    if "--rows" in arguments:
        print(TABLE_HEAD)
        for row in WORK + REFUSED:
            print(row.line(""))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("program.py", MPI_PROGRAM), ("dat.conf", DAT_DEVICES),
                           ("hpccinf.txt", HPCC_PROBLEM)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        compile_all(folder, rows)
        missing = sorted({row.program for row in rows if not installed(row, folder)})
        if missing:
            print(f"not installed: {', '.join(missing)}".replace("{folder}/", ""), file=sys.stderr)
        rows = [row for row in rows if row.program not in missing]
        if not rows:
            return 77
        if table:
            print(TABLE_HEAD, flush=True)
        for row in rows:
            started, said = time.monotonic(), "refused" if row.refuses else "works"
            try:
                run(oche, row, folder)
            except Failed as error:
                failed += 1
                said = "does not work"
                print(f"{row.shown()}: {error}", file=sys.stderr, flush=True)
            if table:
                print(row.line(said), flush=True)
            else:
                print(f"{row.shown()}: {said} ({time.monotonic() - started:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
