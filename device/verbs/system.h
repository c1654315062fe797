/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system's own libibverbs beside ours, for the kernel's RDMA devices. They are listed after
 * ours. If one of our functions gets an object of such a device, its first statement passes the
 * call on. Verbs that applications call through pointers need no such statement: a context of the
 * system's library has pointers to that library's functions.
 *
 * The word after `struct ibv_device` distinguishes these devices from ours: drivers have the
 * address of a table there, we have the address of ov_mark. Until the system's library is loaded, a
 * call of ours checks only one pointer.
 */
#ifndef OCHE_DEVICE_VERBS_SYSTEM_H
#define OCHE_DEVICE_VERBS_SYSTEM_H

/*
 * Functions that every libibverbs has (since 2006, IBVERBS_1.1); a library that lacks one is
 * refused.
 */
#define OV_SYSTEM_NEEDED(X)                                                                        \
    X(ibv_ack_async_event)                                                                         \
    X(ibv_ack_cq_events)                                                                           \
    X(ibv_alloc_pd)                                                                                \
    X(ibv_attach_mcast)                                                                            \
    X(ibv_close_device)                                                                            \
    X(ibv_create_ah)                                                                               \
    X(ibv_create_ah_from_wc)                                                                       \
    X(ibv_create_comp_channel)                                                                     \
    X(ibv_create_cq)                                                                               \
    X(ibv_create_qp)                                                                               \
    X(ibv_create_srq)                                                                              \
    X(ibv_dealloc_pd)                                                                              \
    X(ibv_dereg_mr)                                                                                \
    X(ibv_destroy_ah)                                                                              \
    X(ibv_destroy_comp_channel)                                                                    \
    X(ibv_destroy_cq)                                                                              \
    X(ibv_destroy_qp)                                                                              \
    X(ibv_destroy_srq)                                                                             \
    X(ibv_detach_mcast)                                                                            \
    X(ibv_fork_init)                                                                               \
    X(ibv_free_device_list)                                                                        \
    X(ibv_get_async_event)                                                                         \
    X(ibv_get_cq_event)                                                                            \
    X(ibv_get_device_guid)                                                                         \
    X(ibv_get_device_list)                                                                         \
    X(ibv_get_device_name)                                                                         \
    X(ibv_init_ah_from_wc)                                                                         \
    X(ibv_modify_qp)                                                                               \
    X(ibv_modify_srq)                                                                              \
    X(ibv_open_device)                                                                             \
    X(ibv_query_device)                                                                            \
    X(ibv_query_gid)                                                                               \
    X(ibv_query_pkey)                                                                              \
    X(ibv_query_port)                                                                              \
    X(ibv_query_qp)                                                                                \
    X(ibv_query_srq)                                                                               \
    X(ibv_reg_mr)                                                                                  \
    X(ibv_rereg_mr)                                                                                \
    X(ibv_resize_cq)

/* Optional functions: only newer libraries have them, or programs do not call them directly. */
#define OV_SYSTEM_LATER(X)                                                                         \
    X(_ibv_query_gid_ex)                                                                           \
    X(_ibv_query_gid_table)                                                                        \
    X(ibv_dofork_range)                                                                            \
    X(ibv_dontfork_range)                                                                          \
    X(ibv_get_device_index)                                                                        \
    X(ibv_get_pkey_index)                                                                          \
    X(ibv_import_device)                                                                           \
    X(ibv_import_dm)                                                                               \
    X(ibv_import_mr)                                                                               \
    X(ibv_import_pd)                                                                               \
    X(ibv_is_fork_initialized)                                                                     \
    X(ibv_qp_to_qp_ex)                                                                             \
    X(ibv_query_ece)                                                                               \
    X(ibv_query_gid_type)                                                                          \
    X(ibv_query_qp_data_in_order)                                                                  \
    X(ibv_reg_dmabuf_mr)                                                                           \
    X(ibv_reg_mr_iova)                                                                             \
    X(ibv_reg_mr_iova2)                                                                            \
    X(ibv_resolve_eth_l2_from_gid)                                                                 \
    X(ibv_set_ece)                                                                                 \
    X(ibv_unimport_dm)                                                                             \
    X(ibv_unimport_mr)                                                                             \
    X(ibv_unimport_pd)

#define OV_SYSTEM_MEMBER(name) __typeof__(name) *name;
struct ov_system {
    OV_SYSTEM_NEEDED(OV_SYSTEM_MEMBER)
    OV_SYSTEM_LATER(OV_SYSTEM_MEMBER) /* NULL: the library has no such function */
};
#undef OV_SYSTEM_MEMBER

/*
 * Our devices have the address of this array after their struct ibv_device. Code that takes the
 * array for a driver's table reads zeros.
 */
extern const void *const ov_mark[32];

/*
 * The system's functions; NULL until the library is loaded. Once loaded, the library stays loaded.
 */
extern const struct ov_system *_Atomic ov_system;

/*
 * Loads the library if there are RDMA devices or OCHE_REAL_VERBS names it, unless it is loaded.
 * Returns false if the library named by OCHE_REAL_VERBS cannot be loaded, after printing a line
 * with the reason.
 */
bool ov_system_load(void);

/*
 * Called before and after a fork (after it in the parent and in the child): no thread may be
 * loading the library at that time.
 */
void ov_system_hold(void);
void ov_system_release(void);

/*
 * Returns the list of the system's library's devices, to be freed by its ibv_free_device_list;
 * NULL: there is none.
 */
struct ibv_device **ov_system_devices(int *count);

/* True if ibv_fork_init has been called. Libraries that are loaded later get the call, too. */
extern _Atomic bool ov_fork_wanted;

/*
 * True while a function of the system's library runs in this thread and must see only that
 * library's devices.
 */
extern _Thread_local bool ov_system_lists;

/*
 * True while our librdmacm has called the system's in this thread. That library opens all devices
 * that it sees, so it must see only the system's.
 */
extern _Thread_local bool ov_only_theirs;

static inline bool ov_system_loaded(void)
{
    return OCHE_UNLIKELY(atomic_load_explicit(&ov_system, memory_order_acquire) != NULL);
}

static inline bool ov_is_theirs(const struct ibv_device *device)
{
    return ((const struct ov_device *)(const void *)device)->mark != ov_mark;
}

/*
 * If `device` belongs to the system's library, returns from the calling function with the result of
 * that library's function `name`.
 */
#define OV_PASS_ON(device, name, ...)                                                              \
    do {                                                                                           \
        if (ov_system_loaded() && ov_is_theirs(device))                                            \
            return (ov_system->name)(__VA_ARGS__);                                                 \
    } while (0)

/*
 * Like OV_PASS_ON, for optional functions. If the library has no such function, the result is
 * `otherwise`.
 */
#define OV_PASS_ON_OR(otherwise, device, name, ...)                                                \
    do {                                                                                           \
        if (ov_system_loaded() && ov_is_theirs(device))                                            \
            return ov_system->name != NULL ? (ov_system->name)(__VA_ARGS__) : (otherwise);         \
    } while (0)

/* ---- the private interface (private.c) ---- */

/* True if the library's private interface has the same version as ours. */
bool ov_private_fits(void *library);
/* From now on the names of the private interface lead to `library`. */
void ov_private_pass_on(void *library);
/*
 * To be called after the library has listed its devices, because it has read its settings from the
 * environment by then. Takes over these settings.
 */
void ov_private_settings(void);

#endif
