#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec --files`: the folder with the files is removed at every end of a process, or later;
what happens where no folder can be made; the kernel's devices beside ours; which programs find what
they need, and the line about files that are missing.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import must, run_program

OCHE = os.environ["OCHE"]
CLASS = "/sys/class/infiniband"
LIMIT = 60  # seconds
LIST = f"import os; os.listdir('{CLASS}'); "


def run(*words, before=(), options=(), **environment):
    return run_program(*before, OCHE, "exec", "--files", *options, "--", *words,
                       env=dict(os.environ, **environment))


def trees(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith("oche-files-"))


def python(folder, code):
    return run(sys.executable, "-c", code, OCHE_VIEW=folder)


def is_removed(folder):
    """However the process ends, and if its children end before and after it."""
    here = f"import glob; assert len(glob.glob('{folder}/oche-files-*')) == "
    for code, status in ((LIST + here + "1", 0), (LIST + "os._exit(3)", 3),
                         (LIST + "raise SystemExit(4)", 4), (LIST + "os.fork()", 0),
                         (LIST + "os.fork() or (" + LIST.replace("import os; ", "").strip("; ") +
                          ", os._exit(0)); os.wait(); " + here + "1", 0),
                         (LIST + "import time; first = os.getpid(); os.fork() and os._exit(0); " +
                          "[time.sleep(.01) for _ in iter(lambda: os.getppid() != first, True)]; " +
                          LIST + here + "1", 0),
                         # Python starts programs by vfork
                         ("import subprocess\nfor i in range(3):\n    assert subprocess.run("
                          f"['cat', 'fw_ver'], cwd='{CLASS}/oche_lo_v4').returncode == 0\n" +
                          LIST + here + "1", 0)):
        done = python(folder, code)
        must(done.returncode == status and not done.stderr, code, done)
        must(not trees(folder), code, trees(folder))
    done = run("sh", "-c", f"ls {CLASS}/; for i in {CLASS}/*; do test -e $i/node_type || exit 1; "
               f"(cat $i/node_guid) & done; wait; cd {CLASS}; ls", OCHE_VIEW=folder)
    must(done.returncode == 0 and not done.stderr and not trees(folder), done, trees(folder))


def is_swept(folder):
    """A process that was killed, or called exec, leaves its folder; the next one removes it."""
    done = python(folder, LIST + "os.kill(os.getpid(), 9)")
    must(done.returncode == -signal.SIGKILL and len(trees(folder)) == 1, done, trees(folder))
    left = trees(folder)
    with subprocess.Popen([OCHE, "exec", "--files", "--", sys.executable, "-c",
                           LIST + "print('made', flush=True); input(); "
                           f"assert os.listdir('{CLASS}')"], stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.PIPE, env=dict(os.environ, OCHE_VIEW=folder)) as lives:
        must(lives.stdout.readline() == "made\n", "the one that lives")
        of_it = trees(folder)
        must(len(of_it) == 1 and of_it != left, of_it, left)
        done = python(folder, LIST + "os.execvp('true', ['true'])")
        must(done.returncode == 0 and len(trees(folder)) == 2, done, trees(folder))
        done = python(folder, LIST + f"os.execv('{sys.executable}', ['python', '-c', \"" + LIST +
                      f"import glob; assert len(glob.glob('{folder}/oche-files-*')) == 2\"])")
        must(done.returncode == 0 and trees(folder) == of_it, done, trees(folder))
        done = python(folder, LIST + "os.execvp('true', ['true'])")
        done = python(folder, LIST)  # removes that, not the one of the living process
        must(done.returncode == 0 and trees(folder) == of_it, done, trees(folder))
        # A program that has lost its folder gets a new one.
        shutil.rmtree(os.path.join(folder, of_it[0]))
        lives.stdin.write("\n")
        lives.stdin.close()
        must(lives.wait() == 0 and not trees(folder), "after its folder was removed")
    # A program that closes all descriptors, and with them its lock, uses their numbers itself.
    with subprocess.Popen([OCHE, "exec", "--files", "--", sys.executable, "-c",
                           LIST + "os.closerange(3, 99); fds = [os.open('/dev/zero', 0) for i in "
                           "range(9)]; print('made', flush=True); input(); "
                           f"assert os.listdir('{CLASS}'); all(os.read(fd, 1) for fd in fds)"],
                          stdin=subprocess.PIPE, text=True, stdout=subprocess.PIPE,
                          env=dict(os.environ, OCHE_VIEW=folder)) as lives:
        must(lives.stdout.readline() == "made\n" and len(trees(folder)) == 1, "the daemon")
        done = python(folder, LIST)
        must(done.returncode == 0 and not trees(folder), "of the daemon", done)
        lives.stdin.write("\n")
        lives.stdin.close()
        must(lives.wait() == 0 and not trees(folder), "the daemon's end")
    # Many at once, which sweep while others make theirs, and some of which are killed.
    code = (LIST + "import signal, sys; assert len(os.listdir('/sys/class/infiniband/oche_lo_v4/"
            "ports/1')) > 10; sys.argv[1] == 'killed' and os.kill(os.getpid(), signal.SIGKILL)")
    many = [subprocess.Popen([OCHE, "exec", "--files", "--", sys.executable, "-c", code, how],
                             env=dict(os.environ, OCHE_VIEW=folder), stderr=subprocess.PIPE)
            for how in ("ends", "killed") * 20]
    for i, one in enumerate(many):
        told = one.communicate()[1]
        must(told == b"" and one.returncode == (-9 if i % 2 else 0), i, one.returncode, told)
    must(python(folder, LIST).returncode == 0 and not trees(folder), "after many")
    # One whose process was killed while it made the folder, and one that is being made.
    old, new = (os.path.join(folder, f"oche-making-1-{i:016x}") for i in range(2))
    for made in (old, new):
        os.makedirs(os.path.join(made, "sys/class"))
    os.utime(old, (1, 1))
    must(python(folder, LIST).returncode == 0 and os.path.exists(new) and not os.path.exists(old),
         os.listdir(folder))
    shutil.rmtree(new)
    # Names of others stay, also such that look alike.
    for name in ("oche-files-x", "oche-files-1-2", "other"):
        os.mkdir(os.path.join(folder, name))
    must(python(folder, LIST).returncode == 0 and len(os.listdir(folder)) == 3, os.listdir(folder))
    for name in os.listdir(folder):
        os.rmdir(os.path.join(folder, name))


