#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A virtual machine with Linux's soft-RoCE (rdma_rxe): Debian's generic kernel under qemu, without
KVM, beside this process in network namespaces of its own. It sees the files of this host, so all
programs that are installed here, and this build, run in it by the same names; what it writes goes
to its memory, but in the folders that are shared, which are the same as here.

usage: vm.py [--cpus=N] [--memory=MB] [--share=FOLDER] [--rxe] [COMMAND…]

Boots it, runs each COMMAND (a line for sh) in it, also after one has failed, and prints what they
say. Its status is that of the first that failed. Without a COMMAND it reads them from standard
input, a line each. --share: FOLDER can be written to (also several; the current folder is one that
can be read like all others).
--rxe: loads soft-RoCE and makes rxe0. Without it the module is not loaded, and port 4791 is free.
The machine is 10.79.0.2 and fd79::2 on eth0, this side is 10.79.0.1 and fd79::1 on tap0; programs
on this side are run with `here COMMAND` in place of COMMAND.

    tests/interop/vm.py --rxe 'ibv_devices' 'ip -br addr' 'here ip -br addr'
    tests/interop/vm.py 'ip netns add other && ip netns exec other ip -br link'

As a module:

    vm.enter()                                   namespaces, where nothing stays behind
    with vm.Machine() as machine:
        machine.tap(), machine.rxe()
        status, said = machine.run("rdma link")  or raises vm.Failed after `limit` seconds
        server = machine.start("rping -s -v")    beside it; server.wait(10), .said(), .kill()
