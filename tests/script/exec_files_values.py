#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec --files`: the files' values are those of verbs, with several options; threads, their
children, and programs in C++ find the files, too.
"""
import json
import os
import shutil
import sys
import tempfile

from checks import must, run_program

OCHE = os.environ["OCHE"]
CC = os.environ["CC"].split()
# Prints what verbs say, in the form of the files.
VERBS = r"""
#include <infiniband/verbs.h>
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <net/if.h>
static void groups(const char *name, const unsigned char *bytes, int count)
{
    printf("\"%s\": \"", name);
    for (int i = 0; i < count; i += 2)
        printf("%s%02x%02x", i ? ":" : "", bytes[i], bytes[i + 1]);
    printf("\", ");
}
int main(void)
{
    int count;
    struct ibv_device **all = ibv_get_device_list(&count);
    printf("{");
    for (int i = 0; i < count; i++) {
        struct ibv_context *context = ibv_open_device(all[i]);
        struct ibv_device_attr device;
        struct ibv_port_attr port;
        struct ibv_gid_entry entry;
        union ibv_gid gid;
        __be64 guid = ibv_get_device_guid(all[i]);
        __be16 pkey;
        char interface[IF_NAMESIZE];
        if (context == NULL || ibv_query_device(context, &device) ||
            ibv_query_port(context, 1, &port) || ibv_query_gid(context, 1, 0, &gid) ||
            ibv_query_pkey(context, 1, 0, &pkey) || ibv_query_gid_ex(context, 1, 0, &entry, 0))
            return 1;
        printf("%s\"%s\": {\"dev\": \"%s\", ", i ? ", " : "", ibv_get_device_name(all[i]),
               all[i]->dev_name);
        groups("node_guid", (unsigned char *)&guid, 8);
        groups("sys_image_guid", (unsigned char *)&device.sys_image_guid, 8);
        groups("ports/1/gids/0", gid.raw, 16);
        printf("\"fw_ver\": \"%s\", \"hw_rev\": \"%x\", \"device/vendor\": \"0x%x\", "
               "\"device/device\": \"0x%x\", \"ports/1/lid\": \"0x%x\", "
               "\"ports/1/sm_lid\": \"0x%x\", \"ports/1/lid_mask_count\": \"%d\", "
               "\"ports/1/sm_sl\": \"%d\", \"ports/1/cap_mask\": \"0x%08x\", "
               "\"ports/1/pkeys/0\": \"0x%04x\", \"node_type\": \"%d: CA\", ",
               device.fw_ver, device.hw_ver, device.vendor_id, device.vendor_part_id, port.lid,
               port.sm_lid, port.lmc, port.sm_sl, port.port_cap_flags, be16toh(pkey),
               all[i]->node_type);
        printf("\"ports/1/gid_attrs/types/0\": \"%s\", \"ports/1/gid_attrs/ndevs/0\": \"%s\", "
               "\"ports/1/link_layer\": \"%s\", \"ports/1/state\": \"%d: %s\", "
               "\"ports/1/phys_state\": \"%d: %s\", \"width\": %d, \"speed\": %d}",
               entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2" : "IB/RoCE v1",
               if_indextoname(entry.ndev_ifindex, interface),
               port.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand", port.state,
               port.state == IBV_PORT_ACTIVE ? "ACTIVE" : "DOWN", port.phys_state,
               port.phys_state == 5 ? "LinkUp" : "Disabled", port.active_width, port.active_speed);
        if (ibv_close_device(context))
            return 1;
    }
    printf("}\n");
    return 0;
}
"""
FILES = """\
import json, os
root = "/sys/class/infiniband"
def text(*path):
    with open(os.path.join(root, *path)) as file:
        return file.read().rstrip("\\n")
print(json.dumps({name: {path: text(name, path) for path in PATHS}
                  for name in os.listdir(root) if name.startswith("oche")}))
