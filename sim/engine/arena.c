/* SPDX-License-Identifier: Apache-2.0 */
/* An arena: objects side by side on huge pages. */
#include "sim/engine/arena.h"

#include <stdlib.h>

#include "core/base.h"
#include "sim/engine/big_memory.h"
#include "sim/engine/sparse_memory.h"

#define FIRST_CHUNK   ((size_t)64 << 10)
#define LARGEST_CHUNK ((size_t)32 << 20)
#define SPACIOUS      ((size_t)2 << 20)

void oche_arena_init(struct oche_arena *arena)
{
    *arena = (struct oche_arena){.chunk_bytes = FIRST_CHUNK};
}

void *oche_arena_take(struct oche_arena *arena, size_t bytes)
{
    size_t rounded = oche_lines(bytes);

    OCHE_MUST(rounded >= bytes && rounded <= SIZE_MAX / 4);
    if (rounded > (size_t)(arena->end - arena->next)) {
        size_t chunk = arena->chunk_bytes;
        while (chunk < rounded + OCHE_CACHE_LINE)
            chunk *= 2;
        char *memory = oche_big_memory(chunk);
        *(void **)(void *)memory = arena->chunks;
        arena->chunks = memory;
        arena->next = memory + OCHE_CACHE_LINE;
        arena->end = memory + chunk;
        if (arena->chunk_bytes < LARGEST_CHUNK)
            arena->chunk_bytes *= 4;
    }
    void *taken = arena->next;
    arena->next += rounded;
    return taken;
}

void *oche_arena_take_spacious(struct oche_arena *arena, size_t bytes)
{
    char *memory;

    if (bytes < SPACIOUS)
        return oche_arena_take(arena, bytes);
    memory = oche_sparse_take(bytes + OCHE_CACHE_LINE);
    if (memory == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory");
    *(void **)(void *)memory = arena->spacious;
    arena->spacious = memory;
    return memory + OCHE_CACHE_LINE;
}

void oche_arena_free(struct oche_arena *arena)
{
    while (arena->spacious != NULL) {
        void *piece = arena->spacious;
        arena->spacious = *(void **)piece;
        oche_sparse_free(piece);
    }
    while (arena->chunks != NULL) {
        void *chunk = arena->chunks;
        arena->chunks = *(void **)chunk;
        free(chunk);
    }
    oche_arena_init(arena);
}
