#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our device and Linux's soft-RoCE (rdma_rxe, in a virtual machine: vm.py) as the two sides of one
connection, each as server and as client: our own program, which checks each byte (verified.c), and
other people's; with both path MTUs, over IPv4 and IPv6, by a TAP device; and over a link that
loses, duplicates, reorders and damages packets, or loses one that is named (path.c).

usage: soft_roce.py OCHE VERIFIED PATH [--all] [--log=FILE] [NAME…]

A line a pair, and at the end "N passed, N failed". With --all, and with OCHE_LONG=yes, all pairs,
else seven; only those with NAME in their line, if one is given. --log: writes the table of
docs/interop.md to FILE. Status 77: no qemu, no kernel, or no namespaces here.
"""
import collections
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import names
import pairs
import vm

LIMIT = 100  # seconds for a pair
PORT = 18700
OURS, THEIRS = "oche", "soft-RoCE"
LOSSY = "-u 16"  # a quarter of a second
SLOW = "-u 18"  # a timeout of a second: an emulated machine on a busy host takes its time

# The two links: our device, its addresses and the machine's, and the machine's devices.
Link = collections.namedtuple("Link", "device near far near6 far6 adapter rxe")
TAP = Link("tap0", vm.NEAR, vm.FAR, vm.NEAR6, vm.FAR6, "eth0", "rxe0")
BAD = Link("wire0", "10.80.0.1", "10.80.0.2", "fd80::1", "fd80::2", "eth1", "rxe1")

# A pair to run. program: the command of both sides. server, client: further words for one side, for
# programs that connect by address. says: text that the client must print. faults: a name and
# options of path.c; None: over the TAP.
Pair = collections.namedtuple(
    "Pair", "operation transport program calls mtu ipv6 faults says server client",
    defaults=(None, "", "", ""))

OPERATIONS = [
    ("SEND", "RC", "send"), ("SEND with immediate", "RC", "send_imm"), ("WRITE", "RC", "write"),
    ("WRITE with immediate", "RC", "write_imm"), ("READ", "RC", "read"),
    ("fetch and add", "RC", "add"), ("compare and swap", "RC", "swap"),
    ("SEND", "RC, SRQ", "-r send"), ("SEND, slow receiver", "RC", "-w send"),
    ("WRITE with immediate, slow receiver", "RC", "-w write_imm"),
    ("SEND", "UC", "-c uc send"), ("WRITE", "UC", "-c uc write"),
    ("WRITE with immediate", "UC", "-c uc write_imm"),
    ("SEND", "UD", "-c ud -s 1,3,1000,1023,1024 send"),
    ("SEND with immediate", "UD", "-c ud -s 1,3,1000,1023,1024 send_imm"),
]
CLIENTS = [
    ("SEND", "RC", "ibv_rc_pingpong -c -n 300", ""),
    ("SEND", "RC", "ibv_rc_pingpong -c -e -s 100001 -n 30", ""),
    ("SEND", "UC", "ibv_uc_pingpong -c -n 100", ""),
    ("SEND", "UD", "ibv_ud_pingpong -c -s 1000 -n 100", ""),
    ("SEND", "RC, SRQ", "ibv_srq_pingpong -c -n 100", ""),
    ("WRITE", "RC", "ib_write_bw -n 200 -s 65536", r"(?m)^ 65536 +200 "),
    ("WRITE", "RC", "ib_write_lat -n 100 -s 8", r"(?m)^ 8 +100 "),
    ("SEND", "RC", "ib_send_bw -n 200 -q 4 -s 4097", r"(?m)^ 4097 +800 "),
    ("READ", "RC", "ib_read_bw -n 100 -o 16 -s 65536", r"(?m)^ 65536 +100 "),
    ("fetch and add", "RC", "ib_atomic_bw -n 100 -o 16 -A FETCH_AND_ADD", r"(?m)^ 8 +100 "),
    ("compare and swap", "RC", "ib_atomic_lat -n 100 -o 16 -A CMP_AND_SWAP", r"(?m)^ 8 +100 "),
    ("WRITE", "UC", "ib_write_bw -n 100 -c UC -s 4096", r"(?m)^ 4096 +100 "),
    ("SEND", "UD", "ib_send_lat -n 100 -c UD -s 1000", r"(?m)^ 1000 +100 "),
]
# operation, transport, server, client, what the client says, where it listens
BY_ADDRESS = [
    ("SEND, WRITE, READ", "RC", "rping -s -C 10 -V -p {port}",
     "rping -c -C 10 -v -V -p {port} -a {address}", r"ping data: rdma-ping-9"),
    ("SEND, WRITE, READ", "RC", "rping -s -C 5 -V -S 65000 -p {port}",
     "rping -c -C 5 -V -S 65000 -p {port} -a {address}", r""),
    ("SEND, 4 connections", "RC", "ucmatose -c 4 -p {port}", "ucmatose -c 4 -p {port} -s {address}",
     r"(?s)data transfers complete.*return status 0"),
    ("SEND", "UD", "udaddy -c 3", "udaddy -c 3 -s {address}",
     r"(?s)data transfers complete.*return status 0"),
    ("SEND, synchronous", "RC", "rdma_server -p {port}", "rdma_client -p {port} -s {address}",
     r"rdma_client: end 0"),
    ("SEND, synchronous", "RC", "rdma_xserver -c r -p {port}",
     "rdma_xclient -c r -p {port} -s {address}", r"rdma_xclient: end 0"),
    ("WRITE", "RC", "ib_write_bw -R -n 100 -u 18 -p {port}",
     "ib_write_bw -R -n 100 -u 18 -p {port} {address}", r"(?m)^ 65536 +100 "),
    ("READ", "RC", "ib_read_bw -R -n 50 -o 16 -p {port}",
     "ib_read_bw -R -n 50 -o 16 -p {port} {address}", r"(?m)^ 65536 +50 "),
    ("connecting", "RC", "cmtime -c 20 -p {port}", "cmtime -c 20 -p {port} -s {address}",
     r"(?s)connect.*disconnect"),
]
IPV4_ALONE = ("rdma_xclient", "ib_write_bw", "ib_read_bw")  # listen on no other address
NEED_ADDRESS = ("rping", "udaddy", "ucmatose", "rdma_server", "cmtime")  # else IPv4 alone
ENDLESS = ("cmtime",)  # servers that never end
# Faults of the path, in RoCEv2 packets of a million.
FAULTS = [("2 % lost", ("--lose=20000",)),
          ("1 % each lost, twice, late, damaged",
           ("--lose=10000", "--duplicate=10000", "--reorder=10000", "--corrupt=10000")),
          ("5 % lost, 2 % twice, late, damaged",
           ("--lose=50000", "--duplicate=20000", "--reorder=20000", "--corrupt=20000"))]
DID = ("lost", "duplicated", "reordered", "corrupted")
RELIABLE = ["send", "write", "write_imm", "read", "add", "swap", "-r send", "-w send"]
# One packet: which operation, its name, its opcode, whether it comes from the client.
ONCE = [("send", "a SEND's middle", 0x01, True), ("send", "a SEND's last", 0x02, True),
        ("send", "an ACK", 0x11, False), ("write", "a WRITE's first", 0x06, True),
        ("write", "a WRITE's last", 0x08, True), ("read", "a READ request", 0x0c, True),
        ("read", "a READ response's first", 0x0d, False),
        ("read", "a READ response's middle", 0x0e, False),
        ("read", "a READ response's last", 0x0f, False),
        ("add", "an atomic's request", 0x14, True), ("add", "an atomic's answer", 0x12, False),
        ("swap", "an atomic's answer", 0x12, False)]


def by_verified():
    for mtu, ipv6 in ((1024, False), (4096, True), (1024, True), (4096, False)):
        for operation, transport, words in OPERATIONS:
            if ipv6 != (mtu == 4096) and words not in ("send", "write", "read", "swap"):
                continue
            for calls in (OURS, THEIRS):
                yield Pair(operation, transport, f"verified {words}", calls, mtu, ipv6)


def by_clients():
    for mtu, ipv6 in ((1024, False), (4096, True)):
        for operation, transport, words, says in CLIENTS:
            for calls in (OURS, THEIRS):
                yield Pair(operation, transport, words, calls, mtu, ipv6, says=says)


def by_address():
    for mtu, ipv6 in ((1024, False), (4096, True)):
        for operation, transport, server, client, says in BY_ADDRESS:
            if ipv6 and client.split()[0] in IPV4_ALONE:
                continue
            for calls in (OURS, THEIRS):
                yield Pair(operation, transport, client, calls, mtu, ipv6, says=says, server=server,
                           client=client)


def with_faults():
    for text, options in FAULTS:
        for words in RELIABLE:
            for calls in (OURS, THEIRS):
                yield Pair(words, "RC", f"verified -n 100 {words}", calls, 1024, False,
                           (text, options))
    for words in ("-c uc -l -s 1000,3000 send_imm", "-c ud -l -s 1,1000 send_imm"):
        for calls in (OURS, THEIRS):
            yield Pair("SEND with immediate", words[3:5].upper(), f"verified -n 100 {words}", calls,
                       1024, False, FAULTS[0])


def with_one_lost():
    for words, what, opcode, asks in ONCE:
        for calls in (OURS, THEIRS):
            way = "out" if asks == (calls == OURS) else "in"
            yield Pair(words, "RC", f"verified -s 4097 {words}", calls, 1024, False,
                       (f"{what} lost", (f"--once={way}:{opcode}:3",)))


def all_pairs():
    return [*by_verified(), *by_clients(), *by_address(), *with_faults(), *with_one_lost()]


def few_pairs():
    """Seven that see each transport, most operations, both directions, and loss."""
    def first(pairs_of, **wanted):
        return next(pair for pair in pairs_of
                    if all(getattr(pair, name) == value for name, value in wanted.items()))

    chosen = [first(by_verified(), program=f"verified {words}", mtu=1024, ipv6=False, calls=calls)
              for words, calls in (("send", OURS), ("read", THEIRS), ("swap", OURS),
                                   ("-c uc send", THEIRS))]
    chosen.append(first(by_clients(), program="ibv_ud_pingpong -c -s 1000 -n 100", calls=THEIRS))
    chosen.append(first(by_address(), calls=OURS))
    lossy = first(with_faults(), program="verified -n 100 write", calls=THEIRS, faults=FAULTS[0])
    return [*chosen, lossy._replace(program="verified -n 25 write")]


# ---- running ----


def bad_net(folder):
    """qemu's end of the link with faults. Its sockets are in a folder."""
    return f"dgram,local.type=unix,local.path={folder}/machine,remote.type=unix," \
        f"remote.path={folder}/path"


