/* SPDX-License-Identifier: Apache-2.0 */
/* Generated payload. */
#include "sim/network/payload.h"

#include <stdlib.h>

#include "core/random.h"

void oche_payload_buffer(struct oche_packet *packet)
{
    if (packet->payload != NULL)
        return;
    packet->payload = malloc(OCHE_PAYLOAD_MOST);
    if (packet->payload == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for payload");
}

static uint8_t byte_at(uint64_t address)
{
    return (uint8_t)(oche_mix64(address >> 3) >> (address & 7) * 8);
}

void oche_payload_fill(uint64_t address, void *to, uint32_t bytes)
{
    uint8_t *out = to;

    for (uint32_t i = 0; i < bytes; i++)
        out[i] = byte_at(address + i);
}

uint32_t oche_payload_differs(uint64_t address, const void *from, uint32_t bytes)
{
    const uint8_t *in = from;
    uint32_t differing = 0;

    for (uint32_t i = 0; i < bytes; i++)
        differing += in[i] != byte_at(address + i);
    return differing;
}
