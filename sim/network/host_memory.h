/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a simulated host with queue pairs: one region over all addresses. With payload each
 * byte is a function of its address, so what is written can be checked.
 */
#ifndef OCHE_SIM_NETWORK_HOST_MEMORY_H
#define OCHE_SIM_NETWORK_HOST_MEMORY_H

#include "core/qp/nic.h"

#define OCHE_HOST_MEMORY_KEY 1

/* Must be the first member of the context of a NIC's port. */
struct oche_host_memory {
    uint64_t corrupt_bytes; /* bytes that were written to a wrong place */
};

/* Adds the region to the NIC, which has none. */
void oche_host_memory_add(struct oche_nic *nic);

/* For the NIC's port: `context` begins with a struct oche_host_memory. */
void oche_host_memory_read(void *context, const struct oche_region *region, uint64_t offset,
                           void *to, uint32_t bytes);
void oche_host_memory_write(void *context, const struct oche_region *region, uint64_t offset,
                            const void *from, uint32_t bytes);

#endif
