#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the verbs library with the stock libibverbs of rdma-core, if that is installed; or our
librdmacm with the stock one: the same names in the same versions, and the same names of events; or
our librspreload with the stock one, which must not stand before a function that ours does not.

usage: verbs_symbols.py LIBRARY

Every name that the stock library exports, in its default version, must be exported by ours in the
same version; ours must export nothing else, but for the private interface of other versions of
rdma-core; what libmlx5 and libefa want must be there; and names of statuses, events and states, and
the table of rates, must be the same. Status 77: there is no stock library.
"""
import ctypes
import json
import os
import re
import subprocess
import sys

ROOTS = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
OURS_ALONE = ("ibv_register_driver", "oche_at_end", "oche_rdmacm_library", "oche_verbs_library")
PRIVATE = (34, 57, 59, 64, 65)
ASK = {  # function: (arguments, result)
    "ibv_wc_status_str": (range(-1, 26), ctypes.c_char_p),
    "ibv_event_type_str": (range(-1, 22), ctypes.c_char_p),
    "ibv_node_type_str": (range(-1, 9), ctypes.c_char_p),
    "ibv_port_state_str": (range(-1, 8), ctypes.c_char_p),
    "ibv_rate_to_mult": (range(-1, 27), ctypes.c_int),
    "ibv_rate_to_mbps": (range(-1, 27), ctypes.c_int),
    "mult_to_ibv_rate": (range(-1, 500), ctypes.c_int),
    "mbps_to_ibv_rate": ([0, 1, 2500, 5000, 10000, 14062, 25781, 28125, 53125, 56250, 103125,
                          112500, 168750, 206250, 309375, 425000, 637500, 850000, 1275000],
                         ctypes.c_int),
}


def stock(name):
    for root in ROOTS:
        path = os.path.join(root, name)
        if os.path.exists(path):
            return path
    return None


def exported(library):
    """Name → its versions, the default one first."""
    out = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library],
                         check=True, capture_output=True, text=True).stdout
    names = {}
    for name, default, version in re.findall(r" [TBDRVW] (\w+)@(@?)(\w[\w.]*)$", out, re.M):
        versions = names.setdefault(name, [])
        versions.insert(0 if default else len(versions), version)
    return {name: versions[:1] + sorted(versions[1:]) for name, versions in names.items()}


def wanted(library):
    out = subprocess.run(["nm", "-D", "--undefined-only", "--with-symbol-versions", library],
                         check=True, capture_output=True, text=True).stdout
    return re.findall(r" U (\w+)@(IBVERBS_[\w.]+)$", out, re.M)


def answers(path):
    """In a process of its own, as two libraries of one name do not go into one."""
    library = ctypes.CDLL(path)
    result = {}
    for name, (arguments, kind) in ASK.items():
        function = getattr(library, name)
        function.restype = kind
        got = [function(argument) for argument in arguments]
        result[name] = [g.decode() if isinstance(g, bytes) else g for g in got]
    print(json.dumps(result))


def answers_of(path):
    return json.loads(subprocess.run([sys.executable, __file__, "--answers", path], check=True,
                                     capture_output=True, text=True).stdout)


def event_names(path):
    code = ("import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).rdma_event_str; "
            "f.restype = ctypes.c_char_p; print([f(i) for i in range(18)])")
    return subprocess.run([sys.executable, "-c", code, path], check=True, capture_output=True,
                          text=True).stdout


def connection_manager(ours):
    theirs = stock("librdmacm.so.1")
    if theirs is None:
        print("no stock librdmacm.so.1 here")
        return 77
    mine, reference = exported(ours), exported(theirs)
    failures = [f"{name}: ours {mine.get(name)}, stock {reference.get(name)}"
                for name in sorted(set(mine) | set(reference))
                if mine.get(name) != reference.get(name) and name not in OURS_ALONE
                and (name in reference or not name.startswith("oche_rsocket_"))]
    if event_names(os.path.abspath(ours)) != event_names(theirs):
        failures.append(f"rdma_event_str: {event_names(os.path.abspath(ours))}, stock says "
                        f"{event_names(theirs)}")
    for line in failures:
        print(line)
    print(f"{len(reference)} names")
    return 1 if failures else 0


def undecorated(library):
    """The names that a library exports, whatever their versions."""
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                         text=True).stdout
    return {name.split("@")[0] for name in re.findall(r" [TWi] (\S+)$", out, re.M)}


def preloaded(ours):
    """A socket of ours is the kernel's until it connects, so these calls are not for us."""
    theirs = stock("rsocket/librspreload.so")
    if theirs is None:
        print("no stock librspreload.so here")
        return 77
    kernels = {"socket", "bind", "fxstat", "__fxstat", "fstat"}
    failures = sorted(undecorated(theirs) - undecorated(ours) - kernels)
    for name in failures:
        print(f"{name}: only the stock library stands before it")
    soname = subprocess.run(["readelf", "-d", ours], check=True, capture_output=True,
                            text=True).stdout
    if "[librspreload.so.1]" not in soname:
        failures.append("the soname is another one")
        print(failures[-1])
    return 1 if failures else 0


def main(arguments):
    if arguments[0] == "--answers":
        answers(arguments[1])
        return 0
    if "rspreload" in os.path.basename(arguments[0]):
        return preloaded(arguments[0])
    if "rdmacm" in os.path.basename(arguments[0]):
        return connection_manager(arguments[0])
    ours, theirs = arguments[0], stock("libibverbs.so.1")
    if theirs is None:
        print("no stock libibverbs.so.1 here")
        return 77
    failures = []
    mine, reference = exported(ours), exported(theirs)
    for name, (version, *_) in sorted(reference.items()):
        if version not in mine.get(name, []):
            failures.append(f"{name}@@{version}: ours has {mine.get(name)}")
    failures += [f"{name}: only ours exports it" for name in sorted(mine)
                 if name not in reference and name not in OURS_ALONE
                 and not name.startswith("oche_manager_")
                 and not all("_PRIVATE_" in version for version in mine[name])]
    if mine.get("execute_ioctl") != [f"IBVERBS_PRIVATE_{version}" for version in PRIVATE]:
        failures.append(f"execute_ioctl has the versions {mine.get('execute_ioctl')}")
    for name, versions in mine.items():
        if versions[0] == "IBVERBS_PRIVATE_34" and versions != mine["execute_ioctl"] and \
                not name.startswith("verbs_register_driver_"):
            failures.append(f"{name} has the versions {versions}")

    for driver in ("libmlx5.so.1", "libefa.so.1"):
        path = stock(driver)
        for name, version in wanted(path) if path else []:
            if version not in mine.get(name, []):
                failures.append(f"{driver} wants {name}@{version}")
    here, there = answers_of(os.path.abspath(ours)), answers_of(theirs)
    for name, (inputs, _) in ASK.items():
        for argument, got, want in zip(inputs, here[name], there[name]):
            if got != want:
                failures.append(f"{name}({argument}): {got!r}, stock says {want!r}")
    for line in failures:
        print(line)
    print(f"{len(reference)} names")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
