/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's own librdmacm beside ours, for the kernel's RDMA devices. If it is loaded, our
 * identifier may have one of the system's behind it, and our event channel has the system's
 * (system_ids.c). Without such devices it is not loaded.
 *
 * The system's library calls exported functions by their names, and the dynamic linker finds ours
 * first. So while one of its functions runs in a thread, ours pass on every call.
 */
#ifndef OCHE_DEVICE_CM_SYSTEM_H
#define OCHE_DEVICE_CM_SYSTEM_H

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "core/base.h"
#include "device/verbs/manager.h"

/* Every function that it must have; rdma-core's has them all since 2020 (RDMACM_1.3). */
#define CM_SYSTEM_NAMES(X)                                                                         \
    X(rdma_accept)                                                                                 \
    X(rdma_ack_cm_event)                                                                           \
    X(rdma_bind_addr)                                                                              \
    X(rdma_connect)                                                                                \
    X(rdma_create_ep)                                                                              \
    X(rdma_create_event_channel)                                                                   \
    X(rdma_create_id)                                                                              \
    X(rdma_create_qp)                                                                              \
    X(rdma_create_qp_ex)                                                                           \
    X(rdma_create_srq)                                                                             \
    X(rdma_create_srq_ex)                                                                          \
    X(rdma_destroy_ep)                                                                             \
    X(rdma_destroy_event_channel)                                                                  \
    X(rdma_destroy_id)                                                                             \
    X(rdma_destroy_qp)                                                                             \
    X(rdma_destroy_srq)                                                                            \
    X(rdma_disconnect)                                                                             \
    X(rdma_establish)                                                                              \
    X(rdma_free_devices)                                                                           \
    X(rdma_freeaddrinfo)                                                                           \
    X(rdma_get_cm_event)                                                                           \
    X(rdma_get_devices)                                                                            \
    X(rdma_get_dst_port)                                                                           \
    X(rdma_get_remote_ece)                                                                         \
    X(rdma_get_request)                                                                            \
    X(rdma_get_src_port)                                                                           \
    X(rdma_getaddrinfo)                                                                            \
    X(rdma_init_qp_attr)                                                                           \
    X(rdma_join_multicast)                                                                         \
    X(rdma_join_multicast_ex)                                                                      \
    X(rdma_leave_multicast)                                                                        \
    X(rdma_listen)                                                                                 \
    X(rdma_migrate_id)                                                                             \
    X(rdma_notify)                                                                                 \
    X(rdma_reject)                                                                                 \
    X(rdma_reject_ece)                                                                             \
    X(rdma_resolve_addr)                                                                           \
    X(rdma_resolve_route)                                                                          \
    X(rdma_set_local_ece)                                                                          \
    X(rdma_set_option)

#pragma GCC visibility push(hidden)

#define CM_SYSTEM_MEMBER(name) __typeof__(name) *name;
struct cm_system {
    CM_SYSTEM_NAMES(CM_SYSTEM_MEMBER)
};
#undef CM_SYSTEM_MEMBER

/* The system's functions, once they are loaded; the library stays loaded. */
extern struct cm_system cm_system;

/* True while a function of the system's runs in this thread. */
extern _Thread_local bool cm_in_system;

/*
 * Loads the library if the kernel has RDMA devices, unless it is loaded. Returns false with errno
 * if the library that OCHE_REAL_VERBS or OCHE_REAL_RDMACM names cannot be loaded, after printing a
 * line with the reason. *loaded: the system's functions are available.
 */
bool cm_system_load(bool *loaded);

static inline void cm_enter_system(void)
{
    cm_in_system = true;
    oche_manager_only_theirs(true);
}

static inline void cm_leave_system(void)
{
    cm_in_system = false;
    oche_manager_only_theirs(false);
}

/* Calls a function of the system's. */
#define CM_SYSTEM(name, ...)                                                                       \
    ({                                                                                             \
        cm_enter_system();                                                                         \
        __auto_type cm_result_of = cm_system.name(__VA_ARGS__);                                    \
        cm_leave_system();                                                                         \
        cm_result_of;                                                                              \
    })
#define CM_SYSTEM_VOID(name, ...)                                                                  \
    do {                                                                                           \
        cm_enter_system();                                                                         \
        cm_system.name(__VA_ARGS__);                                                               \
        cm_leave_system();                                                                         \
    } while (0)

/*
 * The first statement of a function that programs call. The system's library may call it too; then
 * the call is passed on to the system's function.
 */
#define CM_IF_SYSTEM_CALLS(name, ...)                                                              \
    do {                                                                                           \
        if (OCHE_UNLIKELY(cm_in_system))                                                           \
            return cm_system.name(__VA_ARGS__);                                                    \
    } while (0)

#pragma GCC visibility pop

#endif