Needs qemu-system-x86_64, and the kernel from tools/fetch-kernel: else `enter` skips (status 77).
"""
import codecs
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time


HERE = os.path.dirname(os.path.abspath(__file__))
NEAR, FAR = "10.79.0.1", "10.79.0.2"
NEAR6, FAR6 = "fd79::1", "fd79::2"
TAP_NET = "tap,ifname=tap0,script=no,downscript=no"
BOOT_LIMIT = 120  # seconds
LIMIT = 120  # for a command
LAZY = ["udp_tunnel", "ip6_udp_tunnel", "rdma_rxe"]  # rdma_rxe takes port 4791 when it is loaded
INIT = """#!/bin/busybox sh
export PATH=/bin
busybox mount -t devtmpfs none /dev
busybox mount -t proc none /proc
busybox mount -t sysfs none /sys
for name in $(busybox cat /modules/order); do busybox insmod /modules/$name.ko; done
busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,ro,cache=loose host /host
busybox mount -t tmpfs none /upper
busybox mkdir -p /upper/files /upper/work
busybox mount -t overlay -o lowerdir=/host,upperdir=/upper/files,workdir=/upper/work none /root
for name in dev proc sys; do busybox mount --move /$name /root/$name; done
busybox mkdir -p /root/dev/shm /root/dev/pts /root/lib/oche-modules
busybox mount -t tmpfs none /root/dev/shm
busybox mount -t devpts none /root/dev/pts
busybox mount -t tmpfs none /root/run
busybox cp /modules/*.ko /root/lib/oche-modules
busybox hostname vm
set -- SHARED
for folder; do
    busybox mkdir -p $folder
    busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 ${folder%%=*} \\
        /root/${folder#*=}
done
busybox ip link set lo up
busybox cp /agent /root/lib/oche-modules
exec busybox chroot /root /lib/oche-modules/agent /dev/vport1p1
"""


class Failed(Exception):
    pass


def kernel():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "oche", "kernel")


def busybox():
    """A static one, or None."""
    for path in ("/usr/bin/busybox", "/bin/busybox"):
        if os.path.exists(path):
            with open(path, "rb") as file:
                if b"ld-linux" not in file.read(4096):
                    return path
    return None


def missing():
    """Returns why no machine can be started here, or None."""
    if shutil.which("qemu-system-x86_64") is None:
        return "no qemu-system-x86_64"
    if busybox() is None:
        return "no static busybox"
    if not os.path.exists(f"{kernel()}/release"):
        return "no kernel with soft-RoCE (tools/fetch-kernel gets it)"
    if subprocess.run(["unshare", "-Urnm", "true"], capture_output=True, check=False).returncode:
        return "no user namespaces"
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "no /dev/net/tun"
    return None


def enter():
    """Runs this script again in new namespaces, or ends it as skipped. When this process ends, in
    any way, all processes in the namespaces end, too. Files of the machines are gone then, since
    they are in a file system of the namespaces."""
    if os.environ.get("OCHE_VM_INSIDE") == "1":
        subprocess.run(["mount", "-t", "tmpfs", "none", os.environ["OCHE_VM_FOLDER"]], check=True)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        tempfile.tempdir = os.environ["TMPDIR"] = os.environ["OCHE_VM_FOLDER"]
        return
    why = missing()
    if why is not None:
        print(why)
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="oche-vm-") as folder:
        environment = {**os.environ, "OCHE_VM_INSIDE": "1", "OCHE_VM_FOLDER": folder}
        inside = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "-Urnmpf", "--mount-proc", "--kill-child",
             sys.executable, *sys.argv], env=environment)

        def end(number, _):
            inside.kill()
            raise SystemExit(128 + number)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, end)
        try:
            status = inside.wait()
        finally:
            inside.kill()
            inside.wait()
    sys.exit(status if status >= 0 else 128 - status)


def archive(files):
    """A cpio archive ("newc") of (name, mode, bytes)."""
    parts = []
    for number, (name, mode, content) in enumerate(files + [("TRAILER!!!", 0, b"")]):
        fields = [number + 1, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        parts += [head, b"\0" * (-len(head) % 4), content, b"\0" * (-len(content) % 4)]
    return b"".join(parts)


def initramfs(agent, shared):
    """Busybox, the modules, and an init that goes over to the host's files."""
    files = [(name, 0o040755, b"") for name in "bin dev proc sys host upper root modules".split()]
    with open(busybox(), "rb") as file:
        files.append(("bin/busybox", 0o100755, file.read()))
    with open(f"{kernel()}/modules/order", encoding="ascii") as file:
        order = file.read().split()
    for name in order:
        with open(f"{kernel()}/modules/{name}.ko", "rb") as file:
            files.append((f"modules/{name}.ko", 0o100644, file.read()))
    early = " ".join(name for name in order if name not in LAZY)
    files.append(("modules/order", 0o100644, early.encode()))
    init = INIT.replace("SHARED", " ".join(f"share{number}={name}" for number, name
                                           in enumerate(shared)))
    with open(agent, "rb") as file:
        files.append(("agent", 0o100755, file.read()))
    files.append(("init", 0o100755, init.encode()))
    return archive(files)


class Running:
    """A command in the machine."""

    def __init__(self, machine, number, command):
        self.machine, self.number, self.command = machine, number, command
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.output, self.status = "", None
        self.ended = threading.Event()

    def said(self):
        return self.output

    def wait(self, limit=LIMIT):
        """Its status; killed, and Failed, if it takes longer."""
        if not self.ended.wait(limit):
            self.kill()
            raise Failed(f"in the machine, not done after {limit} s: {self.command}: {self.output}")
        if self.status is None:
            raise Failed(f"the machine has ended: {self.machine.console()}")
        return self.status

    def signal(self, number):
        self.machine.ask(f"kill {self.number} {int(number)}")

    def kill(self):
        if not self.ended.is_set():
            self.signal(signal.SIGKILL)
            self.ended.wait(10)


class Machine:
    """One that runs, as a context. `nets`: what qemu's -netdev says for each of its adapters, but
    for the id; shared: folders that both may write to."""

    def __init__(self, nets=(TAP_NET,), shared=(), cpus=2,
                 memory=1024, options=()):
        self.folder = tempfile.mkdtemp(prefix="oche-vm-")
        self.commands, self.number = {}, 0
        self.lock = threading.Lock()
        self.process, self.port = None, None
        self.ready = threading.Event()
        self.shared = [self.folder, *(os.path.abspath(name) for name in shared)]
        try:
            self.boot(nets, cpus, memory, options)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def boot(self, nets, cpus, memory, options):
        image = f"{self.folder}/initramfs"
        built = subprocess.run(["cc", "-D_GNU_SOURCE", "-O1", "-static", "-o",
                                f"{self.folder}/agent", f"{HERE}/vm_agent.c"],
                               capture_output=True, text=True, check=False)
        if built.returncode != 0:
            raise Failed(f"vm_agent.c: {built.stderr}")
        with open(image, "wb") as file:
            file.write(initramfs(f"{self.folder}/agent", self.shared))
        server = socket.socket(socket.AF_UNIX)
        server.bind(f"{self.folder}/port")
        server.listen()
        words = ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max",
                 "-smp", str(cpus), "-m", str(memory), "-nodefaults", "-no-user-config",
                 "-display", "none",
                 "-no-reboot", "-serial", f"file:{self.folder}/console",
                 "-kernel", f"{kernel()}/vmlinux", "-initrd", image, "-append",
                 "console=ttyS0 loglevel=4 panic=-1 mitigations=off random.trust_cpu=on "
                 "tsc=reliable no_timer_check",
                 "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
                 "-chardev", f"socket,id=port,path={self.folder}/port",
                 "-device", "virtserialport,chardev=port"]
        words += share("host", "/", "on")
        for number, name in enumerate(self.shared):
            words += share(f"share{number}", name, "off")
        for number, net in enumerate(nets):
            words += ["-netdev", f"{net},id=net{number}", "-device",
                      f"virtio-net-pci,netdev=net{number},mac=52:54:00:0c:0e:{number + 1:02x},"
                      "romfile="]
        with open(f"{self.folder}/qemu", "wb") as log:
            self.process = subprocess.Popen(words + list(options), stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        server.settimeout(BOOT_LIMIT)
        while self.port is None:
            self.must_live()
            server.settimeout(0.5)
            try:
                self.port = server.accept()[0]
            except socket.timeout:
                pass
        server.close()
        threading.Thread(target=self.listen, daemon=True).start()
        end = time.monotonic() + BOOT_LIMIT
        while not self.ready.wait(0.2):
            self.must_live()
            if time.monotonic() > end:
                raise Failed(f"did not boot in {BOOT_LIMIT} s: {self.console()}")

    def must_live(self):
        if self.process.poll() is not None:
            raise Failed(f"qemu ended with status {self.process.returncode}: {self.console()}")

    def console(self):
        """The end of what qemu and the kernel said."""
        said = ""
        for name in ("qemu", "console"):
            if os.path.exists(f"{self.folder}/{name}"):
                with open(f"{self.folder}/{name}", encoding="utf-8", errors="replace") as file:
                    said += file.read()[-2000:]
        return said

    def listen(self):
        with self.port.makefile("rb") as told:
            for line in told:
                kind, *numbers = line.decode().split()
                if kind == "ready":
                    self.ready.set()
                    continue
                running = self.commands[int(numbers[0])]
                if kind == "said":
                    running.output += running.decoder.decode(told.read(int(numbers[1])))
                else:
                    running.status = int(numbers[1])
                    running.ended.set()
        for running in self.commands.values():
            running.ended.set()

    def ask(self, head, content=b""):
        with self.lock:
            self.port.sendall(head.encode() + b"\n" + content)

    def start(self, command, **environment):
        """Runs a shell command in this folder of the machine. Returns at once."""
        with self.lock:
            self.number += 1
            running = Running(self, self.number, command)
            self.commands[self.number] = running
        text = f"cd {shlex.quote(os.getcwd())}\n"
        text += "".join(f"export {name}={shlex.quote(str(value))}\n"
                        for name, value in environment.items()) + command
        self.ask(f"run {running.number} {len(text.encode())}", text.encode())
        return running

    def run(self, command, limit=LIMIT, **environment):
        """Its status, and what it said on both outputs."""
        running = self.start(command, **environment)
        return running.wait(limit), running.said()

    def must(self, command, limit=LIMIT):
        """Returns the command's output. Raises Failed if its status is not 0."""
        status, said = self.run(command, limit)
        if status != 0:
            raise Failed(f"in the machine, status {status}: {command}: {said}")
        return said

    def tap(self, mtu=1500):
        """Addresses for both ends of the first adapter, where tap0 is this side."""
        near = ["ip link set tap0 mtu {mtu} up", "ip addr replace {NEAR}/24 dev tap0",
                "ip addr replace {NEAR6}/64 dev tap0 nodad"]
        for line in near:
            subprocess.run(line.format(mtu=mtu, NEAR=NEAR, NEAR6=NEAR6).split(), check=True)
        self.addresses("eth0", FAR, FAR6, mtu)

    def addresses(self, device, ipv4, ipv6, mtu):
        self.must(f"ip link set {device} mtu {mtu} up && ip addr replace {ipv4}/24 dev {device} && "
                  f"ip addr replace {ipv6}/64 dev {device} nodad")

    def rxe(self, name="rxe0", device="eth0"):
        """Loads soft-RoCE, which takes port 4791, and makes one of its devices."""
        self.must("".join(f"test -d /sys/module/{module} || {busybox()} insmod "
                          f"/lib/oche-modules/{module}.ko; " for module in LAZY) +
                  f"rdma link add {name} type rxe netdev {device}")

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        if self.port is not None:
            self.port.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def share(tag, folder, readonly):
    return ["-fsdev", f"local,id={tag},path={folder},security_model=none,readonly={readonly},"
            "multidevs=remap", "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def run_all(machine, commands):
    """Prints what each says; returns the first status that is not 0."""
    failed = 0
    for command in commands:
        if command.startswith("here "):
            status = subprocess.run(command[5:], shell=True, check=False).returncode
        else:
            status, said = machine.run(command, 3600)
            print(said, end="", flush=True)
        failed = failed or abs(status)
        if status != 0:
            print(f"status {status}: {command}", flush=True)
    return failed


def main(arguments):
    options = {"--cpus": "2", "--memory": "1024"}
    shared, commands, rxe = [], [], False
    for word in arguments:
        name, _, value = word.partition("=")
        if name == "--share" and value:
            shared.append(value)
        elif name in options and value.isdigit():
            options[name] = value
        elif word == "--rxe":
            rxe = True
        elif word.startswith("--"):
            print(__doc__, file=sys.stderr)
            sys.exit(2)
        else:
            commands.append(word)
    enter()
    started = time.monotonic()
    with Machine(shared=shared, cpus=options["--cpus"], memory=options["--memory"]) as machine:
        machine.tap()
        if rxe:
            machine.rxe()
        print(f"booted in {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)
        status = run_all(machine, commands or (line.strip() for line in sys.stdin))
    sys.exit(status)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failed as error:
        print(f"vm.py: {error}", file=sys.stderr)
        sys.exit(1)
