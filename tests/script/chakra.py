# SPDX-License-Identifier: Apache-2.0
"""Execution traces of Chakra, written without protobuf: frames of protobuf messages. The schema is
0.0.4's.
"""
import gzip
import os
import struct

METADATA, LOAD, STORE, COMP, SEND, RECV, COLL = 1, 2, 3, 4, 5, 6, 7
OPERATIONS = {"all_reduce": 0, "all_gather": 2, "broadcast": 5, "all_to_all": 6,
              "reduce_scatter": 7, "barrier": 9}


def varint(number):
    number %= 1 << 64
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def zigzag(number):
    return varint(number * 2 if number >= 0 else -number * 2 - 1)


def field(number, value):
    """A field: an int is a varint; bytes and texts have a length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


# Each way to write an integer: its field, wire type, and bytes.
INTEGERS = {"int32": (7, 0, varint), "int64": (9, 0, varint), "uint32": (11, 0, varint),
            "uint64": (13, 0, varint), "sint32": (15, 0, zigzag), "sint64": (17, 0, zigzag),
            "fixed32": (19, 5, lambda n: struct.pack("<I", n)),
            "fixed64": (21, 1, lambda n: struct.pack("<Q", n)),
            "sfixed32": (23, 5, lambda n: struct.pack("<i", n)),
            "sfixed64": (25, 1, lambda n: struct.pack("<q", n))}


def attribute(name, value, kind="int64"):
    if isinstance(value, bool):
        rest = field(27, int(value))
    elif isinstance(value, int):
        number, wire, to_bytes = INTEGERS[kind]
        rest = varint(number << 3 | wire) + to_bytes(value)
    elif isinstance(value, list):  # of bool
        rest = field(28, field(1, bytes(value)))
    else:
        rest = field(29, value)
    return field(10, field(1, name) + rest)


def node(number, kind, data=(), ctrl=(), micros=0, inputs=None, integers="int64", **attributes):
    message = b"" if number == 0 else field(1, number)
    message += field(2, f"n{number}") + field(3, kind)
    for at, deps in ((4, ctrl), (5, data)):
        if deps:
            message += field(at, b"".join(varint(dep) for dep in deps))
    if micros:
        message += field(7, micros)
    if inputs is not None:
        message += field(8, field(1, inputs))
    return message + b"".join(attribute(name, value, integers)
                              for name, value in attributes.items())


def coll(number, operation, size, data=(), **more):
    return node(number, COLL, data, comm_type=OPERATIONS[operation], comm_size=size, **more)


def send(number, to, size, data=(), **more):
    return node(number, SEND, data, comm_dst=to, comm_size=size, **more)


def recv(number, source, size, data=(), **more):
    return node(number, RECV, data, comm_src=source, comm_size=size, **more)


def trace(nodes, version="0.0.4"):
    messages = [field(1, version)] + list(nodes)
    return b"".join(varint(len(message)) + message for message in messages)


def write(folder, name, ranks, compress=False):
    """Writes a trace for each rank; returns the path of the first."""
    for rank, content in enumerate(ranks):
        content = content if isinstance(content, bytes) else trace(content)
        with open(os.path.join(folder, f"{name}.{rank}.et"), "wb") as file:
            file.write(gzip.compress(content) if compress else content)
    return os.path.join(folder, f"{name}.0.et")
