#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Connections by address with soft-RoCE's devices under `oche exec`: unmodified programs in a
virtual machine, by our librdmacm, which has the system's behind it. Then servers that listen at all
addresses, and are reached by the system's clients at rxe0 and by clients of oche's own devices.

usage: vm_beside.py OCHE BOTH-NAMESPACES

Soft-RoCE has UDP port 4791 of all addresses of its network namespace, the machine's first. So
oche's devices are in another one, `far`, which a pair of veth joins to rxe1.

Needs what vm.py needs, and OCHE_LONG=yes, as it takes a minute; else status 77.
"""
import os
import re
import sys
import time

import vm

RXE, RXE1, OURS = vm.FAR, "10.80.0.1", "10.80.0.2"
NEIGHBOURS = f"""
ip netns add far
ip link add veth0 type veth peer name veth1 netns far
ip addr add {RXE1}/24 dev veth0
ip link set veth0 up
ip netns exec far ip addr add {OURS}/24 dev veth1
ip netns exec far ip link set veth1 up
ip netns exec far ip link set lo up
rdma link add rxe1 type rxe netdev veth0
"""
# perftest's own: its second connection, for datagrams, may come before its server listens a second
# time; and it gives up where a busy machine spoils its measurement of the clock
PERFTESTS = ("RDMA_CM_EVENT_UNREACHABLE; error: 1", "Correlation coefficient")
LINE = "soft-RoCE takes it"  # from the line that says why oche's devices cannot be opened

# server and client, each by OCHE exec where it begins with `oche`, and what the client says
PAIRS = [
    ("oche rping -s -C 3 -V", f"oche rping -c -a {RXE} -C 3 -V -v", "rdma-ping-2"),
    ("rping -s -C 3 -V", f"oche rping -c -a {RXE} -C 3 -V -v", "rdma-ping-2"),
    ("oche rping -s -C 3 -V", f"rping -c -a {RXE} -C 3 -V -v", "rdma-ping-2"),
    (f"oche rping -s -a {RXE} -C 3 -V", f"oche rping -c -I {RXE} -a {RXE} -C 3 -V -v",
     "rdma-ping-2"),
    (f"oche rping -s -a {vm.FAR6} -C 3 -V", f"oche rping -c -a {vm.FAR6} -C 3 -V -v",
     "rdma-ping-2"),
    ("oche ucmatose -c 5", f"oche ucmatose -c 5 -s {RXE}",
     "(?s)data transfers complete.*return status 0"),
    ("oche ucmatose -m", f"oche ucmatose -m -s {RXE}",
     "(?s)migrating.*return status 0"),
    ("oche udaddy -c 3", f"oche udaddy -c 3 -s {RXE}",
     "(?s)data transfers complete.*return status 0"),
    ("oche rdma_server", f"oche rdma_client -s {RXE}", "rdma_client: end 0"),
    ("oche rdma_xserver -c r", f"oche rdma_xclient -c r -s {RXE}", "rdma_xclient: end 0"),
    ("oche mckey -m 239.1.1.1 -C 3 -b " + RXE, f"oche mckey -m 239.1.1.1 -C 3 -s -b {RXE}",
     "(?s)data transfers complete.*return status 0"),
    ("oche ib_write_bw -R -d rxe0 -n 200", f"oche ib_write_bw -R -d rxe0 -n 200 {RXE}",
     r"(?m)^ 65536 +200 "),
    ("oche ib_send_lat -R -d rxe0 -c UD -n 100", f"oche ib_send_lat -R -d rxe0 -c UD -n 100 {RXE}",
     r"(?m)^ 2 +100 "),
    ("oche ib_read_bw -R -d rxe0 -n 200", f"ib_read_bw -R -d rxe0 -n 200 {RXE}",
     r"(?m)^ 65536 +200 "),
]


class Test:
    def __init__(self, machine, oche, both):
        self.machine, self.oche, self.both = machine, oche, both

    def command(self, text):
        return re.sub("^oche ", f"{self.oche} exec -- ", text)

    def serve(self, command):
        """Starts a server, and returns it when it listens, or has joined."""
        server = self.machine.start(self.command(command))
        end = time.monotonic() + 30
        ready = "UDP|IPOIB" if "mckey" in command else "LISTEN"
        while True:
            shown = self.machine.must("rdma resource show cm_id")
            if re.search(ready, shown):
                return server
            if server.ended.is_set() or time.monotonic() > end:
                raise vm.Failed(f"does not listen: {command}: {server.said()}\n{shown}")
            time.sleep(0.1)

    def ask(self, command, says, namespace=""):
        """A client's status and words must be right."""
        status, said = self.machine.run(namespace + self.command(command), 60)
        if status != 0 or not re.search(says, said):
            raise vm.Failed(f"{command}: status {status}: {said}")
        if said.count(LINE) > 1:
            raise vm.Failed(f"{command}: says it more than once: {said}")
        return said

    def pair(self, server_command, client_command, says, tries=5):
        server = self.serve(server_command)
        try:
            self.ask(client_command, says)
            if server.wait(30) != 0 or server.said().count(LINE) > 1:
                raise vm.Failed(f"{server_command}: status {server.status}: {server.said()}")
        except vm.Failed as failed:
            if tries == 1 or not any(words in str(failed) for words in PERFTESTS):
                raise
        else:
            print(f"{server_command}; {client_command}: works", flush=True)
            return
        finally:
            server.kill()
        self.pair(server_command, client_command, says, tries - 1)

    def servers_of_rxe(self):
        """One that listens at all addresses has the kernel's devices; peers may be oche's."""
        server = self.serve("oche rping -s -P -V")
        try:
            for command, namespace in ((f"rping -c -a {RXE} -C 3 -V -v", ""),
                                       (f"oche rping -c -a {RXE1} -C 3 -V -v",
                                        "ip netns exec far "),
                                       (f"rping -c -a {RXE} -C 3 -V -v", "")):
                self.ask(command, "rdma-ping-2", namespace)
                print(f"{namespace}{command}: works", flush=True)
            if server.ended.is_set():
                raise vm.Failed(f"the server has ended: {server.said()}")
        finally:
            server.kill()

    def both_in_one(self):
        """One identifier listens at rxe0 and at oche's devices."""
        server = self.serve(f"ip netns exec far {self.oche} exec -- {self.both} /proc/1/ns/net "
                            "7471 4")
        try:
            for command, namespace in ((f"rdma_client -s {RXE}", ""),
                                       (f"oche rdma_client -s {OURS}", "ip netns exec far "),
                                       (f"oche rdma_client -s {RXE}", ""),
                                       ("oche rdma_client -s 127.0.0.1", "ip netns exec far ")):
                self.ask(command, "rdma_client: end 0", namespace)
            status, said = server.wait(30), server.said()
            if status != 0 or re.findall("at (.*)", said) != ["rxe0", "oche_veth1_v4", "rxe0",
                                                              "oche_lo_v4"]:
                raise vm.Failed(f"{self.both}: status {status}: {said}")
        finally:
            server.kill()
        print("one identifier at rxe0 and at oche's devices: works", flush=True)

    def without(self):
        """Without names of kernel devices, these devices are not listed."""
        for variable, status in (("OCHE_REAL_RDMACM=", 255), ("OCHE_REAL_VERBS=", 255)):
            done, said = self.machine.run(f"{variable} {self.oche} exec -- rping -s -a {RXE}", 60)
            if done != status or "rdma_bind_addr" not in said:
                raise vm.Failed(f"{variable}: status {done}: {said}")
        done, said = self.machine.run(f"OCHE_REAL_RDMACM=/none {self.oche} exec -- rping -s", 60)
        if done == 0 or "OCHE_REAL_RDMACM=/none: No such file" not in said:
            raise vm.Failed(f"a file that is not there: status {done}: {said}")
        print("the variables: work", flush=True)


def main(oche, both):
    if os.environ.get("OCHE_LONG") != "yes":
        print("only with OCHE_LONG=yes")
        sys.exit(77)
    oche, both = os.path.abspath(oche), os.path.abspath(both)
    vm.enter()
    with vm.Machine() as machine:
        machine.tap()
        machine.rxe()
        machine.must(NEIGHBOURS)
        test = Test(machine, oche, both)
        for row in PAIRS:
            test.pair(*row)
        test.servers_of_rxe()
        test.both_in_one()
        test.without()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        main(*sys.argv[1:])
    except vm.Failed as error:
        print("FAILED:", error)
        sys.exit(1)
