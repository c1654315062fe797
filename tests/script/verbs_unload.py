#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program unloads the verbs library with a device open, as Open MPI does with plug-ins that it
has tried. The library's thread still runs, so its code must stay.

usage: verbs_unload.py LIBRARY
"""
import os
import sys

from checks import run_program

PROGRAM = """\
import _ctypes, ctypes, sys, time
library = ctypes.CDLL(sys.argv[1])
library.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
library.ibv_open_device.argtypes = [ctypes.c_void_p]
library.ibv_open_device.restype = ctypes.c_void_p
devices = library.ibv_get_device_list(None)
assert devices[0] and library.ibv_open_device(devices[0])
_ctypes.dlclose(library._handle)
time.sleep(0.2)  # the thread looks about it many times
print("went on")
"""


def main(library):
    environment = dict(os.environ, OCHE_DEVICE=f"127.32.{os.getpid() // 250 % 250}."
                                               f"{1 + os.getpid() % 250}", OCHE_REAL_VERBS="")
    done = run_program(sys.executable, "-c", PROGRAM, library, env=environment, timeout=60)
    if done.returncode != 0 or done.stdout != "went on\n":
        print(f"FAILED: status {done.returncode}: {done.stdout}{done.stderr}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
