/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process of an address listens to a service of the connection manager (a port of rdma_cm's,
 * core/cm/mad.h). A service belongs to one process of the address: the one that holds its abstract
 * name, which the kernel frees however the process dies. A second name, with the process's slot,
 * tells the others where to pass on what asks for the service.
 *
 * Where an address is not shared (share.h) there is one process, and only it is asked.
 */
#ifndef OCHE_DEVICE_SERVICES_H
#define OCHE_DEVICE_SERVICES_H

#include "device/share.h"

struct oche_service_name {
    struct oche_service_name *next;
    uint64_t id;
    int name_fd, slot_fd; /* hold the names; -1: the address is not shared */
};

/* Where a service was last found, which is looked at before all other slots. */
#define OCHE_SERVICES_KNOWN 64

struct oche_services {
    struct oche_service_name *first;
    int ask_fd; /* by which names are asked for, if `asks`: it is made when first needed */
    bool asks;
    struct {
        uint64_t id;
        uint8_t slot;
    } known[OCHE_SERVICES_KNOWN];
};

/*
 * Takes a service for this process. Returns false with errno: EADDRINUSE: this process or another
 * one has it; or why no socket could be made.
 */
bool oche_services_take(struct oche_services *services, const struct oche_sharing *share,
                        uint64_t id);
void oche_services_release(struct oche_services *services, uint64_t id);
/* Releases all of them, and what else there is. */
void oche_services_clear(struct oche_services *services);
/* In a forked child: closes its copies of the parent's descriptors. */
void oche_services_leave(struct oche_services *services);
/* True if this process has taken the service. */
bool oche_services_has(const struct oche_services *services, uint64_t id);
/* True if this process or another one has taken the service. */
bool oche_services_held(struct oche_services *services, const struct oche_sharing *share,
                        uint64_t id);
/*
 * Returns the slot of the process that listens to the service; our own if nobody does. Strangers
 * choose the service: it costs a system call or two, and 66 where the service has moved.
 */
unsigned oche_services_slot(struct oche_services *services, const struct oche_sharing *share,
                            uint64_t id);

#endif