"""
# Gbit/s of a lane, by active_speed; lanes, by active_width (InfiniBand's PortInfo).
SPEEDS = {1: 2.5, 2: 5, 4: 10, 8: 10, 16: 14, 32: 25, 64: 50, 128: 100}
WIDTHS = {1: 1, 2: 4, 4: 8, 8: 12}
CPP = r"""
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
namespace fs = std::filesystem;
int main()
{
    const fs::path root = "/sys/class/infiniband";
    int count = 0;
    for (const auto &entry : fs::directory_iterator(root)) {
        std::string guid;
        if (entry.path().filename().string().rfind("oche", 0) != 0)
            continue;
        std::ifstream(entry.path() / "node_guid") >> guid;
        if (guid.size() != 19 || !fs::is_symlink(entry.path()) ||
            !fs::exists(entry.path() / "device"))
            return 1;
        count++;
    }
    const fs::path device = root / "oche_lo_v4" / "device";
    long entries = 0;
    for (const auto &entry : fs::recursive_directory_iterator(root / "oche_lo_v4/"))
        entries += entry.is_regular_file();
    std::cout << (count > 0) << " " << fs::canonical(device).string() << " "
              << fs::read_symlink(device).string() << " " << (entries > 40) << "\n";
}
"""


# Threads with small stacks, which look at the same time, and children.
THREADS = r"""
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *look(void *unused)
{
    for (int i = 0; i < 200; i++) {
        char text[64];
        int status, fd = open("/sys/class/infiniband/oche_lo_v4/ports/1/state", O_RDONLY);
        if (fd < 0 || read(fd, text, sizeof(text)) < 5 || close(fd))
            abort();
        if (i % 50 == 0) {
            pid_t child = fork();
            if (child == 0)
                _exit(opendir("/sys/class/infiniband") == NULL);
            if (waitpid(child, &status, 0) != child || status != 0)
                abort();
        }
    }
    return unused;
}
int main(void)
{
    pthread_t threads[8];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 48 * 1024);
    for (int i = 0; i < 8; i++)
        if (pthread_create(&threads[i], &small, look, NULL))
            abort();
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    puts("ended");
    return 0;
}
"""


def compile_c(folder, name, text, *more):
    path = os.path.join(folder, name)
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(text)
    done = run_program(*CC, path + ".c", "-o", path, *more)
    must(done.returncode == 0, name, done.stderr)
    return path


def run(*words):
    return run_program(OCHE, "exec", *words)


def verbs_agree(folder):
    program = compile_c(folder, "verbs", VERBS, os.path.join(os.path.dirname(OCHE),
                                                             "libibverbs.so.1"))
    for options in ((), ("--line-rate=10Gbps",), ("--line-rate=900Mbps",), ("--line-rate=26Gbps",),
                    ("--line-rate=400Gbps", "--device=127.64.0.7"), ("--line-rate=500Gbps",)):
        done = run("--files", *options, "--", program)
        must(done.returncode == 0 and not done.stderr, options, done)
        told = json.loads(done.stdout)
        paths = [key for key in next(iter(told.values())) if key not in ("dev", "width", "speed")]
        done = run("--files", *options, "--", sys.executable, "-c",
                   f"PATHS = {paths + ['ports/1/rate']!r}\n" + FILES)
        must(done.returncode == 0 and not done.stderr, options, done)
        found = json.loads(done.stdout)
        must(sorted(found) == sorted(told), "names", options, sorted(found), sorted(told))
        for name, values in told.items():
            rate = f"{SPEEDS[values['speed']] * WIDTHS[values['width']]:g} Gb/sec " \
                   f"({WIDTHS[values['width']]}X "
            must(found[name].pop("ports/1/rate").startswith(rate), name, options, rate)
            for path, value in found[name].items():
                must(value == values[path], name, path, value, values[path])


def threads(folder):
    done = run("--files", "--", compile_c(folder, "threads", THREADS, "-pthread"))
    must(done.returncode == 0 and done.stdout == "ended\n" and not done.stderr, done)


def cpp(folder):
    """The C++ library's files call the C library's functions."""
    if shutil.which("c++") is None:
        print("no C++ compiler: left out")
        return
    source, program = os.path.join(folder, "files.cpp"), os.path.join(folder, "files")
    with open(source, "w", encoding="utf-8") as file:
        file.write(CPP)
    done = run_program("c++", "-std=c++17", "-O1", "-D_FORTIFY_SOURCE=2", source, "-o", program)
    must(done.returncode == 0, done.stderr)
    done = run("--files", "--", program)
    must(done.stdout == "1 /sys/devices/virtual/oche/oche_lo_v4 ../../../oche_lo_v4 1\n" and
         not done.stderr, done)


def main():
    if os.environ["SANITIZED"] == "yes":
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        verbs_agree(folder)
        threads(folder)
        cpp(folder)
    print("ok")


if __name__ == "__main__":
    main()
