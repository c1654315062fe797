#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec --files` with unusual paths: each must do what the same path does in the kernel's own
files. /sys/class/net/lo is of the same form: a link into /sys/devices/virtual, with files, folders
and a link. So every path below is tried with net's names and with ours, by every kind of call,
absolute and from folders that are open or current; errors and results must agree.
"""
import os
import sys

from checks import must, run_program

OCHE = os.environ["OCHE"]
PROBE = r"""
import ctypes, errno, os, sys

REAL = {"C": "net", "D": "lo", "F": "mtu", "S": "statistics", "T": "statistics/rx_bytes",
        "P": "/sys/devices/virtual/net/lo"}
OURS = {"C": "infiniband", "D": "oche_lo_v4", "F": "node_guid", "S": "ports", "T": "ports/1/state",
        "P": "/sys/devices/virtual/oche/oche_lo_v4/infiniband/oche_lo_v4"}
ABSOLUTE = [
    "/sys/class/{C}", "/sys/class/{C}/", "/sys/class/{C}/.", "/sys/class/{C}/..",
    "/sys/class/{C}/{D}", "/sys/class/{C}/{D}/", "/sys/class/{C}/{D}/.", "/sys/class/{C}/{D}/{F}",
    "/sys/class/{C}/{D}/{F}/", "/sys/class/{C}/{D}/{F}/.", "/sys/class/{C}/{D}/{F}/..",
    "/sys/class/{C}/{D}/{F}/x", "/sys/class/{C}/{D}/{F}/../{F}", "/sys/class/{C}/{D}/{S}",
    "/sys/class/{C}/{D}/{S}/", "/sys/class/{C}/{D}/{T}", "/sys/class/{C}/{D}/{S}/../{F}",
    "/sys/class/{C}/{D}/nothing", "/sys/class/{C}/{D}/nothing/", "/sys/class/{C}/{D}/nothing/x",
    "/sys/class/{C}/{D}/nothing/../{F}", "/sys/class/{C}/nothing", "/sys/class/{C}/nothing/{F}",
    "/sys/class/{C}/nothing/../{D}/{F}", "/sys/class/{C}/{D}x/{F}", "/sys/class/{C}x/{D}/{F}",
    "/sys/class/{C}/../{C}/{D}/{F}", "/sys/class/{C}/../../class/{C}/{D}/{F}",
    "/sys/class/../class/./{C}//{D}///{F}", "//sys//class//{C}//{D}//{F}", "/./sys/class/{C}/{D}",
    "/../sys/class/{C}/{D}/{F}", "/../../../sys/class/{C}/../../../../sys/class/{C}/{D}/{F}",
    "/sys/class/{C}/{D}/subsystem", "/sys/class/{C}/{D}/subsystem/", "{P}", "{P}/{F}", "{P}/../x",
    "/sys/class/{C}/{D}/subsystem/{D}/subsystem/{D}/{F}", "{P}/subsystem/../{C}/{D}/{F}",
    "/sys/class/{C}/../mem/null/dev", "/sys/class/{C}/{D}/../../../../../../../../../../etc/passwd",
    "/sys/class/{C}/{D}/{F}\n", " /sys/class/{C}/{D}/{F}", "/sys/class/{C}/{D}/\udcff",
    "/sys/class/{C}/{D}/" + "x" * 255, "/sys/class/{C}/{D}/" + "x" * 256,
    "/sys/class/{C}/{D}/" + "x/" * 1900, "/sys/class/{C}/{D}/" + "x" * 5000,
    "/sys/class/{C}/{D}/" + "./" * 1900 + "{F}", "/sys/class/{C}/{D}" + "/" * 3000 + "{F}",
    "/sys/class/{C}/{D}/" + "../{D}/" * 200 + "{F}", "/sys/class/{C}/{D}/" + "./" * 3000,
    "/sys/class/{C}/" + "{D}/subsystem/" * 30 + "{D}/{F}",
    "/sys/class/{C}/" + "{D}/subsystem/" * 19 + "{D}/{F}",  # 39 links
    "/sys/class/{C}/" + "{D}/subsystem/" * 20 + "{D}/{F}",  # 41
    "/sys/class/{C}/" + "{D}/subsystem/" * 20, "/sys/class/{C}/" + "{D}/subsystem/" * 19 + "{D}",
]
# From a folder: relative paths.
RELATIVE = [
    ("/", ["sys/class/{C}/{D}/{F}", "sys/class/{C}", "./sys/./class/{C}/{D}", "../sys/class/{C}"]),
    ("/sys", ["class/{C}/{D}/{F}", "class/{C}/", "../sys/class/{C}/{D}/{T}"]),
    ("/sys/class", ["{C}", "{C}/", "{C}/{D}", "{C}/{D}/{F}", "./{C}/../{C}/{D}/{S}", "../class/{C}",
                    "{C}/nothing", "{C}/{D}/{F}/x", "{C}x"]),
    ("/sys/class/{C}", ["{D}", "{D}/", "{D}/{F}", ".", "..", "../{C}/{D}/{F}", "../mem/null/dev",
                        "../../class/{C}/{D}", "{D}/../nothing", "nothing", "{D}/subsystem/{D}/{F}",
                        "../../../../../../etc/passwd"]),
    ("/sys/class/{C}/{D}", ["{F}", "{T}", "subsystem", "./{F}", "{F}/", "subsystem/{D}/{F}",
                            "nothing", "{S}/../{F}"]),
    ("{P}", ["{F}", ".", "{S}", "../nothing", "subsystem/../{C}/{D}/{F}"]),
]
C = ctypes.CDLL(None, use_errno=True)
C.realpath.restype = C.canonicalize_file_name.restype = ctypes.c_void_p
C.fopen.restype = C.opendir.restype = ctypes.c_void_p


