/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is reused: a block that is given back is kept, and the next request for as many bytes
 * gets it unchanged. For worlds that are made thousands of times a second, where fresh memory costs
 * more than everything else. Each block is an allocation of exactly its size, so a sanitizer still
 * finds writes beyond it.
 */
#ifndef OCHE_TESTS_SUPPORT_BLOCKS_H
#define OCHE_TESTS_SUPPORT_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#define BLOCKS_MOST 64 /* more blocks than this are fresh each time */

struct blocks {
    unsigned count;
    struct {
        void *at;
        size_t bytes;
        bool used;
    } list[BLOCKS_MOST];
};

/*
 * Returns `blocks` or, if that is NULL, the blocks that the whole program shares. For large blocks:
 * in fresh memory a sanitizer marks each byte, at allocation and at release.
 */
struct blocks *blocks_or_shared(struct blocks *blocks);
/* Aligned to cache lines. NULL for `blocks`: fresh memory. Never returns NULL. */
void *blocks_take(struct blocks *blocks, size_t bytes);
/* NULL for `blocks`: frees the memory. */
void blocks_give(struct blocks *blocks, void *at);

#endif
