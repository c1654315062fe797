#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs an unmodified Ceph cluster with all connections by verbs (ms_type = async+rdma): one monitor
and three OSDs that keep their objects in memory, in namespaces of their own, which are gone at the
end. An object is put, got, and compared; then `rados bench` writes and reads
(it checks what it reads).

usage: ceph.py OCHE [--table] [--any-time]

Once with connections that Ceph makes over TCP sockets, once by rdma_cm. --table prints the table of
docs/clients.md. It takes a minute, so it is skipped without OCHE_LONG=yes or one of the options.
Status 77: it is skipped, Ceph is not installed, or no namespace can be made.
"""
import os
import re
import subprocess
import sys
import tempfile
import time
import uuid

import netns
import pairs

OSDS = 3
ADDRESS = "127.0.0.1"
LIMIT = 90  # seconds until the cluster is up
# Only the settings for RDMA. Default buffers of 128 KB each would take 4 GB per process.
CONFIGURATION = """\
[global]
fsid = {fsid}
mon_host = v1:{address}:6789
public_addr = {address}
cluster_addr = {address}
ms_bind_msgr2 = false
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_type = async+rdma
ms_async_rdma_device_name = oche_lo_v4
ms_async_rdma_local_gid = 0000:0000:0000:0000:0000:ffff:7f00:0001
ms_async_rdma_roce_ver = 2
ms_async_rdma_receive_buffers = 2048
ms_async_rdma_receive_queue_len = 256
ms_async_rdma_send_buffers = 256
ms_async_op_threads = 1
{more}
run_dir = {folder}
admin_socket = {folder}/$name.asok
log_file = {folder}/$name.log
pid_file = {folder}/$name.pid
mon_data = {folder}/mon
osd_data = {folder}/osd$id
osd_objectstore = memstore
memstore_device_bytes = 1073741824
osd_pool_default_size = 2
osd_crush_chooseleaf_type = 0
osd_op_num_shards = 2
osd_op_num_threads_per_shard = 1
osd_pool_default_pg_autoscale_mode = off
mon_data_avail_warn = 1
mon_data_avail_crit = 0
"""
WAYS = [("SEND, RC", ""),
        ("SEND, RC, by rdma_cm", "ms_async_rdma_type = iwarp\nms_async_rdma_cm = true")]


class Failed(Exception):
    pass


class Cluster:
    def __init__(self, oche, folder, more):
        self.oche, self.folder, self.daemons, self.restarts = oche, folder, [], 0
        self.fsid = str(uuid.uuid4())
        self.file = f"{folder}/ceph.conf"
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(fsid=self.fsid, address=ADDRESS, folder=folder,
                                            more=more))

    def words(self, command, *options):
        program, *rest = command.split()
        return [self.oche, "exec", *options, "--device", ADDRESS, "--files", "--", program, "-c",
                self.file, *rest]

    def run(self, command, *options):
        """Runs a command to its end; all that it says. Ceph sometimes sends a command before it has
        the map that tells the cluster's name ("wrong fsid"): then it is run again."""
        for _ in range(5):
            try:
                return self.run_once(command, *options)
            except Failed as error:
                if "problem getting command descriptions" not in str(error):
                    raise
                last = error
        raise last

    def run_once(self, command, *options):
        try:
            done = subprocess.run(self.words(command, *options), text=True, errors="replace",
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{command}: not done after {LIMIT} s: {late.output}") from None
        if done.returncode != 0:
            raise Failed(f"{command}: status {done.returncode}: {done.stdout[-3000:]}")
        return done.stdout

    def daemon(self, command, name):
        with open(f"{self.folder}/{name}.out", "w", encoding="utf-8") as output:
            return subprocess.Popen(self.words(command), stdin=subprocess.DEVNULL, stdout=output,
                                    stderr=output)

    def start_again(self):
        """Starts daemons again that have ended, as systemd would."""
        for number, process in enumerate(self.daemons[1:]):
            if process.poll() is not None:
                self.restarts += 1
                if self.restarts > 5:
                    raise Failed(f"osd{number} ended with status {process.returncode}")
                self.daemons[1 + number] = self.daemon(f"ceph-osd -i {number} -f",
                                                       f"osd{number}")

    def start(self):
        monitors = f"{self.folder}/monitors"
        subprocess.run(["monmaptool", "--create", "--addv", "a", f"[v1:{ADDRESS}:6789]", "--fsid",
                        self.fsid, monitors], check=True, stdout=subprocess.DEVNULL)
        self.run(f"ceph-mon -i a --mkfs --monmap {monitors}")
        self.daemons.append(self.daemon("ceph-mon -i a -f", "mon"))
        for number in range(OSDS):
            own = str(uuid.uuid4())
            os.mkdir(f"{self.folder}/osd{number}")
            self.run(f"ceph osd new {own} {number}")
            self.run(f"ceph-osd -i {number} --mkfs --osd-uuid {own}")
            self.daemons.append(self.daemon(f"ceph-osd -i {number} -f", f"osd{number}"))
        end = time.monotonic() + LIMIT
        while f"{OSDS} up" not in self.run("ceph osd stat"):
            if time.monotonic() > end:
                raise Failed(f"the OSDs are not up: {self.run('ceph -s')}")
            self.start_again()
            time.sleep(0.5)

    def stop(self):
        for process in reversed(self.daemons):
            process.kill()
            process.wait()


def bandwidth(said):
    return re.search(r"Bandwidth \(MB/sec\): +([\d.]+)", said)[1]


def use(cluster):
    """Returns what rados bench has measured."""
    folder = cluster.folder
    with open(f"{folder}/given", "wb") as file:
        file.write(os.urandom(20_000_003))
    cluster.run("ceph osd pool create pool 8")
    said = cluster.run(f"rados -p pool put object {folder}/given", "--stats")
    sent = sum(int(count) for count in re.findall(r": sent (\d+) packets", said))
    if sent < 20_000_000 // 4096:
        raise Failed(f"only {sent} packets were sent: {said}")
    cluster.run(f"rados -p pool get object {folder}/got")
    with open(f"{folder}/given", "rb") as given, open(f"{folder}/got", "rb") as got:
        if given.read() != got.read():
            raise Failed("another object came back than was put")
    wrote = cluster.run("rados -p pool bench 5 write -t 4 -b 1048576 --max-objects 200 "
                        "--no-cleanup")
    read = cluster.run("rados -p pool bench 5 seq -t 4")
    return f"{float(bandwidth(wrote)):.0f} MB/s written, {float(bandwidth(read)):.0f} read"


def main(arguments):
    oche = os.path.abspath(arguments[0])
    table = "--table" in arguments
    failed = 0
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    if table:
        print("| what | settings | | `rados bench`, objects of 1 MiB, two copies |\n"
              "|---|---|---|---|")
    for what, more in WAYS:
        with tempfile.TemporaryDirectory() as folder:
            cluster = Cluster(oche, folder, more)
            said, measured = "works", ""
            try:
                cluster.start()
                measured = use(cluster)
            except Failed as error:
                failed += 1
                said = "does not work"
                print(f"{what}: {error}", file=sys.stderr, flush=True)
            finally:
                cluster.stop()
        settings = more.replace("\n", ", ") or "ms_type = async+rdma"
        print(f"| {what} | `{settings}` | {said} | {measured} |" if table else
              f"{what}: {said}: {measured}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if not (pairs.LONG or "--table" in sys.argv or "--any-time" in sys.argv):
        print("only with OCHE_LONG=yes, as it takes a minute")
        sys.exit(77)
    pairs.need("ceph-mon", "ceph-osd", "ceph", "rados", "monmaptool")
    netns.enter()
    sys.exit(main(sys.argv[1:]))
