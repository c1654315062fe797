/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unsupported verbs. A program's own message is often misleading ("Unable to create QP"), so we
 * print a line, once in a process for each kind. Verbs that programs only try, and do without (a
 * parent domain's allocators, dma-buf, null regions), are rejected without a line.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/verbs/internal.h"

void ov_unsupported(enum ov_once kind)
{
    static const char *const texts[OV_ONCES] = {
        [OV_ONCE_XRC] = "XRC is not supported; RC with a shared receive queue is",
        [OV_ONCE_RAW] =
            "raw packets and steering of flows are not supported: a device of oche sends "
            "and receives RoCEv2 alone",
        [OV_ONCE_MULTICAST] = "ibv_attach_mcast: multicast is not supported; send to each receiver "
                              "instead",
        [OV_ONCE_ECE] =
            "ibv_set_ece: options between adapters of one vendor (ECE) are not supported",
        [OV_ONCE_ODP] = "on-demand paging is not supported; memory is not pinned here anyway, so "
                        "register it without IBV_ACCESS_ON_DEMAND",
        [OV_ONCE_DEVICE_MEMORY] = "ibv_alloc_dm: a device of oche has no memory of its own",
        [OV_ONCE_NO_GID] =
            "addresses without a GID are not supported, as RoCE has GIDs alone: that of "
            "a device is at index 0 (pingpongs: -g 0; qperf: -cm 1)",
        [OV_ONCE_LINK_LOCAL] = "a peer's GID is link-local (fe80::…): " OCHE_NO_LINK_LOCAL,
        [OV_ONCE_ALTERNATE_PATH] = "ibv_modify_qp: alternate paths are not supported",
    };

    ov_say_once(kind, "%s", texts[kind]);
}

/* ---- verbs that are called through pointers ---- */

static void *none(enum ov_once kind)
{
    ov_unsupported(kind);
    return ov_null(EOPNOTSUPP);
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
    (void)context;
    (void)attr;
    return none(OV_ONCE_XRC);
}

/* Opens a shared queue pair by its number, for XRC. */
static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
    (void)context;
    (void)attr;
    return none(OV_ONCE_XRC);
}

/* Called for another type than the basic one, or with attributes that only other types have. */
static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
    (void)context;
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0 && attr->srq_type == IBV_SRQT_XRC)
        return none(OV_ONCE_XRC);
    return ov_null(EOPNOTSUPP);
}

static struct ibv_wq *create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
    (void)context;
    (void)attr;
    return none(OV_ONCE_RAW);
}

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
    (void)qp;
    (void)attr;
    return none(OV_ONCE_RAW);
}

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
    (void)context;
    (void)attr;
    return none(OV_ONCE_DEVICE_MEMORY);
}

void ov_unsupported_fill(struct verbs_context *verbs)
{
    verbs->open_xrcd = open_xrcd;
    verbs->open_qp = open_qp;
    verbs->create_srq_ex = create_srq_ex;
    verbs->create_wq = create_wq;
    verbs->ibv_create_flow = create_flow;
    verbs->alloc_dm = alloc_dm;
}

/* ---- queue pairs ---- */

void ov_unsupported_qp(enum ibv_qp_type type)
{
    if (type == IBV_QPT_RAW_PACKET)
        ov_unsupported(OV_ONCE_RAW);
    else if (type == IBV_QPT_XRC_SEND || type == IBV_QPT_XRC_RECV)
        ov_unsupported(OV_ONCE_XRC);
}

/* ---- UCX ---- */

/* True unless the user has told UCX to do without verbs. */
static bool ucx_may_use_verbs(void)
{
    static const char *const ours[] = {"all", "ib", "rc", "ud"};
    const char *at = secure_getenv("UCX_TLS");

    if (at == NULL || *at == '\0' || *at == '^')
        return true;
    for (; *at != '\0'; at += strcspn(at, ","), at += *at == ',')
        for (size_t i = 0; i < OCHE_COUNT_OF(ours); i++)
            if (strncmp(at, ours[i], strlen(ours[i])) == 0)
                return true;
    return false;
}

void ov_unsupported_files(const struct ov_device *first, const void *caller)
{
    char path[sizeof(first->device.dev_name) + 32];
    const char *name;
    Dl_info about;

    if (dladdr(caller, &about) == 0 || about.dli_fname == NULL)
        return;
    name = strrchr(about.dli_fname, '/');
    name = name != NULL ? name + 1 : about.dli_fname;
    if (strncmp(name, "libuct_ib", strlen("libuct_ib")) != 0 || !ucx_may_use_verbs())
        return;
    snprintf(path, sizeof(path), "/dev/infiniband/%s", first->device.dev_name);
    if (access(path, R_OK | W_OK) != 0)
        ov_say_once(OV_ONCE_FILES,
                    "UCX takes no device without a file %s: `oche exec --files` has "
                    "it find one",
                    path);
}
