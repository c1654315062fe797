# SPDX-License-Identifier: Apache-2.0
"""The names that processes of this user have (device/shared/names.h): their slots, and the
services that they listen to."""
import fcntl
import glob
import os
import socket
import struct

FLOCK = "hhqqi4x"  # struct flock on a 64-bit machine: type, whence, start, length, process
SLOTS = 64
SERVICES = 1 << 62
SERVICE_BYTES = 128
RDMA_PS_TCP = 0x106
SO_NETNS_COOKIE = 71
PLACES = ["/dev/shm/oche-{}", "/tmp/oche-{}", "/run/user/{}/oche", "/run/oche-{}"]


def network():
    """The number of this network namespace."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as any_socket:
        try:
            cookie = any_socket.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8)
            return str(struct.unpack("Q", cookie)[0])
        except OSError:
            return f"i{os.stat('/proc/thread-self/ns/net').st_ino}"


def files(address, net="*", port=4791):
    """The files of an address, or of all that match."""
    return [path for place in PLACES
            for path in glob.glob(f"{place.format(os.geteuid())}/net-{net}-{address}-{port}")]


def held(path, start, count):
    """The first range that somebody has, as (start, length), or None."""
    with open(path, "rb") as file:
        asked = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, start, count, 0)
        kind, _, start, count, _ = struct.unpack(
            FLOCK, fcntl.fcntl(file, fcntl.F_OFD_GETLK, asked)[:struct.calcsize(FLOCK)])
    return None if kind == fcntl.F_UNLCK else (start, count)


def slots(address, net="*"):
    """Returns the slots that processes have of the matching addresses, as (file, slot)."""
    found = []
    for path in files(address, net):
        try:
            found += [(path, slot) for slot in range(SLOTS) if held(path, slot, 1)]
        except FileNotFoundError:
            pass  # its last process has ended meanwhile
    return found


def range_held(address, start, count, net=None):
    for path in files(address, net or network()):
        try:
            if held(path, start, count):
                return True
        except FileNotFoundError:
            pass
    return False


def service_held(address, service, net=None):
    """True if a process listens to a service. `net`: the network namespace's number, or "*"; by
    itself this one."""
    return range_held(address, SERVICES + service * SERVICE_BYTES, 1, net)


def tcp_service_held(address, port, net=None):
    """service_held, for a port of rdma_cm's port space TCP."""
    return service_held(address, RDMA_PS_TCP << 16 | port, net)


def any_service():
    """True if a process of this network namespace listens to anything."""
    return range_held("*", SERVICES, 0)
