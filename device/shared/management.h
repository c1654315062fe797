/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the process that a connection manager's packet is for. All of these packets go to queue
 * pair 1, which the kernel steers to the first process (reuseport.h). Every process that uses
 * rdma_cm has its own queue pair 1. A request for a service goes to the process that listens to it
 * (services.h), or to one that has a queue pair 1 and refuses it. If no process has one, the device
 * refuses the request (refuse.c). All other messages have a communication ID of ours, whose
 * uppermost bits are a slot.
 */
#ifndef OCHE_DEVICE_SHARED_MANAGEMENT_H
#define OCHE_DEVICE_SHARED_MANAGEMENT_H

#include "device/shared/services.h"

/* True if a packet, from BTH on, is for queue pair 1. */
bool oche_management_is(const uint8_t *bytes, uint32_t count);
/*
 * Returns the slot of the process that such a packet is for; our own if it is unknown. Sets *asks
 * if the packet requests a service; some process then has it, even if we do not know that process
 * yet.
 */
unsigned oche_management_slot(const struct oche_services *services,
                              const struct oche_sharing *share, const uint8_t *bytes,
                              uint32_t count, bool *asks);

#endif
