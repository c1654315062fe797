/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of counters without what is 0. */
#include "sim/world/results/packed_counters.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_WORDS 32768

struct oche_packed_chunk {
    struct oche_packed_chunk *next;
    uint64_t words[CHUNK_WORDS];
};

/* Returns how many words the bits take that are in front of a struct's. */
static size_t heads_of(size_t bytes)
{
    OCHE_MUST(bytes % 8 == 0 && bytes / 8 <= OCHE_PACKED_WORDS);
    return (bytes / 8 + 63) / 64;
}

static uint64_t *take(struct oche_packed_store *store, size_t words)
{
    if (store->left < words) {
        struct oche_packed_chunk *chunk = malloc(sizeof(*chunk));

        OCHE_GOT(chunk != NULL);
        chunk->next = store->chunks;
        store->chunks = chunk;
        store->left = CHUNK_WORDS;
    }
    store->left -= words;
    return &store->chunks->words[CHUNK_WORDS - store->left - words];
}

void oche_packed_free(struct oche_packed_store *store)
{
    while (store->chunks != NULL) {
        struct oche_packed_chunk *chunk = store->chunks;

        store->chunks = chunk->next;
        free(chunk);
    }
    store->left = 0;
}

void oche_packed_put(struct oche_rank_bytes *message, const void *from, size_t bytes)
{
    const size_t heads = heads_of(bytes);
    uint64_t packed[OCHE_PACKED_WORDS + OCHE_PACKED_WORDS / 64] = {0};
    size_t count = heads;

    for (size_t i = 0; i < bytes / 8; i++) {
        uint64_t word;

        memcpy(&word, (const char *)from + 8 * i, sizeof(word));
        if (word == 0)
            continue;
        packed[i / 64] |= UINT64_C(1) << (i % 64);
        packed[count++] = word;
    }
    oche_rank_put(message, packed, 8 * count);
}

const uint64_t *oche_packed_get(struct oche_packed_store *store, struct oche_rank_bytes *message,
                                size_t bytes)
{
    uint64_t bits[OCHE_PACKED_WORDS / 64];
    const size_t heads = heads_of(bytes);
    size_t count = 0;

    oche_rank_get(message, bits, 8 * heads);
    for (size_t i = 0; i < heads; i++)
        count += (size_t)__builtin_popcountll(bits[i]);
    uint64_t *packed = take(store, heads + count);

    memcpy(packed, bits, 8 * heads);
    oche_rank_get(message, packed + heads, 8 * count);
    return packed;
}

void oche_packed_open(const uint64_t *packed, void *to, size_t bytes)
{
    const uint64_t *next = packed == NULL ? NULL : packed + heads_of(bytes);

    memset(to, 0, bytes);
    for (size_t i = 0; packed != NULL && i < bytes / 8; i++)
        if (packed[i / 64] >> (i % 64) & 1)
            memcpy((char *)to + 8 * i, next++, 8);
}
