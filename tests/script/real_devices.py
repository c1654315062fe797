#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The system's RDMA devices beside ours, as `oche exec` finds them.

usage: real_devices.py named STAND-IN STAND-IN-OF-NO-VERSION DRIVER
           what OCHE_REAL_VERBS names: the stand-in of tests/support, and what is none
       real_devices.py manager STAND-IN DRIVER STAND-IN-OF-LIBRDMACM
           what OCHE_REAL_RDMACM names, as that
       real_devices.py found STAND-IN DRIVER
           rdma-core's own library and drivers, with a folder of device files and one of sysfs that
           are made up, in a mount namespace. The drivers never get as far as a device.
       real_devices.py soft_roce
           a socket on port 4791 of all addresses, as soft-RoCE has it: a line says so, at once

Status 77: there is no rdma-core here, or no leave to make such a namespace.
"""
import ctypes
import errno
import os
import shutil
import socket
import subprocess
import sys
import tempfile

from checks import fail, run_program

OCHE = os.environ["OCHE"]
OURS = os.path.join(os.environ["BUILD"], "libibverbs.so.1")
OUR_MANAGER = os.path.join(os.environ["BUILD"], "librdmacm.so.1")
ROOTS = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]


def skip(*why):
    print(*why)
    sys.exit(77)


# ---- a program that lists devices ----

def listing(library, *drivers):
    """Returns one line per device: its name, and the driver libraries to which it belongs. Or an
    errno."""
    verbs = ctypes.CDLL(library, use_errno=True)
    asked = [ctypes.CDLL(driver).mlx5dv_is_supported for driver in drivers]
    verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
    verbs.ibv_get_device_name.restype = ctypes.c_char_p
    devices = verbs.ibv_get_device_list(None)
    if not devices:
        print("errno", errno.errorcode[ctypes.get_errno()])
        return
    at = 0
    while devices[at]:
        device = ctypes.c_void_p(devices[at])
        print(verbs.ibv_get_device_name(device).decode(),
              *["yes" if one(device) & 0xff else "no" for one in asked])
        at += 1
    verbs.ibv_free_device_list(devices)


def run(*command, **variables):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("OCHE_REAL_VERBS", "OCHE_REAL_RDMACM", "LD_LIBRARY_PATH")}
    environment.update(variables)
    done = run_program(*command, env=environment, timeout=60)
    if done.returncode != 0:
        fail(*command, done)
    return done.stdout.splitlines(), done.stderr


def listed(*drivers, **variables):
    """Lists devices with our library, which is found in the usual way."""
    return run(OCHE, "exec", "--", sys.executable, __file__, "list", "libibverbs.so.1", *drivers,
               **variables)


def split(lines):
    """Splits the lines into our devices and others; ours must come first."""
    ours = [line for line in lines if line.startswith("oche_")]
    if not ours or lines[:len(ours)] != ours:
        fail("ours do not come first:", lines)
    return ours, lines[len(ours):]


# ---- what OCHE_REAL_VERBS names ----

def refused(path, *words):
    lines, said = listed(OCHE_REAL_VERBS=path)
    if lines != ["errno EINVAL"]:
        fail(path, lines)
    if said.count("\n") != 1 or not said.startswith(f"oche: OCHE_REAL_VERBS={path}: "):
        fail(path, said)
    for word in words:
        if word not in said:
            fail(path, said)
    print(said, end="")


def named(stand_in, other, driver):
    lines, said = listed(OCHE_REAL_VERBS="")
    ours, others = split(lines)
    if others or said:
        fail("nothing is named:", lines, said)
    lines, said = listed(OCHE_REAL_VERBS=stand_in, SYSTEM_VERBS_DRIVER=driver)
    if lines != ours + ["a name of the system's"] or said:
        fail(lines, said)
    lines, said = listed(OCHE_REAL_VERBS=stand_in, SYSTEM_VERBS_DRIVER=driver,
                         OCHE_DEVICE="192.0.2.77")
    if lines or said.count("\n") != 1:
        fail("who wants a device that is not there gets another one:", lines, said)
    with tempfile.TemporaryDirectory() as folder:
        text, copy = os.path.join(folder, "text"), os.path.join(folder, "libibverbs.so.1")
        with open(text, "w", encoding="utf-8") as file:
            file.write("not a library\n")
        shutil.copy(OURS, copy)
        refused(text, "file too short")
        refused(copy, "oche's own")
        refused(os.path.join(folder, "none"), "No such file")
    refused(OURS, "oche's own")
    refused(driver, "is no libibverbs")
    refused(other, "rdma-core 34 to 65")


def open_channels():
    """Two event channels, by our librdmacm: how many there are, or errno."""
    cm = ctypes.CDLL("librdmacm.so.1", use_errno=True)
    cm.rdma_create_event_channel.restype = ctypes.c_void_p
    for _ in range(2):
        channel = cm.rdma_create_event_channel()
        print("a channel" if channel else errno.errorcode[ctypes.get_errno()])


def channels(**variables):
    return run(OCHE, "exec", "--", sys.executable, __file__, "channels", **variables)


def manager(stand_in, driver, other):
    theirs = {"OCHE_REAL_VERBS": stand_in, "SYSTEM_VERBS_DRIVER": driver}
    for variables in ({"OCHE_REAL_RDMACM": other}, {"OCHE_REAL_RDMACM": ""},
                      {"OCHE_REAL_VERBS": "", "OCHE_REAL_RDMACM": "/none"}):
        lines, said = channels(**(theirs | variables))
        if lines != ["a channel"] * 2 or said:
            fail(variables, lines, said)
    with tempfile.TemporaryDirectory() as folder:
        text, copy = os.path.join(folder, "text"), os.path.join(folder, "librdmacm.so.1")
        with open(text, "w", encoding="utf-8") as file:
            file.write("not a library\n")
        shutil.copy(OUR_MANAGER, copy)
        for path, word in ((text, "file too short"), (copy, "oche's own"),
                           (OUR_MANAGER, "oche's own"), ("/none", "No such file"),
                           (driver, "is no librdmacm of rdma-core 34 or later, as it has no ")):
            lines, said = channels(OCHE_REAL_RDMACM=path, **theirs)
            print(said, end="")
            if lines != ["EINVAL"] * 2 or said.count("\n") != 1 or word not in said or \
                    not said.startswith(f"oche: OCHE_REAL_RDMACM={path}: "):
                fail(path, lines, said)
        # One that is found, and is none, leaves ours.
        shutil.copy(driver, copy)
        lines, said = channels(LD_LIBRARY_PATH=folder, **theirs)
        if lines != ["a channel"] * 2 or (said and "have no connections by address: " not in said):
            fail("a file that is no librdmacm:", lines, said)


# ---- what is found ----

def stock():
    for root in ROOTS:
        if os.path.exists(os.path.join(root, "libibverbs.so.1")):
            return os.path.join(root, "libibverbs.so.1")
    skip("no libibverbs of rdma-core here")
    return None


def write(folder, **files):
    os.makedirs(folder)
    for name, text in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text + "\n")


def mount(*arguments):
    done = run_program("mount", *arguments)
    if done.returncode != 0:
        skip("cannot mount in a namespace:", done.stderr.strip())


def make_up_devices(folder):
    """Two devices: rxe0, which rxe's driver knows by its name, and mlx5_0, by its number."""
    devices = os.path.join(folder, "dev", "infiniband")
    os.makedirs(devices)
    mount("-t", "tmpfs", "none", os.path.join(folder, "dev"))
    os.makedirs(devices)
    for name in ("null", "zero", "urandom"):
        write_to = os.path.join(folder, "dev", name)
        open(write_to, "w").close()
        mount("--bind", "/dev/" + name, write_to)
    mount("-t", "tmpfs", "none", "/sys/class")
    verbs, all_of = "/sys/class/infiniband_verbs", "/sys/class/infiniband"
    write(verbs, abi_version="6")
    for number, name in enumerate(("rxe0", "mlx5_0")):
        write(f"{verbs}/uverbs{number}", ibdev=name, abi_version="1", dev="1:3")
        write(f"{all_of}/{name}", node_type="1: CA", node_guid="0202:c0ff:fe00:0201", fw_ver="1")
        node = os.path.join(devices, f"uverbs{number}")
        open(node, "w").close()
        mount("--bind", "/dev/null", node)
    write(f"{all_of}/mlx5_0/device",
          modalias="pci:v000015B3d00001017sv000015B3sd00000001bc02sc00i00")
    mount("--rbind", os.path.join(folder, "dev"), "/dev")


