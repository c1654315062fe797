/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is used again: a block that is given back is kept, and the next who wants as many
 * bytes gets it as it is. For worlds that are made thousands of times a second, where fresh memory
 * costs more than all the rest. Each block is an allocation of exactly its size, so a sanitizer
 * still sees what is written beyond it.
 */
#ifndef OCHE_TESTS_SUPPORT_BLOCKS_H
#define OCHE_TESTS_SUPPORT_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#define BLOCKS_MOST 64 /* blocks beyond these are fresh each time */

struct blocks {
    unsigned count;
    struct {
        void *at;
        size_t bytes;
        bool used;
    } list[BLOCKS_MOST];
};

/*
 * Returns `blocks` or, if that is NULL, those that the whole program shares. For what is large: of
 * fresh memory a sanitizer marks each byte, when it is taken and when it is freed.
 */
struct blocks *blocks_or_shared(struct blocks *blocks);
/* Aligned to cache lines. NULL for `blocks`: fresh memory. Never returns NULL. */
void *blocks_take(struct blocks *blocks, size_t bytes);
/* NULL for `blocks`: frees the memory. */
void blocks_give(struct blocks *blocks, void *at);

#endif
