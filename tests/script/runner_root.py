# SPDX-License-Identifier: Apache-2.0
"""A place like that of a CI runner's job: a root file system that is read-only but for the user's
folder, /tmp and /dev/shm; loopback as the only network; user 1000 without capabilities; and a
seccomp filter that refuses what docker's default profile refuses.

`run(script, files)` runs a bash script there. It needs `unshare` and the right to make namespaces:
`why_not()` says what is missing. As a program it is the first process of the place.

usage: runner_root.py ROOT FILES COMMAND…    ROOT: a root file system, or "-" for this machine's
"""
import ctypes
import errno
import fcntl
import os
import platform
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

USER = 1000
HOME = "/home/runner"
CLONE_NEWUSER = 0x10000000
# Any of the flags of clone that make a namespace, but that for time.
NAMESPACES = 0x7e020000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_FILTER = 24, 38, 22, 2
CLONE, CLONE3, SOCKET = 56, 435, 41
# System calls that docker's default profile permits only with a capability; numbers of x86_64.
REFUSED = {
    "syslog": 103, "vhangup": 153, "pivot_root": 155, "chroot": 161, "acct": 163,
    "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168,
    "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173,
    "init_module": 175, "delete_module": 176, "quotactl": 179, "lookup_dcookie": 212,
    "clock_settime": 227, "mbind": 237, "set_mempolicy": 238, "get_mempolicy": 239,
    "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "unshare": 272,
    "move_pages": 279, "perf_event_open": 298, "fanotify_init": 300, "open_by_handle_at": 304,
    "setns": 308, "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321,
    "userfaultfd": 323, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431,
    "fsmount": 432, "fspick": 433, "pidfd_getfd": 438, "process_madvise": 440,
    "mount_setattr": 442,
}
libc = ctypes.CDLL(None, use_errno=True)


# ---- the filter ----

class Filter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("true", ctypes.c_ubyte), ("false", ctypes.c_ubyte),
                ("k", ctypes.c_uint)]


class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("filters", ctypes.POINTER(Filter))]


def filters():
    """The filter's instructions, classic BPF on struct seccomp_data."""
    load, equal, any_bit, answer = 0x20, 0x15, 0x45, 0x06
    permit, refuse = 0x7fff0000, 0x00050000
    steps = [(load, 0, 0, 4), (equal, 1, 0, 0xc000003e), (answer, 0, 0, permit), (load, 0, 0, 0)]
    for number in REFUSED.values():
        steps += [(equal, 0, 1, number), (answer, 0, 0, refuse | errno.EPERM)]
    steps += [(equal, 0, 1, CLONE3), (answer, 0, 0, refuse | errno.ENOSYS)]
    # By their first argument.
    for number, test, value in ((CLONE, any_bit, NAMESPACES), (SOCKET, equal, socket.AF_VSOCK)):
        steps += [(equal, 0, 4, number), (load, 0, 0, 16), (test, 0, 1, value),
                  (answer, 0, 0, refuse | errno.EPERM), (answer, 0, 0, permit)]
    return steps + [(answer, 0, 0, permit)]


def must_be_0(status, what):
    if status != 0:
        raise OSError(ctypes.get_errno(), what)


def refuse_calls():
    if platform.machine() != "x86_64":
        return
    steps = filters()
    program = Program(len(steps), (Filter * len(steps))(*(Filter(*step) for step in steps)))
    must_be_0(libc.prctl(PR_SET_SECCOMP, SECCOMP_FILTER, ctypes.byref(program), 0, 0), "seccomp")


# ---- the place ----

def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)


def bind(source, target):
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        open(target, "a", encoding="ascii").close()
    mount("--rbind", source, target)