def inside(stand_in, driver, folder):
    theirs = stock()
    os.mkdir(os.path.join(folder, "later"))
    os.symlink(os.path.abspath(stand_in), os.path.join(folder, "later", "libibverbs.so.1"))
    make_up_devices(folder)
    alone, _ = run(sys.executable, __file__, "list", theirs)
    print("without oche exec:", *alone)
    if sorted(alone) != ["mlx5_0", "rxe0"]:
        skip("rdma-core does not take the devices that are made up for true")
    lines, said = listed()
    print("with it:", *lines)
    if split(lines)[1] != alone or said:
        fail(lines, said)
    lines, said = listed(OCHE_REAL_VERBS="")
    if split(lines)[1] or said:
        fail("OCHE_REAL_VERBS is empty:", lines, said)
    # Another one in LD_LIBRARY_PATH comes before the standard folders.
    lines, said = listed(LD_LIBRARY_PATH=os.path.join(folder, "later"),
                         SYSTEM_VERBS_DRIVER=os.path.abspath(driver))
    if split(lines)[1] != ["a name of the system's"] or said:
        fail(lines, said)
    # Without the kernel's rdma_ucm, the system's librdmacm has no channels, and a line must say
    # that.
    if os.path.exists(os.path.join(os.path.dirname(theirs), "librdmacm.so.1")):
        lines, said = channels()
        if lines != ["a channel"] * 2 or said.count("\n") != 1 or \
                "have no connections by address: rdma_create_event_channel: " not in said:
            fail(lines, said)
    mlx5 = os.path.join(os.path.dirname(theirs), "libmlx5.so.1")
    if os.path.exists(mlx5):
        lines, said = listed(mlx5)
        print("of libmlx5:", *lines)
        for line in lines:
            if (line.split()[-1] == "yes") != line.startswith("mlx5_0"):
                fail("libmlx5 takes it for what it is not:", line)
    if shutil.which("ibv_devinfo"):
        # /dev/null accepts every command. The answers must be equal, line by line.
        plain, _ = run("ibv_devinfo", "-v", "-d", "rxe0")
        if run(OCHE, "exec", "--", "ibv_devinfo", "-v", "-d", "rxe0")[0] != plain:
            fail("ibv_devinfo says something else")
        if len(plain) < 10:
            fail(plain)
    return 0


