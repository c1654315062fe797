#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec` of programs that cannot have its devices in the usual way: one line says so, or it
works after all. Other programs are started without a line. Parts that need a compiler that links
statically, or a network namespace, are left out without these.

usage: exec_preflight.py [--others]

--others: only programs of other users (setuid, setgid, with capabilities), as root.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from checks import must, run_program

OCHE = os.environ["OCHE"]
CC = os.environ["CC"].split()
ADDRESS = "127.34.1.3"
LISTS = r"""#include <infiniband/verbs.h>
#include <stdio.h>
int main(void) { int n = 0; ibv_get_device_list(&n); printf("%d devices\n", n); return 0; }
"""
FOUND = "1 devices\n"
STATIC = """const char *files = "/dev/infiniband/uverbs0"; int main(void) { return !files; }\n"""
PLAIN = "int main(void) { return 0; }\n"


def run(*words, options=("--device", ADDRESS), before=(), **environment):
    return run_program(*before, OCHE, "exec", *options, "--", *words,
                       env=dict(os.environ, **environment))


def expect_line(done, *says):
    must(done.stderr.startswith("oche exec: ") and done.stderr.count("oche exec: ") == 1, done)
    must(all(text in done.stderr for text in says), says, done)
    must("ld.so" not in done.stderr, done)


def expect_silence(done, stdout=None):
    must(done.returncode == 0 and done.stderr == "" and stdout in (None, done.stdout), done)


def compile_c(folder, name, text, *more):
    """Returns the path of the program, or None if it cannot be linked in this way."""
    path = os.path.join(folder, name)
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(text)
    done = run_program(*CC, path + ".c", "-o", path, *more)
    return path if done.returncode == 0 else None


def script(folder, name, *lines):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    os.chmod(path, 0o755)
    return path


def system_library():
    found = subprocess.run("ldconfig -p | awk '/libibverbs.so.1 /{print $NF; exit}'", shell=True,
                           text=True, capture_output=True, check=False).stdout.strip()
    return os.path.realpath(found) if found else None


def rpaths(folder):
    """A program, or a library of it, that brings a libibverbs: by DT_RUNPATH and by DT_RPATH."""
    theirs = system_library()
    if theirs is None:
        print("no libibverbs of the system's: DT_RPATH left out")
        return
    for place in ("bin", "lib"):
        os.mkdir(os.path.join(folder, place))
    shutil.copy(theirs, os.path.join(folder, "lib", "libibverbs.so.1"))
    libraries = os.path.join(folder, "lib")
    for tags in ("disable", "enable"):
        link = (theirs, f"-Wl,--{tags}-new-dtags,-rpath,$ORIGIN/../lib")
        program = compile_c(folder, f"bin/{tags}", LISTS, *link)
        must(program is not None, "the compiler links", link)
        alone = run_program(program)
        must(alone.returncode == 0, alone)
        expect_silence(run(program), FOUND)
        expect_silence(run(script(folder, "by-env", f"#!/usr/bin/env {program}")), FOUND)
        done = run(program, options=("--device", ADDRESS, "--rogue"))
        must(done.stdout == FOUND, done)
        # The DT_RPATH is in the program's own library, not in the program.
        inner = LISTS.replace("main", "list_all")
        must(compile_c(folder, "lib/libinner.so", inner, "-shared", "-fPIC", *link), "library")
        outer = compile_c(folder, f"bin/outer-{tags}",
                          "int list_all(void); int main(void) { return list_all(); }",
                          f"-L{libraries}", "-linner", f"-Wl,--enable-new-dtags,-rpath,{libraries}",
                          "-Wl,--allow-shlib-undefined")
        must(outer is not None, "outer", tags)
        expect_silence(run(outer), FOUND)
    # A DT_RPATH to our own folder finds our library.
    ours = os.path.dirname(os.path.realpath(OCHE))
    own = compile_c(folder, "own", LISTS, os.path.join(ours, "libibverbs.so.1"),
                    f"-Wl,--disable-new-dtags,-rpath,{ours}")
    expect_silence(run(own), FOUND)


