# SPDX-License-Identifier: Apache-2.0
"""Which functions of a program have libFuzzer's counters and calls of sanitizers. This is read from
the program itself: the compiler's arguments do not say which archives the linker has taken.

A function has counters if an entry of the table that libFuzzer reads is at its beginning
(__sancov_pcs, of a program that is linked at a fixed address). It has a sanitizer if it calls a
function of that sanitizer. The debug information says which functions are ours, and their folder.
"""
import os
import struct
import subprocess

NEVER = {"oche_panic"}  # the compiler leaves out functions that only end the program
ENTRY = 1  # the flag of an entry of the table where a function begins
SANITIZERS = {"address": ("__asan_report", "__asan_stack_malloc", "__asan_load", "__asan_store"),
              "undefined": ("__ubsan_handle_",)}
X86_64, AARCH64 = 62, 183
COUNTS = ("counters", *SANITIZERS)


class Program:
    """A 64-bit ELF program: its sections and functions."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path} is no little-endian 64-bit program")
        self.path = path
        self.machine, = struct.unpack_from("<H", self.bytes, 18)
        start, = struct.unpack_from("<Q", self.bytes, 40)
        size, count, names = struct.unpack_from("<3H", self.bytes, 58)
        # name, type, flags, address, offset, bytes, link, info, alignment, bytes of an entry
        headers = [struct.unpack_from("<2I4Q2I2Q", self.bytes, start + size * i)
                   for i in range(count)]
        self.sections = {self.text(headers[names][4] + one[0]): one for one in headers}
        self.by_index = headers

    def text(self, at):
        return self.bytes[at:self.bytes.index(b"\0", at)].decode()

    def functions(self):
        """{address: (name, bytes)}"""
        table = self.sections[".symtab"]
        strings = self.by_index[table[6]][4]
        found = {}
        for at in range(table[4], table[4] + table[5], 24):
            name, info, _, section, value, size = struct.unpack_from("<I2BHQQ", self.bytes, at)
            if info & 15 == 2 and section != 0 and size > 0:
                found[value] = (self.text(strings + name), size)
        return found

    def entries(self):
        """(counters, addresses at which functions with counters begin)"""
        if "__sancov_pcs" not in self.sections:
            return 0, set()
        _, _, _, _, offset, size, *_ = self.sections["__sancov_pcs"]
        pairs = struct.iter_unpack("<2Q", self.bytes[offset:offset + size])
        return size // 16, {at for at, flags in pairs if flags & ENTRY}

    def calls(self, address, size):
        """Returns the addresses that a function calls, and perhaps some more."""
        _, _, _, base, offset, _, *_ = self.sections[".text"]
        code = self.bytes[offset + address - base:offset + address - base + size]
        if self.machine == X86_64:  # e8 and the distance from the next instruction
            at = code.find(b"\xe8")
            while 0 <= at <= size - 5:
                yield address + at + 5 + struct.unpack_from("<i", code, at + 1)[0]
                at = code.find(b"\xe8", at + 1)
        elif self.machine == AARCH64:  # BL and a distance in words
            for at in range(0, size - 3, 4):
                word, = struct.unpack_from("<I", code, at)
                if word >> 26 == 0x25:
                    yield address + at + 4 * ((word & 0x3ffffff ^ 0x2000000) - 0x2000000)


def files(path, addresses):
    """The source file of each address."""
    done = subprocess.run(["addr2line", "-e", path], input="".join(f"{at:x}\n" for at in addresses),
                          stdout=subprocess.PIPE, text=True, check=True)
    return dict(zip(addresses, (line.rsplit(":", 1)[0] for line in done.stdout.splitlines())))


def rooms(path, source, build):
    """Finds the instrumented parts of a program, which was built in `build` from `source`.

    Returns its counters, {folder of `source`: counts}, and which of our functions have none. The
    counts: of functions with "counters", and with each of SANITIZERS.
    """
    program = Program(path)
    functions = program.functions()
    counters, entries = program.entries()
    checks = {at: kind for at, (name, _) in functions.items()
              for kind, prefixes in SANITIZERS.items() if name.startswith(prefixes)}
    found, bare = {}, []
    for at, file in files(path, list(functions)).items():
        file = os.path.realpath(os.path.join(build, file))
        place = os.path.relpath(file, source)
        name, size = functions[at]
        if place.startswith("..") or name in NEVER or not os.path.isfile(file):
            if name.startswith("oche_") and name not in NEVER and at not in entries:
                bare.append(f"?: {name}")  # of an archive without debug information
            continue
        room = found.setdefault(os.path.dirname(place), dict.fromkeys(COUNTS, 0))
        room["counters"] += at in entries
        if at not in entries:
            bare.append(f"{place}: {name}")
        for kind in {checks[to] for to in program.calls(at, size) if to in checks}:
            room[kind] += 1
    return counters, found, sorted(bare)
