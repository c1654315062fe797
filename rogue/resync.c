/* SPDX-License-Identifier: Apache-2.0 */
#include "rogue/resync.h"

#include <string.h>

#include "core/wire/bytes.h"

/*
 * The layout of a message, in network byte order: magic, kind, queue pair, two zeros, epoch, PSN,
 * token.
 */
#define MAGIC UINT32_C(0x726f6775)

void rogue_resync_encode(const struct rogue_resync *message, uint8_t bytes[ROGUE_RESYNC_BYTES])
{
    memset(bytes, 0, ROGUE_RESYNC_BYTES);
    oche_put32(bytes, MAGIC);
    bytes[4] = message->kind;
    bytes[5] = message->qp;
    oche_put32(bytes + 8, message->epoch);
    oche_put32(bytes + 12, message->psn);
    oche_put64(bytes + 16, message->token);
}

bool rogue_resync_decode(const uint8_t *bytes, size_t count, struct rogue_resync *message)
{
    if (count != ROGUE_RESYNC_BYTES || oche_get32(bytes) != MAGIC || bytes[6] != 0 || bytes[7] != 0)
        return false;
    *message = (struct rogue_resync){
        .kind = bytes[4],
        .qp = bytes[5],
        .epoch = oche_get32(bytes + 8),
        .psn = oche_get32(bytes + 12),
        .token = oche_get64(bytes + 16),
    };
    return message->kind >= ROGUE_RESYNC_REQUEST && message->kind <= ROGUE_RESYNC_DONE &&
           message->qp <= 1 && message->psn <= OCHE_PSN_MASK;
}
