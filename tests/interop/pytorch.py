#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains with PyTorch, Debian's and unmodified, whose processes talk by Gloo over TCP sockets, with
`oche exec --sockets`: collective operations, messages, and DistributedDataParallel, with all
results compared. Every connection must have gone over RDMA.

usage: pytorch.py OCHE [--table | --rows | --any-time]

--table prints the table of docs/clients.md, --rows the same without running anything. PyTorch takes
seconds to start, so it is skipped without OCHE_LONG=yes or an option. Status 77: it is skipped,
PyTorch is not installed, or no namespace can be made.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

import netns
import pairs

PYTHON = "/usr/bin/python3"  # Debian's, which has PyTorch
ADDRESS, PORT = "127.0.0.1", 29500  # in a network namespace of this test alone
PROCESSES = 3
LIMIT = 180  # seconds
PROGRAM = """\
import sys
import torch
import torch.distributed as dist

rank, size = int(sys.argv[1]), int(sys.argv[2])
dist.init_process_group("gloo", init_method=sys.argv[3], rank=rank, world_size=size)
pattern = lambda of, count: (torch.arange(count, dtype=torch.float64) * (of + 1)) % 1000003
for count in (1, 1000, 100000):
    sums = pattern(rank, count)
    dist.all_reduce(sums)
    assert torch.equal(sums, sum(pattern(i, count) for i in range(size))), count
    one = pattern(rank, count)
    dist.broadcast(one, 1)
    assert torch.equal(one, pattern(1, count)), count
    every = [torch.zeros(count, dtype=torch.float64) for _ in range(size)]
    dist.all_gather(every, pattern(rank, count))
    assert all(torch.equal(every[i], pattern(i, count)) for i in range(size)), count
    if rank == 0:
        dist.send(pattern(7, count), 1)
    elif rank == 1:
        got = torch.zeros(count, dtype=torch.float64)
        dist.recv(got, 0)
        assert torch.equal(got, pattern(7, count)), count


def model():
    torch.manual_seed(5)
    layers = torch.nn.Linear(20, 200), torch.nn.ReLU(), torch.nn.Linear(200, 3)
    return torch.nn.Sequential(*layers).double()


def train(net, part, steps=5):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(steps):
        source = torch.Generator().manual_seed(step)
        x = torch.randn(size * 8, 20, generator=source, dtype=torch.float64)
        y = x[:, :3].sum(1, keepdim=True).expand(-1, 3)
        optimizer.zero_grad()
        ((net(x[part]) - y[part]) ** 2).mean().backward()
        optimizer.step()
    return torch.cat([p.detach().flatten() for p in net.parameters()])


together = train(torch.nn.parallel.DistributedDataParallel(model()),
                 slice(rank * 8, rank * 8 + 8))
assert torch.allclose(together, train(model(), slice(0, size * 8)), rtol=0, atol=1e-12)
dist.barrier()
print("data right at", rank, flush=True)
dist.destroy_process_group()
"""
WHAT, COMMAND = (f"collectives, messages, training in {PROCESSES} processes; data checked",
                 "python3, torch.distributed, gloo")


class Failed(Exception):
    pass


def run(oche, folder):
    program = os.path.join(folder, "program.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    outputs = [open(os.path.join(folder, str(rank)), "w+", encoding="utf-8")
               for rank in range(PROCESSES)]
    processes = [subprocess.Popen(
        [oche, "exec", "--sockets", "--stats", "--device", ADDRESS, "--", PYTHON, program,
         str(rank), str(PROCESSES), f"tcp://{ADDRESS}:{PORT}"], env=environment,
        stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        for rank, output in enumerate(outputs)]
    end = time.monotonic() + LIMIT
    try:
        while any(process.poll() is None for process in processes) and time.monotonic() < end:
            time.sleep(0.05)
        said = []
        for output in outputs:
            output.seek(0)
            said.append(output.read())
        for rank, process in enumerate(processes):
            if process.poll() != 0 or f"data right at {rank}\n" not in said[rank]:
                raise Failed(f"process {rank} has status {process.poll()}: {said}")
            counts = re.search(r"of these of sockets (\d+); of sockets over TCP (\d+)", said[rank])
            if counts is None or int(counts[1]) < PROCESSES - 1 or int(counts[2]) != 0:
                raise Failed(f"process {rank} has connections by TCP: {said[rank]}")
    finally:
        for process in processes:
            process.kill()
            process.wait()
        for output in outputs:
            output.close()


def main(arguments):
    table, rows = "--table" in arguments, "--rows" in arguments
    said = "" if rows else "works"
    try:
        if not rows:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            with tempfile.TemporaryDirectory() as folder:
                run(os.path.abspath(arguments[0]), folder)
    except Failed as error:
        said = "does not work"
        print(f"{COMMAND}: {error}", file=sys.stderr, flush=True)
    if table or rows:
        print("| program | what | exec's option | |\n|---|---|---|---|")
        print(f"| `{COMMAND}` | {WHAT} | `--sockets` | {said} |")
    else:
        print(f"{COMMAND}: {said}")
    return said == "does not work"


def skip(why):
    print(why)
    sys.exit(77)


if __name__ == "__main__":
    if "--rows" not in sys.argv:
        if not (pairs.LONG or "--table" in sys.argv or "--any-time" in sys.argv):
            skip("only with OCHE_LONG=yes, as PyTorch takes seconds to start")
        if subprocess.run([PYTHON, "-c", "import torch.distributed"], capture_output=True,
                          check=False).returncode != 0:
            skip("not installed: python3-torch")
        netns.enter()
    sys.exit(main(sys.argv[1:]))
