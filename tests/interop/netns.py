# SPDX-License-Identifier: Apache-2.0
"""Two hosts: this process in a network namespace of its own, and another one far away. No
privileges are needed where user namespaces are allowed; else the test is skipped.
"""
import os
import shutil
import subprocess
import sys
import time

import pairs

NEAR, FAR = "10.78.0.1", "10.78.0.2"
NEAR6, FAR6 = "fd78::1", "fd78::2"


def possible():
    """True if namespaces and TUN devices exist, for a path between two hosts."""
    programs = all(shutil.which(name) for name in ("unshare", "nsenter", "ip"))
    return programs and os.path.exists("/dev/net/tun") and has_user_namespaces()


def has_user_namespaces():
    done = subprocess.run(["unshare", "-Urn", "true"], capture_output=True, check=False)
    return done.returncode == 0


def enter():
    """Runs this script again, in namespaces of its own."""
    if os.environ.get("OCHE_TEST_INSIDE") == "1":
        return
    pairs.need("unshare", "nsenter", "ip")
    if not has_user_namespaces():
        print("no user namespaces here")
        sys.exit(77)
    os.environ["OCHE_TEST_INSIDE"] = "1"
    os.execvp("unshare", ["unshare", "-Urnpf", "--mount-proc", "--kill-child", sys.executable,
                          *sys.argv])


class Far:
    """The other host."""

    def __init__(self):
        self.process = subprocess.Popen(["unshare", "-n", "sleep", "100000"])
        self.file = f"/proc/{self.process.pid}/ns/net"
        own = os.readlink("/proc/self/ns/net")
        end = time.time() + 20
        while os.readlink(self.file) == own:
            if time.time() > end:
                pairs.fail("no second namespace")
            time.sleep(0.02)
        self.enter = ["nsenter", "-t", str(self.process.pid), "-n"]
        self.ip("link set lo up", "link set lo up")

    def ip(self, near, far):
        """Runs `ip` with the words `near` in this namespace, and with `far` in the other one."""
        for before, words in (([], near), (self.enter, far)):
            done = subprocess.run(before + ["ip", *words.split()], capture_output=True, text=True,
                                  check=False)
            if done.returncode != 0:
                pairs.fail("ip", words, done.stderr)

    def addresses(self, device, mtu, ipv6=True):
        self.ip(f"addr add {NEAR}/24 dev {device}", f"addr add {FAR}/24 dev {device}")
        self.ip(f"addr add {NEAR6}/64 dev {device} nodad", f"addr add {FAR6}/64 dev {device} nodad")
        self.ip(*[f"link set {device} mtu {mtu} up"] * 2)
        if ipv6:
            time.sleep(1)  # for about half a second IPv6 goes one way only after a link has come up

    def veth(self, mtu):
        done = subprocess.run(["ip", "link", "add", "wire0", "type", "veth", "peer", "name",
                               "wire0", "netns", str(self.process.pid)], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            print(f"no veth devices here: {done.stderr}")
            sys.exit(77)
        self.addresses("wire0", mtu)

    def no_veth(self):
        subprocess.run(["ip", "link", "del", "wire0"], check=True)

    def path(self, program, mtu, *options, ipv6=True):
        return Path(self, program, mtu, options, ipv6)


class Path:
    """tests/interop/path.c: a link with a rate, a queue, marks, faults."""

    def __init__(self, far, program, mtu, options, ipv6):
        self.process = subprocess.Popen([program, *options, "wire0", far.file], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        if self.process.stdout.readline() != "ready\n":
            print(f"no TUN devices here: {self.process.communicate()[1]}")
            sys.exit(77)
        far.addresses("wire0", mtu, ipv6)

    def close(self):
        """Ends the path. Returns a dictionary of its counts."""
        said, _ = self.process.communicate("")
        words = said.removeprefix("path: ").replace(",", "").split()
        return dict(zip(words[::2], map(int, words[1::2])))
