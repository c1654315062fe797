/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handling of fork. The child has a copy of every device, but arriving packets are written to the
 * parent's memory. So the child may not use devices that were opened before the fork: posts and
 * polls fail with EPERM, and a line says so once. Devices that the child opens work. The child
 * closes the sockets that it inherited; otherwise the parent's address would stay taken after the
 * parent's end. The parent is not affected, with or without ibv_fork_init: without pinned pages,
 * copy-on-write cannot separate a page from the NIC.
 */
#include "device/verbs/internal.h"

_Atomic uint32_t ov_generation;

static void before(void)
{
    ov_system_hold();
    ov_ports_before_fork();
    ov_fail_before_fork();
}

static void in_parent(void)
{
    ov_fail_after_fork();
    ov_ports_after_fork();
    ov_system_release();
}

static void in_child(void)
{
    ov_fail_in_child();
    ov_system_release();
    atomic_fetch_add_explicit(&ov_generation, 1, memory_order_relaxed);
    ov_ports_in_child();
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before, in_parent, in_child);
}

bool ov_foreign_slow(const struct ov_port *port)
{
    /* the last generation that printed the line; a grandchild prints it again */
    static _Atomic uint32_t told;

    if (atomic_exchange(&told, atomic_load(&ov_generation)) != atomic_load(&ov_generation))
        ov_say("this process was forked after the device was opened (%u): it must open its own",
               port->generation);
    return true;
}

/* ---- the system's devices: their memory is pinned ---- */

_Atomic bool ov_fork_wanted;

/*
 * The call names no device, so the system's library gets it as well, before it registers a region.
 */
int ibv_fork_init(void)
{
    atomic_store(&ov_fork_wanted, true);
    if (!ov_system_load())
        return EINVAL;
    return ov_system_loaded() ? ov_system->ibv_fork_init() : 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return ov_system_loaded() && ov_system->ibv_is_fork_initialized != NULL
               ? ov_system->ibv_is_fork_initialized()
               : IBV_FORK_UNNEEDED;
}

int ibv_dontfork_range(void *base, size_t size)
{
    return ov_system_loaded() && ov_system->ibv_dontfork_range != NULL
               ? ov_system->ibv_dontfork_range(base, size)
               : 0;
}

int ibv_dofork_range(void *base, size_t size)
{
    return ov_system_loaded() && ov_system->ibv_dofork_range != NULL
               ? ov_system->ibv_dofork_range(base, size)
               : 0;
}
