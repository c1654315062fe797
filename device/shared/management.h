/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process of an address a connection manager's packet is for. All of them go to queue pair 1,
 * which the kernel steers to the first process (reuseport.h); every process has a queue pair 1 of
 * its own. What asks for a service is for the process that listens to it (services.h). All else has
 * a communication ID of ours, whose uppermost bits are a slot.
 */
#ifndef OCHE_DEVICE_SHARED_MANAGEMENT_H
#define OCHE_DEVICE_SHARED_MANAGEMENT_H

#include "device/shared/services.h"

/* True if a packet, from BTH on, is for queue pair 1. */
bool oche_management_is(const uint8_t *bytes, uint32_t count);
/*
 * Returns the slot of the process that such a packet is for; our own if that cannot be told. Sets
 * *asks if the packet asks for a service, which has a process then, even if that is not heard of.
 */
unsigned oche_management_slot(const struct oche_services *services,
                              const struct oche_sharing *share, const uint8_t *bytes,
                              uint32_t count, bool *asks);

#endif
