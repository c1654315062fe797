#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec --files`: what programs find of the devices' files by each call of the C library, and
that other files are as ever.
"""
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
for name in (BASE + b"/types/1", b"/sys/class/infiniband/oche_nobodys/ports/1/"
             b"gid_attrs/types/0", b"/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0"):
    assert not os.path.exists(name), name
# Each call by name, on a file, a folder and a link.
CLASS, NAME = b"/sys/class/infiniband", b"oche_lo_v4"
PARENT, GUID = b"/sys/devices/virtual/oche/oche_lo_v4", CLASS + b"/oche_lo_v4/node_guid"
LINK = b"../../devices/virtual/oche/oche_lo_v4/infiniband/oche_lo_v4"
text = ctypes.create_string_buffer(4096)
string = ctypes.c_char_p
for name in ("realpath", "__realpath_chk", "canonicalize_file_name", "getcwd", "__getcwd_chk",
             "get_current_dir_name"):
    getattr(libc, name).restype = string
for name in ("readlink", "readlinkat", "__readlink_chk", "__readlinkat_chk"):
    getattr(libc, name).restype = ctypes.c_ssize_t
libc.opendir.restype = ctypes.c_void_p
for name in ("__openat_2", "__openat64_2"):
    assert len(read(call(name, -100, GUID, os.O_RDONLY)[0])) == 20, name
above = os.open("/sys/class", os.O_RDONLY)
for name in ("openat", "openat64", "__openat_2", "__openat64_2"):
    fd, error = call(name, above, b"infiniband/oche_lo_v4/node_guid", os.O_RDONLY)
    assert len(read(fd)) == 20, (name, error)
for name in ("fstatat", "fstatat64"):
    assert call(name, above, b"infiniband/oche_lo_v4", about, 0x100)[0] == 0, name
for name in ("__fxstatat", "__fxstatat64"):
    assert call(name, 1, -100, GUID, about, 0)[0] == 0, name
    assert call(name, 1, above, b"infiniband/nothing", about, 0) == (-1, "ENOENT"), name
for name in ("__lxstat", "__lxstat64"):
    assert call(name, 1, CLASS + b"/oche_lo_v4", about)[0] == 0, name
assert call("statx", -100, GUID, 0, 0x7ff, about)[0] == 0
assert call("statx", above, b"infiniband/nothing", 0, 0x7ff, about) == (-1, "ENOENT")
for name in ("statfs", "statfs64", "statvfs", "statvfs64"):
    assert call(name, GUID, about)[0] == 0, name
    assert call(name, CLASS + b"/nothing", about) == (-1, "ENOENT"), name
for name in ("access", "eaccess", "euidaccess"):
    assert call(name, GUID, os.R_OK)[0] == 0, name
    assert call(name, GUID, os.W_OK) == (-1, "EACCES"), name
    assert call(name, GUID, os.X_OK) == (-1, "EACCES"), name
    assert call(name, CLASS, os.X_OK)[0] == 0, name
assert call("faccessat", above, b"infiniband", os.R_OK, 0)[0] == 0
assert call("faccessat", above, b"infiniband", os.W_OK, 0) == (-1, "EACCES")
for name, *words in (("readlink", CLASS + b"/oche_lo_v4", text, 4096),
                     ("readlinkat", above, b"infiniband/oche_lo_v4", text, 4096),
                     ("__readlink_chk", CLASS + b"/oche_lo_v4", text, 4096, 4096),
                     ("__readlinkat_chk", above, b"infiniband/oche_lo_v4", text, 4096, 4096)):
    count = call(name, *words)[0]
    assert text.raw[:count] == LINK, (name, text.raw[:count])
for name, *words in (("realpath", text), ("__realpath_chk", text, 4096), ("realpath", None),
                     ("canonicalize_file_name",)):
    assert call(name, CLASS + b"/oche_lo_v4/device", *words)[0] == PARENT, name
    assert call(name, CLASS + b"/oche_lo_v4/nothing", *words) == (None, "ENOENT"), name
assert call("opendir", CLASS)[0] is not None and call("opendir", GUID) == (None, "ENOTDIR")
listed = ctypes.c_void_p()
for name, *at in (("scandir",), ("scandir64",), ("scandirat", above), ("scandirat64", above)):
    count, error = call(name, *at, b"infiniband" if at else CLASS, ctypes.byref(listed), None, None)
    assert count == len(os.listdir(CLASS)) + 2, (name, count, error)
for name in ("glob", "glob64"):
    found = (ctypes.c_size_t * 32)()
    for pattern in (CLASS + b"/oche_lo_v4/ports/*/stat[e]", GUID):
        assert call(name, pattern, 0, None, found)[0] == 0 and found[0] == 1, (name, found[0])
        path = ctypes.cast(found[1], ctypes.POINTER(string))[0]
        assert path.startswith(CLASS + b"/oche_lo_v4/"), path
        call("globfree" + name[4:], found)
    assert call(name, CLASS + b"/x*", 0, None, found)[0] == 3, name  # GLOB_NOMATCH
for name in ("getxattr", "lgetxattr"):
    assert call(name, GUID, b"user.none", text, 10)[1] in ("ENODATA", "EOPNOTSUPP"), name
for name in ("listxattr", "llistxattr"):
    assert call(name, GUID, text, 10)[1] in (0, "EOPNOTSUPP"), name
    assert call(name, CLASS + b"/nothing", text, 10) == (-1, "ENOENT"), name
for name in ("freopen", "freopen64"):
    getattr(libc, name).restype = ctypes.c_void_p
    stream = ctypes.c_void_p(call("fopen", b"/dev/null", b"r")[0])
    assert call(name, GUID, b"r", stream)[0] is not None, name
    assert call(name, GUID, b"w", stream) == (None, "EACCES"), name
here = os.getcwd()
assert call("chdir", CLASS + b"/oche_lo_v4")[0] == 0
inside = PARENT + b"/infiniband/oche_lo_v4"
for name, *words in (("getcwd", text, 4096), ("__getcwd_chk", text, 4096, 4096),
                     ("getcwd", None, 0), ("get_current_dir_name",)):
    assert call(name, *words)[0] == inside, (name, text.value)
assert open("node_type").read() == "1: CA\\n" and os.path.realpath("device") == PARENT.decode()
assert call("realpath", b"../..", None)[0] == PARENT and "oche_lo_v4" in os.listdir("subsystem")
os.chdir(here)
# What Python makes of these calls.
import glob, pathlib, shutil
assert "oche_lo_v4" in os.listdir(CLASS.decode()) == [e.name for e in os.scandir(CLASS.decode())]
assert glob.glob("/sys/class/infiniband/*_lo_v4") == ["/sys/class/infiniband/oche_lo_v4"]
assert pathlib.Path("/sys/class/infiniband/oche_lo_v4/device/net/lo").resolve().name == "lo"
assert os.listdir("/sys/class/infiniband/oche_lo_v4/device/net") == ["lo"]
assert sum(len(files) for _, _, files in os.walk("/sys/class/infiniband/oche_lo_v4")) > 40
assert shutil.copy(GUID.decode(), FOLDER) and not os.path.exists(FOLDER + "/infiniband")
for change in (lambda: os.remove(GUID), lambda: os.rename(GUID, FOLDER + "/x"),
               lambda: os.mkdir(CLASS + b"/new"), lambda: os.open(CLASS + b"/new", os.O_CREAT)):
    try:
        change()
        raise AssertionError("a change")
    except OSError as error:
        assert error.errno in (errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS), error
made = os.open(os.path.join(FOLDER, "made"), os.O_CREAT | os.O_WRONLY, 0o640)
os.close(made)
assert os.stat(os.path.join(FOLDER, "made")).st_mode & 0o777 == 0o640 & ~os.umask(0)
"""


def run(*words, **environment):
    return run_program(OCHE, "exec", *words, env=dict(os.environ, **environment))


def main():
    built = os.path.realpath(os.path.dirname(OCHE))
    hooks, files = (f"{built}/liboche-{name}.so" for name in ("exit", "files"))
    show = f"cat {ATTRIBUTES}/types/0; echo $LD_PRELOAD"
    with tempfile.TemporaryDirectory() as folder:
        ask = f"BASE, FOLDER = {ATTRIBUTES.encode()!r}, {folder!r}\n" + ASK
        done = run("--files", "--", sys.executable, "-c", ask)
        must(done.returncode == 0 and done.stderr == "oche: the program looks for /sys/class/"
             "infiniband/oche_lo_v4/nothing, which oche's devices do not have\n",
             done.returncode, done.stderr)
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