def wait_for_host(address):
    """Until it refuses a connection: on a link that has come up IPv6 goes one way only at first."""
    for _ in range(100):
        try:
            socket.create_connection((address, 9), 0.3).close()
        except ConnectionRefusedError:
            return
        except OSError:
            time.sleep(0.05)
    pairs.fail(address, "cannot be reached")


class Hosts:
    """The machine, this host, and both links between them."""

    def __init__(self, machine, programs, folder):
        self.machine, self.folder = machine, folder
        self.oche, self.verified, self.path_program = programs
        self.path, self.mtu = None, {}
        machine.must(f"cp {self.verified} /tmp/verified")

    def set_mtu(self, link, mtu):
        """The path MTU of a link, by its own; and its addresses."""
        if self.mtu.get(link) == mtu:
            return
        self.mtu[link] = mtu
        bytes_of = 9000 if mtu == 4096 else 1500
        for words in (f"link set {link.device} mtu {bytes_of} up",
                      f"addr replace {link.near}/24 dev {link.device}",
                      f"addr replace {link.near6}/64 dev {link.device} nodad"):
            subprocess.run(["ip", *words.split()], check=True)
        self.machine.addresses(link.adapter, link.far, link.far6, bytes_of)
        if self.machine.run(f"rdma link show {link.rxe}/1")[0] != 0:
            self.machine.rxe(link.rxe, link.adapter)
        for address in (link.far, link.far6):
            wait_for_host(address)

    def open_path(self, options):
        """Makes a link with these faults, in place of the one before."""
        self.close_path()
        self.mtu.pop(BAD, None)
        self.path = subprocess.Popen(
            [self.path_program, f"--machine={self.folder}/machine", *options, BAD.device,
             f"{self.folder}/path"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.path.stdout.readline() != "ready\n":
            pairs.fail("no path")

    def close_path(self):
        """Ends the path. Returns a dictionary of its counts."""
        if self.path is None:
            return {}
        said, _ = self.path.communicate("")
        self.path = None
        words = said.removeprefix("path: ").replace(",", "").split()
        return dict(zip(words[::2], map(int, words[1::2])))

    def gid_index(self, link, address):
        """The index of an address of the machine's among the GIDs of its device."""
        said = self.machine.must(f"cd /sys/class/infiniband/{link.rxe}/ports/1/gids && grep . 0 1 "
                                 "2 3 4 5 6 7")
        packed = subprocess.run(
            [sys.executable, "-c", "import ipaddress, sys; a = ipaddress.ip_address(sys.argv[1]); "
             "print((ipaddress.ip_address(f'::ffff:{a}') if a.version == 4 else a).exploded)",
             address], capture_output=True, text=True, check=True).stdout.strip()
        return next(line.split(":")[0] for line in said.split("\n") if line.endswith(packed))


def listens_on(pair, port):
    """A shell's condition: the server of this pair, in the machine, takes clients."""
    if pair.server:
        return "rdma resource show cm_id | grep -q 'state LISTEN'"
    return f"cat /proc/net/tcp /proc/net/tcp6 | grep -q ':{port:04X} 0*:0000 0A'"


def here_listens(pair, port, process):
    if not pair.server:
        return pairs.listening(port, process)
    return names.any_service()


class Sides:
    """The commands of a pair."""

    def __init__(self, hosts, pair, link, port):
        self.hosts, self.pair, self.port = hosts, pair, port
        self.near = link.near6 if pair.ipv6 else link.near
        self.far = link.far6 if pair.ipv6 else link.far
        self.link = link
        self.endless = pair.program.split()[0] in ENDLESS

    def words(self, ours, server):
        """The command line, with what this side needs to find its device."""
        pair, address = self.pair, self.far if ours else self.near
        if pair.server:
            text = (pair.server if server else pair.client).format(port=self.port, address=address)
            if server and text.split()[0] in NEED_ADDRESS:
                own = self.near if ours else self.far
                text += {"rping": " -a ", "rdma_server": " -s "}.get(text.split()[0], " -b ") + own
            return text
        meet = self.link.far if ours else self.link.near  # by TCP; some know no IPv6
        gid = "0" if ours else self.hosts.gid_index(self.link, self.far)
        device = "" if ours else f"-d {self.link.rxe}"
        command, rest = pair.program.split(" ", 1)
        slow = SLOW if pair.faults is None else LOSSY
        slow = "" if command.startswith("ibv_") else slow
        index = f"-x {gid}" if command.startswith("ib_") else f"-g {gid}"
        mtu = f"-m {pair.mtu}" if not command.startswith("ibv_ud") else ""
        if command == "verified":
            command = self.hosts.verified if ours else "/tmp/verified"
        return f"{command} {device} {index} {mtu} {slow} -p {self.port} {rest} " + \
            ("" if server else meet)

    def start_ours(self, server):
        command = [self.hosts.oche, "exec", "--device", self.near, "--stats", "--",
                   *self.words(True, server).split()]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace")

    def run(self):
        """Statuses and words of the server and the client."""
        return self.ours_call() if self.pair.calls == OURS else self.theirs_call()

    def ours_call(self):
        serving = self.hosts.machine.start(self.words(False, True))
        waited = self.hosts.machine.run(
            f"for i in $(seq 200); do {listens_on(self.pair, self.port)} && exit 0; sleep 0.05; "
            "done; exit 1")[0]
        try:
            if waited != 0:
                raise vm.Failed(f"no server: {serving.said()}")
            calling = self.start_ours(False)
            said, late = pairs.said_by(calling, LIMIT)
            if late:
                raise vm.Failed(f"not done after {LIMIT} s: {said}; server: {serving.said()}")
            if calling.returncode != 0 or self.endless:
                serving.kill()
            status = serving.wait(20)
            return 0 if self.endless else status, serving.said(), calling.returncode, said
        finally:
            serving.kill()

    def theirs_call(self):
        serving = self.start_ours(True)
        try:
            end = time.monotonic() + 20
            while not here_listens(self.pair, self.port, serving):
                if serving.poll() is not None or time.monotonic() > end:
                    raise vm.Failed(f"no server: {pairs.said_by(serving, 0.1)[0]}")
                time.sleep(0.02)
            status, said = self.hosts.machine.run(self.words(False, False), LIMIT)
            served, late = pairs.said_by(serving, 0.2 if status != 0 or self.endless else 20)
            if self.endless:
                return 0, served, status, said
            if late:
                raise vm.Failed(f"the server is not done: {served}; client: {said}")
            return serving.returncode, served, status, said
        finally:
            serving.kill()
            serving.wait()


def judge(pair, served, server_said, called, client_said):
    """Returns what is wrong, or None."""
    if called != 0 or served != 0:
        return f"status {served} of the server, {called} of the client"
    if not re.search(pair.says, client_said):
        return "the client does not say what it should"
    if pair.program.startswith("ib"):
        return pairs.judge(pair.program.split()[0], client_said, server_said)
    return None


def counters(said):
    """Returns our side's counters of recovery, in short."""
    found = re.search(r"again (\d+), timeouts (\d+), NAKs sent (\d+) received (\d+), RNR NAKs sent "
                      r"(\d+) received (\d+)", said)
    if found is None:
        return ""
    again, timeouts, sent, received, rnr_sent, rnr_received = map(int, found.groups())
    facts = [(again, "again"), (timeouts, "timeouts"), (sent + received, "NAKs"),
             (rnr_sent + rnr_received, "RNR NAKs")]
    return ", ".join(f"{number} {what}" for number, what in facts if number > 0)


def run_pair(hosts, pair, number):
    """Returns what is wrong, or None, and our side's counters."""
    link = TAP if pair.faults is None else BAD
    if pair.faults is not None:
        hosts.open_path(pair.faults[1])
    hosts.set_mtu(link, pair.mtu)
    port = 7174 if "udaddy" in pair.program else PORT + number % 500
    sides = Sides(hosts, pair, link, port)
    try:
        for _ in range(10):
            result = sides.run()
            # perftest connects by address twice, the second time before a slow server listens.
            if "RDMA_CM_EVENT_REJECTED" not in result[3] or "-R" not in pair.program:
                break
        error = judge(pair, *result)
        counted = counters(result[3] if pair.calls == OURS else result[1])
        if error is not None:
            error += f"\nserver: {result[1]}\nclient: {result[3]}"
    except vm.Failed as failed:
        error, counted = str(failed), ""
    if pair.faults is not None:
        did = hosts.close_path()
        lost = did.get("lost", 0)
        if error is None and not any(did.get(what, 0) for what in DID):
            error = f"nothing was done to packets: {did}"
        counted = f"{lost} lost" + (f", {counted}" if counted else "")
    return error, counted


def line_of(pair):
    words = pair.program.replace(" -p {port}", "").replace(" {address}", " ADDRESS")
    faults = "" if pair.faults is None else f", {pair.faults[0]}"
    return f"{pair.calls} calls, {pair.transport}, {words}, MTU {pair.mtu}, " \
        f"IPv{6 if pair.ipv6 else 4}{faults}"


# ---- from the outside ----


class Log:
    """The table of docs/interop.md."""

    def __init__(self, name):
        self.name, self.rows = name, []

    def add(self, pair, outcome, counted):
        words = re.sub(r" -p \{port\}| -[as] \{address\}| \{address\}", "", pair.program)
        self.rows.append((pair.operation, pair.transport, f"`{words}`", str(pair.mtu),
                          f"IPv{6 if pair.ipv6 else 4}",
                          pair.calls, pair.faults[0] if pair.faults else "", outcome, counted))

    def write(self, head):
        """Puts the table into the file, in place of all that follows its last heading."""
        if self.name is None:
            return
        columns = ("operation", "transport", "program", "MTU", "over", "client", "link", "",
                   "counted by oche")
        before = "# Log"
        if os.path.exists(self.name):
            with open(self.name, encoding="utf-8") as file:
                found = re.match(r"(?s)(.*\n## Log)\n", file.read())
            before = found[1] if found else before
        with open(self.name, "w", encoding="utf-8") as file:
            file.write(f"{before}\n\n{head}\n\n| " + " | ".join(columns) + " |\n|" +
                       "---|" * len(columns))
            file.writelines("\n| " + " | ".join(row) + " |" for row in self.rows)
            file.write("\n")


def run_all(hosts, chosen, log, head):
    failed = 0
    for number, pair in enumerate(chosen):
        started = time.monotonic()
        error, counted = run_pair(hosts, pair, number)
        outcome = "works" if error is None else "does not work"
        failed += error is not None
        log.add(pair, outcome, counted)
        seconds = time.monotonic() - started
        print(f"{line_of(pair)}: {outcome} ({seconds:.1f} s{', ' + counted if counted else ''})",
              flush=True)
        if error is not None:
            print(error, file=sys.stderr, flush=True)
    log.write(head)
    print(f"{len(chosen) - failed} passed, {failed} failed", flush=True)
    return failed


def head_of(machine):
    """Returns the date and the versions at both sides."""
    versions = dict(re.findall(r"(\S+)=(\S+)", subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package}=${Version}\n", "libibverbs1", "perftest"],
        capture_output=True, text=True, check=False).stdout))
    return f"{time.strftime('%Y-%m-%d')}: Linux {machine.must('uname -r').strip()} in the " \
        f"machine, rdma-core {versions.get('libibverbs1', '?')}, perftest " \
        f"{versions.get('perftest', '?')}."


def main(arguments):
    names = [name for name in arguments[3:] if not name.startswith("--")]
    log = next((name[6:] for name in arguments if name.startswith("--log=")), None)
    every = "--all" in arguments or pairs.LONG or bool(names)
    programs = [os.path.abspath(name) for name in arguments[:3]]
    pairs.need("ibv_rc_pingpong", "ib_write_bw", "rping", "rdma")
    vm.enter()
    chosen = all_pairs() if every else few_pairs()
    chosen = [pair for pair in chosen if shutil.which(pair.program.split()[0]) is not None or
              pair.program.startswith("verified")]
    chosen = [pair for pair in chosen if not names or any(name in line_of(pair) for name in names)]
    folder = tempfile.mkdtemp()
    with vm.Machine(nets=(vm.TAP_NET, bad_net(folder))) as machine:
        hosts = Hosts(machine, programs, folder)
        head = head_of(machine)
        print(head, flush=True)
        failed = run_all(hosts, chosen, Log(log), head)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
