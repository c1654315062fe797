/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/network/host_memory.h"

#include "sim/network/payload.h"

void oche_host_memory_add(struct oche_nic *nic)
{
    struct oche_region all = {.length = UINT64_C(1) << 62,
                              .key = OCHE_HOST_MEMORY_KEY,
                              .access = OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE |
                                        OCHE_ACCESS_REMOTE_READ,
                              .pd = 1};
    bool added = oche_nic_add_region(nic, &all);

    OCHE_MUST(added);
}

void oche_host_memory_read(void *context, const struct oche_region *region, uint64_t offset,
                           void *to, uint32_t bytes)
{
    (void)context;
    (void)region;
    oche_payload_fill(offset, to, bytes);
}

void oche_host_memory_write(void *context, const struct oche_region *region, uint64_t offset,
                            const void *from, uint32_t bytes)
{
    struct oche_host_memory *memory = context;

    (void)region;
    memory->corrupt_bytes += oche_payload_differs(offset, from, bytes);
}