def outcome(call, *arguments):
    try:
        return call(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    except UnicodeError:
        return "not text"


def by_c(name, path):
    ctypes.set_errno(0)
    value = getattr(C, name)(path, *{"fopen": [b"r"], "realpath": [None]}.get(name, []))
    if not value:
        return errno.errorcode[ctypes.get_errno()]
    if name in ("fopen", "opendir"):
        return "opened"
    return os.fsdecode(ctypes.string_at(value))


def kind(status):
    return status.st_mode >> 12


def read(path, at=None):
    fd = os.open(path, os.O_RDONLY, dir_fd=at)
    try:
        return "read" if os.read(fd, 100) else "empty"
    finally:
        os.close(fd)


def results(path, at, names):
    # what each call says of the path
    found = {"open": outcome(read, path, at),
             "stat": outcome(lambda: kind(os.stat(path, dir_fd=at))),
             "lstat": outcome(lambda: kind(os.stat(path, dir_fd=at, follow_symlinks=False))),
             "access": outcome(lambda: os.access(path, os.R_OK, dir_fd=at)),
             "nofollow": outcome(lambda: os.close(os.open(path, os.O_RDONLY | os.O_NOFOLLOW,
                                                          dir_fd=at))),
             "readlink": outcome(lambda: os.readlink(path, dir_fd=at).count("/") > 0)}
    if at is None:
        encoded = os.fsencode(path)
        # longer ones are the C library's own matter, which resolves them by parts
        resolve = () if len(encoded) >= 4096 else ("realpath", "canonicalize_file_name")
        found.update({name: by_c(name, encoded) for name in ("fopen", "opendir", *resolve)})
        found["list"] = outcome(lambda: names["F"] in os.listdir(path))
        found["scandir"] = outcome(lambda: len(list(os.scandir(path))) > 0)
    return found


def plain(found, names):
    # with the same words for both
    def shown(value):
        if not isinstance(value, str):
            return value
        value = value.replace(names["P"], "{P}")
        value = value.replace("/" + names["T"], "/{T}").replace("/" + names["S"], "/{S}")
        words = {names[key]: "{%s}" % key for key in "CDF"}
        return "/".join(words.get(part, part) for part in value.split("/"))
    return {key: shown(value) for key, value in found.items()}


def compare(path, at, pair, where):
    global bad, count
    real, ours = (plain(results(path.format(**names), fd, names), names)
                  for names, fd in zip((REAL, OURS), pair))
    count += 1
    if real != ours:
        bad += 1
        print("differs:", where, repr(path[:120]),
              {key: (real[key], ours[key]) for key in real if real[key] != ours[key]})


bad = count = 0
for path in ABSOLUTE:
    compare(path, None, (None, None), "absolute")
for folder, paths in RELATIVE:
    opened = tuple(os.open(folder.format(**names), os.O_RDONLY) for names in (REAL, OURS))
    for path in paths:
        compare(path, opened, opened, "below " + folder)
    for fd in opened:
        os.close(fd)
for folder, paths in RELATIVE:  # from the current folder
    for path in paths:
        found = []
        for names in (REAL, OURS):
            os.chdir(folder.format(**names))
            found.append((plain(results(path.format(**names), None, names), names),
                          plain({"cwd": os.getcwd()}, names)))
        count += 1
        if found[0] != found[1]:
            bad += 1
            print("differs: in", folder, repr(path), found)
print(count, "paths,", bad, "differ")
sys.exit(bad > 0)
"""


def main():
    if not os.path.isdir("/sys/class/net/lo/statistics"):
        print("this kernel shows no /sys/class/net/lo")
        sys.exit(77)
    done = run_program(OCHE, "exec", "--files", "--", sys.executable, "-c", PROBE)
    must(done.returncode == 0, done.stdout[-6000:], done.stderr[-3000:])
    must(done.stderr.count("\n") <= 1 and done.stderr.startswith("oche: the program looks for"),
         done.stderr)
    print(done.stdout, end="")
    print("ok")


if __name__ == "__main__":
    main()
