#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs valkey's RDMA module with valkey's own test of it, by hand, as Debian 12 has no valkey:

    git clone --branch 8.0.1 https://github.com/valkey-io/valkey && cd valkey
    make BUILD_RDMA=module MALLOC=libc && make -C tests/rdma
    tests/interop/valkey.py build/oche FOLDER

usage: valkey.py OCHE FOLDER

FOLDER is valkey's, built like that. Its test sets keys at random, has the server save them, which
forks, gets the keys again and compares; once in one thread, once in four. Status 77: it is not
there.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

import applications
from applications import Application, Failed

PORT = 6379


def run(oche, valkey, folder):
    server = Application("", "valkey-server", "")
    words = [f"{valkey}/src/valkey-server", "--port", "0", "--protected-mode", "no",
             "--appendonly", "no", "--dir", folder, "--loadmodule",
             f"{valkey}/src/valkey-rdma.so", f"port={PORT}", f"bind={applications.ADDRESS}"]
    serving = applications.Side(oche, server, words, folder)
    try:
        serving.wait(lambda: serving.ended() or applications.rdma_cm.listens(
            applications.ADDRESS, PORT, "TCP"), "the server does not listen")
        for threads in (0, 4):
            client = Application("", "rdma-test", r"GET \d+ KVs \[OK\]")
            words = [f"{valkey}/tests/rdma/rdma-test", "--thread", str(threads), "-h",
                     applications.ADDRESS]
            started = time.monotonic()
            side = applications.Side(oche, client, words, folder)
            try:
                side.wait(side.ended, "not done")
                applications.judge(client, side)
                keys = [int(count) for count in re.findall(r"GET (\d+) KVs \[OK\]", side.said())]
                if len(keys) != max(threads, 1):
                    raise Failed(side.said())
            finally:
                side.end()
            print(f"rdma-test --thread {threads}: works: {sum(keys)} keys "
                  f"({time.monotonic() - started:.1f} s)", flush=True)
        if serving.ended():
            raise Failed(f"the server has ended: {serving.said()}")
    finally:
        serving.end()


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    oche, valkey = map(os.path.abspath, arguments)
    for name in ("src/valkey-server", "src/valkey-rdma.so", "tests/rdma/rdma-test"):
        if not os.path.exists(f"{valkey}/{name}"):
            print(f"there is no {valkey}/{name}")
            return 77
    with tempfile.TemporaryDirectory() as folder:
        try:
            run(oche, valkey, folder)
        except Failed as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