def started(folder):
    """Programs that a script starts check themselves at their start, or at their end if they open
    the library by its path."""
    theirs = system_library()
    if theirs is None:
        print("no libibverbs of the system's: left out")
        return
    os.mkdir(os.path.join(folder, "lib"))
    other = shutil.copy(theirs, os.path.join(folder, "lib", "libibverbs.so.1"))
    program = compile_c(folder, "brings", LISTS, theirs,
                        f"-Wl,--disable-new-dtags,-rpath,{folder}/lib")
    why = f"oche: brings has {other} instead of oche's, so it does not have oche's devices: "
    for words in ([script(folder, "starts", "#!/bin/sh", f"{program}")],
                  ["sh", "-c", f"timeout 20 {program}; true"]):
        done = run(*words)
        must(done.stderr.count("\n") == 1, done)
        must(done.stderr.startswith(why + "run `oche exec`"), done)
        expect_silence(run(*words, SLURM_LOCALID="2"))
    expect_silence(run("sh", "-c", f"{OCHE} exec --device {ADDRESS} -- {program}"), FOUND)
    linked = compile_c(folder, "linked", LISTS, theirs)
    expect_silence(run("sh", "-c", linked), FOUND)
    done = run("sh", "-c", f"LD_LIBRARY_PATH={folder}/lib {linked}")
    must(done.stderr.count("\n") == 1 and
         done.stderr.startswith("oche: linked has " + other + " instead"), done)
    opens = f'''#include <dlfcn.h>
int main(int n, char **names) {{ return dlopen(names[1], RTLD_NOW) == 0 || n < 2; }}'''
    opens = compile_c(folder, "opens", opens, "-ldl")
    done = run(opens, other)
    must(done.stderr.count("\n") == 1 and "opens has " + other in done.stderr and
         "it was opened by its path" in done.stderr, done)
    expect_silence(run(opens, "libibverbs.so.1"))


def statics(folder):
    program = compile_c(folder, "static", STATIC, "-static")
    if program is None:
        print("the compiler links nothing statically: left out")
        return
    expect_line(run(program), "is linked statically", "shared libibverbs.so.1")
    expect_line(run("static", PATH=folder), "static is linked statically")
    expect_line(run(script(folder, "of-static", f"#!{program}")), "of-static is linked statically")
    expect_line(run(script(folder, "env-static", "#!/usr/bin/env -S X=1 " + program)),
                "env-static is linked statically")
    expect_line(run(script(folder, "twice", f"#!{folder}/of-static")), "twice is linked statically")
    # Only the first process on a host prints the message.
    for rank in ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"):
        expect_silence(run(program, **{rank: "1"}))
        expect_line(run(program, **{rank: "0"}), "is linked statically")
    # A static program without RDMA (a shell, init) may start programs with RDMA.
    expect_silence(run(compile_c(folder, "plain", PLAIN, "-static")))
    inside = compile_c(folder, "inside", LISTS, "-Wl,-Bstatic", "-libverbs", "-Wl,-Bdynamic",
                       "-lnl-route-3", "-lnl-3", "-lpthread")
    if inside is None:
        print("libibverbs cannot be linked statically: left out")
    else:
        expect_line(run(inside), "inside has a libibverbs linked into it", "shared libibverbs.so.1")


def foreign(folder):
    """A program of another word size or machine: after our line the kernel refuses to run it."""
    program = compile_c(folder, "native", STATIC)
    with open(program, "rb") as file:
        image = bytearray(file.read())
    for name, at, value in (("bits32", 4, 1), ("machine", 18, 0x28)):
        changed = image.copy()
        changed[at] = value
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(changed)
        os.chmod(path, 0o755)
        done = run(path)
        must("is a program of another machine or word size than oche" in done.stderr, done)


