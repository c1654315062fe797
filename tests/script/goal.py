# SPDX-License-Identifier: Apache-2.0
"""Schedules for the test of `oche import`: made by a small generator of our own, so that they are
the same with every version of Python, as text and as GOAL's binary form.
"""
import struct

SIZES = (1, 8, 100, 4096, 65535, 65536, 200000)
TYPES = {"send": 1, "recv": 2, "calc": 3}
ANY = 0xffffffff


class Draws:
    """A linear congruential generator (Knuth's MMIX)."""

    def __init__(self, seed):
        self.state = seed * 2654435761 + 1

    def below(self, most):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % most


def made(seed):
    """Returns, for each rank, operations (type, size, peer, tag, cpu) and dependencies (operation,
    kind, before), both by number."""
    draws = Draws(seed)
    ranks = [([], []) for _ in range(2 + draws.below(11))]
    for tag in range(1 + draws.below(40)):
        sender = draws.below(len(ranks))
        receiver = (sender + 1 + draws.below(len(ranks) - 1)) % len(ranks)
        size, cpu = SIZES[draws.below(len(SIZES))], int(draws.below(4) == 0)
        ranks[sender][0].append(("send", size, receiver, tag, cpu))
        ranks[receiver][0].append(("recv", size, sender, tag, cpu))
        if draws.below(5) < 2:
            ranks[draws.below(len(ranks))][0].append(("calc", draws.below(20000), 0, 0, 0))
    for operations, dependencies in ranks:
        for number in range(1, len(operations)):
            if draws.below(10) < 7:
                kind = "irequires" if draws.below(3) == 0 else "requires"
                dependencies.append((number, kind, max(0, number - 1 - draws.below(3))))
    return ranks


def text_of(ranks):
    lines = [f"num_ranks {len(ranks)}"]
    for rank, (operations, dependencies) in enumerate(ranks):
        lines.append(f"rank {rank} {{")
        for number, (kind, size, peer, tag, cpu) in enumerate(operations):
            rest = f" cpu {cpu}" if kind == "calc" else \
                f"b {'to' if kind == 'send' else 'from'} {peer} tag {tag} cpu {cpu}"
            lines.append(f"l{number}: {kind} {size}{rest}")
            lines += [f"l{number} {how} l{before}" for after, how, before in dependencies
                      if after == number]
        lines.append("}")
    return "\n".join(lines) + "\n"


def block_of(operations, dependencies):
    waits = [sum(after == number for after, _, _ in dependencies)
             for number in range(len(operations))]
    roots = [number for number, count in enumerate(waits) if count == 0]
    rows, successors = b"", []
    for number, (kind, size, peer, tag, cpu) in enumerate(operations):
        ends = [after for after, how, before in dependencies
                if before == number and how == "requires"]
        starts = [after for after, how, before in dependencies
                  if before == number and how == "irequires"]
        rows += struct.pack("<IBIQIBBIIII", waits[number], TYPES[kind], peer, size, tag, cpu, 0,
                            len(ends), len(successors), len(starts), len(successors) + len(ends))
        successors += ends + starts
    return struct.pack("<II", len(operations), len(roots)) + \
        struct.pack(f"<{len(roots)}I", *roots) + rows + \
        struct.pack(f"<{len(successors)}I", *successors)


def binary_of(ranks):
    blocks = [block_of(*rank) for rank in ranks]
    at, table = 6 + 16 * len(blocks), b""
    for block in blocks:
        table += struct.pack("<QQ", at, at + len(block))
        at += len(block)
    cpus = max(operation[4] for operations, _ in ranks for operation in operations)
    return struct.pack("<QIBB", 4223, len(blocks), cpus, 0) + table + b"".join(blocks)
