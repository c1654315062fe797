#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Enforces the arrows between folders, and what core and fabric must not do.

Sources: an include crosses folders only where an arrow allows it; core and fabric include no
system header but the few listed here, and name no clock, random source, allocator, I/O or thread.
Libraries (--library): no writable global, no undefined symbol beyond the list.

usage: arrows.py ROOT [--library FOLDER=FILE.a]…     check a tree
       arrows.py --self-test                        every rule must catch its violation
"""
import os
import re
import subprocess
import sys
import tempfile

BELOW_QP = ["core/base.h", "core/cc/", "core/nic/", "core/param.h", "core/paths/", "core/random.h",
            "core/recovery/", "core/trace/", "core/wire/"]
QP = ["core/qp/" + name for name in ("congestion.h", "nic.h", "nic_internal.h", "qp_internal.h",
                                     "cause.h", "late.h", "map.h", "scheduler.h", "slots.h",
                                     "spread.h", "timers.h", "work.h")]
BELOW_SIM = ["fabric/", "core/", "params/"]
# Allowed beginnings of quoted includes, by the folder of the including file.
ARROWS = {
    "core": ["core/"],
    # A half of a queue pair does not see the members of the other half.
    "core/qp/objects": BELOW_QP + QP + ["core/qp/objects/"],
    "core/qp/receive": BELOW_QP + QP + ["core/qp/objects/", "core/qp/receive/",
                                        "core/qp/send/send.h"],
    "core/qp/send": BELOW_QP + QP + ["core/qp/objects/", "core/qp/send/",
                                     "core/qp/receive/receive.h"],
    "fabric": ["fabric/", "core/wire/", "core/base.h", "core/error.h", "core/random.h",
               "core/param.h"],
    "params": ["params/", "core/"],
    "sim": ["sim/", "fabric/", "rogue/", "core/", "params/"],
    # Inside the simulator: no two rooms include each other.
    "sim/graph": ["sim/graph/", "core/base.h", "core/param.h", "core/random.h", "params/"],
    "sim/engine": ["sim/engine/", *BELOW_SIM],
    "sim/topology": ["sim/topology/", *BELOW_SIM],
    "sim/network": ["sim/network/", "sim/graph/", "sim/engine/", "sim/topology/", *BELOW_SIM],
    "sim/app": ["sim/app/", "sim/graph/", "sim/network/", "sim/engine/", "sim/topology/",
                *BELOW_SIM],
    "sim/measure": ["sim/measure/", "sim/network/", "sim/topology/", *BELOW_SIM],
    "sim/foreign": ["sim/foreign/", "sim/scenario/document.h", "sim/topology/", *BELOW_SIM],
    "sim/endpoint": ["sim/endpoint/", "sim/network/", "rogue/", *BELOW_SIM],
    "sim/capture": ["sim/capture/", "sim/network/", "sim/topology/", *BELOW_SIM],
    "device": ["device/device.h", "device/incast.h", "device/internal.h", "device/qp_numbers.h",
               "device/host/", "device/link/", "device/path/", "device/shared/", "device/view/",
               "core/", "params/"],
    "device/link": ["device/link/", "device/path/", "device/host/", "fabric/", "core/", "params/"],
    "device/host": ["device/host/", "core/base.h"],
    "device/path": ["device/path/", "device/host/", "core/", "params/"],
    "device/shared": ["device/shared/", "device/path/", "device/host/", "core/", "params/"],
    "device/view": ["device/view/", "device/host/", "core/"],
    "device/verbs": ["device/verbs/", "device/device.h", "device/qp_numbers.h", "device/host/",
                     "device/link/event_text.h", "device/link/report.h",
                     "device/link/spec.h", "device/path/",
                     "device/shared/", "device/view/", "core/", "params/"],
    "device/files": ["device/files/", "device/verbs/facts.h", "device/verbs/identity.h",
                     "device/host/", "device/path/", "device/view/", "core/", "params/"],
    "device/cm": ["device/cm/", "device/verbs/", "device/path/", "device/host/lock.h", "core/",
                  "params/"],
    "device/rsocket": ["device/rsocket/", "device/cm/", "device/verbs/", "device/host/lock.h",
                       "core/", "params/"],
    "store": ["store/", "params/", "core/base.h", "core/param.h"],
    "report": ["report/", "store/", "params/", "core/base.h", "core/param.h"],
    "rogue": ["rogue/", "core/base.h", "core/param.h", "core/wire/bytes.h"],
    "rogue/verbs": ["rogue/", "params/", "core/base.h", "core/param.h", "core/wire/"],
    "lab": ["lab/", "sim/", "fluid/", "store/", "core/", "params/"],
    "lab/check_nic": ["lab/check_nic/", "sim/", "fabric/", "core/", "params/"],
    "fluid": ["fluid/", "core/"],
    "cli": ["cli/", "lab/", "fluid/", "core/", "fabric/", "sim/", "device/", "store/", "report/",
            "rogue/", "params/"],
}

PURE = ("core", "fabric")
PURE_HEADERS = {"stdbool.h", "stddef.h", "stdint.h", "limits.h", "string.h", "stdatomic.h",
                "math.h", "errno.h"}

# Called by name in core or fabric: no. (A hook, x->time(…), is something else.)
BANNED = {
    "clock": "time clock gettimeofday clock_gettime timespec_get rdtsc __rdtsc "
             "__builtin_ia32_rdtsc nanosleep usleep sleep",
    "random source": "rand srand random srandom rand_r drand48 lrand48 getrandom getentropy "
                     "arc4random",
    "allocation": "malloc calloc realloc free alloca __builtin_alloca aligned_alloc "
                  "posix_memalign mmap strdup",
    "I/O": "printf fprintf sprintf snprintf vprintf vfprintf vsnprintf puts putchar fopen fwrite "
           "fread open read write close socket send sendto sendmsg recv recvfrom recvmsg bind "
           "ioctl syscall getenv system exit abort",
    "thread": "pthread_create pthread_mutex_lock pthread_mutex_unlock pthread_mutex_trylock "
              "thrd_create mtx_lock mtx_unlock fork",
    "libm function whose last bit varies": "exp log log2 log10 pow sin cos tan exp2 expm1 log1p "
                                           "cbrt hypot __builtin_exp __builtin_log __builtin_pow",
}
BANNED_WORDS = {word: why for why, words in BANNED.items() for word in words.split()}
CALL = re.compile(r"(?<![\w.>])(\w+)\s*\(")
STORAGE = re.compile(r"(?<!\w)(?:_Thread_local|__thread|asm|__asm__|__asm)(?!\w)")

LIBC = {"memcpy", "memmove", "memset", "memcmp", "strcmp", "strncmp", "strlen", "sqrt",
        "oche_panic", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail", "__udivti3", "__umodti3",
        "__udivmodti4", "__divti3", "__modti3", "__popcountdi2"}
WRITABLE = re.compile(r"^(\.data(?!\.rel\.ro)|\.bss|\.tdata|\.tbss|\*COM\*|\.common)")


def without_comments(text):
    """The source with comments and the contents of strings blanked, lines kept."""
    def blank(match):
        token = match.group(0)
        if token.startswith("/"):
            return re.sub(r"[^\n]", " ", token)
        return token[0] + token[0]
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", blank, text,
                  flags=re.S)


def check_source(path, text):
    """The violations in one file; `path` is relative to the root."""
    folder = path.split("/")[0]
    room = next((name for name in sorted(ARROWS, reverse=True) if path.startswith(name + "/")),
                folder)
    arrows = ARROWS.get(room, [])
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        include = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
        if not include:
            continue
        quote, target = include.groups()
        if quote == '"' and not any(target == a or (a.endswith("/") and target.startswith(a))
                                    for a in arrows):
            found.append(f"{path}:{number}: {room} must not include {target}")
        if quote == "<" and folder in PURE and target not in PURE_HEADERS:
            found.append(f"{path}:{number}: {folder} must not include <{target}>")
    if folder not in PURE:
        return found
    for number, line in enumerate(without_comments(text).split("\n"), 1):
        if re.match(r"\s*#\s*include", line):
            continue
        for word in CALL.findall(line):
            if word in BANNED_WORDS:
                found.append(f"{path}:{number}: {word}: {BANNED_WORDS[word]} in {folder}")
        for word in STORAGE.findall(line):
            found.append(f"{path}:{number}: {word} in {folder}")
    return found


def check_tree(root):
    found = []
    for folder in (name for name in ARROWS if "/" not in name):
        for directory, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                if name.endswith((".c", ".h", ".inc")):
                    full = os.path.join(directory, name)
                    with open(full, encoding="utf-8") as source:
                        found += check_source(os.path.relpath(full, root), source.read())
    return sorted(found)


def symbols(library):
    """(object, name, class, section) of each symbol of a static library."""
    out = subprocess.run(["nm", "-f", "sysv", library], check=True, capture_output=True,
                         text=True).stdout
    member = ""
    for line in out.split("\n"):
        header = re.match(r"^\S*Symbols from (?:.*\[)?([^\]]+?)\]?:$", line)
        undefined = re.match(r"^Undefined symbols from", line)
        if header and not undefined:
            member = os.path.basename(header.group(1))
        parts = [part.strip() for part in line.split("|")]
        if len(parts) == 7 and parts[0] != "Name":
            yield member, parts[0], parts[2], parts[6]


def check_libraries(libraries):
    """`libraries`: folder → file. Globals that can be written, symbols that must not be needed."""
    found = []
    defined = {}
    for folder, library in libraries.items():
        defined[folder] = {name: member for member, name, kind, _ in symbols(library)
                           if kind not in ("U", "w")}
    for folder, library in libraries.items():
        allowed = LIBC | set(defined[folder])
        if folder == "fabric":
            allowed |= {name for name, member in defined.get("core", {}).items()
                        if member.startswith(("wire_", "param"))}
        for member, name, kind, section in symbols(library):
            if WRITABLE.match(section) and not name.startswith("."):
                found.append(f"{folder}: {member}: {name} is a writable global ({section})")
            if kind in ("U", "w") and name not in allowed:
                found.append(f"{folder}: {member}: needs {name}")
    return found


def self_test():
    sources = {  # path: (text, what must be found, or None)
        "core/good.c": ('#include "core/base.h"\n#include <string.h>\n/* rand() malloc( */\n'
                        'const char *s = "time(";\nint f(int x) { return p->time(x); }\n', None),
        "core/up.c": ('#include "fabric/switch.h"\n', "must not include fabric/switch.h"),
        "core/up2.c": ('#include "sim/world.h"\n', "must not include sim/world.h"),
        "core/plain.c": ('#include "base.h"\n', "must not include base.h"),
        "core/qp/good.c": ('#include "core/qp/send/sender.h"\n', None),
        "core/qp/send/good.c": ('#include "core/qp/send/sender.h"\n'
                                '#include "core/qp/receive/receive.h"\n', None),
        "core/qp/send/other.c": ('#include "core/qp/receive/receiver.h"\n',
                                 "must not include core/qp/receive/receiver.h"),
        "core/qp/receive/other.c": ('#include "core/qp/send/sender.h"\n',
                                    "must not include core/qp/send/sender.h"),
        "core/qp/objects/half.c": ('#include "core/qp/send/send.h"\n',
                                   "must not include core/qp/send/send.h"),
        "fabric/good.c": ('#include "core/wire/packet.h"\n#include "core/param.h"\n', None),
        "fabric/deep.c": ('#include "core/qp/nic.h"\n', "must not include core/qp/nic.h"),
        "fabric/trick.c": ('#include "core/base.h.c"\n', "must not include core/base.h.c"),
        "sim/good.c": ('#include "fabric/switch.h"\n#include "core/qp/nic.h"\n'
                       '#include <stdio.h>\nvoid *f(void) { return malloc(1); }\n', None),
        "sim/network/up.c": ('#include "sim/endpoint/rnic.h"\n',
                             "sim/network must not include sim/endpoint/rnic.h"),
        "sim/endpoint/down.c": ('#include "sim/network/host.h"\n', None),
        "sim/meets.c": ('#include "device/device.h"\n', "must not include device/device.h"),
        "device/good.c": ('#include "device/internal.h"\n#include "device/path/socket.h"\n', None),
        "device/up.c": ('#include "device/verbs/internal.h"\n',
                        "device must not include device/verbs/internal.h"),
        "device/path/up.c": ('#include "device/shared/names.h"\n',
                             "device/path must not include device/shared/names.h"),
        "device/path/owner.c": ('#include "device/internal.h"\n',
                                "must not include device/internal.h"),
        "device/shared/good.c": ('#include "device/path/socket.h"\n', None),
        "device/shared/up.c": ('#include "device/verbs/manager.h"\n',
                               "must not include device/verbs/manager.h"),
        "device/host/up.c": ('#include "device/path/address.h"\n',
                             "must not include device/path/address.h"),
        "device/verbs/up.c": ('#include "device/cm/internal.h"\n',
                              "must not include device/cm/internal.h"),
        "device/cm/up.c": ('#include "device/rsocket/private.h"\n',
                           "must not include device/rsocket/private.h"),
        "device/meets.c": ('#include "sim/world.h"\n', "must not include sim/world.h"),
        "device/fabric.c": ('#include "fabric/switch.h"\n', "must not include fabric/switch.h"),
        "store/sim.c": ('#include "sim/world.h"\n', "must not include sim/world.h"),
        "store/lab.c": ('#include "lab/sweep/point.h"\n', "must not include lab/sweep/point.h"),
        "sim/lab.c": ('#include "lab/sweep/point.h"\n', "must not include lab/sweep/point.h"),
        "lab/good.c": ('#include "sim/world/world.h"\n#include "store/store.h"\n', None),
        "lab/device.c": ('#include "device/device.h"\n', "must not include device/device.h"),
        "lab/fluid.c": ('#include "fluid/fluid.h"\n', None),
        "fluid/lab.c": ('#include "lab/sweep/point.h"\n', "must not include lab/sweep/point.h"),
        "lab/cli.c": ('#include "cli/run/summary.h"\n', "must not include cli/run/summary.h"),
        "fluid/good.c": ('#include "core/cc/cc.h"\n#include <math.h>\n', None),
        "fluid/sim.c": ('#include "sim/world/world.h"\n', "must not include sim/world/world.h"),
        "sim/fluid.c": ('#include "fluid/fluid.h"\n', "must not include fluid/fluid.h"),
        "cli/good.c": ('#include "lab/sweep/point.h"\n#include "device/device.h"\n'
                       '#include "sim/world.h"\n', None),
        "core/header.c": ("#include <time.h>\n", "must not include <time.h>"),
        "core/stdio.c": ("#include <stdio.h>\n", "must not include <stdio.h>"),
        "core/unistd.c": ("#include <unistd.h>\n", "must not include <unistd.h>"),
        "core/sockets.c": ("#include <sys/socket.h>\n", "must not include <sys/socket.h>"),
        "fabric/thread.c": ("#include <pthread.h>\n", "must not include <pthread.h>"),
        "core/tls.c": ("static _Thread_local int x;\n", "_Thread_local in core"),
        "fabric/rdtsc.c": ("int f(void) { __asm__(\"rdtsc\"); }\n", "__asm__ in fabric"),
    }
    for why, words in BANNED.items():
        for word in words.split():
            sources[f"core/call_{word}.c"] = (f"int f(void) {{ return {word} (1); }}\n",
                                              f"{word}: {why} in core")
    failures = []
    with tempfile.TemporaryDirectory() as root:
        for path, (text, _) in sources.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as source:
                source.write(text)
        found = check_tree(root)
        for path, (_, want) in sources.items():
            mine = [line for line in found if line.startswith(path + ":")]
            if want is None and mine:
                failures.append(f"{path}: found {mine}, should find nothing")
            if want is not None and not (len(mine) == 1 and want in mine[0]):
                failures.append(f"{path}: found {mine}, should find '{want}'")
        failures += self_test_libraries(root)
    return failures


def self_test_libraries(root):
    sources = {  # file: (text, what must be found, or None)
        "good.c": ("extern void *memset(void *, int, unsigned long);\nint f(int);\n"
                   "static const char *const names[] = {\"a\", \"b\"};\n"
                   "const char *g(int i) { return names[i]; }\n"
                   "void h(char *p) { memset(p, f(1), 100000); }\n"
                   "int f(int x) { return x; }\n", None),
        "data.c": ("int counter = 1;\n", "counter is a writable global"),
        "bss.c": ("static int hits; int hit(void) { return hits++; }\n",
                  "hits is a writable global"),
        "local.c": ("int next_id(void) { static int id; return ++id; }\n", "is a writable global"),
        "call.c": ("extern void *malloc(unsigned long); void *m(void) { return malloc(1); }\n",
                   "needs malloc"),
        "pow.c": ("extern double pow(double, double);\n"
                  "double q(double x) { return pow(x, 0.1); }\n", "needs pow"),
        "sideways.c": ("extern int oche_nic_go(void); int n(void) { return oche_nic_go(); }\n",
                       "needs oche_nic_go"),
    }
    compiler = os.environ.get("CC", "cc").split()
    failures = []
    for name, (text, want) in sources.items():
        source, made = os.path.join(root, name), os.path.join(root, name[:-2])
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(compiler + ["-O2", "-fPIC", "-c", source, "-o", made + ".o"], check=True)
        subprocess.run(["ar", "rcs", made + ".a", made + ".o"], check=True)
        found = check_libraries({"fabric": made + ".a"})
        if (want is None) != (not found) or (want and not any(want in line for line in found)):
            failures.append(f"{name}: found {found}, should find '{want}'")
    return failures


def main(arguments):
    if arguments == ["--self-test"]:
        found = self_test()
    else:
        libraries = dict(argument.split("=", 1) for argument in arguments[1:]
                         if argument != "--library")
        found = check_tree(arguments[0]) + check_libraries(libraries)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
