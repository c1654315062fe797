#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of devices: none is another's beginning, as some programs look no further; each depends on
its own interface alone; and `--files` answers for all of them. In a network namespace of its own,
with interfaces whose names begin alike. Status 77: there are no user namespaces here.
"""
import os
import subprocess
import sys

from checks import must, run_program

OCHE = os.environ["OCHE"]
# Names of interfaces, and how many addresses of each version they have besides.
LINKS = {"eth1": 2, "eth10": 1, "eth1_v4": 1, "eth1_2": 1, "eth1.2": 1, "lo0": 1, "e_v6_v4": 1}
LIST = """\
import ctypes, os, stat
verbs = ctypes.CDLL("libibverbs.so.1")
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
verbs.ibv_get_device_name.restype = ctypes.c_char_p
count = ctypes.c_int()
devices = verbs.ibv_get_device_list(ctypes.byref(count))
for i in range(count.value):
    name = verbs.ibv_get_device_name(ctypes.c_void_p(devices[i])).decode()
    interface = ""
    if "liboche-files" in os.environ.get("LD_PRELOAD", ""):
        assert stat.S_ISCHR(os.stat("/dev/infiniband/u" + name).st_mode), name
        with open(f"/sys/class/infiniband/{name}/ports/1/gid_attrs/ndevs/0") as ndev:
            interface = ndev.read().strip()
    print(name, interface)
"""


def names(*options):
    done = run_program(OCHE, "exec", *options, "--", sys.executable, "-c", LIST)
    must(done.returncode == 0 and not done.stderr, done)
    return [tuple(line.split(" ")) for line in done.stdout.splitlines()]


def ip(words):
    done = run_program("ip", *words.split())
    must(done.returncode == 0, "ip", words, done.stderr)


def add(link, number, count):
    ip(f"link add {link} type bridge")
    for i in range(1, count + 1):
        ip(f"addr add 10.79.{number}.{i}/24 dev {link}")
        ip(f"addr add fd79:{number}::{i}/64 dev {link} nodad")
    ip(f"link set {link} up")


def main():
    if os.environ.get("OCHE_TEST_INSIDE") != "1":
        if subprocess.run(["unshare", "-Urn", "true"], capture_output=True,
                          check=False).returncode:
            print("no user namespaces here")
            sys.exit(77)
        os.environ["OCHE_TEST_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "-Urn", sys.executable, *sys.argv])
    ip("link set lo up")
    alone = [name for name, _ in names()]
    must(alone == ["oche_lo_v4", "oche_lo_v6"], alone)
    before = set(alone)
    for number, (link, count) in enumerate(LINKS.items()):
        add(link, number, count)
        now = [name for name, _ in names()]
        must(before < set(now), "a name has changed with another interface:", before, now)
        before = set(now)
    must(len(now) == len(before) == 2 + 2 * sum(LINKS.values()), now)
    must(len(now) == 18 and {"oche_eth1_v4", "oche2_eth1_v4", "oche2_eth1_v6", "oche_eth10_v4",
                             "oche_eth1-v4_v4", "oche_eth1.2_v6"} < before, now)
    for one in now:
        must(all(other == one or not other.startswith(one) for other in now), one, now)
    must(max(map(len, now)) < 32, now)
    shown = dict(names("--files"))
    must(list(shown) == now, shown)
    must({shown[name] for name in now} == {"lo", *LINKS}, shown)
    must(shown["oche2_eth1_v6"] == "eth1" and shown["oche_eth10_v4"] == "eth10" and
         shown["oche_eth1-v4_v6"] == "eth1_v4" and shown["oche_eth1_2_v4"] == "eth1_2", shown)
    print("ok:", *now)


main()
