#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the IP and UDP headers of unmodified programs' packets. The source port tells queue pairs
apart and can be switched off. Each packet has the traffic class that the program asks for, IPv4 and
IPv6. Both sides' captures have right ICRCs, and another program sees the same on the interface.

usage: headers.py OCHE

In a network namespace of its own. Status 77: that, or a program, is missing.
"""
import collections
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import pairs

ACK, CNP, PROBE = 17, 129, 255
FIELDS = ["frame.interface_id", "ip.src", "ipv6.src", "udp.srcport", "ip.dsfield.dscp",
          "ip.dsfield.ecn", "ipv6.tclass.dscp", "ipv6.tclass.ecn", "infiniband.bth.opcode",
          "infiniband.bth.destqp"]
ADDRESSES = {4: ("127.0.0.1", "127.0.0.2"), 6: ("fd00::1", "fd00::2")}
Packet = collections.namedtuple("Packet", "source port dscp ecn opcode qpn")


def packets_of(captures, folder):
    """Returns the packets to port 4791, without those that find a socket's place (docs/wire.md)."""
    merged = f"{folder}/merged.pcapng"
    subprocess.run(["mergecap", "-a", "-I", "none", "-w", merged, *captures], check=True)
    fields = [word for name in FIELDS for word in ("-e", name)]
    done = subprocess.run(["tshark", "-r", merged, "-Y", "udp.dstport == 4791", "-T", "fields",
                           *fields], text=True, capture_output=True, check=False)
    os.unlink(merged)
    packets = [[] for _ in captures]
    for line in done.stdout.splitlines():
        capture, ipv4, ipv6, port, dscp4, ecn4, dscp6, ecn6, opcode, qpn = line.split("\t")
        packet = Packet(ipv4 or ipv6, int(port), int(dscp4 or dscp6), int(ecn4 or ecn6),
                        int(opcode), qpn)
        if packet.opcode != PROBE:
            packets[int(capture)].append(packet)
    return packets


class Listener:
    """Another program on the interface."""

    def __init__(self, name):
        self.name = name
        self.process = subprocess.Popen(
            ["dumpcap", "-q", "-i", "lo", "-B", "64", "-s", "128", "-f", "udp dst port 4791", "-w",
             name], stderr=subprocess.PIPE, text=True)
        while not (os.path.exists(name) and os.path.getsize(name) > 0):
            if self.process.poll() is not None:
                print("dumpcap:", self.process.stderr.read())
                sys.exit(77)
            time.sleep(0.02)

    def stop(self):
        """Once it has written all packets so far: it has written a last one, which packets_of
        leaves out."""
        last = bytes([PROBE]) + bytes(11) + os.urandom(16)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(last, ("127.0.0.1", 4791))
        pairs.wait_for("dumpcap does not write", lambda: self.ends_with(last), self.process)
        self.process.terminate()
        self.process.communicate()

    def ends_with(self, packet):
        """The file may have a few bytes behind its last packet."""
        with open(self.name, "rb") as file:
            file.seek(max(0, os.path.getsize(self.name) - 4096))
            return packet in file.read()


def run_watched(oche, words, sides, files):
    """Runs one pair while another program captures its packets. If perftest gets another chance
    (pairs.run), all captures begin anew, including the interface's."""
    command, _, arguments = words.partition(" ")
    for _ in range(3):
        for name in files:
            if os.path.exists(name):
                os.unlink(name)
        listener = Listener(files[2])
        done = pairs.run_once(oche, command, arguments, *sides)
        listener.stop()
        if not pairs.is_clock_trouble(done):
            return done
    return done


