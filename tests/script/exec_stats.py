#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec --stats` reports datagrams that are no packets, and damaged packets."""
import os
import sys

from checks import run_program

OCHE = os.environ["OCHE"]
ADDRESS = "127.34.1.1"
# Two packets that are too short, and an RC SEND ONLY of 8 bytes whose ICRC is zero.
PROGRAM = f"""
import ctypes, socket, time
verbs = ctypes.CDLL("libibverbs.so.1")
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
verbs.ibv_open_device.restype = ctypes.c_void_p
first = ctypes.c_void_p(verbs.ibv_get_device_list(None)[0])
context = ctypes.c_void_p(verbs.ibv_open_device(first))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    for packet in b"x", b"", bytes((4, 0, 255, 255, 0, 0, 0, 99)) + bytes(16):
        sender.sendto(packet, ("{ADDRESS}", 4791))
time.sleep(0.3)
assert verbs.ibv_close_device(context) == 0
"""


def main():
    done = run_program(OCHE, "exec", "--stats", f"--device={ADDRESS}", "--", sys.executable, "-c",
                       PROGRAM)
    first = done.stderr.splitlines()[0] if done.stderr else ""
    if done.returncode != 0 or "received 3 in 3" not in first or \
            "strangers 3, malformed 2, wrong ICRC 1, passed on to other processes 0" not in first:
        print("FAILED:", done)
        sys.exit(1)
    print(first)


if __name__ == "__main__":
    main()