PORT = """\
import ctypes, sys, time
verbs = ctypes.CDLL("libibverbs.so.1")
verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
verbs.ibv_open_device.restype = ctypes.c_void_p
context = verbs.ibv_open_device(ctypes.c_void_p(verbs.ibv_get_device_list(None)[0]))
port = "/sys/class/infiniband/oche_lo_v4/ports/1/"
before = None
for wanted in sys.argv[1:]:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with open(port + "state") as state, open(port + "phys_state") as phys_state:
            now = state.read().strip() + " " + phys_state.read().strip()
        if now == wanted:
            break
        time.sleep(0.01)
    assert now == wanted, (now, wanted)
    attributes = ctypes.create_string_buffer(128)
    assert verbs.ibv_query_port(ctypes.c_void_p(context), 1, attributes) == 0
    assert attributes.raw[0] == int(now[0]), (attributes.raw[0], now)
    print(now, flush=True)
"""


def port_states(folder):
    """Faults that the user asks for change the files, too."""
    up, down = "4: ACTIVE 5: LinkUp", "1: DOWN 3: Disabled"

    def fault(word):
        end = time.monotonic() + LIMIT
        while run_program(OCHE, "fault", f"--view={folder}", "all", word).returncode != 0:
            must(time.monotonic() < end, "no process is reachable")

    with subprocess.Popen([OCHE, "exec", "--files", "--device=127.64.0.9", "--", sys.executable,
                           "-c", PORT, up, down, up], text=True, stdout=subprocess.PIPE,
                          env=dict(os.environ, OCHE_VIEW=folder)) as program:
        for state, word in ((up, "port-down"), (down, "port-up"), (up, None)):
            must(program.stdout.readline() == state + "\n", state)
            if word is not None:
                fault(word)
        must(program.wait() == 0, "status", program.returncode)


def can(*before):
    return subprocess.run([*before, "true"], capture_output=True, check=False).returncode == 0


def no_folder():
    """Everything is read only: one line; the program runs as without the files."""
    if not can("unshare", "-Urm"):
        print("no user namespaces: left out")
        return
    only_read = ("for i in /run /dev/shm /tmp; do mount --rbind $i $i && "
                 "mount -o remount,bind,ro $i || exit 99; done; exec \"$@\"")
    before = ["unshare", "-Urm", "sh", "-c", only_read, "sh"]
    done = run("sh", "-c", f"ls {CLASS}; ls {CLASS}; test -c /dev/infiniband/uoche_lo_v4",
               before=before)
    must(done.returncode in (1, 2), done)
    lines = [line for line in done.stderr.splitlines() if line.startswith("oche: ")]
    must(lines and all("--files: no folder can be written" in line and "--view=FOLDER" in line
                       for line in lines), done)
    done = run(sys.executable, "-c", f"import os\nfor i in range(3):\n    assert not "
               f"os.path.exists('{CLASS}/oche_lo_v4')", before=before)
    must(done.returncode == 0 and done.stderr.count("\n") == 1, done)
    # A folder of the user's instead, in a place of its own.
    place = only_read.replace("exec", "mount -t tmpfs none /mnt; exec")
    done = run("ls", CLASS + "/", before=["unshare", "-Urm", "sh", "-c", place, "sh"],
               options=["--view=/mnt/oche"])
    must(done.returncode == 0 and "oche_lo_v4" in done.stdout and not done.stderr, done)


def unprivileged():
    if os.geteuid() != 0:
        return  # the other tests are
    before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = run_program(*before, "test", "-x", OCHE)
    if done.returncode:
        print("other users cannot reach the build: left out")
        return
    done = run("cat", CLASS + "/oche_lo_v4/node_type", before=before)
    must(done.stdout == "1: CA\n" and not done.stderr, done)