def copy_of_this_machine(place):
    """Its programs and libraries, and nothing of its settings and folders."""
    bind("/usr", f"{place}/usr")
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), f"{place}/{name}")
        elif os.path.isdir(f"/{name}"):
            bind(f"/{name}", f"{place}/{name}")
    os.makedirs(f"{place}/etc")
    for name in ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"):
        if os.path.exists(f"/etc/{name}"):
            bind(f"/etc/{name}", f"{place}/etc/{name}")
    user = f"root:x:0:0::/root:/bin/sh\nrunner:x:{USER}:{USER}::{HOME}:/bin/sh"
    for name, text in (("passwd", user), ("group", f"root:x:0:\nrunner:x:{USER}:"),
                       ("hosts", "127.0.0.1 localhost\n::1 localhost")):
        with open(f"{place}/etc/{name}", "w", encoding="ascii") as file:
            file.write(text + "\n")


def furnish(root, place):
    mount("--make-rprivate", "/")
    if root == "-":
        mount("-t", "tmpfs", "-o", "mode=755", "none", place)
        copy_of_this_machine(place)
    else:
        mount("--bind", root, place)
    for folder in ("proc", "dev", "tmp", HOME[1:]):
        os.makedirs(f"{place}/{folder}", exist_ok=True)
    mount("-t", "proc", "none", f"{place}/proc")
    mount("-t", "tmpfs", "-o", "mode=755", "none", f"{place}/dev")
    for device in ("null", "zero", "full", "random", "urandom"):
        bind(f"/dev/{device}", f"{place}/dev/{device}")
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(f"/proc/self/{target}", f"{place}/dev/{name}")
    os.mkdir(f"{place}/dev/shm")
    for folder in ("tmp", "dev/shm"):
        mount("-t", "tmpfs", "-o", "mode=1777,size=64m", "none", f"{place}/{folder}")
    mount("-t", "tmpfs", "-o", "mode=755,size=512m", "none", place + HOME)


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))


def become_user(is_root, place):
    """User 1000 without capabilities, in the place: as such where root has started this, else in a
    user namespace, which cannot be made after chroot."""
    if not is_root:
        must_be_0(libc.unshare(CLONE_NEWUSER), "unshare")
        for name, text in (("setgroups", "deny"), ("gid_map", f"{USER} 0 1"),
                           ("uid_map", f"{USER} 0 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    os.chroot(place)
    os.chdir(HOME)
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if is_root:
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
    must_be_0(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")


def main(root, files, command):
    with open("/proc/self/uid_map", encoding="ascii") as file:
        is_root = int(file.read().split()[2]) > USER
    place = tempfile.mkdtemp()
    furnish(root, place)
    shutil.copytree(files, place + HOME, symlinks=True, dirs_exist_ok=True)
    for folder, folders, names in os.walk(place + HOME):
        for name in [".", *folders, *names]:
            if is_root:
                os.chown(os.path.join(folder, name), USER, USER, follow_symlinks=False)
    mount("-o", "remount,bind,ro", place)
    loopback_up()
    become_user(is_root, place)
    refuse_calls()
    os.execve(command[0], command, {"HOME": HOME, "PATH": "/usr/local/bin:/usr/bin:/bin",
                                    "USER": "runner", "LC_ALL": "C.UTF-8"})


# ---- for tests ----

def run(script, files, root="-"):
    """Runs a bash script in a new place, as run_command does."""
    return run_command(["/bin/bash", "-e", "-o", "pipefail", "-c", script], files, root)


def run_command(command, files, root, timeout=600):
    """Runs a command in a new place, whose user's folder has a copy of `files`. Returns a
    subprocess.CompletedProcess with both outputs in stdout."""
    # --user only without root: it would have no other user.
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return subprocess.run(
        ["unshare", *user, "--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child",
         sys.executable, os.path.abspath(__file__), root, files, *command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", timeout=timeout, check=False)


def why_not():
    """Returns why there is no such place here, or None."""
    if shutil.which("unshare") is None:
        return "there is no unshare"
    with tempfile.TemporaryDirectory() as nothing:
        result = run("true", nothing)
    return None if result.returncode == 0 else (result.stdout.strip().splitlines() or ["?"])[-1]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