class Runs:
    """Pairs, each watched by both sides and on the interface. They are judged together, in the end:
    tshark takes long to start."""

    def __init__(self, oche, folder):
        self.oche, self.folder = oche, folder
        self.done = []  # (what was run, its three captures, a check of its packets)

    def run(self, words, check, version=4, options=()):
        """check: called with `words` and the packets of both directions."""
        files = [f"{self.folder}/{len(self.done)}-{name}.pcap"
                 for name in ("server", "client", "interface")]
        sides = [pairs.Side(address, ["--capture", name, *options])
                 for address, name in zip(ADDRESSES[version], files)]
        outcome = run_watched(self.oche, words, sides, files)
        if outcome.error is not None:
            pairs.fail(words, outcome.error)
        self.done.append((" ".join([words, *options]), files, check, version))

    def judge(self):
        wrong = pairs.wrong_in(self.oche, *(name for _, files, _, _ in self.done
                                            for name in files[:2]))
        if wrong is not None:
            pairs.fail(wrong)
        every = packets_of([name for _, files, _, _ in self.done for name in files], self.folder)
        for number, (words, files, check, version) in enumerate(self.done):
            *both, third = every[3 * number:3 * number + 3]
            heads = {(p.source, p.port, p.dscp, p.ecn) for p in third}
            for name, packets in zip(files, both):
                said = {(p.source, p.port, p.dscp, p.ecn) for p in packets}
                if said != heads:
                    pairs.fail(words, f"the interface has {sorted(heads)}, {name} {sorted(said)}")
            if {p.source for p in both[0]} != set(ADDRESSES[version]) and " -c " not in words:
                pairs.fail(words, "one direction is missing")
            check(words, both[0])


def check_ports(words, packets, least=2, most=4, inside=range(61000, 65536)):
    """Checks that each side's packets leave from `least` to `most` ports, and each queue pair's
    packets from one port."""
    ports, of_qp = collections.defaultdict(set), collections.defaultdict(set)
    for packet in packets:
        ports[packet.source].add(packet.port)
        of_qp[packet.source, packet.qpn].add(packet.port)
    for source, its in ports.items():
        if not least <= len(its) <= most or not all(port in inside for port in its):
            pairs.fail(words, f"{source} sends from {sorted(its)}")
    changed = {qp: its for qp, its in of_qp.items() if len(its) > 1}
    if changed or len(of_qp) != 32:
        pairs.fail(words, f"{len(of_qp)} queue pairs, of which leave from several: {changed}")


def check_class(words, packets, data=26, ack=26, ecn=0):
    if not any(packet.opcode not in (ACK, CNP) for packet in packets):
        pairs.fail(words, "no data")
    for packet in packets:
        wanted = (ack, 0) if packet.opcode == ACK else (data, ecn)
        if packet.opcode == CNP:
            wanted = (48, 0)
        if (packet.dscp, packet.ecn) != wanted:
            pairs.fail(words, f"{packet}, not DSCP and ECN {wanted}")


def check_one_port(words, packets):
    check_ports(words, packets, 1, 1, [4791])
    check_class(words, packets, 0, 0)


def check_eight_ports(words, packets):
    check_ports(words, packets, 4, 8)


def check_ect(words, packets):
    check_class(words, packets, 46, 46, 2)


def check_ack_priority(words, packets):
    check_class(words, packets, 26, 48)
    if not any(packet.opcode == ACK for packet in packets):
        pairs.fail(words, "no ACK")


def main(oche):
    many = "ib_write_bw -n 20 -q 16"
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in ADDRESSES[6]:
        subprocess.run(["ip", "addr", "add", address + "/128", "dev", "lo", "nodad"], check=True)
    folder = tempfile.mkdtemp()
    try:
        runs = Runs(oche, folder)
        for version in (4, 6):
            runs.run(many, check_ports, version)
            runs.run(many, check_one_port, version, ["--source-ports=1"])
        runs.run(many, check_eight_ports, 4, ["--source-ports=8"])
        for version, words in [(4, "ib_read_bw -n 20"), (4, "ib_write_bw -n 20 -c UC"),
                               (4, "ib_send_bw -n 20 -c UD"), (6, "ib_write_bw -n 20"),
                               (6, "ib_send_bw -n 20 -c UD")]:
            # DSCP 26, and ECN bits, which are not the program's.
            runs.run(words + " --tclass=106", check_class, version)
        runs.run("ib_write_bw -n 20 --tclass=184", check_ect, 4, ["--cc=dcqcn"])
        runs.run("ib_write_bw -n 20 --tclass=106", check_ack_priority, 4, ["--ack-priority"])
        runs.judge()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    if sys.argv[1] != "--inside":
        pairs.need("unshare", "ip", "dumpcap", "tshark", "mergecap", "ib_write_bw", "ib_read_bw",
                   "ib_send_bw")
        if subprocess.run(["unshare", "-Urn", "true"], check=False).returncode != 0:
            print("no user namespaces here")
            sys.exit(77)
        os.execvp("unshare", ["unshare", "-Urnpf", "--mount-proc", "--kill-child", sys.executable,
                              os.path.abspath(__file__), "--inside", sys.argv[1]])
    main(sys.argv[2])
