#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server and a client with epoll, without a word of RDMA: many connections at a time echo random
bytes, end by halves, and are compared; in rounds, so that descriptors are used again at once.

usage: rsockets_asyncio.py server|client ADDRESS PORT
"""
import asyncio
import os
import sys

CONNECTIONS = 20
BYTES = 100000
ROUNDS = 5


async def echo(reader, writer):
    while data := await reader.read(50000):
        writer.write(data)
        await writer.drain()
    writer.write_eof()
    writer.close()


async def serve(address, port):
    server = await asyncio.start_server(echo, address, port)
    async with server:
        await server.serve_forever()


async def call(address, port):
    reader, writer = await asyncio.open_connection(address, port)
    sent = os.urandom(BYTES)
    small = os.urandom(10)
    for _ in range(20):  # answers to questions, one after the other
        writer.write(small)
        if await reader.readexactly(len(small)) != small:
            return False

    async def send():
        writer.write(sent)
        await writer.drain()
        writer.write_eof()

    sending = asyncio.create_task(send())
    got = await reader.read()
    await sending
    writer.close()
    return got == sent


async def call_all(address, port):
    for _ in range(ROUNDS):
        same = await asyncio.gather(*(call(address, port) for _ in range(CONNECTIONS)))
        if not all(same):
            sys.exit("what came back is not what was sent")
    print(f"{CONNECTIONS} connections echoed {BYTES} bytes")


if __name__ == "__main__":
    what = serve if sys.argv[1] == "server" else call_all
    asyncio.run(what(sys.argv[2], int(sys.argv[3])))
