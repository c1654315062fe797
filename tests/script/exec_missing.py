#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec` reports a missing feature in one line, once, beside the error that the program gets.
It reports nothing to programs that do without. The parts that need clients or a
compiler are left out where these are not installed.
"""
import os
import shutil
import sys
import tempfile

from checks import must, run_program

OCHE = os.environ["OCHE"]
CC = os.environ["CC"].split()
ADDRESS = "127.34.1.2"
# Each asks twice, and prints the errors that it has got.
ASKS = {
    "XRC is not supported": "ibv_open_xrcd(context, &xrcd) == NULL ? errno : 0",
    "raw packets and": "ibv_create_qp(pd, &raw) == NULL ? errno : 0",
    "ibv_attach_mcast: multicast is": "ibv_attach_mcast(qp, &gid, 0)",
    "(ECE)": "ibv_set_ece(qp, &ece)",
    "on-demand paging is": "ibv_reg_mr(pd, memory, 8, IBV_ACCESS_ON_DEMAND) == NULL ? errno : 0",
    "no memory of its own": "ibv_alloc_dm(context, &dm) == NULL ? errno : 0",
    "alternate paths are": "ibv_modify_qp(qp, &alternate, TO_RTR | IBV_QP_ALT_PATH)",
    "addresses without a GID": "ibv_modify_qp(qp, &alternate, TO_RTR) == EINVAL ? EOPNOTSUPP : 0",
    "": "ibv_alloc_null_mr(pd) == NULL ? errno : 0",  # which programs do without
}
PROGRAM = r"""#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#define TO_RTR (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
char memory[64];
int main(void)
{
    struct ibv_context *context = ibv_open_device(ibv_get_device_list(NULL)[0]);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
    struct ibv_qp_init_attr raw = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RAW_PACKET};
    struct ibv_qp_init_attr rc = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    struct ibv_qp_attr alternate = {.qp_state = IBV_QPS_RTR};
    struct ibv_qp *qp = ibv_create_qp(pd, &rc);
    struct ibv_xrcd_init_attr xrcd = {0};
    struct ibv_alloc_dm_attr dm = {.length = 8};
    struct ibv_ece ece = {.vendor_id = 0x15b3};
    union ibv_gid gid = {{0}};
    if (ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                      IBV_QP_ACCESS_FLAGS) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        printf("%d ", ASK);
    return 0;
}
"""
UMAD = "int umad_init(void); int umad_init(void) { return -1; }\n"
FOR_UMAD = "int umad_init(void); int main(void) { return umad_init() == 0; }\n"


def run(*words, options=(), **environment):
    return run_program(OCHE, "exec", *options, "--device", ADDRESS, "--", *words,
                       env=dict(os.environ, **environment))


def compile_c(folder, name, text, *more):
    path = os.path.join(folder, name)
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(text)
    done = run_program(*CC, path + ".c", "-o", path, *more)
    must(done.returncode == 0, name, done.stderr)
    return path


def verbs_lines(folder):
    library = os.path.join(os.path.dirname(OCHE), "libibverbs.so.1")
    for says, ask in ASKS.items():
        program = compile_c(folder, "asks", PROGRAM.replace("ASK", ask), library)
        done = run(program)
        lines = done.stderr.splitlines()
        must(done.returncode == 0 and done.stdout == "95 95 ", ask, done)
        must(len(lines) == (says != "") and
             all(line.startswith("oche: ") and says in line for line in lines), ask, done.stderr)


def umad_lines(folder):
    """ibstat and the like: linked with libibumad, and not with libibverbs."""
    libumad = os.path.join(folder, "libibumad.so.3")
    os.rename(compile_c(folder, "umad", UMAD, "-shared", "-fPIC", "-Wl,-soname,libibumad.so.3"),
              libumad)
    program = compile_c(folder, "stat", FOR_UMAD, libumad, f"-Wl,-rpath,{folder}")
    both = compile_c(folder, "both", FOR_UMAD, libumad, f"-Wl,-rpath,{folder}",
                     "-Wl,--no-as-needed", os.path.join(os.path.dirname(OCHE), "libibverbs.so.1"))
    says = "asks the kernel's RDMA subsystem (management datagrams, umad)"
    for words, path in (([program], None), (["stat"], folder + ":" + os.environ["PATH"])):
        done = run(*words, PATH=path or os.environ["PATH"])
        must(done.returncode == 0 and done.stderr.count("\n") == 1 and says in done.stderr, done)
    done = run(both)
    must(done.returncode == 0 and not done.stderr, done)
    # Damaged files are read, too. They cannot be run, so no program starts.
    with open(program, "rb") as file:
        image = file.read()
    part = os.path.join(folder, "part")
    damaged = [image[:count] for count in (0, 3, 40, 64, 100, 500, 1000, 5000, len(image) - 1)]
    damaged += [image[:at] + bytes((value,)) + image[at + 1:]
                for at in range(0, 64 + 13 * 56, 8) for value in (0, 255)]  # its headers
    for bytes_of_it in damaged:
        with open(part, "wb") as file:
            file.write(bytes_of_it)
        done = run(part)
        must(done.returncode == 126 and done.stderr.endswith(": Permission denied\n"), done)


def ucx_lines():
    says = "UCX takes no device without a file /dev/infiniband/uoche_lo_v4: `oche exec --files`"
    for options, environment, told in (((), {}, 1), (("--files",), {}, 0),
                                       ((), {"UCX_TLS": "tcp,self"}, 0),
                                       ((), {"UCX_TLS": "self,rc_verbs"}, 1)):
        done = run("ucx_info", "-d", options=options, **environment)
        must(done.returncode == 0 and done.stderr.count("\n") == told and
             done.stderr.count(says) == told, options, environment, done.stderr)


def main():
    if "yes" == os.environ["SANITIZED"]:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        verbs_lines(folder)
        umad_lines(folder)
    for words in (["ibv_devinfo", "-v"], ["fi_info", "-p", "verbs"], ["ibv_devices"]):
        if shutil.which(words[0]) is not None:
            done = run(*words)
            lines = [line for line in done.stderr.splitlines()
                     if "oche:" in line and "FI_EP_MSG" not in line]  # fi_info leaves these out
            must(not lines, words, done.stderr)
    if shutil.which("ucx_info") is not None:
        ucx_lines()
    print("ok")


main()
