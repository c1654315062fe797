/* SPDX-License-Identifier: Apache-2.0 */
/* A list of blocks. It is searched from the beginning, as there are few. */
#include "tests/support/blocks.h"

#include <stdlib.h>

#include "core/base.h"

struct blocks *blocks_or_shared(struct blocks *blocks)
{
    static struct blocks shared;

    return blocks != NULL ? blocks : &shared;
}

void *blocks_take(struct blocks *blocks, size_t bytes)
{
    void *at;

    for (unsigned i = 0; blocks != NULL && i < blocks->count; i++)
        if (!blocks->list[i].used && blocks->list[i].bytes == bytes) {
            blocks->list[i].used = true;
            return blocks->list[i].at;
        }
    at = aligned_alloc(OCHE_CACHE_LINE, oche_lines(bytes));
    OCHE_MUST(at != NULL);
    if (blocks != NULL && blocks->count < BLOCKS_MOST) {
        blocks->list[blocks->count].at = at;
        blocks->list[blocks->count].bytes = bytes;
        blocks->list[blocks->count++].used = true;
    }
    return at;
}

void blocks_give(struct blocks *blocks, void *at)
{
    for (unsigned i = 0; blocks != NULL && i < blocks->count; i++)
        if (blocks->list[i].at == at) {
            blocks->list[i].used = false;
            return;
        }
    free(at);
}
