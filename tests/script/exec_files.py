#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec --files`: what programs find of a device's files, and that other files are as ever."""
import os
import sys
import tempfile

from checks import must, run_program

OCHE = os.environ["OCHE"]
ATTRIBUTES = "/sys/class/infiniband/oche_lo_v4/ports/1/gid_attrs"
ASK = """\
import ctypes, errno, os, stat
libc = ctypes.CDLL(None, use_errno=True)
libc.fopen.restype = libc.fopen64.restype = ctypes.c_void_p

def call(name, *arguments):
    ctypes.set_errno(0)
    value = getattr(libc, name)(*arguments)
    return value, errno.errorcode.get(ctypes.get_errno(), 0) if value in (-1, None) else 0

def read(fd):
    text = os.read(fd, 100)
    os.close(fd)
    return text

types, ndevs = (b"%s/types/0", b"%s/ndevs/0")
types, ndevs = types % BASE, ndevs % BASE
device, nobodys = b"/dev/infiniband/uoche_lo_v4", b"/dev/infiniband/uoche_nobodys"
for name in ("open", "open64"):
    assert read(call(name, types, os.O_RDONLY)[0]) == b"RoCE v2\\n", name
    assert call(name, types, os.O_RDWR) == (-1, "EACCES"), name
    assert call(name, nobodys, os.O_RDWR) == (-1, "ENOENT"), name
for name in ("openat", "openat64"):
    assert read(call(name, -100, ndevs, os.O_RDONLY)[0]) == b"lo\\n", name
for name in ("__open_2", "__open64_2"):
    assert read(call(name, types, os.O_RDONLY)[0]) == b"RoCE v2\\n", name
for name in ("fopen", "fopen64"):
    assert call(name, types, b"r")[0] is not None, name
    assert call(name, types, b"r+") == (None, "EACCES"), name
about = ctypes.create_string_buffer(512)
for name in ("stat", "stat64", "lstat", "lstat64"):
    assert call(name, types, about)[0] == 0, name
    assert call(name, nobodys, about) == (-1, "ENOENT"), name
    assert call(name, None, about) == (-1, "EFAULT"), name
for name in ("__xstat", "__xstat64"):
    assert call(name, 1, types, about)[0] == 0, name
    assert call(name, 1, b"/nowhere", about) == (-1, "ENOENT"), name
assert stat.S_ISCHR(os.stat(device).st_mode) and os.stat(types).st_size == 8
assert os.access(device, os.R_OK | os.W_OK)
assert os.access("/dev/infiniband/uoche_lo", os.R_OK)  # the name that it once had
assert os.access(types, os.R_OK) and not os.access(types, os.W_OK)
assert call("access", None, 0) == (-1, "EFAULT") and call("open", None, 0) == (-1, "EFAULT")
os.close(os.open(device, os.O_RDWR))
for name in (BASE + b"/types/1", BASE + b"/types", b"/sys/class/infiniband/oche_nobodys/ports/1/"
             b"gid_attrs/types/0", b"/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0"):
    assert not os.path.exists(name), name
made = os.open(os.path.join(FOLDER, "made"), os.O_CREAT | os.O_WRONLY, 0o640)
os.close(made)
assert os.stat(os.path.join(FOLDER, "made")).st_mode & 0o777 == 0o640 & ~os.umask(0)
"""


def run(*words, **environment):
    return run_program(OCHE, "exec", *words, env=dict(os.environ, **environment))


def main():
    folder = os.path.realpath(os.path.dirname(OCHE))
    hooks, files = (f"{folder}/liboche-{name}.so" for name in ("exit", "files"))
    show = f"cat {ATTRIBUTES}/types/0; echo $LD_PRELOAD"
    with tempfile.TemporaryDirectory() as folder:
        ask = f"BASE, FOLDER = {ATTRIBUTES.encode()!r}, {folder!r}\n" + ASK
        done = run("--files", "--", sys.executable, "-c", ask)
        must(done.returncode == 0 and not done.stderr, done.returncode, done.stderr)
    done = run("--files", "--", "sh", "-c", show)
    must(done.stdout == f"RoCE v2\n{hooks}:{files}\n", "for a program's programs", done)
    done = run("--", "sh", "-c", show)
    must(done.stdout == hooks + "\n" and "No such file" in done.stderr, "unasked", done)
    # Added to the user's own LD_PRELOAD.
    done = run("--files", "--", "sh", "-c", "echo $LD_PRELOAD", LD_PRELOAD="libc.so.6")
    must(done.stdout == f"{hooks}:{files}:libc.so.6\n", "beside others", done)
    # A copy of the program that has the one library, and not the other.
    with tempfile.TemporaryDirectory() as folder:
        for name in ("oche", "libibverbs.so.1"):
            os.symlink(os.path.join(os.path.dirname(OCHE), name), os.path.join(folder, name))
        copy = os.path.join(folder, "program")
        with open(OCHE, "rb") as source, open(copy, "wb") as target:
            target.write(source.read())
        os.chmod(copy, 0o755)
        done = run_program(copy, "exec", "--files", "--", "true")
        must(done.returncode == 2 and done.stderr.count("\n") == 1 and
             "liboche-files.so" in done.stderr, "the library is not there", done)
    print("ok")


if __name__ == "__main__":
    main()