def other_rights(folder):
    os.chmod(folder, 0o755)
    for name, mode, owner, says in (("setuid", 0o4755, (65534, 0), "is setuid"),
                                    ("setgid", 0o2755, (0, 65534), "is setgid")):
        program = compile_c(folder, name, PLAIN)
        os.chown(program, *owner)
        os.chmod(program, mode)
        expect_line(run(program), f"{name} {says}", "ignores LD_LIBRARY_PATH")
        if shutil.which("setpriv") is not None:  # such rights are not given at all then
            expect_silence(run(program, before=("setpriv", "--no-new-privs")))
    program = compile_c(folder, "own-setuid", PLAIN)
    os.chmod(program, 0o4755)  # root's, and run by root
    expect_silence(run(program))
    if shutil.which("setcap") and shutil.which("setpriv"):
        program = compile_c(folder, "caps", PLAIN)
        subprocess.run(["setcap", "cap_net_raw+ep", program], check=True)
        expect_silence(run(program))
        done = run(program, before=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
        if "Permission denied" not in done.stderr:  # the build's folder may be root's alone
            expect_line(done, "caps has file capabilities")


def without_library_path(folder):
    """The dynamic linker says nothing where it does not see LD_LIBRARY_PATH."""
    done = run("sh", "-c", "unset LD_LIBRARY_PATH; env true; env LD_LIBRARY_PATH=/ true; echo on")
    expect_silence(done, "on\n")
    done = run("sh", "-c", "unset LD_LIBRARY_PATH; env true", options=("--files",))
    expect_silence(done)


def setuid_from_a_shell(folder):
    os.chmod(folder, 0o755)
    program = compile_c(folder, "setuid", PLAIN)
    os.chown(program, 65534, 0)
    os.chmod(program, 0o4755)
    expect_silence(run("sh", "-c", f"{program}; echo on"), "on\n")


def no_interpreter(folder):
    """A file that is there is not said to be missing."""
    for program in (script(folder, "no-shell", "#!/nowhere/sh"),
                    compile_c(folder, "no-linker", PLAIN, "-Wl,--dynamic-linker=/nowhere/ld.so")):
        done = run(program)
        expect_line(done, f"{program}: its interpreter")
        must(done.returncode == 127, done)
    done = run(os.path.join(folder, "nothing"))
    expect_line(done, "nothing: No such file or directory")
    must(done.returncode == 127, done)


def launchers(folder):
    for name in ("sudo", "doas", "pkexec"):
        program = script(folder, name, "#!/bin/sh", "exit 0")
        os.rename(compile_c(folder, "plain-launcher", PLAIN), program)
        expect_line(run(program), f"{name} removes LD_LIBRARY_PATH",
                    f"`{name} oche exec -- PROGRAM`")


def kernel(folder):
    """Programs that ask the kernel, known by name and by what their files mention."""
    if os.path.isdir("/sys/class/infiniband") and os.listdir("/sys/class/infiniband"):
        print("the kernel has RDMA devices: left out")
        return
    asks = "the kernel's RDMA subsystem"
    for name, mention, says in (("ibhosts", "ibnetdiscover", "no InfiniBand subnet"),
                                ("ibstatus", "/sys/class/infiniband", "`oche exec --files`"),
                                ("mstfwreset", "mst", "no firmware")):
        program = script(folder, name, "#!/bin/sh", ": " + mention)
        expect_line(run(program), f"{name} asks ", "which does not know oche's devices", says)
        expect_silence(run(script(folder, name, "#!/bin/sh", "exit 0")))  # another program
    netlink = 'const char *text = "NETLINK_RDMA"; int main(void) { return !text; }\n'
    expect_line(run(compile_c(folder, "rdma", netlink)), f"rdma asks {asks} (netlink)",
                "`oche stat -q`")
    expect_silence(run(compile_c(folder, "rdma2", netlink)))
    for name, mention in (("opensm", "libopensm"), ("srp_daemon", "libibumad")):
        text = f'const char *text = "{mention}.so.9"; int main(void) {{ return !text; }}\n'
        expect_line(run(compile_c(folder, name, text)), f"{name} asks {asks} (management")
    if shutil.which("rdma"):
        expect_line(run("rdma", "-V"), f"rdma asks {asks} (netlink)")


def no_interface():
    for unshare in (["unshare", "-n"], ["unshare", "-rn"]):
        if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0:
            break
    else:
        print("no network namespace can be made: left out")
        return
    with tempfile.TemporaryDirectory() as folder:
        program = compile_c(folder, "lists", LISTS.replace("ibv_get_device_list(&n);",
                                                           "ibv_get_device_list(&n);" * 2),
                            os.path.join(os.path.dirname(os.path.realpath(OCHE)),
                                         "libibverbs.so.1"))
        done = run(program, before=unshare, options=(), OCHE_REAL_VERBS="")
        must(done.stdout == "0 devices\n" and done.stderr.count("\n") == 1 and
             done.stderr.startswith("oche: there is no device, as no network interface"), done)
        done = run(program, before=unshare, options=(), OCHE_REAL_VERBS="", SLURM_LOCALID="3")
        must(done.stdout == "0 devices\n" and done.stderr == "", done)


def silent():
    """Programs that work are started without a line."""
    for words in (["true"], ["sh", "-c", "exit 0"], ["env", "true"], ["python3", "-c", "pass"],
                  ["ibv_devices"], ["ibv_devinfo", "-l"], ["ibv_asyncwatch", "--help"],
                  ["ib_write_bw", "--version"], ["fi_info", "--version"], ["ucx_info", "-v"],
                  ["mpirun", "--version"], ["rping", "--help"], ["perf", "--version"],
                  ["timeout", "9", "true"], ["bash", "-c", "true"], ["perl", "-e", "1"]):
        if shutil.which(words[0]) is not None:
            done = run(*words)
            must("oche" not in done.stderr, words, done.stderr)


def main():
    if "yes" == os.environ["SANITIZED"]:
        sys.exit(77)
    parts = (rpaths, started, statics, foreign, without_library_path, no_interpreter, launchers,
             kernel)
    if "--others" in sys.argv:
        if os.geteuid() != 0:
            print("SKIPPED: setuid, setgid and capabilities: run it as root")
            sys.exit(77)
        parts = (other_rights, setuid_from_a_shell)
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            part(folder)
    if "--others" not in sys.argv:
        no_interface()
        silent()
    print("ok")


main()
