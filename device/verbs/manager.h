/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that our librdmacm (device/cm) needs besides verbs: queue pair 1, services, and the
 * slot of the process. libibverbs.so.1 exports these names with a version of ours.
 */
#ifndef OCHE_DEVICE_VERBS_MANAGER_H
#define OCHE_DEVICE_VERBS_MANAGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "device/view/format.h"

/*
 * Loads the system's libibverbs if the kernel has RDMA devices (system.h). Returns false if the
 * user has named it and it is not usable; *loaded: it is loaded.
 */
bool oche_manager_load_system(bool *loaded);
/* While `only` is set, ibv_get_device_list lists only the kernel's devices in this thread. */
void oche_manager_only_theirs(bool only);
/* True if the device is one of ours, and not the kernel's. */
bool oche_manager_is_ours(const struct ibv_device *device);
/*
 * Creates queue pair 1, for datagrams. Each process has one for each address. Returns NULL with
 * errno.
 */
struct ibv_qp *oche_manager_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
/*
 * Takes a service, a number of the connection manager's, for this process. Returns 0 or an errno:
 * EADDRINUSE if it is taken.
 */
int oche_manager_take_service(struct ibv_context *context, uint64_t service_id);
/* True if this process or another one of the address has taken the service. */
bool oche_manager_service_taken(struct ibv_context *context, uint64_t service_id);
void oche_manager_release_service(struct ibv_context *context, uint64_t service_id);
/* Returns the uppermost 6 bits of the process's communication IDs. */
unsigned oche_manager_slot(struct ibv_context *context);
/* Sets *gid to the address of a device of ours, which need not be open. */
void oche_manager_gid(const struct ibv_device *device, union ibv_gid *gid);
/* Counts a connection that was made. */
void oche_manager_count(enum oche_view_connections kind);
/* Returns the index of the network interface that the device's address belongs to. */
unsigned oche_manager_interface(struct ibv_context *context);

/* Return the path MTU towards a peer, as the routes are now; and the largest of the interface. */
enum ibv_mtu oche_manager_path_mtu(struct ibv_context *context, const uint8_t peer[16]);
enum ibv_mtu oche_manager_largest_mtu(struct ibv_context *context);

/* ---- for sockets over RDMA ---- */

/* True if the channel has an event. */
bool oche_manager_has_event(struct ibv_comp_channel *channel);
/*
 * Waits as ibv_get_cq_event does, and makes progress, until the channel has an event, *kicks is no
 * longer `since`, or the time has passed. Returns 0, or EINTR in the same cases as
 * ibv_get_cq_event.
 */
int oche_manager_wait(struct ibv_comp_channel *channel, const _Atomic uint32_t *kicks,
                      uint32_t since, uint64_t limit_ns);
/* Makes threads that wait in this way check their *kicks. */
void oche_manager_wake(struct ibv_context *context);
/*
 * Makes `call` run once when the process ends by exit, a signal or _exit (process_exit.c), after
 * due packets were sent. `call` must not wait for ever for a lock, since the thread that has the
 * lock may have been stopped.
 */
void oche_at_end(void (*call)(void));
/* Makes the library's own thread make progress from now on, as ibv_req_notify_cq does. */
void oche_manager_rouse(struct ibv_context *context);

#endif