def found(stand_in, driver):
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True).returncode != 0:
        skip("no leave to make a mount namespace")
    with tempfile.TemporaryDirectory() as folder:  # what is mounted there ends with the namespace
        done = subprocess.run(["unshare", "-Urm", sys.executable, __file__, "inside", stand_in,
                               driver, folder])
    sys.exit(done.returncode)


# ---- beside soft-RoCE ----

def soft_roce(*, inside=False):
    if not inside:
        if subprocess.run(["unshare", "-Urn", "true"], capture_output=True).returncode != 0:
            skip("no leave to make a network namespace")
        sys.exit(subprocess.run(["unshare", "-Urn", "sh", "-c", 'ip link set lo up && exec "$@"',
                                 "sh", sys.executable, __file__, "beside"]).returncode)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("0.0.0.0", 4791))
        lines, said = run(OCHE, "exec", "--", sys.executable, __file__, "open")
    if lines != ["EADDRINUSE"] * 2 or said.count("\n") != 1 or "soft-RoCE" not in said:
        fail(lines, said)
    lines, said = run(OCHE, "exec", "--", sys.executable, __file__, "open")
    if lines != ["0"] * 2 or said:
        fail(lines, said)


def open_twice():
    verbs = ctypes.CDLL("libibverbs.so.1", use_errno=True)
    verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
    verbs.ibv_open_device.restype = ctypes.c_void_p
    device = ctypes.c_void_p(verbs.ibv_get_device_list(None)[0])
    for _ in range(2):
        context = verbs.ibv_open_device(device)
        print(verbs.ibv_close_device(ctypes.c_void_p(context)) if context
              else errno.errorcode[ctypes.get_errno()])


if __name__ == "__main__":
    sys.exit({"list": listing, "named": named, "manager": manager, "channels": open_channels,
              "found": found, "inside": inside,
              "soft_roce": soft_roce, "beside": lambda: soft_roce(inside=True),
              "open": open_twice}[sys.argv[1]](*sys.argv[2:]))