def beside_the_kernels():
    """The kernel's devices stay visible; here a file system over /sys/class stands for them."""
    if not can("unshare", "-Urm", "sh", "-c", "mount -t tmpfs none /sys/class"):
        print("/sys/class cannot be covered: left out")
        return
    make = ("mount -t tmpfs none /sys/class; mkdir -p /sys/class/infiniband/mlx5_0/ports/1 "
            "/sys/class/infiniband_verbs/uverbs0; echo real > /sys/class/infiniband/mlx5_0/fw_ver; "
            "ln -s ../infiniband/mlx5_0 /sys/class/infiniband/link; exec \"$@\"")
    done = run("sh", "-c", f"ls {CLASS}; cat {CLASS}/mlx5_0/fw_ver {CLASS}/link/fw_ver; "
               f"readlink {CLASS}/link; ls {CLASS}/mlx5_0; realpath {CLASS}/mlx5_0; cd {CLASS}; "
               "cat mlx5_0/fw_ver oche_lo_v4/node_type; ls /sys/class/infiniband_verbs/",
               before=["unshare", "-Urm", "sh", "-c", make, "sh"], OCHE_REAL_VERBS="")
    words = done.stdout.split()
    must(done.returncode == 0 and not done.stderr, done)
    must(words.count("mlx5_0") == 1 and words.count("oche_lo_v4") == 1 and
         words.count("real") == 3 and "../infiniband/mlx5_0" in words and
         words.count("/sys/class/infiniband/mlx5_0") == 1 and "uverbs0" in words and
         "uoche_lo_v4" in words, done)


def lines():
    says = "oche: the program looks for {}, which oche's devices do not have\n"
    for path in (CLASS + "/oche_lo_v4/device/sriov_numvfs", CLASS + "/oche_lo_v4/ports/1/nothing",
                 CLASS + "/oche_lo/device/driver"):
        done = run(sys.executable, "-c", f"import os\nfor i in range(3):\n"
                   f"    assert not os.path.exists({path!r})")
        must(done.returncode == 0 and done.stderr == says.format(path), path, done)
    done = run(sys.executable, "-c", f"import os; os.path.exists('{CLASS}/oche_lo_v4/a\\x1b[31m')")
    must(done.stderr == says.format(CLASS + "/oche_lo_v4/a?[31m"), done)
    done = run(sys.executable, "-c", f"import os; os.path.exists('{CLASS}/oche_lo_v4/a')",
               OMPI_COMM_WORLD_LOCAL_RANK="1")
    must(not done.stderr, "the second of a job", done)
    for path in (CLASS + "/oche_lo_v4/ports/1/gids/1", CLASS + "/oche_lo_v4/ports/2",
                 CLASS + "/oche_lo_v4/device/current_link_speed", CLASS + "/mlx5_0/device",
                 CLASS + "/oche_nothing/device", "/dev/infiniband/rdma_cm"):
        done = run(sys.executable, "-c", f"import os; assert not os.path.exists({path!r})")
        must(done.returncode == 0 and not done.stderr, path, done)


def programs():
    """What is installed finds its files, without a line."""
    for words, find in ((["ibstat"], "CA 'oche_lo_v4'"), (["ibstat", "-l"], "oche_lo_v4"),
                        (["ibstatus", "oche_lo_v4"], "100 Gb/sec (4X EDR)"),
                        (["ibv_devinfo", "-v"], "board_id"), (["ibv_devices"], "oche_lo_v4"),
                        (["fi_info", "-p", "verbs"], "verbs"), (["ucx_info", "-d"], "oche_lo_v4"),
                        (["ls", "-lR", CLASS + "/"], "oche_lo_v4"),
                        (["find", CLASS + "/oche_lo_v4/", "-type", "f"], "gid_attrs/ndevs/0"),
                        (["stat", "/dev/infiniband/uoche_lo_v4"], "character"),
                        (["grep", "-r", "ACTIVE", CLASS + "/oche_lo_v4/ports"], "4: ACTIVE"),
                        (["readlink", "-f", CLASS + "/oche_lo_v4/device"],
                         "/sys/devices/virtual/oche/oche_lo_v4")):
        if shutil.which(words[0]) is None:
            print("no", words[0])
            continue
        done = run(*words)
        must(done.returncode == 0 and find in done.stdout and not done.stderr, words, done)
    if shutil.which("ibstat"):
        done = run_program(OCHE, "exec", "--", "ibstat")
        must("`oche exec --files`" in done.stderr and done.stderr.count("\n") == 1, done)


def main():
    if os.environ["SANITIZED"] == "yes":
        sys.exit(77)
    with tempfile.TemporaryDirectory() as above:
        folder = os.path.join(above, "views")
        os.mkdir(folder, 0o700)
        is_removed(folder)
        is_swept(folder)
        port_states(folder)
    no_folder()
    unprivileged()
    beside_the_kernels()
    lines()
    programs()
    print("ok")


if __name__ == "__main__":
    main()
