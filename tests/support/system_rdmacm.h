/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the stand-in for the system's librdmacm (system_rdmacm.c) and its test
 * (tests/interop/real_rdmacm.c).
 */
#ifndef OCHE_TESTS_SUPPORT_SYSTEM_RDMACM_H
#define OCHE_TESTS_SUPPORT_SYSTEM_RDMACM_H

#include <stdbool.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define SYSTEM_RDMACM_NET 0x0a630000 /* 10.99.0.0/16: the addresses of its devices */

struct system_rdmacm {
    const char *called;           /* the last call of a function without another effect */
    unsigned channels, ids;       /* number of channels and identifiers that exist */
    unsigned events;              /* delivered and not acknowledged */
    unsigned lists;               /* of devices, given out and not returned */
    unsigned devices;             /* devices that libibverbs has shown */
    uint16_t port;                /* the last one that an identifier was bound to */
    struct rdma_conn_param asked; /* the last rdma_connect's */
    bool has_no_channels;         /* acts as without the kernel's module rdma_ucm */
};

extern struct system_rdmacm system_rdmacm;

#endif
