/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that grow, and are read. */
#include "sim/network/rank_mail.h"

#include <stdlib.h>
#include <string.h>

void *oche_rank_room(struct oche_rank_bytes *bytes, size_t count)
{
    if (bytes->capacity - bytes->count < count) {
        size_t least = bytes->count + count;

        bytes->capacity = bytes->capacity < 512 ? 1024 : bytes->capacity * 2;
        bytes->capacity = bytes->capacity < least ? least : bytes->capacity;
        bytes->at = realloc(bytes->at, bytes->capacity);
        OCHE_GOT(bytes->at != NULL);
    }
    bytes->count += count;
    return bytes->at + bytes->count - count;
}

void oche_rank_put(struct oche_rank_bytes *bytes, const void *from, size_t count)
{
    if (count > 0)
        memcpy(oche_rank_room(bytes, count), from, count);
}

const void *oche_rank_take(struct oche_rank_bytes *bytes, size_t count)
{
    if (count > bytes->count - bytes->read)
        oche_panic(__FILE__, __LINE__, "a message of another rank is too short");
    bytes->read += count;
    return bytes->at + bytes->read - count;
}

void oche_rank_get(struct oche_rank_bytes *bytes, void *to, size_t count)
{
    if (count > 0)
        memcpy(to, oche_rank_take(bytes, count), count);
}
