/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that listen to the connection manager's services (ports of rdma_cm's,
 * core/cm/mad.h). A service belongs to one process of the address, which has locked it among the
 * names (names.h). From these the others learn its slot, and forward requests for the service.
 *
 * If an address is not shared (sharing.h), there is one process.
 */
#ifndef OCHE_DEVICE_SHARED_SERVICES_H
#define OCHE_DEVICE_SHARED_SERVICES_H

#include "device/shared/sharing.h"

struct oche_taken_service {
    struct oche_taken_service *next;
    uint64_t id;
};

struct oche_services {
    struct oche_taken_service *first; /* the services that this process has taken */
    bool manages;                     /* this process has a queue pair 1 */
};

/*
 * Takes a service for this process. Returns false with errno: EADDRINUSE: this process or another
 * one has it; or why no socket could be made.
 */
bool oche_services_take(struct oche_services *services, const struct oche_sharing *share,
                        uint64_t id);
void oche_services_release(struct oche_services *services, const struct oche_sharing *share,
                           uint64_t id);
/* Releases all services of the process. */
void oche_services_clear(struct oche_services *services, const struct oche_sharing *share);
/*
 * Notes that this process has a queue pair 1, or has none any more. If the others cannot be told,
 * they do not pass on requests that nobody listens to.
 */
void oche_services_manage(struct oche_services *services, const struct oche_sharing *share,
                          bool manages);
/* Takes all of them again where the names were lost (oche_sharing_restore_names). */
void oche_services_take_again(const struct oche_services *services,
                              const struct oche_sharing *share);
/* True if this process has taken the service. */
bool oche_services_has(const struct oche_services *services, uint64_t id);
/* True if this process or another one has taken the service. */
bool oche_services_taken(const struct oche_services *services, const struct oche_sharing *share,
                         uint64_t id);
/*
 * Returns the slot of a process with a queue pair 1; our own if we have one, or nobody has. Costs a
 * system call if we have none.
 */
unsigned oche_services_manager(const struct oche_services *services,
                               const struct oche_sharing *share);
/*
 * Returns the slot of the process that listens to the service; if there is none, as
 * oche_services_manager. Costs a system call, for services that strangers choose.
 */
unsigned oche_services_slot(const struct oche_services *services, const struct oche_sharing *share,
                            uint64_t id);

#endif
